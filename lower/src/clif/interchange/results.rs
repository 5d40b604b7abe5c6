//! What the wave gets of the groups of a loop that ran inside them: fuel, scalars of the group that made most turns,
//! masks of all.

use std::collections::BTreeMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;

use super::Turn;
use crate::clif::Emitter;
use crate::clif::boundary::slot_type;
use crate::interchange::{MaskPlace, Plan, Turns};
use crate::ir::{Slot, Val};

/// What the wave gets of its groups.
pub(super) struct Results {
    /// Fuel that the group with most turns left.
    pub(super) left: Variable,
    /// Fuel that the group with fewest turns left.
    pub(super) most: Variable,
    /// Would that group have gone round once more?
    pub(super) taken: Variable,
    /// Its scalars.
    pub(super) slots: Vec<Variable>,
    /// Bits of all groups.
    pub(super) masks: BTreeMap<MaskPlace, Variable>,
}

impl Emitter<'_> {
    /// Variables for what the wave gets of its groups.
    pub(super) fn begin_results(
        &mut self,
        plan: &Plan,
        budget: Variable,
        slots: &[(Slot, Variable, Val)],
    ) -> Results {
        let results = Results {
            left: self.b.declare_var(types::I32),
            most: self.b.declare_var(types::I32),
            taken: self.b.declare_var(types::I8),
            slots: slots
                .iter()
                .map(|&(slot, ..)| self.b.declare_var(slot_type(slot)))
                .collect(),
            masks: plan
                .form
                .masks
                .keys()
                .map(|&place| (place, self.b.declare_var(types::I64)))
                .collect(),
        };
        // More than any group leaves, and the least.
        let fuel = self.b.use_var(budget);
        let most = self.b.ins().iadd_imm_s(fuel, 1);
        self.b.def_var(results.left, most);
        let least = self.b.ins().iconst(types::I32, 0);
        self.b.def_var(results.most, least);
        let no = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(results.taken, no);
        for (&var, &(slot, ..)) in results.slots.iter().zip(slots) {
            let before = self.b.use_var(self.vars[&slot]);
            self.b.def_var(var, before);
        }
        for &var in results.masks.values() {
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.def_var(var, zero);
        }
        results
    }

    /// Adds a group's results: its masks' bits, and the scalars if it made more turns than those before.
    pub(super) fn group_results(
        &mut self,
        t: &Turn<'_>,
        results: &Results,
        (left, taken): (Variable, Variable),
        slots: &[(Slot, Variable, Val)],
        lane64: Value,
    ) {
        for (place, &var) in &results.masks {
            let mask: Vec<Value> = t.masks[place].iter().map(|&x| self.b.use_var(x)).collect();
            let bits = self.lanes(&t.body).collect_mask(&mask);
            let placed = self.b.ins().ishl(bits, lane64);
            let before = self.b.use_var(var);
            let with = self.b.ins().bor(before, placed);
            self.b.def_var(var, with);
        }
        let mine = self.b.use_var(left);
        let most = self.b.use_var(results.left);
        if t.plan.peel.is_some() {
            let before = self.b.use_var(results.most);
            let now = self.b.ins().smax(before, mine);
            self.b.def_var(results.most, now);
        }
        let further = self.b.ins().icmp(IntCC::SignedLessThan, mine, most);
        let mut pairs = vec![(left, results.left), (taken, results.taken)];
        pairs.extend(slots.iter().map(|s| s.1).zip(results.slots.iter().copied()));
        for (from, to) in pairs {
            let (new, old) = (self.b.use_var(from), self.b.use_var(to));
            let chosen = match t.form.turn {
                // All groups make the same turns.
                Turns::While(..) | Turns::Lane(_) => new,
                Turns::Exec(_) | Turns::Quick => self.b.ins().select(further, new, old),
            };
            self.b.def_var(to, chosen);
        }
    }

    /// Makes the results the wave's scalars.
    pub(super) fn commit_scalars(&mut self, results: &Results, slots: &[(Slot, Variable, Val)]) {
        for (&var, &(slot, ..)) in results.slots.iter().zip(slots) {
            let value = self.b.use_var(var);
            self.b.def_var(self.vars[&slot], value);
        }
        for (&place, &var) in &results.masks {
            let bits = self.b.use_var(var);
            match place {
                MaskPlace::Exec => self.b.def_var(self.vars[&Slot::Exec], bits),
                MaskPlace::Vcc => self.b.def_var(self.vars[&Slot::Vcc], bits),
                MaskPlace::Pair(n) => {
                    let low = self.b.ins().ireduce(types::I32, bits);
                    let high = self.b.ins().ushr_imm_u(bits, 32);
                    let high = self.b.ins().ireduce(types::I32, high);
                    self.b.def_var(self.vars[&Slot::Sgpr(n)], low);
                    self.b.def_var(self.vars[&Slot::Sgpr(n + 1)], high);
                }
            }
        }
    }
}
