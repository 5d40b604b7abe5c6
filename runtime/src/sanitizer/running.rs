//! A workgroup that runs.

use rustc_hash::FxHashMap;

use super::MAX_WAVES;
use super::barriers::Rounds;
use super::hulls::Hulls;
use super::order::{Clock, Interval, join};
use super::reads::Reads;
use super::settled::{AssumedOfLds, Begin};
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
    /// Before the last barrier and behind it.
    pub(super) phases: [Phase; 2],
    /// What the waves that have arrived at the last barrier have learned of others, until one is behind it.
    pub(super) learned: Clock,
    /// What they would know if they invalidated their L1 cache.
    pub(super) observed: Clock,
    /// By offset of a word in LDS that atomics have changed behind the last barrier: what those who read it may know.
    pub(super) flags: FxHashMap<u64, Clock>,
    /// By offset of a word in LDS, if the code has flags in LDS: its first store, or `None` if an atomic changed it first.
    pub(super) first_stores: FxHashMap<u64, Option<(u64, u16)>>,
    /// There may have been stores to LDS that were not compared.
    pub(super) has_skipped: bool,
    pub(super) lds: Shadow,
    /// If its barriers are examined.
    pub(super) examined: Option<Rounds>,
}

/// The time of a workgroup between two barriers.
#[derive(Default)]
pub(super) struct Phase {
    /// Its first interval, if it has begun.
    pub(super) first: Option<u64>,
    /// The barrier that began it and the wave that arrived there first; `None` where the kernel begins.
    pub(super) begin: Option<(u16, u8)>,
    /// Loads from LDS.
    pub(super) reads: Reads,
    /// The ranges of LDS that waves access.
    pub(super) hulls: Hulls,
    pub(super) assumed: AssumedOfLds,
}

impl Phase {
    /// Begins another one.
    fn restart(&mut self, begin: Option<(u16, u8)>, assumed: AssumedOfLds) {
        self.first = None;
        self.begin = begin;
        self.reads.open();
        self.hulls.clear();
        self.assumed = assumed;
    }

    /// The barrier that began it.
    pub(super) fn barrier(&self) -> Begin {
        self.begin.map(|(site, _)| site)
    }
}

impl Running {
    /// `phases` are for reuse; `assumed` is of the first one.
    pub(super) fn new(
        number: u32,
        dispatch: Dispatch,
        first: u64,
        (lds, mut phases): (Shadow, [Phase; 2]),
        assumed: AssumedOfLds,
    ) -> Running {
        phases[0].restart(None, AssumedOfLds::default());
        phases[1].restart(None, assumed);
        Running {
            number,
            dispatch,
            first,
            waves: std::array::from_fn(|_| Wave::default()),
            barriers: 0,
            phases,
            learned: Clock::default(),
            observed: Clock::default(),
            flags: FxHashMap::default(),
            first_stores: FxHashMap::default(),
            has_skipped: assumed.apart,
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

    /// The phase of a wave.
    pub(super) fn phase(&mut self, wave: u8) -> &mut Phase {
        &mut self.phases[self.round_of(wave)]
    }

    /// A wave is the first one at a barrier, whose instruction has this number.
    pub(super) fn next_phase(&mut self, site: u16, wave: u8, assumed: AssumedOfLds) {
        self.phases.swap(0, 1);
        self.phases[1].restart(Some((site, wave)), assumed);
        self.has_skipped |= assumed.apart;
    }

    /// The first interval of the workgroup behind the last barrier of a wave.
    pub(super) fn round(&self, wave: u8) -> Option<u64> {
        self.phases[self.round_of(wave)].first
    }

    /// A wave arrives at a barrier. `learned` is what it has learned of others.
    pub(super) fn tells(&mut self, wave: u8, learned: Option<&Clock>) {
        if let Some(learned) = learned {
            join(&mut self.learned, learned);
        }
        let wave = &self.waves[usize::from(wave) % MAX_WAVES];
        join(&mut self.observed, &wave.observed);
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
        let number = self.number;
        let dispatch = self.dispatch.number as u32;
        let first = &mut self.phase(wave).first;
        Interval {
            group: number,
            barriers,
            round: *first.get_or_insert(next),
            dispatch,
            wave,
        }
    }
}
