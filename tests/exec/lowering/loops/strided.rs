//! Loops that stride through memory until a lane's index reaches a bound, with EXEC from a
//! comparison in each iteration: the compiled form of `for (i = id; i < n; i += size)`.

use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END};

use super::divergent::guarded;
use super::planned;
use crate::lowering::rounds::{Round, Rounds, compare, in_one_row, shapes, state, with_code};
use crate::lowering::words::{
    ADD, ADD_CO, ADDC_CO, AND64, ANDN2, BASE, COUNT, EXEC, LEFT, LSHLREV, OR64, STEP, VCC, advance,
    arithmetic, branch, branch_to, lds, load, sop1, sop2, v, vop1, vop2, vopc,
};

/// The bound of the index (64 bits).
const BOUND: u32 = 32;
/// The lane's index, v[n:n+1].
const INDEX: u32 = 16;

/// A program with such a loop.
fn strided(r: &mut Random) -> Vec<u32> {
    let mut code = vec![
        vop2(LSHLREV, 6, 128 + *r.pick(&[2u32, 2, 3]), 0),
        vop1(1, 3, BASE + 1),
        vop2(ADD_CO, 2, BASE, 6),
        vop2(ADDC_CO, 3, 128, 3),
        vop1(1, INDEX, v(*r.pick(&[0, 0, 0, 1]))),
        vop1(1, INDEX + 1, 128),
        // The bound is a number of iterations, or of lanes.
        sop2(0x1c, BOUND, COUNT, 128 + r.below(7)),
        sop1(0, BOUND + 1, 128),
        sop1(1, LEFT, *r.pick(&[128, 128, 128, 130])),
    ];
    let start = code.len();
    for _ in 0..1 + r.below(2) {
        let words = *r.pick(&[1, 1, 1, 2, 4]);
        let offset = *r.pick(&[0, 0, 4, 64, -4]);
        match r.below(5) {
            0 => code.extend(lds(true, words, 8 + r.below(3), 6, 16)),
            _ => code.extend(load(words, 8 + r.below(3), 2, offset)),
        }
    }
    arithmetic(r, &mut code);
    if r.once_in(4) {
        code.extend(guarded(r, 34));
    }
    match r.below(3) {
        0 => code.extend([
            vop2(ADD_CO, INDEX, 128 + r.below(65), INDEX),
            vop2(ADDC_CO, INDEX + 1, 128, INDEX + 1),
        ]),
        _ => code.extend(advance(INDEX, 24, r.once_in(2))),
    }
    match r.below(3) {
        0 => code.extend(advance(2, 24, r.once_in(2))),
        _ => code.extend([
            vop2(ADD_CO, 2, 128 + 4 * r.below(16), 2),
            vop2(ADDC_CO, 3, 128, 3),
        ]),
    }
    // 64 and 32 bits, unsigned and signed.
    let wide = r.below(4);
    let (below, above) = [(0xec, 0xeb), (0xe4, 0xe3), (0xcc, 0xcb), (0xc4, 0xc3)][wide as usize];
    if r.once_in(2) {
        code.extend([vopc(below, BOUND, INDEX), sop2(AND64, EXEC, EXEC, VCC)]);
    } else {
        code.extend([
            vopc(above, BOUND, INDEX),
            sop2(OR64, LEFT, VCC, LEFT),
            sop2(ANDN2, EXEC, EXEC, LEFT),
        ]);
    }
    branch_to(&mut code, 9, start);
    code.push(sop1(1, EXEC, 193));
    arithmetic(r, &mut code);
    code.extend([34, 36, 38, LEFT, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

#[test]
fn loops_that_stride_through_memory() {
    let mut peeled = 0;
    let rounds = Rounds {
        count: 80,
        factor: 4_000_037,
        shapes: shapes(),
        program: strided,
        prepare: |r, before| {
            if r.once_in(2) {
                in_one_row(before);
            }
            before.fuel = before.fuel.min(60);
        },
    };
    let total = rounds.run(|round| {
        let plans = planned(round);
        peeled += usize::from(plans.iter().any(|plan| plan.peel.is_some()));
    });
    println!("{peeled} of {total} loops are peeled");
    assert!(peeled * 4 > total, "{peeled} of {total} loops are peeled");
}

/// A peeled loop of which no group runs an iteration: registers that it writes without reading
/// them, from a uniform or an affine value, are unchanged on lanes that the general loop does not
/// write.
#[test]
fn registers_that_a_peeled_loop_only_writes_keep_their_lanes() {
    let bench = Bench::new();
    for (number, source) in [STEP, v(0), v(1)].into_iter().enumerate() {
        let mut code = vec![
            vop2(LSHLREV, 6, 128 + 2, 0),
            vop1(1, 3, BASE + 1),
            vop2(ADD_CO, 2, BASE, 6),
            vop2(ADDC_CO, 3, 128, 3),
            // s_mov_b64 LEFT, exec; v_and_b32 v16, 3, v0
            sop1(1, LEFT, EXEC),
            vop2(0x13, INDEX, 128 + 3, 0),
        ];
        let start = code.len();
        // Lanes where v9 < v10 take the source.
        code.extend([vopc(0xc9, v(9), 10), sop1(0x20, 34, VCC)]);
        code.extend([branch(8, 1), vop1(1, 8, source)]);
        code.push(sop2(OR64, EXEC, EXEC, 34));
        code.extend(load(2, 12, 2, 0));
        code.push(vop2(ADD, INDEX, 129, INDEX));
        code.extend([vopc(0xcc, 128 + 4, INDEX), sop2(AND64, EXEC, EXEC, VCC)]);
        branch_to(&mut code, 9, start);
        code.extend([sop1(1, EXEC, LEFT), sop1(1, VCC, 128), sop1(1, 34, 128)]);
        code.extend([BARRIER, END]);
        for n in 0..4 {
            let mut r = Random::new(n);
            let mut before = state(&bench, &mut r, Gfx::Gfx900);
            in_one_row(&mut before);
            before.fuel = 1000;
            with_code(&bench, &code, |loaded, bytes| {
                let round = Round {
                    bench: &bench,
                    loaded,
                    before: &before,
                };
                let peeled = planned(&round).iter().any(|plan| plan.peel.is_some());
                assert!(peeled, "source {number}");
                let what = format!("source {number}, state {n}");
                compare(&bench, loaded, &before, bytes, &what);
            });
        }
    }
}
