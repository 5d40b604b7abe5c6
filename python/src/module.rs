//! Code objects.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::{PyKeyError, PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyString, PyType};
use wavelift::compile::{self, Language};
use wavelift::listing::{Comments, Listing};
use wavelift::{EngineKind, TargetId, object};

use crate::device::{self, Device};
use crate::error::{exception, not_compiled, of_file};
use crate::kernel::Kernel;

/// A code object that is loaded into a device's memory.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Module {
    pub(crate) inner: wavelift::Module,
    pub(crate) device: Py<Device>,
    /// The same code object on the default devices of other engines.
    others: Mutex<Vec<(EngineKind, Py<Module>)>>,
}

/// The device of a module by the arguments of its constructor.
fn choose(
    py: Python<'_>,
    device: Option<Py<Device>>,
    engine: Option<&str>,
) -> PyResult<Py<Device>> {
    match (device, engine) {
        (Some(_), Some(_)) => Err(PyTypeError::new_err(
            "give device or engine: a device has an engine",
        )),
        (Some(device), None) => Ok(device),
        (None, Some(engine)) => device::default(py, device::engine(engine)?),
        (None, None) => device::default(py, EngineKind::default()),
    }
}

/// The bytes of a code object that is given as such, or as a path.
fn read(code: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if !code.is_instance_of::<PyString>()
        && let Ok(bytes) = code.extract::<Vec<u8>>()
    {
        return Ok(bytes);
    }
    let path: PathBuf = code.extract()?;
    let bytes = code.py().detach(|| std::fs::read(&path));
    bytes.map_err(|error| of_file(code.py(), &path, &error))
}

/// Targets of the code objects in a file, or in its bytes, that can be run.
#[pyfunction]
pub(crate) fn targets(code: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let targets = object::targets(&read(code)?);
    let targets = targets.map_err(|error| exception(code.py(), &error.into()))?;
    let run = targets.iter().filter(|target| target.gfx().is_some());
    Ok(run.map(TargetId::to_string).collect())
}

impl Module {
    fn load(
        py: Python<'_>,
        bytes: &[u8],
        target: Option<&str>,
        device: Py<Device>,
    ) -> PyResult<Module> {
        let object = py.detach(|| {
            let target: Option<TargetId> = target.map(str::parse).transpose()?;
            object::open(bytes, target.as_ref())
        });
        let object = object.map_err(|error| exception(py, &error.into()))?;
        Module::from_object(py, object, device)
    }

    pub(crate) fn from_object(
        py: Python<'_>,
        object: object::CodeObject,
        device: Py<Device>,
    ) -> PyResult<Module> {
        let inner = wavelift::Module::from_object(device.get().inner(), object);
        Ok(Module {
            inner: inner.map_err(|error| exception(py, &error))?,
            device,
            others: Mutex::default(),
        })
    }

    /// The same code object for another engine.
    pub(crate) fn on_engine(slf: &Bound<'_, Module>, engine: EngineKind) -> PyResult<Py<Module>> {
        let (py, module) = (slf.py(), slf.get());
        if module.device.get().kind() == engine {
            return Ok(slf.clone().unbind());
        }
        let others = || module.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, other)) = others().iter().find(|(of, _)| *of == engine) {
            return Ok(other.clone_ref(py));
        }
        let object = module.inner.object().clone();
        let made = Module::from_object(py, object, device::default(py, engine)?)?;
        let made = Py::new(py, made)?;
        others().push((engine, made.clone_ref(py)));
        Ok(made)
    }

    /// The kernel of this name.
    pub(crate) fn kernel(slf: &Bound<'_, Module>, name: &str) -> PyResult<Kernel> {
        match slf.get().inner.kernel(name) {
            Ok(kernel) => Ok(Kernel::new(kernel, slf.clone().unbind())),
            Err(error) => Err(PyKeyError::new_err(error.to_string())),
        }
    }
}

#[pymethods]
impl Module {
    /// Loads a code object from a file or from bytes.
    #[new]
    #[pyo3(signature = (code, *, target = None, device = None, engine = None))]
    fn new(
        code: &Bound<'_, PyAny>,
        target: Option<&str>,
        device: Option<Py<Device>>,
        engine: Option<&str>,
    ) -> PyResult<Module> {
        let py = code.py();
        let device = choose(py, device, engine)?;
        Module::load(py, &read(code)?, target, device)
    }

    /// Compiles OpenCL C (`.cl`) or HIP (`.hip`): a file, or text as `source` in `language`
    /// ("opencl" or "hip").
    #[classmethod]
    #[pyo3(signature = (path = None, *, source = None, language = "opencl", target = None, device = None, engine = None))]
    fn compile(
        cls: &Bound<'_, PyType>,
        path: Option<PathBuf>,
        source: Option<&str>,
        language: &str,
        target: Option<&str>,
        device: Option<Py<Device>>,
        engine: Option<&str>,
    ) -> PyResult<Module> {
        let py = cls.py();
        let device = choose(py, device, engine)?;
        let language = match language {
            "opencl" => Language::OpenCl,
            "hip" => Language::Hip,
            _ => {
                let message = format!("language must be 'opencl' or 'hip', not {language:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let compiled = py.detach(|| match (&path, source) {
            (Some(path), None) => Some(compile::compile(path, target)),
            (None, Some(text)) => Some(compile::compile_text(text, language, target)),
            _ => None,
        });
        let Some(compiled) = compiled else {
            return Err(PyTypeError::new_err("give either a path or a source"));
        };
        let compiled = compiled.map_err(|error| not_compiled(py, &error))?;
        if !compiled.messages.is_empty() {
            let warning = std::ffi::CString::new(compiled.messages.trim_end())?;
            PyErr::warn(py, &py.get_type::<PyUserWarning>(), &warning, 1)?;
        }
        let bytes = std::fs::read(&compiled.object)?;
        Module::load(py, &bytes, target, device)
    }

    /// The device that it is loaded for.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<Device> {
        self.device.clone_ref(py)
    }

    /// The target, such as "gfx906".
    #[getter]
    fn target(&self) -> String {
        self.inner.object().target.to_string()
    }

    /// Names of the kernels.
    #[getter]
    fn kernels(&self) -> Vec<String> {
        self.inner.kernels().map(str::to_owned).collect()
    }

    fn __getitem__(slf: &Bound<'_, Self>, name: &str) -> PyResult<Kernel> {
        Module::kernel(slf, name)
    }

    fn __contains__(&self, name: &str) -> bool {
        self.inner.kernels().any(|kernel| kernel == name)
    }

    fn __len__(&self) -> usize {
        self.inner.kernels().count()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyList::new(py, self.kernels())?.try_iter()
    }

    /// The disassembly of all code, in LLVM's syntax.
    fn disassembly(&self, py: Python<'_>) -> PyResult<String> {
        let listing = Listing::new(self.inner.object(), None);
        let listing = listing.map_err(|error| exception(py, &error.into()))?;
        Ok(listing.text(Comments::default()).to_string())
    }

    fn __repr__(&self) -> String {
        let kernels = self.kernels().join(", ");
        format!("<wavelift.Module for {}: {kernels}>", self.target())
    }
}
