//! Memory of a device.
#![expect(unsafe_code, reason = "the buffer protocol hands out addresses")]

use std::ffi::c_int;

use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use wavelift::Arg;

use crate::array::View;
use crate::device::Device;
use crate::error::exception;
use crate::parameter::{Parameter, type_name};

/// Memory of a device, which is freed with the last reference. Python sees its bytes by the buffer
/// protocol, without a copy.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Buffer {
    pub(crate) inner: wavelift::Buffer,
    device: Py<Device>,
}

/// A pointer into a buffer, as an argument of a kernel.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Pointer {
    pub(crate) arg: Arg,
    address: u64,
}

/// That many bytes of LDS, for parameters that are pointers to LDS.
#[pyclass(frozen, module = "wavelift")]
pub(crate) struct Local {
    pub(crate) bytes: u32,
}

#[pymethods]
impl Local {
    #[new]
    fn new(nbytes: u32) -> Local {
        Local { bytes: nbytes }
    }

    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> u32 {
        self.bytes
    }

    fn __repr__(&self) -> String {
        format!("wavelift.Local({})", self.bytes)
    }
}

#[pymethods]
impl Pointer {
    /// Guest address.
    #[getter]
    fn address(&self) -> u64 {
        self.address
    }

    fn __repr__(&self) -> String {
        format!("<wavelift.Pointer {:#x}>", self.address)
    }
}

/// A buffer's memory. Guest memory is host memory at its own address.
pub(crate) fn host(buffer: &wavelift::Buffer) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(buffer.address() as usize)
}

impl Buffer {
    pub(crate) fn zeros(device: &Bound<'_, Device>, bytes: u64) -> PyResult<Buffer> {
        let inner = device.get().inner().alloc(bytes);
        Ok(Buffer {
            inner: inner.map_err(|error| exception(device.py(), &error))?,
            device: device.clone().unbind(),
        })
    }

    pub(crate) fn write_bytes(&self, py: Python<'_>, offset: u64, bytes: &[u8]) -> PyResult<()> {
        let written = py.detach(|| self.inner.write_bytes(offset, bytes));
        written.map_err(|error| exception(py, &error))
    }
}

#[pymethods]
impl Buffer {
    /// Size in bytes.
    #[getter]
    fn nbytes(&self) -> u64 {
        self.inner.len()
    }

    /// Guest address of the first byte.
    #[getter]
    fn address(&self) -> u64 {
        self.inner.address()
    }

    /// The device that it belongs to.
    #[getter]
    fn device(&self, py: Python<'_>) -> Py<Device> {
        self.device.clone_ref(py)
    }

    fn __len__(&self) -> usize {
        self.inner.len() as usize
    }

    /// A pointer to the byte at `offset`.
    fn at(&self, py: Python<'_>, offset: u64) -> PyResult<Pointer> {
        let arg = self.inner.at(offset);
        Ok(Pointer {
            arg: arg.map_err(|error| exception(py, &error))?,
            address: self.inner.address() + offset,
        })
    }

    /// Overwrites bytes from `offset` on with the elements of an array.
    #[pyo3(signature = (array, offset = 0))]
    fn write(&self, array: &Bound<'_, PyAny>, offset: u64) -> PyResult<()> {
        let parameter = Parameter::of_function("write", "array");
        let view = View::of(&parameter, array)?.ok_or_else(|| {
            parameter.type_error(format!("must be an array, not {}", type_name(array)))
        })?;
        let bytes = view.read();
        self.write_bytes(array.py(), offset, &bytes)
    }

    /// A copy of `nbytes` bytes from `offset` on; of all bytes from there on when not given.
    #[pyo3(signature = (offset = 0, nbytes = None))]
    fn read<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        nbytes: Option<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let count = match nbytes {
            Some(count) => count,
            None => self.inner.len().saturating_sub(offset),
        };
        let bytes = py.detach(|| self.inner.read_at::<u8>(offset, count as usize));
        let bytes = bytes.map_err(|error| exception(py, &error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// The bytes as a NumPy array of this type and shape, without a copy. Needs NumPy.
    #[pyo3(signature = (dtype = None, shape = None))]
    fn numpy<'py>(
        slf: Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        shape: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let numpy = slf.py().import("numpy")?;
        let array = numpy.call_method1("asarray", (slf,))?;
        let array = match dtype {
            Some(dtype) => array.call_method1("view", (dtype,))?,
            None => array,
        };
        match shape {
            Some(shape) => array.call_method1("reshape", (shape,)),
            None => Ok(array),
        }
    }

    fn __repr__(&self) -> String {
        let (bytes, address) = (self.inner.len(), self.inner.address());
        format!("<wavelift.Buffer: {bytes} bytes at {address:#x}>")
    }

    /// # Safety
    /// The interpreter calls it with a structure to fill in.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no structure to fill in"));
        }
        let buffer = &slf.get().inner;
        let len = ffi::Py_ssize_t::try_from(buffer.len())
            .map_err(|_| PyValueError::new_err("the buffer is too large for a view"))?;
        let (object, start) = (slf.as_ptr(), host(buffer).cast());
        // SAFETY: the memory stays allocated as long as the object, to which the view has a reference.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, object, start, len, 0, flags) };
        match filled {
            0 => Ok(()),
            _ => Err(PyErr::fetch(slf.py())),
        }
    }
}
