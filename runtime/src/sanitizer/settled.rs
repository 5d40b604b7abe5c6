//! Loads that need not be announced, since nothing changes what they read.
//!
//! A load conflicts with nothing if no wave stores to the allocation while the dispatch runs, or to LDS between the same barriers. That is
//! assumed once a workgroup has run to its end without such a store. From then on translated code compares the addresses of a load with
//! the range that is settled, and announces the others only. Stores are always announced, so an assumption that fails is noticed: the
//! dispatch is void then, and the one who launched it repeats it from the same memory. What was learned is kept, so that the
//! same assumption is not made again.

use rustc_hash::FxHashSet;

/// The barrier that begins an interval of a workgroup, by the number of its instruction; `None` where the kernel begins.
pub(super) type Begin = Option<u16>;

/// What is assumed of the dispatch that runs, and what is known.
#[derive(Default)]
pub(super) struct Settled {
    /// Dispatches can be repeated.
    on: bool,
    /// A workgroup of the only dispatch that runs has ended, and all loads of later ones need not be known.
    ready: bool,
    void: bool,
    /// First addresses of allocations that were stored to, also in void dispatches.
    stored: FxHashSet<u64>,
    /// First addresses of those that are assumed not to be.
    assumed: FxHashSet<u64>,
    /// Intervals in which LDS was stored to, also in void dispatches.
    stored_lds: FxHashSet<Begin>,
    /// Those in which it is assumed not to be.
    assumed_lds: FxHashSet<Begin>,
}

impl Settled {
    /// Dispatches can be repeated from now on, or not.
    pub(super) fn assume(&mut self, on: bool) {
        *self = Settled {
            on,
            ..Settled::default()
        };
    }

    /// A dispatch begins, and no other one runs.
    pub(super) fn begin_dispatch(&mut self) {
        self.ready = false;
        self.assumed.clear();
        self.assumed_lds.clear();
    }

    /// A workgroup has ended. `ready`: the dispatch is the only one, and later workgroups' loads are of no other interest.
    pub(super) fn end_group(&mut self, ready: bool) {
        self.ready = ready;
    }

    /// Has an assumption failed? The dispatch is void; the next one is not.
    pub(super) fn take_void(&mut self) -> bool {
        std::mem::take(&mut self.void)
    }

    pub(super) fn is_void(&self) -> bool {
        self.void
    }

    /// Nobody knows what is stored to: nothing is assumed from now on.
    pub(super) fn assume_no_more(&mut self) {
        self.void |= !self.assumed.is_empty();
        self.on = false;
    }

    /// A wave stores to an allocation.
    pub(super) fn store(&mut self, allocation: u64) {
        self.void |= self.assumed.contains(&allocation);
        self.stored.insert(allocation);
    }

    /// Is it assumed from now on that nobody stores to the allocation?
    pub(super) fn assumes(&mut self, allocation: u64) -> bool {
        let assumes = self.on && self.ready && !self.stored.contains(&allocation);
        if assumes {
            self.assumed.insert(allocation);
        }
        assumes
    }

    /// A wave stores to LDS in an interval.
    pub(super) fn store_lds(&mut self, interval: Begin) {
        self.void |= self.assumed_lds.contains(&interval);
        self.stored_lds.insert(interval);
    }

    /// Is it assumed from now on that nobody stores to LDS in such intervals?
    pub(super) fn assumes_lds(&mut self, interval: Begin) -> bool {
        let assumes = self.on && self.ready && !self.stored_lds.contains(&interval);
        if assumes {
            self.assumed_lds.insert(interval);
        }
        assumes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(settled.assumes_lds(Some(7)) && !settled.assumes_lds(None));
        settled.store(0x2000);
        settled.store_lds(Some(8));
        assert!(!settled.is_void());
        settled.store(0x1000);
        assert!(settled.take_void() && !settled.take_void());
        settled.begin_dispatch();
        settled.end_group(true);
        assert!(!settled.assumes(0x1000) && settled.assumes_lds(Some(7)));
        settled.store_lds(Some(7));
        assert!(settled.take_void());
        settled.assume(true);
        settled.end_group(true);
        assert!(settled.assumes(0x1000), "another launch");
        settled.end_group(false);
        assert!(!settled.assumes(0x3000), "two dispatches run");
        settled.end_group(true);
        settled.assume_no_more();
        assert!(settled.take_void() && !settled.assumes(0x3000));
    }
}
