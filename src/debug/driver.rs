//! Decides, at each instruction, whether a wave stops; and lets the thread that debugs look at it.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use runtime::debug::{Action, Driver, Phase, State, Step, completed};
use runtime::dispatch::CancelToken;

use super::place::CodePlace;
use super::points::{At, Hit, Points};
use super::{Dispatch, Ended, Named, Reason, Stop};

/// Something to do with a stopped workgroup.
pub(super) type Inspection = Box<dyn FnOnce(&mut State<'_, '_>) + Send>;

/// What the debugging thread wants.
pub(super) enum Order {
    Do(Inspection),
    Resume(Goal),
}

/// What it is told.
pub(super) enum Report {
    Stopped(Stop),
    Ended(Ended),
}

/// What runs: number of the dispatch, and of its launch.
#[derive(Debug, Default)]
pub(super) struct Course {
    pub(super) dispatch: AtomicUsize,
    pub(super) launch: AtomicU64,
}

/// A moment of a workgroup: twice the number of instructions executed, plus one when it was decided which
/// wave executes the next one.
type Moment = u64;

/// How far to go.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Goal {
    /// To the first instruction.
    Entry,
    /// To the next point, after passing some.
    Continue { pass: u64 },
    /// A wave executes instructions.
    Wave {
        workgroup: [u32; 3],
        wave: u32,
        until: Until,
    },
    /// Back to when a wave had executed that many instructions.
    Back {
        wave: u32,
        executed: u64,
        /// A state was just restored.
        restored: bool,
    },
    /// Looks for the last point before a moment.
    Search {
        before: Moment,
        /// Where the part that is searched begins; not known before it does.
        begin: Option<Moment>,
        found: Option<(Moment, Hit)>,
    },
    /// Back to a moment that was found.
    Reach { moment: Moment, reason: Reason },
}

/// How far a wave goes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Until {
    /// That many instructions.
    Steps(u64),
    /// It is at one of these guest addresses, with at most this number of calls.
    Place { places: Vec<u64>, depth: usize },
    /// It has fewer calls than now.
    Return { depth: usize },
}

pub(super) struct Pilot {
    pub(super) orders: Receiver<Order>,
    pub(super) reports: Sender<Report>,
    pub(super) points: Arc<Mutex<Points>>,
    pub(super) buffers: Arc<[Named]>,
    pub(super) interrupt: Arc<AtomicBool>,
    pub(super) cancel: CancelToken,
    pub(super) program: Arc<[Dispatch]>,
    pub(super) course: Arc<Course>,
    pub(super) goal: Goal,
    /// Where a wave was when it went on: its workgroup's position, and the wave. Breakpoints there have
    /// been seen; `None` after the next instruction.
    pub(super) resumed: Option<(u64, u32)>,
}

