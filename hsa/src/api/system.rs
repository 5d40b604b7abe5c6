//! Begin and end, the system, agents and their instruction set.

use std::ffi::{c_char, c_void};

use crate::abi::{EventHandler, Handle, Outcome, RawStatus, Status, Visit};
use crate::agent::{self, Agent};
use crate::clock;
use crate::guard::{guard, put, put_any, text};
use crate::lock::lock;
use crate::state::{self, Event, runtime};

/// Begins the use of the library.
pub extern "C" fn hsa_init() -> RawStatus {
    guard(state::init)
}

/// Ends the use of the library.
pub extern "C" fn hsa_shut_down() -> RawStatus {
    guard(state::shut_down)
}

/// The text of a status.
pub unsafe extern "C" fn hsa_status_string(
    status: RawStatus,
    out: *mut *const c_char,
) -> RawStatus {
    guard(|| {
        let text = crate::abi::status_text(status).ok_or(Status::INVALID_ARGUMENT)?;
        // SAFETY: head of the module.
        unsafe { put(out, text.as_ptr()) }
    })
}

/// A fact about the system.
pub unsafe extern "C" fn hsa_system_get_info(attribute: u32, value: *mut c_void) -> RawStatus {
    guard(|| {
        runtime()?;
        // SAFETY: head of the module; each attribute writes its own type.
        unsafe {
            match attribute {
                0 | 1 => put_any::<u16>(value, 1),
                2 => put_any::<u64>(value, clock::now()),
                3 => put_any::<u64>(value, clock::FREQUENCY),
                4 => put_any::<u64>(value, u64::MAX),
                5 => put_any::<u32>(value, 0),
                6 => put_any::<u32>(value, 1),
                7 => put_any::<[u8; 128]>(value, agent::extensions()),
                0x200 => put_any::<*const c_char>(value, c"wavelift".as_ptr()),
                // SVM, SVM without registering, MWAITX, dma-bufs, replay of page faults.
                0x201..=0x204 | 0x206 => put_any::<bool>(value, false),
                // `hsa_amd_vmem_*`.
                0x205 => put_any::<bool>(value, true),
                // Version of AMD's extensions.
                0x207 => put_any::<u16>(value, 1),
                0x208 => put_any::<u16>(value, 7),
                _ => Err(Status::INVALID_ARGUMENT),
            }
        }
    })
}

/// Calls `callback` for each agent.
pub unsafe extern "C" fn hsa_iterate_agents(
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        // SAFETY: head of the module.
        each(&[agent::CPU, agent::GPU], callback, |call, agent| unsafe {
            call(agent, data)
        })
    })
}

/// Calls a callback for each handle until a call returns a status other than success.
pub(super) fn each<F: Copy>(
    handles: &[Handle],
    callback: Option<F>,
    call: impl Fn(F, Handle) -> RawStatus,
) -> Outcome {
    let callback = callback.ok_or(Status::INVALID_ARGUMENT)?;
    for &handle in handles {
        match call(callback, handle) {
            0 => {}
            status => return Err(Status(status)),
        }
    }
    Ok(())
}

/// A fact about an agent.
pub unsafe extern "C" fn hsa_agent_get_info(
    agent: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        unsafe { agent::info(rt, Agent::from_handle(agent)?, attribute, value) }
    })
}

/// Calls `callback` for each instruction set of an agent.
pub unsafe extern "C" fn hsa_agent_iterate_isas(
    agent: Handle,
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let isas: &[Handle] = match Agent::from_handle(agent)? {
            Agent::Cpu => &[],
            Agent::Gpu => &[agent::ISA],
        };
        // SAFETY: head of the module.
        each(isas, callback, |call, isa| unsafe { call(isa, data) })
    })
}

/// The instruction set of this name.
pub unsafe extern "C" fn hsa_isa_from_name(name: *const c_char, out: *mut Handle) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        // SAFETY: head of the module.
        let name = unsafe { text(name) }?;
        let isa = agent::isa_of_name(rt.config.gpu, name).ok_or(Status::INVALID_ISA_NAME)?;
        // SAFETY: head of the module.
        unsafe { put(out, isa) }
    })
}

