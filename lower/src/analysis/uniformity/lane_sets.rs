//! Sets of lanes: values of EXEC, their validity across blocks, and inclusion.

use std::collections::BTreeSet;

use super::{Analysis, Facts, Set};
use crate::ir::{Block, Op, Val};
use crate::maps::HashMap;

impl Analysis<'_> {
    /// Puts a set within another.
    pub(super) fn put(&mut self, set: Set, parent: Set) {
        if self.parents.insert(set, parent) != Some(parent) {
            self.settled = false;
        }
    }

    /// Is `small` provably a subset of `big`?
    pub(super) fn within(&self, small: Set, big: Set) -> bool {
        within(&self.parents, small, big)
    }

    /// The smaller of two sets, when one is within the other.
    pub(super) fn meet_sets(&self, a: Set, b: Set) -> Option<Set> {
        if self.within(a, b) {
            Some(a)
        } else if self.within(b, a) {
            Some(b)
        } else {
            None
        }
    }

    /// The nearest superset of `a` that contains `b`, unless that is only the set of all lanes.
    pub(super) fn around(&self, a: Set, b: Set) -> Option<Set> {
        let mut at = a;
        while at != Set::All {
            if self.within(b, at) {
                return Some(at);
            }
            at = self.parents.get(&at).copied()?;
        }
        None
    }

    /// Is a name that was valid at the end of a predecessor valid in `block`?
    pub(super) fn survives(&self, set: Set, block: usize) -> bool {
        match set.block() {
            None => true,
            Some(d) => {
                // The region's entry set is defined before block 0.
                (set == Set::Entry(0) && block != 0)
                    || self.dominators[block][d / 64] >> (d % 64) & 1 != 0
            }
        }
    }

    /// The nearest superset whose name is valid in `block`.
    pub(super) fn surviving_parent(&self, set: Set, block: usize) -> Set {
        let mut at = set;
        while !self.survives(at, block) {
            at = self.parents.get(&at).copied().unwrap_or(Set::All);
        }
        at
    }

    /// Renames a set for use in `block`, given EXEC at the end of the predecessor.
    pub(super) fn rename(&self, set: Set, exec: Set, block: usize) -> Option<Set> {
        if self.survives(set, block) {
            Some(set)
        } else if self.within(exec, set) {
            Some(Set::Entry(block))
        } else {
            None
        }
    }
}

/// Is `small` provably a subset of `big`, given a superset of each set?
pub(super) fn within(parents: &HashMap<Set, Set>, small: Set, big: Set) -> bool {
    let mut at = small;
    for _ in 0..10_000 {
        if at == big || big == Set::All {
            return true;
        }
        match parents.get(&at) {
            Some(&up) if up != at => at = up,
            _ => return false,
        }
    }
    false
}

/// The lanes on which the instructions of a block act.
#[derive(Clone, Debug)]
pub(super) struct Acting {
    /// The masks of its accesses and writes.
    pub inside: Vec<Set>,
    /// EXEC at its end.
    pub exit: Set,
}

/// The masks of a block's accesses and writes.
pub(super) fn acting(block: &Block, sets: &HashMap<Val, Set>) -> Vec<Set> {
    let mut found = Vec::new();
    let mut note = |set: Option<Set>| {
        let set = set.unwrap_or(Set::All);
        if !found.contains(&set) {
            found.push(set);
        }
    };
    for (i, node) in block.nodes.iter().enumerate() {
        match node.op {
            Op::ExecMask => note(sets.get(&node.args[0]).copied()),
            Op::Load(..) | Op::Store(..) | Op::Atomic(..)
                if block.nodes[node.args[1].index()].op != Op::ExecMask =>
            {
                note(None);
            }
            Op::Ballot if !is_under_exec(block, Val(i as u32)) => note(None),
            _ => {}
        }
    }
    if block.lane_writes().any(|(n, v)| !is_masked(block, n, v)) {
        note(None);
    }
    found
}

/// Is a ballot one of the lanes in some EXEC? An EXEC of all ones is not in the lane IR.
pub(crate) fn is_under_exec(block: &Block, ballot: Val) -> bool {
    let node = &block.nodes[block.nodes[ballot.index()].args[0].index()];
    let exec = |v: &Val| block.nodes[v.index()].op == Op::ExecMask;
    node.op == Op::ExecMask || node.op == Op::And && node.args.iter().any(exec)
}

/// Does a write keep the VGPR's lanes outside of some EXEC?
pub(crate) fn is_masked(block: &Block, n: u16, v: Val) -> bool {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::ReadV(m) => m == n,
        Op::Select => block.nodes[node.args[0].index()].op == Op::ExecMask,
        _ => false,
    }
}

impl Facts {
    /// SGPR pairs that hold an EXEC where a block begins, such that the facts about all these VGPRs there hold on its
    /// lanes, too. Known only if facts of all blocks were asked for.
    pub fn saved_masks(&self, block: usize, vgprs: &BTreeSet<u16>) -> Vec<u8> {
        let Some(entry) = self.entries.get(&block) else {
            return Vec::new();
        };
        let holds = |n: u16, set: Set| {
            let of = match entry.pair_with(n) {
                Some(pair) => entry.sets.pairs.get(&pair),
                None => entry.sets.vgprs.get(&n),
            };
            of.is_none_or(|&of| within(&self.parents, set, of))
        };
        let saved = entry.sets.saved.iter();
        saved
            .filter(|&(_, &set)| vgprs.iter().all(|&n| holds(n, set)))
            .map(|(&pair, _)| pair)
            .collect()
    }

    /// Does a block act only on lanes that were in EXEC where `head` began, which dominates it, or in one of the masks
    /// that these SGPR pairs held there? With `exit`: are those in EXEC at its end such lanes, too?
    pub fn acts_within(&self, block: usize, exit: bool, head: usize, saved: &[u8]) -> bool {
        let (Some(acting), Some(entry)) = (self.acting.get(&block), self.entries.get(&head)) else {
            return false;
        };
        let masks = saved.iter().filter_map(|pair| entry.sets.saved.get(pair));
        let mut all: Vec<Set> = masks.copied().collect();
        all.push(Set::Entry(head));
        let mut small = acting.inside.iter().chain(exit.then_some(&acting.exit));
        small.all(|&set| all.iter().any(|&big| within(&self.parents, set, big)))
    }
}

pub(super) fn successors(block: &Block) -> Vec<usize> {
    let targets = block.term.targets();
    targets.filter_map(|target| target.block()).collect()
}

/// Strict dominators as bit sets, by the iterative algorithm.
pub(super) fn dominators(preds: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let n = preds.len();
    let words = n.div_ceil(64);
    let mut dom = vec![vec![u64::MAX; words]; n];
    dom[0] = vec![0; words];
    dom[0][0] |= 1;
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..n {
            let mut meet = vec![u64::MAX; words];
            for &p in &preds[b] {
                for (m, d) in meet.iter_mut().zip(&dom[p]) {
                    *m &= d;
                }
            }
            meet[b / 64] |= 1 << (b % 64);
            if meet != dom[b] {
                dom[b] = meet;
                changed = true;
            }
        }
    }
    for (b, d) in dom.iter_mut().enumerate() {
        d[b / 64] &= !(1 << (b % 64));
    }
    dom
}
