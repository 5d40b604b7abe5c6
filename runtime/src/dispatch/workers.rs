//! The workers of a dispatch: threads that take workgroups in ascending order.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use super::afterwards;
use super::board::{Aside, Board, Meeting, Waits, Work};
use super::cancel::CancelToken;
use super::group::{GroupRunner, Outcome, Resident, Room};
use super::launch::{self, KernelCode, Launch, LaunchError};
use super::occupancy;
use super::prepared::Prepared;
use super::referee::{ALONE, Caller, GroupReferee};
use super::shape::GroupShape;
use super::shuffle::Shuffle;
use super::thread_pool::ThreadPool;
use super::verify::{self, View};
use super::waits::WaitTiming;
use crate::LoadedCode;
use crate::engine::{Engine, Session, Stats};
use crate::fault::{Fault, Location, WaveFault};
use crate::float_env::DefaultEnvironment;
use crate::memory::Memory;
use crate::stack;
use crate::waiting::Waiting;

/// Settings of a dispatch.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// Worker threads; 0 means one for each processor of the host.
    pub threads: usize,
    /// Time limit of the dispatch.
    pub timeout: Option<Duration>,
    /// Count instructions.
    pub counting: bool,
    /// Stack of a lane: its scratch in addition to the scratch that the kernel states. `None` is
    /// [`DEFAULT_STACK`](super::DEFAULT_STACK) for kernels with a dynamic stack and nothing for
    /// others. Kernels without scratch have none in any case.
    pub stack_bytes: Option<u32>,
    /// The fuel quantum: backward branches of a wave before a switch to another one.
    pub fuel: u64,
    /// Runs only these workgroups, by number in the order of dispatch.
    pub only: Option<Range<u64>>,
    /// Counts workgroups as they end.
    pub progress: Option<&'a AtomicU64>,
    /// Called once for a dispatch that seems to wait for workgroups that cannot begin.
    pub on_wait: Option<fn(&GridWait)>,
    /// Nothing else writes to memory that the dispatch polls: neither the host nor other dispatches.
    /// Then a dispatch that waits for itself is a fault ([`FaultKind::Deadlock`](crate::FaultKind)).
    pub alone: bool,
    /// Maximum number of bytes that workgroups which have stopped may occupy, with their registers,
    /// LDS and scratch. At least one may stop in any case.
    pub waiting_bytes: u64,
    /// Stops the dispatch when it is cancelled; the result is then [`RunError::Cancelled`], unless
    /// all workgroups had ended or one had faulted.
    pub cancel: Option<CancelToken>,
    /// Afterwards looks for writes behind buffers and to the kernel's arguments
    /// ([`Memory::check_marks`]), which are faults. Of dispatches that run at the same time, any may
    /// be named.
    pub find_overruns: bool,
    /// The counters of the global wave sync when the dispatch begins, from resource 0 on
    /// ([`Gws::set_counters`](crate::gws::Gws::set_counters)); `None` leaves them as they are. No
    /// other dispatch may use them at the time.
    pub gws: Option<Vec<u32>>,
    /// Workgroups give their worker to others after counts of branches and barriers, not after times:
    /// on one thread the dispatch takes the same course every time.
    pub steady: bool,
    /// Workgroups begin, and waves of a workgroup run, in an order that depends on this seed; otherwise in ascending
    /// order.
    pub shuffle: Option<u64>,
    /// Number by which [`Sanitizer::take_launch`](crate::sanitizer::Sanitizer::take_launch) knows the dispatch.
    pub launch: u64,
}

impl Settings<'_> {
    /// The same settings without a counter of workgroups.
    pub fn without_progress(&self) -> Settings<'static> {
        Settings {
            threads: self.threads,
            timeout: self.timeout,
            counting: self.counting,
            stack_bytes: self.stack_bytes,
            fuel: self.fuel,
            only: self.only.clone(),
            progress: None,
            on_wait: self.on_wait,
            alone: self.alone,
            waiting_bytes: self.waiting_bytes,
            cancel: self.cancel.clone(),
            find_overruns: self.find_overruns,
            gws: self.gws.clone(),
            steady: self.steady,
            shuffle: self.shuffle,
            launch: self.launch,
        }
    }
}

