//! The ranges of LDS that waves access between two barriers.
//!
//! Where those of two waves are disjoint, or none of them is of a store, there is no race, and accesses need not be compared word by word.
//! The sanitizer assumes that of an interval between barriers of which all workgroups so far had disjoint ranges; where this fails the
//! dispatch is void, as described in `sanitizer/settled.rs`.

use super::MAX_WAVES;
use super::record::AccessKind;

/// Most ranges of a wave and a class; further accesses extend the last one.
const MOST: usize = 8;

/// First offset, and the one behind the last.
type Range = (u32, u32);

/// Accesses that do not conflict with one another, but for stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Loads,
    Stores,
    Atomics,
}

const CLASSES: [Class; 3] = [Class::Loads, Class::Stores, Class::Atomics];

impl Class {
    fn of(kind: AccessKind) -> Class {
        match kind {
            AccessKind::Read | AccessKind::CoherentRead => Class::Loads,
            AccessKind::Write => Class::Stores,
            AccessKind::Atomic => Class::Atomics,
        }
    }

    /// Do accesses of two waves to the same bytes conflict?
    fn conflicts_with(self, other: Class) -> bool {
        self != other || self == Class::Stores
    }
}

/// Ranges that contain all accesses of a class by a wave.
#[derive(Clone, Copy, Default)]
struct Ranges {
    len: usize,
    all: [Range; MOST],
}

impl Ranges {
    fn add(&mut self, (low, high): Range) {
        let known = self.all[..self.len]
            .iter()
            .position(|&(start, end)| low <= end && start <= high);
        let at = match known {
            Some(at) => at,
            None if self.len < MOST => {
                self.all[self.len] = (low, high);
                self.len += 1;
                return;
            }
            None => MOST - 1,
        };
        let (start, end) = self.all[at];
        self.all[at] = (start.min(low), end.max(high));
    }
}

/// A range, and whose it is.
#[derive(Clone, Copy)]
struct Owned {
    range: Range,
    wave: usize,
    class: Class,
}

/// The ranges of all waves of a workgroup.
#[derive(Default)]
pub(super) struct Hulls {
    waves: Box<[[Ranges; CLASSES.len()]; MAX_WAVES]>,
    /// Waves that have some, one bit each.
    used: u32,
    /// For reuse.
    sorted: Vec<Owned>,
}

const _: () = assert!(MAX_WAVES <= u32::BITS as usize);

impl Hulls {
    /// A wave accesses bytes in this range.
    #[inline]
    pub(super) fn add(&mut self, wave: u8, kind: AccessKind, range: Range) {
        let wave = usize::from(wave) % MAX_WAVES;
        self.used |= 1 << wave;
        self.waves[wave][Class::of(kind) as usize].add(range);
    }

    pub(super) fn clear(&mut self) {
        while self.used != 0 {
            self.waves[self.used.trailing_zeros() as usize] = Default::default();
            self.used &= self.used - 1;
        }
    }

    /// Are there no two waves with ranges that overlap and accesses that conflict?
    pub(super) fn are_disjoint(&mut self) -> bool {
        if self.used.count_ones() < 2 {
            return true;
        }
        self.sorted.clear();
        let waves = (0..MAX_WAVES).filter(|&wave| self.used >> wave & 1 != 0);
        for wave in waves {
            for (class, ranges) in CLASSES.into_iter().zip(&self.waves[wave]) {
                let ranges = ranges.all[..ranges.len].iter();
                let owned = |&range| Owned { range, wave, class };
                self.sorted.extend(ranges.map(owned));
            }
        }
        let loads_alone = self.sorted.iter().all(|one| one.class == Class::Loads);
        if loads_alone {
            return true;
        }
        self.sorted.sort_unstable_by_key(|one| one.range);
        self.sorted.iter().enumerate().all(|(i, one)| {
            let behind = self.sorted[i + 1..].iter();
            let mut overlapping = behind.take_while(|next| next.range.0 < one.range.1);
            overlapping.all(|next| next.wave == one.wave || !one.class.conflicts_with(next.class))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use AccessKind::{Atomic, Read, Write};

    fn hulls(all: &[(u8, AccessKind, Range)]) -> Hulls {
        let mut hulls = Hulls::default();
        for &(wave, kind, range) in all {
            hulls.add(wave, kind, range);
        }
        hulls
    }

    #[test]
    fn ranges_of_two_waves_conflict_if_one_stores() {
        let pairs = [
            (Read, Read, true),
            (Read, Write, false),
            (Write, Read, false),
            (Write, Write, false),
            (Atomic, Atomic, true),
            (Atomic, Read, false),
            (Write, Atomic, false),
        ];
        for (one, other, is_disjoint) in pairs {
            let (low, high) = ((0, 8), (4, 12));
            assert_eq!(
                hulls(&[(0, one, low), (1, other, high)]).are_disjoint(),
                is_disjoint,
                "{one:?} {other:?}"
            );
            assert!(hulls(&[(1, one, low), (1, other, high)]).are_disjoint());
            assert!(hulls(&[(0, one, (0, 4)), (1, other, (4, 8))]).are_disjoint());
        }
    }

    #[test]
    fn a_wave_may_have_several_ranges() {
        let between = [
            (0, Write, (0, 4)),
            (0, Write, (64, 68)),
            (1, Write, (32, 36)),
        ];
        assert!(hulls(&between).are_disjoint());
        // Adjacent ones become one range.
        let mut joined = hulls(&[(0, Write, (0, 32)), (0, Write, (32, 64))]);
        assert_eq!(joined.waves[0][Class::Stores as usize].len, 1);
        joined.add(1, Read, (60, 61));
        assert!(!joined.are_disjoint());
        joined.clear();
        assert!(joined.are_disjoint() && joined.used == 0);
        // More than are kept: the last one grows.
        let many: Vec<_> = (0..20)
            .map(|n| (0, Write, (100 * n, 100 * n + 4)))
            .collect();
        let mut many = hulls(&many);
        many.add(1, Read, (650, 651));
        assert!(many.are_disjoint());
        many.add(1, Read, (850, 851));
        assert!(!many.are_disjoint());
    }

    /// Compared with the definition, for random accesses.
    #[test]
    fn ranges_that_are_disjoint_have_no_conflict() {
        let mut random = crate::math::testing::Random::new(7);
        let mut disjoint = 0;
        for _ in 0..2000 {
            let all: Vec<_> = (0..1 + random.below(12))
                .map(|_| {
                    let low = random.below(64) as u32;
                    let kind = [Read, Write, Atomic][random.below(3) as usize];
                    let wave = random.below(3) as u8;
                    (wave, kind, (low, low + 1 + random.below(4) as u32))
                })
                .collect();
            let conflicts = all.iter().enumerate().any(|(i, a)| {
                let mut behind = all[i + 1..].iter();
                behind.any(|b| {
                    let overlap = a.2.0 < b.2.1 && b.2.0 < a.2.1;
                    let unordered = a.0 != b.0 && (a.1 != b.1 || a.1 == Write);
                    overlap && unordered
                })
            });
            let are_disjoint = hulls(&all).are_disjoint();
            assert!(!(are_disjoint && conflicts), "{all:?}");
            disjoint += u32::from(are_disjoint);
        }
        assert!(disjoint > 200, "{disjoint}");
    }
}
