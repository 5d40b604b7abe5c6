//! Emission of a loop in which every lane goes round alone (see [`crate::interchange::alone`]). The way goes:
//! for each lane that acts, lowest first, what goes round is loaded, all turns are made with scalars, and the
//! results go into the frame; behind the last lane they go to the homes of those lanes, and the scalars of the lane
//! that made most turns become the wave's. What cannot be done inline (an address outside the arena or LDS)
//! leaves for the general loop, which begins again from the registers as they were.

use std::collections::BTreeMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Type as Clif, Value, types};
use cranelift_frontend::Variable;
use frontend::op::{Data, Space};

use super::Written;
use super::results::Results;
use crate::abi::Context;
use crate::clif::boundary::slot_type;
use crate::clif::scalar::joined;
use crate::clif::{Emitter, access, affine, offset32, trusted};
use crate::facts::Facts;
use crate::interchange::alone::Alone;
use crate::interchange::{self, MaskPlace};
use crate::ir::{Float, Op, Slot, Val};
use crate::liveness::Live;
use crate::maps::HashMap;
use crate::schedule::Schedule;

mod values;

/// What the emission of a loop knows.
struct Lane<'p> {
    plan: &'p Alone,
    schedule: Schedule,
    /// The lane's number, I64.
    number: Value,
    /// The wave plus the lane's byte offset.
    wave: Value,
    /// VGPRs that go round, other than pairs.
    words: BTreeMap<u8, Variable>,
    /// Pairs that go round.
    pairs: BTreeMap<u8, Variable>,
    /// Bits of masks that go round, I8.
    masks: BTreeMap<MaskPlace, Variable>,
    /// What was computed.
    values: HashMap<Val, Value>,
    /// The parts of sums that are the same in all turns, without the arena's beginning.
    starts: HashMap<Val, Value>,
    memory: Reach,
    fail: clif::Block,
}

/// What may be accessed.
#[derive(Clone)]
struct Reach {
    /// Lowest address of the arena.
    base: Value,
    /// Start of LDS.
    lds: Value,
    /// The highest offset of an element, by its space (is it LDS?) and size.
    last: BTreeMap<(bool, u32), Value>,
}

/// A load, as far as its instruction says.
fn shape(op: Op) -> Option<(bool, Data)> {
    match op {
        Op::Load(space, data, _) => Some((space == Space::Lds, data)),
        _ => None,
    }
}

