//! Sequences of each class, with and without their waits.

use frontend::{Gfx, LANES, WaveState};

use super::*;
use crate::code::LoadedCode;
use crate::engine::{Scratch, Stats};
use crate::export::Exports;
use crate::lds::Lds;
use crate::lockstep::{Mode, Pair, Parting};
use crate::memory::{Memory, Options};

const END: u32 = 0xbf81_0000;

/// `s_waitcnt` with one field, of gfx9.
const VM_0: u32 = 0xbf8c_0f70;
const VM_1: u32 = 0xbf8c_0f71;
const EXP_0: u32 = 0xbf8c_cf0f;
const LGKM_0: u32 = 0xbf8c_c07f;
const LGKM_1: u32 = 0xbf8c_c17f;

/// Loads from s[0:1] + v0.
const GLOBAL_V1: [u32; 2] = [0xdc50_8000, 0x0100_0000];
const GLOBAL_V1_NEXT: [u32; 2] = [0xdc50_8100, 0x0100_0000];
const GLOBAL_V2: [u32; 2] = [0xdc50_8100, 0x0200_0000];
const GLOBAL_V3: [u32; 2] = [0xdc50_8000, 0x0300_0000];
const D16_V1: [u32; 2] = [0xdc90_8000, 0x0100_0000];
const D16_HI_V1: [u32; 2] = [0xdc94_8002, 0x0100_0000];
const ATOMIC_V1: [u32; 2] = [0xdd09_8000, 0x0100_0400];
/// From v[6:7].
const FLAT_V1: [u32; 2] = [0xdc50_0000, 0x0100_0006];
const DS_V1: [u32; 2] = [0xd86c_0000, 0x0100_0000];
const DS_V2: [u32; 2] = [0xd86c_0004, 0x0200_0000];
const BPERMUTE_V1: [u32; 2] = [0xd87e_0000, 0x0100_0000];
const S4: [u32; 2] = [0xc002_0100, 0];
const S4_NEXT: [u32; 2] = [0xc002_0100, 4];
const S5: [u32; 2] = [0xc002_0140, 4];
const VCC_LO: [u32; 2] = [0xc002_1a80, 8];
const TIME: [u32; 2] = [0xc090_0180, 0];

/// Moves to registers that are compared: v4, v5, s8, s9.
const V4_V1: [u32; 1] = [0x7e08_0301];
const V5_V2: [u32; 1] = [0x7e0a_0302];
const S8_S4: [u32; 1] = [0xbe88_0004];
const S9_S5: [u32; 1] = [0xbe89_0005];
const S8_VCC: [u32; 1] = [0xbe88_006a];

const V1_7: [u32; 1] = [0x7e02_0287];
const V0_1: [u32; 1] = [0x7e00_0281];
const EXEC_1: [u32; 1] = [0xbefe_0181];
const EXEC_ALL: [u32; 1] = [0xbefe_01c1];
const EXPORT_COLOR: [u32; 2] = [0xc400_180f, 0];
const EXPORT_POSITION: [u32; 2] = [0xc400_08cf, 0x0101_0101];

/// How a run ended, and what can be seen of it.
#[derive(Debug, PartialEq)]
struct Seen {
    exit: Exit,
    vector: [[u32; LANES]; 2],
    scalar: [u32; 2],
    memory: Vec<u32>,
    exports: Exports,
}

/// Results of the ordinary and the delayed run, and where both part when run side by side.
struct Runs {
    ordinary: Seen,
    delayed: Seen,
    parting: Option<Box<Parting>>,
    begin: u64,
}

