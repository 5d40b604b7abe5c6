//! Emits a loop group by group.

use std::mem::offset_of;

use super::memory::span_in_arena;
use super::results::Results;
use super::{Iteration, Written};
use crate::abi::Context;
use crate::analysis::interchange::{MaskPlace, Plan};
use crate::analysis::schedule::Schedule;
use crate::ir::Op;
use crate::legalize::body::Body;
use crate::legalize::{Emitter, frame_offset};
use crate::maps::HashMap;
use crate::options::Forms;
use crate::vir::{self, IntCC, Memory, Value, Variable, types};

/// State of a loop's emission.
struct Loop<'p> {
    plan: &'p Plan,
    /// Target when an assumption fails.
    fail: vir::Block,
    /// Fuel when the loop began.
    fuel: Value,
    /// Number of iterations that a group may run.
    budget: Variable,
    /// The group's remaining number of iterations.
    left: Variable,
    /// Would the group have continued?
    taken: Variable,
    /// Scalars of the wave that iterations change.
    slots: Vec<Written>,
    /// VGPRs live after the loop, and their frame slots.
    shadows: Vec<(u16, u32)>,
}

impl Emitter<'_> {
    /// Emits the loop that begins at block `index` at its entry.
    pub(in super::super) fn interchanged(&mut self, index: usize, plan: &Plan) {
        let Some((general, exec, fail)) = self.begin_form(index) else {
            return;
        };
        self.as_planned(plan, exec, fail);
        let mut l = self.begin_loop(plan, fail);

        let groups = self.code.b.create_block();
        self.code.b.jump(groups, &[]);
        self.code.b.switch_to_block(groups);
        let iterations = self.code.b.use_var(l.budget);
        let results = self.begin_results(&plan.form.masks, iterations, &l.slots);
        for &var in results.masks.values() {
            let none = self.code.b.iconst(types::I64, 0);
            self.code.b.def_var(var, none);
        }
        let outs = plan.form.outs.iter();
        l.shadows = outs.map(|&(n, _)| (n, self.code.take_slot())).collect();
        let done = self.each_group(&l, &results);

        self.code.b.switch_to_block(fail);
        self.code.b.jump(general, &[]);

        self.code.b.switch_to_block(done);
        if plan.peel.is_some() {
            let rest = self.same_iterations(&results, l.budget, (groups, fail));
            self.commit(&l.shadows);
            let most = self.code.b.use_var(l.budget);
            let burnt = self.code.b.isub(most, rest);
            let rest = self.code.b.isub(l.fuel, burnt);
            self.code.set_fuel(rest);
            self.code.b.jump(general, &[]);
        } else {
            self.end_loop(&l, &results, index);
        }
    }

    /// Leaves for `fail` where the preconditions of the plan do not hold.
    fn as_planned(&mut self, plan: &Plan, exec: Value, fail: vir::Block) {
        if plan.full {
            let full = self.code.b.icmp_imm(IntCC::Equal, exec, -1);
            self.code.require(fail, full);
        }
        for &place in plan.peel.iter().flat_map(|peel| &peel.zero) {
            let bits = self.mask_before(place);
            let zero = self.code.b.icmp_imm(IntCC::Equal, bits, 0);
            self.code.require(fail, zero);
        }
        let loads = plan.form.block.effects.iter();
        if let Some(reach) = loads.filter_map(|&v| span_in_arena(plan, v)).max() {
            // Allows checks to subtract the reach of a group from the arena's length.
            let len = self
                .code
                .context(types::I64, offset_of!(Context, arena_len));
            let large = IntCC::UnsignedGreaterThanOrEqual;
            let large = self.code.b.icmp_imm(large, len, reach);
            self.code.require(fail, large);
        }
    }

    /// Emits the setup shared by all groups.
    fn begin_loop<'p>(&mut self, plan: &'p Plan, fail: vir::Block) -> Loop<'p> {
        let fuel = self.code.fuel();
        let left = self.code.variable(types::I32);
        let taken = self.code.variable(types::I8);
        let slots = self.code.written(&plan.form.slots);
        let budget = self.code.variable(types::I32);
        let most = match plan.peel {
            // The general loop burns the last.
            Some(_) => self.code.b.iadd_imm(fuel, -1),
            None => fuel,
        };
        self.code.b.def_var(budget, most);
        if plan.peel.is_some() {
            let some = self.code.b.icmp_imm(IntCC::SignedGreaterThan, most, 0);
            self.code.require(fail, some);
        }
        Loop {
            plan,
            fail,
            fuel,
            budget,
            left,
            taken,
            slots,
            shadows: Vec::new(),
        }
    }

    /// Emits the loop over the groups, each with all its iterations. Returns the block after the
    /// last.
    fn each_group(&mut self, l: &Loop<'_>, results: &Results) -> vir::Block {
        let plan = l.plan;
        let (header, offset) = self.code.begin_offsets();
        let lane = self.code.b.ushr_imm(offset, 2);
        let wave = self.code.b.iadd(self.code.region.wave(), offset);
        let frame = self.code.b.iadd(self.code.region.frame(), offset);
        let iterations = self.code.b.use_var(l.budget);
        self.code.b.def_var(l.left, iterations);
        for &(slot, var, _) in &l.slots {
            let before = self.boundary.read_slot(&mut self.code, slot);
            self.code.b.def_var(var, before);
        }
        let no = self.code.b.iconst(types::I8, 0);
        self.code.b.def_var(l.taken, no);
        let schedule = Schedule::unplaced(&plan.form.block, self.code.region.options().host);
        let body = Body {
            slices: plan.group / self.code.per(),
            full: false,
            lane,
            wave,
            frame,
            values: HashMap::default(),
            words: HashMap::default(),
            any: HashMap::default(),
            selectors: HashMap::default(),
            at: Vec::new(),
        };
        let mut iteration = Iteration::new(plan, &schedule, body, l.fail);
        self.begin_group(&mut iteration);
        iteration.body.values = self.fixed(&iteration, &plan.form);
        if self.code.region.options().has(Forms::HOISTED) {
            self.before_iterations(&mut iteration, &l.slots, l.fuel);
        }
        self.iterations(&mut iteration, l);

        for &(n, slot) in &l.shadows {
            let value = self.out_value(&iteration, n);
            for (j, x) in value.into_iter().enumerate() {
                let at = frame_offset(slot) + (4 * self.code.per() * j) as i32;
                self.code.b.store(Memory::Trusted, x, frame, at);
            }
        }
        self.group_results(&iteration, results, (l.left, l.taken), &l.slots, lane);
        let done = self.code.b.create_block();
        self.code
            .end_offsets((header, offset), 4 * plan.group, done);
        done
    }

    /// Emits the iterations of a group and the jump to their end.
    fn iterations(&mut self, iteration: &mut Iteration<'_>, l: &Loop<'_>) {
        let head = self.code.b.create_block();
        let group_end = self.code.b.create_block();
        let unmasked = match &l.plan.unmasked {
            Some(unmasked) => {
                let targets = (head, group_end);
                // Have lanes left in the masked iterations since the last unmasked one?
                let leaving = self.code.variable(types::I8);
                let no = self.code.b.iconst(types::I8, 0);
                self.code.b.def_var(leaving, no);
                let enter = self.unmasked_iterations(
                    iteration,
                    unmasked,
                    (l.left, l.taken),
                    &l.slots,
                    targets,
                );
                Some((enter, leaving, no))
            }
            None => {
                self.code.b.jump(head, &[]);
                None
            }
        };
        self.code.b.switch_to_block(head);
        let acting = unmasked.map(|_| self.mask_now(iteration, MaskPlace::Exec));
        let (on, out) = (self.code.b.create_block(), self.code.b.create_block());
        self.iteration(iteration, l, on, out);

        self.code.b.switch_to_block(out);
        let none = self.code.b.iconst(types::I8, 0);
        self.code.b.def_var(l.taken, none);
        self.code.b.jump(group_end, &[]);

        self.code.b.switch_to_block(on);
        let out_of_fuel = self.code.b.create_block();
        let before = self.code.b.use_var(l.left);
        let now = self.code.b.iadd_imm(before, -1);
        self.code.b.def_var(l.left, now);
        let more = self.code.b.icmp_imm(IntCC::SignedGreaterThan, now, 0);
        let again = self.code.b.create_block();
        let end = if l.plan.peel.is_some() {
            out
        } else {
            out_of_fuel
        };
        self.code.b.brif(more, again, &[], end, &[]);
        self.code.b.switch_to_block(again);
        match (unmasked, acting) {
            (Some((unmasked, leaving, no)), Some(acting)) => {
                let now = self.mask_now(iteration, MaskPlace::Exec);
                let pairs = acting.into_iter().zip(now);
                let gone = pairs.map(|(a, b)| self.code.b.bxor(a, b)).collect();
                let gone = self.any_lane(gone);
                let (left, stayed) = (self.code.b.create_block(), self.code.b.create_block());
                self.code.b.brif(gone, left, &[], stayed, &[]);
                // Where lanes leave one after the other, the next unmasked iteration would be in vain.
                self.code.b.switch_to_block(left);
                let yes = self.code.b.iconst(types::I8, 1);
                self.code.b.def_var(leaving, yes);
                self.code.b.jump(head, &[]);
                // After lanes have left, the others may run further unmasked iterations.
                self.code.b.switch_to_block(stayed);
                let retry = self.code.b.create_block();
                let were_leaving = self.code.b.use_var(leaving);
                self.code.b.brif(were_leaving, retry, &[], head, &[]);
                self.code.b.switch_to_block(retry);
                self.code.b.def_var(leaving, no);
                self.code.b.jump(unmasked, &[]);
            }
            _ => {
                self.code.b.jump(head, &[]);
            }
        }
        self.code.b.switch_to_block(out_of_fuel);
        let some = self.code.b.iconst(types::I8, 1);
        self.code.b.def_var(l.taken, some);
        self.code.b.jump(group_end, &[]);
        self.code.b.switch_to_block(group_end);
    }

    /// Emits an iteration, which ends in `on` if the group continues, else in `out`.
    fn iteration(
        &mut self,
        iteration: &mut Iteration<'_>,
        l: &Loop<'_>,
        on: vir::Block,
        out: vir::Block,
    ) {
        let (block, schedule) = (&iteration.form.block, iteration.schedule);
        self.iteration_scalars(iteration, &l.slots);
        for &load in &block.effects {
            match block.nodes[load.index()].op {
                Op::ScalarLoad(n, _) => self.iteration_scalar_load(iteration, load, n),
                _ => self.iteration_load(iteration, load),
            }
        }
        if let Some(peel) = &l.plan.peel {
            // Iterations that violate an assumption are left to the general loop.
            let good = self.all_go_on(iteration, &peel.tests);
            let as_assumed = self.code.b.create_block();
            self.code.b.brif(good, as_assumed, &[], out, &[]);
            self.code.b.switch_to_block(as_assumed);
        }
        self.end_iteration(iteration);
        let news = l.slots.iter();
        let news = news.map(|&(_, var, v)| (var, self.scalar(block, schedule, v)));
        let news: Vec<(Variable, Value)> = news.collect();
        let back = self.continues(iteration);
        for (var, value) in news {
            self.code.b.def_var(var, value);
        }
        match back {
            Some((back, true)) => self.code.b.brif(back, on, &[], out, &[]),
            Some((back, false)) => self.code.b.brif(back, out, &[], on, &[]),
            None => self.code.b.jump(on, &[]),
        };
    }

    /// After the last group: commits the results to the wave and leaves the loop.
    fn end_loop(&mut self, l: &Loop<'_>, results: &Results, index: usize) {
        self.commit(&l.shadows);
        self.commit_scalars(results, &l.slots);
        let rest = self.code.b.use_var(results.left);
        self.code.set_fuel(rest);
        let taken = self.code.b.use_var(results.taken);
        if self.code.region.options().count || self.code.region.options().profile {
            let backs = self.code.b.isub(l.fuel, rest);
            let last = self.code.b.bxor_imm(taken, 1);
            let last = self.code.b.uextend(types::I32, last);
            let iterations = self.code.b.iadd(backs, last);
            let iterations = self.code.b.uextend(types::I64, iterations);
            if self.code.region.options().count {
                self.code
                    .count_iterations(&self.code.region.func().blocks[index], iterations);
            }
            self.profile.count_iterations(&mut self.code, iterations);
        }
        let pc = l.plan.form.block.pc;
        self.leave_loop(taken, (index, pc), &l.plan.exit);
    }
}
