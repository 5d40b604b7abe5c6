//! Cost of dispatching a kernel, of entering a workgroup and of entering a wave.

use std::time::Duration;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use frontend::Gfx;
use harness::snippet::numbered_kernel;
use runtime::dispatch::{Arguments, Dispatcher, KernelCode, Launch, Settings, Shape};
use runtime::jit::{JitEngine, JitOptions};
use runtime::{Interpreter, LoadedCode, Memory, Stats};

const ENDPGM: u32 = 0xbf81_0000;

/// `s_barrier`, 16 times.
const BARRIERS: [u32; 17] = {
    let mut words = [0xbf8a_0000; 17];
    words[16] = ENDPGM;
    words
};

/// The guard that compilers write: v0 against s4, and EXEC narrowed by the result.
const GUARD: [u32; 5] = [
    // v_lshl_add_u32 v0, s5, 6, v0
    0xd1fd_0000,
    0x0401_0c05,
    // v_cmp_gt_u32 vcc, s4, v0; s_and_saveexec_b64 s[0:1], vcc
    0x7d98_0004,
    0xbe80_206a,
    ENDPGM,
];

/// `iterations` of six vector and three scalar instructions with few dependences.
const ALU: [u32; 11] = [
    // s_mov_b32 s8, 1000
    0xbe88_00ff,
    1000,
    // v_add_u32 v1, v1, v0; v_xor_b32 v2, v2, v1; v_lshlrev_b32 v3, 3, v2
    0x6802_0101,
    0x2a04_0302,
    0x2406_0483,
    // v_sub_u32 v4, v4, v3; v_or_b32 v5, v5, v4; v_and_b32 v6, v6, v5
    0x6a08_0704,
    0x280a_0905,
    0x260c_0b06,
    // s_sub_u32 s8, s8, 1; s_cmp_lg_u32 s8, 0; s_cbranch_scc1
    0x8088_8108,
    0xbf07_8008,
    0xbf85_fff7,
];

struct World {
    memory: Memory,
    code: LoadedCode,
    kernel: KernelCode,
    dispatcher: Dispatcher,
    engine: Box<dyn runtime::Engine>,
}

impl World {
    /// A kernel of 32 VGPRs with the workgroup's number in s5.
    fn new(words: &[u32], engine: Box<dyn runtime::Engine>) -> World {
        let memory = Memory::new().expect("there is address space");
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &bytes).expect("it fits");
        let kernel = numbered_kernel(&code);
        World {
            memory,
            code,
            kernel,
            dispatcher: Dispatcher::new(),
            engine,
        }
    }

    fn jit(words: &[u32]) -> World {
        let engine = JitEngine::new(JitOptions::default()).expect("this host has a code generator");
        World::new(words, Box::new(engine))
    }

    fn run(&self, items: u32, workgroup: u32, settings: &Settings<'_>) -> Stats {
        let launch = Launch {
            shape: Shape::new([items, 1, 1], [workgroup, 1, 1], 1).expect("a good shape"),
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments: Arguments::Segment(&[]),
        };
        let stats = self.dispatcher.run(
            &*self.engine,
            &self.memory,
            &self.code,
            &self.kernel,
            &launch,
            settings,
        );
        stats.expect("nothing can go wrong in so short a kernel")
    }
}

fn one() -> Settings<'static> {
    Settings {
        threads: 1,
        ..Settings::default()
    }
}

fn dispatches(c: &mut Criterion) {
    let mut group = c.benchmark_group("dispatch");
    let world = World::jit(&[ENDPGM]);
    for (name, threads) in [("one thread", 1), ("all threads", 0)] {
        let settings = Settings {
            threads,
            ..Settings::default()
        };
        group.bench_function(format!("one wave, {name}"), |b| {
            b.iter(|| world.run(64, 64, &settings));
        });
    }
    let both = Settings {
        threads: 2,
        ..Settings::default()
    };
    group.bench_function("two workgroups, two threads", |b| {
        b.iter(|| world.run(128, 64, &both));
    });
    group.bench_function("one wave, new engine", |b| {
        let fresh = || World::jit(&[ENDPGM]);
        let settings = one();
        b.iter_batched(
            fresh,
            |world| world.run(64, 64, &settings),
            BatchSize::PerIteration,
        );
    });
    group.finish();
}

/// A million waves; the throughput is in waves.
fn waves(c: &mut Criterion) {
    const WAVES: u32 = 1 << 20;
    let mut group = c.benchmark_group("wave");
    group.throughput(Throughput::Elements(u64::from(WAVES)));
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(1));
    let settings = one();
    for (name, words) in [("end", &[ENDPGM][..]), ("guard", &GUARD)] {
        let world = World::jit(words);
        for workgroup in [64, 256] {
            group.bench_function(format!("{name}, workgroups of {workgroup}"), |b| {
                b.iter(|| world.run(WAVES * 64, workgroup, &settings));
            });
        }
    }
    // Each wave resumes 16 times after a barrier.
    group.throughput(Throughput::Elements(u64::from(WAVES / 16) * 17));
    let world = World::jit(&BARRIERS);
    group.bench_function("barriers, workgroups of 256", |b| {
        b.iter(|| world.run(WAVES / 16 * 64, 256, &settings));
    });
    group.finish();
}

/// The pure ALU loop on the interpreter; the throughput is in lane-instructions.
fn alu(c: &mut Criterion) {
    let mut words = ALU.to_vec();
    words.push(ENDPGM);
    let counting = Settings {
        counting: true,
        ..one()
    };
    let mut group = c.benchmark_group("alu loop");
    let world = World::new(&words, Box::new(Interpreter));
    let lanes = world.run(256, 256, &counting).lane_instructions;
    group.throughput(Throughput::Elements(lanes));
    group.bench_function("interpreter", |b| b.iter(|| world.run(256, 256, &one())));
    group.finish();
}

criterion_group!(benches, dispatches, waves, alu);
criterion_main!(benches);