/// A new wave runs the words on the pair: memory has 100, 101, ..., LDS too.
fn run(pair: &Pair, gfx: Gfx, words: &[u32]) -> (Seen, u64) {
    let memory = Memory::with_options(Options {
        reserve: 1 << 24,
        exact: false,
        ..Options::default()
    })
    .unwrap();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = LoadedCode::from_bytes(&memory, gfx, &bytes).unwrap();
    let buffer = memory.alloc(1024, 256).unwrap();
    let contents: Vec<u32> = (100..356).collect();
    memory.store_dwords(buffer, &contents).unwrap();
    let mut lds = Lds::new(false);
    lds.reset(1024);
    for (to, word) in lds.bytes_mut().chunks_mut(4).zip(&contents) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    let mut wave = WaveState::new_boxed();
    wave.pc = code.guest(0);
    wave.resume = WaveState::FRESH;
    wave.set_exec(u64::MAX);
    wave.sgpr[124] = u32::MAX;
    wave.set_sgpr64(0, buffer);
    // A descriptor of the buffer, of gfx6.
    wave.sgpr[4] = buffer as u32;
    wave.sgpr[5] = (buffer >> 32) as u32;
    wave.sgpr[6] = 1024;
    wave.sgpr[7] = 0x0002_7000;
    for lane in 0..LANES {
        wave.vgpr[0][lane] = 4 * lane as u32;
        let address = buffer + 4 * lane as u64;
        wave.vgpr[6][lane] = address as u32;
        wave.vgpr[7][lane] = (address >> 32) as u32;
    }
    let mut stats = Stats::default();
    let mut group = Group {
        memory: &memory,
        code: &code,
        gfx,
        lds: &mut lds,
        scratch: Scratch::default(),
        workgroup: [0; 3],
        wave: 0,
        waves: 1,
        checked: false,
        dispatch: 0,
        counting: false,
        stats: &mut stats,
    };
    let exit = loop {
        match pair.run(&mut wave, &mut group, &mut 1000) {
            Exit::Yield | Exit::Barrier => {}
            exit => break exit,
        }
    };
    let mut stored = vec![0; 256];
    memory.load_dwords(buffer, &mut stored).unwrap();
    // The code lies elsewhere in another memory.
    for export in &mut stats.exports.first {
        export.pc -= code.guest(0);
    }
    let seen = Seen {
        exit,
        vector: [wave.vgpr[4], wave.vgpr[5]],
        scalar: [wave.sgpr[8], wave.sgpr[9]],
        memory: stored,
        exports: stats.exports,
    };
    (seen, code.guest(0))
}

fn runs(gfx: Gfx, parts: &[&[u32]]) -> Runs {
    let mut words = parts.concat();
    words.push(END);
    let [ordinary, delayed] = pair(1);
    let pair = Pair::new(ordinary, delayed);
    let with = |mode| {
        pair.set_mode(mode, 10_000);
        run(&pair, gfx, &words)
    };
    let (ordinary, _) = with(Mode::Reference);
    let (delayed, _) = with(Mode::Other);
    let (_, begin) = with(Mode::Instructions);
    Runs {
        ordinary,
        delayed,
        parting: pair.record().parting,
        begin,
    }
}

/// The results are the same.
#[track_caller]
fn same(gfx: Gfx, parts: &[&[u32]]) {
    let runs = runs(gfx, parts);
    assert_eq!(runs.ordinary.exit, Exit::End);
    assert_eq!(runs.ordinary, runs.delayed);
    assert!(runs.parting.is_none());
}

/// They are not, and the words `at` and the report tell why.
#[track_caller]
fn differ(gfx: Gfx, parts: &[&[u32]], at: u64, report: &str) {
    let runs = runs(gfx, parts);
    assert_eq!(runs.ordinary.exit, Exit::End);
    assert_ne!(runs.ordinary, runs.delayed);
    let parting = runs.parting.expect("both runs part");
    assert_eq!((parting.pc - runs.begin) / 4, at);
    let texts = parting.premature.iter().map(|premature| {
        let word = (premature.producer - runs.begin) / 4;
        premature.text(&format!("word {word}"))
    });
    assert_eq!(texts.collect::<Vec<_>>(), [report]);
}

