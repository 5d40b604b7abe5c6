//! The two agents, and the GPU's instruction set.

use std::ffi::c_void;
use std::sync::atomic::AtomicU32;

use crate::abi::{Handle, Outcome, Status};
use crate::clock;
use crate::config::Gpu;
use crate::guard::{put_any, put_text};
use crate::queue::{MAX_QUEUES, MAX_SIZE, MIN_SIZE};
use crate::state::Runtime;

/// Handle of the CPU.
pub(crate) const CPU: Handle = 0x10;

/// Handle of the GPU.
pub(crate) const GPU: Handle = 0x20;

/// Handle of the GPU's instruction set.
pub(crate) const ISA: Handle = 0x30;

/// Handle of the instruction set of a generic processor that the GPU belongs to. Agents do not list it, since
/// clients refuse a GPU with several; they may name it.
pub(crate) const GENERIC_ISA: Handle = 0x31;

/// Handles of the GPU's caches, with level, size and name.
const CACHES: [(Handle, u8, u32, &str); 2] =
    [(0x50, 1, 16 << 10, "GPU L1"), (0x51, 2, 8 << 20, "GPU L2")];

/// Handle of its waves' size.
pub(crate) const WAVEFRONT: Handle = 0x40;

pub(crate) use runtime::dispatch::{COMPUTE_UNITS, WAVES_PER_CU};

/// Copy engines that programs see. Every copy is made by the same threads.
pub(crate) const COPY_ENGINES: u32 = 2;

/// A version of firmware that is new enough for every client.
const FIRMWARE: u32 = 460;

/// The driver's number of the GPU.
const DRIVER_ID: u32 = 1;

/// Processors of the host.
fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| n.get() as u32)
}

/// An agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Agent {
    Cpu,
    Gpu,
}

impl Agent {
    pub(crate) fn from_handle(handle: Handle) -> Outcome<Agent> {
        match handle {
            CPU => Ok(Agent::Cpu),
            GPU => Ok(Agent::Gpu),
            _ => Err(Status::INVALID_AGENT),
        }
    }

    pub(crate) fn handle(self) -> Handle {
        match self {
            Agent::Cpu => CPU,
            Agent::Gpu => GPU,
        }
    }
}

/// Written by a program to flush the host's path to the GPU's memory: nothing to flush.
static FLUSH: [AtomicU32; 2] = [AtomicU32::new(0), AtomicU32::new(0)];

/// The bits of the extensions that there are: images. AMD's own have no bits.
pub(crate) fn extensions() -> [u8; 128] {
    let mut bits = [0; 128];
    bits[0] = 1 << 1;
    bits
}

