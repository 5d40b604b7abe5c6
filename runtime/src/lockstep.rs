//! Finds where two engines diverge. A [`Pair`] is an engine made of two: it runs waves on either of
//! them, or on both at once, one instruction or one stretch of code at a time, and stops at the
//! first difference in registers, memory or exit.
//!
//! Both engines work on the same guest memory, because addresses are data: after the reference has
//! run its stores are undone, then the other engine runs, and if both agree the stores stay. This
//! needs one worker thread.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, RwLock};

use frontend::{Encoding, Op, WaveState};

use crate::delayed::{Delayed, Premature};
use crate::engine::{Engine, Exit, Group};
use crate::export::Exports;
use crate::fault::{FaultKind, WaveFault};
use crate::memory::MemoryError;

mod snapshot;
mod state;
mod wrong;

pub use snapshot::{Change, Snapshot};
pub use state::{RegisterDifference, differences, sgpr_name};
pub use wrong::wrong;

/// How a [`Pair`] runs waves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// On the reference engine.
    Reference,
    /// On the other engine.
    Other,
    /// On both, instruction by instruction: registers, LDS and memory must agree after each.
    Instructions,
    /// On both, from one backward branch to the next: LDS, memory and control flow must agree.
    /// (Registers need not: an engine need not store dead ones.)
    Stretches,
}

/// Result of one engine for an instruction or stretch.
#[derive(Clone)]
pub struct Side {
    /// How it ended.
    pub exit: Exit,
    /// Registers afterwards.
    pub state: Box<WaveState>,
    /// Memory that has other contents than before.
    pub memory: Vec<Change>,
    /// LDS afterwards, when it may have changed.
    pub lds: Option<Vec<u8>>,
    /// What it exported.
    pub exports: Exports,
}

/// The point of divergence.
#[derive(Clone)]
pub struct Parting {
    /// Instructions or stretches?
    pub mode: Mode,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Wave within the workgroup.
    pub wave: u32,
    /// Guest address where the instruction or stretch begins.
    pub pc: u64,
    /// Instructions or stretches of this wave before it.
    pub before: u64,
    /// Registers before it, of the reference.
    pub start: Box<WaveState>,
    /// The reference's result.
    pub reference: Side,
    /// The other engine's result.
    pub other: Side,
    /// Stretches: an earlier point from which on registers of this wave differed, without
    /// consequences so far: its address, and which.
    pub first_registers: Option<(u64, Vec<RegisterDifference>)>,
    /// With results that arrive late: registers that the instruction used too early.
    pub premature: Vec<Premature>,
}

/// Result of running both engines at once.
#[derive(Clone, Default)]
pub struct Record {
    /// Where they part; `None` when they do not.
    pub parting: Option<Box<Parting>>,
    /// Instructions or stretches run.
    pub steps: u64,
    /// The limit was reached.
    pub exhausted: bool,
    /// One of the engines cannot stop after an instruction.
    pub cannot_step: bool,
    /// Guest memory could not be copied.
    pub memory_error: Option<MemoryError>,
}

/// Two engines as one.
pub struct Pair {
    reference: Box<dyn Engine + Send>,
    other: Box<dyn Engine + Send>,
    mode: RwLock<Mode>,
    both: Mutex<Both>,
}

/// State of a run on both engines.
#[derive(Default)]
struct Both {
    record: Record,
    limit: u64,
    /// Guest memory before the current step.
    shadow: Option<Snapshot>,
    /// By workgroup and wave.
    waves: HashMap<([u32; 3], u32), Progress>,
}

/// State of a wave.
#[derive(Default)]
struct Progress {
    steps: u64,
    /// The other engine's note of how it left the wave.
    resume: u64,
    /// The other engine's registers where they differ.
    other: Option<Box<WaveState>>,
    first_registers: Option<(u64, Vec<RegisterDifference>)>,
}

impl Pair {
    /// A pair that runs on the reference.
    pub fn new(reference: Box<dyn Engine + Send>, other: Box<dyn Engine + Send>) -> Arc<Pair> {
        Arc::new(Pair {
            reference,
            other,
            mode: RwLock::new(Mode::Reference),
            both: Mutex::default(),
        })
    }

