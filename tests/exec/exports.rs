//! Exports are recorded: by target and, the first of them, whole. The same on both engines and for
//! any number of threads.

use std::collections::BTreeMap;

use wavelift::{Device, DeviceOptions, EngineKind, Export, Exports, Launch, Module};

/// Work-items of a workgroup: a full wave and a part of one.
const WORKGROUP: u32 = 100;
const WORKGROUPS: u32 = 3;

/// What `tests/kernels/exports/exports.s` exports. The program counters are not known here.
fn expected() -> Exports {
    let mut exports = Exports::default();
    for x in 0..WORKGROUPS {
        for (wave, items) in [(0, 0..64), (1, 64..WORKGROUP)] {
            let full = !0u64 >> (64 - items.len());
            let item = |lane: usize| (items.start as usize + lane) as u32;
            let mut export = |target,
                              enabled,
                              exec: u64,
                              words: [&dyn Fn(usize) -> u32; 4],
                              flags: [bool; 3]| {
                let mut components = Box::new([[0; 64]; 4]);
                for (i, component) in components.iter_mut().enumerate() {
                    for (lane, word) in component.iter_mut().enumerate() {
                        if enabled >> i & 1 == 1 && exec >> lane & 1 == 1 {
                            *word = words[i](lane);
                        }
                    }
                }
                exports.record(target, || Export {
                    workgroup: [x, 0, 0],
                    wave,
                    pc: 0,
                    exec,
                    target,
                    enabled,
                    compressed: flags[0],
                    done: flags[1],
                    valid_mask: flags[2],
                    components,
                });
            };
            let off = |_| 0;
            let [v1, v2] = [|item: u32| item << 16, |item: u32| item << 16 | 7];
            export(
                0,
                15,
                full,
                [
                    &item,
                    &|lane| v1(item(lane)),
                    &|lane| v2(item(lane)),
                    &|_| x,
                ],
                [false; 3],
            );
            export(
                5,
                15,
                full,
                [&|_| 7, &item, &|lane| !item(lane) & 0xffff, &|_| 0xffff],
                [true, false, false],
            );
            export(
                13,
                9,
                0x15,
                [&|_| x, &off, &off, &|lane| !item(lane)],
                [false, true, false],
            );
            export(63, 2, 0, [&off; 4], [false; 3]);
            if x == 0 {
                export(9, 1, full, [&off; 4], [false, true, true]);
            }
        }
    }
    exports
}

fn run(target: &str, engine: EngineKind, threads: usize) -> Exports {
    let path = format!(
        "{}/tests/kernels/exports/exports.{target}.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let code = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    let device = Device::with_options(DeviceOptions {
        engine,
        threads,
        reserve: 1 << 28,
        ..DeviceOptions::default()
    })
    .expect("a device");
    let module = Module::load(&device, &code).expect("it loads");
    let kernel = module.kernel("exporter").expect("it is there");
    let launch = Launch::new(WORKGROUP * WORKGROUPS, WORKGROUP);
    let stats = device.launch(&kernel, &launch, &[]).expect("it runs");
    assert_eq!(stats.fallbacks, 0);
    stats.exports
}

#[test]
fn are_recorded() {
    let want = expected();
    assert_eq!(
        want.counts,
        BTreeMap::from([(0, 6), (5, 6), (13, 6), (63, 6), (9, 2)])
    );
    for target in ["gfx600", "gfx803", "gfx906"] {
        let reference = run(target, EngineKind::Interp, 1);
        for (engine, threads) in [
            (EngineKind::Interp, 1),
            (EngineKind::Jit, 1),
            (EngineKind::Interp, 2),
            (EngineKind::Jit, 3),
        ] {
            let got = run(target, engine, threads);
            assert_eq!(got.counts, want.counts, "{target} {engine:?}");
            assert_eq!(got.first.len(), want.first.len());
            for (got, want) in got.first.iter().zip(&want.first) {
                let at = format!(
                    "{target} {engine:?}, {threads} threads: {} of {:?} {}",
                    got.target_name(),
                    got.workgroup,
                    got.wave
                );
                let found = Export {
                    pc: 0,
                    ..got.clone()
                };
                assert_eq!(&found, want, "{at}");
            }
            // Code lies where the device put it.
            let places = |exports: &Exports| -> Vec<u64> {
                exports
                    .first
                    .iter()
                    .map(|e| e.pc - exports.first[0].pc)
                    .collect()
            };
            assert_eq!(places(&got), places(&reference), "{target} {engine:?}");
        }
        let pcs: Vec<u64> = reference.first.iter().take(5).map(|e| e.pc).collect();
        assert!(pcs.is_sorted() && pcs[1] == pcs[0] + 8, "{pcs:x?}");
    }
}
