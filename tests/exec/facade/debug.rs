//! `wavelift::debug`: its stops and values are those of the trace, and going back restores what was.

use std::ops::ControlFlow;

use wavelift::debug::{
    DebugError, Debugger, Dispatch, Ended, Event, Limits, Named, Phase, Reason, Resume, Stop,
    WatchKind,
};
use wavelift::trace::{self, RegisterValue, Selection, Tracer};
use wavelift::{Arg, Buffer, Device, DeviceOptions, Dtype, Launch, WaveState};

use super::kernel;

/// Where guest memory is, so that addresses in registers are the same on two devices, one after the
/// other.
const ADDRESS: u64 = 0x2468_0000_0000;

fn options() -> DeviceOptions {
    DeviceOptions {
        reserve: 64 << 20,
        address: Some(ADDRESS),
        ..DeviceOptions::default()
    }
}

/// Devices at the same address exist one at a time.
static TURN: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn turn() -> std::sync::MutexGuard<'static, ()> {
    TURN.lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

const TARGETS: [&str; 5] = ["gfx600", "gfx700", "gfx803", "gfx900", "gfx906"];

/// A sum of 500 numbers, 256 work-items in each of two workgroups: LDS, barriers, an atomic.
struct Reduction {
    sum: Buffer,
    dispatch: Dispatch,
}

fn reduction(device: &Device, target: &str) -> Reduction {
    let numbers: Vec<u32> = (0..500).map(|n| n * n + 1).collect();
    let numbers = device.buffer(&numbers).expect("there is memory");
    let sum = device.buffer(&[7u32]).expect("there is memory");
    let path = format!("examples/reduction/reduction.{target}.co");
    let args = vec![
        (&sum).into(),
        (&numbers).into(),
        Arg::Local(1024),
        500u32.into(),
    ];
    let kernel = kernel(device, &path, "reduce_sum");
    Reduction {
        sum,
        dispatch: Dispatch::new(kernel, Launch::new(512, 256), args),
    }
}

fn debugger() -> Debugger {
    Debugger::new(options()).expect("there is memory")
}

/// A started debugger of the sum.
fn reducing(target: &str) -> (Debugger, Buffer) {
    let mut debugger = debugger();
    let Reduction { sum, dispatch } = reduction(&debugger.device().clone(), target);
    debugger.name(Named::of(&sum, "sum", Some(Dtype::U32)));
    debugger.add(dispatch);
    stopped(debugger.start());
    (debugger, sum)
}

fn stopped(event: Result<Event, DebugError>) -> Stop {
    match event.expect("it runs") {
        Event::Stopped(stop) => stop,
        Event::Ended(ended) => panic!("{ended:?}"),
    }
}

fn step(debugger: &mut Debugger) -> Stop {
    stopped(debugger.resume(Resume::Step { steps: 1 }))
}

fn go_on(debugger: &mut Debugger) -> Stop {
    stopped(debugger.resume(Resume::Continue { pass: 0 }))
}

fn value(debugger: &Debugger, text: &str) -> String {
    let value = debugger.evaluate(text);
    let value = value.unwrap_or_else(|error| panic!("{text}: {error}"));
    value.show(None).expect("it has a format")
}

