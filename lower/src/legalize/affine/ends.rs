//! Values of lane expressions at single lanes, and addresses at the ends of runs of lanes.

use frontend::state::LANES;

use super::super::body::Body;
use super::super::evaluate::{Frame, evaluate};
use super::super::scratch::Window;
use super::super::{Code, Emitter, frame_offset, home_offset};
use super::expression;
use crate::analysis::schedule::{Place, Schedule};
use crate::analysis::uniformity::{Affine, Step};
use crate::ir::{Block, Op, Val};
use crate::maps::HashMap;
use crate::vir::{IntCC, Memory, Value, types};

/// A lane for which addresses are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::legalize) enum Lane {
    /// The first set bit of this 64-bit mask; an arbitrary lane if there is none.
    First(Value),
    /// The last set bit.
    Last(Value),
    /// This lane.
    Number(u8),
}

/// Values that were computed for single lanes in the block being emitted.
#[derive(Clone, Default)]
pub(in crate::legalize) struct Singles {
    /// Values of lane expressions.
    at: HashMap<Lane, HashMap<Val, Value>>,
    /// Addresses of the lanes' values.
    spots: HashMap<Lane, Spot>,
    /// Whether a widened word does not wrap from this lane to the end of a wave or row (I8).
    steady: HashMap<(Lane, Val), Value>,
    /// Results of runtime checks of values at the ends of a run (I8).
    held: HashMap<([Lane; 2], Val), Vec<Value>>,
    /// Windows of scratch accesses, by their bounds.
    scratch: HashMap<Vec<Val>, Window>,
}

impl Singles {
    /// Clears all values, for another block.
    pub(in crate::legalize) fn clear(&mut self) {
        self.at.clear();
        self.spots.clear();
        self.steady.clear();
        self.held.clear();
        self.scratch.clear();
    }

    /// The window of scratch accesses with these bounds, if it was computed.
    pub(in crate::legalize) fn window(&self, bounds: &[Val]) -> Option<Window> {
        self.scratch.get(bounds).copied()
    }

    /// Keeps the window of scratch accesses with these bounds.
    pub(in crate::legalize) fn keep_window(&mut self, bounds: Vec<Val>, window: Window) {
        self.scratch.insert(bounds, window);
    }
}

impl Lane {
    /// The first and the last lane of the wave.
    pub(in crate::legalize) const OF_WAVE: [Lane; 2] =
        [Lane::Number(0), Lane::Number(LANES as u8 - 1)];
}

/// A number of lanes or bytes: the sum of a computed part (I64), if any, and a constant.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct Number {
    pub(super) computed: Option<Value>,
    pub(super) more: i64,
}

impl Number {
    pub(in crate::legalize) fn known(n: i64) -> Number {
        Number {
            computed: None,
            more: n,
        }
    }

    fn computed(n: Value) -> Number {
        Number {
            computed: Some(n),
            more: 0,
        }
    }
}

/// Addresses of a lane's values.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct Spot {
    lane: Number,
    /// The wave and the frame, plus the byte offset of the computed part of the lane's number.
    wave: Value,
    frame: Value,
}

impl Spot {
    /// A lane of the group of the current loop iteration.
    pub(in crate::legalize) fn in_group(body: &Body, lane: Value, more: i64) -> Spot {
        let computed = Some(lane);
        Spot {
            lane: Number { computed, more },
            wave: body.wave,
            frame: body.frame,
        }
    }
}

/// A run of lanes with the addresses at its ends.
pub(in crate::legalize) struct Ends {
    /// Its first and last lane.
    pub(super) lanes: [Number; 2],
    /// Addresses of the two; the first one's twice if that is enough.
    pub(in crate::legalize) addresses: [Value; 2],
    /// The run is affine only if the last address equals the predicted one.
    pub(in crate::legalize) guarded: bool,
    /// Further conditions (I8) for it to be affine.
    pub(in crate::legalize) conditions: Vec<Value>,
}

/// Evaluation of lane expressions at one active lane.
struct OneLane<'a> {
    block: &'a Block,
    plan: &'a Schedule,
    spot: Spot,
    known: &'a mut HashMap<Val, Value>,
}

