//! What of a lane's iterations is known when its first one begins: how many it makes, and where addresses go that
//! follow from that.

use std::collections::BTreeMap;

use super::{LaneSerial, Term};
use crate::analysis::interchange::LoopCondition;
use crate::ir::{Icmp, Op, Val, Width};

/// How many iterations a lane makes: as many as it takes a word, to which each iteration adds 1, to become no less than
/// another that stays. It cannot wrap on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The word behind an iteration.
    pub next: Val,
    /// What it is compared with.
    pub bound: Val,
    /// How it is compared with that: is the first less than the second?
    pub below: Icmp,
}

/// How the address of a load goes from iteration to iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// By so many bytes, 1 to [`MAX_STEP`].
    Steps(u64),
    /// The place of an element in an array that stays: a word, shifted left by so many bits.
    Element(Val, u32),
}

/// Bytes that an address goes in an iteration at most: the product with a number of iterations stays far from wrapping.
pub const MAX_STEP: u64 = 1 << 16;

/// Bits by which the number of an element is shifted at most; for the same reason.
const MAX_SHIFT: u32 = 16;

/// Steps that the host's addresses multiply by are these powers of two at most.
const MAX_SCALE: u32 = 3;

impl LaneSerial {
    /// Finds the trip count and the courses of addresses before the first iteration; without it iterations are run one by one.
    pub fn foresee(&mut self) {
        self.count = self.count();
        self.courses = self.courses();
        if self.count.is_none() {
            let element = |course: &Course| matches!(course, Course::Element(..));
            self.courses.retain(|_, course| element(course));
            return;
        }
        self.unbase();
        let words = self.outs.keys().filter(|n| !self.in_pair(**n));
        let words = words.filter_map(|&n| Some((n, scale(self.word_step(n)?)?)));
        let pairs = self.pairs.keys();
        let pairs = pairs.filter_map(|&n| Some((n, scale(self.step(n)?)?)));
        self.steady = words.chain(pairs).collect();
    }

    /// The number of a lane's iterations, if it is known.
    fn count(&self) -> Option<Count> {
        let LoopCondition::Lane(exec) = self.condition else {
            return None;
        };
        let nodes = &self.block.nodes;
        let (mut cond, mut goes_on) = (self.resolve(exec), true);
        while nodes[cond.index()].op == Op::Not {
            (cond, goes_on) = (self.resolve(nodes[cond.index()].args[0]), !goes_on);
        }
        let node = &nodes[cond.index()];
        let (&[a, b], Op::Icmp(compare)) = (&node.args[..], node.op) else {
            return None;
        };
        let (a, b) = (self.resolve(a), self.resolve(b));
        // It goes on while next < bound, and leaves when bound <= next.
        let (next, bound, below) = match (compare, goes_on) {
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

    /// The courses of the loads whose courses are known.
    fn courses(&self) -> BTreeMap<Val, Course> {
        let loads = self.block.effects.iter().filter_map(|&load| {
            let node = &self.block.nodes[load.index()];
            let wide = self.block.nodes[node.args[0].index()].ty.width == Width::W64;
            let always =
                matches!(node.op, Op::Load(..)) && self.is_exec(self.resolve(node.args[1]));
            (wide && always).then_some((load, self.course(node.args[0])?))
        });
        loads.collect()
    }

    fn course(&self, address: Val) -> Option<Course> {
        let terms = self.terms(address);
        let mut moving = terms.iter().filter(|(term, _)| !self.is_fixed(term.val()));
        let (&(term, shift), None) = (moving.next()?, moving.next()) else {
            return None;
        };
        match term {
            Term::Low(v) if shift <= MAX_SHIFT => Some(Course::Element(v, shift)),
            Term::Wide(v) if shift == 0 => {
                let n = self.pair_at(v).filter(|n| self.based.contains(n))?;
                let step = self.step(n)?;
                (1..=MAX_STEP)
                    .contains(&step)
                    .then_some(Course::Steps(step))
            }
            _ => None,
        }
    }

    /// Holds pairs as they are whose distances from the arena's beginning no iteration is to check.
    fn unbase(&mut self) {
        let checked = self.block.effects.iter().filter_map(|load| {
            let node = &self.block.nodes[load.index()];
            match self.courses.get(load) {
                Some(Course::Steps(_)) => None,
                _ => self.base_pair(&self.terms(*node.args.first()?)),
            }
        });
        let checked: Vec<u8> = checked.collect();
        self.based.retain(|n| checked.contains(n));
    }

    /// The constant that an iteration adds to a word.
    fn word_step(&self, n: u8) -> Option<u64> {
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
    fn step(&self, n: u8) -> Option<u64> {
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

/// The exponent of a step that the host's addresses multiply by.
fn scale(step: u64) -> Option<u32> {
    let exponent = step.trailing_zeros();
    (step.is_power_of_two() && exponent <= MAX_SCALE).then_some(exponent)
}
