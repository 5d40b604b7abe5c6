//! The unmasked iteration of a loop that EXEC ends: an iteration for an active lane that continues.
//! The conditions are assumed to have the outcome that keeps EXEC set. Masks then fold to
//! constants, merges disappear, and what remains is arithmetic and the test that the conditions
//! have the assumed outcome on all active lanes. If they have not, the iteration is repeated with
//! masks. Lanes that have left are not changed.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::build::{Build, types};
use crate::ir::{Block, Icmp, Op, Slot, Term, Val, Vary, Width};
use crate::maps::HashMap;

use super::{MaskPlace, mask_read};

/// An unmasked iteration.
#[derive(Debug)]
pub struct Unmasked {
    /// Its nodes, with the final values of VGPRs, scalars and masks.
    pub block: Block,
    /// VGPRs.
    pub vgprs: BTreeMap<u16, Val>,
    /// Scalars.
    pub slots: Vec<(Slot, Val)>,
    /// Masks that become constants.
    pub masks: BTreeMap<MaskPlace, Val>,
    /// Lane conditions (W1) and their required outcome on all active lanes.
    pub tests: Vec<(Val, bool)>,
    /// Masks that must be 0 on the active lanes before the iteration.
    pub zero: BTreeSet<MaskPlace>,
}

/// A test in the form that host vectors have: `a < b` unsigned is the negation of `b <= a`.
fn cheaper(b: &Build, test: Val, when: bool) -> (Val, bool) {
    match b.parts(test) {
        (Op::Icmp(Icmp::Ult), args) => (b.pure(Op::Icmp(Icmp::Ule), &[args[1], args[0]]), !when),
        _ => (test, when),
    }
}

/// Maximum number of conditions; each may have either outcome.
const MAX_CONDITIONS: usize = 3;

/// Input of the construction.
pub(super) struct Iteration<'a> {
    pub(super) block: &'a Block,
    pub(super) needed: &'a [bool],
    pub(super) vgprs: &'a BTreeMap<u16, Val>,
    pub(super) slots: &'a [(Slot, Val)],
    pub(super) masks: &'a BTreeMap<MaskPlace, Val>,
}

/// The unmasked form of an iteration, if there is one.
pub(super) fn unmasked(t: &Iteration<'_>) -> Option<Unmasked> {
    let conditions = t.conditions();
    if conditions.is_empty() || conditions.len() > MAX_CONDITIONS {
        return None;
    }
    // Prefers conditions without negation: they guard what is inside.
    (0..1u32 << conditions.len()).find_map(|flips| {
        let assumed = conditions.iter().enumerate();
        let assumed: HashMap<Val, bool> = assumed
            .map(|(i, &(v, when))| (v, when != (flips >> i & 1 != 0)))
            .collect();
        t.with(&assumed)
    })
}

