//! The allocator of the arena: first-fit on offsets, with red zones, and a record of allocations.
//! Independent of host memory.

use std::collections::BTreeMap;

/// Unallocated bytes between allocations.
pub(super) const RED_ZONE: u64 = 256;

/// Every allocation begins at a multiple of this.
pub(super) const MIN_ALIGN: u64 = 256;

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

    /// First byte after the red zone.
    const fn reserved_end(self) -> u64 {
        (self.start + self.len).next_multiple_of(MIN_ALIGN) + RED_ZONE
    }
}

/// Origin of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub(super) block: Block,
    /// It lies (in part) where an earlier allocation was, so its bytes may not be zero.
    pub(super) used_before: bool,
}

/// The allocations of an arena of `len` bytes.
#[derive(Debug)]
pub(super) struct Table {
    len: u64,
    /// Nothing at or above was ever allocated.
    fresh: u64,
    live: BTreeMap<u64, u64>,
    /// Freed, for messages; overwritten when reused.
    freed: BTreeMap<u64, u64>,
    /// Holes below `fresh`: offset to length, coalesced.
    holes: BTreeMap<u64, u64>,
}

impl Table {
    pub(super) fn new(len: u64) -> Table {
        Table {
            len,
            fresh: 0,
            live: BTreeMap::new(),
            freed: BTreeMap::new(),
            holes: BTreeMap::new(),
        }
    }

    /// Allocates `len` bytes at a multiple of `align` (a power of two) relative to an arena that
    /// begins at `base`.
    pub(super) fn alloc(&mut self, base: u64, len: u64, align: u64) -> Option<Placed> {
        let align = align.max(MIN_ALIGN);
        let place = |from: u64| -> Option<Block> {
            let start = base.checked_add(from)?.checked_next_multiple_of(align)? - base;
            // Sizes near the end of the number range must not wrap in the checks below.
            (len <= self.len && start <= self.len).then_some(Block { start, len })
        };
        let hole = self.holes.iter().find_map(|(&from, &size)| {
            let block = place(from)?;
            (block.reserved_end() <= from + size).then_some((from, size, block))
        });
        let (block, used_before) = if let Some((from, size, block)) = hole {
            self.holes.remove(&from);
            if block.start > from {
                self.holes.insert(from, block.start - from);
            }
            let end = from + size;
            if block.reserved_end() < end {
                self.holes
                    .insert(block.reserved_end(), end - block.reserved_end());
            }
            (block, true)
        } else {
            let block = place(self.fresh)?;
            if block.reserved_end() > self.len {
                return None;
            }
            if block.start > self.fresh {
                self.holes.insert(self.fresh, block.start - self.fresh);
            }
            self.fresh = block.reserved_end();
            (block, false)
        };
        let covered: Vec<u64> = self
            .freed
            .range(..block.reserved_end())
            .rev()
            .take_while(|&(&start, &len)| Block { start, len }.reserved_end() > block.start)
            .map(|(&start, _)| start)
            .collect();
        for start in covered {
            self.freed.remove(&start);
        }
        self.live.insert(block.start, len);
        Some(Placed { block, used_before })
    }

    /// Takes the allocation at `start` back.
    pub(super) fn free(&mut self, start: u64) -> Option<Block> {
        let len = self.live.remove(&start)?;
        let block = Block { start, len };
        self.freed.insert(start, len);
        let (mut from, mut to) = (start, block.reserved_end());
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
        Some(block)
    }

    /// The live allocation at or before `offset`.
    pub(super) fn at_or_before(&self, offset: u64) -> Option<Block> {
        let (&start, &len) = self.live.range(..=offset).next_back()?;
        Some(Block { start, len })
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
        let around = |map: &BTreeMap<u64, u64>| {
            let key = u64::try_from(offset.max(0)).unwrap_or(u64::MAX);
            let before = map.range(..=key).next_back();
            let after = map.range(key..).next();
            [before, after]
                .into_iter()
                .flatten()
                .map(|(&start, &len)| Block { start, len })
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
        self.live.iter().map(|(&start, &len)| Block { start, len })
    }

    /// Bytes in live allocations.
    pub(super) fn live_bytes(&self) -> u64 {
        self.live.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x7000_0000_0000;

    #[test]
    fn allocations_have_red_zones_between_them() {
        let mut table = Table::new(1 << 20);
        let a = table.alloc(BASE, 100, 4).unwrap().block;
        let b = table.alloc(BASE, 100, 4).unwrap().block;
        assert_eq!(a.start % MIN_ALIGN, 0);
        assert!(b.start >= a.start + 100 + RED_ZONE);
        assert!(table.covers(a.start, 100));
        assert!(!table.covers(a.start + 100, 1));
        assert!(!table.covers(a.start, 101));
    }

    #[test]
    fn the_last_dword_is_whole() {
        let mut table = Table::new(1 << 20);
        let a = table.alloc(BASE, 5, 4).unwrap().block;
        assert!(table.covers(a.start + 4, 4));
        assert!(!table.covers(a.start + 8, 1));
    }

    #[test]
    fn alignment_counts_from_address_zero() {
        let mut table = Table::new(1 << 20);
        table.alloc(BASE + 0x1000, 1, 1).unwrap();
        let a = table.alloc(BASE + 0x1000, 1, 0x4000).unwrap().block;
        assert_eq!((BASE + 0x1000 + a.start) % 0x4000, 0);
        let hole = table.alloc(BASE + 0x1000, 64, 1).unwrap();
        assert!(
            hole.block.start < a.start,
            "the gap before an aligned block is used"
        );
    }

    #[test]
    fn freed_space_is_reused_and_coalesced() {
        let mut table = Table::new(1 << 20);
        let blocks: Vec<_> = (0..4)
            .map(|_| table.alloc(BASE, 1024, 1).unwrap().block)
            .collect();
        for block in &blocks[..3] {
            assert_eq!(table.free(block.start), Some(*block));
        }
        let big = table.alloc(BASE, 3 * 1024 + 256, 1).unwrap();
        assert_eq!(big.block.start, blocks[0].start);
        assert!(big.used_before);
        assert_eq!(
            table.nearest(i128::from(blocks[1].start)),
            Some((big.block, false))
        );
        assert_eq!(table.free(blocks[1].start), None, "freed twice");
    }

    #[test]
    fn too_much_is_refused() {
        let mut table = Table::new(1 << 20);
        assert_eq!(table.alloc(BASE, u64::MAX, 1), None);
        assert_eq!(table.alloc(BASE, 1 << 20, 1), None);
        assert_eq!(table.alloc(BASE, 16, 1 << 63), None);
        assert!(table.alloc(BASE, 1 << 19, 1).is_some());
    }

    #[test]
    fn nearest_prefers_distance_then_live() {
        let mut table = Table::new(1 << 20);
        let a = table.alloc(BASE, 256, 1).unwrap().block;
        let b = table.alloc(BASE, 256, 1).unwrap().block;
        assert_eq!(table.nearest(-5), Some((a, false)));
        assert_eq!(table.nearest(i128::from(a.start + 300)), Some((a, false)));
        assert_eq!(table.nearest(i128::from(b.start - 10)), Some((b, false)));
        assert_eq!(table.nearest(1 << 70), Some((b, false)));
        table.free(b.start);
        assert_eq!(table.nearest(i128::from(b.start + 1)), Some((b, true)));
    }
}
