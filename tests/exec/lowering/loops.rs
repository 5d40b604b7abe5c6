//! What is made of addresses that count by lane or within rows, against the interpreter: loads and stores of
//! memory and LDS, and loops that run inside the lane groups, in every group width and as they stand; with
//! fuel that runs out, accesses that leave memory, and words that wrap.

use frontend::state::LANES;
use frontend::target::Gfx;
use harness::random::Random;
use harness::snippet::{BARRIER, Bench, END, State};
use lower::facts::Facts;
use lower::interchange;
use lower::ir::Func;
use lower::region::{self, Request};
use runtime::engine::{Emitter, Exit};
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions};

mod functions;
mod strided;

/// VGPR operand code.
pub(super) fn v(n: u32) -> u32 {
    256 + n
}

pub(super) fn vop2(op: u32, dst: u32, src0: u32, src1: u32) -> u32 {
    op << 25 | dst << 17 | src1 << 9 | src0
}

pub(super) fn vop1(op: u32, dst: u32, src0: u32) -> u32 {
    0x7e00_0000 | dst << 17 | op << 9 | src0
}

pub(super) fn sop2(op: u32, dst: u32, src0: u32, src1: u32) -> u32 {
    0x8000_0000 | op << 23 | dst << 16 | src1 << 8 | src0
}

/// `global_load_dword…` of 1 to 4 dwords.
pub(super) fn load(words: u32, dst: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = 19 + words;
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        dst << 24 | 0x7f << 16 | address,
    ]
}

pub(super) const ADD_CO: u32 = 0x19;
pub(super) const ADDC_CO: u32 = 0x1c;
pub(super) const ADD: u32 = 0x34;
pub(super) const LSHLREV: u32 = 0x12;
/// The buffer's address.
pub(super) const BASE: u32 = 20;
/// Turns to go.
pub(super) const COUNT: u32 = 30;
/// A scalar that changes every turn.
pub(super) const STEP: u32 = 28;

/// 64-bit v[n:n+1] += s[s:s+1], the high scalar through v31.
pub(super) fn advance(n: u32, s: u32, crossed: bool) -> [u32; 3] {
    let (a, b) = if crossed {
        (v(n + 1), 31)
    } else {
        (v(31), n + 1)
    };
    [
        vop1(1, 31, s + 1),
        vop2(ADD_CO, n, s, n),
        vop2(ADDC_CO, n + 1, a, b),
    ]
}