impl Default for Settings<'_> {
    fn default() -> Self {
        Settings {
            threads: 0,
            timeout: None,
            counting: false,
            stack_bytes: None,
            fuel: 2048,
            only: None,
            progress: None,
            on_wait: None,
            alone: false,
            waiting_bytes: WAITING_BYTES,
            cancel: None,
            find_overruns: true,
            gws: None,
            steady: false,
            shuffle: None,
            launch: 0,
        }
    }
}

/// Default of [`Settings::waiting_bytes`].
const WAITING_BYTES: u64 = 4 << 30;

/// A dispatch that seems to wait for workgroups that cannot begin. It continues.
#[derive(Clone, Debug, PartialEq)]
pub struct GridWait {
    /// A load or an atomic instruction that the lowest workgroup repeats.
    pub at: Location,
    /// Minimum time in seconds for which all workgroups that have begun have polled.
    pub seconds: f64,
    /// Workgroups that have not begun.
    pub not_begun: u64,
    /// Workgroups of the dispatch.
    pub total: u64,
    /// Who waits for what.
    pub waiting: Waiting,
}

impl fmt::Display for GridWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GridWait {
            at,
            seconds,
            waiting,
            ..
        } = self;
        write!(
            f,
            "kernel {} seems to wait for itself: for {seconds:.1} s all workgroups that have begun have polled memory \
             that does not change\n{at}\n   {waiting}",
            at.kernel
        )
    }
}

/// Why a dispatch did not complete.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It was refused.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A wave faulted.
    #[error("{0}")]
    Fault(Box<Fault>),
    /// It was cancelled. Workgroups that had begun may have been stopped at any instruction.
    #[error("kernel {kernel} was cancelled")]
    Cancelled {
        /// The kernel.
        kernel: String,
    },
}

/// Maximum number of workgroups that an engine runs without a look at the token of a dispatch that
/// can be cancelled.
const UNWATCHED: u32 = 16;

/// Each worker takes this fraction of its share of the remaining workgroups: fewer and fewer, so
/// that workers finish at nearly the same time.
const SHARES: u64 = 8;

/// Maximum number of buffers of workgroups that are kept from one dispatch to the next.
const ROOMS: usize = 64;

/// Maximum number of kernels whose pace is remembered.
const PACES: usize = 4096;

/// Runs dispatches. Keeps its workers and their buffers from one dispatch to the next.
#[derive(Default)]
pub struct Dispatcher {
    pool: ThreadPool,
    rooms: Mutex<Vec<Room>>,
    dispatches: AtomicU64,
    /// The most recent time of a workgroup of a kernel, by the kernel's entry.
    paces: Mutex<HashMap<u64, Duration>>,
}

/// Number of host processors. The system call takes longer than a small dispatch.
fn processors() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

impl Dispatcher {
    /// A dispatcher without buffers yet.
    pub fn new() -> Dispatcher {
        Dispatcher::default()
    }

    /// Runs `kernel` of `code` over the grid of `launch`. Where little is left of the caller's stack
    /// ([`stack`]), this continues on another.
    pub fn run(
        &self,
        engine: &dyn Engine,
        memory: &Memory,
        code: &LoadedCode,
        kernel: &KernelCode,
        launch: &Launch<'_>,
        settings: &Settings<'_>,
    ) -> Result<Stats, RunError> {
        stack::for_dispatch(|| self.run_here(engine, memory, code, kernel, launch, settings))
    }

