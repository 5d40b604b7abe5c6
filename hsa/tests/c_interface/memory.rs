//! Pools, pointers, locks, copies, fills.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use hsa_runtime64::abi::{Dim3, PitchedPtr, PointerInfo};
use hsa_runtime64::api::*;

use crate::support::{Buffer, Queue, Signal, agents, barrier, pools, vram};

fn pool_info<T: Default>(pool: u64, attribute: u32) -> T {
    let mut value = T::default();
    // SAFETY: the tests name the type that the attribute has.
    let status = unsafe { hsa_amd_memory_pool_get_info(pool, attribute, (&raw mut value).cast()) };
    assert_eq!(status, 0);
    value
}

fn allocate(pool: u64, bytes: usize) -> (u32, *mut c_void) {
    let mut at = null_mut();
    // SAFETY: the result goes to our variable.
    let status = unsafe { hsa_amd_memory_pool_allocate(pool, bytes, 0, &mut at) };
    (status, at)
}

#[test]
fn pools_are_what_clients_look_for() {
    let [cpu, gpu] = agents();
    let flags: Vec<_> = pools(cpu)
        .iter()
        .map(|&pool| pool_info::<u32>(pool, 1))
        .collect();
    assert_eq!(flags, [2, 3, 4], "fine, kernel arguments, coarse");
    let [vram, lds] = pools(gpu)[..] else {
        panic!("two pools")
    };
    assert_eq!(
        (pool_info::<u32>(vram, 0), pool_info::<u32>(vram, 1)),
        (0, 4)
    );
    assert_eq!(
        (pool_info::<u32>(lds, 0), pool_info::<usize>(lds, 2)),
        (3, 65536)
    );
    assert_eq!(allocate(lds, 64).0, 0x1001);
    assert_eq!(allocate(vram, 0).0, 0x1001);
    assert_eq!(allocate(4711, 64).0, 40);
}

#[test]
fn pools_can_be_exhausted() {
    let size = pool_info::<usize>(vram(), 2);
    assert_eq!(allocate(vram(), size + 1).0, 0x1008);
    assert_eq!(allocate(vram(), usize::MAX - 5).0, 0x1008);
    let (status, half) = allocate(vram(), size / 2);
    assert_eq!(status, 0, "nothing is committed");
    assert_eq!(allocate(vram(), size / 2 + (1 << 20)).0, 0x1008);
    // SAFETY: allocated above.
    assert_eq!(unsafe { hsa_amd_memory_pool_free(half) }, 0);
    // SAFETY: an address that is no allocation any more.
    assert_eq!(unsafe { hsa_amd_memory_pool_free(half) }, 0x1003);
    // SAFETY: null.
    assert_eq!(unsafe { hsa_amd_memory_pool_free(null_mut()) }, 0);
}

pub(crate) fn pointer_info(at: *const c_void) -> PointerInfo {
    let mut info = PointerInfo {
        size: size_of::<PointerInfo>() as u32,
        kind: 77,
        agent_base: null_mut(),
        host_base: null_mut(),
        bytes: 0,
        user_data: null_mut(),
        owner: 0,
        global_flags: 0,
    };
    // SAFETY: the results go to our variable.
    let status = unsafe { hsa_amd_pointer_info(at, &mut info, None, null_mut(), null_mut()) };
    assert_eq!(status, 0);
    info
}

#[test]
fn pointers_tell_their_allocation() {
    let [cpu, gpu] = agents();
    let buffer = Buffer::new(10_000);
    let info = pointer_info(buffer.at.wrapping_byte_add(9_999));
    assert_eq!(
        (info.kind, info.agent_base, info.bytes),
        (1, buffer.at, 10_000)
    );
    assert_eq!((info.owner, info.global_flags), (gpu, 4));
    assert_eq!(pointer_info(buffer.at.wrapping_byte_add(10_000)).kind, 0);
    let here = 5u64;
    assert_eq!(pointer_info((&raw const here).cast()).kind, 0);
    // SAFETY: two agents.
    let allow =
        |count, at| unsafe { hsa_amd_agents_allow_access(count, [cpu, gpu].as_ptr(), null(), at) };
    assert_eq!(allow(2, buffer.at), 0);
    assert_eq!(allow(0, buffer.at), 0x1001);
    assert_eq!(allow(2, (&raw const here).cast_mut().cast()), 0x1000);
}

#[test]
fn locked_memory_has_another_address() {
    let [_, gpu] = agents();
    let mut host: Vec<u32> = (0..1000).collect();
    let at = host.as_mut_ptr().cast::<c_void>();
    let mut seen = null_mut();
    // SAFETY: the memory lives until it is unlocked.
    let status = unsafe { hsa_amd_memory_lock(at, 4000, &gpu, 1, &mut seen) };
    assert_eq!(status, 0);
    assert_ne!(seen, at);
    let info = pointer_info(seen.wrapping_byte_add(8));
    assert_eq!((info.kind, info.host_base, info.agent_base), (2, at, seen));
    let buffer = Buffer::new(4000);
    // SAFETY: both have 4000 bytes.
    assert_eq!(unsafe { hsa_memory_copy(buffer.at, seen, 4000) }, 0);
    assert_eq!(buffer.read::<u32>(4 * 999), 999);
    // SAFETY: locked above.
    assert_eq!(unsafe { hsa_amd_memory_unlock(at) }, 0);
    assert_eq!(pointer_info(at).kind, 0);
    // SAFETY: nothing is locked.
    let status = unsafe { hsa_amd_memory_lock(null_mut(), 8, null(), 0, &mut seen) };
    assert_eq!(status, 0x1001);
}

