//! Emission of a loop inside the lane groups (see [`crate::interchange`]). The way goes: EXEC is all ones
//! where that matters, or the general loop runs; each group loads what goes round, makes all turns, and puts its results into
//! the frame; behind the last group the results go to their homes and the scalars of the last turn of the group that made most become
//! the wave's. Whatever is not as planned (an address outside the arena, a word that wraps) leaves for the
//! general loop, which begins again from the registers as they were.

use std::collections::BTreeMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;

use super::boundary::slot_type;
use super::segment::Body;
use super::{Emitter, offset32, trusted};
use crate::abi::{Context, ExitCode};
use crate::interchange::alone::Alone;
use crate::interchange::{Form, MaskPlace, Plan, Turns};
use crate::ir::{Block, Op, Slot, Val};
use crate::liveness::Live;
use crate::maps::HashMap;
use crate::schedule::Schedule;

mod alone;
mod hoist;
mod memory;
mod peel;
mod quick;
mod results;
mod values;

/// A VGPR that goes round.
#[derive(Clone)]
enum Carried {
    Scalar(Variable),
    Vectors(Vec<Variable>),
}

/// One turn of one group while it is emitted.
struct Turn<'p> {
    form: &'p Form,
    plan: &'p Plan,
    /// Classes of the nodes, for the lane operations.
    schedule: &'p Schedule,
    body: Body,
    /// Scalars of values held as such.
    bases: HashMap<Val, Value>,
    carried: BTreeMap<u8, Carried>,
    pairs: BTreeMap<u8, Variable>,
    invariant: BTreeMap<u8, Variable>,
    /// Masks that go round.
    masks: BTreeMap<MaskPlace, Vec<Variable>>,
    /// Further results of loads: scalars or vectors.
    results: HashMap<(Val, u8), Loaded>,
    /// Wave values that no turn changes.
    fixed: HashMap<Val, Value>,
    /// Were the addresses of this form's loads checked before the first turn, as far as that goes?
    checked: bool,
    fail: clif::Block,
    /// Lanes in the group.
    group: i64,
}

#[derive(Clone, Debug)]
enum Loaded {
    Scalar(Value),
    Vectors(Vec<Value>),
}

/// A loop inside the lane groups, or of lanes alone.
pub(super) enum Inner {
    /// Group by group.
    Groups(Box<Plan>),
    /// Lane by lane.
    Alone(Box<Alone>),
}

