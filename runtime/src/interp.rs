//! The interpreter: the reference that translated code is tested against. It runs one instruction
//! after the other, each on all lanes, in plain safe code; the chapters of the manual are its files.
#![deny(clippy::wildcard_enum_match_arm)]

mod address;
mod atomic;
mod buffer;
mod compare;
mod control;
mod convert;
pub(crate) mod data;
mod ds;
mod eight_bits;
mod export;
mod flat;
pub mod float;
mod format;
mod gws;
mod image;
mod lane;
mod matrix;
mod modifiers;
mod observe;
mod operand;
mod packed;
mod scalar;
mod smem;
mod stop;
#[cfg(test)]
#[allow(clippy::wildcard_enum_match_arm, reason = "no arms of instructions")]
pub(crate) mod testing;
#[cfg(test)]
#[allow(clippy::wildcard_enum_match_arm, reason = "no arms of instructions")]
mod tests;
mod vector;
mod vector_float;
mod vector_int;
mod vector_wide;

use frontend::inst::Operand;
use frontend::state::mode;
use frontend::{Encoding, Inst, Op, WaveState};

use crate::code::LoadedCode;
use crate::engine::{Engine, Exit, Group};
use crate::fault::WaveFault;
use crate::sanitizer;
pub(crate) use address::addresses;
use control::Control;
pub(crate) use observe::{Accessed, Accesses, Observer};
use operand::Exec;
use stop::{Run, Stop};

/// Continuation after an instruction. The PC is where the wave continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Continues behind the instruction.
    Next,
    /// It jumped forward.
    Jump,
    /// It jumped backward or to an address in a register: this burns fuel.
    Back,
    /// It ended.
    End,
    /// It waits for the other waves of its group.
    Barrier,
    /// It waits for waves of any group, at the instruction, which is executed again.
    Wait,
}

impl Flow {
    /// Why the wave stops here; `None` if it continues. A backward jump burns fuel.
    pub(crate) fn exit(self, fuel: &mut u64) -> Option<Exit> {
        match self {
            Flow::Next | Flow::Jump => None,
            Flow::Back => {
                *fuel = fuel.saturating_sub(1);
                (*fuel == 0).then_some(Exit::Yield)
            }
            Flow::End => Some(Exit::End),
            Flow::Barrier => Some(Exit::Barrier),
            Flow::Wait => {
                *fuel = 0;
                Some(Exit::Yield)
            }
        }
    }
}

/// Executes one decoded instruction that lies at the wave's PC. After a fault the PC is still there,
/// but lanes below the faulting one may have acted.
pub fn step(wave: &mut WaveState, group: &mut Group<'_>, inst: &Inst) -> Result<Flow, WaveFault> {
    step_observed(wave, group, inst, ())
}

/// As [`step`]; `observer` learns of the memory accesses.
pub(crate) fn step_observed<O: Observer>(
    wave: &mut WaveState,
    group: &mut Group<'_>,
    inst: &Inst,
    observer: O,
) -> Result<Flow, WaveFault> {
    let pc = wave.pc;
    let next_pc = pc.wrapping_add(u64::from(inst.len));
    let gfx = group.gfx;
    note_vgprs(wave, inst);
    let mut exec = Exec {
        wave,
        group,
        inst,
        gfx,
        next_pc,
        active: 0,
        observer,
    };
    let control = exec.run().map_err(|Stop { kind, lane }| WaveFault {
        kind: *kind,
        pc,
        lane,
    })?;
    let (target, flow) = match control {
        Control::Next => (next_pc, Flow::Next),
        Control::Jump(target) if target > pc => (target, Flow::Jump),
        Control::Jump(target) | Control::Indirect(target) => (target, Flow::Back),
        Control::End => (next_pc, Flow::End),
        Control::Barrier => (next_pc, Flow::Barrier),
        Control::Wait => (pc, Flow::Wait),
    };
    wave.pc = target;
    Ok(flow)
}

/// The instruction at a wave's PC.
pub(crate) fn fetch(code: &LoadedCode, pc: u64) -> Result<&Inst, WaveFault> {
    code.inst_at(pc).map_err(|kind| WaveFault {
        kind,
        pc,
        lane: None,
    })
}

