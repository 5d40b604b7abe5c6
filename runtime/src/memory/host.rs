//! Host ranges that an embedder lends to the guest: bookkeeping only.

use std::cell::RefCell;
use std::sync::RwLock;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// The registered ranges, with bounds of them all so that most addresses are refused at once.
#[derive(Debug)]
pub(super) struct HostRanges {
    low: AtomicU64,
    high: AtomicU64,
    /// Number of the ranges as they are now, unlike that of any others in the process; 0 of none.
    version: AtomicU64,
    /// By start.
    ranges: RwLock<Vec<Range>>,
}

/// The newest number of any ranges.
static VERSIONS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    /// This thread's copy of the ranges, with their version. They are read for each access, and a
    /// shared lock would contend.
    static SEEN: RefCell<(u64, Vec<Range>)> = const { RefCell::new((0, Vec::new())) };
}

/// Guest addresses and their host memory.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u64,
    end: u64,
    /// Host address of the first byte.
    host: u64,
}

impl Default for HostRanges {
    fn default() -> HostRanges {
        HostRanges {
            low: AtomicU64::new(u64::MAX),
            high: AtomicU64::new(0),
            version: AtomicU64::new(0),
            ranges: RwLock::default(),
        }
    }
}

impl HostRanges {
    pub(super) fn add(&self, start: u64, len: u64, host: u64) {
        let mut ranges = self.ranges.write().expect("no holder of the lock panics");
        let at = ranges.partition_point(|other| other.start < start);
        let end = start.saturating_add(len);
        ranges.insert(at, Range { start, end, host });
        self.bound(&ranges);
    }

    pub(super) fn remove(&self, start: u64) -> bool {
        let mut ranges = self.ranges.write().expect("no holder of the lock panics");
        let found = ranges.iter().position(|other| other.start == start);
        if let Some(at) = found {
            ranges.remove(at);
            self.bound(&ranges);
        }
        found.is_some()
    }

    /// Start and end of what the ranges cover, in ascending order; ranges that overlap are one.
    pub(super) fn covered(&self) -> Vec<(u64, u64)> {
        let ranges = self.ranges.read().expect("no holder of the lock panics");
        let mut out: Vec<(u64, u64)> = Vec::new();
        for range in ranges.iter() {
            match out.last_mut() {
                Some((_, end)) if range.start < *end => *end = range.end.max(*end),
                _ => out.push((range.start, range.end)),
            }
        }
        out
    }

    fn bound(&self, ranges: &[Range]) {
        let low = ranges.iter().map(|range| range.start).min();
        let high = ranges.iter().map(|range| range.end).max();
        self.low.store(low.unwrap_or(u64::MAX), Relaxed);
        self.high.store(high.unwrap_or(0), Relaxed);
        let version = VERSIONS.fetch_add(1, Relaxed) + 1;
        self.version.store(version, Release);
    }

    /// Host address of the `bytes` bytes at `address`, when all of them lie in one range.
    pub(super) fn find(&self, address: u64, bytes: u64) -> Option<u64> {
        if address < self.low.load(Relaxed) || address >= self.high.load(Relaxed) {
            return None;
        }
        SEEN.with_borrow_mut(|(version, seen)| {
            if *version != self.version.load(Acquire) {
                let ranges = self.ranges.read().expect("no holder of the lock panics");
                // Writers change both under the lock.
                *version = self.version.load(Relaxed);
                seen.clone_from(&ranges);
            }
            seen.iter()
                .take_while(|range| range.start <= address)
                .find(|range| address < range.end && range.end - address >= bytes)
                .map(|range| range.host + (address - range.start))
        })
    }
}