/// `hsa_agent_get_info`.
///
/// # Safety
/// `value` must be null or fit the attribute.
pub(crate) unsafe fn info(
    rt: &Runtime,
    agent: Agent,
    attribute: u32,
    value: *mut c_void,
) -> Outcome {
    let gpu = agent == Agent::Gpu;
    let config = &rt.config;
    let on_gpu = |number: u32| if gpu { number } else { 0 };
    // SAFETY: the caller answers for the address; each attribute writes its own type.
    unsafe {
        match attribute {
            0 if gpu => put_text::<64>(value, config.gpu.name),
            0 => put_text::<64>(value, "wavelift host"),
            1 if gpu => put_text::<64>(value, "AMD"),
            1 => put_text::<64>(value, "CPU"),
            // Kernel dispatch; the CPU takes agent dispatches.
            2 => put_any::<u32>(value, if gpu { 1 } else { 2 }),
            3 => put_any::<u32>(value, 1),
            4 => put_any::<u32>(value, u32::from(!gpu || config.gpu.full_profile)),
            // Rounding to nearest.
            5 => put_any::<u32>(value, 2),
            6 => put_any::<u32>(value, on_gpu(64)),
            7 => put_any::<[u16; 3]>(value, [on_gpu(1024) as u16; 3]),
            8 => put_any::<u32>(value, on_gpu(1024)),
            9 => put_any::<[u32; 3]>(value, [on_gpu(u32::MAX); 3]),
            10 => put_any::<u32>(value, on_gpu(u32::MAX)),
            11 => put_any::<u32>(value, on_gpu(32)),
            12 => put_any::<u32>(value, on_gpu(MAX_QUEUES as u32)),
            13 => put_any::<u32>(value, on_gpu(MIN_SIZE)),
            14 => put_any::<u32>(value, on_gpu(MAX_SIZE)),
            15 => put_any::<u32>(value, 0),
            16 | 0xa004 => put_any::<u32>(value, u32::from(gpu)),
            17 => put_any::<u32>(value, u32::from(gpu)),
            18 => put_any::<[u32; 4]>(value, [CACHES[0].2, CACHES[1].2, 0, 0]),
            19 => put_any::<Handle>(value, if gpu { ISA } else { 0 }),
            20 => put_any::<[u8; 128]>(value, if gpu { extensions() } else { [0; 128] }),
            0x3000 | 0x3001 if gpu => put_any::<u32>(value, 16384),
            0x3002 if gpu => put_any::<u32>(value, 1 << 27),
            0x3003..=0x3006 if gpu => put_any::<[u32; 2]>(value, [16384; 2]),
            0x3007 if gpu => put_any::<[u32; 3]>(value, [16384, 16384, 8192]),
            0x3008 if gpu => put_any::<u32>(value, 8192),
            0x3009 if gpu => put_any::<u32>(value, 128),
            0x300a if gpu => put_any::<u32>(value, 64),
            0x300b if gpu => put_any::<u32>(value, 16),
            0x300c if gpu => put_any::<u32>(value, 256),
            21 | 22 => put_any::<u16>(value, 1),
            23 => put_any::<u32>(value, 4),
            24 => put_any::<bool>(value, gpu && rt.config.gpu.gfx.is_gfx8_up()),
            0xa000 => put_any::<u32>(value, on_gpu(config.gpu.chip)),
            0xa001 => put_any::<u32>(value, 64),
            0xa002 if gpu => put_any::<u32>(value, COMPUTE_UNITS),
            0xa002 => put_any::<u32>(value, processors()),
            0xa003 => put_any::<u32>(value, 1800),
            0xa005 => put_any::<u32>(value, on_gpu(4)),
            0xa006 => put_any::<u32>(value, on_gpu(0x300)),
            0xa007 => put_any::<u32>(value, on_gpu(4096)),
            0xa008 => put_any::<u32>(value, 1000),
            0xa009 if gpu => {
                put_text::<64>(value, &format!("wavelift {} on this CPU", config.gpu.name))
            }
            0xa009 => put_text::<64>(value, "the host"),
            0xa00a => put_any::<u32>(value, on_gpu(WAVES_PER_CU)),
            0xa00b => put_any::<u32>(value, on_gpu(4)),
            0xa00c => put_any::<u32>(value, on_gpu(4)),
            0xa00d => put_any::<u32>(value, on_gpu(1)),
            0xa00e if gpu => {
                put_any::<[*mut u32; 2]>(value, [FLUSH[0].as_ptr(), FLUSH[1].as_ptr()])
            }
            0xa00f => put_any::<u32>(value, 0),
            0xa010 => put_any::<bool>(value, gpu),
            0xa011 if gpu => put_text::<21>(value, &format!("GPU-77617665{:08x}", config.gpu.chip)),
            0xa011 => put_text::<21>(value, "CPU-XX"),
            0xa012 => put_any::<u32>(value, on_gpu(1)),
            0xa013 => put_any::<bool>(value, false),
            0xa014 => put_any::<u32>(value, on_gpu(COMPUTE_UNITS)),
            // Newer than 5.2: free memory, ticks of the clock in a second.
            0xa015 if gpu => put_any::<u64>(value, rt.pools.vram_free()),
            0xa015 => put_any::<u64>(value, rt.pools.host_free()),
            0xa016 => put_any::<u64>(value, clock::FREQUENCY),
            // Family of chips, versions of the firmware.
            0xa107 => put_any::<u32>(value, on_gpu(config.gpu.family)),
            0xa108 | 0xa109 => put_any::<u32>(value, on_gpu(FIRMWARE)),
            // Copy engines, as many as `hsa_amd_memory_copy_engine_status` has.
            0xa10a => put_any::<u32>(value, on_gpu(COPY_ENGINES)),
            // Copy engines between GPUs, the IOMMU, compute dies, the driver's number, the CPU next to it.
            0xa10b | 0xa110 => put_any::<u32>(value, 0),
            0xa111 => put_any::<u32>(value, on_gpu(1)),
            0xa112 => put_any::<u32>(value, on_gpu(DRIVER_ID)),
            0xa113 => put_any::<Handle>(value, if gpu { CPU } else { 0 }),
            // Properties of the memory, bits: 0 is an APU's.
            0xa114 => {
                let apu = u64::from(gpu && config.gpu.full_profile);
                put_any::<[u8; 8]>(value, apu.to_le_bytes())
            }
            // Extensions of packets, scratch that is kept: the most, and now.
            0xa115 => put_any::<[u8; 8]>(value, [0; 8]),
            0xa116 | 0xa117 => put_any::<u64>(value, 0),
            // The clocks of the GPU, the CPU and the system, which are one, and its ticks in a second.
            0xa118 => {
                let now = clock::now();
                put_any::<[u64; 4]>(value, [now, now, now, clock::FREQUENCY])
            }
            _ => Err(Status::INVALID_ARGUMENT),
        }
    }
}

