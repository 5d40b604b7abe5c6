//! Where kernels access arrays: in place, if their memory allows it, else in a copy that is written
//! back after the launch.
#![expect(unsafe_code, reason = "memory of Python is registered by address")]

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use wavelift::{Arg, Buffer, Error, HostRange};

use crate::array::{Owner, View};
use crate::error::exception;
use crate::parameter::Parameter;
use crate::run::POLL;

/// Memory of Python that launches on a device access at a time.
#[derive(Default)]
pub(crate) struct Registry {
    ranges: Mutex<Vec<Registered>>,
    /// Signals the end of a registration.
    ended: Condvar,
}

/// Registered memory, which several launches may use.
struct Registered {
    start: usize,
    end: usize,
    users: usize,
    range: HostRange,
    /// Keep the memory valid: those of the launches that have ended.
    owners: Vec<Owner>,
}

/// Arrays that overlap, directly or by others between them.
struct Span {
    start: usize,
    end: usize,
    owners: Vec<Owner>,
}

/// A copy of an array in the device's memory.
struct Copied {
    view: View,
    buffer: Buffer,
    /// The contents of an array that the kernel must not change.
    before: Option<Vec<u8>>,
    /// The argument, for messages.
    slot: usize,
}

/// The arrays of a launch, until it has ended.
pub(crate) struct Placed {
    registry: Arc<Registry>,
    held: Vec<Span>,
    copied: Vec<Copied>,
}

impl Registry {
    fn ranges(&self) -> MutexGuard<'_, Vec<Registered>> {
        // Each change is complete before anything can panic.
        self.ranges.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers spans, or uses registrations that contain them. Waits for launches on other
    /// threads whose arrays overlap partly.
    fn hold(&self, py: Python<'_>, device: &wavelift::Device, spans: &[Span]) -> PyResult<()> {
        loop {
            let mut ranges = self.ranges();
            let conflict = spans.iter().any(|span| {
                let overlaps =
                    |range: &&Registered| range.start < span.end && span.start < range.end;
                let mut others = ranges.iter().filter(overlaps);
                others.any(|range| span.start < range.start || range.end < span.end)
            });
            if !conflict {
                for span in spans {
                    let known = ranges.iter_mut().find(|range| range.contains(span));
                    if let Some(known) = known {
                        known.users += 1;
                        continue;
                    }
                    let start = std::ptr::with_exposed_provenance_mut(span.start);
                    // SAFETY: the owners of the arrays keep the memory valid; they are dropped by
                    // `HostRange::release`. Arrays that may not be written are copied, so that it may
                    // be. Ranges that overlap are not registered twice. Nothing makes references to
                    // the memory of arrays.
                    let range = unsafe { device.register_raw(start, span.end - span.start) };
                    ranges.push(Registered {
                        start: span.start,
                        end: span.end,
                        users: 1,
                        range,
                        owners: Vec::new(),
                    });
                }
                return Ok(());
            }
            drop(ranges);
            py.detach(|| {
                // Whatever has ended, the loop looks.
                let _ended = self.ended.wait_timeout(self.ranges(), POLL);
            });
            py.check_signals()?;
        }
    }

    /// A pointer into registered memory.
    fn arg(&self, address: usize) -> Result<Arg, Error> {
        let ranges = self.ranges();
        let range = ranges
            .iter()
            .find(|range| (range.start..range.end).contains(&address));
        let range = range.expect("the launch holds it");
        range.range.at((address - range.start) as u64)
    }

    /// The launch has ended.
    fn release(&self, span: Span) {
        let mut ranges = self.ranges();
        let at = ranges.iter().position(|range| range.contains(&span));
        let at = at.expect("the launch holds it");
        let range = &mut ranges[at];
        range.owners.extend(span.owners);
        range.users -= 1;
        if range.users == 0 {
            let Registered { range, owners, .. } = ranges.swap_remove(at);
            // Dropping an owner may run code of Python.
            drop(ranges);
            self.ended.notify_all();
            range.release(Box::new(owners));
        }
    }
}

impl Registered {
    fn contains(&self, span: &Span) -> bool {
        self.start <= span.start && span.end <= self.end
    }
}

