//! The records of all bytes of a memory. Granules of 64 bytes have one record while all their bytes have the same, so
//! that accesses of adjacent lanes cost a few words for the wave; others have one for each dword, and dwords that are
//! accessed in parts have one for each byte.
//!
//! Records of a page are in tables of zeroes at first, of which the host provides memory where they are used.

use std::collections::HashMap;
use std::ops::Range;

use frontend::LANES;

use super::WORD;
use super::order::Order;
use super::record::{AccessKind, Accessor, Conflict, Record};
use super::running::Running;
use super::sites::Uses;
use super::state::By;

/// Bytes of a page, as many as LDS has at least.
const PAGE: u64 = 1 << 18;
/// Bytes of a granule.
const GRANULE: u64 = 64;
const GRANULES: usize = (PAGE / GRANULE) as usize;
const WORDS: usize = (PAGE / WORD) as usize;

/// What an access met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Met {
    /// A conflict.
    Conflict(Conflict),
    /// A read of what was not accessed since the first interval that counts.
    Unwritten,
}

/// Records of a page.
#[derive(Default)]
struct Page {
    /// Empty if nothing of the page was accessed, as the other tables.
    granules: Table,
    /// Which granules have records for each dword.
    split: Bits,
    words: Table,
    /// Which dwords have records for each byte.
    split_words: Bits,
    bytes: Table,
}

/// Records.
#[derive(Default)]
struct Table(Vec<u64>);

impl Table {
    /// Makes it if it is empty.
    fn make(&mut self, len: usize) {
        if self.0.is_empty() {
            // Zeroes are no records, and take no memory until they change.
            self.0 = vec![0; len];
        }
    }

    fn get(&self, n: usize) -> Record {
        Record::from_bits(self.0[n])
    }

    fn set(&mut self, n: usize, record: Record) {
        self.0[n] = record.bits();
    }

    fn fill(&mut self, range: Range<usize>, record: Record) {
        self.0[range].fill(record.bits());
    }

    /// The record of a range if it has only one.
    fn common(&self, range: Range<usize>) -> Option<Record> {
        let records = &self.0[range];
        let first = records[0];
        let same = records.iter().all(|&record| record == first);
        same.then(|| Record::from_bits(first))
    }
}

/// A set of numbers.
#[derive(Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn make(&mut self, len: usize) {
        if self.0.is_empty() {
            self.0 = vec![0; len / 64];
        }
    }

    #[inline]
    fn has(&self, n: usize) -> bool {
        self.0
            .get(n / 64)
            .is_some_and(|bits| bits >> (n % 64) & 1 != 0)
    }

    fn insert(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    /// Has it one of the numbers, which are of one word of the set?
    fn has_any(&self, range: Range<usize>) -> bool {
        let mask = u64::MAX >> (64 - range.len());
        let bits = self.0.get(range.start / 64);
        bits.is_some_and(|bits| bits >> (range.start % 64) & mask != 0)
    }
}

/// How memory is accessed.
#[derive(Clone, Copy)]
pub(super) struct How<'o> {
    pub(super) kind: AccessKind,
    pub(super) by: Accessor,
    /// The first interval that counts.
    pub(super) first: u64,
    /// Of LDS, to which only the workgroup has access: its first interval behind the last barrier.
    pub(super) round: Option<u64>,
    /// Reads of what was not accessed before are told.
    pub(super) tells_unwritten: bool,
    /// Earlier intervals from `first` on are of other workgroups of the dispatch, and nothing orders them.
    pub(super) others: u64,
    /// Of LDS: waves learn nothing of one another but by barriers.
    pub(super) only_barriers: bool,
    pub(super) order: &'o Order,
}

impl<'o> How<'o> {
    /// That of an access to global memory by a workgroup.
    pub(super) fn global((access, by): &By<'_>, group: &Running, order: &'o Order) -> Self {
        How {
            kind: access.kind,
            by: *by,
            first: group.dispatch.first,
            round: None,
            tells_unwritten: false,
            others: match order.began_alone() && !order.has_clocks() {
                true => group.first,
                false => 0,
            },
            only_barriers: false,
            order,
        }
    }

    /// That of an access to LDS by a wave of a workgroup.
    pub(super) fn lds(
        (access, by): &By<'_>,
        group: &Running,
        uses: Uses,
        order: &'o Order,
    ) -> Self {
        How {
            kind: access.kind,
            by: *by,
            first: group.first,
            round: group.round(access.wave as u8),
            // Stores may have left no record.
            tells_unwritten: !group.has_skipped,
            others: 0,
            only_barriers: uses.only_barriers(),
            order,
        }
    }

    /// Would the access change nothing in a record, and conflict with nothing?
    #[inline(always)]
    fn is_settled(&self, record: Record) -> bool {
        let read = self.kind == AccessKind::Read;
        let by_waves = |round| read && record.is_read_by_waves_since(round);
        record.is_settled(self.kind, self.by, self.first) || self.round.is_some_and(by_waves)
    }

