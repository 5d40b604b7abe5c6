//! One workgroup: its waves, barriers, fuel. Where a wave has burned its fuel, or all are at a
//! barrier, it may stop, and be continued by another worker.

use std::time::Instant;

use frontend::{Encoding, LANES, WaveState};

use super::prepared::Place;
use super::rows::Rows;
use super::shape::{GroupShape, Shape, WorkItems};
use super::shuffle::Shuffle;
use super::slice::{Clock, Look, Slice};
use super::tracer::Tracer;
use super::waits::{Finding, Poll, WaitTiming, Watch, WaveWait};
use crate::LoadedCode;
use crate::engine::{Engine, Following, Group, Scratch, Session, Stats, Stop, WaveSets};
use crate::fault::{FaultKind, Private, WaveFault};
use crate::lds::Lds;
use crate::memory::Memory;

/// Buffers that are reused from group to group, and between dispatches.
pub(super) struct Room {
    waves: Vec<Box<WaveState>>,
    lds: Lds,
    /// Ids of full workgroups, and of the partial ones seen last.
    full: WorkItems,
    partial: WorkItems,
    /// Waves of the dispatch's largest group so far, which have used their scratch.
    scratch_used: u32,
    /// Prefetch correction at the ends of rows of workgroups.
    rows: Rows,
}

impl Room {
    pub(super) fn new(checked: bool) -> Room {
        Room {
            waves: Vec::new(),
            lds: Lds::new(checked),
            full: WorkItems::default(),
            partial: WorkItems::default(),
            scratch_used: 0,
            rows: Rows::default(),
        }
    }

    /// A dispatch begins; its scratch is new, and its accesses are unrelated to earlier ones.
    pub(super) fn begin_dispatch(&mut self) {
        self.scratch_used = 0;
        self.rows.forget();
    }

    pub(super) fn is_checked(&self) -> bool {
        self.lds.is_checked()
    }
}

/// State shared by all groups of a worker.
pub(super) struct GroupRunner<'a> {
    pub(super) engine: &'a dyn Engine,
    pub(super) memory: &'a Memory,
    pub(super) code: &'a LoadedCode,
    /// The dispatch's sizes.
    pub(super) shape: Shape,
    pub(super) lds_bytes: u32,
    /// LDS that hardware allocates for them.
    pub(super) lds_allocated: u32,
    /// Number of the dispatch, where memory has a sanitizer.
    pub(super) dispatch: u64,
    pub(super) counting: bool,
    /// The fuel quantum.
    pub(super) fuel: u64,
    /// See [`Settings`](super::Settings).
    pub(super) steady: bool,
    /// See [`Settings`](super::Settings).
    pub(super) shuffle: Option<Shuffle>,
    /// When long-running workgroups are examined, if at all.
    pub(super) timing: Option<WaitTiming>,
}

/// Decision on a wave that has burned its fuel.
pub(super) enum Verdict {
    /// Go on.
    Continue,
    /// Abandon the group: its result is not needed.
    Abandon,
    /// Stop the workgroup, for others to do what must be done alone.
    Stall,
    /// The time is over.
    Timeout(FaultKind),
}

/// Decides on long-running waves.
pub(super) trait Referee {
    /// This number of workgroups has ended; later calls are about the following one.
    fn passed(&mut self, groups: u32);

    /// A wave has burned its fuel.
    fn burned(&mut self) -> Verdict;

    /// The workgroup polls memory, as far as can be seen without an examination, or its slice is over.
    fn spinning(&mut self);

    /// Is there another workgroup that could run on this worker?
    fn others(&self) -> bool;

    /// The workgroup was found to poll memory, or no longer to do so (`None`). Must it be left?
    fn polls(&mut self, poll: Option<Poll>) -> bool;
}

/// A workgroup that has begun, and what it occupies.
pub(super) struct Resident<'a> {
    pub(super) place: Place<'a>,
    /// Its number in the order of dispatch.
    pub(super) index: u64,
    pub(super) group: GroupShape,
    pub(super) sets: WaveSets,
    /// Of the waves that were ready at first, those that have burned their fuel.
    pub(super) late: u32,
    /// Those that were ready at first.
    round: u32,
    pub(super) watch: Watch,
    slice: Slice,
}

