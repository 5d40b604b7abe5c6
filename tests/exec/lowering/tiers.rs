//! Hot regions are translated again, and waves switch without an observable effect.

use std::time::{Duration, Instant};

use frontend::Gfx;
use harness::random::Random;
use harness::snippet::{Bench, differences, memory_differences};
use runtime::jit::{JitEngine, JitOptions, Tier};

const GFX: Gfx = Gfx::Gfx900;

/// A loop of vector arithmetic with a barrier behind it, and more arithmetic.
const CODE: [u32; 9] = [
    // s_movk_i32 s8, turns
    0xb008_0000,
    // v_add_u32 v6, v6, v7; v_xor_b32 v8, v8, v6
    0x680c_0f06,
    0x2a10_0d08,
    // s_sub_u32 s8, s8, 1; s_cmp_lg_u32 s8, 0; s_cbranch_scc1
    0x8088_8108,
    0xbf07_8008,
    0xbf85_fffb,
    // s_barrier; v_add_u32 v7, v8, v7; s_barrier
    0xbf8a_0000,
    0x680e_0f08,
    0xbf8a_0000,
];

/// `group` is the number of lanes in a group; by default the baseline tier has smaller ones.
fn engine(tier: Tier, group: Option<u8>) -> JitEngine {
    let mut options = JitOptions {
        observe: true,
        tier,
        ..JitOptions::exact()
    };
    options.code.group = group;
    JitEngine::new(options).expect("this host has a code generator")
}

/// Runs the code with `iterations` of its loop until `enough`, for half a minute at most; every run
/// has the same outcome. Tests with the same number share translations, which are cached by
/// content.
fn run(engine: &JitEngine, turns: u32, enough: impl FnMut(usize) -> bool) {
    let mut words = CODE.to_vec();
    words[0] += turns;
    run_words(engine, words, enough);
}

/// As [`run`], of other code.
fn run_words(engine: &JitEngine, mut words: Vec<u32>, mut enough: impl FnMut(usize) -> bool) {
    let bench = Bench::new();
    words.push(0xbf81_0000);
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let code = bench.load(GFX, &bytes);
    let before = bench.random_state(&mut Random::new(7), GFX);
    let expected = bench.run(&runtime::Interpreter, &code, &before).state;
    let start = Instant::now();
    let mut runs = 0;
    while !enough(runs) && start.elapsed() < Duration::from_secs(30) {
        let after = bench.run(engine, &code, &before).state;
        let differ = differences(&expected, &after);
        assert!(differ.is_empty(), "run {runs}: {differ:?}");
        let differ = memory_differences(&expected, &after);
        assert!(differ.is_empty(), "run {runs}: {differ:?}");
        runs += 1;
    }
    bench.unload(&code);
}

#[test]
fn a_hot_region_is_translated_again() {
    let engine = engine(Tier::Auto, None);
    let mut more = 0;
    run(&engine, 20, |_| {
        // Some runs more on the second translation.
        more += usize::from(engine.translated().improved != 0);
        more > 100
    });
    assert_ne!(
        engine.translated().improved,
        0,
        "nothing was translated again"
    );
}

#[test]
fn a_forced_tier_stays() {
    for tier in [Tier::Baseline, Tier::Optimizing] {
        let engine = engine(tier, Some(8));
        run(&engine, 21, |runs| runs == 600);
        let all = engine.translated();
        assert_eq!(all.improved, 0, "{tier:?}");
        let baseline = if tier == Tier::Baseline {
            all.regions
        } else {
            0
        };
        assert_eq!(all.baseline, baseline, "{tier:?}");
    }
    // Without an explicit tier one follows the other. (With another number of iterations, which has
    // no cached translation yet.)
    let engine = engine(Tier::Auto, Some(8));
    let mut seen = Vec::new();
    run(&engine, 22, |_| {
        let now = engine.translated();
        assert_eq!(now.baseline + now.improved, now.regions);
        seen.push(now.improved);
        now.improved == now.regions && now.regions != 0
    });
    assert!(seen.is_sorted() && seen[1] == 0, "{seen:?}");
    assert_eq!(seen.last(), Some(&engine.translated().regions));
}

/// With many loops, those that have one form only in the baseline tier give the same results.
#[test]
fn of_many_loops_the_first_translation_has_few_forms() {
    // The loop of the code above, and its barrier.
    let words = |loops: u32| {
        let loops = (0..loops).flat_map(|n| [&[CODE[0] + 3 + n % 5], &CODE[1..6]].concat());
        loops.chain([CODE[6]]).collect::<Vec<u32>>()
    };
    // One loop has two forms. Among others most take less than half of the size.
    let bytes = [1, 16, 32].map(|loops| {
        let engine = engine(Tier::Baseline, None);
        run_words(&engine, words(loops), |runs| runs == 10);
        engine.translated().host_bytes
    });
    let [one, some, many] = bytes;
    assert!(2 * (some - one) < 15 * one, "all have two: {bytes:?}");
    assert!(2 * (many - one) < 31 * one, "all have two: {bytes:?}");
    let engine = engine(Tier::Auto, None);
    run_words(&engine, words(32), |_| engine.translated().improved != 0);
    assert_ne!(engine.translated().improved, 0, "they are hot");
}
