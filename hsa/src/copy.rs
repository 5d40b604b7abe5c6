//! Asynchronous copies: two threads take those whose dependencies are met. Small ones without
//! dependencies are done at once.

use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::abi::{Dim3, Handle, Outcome, PitchedPtr, Status, signal_at};
use crate::clock;
use crate::lock::lock;
use crate::pools::{host_address, pointer};
use crate::signal::{Change, Signals};
use crate::state::Runtime;

/// Threads that copy.
const THREADS: usize = 2;

/// Copies of at most this size are done on the caller's thread: waking another one takes as long as a
/// small copy, and HIP divides large copies into pieces of this size.
const AT_ONCE: usize = 4 << 20;

/// A copy operation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Task {
    /// Only dependencies and completion.
    Nothing,
    /// Consecutive bytes.
    Bytes { to: u64, from: u64, bytes: usize },
    /// Rows of slices.
    Rect {
        to: u64,
        from: u64,
        to_pitch: [u64; 2],
        from_pitch: [u64; 2],
        /// Bytes, rows, slices.
        range: [u64; 3],
    },
}

struct Job {
    task: Task,
    after: Vec<Handle>,
    completion: Handle,
}

/// The copies that wait.
pub(crate) struct Copies {
    jobs: Mutex<Vec<Job>>,
    threads: OnceLock<bool>,
}

impl Copies {
    pub(crate) fn new() -> Copies {
        Copies {
            jobs: Mutex::new(Vec::new()),
            threads: OnceLock::new(),
        }
    }

    fn jobs(&self) -> MutexGuard<'_, Vec<Job>> {
        lock(&self.jobs)
    }

    /// The first copy that may begin.
    fn ready(&self, signals: &Signals) -> Option<Job> {
        let mut jobs = self.jobs();
        let at = jobs.iter().position(|job| all_zero(signals, &job.after))?;
        Some(jobs.remove(at))
    }
}

/// Are all of the signals 0, or gone?
fn all_zero(signals: &Signals, list: &[Handle]) -> bool {
    list.iter().all(|&signal| {
        signals.load(signal).is_ok_and(|value| value == 0) || signals.check(signal).is_err()
    })
}

/// May these addresses be used? Guest memory must be allocated there.
pub(crate) fn check(rt: &Runtime, address: u64, bytes: u64) -> Outcome {
    let (base, len) = (rt.memory.arena_base(), rt.memory.arena_len());
    let inside = address.wrapping_sub(base) < len;
    if address == 0 || (inside && !rt.memory.contains(address, bytes)) {
        return Err(Status::INVALID_ARGUMENT);
    }
    Ok(())
}

/// Copies now.
///
/// # Safety
/// The memory must be valid for it.
pub(crate) unsafe fn run(task: Task) {
    let copy = |to: u64, from: u64, bytes: usize| {
        let (to, from) = (host_address(to), host_address(from));
        // SAFETY: the caller of `run` answers for the memory; overlap is allowed.
        unsafe { std::ptr::copy(pointer(from).cast::<u8>(), pointer(to).cast::<u8>(), bytes) };
    };
    match task {
        Task::Nothing => {}
        Task::Bytes { to, from, bytes } => copy(to, from, bytes),
        Task::Rect {
            to,
            from,
            to_pitch,
            from_pitch,
            range: [bytes, rows, slices],
        } => {
            for slice in 0..slices {
                for row in 0..rows {
                    let at = |pitch: [u64; 2]| row * pitch[0] + slice * pitch[1];
                    copy(to + at(to_pitch), from + at(from_pitch), bytes as usize);
                }
            }
        }
    }
}

impl Task {
    fn bytes(&self) -> usize {
        match *self {
            Task::Nothing => 0,
            Task::Bytes { bytes, .. } => bytes,
            Task::Rect { range, .. } => range.iter().product::<u64>() as usize,
        }
    }
}

/// `hsa_memory_copy`.
///
/// # Safety
/// The memory must be valid for it.
pub(crate) unsafe fn copy_now(rt: &Runtime, to: u64, from: u64, bytes: usize) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    check(rt, to, bytes as u64)?;
    check(rt, from, bytes as u64)?;
    let _change = rt.begin_change();
    // SAFETY: the caller answers for it.
    unsafe { run(Task::Bytes { to, from, bytes }) };
    Ok(())
}

