//! Accesses whose addresses are the same in each workgroup: made of constants, work-items' ids and arguments, as those of a
//! table of factors. This wave has them where the one before had them, and there is nothing to ask for.
//!
//! Only time depends on it, so the registers that arguments are loaded from are taken for a pointer, and all else that a
//! kernel starts with for the workgroup's number.

use frontend::op::Space;
use frontend::state::WaveState;

use super::super::whole::load_or_store;
use crate::ir::{Block, Func, Op, Slot, Term, Val};
use crate::liveness::Live;

/// At the beginning of each block the registers that are the same in each workgroup. `start` is
/// [`Options::start`](super::Options::start).
pub(in crate::clif) fn registers(f: &Func, start: u64) -> Vec<Live> {
    let mut at = vec![Live::ALL; f.blocks.len()];
    at[0] = at_start(&f.blocks[0], start);
    let mut work: Vec<usize> = (0..f.blocks.len()).rev().collect();
    while let Some(i) = work.pop() {
        let end = at_end(&f.blocks[i], at[i]);
        for to in f.blocks[i].term.targets().filter_map(|t| t.block()) {
            let both = at[to].common(&end);
            if both != at[to] {
                at[to] = both;
                work.push(to);
            }
        }
    }
    at
}

/// Those of them that a wave starts with.
fn at_start(block: &Block, start: u64) -> Live {
    let mut same = Live::default();
    if start & WaveState::START != 0 {
        (0..3).for_each(|id| same.put(id, true));
    }
    same.put_slot(Slot::Exec, true);
    let loads = block.effects.iter().map(|v| &block.nodes[v.index()]);
    for load in loads.filter(|node| matches!(node.op, Op::ScalarLoad(..))) {
        if let Some(n) = pointer(block, load.args[0]) {
            same.put_slot(Slot::Sgpr(n), true);
            same.put_slot(Slot::Sgpr(n + 1), true);
        }
    }
    same
}

/// The first of the two registers that an address is made of, if nothing else is in it but constants.
fn pointer(block: &Block, address: Val) -> Option<u8> {
    let node = |v: Val| &block.nodes[v.index()];
    let constant = |v: Val| matches!(node(v).op, Op::Const(_));
    let mut at = node(address);
    while matches!(at.op, Op::Add | Op::And) && constant(at.args[1]) {
        at = node(at.args[0]);
    }
    if at.op != Op::Pair {
        return None;
    }
    match [0, 1].map(|n| node(at.args[n]).op) {
        [Op::ReadS(Slot::Sgpr(low)), Op::ReadS(Slot::Sgpr(high))] if high == low + 1 => Some(low),
        _ => None,
    }
}

/// The registers at the end of a block that begins with `at`.
fn at_end(block: &Block, at: Live) -> Live {
    if let Term::Fallback { .. } | Term::ScalarMove { .. } = block.term {
        return Live::default();
    }
    let same = values(block, &at);
    let mut end = at;
    for &(slot, v) in &block.writes_s {
        end.put_slot(slot, same[v.index()]);
    }
    for &(n, v) in &block.writes_v {
        end.put(n, same[v.index()]);
    }
    end
}

/// Which values of a block are the same in each workgroup, given the registers that are.
fn values(block: &Block, at: &Live) -> Vec<bool> {
    let mut same: Vec<bool> = Vec::with_capacity(block.nodes.len());
    for node in &block.nodes {
        let is = match node.op {
            Op::ReadS(slot) => at.has_slot(slot),
            Op::ReadV(n) => at.has(n),
            // On the lanes that act it is the new value.
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                same[node.args[1].index()]
            }
            Op::Effect { .. } | Op::Atomic(..) => false,
            Op::Load(Space::Lds | Space::Scratch | Space::Buffer, ..) => false,
            _ => node.args.iter().all(|arg| same[arg.index()]),
        };
        same.push(is);
    }
    same
}

