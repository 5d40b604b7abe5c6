//! Announces accesses to a sanitizer: before each load, store and atomic of global memory and LDS a call of
//! [`EffectFn::Observe`] with the same addresses and lanes. What the access does is as before. Loads from a range that the sanitizer has
//! declared settled are not announced ([`Context::settled`](crate::abi::Context::settled)).
//!
//! Loads between which nothing else happens are announced before the first of them, so that they stay in one loop over the lanes, and
//! those that differ in constant offsets are compared with the settled range once.

use std::collections::HashSet;

use frontend::op::Space;

use super::rebuild::Copy;
use super::{Analysed, rebuild};
use crate::abi::SETTLED;
use crate::analysis::liveness;
use crate::ir::build::{Build, types};
use crate::ir::functions::{EffectFn, Observed};
use crate::ir::memory;
use crate::ir::{Icmp, Node, Op, Settled, SiteId, Val, Width};

/// Runs the pass.
pub(super) fn run(region: &mut Analysed<'_>) {
    let build = Build::new();
    let blocks = region.func.blocks.iter();
    let blocks = blocks
        .map(|block| {
            let mut before = Before::default();
            let announce = |copy: &mut Copy<'_>, v: Val, node: &Node, args: &[Val]| {
                announce(&build, &mut before, copy, v, node, args)
            };
            rebuild::block_in_parts(block, &build, announce, |v, values| values[v.index()])
        })
        .collect();
    let func = region.func.to_mut();
    func.blocks = blocks;
    region.lives = liveness::lives(func);
}

/// What comes before a node in its block.
#[derive(Default)]
struct Before {
    /// Masks of accesses: their lanes have been seen.
    masks: HashSet<Val>,
    /// There may be a store to global memory.
    stores: bool,
    /// Loads that have been announced.
    loads: HashSet<Val>,
}

/// Maximum number of nodes in which loads are announced together.
const TOGETHER: usize = 1000;

/// Maximum number of bytes between loads that are compared with the settled range together.
const NEAR: i64 = 1 << 16;

/// Announces the access of a node. The announcement of a wait is replaced.
fn announce(
    build: &Build,
    before: &mut Before,
    copy: &mut Copy<'_>,
    v: Val,
    node: &Node,
    args: &[Val],
) -> Option<Val> {
    match node.op {
        Op::Load(Space::Scratch, ..) => {}
        Op::Load(Space::Buffer, data, site) => {
            let event = (Observed::Load, Space::Buffer, memory::bytes(data), site);
            access(build, event, args, 0);
        }
        Op::Load(..) if before.loads.contains(&v) => {}
        Op::Load(..) => {
            let loads = together(copy, v);
            before.loads.extend(&loads);
            let loads = loads.iter().map(|&v| Load::new(build, copy, v)).collect();
            announce_loads(build, before, loads);
        }
        Op::Store(space, data, site) => {
            before.stores |= space != Space::Lds;
            let event = (Observed::Store, space, memory::bytes(data), site);
            access(build, event, args, memory::data_words(node).len());
        }
        Op::Atomic(space, _, dwords, _, site) => {
            before.stores |= space != Space::Lds;
            let event = (Observed::Atomic, space, 4 * u32::from(dwords), site);
            access(build, event, args, 0);
        }
        Op::ScalarLoad(dwords, site) => {
            let bytes = 4 * u32::from(dwords);
            let code = Observed::ScalarLoad.code(Space::Scalar, bytes, number(site));
            let [lo, hi] = halves(build, args[0]);
            let unsettled = outside(build, args[0], bytes, [site].into_iter());
            let unsettled = build.pure(Op::BoolToInt, &[unsettled]);
            let exec = build.pure(Op::Zext, &[unsettled]);
            effect(
                build,
                EffectFn::Observe,
                site,
                &[constant(build, code), exec, lo, hi],
            );
        }
        Op::Effect {
            f: EffectFn::ObserveWait,
            ..
        } => {
            // The context has what was stored before the block.
            let stores = (!before.stores).then(|| settled(build, Settled::Stores));
            return stores.map(|stores| build.effect(node.op, &[stores], node.ty));
        }
        Op::Effect { .. } => before.stores = true,
        _ => {}
    }
    None
}

