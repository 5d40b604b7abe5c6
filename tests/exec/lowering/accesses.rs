//! Loads and stores of memory and LDS at addresses that count by lane or within rows, or almost, against the
//! interpreter: in every group width, with fuel that runs out, accesses that leave memory, and words that wrap.

use frontend::state::LANES;
use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, set64};

use super::rounds::{Rounds, compare, shapes, state, with_code};
use super::words::{
    ADD, ADD_CO, ADDC_CO, BASE, ENDPGM, LSHLREV, STEP, lds, load, sop2, store, store_part, v, vop1,
    vop2, vop3,
};

/// Consecutive accesses to memory at v[2:3] and v[4:5], which may be equal or overlap, and to LDS
/// at v6 and v7.
fn accesses(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    let scales = [2u32, 2, 2, 3, 4, 4, 0, 6];
    let scale = *r.pick(&scales);
    for (pair, lds) in [(2, 6), (4, 7)] {
        let source = *r.pick(&[0, 0, 0, 1]);
        let scale = if r.once_in(2) {
            scale
        } else {
            *r.pick(&scales)
        };
        code.push(vop2(LSHLREV, lds, 128 + scale, source));
        if r.once_in(3) {
            code.push(vop2(ADD, lds, 128 + 4 * r.below(16), lds));
        }
        code.push(vop1(1, pair + 1, BASE + 1));
        code.push(vop2(ADD_CO, pair, BASE, lds));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    if r.once_in(4) {
        // Near the top, where words wrap.
        code.push(vop2(ADD, 6, 193 + r.below(8), 6));
    }
    for _ in 0..2 + r.below(6) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let register = 8 + 4 * r.below(3);
        let offset = *r.pick(&[0, 0, 4, 16, 64, 256]);
        let at = *r.pick(&[2, 2, 4]);
        let lds_at = if at == 2 { 6 } else { 7 };
        match r.below(7) {
            0 => code.extend(load(words, register, at, offset)),
            1 | 2 => code.extend(store(words, register, at, offset)),
            3 if r.once_in(3) => code.extend(store_part(r.once_in(2), register, at, offset)),
            3 => code.extend(lds(true, words, register, lds_at, offset as u32)),
            4 => code.extend(lds(false, words, register, lds_at, offset as u32)),
            // Sums, products and fused multiply-adds of pairs as f64.
            5 => {
                let op = *r.pick(&[0x280, 0x281, 0x1cc]);
                let pair = |r: &mut Random| v(8 + 2 * r.below(6));
                let third = if op == 0x1cc { pair(r) } else { 0 };
                code.extend(vop3(op, register, [pair(r), pair(r), third]));
            }
            _ => code.push(vop2(ADD, register, v(0), 8 + r.below(8))),
        }
    }
    code.extend([BARRIER, END]);
    code
}

/// `global_load_…` or `global_store_…` of bytes and shorts at v[2:3].
fn small(r: &mut Random, register: u32, offset: i32) -> [u32; 2] {
    let offset = offset as u32 & 0x1fff;
    match r.once_in(2) {
        true => {
            let op = 16 + r.below(4);
            [
                0xdc00_8000 | op << 18 | offset,
                register << 24 | 0x7f << 16 | 2,
            ]
        }
        false => {
            let op = *r.pick(&[24, 26]);
            [
                0xdc00_8000 | op << 18 | offset,
                0x7f << 16 | register << 8 | 2,
            ]
        }
    }
}

