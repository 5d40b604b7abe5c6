//! The workers of a dispatch: threads that take workgroups in ascending order.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::{Duration, Instant};

use frontend::{LANES, WaveState};

use super::afterwards;
use super::cancel::CancelToken;
use super::group::{GroupRunner, Outcome, Referee, Room, Verdict};
use super::idle::Idle;
use super::launch::{self, Arguments, KernelCode, Launch, LaunchError, Queued};
use super::packet::{self, PACKET_BYTES, PacketFacts, QUEUE_BYTES, QueueFacts};
use super::registers::{Facts, InitialState};
use super::shape::GroupShape;
use super::thread_pool::{Leader, ThreadPool};
use super::waits::{GridWait, Poll, WaitTiming};
use crate::LoadedCode;
use crate::engine::{Engine, PRIVATE_BASE, SHARED_BASE, Scratch, Stats};
use crate::fault::{Access, Fault, FaultKind, Location, WaveFault};
use crate::float_env::DefaultEnvironment;
use crate::kernarg::{self, HiddenContext};
use crate::memory::{Memory, MemoryError, Purpose};
use crate::stack;

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
    /// Called once for a dispatch that seems to wait for itself.
    pub on_wait: Option<fn(&GridWait)>,
    /// Stops the dispatch when it is cancelled; the result is then [`RunError::Cancelled`], unless
    /// all workgroups had ended or one had faulted.
    pub cancel: Option<CancelToken>,
    /// Afterwards looks for writes behind buffers and to the kernel's arguments
    /// ([`Memory::check_marks`]), which are faults. Of dispatches that run at the same time, any may
    /// be named.
    pub find_overruns: bool,
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
            cancel: None,
            find_overruns: true,
        }
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

/// Time that workers below a faulted group get to finish: a group that waits for one that will
/// never run must not wait forever.
const GRACE: Duration = Duration::from_secs(10);

/// Expected time up to which the leader runs a dispatch alone: calling helpers takes as long.
const ALONE: Duration = Duration::from_micros(30);

/// Maximum number of workgroups that a worker takes at a time: enough that workers seldom contend,
/// and that prefetched data is mostly a worker's own.
const SOME: u64 = 1024;

/// Maximum number of workgroups that an engine runs without a look at the token of a dispatch that
/// can be cancelled.
const UNWATCHED: u32 = 16;

/// Each worker takes this fraction of its share of the remaining workgroups: fewer and fewer, so
/// that workers finish at nearly the same time.
const SHARES: u64 = 8;

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

/// Decides when the leader of a dispatch calls its helpers.
struct Caller<'a> {
    leader: &'a Leader<'a>,
    begin: Instant,
}

impl Caller<'_> {
    /// Calls them if the dispatch has taken long enough.
    fn look(&self) {
        if self.leader.may_call() && self.begin.elapsed() > ALONE {
            self.leader.call();
        }
    }
}

/// The state that the workers of a dispatch share.
struct Board<'a> {
    next: AtomicU64,
    end: u64,
    /// Divisor of the remaining workgroups that a worker takes at a time.
    shares: u64,
    /// Lowest group that faulted.
    bad_group: AtomicU64,
    /// Its fault, and the time of the first report.
    fault: Mutex<Option<(Fault, Instant)>>,
    deadline: Option<(Instant, Duration)>,
    cancel: Option<&'a CancelToken>,
    /// A workgroup was not begun or not finished because of it.
    cancelled: AtomicBool,
    /// Number of workers, and of those without workgroups left.
    threads: usize,
    ended: AtomicUsize,
    waits: Waits,
}

/// State of workgroups that wait for others.
struct Waits {
    on_wait: Option<fn(&GridWait)>,
    timing: WaitTiming,
    /// Workgroups of the grid, and the number of them after those that are run.
    total: u64,
    left_out: u64,
    /// Workers whose workgroup polls memory.
    polling: Mutex<BTreeMap<usize, Polling>>,
    told: AtomicBool,
}

/// A worker whose workgroup polls memory.
struct Polling {
    group: u64,
    id: [u32; 3],
    poll: Poll,
    /// Workgroups that it has taken but not begun.
    held: u64,
}

