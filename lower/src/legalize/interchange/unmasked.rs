//! Emits unmasked iterations (see [`crate::analysis::interchange::unmasked`]).

use super::{Carried, Iteration, Written};
use crate::analysis::interchange::{MaskPlace, UnmaskedForm};
use crate::analysis::schedule::{Place, Schedule};
use crate::ir::{Op, Width};
use crate::legalize::body::Body;
use crate::legalize::evaluate::Shape;
use crate::legalize::{Emitter, frame_offset};
use crate::maps::HashMap;
use crate::vir::{self, IntCC, Memory, Value, Variable, types};

impl Emitter<'_> {
    /// Emits the iterations of a group in which all active lanes continue; afterwards control
    /// reaches `slow`, or `end` without fuel. Inactive lanes are computed too, and restored after
    /// the last iteration. Returns the entry block, which is also entered after masked iterations.
    pub(super) fn unmasked_iterations(
        &mut self,
        t: &Iteration<'_>,
        unmasked: &UnmaskedForm,
        (left, taken): (Variable, Variable),
        slots: &[Written],
        (slow, end): (vir::Block, vir::Block),
    ) -> vir::Block {
        let (enter, head) = (self.code.b.create_block(), self.code.b.create_block());
        let values = self.fixed(t, &unmasked.form);
        self.code.b.jump(enter, &[]);
        self.code.b.switch_to_block(enter);
        let exec = self.mask_now(t, MaskPlace::Exec);
        let mut zero = Vec::new();
        for &place in &unmasked.zero {
            zero.push(self.mask_now(t, place));
        }
        let kept = self.keep(t, unmasked);
        let entered = self.code.b.use_var(left);
        let good = self.as_assumed(&exec, &[], &zero);
        // Without an active lane no iteration would be the last.
        let any = self.any_lane(exec.clone());
        let any = self.code.b.icmp_imm(IntCC::NotEqual, any, 0);
        let good = self.code.b.band(good, any);
        self.code.b.brif(good, head, &[], slow, &[]);

        self.code.b.switch_to_block(head);
        let block = &unmasked.form.block;
        let schedule = Schedule::unplaced(block, self.code.region.options().host);
        let body = Body {
            values,
            words: HashMap::default(),
            any: HashMap::default(),
            selectors: HashMap::default(),
            at: Vec::new(),
            ..t.body
        };
        let mut own = Iteration {
            form: &unmasked.form,
            carried: t.carried.clone(),
            pairs: t.pairs.clone(),
            invariant: t.invariant.clone(),
            masks: t.masks.clone(),
            ..Iteration::new(t.plan, &schedule, body, t.fail)
        };
        self.iteration_scalars(&own, slots);
        let (mut all, mut none) = (Vec::new(), Vec::new());
        for &(v, when) in &unmasked.tests {
            let mask = self.vectors_of(&mut own, v);
            if when { &mut all } else { &mut none }.push(mask);
        }
        let good = self.as_assumed(&exec, &all, &none);
        let (on, other) = (self.code.b.create_block(), self.code.b.create_block());
        self.code.b.brif(good, on, &[], other, &[]);
        self.code.b.switch_to_block(other);
        self.give_back(t, unmasked, &exec, &kept);
        self.fix_masks(t, unmasked, &exec, (entered, left));
        self.code.b.jump(slow, &[]);
        self.code.b.switch_to_block(on);
        let news: Vec<(Variable, Value)> = unmasked
            .form
            .slots
            .iter()
            .map(|&(slot, v)| {
                let var = slots
                    .iter()
                    .find(|s| s.0 == slot)
                    .expect("both forms write it")
                    .1;
                (var, self.scalar(block, &schedule, v))
            })
            .collect();
        self.end_iteration(&mut own);
        for (var, value) in news {
            self.code.b.def_var(var, value);
        }
        let before = self.code.b.use_var(left);
        let now = self.code.b.iadd_imm(before, -1);
        self.code.b.def_var(left, now);
        let more = self.code.b.icmp_imm(IntCC::SignedGreaterThan, now, 0);
        let out_of_fuel = self.code.b.create_block();
        self.code.b.brif(more, head, &[], out_of_fuel, &[]);
        self.code.b.switch_to_block(out_of_fuel);
        self.give_back(t, unmasked, &exec, &kept);
        self.fix_masks(t, unmasked, &exec, (entered, left));
        let some = self.code.b.iconst(types::I8, 1);
        self.code.b.def_var(taken, some);
        self.code.b.jump(end, &[]);
        enter
    }

    /// The current mask of the group.
    pub(super) fn mask_now(&mut self, t: &Iteration<'_>, place: MaskPlace) -> Vec<Value> {
        t.masks[&place]
            .iter()
            .map(|&x| self.code.b.use_var(x))
            .collect()
    }

    /// The vectors of the VGPRs that an unmasked iteration changes.
    fn changed(t: &Iteration<'_>, unmasked: &UnmaskedForm) -> Vec<Vec<Variable>> {
        let vgprs = unmasked
            .form
            .outs
            .iter()
            .filter_map(|(n, _)| t.carried.get(n));
        let vectors = vgprs.map(|carried| match carried {
            Carried::Vectors(vars) => vars.clone(),
            Carried::Scalar(_) => unreachable!("bug: a scalar would change for all lanes"),
        });
        vectors.collect()
    }

    /// Saves what an unmasked iteration changes to the frame, to occupy no registers. Returns the
    /// slots.
    fn keep(&mut self, t: &Iteration<'_>, unmasked: &UnmaskedForm) -> Vec<u32> {
        let mut slots = Vec::new();
        for vars in Self::changed(t, unmasked) {
            let slot = self.code.take_slot();
            for (j, var) in vars.into_iter().enumerate() {
                let value = self.code.b.use_var(var);
                let at = frame_offset(slot) + (4 * self.code.per() * j) as i32;
                self.code.b.store(Memory::Trusted, value, t.body.frame, at);
            }
            slots.push(slot);
        }
        slots
    }

    /// Restores the saved values on lanes outside of `exec`.
    fn give_back(
        &mut self,
        t: &Iteration<'_>,
        unmasked: &UnmaskedForm,
        exec: &[Value],
        kept: &[u32],
    ) {
        for (vars, &slot) in Self::changed(t, unmasked).into_iter().zip(kept) {
            let old = self.code.reload(&t.body, Place::Frame(slot));
            let now: Vec<Value> = vars.iter().map(|&x| self.code.b.use_var(x)).collect();
            let chosen = self
                .code
                .lanes(&t.body)
                .select(Width::W32, exec, &now, &old);
            for (var, value) in vars.into_iter().zip(chosen) {
                self.code.b.def_var(var, value);
            }
        }
    }

    /// Sets masks to the constants that unmasked iterations give them on the lanes of `exec`, if
    /// one was run: if less fuel is left than at their entry.
    fn fix_masks(
        &mut self,
        t: &Iteration<'_>,
        unmasked: &UnmaskedForm,
        exec: &Vec<Value>,
        (entered, left): (Value, Variable),
    ) {
        if unmasked.form.masks.is_empty() {
            return;
        }
        let left = self.code.b.use_var(left);
        let some = self.code.b.icmp(IntCC::NotEqual, entered, left);
        let some = self.code.lanes(&t.body).splat(Width::W1, some);
        let changed = self
            .code
            .lanes(&t.body)
            .op(Op::And, Width::W1, &[exec, &some]);
        for (place, &v) in &unmasked.form.masks {
            let Op::Const(all) = unmasked.form.block.nodes[v.index()].op else {
                unreachable!("bug: a mask of an unmasked iteration is not constant")
            };
            let old = self.mask_now(t, *place);
            let new = if all == 0 {
                let kept = old.iter().zip(&changed);
                kept.map(|(&o, &c)| self.code.b.band_not(o, c)).collect()
            } else {
                self.code
                    .lanes(&t.body)
                    .op(Op::Or, Width::W1, &[&old, &changed])
            };
            for (&var, value) in t.masks[place].iter().zip(new) {
                self.code.b.def_var(var, value);
            }
        }
    }

    /// Are the lanes of `exec` true in all of `all` and false in all of `none`?
    pub(super) fn as_assumed(
        &mut self,
        exec: &[Value],
        all: &[Vec<Value>],
        none: &[Vec<Value>],
    ) -> Value {
        let mut wrong = Vec::new();
        for (j, &exec) in exec.iter().enumerate() {
            let slice = |masks: &[Vec<Value>]| masks.iter().map(|m| m[j]).collect::<Vec<_>>();
            let all = slice(all).into_iter().reduce(|a, b| self.code.b.band(a, b));
            let none = slice(none).into_iter().reduce(|a, b| self.code.b.bor(a, b));
            wrong.extend(all.map(|all| self.code.b.band_not(exec, all)));
            wrong.extend(none.map(|none| self.code.b.band(exec, none)));
        }
        if wrong.is_empty() {
            return self.code.b.iconst(types::I8, 1);
        }
        let wrong = self.any_lane(wrong);
        self.code.b.icmp_imm(IntCC::Equal, wrong, 0)
    }

    /// Is a lane true in any of the masks? As bits (I32).
    pub(in crate::legalize) fn any_lane(&mut self, masks: Vec<Value>) -> Value {
        let any = masks.into_iter().reduce(|a, b| self.code.b.bor(a, b));
        let any = any.expect("a group has a slice");
        self.code.b.vhigh_bits(types::I32, any)
    }
}
