//! wavelift runs AMD GCN machine code on an ordinary CPU: real code objects, as compilers make them
//! for gfx600 to gfx906, gfx908, gfx90a and gfx942, bit for bit and without a GPU.
//!
//! A [`Device`] has memory and an engine (the translator or the interpreter), a [`Module`] is a
//! code object loaded into it, and [`Device::launch`] runs a kernel over a grid:
//!
//! ```
//! use wavelift::{Device, Launch, Module};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = Device::new()?;
//! let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! let saxpy = module.kernel("saxpy")?;
//!
//! let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
//! let y = device.buffer(&[10.0f32, 20.0, 30.0])?;
//! let args = [(&y).into(), (&x).into(), 2.0f32.into(), 3u32.into()];
//! device.launch(&saxpy, &Launch::new(256, 256), &args)?;
//! assert_eq!(y.read::<f32>()?, [12.0, 24.0, 36.0]);
//! # Ok(())
//! # }
//! ```
//!
//! When the guest does wrong, the launch ends in a [`Fault`] that names lane, address and
//! instruction; the other buffers keep their contents:
//!
//! ```
//! # use wavelift::{Arg, Device, Launch, Module};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let device = Device::new()?;
//! # let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! # let saxpy = module.kernel("saxpy")?;
//! # let x = device.buffer(&[1.0f32, 2.0, 3.0])?;
//! let args = [Arg::Pointer(0), (&x).into(), 2.0f32.into(), 3u32.into()];
//! let error = device.launch(&saxpy, &Launch::new(256, 256), &args).unwrap_err();
//! let fault = error.fault().expect("the guest did wrong");
//! assert_eq!(fault.kind.name(), "memory");
//! assert_eq!(fault.lane, Some(0));
//! # Ok(())
//! # }
//! ```
//!
//! | to | there is | example |
//! |---|---|---|
//! | pass numbers, arrays, structures and pointers | [`Arg`], [`Buffer::at`] | `examples/struct_argument.rs` |
//! | let kernels access a vector in place | [`Device::register`] | `examples/own_memory.rs` |
//! | launch without waiting, and in several streams at once | [`Device::stream`], [`Event`] | `examples/stream_events.rs` |
//! | stop a launch, from another thread or after a time | [`CancelToken`], [`DeviceOptions::timeout`] | `examples/cancel.rs` |
//! | follow a wave instruction by instruction | [`trace`] | |
//! | see what a kernel did wrong | [`Fault`], [`DeviceOptions::memcheck`] | `examples/fault.rs` |
//! | compile OpenCL C and HIP, read the disassembly | `compile`, [`listing`] | |
//! | find the source line and the function of an instruction | [`source`] | |
//! | compare the engines, or bring one | [`diff`], [`DeviceOptions::engine`], [`Device::with_engine`] | `examples/diff_engines.rs` |
//!
//! Features, both on by default: `jit` is the translator, without which only the interpreter runs;
//! `cli` is the program `wavelift` and includes `manifest`, the module of launch manifests, and
//! `compile`, that of sources. A program that only runs kernels needs
//! `default-features = false, features = ["jit"]`.

/// The programs of the tutorial.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
struct Tutorial;

mod arg;
pub mod breaks;
mod buffer;
pub mod check;
#[cfg(feature = "compile")]
pub mod compile;
pub mod debug;
mod device;
pub mod diff;
mod dtype;
mod error;
mod event;
#[cfg(feature = "compile")]
pub mod folders;
mod host_buffer;
mod launch;
pub mod listing;
#[cfg(feature = "manifest")]
pub mod manifest;
mod module;
#[cfg(feature = "jit")]
pub mod profile;
pub mod sanitizer;
pub mod source;
mod stream;
pub mod trace;
mod uses;

pub use arg::{Arg, Within};
pub use buffer::{Buffer, Element};
pub use device::{Device, DeviceOptions, MemoryGuard};
pub use dtype::{Dtype, Value};
pub use error::Error;
pub use event::Event;
pub use host_buffer::{HostBuffer, HostRange, IntoVecError, Mapped};
pub use launch::{Launch, Size};
pub use module::{Kernel, Module};
pub use stream::Stream;