fn check_isa(isa: Handle) -> Outcome {
    match isa {
        agent::ISA | agent::GENERIC_ISA => Ok(()),
        _ => Err(Status::INVALID_ISA),
    }
}

/// A fact about an instruction set.
pub unsafe extern "C" fn hsa_isa_get_info_alt(
    isa: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        check_isa(isa)?;
        // SAFETY: head of the module.
        unsafe { agent::isa_info(rt, isa, attribute, value) }
    })
}

/// As [`hsa_isa_get_info_alt`], for one calling convention.
pub unsafe extern "C" fn hsa_isa_get_info(
    isa: Handle,
    attribute: u32,
    index: u32,
    value: *mut c_void,
) -> RawStatus {
    if index != 0 && matches!(attribute, 3 | 4) {
        return Status::INVALID_INDEX.0;
    }
    // SAFETY: head of the module.
    unsafe { hsa_isa_get_info_alt(isa, attribute, value) }
}

/// Does code for one instruction set run on another?
pub unsafe extern "C" fn hsa_isa_compatible(
    code: Handle,
    other: Handle,
    out: *mut bool,
) -> RawStatus {
    guard(|| {
        runtime()?;
        check_isa(code)?;
        check_isa(other)?;
        // Code for one processor does not run on all of a family.
        let runs = code == other || code == agent::GENERIC_ISA;
        // SAFETY: head of the module.
        unsafe { put(out, runs) }
    })
}

fn check_profile(profile: u32) -> Outcome {
    match profile {
        0 | 1 => Ok(()),
        _ => Err(Status::INVALID_ARGUMENT),
    }
}

/// Which exceptions an agent can stop at, bits: none.
pub unsafe extern "C" fn hsa_agent_get_exception_policies(
    agent: Handle,
    profile: u32,
    out: *mut u16,
) -> RawStatus {
    guard(|| {
        runtime()?;
        Agent::from_handle(agent)?;
        check_profile(profile)?;
        // SAFETY: head of the module.
        unsafe { put(out, 0) }
    })
}

/// Which exceptions code of an instruction set can stop at, bits: none.
pub unsafe extern "C" fn hsa_isa_get_exception_policies(
    isa: Handle,
    profile: u32,
    out: *mut u16,
) -> RawStatus {
    guard(|| {
        runtime()?;
        check_isa(isa)?;
        check_profile(profile)?;
        // SAFETY: head of the module.
        unsafe { put(out, 0) }
    })
}

/// How often multiply-add rounds, by type of numbers and treatment of denormals: once (0).
pub unsafe extern "C" fn hsa_isa_get_round_method(
    isa: Handle,
    kind: u32,
    flush: u32,
    out: *mut u32,
) -> RawStatus {
    guard(|| {
        runtime()?;
        check_isa(isa)?;
        if !matches!(kind, 1 | 2 | 4) || !matches!(flush, 1 | 2) {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        unsafe { put(out, 0) }
    })
}

/// Calls `callback` for each size of waves.
pub unsafe extern "C" fn hsa_isa_iterate_wavefronts(
    isa: Handle,
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        check_isa(isa)?;
        // SAFETY: head of the module.
        each(&[agent::WAVEFRONT], callback, |call, wave| unsafe {
            call(wave, data)
        })
    })
}

/// A fact about a size of waves: the size.
pub unsafe extern "C" fn hsa_wavefront_get_info(
    wavefront: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        match (wavefront, attribute) {
            // SAFETY: head of the module.
            (agent::WAVEFRONT, 0) => unsafe { put_any::<u32>(value, 64) },
            (agent::WAVEFRONT, _) => Err(Status::INVALID_ARGUMENT),
            _ => Err(Status::INVALID_WAVEFRONT),
        }
    })
}

/// Calls `callback` for each cache of an agent.
pub unsafe extern "C" fn hsa_agent_iterate_caches(
    agent: Handle,
    callback: Option<Visit>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        let caches = agent::caches(Agent::from_handle(agent)?);
        // SAFETY: head of the module.
        each(&caches, callback, |call, cache| unsafe {
            call(cache, data)
        })
    })
}

