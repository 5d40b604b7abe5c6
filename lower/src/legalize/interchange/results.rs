//! Results of a loop inside the lane groups, for the wave: fuel, scalars of the group with the most
//! iterations, masks of all.

use std::collections::BTreeMap;

use super::{Iteration, Written};
use crate::analysis::interchange::{LoopCondition, MaskPlace};
use crate::ir::{Val, Width};
use crate::legalize::boundary::slot_type;
use crate::legalize::lanes::dwords_type;
use crate::legalize::{Emitter, frame_offset};
use crate::vir::{IntCC, Memory, Value, Variable, types};

/// The results for the wave.
pub(super) struct Results {
    /// Remaining fuel of the group with the most iterations.
    pub(super) left: Variable,
    /// Would that group have continued?
    pub(super) taken: Variable,
    /// Its scalars.
    pub(super) slots: Vec<Variable>,
    /// Remaining fuel of the group with the fewest iterations.
    pub(super) most: Variable,
    /// Bits of all groups.
    pub(super) masks: BTreeMap<MaskPlace, Variable>,
}

impl Emitter<'_> {
    /// Variables for the results of groups or lanes. Bits of `masks` must be set.
    pub(super) fn begin_results(
        &mut self,
        masks: &BTreeMap<MaskPlace, Val>,
        fuel: Value,
        slots: &[Written],
    ) -> Results {
        let results = Results {
            left: self.code.variable(types::I32),
            most: self.code.variable(types::I32),
            taken: self.code.variable(types::I8),
            slots: slots
                .iter()
                .map(|&(slot, ..)| self.code.variable(slot_type(slot)))
                .collect(),
            masks: masks
                .keys()
                .map(|&place| (place, self.code.variable(types::I64)))
                .collect(),
        };
        // More than any group leaves, and the minimum.
        let most = self.code.b.iadd_imm(fuel, 1);
        self.code.b.def_var(results.left, most);
        let least = self.code.b.iconst(types::I32, 0);
        self.code.b.def_var(results.most, least);
        let no = self.code.b.iconst(types::I8, 0);
        self.code.b.def_var(results.taken, no);
        for (&var, &(slot, ..)) in results.slots.iter().zip(slots) {
            let before = self.boundary.read_slot(&mut self.code, slot);
            self.code.b.def_var(var, before);
        }
        results
    }

    /// Merges a group's results: its masks' bits, and the scalars if it ran more iterations than
    /// the groups before.
    pub(super) fn group_results(
        &mut self,
        t: &Iteration<'_>,
        results: &Results,
        (left, taken): (Variable, Variable),
        slots: &[Written],
        lane64: Value,
    ) {
        for (place, &var) in &results.masks {
            let mask: Vec<Value> = t.masks[place]
                .iter()
                .map(|&x| self.code.b.use_var(x))
                .collect();
            let bits = self.code.lanes(&t.body).collect_mask(&mask);
            let placed = self.code.b.ishl(bits, lane64);
            let before = self.code.b.use_var(var);
            let with = self.code.b.bor(before, placed);
            self.code.b.def_var(var, with);
        }
        let mine = self.code.b.use_var(left);
        let most = self.code.b.use_var(results.left);
        if t.plan.peel.is_some() {
            let before = self.code.b.use_var(results.most);
            let now = self.code.b.smax(before, mine);
            self.code.b.def_var(results.most, now);
        }
        let further = self.code.b.icmp(IntCC::SignedLessThan, mine, most);
        let mut pairs = vec![(left, results.left), (taken, results.taken)];
        pairs.extend(slots.iter().map(|s| s.1).zip(results.slots.iter().copied()));
        for (from, to) in pairs {
            let (new, old) = (self.code.b.use_var(from), self.code.b.use_var(to));
            let chosen = match t.form.condition {
                // All groups run the same iterations.
                LoopCondition::While(..) | LoopCondition::Lane(_) => new,
                LoopCondition::Exec(_) | LoopCondition::Unmasked => {
                    self.code.b.select(further, new, old)
                }
            };
            self.code.b.def_var(to, chosen);
        }
    }

    /// Makes the results the wave's scalars.
    pub(super) fn commit_scalars(&mut self, results: &Results, slots: &[Written]) {
        for (&var, &(slot, ..)) in results.slots.iter().zip(slots) {
            let value = self.code.b.use_var(var);
            self.boundary.write_slot(&mut self.code, slot, value);
        }
        for (&place, &var) in &results.masks {
            let bits = self.code.b.use_var(var);
            self.boundary.write_mask(&mut self.code, place, bits);
        }
    }

    /// Copies the results of all groups to their homes.
    pub(in crate::legalize) fn commit(&mut self, shadows: &[(u16, u32)]) {
        if shadows.is_empty() {
            return;
        }
        let (step, bytes) = (64, 4 * self.code.per());
        let ty = dwords_type(self.code.per());
        self.through_wave(step, &mut |e, _, wave, frame| {
            for &(n, slot) in shadows {
                for at in (0..step as i32).step_by(bytes) {
                    let from = frame_offset(slot) + at;
                    let x = e.code.b.load(ty, Memory::Trusted, frame, from);
                    let to = e.boundary.home_to_write(n) + at;
                    e.code.b.store(Memory::Trusted, x, wave, to);
                }
            }
        });
    }

    /// Copies the results of the lanes in `exec` to their homes.
    pub(super) fn commit_some(&mut self, shadows: &[(u16, u32)], exec: Value) {
        if shadows.is_empty() {
            return;
        }
        let per = self.code.per();
        let ty = dwords_type(per);
        self.through_wave(4 * per, &mut |e, offset, wave, frame| {
            let first = e.code.b.ushr_imm(offset, 2);
            let bits = e.code.b.ushr(exec, first);
            let mut mask = None;
            for &(n, slot) in shadows {
                let at = e.boundary.home_to_write(n);
                let from = frame_offset(slot);
                let new = e.code.b.load(ty, Memory::Trusted, frame, from);
                let old = e.code.b.load(ty, Memory::Trusted, wave, at);
                let mut lanes = e.code.of_lanes(1, per);
                let mask = mask.get_or_insert_with(|| lanes.expand_mask(bits));
                let chosen = lanes.select(Width::W32, mask, &[new], &[old])[0];
                e.code.b.store(Memory::Trusted, chosen, wave, at);
            }
        });
    }

    /// A loop over the wave, `step` bytes of each register at a time: `body` gets the offset of
    /// these bytes, and the wave and the frame at this offset.
    fn through_wave(&mut self, step: usize, body: &mut dyn FnMut(&mut Self, Value, Value, Value)) {
        let (head, offset) = self.code.begin_offsets();
        let wave = self.code.b.iadd(self.code.region.wave(), offset);
        let frame = self.code.b.iadd(self.code.region.frame(), offset);
        body(self, offset, wave, frame);
        let done = self.code.b.create_block();
        self.code.end_offsets((head, offset), step, done);
        self.code.b.switch_to_block(done);
    }
}
