//! Instructions on the interpreter, which announces what they do.

use std::cell::RefCell;

use frontend::inst::Inst;
use frontend::op::{DsOp, Space};
use frontend::{LANES, Op, WaveState};

use super::sites::is_sync;
use super::{Addresses, Sanitizer, Stored, WaveAccess, kind_of, returns};
use crate::engine::Group;
use crate::fault::{Access, FaultKind, Private, WaveFault};
use crate::gws::{self, Gws};
use crate::interp::{Accessed, Flow, Observer, step_observed};
use crate::memory::Memory;

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
        Op::Barrier => {
            sanitizer.barrier(group, index, pc, wave.exec());
        }
        Op::CacheCtl => sanitizer.acquire(group, index),
        Op::Waitcnt if inst.waits_for_vector_memory(group.gfx) => sanitizer.waited(group, index),
        _ => {}
    }
    let sync = Sync::new(wave, inst);
    if let Some(sync) = &sync {
        sync.arrives(sanitizer, group);
    }
    let notes = Notes::default();
    let flow = step_observed(wave, group, inst, &notes);
    announce(sanitizer, group, inst, pc, &notes.made.take());
    if let (Some(sync), Ok(Flow::Next)) = (&sync, &flow) {
        sync.passes(sanitizer, group);
    }
    if let Err(fault) = &flow {
        announce_refused(sanitizer, group, inst, fault);
    }
    flow
}

/// An instruction of the global wave sync.
struct Sync {
    op: DsOp,
    resource: u8,
    /// The wave was not waiting at it before.
    is_first: bool,
}

impl Sync {
    /// Is it one by which waves tell each other something?
    fn new(wave: &WaveState, inst: &Inst) -> Option<Sync> {
        let Op::Ds(op) = inst.op() else {
            return None;
        };
        is_sync(inst.op()).then(|| Sync {
            op,
            resource: gws::resource(wave, inst),
            is_first: Gws::resource_of(wave).is_none(),
        })
    }

    /// Before it is executed.
    fn arrives(&self, sanitizer: &Sanitizer, group: &Group<'_>) {
        if self.op != DsOp::GwsSemaP && self.is_first {
            sanitizer.sync_arrives(group, self.resource);
        }
    }

    /// When the wave goes on.
    fn passes(&self, sanitizer: &Sanitizer, group: &Group<'_>) {
        // The last wave at a barrier does not wait, nor do those that let others pass a semaphore.
        if self.op != DsOp::GwsSemaP && self.is_first {
            sanitizer.sync_completes(self.resource);
        }
        if matches!(self.op, DsOp::GwsBarrier | DsOp::GwsSemaP) {
            sanitizer.sync_passes(group, self.resource);
        }
    }
}

/// Announces the access that memory has refused, or LDS through its aperture.
fn announce_refused(sanitizer: &Sanitizer, group: &Group<'_>, inst: &Inst, fault: &WaveFault) {
    let (access, address, bytes, lds) = match fault.kind {
        FaultKind::Memory {
            access,
            address,
            bytes,
            ..
        } => (access, address, bytes, false),
        FaultKind::OutsidePrivate {
            space: Private::Lds,
            access,
            offset,
            bytes,
            ..
        } => (access, offset, bytes, true),
        _ => return,
    };
    let refused = WaveAccess {
        kind: kind_of(inst, access),
        pc: fault.pc,
        wave: group.wave,
        exec: fault.lane.map(|lane| 1 << lane),
        returns: returns(inst),
        bytes: bytes.into(),
        addresses: Addresses::Same(address),
        stored: None,
    };
    match lds {
        true => {
            sanitizer.lds(group, &refused);
        }
        false => {
            sanitizer.global(group, &refused);
        }
    }
}

/// An access, and whether memory had the value before.
struct Made {
    accessed: Accessed,
    same: bool,
}

impl Made {
    /// Accesses with the same are announced together.
    fn kind(&self) -> (Access, bool, usize) {
        let accessed = &self.accessed;
        (accessed.access, accessed.lds, accessed.value.len())
    }
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

    fn outside_lds(self, access: Access, lane: usize, address: u32, bytes: usize) {
        let accessed = Accessed::lds(access, lane, address as usize, &vec![0; bytes]);
        let same = false;
        self.made.borrow_mut().push(Made { accessed, same });
    }
}

/// Announces accesses: those of the same kind and size together.
fn announce(sanitizer: &Sanitizer, group: &Group<'_>, inst: &Inst, pc: u64, made: &[Made]) {
    // Lanes have scratch of their own.
    if let Op::Load(Space::Scratch, _) | Op::Store(Space::Scratch, _) = inst.op() {
        return;
    }
    let atomic = |lds| {
        made.iter()
            .any(|made| made.kind().0 == Access::Atomic && made.kind().1 == lds)
    };
    if atomic(true) && atomic(false) {
        sanitizer.mixed_atomic(group, group.wave, pc);
    }
    let mut rest = made;
    while !rest.is_empty() {
        let (batch, behind) = Batch::split(rest);
        batch.announce(sanitizer, group, inst, pc);
        rest = behind;
    }
}

/// Accesses of the same kind and size, at most one of each lane.
struct Batch<'m> {
    first: &'m Made,
    /// Lanes; `None` for the scalar unit.
    exec: Option<u64>,
    addresses: [u64; LANES],
    lanes: [Option<&'m Made>; LANES],
}

impl<'m> Batch<'m> {
    /// The first accesses, and those behind them.
    fn split(made: &'m [Made]) -> (Batch<'m>, &'m [Made]) {
        let mut batch = Batch {
            first: &made[0],
            exec: None,
            addresses: [made[0].accessed.address; LANES],
            lanes: [None; LANES],
        };
        let mut taken = 0;
        for one in made {
            let Some(lane) = one.accessed.lane else { break };
            if one.kind() != batch.first.kind() || batch.lanes[lane].is_some() {
                break;
            }
            batch.exec = Some(batch.exec.unwrap_or(0) | 1 << lane);
            batch.addresses[lane] = one.accessed.address;
            batch.lanes[lane] = Some(one);
            taken += 1;
        }
        (batch, &made[taken.max(1)..])
    }

    fn announce(&self, sanitizer: &Sanitizer, group: &Group<'_>, inst: &Inst, pc: u64) {
        let (access, lds, bytes) = self.first.kind();
        let access = WaveAccess {
            kind: kind_of(inst, access),
            pc,
            wave: group.wave,
            exec: self.exec,
            returns: returns(inst),
            bytes: bytes as u64,
            addresses: Addresses::Lanes(&self.addresses),
            stored: (access == Access::Write).then_some(self),
        };
        let scratch = self.first.accessed.address.wrapping_sub(group.scratch.base);
        if lds {
            sanitizer.lds(group, &access);
        } else if scratch >= group.scratch.wave_bytes() {
            sanitizer.global(group, &access);
        }
    }
}

impl Stored for Batch<'_> {
    fn value(&self, lane: usize) -> [u8; 16] {
        let mut value = [0; 16];
        if let Some(made) = self.lanes[lane] {
            let bytes = &made.accessed.value[..made.accessed.value.len().min(16)];
            value[..bytes.len()].copy_from_slice(bytes);
        }
        value
    }

    fn is_there(&self, lane: usize) -> bool {
        self.lanes[lane].is_some_and(|made| made.same)
    }
}
