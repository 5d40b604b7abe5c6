//! The types and numbers of the HSA interface, as `hsa.h`, `hsa_ext_amd.h` and `amd_hsa_*.h` lay them
//! down.

use std::ffi::c_void;

/// The status that a function returns.
pub type RawStatus = u32;

/// A status other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub RawStatus);

/// Result of functions inside this crate.
pub type Outcome<T = ()> = Result<T, Status>;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $value:literal, $text:literal;)*) => {
        impl Status {
            $($(#[$doc])* pub const $name: Status = Status($value);)*
        }

        /// The text of `hsa_status_string`.
        pub fn status_text(status: RawStatus) -> Option<&'static std::ffi::CStr> {
            Some(match status {
                0 => c"HSA_STATUS_SUCCESS: The function has been executed successfully.",
                1 => c"HSA_STATUS_INFO_BREAK: A traversal over a list of elements has been interrupted.",
                $($value => $text,)*
                _ => return None,
            })
        }
    };
}

statuses! {
    /// A generic error.
    ERROR = 0x1000, c"HSA_STATUS_ERROR: A generic error has occurred.";
    /// An argument is wrong.
    INVALID_ARGUMENT = 0x1001, c"HSA_STATUS_ERROR_INVALID_ARGUMENT: One of the actual arguments does not meet a precondition stated in the documentation of the corresponding formal argument.";
    /// A queue cannot be made.
    INVALID_QUEUE_CREATION = 0x1002, c"HSA_STATUS_ERROR_INVALID_QUEUE_CREATION: The requested queue creation is not valid.";
    /// A size or an address is wrong.
    INVALID_ALLOCATION = 0x1003, c"HSA_STATUS_ERROR_INVALID_ALLOCATION: The requested allocation is not valid.";
    /// No such agent.
    INVALID_AGENT = 0x1004, c"HSA_STATUS_ERROR_INVALID_AGENT: The agent is invalid.";
    /// No such region.
    INVALID_REGION = 0x1005, c"HSA_STATUS_ERROR_INVALID_REGION: The memory region is invalid.";
    /// No such signal.
    INVALID_SIGNAL = 0x1006, c"HSA_STATUS_ERROR_INVALID_SIGNAL: The signal is invalid.";
    /// No such queue.
    INVALID_QUEUE = 0x1007, c"HSA_STATUS_ERROR_INVALID_QUEUE: The queue is invalid.";
    /// Nothing left.
    OUT_OF_RESOURCES = 0x1008, c"HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate the necessary resources.";
    /// A packet is wrong.
    INVALID_PACKET_FORMAT = 0x1009, c"HSA_STATUS_ERROR_INVALID_PACKET_FORMAT: The AQL packet is malformed.";
    /// `hsa_init` was not called.
    NOT_INITIALIZED = 0x100b, c"HSA_STATUS_ERROR_NOT_INITIALIZED: An API other than hsa_init has been invoked while the reference count of the HSA runtime is 0.";
    /// `hsa_init` was called too often.
    REFCOUNT_OVERFLOW = 0x100c, c"HSA_STATUS_ERROR_REFCOUNT_OVERFLOW: The maximum reference count for the object has been reached.";
    /// Things that do not belong together.
    INCOMPATIBLE_ARGUMENTS = 0x100d, c"HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS: The arguments passed to a functions are not compatible.";
    /// A number out of range.
    INVALID_INDEX = 0x100e, c"HSA_STATUS_ERROR_INVALID_INDEX: The index is invalid.";
    /// No such instruction set.
    INVALID_ISA = 0x100f, c"HSA_STATUS_ERROR_INVALID_ISA: The instruction set architecture is invalid.";
    /// No code object.
    INVALID_CODE_OBJECT = 0x1010, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT: The code object is invalid.";
    /// No such executable.
    INVALID_EXECUTABLE = 0x1011, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE: The executable is invalid.";
    /// The executable is frozen.
    FROZEN_EXECUTABLE = 0x1012, c"HSA_STATUS_ERROR_FROZEN_EXECUTABLE: The executable is frozen.";
    /// No symbol of that name.
    INVALID_SYMBOL_NAME = 0x1013, c"HSA_STATUS_ERROR_INVALID_SYMBOL_NAME: There is no symbol with the given name.";
    /// A variable has a definition already.
    VARIABLE_ALREADY_DEFINED = 0x1014, c"HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED: The variable is already defined.";
    /// A variable has no definition.
    VARIABLE_UNDEFINED = 0x1015, c"HSA_STATUS_ERROR_VARIABLE_UNDEFINED: The variable is undefined.";
    /// A kernel stopped at a trap.
    EXCEPTION = 0x1016, c"HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.";
    /// No such instruction set.
    INVALID_ISA_NAME = 0x1017, c"HSA_STATUS_ERROR_INVALID_ISA_NAME: The instruction set architecture name is invalid.";
    /// No such symbol.
    INVALID_CODE_SYMBOL = 0x1018, c"HSA_STATUS_ERROR_INVALID_CODE_SYMBOL: The code object symbol is invalid.";
    /// No such symbol.
    INVALID_EXECUTABLE_SYMBOL = 0x1019, c"HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL: The executable symbol is invalid.";
    /// A file cannot be read.
    INVALID_FILE = 0x1020, c"HSA_STATUS_ERROR_INVALID_FILE: The file descriptor is invalid.";
    /// No such reader.
    INVALID_CODE_OBJECT_READER = 0x1021, c"HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER: The code object reader is invalid.";
    /// No such cache.
    INVALID_CACHE = 0x1022, c"HSA_STATUS_ERROR_INVALID_CACHE: The cache is invalid.";
    /// No such wavefront.
    INVALID_WAVEFRONT = 0x1023, c"HSA_STATUS_ERROR_INVALID_WAVEFRONT: The wavefront is invalid.";
    /// No such group of signals.
    INVALID_SIGNAL_GROUP = 0x1024, c"HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP: The signal group is invalid.";
    /// Wrong time for this.
    INVALID_RUNTIME_STATE = 0x1025, c"HSA_STATUS_ERROR_INVALID_RUNTIME_STATE: The HSA runtime is not in the configuration state.";
    /// The runtime itself is wrong.
    FATAL = 0x1026, c"HSA_STATUS_ERROR_FATAL: The queue received an error that may require process termination.";
    /// No such memory pool.
    INVALID_MEMORY_POOL = 40, c"HSA_STATUS_ERROR_INVALID_MEMORY_POOL: The memory pool is invalid.";
    /// LDS or scratch was left.
    MEMORY_APERTURE_VIOLATION = 41, c"HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address.";
    /// A kernel ran into something that is no instruction.
    ILLEGAL_INSTRUCTION = 42, c"HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction.";
    /// A kernel left its memory.
    MEMORY_FAULT = 43, c"HSA_STATUS_ERROR_MEMORY_FAULT: The agent attempted to access an inaccessible address.";
    /// A resource is still in use.
    RESOURCE_FREE = 0x100a, c"HSA_STATUS_ERROR_RESOURCE_FREE: An error has been detected while releasing a resource.";
    /// A queue got fewer compute units than its mask has.
    CU_MASK_REDUCED = 44, c"HSA_STATUS_CU_MASK_REDUCED: The requested mask has compute units that the agent lacks.";
    /// No image has such texels.
    IMAGE_FORMAT_UNSUPPORTED = 0x3000, c"HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED: Image format is not supported.";
    /// No image is as large.
    IMAGE_SIZE_UNSUPPORTED = 0x3001, c"HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED: Image size is not supported.";
    /// No image has such rows or slices.
    IMAGE_PITCH_UNSUPPORTED = 0x3002, c"HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED: Image pitch is not supported or invalid.";
    /// No sampler is like that.
    SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003, c"HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED: Sampler descriptor is not supported or invalid.";
}

