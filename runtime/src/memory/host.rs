//! Host ranges that an embedder lends to the guest: bookkeeping only.

use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The registered ranges, with bounds of them all so that most addresses are refused at once.
#[derive(Debug)]
pub(super) struct HostRanges {
    low: AtomicU64,
    high: AtomicU64,
    /// Start and end, by start.
    ranges: RwLock<Vec<(u64, u64)>>,
}

impl Default for HostRanges {
    fn default() -> HostRanges {
        HostRanges {
            low: AtomicU64::new(u64::MAX),
            high: AtomicU64::new(0),
            ranges: RwLock::default(),
        }
    }
}

impl HostRanges {
    pub(super) fn add(&self, start: u64, len: u64) {
        let mut ranges = self.ranges.write().expect("no holder of the lock panics");
        let at = ranges.partition_point(|&(other, _)| other < start);
        ranges.insert(at, (start, start.saturating_add(len)));
        self.bound(&ranges);
    }

    pub(super) fn remove(&self, start: u64) -> bool {
        let mut ranges = self.ranges.write().expect("no holder of the lock panics");
        let found = ranges.iter().position(|&(other, _)| other == start);
        if let Some(at) = found {
            ranges.remove(at);
            self.bound(&ranges);
        }
        found.is_some()
    }

    fn bound(&self, ranges: &[(u64, u64)]) {
        let low = ranges.iter().map(|range| range.0).min();
        let high = ranges.iter().map(|range| range.1).max();
        self.low.store(low.unwrap_or(u64::MAX), Relaxed);
        self.high.store(high.unwrap_or(0), Relaxed);
    }

    /// Do all of `bytes` bytes at `address` lie in one range?
    pub(super) fn contains(&self, address: u64, bytes: u64) -> bool {
        if address < self.low.load(Relaxed) || address >= self.high.load(Relaxed) {
            return false;
        }
        let ranges = self.ranges.read().expect("no holder of the lock panics");
        ranges
            .iter()
            .take_while(|&&(start, _)| start <= address)
            .any(|&(_, end)| address < end && end - address >= bytes)
    }
}
