//! Which bits of registers and memory are undefined, and where such bits reach an address, a branch or an output.
//!
//! [`Tracker`] is an engine: the ordinary interpreter, which also keeps for each bit whether something has defined it.
//! At a wave's start the registers that the kernel descriptor requests are defined, its other registers and its scratch are
//! not; at a workgroup's start LDS is not. Global memory is defined, except where [`Tracker::declare`] says otherwise.
//!
//! An instruction without undefined sources defines its result. Otherwise it is executed several times, with
//! different values in the undefined bits (`undefined/samples.rs`): a result bit that differs depends on them. For moves, logic
//! and shifts by defined amounts this is exact, so that each operation, form and modifier means here what it means in the
//! interpreter. An addition is undefined from its lowest such bit upwards; all bits of the results of other operations are
//! undefined, in each lane with an undefined source.
//!
//! Loads, and stores to LDS and scratch, copy undefined bytes without a report.

use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use frontend::{Inst, WaveState};
use rustc_hash::FxHashMap;

use crate::dispatch::KernelCode;
use crate::engine::{Engine, Exit, Group};
use crate::fault::{FaultKind, WaveFault};
use crate::interp::{self, Flow};
use crate::sanitizer::Side;

mod access;
mod bytes;
mod class;
mod compute;
mod control;
mod findings;
mod registers;
mod samples;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use class::Site;
use findings::Findings;
pub use findings::{Finding, Origin, Rule, Source};
use registers::{Registers, Start};

/// The interpreter, which tracks undefined bits. Dispatches must run on one worker thread.
#[derive(Default)]
pub struct Tracker(Mutex<State>);

/// What is undefined, and what was found.
#[derive(Default)]
struct State {
    /// Registers that are defined at the start of the dispatch's waves.
    start: Start,
    /// Registers of waves that have begun, by their `resume`.
    waves: FxHashMap<u64, Registers>,
    latest: u64,
    /// LDS of workgroups that have begun.
    groups: FxHashMap<[u32; 3], Workgroup>,
    /// Global memory and scratch.
    memory: Bytes,
    findings: Findings,
    /// By loaded code and address.
    sites: FxHashMap<(u64, u64), Arc<Site>>,
    /// Instructions left until the limit, if there is one.
    left: Option<u64>,
}

/// A workgroup that has begun.
#[derive(Default)]
struct Workgroup {
    /// Its waves that have begun, one bit each.
    begun: u32,
    lds: Bytes,
}

impl Tracker {
    /// One that executes at most this number of instructions of waves; the next is a fault.
    pub fn with_limit(limit: u64) -> Tracker {
        let state = State {
            left: Some(limit),
            ..State::default()
        };
        Tracker(Mutex::new(state))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These bytes of guest memory are undefined until a kernel writes them.
    pub fn declare(&self, range: Range<u64>) {
        self.lock().memory.forget(range);
    }

    /// What was found since the last call, and whether all instructions were tracked so far.
    pub fn take(&self) -> (Vec<Finding>, bool) {
        let mut state = self.lock();
        (state.findings.take(), state.left != Some(0))
    }
}

impl Engine for Tracker {
    fn begin_dispatch(&self, kernel: &KernelCode, code: &crate::LoadedCode) {
        let mut state = self.lock();
        state.start = Start::of(&kernel.descriptor, code.gfx());
        state.waves.clear();
        state.groups.clear();
    }

    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        let mut state = self.lock();
        let mut registers = state.enter(wave, group);
        let exit = interp::run(wave, group, fuel, |wave, group, inst| {
            state.step(&mut registers, wave, group, inst)
        });
        state.leave(registers, wave, group, &exit);
        exit
    }

    fn step(&self, wave: &mut WaveState, group: &mut Group<'_>) -> Option<Exit> {
        interp::Interpreter.step(wave, group)
    }
}

impl State {
    /// The registers of a wave that begins or resumes.
    fn enter(&mut self, wave: &mut WaveState, group: &Group<'_>) -> Registers {
        let id = std::mem::take(&mut wave.resume);
        if id & WaveState::FRESH == 0 {
            return self.waves.remove(&id).unwrap_or_default();
        }
        let workgroup = self.groups.entry(group.workgroup).or_default();
        let bit = 1 << (group.wave % 32);
        if workgroup.begun == 0 || workgroup.begun & bit != 0 {
            workgroup.begun = 0;
            workgroup.lds = Bytes::default();
            workgroup.lds.forget(0..u64::from(group.lds.size()));
        }
        workgroup.begun |= bit;
        self.memory.forget(scratch(group));
        self.start.registers(group.gfx, &mut self.findings)
    }

    /// Keeps the registers of a wave that resumes.
    fn leave(
        &mut self,
        registers: Registers,
        wave: &mut WaveState,
        group: &Group<'_>,
        exit: &Exit,
    ) {
        match exit {
            Exit::Barrier | Exit::Yield => {
                self.latest += 1;
                wave.resume = self.latest;
                self.waves.insert(self.latest, registers);
            }
            Exit::End | Exit::Fault(_) => self.memory.define(scratch(group)),
        }
    }

    fn step(
        &mut self,
        registers: &mut Registers,
        wave: &mut WaveState,
        group: &mut Group<'_>,
        inst: &Inst,
    ) -> Result<Flow, WaveFault> {
        if self.left == Some(0) {
            return Err(WaveFault {
                kind: FaultKind::Unsupported {
                    what: "a run that is longer than the limit of tracking".to_owned(),
                },
                pc: wave.pc,
                lane: None,
            });
        }
        if interp::is_skipped(wave, inst) {
            return interp::step(wave, group, inst);
        }
        self.left = self.left.map(|left| left - 1);
        let key = (group.code.id(), wave.pc);
        let site = self.sites.entry(key);
        let site = site.or_insert_with(|| Arc::new(Site::of(inst, group.gfx)));
        let site = site.clone();
        let mut step = Step {
            state: self,
            registers,
            wave,
            group,
            inst,
            site: &site,
        };
        if site.accesses {
            step.access()
        } else if site.controls {
            step.control()
        } else {
            step.compute()
        }
    }
}

/// An instruction that is about to be executed.
struct Step<'s, 'g> {
    state: &'s mut State,
    registers: &'s mut Registers,
    wave: &'s mut WaveState,
    group: &'s mut Group<'g>,
    inst: &'s Inst,
    site: &'s Site,
}

impl Step<'_, '_> {
    /// The instruction at `pc`, executed by this wave.
    fn side(&self, pc: u64, lane: Option<usize>) -> Side {
        Side {
            code: self.group.code.id(),
            pc,
            kind: None,
            workgroup: self.group.workgroup,
            wave: self.group.wave,
            lane: lane.map(|lane| lane as u32),
        }
    }

    /// An undefined value is used at `pc`.
    fn report(&mut self, rule: Rule, pc: u64, lane: Option<usize>, value: registers::Cell) {
        let side = self.side(pc, lane);
        self.state.findings.add(rule, true, side, value.tag, None);
    }
}

/// The wave's scratch.
fn scratch(group: &Group<'_>) -> Range<u64> {
    let base = group.scratch.base;
    base..base.saturating_add(group.scratch.wave_bytes())
}
