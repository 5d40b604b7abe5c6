//! Loop interchange: finds loops that may run inside the lane groups. A loop that only loads and
//! computes may run group by group: each group runs all iterations with its values in host
//! registers before the next group begins. Nothing is stored while it runs, so the order is not
//! observable. The trip count is decided by scalars, or by EXEC becoming 0; then each group runs as
//! many iterations as its own lanes need. The only branches inside are those decided by EXEC (see
//! [`if_conversion`]).
//!
//! Inside such a loop a lane value whose neighbours differ by a constant is one scalar: its value
//! in the group's first lane. This requires that iterations preserve the stride, which is proved
//! here, and that words do not wrap where they are extended to 64 bits, which the emitted code
//! checks. Wave values made of lanes' bits (EXEC, VCC, saved masks) are lane vectors in the loop.

use std::collections::{BTreeMap, BTreeSet};

use frontend::state::LANES;

use crate::analysis::liveness::Live;
use crate::analysis::uniformity::LoopEntry;
use crate::host;
use crate::ir::{Block, Func, Node, Op, Slot, Target, Val};
use if_conversion::Latch;
use strides::Strides;
use used::{Granularity, Masks, Used};

pub mod if_conversion;
pub mod lane_serial;
mod peel;
mod strides;
pub mod trips;
pub mod unmasked;
mod used;

/// Representation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar; lane n of the group has n times this added.
    Affine(i64),
    /// One vector for every four lanes; for a wave value, of its bits.
    Lanes,
}

/// Registers that hold one bit for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MaskPlace {
    /// EXEC.
    Exec,
    /// VCC.
    Vcc,
    /// s[n:n+1].
    Pair(u8),
}

impl MaskPlace {
    /// Its scalar slots.
    pub fn slots(self) -> [Option<Slot>; 2] {
        match self {
            MaskPlace::Exec => [Some(Slot::Exec), None],
            MaskPlace::Vcc => [Some(Slot::Vcc), None],
            MaskPlace::Pair(n) => [Some(Slot::Sgpr(n)), n.checked_add(1).map(Slot::Sgpr)],
        }
    }
}

/// A form of an iteration.
#[derive(Debug)]
pub struct Form {
    /// The iteration as one block.
    pub block: Block,
    /// The representation of each node that is needed.
    pub kinds: Vec<Option<Kind>>,
    /// VGPRs that are live after the iteration, with their new values.
    pub outs: Vec<(u16, Val)>,
    /// New values of pairs.
    pub pair_outs: BTreeMap<u16, Val>,
    /// Masks, with their new values.
    pub masks: BTreeMap<MaskPlace, Val>,
    /// Other scalars, with their new values.
    pub slots: Vec<(Slot, Val)>,
    /// What decides the successor.
    pub condition: LoopCondition,
}

/// The plan of a loop.
#[derive(Debug)]
pub struct Plan {
    /// An iteration. Its registers are loop-carried or live after the loop.
    pub form: Form,
    /// Facts that hold when the loop begins.
    pub entry_facts: trips::EntryFacts,
    /// An iteration of a group in which all active lanes continue.
    pub unmasked: Option<UnmaskedForm>,
    /// Only the first iterations run inside the lane groups, as many as each group can.
    pub peel: Option<Peel>,
    /// The blocks of the loop.
    pub blocks: Vec<usize>,
    /// Loop-carried VGPRs: read and written, or written and live behind the loop.
    pub carried: BTreeMap<u16, Kind>,
    /// Pairs v[n:n+1] that are loop-carried or invariant as one 64-bit scalar with this stride.
    pub pairs: BTreeMap<u16, i64>,
    /// Strides of VGPRs that the loop only reads.
    pub invariant: BTreeMap<u16, i64>,
    /// Must EXEC be all ones?
    pub full: bool,
    /// The loop's exit.
    pub exit: Target,
    /// Lanes in a group.
    pub group: usize,
}

/// An unmasked iteration (see [`unmasked`]).
#[derive(Debug)]
pub struct UnmaskedForm {
    /// The iteration.
    pub form: Form,
    /// Conditions and their required outcome on all lanes.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 before the iteration.
    pub zero: BTreeSet<MaskPlace>,
}

/// Requirements of the iterations of a peeled loop (see `interchange/peel.rs`).
#[derive(Debug)]
pub struct Peel {
    /// Conditions and their required outcome on all lanes of a group in each iteration.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 when the loop begins.
    pub zero: BTreeSet<MaskPlace>,
}

/// Constraints on the number of lanes in a group.
#[derive(Clone, Copy)]
struct Width {
    /// Lanes within which strides hold, if any.
    row: usize,
    /// Lanes in a host vector.
    per: usize,
    /// The group's size if the options set it.
    group: Option<u8>,
}

impl Width {
    /// Granularity of loops inside groups of such vectors.
    fn granularity(self) -> Granularity {
        match self.per {
            host::LANES.. => Granularity::WideGroups,
            _ => Granularity::Groups,
        }
    }

    /// The best group size for this number of host vectors.
    fn group(self, slices: usize) -> usize {
        let group = self.group.map(|lanes| usize::from(lanes).max(self.per));
        group.unwrap_or(slices * self.per).min(self.row)
    }
}