impl Board<'_> {
    /// The next workgroup of a worker that has taken `mine`, several at a time. It runs them in
    /// ascending order, so that the lowest group that has not ended is always running.
    fn take(&self, mine: &mut Range<u64>) -> Option<u64> {
        if mine.is_empty() {
            let some = |first: u64| ((self.end - first) / self.shares).clamp(1, SOME);
            let behind = |first: u64| (first < self.end).then(|| first + some(first));
            let first = self.next.fetch_update(Relaxed, Relaxed, behind).ok()?;
            *mine = first..first + some(first);
        }
        mine.next()
            .filter(|&group| group < self.bad_group.load(Relaxed) && !self.stops())
    }

    /// Was the dispatch cancelled? Called only where a workgroup is left out if so.
    fn stops(&self) -> bool {
        let stops = self.cancel.is_some_and(CancelToken::is_cancelled);
        if stops {
            self.cancelled.store(true, Relaxed);
        }
        stops
    }

    fn report(&self, group: u64, fault: Fault) {
        let mut slot = self.fault.lock().expect("no holder of the lock panics");
        let first = slot.as_ref().map_or_else(Instant::now, |(_, when)| *when);
        if slot.is_none() || group < self.bad_group.load(Relaxed) {
            self.bad_group.store(group, Relaxed);
            *slot = Some((fault, first));
        }
    }

    /// The reported wait, if all workers have polled for some time and there are workgroups that
    /// have not begun.
    fn wait(&self, view: View<'_>) -> Option<GridWait> {
        let waits = &self.waits;
        let polling = waits.list();
        if polling.len() + self.ended.load(Relaxed) < self.threads {
            return None;
        }
        let since = polling.values().map(|worker| worker.poll.since).max()?;
        let until = polling.values().map(|worker| worker.poll.until).min()?;
        let time = until.checked_duration_since(since)?;
        let held: u64 = polling.values().map(|worker| worker.held).sum();
        let next = self.next.load(Relaxed).min(self.end);
        let not_begun = self.end - next + held + waits.left_out;
        if time < waits.timing.confirm || not_begun == 0 {
            return None;
        }
        let lowest = polling.values().min_by_key(|worker| worker.group)?;
        let Poll { wave, pc, exec, .. } = lowest.poll;
        Some(GridWait {
            at: locate(view, pc, (lowest.id, wave, exec)),
            seconds: time.as_secs_f64(),
            not_begun,
            total: waits.total,
        })
    }
}

/// Context to describe the location of an instruction.
#[derive(Clone, Copy)]
struct View<'a> {
    code: &'a LoadedCode,
    kernel: &'a KernelCode,
}

/// One worker's view while it runs a group.
struct GroupReferee<'a> {
    board: &'a Board<'a>,
    view: View<'a>,
    worker: usize,
    group: u64,
    /// Workgroups after it that the worker has taken, too.
    held: u64,
    /// It is counted as polling.
    polls: bool,
    idle: Idle,
    /// Of the leader.
    caller: Option<&'a Caller<'a>>,
}

impl Referee for GroupReferee<'_> {
    fn passed(&mut self, groups: u32) {
        self.group += u64::from(groups);
        self.held -= u64::from(groups);
        self.leave();
    }

    fn burned(&mut self) -> Verdict {
        if let Some(caller) = self.caller {
            caller.look();
        }
        let bad = self.board.bad_group.load(Relaxed);
        if bad < self.group || self.board.stops() {
            return Verdict::Abandon;
        }
        if let Some((deadline, limit)) = self.board.deadline
            && Instant::now() >= deadline
        {
            let seconds = limit.as_secs_f64();
            return Verdict::Fault(FaultKind::Timeout { seconds });
        }
        if bad != u64::MAX {
            let fault = self
                .board
                .fault
                .lock()
                .expect("no holder of the lock panics");
            if fault
                .as_ref()
                .is_some_and(|(_, when)| when.elapsed() > GRACE)
            {
                return Verdict::Abandon;
            }
        }
        Verdict::Continue
    }

    fn spinning(&mut self, wave: &WaveState) {
        if self.board.threads != 1 && self.idle.yields(wave) {
            std::thread::yield_now();
        }
    }

    #[cold]
    fn polls(&mut self, group: &GroupShape, poll: Option<Poll>) {
        let Some(poll) = poll else {
            self.leave();
            return;
        };
        let polling = Polling {
            group: self.group,
            id: group.id,
            poll,
            held: self.held,
        };
        self.polls = true;
        let waits = &self.board.waits;
        waits.list().insert(self.worker, polling);
        if let Some(on_wait) = waits.on_wait
            && let Some(wait) = self.board.wait(self.view)
            && !waits.told.swap(true, Relaxed)
        {
            on_wait(&wait);
        }
    }
}

impl GroupReferee<'_> {
    /// The workgroup stops polling.
    fn leave(&mut self) {
        if std::mem::take(&mut self.polls) {
            self.board.waits.list().remove(&self.worker);
        }
    }
}