    /// As [`Dispatcher::run`], on the caller's stack.
    fn run_here(
        &self,
        engine: &dyn Engine,
        memory: &Memory,
        code: &LoadedCode,
        kernel: &KernelCode,
        launch: &Launch<'_>,
        settings: &Settings<'_>,
    ) -> Result<Stats, RunError> {
        launch::check_workgroup(kernel, launch)?;
        if code.bytes_at(kernel.entry).is_none() {
            return Err(RunError::Launch(LaunchError::EntryOutsideCode {
                kernel: kernel.name.clone(),
                entry: code.local(kernel.entry),
            }));
        }
        let all = 0..launch.shape.total();
        let groups = settings.only.clone().unwrap_or(all.clone());
        let groups = groups.start.min(all.end)..groups.end.min(all.end);
        let threads = match settings.threads {
            // Findings do not depend on the host.
            _ if memory.sanitizer().is_some() => 1,
            0 => processors(),
            n => n,
        };
        let threads = threads.min(usize::try_from(groups.end - groups.start).unwrap_or(threads));
        let threads = threads.max(1);
        let id = self.dispatches.fetch_add(1, Relaxed);
        let stack = settings.stack_bytes;
        let prepared = Prepared::new(memory, code, kernel, launch, stack, threads, id)?;

        if let Some(counters) = &settings.gws {
            memory.gws().set_counters(counters);
        }
        let begin = Instant::now();
        let timing = WaitTiming::new(settings.timeout);
        let waves = launch.shape.waves();
        let most = occupancy::workgroups(code.gfx(), &kernel.descriptor, waves, prepared.lds_bytes);
        let board = Board {
            next: AtomicU64::new(groups.start),
            end: groups.end,
            shares: threads as u64 * SHARES,
            bad_group: AtomicU64::new(u64::MAX),
            fault: Mutex::new(None),
            deadline: settings
                .timeout
                .and_then(|limit| Some((begin.checked_add(limit)?, limit))),
            cancel: settings.cancel.as_ref(),
            cancelled: AtomicBool::new(false),
            threads,
            active: AtomicUsize::new(0),
            waits: Waits {
                on_wait: settings.on_wait,
                alone: settings.alone,
                timing,
                total: all.end,
                left_out: all.end - groups.end,
                polling: Mutex::default(),
                any: AtomicBool::new(false),
                told: AtomicBool::new(false),
            },
            aside: Aside::new(most, prepared.place_bytes, settings.waiting_bytes),
            meeting: Meeting::default(),
        };
        let shape = launch.shape;
        let sanitizer = memory.sanitizer();
        let dispatch = sanitizer.map_or(0, |all| all.begin_dispatch(settings.launch));
        engine.begin_dispatch(kernel, code);
        let work = |number: usize, caller: Option<&Caller<'_>>| {
            let runner = GroupRunner {
                engine,
                memory,
                code,
                shape,
                lds_bytes: prepared.lds_bytes,
                lds_allocated: code.gfx().lds_allocated(prepared.lds_bytes),
                dispatch,
                counting: settings.counting,
                fuel: settings.fuel.max(1),
                steady: settings.steady,
                shuffle: settings
                    .shuffle
                    .map(|seed| Shuffle::new(seed, shape.total())),
                timing: (settings.alone || settings.on_wait.is_some()).then_some(timing),
            };
            let worker = Worker {
                runner: &runner,
                board: &board,
                prepared: &prepared,
                view: View { code, kernel },
                progress: settings.progress,
                caller,
            };
            self.work(&worker, number)
        };
        let total = Mutex::new(Stats::default());
        let help = |number: usize| {
            let stats = work(number, None);
            let mut total = total.lock().expect("no holder of the lock panics");
            total.merge(&stats);
        };
        let mut stats = if threads == 1 {
            work(0, None)
        } else {
            self.pool.with(threads - 1, &help, |leader| {
                let count = u32::try_from(board.end - groups.start).unwrap_or(u32::MAX);
                let pace = self.pace(kernel.entry);
                if pace.is_none_or(|pace| pace.saturating_mul(count) > ALONE) {
                    leader.call();
                }
                let stats = work(0, Some(&Caller { leader, begin }));
                self.set_pace(kernel.entry, begin.elapsed(), stats.workgroups);
                stats
            })
        };
        stats.merge(&total.into_inner().expect("no holder of the lock panics"));
        stats.execute_seconds = begin.elapsed().as_secs_f64();
        let fault = board.fault.into_inner();
        let fault = fault.expect("no holder of the lock panics");
        let mut fault = fault.map(|(fault, _)| fault);
        let cancelled = board.cancelled.into_inner();
        if let Some(sanitizer) = sanitizer {
            sanitizer.end_dispatch(dispatch, memory, fault.is_none() && !cancelled);
        }
        self.keep(board.aside);
        if settings.find_overruns {
            // Also after a fault, so that the next dispatch does not answer for this one.
            let found = afterwards::find(memory, code, kernel);
            fault = fault.or(found);
        }
        match fault {
            Some(fault) => Err(RunError::Fault(Box::new(fault))),
            None if cancelled => Err(RunError::Cancelled {
                kernel: kernel.name.clone(),
            }),
            None => Ok(stats),
        }
    }

    /// One worker, from its first group to its last.
    fn work(&self, worker: &Worker<'_, '_>, number: usize) -> Stats {
        let board = worker.board;
        let _environment = DefaultEnvironment::new();
        board.active.fetch_add(1, Relaxed);
        let mut state = State {
            session: worker.runner.engine.session(),
            stats: Stats::default(),
            mine: 0..0,
            last: None,
            own: Some(self.place(worker, number)),
        };
        let mut turn = false;
        while let Some(work) = board.take(&mut state.mine, &mut turn) {
            self.turn(worker, &mut state, work);
            if let Some(caller) = worker.caller {
                caller.look();
            }
        }
        board.active.fetch_sub(1, Relaxed);
        board.meeting.changed.notify_all();
        if let Some(own) = state.own {
            let mut rooms = self.rooms.lock().expect("no holder of the lock panics");
            rooms.push(own.place.room);
        }
        state.stats
    }

    /// Runs a workgroup until it ends or stops.
    fn turn<'a>(&self, worker: &Worker<'_, 'a>, state: &mut State<'_, 'a>, work: Work<'a>) {
        let Worker {
            runner,
            board,
            caller,
            ..
        } = *worker;
        // Waves of many short workgroups burn no fuel, so the clock is read before each batch of them but the first, too.
        let over = match work {
            Work::Begin(_) if state.last.is_some() => board.time_is_over(),
            Work::Begin(_) | Work::Continue(_) => None,
        };
        let mut resident = match work {
            Work::Continue(resident) => {
                if let Some(own) = state.own.take() {
                    board.aside.lists().free.push(own);
                }
                resident
            }
            Work::Begin(index) => {
                let Some(mut resident) = state.own.take().or_else(|| self.another(worker)) else {
                    board.give_back(index);
                    return;
                };
                let group = match (&state.last, &runner.shuffle) {
                    (_, Some(shuffle)) => runner.shape.group(shuffle.workgroup(index)),
                    (Some((before, group)), _) if before + 1 == index => runner.shape.after(group),
                    _ => runner.shape.group(index),
                };
                // While there are helpers to call the clock is read after each workgroup.
                let more = match caller {
                    Some(caller) if caller.may_call() => 0,
                    _ => u32::try_from(state.mine.end - state.mine.start).unwrap_or(u32::MAX),
                };
                let more = match board.cancel {
                    Some(_) => more.min(UNWATCHED),
                    None => more,
                };
                let some = (index, group, more);
                let waits = board.any_stopped();
                runner.begin(&mut resident, some, waits, &mut state.stats);
                resident
            }
        };
        let first = resident.index;
        let held = state.mine.end - state.mine.start;
        let mut referee = GroupReferee::new(board, first, held, caller);
        let session = &mut *state.session;
        let outcome = match over {
            Some(kind) => Outcome::Timeout(kind),
            None => runner.run(session, &mut resident, &mut state.stats, &mut referee),
        };
        // It may have run some of those after it as well.
        let ran = resident.index - first;
        state.mine.start += ran;
        state.last = Some((resident.index, resident.group));
        let ended = match outcome {
            Outcome::Stalled | Outcome::Suspect => {
                board.put_aside(resident);
                if matches!(outcome, Outcome::Suspect) {
                    verify::examine(runner, board, worker.view);
                }
                ran
            }
            Outcome::Timeout(kind) => {
                board.put_aside(resident);
                verify::time_out(runner, board, worker.view, kind);
                ran
            }
            Outcome::Done => {
                board.leave(resident.index);
                state.own = Some(resident);
                ran + 1
            }
            Outcome::Abandoned => {
                board.leave(resident.index);
                state.own = Some(resident);
                ran
            }
            Outcome::Fault(fault, wave, exec) => {
                let at = (resident.group.id, wave, exec);
                let fault = describe(runner, worker.view, fault, &resident, at);
                board.leave(resident.index);
                board.report(resident.index, fault);
                state.own = Some(resident);
                ran
            }
        };
        if ended != 0
            && let Some(progress) = worker.progress
        {
            progress.fetch_add(ended, Relaxed);
        }
    }

    /// A place for one more workgroup, if there is memory for it.
    fn another<'a>(&self, worker: &Worker<'_, 'a>) -> Option<Box<Resident<'a>>> {
        if let Some(free) = worker.board.aside.lists().free.pop() {
            return Some(free);
        }
        let mut room = self.room(worker.runner.memory.is_exact());
        room.begin_dispatch();
        let place = worker.prepared.another(room).ok()?;
        let group = worker.runner.shape.group(0);
        Some(Box::new(Resident::new(place, group)))
    }

    /// The first place of the worker with this number.
    fn place<'a>(&self, worker: &Worker<'_, 'a>, number: usize) -> Box<Resident<'a>> {
        let mut room = self.room(worker.runner.memory.is_exact());
        room.begin_dispatch();
        let place = worker.prepared.place(number, room);
        let group = worker.runner.shape.group(0);
        Box::new(Resident::new(place, group))
    }

    /// Keeps some of the buffers of workgroups that had stopped.
    fn keep(&self, aside: Aside<'_>) {
        let places = aside.into_places();
        let mut rooms = self.rooms.lock().expect("no holder of the lock panics");
        let more = ROOMS.saturating_sub(rooms.len());
        rooms.extend(places.take(more).map(|place| place.room));
    }

    /// The most recent time of a workgroup of the kernel.
    fn pace(&self, entry: u64) -> Option<Duration> {
        let paces = self.paces.lock().expect("no holder of the lock panics");
        paces.get(&entry).copied()
    }

    /// Records the time of this number of workgroups.
    fn set_pace(&self, entry: u64, time: Duration, groups: u64) {
        let groups = u32::try_from(groups).unwrap_or(u32::MAX);
        let Some(pace) = time.checked_div(groups) else {
            return;
        };
        let mut paces = self.paces.lock().expect("no holder of the lock panics");
        if paces.len() >= PACES {
            paces.clear();
        }
        paces.insert(entry, pace);
    }

    fn room(&self, checked: bool) -> Room {
        let mut rooms = self.rooms.lock().expect("no holder of the lock panics");
        let found = rooms.iter().position(|room| room.is_checked() == checked);
        found.map_or_else(|| Room::new(checked), |at| rooms.swap_remove(at))
    }
}

