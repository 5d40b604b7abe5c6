//! Memory of the host that kernels access where it is, without a copy.
#![expect(
    unsafe_code,
    reason = "host memory is registered by address; it is given back or freed only after all uses of it"
)]

use std::any::Any;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use crate::arg::{Arg, Owner};
use crate::buffer::{self, Element};
use crate::device::Device;
use crate::error::Error;
use crate::uses::Guarded;

/// A range of host memory that the kernels of a device access at its own address.
pub(crate) struct Region {
    device: Device,
    /// Address of the first byte; the provenance is exposed.
    start: usize,
    bytes: usize,
    /// Launches may have it as an argument.
    registered: AtomicBool,
    /// The memory, to be freed after the last use.
    kept: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Region {
    /// Registers `bytes` bytes at `start`.
    ///
    /// # Safety
    /// As for [`runtime::Memory::register_host`], until `detach` has returned, or until the region
    /// is dropped and all uses of the device that had begun before have ended.
    unsafe fn new(device: &Device, start: *mut u8, bytes: usize) -> Region {
        let region = Region {
            device: device.clone(),
            start: start.expose_provenance(),
            bytes,
            registered: AtomicBool::new(false),
            kept: Mutex::new(None),
        };
        // SAFETY: the caller promises what `attach` demands.
        unsafe { region.attach() };
        region
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    /// May launches have it as an argument?
    pub(crate) fn is_registered(&self) -> bool {
        self.registered.load(Relaxed)
    }

    /// Kernels may access it from now on.
    ///
    /// # Safety
    /// As for `new`; it must not be registered.
    unsafe fn attach(&self) {
        if self.bytes != 0 {
            let start = ptr::with_exposed_provenance_mut(self.start);
            // SAFETY: the caller promises that the memory stays valid, and that nothing else has
            // references to it, until the end of the registration and of the uses that know it.
            unsafe { self.device.0.memory.register_host(start, self.bytes) };
        }
        self.registered.store(true, Relaxed);
    }

    /// Ends the registration. Nothing accesses the memory any more when it returns.
    fn detach(&self) -> Result<(), Guarded> {
        if !self.registered.swap(false, Relaxed) {
            return Ok(());
        }
        // Launches with it as an argument may end in peace; new ones are refused.
        if let Err(error) = self.device.0.uses.settle() {
            self.registered.store(true, Relaxed);
            return Err(error);
        }
        self.end_registration();
        // Launches that began meanwhile may have found its address elsewhere. This thread has no
        // guard, as the first call has found out, so that there is no error.
        self.device.0.uses.settle()
    }

    fn end_registration(&self) {
        if self.bytes != 0 {
            let memory = &self.device.0.memory;
            let ended = memory.unregister_host(ptr::without_provenance_mut(self.start));
            debug_assert!(ended, "bug: host memory was unregistered by somebody else");
        }
    }

    /// Keeps memory until the last use of the region has ended.
    fn keep(&self, memory: Box<dyn Any + Send>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(memory);
    }

    fn at(self: &Arc<Region>, offset: u64) -> Result<Arg, Error> {
        let len = self.bytes as u64;
        if offset > len {
            return Err(Error::PastBuffer { offset, len });
        }
        let owner = Owner::Host(self.clone());
        Ok(Arg::within(self.start as u64 + offset, owner))
    }

    fn arg(self: &Arc<Region>) -> Arg {
        Arg::within(self.start as u64, Owner::Host(self.clone()))
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        if *self.registered.get_mut() {
            self.end_registration();
        }
        let kept = self.kept.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(memory) = kept.take() {
            self.device.0.uses.retire(memory);
        }
    }
}

/// A vector that kernels access in place: [`Device::register`] takes it, [`HostBuffer::into_vec`]
/// gives it back, and nothing is copied. Its guest address is its host address, and its alignment
/// that of the vector.
///
/// While it is registered the host reads and writes it by [`HostBuffer::read`] and
/// [`HostBuffer::write`], which copy, or as a slice after [`HostBuffer::map`]. When it is dropped,
/// its memory is freed after the launches that use it.
///
/// Its end is exact: a kernel that reads the last bytes as a whole dword needs a size that is a
/// multiple of four bytes.
///
/// ```
/// use wavelift::{Device, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let x = device.register(vec![1.0f32, 2.0, 3.0]);
/// let mut y = device.register(vec![10.0f32, 20.0, 30.0]);
///
/// let args = [(&y).into(), (&x).into(), 2.0f32.into(), 3u32.into()];
/// device.launch(&module.kernel("saxpy")?, &Launch::new(256, 256), &args)?;
/// assert_eq!(y.map()?[..], [12.0, 24.0, 36.0]);
///
/// let y: Vec<f32> = y.into_vec()?;
/// assert_eq!(y, [12.0, 24.0, 36.0]);
/// # Ok(())
/// # }
/// ```
pub struct HostBuffer<T: Element + Send> {
    /// Accessed by kernels, and not by this type, while the region is registered.
    data: Vec<T>,
    region: Arc<Region>,
}

impl<T: Element + Send> fmt::Debug for HostBuffer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, address) = (self.region.bytes, self.region.start);
        write!(f, "HostBuffer({bytes} bytes at {address:#x})")
    }
}

