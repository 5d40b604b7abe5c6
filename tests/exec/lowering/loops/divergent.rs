//! Loops that lanes leave one after the other, with blocks under masks in them.

use frontend::state::LANES;
use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END};
use lower::host::{Host, Isa};
use lower::jit::{Allocation, HostLevel, Jit};
use lower::options::{Forms, Options};

use super::planned;
use crate::lowering::rounds::{Round, Rounds, compare, shapes, state, with_code};
use crate::lowering::words::{
    ADD, AND64, ANDN2, BREAK, COUNT, EXEC, LEFT, OR64, STEP, VCC, XOR64, arithmetic, branch,
    branch_to, compare_some, count_down, sop1, sop2, v, vop1, vop2, vopc,
};

/// A block under a mask, its own saved in s[saved:saved+1].
pub(super) fn guarded(r: &mut Random, saved: u32) -> Vec<u32> {
    let mut body = Vec::new();
    arithmetic(r, &mut body);
    if saved < 36 && r.once_in(2) {
        body.extend(guarded(r, saved + 2));
        if r.once_in(2) {
            arithmetic(r, &mut body);
        }
    }
    match r.below(6) {
        // Another compiler's loop: lanes that break are recorded.
        0 | 1 => body.extend([
            compare_some(r),
            sop2(ANDN2, BREAK, BREAK, EXEC),
            sop2(AND64, 38, VCC, EXEC),
            sop2(OR64, BREAK, BREAK, 38),
        ]),
        2 => body.push(sop2(OR64, BREAK, BREAK, EXEC)),
        // A scalar that is not written on the skipping edge.
        3 if r.once_in(2) => body.push(sop2(0, STEP, STEP, 129)),
        _ => {}
    }
    let mut code = vec![compare_some(r), sop1(0x20, saved, VCC)];
    if !r.once_in(4) {
        code.push(branch(8, body.len() as i32));
    }
    code.extend(body);
    if r.once_in(3) {
        // The other side.
        let mut other = Vec::new();
        arithmetic(r, &mut other);
        code.push(sop2(ANDN2, EXEC, saved, EXEC));
        code.push(branch(8, other.len() as i32));
        code.extend(other);
    }
    code.push(sop2(OR64, EXEC, EXEC, saved));
    code
}

/// A loop that EXEC ends, or a counter, with blocks under masks in it.
fn divergent(r: &mut Random) -> Vec<u32> {
    // v20 counts to v21, at most 31.
    let mut code = vec![
        vop1(1, 20, 128),
        vop2(0x13, 21, 128 + 31, 22),
        sop1(1, LEFT, 128),
    ];
    if r.once_in(2) {
        code.push(sop1(1, BREAK, 128));
    }
    let start = code.len();
    code.push(vop2(ADD, 20, 129, 20));
    for _ in 0..r.below(3) {
        match r.below(3) {
            0 => arithmetic(r, &mut code),
            _ => code.extend(guarded(r, 32)),
        }
    }
    if r.once_in(2) {
        code.push(sop2(0, STEP, STEP, 129));
    }
    // Continues while v20 < v21.
    let by_exec = !r.once_in(4);
    if by_exec {
        match r.below(4) {
            0 => code.extend([vopc(0xc9, v(20), 21), sop2(AND64, EXEC, EXEC, VCC)]),
            1 => code.extend([vopc(0xce, v(20), 21), sop2(ANDN2, EXEC, EXEC, VCC)]),
            2 => code.extend([
                vopc(0xce, v(20), 21),
                sop2(OR64, LEFT, VCC, LEFT),
                sop2(ANDN2, EXEC, EXEC, LEFT),
            ]),
            _ => code.extend([
                vopc(0xce, v(20), 21),
                sop2(AND64, 38, EXEC, BREAK),
                sop2(OR64, 38, VCC, 38),
                sop2(OR64, LEFT, 38, LEFT),
                sop2(ANDN2, EXEC, EXEC, LEFT),
            ]),
        }
        if r.once_in(3) {
            // Structured code: exits when no lane is left, otherwise continues.
            code.push(branch(8, 1));
            branch_to(&mut code, 2, start);
        } else {
            branch_to(&mut code, 9, start);
        }
    } else {
        count_down(&mut code, start);
    }
    code.push(sop2(*r.pick(&[OR64, XOR64]), EXEC, EXEC, LEFT));
    arithmetic(r, &mut code);
    // Mostly the masks of the last iteration are dead.
    if !r.once_in(8) {
        code.extend([32, 34, 36, 38, VCC].map(|s| sop1(1, s, 128)));
    }
    code.push(0xbf07_0000 | 128 << 8 | COUNT);
    code.extend([BARRIER, END]);
    code
}

