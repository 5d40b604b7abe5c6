//! Emission of quick turns (see [`crate::interchange::quick`]).

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, Value, types};
use cranelift_frontend::Variable;

use super::Turn;
use crate::clif::Emitter;
use crate::clif::segment::Body;
use crate::interchange::{MaskPlace, Quickly};
use crate::ir::{Slot, Val};
use crate::schedule::{self, Schedule};

impl Emitter<'_> {
    /// Emits the turns of a group all of whose lanes act, as long as all go on; then control comes to
    /// `slow`, or to `end` where fuel runs out.
    pub(super) fn quick_turns(
        &mut self,
        t: &Turn<'_>,
        quick: &Quickly,
        (left, taken): (Variable, Variable),
        slots: &[(Slot, Variable, Val)],
        (slow, end): (clif::Block, clif::Block),
    ) {
        let head = self.b.create_block();
        let all: Vec<Value> = t.masks[&MaskPlace::Exec]
            .iter()
            .map(|&x| self.b.use_var(x))
            .collect();
        let mut none = Vec::new();
        for place in &quick.zero {
            none.extend(t.masks[place].iter().map(|&x| self.b.use_var(x)));
        }
        let good = self.all_and_none(all, none);
        let values = self.fixed(t, &quick.form);
        self.b.ins().brif(good, head, &[], slow, &[]);

        self.b.switch_to_block(head);
        let block = &quick.form.block;
        let schedule = Schedule {
            class: block.nodes.iter().map(schedule::classify).collect(),
            place: vec![None; block.nodes.len()],
            ..Schedule::default()
        };
        let mut own = Turn {
            form: &quick.form,
            plan: t.plan,
            schedule: &schedule,
            body: Body {
                values,
                at: HashMap::new(),
                ..t.body
            },
            bases: HashMap::new(),
            carried: t.carried.clone(),
            pairs: t.pairs.clone(),
            invariant: t.invariant.clone(),
            masks: t.masks.clone(),
            results: HashMap::new(),
            fixed: HashMap::new(),
            checked: false,
            fail: t.fail,
            group: t.group,
        };
        self.turn_scalars(&own, slots);
        let (mut all, mut none) = (Vec::new(), Vec::new());
        for &(v, when) in &quick.tests {
            let mask = self.vectors_of(&mut own, v);
            if when { &mut all } else { &mut none }.extend(mask);
        }
        let good = self.all_and_none(all, none);
        let on = self.b.create_block();
        self.b.ins().brif(good, on, &[], slow, &[]);
        self.b.switch_to_block(on);
        let news: Vec<(Variable, Value)> = quick
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
        self.end_turn(&mut own);
        for (var, value) in news {
            self.b.def_var(var, value);
        }
        let before = self.b.use_var(left);
        let now = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(left, now);
        let more = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, now, 0);
        let tired = self.b.create_block();
        self.b.ins().brif(more, head, &[], tired, &[]);
        self.b.switch_to_block(tired);
        let some = self.b.ins().iconst(types::I8, 1);
        self.b.def_var(taken, some);
        self.b.ins().jump(end, &[]);
    }

    /// Are all lanes of all of `all` true and none of `none`?
    fn all_and_none(&mut self, all: Vec<Value>, none: Vec<Value>) -> Value {
        let all = all.into_iter().reduce(|a, b| self.b.ins().band(a, b));
        let none = none.into_iter().reduce(|a, b| self.b.ins().bor(a, b));
        match (all, none) {
            (None, None) => self.b.ins().iconst(types::I8, 1),
            (None, Some(none)) => {
                let bits = self.b.ins().vhigh_bits(types::I32, none);
                self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0)
            }
            (Some(all), none) => {
                let good = match none {
                    Some(none) => self.b.ins().band_not(all, none),
                    None => all,
                };
                let bits = self.b.ins().vhigh_bits(types::I32, good);
                self.b.ins().icmp_imm_u(IntCC::Equal, bits, 15)
            }
        }
    }
}
