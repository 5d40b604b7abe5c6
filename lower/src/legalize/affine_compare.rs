//! Masks of compares with affine values. `base + stride * lane < limit` is true for the lanes below some lane, so the
//! 64 bits of such a mask need no loop over lanes: the values of two lanes show that no word wraps between them, and
//! the distance to the limit gives the number of lanes below it. Where values are affine only within rows, the least
//! and the greatest value show whether all lanes are on one side of the limit, as they mostly are.

use frontend::state::LANES;

use super::Emitter;
use super::affine::{self, Lane, Number};
use super::evaluate::{Frame, evaluate};
use super::scalar::int_cc;
use super::segment::Work;
use crate::analysis::schedule::{Class, Place, Schedule, Segment};
use crate::analysis::uniformity::Affine;
use crate::host;
use crate::ir::{Block, Icmp, Op, Slot, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};
use crate::options::Forms;
use crate::vir::{Block as HostBlock, IntCC, Value, types};

/// Maximum number of compares in a segment: with more, a loop is not much longer.
const MAX_COMPARES: usize = 8;

/// Bound of strides.
const MAX_STRIDE: i64 = 1 << 24;

/// Minimum lanes of a row: there are too many shorter ones.
const MIN_ROW: i64 = 8;

/// A compare of an affine value (`line`) with a wave value (`limit`).
struct Compare {
    cond: Icmp,
    line: Val,
    limit: Val,
    /// The affine value is the left operand.
    left: bool,
    affine: Affine,
}

/// The masks of a segment all of whose masks are computed from affine values.
pub(super) struct AffineMasks {
    /// What must hold (I8), including that EXEC is all ones.
    pub(super) good: Vec<Value>,
    /// The 64 bits of each mask.
    masks: Vec<Value>,
    /// The segment without the masks.
    rest: Segment,
}

/// Evaluates masks to 64 bits; conditions (I8) for that are appended to `good`.
struct MaskBits<'a> {
    block: &'a Block,
    plan: &'a Schedule,
    segment: &'a Segment,
    good: &'a mut Vec<Value>,
}

impl Frame for MaskBits<'_> {
    fn code(&self) -> (&Block, &Schedule) {
        (self.block, self.plan)
    }

    /// The expressions are short, so values are not cached.
    fn kept<'k>(&'k mut self, _: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>> {
        None
    }

    fn is_of_wave(&self, _: Val) -> bool {
        false
    }

    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value> {
        if is_before(self.block, self.plan, self.segment, v) {
            return Some(e.mask_bits(self.block, self.plan, v));
        }
        let compare = e.compare_of(self.block, v)?;
        Some(e.compare_affine(self.block, self.plan, &compare, self.good))
    }

    fn operation(&mut self, e: &mut Emitter<'_>, v: Val, args: &[Value]) -> Value {
        e.code
            .scalar_op(self.block.nodes[v.index()].op, Width::W64, args)
    }
}

