//! Packets that cannot be run: the queue's callback, and the end of the program.

use std::ffi::c_void;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use hsa_runtime64::abi::QueueHead;
use hsa_runtime64::api::*;

use crate::support::{Buffer, GridBarrier, Program, Queue, Saxpy, Signal, dispatch};

unsafe extern "C" fn remember(status: u32, queue: *mut QueueHead, data: *mut c_void) {
    assert!(!queue.is_null());
    // SAFETY: the tests pass an atomic number that outlives the queue.
    unsafe { &*data.cast::<AtomicU32>() }.store(status, SeqCst);
}

/// The status that a packet gives to the queue's callback.
fn status_of(packet: [u8; 64]) -> u32 {
    let seen = AtomicU32::new(0);
    let queue = Queue::with_callback(64, Some(remember), (&raw const seen).cast_mut().cast());
    queue.put(packet);
    let begin = Instant::now();
    while seen.load(SeqCst) == 0 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    // The queue takes nothing more.
    let late = Signal::new(1);
    queue.put(crate::support::barrier(3, &[], late.0));
    std::thread::sleep(Duration::from_millis(2));
    assert_eq!(late.value(), 1);
    drop(queue);
    seen.load(SeqCst)
}

#[test]
fn bad_packets_reach_the_callback() {
    let mut agent_dispatch = [0; 64];
    agent_dispatch[0] = 4;
    assert_eq!(status_of(agent_dispatch), 0x1009);
    let mut vendor = [0; 64];
    vendor[2] = 1;
    assert_eq!(status_of(vendor), 0x1009);
    assert_eq!(
        status_of(dispatch(0x1234_0000, 64, 64, 0, 0)),
        0x1010,
        "no kernel"
    );
    let saxpy = Saxpy::new();
    let good = saxpy.packet(0);
    let with = |at: usize, value: u8| {
        let mut packet = good;
        packet[at] = value;
        packet
    };
    assert_eq!(status_of(with(2, 0)), 0x1009, "no dimensions");
    assert_eq!(
        status_of(with(5, 0xff)),
        0x1009,
        "a workgroup that is too large"
    );
    assert_eq!(status_of(with(31, 0x7f)), 0x1009, "too much LDS");
    assert_eq!(status_of(with(63, 0x7f)), 0x1006, "a bad completion signal");
}

/// Runs one test in a process of its own; how it ended and what it said.
pub(crate) fn child(name: &str) -> (Option<i32>, String) {
    child_with(name, &[])
}

/// The same with variables in the environment.
pub(crate) fn child_with(name: &str, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = command(name, variables).output().unwrap();
    let signal = output.status.signal();
    (signal, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// The same for a test that reads its input to the end: that comes `time` after a line with `part`, or after a minute
/// without one.
fn child_until(
    name: &str,
    variables: &[(&str, &str)],
    part: &str,
    time: Duration,
) -> (Option<i32>, String) {
    let mut child = command(name, variables)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, errors) = (child.stdin.take(), child.stderr.take().unwrap());
    let (line, lines) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for text in BufReader::new(errors).lines() {
            line.send(text.unwrap() + "\n").unwrap();
        }
    });
    let begin = Instant::now();
    let mut text = String::new();
    while !text.contains(part) && begin.elapsed() < Duration::from_secs(60) {
        text.extend(lines.recv_timeout(Duration::from_millis(100)));
    }
    std::thread::sleep(time);
    drop(input);
    text.extend(lines);
    reader.join().unwrap();
    (child.wait().unwrap().signal(), text)
}

/// The command of such a process.
fn command(name: &str, variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", name, "--nocapture"])
        .env("HSA_TEST_CHILD", "1")
        .envs(variables.iter().copied());
    command
}

/// Is this such a process?
pub(crate) fn is_child() -> bool {
    std::env::var_os("HSA_TEST_CHILD").is_some()
}

pub(crate) const ABORTED: Option<i32> = Some(6);

