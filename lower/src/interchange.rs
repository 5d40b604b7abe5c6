//! Which loops may run inside the lane groups. A loop that only loads and computes may run group by group:
//! each group goes through all turns with its values in host registers before the next group begins. Nothing
//! is stored while it runs, so nobody can tell the order. The turns are decided by scalars, or by EXEC becoming
//! 0, when each group goes as far as its own lanes want; branches inside are those that EXEC decides (see
//! [`merge`]).
//!
//! Inside such a loop a lane value whose neighbours differ by a constant is one scalar: its value in the
//! group's first lane. That needs the values to keep their stride from turn to turn, which is found here,
//! and not to wrap where words become 64 bits wide, which the emitted code checks. Wave values that are made
//! of lanes' bits (EXEC, VCC, saved masks) are lane vectors there.

use std::collections::{BTreeMap, BTreeSet};

use crate::facts::{LoopEntry, pair_of};
use crate::ir::{Block, Func, Node, Op, Slot, Target, Val, Vary, Width};
use crate::liveness::Live;
use merge::Latch;
use wanted::{Masks, Wanted};

pub mod merge;
pub mod quick;
pub mod trips;
mod wanted;

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

/// A form of a turn.
#[derive(Debug)]
pub struct Form {
    /// The turn as one block.
    pub block: Block,
    /// How each node that is needed is held.
    pub kinds: Vec<Option<Kind>>,
    /// VGPRs wanted behind the turn, with their new values.
    pub outs: Vec<(u8, Val)>,
    /// New values of pairs.
    pub pair_outs: BTreeMap<u8, Val>,
    /// Masks, with their new values.
    pub masks: BTreeMap<MaskPlace, Val>,
    /// Other scalars, with their new values.
    pub slots: Vec<(Slot, Val)>,
    /// What decides what comes behind it.
    pub turn: Turns,
}

/// The plan of a loop.
#[derive(Debug)]
pub struct Plan {
    /// A turn. Its registers are those that go round or are wanted behind the loop.
    pub form: Form,
    /// What is known of its turns when the loop begins.
    pub known: trips::Known,
    /// A turn of a group all of whose lanes act and go on.
    pub quick: Option<Quickly>,
    /// The blocks that it was.
    pub blocks: Vec<usize>,
    /// VGPRs that go round: read and written, or written and wanted behind the loop.
    pub carried: BTreeMap<u8, Kind>,
    /// Pairs v[n:n+1] that go round, or stay, as one 64-bit scalar with this stride.
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

/// A quick turn (see [`quick`]).
#[derive(Debug)]
pub struct Quickly {
    /// The turn.
    pub form: Form,
    /// What must come out how on all lanes.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 before.
    pub zero: BTreeSet<MaskPlace>,
}

/// What decides whether a loop goes round once more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// A truth value of the wave: whether it is this.
    While(Val, bool),
    /// A lane is left in this (W64).
    Exec(Val),
    /// Nothing: conditions came out as assumed, and it goes round.
    Quick,
}

/// Most nodes of a loop.
const MAX_NODES: usize = 600;

/// Largest stride of a word whose carry into the high word is taken to be rare.
const SMALL: i64 = 1 << 24;

/// Is this node the mask of all lanes, when EXEC is all ones and stays that?
pub fn is_all(block: &Block, turn: Turns, node: &Node) -> bool {
    node.op == Op::ExecMask
        && matches!(turn, Turns::While(..))
        && block.nodes[node.args[0].index()].op == Op::ReadS(Slot::Exec)
}

