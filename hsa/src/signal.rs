//! Signals. Each is a real `amd_signal_t` in guest memory, so that kernels may write it; further
//! state (is it alive, does a thread wait) is kept outside, where no kernel can corrupt it.
//!
//! A change through the interface wakes waiters. A change by a kernel cannot: while kernels run,
//! sleepers poll, at short intervals first.

use std::sync::atomic::{AtomicI64, AtomicU8, AtomicU32, AtomicU64, Ordering::SeqCst, fence};
use std::sync::{Condvar, Mutex, OnceLock};
use std::time::{Duration, Instant};

use runtime::Memory;
use runtime::memory::{AllocError, Purpose};

use crate::abi::{Handle, Outcome, Status, signal_at};
use crate::clock::Place;
use crate::lock::lock;

/// Signals that there can be at a time.
pub(crate) const MAX_SIGNALS: u32 = 1 << 18;

/// Number of signals whose further state is allocated at once.
const CHUNK: u32 = 1 << 12;

/// Longest sleep while no kernel runs.
const IDLE_SLEEP: Duration = Duration::from_millis(20);

/// A sleep that only a wake ends.
const FOREVER: Duration = Duration::from_secs(3600);

/// Places where waiters of single signals sleep.
const BEDS: usize = 64;

/// State of a signal besides its memory.
#[derive(Default)]
struct Side {
    kind: AtomicU8,
    /// Threads that wait for this signal alone.
    waiters: AtomicU32,
    /// Handlers, copies and queues that wait for this signal among others.
    watchers: AtomicU32,
}

/// Kind of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An ordinary signal.
    User = 1,
    /// A queue's doorbell.
    Doorbell = 2,
}

/// When a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    Eq,
    Ne,
    Lt,
    Gte,
}

impl Condition {
    pub(crate) fn new(number: u32) -> Outcome<Condition> {
        Ok(match number {
            0 => Condition::Eq,
            1 => Condition::Ne,
            2 => Condition::Lt,
            3 => Condition::Gte,
            _ => return Err(Status::INVALID_ARGUMENT),
        })
    }

    pub(crate) fn holds(self, value: i64, compare: i64) -> bool {
        match self {
            Condition::Eq => value == compare,
            Condition::Ne => value != compare,
            Condition::Lt => value < compare,
            Condition::Gte => value >= compare,
        }
    }
}

/// A change of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Store,
    Exchange,
    Add,
    Subtract,
    And,
    Or,
    Xor,
}

/// Where threads sleep until something changes.
#[derive(Default)]
struct Bed {
    lock: Mutex<u64>,
    wake: Condvar,
}

impl Bed {
    fn wake(&self) {
        let mut count = lock(&self.lock);
        *count = count.wrapping_add(1);
        self.wake.notify_all();
    }

    /// Sleeps until woken after `seen`, at most `time`.
    fn sleep(&self, seen: u64, time: Duration) {
        let count = lock(&self.lock);
        if *count == seen {
            drop(self.wake.wait_timeout(count, time));
        }
    }

    fn seen(&self) -> u64 {
        *lock(&self.lock)
    }
}

/// All signals.
pub(crate) struct Signals {
    base: u64,
    sides: Box<[OnceLock<Box<[Side]>>]>,
    free: Mutex<Free>,
    beds: [Bed; BEDS],
    /// Threads that wait for several signals sleep here.
    hub: Bed,
    /// Kernels that run now.
    running: AtomicU32,
    /// Threads in a long sleep since no kernel ran.
    deep: AtomicU32,
    /// Where a queue's thread ran last.
    pub(crate) answerer: Place,
    /// Queues' threads that do not sleep.
    awake: AtomicU32,
}

struct Free {
    /// Signals that were destroyed, the oldest first.
    returned: std::collections::VecDeque<u32>,
    fresh: u32,
}

