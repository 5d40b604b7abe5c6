//! Memory of several processes and of other drivers.

use std::ffi::c_void;
use std::os::fd::AsRawFd as _;
use std::process::Command;
use std::ptr::{null, null_mut};

use hsa_runtime64::abi::IpcHandle;
use hsa_runtime64::api::*;

use crate::memory::pointer_info;
use crate::support::{Buffer, Queue, SAXPY_LEN, Saxpy, Signal, agents};

const BYTES: usize = 3 * 4096 + 1000;

fn export(at: *mut c_void, bytes: usize) -> Result<IpcHandle, u32> {
    let mut handle = [0; 8];
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_ipc_memory_create(at, bytes, &mut handle) } {
        0 => Ok(handle),
        status => Err(status),
    }
}

fn attach(handle: &IpcHandle, bytes: usize) -> Result<*mut c_void, u32> {
    let mut at = null_mut();
    // SAFETY: the result goes to our variable.
    match unsafe { hsa_amd_ipc_memory_attach(handle, bytes, 2, agents().as_ptr(), &mut at) } {
        0 => Ok(at),
        status => Err(status),
    }
}

fn detach(at: *mut c_void) -> u32 {
    // SAFETY: the tests do not use the memory any more.
    unsafe { hsa_amd_ipc_memory_detach(at) }
}

/// Dword `at` of memory that lives.
fn dword(memory: *mut c_void, at: usize) -> *mut u32 {
    memory.cast::<u32>().wrapping_add(at)
}

/// What another process does with the memory of [`another_process_sees_the_memory`].
#[test]
fn as_another_process() {
    let Ok(text) = std::env::var("HSA_TEST_HANDLE") else {
        return;
    };
    let words: Vec<u32> = text.split(' ').map(|word| word.parse().unwrap()).collect();
    agents();
    let at = attach(&words.try_into().unwrap(), BYTES).unwrap();
    for i in 0..BYTES / 4 {
        // SAFETY: inside what was attached.
        unsafe {
            assert_eq!(dword(at, i).read(), i as u32 * 3);
            dword(at, i).write(i as u32 * 5);
        }
    }
    assert_eq!(detach(at), 0);
}

#[test]
fn another_process_sees_the_memory() {
    let buffer = Buffer::new(BYTES);
    for i in 0..BYTES / 4 {
        buffer.write(4 * i, i as u32 * 3);
    }
    let handle = export(buffer.at, BYTES).unwrap();
    let words: Vec<_> = handle.iter().map(u32::to_string).collect();
    let other = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "sharing::as_another_process"])
        .env("HSA_TEST_HANDLE", words.join(" "))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&other.stdout);
    assert!(other.status.success(), "{text}");
    assert!(text.contains("1 passed"), "{text}");
    for i in 0..BYTES / 4 {
        assert_eq!(buffer.read::<u32>(4 * i), i as u32 * 5);
    }
}

#[test]
fn kernels_use_attached_memory() {
    let saxpy = Saxpy::new();
    let bytes = SAXPY_LEN as usize * 4;
    let handle = export(saxpy.y.at, bytes).unwrap();
    assert_eq!(export(saxpy.y.at, bytes), Ok(handle), "again");
    let [first, second] = [0; 2].map(|_| attach(&handle, bytes).unwrap());
    assert_ne!(first, second);
    // The kernel writes where the first one is.
    saxpy.kernarg.write(0, first.addr() as u64);
    let queue = Queue::new(64);
    let done = Signal::new(1);
    queue.put(saxpy.packet(done.0));
    done.wait();
    // SAFETY: inside what was attached.
    let seen = unsafe { dword(second, 7).cast::<f32>().read() };
    assert_eq!((seen, saxpy.y.read::<f32>(28)), (15.0, 15.0));
    let info = pointer_info(dword(second, 7).cast());
    assert_eq!((info.kind, info.bytes), (4, bytes));
    assert_eq!(info.agent_base, second);
    // SAFETY: attached memory is not freed.
    assert_eq!(unsafe { hsa_amd_memory_pool_free(first) }, 0x1003);
    assert_eq!(export(first, bytes), Err(0x1001));
    assert_eq!([detach(first), detach(second)], [0; 2]);
    assert_eq!(detach(second), 0x1001, "twice");
    assert_eq!(detach(saxpy.y.at), 0x1001, "never attached");
}

