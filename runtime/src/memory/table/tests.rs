use super::*;

const BASE: u64 = 0x7000_0000_0000;

/// An allocation among the data, if there is room.
fn place(table: &mut Table, len: u64, align: u64) -> Option<Placed> {
    table.alloc((BASE, Purpose::Data), len, align)
}

fn alloc(table: &mut Table, len: u64) -> Block {
    place(table, len, 1).unwrap().block
}

#[test]
fn allocations_have_gaps_between_them() {
    let mut table = Table::new(1 << 20, 0);
    let a = alloc(&mut table, 100);
    let b = alloc(&mut table, 100);
    assert_eq!(a.start % MIN_ALIGN, 0);
    assert!(b.start >= a.start + 100 + (64 << 10));
    assert!(table.covers(a.start, 100));
    assert!(!table.covers(a.start + 100, 1));
    assert!(!table.covers(a.start, 101));
}

#[test]
fn the_last_dword_is_whole() {
    let mut table = Table::new(1 << 20, 0);
    let a = alloc(&mut table, 5);
    assert!(table.covers(a.start + 4, 4));
    assert!(!table.covers(a.start + 8, 1));
}

#[test]
fn alignment_counts_from_address_zero() {
    let base = BASE + 0x1000;
    let mut table = Table::new(1 << 20, 0);
    let mut place = |len, align| {
        let placed = table.alloc((base, Purpose::Structure), len, align);
        placed.unwrap().block
    };
    place(1, 1);
    let a = place(1, 0x4000);
    assert_eq!((base + a.start) % 0x4000, 0);
    let hole = place(64, 1);
    assert!(
        hole.start < a.start,
        "the space before an aligned block is used"
    );
}

#[test]
fn freed_space_is_reused_and_coalesced() {
    let mut table = Table::new(1 << 20, 0);
    let blocks: Vec<_> = (0..4).map(|_| alloc(&mut table, 1024)).collect();
    for block in &blocks[..3] {
        assert_eq!(table.free(block.start), Some(*block));
    }
    let big = place(&mut table, 2 * GAP + 3 * 1024, 1).unwrap();
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
    let mut table = Table::new(1 << 20, 0);
    assert_eq!(place(&mut table, u64::MAX, 1), None);
    assert_eq!(place(&mut table, 1 << 20, 1), None);
    assert_eq!(place(&mut table, 16, 1 << 63), None);
    assert!(place(&mut table, 1 << 19, 1).is_some());
}

#[test]
fn gaps_are_smaller_where_there_is_no_room() {
    let mut table = Table::new(1 << 20, 0);
    let mut blocks = Vec::new();
    while let Some(placed) = place(&mut table, 4096, 1) {
        blocks.push(placed);
    }
    let gap = |placed: &Placed| placed.end - placed.block.start - 4096;
    assert!(blocks.iter().all(|placed| gap(placed) >= RED_ZONE));
    assert!(blocks.len() > 13, "{}", blocks.len());
    assert!(blocks[..13].iter().all(|placed| gap(placed) >= GAP));
    let ends = |one: &[Placed]| one[0].end <= one[1].block.start;
    assert!(blocks.windows(2).all(ends));
}

#[test]
fn the_systems_part_is_below_all_data() {
    let mut table = Table::new(4 << 20, 0);
    let first = alloc(&mut table, 4);
    let system = |table: &mut Table| {
        let placed = table.alloc((BASE, Purpose::System), 4096, 1).unwrap();
        assert!(placed.used_before || placed.block.start > first.start);
        placed
    };
    let mut blocks = Vec::new();
    // 256 KiB are for it; what has no room there is among the data.
    let outside = loop {
        let placed = system(&mut table);
        if placed.block.start > first.start {
            break placed;
        }
        assert!(placed.end <= first.start, "its gap is below the data, too");
        blocks.push(placed.block);
    };
    assert_eq!(blocks.len(), 3);
    assert!(outside.block.start >= first.start + (64 << 10));
    for block in &blocks {
        assert_eq!(table.free(block.start), Some(*block));
    }
    assert_eq!(system(&mut table).block, blocks[0]);
    let whole = table.alloc((BASE, Purpose::System), 60 << 10, 1);
    assert!(
        whole.unwrap().block.start < first.start,
        "holes are coalesced"
    );
}

#[test]
fn what_kernels_may_only_read_is_below_everything_else() {
    let mut table = Table::new(4 << 20, 0);
    assert_eq!(table.read_only(), 128 << 10);
    let mut put = |purpose| table.alloc((BASE, purpose), 4096, 1).unwrap().block;
    let (data, system) = (put(Purpose::Data), put(Purpose::System));
    assert!((128 << 10..data.start).contains(&system.start));
    let code = put(Purpose::Code);
    let arguments: Vec<Block> = (0..8).map(|_| put(Purpose::Arguments)).collect();
    let structure = put(Purpose::Structure);
    for block in arguments.iter().chain([&code, &structure]) {
        assert!(block.extent() <= 128 << 10, "{block:?}");
    }
    // One more gap has no room, which is no reason to refuse code.
    let (other, last) = (put(Purpose::Code), put(Purpose::Structure));
    assert!((128 << 10..data.start).contains(&other.start));
    assert!(last.extent() <= 128 << 10);
    assert_eq!(table.around(code.start + 4095), Some((code, Purpose::Code)),);
    assert_eq!(table.around(code.start + 4096), None);
    assert_eq!(
        table.around(arguments[3].start),
        Some((arguments[3], Purpose::Arguments))
    );
    for block in [code, arguments[0], other] {
        assert_eq!(table.free(block.start), Some(block));
    }
    let mut put = |purpose| table.alloc((BASE, purpose), 4096, 1).unwrap();
    let placed = put(Purpose::Code);
    assert!(placed.used_before);
    assert_eq!(placed.block, code);
}

#[test]
fn nearest_prefers_distance_then_live() {
    let mut table = Table::new(1 << 20, 0);
    let a = alloc(&mut table, 256);
    let b = alloc(&mut table, 256);
    assert_eq!(table.nearest(-5), Some((a, false)));
    assert_eq!(table.nearest(i128::from(a.start + 300)), Some((a, false)));
    assert_eq!(table.nearest(i128::from(b.start - 10)), Some((b, false)));
    assert_eq!(table.nearest(1 << 70), Some((b, false)));
    table.free(b.start);
    assert_eq!(table.nearest(i128::from(b.start + 1)), Some((b, true)));
}

#[test]
fn freed_data_is_reused_late() {
    // Room for three blocks with their gaps.
    let mut table = Table::new(1 << 20, 256 << 10);
    let first = alloc(&mut table, 256);
    table.free(first.start).unwrap();
    let mut blocks = vec![first];
    for _ in 0..3 {
        let next = alloc(&mut table, 256);
        assert!(!blocks.contains(&next), "{next:?} is not reused yet");
        let near = table.nearest(i128::from(first.start));
        assert_eq!(near, Some((first, true)), "it is known as freed");
        table.free(next.start).unwrap();
        blocks.push(next);
    }
    assert_eq!(alloc(&mut table, 256), first, "the oldest one left");
    // Where there is no other space, it is reused at once.
    while place(&mut table, 256, 1).is_some() {}
    table.free(blocks[2].start).unwrap();
    assert_eq!(alloc(&mut table, 256), blocks[2]);
}