/// A fact about a cache.
pub unsafe extern "C" fn hsa_cache_get_info(
    cache: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        // SAFETY: head of the module.
        unsafe { agent::cache_info(cache, attribute, value) }
    })
}

/// Logs the packets of copy kernels to a file; copies are made without kernels, so that there is nothing to
/// log.
pub extern "C" fn hsa_amd_enable_logging(_flags: *mut u8, _file: *mut c_void) -> RawStatus {
    guard(|| runtime().map(drop))
}

/// Sets a limit of scratch that can be reclaimed; as on all GPUs that there are here, none can.
pub extern "C" fn hsa_amd_agent_set_async_scratch_limit(agent: Handle, _bytes: usize) -> RawStatus {
    guard(|| {
        runtime()?;
        match Agent::from_handle(agent)? {
            Agent::Cpu => Err(Status::INVALID_AGENT),
            Agent::Gpu => Err(Status::INVALID_ARGUMENT),
        }
    })
}

// ---- extensions

/// Images and samplers.
const IMAGES: u16 = 1;

/// AMD's loader extension.
const LOADER: u16 = 0x201;

/// Is it here, in this major version? Then in minor version 0.
fn is_there(extension: u16, major: u16) -> bool {
    matches!(extension, IMAGES | LOADER) && major == 1
}

fn known(extension: u16) -> Outcome {
    match extension {
        0..=3 | 0x200..=0x203 => Ok(()),
        _ => Err(Status::INVALID_ARGUMENT),
    }
}

/// Is an extension there?
pub unsafe extern "C" fn hsa_system_extension_supported(
    extension: u16,
    major: u16,
    minor: u16,
    out: *mut bool,
) -> RawStatus {
    guard(|| {
        runtime()?;
        known(extension)?;
        // SAFETY: head of the module.
        unsafe { put(out, is_there(extension, major) && minor == 0) }
    })
}

/// Is an extension there, and in which minor version?
pub unsafe extern "C" fn hsa_system_major_extension_supported(
    extension: u16,
    major: u16,
    minor: *mut u16,
    out: *mut bool,
) -> RawStatus {
    guard(|| {
        runtime()?;
        known(extension)?;
        let there = is_there(extension, major);
        // SAFETY: head of the module.
        unsafe {
            if there {
                put(minor, 0)?;
            }
            put(out, there)
        }
    })
}

/// Does an agent have an extension? The GPU has images.
pub unsafe extern "C" fn hsa_agent_extension_supported(
    extension: u16,
    agent: Handle,
    major: u16,
    minor: u16,
    out: *mut bool,
) -> RawStatus {
    let there = |major| major == 1 && minor == 0;
    // SAFETY: head of the module.
    guard(|| unsafe { agent_extension(extension, agent, there(major), out) })
}

/// Does an agent have an extension, and in which minor version?
pub unsafe extern "C" fn hsa_agent_major_extension_supported(
    extension: u16,
    agent: Handle,
    major: u16,
    minor: *mut u16,
    out: *mut bool,
) -> RawStatus {
    guard(|| {
        // SAFETY: head of the module.
        unsafe {
            agent_extension(extension, agent, major == 1, out)?;
            if out.read_unaligned() {
                put(minor, 0)?;
            }
        }
        Ok(())
    })
}

/// # Safety
/// `out` must be null or valid.
unsafe fn agent_extension(extension: u16, agent: Handle, version: bool, out: *mut bool) -> Outcome {
    runtime()?;
    let gpu = Agent::from_handle(agent)? == Agent::Gpu;
    known(extension)?;
    // SAFETY: the caller answers for it.
    unsafe { put(out, gpu && extension == IMAGES && version) }
}

