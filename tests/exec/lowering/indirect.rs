//! Indirect accesses with prefetches for the next workgroup: the predicted address may be arbitrary
//! or unmapped.

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::numbered_kernel;
use lower::host::FarMemory;
use runtime::dispatch::{Arguments, Dispatcher, Launch, Settings, Shape};
use runtime::jit::{JitEngine, JitOptions, Tier};
use runtime::{LoadedCode, Memory};

/// Words of the table: more than caches near the core hold.
const TABLE: u32 = 1 << 20;

/// Workgroups of one wave.
const GROUPS: u32 = 50;

/// An engine whose code prefetches: of the optimizing tier, for memory that is far.
fn prefetching() -> JitEngine {
    let mut options = JitOptions {
        tier: Tier::Optimizing,
        ..JitOptions::default()
    };
    options.code.host.far_memory = FarMemory::Yes;
    JitEngine::new(options).expect("this host has a code generator")
}

/// Runs `GROUPS` workgroups of 64 work-items with a KiB of LDS each, on one thread and on two, and compares what they
/// store at `out`.
fn check(engine: &JitEngine, memory: &Memory, words: &[u32], (out, want): (u64, &[u8])) {
    let words: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = LoadedCode::from_bytes(memory, Gfx::Gfx900, &words).expect("it fits");
    let kernel = numbered_kernel(&code);
    let launch = Launch {
        shape: Shape::new([GROUPS * 64, 1, 1], [64, 1, 1], 1).expect("a good shape"),
        global_offset: [0; 3],
        dynamic_lds: 1024,
        arguments: Arguments::Segment(&[]),
    };
    for threads in [1, 2] {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        memory
            .fill(out, 0xff, want.len() as u64)
            .expect("it is there");
        Dispatcher::new()
            .run(engine, memory, &code, &kernel, &launch, &settings)
            .expect("all of it is in memory");
        let mut got = vec![0; want.len()];
        memory.read_bytes(out, &mut got).expect("it is there");
        assert!(got == want, "{threads} threads");
    }
    memory.free(code.base()).expect("it was loaded here");
}

/// `s_mov_b32` of addresses to s[8:9], s[10:11], ...
fn addresses(of: &[u64]) -> Vec<u32> {
    let pairs = (8..).step_by(2).zip(of);
    let moves = pairs.flat_map(|(n, address)| {
        let moves = [n, n + 1].map(|n: u32| 0xbe80_00ff | n << 16);
        [moves[0], *address as u32, moves[1], (address >> 32) as u32]
    });
    moves.collect()
}

/// Each work-item stores the word of a table that its index names. Workgroups with odd numbers have their
/// indices elsewhere.
fn words([even, odd, table, out]: [u64; 4]) -> Vec<u32> {
    let mut words = addresses(&[even, odd, table, out]);
    words.extend([
        // v_lshlrev_b32 v1, 2, v0; s_lshl_b32 s6, s5, 8; v_add_u32 v1, s6, v1
        0x2402_0082,
        0x8e06_8805,
        0x6802_0206,
        // s_bitcmp1_b32 s5, 0; s_cselect_b32 s8, s10, s8; s_cselect_b32 s9, s11, s9
        0xbf0d_8005,
        0x8508_080a,
        0x8509_090b,
        // global_load_dword v2, v1, s[8:9]; s_waitcnt vmcnt(0)
        0xdc50_8000,
        0x0208_0001,
        0xbf8c_0f70,
        // v_mov_b32 v3, 0; v_lshlrev_b64 v[2:3], 2, v[2:3]
        0x7e06_0280,
        0xd28f_0002,
        0x0002_0482,
        // v_mov_b32 v4, s13; v_add_co_u32 v2, vcc, s12, v2; v_addc_co_u32 v3, vcc, v4, v3, vcc
        0x7e08_020d,
        0x3204_040c,
        0x3806_0704,
        // global_load_dword v5, v[2:3], off; s_waitcnt vmcnt(0)
        0xdc50_8000,
        0x057f_0002,
        0xbf8c_0f70,
        // global_store_dword v1, v5, s[14:15]; s_endpgm
        0xdc70_8000,
        0x000e_0501,
        0xbf81_0000,
    ]);
    words
}

