//! Code that a loop inside the lane groups runs once for a group, before its iterations.

use super::{Iteration, Written, memory};
use crate::analysis::interchange::trips::Trips;
use crate::ir::Val;
use crate::legalize::Emitter;
use crate::vir::{IntCC, Value, types};

impl Emitter<'_> {
    /// Computes invariants once for the group, and checks the addresses of all iterations if the
    /// trip count is known.
    pub(super) fn before_iterations(
        &mut self,
        t: &mut Iteration<'_>,
        slots: &[Written],
        fuel: Value,
    ) {
        self.iteration_scalars(t, slots);
        let entry_facts = &t.plan.entry_facts;
        for &v in &entry_facts.fixed {
            self.base(t, v);
        }
        let scalars = self.values.scalars().clone();
        let fixed = |v: &Val| entry_facts.fixed.binary_search(v).is_ok();
        t.fixed = scalars
            .iter()
            .filter(|s| fixed(s.0))
            .map(|(&v, &x)| (v, x))
            .collect();
        t.checked = true;
        self.predict_iterations(t);
        if entry_facts.checked.is_empty() {
            return;
        }
        let bases = t.bases.clone();
        let last = entry_facts
            .trips
            .map(|trips| self.last_iteration(t, trips, fuel));
        for (&load, &advance) in &entry_facts.checked {
            let start = self.load_start(t, load);
            let (space, span) = (memory::space_of(t.plan, load), memory::span(t.plan, load));
            self.inside(t, space, start, span);
            if let (Some(advance), Some(last)) = (advance, last) {
                let step = self.base(t, advance);
                let low = self.code.b.ireduce(types::I32, step);
                let again = self.code.b.sextend(types::I64, low);
                let small = self.code.b.icmp(IntCC::Equal, again, step);
                self.code.require(t.fail, small);
                let away = self.code.b.imul(step, last);
                let end = self.code.b.iadd(start, away);
                self.inside(t, space, end, span);
            }
        }
        t.bases = bases;
    }

    /// The number of the last iteration (I64), from 0; fuel may end the loop earlier.
    fn last_iteration(&mut self, t: &Iteration<'_>, trips: Trips, fuel: Value) -> Value {
        let from = self.boundary.read_slot(&mut self.code, trips.slot);
        let to = self.scalar(&t.form.block, t.schedule, trips.bound);
        let away = if trips.step > 0 {
            self.code.b.isub(to, from)
        } else {
            self.code.b.isub(from, to)
        };
        let size = trips.step.unsigned_abs();
        let iterations = if size == 1 {
            away
        } else {
            let rest = self.code.b.band_imm(away, i64::from(size - 1));
            let whole = self.code.b.icmp_imm(IntCC::Equal, rest, 0);
            self.code.require(t.fail, whole);
            self.code.b.ushr_imm(away, i64::from(size.trailing_zeros()))
        };
        let some = self
            .code
            .b
            .icmp_imm(IntCC::SignedGreaterThan, iterations, 0);
        self.code.require(t.fail, some);
        let iterations = self.code.b.smin(iterations, fuel);
        let last = self.code.b.iadd_imm(iterations, -1);
        let zero = self.code.b.iconst(types::I32, 0);
        let last = self.code.b.smax(last, zero);
        self.code.b.uextend(types::I64, last)
    }
}
