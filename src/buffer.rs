//! Buffers in a device's memory.

use std::fmt;
use std::sync::Arc;

use bytemuck::Pod;
use runtime::memory::Purpose;

use crate::arg::{Arg, Owner};
use crate::device::Device;
use crate::error::Error;
use crate::module::Module;

// Elements and structures are copied as they lie in the host's memory.
const _: () = assert!(
    cfg!(target_endian = "little"),
    "guests are little-endian; the library needs a little-endian host"
);

/// A type of elements of buffers: each type without padding whose every bit pattern is a value
/// ([`bytemuck::Pod`]), such as integers, floats, [`f16`](half::f16), arrays of these, and
/// structures that derive it.
///
/// ```
/// use wavelift::{Device, Element};
///
/// fn sum<T: Element + std::iter::Sum>(data: &[T]) -> Result<T, wavelift::Error> {
///     let buffer = Device::new()?.buffer(data)?;
///     Ok(buffer.read::<T>()?.into_iter().sum())
/// }
/// assert_eq!(sum(&[1.5f32, 2.5])?, 4.0);
/// # Ok::<(), wavelift::Error>(())
/// ```
pub trait Element: Pod {}

impl<T: Pod> Element for T {}

/// Memory on a device. Cheap to clone; clones are the same memory. It is freed with the last clone
/// and the last [`Arg`] made from it; a launch on a [`Stream`](crate::Stream) has such arguments
/// until it ends.
///
/// ```
/// # fn main() -> Result<(), wavelift::Error> {
/// let device = wavelift::Device::new()?;
/// let buffer = device.buffer(&[1u32, 2, 3, 4])?;
/// buffer.write_at(8, &[30u32])?;
/// assert_eq!(buffer.read::<u32>()?, [1, 2, 30, 4]);
/// assert_eq!(buffer.read_at::<u16>(8, 2)?, [30, 0]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Buffer(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) device: Device,
    address: u64,
    len: u64,
    /// The module whose image it is, which frees the memory.
    image_of: Option<Module>,
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {:#x})", self.len(), self.address())
    }
}

impl Buffer {
    /// Allocates `len` bytes of zeros.
    pub(crate) fn new(device: &Device, len: u64) -> Result<Buffer, Error> {
        let memory = &device.0.memory;
        let address = memory.alloc_for(Purpose::Buffer, len, 256)?;
        Ok(Buffer::of(device, address, len, None))
    }

    /// Allocates `len` bytes of zeros at an address.
    pub(crate) fn new_at(device: &Device, address: u64, len: u64) -> Result<Buffer, Error> {
        device.0.memory.alloc_at(Purpose::Data, address, len)?;
        Ok(Buffer::of(device, address, len, None))
    }

    /// The memory of a code object.
    pub(crate) fn of_image(module: &Module) -> Buffer {
        let code = module.code();
        let module_of = Some(module.clone());
        Buffer::of(module.device(), code.base(), code.image_len(), module_of)
    }

    fn of(device: &Device, address: u64, len: u64, image_of: Option<Module>) -> Buffer {
        Buffer(Arc::new(Inner {
            device: device.clone(),
            address,
            len,
            image_of,
        }))
    }

    /// Guest address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.address
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.0.len
    }

    /// Has it no bytes?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A pointer to the byte at `offset` as an argument of a kernel. The offset may be the size:
    /// then nothing is left behind it.
    ///
    /// ```
    /// # fn main() -> Result<(), wavelift::Error> {
    /// let device = wavelift::Device::new()?;
    /// let buffer = device.alloc(64)?;
    /// let second_half = buffer.at(32)?;
    /// let error = buffer.at(65).unwrap_err();
    /// assert_eq!(error.to_string(), "offset 65 is past the end of a buffer of 64 bytes");
    /// # Ok(())
    /// # }
    /// ```
    pub fn at(&self, offset: u64) -> Result<Arg, Error> {
        let len = self.len();
        if offset > len {
            return Err(Error::PastBuffer { offset, len });
        }
        let owner = Owner::Buffer(self.0.clone());
        Ok(Arg::within(self.address() + offset, owner))
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<u64, Error> {
        check(self.address(), self.len(), offset, bytes)
    }

    /// Writes bytes at `offset`.
    pub fn write_bytes(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.0.device.0.memory.write_bytes(address, bytes)?)
    }

    /// Reads bytes at `offset`.
    pub fn read_bytes(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.0.device.0.memory.read_bytes(address, bytes)?)
    }

    /// Writes elements from the beginning on.
    pub fn write<T: Element>(&self, data: &[T]) -> Result<(), Error> {
        self.write_at(0, data)
    }

    /// Writes elements from byte `offset` on.
    pub fn write_at<T: Element>(&self, offset: u64, data: &[T]) -> Result<(), Error> {
        self.write_bytes(offset, bytemuck::cast_slice(data))
    }

    /// Reads all elements; bytes at the end that make no whole element are left out.
    pub fn read<T: Element>(&self) -> Result<Vec<T>, Error> {
        let count = self.len().checked_div(size_of::<T>() as u64);
        self.read_at(0, count.unwrap_or(0) as usize)
    }

    /// Reads `count` elements from byte `offset` on.
    pub fn read_at<T: Element>(&self, offset: u64, count: usize) -> Result<Vec<T>, Error> {
        // Before anything of that size is allocated.
        let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
        self.check(offset, bytes)?;
        let mut out = vec![T::zeroed(); count];
        self.read_bytes(offset, bytemuck::cast_slice_mut(&mut out))?;
        Ok(out)
    }
}

/// The address of `bytes` bytes at `offset` in `len` bytes at `address`.
pub(crate) fn check(address: u64, len: u64, offset: u64, bytes: u64) -> Result<u64, Error> {
    match offset.checked_add(bytes) {
        Some(end) if end <= len => Ok(address + offset),
        _ => Err(Error::OutsideBuffer { offset, bytes, len }),
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.image_of.is_some() {
            return;
        }
        let freed = self.device.0.memory.free(self.address);
        debug_assert!(
            freed.is_ok(),
            "bug: a buffer's memory was freed by somebody else"
        );
    }
}

impl From<&Buffer> for Arg {
    fn from(buffer: &Buffer) -> Arg {
        Arg::within(buffer.address(), Owner::Buffer(buffer.0.clone()))
    }
}
