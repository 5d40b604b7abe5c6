//! Barriers on which nothing depends.
//!
//! Barriers divide the time of a workgroup into rounds. Without a barrier instruction the rounds that only its executions
//! separate are one. So it is needed if a word is accessed in two such rounds by two waves, one of which changes it. Unlike the
//! records of races, which have the last accessor, those here have all waves of the rounds before, as far as this matters.

use rustc_hash::FxHashMap;

use super::running::Id;
use super::{MAX_WAVES, WORD};

/// Words of a block. Different bytes of a word are taken for the same.
const BLOCK: u64 = 64;

/// No wave, one, or several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waves(u8);

impl Waves {
    const NONE: Waves = Waves(0);
    const SEVERAL: Waves = Waves(u8::MAX);

    fn one(wave: u8) -> Waves {
        Waves(wave % MAX_WAVES as u8 + 1)
    }

    fn and(self, others: Waves) -> Waves {
        match (self, others) {
            (Waves::NONE, waves) | (waves, Waves::NONE) => waves,
            (one, same) if one == same => one,
            _ => Waves::SEVERAL,
        }
    }

    /// Are there others than this one?
    fn has_others(self, wave: Waves) -> bool {
        self != Waves::NONE && self != wave
    }
}

/// The waves that have accessed a word.
#[derive(Clone, Copy, Default)]
struct Accessors {
    all: Waves,
    /// Those that have changed it.
    writers: Waves,
}

impl Accessors {
    fn and(self, others: Accessors) -> Accessors {
        Accessors {
            all: self.all.and(others.all),
            writers: self.writers.and(others.writers),
        }
    }
}

/// The accesses to a word.
#[derive(Clone, Copy, Default)]
struct Word {
    /// The last round in which it was accessed.
    round: u32,
    /// In this round.
    now: Accessors,
    /// In the rounds before that only the last barrier before this round separates from it.
    before: Accessors,
}

impl Word {
    /// Does the access depend on the last barrier before it?
    fn access(&mut self, by: &Access) -> bool {
        if self.round != by.round {
            self.before = match self.round {
                round if round < by.first => Accessors::default(),
                // What was before this round another barrier separates.
                round if round == by.first => self.now,
                _ => self.before.and(self.now),
            };
            self.now = Accessors::default();
            self.round = by.round;
        }
        let wave = Waves::one(by.wave);
        self.now.all = self.now.all.and(wave);
        let before = if by.writes {
            self.now.writers = self.now.writers.and(wave);
            self.before.all
        } else {
            self.before.writers
        };
        before.has_others(wave)
    }
}

/// An access as words know it.
struct Access {
    wave: u8,
    round: u32,
    /// The first round that only the last barrier separates from this one.
    first: u32,
    writes: bool,
}

/// The words of a memory.
#[derive(Default)]
struct Words {
    /// Indices in `blocks`, by number of the block.
    indices: FxHashMap<u64, usize>,
    blocks: Vec<[Word; BLOCK as usize]>,
}

impl Words {
    fn clear(&mut self) {
        self.indices.clear();
        self.blocks.clear();
    }

    fn block(&mut self, number: u64) -> &mut [Word; BLOCK as usize] {
        let index = *self.indices.entry(number).or_insert_with(|| {
            self.blocks.push([Word::default(); BLOCK as usize]);
            self.blocks.len() - 1
        });
        &mut self.blocks[index]
    }

    fn access(&mut self, address: u64, bytes: u64, by: &Access) -> bool {
        let last = address.saturating_add(bytes.max(1) - 1) / WORD;
        let mut word = address / WORD;
        let mut depends = false;
        while word <= last {
            let block = word / BLOCK;
            let end = last.min(block * BLOCK + BLOCK - 1);
            let words = (word % BLOCK) as usize..=(end % BLOCK) as usize;
            for word in &mut self.block(block)[words] {
                depends |= word.access(by);
            }
            word = end + 1;
        }
        depends
    }
}

/// The round of a wave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Round {
    number: u32,
    /// The first round that only `barrier` separates from this one.
    first: u32,
    /// The instruction of the last barrier.
    barrier: Option<u16>,
}

