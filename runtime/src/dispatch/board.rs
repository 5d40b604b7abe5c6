//! What the workers of a dispatch share: the workgroups that have not begun, and those that have
//! stopped for others.
//!
//! As long as no workgroup has stopped, workers take several at a time, in ascending order. From
//! then on they take the lowest one each time, in turn with those that have stopped, so that the
//! lowest workgroups run together, as many as the GPU would run, and one more for each worker but one.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::cancel::CancelToken;
use super::group::Resident;
use super::prepared::Place;
use super::waits::{Poll, WaitTiming};
use super::workers::GridWait;
use crate::engine::Following;
use crate::fault::Fault;

/// Maximum number of workgroups that a worker takes at a time: enough that workers seldom contend,
/// and that prefetched data is mostly a worker's own.
const SOME: u64 = 1024;

/// The state that the workers of a dispatch share.
pub(super) struct Board<'a> {
    pub(super) next: AtomicU64,
    pub(super) end: u64,
    /// Divisor of the remaining workgroups that a worker takes at a time.
    pub(super) shares: u64,
    /// Lowest group that faulted.
    pub(super) bad_group: AtomicU64,
    /// Its fault, and the time of the first report.
    pub(super) fault: Mutex<Option<(Fault, Instant)>>,
    pub(super) deadline: Option<(Instant, Duration)>,
    pub(super) cancel: Option<&'a CancelToken>,
    /// A workgroup was not begun or not finished because of it.
    pub(super) cancelled: AtomicBool,
    /// Number of workers at most.
    pub(super) threads: usize,
    /// Number of those at work.
    pub(super) active: AtomicUsize,
    pub(super) waits: Waits,
    pub(super) aside: Aside<'a>,
    pub(super) meeting: Meeting,
}

/// State of workgroups that wait for others.
pub(super) struct Waits {
    pub(super) on_wait: Option<fn(&GridWait)>,
    /// Nothing but the dispatch writes to the memory that it polls.
    pub(super) alone: bool,
    pub(super) timing: WaitTiming,
    /// Workgroups of the grid, and the number of them after those that are run.
    pub(super) total: u64,
    pub(super) left_out: u64,
    /// Workgroups that poll memory, by number.
    pub(super) polling: Mutex<BTreeMap<u64, Polling>>,
    /// There are some, or were.
    pub(super) any: AtomicBool,
    pub(super) told: AtomicBool,
}

/// A workgroup that polls memory.
pub(super) struct Polling {
    pub(super) poll: Poll,
    /// Workgroups that its worker has taken but not begun.
    pub(super) held: u64,
}

/// Workgroups that have stopped, and those that were taken but not begun.
pub(super) struct Aside<'a> {
    /// There are some, or were.
    used: AtomicBool,
    /// Number of stopped workgroups, and the most.
    stopped: AtomicUsize,
    capacity: AtomicUsize,
    /// There are workgroups that were taken but not begun.
    returned: AtomicBool,
    lists: Mutex<Lists<'a>>,
    /// What the capacity is without a limit of memory; bytes of each workgroup, and the limit.
    pub(super) occupancy: usize,
    pub(super) bytes: u64,
    limit: u64,
}

/// See [`Aside`].
#[derive(Default)]
pub(super) struct Lists<'a> {
    pub(super) stopped: VecDeque<Box<Resident<'a>>>,
    /// Ranges of numbers, by the first.
    returned: BTreeMap<u64, u64>,
    /// Places without a workgroup.
    #[expect(clippy::vec_box, reason = "they move between this list and workers")]
    pub(super) free: Vec<Box<Resident<'a>>>,
}

/// Where workers meet, while nothing runs.
#[derive(Default)]
pub(super) struct Meeting {
    pub(super) called: AtomicBool,
    pub(super) there: Mutex<usize>,
    pub(super) changed: Condvar,
}

/// What a worker does next.
pub(super) enum Work<'a> {
    /// It begins the workgroup with this number.
    Begin(u64),
    /// It continues this one.
    Continue(Box<Resident<'a>>),
}

