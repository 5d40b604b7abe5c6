//! Values of a loop inside the lane groups: scalars for affine ones, vectors for the rest.

use super::{Carried, Iteration, Loaded};

use crate::analysis::interchange::{
    Form, Kind, LoopCondition, MaskPlace, is_all, mask_read, pair_read, unmerged,
};
use crate::analysis::schedule::{Place, Schedule};
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::legalize::evaluate::{Frame, Shape, evaluate};
use crate::legalize::lanes::dwords_type;
use crate::legalize::scalar::joined;
use crate::legalize::{Emitter, home_offset};
use crate::maps::HashMap;
use crate::vir::{IntCC, Memory, Value, Variable, types};

/// Scalars of an iteration: an affine value is represented by its first lane.
impl Frame for Iteration<'_> {
    fn code(&self) -> (&Block, &Schedule) {
        (&self.form.block, self.schedule)
    }

    fn kept<'k>(&'k mut self, _: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>> {
        Some(&mut self.bases)
    }

    fn resolve(&self, v: Val) -> Val {
        unmerged(&self.form.block, self.form.condition, v)
    }

    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value> {
        let loaded = |v: Val, r: u8| match self.results[&(v, r)] {
            Loaded::Scalar(x) => x,
            Loaded::Vectors(_) => unreachable!("bug: %{} is held in vectors", v.0),
        };
        let block = &self.form.block;
        let node = &block.nodes[v.index()];
        match node.op {
            Op::LaneId => Some(e.code.b.ireduce(types::I32, self.body.lane)),
            Op::ExecMask if e.all_of(self, v) => Some(e.code.b.iconst(types::I8, 1)),
            Op::ReadV(n) => Some(e.base_register(self, n)),
            Op::Result(r) => Some(loaded(node.args[0], r)),
            Op::Load(..) => Some(loaded(v, 0)),
            Op::Pair => {
                let pair = pair_read(block, node).and_then(|n| self.pairs.get(&n));
                pair.map(|&pair| e.code.b.use_var(pair))
            }
            _ => None,
        }
    }

    /// Words that are widened must not wrap.
    fn operand(&mut self, e: &mut Emitter<'_>, v: Val, i: usize) -> Value {
        let node = &self.form.block.nodes[v.index()];
        let value = evaluate(e, self, node.args[i]);
        let word = match (node.op, i) {
            (Op::Pair, 0) | (Op::Zext | Op::Sext, _) => value,
            (Op::Hi, _) => e.code.b.ireduce(types::I32, value),
            _ => return value,
        };
        match Emitter::kind(self, self.resolve(node.args[i])) {
            Kind::Affine(stride) => e.no_wrap(self, word, stride, node.op == Op::Sext),
            Kind::Lanes => unreachable!("bug: %{} is held in vectors", node.args[i].0),
        }
        value
    }
}

/// Maximum number of loop-carried host masks in mask registers; the other registers hold masks that
/// an iteration computes.
const MOST_MASKS: usize = 4;

