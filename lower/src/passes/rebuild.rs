//! Copies a block with some of its nodes replaced.

use std::collections::BTreeSet;

use crate::ir::build::Build;
use crate::ir::{Block, Counted, Node, Op, Term, Val};
use crate::maps::HashSet;

/// A copy of a block that is being made.
pub(super) struct Copy<'b> {
    pub(super) block: &'b Block,
    build: &'b Build,
    effects: HashSet<Val>,
    /// By number in the block.
    values: Vec<Option<Val>>,
}

impl Copy<'_> {
    /// Does the value depend on the order of nodes?
    pub(super) fn is_effect(&self, v: Val) -> bool {
        self.effects.contains(&v)
    }

    /// The copy of a value. Copies those that it is made of first, none of which may be an effect that is not copied yet.
    pub(super) fn value(&mut self, v: Val) -> Val {
        // Operands precede their users, and those that are copied need no look.
        let mut needed = vec![v];
        let mut missing = BTreeSet::new();
        while let Some(v) = needed.pop() {
            if self.values[v.index()].is_none() && missing.insert(v) {
                needed.extend(self.block.nodes[v.index()].args.iter());
            }
        }
        for v in missing {
            debug_assert!(!self.is_effect(v), "bug: {v:?} is moved");
            let args = self.args(v);
            self.values[v.index()] = Some(self.copy(v, &args));
        }
        self.values[v.index()].expect("was copied")
    }

    /// The copies of a node's operands.
    fn args(&self, v: Val) -> Vec<Val> {
        let args = self.block.nodes[v.index()].args.iter();
        args.map(|a| self.values[a.index()].expect("operands precede their users"))
            .collect()
    }

    fn copy(&self, v: Val, args: &[Val]) -> Val {
        let (node, build) = (&self.block.nodes[v.index()], self.build);
        match node.op {
            op if self.is_effect(v) => build.effect(op, args, node.ty),
            Op::Call(f, mode) => build.call(f, mode, args),
            Op::Result(n) => build.result(args[0], n, node.ty),
            op if args.is_empty() => build.leaf(op, node.ty),
            op => build.pure(op, args),
        }
    }
}

/// A copy of a block, made by `build`, which folds what becomes constant. `replace` gives the value that replaces a
/// node, from its number, the node, and its operands in the copy; `write` the value that a VGPR is written with, from the
/// number of the old one and the new values of all nodes.
pub(super) fn block(
    block: &Block,
    build: &Build,
    mut replace: impl FnMut(Val, &Node, &[Val]) -> Option<Val>,
    write: impl Fn(Val, &[Val]) -> Val,
) -> Block {
    let replace = |_: &mut Copy<'_>, v: Val, node: &Node, args: &[Val]| replace(v, node, args);
    block_in_parts(block, build, replace, write)
}

/// As [`block`], with a `replace` that may copy later nodes first.
pub(super) fn block_in_parts(
    block: &Block,
    build: &Build,
    mut replace: impl FnMut(&mut Copy<'_>, Val, &Node, &[Val]) -> Option<Val>,
    write: impl Fn(Val, &[Val]) -> Val,
) -> Block {
    let mut copy = Copy {
        block,
        build,
        effects: block.effects.iter().copied().collect(),
        values: vec![None; block.nodes.len()],
    };
    for (i, node) in block.nodes.iter().enumerate() {
        let v = Val(i as u32);
        if copy.values[i].is_none() {
            let args = copy.args(v);
            let new = replace(&mut copy, v, node, &args);
            copy.values[i] = Some(new.unwrap_or_else(|| copy.copy(v, &args)));
        }
    }
    let values = copy.values.into_iter();
    let values: Vec<Val> = values.map(|v| v.expect("all are copied")).collect();
    let writes_v = block.writes_v.iter();
    let writes_v = writes_v.map(|&(n, v)| (n, write(v, &values))).collect();
    let new = |v: Val| values[v.index()];
    let term = match block.term.clone() {
        Term::Branch { cond, then, other } => Term::Branch {
            cond: new(cond),
            then,
            other,
        },
        Term::Indirect(v) => Term::Indirect(new(v)),
        Term::ScalarMove { site, value, next } => Term::ScalarMove {
            site,
            value: value.map(new),
            next,
        },
        term => term,
    };
    let (nodes, effects) = build.finish();
    Block {
        pc: block.pc,
        nodes,
        effects,
        execs: block.execs.iter().map(|&(v, e)| (new(v), new(e))).collect(),
        writes_s: block.writes_s.iter().map(|&(s, v)| (s, new(v))).collect(),
        writes_v,
        term,
        guest_insts: block.guest_insts,
        counts: block.counts.iter().map(|&(v, n)| (new(v), n)).collect(),
        outcomes: block
            .outcomes
            .iter()
            .map(|&counted| Counted {
                bits: new(counted.bits),
                ..counted
            })
            .collect(),
    }
}