impl Emitter<'_> {
    /// Plans the loop that begins at block `head` for lanes alone.
    pub(super) fn plan_alone(&self, head: usize, live: &[Live], facts: &Facts) -> Option<Alone> {
        if self.o.no_alone {
            return None;
        }
        let strides = |b: usize, v: Val| {
            let affine = facts.address(b, v)?;
            affine::suits(&self.f.blocks[b], v, affine, facts.row()).then_some(affine.stride)
        };
        interchange::alone::plan(self.f, head, live, &strides)
    }

    /// Emits the loop that begins at block `index` where control enters it.
    pub(in super::super) fn alone(&mut self, index: usize, plan: &Alone) {
        let general = self.heads[&index];
        self.profile_interchanged(1);
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
        let some = self.b.create_block();
        self.b.ins().brif(exec, some, &[], fail, &[]);
        self.b.switch_to_block(some);
        let memory = self.reach(plan, fail);
        let fuel_at = offset32(offset_of!(Context, fuel));
        let fuel = self.b.ins().load(types::I32, trusted(), self.ctx, fuel_at);
        let left = self.variable(types::I32);
        let taken = self.variable(types::I8);
        let slots: Vec<Written> = plan
            .slots
            .iter()
            .map(|&(slot, v)| (slot, self.variable(slot_type(slot)), v))
            .collect();
        let results = self.begin_results(&plan.masks, fuel, &slots);
        // Bits of lanes that do not act stay.
        for (&place, &var) in &results.masks {
            let before = self.mask_before(place);
            let others = self.b.ins().band_not(before, exec);
            self.b.def_var(var, others);
        }
        let shadows: Vec<(u8, u32)> = plan.outs.keys().map(|&n| (n, self.take_slot())).collect();
        let block = &plan.block;
        let first = self.b.ins().iconst(types::I64, 0);
        let mut lane = Lane {
            plan,
            schedule: Schedule::unplaced(block, false),
            number: first,
            wave: self.wave,
            words: BTreeMap::new(),
            pairs: BTreeMap::new(),
            masks: BTreeMap::new(),
            values: HashMap::default(),
            starts: HashMap::default(),
            memory,
            fail,
        };
        if let Some(place) = plan.left {
            let gone = self.mask_before(place);
            let gone = self.b.ins().band(gone, exec);
            let none = self.b.ins().icmp_imm_u(IntCC::Equal, gone, 0);
            self.require(fail, none);
        }
        self.declare(&mut lane);
        self.not_in_order(&mut lane);
        self.wave_fixed(&lane);
        let fixed = self.scalars.clone();

        // A lane.
        let header = self.b.create_block();
        let rest = self.b.append_block_param(header, types::I64);
        self.b.ins().jump(header, &[BlockArg::Value(exec)]);
        self.b.switch_to_block(header);
        self.place(&mut lane, rest);
        self.b.def_var(left, fuel);
        for &(slot, var, _) in &slots {
            let before = self.b.use_var(self.vars[&slot]);
            self.b.def_var(var, before);
        }
        self.begin_lane(&mut lane);
        self.lane_fixed(&mut lane);

        // A turn.
        let head = self.b.create_block();
        let end = self.b.create_block();
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.scalars = fixed;
        for (i, node) in block.nodes.iter().enumerate() {
            if let Op::ReadS(slot) = node.op
                && let Some(&(_, var, _)) = slots.iter().find(|s| s.0 == slot)
            {
                let value = self.b.use_var(var);
                self.scalars.insert(Val(i as u32), value);
            }
        }
        for &load in &block.effects {
            match block.nodes[load.index()].op {
                Op::ScalarLoad(n, _) => self.alone_scalar_load(&lane, load, n),
                _ => self.alone_load(&mut lane, load),
            }
        }
        let (cond, when) = self.end_alone(&mut lane, &slots);
        let (burnt, tired, last) = (
            self.b.create_block(),
            self.b.create_block(),
            self.b.create_block(),
        );
        match when {
            true => self.b.ins().brif(cond, burnt, &[], last, &[]),
            false => self.b.ins().brif(cond, last, &[], burnt, &[]),
        };
        self.b.switch_to_block(burnt);
        let before = self.b.use_var(left);
        let now = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(left, now);
        let on = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, now, 0);
        self.b.ins().brif(on, head, &[], tired, &[]);
        for (way, goes_round) in [(tired, 1), (last, 0)] {
            self.b.switch_to_block(way);
            let is = self.b.ins().iconst(types::I8, goes_round);
            self.b.def_var(taken, is);
            self.b.ins().jump(end, &[]);
        }

        // The lane's results.
        self.b.switch_to_block(end);
        self.keep_results(&lane, &shadows);
        self.lane_results(&lane, &results, (left, taken), &slots);
        let less = self.b.ins().iadd_imm_s(rest, -1);
        let others = self.b.ins().band(rest, less);
        let done = self.b.create_block();
        self.b
            .ins()
            .brif(others, header, &[BlockArg::Value(others)], done, &[]);

        self.b.switch_to_block(fail);
        self.b.ins().jump(general, &[]);

        // All lanes are through.
        self.b.switch_to_block(done);
        self.commit_some(&shadows, exec);
        self.commit_scalars(&results, &slots);
        let rest = self.b.use_var(results.left);
        self.set_fuel(rest);
        let taken = self.b.use_var(results.taken);
        self.leave_loop(taken, (index, block.pc), &plan.exit);
    }

    /// Finds out what may be accessed; leaves for `fail` where nothing may.
    fn reach(&mut self, plan: &Alone, fail: clif::Block) -> Reach {
        let load = |e: &mut Self, ty: Clif, offset: usize| {
            e.b.ins().load(ty, trusted(), e.ctx, offset32(offset))
        };
        let base = load(self, types::I64, offset_of!(Context, arena_base));
        let len = load(self, types::I64, offset_of!(Context, arena_len));
        let lds = load(self, types::I64, offset_of!(Context, lds));
        let lds_len = load(self, types::I32, offset_of!(Context, lds_len));
        let lds_len = self.b.ins().uextend(types::I64, lds_len);
        let mut sizes: Vec<(bool, u32)> = vec![(false, 1)];
        for &v in &plan.block.effects {
            sizes.push(match plan.block.nodes[v.index()].op {
                Op::ScalarLoad(n, _) => (false, 4 * u32::from(n)),
                op => shape(op).map_or((false, 1), |(lds, data)| (lds, access::bytes(data))),
            });
        }
        sizes.sort_unstable();
        sizes.dedup();
        let mut last = BTreeMap::new();
        for (is_lds, bytes) in sizes {
            let len = if is_lds { lds_len } else { len };
            let at_least = IntCC::UnsignedGreaterThanOrEqual;
            let enough = self.b.ins().icmp_imm_u(at_least, len, i64::from(bytes));
            self.require(fail, enough);
            let highest = self.b.ins().iadd_imm_s(len, -i64::from(bytes));
            last.insert((is_lds, bytes), highest);
        }
        Reach { base, lds, last }
    }

    /// Declares what goes round. Words that a turn makes as floats stay in the float registers.
    fn declare(&mut self, t: &mut Lane<'_>) {
        for &n in t.plan.outs.keys().filter(|&&n| !t.plan.in_pair(n)) {
            let ty = if Self::is_f32(t, n) {
                types::F32
            } else {
                types::I32
            };
            t.words.insert(n, self.variable(ty));
        }
        for &n in t.plan.pairs.keys() {
            t.pairs.insert(n, self.variable(types::I64));
        }
        for &place in t.plan.masks.keys() {
            if place != MaskPlace::Exec && t.plan.left != Some(place) {
                t.masks.insert(place, self.variable(types::I8));
            }
        }
    }

    /// Leaves for the general loop if the first three lanes' elements follow one another: the general loop
    /// goes through memory in that order. Only the time that it takes depends on this.
    fn not_in_order(&mut self, t: &mut Lane<'_>) {
        for &load in &t.plan.first {
            let node = &t.plan.block.nodes[load.index()];
            let Some((_, data)) = shape(node.op) else {
                continue;
            };
            let addresses = [0, 1, 2].map(|n| {
                t.number = self.b.ins().iconst(types::I64, n);
                t.wave = self.b.ins().iadd_imm_s(self.wave, 4 * n);
                t.values.clear();
                self.begin_lane(t);
                self.eval(t, node.args[0])
            });
            t.values.clear();
            let bytes = i64::from(access::bytes(data));
            let apart = [0, 1].map(|n| {
                let step = self.b.ins().isub(addresses[n + 1], addresses[n]);
                self.b.ins().icmp_imm_s(IntCC::NotEqual, step, bytes)
            });
            let good = self.b.ins().bor(apart[0], apart[1]);
            self.require(t.fail, good);
        }
    }

    /// Goes to the lowest lane in `rest`.
    fn place(&mut self, t: &mut Lane<'_>, rest: Value) {
        t.number = self.b.ins().ctz(rest);
        let bytes = self.b.ins().ishl_imm_u(t.number, 2);
        t.wave = self.b.ins().iadd(self.wave, bytes);
    }

    /// Loads what goes round of the lane.
    fn begin_lane(&mut self, t: &mut Lane<'_>) {
        for (&n, &var) in &t.words {
            let ty = if Self::is_f32(t, n) {
                types::F32
            } else {
                types::I32
            };
            let at = Self::home_offset(n);
            let value = self.b.ins().load(ty, trusted(), t.wave, at);
            self.b.def_var(var, value);
        }
        for (&n, &var) in &t.pairs {
            let [low, high] = [n, n + 1].map(|n| {
                let at = Self::home_offset(n);
                self.b.ins().load(types::I32, trusted(), t.wave, at)
            });
            let mut value = joined(&mut self.b, low, high);
            if t.plan.based.contains(&n) {
                value = self.b.ins().isub(value, t.memory.base);
            }
            self.b.def_var(var, value);
        }
        for (&place, &var) in &t.masks {
            let bits = self.mask_before(place);
            let bit = self.bit_of(t, bits);
            self.b.def_var(var, bit);
        }
    }

    /// Does VGPR `n` go round as a float?
    fn is_f32(t: &Lane<'_>, n: u8) -> bool {
        let Some(&v) = t.plan.outs.get(&n) else {
            return false;
        };
        let node = &t.plan.block.nodes[t.plan.resolve(v).index()];
        let float = matches!(
            node.op,
            Op::FAdd(Float::F32, _)
                | Op::FSub(Float::F32, _)
                | Op::FMul(Float::F32, _)
                | Op::Fma(Float::F32, _)
        );
        float && !t.plan.in_pair(n)
    }

    /// The lane's bit of 64.
    fn bit_of(&mut self, t: &Lane<'_>, bits: Value) -> Value {
        let bit = self.b.ins().ushr(bits, t.number);
        let bit = self.b.ins().band_imm_u(bit, 1);
        self.b.ins().ireduce(types::I8, bit)
    }

    /// Puts the lane's registers into the frame.
    fn keep_results(&mut self, t: &Lane<'_>, shadows: &[(u8, u32)]) {
        let bytes = self.b.ins().ishl_imm_u(t.number, 2);
        let frame = self.b.ins().iadd(self.frame, bytes);
        for &(n, slot) in shadows {
            let value = match t.words.get(&n) {
                Some(&var) => self.b.use_var(var),
                None => self.eval_register(t, n),
            };
            let at = Self::frame_offset(slot);
            self.b.ins().store(trusted(), value, frame, at);
        }
    }

    /// Adds a lane's results: its bits, and the scalars if it made more turns than those before.
    fn lane_results(
        &mut self,
        t: &Lane<'_>,
        results: &Results,
        (left, taken): (Variable, Variable),
        slots: &[Written],
    ) {
        for (place, &var) in &results.masks {
            let bit = match t.masks.get(place) {
                Some(&var) => self.b.use_var(var),
                None => {
                    let on = self.b.use_var(taken);
                    match *place {
                        MaskPlace::Exec => on,
                        // The mask of the lanes that left.
                        _ => self.b.ins().bxor_imm_u(on, 1),
                    }
                }
            };
            let bit = self.b.ins().uextend(types::I64, bit);
            let placed = self.b.ins().ishl(bit, t.number);
            let before = self.b.use_var(var);
            let with = self.b.ins().bor(before, placed);
            self.b.def_var(var, with);
        }
        let mine = self.b.use_var(left);
        let most = self.b.use_var(results.left);
        let further = self.b.ins().icmp(IntCC::SignedLessThan, mine, most);
        let mut pairs = vec![(left, results.left), (taken, results.taken)];
        pairs.extend(slots.iter().map(|s| s.1).zip(results.slots.iter().copied()));
        for (from, to) in pairs {
            let (new, old) = (self.b.use_var(from), self.b.use_var(to));
            let chosen = self.b.ins().select(further, new, old);
            self.b.def_var(to, chosen);
        }
    }
}