    /// The record after an access that conflicts with nothing; none if it may.
    #[inline(always)]
    fn follow(&self, record: Record) -> Option<Record> {
        if self.is_settled(record) {
            return Some(record);
        }
        if !record.is_since(self.first) {
            let is_ordinary = !self.tells_unwritten || self.kind == AccessKind::Write;
            return is_ordinary.then(|| Record::first(self.kind, self.by));
        }
        let behind = |round| record.follow(self.kind, self.by, round);
        if let Some(next) = self.round.and_then(behind) {
            return Some(next);
        }
        if record.interval() < self.others {
            return record.read_by_another(self.kind, self.by);
        }
        if record.interval() == self.by.interval
            && let Some(next) = record.own(self.kind, self.by)
        {
            return Some(next);
        }
        if self.only_barriers
            && self.kind == AccessKind::Atomic
            && self.round.is_some_and(|round| record.is_since(round))
            && let Some(next) = record.atomic_again(self.by)
        {
            return Some(next);
        }
        self.follow_far(record)
    }

    /// As [`How::follow`], where the order of intervals matters.
    #[cold]
    fn follow_far(&self, record: Record) -> Option<Record> {
        let (next, conflict) = record.access(self.kind, self.by, self.first, self.order);
        conflict.is_none().then_some(next)
    }

    /// Accesses what a record is for.
    #[inline]
    fn update(&self, record: Record, met: &mut impl FnMut(Met)) -> Record {
        if let Some(next) = self.follow(record) {
            return next;
        }
        if self.tells_unwritten && self.kind != AccessKind::Write && !record.is_since(self.first) {
            met(Met::Unwritten);
        }
        let (next, conflict) = record.access(self.kind, self.by, self.first, self.order);
        if let Some(conflict) = conflict {
            met(Met::Conflict(conflict));
        }
        next
    }
}

impl Page {
    /// Accesses bytes of the page.
    fn access(&mut self, range: Range<u64>, how: &How<'_>, met: &mut impl FnMut(u64, Met)) {
        self.granules.make(GRANULES);
        let mut at = range.start;
        while at < range.end {
            let granule = at / GRANULE;
            let start = granule * GRANULE;
            let end = range.end.min(start + GRANULE);
            let whole = end - at == GRANULE;
            let n = granule as usize;
            if !self.split.has(n) {
                let record = self.granules.get(n);
                if whole {
                    let next = how.update(record, &mut |what| met(at, what));
                    self.granules.set(n, next);
                } else if !how.is_settled(record) {
                    self.split_granule(n);
                }
            }
            if self.split.has(n) {
                self.access_words(at..end, how, met);
                if whole {
                    self.join_granule(n);
                }
            }
            at = end;
        }
    }

    fn access_words(&mut self, range: Range<u64>, how: &How<'_>, met: &mut impl FnMut(u64, Met)) {
        let mut at = range.start;
        while at < range.end {
            let word = at / WORD;
            let end = range.end.min((word + 1) * WORD);
            let n = word as usize;
            let whole = end - at == WORD;
            if !self.split_words.has(n) {
                let record = self.words.get(n);
                if whole {
                    let next = how.update(record, &mut |what| met(at, what));
                    self.words.set(n, next);
                } else if !how.is_settled(record) {
                    self.split_word(n);
                }
            }
            if self.split_words.has(n) {
                for byte in at..end {
                    let n = byte as usize;
                    let record = self.bytes.get(n);
                    let next = how.update(record, &mut |what| met(byte, what));
                    self.bytes.set(n, next);
                }
                if whole {
                    self.join_word(n);
                }
            }
            at = end;
        }
    }

    /// Accesses bytes of the page, unless that may conflict with something or needs other records than there are: then some of
    /// them may have been accessed.
    #[inline(always)]
    fn follow(&mut self, range: Range<u64>, how: &How<'_>) -> bool {
        self.granules.make(GRANULES);
        let mut at = range.start;
        while at < range.end {
            let granule = at / GRANULE;
            let end = range.end.min((granule + 1) * GRANULE);
            let n = granule as usize;
            if self.split.has(n) {
                if !at.is_multiple_of(WORD) || !end.is_multiple_of(WORD) {
                    return false;
                }
                for word in (at / WORD) as usize..(end / WORD) as usize {
                    if self.split_words.has(word) {
                        return false;
                    }
                    let Some(next) = how.follow(self.words.get(word)) else {
                        return false;
                    };
                    self.words.set(word, next);
                }
                if end - at == GRANULE {
                    self.join_granule(n);
                }
            } else {
                let record = self.granules.get(n);
                if end - at == GRANULE {
                    let Some(next) = how.follow(record) else {
                        return false;
                    };
                    self.granules.set(n, next);
                } else if !how.is_settled(record) {
                    return false;
                }
            }
            at = end;
        }
        true
    }

    #[cold]
    fn split_granule(&mut self, n: usize) {
        self.words.make(WORDS);
        self.split.make(GRANULES);
        let per = (GRANULE / WORD) as usize;
        let record = self.granules.get(n);
        self.words.fill(n * per..(n + 1) * per, record);
        self.split.insert(n);
    }

