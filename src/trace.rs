//! Traces: what a wave of a launch executes, instruction by instruction, with the registers that
//! each has changed and its accesses to memory. `wavelift run --trace` does this for a launch
//! manifest.
//!
//! A [`Tracer`] has a device of its own, whose launches are interpreted:
//!
//! ```
//! use std::ops::ControlFlow;
//! use wavelift::trace::{Names, Selection, Tracer};
//! use wavelift::{DeviceOptions, Launch, Module};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let tracer = Tracer::new(DeviceOptions::default())?;
//! let device = tracer.device();
//! let module = Module::load(device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
//! let (saxpy, x) = (module.kernel("saxpy")?, device.buffer(&[1.0f32; 256])?);
//! let mut names = Names::default();
//! names.add(x.address(), x.len(), "x");
//! let args = [(&x).into(), (&x).into(), 2.0f32.into(), 256u32.into()];
//! let first = Selection::default();
//! let mut adds = 0;
//! tracer.launch(&saxpy, &Launch::new(256, 256), &args, &device.settings(), first, |event| {
//!     println!("{}", names.show(event));
//!     adds += u32::from(event.instruction.starts_with("v_add_f32"));
//!     ControlFlow::Continue(())
//! })?;
//! assert_eq!(adds, 1);
//! # Ok(())
//! # }
//! ```
//!
//! Not in a trace are the instructions that the dispatcher runs itself to find out whether a workgroup
//! that has run for long polls memory.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex, PoisonError};

use runtime::dispatch::Settings;
use runtime::trace::Tracing;

mod text;

pub use runtime::memory::{Allocation, Purpose};
pub use runtime::trace::{
    Event, Format, MemoryAccess, Next, RegisterChange, RegisterValue, Selection, Space,
};
pub use text::{Names, Registers, Shown};
pub(crate) use text::{Series, Style};

use crate::arg::Arg;
use crate::device::{Device, DeviceOptions};
use crate::error::Error;
use crate::launch::Launch;
use crate::module::Kernel;
use crate::{EngineKind, Stats};

/// Events that may wait for their receiver.
pub(crate) const WAITING: usize = 256;

/// A device that traces a wave of a launch.
pub struct Tracer {
    device: Device,
    engine: Arc<Tracing>,
    /// There is one trace at a time.
    turn: Mutex<()>,
}

impl fmt::Debug for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Tracer").field(&self.device).finish()
    }
}

impl Tracer {
    /// A device with these options, which interprets, whatever they say.
    pub fn new(options: DeviceOptions) -> Result<Tracer, Error> {
        let engine = Arc::new(Tracing::default());
        let options = DeviceOptions {
            engine: EngineKind::Interp,
            ..options
        };
        Ok(Tracer {
            device: Device::with_engine(options, Box::new(engine.clone()))?,
            engine,
            turn: Mutex::default(),
        })
    }

    /// The device, for modules and buffers of the launches. [`Device::launch`] runs without a trace.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Does the launch have this wave?
    pub fn check(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        selection: &Selection,
    ) -> Result<(), Error> {
        let shape = launch.shape()?;
        let (counts, id) = (shape.counts(), selection.workgroup);
        if (0..3).any(|dim| id[dim] >= counts[dim]) {
            return Err(Error::NoWorkgroup {
                kernel: kernel.name().to_owned(),
                workgroup: id,
                workgroups: counts,
            });
        }
        let waves = shape.at(id).waves();
        if selection.wave >= waves {
            return Err(Error::NoWave {
                kernel: kernel.name().to_owned(),
                workgroup: id,
                wave: selection.wave,
                waves,
            });
        }
        Ok(())
    }

    /// Runs a launch and calls `each` for each instruction of a wave, on the caller's thread, until it
    /// breaks or the limit of the selection is reached; the launch runs to its end all the same.
    pub fn launch(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        settings: &Settings<'_>,
        selection: Selection,
        mut each: impl FnMut(&Event) -> ControlFlow<()>,
    ) -> Result<Stats, Error> {
        self.check(kernel, launch, &selection)?;
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let (sender, receiver) = mpsc::sync_channel(WAITING);
        self.engine.begin(selection, sender);
        let run = || {
            let result = self.device.launch_with(kernel, launch, args, settings);
            self.engine.end();
            result
        };
        listen(receiver, run, |event| each(&event))
    }
}

/// Runs a launch, which ends the sending of events, on a thread of its own, and calls `each` for each
/// event on the caller's, until it breaks.
pub(crate) fn listen<E>(
    receiver: Receiver<E>,
    run: impl FnOnce() -> Result<Stats, Error> + Send,
    mut each: impl FnMut(E) -> ControlFlow<()>,
) -> Result<Stats, Error> {
    std::thread::scope(|scope| {
        let running = scope.spawn(run);
        // It ends when the sending does.
        for event in &receiver {
            if each(event).is_break() {
                break;
            }
        }
        drop(receiver);
        let result = running.join();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
