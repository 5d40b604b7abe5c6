//! Facts that hold when a loop begins: invariant values, the trip count, and from both the last
//! address of a load, so that one check of its first and last address covers all iterations.

use std::collections::BTreeMap;

use super::{Form, Kind, LoopCondition, pair_read, unmerged};
use crate::ir::{Icmp, Op, Slot, Val, Vary, Width};

/// The trip count of a loop: the number of iterations until a scalar, stepped by a constant in
/// each, equals an invariant bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trips {
    /// The scalar.
    pub slot: Slot,
    /// The step: a power of two or its negative.
    pub step: i32,
    /// The bound (W32, wave).
    pub bound: Val,
}

/// The facts.
#[derive(Debug, Default)]
pub struct EntryFacts {
    /// Computed invariant scalars, in order.
    pub fixed: Vec<Val>,
    /// The number of iterations.
    pub trips: Option<Trips>,
    /// Loads whose addresses can be checked before the first iteration: the step of the address, if
    /// any.
    pub checked: BTreeMap<Val, Option<Val>>,
}

/// Finds the facts of a loop. `carried` are the VGPRs that are loop-carried by themselves.
pub(super) fn entry_facts(
    form: &Form,
    carried: &BTreeMap<u16, Kind>,
    pairs: &BTreeMap<u16, i64>,
) -> EntryFacts {
    let changes = |n: u16| {
        let in_pair = |n: u16| form.pair_outs.contains_key(&n);
        carried.contains_key(&n) || in_pair(n) || n.checked_sub(1).is_some_and(in_pair)
    };
    let mut stays = vec![false; form.block.nodes.len()];
    let mut fixed = Vec::new();
    for (i, node) in form.block.nodes.iter().enumerate() {
        let scalar = matches!(form.kinds[i], Some(Kind::Affine(_)));
        stays[i] = scalar
            && match node.op {
                Op::ReadS(slot) => form.slots.iter().all(|&(s, _)| s != slot),
                Op::ReadV(n) => !changes(n),
                Op::Const(_) | Op::LaneId | Op::CodeAddress(_) => true,
                Op::Load(..)
                | Op::ScalarLoad(..)
                | Op::Result(_)
                | Op::Call(..)
                | Op::Atomic(..)
                | Op::Effect { .. }
                | Op::Ballot
                | Op::LaneAt
                | Op::ExecMask
                | Op::MaskFromBits => false,
                _ => node.args.iter().all(|a| stays[a.index()]),
            };
        let v = Val(i as u32);
        if stays[i] && !node.args.is_empty() && unmerged(&form.block, form.condition, v) == v {
            fixed.push(v);
        }
    }
    let mut entry_facts = EntryFacts {
        fixed,
        trips: trips(form, &stays),
        checked: BTreeMap::new(),
    };
    for &load in &form.block.effects {
        if let Some(advance) = advance(form, pairs, &stays, load)
            && (advance.is_none() || entry_facts.trips.is_some())
        {
            entry_facts.checked.insert(load, advance);
        }
    }
    entry_facts
}

fn trips(form: &Form, stays: &[bool]) -> Option<Trips> {
    let LoopCondition::While(mut cond, mut when) = form.condition else {
        return None;
    };
    let nodes = &form.block.nodes;
    while nodes[cond.index()].op == Op::Not {
        (cond, when) = (nodes[cond.index()].args[0], !when);
    }
    let node = &nodes[cond.index()];
    let unequal = match node.op {
        Op::Icmp(Icmp::Ne) => when,
        Op::Icmp(Icmp::Eq) => !when,
        _ => false,
    };
    if !unequal {
        return None;
    }
    let (next, bound) = (node.args[0], node.args[1]);
    let &(slot, _) = form.slots.iter().find(|&&(_, v)| v == next)?;
    let sum = &nodes[next.index()];
    let counts = sum.op == Op::Add
        && sum.ty.width == Width::W32
        && nodes[sum.args[0].index()].op == Op::ReadS(slot);
    let Op::Const(step) = nodes[sum.args.get(1)?.index()].op else {
        return None;
    };
    let step = step as u32 as i32;
    let fits = step.unsigned_abs().is_power_of_two() && step != i32::MIN;
    let still = stays[bound.index()] && nodes[bound.index()].ty.vary == Vary::Wave;
    (counts && fits && still).then_some(Trips { slot, step, bound })
}

/// The step of a load's address; `None` if it has no constant one.
fn advance(
    form: &Form,
    pairs: &BTreeMap<u16, i64>,
    stays: &[bool],
    load: Val,
) -> Option<Option<Val>> {
    let nodes = &form.block.nodes;
    let plain = |v: Val| unmerged(&form.block, form.condition, v);
    let mut at = plain(nodes[load.index()].args[0]);
    if stays[at.index()] {
        return Some(None);
    }
    loop {
        let node = &nodes[at.index()];
        if let Some(n) = pair_read(&form.block, node)
            && pairs.contains_key(&n)
        {
            let next = plain(*form.pair_outs.get(&n)?);
            let sum = &nodes[next.index()];
            if sum.op != Op::Add {
                return None;
            }
            let (a, b) = (plain(sum.args[0]), plain(sum.args[1]));
            let step = if a == at {
                b
            } else if b == at {
                a
            } else {
                return None;
            };
            let uniform = form.kinds[step.index()] == Some(Kind::Affine(0));
            return (uniform && stays[step.index()]).then_some(Some(step));
        }
        let constant = |v: Val| matches!(nodes[v.index()].op, Op::Const(_));
        if node.op != Op::Add || node.ty.width != Width::W64 || !constant(node.args[1]) {
            return None;
        }
        at = plain(node.args[0]);
    }
}
