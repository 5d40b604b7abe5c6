//! A device: guest memory, an engine and a dispatcher.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use runtime::coverage::{self, Coverage};
use runtime::dispatch::{Dispatcher, GridWait, Settings};
use runtime::engine::{EngineKind, EngineOptions};
use runtime::sanitizer::{Finding, Sanitizer};
use runtime::{Engine, Memory, Stats, memory};

use crate::arg::Arg;
use crate::buffer::{Buffer, Element};
use crate::error::Error;
use crate::host_buffer::{HostBuffer, HostRange};
use crate::launch::{self, Launch};
use crate::module::{Kernel, Module};
use crate::stream::Stream;
use crate::uses::{Use, Uses};

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
    /// Where guest memory begins, a multiple of 64 KiB, for data that has addresses in it; otherwise
    /// the host decides. On Linux only.
    pub address: Option<u64>,
    /// Stack of a work-item: its scratch in addition to the scratch that the kernel states. `None`
    /// is 16 KiB for kernels whose descriptor declares a dynamic stack, and nothing for others.
    pub stack_bytes: Option<u32>,
    /// Called once for each dispatch that seems to wait for itself: its workgroups poll memory that
    /// only workgroups that cannot begin could write.
    pub on_wait: Option<fn(&GridWait)>,
    /// Nothing but a dispatch writes to the memory that it polls, neither this program nor another
    /// dispatch at the same time. Then a dispatch that waits for itself ends as
    /// [`FaultKind::Deadlock`](crate::FaultKind::Deadlock), after some seconds.
    pub detect_deadlocks: bool,
    /// Dispatches are checked for races and other defects, on one worker thread: [`Device::findings`].
    pub sanitize: bool,
    /// Maximum number of bytes that workgroups of a dispatch which wait for others may occupy, with
    /// their registers, LDS and scratch. Beyond it a dispatch may end as
    /// [`FaultKind::NoRoomToWait`](crate::FaultKind::NoRoomToWait).
    pub waiting_bytes: u64,
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
            address: None,
            stack_bytes: settings.stack_bytes,
            on_wait: settings.on_wait,
            detect_deadlocks: settings.alone,
            sanitize: false,
            waiting_bytes: settings.waiting_bytes,
        }
    }
}

