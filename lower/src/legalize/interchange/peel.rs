//! Peeled loops (see [`crate::analysis::interchange::peel`]) apart from their iterations: the test
//! for another iteration, and a common number of iterations for all groups.

use super::Iteration;
use super::results::Results;
use crate::analysis::interchange::Kind;
use crate::ir::{Icmp, Op, Val};
use crate::legalize::Emitter;
use crate::legalize::scalar::int_cc;
use crate::vir::{self, IntCC, Value, Variable};

impl Emitter<'_> {
    /// Makes all groups run the same number of iterations, so that the wave is in one iteration
    /// again: where the numbers differ, they restart and run the minimum. Returns the rest of the
    /// budget.
    pub(super) fn same_iterations(
        &mut self,
        results: &Results,
        budget: Variable,
        (groups, fail): (vir::Block, vir::Block),
    ) -> Value {
        let (least, most) = (
            self.code.b.use_var(results.left),
            self.code.b.use_var(results.most),
        );
        let same = self.code.b.icmp(IntCC::Equal, least, most);
        let (on, again) = (self.code.b.create_block(), self.code.b.create_block());
        self.code.b.brif(same, on, &[], again, &[]);
        self.code.b.switch_to_block(again);
        let before = self.code.b.use_var(budget);
        let fewer = self.code.b.isub(before, most);
        self.code.b.def_var(budget, fewer);
        self.code.b.brif(fewer, groups, &[], fail, &[]);
        self.code.b.switch_to_block(on);
        least
    }

    /// Do all of `tests` have the required outcome on all lanes of the group?
    pub(super) fn all_go_on(&mut self, t: &mut Iteration<'_>, tests: &[(Val, bool)]) -> Value {
        let (mut scalars, mut all, mut none) = (Vec::new(), Vec::new(), Vec::new());
        for &(v, when) in tests {
            match self.at_both_ends(t, v, when) {
                Some(good) => scalars.push(good),
                None => {
                    let mask = self.vectors_of(t, v);
                    if when { &mut all } else { &mut none }.push(mask);
                }
            }
        }
        let exec = self.code.lanes(&t.body).all_true();
        let lanes = self.as_assumed(&exec, &all, &none);
        let good = scalars.into_iter().reduce(|a, b| self.code.b.band(a, b));
        match good {
            Some(good) if all.is_empty() && none.is_empty() => good,
            Some(good) => self.code.b.band(good, lanes),
            None => lanes,
        }
    }

    /// Does a comparison of affine values have this outcome on all lanes, judged by the group's
    /// first and last lane? The values between are then between theirs, unless a value wraps, which
    /// counts as failure.
    fn at_both_ends(&mut self, t: &mut Iteration<'_>, v: Val, when: bool) -> Option<Value> {
        let node = &t.form.block.nodes[v.index()];
        if Self::kind(t, v) == Kind::Affine(0) {
            let value = self.base(t, v);
            let wrong = if when { IntCC::NotEqual } else { IntCC::Equal };
            return Some(self.code.b.icmp_imm(wrong, value, 0));
        }
        let Op::Icmp(cc) = node.op else { return None };
        let order = match cc {
            Icmp::Ult | Icmp::Ule => IntCC::UnsignedLessThanOrEqual,
            Icmp::Slt | Icmp::Sle => IntCC::SignedLessThanOrEqual,
            Icmp::Eq | Icmp::Ne => return None,
        };
        let (a, b) = (node.args[0], node.args[1]);
        let (Kind::Affine(s), Kind::Affine(r)) = (Self::kind(t, a), Self::kind(t, b)) else {
            return None;
        };
        if s != 0 && r != 0 {
            return None;
        }
        let cc = if when {
            int_cc(cc)
        } else {
            int_cc(cc).complement()
        };
        let ends = [(a, s), (b, r)].map(|(v, stride)| {
            let first = self.base(t, v);
            let last = match stride {
                0 => first,
                _ => self.code.b.iadd_imm(first, stride * (t.group - 1)),
            };
            (first, last, stride)
        });
        let first = self.code.b.icmp(cc, ends[0].0, ends[1].0);
        let last = self.code.b.icmp(cc, ends[0].1, ends[1].1);
        let mut good = self.code.b.band(first, last);
        for (first, last, stride) in ends.into_iter().filter(|e| e.2 != 0) {
            let (low, high) = if stride > 0 {
                (first, last)
            } else {
                (last, first)
            };
            let whole = self.code.b.icmp(order, low, high);
            good = self.code.b.band(good, whole);
        }
        Some(good)
    }
}
