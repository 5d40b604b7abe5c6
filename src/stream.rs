//! Launches that run in order while the caller goes on.

use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use runtime::Stats;
use runtime::dispatch::Settings;

use crate::arg::Arg;
use crate::device::Device;
use crate::error::Error;
use crate::event::{Event, Promise};
use crate::launch::Launch;
use crate::module::Kernel;
use crate::uses::Use;

/// A queue of launches that run one after the other, in order, on a thread of its own, while the
/// caller goes on. Launches of different streams run at the same time and share the processors;
/// [`Stream::wait_for`] orders them.
///
/// What a launch uses (kernel, buffers, host memory) stays alive until it has ended, also if the
/// caller drops it before. A clone is the same stream. Dropping a stream does not wait: its
/// launches run to their end.
///
/// **Errors.** A launch that does not match its kernel is refused at once. When a launch faults, is
/// cancelled or fails otherwise, its [`Event`] has the error, and the stream has failed for good:
/// subsequent launches are not run, and waiting for them gives [`Error::NotRun`] with the first error;
/// [`Stream::synchronize`] gives the first error itself. Other streams go on, except those that
/// wait for the failed launch. Buffers keep their contents; make a new stream to go on.
///
/// ```
/// use wavelift::{Device, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let saxpy = module.kernel("saxpy")?;
/// let (x, y) = (device.buffer(&[1.0f32; 256])?, device.buffer(&[0.0f32; 256])?);
///
/// let stream = device.stream()?;
/// for a in [1.0f32, 2.0, 3.0] {
///     let args = [(&y).into(), (&x).into(), a.into(), 256u32.into()];
///     stream.launch(&saxpy, &Launch::new(256, 64), &args)?;
/// }
/// stream.synchronize()?;
/// assert_eq!(y.read::<f32>()?, [6.0; 256]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Stream {
    device: Device,
    jobs: Sender<Job>,
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

/// What the stream's thread does.
enum Job {
    Launch(Box<Queued>, Promise),
    /// The end of the wait is the end of the launch of another stream.
    WaitFor(Event),
    /// Nothing but the event.
    Record(Promise),
}

/// A launch with all that it uses.
struct Queued {
    kernel: Kernel,
    launch: Launch,
    args: Vec<Arg>,
    settings: Settings<'static>,
    /// Ends after the arguments are dropped.
    _use: Use,
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream, Error> {
        let (jobs, queue) = mpsc::channel();
        let of = device.clone();
        runtime::stack::spawn("wavelift stream", move || serve(&of, &queue))
            .map_err(Error::StreamThread)?;
        Ok(Stream {
            device: device.clone(),
            jobs,
        })
    }

    /// Its device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Queues a launch of `kernel`, with the device's settings. The event is its end.
    pub fn launch(&self, kernel: &Kernel, launch: &Launch, args: &[Arg]) -> Result<Event, Error> {
        self.launch_with(kernel, launch, args, &self.device.settings())
    }

    /// As [`Stream::launch`], with settings for this launch, such as a
    /// [`CancelToken`](crate::CancelToken). The time limit begins when the launch does.
    pub fn launch_with(
        &self,
        kernel: &Kernel,
        launch: &Launch,
        args: &[Arg],
        settings: &Settings<'static>,
    ) -> Result<Event, Error> {
        let begun = self.device.begin(kernel, args)?;
        // The dispatcher's checks, without a workgroup.
        let check = Settings {
            threads: 1,
            stack_bytes: settings.stack_bytes,
            only: Some(0..0),
            ..Settings::default()
        };
        self.device.run(kernel, launch, args, &check)?;
        let queued = Queued {
            kernel: kernel.clone(),
            launch: *launch,
            args: args.to_vec(),
            settings: settings.clone(),
            _use: begun,
        };
        let (promise, event) = Promise::new();
        self.send(Job::Launch(Box::new(queued), promise))?;
        Ok(event)
    }

    /// Lets subsequent launches of this stream begin after the launch of `event`, which may be of any
    /// stream, of another device as well. If that launch fails, this stream has failed, too.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        self.send(Job::WaitFor(event.clone()))
    }

    /// An event that is done when all launches so far have ended. Its counters are empty.
    pub fn record(&self) -> Result<Event, Error> {
        let (promise, event) = Promise::new();
        self.send(Job::Record(promise))?;
        Ok(event)
    }

    /// Waits until all launches so far have ended; the first error, if one has failed.
    pub fn synchronize(&self) -> Result<(), Error> {
        self.record()?.wait().map(drop)
    }

    fn send(&self, job: Job) -> Result<(), Error> {
        self.jobs.send(job).map_err(|_| Error::StreamEnded)
    }
}

/// The thread of a stream. It ends with the last clone of the stream, after all jobs.
fn serve(device: &Device, jobs: &Receiver<Job>) {
    let mut failed: Option<Arc<Error>> = None;
    for job in jobs {
        match job {
            Job::Launch(queued, promise) => {
                let result = match &failed {
                    None => queued.run(device).map_err(Arc::new),
                    Some(first) => Err(Arc::new(first.not_run())),
                };
                if let (Err(error), None) = (&result, &failed) {
                    failed = Some(error.clone());
                }
                // Who waits for the event may count on it that the arguments are dropped.
                drop(queued);
                promise.fulfil(result);
            }
            Job::WaitFor(event) => {
                if failed.is_none() {
                    failed = event.result().err();
                }
            }
            Job::Record(promise) => promise.fulfil(match &failed {
                None => Ok(Stats::default()),
                Some(first) => Err(first.clone()),
            }),
        }
    }
}

impl Queued {
    fn run(&self, device: &Device) -> Result<Stats, Error> {
        device.run(&self.kernel, &self.launch, &self.args, &self.settings)
    }
}
