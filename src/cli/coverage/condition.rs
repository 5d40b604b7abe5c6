//! Conditions of a basic block, and their outcomes.
//!
//! A branch on SCC has one outcome for the wave. Where a condition differs by lane, the lanes decide: each takes the edge that
//! the branch would take if the wave had no other. A branch on VCC shows these lanes itself. Structured code switches off the
//! lanes for which the condition does not hold, by an instruction that only narrows EXEC, and a branch on EXEC that follows
//! merely skips code that no lane would run; so the condition is at that instruction, and the branch has none. Code that
//! continues with the other lanes of the same condition, or restores lanes, has no condition of its own.

use frontend::exec::{Masks, writes_exec};
use frontend::op::{BranchIf, Logic};
use frontend::{Inst, Op};
use runtime::coverage::Counts;

/// A condition at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// A branch of the wave.
    Wave,
    /// A branch on VCC, taken if it is zero, or if it is not.
    Vcc { zero: bool },
    /// It switches lanes of EXEC off.
    Mask,
}

impl Condition {
    /// Names of the two outcomes.
    pub(super) fn names(self) -> [&'static str; 2] {
        match self {
            Condition::Wave | Condition::Vcc { .. } => ["taken", "not taken"],
            Condition::Mask => ["lanes on", "lanes off"],
        }
    }

    /// How often each outcome occurred: by waves, or by lanes.
    pub(super) fn outcomes(self, counts: &Counts) -> [u64; 2] {
        match self {
            Condition::Wave => [counts.taken, counts.executions.saturating_sub(counts.taken)],
            Condition::Vcc { zero: true } => [counts.off, counts.on],
            Condition::Vcc { zero: false } | Condition::Mask => [counts.on, counts.off],
        }
    }

    /// What is counted.
    pub(super) fn unit(self) -> &'static str {
        match self {
            Condition::Wave => "waves",
            Condition::Vcc { .. } | Condition::Mask => "lanes",
        }
    }
}

/// The last write of EXEC in a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// It narrows EXEC.
    Narrowing,
    /// It continues with other lanes.
    Others,
    /// Of unknown effect.
    Unknown,
}

/// The conditions at the instructions of a block.
pub(super) fn conditions<'i>(insts: impl Iterator<Item = &'i Inst>) -> Vec<Option<Condition>> {
    let mut masks = Masks::default();
    let mut last = Last::Nothing;
    let conditions = insts.map(|inst| {
        let narrows = masks.narrows(inst);
        if narrows {
            last = Last::Narrowing;
            return Some(Condition::Mask);
        }
        if writes_exec(inst) {
            last = match inst.op() {
                Op::Xor | Op::Or => Last::Others,
                Op::SaveExec(Logic::AndN2 | Logic::Or | Logic::Xor) => Last::Others,
                Op::WrExec(Logic::AndN2) => Last::Others,
                _ => Last::Unknown,
            };
        }
        let Op::Branch(branch) = inst.op() else {
            return None;
        };
        match branch {
            BranchIf::Scc0 | BranchIf::Scc1 => Some(Condition::Wave),
            BranchIf::Vccz | BranchIf::Vccnz => Some(Condition::Vcc {
                zero: branch == BranchIf::Vccz,
            }),
            BranchIf::Execz | BranchIf::Execnz => match last {
                Last::Narrowing | Last::Others => None,
                Last::Nothing | Last::Unknown => Some(Condition::Wave),
            },
            // The others are always or never taken.
            BranchIf::Always
            | BranchIf::CdbgSys
            | BranchIf::CdbgUser
            | BranchIf::CdbgSysOrUser
            | BranchIf::CdbgSysAndUser => None,
        }
    });
    conditions.collect()
}