/// The functions of an extension.
pub unsafe extern "C" fn hsa_system_get_major_extension_table(
    extension: u16,
    major: u16,
    bytes: usize,
    table: *mut c_void,
) -> RawStatus {
    guard(|| {
        runtime()?;
        known(extension)?;
        if !is_there(extension, major) || bytes == 0 || table.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let functions: &[*const ()] = match extension {
            LOADER => &[
                super::loader_query_host_address as *const (),
                super::loader_query_segment_descriptors as *const (),
                super::loader_query_executable as *const (),
                super::loader_iterate_loaded_code_objects as *const (),
                super::loader_loaded_code_object_get_info as *const (),
            ],
            _ => &[
                super::hsa_ext_image_get_capability as *const (),
                super::hsa_ext_image_data_get_info as *const (),
                super::hsa_ext_image_create as *const (),
                super::hsa_ext_image_destroy as *const (),
                super::hsa_ext_image_copy as *const (),
                super::hsa_ext_image_import as *const (),
                super::hsa_ext_image_export as *const (),
                super::hsa_ext_image_clear as *const (),
                super::hsa_ext_sampler_create as *const (),
                super::hsa_ext_sampler_destroy as *const (),
                super::hsa_ext_image_get_capability_with_layout as *const (),
                super::hsa_ext_image_data_get_info_with_layout as *const (),
                super::hsa_ext_image_create_with_layout as *const (),
            ],
        };
        let slots = bytes / size_of::<usize>();
        for (at, &function) in functions.iter().enumerate().take(slots) {
            // SAFETY: head of the module; `at` is below the number of slots.
            unsafe { put(table.cast::<*const ()>().wrapping_add(at), function) }?;
        }
        Ok(())
    })
}

/// As [`hsa_system_get_major_extension_table`], for a minor version.
pub unsafe extern "C" fn hsa_system_get_extension_table(
    extension: u16,
    major: u16,
    minor: u16,
    table: *mut c_void,
) -> RawStatus {
    let slots = match (extension, minor) {
        (IMAGES, _) => 10,
        (_, 0) => 3,
        _ => 5,
    };
    // SAFETY: head of the module.
    unsafe { hsa_system_get_major_extension_table(extension, major, slots * 8, table) }
}

/// The name of an extension.
pub unsafe extern "C" fn hsa_extension_get_name(
    extension: u16,
    out: *mut *const c_char,
) -> RawStatus {
    guard(|| {
        let name = match extension {
            0 => c"HSA_EXTENSION_FINALIZER",
            1 => c"HSA_EXTENSION_IMAGES",
            2 => c"HSA_EXTENSION_PERFORMANCE_COUNTERS",
            3 => c"HSA_EXTENSION_PROFILING_EVENTS",
            0x200 => c"HSA_EXTENSION_AMD_PROFILER",
            LOADER => c"HSA_EXTENSION_AMD_LOADER",
            0x202 => c"HSA_EXTENSION_AMD_AQLPROFILE",
            0x203 => c"HSA_EXTENSION_AMD_PC_SAMPLING",
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        // SAFETY: head of the module.
        unsafe { put(out, name.as_ptr()) }
    })
}

// ---- coherency, profiling, events

/// Sets how an APU keeps memory coherent; it always is.
pub extern "C" fn hsa_amd_coherency_set_type(agent: Handle, kind: u32) -> RawStatus {
    guard(|| {
        runtime()?;
        match (Agent::from_handle(agent)?, kind) {
            (Agent::Gpu, 0 | 1) => Ok(()),
            (Agent::Cpu, _) => Err(Status::INVALID_AGENT),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    })
}

/// How an APU keeps memory coherent.
pub unsafe extern "C" fn hsa_amd_coherency_get_type(agent: Handle, out: *mut u32) -> RawStatus {
    guard(|| {
        runtime()?;
        Agent::from_handle(agent)?;
        // SAFETY: head of the module.
        unsafe { put(out, 0) }
    })
}

/// Registers a handler of memory faults.
pub unsafe extern "C" fn hsa_amd_register_system_event_handler(
    handler: Option<EventHandler>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = runtime()?;
        let handler = handler.ok_or(Status::INVALID_ARGUMENT)?;
        let mut events = lock(&rt.events);
        events.push(Event {
            handler,
            data: data.expose_provenance(),
        });
        Ok(())
    })
}

/// Calls a function on another thread.
pub unsafe extern "C" fn hsa_amd_async_function(
    function: Option<unsafe extern "C" fn(*mut c_void)>,
    data: *mut c_void,
) -> RawStatus {
    guard(|| crate::handlers::call(function.ok_or(Status::INVALID_ARGUMENT)?, data))
}