    /// From now on waves run like this. Forgets an earlier run on both engines; the next one stops
    /// after `limit` instructions or stretches.
    pub fn set_mode(&self, mode: Mode, limit: u64) {
        *self.mode.write().expect("no holder of the lock panics") = mode;
        let mut both = self.both.lock().expect("no holder of the lock panics");
        *both = Both {
            limit,
            ..Both::default()
        };
    }

    /// Result of the run on both engines.
    pub fn record(&self) -> Record {
        let both = self.both.lock().expect("no holder of the lock panics");
        both.record.clone()
    }

    /// Runs a wave on both engines.
    fn run_both(&self, mode: Mode, wave: &mut WaveState, group: &mut Group<'_>) -> Exit {
        let mut both = self.both.lock().expect("no holder of the lock panics");
        let counting = std::mem::replace(&mut group.counting, false);
        let exit = self.run_steps(&mut both, mode, wave, group);
        group.counting = counting;
        exit.unwrap_or_else(|error| {
            both.record.memory_error = Some(error);
            stop(wave.pc)
        })
    }

    fn run_steps(
        &self,
        both: &mut Both,
        mode: Mode,
        wave: &mut WaveState,
        group: &mut Group<'_>,
    ) -> Result<Exit, MemoryError> {
        let memory = group.memory;
        let mut shadow = match both.shadow.take() {
            Some(shadow) => shadow,
            None => Snapshot::take(memory)?,
        };
        let key = (group.workgroup, group.wave);
        let mut progress = both.waves.remove(&key).unwrap_or_default();
        let mut start = WaveState::new_boxed();
        let mut other = WaveState::new_boxed();
        let exit = loop {
            if both.record.steps >= both.limit {
                both.record.exhausted = true;
                break stop(wave.pc);
            }
            (*start).clone_from(&*wave);
            match progress.other.take() {
                Some(state) => other = state,
                None => (*other).clone_from(&start),
            }
            // The `resume` of a wave is private to its engine.
            other.resume = start.resume | progress.resume;
            let delayed = self.other.delayed();
            let mut touched = Touched::by(mode, group, start.pc);
            touched.memory |= delayed.is_some_and(|engine| engine.may_store_late(&other));
            let exported = std::mem::take(&mut group.stats.exports);
            let lds_before = touched.lds.then(|| group.lds.bytes().to_vec());
            let Some(exit) = run_one(&*self.reference, mode, wave, group) else {
                both.record.cannot_step = true;
                break stop(start.pc);
            };
            wave.resume = 0;
            let exports = std::mem::take(&mut group.stats.exports);
            let stores = touched.memory.then(|| shadow.undo(memory)).transpose()?;
            let lds = lds_before.map(|before| {
                let after = group.lds.bytes().to_vec();
                group.lds.bytes_mut().copy_from_slice(&before);
                after
            });
            let Some(other_exit) = run_one(&*self.other, mode, &mut other, group) else {
                both.record.cannot_step = true;
                break stop(start.pc);
            };
            progress.resume = other.resume;
            let other_exports = std::mem::replace(&mut group.stats.exports, exported);
            // What has not arrived yet is no difference.
            let whole = delayed.and_then(|engine| engine.arrived(&other));
            let seen = whole.as_ref().unwrap_or(&other);
            let other_stores = touched.memory.then(|| shadow.changes(memory)).transpose()?;
            both.record.steps += 1;
            progress.steps += 1;

            let lds_differs = lds.as_ref().is_some_and(|lds| lds != group.lds.bytes());
            let registers = match (mode, touched.clock, &exit) {
                (_, _, Exit::End | Exit::Fault(_)) => Vec::new(),
                (Mode::Instructions, true, _) => Vec::new(),
                _ => differences(wave, seen, group.gfx),
            };
            let fate = exit != other_exit || (exit == Exit::Yield && wave.pc != seen.pc);
            let lives_on = matches!(exit, Exit::Yield | Exit::Barrier);
            let exec = lives_on && wave.exec() != seen.exec();
            let judged = match mode {
                Mode::Instructions => !registers.is_empty(),
                _ => exec,
            };
            let effects = lds_differs || stores != other_stores || exports != other_exports;
            if fate || judged || effects {
                both.record.parting = Some(Box::new(Parting {
                    mode,
                    workgroup: group.workgroup,
                    wave: group.wave,
                    pc: start.pc,
                    before: progress.steps - 1,
                    start,
                    reference: Side {
                        exit,
                        state: Box::new(wave.clone()),
                        memory: stores.unwrap_or_default(),
                        lds,
                        exports,
                    },
                    other: Side {
                        exit: other_exit,
                        state: whole.unwrap_or(other),
                        memory: other_stores.unwrap_or_default(),
                        lds: touched.lds.then(|| group.lds.bytes().to_vec()),
                        exports: other_exports,
                    },
                    first_registers: progress.first_registers.take(),
                    premature: delayed.map(Delayed::premature).unwrap_or_default(),
                }));
                break stop(wave.pc);
            }
            if let Some(stores) = other_stores {
                shadow.apply(memory, &stores);
            }
            group.stats.exports.merge(&exports);
            let agree = registers.is_empty();
            if agree {
                progress.first_registers = None;
            } else {
                progress
                    .first_registers
                    .get_or_insert((start.pc, registers));
            }
            // After a read of the clock both continue with the reference's value.
            if !agree || (whole.is_some() && !touched.clock) {
                progress.other = Some(std::mem::replace(&mut other, WaveState::new_boxed()));
            } else if whole.is_some() {
                progress.resume = 0;
            }
            if exit != Exit::Yield || mode == Mode::Stretches {
                break exit;
            }
        };
        both.waves.insert(key, progress);
        both.shadow = Some(shadow);
        Ok(exit)
    }
}

