//! Emission of a loop inside the lane groups (see [`crate::interchange`]). The way goes: EXEC is all ones,
//! or the general loop runs; each group loads what goes round, makes all turns, and puts its results into
//! the frame; behind the last group the results go to their homes and the scalars of the last turn become
//! the wave's. Whatever is not as planned (an address outside the arena, a word that wraps) leaves for the
//! general loop, which begins again from the registers as they were.

use std::collections::{BTreeMap, HashMap};
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use frontend::op::Data;

use super::access;
use super::boundary::slot_type;
use super::scalar::Scalars;
use super::segment::Body;
use super::{Emitter, flags, offset32, trusted};
use crate::abi::{Context, ExitCode};
use crate::interchange::{Kind, Plan, pair_read, unmerged};
use crate::ir::{Block, Op, Slot, Val, Vary, Width};
use crate::liveness::Live;
use crate::schedule::{self, Schedule};

/// A VGPR that goes round.
enum Carried {
    Scalar(Variable),
    Vectors(Vec<Variable>),
}

/// One turn of one group while it is emitted.
struct Turn<'p> {
    block: &'p Block,
    plan: &'p Plan,
    /// Classes of the nodes, for the lane operations.
    schedule: &'p Schedule,
    body: Body,
    /// Scalars of values held as such.
    bases: HashMap<Val, Value>,
    carried: BTreeMap<u8, Carried>,
    pairs: BTreeMap<u8, Variable>,
    invariant: BTreeMap<u8, Variable>,
    /// Further results of loads: scalars or vectors.
    results: HashMap<(Val, u8), Loaded>,
    fail: clif::Block,
    /// Lanes in the group.
    group: i64,
}

#[derive(Clone)]
enum Loaded {
    Scalar(Value),
    Vectors(Vec<Value>),
}

/// What a group's load touches.
struct Span {
    address: Val,
    data: Data,
    stride: i64,
    /// Where it begins, from the first lane's address.
    below: i64,
    /// Bytes from there on.
    reach: i64,
}

impl Span {
    fn of(block: &Block, plan: &Plan, load: Val) -> Span {
        let node = &block.nodes[load.index()];
        let Op::Load(_, data @ Data::Dwords(_), _) = node.op else {
            unreachable!("bug: {:?} inside a loop", node.op)
        };
        let address = unmerged(block, node.args[0]);
        let Some(Kind::Affine(stride)) = plan.kinds[address.index()] else {
            unreachable!("bug: an address held in vectors")
        };
        let span = stride * (plan.group as i64 - 1);
        Span {
            address,
            data,
            stride,
            below: span.min(0),
            reach: span.abs() + i64::from(access::bytes(data)),
        }
    }
}