/// Counts an instruction before it is run, if counting is enabled.
pub(crate) fn count(wave: &WaveState, group: &mut Group<'_>, inst: &Inst) {
    if group.counting {
        group.stats.instructions += 1;
        group.stats.lane_instructions += match inst.desc.encoding.is_scalar() {
            true => 1,
            false => u64::from(wave.exec().count_ones()),
        };
    }
}

/// Records the VGPRs beyond those of the wave, and the accumulation registers, that the instruction
/// may write.
fn note_vgprs(wave: &mut WaveState, inst: &Inst) {
    // v_swap_b32 writes its source as well.
    let sources = &inst.src[..usize::from(inst.op() == Op::Swap)];
    for &operand in inst.dst.iter().chain(sources) {
        if let Operand::Vgpr(first) = operand
            && u32::from(first) + MOST_VGPRS > wave.vgprs_touched
        {
            let end = (u32::from(first) + MOST_VGPRS).min(wave.vgpr.len() as u32);
            if end > wave.vgpr_count {
                wave.vgprs_touched = wave.vgprs_touched.max(end);
            }
        } else if let Operand::Agpr(first) = operand {
            let end = (u32::from(first) + MOST_VGPRS).min(wave.agpr.len() as u32);
            wave.agprs_touched = wave.agprs_touched.max(end);
        }
    }
}

/// Vector instructions of every kind are skipped under VSKIP.
pub(crate) fn is_skipped(wave: &WaveState, inst: &Inst) -> bool {
    wave.mode & mode::VSKIP != 0 && !inst.desc.encoding.is_scalar()
}

/// Maximum number of VGPRs that an instruction writes.
const MOST_VGPRS: u32 = 32;

impl<O: Observer> Exec<'_, '_, O> {
    fn run(&mut self) -> Run<Control> {
        let encoding = self.inst.desc.encoding;
        if is_skipped(self.wave, self.inst) {
            return Ok(Control::Next);
        }
        match encoding {
            Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopc | Encoding::Sopk | Encoding::Sopp => {
                return match self.exec_control()? {
                    Some(control) => Ok(control),
                    None => self.exec_scalar().map(|()| Control::Next),
                };
            }
            Encoding::Smem => self.exec_smem()?,
            Encoding::Ds => {
                if let Some(control) = self.exec_gws()? {
                    return Ok(control);
                }
                self.exec_ds()?;
            }
            Encoding::Flat | Encoding::Global | Encoding::Scratch => self.exec_flat()?,
            Encoding::Mubuf | Encoding::Mtbuf => self.exec_buffer()?,
            Encoding::Mimg => self.exec_image()?,
            Encoding::Exp => self.exec_export()?,
            Encoding::Vop1
            | Encoding::Vop2
            | Encoding::Vopc
            | Encoding::Vop3
            | Encoding::Vop3p
            | Encoding::Vintrp => self.exec_vector()?,
        }
        Ok(Control::Next)
    }
}

/// The interpreter as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interpreter;

/// Runs a wave until it leaves; `execute` executes the instruction at its PC.
pub(crate) fn run(
    wave: &mut WaveState,
    group: &mut Group<'_>,
    fuel: &mut u64,
    mut execute: impl FnMut(&mut WaveState, &mut Group<'_>, &Inst) -> Result<Flow, WaveFault>,
) -> Exit {
    loop {
        let code = group.code;
        let inst = match fetch(code, wave.pc) {
            Ok(inst) => inst,
            Err(fault) => return Exit::Fault(fault),
        };
        count(wave, group, inst);
        match execute(wave, group, inst).map(|flow| flow.exit(fuel)) {
            Ok(None) => {}
            Ok(Some(exit)) => return exit,
            Err(fault) => return Exit::Fault(fault),
        }
    }
}

impl Engine for Interpreter {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        match group.memory.sanitizer() {
            None => run(wave, group, fuel, step),
            Some(_) => run(wave, group, fuel, sanitizer::step),
        }
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let pc = wave.pc;
        let done = group.code.decode(pc).map_err(|kind| WaveFault {
            kind,
            pc,
            lane: None,
        });
        Some(match done.and_then(|inst| step(wave, group, &inst)) {
            Ok(flow) => flow.exit(&mut 0).unwrap_or(Exit::Yield),
            Err(fault) => Exit::Fault(fault),
        })
    }
}
