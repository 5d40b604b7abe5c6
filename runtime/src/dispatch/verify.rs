//! Decides whether a dispatch waits for itself, and says who waits for what.
//!
//! When all workgroups that have begun have been found to poll memory for some time, and no other can
//! begin, workers stop them all. Then the interpreter runs each for one iteration of its loops. If
//! each comes back to the same registers, has read the same values and has left memory as it was,
//! none can ever go on, unless something else writes to memory.

use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::board::Board;
use super::group::{GroupRunner, Resident};
use super::launch::KernelCode;
use super::waits::{WaveWait, What};
use super::workers::GridWait;
use crate::LoadedCode;
use crate::engine::Stats;
use crate::fault::{Fault, FaultKind, Location};
use crate::memory::Memory;
use crate::waiting::{Waiting, WaitingGroup, WaitingWave, WaitsFor};

/// Context to describe the location of an instruction.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) code: &'a LoadedCode,
    pub(super) kernel: &'a KernelCode,
}

impl View<'_> {
    /// Describes an instruction and the wave at it.
    pub(super) fn locate(self, pc: u64, (workgroup, wave, exec): ([u32; 3], u32, u64)) -> Location {
        let symbol = self.code.symbol_at(pc);
        Location {
            kernel: self.kernel.name.clone(),
            pc: self.code.local(pc),
            symbol: symbol.map(|(symbol, offset)| (symbol.name.clone(), offset)),
            instruction: self.code.text_at(pc),
            workgroup,
            wave,
            exec,
        }
    }

    fn wave(self, wait: &WaveWait) -> WaitingWave {
        WaitingWave {
            wave: wait.wave,
            on: match wait.what {
                What::Memory(address) => WaitsFor::Memory(address),
                What::Barrier => WaitsFor::Barrier,
                What::GlobalWaveSync(resource) => WaitsFor::GlobalWaveSync(resource),
                What::Runs => WaitsFor::Unknown,
            },
            pc: self.code.local(wait.pc),
            instruction: self.code.text_at(wait.pc),
        }
    }
}

/// A fault at this place.
pub(super) fn fault_at(kind: FaultKind, at: Location, memory: &Memory) -> Fault {
    Fault {
        kind,
        kernel: at.kernel,
        pc: at.pc,
        symbol: at.symbol,
        instruction: at.instruction,
        workgroup: at.workgroup,
        wave: at.wave,
        lane: None,
        exec: at.exec,
        checked: memory.is_exact(),
        waits: None,
    }
}

impl Board<'_> {
    /// For how long all workgroups that have begun have polled, if they have done so for long enough
    /// to be examined and no other can begin.
    /// So many others run.
    pub(super) fn seems_to_wait(&self, running: usize) -> Option<Duration> {
        let lists = self.aside.lists();
        let polling = self.polling();
        let stopped = lists.stopped.len();
        if polling.len() < stopped + running {
            return None;
        }
        let since = polling.values().map(|one| one.poll.since).max()?;
        let until = polling.values().map(|one| one.poll.until).min()?;
        let time = until.checked_duration_since(since)?;
        if time < self.waits.timing.confirm {
            return None;
        }
        let held: u64 = polling.values().map(|one| one.held).sum();
        let not_begun = self.not_begun(&lists, held) - self.waits.left_out;
        let full = stopped + running >= self.aside.capacity();
        (not_begun == 0 || full).then_some(time)
    }
}

/// A workgroup was found to poll, with all others, and has stopped. Examines them all; reports what is
/// found.
pub(super) fn examine(runner: &GroupRunner<'_>, board: &Board<'_>, view: View<'_>) {
    let waits = &board.waits;
    if !waits.alone && waits.told.load(Relaxed) {
        return;
    }
    board.alone(|| {
        let Some(time) = board.seems_to_wait(0) else {
            return;
        };
        let mut lists = board.aside.lists();
        let not_begun = board.not_begun(&lists, 0);
        let limited = not_begun > waits.left_out && lists.stopped.len() < board.aside.occupancy;
        // Without an effect nothing is examined.
        let tells = not_begun != 0 && waits.on_wait.is_some();
        if !(waits.alone || limited || tells) {
            return;
        }
        let mut stats = Stats::default();
        let stands = |one: &mut Box<Resident<'_>>| runner.makes_no_progress(one, &mut stats);
        if !lists.stopped.iter_mut().all(stands) {
            // It is found again if they go on like this.
            board.polling().clear();
            return;
        }
        let seconds = time.as_secs_f64();
        let waiting = who(&lists.stopped, board, not_begun, view);
        let Some((index, at)) = lowest(&lists.stopped, view) else {
            return;
        };
        let kind = if limited {
            FaultKind::NoRoomToWait {
                live: waiting.live,
                bytes: board.aside.bytes,
                limit: board.aside.limit(),
            }
        } else if waits.alone {
            FaultKind::Deadlock { seconds }
        } else {
            if let Some(on_wait) = waits.on_wait
                && !waits.told.swap(true, Relaxed)
            {
                on_wait(&GridWait {
                    at,
                    seconds,
                    not_begun,
                    total: waits.total,
                    waiting,
                });
            }
            return;
        };
        let fault = Fault {
            waits: Some(Box::new(waiting)),
            ..fault_at(kind, at, runner.memory)
        };
        board.report(index, fault);
    });
}

/// The time is over. Reports the lowest workgroup that has stopped; those that run report themselves.
pub(super) fn time_out(
    runner: &GroupRunner<'_>,
    board: &Board<'_>,
    view: View<'_>,
    kind: FaultKind,
) {
    let lists = board.aside.lists();
    let Some((index, at)) = lowest(&lists.stopped, view) else {
        return;
    };
    let waiting = who(&lists.stopped, board, board.not_begun(&lists, 0), view);
    let waits = |wave: &WaitingWave| wave.on != WaitsFor::Unknown;
    let known = waiting
        .groups
        .iter()
        .any(|group| group.waves.iter().any(waits));
    let fault = Fault {
        waits: known.then(|| Box::new(waiting)),
        ..fault_at(kind, at, runner.memory)
    };
    board.report(index, fault);
}

/// The lowest of these workgroups, and where it waits.
fn lowest(stopped: &VecDeque<Box<Resident<'_>>>, view: View<'_>) -> Option<(u64, Location)> {
    let one = stopped.iter().min_by_key(|one| one.index)?;
    let (waits, first) = one.waits();
    let wait = waits.get(first)?;
    let at = view.locate(wait.pc, (one.group.id, wait.wave, wait.exec));
    Some((one.index, at))
}

/// Who waits for what.
fn who(
    stopped: &VecDeque<Box<Resident<'_>>>,
    board: &Board<'_>,
    not_begun: u64,
    view: View<'_>,
) -> Waiting {
    let mut all: Vec<_> = stopped.iter().collect();
    all.sort_by_key(|one| one.index);
    all.truncate(Waiting::MOST);
    let named = all.iter().map(|one| WaitingGroup {
        workgroup: one.group.id,
        waves: one.waits().0.iter().map(|wait| view.wave(wait)).collect(),
    });
    Waiting {
        groups: named.collect(),
        live: stopped.len() as u64,
        not_begun,
        total: board.waits.total,
        capacity: board.aside.capacity() as u64,
    }
}
