//! An interpreter whose results of loads arrive as late as a GPU may deliver them: when an `s_waitcnt`,
//! or a counter that is full, says that they are complete. Until then their registers hold poison. A
//! kernel whose results are not those of the ordinary interpreter lacks a wait.
//!
//! - Accesses happen when they are issued, in program order: a load takes its values then, and only its
//!   registers get them later. A late result overwrites what was written to its register meanwhile.
//! - An ordered class completes oldest first, others (scalar memory, FLAT) only at a count of 0. Of results
//!   that complete at once and in no order the youngest arrive first.
//! - Exports and, on gfx6, stores of vector memory read their data late. Where it has changed before the
//!   wait they are repeated with the current contents of the registers.
//!
//! Not delayed are contents of LDS and memory, so that a missing wait at a barrier, for LDS that a load
//! fills, or for stores, does not show; nor VCCZ, nor messages.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frontend::WaveState;

use crate::engine::{Engine, Exit, Group};
use crate::fault::{FaultKind, WaveFault};
use crate::interp;

mod issue;
mod kept;
mod outstanding;
mod premature;
#[cfg(test)]
mod tests;

use outstanding::Outstanding;
pub use premature::{Misuse, Premature};

/// The ordinary interpreter, and the one with late results, whose poison follows from the seed.
///
/// The second one may run twice as many instructions as the first, and some more: poison may make loops
/// endless.
pub fn pair(seed: u64) -> [Box<dyn Engine + Send>; 2] {
    let lengths = Arc::new(Lengths::default());
    let ordinary = Ordinary {
        lengths: lengths.clone(),
    };
    [Box::new(ordinary), Box::new(Delayed::new(seed, lengths))]
}

/// Instructions of the latest launch on both interpreters.
#[derive(Default)]
struct Lengths {
    ordinary: AtomicU64,
    delayed: AtomicU64,
}

impl Lengths {
    /// Instructions that the delayed run may have, beyond twice those of the ordinary one.
    const MORE: u64 = 100_000;

    /// An ordinary run begins, if the last was a delayed one.
    fn begin(&self) {
        if self.delayed.swap(0, Relaxed) != 0 {
            self.ordinary.store(0, Relaxed);
        }
    }

    /// Instructions that are left to the delayed run.
    fn left(&self) -> u64 {
        let limit = self.ordinary.load(Relaxed).saturating_mul(2);
        let limit = limit.saturating_add(Self::MORE);
        limit.saturating_sub(self.delayed.load(Relaxed))
    }
}

/// One instruction less is left.
///
/// # Errors
///
/// None was left.
fn spend(left: &mut u64, pc: u64) -> Result<(), WaveFault> {
    *left = left.checked_sub(1).ok_or_else(|| WaveFault {
        kind: FaultKind::Unsupported {
            what: "a run that is longer than twice the ordinary one".to_owned(),
        },
        pc,
        lane: None,
    })?;
    Ok(())
}

/// The ordinary interpreter.
struct Ordinary {
    lengths: Arc<Lengths>,
}

impl Engine for Ordinary {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        self.lengths.begin();
        let mut length = 0;
        let exit = interp::run(wave, group, fuel, |wave, group, inst| {
            length += 1;
            interp::step(wave, group, inst)
        });
        self.lengths.ordinary.fetch_add(length, Relaxed);
        exit
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        interp::Interpreter.step(wave, group)
    }
}

/// The interpreter with late results.
pub struct Delayed {
    seed: u64,
    lengths: Arc<Lengths>,
    /// What waves have outstanding, by their `resume`.
    waves: Mutex<HashMap<u64, Outstanding>>,
    next: AtomicU64,
    premature: Mutex<Vec<Premature>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Delayed {
    fn new(seed: u64, lengths: Arc<Lengths>) -> Delayed {
        Delayed {
            seed,
            lengths,
            waves: Mutex::default(),
            next: AtomicU64::new(1),
            premature: Mutex::default(),
        }
    }

    /// A wave's registers with all outstanding results delivered; `None` if there are none.
    pub fn arrived(&self, wave: &WaveState) -> Option<Box<WaveState>> {
        let waves = lock(&self.waves);
        let outstanding = waves.get(&wave.resume)?;
        let mut whole = WaveState::new_boxed();
        (*whole).clone_from(wave);
        whole.resume = 0;
        outstanding.clone().arrive(&mut whole);
        Some(whole)
    }

    /// May the wave's next instruction store what an earlier one should have stored?
    pub fn may_store_late(&self, wave: &WaveState) -> bool {
        let waves = lock(&self.waves);
        let outstanding = waves.get(&wave.resume);
        outstanding.is_some_and(Outstanding::reads_late)
    }

    /// What the instruction of the last [`Engine::step`] used too early.
    pub fn premature(&self) -> Vec<Premature> {
        lock(&self.premature).clone()
    }

    /// What the wave has outstanding, which is the caller's now.
    fn take(&self, wave: &mut WaveState) -> Outstanding {
        let id = std::mem::take(&mut wave.resume);
        // A new wave has another note.
        lock(&self.waves).remove(&id).unwrap_or_default()
    }

    fn keep(&self, wave: &mut WaveState, outstanding: Outstanding) {
        if !outstanding.is_empty() {
            wave.resume = self.next.fetch_add(1, Relaxed);
            lock(&self.waves).insert(wave.resume, outstanding);
        }
    }
}

impl Engine for Delayed {
    /// What is outstanding arrives where the wave yields, since its dispatcher may run it otherwise from
    /// there.
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        let mut outstanding = self.take(wave);
        let all = self.lengths.left();
        let mut left = all;
        let exit = interp::run(wave, group, fuel, |wave, group, inst| {
            spend(&mut left, wave.pc)?;
            outstanding.step(wave, group, inst, self.seed, None)
        });
        self.lengths.delayed.fetch_add(all - left, Relaxed);
        match exit {
            Exit::Yield => outstanding.arrive(wave),
            Exit::Barrier => self.keep(wave, outstanding),
            Exit::End | Exit::Fault(_) => {}
        }
        exit
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        let mut outstanding = self.take(wave);
        let mut premature = Vec::new();
        let code = group.code;
        let done = interp::fetch(code, wave.pc);
        let done = done
            .and_then(|inst| outstanding.step(wave, group, inst, self.seed, Some(&mut premature)));
        *lock(&self.premature) = premature;
        let exit = match done {
            Ok(flow) => flow.exit(&mut 0).unwrap_or(Exit::Yield),
            Err(fault) => Exit::Fault(fault),
        };
        if matches!(exit, Exit::Yield | Exit::Barrier) {
            self.keep(wave, outstanding);
        }
        Some(exit)
    }

    fn delayed(&self) -> Option<&Delayed> {
        Some(self)
    }
}
