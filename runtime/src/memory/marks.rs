//! Marks: a pattern in the bytes behind buffers, by which writes to them are found afterwards.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::table::{Block, Placed};
use super::{LARGE, Memory, copy};

/// Size of the pages that are committed for marks. Where the host's are larger, marks may end
/// before their page does.
const PAGE: u64 = 4096;

/// Bytes of the pattern's unit.
const UNIT: u64 = 8;

/// A write behind a buffer, found by its marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Overrun {
    /// Address of the buffer.
    pub start: u64,
    /// Its size.
    pub len: u64,
    /// Distance of the first changed byte from the buffer's end.
    pub past: u64,
    /// Number of changed bytes among the marked ones.
    pub changed: u64,
}

/// The marks of all buffers.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// By the offset of the buffer.
    marked: Mutex<BTreeMap<u64, Marked>>,
    /// Number of them, so that a memory without buffers is checked at no cost.
    count: AtomicUsize,
}

/// A buffer and its marks.
#[derive(Clone, Debug)]
struct Marked {
    block: Block,
    /// Offsets of the marks. The end is a multiple of [`UNIT`].
    at: Range<u64>,
}

impl Marked {
    /// The bytes before the first whole unit.
    fn head(&self) -> Range<u64> {
        self.at.start..self.whole().start
    }

    /// The offsets of whole units.
    fn whole(&self) -> Range<u64> {
        self.at.start.next_multiple_of(UNIT)..self.at.end
    }
}

/// The pattern at an offset in the arena, a multiple of [`UNIT`]. It depends on the offset, so that
/// a guest that writes one value everywhere changes it. As numbers of 32 or 64 bits it is small and
/// not 0, so that a guest that adds something changes it as well.
fn pattern(offset: u64) -> u64 {
    const SMALL: u64 = 0x1a00_0000_1a00_0000;
    const FRACTIONS: u64 = 0x007f_ffff_007f_ffff;
    SMALL | offset.wrapping_mul(0x9e37_79b9_7f4a_7c15) & FRACTIONS
}

/// A byte of the pattern.
fn pattern_byte(offset: u64) -> u8 {
    let unit = offset / UNIT * UNIT;
    pattern(unit).to_le_bytes()[(offset - unit) as usize]
}

impl Marks {
    fn add(&self, marked: Marked) {
        let mut all = self.marked.lock().expect("no holder of the lock panics");
        all.insert(marked.block.start, marked);
        self.count.store(all.len(), Relaxed);
    }

    /// The buffer at this offset is freed.
    pub(super) fn remove(&self, start: u64) {
        if self.count.load(Relaxed) != 0 {
            let mut all = self.marked.lock().expect("no holder of the lock panics");
            all.remove(&start);
            self.count.store(all.len(), Relaxed);
        }
    }
}

impl Memory {
    /// Marks the bytes behind a buffer: to the end of its last page and the page after that.
    pub(super) fn mark(&self, placed: Placed) {
        let block = placed.block;
        let from = block.extent();
        let to = (from.next_multiple_of(PAGE) + PAGE).min(placed.end);
        if block.len >= LARGE {
            self.no_large_page(from, to);
        }
        let marked = Marked {
            block,
            at: from..to,
        };
        self.write_marks(&marked);
        self.marks.add(marked);
    }

    /// A large page behind a large buffer would commit memory for a few marks.
    fn no_large_page(&self, from: u64, to: u64) {
        #[cfg(target_os = "linux")]
        if let Some(map) = self.map.advisable() {
            let (start, end) = (from.next_multiple_of(PAGE), to.next_multiple_of(PAGE));
            // Refusal costs memory, not correctness.
            let advice = memmap2::Advice::NoHugePage;
            let _ = map.advise_range(advice, start as usize, (end - start) as usize);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (from, to);
    }

    fn write_marks(&self, marked: &Marked) {
        for offset in marked.head() {
            copy::copy_in(self.arena_ptr(offset), &[pattern_byte(offset)]);
        }
        for offset in marked.whole().step_by(UNIT as usize) {
            copy::store_word(self.arena_ptr(offset), pattern(offset).to_le());
        }
    }

    /// Looks for writes behind the buffers ([`Purpose::Buffer`](super::Purpose::Buffer)) since the
    /// last call, and restores the marks, so that each is found once. The one behind the buffer
    /// with the lowest address is returned. Takes about 0.5 us for each buffer. What is found may
    /// be of any kernel that ran, or of a host that wrote to gaps.
    pub fn check_marks(&self) -> Option<Overrun> {
        if self.marks.count.load(Relaxed) == 0 {
            return None;
        }
        let all = self
            .marks
            .marked
            .lock()
            .expect("no holder of the lock panics");
        let mut found = None;
        for marked in all.values() {
            if self.is_intact(marked) {
                continue;
            }
            let overrun = self.overrun(marked);
            self.write_marks(marked);
            found = found.or(overrun);
        }
        found
    }

    /// Are the marks as they were written?
    fn is_intact(&self, marked: &Marked) -> bool {
        let units = marked.whole().step_by(UNIT as usize);
        let changed = units.fold(0, |sum, offset| {
            sum | copy::load_word(self.arena_ptr(offset)) ^ pattern(offset).to_le()
        });
        changed == 0 && self.changed(marked.head()).next().is_none()
    }

    /// The offsets of changed bytes.
    fn changed(&self, range: Range<u64>) -> impl Iterator<Item = u64> {
        range.filter(|&offset| {
            let mut byte = [0];
            copy::copy_out(self.arena_ptr(offset), &mut byte);
            byte != [pattern_byte(offset)]
        })
    }

    /// What was written. `None` if the bytes have regained the pattern, which a guest that is running
    /// may have written.
    fn overrun(&self, marked: &Marked) -> Option<Overrun> {
        let block = marked.block;
        let mut changed = self.changed(marked.at.clone());
        let first = changed.next()?;
        Some(Overrun {
            start: self.base + block.start,
            len: block.len,
            past: first - (block.start + block.len),
            changed: 1 + changed.count() as u64,
        })
    }
}

#[cfg(test)]
mod tests;
