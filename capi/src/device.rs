//! Devices, and their memory by address.

use std::ffi::{c_char, c_void};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use wavelift::{Device, DeviceOptions, EngineKind, Error};

use crate::foreign::{self, Out, growing};
use crate::handles::{self, wavelift_device};
use crate::result::{Failure, Outcome, guard, wavelift_status};
use crate::version::ENGINES;

/// Flag of `wavelift_device_options`: report accesses outside the exact allocation, and reads of LDS
/// and scratch that were never written. Slow.
pub const WAVELIFT_MEMCHECK: u32 = 1;
/// Flag of `wavelift_device_options`: NaN results of the translator have the payload and sign of the
/// interpreter's.
pub const WAVELIFT_EXACT_NAN: u32 = 2;
/// Flag of `wavelift_device_options`: an instruction that the translator would hand to the interpreter
/// is a fault instead.
pub const WAVELIFT_NO_FALLBACK: u32 = 4;
/// Flag of `wavelift_device_options`: nothing but a launch writes to the memory that it polls. Then a
/// launch that waits for itself ends in a fault after some seconds.
pub const WAVELIFT_DETECT_DEADLOCKS: u32 = 8;

/// Options of a device. All zero but `size` are the defaults.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct wavelift_device_options {
    /// `sizeof(wavelift_device_options)`.
    pub size: usize,
    /// The engine, by name (`wavelift_engine_name`); NULL is the default.
    pub engine: *const c_char,
    /// A folder that keeps translated code for other processes, or NULL. It must be as trustworthy as
    /// the program.
    pub cache: *const c_char,
    /// Time limit of a launch in nanoseconds; 0 is none.
    pub timeout_ns: u64,
    /// Address space that is reserved for the memory of the device, in bytes; 0 is the default.
    pub reserve: u64,
    /// Worker threads; 0 is one for each processor.
    pub threads: u32,
    /// Stack of a work-item in bytes, in addition to the scratch that a kernel states; 0 is the default:
    /// 16 KiB for kernels that declare a dynamic stack, and none for others.
    pub stack_bytes: u32,
    /// Flags: `WAVELIFT_MEMCHECK` and others.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

growing! {
    wavelift_device_options = 56;
}

/// A device, and the caller's memory that is registered with it.
pub(crate) struct DeviceObject {
    pub(crate) device: Device,
    registered: Arc<Mutex<Vec<Range<usize>>>>,
}

/// A range of addresses that no other buffer of the device may register, until it is dropped.
pub(crate) struct Registered {
    of: Arc<Mutex<Vec<Range<usize>>>>,
    range: Range<usize>,
}

fn lock(ranges: &Mutex<Vec<Range<usize>>>) -> MutexGuard<'_, Vec<Range<usize>>> {
    ranges.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceObject {
    /// Claims memory of the caller for a buffer.
    pub(crate) fn claim(&self, range: Range<usize>) -> Outcome<Registered> {
        outside(&self.device, "memory to be registered", &range)?;
        let mut ranges = lock(&self.registered);
        if let Some(other) = ranges
            .iter()
            .find(|other| other.start < range.end && range.start < other.end)
        {
            return Err(Failure::argument(format!(
                "memory from {:#x} to {:#x} is registered already, as a part of {:#x} to {:#x}",
                range.start, range.end, other.start, other.end
            )));
        }
        ranges.push(range.clone());
        Ok(Registered {
            of: self.registered.clone(),
            range,
        })
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        lock(&self.of).retain(|range| *range != self.range);
    }
}

/// Memory of the caller is not that of the device, which kernels may write meanwhile.
pub(crate) fn outside(device: &Device, what: &str, range: &Range<usize>) -> Outcome {
    let memory = device.memory();
    let (base, len) = (memory.arena_base(), memory.arena_len());
    let (start, end) = (range.start as u64, range.end as u64);
    if start < end && start < base.saturating_add(len) && base < end {
        return Err(Failure::argument(format!(
            "{what} at {start:#x} is memory of the device, which only kernels, \
             wavelift_device_read and wavelift_device_write access by address"
        )));
    }
    Ok(())
}

