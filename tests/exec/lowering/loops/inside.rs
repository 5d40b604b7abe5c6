//! Loops that a counter ends, with loads and arithmetic.

use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END};

use super::planned;
use crate::lowering::rounds::{Round, Rounds, compare, in_one_row, shapes, state, with_code};
use crate::lowering::words::{
    ADD, ADD_CO, ADDC_CO, BASE, COUNT, LSHLREV, STEP, VCC, advance, branch, count_down, lds, load,
    sop1, sop2, v, vop1, vop2,
};

/// A program and the trip count of its loop.
fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    // Two addresses: v[2:3] and v[4:5]; v6 counts in steps.
    let source = *r.pick(&[0, 0, 0, 1]);
    let scale = *r.pick(&[2u32, 2, 2, 3, 4, 0, 6]);
    code.push(vop2(LSHLREV, 6, 128 + scale, source));
    for pair in [2, 4] {
        code.push(vop1(1, pair + 1, BASE + 1));
        let from = if pair == 2 || r.once_in(2) { 6 } else { 1 };
        code.push(vop2(ADD_CO, pair, BASE, from));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    let start = code.len();
    for _ in 0..1 + r.below(3) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let offset = *r.pick(&[0, 4, 64, -4, 3]);
        if r.once_in(4) {
            let words = *r.pick(&[1, 1, 2, 4]);
            let offset = *r.pick(&[0, 4, 64, 1024]);
            code.extend(lds(true, words, 8 + r.below(4), 6, offset));
            continue;
        }
        code.extend(load(words, 8 + r.below(4), *r.pick(&[2, 4]), offset));
    }
    for _ in 0..r.below(8) {
        let dst = *r.pick(&[7, 8, 9, 12, 13, 14, 15, 16]);
        let src0 = match r.below(4) {
            0 => 129 + r.below(16),
            1 => STEP,
            _ => v(*r.pick(&[0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14])),
        };
        let src1 = *r.pick(&[0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
        // Sums, products and logic of integers and floats, minima, shifts, multiply-add.
        let op = *r.pick(&[
            ADD, 0x35, 0x15, 0x13, 0x14, 0x12, 0x10, 0x08, 0x01, 0x05, 0x16, 0x0a, 0x0e,
        ]);
        code.push(vop2(op, dst, src0, src1));
    }
    if r.once_in(2) {
        code.push(vop2(ADD, 6, 128 + r.below(40), 6));
    }
    if r.once_in(2) {
        code.push(vop1(6, 12, v(6)));
    }
    if r.once_in(2) {
        code.push(sop2(*r.pick(&[0, 0xc, 0x24]), STEP, STEP, 128 + r.below(9)));
    }
    for pair in [2, 4] {
        match r.below(4) {
            0 => {}
            1 => code.extend(advance(pair, 24, r.once_in(2))),
            _ => code.extend([
                vop2(ADD_CO, pair, 128 + 4 * r.below(5), pair),
                vop2(ADDC_CO, pair + 1, 128, pair + 1),
            ]),
        }
    }
    count_down(&mut code, start);
    // s_mov_b64 vcc, 0: the carries of the last iteration are dead.
    code.extend([0xbe80_0000 | 106 << 16 | 1 << 8 | 128, BARRIER, END]);
    code
}

#[test]
fn loops_inside_the_lane_groups() {
    let mut inside = 0;
    let rounds = Rounds {
        count: 80,
        factor: 1_000_003,
        shapes: shapes(),
        program,
        prepare: |_, _| {},
    };
    let total = rounds.run(|round| inside += usize::from(!planned(round).is_empty()));
    println!("{inside} of {total} loops go inside");
    assert!(inside * 2 > total, "{inside} of {total} loops go inside");
}

#[test]
fn coherent_loads_stay_in_the_order_of_the_wave() {
    let bench = Bench::new();
    for (glc, inside) in [(0, 1), (1 << 16, 0)] {
        let mut r = Random::new(5);
        let mut code = vec![
            vop2(LSHLREV, 6, 128 + 2, 0),
            vop1(1, 3, BASE + 1),
            vop2(ADD_CO, 2, BASE, 6),
            vop2(ADDC_CO, 3, 128, 3),
        ];
        let [word, rest] = load(1, 8, 2, 0);
        code.extend([word | glc, rest, vop2(ADD, 9, v(8), 9)]);
        code.push(sop2(0, COUNT, COUNT, 193));
        code.push(0xbf07_0000 | 128 << 8 | COUNT);
        code.extend([branch(5, -6), sop1(1, VCC, 128), BARRIER, END]);
        let mut before = state(&bench, &mut r, Gfx::Gfx900);
        in_one_row(&mut before);
        with_code(&bench, &code, |loaded, bytes| {
            let round = Round {
                bench: &bench,
                loaded,
                before: &before,
            };
            assert_eq!(planned(&round).len(), inside, "GLC {glc:#x}");
            compare(&bench, loaded, &before, bytes, "coherent load");
        });
    }
}
