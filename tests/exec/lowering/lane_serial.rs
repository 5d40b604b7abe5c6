//! Lane-serial loops, whose addresses come from memory or from each lane's own arithmetic, against
//! the interpreter: with lanes that leave, blocks under masks, fuel that runs out and accesses
//! outside memory.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, set64};
use lower::analysis::interchange::lane_serial::{self, trip_count::Recurrence};

use super::rounds::{Round, Rounds, shapes};
use super::words::{
    ADD, ADD_CO, ADDC_CO, AND64, ANDN2, BASE, COUNT, EXEC, LEFT, OR64, STEP, VCC, advance,
    arithmetic, branch, branch_to, compare_some, count_down, lds, load, sop1, sop2, v, vop1, vop2,
    vop3, vopc,
};

const AND: u32 = 0x13;
const LSHLREV_B64: u32 = 0x28f;

/// A pair of scalar registers with a mask that is made before the loop.
const FIXED: u32 = 36;

/// dst = a constant & src.
fn masked(dst: u32, constant: u32, src: u32) -> [u32; 2] {
    [vop2(AND, dst, 255, src), constant]
}

/// A load at the address that the word in v8 says.
fn indirect(r: &mut Random) -> Vec<u32> {
    let mut code = load(1, 8, *r.pick(&[2, 4]), *r.pick(&[0, 4, 64])).to_vec();
    code.extend(masked(14, *r.pick(&[0x1fc, 0x1ff]), 8));
    match r.below(3) {
        0 => code.extend([
            vop2(ADD_CO, 16, BASE, 14),
            vop1(1, 17, BASE + 1),
            vop2(ADDC_CO, 17, 128, 17),
        ]),
        n => {
            code.extend(vop3(LSHLREV_B64, 16, [128 + n, v(14), 0]));
            code.extend([vop2(ADD_CO, 16, BASE, 16), vop2(ADDC_CO, 17, v(31), 17)]);
        }
    }
    let words = *r.pick(&[1, 1, 2, 4]);
    code.extend(load(words, 8 + r.below(4), 16, 0));
    code
}

/// Loads under a mask.
fn guarded(r: &mut Random) -> Vec<u32> {
    let mut body = match r.below(3) {
        0 => lds(true, *r.pick(&[1, 2]), 10, 7, 4 * r.below(9)).to_vec(),
        1 => load(*r.pick(&[1, 2, 3]), 10, *r.pick(&[2, 4]), 8).to_vec(),
        _ => indirect(r),
    };
    arithmetic(r, &mut body);
    let mut code = match r.once_in(3) {
        // By a mask that no iteration writes.
        true => vec![sop1(0x20, 32, FIXED)],
        false => vec![compare_some(r), sop1(0x20, 32, VCC)],
    };
    if !r.once_in(4) {
        code.push(branch(8, body.len() as i32));
    }
    code.extend(body);
    code.push(sop2(OR64, EXEC, EXEC, 32));
    code
}

/// The loads and arithmetic of an iteration.
fn iteration(r: &mut Random, code: &mut Vec<u32>) {
    for _ in 0..1 + r.below(3) {
        match r.below(8) {
            0..=2 => {
                let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
                let offset = *r.pick(&[0, 4, 64, -4, 3]);
                code.extend(load(words, 8 + r.below(4), *r.pick(&[2, 4]), offset));
            }
            3 | 4 => code.extend(indirect(r)),
            5 => code.extend(lds(true, *r.pick(&[1, 2, 4]), 8, 7, 4 * r.below(20))),
            6 => code.extend(guarded(r)),
            _ => arithmetic(r, code),
        }
    }
    if r.once_in(2) {
        // A sum of floats.
        code.push(vop2(0x01, 13, v(8), 13));
    }
    for pair in [2, 4] {
        match r.below(5) {
            0 => {}
            1 => code.extend(advance(pair, 24, r.once_in(2))),
            _ => code.extend([
                vop2(ADD_CO, pair, 128 + 4 * r.below(5), pair),
                vop2(ADDC_CO, pair + 1, 128, pair + 1),
            ]),
        }
    }
    if r.once_in(2) {
        code.push(vop2(ADD, 7, 132, 7));
    }
    if r.once_in(2) {
        code.push(sop2(0, STEP, STEP, 129));
    }
}