#[test]
fn a_memory_fault_ends_the_program() {
    if is_child() {
        let saxpy = Saxpy::new();
        saxpy.kernarg.write(8, 0xdead_0000u64);
        let queue = Queue::new(64);
        queue.put(saxpy.packet(0));
        queue.finish();
        unreachable!("the library ends the program");
    }
    let (signal, text) = child("faults::a_memory_fault_ends_the_program");
    assert_eq!(signal, ABORTED, "{text}");
    for part in [
        "lane 0 read 4 bytes at 0xdead0000",
        "global_load_dword",
        "kernel saxpy",
        "packet 0 of queue 0\n   to find the first access outside an allocation, try --memcheck\n",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

/// Runs recursion of a depth that the kernel's 16 bytes of scratch do not allow; `bytes`: what the packet says.
fn descend(bytes: u32) {
    const DEPTH: u32 = 200;
    let program = Program::load("tests/kernels/memory/recursion.gfx906.co");
    let (out, input, kernarg) = (Buffer::new(256), Buffer::new(256), Buffer::new(512));
    for at in 0..64 {
        input.write(4 * at, at as u32);
    }
    kernarg.write(0, out.at.addr());
    kernarg.write(8, input.at.addr());
    kernarg.write(16, DEPTH);
    // Hidden: workgroups, their size.
    kernarg.write(24, [1u32, 1, 1]);
    kernarg.write(36, [64u16, 1, 1]);
    let queue = Queue::new(16);
    let done = Signal::new(1);
    let object = program.kernel("descend");
    let mut packet = dispatch(object, 64, 64, kernarg.at.addr() as u64, done.0);
    packet[24..28].copy_from_slice(&bytes.to_le_bytes());
    queue.put(packet);
    done.wait();
    let want = (1..=DEPTH).fold(1u32, |sum, n| sum.wrapping_mul(3).wrapping_add(n & 63));
    assert_eq!(out.read::<u32>(0), want);
}

#[test]
fn a_packet_may_ask_for_more_scratch() {
    // HIP puts the limit that programs set for stacks here.
    descend(8192);
}

#[test]
fn the_stack_is_as_large_as_the_environment_says() {
    if is_child() {
        return descend(16);
    }
    let name = "faults::the_stack_is_as_large_as_the_environment_says";
    let (signal, text) = child_with(name, &[("WAVELIFT_STACK", "8192")]);
    assert_eq!(signal, None, "{text}");
    let (signal, text) = child_with(name, &[]);
    assert_eq!(signal, ABORTED, "{text}");
    let named = "past the end of the lane's 16 bytes of scratch; try --stack BYTES";
    assert!(text.contains(named), "{text}");
    let (_, text) = child_with(name, &[("WAVELIFT_STACK", "2000000")]);
    let named = "WAVELIFT_STACK=2000000: expected a number of bytes, at most 1048576";
    assert!(text.contains(named), "{text}");
}

#[test]
fn a_kernel_that_waits_for_itself_is_reported_once() {
    // One more than can run at the same time: each needs all LDS of one of 60 compute units, and each
    // thread but one has one more.
    const GROUPS: u32 = 62;
    if is_child() {
        let grid = GridBarrier::dispatch(GROUPS, GROUPS, 64 << 10);
        std::io::read_to_string(std::io::stdin()).unwrap();
        assert_eq!(grid.done.value(), 1);
        grid.words.store(0, GROUPS);
        grid.done.wait();
        assert_eq!(grid.words.read::<u32>(4), 1);
        return;
    }
    let report = "wavelift: kernel grid_barrier seems to wait for itself: ";
    // A second one would come after about three seconds, as the first.
    let (signal, text) = child_until(
        "faults::a_kernel_that_waits_for_itself_is_reported_once",
        &[("WAVELIFT_THREADS", "2")],
        report,
        Duration::from_secs(5),
    );
    assert_eq!(signal, None, "{text}");
    assert_eq!(text.matches(report).count(), 1, "{text}");
    for part in [
        "global_atomic_cmpswap v3, v2, v[0:1], s[0:1] glc  (grid_barrier+0x",
        "wave 0 of workgroup (0,0,0) of kernel grid_barrier",
        "1 of 62 workgroups have not begun; 60 may wait at a time",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
}

static EVENT: AtomicU32 = AtomicU32::new(0);

unsafe extern "C" fn event(
    event: *const hsa_runtime64::abi::MemoryFaultEvent,
    _: *mut c_void,
) -> u32 {
    // SAFETY: the library passes an event.
    assert_eq!(unsafe { (*event).address }, 0xdead_0000);
    EVENT.store(1, SeqCst);
    0
}

#[test]
fn a_handler_of_events_may_keep_it_alive() {
    if !is_child() {
        let (signal, text) = child("faults::a_handler_of_events_may_keep_it_alive");
        assert_eq!(signal, None, "{text}");
        return;
    }
    let saxpy = Saxpy::new();
    saxpy.kernarg.write(8, 0xdead_0000u64);
    let queue = Queue::new(64);
    // SAFETY: the handler takes no data.
    let status =
        unsafe { hsa_amd_register_system_event_handler(Some(event), std::ptr::null_mut()) };
    assert_eq!(status, 0);
    queue.put(saxpy.packet(0));
    let begin = Instant::now();
    while EVENT.load(SeqCst) == 0 && begin.elapsed() < Duration::from_secs(20) {
        std::thread::yield_now();
    }
    assert_eq!(EVENT.load(SeqCst), 1);
}
