//! Launches that run while Python goes on.

use std::time::Duration;

use pyo3::prelude::*;

use crate::device::Device;
use crate::error::exception;
use crate::run;
use crate::stats::Stats;

/// A queue of launches that run in order while Python goes on. After one has failed it runs nothing
/// more.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Stream {
    pub(crate) inner: wavelift::Stream,
    pub(crate) device: Py<Device>,
}

/// The end of a launch on a stream.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Event(pub(crate) wavelift::Event);

impl Stream {
    pub(crate) fn new(device: &Bound<'_, Device>) -> PyResult<Stream> {
        let inner = device.get().inner().stream();
        Ok(Stream {
            inner: inner.map_err(|error| exception(device.py(), &error))?,
            device: device.clone().unbind(),
        })
    }
}

#[pymethods]
impl Stream {
    /// The device that it belongs to.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<Device> {
        self.device.clone_ref(py)
    }

    /// Waits until all launches so far have ended.
    fn synchronize(&self, py: Python<'_>) -> PyResult<()> {
        run::wait(py, &self.record(py)?.0, None).map(drop)
    }

    /// An event that is done when all launches so far have ended.
    fn record(&self, py: Python<'_>) -> PyResult<Event> {
        let event = self.inner.record();
        event.map(Event).map_err(|error| exception(py, &error))
    }

    /// Lets subsequent launches begin after the one of `event`.
    fn wait_for(&self, py: Python<'_>, event: &Event) -> PyResult<()> {
        let queued = self.inner.wait_for(&event.0);
        queued.map_err(|error| exception(py, &error))
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Stream of {}>", self.device.get().engine())
    }
}

#[pymethods]
impl Event {
    /// Has the launch ended, or failed?
    #[getter]
    fn done(&self) -> bool {
        self.0.is_done()
    }

    /// Waits for the end of the launch, for at most `timeout` seconds: its counters, or None if it
    /// has not ended by then.
    #[pyo3(signature = (timeout = None))]
    fn wait(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<Option<Stats>> {
        let Some(limit) = crate::device::limit(timeout)? else {
            return run::wait(py, &self.0, None).map(|stats| Some(stats.into()));
        };
        let begin = std::time::Instant::now();
        loop {
            let left = limit.saturating_sub(begin.elapsed());
            if let Some(result) = py.detach(|| self.0.wait_timeout(left.min(run::POLL))) {
                return match result {
                    Ok(stats) => Ok(Some(stats.into())),
                    Err(error) => Err(exception(py, &error)),
                };
            }
            if left == Duration::ZERO {
                return Ok(None);
            }
            py.check_signals()?;
        }
    }

    fn __repr__(&self) -> &'static str {
        match self.0.is_done() {
            true => "<wavelift.Event: done>",
            false => "<wavelift.Event: running>",
        }
    }
}
