//! Dispatches that wait for themselves end, with a message that says who waits for what; what only
//! looks so goes on.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use wavelift::{DeviceOptions, Error, Fault, FaultKind, Gfx, Launch, Module, WaitsFor};

use super::Rig;

/// Work-items of a workgroup: two waves.
const GROUP: u32 = 128;

/// Launches a kernel with `n` as its argument: how it ended, and the first words of its memory.
fn launch(
    rig: &Rig,
    module: &Module,
    kernel: &'static str,
    (groups, n): (u32, u32),
) -> (Result<(), Error>, Vec<u32>) {
    let words = rig.buffer(&[0u32; 64]);
    let shape = Launch::new(groups * GROUP, GROUP);
    let result = rig.try_launch(module, kernel, shape, &[(&words).into(), n.into()]);
    (result.map(drop), words.read().unwrap())
}

fn rig_with(gfx: Gfx, file: &str, options: DeviceOptions) -> (Rig, Module) {
    let rig = Rig::with(DeviceOptions {
        reserve: 1 << 30,
        detect_deadlocks: true,
        on_wait: Some(|wait| panic!("it is a fault: {wait}")),
        ..options
    });
    let path = format!(
        "{}/tests/kernels/waits/{file}.{gfx}.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = Module::load(&rig.device, &std::fs::read(path).unwrap()).unwrap();
    (rig, module)
}

/// With a time limit in milliseconds.
fn rig(gfx: Gfx, limit: u64) -> (Rig, Module) {
    let options = DeviceOptions {
        timeout: Some(Duration::from_millis(limit)),
        ..DeviceOptions::default()
    };
    rig_with(gfx, "waits", options)
}

fn fault_of(result: Result<(), Error>, at: &str) -> Box<Fault> {
    match result {
        Err(Error::Fault(fault)) => fault,
        other => panic!("{at}: {other:?}"),
    }
}

/// The kernel ends as a deadlock, and its lowest workgroup is at this instruction.
fn deadlocks(
    rig: &Rig,
    module: &Module,
    kernel: &'static str,
    (groups, threads): (u32, usize),
    inst: &str,
) -> Box<Fault> {
    rig.threads.store(threads, Relaxed);
    let (result, words) = launch(rig, module, kernel, (groups, groups + 1));
    let at = rig.at(module, kernel);
    let fault = fault_of(result, &at);
    assert!(
        matches!(fault.kind, FaultKind::Deadlock { .. }),
        "{at}: {fault}"
    );
    assert_eq!((fault.workgroup, fault.wave), ([0; 3], 0), "{at}");
    let (name, offset) = fault.symbol.as_ref().expect("it is in the kernel");
    assert!(name == kernel && *offset > 0, "{at}: {fault}");
    assert!(fault.instruction.contains(inst), "{at}: {fault}");
    assert_eq!(words[1], 0, "{at}");
    fault
}

#[test]
fn who_waits_for_what_is_said() {
    let (rig, module) = rig(Gfx::Gfx906, 30_000);
    for (engine, threads) in [(0, 1), (1, 3), (2, 8)] {
        rig.chosen.store(engine, Relaxed);
        let inst = "global_load_dword v1, v0, s[0:1] glc";
        let fault = deadlocks(&rig, &module, "deadlock", (5, threads), inst);
        let waits = fault.waits.as_ref().expect("it is known");
        assert_eq!((waits.live, waits.not_begun, waits.total), (5, 0, 5));
        assert_eq!(waits.groups.len(), 5, "{fault}");
        let WaitsFor::Memory(Some(words)) = waits.groups[0].waves[0].on else {
            panic!("{fault}");
        };
        assert_eq!(waits.groups[0].waves[1].on, WaitsFor::Barrier, "{fault}");
        assert!(waits.groups[0].waves[1].instruction.contains("s_barrier"));
        for (number, group) in waits.groups.iter().enumerate().skip(1) {
            assert_eq!(group.workgroup, [number as u32, 0, 0]);
            for wave in &group.waves {
                assert_eq!(wave.on, WaitsFor::Memory(Some(words + 4)), "{fault}");
                assert!(wave.instruction.contains("global_load_dword"), "{fault}");
            }
        }
        let text = fault.to_string();
        for part in [
            "waits for ever: for ",
            "\n   who waits:\n   workgroup (0,0,0): wave 0 polls 0x",
            "; wave 1 is at a barrier at 0x",
            "\n   workgroup (4,0,0): each of 2 waves from 0 on polls 0x",
        ] {
            assert!(text.contains(part), "no `{part}` in {text}");
        }
    }
}

#[test]
fn loops_of_all_kinds_are_known() {
    let (rig, module) = rig(Gfx::Gfx906, 30_000);
    let kernels = [
        ("grid_barrier", "global_atomic_cmpswap"),
        // The wait of a barrier in the loop, with a poll that is more and more seldom.
        ("barrier_loop", "global_load_dword"),
    ];
    for (kernel, inst) in kernels {
        for (engine, threads) in [(0, 1), (1, 2)] {
            rig.chosen.store(engine, Relaxed);
            deadlocks(&rig, &module, kernel, (6, threads), inst);
        }
    }
}

#[test]
fn every_targets_loads_are_known() {
    let targets = [
        (Gfx::Gfx600, "buffer_load_dword"),
        (Gfx::Gfx700, "flat_load_dword"),
        (Gfx::Gfx803, "flat_load_dword"),
        (Gfx::Gfx900, "global_load_dword"),
    ];
    for (gfx, inst) in targets {
        let (rig, module) = rig(gfx, 30_000);
        rig.chosen.store(1, Relaxed);
        let fault = deadlocks(&rig, &module, "deadlock", (2, 1), inst);
        let waits = fault.waits.expect("it is known");
        let on = waits.groups[0].waves[0].on;
        assert!(matches!(on, WaitsFor::Memory(Some(_))), "{gfx}: {waits}");
    }
}

#[test]
fn workgroups_run_together_on_any_number_of_threads() {
    let (rig, module) = rig(Gfx::Gfx906, 60_000);
    for kernel in ["later", "grid_barrier", "barrier_loop", "through_scratch"] {
        for threads in [1, 2, 12] {
            rig.threads.store(threads, Relaxed);
            for engine in 0..super::ENGINES.len() {
                rig.chosen.store(engine, Relaxed);
                let (result, words) = launch(&rig, &module, kernel, (12, 12));
                let at = rig.at(&module, kernel);
                if let Err(error) = result {
                    panic!("{at}: {error}");
                }
                assert_eq!(words[1], 1, "{at}");
            }
        }
    }
}

#[test]
fn more_workgroups_than_run_at_a_time_are_a_deadlock() {
    let (rig, module) = rig(Gfx::Gfx906, 30_000);
    rig.chosen.store(1, Relaxed);
    rig.threads.store(1, Relaxed);
    // Each needs the LDS of one of 60 compute units.
    let launch = |groups: u32| {
        let words = rig.buffer(&[0u32; 64]);
        let shape = Launch::new(groups * GROUP, GROUP).dynamic_lds(64 << 10);
        let args = [(&words).into(), groups.into()];
        let result = rig.try_launch(&module, "grid_barrier", shape, &args);
        (result.map(drop), words.read::<u32>().unwrap())
    };
    let (result, words) = launch(60);
    result.unwrap();
    assert_eq!(words[..2], [60, 1]);
    let fault = fault_of(launch(61).0, "61");
    assert!(matches!(fault.kind, FaultKind::Deadlock { .. }), "{fault}");
    let waits = fault.waits.expect("it is known");
    assert_eq!((waits.live, waits.not_begun), (60, 1), "{waits}");
    let text = waits.to_string();
    let end =
        "and 52 more of 60 workgroups\n   1 of 61 workgroups have not begun; 60 may wait at a time";
    assert!(text.ends_with(end), "{text}");
}

#[test]
fn memory_of_waiting_workgroups_has_a_limit() {
    let options = DeviceOptions {
        timeout: Some(Duration::from_secs(30)),
        waiting_bytes: 1 << 20,
        ..DeviceOptions::default()
    };
    let (rig, module) = rig_with(Gfx::Gfx906, "waits", options);
    let (result, _) = launch(&rig, &module, "grid_barrier", (12, 12));
    let fault = fault_of(result, "limit");
    let FaultKind::NoRoomToWait { live, bytes, limit } = fault.kind else {
        panic!("{fault}");
    };
    assert_eq!(limit, 1 << 20);
    assert_eq!(live, limit / bytes, "{fault}");
    let text = fault.to_string();
    assert!(
        text.contains("waits for workgroups that cannot begin"),
        "{text}"
    );
}

#[test]
fn a_time_limit_says_who_waits_where_a_deadlock_cannot_be_told() {
    let options = DeviceOptions {
        timeout: Some(Duration::from_secs(2)),
        ..DeviceOptions::default()
    };
    let rig = Rig::with(DeviceOptions {
        reserve: 1 << 30,
        on_wait: Some(|wait| panic!("all have begun: {wait}")),
        ..options
    });
    let path = format!(
        "{}/tests/kernels/waits/waits.gfx906.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = Module::load(&rig.device, &std::fs::read(path).unwrap()).unwrap();
    rig.threads.store(2, Relaxed);
    let (result, _) = launch(&rig, &module, "deadlock", (4, 0));
    let fault = fault_of(result, "limit");
    assert_eq!(fault.kind, FaultKind::Timeout { seconds: 2.0 });
    let text = fault.to_string();
    assert!(text.contains("who waits:"), "{text}");
    assert!(text.contains(" polls 0x"), "{text}");
}

#[test]
fn one_that_wakes_the_other_is_no_deadlock() {
    let (rig, module) = rig(Gfx::Gfx906, 3000);
    for (engine, threads) in [(1, 1), (1, 2)] {
        rig.chosen.store(engine, Relaxed);
        rig.threads.store(threads, Relaxed);
        let at = rig.at(&module, "ping_pong");
        // Enough for several examinations.
        let begin = Instant::now();
        let (result, words) = launch(&rig, &module, "ping_pong", (2, u32::MAX));
        let fault = fault_of(result, &at);
        assert_eq!(fault.kind, FaultKind::Timeout { seconds: 3.0 }, "{at}");
        println!("{at}: {} rounds in {:?}", words[2], begin.elapsed());
        assert!(words[2] > 10, "{at}: {words:?}");
    }
}

#[test]
fn what_another_worker_will_write_is_waited_for() {
    let (rig, module) = rig(Gfx::Gfx906, 120_000);
    rig.chosen.store(1, Relaxed);
    rig.threads.store(1, Relaxed);
    // How many iterations take four seconds, so that a fault would have come.
    let sample = 1 << 16;
    launch(&rig, &module, "computes", (41, sample)).0.unwrap();
    let begin = Instant::now();
    launch(&rig, &module, "computes", (42, sample)).0.unwrap();
    let each = begin.elapsed().as_secs_f64() / 42.0 / f64::from(sample);
    let n = (4.0 / each) as u32;
    rig.threads.store(2, Relaxed);
    let begin = Instant::now();
    let (result, words) = launch(&rig, &module, "later", (8, n));
    result.unwrap();
    println!("{n} iterations took {:.1?}", begin.elapsed());
    assert_eq!(words[..2], [1, 1]);
}

/// The kernel runs until its time limit.
fn runs_long(kernel: &'static str) {
    let (rig, module) = rig(Gfx::Gfx906, 2000);
    for engine in [0, 1] {
        rig.chosen.store(engine, Relaxed);
        rig.threads.store(1, Relaxed);
        let (result, _) = launch(&rig, &module, kernel, (4, u32::MAX));
        let at = rig.at(&module, kernel);
        let fault = fault_of(result, &at);
        assert!(
            matches!(fault.kind, FaultKind::Timeout { .. }),
            "{at}: {fault}"
        );
    }
}

#[test]
fn a_loop_that_computes_is_no_deadlock() {
    runs_long("computes");
}

#[test]
fn a_loop_that_counts_in_memory_is_no_deadlock() {
    runs_long("counts_in_memory");
    runs_long("counts_in_scratch");
    runs_long("counts_in_lds");
}

#[test]
fn a_loop_that_reads_nothing_is_no_deadlock() {
    runs_long("spins");
}

/// A device for the kernels of `grid.cl`.
fn grid(gfx: Gfx) -> (Rig, Module) {
    let options = DeviceOptions {
        timeout: Some(Duration::from_secs(60)),
        ..DeviceOptions::default()
    };
    rig_with(gfx, "grid", options)
}

/// Runs a kernel of `grid.cl` on all engines with these numbers of threads; `check` gets its memory.
fn runs(
    gfx: Gfx,
    kernel: &'static str,
    (groups, n): (u32, u32),
    first: [u32; 16],
    check: impl Fn(&[u32], &str),
) {
    let (rig, module) = grid(gfx);
    rig.each(&[1, 2, 8], |rig| {
        let mut words = vec![0; 16 + 16 * groups as usize + n as usize];
        words[..16].copy_from_slice(&first);
        let words = rig.buffer(&words);
        let shape = Launch::new(groups * GROUP, GROUP);
        let result = rig.try_launch(&module, kernel, shape, &[(&words).into(), n.into()]);
        let at = rig.at(&module, kernel);
        if let Err(error) = result {
            panic!("{at}: {error}");
        }
        check(&words.read::<u32>().unwrap(), &at);
    });
}

#[test]
fn a_barrier_of_the_grid() {
    let (groups, rounds) = (50, 6);
    let mut expected: Vec<u32> = (1..=groups).collect();
    for _ in 0..rounds {
        let next = (0..groups as usize).map(|g| expected[g] + expected[(g + 1) % groups as usize]);
        expected = next.collect();
    }
    for gfx in [Gfx::Gfx700, Gfx::Gfx906] {
        runs(gfx, "barriers", (groups, rounds), [0; 16], |words, at| {
            // Six rounds end where they began.
            assert_eq!(words[16..16 + groups as usize], expected, "{at}");
        });
    }
}

#[test]
fn persistent_threads_with_a_queue() {
    let n = 500;
    runs(Gfx::Gfx906, "queue", (40, n), [0; 16], |words, at| {
        assert_eq!((words[2], words[3]), (n, n * (n - 1) / 2), "{at}");
    });
}

#[test]
fn a_ticket_lock() {
    let (groups, n) = (20, 20);
    runs(Gfx::Gfx803, "tickets", (groups, n), [0; 16], |words, at| {
        assert_eq!(words[..3], [groups * n; 3], "{at}");
    });
}

#[test]
fn producers_and_consumers_in_either_order() {
    let n = 50;
    for first_sends in [0, 1] {
        let mut first = [0; 16];
        first[15] = first_sends;
        runs(Gfx::Gfx906, "pairs", (12, n), first, |words, at| {
            for pair in 0..6 {
                let sum = words[16 + 16 * pair + 2];
                assert_eq!(sum, (pair as u32 + 1) * n * (n + 1) / 2, "{at}: {pair}");
            }
        });
    }
}

#[test]
fn a_look_back_scan_from_the_end() {
    let groups = 100;
    runs(
        Gfx::Gfx906,
        "look_back",
        (groups, 0),
        [0; 16],
        |words, at| {
            for group in 0..groups {
                let sum: u32 = (group..groups).sum();
                let at_group = 16 + 2 * group as usize;
                assert_eq!(words[at_group..at_group + 2], [2, sum], "{at}: {group}");
            }
        },
    );
}

#[test]
fn the_global_wave_sync() {
    for gfx in [Gfx::Gfx700, Gfx::Gfx803, Gfx::Gfx906] {
        let groups = 30;
        runs(gfx, "wave_sync", (groups, 5), [0; 16], |words, at| {
            assert_eq!(words[..2], [1, 0], "{at}");
            assert_eq!(words[16..16 + groups as usize], [5; 30], "{at}");
        });
    }
}

#[test]
fn a_wait_at_the_global_wave_sync_is_named() {
    let options = DeviceOptions {
        timeout: Some(Duration::from_secs(30)),
        ..DeviceOptions::default()
    };
    let (rig, module) = rig_with(Gfx::Gfx906, "grid", options);
    for engine in [0, 1] {
        rig.chosen.store(engine, Relaxed);
        let (result, words) = launch(&rig, &module, "wave_sync_alone", (3, 0));
        let at = rig.at(&module, "wave_sync_alone");
        let fault = fault_of(result, &at);
        assert!(matches!(fault.kind, FaultKind::Deadlock { .. }), "{fault}");
        let text = fault.to_string();
        let named = "each of 2 waves from 0 on waits for GWS resource 4 at 0x";
        assert!(text.contains(named), "{at}: {text}");
        assert!(text.contains(" ds_gws_sema_p offset:4 gds"), "{at}: {text}");
        assert_eq!(words[0], 0);
    }
}
