//! Trip counts of lane-serial loops, and the progress of addresses that follows from them.

use std::collections::BTreeMap;

use super::{LaneSerial, Term};
use crate::analysis::interchange::LoopCondition;
use crate::ir::{Icmp, Op, Val, Width};

/// The trip count of a lane: the number of iterations until a word, incremented by 1 in each, is no
/// less than an invariant bound. The word cannot wrap before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The word after an iteration.
    pub next: Val,
    /// The bound.
    pub bound: Val,
    /// The comparison of word and bound: less than.
    pub below: Icmp,
}

/// How the address of a load progresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recurrence {
    /// By this number of bytes each iteration, 1 to [`MAX_STEP`].
    Steps(u64),
    /// As an element of an invariant array: index word and shift.
    Element(Val, u32),
}

/// Maximum step of an address in bytes: its product with a trip count stays far from wrapping.
pub const MAX_STEP: u64 = 1 << 16;

/// Maximum shift of an index, for the same reason.
const MAX_SHIFT: u32 = 16;

/// Maximum exponent of steps that host addressing modes scale by.
const MAX_SCALE: u32 = 3;

impl LaneSerial {
    /// Finds the trip count and the progress of addresses before the first iteration; without it
    /// every iteration tests its condition.
    pub fn find_trip_count(&mut self) {
        self.count = self.count();
        self.recurrences = self.recurrences();
        if self.count.is_none() {
            let element = |recurrence: &Recurrence| matches!(recurrence, Recurrence::Element(..));
            self.recurrences.retain(|_, recurrence| element(recurrence));
            return;
        }
        self.unbase();
        let words = self.outs.keys().filter(|n| !self.in_pair(**n));
        let words = words.filter_map(|&n| Some((n, scale(self.word_step(n)?)?)));
        let pairs = self.pairs.keys();
        let pairs = pairs.filter_map(|&n| Some((n, scale(self.step(n)?)?)));
        self.steady = words.chain(pairs).collect();
    }

    /// A lane's trip count, if there is one.
    fn count(&self) -> Option<Count> {
        let LoopCondition::Lane(exec) = self.condition else {
            return None;
        };
        let nodes = &self.block.nodes;
        let (mut cond, mut continues) = (self.resolve(exec), true);
        while nodes[cond.index()].op == Op::Not {
            (cond, continues) = (self.resolve(nodes[cond.index()].args[0]), !continues);
        }
        let node = &nodes[cond.index()];
        let (&[a, b], Op::Icmp(compare)) = (&node.args[..], node.op) else {
            return None;
        };
        let (a, b) = (self.resolve(a), self.resolve(b));
        // It continues while next < bound, and exits when bound <= next.
        let (next, bound, below) = match (compare, continues) {
            (Icmp::Ult | Icmp::Slt, true) => (a, b, compare),
            (Icmp::Ule, false) => (b, a, Icmp::Ult),
            (Icmp::Sle, false) => (b, a, Icmp::Slt),
            _ => return None,
        };
        let mut outs = self.outs.iter().filter(|(n, _)| !self.in_pair(**n));
        let counts = outs.any(|(&n, &v)| self.resolve(v) == next && self.word_step(n) == Some(1));
        let count = Count { next, bound, below };
        (counts && self.is_fixed(bound)).then_some(count)
    }

    /// The progress of the loads' addresses, where it is regular.
    fn recurrences(&self) -> BTreeMap<Val, Recurrence> {
        let loads = self.block.effects.iter().filter_map(|&load| {
            let node = &self.block.nodes[load.index()];
            let wide = self.block.nodes[node.args[0].index()].ty.width == Width::W64;
            let always =
                matches!(node.op, Op::Load(..)) && self.is_exec(self.resolve(node.args[1]));
            (wide && always).then_some((load, self.recurrence(node.args[0])?))
        });
        loads.collect()
    }

    fn recurrence(&self, address: Val) -> Option<Recurrence> {
        let terms = self.terms(address);
        let mut moving = terms.iter().filter(|(term, _)| !self.is_fixed(term.val()));
        let (&(term, shift), None) = (moving.next()?, moving.next()) else {
            return None;
        };
        match term {
            Term::Low(v) if shift <= MAX_SHIFT => Some(Recurrence::Element(v, shift)),
            Term::Wide(v) if shift == 0 => {
                let n = self.pair_at(v).filter(|n| self.based.contains(n))?;
                let step = self.step(n)?;
                (1..=MAX_STEP)
                    .contains(&step)
                    .then_some(Recurrence::Steps(step))
            }
            _ => None,
        }
    }

    /// Drops the base-relative form of pairs for which iterations need no check.
    fn unbase(&mut self) {
        let checked = self.block.effects.iter().filter_map(|load| {
            let node = &self.block.nodes[load.index()];
            match self.recurrences.get(load) {
                Some(Recurrence::Steps(_)) => None,
                _ => self.base_pair(&self.terms(*node.args.first()?)),
            }
        });
        let checked: Vec<u16> = checked.collect();
        self.based.retain(|n| checked.contains(n));
    }

    /// The constant that an iteration adds to a word.
    fn word_step(&self, n: u16) -> Option<u64> {
        let sum = &self.block.nodes[self.resolve(*self.outs.get(&n)?).index()];
        let (&[a, b], Op::Add, Width::W32) = (&sum.args[..], sum.op, sum.ty.width) else {
            return None;
        };
        let own = |v: Val| self.block.nodes[self.resolve(v).index()].op == Op::ReadV(n);
        let step = match (own(a), own(b)) {
            (true, false) => self.constant(b),
            (false, true) => self.constant(a),
            _ => None,
        };
        step.map(|step| u64::from(step as u32))
    }

    /// The constant that an iteration adds to a pair.
    fn step(&self, n: u16) -> Option<u64> {
        let terms = self.terms(*self.pairs.get(&n)?);
        let (own, others): (Vec<_>, Vec<_>) = terms.into_iter().partition(|&(term, shift)| {
            matches!(term, Term::Wide(v) if shift == 0 && self.pair_at(v) == Some(n))
        });
        let mut sum = 0u64;
        for (term, shift) in others {
            let value = self.constant(term.val())?;
            let value = match term {
                Term::Wide(_) => value,
                Term::Low(_) => u64::from(value as u32),
                Term::High(_) => value << 32,
            };
            sum = sum.wrapping_add(value << shift);
        }
        (own.len() == 1).then_some(sum)
    }

    fn constant(&self, v: Val) -> Option<u64> {
        let node = &self.block.nodes[self.resolve(v).index()];
        let half = |i: usize| Some(u64::from(self.constant(node.args[i])? as u32));
        match node.op {
            Op::Const(value) => Some(value),
            Op::Zext => half(0),
            Op::Pair => Some(half(0)? | half(1)? << 32),
            _ => None,
        }
    }
}

/// The exponent of a step that host addressing modes scale by.
fn scale(step: u64) -> Option<u32> {
    let exponent = step.trailing_zeros();
    (step.is_power_of_two() && exponent <= MAX_SCALE).then_some(exponent)
}