#[test]
fn what_the_next_workgroup_loads_may_be_guessed_wrong() {
    let engine = prefetching();
    let memory = Memory::new().expect("there is address space");
    let items = GROUPS * 64;
    let bytes = u64::from(items) * 4;
    // From the first to the last is farther than to the beginning of memory, or to its end.
    let near = memory.alloc(bytes, 256).expect("there is room");
    let table = memory
        .alloc(u64::from(TABLE) * 4, 256)
        .expect("there is room");
    let out = memory.alloc(bytes, 256).expect("there is room");
    let far = memory.alloc(bytes, 256).expect("there is room");
    let write = |at: u64, words: &[u32]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        memory.write_bytes(at, &bytes).expect("it is there");
    };
    let mut random = Random::new(5);
    let in_table: Vec<u32> = (0..TABLE).map(|_| random.word()).collect();
    let indices: Vec<u32> = (0..items).map(|_| random.below(TABLE)).collect();
    write(table, &in_table);
    let want = indices.iter().map(|&index| in_table[index as usize]);
    let want: Vec<u8> = want.flat_map(u32::to_le_bytes).collect();
    for [even, odd] in [[near, near], [far, far], [near, far], [far, near]] {
        for place in [near, far] {
            write(place, &vec![0; items as usize]);
        }
        for (chunk, group) in indices.chunks_exact(64).zip(0..) {
            let place = if group % 2 == 0 { even } else { odd };
            write(place + group * 256, chunk);
        }
        let words = words([even, odd, table, out]);
        println!("{even:x} and {odd:x}");
        check(&engine, &memory, &words, (out, &want));
    }
}

/// Each work-item writes four times its number in the grid to each fourth word of LDS and stores what the work-item that its index names wrote.
fn words_of_lds([indices, out]: [u64; 2]) -> Vec<u32> {
    let mut words = addresses(&[indices, out]);
    words.extend([
        // v_lshlrev_b32 v6, 2, v0; s_lshl_b32 s6, s5, 8; v_add_u32 v1, s6, v6
        0x240c_0082,
        0x8e06_8805,
        0x6802_0c06,
        // v_lshlrev_b32 v6, 4, v0; ds_write_b32 v6, v1
        0x240c_0084,
        0xd81a_0000,
        0x0000_0106,
        // global_load_dword v2, v1, s[8:9]; s_waitcnt vmcnt(0) & lgkmcnt(0)
        0xdc50_8000,
        0x0208_0001,
        0xbf8c_0070,
        // v_lshlrev_b32 v2, 4, v2
        0x2404_0484,
        // ds_read_b128 v[8:11], v2; s_waitcnt lgkmcnt(0)
        0xd9fe_0000,
        0x0800_0002,
        0xbf8c_c07f,
        // global_store_dword v1, v8, s[10:11]; s_endpgm
        0xdc70_8000,
        0x000a_0801,
        0xbf81_0000,
    ]);
    words
}

/// Addresses of LDS have 32 bits and are near: nothing is prefetched for them, and indices that name no LDS read 0.
#[test]
fn indirect_reads_of_lds_are_not_prefetched() {
    let engine = prefetching();
    let memory = Memory::new().expect("there is address space");
    let items = GROUPS * 64;
    let bytes = u64::from(items) * 4;
    let indices = memory.alloc(bytes, 256).expect("there is room");
    let out = memory.alloc(bytes, 256).expect("there is room");
    let mut random = Random::new(6);
    // One in sixteen is behind the LDS.
    let named: Vec<u32> = (0..items)
        .map(|_| match random.below(16) {
            0 => 128 + random.below(1 << 20),
            _ => random.below(64),
        })
        .collect();
    let want = named.iter().zip(0..).map(|(&index, item)| match index {
        0..64 => 4 * (item / 64 * 64 + index),
        _ => 0,
    });
    let want: Vec<u8> = want.flat_map(u32::to_le_bytes).collect();
    let named: Vec<u8> = named.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write_bytes(indices, &named).expect("it is there");
    check(
        &engine,
        &memory,
        &words_of_lds([indices, out]),
        (out, &want),
    );
}