impl Iteration<'_> {
    /// Lane conditions that masks are made from, without negation, and their value where the mask
    /// is true.
    fn conditions(&self) -> Vec<(Val, bool)> {
        let mut found: Vec<(Val, bool)> = Vec::new();
        for (node, _) in self.block.nodes.iter().zip(self.needed).filter(|n| *n.1) {
            if node.op != Op::Ballot {
                continue;
            }
            let mut work = vec![(node.args[0], true)];
            while let Some((v, when)) = work.pop() {
                let node = &self.block.nodes[v.index()];
                match node.op {
                    Op::And if when => work.extend(node.args.iter().map(|&a| (a, true))),
                    Op::Not => work.push((node.args[0], !when)),
                    Op::ExecMask | Op::MaskFromBits | Op::Const(_) => {}
                    _ if found.iter().any(|&(c, _)| c == v) => {}
                    _ => found.push((v, when)),
                }
            }
        }
        found
    }

    fn with(&self, assumed: &HashMap<Val, bool>) -> Option<Unmasked> {
        let mut zero = BTreeSet::new();
        loop {
            let (b, values, tests) = self.fold(assumed, &zero)?;
            let constant = |v: Val| values[v.index()].and_then(|v| b.as_const(v));
            let others = self.masks.iter().filter(|m| *m.0 != MaskPlace::Exec);
            let unknown: Vec<MaskPlace> = others
                .clone()
                .filter(|&(place, &v)| !zero.contains(place) && constant(v).is_none())
                .map(|(&place, _)| place)
                .collect();
            if !unknown.is_empty() {
                zero.extend(unknown);
                continue;
            }
            if constant(self.masks[&MaskPlace::Exec]) != Some(u64::MAX) {
                return None;
            }
            if others
                .clone()
                .any(|(place, &v)| zero.contains(place) && constant(v) != Some(0))
            {
                return None;
            }
            let masks = others.filter(|m| !zero.contains(m.0));
            let masks = masks.map(|(&place, &v)| Some((place, values[v.index()]?)));
            let vgprs = self
                .vgprs
                .iter()
                .map(|(&n, &v)| Some((n, values[v.index()]?)));
            let slots = self
                .slots
                .iter()
                .map(|&(s, v)| Some((s, values[v.index()]?)));
            let (masks, vgprs, slots) = (
                masks.collect::<Option<_>>()?,
                vgprs.collect::<Option<_>>()?,
                slots.collect::<Option<_>>()?,
            );
            let (nodes, effects) = b.finish();
            return Some(Unmasked {
                block: Block {
                    nodes,
                    effects,
                    execs: Vec::new(),
                    writes_s: Vec::new(),
                    writes_v: Vec::new(),
                    term: Term::End,
                    counts: Vec::new(),
                    outcomes: Vec::new(),
                    ..*self.block
                },
                vgprs,
                slots,
                masks,
                tests,
                zero,
            });
        }
    }

    /// Rebuilds the iteration under the assumptions; returns the values of the nodes, and the
    /// tests.
    #[allow(clippy::type_complexity, reason = "used once")]
    fn fold(
        &self,
        assumed: &HashMap<Val, bool>,
        zero: &BTreeSet<MaskPlace>,
    ) -> Option<(Build, Vec<Option<Val>>, Vec<(Val, bool)>)> {
        let b = Build::new();
        let mut values: Vec<Option<Val>> = Vec::with_capacity(self.block.nodes.len());
        let mut tests = Vec::new();
        for (i, node) in self.block.nodes.iter().enumerate() {
            let v = Val(i as u32);
            let place = mask_read(self.block, node);
            let wave64 = node.ty.vary == Vary::Wave && node.ty.width == Width::W64;
            let value = match place {
                Some(MaskPlace::Exec) => Some(b.constant(Width::W64, u64::MAX)),
                Some(place) if wave64 && zero.contains(&place) => Some(b.constant(Width::W64, 0)),
                _ if !self.needed[i] && !matches!(node.op, Op::ReadS(_)) => None,
                _ => {
                    let mut args: Option<Vec<Val>> =
                        node.args.iter().map(|a| values[a.index()]).collect();
                    if let Op::Load(..) = node.op {
                        // The mask of lanes that are all active.
                        let (at, mask) =
                            (values[node.args[0].index()]?, values[node.args[1].index()]?);
                        if b.as_const(mask) != Some(1) {
                            return None;
                        }
                        args = Some(vec![at, mask]);
                    }
                    let args = match args {
                        Some(args) => args,
                        // The words of a mask are not needed separately.
                        None if place.is_some() => node
                            .args
                            .iter()
                            .map(|a| b.leaf(self.block.nodes[a.index()].op, types::W32))
                            .collect(),
                        None => return None,
                    };
                    Some(match node.op {
                        _ if args.is_empty() => b.leaf(node.op, node.ty),
                        Op::Load(..) | Op::ScalarLoad(..) => b.effect(node.op, &args, node.ty),
                        Op::Call(f, mode) => b.call(f, mode, &args),
                        Op::Result(n) => b.result(args[0], n, node.ty),
                        op => b.pure(op, &args),
                    })
                }
            };
            values.push(match (value, assumed.get(&v)) {
                (Some(value), Some(&when)) => {
                    match b.as_const(value) {
                        None => tests.push(cheaper(&b, value, when)),
                        Some(c) if (c != 0) == when => {}
                        Some(_) => return None,
                    }
                    Some(b.constant(Width::W1, u64::from(when)))
                }
                (value, _) => value,
            });
        }
        Some((b, values, tests))
    }
}