impl Emitter<'_> {
    /// Emits the path through a segment on which all of its masks are computed from affine values; leaves the builder
    /// on the general path. Emits nothing if there is no such path.
    pub(super) fn by_affine(&mut self, work: Work<'_>, after: HostBlock) {
        let Work { block, segment, .. } = work;
        if !self.lines_suit(work) {
            return;
        }
        let rest = without_ballots(block, segment);
        if !self.rows_pay(block, segment, &rest) {
            return;
        }
        let known = self.known_affine(work, rest);
        let general = self.code.b.create_block();
        for &good in &known.good {
            self.code.require(general, good);
        }
        if known.rest.nodes.is_empty() && known.rest.stores.is_empty() {
            self.set_masks(work, &known);
            self.code.b.jump(after, &[]);
        } else {
            self.rest_of(work, &known, after);
        }
        self.code.b.switch_to_block(general);
        self.profile.end_segment(&mut self.code);
    }

    /// The masks of a segment with loads or stores, if they can be computed from values that are affine over the whole
    /// wave without a runtime check: the general path of other segments is long.
    pub(super) fn fused_affine(&mut self, work: Work<'_>) -> Option<AffineMasks> {
        let Work { block, segment, .. } = work;
        if !self.lines_suit(work) {
            return None;
        }
        let compares = segment
            .nodes
            .iter()
            .filter(|&&v| matches!(block.nodes[v.index()].op, Op::Icmp(_)));
        let mut known = compares.filter_map(|&v| self.compare_of(block, v));
        let surely = known.all(|c| c.affine.whole && !c.affine.stepped && !c.affine.guarded);
        surely.then(|| self.known_affine(work, without_ballots(block, segment)))
    }

    /// Can all masks of a segment be computed from affine values, and are there compares among them?
    fn lines_suit(&self, work: Work<'_>) -> bool {
        let Work {
            block,
            plan,
            segment,
            bits,
            ..
        } = work;
        let mut compares = 0;
        let suits = |&v: &Val| self.mask_suits(block, plan, segment, v, &mut compares);
        let none = bits.is_empty()
            || !self
                .code
                .region
                .options()
                .has(Forms::UNMASKED | Forms::AFFINE_COMPARES);
        self.boundary.has_exec(&self.code.region)
            && !none
            && segment.ballots.iter().all(suits)
            && (1..=MAX_COMPARES).contains(&compares)
    }

    /// Computes the masks of a suitable segment, of which `rest` remains.
    fn known_affine(&mut self, work: Work<'_>, rest: Segment) -> AffineMasks {
        let Work {
            block,
            plan,
            segment,
            bits,
            execs,
            ..
        } = work;
        // Facts hold on active lanes only, so all lanes must be active.
        let entry = self.boundary.slot(&mut self.code, Slot::Exec);
        let mut full = vec![entry];
        full.extend(execs.iter().copied().filter(|&exec| exec != entry));
        let full = full.into_iter();
        let mut good: Vec<Value> = full
            .map(|exec| self.code.b.icmp_imm(IntCC::Equal, exec, -1))
            .collect();
        let mut masks = MaskBits {
            block,
            plan,
            segment,
            good: &mut good,
        };
        let masks = bits
            .iter()
            .map(|&(v, _)| evaluate(self, &mut masks, v))
            .collect();
        AffineMasks { good, masks, rest }
    }

    /// Computes what remains of a segment whose masks are computed.
    pub(super) fn rest_of(&mut self, work: Work<'_>, known: &AffineMasks, after: HostBlock) {
        self.set_masks(work, known);
        let rest = Work {
            segment: &known.rest,
            bits: &[],
            ..work
        };
        self.full(rest, after);
    }

    /// Assigns the computed masks to the segment's variables.
    fn set_masks(&mut self, work: Work<'_>, known: &AffineMasks) {
        for (&(_, var), &mask) in work.bits.iter().zip(&known.masks) {
            self.code.b.def_var(var, mask);
        }
    }

    /// Is it cheaper to compute lanes of each row than to compute what is not in `rest` on all lanes? True if no
    /// compare is by rows.
    fn rows_pay(&self, block: &Block, segment: &Segment, rest: &Segment) -> bool {
        let size = |v: Val| match block.nodes[v.index()].ty.width {
            Width::W64 => 2,
            _ => 1,
        };
        let saved = segment.nodes.iter().filter(|v| !rest.nodes.contains(v));
        let saved: usize = saved.map(|&v| size(v)).sum();
        let compares = segment
            .nodes
            .iter()
            .filter_map(|&v| self.compare_of(block, v));
        let by_rows = compares.filter(|c| !c.affine.whole).map(|c| {
            let ends = if c.affine.guarded || c.affine.stepped {
                2
            } else {
                1
            };
            ends * affine::expression(block, c.line).len()
        });
        let spent: usize = by_rows
            .map(|nodes| nodes * (LANES / self.code.region.row() as usize))
            .sum();
        spent == 0 || spent < saved * (LANES / self.code.per().min(host::LANES))
    }

    /// Is a mask made of compares with affine values and of masks that are already available?
    fn mask_suits(
        &self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        v: Val,
        compares: &mut usize,
    ) -> bool {
        let node = &block.nodes[v.index()];
        if is_before(block, plan, segment, v) {
            return true;
        }
        match node.op {
            Op::And | Op::Or | Op::Xor | Op::Not => node
                .args
                .iter()
                .all(|&a| self.mask_suits(block, plan, segment, a, compares)),
            Op::Icmp(_) => {
                *compares += 1;
                let found = self.compare_of(block, v);
                found.is_some_and(|c| self.is_at_hand(block, plan, segment, c.line))
            }
            _ => false,
        }
    }

    fn compare_of(&self, block: &Block, v: Val) -> Option<Compare> {
        let node = &block.nodes[v.index()];
        let Op::Icmp(cond) = node.op else { return None };
        let wave = |v: Val| block.nodes[v.index()].ty.vary == Vary::Wave;
        let (line, limit, left) = match (wave(node.args[0]), wave(node.args[1])) {
            (false, true) => (node.args[0], node.args[1], true),
            (true, false) => (node.args[1], node.args[0], false),
            _ => return None,
        };
        let affine = self.facts.value(line)?;
        let steps = affine.stride == 0
            || (1..=MAX_STRIDE).contains(&affine.stride) && affine.stride.count_ones() == 1;
        let by_rows = self.code.region.row() >= MIN_ROW
            && (0..=MAX_STRIDE).contains(&affine.stride)
            && !matches!(cond, Icmp::Eq | Icmp::Ne);
        let suits = if affine.whole { steps } else { by_rows };
        suits.then_some(Compare {
            cond,
            line,
            limit,
            left,
            affine,
        })
    }

    /// Can a lane's value be computed before the segment, from registers that still have their values of the block's
    /// entry?
    fn is_at_hand(&self, block: &Block, plan: &Schedule, segment: &Segment, v: Val) -> bool {
        let Some(leaves) = affine::leaves(block, v) else {
            return false;
        };
        let segments = plan.segments.iter();
        let written: HashSet<u16> = segments
            .take_while(|s| !std::ptr::eq(*s, segment))
            .flat_map(|s| s.stores.iter().map(|&(n, _)| n))
            .collect();
        leaves.iter().all(|&leaf| {
            let node = &block.nodes[leaf.index()];
            match node.op {
                _ if node.ty.vary == Vary::Wave => true,
                Op::ReadV(n) => {
                    !written.contains(&n) && !plan.place.contains(&Some(Place::Home(n)))
                }
                op => op == Op::LaneId,
            }
        })
    }

    /// The 64 bits of a compare with an affine value; conditions are appended to `good`.
    fn compare_affine(
        &mut self,
        block: &Block,
        plan: &Schedule,
        compare: &Compare,
        good: &mut Vec<Value>,
    ) -> Value {
        if !compare.affine.whole {
            return self.compare_by_rows(block, plan, compare, good);
        }
        let limit = self.scalar(block, plan, compare.limit);
        let stride = compare.affine.stride;
        let ends = self.ends(block, plan, compare.line, compare.affine, Lane::OF_WAVE);
        let [first, mut last] = ends.addresses;
        good.extend(ends.conditions);
        if stride == 0 {
            let code = int_cc(compare.cond);
            let (a, b) = if compare.left {
                (first, limit)
            } else {
                (limit, first)
            };
            let holds = self.code.b.icmp(code, a, b);
            let holds = self.code.b.uextend(types::I64, holds);
            return self.code.b.ineg(holds);
        }
        let (order, _) = orders(compare.cond);
        let exact = stride * (LANES as i64 - 1);
        if ends.guarded || compare.affine.stepped {
            let span = self.code.b.isub(last, first);
            good.push(self.code.b.icmp_imm(IntCC::Equal, span, exact));
        } else {
            last = self.code.b.iadd_imm(first, exact);
        }
        good.push(self.code.b.icmp(order, first, last));
        match (compare.cond, compare.left) {
            (Icmp::Eq, _) => self.lane_at_limit(first, limit, stride),
            (Icmp::Ne, _) => {
                let equal = self.lane_at_limit(first, limit, stride);
                self.code.b.bnot(equal)
            }
            // line < limit or line <= limit
            (_, true) => self.lanes_below(compare, [first, last, limit]),
            // Their negations: limit <= line or limit < line.
            (_, false) => {
                let others = self.lanes_below(compare, [first, last, limit]);
                self.code.b.bnot(others)
            }
        }
    }

    /// The 64 bits of a compare with values that are affine within rows: the same for all lanes.
    fn compare_by_rows(
        &mut self,
        block: &Block,
        plan: &Schedule,
        compare: &Compare,
        good: &mut Vec<Value>,
    ) -> Value {
        let limit = self.scalar(block, plan, compare.limit);
        let affine = compare.affine;
        let rows = self.all_ends(block, plan, compare.line, affine, Lane::OF_WAVE);
        let (_, below) = orders(compare.cond);
        let mut lengths = Vec::new();
        for row in &rows {
            let [first, last] = row.addresses;
            good.extend(&row.conditions);
            if row.guarded {
                lengths.push(self.code.b.isub(last, first));
            }
        }
        let length = affine.stride * (self.code.region.row() - 1);
        good.extend(self.code.are_all(&lengths, Number::known(length)));
        let signed = below == IntCC::SignedLessThan;
        let [least, mut most] = [false, true].map(|most| {
            let firsts = rows.iter().map(|row| row.addresses[0]);
            let end = firsts.reduce(|a, b| match (most, signed) {
                (false, true) => self.code.b.smin(a, b),
                (false, false) => self.code.b.umin(a, b),
                (true, true) => self.code.b.smax(a, b),
                (true, false) => self.code.b.umax(a, b),
            });
            end.expect("bug: a wave without rows")
        });
        if length != 0 {
            // The row with the highest first value has the highest last one; if that is greater, no row wraps.
            let first = most;
            most = self.code.b.iadd_imm(first, length);
            good.push(self.code.b.icmp(below, first, most));
        }
        let code = int_cc(compare.cond);
        let [low, high] = [least, most].map(|line| match compare.left {
            true => self.code.b.icmp(code, line, limit),
            false => self.code.b.icmp(code, limit, line),
        });
        good.push(self.code.b.icmp(IntCC::Equal, low, high));
        let all = self.code.b.uextend(types::I64, high);
        self.code.b.ineg(all)
    }

    /// The distance (I64) from lane 0's value to the limit.
    fn away(&mut self, first: Value, limit: Value) -> Value {
        let away = self.code.b.isub(limit, first);
        match self.code.b.func.ty(away) {
            types::I64 => away,
            _ => self.code.b.uextend(types::I64, away),
        }
    }

    /// The bit of the lane whose value equals the limit; 0 if there is none.
    fn lane_at_limit(&mut self, first: Value, limit: Value, stride: i64) -> Value {
        let away = self.away(first, limit);
        let one = self.code.b.iconst(types::I64, 1);
        let lane = self.shift_down(away, stride);
        let bit = self.code.b.ishl(one, lane);
        let last = stride * (LANES as i64 - 1);
        let order = IntCC::UnsignedLessThanOrEqual;
        let mut good = self.code.b.icmp_imm(order, away, last);
        if stride > 1 {
            let rest = self.code.b.band_imm(away, stride - 1);
            let exact = self.code.b.icmp_imm(IntCC::Equal, rest, 0);
            good = self.code.b.band(good, exact);
        }
        let zero = self.code.b.iconst(types::I64, 0);
        self.code.b.select(good, bit, zero)
    }

    /// The lanes whose values are below the limit, or at most the limit if the compare or its negation includes
    /// equality. The likely case is that all are.
    fn lanes_below(&mut self, compare: &Compare, [first, last, limit]: [Value; 3]) -> Value {
        let stride = compare.affine.stride;
        let or_at = matches!(
            (compare.cond, compare.left),
            (Icmp::Ule | Icmp::Sle, true) | (Icmp::Ult | Icmp::Slt, false)
        );
        let (order, below) = orders(compare.cond);
        let [some, join] = [(); 2].map(|()| self.code.b.create_block());
        let lanes = self.code.b.append_block_param(join, types::I64);
        let ones = self.code.b.iconst(types::I64, -1);
        let all = if or_at { order } else { below };
        let all = self.code.b.icmp(all, last, limit);
        self.code.b.set_cold_block(some);
        self.code.b.brif(all, join, &[ones], some, &[]);
        self.code.enter(some);
        let away = self.away(first, limit);
        let under = self.code.b.icmp(below, limit, first);
        // The number of lanes is the distance in strides, rounded up, or rounded down plus the lane at the limit.
        let farthest = stride * (LANES as i64 - i64::from(or_at));
        let farthest = self.code.b.iconst(types::I64, farthest);
        let away = self.code.b.umin(away, farthest);
        let count = if or_at {
            let whole = self.shift_down(away, stride);
            self.code.b.iadd_imm(whole, 1)
        } else {
            let begun = self.code.b.iadd_imm(away, stride - 1);
            self.shift_down(begun, stride)
        };
        let zero = self.code.b.iconst(types::I64, 0);
        let count = self.code.b.select(under, zero, count);
        // Shift by 64 - count; shift amounts are modulo 64.
        let gone = self.code.b.ineg(count);
        let mask = self.code.b.ushr(ones, gone);
        let any = self.code.b.icmp_imm(IntCC::NotEqual, count, 0);
        let mask = self.code.b.select(any, mask, zero);
        self.code.b.jump(join, &[mask]);
        self.code.enter(join);
        lanes
    }

    fn shift_down(&mut self, v: Value, stride: i64) -> Value {
        match stride.trailing_zeros() {
            0 => v,
            n => self.code.b.ushr_imm(v, i64::from(n)),
        }
    }
}

