//! Accesses of memory that kernels may only read: loads do what they do elsewhere, and each store and
//! atomic is the same fault on the interpreter and in all shapes of the translator, which changes
//! nothing there. Long campaigns are `READ_ONLY=1 SEED=… cargo test --release --test exec --
//! --exact differential::gfx900`.

use frontend::op::{ImageOp, Space};
use frontend::{Encoding, Gfx, Op};
use harness::random::Random;
use harness::snippet::Bench;
use harness::words::As;

use super::{How, Item, checker_on, options};

/// Words of a row that writes, at most; fewer if enough of them are refused.
const WORDS: usize = 40;
/// Words of other rows.
const OTHERS: usize = 2;
/// Refused words of a row that suffice.
const REFUSED: u64 = 3;
/// Random programs for each target.
const PROGRAMS: u64 = 60;

/// Does an operation write memory other than LDS and scratch?
fn writes(op: Op) -> bool {
    match op {
        Op::Store(space, _) | Op::Atomic(space, _) => {
            !matches!(space, Space::Lds | Space::Scratch | Space::ScalarScratch)
        }
        Op::Image(op) => matches!(op, ImageOp::Store { .. } | ImageOp::Atomic(_)),
        _ => false,
    }
}

/// Each row of a memory instruction by itself, each time in another shape.
fn rows(gfx: Gfx, checked: bool) {
    let checker = checker_on(Bench::read_only(checked), gfx);
    let mut jits = checker.jits();
    let (mut turn, mut writing) = (0, 0);
    for desc in checker.rows.memory.iter().flatten() {
        let writes = writes(desc.op) && desc.encoding != Encoding::Ds;
        let name = desc.name_on(gfx);
        let before = checker.refused.get();
        let refused = || checker.refused.get() - before;
        let mut r = Random::new(7);
        for _ in 0..if writes { WORDS } else { OTHERS } {
            let Some(bytes) = checker.rows.encode(&mut r, desc, As::Native) else {
                continue;
            };
            turn += 1;
            if turn % 2000 == 0 {
                jits = checker.jits();
            }
            let items = [Item::Inst(bytes)];
            let state = checker.state(&mut r);
            let how = How::shaped(Some(turn * 7 % jits.len()));
            let found = checker.check(&jits, &items, &state, how);
            if let Some(mismatch) = found.expect("this host") {
                let failure = checker.failure(&items, &state, mismatch, how.max_block);
                panic!("{gfx} {failure}");
            }
            if refused() >= REFUSED {
                break;
            }
        }
        if writes {
            assert_ne!(refused(), 0, "{gfx} {name} is never refused");
            writing += 1;
        } else if !matches!(desc.op, Op::Store(..) | Op::StoreLds) {
            assert_eq!(refused(), 0, "{gfx} {name} writes nothing");
        }
    }
    assert!(writing > 30, "{gfx}: {writing} rows write");
}

#[test]
fn every_row() {
    for gfx in [Gfx::Gfx600, Gfx::Gfx803, Gfx::Gfx90a] {
        rows(gfx, false);
    }
}

#[test]
fn every_row_in_checked_mode() {
    rows(Gfx::Gfx906, true);
}

#[test]
fn programs() {
    for (gfx, checked) in [
        (Gfx::Gfx600, false),
        (Gfx::Gfx803, false),
        (Gfx::Gfx900, false),
        (Gfx::Gfx906, true),
    ] {
        let checker = checker_on(Bench::read_only(checked), gfx);
        let jits = checker.jits();
        for round in 0..PROGRAMS {
            let mut r = Random::new(round);
            let first = checker.state(&mut r);
            let items = checker.rows.program(&mut r, 16);
            let how = How::random(&mut r, &jits, &options(), false);
            let states = [first.clone(), checker.state_like(&mut r, &first)];
            let found = checker.check_from(&jits, &items, &states, how);
            if let Some((number, _)) = found.expect("this host") {
                let before = states[number].clone();
                let failure = checker.shrunk(&jits, items, before, how);
                panic!("{gfx} round {round} {}", failure.expect("this host"));
            }
        }
        let refused = checker.refused.get();
        assert!(refused > PROGRAMS / 8, "{gfx}: {refused} were refused");
    }
}
