//! Prefetches of what a loop's iterations in the next workgroup will load: adjacent to what this
//! one loads in the same iteration. Most loops whose lanes test their end themselves are
//! grid-stride loops: their large steps defeat the hardware prefetcher, and no other workgroup
//! loads the same data. Matrix product loops share their data between workgroups and need no
//! prefetches.

use frontend::op::Space;
use frontend::state::LANES;

use super::{Iteration, memory};
use crate::analysis::interchange::{Kind, unmerged};
use crate::analysis::schedule::is_made_without;
use crate::ir::{Block, Op, Val};
use crate::legalize::Emitter;

impl Emitter<'_> {
    /// Computes the distance to the next workgroup's addresses of a group's iterations, before the
    /// first iteration.
    pub(super) fn predict_iterations(&mut self, t: &mut Iteration<'_>) {
        let over_grid =
            t.plan.peel.is_some() && t.plan.group == LANES && self.prefetches.is_in_region();
        if !over_grid || !self.code.region.options().host.is_memory_far() {
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
            if !line || !global || !is_independent_of_loads(&t.form.block, address) {
                continue;
            }
            let start = self.load_start(t, load);
            if let Some(delta) = self.prefetches.moved_on(&mut self.code, start) {
                t.prefetch_distance.insert(load, delta);
            }
        }
        t.bases = bases;
    }
}

/// Can a value be computed without loads of the iterations?
fn is_independent_of_loads(block: &Block, v: Val) -> bool {
    is_made_without(block, v, |node| {
        let op = node.op;
        matches!(
            op,
            Op::Load(..) | Op::ScalarLoad(..) | Op::Atomic(..) | Op::Effect { .. }
        )
    })
}
