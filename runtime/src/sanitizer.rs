//! Dynamic checks: data races, reads of what nobody wrote, accesses out of allocations, divergent barriers.
//!
//! Engines announce each access to global memory and LDS, each barrier and what orders memory, before it is made, to
//! the [`Sanitizer`] of the guest memory. It compares accesses by their order (`sanitizer/order.rs`), not by the order in which this
//! run made them: two accesses that nothing orders are a race in each run that makes both. The translating engine announces
//! by calls in the code (`EffectFn::Observe` of `lower`), the interpreter by an observer (`sanitizer/interp.rs`).
//!
//! The sources of the rules of order are LLVM's memory model for AMDGPU and its code for fences: a release waits for
//! `vmcnt(0)`, an acquire is a load that bypasses L1 or an atomic, followed by `buffer_wbinvl1`.
//!
//! Dispatches run on one worker thread, so that findings are the same in each run.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::engine::Group;
use crate::memory::Memory;

mod addresses;
mod barriers;
mod findings;
mod hulls;
mod interp;
mod order;
mod reads;
mod record;
mod running;
mod runs;
mod settled;
mod shadow;
mod sites;
mod state;
#[cfg(test)]
mod tests;

pub(crate) use addresses::Addresses;
pub use findings::{Finding, Rule, Side};
pub(crate) use interp::step;
pub use record::AccessKind;
pub(crate) use runs::{Stored, WaveAccess, kind_of, returns};
use state::State;

/// The most waves of a workgroup.
pub(crate) const MAX_WAVES: usize = 32;

/// Bytes of a word.
const WORD: u64 = 4;

/// Checks what waves do with memory.
pub struct Sanitizer {
    state: Mutex<State>,
}

/// What the sanitizer need not be told of a wave.
#[cfg(feature = "jit")]
#[derive(Clone, Copy, Default)]
pub(crate) struct Known {
    /// Lanes that it has seen active.
    pub(crate) lanes: u64,
    /// Bytes of LDS, from the beginning on, from which loads need not be announced until the next barrier.
    pub(crate) lds: u64,
}

impl Sanitizer {
    /// For guest memory with `len` bytes from `base` on.
    pub(crate) fn new(base: u64, len: u64) -> Sanitizer {
        Sanitizer {
            state: Mutex::new(State::new(base, len)),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found since the last call.
    pub fn take(&self) -> Vec<Finding> {
        self.lock().take(None)
    }

    /// What was found in dispatches with this [`Settings::launch`](crate::dispatch::Settings::launch) since the last call.
    pub fn take_launch(&self, launch: u64) -> Vec<Finding> {
        self.lock().take(Some(launch))
    }

    /// A dispatch of this launch begins: its number.
    pub(crate) fn begin_dispatch(&self, launch: u64) -> u64 {
        self.lock().begin_dispatch(launch)
    }

    /// A dispatch in this memory ends. `is_complete`: all workgroups have ended.
    pub(crate) fn end_dispatch(&self, number: u64, memory: &Memory, is_complete: bool) {
        self.lock().end_dispatch(number, memory, is_complete);
    }

    /// All waves of the group have ended.
    pub(crate) fn end_group(&self, group: &Group<'_>) {
        self.lock().end_group(group);
    }

    /// With `on`, [`Rule::RedundantBarrier`] is looked for in dispatches that begin from now on. This takes long where there is one.
    pub fn examine_barriers(&self, on: bool) {
        self.lock().examine_barriers(on);
    }

    /// Barriers of the last dispatch on which nothing depends, unless other workgroups learn of accesses that they order. Such a barrier
    /// is redundant if the dispatch, repeated from the same memory while it is [disregarded](Sanitizer::disregard), has no race.
    pub fn take_suspects(&self) -> Vec<Finding> {
        self.lock().take_suspects()
    }

    /// A barrier of [`Sanitizer::take_suspects`] makes no order from now on; `None`: all do. Meanwhile no barriers are looked for on which
    /// nothing depends.
    pub fn disregard(&self, barrier: Option<&Finding>) {
        self.lock().disregard(barrier);
    }

    /// With `on`, translated code announces fewer loads and is faster, by assumptions that may fail. The caller then calls
    /// [`Sanitizer::take_void`] after each launch; if it returns true, the caller restores memory and repeats the launch. This call
    /// discards what launches have shown, so it precedes a new launch, but not a repetition.
    pub fn assume(&self, on: bool) {
        self.lock().settled().assume(on);
    }

    /// Was the last launch void because an assumption of [`Sanitizer::assume`] failed? Its findings do not count. The next call
    /// returns false until another launch is void.
    pub fn take_void(&self) -> bool {
        self.lock().settled().take_void()
    }

    /// A wave is about to access global memory. Of a load: begin and end of the memory from which it need not be announced.
    pub(crate) fn global(&self, group: &Group<'_>, access: &WaveAccess<'_>) -> Option<(u64, u64)> {
        self.lock().global(group, access)
    }

    /// A wave is about to access LDS. Of a load: need it not be announced in intervals that are settled?
    pub(crate) fn lds(&self, group: &Group<'_>, access: &WaveAccess<'_>) -> bool {
        self.lock().lds(group, access)
    }

    /// What it need not be told of the waves of the group.
    #[cfg(feature = "jit")]
    pub(crate) fn known(&self, group: &Group<'_>) -> [Known; MAX_WAVES] {
        self.lock().known(group)
    }

    /// A wave arrives at a barrier with these lanes active. [`Known::lds`] behind it.
    pub(crate) fn barrier(&self, group: &Group<'_>, wave: u32, pc: u64, exec: u64) -> u64 {
        let mut state = self.lock();
        state.barrier(group, wave as u8, pc, exec);
        state.lds_settled(group, wave as u8)
    }

    /// A wave has waited for all its vector memory accesses.
    pub(crate) fn waited(&self, group: &Group<'_>, wave: u32) {
        self.lock().waited(group, wave as u8);
    }

    /// A wave invalidates its L1 cache.
    pub(crate) fn acquire(&self, group: &Group<'_>, wave: u32) {
        self.lock().acquire(group, wave as u8);
    }

    /// The running wave arrives at a barrier of the global wave sync, or lets others pass a semaphore.
    pub(crate) fn sync_arrives(&self, group: &Group<'_>, resource: u8) {
        self.lock().sync_arrives(group, group.wave as u8, resource);
    }

    /// All waves have arrived at it.
    pub(crate) fn sync_completes(&self, resource: u8) {
        self.lock().sync_completes(resource);
    }

    /// The running wave passes a barrier or a semaphore.
    pub(crate) fn sync_passes(&self, group: &Group<'_>, resource: u8) {
        self.lock().sync_passes(group, resource);
    }

    /// Lanes of an atomic access both global memory and LDS.
    pub(crate) fn mixed_atomic(&self, group: &Group<'_>, wave: u32, pc: u64) {
        self.lock().mixed_atomic(group, wave as u8, pc);
    }
}