/// What is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Lds {
        address: u64,
        bytes: u64,
    },
    Global {
        address: u64,
        bytes: u64,
    },
    /// What waves tell others of other workgroups: by flags they change it, and by other accesses they read it.
    Flags,
}

/// The rounds of a workgroup, and what was accessed in them.
#[derive(Default)]
pub(super) struct Rounds {
    /// Those before the last barrier and behind it.
    last: [Round; 2],
    lds: Words,
    global: Words,
    flags: Word,
}

impl Rounds {
    /// For another workgroup.
    pub(super) fn clear(&mut self) {
        self.last = Default::default();
        self.lds.clear();
        self.global.clear();
        self.flags = Word::default();
    }

    /// The first wave arrives at a barrier.
    pub(super) fn next(&mut self, site: u16) {
        let [_, now] = self.last;
        let number = now.number + 1;
        let next = match now.barrier {
            Some(barrier) if barrier == site => Round { number, ..now },
            _ => Round {
                number,
                first: now.number,
                barrier: Some(site),
            },
        };
        self.last = [now, next];
    }

    /// The last barrier.
    pub(super) fn barrier(&self) -> Option<u16> {
        self.last[1].barrier
    }

    /// A wave before the last barrier (0) or behind it (1) makes an access: the barrier that it depends on.
    pub(super) fn access(
        &mut self,
        (wave, behind): (u8, usize),
        place: Place,
        writes: bool,
    ) -> Option<u16> {
        let round = self.last[behind % 2];
        let by = Access {
            wave,
            round: round.number,
            first: round.first,
            writes,
        };
        let depends = match place {
            Place::Lds { address, bytes } => self.lds.access(address, bytes, &by),
            Place::Global { address, bytes } => self.global.access(address, bytes, &by),
            Place::Flags => self.flags.access(&by),
        };
        round.barrier.filter(|_| depends)
    }
}

/// What depends on a barrier.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    #[default]
    Nothing,
    /// What other workgroups may be told of.
    Flags,
    /// Accesses to the same words.
    Words,
}

/// A barrier of a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Barrier {
    /// A wave that has arrived there.
    pub(super) first: (Id, u8),
    need: Need,
}

/// The barriers of a dispatch that workgroups of several waves have executed.
#[derive(Default)]
pub(super) struct Barriers {
    /// By the number of the instruction.
    all: FxHashMap<u16, Barrier>,
    /// Workgroups that begin from now on are not examined: all barriers so far are needed.
    closed: bool,
    /// Waves learn of other workgroups.
    acquires: bool,
}

impl Barriers {
    /// Are workgroups examined that begin now?
    pub(super) fn are_open(&self) -> bool {
        !self.closed
    }

    /// A wave arrives at a barrier.
    pub(super) fn arrives(&mut self, site: u16, first: (Id, u8)) {
        // The workgroups that were not examined may need others.
        if !self.closed {
            let need = Need::default();
            self.all.entry(site).or_insert(Barrier { first, need });
        }
    }

    /// Something depends on a barrier.
    pub(super) fn needs(&mut self, site: u16, need: Need) {
        if let Some(barrier) = self.all.get_mut(&site) {
            barrier.need = barrier.need.max(need);
        }
    }

    /// A wave learns of other workgroups, or may.
    pub(super) fn acquires(&mut self) {
        self.acquires = true;
    }

    /// Does something depend on what other workgroups may be told behind the barrier, and nothing else on it?
    pub(super) fn is_suspect(&self, barrier: &Barrier) -> bool {
        barrier.need == Need::Flags && self.acquires
    }

    /// A workgroup that was examined ends.
    pub(super) fn end_group(&mut self) {
        let mut all = self.all.values();
        let closes = all.all(|one| one.need == Need::Words || self.is_suspect(one));
        self.closed |= closes;
    }

    /// The barriers on which no accesses to the same words depend, in the order of numbers.
    pub(super) fn not_needed(&self) -> Vec<(u16, Barrier)> {
        let all = self.all.iter().map(|(&site, &barrier)| (site, barrier));
        let mut all: Vec<_> = all.filter(|(_, one)| one.need != Need::Words).collect();
        all.sort_unstable_by_key(|&(site, _)| site);
        all
    }
}