impl Emitter<'_> {
    /// Loads loop-carried and invariant values.
    pub(super) fn begin_group(&mut self, t: &mut Iteration<'_>) {
        let wave = t.body.wave;
        let word = |e: &mut Self, n: u16, lane: i64| {
            let at = home_offset(n) + 4 * lane as i32;
            e.code.b.load(types::I32, Memory::Trusted, wave, at)
        };
        let wide = |e: &mut Self, n: u16, lane: i64| {
            let (low, high) = (word(e, n, lane), word(e, n + 1, lane));
            joined(&mut e.code.b, low, high)
        };
        for (&n, &stride) in &t.plan.pairs {
            let first = wide(self, n, 0);
            if stride != 0 {
                let last = wide(self, n, t.group - 1);
                let away = self.code.b.isub(last, first);
                let span = stride.wrapping_mul(t.group - 1);
                let good = self.code.b.icmp_imm(IntCC::Equal, away, span);
                self.code.require(t.fail, good);
            }
            let var = self.code.variable(types::I64);
            self.code.b.def_var(var, first);
            t.pairs.insert(n, var);
        }
        for &n in t.plan.invariant.keys() {
            let var = self.code.variable(types::I32);
            let value = word(self, n, 0);
            self.code.b.def_var(var, value);
            t.invariant.insert(n, var);
        }
        for (&n, &kind) in &t.plan.carried {
            let carried = match kind {
                Kind::Affine(_) => {
                    let var = self.code.variable(types::I32);
                    let value = word(self, n, 0);
                    self.code.b.def_var(var, value);
                    Carried::Scalar(var)
                }
                Kind::Lanes => {
                    let values = self.code.reload(&t.body, Place::Home(n));
                    let vars = values
                        .into_iter()
                        .map(|value| {
                            let var = self.code.variable(dwords_type(self.code.per()));
                            self.code.b.def_var(var, value);
                            var
                        })
                        .collect();
                    Carried::Vectors(vars)
                }
            };
            t.carried.insert(n, carried);
        }
        // There are seven mask registers. More loop-carried masks than these are kept in vectors,
        // whose logic takes three sources, instead of being spilled.
        let masks = t.plan.form.masks.len() * t.body.slices;
        let ty = match dwords_type(self.code.per()) {
            ty if masks <= MOST_MASKS => ty.truth(),
            ty => ty,
        };
        for &place in t.plan.form.masks.keys() {
            let bits = self.mask_before(place);
            let mask = self.code.expand(&t.body, bits);
            let vars = mask.into_iter().map(|value| {
                let var = self.code.variable(ty);
                self.code.b.def_var(var, value);
                var
            });
            let vars = vars.collect();
            t.masks.insert(place, vars);
        }
    }

    /// The bits of a mask outside of the iterations.
    pub(super) fn mask_before(&mut self, place: MaskPlace) -> Value {
        self.boundary.read_mask(&mut self.code, place)
    }

    /// Vectors of VGPRs that a form of the iteration reads and no iteration writes, once for the
    /// group.
    pub(super) fn fixed(&mut self, t: &Iteration<'_>, form: &Form) -> HashMap<Val, Vec<Value>> {
        let mut fixed = HashMap::default();
        let mut read = vec![false; form.block.nodes.len()];
        for (i, node) in form.block.nodes.iter().enumerate() {
            if form.kinds[i] == Some(Kind::Lanes) && node.ty.vary != Vary::Wave {
                for a in node.args.iter() {
                    read[a.index()] = true;
                }
            }
        }
        for (i, node) in form.block.nodes.iter().enumerate().filter(|n| read[n.0]) {
            let value = match node.op {
                Op::ReadV(n) if t.invariant.contains_key(&n) => {
                    let base = self.code.b.use_var(t.invariant[&n]);
                    self.ramp(t, Width::W32, base, t.plan.invariant[&n])
                }
                Op::ReadV(n)
                    if form.kinds[i] == Some(Kind::Lanes) && !t.carried.contains_key(&n) =>
                {
                    self.code.reload(&t.body, Place::Home(n))
                }
                Op::ReadS(slot)
                    if node.ty.width == Width::W32
                        && form.slots.iter().all(|&(s, _)| s != slot) =>
                {
                    let word = self.boundary.read_slot(&mut self.code, slot);
                    self.code.lanes(&t.body).splat(Width::W32, word)
                }
                _ => continue,
            };
            fixed.insert(Val(i as u32), value);
        }
        fixed
    }

    pub(super) fn kind(t: &Iteration<'_>, v: Val) -> Kind {
        t.form.kinds[v.index()].unwrap_or_else(|| panic!("bug: %{} has no kind", v.0))
    }

    /// The scalar of an affine value.
    pub(super) fn base(&mut self, t: &mut Iteration<'_>, v: Val) -> Value {
        evaluate(self, t, v)
    }

    fn base_register(&mut self, t: &mut Iteration<'_>, n: u16) -> Value {
        if let Some(&pair) = t.pairs.get(&n) {
            let wide = self.code.b.use_var(pair);
            return self.code.b.ireduce(types::I32, wide);
        }
        if let Some((&m, &pair)) = n.checked_sub(1).and_then(|m| t.pairs.get_key_value(&m)) {
            let wide = self.code.b.use_var(pair);
            let lo = self.code.b.ireduce(types::I32, wide);
            let stride = t.plan.pairs[&m];
            self.no_wrap(t, lo, stride, false);
            let hi = self.code.b.ushr_imm(wide, 32);
            return self.code.b.ireduce(types::I32, hi);
        }
        if let Some(&var) = t.invariant.get(&n) {
            return self.code.b.use_var(var);
        }
        match &t.carried[&n] {
            Carried::Scalar(var) => self.code.b.use_var(*var),
            Carried::Vectors(_) => unreachable!("bug: v{n} is held in vectors"),
        }
    }

    /// Requires that a word with this stride does not wrap within the group.
    fn no_wrap(&mut self, t: &Iteration<'_>, word: Value, stride: i64, signed: bool) {
        if stride == 0 {
            return;
        }
        let span = stride * (t.group - 1);
        let good = if signed {
            let first = self.code.b.sextend(types::I64, word);
            let last = self.code.b.iadd_imm(first, span);
            let low = self.code.b.ireduce(types::I32, last);
            let again = self.code.b.sextend(types::I64, low);
            self.code.b.icmp(IntCC::Equal, again, last)
        } else {
            let first = self.code.b.uextend(types::I64, word);
            let last = self.code.b.iadd_imm(first, span);
            let high = self.code.b.ushr_imm(last, 32);
            self.code.b.icmp_imm(IntCC::Equal, high, 0)
        };
        self.code.require(t.fail, good);
    }

    /// A value as the group's vectors.
    pub(super) fn vectors_of(&mut self, t: &mut Iteration<'_>, v: Val) -> Vec<Value> {
        let v = unmerged(&t.form.block, t.form.condition, v);
        if let Some(value) = t.body.values.get(&v) {
            return value.clone();
        }
        let node = &t.form.block.nodes[v.index()];
        let value = match (Self::kind(t, v), node.op) {
            _ if is_all(&t.form.block, t.form.condition, node) => {
                self.code.lanes(&t.body).all_true()
            }
            (Kind::Lanes, _) if node.ty.vary == Vary::Wave => self.mask(t, v),
            (_, Op::Const(c)) if node.ty.width != Width::W1 => {
                self.code.lanes(&t.body).const_lanes(node.ty.width, c)
            }
            (Kind::Affine(stride), _) => {
                let base = self.base(t, v);
                self.ramp(t, node.ty.width, base, stride)
            }
            (Kind::Lanes, Op::ReadV(n)) => match t.carried.get(&n) {
                Some(Carried::Vectors(vars)) => {
                    vars.iter().map(|&x| self.code.b.use_var(x)).collect()
                }
                Some(Carried::Scalar(_)) => unreachable!("bug: v{n} is held as a scalar"),
                None => self.code.reload(&t.body, Place::Home(n)),
            },
            (Kind::Lanes, Op::Load(..)) => match &t.results[&(v, 0)] {
                Loaded::Vectors(x) => x.clone(),
                Loaded::Scalar(_) => unreachable!("bug: %{} is held as a scalar", v.0),
            },
            (Kind::Lanes, Op::Result(r)) => match &t.results[&(node.args[0], r)] {
                Loaded::Vectors(x) => x.clone(),
                Loaded::Scalar(_) => unreachable!("bug: %{} is held as a scalar", v.0),
            },
            (Kind::Lanes, Op::MaskFromBits | Op::ExecMask) => self.mask_bits_of(t, node.args[0]),
            (Kind::Lanes, Op::And) if self.all_of(t, node.args[0]) => {
                self.vectors_of(t, node.args[1])
            }
            (Kind::Lanes, Op::And) if self.all_of(t, node.args[1]) => {
                self.vectors_of(t, node.args[0])
            }
            (Kind::Lanes, _) => {
                for &a in node.args.iter() {
                    if t.form.block.nodes[a.index()].ty.vary == Vary::Wave {
                        self.scalar(&t.form.block, t.schedule, a);
                    } else {
                        let value = self.vectors_of(t, a);
                        t.body.values.insert(a, value);
                    }
                }
                self.lane_node(&t.form.block, t.schedule, &mut t.body, v)
            }
        };
        t.body.values.insert(v, value.clone());
        value
    }

    /// Is a node the mask of all lanes?
    fn all_of(&self, t: &Iteration<'_>, v: Val) -> bool {
        is_all(
            &t.form.block,
            t.form.condition,
            &t.form.block.nodes[v.index()],
        )
    }

    /// The bits of a wave value as the group's masks.
    fn mask_bits_of(&mut self, t: &mut Iteration<'_>, v: Val) -> Vec<Value> {
        if Self::kind(t, v) == Kind::Lanes {
            return self.vectors_of(t, v);
        }
        let bits = self.scalar(&t.form.block, t.schedule, v);
        self.code.expand(&t.body, bits)
    }

    /// A wave value made of lanes' bits, as the group's masks.
    fn mask(&mut self, t: &mut Iteration<'_>, v: Val) -> Vec<Value> {
        let node = &t.form.block.nodes[v.index()];
        if let Some(place) = mask_read(&t.form.block, node) {
            return match t.masks.get(&place) {
                Some(vars) => vars.iter().map(|&x| self.code.b.use_var(x)).collect(),
                // EXEC, which is all ones.
                None => self.code.lanes(&t.body).all_true(),
            };
        }
        if node.op == Op::Ballot {
            return self.vectors_of(t, node.args[0]);
        }
        let args: Vec<Vec<Value>> = node.args.iter().map(|&a| self.mask_bits_of(t, a)).collect();
        let args: Vec<&Vec<Value>> = args.iter().collect();
        self.code.lanes(&t.body).op(node.op, Width::W1, &args)
    }

    /// `base`, `base + stride`, … in the group's lanes.
    fn ramp(&mut self, t: &Iteration<'_>, width: Width, base: Value, stride: i64) -> Vec<Value> {
        let flat = self.code.lanes(&t.body).splat(width, base);
        if stride == 0 {
            return flat;
        }
        let mut lanes = self.code.lanes(&t.body);
        let per = lanes.per;
        let step = |lane: usize| stride.wrapping_mul(lane as i64) as u64;
        let vectors = flat.into_iter().enumerate();
        if width == Width::W64 {
            return vectors
                .map(|(j, x)| {
                    let first = j / 2 * per;
                    let lane = |n: usize| first + lanes.lane_of_quad(j % 2 == 1, n);
                    let quads: Vec<u64> = (0..per / 2).map(|n| step(lane(n))).collect();
                    let steps = lanes.quads_by(|n| quads[n]);
                    lanes.b.iadd(x, steps)
                })
                .collect();
        }
        vectors
            .map(|(j, x)| {
                let steps = lanes.dwords_by(|n| step(per * j + n) as u32);
                lanes.b.iadd(x, steps)
            })
            .collect()
    }

    /// Assigns the loop-carried values for the next iteration.
    pub(super) fn end_iteration(&mut self, t: &mut Iteration<'_>) {
        let mut news: Vec<(Variable, Value)> = Vec::new();
        for (&n, &v) in &t.form.pair_outs {
            let value = self.base(t, v);
            news.push((t.pairs[&n], value));
        }
        for &(n, v) in &t.form.outs {
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
        // Masks of unmasked iterations are constants, which are set after them.
        let masks = t
            .form
            .masks
            .iter()
            .filter(|_| t.form.condition != LoopCondition::Unmasked);
        for (&place, &v) in masks {
            let value = self.mask_bits_of(t, v);
            news.extend(t.masks[&place].iter().copied().zip(value));
        }
        for (var, value) in news {
            self.code.b.def_var(var, value);
        }
    }

    /// The group's lanes of VGPR `n` after the loop.
    pub(super) fn out_value(&mut self, t: &Iteration<'_>, n: u16) -> Vec<Value> {
        let half = |e: &mut Self, m: u16, high: bool| {
            let wide = e.code.b.use_var(t.pairs[&m]);
            let wide = e.ramp(t, Width::W64, wide, t.plan.pairs[&m]);
            e.code.lanes(&t.body).word(high, &wide)
        };
        if t.pairs.contains_key(&n) {
            return half(self, n, false);
        }
        if let Some(m) = n.checked_sub(1).filter(|m| t.pairs.contains_key(m)) {
            return half(self, m, true);
        }
        match (&t.carried[&n], t.plan.carried[&n]) {
            (Carried::Vectors(vars), _) => vars.iter().map(|&x| self.code.b.use_var(x)).collect(),
            (&Carried::Scalar(var), Kind::Affine(stride)) => {
                let base = self.code.b.use_var(var);
                self.ramp(t, Width::W32, base, stride)
            }
            (Carried::Scalar(_), Kind::Lanes) => unreachable!("bug: v{n} is held as a scalar"),
        }
    }
}
