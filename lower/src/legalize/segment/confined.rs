//! Which values of a block are used on the lanes of one EXEC value only.

use crate::analysis::schedule::{Class, Leaves, Schedule, Segment, each_operand};
use crate::ir::{Block, Op, Val};

/// The values of the current block that are observed at lanes outside of one EXEC value. The last result is kept: the
/// segments of a block mostly have the same EXEC.
#[derive(Default)]
pub(in crate::legalize) struct Confinement {
    exec: Option<Val>,
    /// By node.
    observed: Vec<bool>,
}

impl Confinement {
    /// Are all of `values` used by nothing but merges, masks and accesses of memory under `exec` (W64), transitively? Then
    /// their other lanes are never observed. `leaves` are those of [`each_operand`].
    pub(super) fn holds(
        &mut self,
        block: &Block,
        plan: &Schedule,
        leaves: &Leaves,
        exec: Val,
        mut values: impl Iterator<Item = Val>,
    ) -> bool {
        if self.exec != Some(exec) {
            self.exec = Some(exec);
            self.observed = observed(block, plan, leaves, exec);
        }
        values.all(|v| !self.observed[v.index()])
    }
}

/// By node: is its value observed at lanes outside of `exec`?
fn observed(block: &Block, plan: &Schedule, leaves: &Leaves, exec: Val) -> Vec<bool> {
    let is_exec = |v: Val| {
        let node = &block.nodes[v.index()];
        node.op == Op::ExecMask && node.args[0] == exec
    };
    let mut observed = vec![false; block.nodes.len()];
    for segment in &plan.segments {
        for &(_, v) in &segment.stores {
            observed[v.index()] = true;
        }
    }
    for (i, node) in block.nodes.iter().enumerate().rev() {
        if !plan.needed[i] {
            continue;
        }
        let args = &node.args;
        let masked = match node.op {
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) | Op::Select => {
                let mask = if node.op == Op::Select { 0 } else { 1 };
                is_exec(args[mask])
            }
            Op::And => args.iter().any(|&a| is_exec(a)),
            _ => false,
        };
        // An affine address is computed from any lane.
        let affine = leaves.contains_key(&Val(i as u32));
        let outside = observed[i] || plan.class[i] != Class::Lane;
        each_operand(block, &plan.class, leaves, i, |a| {
            let kept = node.op == Op::Select && !block.is_free_merge(node) && a == args[2];
            observed[a.index()] |= outside && (!masked || kept || affine);
        });
    }
    observed
}

/// The value of EXEC (W64) under which a segment merges, if there is only one.
pub(super) fn only_exec(block: &Block, segment: &Segment) -> Option<Val> {
    let mut only = None;
    for &v in &segment.nodes {
        for &a in block.nodes[v.index()].args.iter() {
            let node = &block.nodes[a.index()];
            if node.op == Op::ExecMask && *only.get_or_insert(node.args[0]) != node.args[0] {
                return None;
            }
        }
    }
    only
}
