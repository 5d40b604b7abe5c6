//! Arguments and launches.

use std::ffi::c_void;
use std::ptr;
use std::time::Duration;

use wavelift::{Arg, Launch, Settings, Size, Stats};

use crate::foreign::{self, GrowingOut, growing};
use crate::handles::{self, wavelift_buffer, wavelift_cancel_token, wavelift_kernel};
use crate::module::KernelObject;
use crate::result::{Failure, Outcome, guard, wavelift_status};

/// Flag of `wavelift_launch_options`: count instructions for `wavelift_stats`. Slower.
pub const WAVELIFT_COUNT: u32 = 1;

/// How a launch is made. All zero but `size` and `grid` are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_launch_options {
    /// `sizeof(wavelift_launch_options)`.
    pub size: usize,
    /// Work-items in each dimension (not workgroups). Zeros at the end are dimensions that the launch
    /// does not have.
    pub grid: [u32; 3],
    /// Work-items of a workgroup in each dimension; 0 is 1. The last workgroup of a dimension may be
    /// partial.
    pub block: [u32; 3],
    /// The first global id in each dimension, as OpenCL's global work offset.
    pub global_offset: [u64; 3],
    /// Time limit in nanoseconds; 0 is that of the device.
    pub timeout_ns: u64,
    /// Stops the launch when it is cancelled; `{0}` for none.
    pub cancel: wavelift_cancel_token,
    /// Bytes of LDS in addition to those of the kernel and of its arguments.
    pub dynamic_lds: u32,
    /// Flags: 0 or `WAVELIFT_COUNT`.
    pub flags: u32,
}

/// What a launch did.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_stats {
    /// `sizeof(wavelift_stats)`.
    pub size: usize,
    /// Workgroups that ran.
    pub workgroups: u64,
    /// Waves that ran.
    pub waves: u64,
    /// Instructions that waves executed; 0 without `WAVELIFT_COUNT`.
    pub instructions: u64,
    /// The same, each counted once for every active lane (scalar instructions once).
    pub lane_instructions: u64,
    /// Regions of code that were translated.
    pub regions_translated: u64,
    /// Instructions in them.
    pub instructions_translated: u64,
    /// Executions of instructions that the translator handed to the interpreter.
    pub fallbacks: u64,
    /// Seconds of translation.
    pub translate_seconds: f64,
    /// Seconds from the first wave's start to the last one's end, translation included.
    pub execute_seconds: f64,
}

growing! {
    wavelift_launch_options = 80;
    wavelift_stats = 80;
}

impl From<&Stats> for wavelift_stats {
    fn from(stats: &Stats) -> wavelift_stats {
        wavelift_stats {
            size: 0,
            workgroups: stats.workgroups,
            waves: stats.waves,
            instructions: stats.instructions,
            lane_instructions: stats.lane_instructions,
            regions_translated: stats.regions_translated,
            instructions_translated: stats.instructions_translated,
            fallbacks: stats.fallbacks,
            translate_seconds: stats.translate_seconds,
            execute_seconds: stats.execute_seconds,
        }
    }
}

/// Kind of an argument: `kind` of `wavelift_arg`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum wavelift_arg_kind {
    /// The address of byte `value` of `buffer`. The launch keeps the buffer.
    WAVELIFT_ARG_BUFFER = 1,
    /// The first `bytes` bytes of `value`: a number of 1 to 8 bytes.
    WAVELIFT_ARG_NUMBER = 2,
    /// The `bytes` bytes at `data`: an array or a structure by value.
    WAVELIFT_ARG_BYTES = 3,
    /// The address `value`. Nothing keeps the memory there.
    WAVELIFT_ARG_POINTER = 4,
    /// A pointer to `value` bytes of LDS.
    WAVELIFT_ARG_LOCAL = 5,
    /// The whole kernarg segment, `bytes` bytes at `data`, hidden arguments included. It is the only
    /// argument; addresses in it keep nothing.
    WAVELIFT_ARG_SEGMENT = 6,
}

use wavelift_arg_kind::*;

