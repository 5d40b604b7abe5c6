//! A device: guest memory, an engine and a dispatcher; and buffers in its memory.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runtime::dispatch::{Dispatcher, GridWait, Settings};
use runtime::engine::{EngineKind, EngineOptions};
use runtime::kernarg::ArgValue;
use runtime::{Engine, Memory, Stats, memory};

use crate::error::Error;
use crate::launch::Launch;
use crate::module::Kernel;

/// Options of a [`Device`].
#[derive(Clone, Debug)]
pub struct DeviceOptions {
    /// The engine.
    pub engine: EngineKind,
    /// How the engine works.
    pub engine_options: EngineOptions,
    /// Worker threads; 0 means one for each processor of the host.
    pub threads: usize,
    /// Time limit of a dispatch.
    pub timeout: Option<Duration>,
    /// Report accesses outside the exact allocation and reads of LDS and scratch that were never
    /// written. Slow.
    pub memcheck: bool,
    /// Address space reserved for guest memory, in bytes.
    pub reserve: u64,
    /// Stack of a work-item: its scratch in addition to the scratch that the kernel states. `None`
    /// is 16 KiB for kernels whose descriptor declares a dynamic stack, and nothing for others.
    pub stack_bytes: Option<u32>,
    /// Called once for each dispatch that seems to wait for itself: its workgroups poll memory that
    /// only workgroups that have not begun could write.
    pub on_wait: Option<fn(&GridWait)>,
}

impl Default for DeviceOptions {
    fn default() -> DeviceOptions {
        let settings = Settings::default();
        DeviceOptions {
            engine: EngineKind::default(),
            engine_options: EngineOptions::default(),
            threads: settings.threads,
            timeout: settings.timeout,
            memcheck: false,
            reserve: memory::DEFAULT_RESERVE,
            stack_bytes: settings.stack_bytes,
            on_wait: settings.on_wait,
        }
    }
}

pub(crate) struct Inner {
    pub(crate) memory: Memory,
    engine: Box<dyn Engine + Send>,
    dispatcher: Dispatcher,
    options: DeviceOptions,
}

/// A device that runs kernels. Cheap to clone; clones are the same device.
#[derive(Clone)]
pub struct Device(pub(crate) Arc<Inner>);

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.0.options).finish()
    }
}

impl Device {
    /// A device with default options.
    pub fn new() -> Result<Device, Error> {
        Device::with_options(DeviceOptions::default())
    }

    /// A device with these options.
    pub fn with_options(options: DeviceOptions) -> Result<Device, Error> {
        let engine = runtime::engine::create(options.engine, &options.engine_options)?;
        Device::with_engine(options, engine)
    }

    /// A device with an engine of the caller's own.
    pub fn with_engine(
        options: DeviceOptions,
        engine: Box<dyn Engine + Send>,
    ) -> Result<Device, Error> {
        let memory = Memory::with_options(memory::Options {
            reserve: options.reserve,
            exact: options.memcheck,
        })?;
        Ok(Device(Arc::new(Inner {
            memory,
            engine,
            dispatcher: Dispatcher::new(),
            options,
        })))
    }

    /// The options it was made with.
    pub fn options(&self) -> &DeviceOptions {
        &self.0.options
    }

    /// Guest memory, for operations that [`Buffer`] does not offer.
    pub fn memory(&self) -> &Memory {
        &self.0.memory
    }

    /// A buffer of `bytes` zero bytes.
    pub fn alloc(&self, bytes: u64) -> Result<Buffer, Error> {
        let address = self.0.memory.alloc(bytes, 256)?;
        Ok(Buffer {
            device: self.clone(),
            address,
            len: bytes,
        })
    }

    /// A buffer with these contents.
    pub fn buffer<T: Element>(&self, data: &[T]) -> Result<Buffer, Error> {
        let buffer = self.alloc(size_of_val(data) as u64)?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// The profile since the last call; `None` unless the engine profiles
    /// ([`EngineOptions::profile`]).
    #[cfg(feature = "jit")]
    pub fn take_profile(&self) -> Option<runtime::jit::profile::Profile> {
        self.0.engine.take_profile()
    }

    /// The settings of this device's dispatches.
    pub fn settings(&self) -> Settings<'static> {
        let options = &self.0.options;
        Settings {
            threads: options.threads,
            timeout: options.timeout,
            stack_bytes: options.stack_bytes,
            on_wait: options.on_wait,
            ..Settings::default()
        }
    }

