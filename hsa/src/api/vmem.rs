//! Virtual memory that a program manages itself.

use std::ffi::c_void;

use crate::abi::{Handle, MemoryAccess, Outcome, RawStatus, Status};
use crate::agent::Agent;
use crate::guard::{guard, list, put, wanted};
use crate::pools::{Pool, pointer, vmem};
use crate::state::{existing, runtime};

use super::address;

fn no_flags(flags: u64) -> Outcome {
    match flags {
        0 => Ok(()),
        _ => Err(Status::INVALID_ARGUMENT),
    }
}

/// Reserves an address range; the requested address is not granted.
pub unsafe extern "C" fn hsa_amd_vmem_address_reserve(
    out: *mut *mut c_void,
    bytes: usize,
    wish: u64,
    flags: u64,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_amd_vmem_address_reserve_align(out, bytes, wish, 0, flags) }
}

/// As [`hsa_amd_vmem_address_reserve`], with an alignment; 0 is a page.
pub unsafe extern "C" fn hsa_amd_vmem_address_reserve_align(
    out: *mut *mut c_void,
    bytes: usize,
    _wish: u64,
    align: u64,
    flags: u64,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        no_flags(flags)?;
        let at = vmem::reserve(rt, bytes, align)?;
        // SAFETY: head of the module.
        unsafe { put(out, pointer(at)) }
    })
}

/// Frees an address range without maps.
pub unsafe extern "C" fn hsa_amd_vmem_address_free(at: *mut c_void, bytes: usize) -> RawStatus {
    guard(|| vmem::free(existing()?, address(at), bytes))
}

/// Allocates memory without an address.
pub unsafe extern "C" fn hsa_amd_vmem_handle_create(
    pool: Handle,
    bytes: usize,
    kind: u32,
    flags: u64,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        no_flags(flags)?;
        let pool = Pool::from_handle(pool, Status::INVALID_ARGUMENT)?;
        let handle = vmem::create(rt, pool, bytes, kind)?;
        // SAFETY: head of the module.
        unsafe { put(out, handle) }
    })
}

/// Ends a use of a handle.
pub extern "C" fn hsa_amd_vmem_handle_release(handle: Handle) -> RawStatus {
    guard(|| vmem::release(existing()?, handle))
}

/// Maps memory into an address range.
pub unsafe extern "C" fn hsa_amd_vmem_map(
    at: *mut c_void,
    bytes: usize,
    offset: usize,
    handle: Handle,
    flags: u64,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        no_flags(flags)?;
        vmem::map(rt, address(at), bytes, offset, handle)
    })
}

/// Ends [`hsa_amd_vmem_map`].
pub unsafe extern "C" fn hsa_amd_vmem_unmap(at: *mut c_void, bytes: usize) -> RawStatus {
    guard(|| vmem::unmap(existing()?, address(at), bytes))
}

/// Sets the permissions of agents.
pub unsafe extern "C" fn hsa_amd_vmem_set_access(
    at: *mut c_void,
    bytes: usize,
    access: *const MemoryAccess,
    count: usize,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        let access = unsafe { list(access, count) }?.iter();
        let access = access.map(|one| Ok((one.permissions, Agent::from_handle(one.agent)?)));
        let access: Vec<_> = access.collect::<Outcome<_>>()?;
        vmem::set_access(rt, address(at), bytes, &access)
    })
}

/// The permissions of an agent.
pub unsafe extern "C" fn hsa_amd_vmem_get_access(
    at: *mut c_void,
    out: *mut u32,
    agent: Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let permissions = vmem::access(rt, address(at), Agent::from_handle(agent)?)?;
        // SAFETY: head of the module.
        unsafe { put(out, permissions) }
    })
}

/// A file by which memory is shared; the program closes it.
pub unsafe extern "C" fn hsa_amd_vmem_export_shareable_handle(
    out: *mut i32,
    handle: Handle,
    flags: u64,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        no_flags(flags)?;
        let file = vmem::export(rt, handle)?;
        // SAFETY: head of the module.
        unsafe { put(out, file) }
    })
}

/// A handle for the memory of a file.
pub unsafe extern "C" fn hsa_amd_vmem_import_shareable_handle(
    file: i32,
    out: *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        let handle = vmem::import(rt, file)?;
        // SAFETY: head of the module.
        unsafe { put(out, handle) }
    })
}

/// The handle of the memory at an address, to be released once more.
pub unsafe extern "C" fn hsa_amd_vmem_retain_alloc_handle(
    out: *mut Handle,
    at: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        let handle = vmem::retain(rt, address(at))?;
        // SAFETY: head of the module.
        unsafe { put(out, handle) }
    })
}

/// The pool and the type of a handle's memory.
pub unsafe extern "C" fn hsa_amd_vmem_get_alloc_properties_from_handle(
    handle: Handle,
    pool: *mut Handle,
    kind: *mut u32,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let (found, type_) = vmem::properties(rt, handle)?;
        // SAFETY: head of the module.
        unsafe {
            put(pool, found)?;
            put(kind, type_)
        }
    })
}
