//! Classifies the values of a parallel region by how a lane group holds them: as a scalar, as a mask of the group's
//! lanes, or as lanes.

use std::collections::{BTreeMap, BTreeSet};

use super::{Refusal, Request, condition, slots_of};
use crate::analysis::interchange::{MaskPlace, mask_read};
use crate::analysis::liveness::Live;
use crate::analysis::schedule::{self, Class};
use crate::ir::{Block, Icmp, Node, Op, Slot, Val, Vary, Width};

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One scalar, the same in all groups.
    Scalar,
    /// A 64-bit mask, of which a group holds the bits of its own lanes.
    Mask,
    /// Whether a mask is empty or not; differs between groups.
    Test,
    /// The low or high word of a mask.
    Word,
    /// Lanes.
    Lanes,
    /// Derived from masks or tests in a way that a group cannot compute from its own lanes.
    Unknown,
}

/// Plan of a block of a parallel region.
#[derive(Debug)]
pub struct BlockPlan {
    /// By node: how it is held.
    pub kinds: Vec<Kind>,
    /// By node: whether it is computed.
    pub needed: Vec<bool>,
    /// Masks held as lane masks at the block's entry; the other slots are scalars.
    pub masks_in: BTreeSet<MaskPlace>,
    /// The same at its end.
    pub masks_out: BTreeSet<MaskPlace>,
    /// Masks that the block writes and that are live at its end.
    pub masks: Vec<(MaskPlace, Val)>,
    /// Scalar slots that the block writes and that are live at its end.
    pub slots: Vec<(Slot, Val)>,
    /// VGPRs that the block writes and that are live at its end.
    pub vgprs: Vec<(u16, Val)>,
}

/// Masks and scalars that a block writes and that are live at its end.
#[derive(Debug, Default)]
struct Writes {
    masks: Vec<(MaskPlace, Val)>,
    slots: Vec<(Slot, Val)>,
}

/// Plans the blocks of a region that ends at `exit`; also returns the masks that are held as lane masks at the exit.
/// Refused if a value that is used cannot be computed group by group.
pub(super) fn plan(
    request: Request<'_>,
    blocks: &[usize],
    exit: usize,
) -> Result<(BTreeMap<usize, BlockPlan>, BTreeSet<MaskPlace>), Refusal> {
    let f = request.f;
    let mut masks_in: BTreeMap<usize, BTreeSet<MaskPlace>> = BTreeMap::new();
    for &b in blocks {
        masks_in.insert(b, BTreeSet::from([MaskPlace::Exec]));
    }
    masks_in.insert(exit, BTreeSet::from([MaskPlace::Exec]));
    let mut changed = true;
    while changed {
        changed = false;
        for &b in blocks {
            let block = &f.blocks[b];
            let kinds = classify(request, block, &masks_in[&b]);
            let live = &request.lives.end[b];
            let writes = writes(block, &kinds, live).ok_or(Refusal::Mask(b))?;
            let out = masks_behind(&masks_in[&b], block, &writes, live).ok_or(Refusal::Mask(b))?;
            for to in block.term.targets().filter_map(|t| t.block()) {
                let live = &request.lives.start[to];
                let into = masks_in.get_mut(&to).ok_or(Refusal::Exits)?;
                for &place in &out {
                    let wanted = slots_of(place).any(|slot| live.has_slot(slot));
                    changed |= wanted && into.insert(place);
                }
                if has_overlap(into) {
                    return Err(Refusal::Mask(b));
                }
            }
        }
    }
    let mut plans = BTreeMap::new();
    for &b in blocks {
        let block = &f.blocks[b];
        let masks = masks_in[&b].clone();
        let kinds = classify(request, block, &masks);
        let live = &request.lives.end[b];
        let writes = writes(block, &kinds, live).ok_or(Refusal::Mask(b))?;
        let masks_out = masks_behind(&masks, block, &writes, live).ok_or(Refusal::Mask(b))?;
        let vgprs = block
            .writes_v
            .iter()
            .filter(|&&(n, v)| live.has(n) && block.nodes[v.index()].op != Op::ReadV(n));
        let mut plan = BlockPlan {
            needed: Vec::new(),
            masks_in: masks,
            masks_out,
            masks: writes.masks,
            slots: writes.slots,
            vgprs: vgprs.copied().collect(),
            kinds,
        };
        plan.needed = needed(block, &plan).map_err(|v| Refusal::Value(b, v))?;
        plans.insert(b, plan);
    }
    Ok((plans, masks_in.remove(&exit).ok_or(Refusal::Exits)?))
}