impl Frame for OneLane<'_> {
    fn code(&self) -> (&Block, &Schedule) {
        (self.block, self.plan)
    }

    fn kept<'k>(&'k mut self, _: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>> {
        Some(self.known)
    }

    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value> {
        let node = &self.block.nodes[v.index()];
        let word = |e: &mut Emitter<'_>, base: Value, offset: i32| {
            let offset = offset + 4 * self.spot.lane.more as i32;
            e.code.b.load(types::I32, Memory::Trusted, base, offset)
        };
        Some(match (node.op, self.plan.place[v.index()]) {
            (Op::ReadV(n), _) | (_, Some(Place::Home(n))) => {
                word(e, self.spot.wave, home_offset(n))
            }
            (Op::LaneId, _) => {
                let lane = e.code.number(self.spot.lane);
                e.code.b.ireduce(types::I32, lane)
            }
            (
                Op::Result(_) | Op::Call(..) | Op::Load(..) | Op::Atomic(..) | Op::Effect { .. },
                Some(Place::Frame(slot)),
            ) => word(e, self.spot.frame, frame_offset(slot)),
            (Op::Select, _) => evaluate(e, self, node.args[1]),
            _ => return None,
        })
    }
}

impl Code<'_> {
    /// A number as a value (I64).
    pub(super) fn number(&mut self, n: Number) -> Value {
        match n.computed {
            None => self.b.iconst(types::I64, n.more),
            Some(computed) => self.plus(computed, n.more),
        }
    }

    /// A value (I64) plus a number of bytes.
    pub(super) fn plus(&mut self, v: Value, bytes: i64) -> Value {
        match bytes {
            0 => v,
            _ => self.b.iadd_imm(v, bytes),
        }
    }

    /// The distance in bytes between two lanes, with `stride` bytes between neighbours.
    pub(super) fn span(&mut self, [first, last]: [Number; 2], stride: i64) -> Number {
        if let (None, None) = (first.computed, last.computed) {
            return Number::known((last.more - first.more) * stride);
        }
        let (first, last) = (self.number(first), self.number(last));
        let distance = self.b.isub(last, first);
        Number::computed(self.b.imul_imm(distance, stride))
    }

    /// A value (I64) plus a computed number of bytes.
    pub(super) fn beyond(&mut self, v: Value, bytes: Number) -> Value {
        let v = match bytes.computed {
            None => v,
            Some(computed) => self.b.iadd(v, computed),
        };
        self.plus(v, bytes.more)
    }

    /// Does a value equal this number (I64), or its low word (I32)?
    fn is_number(&mut self, v: Value, n: Number) -> Value {
        let ty = self.b.func.ty(v);
        if n.computed.is_none() {
            let n = match ty {
                types::I32 => i64::from(n.more as i32),
                _ => n.more,
            };
            return self.b.icmp_imm(IntCC::Equal, v, n);
        }
        let mut n = self.number(n);
        if ty == types::I32 {
            n = self.b.ireduce(types::I32, n);
        }
        self.b.icmp(IntCC::Equal, v, n)
    }

    /// The addresses of the values of a lane whose number is computed (I64).
    pub(super) fn computed_spot(&mut self, lane: Value) -> Spot {
        let bytes = self.b.ishl_imm(lane, 2);
        let [wave, frame] =
            [self.region.wave(), self.region.frame()].map(|at| self.b.iadd(at, bytes));
        let lane = Number::computed(lane);
        Spot { lane, wave, frame }
    }

    /// Do the values of two lanes differ by `stride` times the lanes' distance?
    fn is_apart(&mut self, a: Value, b: Value, lanes: [Number; 2], stride: i64) -> Value {
        let real = self.b.isub(b, a);
        let span = self.span(lanes, stride);
        self.is_number(real, span)
    }

    /// Do all values (I64) equal this number, or its low word (I32)? `None` if there is no value.
    pub(in crate::legalize) fn are_all(&mut self, values: &[Value], n: Number) -> Option<Value> {
        match *values {
            [] => return None,
            [one] => return Some(self.is_number(one, n)),
            _ => {}
        }
        debug_assert!(n.computed.is_none(), "bug: rows whose length is not known");
        let differ = values.iter().map(|&v| self.b.bxor_imm(v, n.more));
        let differ: Vec<Value> = differ.collect();
        let any = differ.into_iter().reduce(|a, b| self.b.bor(a, b))?;
        Some(self.b.icmp_imm(IntCC::Equal, any, 0))
    }
}