fn copy(to: *mut c_void, from: *const c_void, bytes: usize, after: &[u64], done: u64) -> u32 {
    let [cpu, gpu] = agents();
    let list = if after.is_empty() {
        null()
    } else {
        after.as_ptr()
    };
    // SAFETY: the tests pass memory that lives until the copy is done.
    unsafe { hsa_amd_memory_async_copy(to, gpu, from, cpu, bytes, after.len() as u32, list, done) }
}

#[test]
fn copies_wait_for_their_dependencies() {
    let (a, b) = (Buffer::new(1 << 20), Buffer::new(1 << 20));
    assert_eq!(
        // SAFETY: 2^18 dwords.
        unsafe { hsa_amd_memory_fill(a.at, 0x0102_0304, 1 << 18) },
        0
    );
    let (gate, other, done, last) = (
        Signal::new(1),
        Signal::new(1),
        Signal::new(1),
        Signal::new(2),
    );
    assert_eq!(copy(b.at, a.at, 1 << 20, &[gate.0, other.0], done.0), 0);
    // One that waits for nothing passes it.
    assert_eq!(copy(b.at, a.at, 16, &[], last.0), 0);
    assert_eq!(copy(b.at, a.at, 1 << 19, &[done.0], last.0), 0);
    std::thread::sleep(std::time::Duration::from_millis(5));
    assert_eq!((done.value(), b.read::<u32>(1 << 19)), (1, 0));
    hsa_signal_store_screlease(gate.0, 0);
    hsa_signal_subtract_screlease(other.0, 1);
    last.wait();
    assert_eq!(
        (done.value(), b.read::<u32>((1 << 20) - 4)),
        (0, 0x0102_0304)
    );
    let mut times = Default::default();
    assert_eq!(
        // SAFETY: the results go to our variable.
        unsafe { hsa_amd_profiling_get_async_copy_time(done.0, &mut times) },
        0
    );
    assert!(times.start > 0 && times.end >= times.start);
    assert_eq!(copy(null_mut(), a.at, 16, &[], last.0), 0x1001);
    assert_eq!(copy(b.at, a.at, 16, &[12], last.0), 0x1006);
}

#[test]
fn rectangles_keep_to_their_rows() {
    let [_, gpu] = agents();
    let (a, b) = (Buffer::new(4096), Buffer::new(4096));
    for at in 0..4096 {
        a.write(at, (at % 251) as u8);
    }
    let done = Signal::new(1);
    let from = PitchedPtr {
        base: a.at,
        pitch: 64,
        slice: 640,
    };
    let to = PitchedPtr {
        base: b.at,
        pitch: 32,
        slice: 320,
    };
    let (from_offset, to_offset) = (Dim3 { x: 3, y: 1, z: 0 }, Dim3 { x: 0, y: 2, z: 1 });
    let range = Dim3 { x: 20, y: 5, z: 2 };
    // SAFETY: the rectangles lie in the buffers.
    let status = unsafe {
        hsa_amd_memory_async_copy_rect(
            &to,
            &to_offset,
            &from,
            &from_offset,
            &range,
            gpu,
            3,
            0,
            null(),
            done.0,
        )
    };
    assert_eq!(status, 0);
    done.wait();
    for z in 0..2 {
        for y in 0..5 {
            for x in 0..20 {
                let source = 3 + x + (y + 1) * 64 + z * 640;
                let copied: u8 = b.read(x + (y + 2) * 32 + (z + 1) * 320);
                assert_eq!(copied, (source % 251) as u8);
            }
            assert_eq!(b.read::<u8>(20 + (y + 2) * 32 + (z + 1) * 320), 0);
        }
    }
}

#[test]
fn large_copies_run_beside_the_program() {
    let (a, b) = (Buffer::new(64 << 20), Buffer::new(64 << 20));
    a.write((64 << 20) - 1, 9u8);
    let done = Signal::new(1);
    assert_eq!(copy(b.at, a.at, 64 << 20, &[], done.0), 0);
    done.wait();
    assert_eq!(b.read::<u8>((64 << 20) - 1), 9);
}

#[test]
fn a_queue_waits_for_a_copy() {
    let (a, b) = (Buffer::new(1 << 20), Buffer::new(1 << 20));
    a.write(77, 7u8);
    let (gate, copied, done) = (Signal::new(1), Signal::new(1), Signal::new(1));
    assert_eq!(copy(b.at, a.at, 1 << 20, &[gate.0], copied.0), 0);
    let queue = Queue::new(64);
    queue.put(barrier(3, &[copied.0], done.0));
    hsa_signal_store_screlease(gate.0, 0);
    done.wait();
    assert_eq!(b.read::<u8>(77), 7);
}
