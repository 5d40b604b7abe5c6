//! Outcomes of conditions, in code that counts them: of branches by wave, of masks by lane. What they count is what
//! `runtime::coverage` counts for the interpreter.

use frontend::Inst;
use frontend::exec::writes_exec;
use frontend::op::{BranchIf, Op as GuestOp};

use crate::ir::{Counted, Icmp, Op, Val, Width};
use crate::lift::guest::Guest;
use crate::profile::Outcome;

/// The outcomes of a block; `None` if they are not counted.
pub(super) struct Outcomes(pub(super) Option<Vec<Counted>>);

impl Outcomes {
    fn add(&mut self, pc: u64, outcome: Outcome, bits: Val) {
        if let Some(counted) = &mut self.0 {
            counted.push(Counted { pc, outcome, bits });
        }
    }

    /// Lanes of `all` in a mask, and those that are not.
    fn add_mask(&mut self, g: &mut Guest<'_>, pc: u64, mask: Val, all: Val) {
        let on = g.b.pure(Op::And, &[mask, all]);
        let off = g.b.pure(Op::Xor, &[on, all]);
        self.add(pc, Outcome::On, on);
        self.add(pc, Outcome::Off, off);
    }

    /// EXEC before an instruction that writes it, if that is counted.
    pub(super) fn before(&self, g: &mut Guest<'_>, inst: &Inst) -> Option<Val> {
        (self.0.is_some() && writes_exec(inst)).then(|| g.exec())
    }

    /// Behind that instruction.
    pub(super) fn behind(&mut self, g: &mut Guest<'_>, pc: u64, before: Val) {
        let exec = g.exec();
        self.add_mask(g, pc, exec, before);
    }

    /// At an instruction that ends the block.
    pub(super) fn at_branch(&mut self, g: &mut Guest<'_>, pc: u64, inst: &Inst) {
        let GuestOp::Branch(branch) = inst.op() else {
            return;
        };
        if self.0.is_none() {
            return;
        }
        let Some((condition, negate)) = condition(g, branch) else {
            return;
        };
        let [no, yes] = [0, 1].map(|n| g.imm64(n));
        let (then, other) = if negate { (no, yes) } else { (yes, no) };
        let taken = g.b.pure(Op::Select, &[condition, then, other]);
        self.add(pc, Outcome::Taken, taken);
        if let BranchIf::Vccz | BranchIf::Vccnz = branch {
            let (vcc, exec) = (g.vcc(), g.exec());
            self.add_mask(g, pc, vcc, exec);
        }
    }
}

/// The condition of a branch (W1), and whether the branch is taken where it does not hold; `None` where the branch is
/// always or never taken.
pub(super) fn condition(g: &mut Guest<'_>, branch: BranchIf) -> Option<(Val, bool)> {
    let is_zero = |g: &mut Guest<'_>, mask: Val| {
        let zero = g.b.constant(Width::W64, 0);
        g.b.pure(Op::Icmp(Icmp::Eq), &[mask, zero])
    };
    Some(match branch {
        BranchIf::Scc0 => (g.scc(), true),
        BranchIf::Scc1 => (g.scc(), false),
        BranchIf::Vccz | BranchIf::Vccnz => {
            let vcc = g.vcc();
            (is_zero(g, vcc), branch == BranchIf::Vccnz)
        }
        BranchIf::Execz | BranchIf::Execnz => {
            let exec = g.exec();
            (is_zero(g, exec), branch == BranchIf::Execnz)
        }
        BranchIf::Always => return None,
        // No debugger is attached.
        BranchIf::CdbgSys
        | BranchIf::CdbgUser
        | BranchIf::CdbgSysOrUser
        | BranchIf::CdbgSysAndUser => return None,
    })
}