/// The conditions "less or equal" and "less" of a compare's signedness.
fn orders(cond: Icmp) -> (IntCC, IntCC) {
    match cond {
        Icmp::Slt | Icmp::Sle => (IntCC::SignedLessThanOrEqual, IntCC::SignedLessThan),
        _ => (IntCC::UnsignedLessThanOrEqual, IntCC::UnsignedLessThan),
    }
}

/// Is a mask available before its segment?
fn is_before(block: &Block, plan: &Schedule, segment: &Segment, v: Val) -> bool {
    let is_leaf = plan.class[v.index()] == Class::Leaf;
    is_leaf || block.nodes[v.index()].ty.vary == Vary::Wave || !segment.nodes.contains(&v)
}

/// The segment without its masks and the nodes that only these use.
fn without_ballots(block: &Block, segment: &Segment) -> Segment {
    let inner: HashSet<Val> = segment.nodes.iter().copied().collect();
    let mut needed = HashSet::default();
    let mut work: Vec<Val> = segment.stores.iter().map(|&(_, v)| v).collect();
    work.extend(segment.spills.iter().map(|&(v, _)| v));
    while let Some(v) = work.pop() {
        if inner.contains(&v) && needed.insert(v) {
            work.extend(block.nodes[v.index()].args.iter());
        }
    }
    let nodes = segment.nodes.iter().copied();
    Segment {
        nodes: nodes.filter(|v| needed.contains(v)).collect(),
        ballots: Vec::new(),
        ..segment.clone()
    }
}
