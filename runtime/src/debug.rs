//! Debugging: a workgroup at a time runs on the interpreter under a [`Driver`], which sees the waves
//! before and after each instruction, may change them, and may go back in the workgroup.
//!
//! The [`Debugging`] engine is for dispatches on one thread with
//! [`Settings::steady`](crate::dispatch::Settings), whose waves run in a fixed order. To go back, the
//! engine restores a state of the workgroup that it has kept, and memory from the bytes that were
//! replaced since, and executes the instructions from there again: the same ones, since what they do not
//! determine (clocks, and the choice of a wave by the driver) is kept as well. The history of a workgroup
//! begins anew when others have run meanwhile, which happens to workgroups that wait for one another.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use frontend::{Inst, LANES, WaveState};

use crate::LoadedCode;
use crate::engine::{Engine, Exit, Group, Scratch, Session, Stop, WaveSets};
use crate::fault::{FaultKind, WaveFault};
use crate::interp::{Accessed, Flow, Interpreter, Observer, count, step_observed};
use crate::memory::{Memory, MemoryError};
use crate::trace::{MemoryAccess, placed};

mod calls;
mod history;

pub use calls::{Call, is_call};
use history::{History, Parts, Past, Schedule};

/// What decides about the waves of a workgroup.
pub trait Driver: Send {
    /// A wave ([`State::current`]) is about to execute an instruction.
    fn before(&mut self, state: &mut State<'_, '_>) -> Action;

    /// It has executed it, or has faulted.
    fn after(&mut self, state: &mut State<'_, '_>, step: &Step) -> Action;
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Go on.
    Go,
    /// Go on with another wave, if it can run.
    Switch(u32),
    /// Go back to the latest position, at this one or before it, of which the state was kept, and on
    /// from there. Nothing happens if there is none: see [`State::earliest`].
    Back(u64),
    /// Leave the dispatch, which was cancelled.
    Abandon,
}

/// An instruction that was executed.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// The wave.
    pub wave: u32,
    /// Guest address of the instruction.
    pub pc: u64,
    /// Its accesses to memory, in the order in which they were made.
    pub accesses: Vec<MemoryAccess>,
    /// The fault that has stopped it. Lanes below the faulting one may have acted.
    pub fault: Option<WaveFault>,
}

/// What a wave does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It runs, or may run when it is its turn.
    Ready,
    /// It waits for the other waves of its workgroup.
    Barrier,
    /// It has ended.
    Ended,
}

/// The engine.
#[derive(Default)]
pub struct Debugging {
    driver: Mutex<Option<Box<dyn Driver>>>,
}

impl Debugging {
    /// From now on waves run under this driver.
    pub fn begin(&self, driver: Box<dyn Driver>) {
        *self.lock() = Some(driver);
    }

    /// Takes the driver away: waves run freely from now on.
    pub fn end(&self) -> Option<Box<dyn Driver>> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<dyn Driver>>> {
        self.driver.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for Debugging {
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        Interpreter.run(wave, group, fuel)
    }

    fn session(&self) -> Box<dyn Session + '_> {
        Box::new(DebugSession {
            engine: self,
            workgroup: None,
            history: History::default(),
            flush: 0,
            aside: HashMap::new(),
        })
    }
}

/// A workgroup that others have interrupted: its position and its waves' past.
struct Aside {
    position: u64,
    past: Vec<Past>,
}

/// A worker's session.
struct DebugSession<'e> {
    engine: &'e Debugging,
    /// The workgroup of the history.
    workgroup: Option<[u32; 3]>,
    history: History,
    /// Waves that have burned their fuel, which the dispatcher is still to be told.
    flush: u32,
    aside: HashMap<[u32; 3], Aside>,
}

/// Takes notes of accesses.
#[derive(Default)]
struct Notes {
    accesses: RefCell<Vec<Accessed>>,
    /// Address and bytes that stores replace.
    replaced: RefCell<Vec<(u64, Box<[u8]>)>>,
}

