//! The allocator of the arena: first-fit on offsets, in three parts, with unallocated bytes behind
//! each allocation, and a record of allocations. Independent of host memory.

use std::collections::{BTreeMap, VecDeque};

use super::Purpose;

/// Unallocated bytes behind an allocation: a moderate overrun does not reach the next one. Not a
/// multiple of a page, so that buffers of a power of two do not all begin at the same place of a
/// page, where they would compete for the same lines of the host's first cache.
pub(super) const GAP: u64 = (64 << 10) + 256;

/// The same in an arena without room for [`GAP`], and behind structures of the dispatcher.
pub(super) const RED_ZONE: u64 = 256;

/// Every allocation begins at a multiple of this.
pub(super) const MIN_ALIGN: u64 = 256;

/// Size of the part that kernels may only read, and its share of smaller arenas.
const MAX_READ_ONLY: u64 = 128 << 20;
const READ_ONLY_SHARE: u64 = 32;

/// Maximum size of the part for queues and writable code objects, and its share of smaller arenas.
const MAX_SYSTEM: u64 = 256 << 20;
const SYSTEM_SHARE: u64 = 16;

/// A part of the arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Code and kernel arguments, which kernels may only read: the lowest part.
    ReadOnly,
    /// Queues, code objects with writable data, and what the first part has no room for. An overrun
    /// of a buffer does not reach it.
    System,
    /// Everything else, and what the other parts have no room for.
    Data,
}

impl Part {
    /// Where an allocation is put, and the unallocated bytes behind it.
    const fn of(purpose: Purpose) -> (Part, u64) {
        match purpose {
            Purpose::Code => (Part::ReadOnly, GAP),
            Purpose::Arguments | Purpose::Structure => (Part::ReadOnly, RED_ZONE),
            Purpose::System => (Part::System, GAP),
            Purpose::Data | Purpose::Buffer | Purpose::Sparse => (Part::Data, GAP),
        }
    }
}

/// An allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// Offset of the first byte.
    pub(super) start: u64,
    /// Requested size in bytes.
    pub(super) len: u64,
}

impl Block {
    /// Bytes that may be accessed: whole dwords, since compilers read a dword that begins inside.
    pub(super) const fn extent(self) -> u64 {
        self.start + self.len.next_multiple_of(4)
    }

    /// First byte after `gap` unallocated bytes behind it.
    const fn reserved_end(self, gap: u64) -> u64 {
        (self.start + self.len).next_multiple_of(MIN_ALIGN) + gap
    }
}

/// Origin of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) block: Block,
    /// First byte after the unallocated bytes behind it.
    pub(super) end: u64,
    /// Its bytes may not be zero: it lies (in part) where an earlier allocation was, or where a
    /// guest may write without an allocation.
    pub(super) used_before: bool,
}

/// Size of an allocation, its end with the unallocated bytes behind it, and what it is for.
#[derive(Clone, Copy, Debug)]
struct Entry {
    len: u64,
    end: u64,
    purpose: Purpose,
}

/// The free space of a part.
#[derive(Debug)]
struct Zone {
    /// Offset behind the part.
    end: u64,
    /// Nothing at or above was ever allocated.
    fresh: u64,
    /// Holes below `fresh`: offset to length, coalesced.
    holes: BTreeMap<u64, u64>,
}

/// The allocations of an arena of `len` bytes.
#[derive(Debug)]
pub(super) struct Table {
    len: u64,
    /// By [`Part`].
    zones: [Zone; 3],
    live: BTreeMap<u64, Entry>,
    /// Freed, for messages; overwritten when reused.
    freed: BTreeMap<u64, Entry>,
    quarantine: Quarantine,
}

/// Data that was freed and is not reused yet, so that accesses to it are known as such.
#[derive(Debug, Default)]
struct Quarantine {
    /// The most bytes; 0 for none at all.
    most: u64,
    bytes: u64,
    /// Offset and end, in the order in which they were freed.
    blocks: VecDeque<(u64, u64)>,
}

impl Quarantine {
    /// Adds a block, and removes those that must leave for it.
    fn add(&mut self, start: u64, end: u64) -> impl Iterator<Item = (u64, u64)> {
        self.bytes += end - start;
        self.blocks.push_back((start, end));
        std::iter::from_fn(move || (self.bytes > self.most).then(|| self.remove())?)
    }

    /// Removes the oldest block.
    fn remove(&mut self) -> Option<(u64, u64)> {
        let (start, end) = self.blocks.pop_front()?;
        self.bytes -= end - start;
        Some((start, end))
    }
}

