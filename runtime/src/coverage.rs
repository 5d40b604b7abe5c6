//! What was executed, by instruction: by how many waves, in how many active lanes, and which outcomes conditions had.
//!
//! Conditions are counted where their masks are read or written: a branch by the waves that take it, a branch on VCC also by
//! the active lanes with and without their bit, and an instruction that writes EXEC by the lanes that were active before
//! and are, or are not, behind it. Which of these are conditions of the program, and which only restore lanes, is for the
//! reader to decide ([`frontend::exec::Masks`]).

use std::collections::{BTreeMap, HashMap};
use std::ops::AddAssign;
use std::sync::Mutex;

use frontend::exec::writes_exec;
use frontend::op::BranchIf;
use frontend::{Inst, Op, WaveState};

use crate::code::LoadedCode;
use crate::engine::{Engine, Exit, Group};
use crate::interp::{Flow, Interpreter, run, step};

/// Counts by guest address; no entry where nothing was executed.
pub type Coverage = BTreeMap<u64, Counts>;

/// Counts of an instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Executions by waves.
    pub executions: u64,
    /// Of a vector instruction: active lanes, summed up over the executions.
    pub lanes: u64,
    /// Of a conditional branch: waves that took it.
    pub taken: u64,
    /// Of a branch on VCC: active lanes whose bit was set. Of an instruction that writes EXEC: lanes that were active and
    /// stayed so.
    pub on: u64,
    /// Of these: active lanes whose bit was clear, and lanes that were active and are no more.
    pub off: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        let Counts {
            executions,
            lanes,
            taken,
            on,
            off,
        } = other;
        // Counts of merged files may be anything.
        let add = |sum: &mut u64, n| *sum = sum.saturating_add(n);
        add(&mut self.executions, executions);
        add(&mut self.lanes, lanes);
        add(&mut self.taken, taken);
        add(&mut self.on, on);
        add(&mut self.off, off);
    }
}

/// What an engine has executed of a code object's load since the last call, by address in the code object. `None` from an
/// engine that does not count that.
pub fn take(engine: &dyn Engine, code: &LoadedCode) -> Option<Coverage> {
    let counts = engine.take_coverage(code)?.into_iter();
    // Jumps may have led out of the code object.
    let image = code.base()..code.base() + code.image_len();
    let inside = counts.filter(|(pc, _)| image.contains(pc));
    Some(
        inside
            .map(|(pc, counts)| (code.local(pc), counts))
            .collect(),
    )
}

/// The state before an instruction.
pub(crate) struct Before {
    pub(crate) pc: u64,
    exec: u64,
    vcc: u64,
}

impl Before {
    pub(crate) fn of(wave: &WaveState) -> Before {
        Before {
            pc: wave.pc,
            exec: wave.exec(),
            vcc: wave.vcc(),
        }
    }
}

impl Counts {
    /// Counts an execution, after which the wave is in this state; `flow` is `None` after a fault.
    pub(crate) fn note(
        &mut self,
        before: &Before,
        inst: &Inst,
        after: &WaveState,
        flow: Option<&Flow>,
    ) {
        self.executions += 1;
        if !inst.desc.encoding.is_scalar() {
            self.lanes += u64::from(before.exec.count_ones());
        }
        let Some(flow) = flow else { return };
        if let Op::Branch(branch) = inst.op() {
            if branch != BranchIf::Always {
                self.taken += u64::from(*flow != Flow::Next);
            }
            if let BranchIf::Vccz | BranchIf::Vccnz = branch {
                self.note_mask(before.vcc, before.exec);
            }
        } else if writes_exec(inst) {
            self.note_mask(after.exec(), before.exec);
        }
    }

    fn note_mask(&mut self, mask: u64, all: u64) {
        self.on += u64::from((mask & all).count_ones());
        self.off += u64::from((!mask & all).count_ones());
    }
}

/// The interpreter, with counts.
#[derive(Default)]
pub(crate) struct Covering {
    /// By load.
    counts: Mutex<HashMap<u64, HashMap<u64, Counts>>>,
}

impl Engine for Covering {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        let mut counts: HashMap<u64, Counts> = HashMap::new();
        let exit = run(wave, group, fuel, |wave, group, inst| {
            let before = Before::of(wave);
            let result = step(wave, group, inst);
            let counts = counts.entry(before.pc).or_default();
            counts.note(&before, inst, wave, result.as_ref().ok());
            result
        });
        let mut all = self.counts.lock().expect("no holder of the lock panics");
        let load = all.entry(group.code.id()).or_default();
        for (pc, counts) in counts {
            *load.entry(pc).or_default() += counts;
        }
        exit
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        Interpreter.step(wave, group)
    }

    fn take_coverage(&self, code: &LoadedCode) -> Option<Coverage> {
        let mut all = self.counts.lock().expect("no holder of the lock panics");
        let counts = all.remove(&code.id()).unwrap_or_default();
        Some(counts.into_iter().collect())
    }
}