/// The caches of an agent; those of the CPU are not told.
pub(crate) fn caches(agent: Agent) -> Vec<Handle> {
    match agent {
        Agent::Cpu => Vec::new(),
        Agent::Gpu => CACHES.iter().map(|cache| cache.0).collect(),
    }
}

/// `hsa_cache_get_info`.
///
/// # Safety
/// `value` must be null or fit the attribute.
pub(crate) unsafe fn cache_info(cache: Handle, attribute: u32, value: *mut c_void) -> Outcome {
    let found = CACHES.iter().find(|(handle, ..)| *handle == cache);
    let &(_, level, size, name) = found.ok_or(Status::INVALID_CACHE)?;
    // SAFETY: the caller answers for the address; each attribute writes its own type.
    unsafe {
        match attribute {
            0 => put_any::<u32>(value, name.len() as u32 + 1),
            1 => put_name(value, name),
            2 => put_any::<u8>(value, level),
            3 => put_any::<u32>(value, size),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    }
}

/// Writes a name and a zero.
///
/// # Safety
/// `value` must be null or valid for as many bytes.
unsafe fn put_name(value: *mut c_void, name: &str) -> Outcome {
    for (at, byte) in name.bytes().chain([0]).enumerate() {
        // SAFETY: the caller answers for it.
        unsafe { crate::guard::put(value.cast::<u8>().wrapping_add(at), byte) }?;
    }
    Ok(())
}

/// The instruction set of this name, with or without settings.
pub(crate) fn isa_of_name(gpu: &Gpu, name: &str) -> Option<Handle> {
    let own = [gpu.isa(), format!("amdgcn-amd-amdhsa--{}", gpu.name)];
    let generic = gpu.generic_isa();
    let plain = generic
        .as_deref()
        .and_then(|name| name.strip_suffix(":xnack-"));
    if own.iter().any(|own| own == name) {
        Some(ISA)
    } else if generic.as_deref() == Some(name) || plain == Some(name) {
        Some(GENERIC_ISA)
    } else {
        None
    }
}

/// `hsa_isa_get_info_alt`.
///
/// # Safety
/// `value` must be null or fit the attribute.
pub(crate) unsafe fn isa_info(
    rt: &Runtime,
    isa: Handle,
    attribute: u32,
    value: *mut c_void,
) -> Outcome {
    let name = match isa {
        GENERIC_ISA => rt.config.gpu.generic_isa().ok_or(Status::INVALID_ISA)?,
        _ => rt.config.gpu.isa(),
    };
    // SAFETY: the caller answers for the address; each attribute writes its own type.
    unsafe {
        match attribute {
            // With the zero at the end.
            0 => put_any::<u32>(value, name.len() as u32 + 1),
            1 => put_name(value, &name),
            2 => put_any::<u32>(value, 1),
            3 => put_any::<u32>(value, 64),
            4 => put_any::<u32>(value, WAVES_PER_CU),
            5 => put_any::<[bool; 2]>(value, [false, true]),
            6 => put_any::<[bool; 2]>(
                value,
                [!rt.config.gpu.full_profile, rt.config.gpu.full_profile],
            ),
            7 | 8 => put_any::<[bool; 3]>(value, [false, false, true]),
            9 => put_any::<bool>(value, rt.config.gpu.gfx.is_gfx8_up()),
            12 => put_any::<[u16; 3]>(value, [1024; 3]),
            13 => put_any::<u32>(value, 1024),
            14 => put_any::<[u32; 3]>(value, [u32::MAX; 3]),
            16 => put_any::<u64>(value, u64::from(u32::MAX)),
            17 => put_any::<u32>(value, 32),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    }
}