    /// Runs `kernel` over the grid of `launch` and waits for its end.
    pub fn launch(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[ArgValue],
    ) -> Result<Stats, Error> {
        self.launch_with(kernel, launch, args, &self.settings())
    }

    /// As [`Device::launch`], with settings for this dispatch.
    pub fn launch_with(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[ArgValue],
        settings: &Settings<'_>,
    ) -> Result<Stats, Error> {
        if !Arc::ptr_eq(&self.0, &kernel.device().0) {
            return Err(Error::OtherDevice(kernel.name().to_owned()));
        }
        let stats = self.0.dispatcher.run(
            &*self.0.engine,
            &self.0.memory,
            kernel.loaded(),
            kernel.code(),
            &launch.resolve(kernel, args)?,
            settings,
        )?;
        Ok(stats)
    }
}

/// Memory on a device, freed when dropped.
#[derive(Debug)]
pub struct Buffer {
    device: Device,
    address: u64,
    len: u64,
}

impl Buffer {
    /// Guest address of the first byte.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Has it no bytes?
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn check(&self, offset: u64, bytes: u64) -> Result<u64, Error> {
        let len = self.len;
        match offset.checked_add(bytes) {
            Some(end) if end <= len => Ok(self.address + offset),
            _ => Err(Error::OutsideBuffer { offset, bytes, len }),
        }
    }

    /// Writes bytes at `offset`.
    pub fn write_bytes(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.device.0.memory.write_bytes(address, bytes)?)
    }

    /// Reads bytes at `offset`.
    pub fn read_bytes(&self, offset: u64, bytes: &mut [u8]) -> Result<(), Error> {
        let address = self.check(offset, bytes.len() as u64)?;
        Ok(self.device.0.memory.read_bytes(address, bytes)?)
    }

    /// Writes elements from the beginning on.
    pub fn write<T: Element>(&self, data: &[T]) -> Result<(), Error> {
        self.check(0, size_of_val(data) as u64)?;
        let mut bytes = Vec::with_capacity(CHUNK);
        let mut offset = 0;
        for chunk in data.chunks(CHUNK / size_of::<T>()) {
            bytes.clear();
            chunk.iter().for_each(|element| element.put(&mut bytes));
            self.write_bytes(offset, &bytes)?;
            offset += bytes.len() as u64;
        }
        Ok(())
    }

    /// Reads all elements; bytes at the end that make no whole element are left out.
    pub fn read<T: Element>(&self) -> Result<Vec<T>, Error> {
        let count = self.len / size_of::<T>() as u64;
        let mut out = Vec::with_capacity(count as usize);
        let mut bytes = vec![0; CHUNK];
        let total = count * size_of::<T>() as u64;
        let mut offset = 0;
        while offset < total {
            let part = &mut bytes[..CHUNK.min((total - offset) as usize)];
            self.read_bytes(offset, part)?;
            out.extend(part.chunks_exact(size_of::<T>()).map(T::get));
            offset += part.len() as u64;
        }
        Ok(out)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let freed = self.device.0.memory.free(self.address);
        debug_assert!(
            freed.is_ok(),
            "bug: a buffer's memory was freed by somebody else"
        );
    }
}

impl From<&Buffer> for ArgValue {
    fn from(buffer: &Buffer) -> ArgValue {
        ArgValue::Pointer(buffer.address())
    }
}

/// Bytes that are converted at a time; a multiple of every element's size.
const CHUNK: usize = 1 << 16;

/// A type of numbers that buffers hold.
pub trait Element: Copy + sealed::Sealed {
    /// Appends the bytes as they lie in guest memory.
    #[doc(hidden)]
    fn put(self, out: &mut Vec<u8>);

    /// From the bytes in guest memory; `bytes` has the size of the type.
    #[doc(hidden)]
    fn get(bytes: &[u8]) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! element {
    ($($ty:ty)*) => {
        $(
            impl sealed::Sealed for $ty {}

            impl Element for $ty {
                fn put(self, out: &mut Vec<u8>) {
                    out.extend_from_slice(&self.to_le_bytes());
                }

                fn get(bytes: &[u8]) -> $ty {
                    let bytes = bytes.first_chunk().expect("callers pass whole elements");
                    <$ty>::from_le_bytes(*bytes)
                }
            }
        )*
    };
}
element!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 half::f16);
