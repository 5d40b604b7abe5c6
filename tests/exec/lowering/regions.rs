//! Parallel regions against the interpreter: blocks under nested masks, loops within loops, loads at affine and scattered
//! addresses that may leave memory in any group, values that are the same in all lanes.

use frontend::state::LANES;
use harness::random::Random;
use harness::snippet::{BARRIER, END, set64};
use lower::analysis::liveness;
use lower::analysis::parallel::{self, Parallel, Request};
use lower::host::{Host, Isa};
use lower::options::Forms;
use runtime::jit::JitOptions;

use super::rounds::{Round, Rounds, in_one_row, shapes};
use super::words::{
    ADD, AND64, ANDN2, BASE, COUNT, EXEC, LEFT, LSHLREV, OR64, STEP, VCC, advance, arithmetic,
    branch, branch_to, compare_some, count_down, load, sop1, sop2, store, v, vop1, vop2, vop3,
    vopc,
};

/// The parallel regions of a program, for host vectors of `per` lanes.
fn regions(round: &Round<'_>, per: usize) -> Vec<Parallel> {
    let (func, _) = round.analysed();
    let start = match round.before.rows {
        0 => frontend::WaveState::V0_COUNTS,
        n => u64::from(n) << frontend::WaveState::ROWS.trailing_zeros(),
    };
    let facts = lower::analysis::uniformity::analyse(&func, start, true, true);
    let lives = liveness::lives(&func);
    let request = Request {
        f: &func,
        lives: &lives,
        facts: &facts,
        host: Host::of(Some(Isa::Avx2)),
        per,
        group: None,
    };
    parallel::find(request, &Default::default()).regions
}

/// Compares in all rounds, of which one in `most` at least has a region of several blocks.
fn run(rounds: Rounds, most: usize) {
    let mut found = 0;
    let total = rounds.run(|round| {
        let planned = regions(round, 16);
        found += usize::from(planned.iter().any(|region| region.blocks.len() > 1));
    });
    println!("{found} of {total} programs have regions");
    assert!(
        found * most > total,
        "{found} of {total} programs have regions"
    );
}

/// v[18:19] is an address: of each lane's own dword, of one that all share, or of any.
fn address(r: &mut Random, code: &mut Vec<u32>) {
    match r.below(4) {
        0 => code.push(vop1(1, 17, 128)),
        1 => code.extend([vop1(1, 17, v(4)), vop2(0x1b, 17, 128 + 63, 17)]),
        _ => code.push(vop1(1, 17, v(0))),
    }
    // Dwords of the lanes behind one another.
    code.extend([
        vop2(LSHLREV, 17, 128 + 2, 17),
        vop1(1, 18, v(17)),
        vop1(1, 19, 128),
    ]);
    code.extend(advance(18, BASE, true));
}

/// Some arithmetic, and perhaps a load.
fn work(r: &mut Random, code: &mut Vec<u32>) {
    arithmetic(r, code);
    if r.once_in(2) {
        address(r, code);
        let words = 1 + r.below(4);
        code.extend(load(words, 4 + r.below(4), 18, r.below(32) as i32 * 4));
    }
}

/// A block under a mask, with others in it; its saved mask is in s[saved:saved+1].
fn guarded(r: &mut Random, saved: u32) -> Vec<u32> {
    let mut body = Vec::new();
    work(r, &mut body);
    if saved < 38 && r.once_in(2) {
        body.extend(guarded(r, saved + 2));
        work(r, &mut body);
    }
    let mut code = vec![compare_some(r), sop1(0x20, saved, VCC)];
    if !r.once_in(4) {
        code.push(branch(8, body.len() as i32));
    }
    code.extend(body);
    if r.once_in(3) {
        let mut other = Vec::new();
        work(r, &mut other);
        code.push(sop2(ANDN2, EXEC, saved, EXEC));
        code.push(branch(8, other.len() as i32));
        code.extend(other);
    }
    code.push(sop2(OR64, EXEC, EXEC, saved));
    code
}

