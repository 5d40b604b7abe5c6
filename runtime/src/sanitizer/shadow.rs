//! The records of all bytes of a memory. Granules of 64 bytes have one record while all their bytes have the same, so
//! that accesses of adjacent lanes cost a few words for the wave; others have one for each dword, and dwords that are
//! accessed in parts have one for each byte.

use std::collections::HashMap;
use std::ops::Range;

use super::addresses::Addresses;
use super::order::Order;
use super::record::{AccessKind, Accessor, Conflict, Record};
use super::running::Running;

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Bytes of a granule.
const GRANULE: u64 = 64;
/// Bytes of a word.
const WORD: u64 = 4;
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
struct Page {
    granules: [Record; (PAGE / GRANULE) as usize],
    /// Which granules have records for each dword.
    split: u64,
    words: Box<[Record]>,
    /// Which dwords have records for each byte.
    split_words: Box<[u64]>,
    bytes: Box<[Record]>,
}

impl Default for Page {
    fn default() -> Page {
        Page {
            granules: [Record::NONE; (PAGE / GRANULE) as usize],
            split: 0,
            words: Box::default(),
            split_words: Box::default(),
            bytes: Box::default(),
        }
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
    pub(super) order: &'o Order,
}

impl<'o> How<'o> {
    /// That of an access to global memory by a workgroup.
    pub(super) fn global(
        kind: AccessKind,
        by: Accessor,
        group: &Running,
        order: &'o Order,
    ) -> Self {
        How {
            kind,
            by,
            first: group.dispatch.first,
            round: None,
            order,
        }
    }

    /// That of an access to LDS by a wave of a workgroup.
    pub(super) fn lds(
        kind: AccessKind,
        by: Accessor,
        (group, wave): (&Running, u32),
        order: &'o Order,
    ) -> Self {
        How {
            kind,
            by,
            first: group.first,
            round: group.round(wave as u8),
            order,
        }
    }

    /// Would the access change nothing in a record, and conflict with nothing?
    #[inline]
    fn is_settled(&self, record: Record) -> bool {
        let read = self.kind == AccessKind::Read;
        let by_waves = |round| read && record.is_read_by_waves_since(round);
        record.is_settled(self.kind, self.by, self.first) || self.round.is_some_and(by_waves)
    }