impl<T: Element + Send> HostBuffer<T> {
    pub(crate) fn new(device: &Device, mut data: Vec<T>) -> HostBuffer<T> {
        let (start, bytes) = (data.as_mut_ptr().cast(), size_of_val(&*data));
        // SAFETY: the elements are plain data, valid for `bytes` bytes. The vector is neither
        // accessed nor moved elsewhere before `detach` has returned, and when it is dropped it is
        // kept by the region and retired.
        let region = unsafe { Region::new(device, start, bytes) };
        HostBuffer {
            data,
            region: Arc::new(region),
        }
    }

    /// Guest address of the first element.
    pub fn address(&self) -> u64 {
        self.region.start as u64
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Has it no elements?
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// A pointer to the byte at `offset` as an argument of a kernel; the offset may be the size in
    /// bytes. As [`Buffer::at`](crate::Buffer::at).
    pub fn at(&self, offset: u64) -> Result<Arg, Error> {
        self.region.at(offset)
    }

    /// A copy of all elements.
    pub fn read(&self) -> Result<Vec<T>, Error> {
        let mut out = vec![T::zeroed(); self.len()];
        let bytes = bytemuck::cast_slice_mut(&mut out);
        let memory = &self.region.device.0.memory;
        memory.read_bytes(self.address(), bytes)?;
        Ok(out)
    }

    /// Overwrites elements from the beginning on.
    pub fn write(&self, data: &[T]) -> Result<(), Error> {
        let (bytes, len) = (size_of_val(data) as u64, self.region.bytes as u64);
        if bytes > len {
            let offset = 0;
            return Err(Error::OutsideBuffer { offset, bytes, len });
        }
        let memory = &self.region.device.0.memory;
        Ok(memory.write_bytes(self.address(), bytemuck::cast_slice(data))?)
    }

    /// Makes the elements a slice of the host. Waits for all launches on the device that have begun
    /// or are queued on streams; meanwhile, and as long as the result lives, launches that have the
    /// buffer as an argument are refused, and kernels that access it fault.
    ///
    /// The only error is [`Error::MemoryGuarded`].
    pub fn map(&mut self) -> Result<Mapped<'_, T>, Error> {
        self.region.detach()?;
        Ok(Mapped(self))
    }

    /// The vector. Waits for all launches on the device that have begun or are queued on streams.
    ///
    /// The only error is that of [`Error::MemoryGuarded`]; it has the buffer.
    pub fn into_vec(mut self) -> Result<Vec<T>, IntoVecError<T>> {
        match self.region.detach() {
            Ok(()) => Ok(std::mem::take(&mut self.data)),
            Err(Guarded) => Err(IntoVecError { buffer: self }),
        }
    }
}

impl<T: Element + Send> Drop for HostBuffer<T> {
    fn drop(&mut self) {
        self.region.keep(Box::new(std::mem::take(&mut self.data)));
    }
}

impl<T: Element + Send> From<&HostBuffer<T>> for Arg {
    fn from(buffer: &HostBuffer<T>) -> Arg {
        buffer.region.arg()
    }
}

/// The elements of a [`HostBuffer`] as a slice, while kernels have no access.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = wavelift::Device::new()?;
/// let mut buffer = device.register(vec![3u32, 1, 2]);
/// buffer.map()?.sort();
/// assert_eq!(buffer.read()?, [1, 2, 3]);
/// # Ok(())
/// # }
/// ```
pub struct Mapped<'b, T: Element + Send>(&'b mut HostBuffer<T>);

