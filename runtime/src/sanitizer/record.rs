//! What is known of the accesses to a word of memory: one record of 64 bits, and how an access changes it.
//!
//! A record has the last accessor and a state, as in HiRace (arXiv 2401.04701). The accessor is an interval (see
//! [`super::order`]). The numbers of intervals grow, so one before a dispatch's first means that the word was not
//! accessed in the dispatch.

use serde::{Deserialize, Serialize};

use super::order::{Order, Past};

/// What an access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AccessKind {
    /// A load.
    Read,
    /// A load that bypasses the L1 cache (`glc`), as compilers generate for volatile and atomic loads.
    CoherentRead,
    /// A store.
    Write,
    /// An atomic.
    Atomic,
}

impl AccessKind {
    /// Does it change memory?
    pub(super) fn changes(self) -> bool {
        matches!(self, AccessKind::Write | AccessKind::Atomic)
    }

    /// Is it one by which waves read or change flags?
    pub(super) fn is_of_flags(self) -> bool {
        matches!(self, AccessKind::CoherentRead | AccessKind::Atomic)
    }
}

/// Who accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accessor {
    /// Number of the interval.
    pub(super) interval: u64,
    /// Number of the instruction.
    pub(super) site: u16,
    /// The wave has waited for its earlier accesses to global memory: others that see this one see those, too.
    pub(super) releases: bool,
    /// An atomic by which the wave may learn of others.
    pub(super) learns: bool,
}

/// How a word was accessed in the dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum State {
    /// Read by one wave.
    Read = 1,
    /// Read by several waves of a workgroup in one interval.
    ReadByWaves = 2,
    /// Read by several workgroups; the accessor is the last one.
    ReadByGroups = 3,
    /// Only read by coherent loads.
    CoherentRead = 4,
    /// Written by one wave.
    Write = 5,
    /// Changed by atomics of one wave.
    Atomic = 6,
    /// Changed by atomics of several waves; the accessor is the last one.
    AtomicByMany = 7,
}

/// Bits of an instruction's number.
const SITE_BITS: u32 = 16;
const INTERVAL_BITS: u32 = 43;
const STATE_SHIFT: u32 = SITE_BITS;
const WRITTEN: u64 = 1 << (STATE_SHIFT + 3);
const RELEASES: u64 = 1 << (STATE_SHIFT + 4);
const INTERVAL_SHIFT: u32 = STATE_SHIFT + 5;
const _: () = assert!(INTERVAL_SHIFT + INTERVAL_BITS == 64);

/// A record; [`Record::NONE`] of a word that was never accessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Record(u64);

/// Two accesses without an order between them, at least one of which writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Conflict {
    /// The earlier accessor.
    pub(super) interval: u64,
    /// Its instruction.
    pub(super) site: u16,
    /// What it did.
    pub(super) kind: AccessKind,
    /// It is a store behind a wait for all before it, as that of a flag.
    pub(super) releases: bool,
}

impl Record {
    pub(super) const NONE: Record = Record(0);

    fn of(state: State, by: Accessor) -> Record {
        let flag = match state {
            State::Atomic | State::AtomicByMany => by.learns,
            _ => by.releases,
        };
        let released = if flag { RELEASES } else { 0 };
        Record(
            u64::from(by.site)
                | (state as u64) << STATE_SHIFT
                | released
                | by.interval << INTERVAL_SHIFT,
        )
    }

    pub(super) fn from_bits(bits: u64) -> Record {
        Record(bits)
    }

    pub(super) fn bits(self) -> u64 {
        self.0
    }

    /// The record of the first access in a dispatch.
    pub(super) fn first(kind: AccessKind, by: Accessor) -> Record {
        Record::of(first_state(kind), by)
    }

    /// The record after another load or store in the same interval; none if others may have accessed it as well.
    #[inline]
    pub(super) fn own(self, kind: AccessKind, by: Accessor) -> Option<Record> {
        match (self.state(), kind) {
            (State::Write, AccessKind::Read) => Some(self),
            (State::Read | State::Write, AccessKind::Write) => Some(Record::of(State::Write, by)),
            _ => None,
        }
    }