/// A loop that EXEC ends, or a counter.
fn program(r: &mut Random) -> Vec<u32> {
    // v20 counts to v21, at most 15.
    let mut code = vec![
        vop1(1, 20, 128),
        vop2(AND, 21, 128 + 15, 22),
        vop1(1, 15, if r.once_in(8) { v(26) } else { 128 }),
        vop1(1, 31, BASE + 1),
        sop1(1, LEFT, 128),
        compare_some(r),
        sop1(1, FIXED, VCC),
    ];
    for (pair, source) in [(2, 23), (4, 24)] {
        if r.once_in(24) {
            // Arbitrary.
            continue;
        }
        code.extend(masked(pair, *r.pick(&[0x3fc, 0x3fc, 0x3ff]), source));
        code.extend([
            vop1(1, pair + 1, BASE + 1),
            vop2(ADD_CO, pair, BASE, pair),
            vop2(ADDC_CO, pair + 1, 128, pair + 1),
        ]);
    }
    code.extend(masked(7, if r.once_in(16) { u32::MAX } else { 0x1fc }, 25));
    let start = code.len();
    code.push(vop2(ADD, 20, 129, 20));
    iteration(r, &mut code);
    if r.once_in(4) {
        count_down(&mut code, start);
    } else {
        match r.below(3) {
            0 => code.extend([vopc(0xc9, v(20), 21), sop2(AND64, EXEC, EXEC, VCC)]),
            1 => code.extend([vopc(0xce, v(20), 21), sop2(ANDN2, EXEC, EXEC, VCC)]),
            _ => code.extend([
                vopc(0xce, v(20), 21),
                sop2(OR64, LEFT, VCC, LEFT),
                sop2(ANDN2, EXEC, EXEC, LEFT),
            ]),
        }
        branch_to(&mut code, 9, start);
    }
    code.push(sop2(OR64, EXEC, EXEC, LEFT));
    arithmetic(r, &mut code);
    if !r.once_in(8) {
        code.extend([32, 34, VCC].map(|s| sop1(1, s, 128)));
    }
    code.push(0xbf07_0000 | 128 << 8 | COUNT);
    code.extend([BARRIER, END]);
    code
}

/// How many loops of a program are planned, how many of them have trip counts, and how many of
/// their loads step through memory or load elements of arrays.
fn planned(round: &Round<'_>) -> [usize; 4] {
    let (func, facts) = round.analysed();
    let live = lower::analysis::liveness::lives(&func).start;
    let strides = |block, v| Some(facts.address(block, v)?.stride);
    let mut found = [0; 4];
    for head in facts.loops() {
        let Some(mut plan) = lane_serial::plan(&func, head, &live, &strides) else {
            continue;
        };
        plan.find_trip_count();
        found[0] += 1;
        found[1] += usize::from(plan.count.is_some());
        for recurrence in plan.recurrences.values() {
            found[match recurrence {
                Recurrence::Steps(_) => 2,
                Recurrence::Element(..) => 3,
            }] += 1;
        }
    }
    found
}

#[test]
fn lanes_that_go_round_alone() {
    let mut found = [0; 4];
    let rounds = Rounds {
        count: 120,
        factor: 5_000_011,
        shapes: shapes(),
        program,
        prepare: |r, before| {
            if r.once_in(4) {
                // All lanes run the same iterations.
                before.vgpr[22] = [r.next() as u32; LANES];
            }
            if r.once_in(2) {
                (before.sgpr[126], before.sgpr[127]) = (r.next() as u32, r.next() as u32);
            }
            if r.once_in(16) {
                set64(&mut before.sgpr, 126, 0);
            }
        },
    };
    let total = rounds.run(|round| {
        for (sum, n) in found.iter_mut().zip(planned(round)) {
            *sum += n;
        }
    });
    let [alone, counted, steps, elements] = found;
    println!("{alone} of {total} loops are lane-serial, {counted} with a trip count");
    println!("{steps} loads step through memory, {elements} take elements of arrays");
    assert!(alone * 4 > total, "{alone} of {total} loops");
    assert!(counted * 4 > alone, "{counted} of {alone} loops");
    assert!(steps * 4 > counted, "{steps} of {counted} loops");
    assert!(elements * 8 > alone, "{elements} of {alone} loops");
}