/// Copies when all of `after` are 0, then counts `completion` down.
///
/// # Safety
/// The memory must be valid for it until then.
pub(crate) unsafe fn submit(
    rt: &'static Runtime,
    task: Task,
    after: &[Handle],
    completion: Handle,
) -> Outcome {
    if let Task::Bytes { to, from, bytes } = task
        && bytes != 0
    {
        check(rt, to, bytes as u64)?;
        check(rt, from, bytes as u64)?;
    }
    for &signal in after {
        rt.signals.check(signal)?;
    }
    if completion != 0 {
        rt.signals.check(completion)?;
    }
    let job = Job {
        task,
        after: after.to_vec(),
        completion,
    };
    if task.bytes() <= AT_ONCE && all_zero(&rt.signals, after) {
        // SAFETY: the caller answers for it.
        unsafe { finish(rt, &job) };
        return Ok(());
    }
    let running = rt.copies.threads.get_or_init(|| {
        (0..THREADS).all(|_| runtime::stack::spawn("hsa copy", move || serve(rt)).is_ok())
    });
    if !running {
        return Err(Status::OUT_OF_RESOURCES);
    }
    after.iter().for_each(|&signal| rt.signals.watch(signal));
    rt.copies.jobs().push(job);
    rt.signals.nudge();
    Ok(())
}

/// Does a copy and says so.
///
/// # Safety
/// As for [`run`].
unsafe fn finish(rt: &Runtime, job: &Job) {
    let change = rt.begin_change();
    let start = clock::now();
    // SAFETY: the caller answers for it.
    unsafe { run(job.task) };
    drop(change);
    if job.completion == 0 || rt.signals.check(job.completion).is_err() {
        return;
    }
    let set = |at: u64, time: u64| {
        let word = rt.signals.word(job.completion, at);
        word.store(time, std::sync::atomic::Ordering::SeqCst);
    };
    set(signal_at::START, start);
    set(signal_at::END, clock::now());
    // The program may have destroyed it meanwhile.
    let _ = rt.signals.change(job.completion, Change::Subtract, 1);
}

fn serve(rt: &'static Runtime) {
    let copies = &rt.copies;
    loop {
        let idle = || copies.jobs().is_empty();
        let ready = || copies.ready(&rt.signals);
        let job = rt.signals.wait_for(&[], idle, ready);
        job.after
            .iter()
            .for_each(|&signal| rt.signals.unwatch(signal));
        // SAFETY: `submit`'s caller answers for the memory until the completion signal counts down.
        unsafe { finish(rt, &job) };
    }
}

/// The task of `hsa_amd_memory_async_copy_rect`.
pub(crate) fn rect(
    rt: &Runtime,
    to: &PitchedPtr,
    to_offset: Dim3,
    from: &PitchedPtr,
    from_offset: Dim3,
    range: Dim3,
) -> Outcome<Task> {
    let range = [range.x, range.y, range.z].map(u64::from);
    if range.contains(&0) {
        return Err(Status::INVALID_ARGUMENT);
    }
    let place = |at: &PitchedPtr, offset: Dim3| -> Outcome<(u64, [u64; 2])> {
        let pitch = [at.pitch as u64, at.slice as u64];
        let first = |[x, y, z]: [u64; 3]| -> Option<u64> {
            let rows = y.checked_mul(pitch[0])?;
            z.checked_mul(pitch[1])?.checked_add(rows)?.checked_add(x)
        };
        let offset = [offset.x, offset.y, offset.z].map(u64::from);
        let begin = first(offset).ok_or(Status::INVALID_ARGUMENT)?;
        let last = first([range[0], range[1] - 1, range[2] - 1]).ok_or(Status::INVALID_ARGUMENT)?;
        let base = at.base.expose_provenance() as u64;
        let begin = base.checked_add(begin).ok_or(Status::INVALID_ARGUMENT)?;
        if base == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        check(rt, begin, last)?;
        Ok((begin, pitch))
    };
    let (to, to_pitch) = place(to, to_offset)?;
    let (from, from_pitch) = place(from, from_offset)?;
    Ok(Task::Rect {
        to,
        from,
        to_pitch,
        from_pitch,
        range,
    })
}
