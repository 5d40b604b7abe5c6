//! The launches of a device that checks them.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use wavelift::sanitizer::Described;
use wavelift::{Arg, Event, Settings};

use crate::device::Device;
use crate::finding::Finding;
use crate::kernel::Kernel;
use crate::names::{self, Named};
use crate::run;

/// What was found in launches of a device.
#[derive(Default)]
pub(crate) struct Checks(Mutex<State>);

#[derive(Default)]
struct State {
    /// Number of the last launch.
    last: u64,
    /// Launches on streams.
    queued: Vec<(Checked, Event)>,
    found: Vec<Finding>,
}

/// A launch that is checked.
pub(crate) struct Checked {
    /// [`Settings::launch`], from 1 on.
    number: u64,
    kernel: wavelift::Kernel,
    names: Vec<Named>,
}

impl Checked {
    /// A launch with these settings begins, or is queued, on a device that checks launches.
    pub(crate) fn new(
        device: &Device,
        kernel: &Kernel,
        args: &[Arg],
        settings: &mut Settings<'_>,
    ) -> Option<Checked> {
        let mut state = device.checks()?.lock();
        state.last += 1;
        settings.launch = state.last;
        drop(state);
        Some(Checked {
            number: settings.launch,
            kernel: kernel.inner.clone(),
            names: names::of_arguments(device, kernel, args),
        })
    }

    /// It has ended.
    pub(crate) fn ended(&self, device: &Device) {
        if let Some(checks) = device.checks() {
            checks.lock().add(device.inner(), self);
        }
    }

    /// It is queued; `event` is its end.
    pub(crate) fn queued(self, device: &Device, event: Event) {
        if let Some(checks) = device.checks() {
            let mut state = checks.lock();
            state.queued.push((self, event));
            state.add_ended(device.inner());
        }
    }
}

impl Checks {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was found since the last call. Waits for queued launches.
    pub(crate) fn take(&self, py: Python<'_>, device: &wavelift::Device) -> PyResult<Vec<Finding>> {
        let queued = |state: MutexGuard<'_, State>| -> Vec<Event> {
            let events = state.queued.iter().map(|(_, event)| event.clone());
            events.collect()
        };
        for event in queued(self.lock()) {
            run::wait_for_end(py, &event)?;
        }
        let mut state = self.lock();
        state.add_ended(device);
        let mut found = std::mem::take(&mut state.found);
        drop(state);
        found.sort_by_key(Finding::launch);
        Ok(found)
    }
}

impl State {
    /// Adds what was found in a launch that has ended.
    fn add(&mut self, device: &wavelift::Device, launch: &Checked) {
        let Checked {
            number,
            kernel,
            names,
        } = launch;
        let all = device.findings_of(*number).into_iter();
        self.found.extend(all.map(|found| {
            let name = |address| names::element_at(names, address);
            let described = Described::new(&found, kernel, name);
            Finding::new(kernel.name(), found, described)
        }));
    }

    /// The same of queued ones that have ended.
    fn add_ended(&mut self, device: &wavelift::Device) {
        let queued = std::mem::take(&mut self.queued);
        for (launch, event) in queued {
            match event.is_done() {
                true => self.add(device, &launch),
                false => self.queued.push((launch, event)),
            }
        }
    }
}
