//! Loads of lanes in order, or all of one element, where only the addresses themselves say so, against the
//! interpreter: each kind of element, aligned and not, with lanes off.

use frontend::state::LANES;
use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, set64};

use super::rounds::{compare, state, with_code};
use super::words::{lds, load};

/// `global_load_…` of bytes and shorts: 0 ubyte, 1 sbyte, 2 ushort, 3 sshort; to v8 from v[2:3].
fn small(kind: u32) -> [u32; 2] {
    [0xdc00_8000 | (16 + kind) << 18, 8 << 24 | 0x7f << 16 | 2]
}

#[test]
fn contiguous_lanes_found_at_run_time() {
    let bench = Bench::new();
    let loads = (0..4)
        .map(|kind| (small(kind), 1 + kind / 2))
        .chain((1..5).map(|words| (load(words, 8, 2, 0), 4 * words)))
        .chain([1, 2, 4].map(|words| (lds(true, words, 8, 6, 0), 4 * words)));
    for (n, (words, bytes)) in loads.enumerate() {
        let code = [words[0], words[1], BARRIER, END];
        with_code(&bench, &code, |loaded, text| {
            for (round, &step) in [bytes, 0, bytes, 0, bytes, 2 * bytes].iter().enumerate() {
                let mut r = Random::new(100 * n as u64 + round as u64);
                let mut before = state(&bench, &mut r, Gfx::Gfx900);
                before.fresh = false;
                before.fuel = 1000;
                let exec = if round < 4 { u64::MAX } else { r.next() | 1 };
                set64(&mut before.sgpr, 126, exec);
                // Aligned for eight bytes, then only for an element.
                let start = if round < 2 { 64 } else { 64 + bytes };
                for lane in 0..LANES {
                    let offset = start + step * lane as u32;
                    let address = bench.buffer() + u64::from(offset);
                    before.vgpr[2][lane] = address as u32;
                    before.vgpr[3][lane] = (address >> 32) as u32;
                    before.vgpr[6][lane] = offset;
                }
                // One lane out of order.
                if round == 3 {
                    before.vgpr[2][33] = before.vgpr[2][33].wrapping_add(bytes);
                }
                let what = format!("load {n}, round {round}");
                compare(&bench, loaded, &before, text, &what);
            }
        });
    }
}
