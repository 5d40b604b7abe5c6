//! Copies a block with some of its nodes replaced.

use crate::ir::build::Build;
use crate::ir::{Block, Counted, Node, Op, Term, Val};
use crate::maps::HashSet;

/// A copy of a block, made by `build`, which folds what becomes constant. `replace` gives the value that replaces a
/// node, from its number, the node, and its operands in the copy; `write` the value that a VGPR is written with, from the
/// number of the old one and the new values of all nodes.
pub(super) fn block(
    block: &Block,
    build: &Build,
    mut replace: impl FnMut(Val, &Node, &[Val]) -> Option<Val>,
    write: impl Fn(Val, &[Val]) -> Val,
) -> Block {
    let effects: HashSet<Val> = block.effects.iter().copied().collect();
    let mut values: Vec<Val> = Vec::with_capacity(block.nodes.len());
    for (i, node) in block.nodes.iter().enumerate() {
        let v = Val(i as u32);
        let args: Vec<Val> = node.args.iter().map(|a| values[a.index()]).collect();
        let new = replace(v, node, &args).unwrap_or_else(|| match node.op {
            op if effects.contains(&v) => build.effect(op, &args, node.ty),
            Op::Call(f, mode) => build.call(f, mode, &args),
            Op::Result(n) => build.result(args[0], n, node.ty),
            op if args.is_empty() => build.leaf(op, node.ty),
            op => build.pure(op, &args),
        });
        values.push(new);
    }
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
