//! Registers that M0 chooses, against the interpreter: EXEC written by `s_movrels_b64`, which the lane IR does not see as a
//! write of EXEC; and destinations that do not exist.

use fuzz::assembler::M0;
use harness::random::Random;
use harness::snippet::{BARRIER, END, State, set64};

use super::rounds::{Rounds, first_shapes, shapes};
use super::words::{
    ADD_CO, EXEC, VCC, arithmetic, branch, compare_some, sop1, v, vop1, vop2, vop3,
};

/// Masks in SGPRs, of which M0 chooses one.
const MASKS: u32 = 32;
/// What M0 becomes: the index of a destination.
const INDEX: u32 = 38;
/// Where a carry goes.
const CARRY: u32 = 36;

/// Compares programs in all shapes.
fn run(factor: u64, program: fn(&mut Random) -> Vec<u32>, prepare: fn(&mut Random, &mut State)) {
    let rounds = Rounds {
        count: 60,
        factor,
        shapes: [first_shapes(), shapes()].concat(),
        program,
        prepare,
    };
    rounds.run(|_| {});
}

/// A VGPR written on some lanes, then on fewer, and read under an EXEC that may have more.
fn program(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 12, 207)];
    if r.once_in(2) {
        arithmetic(r, &mut code);
    }
    code.extend([compare_some(r), sop1(0x20, 40, *r.pick(&[VCC, MASKS]))]);
    if r.once_in(2) {
        // A new block.
        code.push(branch(8, 0));
    }
    code.push(vop1(1, 12, 133));
    code.push(sop1(0x2b, EXEC, MASKS));
    code.push(vop1(1, 14, v(12)));
    if r.once_in(2) {
        arithmetic(r, &mut code);
    }
    // Nothing else is left of v12.
    code.extend([sop1(1, EXEC, 193), vop1(1, 12, 128), sop1(1, 40, 128)]);
    code.extend([BARRIER, END]);
    code
}

#[test]
fn exec_from_a_register_that_m0_names() {
    run(7_000_033, program, |r, before| {
        before.sgpr[M0 as usize] = *r.pick(&[0, 2, 4]);
        for pair in [MASKS, MASKS + 2, MASKS + 4] {
            set64(&mut before.sgpr, pair as usize, r.lanes());
        }
    });
}

/// Sums with a carry whose destination M0 chooses, often beyond the last register: then there is no carry either.
fn carries(r: &mut Random) -> Vec<u32> {
    // `s_set_gpr_idx_on` for destinations.
    let mut code = vec![0xbf11_0800 | INDEX];
    for _ in 0..1 + r.below(3) {
        let destination = 8 + r.below(6);
        match r.once_in(2) {
            true => code.push(vop2(ADD_CO, destination, v(8), 9)),
            // `v_sub_co_u32_e64`.
            false => code.extend(vop3(0x11a, destination | CARRY << 8, [v(9), v(10), 0])),
        }
    }
    // `s_set_gpr_idx_off`.
    code.push(0xbf9c_0000);
    if r.once_in(2) {
        arithmetic(r, &mut code);
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn carries_without_a_destination() {
    run(7_000_037, carries, |r, before| {
        before.sgpr[INDEX as usize] = *r.pick(&[0, 1, 2, 244, 250, 255]);
        set64(&mut before.sgpr, EXEC as usize, r.lanes());
    });
}
