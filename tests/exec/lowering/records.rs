//! Loads and stores of fields of records, one for each lane, against the interpreter: loads with gaps between what the lanes
//! have, stores that leave none together, or some; in memory and LDS, up to their ends, with lanes off.

use harness::random::Random;
use harness::snippet::{BARRIER, END, LDS, State, ZONE, set64};

use super::rounds::{Rounds, in_one_row, shapes};
use super::words::{ADD, ADD_CO, ADDC_CO, BASE, ENDPGM, lds, load, store, v, vop1, vop2};

/// `v_mul_u32_u24`.
const MUL24: u32 = 0x08;

fn program(r: &mut Random) -> Vec<u32> {
    let words = *r.pick(&[2, 3, 4, 4, 5, 6, 7, 8, 8, 9, 16]);
    let bytes = 4 * words;
    let mut code = vec![vop2(MUL24, 6, 128 + bytes, 0)];
    if r.once_in(3) {
        code.push(vop2(ADD, 6, 128 + 4 * r.below(4), 6));
    }
    if r.once_in(3) {
        // Up to the end of LDS, or beyond it.
        let at = (LDS as u32 + 4 * r.below(4)).saturating_sub(64 * bytes + 4);
        // s_movk_i32 s26.
        code.extend([0xb01a_0000 | at & 0xffff, vop2(ADD, 6, 26, 6)]);
    }
    code.push(vop2(MUL24, 4, 128 + bytes, 0));
    code.push(vop1(1, 3, BASE + 1));
    code.push(vop2(ADD_CO, 2, BASE, 4));
    code.push(vop2(ADDC_CO, 3, 128, 3));
    let in_lds = r.once_in(2);
    for n in 0..1 + r.below(4) {
        let wide = 1 + r.below(2);
        let at = 4 * r.below(words + 1 - wide);
        let register = 8 + 2 * n;
        match in_lds ^ r.once_in(4) {
            true => code.extend(lds(true, wide, register, 6, at)),
            false => code.extend(load(wide, register, 2, at as i32)),
        }
    }
    for _ in 0..1 + r.below(4) {
        code.push(vop2(ADD, 8 + r.below(16), v(r.below(16)), 8 + r.below(16)));
    }
    // All fields in some order, mostly.
    let wide = if words.is_multiple_of(2) {
        1 + r.below(2)
    } else {
        1
    };
    let mut fields: Vec<u32> = (0..words / wide).map(|n| wide * n).collect();
    for n in 0..fields.len() {
        let other = r.below(fields.len() as u32) as usize;
        if r.once_in(2) {
            fields.swap(n, other);
        }
    }
    if r.once_in(4) {
        fields.pop();
    }
    if r.once_in(8) {
        fields.push(0);
    }
    for field in fields {
        let register = 8 + r.below(16);
        match in_lds {
            true => code.extend(lds(false, wide, register, 6, 4 * field)),
            false => code.extend(store(wide, register, 2, 4 * field as i32)),
        }
    }
    if r.once_in(3) {
        code.push(ENDPGM);
    }
    code.extend([BARRIER, END]);
    code
}

fn prepare(r: &mut Random, s: &mut State) {
    s.fuel = 1000;
    if !r.once_in(4) {
        in_one_row(s);
    }
    if !r.once_in(4) {
        set64(&mut s.sgpr, 126, u64::MAX);
    }
    if r.once_in(4) {
        // Up to the end of memory, or beyond it.
        let base = u64::from(s.sgpr[BASE as usize + 1]) << 32 | u64::from(s.sgpr[BASE as usize]);
        // The zone begins on the page before the buffer's.
        let end = (base & !4095) - 4096 + ZONE as u64;
        let base = end - 64 * u64::from(4 * r.below(17)) + u64::from(4 * r.below(3));
        set64(&mut s.sgpr, BASE as usize, base);
    }
}

#[test]
fn fields_of_records() {
    let mut ended = 0;
    let rounds = Rounds {
        count: 250,
        factor: 9_000_011,
        shapes: shapes(),
        program,
        prepare,
    };
    let rounds = rounds.run(|round| ended += usize::from(round.ends()));
    println!("{ended} of {rounds} programs end without a fault");
    assert!(ended * 4 > rounds, "{ended} of {rounds} end");
}