pub(crate) struct Inner {
    pub(crate) memory: Memory,
    engine: Box<dyn Engine + Send>,
    dispatcher: Dispatcher,
    options: DeviceOptions,
    pub(crate) uses: Arc<Uses>,
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
            address: options.address,
            exact: options.memcheck,
            sanitize: options.sanitize,
        })?;
        Ok(Device(Arc::new(Inner {
            memory,
            engine,
            dispatcher: Dispatcher::new(),
            options,
            uses: Arc::default(),
        })))
    }

    /// The options it was made with.
    pub fn options(&self) -> &DeviceOptions {
        &self.0.options
    }

    /// Guest memory, for operations that [`Buffer`] does not offer. While the guard lives, host
    /// memory is not given back; drop it before [`HostBuffer::into_vec`], [`HostBuffer::map`] and
    /// [`HostRange::unregister`].
    pub fn memory(&self) -> MemoryGuard<'_> {
        MemoryGuard {
            memory: &self.0.memory,
            _use: self.0.uses.begin_here(),
            _thread: PhantomData,
        }
    }

    /// What dispatches were found to do wrong since the last call: nothing without [`DeviceOptions::sanitize`].
    ///
    /// ```
    /// use wavelift::sanitizer::Rule;
    /// use wavelift::{Device, DeviceOptions, Launch, Module};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::with_options(DeviceOptions { sanitize: true, ..DeviceOptions::default() })?;
    /// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
    /// let (x, y) = (device.buffer(&[1.0f32; 100])?, device.alloc(4 * 99)?);
    /// // It is told that there are 100 elements, but `y` has 99.
    /// let args = [(&y).into(), (&x).into(), 0.5f32.into(), 100u32.into()];
    /// device.launch(&module.kernel("saxpy")?, &Launch::new(256, 256), &args)?;
    /// let findings = device.findings();
    /// assert!(findings.iter().all(|found| found.rule == Rule::OutOfBounds));
    /// assert_eq!(findings[0].address, y.address() + 4 * 99);
    /// # Ok(())
    /// # }
    /// ```
    pub fn findings(&self) -> Vec<Finding> {
        let sanitizer = self.0.memory.sanitizer();
        sanitizer.map(Sanitizer::take).unwrap_or_default()
    }

    /// As [`Device::findings`], of dispatches whose [`Settings::launch`] is this number.
    ///
    /// ```
    /// use wavelift::{Device, DeviceOptions, Launch, Module, Settings};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = Device::with_options(DeviceOptions { sanitize: true, ..DeviceOptions::default() })?;
    /// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
    /// let (kernel, y) = (module.kernel("saxpy")?, device.alloc(4 * 99)?);
    /// let args = [(&y).into(), (&y).into(), 0.5f32.into(), 100u32.into()];
    /// let settings = Settings { launch: 7, ..device.settings() };
    /// device.launch_with(&kernel, &Launch::new(256, 256), &args, &settings)?;
    /// assert!(device.findings_of(6).is_empty());
    /// assert_eq!(device.findings_of(7)[0].launch, 7);
    /// assert!(device.findings().is_empty(), "they were taken");
    /// # Ok(())
    /// # }
    /// ```
    pub fn findings_of(&self, launch: u64) -> Vec<Finding> {
        let sanitizer = self.0.memory.sanitizer();
        sanitizer
            .map(|all| all.take_launch(launch))
            .unwrap_or_default()
    }

    /// A buffer of `bytes` zero bytes.
    pub fn alloc(&self, bytes: u64) -> Result<Buffer, Error> {
        Buffer::new(self, bytes)
    }

    /// A buffer of `bytes` zero bytes at a guest address where nothing is: a multiple of 256 in guest
    /// memory, or any address outside of it, where accesses cost more. For data that has addresses in
    /// it, with [`DeviceOptions::address`].
    ///
    /// ```
    /// # #[cfg(target_os = "linux")]
    /// # fn main() -> Result<(), wavelift::Error> {
    /// use wavelift::{Device, DeviceOptions};
    ///
    /// let base = 0x1357_0000_0000;
    /// let options = DeviceOptions { address: Some(base), reserve: 1 << 30, ..DeviceOptions::default() };
    /// let device = Device::with_options(options)?;
    /// let buffer = device.alloc_at(base + (512 << 20), 4096)?;
    /// assert_eq!(buffer.address(), base + (512 << 20));
    /// assert!(device.alloc_at(buffer.address() + 256, 4).is_err(), "it is in use");
    /// # Ok(())
    /// # }
    /// # #[cfg(not(target_os = "linux"))]
    /// # fn main() {}
    /// ```
    pub fn alloc_at(&self, address: u64, bytes: u64) -> Result<Buffer, Error> {
        Buffer::new_at(self, address, bytes)
    }

    /// A buffer with these contents.
    pub fn buffer<T: Element>(&self, data: &[T]) -> Result<Buffer, Error> {
        let buffer = self.alloc(size_of_val(data) as u64)?;
        buffer.write(data)?;
        Ok(buffer)
    }

    /// Lets kernels access a vector in place, without a copy. A boxed slice becomes a vector by
    /// `into_vec`.
    pub fn register<T: Element + Send>(&self, data: Vec<T>) -> HostBuffer<T> {
        HostBuffer::new(self, data)
    }

    /// Lets kernels access memory of the caller in place. [`Device::register`] is the safe form for
    /// vectors.
    ///
    /// # Safety
    /// The `bytes` bytes at `start` must be valid for reads and writes, must not overlap other
    /// registered memory, and no Rust reference to them may be live, until
    /// [`HostRange::unregister`] has succeeded. If that is not called, until the range and all
    /// arguments made from it have been dropped and all launches on this device that had begun
    /// before have ended.
    #[expect(unsafe_code, reason = "the caller vouches for the memory")]
    pub unsafe fn register_raw(&self, start: *mut u8, bytes: usize) -> HostRange {
        // SAFETY: the caller promises it.
        unsafe { HostRange::new(self, start, bytes) }
    }

    /// A new stream: launches that run in order, one after the other, while the caller goes on.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    /// The profile since the last call; `None` unless the engine profiles
    /// ([`EngineOptions::profile`]).
    #[cfg(feature = "jit")]
    pub fn take_profile(&self) -> Option<runtime::jit::profile::Profile> {
        self.0.engine.take_profile()
    }

    /// What launches have executed of a module since the last call, by address in its code object; `None` unless the
    /// engine counts that ([`EngineOptions::profile`] is [`Profiling::Coverage`](crate::Profiling::Coverage)).
    pub fn take_coverage(&self, module: &Module) -> Option<Coverage> {
        coverage::take(&*self.0.engine, module.code())
    }

    /// The settings of this device's dispatches.
    pub fn settings(&self) -> Settings<'static> {
        let options = &self.0.options;
        Settings {
            threads: options.threads,
            timeout: options.timeout,
            stack_bytes: options.stack_bytes,
            on_wait: options.on_wait,
            alone: options.detect_deadlocks,
            waiting_bytes: options.waiting_bytes,
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
        let _use = self.begin(kernel, args)?;
        self.run(kernel, launch, args, settings)
    }

    /// A launch begins, or is queued: it may use what the arguments name, until the result is
    /// dropped.
    pub(crate) fn begin(&self, kernel: &Kernel, args: &[Arg]) -> Result<Use, Error> {
        if !Arc::ptr_eq(&self.0, &kernel.device().0) {
            return Err(Error::OtherDevice(kernel.name().to_owned()));
        }
        // Before the arguments are looked at: host memory that is found to be registered stays so
        // until the use has ended.
        let begun = self.0.uses.begin();
        for (index, arg) in args.iter().enumerate() {
            arg.check(self, kernel.name(), index)?;
        }
        Ok(begun)
    }

    /// Runs a launch that has begun.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        settings: &Settings<'_>,
    ) -> Result<Stats, Error> {
        let mut values = Vec::with_capacity(args.len());
        let arguments = launch::arguments(kernel, args, &mut values)?;
        let stats = self.0.dispatcher.run(
            &*self.0.engine,
            &self.0.memory,
            kernel.loaded(),
            kernel.code(),
            &launch.resolve(arguments)?,
            settings,
        )?;
        Ok(stats)
    }
}

/// Access to the guest memory of a [`Device`], by guest address. It stays on its thread.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = wavelift::Device::new()?;
/// let buffer = device.buffer(&[1u32, 2])?;
/// assert_eq!(device.memory().load_u32(buffer.address() + 4)?, 2);
/// # Ok(())
/// # }
/// ```
pub struct MemoryGuard<'d> {
    memory: &'d Memory,
    _use: Use,
    /// Not `Send`: the thread would wait for itself where it takes host memory back.
    _thread: PhantomData<MutexGuard<'d, ()>>,
}

impl Deref for MemoryGuard<'_> {
    type Target = Memory;

    fn deref(&self) -> &Memory {
        self.memory
    }
}

impl fmt::Debug for MemoryGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, len) = (self.arena_base(), self.arena_len());
        write!(f, "MemoryGuard({len} bytes at {base:#x})")
    }
}
