//! Prefetches of what later waves want. Waves come one after the other, and the one that has a wave's number in the next
//! workgroup mostly has its elements as far on as this one has them from the last. So each wave keeps where
//! its accesses were ([`WaveState::last`]), and while it loads or stores lines it asks for those that lie the same distance
//! further on. A wrong guess costs the way of a line, and nobody sees it.
//!
//! Short waves have none, unless they gather or memory is far ([`Options::far_memory`]): the processor's window reaches from one
//! into the next. Nor have loops, whose accesses the processor predicts by itself (but see `interchange/prefetch.rs`), unless an iteration has
//! a barrier: the other waves come in between, and what is asked for is the next iteration's. Where addresses were loaded, those of
//! the next workgroup are (`indirect`).

use std::mem::offset_of;

use frontend::op::Space;
use frontend::state::{LANES, LAST, WaveState};

use super::{Emitter, offset32};
use crate::analysis::schedule::is_computed;
use crate::analysis::uniformity::Affine;
use crate::ir::memory::load_or_store;
use crate::ir::{Block, Func, Val};
use crate::options::Options;
use crate::vir::{Memory, Op as VirOp, Value, types};

mod deferred;
mod indirect;

pub(super) use deferred::Deferred;
pub(super) use indirect::Indirect;

/// Guest instructions of a region that is not short. Each is four of the host or more, of which its window holds 200
/// to 500.
const LONG: u32 = 64;

/// Bytes of a line.
pub(super) const LINE: i64 = 64;

/// Lines to ask for in one go at most: about as many as can be under way.
const BURST: i64 = 16;

/// Where an access is expected.
#[derive(Clone, Copy)]
pub(super) struct Prefetch {
    /// How far on from where it is (I64).
    pub(super) delta: Value,
    /// Where its first lane is then.
    pub(super) start: Value,
    /// Which way its lines go.
    pub(super) into: VirOp,
    /// Its entry of [`WaveState::last`].
    pub(super) entry: usize,
}

/// Does a region have prefetches, outside of loops without barriers?
pub(super) fn suits(f: &Func, o: &Options) -> bool {
    if !o.wide || o.baseline {
        return false;
    }
    let length: u32 = f.blocks.iter().map(|block| block.guest_insts).sum();
    let gathers = |block: &Block| block.effects.iter().any(|&v| is_loaded(block, v));
    length >= LONG || o.is_memory_far() || f.blocks.iter().any(gathers)
}

/// Is a node an access of memory at addresses that were loaded?
fn is_loaded(block: &Block, v: Val) -> bool {
    let node = &block.nodes[v.index()];
    let access = load_or_store(node.op);
    let of_memory = access.is_some_and(|(_, space, ..)| space != Space::Lds);
    of_memory && !is_computed(block, node.args[0])
}

impl Emitter<'_> {
    /// Expects an access whose first lane's host address is `first` now; nothing where there are to be no prefetches.
    pub(super) fn expect(&mut self, first: Value, affine: Affine) -> Option<Prefetch> {
        if !self.prefetches {
            return None;
        }
        let entry = self.new_entry()?;
        Some(self.expect_in(entry, first, affine))
    }

    /// An entry of [`WaveState::last`], if there is one left.
    fn new_entry(&mut self) -> Option<usize> {
        let entry = self.expected;
        if entry + self.deferred.entries() >= LAST {
            return None;
        }
        self.expected += 1;
        Some(entry)
    }

    /// The same, of an access that has an entry of [`WaveState::last`].
    fn expect_in(&mut self, entry: usize, first: Value, affine: Affine) -> Prefetch {
        let delta = self.moved(entry, first);
        // Rows of lanes often lie powers of two apart. In the first cache their lines would drive each other out.
        let into = match affine.whole || self.o.is_memory_far() {
            true => VirOp::Prefetch,
            false => VirOp::PrefetchSecond,
        };
        let start = self.b.iadd(first, delta);
        Prefetch {
            delta,
            start,
            into,
            entry,
        }
    }

    /// How far an access whose first lane's host address is `first` now has moved on (I64), if there is an entry left for it.
    pub(super) fn moved_on(&mut self, first: Value) -> Option<Value> {
        let entry = self.new_entry()?;
        Some(self.moved(entry, first))
    }

    /// How far an access that has such an entry, and whose first lane's host address is `first` now, has moved on (I64); that
    /// it is there is kept for the next workgroup.
    fn moved(&mut self, entry: usize, first: Value) -> Value {
        let at = offset32(offset_of!(WaveState, last) + size_of::<u64>() * entry);
        let last = self.b.load(types::I64, Memory::Trusted, self.wave, at);
        self.b.store(Memory::Trusted, first, self.wave, at);
        self.b.isub(first, last)
    }

    /// Expects an access of runs of lanes, whose first ones are at `starts`, and asks for all of its lines.
    pub(super) fn expect_contiguous(&mut self, starts: &[Value], affine: Affine) {
        let lanes = match affine.whole {
            true => LANES,
            false => self.row as usize,
        };
        let (_, lines) = lines(affine.stride, lanes);
        if affine.stride == 0 || lines * starts.len() as i64 > BURST {
            return;
        }
        let Some(ahead) = self.expect(starts[0], affine) else {
            return;
        };
        for &start in starts {
            let there = self.b.iadd(start, ahead.delta);
            self.prefetch(ahead.into, there, (0, affine.stride, lanes));
        }
    }

    /// Asks for the lines of so many lanes whose elements are `stride` apart, the first at `start` and a constant.
    pub(super) fn prefetch(
        &mut self,
        into: VirOp,
        start: Value,
        (offset, stride, lanes): (i32, i64, usize),
    ) {
        let (step, count) = lines(stride, lanes);
        for n in 0..count {
            let away = i64::from(offset) + n * step;
            let at = self.b.iadd_imm(start, away);
            self.b.effect(into, &[at]);
        }
    }
}

/// How far the lines of so many lanes are apart, and how many there are.
fn lines(stride: i64, lanes: usize) -> (i64, i64) {
    let lanes = lanes as i64;
    match stride.abs() {
        LINE.. => (stride, lanes),
        bytes => (LINE * stride.signum(), (bytes * lanes / LINE).max(1)),
    }
}