#[test]
fn vector_loads_return_in_order() {
    let loads = [GLOBAL_V1, GLOBAL_V2].concat();
    same(Gfx::Gfx900, &[&loads, &[VM_1], &V4_V1, &[VM_0], &V5_V2]);
    let report = "v1 is the result of word 0, which is outstanding: vmcnt(1) would be enough";
    differ(Gfx::Gfx900, &[&loads, &V4_V1, &[VM_0], &V5_V2], 4, report);
    let report = "v2 is the result of word 2, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&loads, &[VM_1], &V5_V2], 5, report);
    // The second result follows the first, without a wait between them.
    let twice = [GLOBAL_V1, GLOBAL_V1_NEXT].concat();
    same(Gfx::Gfx900, &[&twice, &[VM_0], &V4_V1]);
    let report = "v1 is the result of word 2, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&twice, &[VM_1], &V4_V1], 5, report);
    let report = "v1 is the result of word 0, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx906, &[&ATOMIC_V1, &V4_V1], 2, report);
    same(Gfx::Gfx906, &[&ATOMIC_V1, &[VM_0], &V4_V1]);
}

#[test]
fn a_late_result_overwrites() {
    same(Gfx::Gfx900, &[&GLOBAL_V1, &[VM_0], &V1_7, &V4_V1]);
    let report =
        "v1 is later overwritten by word 0, which is outstanding: vmcnt(0) would be enough";
    let late: [&[u32]; 4] = [&GLOBAL_V1, &V1_7, &[VM_0], &V4_V1];
    differ(Gfx::Gfx900, &late, 2, report);
}

#[test]
fn only_active_lanes_are_delayed() {
    let first: [&[u32]; 6] = [&EXEC_1, &GLOBAL_V1, &EXEC_ALL, &[VM_0], &V4_V1, &V5_V2];
    same(Gfx::Gfx900, &first);
    // Lane 0 of v1 is outstanding, and not read.
    let rest = 0xbefe_01c2; // s_mov_b64 exec, -2
    same(
        Gfx::Gfx900,
        &[&EXEC_1, &GLOBAL_V1, &[rest], &V4_V1, &EXEC_1, &[VM_0]],
    );
}

#[test]
fn halves_are_separate() {
    let both = [D16_V1, D16_HI_V1].concat();
    same(Gfx::Gfx900, &[&both, &[VM_0], &V4_V1]);
    let report = "v1 is the result of word 2, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&both, &[VM_1], &V4_V1], 5, report);
}

#[test]
fn a_full_counter_waits() {
    let fill = |n: usize| [GLOBAL_V3].repeat(n).concat();
    // 64 operations do not fit into six bits: with the last one the first is complete.
    same(Gfx::Gfx900, &[&GLOBAL_V1, &fill(63), &V4_V1]);
    let report = "v1 is the result of word 0, which is outstanding: vmcnt(62) would be enough";
    differ(
        Gfx::Gfx900,
        &[&GLOBAL_V1, &fill(62), &V4_V1],
        2 + 2 * 62,
        report,
    );
    // Scalar loads return in any order.
    let fill = [S5].repeat(20).concat();
    let report = "s4 is the result of word 0, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&S4, &fill, &S8_S4], 42, report);
}

#[test]
fn scalar_loads_return_in_any_order() {
    let loads = [S4, S5].concat();
    same(Gfx::Gfx900, &[&loads, &[LGKM_0], &S8_S4, &S9_S5]);
    let report = "s4 is the result of word 0, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&loads, &[LGKM_1], &S8_S4], 5, report);
    // The first may be the last to arrive.
    let twice = runs(Gfx::Gfx900, &[&S4, &S4_NEXT, &[LGKM_0], &S8_S4]);
    assert_eq!(
        (twice.ordinary.scalar[0], twice.delayed.scalar[0]),
        (101, 100)
    );
    let report = "vcc_lo is the result of word 0, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&VCC_LO, &S8_VCC], 2, report);
    same(Gfx::Gfx900, &[&VCC_LO, &[LGKM_0], &S8_VCC]);
    // A clock: the values are different anyway, so that only the run side by side can be judged.
    let clock = runs(Gfx::Gfx900, &[&TIME, &[LGKM_0]]);
    assert!(clock.parting.is_none());
}

#[test]
fn lds_returns_in_order() {
    let reads = [DS_V1, DS_V2].concat();
    same(Gfx::Gfx900, &[&reads, &[LGKM_1], &V4_V1, &[LGKM_0], &V5_V2]);
    let report = "v2 is the result of word 2, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&reads, &[LGKM_1], &V5_V2], 5, report);
    let report = "v1 is the result of word 0, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&BPERMUTE_V1, &V4_V1], 2, report);
    // A scalar load in the same counter has no order with them.
    same(
        Gfx::Gfx900,
        &[&reads, &S4, &[LGKM_1], &V4_V1, &[LGKM_0], &S8_S4],
    );
}

