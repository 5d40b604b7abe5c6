//! Queues.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use crate::abi::{Handle, Outcome, QueueCallback, QueueHead, RawStatus, Status};
use crate::agent::{self, Agent};
use crate::guard::{guard, list, put, put_any, value, wanted};
use crate::lock::lock;
use crate::queue::{self, Queue, units};
use crate::state::{existing, runtime};

fn find(queue: *const QueueHead) -> Outcome<Arc<Queue>> {
    existing()?.queues.get(queue.addr() as u64)
}

/// Makes a queue.
pub unsafe extern "C" fn hsa_queue_create(
    agent: Handle,
    size: u32,
    kind: u32,
    callback: Option<QueueCallback>,
    data: *mut c_void,
    _private_bytes: u32,
    _group_bytes: u32,
    out: *mut *mut QueueHead,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        wanted(out)?;
        if Agent::from_handle(agent)? == Agent::Cpu {
            return Err(Status::INVALID_QUEUE_CREATION);
        }
        let head = queue::create(rt, size, kind, callback, data)?;
        // SAFETY: head of the module.
        unsafe { put(out, head) }
    })
}

/// Ends a queue.
pub unsafe extern "C" fn hsa_queue_destroy(queue: *mut QueueHead) -> RawStatus {
    guard(|| {
        if queue.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        queue::destroy(existing()?, queue.addr() as u64)
    })
}

/// A queue takes no more packets.
pub unsafe extern "C" fn hsa_queue_inactivate(queue: *mut QueueHead) -> RawStatus {
    guard(|| {
        find(queue)?.stop(existing()?);
        Ok(())
    })
}

macro_rules! index_loads {
    ($index:ident: $($name:ident)*) => {
        $(
            /// An index of a queue; 0 when there is none.
            pub unsafe extern "C" fn $name(queue: *const QueueHead) -> u64 {
                value(0, || Ok(find(queue)?.$index().load(SeqCst)))
            }
        )*
    };
}
index_loads!(read_index: hsa_queue_load_read_index_relaxed hsa_queue_load_read_index_acquire
    hsa_queue_load_read_index_scacquire);
index_loads!(write_index: hsa_queue_load_write_index_relaxed hsa_queue_load_write_index_acquire
    hsa_queue_load_write_index_scacquire);

macro_rules! write_index_stores {
    ($($name:ident)*) => {
        $(
            /// Sets the write index of a queue.
            pub unsafe extern "C" fn $name(queue: *const QueueHead, index: u64) {
                value((), || {
                    find(queue)?.write_index().store(index, SeqCst);
                    Ok(())
                });
            }
        )*
    };
}
write_index_stores!(hsa_queue_store_write_index_relaxed hsa_queue_store_write_index_release
    hsa_queue_store_write_index_screlease);

macro_rules! read_index_stores {
    ($($name:ident)*) => {
        $(
            /// Sets the read index of a queue that a program serves itself; there are none.
            pub unsafe extern "C" fn $name(queue: *const QueueHead, _index: u64) {
                let _ = queue;
                crate::guard::unsupported("hsa_queue_store_read_index", Status::INVALID_QUEUE);
            }
        )*
    };
}
read_index_stores!(hsa_queue_store_read_index_relaxed hsa_queue_store_read_index_release
    hsa_queue_store_read_index_screlease);

macro_rules! write_index_adds {
    ($($name:ident)*) => {
        $(
            /// Adds to the write index of a queue; gives the old one.
            pub unsafe extern "C" fn $name(queue: *const QueueHead, by: u64) -> u64 {
                value(0, || Ok(find(queue)?.write_index().fetch_add(by, SeqCst)))
            }
        )*
    };
}
write_index_adds!(hsa_queue_add_write_index_relaxed hsa_queue_add_write_index_acquire
    hsa_queue_add_write_index_release hsa_queue_add_write_index_acq_rel
    hsa_queue_add_write_index_scacquire hsa_queue_add_write_index_screlease
    hsa_queue_add_write_index_scacq_screl);

macro_rules! write_index_cas {
    ($($name:ident)*) => {
        $(
            /// Sets the write index of a queue if it is as expected; gives the old one.
            pub unsafe extern "C" fn $name(queue: *const QueueHead, expected: u64, new: u64) -> u64 {
                value(0, || {
                    let queue = find(queue)?;
                    let index = queue.write_index();
                    Ok(match index.compare_exchange(expected, new, SeqCst, SeqCst) {
                        Ok(old) | Err(old) => old,
                    })
                })
            }
        )*
    };
}
write_index_cas!(hsa_queue_cas_write_index_relaxed hsa_queue_cas_write_index_acquire
    hsa_queue_cas_write_index_release hsa_queue_cas_write_index_acq_rel
    hsa_queue_cas_write_index_scacquire hsa_queue_cas_write_index_screlease
    hsa_queue_cas_write_index_scacq_screl);

/// Sets the priority of a queue; all are served alike.
pub unsafe extern "C" fn hsa_amd_queue_set_priority(
    queue: *mut QueueHead,
    priority: u32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let queue = find(queue)?;
        if priority > 2 {
            return Err(Status::INVALID_ARGUMENT);
        }
        queue.priority.store(priority, SeqCst);
        Ok(())
    })
}

/// The agent of a queue (attribute 0) or its doorbell (1).
pub unsafe extern "C" fn hsa_amd_queue_get_info(
    queue: *mut QueueHead,
    attribute: u32,
    out: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let queue = find(queue)?;
        // SAFETY: head of the module; both are numbers of 64 bits.
        unsafe {
            match attribute {
                0 => put_any::<Handle>(out, agent::GPU),
                1 => put_any::<u64>(out, queue.doorbell),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }
    })
}

/// Sets the compute units of a queue: its kernels get this part of the worker threads, at least one.
pub unsafe extern "C" fn hsa_amd_queue_cu_set_mask(
    queue: *const QueueHead,
    bits: u32,
    mask: *const u32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let queue = find(queue)?;
        if !bits.is_multiple_of(32) {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        let mask = unsafe { list(mask, bits as usize / 32) }?;
        *lock(&queue.mask) = mask.to_vec();
        // Units that the agent lacks are left out, which is no error but is said.
        let lacking = mask
            .iter()
            .enumerate()
            .any(|(at, word)| word & !units(at) != 0);
        match lacking {
            true => Err(Status::CU_MASK_REDUCED),
            false => Ok(()),
        }
    })
}

/// The compute units of a queue.
pub unsafe extern "C" fn hsa_amd_queue_cu_get_mask(
    queue: *const QueueHead,
    bits: u32,
    out: *mut u32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let queue = find(queue)?;
        if !bits.is_multiple_of(32) || bits == 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        let mask = lock(&queue.mask);
        for at in 0..bits as usize / 32 {
            let word = match mask.is_empty() {
                true => units(at),
                false => mask.get(at).copied().unwrap_or(0) & units(at),
            };
            // SAFETY: head of the module.
            unsafe { put(out.wrapping_add(at), word) }?;
        }
        Ok(())
    })
}

/// Times of kernels are always noted.
pub unsafe extern "C" fn hsa_amd_profiling_set_profiler_enabled(
    queue: *mut QueueHead,
    _enable: i32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        find(queue).map(|_| ())
    })
}