/// Locks; no holder of a lock of the board panics.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<'a> Aside<'a> {
    /// For workgroups that occupy so many bytes each.
    pub(super) fn new(occupancy: u64, bytes: u64, limit: u64) -> Aside<'a> {
        let occupancy = usize::try_from(occupancy).unwrap_or(usize::MAX);
        let affordable = usize::try_from(limit / bytes.max(1)).unwrap_or(usize::MAX);
        Aside {
            used: AtomicBool::new(false),
            stopped: AtomicUsize::new(0),
            capacity: AtomicUsize::new(occupancy.min(affordable).max(1)),
            returned: AtomicBool::new(false),
            lists: Mutex::default(),
            occupancy,
            bytes,
            limit,
        }
    }

    pub(super) fn lists(&self) -> MutexGuard<'_, Lists<'a>> {
        lock(&self.lists)
    }

    pub(super) fn capacity(&self) -> usize {
        self.capacity.load(Relaxed)
    }

    /// Bytes that all stopped workgroups may have: less than the limit where guest memory had no more.
    pub(super) fn limit(&self) -> u64 {
        match self.capacity() as u64 {
            capacity if capacity >= self.limit / self.bytes.max(1) => self.limit,
            capacity => capacity * self.bytes,
        }
    }

    /// All places, when the dispatch has ended.
    pub(super) fn into_places(self) -> impl Iterator<Item = Place<'a>> {
        let lists = self.lists.into_inner();
        let Lists { stopped, free, .. } = lists.unwrap_or_else(PoisonError::into_inner);
        stopped.into_iter().chain(free).map(|one| one.place)
    }
}

