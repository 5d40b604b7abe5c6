//! Values and loads of a lane in a lane-serial loop.

use frontend::op::Data;

use super::{Lane, shape};
use crate::analysis::interchange::lane_serial::Term;
use crate::analysis::interchange::{LoopCondition, mask_read};
use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Float, Op, Val, Vary, Width};
use crate::legalize::evaluate::{Frame, Shape, evaluate};
use crate::legalize::interchange::Written;
use crate::legalize::scalar::Scalars;
use crate::legalize::{Emitter, access, home_offset};
use crate::maps::HashMap;
use crate::vir::{IntCC, Memory, Value, Variable, types};

impl Frame for Lane<'_> {
    fn code(&self) -> (&Block, &Schedule) {
        (&self.plan.block, &self.schedule)
    }

    fn kept<'k>(&'k mut self, _: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>> {
        Some(&mut self.values)
    }

    fn resolve(&self, v: Val) -> Val {
        self.plan.resolve(v)
    }

    fn is_of_wave(&self, v: Val) -> bool {
        self.plan.block.nodes[v.index()].ty.vary == Vary::Wave && !self.plan.is_mask(v)
    }

    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value> {
        let (block, plan) = (&self.plan.block, self.plan);
        let node = &block.nodes[v.index()];
        match node.op {
            _ if plan.is_exec(v) => Some(e.code.b.iconst(types::I8, 1)),
            _ if plan.is_zero(v) => Some(e.code.b.iconst(types::I8, 0)),
            _ if plan.is_mask(v) => {
                mask_read(block, node).map(|place| e.code.b.use_var(self.masks[&place]))
            }
            Op::ExecMask | Op::MaskFromBits => {
                let bits = e.scalar(block, &self.schedule, node.args[0]);
                Some(e.bit_of(self, bits))
            }
            Op::LaneId => Some(e.code.b.ireduce(types::I32, self.number)),
            Op::ReadV(n) => Some(e.eval_register(self, n)),
            Op::Pair => plan.pair_at(v).map(|n| e.eval_pair(self, n)),
            _ => None,
        }
    }

    /// Masks are made of the lane's bits.
    fn operand(&mut self, e: &mut Emitter<'_>, v: Val, i: usize) -> Value {
        let arg = self.plan.block.nodes[v.index()].args[i];
        match self.plan.is_mask(v) {
            true => e.mask_bit(self, arg),
            false => evaluate(e, self, arg),
        }
    }

    fn operation(&mut self, e: &mut Emitter<'_>, v: Val, args: &[Value]) -> Value {
        let block = &self.plan.block;
        match self.plan.is_mask(v) {
            true => e.code.scalar_op(block.nodes[v.index()].op, Width::W1, args),
            false => e.code.wave_op(block, v, args),
        }
    }
}