impl Signals {
    pub(crate) fn new(memory: &Memory) -> Result<Signals, AllocError> {
        let bytes = u64::from(MAX_SIGNALS) * signal_at::BYTES;
        let base = memory.alloc_for(Purpose::System, bytes, 4096)?;
        let chunks = std::iter::repeat_with(OnceLock::new);
        Ok(Signals {
            base,
            sides: chunks.take((MAX_SIGNALS / CHUNK) as usize).collect(),
            free: Mutex::new(Free {
                returned: std::collections::VecDeque::new(),
                fresh: 0,
            }),
            beds: std::array::from_fn(|_| Bed::default()),
            hub: Bed::default(),
            running: AtomicU32::new(0),
            deep: AtomicU32::new(0),
            answerer: Place::new(),
            awake: AtomicU32::new(0),
        })
    }

    /// A new signal.
    pub(crate) fn create(&self, kind: Kind, value: i64) -> Outcome<Handle> {
        let index = {
            let mut free = lock(&self.free);
            // Handles are reused late, so that the use of a stale one is detected.
            if free.fresh < MAX_SIGNALS && free.returned.len() < 1024 {
                free.fresh += 1;
                free.fresh - 1
            } else {
                free.returned.pop_front().ok_or(Status::OUT_OF_RESOURCES)?
            }
        };
        let handle = self.base + u64::from(index) * signal_at::BYTES;
        for at in (0..signal_at::BYTES).step_by(8) {
            self.word(handle, at).store(0, SeqCst);
        }
        let number: i64 = match kind {
            Kind::User => 1,
            Kind::Doorbell => -1,
        };
        self.word(handle, signal_at::KIND)
            .store(number as u64, SeqCst);
        self.cell(handle).store(value, SeqCst);
        let side = &self.chunk(index)[(index % CHUNK) as usize];
        side.kind.store(kind as u8, SeqCst);
        Ok(handle)
    }

    /// Ends a signal. Waiters return.
    pub(crate) fn destroy(&self, handle: Handle, kind: Kind) -> Outcome {
        let side = self.side(handle)?;
        side.kind
            .compare_exchange(kind as u8, 0, SeqCst, SeqCst)
            .map_err(|_| Status::INVALID_SIGNAL)?;
        self.word(handle, signal_at::KIND).store(0, SeqCst);
        self.wake(handle, side);
        lock(&self.free)
            .returned
            .push_back(((handle - self.base) / signal_at::BYTES) as u32);
        Ok(())
    }

    fn chunk(&self, index: u32) -> &[Side] {
        self.sides[(index / CHUNK) as usize].get_or_init(|| {
            let sides = std::iter::repeat_with(Side::default);
            sides.take(CHUNK as usize).collect()
        })
    }

    /// The surroundings of a signal, dead or alive.
    fn place(&self, handle: Handle) -> Option<&Side> {
        let offset = handle.wrapping_sub(self.base);
        let index = offset / signal_at::BYTES;
        if !offset.is_multiple_of(signal_at::BYTES) || index >= u64::from(MAX_SIGNALS) {
            return None;
        }
        let index = index as u32;
        let chunk = self.sides[(index / CHUNK) as usize].get()?;
        Some(&chunk[(index % CHUNK) as usize])
    }

    /// The surroundings of a live signal.
    fn side(&self, handle: Handle) -> Outcome<&Side> {
        self.place(handle)
            .filter(|side| side.kind.load(SeqCst) != 0)
            .ok_or(Status::INVALID_SIGNAL)
    }

    /// Is it a live signal?
    pub(crate) fn check(&self, handle: Handle) -> Outcome {
        self.side(handle).map(|_| ())
    }

    /// Is it a live doorbell?
    pub(crate) fn is_doorbell(&self, handle: Handle) -> bool {
        self.side(handle)
            .is_ok_and(|side| side.kind.load(SeqCst) == Kind::Doorbell as u8)
    }

    /// A word of the structure. `handle` was checked, or made here.
    pub(crate) fn word(&self, handle: Handle, at: u64) -> &AtomicU64 {
        debug_assert!(handle.wrapping_sub(self.base) < u64::from(MAX_SIGNALS) * signal_at::BYTES);
        let address = (handle + at) as usize;
        // SAFETY: the block of signals was allocated in guest memory, which lives as long as the
        // process; handles are multiples of 64 in it and `at` one of 8 below 64. All accesses, the
        // guest's included, are atomic.
        unsafe { AtomicU64::from_ptr(std::ptr::with_exposed_provenance_mut(address)) }
    }

