use std::collections::BTreeSet;
use std::sync::atomic::AtomicUsize;

use frontend::{Gfx, WaveState};

use super::super::launch::Arguments;
use super::super::packet::{PACKET_BYTES, QUEUE_BYTES};
use super::super::shape::Shape;
use super::*;
use crate::engine::{Exit, Group, PRIVATE_BASE, SHARED_BASE};
use crate::fault::{Access, FaultKind};
use crate::kernarg::ArgValue;
use crate::memory::{Options, Purpose};
use crate::object::{ArgKind, ArgMetadata, KernelDescriptor, KernelMetadata};

/// An engine from a closure.
struct Fake<F>(F);

impl<F> Engine for Fake<F>
where
    F: Fn(&mut WaveState, &mut Group<'_>, &mut u64) -> Exit + Sync,
{
    fn run(&self, wave: &mut WaveState, group: &mut Group<'_>, fuel: &mut u64) -> Exit {
        (self.0)(wave, group, fuel)
    }
}

struct World {
    memory: Memory,
    code: LoadedCode,
    kernel: KernelCode,
    dispatcher: Dispatcher,
    settings: Settings<'static>,
}

fn world(threads: usize) -> World {
    world_with(threads, false)
}

fn world_with(threads: usize, exact: bool) -> World {
    let memory = Memory::with_options(Options {
        reserve: 256 << 20,
        exact,
        ..Options::default()
    })
    .unwrap();
    let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &[0xff; 64]).unwrap();
    let kernel = KernelCode {
        name: "fake".to_owned(),
        entry: code.base(),
        ..KernelCode::default()
    };
    World {
        memory,
        code,
        kernel,
        dispatcher: Dispatcher::new(),
        settings: Settings {
            threads,
            ..Settings::default()
        },
    }
}