#[test]
fn flat_counts_twice() {
    let report = "v1 is the result of word 0, which is outstanding: lgkmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&FLAT_V1, &[VM_0], &V4_V1], 3, report);
    let report = "v1 is the result of word 0, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&FLAT_V1, &[LGKM_0], &V4_V1], 3, report);
    same(Gfx::Gfx900, &[&FLAT_V1, &[VM_0, LGKM_0], &V4_V1]);
    // Before gfx9 one counter is enough for what is not in LDS.
    same(Gfx::Gfx803, &[&FLAT_V1, &[VM_0], &V4_V1]);
    differ(Gfx::Gfx803, &[&FLAT_V1, &[0xbf8c_007f], &V4_V1], 3, report);
}

#[test]
fn results_outlive_barriers() {
    let barrier = [0xbf8a_0000];
    same(Gfx::Gfx900, &[&GLOBAL_V1, &barrier, &[VM_0], &V4_V1]);
    let report = "v1 is the result of word 0, which is outstanding: vmcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&GLOBAL_V1, &barrier, &V4_V1], 3, report);
}

#[test]
fn exports_read_their_data_late() {
    same(Gfx::Gfx900, &[&EXPORT_COLOR, &[EXP_0], &V0_1, &EXEC_1]);
    let report =
        "v0 has still to be read by word 0, which is outstanding: expcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&EXPORT_COLOR, &V0_1], 2, report);
    let report =
        "exec_lo has still to be read by word 0, which is outstanding: expcnt(0) would be enough";
    differ(Gfx::Gfx900, &[&EXPORT_COLOR, &EXEC_1], 2, report);
    // Exports of another kind are not ordered with it.
    let one = [0xbf8c_cf1f];
    let report =
        "v0 has still to be read by word 0, which is outstanding: expcnt(0) would be enough";
    differ(
        Gfx::Gfx900,
        &[&EXPORT_COLOR, &EXPORT_POSITION, &one, &V0_1],
        5,
        report,
    );
    // A store of the same value is no change.
    same(Gfx::Gfx900, &[&EXPORT_COLOR, &EXEC_ALL]);
}

#[test]
fn stores_of_gfx6_read_their_data_late() {
    // buffer_store_dword v2, v0, s[4:7], 0 offen; v_mov_b32_e32 v2, 9
    let (store, change) = ([0xe070_1000, 0x8001_0200], [0x7e04_0289]);
    let wait = [0xbf8c_0f0f];
    same(Gfx::Gfx600, &[&store, &wait, &change]);
    let report =
        "v2 has still to be read by word 0, which is outstanding: expcnt(0) would be enough";
    differ(Gfx::Gfx600, &[&store, &change], 2, report);
    let late = runs(Gfx::Gfx600, &[&store, &change]);
    assert_eq!((late.ordinary.memory[5], late.delayed.memory[5]), (0, 9));
    // Its address is read at once.
    same(Gfx::Gfx600, &[&store, &V0_1]);
    // The opcode has another number from gfx8 on, and stores are interlocked.
    same(Gfx::Gfx700, &[&store, &change]);
}

#[test]
fn an_endless_loop_ends() {
    // s_cmp_eq_u32 s8, 100; s_cbranch_scc0 (to the compare)
    let parts: [&[u32]; 3] = [&S4, &S8_S4, &[0xbf06_ff08, 100, 0xbf84_fffd]];
    let runs = runs(Gfx::Gfx900, &parts);
    assert_eq!(runs.ordinary.exit, Exit::End);
    let Exit::Fault(fault) = &runs.delayed.exit else {
        panic!("it has no end: {:?}", runs.delayed.exit);
    };
    assert!(
        fault.kind.to_string().contains("longer than twice"),
        "{}",
        fault.kind
    );
    assert_eq!((runs.parting.expect("they part").pc - runs.begin) / 4, 2);
}
