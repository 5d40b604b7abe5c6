//! When, and by which interval, a register or a stack slot is occupied.

use std::cell::Cell;

use super::Owner;
use super::intervals::Range;

/// Disjoint ranges in order: begin, end and owner.
///
/// A scan queries ascending points, so a search starts at the position of the last result.
#[derive(Clone, Default)]
pub(super) struct Taken {
    times: Vec<(u32, u32, Owner)>,
    last: Cell<usize>,
}

/// Initial capacity in ranges.
const MANY: usize = 64;

/// Maximum length of a linear search before a binary search.
const NEAR: usize = 8;

impl Taken {
    /// Number of ranges that begin before a point.
    #[inline]
    fn place(&self, point: u32) -> usize {
        let times = &self.times;
        let mut at = self.last.get().min(times.len());
        for _ in 0..NEAR {
            if at > 0 && times[at - 1].0 >= point {
                at -= 1;
            } else if at < times.len() && times[at].0 < point {
                at += 1;
            } else {
                self.last.set(at);
                return at;
            }
        }
        at = times.partition_point(|&(begin, ..)| begin < point);
        self.last.set(at);
        at
    }

    /// The first range that ends after `range` begins; the search starts at `from`.
    #[inline]
    fn first(&self, (start, _): Range) -> usize {
        let at = self.place(start);
        match at.checked_sub(1) {
            Some(before) if self.times[before].1 > start => before,
            _ => at,
        }
    }

    /// The ranges that overlap a range, in order.
    pub(super) fn conflicts(
        &self,
        range: Range,
    ) -> impl DoubleEndedIterator<Item = (u32, Owner)> + '_ {
        let first = self.first(range);
        let behind = self.times[first..].iter();
        let count = behind.take_while(|&&(begin, ..)| begin < range.1).count();
        let these = self.times[first..first + count].iter();
        these.map(|&(begin, _, owner)| (begin, owner))
    }

    /// Is a range free of owners other than `mine`?
    #[inline]
    pub(super) fn is_free(&self, range: Range, mine: impl Fn(Owner) -> bool) -> bool {
        if self.times.last().is_none_or(|last| last.1 <= range.0) {
            return true;
        }
        // The next query mostly falls into the same range.
        if let Some(&(begin, end, owner)) = self.times.get(self.last.get().wrapping_sub(1))
            && (begin..end).contains(&range.0)
            && !mine(owner)
        {
            return false;
        }
        let mut at = self.first(range);
        while let Some(&(begin, _, owner)) = self.times.get(at) {
            if begin >= range.1 {
                return true;
            }
            if !mine(owner) {
                return false;
            }
            at += 1;
        }
        true
    }

    /// Reserves the usual capacity.
    fn begin(&mut self) {
        if self.times.capacity() == 0 {
            self.times.reserve(MANY);
        }
    }

    /// Occupies a range, replacing the entry that begins with it.
    pub(super) fn insert(&mut self, (start, end): Range, owner: Owner) {
        self.begin();
        let at = self.place(start);
        match self.times.get_mut(at) {
            Some(time) if time.0 == start => *time = (start, end, owner),
            _ => self.times.insert(at, (start, end, owner)),
        }
    }

    /// Occupies a range, replacing all entries within it.
    pub(super) fn cover(&mut self, range: Range, owner: Owner) {
        self.begin();
        if self.times.last().is_none_or(|last| last.1 <= range.0) {
            self.times.push((range.0, range.1, owner));
            self.last.set(self.times.len());
            return;
        }
        let first = self.first(range);
        let behind = self.times[first..].iter();
        let count = behind.take_while(|&&(begin, ..)| begin < range.1).count();
        let time = (range.0, range.1, owner);
        if count == 0 {
            self.times.insert(first, time);
        } else {
            self.times[first] = time;
            self.times.drain(first + 1..first + count);
        }
    }

    /// Removes the entry that begins at a point.
    pub(super) fn remove(&mut self, start: u32) {
        let at = self.place(start);
        if self.times.get(at).is_some_and(|time| time.0 == start) {
            self.times.remove(at);
        }
    }
}