/// The accesses of a block at addresses that are the same in each workgroup.
pub(super) fn accesses(block: &Block, at: &Live) -> Vec<Val> {
    let same = values(block, at);
    let still = |&&v: &&Val| {
        let node = &block.nodes[v.index()];
        load_or_store(node.op).is_some() && same[node.args[0].index()]
    };
    block.effects.iter().filter(still).copied().collect()
}

#[cfg(test)]
mod tests {
    use frontend::op::Data;

    use super::*;
    use crate::build::Build;
    use crate::ir::{SiteId, Target, Type, Vary, Width};

    fn ty(width: Width, vary: Vary) -> Type {
        Type { width, vary }
    }

    /// A block that loads from these addresses: the first one of a region, which writes registers for the second, or that.
    fn block(
        b: &Build,
        loads: &[Val],
        writes_s: Vec<(Slot, Val)>,
        writes_v: Vec<(u8, Val)>,
    ) -> Block {
        let exec = b.leaf(Op::ReadS(Slot::Exec), ty(Width::W64, Vary::Wave));
        let exec = b.pure(Op::ExecMask, &[exec]);
        let op = Op::Load(Space::Global, Data::Dwords(1), SiteId(0));
        for &address in loads {
            b.effect(op, &[address, exec], ty(Width::W32, Vary::Lane));
        }
        let (nodes, effects) = b.finish();
        let next = Target::Block {
            block: 1,
            back: false,
            pc: 4,
        };
        let first = !writes_s.is_empty();
        Block {
            pc: 0,
            nodes,
            effects,
            execs: Vec::new(),
            writes_s,
            writes_v,
            term: if first {
                Term::Barrier { next }
            } else {
                Term::End
            },
            guest_insts: 1,
            counts: Vec::new(),
        }
    }

    #[test]
    fn what_is_made_of_arguments_and_ids_is_still() {
        let word = ty(Width::W32, Vary::Wave);
        let sgpr = |b: &Build, n| b.leaf(Op::ReadS(Slot::Sgpr(n)), word);
        let vgpr = |b: &Build, n| b.leaf(Op::ReadV(n), ty(Width::W32, Vary::Lane));
        let at = |b: &Build, pointer: Val, offset: Val| {
            let offset = b.pure(Op::Zext, &[offset]);
            b.pure(Op::Add, &[pointer, offset])
        };

        let b = Build::new();
        let arguments = b.pure(Op::Pair, &[sgpr(&b, 4), sgpr(&b, 5)]);
        let low = b.effect(Op::ScalarLoad(2, SiteId(0)), &[arguments], word);
        let high = b.result(low, 1, word);
        let pointer = b.pure(Op::Pair, &[low, high]);
        let still = vgpr(&b, 0);
        let moves = b.pure(Op::Add, &[still, sgpr(&b, 6)]);
        let loads = [at(&b, pointer, still), at(&b, pointer, moves)];
        let slots = vec![(Slot::Sgpr(8), low), (Slot::Sgpr(9), high)];
        let first = block(&b, &loads, slots, vec![(1, still), (2, moves)]);

        let b = Build::new();
        let pointer = b.pure(Op::Pair, &[sgpr(&b, 8), sgpr(&b, 9)]);
        let loads = [1, 2].map(|n| at(&b, pointer, vgpr(&b, n)));
        let second = block(&b, &loads, Vec::new(), Vec::new());

        let mut f = Func::of(first, 0, Vec::new());
        f.blocks.push(second);
        for (start, expected) in [(WaveState::V0_COUNTS, 1), (0, 0)] {
            let same = registers(&f, start);
            for (block, same) in f.blocks.iter().zip(&same) {
                let lanes = |v: &Val| matches!(block.nodes[v.index()].op, Op::Load(..));
                let found: Vec<Val> = accesses(block, same).into_iter().filter(lanes).collect();
                let all: Vec<Val> = block.effects.iter().copied().filter(lanes).collect();
                assert_eq!(found, all[..expected], "a wave of {start}");
            }
        }
    }
}