/// Ends an iteration early.
pub const INFO_BREAK: RawStatus = 1;

/// A handle of any kind.
pub type Handle = u64;

/// `hsa_queue_t`: the part of a queue that programs may read.
#[repr(C)]
#[derive(Debug)]
pub struct QueueHead {
    /// 0 several producers, 1 one producer.
    pub kind: u32,
    /// 1 kernel dispatch.
    pub features: u32,
    /// The ring of packets.
    pub base_address: *mut c_void,
    /// Signal to store the index of the newest packet in.
    pub doorbell_signal: Handle,
    /// Packets in the ring.
    pub size: u32,
    /// Nothing.
    pub reserved1: u32,
    /// Number of the queue.
    pub id: u64,
}

/// Offsets in `amd_queue_t`.
pub mod queue_at {
    /// `hsa_queue.type`; features follow.
    pub const TYPE: u64 = 0;
    /// `hsa_queue.features`.
    pub const FEATURES: u64 = 4;
    /// `hsa_queue.base_address`.
    pub const BASE: u64 = 8;
    /// `hsa_queue.doorbell_signal`.
    pub const DOORBELL: u64 = 16;
    /// `hsa_queue.size`.
    pub const SIZE: u64 = 24;
    /// `hsa_queue.id`.
    pub const ID: u64 = 32;
    /// `write_dispatch_id`.
    pub const WRITE_INDEX: u64 = 0x38;
    /// `group_segment_aperture_base_hi`.
    pub const GROUP_APERTURE: u64 = 0x40;
    /// `private_segment_aperture_base_hi`.
    pub const PRIVATE_APERTURE: u64 = 0x44;
    /// `max_cu_id`, followed by `max_wave_id`.
    pub const MAX_CU: u64 = 0x48;
    /// `read_dispatch_id`.
    pub const READ_INDEX: u64 = 0x80;
    /// `read_dispatch_id_field_base_byte_offset`.
    pub const READ_INDEX_OFFSET: u64 = 0x88;
    /// `queue_properties`.
    pub const PROPERTIES: u64 = 0xb4;
    /// Size of the structure.
    pub const BYTES: u64 = 256;
}