impl Engine for Pair {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        let mode = *self.mode.read().expect("no holder of the lock panics");
        match mode {
            Mode::Reference => self.reference.run(wave, group, fuel),
            Mode::Other => self.other.run(wave, group, fuel),
            Mode::Instructions | Mode::Stretches => {
                *fuel = 0;
                self.run_both(mode, wave, group)
            }
        }
    }

    fn delayed(&self) -> Option<&Delayed> {
        self.other.delayed()
    }
}

/// One instruction or stretch on one engine; `None` when it cannot run just one instruction.
fn run_one(
    engine: &dyn Engine,
    mode: Mode,
    wave: &mut WaveState,
    group: &mut Group<'_>,
) -> Option<Exit> {
    match mode {
        Mode::Instructions => engine.step(wave, group),
        _ => Some(engine.run(wave, group, &mut 0)),
    }
}

/// Ends the dispatch; the record has the reason.
fn stop(pc: u64) -> Exit {
    Exit::Fault(WaveFault {
        kind: FaultKind::Unsupported {
            what: "going on after the comparison of engines has ended".to_owned(),
        },
        pc,
        lane: None,
    })
}

/// Effects of an instruction or stretch other than registers.
struct Touched {
    memory: bool,
    lds: bool,
    /// It reads a clock, whose value may differ.
    clock: bool,
}

impl Touched {
    fn by(mode: Mode, group: &Group<'_>, pc: u64) -> Touched {
        let inst = match mode {
            Mode::Instructions => group.code.decode(pc).ok(),
            _ => {
                return Touched {
                    memory: true,
                    lds: true,
                    clock: false,
                };
            }
        };
        let Some(inst) = inst else {
            return Touched {
                memory: false,
                lds: false,
                clock: false,
            };
        };
        let encoding = inst.desc.encoding;
        let vector = matches!(
            encoding,
            Encoding::Ds
                | Encoding::Flat
                | Encoding::Global
                | Encoding::Scratch
                | Encoding::Mubuf
                | Encoding::Mtbuf
                | Encoding::Mimg
        );
        let load = matches!(inst.op(), Op::Load(..)) && !inst.mem.lds;
        Touched {
            memory: (vector || encoding == Encoding::Smem) && !load,
            lds: vector && !load,
            clock: matches!(inst.op(), Op::MemTime | Op::MemRealtime),
        }
    }
}

#[cfg(test)]
mod tests;