impl<T: Element + Send> Deref for Mapped<'_, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0.data
    }
}

impl<T: Element + Send> DerefMut for Mapped<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0.data
    }
}

impl<T: Element + Send + fmt::Debug> fmt::Debug for Mapped<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Element + Send> Drop for Mapped<'_, T> {
    fn drop(&mut self) {
        // The slices may have ended the validity of the earlier pointer.
        self.0.data.as_mut_ptr().expose_provenance();
        // SAFETY: as in `HostBuffer::new`; the slices are no longer borrowed, and `map` has ended
        // the registration.
        unsafe { self.0.region.attach() };
    }
}

/// A vector that cannot be given back, since this thread has a [`MemoryGuard`](crate::MemoryGuard)
/// of the device.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = wavelift::Device::new()?;
/// let buffer = device.register(vec![1u8, 2]);
/// let memory = device.memory();
/// let error = buffer.into_vec().unwrap_err();
/// drop(memory);
/// assert_eq!(error.buffer.into_vec()?, [1, 2]);
/// # Ok(())
/// # }
/// ```
#[derive(thiserror::Error)]
#[error("{}", Error::MemoryGuarded)]
pub struct IntoVecError<T: Element + Send> {
    /// The buffer, as it was.
    pub buffer: HostBuffer<T>,
}

impl<T: Element + Send> fmt::Debug for IntoVecError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoVecError")
            .field("buffer", &self.buffer)
            .finish()
    }
}

impl<T: Element + Send> From<IntoVecError<T>> for Error {
    fn from(_: IntoVecError<T>) -> Error {
        Error::MemoryGuarded
    }
}

/// Memory of the caller that kernels access in place, made by the unsafe [`Device::register_raw`].
/// For memory that is not a vector, such as a mapped file or memory of another language.
///
/// ```
/// # fn main() -> Result<(), wavelift::Error> {
/// let device = wavelift::Device::new()?;
/// let mut words = [1u32, 2, 3, 4];
/// let start = words.as_mut_ptr().cast();
/// // SAFETY: `words` outlives the registration and is not used before its end.
/// let mut range = unsafe { device.register_raw(start, size_of_val(&words)) };
/// let second = range.at(4)?;
/// range.unregister()?;
/// # Ok(())
/// # }
/// ```
pub struct HostRange(Arc<Region>);

impl fmt::Debug for HostRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, address) = (self.0.bytes, self.0.start);
        write!(f, "HostRange({bytes} bytes at {address:#x})")
    }
}

impl HostRange {
    /// # Safety
    /// See [`Device::register_raw`].
    pub(crate) unsafe fn new(device: &Device, start: *mut u8, bytes: usize) -> HostRange {
        // SAFETY: the caller promises it.
        HostRange(Arc::new(unsafe { Region::new(device, start, bytes) }))
    }

    /// Guest address of the first byte.
    pub fn address(&self) -> u64 {
        self.0.start as u64
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.0.bytes
    }

    /// Has it no bytes?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A pointer to the byte at `offset` as an argument of a kernel; the offset may be the size.
    pub fn at(&self, offset: u64) -> Result<Arg, Error> {
        self.0.at(offset)
    }

    /// Copies bytes from `offset` on, while the memory is registered.
    pub fn read_bytes(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.0.device.0.memory.read_bytes(address, bytes)?)
    }

    /// Overwrites bytes from `offset` on, while the memory is registered.
    pub fn write_bytes(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.0.device.0.memory.write_bytes(address, bytes)?)
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<u64, Error> {
        buffer::check(self.address(), self.0.bytes as u64, offset, bytes)
    }

    /// Ends the registration. Waits for all launches on the device that have begun or are queued on
    /// streams; when it has returned, nothing accesses the memory any more.
    ///
    /// The only error is [`Error::MemoryGuarded`]; the memory remains registered then.
    pub fn unregister(&mut self) -> Result<(), Error> {
        Ok(self.0.detach()?)
    }

    /// Ends the registration when the last argument made from the range is dropped, and drops
    /// `owner`, which keeps the memory valid, when all launches have ended that had begun before.
    /// Does not wait for them. `owner` may be dropped on another thread.
    pub fn release(self, owner: Box<dyn Any + Send>) {
        self.0.keep(owner);
    }
}

impl From<&HostRange> for Arg {
    fn from(range: &HostRange) -> Arg {
        range.0.arg()
    }
}
