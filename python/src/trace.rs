//! Traces of waves.

use std::ops::ControlFlow;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use wavelift::source::SourceMap;
use wavelift::trace::{self, Format, Names, RegisterValue, Selection, Tracer};
use wavelift::{DeviceOptions, Launch, half};

use crate::device::Device;
use crate::elsewhere::Elsewhere;
use crate::error::exception;
use crate::kernel::Kernel;
use crate::run;

/// An instruction that a wave has executed.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct TraceEvent {
    event: trace::Event,
    /// Where each access is: a name and the offset there.
    places: Vec<Option<(String, u64)>>,
    /// The functions that the instruction is part of, the innermost first.
    frames: Vec<Frame>,
    text: String,
}

/// A function, whether it is inlined into the next one, and the file and line in it.
type Frame = (String, bool, Option<(String, u32)>);

/// Runs a kernel on the interpreter, with copies of the arguments, and gives what a wave executes.
pub(crate) fn record(
    py: Python<'_>,
    kernel: &Kernel,
    values: &Bound<'_, PyTuple>,
    launch: &Launch,
    timeout: Option<Duration>,
    selection: Selection,
) -> PyResult<Vec<TraceEvent>> {
    let known = kernel.module.get();
    let options = DeviceOptions {
        sanitize: false,
        ..known.device.get().inner().options().clone()
    };
    let tracer = Tracer::new(options).map_err(|error| exception(py, &error))?;
    let device = Device::from(tracer.device().clone());
    let there = Elsewhere::new(py, kernel, values, device)?;
    let (inner, args) = (&there.kernel.inner, &there.args);
    let names = there.names();
    // As without debugging information where that is damaged.
    let map = inner.module().source().ok().filter(|map| map.has_lines());
    run::interruptible(py, tracer.device(), timeout, |settings| {
        let mut events = Vec::new();
        let each = |event: &trace::Event| {
            events.push(TraceEvent::new(event, &names, map));
            ControlFlow::Continue(())
        };
        tracer.launch(inner, launch, args, settings, selection, each)?;
        Ok(events)
    })
}

impl TraceEvent {
    fn new(event: &trace::Event, names: &Names, map: Option<&SourceMap>) -> TraceEvent {
        let places = event.accesses.iter().map(|access| {
            let found = names.find(access);
            found.map(|(name, offset)| (name.to_owned(), offset))
        });
        let frames = map.map_or_else(Vec::new, |map| map.frames(event.pc));
        let frames = frames.iter().map(|frame| {
            let line = frame.location.map(|at| (at.file.to_owned(), at.line));
            (frame.name().into_owned(), frame.inlined, line)
        });
        TraceEvent {
            places: places.collect(),
            frames: frames.collect(),
            text: names.show(event).to_string(),
            event: event.clone(),
        }
    }
}

/// A value as a number of Python, by its format.
fn number<'py>(py: Python<'py>, format: Format, bits: u64) -> PyResult<Bound<'py, PyAny>> {
    let float = match format {
        Format::Bits32 | Format::Bits64 => return Ok(bits.into_pyobject(py)?.into_any()),
        Format::F16 => half::f16::from_bits(bits as u16).to_f64(),
        Format::F32 => f32::from_bits(bits as u32).into(),
        Format::F64 => f64::from_bits(bits),
    };
    Ok(float.into_pyobject(py)?.into_any())
}

/// Kind of an access, lane, name, offset or address, bytes, and the bytes that an atomic has left.
type Access<'py> = (
    &'static str,
    Option<u32>,
    Option<&'py str>,
    u64,
    Bound<'py, PyBytes>,
    Option<Bound<'py, PyBytes>>,
);

#[pymethods]
impl TraceEvent {
    /// How many instructions the wave has executed before.
    #[getter]
    fn number(&self) -> u64 {
        self.event.number
    }

    /// Address of the instruction in the code object.
    #[getter]
    fn pc(&self) -> u64 {
        self.event.pc
    }

    /// Function of the instruction, and offset there.
    #[getter]
    fn symbol(&self) -> Option<(String, u64)> {
        self.event.symbol.clone()
    }

    /// File and line that it was compiled from, if the code object has lines.
    #[getter]
    fn line(&self) -> Option<(String, u32)> {
        self.frames.first()?.2.clone()
    }

    /// The functions that it is part of, the innermost first, if the code object has lines: name, whether
    /// it is inlined into the next one, and file and line in it, which is that of the call in all but
    /// the first.
    #[getter]
    fn frames(&self) -> Vec<Frame> {
        self.frames.clone()
    }

    /// The instruction as LLVM prints it.
    #[getter]
    fn instruction(&self) -> &str {
        &self.event.instruction
    }

    /// EXEC before it.
    #[getter]
    fn exec(&self) -> u64 {
        self.event.exec
    }

    /// Registers that it has changed: a number by name, or a dictionary of numbers by lane. Those of
    /// instructions on floats are floats.
    #[getter]
    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = PyDict::new(py);
        for change in &self.event.registers {
            match &change.value {
                RegisterValue::Wave(bits) => {
                    all.set_item(&change.register, number(py, change.format, *bits)?)?;
                }
                RegisterValue::Lanes(lanes) => {
                    let by_lane = PyDict::new(py);
                    for &(lane, bits) in lanes {
                        by_lane.set_item(lane, number(py, change.format, bits)?)?;
                    }
                    all.set_item(&change.register, by_lane)?;
                }
            }
        }
        Ok(all)
    }

    /// Its accesses to memory: "read", "write" or "atomic"; the lane, None for the scalar unit; the
    /// parameter, "lds", "scratch", "code", "arguments" or None, and the offset there, or the address;
    /// the bytes; and those that an atomic has left.
    #[getter]
    fn memory<'py>(&'py self, py: Python<'py>) -> Vec<Access<'py>> {
        let accesses = self.event.accesses.iter().zip(&self.places);
        let access = accesses.map(|(access, place)| {
            let (name, offset) = match place {
                Some((name, offset)) => (Some(&**name), *offset),
                None => (None, access.address),
            };
            let bytes = |bytes: &Vec<u8>| PyBytes::new(py, bytes);
            let new = access.new.as_ref().map(bytes);
            (
                access.access.name(),
                access.lane,
                name,
                offset,
                bytes(&access.value),
                new,
            )
        });
        access.collect()
    }

    /// What the wave does next: "continue", "jump", "barrier", "wait", "end" or "fault".
    #[getter]
    fn next(&self) -> &'static str {
        self.event.next.name()
    }

    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        let (number, instruction) = (self.event.number, &self.event.instruction);
        format!("<wavelift.TraceEvent {number}: {instruction}>")
    }
}
