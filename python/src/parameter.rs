//! A kernel's parameter: what its metadata says, and errors that name it.

use pyo3::PyTypeInfo;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use wavelift::{ArgKind, ArgMetadata, Dtype};

/// A parameter of a kernel.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Parameter {
    kernel: String,
    index: usize,
    pub(crate) about: ArgMetadata,
}

/// The type of a number or vector, or of those that a pointer points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) dtype: Dtype,
    /// Elements of a vector; 1 for a scalar.
    pub(crate) lanes: usize,
}

impl Element {
    /// From an OpenCL type name without `*`, such as `float4`.
    fn of(name: &str) -> Option<Element> {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let lanes = match &name[base.len()..] {
            "" => 1,
            lanes @ ("2" | "3" | "4" | "8" | "16") => lanes.parse().ok()?,
            _ => return None,
        };
        let dtype = Dtype::of_opencl(base)?;
        Some(Element { dtype, lanes })
    }

    /// Bytes of a value. A vector of three occupies as much as one of four.
    pub(crate) fn size(self) -> usize {
        self.dtype.size() * self.lanes.next_power_of_two()
    }
}

impl Parameter {
    pub(crate) fn new(kernel: &str, index: usize, about: &ArgMetadata) -> Parameter {
        Parameter {
            kernel: kernel.to_owned(),
            index,
            about: about.clone(),
        }
    }

    /// The parameter of a method of this package, for messages.
    pub(crate) fn of_function(function: &str, name: &str) -> Parameter {
        let about = ArgMetadata {
            name: Some(name.to_owned()),
            ..ArgMetadata::default()
        };
        Parameter::new(function, 0, &about)
    }

    /// The type of a parameter by value; `None` if the metadata does not name one that is known and
    /// has the parameter's size.
    pub(crate) fn value_type(&self) -> Option<Element> {
        let element = Element::of(self.about.type_name.as_deref()?)?;
        (element.size() == self.about.size as usize).then_some(element)
    }

    /// The type that a pointer points to, if the metadata names one that is known.
    pub(crate) fn pointee(&self) -> Option<Element> {
        let name = self.about.type_name.as_deref()?;
        Element::of(name.strip_suffix('*')?.trim_end())
    }

    /// An error about the argument.
    pub(crate) fn error<E: PyTypeInfo>(&self, message: impl std::fmt::Display) -> PyErr {
        let (kernel, number, label) = (&self.kernel, self.index + 1, self.about.label());
        PyErr::new::<E, _>(format!("{kernel}() argument {number} {label}: {message}"))
    }

    pub(crate) fn type_error(&self, message: impl std::fmt::Display) -> PyErr {
        self.error::<PyTypeError>(message)
    }

    pub(crate) fn value_error(&self, message: impl std::fmt::Display) -> PyErr {
        self.error::<PyValueError>(message)
    }

    pub(crate) fn overflow_error(&self, message: impl std::fmt::Display) -> PyErr {
        self.error::<PyOverflowError>(message)
    }
}

/// The name of a value's type, for messages.
pub(crate) fn type_name(value: &Bound<'_, PyAny>) -> String {
    match value.get_type().fully_qualified_name() {
        Ok(name) => name.to_string(),
        Err(_) => "an unnamed type".to_owned(),
    }
}

#[pymethods]
impl Parameter {
    /// Name in the source; None if the compiler left it out.
    #[getter]
    fn name(&self) -> Option<&str> {
        self.about.name.as_deref()
    }

    /// Type in the source; None if the compiler left it out.
    #[getter]
    fn r#type(&self) -> Option<&str> {
        self.about.type_name.as_deref()
    }

    /// "value", "pointer", "local" or another kind of the metadata.
    #[getter]
    fn kind(&self) -> String {
        match &self.about.kind {
            ArgKind::ByValue => "value".to_owned(),
            ArgKind::GlobalBuffer => "pointer".to_owned(),
            ArgKind::DynamicSharedPointer => "local".to_owned(),
            other => other.to_string(),
        }
    }

    /// Size in bytes.
    #[getter]
    fn size(&self) -> u32 {
        self.about.size
    }

    /// Position in the argument segment, in bytes.
    #[getter]
    fn offset(&self) -> u32 {
        self.about.offset
    }

    /// Does the kernel only read what it points to, as far as the metadata says?
    #[getter]
    fn read_only(&self) -> bool {
        self.about.is_read_only()
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Parameter {}>", self.signature())
    }
}

impl Parameter {
    /// As a signature has it: `float* x`.
    pub(crate) fn signature(&self) -> String {
        let ty = match (self.about.type_name.as_deref(), &self.about.kind) {
            (Some(ty), _) => ty.to_owned(),
            (None, ArgKind::ByValue) => format!("{} bytes", self.about.size),
            (None, _) => self.kind(),
        };
        match &self.about.name {
            Some(name) => format!("{ty} {name}"),
            None => ty,
        }
    }
}
