//! EXEC written by `s_movrels_b64`, which the lane IR does not see as a write of EXEC. Against the interpreter.

use harness::random::Random;
use harness::snippet::{BARRIER, END, set64};

use super::rounds::{Rounds, first_shapes, shapes};
use super::words::{EXEC, VCC, arithmetic, branch, compare_some, sop1, v, vop1};

/// Masks in SGPRs, of which M0 chooses one.
const MASKS: u32 = 32;
const M0: u32 = 124;

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
    let mut all = first_shapes();
    all.extend(shapes());
    let rounds = Rounds {
        count: 60,
        factor: 7_000_033,
        shapes: all,
        program,
        prepare: |r, before| {
            before.sgpr[M0 as usize] = *r.pick(&[0, 2, 4]);
            for pair in [MASKS, MASKS + 2, MASKS + 4] {
                set64(&mut before.sgpr, pair as usize, r.lanes());
            }
        },
    };
    rounds.run(|_| {});
}
