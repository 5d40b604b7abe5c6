//! Programs whose registers look affine, the same in all lanes, or written under EXEC, and are not. Against the interpreter.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};

use super::rounds::{Rounds, first_shapes, in_one_row, shapes};
use super::words::{
    ADD, ADD_CO, ADDC_CO, BASE, COUNT, EXEC, LSHLREV, STEP, VCC, advance, branch, count_down, load,
    sop1, v, vop1, vop2,
};

const AND: u32 = 0x13;
const SUB_CO: u32 = 0x1a;
const SUBB_CO: u32 = 0x1d;

fn rounds(
    factor: u64,
    program: fn(&mut Random) -> Vec<u32>,
    prepare: fn(&mut Random, &mut State),
) -> Rounds {
    let mut all = first_shapes();
    all.extend(shapes());
    Rounds {
        count: 40,
        factor,
        shapes: all,
        program,
        prepare,
    }
}

/// One row, v1 0, and a scalar to which few lanes can be added before it wraps.
fn near_the_end(r: &mut Random, before: &mut State) {
    in_one_row(before);
    before.vgpr[1] = [0; LANES];
    before.fuel = 1000;
    before.sgpr[STEP as usize] = 0u32.wrapping_sub(4 * r.below(70));
}

/// The distance of a sum that wraps from its summand: the borrow is the same in all lanes if strides alone count.
fn cancelled(r: &mut Random) -> Vec<u32> {
    let mut code = vec![
        vop2(LSHLREV, 10, 130, 0),
        vop2(ADD, 11, STEP, 10),
        vop1(1, 14, 128),
        vop2(SUB_CO, 12, v(11), 10),
        vop2(SUBB_CO, 13, 128, 14),
        // 64 where that is negative.
        vop2(AND, 18, 192, 13),
        vop1(1, 19, 128),
    ];
    code.extend(advance(18, BASE, true));
    code.extend(load(1, 6, 18, 4 * r.below(8) as i32));
    code.extend([BARRIER, END]);
    code
}

#[test]
fn wraps_that_cancel() {
    rounds(7_000_037, cancelled, near_the_end).run(|_| {});
}

/// A register that is the same in the lanes of EXEC, read while EXEC is all ones, which is not in the lane IR.
fn widened(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 20, STEP), sop1(1, 36, EXEC)];
    if r.once_in(2) {
        code.push(branch(2, 0));
    }
    let start = code.len();
    code.push(sop1(1, EXEC, 193));
    code.extend(match r.below(3) {
        0 => vec![vop2(ADD, 8, v(20), 8)],
        // v_cmp_gt_u32 vcc, v20, v9
        1 => vec![0x7d98_0000 | 9 << 9 | v(20), vop1(1, 8, VCC)],
        _ => {
            let mut code = vec![vop2(AND, 18, 188, 20), vop1(1, 19, 128)];
            code.extend(advance(18, BASE, true));
            code.extend(load(1, 8, 18, 0));
            code
        }
    });
    code.push(sop1(1, EXEC, 36));
    count_down(&mut code, start);
    code.extend([sop1(1, EXEC, 193), sop1(1, 36, 128), sop1(1, VCC, 128)]);
    code.extend([BARRIER, END]);
    code
}

#[test]
fn exec_of_all_ones_is_wider() {
    let rounds = rounds(7_000_039, widened, |r, before| {
        in_one_row(before);
        before.fuel = 1000;
        set64(&mut before.sgpr, EXEC as usize, r.run_of_lanes());
    });
    rounds.run(|_| {});
}

/// An address made before the loop of a word that wraps, read in a loop with a branch.
fn made_before(r: &mut Random) -> Vec<u32> {
    let mut code = vec![
        vop2(LSHLREV, 10, 130, 0),
        vop2(ADD, 11, STEP, 10),
        vop1(1, 12, BASE + 1),
        vop2(ADD_CO, 18, BASE, 11),
        vop2(ADDC_CO, 19, 128, 12),
    ];
    let start = code.len();
    // s_cmp_eq_u32 and s_cbranch_scc1.
    code.extend([0xbf06_0000 | (128 + r.below(4)) << 8 | COUNT, branch(5, 1)]);
    code.push(vop2(ADD, 8, 129, 8));
    code.extend(load(1, 7, 18, 0));
    code.push(vop2(ADD, 9, v(7), 9));
    count_down(&mut code, start);
    code.extend([sop1(1, VCC, 128), BARRIER, END]);
    code
}

#[test]
fn addresses_whose_words_wrapped_before() {
    let rounds = rounds(7_000_047, made_before, |r, before| {
        near_the_end(r, before);
        let base = [BASE, BASE + 1].map(|n| u64::from(before.sgpr[n as usize]));
        let base = (base[0] | base[1] << 32) - u64::from(before.sgpr[STEP as usize]);
        set64(&mut before.sgpr, BASE as usize, base);
        // The lanes that do not wrap, or some more.
        let step = before.sgpr[STEP as usize];
        let lanes = (0u32.wrapping_sub(step) / 4).min(63) + r.below(2) * 4;
        let exec = if lanes >= 64 {
            u64::MAX
        } else {
            (1 << lanes) - 1
        };
        set64(&mut before.sgpr, EXEC as usize, exec | 1);
    });
    rounds.run_with_faults();
}