impl Observer for &Notes {
    fn note(self, access: impl FnOnce() -> Accessed) {
        let access = access();
        if access.new.is_some() && !access.lds {
            let old = access.value.clone().into_boxed_slice();
            self.replaced.borrow_mut().push((access.address, old));
        }
        self.accesses.borrow_mut().push(access);
    }

    fn before_store(self, memory: &Memory, address: u64, bytes: usize) {
        let mut old = vec![0; bytes].into_boxed_slice();
        // What cannot be read cannot be written.
        if memory.read_bytes(address, &mut old).is_ok() {
            self.replaced.borrow_mut().push((address, old));
        }
    }
}

/// A workgroup that is stopped between two instructions.
pub struct State<'s, 'g> {
    waves: &'s mut [Box<WaveState>],
    group: &'s mut Group<'g>,
    history: &'s mut History,
}

impl<'s, 'g> State<'s, 'g> {
    /// Its numbers in the grid.
    pub fn workgroup(&self) -> [u32; 3] {
        self.group.workgroup
    }

    /// The wave that runs.
    pub fn current(&self) -> u32 {
        self.group.wave
    }

    /// Number of its waves.
    pub fn waves(&self) -> u32 {
        self.waves.len() as u32
    }

    /// The registers of a wave.
    pub fn wave(&self, wave: u32) -> Option<&WaveState> {
        self.waves.get(wave as usize).map(|wave| &**wave)
    }

    /// What a wave does; those that do not exist have ended.
    pub fn phase(&self, wave: u32) -> Phase {
        let Schedule {
            ready,
            waiting,
            late,
            ..
        } = self.history.schedule;
        let is_in = |set: u32| set.checked_shr(wave).unwrap_or(0) & 1 == 1;
        if is_in(ready | late) {
            Phase::Ready
        } else if is_in(waiting) {
            Phase::Barrier
        } else {
            Phase::Ended
        }
    }

    /// Can a wave run now, by [`Action::Switch`]? One that has burned its fuel must wait for the others.
    pub fn is_ready(&self, wave: u32) -> bool {
        let ready = self.history.schedule.ready;
        ready.checked_shr(wave).unwrap_or(0) & 1 == 1
    }

    /// The number of instructions that a wave has executed.
    pub fn executed(&self, wave: u32) -> u64 {
        let past = self.history.past.get(wave as usize);
        past.map_or(0, |past| past.executed)
    }

    /// The calls of a wave that have not returned, the outermost first.
    pub fn calls(&self, wave: u32) -> &[Call] {
        let past = self.history.past.get(wave as usize);
        past.map_or(&[], |past| &past.calls)
    }

    /// The number of instructions that all its waves have executed since it began.
    pub fn position(&self) -> u64 {
        self.history.position
    }

    /// The first position that [`Action::Back`] can reach.
    pub fn earliest(&self) -> u64 {
        self.history.earliest()
    }

    /// Was the state changed from outside here, after the last instruction? Going back to an earlier
    /// position undoes that.
    pub fn changed_here(&self) -> bool {
        self.history.changed_here()
    }

    /// Guest memory.
    pub fn memory(&self) -> &'g Memory {
        self.group.memory
    }

    /// The code object.
    pub fn code(&self) -> &'g LoadedCode {
        self.group.code
    }

    /// The LDS.
    pub fn lds(&self) -> &[u8] {
        self.group.lds.bytes()
    }

    /// The scratch of a wave.
    pub fn scratch(&self, wave: u32) -> Scratch {
        let mut scratch = self.group.scratch;
        if scratch.lane_bytes != 0 {
            let first = scratch.base - u64::from(self.group.wave) * scratch.wave_bytes();
            scratch.base = first + u64::from(wave) * scratch.wave_bytes();
        }
        scratch
    }

    /// Changes the registers of a wave.
    pub fn change_wave(&mut self, wave: u32, change: impl FnOnce(&mut WaveState)) {
        if let Some(state) = self.waves.get_mut(wave as usize) {
            change(state);
            (state.start, state.kept) = (0, 0);
            self.changed();
        }
    }

    /// Changes the LDS.
    pub fn change_lds(&mut self, change: impl FnOnce(&mut [u8])) {
        change(self.group.lds.bytes_mut());
        self.changed();
    }

    /// Writes guest memory.
    pub fn write_memory(&mut self, address: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let mut old = vec![0; bytes.len()].into_boxed_slice();
        self.group.memory.read_bytes(address, &mut old)?;
        self.group.memory.write_bytes(address, bytes)?;
        self.history.replaced(address, old);
        self.changed();
        Ok(())
    }

    /// What was done after this position will not be done again.
    fn changed(&mut self) {
        self.history.diverge();
        let (waves, group) = (&mut *self.waves, &mut *self.group);
        self.history.checkpoint(Parts { waves, group }, true);
    }
}