impl Emitter<'_> {
    /// Computes the used values that are uniform over lanes and iterations.
    pub(super) fn wave_fixed(&mut self, t: &Lane<'_>) {
        self.values.clear_scalars();
        for v in self.used_fixed(t, true) {
            self.scalar(&t.plan.block, &t.schedule, v);
        }
    }

    /// Computes the used values of the lane that are invariant.
    pub(super) fn lane_fixed(&mut self, t: &mut Lane<'_>) {
        let plan = t.plan;
        let nodes = &plan.block.nodes;
        let loads = plan.block.effects.iter().filter(|v| {
            let address = nodes[v.index()].args[0];
            matches!(nodes[v.index()].op, Op::Load(..))
                && nodes[address.index()].ty.width == Width::W64
        });
        let mut sums: Vec<Val> = loads.map(|v| nodes[v.index()].args[0]).collect();
        let based = plan.pairs.iter().filter(|(n, _)| plan.based.contains(n));
        sums.extend(based.map(|(_, &v)| v));
        for sum in sums {
            let sum = plan.resolve(sum);
            let terms = plan.terms(sum);
            let mut start = match self.is_based(t, &terms) {
                true => None,
                false => Some(self.code.b.ineg(t.memory.base)),
            };
            for (term, shift) in terms {
                if plan.is_fixed(term.val()) {
                    let term = self.term(t, term, shift);
                    start = Some(match start {
                        None => term,
                        Some(sum) => self.code.b.iadd(sum, term),
                    });
                }
            }
            if let Some(start) = start {
                t.starts.insert(sum, start);
            }
        }
        for v in self.used_fixed(t, false) {
            self.eval(t, v);
        }
    }

    /// Does a sum begin with a base-relative pair?
    pub(super) fn is_based(&self, t: &Lane<'_>, terms: &[(Term, u32)]) -> bool {
        let pair = t.plan.base_pair(terms);
        pair.is_some_and(|n| t.plan.based.contains(&n))
    }

    /// A term of a sum.
    pub(super) fn term(&mut self, t: &mut Lane<'_>, term: Term, shift: u32) -> Value {
        let value = self.eval(t, term.val());
        let (wide, shift) = match term {
            Term::Wide(_) => (value, shift),
            Term::Low(_) => (self.code.b.uextend(types::I64, value), shift),
            Term::High(_) if shift >= 32 => return self.code.b.iconst(types::I64, 0),
            Term::High(_) => (self.code.b.uextend(types::I64, value), shift + 32),
        };
        match shift {
            0 => wide,
            _ => self.code.b.ishl_imm(wide, i64::from(shift)),
        }
    }

    /// An address, or the new value of a base-relative pair, relative to the arena's base.
    pub(super) fn distance(&mut self, t: &mut Lane<'_>, v: Val) -> Value {
        let v = t.plan.resolve(v);
        let terms = t.plan.terms(v);
        let based = self.is_based(t, &terms);
        let mut sum = t.starts.get(&v).copied();
        for (term, shift) in terms {
            if t.plan.is_fixed(term.val()) {
                continue;
            }
            let pair = t.plan.pair_at(term.val());
            let term = match (pair, term, shift) {
                (Some(n), Term::Wide(_), 0) if based && t.plan.based.contains(&n) => {
                    self.held_pair(t, n)
                }
                _ => self.term(t, term, shift),
            };
            sum = Some(match sum {
                None => term,
                Some(sum) => self.code.b.iadd(sum, term),
            });
        }
        sum.unwrap_or_else(|| unreachable!("bug: %{} is the sum of nothing", v.0))
    }

    /// A loop-carried pair in its representation in the loop.
    fn held_pair(&mut self, t: &Lane<'_>, n: u16) -> Value {
        match self.steady(t, n) {
            Some(now) => now,
            None => self.code.b.use_var(t.pairs[&n]),
        }
    }

    /// A loop-carried pair.
    pub(super) fn eval_pair(&mut self, t: &Lane<'_>, n: u16) -> Value {
        let held = self.held_pair(t, n);
        match t.plan.based.contains(&n) {
            true => self.code.b.iadd(held, t.memory.base),
            false => held,
        }
    }

    /// The used invariant values: those of the wave, or of lanes.
    pub(super) fn used_fixed(&self, t: &Lane<'_>, wave: bool) -> Vec<Val> {
        let needed = t.plan.needed();
        let mut found: Vec<Val> = Vec::new();
        let mut take = |v: Val| {
            let node = &t.plan.block.nodes[v.index()];
            let of_wave = node.ty.vary == Vary::Wave && !t.plan.is_mask(v);
            let plain = matches!(node.op, Op::Const(_)) || t.plan.is_exec(v);
            if t.plan.is_fixed(v) && of_wave == wave && !plain {
                found.push(v);
            }
        };
        for (i, _) in needed.iter().enumerate().filter(|n| *n.1) {
            let v = Val(i as u32);
            if !t.plan.is_fixed(v) || wave {
                t.plan.operands(v).into_iter().for_each(&mut take);
            }
        }
        t.plan.roots().into_iter().for_each(&mut take);
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The lane's value: I8 for masks and conditions.
    pub(super) fn eval(&mut self, t: &mut Lane<'_>, v: Val) -> Value {
        evaluate(self, t, v)
    }

    pub(super) fn eval_register(&mut self, t: &Lane<'_>, n: u16) -> Value {
        if let Some(&var) = t.words.get(&n) {
            let value = self.code.b.use_var(var);
            return match self.code.b.func.ty(value) {
                types::F32 => self.code.b.bitcast(types::I32, value),
                _ => value,
            };
        }
        if t.plan.pairs.contains_key(&n) {
            let wide = self.eval_pair(t, n);
            return self.code.b.ireduce(types::I32, wide);
        }
        if let Some(m) = n.checked_sub(1).filter(|m| t.plan.pairs.contains_key(m)) {
            let wide = self.eval_pair(t, m);
            let high = self.code.b.ushr_imm(wide, 32);
            return self.code.b.ireduce(types::I32, high);
        }
        if let Some(word) = self.steady(t, n) {
            return word;
        }
        let at = home_offset(n);
        self.code.b.load(types::I32, Memory::Trusted, t.wave, at)
    }

    /// The lane's bit of any 64 bits of the wave.
    pub(super) fn mask_bit(&mut self, t: &mut Lane<'_>, v: Val) -> Value {
        let at = t.plan.resolve(v);
        let node = &t.plan.block.nodes[at.index()];
        if t.plan.is_mask(at) || node.ty.width == Width::W1 {
            return self.eval(t, at);
        }
        if let Op::Const(c @ (0 | u64::MAX)) = node.op {
            return self.code.b.iconst(types::I8, (c & 1) as i64);
        }
        let bits = self.scalar(&t.plan.block, &t.schedule, at);
        self.bit_of(t, bits)
    }

    /// Emits a load of `n` dwords at a wave address.
    pub(super) fn serial_scalar_load(&mut self, t: &Lane<'_>, v: Val, n: u8) {
        let block = &t.plan.block;
        let start = self.scalar(block, &t.schedule, block.nodes[v.index()].args[0]);
        let offset = self.code.b.isub(start, t.memory.base);
        self.within_reach(t, (false, 4 * u32::from(n)), offset, None);
        for (i, other) in block.nodes.iter().enumerate() {
            let k = match other.op {
                Op::Result(k) if other.args[0] == v => k,
                _ if i == v.index() => 0,
                _ => continue,
            };
            if k < n {
                let at = 4 * i32::from(k);
                let word = self.code.b.load(types::I32, Memory::Guest, start, at);
                self.values.insert(Val(i as u32), word);
            }
        }
    }

    /// Requires that an element at this offset in the arena or LDS is in bounds, if the lane is
    /// `on`; returns its host address.
    pub(super) fn within_reach(
        &mut self,
        t: &Lane<'_>,
        what: (bool, u32),
        offset: Value,
        on: Option<Value>,
    ) -> Value {
        let start = if what.0 { t.memory.lds } else { t.memory.base };
        let last = t.memory.last[&what];
        let mut good = self
            .code
            .b
            .icmp(IntCC::UnsignedLessThanOrEqual, offset, last);
        if let Some(on) = on {
            let off = self.code.b.bxor_imm(on, 1);
            good = self.code.b.bor(good, off);
        }
        self.code.require(t.fail, good);
        let at = self.code.b.iadd(start, offset);
        match on {
            // An inactive lane reads a dummy address.
            Some(on) => self.code.b.select(on, at, self.code.region.frame()),
            None => at,
        }
    }

    /// The host address of a load's element of LDS or the arena, of this size, at an arbitrary
    /// address.
    fn somewhere(&mut self, t: &mut Lane<'_>, load: Val, what: (bool, u32)) -> Value {
        let node = &t.plan.block.nodes[load.index()];
        let offset = if what.0 {
            let address = self.eval(t, node.args[0]);
            self.code.b.uextend(types::I64, address)
        } else {
            self.distance(t, node.args[0])
        };
        let mask = t.plan.resolve(node.args[1]);
        let on = (!t.plan.is_exec(mask)).then(|| self.mask_bit(t, mask));
        self.within_reach(t, what, offset, on)
    }

    /// Emits the lane's load.
    pub(super) fn serial_load(&mut self, t: &mut Lane<'_>, v: Val) {
        let node = &t.plan.block.nodes[v.index()];
        let (lds, data) = shape(node.op).expect("the plan has only loads");
        let at = match self.on_recurrence(t, v) {
            Some(at) => at,
            None => self.somewhere(t, v, (lds, access::bytes(data))),
        };
        if data == Data::Dwords(1) && t.plan.is_float(v) {
            let float = self.code.b.load(types::F32, Memory::Guest, at, 0);
            let word = self.code.b.bitcast(types::I32, float);
            t.values.insert(v, word);
            return;
        }
        let words = self.code.load_one(at, data);
        for (i, other) in t.plan.block.nodes.iter().enumerate() {
            if let Op::Result(k) = other.op
                && other.args[0] == v
                && let Some(&word) = words.get(usize::from(k))
            {
                t.values.insert(Val(i as u32), word);
            }
        }
        t.values.insert(v, words[0]);
    }

    /// Assigns the loop-carried values for the next iteration; returns a condition (I8), and its
    /// outcome for which the lane continues.
    pub(super) fn end_lane_serial(&mut self, t: &mut Lane<'_>, slots: &[Written]) -> (Value, bool) {
        let plan = t.plan;
        let mut news: Vec<(Variable, Value)> = Vec::new();
        for (&n, &var) in &t.words.clone() {
            let mut value = self.eval(t, plan.outs[&n]);
            if Self::is_f32(t, n) {
                let exact_nan = self.code.region.options().exact_nan;
                let b = &mut self.code.b;
                value = Scalars { b, exact_nan }.as_float(Float::F32, value);
            }
            news.push((var, value));
        }
        for (&n, &var) in &t.pairs.clone() {
            let v = plan.pairs[&n];
            let value = match plan.based.contains(&n) {
                true => self.distance(t, v),
                false => self.eval(t, v),
            };
            news.push((var, value));
        }
        for (place, &var) in &t.masks.clone() {
            let value = self.mask_bit(t, plan.masks[place]);
            news.push((var, value));
        }
        for &(_, var, v) in slots {
            let value = self.scalar(&plan.block, &t.schedule, v);
            news.push((var, value));
        }
        let back = match plan.condition {
            LoopCondition::While(cond, when) => (self.scalar(&plan.block, &t.schedule, cond), when),
            LoopCondition::Lane(exec) => {
                let exec = plan.resolve(exec);
                match &plan.block.nodes[exec.index()] {
                    not if not.op == Op::Not => (self.mask_bit(t, not.args[0]), false),
                    _ => (self.mask_bit(t, exec), true),
                }
            }
            condition => unreachable!("bug: {condition:?} of a lane-serial loop"),
        };
        for (var, value) in news {
            self.code.b.def_var(var, value);
        }
        back
    }
}
