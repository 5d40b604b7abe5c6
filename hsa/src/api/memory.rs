//! Memory pools, regions, locked memory and pointers.

use std::ffi::c_void;

use crate::abi::{FreeHandler, Handle, PointerInfo, RawStatus, Status, Visit};
use crate::agent::Agent;
use crate::guard::{guard, list, put, wanted};
use crate::pools::{self, Pool, pointer};
use crate::state::{existing, runtime};

use super::address;
use super::system::each;

fn pool(handle: Handle) -> Result<Pool, Status> {
    Pool::from_handle(handle, Status::INVALID_MEMORY_POOL)
}

/// Calls `callback` for each memory pool of an agent.
pub unsafe extern "C" fn hsa_amd_agent_iterate_memory_pools(
    agent: Handle,
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let pools = Pool::of(Agent::from_handle(agent)?).iter();
        let pools: Vec<_> = pools.map(|pool| pool.handle()).collect();
        // SAFETY: head of the module.
        each(&pools, callback, |call, pool| unsafe { call(pool, data) })
    })
}

/// A fact about a memory pool.
pub unsafe extern "C" fn hsa_amd_memory_pool_get_info(
    handle: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        unsafe { pools::info(rt, pool(handle)?, attribute, value) }
    })
}

/// A property of an agent's access to a memory pool.
pub unsafe extern "C" fn hsa_amd_agent_memory_pool_get_info(
    agent: Handle,
    handle: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let agent = Agent::from_handle(agent)?;
        // SAFETY: head of the module.
        unsafe { pools::agent_info(agent, pool(handle)?, attribute, value) }
    })
}

/// Allocates memory.
pub unsafe extern "C" fn hsa_amd_memory_pool_allocate(
    handle: Handle,
    bytes: usize,
    _flags: u32,
    out: *mut *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let pool = pool(handle)?;
        wanted(out)?;
        let address = pools::allocate(rt, pool, bytes)?;
        // SAFETY: head of the module.
        unsafe { put(out, pointer(address)) }
    })
}

/// Frees memory. Null is no error.
pub unsafe extern "C" fn hsa_amd_memory_pool_free(at: *mut c_void) -> RawStatus {
    guard(|| match at.is_null() {
        true => Ok(()),
        false => pools::free(existing()?, address(at)),
    })
}

/// Lets agents use memory.
pub unsafe extern "C" fn hsa_amd_agents_allow_access(
    count: u32,
    agents: *const Handle,
    flags: *const u32,
    at: *const c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        if count == 0 || at.is_null() || !flags.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        let agents = unsafe { list(agents, count as usize) }?;
        pools::allow_access(rt, agents, address(at))
    })
}

/// Can memory move from pool to pool? It cannot.
pub unsafe extern "C" fn hsa_amd_memory_pool_can_migrate(
    from: Handle,
    to: Handle,
    out: *mut bool,
) -> RawStatus {
    guard(|| {
        runtime()?;
        pool(from)?;
        pool(to)?;
        // SAFETY: head of the module.
        unsafe { put(out, false) }
    })
}

/// Shows host memory to the GPU.
pub unsafe extern "C" fn hsa_amd_memory_lock(
    host: *mut c_void,
    bytes: usize,
    agents: *const Handle,
    count: i32,
    out: *mut *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        if out.is_null() || (agents.is_null() != (count <= 0)) {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        let locked = unsafe {
            pools::agents(agents, i64::from(count.max(0)))?;
            pools::lock_host(rt, address(host), bytes)?
        };
        // SAFETY: head of the module.
        unsafe { put(out, pointer(locked)) }
    })
}

/// As [`hsa_amd_memory_lock`], with the properties of a pool of the host.
pub unsafe extern "C" fn hsa_amd_memory_lock_to_pool(
    host: *mut c_void,
    bytes: usize,
    agents: *const Handle,
    count: i32,
    handle: Handle,
    flags: u32,
    out: *mut *mut c_void,
) -> RawStatus {
    match pool(handle) {
        Ok(Pool::HostFine | Pool::HostKernarg | Pool::HostCoarse) if flags == 0 => {}
        Ok(_) => return Status::INVALID_ARGUMENT.0,
        Err(status) => return status.0,
    }
    // SAFETY: head of the module.
    unsafe { hsa_amd_memory_lock(host, bytes, agents, count, out) }
}

