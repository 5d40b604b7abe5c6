//! Accesses that need not be announced, or not be compared with others, because none conflicts with them.
//!
//! A load has no conflict if no wave stores to the allocation during the dispatch, or to LDS between the same barriers. The sanitizer
//! assumes that once a workgroup has completed without such a store. Translated code then compares the addresses of a load with the
//! settled range, and announces only lanes outside of it. Stores are always announced, so a failed assumption is detected: the dispatch
//! is void, and the caller repeats it from the same memory. What stores have shown is kept, so an assumption fails once.
//!
//! Of accesses to LDS in an interval with stores it assumes that the ranges of two waves do not conflict (`sanitizer/hulls.rs`), once a
//! few workgroups have completed in which they did not.

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::running::Phase;

/// The barrier that begins an interval of a workgroup, by the number of its instruction; `None` where the kernel begins.
pub(super) type Begin = Option<u16>;

/// Allocations or intervals of which something is assumed.
struct Assumed<T> {
    assumed: FxHashSet<T>,
    /// Those of which accesses have shown that it does not hold.
    refuted: FxHashSet<T>,
}

impl<T> Default for Assumed<T> {
    fn default() -> Assumed<T> {
        Assumed {
            assumed: FxHashSet::default(),
            refuted: FxHashSet::default(),
        }
    }
}

impl<T: Copy + Eq + Hash> Assumed<T> {
    /// An access shows that it does not hold there: does an assumption fail?
    fn refute(&mut self, of: T) -> bool {
        self.refuted.insert(of);
        self.assumed.contains(&of)
    }

    /// Assumes it there, unless it is refuted.
    fn assume(&mut self, of: T) -> bool {
        let assumes = !self.refuted.contains(&of);
        if assumes {
            self.assumed.insert(of);
        }
        assumes
    }
}

/// What is assumed of accesses to LDS in an interval between barriers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AssumedOfLds {
    /// No wave stores.
    pub(super) no_stores: bool,
    /// The ranges that waves access do not conflict.
    pub(super) apart: bool,
}

/// What is assumed of the dispatch.
#[derive(Default)]
pub(super) struct Settled {
    /// Dispatches can be repeated.
    on: bool,
    /// A workgroup has completed, this is the only dispatch, and no rule needs the loads of the remaining workgroups.
    ready: bool,
    void: bool,
    /// Workgroups that have completed in the dispatch.
    groups: usize,
    /// No wave stores to these allocations; by their first addresses.
    memory: Assumed<u64>,
    /// No wave stores to LDS in these intervals.
    lds: Assumed<Begin>,
    /// Ranges of LDS that waves access in these intervals do not conflict.
    hulls: Assumed<Begin>,
}

/// Workgroups whose accesses to LDS are all compared.
const COMPARED: usize = 4;

impl Settled {
    /// Dispatches can be repeated from now on, or not.
    pub(super) fn assume(&mut self, on: bool) {
        *self = Settled {
            on,
            ..Settled::default()
        };
    }

    /// A dispatch begins, and no other one is active.
    pub(super) fn begin_dispatch(&mut self) {
        self.ready = false;
        self.groups = 0;
        self.memory.assumed.clear();
        self.lds.assumed.clear();
        self.hulls.assumed.clear();
    }

    /// A workgroup has completed. `ready`: see [`Settled::ready`].
    pub(super) fn end_group(&mut self, ready: bool) {
        self.ready = ready;
        self.groups += 1;
    }

    /// A dispatch ends before all of its workgroups have: what they did between their last barriers and the end is not known.
    pub(super) fn end_incomplete(&mut self) {
        if !self.hulls.assumed.is_empty() {
            self.void = true;
            self.on = false;
        }
    }

    /// Is the dispatch void? Resets this.
    pub(super) fn take_void(&mut self) -> bool {
        std::mem::take(&mut self.void)
    }

    pub(super) fn is_void(&self) -> bool {
        self.void
    }

