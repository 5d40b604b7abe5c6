//! Dataflow to a fixed point, with a bound on the work.

use std::collections::BTreeSet;

use crate::cfg::Code;

/// An abstract state. Joins only add to a state, so that each chain of joins ends.
pub(crate) trait State: Clone {
    /// Joins the state of another path; returns whether this state changes.
    fn join(&mut self, other: &Self) -> bool;
    /// Its size, for the bound on the work.
    fn size(&self) -> usize;
}

/// Something that happened on a path, at the least distance from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry<K> {
    /// What happened; entries with different keys are told apart.
    pub(crate) key: K,
    /// The distance, in the unit of the analysis.
    pub(crate) age: u8,
    /// Index of the instruction.
    pub(crate) producer: u32,
}

/// The least age of each key, over all paths.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Least<K> {
    /// By key.
    pub(crate) entries: Vec<Entry<K>>,
}

impl<K> Default for Least<K> {
    fn default() -> Least<K> {
        Least {
            entries: Vec::new(),
        }
    }
}

impl<K: Copy + Ord> Least<K> {
    /// Restores the order after keys have changed or entries were appended; of equal keys the least age remains.
    pub(crate) fn sort(&mut self) {
        self.entries.sort_by_key(|entry| (entry.key, entry.age));
        self.entries.dedup_by_key(|entry| entry.key);
    }
}

impl<K: Copy + Ord> State for Least<K> {
    fn join(&mut self, other: &Least<K>) -> bool {
        let mut changed = false;
        for entry in &other.entries {
            match self.entries.binary_search_by_key(&entry.key, |e| e.key) {
                Ok(at) if entry.age < self.entries[at].age => {
                    self.entries[at] = *entry;
                    changed = true;
                }
                Ok(_) => {}
                Err(at) => {
                    self.entries.insert(at, *entry);
                    changed = true;
                }
            }
        }
        changed
    }

    fn size(&self) -> usize {
        self.entries.len()
    }
}

/// Bound on the work for a routine: instructions times the size of their state.
fn budget(code: &Code) -> u64 {
    20_000_000 + 4_000 * code.items.len() as u64
}

/// The state at the beginning of each block, `None` for those that are not reached. `step` follows a block:
/// given its number and the state before it, it leaves the state after it. `edge` adapts the state
/// for the edge with that number.
///
/// `None`: the bound was exceeded.
pub(crate) fn solve<S: State>(
    code: &Code,
    start: S,
    mut step: impl FnMut(usize, &mut S),
    mut edge: impl FnMut(usize, usize, &mut S),
) -> Option<Vec<Option<S>>> {
    let mut states: Vec<Option<S>> = vec![None; code.blocks.len()];
    let Some(&first) = code.order.first() else {
        return Some(states);
    };
    let mut position = vec![0usize; code.blocks.len()];
    for (at, &block) in code.order.iter().enumerate() {
        position[block] = at;
    }
    states[first] = Some(start);
    let mut left = budget(code);
    let mut work = BTreeSet::from([position[first]]);
    while let Some(at) = work.pop_first() {
        let block = code.order[at];
        let Some(mut state) = states[block].clone() else {
            continue;
        };
        step(block, &mut state);
        let len = code.blocks[block].items.len() as u64;
        let cost = (len + 1) * (1 + state.size() as u64);
        left = left.checked_sub(cost)?;
        for (number, &next) in code.blocks[block].next.iter().enumerate() {
            let mut out = state.clone();
            edge(block, number, &mut out);
            left = left.checked_sub(1 + out.size() as u64)?;
            let changed = match &mut states[next] {
                Some(known) => known.join(&out),
                none => {
                    *none = Some(out);
                    true
                }
            };
            if changed {
                work.insert(position[next]);
            }
        }
    }
    Some(states)
}
