//! Memory of other processes and of other drivers.

use std::ffi::c_void;

use crate::abi::{Handle, IpcHandle, Outcome, RawStatus, Status};
use crate::agent::Agent;
use crate::guard::{guard, list, put, wanted};
use crate::pools::{pointer, share};
use crate::state::{existing, runtime};

use super::address;

/// Makes a handle by which other processes access an allocation. The program must not write to it
/// meanwhile.
pub unsafe extern "C" fn hsa_amd_ipc_memory_create(
    at: *mut c_void,
    bytes: usize,
    out: *mut IpcHandle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        let handle = share::export(rt, address(at), bytes)?;
        // SAFETY: head of the module.
        unsafe { put(out, handle) }
    })
}

/// The agents of a list may use everything; they must exist.
///
/// # Safety
/// As for [`list`].
unsafe fn check_agents(agents: *const Handle, count: u32) -> Outcome {
    // SAFETY: the caller answers for it.
    let agents = unsafe { list(agents, count as usize) }?;
    for &agent in agents {
        Agent::from_handle(agent).map_err(|_| Status::INVALID_ARGUMENT)?;
    }
    Ok(())
}

/// Makes memory of another process accessible.
pub unsafe extern "C" fn hsa_amd_ipc_memory_attach(
    handle: *const IpcHandle,
    bytes: usize,
    count: u32,
    agents: *const Handle,
    out: *mut *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        // SAFETY: head of the module.
        let handle = unsafe {
            check_agents(agents, count)?;
            list(handle, 1)?[0]
        };
        let at = share::attach(rt, handle, bytes)?;
        // SAFETY: head of the module.
        unsafe { put(out, pointer(at)) }
    })
}

/// Ends [`hsa_amd_ipc_memory_attach`].
pub unsafe extern "C" fn hsa_amd_ipc_memory_detach(at: *mut c_void) -> RawStatus {
    guard(|| share::detach(existing()?, address(at)))
}

/// Makes a buffer of another driver accessible, whose file (such as a dma-buf) can be mapped. There
/// are no metadata.
pub unsafe extern "C" fn hsa_amd_interop_map_buffer(
    count: u32,
    agents: *const Handle,
    file: i32,
    flags: u32,
    bytes: *mut usize,
    out: *mut *mut c_void,
    metadata_bytes: *mut usize,
    metadata: *mut *const c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        wanted(bytes)?;
        if flags != 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        unsafe { check_agents(agents, count) }?;
        let (at, size) = share::import(rt, file)?;
        // SAFETY: head of the module; null was excluded.
        unsafe {
            if !metadata_bytes.is_null() {
                put(metadata_bytes, 0)?;
            }
            if !metadata.is_null() {
                put(metadata, std::ptr::null())?;
            }
            put(bytes, size as usize)?;
            put(out, pointer(at))
        }
    })
}

/// Ends [`hsa_amd_interop_map_buffer`].
pub unsafe extern "C" fn hsa_amd_interop_unmap_buffer(at: *mut c_void) -> RawStatus {
    guard(|| share::release(existing()?, address(at)))
}
