//! Which loops may run inside the lane groups. A loop of one block that only loads and computes, whose
//! every turn is decided by scalars, may run group by group: each group goes through all turns with its
//! values in host registers before the next group begins. Nothing is stored while it runs, so nobody can
//! tell the order.
//!
//! Inside such a loop a lane value whose neighbours differ by a constant is one scalar: its value in the
//! group's first lane. That needs the values to keep their stride from turn to turn, which is found here,
//! and not to wrap where words become 64 bits wide, which the emitted code checks.

use std::collections::{BTreeMap, BTreeSet};

use frontend::op::{Data, Space};

use crate::facts::{LoopEntry, pair_of};
use crate::ir::{Block, Node, Op, Slot, Target, Term, Val, Vary, Width};
use crate::liveness::Live;

/// How a value is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scalar, to which lane n of the group adds n times this.
    Affine(i64),
    /// A vector for every four lanes.
    Lanes,
}

/// The plan of a loop.
#[derive(Debug)]
pub struct Plan {
    /// How each node that is needed is held.
    pub kinds: Vec<Option<Kind>>,
    /// VGPRs that go round: read and written, or written and wanted behind the loop.
    pub carried: BTreeMap<u8, Kind>,
    /// Pairs v[n:n+1] that go round, or stay, as one 64-bit scalar with this stride.
    pub pairs: BTreeMap<u8, i64>,
    /// VGPRs wanted behind the loop, with their new values.
    pub outs: Vec<(u8, Val)>,
    /// New values of pairs.
    pub pair_outs: BTreeMap<u8, Val>,
    /// Strides of VGPRs that the loop only reads.
    pub invariant: BTreeMap<u8, i64>,
    /// Does a true condition go back?
    pub back_when: bool,
    /// Where the loop leaves for.
    pub exit: Target,
    /// Lanes in a group.
    pub group: usize,
}

/// Most nodes of a loop.
const MAX_NODES: usize = 600;

/// Largest stride of a word whose carry into the high word is taken to be rare.
const SMALL: i64 = 1 << 24;

/// A new value without its merge under EXEC, which is all ones.
pub fn unmerged(block: &Block, v: Val) -> Val {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
            unmerged(block, node.args[1])
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

struct Planner<'a> {
    block: &'a Block,
    vgprs: BTreeMap<u8, Kind>,
    pairs: BTreeMap<u8, i64>,
}

/// Plans the loop that block `index` is, if it is one that suits. `row` is the number of lanes within which
/// the facts in `entry` hold.
pub fn plan(
    index: usize,
    block: &Block,
    live: &Live,
    entry: &LoopEntry,
    row: usize,
    group: Option<u8>,
) -> Option<Plan> {
    let Term::Branch { cond, then, other } = &block.term else {
        return None;
    };
    let is_back =
        |t: &Target| matches!(*t, Target::Block { block, back: true, .. } if block == index);
    let (back_when, exit) = match (is_back(then), is_back(other)) {
        (true, false) => (true, *other),
        (false, true) => (false, *then),
        _ => return None,
    };
    let scalars_suit = block
        .writes_s
        .iter()
        .all(|(slot, _)| !matches!(slot, Slot::Exec | Slot::Mode));
    if block.nodes.len() > MAX_NODES || !scalars_suit || !block.execs.is_empty() {
        return None;
    }
    let outs: Vec<(u8, Val)> = block
        .writes_v
        .iter()
        .filter(|(n, _)| live.has(*n))
        .map(|&(n, v)| (n, unmerged(block, v)))
        .collect();
    let mut roots: Vec<Val> = block.effects.clone();
    roots.push(*cond);
    roots.extend(outs.iter().map(|&(_, v)| v));
    let scalars = block.writes_s.iter().filter(|(s, _)| live.has_slot(*s));
    roots.extend(scalars.map(|&(_, v)| v));
    let needed = needed(block, roots)?;
    let read: BTreeSet<u8> = block
        .nodes
        .iter()
        .zip(&needed)
        .filter_map(|(node, &needed)| match node.op {
            Op::ReadV(n) if needed => Some(n),
            _ => None,
        })
        .collect();
    let mut p = Planner {
        block,
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
    let written: BTreeMap<u8, Val> = outs.iter().copied().collect();
    // Strides that a turn does not keep are given up until all are kept.
    let kinds = loop {
        let kinds = p.kinds(&needed)?;
        if p.kept(&kinds, &written) {
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
    for (&n, &v) in &written {
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
    let vectors = carried.values().filter(|&&k| k == Kind::Lanes).count();
    let group = match group {
        Some(lanes) => usize::from(lanes),
        None => match vectors {
            0..=3 => 16,
            4..=7 => 8,
            _ => 4,
        },
    };
    Some(Plan {
        kinds,
        carried,
        pairs: p.pairs,
        outs,
        pair_outs,
        invariant,
        back_when,
        exit,
        group: group.min(row),
    })
}

/// The nodes that the loop needs; nothing if one of them is not to be had inside.
fn needed(block: &Block, roots: Vec<Val>) -> Option<Vec<bool>> {
    let mut needed = vec![false; block.nodes.len()];
    let mut work = roots;
    while let Some(v) = work.pop() {
        let v = unmerged(block, v);
        if std::mem::replace(&mut needed[v.index()], true) {
            continue;
        }
        let node = &block.nodes[v.index()];
        match node.op {
            Op::Load(Space::Global | Space::Flat, Data::Dwords(_), _) => {
                if block.nodes[node.args[1].index()].op != Op::ExecMask {
                    return None;
                }
                work.push(node.args[0]);
                continue;
            }
            Op::Load(..)
            | Op::Store(..)
            | Op::Atomic(..)
            | Op::ScalarLoad(..)
            | Op::Effect { .. }
            | Op::Call(..)
            | Op::LaneAt
            | Op::Ballot => return None,
            Op::Result(_) if !matches!(block.nodes[node.args[0].index()].op, Op::Load(..)) => {
                return None;
            }
            _ => {}
        }
        work.extend(node.args.iter());
    }
    Some(needed)
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
            if node.ty.vary == Vary::Wave || node.op == Op::ExecMask {
                kinds[i] = Some(Kind::Affine(0));
            } else if node.op == Op::Select
                && self.block.nodes[node.args[0].index()].op == Op::ExecMask
            {
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
            Op::MaskFromBits => None,
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