    /// Accesses what a record is for.
    #[inline]
    fn update(&self, record: &mut Record, met: &mut impl FnMut(Met)) {
        if self.is_settled(*record) {
            return;
        }
        let follow = |round| record.follow(self.kind, self.by, round);
        if record.is_since(self.first)
            && let Some(next) = self.round.and_then(follow)
        {
            *record = next;
            return;
        }
        if self.kind != AccessKind::Write && !record.is_since(self.first) {
            met(Met::Unwritten);
        }
        let (next, conflict) = record.access(self.kind, self.by, self.first, self.order);
        *record = next;
        if let Some(conflict) = conflict {
            met(Met::Conflict(conflict));
        }
    }
}

impl Page {
    /// Accesses bytes of the page.
    fn access(&mut self, range: Range<u64>, how: &How<'_>, met: &mut impl FnMut(u64, Met)) {
        let mut at = range.start;
        while at < range.end {
            let granule = at / GRANULE;
            let start = granule * GRANULE;
            let end = range.end.min(start + GRANULE);
            let whole = end - at == GRANULE;
            let n = granule as usize;
            if self.split >> n & 1 == 0 {
                let record = &mut self.granules[n];
                if whole {
                    how.update(record, &mut |what| met(at, what));
                } else if !how.is_settled(*record) {
                    self.split_granule(n);
                }
            }
            if self.split >> n & 1 != 0 {
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
            if !self.is_split(n) {
                let record = &mut self.words[n];
                if whole {
                    how.update(record, &mut |what| met(at, what));
                } else if !how.is_settled(*record) {
                    self.split_word(n);
                }
            }
            if self.is_split(n) {
                for byte in at..end {
                    how.update(&mut self.bytes[byte as usize], &mut |what| met(byte, what));
                }
                if whole {
                    self.join_word(n);
                }
            }
            at = end;
        }
    }

    fn is_split(&self, word: usize) -> bool {
        let words = self.split_words.get(word / 64);
        words.is_some_and(|words| words >> (word % 64) & 1 != 0)
    }

    #[cold]
    fn split_granule(&mut self, n: usize) {
        if self.words.is_empty() {
            self.words = vec![Record::NONE; WORDS].into_boxed_slice();
        }
        let per = (GRANULE / WORD) as usize;
        self.words[n * per..][..per].fill(self.granules[n]);
        self.split |= 1 << n;
    }

    #[cold]
    fn split_word(&mut self, n: usize) {
        if self.bytes.is_empty() {
            self.bytes = vec![Record::NONE; PAGE as usize].into_boxed_slice();
            self.split_words = vec![0; WORDS / 64].into_boxed_slice();
        }
        let per = WORD as usize;
        self.bytes[n * per..][..per].fill(self.words[n]);
        self.split_words[n / 64] |= 1 << (n % 64);
    }

    /// Restores the granule's single record if the records of its words are equal.
    fn join_granule(&mut self, n: usize) {
        let per = (GRANULE / WORD) as usize;
        let words = n * per..(n + 1) * per;
        let parts = words.clone().any(|word| self.is_split(word));
        let words = &self.words[words];
        if !parts && words.iter().all(|record| *record == words[0]) {
            self.granules[n] = words[0];
            self.split &= !(1 << n);
        }
    }

    fn join_word(&mut self, n: usize) {
        let per = WORD as usize;
        let bytes = &self.bytes[n * per..][..per];
        if bytes.iter().all(|record| *record == bytes[0]) {
            self.words[n] = bytes[0];
            self.split_words[n / 64] &= !(1 << (n % 64));
        }
    }

    /// The record of a byte.
    fn get(&self, byte: u64) -> Record {
        let (granule, word) = ((byte / GRANULE) as usize, (byte / WORD) as usize);
        if self.split >> granule & 1 == 0 {
            self.granules[granule]
        } else if self.is_split(word) {
            self.bytes[byte as usize]
        } else {
            self.words[word]
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
    pages: Vec<Option<Box<Page>>>,
    /// By the page's number: what is elsewhere.
    others: HashMap<u64, Box<Page>>,
}

impl Shadow {
    /// Of a memory in which most accesses are to the `len` bytes from `base` on, which begin a page.
    pub(super) fn new(base: u64, len: u64) -> Shadow {
        Shadow {
            base,
            len,
            ..Shadow::default()
        }
    }

    fn page(&mut self, address: u64) -> &mut Page {
        let offset = address.wrapping_sub(self.base);
        if offset >= self.len {
            return self.others.entry(address / PAGE).or_default();
        }
        let n = (offset / PAGE) as usize;
        if n >= self.pages.len() {
            self.pages.resize_with(n + 1, || None);
        }
        self.pages[n].get_or_insert_default()
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

    /// The active lanes whose accesses may change a record, conflict with another one, or are not within `inside`. Most loads are
    /// repeated, so that none is left.
    pub(super) fn unsettled(
        &self,
        (addresses, bytes): (&Addresses<'_>, u64),
        exec: u64,
        how: &How<'_>,
        inside: (u64, u64),
    ) -> u64 {
        let (mut lanes, mut left) = (exec, 0);
        // The address before, and if its access is settled; a granule in which all are.
        let (mut last, mut is_settled) = (u64::MAX, false);
        let mut granule = u64::MAX;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let address = addresses.get(lane, bytes);
            if address != last {
                last = address;
                let is_inside = address >= inside.0 && address.wrapping_add(bytes) <= inside.1;
                let whole = address / GRANULE == granule && address % GRANULE + bytes <= GRANULE;
                is_settled = is_inside
                    && (whole || {
                        let (all, this) = self.is_settled(address, bytes, how);
                        granule = if all { address / GRANULE } else { u64::MAX };
                        this
                    });
            }
            left |= u64::from(!is_settled) << lane;
        }
        left
    }

    /// Is an access settled: one to any part of its granule, and this one?
    fn is_settled(&self, address: u64, bytes: u64, how: &How<'_>) -> (bool, bool) {
        let within = address % PAGE;
        if address % GRANULE + bytes > GRANULE {
            return (false, false);
        }
        let Some(page) = self.known_page(address) else {
            return (false, false);
        };
        let n = (within / GRANULE) as usize;
        if page.split >> n & 1 == 0 {
            let settled = how.is_settled(page.granules[n]);
            return (settled, settled);
        }
        let words = within / WORD..(within + bytes).div_ceil(WORD);
        let settled = words.into_iter().all(|word| {
            let word = word as usize;
            !page.is_split(word) && how.is_settled(page.words[word])
        });
        (false, settled)
    }

    fn known_page(&self, address: u64) -> Option<&Page> {
        let offset = address.wrapping_sub(self.base);
        match offset < self.len {
            true => self.pages.get((offset / PAGE) as usize)?.as_deref(),
            false => self.others.get(&(address / PAGE)).map(Box::as_ref),
        }
    }

    /// The record of a byte.
    pub(super) fn get(&self, address: u64) -> Record {
        let page = self.known_page(address);
        page.map_or(Record::NONE, |page| page.get(address % PAGE))
    }
}