    /// The record after an atomic behind another one of the same workgroup and between the same barriers, if waves learn nothing of
    /// one another by flags.
    #[inline]
    pub(super) fn atomic_again(self, by: Accessor) -> Option<Record> {
        let state = match self.state() {
            _ if self.is_written() => return None,
            State::Atomic if self.interval() == by.interval => State::Atomic,
            State::Atomic | State::AtomicByMany => State::AtomicByMany,
            _ => return None,
        };
        Some(Record::of(state, by))
    }

    /// The record after an access by another workgroup than before, to which nothing orders it; none if these may conflict.
    #[inline]
    pub(super) fn read_by_another(self, kind: AccessKind, by: Accessor) -> Option<Record> {
        let reads = matches!(
            self.state(),
            State::Read | State::ReadByWaves | State::ReadByGroups
        );
        let settles = kind == AccessKind::Read && reads && !self.is_written();
        settles.then(|| Record::of(State::ReadByGroups, by))
    }

    pub(super) fn interval(self) -> u64 {
        self.0 >> INTERVAL_SHIFT
    }

    /// Was it accessed in this interval or a later one?
    pub(super) fn is_since(self, first: u64) -> bool {
        self.interval() >= first
    }

    fn site(self) -> u16 {
        self.0 as u16
    }

    fn state(self) -> State {
        match self.0 >> STATE_SHIFT & 7 {
            2 => State::ReadByWaves,
            3 => State::ReadByGroups,
            4 => State::CoherentRead,
            5 => State::Write,
            6 => State::Atomic,
            7 => State::AtomicByMany,
            _ => State::Read,
        }
    }

    /// Was it stored to before in the dispatch, by the workgroup that has read it or changed it by atomics since, and that has
    /// not told others of the store?
    fn is_written(self) -> bool {
        self.0 & WRITTEN != 0
    }

    /// See [`Accessor::releases`]; of atomics [`Accessor::learns`].
    pub(super) fn releases(self) -> bool {
        self.0 & RELEASES != 0
    }

    /// Is the last access a store?
    pub(super) fn is_store(self) -> bool {
        self.0 != 0 && self.state() == State::Write
    }

    /// Is the last access one by which waves read or change flags?
    pub(super) fn is_of_flags(self) -> bool {
        self.0 != 0 && self.conflict().kind.is_of_flags()
    }

    fn written(self, written: bool) -> Record {
        Record(self.0 | if written { WRITTEN } else { 0 })
    }

    pub(super) fn conflict(self) -> Conflict {
        let kind = match self.state() {
            _ if self.is_written() => AccessKind::Write,
            State::Read | State::ReadByWaves | State::ReadByGroups => AccessKind::Read,
            State::CoherentRead => AccessKind::CoherentRead,
            State::Write => AccessKind::Write,
            State::Atomic | State::AtomicByMany => AccessKind::Atomic,
        };
        Conflict {
            interval: self.interval(),
            site: self.site(),
            kind,
            releases: self.is_store() && self.releases(),
        }
    }

    /// Would the access change nothing, and conflict with nothing? This is the usual case of repeated reads.
    #[inline(always)]
    pub(super) fn is_settled(self, kind: AccessKind, by: Accessor, first: u64) -> bool {
        let same = self.interval() == by.interval;
        match kind {
            AccessKind::Read => {
                let shared = self.state() == State::ReadByGroups && self.is_since(first);
                shared || same && matches!(self.state(), State::Read | State::ReadByWaves)
            }
            AccessKind::Write => same && self.state() == State::Write && self.site() == by.site,
            AccessKind::CoherentRead | AccessKind::Atomic => false,
        }
    }

    /// Is it of a load by several waves of a workgroup, in this interval or after it?
    pub(super) fn is_read_by_waves_since(self, first: u64) -> bool {
        self.state() == State::ReadByWaves && self.is_since(first)
    }

    /// The record of a load or a store if those before `round` happened before: then what they were does not matter.
    #[inline]
    pub(super) fn follow(self, kind: AccessKind, by: Accessor, round: u64) -> Option<Record> {
        let plain = matches!(
            self.state(),
            State::Read | State::ReadByWaves | State::Write
        );
        let suits = plain && matches!(kind, AccessKind::Read | AccessKind::Write);
        (suits && !self.is_since(round)).then(|| Record::of(first_state(kind), by))
    }

