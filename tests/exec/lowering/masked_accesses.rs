//! Masked loads and stores of contiguous elements, against the interpreter: inactive lanes read
//! nothing and write nothing, and their elements may be unmapped.
#![allow(unsafe_code, reason = "pages of guest memory are taken away")]

use std::ops::Range;

use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, LDS, set64};

use super::rounds::{compare_in, first_shapes, in_one_row, state, with_code};
use super::words::{ADD, ADD_CO, ADDC_CO, BASE, LSHLREV, lds, load, store, v, vop1, vop2};

/// Where stores go, a pair of scalars; then where the elements of LDS are that are read, and written.
const TO: u32 = 22;
const READ: u32 = 24;
const WRITTEN: u32 = 25;

/// Bytes of a page.
const PAGE: u64 = 4096;

/// Lanes that act, at least one: edges, runs, holes, single lanes, patterns, any.
fn masks(r: &mut Random) -> Vec<u64> {
    let edges = [1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 62, 63];
    let mut masks: Vec<u64> = edges
        .iter()
        .flat_map(|&n| [u64::MAX << n, u64::MAX >> n])
        .collect();
    masks.extend([0, 1, 14, 15, 16, 17, 31, 32, 47, 48, 62, 63].map(|n| 1 << n));
    masks.extend([0, 1, 7, 15, 16, 30, 40, 63].map(|n| !(1 << n)));
    masks.extend([
        1 << 63 | 1,
        0xffff << 16,
        0xffff << 40,
        !(0xffff << 32),
        u64::MAX / 3,
        u64::MAX / 3 * 2,
        u64::MAX / 17,
        u64::MAX,
    ]);
    masks.extend((0..8).map(|_| r.next()));
    masks.extend((0..8).map(|_| u64::MAX >> r.below(64) << r.below(48) | 1 << 50));
    masks
}

/// Where lane 0 would have its element so that those of the lanes that act are the first of a range or the last, or are
/// anywhere in it.
fn base(r: &mut Random, place: u32, range: &Range<u64>, exec: u64, bytes: u64) -> u64 {
    let first = u64::from(exec.trailing_zeros());
    let last = 63 - u64::from(exec.leading_zeros());
    let lowest = range.start.wrapping_sub(first * bytes);
    let highest = range.end.wrapping_sub((last + 1) * bytes);
    match place {
        0 => lowest,
        1 => highest,
        _ => {
            let room = highest.wrapping_sub(lowest) / 4;
            lowest.wrapping_add(u64::from(r.below(room as u32 + 1)) * 4)
        }
    }
}

/// A load, a store, a read and a write of LDS at addresses that count by lane.
fn program(words: u32) -> Vec<u32> {
    let mut code = vec![vop2(LSHLREV, 16, 128 + 1 + words, 0)];
    for (pair, base) in [(2, BASE), (4, TO)] {
        code.push(vop1(1, pair + 1, base + 1));
        code.push(vop2(ADD_CO, pair, base, 16));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    code.push(vop2(ADD, 6, READ, 16));
    code.push(vop2(ADD, 7, WRITTEN, 16));
    code.extend(load(words, 8, 2, 0));
    code.extend(store(words, 10, 4, 0));
    code.extend(lds(true, words, 12, 6, 0));
    code.extend(lds(false, words, 14, 7, 0));
    code.push(vop2(ADD, 17, v(12), 8));
    code.extend([BARRIER, END]);
    code
}

/// Takes pages of guest memory away for good.
fn take_away(at: u64, pages: u64) {
    let at = std::ptr::with_exposed_provenance_mut(at as usize);
    // SAFETY: they are in guest memory, where nothing else lies, and nobody is to touch them.
    let failed = unsafe { libc::mprotect(at, (pages * PAGE) as usize, libc::PROT_NONE) };
    assert_eq!(failed, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn lanes_that_are_off_touch_nothing() {
    let bench = Bench::new();
    let zone = bench.zone();
    assert!(zone.start.is_multiple_of(PAGE) && zone.end.is_multiple_of(PAGE));
    // The code is farther in front.
    take_away(zone.start - PAGE, 1);
    take_away(zone.end, 1);
    let mut r = Random::new(5);
    for words in [1, 2] {
        let bytes = 4 * u64::from(words);
        with_code(&bench, &program(words), |loaded, text| {
            for (n, exec) in masks(&mut r).into_iter().enumerate() {
                for (from, to) in [(0, 1), (1, 0), (2, 2)] {
                    let mut before = state(&bench, &mut r, Gfx::Gfx900);
                    in_one_row(&mut before);
                    before.fuel = 1000;
                    set64(&mut before.sgpr, 126, exec);
                    let from_at = base(&mut r, from, &zone, exec, bytes);
                    set64(&mut before.sgpr, BASE as usize, from_at);
                    let to_at = base(&mut r, to, &zone, exec, bytes);
                    set64(&mut before.sgpr, TO as usize, to_at);
                    let all = 0..LDS as u64;
                    for (scalar, place) in [(READ, from), (WRITTEN, to)] {
                        let at = base(&mut r, place, &all, exec, bytes);
                        before.sgpr[scalar as usize] = at as u32;
                    }
                    let what = format!("{words} words, mask {n} {exec:016x}, from {from} to {to}");
                    compare_in(&first_shapes(), &bench, loaded, &before, text, &what);
                }
            }
        });
    }
}
