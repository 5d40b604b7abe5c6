//! Announces accesses to a sanitizer: before each load, store and atomic of global memory and LDS a call of
//! [`EffectFn::Observe`] with the same addresses and lanes. What the access does is as before. Loads from a range that the sanitizer has
//! declared settled are not announced ([`Context::settled`](crate::abi::Context::settled)).

use std::collections::HashSet;

use frontend::op::Space;

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
            let announce =
                |_: Val, node: &Node, args: &[Val]| announce(&build, &mut before, node, args);
            rebuild::block(block, &build, announce, |v, values| values[v.index()])
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
}

/// Announces the access of a node. The announcement of a wait is replaced.
fn announce(build: &Build, before: &mut Before, node: &Node, args: &[Val]) -> Option<Val> {
    match node.op {
        Op::Load(space, data, site) => {
            let event = (Observed::Load, space, memory::bytes(data), site);
            access(build, before, event, args, 0);
        }
        Op::Store(space, data, site) => {
            before.stores |= space != Space::Lds;
            let event = (Observed::Store, space, memory::bytes(data), site);
            access(build, before, event, args, memory::data_words(node).len());
        }
        Op::Atomic(space, _, dwords, _, site) => {
            before.stores |= space != Space::Lds;
            let event = (Observed::Atomic, space, 4 * u32::from(dwords), site);
            access(build, before, event, args, 0);
        }
        Op::ScalarLoad(dwords, site) => {
            let bytes = 4 * u32::from(dwords);
            let code = Observed::ScalarLoad.code(Space::Scalar, bytes, number(site));
            let [lo, hi] = halves(build, args[0]);
            let unsettled = outside(build, args[0], (bytes, site));
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

/// Announces an access of lanes; `data` words are stored.
fn access(
    build: &Build,
    before: &mut Before,
    (event, space, bytes, site): (Observed, Space, u32, SiteId),
    args: &[Val],
    data: usize,
) {
    let code = constant(build, event.code(space, bytes, number(site)));
    let in_range = event == Observed::Load && !matches!(space, Space::Scratch | Space::Buffer);
    let exec = match in_range {
        true => {
            let unsettled = unsettled(build, args, space, (bytes, site));
            match before.masks.insert(args[1]) {
                true => build.pure(Op::Or, &[unsettled, unseen(build, args[1])]),
                false => unsettled,
            }
        }
        false => build.pure(Op::Ballot, &[args[1]]),
    };
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
            let [lo, hi] = halves(build, args[0]);
            effect(
                build,
                EffectFn::Observe,
                site,
                &[&[code, exec, lo, hi], words].concat(),
            );
        }
    }
}

/// The number of the site's range in [`Context::settled`](crate::abi::Context::settled).
fn number(site: SiteId) -> u8 {
    (site.0 as usize % SETTLED) as u8
}

/// The active lanes of a load whose element is not within the site's range.
fn unsettled(build: &Build, args: &[Val], space: Space, (bytes, site): (u32, SiteId)) -> Val {
    let outside = match space {
        Space::Lds => {
            // Its range begins at 0.
            let lens = [Settled::Len(number(site)), Settled::Lds].map(|of| settled(build, of));
            let len = build.pure(Op::MinU, &lens);
            behind(build, args[0], build.pure(Op::Lo, &[len]), bytes)
        }
        _ => outside(build, args[0], (bytes, site)),
    };
    let outside = build.pure(Op::And, &[args[1], outside]);
    build.pure(Op::Ballot, &[outside])
}

/// The lanes of a mask that the sanitizer has not seen active.
fn unseen(build: &Build, mask: Val) -> Val {
    let active = build.pure(Op::Ballot, &[mask]);
    let seen = settled(build, Settled::Lanes);
    let not_seen = build.pure(Op::Not, &[seen]);
    build.pure(Op::And, &[active, not_seen])
}

/// Is an element not within the site's range (W1)?
fn outside(build: &Build, address: Val, (bytes, site): (u32, SiteId)) -> Val {
    let [start, len] = [Settled::Start, Settled::Len].map(|of| settled(build, of(number(site))));
    let offset = build.pure(Op::Sub, &[address, start]);
    behind(build, offset, len, bytes)
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