impl World {
    fn run<F>(&self, grid: u32, workgroup: u32, run: F) -> Result<Stats, RunError>
    where
        F: Fn(&mut WaveState, &mut Group<'_>, &mut u64) -> Exit + Sync,
    {
        self.launch(grid, workgroup, Arguments::Segment(&[0; 64]), run)
    }

    fn launch<F>(
        &self,
        grid: u32,
        workgroup: u32,
        arguments: Arguments<'_>,
        run: F,
    ) -> Result<Stats, RunError>
    where
        F: Fn(&mut WaveState, &mut Group<'_>, &mut u64) -> Exit + Sync,
    {
        let launch = Launch {
            shape: Shape::new([grid, 1, 1], [workgroup, 1, 1], 1)?,
            global_offset: [0; 3],
            dynamic_lds: 0,
            arguments,
        };
        self.dispatcher.run(
            &Fake(run),
            &self.memory,
            &self.code,
            &self.kernel,
            &launch,
            &self.settings,
        )
    }
}

fn fault_of(result: Result<Stats, RunError>) -> Fault {
    match result {
        Err(RunError::Fault(fault)) => *fault,
        other => panic!("not a fault: {other:?}"),
    }
}

#[test]
fn every_wave_runs_once_on_any_number_of_threads() {
    for threads in [1, 2, 3, 8] {
        let world = world(threads);
        let seen = Mutex::new(BTreeSet::new());
        let stats = world
            .run(1000, 130, |wave, group, _| {
                let key = (group.workgroup[0], group.wave);
                assert!(seen.lock().unwrap().insert(key), "{key:?} ran twice");
                assert_eq!(wave.vgpr[0][0], group.wave * 64);
                assert_eq!(group.waves, if group.workgroup[0] == 7 { 2 } else { 3 });
                Exit::End
            })
            .unwrap();
        // Seven groups of 130 work-items and one of 90.
        assert_eq!((stats.workgroups, stats.waves), (8, 7 * 3 + 2));
        assert_eq!(seen.into_inner().unwrap().len(), 23);
    }
}

#[test]
fn one_worker_takes_groups_in_ascending_order() {
    let world = world(1);
    let order = Mutex::new(Vec::new());
    world
        .run(640, 64, |_, group, _| {
            order.lock().unwrap().push(group.workgroup[0]);
            Exit::End
        })
        .unwrap();
    assert_eq!(order.into_inner().unwrap(), (0..10).collect::<Vec<_>>());
}

#[test]
fn a_barrier_waits_for_all_waves_that_have_not_ended() {
    let world = world(1);
    let log = Mutex::new(Vec::new());
    world
        .run(256, 256, |wave, group, _| {
            wave.sgpr[20] += 1;
            log.lock().unwrap().push((wave.sgpr[20], group.wave));
            match (wave.sgpr[20], group.wave) {
                (1, 2) | (3, _) => Exit::End,
                _ => Exit::Barrier,
            }
        })
        .unwrap();
    let expected = [
        (1, 0),
        (1, 1),
        (1, 2),
        (1, 3),
        (2, 0),
        (2, 1),
        (2, 3),
        (3, 0),
        (3, 1),
        (3, 3),
    ];
    assert_eq!(log.into_inner().unwrap(), expected);
}

#[test]
fn waves_that_wait_for_each_other_make_progress() {
    let world = world(1);
    let flag = AtomicUsize::new(0);
    // Wave 0 spins until wave 1 has run, which must first wait for wave 0.
    world
        .run(128, 128, |wave, group, fuel| {
            assert_eq!(*fuel, 2048);
            wave.sgpr[20] += 1;
            match (group.wave, flag.load(Relaxed)) {
                (0, 0) => {
                    flag.store(1, Relaxed);
                    Exit::Yield
                }
                (1, 1) => {
                    flag.store(2, Relaxed);
                    Exit::Yield
                }
                (0, 2) => {
                    flag.store(3, Relaxed);
                    Exit::End
                }
                (1, 3) => Exit::End,
                _ => Exit::Yield,
            }
        })
        .unwrap();
    assert_eq!(flag.into_inner(), 3);
}

#[test]
fn groups_that_wait_for_earlier_groups_make_progress() {
    for threads in [1, 2, 3, 8] {
        let world = world(threads);
        let done = AtomicU64::new(0);
        world
            .run(64 * 50, 64, |_, group, _| {
                let me = u64::from(group.workgroup[0]);
                match done.compare_exchange(me, me + 1, Relaxed, Relaxed) {
                    Ok(_) => Exit::End,
                    Err(_) => Exit::Yield,
                }
            })
            .unwrap();
        assert_eq!(done.into_inner(), 50);
    }
}

#[test]
fn a_group_that_waits_for_a_later_one_gives_its_worker_away() {
    for threads in [1, 2, 8] {
        let world = world(threads);
        let begun = AtomicUsize::new(0);
        // Each waits until all have begun, and the first ones for the last ones to end.
        let ended = AtomicUsize::new(0);
        let stats = world
            .run(64 * 100, 64, |wave, group, _| {
                if wave.sgpr[20] == 0 {
                    wave.sgpr[20] = 1;
                    begun.fetch_add(1, Relaxed);
                }
                let later = 99 - group.workgroup[0] as usize;
                if begun.load(Relaxed) < 100 || ended.load(Relaxed) < later {
                    return Exit::Yield;
                }
                ended.fetch_add(1, Relaxed);
                Exit::End
            })
            .unwrap();
        assert_eq!(stats.workgroups, 100);
    }
}

#[test]
fn registers_lds_and_scratch_stay_with_a_group_that_stops() {
    for threads in [1, 3] {
        let mut world = world(threads);
        world.kernel.descriptor = KernelDescriptor {
            private_segment_fixed_size: 64,
            group_segment_fixed_size: 512,
            rsrc2: 1,
            ..KernelDescriptor::default()
        };
        let rounds = AtomicUsize::new(0);
        let bases = Mutex::new(BTreeSet::new());
        world
            .run(128 * 20, 128, |wave, group, _| {
                let own = group.workgroup[0] * 2 + group.wave + 1;
                let at = group.scratch.base;
                if wave.sgpr[20] == 0 {
                    wave.sgpr[20] = own;
                    wave.vgpr[7][63] = own;
                    group.lds.bytes_mut()[group.wave as usize] = own as u8;
                    group.memory.store_u32(at, own).unwrap();
                    assert!(bases.lock().unwrap().insert(at), "shared scratch");
                    rounds.fetch_add(1, Relaxed);
                }
                assert_eq!((wave.sgpr[20], wave.vgpr[7][63]), (own, own));
                assert_eq!(group.lds.bytes()[group.wave as usize], own as u8);
                assert_eq!(group.memory.load_u32(at), Ok(own));
                match rounds.load(Relaxed) {
                    40 => Exit::End,
                    _ => Exit::Yield,
                }
            })
            .unwrap();
    }
}

#[test]
fn workgroups_that_stop_have_a_limit_of_memory() {
    for threads in [1, 2] {
        let mut world = world(threads);
        world.settings.timeout = Some(Duration::from_millis(600));
        world.settings.on_wait = Some(|wait| panic!("the limit is reported instead: {wait}"));
        // A wave, and LDS: three of them.
        world.settings.waiting_bytes = 3 * (size_of::<WaveState>() as u64 + (64 << 10));
        let code = [0xbf82_ffffu32.to_le_bytes(), 0xbf81_0000u32.to_le_bytes()].concat();
        world.code = LoadedCode::from_bytes(&world.memory, Gfx::Gfx900, &code).unwrap();
        world.kernel.entry = world.code.base();
        let begun = AtomicUsize::new(0);
        let fault = fault_of(world.run(64 * 10, 64, |wave, _, _| {
            if wave.sgpr[20] == 0 {
                wave.sgpr[20] = 1;
                begun.fetch_add(1, Relaxed);
            }
            Exit::Yield
        }));
        // The loop reads nothing, so that nobody can say that it waits.
        assert_eq!(fault.kind, FaultKind::Timeout { seconds: 0.6 });
        assert_eq!(begun.into_inner(), 3 + threads - 1);
    }
}

#[test]
fn many_short_workgroups_end_in_a_timeout() {
    for threads in [1, 3] {
        let mut world = world(threads);
        world.settings.timeout = Some(Duration::from_millis(30));
        // All of them take longer.
        let fault = fault_of(world.run(u32::MAX, 64, |_, _, _| Exit::End));
        assert_eq!(fault.kind, FaultKind::Timeout { seconds: 0.03 });
    }
}

#[test]
fn an_endless_wave_ends_in_a_timeout() {
    let mut world = world(2);
    world.settings.timeout = Some(Duration::from_millis(30));
    let fault = fault_of(world.run(64 * 10, 64, |wave, _, _| {
        wave.pc += 8;
        Exit::Yield
    }));
    assert_eq!(fault.kind, FaultKind::Timeout { seconds: 0.03 });
    assert_eq!(fault.workgroup, [0, 0, 0]);
    assert_eq!(
        fault.kind.to_string(),
        "was still running after 0.03 s, the time limit of the dispatch"
    );
}

fn is_cancelled(result: Result<Stats, RunError>) -> bool {
    match result {
        Err(error @ RunError::Cancelled { .. }) => {
            assert_eq!(error.to_string(), "kernel fake was cancelled");
            true
        }
        Ok(_) => false,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_cancelled_dispatch_stops_waves_and_begins_no_groups() {
    for threads in [1, 2, 8] {
        let mut world = world(threads);
        let token = CancelToken::new();
        world.settings.cancel = Some(token.clone());
        // Groups that end. A worker may have been about to begin one.
        let late = AtomicUsize::new(0);
        let run = || {
            is_cancelled(world.run(64 * 100_000, 64, |_, group, _| {
                late.fetch_add(token.is_cancelled().into(), Relaxed);
                if group.workgroup[0] == 100 {
                    token.cancel();
                }
                Exit::End
            }))
        };
        assert!(run());
        let late_before = late.load(Relaxed);
        assert!(late_before <= threads, "{late_before}");
        assert!(run());
        assert_eq!(late.load(Relaxed), late_before, "no group of a later one");
        // Groups that never end.
        for exit in [Exit::Yield, Exit::Barrier] {
            let token = CancelToken::new();
            world.settings.cancel = Some(token.clone());
            let result = world.run(64 * 10, 64, |wave, _, _| {
                wave.sgpr[20] += 1;
                if wave.sgpr[20] == 10 {
                    token.cancel();
                }
                exit.clone()
            });
            assert!(is_cancelled(result));
        }
    }
}

#[test]
fn a_token_that_comes_too_late_changes_nothing() {
    let mut world = world(1);
    let token = CancelToken::new();
    world.settings.cancel = Some(token.clone());
    let result = world.run(640, 64, |_, group, _| {
        if group.workgroup[0] == 9 {
            token.cancel();
        }
        Exit::End
    });
    assert_eq!(result.unwrap().workgroups, 10);
    // A fault that ended the dispatch is reported as it is.
    world.settings.cancel = Some(CancelToken::new());
    let token = world.settings.cancel.clone().unwrap();
    let fault = fault_of(world.run(640, 64, |wave, _, _| {
        token.cancel();
        Exit::Fault(WaveFault {
            kind: FaultKind::Trap { id: 2 },
            pc: wave.pc,
            lane: None,
        })
    }));
    assert_eq!(fault.kind, FaultKind::Trap { id: 2 });
}

#[test]
fn the_fault_of_the_lowest_workgroup_wins() {
    for threads in [1, 2, 8] {
        let world = world(threads);
        let fault = fault_of(world.run(64 * 100, 64, |wave, group, _| {
            let group = group.workgroup[0];
            // Group 13 faults late, those after it at once.
            if group == 13 && wave.sgpr[20] < 50 {
                wave.sgpr[20] += 1;
                return Exit::Yield;
            }
            match group {
                0..13 => Exit::End,
                _ => Exit::Fault(WaveFault {
                    kind: FaultKind::Trap { id: group },
                    pc: wave.pc + 8,
                    lane: Some(3),
                }),
            }
        }));
        assert_eq!(fault.kind, FaultKind::Trap { id: 13 });
        assert_eq!(fault.workgroup, [13, 0, 0]);
        assert_eq!(fault.pc, 8, "numbered as the code object does");
        assert_eq!(fault.exec, u64::MAX);
    }
}

#[test]
fn the_lowest_wave_of_a_group_faults_first_and_stops_it() {
    let world = world(1);
    let fault = fault_of(world.run(256, 256, |wave, group, _| match group.wave {
        0 => Exit::End,
        id => Exit::Fault(WaveFault {
            kind: FaultKind::Trap { id },
            pc: wave.pc,
            lane: None,
        }),
    }));
    assert_eq!((fault.kind, fault.wave), (FaultKind::Trap { id: 1 }, 1));
}

#[test]
fn a_fault_says_everything() {
    let world = world(1);
    let buffer = world.memory.alloc(4096, 4).unwrap();
    let fault = fault_of(world.run(1, 1, |wave, _, _| {
        Exit::Fault(WaveFault {
            kind: FaultKind::Memory {
                access: Access::Read,
                address: buffer + 4096 + 64,
                bytes: 4,
                nearest: None,
            },
            pc: wave.pc + 4,
            lane: Some(0),
        })
    }));
    let text = fault.to_string();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(
        lines[0],
        format!(
            "lane 0 read 4 bytes at 0x{:x}, 64 bytes past the end of a 4096-byte allocation",
            buffer + 4096 + 64
        )
    );
    assert_eq!(lines[1], "   at 0x0004  .long 0xffffffff");
    assert_eq!(
        lines[2],
        "   wave 0 of workgroup (0,0,0) of kernel fake, exec 0x0000000000000001"
    );
    assert_eq!(
        lines[3..],
        ["   to find the first access outside an allocation, try --memcheck"]
    );
    assert_eq!(fault.account().to_string(), lines[..3].join("\n"));
    let checked = Fault {
        checked: true,
        ..fault
    };
    assert_eq!(checked.advice(), None);
    assert_eq!(checked.to_string(), lines[..3].join("\n"));
}

#[test]
fn kernels_may_only_read_their_arguments_code_and_packets() {
    let mut world = world(1);
    // Without anything above it, nothing of the free memory below may be accessed.
    world.memory.alloc(4, 4).unwrap();
    world.kernel.descriptor = KernelDescriptor {
        kernarg_size: 16,
        rsrc2: 4 << 1,
        properties: 1 << 3 | 1 << 1,
        ..KernelDescriptor::default()
    };
    let bytes: Vec<u8> = (0..16).collect();
    let written = |at: fn(&WaveState, &Group<'_>) -> u64| {
        let result = world.launch(64, 64, Arguments::Segment(&bytes), move |wave, group, _| {
            let address = at(wave, group);
            let before = group.memory.load_u32(address);
            let error = group.memory.store_u32(address, 7).unwrap_err();
            assert_eq!(before, group.memory.load_u32(address));
            assert!(group.memory.atomic_u32(address, |old| old + 1).is_err());
            assert_eq!(before, group.memory.load_u32(address));
            Exit::Fault(WaveFault {
                kind: error.into(),
                pc: wave.pc,
                lane: Some(3),
            })
        });
        let fault = fault_of(result);
        let FaultKind::ReadOnly { address, .. } = fault.kind else {
            panic!("{fault}");
        };
        assert_eq!(fault.kind.address(), Some(address));
        let text = fault.to_string().replace(&format!("{address:x}"), "A");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        assert_eq!(
            lines[3],
            "   data that a kernel changes belongs in a buffer or in a global variable that is not \
             constant"
        );
        lines[0].to_owned()
    };
    let arguments = written(|wave, _| wave.sgpr64(2) + 4);
    assert_eq!(
        arguments,
        "lane 3 wrote 4 bytes at 0xA, 4 bytes into 16 bytes of kernel arguments, which kernels may \
         only read"
    );
    let packet = written(|wave, _| wave.sgpr64(0));
    let size = PACKET_BYTES + QUEUE_BYTES;
    assert_eq!(
        packet,
        format!(
            "lane 3 wrote 4 bytes at 0xA, 0 bytes into a {size}-byte structure, which kernels may \
             only read"
        )
    );
    let code = written(|_, group| group.code.base() + 4);
    assert_eq!(
        code,
        "lane 3 wrote 4 bytes at 0xA, in the kernel's code object at 0x4, which kernels may only \
         read"
    );
    let nothing = written(|_, group| group.memory.arena_base() + group.memory.read_only() - 4);
    assert_eq!(
        nothing,
        "lane 3 wrote 4 bytes at 0xA, in the memory of code and kernel arguments, which kernels may \
         only read"
    );
}

#[test]
fn writes_behind_buffers_are_found_unless_a_wave_faults() {
    let world = world(2);
    let buffer = |bytes| world.memory.alloc_for(Purpose::Buffer, bytes, 256).unwrap();
    let (first, _second) = (buffer(100), buffer(100));
    let run = |exit: Option<FaultKind>| {
        world.run(256, 64, move |wave, group, _| {
            let end = first + 100;
            group.memory.store_u32(end + 8, 7).unwrap();
            match &exit {
                None => Exit::End,
                Some(kind) => Exit::Fault(WaveFault {
                    kind: kind.clone(),
                    pc: wave.pc,
                    lane: None,
                }),
            }
        })
    };
    let fault = fault_of(run(None));
    let FaultKind::Overrun(overrun) = fault.kind else {
        panic!("{fault}");
    };
    assert_eq!((overrun.start, overrun.len), (first, 100));
    assert_eq!((overrun.past, overrun.changed), (8, 4));
    assert_eq!(fault.kind.address(), Some(first + 108));
    assert_eq!(
        fault_of(run(Some(FaultKind::Trap { id: 2 }))).kind,
        FaultKind::Trap { id: 2 }
    );
    // That one has restored the marks.
    world.run(64, 64, |_, _, _| Exit::End).unwrap();
}

#[test]
fn a_billion_workgroups_need_no_memory() {
    let world = world(2);
    let fault = fault_of(
        world.run(u32::MAX, 1, |wave, group, _| match group.workgroup[0] {
            0..1000 => Exit::End,
            _ => Exit::Fault(WaveFault {
                kind: FaultKind::Trap { id: 2 },
                pc: wave.pc,
                lane: None,
            }),
        }),
    );
    assert_eq!(fault.workgroup, [1000, 0, 0]);
}

#[test]
fn some_workgroups_can_be_run_alone() {
    let mut world = world(3);
    world.settings.only = Some(4..7);
    let seen = Mutex::new(BTreeSet::new());
    world
        .run(640, 64, |_, group, _| {
            seen.lock().unwrap().insert(group.workgroup[0]);
            Exit::End
        })
        .unwrap();
    assert_eq!(seen.into_inner().unwrap(), BTreeSet::from([4, 5, 6]));
}

#[test]
fn lds_is_the_groups_own_and_starts_as_zero() {
    let mut world = world(2);
    world.kernel.descriptor.group_segment_fixed_size = 512;
    world
        .run(64 * 40, 64, |_, group, _| {
            assert_eq!(group.lds.bytes(), [0; 512]);
            group.lds.bytes_mut().fill(0xaa);
            Exit::End
        })
        .unwrap();
}

#[test]
fn every_wave_has_scratch_of_its_own() {
    let mut world = world(4);
    world.kernel.descriptor = KernelDescriptor {
        private_segment_fixed_size: 64,
        rsrc2: 1 | 6 << 1,
        properties: 1 | 1 << 5,
        ..KernelDescriptor::default()
    };
    let live = Mutex::new(BTreeSet::new());
    world
        .run(192 * 20, 192, |wave, group, _| {
            let scratch = group.scratch;
            assert_eq!(scratch.lane_bytes, 64);
            // Two passes, so that the waves of a group are alive together.
            wave.sgpr[20] += 1;
            if wave.sgpr[20] == 1 {
                assert!(live.lock().unwrap().insert(scratch.base), "shared scratch");
                return Exit::Barrier;
            }
            live.lock().unwrap().remove(&scratch.base);
            let flat = u64::from(wave.sgpr[4]) | u64::from(wave.sgpr[5]) << 32;
            let offset = u64::from(wave.sgpr[6]);
            assert_eq!(flat + offset, scratch.base, "registers and facts agree");
            assert_eq!(
                wave.sgpr[0], flat as u32,
                "the buffer descriptor begins there too"
            );
            assert!(group.memory.contains(scratch.base, 64 * 64));
            Exit::End
        })
        .unwrap();
}

fn arg(kind: ArgKind, offset: u32, size: u32) -> ArgMetadata {
    ArgMetadata {
        name: None,
        type_name: None,
        offset,
        size,
        kind,
        address_space: None,
        access: None,
        actual_access: None,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
        is_pipe: false,
        pointee_align: None,
    }
}

#[test]
fn the_kernel_can_read_packet_queue_and_arguments() {
    let mut world = world(1);
    world.kernel.descriptor = KernelDescriptor {
        kernarg_size: 32,
        group_segment_fixed_size: 100,
        rsrc2: 6 << 1,
        properties: 1 << 1 | 1 << 2 | 1 << 3,
        ..KernelDescriptor::default()
    };
    let metadata = KernelMetadata {
        name: "fake".to_owned(),
        kernarg_segment_size: 32,
        group_segment_fixed_size: 100,
        args: vec![
            arg(ArgKind::ByValue, 0, 4),
            arg(ArgKind::DynamicSharedPointer, 4, 4),
            arg(ArgKind::HiddenQueuePtr, 8, 8),
            arg(ArgKind::HiddenSharedBase, 16, 4),
            arg(ArgKind::HiddenPrivateBase, 20, 4),
        ],
        ..KernelMetadata::default()
    };
    let values = [ArgValue::from(77u32), ArgValue::Local(60)];
    let check = |wave: &mut WaveState, group: &mut Group<'_>, _: &mut u64| {
        let [packet, queue, kernarg] = [0, 2, 4].map(|code| wave.sgpr64(code));
        let memory = group.memory;
        assert_eq!(memory.load_u32(packet + 12), Ok(100));
        assert_eq!(memory.load_u64(packet + 40), Ok(kernarg));
        assert_eq!(memory.load_u32(kernarg), Ok(77));
        assert_eq!(
            memory.load_u32(kernarg + 4),
            Ok(100),
            "behind the static LDS"
        );
        assert_eq!(memory.load_u64(kernarg + 8), Ok(queue));
        assert_eq!(
            memory.load_u32(kernarg + 16),
            Ok((SHARED_BASE >> 32) as u32)
        );
        assert_eq!(
            memory.load_u32(kernarg + 20),
            Ok((PRIVATE_BASE >> 32) as u32)
        );
        assert_eq!(
            memory.load_u32(queue + 0x44),
            Ok((PRIVATE_BASE >> 32) as u32)
        );
        assert_eq!(memory.load_u32(packet + 28), Ok(160));
        assert_eq!(group.lds.size(), 512, "whole granules");
        Exit::End
    };
    let arguments = Arguments::Values(&metadata, &values);
    world.launch(100, 64, arguments, check).unwrap();

    let few = world.launch(100, 64, Arguments::Values(&metadata, &values[..1]), check);
    assert!(matches!(
        few,
        Err(RunError::Launch(LaunchError::Argument(_)))
    ));
    let large = [ArgValue::from(77u32), ArgValue::Local(65536)];
    let large = world.launch(100, 64, Arguments::Values(&metadata, &large), check);
    assert!(matches!(
        large,
        Err(RunError::Launch(LaunchError::LdsTooLarge {
            fixed: 100,
            dynamic: 65536,
            ..
        }))
    ));
    let short = world.launch(100, 64, Arguments::Segment(&[0; 31]), check);
    assert!(matches!(
        short,
        Err(RunError::Launch(LaunchError::KernargTooSmall {
            needed: 32,
            given: 31,
            ..
        }))
    ));
}

#[test]
fn arguments_may_be_in_guest_memory_already() {
    let mut world = world(1);
    world.kernel.descriptor = KernelDescriptor {
        kernarg_size: 8,
        rsrc2: 2 << 1,
        properties: 1 << 3,
        ..KernelDescriptor::default()
    };
    let segment = world.memory.alloc(8, 16).unwrap();
    world
        .launch(64, 64, Arguments::At(segment), |wave, _, _| {
            assert_eq!(wave.sgpr64(0), segment);
            Exit::End
        })
        .unwrap();
    let wild = world.launch(64, 64, Arguments::At(16), |_, _, _| Exit::End);
    assert!(matches!(
        wild,
        Err(RunError::Launch(LaunchError::Memory(_)))
    ));
}

#[test]
fn an_entry_without_code_is_refused() {
    let mut world = world(1);
    world.kernel.entry += 4096;
    let error = world.run(1, 1, |_, _, _| Exit::End).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("where its code object has no code"),
        "{error}"
    );
}

#[test]
fn a_dispatch_leaves_no_memory_behind() {
    let world = world(2);
    let before = world.memory.alloc(4, 4).unwrap();
    world.memory.free(before).unwrap();
    for _ in 0..10 {
        world.run(256, 64, |_, _, _| Exit::End).unwrap();
    }
    assert_eq!(world.memory.alloc(4, 4).unwrap(), before);
}

#[test]
fn progress_is_counted() {
    static PROGRESS: AtomicU64 = AtomicU64::new(0);
    let mut world = world(2);
    world.settings.progress = Some(&PROGRESS);
    world.run(640, 64, |_, _, _| Exit::End).unwrap();
    assert_eq!(PROGRESS.load(Relaxed), 10);
}

#[test]
fn checked_mode_finds_scratch_that_the_wave_never_wrote() {
    let mut world = world_with(1, true);
    world.kernel.descriptor.private_segment_fixed_size = 16;
    let run = |wave: &mut WaveState, group: &mut Group<'_>, _: &mut u64| {
        assert!(group.checked);
        let address = group.scratch.base + 256 + 5 * 4;
        // The second group forgets to write what the first one wrote at the same place.
        if group.workgroup[0] == 0 {
            group.memory.store_u32(address, 7).unwrap();
        }
        match group.memory.load_u32(address) {
            Ok(value) => {
                assert_eq!(value, 7);
                Exit::End
            }
            Err(error) => Exit::Fault(WaveFault {
                kind: error.into(),
                pc: wave.pc,
                lane: Some(5),
            }),
        }
    };
    let fault = fault_of(world.run(128, 64, run));
    assert_eq!(fault.workgroup, [1, 0, 0]);
    assert!(
        fault
            .to_string()
            .starts_with("lane 5 read 4 bytes of scratch at offset 0x4 that were never written\n"),
        "{fault}"
    );
}
