//! Guests that attack the process: every instruction that accesses memory, with addresses, descriptors and offsets that lead
//! out of guest memory, into memory of this process above all. On both engines and both back ends they fault or are dropped,
//! in the same way; nothing of the process changes, and the guest gets none of it.
//! `ROUNDS=` words of each instruction.

use frontend::{Gfx, InstDesc};
use fuzz::checker::{How, texts, unequal};
use fuzz::shapes::{Jits, Shape};
use fuzz::{Checker, Options};
use harness::environment::number;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};
use harness::words::{As, prepared};
use runtime::engine::{Exit, PRIVATE_BASE, SHARED_BASE};
use runtime::interp::Interpreter;

/// Words of a row, if `ROUNDS=` in the environment does not say.
const WORDS: u64 = 1;

/// What the memory of the host holds that guests aim at.
const CANARY: u32 = 0xc0a1_9b37;

/// Words of it.
const CANARIES: usize = 1 << 15;

/// How far ahead of and behind an address instructions reach by their offsets.
const REACH: usize = CANARIES / 2;

/// The shapes of the translator that are tried: both back ends, both tiers, and the least host.
fn shapes() -> Vec<Shape> {
    let wanted = [
        "native",
        "native, wide",
        "native, quickly",
        "native, wide, quickly",
        "avx2",
        "avx2, wide",
        "sse4.1",
        "native, wide, regions of 1",
    ];
    let mut all = Shape::all(None);
    all.retain(|shape| wanted.contains(&shape.name().as_str()));
    assert!(all.len() > 4, "the names of shapes have changed");
    all
}

/// Where the guest aims.
fn targets(checker: &Checker, canary: &[u32]) -> Vec<(&'static str, u64)> {
    let local = CANARY;
    let zone = checker.bench.zone();
    let address = |of: *const u32| of.expose_provenance() as u64;
    let pages = zone.start & !0xffff_ffff;
    vec![
        ("the heap", address(&canary[REACH])),
        ("the heap, misaligned", address(&canary[REACH]) + 3),
        ("the stack", address(&local)),
        ("the program's code", targets as *const () as u64),
        (
            "the interpreter",
            std::ptr::from_ref(&Interpreter).expose_provenance() as u64,
        ),
        (
            "the memory below guest memory",
            zone.start.wrapping_sub(1 << 40),
        ),
        ("the memory behind guest memory", pages + (1 << 40)),
        ("the end of the zone", zone.end - 2),
        ("behind the zone", zone.end),
        ("address 0", 0),
        ("the last address", u64::MAX - 2),
        ("a negative address", u64::MAX << 47),
        ("no address of the host", 1 << 62),
        ("before LDS", SHARED_BASE - 2),
        ("behind scratch", PRIVATE_BASE + 0xffff_fffe),
    ]
}

/// Points everything that memory instructions of this kind of state use at an address.
fn aim(checker: &Checker, r: &mut Random, state: &mut State, target: u64) {
    let pair = |state: &mut State, first: u32, lane: usize, value: u64| {
        state.vgpr[first as usize][lane] = value as u32;
        state.vgpr[first as usize + 1][lane] = (value >> 32) as u32;
    };
    // One lane, all at one place, or one after the other.
    let (kind, only) = (r.below(3), r.below(64) as usize);
    for lane in 0..64 {
        let at = match kind {
            0 => target,
            1 if lane != only => checker.bench.buffer() + 64 * lane as u64,
            _ => target.wrapping_add(4 * lane as u64),
        };
        for first in [prepared::GLOBAL_V, prepared::FLAT_V, prepared::PRIVATE_V] {
            pair(state, first, lane, at);
        }
        let wild = match r.below(4) {
            0 => r.word(),
            1 => 0x8000_0000 | r.below(1 << 16),
            2 => r.below(1 << 16).wrapping_neg(),
            _ => r.below(1 << 20),
        };
        let small = if r.once_in(2) { 0 } else { wild };
        state.vgpr[prepared::OFFSET_V as usize][lane] = small;
        state.vgpr[prepared::LDS_V as usize][lane] = wild;
        state.vgpr[prepared::SCRATCH_V as usize][lane] = wild;
        pair(
            state,
            prepared::INDEX_V,
            lane,
            u64::from(small) << 32 | u64::from(wild),
        );
    }
    let frame = r.word();
    state.vgpr[prepared::FRAME_V as usize] = [frame; 64];
    set64(&mut state.sgpr, prepared::GLOBAL_S as usize, target);
    state.sgpr[prepared::NEAR_S as usize] = if r.once_in(2) { 0 } else { r.word() };
    state.sgpr[prepared::FAR_S as usize] = r.word();
    // FLAT_SCRATCH, by which scratch is found.
    let flat_scratch = match checker.gfx {
        Gfx::Gfx600 => None,
        Gfx::Gfx700 => Some(104),
        _ => Some(102),
    };
    if let Some(first) = flat_scratch {
        set64(&mut state.sgpr, first, target);
    }
    // Buffers that begin at the address, of every size.
    let formats = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 4 << 15;
    for first in [prepared::BUFFER_S, prepared::PRIVATE_S] {
        let stride = *r.pick(&[0, 0, 4, 16, 0x3fff]);
        let swizzle = r.below(2) << 31 | r.below(2) << 30;
        let records = *r.pick(&[u32::MAX, u32::MAX, 1 << 16, 64]);
        let lane_index = u32::from(r.once_in(4)) << 23;
        let words = [
            target as u32,
            (target >> 32) as u32 & 0xffff | stride << 16 | swizzle,
            records,
            formats | r.below(4) << 19 | r.below(4) << 21 | lane_index,
        ];
        state.sgpr[first as usize..][..4].copy_from_slice(&words);
    }
    let all = [0, 0, u32::MAX, formats];
    state.sgpr[prepared::ZERO_S as usize..][..4].copy_from_slice(&all);
    // An image there; of its other words most stay.
    let image = prepared::IMAGE_S as usize;
    state.sgpr[image] = (target >> 8) as u32;
    state.sgpr[image + 1] = state.sgpr[image + 1] & !0xff | (target >> 40) as u32 & 0xff;
    for row in prepared::IMAGE_V..prepared::IMAGE_V + 4 {
        for lane in 0..64 {
            if r.once_in(2) {
                state.vgpr[row as usize][lane] = r.word();
            }
        }
    }
    state.sgpr[124] = if r.once_in(2) { u32::MAX } else { r.word() };
}

