//! Words that wrap between the lanes before they are extended: apparently affine addresses, or
//! compared numbers, that are not. Against the interpreter.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};

use super::rounds::{Rounds, first_shapes, in_one_row};
use super::words::{
    ADD, ADD_CO, ADDC_CO, BASE, EXEC, LSHLREV, STEP, VCC, count_down, load, sop1, store, vop1,
    vop2, vopc,
};

/// A limit of 64 bits.
const LIMIT: u32 = 26;

fn program(r: &mut Random) -> Vec<u32> {
    // v10 counts up or down from a scalar.
    let mut words = match r.below(4) {
        0 => vec![vop2(0x35, 10, STEP, 0)],
        1 => vec![vop2(LSHLREV, 10, 129, 0), vop2(ADD, 10, STEP, 10)],
        _ => vec![vop2(ADD, 10, STEP, 0)],
    };
    // v_mov_b32 v11, 0 or v_ashrrev_i32 v11, 31, v10
    words.push(match r.once_in(2) {
        true => vop1(1, 11, 128),
        false => vop2(0x11, 11, 128 + 31, 10),
    });
    if r.once_in(2) {
        // v_cmp_.._i64 or _u64
        let op = 0xe0 + 8 * r.below(2) + 1 + r.below(6);
        words.extend([vopc(op, LIMIT, 10), sop1(1, 34, VCC)]);
    }
    // v_lshlrev_b64 v[10:11], 2, v[10:11]
    words.extend([0xd28f_000a, 0x0002_1482]);
    words.extend([
        vop1(1, 12, BASE + 1),
        vop2(ADD_CO, 10, BASE, 10),
        // v_addc_co_u32 of v12
        vop2(ADDC_CO, 11, 256 + 12, 11),
    ]);
    for _ in 0..1 + r.below(3) {
        let offset = 4 * r.below(8) as i32;
        words.extend(match r.once_in(3) {
            true => store(1, 8, 10, offset),
            false => load(1, 8 + r.below(2), 10, offset),
        });
    }
    words.extend([BARRIER, END]);
    words
}

fn prepare(r: &mut Random, before: &mut State) {
    in_one_row(before);
    before.fuel = 1000;
    let edge = *r.pick(&[0u32, 1 << 31]);
    let start = edge.wrapping_add(r.below(160)).wrapping_sub(120);
    before.sgpr[STEP as usize] = start;
    let wide: u64 = match r.once_in(2) {
        true => u64::from(start),
        false => i64::from(start as i32) as u64,
    };
    // Around the first lane addresses are in the buffer, or a little behind.
    let base = [BASE, BASE + 1].map(|n| u64::from(before.sgpr[n as usize]));
    let base = (base[0] | base[1] << 32) + u64::from(r.below(256)) * 4;
    set64(
        &mut before.sgpr,
        BASE as usize,
        base.wrapping_sub(wide << 2),
    );
    let limit = wide.wrapping_add(u64::from(r.below(100)));
    set64(&mut before.sgpr, LIMIT as usize, limit);
}

#[test]
fn lines_that_break_off() {
    let rounds = Rounds {
        count: 150,
        factor: 0xd134_2543_de82_ef95,
        shapes: first_shapes(),
        program,
        prepare,
    };
    rounds.run_with_faults();
}

/// Accesses at the lane's number shifted by almost 64 bits: strides of which few multiples are addresses.
fn far(r: &mut Random) -> Vec<u32> {
    // v_lshlrev_b64 v[10:11], by, v[0:1]
    let by = *r.pick(&[191u32, 191, 190, 189, 172, 160, 152]);
    let mut words = vec![0xd28f_000a, 256 << 9 | by];
    words.extend([
        vop1(1, 12, BASE + 1),
        vop2(ADD_CO, 10, BASE, 10),
        vop2(ADDC_CO, 11, 256 + 12, 11),
    ]);
    let start = words.len();
    for _ in 0..1 + r.below(2) {
        let (count, offset) = (1 + r.below(4), 4 * r.below(8) as i32);
        words.extend(match r.once_in(3) {
            true => store(count, 8, 10, offset),
            false => load(count, 6, 10, offset),
        });
    }
    if r.once_in(2) {
        count_down(&mut words, start);
    }
    words.extend([BARRIER, END]);
    words
}

#[test]
fn strides_of_half_the_address_space() {
    let rounds = Rounds {
        count: 75,
        factor: 7_000_031,
        shapes: first_shapes(),
        program: far,
        prepare: |r, before| {
            before.vgpr[1] = [0; LANES];
            before.fuel = 1000;
            // Lanes at an even distance, and perhaps one between.
            let step = *r.pick(&[1u32, 2, 4, 8]);
            let mut lanes = (0..64)
                .step_by(step as usize)
                .fold(0, |all, n| all | 1u64 << n);
            lanes &= r.lanes() | 1 << r.below(64);
            if r.once_in(2) {
                lanes |= 1 << r.below(64);
            }
            set64(&mut before.sgpr, EXEC as usize, lanes);
        },
    };
    rounds.run_with_faults();
}
