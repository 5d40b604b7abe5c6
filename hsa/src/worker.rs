//! The thread of a queue: takes the packets in order, each when the one before has ended.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::time::Duration;

use runtime::Stats;
use runtime::dispatch::{Arguments, GridWait, Launch, Queued, RunError, Settings, Shape};

use crate::abi::{Handle, Outcome, Status, packet, signal_at};
use crate::clock;
use crate::executable::KernelEntry;
use crate::fault::{self, Trouble};
use crate::guard::say;
use crate::lock::read;
use crate::queue::Queue;
use crate::signal::{Change, Condition};
use crate::state::Runtime;

/// Offset of the completion signal in every packet.
const COMPLETION: u64 = 56;

/// Most signals that a packet waits for.
const DEPENDENCIES: u64 = 5;

/// The thread's life.
pub(crate) fn serve(rt: &'static Runtime, queue: &Arc<Queue>) {
    let mut known: Option<Arc<KernelEntry>> = None;
    let mut index = queue.read_index().load(SeqCst);
    let mut awake = rt.signals.queue_awakes();
    loop {
        let header = || queue.header(index).load(SeqCst);
        let more = || header() as u8 != packet::INVALID;
        if !queue.producer.spin(Duration::MAX, more) {
            drop(awake);
            queue.sleep(more);
            awake = rt.signals.queue_awakes();
        }
        rt.signals.answerer.see();
        if queue.stopped.load(SeqCst) {
            return;
        }
        let work = std::panic::AssertUnwindSafe(|| take(rt, queue, index, header(), &mut known));
        let done = std::panic::catch_unwind(work).unwrap_or_else(|_| {
            let what = "a bug in wavelift stopped the queue (see above)".to_owned();
            Err(Trouble::new(Status::FATAL, what))
        });
        if let Err(trouble) = done {
            fault::report(rt, queue, index, &trouble);
            return;
        }
        if queue.stopped.load(SeqCst) {
            return;
        }
        let completion = rt
            .memory
            .load_u64(queue.packet(index) + COMPLETION)
            .unwrap_or(0);
        // From here on the slot belongs to the program again.
        queue
            .header(index)
            .store(u16::from(packet::INVALID), SeqCst);
        index += 1;
        queue.read_index().store(index, SeqCst);
        if completion != 0 {
            // It was found valid before the packet ran; the program may have destroyed it since.
            let _ = rt.signals.change(completion, Change::Subtract, 1);
        }
    }
}

/// An invalid packet.
fn malformed(what: String) -> Trouble {
    Trouble::new(Status::INVALID_PACKET_FORMAT, what)
}

/// Processes a packet.
fn take(
    rt: &'static Runtime,
    queue: &Queue,
    index: u64,
    header: u16,
    known: &mut Option<Arc<KernelEntry>>,
) -> Result<(), Trouble> {
    let address = queue.packet(index);
    let load = |at: u64| {
        let word = rt.memory.load_u64(address + at);
        word.map_err(|error| malformed(error.to_string()))
    };
    let completion = load(COMPLETION)?;
    if completion != 0 && rt.signals.check(completion).is_err() {
        let what = format!("the packet's completion signal 0x{completion:x} does not exist");
        return Err(Trouble::new(Status::INVALID_SIGNAL, what));
    }
    let kind = header as u8;
    match kind {
        packet::KERNEL => return kernel(rt, queue, index, completion, known),
        packet::BARRIER_AND | packet::BARRIER_OR => {
            let mut signals = Vec::new();
            for number in 0..DEPENDENCIES {
                match load(8 + 8 * number)? {
                    0 => {}
                    signal => signals.push(signal),
                }
            }
            // A signal that is gone waits for nothing.
            let done = |&signal: &Handle| {
                rt.signals.load(signal).is_ok_and(|value| value == 0)
                    || rt.signals.check(signal).is_err()
            };
            let all = kind == packet::BARRIER_AND;
            wait(rt, queue, &signals, || match all {
                true => signals.iter().all(done),
                false => signals.is_empty() || signals.iter().any(done),
            });
        }
        packet::VENDOR => {
            let amd = (load(0)? >> 16) as u8;
            if amd != packet::AMD_BARRIER_VALUE {
                return Err(malformed(format!("a vendor packet of format {amd}")));
            }
            let (signal, compare, mask) = (load(8)?, load(16)? as i64, load(24)? as i64);
            let condition = Condition::new(load(32)? as u32)
                .map_err(|_| malformed("a barrier with an unknown condition".to_owned()))?;
            wait(rt, queue, &[signal], || match rt.signals.load(signal) {
                Ok(value) => condition.holds(value & mask, compare),
                Err(_) => true,
            });
        }
        other => return Err(malformed(format!("a packet of type {other}"))),
    }
    if completion != 0 {
        let now = clock::now();
        stamp(rt, completion, now, now);
    }
    Ok(())
}

/// Waits until `done`, or until the queue stops.
fn wait(rt: &Runtime, queue: &Queue, signals: &[Handle], done: impl Fn() -> bool) {
    let stopped = || queue.stopped.load(SeqCst);
    rt.signals
        .wait_for(signals, || false, || (done() || stopped()).then_some(()));
}