/// The bits of a register by its name in a trace; of a lane of a vector register.
fn register(wave: &WaveState, name: &str, lane: usize) -> u64 {
    let pair = |code: usize| u64::from(wave.sgpr[code]) | u64::from(wave.sgpr[code + 1]) << 32;
    let range = |text: &str| -> Option<(usize, usize)> {
        let (first, last) = text.strip_prefix('[')?.strip_suffix(']')?.split_once(':')?;
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    let vector = |n: usize| u64::from(wave.vgpr[n][lane]);
    match name {
        "scc" => return wave.scc.into(),
        "mode" => return wave.mode.into(),
        "trapsts" => return wave.trapsts.into(),
        "vcc" => return wave.vcc(),
        "exec" => return wave.exec(),
        "m0" => return wave.m0().into(),
        "flat_scratch_lo" => return wave.sgpr[102].into(),
        "flat_scratch_hi" => return wave.sgpr[103].into(),
        _ => {}
    }
    let (kind, rest) = name.split_at(1);
    match (kind, range(rest)) {
        ("s", Some((first, _))) => pair(first),
        ("v", Some((first, _))) => vector(first) | vector(first + 1) << 32,
        ("s", None) => wave.sgpr[rest.parse::<usize>().expect("a number")].into(),
        ("v", None) => vector(rest.parse().expect("a number")),
        _ => panic!("{name}"),
    }
}

/// The trace of a wave, from a device that is gone afterwards.
fn traced(selection: Selection, make: impl Fn(&Device) -> Dispatch) -> Vec<trace::Event> {
    let tracer = Tracer::new(options()).expect("there is memory");
    let dispatch = make(tracer.device());
    let settings = wavelift::Settings {
        threads: 1,
        ..tracer.device().settings()
    };
    let mut events = Vec::new();
    let (kernel, launch, args) = (&dispatch.kernel, &dispatch.launch, &dispatch.args);
    let ran = tracer.launch(kernel, launch, args, &settings, selection, |event| {
        events.push(event.clone());
        ControlFlow::Continue(())
    });
    ran.expect("it runs");
    events
}

/// Steps through a wave and compares each stop and all registers with the trace.
fn steps_are_the_trace(selection: Selection, make: impl Fn(&Device) -> Dispatch) -> usize {
    let _turn = turn();
    let events = traced(selection, &make);
    let mut debugger = debugger();
    let dispatch = make(&debugger.device().clone());
    let name = dispatch.kernel.name().to_owned();
    debugger.add(dispatch);
    stopped(debugger.start());
    let limits = Limits {
        wave: Some(selection.wave),
        workgroup: Some(selection.workgroup),
        temporary: true,
        ..Limits::default()
    };
    debugger.break_at(&name, limits).expect("it is there");
    let mut stop = match (selection.wave, selection.workgroup) {
        (0, [0, 0, 0]) => debugger.stop().cloned().expect("it is stopped"),
        _ => go_on(&mut debugger),
    };
    let mut wave = debugger.registers().expect("it is stopped");
    for (number, event) in events.iter().enumerate() {
        let at = format!("{name}, instruction {number}: {}", event.instruction);
        assert_eq!(stop.executed, event.number, "{at}");
        assert_eq!(stop.place.address, event.pc, "{at}");
        assert_eq!(stop.place.symbol, event.symbol, "{at}");
        assert_eq!(stop.instruction, event.instruction, "{at}");
        assert_eq!(wave.exec(), event.exec, "{at}");
        stop = step(&mut debugger);
        assert_eq!(
            (stop.wave, stop.workgroup),
            (selection.wave, selection.workgroup),
            "{at}"
        );
        let after = debugger.registers().expect("it is stopped");
        // What the trace says has changed has these values now, and all else is as it was.
        let mut changed = 0;
        for change in &event.registers {
            match &change.value {
                RegisterValue::Wave(value) => {
                    assert_eq!(register(&after, &change.register, 0), *value, "{at}");
                }
                RegisterValue::Lanes(lanes) => {
                    for &(lane, value) in lanes {
                        let now = register(&after, &change.register, lane as usize);
                        assert_eq!(now, value, "{at}, lane {lane}");
                        changed += 1;
                    }
                }
            }
        }
        let differ = |a: &[[u32; 64]], b: &[[u32; 64]]| {
            let both = a.as_flattened().iter().zip(b.as_flattened());
            both.filter(|(a, b)| a != b).count()
        };
        let pairs = event
            .registers
            .iter()
            .any(|change| change.register.starts_with("v["));
        let differences = differ(&wave.vgpr, &after.vgpr);
        assert!(
            differences >= changed && (pairs || differences == changed),
            "{at}"
        );
        if event.registers.is_empty() {
            assert_eq!(wave.sgpr, after.sgpr, "{at}");
        }
        let phase = match event.next {
            trace::Next::Barrier => Phase::Barrier,
            trace::Next::End => Phase::Ended,
            _ => Phase::Ready,
        };
        // The last wave at a barrier waits until the next step, too.
        assert_eq!(stop.phase, phase, "{at}");
        wave = after;
    }
    assert_eq!(stop.reason, Reason::WaveEnded, "{name}");
    events.len()
}

#[test]
fn steps_through_a_wave_are_its_trace() {
    for target in TARGETS {
        for (workgroup, wave) in [([0; 3], 0), ([1, 0, 0], 3)] {
            let selection = Selection {
                workgroup,
                wave,
                limit: None,
            };
            let count = steps_are_the_trace(selection, |device| reduction(device, target).dispatch);
            assert!(count > 50, "{target}: {count}");
        }
    }
}

#[test]
fn steps_through_calls_are_the_trace() {
    let selection = Selection::default();
    let count = steps_are_the_trace(selection, |device| recursion(device, "gfx900"));
    assert!(count > 500, "{count}");
}

/// Calls that call themselves, with arrays in scratch.
fn recursion(device: &Device, target: &str) -> Dispatch {
    let numbers: Vec<u32> = (0..64).collect();
    let numbers = device.buffer(&numbers).expect("there is memory");
    let out = device.alloc(512).expect("there is memory");
    let path = format!("tests/kernels/memory/calls.{target}.co");
    let kernel = kernel(device, &path, "recursion");
    let args = vec![(&out).into(), (&numbers).into()];
    // It keeps its buffers.
    Dispatch::new(kernel, Launch::new(64, 64), args)
}

/// PC, SCC, scalar registers and vector registers of a wave.
type Wave = (u64, u32, Vec<u32>, Vec<[u32; 64]>);

/// All that a stopped workgroup is.
#[derive(PartialEq)]
struct Seen {
    position: u64,
    phases: Vec<Phase>,
    executed: Vec<u64>,
    waves: Vec<Wave>,
    lds: Vec<u8>,
    memory: String,
}

fn seen(debugger: &Debugger) -> Seen {
    let memory = value(debugger, "sum");
    let seen = debugger.inspect(move |state| {
        let all = 0..state.waves();
        let registers = |wave| {
            let it = state.wave(wave).expect("it is there");
            (it.pc, it.scc, it.sgpr.to_vec(), it.vgpr.to_vec())
        };
        Seen {
            position: state.position(),
            phases: all.clone().map(|wave| state.phase(wave)).collect(),
            executed: all.clone().map(|wave| state.executed(wave)).collect(),
            waves: all.map(registers).collect(),
            lds: state.lds().to_vec(),
            memory,
        }
    });
    seen.expect("it is stopped")
}

fn assert_same(now: &Seen, then: &Seen, what: &str) {
    assert_eq!(now.position, then.position, "{what}");
    assert_eq!(now.executed, then.executed, "{what}");
    assert_eq!(now.phases, then.phases, "{what}");
    assert_eq!(now.memory, then.memory, "{what}");
    assert!(now.lds == then.lds, "{what}: LDS");
    assert!(now.waves == then.waves, "{what}: registers");
}

#[test]
fn going_back_restores_registers_lds_and_memory() {
    let _turn = turn();
    for target in ["gfx700", "gfx906"] {
        let (mut debugger, _sum) = reducing(target);
        // Waves by turns, over barriers and the atomic, to the end of the first.
        let mut all = vec![(0, seen(&debugger))];
        loop {
            let phases = debugger.waves().expect("it is stopped");
            let round = all.len() as u32;
            let ready = phases.iter().filter(|info| info.phase != Phase::Ended);
            let ready: Vec<u32> = ready.map(|info| info.wave).collect();
            let wave = ready[(round as usize / 7) % ready.len()];
            debugger.select(wave).expect("it is there");
            let stop = step(&mut debugger);
            all.push((wave, seen(&debugger)));
            if stop.reason == Reason::WaveEnded {
                break;
            }
        }
        assert!(all.len() > 100, "{target}: {}", all.len());
        let changes = all
            .windows(2)
            .filter(|pair| pair[0].1.memory != pair[1].1.memory);
        // The wave that ends first is not the one with the atomic, which comes after it.
        assert!(changes.count() <= 1, "{target}");
        // One by one, to the first.
        for number in (1..all.len()).rev() {
            let wave = all[number].0;
            debugger.select(wave).expect("it is there");
            let stop = stopped(debugger.resume(Resume::Back { steps: 1 }));
            let expected = all[number].1.executed[wave as usize] - 1;
            assert_eq!(stop.executed, expected, "{target}, {number}");
            // It is where this wave was then: at the end of its last instruction before.
            let last = all[..number]
                .iter()
                .rposition(|(by, seen)| *by == wave && seen.executed[wave as usize] == expected);
            if let Some(last) = last.filter(|&last| last + 1 == number) {
                assert_same(
                    &seen(&debugger),
                    &all[last].1,
                    &format!("{target}, back to {last}"),
                );
            }
            // Forward again, to the same.
            let wanted = all[number - 1].1.position;
            let position = |debugger: &Debugger| debugger.stop().map_or(0, |stop| stop.position);
            while position(&debugger) < wanted {
                let now = position(&debugger);
                let next = all.iter().find(|(_, then)| then.position > now);
                let (wave, _) = next.expect("there is one");
                debugger.select(*wave).expect("it is there");
                step(&mut debugger);
            }
            let what = format!("{target}, forward to {number}");
            assert_same(&seen(&debugger), &all[number - 1].1, &what);
        }
    }
}

#[test]
fn far_back_over_atomics_of_all_waves() {
    let _turn = turn();
    let (mut debugger, sum) = reducing("gfx900");
    let first = seen(&debugger);
    debugger
        .watch_text("sum[0]", (WatchKind::Write, None), Limits::default())
        .expect("it is memory");
    let stop = go_on(&mut debugger);
    let Reason::Watchpoint { id: 1, access, .. } = &stop.reason else {
        panic!("{stop:?}");
    };
    assert_eq!(access.address, sum.address());
    assert_eq!((stop.wave, stop.workgroup), (0, [0; 3]));
    let total: u32 = 7
        + (0..500u32)
            .filter(|n| n % 512 < 256)
            .map(|n| n * n + 1)
            .sum::<u32>();
    assert_eq!(value(&debugger, "sum[0]"), total.to_string());
    let there = seen(&debugger);
    let steps = there.executed[0];
    let back = stopped(debugger.resume(Resume::Back { steps }));
    assert_eq!((back.executed, back.reason.clone()), (0, Reason::Step));
    assert_same(&seen(&debugger), &first, "back at the beginning");
    assert_eq!(value(&debugger, "sum[0]"), "7");
    assert!(matches!(
        debugger.resume(Resume::Back { steps: 1 }),
        Err(DebugError::NoHistory)
    ));
    // The same course once more.
    assert_eq!(go_on(&mut debugger).reason, stop.reason);
    assert_same(&seen(&debugger), &there, "there again");
    // In the next workgroup, back ends where it began.
    let stop = go_on(&mut debugger);
    assert_eq!(stop.workgroup, [1, 0, 0]);
    let stop = stopped(debugger.resume(Resume::BackToPoint));
    assert_eq!((stop.reason, stop.position), (Reason::HistoryBegins, 0));
    assert_eq!(value(&debugger, "sum[0]"), total.to_string());
    assert_eq!(go_on(&mut debugger).workgroup, [1, 0, 0]);
    let end = debugger
        .resume(Resume::Continue { pass: 0 })
        .expect("it runs");
    assert!(matches!(end, Event::Ended(Ended::Completed)), "{end:?}");
    let all: u32 = 7 + (0..500u32).map(|n| n * n + 1).sum::<u32>();
    assert_eq!(
        value(&debugger, "sum[0]"),
        all.to_string(),
        "it can be read after the end"
    );
    // And from the beginning, with memory as it was.
    stopped(debugger.start());
    assert_eq!(value(&debugger, "sum[0]"), "7");
}

#[test]
fn back_to_breakpoints_one_by_one() {
    let _turn = turn();
    let (mut debugger, _sum) = reducing("gfx803");
    let pc = debugger.locate("reduce_sum").expect("it is there")[0];
    let listed = debugger.disassemble(pc, 0, 1000).expect("it is code");
    let barriers = listed.iter().filter(|line| line.text == "s_barrier");
    let barriers: Vec<u64> = barriers.map(|line| line.place.address).collect();
    for barrier in &barriers {
        let limits = Limits {
            wave: Some(2),
            ..Limits::default()
        };
        let location = format!("0x{barrier:x}");
        let point = debugger.break_at(&location, limits);
        point.expect("it is an instruction");
    }
    let stops: Vec<_> = (0..5)
        .map(|_| {
            let stop = go_on(&mut debugger);
            assert_eq!((stop.wave, stop.workgroup), (2, [0; 3]));
            assert!(barriers.contains(&stop.place.address), "{stop:?}");
            seen(&debugger)
        })
        .collect();
    for then in stops[..4].iter().rev() {
        let stop = stopped(debugger.resume(Resume::BackToPoint));
        assert!(matches!(stop.reason, Reason::Breakpoint { .. }), "{stop:?}");
        assert_same(&seen(&debugger), then, "back");
    }
    let stop = stopped(debugger.resume(Resume::BackToPoint));
    assert_eq!(stop.reason, Reason::HistoryBegins);
    for then in &stops {
        go_on(&mut debugger);
        assert_same(&seen(&debugger), then, "forward");
    }
}

#[test]
fn what_is_set_is_what_runs() {
    let _turn = turn();
    let (mut debugger, _sum) = reducing("gfx900");
    step(&mut debugger);
    for (place, value) in [
        ("v0[5]", "0x1234"),
        ("s10", "77"),
        ("v1", "1.5"),
        ("s[12:13]", "0x1111222233334444"),
        ("lds[8].f32", "2.5"),
        ("sum[0]", "1000"),
        ("scc", "1"),
        ("vcc", "0xf0"),
    ] {
        debugger
            .assign(place, value)
            .unwrap_or_else(|error| panic!("{place}: {error}"));
    }
    for (text, wanted) in [
        ("v0[5]", "0x1234"),
        ("s10 + 1", "78"),
        ("v1[63].f32", "1.5"),
        ("s12", "0x33334444"),
        ("s13", "0x11112222"),
        ("lds[8].f32", "2.5"),
        ("lds[8]", "0x40200000"),
        ("sum", "1000"),
        ("scc", "0x1"),
        ("vcc", "0xf0"),
        ("any(v0 == 0x1234)", "1"),
        ("all(v0 == 0x1234)", "0"),
        ("all(v1.f32 > 1.25 && v1.f32 < 1.75)", "1"),
        ("-3 * 2 + 10 % 4", "-4"),
        ("(1 << 4 | 3) ^ 1", "18"),
        ("!0 + ~0", "0"),
        ("1.5 * 2", "3.0"),
    ] {
        assert_eq!(value(&debugger, text), wanted, "{text}");
    }
    let changed = seen(&debugger);
    step(&mut debugger);
    stopped(debugger.resume(Resume::Back { steps: 1 }));
    assert_same(&seen(&debugger), &changed, "back to where it was set");
    stopped(debugger.resume(Resume::Back { steps: 1 }));
    assert_eq!(value(&debugger, "sum"), "7", "farther back it is undone");
    assert_eq!(value(&debugger, "lds[8]"), "0x0");
    debugger.assign("sum[0]", "500").expect("it is memory");
    let end = debugger
        .resume(Resume::Continue { pass: 0 })
        .expect("it runs");
    assert!(matches!(end, Event::Ended(Ended::Completed)), "{end:?}");
    let all: u32 = 500 + (0..500u32).map(|n| n * n + 1).sum::<u32>();
    assert_eq!(value(&debugger, "sum"), all.to_string());
}

#[test]
fn calls_are_followed() {
    let _turn = turn();
    for target in TARGETS {
        let mut debugger = debugger();
        let dispatch = recursion(&debugger.device().clone(), target);
        debugger.add(dispatch);
        stopped(debugger.start());
        debugger
            .break_at("ackermann", Limits::default())
            .expect("it is there");
        let depths: Vec<usize> = (0..6)
            .map(|_| {
                let stop = go_on(&mut debugger);
                let name = stop.place.symbol.map(|(name, _)| name);
                assert_eq!(name.as_deref(), Some("ackermann"), "{target}");
                let frames = debugger.backtrace().expect("it is stopped");
                let outermost = frames.last().expect("there is one");
                let name = outermost.place.symbol.as_ref().map(|(name, _)| &**name);
                assert_eq!(name, Some("recursion"), "{target}");
                frames.len()
            })
            .collect();
        assert!(
            depths[0] >= 2 && depths.iter().max() > Some(&depths[0]),
            "{target}: {depths:?}"
        );
        debugger.delete(1).expect("it is there");
        // Out, to behind the call.
        let frames = debugger.backtrace().expect("it is stopped");
        let stop = stopped(debugger.resume(Resume::Finish));
        assert_eq!(stop.place, frames[1].place, "{target}");
        let depth = debugger.backtrace().expect("it is stopped").len();
        assert_eq!(depth, frames.len() - 1, "{target}");
        // Over a call: the depth stays the same.
        for _ in 0..40 {
            stopped(debugger.resume(Resume::Next));
            let now = debugger.backtrace().expect("it is stopped").len();
            assert!(now <= depth, "{target}");
            if now < depth {
                break;
            }
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let _turn = turn();
    let mut empty = debugger();
    assert!(matches!(empty.start(), Err(DebugError::NoLaunch)));
    drop(empty);
    let (mut debugger, _sum) = reducing("gfx900");
    for (text, message) in [
        ("v99", "v99 does not exist: the wave has v0 to v"),
        ("v4294967295000000000000", "does not exist"),
        ("s200", "s200 does not exist: the wave has s0 to s101"),
        ("v0[64]", "lane 64 does not exist"),
        ("s[5:4]", "a range goes from the first to the last"),
        ("v[0:2]", "registers are single or pairs"),
        ("sum[1]", "sum has 1 elements of u32"),
        (
            "lds[100000]",
            "LDS: 4 bytes at 0x186a0 are not there; it has 1024 bytes",
        ),
        (
            "scratch[0]",
            "scratch of a lane: 4 bytes at 0x0 are not there; it has 0 bytes",
        ),
        ("mem[16]", "guest memory: 4 bytes at 0x10 are not there"),
        ("mem[0xfffffffffffffffe]", "are not there"),
        ("nothing", "`nothing` is neither a register nor a buffer"),
        ("1 +", "a number, a register or a buffer was expected"),
        ("1 2", "an operator or the end"),
        ("v0.f33", "a type was expected"),
        ("s0.f64", "f64 has 8 bytes and a register has 4"),
        ("1 / 0", "division by 0"),
        ("0x11112222333344445", "64 bits at most"),
        ("v0.f32 & 1", "operations on bits are for integers"),
    ] {
        let error = debugger.evaluate(text).expect_err(text).to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
    let deep = format!("{}1{}", "(".repeat(1000), ")".repeat(1000));
    assert!(debugger.evaluate(&deep).is_err());
    let first = debugger.locate("reduce_sum").expect("it is there")[0];
    let listed = debugger.disassemble(first, 0, 20).expect("it is code");
    let long = listed.windows(2).find(|pair| pair[1].pc - pair[0].pc == 8);
    let inside = long.expect("it has a long instruction")[0].place.address + 4;
    for (location, message) in [
        (format!("0x{inside:x}"), "no instruction begins at 0x"),
        ("0x0".to_owned(), "no instruction begins at 0x0"),
        (
            "0xffffffffffffffff".to_owned(),
            "no instruction begins at 0xffffffffffffffff",
        ),
        (
            "reduce_sum+0x100000".to_owned(),
            "no instruction begins at reduce_sum+0x100000",
        ),
        ("reduce_sum+x".to_owned(), "`reduce_sum+x` is no place"),
        (
            "no_function".to_owned(),
            "there is no function `no_function`",
        ),
        (
            "file.cl:7".to_owned(),
            "the code object has no line numbers",
        ),
    ] {
        let error = debugger
            .break_at(&location, Limits::default())
            .expect_err(&location);
        assert!(error.to_string().contains(message), "{location}: {error}");
    }
    assert!(matches!(
        debugger.select(4),
        Err(DebugError::NoWave { wave: 4, waves: 4 })
    ));
    assert!(matches!(debugger.delete(9), Err(DebugError::NoPoint(9))));
    assert!(matches!(
        debugger.resume(Resume::Finish),
        Err(DebugError::NotInCall)
    ));
    for (place, what) in [
        ("trapsts", "cannot be written"),
        ("sum + 1", "only registers and memory"),
    ] {
        let error = debugger.assign(place, "1").expect_err(place).to_string();
        assert!(error.contains(what), "{place}: {error}");
    }
    let unmapped = debugger.watch_text("0x10", (WatchKind::Write, None), Limits::default());
    assert!(matches!(
        unmapped,
        Err(DebugError::Memory { address: 16, .. })
    ));
    debugger.end();
    assert!(matches!(
        debugger.resume(Resume::Continue { pass: 0 }),
        Err(DebugError::NotStopped)
    ));
    assert!(matches!(
        debugger.evaluate("v0"),
        Err(DebugError::NotStopped)
    ));
}

/// Barriers of the grid: workgroups give way to one another.
fn barriers(device: &Device) -> (Buffer, Dispatch) {
    let words = device.buffer(&[0u32; 64]).expect("there is memory");
    let kernel = kernel(device, "tests/kernels/waits/grid.gfx906.co", "barriers");
    let args = vec![(&words).into(), 3u32.into()];
    let dispatch = Dispatch::new(kernel, Launch::new(4 * 128, 128), args);
    (words, dispatch)
}

#[test]
fn workgroups_that_wait_for_others_run() {
    let _turn = turn();
    let expected = {
        let device = Device::with_options(options()).expect("there is memory");
        let (words, dispatch) = barriers(&device);
        let ran = device.launch(&dispatch.kernel, &dispatch.launch, &dispatch.args);
        ran.expect("it ends");
        words.read::<u32>().expect("it can be read")
    };
    let course = || {
        let mut debugger = debugger();
        let (words, dispatch) = barriers(&debugger.device().clone());
        debugger.name(Named::of(&words, "words", Some(Dtype::U32)));
        debugger.add(dispatch);
        stopped(debugger.start());
        let limits = Limits {
            workgroup: Some([2, 0, 0]),
            ..Limits::default()
        };
        let point = debugger.watch_text("words[0]", (WatchKind::Write, None), limits);
        point.expect("it is memory");
        let mut stops = Vec::new();
        loop {
            match debugger
                .resume(Resume::Continue { pass: 0 })
                .expect("it runs")
            {
                Event::Stopped(stop) => stops.push((stop.position, stop.place.address)),
                Event::Ended(Ended::Completed) => break,
                Event::Ended(ended) => panic!("{ended:?}"),
            }
            // One can go back to where the others have run last, and no farther.
            if stops.len() == 3 {
                let there = value(&debugger, "words");
                let earliest = debugger.inspect(|state| state.earliest());
                let earliest = earliest.expect("it is stopped");
                let steps = 1 << 30;
                let stop = stopped(debugger.resume(Resume::Back { steps }));
                assert_eq!((stop.position, stop.workgroup), (earliest, [2, 0, 0]));
                let stop = stopped(debugger.resume(Resume::Continue { pass: 0 }));
                assert_eq!(Some(&(stop.position, stop.place.address)), stops.last());
                assert_eq!(value(&debugger, "words"), there);
            }
        }
        let words = words.read::<u32>().expect("it can be read");
        (stops, words)
    };
    let (stops, words) = course();
    assert_eq!(words, expected);
    // Two increments in each of three rounds.
    assert_eq!(stops.len(), 6, "{stops:?}");
    assert_eq!(
        course(),
        (stops, words),
        "the course is the same every time"
    );
}