/// The points, locked.
pub(super) fn points(points: &Mutex<Points>) -> MutexGuard<'_, Points> {
    points.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pilot {
    /// Stops: the debugging thread is told, and decides how to go on.
    fn stop(
        &mut self,
        state: &mut State<'_, '_>,
        moment: Moment,
        wave: u32,
        reason: Reason,
    ) -> Action {
        let module = self.program[self.dispatch()].kernel.module();
        let pc = state.wave(wave).map_or(0, |wave| wave.pc);
        if let Reason::Breakpoint { id, .. } | Reason::Watchpoint { id, .. } = reason
            && !matches!(self.goal, Goal::Reach { .. })
        {
            points(&self.points).count(id);
        }
        let stop = Stop {
            reason,
            dispatch: self.dispatch(),
            launch: self.course.launch.load(Relaxed),
            kernel: self.program[self.dispatch()].kernel.name().to_owned(),
            workgroup: state.workgroup(),
            wave,
            place: CodePlace::of(module, pc),
            instruction: state.code().text_at(pc),
            position: state.position(),
            executed: state.executed(wave),
            phase: state.phase(wave),
        };
        if self.reports.send(Report::Stopped(stop)).is_err() {
            return self.leave();
        }
        loop {
            match self.orders.recv() {
                Ok(Order::Do(inspection)) => inspection(state),
                Ok(Order::Resume(goal)) => return self.resume(state, moment, wave, goal),
                Err(_) => return self.leave(),
            }
        }
    }

    fn dispatch(&self) -> usize {
        self.course.dispatch.load(Relaxed)
    }

    /// The debugging thread has left.
    fn leave(&self) -> Action {
        self.cancel.cancel();
        Action::Abandon
    }

    fn resume(&mut self, state: &State<'_, '_>, moment: Moment, wave: u32, goal: Goal) -> Action {
        self.goal = goal;
        let position = state.position();
        let at = match self.goal {
            Goal::Wave { wave, .. } => wave,
            _ => wave,
        };
        self.resumed = Some((position, at));
        match &mut self.goal {
            Goal::Back { restored, .. } => {
                *restored = true;
                back(position)
            }
            Goal::Search { before, .. } => {
                *before = moment;
                // The moment before the decision about an instruction has the state of after the last.
                Action::Back(position.saturating_sub(1 - moment % 2))
            }
            Goal::Wave { wave, .. } if *wave != state.current() && state.is_ready(*wave) => {
                Action::Switch(*wave)
            }
            Goal::Entry | Goal::Continue { .. } | Goal::Wave { .. } | Goal::Reach { .. } => {
                Action::Go
            }
        }
    }

    /// A part of the workgroup's past was searched.
    fn searched(&mut self, state: &State<'_, '_>) -> Action {
        let Goal::Search {
            before,
            begin,
            found,
        } = &mut self.goal
        else {
            return Action::Go;
        };
        let (moment, reason) = match (found.take(), *begin) {
            (Some((moment, hit)), _) => (moment, reason_of(hit)),
            (None, Some(first)) if first / 2 > state.earliest() => {
                (*before, *begin) = (first, None);
                return Action::Back(first / 2 - 1);
            }
            (None, _) => (2 * state.earliest() + 1, Reason::HistoryBegins),
        };
        self.goal = Goal::Reach { moment, reason };
        // What is after an instruction is reached by executing it.
        Action::Back((moment - (1 - moment % 2)) / 2)
    }

    /// A search has found a point, the last one so far.
    fn finds(&mut self, moment: Moment, hit: Option<Hit>) {
        if let (Goal::Search { found, .. }, Some(hit)) = (&mut self.goal, hit) {
            *found = Some((moment, hit));
        }
    }

    /// The point that the current wave meets, unless it has been seen.
    fn meets(&self, state: &State<'_, '_>) -> Option<Hit> {
        if self.resumed == Some((state.position(), state.current())) {
            return None;
        }
        points(&self.points).before(self.at(state, false))
    }

    fn at<'p, 's, 'g>(&'p self, state: &'p State<'s, 'g>, back: bool) -> At<'p, 's, 'g> {
        At {
            state,
            dispatch: self.dispatch(),
            buffers: &self.buffers,
            back,
        }
    }

    /// A point was met: is it one that stops?
    fn passes(&mut self, hit: &Hit) -> bool {
        match &mut self.goal {
            Goal::Continue { pass } if *pass > 0 => {
                *pass -= 1;
                points(&self.points).count(hit.id);
                true
            }
            _ => false,
        }
    }
}

/// To the state that was kept before a position; on from here if there is none.
fn back(position: u64) -> Action {
    match position.checked_sub(1) {
        Some(position) => Action::Back(position),
        None => Action::Go,
    }
}

fn reason_of(hit: Hit) -> Reason {
    let Hit { id, error, access } = hit;
    match access {
        None => Reason::Breakpoint { id, error },
        Some(access) => Reason::Watchpoint { id, error, access },
    }
}

