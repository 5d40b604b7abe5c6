//! Queues and packets.

use std::ptr::null_mut;
use std::time::Duration;

use hsa_runtime64::api::*;

use crate::support::{
    Buffer, Program, Queue, SAXPY_LEN, Saxpy, Signal, agents, barrier, barrier_value, dispatch,
};

fn check(saxpy: &Saxpy, times: u32) {
    for at in 0..SAXPY_LEN {
        let y: f32 = saxpy.y.read(4 * at as usize);
        assert_eq!(y, 1.0 + (2 * at * times) as f32, "element {at}");
    }
}

#[test]
fn a_kernel_runs_and_counts_its_signal_down() {
    let saxpy = Saxpy::new();
    let queue = Queue::new(64);
    let done = Signal::new(1);
    queue.put(saxpy.packet(done.0));
    done.wait();
    check(&saxpy, 1);
    let mut times = Default::default();
    let [_, gpu] = agents();
    assert_eq!(
        // SAFETY: the results go to our variable.
        unsafe { hsa_amd_profiling_get_dispatch_time(gpu, done.0, &mut times) },
        0
    );
    assert!(times.start > 0 && times.end > times.start);
    assert_eq!(saxpy.x.read::<f32>(4), 1.0);
    assert_eq!(saxpy.kernarg.read::<u32>(20), SAXPY_LEN);
}

#[test]
fn lds_of_a_packet_is_allocated_in_granules() {
    let program = Program::load("tests/kernels/memory/granules.gfx906.co");
    let (out, kernarg) = (Buffer::new(256), Buffer::new(512));
    let queue = Queue::new(16);
    let run = |bytes: u32, shift: u32| {
        let done = Signal::new(1);
        kernarg.write(0, out.at.addr());
        kernarg.write(8, 0u32);
        kernarg.write(12, shift);
        // Hidden: workgroups, their size.
        kernarg.write(16, [1u32, 1, 1]);
        kernarg.write(28, [64u16, 1, 1]);
        let object = program.kernel("given");
        let mut packet = dispatch(object, 64, 64, kernarg.at.addr() as u64, done.0);
        packet[28..32].copy_from_slice(&bytes.to_le_bytes());
        queue.put(packet);
        done.wait();
        [0, 1, 63].map(|i| out.read::<u32>(4 * i))
    };
    // Elements 64 to 127 end at 512 bytes.
    assert_eq!(run(4, 64), [190, 187, 1]);
    assert_eq!(run(260, 64), [190, 187, 1]);
    assert_eq!(run(512, 128), [0, 0, 0]);
    assert_eq!(run(516, 128), [190, 187, 1]);
}

#[test]
fn a_packet_may_have_more_work_items_than_the_kernel_was_compiled_for() {
    // Compiled for 256. ROCm 6 launches its own copy kernels so.
    let saxpy = Saxpy::new();
    saxpy.kernarg.write(24, [2u32, 1, 1]);
    saxpy.kernarg.write(36, [512u16, 1, 1]);
    let queue = Queue::new(64);
    let done = Signal::new(1);
    let kernarg = saxpy.kernarg.at.addr() as u64;
    let kernel = saxpy.packet(0)[32..40].try_into().map(u64::from_le_bytes);
    queue.put(dispatch(kernel.unwrap(), 1024, 512, kernarg, done.0));
    done.wait();
    check(&saxpy, 1);
}

#[test]
fn ten_thousand_dispatches_wrap_around() {
    let saxpy = Saxpy::new();
    let queue = Queue::new(16);
    let done = Signal::new(10_000);
    for _ in 0..10_000 {
        queue.put(saxpy.packet(done.0));
    }
    done.wait();
    assert_eq!(done.value(), 0);
    assert_eq!(
        // SAFETY: the queue lives.
        unsafe { hsa_queue_load_read_index_scacquire(queue.0) },
        10_000
    );
    // 2 * 255 * 10,000 + 1 is exact in an f32.
    check(&saxpy, 10_000);
}

#[test]
fn several_producers_share_a_queue() {
    let saxpy = Saxpy::new();
    let queue = Queue::new(32);
    let packet = saxpy.packet(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..250).for_each(|_| queue.put(packet)));
        }
    });
    queue.finish();
    check(&saxpy, 1000);
}

#[test]
fn sixty_four_queues_at_once() {
    let saxpys: Vec<_> = (0..64).map(|_| (Saxpy::new(), Queue::new(64))).collect();
    for _ in 0..10 {
        for (saxpy, queue) in &saxpys {
            queue.put(saxpy.packet(0));
        }
    }
    for (saxpy, queue) in &saxpys {
        queue.finish();
        check(saxpy, 10);
    }
}