    /// A store may be to any allocation: disables assumptions.
    pub(super) fn store_anywhere(&mut self) {
        self.void |= !self.memory.assumed.is_empty();
        self.on = false;
    }

    /// A wave stores to an allocation.
    pub(super) fn store(&mut self, allocation: u64) {
        self.void |= self.memory.refute(allocation);
    }

    /// A wave stores to LDS in an interval.
    pub(super) fn store_lds(&mut self, interval: Begin) {
        self.void |= self.lds.refute(interval);
    }

    /// Can dispatches be repeated?
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// An interval has ended.
    pub(super) fn check_hulls(&mut self, phase: &mut Phase) {
        if !phase.hulls.are_disjoint() {
            self.overlap(phase.barrier());
        }
    }

    /// Ranges of LDS that waves access in an interval conflict.
    fn overlap(&mut self, interval: Begin) {
        self.void |= self.hulls.refute(interval);
    }

    /// Assumes that no wave stores to the allocation, if it may.
    pub(super) fn assumes(&mut self, allocation: u64) -> bool {
        self.on && self.ready && self.memory.assume(allocation)
    }

    /// What it assumes of such an interval.
    pub(super) fn assumes_of_lds(&mut self, interval: Begin) -> AssumedOfLds {
        let may = self.on && self.ready;
        AssumedOfLds {
            no_stores: may && self.lds.assume(interval),
            apart: may && self.groups >= COMPARED && self.hulls.assume(interval),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_assumed_disjoint_after_some_workgroups() {
        let mut settled = Settled::default();
        settled.assume(true);
        settled.begin_dispatch();
        for _ in 0..COMPARED {
            assert!(!settled.assumes_of_lds(None).apart);
            settled.end_group(true);
        }
        settled.overlap(Some(1));
        assert!(settled.assumes_of_lds(None).apart && !settled.assumes_of_lds(Some(1)).apart);
        settled.overlap(Some(1));
        assert!(!settled.take_void());
        settled.overlap(None);
        assert!(settled.take_void() && !settled.assumes_of_lds(None).apart);
        settled.end_incomplete();
        assert!(settled.take_void(), "other intervals may have conflicts");
        assert!(!settled.assumes_of_lds(Some(2)).apart);
        settled.assume(true);
        settled.begin_dispatch();
        settled.end_incomplete();
        assert!(!settled.take_void(), "nothing was assumed");
    }

    #[test]
    fn a_failed_assumption_is_made_once() {
        let mut settled = Settled::default();
        settled.end_group(true);
        assert!(!settled.assumes(0x1000), "dispatches can not be repeated");
        settled.assume(true);
        settled.begin_dispatch();
        assert!(!settled.assumes(0x1000), "no workgroup has ended");
        settled.store(0x2000);
        settled.store_lds(None);
        settled.end_group(true);
        assert!(settled.assumes(0x1000) && !settled.assumes(0x2000));
        let no_stores =
            |settled: &mut Settled, interval| settled.assumes_of_lds(interval).no_stores;
        assert!(no_stores(&mut settled, Some(7)) && !no_stores(&mut settled, None));
        settled.store(0x2000);
        settled.store_lds(Some(8));
        assert!(!settled.is_void());
        settled.store(0x1000);
        assert!(settled.take_void() && !settled.take_void());
        settled.begin_dispatch();
        settled.end_group(true);
        assert!(!settled.assumes(0x1000) && no_stores(&mut settled, Some(7)));
        settled.store_lds(Some(7));
        assert!(settled.take_void());
        settled.assume(true);
        settled.end_group(true);
        assert!(settled.assumes(0x1000), "another launch");
        settled.end_group(false);
        assert!(!settled.assumes(0x3000), "two dispatches run");
        settled.end_group(true);
        settled.store_anywhere();
        assert!(settled.take_void() && !settled.assumes(0x3000));
    }
}
