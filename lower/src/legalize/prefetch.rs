//! Prefetches for later waves. Waves run one after the other, and the wave with the same number in
//! the next workgroup usually accesses elements as far ahead of this one's as these are ahead of the
//! previous workgroup's. So each wave records the addresses of its accesses ([`WaveState::last`]), and
//! while it accesses cache lines it prefetches those at the same distance. A misprediction wastes one
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

use super::{Code, Region, offset32};
use crate::analysis::schedule::is_computed;
use crate::analysis::uniformity::{Affine, Facts};
use crate::ir::memory::load_or_store;
use crate::ir::{Block, Func, Val};
use crate::options::{Forms, Options};
use crate::passes::sink;
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
fn suits(f: &Func, o: &Options) -> bool {
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

impl Code<'_> {
    /// The distance (I64) of an access with this entry of [`WaveState::last`], whose first lane's
    /// host address is `first` now, from the recorded one; records `first` for the next workgroup.
    fn moved(&mut self, entry: usize, first: Value) -> Value {
        let at = offset32(offset_of!(WaveState, last) + size_of::<u64>() * entry);
        let last = self
            .b
            .load(types::I64, Memory::Trusted, self.region.wave(), at);
        self.b.store(Memory::Trusted, first, self.region.wave(), at);
        self.b.isub(first, last)
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
            let at = self.b.iadd_imm(start, away);
            self.b.effect(into, &[at]);
        }
    }
}

/// The prefetches of a region, with those that are requested later than predicted.
pub(super) struct Prefetches {
    /// The region has prefetches.
    in_region: bool,
    /// The current block has prefetches.
    in_block: bool,
    /// The current block.
    block: usize,
    /// Number of [`WaveState::last`] entries in use.
    entries: usize,
    /// Prefetches that are not emitted yet.
    deferred: Deferred,
}

impl Prefetches {
    /// Finds out whether a region has prefetches.
    pub(super) fn new(region: &Region<'_>, facts: &Facts) -> Prefetches {
        let mut prefetches = Prefetches {
            in_region: suits(region.func(), region.options()),
            in_block: false,
            block: 0,
            entries: 0,
            deferred: Deferred::default(),
        };
        if prefetches.in_region {
            prefetches.find_last_stores(region, facts);
        }
        prefetches
    }

    /// Begins a block, which requests its share of the deferred lines.
    pub(super) fn begin_block(&mut self, f: &Func, block: usize) {
        self.in_block = self.in_region && !sink::goes_round_at_once(f, block);
        self.block = block;
        self.begin_share(block);
    }

    /// Has the region prefetches?
    pub(super) fn is_in_region(&self) -> bool {
        self.in_region
    }

    /// Begins code of the block without prefetches; returns what [`Self::resume`] restores.
    pub(super) fn suspend(&mut self) -> bool {
        std::mem::replace(&mut self.in_block, false)
    }

    /// Ends such code.
    pub(super) fn resume(&mut self, in_block: bool) {
        self.in_block = in_block;
    }

    /// An entry of [`WaveState::last`], if one is left.
    fn new_entry(&mut self) -> Option<usize> {
        let entry = self.entries;
        if entry + self.deferred.entries() >= LAST {
            return None;
        }
        self.entries += 1;
        Some(entry)
    }

    /// The distance (I64) of an access, whose first lane's host address is `first` now, from the
    /// previous workgroup's, if an entry is left for it.
    pub(super) fn moved_on(&mut self, code: &mut Code<'_>, first: Value) -> Option<Value> {
        let entry = self.new_entry()?;
        Some(code.moved(entry, first))
    }
}

impl Code<'_> {
    /// Predicts the next address of an access with this entry of [`WaveState::last`], whose first
    /// lane's host address is `first` now.
    fn predict_in(&mut self, entry: usize, first: Value, affine: Affine) -> Prefetch {
        let delta = self.moved(entry, first);
        // Rows of lanes are often powers of two apart. In the first-level cache their lines would
        // evict each other.
        let into = match affine.whole || self.region.options().host.is_memory_far() {
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
}

impl Prefetches {
    /// Predicts the next address of an access whose first lane's host address is `first` now;
    /// `None` where there are no prefetches.
    pub(super) fn expect(
        &mut self,
        code: &mut Code<'_>,
        first: Value,
        affine: Affine,
    ) -> Option<Prefetch> {
        if !self.in_block {
            return None;
        }
        let entry = self.new_entry()?;
        Some(code.predict_in(entry, first, affine))
    }

    /// Predicts an access of contiguous runs of lanes, whose first addresses are `starts`, and
    /// prefetches all of its lines.
    pub(super) fn expect_contiguous(
        &mut self,
        code: &mut Code<'_>,
        starts: &[Value],
        affine: Affine,
    ) {
        let lanes = match affine.whole {
            true => LANES,
            false => code.region.row() as usize,
        };
        let (_, lines) = lines(affine.stride, lanes);
        if affine.stride == 0 || lines * starts.len() as i64 > BURST {
            return;
        }
        let Some(prefetch_at) = self.expect(code, starts[0], affine) else {
            return;
        };
        for &start in starts {
            let there = code.b.iadd(start, prefetch_at.delta);
            code.prefetch(prefetch_at.into, there, (0, affine.stride, lanes));
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
