//! Loops that lanes leave, by their unmasked iterations (see [`super::unmasked`]). A loop without memory accesses
//! runs inside the lane groups as a whole, in a masked and an unmasked form. A loop with loads is peeled: each group runs
//! unmasked iterations as long as none of its lanes leaves; all groups must run the same number of them, and the general
//! loop continues from there. No lane has left then, so EXEC is unchanged.

use super::strides::Strides;
use super::used::{Masks, Used};
use super::{
    Form, Kind, LoopCondition, Peel, Plan, UnmaskedForm, Width, if_conversion, trips, unmasked,
};
use std::collections::BTreeMap;

use crate::analysis::liveness::Live;
use crate::analysis::uniformity::LoopEntry;
use crate::ir::{Block, Func, Op, Val};

/// The unmasked form of an iteration.
pub(super) fn unmasked_form(p: &Strides, block: &Block, used: &Used) -> Option<UnmaskedForm> {
    let unmasked = unmasked::unmasked(&unmasked::Iteration {
        block,
        needed: &used.needed,
        vgprs: &used.vgprs,
        slots: &used.slots,
        masks: &used.masks,
    })?;
    let needed = needed(&unmasked, used)?;
    let kinds = p.of_form(&unmasked.block, &needed)?;
    // Inactive lanes keep their values.
    let mut written = unmasked.vgprs.keys();
    let held = written.all(|n| p.carried.get(n) == Some(&Kind::Lanes));
    let constant = |v: &Val| match unmasked.block.nodes[v.index()].op {
        Op::Const(c) => c == 0 || c == u64::MAX,
        _ => false,
    };
    let held = held && unmasked.masks.values().all(constant);
    held.then_some(UnmaskedForm {
        tests: unmasked.tests,
        zero: unmasked.zero,
        form: Form {
            block: unmasked.block,
            kinds,
            outs: unmasked.vgprs.into_iter().collect(),
            pair_outs: BTreeMap::new(),
            masks: unmasked.masks,
            slots: unmasked.slots,
            condition: LoopCondition::Unmasked,
        },
    })
}

/// Which nodes of an unmasked iteration are used; nothing if it reads masks.
fn needed(unmasked: &unmasked::Unmasked, used: &Used) -> Option<Vec<bool>> {
    let mut needed = vec![false; unmasked.block.nodes.len()];
    let mut work: Vec<Val> = unmasked.vgprs.values().copied().collect();
    work.extend(unmasked.slots.iter().map(|s| s.1));
    work.extend(unmasked.tests.iter().map(|t| t.0));
    work.extend(&unmasked.block.effects);
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut needed[v.index()], true) {
            continue;
        }
        let node = &unmasked.block.nodes[v.index()];
        let of_masks = match node.op {
            Op::ReadS(slot) => used.masks.keys().any(|m| m.slots().contains(&Some(slot))),
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

/// Plans a loop with loads that lanes leave; `live` are the registers live where it begins.
pub(super) fn plan(
    f: &Func,
    (converted, masks): (if_conversion::IfConverted, &Masks),
    live: &Live,
    entry: &LoopEntry,
    width: Width,
) -> Option<Plan> {
    let if_conversion::Latch::Exec { exec, .. } = converted.latch else {
        return None;
    };
    // The general loop follows the unmasked iterations.
    let used = Used::find(
        f,
        &converted,
        LoopCondition::Exec(exec),
        masks,
        live,
        width.granularity(),
    )?;
    if !used.slots.is_empty() {
        // Groups would leave different scalars behind.
        return None;
    }
    let unmasked = unmasked::unmasked(&unmasked::Iteration {
        block: &converted.block,
        needed: &used.needed,
        vgprs: &used.vgprs,
        slots: &used.slots,
        masks: &used.masks,
    })?;
    if !unmasked.masks.is_empty() {
        return None;
    }
    let needed = needed(&unmasked, &used)?;
    let none = vec![false; needed.len()];
    let strides = Strides::find(
        (&unmasked.block, LoopCondition::Unmasked, &none),
        (&needed, &unmasked.vgprs),
        entry,
    )?;
    let slices = match strides.vectors() {
        0..=3 => 4,
        4..=7 => 2,
        _ => 1,
    };
    let form = Form {
        block: unmasked.block,
        kinds: strides.kinds,
        outs: unmasked.vgprs.into_iter().collect(),
        pair_outs: strides.pair_outs,
        masks: BTreeMap::new(),
        slots: Vec::new(),
        condition: LoopCondition::Unmasked,
    };
    Some(Plan {
        entry_facts: trips::entry_facts(&form, &strides.carried, &strides.pairs),
        form,
        unmasked: None,
        peel: Some(Peel {
            tests: unmasked.tests,
            zero: unmasked.zero,
        }),
        blocks: converted.blocks,
        carried: strides.carried,
        pairs: strides.pairs,
        invariant: strides.invariant,
        full: true,
        exit: converted.exit,
        group: width.group(slices),
    })
}
