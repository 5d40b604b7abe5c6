//! Copies and fills.

use std::ffi::c_void;

use crate::abi::{Dim3, Handle, PitchedPtr, RawStatus, Status};
use crate::agent::{Agent, COPY_ENGINES};
use crate::copy::{self, Task};
use crate::guard::{guard, list};
use crate::pools::{host_address, pointer};
use crate::state::runtime;

use super::address;

/// Copies now.
pub unsafe extern "C" fn hsa_memory_copy(
    to: *mut c_void,
    from: *const c_void,
    bytes: usize,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        unsafe { copy::copy_now(rt, address(to), address(from), bytes) }
    })
}

/// Copies when the dependencies are 0, then counts the completion signal down.
pub unsafe extern "C" fn hsa_amd_memory_async_copy(
    to: *mut c_void,
    to_agent: Handle,
    from: *const c_void,
    from_agent: Handle,
    bytes: usize,
    count: u32,
    after: *const Handle,
    completion: Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        Agent::from_handle(to_agent)?;
        Agent::from_handle(from_agent)?;
        if to.is_null() || from.is_null() || (count == 0) != after.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let (to, from) = (address(to), address(from));
        // SAFETY: head of the module.
        unsafe {
            let after = list(after, count as usize)?;
            copy::submit(rt, Task::Bytes { to, from, bytes }, after, completion)
        }
    })
}

/// As [`hsa_amd_memory_async_copy`], with a choice of engine, which changes nothing here.
pub unsafe extern "C" fn hsa_amd_memory_async_copy_on_engine(
    to: *mut c_void,
    to_agent: Handle,
    from: *const c_void,
    from_agent: Handle,
    bytes: usize,
    count: u32,
    after: *const Handle,
    completion: Handle,
    _engine: u32,
    _force: bool,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe {
        hsa_amd_memory_async_copy(
            to, to_agent, from, from_agent, bytes, count, after, completion,
        )
    }
}

/// Which copy engines are free: all.
pub unsafe extern "C" fn hsa_amd_memory_copy_engine_status(
    to_agent: Handle,
    from_agent: Handle,
    out: *mut u32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        Agent::from_handle(to_agent)?;
        Agent::from_handle(from_agent)?;
        // SAFETY: head of the module.
        unsafe { crate::guard::put(out, (1 << COPY_ENGINES) - 1) }
    })
}

/// Copies rows of slices.
pub unsafe extern "C" fn hsa_amd_memory_async_copy_rect(
    to: *const PitchedPtr,
    to_offset: *const Dim3,
    from: *const PitchedPtr,
    from_offset: *const Dim3,
    range: *const Dim3,
    agent: Handle,
    direction: u32,
    count: u32,
    after: *const Handle,
    completion: Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        Agent::from_handle(agent)?;
        let missing = to.is_null() || from.is_null() || to_offset.is_null();
        if missing || from_offset.is_null() || range.is_null() || direction > 3 {
            return Err(Status::INVALID_ARGUMENT);
        }
        if (count == 0) != after.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module; none is null.
        unsafe {
            let task = copy::rect(rt, &*to, *to_offset, &*from, *from_offset, *range)?;
            let after = list(after, count as usize)?;
            copy::submit(rt, task, after, completion)
        }
    })
}

/// Writes `count` times the dword `value`, now.
pub unsafe extern "C" fn hsa_amd_memory_fill(
    at: *mut c_void,
    value: u32,
    count: usize,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let at = address(at);
        let bytes = (count as u64).checked_mul(4);
        let bytes = bytes.ok_or(Status::INVALID_ARGUMENT)?;
        if at == 0 || !at.is_multiple_of(4) {
            return Err(Status::INVALID_ARGUMENT);
        }
        copy::check(rt, at, bytes)?;
        let first = pointer(host_address(at)).cast::<u32>();
        // SAFETY: head of the module; aligned, not null, and allocated where it is guest memory.
        let words = unsafe { std::slice::from_raw_parts_mut(first, count) };
        let _change = rt.begin_change();
        words.fill(value);
        Ok(())
    })
}
