//! Comparison of the engines.

use std::time::Duration;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use wavelift::diff::{Comparison, Divergence, Narrowed, Outcome, Verdict, Workgroup};
use wavelift::trace::Names;
use wavelift::{DeviceOptions, Launch};

use crate::device::Device;
use crate::elsewhere::Elsewhere;
use crate::error::exception;
use crate::kernel::Kernel;
use crate::run;

/// Where the interpreter and the translator differ about a launch.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Difference {
    kernel: String,
    /// How each engine ended, where they differ in that.
    outcomes: Option<[String; 2]>,
    workgroup: Option<Workgroup>,
    narrowed: Option<Narrowed>,
    names: Names,
}

/// Runs a kernel on both engines, with copies of the arguments. Nothing if they agree.
pub(crate) fn compare(
    py: Python<'_>,
    kernel: &Kernel,
    values: &Bound<'_, PyTuple>,
    launch: &Launch,
    timeout: Option<Duration>,
    step_limit: u64,
) -> PyResult<Option<Difference>> {
    let known = kernel.module.get();
    let options = DeviceOptions {
        // The order of atomics is the same each time.
        threads: 1,
        sanitize: false,
        ..known.device.get().inner().options().clone()
    };
    let comparison = Comparison::new(options).map_err(|error| exception(py, &error))?;
    let device = Device::from(comparison.device().clone());
    let there = Elsewhere::new(py, kernel, values, device)?;
    let (inner, args) = (&there.kernel.inner, &there.args);
    let names = there.names();
    let name = inner.name().to_owned();
    run::interruptible(py, comparison.device(), timeout, |settings| {
        let difference = match comparison.launch(inner, launch, args, settings)? {
            Verdict::Same(Outcome::Ended) => return Ok(None),
            Verdict::Same(Outcome::Faulted(fault)) => return Err(wavelift::Error::Fault(fault)),
            Verdict::Different(difference) => difference,
        };
        let outcome = |outcome: &Outcome| match outcome {
            Outcome::Ended => "ends without a fault".to_owned(),
            Outcome::Faulted(fault) => format!("faults: {fault}"),
        };
        let (reference, other) = (&difference.reference.outcome, &difference.other.outcome);
        let outcomes = (reference != other).then(|| [outcome(reference), outcome(other)]);
        let workgroup = difference.first_workgroup()?;
        let narrowed = workgroup.map(|workgroup| difference.narrow(&workgroup, step_limit));
        Ok(Some(Difference {
            kernel: name,
            outcomes,
            workgroup,
            narrowed: narrowed.transpose()?,
            names,
        }))
    })
}

impl Difference {
    fn divergence(&self) -> Option<&Divergence> {
        self.narrowed.as_ref()?.divergence()
    }
}

#[pymethods]
impl Difference {
    /// The first workgroup that differs. None if the difference does not show again.
    #[getter]
    fn workgroup(&self) -> Option<(u32, u32, u32)> {
        self.workgroup.map(|workgroup| workgroup.id.into())
    }

    /// The wave in the workgroup, where the instruction was found.
    #[getter]
    fn wave(&self) -> Option<u32> {
        self.divergence().map(|found| found.parting.wave)
    }

    /// Address of the instruction in the code object.
    #[getter]
    fn pc(&self) -> Option<u64> {
        self.divergence().map(|found| found.pc)
    }

    /// Function of the instruction, and offset there.
    #[getter]
    fn symbol(&self) -> Option<(String, u64)> {
        self.divergence()?.symbol.clone()
    }

    /// The instruction after which the engines differ.
    #[getter]
    fn instruction(&self) -> Option<&str> {
        self.divergence().map(|found| &*found.instruction)
    }

    /// Registers that differ: name, lane, and the values of interpreter and translator.
    #[getter]
    fn registers(&self) -> Vec<(String, Option<u32>, u64, u64)> {
        let found = self.divergence().into_iter();
        let registers = found.flat_map(|found| &found.registers);
        let register = registers.map(|register| {
            let (name, lane) = (register.register.clone(), register.lane);
            (name, lane, register.reference, register.other)
        });
        register.collect()
    }

    /// Memory that differs: parameter and offset, or None and an address, and the bytes of
    /// interpreter and translator.
    #[getter]
    fn memory<'py>(&self, py: Python<'py>) -> Vec<Bytes<'py>> {
        let found = self.divergence().into_iter();
        let memory = found.flat_map(|found| &found.memory);
        let piece = memory.map(|piece| {
            let (name, offset) = match self.names.at(piece.address) {
                Some((name, offset)) => (Some(name.to_owned()), offset),
                None => (None, piece.address),
            };
            let bytes = [&piece.reference, &piece.other].map(|bytes| PyBytes::new(py, bytes));
            let [reference, other] = bytes;
            (name, offset, reference, other)
        });
        piece.collect()
    }

    fn __str__(&self) -> String {
        let mut out = format!("the engines differ about {}", self.kernel);
        if let Some([reference, other]) = &self.outcomes {
            out += &format!("\ninterp {reference}\njit {other}");
        }
        match (&self.workgroup, &self.narrowed) {
            (Some(Workgroup { id: [x, y, z], .. }), Some(narrowed)) => {
                out += &format!("\nfirst different workgroup: ({x}, {y}, {z})\n{narrowed}");
            }
            _ => {
                out += "\nthe difference does not show again: the result depends on time or on the order of threads";
            }
        }
        out
    }

    fn __repr__(&self) -> String {
        let at = match (self.instruction(), self.workgroup()) {
            (Some(instruction), _) => instruction.to_owned(),
            (None, Some(workgroup)) => format!("workgroup {workgroup:?}"),
            (None, None) => "not again".to_owned(),
        };
        format!("<wavelift.Difference of {}: {at}>", self.kernel)
    }
}

/// Parameter, offset or address, and the bytes of both engines.
type Bytes<'py> = (
    Option<String>,
    u64,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);
