//! Where kernels access arrays. Those in the device's own memory are where they should be. Others are
//! copied there for the time of the launch: kernels access memory from elsewhere by a call for each
//! lane, which takes more time than the copies of all elements that it reaches once. Memory is
//! registered and accessed in place where the caller asks for it.
#![expect(
    unsafe_code,
    reason = "memory of Python is copied, and registered, by address"
)]

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use wavelift::{Arg, Buffer, Error, HostRange};

use crate::array::{Owner, View};
use crate::buffer::host;
use crate::device::Device;
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
    /// May the kernel change one of them?
    written: bool,
}

/// A copy in the device's memory.
struct Copied {
    what: What,
    buffer: Buffer,
    /// The contents, if the kernel must not change them.
    before: Option<Vec<u8>>,
    /// The argument, for messages.
    slot: usize,
}

/// What is copied.
enum What {
    /// Contiguous memory, perhaps of several arrays that overlap.
    Span(Span),
    /// An array with gaps, or one that may not be written.
    View(View),
}

/// The arrays of a launch, until it has ended.
pub(crate) struct Placed {
    registry: Arc<Registry>,
    held: Vec<Span>,
    copied: Vec<Copied>,
    /// Arrays in the device's memory.
    resident: Vec<View>,
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

/// Arrays by address, those that overlap together; and the number and address of each argument.
fn spans(arrays: Vec<Array>, parameters: &[Parameter]) -> (Vec<Span>, Vec<(usize, usize)>) {
    let mut slots = Vec::new();
    let mut spans = Vec::new();
    for Array { slot, view } in arrays {
        let start = view.start().expose_provenance();
        slots.push((slot, start));
        spans.push(Span {
            start,
            end: start + view.bytes(),
            owners: vec![view.owner],
            written: !parameters[slot].about.is_read_only(),
        });
    }
    spans.sort_by_key(|span| span.start);
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.start < last.end => {
                last.end = last.end.max(span.end);
                last.owners.extend(span.owners);
                last.written |= span.written;
            }
            _ => merged.push(span),
        }
    }
    (merged, slots)
}

impl Placed {
    /// Lets kernels access arrays, and sets the arguments that they are.
    pub(crate) fn new(
        py: Python<'_>,
        device: &Device,
        parameters: &[Parameter],
        arrays: Vec<Array>,
        in_place: bool,
        args: &mut [Arg],
    ) -> PyResult<Placed> {
        let mut placed = Placed {
            registry: device.registry().clone(),
            held: Vec::new(),
            copied: Vec::new(),
            resident: Vec::new(),
        };
        let (mut registered, mut whole, mut single) = (Vec::new(), Vec::new(), Vec::new());
        for array in arrays {
            let view = &array.view;
            if view.bytes() == 0 || device.contains(view.start().addr()) && view.is_plain() {
                args[array.slot] = Arg::Pointer(view.start().addr() as u64);
                placed.resident.push(array.view);
            } else if !view.is_plain() {
                single.push(array);
            } else if in_place && view.is_aligned() {
                registered.push(array);
            } else {
                whole.push(array);
            }
        }
        let others = registered.iter().chain(&whole);
        let others: Vec<_> = others.map(|other| (other.slot, &other.view)).collect();
        let copied = placed.copy_views(device, parameters, single, &others, args);
        copied?.map_err(|error| exception(py, &error))?;
        let copied = placed.copy_spans(device, parameters, whole, args);
        copied.map_err(|error| exception(py, &error))?;
        placed.register(py, device, parameters, registered, args)?;
        Ok(placed)
    }

    /// Copies arrays with gaps, and those that may not be written.
    fn copy_views(
        &mut self,
        device: &Device,
        parameters: &[Parameter],
        arrays: Vec<Array>,
        others: &[(usize, &View)],
        args: &mut [Arg],
    ) -> PyResult<Result<(), Error>> {
        for Array { slot, view } in arrays {
            let copied = || {
                self.copied.iter().filter_map(|copied| match &copied.what {
                    What::View(view) => Some((copied, view)),
                    What::Span(_) => None,
                })
            };
            if let Some((same, _)) = copied().find(|(_, other)| other.is_same(&view)) {
                args[slot] = (&same.buffer).into();
                continue;
            }
            let resident = self.resident.iter().map(|other| (None, other));
            let others = others.iter().map(|&(slot, other)| (Some(slot), other));
            let copied = copied().map(|(copied, other)| (Some(copied.slot), other));
            let mut all = resident.chain(others).chain(copied);
            if let Some((other, _)) = all.find(|(_, other)| other.overlaps(&view)) {
                let other = match other {
                    Some(slot) => format!("argument {}", slot + 1),
                    None => "an array in the device's memory".to_owned(),
                };
                return Err(parameters[slot].value_error(format!(
                    "shares memory with {other}, but has to be copied by itself, since it is read-only or \
                     has gaps; pass a copy of one of them"
                )));
            }
            let copy = match Copied::of_view(device.inner(), slot, view) {
                Ok(copy) => copy,
                Err(error) => return Ok(Err(error)),
            };
            args[slot] = (&copy.buffer).into();
            self.copied.push(copy);
        }
        Ok(Ok(()))
    }

