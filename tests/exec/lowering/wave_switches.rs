//! Waves run by code with wave switches, from barrier to barrier, behave as when run one by one.

use std::time::Duration;

use harness::random::Random;
use runtime::Interpreter;
use runtime::engine::{self, Engine, EngineKind, EngineOptions, Profiling};

use super::dispatched::{Dispatch, engine};
use super::words::{ADD, BASE, ENDPGM, EXEC, lds, sop1, sop2, v, vop1, vop2, vopc};

/// Workgroups of a dispatch.
const GROUPS: u32 = 5;

/// The one of those that does something of its own, of as many as one without loops has.
const ODD_GROUP: u32 = 5;

/// Of one without loops: enough that some run without returning to the dispatcher.
const STRAIGHT_GROUPS: u32 = 60;

/// Rounds that are less than one has loops for.
const ROUNDS: u32 = 10;

/// Bytes that a workgroup stores at most.
const BYTES: u32 = 4096;

/// When a wave does something of its own.
#[derive(Clone, Copy, Debug)]
struct When {
    wave: u32,
    /// Rounds that are left.
    round: u32,
}

/// A program's words: see [`words`].
type Program = fn(&[u32], When, u32, u64) -> Vec<u32>;

/// Work-items exchange words through LDS, one wave's with another's, `rounds` times, with two
/// barriers each time. A wave runs `odd` behind the first barrier of a round.
fn words(odd: &[u32], when: When, rounds: u32, out: u64) -> Vec<u32> {
    let mut words = vec![
        // v_lshlrev_b32 v1, 2, v0; s_mov_b32 m0, -1
        0x2402_0082,
        0xbefc_00c1,
        // v_readfirstlane_b32 s6, v0; s_lshr_b32 s6, s6, 6
        0x7e0c_0500,
        0x8f06_8606,
        // s_mov_b32 s7, rounds; v_mov_b32 v2, v0
        0xbe87_00ff,
        rounds,
        0x7e04_0300,
    ];
    let head = words.len();
    // ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); s_barrier
    words.extend([0xd81a_0000, 0x0000_0201, 0xbf8c_c07f, 0xbf8a_0000]);
    // s_cmp_lg_u32 s6, wave; s_cbranch_scc1; s_cmp_lg_u32 s7, round; s_cbranch_scc1
    words.extend([
        0xbf07_8006 | (0x80 + when.wave) << 8,
        0xbf85_0002 + odd.len() as u32,
        0xbf07_8007 | (0x80 + when.round) << 8,
        0xbf85_0000 + odd.len() as u32,
    ]);
    words.extend(odd);
    // v_xor_b32 v3, 0x144, v1; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); s_barrier
    words.extend([0x2a06_02ff, 0x144]);
    words.extend([0xd86c_0000, 0x0400_0003, 0xbf8c_c07f, 0xbf8a_0000]);
    // v_mul_u32_u24 v2, 5, v2; v_add_u32 v2, v2, v4
    words.extend([0x1004_0485, 0x6804_0902]);
    // s_sub_u32 s7, s7, 1; s_cmp_lg_u32 s7, 0; s_cbranch_scc1
    words.extend([0x8087_8107, 0xbf07_8007]);
    let back = head as i32 - words.len() as i32 - 1;
    words.push(0xbf85_0000 | back as u32 & 0xffff);
    // v_lshl_add_u32 v1, s5, 12, v1; s_mov_b32 s0, ...; s_mov_b32 s1, ...
    words.extend([0xd1fd_0001, 0x0405_1805]);
    words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
    // global_store_dword v1, v2, s[0:1]; s_endpgm
    words.extend([0xdc70_8000, 0x0000_0201, 0xbf81_0000]);
    words
}

