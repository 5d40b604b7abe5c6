//! Finds the lane values of a parallel region that are affine, so that they are computed once for a group: as the value
//! that the group's lane 0 would have if it were always active. For registers that blocks write, this scalar is a
//! variable beside the lanes.
//!
//! [`uniformity`](crate::analysis::uniformity) states on which lanes a register is affine at a block's entry. From
//! there affinity is propagated through operations that are linear in the lane, or whose operands are uniform.

use std::collections::{BTreeMap, BTreeSet};

use super::{BlockPlan, Kind, Parallel};
use crate::analysis::schedule::{self, Class};
use crate::analysis::uniformity::{
    Facts, LoopEntry, is_masked, is_small, is_under_exec, vector_registers,
};
use crate::host::Host;
use crate::ir::{Block, Func, Node, Op, Slot, Val, Vary, Width};
use frontend::op::Space;

/// An affine value of a lane group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Difference between neighbouring lanes; `None` where only the value of lane 0 can be computed.
    pub stride: Option<i64>,
    /// Holds only if no word that is widened wraps between lanes of the group, which a runtime check must ensure.
    pub guarded: bool,
    /// Holds on all lanes that are active at any time in the block; otherwise only on the lanes on which the value was
    /// written, as with facts about an address.
    pub everywhere: bool,
}

impl Affine {
    const UNIFORM: Affine = Affine {
        stride: Some(0),
        guarded: false,
        everywhere: true,
    };

    /// Is the value uniform in the group?
    pub fn is_uniform(self) -> bool {
        self.stride == Some(0)
    }
}

/// Affine values of a block.
#[derive(Debug, Default)]
pub struct BlockFacts {
    /// By node: how it is affine.
    pub values: Vec<Option<Affine>>,
    /// Loads whose address is affine on the active lanes.
    pub loads: BTreeSet<Val>,
}

/// Affine values of a parallel region.
#[derive(Debug, Default)]
pub struct AffineValues {
    /// By block.
    pub blocks: BTreeMap<usize, BlockFacts>,
    /// VGPRs whose lane-0 scalar is held in a variable (or, if no block writes them, in a value).
    pub carried: BTreeSet<u16>,
}

impl AffineValues {
    /// The VGPRs whose lane-0 scalar is computed at the entry of a region that begins with block `head`.
    pub(super) fn known_at_entry(&self, facts: &Facts, head: usize) -> BTreeSet<u16> {
        let Some(entry) = facts.at_block(head) else {
            return BTreeSet::new();
        };
        let carried = self.carried.iter().copied();
        carried.filter(|&n| is_known(entry, n)).collect()
    }
}

/// Finds the affine values for groups of `group` lanes.
pub(super) fn find(
    f: &Func,
    parallel: &Parallel,
    facts: &Facts,
    group: usize,
    host: Host,
) -> AffineValues {
    let mut found = AffineValues::default();
    if facts.row() < group {
        return found;
    }
    let nothing = LoopEntry::default();
    let entry = |b: usize| facts.at_block(b).unwrap_or(&nothing);
    // By block: VGPRs whose lane-0 scalar is available at its entry.
    let all: BTreeSet<u16> = (0..vector_registers(f) as u16).collect();
    let mut valid: BTreeMap<usize, BTreeSet<u16>> =
        parallel.blocks.iter().map(|&b| (b, all.clone())).collect();
    let first = entry(parallel.head);
    let known = |&n: &u16| is_known(first, n);
    valid.insert(parallel.head, all.iter().copied().filter(known).collect());
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &parallel.blocks {
            let block = &f.blocks[b];
            let plan = &parallel.code[&b];
            let values = values(block, plan, entry(b), &valid[&b], (facts, b, host));
            let mut behind = valid[&b].clone();
            for &(n, v) in &block.writes_v {
                if block.nodes[v.index()].op == Op::ReadV(n) {
                    continue;
                }
                match values.values[v.index()] {
                    Some(_) => behind.insert(n),
                    None => behind.remove(&n),
                };
            }
            for to in block.term.targets().filter_map(|t| t.block()) {
                if let Some(into) = valid.get_mut(&to) {
                    let before = into.len();
                    into.retain(|n| behind.contains(n));
                    changed |= into.len() != before;
                }
            }
        }
    }
    for &b in &parallel.blocks {
        let plan = &parallel.code[&b];
        let values = values(&f.blocks[b], plan, entry(b), &valid[&b], (facts, b, host));
        found.blocks.insert(b, values);
    }
    found.carried = carried(f, parallel, &found);
    found
}

