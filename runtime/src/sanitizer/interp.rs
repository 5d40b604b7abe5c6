//! The interpreter as an engine that announces what waves do.

use std::cell::RefCell;

use frontend::inst::Inst;
use frontend::op::Space;
use frontend::{LANES, Op, WaveState};

use super::{Sanitizer, WaveAccess, kind_of, returns};
use crate::engine::{Engine, Exit, Group};
use crate::fault::{Access, WaveFault};
use crate::interp::{Accessed, Flow, Observer, count, step_observed};
use crate::memory::Memory;

/// The engine. Guest memory has a sanitizer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sanitizing;

impl Engine for Sanitizing {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        loop {
            let pc = wave.pc;
            let code = group.code;
            let inst = match code.inst_at(pc) {
                Ok(inst) => inst,
                Err(kind) => {
                    let lane = None;
                    return Exit::Fault(WaveFault { kind, pc, lane });
                }
            };
            count(wave, group, inst);
            match step(wave, group, inst).map(|flow| flow.exit(fuel)) {
                Ok(None) => {}
                Ok(Some(exit)) => return exit,
                Err(fault) => return Exit::Fault(fault),
            }
        }
    }
}

/// Executes an instruction and announces what it does.
pub(crate) fn step(
    wave: &mut WaveState,
    group: &mut Group<'_>,
    inst: &Inst,
) -> Result<Flow, WaveFault> {
    let Some(sanitizer) = group.memory.sanitizer() else {
        return crate::interp::step(wave, group, inst);
    };
    let (pc, index) = (wave.pc, group.wave);
    match inst.op() {
        Op::Barrier => sanitizer.barrier(group, index, pc, wave.exec()),
        Op::CacheCtl => sanitizer.acquire(group, index),
        Op::Waitcnt if inst.waits_for_vector_memory(group.gfx) => sanitizer.waited(group, index),
        _ => {}
    }
    let notes = Notes::default();
    let flow = step_observed(wave, group, inst, &notes);
    announce(sanitizer, group, inst, pc, &notes.made.take());
    flow
}

/// An access, and whether memory had the value before.
struct Made {
    accessed: Accessed,
    same: bool,
}

/// The accesses of an instruction.
#[derive(Default)]
struct Notes {
    made: RefCell<Vec<Made>>,
    /// What memory had before the store that follows.
    before: RefCell<Vec<u8>>,
}

impl Observer for &Notes {
    fn note(self, access: impl FnOnce() -> Accessed) {
        let accessed = access();
        let same = accessed.access == Access::Write && *self.before.borrow() == accessed.value;
        self.before.borrow_mut().clear();
        self.made.borrow_mut().push(Made { accessed, same });
    }

    fn before_store(self, memory: &Memory, address: u64, bytes: usize) {
        let mut before = vec![0; bytes];
        if memory.read_bytes(address, &mut before).is_ok() {
            self.before.replace(before);
        }
    }

    fn before_lds_store(self, bytes: &[u8]) {
        self.before.replace(bytes.to_vec());
    }
}

/// Announces accesses: those of the same kind and size together.
fn announce(sanitizer: &Sanitizer, group: &Group<'_>, inst: &Inst, pc: u64, made: &[Made]) {
    if matches!(
        inst.op(),
        Op::Load(Space::Scratch, _) | Op::Store(Space::Scratch, _)
    ) {
        return;
    }
    let kinds = made
        .iter()
        .map(|made| (made.accessed.access, made.accessed.lds));
    let atomic = |lds| kinds.clone().any(|kind| kind == (Access::Atomic, lds));
    if atomic(true) && atomic(false) {
        sanitizer.mixed_atomic(group, group.wave, pc);
    }
    let mut rest = made;
    while let Some(first) = rest.first() {
        let (access, lds) = (first.accessed.access, first.accessed.lds);
        let bytes = first.accessed.value.len() as u64;
        let alike = |made: &&Made| {
            let other = &made.accessed;
            (other.access, other.lds, other.value.len() as u64) == (access, lds, bytes)
                && other.lane.is_some()
        };
        // One of each lane.
        let mut addresses = [0; LANES];
        let (mut exec, mut same) = (0u64, 0u64);
        let mut taken = 0;
        for made in rest.iter().take_while(alike) {
            let lane = made.accessed.lane.unwrap_or(0);
            if exec >> lane & 1 != 0 {
                break;
            }
            addresses[lane] = made.accessed.address;
            exec |= 1 << lane;
            same |= u64::from(made.same) << lane;
            taken += 1;
        }
        let scalar = first.accessed.lane.is_none();
        if scalar {
            addresses[0] = first.accessed.address;
            taken = 1;
        }
        let access = WaveAccess {
            kind: kind_of(inst, access),
            pc,
            wave: group.wave,
            exec: (!scalar).then_some(exec),
            returns: returns(inst),
            bytes,
            addresses: &addresses,
            same: Some(&|lane| same >> lane & 1 != 0),
        };
        match lds {
            true => sanitizer.lds(group, &access),
            false
                if is_scratch(
                    group,
                    addresses[access.exec.map_or(0, u64::trailing_zeros) as usize],
                ) => {}
            false => sanitizer.global(group, &access),
        }
        rest = &rest[taken..];
    }
}

/// Is the address in the running wave's scratch?
fn is_scratch(group: &Group<'_>, address: u64) -> bool {
    address.wrapping_sub(group.scratch.base) < group.scratch.wave_bytes()
}