    /// Copies other arrays. Those that overlap overlap in the copy.
    fn copy_spans(
        &mut self,
        device: &Device,
        parameters: &[Parameter],
        arrays: Vec<Array>,
        args: &mut [Arg],
    ) -> Result<(), Error> {
        let (spans, slots) = spans(arrays, parameters);
        let first = self.copied.len();
        for span in spans {
            self.copied.push(Copied::of_span(device.inner(), span)?);
        }
        for (slot, address) in slots {
            let copies = self.copied[first..].iter();
            let at = |copy: &Copied| match &copy.what {
                What::Span(span) if (span.start..span.end).contains(&address) => {
                    Some(copy.buffer.at((address - span.start) as u64))
                }
                _ => None,
            };
            args[slot] = copies.filter_map(at).next().expect("it is in a span")?;
        }
        Ok(())
    }

    fn register(
        &mut self,
        py: Python<'_>,
        device: &Device,
        parameters: &[Parameter],
        arrays: Vec<Array>,
        args: &mut [Arg],
    ) -> PyResult<()> {
        let (spans, slots) = spans(arrays, parameters);
        self.registry.hold(py, device.inner(), &spans)?;
        self.held = spans;
        for (slot, address) in slots {
            let arg = self.registry.arg(address);
            args[slot] = arg.map_err(|error| exception(py, &error))?;
        }
        Ok(())
    }

    /// Writes copies back. The launch has ended, by a fault as well.
    pub(crate) fn finish(mut self, py: Python<'_>, parameters: &[Parameter]) -> PyResult<()> {
        let mut result = Ok(());
        for copy in std::mem::take(&mut self.copied) {
            let Some(before) = &copy.before else {
                copy.write_back();
                continue;
            };
            let now: Vec<u8> = copy.buffer.read().map_err(|error| exception(py, &error))?;
            if *before != now {
                result = Err(parameters[copy.slot]
                    .value_error("is read-only, but the kernel wrote to it (to a copy of it)"));
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
    fn of_view(device: &wavelift::Device, slot: usize, view: View) -> Result<Copied, Error> {
        let buffer = device.alloc(view.bytes() as u64)?;
        // SAFETY: the buffer has the array's size.
        unsafe { view.copy_to(host(&buffer)) };
        let before = view.read_only.then(|| view.read());
        Ok(Copied {
            what: What::View(view),
            buffer,
            before,
            slot,
        })
    }

    fn of_span(device: &wavelift::Device, span: Span) -> Result<Copied, Error> {
        let bytes = span.end - span.start;
        let buffer = device.alloc(bytes as u64)?;
        let start = std::ptr::with_exposed_provenance(span.start);
        // SAFETY: the owners of the arrays keep the memory valid, and the buffer has its size.
        unsafe { std::ptr::copy::<u8>(start, host(&buffer), bytes) };
        Ok(Copied {
            what: What::Span(span),
            buffer,
            before: None,
            slot: 0,
        })
    }

    /// The kernel has ended.
    fn write_back(&self) {
        let from = host(&self.buffer);
        match &self.what {
            What::View(view) => {
                // SAFETY: the buffer has the array's size. It is not read-only: there would be the
                // earlier contents.
                unsafe { view.copy_from(from) };
            }
            What::Span(span) if span.written => {
                let start = std::ptr::with_exposed_provenance_mut(span.start);
                // SAFETY: the owners keep the memory valid; arrays that may not be written are no
                // spans.
                unsafe { std::ptr::copy(from, start, span.end - span.start) };
            }
            What::Span(_) => {}
        }
    }
}