impl Waits {
    fn list(&self) -> MutexGuard<'_, BTreeMap<usize, Polling>> {
        self.polling.lock().expect("no holder of the lock panics")
    }
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
            0 => processors(),
            n => n,
        };
        let threads = threads.min(usize::try_from(groups.end - groups.start).unwrap_or(threads));
        let threads = threads.max(1);
        let id = self.dispatches.fetch_add(1, Relaxed);
        let stack = settings.stack_bytes;
        let prepared = Prepared::new(memory, code, kernel, launch, stack, threads, id)?;

        let begin = Instant::now();
        let timing = WaitTiming::new(settings.timeout);
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
            ended: AtomicUsize::new(0),
            waits: Waits {
                on_wait: settings.on_wait,
                timing,
                total: all.end,
                left_out: all.end - groups.end,
                polling: Mutex::default(),
                told: AtomicBool::new(false),
            },
        };
        let shape = launch.shape;
        let work = |number: usize, caller: Option<&Caller<'_>>| {
            let (initial, scratch) = prepared.worker(number);
            let mut runner = GroupRunner {
                engine,
                memory,
                code,
                initial,
                shape,
                lds_bytes: prepared.lds_bytes,
                lds_allocated: code.gfx().lds_allocated(prepared.lds_bytes),
                scratch,
                counting: settings.counting,
                fuel: settings.fuel.max(1),
                timing: settings.on_wait.map(|_| timing),
            };
            let worker = (number, settings.progress);
            self.work(&mut runner, &board, kernel, worker, caller)
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
        let fault = board
            .fault
            .into_inner()
            .expect("no holder of the lock panics");
        let mut fault = fault.map(|(fault, _)| fault);
        if settings.find_overruns {
            // Also after a fault, so that the next dispatch does not answer for this one.
            let found = afterwards::find(memory, code, kernel, prepared.own_arguments());
            fault = fault.or(found);
        }
        match fault {
            Some(fault) => Err(RunError::Fault(Box::new(fault))),
            None if board.cancelled.into_inner() => Err(RunError::Cancelled {
                kernel: kernel.name.clone(),
            }),
            None => Ok(stats),
        }
    }

    /// One worker, from its first group to its last.
    fn work(
        &self,
        runner: &mut GroupRunner<'_>,
        board: &Board<'_>,
        kernel: &KernelCode,
        (worker, progress): (usize, Option<&AtomicU64>),
        caller: Option<&Caller<'_>>,
    ) -> Stats {
        let code = runner.code;
        let view = View { code, kernel };
        let checked = runner.memory.is_exact();
        let _environment = DefaultEnvironment::new();
        let mut session = runner.engine.session();
        let mut room = self.room(checked);
        room.begin_dispatch();
        let mut stats = Stats::default();
        let mut mine = 0..0;
        let mut last: Option<(u64, GroupShape)> = None;
        while let Some(index) = board.take(&mut mine) {
            let mut group = match &last {
                Some((before, group)) if before + 1 == index => runner.shape.after(group),
                _ => runner.shape.group(index),
            };
            // While there are helpers to call the clock is read after each workgroup.
            let more = match caller {
                Some(caller) if caller.leader.may_call() => 0,
                _ => u32::try_from(mine.end - mine.start).unwrap_or(u32::MAX),
            };
            let more = match board.cancel {
                Some(_) => more.min(UNWATCHED),
                None => more,
            };
            let mut referee = GroupReferee {
                board,
                view,
                worker,
                group: index,
                held: mine.end - mine.start,
                polls: false,
                idle: Idle::default(),
                caller,
            };
            let some = (&mut group, more);
            let outcome = runner.run(&mut *session, &mut room, some, &mut stats, &mut referee);
            referee.leave();
            // It may have run some of those after it as well.
            let ran = referee.group + 1 - index;
            mine.start += ran - 1;
            let index = referee.group;
            last = Some((index, group));
            match outcome {
                Outcome::Done => {}
                Outcome::Abandoned => break,
                Outcome::Fault(fault, wave, exec) => {
                    let fault = describe(runner, kernel, fault, group.id, wave, exec);
                    board.report(index, fault);
                    break;
                }
            }
            if let Some(progress) = progress {
                progress.fetch_add(ran, Relaxed);
            }
            if let Some(caller) = caller {
                caller.look();
            }
        }
        board.ended.fetch_add(1, Relaxed);
        let mut rooms = self.rooms.lock().expect("no holder of the lock panics");
        rooms.push(room);
        stats
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

/// Adds location and workgroup to an engine's report.
fn describe(
    runner: &GroupRunner<'_>,
    kernel: &KernelCode,
    mut fault: WaveFault,
    workgroup: [u32; 3],
    wave: u32,
    exec: u64,
) -> Fault {
    runner.complete(&mut fault);
    let WaveFault { kind, pc, lane } = fault;
    let code = runner.code;
    let at = locate(View { code, kernel }, pc, (workgroup, wave, exec));
    Fault {
        kind,
        kernel: at.kernel,
        pc: at.pc,
        symbol: at.symbol,
        instruction: at.instruction,
        workgroup,
        wave,
        lane,
        exec,
        checked: runner.memory.is_exact(),
    }
}

/// Describes an instruction and the wave at it.
fn locate(view: View<'_>, pc: u64, (workgroup, wave, exec): ([u32; 3], u32, u64)) -> Location {
    let symbol = view.code.symbol_at(pc);
    Location {
        kernel: view.kernel.name.clone(),
        pc: view.code.local(pc),
        symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
        instruction: view.code.text_at(pc),
        workgroup,
        wave,
        exec,
    }
}

/// Maximum number of kernarg bytes that a descriptor can preload.
const PRELOADABLE: u64 = 4096;

/// Inputs of the hidden arguments.
fn hidden_context(launch: &Launch<'_>, queue_ptr: u64) -> HiddenContext {
    HiddenContext {
        dims: launch.shape.dims,
        grid: launch.shape.grid,
        workgroup: launch.shape.workgroup,
        global_offset: launch.global_offset,
        private_base_hi: (PRIVATE_BASE >> 32) as u32,
        shared_base_hi: (SHARED_BASE >> 32) as u32,
        queue_ptr,
        dynamic_lds: launch.dynamic_lds,
        ..HiddenContext::default()
    }
}

/// A block of guest memory that is freed at the end of the dispatch.
struct Block<'a> {
    memory: &'a Memory,
    address: u64,
}

