//! Pairs of scalar registers that one variable of 64 bits holds. Masks and addresses are read and written as pairs nearly
//! always; as two words they would be joined at each read, split at each write, and take two host registers.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{Block, Func, Op, Slot, Val};
use crate::passes::sink;
use crate::vir::{Value, Variable, types};

use crate::legalize::scalar::joined;
use crate::legalize::{Code, Emitter};

/// How much more an instruction in a loop counts than another one.
const IN_LOOP: i32 = 8;

/// A half of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Half {
    Low,
    High,
}

/// The variable that holds a slot.
#[derive(Clone, Copy)]
pub(super) struct Home {
    pub(super) var: Variable,
    /// Which half of the variable the slot is; `None` if it is all of it.
    pub(super) half: Option<Half>,
}

impl Home {
    /// The slot's value, of the variable's.
    pub(super) fn part(self, code: &mut Code<'_>, whole: Value) -> Value {
        match self.half {
            None => whole,
            Some(Half::Low) => code.b.ireduce(types::I32, whole),
            Some(Half::High) => {
                let high = code.b.ushr_imm(whole, 32);
                code.b.ireduce(types::I32, high)
            }
        }
    }

    /// The variable's value with another one for the slot.
    pub(super) fn with_part(self, code: &mut Code<'_>, whole: Value, part: Value) -> Value {
        let Some(half) = self.half else {
            return part;
        };
        let (low, high) = match half {
            Half::Low => {
                let high = code.b.ushr_imm(whole, 32);
                (part, code.b.ireduce(types::I32, high))
            }
            Half::High => (code.b.ireduce(types::I32, whole), part),
        };
        joined(&mut code.b, low, high)
    }
}

/// The low registers of disjoint pairs in `touched` that a region uses as pairs rather than as words.
pub(super) fn pairs(f: &Func, touched: &BTreeSet<Slot>) -> BTreeSet<u8> {
    // By low register, the instructions that a variable for the pair spares.
    let mut spared: BTreeMap<u8, i32> = BTreeMap::new();
    for (i, block) in f.blocks.iter().enumerate() {
        let here = count(block);
        if here.is_empty() {
            continue;
        }
        let times = if sink::is_in_loop(f, i) { IN_LOOP } else { 1 };
        for (low, n) in here {
            *spared.entry(low).or_default() += times * n;
        }
    }
    let is_touched = |n: u8| touched.contains(&Slot::Sgpr(n));
    let mut best: Vec<(i32, u8)> = spared
        .into_iter()
        .filter(|&(low, n)| n > 0 && is_touched(low) && is_touched(low + 1))
        .map(|(low, n)| (-n, low))
        .collect();
    best.sort_unstable();
    let mut pairs = BTreeSet::new();
    for (_, low) in best {
        if !(pairs.contains(&(low + 1)) || low > 0 && pairs.contains(&(low - 1))) {
            pairs.insert(low);
        }
    }
    pairs
}

/// Instructions that a variable for each pair spares in a block: a pair that is read need not be joined, nor one that
/// is written be split, but a word must be extracted or inserted.
fn count(block: &Block) -> BTreeMap<u8, i32> {
    let register = |v: Val| match block.nodes[v.index()].op {
        Op::ReadS(Slot::Sgpr(n)) => Some(n),
        _ => None,
    };
    let mut spared: BTreeMap<u8, i32> = BTreeMap::new();
    let mut words: BTreeSet<u8> = BTreeSet::new();
    for node in &block.nodes {
        if node.op == Op::Pair
            && let [Some(low), Some(high)] = [0, 1].map(|i| register(node.args[i]))
            && low.checked_add(1) == Some(high)
        {
            *spared.entry(low).or_default() += 2;
            continue;
        }
        words.extend(node.args.iter().filter_map(|&a| register(a)));
    }
    let written: BTreeMap<u8, Val> = block
        .writes_s
        .iter()
        .filter_map(|&(slot, v)| match slot {
            Slot::Sgpr(n) => Some((n, v)),
            _ => None,
        })
        .collect();
    words.extend(written.values().filter_map(|&v| register(v)));
    words.extend(block.term.value().and_then(register));
    let mut less = |low: Option<u8>, n: i32| {
        if let Some(low) = low {
            *spared.entry(low).or_default() -= n;
        }
    };
    for word in words {
        less(Some(word), 1);
        less(word.checked_sub(1), 1);
    }
    let half = |v: Val, op: Op| {
        let node = &block.nodes[v.index()];
        (node.op == op).then(|| node.args[0])
    };
    for (&n, &v) in &written {
        match n.checked_add(1).and_then(|above| written.get(&above)) {
            Some(&high) if half(v, Op::Lo).is_some_and(|x| half(high, Op::Hi) == Some(x)) => {
                less(Some(n), -2);
            }
            _ => less(Some(n), 2),
        }
        // As the high word of a pair whose low word is not written.
        let below = n
            .checked_sub(1)
            .filter(|below| !written.contains_key(below));
        less(below, 2);
    }
    spared
}

impl Emitter<'_> {
    /// The value of a pair of scalar registers that are in the wave in the baseline tier, or that one variable holds;
    /// `None` if the node is no such pair.
    pub(in crate::legalize) fn register_pair(&mut self, block: &Block, v: Val) -> Option<Value> {
        let node = &block.nodes[v.index()];
        if node.op != Op::Pair {
            return None;
        }
        // In a loop's second form a register may have a value other than the wave's.
        let register = |v: Val| match block.nodes[v.index()].op {
            Op::ReadS(Slot::Sgpr(n)) if !self.values.has(v) => Some(n),
            _ => None,
        };
        let [low, high] = [0, 1].map(|i| register(node.args[i]));
        let low = low.filter(|low| high == Some(low + 1))?;
        match self.code.region.options().baseline {
            true => Some(self.code.load_pair(low)),
            false => self.boundary.pair(&mut self.code, low),
        }
    }
}
