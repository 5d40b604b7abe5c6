//! Virtual memory that a program manages itself.

use std::ffi::c_void;
use std::process::Command;
use std::ptr::null_mut;

use hsa_runtime64::abi::MemoryAccess;
use hsa_runtime64::api::*;

use crate::memory::pointer_info;
use crate::support::{Queue, SAXPY_LEN, Saxpy, Signal, agents, begin, vram};

const PAGE: usize = 4096;

fn reserve(bytes: usize, align: u64) -> Result<*mut c_void, u32> {
    begin();
    let mut at = null_mut();
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_vmem_address_reserve_align(&mut at, bytes, 0, align, 0) } {
        0 => Ok(at),
        status => Err(status),
    }
}

fn create(bytes: usize) -> Result<u64, u32> {
    let (pool, mut handle) = (vram(), 0);
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_vmem_handle_create(pool, bytes, 1, 0, &mut handle) } {
        0 => Ok(handle),
        status => Err(status),
    }
}

fn map(at: *mut c_void, bytes: usize, handle: u64) -> u32 {
    // SAFETY: ranges that the tests reserved.
    unsafe { hsa_amd_vmem_map(at, bytes, 0, handle, 0) }
}

fn unmap(at: *mut c_void, bytes: usize) -> u32 {
    // SAFETY: the tests do not use the memory any more.
    unsafe { hsa_amd_vmem_unmap(at, bytes) }
}

fn free(at: *mut c_void, bytes: usize) -> u32 {
    // SAFETY: the tests do not use the range any more.
    unsafe { hsa_amd_vmem_address_free(at, bytes) }
}

fn set_access(at: *mut c_void, bytes: usize, permissions: u32, agent: u64) -> u32 {
    let access = MemoryAccess { permissions, agent };
    // SAFETY: one element.
    unsafe { hsa_amd_vmem_set_access(at, bytes, &access, 1) }
}

fn access(at: *mut c_void, agent: u64) -> Result<u32, u32> {
    let mut permissions = 77;
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_vmem_get_access(at, &mut permissions, agent) } {
        0 => Ok(permissions),
        status => Err(status),
    }
}

fn used() -> u64 {
    let [_, gpu] = agents();
    let mut free = 0u64;
    // SAFETY: attribute 0xa015 is a number of 64 bits.
    let status = unsafe { hsa_agent_get_info(gpu, 0xa015, (&raw mut free).cast()) };
    assert_eq!(status, 0);
    free
}

/// A dword of memory that is mapped.
fn dword(at: *mut c_void, index: usize) -> *mut u32 {
    at.cast::<u32>().wrapping_add(index)
}

fn read(at: *mut c_void, index: usize) -> u32 {
    // SAFETY: the tests stay inside what they reserved.
    unsafe { dword(at, index).read_volatile() }
}

fn write(at: *mut c_void, index: usize, value: u32) {
    // SAFETY: as above.
    unsafe { dword(at, index).write_volatile(value) };
}

#[test]
fn the_system_says_that_it_is_there() {
    begin();
    let mut there = false;
    // SAFETY: the attribute is a boolean.
    let status = unsafe { hsa_system_get_info(0x205, (&raw mut there).cast()) };
    assert_eq!((status, there), (0, true));
}

#[test]
fn memory_is_seen_at_several_addresses() {
    let bytes = 4 * PAGE;
    let range = reserve(3 * bytes, 1 << 21).unwrap();
    assert!((range.addr() as u64).is_multiple_of(1 << 21));
    let handle = create(bytes).unwrap();
    let second = range.wrapping_byte_add(2 * bytes);
    assert_eq!(
        (map(range, bytes, handle), map(second, bytes, handle)),
        (0, 0)
    );
    write(range, 700, 4711);
    assert_eq!(read(second, 700), 4711);
    // The memory outlives its handle, and loses nothing when it is unmapped at one address.
    assert_eq!(hsa_amd_vmem_handle_release(handle), 0);
    assert_eq!(hsa_amd_vmem_handle_release(handle), 0x1003);
    assert_eq!(unmap(range, bytes), 0);
    assert_eq!((read(range, 700), read(second, 700)), (0, 4711));
    let mut again = 0;
    // SAFETY: the result goes to our variable.
    let status = unsafe { hsa_amd_vmem_retain_alloc_handle(&mut again, dword(second, 9).cast()) };
    assert_eq!((status, again), (0, handle));
    assert_eq!(map(range, bytes, again), 0);
    assert_eq!(read(range, 700), 4711);
    assert_eq!(free(range, 3 * bytes), 0x100a, "it is in use");
    assert_eq!((unmap(range, bytes), unmap(second, bytes)), (0, 0));
    assert_eq!(hsa_amd_vmem_handle_release(again), 0);
    assert_eq!(free(range, bytes), 0x1001);
    assert_eq!(free(range, 3 * bytes), 0);
    assert_eq!(free(range, 3 * bytes), 0x1003);
}