impl<'a> Resident<'a> {
    /// A place without a workgroup.
    pub(super) fn new(place: Place<'a>, group: GroupShape) -> Resident<'a> {
        Resident {
            place,
            index: 0,
            group,
            sets: WaveSets::default(),
            late: 0,
            round: 0,
            watch: Watch::new(None),
            slice: Slice::new(1, false, Clock::new(true)),
        }
    }

    /// What its waves wait for, as far as is known, and the one that waits for another workgroup most
    /// likely.
    pub(super) fn waits(&self) -> (Vec<WaveWait>, usize) {
        if let Some(poll) = self.watch.poll() {
            return (poll.waves.clone(), poll.first);
        }
        let running = self.sets.ready | self.late;
        let live = running | self.sets.waiting;
        let waves = self.place.room.waves.iter().map(|wave| &**wave);
        let live = (0..)
            .zip(waves)
            .filter(|&(n, _)| n < 32 && live >> n & 1 == 1);
        let of = |(n, wave): (u32, &WaveState)| match running >> n & 1 {
            0 => WaveWait::at_barrier(n, wave),
            _ => WaveWait::running(n, wave),
        };
        (live.map(of).collect(), 0)
    }
}

/// Why a group was left.
pub(super) enum Outcome {
    /// All waves ended.
    Done,
    /// See [`Verdict::Abandon`].
    Abandoned,
    /// It has stopped for others.
    Stalled,
    /// The same, and it seems to wait, with all others, for what will not happen.
    Suspect,
    /// See [`Verdict::Timeout`].
    Timeout(FaultKind),
    /// A wave faulted; the engine's report, the wave's number and EXEC.
    Fault(WaveFault, u32, u64),
}

impl GroupRunner<'_> {
    /// Completes a fault with information that engines lack.
    pub(super) fn complete(&self, fault: &mut WaveFault, scratch: &Scratch) {
        self.memory.complete(&mut fault.kind);
        if let FaultKind::ReadOnly {
            address,
            protected: Some(protected),
            ..
        } = &mut fault.kind
            && protected.start == self.code.base()
        {
            protected.place = Some(self.code.place(*address));
        }
        let own_scratch = self.is_own_scratch(fault, scratch);
        if let FaultKind::Memory {
            address,
            nearest: Some(nearest),
            ..
        } = &mut fault.kind
        {
            let base = scratch.base;
            let behind = *address >= nearest.start.saturating_add(nearest.len);
            let inside = nearest.start <= base && base - nearest.start < nearest.len;
            if own_scratch && behind && inside && !nearest.freed {
                nearest.scratch = Some(scratch.lane_bytes);
            }
        }
        if let FaultKind::OutsidePrivate {
            space: Private::Lds,
            offset,
            bytes,
            size,
            allocated,
            ..
        } = &mut fault.kind
        {
            let whole = u64::from(self.lds_allocated);
            let end = offset.saturating_add(u64::from(*bytes));
            // Before gfx9 M0 may have set a smaller size.
            let exact = *size == u64::from(self.lds_bytes);
            *allocated = (exact && end <= whole).then_some(whole);
        }
    }

    /// Is it a fault of an instruction that may access scratch, at an address in the row of the
    /// lane's own dword?
    fn is_own_scratch(&self, fault: &WaveFault, scratch: &Scratch) -> bool {
        let (Some(address), Some(lane)) = (fault.kind.address(), fault.lane) else {
            return false;
        };
        let bytes = self.code.bytes_at(fault.pc).unwrap_or_default();
        let may_access = frontend::decode(self.code.gfx(), bytes).is_ok_and(|inst| {
            matches!(
                inst.desc.encoding,
                Encoding::Mubuf | Encoding::Mtbuf | Encoding::Scratch
            )
        });
        scratch.lane_bytes != 0 && may_access && address / 4 % LANES as u64 == lane.into()
    }