/// An expression of the work-item's number in v6, with the constants at which lanes diverge.
fn expression(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 6, v(*r.pick(&[0, 0, 0, 1])))];
    // s26 is a multiple of 64 or of 16, s27 is not.
    code.push(sop2(0x1c, 26, STEP, 128 + *r.pick(&[4, 6])));
    code.push(sop2(0xc, 26, 26, 192));
    code.push(sop2(0xc, 27, STEP, 128 + 15));
    for _ in 0..r.below(5) {
        let constant = 128 + *r.pick(&[0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 60, 63, 64]);
        let negative = 192 + *r.pick(&[1, 2, 4, 8, 16]);
        let mut two = |op, source| code.push(vop2(op, 6, source, 6));
        match r.below(12) {
            0 => two(0x13, constant),
            1 => two(0x13, negative),
            2 => two(*r.pick(&[0x14, 0x15]), *r.pick(&[constant, 26, 27])),
            3 => two(*r.pick(&[0x10, 0x12]), 128 + r.below(4)),
            4 => two(ADD, *r.pick(&[constant, negative, 26, 27])),
            5 => two(0x0c, *r.pick(&[constant, negative, 27])),
            6 => two(0x0d, *r.pick(&[constant, negative, 27])),
            7 => two(*r.pick(&[0x0e, 0x0f]), *r.pick(&[constant, 27])),
            8 => two(*r.pick(&[0x06, 0x08]), 128 + r.below(9)),
            9 => two(0x11, 128 + r.below(3)),
            // The carry of a sum goes in.
            10 => code.extend([
                vop1(1, 17, 128),
                vop2(ADD_CO, 16, *r.pick(&[constant, negative]), 6),
                vop2(ADDC_CO, 17, 128, 17),
                match r.once_in(2) {
                    true => vop2(ADD, 6, v(17), 6),
                    // The same for all lanes, or for those on either side.
                    false => vop1(1, 6, v(17)),
                },
            ]),
            _ => code.extend(vop3(0x200, 6, [26, 128 + r.below(3), v(6)])),
        }
    }
    code
}

/// Accesses at addresses that are almost affine.
fn bent(r: &mut Random) -> Vec<u32> {
    let mut code = expression(r);
    let scale = *r.pick(&[0, 1, 2, 2, 2, 3, 4]);
    // v[16:17] is what is added to the buffer's address.
    match r.below(5) {
        0 => {
            code.extend([vop1(1, 16, 128), vop1(1, 17, v(6))]);
            let op = *r.pick(&[0x290, 0x291]);
            code.extend(vop3(op, 16, [128 + 32 - scale, v(16), 0]));
        }
        1 => {
            code.push(vop1(1, 7, 128));
            code.extend(vop3(0x28f, 16, [128 + scale, v(6), 0]));
        }
        2 => {
            // The high word of one product goes into the next.
            code.extend([vop1(1, 7, 128), vop1(1, 18, 128)]);
            code.extend(vop3(0x1e8, 16, [v(1), 27, v(6)]));
            let at = code.len() - 2;
            code[at] |= 106 << 8;
            code.extend(vop3(0x1e8, 10, [v(1), 128, v(17)]));
            let at = code.len() - 2;
            code[at] |= 106 << 8;
            code.push(vop1(1, 17, v(10)));
            code.extend(vop3(0x28f, 16, [128 + scale, v(16), 0]));
        }
        _ => code.extend([vop2(LSHLREV, 16, 128 + scale, 6), vop1(1, 17, 128)]),
    }
    code.extend([
        vop1(1, 3, BASE + 1),
        vop2(ADD_CO, 2, BASE, 16),
        vop2(ADDC_CO, 3, v(17), 3),
        vop2(LSHLREV, 6, 128 + scale, 6),
    ]);
    for _ in 0..2 + r.below(4) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let register = 8 + 4 * r.below(3);
        let offset = *r.pick(&[0, 0, 4, 16, 64, -4, 3]);
        match r.below(7) {
            0 | 1 => code.extend(load(words, register, 2, offset)),
            2 => code.extend(store(words, register, 2, offset)),
            3 => code.extend(small(r, register, offset)),
            4 => code.extend(lds(true, words.min(2), register, 6, offset.max(0) as u32)),
            5 => code.extend(lds(false, words.min(2), register, 6, offset.max(0) as u32)),
            _ => {}
        }
        code.push(vop2(ADD, 20 + r.below(4), v(register), 8 + r.below(8)));
    }
    code.extend([BARRIER, END]);
    code
}

