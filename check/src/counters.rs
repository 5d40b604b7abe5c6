//! Counters of loops: scalar registers that begin as copies of one another and are counted down, and of which a branch
//! later asks whether the copy is odd. A loop that is unrolled twice is left from its middle or its end, and code behind
//! it asks the number of iterations from which. What is followed of a counter is an interval; of a counter and its
//! copy, whether their difference is odd.

use std::collections::{BTreeMap, BTreeSet};

use frontend::op::Cmp;
use frontend::registers::{Reg, is_salu};
use frontend::{Op, Operand};

use crate::cfg::{Code, Item};
use crate::facts::{Test, What, constant};
use crate::solve::{State, solve};

/// The most pairs of a routine that are followed.
const MOST: usize = 8;

/// Least values up to this one are followed exactly; loops that count down to an unknown value end so.
const EXACT: u32 = 8;

/// A counter and its copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    copy: Reg,
    counter: Reg,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// Is the copy less the counter odd? `None`: unknown.
    odd: Option<bool>,
    /// The least and the greatest value of the counter.
    low: u32,
    high: u32,
}

const NOTHING: Known = Known {
    odd: None,
    low: 0,
    high: u32::MAX,
};

impl Known {
    /// The counter has any value.
    fn lose(&mut self) {
        *self = NOTHING;
    }

    /// The counter is changed by a constant.
    fn count(&mut self, op: Op, by: u32) {
        let moved = |value: u32| match op {
            Op::Sub => value.checked_sub(by),
            _ => value.checked_add(by),
        };
        (self.low, self.high) = match (moved(self.low), moved(self.high)) {
            (Some(low), Some(high)) => (low, high),
            _ => (0, u32::MAX),
        };
        self.odd = self.odd.map(|odd| odd != (by & 1 != 0));
    }

    /// The counter compares so with a constant; is that possible?
    fn narrow(&mut self, cmp: Cmp, value: u32) -> bool {
        let (low, high) = (self.low, self.high);
        let narrowed = match cmp {
            Cmp::Eq => Some((low.max(value), high.min(value))),
            Cmp::Lg if low == value => low.checked_add(1).map(|low| (low, high)),
            Cmp::Lg if high == value => high.checked_sub(1).map(|high| (low, high)),
            Cmp::Le => Some((low, high.min(value))),
            Cmp::Lt => value.checked_sub(1).map(|most| (low, high.min(most))),
            Cmp::Ge => Some((low.max(value), high)),
            Cmp::Gt => value.checked_add(1).map(|least| (low.max(least), high)),
            _ => Some((low, high)),
        };
        match narrowed {
            Some((low, high)) if low <= high => {
                (self.low, self.high) = (low, high);
                true
            }
            _ => false,
        }
    }
}

/// What is known of all pairs; `None` on a path that cannot be taken.
#[derive(Clone)]
struct All(Option<Vec<Known>>);

impl State for All {
    fn join(&mut self, other: &All) -> bool {
        let Some(other) = &other.0 else {
            return false;
        };
        let Some(known) = &mut self.0 else {
            self.0 = Some(other.clone());
            return true;
        };
        let mut changed = false;
        for (one, other) in known.iter_mut().zip(other) {
            let before = *one;
            if one.odd != other.odd {
                one.odd = None;
            }
            // A bound that moves goes on to one of a few, so that this ends.
            if other.low < one.low {
                one.low = other.low.min(EXACT);
            }
            if other.high > one.high {
                one.high = u32::MAX;
            }
            changed |= *one != before;
        }
        changed
    }

    fn size(&self) -> usize {
        self.0.as_ref().map_or(0, Vec::len)
    }
}

/// What counters say about edges, by block and number.
#[derive(Default)]
pub(crate) struct Counters {
    /// Registers that are odd there, or even.
    pub(crate) odd: BTreeMap<(usize, usize), Vec<(Reg, bool)>>,
    /// Edges that cannot be taken.
    pub(crate) never: BTreeSet<(usize, usize)>,
}