/// The loads that can be announced before `first`: it and those behind it with an address that is known then, up to what may change
/// memory.
fn together(copy: &Copy<'_>, first: Val) -> Vec<Val> {
    let nodes = &copy.block.nodes;
    let mut loads = vec![first];
    // Of the nodes from `first` on.
    let mut known = vec![false];
    for (i, node) in nodes
        .iter()
        .enumerate()
        .skip(first.index() + 1)
        .take(TOGETHER)
    {
        let v = Val(i as u32);
        let is_known = |a: &Val| match a.index().checked_sub(first.index()) {
            None => true,
            Some(n) => known[n],
        };
        match node.op {
            Op::Store(..) | Op::Atomic(..) | Op::Effect { .. } => break,
            Op::Load(space, ..)
                if !matches!(space, Space::Scratch | Space::Buffer)
                    && node.args[..2].iter().all(is_known) =>
            {
                loads.push(v);
            }
            _ => {}
        }
        let is_known = !copy.is_effect(v) && node.args.iter().all(is_known);
        known.push(is_known);
    }
    loads
}

/// A load that is to be announced.
struct Load {
    space: Space,
    bytes: u32,
    site: SiteId,
    mask: Val,
    address: Val,
    /// The address without `offset`.
    base: Val,
    offset: i64,
}

impl Load {
    fn new(build: &Build, copy: &mut Copy<'_>, v: Val) -> Load {
        let node = &copy.block.nodes[v.index()];
        let Op::Load(space, data, site) = node.op else {
            unreachable!("bug: {node:?} is no load");
        };
        let [address, mask] = [0, 1].map(|i| copy.value(node.args[i]));
        let (base, offset) = base_and_offset(build, address);
        Load {
            space,
            bytes: memory::bytes(data),
            site,
            mask,
            address,
            base,
            offset,
        }
    }

    fn end(&self) -> i64 {
        self.offset.saturating_add(self.bytes.into())
    }
}

/// Loads with one mask and one base.
struct Near {
    loads: Vec<Load>,
    /// Offsets from the base of the first byte and behind the last one.
    bytes: (i64, i64),
}

impl Near {
    /// Accepts the load if it is one of these, and returns it otherwise.
    fn add(&mut self, load: Load) -> Option<Load> {
        let one = &self.loads[0];
        let bytes = (self.bytes.0.min(load.offset), self.bytes.1.max(load.end()));
        let suits = (one.space, one.mask, one.base) == (load.space, load.mask, load.base)
            && bytes.1.saturating_sub(bytes.0) <= NEAR;
        if !suits {
            return Some(load);
        }
        self.bytes = bytes;
        self.loads.push(load);
        None
    }

    /// The active lanes of which an element of one of the loads is not within the range of its site.
    fn unsettled(&self, build: &Build) -> Val {
        let one = &self.loads[0];
        let sites = self.loads.iter().map(|load| load.site);
        let offset = build.constant(build.ty(one.base).width, self.bytes.0 as u64);
        let address = build.pure(Op::Add, &[one.base, offset]);
        let bytes = (self.bytes.1 - self.bytes.0) as u32;
        let outside = match one.space {
            Space::Lds => outside_lds(build, address, bytes, sites),
            _ => outside(build, address, bytes, sites),
        };
        let outside = build.pure(Op::And, &[one.mask, outside]);
        build.pure(Op::Ballot, &[outside])
    }
}

fn announce_loads(build: &Build, before: &mut Before, loads: Vec<Load>) {
    let mut groups: Vec<Near> = Vec::new();
    for load in loads {
        let rest = groups
            .iter_mut()
            .rev()
            .try_fold(load, |load, near| near.add(load).ok_or(()));
        if let Ok(load) = rest {
            groups.push(Near {
                bytes: (load.offset, load.end()),
                loads: vec![load],
            });
        }
    }
    for near in groups {
        let mut exec = near.unsettled(build);
        for load in near.loads {
            if before.masks.insert(load.mask) {
                exec = build.pure(Op::Or, &[exec, unseen(build, load.mask)]);
            }
            let code = Observed::Load.code(load.space, load.bytes, number(load.site));
            let [low, high] = place(build, load.space, load.address);
            let all = [constant(build, code), exec, low, high];
            effect(build, EffectFn::Observe, load.site, &all);
        }
    }
}

/// An address as a sum of a base and a constant.
fn base_and_offset(build: &Build, address: Val) -> (Val, i64) {
    let (op, args) = build.parts(address);
    let offset = match op {
        Op::Add => build.as_const(args[1]),
        _ => None,
    };
    match (offset, build.ty(address).width) {
        (None, _) => (address, 0),
        (Some(offset), Width::W64) => (args[0], offset as i64),
        (Some(offset), _) => (args[0], i64::from(offset as i32)),
    }
}

