//! Which bytes of guest memory a dispatch reads and writes. Checked mode only, where every access is announced.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::fault::Access;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// One bit for each byte of a page.
type Bits = [u64; PAGE as usize / 64];

/// The bytes that were read and written: those that a kernel's loads, stores and atomics reached in buffers, arguments
/// and registered host memory. LDS and scratch are not among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// By number of the page.
    pages: BTreeMap<u64, Page>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Page {
    read: Bits,
    written: Bits,
}

/// A byte that one dispatch writes and another one reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The byte's address, the lowest of all.
    pub address: u64,
    /// What the first one does: [`Access::Write`] if it writes the byte, else [`Access::Read`].
    pub first: Access,
    /// What the second one does.
    pub second: Access,
}

impl Page {
    fn new() -> Page {
        Page {
            read: [0; PAGE as usize / 64],
            written: [0; PAGE as usize / 64],
        }
    }
}

impl Accesses {
    /// Records an access; an atomic reads and writes.
    fn add(&mut self, access: Access, address: u64, bytes: u64) {
        let (reads, writes) = match access {
            Access::Read => (true, false),
            Access::Write => (false, true),
            Access::Atomic => (true, true),
            Access::Execute => return,
        };
        for byte in (0..bytes).map(|n| address.wrapping_add(n)) {
            let page = self.pages.entry(byte / PAGE).or_insert_with(Page::new);
            let (word, bit) = ((byte % PAGE / 64) as usize, 1 << (byte % 64));
            page.read[word] |= if reads { bit } else { 0 };
            page.written[word] |= if writes { bit } else { 0 };
        }
    }

    /// The lowest byte that one of two dispatches writes and the other one reads or writes. Without one, they may run
    /// in any order or at the same time, on memory of their own, and what they wrote can be put together.
    pub fn conflict(&self, other: &Accesses) -> Option<Conflict> {
        let both = self.pages.iter();
        let mut both =
            both.filter_map(|(&number, page)| Some((number, page, other.pages.get(&number)?)));
        both.find_map(|(number, a, b)| {
            (0..a.read.len()).find_map(|word| {
                let [first, second] = [a, b].map(|page| (page.read[word], page.written[word]));
                let met = first.1 & (second.0 | second.1) | second.1 & first.0;
                let bit = met.trailing_zeros();
                let kind = |written: u64| match written >> bit & 1 {
                    1 => Access::Write,
                    _ => Access::Read,
                };
                (met != 0).then(|| Conflict {
                    address: number * PAGE + 64 * word as u64 + u64::from(bit),
                    first: kind(first.1),
                    second: kind(second.1),
                })
            })
        })
    }

    /// Adds another dispatch's.
    pub fn join(&mut self, other: &Accesses) {
        for (&number, other) in &other.pages {
            let page = self.pages.entry(number).or_insert_with(Page::new);
            for (to, from) in [
                (&mut page.read, &other.read),
                (&mut page.written, &other.written),
            ] {
                to.iter_mut().zip(from).for_each(|(to, from)| *to |= from);
            }
        }
    }

    /// The number of bytes that were written.
    pub fn bytes_written(&self) -> u64 {
        let words = self.pages.values().flat_map(|page| page.written);
        words.map(|word| u64::from(word.count_ones())).sum()
    }
}

/// Records accesses on request.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    on: AtomicBool,
    found: Mutex<Accesses>,
}

impl Recorder {
    /// Begins to record.
    pub(super) fn begin(&self) {
        *self.found.lock().expect("no holder of the lock panics") = Accesses::default();
        self.on.store(true, Relaxed);
    }

    /// What was recorded since; records no more.
    pub(super) fn end(&self) -> Accesses {
        self.on.store(false, Relaxed);
        std::mem::take(&mut *self.found.lock().expect("no holder of the lock panics"))
    }

    /// An access that is permitted.
    pub(super) fn note(&self, access: Access, address: u64, bytes: u64) {
        if self.on.load(Relaxed) {
            let mut found = self.found.lock().expect("no holder of the lock panics");
            found.add(access, address, bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accesses(list: &[(Access, u64, u64)]) -> Accesses {
        let mut all = Accesses::default();
        list.iter()
            .for_each(|&(access, at, bytes)| all.add(access, at, bytes));
        all
    }

    #[test]
    fn reads_do_not_conflict() {
        let a = accesses(&[(Access::Read, 4090, 16), (Access::Write, 0, 4)]);
        let b = accesses(&[(Access::Read, 4090, 16), (Access::Write, 4, 4)]);
        assert_eq!(a.conflict(&b), None);
        assert_eq!(a.bytes_written(), 4);
    }

    #[test]
    fn the_lowest_byte_is_found() {
        let a = accesses(&[(Access::Write, 8190, 4), (Access::Read, 70, 2)]);
        let b = accesses(&[(Access::Read, 8193, 1), (Access::Atomic, 9000, 4)]);
        let found = Conflict {
            address: 8193,
            first: Access::Write,
            second: Access::Read,
        };
        assert_eq!(a.conflict(&b), Some(found));
        let turned = Conflict {
            first: Access::Read,
            second: Access::Write,
            ..found
        };
        assert_eq!(b.conflict(&a), Some(turned));
    }

    #[test]
    fn atomics_on_one_word_conflict() {
        let a = accesses(&[(Access::Atomic, 64, 4)]);
        let conflict = a.conflict(&a).expect("both write it");
        assert_eq!(
            (conflict.address, conflict.first, conflict.second),
            (64, Access::Write, Access::Write)
        );
    }
}