/// What a worker works with.
struct Worker<'w, 'a> {
    runner: &'w GroupRunner<'w>,
    board: &'w Board<'a>,
    prepared: &'w Prepared<'a>,
    view: View<'w>,
    progress: Option<&'w AtomicU64>,
    /// Of the leader.
    caller: Option<&'w Caller<'w>>,
}

/// What changes as a worker works.
struct State<'w, 'a> {
    session: Box<dyn Session + 'w>,
    stats: Stats,
    /// Workgroups that it has taken but not begun.
    mine: Range<u64>,
    /// The workgroup that ran last.
    last: Option<(u64, GroupShape)>,
    /// A place for the next one.
    own: Option<Box<Resident<'a>>>,
}

/// Adds location and workgroup to an engine's report.
fn describe(
    runner: &GroupRunner<'_>,
    view: View<'_>,
    mut fault: WaveFault,
    resident: &Resident<'_>,
    (workgroup, wave, exec): ([u32; 3], u32, u64),
) -> Fault {
    runner.complete(&mut fault, &resident.place.scratch);
    let WaveFault { kind, pc, lane } = fault;
    let at = view.locate(pc, (workgroup, wave, exec));
    Fault {
        lane,
        ..verify::fault_at(kind, at, runner.memory)
    }
}

#[cfg(test)]
mod tests;