#[test]
fn loops_that_lanes_leave() {
    let (mut inside, mut quick) = (0, 0);
    let rounds = Rounds {
        count: 80,
        factor: 3_000_017,
        shapes: shapes(),
        program: divergent,
        prepare: |r, before| {
            if r.once_in(4) {
                // All lanes run the same iterations.
                before.vgpr[22] = [r.next() as u32; LANES];
            }
            if r.once_in(4) {
                (before.sgpr[126], before.sgpr[127]) = (r.next() as u32, r.next() as u32);
            }
        },
    };
    let total = rounds.run(|round| {
        let plans = planned(round);
        inside += usize::from(!plans.is_empty());
        quick += usize::from(plans.iter().any(|plan| plan.unmasked.is_some()));
    });
    println!("{inside} of {total} loops go inside, {quick} with an unmasked iteration");
    assert!(inside * 3 > total, "{inside} of {total} loops go inside");
    assert!(
        quick * 8 > total,
        "{quick} of {total} have an unmasked iteration"
    );
}

/// Register allocation is checked in debug builds. With AVX-512 mask registers share stack slots
/// with general ones: this needs no CPU that has it.
#[test]
fn registers_of_avx512_are_given_rightly() {
    let bench = Bench::new();
    let mut jit = Jit::new(HostLevel::Native).expect("a code generator");
    for n in 0..120 {
        let mut r = Random::new(5_000_011 + n);
        let code = divergent(&mut r);
        let before = state(&bench, &mut r, Gfx::Gfx900);
        with_code(&bench, &code, |loaded, _| {
            let round = Round {
                bench: &bench,
                loaded,
                before: &before,
            };
            let (func, _) = round.analysed();
            let base = Options {
                host: Host::of(Some(Isa::Avx512)),
                ..Options::default()
            };
            let shapes = [
                base,
                Options {
                    baseline: true,
                    ..base
                },
                Options {
                    without: Forms::ZMM,
                    ..base
                },
                Options {
                    count: true,
                    ..base
                },
                Options {
                    without: Forms::GROUP_LOOPS,
                    ..base
                },
            ];
            for options in shapes {
                let made = jit.object(&func, &options, func.entry, Allocation::Baseline);
                assert!(made.is_ok(), "program {n}: {:?}", made.err());
            }
        });
    }
}

/// An iteration counts the lanes of the loop's own EXEC, not of the initial one.
#[test]
fn lanes_are_counted_in_loops_that_make_their_own_exec() {
    let bench = Bench::new();
    let code = [
        sop1(1, LEFT, EXEC),
        0xb000_0000 | COUNT << 16 | 3,
        // The loop: active lanes if v12 <= v2, or v9 is a number; then all of the previous lanes
        // again.
        vopc(0xce, v(2), 12),
        sop1(0x20, BREAK, VCC),
        vopc(0x47, 128 + 32, 9),
        sop2(OR64, EXEC, EXEC, BREAK),
        0xb700_0000 | COUNT << 16 | 0xffff,
        0xbf07_0000 | 128 << 8 | COUNT,
        branch(5, -7),
        sop1(1, VCC, 128),
        BARRIER,
        END,
    ];
    with_code(&bench, &code, |loaded, bytes| {
        for n in 0..16 {
            let before = state(&bench, &mut Random::new(n), Gfx::Gfx900);
            compare(&bench, loaded, &before, bytes, &format!("state {n}"));
        }
    });
}