/// Notes when a packet's work began and ended.
fn stamp(rt: &Runtime, signal: Handle, start: u64, end: u64) {
    rt.signals
        .word(signal, signal_at::START)
        .store(start, SeqCst);
    rt.signals.word(signal, signal_at::END).store(end, SeqCst);
}

/// The kernel at this address, remembered from packet to packet.
fn find(
    rt: &Runtime,
    object: u64,
    known: &mut Option<Arc<KernelEntry>>,
) -> Outcome<Arc<KernelEntry>> {
    // A kernel that was unloaded is forgotten by all; its address may be another's.
    if let Some(entry) = known
        && entry.code.address == object
        && !entry.unloaded.load(SeqCst)
    {
        return Ok(entry.clone());
    }
    let kernels = read(&rt.kernels);
    let entry = kernels
        .get(&object)
        .cloned()
        .ok_or(Status::INVALID_CODE_OBJECT)?;
    *known = Some(entry.clone());
    Ok(entry)
}

/// Runs a kernel.
fn kernel(
    rt: &'static Runtime,
    queue: &Queue,
    index: u64,
    completion: Handle,
    known: &mut Option<Arc<KernelEntry>>,
) -> Result<(), Trouble> {
    let address = queue.packet(index);
    let mut words = [0; 16];
    rt.memory
        .load_dwords(address, &mut words)
        .map_err(|error| malformed(error.to_string()))?;
    let long = |at: usize| u64::from(words[at]) | u64::from(words[at + 1]) << 32;
    let (object, kernarg) = (long(8), long(10));
    let entry = find(rt, object, known)
        .map_err(|status| Trouble::new(status, format!("no kernel is loaded at 0x{object:x}")))?;
    let dims = (words[0] >> 16 & 3) as u16;
    let mut grid = [words[3], words[4], words[5]];
    let mut workgroup = [words[1] & 0xffff, words[1] >> 16, words[2] & 0xffff];
    for dim in usize::from(dims)..3 {
        (grid[dim], workgroup[dim]) = (1, 1);
    }
    let named = |what: &dyn std::fmt::Display| format!("kernel {}: {what}", entry.code.name);
    let shape = Shape::new(grid, workgroup, dims).map_err(|error| malformed(named(&error)))?;
    let fixed = entry.code.descriptor.group_segment_fixed_size;
    let queued = Queued {
        kernarg,
        packet: address,
        queue: queue.address,
        dispatch_id: index,
        private_bytes: words[6],
    };
    let launch = Launch {
        shape,
        global_offset: [0; 3],
        dynamic_lds: words[7].saturating_sub(fixed),
        arguments: Arguments::Queued(queued),
    };
    let findings = rt.findings.as_ref();
    let checked = findings.map(|findings| findings.begin(&entry.code.name));
    let settings = Settings {
        threads: queue.threads(rt.config.threads),
        timeout: rt.config.timeout,
        stack_bytes: rt.config.stack,
        on_wait: Some(warn_of_wait),
        launch: checked.as_ref().map_or(0, |checked| checked.number),
        ..Settings::default()
    };
    let recorder = rt.recorder.as_ref();
    let recording = recorder.map(|recorder| recorder.begin(rt, &entry, &queued));
    let running = rt.signals.kernel_runs();
    let start = clock::now();
    let result = rt.dispatcher.run(
        &*rt.engine,
        &rt.memory,
        entry.module.code(),
        &entry.code,
        &launch,
        &settings,
    );
    let end = clock::now();
    drop(running);
    if let Some(recording) = recording {
        recording.finish(rt, &entry, &launch, result.is_ok());
    }
    if let Some(checked) = checked {
        checked.finish(rt, &entry);
    }
    let count = |stats: &Stats| {
        if rt.config.stats || rt.config.profile.is_some() {
            rt.totals.add(&entry.code.name, stats, end - start);
        }
    };
    let stats = match result {
        Ok(stats) => stats,
        Err(error) => {
            count(&Stats::default());
            return Err(Trouble::of_run(error, &entry, grid, workgroup));
        }
    };
    count(&stats);
    complain_of_fallbacks(rt, &stats);
    if completion != 0 {
        stamp(rt, completion, start, end);
    }
    Ok(())
}

/// Says that a kernel seems to wait for itself.
fn warn_of_wait(wait: &GridWait) {
    say(format_args!("{wait}"));
}

/// With counters on: instructions that were not translated are named.
fn complain_of_fallbacks(rt: &Runtime, stats: &Stats) {
    if rt.config.stats && stats.fallbacks != 0 {
        let names: Vec<_> = stats.fallback_names.keys().copied().collect();
        say(format_args!(
            "interpreted instead of translated: {}",
            names.join(" ")
        ));
    }
}

impl Trouble {
    /// Why a kernel did not run to its end.
    fn of_run(
        error: RunError,
        entry: &KernelEntry,
        grid: [u32; 3],
        workgroup: [u32; 3],
    ) -> Trouble {
        let place = format!(
            "kernel {}, grid {grid:?} in workgroups of {workgroup:?}",
            entry.code.name
        );
        match error {
            RunError::Fault(fault) => Trouble::of_fault(&fault, &place),
            RunError::Launch(error) => {
                let status = fault::launch_status(&error);
                Trouble::new(status, format!("{place}: {error}"))
            }
            RunError::Cancelled { .. } => Trouble::new(Status::ERROR, format!("{place}: {error}")),
        }
    }
}
