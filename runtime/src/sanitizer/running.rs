//! A workgroup that runs.

use rustc_hash::FxHashMap;

use super::MAX_WAVES;
use super::barriers::Rounds;
use super::hulls::Hulls;
use super::order::{Clock, Interval, join};
use super::reads::Reads;
use super::settled::Begin;
use super::shadow::Shadow;

/// A workgroup of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Id {
    pub(super) dispatch: u64,
    pub(super) workgroup: [u32; 3],
}

/// A dispatch that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dispatch {
    pub(super) number: u64,
    /// [`crate::dispatch::Settings::launch`].
    pub(super) launch: u64,
    /// Its first interval.
    pub(super) first: u64,
}

/// A wave that runs.
#[derive(Default)]
pub(super) struct Wave {
    /// Its interval; `None` if it has not accessed anything in it.
    pub(super) interval: Option<u64>,
    /// Barriers that it has arrived at.
    pub(super) barriers: u32,
    /// It has stored since it last waited for vector memory.
    pub(super) storing: bool,
    /// Lanes that were active at some access.
    pub(super) lanes: u64,
    /// What it will know when it invalidates its L1 cache.
    pub(super) observed: Clock,
}

/// The state of a workgroup while it runs.
pub(super) struct Running {
    /// Its number among all of the dispatches that run.
    pub(super) number: u32,
    pub(super) dispatch: Dispatch,
    /// Its own first interval.
    pub(super) first: u64,
    pub(super) waves: [Wave; MAX_WAVES],
    /// Barriers that some wave has arrived at. A wave arrives at one when all have arrived at the one before, so that
    /// waves are before the last one or behind it.
    pub(super) barriers: u32,
    /// The first intervals before the last barrier and behind it, if they have begun.
    pub(super) rounds: [Option<u64>; 2],
    /// What the waves that have arrived at the last barrier have learned of others, until one is behind it.
    pub(super) learned: Clock,
    /// What they would know if they invalidated their L1 cache.
    pub(super) observed: Clock,
    /// The barriers that began the same times, and the waves that arrived there first.
    pub(super) begins: [Option<(u16, u8)>; 2],
    /// Of the same times, loads from LDS.
    pub(super) reads: [Reads; 2],
    /// By offset of a word in LDS that atomics have changed behind the last barrier: what those who read it may know.
    pub(super) flags: FxHashMap<u64, Clock>,
    /// By offset of a word in LDS, if the code has flags in LDS: its first store, or `None` if an atomic changed it first.
    pub(super) first_stores: FxHashMap<u64, Option<(u64, u16)>>,
    /// Of the same times as `rounds`, the ranges of LDS that waves access.
    pub(super) hulls: [Hulls; 2],
    /// In these times accesses to LDS are not compared.
    pub(super) skips: [bool; 2],
    /// Some have not been.
    pub(super) has_skipped: bool,
    pub(super) lds: Shadow,
    /// If its barriers are examined.
    pub(super) examined: Option<Rounds>,
}

impl Running {
    pub(super) fn new(
        number: u32,
        dispatch: Dispatch,
        first: u64,
        (lds, hulls): (Shadow, [Hulls; 2]),
    ) -> Running {
        Running {
            number,
            dispatch,
            first,
            waves: std::array::from_fn(|_| Wave::default()),
            barriers: 0,
            rounds: [None; 2],
            learned: Clock::default(),
            observed: Clock::default(),
            begins: [None; 2],
            reads: Default::default(),
            flags: FxHashMap::default(),
            first_stores: FxHashMap::default(),
            hulls,
            skips: [false; 2],
            has_skipped: false,
            lds,
            examined: None,
        }
    }

    pub(super) fn wave(&mut self, wave: u8) -> &mut Wave {
        &mut self.waves[usize::from(wave) % MAX_WAVES]
    }

    /// Is the wave before the last barrier (0), or behind it (1)?
    pub(super) fn round_of(&self, wave: u8) -> usize {
        let barriers = self.waves[usize::from(wave) % MAX_WAVES].barriers;
        usize::from(barriers == self.barriers)
    }

    /// The loads of the workgroup in the round of a wave.
    pub(super) fn reads(&mut self, wave: u8) -> &mut Reads {
        &mut self.reads[self.round_of(wave)]
    }

    /// The barrier that began the present interval of a wave.
    pub(super) fn begin_of(&self, wave: u8) -> Begin {
        self.begins[self.round_of(wave)].map(|(site, _)| site)
    }

    /// A wave is the first one at a barrier, whose instruction has this number. `skips`: what follows is not compared.
    pub(super) fn next_round(&mut self, site: u16, wave: u8, skips: bool) {
        self.rounds = [self.rounds[1], None];
        self.begins = [self.begins[1], Some((site, wave))];
        self.reads.swap(0, 1);
        self.reads[1].open();
        self.hulls.swap(0, 1);
        self.hulls[1].clear();
        self.skips = [self.skips[1], skips];
        self.has_skipped |= skips;
    }

    /// What begins the intervals before the last barrier (0) or behind it (1), if ranges of waves conflict there.
    pub(super) fn overlap(&mut self, round: usize) -> Option<Begin> {
        let conflict = !self.hulls[round].are_disjoint();
        conflict.then(|| self.begins[round].map(|(site, _)| site))
    }

    /// The first interval of the workgroup behind the last barrier of a wave.
    pub(super) fn round(&self, wave: u8) -> Option<u64> {
        self.rounds[self.round_of(wave)]
    }

    /// A wave runs. If it is behind the last barrier all waves have arrived there, and know what one knew: what is new of this to all.
    pub(super) fn learns(&mut self, wave: u8) -> Option<Clock> {
        if self.round_of(wave) == 0 {
            return None;
        }
        if !self.observed.is_empty() {
            let observed = std::mem::take(&mut self.observed);
            for wave in &mut self.waves {
                join(&mut wave.observed, &observed);
            }
        }
        (!self.learned.is_empty()).then(|| std::mem::take(&mut self.learned))
    }

    /// The interval that a wave begins, whose number is `next`.
    pub(super) fn begins(&mut self, wave: u8, next: u64) -> Interval {
        let barriers = self.wave(wave).barriers;
        let round = &mut self.rounds[self.round_of(wave)];
        Interval {
            group: self.number,
            barriers,
            round: *round.get_or_insert(next),
            dispatch: self.dispatch.number as u32,
            wave,
        }
    }
}