/// Masks, and loops that lanes leave inside loops that a counter ends.
fn nested(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 21, 128 + r.below(4))];
    for _ in 0..1 + r.below(2) {
        code.extend(guarded(r, 32));
    }
    let outer = code.len();
    let inner = r.once_in(2);
    if inner {
        // v20 counts to v21, by lane or the same in all.
        code.extend([vop1(1, 20, 128), sop1(1, LEFT, 128)]);
        let start = code.len();
        code.push(vop2(ADD, 20, 129, 20));
        code.extend(guarded(r, 32));
        code.extend([
            vopc(0xc9, v(20), 21),
            sop1(1, 38, EXEC),
            sop2(AND64, EXEC, EXEC, VCC),
        ]);
        branch_to(&mut code, 9, start);
        code.push(sop1(1, EXEC, 38));
    }
    code.extend(guarded(r, 32));
    count_down(&mut code, outer);
    code.extend(guarded(r, 32));
    code.extend([32, 34, 36, 38, LEFT, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

/// A mask of which one word is overwritten some blocks later, while the other is read.
fn half_overwritten(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    // v_cmp_lt_u32_e64 s[32:33], v8, v9
    code.extend(vop3(0xc9, 32, [v(8), v(9), 0]));
    arithmetic(r, &mut code);
    code.extend(guarded(r, 34));
    // s_mov_b32
    code.push(sop1(0, 32 + r.below(2), 128 + r.below(4)));
    code.extend(guarded(r, 34));
    code.extend([34, 36, 38, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

/// A scalar that tells which blocks the wave executed.
const TRACE: u32 = 44;

/// A loop whose branches test a condition that is the same in all lanes, or in all of a row, under an EXEC that may leave groups
/// without lanes. What is skipped changes scalars.
fn uniform(r: &mut Random) -> Vec<u32> {
    // Lanes that do not act keep other numbers.
    let mut code = vec![vop1(1, 20, 128 + r.below(3)), sop1(0, TRACE, 128)];
    let start = code.len();
    for n in 0..1 + r.below(3) {
        let mut body = vec![sop2(0, TRACE, TRACE, 129 + n)];
        arithmetic(r, &mut body);
        // v_cmp_eq_u32; v1 is 0, 4, 8 ... in the rows of lanes.
        let (number, register) = match r.below(3) {
            0 => (128 + 4 * r.below(3), 1),
            _ => (128 + r.below(3), 20),
        };
        code.push(vopc(0xca, number, register));
        // s_cbranch_vccz or s_cbranch_vccnz.
        code.push(branch(6 + r.below(2), body.len() as i32));
        code.extend(body);
        if r.once_in(2) {
            code.push(vop2(ADD, 20, 129, 20));
        }
    }
    count_down(&mut code, start);
    code.push(sop1(1, VCC, 128));
    code.extend([BARRIER, END]);
    code
}

/// A value that is the same in all lanes, then a store under a mask, behind which EXEC is restored and the value used in a
/// loop: the region begins where groups may have no lane.
fn restored(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 20, *r.pick(&[129, 130, 131, STEP]))];
    // Lanes that are not active here keep what they had, even if EXEC is widened later.
    if r.once_in(2) {
        code.push(sop1(1, 36, EXEC));
        code.push(compare_some(r));
        code.push(sop2(AND64, EXEC, EXEC, VCC));
        code.push(vop1(1, 20, *r.pick(&[129, 132])));
        if r.once_in(2) {
            code.push(sop1(1, EXEC, 36));
        }
    }
    let mut body = Vec::new();
    address(r, &mut body);
    body.extend(store(1, 8, 18, 64));
    // A condition that whole groups may fail.
    code.extend([compare_some(r), sop1(0x20, 32, *r.pick(&[VCC, 40]))]);
    if r.once_in(2) {
        code.extend([compare_some(r), sop1(0x20, 34, VCC)]);
    }
    code.push(branch(8, body.len() as i32));
    code.extend(body);
    let saved = *r.pick(&[32, 32, 32, 34, 36]);
    code.push(match r.below(2) {
        0 => sop2(OR64, EXEC, EXEC, saved),
        _ => sop1(1, EXEC, saved),
    });
    let start = code.len();
    for _ in 0..1 + r.below(3) {
        code.push(vop2(ADD, 8 + r.below(4), v(20), 8 + r.below(4)));
        if r.once_in(2) {
            code.extend([vop2(LSHLREV, 18, 128 + 2, 20), vop1(1, 19, 128)]);
            code.extend(advance(18, BASE, true));
            code.extend(load(1, 4 + r.below(4), 18, r.below(32) as i32 * 4));
        }
        if r.once_in(3) {
            code.push(vop2(ADD, 20, 129, 20));
        }
        if r.once_in(3) {
            code.extend(guarded(r, 38));
        }
    }
    count_down(&mut code, start);
    code.extend([32, 34, 36, 38, 40, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

/// A loop in which a constant is a mask and an operand of 64 bits in one block.
fn constants(r: &mut Random) -> Vec<u32> {
    let mut code = vec![sop1(1, 36, EXEC)];
    let start = code.len();
    for _ in 0..1 + r.below(3) {
        // 0 to 64, -1, 1.0.
        let some = 130 + r.below(62);
        let constant = *r.pick(&[128, 129, some, 193, 242]);
        let (number, result) = (8 + 2 * r.below(3), 8 + 2 * r.below(3));
        // v_add_f64, v_max_f64, v_lshlrev_b64.
        let op = *r.pick(&[0x280, 0x283, 0x28f]);
        let work = vop3(op, result, [v(number), constant, 0]);
        match r.below(3) {
            0 => {
                code.extend(work);
                code.push(sop1(1, EXEC, constant));
            }
            1 => {
                code.push(sop1(1, EXEC, constant));
                code.extend(work);
            }
            // v_cmp_f_u32.
            _ => {
                code.push(vopc(0xc8, v(8), 9));
                code.extend(work);
            }
        }
        arithmetic(r, &mut code);
        code.push(sop1(1, EXEC, 36));
    }
    count_down(&mut code, start);
    code.extend([36, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

/// A loop with values that are affine in the lane, shifted by up to 64 bits, of which the low five or six count.
fn shifted(r: &mut Random) -> Vec<u32> {
    // A region that begins with a loop knows nothing of v0.
    let mut code = vec![vop1(1, 21, 130)];
    let start = code.len();
    for n in 0..1 + r.below(3) {
        let by = 128 + r.below(65);
        let (from, to) = (r.below(2), 8 + 2 * n);
        match r.below(3) {
            0 => code.extend([vop2(LSHLREV, to, by, from), vop1(1, to + 1, v(to))]),
            // v_lshlrev_b64
            1 => code.extend(vop3(0x28f, to, [by, v(0), 0])),
            _ => code.extend([vop2(LSHLREV, to, by, from), vop2(ADD, to + 1, 130, to)]),
        }
        let mut body = Vec::new();
        arithmetic(r, &mut body);
        code.extend([
            compare_some(r),
            sop1(0x20, 32, VCC),
            branch(8, body.len() as i32),
        ]);
        code.extend(body);
        code.push(sop2(OR64, EXEC, EXEC, 32));
    }
    count_down(&mut code, start);
    code.extend([32, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

/// `scratch_load_dword` or `scratch_store_dword` at a constant offset, by way of s50.
fn scratch(load: bool, register: u32, offset: u32) -> [u32; 3] {
    let (op, at) = if load { (0x14, 24) } else { (0x1c, 8) };
    [
        sop1(0, 50, 128),
        0xdc00_4000 | op << 18 | offset,
        50 << 16 | register << at,
    ]
}

/// A loop that stores to scratch and may change EXEC between loads and stores of the same dword, and then loads from anywhere:
/// if it begins again, lanes that did not act at first must find what they had.
fn stored(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    let start = code.len();
    let offset = 4 * r.below(2);
    code.extend(scratch(false, 8, offset));
    let mut body = vec![sop1(1, 46, EXEC)];
    if !r.once_in(4) {
        body.push(sop1(1, EXEC, 193));
    }
    body.extend(scratch(true, 9, offset));
    body.push(vop2(ADD, 9, 129, 9));
    body.extend(scratch(false, 9, offset));
    body.push(sop1(1, EXEC, 46));
    // s_cmp_lg_u32 and s_cbranch_scc0 or s_cbranch_scc1.
    code.push(0xbf07_0000 | (128 + r.below(4)) << 8 | COUNT);
    code.push(branch(4 + r.below(2), body.len() as i32));
    code.extend(body);
    address(r, &mut code);
    code.extend(load(1, 4 + r.below(4), 18, r.below(32) as i32 * 4));
    arithmetic(r, &mut code);
    count_down(&mut code, start);
    code.extend([46, 50, VCC].map(|s| sop1(1, s, 128)));
    code.extend([BARRIER, END]);
    code
}

#[test]
fn scratch_that_is_stored_before_a_region_begins_again() {
    let mut all = shapes();
    // Nothing but regions changes the order.
    all.truncate(4);
    let rounds = Rounds {
        count: 80,
        factor: 7_000_013,
        shapes: all,
        program: stored,
        prepare: |r, before| {
            set64(&mut before.sgpr, EXEC as usize, r.lanes());
            for n in 4..8 {
                if r.once_in(4) {
                    before.vgpr[n] = [r.next() as u32; LANES];
                }
            }
        },
    };
    run(rounds, 8);
}

#[test]
fn tests_of_uniform_conditions_in_rows_and_without_lanes() {
    let rounds = Rounds {
        count: 80,
        factor: 7_000_009,
        shapes: shapes(),
        program: uniform,
        prepare: |r, before| {
            // A condition in rows is no test of a region.
            if r.once_in(2) {
                in_one_row(before);
            }
            // Some lanes, or one run of them, so that groups have none.
            if r.once_in(2) {
                set64(&mut before.sgpr, EXEC as usize, r.run_of_lanes());
            }
        },
    };
    run(rounds, 8);
}

#[test]
fn regions_that_begin_where_exec_is_restored() {
    let rounds = Rounds {
        count: 80,
        factor: 7_000_017,
        shapes: shapes(),
        program: restored,
        prepare: |r, before| {
            if r.once_in(3) {
                in_one_row(before);
            }
            // Saved masks that no instruction of the program made.
            for pair in [32, 34, 36, 40] {
                set64(&mut before.sgpr, pair, r.lanes());
            }
            if r.once_in(2) {
                set64(&mut before.sgpr, 40, r.run_of_lanes());
            }
            let exec = if r.once_in(2) { u64::MAX } else { r.lanes() };
            set64(&mut before.sgpr, EXEC as usize, exec);
        },
    };
    run(rounds, 3);
}

#[test]
fn constants_that_are_masks_and_operands() {
    let rounds = Rounds {
        count: 40,
        factor: 7_000_019,
        shapes: shapes(),
        program: constants,
        prepare: |r, before| set64(&mut before.sgpr, EXEC as usize, r.lanes()),
    };
    run(rounds, 3);
}

#[test]
fn masks_of_which_one_word_is_overwritten() {
    let rounds = Rounds {
        count: 40,
        factor: 7_000_031,
        shapes: shapes(),
        program: half_overwritten,
        prepare: |_, _| {},
    };
    rounds.run(|_| {});
}

#[test]
fn affine_values_shifted_by_more_than_their_width() {
    let rounds = Rounds {
        count: 40,
        factor: 7_000_027,
        shapes: shapes(),
        program: shifted,
        prepare: |r, before| {
            if r.once_in(3) {
                in_one_row(before);
            }
        },
    };
    run(rounds, 3);
}

#[test]
fn regions_of_blocks_under_masks_and_of_loops() {
    let base = JitOptions::exact();
    let mut all = shapes();
    all.push(("blocks one by one", base.without(Forms::PARALLEL)));
    all.push((
        "regions alone",
        base.without(Forms::GROUP_LOOPS | Forms::LANE_SERIAL),
    ));
    let rounds = Rounds {
        count: 60,
        factor: 7_000_003,
        shapes: all,
        program: nested,
        prepare: |r, before| {
            if r.once_in(2) {
                before.vgpr[21] = [1 + r.below(4); LANES];
            }
            for n in 4..8 {
                if r.once_in(4) {
                    before.vgpr[n] = [r.next() as u32; LANES];
                }
            }
        },
    };
    run(rounds, 3);
}
