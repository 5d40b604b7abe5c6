//! One launch of a kernel, at once or on a stream.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wavelift::{Arg, Launch};

use crate::checks::Checked;
use crate::device::Device;
use crate::error::exception;
use crate::kernel::Kernel;
use crate::place::{Array, Placed};
use crate::run;
use crate::stats::Stats;
use crate::stream::{Event, Stream};

/// How a launch is made.
pub(crate) struct How<'a, 'py> {
    pub(crate) timeout: Option<Duration>,
    pub(crate) stream: Option<&'a Bound<'py, Stream>>,
    pub(crate) in_place: bool,
}

impl Kernel {
    /// Runs it: its counters, or the event of a launch on a stream.
    pub(crate) fn launch<'py>(
        &self,
        py: Python<'py>,
        values: &Bound<'py, PyTuple>,
        launch: &Launch,
        how: &How<'_, 'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (args, arrays) = self.arguments(values, false)?;
        let Some(stream) = how.stream else {
            let stats = self.run(py, args, arrays, launch, how)?;
            return Ok(Bound::new(py, Stats::from(stats))?.into_any());
        };
        if let Some(Array { slot, .. }) = arrays.first() {
            return Err(self.parameters[*slot].type_error(
                "launches on a stream take a wavelift.Buffer (device.buffer(array)), since an array \
                 may change before they end",
            ));
        }
        let event = self.queue(py, &stream.get().inner, &args, launch, how)?;
        Ok(Bound::new(py, Event(event))?.into_any())
    }

    /// Runs it and waits for its end.
    fn run(
        &self,
        py: Python<'_>,
        mut args: Vec<Arg>,
        arrays: Vec<Array>,
        launch: &Launch,
        how: &How<'_, '_>,
    ) -> PyResult<wavelift::Stats> {
        let device: &Device = self.module.get().device.get();
        let mut settings = device.settings(how.timeout);
        let parameters = &self.parameters;
        let placed = Placed::new(py, device, parameters, arrays, how.in_place, &mut args)?;
        let checked = Checked::new(device, self, &args, &mut settings);
        let result = run::launch(py, device, &self.inner, launch, &args, settings);
        if let Some(checked) = checked {
            checked.ended(device);
        }
        drop(args);
        let finished = placed.finish(py, parameters);
        let stats = result?;
        finished?;
        Ok(stats)
    }

    /// Queues it on a stream.
    fn queue(
        &self,
        py: Python<'_>,
        stream: &wavelift::Stream,
        args: &[Arg],
        launch: &Launch,
        how: &How<'_, '_>,
    ) -> PyResult<wavelift::Event> {
        let device: &Device = self.module.get().device.get();
        let mut settings = device.settings(how.timeout);
        let checked = Checked::new(device, self, args, &mut settings);
        let queued = py.detach(|| stream.launch_with(&self.inner, launch, args, &settings));
        let event = queued.map_err(|error| exception(py, &error))?;
        if let Some(checked) = checked {
            checked.queued(device, event.clone());
        }
        Ok(event)
    }
}