    #[cold]
    fn split_word(&mut self, n: usize) {
        self.bytes.make(PAGE as usize);
        self.split_words.make(WORDS);
        let per = WORD as usize;
        let record = self.words.get(n);
        self.bytes.fill(n * per..(n + 1) * per, record);
        self.split_words.insert(n);
    }

    /// Restores the granule's single record if the records of its words are equal.
    fn join_granule(&mut self, n: usize) {
        let per = (GRANULE / WORD) as usize;
        let words = n * per..(n + 1) * per;
        if self.split_words.has_any(words.clone()) {
            return;
        }
        if let Some(record) = self.words.common(words) {
            self.granules.set(n, record);
            self.split.remove(n);
        }
    }

    fn join_word(&mut self, n: usize) {
        let per = WORD as usize;
        if let Some(record) = self.bytes.common(n * per..(n + 1) * per) {
            self.words.set(n, record);
            self.split_words.remove(n);
        }
    }

    /// The record of a byte.
    fn get(&self, byte: u64) -> Record {
        let (granule, word) = ((byte / GRANULE) as usize, (byte / WORD) as usize);
        if self.granules.0.is_empty() {
            Record::NONE
        } else if !self.split.has(granule) {
            self.granules.get(granule)
        } else if self.split_words.has(word) {
            self.bytes.get(byte as usize)
        } else {
            self.words.get(word)
        }
    }
}

/// The records of a memory.
#[derive(Default)]
pub(super) struct Shadow {
    /// Address of the first of `pages`.
    base: u64,
    /// Bytes from there on that `pages` may have.
    len: u64,
    pages: Vec<Page>,
    /// By the page's number: what is elsewhere.
    others: HashMap<u64, Page>,
}

impl Shadow {
    /// Of a memory in which most accesses are to the `len` bytes from `base` on.
    pub(super) fn new(base: u64, len: u64) -> Shadow {
        let before = base % PAGE;
        Shadow {
            base: base - before,
            len: (before + len).next_multiple_of(PAGE),
            ..Shadow::default()
        }
    }

    #[inline]
    fn page(&mut self, address: u64) -> &mut Page {
        let offset = address.wrapping_sub(self.base);
        if offset >= self.len {
            return self.others.entry(address / PAGE).or_default();
        }
        let n = (offset / PAGE) as usize;
        if n >= self.pages.len() {
            self.pages.resize_with(n + 1, Page::default);
        }
        &mut self.pages[n]
    }

    /// Accesses bytes; `met` is called with addresses.
    pub(super) fn access(
        &mut self,
        address: u64,
        bytes: u64,
        how: &How<'_>,
        met: &mut impl FnMut(u64, Met),
    ) {
        let (mut at, mut left) = (address, bytes);
        while left != 0 {
            let within = at % PAGE;
            let part = left.min(PAGE - within);
            let start = at - within;
            let page = self.page(at);
            page.access(within..within + part, how, &mut |byte, what| {
                met(start + byte, what)
            });
            at = at.wrapping_add(part);
            left -= part;
        }
    }

    /// Accesses bytes if they are within `inside`, conflict with nothing and are an ordinary case; otherwise some of them may have
    /// been accessed.
    #[inline(always)]
    pub(super) fn follow(
        &mut self,
        (address, bytes): (u64, u64),
        how: &How<'_>,
        inside: (u64, u64),
    ) -> bool {
        let within = address % PAGE;
        let end = address.wrapping_add(bytes);
        let is_inside = address >= inside.0 && end <= inside.1 && end >= address;
        is_inside
            && within + bytes <= PAGE
            && self.page(address).follow(within..within + bytes, how)
    }

    /// Makes the accesses of lanes that are within `inside` and the ordinary case, and returns the other lanes.
    #[inline]
    pub(super) fn follow_lanes(
        &mut self,
        address: impl Fn(usize) -> u64,
        (bytes, exec): (u64, u64),
        how: &How<'_>,
        inside: (u64, u64),
    ) -> u64 {
        let (mut lanes, mut left) = (exec, 0);
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            let first = address(lane);
            let active = |lane: usize| lane < LANES && lanes >> lane & 1 != 0;
            // Adjacent lanes with adjacent elements, or with the same one.
            let (mut end, mut last) = (lane + 1, first.wrapping_add(bytes));
            while active(end) && address(end) == last {
                last = last.wrapping_add(bytes);
                end += 1;
            }
            if end == lane + 1 {
                while active(end) && address(end) == first {
                    end += 1;
                }
            }
            let run = lanes & u64::MAX << lane & u64::MAX >> (LANES - end);
            lanes ^= run;
            if !self.follow((first, last.wrapping_sub(first)), how, inside) {
                left |= run;
            }
        }
        left
    }

    fn known_page(&self, address: u64) -> Option<&Page> {
        let offset = address.wrapping_sub(self.base);
        match offset < self.len {
            true => self.pages.get((offset / PAGE) as usize),
            false => self.others.get(&(address / PAGE)),
        }
    }

    /// The record of a byte.
    pub(super) fn get(&self, address: u64) -> Record {
        let page = self.known_page(address);
        page.map_or(Record::NONE, |page| page.get(address % PAGE))
    }
}