impl Zone {
    fn new(start: u64, end: u64) -> Zone {
        Zone {
            end,
            fresh: start,
            holes: BTreeMap::new(),
        }
    }

    /// Takes space for a block that `place` gives for the first offset that it may have; the flag
    /// is set if the space was used before.
    fn take(&mut self, gap: u64, place: impl Fn(u64) -> Option<Block>) -> Option<(Block, bool)> {
        let hole = self.holes.iter().find_map(|(&from, &size)| {
            let block = place(from)?;
            (block.reserved_end(gap) <= from + size).then_some((from, size, block))
        });
        if let Some((from, size, block)) = hole {
            self.holes.remove(&from);
            if block.start > from {
                self.holes.insert(from, block.start - from);
            }
            let (used, end) = (block.reserved_end(gap), from + size);
            if used < end {
                self.holes.insert(used, end - used);
            }
            return Some((block, true));
        }
        let block = place(self.fresh)?;
        if block.reserved_end(gap) > self.end {
            return None;
        }
        if block.start > self.fresh {
            self.holes.insert(self.fresh, block.start - self.fresh);
        }
        self.fresh = block.reserved_end(gap);
        Some((block, false))
    }

    /// Takes space back.
    fn give(&mut self, mut from: u64, mut to: u64) {
        if let Some((&before, &size)) = self.holes.range(..from).next_back()
            && before + size == from
        {
            self.holes.remove(&before);
            from = before;
        }
        if let Some(&size) = self.holes.get(&to) {
            self.holes.remove(&to);
            to += size;
        }
        self.holes.insert(from, to - from);
    }
}

/// Gives space back to its part.
fn give(zones: &mut [Zone], start: u64, end: u64) {
    let zone = zones.iter_mut().find(|zone| start < zone.end);
    zone.expect("bug: an allocation behind the arena")
        .give(start, end);
}

impl Table {
    /// `quarantine` bytes of freed data are not reused as long as there is other space.
    pub(super) fn new(len: u64, quarantine: u64) -> Table {
        let share = |most: u64, share: u64| (len / share).min(most) / MIN_ALIGN * MIN_ALIGN;
        let read_only = share(MAX_READ_ONLY, READ_ONLY_SHARE);
        let system = read_only + share(MAX_SYSTEM, SYSTEM_SHARE);
        Table {
            len,
            zones: [
                Zone::new(0, read_only),
                Zone::new(read_only, system),
                Zone::new(system, len),
            ],
            live: BTreeMap::new(),
            freed: BTreeMap::new(),
            quarantine: Quarantine {
                most: quarantine,
                ..Quarantine::default()
            },
        }
    }

    /// Size of [`Part::ReadOnly`], which begins at offset 0.
    pub(super) fn read_only(&self) -> u64 {
        self.zones[Part::ReadOnly as usize].end
    }

    /// Allocates `len` bytes at a multiple of `align` (a power of two) relative to an arena that
    /// begins at `base`, with unallocated bytes behind them: as many as the purpose asks for, where
    /// there is room for so many.
    pub(super) fn alloc(
        &mut self,
        (base, purpose): (u64, Purpose),
        len: u64,
        align: u64,
    ) -> Option<Placed> {
        let (part, gap) = Part::of(purpose);
        let align = align.max(MIN_ALIGN);
        let all = self.len;
        let place = |from: u64| -> Option<Block> {
            let start = base.checked_add(from)?.checked_next_multiple_of(align)? - base;
            // Sizes near the end of the number range must not wrap in sums.
            (len <= all && start <= all).then_some(Block { start, len })
        };
        let others = match part {
            Part::ReadOnly => Some((Part::System, gap)),
            Part::System | Part::Data => None,
        };
        let last = [(Part::Data, gap), (Part::Data, RED_ZONE)];
        let tries = [(part, gap)].into_iter().chain(others).chain(last);
        let mut taken = self.take(tries.clone(), place);
        if taken.is_none() && self.end_quarantine() {
            taken = self.take(tries, place);
        }
        let (block, used, part, gap) = taken?;
        let used_before = used || part != Part::Data;
        Some(self.note(block, block.reserved_end(gap), purpose, used_before))
    }

    /// Takes space in the first of these parts that has room, with so many bytes behind it; the flag is set if the space was
    /// used before.
    fn take(
        &mut self,
        mut parts: impl Iterator<Item = (Part, u64)>,
        place: impl Fn(u64) -> Option<Block> + Copy,
    ) -> Option<(Block, bool, Part, u64)> {
        parts.find_map(|(part, gap)| {
            let (block, used) = self.zones[part as usize].take(gap, place)?;
            Some((block, used, part, gap))
        })
    }

