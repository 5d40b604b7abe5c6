//! Dataflow to a fixed point, with a bound on the work.

use std::collections::BTreeSet;

use crate::cfg::Code;

/// An abstract state. Joins only add to a state, so that each chain of joins ends.
pub(crate) trait State: Clone {
    /// Adds what another path brings; did anything change?
    fn join(&mut self, other: &Self) -> bool;
    /// How much there is in it, for the bound.
    fn size(&self) -> usize;
}

/// The most work for a routine: instructions times the size of their state.
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
