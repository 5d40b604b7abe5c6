//! A kernel on a device of its own, with copies of the arguments.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use wavelift::Arg;
use wavelift::trace::Names;

use crate::device::Device;
use crate::kernel::Kernel;
use crate::module::Module;
use crate::names;
use crate::place::Placed;

/// A kernel on another device than its module's. What it writes is of no use: the arrays and buffers
/// of the caller stay as they are.
pub(crate) struct Elsewhere {
    pub(crate) device: Py<Device>,
    pub(crate) kernel: Kernel,
    pub(crate) args: Vec<Arg>,
    /// The copies.
    _placed: Placed,
}

impl Elsewhere {
    /// Loads the kernel's code object for `device` and copies the arguments there.
    pub(crate) fn new(
        py: Python<'_>,
        kernel: &Kernel,
        values: &Bound<'_, PyTuple>,
        device: Device,
    ) -> PyResult<Elsewhere> {
        let device = Py::new(py, device)?;
        let object = kernel.module.get().inner.object().clone();
        let module = Py::new(py, Module::from_object(py, object, device.clone_ref(py))?)?;
        let kernel = Module::kernel(module.bind(py), kernel.inner.name())?;
        let (mut args, arrays) = kernel.arguments(values, true)?;
        let parameters = &kernel.parameters;
        let placed = Placed::new(py, device.get(), parameters, arrays, false, &mut args)?;
        Ok(Elsewhere {
            device,
            kernel,
            args,
            _placed: placed,
        })
    }

    /// Names of the memory that pointers among the arguments point into, by their parameters.
    pub(crate) fn names(&self) -> Names {
        let mut names = Names::default();
        for named in names::of_arguments(self.device.get(), &self.kernel, &self.args) {
            names.add(named.start, named.len, named.name);
        }
        names
    }
}
