//! One workgroup on one worker: its waves, barriers, fuel.

use frontend::{Encoding, LANES, WaveState};

use super::registers::InitialState;
use super::rows::Rows;
use super::shape::{GroupShape, Shape, WorkItems};
use super::waits::{Finding, Poll, WaitTiming, Watch};
use crate::LoadedCode;
use crate::engine::{Engine, Following, Group, Scratch, Session, Stats, Stop, WaveSets};
use crate::fault::{FaultKind, Private, WaveFault};
use crate::lds::Lds;
use crate::memory::Memory;

/// Buffers that a worker reuses from group to group, and between dispatches.
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
    pub(super) initial: InitialState,
    /// The dispatch's sizes.
    pub(super) shape: Shape,
    pub(super) lds_bytes: u32,
    /// LDS that hardware allocates for them.
    pub(super) lds_allocated: u32,
    /// Scratch of wave 0; the others follow.
    pub(super) scratch: Scratch,
    pub(super) counting: bool,
    /// The fuel quantum.
    pub(super) fuel: u64,
    /// When long-running workgroups are examined, if at all.
    pub(super) timing: Option<WaitTiming>,
}

/// Decision on a wave that has burned its fuel.
pub(super) enum Verdict {
    /// Go on.
    Continue,
    /// Abandon the group: its result is not needed.
    Abandon,
    /// Stop the wave with this fault.
    Fault(FaultKind),
}

/// Decides on long-running waves.
pub(super) trait Referee {
    /// This number of workgroups has ended; later calls are about the following one.
    fn passed(&mut self, groups: u32);

    /// A wave has burned its fuel.
    fn burned(&mut self) -> Verdict;

    /// All runnable waves have burned their fuel without other progress since the last call. One of
    /// them is `wave`.
    fn spinning(&mut self, wave: &WaveState);

    /// The workgroup polls memory, or no longer does (`None`).
    fn polls(&mut self, group: &GroupShape, poll: Option<Poll>);
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

impl GroupRunner<'_> {
    /// Completes a fault with information that engines lack.
    pub(super) fn complete(&self, fault: &mut WaveFault) {
        self.memory.complete(&mut fault.kind);
        let own_scratch = self.is_own_scratch(fault);
        if let FaultKind::Memory {
            address,
            nearest: Some(nearest),
            ..
        } = &mut fault.kind
        {
            let base = self.scratch.base;
            let behind = *address >= nearest.start.saturating_add(nearest.len);
            let scratch = nearest.start <= base && base - nearest.start < nearest.len;
            if own_scratch && behind && scratch && !nearest.freed {
                nearest.scratch = Some(self.scratch.lane_bytes);
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
    fn is_own_scratch(&self, fault: &WaveFault) -> bool {
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
        self.scratch.lane_bytes != 0 && may_access && address / 4 % LANES as u64 == lane.into()
    }

    /// Runs `group`, and possibly some of the `more` workgroups after it; `group` is then the last
    /// one that ran.
    pub(super) fn run(
        &mut self,
        session: &mut dyn Session,
        room: &mut Room,
        (group, more): (&mut GroupShape, u32),
        stats: &mut Stats,
        referee: &mut impl Referee,
    ) -> Outcome {
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
        self.initial.enter(group, full);
        for (index, (wave, ids)) in waves.iter_mut().zip(items).enumerate() {
            self.initial.start(wave, index as u32, ids);
            if self.scratch.lane_bytes != 0 {
                let bytes = self.scratch.wave_bytes();
                let base = self.scratch.base + index as u64 * bytes;
                let used = (index as u32) < room.scratch_used;
                self.memory.begin_scratch(base, bytes, used);
            }
        }
        if full {
            room.rows.begin(&self.shape, group.id, waves);
        }
        room.scratch_used = room.scratch_used.max(count);
        // Checked mode uses the kernel's exact LDS size, hardware the allocated one.
        let lds_bytes = match room.lds.is_checked() {
            true => self.lds_bytes,
            false => self.lds_allocated,
        };
        room.lds.reset(lds_bytes as usize);
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
        let mut sets = WaveSets {
            ready: (1 << count) - 1,
            waiting: 0,
            following: Following::default(),
        };
        if full && more != 0 && self.scratch.lane_bytes == 0 {
            let more = more.min(Rows::following(&self.shape, group.id));
            sets.following = self.initial.following(more);
        }
        // Of the waves that were ready at first, those that have burned their fuel.
        let (mut round, mut late) = (sets.ready, 0u32);
        let mut watch = Watch::new(self.timing);
        loop {
            let before = sets.following.count;
            let stop = match watch.tracer() {
                None => session.run(waves, &mut sets, &mut view, self.fuel),
                Some(tracer) => tracer.run(waves, &mut sets, &mut view),
            };
            let passed = before - sets.following.count;
            if passed != 0 {
                group.id = view.workgroup;
                view.stats.workgroups += u64::from(passed);
                view.stats.waves += u64::from(passed * count);
                referee.passed(passed);
                watch = Watch::new(self.timing);
            }
            match stop {
                Stop::All => {}
                Stop::Burned(index) => {
                    if let Some(outcome) = burned(referee, index, &waves[index as usize]) {
                        return outcome;
                    }
                    late |= 1 << index;
                    if sets.ready != 0 {
                        continue;
                    }
                }
                Stop::Fault(index, fault) => {
                    return Outcome::Fault(fault, index, waves[index as usize].exec());
                }
            }
            let fuel_burned = late != 0;
            if fuel_burned {
                if late == round {
                    // They may wait for a group on another worker.
                    referee.spinning(&waves[late.trailing_zeros() as usize]);
                }
                sets.ready = std::mem::take(&mut late);
            } else if sets.waiting != 0 {
                // Every wave that has not ended is at the barrier. A loop with a barrier burns no
                // fuel, yet may be infinite.
                let first = sets.waiting.trailing_zeros();
                if let Some(outcome) = burned(referee, first, &waves[first as usize]) {
                    return outcome;
                }
                sets.ready = std::mem::take(&mut sets.waiting);
            } else {
                return Outcome::Done;
            }
            round = sets.ready;
            match watch.look(fuel_burned, waves, &sets) {
                Finding::None => {}
                Finding::Polls(poll) => referee.polls(group, Some(poll)),
                Finding::Moves => referee.polls(group, None),
            }
        }
    }
}

/// Applies the referee's decision on a wave that has burned its fuel: how the group is left, if it
/// is.
fn burned(referee: &mut impl Referee, index: u32, wave: &WaveState) -> Option<Outcome> {
    match referee.burned() {
        Verdict::Continue => None,
        Verdict::Abandon => Some(Outcome::Abandoned),
        Verdict::Fault(kind) => {
            let (pc, lane) = (wave.pc, None);
            let fault = WaveFault { kind, pc, lane };
            Some(Outcome::Fault(fault, index, wave.exec()))
        }
    }
}
