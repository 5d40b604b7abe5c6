//! Prefetches of what a loop's iterations in the next workgroup will load: it is next to what this one loads in the same iteration. Loops
//! whose lanes look at their end by themselves go over the grid, for the most part: they step far, where the processor expects
//! nothing, and no other workgroup loads the same. Loops of products do, and have nothing to wait for.

use frontend::op::Space;
use frontend::state::LANES;

use super::{Iteration, memory};
use crate::analysis::interchange::{Kind, unmerged};
use crate::analysis::schedule::is_made_without;
use crate::ir::{Block, Op, Val};
use crate::legalize::Emitter;

impl Emitter<'_> {
    /// Finds how far from where the iterations of a group load the next workgroup will, before the first iteration.
    pub(super) fn expect_iterations(&mut self, t: &mut Iteration<'_>) {
        let over_grid = t.plan.peel.is_some() && t.plan.group == LANES && self.has_prefetches;
        if !over_grid || !self.o.is_memory_far() {
            return;
        }
        let bases = t.bases.clone();
        for &load in &t.form.block.effects {
            let node = &t.form.block.nodes[load.index()];
            let address = unmerged(&t.form.block, t.form.condition, node.args[0]);
            let line = match (node.op, t.form.kinds[address.index()]) {
                (Op::Load(..), Some(Kind::Affine(stride))) => stride.unsigned_abs() == 4,
                _ => false,
            };
            let global = memory::space_of(t.plan, load) != Space::Lds;
            if !line || !global || !is_known_before(&t.form.block, address) {
                continue;
            }
            let start = self.load_start(t, load);
            if let Some(delta) = self.moved_on(start) {
                t.later.insert(load, delta);
            }
        }
        t.bases = bases;
    }
}

/// Does no iteration have to load anything for a value?
fn is_known_before(block: &Block, v: Val) -> bool {
    is_made_without(block, v, |node| {
        let op = node.op;
        matches!(
            op,
            Op::Load(..) | Op::ScalarLoad(..) | Op::Atomic(..) | Op::Effect { .. }
        )
    })
}