    /// The record after an access, and the conflict with what was before. Intervals before `first` do not count;
    /// `order` tells which of the others happened before this access.
    pub(super) fn access(
        self,
        kind: AccessKind,
        by: Accessor,
        first: u64,
        order: &Order,
    ) -> (Record, Option<Conflict>) {
        if !self.is_since(first) {
            return (Record::of(first_state(kind), by), None);
        }
        let past = order.past(self.interval(), by.interval);
        let Past {
            same_group,
            same_round,
            same_wave,
            before,
        } = past;
        let state = self.state();
        if state == State::Write && same_round && same_wave && kind != AccessKind::Write {
            // The store is what others conflict with.
            return (self, None);
        }
        // Others than the accessor may have made the same access, but for those before a barrier.
        let before_all = match state {
            State::ReadByWaves => before && !same_round,
            State::AtomicByMany => before && (!same_round || order.knows_others(by.interval)),
            _ => before,
        };
        let next = |state| Record::of(state, by);
        // An access by the same workgroup leaves a store that others do not know.
        let stays = same_group && !order.is_told(self.interval());
        let conflict = Some(self.conflict());
        match kind {
            AccessKind::Read => self.read(by, past, before_all, stays),
            // A poll: an order, if there is one, comes of it.
            AccessKind::CoherentRead => (self, None),
            AccessKind::Write => {
                // The store of a flag or a lock: others poll it, or read it by atomics.
                let meant = match state {
                    State::CoherentRead => true,
                    State::Atomic | State::AtomicByMany => self.releases(),
                    _ => false,
                };
                let conflict = conflict.filter(|_| !meant && !before_all);
                (next(State::Write).written(meant), conflict)
            }
            AccessKind::Atomic => {
                let unordered = match state {
                    State::CoherentRead => false,
                    State::Atomic | State::AtomicByMany => {
                        self.is_written() && !same_group && !before
                    }
                    // The store is a flag.
                    State::Write if (self.releases() || self.is_written()) && by.learns => false,
                    _ => !before_all,
                };
                let many = match state {
                    State::AtomicByMany => !before || same_round,
                    State::Atomic => !before,
                    _ => false,
                };
                let state = if many {
                    State::AtomicByMany
                } else {
                    State::Atomic
                };
                let written = stays && (self.is_written() || self.is_store());
                (next(state).written(written), conflict.filter(|_| unordered))
            }
        }
    }

    /// As [`Record::access`], for a load.
    fn read(
        self,
        by: Accessor,
        past: Past,
        before_all: bool,
        stays: bool,
    ) -> (Record, Option<Conflict>) {
        let next = |state| Record::of(state, by);
        let state = self.state();
        match state {
            State::Read | State::ReadByWaves | State::ReadByGroups => {
                if self.is_written() && !past.same_group && !past.before {
                    return (self, Some(self.conflict()));
                }
                let written = self.is_written() && stays;
                let next_state = match (state, past.same_group) {
                    (State::ReadByGroups, _) => State::ReadByGroups,
                    (_, false) if !past.before => State::ReadByGroups,
                    (_, false) => State::Read,
                    (State::ReadByWaves, true) if past.same_round => State::ReadByWaves,
                    (_, true) if past.same_wave || !past.same_round => State::Read,
                    (_, true) => State::ReadByWaves,
                };
                (next(next_state).written(written), None)
            }
            State::CoherentRead => (next(State::Read), None),
            State::Write | State::Atomic | State::AtomicByMany if before_all => {
                (next(State::Read).written(stays), None)
            }
            State::Write | State::Atomic | State::AtomicByMany => (self, Some(self.conflict())),
        }
    }
}

/// The state after the first access.
fn first_state(kind: AccessKind) -> State {
    match kind {
        AccessKind::Read => State::Read,
        AccessKind::CoherentRead => State::CoherentRead,
        AccessKind::Write => State::Write,
        AccessKind::Atomic => State::Atomic,
    }
}
