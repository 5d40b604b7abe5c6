//! A device: guest memory, an engine and a dispatcher.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use runtime::dispatch::{Dispatcher, GridWait, Settings};
use runtime::engine::{EngineKind, EngineOptions};
use runtime::{Engine, Memory, Stats, memory};

use crate::arg::Arg;
use crate::buffer::{Buffer, Element};
use crate::error::Error;
use crate::launch::Launch;
use crate::module::Kernel;

/// Options of a [`Device`].
///
/// ```
/// use std::time::Duration;
/// use wavelift::{Device, DeviceOptions, EngineKind};
///
/// # fn main() -> Result<(), wavelift::Error> {
/// let device = Device::with_options(DeviceOptions {
///     engine: EngineKind::Interp,
///     memcheck: true,
///     timeout: Some(Duration::from_secs(10)),
///     ..DeviceOptions::default()
/// })?;
/// # Ok(())
/// # }
/// ```
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

/// A device that runs kernels. Cheap to clone; clones are the same device. Threads may share it,
/// and launch on it at the same time.
///
/// ```
/// use wavelift::{Device, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let (x, y) = (device.buffer(&[1.0f32; 1000])?, device.alloc(4000)?);
/// let args = [(&y).into(), (&x).into(), 0.5f32.into(), 1000u32.into()];
/// let stats = device.launch(&module.kernel("saxpy")?, &Launch::new(1024, 256), &args)?;
/// assert_eq!(stats.workgroups, 4);
/// assert_eq!(y.read::<f32>()?, [0.5; 1000]);
/// # Ok(())
/// # }
/// ```
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
        Buffer::new(self, bytes)
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
    pub fn launch(&self, kernel: &Kernel, launch: &Launch, args: &[Arg]) -> Result<Stats, Error> {
        self.launch_with(kernel, launch, args, &self.settings())
    }

    /// As [`Device::launch`], with settings for this dispatch.
    pub fn launch_with(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        settings: &Settings<'_>,
    ) -> Result<Stats, Error> {
        if !Arc::ptr_eq(&self.0, &kernel.device().0) {
            return Err(Error::OtherDevice(kernel.name().to_owned()));
        }
        for (index, arg) in args.iter().enumerate() {
            arg.check(self, kernel.name(), index)?;
        }
        let values: Vec<_> = args.iter().map(Arg::value).collect();
        let stats = self.0.dispatcher.run(
            &*self.0.engine,
            &self.0.memory,
            kernel.loaded(),
            kernel.code(),
            &launch.resolve(kernel, &values)?,
            settings,
        )?;
        Ok(stats)
    }
}