/// Do two masks share a register?
fn has_overlap(masks: &BTreeSet<MaskPlace>) -> bool {
    masks.iter().any(|place| match *place {
        MaskPlace::Pair(n) => n
            .checked_add(1)
            .is_some_and(|n| masks.contains(&MaskPlace::Pair(n))),
        MaskPlace::Exec | MaskPlace::Vcc => false,
    })
}

/// Classifies the nodes of a block, given the masks that are held as lane masks at its entry.
fn classify(request: Request<'_>, block: &Block, masks: &BTreeSet<MaskPlace>) -> Vec<Kind> {
    let mut kinds: Vec<Kind> = Vec::with_capacity(block.nodes.len());
    for node in &block.nodes {
        let kind = if node.ty.vary == Vary::Wave {
            of_wave(block, node, &kinds, masks)
        } else {
            of_lanes(request, block, node, &kinds)
        };
        kinds.push(kind);
    }
    kinds
}

fn of_wave(block: &Block, node: &Node, kinds: &[Kind], masks: &BTreeSet<MaskPlace>) -> Kind {
    let kind = |v: Val| kinds[v.index()];
    let is_zero = |v: Val| block.nodes[v.index()].op == Op::Const(0);
    if mask_read(block, node).is_some_and(|place| masks.contains(&place)) {
        return Kind::Mask;
    }
    let has = |wanted: Kind| node.args.iter().any(|&a| kind(a) == wanted);
    match node.op {
        Op::Ballot => Kind::Mask,
        Op::ReadS(slot) => match masks
            .iter()
            .any(|&place| slots_of(place).any(|s| s == slot))
        {
            true => Kind::Word,
            false => Kind::Scalar,
        },
        Op::And | Op::Or | Op::Xor | Op::Not if node.ty.width == Width::W64 && has(Kind::Mask) => {
            match has(Kind::Unknown) {
                true => Kind::Unknown,
                false => Kind::Mask,
            }
        }
        Op::Select if node.ty.width == Width::W64 && has(Kind::Mask) => {
            let branches = node.args[1..].iter();
            let mut branches = branches.map(|&a| kind(a));
            match kind(node.args[0]) == Kind::Scalar
                && branches.all(|k| matches!(k, Kind::Mask | Kind::Scalar))
            {
                true => Kind::Mask,
                false => Kind::Unknown,
            }
        }
        Op::Icmp(Icmp::Eq | Icmp::Ne)
            if kind(node.args[0]) == Kind::Mask && is_zero(node.args[1]) =>
        {
            Kind::Test
        }
        Op::Not if kind(node.args[0]) == Kind::Test => Kind::Test,
        Op::Lo | Op::Hi if kind(node.args[0]) == Kind::Mask => Kind::Word,
        Op::LaneAt => Kind::Unknown,
        // A store has no value; only its operands matter.
        Op::Store(..) => match has(Kind::Mask) || has(Kind::Test) || has(Kind::Word) {
            true => Kind::Unknown,
            false => Kind::Lanes,
        },
        Op::ScalarLoad(..) | Op::Result(_) => {
            match node.args.iter().all(|&a| kind(a) == Kind::Scalar) {
                true => Kind::Scalar,
                false => Kind::Unknown,
            }
        }
        _ => match node.args.iter().all(|&a| kind(a) == Kind::Scalar) {
            true => Kind::Scalar,
            false => Kind::Unknown,
        },
    }
}

fn of_lanes(request: Request<'_>, block: &Block, node: &Node, kinds: &[Kind]) -> Kind {
    let computed = |kind: Kind| matches!(kind, Kind::Scalar | Kind::Lanes);
    let class = |node: &Node| schedule::classify(node, request.host);
    match node.op {
        Op::MaskFromBits | Op::ExecMask => match kinds[node.args[0].index()] {
            Kind::Mask | Kind::Scalar => return Kind::Lanes,
            _ => return Kind::Unknown,
        },
        Op::Result(_) => {
            let of = &block.nodes[node.args[0].index()];
            let inline = schedule::is_inline(of, request.host.is_wide());
            if !inline && !matches!(of.op, Op::Load(..)) {
                return Kind::Unknown;
            }
        }
        Op::Load(..) | Op::ReadV(_) | Op::LaneId => {}
        _ if class(node) == Class::Lane => {}
        _ => return Kind::Unknown,
    }
    match node.args.iter().all(|&a| computed(kinds[a.index()])) {
        true => Kind::Lanes,
        false => Kind::Unknown,
    }
}

