//! Announces accesses to a sanitizer: before each load, store and atomic of global memory and LDS a call of
//! [`EffectFn::Observe`] with the same addresses and lanes. What the access does is as before.

use frontend::op::Space;

use super::{Analysed, rebuild};
use crate::analysis::liveness;
use crate::ir::build::{Build, types};
use crate::ir::functions::{EffectFn, Observed};
use crate::ir::memory;
use crate::ir::{Node, Op, SiteId, Val, Width};

/// Runs the pass.
pub(super) fn run(region: &mut Analysed<'_>) {
    let build = Build::new();
    let blocks = region.func.blocks.iter();
    let blocks = blocks
        .map(|block| {
            let announce = |_: Val, node: &Node, args: &[Val]| {
                announce(&build, node, args);
                None
            };
            rebuild::block(block, &build, announce, |v, values| values[v.index()])
        })
        .collect();
    let func = region.func.to_mut();
    func.blocks = blocks;
    region.lives = liveness::lives(func);
}

/// Announces what the node is about to do.
fn announce(build: &Build, node: &Node, args: &[Val]) {
    match node.op {
        Op::Load(space, data, site) => {
            let event = (Observed::Load, space, memory::bytes(data), site);
            access(build, event, args, 0);
        }
        Op::Store(space, data, site) => {
            let event = (Observed::Store, space, memory::bytes(data), site);
            access(build, event, args, memory::data_words(node).len());
        }
        Op::Atomic(space, _, dwords, _, site) => {
            let event = (Observed::Atomic, space, 4 * u32::from(dwords), site);
            access(build, event, args, 0);
        }
        Op::ScalarLoad(dwords, site) => {
            let code = Observed::ScalarLoad.code(Space::Scalar, 4 * u32::from(dwords));
            let [lo, hi] = halves(build, args[0]);
            let exec = build.constant(Width::W64, 1);
            effect(
                build,
                EffectFn::Observe,
                site,
                &[constant(build, code), exec, lo, hi],
            );
        }
        _ => {}
    }
}

/// Announces an access of lanes; `data` words are stored.
fn access(
    build: &Build,
    (event, space, bytes, site): (Observed, Space, u32, SiteId),
    args: &[Val],
    data: usize,
) {
    let code = constant(build, event.code(space, bytes));
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