/// The same without a loop, where one workgroup does so; and to what is stored is added what registers and LDS have at
/// first, which are written then.
fn straight_words(odd: &[u32], when: When, rounds: u32, out: u64) -> Vec<u32> {
    // v_add_u32 v2, v9, v2; v_add_u32 v2, s20, v2; v_add_u32 v2, vcc_lo, v2
    let sum = [0x6804_0509, 0x6804_0414, 0x6804_046a];
    let mut words = vec![
        // v_lshlrev_b32 v1, 2, v0; s_mov_b32 m0, -1; v_readfirstlane_b32 s6, v0; s_lshr_b32 s6, s6, 6; v_mov_b32 v2, v0
        0x2402_0082,
        0xbefc_00c1,
        0x7e0c_0500,
        0x8f06_8606,
        0x7e04_0300,
    ];
    words.extend(sum);
    // ds_read_b32 v5, v1; s_waitcnt lgkmcnt(0); v_add_u32 v2, v2, v5
    words.extend([0xd86c_0000, 0x0500_0001, 0xbf8c_c07f, 0x6804_0b02]);
    // v_mov_b32 v9, v1; s_mov_b32 s20, 7; s_mov_b32 vcc_lo, 9
    words.extend([0x7e12_0301, 0xbe94_0087, 0xbeea_0089]);
    for round in (1..=rounds).rev() {
        // ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); s_barrier
        words.extend([0xd81a_0000, 0x0000_0201, 0xbf8c_c07f, 0xbf8a_0000]);
        if round == when.round {
            // s_cmp_lg_u32 s6, wave; s_cbranch_scc1; s_cmp_lg_u32 s5, group; s_cbranch_scc1
            words.extend([
                0xbf07_8006 | (0x80 + when.wave) << 8,
                0xbf85_0002 + odd.len() as u32,
                0xbf07_8005 | (0x80 + ODD_GROUP) << 8,
                0xbf85_0000 + odd.len() as u32,
            ]);
            words.extend(odd);
        }
        // v_xor_b32 v3, 0x144, v1; ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); s_barrier
        words.extend([0x2a06_02ff, 0x144]);
        words.extend([0xd86c_0000, 0x0400_0003, 0xbf8c_c07f, 0xbf8a_0000]);
        // v_mul_u32_u24 v2, 5, v2; v_add_u32 v2, v2, v4
        words.extend([0x1004_0485, 0x6804_0902]);
    }
    words.extend(sum);
    // v_lshl_add_u32 v1, s5, 12, v1; s_mov_b32 s0, ...; s_mov_b32 s1, ...
    words.extend([0xd1fd_0001, 0x0405_1805]);
    words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
    // global_store_dword v1, v2, s[0:1]; s_endpgm
    words.extend([0xdc70_8000, 0x0000_0201, 0xbf81_0000]);
    words
}

/// What is stored by `groups` workgroups of `size` work-items, and how the dispatch ended.
fn run(
    engine: &dyn Engine,
    words: impl Fn(u64) -> Vec<u32>,
    (groups, size): (u32, u32),
    timeout: Option<Duration>,
) -> (Vec<u8>, String) {
    let dispatch = Dispatch {
        items: groups * size,
        size,
        bytes: groups * BYTES,
        lds: BYTES,
        threads: 1,
        timeout,
    };
    dispatch.run(engine, words)
}

#[test]
fn a_wave_among_others_may_do_as_it_likes() {
    let odds: [(&str, &[u32]); 9] = [
        ("nothing", &[]),
        // s_barrier, once or twice: the wave arrives at barriers where the others arrive at their
        // next ones.
        ("waits", &[0xbf8a_0000]),
        ("waits twice", &[0xbf8a_0000, 0xbf8a_0000]),
        // s_endpgm
        ("ends", &[0xbf81_0000]),
        // s_movk_i32 s9, 100; s_sub_u32 s9, s9, 1; s_cmp_lg_u32 s9, 0; s_cbranch_scc1
        (
            "goes round",
            &[0xb009_0064, 0x8089_8109, 0xbf07_8009, 0xbf85_fffd],
        ),
        // s_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 8), 5
        ("writes TRAPSTS", &[0xba00_3803, 5]),
        // s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 4), 5
        ("rounds otherwise", &[0xba00_1801, 5]),
        // s_getpc_b64 s[10:11]; s_add_u32 s10, s10, 16; s_addc_u32 s11, s11, 0; s_setpc_b64 s[10:11]; s_nop 0
        (
            "leaves",
            &[
                0xbe8a_1c00,
                0x800a_900a,
                0x820b_800b,
                0xbe80_1d0a,
                0xbf80_0000,
            ],
        ),
        // global_store_dword v1, v2, s[8:9]
        ("faults", &[0xdc70_8000, 0x0008_0201]),
    ];
    let engine = engine();
    for (what, odd) in odds {
        for (size, wave) in [(256, 0), (256, 2), (256, 3), (1000, 15), (100, 0)] {
            // More rounds than run before control returns to the dispatcher.
            for (rounds, round) in [(1, 1), (5, 2), (150, 60)] {
                let when = When { wave, round };
                let straight = rounds < ROUNDS;
                let straight = straight.then_some((straight_words as Program, STRAIGHT_GROUPS));
                let programs = [Some((words as Program, GROUPS)), straight];
                for (words, groups) in programs.into_iter().flatten() {
                    let words = |out| words(odd, when, rounds, out);
                    let want = run(&Interpreter, words, (groups, size), None);
                    let got = run(&engine, words, (groups, size), None);
                    let at = format!("{what}: {when:?} of {rounds}, by {size}");
                    assert_eq!(got.1, want.1, "{at}");
                    assert!(got.0 == want.0, "{at}: what was stored differs");
                }
            }
        }
    }
}