impl<'a> Block<'a> {
    fn new(
        memory: &'a Memory,
        purpose: Purpose,
        bytes: u64,
        align: u64,
    ) -> Result<Block<'a>, LaunchError> {
        let address = memory.alloc_for(purpose, bytes, align)?;
        Ok(Block { memory, address })
    }
}

impl Drop for Block<'_> {
    fn drop(&mut self) {
        let freed = self.memory.free(self.address);
        debug_assert!(freed.is_ok(), "bug: a dispatch's block was freed twice");
    }
}

/// Structures of a dispatch in guest memory, prepared before the first wave.
struct Prepared<'a> {
    code: &'a LoadedCode,
    kernel: &'a KernelCode,
    kernarg: Vec<u8>,
    kernarg_ptr: u64,
    /// Addresses of packet and queue, and their memory if the dispatch owns it.
    packet_ptr: u64,
    queue_ptr: u64,
    _structures: Option<Block<'a>>,
    kernarg_block: Option<Block<'a>>,
    scratch: Option<Block<'a>>,
    /// Scratch of all waves of a worker.
    worker_scratch: u64,
    lane_scratch: u32,
    lds_bytes: u32,
    dispatch_id: u64,
}

impl<'a> Prepared<'a> {
    fn new(
        memory: &'a Memory,
        code: &'a LoadedCode,
        kernel: &'a KernelCode,
        launch: &Launch<'_>,
        stack_bytes: Option<u32>,
        threads: usize,
        dispatch_id: u64,
    ) -> Result<Prepared<'a>, LaunchError> {
        let gfx = code.gfx();
        let mut lane_scratch = launch::scratch_size(kernel, stack_bytes)?;
        let (structures, packet_ptr, queue_ptr, dispatch_id) = match launch.arguments {
            Arguments::Queued(queued) => {
                if lane_scratch != 0 {
                    let asked = queued.private_bytes.min(launch::MAX_LANE_SCRATCH);
                    lane_scratch = lane_scratch.max(asked.next_multiple_of(16));
                }
                (None, queued.packet, queued.queue, queued.dispatch_id)
            }
            _ => {
                let bytes = (PACKET_BYTES + QUEUE_BYTES) as u64;
                let block = Block::new(memory, Purpose::Structure, bytes, 256)?;
                let packet_ptr = block.address;
                let queue_ptr = packet_ptr + PACKET_BYTES as u64;
                (Some(block), packet_ptr, queue_ptr, dispatch_id)
            }
        };