/// An argument of a launch. The functions `wavelift_arg_...` make them.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_arg {
    /// A `wavelift_arg_kind`.
    pub kind: u32,
    /// Zero.
    pub reserved: u32,
    /// The buffer.
    pub buffer: wavelift_buffer,
    /// The number, the offset, the address or the size.
    pub value: u64,
    /// The bytes. They are copied by the launch.
    pub data: *const c_void,
    /// Number of bytes.
    pub bytes: usize,
}

impl wavelift_arg {
    fn new(kind: wavelift_arg_kind) -> wavelift_arg {
        wavelift_arg {
            kind: kind as u32,
            reserved: 0,
            buffer: wavelift_buffer::default(),
            value: 0,
            data: ptr::null(),
            bytes: 0,
        }
    }

    fn number(value: u64, bytes: usize) -> wavelift_arg {
        wavelift_arg {
            value,
            bytes,
            ..wavelift_arg::new(WAVELIFT_ARG_NUMBER)
        }
    }

    /// # Safety
    /// `data` must be null or valid for reads of `bytes` bytes, for arguments with data.
    unsafe fn get(&self) -> Outcome<Arg> {
        if self.reserved != 0 {
            return Err(Failure::argument(format!(
                "reserved is {}, not 0",
                self.reserved
            )));
        }
        let data = || {
            // SAFETY: the caller vouches for it.
            unsafe { foreign::bytes("data", self.data.cast(), self.bytes) }
        };
        let kinds = [
            WAVELIFT_ARG_BUFFER,
            WAVELIFT_ARG_NUMBER,
            WAVELIFT_ARG_BYTES,
            WAVELIFT_ARG_POINTER,
            WAVELIFT_ARG_LOCAL,
            WAVELIFT_ARG_SEGMENT,
        ];
        let Some(kind) = kinds.into_iter().find(|&kind| kind as u32 == self.kind) else {
            return Err(Failure::argument(format!(
                "there is no kind {} of arguments",
                self.kind
            )));
        };
        Ok(match kind {
            WAVELIFT_ARG_BUFFER => handles::get(self.buffer)?.at(self.value)?,
            WAVELIFT_ARG_NUMBER => {
                let number = self.value.to_le_bytes();
                let Some(bytes) = number.get(..self.bytes).filter(|bytes| !bytes.is_empty()) else {
                    return Err(Failure::argument(format!(
                        "a number has 1 to 8 bytes, not {}",
                        self.bytes
                    )));
                };
                Arg::Bytes(bytes.to_vec())
            }
            WAVELIFT_ARG_BYTES => Arg::Bytes(data()?.to_vec()),
            WAVELIFT_ARG_POINTER => Arg::Pointer(self.value),
            WAVELIFT_ARG_LOCAL => Arg::Local(u32::try_from(self.value).map_err(|_| {
                Failure::argument(format!("no workgroup has {} bytes of LDS", self.value))
            })?),
            WAVELIFT_ARG_SEGMENT => Arg::Segment(data()?.to_vec()),
        })
    }
}

/// The arguments of a launch.
///
/// # Safety
/// `args` must be null or valid for reads of `count` arguments, whose data are valid for reads.
pub(crate) unsafe fn arguments(args: *const wavelift_arg, count: usize) -> Outcome<Vec<Arg>> {
    // SAFETY: the caller vouches for it.
    let args = unsafe { foreign::array("args", args, count) }?;
    args.iter()
        .enumerate()
        .map(|(index, arg)| {
            // SAFETY: the caller vouches for it.
            unsafe { arg.get() }.map_err(|failure| failure.about(&format!("argument {index}")))
        })
        .collect()
}

