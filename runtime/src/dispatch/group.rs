//! One workgroup on one worker: its waves in turn, barriers, fuel.

use frontend::WaveState;

use super::registers::InitialState;
use super::shape::{GroupShape, WorkItems};
use crate::LoadedCode;
use crate::engine::{Engine, Exit, Group, Scratch, Session, Stats};
use crate::fault::{FaultKind, WaveFault};
use crate::lds::Lds;
use crate::memory::Memory;

/// What a worker keeps from group to group, and between dispatches.
pub(super) struct Room {
    waves: Vec<Box<WaveState>>,
    lds: Lds,
    /// Ids of full workgroups, and of the partial ones seen last.
    full: WorkItems,
    partial: WorkItems,
    /// Waves of the dispatch's largest group so far: their scratch has been used.
    scratch_used: u32,
}

impl Room {
    pub(super) fn new(checked: bool) -> Room {
        Room {
            waves: Vec::new(),
            lds: Lds::new(checked),
            full: WorkItems::default(),
            partial: WorkItems::default(),
            scratch_used: 0,
        }
    }

    /// A dispatch begins; its scratch is new.
    pub(super) fn begin_dispatch(&mut self) {
        self.scratch_used = 0;
    }

    pub(super) fn is_checked(&self) -> bool {
        self.lds.is_checked()
    }
}

/// What all groups of a worker share.
pub(super) struct GroupRunner<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) memory: &'a Memory,
    pub(super) code: &'a LoadedCode,
    pub(super) initial: InitialState,
    /// Size of a full workgroup.
    pub(super) full_size: [u32; 3],
    pub(super) lds_bytes: u32,
    /// Scratch of wave 0; the others follow.
    pub(super) scratch: Scratch,
    pub(super) counting: bool,
    /// Fuel that a wave gets at a time.
    pub(super) fuel: u64,
}

/// What is said when a wave has burned its fuel.
pub(super) enum Verdict {
    /// Go on.
    Continue,
    /// Leave the group: its result is not wanted any more.
    Abandon,
    /// Stop the wave with this fault.
    Fault(FaultKind),
}

/// Decides about waves that run long.
pub(super) trait Referee {
    /// A wave has burned its fuel.
    fn burned(&mut self) -> Verdict;

    /// All waves that could run have burned their fuel and done nothing else since the last time.
    fn spinning(&mut self);
}

/// Why a group was left.
pub(super) enum Outcome {
    /// All waves ended.
    Done,
    /// See [`Verdict::Abandon`].
    Abandoned,
    /// A wave faulted; the engine's report, the wave's number and EXEC.
    Fault(WaveFault, u32, u64),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    Ready,
    AtBarrier,
    Ended,
}

impl GroupRunner<'_> {
    /// Runs `group`.
    pub(super) fn run(
        &self,
        session: &mut dyn Session,
        room: &mut Room,
        group: &GroupShape,
        stats: &mut Stats,
        referee: &mut impl Referee,
    ) -> Outcome {
        let count = group.waves();
        let items = if group.size == self.full_size {
            room.full.of(group.size)
        } else {
            room.partial.of(group.size)
        };
        while room.waves.len() < count as usize {
            room.waves.push(WaveState::new_boxed());
        }
        let waves = &mut room.waves[..count as usize];
        for (index, (wave, ids)) in waves.iter_mut().zip(items).enumerate() {
            self.initial.start(wave, group, index as u32, ids);
            let scratch = self.scratch_of(index as u32);
            if scratch.lane_bytes != 0 {
                let used = (index as u32) < room.scratch_used;
                self.memory
                    .begin_scratch(scratch.base, scratch.wave_bytes(), used);
            }
        }
        room.scratch_used = room.scratch_used.max(count);
        room.lds.reset(self.lds_bytes as usize);
        stats.workgroups += 1;
        stats.waves += u64::from(count);

        let mut view = Group {
            memory: self.memory,
            code: self.code,
            gfx: self.code.gfx(),
            lds: &mut room.lds,
            scratch: self.scratch,
            workgroup: group.id,
            wave: 0,
            waves: count,
            checked: self.memory.is_exact(),
            counting: self.counting,
            stats,
        };
        let mut status = [Status::Ready; 16];
        let status = &mut status[..count as usize];
        loop {
            let mut only_spinning = true;
            for index in 0..count {
                let wave = &mut waves[index as usize];
                if status[index as usize] != Status::Ready {
                    continue;
                }
                view.wave = index;
                view.scratch = self.scratch_of(index);
                let mut fuel = self.fuel;
                match session.run(wave, &mut view, &mut fuel) {
                    Exit::End => status[index as usize] = Status::Ended,
                    Exit::Barrier => status[index as usize] = Status::AtBarrier,
                    Exit::Fault(fault) => return Outcome::Fault(fault, index, wave.exec()),
                    Exit::Yield => {
                        match referee.burned() {
                            Verdict::Continue => {}
                            Verdict::Abandon => return Outcome::Abandoned,
                            Verdict::Fault(kind) => {
                                let fault = WaveFault {
                                    kind,
                                    pc: wave.pc,
                                    lane: None,
                                };
                                return Outcome::Fault(fault, index, wave.exec());
                            }
                        }
                        continue;
                    }
                }
                only_spinning = false;
            }
            if !status.contains(&Status::Ready) {
                if !status.contains(&Status::AtBarrier) {
                    return Outcome::Done;
                }
                // Every wave that has not ended is at the barrier. A loop with a barrier in it burns
                // no fuel, and may be endless all the same.
                let first = status.iter().position(|&s| s == Status::AtBarrier);
                let first = first.unwrap_or(0);
                match referee.burned() {
                    Verdict::Continue => {}
                    Verdict::Abandon => return Outcome::Abandoned,
                    Verdict::Fault(kind) => {
                        let (pc, exec) = (waves[first].pc, waves[first].exec());
                        let lane = None;
                        let fault = WaveFault { kind, pc, lane };
                        return Outcome::Fault(fault, first as u32, exec);
                    }
                }
                for status in status
                    .iter_mut()
                    .filter(|status| **status == Status::AtBarrier)
                {
                    *status = Status::Ready;
                }
            } else if only_spinning {
                // Perhaps they wait for a group on another worker.
                referee.spinning();
            }
        }
    }

    fn scratch_of(&self, wave: u32) -> Scratch {
        Scratch {
            base: self.scratch.base + u64::from(wave) * self.scratch.wave_bytes(),
            ..self.scratch
        }
    }
}