/// The VGPRs whose lane-0 scalar is used: by addresses, by uniform values, and by the scalars of such registers.
fn carried(f: &Func, parallel: &Parallel, found: &AffineValues) -> BTreeSet<u16> {
    let mut carried = BTreeSet::new();
    for (&b, facts) in &found.blocks {
        let block = &f.blocks[b];
        for (i, node) in block.nodes.iter().enumerate() {
            if facts.loads.contains(&Val(i as u32)) {
                leaves(block, facts, node.args[0], &mut carried);
            }
            if facts.is_uniform(block, Val(i as u32)) {
                leaves(block, facts, Val(i as u32), &mut carried);
            }
        }
    }
    loop {
        let before = carried.len();
        for &b in &parallel.blocks {
            let (block, facts) = (&f.blocks[b], &found.blocks[&b]);
            for &(n, v) in &block.writes_v {
                if carried.contains(&n) && facts.values[v.index()].is_some() {
                    leaves(block, facts, v, &mut carried);
                }
            }
        }
        if carried.len() == before {
            return carried;
        }
    }
}

/// The VGPRs that a value's lane-0 scalar is computed from.
fn leaves(block: &Block, facts: &BlockFacts, v: Val, found: &mut BTreeSet<u16>) {
    let mut seen = BTreeSet::new();
    let mut work = vec![v];
    while let Some(v) = work.pop() {
        if !seen.insert(v) || facts.values[v.index()].is_none() {
            continue;
        }
        let node = &block.nodes[v.index()];
        match node.op {
            Op::ReadV(n) => {
                found.insert(n);
            }
            // Its lane-0 scalar is the loaded word.
            Op::Load(..) => {}
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                work.push(node.args[1]);
            }
            _ => work.extend(node.args.iter()),
        }
    }
}

impl BlockFacts {
    /// Is a lane value computed as one scalar, because it is uniform on all active lanes without a runtime check?
    pub fn is_uniform(&self, block: &Block, v: Val) -> bool {
        let lanes = block.nodes[v.index()].ty.vary != Vary::Wave;
        let plain = |a: &Affine| a.is_uniform() && !a.guarded && a.everywhere;
        lanes
            && self
                .values
                .get(v.index())
                .is_some_and(|a| a.as_ref().is_some_and(plain))
    }

    /// Is a load affine with an address that requires no runtime check?
    pub fn is_plain(&self, block: &Block, v: Val) -> bool {
        let address = block.nodes[v.index()].args[0];
        self.loads.contains(&v) && self.values[address.index()].is_some_and(|a| !a.guarded)
    }
}

/// Is the lane-0 scalar of a register available at the region's entry?
fn is_known(entry: &LoopEntry, n: u16) -> bool {
    let low = entry.pairs.contains_key(&n);
    let high = n
        .checked_sub(1)
        .is_some_and(|low| entry.pairs.contains_key(&low));
    match (low, high) {
        (true, true) => false,
        (false, false) => entry.vgprs.contains_key(&n),
        _ => true,
    }
}

/// Finds the affine values of a block, given the VGPRs whose lane-0 scalar is `valid` at its entry.
fn values(
    block: &Block,
    plan: &BlockPlan,
    entry: &LoopEntry,
    valid: &BTreeSet<u16>,
    (facts, b, host): (&Facts, usize, Host),
) -> BlockFacts {
    let mut found = BlockFacts {
        values: vec![None; block.nodes.len()],
        loads: BTreeSet::new(),
    };
    let narrows = narrows(block);
    for (i, node) in block.nodes.iter().enumerate() {
        let v = Val(i as u32);
        let known = &found.values;
        let arg = |n: usize| known[node.args[n].index()];
        let constant = |n: usize| match block.nodes[node.args[n].index()].op {
            Op::Const(c) => Some(c),
            _ => None,
        };
        if node.ty.vary == Vary::Wave {
            found.values[i] = (plan.kinds[i] == Kind::Scalar).then_some(Affine::UNIFORM);
            continue;
        }
        let word = |n: u16| valid.contains(&n);
        let linear = |stride: i64, args: &[Affine]| {
            let guarded = args.iter().any(|a| a.guarded);
            is_small(stride).then_some(Affine {
                stride: Some(stride),
                guarded,
                everywhere: args.iter().all(|a| a.everywhere),
            })
        };
        let value = match node.op {
            Op::LaneId => linear(1, &[]),
            Op::ReadV(n) if word(n) => match entry.vgprs.get(&n) {
                Some(&stride) => linear(i64::from(stride as i32), &[]).map(|a| Affine {
                    everywhere: narrows,
                    ..a
                }),
                None => is_known(entry, n).then_some(Affine {
                    stride: None,
                    guarded: false,
                    everywhere: false,
                }),
            },
            Op::Pair => pair(block, node.args[0], node.args[1], entry, known),
            Op::Add | Op::Sub => match (arg(0), arg(1)) {
                (Some(a), Some(b)) => match (a.stride, b.stride, node.op) {
                    (Some(x), Some(y), Op::Add) => linear(x.wrapping_add(y), &[a, b]),
                    (Some(x), Some(y), _) => linear(x.wrapping_sub(y), &[a, b]),
                    _ => None,
                },
                _ => None,
            },
            Op::Mul if uniform(arg(0)).is_none() && constant(1).is_some() => {
                scaled(arg(0), constant(1), node.ty.width)
            }
            Op::Shl if uniform(arg(0)).is_none() && constant(1).is_some() => {
                let power = constant(1).map(|n| 1u64 << node.ty.width.shift_amount(n));
                scaled(arg(0), power, node.ty.width)
            }
            Op::Lo => arg(0).filter(|a| a.stride.is_some()).map(|a| Affine {
                guarded: false,
                stride: a.stride.map(|s| i64::from(s as i32)),
                ..a
            }),
            Op::Hi => arg(0).filter(|a| a.stride.is_some()).map(|a| Affine {
                stride: a.stride.filter(|&s| s == 0),
                ..a
            }),
            Op::Zext | Op::Sext => arg(0).filter(|a| a.stride.is_some()).map(|a| Affine {
                guarded: a.guarded || !a.is_uniform(),
                ..a
            }),
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                // On the active lanes it is the new value.
                arg(1).map(|a| Affine {
                    everywhere: false,
                    ..a
                })
            }
            Op::Load(Space::Scratch | Space::Buffer, ..) => None,
            Op::Load(..) => {
                let is_affine = |a: &Affine| a.stride.is_some_and(is_small);
                let fact = facts.address(b, v).filter(|a| !a.stepped && !a.masked);
                let address = arg(0).filter(is_affine);
                let wave = block.nodes[node.args[0].index()].ty.vary == Vary::Wave;
                match (address, fact) {
                    (Some(a), _) if wave => {
                        found.loads.insert(v);
                        Some(Affine {
                            everywhere: false,
                            ..a
                        })
                    }
                    (Some(a), Some(fact)) if a.stride == Some(fact.stride) => {
                        found.loads.insert(v);
                        uniform(Some(Affine {
                            everywhere: false,
                            ..a
                        }))
                    }
                    _ => None,
                }
            }
            Op::Result(_) => match block.nodes[node.args[0].index()].op {
                Op::Load(..) => arg(0),
                _ => None,
            },
            Op::MaskFromBits | Op::ExecMask | Op::Call(..) | Op::ReadV(_) => None,
            _ => {
                let integer = node.op.is_address_part() || matches!(node.op, Op::Icmp(_));
                let computed = integer && schedule::classify(node, host) == Class::Lane;
                let same = (0..node.args.len()).all(|n| uniform(arg(n)).is_some());
                let args = || (0..node.args.len()).filter_map(arg);
                (computed && same).then(|| Affine {
                    stride: Some(0),
                    guarded: args().any(|a| a.guarded),
                    everywhere: args().all(|a| a.everywhere),
                })
            }
        };
        found.values[i] = value;
    }
    found
}