/// ```
/// use wavelift::{CancelToken, Device, Error, Launch, Module, Settings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let (x, token) = (device.buffer(&[1.0f32; 64])?, CancelToken::new());
/// let settings = Settings { cancel: Some(token.clone()), ..device.settings() };
///
/// // Usually another thread does this, while the launch runs.
/// token.cancel();
/// let args = [(&x).into(), (&x).into(), 2.0f32.into(), 64u32.into()];
/// let launch = Launch::new(64, 64);
/// let result = device.launch_with(&module.kernel("saxpy")?, &launch, &args, &settings);
/// assert!(matches!(result, Err(Error::Cancelled { .. })));
/// # Ok(())
/// # }
/// ```
pub use runtime::dispatch::CancelToken;
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering};
/// use wavelift::{Device, Launch, Module, Settings};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let (x, progress) = (device.buffer(&[1.0f32; 128])?, AtomicU64::new(0));
/// let settings = Settings {
///     threads: 1,
///     counting: true,
///     progress: Some(&progress),
///     ..device.settings()
/// };
/// let args = [(&x).into(), (&x).into(), 2.0f32.into(), 128u32.into()];
/// let launch = Launch::new(128, 64);
/// let stats = device.launch_with(&module.kernel("saxpy")?, &launch, &args, &settings)?;
/// assert_eq!(progress.load(Ordering::Relaxed), 2);
/// println!("{} instructions by {} waves", stats.instructions, stats.waves);
/// # Ok(())
/// # }
/// ```
pub use runtime::dispatch::Settings;
/// ```
/// use wavelift::{Arg, Device, FaultKind, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let x = device.buffer(&[1.0f32; 64])?;
/// let args = [(&x).into(), Arg::Pointer(64), 2.0f32.into(), 64u32.into()];
/// let error = device.launch(&module.kernel("saxpy")?, &Launch::new(64, 64), &args).unwrap_err();
/// let fault = error.fault().expect("the guest did wrong");
/// assert_eq!((fault.kernel.as_str(), fault.workgroup, fault.lane), ("saxpy", [0; 3], Some(0)));
/// assert!(matches!(fault.kind, FaultKind::Memory { address: 64, .. }));
/// println!("{fault}");
/// # Ok(())
/// # }
/// ```
pub use runtime::fault::Fault;

// Types that signatures and fields above name.
pub use frontend::{DecodeError, Gfx, WaveState};
pub use runtime::code::{CodeError, CodeSymbol, LoadedCode};
pub use runtime::dispatch::{GridWait, KernelCode, LaunchError};
pub use runtime::engine::{
    Emitter, Engine, EngineError, EngineKind, EngineOptions, Profiling, Stats,
};
pub use runtime::fault::{
    Access, FaultKind, Location, Nearest, Private, Protected, ProtectedKind, WaveFault,
};
pub use runtime::kernarg::ArgError;
pub use runtime::memory::{AllocError, Memory, MemoryError};
pub use runtime::object::{
    ArgKind, ArgMetadata, CodeObject, KernelDescriptor, KernelMetadata, LoadError, Target, TargetId,
};
pub use runtime::{Export, Exports, Lds, Waiting, WaitingGroup, WaitingWave, WaitsFor};

/// The guest: decoding and printing of instructions, and the state of waves.
pub use frontend;
/// Engines of the caller's own, for [`Device::with_engine`]: the trait and all that it names.
pub use runtime::engine;
/// Images: descriptors that kernels read from memory.
pub use runtime::image;
/// Code objects without a device: targets, kernels, arguments, symbols.
pub use runtime::object;
pub use runtime::undefined;

/// Plain data as bytes: the traits of elements and of arguments by value, and their derives
/// (`#[bytemuck(crate = "wavelift::bytemuck")]`).
pub use bytemuck;
/// 16-bit floats.
pub use half;
