//! Attributes of the program's own memory.

use std::ffi::c_void;

use crate::abi::{Handle, Outcome, RawStatus, Status, SvmAttribute};
use crate::agent::Agent;
use crate::copy::{self, Task};
use crate::guard::{guard, list};
use crate::pools::svm;
use crate::state::runtime;

use super::address;

/// Sets attributes of a range.
pub unsafe extern "C" fn hsa_amd_svm_attributes_set(
    at: *mut c_void,
    bytes: usize,
    attributes: *const SvmAttribute,
    count: usize,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        svm::set(rt, address(at), bytes, unsafe { list(attributes, count) }?)
    })
}

/// Writes the attributes of a range into the list.
pub unsafe extern "C" fn hsa_amd_svm_attributes_get(
    at: *mut c_void,
    bytes: usize,
    attributes: *mut SvmAttribute,
    count: usize,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let found: Outcome<&mut [SvmAttribute]> = match (attributes.is_null(), count) {
            (_, 0) => Ok(&mut []),
            (true, _) => Err(Status::INVALID_ARGUMENT),
            // SAFETY: head of the module; not null.
            _ => Ok(unsafe { std::slice::from_raw_parts_mut(attributes, count) }),
        };
        svm::get(rt, address(at), bytes, found?)
    })
}

/// Moves memory near an agent when the dependencies are 0, then counts the completion signal down. All
/// memory is equally near.
pub unsafe extern "C" fn hsa_amd_svm_prefetch_async(
    at: *mut c_void,
    bytes: usize,
    agent: Handle,
    count: u32,
    after: *const Handle,
    completion: Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        let after = unsafe { list(after, count as usize) }?;
        svm::prefetch(rt, address(at), bytes, Agent::from_handle(agent)?)?;
        // SAFETY: nothing is accessed.
        unsafe { copy::submit(rt, Task::Nothing, after, completion) }
    })
}
