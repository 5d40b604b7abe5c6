//! The end of a launch on a stream.

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use runtime::Stats;

use crate::error::Error;

/// How a launch ended.
type Outcome = Result<Stats, Arc<Error>>;

/// The end of a launch on a [`Stream`](crate::Stream). A clone is the same event.
///
/// ```
/// use wavelift::{Device, Launch, Module};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::new()?;
/// let module = Module::load(&device, &std::fs::read("examples/saxpy/saxpy.gfx900.co")?)?;
/// let (x, y) = (device.buffer(&[1.0f32; 256])?, device.buffer(&[0.0f32; 256])?);
/// let args = [(&y).into(), (&x).into(), 2.0f32.into(), 256u32.into()];
///
/// let event = device.stream()?.launch(&module.kernel("saxpy")?, &Launch::new(256, 64), &args)?;
/// let stats = event.wait()?;
/// assert!(event.is_done());
/// assert_eq!(stats.workgroups, 4);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Event(Arc<Inner>);

#[derive(Default)]
struct Inner {
    outcome: Mutex<Option<Outcome>>,
    /// Signals the outcome.
    done: Condvar,
}

impl Inner {
    fn outcome(&self) -> MutexGuard<'_, Option<Outcome>> {
        // It is written once, at the end.
        self.outcome.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let done = self.is_done();
        f.debug_struct("Event").field("done", &done).finish()
    }
}

impl Event {
    /// Has the launch ended, or failed?
    pub fn is_done(&self) -> bool {
        self.0.outcome().is_some()
    }

    /// Waits for the end of the launch: its counters, or why it failed or was not run. May be
    /// called any number of times.
    pub fn wait(&self) -> Result<Stats, Error> {
        self.result().map_err(|error| error.repeat())
    }

    /// As [`Event::wait`], for at most that time; `None` if the launch has not ended by then.
    pub fn wait_timeout(&self, time: Duration) -> Option<Result<Stats, Error>> {
        let end = Instant::now().checked_add(time);
        let mut outcome = self.0.outcome();
        loop {
            if let Some(outcome) = &*outcome {
                return Some(outcome.clone().map_err(|error| error.repeat()));
            }
            let left = match end {
                // After the last time of the clock.
                None => time,
                Some(end) => end.checked_duration_since(Instant::now())?,
            };
            if left.is_zero() {
                return None;
            }
            outcome = match self.0.done.wait_timeout(outcome, left) {
                Ok((outcome, _)) => outcome,
                Err(poisoned) => poisoned.into_inner().0,
            };
        }
    }

    /// Waits for the end, and gives the error itself.
    pub(crate) fn result(&self) -> Outcome {
        let mut outcome = self.0.outcome();
        loop {
            if let Some(outcome) = &*outcome {
                return outcome.clone();
            }
            outcome = match self.0.done.wait(outcome) {
                Ok(outcome) => outcome,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
    }
}

/// The stream's side of an event. Dropped without an outcome it ends the event with
/// [`Error::StreamEnded`].
pub(crate) struct Promise(Option<Arc<Inner>>);

impl Promise {
    pub(crate) fn new() -> (Promise, Event) {
        let inner = Arc::<Inner>::default();
        (Promise(Some(inner.clone())), Event(inner))
    }

    /// The launch has ended.
    pub(crate) fn fulfil(mut self, outcome: Outcome) {
        self.end(outcome);
    }

    fn end(&mut self, outcome: Outcome) {
        if let Some(inner) = self.0.take() {
            *inner.outcome() = Some(outcome);
            inner.done.notify_all();
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.end(Err(Arc::new(Error::StreamEnded)));
    }
}
