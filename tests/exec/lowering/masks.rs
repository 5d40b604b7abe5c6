//! Accesses at affine values under a run-time mask, or a constant that keeps the low bits: their
//! addresses are affine as long as the mask keeps all bits in which the lanes differ. Against the
//! interpreter: masks with each of their low bits off, values that cross the mask's edge and that
//! wrap, inactive lanes, memory and LDS.

use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};

use super::rounds::{Rounds, first_shapes, in_one_row, shapes};
use super::words::{
    ADD, ADD_CO, ADDC_CO, AND64, BASE, EXEC, LEFT, LSHLREV, STEP, VCC, lds, load, sop1, sop2,
    store, store_part, v, vop1, vop2, vop3, vopc,
};

const AND: u32 = 0x13;
const SUB: u32 = 0x35;
/// A mask, and one of high words.
const MASK: u32 = 26;

/// An access of what lies at v[10:11], or in LDS at v10.
fn access(r: &mut Random, in_lds: bool) -> [u32; 2] {
    let words = *r.pick(&[1, 1, 1, 2, 4]);
    let (to, from) = (16 + 4 * r.below(2), 20 + r.below(4));
    let offset = 4 * r.below(4);
    let mut words = match (in_lds, r.below(8)) {
        (true, 0..4) => lds(true, words, to, 10, offset),
        (true, _) => lds(false, words, from, 10, offset),
        (_, 0..4) => load(words, to, 10, offset as i32),
        (_, 4) => store_part(r.once_in(2), from, 10, offset as i32),
        _ => store(words, from, 10, offset as i32),
    };
    if !in_lds && r.once_in(5) {
        // FLAT.
        words[0] &= !0xc000;
    }
    words
}

fn program(r: &mut Random) -> Vec<u32> {
    // v[6:7] counts from a scalar by 1, 2 or 3.
    let mut words = match r.below(4) {
        0 => vec![vop2(LSHLREV, 6, 129, 0), vop2(ADD, 6, STEP, 6)],
        1 => vec![
            vop2(LSHLREV, 6, 129, 0),
            vop2(ADD, 6, v(0), 6),
            vop2(ADD, 6, STEP, 6),
        ],
        _ => vec![vop2(ADD, 6, STEP, 0)],
    };
    words.push(vop1(1, 7, 128));
    if r.once_in(2) {
        words.extend([
            vop1(1, 7, STEP + 1),
            vop2(ADD_CO, 6, 129, 6),
            vop2(ADDC_CO, 7, 128, 7),
        ]);
    }
    // v8 is that under a mask: of the wave, of all lanes, or a constant.
    words.extend(match r.below(4) {
        0 => vec![vop1(1, 9, MASK), vop2(AND, 8, v(6), 9)],
        1 => vec![vop2(AND, 8, *r.pick(&[191, 190, 192, 159, 193]), 6)],
        _ => vec![vop2(AND, 8, MASK, 6)],
    });
    words.push(match r.once_in(4) {
        true => vop2(AND, 9, MASK + 1, 7),
        false => vop1(1, 9, 128),
    });
    if r.once_in(3) {
        // v_cmp_eq_u64 or v_cmp_ne_u64 with 0.
        words.extend([vopc(0xea + 3 * r.below(2), 128, 8), sop1(1, 34, VCC)]);
    }
    let in_lds = r.once_in(4);
    if in_lds {
        words.push(vop2(LSHLREV, 10, 130, 8));
    } else {
        match r.below(3) {
            // v[10:11] = v[6:7] * 2 - v8, as steps of a sort have it.
            0 => {
                words.extend(vop3(0x28f, 10, [129, v(6), 0]));
                // v_sub_co_u32 and v_subbrev_co_u32
                words.extend([vop2(0x1a, 10, v(10), 8), vop2(0x1e, 11, 128, 11)]);
            }
            1 => words.extend([vop1(1, 10, v(8)), vop1(1, 11, v(9))]),
            _ => words.extend([vop2(SUB, 10, v(6), 8), vop1(1, 11, 128)]),
        }
        words.extend(vop3(0x28f, 10, [130, v(10), 0]));
        words.extend([
            vop1(1, 12, BASE + 1),
            vop2(ADD_CO, 10, BASE, 10),
            vop2(ADDC_CO, 11, v(12), 11),
        ]);
    }
    for _ in 0..1 + r.below(3) {
        if r.once_in(4) {
            words.push(sop2(AND64, EXEC, EXEC, LEFT));
        }
        words.extend(access(r, in_lds));
        if r.once_in(3) {
            words.push(vop2(ADD, 20 + r.below(4), v(16), 8));
        }
    }
    words.extend([BARRIER, END]);
    words
}

/// A number as it begins, and a mask whose bits up to some bit it keeps, but for one.
fn prepare(r: &mut Random, before: &mut State) {
    in_one_row(before);
    before.fuel = 1000;
    let first: u32 = match r.below(4) {
        // Aligned, as workgroups are, or not.
        0 | 1 => 64 * r.below(4),
        2 => r.below(256),
        _ => r.below(160).wrapping_sub(120),
    };
    let high = *r.pick(&[0, 0, 1, u32::MAX]);
    [before.sgpr[STEP as usize], before.sgpr[STEP as usize + 1]] = [first, high];
    let ones = *r.pick(&[0, 4, 5, 6, 6, 6, 7, 7, 8, 31, 32]);
    let mut mask = ((1u64 << ones) - 1) as u32;
    match r.below(4) {
        0 => mask ^= 1 << r.below(8),
        1 => mask |= 1 << r.below(32),
        _ => {}
    }
    let masks = u64::from(mask) | u64::from(*r.pick(&[0, 1, u32::MAX])) << 32;
    set64(&mut before.sgpr, MASK as usize, masks);
    let left = r.next() | r.next();
    set64(&mut before.sgpr, LEFT as usize, *r.pick(&[left, u64::MAX]));
    // Mostly the lanes are in the buffer if their numbers are those of words in it.
    let base =
        u64::from(before.sgpr[BASE as usize]) | u64::from(before.sgpr[BASE as usize + 1]) << 32;
    let back = match r.below(4) {
        0 => u64::from(first) << 2,
        1 => u64::from(first & mask) << 2,
        _ => 0,
    };
    set64(&mut before.sgpr, BASE as usize, base.wrapping_sub(back));
}

#[test]
fn lines_under_masks() {
    let mut all = first_shapes();
    all.extend(shapes());
    let (mut ended, mut masked) = (0, 0);
    let rounds = Rounds {
        count: 100,
        factor: 6_000_011,
        shapes: all,
        program,
        prepare,
    };
    let rounds = rounds.run(|round| {
        ended += usize::from(round.ends());
        let (func, facts) = round.analysed();
        let mut blocks = func.blocks.iter().enumerate();
        masked += usize::from(blocks.any(|(i, block)| {
            let mut known = block.effects.iter().filter_map(|&e| facts.address(i, e));
            known.any(|affine| affine.masked)
        }));
    });
    println!("{ended} of {rounds} programs end without a fault, {masked} have lines under masks");
    assert!(ended * 3 > rounds, "{ended} of {rounds} end");
    assert!(
        masked * 2 > rounds,
        "{masked} of {rounds} have lines under masks"
    );
}