impl DebugSession<'_> {
    /// The history is that of this workgroup.
    fn enter(&mut self, waves: &mut [Box<WaveState>], sets: &WaveSets, group: &Group<'_>) {
        let schedule = Schedule {
            ready: sets.ready,
            waiting: sets.waiting,
            ..Schedule::default()
        };
        if self.workgroup == Some(group.workgroup) {
            self.history.schedule = schedule;
            return;
        }
        if let Some(before) = self.workgroup.replace(group.workgroup)
            && !self.history.schedule.is_over()
        {
            let History { position, past, .. } = std::mem::take(&mut self.history);
            self.aside.insert(before, Aside { position, past });
        }
        let aside = self.aside.remove(&group.workgroup);
        let aside = aside.unwrap_or_else(|| Aside {
            position: 0,
            past: vec![Past::default(); waves.len()],
        });
        waves.iter_mut().for_each(|wave| wave.settle());
        self.history = History::new(aside.position, aside.past, schedule);
    }

    /// The wave to run next.
    fn choose(&mut self, fuel: u64) -> Option<u32> {
        let History {
            schedule,
            position,
            switches,
            ..
        } = &mut self.history;
        if let Some(&wave) = switches.get(position)
            && schedule.ready >> wave & 1 == 1
            && schedule.current != Some(wave)
        {
            (schedule.current, schedule.fuel) = (Some(wave), fuel);
        }
        if schedule.current.is_none() && schedule.ready != 0 {
            let lowest = schedule.ready.trailing_zeros();
            (schedule.current, schedule.fuel) = (Some(lowest), fuel);
        }
        schedule.current
    }

    /// No wave is ready: what the dispatcher does then. Where a course is repeated it has done so
    /// before, and is not asked again.
    fn refill(&mut self) -> bool {
        let repeats = self.history.repeats();
        let schedule = &mut self.history.schedule;
        let next = match schedule.late {
            0 => &mut schedule.waiting,
            _ => &mut schedule.late,
        };
        if repeats && *next != 0 {
            schedule.ready = std::mem::take(next);
            return true;
        }
        false
    }

    /// Tells the dispatcher of the waves that have burned their fuel, one by one.
    fn tell(&mut self, sets: &mut WaveSets) -> Stop {
        let index = self.flush.trailing_zeros();
        self.flush &= !(1 << index);
        sets.ready &= !(1 << index);
        Stop::Burned(index)
    }

    /// Executes an instruction of a wave.
    fn step(&mut self, index: u32, waves: &mut [Box<WaveState>], group: &mut Group<'_>) -> Step {
        let notes = Notes::default();
        let wave = &mut *waves[index as usize];
        let pc = wave.pc;
        let code = group.code;
        let result = match code.inst_at(pc) {
            Ok(inst) => {
                count(wave, group, inst);
                let result = step_observed(wave, group, inst, &notes);
                if result.is_ok() {
                    self.executed(index, wave, inst, pc);
                }
                result
            }
            Err(kind) => Err(WaveFault {
                kind,
                pc,
                lane: None,
            }),
        };
        for (address, old) in notes.replaced.take() {
            self.history.replaced(address, old);
        }
        let schedule = &mut self.history.schedule;
        let fault = match result.map(|flow: Flow| flow.exit(&mut schedule.fuel)) {
            Ok(exit) => {
                if let Some(exit) = exit {
                    schedule.current = None;
                    schedule.ready &= !(1 << index);
                    match exit {
                        Exit::Barrier => schedule.waiting |= 1 << index,
                        Exit::Yield => schedule.late |= 1 << index,
                        Exit::End | Exit::Fault(_) => {}
                    }
                }
                None
            }
            Err(fault) => Some(fault),
        };
        self.history.position += 1;
        self.history.past[index as usize].executed += 1;
        self.history.reached = self.history.reached.max(self.history.position);
        let accesses = notes.accesses.take().into_iter();
        Step {
            wave: index,
            pc,
            accesses: accesses.map(|access| placed(access, group)).collect(),
            fault,
        }
    }

    /// A wave has executed this instruction without a fault.
    fn executed(&mut self, index: u32, wave: &mut WaveState, inst: &Inst, pc: u64) {
        self.history.clock(wave, inst);
        let calls = &mut self.history.past[index as usize].calls;
        calls::follow(calls, inst, pc, wave.pc);
    }
}