#[test]
fn registers_of_waves_that_end_before_a_barrier_are_new_to_the_next() {
    let words = |out: u64| {
        vec![
            // v_add_u32 v2, s4, v0; v_lshlrev_b32 v1, 2, v0; v_lshl_add_u32 v1, s5, 12, v1
            0x6804_0004,
            0x2402_0082,
            0xd1fd_0001,
            0x0405_1805,
            // s_mov_b32 s0, ...; s_mov_b32 s1, ...; global_store_dword v1, v2, s[0:1]; s_movk_i32 s4, 99
            0xbe80_00ff,
            out as u32,
            0xbe81_00ff,
            (out >> 32) as u32,
            0xdc70_8000,
            0x0000_0201,
            0xb004_0063,
            // s_cmp_lg_u32 s5, 3; s_cbranch_scc1 4
            0xbf07_8305,
            0xbf85_0004,
            // s_barrier; v_add_u32 v2, s4, v0; global_store_dword v1, v2, s[0:1]
            0xbf8a_0000,
            0x6804_0004,
            0xdc70_8000,
            0x0000_0201,
            // s_endpgm
            0xbf81_0000,
        ]
    };
    let want = run(&Interpreter, words, (GROUPS, 256), None);
    // An engine that measures runs wave by wave.
    let options = EngineOptions {
        profile: Some(Profiling::Times),
        ..EngineOptions::default()
    };
    let measures = engine::create(EngineKind::Jit, &options).expect("this host has one");
    let plain = engine();
    for (what, engine) in [("plain", &plain as &dyn Engine), ("measures", &*measures)] {
        let got = run(engine, words, (GROUPS, 256), None);
        assert!(got == want, "{what}: {} for {}", got.1, want.1);
    }
}

/// Lanes are inactive for a while, or stay so; registers written meanwhile and afterwards are read
/// by all lanes, where earlier waves left other values.
#[test]
fn registers_written_behind_an_if_begin_as_zeros() {
    // Before `s_or_b64 exec, exec, s[10:11]`, where s[10:11] is what EXEC was.
    let others: [(&str, &[u32]); 4] = [
        ("all lanes again", &[]),
        // s_mov_b64 s[10:11], vcc
        ("as in the if", &[0xbe8a_016a]),
        // s_mov_b32 s11, 0
        ("the lower half", &[0xbe8b_0080]),
        // s_cmp_eq_u32 s5, 3; s_cbranch_scc1 1
        ("not in each workgroup", &[0xbf06_8305, 0xbf85_0001]),
    ];
    let words = |between: &[u32], out: u64| {
        // v_lshlrev_b32 v1, 2, v0; v_and_b32 v2, 1, v0; v_cmp_eq_u32 vcc, 0, v2
        let mut words = vec![0x2402_0082, 0x2604_0081, 0x7d94_0480];
        // s_and_saveexec_b64 s[10:11], vcc; v_mov_b32 v3, 5
        words.extend([0xbe8a_206a, 0x7e06_0285]);
        words.extend(between);
        // s_or_b64 exec, exec, s[10:11]; v_add_u32 v4, 7, v0; s_barrier
        words.extend([0x87fe_0a7e, vop2(ADD, 4, 0x87, 0), 0xbf8a_0000]);
        // s_mov_b64 exec, -1; v_add_u32 v2, v3, v4; v_lshl_add_u32 v1, s5, 12, v1
        words.extend([0xbefe_01c1, vop2(ADD, 2, v(3), 4), 0xd1fd_0001, 0x0405_1805]);
        // s_mov_b32 s0, ...; s_mov_b32 s1, ...; global_store_dword v1, v2, s[0:1]
        words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
        words.extend([0xdc70_8000, 0x0000_0201]);
        // v_mov_b32 v3, 0x55; v_mov_b32 v4, 0x66; s_endpgm
        words.extend([0x7e06_02ff, 0x55, 0x7e08_02ff, 0x66, 0xbf81_0000]);
        words
    };
    let engine = engine();
    for (what, between) in others {
        for size in [64, 256, 1000] {
            let groups = (STRAIGHT_GROUPS, size);
            let want = run(&Interpreter, |out| words(between, out), groups, None);
            let got = run(&engine, |out| words(between, out), groups, None);
            assert_eq!(got.1, want.1, "{what}, {size}");
            assert!(got.0 == want.0, "{what}, {size}: what was stored differs");
        }
    }
}