impl<'a> Board<'a> {
    /// The next work of a worker that has taken `mine`, several at a time. It begins them in
    /// ascending order, so that the lowest group that has not ended has always begun, or can.
    #[inline]
    pub(super) fn take(&self, mine: &mut Range<u64>, turn: &mut bool) -> Option<Work<'a>> {
        if self.aside.used.load(Relaxed) {
            return self.take_in_turn(mine, turn);
        }
        self.take_fresh(mine).map(Work::Begin)
    }

    fn take_fresh(&self, mine: &mut Range<u64>) -> Option<u64> {
        if mine.is_empty() {
            let some = |first: u64| ((self.end - first) / self.shares).clamp(1, SOME);
            let behind = |first: u64| (first < self.end).then(|| first + some(first));
            let first = self.next.fetch_update(Relaxed, Relaxed, behind).ok()?;
            *mine = first..first + some(first);
        }
        mine.next()
            .filter(|&group| group < self.bad_group.load(Relaxed) && !self.stops())
    }

    /// As [`Board::take`], where workgroups have stopped.
    #[cold]
    fn take_in_turn(&self, mine: &mut Range<u64>, turn: &mut bool) -> Option<Work<'a>> {
        self.meet();
        if self.stops() {
            return None;
        }
        let aside = &self.aside;
        let mut lists = aside.lists();
        if !mine.is_empty() {
            lists.returned.insert(mine.start, mine.end);
            *mine = 0..0;
        }
        let bad = self.bad_group.load(Relaxed);
        if bad != u64::MAX {
            // Those above it are not needed.
            let (keep, drop) = lists.stopped.drain(..).partition(|one| one.index < bad);
            lists.stopped = keep;
            let drop: VecDeque<Box<Resident<'a>>> = drop;
            lists.free.extend(drop);
        }
        let room = lists.stopped.len() < aside.capacity();
        let lowest = lists.returned.first_key_value().map(|(&first, _)| first);
        let lowest = lowest.unwrap_or_else(|| self.next.load(Relaxed));
        let may_begin = room && lowest < self.end && lowest < bad;
        *turn = !*turn;
        let work = if lists.stopped.is_empty() || *turn && may_begin {
            match lists.returned.first_entry() {
                _ if !may_begin => None,
                Some(range) => {
                    let (first, end) = range.remove_entry();
                    // All of it while nothing has stopped.
                    match lists.stopped.is_empty() {
                        true => *mine = first + 1..end,
                        false if first + 1 < end => {
                            lists.returned.insert(first + 1, end);
                        }
                        false => {}
                    }
                    Some(Work::Begin(first))
                }
                None => {
                    let behind = |first: u64| (first < self.end).then_some(first + 1);
                    let first = self.next.fetch_update(Relaxed, Relaxed, behind).ok();
                    first.map(Work::Begin)
                }
            }
        } else {
            lists.stopped.pop_front().map(Work::Continue)
        };
        let work = work.or_else(|| lists.stopped.pop_front().map(Work::Continue));
        self.note(&lists);
        work
    }

    /// Notes what is in the lists where it can be seen without them.
    fn note(&self, lists: &Lists<'a>) {
        let aside = &self.aside;
        let (stopped, returned) = (lists.stopped.len(), !lists.returned.is_empty());
        aside.stopped.store(stopped, Relaxed);
        aside.returned.store(returned, Relaxed);
        aside.used.store(stopped != 0 || returned, Relaxed);
    }

    /// A workgroup has stopped.
    pub(super) fn put_aside(&self, mut resident: Box<Resident<'a>>) {
        // Those after it begin like any other.
        resident.sets.following = Following::default();
        if let Some(polling) = lock(&self.waits.polling).get_mut(&resident.index) {
            // Its worker returns those that it has taken.
            polling.held = 0;
        }
        let mut lists = self.aside.lists();
        lists.stopped.push_back(resident);
        self.note(&lists);
    }

    /// A workgroup cannot begin, as there is no memory for one more.
    pub(super) fn give_back(&self, index: u64) {
        let mut lists = self.aside.lists();
        lists.returned.insert(index, index + 1);
        self.note(&lists);
        let stopped = lists.stopped.len();
        self.aside.capacity.store(stopped.max(1), Relaxed);
    }

    /// Has a workgroup stopped that has not ended?
    pub(super) fn any_stopped(&self) -> bool {
        self.aside.stopped.load(Relaxed) != 0
    }

    /// Is there a workgroup that could run in place of one whose worker has taken `held` after it?
    pub(super) fn others(&self, held: u64) -> bool {
        let aside = &self.aside;
        let stopped = aside.stopped.load(Relaxed);
        let fresh = held != 0 || self.next.load(Relaxed) < self.end || aside.returned.load(Relaxed);
        stopped != 0 || fresh && stopped < aside.capacity()
    }

    /// Was the dispatch cancelled? Called only where a workgroup is left out if so.
    pub(super) fn stops(&self) -> bool {
        let stops = self.cancel.is_some_and(CancelToken::is_cancelled);
        if stops {
            self.cancelled.store(true, Relaxed);
        }
        stops
    }

    pub(super) fn report(&self, group: u64, fault: Fault) {
        let mut slot = lock(&self.fault);
        let first = slot.as_ref().map_or_else(Instant::now, |(_, when)| *when);
        if slot.is_none() || group < self.bad_group.load(Relaxed) {
            self.bad_group.store(group, Relaxed);
            *slot = Some((fault, first));
        }
    }

    /// The time of the first report.
    pub(super) fn reported(&self) -> Option<Instant> {
        lock(&self.fault).as_ref().map(|(_, when)| *when)
    }

    pub(super) fn polling(&self) -> MutexGuard<'_, BTreeMap<u64, Polling>> {
        lock(&self.waits.polling)
    }

    /// Workgroups that have not begun, of which workers hold `held`.
    pub(super) fn not_begun(&self, lists: &Lists<'_>, held: u64) -> u64 {
        let returned: u64 = lists.returned.iter().map(|(first, end)| end - first).sum();
        let next = self.next.load(Relaxed).min(self.end);
        self.end - next + returned + held + self.waits.left_out
    }

    /// Meets the other workers, if they were called.
    pub(super) fn meet(&self) {
        let meeting = &self.meeting;
        if !meeting.called.load(Relaxed) {
            return;
        }
        let mut there = lock(&meeting.there);
        *there += 1;
        meeting.changed.notify_all();
        while meeting.called.load(Relaxed) {
            there = match meeting.changed.wait(there) {
                Ok(there) => there,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
        *there -= 1;
    }

    /// Calls `act` while nothing runs, unless another worker does so or the others do not come within
    /// some time. The caller has put its workgroup aside.
    pub(super) fn alone<R>(&self, act: impl FnOnce() -> R) -> Option<R> {
        /// Others stop where their waves burn fuel or meet at a barrier.
        const LONGEST: Duration = Duration::from_millis(500);
        let meeting = &self.meeting;
        if meeting.called.swap(true, Relaxed) {
            return None;
        }
        let begin = Instant::now();
        let mut there = lock(&meeting.there);
        let mut all = true;
        while *there + 1 < self.active.load(Relaxed) {
            let step = Duration::from_millis(5);
            there = match meeting.changed.wait_timeout(there, step) {
                Ok((there, _)) => there,
                Err(poisoned) => poisoned.into_inner().0,
            };
            if begin.elapsed() > LONGEST {
                all = false;
                break;
            }
        }
        let result = all.then(act);
        meeting.called.store(false, Relaxed);
        meeting.changed.notify_all();
        result
    }
}