/// Offsets in `amd_signal_t`.
pub mod signal_at {
    /// `kind`.
    pub const KIND: u64 = 0;
    /// `value`.
    pub const VALUE: u64 = 8;
    /// `event_mailbox_ptr`.
    pub const MAILBOX: u64 = 16;
    /// `start_ts`.
    pub const START: u64 = 32;
    /// `end_ts`.
    pub const END: u64 = 40;
    /// `queue_ptr`.
    pub const QUEUE: u64 = 48;
    /// Size of the structure.
    pub const BYTES: u64 = 64;
}

/// Packet types: the low byte of the header.
pub mod packet {
    /// AMD's own.
    pub const VENDOR: u8 = 0;
    /// Nothing yet.
    pub const INVALID: u8 = 1;
    /// A kernel.
    pub const KERNEL: u8 = 2;
    /// Wait for all.
    pub const BARRIER_AND: u8 = 3;
    /// Wait for one.
    pub const BARRIER_OR: u8 = 5;
    /// AMD's format: wait for a value.
    pub const AMD_BARRIER_VALUE: u8 = 2;
    /// Size of a packet.
    pub const BYTES: u64 = 64;
}

/// `hsa_dim3_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Dim3 {
    /// First dimension.
    pub x: u32,
    /// Second dimension.
    pub y: u32,
    /// Third dimension.
    pub z: u32,
}

/// `hsa_ext_image_format_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageFormat {
    /// Size and meaning of a component (`hsa_ext_image_channel_type_t`).
    pub kind: u32,
    /// Which components there are, in which order (`hsa_ext_image_channel_order_t`).
    pub order: u32,
}

/// `hsa_ext_image_descriptor_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageGeometry {
    /// 0 to 7: 1D, 2D, 3D, 1D array, 2D array, 1D as a buffer, 2D depth, 2D array depth.
    pub geometry: u32,
    /// Columns.
    pub width: usize,
    /// Rows, where there are.
    pub height: usize,
    /// Slices, where there are.
    pub depth: usize,
    /// Layers, where there are.
    pub array_size: usize,
    /// Texels.
    pub format: ImageFormat,
}

/// `hsa_ext_image_data_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageDataInfo {
    /// Bytes.
    pub size: usize,
    /// The first byte's address is a multiple of this.
    pub alignment: usize,
}