fn options(given: &wavelift_device_options) -> Outcome<DeviceOptions> {
    const FLAGS: u32 =
        WAVELIFT_MEMCHECK | WAVELIFT_EXACT_NAN | WAVELIFT_NO_FALLBACK | WAVELIFT_DETECT_DEADLOCKS;
    let has = |flag| given.flags & flag != 0;
    if given.flags & !FLAGS != 0 || given.reserved != 0 {
        return Err(Failure::argument(format!(
            "wavelift_device_options: the flags are {FLAGS:#x} at most, but {:#x} are given, and \
             reserved is {}, not 0",
            given.flags, given.reserved
        )));
    }
    // SAFETY: the caller vouches for the texts of the structure.
    let engine = unsafe { foreign::optional_text("wavelift_device_options.engine", given.engine) }?;
    // SAFETY: as above.
    let cache = unsafe { foreign::optional_text("wavelift_device_options.cache", given.cache) }?;
    let mut options = DeviceOptions {
        engine: engine.map_or(Ok(EngineKind::default()), engine_kind)?,
        threads: given.threads as usize,
        timeout: (given.timeout_ns != 0).then(|| Duration::from_nanos(given.timeout_ns)),
        memcheck: has(WAVELIFT_MEMCHECK),
        stack_bytes: (given.stack_bytes != 0).then_some(given.stack_bytes),
        detect_deadlocks: has(WAVELIFT_DETECT_DEADLOCKS),
        ..DeviceOptions::default()
    };
    if given.reserve != 0 {
        options.reserve = given.reserve;
    }
    options.engine_options.exact_nan = has(WAVELIFT_EXACT_NAN);
    options.engine_options.no_fallback = has(WAVELIFT_NO_FALLBACK);
    options.engine_options.cache = cache.map(Into::into);
    Ok(options)
}

fn engine_kind(name: &str) -> Outcome<EngineKind> {
    let names = || ENGINES.iter().filter_map(|(name, _)| name.to_str().ok());
    let found = names().zip(ENGINES).find(|(known, _)| *known == name);
    found.map(|(_, (_, kind))| *kind).ok_or_else(|| {
        let names: Vec<_> = names().collect();
        Failure::argument(format!(
            "there is no engine '{name}'; engines of this library are {}",
            names.join(", ")
        ))
    })
}

/// Makes a device. `options` may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_device_create(
    options: *const wavelift_device_options,
    device: *mut wavelift_device,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("device", device) }?;
        let options = match options.is_null() {
            true => DeviceOptions::default(),
            // SAFETY: head of the header.
            false => self::options(&unsafe { foreign::read_growing(options) }?)?,
        };
        out.put(handles::add(DeviceObject {
            device: Device::with_options(options)?,
            registered: Arc::default(),
        }));
        Ok(())
    })
}

/// Ends the handle of a device. Modules, kernels, buffers and streams of it remain valid; the device
/// is freed with the last of them.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_device_destroy(device: wavelift_device) -> wavelift_status {
    guard(|| handles::remove(device).map(drop))
}

/// Copies `bytes` bytes at `address` in the memory of the device, or in registered memory, to `data`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_device_read(
    device: wavelift_device,
    address: u64,
    data: *mut c_void,
    bytes: usize,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(device)?;
        // SAFETY: head of the header.
        let data = unsafe { copy_destination(&object.device, data, address, bytes) }?;
        let read = object.device.memory().read_bytes(address, data);
        Ok(read.map_err(Error::from)?)
    })
}

/// Copies `bytes` bytes from `data` to `address` in the memory of the device, or in registered memory.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_device_write(
    device: wavelift_device,
    address: u64,
    data: *const c_void,
    bytes: usize,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(device)?;
        // SAFETY: head of the header.
        let data = unsafe { copy_source(&object.device, data, address, bytes) }?;
        let written = object.device.memory().write_bytes(address, data);
        Ok(written.map_err(Error::from)?)
    })
}

/// The caller's `bytes` bytes at `data` for a copy to `address`, after a check of both places.
///
/// # Safety
/// As for [`foreign::bytes`].
pub(crate) unsafe fn copy_source<'a>(
    device: &Device,
    data: *const c_void,
    address: u64,
    bytes: usize,
) -> Outcome<&'a [u8]> {
    check_copy(device, data, address, bytes)?;
    // SAFETY: the caller vouches for it.
    unsafe { foreign::bytes("data", data.cast(), bytes) }
}

/// The caller's `bytes` bytes at `data` for a copy from `address`, after a check of both places.
///
/// # Safety
/// As for [`foreign::bytes_mut`].
pub(crate) unsafe fn copy_destination<'a>(
    device: &Device,
    data: *mut c_void,
    address: u64,
    bytes: usize,
) -> Outcome<&'a mut [u8]> {
    check_copy(device, data, address, bytes)?;
    // SAFETY: the caller vouches for it.
    unsafe { foreign::bytes_mut("data", data.cast(), bytes) }
}

/// Checks the two places of a copy: `bytes` bytes at `data`, which are the caller's, and at `address`.
fn check_copy(device: &Device, data: *const c_void, address: u64, bytes: usize) -> Outcome {
    foreign::check_array("data", data.cast::<u8>(), bytes)?;
    let range = data.addr()..data.addr().saturating_add(bytes);
    outside(device, "data", &range)?;
    let (start, end) = (range.start as u64, range.end as u64);
    if start < address.saturating_add(bytes as u64) && address < end {
        return Err(Failure::argument(format!(
            "data at {start:#x} overlaps the {bytes} bytes at {address:#x} of the copy"
        )));
    }
    Ok(())
}