impl Session for DebugSession<'_> {
    fn run(
        &mut self,
        waves: &mut [Box<WaveState>],
        sets: &mut WaveSets,
        group: &mut Group<'_>,
        fuel: u64,
    ) -> Stop {
        if self.flush != 0 {
            return self.tell(sets);
        }
        let engine = self.engine;
        let mut driver = engine.lock();
        let Some(driver) = &mut *driver else {
            return sets.each(|index| {
                group.select(index);
                let wave = &mut waves[index as usize];
                wave.settle();
                Interpreter.run(wave, group, &mut fuel.clone())
            });
        };
        self.enter(waves, sets, group);
        let stop = self.drive(&mut **driver, waves, group);
        let schedule = &mut self.history.schedule;
        (sets.ready, sets.waiting) = (schedule.ready, schedule.waiting);
        match stop {
            Some(stop) => stop,
            None if schedule.late != 0 => {
                self.flush = schedule.late;
                sets.ready = schedule.late;
                self.tell(sets)
            }
            None => Stop::All,
        }
    }
}

/// Fuel of a wave. It is the same in all rounds, so that each takes the same course again.
const FUEL: u64 = 2048;

impl DebugSession<'_> {
    /// Runs waves until none is ready (`None`) or the dispatcher must know why.
    fn drive(
        &mut self,
        driver: &mut dyn Driver,
        waves: &mut [Box<WaveState>],
        group: &mut Group<'_>,
    ) -> Option<Stop> {
        loop {
            let index = match self.choose(FUEL) {
                Some(index) => index,
                None if self.refill() => continue,
                None => return None,
            };
            group.select(index);
            self.history.keep(Parts { waves, group });
            let mut state = State {
                waves,
                group,
                history: &mut self.history,
            };
            let mut action = driver.before(&mut state);
            if action == Action::Go {
                let step = self.step(index, waves, group);
                let mut state = State {
                    waves,
                    group,
                    history: &mut self.history,
                };
                action = driver.after(&mut state, &step);
                if action == Action::Go
                    && let Some(fault) = step.fault
                {
                    return Some(Stop::Fault(index, fault));
                }
            }
            match action {
                Action::Go => {}
                Action::Switch(wave) => {
                    let schedule = self.history.schedule;
                    if wave < 32
                        && schedule.ready >> wave & 1 == 1
                        && schedule.current != Some(wave)
                    {
                        self.history.diverge();
                        let position = self.history.position;
                        self.history.switches.insert(position, wave);
                    }
                }
                Action::Back(position) => {
                    let parts = Parts { waves, group };
                    self.history.restore(position, parts);
                }
                Action::Abandon => return Some(Stop::Burned(index)),
            }
        }
    }
}

/// The address of a byte of a lane's scratch.
pub fn scratch_address(scratch: &Scratch, lane: usize, offset: u64) -> Option<u64> {
    let inside = offset < u64::from(scratch.lane_bytes) && lane < LANES;
    inside.then(|| scratch.base + offset / 4 * 256 + lane as u64 * 4 + offset % 4)
}

/// A fault with what is known about the memory that it concerns.
pub fn completed(mut kind: FaultKind, memory: &Memory) -> FaultKind {
    memory.complete(&mut kind);
    kind
}