#[test]
fn kernels_use_mapped_memory() {
    let bytes = 2 * PAGE;
    let range = reserve(2 * bytes, 0).unwrap();
    let handle = create(bytes).unwrap();
    let at = range.wrapping_byte_add(bytes);
    assert_eq!(map(at, bytes, handle), 0);
    let [_, gpu] = agents();
    assert_eq!(set_access(at, bytes, 3, gpu), 0);
    let saxpy = Saxpy::new();
    for index in 0..SAXPY_LEN as usize {
        write(at, index, 3.0f32.to_bits());
    }
    saxpy.kernarg.write(0, at.addr());
    let (queue, done) = (Queue::new(64), Signal::new(1));
    queue.put(saxpy.packet(done.0));
    done.wait();
    // y = 2 x + y
    for index in 0..SAXPY_LEN as usize {
        assert_eq!(f32::from_bits(read(at, index)), 2.0 * index as f32 + 3.0);
    }
    drop(queue);
    assert_eq!(
        (unmap(at, bytes), hsa_amd_vmem_handle_release(handle)),
        (0, 0)
    );
    assert_eq!(free(range, 2 * bytes), 0);
}

#[test]
fn permissions_are_reported() {
    let [cpu, gpu] = agents();
    let range = reserve(3 * PAGE, 0).unwrap();
    let handles = [create(PAGE).unwrap(), create(2 * PAGE).unwrap()];
    let second = range.wrapping_byte_add(PAGE);
    assert_eq!(map(range, PAGE, handles[0]), 0);
    assert_eq!(set_access(range, 3 * PAGE, 3, gpu), 0x1001, "a gap");
    assert_eq!(map(second, 2 * PAGE, handles[1]), 0);
    assert_eq!(access(range, gpu), Err(0x1003), "never set");
    assert_eq!(set_access(range, 3 * PAGE, 3, gpu), 0);
    assert_eq!(set_access(range, PAGE, 1, gpu), 0);
    assert_eq!((access(range, gpu), access(second, gpu)), (Ok(1), Ok(3)));
    assert_eq!(access(range, cpu), Err(0x1003));
    assert_eq!(access(range, 4711), Err(0x1004));
    assert_eq!(set_access(range, PAGE, 1, 4711), 0x1004);
    assert_eq!(set_access(range, PAGE, 4, gpu), 0x1001);
    assert_eq!(set_access(range, 2 * PAGE, 3, gpu), 0x1001, "half a map");
    assert_eq!(set_access(null_mut(), PAGE, 3, gpu), 0x1003);
    assert_eq!((unmap(range, PAGE), unmap(second, 2 * PAGE)), (0, 0));
    for handle in handles {
        assert_eq!(hsa_amd_vmem_handle_release(handle), 0);
    }
    assert_eq!(free(range, 3 * PAGE), 0);
}

#[test]
fn wrong_arguments_are_refused() {
    assert_eq!(reserve(PAGE - 1, 0), Err(0x1001));
    assert_eq!(reserve(0, 0), Err(0x1001));
    assert_eq!(reserve(PAGE, 3 << 12), Err(0x1001));
    assert_eq!(reserve(PAGE, 64), Err(0x1001));
    assert_eq!(reserve(1 << 46, 0), Err(0x1008));
    assert_eq!(create(100), Err(0x1001));
    assert_eq!(create(1 << 46), Err(0x1008));
    let range = reserve(4 * PAGE, 0).unwrap();
    let handle = create(2 * PAGE).unwrap();
    let at = |pages: usize| range.wrapping_byte_add(pages * PAGE);
    assert_eq!(map(range, PAGE, handle), 0x1001, "half of the memory");
    assert_eq!(map(range, 2 * PAGE, 4711), 0x1001);
    assert_eq!(map(at(3), 2 * PAGE, handle), 0x1001, "over the end");
    assert_eq!(map(range.wrapping_byte_add(8), 2 * PAGE, handle), 0x1001);
    assert_eq!(map(at(1), 2 * PAGE, handle), 0);
    assert_eq!(map(at(0), 2 * PAGE, handle), 0x1001, "overlap");
    assert_eq!(map(at(2), 2 * PAGE, handle), 0x1001, "overlap");
    assert_eq!(unmap(at(1), PAGE), 0x1001);
    assert_eq!(unmap(at(2), PAGE), 0x1003);
    assert_eq!(unmap(at(1), 2 * PAGE), 0);
    assert_eq!(hsa_amd_vmem_handle_release(handle), 0);
    assert_eq!(free(range, 4 * PAGE), 0);
    // SAFETY: nothing is written to null.
    unsafe {
        let status = hsa_amd_vmem_address_reserve(null_mut(), PAGE, 0, 0);
        assert_eq!(status, 0x1001);
        let status = hsa_amd_vmem_handle_create(vram(), PAGE, 0, 0, null_mut());
        assert_eq!(status, 0x1001);
    }
}

