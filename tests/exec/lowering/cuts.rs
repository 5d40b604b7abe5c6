//! Where regions of a kernel that is too large for one are cut.

use std::collections::BTreeSet;

use frontend::Gfx;
use lower::lift::region::{self, Request};

const GFX: Gfx = Gfx::Gfx900;
// v_add_u32 v6, v6, v7
const ADD: u32 = 0x680c_0f06;

/// Consecutive loops of `body` instructions and a branch, then the end.
fn loops(count: usize, body: usize) -> Vec<u32> {
    let mut words = Vec::new();
    for _ in 0..count {
        words.extend(std::iter::repeat_n(ADD, body));
        // s_cbranch_scc1 to the loop's head
        let back = -(body as i32) - 1;
        words.push(0xbf85_0000 | back as u32 & 0xffff);
    }
    words.push(0xbf81_0000);
    words
}

/// Every region that is reached from the beginning: its entry, instructions and exits.
fn regions(words: &[u32], max_insts: usize) -> Vec<(u64, u32, Vec<u64>)> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let fetch = |pc: u64| bytes.get(pc as usize..).filter(|bytes| !bytes.is_empty());
    let (mut todo, mut done) = (vec![0], BTreeSet::from([0]));
    let mut out = Vec::new();
    while let Some(entry) = todo.pop() {
        let request = Request {
            gfx: GFX,
            entry,
            mode: 0x2c0,
            max_insts,
            max_block: region::MAX_BLOCK,
            observe: false,
            exact_nan: false,
            checked: false,
            sanitize: false,
            outcomes: false,
        };
        let func = region::build(&request, &fetch);
        let exits: Vec<u64> = func.exits().collect();
        todo.extend(exits.iter().filter(|&&exit| done.insert(exit)));
        let insts = func.blocks.iter().map(|block| block.guest_insts).sum();
        out.push((entry, insts, exits));
    }
    out
}

#[test]
fn a_region_ends_between_loops() {
    let body = 99;
    let words = loops(60, body);
    let all = regions(&words, 1024);
    assert_eq!(all.len(), 6, "{all:?}");
    for (entry, insts, exits) in &all {
        assert!(*insts <= 1024, "{insts} instructions at {entry:#x}");
        for exit in exits {
            assert_eq!(
                exit / 4 % (body as u64 + 1),
                0,
                "an exit into a loop, to {exit:#x}"
            );
        }
    }
    let insts: u32 = all.iter().map(|(_, insts, _)| insts).sum();
    assert_eq!(insts as usize, words.len(), "every instruction once");
}

#[test]
fn a_loop_too_large_for_a_region_is_cut_all_the_same() {
    let words = loops(1, 3000);
    let all = regions(&words, 1024);
    assert!(all.iter().all(|(_, insts, _)| *insts <= 1024), "{all:?}");
    // The loop's header is where the first region begins, so that iterating creates no further
    // ones.
    assert_eq!(all.len(), 3, "{all:?}");
}

#[test]
fn straight_code_is_cut_where_a_region_is_full() {
    let mut words = vec![ADD; 5000];
    words.push(0xbf81_0000);
    let all = regions(&words, 1024);
    let insts: Vec<u32> = all.iter().map(|(_, insts, _)| *insts).collect();
    assert_eq!(insts, [1024, 1024, 1024, 1024, 905]);
}

#[test]
fn a_jump_back_before_the_entry_leaves_or_stays_within_bounds() {
    // From the last loop's head on, one jumps back over everything.
    let mut words = loops(30, 99);
    words.pop();
    let back = -(words.len() as i32) - 1;
    words.push(0xbf82_0000 | back as u32 & 0xffff);
    let all = regions(&words, 1024);
    assert!(all.iter().all(|(_, insts, _)| *insts <= 1024), "{all:?}");
}