    /// Allocates `len` bytes at the offset `start`, a multiple of [`MIN_ALIGN`]; `None` if something is
    /// allocated there or the arena has no such place.
    pub(super) fn alloc_at(&mut self, purpose: Purpose, start: u64, len: u64) -> Option<Placed> {
        if !start.is_multiple_of(MIN_ALIGN) || len > self.len || start > self.len {
            return None;
        }
        let part = self.zones.iter().position(|zone| start < zone.end)?;
        let place = |from: u64| (from <= start).then_some(Block { start, len });
        let mut taken = self.zones[part].take(RED_ZONE, place);
        if taken.is_none() && self.end_quarantine() {
            taken = self.zones[part].take(RED_ZONE, place);
        }
        let (block, used) = taken?;
        let used_before = used || part != Part::Data as usize;
        Some(self.note(block, block.reserved_end(RED_ZONE), purpose, used_before))
    }

    /// Notes an allocation. Parts other than the data are below it, so guests, or only the host, may
    /// write to their free space.
    fn note(&mut self, block: Block, end: u64, purpose: Purpose, used_before: bool) -> Placed {
        let covered: Vec<u64> = self
            .freed
            .range(..end)
            .rev()
            .take_while(|(_, entry)| entry.end > block.start)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            self.freed.remove(&start);
        }
        let len = block.len;
        self.live.insert(block.start, Entry { len, end, purpose });
        Placed {
            block,
            end,
            used_before,
        }
    }

    /// Takes the allocation at `start` back.
    pub(super) fn free(&mut self, start: u64) -> Option<Block> {
        let entry = self.live.remove(&start)?;
        self.freed.insert(start, entry);
        if matches!(entry.purpose, Purpose::Data | Purpose::Buffer) {
            for (start, end) in self.quarantine.add(start, entry.end) {
                give(&mut self.zones, start, end);
            }
        } else {
            give(&mut self.zones, start, entry.end);
        }
        Some(Block {
            start,
            len: entry.len,
        })
    }

    /// Allows all freed space to be reused; was there any that was not?
    fn end_quarantine(&mut self) -> bool {
        let any = !self.quarantine.blocks.is_empty();
        while let Some((start, end)) = self.quarantine.remove() {
            give(&mut self.zones, start, end);
        }
        any
    }

    /// The live allocation at or before `offset`.
    pub(super) fn at_or_before(&self, offset: u64) -> Option<Block> {
        let (&start, entry) = self.live.range(..=offset).next_back()?;
        Some(Block {
            start,
            len: entry.len,
        })
    }

    /// The live allocation that `offset` lies in, and what it is for.
    pub(super) fn around(&self, offset: u64) -> Option<(Block, Purpose)> {
        let (start, entry) = self.live.range(..=offset).next_back()?;
        let block = block_of((start, entry));
        (offset < block.extent()).then_some((block, entry.purpose))
    }

    /// Do all of `len` bytes at `offset` belong to one live allocation?
    pub(super) fn covers(&self, offset: u64, len: u64) -> bool {
        self.at_or_before(offset)
            .is_some_and(|block| offset < block.extent() && block.extent() - offset >= len)
    }

    /// The allocation, live or freed, nearest to `offset`; the flag is set if it is freed. On a tie
    /// a live one wins.
    pub(super) fn nearest(&self, offset: i128) -> Option<(Block, bool)> {
        let distance = |block: Block| {
            let (start, end) = (i128::from(block.start), i128::from(block.start + block.len));
            (start - offset).max(offset - end + 1).max(0)
        };
        let around = |map: &BTreeMap<u64, Entry>| {
            let key = u64::try_from(offset.max(0)).unwrap_or(u64::MAX);
            let before = map.range(..=key).next_back();
            let after = map.range(key..).next();
            [before, after]
                .into_iter()
                .flatten()
                .map(block_of)
                .min_by_key(|&block| distance(block))
        };
        let live = around(&self.live).map(|block| (block, false));
        let freed = around(&self.freed).map(|block| (block, true));
        [live, freed]
            .into_iter()
            .flatten()
            .min_by_key(|&(block, freed)| (distance(block), freed))
    }

    /// The live allocations in ascending order.
    pub(super) fn live(&self) -> impl Iterator<Item = Block> {
        self.live.iter().map(block_of)
    }

    /// Bytes in live allocations.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live.values().map(|entry| entry.len).sum()
    }
}

fn block_of((&start, entry): (&u64, &Entry)) -> Block {
    Block {
        start,
        len: entry.len,
    }
}

#[cfg(test)]
mod tests;
