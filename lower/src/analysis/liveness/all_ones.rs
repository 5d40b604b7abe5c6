//! Scalar slots that are all ones at block entry, provided EXEC is all ones at the region's entry:
//! guest code saves EXEC, narrows it, and restores it.

use super::{DEPTH, Live};
use crate::ir::{Block, Func, Op, Slot, Term, Val};

/// For each block the slots that are all ones where it begins.
pub(super) fn find(f: &Func) -> Vec<Live> {
    let mut start = Live::default();
    start.put_slot(Slot::Exec, true);
    let mut at: Vec<Option<Live>> = vec![None; f.blocks.len()];
    at[0] = Some(start);
    let mut work = vec![0];
    while let Some(i) = work.pop() {
        let end = at_end(&f.blocks[i], &at[i].unwrap_or_default());
        for to in f.blocks[i].term.targets().filter_map(|t| t.block()) {
            let start = at[to].map_or(end, |old| old.common(&end));
            if at[to] != Some(start) {
                at[to] = Some(start);
                work.push(to);
            }
        }
    }
    at.into_iter().map(Option::unwrap_or_default).collect()
}

/// The same at a block's end.
fn at_end(block: &Block, start: &Live) -> Live {
    // These write scalar registers outside of the block's own writes.
    if let Term::Fallback { .. } | Term::ScalarMove { .. } = block.term {
        return Live::default();
    }
    let mut end = *start;
    for slot in block.written_slots() {
        end.put_slot(slot, false);
    }
    for &(slot, v) in &block.writes_s {
        if is_ones(block, start, v, DEPTH) {
            end.put_slot(slot, true);
        }
    }
    end
}

/// Are all bits of a value of a block (W32 or W64) 1, given the slots that are all ones where it begins?
pub(super) fn is_ones(block: &Block, start: &Live, v: Val, depth: u32) -> bool {
    let node = &block.nodes[v.index()];
    let ones = |&v: &Val| depth > 0 && is_ones(block, start, v, depth - 1);
    match node.op {
        Op::ReadS(slot @ (Slot::Sgpr(_) | Slot::Exec | Slot::Vcc)) => start.has_slot(slot),
        Op::Lo | Op::Hi | Op::Pair | Op::And => node.args.iter().all(ones),
        Op::Or => node.args.iter().any(ones),
        _ => false,
    }
}