/// `hsa_ext_image_region_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageRegion {
    /// First texel.
    pub offset: Dim3,
    /// Texels, rows, slices or layers.
    pub range: Dim3,
}

/// `hsa_ext_sampler_descriptor_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplerMode {
    /// 0 texels, 1 from 0 to 1.
    pub coordinates: u32,
    /// 0 nearest, 1 linear.
    pub filter: u32,
    /// 0 undefined, 1 edge, 2 border, 3 repeat, 4 mirrored.
    pub outside: u32,
}

/// `hsa_ext_sampler_descriptor_v2_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SamplerModes {
    /// As in [`SamplerMode`].
    pub coordinates: u32,
    /// As in [`SamplerMode`].
    pub filter: u32,
    /// Of x, y and z.
    pub outside: [u32; 3],
}

/// `hsa_amd_image_descriptor_t` in version 1 from AMD.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AmdImageDescriptor {
    /// 1.
    pub version: u32,
    /// The vendor in the upper half, the device in the lower.
    pub device: u32,
    /// T#.
    pub words: [u32; 8],
}

/// `hsa_pitched_ptr_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PitchedPtr {
    /// First byte.
    pub base: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}

/// `hsa_amd_pointer_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct PointerInfo {
    /// Size of the structure in the caller's version.
    pub size: u32,
    /// 0 unknown, 1 allocated, 2 locked, 3 another driver's, 4 another process's.
    pub kind: u32,
    /// First byte for agents.
    pub agent_base: *mut c_void,
    /// First byte for the host.
    pub host_base: *mut c_void,
    /// Size of the allocation.
    pub bytes: usize,
    /// User data attached by the program.
    pub user_data: *mut c_void,
    /// Owner of the memory.
    pub owner: Handle,
    /// Flags of the pool.
    pub global_flags: u32,
}

/// `hsa_amd_memory_access_desc_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryAccess {
    /// `hsa_access_permission_t`: 0 none, 1 read, 2 write, 3 both.
    pub permissions: u32,
    /// The agent.
    pub agent: Handle,
}

/// `hsa_amd_svm_attribute_pair_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SvmAttribute {
    /// `hsa_amd_svm_attribute_t`.
    pub attribute: u64,
    /// Its value.
    pub value: u64,
}

/// `hsa_amd_ipc_memory_t`.
pub type IpcHandle = [u32; 8];

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// When it began, in ticks.
    pub start: u64,
    /// When it ended.
    pub end: u64,
}

/// `hsa_amd_memory_pool_link_info_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct LinkInfo {
    /// Nanoseconds.
    pub min_latency: u32,
    /// Nanoseconds.
    pub max_latency: u32,
    /// MB/s.
    pub min_bandwidth: u32,
    /// MB/s.
    pub max_bandwidth: u32,
    /// 32-bit atomics work over it.
    pub atomic_32: bool,
    /// 64-bit atomics work over it.
    pub atomic_64: bool,
    /// It is coherent.
    pub coherent: bool,
    /// 2 PCIe.
    pub link_type: u32,
    /// Distance.
    pub numa_distance: u32,
}

/// `hsa_amd_event_t` of a memory fault.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct MemoryFaultEvent {
    /// 0 memory fault.
    pub event_type: u32,
    /// The agent.
    pub agent: Handle,
    /// Address.
    pub address: u64,
    /// Reasons, bits.
    pub reason: u32,
}

/// Callback of an iteration for each handle, with the program's data; a status other than success
/// ends it.
pub type Visit = unsafe extern "C" fn(Handle, *mut c_void) -> RawStatus;

/// A queue's error callback.
pub type QueueCallback = unsafe extern "C" fn(RawStatus, *mut QueueHead, *mut c_void);

/// A handler of a signal's value; true keeps it registered.
pub type SignalHandler = unsafe extern "C" fn(i64, *mut c_void) -> bool;

/// A handler of system events.
pub type EventHandler = unsafe extern "C" fn(*const MemoryFaultEvent, *mut c_void) -> RawStatus;

/// A handler of the end of an allocation.
pub type FreeHandler = unsafe extern "C" fn(*mut c_void, *mut c_void);