impl Emitter<'_> {
    /// Emits the loop of block `index` where control enters it.
    pub(super) fn interchanged(&mut self, index: usize, block: &Block, live: &Live, plan: &Plan) {
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
        let start = self.b.create_block();
        let full = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
        self.b.ins().brif(full, start, &[], general, &[]);
        self.b.switch_to_block(start);
        let fail = self.b.create_block();
        self.b.set_cold_block(fail);
        let loads = block.effects.iter();
        if let Some(reach) = loads.map(|&v| Span::of(block, plan, v).reach).max() {
            // So that a check may take the reach of a group from the arena's length.
            let len_at = offset32(offset_of!(Context, arena_len));
            let len = self.b.ins().load(types::I64, trusted(), self.ctx, len_at);
            let large = IntCC::UnsignedGreaterThanOrEqual;
            let large = self.b.ins().icmp_imm_u(large, len, reach);
            self.require(fail, large);
        }

        let fuel_at = offset32(offset_of!(Context, fuel));
        let fuel = self.b.ins().load(types::I32, trusted(), self.ctx, fuel_at);
        let left = self.b.declare_var(types::I32);
        let taken = self.b.declare_var(types::I8);
        let slots: Vec<(Slot, Variable, Val)> = block
            .writes_s
            .iter()
            .filter(|(slot, _)| live.has_slot(*slot))
            .map(|&(slot, v)| (slot, self.b.declare_var(slot_type(slot)), v))
            .collect();
        let shadows: Vec<(u8, u32)> = plan
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
        self.b.def_var(left, fuel);
        for &(slot, var, _) in &slots {
            let before = self.b.use_var(self.vars[&slot]);
            self.b.def_var(var, before);
        }
        let no = self.b.ins().iconst(types::I8, 0);
        self.b.def_var(taken, no);
        let schedule = Schedule {
            class: block.nodes.iter().map(schedule::classify).collect(),
            place: vec![None; block.nodes.len()],
            ..Schedule::default()
        };
        let mut turn = Turn {
            block,
            plan,
            schedule: &schedule,
            body: Body {
                slices: plan.group / 4,
                full: true,
                lane,
                wave,
                frame,
                values: HashMap::new(),
                at: HashMap::new(),
            },
            bases: HashMap::new(),
            carried: BTreeMap::new(),
            pairs: BTreeMap::new(),
            invariant: BTreeMap::new(),
            results: HashMap::new(),
            fail,
            group: plan.group as i64,
        };
        self.begin_group(&mut turn);

        // A turn.
        let head = self.b.create_block();
        self.b.ins().jump(head, &[]);
        self.b.switch_to_block(head);
        self.scalars.clear();
        for (i, node) in block.nodes.iter().enumerate() {
            if let Op::ReadS(slot) = node.op {
                let own = slots.iter().find(|(s, ..)| *s == slot);
                let var = own.map_or_else(|| self.vars[&slot], |&(_, var, _)| var);
                let value = self.b.use_var(var);
                self.scalars.insert(Val(i as u32), value);
            }
        }
        for &load in &block.effects {
            self.turn_load(&mut turn, load);
        }
        self.end_turn(&mut turn);
        let news: Vec<(Variable, Value)> = slots
            .iter()
            .map(|&(_, var, v)| (var, self.scalar(block, &schedule, v)))
            .collect();
        let crate::ir::Term::Branch { cond, .. } = block.term else {
            unreachable!("bug: a planned loop ends in a branch")
        };
        let cond = self.scalar(block, &schedule, cond);
        let back = if plan.back_when {
            cond
        } else {
            self.b.ins().bxor_imm_u(cond, 1)
        };
        for (var, value) in news {
            self.b.def_var(var, value);
        }
        self.b.def_var(taken, back);
        let burnt = self.b.create_block();
        let group_end = self.b.create_block();
        self.b.ins().brif(back, burnt, &[], group_end, &[]);
        self.b.switch_to_block(burnt);
        let before = self.b.use_var(left);
        let now = self.b.ins().iadd_imm_s(before, -1);
        self.b.def_var(left, now);
        let on = self.b.ins().icmp_imm_s(IntCC::SignedGreaterThan, now, 0);
        self.b.ins().brif(on, head, &[], group_end, &[]);

        // The group's results.
        self.b.switch_to_block(group_end);
        for &(n, slot) in &shadows {
            let value = self.out_value(&turn, n);
            for (j, x) in value.into_iter().enumerate() {
                let at = Self::frame_offset(slot) + 16 * j as i32;
                self.b.ins().store(trusted(), x, frame, at);
            }
        }
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
        self.commit(&shadows);
        for &(slot, var, _) in &slots {
            let value = self.b.use_var(var);
            self.b.def_var(self.vars[&slot], value);
        }
        let rest = self.b.use_var(left);
        self.b.ins().store(trusted(), rest, self.ctx, fuel_at);
        let taken = self.b.use_var(taken);
        if self.o.count || self.o.profile {
            let backs = self.b.ins().isub(fuel, rest);
            let last = self.b.ins().bxor_imm_u(taken, 1);
            let last = self.b.ins().uextend(types::I32, last);
            let turns = self.b.ins().iadd(backs, last);
            let turns = self.b.ins().uextend(types::I64, turns);
            if self.o.count {
                self.count_turns(block, turns);
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

    /// Copies the results of all groups to their homes.
    fn commit(&mut self, shadows: &[(u8, u32)]) {
        if shadows.is_empty() {
            return;
        }
        let head = self.b.create_block();
        let offset = self.b.append_block_param(head, types::I64);
        let done = self.b.create_block();
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        let wave = self.b.ins().iadd(self.wave, offset);
        let frame = self.b.ins().iadd(self.frame, offset);
        for &(n, slot) in shadows {
            for j in 0..4 {
                let from = Self::frame_offset(slot) + 16 * j;
                let x = self.b.ins().load(types::I32X4, trusted(), frame, from);
                let to = Self::home_offset(n) + 16 * j;
                self.b.ins().store(trusted(), x, wave, to);
            }
        }
        let next = self.b.ins().iadd_imm_s(offset, 64);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, 256);
        self.b
            .ins()
            .brif(more, head, &[BlockArg::Value(next)], done, &[]);
        self.b.switch_to_block(done);
    }

    /// Leaves for the general loop unless `good`.
    fn require(&mut self, fail: clif::Block, good: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(good, on, &[], fail, &[]);
        self.b.switch_to_block(on);
    }

    /// Loads what goes round and what stays.
    fn begin_group(&mut self, t: &mut Turn<'_>) {
        let wave = t.body.wave;
        let word = |e: &mut Self, n: u8, lane: i64| {
            let at = Self::home_offset(n) + 4 * lane as i32;
            e.b.ins().load(types::I32, trusted(), wave, at)
        };
        let wide = |e: &mut Self, n: u8, lane: i64| {
            let (lo, hi) = (word(e, n, lane), word(e, n + 1, lane));
            let lo = e.b.ins().uextend(types::I64, lo);
            let hi = e.b.ins().uextend(types::I64, hi);
            let hi = e.b.ins().ishl_imm_u(hi, 32);
            e.b.ins().bor(lo, hi)
        };
        for (&n, &stride) in &t.plan.pairs {
            let first = wide(self, n, 0);
            if stride != 0 {
                let last = wide(self, n, t.group - 1);
                let away = self.b.ins().isub(last, first);
                let span = stride.wrapping_mul(t.group - 1);
                let good = self.b.ins().icmp_imm_s(IntCC::Equal, away, span);
                self.require(t.fail, good);
            }
            let var = self.b.declare_var(types::I64);
            self.b.def_var(var, first);
            t.pairs.insert(n, var);
        }
        for &n in t.plan.invariant.keys() {
            let var = self.b.declare_var(types::I32);
            let value = word(self, n, 0);
            self.b.def_var(var, value);
            t.invariant.insert(n, var);
        }
        for (&n, &kind) in &t.plan.carried {
            let carried = match kind {
                Kind::Affine(_) => {
                    let var = self.b.declare_var(types::I32);
                    let value = word(self, n, 0);
                    self.b.def_var(var, value);
                    Carried::Scalar(var)
                }
                Kind::Lanes => {
                    let values = self.reload(&t.body, crate::schedule::Place::Home(n));
                    let vars = values
                        .into_iter()
                        .map(|value| {
                            let var = self.b.declare_var(types::I32X4);
                            self.b.def_var(var, value);
                            var
                        })
                        .collect();
                    Carried::Vectors(vars)
                }
            };
            t.carried.insert(n, carried);
        }
    }

    fn kind(t: &Turn<'_>, v: Val) -> Kind {
        t.plan.kinds[v.index()].unwrap_or_else(|| panic!("bug: %{} has no kind", v.0))
    }

    /// The scalar of a value that is held as one.
    fn base(&mut self, t: &mut Turn<'_>, v: Val) -> Value {
        let v = unmerged(t.block, v);
        if let Some(&value) = t.bases.get(&v) {
            return value;
        }
        let node = &t.block.nodes[v.index()];
        if node.ty.vary == Vary::Wave {
            return self.scalar(t.block, t.schedule, v);
        }
        let stride = |t: &Turn<'_>, i: usize| match Self::kind(t, unmerged(t.block, node.args[i])) {
            Kind::Affine(s) => s,
            Kind::Lanes => unreachable!("bug: %{} is held in vectors", node.args[i].0),
        };
        let value = match node.op {
            Op::LaneId => t.body.lane,
            Op::ExecMask => self.b.ins().iconst(types::I8, 1),
            Op::ReadV(n) => self.base_register(t, n),
            Op::Result(r) => match &t.results[&(node.args[0], r)] {
                Loaded::Scalar(x) => *x,
                Loaded::Vectors(_) => unreachable!("bug: %{} is held in vectors", v.0),
            },
            Op::Load(..) => match &t.results[&(v, 0)] {
                Loaded::Scalar(x) => *x,
                Loaded::Vectors(_) => unreachable!("bug: %{} is held in vectors", v.0),
            },
            Op::Pair if pair_read(t.block, node).is_some_and(|n| t.pairs.contains_key(&n)) => {
                let n = pair_read(t.block, node).expect("it was just looked at");
                self.b.use_var(t.pairs[&n])
            }
            Op::Pair => {
                let s = stride(t, 0);
                let lo = self.base(t, node.args[0]);
                self.no_wrap(t, lo, s, false);
                let hi = self.base(t, node.args[1]);
                let (lo, hi) = (
                    self.b.ins().uextend(types::I64, lo),
                    self.b.ins().uextend(types::I64, hi),
                );
                let hi = self.b.ins().ishl_imm_u(hi, 32);
                self.b.ins().bor(lo, hi)
            }
            Op::Zext | Op::Sext => {
                let s = stride(t, 0);
                let word = self.base(t, node.args[0]);
                self.no_wrap(t, word, s, node.op == Op::Sext);
                if node.op == Op::Sext {
                    self.b.ins().sextend(types::I64, word)
                } else {
                    self.b.ins().uextend(types::I64, word)
                }
            }
            Op::Hi => {
                let s = stride(t, 0);
                let wide = self.base(t, node.args[0]);
                let lo = self.b.ins().ireduce(types::I32, wide);
                self.no_wrap(t, lo, s, false);
                let hi = self.b.ins().ushr_imm_u(wide, 32);
                self.b.ins().ireduce(types::I32, hi)
            }
            op => {
                let args: Vec<Value> = node.args.iter().map(|&a| self.base(t, a)).collect();
                let width = if op == Op::Select {
                    node.ty.width
                } else {
                    t.block.nodes[node.args[0].index()].ty.width
                };
                let exact_nan = self.o.exact_nan;
                Scalars {
                    b: &mut self.b,
                    exact_nan,
                }
                .op(op, width, &args)
            }
        };
        t.bases.insert(v, value);
        value
    }

    fn base_register(&mut self, t: &mut Turn<'_>, n: u8) -> Value {
        if let Some(&pair) = t.pairs.get(&n) {
            let wide = self.b.use_var(pair);
            return self.b.ins().ireduce(types::I32, wide);
        }
        if let Some((&m, &pair)) = n.checked_sub(1).and_then(|m| t.pairs.get_key_value(&m)) {
            let wide = self.b.use_var(pair);
            let lo = self.b.ins().ireduce(types::I32, wide);
            let stride = t.plan.pairs[&m];
            self.no_wrap(t, lo, stride, false);
            let hi = self.b.ins().ushr_imm_u(wide, 32);
            return self.b.ins().ireduce(types::I32, hi);
        }
        if let Some(&var) = t.invariant.get(&n) {
            return self.b.use_var(var);
        }
        match &t.carried[&n] {
            Carried::Scalar(var) => self.b.use_var(*var),
            Carried::Vectors(_) => unreachable!("bug: v{n} is held in vectors"),
        }
    }

    /// Requires that a word with this stride does not wrap within the group.
    fn no_wrap(&mut self, t: &Turn<'_>, word: Value, stride: i64, signed: bool) {
        if stride == 0 {
            return;
        }
        let span = stride * (t.group - 1);
        let good = if signed {
            let first = self.b.ins().sextend(types::I64, word);
            let last = self.b.ins().iadd_imm_s(first, span);
            let low = self.b.ins().ireduce(types::I32, last);
            let again = self.b.ins().sextend(types::I64, low);
            self.b.ins().icmp(IntCC::Equal, again, last)
        } else {
            let first = self.b.ins().uextend(types::I64, word);
            let last = self.b.ins().iadd_imm_s(first, span);
            let high = self.b.ins().ushr_imm_u(last, 32);
            self.b.ins().icmp_imm_u(IntCC::Equal, high, 0)
        };
        self.require(t.fail, good);
    }

    /// A value as the group's vectors.
    fn vectors_of(&mut self, t: &mut Turn<'_>, v: Val) -> Vec<Value> {
        let v = unmerged(t.block, v);
        if let Some(value) = t.body.values.get(&v) {
            return value.clone();
        }
        let node = &t.block.nodes[v.index()];
        let value = match (Self::kind(t, v), node.op) {
            (_, Op::ExecMask) => self.lanes(&t.body).all_true(),
            (_, Op::Const(c)) if node.ty.width != Width::W1 => {
                self.lanes(&t.body).const_lanes(node.ty.width, c)
            }
            (Kind::Affine(stride), _) => {
                let base = self.base(t, v);
                self.ramp(t, node.ty.width, base, stride)
            }
            (Kind::Lanes, Op::ReadV(n)) => match t.carried.get(&n) {
                Some(Carried::Vectors(vars)) => vars.iter().map(|&x| self.b.use_var(x)).collect(),
                Some(Carried::Scalar(_)) => unreachable!("bug: v{n} is held as a scalar"),
                None => self.reload(&t.body, crate::schedule::Place::Home(n)),
            },
            (Kind::Lanes, Op::Load(..)) => match &t.results[&(v, 0)] {
                Loaded::Vectors(x) => x.clone(),
                Loaded::Scalar(_) => unreachable!("bug: %{} is held as a scalar", v.0),
            },
            (Kind::Lanes, Op::Result(r)) => match &t.results[&(node.args[0], r)] {
                Loaded::Vectors(x) => x.clone(),
                Loaded::Scalar(_) => unreachable!("bug: %{} is held as a scalar", v.0),
            },
            (Kind::Lanes, Op::MaskFromBits) => {
                let bits = self.scalar(t.block, t.schedule, node.args[0]);
                self.expand(&t.body, bits)
            }
            (Kind::Lanes, _) => {
                for &a in node.args.iter() {
                    if t.block.nodes[a.index()].ty.vary == Vary::Wave {
                        self.scalar(t.block, t.schedule, a);
                    } else {
                        let value = self.vectors_of(t, a);
                        t.body.values.insert(a, value);
                    }
                }
                self.lane_node(t.block, t.schedule, &mut t.body, v)
            }
        };
        t.body.values.insert(v, value.clone());
        value
    }

    /// `base`, `base + stride`, … in the group's lanes.
    fn ramp(&mut self, t: &Turn<'_>, width: Width, base: Value, stride: i64) -> Vec<Value> {
        let flat = self.lanes(&t.body).splat(width, base);
        if stride == 0 {
            return flat;
        }
        if width == Width::W64 {
            return flat
                .into_iter()
                .enumerate()
                .map(|(j, x)| {
                    let at = |n: usize| (stride.wrapping_mul((2 * j + n) as i64)) as u64;
                    let (a, b) = (at(0), at(1));
                    let words = [a as u32, (a >> 32) as u32, b as u32, (b >> 32) as u32];
                    let steps = self.lanes(&t.body).dwords(words);
                    let steps = self.b.ins().bitcast(types::I64X2, flags(), steps);
                    self.b.ins().iadd(x, steps)
                })
                .collect();
        }
        flat.into_iter()
            .enumerate()
            .map(|(j, x)| {
                let words = [0, 1, 2, 3].map(|n| stride.wrapping_mul(4 * j as i64 + n) as u32);
                let steps = self.lanes(&t.body).dwords(words);
                self.b.ins().iadd(x, steps)
            })
            .collect()
    }

    /// Emits a load: one address and one check for the group.
    fn turn_load(&mut self, t: &mut Turn<'_>, v: Val) {
        let Span {
            address,
            data,
            stride,
            below,
            reach,
        } = Span::of(t.block, t.plan, v);
        let start = self.base(t, address);
        let base_at = offset32(offset_of!(Context, arena_base));
        let len_at = offset32(offset_of!(Context, arena_len));
        let base = self.b.ins().load(types::I64, trusted(), self.ctx, base_at);
        let len = self.b.ins().load(types::I64, trusted(), self.ctx, len_at);
        let lowest = if below == 0 {
            start
        } else {
            self.b.ins().iadd_imm_s(start, below)
        };
        let offset = self.b.ins().isub(lowest, base);
        let limit = self.b.ins().iadd_imm_s(len, -reach);
        let good = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, offset, limit);
        self.require(t.fail, good);
        let loaded: Vec<Loaded> = if stride == 0 {
            let values = self.load_one(start, data);
            values.into_iter().map(Loaded::Scalar).collect()
        } else {
            let slices = t.body.slices;
            let loaded = self.load_group(start, 0, stride, data, slices);
            loaded.into_iter().map(Loaded::Vectors).collect()
        };
        for (r, value) in loaded.into_iter().enumerate() {
            t.results.insert((v, r as u8), value);
        }
    }

    /// Makes the new values of what goes round the values of the next turn.
    fn end_turn(&mut self, t: &mut Turn<'_>) {
        let mut news: Vec<(Variable, Value)> = Vec::new();
        for (&n, &v) in &t.plan.pair_outs {
            let value = self.base(t, v);
            news.push((t.pairs[&n], value));
        }
        for &(n, v) in &t.plan.outs {
            let vars = match t.carried.get(&n) {
                Some(Carried::Scalar(var)) => {
                    let var = *var;
                    let value = self.base(t, v);
                    news.push((var, value));
                    continue;
                }
                Some(Carried::Vectors(vars)) => vars.clone(),
                None => continue,
            };
            let value = self.vectors_of(t, v);
            news.extend(vars.into_iter().zip(value));
        }
        for (var, value) in news {
            self.b.def_var(var, value);
        }
    }

    /// The group's lanes of VGPR `n` behind the loop.
    fn out_value(&mut self, t: &Turn<'_>, n: u8) -> Vec<Value> {
        let half = |e: &mut Self, m: u8, op: Op| {
            let wide = e.b.use_var(t.pairs[&m]);
            let wide = e.ramp(t, Width::W64, wide, t.plan.pairs[&m]);
            e.lanes(&t.body).op(op, Width::W64, &[&wide])
        };
        if t.pairs.contains_key(&n) {
            return half(self, n, Op::Lo);
        }
        if let Some(m) = n.checked_sub(1).filter(|m| t.pairs.contains_key(m)) {
            return half(self, m, Op::Hi);
        }
        match (&t.carried[&n], t.plan.carried[&n]) {
            (Carried::Vectors(vars), _) => vars.iter().map(|&x| self.b.use_var(x)).collect(),
            (&Carried::Scalar(var), Kind::Affine(stride)) => {
                let base = self.b.use_var(var);
                self.ramp(t, Width::W32, base, stride)
            }
            (Carried::Scalar(_), Kind::Lanes) => unreachable!("bug: v{n} is held as a scalar"),
        }
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

    /// Where a jump within the region goes: a loop's own way back does not pass through its interchanged
    /// form again.
    pub(super) fn way_to(&self, block: usize, back: bool) -> clif::Block {
        match self.heads.get(&block) {
            Some(&general) if back && self.current == block => general,
            _ => self.blocks[block],
        }
    }

    /// Plans the interchanged form of block `index`, if it is a loop that has one. What is emitted as the
    /// block from here on is the general loop.
    pub(super) fn interchange(
        &mut self,
        index: usize,
        block: &Block,
        live: &Live,
        facts: &crate::facts::Facts,
    ) -> Option<Plan> {
        self.current = index;
        if self.o.always_masked || self.o.no_interchange {
            return None;
        }
        let entry = facts.at_loop(index)?;
        let plan = crate::interchange::plan(index, block, live, entry, facts.row(), self.o.group)?;
        let general = self.b.create_block();
        self.heads.insert(index, general);
        Some(plan)
    }
}
