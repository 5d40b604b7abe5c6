//! The library's errors as Python's.

use std::io;
use std::path::Path;

use pyo3::exceptions::{PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyType};
use wavelift::compile::CompileError;
use wavelift::{ArgError, Error, Fault, LaunchError};

/// A class of `wavelift.errors`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    Ok(py.import("wavelift.errors")?.getattr(name)?.cast_into()?)
}

/// An exception of a class of `wavelift.errors`.
fn make(py: Python<'_>, name: &str, message: String) -> PyErr {
    match class(py, name) {
        Ok(class) => PyErr::from_type(class, message),
        Err(error) => error,
    }
}

/// The exception for an error of the library.
pub(crate) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    if let Some(guest) = error.fault() {
        return fault(py, guest).unwrap_or_else(|error| error);
    }
    let message = error.to_string();
    match error {
        Error::Load(_) | Error::Code(_) => make(py, "LoadError", message),
        Error::Alloc(_) => PyMemoryError::new_err(message),
        Error::Launch(LaunchError::Argument(ArgError::Kind { .. } | ArgError::Count { .. })) => {
            PyTypeError::new_err(message)
        }
        Error::Launch(_)
        | Error::OutsideBuffer { .. }
        | Error::PastBuffer { .. }
        | Error::OtherDevice(_)
        | Error::OtherDeviceArg { .. }
        | Error::NoMetadata(_)
        | Error::NoWorkgroup { .. }
        | Error::NoWave { .. } => PyValueError::new_err(message),
        _ => make(py, "Error", message),
    }
}

/// The exception for an error of the host about a file, such as `FileNotFoundError`.
pub(crate) fn of_file(py: Python<'_>, path: &Path, error: &io::Error) -> PyErr {
    let Some(number) = error.raw_os_error() else {
        return PyOSError::new_err(format!("{}: {error}", path.display()));
    };
    let about = py
        .import("os")
        .and_then(|os| os.call_method1("strerror", (number,)));
    match about {
        Ok(about) => PyOSError::new_err((number, about.unbind(), path.as_os_str().to_owned())),
        Err(error) => error,
    }
}

/// The exception for a source that was not compiled.
pub(crate) fn not_compiled(py: Python<'_>, error: &CompileError) -> PyErr {
    match error {
        CompileError::Read { path, error } | CompileError::Write { path, error } => {
            of_file(py, path, error)
        }
        CompileError::NoCompiler { .. } => make(py, "NoCompilerError", error.to_string()),
        CompileError::Language(_) => PyValueError::new_err(error.to_string()),
        _ => make(py, "CompileError", error.to_string()),
    }
}

/// `wavelift.Fault` with its attributes.
fn fault(py: Python<'_>, fault: &Fault) -> PyResult<PyErr> {
    let located = fault.kind.is_located();
    let attributes = PyDict::new(py);
    attributes.set_item("kind", fault.kind.name())?;
    attributes.set_item("kernel", &fault.kernel)?;
    attributes.set_item("address", fault.kind.address())?;
    attributes.set_item("lane", fault.lane)?;
    attributes.set_item("pc", located.then_some(fault.pc))?;
    attributes.set_item("symbol", &fault.symbol)?;
    attributes.set_item("instruction", located.then_some(&fault.instruction))?;
    let [x, y, z] = fault.workgroup;
    attributes.set_item("workgroup", located.then_some((x, y, z)))?;
    attributes.set_item("wave", located.then_some(fault.wave))?;
    attributes.set_item("exec", located.then_some(fault.exec))?;
    let mut message = fault.account().to_string();
    // The library's advice names options of the command line.
    if let Some(advice) = fault.advice() {
        message += "\n   ";
        message += match advice.contains("--memcheck") {
            true => {
                "to find the first access outside an allocation, launch on wavelift.Device(memcheck=True)"
            }
            false => advice,
        };
    }
    let exception = class(py, "Fault")?.call((message,), Some(&attributes))?;
    Ok(PyErr::from_value(exception))
}