impl Emitter<'_> {
    /// Emits the loop that begins at block `index` where control enters it.
    pub(super) fn interchanged(&mut self, index: usize, plan: &Plan) {
        let block = &plan.form.block;
        let general = self.heads[&index];
        self.profile_interchanged(plan.group);
        self.b.switch_to_block(self.blocks[index]);
        self.scalars.clear();
        self.bits.clear();
        let Some(&exec) = self.vars.get(&Slot::Exec) else {
            self.b.ins().jump(general, &[]);
            return;
        };
        let exec = self.b.use_var(exec);
        let fail = self.b.create_block();
        self.b.set_cold_block(fail);
        if plan.full {
            let full = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
            self.require(fail, full);
        }
        for &place in plan.peel.iter().flat_map(|peel| &peel.zero) {
            let bits = self.mask_before(place);
            let zero = self.b.ins().icmp_imm_u(IntCC::Equal, bits, 0);
            self.require(fail, zero);
        }
        let loads = block.effects.iter();
        if let Some(reach) = loads.filter_map(|&v| memory::span_in_arena(plan, v)).max() {
            // So that a check may take the reach of a group from the arena's length.
            let len_at = offset32(offset_of!(Context, arena_len));
            let len = self.b.ins().load(types::I64, trusted(), self.ctx, len_at);
            let large = IntCC::UnsignedGreaterThanOrEqual;
            let large = self.b.ins().icmp_imm_u(large, len, reach);
            self.require(fail, large);
        }

        let fuel_at = offset32(offset_of!(Context, fuel));
        let fuel = self.b.ins().load(types::I32, trusted(), self.ctx, fuel_at);
        let left = self.variable(types::I32);
        let taken = self.variable(types::I8);
        let slots: Vec<(Slot, Variable, Val)> = plan
            .form
            .slots
            .iter()
            .map(|&(slot, v)| (slot, self.variable(slot_type(slot)), v))
            .collect();
        let budget = self.variable(types::I32);
        let most = match plan.peel {
            // The general loop burns the last.
            Some(_) => self.b.ins().iadd_imm_s(fuel, -1),
            None => fuel,
        };
        self.b.def_var(budget, most);
        if plan.peel.is_some() {
            let some = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, most, 0);
            self.require(fail, some);
        }
        let groups = self.b.create_block();
        self.b.ins().jump(groups, &[]);
        self.b.switch_to_block(groups);
        let turns = self.b.use_var(budget);
        let results = self.begin_results(&plan.form.masks, turns, &slots);
        for &var in results.masks.values() {
            let none = self.b.ins().iconst(types::I64, 0);
            self.b.def_var(var, none);
        }
        let shadows: Vec<(u8, u32)> = plan
            .form
            .outs
            .iter()
            .map(|&(n, _)| (n, self.take_slot()))
            .collect();

        // A group.
        let header = self.b.create_block();
        let offset = self.b.append_block_param(header, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(header, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(header);
        let lane64 = self.b.ins().ushr_imm_u(offset, 2);
        let lane = self.b.ins().ireduce(types::I32, lane64);
        let wave = self.b.ins().iadd(self.wave, offset);
        let frame = self.b.ins().iadd(self.frame, offset);
        let turns = self.b.use_var(budget);
        self.b.def_var(left, turns);
        for &(slot, var, _) in &slots {
            let before = self.b.use_var(self.vars[&slot]);
            self.b.def_var(var, before);
        }
        let no = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(taken, no);
        let schedule = Schedule::unplaced(block, self.o.wide);
        let mut turn = Turn {
            form: &plan.form,
            plan,
            schedule: &schedule,
            body: Body {
                slices: plan.group / self.per(),
                full: false,
                lane,
                wave,
                frame,
                values: HashMap::default(),
                at: HashMap::default(),
            },
            bases: HashMap::default(),
            carried: BTreeMap::new(),
            pairs: BTreeMap::new(),
            invariant: BTreeMap::new(),
            masks: BTreeMap::new(),
            results: HashMap::default(),
            fixed: HashMap::default(),
            checked: false,
            fail,
            group: plan.group as i64,
        };
        self.begin_group(&mut turn);

        turn.body.values = self.fixed(&turn, &plan.form);
        if !self.o.no_hoist {
            self.before_turns(&mut turn, &slots, fuel);
        }

        // A turn.
        let head = self.b.create_block();
        let group_end = self.b.create_block();
        let quick = match &plan.quick {
            Some(quick) => {
                let ways = (head, group_end);
                Some(self.quick_turns(&turn, quick, (left, taken), &slots, ways))
            }
            None => {
                self.b.ins().jump(head, &[]);
                None
            }
        };
        self.b.switch_to_block(head);
        let acting = quick.map(|_| self.mask_now(&turn, MaskPlace::Exec));
        self.turn_scalars(&turn, &slots);
        for &load in &block.effects {
            match block.nodes[load.index()].op {
                Op::ScalarLoad(n, _) => self.turn_scalar_load(&turn, load, n),
                _ => self.turn_load(&mut turn, load),
            }
        }
        let out = self.b.create_block();
        if let Some(peel) = &plan.peel {
            // What is not as assumed is left to the general loop.
            let good = self.all_go_on(&mut turn, &peel.tests);
            let on = self.b.create_block();
            self.b.ins().brif(good, on, &[], out, &[]);
            self.b.switch_to_block(on);
        }
        self.end_turn(&mut turn);
        let news: Vec<(Variable, Value)> = slots
            .iter()
            .map(|&(_, var, v)| (var, self.scalar(block, &schedule, v)))
            .collect();
        let back = self.goes_round(&mut turn);
        for (var, value) in news {
            self.b.def_var(var, value);
        }
        let burnt = self.b.create_block();
        let tired = self.b.create_block();
        match back {
            Some((back, true)) => self.b.ins().brif(back, burnt, &[], out, &[]),
            Some((back, false)) => self.b.ins().brif(back, out, &[], burnt, &[]),
            None => self.b.ins().jump(burnt, &[]),
        };
        self.b.switch_to_block(out);
        let none = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(taken, none);
        self.b.ins().jump(group_end, &[]);
        self.b.switch_to_block(burnt);
        let before = self.b.use_var(left);
        let now = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(left, now);
        let on = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, now, 0);
        let again = self.b.create_block();
        let end = if plan.peel.is_some() { out } else { tired };
        self.b.ins().brif(on, again, &[], end, &[]);
        self.b.switch_to_block(again);
        match (quick, acting) {
            (Some(quick), Some(acting)) => {
                // Where lanes have left, the others may be quick again.
                let now = self.mask_now(&turn, MaskPlace::Exec);
                let pairs = acting.into_iter().zip(now);
                let gone = pairs.map(|(a, b)| self.b.ins().bxor(a, b)).collect();
                let gone = self.any_lane(gone);
                self.b.ins().brif(gone, quick, &[], head, &[]);
            }
            _ => {
                self.b.ins().jump(head, &[]);
            }
        }
        self.b.switch_to_block(tired);
        let some = self.b.ins().iconst(types::I8, 1);
        self.b.def_var(taken, some);
        self.b.ins().jump(group_end, &[]);

        // The group's results.
        self.b.switch_to_block(group_end);
        for &(n, slot) in &shadows {
            let value = self.out_value(&turn, n);
            for (j, x) in value.into_iter().enumerate() {
                let at = Self::frame_offset(slot) + (4 * self.per() * j) as i32;
                self.b.ins().store(trusted(), x, frame, at);
            }
        }
        self.group_results(&turn, &results, (left, taken), &slots, lane64);
        let next = self.b.ins().iadd_imm_s(offset, 4 * plan.group as i64);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, 256);
        let done = self.b.create_block();
        self.b
            .ins()
            .brif(more, header, &[BlockArg::Value(next)], done, &[]);

        self.b.switch_to_block(fail);
        self.b.ins().jump(general, &[]);

        // All groups are through.
        self.b.switch_to_block(done);
        if plan.peel.is_some() {
            let rest = self.same_turns(&results, budget, (groups, fail));
            self.commit(&shadows);
            let most = self.b.use_var(budget);
            let burnt = self.b.ins().isub(most, rest);
            let rest = self.b.ins().isub(fuel, burnt);
            self.b.ins().store(trusted(), rest, self.ctx, fuel_at);
            self.b.ins().jump(general, &[]);
            return;
        }
        self.commit(&shadows);
        self.commit_scalars(&results, &slots);
        let rest = self.b.use_var(results.left);
        self.b.ins().store(trusted(), rest, self.ctx, fuel_at);
        let taken = self.b.use_var(results.taken);
        if self.o.count || self.o.profile {
            let backs = self.b.ins().isub(fuel, rest);
            let last = self.b.ins().bxor_imm_u(taken, 1);
            let last = self.b.ins().uextend(types::I32, last);
            let turns = self.b.ins().iadd(backs, last);
            let turns = self.b.ins().uextend(types::I64, turns);
            if self.o.count {
                self.count_turns(&self.f.blocks[index], turns);
            }
            self.profile_turns(turns);
        }
        let tired = self.b.create_block();
        let leave = self.b.create_block();
        self.b.ins().brif(taken, tired, &[], leave, &[]);
        self.b.switch_to_block(tired);
        self.note_resume(Some(index));
        let pc = self.address(block.pc);
        self.leave(pc, ExitCode::Yield);
        self.b.switch_to_block(leave);
        self.scalars.clear();
        self.jump(&plan.exit);
    }

    /// Does the group go round once more? A value, and whether it does when that is not 0; nothing where it
    /// does. Its masks have their new values already.
    fn goes_round(&mut self, t: &mut Turn<'_>) -> Option<(Value, bool)> {
        match t.form.turn {
            Turns::While(cond, when) => Some((self.scalar(&t.form.block, t.schedule, cond), when)),
            Turns::Exec(exec) => {
                let mask = self.vectors_of(t, exec);
                Some((self.any_lane(mask), true))
            }
            Turns::Quick | Turns::Lane(_) => None,
        }
    }

    /// Makes the scalars of the wave known that a turn reads.
    fn turn_scalars(&mut self, t: &Turn<'_>, slots: &[(Slot, Variable, Val)]) {
        let form = t.form;
        self.scalars.clone_from(&t.fixed);
        for (i, node) in form.block.nodes.iter().enumerate() {
            if let Op::ReadS(slot) = node.op
                && form.kinds[i].is_some()
            {
                let own = slots.iter().find(|(s, ..)| *s == slot);
                let var = own.map_or_else(|| self.vars[&slot], |&(_, var, _)| var);
                let value = self.b.use_var(var);
                self.scalars.insert(Val(i as u32), value);
            }
        }
    }

    /// Leaves for the general loop unless `good`.
    fn require(&mut self, fail: clif::Block, good: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(good, on, &[], fail, &[]);
        self.b.switch_to_block(on);
    }

    /// Adds the instructions of `turns` (I64) turns to the counters.
    fn count_turns(&mut self, block: &Block, turns: Value) {
        let vector: u32 = block.counts.iter().map(|&(_, n)| n).sum();
        let scalar = i64::from(block.guest_insts.saturating_sub(vector));
        let instructions = i64::from(block.guest_insts);
        let lanes = scalar + 64 * i64::from(vector);
        for (at, each) in [
            (offset_of!(Context, instructions), instructions),
            (offset_of!(Context, lane_instructions), lanes),
        ] {
            let at = offset32(at);
            let n = self.b.ins().imul_imm_s(turns, each);
            let old = self.b.ins().load(types::I64, trusted(), self.ctx, at);
            let new = self.b.ins().iadd(old, n);
            self.b.ins().store(trusted(), new, self.ctx, at);
        }
    }

    /// Where a jump within the region goes: within a loop the way to its beginning does not pass through
    /// the interchanged form again.
    pub(super) fn way_to(&self, block: usize) -> clif::Block {
        match self.heads.get(&block) {
            Some(&general) if self.inside.contains(&(block, self.current)) => general,
            _ => self.blocks[block],
        }
    }

    /// Plans the interchanged forms of the region's loops. What is emitted as their first blocks are the
    /// general loops.
    pub(super) fn interchange(
        &mut self,
        live: &[Live],
        facts: &crate::facts::Facts,
    ) -> HashMap<usize, Inner> {
        let mut plans = HashMap::default();
        if self.o.always_masked || self.o.no_interchange {
            return plans;
        }
        let counts = self.o.count || self.o.profile;
        for head in facts.loops() {
            if self.o.is_enough(plans.len()) {
                break;
            }
            let Some(entry) = facts.at_loop(head) else {
                continue;
            };
            let (row, group) = (facts.row(), self.o.group);
            let Some(plan) =
                crate::interchange::plan(self.f, head, live, entry, row, self.per(), group)
            else {
                if !counts && let Some(plan) = self.plan_alone(head, live, facts) {
                    self.keep_general(head, &plan.blocks);
                    plans.insert(head, Inner::Alone(Box::new(plan)));
                }
                continue;
            };
            // How often the blocks of a larger loop ran, and with which lanes, nobody knows behind it; nor the
            // lanes of an EXEC that a turn makes.
            let known = |&(exec, _): &(Val, u32)| {
                self.f.blocks[head].nodes[exec.index()].op == Op::ReadS(Slot::Exec)
            };
            let unknown = plan.blocks.len() > 1
                || matches!(plan.form.turn, Turns::Exec(_) | Turns::Quick)
                || !self.f.blocks[head].counts.iter().all(known);
            if counts && unknown {
                continue;
            }
            self.keep_general(head, &plan.blocks);
            plans.insert(head, Inner::Groups(Box::new(plan)));
        }
        plans
    }

    /// Gives the general loop that begins at `head` a block of its own.
    fn keep_general(&mut self, head: usize, blocks: &[usize]) {
        let general = self.b.create_block();
        self.heads.insert(head, general);
        self.inside.extend(blocks.iter().map(|&b| (head, b)));
    }
}