/// An array that is an argument.
pub(crate) struct Array {
    /// Number of the argument.
    pub(crate) slot: usize,
    pub(crate) view: View,
}

impl Placed {
    /// Lets kernels access arrays, and sets the arguments that they are.
    pub(crate) fn new(
        py: Python<'_>,
        device: &wavelift::Device,
        registry: &Arc<Registry>,
        parameters: &[Parameter],
        arrays: Vec<Array>,
        args: &mut [Arg],
    ) -> PyResult<Placed> {
        let mut placed = Placed {
            registry: registry.clone(),
            held: Vec::new(),
            copied: Vec::new(),
        };
        let (direct, copied): (Vec<_>, Vec<_>) = arrays
            .into_iter()
            .partition(|array| array.view.is_accessible());
        for Array { slot, view } in copied {
            let same = placed.copied.iter().find(|other| other.view.is_same(&view));
            if let Some(same) = same {
                args[slot] = (&same.buffer).into();
                continue;
            }
            let direct = direct.iter().map(|other| (other.slot, &other.view));
            let copied = placed.copied.iter().map(|other| (other.slot, &other.view));
            if let Some((other, _)) = direct
                .chain(copied)
                .find(|(_, other)| other.overlaps(&view))
            {
                return Err(parameters[slot].value_error(format!(
                    "shares memory with argument {}, but kernels cannot access it in place (it is \
                     read-only, has gaps or is not aligned); pass a copy of one of them",
                    other + 1
                )));
            }
            let copy = Copied::new(device, slot, view);
            let copy = copy.map_err(|error| exception(py, &error))?;
            args[slot] = (&copy.buffer).into();
            placed.copied.push(copy);
        }
        placed.hold(py, device, direct, args)?;
        Ok(placed)
    }

    fn hold(
        &mut self,
        py: Python<'_>,
        device: &wavelift::Device,
        arrays: Vec<Array>,
        args: &mut [Arg],
    ) -> PyResult<()> {
        let mut slots = Vec::new();
        let mut spans: Vec<Span> = Vec::new();
        for Array { slot, view } in arrays {
            let start = view.start().expose_provenance();
            let end = start + view.bytes();
            if start == end {
                args[slot] = Arg::Pointer(start as u64);
                continue;
            }
            slots.push((slot, start));
            let owners = vec![view.owner];
            spans.push(Span { start, end, owners });
        }
        spans.sort_by_key(|span| span.start);
        let mut merged: Vec<Span> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start < last.end => {
                    last.end = last.end.max(span.end);
                    last.owners.extend(span.owners);
                }
                _ => merged.push(span),
            }
        }
        self.registry.hold(py, device, &merged)?;
        self.held = merged;
        for (slot, address) in slots {
            args[slot] = self
                .registry
                .arg(address)
                .map_err(|error| exception(py, &error))?;
        }
        Ok(())
    }

    /// Writes copies back. The launch has ended, by a fault as well.
    pub(crate) fn finish(mut self, py: Python<'_>, parameters: &[Parameter]) -> PyResult<()> {
        let mut result = Ok(());
        for copy in std::mem::take(&mut self.copied) {
            let now = copy.contents().map_err(|error| exception(py, &error))?;
            match &copy.before {
                Some(before) if *before != now => {
                    result = Err(parameters[copy.slot].error::<PyValueError>(
                        "is read-only, but the kernel wrote to it (to a copy of it)",
                    ));
                }
                Some(_) => {}
                None => copy.view.write(&now),
            }
        }
        result
    }
}

impl Drop for Placed {
    fn drop(&mut self) {
        for span in std::mem::take(&mut self.held) {
            self.registry.release(span);
        }
    }
}

impl Copied {
    fn new(device: &wavelift::Device, slot: usize, view: View) -> Result<Copied, Error> {
        let mut bytes = Vec::new();
        view.read(&mut bytes);
        let buffer = device.buffer(&bytes)?;
        let before = view.read_only.then_some(bytes);
        Ok(Copied {
            view,
            buffer,
            before,
            slot,
        })
    }

    fn contents(&self) -> Result<Vec<u8>, Error> {
        self.buffer.read()
    }
}