/// A new value without its merge under EXEC, where that is all ones.
pub fn unmerged(block: &Block, turn: Turns, v: Val) -> Val {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::Select if is_all(block, turn, &block.nodes[node.args[0].index()]) => {
            unmerged(block, turn, node.args[1])
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

struct Planner<'a> {
    block: &'a Block,
    turn: Turns,
    /// Which nodes are masks.
    is_mask: &'a [bool],
    vgprs: BTreeMap<u8, Kind>,
    pairs: BTreeMap<u8, i64>,
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
    let merged = merge::merge(f, head)?;
    let block = &merged.block;
    if block.nodes.len() > MAX_NODES || block.writes_s.iter().any(|&(s, _)| s == Slot::Mode) {
        return None;
    }
    let turn = match merged.latch {
        Latch::Uniform { cond, back_when } => Turns::While(cond, back_when),
        Latch::Exec { exec, .. } => Turns::Exec(exec),
    };
    let behind = merged.exit.block().map_or(Live::ALL, |b| live[b]);
    let masks = Masks::find(block);
    let wanted = Wanted::find(f, &merged, turn, &masks, &behind)?;
    let needed = &wanted.needed;
    let read: BTreeSet<u8> = block
        .nodes
        .iter()
        .zip(needed)
        .filter_map(|(node, &needed)| match node.op {
            Op::ReadV(n) if needed => Some(n),
            _ => None,
        })
        .collect();
    let mut p = Planner {
        block,
        turn,
        is_mask: &masks.nodes,
        vgprs: read
            .iter()
            .map(|n| {
                let stride = entry.vgprs.get(n).map(|&s| i64::from(s as i32));
                (*n, stride.map_or(Kind::Lanes, Kind::Affine))
            })
            .collect(),
        pairs: entry
            .pairs
            .iter()
            .filter(|(n, _)| {
                read.contains(n) && n.checked_add(1).is_some_and(|m| read.contains(&m))
            })
            .map(|(&n, &s)| (n, s as i64))
            .collect(),
    };
    p.separate();
    let written = &wanted.vgprs;
    // Strides that a turn does not keep are given up until all are kept.
    let kinds = loop {
        let kinds = p.kinds(needed)?;
        if p.kept(&kinds, written) {
            break kinds;
        }
    };
    let pair_outs: BTreeMap<u8, Val> = p
        .pairs
        .keys()
        .filter_map(|&n| {
            let (lo, hi) = (written.get(&n)?, written.get(&(n + 1))?);
            Some((n, pair_of(block, *lo, *hi)?))
        })
        .collect();
    let in_pair = |n: u8| {
        p.pairs.contains_key(&n) || n.checked_sub(1).is_some_and(|m| p.pairs.contains_key(&m))
    };
    let mut carried = BTreeMap::new();
    let mut invariant = BTreeMap::new();
    for (&n, &v) in written {
        if !in_pair(n) {
            let kind = p.vgprs.get(&n).copied().or(kinds[v.index()])?;
            carried.insert(n, kind);
        }
    }
    for (&n, &kind) in &p.vgprs {
        if let Kind::Affine(stride) = kind
            && !carried.contains_key(&n)
            && !in_pair(n)
        {
            invariant.insert(n, stride);
        }
    }
    let pairs = p.pairs.clone();
    let quick = match turn {
        Turns::Exec(_) if pairs.is_empty() => quickly(&p, &wanted, &carried),
        _ => None,
    };
    let lanes = carried.values().filter(|&&k| k == Kind::Lanes).count();
    let vectors = match quick {
        Some(_) => lanes,
        None => lanes + wanted.masks.len(),
    };
    let group = match group {
        Some(lanes) => usize::from(lanes).max(per),
        None => match vectors {
            2..=3 if quick.is_some() => 2 * per,
            0..=3 => 4 * per,
            4..=7 => 2 * per,
            _ => per,
        },
    };
    if row < per {
        return None;
    }
    let affine = |kind: &Kind| matches!(kind, Kind::Affine(_));
    let full = matches!(turn, Turns::While(..))
        || !pairs.is_empty()
        || p.vgprs.values().any(affine)
        || !block.effects.is_empty();
    let outs = written.iter().map(|(&n, &v)| (n, v)).collect();
    let form = Form {
        block: merged.block,
        kinds,
        outs,
        pair_outs,
        masks: wanted.masks,
        slots: wanted.slots,
        turn,
    };
    Some(Plan {
        known: trips::known(&form, &carried, &pairs),
        form,
        quick,
        blocks: merged.blocks,
        carried,
        pairs,
        invariant,
        full,
        exit: merged.exit,
        group: group.min(row),
    })
}

/// The quick form of a turn.
fn quickly(p: &Planner<'_>, wanted: &Wanted, carried: &BTreeMap<u8, Kind>) -> Option<Quickly> {
    let quick = quick::quick(&quick::Turn {
        block: p.block,
        needed: &wanted.needed,
        vgprs: &wanted.vgprs,
        slots: &wanted.slots,
        masks: &wanted.masks,
    })?;
    let mut needed = vec![false; quick.block.nodes.len()];
    let mut work: Vec<Val> = quick.vgprs.values().copied().collect();
    work.extend(quick.slots.iter().map(|s| s.1));
    work.extend(quick.tests.iter().map(|t| t.0));
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
        work.extend(node.args.iter());
    }
    let none = vec![false; needed.len()];
    let planner = Planner {
        block: &quick.block,
        turn: Turns::Quick,
        is_mask: &none,
        vgprs: p.vgprs.clone(),
        pairs: BTreeMap::new(),
    };
    let kinds = planner.kinds(&needed)?;
    let held = quick.vgprs.iter().all(|(n, v)| match carried.get(n) {
        Some(Kind::Lanes) => true,
        kind => kind.copied() == kinds[v.index()],
    });
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

impl Planner<'_> {
    /// A VGPR belongs to one pair at most.
    fn separate(&mut self) {
        let mut last = None;
        self.pairs.retain(|&n, _| {
            let apart = last.is_none_or(|m: u8| m + 1 < n);
            if apart {
                last = Some(n);
            }
            apart
        });
    }

    fn kinds(&self, needed: &[bool]) -> Option<Vec<Option<Kind>>> {
        let mut kinds: Vec<Option<Kind>> = vec![None; needed.len()];
        for (i, node) in self.block.nodes.iter().enumerate() {
            if self.is_mask[i] {
                kinds[i] = Some(Kind::Lanes);
            } else if node.ty.vary == Vary::Wave && needed[i] || is_all(self.block, self.turn, node)
            {
                kinds[i] = Some(Kind::Affine(0));
            } else if unmerged(self.block, self.turn, Val(i as u32)).index() != i {
                kinds[i] = kinds[node.args[1].index()];
            } else if needed[i] {
                kinds[i] = Some(self.kind(node, &kinds)?);
            }
        }
        Some(kinds)
    }

    fn kind(&self, node: &Node, kinds: &[Option<Kind>]) -> Option<Kind> {
        let stride = |i: usize| match kinds[node.args[i].index()] {
            Some(Kind::Affine(s)) => Some(s),
            _ => None,
        };
        let constant = |i: usize| match self.block.nodes[node.args[i].index()].op {
            Op::Const(c) => Some(c),
            _ => None,
        };
        let cut = |s: i64| {
            if node.ty.width == Width::W64 {
                s
            } else {
                i64::from(s as i32)
            }
        };
        let known = match node.op {
            Op::LaneId => Some(1),
            Op::MaskFromBits | Op::ExecMask => None,
            Op::ReadV(n) => {
                let above = n.checked_sub(1).and_then(|m| self.pairs.get(&m));
                match (self.pairs.get(&n), above, self.vgprs.get(&n)) {
                    (Some(&s), ..) => Some(cut(s)),
                    (_, Some(_), _) => Some(0),
                    (_, _, Some(&Kind::Affine(s))) => Some(s),
                    _ => None,
                }
            }
            Op::Load(..) => match stride(0)? {
                0 => Some(0),
                s if i32::try_from(s).is_ok_and(|s| s.abs() < 1 << 20) => None,
                _ => return None,
            },
            Op::Result(_) => match kinds[node.args[0].index()]? {
                Kind::Affine(s) => Some(s),
                Kind::Lanes => None,
            },
            Op::Add => both(stride(0), stride(1), |a, b| cut(a.wrapping_add(b))),
            Op::Sub => both(stride(0), stride(1), |a, b| cut(a.wrapping_sub(b))),
            Op::Mul if constant(1).is_some() => {
                stride(0).map(|s| cut(s.wrapping_mul(constant(1).unwrap_or(0) as i64)))
            }
            Op::Shl if constant(1).is_some() => {
                let bits = if node.ty.width == Width::W64 { 63 } else { 31 };
                stride(0).map(|s| cut(s << (constant(1).unwrap_or(0) & bits)))
            }
            Op::Lo => stride(0).map(cut),
            Op::Hi => stride(0).filter(|s| s.abs() < SMALL).map(|_| 0),
            Op::Zext | Op::Sext => stride(0).filter(|s| s.abs() < SMALL),
            Op::Pair => match pair_read(self.block, node).and_then(|n| self.pairs.get(&n)) {
                Some(&s) => Some(s),
                None => both(stride(0), stride(1), |lo, hi| (lo, hi))
                    .filter(|&(lo, hi)| hi == 0 && lo.abs() < SMALL)
                    .map(|(lo, _)| lo),
            },
            _ => {
                let uniform = (0..node.args.len()).all(|i| stride(i) == Some(0));
                uniform.then_some(0)
            }
        };
        Some(known.map_or(Kind::Lanes, Kind::Affine))
    }

    /// Gives up the strides that a turn does not keep; true if all were kept.
    fn kept(&mut self, kinds: &[Option<Kind>], written: &BTreeMap<u8, Val>) -> bool {
        let block = self.block;
        let before = (self.pairs.len(), self.vgprs.clone());
        self.pairs.retain(
            |&n, &mut s| match (written.get(&n), written.get(&(n + 1))) {
                (None, None) => true,
                (Some(&lo), Some(&hi)) => pair_of(block, lo, hi)
                    .is_some_and(|wide| kinds[wide.index()] == Some(Kind::Affine(s))),
                _ => false,
            },
        );
        for (n, kind) in &mut self.vgprs {
            if let Some(v) = written.get(n)
                && kinds[v.index()] != Some(*kind)
            {
                *kind = Kind::Lanes;
            }
        }
        before == (self.pairs.len(), self.vgprs.clone())
    }
}

fn both<T>(a: Option<i64>, b: Option<i64>, f: impl Fn(i64, i64) -> T) -> Option<T> {
    Some(f(a?, b?))
}
