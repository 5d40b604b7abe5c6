//! Which accesses happened before others.
//!
//! Time is counted in *intervals* of a wave: from a barrier, or from a store or atomic that may tell others of what the wave
//! did, to the next one. Their numbers grow in the order in which they begin.
//!
//! A barrier orders the waves of a workgroup. A flag orders two waves: one waits for its accesses and then stores the flag or
//! changes it by an atomic; another one reads it by an atomic or a load that polls, and for global memory then invalidates
//! its L1 cache. What is known by flags is a vector clock, which only such accesses change (FastTrack).

use rustc_hash::FxHashMap;

/// A wave: number of the workgroup, and number of the wave in it, or [`ALL`].
type Wave = (u32, u8);

/// All waves of a workgroup.
const ALL: u8 = u8::MAX;

/// The last interval of each wave that happened before.
pub(super) type Clock = FxHashMap<Wave, u64>;

/// Adds what another clock has.
pub(super) fn join(clock: &mut Clock, other: &Clock) {
    for (&wave, &interval) in other {
        let known = clock.entry(wave).or_default();
        *known = interval.max(*known);
    }
}

/// An interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// Number of the workgroup.
    pub(super) group: u32,
    /// Barriers of the workgroup before it.
    pub(super) barriers: u32,
    /// The first interval of the workgroup behind the last of these.
    pub(super) round: u64,
    /// Number of the dispatch.
    pub(super) dispatch: u32,
    pub(super) wave: u8,
}

/// How an earlier interval is related to the present one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    pub(super) same_group: bool,
    /// Of the same workgroup, without a barrier between.
    pub(super) same_round: bool,
    pub(super) same_wave: bool,
    /// It happened before.
    pub(super) before: bool,
}

/// The order of intervals.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The interval that `intervals` begins with.
    base: u64,
    intervals: Vec<Interval>,
    /// Dispatches that have begun since.
    dispatches: u64,
    /// What a wave knows of others; by a workgroup's number and [`ALL`], what all of its waves know behind a barrier.
    clocks: FxHashMap<Wave, Clock>,
    /// By the address of a flag that atomics have changed: what those who read it may know.
    flags: FxHashMap<u64, Clock>,
    /// By workgroup, the interval in which it has last told others of what it did, or may have.
    told: FxHashMap<u32, u64>,
}

impl Order {
    /// Forgets all intervals: no dispatch runs. `next` is the number of the next one.
    pub(super) fn restart(&mut self, next: u64) {
        self.base = next;
        self.intervals.clear();
        self.dispatches = 0;
        self.clocks.clear();
        self.flags.clear();
        self.told.clear();
    }

    pub(super) fn begin_dispatch(&mut self) {
        self.dispatches += 1;
    }

    /// The number of a new interval.
    pub(super) fn begin(&mut self, interval: Interval) -> u64 {
        self.intervals.push(interval);
        self.next() - 1
    }

    /// The number of the next interval.
    pub(super) fn next(&self) -> u64 {
        self.base + self.intervals.len() as u64
    }

    /// Has one dispatch begun since [`Order::restart`]?
    pub(super) fn began_alone(&self) -> bool {
        self.dispatches == 1
    }

    /// Have waves learned of others by flags?
    pub(super) fn has_clocks(&self) -> bool {
        !self.clocks.is_empty()
    }

    /// The interval of a number, unless it is forgotten.
    pub(super) fn interval(&self, number: u64) -> Option<Interval> {
        let index = number.checked_sub(self.base)?;
        self.intervals.get(index as usize).copied()
    }

    /// How an earlier interval is related to the present one.
    pub(super) fn past(&self, earlier: u64, now: u64) -> Past {
        if earlier == now {
            return Past {
                same_group: true,
                same_round: true,
                same_wave: true,
                before: true,
            };
        }
        const LONG_AGO: Past = Past {
            same_group: false,
            same_round: false,
            same_wave: false,
            before: true,
        };
        let (Some(earlier_one), Some(one)) = (self.interval(earlier), self.interval(now)) else {
            return LONG_AGO;
        };
        // Dispatches that run at the same time may be ordered by the host, which is not seen.
        if earlier_one.dispatch != one.dispatch {
            return LONG_AGO;
        }
        let same_group = earlier_one.group == one.group;
        let same_wave = same_group && earlier_one.wave == one.wave;
        let same_round = same_group && earlier_one.barriers == one.barriers;
        let before = match same_group {
            true => {
                same_wave || !same_round || self.knows((one.group, one.wave), earlier_one, earlier)
            }
            false => [ALL, one.wave]
                .iter()
                .any(|&wave| self.knows((one.group, wave), earlier_one, earlier)),
        };
        Past {
            same_group,
            same_round,
            same_wave,
            before,
        }
    }

    fn knows(&self, wave: Wave, earlier: Interval, number: u64) -> bool {
        if self.clocks.is_empty() {
            return false;
        }
        let clock = self.clocks.get(&wave);
        clock.is_some_and(|clock| {
            let waves = [earlier.wave, ALL].map(|wave| (earlier.group, wave));
            waves.iter().any(|wave| clock.get(wave) >= Some(&number))
        })
    }

    /// Has the wave, or its workgroup, learned of others by flags?
    pub(super) fn knows_others(&self, now: u64) -> bool {
        let knows = |wave: Wave| self.clocks.contains_key(&wave);
        let learned = |one: Interval| knows((one.group, one.wave)) || knows((one.group, ALL));
        !self.clocks.is_empty() && self.interval(now).is_some_and(learned)
    }

    /// What others learn from the wave of an interval if they read a flag that it changes: what it knows, its own past, and
    /// that of its workgroup up to the last barrier.
    pub(super) fn knowledge(&self, number: u64) -> Clock {
        let Some(one) = self.interval(number) else {
            return Clock::default();
        };
        let mut clock = Clock::default();
        for wave in [ALL, one.wave] {
            if let Some(known) = self.clocks.get(&(one.group, wave)) {
                join(&mut clock, known);
            }
        }
        clock.insert((one.group, one.wave), number);
        clock.insert((one.group, ALL), one.round - 1);
        clock
    }

    /// In an interval a wave tells others, or may tell them, of what its workgroup did.
    pub(super) fn tell(&mut self, number: u64) {
        if let Some(one) = self.interval(number) {
            self.told.insert(one.group, number);
        }
    }

    /// May others have been told of what happened in an interval?
    pub(super) fn is_told(&self, number: u64) -> bool {
        let last = |one: Interval| self.told.get(&one.group).copied();
        !self.told.is_empty() && self.interval(number).and_then(last) > Some(number)
    }

    /// A flag in global memory is changed by an atomic: those who read it may know this.
    pub(super) fn release(&mut self, flag: u64, known: &Clock) {
        join(self.flags.entry(flag).or_default(), known);
    }

    /// What a reader of the flag may know.
    pub(super) fn flag(&self, flag: u64) -> Option<&Clock> {
        self.flags.get(&flag)
    }

    /// What a wave has learned of others by flags.
    pub(super) fn learned(&self, group: u32, wave: u8) -> Option<&Clock> {
        self.clocks.get(&(group, wave))
    }

    /// All waves of a workgroup know this from now on.
    pub(super) fn acquire(&mut self, group: u32, known: &Clock) {
        join(self.clocks.entry((group, ALL)).or_default(), known);
    }

    /// A wave knows this from now on.
    pub(super) fn acquire_wave(&mut self, group: u32, wave: u8, known: &Clock) {
        join(self.clocks.entry((group, wave)).or_default(), known);
    }
}
