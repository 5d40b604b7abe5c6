//! Group sizes of a segment's loops, by its nodes and the loads that it fuses.

use frontend::op::Space;
use frontend::state::LANES;

use super::confined::{Confinement, only_exec};
use crate::analysis::schedule::{Leaves, Schedule, Segment};
use crate::ir::memory::load_or_store;
use crate::ir::{Block, LaneFn, Op, Val, Width};
use crate::legalize::{BlockFacts, Region};
use crate::maps::HashMap;

/// Has the segment no loop?
pub(super) fn is_empty(segment: &Segment) -> bool {
    segment.stores.is_empty() && segment.spills.is_empty() && segment.ballots.is_empty()
}

/// Maximum number of lanes in a group, where latency is low.
const MOST_LANES: usize = 32;

/// Maximum number of values of a segment that is bound by memory.
const FEW: usize = 32;

impl BlockFacts {
    /// Lanes in a group of the unmasked loops of a segment that fuses these loads. Where results
    /// have a long latency the group is larger than the registers hold: the pressure limit is
    /// `pressure` times their number. Loads that rows share are done once. Where memory is far, and
    /// the loaded data is hardly used, lines are taken one at a time: with two, a streaming kernel
    /// takes 7.6 ms on a server, not 6.9.
    pub(in crate::legalize) fn group_of(
        &self,
        region: &Region<'_>,
        block: &Block,
        segment: &Segment,
        loads: &[Val],
    ) -> usize {
        let shared = |load: &Val| {
            let affine = self.affine(*load);
            affine.is_some_and(|affine| affine.alike && !affine.whole)
        };
        let (pressure, most) = match waits(block, segment) && region.options().host.is_wide() {
            true if region.has_masks() => (4, LANES),
            true => (2, MOST_LANES),
            false if region.has_masks() && loads.iter().any(shared) => (1, LANES),
            false => (1, MOST_LANES),
        };
        let pressure = if region.options().baseline {
            1
        } else {
            pressure
        };
        let line = |&load: &Val| {
            let access = load_or_store(block.nodes[load.index()].op);
            let memory = access.is_some_and(|(_, space, ..)| space != Space::Lds);
            let affine = self.affine(load);
            memory && affine.is_some_and(|affine| affine.whole && affine.stride != 0)
        };
        let far = region.has_masks()
            && !region.options().baseline
            && region.options().host.is_memory_far();
        let streams = far && pressure == 1 && segment.nodes.len() <= FEW && loads.iter().any(line);
        let group = match region.options().group {
            Some(lanes) => usize::from(lanes),
            None if region.options().is_narrow(segment) || streams => region.per(),
            None => region.per() * slices(block, segment, pressure),
        };
        group.clamp(region.per(), most)
    }
}

/// Is latency so long that interleaving more lanes gains more than the spills cost?
fn waits(block: &Block, segment: &Segment) -> bool {
    let slow = |&v: &Val| {
        matches!(
            block.nodes[v.index()].op,
            Op::FDiv(..)
                | Op::FSqrt(..)
                | Op::FRsq(_)
                | Op::Call(LaneFn::ExpF32 | LaneFn::LogF32, _)
        )
    };
    segment.nodes.iter().any(slow)
}

/// Host vectors in an unmasked group, by the maximum number of live lane values; the pressure limit
/// is `pressure` times the number of registers.
fn slices(block: &Block, segment: &Segment, pressure: usize) -> usize {
    let mut last_use: HashMap<Val, usize> = HashMap::default();
    let here: HashMap<Val, usize> = segment
        .nodes
        .iter()
        .enumerate()
        .map(|(i, &v)| (v, i))
        .collect();
    for (i, &v) in segment.nodes.iter().enumerate() {
        for &a in block.nodes[v.index()].args.iter() {
            if here.contains_key(&a) {
                last_use.insert(a, i);
            }
        }
    }
    let end = segment.nodes.len();
    for &(_, v) in &segment.stores {
        last_use.insert(v, end);
    }
    for &v in segment
        .spills
        .iter()
        .map(|(v, _)| v)
        .chain(&segment.ballots)
    {
        last_use.insert(v, end);
    }
    let mut ends = vec![0usize; end + 1];
    let (mut alive, mut most) = (0usize, 0usize);
    for (i, &v) in segment.nodes.iter().enumerate() {
        let size = if block.nodes[v.index()].ty.width == Width::W64 {
            2
        } else {
            1
        };
        if let Some(&last) = last_use.get(&v) {
            alive += size;
            ends[last] += size;
        }
        most = most.max(alive);
        alive -= ends[i].min(alive);
    }
    match most.div_ceil(pressure) {
        0..=4 => 4,
        5..=8 => 2,
        _ => 1,
    }
}

/// May the masked loop skip groups without an active lane? Only if every result is confined to
/// active lanes: merged stores into the register itself, masks and-ed with EXEC, and values of which
/// the rest of the block uses active lanes only.
pub(super) fn skippable(
    block: &Block,
    plan: &Schedule,
    leaves: &Leaves,
    segment: &Segment,
    confinement: &mut Confinement,
) -> bool {
    let op = |v: Val| block.nodes[v.index()].op;
    let merged = |&(n, v): &(u16, Val)| {
        let node = &block.nodes[v.index()];
        // A value from an earlier segment was merged under an EXEC that this one does not test.
        segment.nodes.contains(&v)
            && node.op == Op::Select
            && op(node.args[0]) == Op::ExecMask
            && (block.is_free_merge(node) || op(node.args[2]) == Op::ReadV(n))
    };
    let confined = |&v: &Val| {
        let node = &block.nodes[v.index()];
        node.op == Op::And && node.args.iter().any(|&a| op(a) == Op::ExecMask)
    };
    let spills = || segment.spills.iter().map(|&(v, _)| v);
    segment.stores.iter().all(merged)
        && segment.ballots.iter().all(confined)
        && (segment.spills.is_empty()
            || only_exec(block, segment)
                .is_some_and(|exec| confinement.holds(block, plan, leaves, exec, spills())))
}
