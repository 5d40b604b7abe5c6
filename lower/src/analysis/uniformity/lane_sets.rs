//! Sets of lanes: values of EXEC, their validity across blocks, and inclusion.

use super::{Analysis, Set};
use crate::ir::Block;

impl Analysis<'_> {
    /// Puts a set within another.
    pub(super) fn put(&mut self, set: Set, parent: Set) {
        if self.parents.insert(set, parent) != Some(parent) {
            self.settled = false;
        }
    }

    /// Is `small` provably a subset of `big`?
    pub(super) fn within(&self, small: Set, big: Set) -> bool {
        let mut at = small;
        for _ in 0..10_000 {
            if at == big || big == Set::All {
                return true;
            }
            match self.parents.get(&at) {
                Some(&up) if up != at => at = up,
                _ => return false,
            }
        }
        false
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