/// Grid and settings of a launch.
///
/// # Safety
/// `options` must be null, or valid for reads of the size that it begins with.
pub(crate) unsafe fn resolve(
    kernel: &KernelObject,
    options: *const wavelift_launch_options,
) -> Outcome<(Launch, Settings<'static>)> {
    // SAFETY: the caller vouches for it.
    let options = unsafe { foreign::read_growing(options) }?;
    if options.flags & !WAVELIFT_COUNT != 0 {
        return Err(Failure::argument(format!(
            "wavelift_launch_options: the flags are {WAVELIFT_COUNT:#x} at most, but {:#x} are given",
            options.flags
        )));
    }
    let dims = options.grid.iter().rposition(|&size| size != 0);
    let grid = &options.grid[..dims.map_or(1, |last| last + 1)];
    let size = |sizes: &[u32]| {
        Size::from_slice(sizes).ok_or_else(|| Failure::argument("a grid of no dimensions"))
    };
    let block = options.block.map(|size| size.max(1));
    let launch = Launch::new(size(grid)?, size(&block)?)
        .global_offset(options.global_offset)
        .dynamic_lds(options.dynamic_lds);
    let mut settings = kernel.kernel.device().settings();
    settings.counting = options.flags & WAVELIFT_COUNT != 0;
    if options.timeout_ns != 0 {
        settings.timeout = Some(Duration::from_nanos(options.timeout_ns));
    }
    if options.cancel != wavelift_cancel_token::default() {
        settings.cancel = Some((*handles::get(options.cancel)?).clone());
    }
    Ok((launch, settings))
}

/// Runs a kernel and waits for its end. `stats` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_launch(
    kernel: wavelift_kernel,
    options: *const wavelift_launch_options,
    args: *const wavelift_arg,
    count: usize,
    stats: *mut wavelift_stats,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { GrowingOut::optional(stats) }?;
        let object = handles::get(kernel)?;
        // SAFETY: head of the header.
        let (launch, settings) = unsafe { resolve(&object, options) }?;
        // SAFETY: head of the header.
        let args = unsafe { arguments(args, count) }?;
        let device = object.kernel.device();
        let stats = device.launch_with(&object.kernel, &launch, &args, &settings)?;
        if let Some(out) = out {
            out.put((&stats).into());
        }
        Ok(())
    })
}

/// A pointer to the beginning of a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_buffer(buffer: wavelift_buffer) -> wavelift_arg {
    wavelift_arg_buffer_at(buffer, 0)
}

/// A pointer to a byte of a buffer. The offset may be the size: then nothing is left behind it.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_buffer_at(buffer: wavelift_buffer, offset: u64) -> wavelift_arg {
    wavelift_arg {
        buffer,
        value: offset,
        ..wavelift_arg::new(WAVELIFT_ARG_BUFFER)
    }
}

/// A number of 32 bits with a sign.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_i32(value: i32) -> wavelift_arg {
    wavelift_arg_u32(value as u32)
}

/// A number of 32 bits.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_u32(value: u32) -> wavelift_arg {
    wavelift_arg::number(value.into(), 4)
}

/// A number of 64 bits with a sign.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_i64(value: i64) -> wavelift_arg {
    wavelift_arg_u64(value as u64)
}

/// A number of 64 bits.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_u64(value: u64) -> wavelift_arg {
    wavelift_arg::number(value, 8)
}

/// A `float`.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_f32(value: f32) -> wavelift_arg {
    wavelift_arg_u32(value.to_bits())
}

/// A `double`.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_f64(value: f64) -> wavelift_arg {
    wavelift_arg_u64(value.to_bits())
}

/// A value of another type, such as a structure: its `bytes` bytes at `data`. The launch copies them.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_bytes(data: *const c_void, bytes: usize) -> wavelift_arg {
    wavelift_arg {
        data,
        bytes,
        ..wavelift_arg::new(WAVELIFT_ARG_BYTES)
    }
}

/// An address as kernels see it. Nothing keeps the memory there.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_pointer(address: u64) -> wavelift_arg {
    wavelift_arg {
        value: address,
        ..wavelift_arg::new(WAVELIFT_ARG_POINTER)
    }
}

/// A pointer to that many bytes of LDS.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_local(bytes: u32) -> wavelift_arg {
    wavelift_arg {
        value: bytes.into(),
        ..wavelift_arg::new(WAVELIFT_ARG_LOCAL)
    }
}

/// The whole kernarg segment, hidden arguments included, as the only argument. The launch copies it;
/// addresses in it keep no buffer.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_arg_segment(data: *const c_void, bytes: usize) -> wavelift_arg {
    wavelift_arg {
        data,
        bytes,
        ..wavelift_arg::new(WAVELIFT_ARG_SEGMENT)
    }
}