/// Ends [`hsa_amd_memory_lock`].
pub unsafe extern "C" fn hsa_amd_memory_unlock(host: *mut c_void) -> RawStatus {
    guard(|| pools::unlock_host(existing()?, address(host)))
}

/// Shows host memory to agents of the full profile, at its own address.
pub unsafe extern "C" fn hsa_memory_register(at: *mut c_void, bytes: usize) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        if at.is_null() && bytes != 0 {
            return Err(Status::INVALID_ARGUMENT);
        }
        if bytes != 0 && !rt.memory.contains(address(at), bytes as u64) {
            // SAFETY: the program answers for the memory until it takes it back.
            unsafe { rt.memory.register_host(at.cast(), bytes) };
        }
        Ok(())
    })
}

/// Ends [`hsa_memory_register`].
pub unsafe extern "C" fn hsa_memory_deregister(at: *mut c_void, _bytes: usize) -> RawStatus {
    guard(|| {
        // Unregistering unregistered memory is not an error.
        existing()?.memory.unregister_host(at.cast());
        Ok(())
    })
}

/// Properties of an address.
pub unsafe extern "C" fn hsa_amd_pointer_info(
    at: *const c_void,
    info: *mut PointerInfo,
    alloc: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
    count: *mut u32,
    agents: *mut *mut Handle,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        unsafe { pools::pointer_info(rt, address(at), info, alloc, count, agents) }
    })
}

/// Attaches a program's own data to an allocation.
pub unsafe extern "C" fn hsa_amd_pointer_info_set_userdata(
    at: *const c_void,
    data: *mut c_void,
) -> RawStatus {
    guard(|| pools::set_user_data(runtime()?, address(at), data.expose_provenance()))
}

/// Calls a function when memory is freed.
pub unsafe extern "C" fn hsa_amd_register_deallocation_callback(
    at: *mut c_void,
    callback: Option<FreeHandler>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        let data = data.expose_provenance();
        pools::on_free(runtime()?, address(at), callback, Some(data))
    })
}

/// Ends [`hsa_amd_register_deallocation_callback`].
pub unsafe extern "C" fn hsa_amd_deregister_deallocation_callback(
    at: *mut c_void,
    callback: Option<FreeHandler>,
) -> RawStatus {
    guard(|| {
        let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
        pools::on_free(runtime()?, address(at), callback, None)
    })
}

// ---- regions: the pools by their older name

/// Calls `callback` for each region of an agent.
pub unsafe extern "C" fn hsa_agent_iterate_regions(
    agent: Handle,
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_amd_agent_iterate_memory_pools(agent, callback, data) }
}

/// A fact about a region.
pub unsafe extern "C" fn hsa_region_get_info(
    region: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let pool = Pool::from_handle(region, Status::INVALID_REGION)?;
        let attribute = match attribute {
            4 => 16,
            0 | 1 | 2 | 5 | 6 | 7 => attribute,
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        // SAFETY: head of the module.
        unsafe { pools::info(rt, pool, attribute, value) }
    })
}

/// Allocates memory of a region.
pub unsafe extern "C" fn hsa_memory_allocate(
    region: Handle,
    bytes: usize,
    out: *mut *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let pool = Pool::from_handle(region, Status::INVALID_REGION)?;
        wanted(out)?;
        let address = pools::allocate(rt, pool, bytes)?;
        // SAFETY: head of the module.
        unsafe { put(out, pointer(address)) }
    })
}

/// Frees memory of a region.
pub unsafe extern "C" fn hsa_memory_free(at: *mut c_void) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_amd_memory_pool_free(at) }
}

/// Gives memory to an agent; all may use all.
pub unsafe extern "C" fn hsa_memory_assign_agent(
    at: *mut c_void,
    agent: Handle,
    access: u32,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        if at.is_null() || !(1..=3).contains(&access) {
            return Err(Status::INVALID_ARGUMENT);
        }
        pools::allow_access(rt, &[agent], address(at))
    })
}
