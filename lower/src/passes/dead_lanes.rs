//! Frees merges whose old value nobody reads. A write of a VGPR under EXEC keeps the old value of inactive lanes:
//! `Select(ExecMask(exec), new, old)`. Compilers reuse registers and narrow EXEC for a branch or a loop, so most writes
//! are read under the same EXEC or a part of it only. Then the old value is replaced by [`Op::Undef`]: the merge
//! is not computed, the register is not live before it, and a loop does not carry it. Other values of the block use the
//! new value itself, so that two words which are written one after the other are recombined into one value of 64 bits.
//!
//! What is written remains a merge, since other passes and analyses recognise by it that a lane outside of EXEC keeps
//! what it has, or has what nobody reads.

use super::{Analysed, rebuild};
use crate::analysis::liveness;
use crate::ir::build::Build;
use crate::ir::{Node, Op, Type, Val, Vary};

/// Runs the pass.
pub(super) fn run(region: &mut Analysed<'_>) {
    let build = Build::new();
    let mut changed = Vec::new();
    for (i, block) in region.func.blocks.iter().enumerate() {
        let free = liveness::free_merges(block, &region.lives.end[i]);
        if !free.contains(&true) {
            continue;
        }
        let replace = |v: Val, _: &Node, args: &[Val]| free[v.index()].then(|| args[1]);
        let write = |v: Val, values: &[Val]| {
            let node = &block.nodes[v.index()];
            if !free[v.index()] {
                return values[v.index()];
            }
            let undef = Type {
                vary: Vary::Wave,
                ..node.ty
            };
            let undef = build.leaf(Op::Undef, undef);
            let [mask, new] = [0, 1].map(|i| values[node.args[i].index()]);
            build.pure(Op::Select, &[mask, new, undef])
        };
        changed.push((i, rebuild::block(block, &build, replace, write)));
    }
    if changed.is_empty() {
        return;
    }
    let func = region.func.to_mut();
    for (i, block) in changed {
        func.blocks[i] = block;
    }
    region.lives = liveness::lives(func);
}