/// The masks and scalars that a block writes and that are live at its end. `None` if a word of a mask is written
/// without the other word of the same mask in the same pair.
fn writes(block: &Block, kinds: &[Kind], live: &Live) -> Option<Writes> {
    let mut found = Writes::default();
    let of = |slot: Slot| block.writes_s.iter().find(|w| w.0 == slot).map(|w| w.1);
    let half = |v: Val, op: Op| {
        let node = &block.nodes[v.index()];
        (node.op == op && kinds[v.index()] == Kind::Word).then(|| node.args[0])
    };
    for &(slot, v) in &block.writes_s {
        if !live.has_slot(slot) || block.nodes[v.index()].op == Op::ReadS(slot) {
            continue;
        }
        match (slot, kinds[v.index()]) {
            (Slot::Exec, _) => found.masks.push((MaskPlace::Exec, v)),
            (Slot::Vcc, Kind::Mask) => found.masks.push((MaskPlace::Vcc, v)),
            (_, Kind::Scalar) => found.slots.push((slot, v)),
            (Slot::Sgpr(n), Kind::Word) => {
                let low = half(v, Op::Lo).map(|mask| (n, mask));
                let high = || Some((n.checked_sub(1)?, half(v, Op::Hi)?));
                let (low, mask) = low.or_else(high)?;
                let whole = half(of(Slot::Sgpr(low))?, Op::Lo) == Some(mask)
                    && half(of(Slot::Sgpr(low + 1))?, Op::Hi) == Some(mask);
                let place = MaskPlace::Pair(low);
                if !whole {
                    return None;
                }
                if !found.masks.contains(&(place, mask)) {
                    found.masks.push((place, mask));
                }
            }
            _ => return None,
        }
    }
    Some(found)
}

/// The masks that are held as lane masks at a block's end. `None` if the block writes one word of such a mask and the
/// other is live, since nothing holds it by itself.
fn masks_behind(
    before: &BTreeSet<MaskPlace>,
    block: &Block,
    writes: &Writes,
    live: &Live,
) -> Option<BTreeSet<MaskPlace>> {
    let is_written = |slot: Slot| {
        let mut all = block.writes_s.iter();
        all.any(|&(written, v)| written == slot && block.nodes[v.index()].op != Op::ReadS(slot))
    };
    let mut behind = BTreeSet::new();
    for &place in before {
        if place == MaskPlace::Exec || !slots_of(place).any(is_written) {
            behind.insert(place);
        } else if slots_of(place).any(|slot| !is_written(slot) && live.has_slot(slot)) {
            return None;
        }
    }
    behind.extend(writes.masks.iter().map(|w| w.0));
    Some(behind)
}

/// The nodes used by a block's effects, its branch and its live writes; an error if one of them cannot be computed.
fn needed(block: &Block, plan: &BlockPlan) -> Result<Vec<bool>, Val> {
    let mut needed = vec![false; block.nodes.len()];
    let mut work: Vec<Val> = block.effects.clone();
    work.extend(plan.masks.iter().map(|w| w.1));
    work.extend(plan.slots.iter().map(|w| w.1));
    work.extend(plan.vgprs.iter().map(|w| w.1));
    work.extend(condition(&block.term));
    while let Some(v) = work.pop() {
        if std::mem::replace(&mut needed[v.index()], true) {
            continue;
        }
        let node = &block.nodes[v.index()];
        match plan.kinds[v.index()] {
            Kind::Unknown | Kind::Word => return Err(v),
            // The mask is read as a whole; its words are not computed.
            Kind::Mask if mask_read(block, node).is_some_and(|p| plan.masks_in.contains(&p)) => {}
            Kind::Mask | Kind::Test | Kind::Scalar | Kind::Lanes => work.extend(node.args.iter()),
        }
    }
    Ok(needed)
}