impl Singles {
    /// The addresses of a lane's values; computed once in a block.
    pub(in crate::legalize) fn spot(&mut self, code: &mut Code<'_>, lane: Lane) -> Spot {
        if let Some(&spot) = self.spots.get(&lane) {
            return spot;
        }
        let number = match lane {
            Lane::First(exec) => code.b.ctz(exec),
            Lane::Last(exec) => {
                let zeros = code.b.clz(exec);
                let c63 = code.b.iconst(types::I64, 63);
                code.b.isub(c63, zeros)
            }
            Lane::Number(n) => {
                let (wave, frame) = (code.region.wave(), code.region.frame());
                let lane = Number::known(i64::from(n));
                return Spot { lane, wave, frame };
            }
        };
        let number = code.b.band_imm(number, 63);
        let spot = code.computed_spot(number);
        self.spots.insert(lane, spot);
        spot
    }

    /// The value of a lane expression at a lane, if it was already computed.
    pub(in crate::legalize) fn known_at(&self, v: Val, lane: Lane) -> Option<Value> {
        self.at.get(&lane)?.get(&v).copied()
    }
}

impl Emitter<'_> {
    /// The value of a lane expression at one lane.
    pub(in crate::legalize) fn at_lane(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        spot: Spot,
        known: &mut HashMap<Val, Value>,
    ) -> Value {
        let mut lane = OneLane {
            block,
            plan,
            spot,
            known,
        };
        evaluate(self, &mut lane, v)
    }

    /// The value of a lane expression at a lane; computed once in a block.
    fn at(&mut self, block: &Block, plan: &Schedule, v: Val, lane: Lane) -> Value {
        let spot = self.singles.spot(&mut self.code, lane);
        let mut known = self.singles.at.remove(&lane).unwrap_or_default();
        let value = self.at_lane(block, plan, v, spot, &mut known);
        self.singles.at.insert(lane, known);
        value
    }

    /// The ends of the runs that the wave consists of: of the one run `whole` if the addresses are affine over the
    /// wave, otherwise of each row.
    pub(in crate::legalize) fn all_ends(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        affine: Affine,
        whole: [Lane; 2],
    ) -> Vec<Ends> {
        if affine.whole {
            return vec![self.ends(block, plan, address, affine, whole)];
        }
        // If all rows have the same addresses, the first one is enough.
        let rows = if affine.alike {
            self.code.region.row()
        } else {
            LANES as i64
        };
        let rows = (0..rows).step_by(self.code.region.row() as usize);
        rows.map(|first| {
            let row = [first, first + self.code.region.row() - 1].map(|n| Lane::Number(n as u8));
            self.ends(block, plan, address, affine, row)
        })
        .collect()
    }

    /// The addresses of two lanes.
    pub(super) fn both_ends(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        run: [Lane; 2],
    ) -> Ends {
        Ends {
            lanes: run.map(|lane| self.singles.spot(&mut self.code, lane).lane),
            addresses: run.map(|lane| self.at(block, plan, address, lane)),
            guarded: true,
            conditions: Vec::new(),
        }
    }

    /// The addresses at the ends of a run, and the conditions under which those between are affine.
    pub(in crate::legalize) fn ends(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        affine: Affine,
        run: [Lane; 2],
    ) -> Ends {
        let lanes = run.map(|lane| self.singles.spot(&mut self.code, lane).lane);
        let first = self.at(block, plan, address, run[0]);
        let mut ends = Ends {
            lanes,
            addresses: [first; 2],
            guarded: affine.guarded && affine.stride != 0,
            conditions: Vec::new(),
        };
        if ends.guarded
            && !affine.stepped
            && let Some(good) = self.words_stay(block, plan, address, affine, run[0])
        {
            ends.conditions = good;
            ends.guarded = false;
        }
        if affine.stepped || ends.guarded {
            ends.addresses[1] = self.at(block, plan, address, run[1]);
        }
        if !affine.stepped {
            return ends;
        }
        for v in expression(block, address) {
            let Some(step) = self.facts.step(v) else {
                continue;
            };
            let good = self.step_holds(block, plan, (v, step), (run, lanes));
            ends.conditions.extend(good);
        }
        ends
    }

    /// The runtime check of a value of an address expression at a run's ends; computed once in a block.
    fn step_holds(
        &mut self,
        block: &Block,
        plan: &Schedule,
        (v, step): (Val, Step),
        (run, lanes): ([Lane; 2], [Number; 2]),
    ) -> Vec<Value> {
        if let Some(good) = self.singles.held.get(&(run, v)) {
            return good.clone();
        }
        let mut good = Vec::new();
        let of = match step {
            Step::Mask(line) => block.nodes[v.index()].args[line],
            _ => v,
        };
        let [a, b] = run.map(|lane| self.at(block, plan, of, lane));
        match step {
            Step::Equal => good.push(self.code.b.icmp(IntCC::Equal, a, b)),
            Step::Stride(stride) => good.push(self.code.is_apart(a, b, lanes, stride)),
            Step::Clamp(stride, signed) => {
                let order = match signed {
                    true => IntCC::SignedLessThanOrEqual,
                    false => IntCC::UnsignedLessThanOrEqual,
                };
                good.push(self.code.b.icmp(order, a, b));
                good.push(self.code.is_apart(a, b, lanes, stride));
            }
            Step::Mask(line) => {
                // `kept` are the mask's ones below its lowest zero. If the ends differ in these bits only, the lanes
                // between have the same bits above, and no value wraps unless all bits are kept.
                let mask = block.nodes[v.index()].args[1 - line];
                let mask = self.at(block, plan, mask, run[0]);
                let more = self.code.b.iadd_imm(mask, 1);
                let kept = self.code.b.band_not(mask, more);
                let differ = self.code.b.bxor(a, b);
                let order = IntCC::UnsignedLessThanOrEqual;
                good.push(self.code.b.icmp(order, differ, kept));
            }
        }
        self.singles.held.insert((run, v), good.clone());
        good
    }

    /// The conditions under which widened words of an address do not wrap between `first` and the lane that is a wave
    /// or a row further; `None` if that cannot be checked by a constant bound.
    fn words_stay(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        affine: Affine,
        first: Lane,
    ) -> Option<Vec<Value>> {
        let lanes = if affine.whole {
            LANES as i64
        } else {
            self.code.region.row()
        };
        let wider = expression(block, address);
        let wider = wider.into_iter().filter(|v| self.facts.guard(*v).is_some());
        let mut words = Vec::new();
        for v in wider {
            let guard = self.facts.guard(v).flatten()?;
            let reach = guard.stride.checked_abs()?.checked_mul(lanes - 1)?;
            if reach > i64::from(i32::MAX) {
                return None;
            }
            words.push((v, guard, reach));
        }
        let mut good = Vec::new();
        for (v, guard, reach) in words {
            if let Some(&same) = self.singles.steady.get(&(first, v)) {
                good.push(same);
                continue;
            }
            let word = self.at(block, plan, block.nodes[v.index()].args[0], first);
            let rises = guard.stride >= 0;
            let (order, end) = match (guard.signed, rises) {
                (false, true) => (IntCC::UnsignedLessThanOrEqual, i64::from(u32::MAX) - reach),
                (false, false) => (IntCC::UnsignedGreaterThanOrEqual, reach),
                (true, true) => (IntCC::SignedLessThanOrEqual, i64::from(i32::MAX) - reach),
                (true, false) => (IntCC::SignedGreaterThanOrEqual, i64::from(i32::MIN) + reach),
            };
            let end = self.code.b.iconst(types::I32, i64::from(end as u32));
            let stays = self.code.b.icmp(order, word, end);
            self.singles.steady.insert((first, v), stays);
            good.push(stays);
        }
        Some(good)
    }
}