/// Loads and stores with copies and few arithmetic operations between them, to elements that are
/// often the same; mostly the registers are dead afterwards.
fn copies(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    for (pair, lds) in [(2, 6), (4, 7)] {
        code.push(vop2(LSHLREV, lds, 128 + 2, 0));
        if r.once_in(3) {
            code.push(vop2(ADD, lds, 128 + 4 * r.below(3), lds));
        }
        code.push(vop1(1, pair + 1, BASE + 1));
        code.push(vop2(ADD_CO, pair, BASE, lds));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    for _ in 0..3 + r.below(8) {
        let words = *r.pick(&[1, 1, 1, 2]);
        let register = 8 + r.below(5);
        let offset = *r.pick(&[0, 0, 256, 512]);
        let (at, lds_at) = *r.pick(&[(2, 6), (2, 6), (4, 7)]);
        match r.below(10) {
            0..3 => code.extend(load(words, register, at, offset)),
            3..6 => code.extend(store(words, register, at, offset)),
            6 => code.extend(lds(r.once_in(2), words, register, lds_at, offset as u32)),
            7 => code.push(vop1(1, register, v(8 + r.below(6)))),
            _ => code.push(vop2(ADD, register, 129 + r.below(2), 8 + r.below(6))),
        }
    }
    if !r.once_in(3) {
        code.push(ENDPGM);
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn accesses_of_the_same_elements() {
    let rounds = Rounds {
        count: 150,
        factor: 6_000_011,
        shapes: shapes(),
        program: copies,
        prepare: |_, _| {},
    };
    rounds.run(|_| {});
}

#[test]
fn accesses_that_count_by_lane() {
    let rounds = Rounds {
        count: 150,
        factor: 2_000_003,
        shapes: shapes(),
        program: accesses,
        prepare: |_, _| {},
    };
    rounds.run(|_| {});
}

#[test]
fn accesses_that_almost_count_by_lane() {
    let (mut ended, mut inline) = (0, 0);
    let rounds = Rounds {
        count: 200,
        factor: 3_000_017,
        shapes: shapes(),
        program: bent,
        prepare: |_, before| before.fuel = 1000,
    };
    let rounds = rounds.run(|round| {
        ended += usize::from(round.ends());
        let (func, facts) = round.analysed();
        let known = func.blocks.iter().enumerate().any(|(i, block)| {
            let mut effects = block.effects.iter();
            effects.any(|&e| facts.address(i, e).is_some_and(|a| a.stepped))
        });
        inline += usize::from(known);
    });
    println!("{ended} of {rounds} programs end without a fault, {inline} have words that may wrap");
    assert!(ended * 4 > rounds, "{ended} of {rounds} end");
    assert!(
        inline * 16 > rounds,
        "{inline} of {rounds} have words that may wrap"
    );
}

/// A load's result used only by a store, after a store to the loaded address.
#[test]
fn what_was_loaded_is_older_than_what_is_stored() {
    let bench = Bench::new();
    let mut code = vec![
        vop2(LSHLREV, 6, 128 + 2, 0),
        vop1(1, 3, BASE + 1),
        vop2(ADD_CO, 2, BASE, 6),
        vop2(ADDC_CO, 3, 128, 3),
    ];
    code.extend(load(1, 8, 2, 0));
    code.extend(load(1, 9, 2, 1024));
    code.push(vop2(ADD, 9, 129, 9));
    code.extend(store(1, 9, 2, 0));
    code.extend(store(1, 8, 2, 2048));
    code.push(ENDPGM);
    code.extend([BARRIER, END]);
    with_code(&bench, &code, |loaded, bytes| {
        for n in 0..8 {
            let mut before = state(&bench, &mut Random::new(n), Gfx::Gfx900);
            set64(&mut before.sgpr, 126, u64::MAX);
            set64(&mut before.sgpr, BASE as usize, bench.buffer());
            before.rows = 0;
            for lane in 0..LANES {
                before.vgpr[0][lane] = lane as u32;
            }
            before.fuel = 1000;
            compare(&bench, loaded, &before, bytes, &format!("state {n}"));
        }
    });
}
