//! Finds the values of a loop inside the lane groups that are scalars: those whose neighbours
//! differ by a constant that iterations preserve.

use std::collections::{BTreeMap, BTreeSet};

use super::{Kind, LoopCondition, is_all, pair_read, unmerged};
use crate::analysis::uniformity::{LoopEntry, is_small, pair_of};
use crate::ir::{Block, Node, Op, Val, Vary, Width};

/// Representation of the values of an iteration.
pub(super) struct Strides {
    /// Of each node that is needed.
    pub(super) kinds: Vec<Option<Kind>>,
    /// VGPRs at the start of the iteration, if they are read.
    pub(super) vgprs: BTreeMap<u16, Kind>,
    /// Pairs that are loop-carried or invariant as one value.
    pub(super) pairs: BTreeMap<u16, i64>,
    /// Their new values, if they have any.
    pub(super) pair_outs: BTreeMap<u16, Val>,
    /// Other loop-carried VGPRs.
    pub(super) carried: BTreeMap<u16, Kind>,
    /// Other invariant VGPRs with strides.
    pub(super) invariant: BTreeMap<u16, i64>,
}

impl Strides {
    /// Finds the strides for the iteration in `block`, where `is_mask` marks wave values made of
    /// lanes' bits. `needed` are the nodes that are used, `written` the VGPRs that are live after
    /// an iteration, `entry` are the facts where the loop begins.
    pub(super) fn find(
        (block, condition, is_mask): (&Block, LoopCondition, &[bool]),
        (needed, written): (&[bool], &BTreeMap<u16, Val>),
        entry: &LoopEntry,
    ) -> Option<Strides> {
        let nodes = block.nodes.iter().zip(needed);
        let read = nodes.filter_map(|(node, &needed)| match node.op {
            Op::ReadV(n) if needed => Some(n),
            _ => None,
        });
        let read: BTreeSet<u16> = read.collect();
        let mut p = Planner {
            block,
            condition,
            is_mask,
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
                .map(|(&n, &s)| (n, s as i64))
                // The high word of a pair with a large stride is not the same in all lanes.
                .filter(|&(n, s)| {
                    let both = n.checked_add(1).is_some_and(|m| read.contains(&m));
                    read.contains(&n) && both && is_small(s)
                })
                .collect(),
        };
        p.separate();
        // Drops the strides that an iteration does not preserve, until all are preserved.
        let kinds = loop {
            let kinds = p.kinds(needed)?;
            if p.kept(&kinds, written) {
                break kinds;
            }
        };
        let pair_outs = p.pairs.keys().filter_map(|&n| {
            let (lo, hi) = (written.get(&n)?, written.get(&(n + 1))?);
            Some((n, pair_of(block, *lo, *hi)?))
        });
        let pair_outs = pair_outs.collect();
        let in_pair = |n: u16| {
            p.pairs.contains_key(&n) || n.checked_sub(1).is_some_and(|m| p.pairs.contains_key(&m))
        };
        let mut carried = BTreeMap::new();
        let mut invariant = BTreeMap::new();
        for (&n, &v) in written {
            if !in_pair(n) {
                let new = kinds[v.index()]?;
                let at_entry = entry.vgprs.get(&n);
                let at_entry = at_entry.map(|&s| Kind::Affine(i64::from(s as i32)));
                let kind = match p.vgprs.get(&n) {
                    Some(&kind) => kind,
                    // A group whose first iteration is left to the general loop keeps the register's old value.
                    None if condition == LoopCondition::Unmasked && at_entry != Some(new) => {
                        Kind::Lanes
                    }
                    None => new,
                };
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
        Some(Strides {
            kinds,
            vgprs: p.vgprs,
            pairs: p.pairs,
            pair_outs,
            carried,
            invariant,
        })
    }

    /// Representation in another form of the same iteration, with the strides of this one.
    pub(super) fn of_form(&self, block: &Block, needed: &[bool]) -> Option<Vec<Option<Kind>>> {
        let planner = Planner {
            block,
            condition: LoopCondition::Unmasked,
            is_mask: &vec![false; needed.len()],
            vgprs: self.vgprs.clone(),
            pairs: BTreeMap::new(),
        };
        planner.kinds(needed)
    }

    /// Is any value at the start of the iteration a scalar?
    pub(super) fn any(&self) -> bool {
        self.any_of(&self.vgprs)
    }

    /// Is a scalar loop-carried?
    pub(super) fn any_carried(&self) -> bool {
        self.any_of(&self.carried)
    }

    fn any_of(&self, vgprs: &BTreeMap<u16, Kind>) -> bool {
        let affine = |kind: &Kind| matches!(kind, Kind::Affine(_));
        !self.pairs.is_empty() || vgprs.values().any(affine)
    }

    /// The number of VGPRs that are loop-carried as vectors.
    pub(super) fn vectors(&self) -> usize {
        self.carried.values().filter(|&&k| k == Kind::Lanes).count()
    }
}

struct Planner<'a> {
    block: &'a Block,
    condition: LoopCondition,
    /// Which nodes are masks.
    is_mask: &'a [bool],
    vgprs: BTreeMap<u16, Kind>,
    pairs: BTreeMap<u16, i64>,
}

impl Planner<'_> {
    /// A VGPR belongs to one pair at most.
    fn separate(&mut self) {
        let mut last = None;
        self.pairs.retain(|&n, _| {
            let apart = last.is_none_or(|m: u16| m + 1 < n);
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
            } else if node.ty.vary == Vary::Wave && needed[i]
                || is_all(self.block, self.condition, node)
            {
                kinds[i] = Some(Kind::Affine(0));
            } else if unmerged(self.block, self.condition, Val(i as u32)).index() != i {
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
        let result = match node.op {
            Op::LaneId => Some(1),
            // Functions are computed in vectors only, of uniform lanes too.
            Op::MaskFromBits | Op::ExecMask | Op::Call(..) => None,
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
                s if i32::try_from(s).is_ok_and(|s| s.unsigned_abs() < 1 << 20) => None,
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
                let n = node.ty.width.shift_amount(constant(1).unwrap_or(0));
                stride(0).map(|s| cut(s << n))
            }
            Op::Lo => stride(0).map(cut),
            Op::Hi => stride(0).filter(|&s| is_small(s)).map(|_| 0),
            Op::Zext | Op::Sext => stride(0).filter(|&s| is_small(s)),
            Op::Pair => match pair_read(self.block, node).and_then(|n| self.pairs.get(&n)) {
                Some(&s) => Some(s),
                None => both(stride(0), stride(1), |lo, hi| (lo, hi))
                    .filter(|&(lo, hi)| hi == 0 && is_small(lo))
                    .map(|(lo, _)| lo),
            },
            _ => {
                let uniform = (0..node.args.len()).all(|i| stride(i) == Some(0));
                uniform.then_some(0)
            }
        };
        Some(result.map_or(Kind::Lanes, Kind::Affine))
    }

    /// Drops the strides that an iteration does not preserve; true if all were preserved.
    fn kept(&mut self, kinds: &[Option<Kind>], written: &BTreeMap<u16, Val>) -> bool {
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
