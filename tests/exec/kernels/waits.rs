//! Dispatches that wait for themselves are reported and go on; what only looks so is not reported.

use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use wavelift::{Device, DeviceOptions, Error, FaultKind, Gfx, GridWait, Launch, Module};

use super::Rig;

/// Work-items of a workgroup: two waves.
const GROUP: u32 = 128;

/// A dispatch that is let go when it is reported.
struct Waiting {
    kernel: &'static str,
    total: u64,
    device: Device,
    /// Memory that the kernel polls, and what it waits for.
    words: u64,
    value: u32,
    reports: Vec<GridWait>,
}

/// Dispatches that may be reported. A report names kernel and number of workgroups: the tests have different ones.
static WAITING: Mutex<Vec<Waiting>> = Mutex::new(Vec::new());

fn on_wait(wait: &GridWait) {
    let mut waiting = WAITING.lock().unwrap();
    let found = waiting
        .iter_mut()
        .find(|one| (one.kernel, one.total) == (wait.at.kernel.as_str(), wait.total));
    let one = found.expect("the tests run no other kernel");
    one.reports.push(wait.clone());
    for at in [0, 4] {
        let memory = one.device.memory();
        memory.store_u32(one.words + at, one.value).unwrap();
    }
}

/// Launches a kernel with `n` as its argument; when it is reported, what it polls becomes `value`. Gives how it ended,
/// the reports and the first words of its memory.
fn launch(
    rig: &Rig,
    module: &Module,
    kernel: &'static str,
    (groups, n, value): (u32, u32, u32),
) -> (Result<(), Error>, Vec<GridWait>, Vec<u32>) {
    let total = u64::from(groups);
    let words = rig.buffer(&[0u32; 64]);
    WAITING.lock().unwrap().push(Waiting {
        kernel,
        total,
        device: rig.device.clone(),
        words: words.address(),
        value,
        reports: Vec::new(),
    });
    let shape = Launch::new(groups * GROUP, GROUP);
    let result = rig.try_launch(module, kernel, shape, &[(&words).into(), n.into()]);
    let mut waiting = WAITING.lock().unwrap();
    let at = waiting
        .iter()
        .position(|one| (one.kernel, one.total) == (kernel, total));
    let one = waiting.swap_remove(at.expect("it was put there"));
    (result.map(drop), one.reports, words.read().unwrap())
}

fn rig(gfx: Gfx, limit: u64) -> (Rig, Module) {
    let rig = Rig::with(DeviceOptions {
        reserve: 1 << 30,
        timeout: Some(Duration::from_secs(limit)),
        on_wait: Some(on_wait),
        ..DeviceOptions::default()
    });
    let path = format!(
        "{}/tests/kernels/waits/waits.{gfx}.co",
        env!("CARGO_MANIFEST_DIR")
    );
    let module = Module::load(&rig.device, &std::fs::read(path).unwrap()).unwrap();
    (rig, module)
}

/// The kernel waits for itself on so many threads: one report, which names this instruction, then it ends as it should.
fn waits(
    rig: &Rig,
    module: &Module,
    kernel: &'static str,
    (groups, threads): (u32, u64),
    inst: &str,
) {
    rig.threads.store(threads as usize, Relaxed);
    let (result, reports, words) = launch(rig, module, kernel, (groups, groups, groups));
    let at = rig.at(module, kernel);
    if let Err(error) = result {
        panic!("{at}: {error}");
    }
    let [report] = &reports[..] else {
        panic!("{at}: {reports:?}");
    };
    assert_eq!((report.at.workgroup, report.at.wave), ([0; 3], 0), "{at}");
    assert_eq!(report.not_begun, u64::from(groups) - threads, "{at}");
    let (name, offset) = report.at.symbol.as_ref().expect("it is in the kernel");
    assert!(name == kernel && *offset > 0, "{at}: {report}");
    assert!(report.at.instruction.contains(inst), "{at}: {report}");
    assert_eq!(words[1], 1, "{at}");
}

/// The kernel waits for itself on every engine.
fn waits_on_engines(kernel: &'static str, groups: u32, threads: u64, inst: &str) {
    let (rig, module) = rig(Gfx::Gfx906, 9);
    for engine in 0..super::ENGINES.len() {
        rig.chosen.store(engine, Relaxed);
        waits(&rig, &module, kernel, (groups, threads), inst);
    }
}