/// The two operands that give an announcement its address: low and high word, or in LDS a base and what is added.
fn place(build: &Build, space: Space, address: Val) -> [Val; 2] {
    match space {
        Space::Lds => {
            let (base, offset) = base_and_offset(build, address);
            [base, constant(build, offset as u32)]
        }
        _ => halves(build, address),
    }
}

/// Announces a store, an atomic, or a load from a buffer; `data` words are stored.
fn access(
    build: &Build,
    (event, space, bytes, site): (Observed, Space, u32, SiteId),
    args: &[Val],
    data: usize,
) {
    let code = constant(build, event.code(space, bytes, number(site)));
    let exec = build.pure(Op::Ballot, &[args[1]]);
    let words = &args[2..2 + data];
    match space {
        // Lanes have their own.
        Space::Scratch => {}
        Space::Buffer => {
            let behind = &args[2 + data..];
            let all = [code, exec, behind[0], behind[1], behind[2], args[0]];
            effect(build, EffectFn::ObserveBuffer, site, &all);
        }
        _ => {
            let [low, high] = place(build, space, args[0]);
            let all = [&[code, exec, low, high], words].concat();
            effect(build, EffectFn::Observe, site, &all);
        }
    }
}

/// The number of the site's range in [`Context::settled`](crate::abi::Context::settled).
fn number(site: SiteId) -> u8 {
    (site.0 as usize % SETTLED) as u8
}

/// The lanes of a mask that the sanitizer has not seen active.
fn unseen(build: &Build, mask: Val) -> Val {
    let active = build.pure(Op::Ballot, &[mask]);
    let seen = settled(build, Settled::Lanes);
    let not_seen = build.pure(Op::Not, &[seen]);
    build.pure(Op::And, &[active, not_seen])
}

/// Are the bytes at the address not within the ranges of all sites (W1)?
fn outside(build: &Build, address: Val, bytes: u32, sites: impl Iterator<Item = SiteId>) -> Val {
    let ranges = sites.map(|site| {
        let [start, len] =
            [Settled::Start, Settled::Len].map(|of| settled(build, of(number(site))));
        (start, len)
    });
    let common = |a: (Val, Val), b: (Val, Val)| {
        let [a_end, b_end] = [a, b].map(|(start, len)| build.pure(Op::Add, &[start, len]));
        let start = build.pure(Op::MaxU, &[a.0, b.0]);
        let end = build.pure(Op::MinU, &[a_end, b_end]);
        let end = build.pure(Op::MaxU, &[start, end]);
        (start, build.pure(Op::Sub, &[end, start]))
    };
    let (start, len) = ranges.reduce(common).expect("there is a load");
    let offset = build.pure(Op::Sub, &[address, start]);
    behind(build, offset, len, bytes)
}

/// As [`outside`], in LDS, where ranges begin at 0.
fn outside_lds(
    build: &Build,
    address: Val,
    bytes: u32,
    sites: impl Iterator<Item = SiteId>,
) -> Val {
    let lens = sites.map(|site| settled(build, Settled::Len(number(site))));
    let min = |a, b| build.pure(Op::MinU, &[a, b]);
    let len = lens.fold(settled(build, Settled::Lds), min);
    behind(build, address, build.pure(Op::Lo, &[len]), bytes)
}

/// Is an element not within the first `len` bytes (W1)?
fn behind(build: &Build, offset: Val, len: Val, bytes: u32) -> Val {
    // The number of places where it may begin; none if it is longer.
    let more = build.constant(build.ty(len).width, u64::from(bytes.max(1)) - 1);
    let len = build.pure(Op::MaxU, &[len, more]);
    let places = build.pure(Op::Sub, &[len, more]);
    build.pure(Op::Icmp(Icmp::Ule), &[places, offset])
}

fn settled(build: &Build, what: Settled) -> Val {
    build.leaf(Op::Settled(what), types::W64)
}

/// Low and high word of an address; the high one of 32 bits is 0.
fn halves(build: &Build, address: Val) -> [Val; 2] {
    match build.ty(address).width {
        Width::W64 => [Op::Lo, Op::Hi].map(|half| build.pure(half, &[address])),
        _ => [address, constant(build, 0)],
    }
}

fn constant(build: &Build, value: u32) -> Val {
    build.constant(Width::W32, value.into())
}

fn effect(build: &Build, f: EffectFn, site: SiteId, args: &[Val]) {
    let op = Op::Effect {
        f,
        site,
        lanes: 0,
        scalars: 0,
    };
    build.effect(op, args, types::W32);
}