#[test]
fn addresses_tell_what_they_are() {
    let [_, gpu] = agents();
    let range = reserve(4 * PAGE, 0).unwrap();
    let info = pointer_info(range);
    assert_eq!((info.kind, info.bytes), (5, 4 * PAGE));
    let handle = create(PAGE).unwrap();
    let at = range.wrapping_byte_add(PAGE);
    assert_eq!(map(at, PAGE, handle), 0);
    let info = pointer_info(at.wrapping_byte_add(77));
    assert_eq!((info.kind, info.bytes, info.owner), (6, PAGE, gpu));
    assert_eq!(info.agent_base, at);
    let (mut pool, mut kind) = (0, 0);
    // SAFETY: the results go to our variables.
    let status =
        unsafe { hsa_amd_vmem_get_alloc_properties_from_handle(handle, &mut pool, &mut kind) };
    assert_eq!((status, pool, kind), (0, vram(), 1));
    assert_eq!(
        (unmap(at, PAGE), hsa_amd_vmem_handle_release(handle)),
        (0, 0)
    );
    assert_eq!(free(range, 4 * PAGE), 0);
    assert_eq!(pointer_info(range).kind, 0);
}

fn export(handle: u64) -> Result<i32, u32> {
    let mut file = -1;
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_vmem_export_shareable_handle(&mut file, handle, 0) } {
        0 => Ok(file),
        status => Err(status),
    }
}

fn import(file: i32) -> Result<u64, u32> {
    let mut handle = 0;
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_vmem_import_shareable_handle(file, &mut handle) } {
        0 => Ok(handle),
        status => Err(status),
    }
}

/// What another process does with the memory of [`memory_is_shared_by_files`].
#[test]
fn as_another_process() {
    let Ok(text) = std::env::var("HSA_TEST_FILE") else {
        return;
    };
    begin();
    // The file is inherited under its number in the other process.
    let path = format!("/proc/{}/fd/{}", std::os::unix::process::parent_id(), text);
    let file = std::fs::File::options().read(true).write(true).open(path);
    let file = file.unwrap();
    let handle = import(std::os::fd::AsRawFd::as_raw_fd(&file)).unwrap();
    let range = reserve(2 * PAGE, 0).unwrap();
    assert_eq!(map(range, 2 * PAGE, handle), 0);
    assert_eq!(read(range, 5), 55);
    write(range, 6, 66);
}

#[test]
fn memory_is_shared_by_files() {
    let range = reserve(2 * PAGE, 0).unwrap();
    let handle = create(2 * PAGE).unwrap();
    assert_eq!(map(range, 2 * PAGE, handle), 0);
    write(range, 5, 55);
    let file = export(handle).unwrap();
    assert_eq!(import(file), Ok(handle), "memory of this process");
    assert_eq!(hsa_amd_vmem_handle_release(handle), 0);
    let program = std::env::current_exe().unwrap();
    let other = Command::new(program)
        .args(["--exact", "vmem::as_another_process"])
        .env("HSA_TEST_FILE", file.to_string())
        .output()
        .unwrap();
    assert!(other.status.success(), "{other:?}");
    assert_eq!(read(range, 6), 66);
    assert_eq!(export(4711), Err(0x1003));
    assert_eq!(import(-1), Err(0x1003));
    let foreign = std::fs::File::open("/dev/null").unwrap();
    let number = std::os::fd::AsRawFd::as_raw_fd(&foreign);
    assert_eq!(import(number), Err(0x1003));
    // SAFETY: the file is ours.
    drop(unsafe { <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(file) });
    assert_eq!(
        (unmap(range, 2 * PAGE), hsa_amd_vmem_handle_release(handle)),
        (0, 0)
    );
    assert_eq!(free(range, 2 * PAGE), 0);
}

#[test]
fn memory_counts_until_its_last_user_ends() {
    if !crate::faults::is_child() {
        // Other tests allocate meanwhile.
        let (signal, text) = crate::faults::child("vmem::memory_counts_until_its_last_user_ends");
        assert_eq!(signal, None, "{text}");
        return;
    }
    let bytes = 1 << 20;
    let before = used();
    let range = reserve(bytes, 0).unwrap();
    let handle = create(bytes).unwrap();
    assert_eq!(before - used(), bytes as u64);
    assert_eq!(map(range, bytes, handle), 0);
    assert_eq!(hsa_amd_vmem_handle_release(handle), 0);
    assert_eq!(before - used(), bytes as u64);
    assert_eq!(unmap(range, bytes), 0);
    assert_eq!(before, used());
}
