//! What the sanitizer has found.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::record::AccessKind;
use crate::fault::Nearest;
use crate::memory::Memory;

/// A rule that an execution has broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Rule {
    /// Two waves of a workgroup access the same bytes of LDS in one interval between barriers, at least one of them
    /// writes, and they are not both atomics.
    RaceLds,
    /// The same for global memory, for waves of one workgroup or of several, between which no fence and flag make an
    /// order.
    RaceGlobal,
    /// Bytes of LDS are read that the workgroup has not written.
    UnwrittenLds,
    /// Bytes outside of all allocations are accessed.
    OutOfBounds,
    /// Bytes of an allocation are accessed that was freed.
    UseAfterFree,
    /// Bytes behind the workgroup's LDS are accessed.
    OutOfLds,
    /// Waves of a workgroup are at different barriers, or one has ended and others are at a barrier.
    BarrierDivergence,
    /// Lanes of the wave that are active elsewhere are not at a barrier.
    BarrierLanes,
    /// Lanes of one store write different values to the same bytes.
    LanesCollide,
    /// Lanes of one atomic access global memory and LDS.
    MixedAtomic,
    /// Nothing in the dispatch depends on a barrier.
    RedundantBarrier,
}

/// Two sides of a finding, or one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What is broken.
    pub rule: Rule,
    /// Of a race: at each occurrence the bytes had the stored value before.
    pub same_value: bool,
    /// The access at which it was found.
    pub at: Side,
    /// The earlier one.
    pub other: Option<Side>,
    /// Guest address of the lowest byte found first, or its offset in LDS.
    pub address: u64,
    /// The address is an offset in LDS.
    pub lds: bool,
    /// Bytes of the access.
    pub bytes: u32,
    /// For an access out of bounds the nearest allocation, for others to global memory the one that they are in, as far
    /// as it is known.
    pub nearest: Option<Nearest>,
    /// How often it was found.
    pub count: u64,
    /// [`Settings::launch`](crate::dispatch::Settings::launch) of the dispatch.
    pub launch: u64,
}

impl Finding {
    /// One that is not about an address.
    pub(super) fn new(rule: Rule, at: Side, other: Option<Side>) -> Finding {
        Finding {
            rule,
            same_value: false,
            at,
            other,
            address: 0,
            lds: false,
            bytes: 0,
            nearest: None,
            count: 1,
            launch: 0,
        }
    }
}

/// An instruction, and who executed it when the finding was made first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Side {
    /// Number of the loaded code ([`crate::LoadedCode::id`]).
    pub code: u64,
    /// Guest address of the instruction.
    pub pc: u64,
    /// What it does; `None` for a barrier.
    pub kind: Option<AccessKind>,
    /// Workgroup.
    pub workgroup: [u32; 3],
    /// Number of the wave in it.
    pub wave: u32,
    /// The lane, where it is known; `None` also for scalar instructions.
    pub lane: Option<u32>,
}

/// What findings of one kind have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) launch: u64,
    pub(super) rule: Rule,
    pub(super) site: u16,
    pub(super) other: Option<u16>,
}

/// All findings, one for each pair of instructions of a launch.
#[derive(Debug, Default)]
pub(super) struct Findings {
    by_key: HashMap<Key, usize>,
    /// The key is missing where numbers of instructions have been given anew since.
    all: Vec<(Option<Key>, Finding)>,
}

impl Findings {
    /// Adds a finding, or counts one that is known. One with the same value is replaced by one with another.
    pub(super) fn add(&mut self, key: Key, mut finding: Finding) {
        finding.launch = key.launch;
        let Some(&index) = self.by_key.get(&key) else {
            self.by_key.insert(key, self.all.len());
            self.all.push((Some(key), finding));
            return;
        };
        let known = &mut self.all[index].1;
        let count = known.count + 1;
        if known.same_value && !finding.same_value {
            *known = finding;
        }
        known.count = count;
    }

    /// Numbers of instructions are given anew: what is found from now on is not the same.
    pub(super) fn forget_sites(&mut self) {
        self.by_key.clear();
        self.all.iter_mut().for_each(|(key, _)| *key = None);
    }

    /// Notes which allocations accesses to global memory are in.
    pub(super) fn place(&mut self, memory: &Memory) {
        let is_global = |rule| matches!(rule, Rule::RaceGlobal | Rule::LanesCollide);
        let all = self.all.iter_mut().map(|(_, finding)| finding);
        for finding in all.filter(|one| !one.lds && is_global(one.rule) && one.nearest.is_none()) {
            let found = memory.allocation_of(finding.address);
            finding.nearest = found.map(|found| Nearest {
                start: found.start,
                len: found.len,
                freed: false,
                scratch: None,
            });
        }
    }

    /// Removes those of a launch, or all.
    pub(super) fn take(&mut self, launch: Option<u64>) -> Vec<Finding> {
        let all = std::mem::take(&mut self.all);
        let (taken, left): (Vec<_>, Vec<_>) = all
            .into_iter()
            .partition(|(_, one)| launch.is_none_or(|launch| launch == one.launch));
        let keys = left.iter().enumerate();
        let keys = keys.filter_map(|(index, (key, _))| Some(((*key)?, index)));
        self.by_key = keys.collect();
        self.all = left;
        taken.into_iter().map(|(_, finding)| finding).collect()
    }
}
