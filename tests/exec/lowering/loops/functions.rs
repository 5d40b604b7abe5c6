//! Loops with functions that the wide back end computes in vectors (shifts by lane, bit fields,
//! halves): of uniform and of varying operands, for arithmetic, for addresses, and for the end of
//! the loop.

use harness::random::Random;
use harness::snippet::{BARRIER, END};

use super::{planned, planned_for};
use crate::lowering::rounds::{Rounds, shapes};
use crate::lowering::words::{
    ADD, ADD_CO, ADDC_CO, AND64, BASE, COUNT, EXEC, LEFT, LSHLREV, OR64, STEP, VCC, arithmetic,
    branch, branch_to, compare_some, count_down, lds, load, sop1, sop2, v, vop1, vop2, vop3, vopc,
};

/// Registers that hold anything.
const DATA: [u32; 7] = [0, 1, 8, 9, 10, 11, 12];

fn data(r: &mut Random) -> u32 {
    *r.pick(&DATA)
}

/// A source: mostly a register, else uniform.
fn source(r: &mut Random) -> u32 {
    match r.below(4) {
        0 => STEP,
        1 => *r.pick(&[128, 129, 134, 159, 193, 242, 244]),
        _ => v(data(r)),
    }
}

/// `v_pk_…_f16` with both halves as they stand.
fn packed(op: u32, dst: u32, sources: [u32; 3]) -> [u32; 2] {
    let [a, b, c] = sources;
    [0xd380_4000 | op << 16 | dst, 3 << 27 | a | b << 9 | c << 18]
}

/// A function into a register.
fn function(r: &mut Random, dst: u32, code: &mut Vec<u32>) {
    let (a, b, c) = (source(r), data(r), data(r));
    match r.below(8) {
        0 => code.push(vop2(*r.pick(&[0x10, 0x11, 0x12]), dst, a, b)),
        1 => code.extend(vop3(*r.pick(&[0x1c8, 0x1c9, 0x1ce]), dst, [a, v(b), v(c)])),
        2 => code.push(vop1(*r.pick(&[0x0a, 0x0b]), dst, a)),
        3 => code.push(vop2(*r.pick(&[0x1f, 0x20, 0x22]), dst, a, b)),
        4 => code.extend(vop3(0x296, dst, [a, v(b), 0])),
        5 => code.extend(vop3(0x206, dst, [a, v(b), v(c)])),
        _ => code.extend(packed(*r.pick(&[0x0e, 0x0f, 0x10]), dst, [a, v(b), v(c)])),
    }
}

/// A function of uniform values that is small enough for a part of an address.
fn uniform(r: &mut Random, dst: u32, code: &mut Vec<u32>) {
    match r.below(4) {
        0 => code.push(vop1(0x0a, dst, *r.pick(&[128, 129, STEP]))),
        1 => code.extend(vop3(0x1c8, dst, [STEP, 128 + r.below(8), 128 + r.below(8)])),
        2 => code.extend([vop1(1, dst, 129), vop2(0x12, dst, 128 + r.below(8), dst)]),
        _ => code.extend([vop1(1, dst, COUNT), vop2(0x12, dst, v(dst), dst)]),
    }
}

/// A loop that a counter ends, or EXEC.
fn trip_counts(r: &mut Random) -> Vec<u32> {
    let mut code = vec![
        vop2(
            LSHLREV,
            6,
            128 + *r.pick(&[2u32, 2, 3]),
            *r.pick(&[0, 0, 1]),
        ),
        vop1(1, 3, BASE + 1),
        vop2(ADD_CO, 2, BASE, 6),
        vop2(ADDC_CO, 3, 128, 3),
        vop1(1, 20, 128),
        vop2(0x13, 21, 128 + 15, 22),
        sop1(1, LEFT, 128),
    ];
    let start = code.len();
    let loads = r.below(3);
    for _ in 0..loads {
        let words = *r.pick(&[1, 1, 2]);
        code.extend(load(words, 8 + r.below(4), 2, *r.pick(&[0, 4, 64])));
    }
    for _ in 0..1 + r.below(5) {
        let dst = *r.pick(&[8, 9, 10, 11, 12]);
        function(r, dst, &mut code);
    }
    arithmetic(r, &mut code);
    if r.once_in(3) {
        // Guarded, so that functions are merged.
        let dst = *r.pick(&[8, 9, 10]);
        let mut body = Vec::new();
        function(r, dst, &mut body);
        code.extend([compare_some(r), sop1(0x20, 32, VCC)]);
        code.push(branch(8, body.len() as i32));
        code.extend(body);
        code.push(sop2(OR64, EXEC, EXEC, 32));
    }
    match r.below(4) {
        0 => {
            // A part of the address.
            uniform(r, 7, &mut code);
            code.push(vop2(0x13, 7, 128 + 28, 7));
            code.extend([vop2(ADD_CO, 2, v(7), 2), vop2(ADDC_CO, 3, 128, 3)]);
        }
        1 => {
            uniform(r, 7, &mut code);
            code.extend(lds(true, 1, 13, 7, 0));
        }
        _ => code.extend([vop2(ADD_CO, 2, 132, 2), vop2(ADDC_CO, 3, 128, 3)]),
    }
    code.push(vop2(ADD, 20, 129, 20));
    if r.once_in(2) {
        count_down(&mut code, start);
    } else {
        code.extend([vopc(0xc9, v(20), 21), sop2(AND64, EXEC, EXEC, VCC)]);
        branch_to(&mut code, 9, start);
    }
    code.push(sop1(1, EXEC, 193));
    code.extend([32, 34, 36, 38, LEFT, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

#[test]
fn loops_with_functions() {
    let (mut inside, mut alone) = (0, 0);
    let rounds = Rounds {
        count: 60,
        factor: 5_000_011,
        shapes: shapes(),
        program: trip_counts,
        prepare: |_, _| {},
    };
    let rounds = rounds.run(|round| {
        inside += usize::from(!planned_for(round, lower::host::LANES).is_empty());
        alone += usize::from(!planned(round).is_empty());
    });
    println!("{inside} of {rounds} loops go inside, {alone} without functions");
    assert!(inside * 3 > rounds, "{inside} of {rounds} loops go inside");
    assert!(alone * 4 < inside, "{alone} of {inside} need no function");
}
