//! Checks a region's rules; run in debug builds and tests.

use crate::ir::{Block, Float, Func, Node, Op, Target, Term, Val, Vary, Width};

/// The first broken rule, in words.
pub fn func(f: &Func) -> Result<(), String> {
    for (i, b) in f.blocks.iter().enumerate() {
        block(b, f).map_err(|e| format!("block {i}: {e}"))?;
    }
    Ok(())
}

fn block(b: &Block, f: &Func) -> Result<(), String> {
    for (i, node) in b.nodes.iter().enumerate() {
        for arg in node.args.iter() {
            if arg.index() >= i {
                return Err(format!("%{i} uses %{} before it is defined", arg.0));
            }
        }
        types(b, node).map_err(|e| format!("%{i} {:?}: {e}", node.op))?;
    }
    for &(slot, v) in &b.writes_s {
        if b.nodes[v.index()].ty.vary != Vary::Wave {
            return Err(format!("{slot:?} gets the lane value %{}", v.0));
        }
    }
    let target = |t: &Target| match *t {
        Target::Block { block, .. } if block >= f.blocks.len() => {
            Err(format!("jump to block {block} of {}", f.blocks.len()))
        }
        _ => Ok(()),
    };
    match &b.term {
        Term::Jump(t) | Term::Fallback { next: t, .. } | Term::Barrier { next: t } => target(t),
        Term::Branch { cond, then, other } => {
            let ty = b.nodes[cond.index()].ty;
            if ty.width != Width::W1 || ty.vary != Vary::Wave {
                return Err("branch on something that is not a wave truth value".to_owned());
            }
            target(then).and_then(|()| target(other))
        }
        Term::ScalarMove { value, next, .. } => {
            let wave = |v: &Val| b.nodes[v.index()].ty.vary == Vary::Wave;
            if !value.as_ref().is_none_or(wave) {
                return Err("a scalar register gets a lane value".to_owned());
            }
            target(next)
        }
        Term::Indirect(_) | Term::End | Term::Interpret { .. } => Ok(()),
    }
}

fn types(b: &Block, node: &Node) -> Result<(), String> {
    let width = |i: usize| b.nodes[node.args[i].index()].ty.width;
    match node.op {
        Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Icmp(_) | Op::Fcmp(..)
            if width(0) != width(1) =>
        {
            return Err("arguments of unequal width".to_owned());
        }
        Op::Select if width(0) != Width::W1 || width(1) != width(2) => {
            return Err("select of unequal widths".to_owned());
        }
        Op::Pair | Op::AlignBit | Op::Perm | Op::Halves(_)
            if (0..node.args.len()).any(|i| width(i) != Width::W32) =>
        {
            return Err("wants 32-bit words".to_owned());
        }
        Op::MaskFromBits | Op::ExecMask | Op::Lo | Op::Hi if width(0) != Width::W64 => {
            return Err("wants 64 bits".to_owned());
        }
        Op::DivScale(_) | Op::DivFmas(..) | Op::DivFixup(_)
            if width(1) != width(0) || width(2) != width(0) || width(3) != Width::W1 =>
        {
            return Err("wants three floats and a mask".to_owned());
        }
        Op::DivScaled(_) if width(1) != width(0) || width(2) != Width::W1 => {
            return Err("wants two floats and a mask".to_owned());
        }
        Op::Quotient(float, flush)
            if width(1) != width(0) || flush.src || float == Float::F64 && flush.dst =>
        {
            return Err("a quotient that is not made".to_owned());
        }
        Op::Ballot if width(0) != Width::W1 => return Err("wants a mask".to_owned()),
        _ => {}
    }
    Ok(())
}