    /// Begins `group`, which may be followed by some of the `more` workgroups after it, and may wait
    /// for others if some have done so.
    pub(super) fn begin(
        &self,
        resident: &mut Resident<'_>,
        (index, group, more): (u64, GroupShape, u32),
        waits: bool,
        stats: &mut Stats,
    ) {
        let Place {
            room,
            initial,
            scratch,
            ..
        } = &mut resident.place;
        let count = group.waves();
        let full = self.shape.is_full(group.id);
        let items = if full {
            // Not `group.size`: it was just written in parts, so comparing it as a whole would
            // stall on store forwarding.
            room.full.of(self.shape.workgroup)
        } else {
            room.partial.of(group.size)
        };
        while room.waves.len() < count as usize {
            room.waves.push(WaveState::new_boxed());
        }
        let waves = &mut room.waves[..count as usize];
        initial.enter(&group, full);
        for (index, (wave, ids)) in waves.iter_mut().zip(items).enumerate() {
            initial.start(wave, index as u32, ids);
            if scratch.lane_bytes != 0 {
                let bytes = scratch.wave_bytes();
                let base = scratch.base + index as u64 * bytes;
                let used = (index as u32) < room.scratch_used;
                self.memory.begin_scratch(base, bytes, used);
            }
        }
        if full {
            room.rows.begin(&self.shape, group.id, waves);
        }
        room.scratch_used = room.scratch_used.max(count);
        // Checked mode and a sanitizer use the kernel's exact LDS size, hardware the allocated one.
        let exact = room.lds.is_checked() || self.memory.sanitizer().is_some();
        let lds_bytes = match exact {
            true => self.lds_bytes,
            false => self.lds_allocated,
        };
        room.lds.reset(lds_bytes as usize);
        stats.workgroups += 1;
        stats.waves += u64::from(count);

        let mut sets = WaveSets {
            ready: (1 << count) - 1,
            waiting: 0,
            following: Following::default(),
        };
        // A sanitizer must know where workgroups end, and others follow in ascending order only.
        let alone = self.memory.sanitizer().is_some() || self.shuffle.is_some();
        if full && more != 0 && scratch.lane_bytes == 0 && !alone {
            let more = more.min(Rows::following(&self.shape, group.id));
            sets.following = initial.following(more);
        }
        resident.index = index;
        resident.group = group;
        (resident.round, resident.late) = (sets.ready, 0);
        resident.sets = sets;
        resident.watch = Watch::new(self.timing);
        resident.slice = Slice::new(self.fuel, waits, Clock::new(self.steady));
    }