/// Does a block act only on lanes in the EXEC at its entry?
fn narrows(block: &Block) -> bool {
    let within = |(i, node): (usize, &Node)| match node.op {
        Op::ExecMask => is_within(block, node.args[0], 6),
        // An EXEC of all ones is not in the lane IR.
        Op::Ballot => is_under_exec(block, Val(i as u32)),
        _ => true,
    };
    let mut writes = block.lane_writes();
    block.nodes.iter().enumerate().all(within) && writes.all(|(n, v)| is_masked(block, n, v))
}

/// Is a mask a subset of the EXEC at the block's entry?
fn is_within(block: &Block, v: Val, depth: u32) -> bool {
    let node = &block.nodes[v.index()];
    let less = |a: &Val| depth > 0 && is_within(block, *a, depth - 1);
    match node.op {
        Op::ReadS(Slot::Exec) => true,
        Op::And => node.args.iter().any(less),
        Op::Or => node.args.iter().all(less),
        Op::Ballot | Op::ExecMask | Op::MaskFromBits => less(&node.args[0]),
        _ => false,
    }
}

fn uniform(a: Option<Affine>) -> Option<Affine> {
    a.filter(|a| a.is_uniform())
}

/// A value times a constant.
fn scaled(a: Option<Affine>, factor: Option<u64>, width: Width) -> Option<Affine> {
    let (a, factor) = (a?, factor?);
    let factor = match width {
        Width::W64 => factor as i64,
        Width::W1 | Width::W32 => i64::from(factor as i32),
    };
    let stride = a.stride?.checked_mul(factor)?;
    is_small(stride).then_some(Affine {
        stride: Some(stride),
        ..a
    })
}

/// A pair of words as one 64-bit value.
fn pair(
    block: &Block,
    low: Val,
    high: Val,
    entry: &LoopEntry,
    known: &[Option<Affine>],
) -> Option<Affine> {
    let (a, b) = (known[low.index()]?, known[high.index()]?);
    if let (Op::ReadV(n), Op::ReadV(m)) =
        (block.nodes[low.index()].op, block.nodes[high.index()].op)
        && n.checked_add(1) == Some(m)
        && let Some(&stride) = entry.pairs.get(&n)
    {
        if entry.guarded_pairs.contains(&n) {
            return None;
        }
        let stride = stride as i64;
        return is_small(stride).then_some(Affine {
            stride: Some(stride),
            guarded: stride != 0,
            everywhere: false,
        });
    }
    let (x, y) = (a.stride?, b.stride?);
    (y == 0).then_some(Affine {
        stride: Some(x),
        guarded: a.guarded || b.guarded || x != 0,
        everywhere: a.everywhere && b.everywhere,
    })
}
