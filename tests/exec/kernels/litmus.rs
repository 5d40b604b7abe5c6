//! Litmus tests of memory between workgroups, and between waves: outcomes that the fences forbid do not occur.
//!
//! `LITMUS=100000 cargo test --release --test exec -- --nocapture kernels::litmus` runs so many rounds of each.

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use wavelift::{DeviceOptions, Gfx, Launch, Module};

use super::{ENGINES, Rig};

/// Rounds of a kernel where both workgroups run at the same time, and where one thread runs both in turn.
const ROUNDS: [u32; 2] = [150, 20];

/// Most rounds of one launch: each has cells of its own.
const MOST: u32 = 20_000;

/// Rounds of each kernel, for this number of threads.
fn rounds(threads: usize) -> u32 {
    let asked = std::env::var("LITMUS").ok();
    let asked = asked.map(|text| text.parse().expect("LITMUS is a number"));
    match threads {
        1 => asked.map_or(ROUNDS[1], |n: u32| n.div_ceil(10)),
        _ => asked.unwrap_or(ROUNDS[0]),
    }
}

fn runs(gfx: Gfx, kernels: &[&str], lanes: u32) {
    let rig = Rig::with(DeviceOptions {
        reserve: 1 << 30,
        timeout: Some(Duration::from_secs(600)),
        ..DeviceOptions::default()
    });
    let path = format!(
        "{}/tests/kernels/waits/litmus.{gfx}.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = Module::load(&rig.device, &std::fs::read(path).unwrap()).unwrap();
    for engine in 0..ENGINES.len() {
        for threads in [1, 2, 4] {
            rig.chosen.store(engine, Relaxed);
            rig.threads.store(threads, Relaxed);
            for kernel in kernels {
                if *kernel == "sixteen_bytes" && !super::pieces::has_sixteen() {
                    continue;
                }
                let mut left = rounds(threads);
                let mut seen = 0u64;
                while left != 0 {
                    let n = left.min(MOST);
                    left -= n;
                    let words = rig.buffer(&vec![0u32; 64 + 4 * 64 * n as usize]);
                    let shape = Launch::new(2 * lanes, lanes);
                    rig.launch(&module, kernel, shape, &[(&words).into(), n.into()]);
                    let words = words.read::<u32>().unwrap();
                    let at = rig.at(&module, kernel);
                    assert_eq!(words[1], 0, "{at}: a forbidden outcome");
                    seen += u64::from(words[2]);
                }
                println!("{kernel} of {gfx}, engine {engine}, {threads} threads: {seen}");
                // In LDS every round is seen.
                assert!(*kernel != "in_lds" || seen == u64::from(rounds(threads)));
            }
        }
    }
}

const BETWEEN_WORKGROUPS: [&str; 7] = [
    "message_passing",
    "message_by_atomic",
    "store_buffering",
    "load_buffering",
    "coherence",
    "eight_bytes",
    "sixteen_bytes",
];

#[test]
fn workgroups_by_global_instructions() {
    runs(Gfx::Gfx906, &BETWEEN_WORKGROUPS, 64);
}

#[test]
fn workgroups_by_flat_instructions() {
    runs(Gfx::Gfx803, &BETWEEN_WORKGROUPS, 64);
}

#[test]
fn waves_of_a_workgroup_through_lds() {
    runs(Gfx::Gfx906, &["in_lds"], 128);
    runs(Gfx::Gfx700, &["in_lds"], 128);
}