#[test]
fn barriers_wait_for_all_or_for_one() {
    let queue = Queue::new(64);
    let (a, b, done) = (Signal::new(1), Signal::new(1), Signal::new(2));
    queue.put(barrier(5, &[a.0, b.0], done.0));
    queue.put(barrier(3, &[a.0, b.0], done.0));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(done.value(), 2);
    hsa_signal_store_screlease(b.0, 0);
    assert_eq!(
        hsa_signal_wait_scacquire(done.0, 2, 2, 10_000_000_000, 0),
        1
    );
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(done.value(), 1);
    hsa_signal_store_screlease(a.0, 0);
    done.wait();
}

#[test]
fn a_barrier_waits_for_a_value_under_a_mask() {
    let queue = Queue::new(64);
    let (word, done) = (Signal::new(0x10), Signal::new(1));
    queue.put(barrier_value(word.0, 2, 3, 0));
    queue.put(barrier(3, &[], done.0));
    std::thread::sleep(Duration::from_millis(5));
    assert_eq!(done.value(), 1);
    hsa_signal_store_screlease(word.0, 0x1236);
    done.wait();
}

#[test]
fn the_doorbell_may_ring_before_the_packet_is_there() {
    let queue = Queue::new(64);
    hsa_signal_store_relaxed(queue.doorbell(), 5);
    std::thread::sleep(Duration::from_millis(1));
    queue.finish();
}

#[test]
fn a_queue_that_waits_can_be_destroyed() {
    let never = Signal::new(1);
    let queue = Queue::new(64);
    queue.put(barrier(3, &[never.0], 0));
    std::thread::sleep(Duration::from_millis(2));
    drop(queue);
}

#[test]
fn bad_queues_are_errors() {
    let [cpu, gpu] = agents();
    let create = |agent, size, kind| {
        let mut queue = null_mut();
        // SAFETY: the result goes to our variable.
        let status =
            unsafe { hsa_queue_create(agent, size, kind, None, null_mut(), 0, 0, &mut queue) };
        (status, queue)
    };
    assert_eq!(create(cpu, 64, 0).0, 0x1002);
    assert_eq!(create(1, 64, 0).0, 0x1004);
    for size in [0, 1, 48, 1 << 18, u32::MAX] {
        assert_eq!(create(gpu, size, 0).0, 0x1001, "{size}");
    }
    assert_eq!(create(gpu, 64, 7).0, 0x1001);
    let (status, cooperative) = create(gpu, 64, 2);
    assert_eq!(status, 0);
    // SAFETY: it lives.
    assert_eq!(unsafe { hsa_queue_destroy(cooperative) }, 0);
    let (status, queue) = create(gpu, 64, 1);
    assert_eq!(status, 0);
    // SAFETY: it lives, and then it does not.
    unsafe {
        assert_eq!(hsa_amd_queue_set_priority(queue, 2), 0);
        assert_eq!(hsa_amd_queue_set_priority(queue, 3), 0x1001);
        let mut mask = [0; 2];
        assert_eq!(hsa_amd_queue_cu_get_mask(queue, 64, mask.as_mut_ptr()), 0);
        assert_eq!(mask, [u32::MAX, (1 << 28) - 1]);
        assert_eq!(hsa_amd_queue_cu_set_mask(queue, 32, &7), 0);
        assert_eq!(hsa_amd_queue_cu_get_mask(queue, 64, mask.as_mut_ptr()), 0);
        assert_eq!(mask, [7, 0]);
        // The agent has 60 units.
        assert_eq!(
            hsa_amd_queue_cu_set_mask(queue, 64, [0, u32::MAX].as_ptr()),
            44
        );
        assert_eq!(hsa_amd_queue_cu_get_mask(queue, 64, mask.as_mut_ptr()), 0);
        assert_eq!(mask, [0, (1 << 28) - 1]);
        let (mut agent, mut doorbell) = (0u64, 0u64);
        assert_eq!(hsa_amd_queue_get_info(queue, 0, (&raw mut agent).cast()), 0);
        assert_eq!(
            hsa_amd_queue_get_info(queue, 1, (&raw mut doorbell).cast()),
            0
        );
        assert_eq!((agent, doorbell), (agents()[1], (*queue).doorbell_signal));
        assert_eq!(
            hsa_amd_queue_get_info(queue, 2, (&raw mut agent).cast()),
            0x1001
        );
        assert_eq!(hsa_queue_destroy(queue), 0);
        assert_eq!(hsa_queue_destroy(queue), 0x1007);
        assert_eq!(hsa_queue_destroy(null_mut()), 0x1001);
        assert_eq!(hsa_queue_load_read_index_relaxed(queue), 0);
        assert_eq!(hsa_queue_add_write_index_relaxed(queue, 1), 0);
        assert_eq!(hsa_amd_queue_set_priority(queue, 1), 0x1007);
        assert_eq!(hsa_queue_inactivate(null_mut()), 0x1007);
    }
}