impl Driver for Pilot {
    fn before(&mut self, state: &mut State<'_, '_>) -> Action {
        let (wave, position) = (state.current(), state.position());
        let moment = 2 * position + 1;
        if self.interrupt.swap(false, Relaxed) {
            return self.stop(state, moment, wave, Reason::Interrupted);
        }
        match &mut self.goal {
            Goal::Entry => self.stop(state, moment, wave, Reason::Entry),
            Goal::Back {
                wave,
                executed,
                restored,
            } => {
                let (wave, wanted, first) = (*wave, *executed, std::mem::take(restored));
                if first && state.executed(wave) == wanted && state.changed_here() {
                    return self.stop(state, moment, wave, Reason::Step);
                }
                if first && state.executed(wave) >= wanted {
                    if position > state.earliest() {
                        *restored = true;
                        return back(position);
                    }
                    let reason = match state.executed(wave) == wanted && position == 0 {
                        true => Reason::Step,
                        false => Reason::HistoryBegins,
                    };
                    return self.stop(state, moment, wave, reason);
                }
                Action::Go
            }
            Goal::Search { before, begin, .. } => {
                begin.get_or_insert(moment);
                if moment >= *before {
                    return self.searched(state);
                }
                let hit = points(&self.points).before(self.at(state, true));
                self.finds(moment, hit);
                Action::Go
            }
            Goal::Reach {
                moment: wanted,
                reason,
            } => {
                if moment >= *wanted {
                    let reason = reason.clone();
                    return self.stop(state, moment, wave, reason);
                }
                Action::Go
            }
            Goal::Wave {
                workgroup,
                wave: wanted,
                ..
            } => {
                let wanted = *wanted;
                if *workgroup == state.workgroup() && wanted != wave && state.is_ready(wanted) {
                    return Action::Switch(wanted);
                }
                match self.meets(state) {
                    Some(hit) => self.stop(state, moment, wave, reason_of(hit)),
                    None => Action::Go,
                }
            }
            Goal::Continue { .. } => match self.meets(state) {
                Some(hit) if self.passes(&hit) => {
                    self.resumed = Some((position, wave));
                    Action::Go
                }
                Some(hit) => self.stop(state, moment, wave, reason_of(hit)),
                None => Action::Go,
            },
        }
    }

    fn after(&mut self, state: &mut State<'_, '_>, step: &Step) -> Action {
        let moment = 2 * state.position();
        self.resumed = None;
        match &mut self.goal {
            Goal::Back { wave, executed, .. } => {
                let (wave, executed) = (*wave, *executed);
                if step.wave == wave && state.executed(wave) == executed {
                    return self.stop(state, moment, wave, Reason::Step);
                }
                return Action::Go;
            }
            Goal::Search { before, .. } => {
                if moment >= *before {
                    return self.searched(state);
                }
                let hit = points(&self.points).after(self.at(state, true), step);
                self.finds(moment, hit);
                return Action::Go;
            }
            Goal::Reach {
                moment: wanted,
                reason,
            } => {
                if moment >= *wanted {
                    let reason = reason.clone();
                    return self.stop(state, moment, step.wave, reason);
                }
                return Action::Go;
            }
            Goal::Entry | Goal::Continue { .. } | Goal::Wave { .. } => {}
        }
        if let Some(fault) = &step.fault {
            let reason = Reason::Fault {
                kind: completed(fault.kind.clone(), state.memory()),
                lane: fault.lane,
            };
            return self.stop(state, moment, step.wave, reason);
        }
        let hit = points(&self.points).after(self.at(state, false), step);
        if let Some(hit) = hit
            && !self.passes(&hit)
        {
            return self.stop(state, moment, step.wave, reason_of(hit));
        }
        let Goal::Wave {
            workgroup,
            wave,
            until,
        } = &mut self.goal
        else {
            return Action::Go;
        };
        if (*workgroup, *wave) != (state.workgroup(), step.wave) {
            return Action::Go;
        }
        let calls = state.calls(step.wave).len();
        let done = match until {
            Until::Steps(left) => {
                *left = left.saturating_sub(1);
                *left == 0
            }
            Until::Place { places, depth } => {
                let at = state.wave(step.wave).map_or(0, |wave| wave.pc);
                places.contains(&at) && calls <= *depth
            }
            Until::Return { depth } => calls < *depth,
        };
        if state.phase(step.wave) == Phase::Ended {
            return self.stop(state, moment, step.wave, Reason::WaveEnded);
        }
        match done {
            true => self.stop(state, moment, step.wave, Reason::Step),
            false => Action::Go,
        }
    }
}