#[test]
fn wrong_handles_are_refused() {
    let buffer = Buffer::new(BYTES);
    let inside = buffer.at.wrapping_byte_add(4096);
    assert_eq!(export(inside, BYTES - 4096), Err(0x1001));
    assert_eq!(export(buffer.at, BYTES - 4096), Err(0x1001));
    assert_eq!(export(buffer.at, usize::MAX), Err(0x1001));
    assert_eq!(export(null_mut(), 0), Err(0x1001));
    // SAFETY: there is no place for the result.
    let status = unsafe { hsa_amd_ipc_memory_create(buffer.at, BYTES, null_mut()) };
    assert_eq!(status, 0x1001);
    let handle = export(buffer.at, BYTES).unwrap();
    assert_eq!(attach(&handle, BYTES + 4096), Err(0x1001));
    for word in 0..8 {
        let mut wrong = handle;
        wrong[word] ^= 0x4000;
        assert_eq!(attach(&wrong, BYTES), Err(0x1001), "word {word}");
    }
    let (mut at, nobody) = (null_mut(), 4711);
    // SAFETY: the result goes to our variable.
    unsafe {
        let status = hsa_amd_ipc_memory_attach(&handle, BYTES, 1, &nobody, &mut at);
        assert_eq!(status, 0x1001);
        let status = hsa_amd_ipc_memory_attach(null(), BYTES, 0, null(), &mut at);
        assert_eq!(status, 0x1001);
        let status = hsa_amd_ipc_memory_attach(&handle, BYTES, 0, null(), null_mut());
        assert_eq!(status, 0x1001);
        // All agents.
        let status = hsa_amd_ipc_memory_attach(&handle, BYTES, 0, null(), &mut at);
        assert_eq!(status, 0);
    }
    drop(buffer);
    assert_eq!(attach(&handle, BYTES), Err(0x1001), "freed");
    // Those who have it keep it.
    // SAFETY: inside what was attached.
    unsafe { dword(at, BYTES / 4 - 1).write(1) };
    assert_eq!(detach(at), 0);
}

#[test]
fn memory_that_was_shared_comes_back_as_zeros() {
    for _ in 0..3 {
        let buffer = Buffer::new(BYTES);
        for i in 0..BYTES / 4 {
            assert_eq!(buffer.read::<u32>(4 * i), 0);
        }
        let at = attach(&export(buffer.at, BYTES).unwrap(), BYTES).unwrap();
        for i in 0..BYTES / 4 {
            // SAFETY: inside what was attached.
            unsafe { dword(at, i).write(u32::MAX) };
        }
        assert_eq!(buffer.read::<u32>(BYTES - 4), u32::MAX);
        assert_eq!(detach(at), 0);
    }
}

#[test]
fn files_of_other_drivers_are_mapped() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("foreign");
    std::fs::write(&path, [7; 6000]).unwrap();
    let file = std::fs::File::options().read(true).write(true).open(&path);
    let file = file.unwrap();
    let (mut bytes, mut at, mut extra) = (0, null_mut(), 5);
    let mut map = |number, flags| {
        let all = agents();
        // SAFETY: the results go to our variables.
        unsafe {
            let metadata = null_mut();
            hsa_amd_interop_map_buffer(
                2,
                all.as_ptr(),
                number,
                flags,
                &mut bytes,
                &mut at,
                &mut extra,
                metadata,
            )
        }
    };
    assert_eq!(map(-1, 0), 0x1001);
    assert_eq!(map(file.as_raw_fd(), 1), 0x1001);
    assert_eq!(map(file.as_raw_fd(), 0), 0);
    assert_eq!((bytes, extra), (6000, 0));
    let info = pointer_info(at);
    assert_eq!((info.kind, info.bytes), (3, 6000));
    // SAFETY: inside what was mapped.
    unsafe {
        assert_eq!(dword(at, 1499).read(), 0x0707_0707);
        assert_eq!(hsa_amd_memory_fill(at, 0x0909_0909, 1500), 0);
    }
    assert_eq!(detach(at), 0x1001, "that is another function's");
    // SAFETY: the memory is not used any more.
    unsafe {
        assert_eq!(hsa_amd_interop_unmap_buffer(at), 0);
        assert_eq!(hsa_amd_interop_unmap_buffer(at), 0x1001);
    }
    assert_eq!(std::fs::read(&path).unwrap(), [9; 6000]);
}
