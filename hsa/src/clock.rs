//! Time in ticks of a nanosecond, on the clock that ROCm's clients read themselves.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Ticks in a second.
pub(crate) const FREQUENCY: u64 = 1_000_000_000;

/// Ticks since some point in the past.
pub(crate) fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: `time` is valid for writing.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    debug_assert_eq!(failed, 0, "bug: there is no monotonic clock");
    time.tv_sec as u64 * FREQUENCY + time.tv_nsec as u64
}

/// How long a waiter polls before sleeping: an answer takes a few microseconds, a sleep and a wake
/// ten times as long.
const SPIN: Duration = Duration::from_micros(30);

/// The same if the answering thread last ran on this processor: it cannot run while this one polls.
const SHORT_SPIN: Duration = Duration::from_micros(2);

/// The same while that thread is being woken, which takes longer than its work afterwards.
const WAKE: Duration = Duration::from_micros(100);

/// A longer time slice of other work on this processor indicates a busy machine.
const LONG_TURN: Duration = Duration::from_micros(100);

/// How long the machine then counts as busy, in ticks.
const BUSY: u64 = FREQUENCY;

/// How long no waiter yields after the thread has moved to this processor, in ticks: two threads
/// that alternate on one processor would stay there, while those that sleep and wake are separated.
const APART: u64 = FREQUENCY / 1000;

/// No thread was seen yet.
const NOWHERE: i32 = -1;

/// The thread sleeps, and was called.
const COMING: i32 = -2;

/// The processor that a thread ran on when it was last seen.
pub(crate) struct Place {
    processor: AtomicI32,
    /// Until then waiters do not poll for the thread: others would take the processor.
    busy_until: AtomicU64,
}

impl Place {
    pub(crate) const fn new() -> Place {
        Place {
            processor: AtomicI32::new(NOWHERE),
            busy_until: AtomicU64::new(0),
        }
    }

    fn here() -> i32 {
        // SAFETY: it takes nothing.
        unsafe { libc::sched_getcpu() }
    }

    /// The calling thread is seen.
    pub(crate) fn see(&self) {
        self.processor.store(Place::here(), Relaxed);
    }

    /// The thread is being woken; its processor is unknown.
    pub(crate) fn call(&self) {
        if !self.is_busy() {
            self.processor.store(COMING, Relaxed);
        }
    }

    /// May the thread be starting?
    pub(crate) fn may_come(&self) -> bool {
        self.processor.load(Relaxed) == COMING || self.is_busy()
    }

    fn is_busy(&self) -> bool {
        now() < self.busy_until.load(Relaxed)
    }

    /// Yields this processor to the thread, if it is to run here.
    fn make_way(&self) {
        let begin = Instant::now();
        std::thread::yield_now();
        let pause = if begin.elapsed() > LONG_TURN {
            BUSY
        } else if self.processor.load(Relaxed) == Place::here() {
            APART
        } else {
            return;
        };
        self.busy_until.store(now() + pause, Relaxed);
    }

    /// Polls for a short time, at most `limit`, for a condition that the thread makes true; false
    /// on timeout.
    pub(crate) fn spin(&self, limit: Duration, mut look: impl FnMut() -> bool) -> bool {
        let begin = Instant::now();
        // The time until which the thread was starting.
        let mut coming = Duration::ZERO;
        loop {
            for _ in 0..32 {
                if look() {
                    return true;
                }
                std::hint::spin_loop();
            }
            let waited = begin.elapsed();
            let place = self.processor.load(Relaxed);
            let enough = if place == COMING {
                self.make_way();
                coming = waited;
                WAKE
            } else if place == Place::here() {
                coming + SHORT_SPIN
            } else {
                coming + SPIN
            };
            if waited >= enough.min(limit) {
                return false;
            }
        }
    }
}