#[test]
fn a_workgroup_that_polls_for_a_later_one_is_reported() {
    waits_on_engines("later", 4, 1, "global_load_dword v1, v0, s[0:1] glc");
}

#[test]
fn a_barrier_of_the_grid_is_reported() {
    waits_on_engines("grid_barrier", 6, 2, "global_atomic_cmpswap");
}

#[test]
fn polling_with_barriers_in_the_loop_is_reported() {
    waits_on_engines("barrier_loop", 5, 1, "global_load_dword");
}

#[test]
fn polling_through_scratch_is_reported() {
    waits_on_engines("through_scratch", 5, 1, "global_load_dword");
}

#[test]
fn every_targets_loads_are_known() {
    let targets = [
        (Gfx::Gfx600, "buffer_load_dword"),
        (Gfx::Gfx700, "flat_load_dword"),
        (Gfx::Gfx803, "flat_load_dword"),
        (Gfx::Gfx900, "global_load_dword"),
    ];
    for (number, (gfx, inst)) in targets.into_iter().enumerate() {
        let (rig, module) = rig(gfx, 9);
        rig.chosen.store(1, Relaxed);
        for kernel in ["later", "through_scratch"] {
            waits(&rig, &module, kernel, (20 + number as u32, 1), inst);
        }
    }
}

#[test]
fn as_many_threads_as_workgroups_run_all_at_once() {
    let (rig, module) = rig(Gfx::Gfx906, 60);
    for kernel in ["grid_barrier", "barrier_loop"] {
        rig.threads.store(12, Relaxed);
        for engine in 0..super::ENGINES.len() {
            rig.chosen.store(engine, Relaxed);
            let (result, reports, words) = launch(&rig, &module, kernel, (12, 12, 0));
            assert!(
                result.is_ok() && reports.is_empty(),
                "{kernel}: {reports:?}"
            );
            assert_eq!(words[..2], [12, 1], "{kernel}");
        }
    }
}

#[test]
fn what_another_worker_will_write_is_waited_for() {
    let (rig, module) = rig(Gfx::Gfx906, 120);
    rig.chosen.store(1, Relaxed);
    rig.threads.store(1, Relaxed);
    // How many iterations take four seconds, so that a report would have come.
    let sample = 1 << 16;
    launch(&rig, &module, "computes", (41, sample, 0))
        .0
        .unwrap();
    let begin = Instant::now();
    launch(&rig, &module, "computes", (42, sample, 0))
        .0
        .unwrap();
    let each = begin.elapsed().as_secs_f64() / 42.0 / f64::from(sample);
    let n = (4.0 / each) as u32;
    rig.threads.store(2, Relaxed);
    let begin = Instant::now();
    let (result, reports, words) = launch(&rig, &module, "later", (8, n, 0));
    result.unwrap();
    println!("{n} iterations took {:.1?}", begin.elapsed());
    assert!(reports.is_empty(), "{reports:?}");
    assert_eq!(words[..2], [1, 1]);
}

/// The kernel runs until its time limit, and is not reported.
fn runs_long(kernel: &'static str) {
    let (rig, module) = rig(Gfx::Gfx906, 3);
    for engine in [0, 1] {
        rig.chosen.store(engine, Relaxed);
        rig.threads.store(1, Relaxed);
        let (result, reports, _) = launch(&rig, &module, kernel, (4, u32::MAX, 0));
        let at = rig.at(&module, kernel);
        match result {
            Err(Error::Fault(fault)) if matches!(fault.kind, FaultKind::Timeout { .. }) => {}
            other => panic!("{at}: {other:?}"),
        }
        assert!(reports.is_empty(), "{at}: {reports:?}");
    }
}

#[test]
fn a_loop_that_computes_is_not_reported() {
    runs_long("computes");
}

#[test]
fn a_loop_that_counts_in_memory_is_not_reported() {
    runs_long("counts_in_memory");
    runs_long("counts_in_scratch");
    runs_long("counts_in_lds");
}

#[test]
fn a_loop_that_reads_nothing_is_not_reported() {
    runs_long("spins");
}