/// A program and how often its loop goes round.
fn program(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    // Two addresses: v[2:3] and v[4:5]; v6 counts in steps.
    let source = *r.pick(&[0, 0, 0, 1]);
    let scale = *r.pick(&[2u32, 2, 2, 3, 4, 0, 6]);
    code.push(vop2(LSHLREV, 6, 128 + scale, source));
    for pair in [2, 4] {
        code.push(vop1(1, pair + 1, BASE + 1));
        let from = if pair == 2 || r.once_in(2) { 6 } else { 1 };
        code.push(vop2(ADD_CO, pair, BASE, from));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    let start = code.len();
    for _ in 0..1 + r.below(3) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let offset = *r.pick(&[0, 4, 64, -4, 3]);
        if r.once_in(4) {
            let words = *r.pick(&[1, 1, 2, 4]);
            let offset = *r.pick(&[0, 4, 64, 1024]);
            code.extend(lds(true, words, 8 + r.below(4), 6, offset));
            continue;
        }
        code.extend(load(words, 8 + r.below(4), *r.pick(&[2, 4]), offset));
    }
    for _ in 0..r.below(8) {
        let dst = *r.pick(&[7, 8, 9, 12, 13, 14, 15, 16]);
        let src0 = match r.below(4) {
            0 => 129 + r.below(16),
            1 => STEP,
            _ => v(*r.pick(&[0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14])),
        };
        let src1 = *r.pick(&[0, 1, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
        // Sums, products and logic of integers and floats, minima, shifts, multiply-add.
        let op = *r.pick(&[
            ADD, 0x35, 0x15, 0x13, 0x14, 0x12, 0x10, 0x08, 0x01, 0x05, 0x16, 0x0a, 0x0e,
        ]);
        code.push(vop2(op, dst, src0, src1));
    }
    if r.once_in(2) {
        code.push(vop2(ADD, 6, 128 + r.below(40), 6));
    }
    if r.once_in(2) {
        code.push(vop1(6, 12, v(6)));
    }
    if r.once_in(2) {
        code.push(sop2(*r.pick(&[0, 0xc, 0x24]), STEP, STEP, 128 + r.below(9)));
    }
    for pair in [2, 4] {
        match r.below(4) {
            0 => {}
            1 => code.extend(advance(pair, 24, r.once_in(2))),
            _ => code.extend([
                vop2(ADD_CO, pair, 128 + 4 * r.below(5), pair),
                vop2(ADDC_CO, pair + 1, 128, pair + 1),
            ]),
        }
    }
    code.push(sop2(0, COUNT, COUNT, 193));
    code.push(0xbf07_0000 | 128 << 8 | COUNT);
    let back = start as i32 - code.len() as i32 - 1;
    code.push(0xbf85_0000 | back as u32 & 0xffff);
    // s_mov_b64 vcc, 0: nobody wants the carries of the last turn.
    code.extend([0xbe80_0000 | 106 << 16 | 1 << 8 | 128, BARRIER, END]);
    code
}

/// A state for it: lanes as the dispatch leaves them, the scalars that the program names.
pub(super) fn state(bench: &Bench, r: &mut Random, gfx: Gfx) -> State {
    let mut s = bench.random_state(r, gfx);
    s.fresh = true;
    s.rows = *r.pick(&[0, 0, 2, 3, 4, 4, 5]);
    let row = if s.rows == 0 { 64 } else { 1 << s.rows };
    let first = if s.rows == 0 { r.below(3) * 64 } else { 0 };
    for lane in 0..LANES as u32 {
        s.vgpr[0][lane as usize] = first + lane % row;
        s.vgpr[1][lane as usize] = lane / row * 4;
    }
    let exec = match r.below(16) {
        0 | 1 => r.next(),
        // A run of lanes.
        2 | 3 => u64::MAX >> r.below(64) << r.below(64),
        _ => u64::MAX,
    };
    (s.sgpr[126], s.sgpr[127]) = (exec as u32, (exec >> 32) as u32);
    let base = bench.buffer() + u64::from(r.below(64)) * 4;
    s.sgpr[BASE as usize] = base as u32;
    s.sgpr[BASE as usize + 1] = (base >> 32) as u32;
    // Mostly small steps; sometimes out of memory.
    let step: u64 = match r.below(8) {
        0 => 0x1_0000_0000,
        1 => 0xffff_ffff_ffff_fff0,
        2 => 0x0100_0000,
        _ => u64::from(r.below(64)),
    };
    (s.sgpr[24], s.sgpr[25]) = (step as u32, (step >> 32) as u32);
    s.sgpr[COUNT as usize] = 1 + r.below(24);
    s.mode = 0xf0;
    s.fuel = *r.pick(&[1, 2, 5, 1000, 1000, 1000]);
    s
}

/// The shapes of the translator that matter here.
fn shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions {
        exact_nan: true,
        ..JitOptions::default()
    };
    let mut shapes = vec![("as chosen", base)];
    for group in [4, 8, 16] {
        let group = Some(group);
        shapes.push(("one width", JitOptions { group, ..base }));
    }
    let no_hoist = true;
    shapes.push(("nothing hoisted", JitOptions { no_hoist, ..base }));
    let no_interchange = true;
    shapes.push((
        "general loops",
        JitOptions {
            no_interchange,
            ..base
        },
    ));
    let no_alone = true;
    shapes.push(("lanes together", JitOptions { no_alone, ..base }));
    let no_fused = true;
    shapes.push(("loads apart", JitOptions { no_fused, ..base }));
    let emitter = Emitter::Cranelift;
    shapes.push(("cranelift", JitOptions { emitter, ..base }));
    let group = Some(4);
    shapes.push((
        "cranelift, one width",
        JitOptions {
            emitter,
            group,
            ..base
        },
    ));
    let no_fused_stores = true;
    shapes.push((
        "stores apart",
        JitOptions {
            no_fused_stores,
            ..base
        },
    ));
    shapes
}

/// The shapes of what a kernel begins with.
pub(super) fn first_shapes() -> Vec<(&'static str, JitOptions)> {
    let base = JitOptions {
        exact_nan: true,
        ..JitOptions::default()
    };
    let (no_lines, no_sink, observe) = (true, true, true);
    vec![
        ("as chosen", base),
        ("observed", JitOptions { observe, ..base }),
        ("compares by lane", JitOptions { no_lines, ..base }),
        ("writes in place", JitOptions { no_sink, ..base }),
        (
            "cranelift",
            JitOptions {
                emitter: Emitter::Cranelift,
                ..base
            },
        ),
    ]
}

/// `s_endpgm`.
pub(super) const ENDPGM: u32 = 0xbf81_0000;

/// Runs a program on the interpreter and in every shape.
pub(super) fn compare(
    bench: &Bench,
    loaded: &runtime::LoadedCode,
    before: &State,
    bytes: &[u8],
    what: &str,
) {
    compare_in(&shapes(), bench, loaded, before, bytes, what);
}

/// The same in some shapes.
pub(super) fn compare_in(
    shapes: &[(&'static str, JitOptions)],
    bench: &Bench,
    loaded: &runtime::LoadedCode,
    before: &State,
    bytes: &[u8],
    what: &str,
) {
    // Behind the end of a wave nobody looks at its registers.
    let gone = bytes.chunks_exact(4).any(|w| w == ENDPGM.to_le_bytes());
    let outcome = |engine: &dyn runtime::engine::Engine| {
        let mut outcome = bench.run(engine, loaded, before);
        if gone && matches!(outcome.exit, Exit::End) {
            let (memory, lds) = (outcome.state.memory, outcome.state.lds);
            outcome.state = before.clone();
            (outcome.state.memory, outcome.state.lds) = (memory, lds);
        }
        outcome
    };
    let want = outcome(&Interpreter);
    for &(name, options) in shapes {
        let jit = JitEngine::new(options).expect("this host");
        let got = outcome(&jit);
        let unequal = crate::differential::unequal(&want, &got, false);
        assert!(
            unequal.is_empty(),
            "{what}, {name} {:?}, rows {}, fuel {}:\n{}\n{}",
            options.group,
            before.rows,
            before.fuel,
            crate::differential::texts(Gfx::Gfx900, bytes),
            unequal.join("\n")
        );
    }
    if gone {
        return;
    }
    let counted =
        |engine: &dyn runtime::engine::Engine| bench.run_counting(engine, loaded, before, true);
    let jit = JitEngine::new(shapes[0].1).expect("this host");
    let unequal = crate::differential::unequal(&counted(&Interpreter), &counted(&jit), true);
    let text = crate::differential::texts(Gfx::Gfx900, bytes);
    assert!(
        unequal.is_empty(),
        "{what}, counting:\n{text}\n{}",
        unequal.join("\n")
    );
}

pub(super) fn seed() -> u64 {
    let seed = std::env::var("SEED").ok().and_then(|s| s.parse().ok());
    let seed = seed.unwrap_or(7);
    println!("SEED={seed}");
    seed
}

/// `ds_write…` or `ds_read…` of 1, 2 or 4 dwords.
pub(super) fn lds(read: bool, words: u32, register: u32, address: u32, offset: u32) -> [u32; 2] {
    let op = match (read, words) {
        (false, 1) => 13,
        (false, 2) => 77,
        (false, _) => 223,
        (true, 1) => 54,
        (true, 2) => 118,
        (true, _) => 255,
    };
    let at = if read { 24 } else { 8 };
    [0xd800_0000 | op << 17 | offset, register << at | address]
}

/// `global_store_dword…` of 1 to 4 dwords.
pub(super) fn store(words: u32, data: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = match words {
        4 => 31,
        n => 27 + n,
    };
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        0x7f << 16 | data << 8 | address,
    ]
}

/// `global_store_byte` or `global_store_short`.
fn store_part(short: bool, data: u32, address: u32, offset: i32) -> [u32; 2] {
    let op = if short { 26 } else { 24 };
    [
        0xdc00_8000 | op << 18 | offset as u32 & 0x1fff,
        0x7f << 16 | data << 8 | address,
    ]
}

/// Accesses one behind the other to memory at v[2:3] and v[4:5], which may be the same or meet, and to LDS at v6
/// and v7.
fn accesses(r: &mut Random) -> Vec<u32> {
    let mut code = Vec::new();
    let scales = [2u32, 2, 2, 3, 4, 4, 0, 6];
    let scale = *r.pick(&scales);
    for (pair, lds) in [(2, 6), (4, 7)] {
        let source = *r.pick(&[0, 0, 0, 1]);
        let scale = if r.once_in(2) {
            scale
        } else {
            *r.pick(&scales)
        };
        code.push(vop2(LSHLREV, lds, 128 + scale, source));
        if r.once_in(3) {
            code.push(vop2(ADD, lds, 128 + 4 * r.below(16), lds));
        }
        code.push(vop1(1, pair + 1, BASE + 1));
        code.push(vop2(ADD_CO, pair, BASE, lds));
        code.push(vop2(ADDC_CO, pair + 1, 128, pair + 1));
    }
    if r.once_in(4) {
        // Near the top, where words wrap.
        code.push(vop2(ADD, 6, 193 + r.below(8), 6));
    }
    for _ in 0..2 + r.below(6) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let register = 8 + 4 * r.below(3);
        let offset = *r.pick(&[0, 0, 4, 16, 64, 256]);
        let at = *r.pick(&[2, 2, 4]);
        let lds_at = if at == 2 { 6 } else { 7 };
        match r.below(7) {
            0 => code.extend(load(words, register, at, offset)),
            1 | 2 => code.extend(store(words, register, at, offset)),
            3 if r.once_in(3) => code.extend(store_part(r.once_in(2), register, at, offset)),
            3 => code.extend(lds(true, words, register, lds_at, offset as u32)),
            4 => code.extend(lds(false, words, register, lds_at, offset as u32)),
            _ => code.push(vop2(ADD, register, v(0), 8 + r.below(8))),
        }
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn accesses_that_count_by_lane() {
    let seed = seed();
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    let rounds = std::env::var("ROUNDS").ok().and_then(|s| s.parse().ok());
    for n in 0..rounds.unwrap_or(300u64) {
        let mut r = Random::new(seed.wrapping_mul(2_000_003).wrapping_add(n));
        let bytes: Vec<u8> = accesses(&mut r)
            .iter()
            .flat_map(|w| w.to_le_bytes())
            .collect();
        let loaded = bench.load(gfx, &bytes);
        let before = state(&bench, &mut r, gfx);
        let what = format!("SEED={seed} program {n}");
        compare(&bench, &loaded, &before, &bytes, &what);
        bench.unload(&loaded);
    }
}

/// `v_cmp_…` into VCC.
pub(super) fn vopc(op: u32, src0: u32, src1: u32) -> u32 {
    0x7c00_0000 | op << 17 | src1 << 9 | src0
}

pub(super) fn sop1(op: u32, dst: u32, src: u32) -> u32 {
    0xbe80_0000 | dst << 16 | op << 8 | src
}

/// A branch that EXEC decides (8: when it is 0, 9: when it is not), over `words` words.
pub(super) fn branch(op: u32, words: i32) -> u32 {
    0xbf80_0000 | op << 16 | words as u32 & 0xffff
}

pub(super) const VCC: u32 = 106;
pub(super) const EXEC: u32 = 126;
pub(super) const AND64: u32 = 0x0d;
pub(super) const OR64: u32 = 0x0f;
const XOR64: u32 = 0x11;
pub(super) const ANDN2: u32 = 0x13;
/// Lanes that have left.
pub(super) const LEFT: u32 = 40;
/// A mask that bodies change.
const BREAK: u32 = 42;

/// Arithmetic on registers that no condition of a loop's end reads.
pub(super) fn arithmetic(r: &mut Random, code: &mut Vec<u32>) {
    for _ in 0..1 + r.below(4) {
        let dst = *r.pick(&[8, 9, 10, 11, 12, 13]);
        let src0 = match r.below(4) {
            0 => 129 + r.below(16),
            1 => STEP,
            _ => v(*r.pick(&[0, 1, 7, 8, 9, 10, 11, 12, 13])),
        };
        let src1 = *r.pick(&[0, 1, 7, 8, 9, 10, 11, 12, 13]);
        let op = *r.pick(&[ADD, 0x35, 0x15, 0x13, 0x14, 0x08, 0x01, 0x05, 0x16]);
        code.push(vop2(op, dst, src0, src1));
    }
}

pub(super) fn compare_some(r: &mut Random) -> u32 {
    let op = *r.pick(&[0xc9, 0xcc, 0xcb, 0xcd, 0xce, 0x41, 0x44, 0x4e]);
    let src0 = *r.pick(&[v(7), v(8), v(9), v(20), 132, STEP]);
    vopc(op, src0, *r.pick(&[8, 9, 10, 20, 21]))
}

/// A block under a mask, its own saved in s[saved:saved+1].
fn guarded(r: &mut Random, saved: u32) -> Vec<u32> {
    let mut body = Vec::new();
    arithmetic(r, &mut body);
    if saved < 36 && r.once_in(2) {
        body.extend(guarded(r, saved + 2));
        if r.once_in(2) {
            arithmetic(r, &mut body);
        }
    }
    match r.below(6) {
        // What another loop's compiler writes: lanes that break are noted.
        0 | 1 => body.extend([
            compare_some(r),
            sop2(ANDN2, BREAK, BREAK, EXEC),
            sop2(AND64, 38, VCC, EXEC),
            sop2(OR64, BREAK, BREAK, 38),
        ]),
        2 => body.push(sop2(OR64, BREAK, BREAK, EXEC)),
        // A scalar that the way around it does not write.
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
    // Goes on while v20 < v21.
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
            // As structured code has it: out when none is left, else back.
            code.push(branch(8, 1));
            let back = start as i32 - code.len() as i32 - 1;
            code.push(branch(2, back));
        } else {
            let back = start as i32 - code.len() as i32 - 1;
            code.push(branch(9, back));
        }
    } else {
        code.push(sop2(0, COUNT, COUNT, 193));
        code.push(0xbf07_0000 | 128 << 8 | COUNT);
        let back = start as i32 - code.len() as i32 - 1;
        code.push(branch(5, back));
    }
    code.push(sop2(*r.pick(&[OR64, XOR64]), EXEC, EXEC, LEFT));
    arithmetic(r, &mut code);
    // Mostly nobody wants the masks of the last turn.
    if !r.once_in(8) {
        code.extend([32, 34, 36, 38, VCC].map(|s| sop1(1, s, 128)));
    }
    code.push(0xbf07_0000 | 128 << 8 | COUNT);
    code.extend([BARRIER, END]);
    code
}

/// The region of a program, and what is known of its addresses.
pub(super) fn analysed(loaded: &runtime::LoadedCode, gfx: Gfx, before: &State) -> (Func, Facts) {
    let request = Request {
        gfx,
        entry: loaded.base(),
        mode: before.mode,
        max_insts: 4096,
        exact_nan: true,
        observe: false,
        checked: false,
    };
    let func = region::build(&request, &|pc| loaded.bytes_at(pc));
    let start = match before.rows {
        0 => frontend::WaveState::V0_COUNTS,
        n => u64::from(n) << frontend::WaveState::ROWS.trailing_zeros(),
    };
    let facts = lower::facts::analyse(&func, start);
    (func, facts)
}

/// Loops of the region that are planned.
fn planned(loaded: &runtime::LoadedCode, gfx: Gfx, before: &State) -> Vec<interchange::Plan> {
    planned_for(loaded, gfx, before, 4)
}

/// The same for host vectors of `per` lanes.
fn planned_for(
    loaded: &runtime::LoadedCode,
    gfx: Gfx,
    before: &State,
    per: usize,
) -> Vec<interchange::Plan> {
    let (func, facts) = analysed(loaded, gfx, before);
    let (live, _) = lower::liveness::lives(&func);
    let plans = facts.loops().into_iter().filter_map(|head| {
        let entry = facts.at_loop(head)?;
        interchange::plan(&func, head, &live, entry, facts.row(), per, None)
    });
    plans.collect()
}

#[test]
fn loops_that_lanes_leave() {
    let seed = seed();
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    let (mut inside, mut quick, mut total) = (0, 0, 0);
    for n in 0..160u64 {
        let mut r = Random::new(seed.wrapping_mul(3_000_017).wrapping_add(n));
        let code = divergent(&mut r);
        let bytes: Vec<u8> = code.iter().flat_map(|w| w.to_le_bytes()).collect();
        let loaded = bench.load(gfx, &bytes);
        let mut before = state(&bench, &mut r, gfx);
        if r.once_in(4) {
            // All lanes make the same turns.
            before.vgpr[22] = [r.next() as u32; LANES];
        }
        if r.once_in(4) {
            (before.sgpr[126], before.sgpr[127]) = (r.next() as u32, r.next() as u32);
        }
        let what = format!("SEED={seed} program {n}");
        compare(&bench, &loaded, &before, &bytes, &what);
        let plans = planned(&loaded, gfx, &before);
        total += 1;
        inside += usize::from(!plans.is_empty());
        quick += usize::from(plans.iter().any(|plan| plan.quick.is_some()));
        bench.unload(&loaded);
    }
    println!("{inside} of {total} loops go inside, {quick} with a quick turn");
    assert!(inside * 3 > total, "{inside} of {total} loops go inside");
    assert!(quick * 8 > total, "{quick} of {total} have a quick turn");
}

/// A turn counts the lanes of the EXEC that the loop itself makes, not of the one it began with.
#[test]
fn lanes_are_counted_in_loops_that_make_their_own_exec() {
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    let code = [
        sop1(1, LEFT, EXEC),
        0xb000_0000 | COUNT << 16 | 3,
        // The loop: lanes that are there if v12 <= v2, or v9 is a number; then all of before again.
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
    let bytes: Vec<u8> = code.iter().flat_map(|w| w.to_le_bytes()).collect();
    let loaded = bench.load(gfx, &bytes);
    for n in 0..16 {
        let mut r = Random::new(n);
        let before = state(&bench, &mut r, gfx);
        compare(&bench, &loaded, &before, &bytes, &format!("state {n}"));
    }
    bench.unload(&loaded);
}

#[test]
fn coherent_loads_stay_in_the_order_of_the_wave() {
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    for (glc, inside) in [(0, 1), (1 << 16, 0)] {
        let mut r = Random::new(5);
        let mut code = vec![
            vop2(LSHLREV, 6, 128 + 2, 0),
            vop1(1, 3, BASE + 1),
            vop2(ADD_CO, 2, BASE, 6),
            vop2(ADDC_CO, 3, 128, 3),
        ];
        let [word, rest] = load(1, 8, 2, 0);
        code.extend([word | glc, rest, vop2(ADD, 9, v(8), 9)]);
        code.push(sop2(0, COUNT, COUNT, 193));
        code.push(0xbf07_0000 | 128 << 8 | COUNT);
        code.extend([branch(5, -6), sop1(1, VCC, 128), BARRIER, END]);
        let bytes: Vec<u8> = code.iter().flat_map(|w| w.to_le_bytes()).collect();
        let loaded = bench.load(gfx, &bytes);
        let mut before = state(&bench, &mut r, gfx);
        before.rows = 0;
        assert_eq!(planned(&loaded, gfx, &before).len(), inside, "GLC {glc:#x}");
        compare(&bench, &loaded, &before, &bytes, "coherent load");
        bench.unload(&loaded);
    }
}

#[test]
fn loops_inside_the_lane_groups() {
    let seed = seed();
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    let (mut inside, mut total) = (0, 0);
    for n in 0..160u64 {
        let mut r = Random::new(seed.wrapping_mul(1_000_003).wrapping_add(n));
        let code = program(&mut r);
        let bytes: Vec<u8> = code.iter().flat_map(|w| w.to_le_bytes()).collect();
        let loaded = bench.load(gfx, &bytes);
        let before = state(&bench, &mut r, gfx);
        let what = format!("SEED={seed} program {n}");
        compare(&bench, &loaded, &before, &bytes, &what);
        total += 1;
        inside += usize::from(!planned(&loaded, gfx, &before).is_empty());
        bench.unload(&loaded);
    }
    println!("{inside} of {total} loops go inside");
    assert!(inside * 2 > total, "{inside} of {total} loops go inside");
}

pub(super) fn vop3(op: u32, dst: u32, sources: [u32; 3]) -> [u32; 2] {
    let [a, b, c] = sources;
    [0xd000_0000 | op << 16 | dst, a | b << 9 | c << 18]
}

/// `global_load_…` or `global_store_…` of bytes and shorts at v[2:3].
fn small(r: &mut Random, register: u32, offset: i32) -> [u32; 2] {
    let offset = offset as u32 & 0x1fff;
    match r.once_in(2) {
        true => {
            let op = 16 + r.below(4);
            [
                0xdc00_8000 | op << 18 | offset,
                register << 24 | 0x7f << 16 | 2,
            ]
        }
        false => {
            let op = *r.pick(&[24, 26]);
            [
                0xdc00_8000 | op << 18 | offset,
                0x7f << 16 | register << 8 | 2,
            ]
        }
    }
}

/// An expression of the work-item's number in v6, with the constants at which lanes part ways.
fn expression(r: &mut Random) -> Vec<u32> {
    let mut code = vec![vop1(1, 6, v(*r.pick(&[0, 0, 0, 1])))];
    // s26 is a multiple of 64 or of 16, s27 is not.
    code.push(sop2(0x1c, 26, STEP, 128 + *r.pick(&[4, 6])));
    code.push(sop2(0xc, 26, 26, 192));
    code.push(sop2(0xc, 27, STEP, 128 + 15));
    for _ in 0..r.below(5) {
        let constant = 128 + *r.pick(&[0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 60, 63, 64]);
        let negative = 192 + *r.pick(&[1, 2, 4, 8, 16]);
        let mut two = |op, source| code.push(vop2(op, 6, source, 6));
        match r.below(12) {
            0 => two(0x13, constant),
            1 => two(0x13, negative),
            2 => two(*r.pick(&[0x14, 0x15]), *r.pick(&[constant, 26, 27])),
            3 => two(*r.pick(&[0x10, 0x12]), 128 + r.below(4)),
            4 => two(ADD, *r.pick(&[constant, negative, 26, 27])),
            5 => two(0x0c, *r.pick(&[constant, negative, 27])),
            6 => two(0x0d, *r.pick(&[constant, negative, 27])),
            7 => two(*r.pick(&[0x0e, 0x0f]), *r.pick(&[constant, 27])),
            8 => two(*r.pick(&[0x06, 0x08]), 128 + r.below(9)),
            9 => two(0x11, 128 + r.below(3)),
            // The carry of a sum goes in.
            10 => code.extend([
                vop1(1, 17, 128),
                vop2(ADD_CO, 16, *r.pick(&[constant, negative]), 6),
                vop2(ADDC_CO, 17, 128, 17),
                match r.once_in(2) {
                    true => vop2(ADD, 6, v(17), 6),
                    // The same for all lanes, or for those on either side.
                    false => vop1(1, 6, v(17)),
                },
            ]),
            _ => code.extend(vop3(0x200, 6, [26, 128 + r.below(3), v(6)])),
        }
    }
    code
}

/// Accesses at addresses that are almost on a line.
fn bent(r: &mut Random) -> Vec<u32> {
    let mut code = expression(r);
    let scale = *r.pick(&[0, 1, 2, 2, 2, 3, 4]);
    // v[16:17] is what is added to the buffer's address.
    match r.below(5) {
        0 => {
            code.extend([vop1(1, 16, 128), vop1(1, 17, v(6))]);
            let op = *r.pick(&[0x290, 0x291]);
            code.extend(vop3(op, 16, [128 + 32 - scale, v(16), 0]));
        }
        1 => {
            code.push(vop1(1, 7, 128));
            code.extend(vop3(0x28f, 16, [128 + scale, v(6), 0]));
        }
        2 => {
            // The high word of one product goes into the next.
            code.extend([vop1(1, 7, 128), vop1(1, 18, 128)]);
            code.extend(vop3(0x1e8, 16, [v(1), 27, v(6)]));
            let at = code.len() - 2;
            code[at] |= 106 << 8;
            code.extend(vop3(0x1e8, 10, [v(1), 128, v(17)]));
            let at = code.len() - 2;
            code[at] |= 106 << 8;
            code.push(vop1(1, 17, v(10)));
            code.extend(vop3(0x28f, 16, [128 + scale, v(16), 0]));
        }
        _ => code.extend([vop2(LSHLREV, 16, 128 + scale, 6), vop1(1, 17, 128)]),
    }
    code.extend([
        vop1(1, 3, BASE + 1),
        vop2(ADD_CO, 2, BASE, 16),
        vop2(ADDC_CO, 3, v(17), 3),
        vop2(LSHLREV, 6, 128 + scale, 6),
    ]);
    for _ in 0..2 + r.below(4) {
        let words = *r.pick(&[1, 1, 1, 2, 3, 4]);
        let register = 8 + 4 * r.below(3);
        let offset = *r.pick(&[0, 0, 4, 16, 64, -4, 3]);
        match r.below(7) {
            0 | 1 => code.extend(load(words, register, 2, offset)),
            2 => code.extend(store(words, register, 2, offset)),
            3 => code.extend(small(r, register, offset)),
            4 => code.extend(lds(true, words.min(2), register, 6, offset.max(0) as u32)),
            5 => code.extend(lds(false, words.min(2), register, 6, offset.max(0) as u32)),
            _ => {}
        }
        code.push(vop2(ADD, 20 + r.below(4), v(register), 8 + r.below(8)));
    }
    code.extend([BARRIER, END]);
    code
}

#[test]
fn accesses_that_almost_count_by_lane() {
    let seed = seed();
    let gfx = Gfx::Gfx900;
    let bench = Bench::new();
    let (mut ended, mut inline) = (0, 0);
    let rounds = std::env::var("ROUNDS").ok().and_then(|n| n.parse().ok());
    let rounds = rounds.unwrap_or(400u64);
    for n in 0..rounds {
        let mut r = Random::new(seed.wrapping_mul(3_000_017).wrapping_add(n));
        let bytes: Vec<u8> = bent(&mut r).iter().flat_map(|w| w.to_le_bytes()).collect();
        let loaded = bench.load(gfx, &bytes);
        let mut before = state(&bench, &mut r, gfx);
        before.fuel = 1000;
        let what = format!("SEED={seed} program {n}");
        compare(&bench, &loaded, &before, &bytes, &what);
        let end = bench.run(&Interpreter, &loaded, &before).exit;
        ended += u64::from(matches!(end, runtime::engine::Exit::End));
        let (func, facts) = analysed(&loaded, gfx, &before);
        let known = func.blocks.iter().enumerate().any(|(i, block)| {
            let mut effects = block.effects.iter();
            effects.any(|&e| facts.address(i, e).is_some_and(|a| a.stepped))
        });
        inline += u64::from(known);
        bench.unload(&loaded);
    }
    println!("{ended} of {rounds} programs end without a fault, {inline} have words that may wrap");
    assert!(ended * 4 > rounds, "{ended} of {rounds} end");
    assert!(
        inline * 16 > rounds,
        "{inline} of {rounds} have words that may wrap"
    );
}