    /// The value.
    fn cell(&self, handle: Handle) -> &AtomicI64 {
        let word = self.word(handle, signal_at::VALUE).as_ptr();
        // SAFETY: as for the word, which has the same size and alignment.
        unsafe { AtomicI64::from_ptr(word.cast()) }
    }

    /// Address of the value.
    pub(crate) fn value_address(&self, handle: Handle) -> Outcome<u64> {
        self.check(handle)?;
        Ok(handle + signal_at::VALUE)
    }

    pub(crate) fn load(&self, handle: Handle) -> Outcome<i64> {
        self.check(handle)?;
        Ok(self.cell(handle).load(SeqCst))
    }

    /// Changes the value and wakes waiters; returns the old value.
    pub(crate) fn change(&self, handle: Handle, change: Change, by: i64) -> Outcome<i64> {
        let side = self.side(handle)?;
        let cell = self.cell(handle);
        let old = match change {
            Change::Store => {
                cell.store(by, SeqCst);
                by
            }
            Change::Exchange => cell.swap(by, SeqCst),
            Change::Add => cell.fetch_add(by, SeqCst),
            Change::Subtract => cell.fetch_sub(by, SeqCst),
            Change::And => cell.fetch_and(by, SeqCst),
            Change::Or => cell.fetch_or(by, SeqCst),
            Change::Xor => cell.fetch_xor(by, SeqCst),
        };
        self.wake(handle, side);
        Ok(old)
    }

    /// Stores without waking anybody.
    pub(crate) fn silent_store(&self, handle: Handle, value: i64) -> Outcome {
        self.check(handle)?;
        self.cell(handle).store(value, SeqCst);
        Ok(())
    }

    /// Compare and exchange; the old value.
    pub(crate) fn cas(&self, handle: Handle, expected: i64, value: i64) -> Outcome<i64> {
        let side = self.side(handle)?;
        match self
            .cell(handle)
            .compare_exchange(expected, value, SeqCst, SeqCst)
        {
            Ok(old) => {
                self.wake(handle, side);
                Ok(old)
            }
            Err(old) => Ok(old),
        }
    }

    fn bed(&self, handle: Handle) -> &Bed {
        &self.beds[(handle / signal_at::BYTES) as usize % BEDS]
    }

    fn wake(&self, handle: Handle, side: &Side) {
        fence(SeqCst);
        if side.waiters.load(SeqCst) != 0 {
            self.bed(handle).wake();
        }
        if side.watchers.load(SeqCst) != 0 {
            self.hub.wake();
        }
    }

    // ---- waiting

    /// Duration of the next sleep between polls, by the time since the wait began.
    fn nap(&self, waited: Duration) -> Duration {
        if self.running.load(SeqCst) == 0 {
            return IDLE_SLEEP;
        }
        (waited / 8).clamp(Duration::from_micros(20), Duration::from_millis(1))
    }

    fn sleep(&self, bed: &Bed, seen: u64, time: Duration) {
        let deep = time >= IDLE_SLEEP && time < FOREVER;
        if deep {
            self.deep.fetch_add(1, SeqCst);
            // A kernel that began before this was counted did not wake the bed.
            if self.running.load(SeqCst) == 0 {
                bed.sleep(seen, time);
            }
            self.deep.fetch_sub(1, SeqCst);
        } else {
            bed.sleep(seen, time);
        }
    }

