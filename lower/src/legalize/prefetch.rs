//! Prefetches for later waves. Waves run one after the other, and the wave with the same number in
//! the next workgroup usually accesses elements as far prefetch_at as this one is prefetch_at of the previous
//! workgroup's. So each wave records the addresses of its accesses ([`WaveState::last`]), and while
//! it accesses cache lines it prefetches those the same distance prefetch_at. A misprediction wastes one
//! line fetch; results are unaffected.
//!
//! Short waves have no prefetches, unless they gather or memory latency is high
//! ([`Host::far_memory`]): the out-of-order window spans from one into the next. Nor have loops,
//! whose accesses the hardware prefetcher predicts (but see `interchange/prefetch.rs`), unless an
//! iteration has a barrier: the other waves run in between, and the next iteration's lines are
//! prefetched. For indirect addresses, the next workgroup's indices are loaded (`indirect`).

use std::mem::offset_of;

use frontend::op::Space;
use frontend::state::{LANES, LAST, WaveState};

use super::{Emitter, offset32};
use crate::analysis::schedule::is_computed;
use crate::analysis::uniformity::Affine;
use crate::ir::memory::load_or_store;
use crate::ir::{Block, Func, Val};
use crate::options::{Forms, Options};
use crate::vir::{Memory, Op as VirOp, Value, types};

mod deferred;
mod indirect;

pub(super) use deferred::Deferred;
pub(super) use indirect::Indirect;

/// Minimum number of guest instructions of a region that is not short. Each is four host
/// instructions or more, of which the out-of-order window holds 200 to 500.
const LONG: u32 = 64;

/// Bytes of a cache line.
pub(super) const LINE: i64 = 64;

/// Maximum number of lines to prefetch at once: about as many as can be outstanding.
const BURST: i64 = 16;

/// The predicted address of an access.
#[derive(Clone, Copy)]
pub(super) struct Prefetch {
    /// Its distance from the current one (I64).
    pub(super) delta: Value,
    /// The predicted address of the first lane.
    pub(super) start: Value,
    /// Target cache level.
    pub(super) into: VirOp,
    /// Its entry of [`WaveState::last`].
    pub(super) entry: usize,
}

/// Does a region have prefetches, outside of loops without barriers?
pub(super) fn suits(f: &Func, o: &Options) -> bool {
    if !o.host.is_wide() || o.baseline || !o.has(Forms::PREFETCHES) {
        return false;
    }
    let length: u32 = f.blocks.iter().map(|block| block.guest_insts).sum();
    let gathers = |block: &Block| block.effects.iter().any(|&v| is_loaded(block, v));
    length >= LONG || o.host.is_memory_far() || f.blocks.iter().any(gathers)
}

/// Is a node a memory access at an indirect address?
fn is_loaded(block: &Block, v: Val) -> bool {
    let node = &block.nodes[v.index()];
    let access = load_or_store(node.op);
    let of_memory = access.is_some_and(|(_, space, ..)| space != Space::Lds);
    of_memory && !is_computed(block, node.args[0])
}

impl Emitter<'_> {
    /// Predicts the next address of an access whose first lane's host address is `first` now;
    /// `None` where there are no prefetches.
    pub(super) fn expect(&mut self, first: Value, affine: Affine) -> Option<Prefetch> {
        if !self.prefetches {
            return None;
        }
        let entry = self.new_entry()?;
        Some(self.predict_in(entry, first, affine))
    }

    /// An entry of [`WaveState::last`], if one is left.
    fn new_entry(&mut self) -> Option<usize> {
        let entry = self.expected;
        if entry + self.deferred.entries() >= LAST {
            return None;
        }
        self.expected += 1;
        Some(entry)
    }

    /// The same for an access with an entry of [`WaveState::last`].
    fn predict_in(&mut self, entry: usize, first: Value, affine: Affine) -> Prefetch {
        let delta = self.moved(entry, first);
        // Rows of lanes are often powers of two apart. In the first-level cache their lines would
        // evict each other.
        let into = match affine.whole || self.code.region.options().host.is_memory_far() {
            true => VirOp::Prefetch,
            false => VirOp::PrefetchSecond,
        };
        let start = self.code.b.iadd(first, delta);
        Prefetch {
            delta,
            start,
            into,
            entry,
        }
    }

    /// The distance (I64) of an access, whose first lane's host address is `first` now, from the
    /// previous workgroup's, if an entry is left for it.
    pub(super) fn moved_on(&mut self, first: Value) -> Option<Value> {
        let entry = self.new_entry()?;
        Some(self.moved(entry, first))
    }

    /// The distance (I64) of an access with such an entry, whose first lane's host address is
    /// `first` now, from the recorded one; records `first` for the next workgroup.
    fn moved(&mut self, entry: usize, first: Value) -> Value {
        let at = offset32(offset_of!(WaveState, last) + size_of::<u64>() * entry);
        let last = self
            .code
            .b
            .load(types::I64, Memory::Trusted, self.code.region.wave(), at);
        self.code
            .b
            .store(Memory::Trusted, first, self.code.region.wave(), at);
        self.code.b.isub(first, last)
    }

    /// Predicts an access of contiguous runs of lanes, whose first addresses are `starts`, and
    /// prefetches all of its lines.
    pub(super) fn expect_contiguous(&mut self, starts: &[Value], affine: Affine) {
        let lanes = match affine.whole {
            true => LANES,
            false => self.code.region.row() as usize,
        };
        let (_, lines) = lines(affine.stride, lanes);
        if affine.stride == 0 || lines * starts.len() as i64 > BURST {
            return;
        }
        let Some(prefetch_at) = self.expect(starts[0], affine) else {
            return;
        };
        for &start in starts {
            let there = self.code.b.iadd(start, prefetch_at.delta);
            self.prefetch(prefetch_at.into, there, (0, affine.stride, lanes));
        }
    }

    /// Prefetches the lines of lanes whose elements are `stride` apart, the first at `start` plus a
    /// constant.
    pub(super) fn prefetch(
        &mut self,
        into: VirOp,
        start: Value,
        (offset, stride, lanes): (i32, i64, usize),
    ) {
        let (step, count) = lines(stride, lanes);
        for n in 0..count {
            let away = i64::from(offset) + n * step;
            let at = self.code.b.iadd_imm(start, away);
            self.code.b.effect(into, &[at]);
        }
    }
}

/// The distance between the lines of these lanes, and their number.
fn lines(stride: i64, lanes: usize) -> (i64, i64) {
    let lanes = lanes as i64;
    match stride.abs() {
        LINE.. => (stride, lanes),
        bytes => (LINE * stride.signum(), (bytes * lanes / LINE).max(1)),
    }
}