        let mut dynamic_lds = launch.dynamic_lds;
        let needed = u64::from(kernel.descriptor.kernarg_size);
        let (kernarg, kernarg_block) = match launch.arguments {
            Arguments::At(address)
            | Arguments::Queued(Queued {
                kernarg: address, ..
            }) => {
                // All of it must be accessible; only what may be preloaded is read here.
                if !memory.contains(address, needed) {
                    return Err(LaunchError::Memory(MemoryError::Unmapped {
                        access: Access::Read,
                        address,
                        bytes: kernel.descriptor.kernarg_size,
                    }));
                }
                let mut bytes = vec![0; needed.min(PRELOADABLE) as usize];
                memory.read_bytes(address, &mut bytes)?;
                (bytes, None)
            }
            Arguments::Segment(bytes) => (bytes.to_vec(), Some(())),
            Arguments::Values(metadata, values) => {
                let built = kernarg::build(metadata, values, &hidden_context(launch, queue_ptr))?;
                // LDS of pointer arguments in addition to that of the metadata.
                dynamic_lds = built
                    .lds_size
                    .saturating_sub(metadata.group_segment_fixed_size);
                (built.bytes, Some(()))
            }
        };
        if kernarg_block.is_some() && (kernarg.len() as u64) < needed {
            return Err(LaunchError::KernargTooSmall {
                kernel: kernel.name.clone(),
                needed,
                given: kernarg.len() as u64,
            });
        }
        let lds_bytes = launch::lds_size(gfx, kernel, dynamic_lds)?;
        let kernarg_block = match kernarg_block {
            None => None,
            Some(()) => {
                // Compilers load whole aligned dwords, up to four at once, from the segment.
                let bytes = kernarg.len().next_multiple_of(16) as u64;
                let block = Block::new(memory, Purpose::Structure, bytes, 256)?;
                memory.write_bytes(block.address, &kernarg)?;
                Some(block)
            }
        };
        let kernarg_ptr = match (launch.arguments, &kernarg_block) {
            (Arguments::At(address), _) => address,
            (Arguments::Queued(queued), _) => queued.kernarg,
            (_, block) => block.as_ref().map_or(0, |block| block.address),
        };
        let packet = packet::packet(
            &launch.shape,
            &PacketFacts {
                private_bytes: lane_scratch,
                group_bytes: lds_bytes,
                kernel_object: kernel.address,
                kernarg: kernarg_ptr,
            },
        );
        if structures.is_some() {
            memory.write_bytes(packet_ptr, &packet)?;
        }

        let waves = u64::from(launch.shape.waves());
        let worker_scratch = u64::from(lane_scratch) * LANES as u64 * waves;
        let scratch = match worker_scratch {
            0 => None,
            bytes => {
                let bytes = bytes * threads as u64;
                Some(Block::new(memory, Purpose::Sparse, bytes, 1 << 16)?)
            }
        };
        let scratch_base = scratch.as_ref().map_or(0, |block| block.address);
        let queue = packet::queue(&QueueFacts {
            packets: packet_ptr,
            dispatch_id,
            scratch: (scratch_base, worker_scratch),
            hidden_base: if code.gfx().flat_scratch_is_address() {
                0
            } else {
                scratch_base
            },
            lane_bytes: lane_scratch,
        });
        if structures.is_some() {
            memory.write_bytes(queue_ptr, &queue)?;
        }
        Ok(Prepared {
            code,
            kernel,
            kernarg,
            kernarg_ptr,
            packet_ptr,
            queue_ptr,
            _structures: structures,
            kernarg_block,
            scratch,
            worker_scratch,
            lane_scratch,
            lds_bytes,
            dispatch_id,
        })
    }

    /// Address and contents of the kernel argument segment, if it belongs to the dispatch.
    fn own_arguments(&self) -> Option<(u64, &[u8])> {
        let block = self.kernarg_block.as_ref()?;
        Some((block.address, &self.kernarg))
    }

    /// Initial registers and scratch of a worker's waves. Each worker has its own scratch, which is
    /// the queue's whole scratch to its waves.
    fn worker(&self, number: usize) -> (InitialState, Scratch) {
        let base = match &self.scratch {
            Some(block) => block.address + self.worker_scratch * number as u64,
            None => 0,
        };
        let facts = Facts {
            dispatch_ptr: self.packet_ptr,
            queue_ptr: self.queue_ptr,
            kernarg_ptr: self.kernarg_ptr,
            dispatch_id: self.dispatch_id,
            kernarg: &self.kernarg,
            scratch: (base, self.worker_scratch),
            lane_bytes: self.lane_scratch,
            lds_bytes: self.lds_bytes,
        };
        let kernel = self.kernel;
        let state = InitialState::new(self.code.gfx(), kernel.descriptor, kernel.entry, &facts);
        let scratch = Scratch {
            hidden_base: if self.code.gfx().flat_scratch_is_address() {
                0
            } else {
                base
            },
            base,
            lane_bytes: self.lane_scratch,
        };
        (state, scratch)
    }
}

#[cfg(test)]
mod tests;
