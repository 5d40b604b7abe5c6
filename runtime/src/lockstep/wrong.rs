//! For tests: an engine that is wrong on purpose.

use frontend::{Inst, Operand, WaveState};

use crate::engine::{Engine, Exit, Group};
use crate::fault::WaveFault;
use crate::interp::{Flow, step};

/// An interpreter whose results of one instruction have the lowest bit of their first active lane
/// flipped.
struct Wrong {
    name: String,
    steps: bool,
}

/// An interpreter that computes the instruction of this name (as disassemblies print it) wrong.
/// With `steps` it can run single instructions.
pub fn wrong(name: &str, steps: bool) -> Box<dyn Engine + Send> {
    Box::new(Wrong {
        name: name.to_owned(),
        steps,
    })
}

impl Wrong {
    fn step_wrong(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Result<Flow, WaveFault> {
        let pc = wave.pc;
        let inst = group.code.decode(pc).map_err(|kind| WaveFault {
            kind,
            pc,
            lane: None,
        })?;
        let exec = wave.exec();
        let flow = step(wave, group, &inst)?;
        if inst.text(group.gfx).split_whitespace().next() == Some(self.name.as_str()) {
            flip(wave, &inst, exec);
        }
        Ok(flow)
    }
}

fn flip(wave: &mut WaveState, inst: &Inst, exec: u64) {
    match inst.dst[0] {
        Operand::Vgpr(n) if exec != 0 => {
            wave.vgpr[usize::from(n)][exec.trailing_zeros() as usize] ^= 1;
        }
        Operand::Agpr(n) if exec != 0 => {
            wave.agpr[usize::from(n)][exec.trailing_zeros() as usize] ^= 1;
        }
        Operand::Sgpr(n) => wave.sgpr[usize::from(n) & 127] ^= 1,
        _ => {}
    }
}

impl Engine for Wrong {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        loop {
            match self.step_wrong(wave, group) {
                Ok(Flow::Next | Flow::Jump) => {}
                Ok(Flow::Back) => match fuel.checked_sub(1) {
                    Some(rest) => *fuel = rest,
                    None => return Exit::Yield,
                },
                Ok(Flow::End) => return Exit::End,
                Ok(Flow::Barrier) => return Exit::Barrier,
                Ok(Flow::Wait) => return Exit::Yield,
                Err(fault) => return Exit::Fault(fault),
            }
        }
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        self.steps.then(|| match self.step_wrong(wave, group) {
            Ok(Flow::Next | Flow::Jump | Flow::Back | Flow::Wait) => Exit::Yield,
            Ok(Flow::End) => Exit::End,
            Ok(Flow::Barrier) => Exit::Barrier,
            Err(fault) => Exit::Fault(fault),
        })
    }
}