/// Does the guest hold a canary?
fn has_some(state: &State) -> bool {
    let rows = state.vgpr.iter().chain(&state.agpr);
    rows.flatten()
        .chain(&state.sgpr)
        .any(|&word| word == CANARY)
        || [&state.memory, &state.lds].iter().any(|bytes| {
            bytes
                .chunks_exact(4)
                .any(|word| word == CANARY.to_le_bytes())
        })
}

/// Runs a row from states that aim at every target.
fn attack(
    checker: &Checker,
    jits: &Jits,
    turn: &mut usize,
    desc: &InstDesc,
    words: u64,
    faults: &mut u64,
) {
    let mut canary = vec![CANARY; CANARIES].into_boxed_slice();
    // Its address is known to somebody who might write.
    canary = std::hint::black_box(canary);
    let (gfx, name) = (checker.gfx, desc.name_on(checker.gfx));
    for word in 0..words {
        let mut r = Random::new(0x5eed + word);
        let Some(mut bytes) = checker.rows.encode(&mut r, desc, As::Native) else {
            continue;
        };
        bytes.extend(BARRIER.to_le_bytes());
        bytes.extend(END.to_le_bytes());
        let code = checker.bench.load(gfx, &bytes);
        *turn += 1;
        let chosen = [*turn, *turn + jits.len() / 2].map(|n| n % jits.len());
        for (what, target) in targets(checker, &canary) {
            let mut before = checker.state(&mut r);
            before.fresh = false;
            aim(checker, &mut r, &mut before, target);
            let at = |shape: &str| {
                let text = texts(gfx, &bytes);
                format!("{gfx} {name} at {what} ({target:#x}), {shape}:\n{text}")
            };
            let want = checker.bench.run(&Interpreter, &code, &before);
            *faults += u64::from(matches!(want.exit, Exit::Fault(_)));
            assert!(
                !has_some(&want.state),
                "{} has a canary",
                at("the interpreter")
            );
            for shape in chosen {
                let engine = jits
                    .get(shape, How::shaped(None).max_block)
                    .expect("this host");
                let mut got = checker.bench.run(&*engine, &code, &before);
                got.fallbacks.clear();
                let shown = || at(&checker.shapes[shape].name());
                assert!(!has_some(&got.state), "{} has a canary", shown());
                let lines = unequal(&want, &got, false);
                assert!(lines.is_empty(), "{}{lines:#?}", shown());
            }
            let same = canary.iter().all(|&word| word == CANARY);
            assert!(same, "{} changed the host's memory", at("an engine"));
        }
        checker.bench.unload(&code);
    }
}

fn every_row(gfx: Gfx) {
    let mut checker = Checker::new(gfx, &Options::default(), None).expect("this host");
    checker.shapes = shapes();
    let mut jits = checker.jits();
    let words = number("ROUNDS").unwrap_or(WORDS);
    let (mut turn, mut faults, mut rows) = (0, 0, 0);
    for desc in checker.rows.memory.iter().flatten() {
        rows += 1;
        if rows % 100 == 0 {
            jits = checker.jits();
        }
        attack(&checker, &jits, &mut turn, desc, words, &mut faults);
    }
    assert!(rows > 150, "{gfx}: {rows} rows");
    assert!(faults > rows * words, "{gfx}: {faults} faults");
}

#[test]
fn every_address_on_gfx600() {
    every_row(Gfx::Gfx600);
}

#[test]
fn every_address_on_gfx700() {
    every_row(Gfx::Gfx700);
}

#[test]
fn every_address_on_gfx803() {
    every_row(Gfx::Gfx803);
}

#[test]
fn every_address_on_gfx906() {
    every_row(Gfx::Gfx906);
}

#[test]
fn every_address_on_gfx90a() {
    every_row(Gfx::Gfx90a);
}

#[test]
fn every_address_on_gfx942() {
    every_row(Gfx::Gfx942);
}