    /// The waves of a workgroup, and the state that they share as an engine accesses it.
    fn view<'v>(
        &'v self,
        place: &'v mut Place<'_>,
        group: &GroupShape,
        counting: bool,
        stats: &'v mut Stats,
    ) -> (&'v mut [Box<WaveState>], Group<'v>) {
        let waves = group.waves();
        let view = Group {
            memory: self.memory,
            code: self.code,
            gfx: self.code.gfx(),
            lds: &mut place.room.lds,
            scratch: place.scratch,
            workgroup: group.id,
            wave: 0,
            waves,
            checked: self.memory.is_exact(),
            dispatch: self.dispatch,
            counting,
            stats,
        };
        (&mut place.room.waves[..waves as usize], view)
    }

    /// Runs a workgroup on, and possibly some of those after it; the resident is then the last one
    /// that ran.
    pub(super) fn run(
        &self,
        session: &mut dyn Session,
        resident: &mut Resident<'_>,
        stats: &mut Stats,
        referee: &mut impl Referee,
    ) -> Outcome {
        let Resident {
            place,
            index: number,
            group,
            sets,
            late,
            round,
            watch,
            slice,
        } = resident;
        let count = group.waves();
        let (waves, mut view) = self.view(place, group, self.counting, stats);
        slice.restart();
        loop {
            let before = sets.following.count;
            let stop = match watch.tracer() {
                None => match &self.shuffle {
                    None => session.run(waves, sets, &mut view, slice.fuel()),
                    Some(shuffle) => shuffle.run(session, waves, sets, &mut view, slice.fuel()),
                },
                Some(tracer) => tracer.run(waves, sets, &mut view),
            };
            let passed = before - sets.following.count;
            if passed != 0 {
                group.id = view.workgroup;
                *number += u64::from(passed);
                view.stats.workgroups += u64::from(passed);
                view.stats.waves += u64::from(passed * count);
                referee.passed(passed);
                *watch = Watch::new(self.timing);
            }
            match stop {
                Stop::All => {}
                Stop::Burned(index) => {
                    *late |= 1 << index;
                    if let Some(outcome) = burned(referee) {
                        return outcome;
                    }
                    if sets.ready != 0 {
                        continue;
                    }
                }
                Stop::Fault(index, fault) => {
                    return Outcome::Fault(fault, index, waves[index as usize].exec());
                }
            }
            let fuel_burned = *late != 0;
            let mut look = Look::Runs;
            if fuel_burned {
                // They may wait for another group.
                look = slice.look(self.code, waves, (*late, late == round));
                sets.ready = std::mem::take(late);
            } else if sets.waiting != 0 {
                // Every wave that has not ended is at the barrier. A loop with a barrier burns no
                // fuel, yet may be infinite.
                if let Some(outcome) = burned(referee) {
                    return outcome;
                }
                if slice.arrive() {
                    look = slice.look(self.code, waves, (sets.waiting, true));
                }
                sets.ready = std::mem::take(&mut sets.waiting);
            } else {
                if let Some(sanitizer) = self.memory.sanitizer() {
                    sanitizer.end_group(&view);
                }
                return Outcome::Done;
            }
            *round = sets.ready;
            let found = watch.look((fuel_burned, look == Look::Polls), waves, sets);
            if watch.tracer().is_some() {
                self.arrive(waves);
            }
            let left = match found {
                Finding::None => false,
                Finding::Polls(poll) => referee.polls(Some(poll)),
                Finding::Moves => referee.polls(None),
            };
            if left {
                return Outcome::Suspect;
            }
            if look != Look::Runs {
                referee.spinning();
                slice.restart();
                if watch.tracer().is_none() && referee.others() {
                    return Outcome::Stalled;
                }
            }
        }
    }

    /// Waves continue without the engine: what is outstanding in them arrives.
    fn arrive(&self, waves: &mut [Box<WaveState>]) {
        let Some(engine) = self.engine.delayed() else {
            return;
        };
        for wave in waves {
            if let Some(whole) = engine.arrived(wave) {
                *wave = whole;
            }
        }
    }

    /// Does a workgroup that has stopped make no progress? Runs its waves for some instructions.
    pub(super) fn makes_no_progress(&self, resident: &mut Resident<'_>, stats: &mut Stats) -> bool {
        let Resident {
            place,
            group,
            sets,
            late,
            round,
            ..
        } = resident;
        let (waves, mut view) = self.view(place, group, false, stats);
        self.arrive(waves);
        let mut tracer = Tracer::new(waves);
        loop {
            if sets.ready == 0 {
                sets.ready = std::mem::take(late);
            }
            if sets.ready == 0 {
                sets.ready = std::mem::take(&mut sets.waiting);
            }
            *round = sets.ready;
            if tracer.is_done(sets.ready) {
                return tracer.poll(sets, waves, Instant::now()).is_some();
            }
            while sets.ready != 0 {
                match tracer.run(waves, sets, &mut view) {
                    Stop::All => {}
                    Stop::Burned(index) => *late |= 1 << index,
                    // The engine reports it when the wave, which remains ready, runs.
                    Stop::Fault(index, _) => {
                        sets.ready |= 1 << index;
                        return false;
                    }
                }
            }
        }
    }
}

/// Applies the referee's decision on a wave that has burned its fuel: how the group is left, if it
/// is.
fn burned(referee: &mut impl Referee) -> Option<Outcome> {
    match referee.burned() {
        Verdict::Continue => None,
        Verdict::Abandon => Some(Outcome::Abandoned),
        Verdict::Stall => Some(Outcome::Stalled),
        Verdict::Timeout(kind) => Some(Outcome::Timeout(kind)),
    }
}