/// Condition for another iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopCondition {
    /// A truth value of the wave and the value for which the loop continues.
    While(Val, bool),
    /// Some lane remains in this mask (W64).
    Exec(Val),
    /// The lane remains in this mask; lanes run lane-serially and are active when an iteration
    /// begins.
    Lane(Val),
    /// Always: conditions have the assumed outcome, and the loop continues.
    Unmasked,
}

/// Is this node the mask of all lanes, given that EXEC is all ones throughout, or the bit of an
/// active lane?
pub fn is_all(block: &Block, condition: LoopCondition, node: &Node) -> bool {
    node.op == Op::ExecMask
        && matches!(condition, LoopCondition::While(..) | LoopCondition::Lane(_))
        && block.nodes[node.args[0].index()].op == Op::ReadS(Slot::Exec)
}

/// A new value without its merge under EXEC, where that is all ones.
pub fn unmerged(block: &Block, condition: LoopCondition, v: Val) -> Val {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::Select if is_all(block, condition, &block.nodes[node.args[0].index()]) => {
            unmerged(block, condition, node.args[1])
        }
        _ => v,
    }
}

/// The pair whose value at the start of the iteration a 64-bit value is.
pub fn pair_read(block: &Block, node: &Node) -> Option<u16> {
    let read = |i: usize| match block.nodes[node.args[i].index()].op {
        Op::ReadV(n) => Some(n),
        _ => None,
    };
    if node.op != Op::Pair {
        return None;
    }
    let (n, m) = (read(0)?, read(1)?);
    (n.checked_add(1) == Some(m)).then_some(n)
}

/// The mask register whose value at the start of the iteration a wave value is.
pub fn mask_read(block: &Block, node: &Node) -> Option<MaskPlace> {
    let read = |i: usize| match block.nodes[node.args[i].index()].op {
        Op::ReadS(Slot::Sgpr(n)) => Some(n),
        _ => None,
    };
    match node.op {
        Op::ReadS(Slot::Exec) => Some(MaskPlace::Exec),
        Op::ReadS(Slot::Vcc) => Some(MaskPlace::Vcc),
        Op::Pair => match (read(0)?, read(1)?) {
            (n, m) if n.checked_add(1) == Some(m) => Some(MaskPlace::Pair(n)),
            _ => None,
        },
        _ => None,
    }
}

/// Plans the loop that begins at block `head`, if it is suitable. `live` are the registers live
/// where a block begins, `row` is the number of lanes within which the facts in `entry` hold, `per`
/// the number of lanes in a host vector.
pub fn plan(
    f: &Func,
    head: usize,
    live: &[Live],
    entry: &LoopEntry,
    row: usize,
    per: usize,
    group: Option<u8>,
) -> Option<Plan> {
    if row < per {
        return None;
    }
    let mut width = Width { row, per, group };
    let converted = if_conversion::merge(f, head)?;
    let block = &converted.block;
    let condition = match converted.latch {
        Latch::Uniform { cond, back_when } => LoopCondition::While(cond, back_when),
        Latch::Exec { exec } => LoopCondition::Exec(exec),
    };
    let behind = converted.exit.block().map_or(Live::ALL, |b| live[b]);
    let masks = Masks::find(block);
    if matches!(condition, LoopCondition::Exec(_)) && !block.effects.is_empty() {
        return peel::plan(f, (converted, &masks), &live[head], entry, width);
    }
    let used = Used::find(
        f,
        &converted,
        condition,
        &masks,
        &behind,
        width.granularity(),
    )?;
    let find = |entry: &LoopEntry| {
        let used = (&used.needed[..], &used.vgprs);
        Strides::find((block, condition, &masks.nodes), used, entry)
    };
    let mut strides = find(entry)?;
    if row < LANES && block.effects.is_empty() && !strides.any_carried() {
        // Iterations do not profit from these strides, so a group may span several rows.
        strides = find(&LoopEntry::default())?;
        width.row = LANES;
    }
    let unmasked = match condition {
        LoopCondition::Exec(_) if strides.pairs.is_empty() => {
            peel::unmasked_form(&strides, block, &used)
        }
        _ => None,
    };
    let vectors = match unmasked {
        Some(_) => strides.vectors(),
        None => strides.vectors() + used.masks.len(),
    };
    let slices = match vectors {
        // Temporaries of the unmasked and the masked iteration take the rest of 16 registers.
        2..=3 if unmasked.is_some() && per <= host::LANES => 2,
        0..=3 => 4,
        4..=7 => 2,
        _ => 1,
    };
    let full =
        matches!(condition, LoopCondition::While(..)) || strides.any() || !block.effects.is_empty();
    let form = Form {
        block: converted.block,
        kinds: strides.kinds,
        outs: used.vgprs.into_iter().collect(),
        pair_outs: strides.pair_outs,
        masks: used.masks,
        slots: used.slots,
        condition,
    };
    Some(Plan {
        entry_facts: trips::entry_facts(&form, &strides.carried, &strides.pairs),
        form,
        unmasked,
        peel: None,
        blocks: converted.blocks,
        carried: strides.carried,
        pairs: strides.pairs,
        invariant: strides.invariant,
        full,
        exit: converted.exit,
        group: width.group(slices),
    })
}
