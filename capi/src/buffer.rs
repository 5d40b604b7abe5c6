//! Buffers: memory of the device, and memory of the caller.

use std::ffi::c_void;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use wavelift::{Arg, Buffer, Device, HostRange};

use crate::device::{Registered, copy_destination, copy_source};
use crate::foreign::{self, Out};
use crate::handles::{self, wavelift_buffer, wavelift_device};
use crate::result::{Failure, Outcome, guard, wavelift_status};

/// A buffer with its device.
pub(crate) struct BufferObject {
    device: Device,
    place: Place,
}

enum Place {
    Own(Buffer),
    Host(Mutex<Host>),
}

/// Memory of the caller.
struct Host {
    range: HostRange,
    /// `None` when the memory was given back.
    registered: Option<Registered>,
}

fn lock(host: &Mutex<Host>) -> MutexGuard<'_, Host> {
    host.lock().unwrap_or_else(PoisonError::into_inner)
}

impl BufferObject {
    /// The address of the byte at `offset` as an argument.
    pub(crate) fn at(&self, offset: u64) -> Outcome<Arg> {
        Ok(match &self.place {
            Place::Own(buffer) => buffer.at(offset)?,
            Place::Host(host) => lock(host).range.at(offset)?,
        })
    }

    fn address(&self) -> u64 {
        match &self.place {
            Place::Own(buffer) => buffer.address(),
            Place::Host(host) => lock(host).range.address(),
        }
    }

    fn len(&self) -> u64 {
        match &self.place {
            Place::Own(buffer) => buffer.len(),
            Place::Host(host) => lock(host).range.len() as u64,
        }
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> Outcome {
        let done = match &self.place {
            Place::Own(buffer) => buffer.read_bytes(offset, data),
            Place::Host(host) => lock(host).range.read_bytes(offset, data),
        };
        Ok(done?)
    }

    fn write(&self, offset: u64, data: &[u8]) -> Outcome {
        let done = match &self.place {
            Place::Own(buffer) => buffer.write_bytes(offset, data),
            Place::Host(host) => lock(host).range.write_bytes(offset, data),
        };
        Ok(done?)
    }
}

/// Makes a buffer of `bytes` bytes in the memory of the device, with the contents of `data`, or of zeros
/// if `data` is NULL. It is aligned to 256 bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_buffer_create(
    device: wavelift_device,
    data: *const c_void,
    bytes: usize,
    buffer: *mut wavelift_buffer,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("buffer", buffer) }?;
        let device = handles::get(device)?.device.clone();
        let buffer = device.alloc(bytes as u64)?;
        if !data.is_null() {
            // SAFETY: head of the header.
            let data = unsafe { copy_source(&device, data, buffer.address(), bytes) }?;
            buffer.write_bytes(0, data)?;
        }
        let place = Place::Own(buffer);
        out.put(handles::add(BufferObject { device, place }));
        Ok(())
    })
}

/// Makes a buffer of the caller's `bytes` bytes at `memory`, which kernels access in place at the same
/// address, without a copy. Until `wavelift_buffer_destroy` has returned the memory must stay valid for
/// reads and writes, and the program accesses it only while no kernel does. Memory that is registered
/// with the device already is refused. The end of the buffer is exact: a kernel that reads the last
/// bytes as a whole dword needs a multiple of four bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_buffer_register(
    device: wavelift_device,
    memory: *mut c_void,
    bytes: usize,
    buffer: *mut wavelift_buffer,
) -> wavelift_status {
    guard(|| {
        // SAFETY: head of the header.
        let out = unsafe { Out::new("buffer", buffer) }?;
        let object = handles::get(device)?;
        let end = memory.addr().checked_add(bytes);
        let Some(end) = end.filter(|_| !memory.is_null() && bytes != 0) else {
            return Err(Failure::argument(format!(
                "there are no {bytes} bytes of memory at {memory:p} to be registered"
            )));
        };
        let registered = object.claim(memory.addr()..end)?;
        // SAFETY: the caller vouches for the memory; it overlaps no other, since `claim` has
        // succeeded. `wavelift_buffer_destroy` unregisters it before it gives it back.
        let range = unsafe { object.device.register_raw(memory.cast(), bytes) };
        let host = Host {
            range,
            registered: Some(registered),
        };
        out.put(handles::add(BufferObject {
            device: object.device.clone(),
            place: Place::Host(Mutex::new(host)),
        }));
        Ok(())
    })
}

/// Ends a buffer. Memory of the device is freed with the last launch that has it as an argument. For
/// memory of the caller, waits for all launches on the device that have begun or are queued; then
/// nothing accesses the memory any more.
#[unsafe(no_mangle)]
pub extern "C" fn wavelift_buffer_destroy(buffer: wavelift_buffer) -> wavelift_status {
    guard(|| {
        let object: Option<Arc<BufferObject>> = handles::remove(buffer)?;
        if let Some(BufferObject {
            place: Place::Host(host),
            ..
        }) = object.as_deref()
        {
            let mut host = lock(host);
            host.range.unregister()?;
            // Not with the last use of the object: other threads may look at it meanwhile.
            host.registered = None;
        }
        Ok(())
    })
}

/// Address and size in bytes of a buffer, for kernels. Either may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_buffer_info(
    buffer: wavelift_buffer,
    address: *mut u64,
    bytes: *mut u64,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(buffer)?;
        // SAFETY: head of the header.
        unsafe { foreign::give_optional(address, || object.address()) };
        // SAFETY: head of the header.
        unsafe { foreign::give_optional(bytes, || object.len()) };
        Ok(())
    })
}

/// Copies `bytes` bytes of a buffer, from byte `offset` on, to `data`. Does not wait for launches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_buffer_read(
    buffer: wavelift_buffer,
    offset: u64,
    data: *mut c_void,
    bytes: usize,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(buffer)?;
        let address = object.address().saturating_add(offset);
        // SAFETY: head of the header.
        let data = unsafe { copy_destination(&object.device, data, address, bytes) }?;
        object.read(offset, data)
    })
}

/// Copies `bytes` bytes from `data` to a buffer, from byte `offset` on. Does not wait for launches.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wavelift_buffer_write(
    buffer: wavelift_buffer,
    offset: u64,
    data: *const c_void,
    bytes: usize,
) -> wavelift_status {
    guard(|| {
        let object = handles::get(buffer)?;
        let address = object.address().saturating_add(offset);
        // SAFETY: head of the header.
        let data = unsafe { copy_source(&object.device, data, address, bytes) }?;
        object.write(offset, data)
    })
}
