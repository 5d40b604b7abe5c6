//! Loops that lanes leave, by their quick turns (see [`super::unmasked`]). A loop without memory accesses goes inside
//! the lane groups as a whole and has a quick form beside; one that loads is peeled: each group makes as many quick
//! turns as all of its lanes go on for, which must be the same number, and the general loop goes on from there. No
//! lane has left then, so EXEC is what it was.

use super::strides::Strides;
use super::used::{Masks, Wanted};
use super::{Form, Kind, Peel, Plan, Quickly, Turns, Width, if_conversion, trips, unmasked};
use std::collections::BTreeMap;

use crate::ir::{Block, Func, Op, Val};
use crate::liveness::Live;
use crate::uniformity::LoopEntry;

/// The quick form of a turn.
pub(super) fn quickly(p: &Strides, block: &Block, wanted: &Wanted) -> Option<Quickly> {
    let quick = unmasked::quick(&unmasked::Turn {
        block,
        needed: &wanted.needed,
        vgprs: &wanted.vgprs,
        slots: &wanted.slots,
        masks: &wanted.masks,
    })?;
    let needed = needed(&quick, wanted)?;
    let kinds = p.of_form(&quick.block, &needed)?;
    // Lanes that do not act keep what they have.
    let mut written = quick.vgprs.keys();
    let held = written.all(|n| p.carried.get(n) == Some(&Kind::Lanes));
    let constant = |v: &Val| match quick.block.nodes[v.index()].op {
        Op::Const(c) => c == 0 || c == u64::MAX,
        _ => false,
    };
    let held = held && quick.masks.values().all(constant);
    held.then_some(Quickly {
        tests: quick.tests,
        zero: quick.zero,
        form: Form {
            block: quick.block,
            kinds,
            outs: quick.vgprs.into_iter().collect(),
            pair_outs: BTreeMap::new(),
            masks: quick.masks,
            slots: quick.slots,
            turn: Turns::Quick,
        },
    })
}

/// Which nodes of a quick turn are wanted; nothing if it looks at masks.
fn needed(quick: &unmasked::Quick, wanted: &Wanted) -> Option<Vec<bool>> {
    let mut needed = vec![false; quick.block.nodes.len()];
    let mut work: Vec<Val> = quick.vgprs.values().copied().collect();
    work.extend(quick.slots.iter().map(|s| s.1));
    work.extend(quick.tests.iter().map(|t| t.0));
    work.extend(&quick.block.effects);
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut needed[v.index()], true) {
            continue;
        }
        let node = &quick.block.nodes[v.index()];
        let of_masks = match node.op {
            Op::ReadS(slot) => wanted.masks.keys().any(|m| m.slots().contains(&Some(slot))),
            Op::Ballot | Op::ExecMask | Op::MaskFromBits => true,
            _ => false,
        };
        if of_masks {
            return None;
        }
        match node.op {
            // All lanes act.
            Op::Load(..) => work.push(node.args[0]),
            _ => work.extend(node.args.iter()),
        }
    }
    Some(needed)
}

/// Plans a loop that loads and that lanes leave; `live` are the registers wanted where it begins.
pub(super) fn plan(
    f: &Func,
    (merged, masks): (if_conversion::Merged, &Masks),
    live: &Live,
    entry: &LoopEntry,
    width: Width,
) -> Option<Plan> {
    let if_conversion::Latch::Exec { exec, .. } = merged.latch else {
        return None;
    };
    // The general loop is what comes behind the turns.
    let wanted = Wanted::find(f, &merged, Turns::Exec(exec), masks, live, width.rounds())?;
    if !wanted.slots.is_empty() {
        // Groups would leave different scalars behind.
        return None;
    }
    let quick = unmasked::quick(&unmasked::Turn {
        block: &merged.block,
        needed: &wanted.needed,
        vgprs: &wanted.vgprs,
        slots: &wanted.slots,
        masks: &wanted.masks,
    })?;
    if !quick.masks.is_empty() {
        return None;
    }
    let needed = needed(&quick, &wanted)?;
    let none = vec![false; needed.len()];
    let strides = Strides::find(
        (&quick.block, Turns::Quick, &none),
        (&needed, &quick.vgprs),
        entry,
    )?;
    let slices = match strides.vectors() {
        0..=3 => 4,
        4..=7 => 2,
        _ => 1,
    };
    let form = Form {
        block: quick.block,
        kinds: strides.kinds,
        outs: quick.vgprs.into_iter().collect(),
        pair_outs: strides.pair_outs,
        masks: BTreeMap::new(),
        slots: Vec::new(),
        turn: Turns::Quick,
    };
    Some(Plan {
        known: trips::known(&form, &strides.carried, &strides.pairs),
        form,
        quick: None,
        peel: Some(Peel {
            tests: quick.tests,
            zero: quick.zero,
        }),
        blocks: merged.blocks,
        carried: strides.carried,
        pairs: strides.pairs,
        invariant: strides.invariant,
        full: true,
        exit: merged.exit,
        group: width.group(slices),
    })
}