impl Counters {
    /// Of code whose blocks ask these questions.
    pub(crate) fn new(code: &Code, tests: &[Option<Test>]) -> Counters {
        let mut counters = Counters::default();
        let pairs = pairs(code, tests);
        if pairs.is_empty() {
            return counters;
        }
        let step = |block: usize, all: &mut All| {
            let Some(known) = &mut all.0 else { return };
            for item in &code.items[code.blocks[block].items.clone()] {
                for (pair, known) in pairs.iter().zip(known.iter_mut()) {
                    follow(*pair, known, item);
                }
            }
        };
        let edge = |block: usize, number: usize, all: &mut All| {
            let (Some(known), Some(test)) = (&mut all.0, &tests[block]) else {
                return;
            };
            let Some((cmp, value)) = test.unsigned(number) else {
                return;
            };
            let mut about = pairs.iter().zip(known.iter_mut());
            if about.any(|(pair, known)| pair.counter == test.reg && !known.narrow(cmp, value)) {
                all.0 = None;
            }
        };
        let start = All(Some(vec![NOTHING; pairs.len()]));
        let states = solve(code, start, step, edge).unwrap_or_default();
        for (block, state) in states.into_iter().enumerate() {
            let Some(mut state) = state else { continue };
            step(block, &mut state);
            for number in 0..code.blocks[block].next.len() {
                let mut out = state.clone();
                edge(block, number, &mut out);
                let Some(known) = out.0 else {
                    counters.never.insert((block, number));
                    continue;
                };
                let odd = pairs.iter().zip(known).filter_map(|(pair, known)| {
                    let is_one = known.low == known.high;
                    let odd = known.odd.filter(|_| is_one)? != (known.low & 1 != 0);
                    Some((pair.copy, odd))
                });
                counters.odd.insert((block, number), odd.collect());
            }
        }
        counters
    }
}

/// Registers of which a branch asks whether they are odd, with those that they are copied from.
fn pairs(code: &Code, tests: &[Option<Test>]) -> Vec<Pair> {
    let asked = |reg: Reg| {
        let mut odd = tests.iter().flatten().filter(|test| test.what == What::Odd);
        odd.any(|test| test.reg == reg)
    };
    let mut pairs = BTreeSet::new();
    for item in code.items.iter().filter(|item| !item.removed) {
        if let Some(pair) = copied(item).filter(|pair| asked(pair.copy)) {
            pairs.insert(pair);
        }
    }
    pairs.into_iter().take(MOST).collect()
}

/// The pair that a move makes.
fn copied(item: &Item) -> Option<Pair> {
    let inst = &item.inst;
    let is_move = inst.op() == Op::Mov && is_salu(inst) && inst.dst_ty(0).bits() == 32;
    match (inst.dst[0], inst.src[0]) {
        (Operand::Sgpr(copy), Operand::Sgpr(counter)) if is_move && copy != counter => Some(Pair {
            copy: Reg::from(copy),
            counter: Reg::from(counter),
        }),
        _ => None,
    }
}

/// What an instruction does to a pair.
fn follow(pair: Pair, known: &mut Known, item: &Item) {
    if item.removed {
        return;
    }
    let inst = &item.inst;
    if matches!(inst.op(), Op::Call | Op::SwapPc) {
        known.lose();
        return;
    }
    if item.uses.writes(pair.copy) {
        known.odd = (copied(item) == Some(pair)).then_some(false);
    }
    if !item.uses.writes(pair.counter) {
        return;
    }
    let to_counter = inst.dst[0] == Operand::Sgpr(pair.counter as u8)
        && is_salu(inst)
        && inst.dst_ty(0).bits() == 32;
    match (inst.op(), inst.src[0], inst.src[1]) {
        (Op::Mov, from, _) if to_counter => {
            known.lose();
            if let Some(value) = constant(from) {
                (known.low, known.high) = (value, value);
            }
        }
        (op @ (Op::Add | Op::Sub), from, by) if to_counter && from == inst.dst[0] => {
            match constant(by) {
                Some(by) => known.count(op, by),
                None => known.lose(),
            }
        }
        _ => known.lose(),
    }
}