/// Behind the first barrier eight registers are added up, which may be hoisted above the barrier;
/// some wave takes another branch in between.
#[test]
fn waves_compute_before_they_wait() {
    const MUL24: u32 = 0x08;
    let words = |other: u32, out: u64| {
        // v_lshlrev_b32 v1, 2, v0; s_mov_b32 m0, -1; v_readfirstlane_b32 s6, v0; s_lshr_b32 s6, s6, 6
        let mut words = vec![0x2402_0082, 0xbefc_00c1, 0x7e0c_0500, 0x8f06_8606];
        words.extend((2..10).map(|n| vop2(MUL24, n, 128 + n, 0)));
        // s_cmp_eq_u32 s6, other; s_cbranch_scc1 4
        words.extend([0xbf06_8006 | (0x80 + other) << 8, 0xbf85_0004]);
        // ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); s_barrier
        words.extend([0xd81a_0000, 0x0000_0201, 0xbf8c_c07f, 0xbf8a_0000]);
        // s_cmp_eq_u32 s6, other; s_cbranch_scc0 1; s_barrier
        if other < 32 {
            words.extend([0xbf06_8006 | (0x80 + other) << 8, 0xbf84_0001, 0xbf8a_0000]);
        }
        words.extend((3..10).map(|n| vop2(ADD, 2, v(n), 2)));
        // v_xor_b32 v3, 0x144, v1; s_movk_i32 s9, 7; v_add_u32 v2, s9, v2
        words.extend([0x2a06_02ff, 0x144, 0xb009_0007, vop2(ADD, 2, 9, 2)]);
        // ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); s_barrier
        words.extend([0xd81a_0000, 0x0000_0201, 0xbf8c_c07f, 0xbf8a_0000]);
        // ds_read_b32 v4, v3; s_waitcnt lgkmcnt(0); v_add_u32 v2, v2, v4
        words.extend([0xd86c_0000, 0x0400_0003, 0xbf8c_c07f, 0x6804_0902]);
        // v_lshl_add_u32 v1, s5, 12, v1; s_mov_b32 s0, ...; s_mov_b32 s1, ...
        words.extend([0xd1fd_0001, 0x0405_1805]);
        words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
        // global_store_dword v1, v2, s[0:1]; s_endpgm
        words.extend([0xdc70_8000, 0x0000_0201, 0xbf81_0000]);
        words
    };
    let engine = engine();
    for other in [0, 2, 40] {
        for size in [256, 1000, 64] {
            let groups = (STRAIGHT_GROUPS, size);
            let want = run(&Interpreter, |out| words(other, out), groups, None);
            let got = run(&engine, |out| words(other, out), groups, None);
            assert_eq!(got.1, want.1, "{other} of {size}");
            assert!(
                got.0 == want.0,
                "{other} of {size}: what was stored differs"
            );
        }
    }
}

