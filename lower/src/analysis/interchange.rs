//! Which loops may run inside the lane groups. A loop that only loads and computes may run group by group:
//! each group goes through all iterations with its values in host registers before the next group begins. Nothing
//! is stored while it runs, so nobody can tell the order. The iterations are decided by scalars, or by EXEC becoming
//! 0, when each group goes as far as its own lanes want; branches inside are those that EXEC decides (see
//! [`if_conversion`]).
//!
//! Inside such a loop a lane value whose neighbours differ by a constant is one scalar: its value in the
//! group's first lane. That needs the values to keep their stride from iteration to iteration, which is found here,
//! and not to wrap where words become 64 bits wide, which the emitted code checks. Wave values that are made
//! of lanes' bits (EXEC, VCC, saved masks) are lane vectors there.

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

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar, to which lane n of the group adds n times this.
    Affine(i64),
    /// A vector for every four lanes; of a wave value the bits are that.
    Lanes,
}

/// Registers that hold a bit for each lane.
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
    /// The turn as one block.
    pub block: Block,
    /// How each node that is needed is held.
    pub kinds: Vec<Option<Kind>>,
    /// VGPRs that are live behind the iteration, with their new values.
    pub outs: Vec<(u8, Val)>,
    /// New values of pairs.
    pub pair_outs: BTreeMap<u8, Val>,
    /// Masks, with their new values.
    pub masks: BTreeMap<MaskPlace, Val>,
    /// Other scalars, with their new values.
    pub slots: Vec<(Slot, Val)>,
    /// What decides what comes behind it.
    pub condition: LoopCondition,
}

/// The plan of a loop.
#[derive(Debug)]
pub struct Plan {
    /// An iteration. Its registers are loop-carried or live behind the loop.
    pub form: Form,
    /// What is known of its iterations when the loop begins.
    pub known: trips::Known,
    /// An iteration of a group whose lanes that act all go on.
    pub unmasked: Option<UnmaskedForm>,
    /// Only its first iterations are made inside the lane groups, each group as many as it can.
    pub peel: Option<Peel>,
    /// The blocks that it was.
    pub blocks: Vec<usize>,
    /// Loop-carried VGPRs: read and written, or written and live behind the loop.
    pub carried: BTreeMap<u8, Kind>,
    /// Pairs v[n:n+1] that iterate, or stay, as one 64-bit scalar with this stride.
    pub pairs: BTreeMap<u8, i64>,
    /// Strides of VGPRs that the loop only reads.
    pub invariant: BTreeMap<u8, i64>,
    /// Must EXEC be all ones?
    pub full: bool,
    /// Where the loop leaves for.
    pub exit: Target,
    /// Lanes in a group.
    pub group: usize,
}

/// A unmasked iteration (see [`unmasked`]).
#[derive(Debug)]
pub struct UnmaskedForm {
    /// The turn.
    pub form: Form,
    /// What must come out how on all lanes.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 before.
    pub zero: BTreeSet<MaskPlace>,
}

/// What the iterations of a peeled loop need (see `interchange/peel.rs`).
#[derive(Debug)]
pub struct Peel {
    /// What must come out how on all lanes of a group for an iteration to be made.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 when the loop begins.
    pub zero: BTreeSet<MaskPlace>,
}

/// What is given of the number of lanes in a group.
#[derive(Clone, Copy)]
struct Width {
    /// Lanes within which strides hold, if there are any.
    row: usize,
    /// Lanes in a host vector.
    per: usize,
    /// What the group is to have, if that is said.
    group: Option<u8>,
}

impl Width {
    /// How loops inside groups of such vectors are run.
    fn granularity(self) -> Granularity {
        match self.per {
            host::LANES.. => Granularity::WideGroups,
            _ => Granularity::Groups,
        }
    }

    /// Lanes in a group for which so many host vectors would be best.
    fn group(self, slices: usize) -> usize {
        let group = self.group.map(|lanes| usize::from(lanes).max(self.per));
        group.unwrap_or(slices * self.per).min(self.row)
    }
}

/// What decides whether a loop makes another iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopCondition {
    /// A truth value of the wave: whether it is this.
    While(Val, bool),
    /// A lane is left in this (W64).
    Exec(Val),
    /// The lane is left in this; lanes run lane-serially, and act when an iteration begins.
    Lane(Val),
    /// Nothing: conditions came out as assumed, and the loop continues.
    Unmasked,
}

/// Is this node the mask of all lanes, when EXEC is all ones and stays that, or the bit of a lane that acts?
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

/// The pair that a 64-bit value is read from as it stood before.
pub fn pair_read(block: &Block, node: &Node) -> Option<u8> {
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

/// The mask register that a wave value is as it stood before.
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

/// Plans the loop that begins at block `head`, if there is one that suits. `live` are the registers wanted
/// where a block begins, `row` is the number of lanes within which the facts in `entry` hold,
/// `per` that of lanes in a host vector.
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
        // Nothing that iterations compute is the better for them, so a group may have several rows.
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
        2..=3 if unmasked.is_some() => 2,
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
        known: trips::known(&form, &strides.carried, &strides.pairs),
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