    /// Waits until the condition holds, the signal is destroyed or `timeout` nanoseconds are over;
    /// the last value seen.
    pub(crate) fn wait(
        &self,
        handle: Handle,
        condition: Condition,
        compare: i64,
        timeout: u64,
    ) -> Outcome<i64> {
        let side = self.side(handle)?;
        let cell = self.cell(handle);
        let holds = |value: i64| condition.holds(value, compare);
        let value = cell.load(SeqCst);
        if holds(value) || timeout == 0 {
            return Ok(value);
        }
        let begin = Instant::now();
        let timeout = Duration::from_nanos(timeout);
        let mut value = value;
        // While all queues sleep, no answer is imminent.
        let soon = self.awake.load(SeqCst) != 0 || self.answerer.may_come();
        let mut look = || {
            value = cell.load(SeqCst);
            holds(value)
        };
        if soon && self.answerer.spin(timeout, &mut look) {
            return Ok(value);
        }
        side.waiters.fetch_add(1, SeqCst);
        let bed = self.bed(handle);
        let value = loop {
            let seen = bed.seen();
            fence(SeqCst);
            let value = cell.load(SeqCst);
            let waited = begin.elapsed();
            if holds(value) || waited >= timeout || side.kind.load(SeqCst) == 0 {
                break value;
            }
            self.sleep(bed, seen, self.nap(waited).min(timeout - waited));
        };
        side.waiters.fetch_sub(1, SeqCst);
        Ok(value)
    }

    /// Waits for several signals, or for any other call of [`Signals::nudge`]: calls `look` until
    /// it returns a value. `watched` are the signals that it reads. `idle`: nothing is read now, so
    /// that only a nudge can change the result.
    pub(crate) fn wait_for<T>(
        &self,
        watched: &[Handle],
        mut idle: impl FnMut() -> bool,
        mut look: impl FnMut() -> Option<T>,
    ) -> T {
        if let Some(found) = look() {
            return found;
        }
        let _watch = Watch::new(self, watched);
        let begin = Instant::now();
        loop {
            let seen = self.hub.seen();
            fence(SeqCst);
            if let Some(found) = look() {
                return found;
            }
            let nap = if idle() {
                FOREVER
            } else {
                self.nap(begin.elapsed())
            };
            self.sleep(&self.hub, seen, nap);
        }
    }

    /// As [`Signals::wait_for`] with a deadline; `None` on timeout.
    pub(crate) fn wait_until<T>(
        &self,
        watched: &[Handle],
        timeout: u64,
        mut look: impl FnMut() -> Option<T>,
    ) -> Option<T> {
        let begin = Instant::now();
        let timeout = Duration::from_nanos(timeout);
        let mut end = || {
            look()
                .map(Some)
                .or_else(|| (begin.elapsed() >= timeout).then_some(None))
        };
        if timeout >= IDLE_SLEEP {
            return self.wait_for(watched, || false, end);
        }
        // Short ends need short sleeps.
        loop {
            if let Some(found) = end() {
                return found;
            }
            std::thread::sleep(Duration::from_micros(20).min(timeout));
        }
    }

    /// Wakes threads that wait for several signals.
    pub(crate) fn nudge(&self) {
        self.hub.wake();
    }

    /// Registers a further waiter of this signal, until [`Signals::unwatch`].
    pub(crate) fn watch(&self, handle: Handle) {
        if let Some(side) = self.place(handle) {
            side.watchers.fetch_add(1, SeqCst);
        }
    }

    /// Ends [`Signals::watch`]. The signal may have been destroyed meanwhile.
    pub(crate) fn unwatch(&self, handle: Handle) {
        if let Some(side) = self.place(handle) {
            side.watchers.fetch_sub(1, SeqCst);
        }
    }

    /// A kernel runs for as long as the guard lives.
    pub(crate) fn kernel_runs(&self) -> Counted<'_> {
        self.running.fetch_add(1, SeqCst);
        if self.deep.load(SeqCst) != 0 {
            // From now on they must poll.
            self.beds.iter().for_each(Bed::wake);
            self.hub.wake();
        }
        Counted(&self.running)
    }

    /// A queue's thread does not sleep for as long as the guard lives.
    pub(crate) fn queue_awakes(&self) -> Counted<'_> {
        self.awake.fetch_add(1, SeqCst);
        Counted(&self.awake)
    }
}

/// Counts one less when it is dropped.
pub(crate) struct Counted<'a>(&'a AtomicU32);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

/// Watches signals for as long as it lives.
struct Watch<'a>(&'a Signals, &'a [Handle]);

impl<'a> Watch<'a> {
    fn new(signals: &'a Signals, watched: &'a [Handle]) -> Watch<'a> {
        watched.iter().for_each(|&handle| signals.watch(handle));
        Watch(signals, watched)
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.1.iter().for_each(|&handle| self.0.unwatch(handle));
    }
}