/// A sum of registers behind a barrier, with others in between: some that may be hoisted above it,
/// some that read what others left in LDS.
fn sum_behind_barrier(r: &mut Random, out: u64) -> Vec<u32> {
    const MUL24: u32 = 0x08;
    const XOR: u32 = 0x15;
    const M0: u32 = 124;
    const LDS_DIRECT: u32 = 254;
    // v_lshlrev_b32 v1, 2, v0; v_xor_b32 v11, 0x144, v1; s_movk_i32 s9, 7; s_mov_b32 s20, ...; s_mov_b32 s21, ...
    let mut words = vec![0x2402_0082, 0x2a16_02ff, 0x144, 0xb009_0007];
    let lanes = r.lanes();
    words.extend([0xbe94_00ff, lanes as u32, 0xbe95_00ff, (lanes >> 32) as u32]);
    // s_mov_b32 m0, ...: a dword.
    let direct = |r: &mut Random| [sop1(0, M0, 255), 0x2_0000 + 4 * r.below(256)];
    words.extend(direct(r));
    words.extend((2..10).map(|n| vop2(MUL24, n, 128 + n, 0)));
    // ds_write_b32 v1, v2; s_waitcnt lgkmcnt(0); s_barrier
    let write = [0xd81a_0000, 0x0000_0201, 0xbf8c_c07f, 0xbf8a_0000];
    words.extend(write);
    let mut behind: Vec<Vec<u32>> = (3..10).map(|n| vec![vop2(ADD, 2, v(n), 2)]).collect();
    for _ in 0..r.below(6) {
        let [d, a, b] = [(); 3].map(|()| 2 + r.below(8));
        let other = match r.below(10) {
            0 => vec![vop2(MUL24, d, v(a), b)],
            1 => vec![vop2(XOR, d, v(a), b)],
            // v_readfirstlane_b32 s9
            2 => vec![vop1(2, 9, v(a))],
            // s_add_u32 s9, s9, ...
            3 => vec![sop2(0, 9, 9, 128 + a)],
            4 => vec![vop2(ADD, d, 9, b)],
            5 => vec![vop2(ADD, d, LDS_DIRECT, b)],
            6 => direct(r).to_vec(),
            // s_mov_b64 exec, s[20:21]
            7 => vec![sop1(1, EXEC, BASE)],
            8 => [&lds(true, 1, d, 11, 0)[..], &[0xbf8c_c07f]].concat(),
            // v_cmp_lt_u32; v_cndmask_b32
            _ => vec![vopc(0xc9, v(a), b), vop2(0, d, v(a), b)],
        };
        let at = r.below(behind.len() as u32 + 1) as usize;
        behind.insert(at, other);
    }
    words.extend(behind.concat());
    words.extend(write);
    // ds_read_b32 v3, v11; s_waitcnt lgkmcnt(0); s_mov_b64 exec, -1; v_add_u32 v2, v2, v3
    words.extend([0xd86c_0000, 0x0300_000b, 0xbf8c_c07f]);
    words.extend([sop1(1, EXEC, 193), vop2(ADD, 2, v(3), 2)]);
    // v_lshl_add_u32 v1, s5, 12, v1; s_mov_b32 s0, ...; s_mov_b32 s1, ...
    words.extend([0xd1fd_0001, 0x0405_1805]);
    words.extend([0xbe80_00ff, out as u32, 0xbe81_00ff, (out >> 32) as u32]);
    // global_store_dword v1, v2, s[0:1]; s_endpgm
    words.extend([0xdc70_8000, 0x0000_0201, ENDPGM]);
    words
}

#[test]
fn arithmetic_is_hoisted_above_the_barrier() {
    let engine = engine();
    for seed in 0..200 {
        let words = |out| sum_behind_barrier(&mut Random::new(seed), out);
        let want = run(&Interpreter, words, (3, 256), None);
        let got = run(&engine, words, (3, 256), None);
        assert_eq!(got.1, want.1, "seed {seed}");
        assert!(got.0 == want.0, "seed {seed}: what was stored differs");
    }
}

#[test]
fn waves_that_meet_for_ever_are_stopped() {
    // s_barrier; s_branch -2
    let endless = |_| vec![0xbf8a_0000, 0xbf82_fffe];
    let limit = Some(Duration::from_millis(50));
    for engine in [&engine() as &dyn Engine, &Interpreter] {
        let (_, end) = run(engine, endless, (GROUPS, 256), limit);
        // The clock decides which of the two instructions the waves have reached.
        let place = end.strip_prefix("s_barrier at 0, ");
        let place = place.or_else(|| end.strip_prefix("s_branch 65534 at 4, "));
        let place = place.unwrap_or_else(|| panic!("{end}"));
        assert_eq!(
            place,
            "workgroup [0, 0, 0], wave 0, lane None, EXEC ffffffffffffffff: was still running after \
             0.05 s, the time limit of the dispatch"
        );
    }
}
