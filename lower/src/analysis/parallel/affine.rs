//! Which lane values of a parallel region are affine in the lane, so that they are computed once for a group: as the value that
//! the group's lane 0 would have if it always acted. Of registers that blocks write such a value is carried along beside the
//! lanes.
//!
//! [`uniformity`](crate::analysis::uniformity) says on which lanes a register is affine where a block begins. A value is followed
//! from there by operations that are linear in the lane, or whose operands are the same in all lanes.

use std::collections::{BTreeMap, BTreeSet};

use super::{BlockPlan, Kind, Parallel};
use crate::analysis::schedule::{self, Class};
use crate::analysis::uniformity::{Facts, LoopEntry};
use crate::ir::{Block, Func, Op, Slot, Val, Vary, Width};
use frontend::op::Space;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Difference between neighbouring lanes; nothing where only the value of lane 0 is known.
    pub stride: Option<i64>,
    /// True where no word on the way wraps between lanes of the group, which is to be checked.
    pub guarded: bool,
    /// True of all lanes that act anywhere in the block; else of those only on which the value was written, as a fact about
    /// an address tells.
    pub everywhere: bool,
}

impl Affine {
    const UNIFORM: Affine = Affine {
        stride: Some(0),
        guarded: false,
        everywhere: true,
    };

    /// Is the value the same in all lanes?
    pub fn is_uniform(self) -> bool {
        self.stride == Some(0)
    }
}

/// What is affine in a block.
#[derive(Debug, Default)]
pub struct BlockFacts {
    /// By node.
    pub values: Vec<Option<Affine>>,
    /// Loads whose address is affine on the lanes that act.
    pub loads: BTreeSet<Val>,
}

/// What is affine in a parallel region.
#[derive(Debug, Default)]
pub struct AffineValues {
    /// By block.
    pub blocks: BTreeMap<usize, BlockFacts>,
    /// Registers of which lane 0's value is carried along.
    pub carried: BTreeSet<u8>,
}

/// Strides beyond which nothing is gained.
const MAX_STRIDE: i64 = 1 << 24;

/// Finds what is affine, in groups of so many lanes.
pub(super) fn find(
    f: &Func,
    parallel: &Parallel,
    facts: &Facts,
    group: usize,
    wide: bool,
) -> AffineValues {
    let mut found = AffineValues::default();
    if facts.row() < group {
        return found;
    }
    let nothing = LoopEntry::default();
    let entry = |b: usize| facts.at_block(b).unwrap_or(&nothing);
    // Registers whose lane 0 is known where a block begins.
    let all: BTreeSet<u8> = (0..=255).collect();
    let mut valid: BTreeMap<usize, BTreeSet<u8>> =
        parallel.blocks.iter().map(|&b| (b, all.clone())).collect();
    let first = entry(parallel.head);
    let known = |&n: &u8| is_known(first, n);
    valid.insert(parallel.head, all.iter().copied().filter(known).collect());
    let mut changed = true;
    while changed {
        changed = false;
        for &b in &parallel.blocks {
            let block = &f.blocks[b];
            let plan = &parallel.code[&b];
            let values = values(block, plan, entry(b), &valid[&b], (facts, b, wide));
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
        let values = values(&f.blocks[b], plan, entry(b), &valid[&b], (facts, b, wide));
        found.blocks.insert(b, values);
    }
    found.carried = carried(f, parallel, &found);
    found
}

/// Registers of which lane 0 is asked for: by addresses, by values that are the same in all lanes, and by what such registers
/// are made of.
fn carried(f: &Func, parallel: &Parallel, found: &AffineValues) -> BTreeSet<u8> {
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

/// The registers that lane 0 of a value is made of.
fn leaves(block: &Block, facts: &BlockFacts, v: Val, found: &mut BTreeSet<u8>) {
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
            // Its own lane 0 is what was loaded.
            Op::Load(..) => {}
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                work.push(node.args[1]);
            }
            _ => work.extend(node.args.iter()),
        }
    }
}

impl BlockFacts {
    /// Is a lane value computed as one scalar, since it is the same in all lanes?
    pub fn is_uniform(&self, block: &Block, v: Val) -> bool {
        let lanes = block.nodes[v.index()].ty.vary != Vary::Wave;
        let plain = |a: &Affine| a.is_uniform() && !a.guarded && a.everywhere;
        lanes
            && self
                .values
                .get(v.index())
                .is_some_and(|a| a.as_ref().is_some_and(plain))
    }

    /// Is a load made from one address, which no check of words precedes?
    pub fn is_plain(&self, block: &Block, v: Val) -> bool {
        let address = block.nodes[v.index()].args[0];
        self.loads.contains(&v) && self.values[address.index()].is_some_and(|a| !a.guarded)
    }
}

/// Is lane 0 of a register known where a region begins?
fn is_known(entry: &LoopEntry, n: u8) -> bool {
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

/// What is affine in a block.
fn values(
    block: &Block,
    plan: &BlockPlan,
    entry: &LoopEntry,
    valid: &BTreeSet<u8>,
    (facts, b, wide): (&Facts, usize, bool),
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
        let word = |n: u8| valid.contains(&n);
        let linear = |stride: i64, args: &[Affine]| {
            let guarded = args.iter().any(|a| a.guarded);
            (stride.abs() < MAX_STRIDE).then_some(Affine {
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
                let power = constant(1).and_then(|n| 1u64.checked_shl(n as u32 & 63));
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
                // On lanes that act there it is the new value.
                arg(1).map(|a| Affine {
                    everywhere: false,
                    ..a
                })
            }
            Op::Load(Space::Scratch | Space::Buffer, ..) => None,
            Op::Load(..) => {
                let is_affine = |a: &Affine| a.stride.is_some_and(|s| s.abs() < MAX_STRIDE);
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
                let computed = integer && schedule::classify(node, wide) == Class::Lane;
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

/// Is every EXEC of a block within the one that it begins with?
fn narrows(block: &Block) -> bool {
    let nodes = block.nodes.iter();
    let mut masks = nodes.filter(|node| node.op == Op::ExecMask);
    masks.all(|node| is_within(block, node.args[0], 6))
}

/// Is a mask within the EXEC that the block begins with?
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
    (stride.abs() < MAX_STRIDE).then_some(Affine {
        stride: Some(stride),
        ..a
    })
}

/// Two words as one value.
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
        let stride = stride as i64;
        return (stride.abs() < MAX_STRIDE).then_some(Affine {
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
