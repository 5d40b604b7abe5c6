//! The buffer protocol, as far as arrays need it. PyO3's own type refuses what `ctypes` and NumPy's
//! scalars export: they leave out strides, or have no dimensions.
#![expect(unsafe_code, reason = "the buffer protocol fills in C structures")]

use std::ffi::CStr;
use std::mem::MaybeUninit;

use pyo3::ffi;
use pyo3::prelude::*;

use crate::dlpack::contiguous;

/// The memory of a Python object, which stays valid until this is dropped.
pub(crate) struct Exported(Box<ffi::Py_buffer>);

// SAFETY: the structure is not changed, and released attached to the interpreter.
unsafe impl Send for Exported {}

impl Exported {
    /// The memory of an object that has the buffer protocol.
    pub(crate) fn get(object: &Bound<'_, PyAny>) -> PyResult<Exported> {
        // Exporters may keep its address, so it is never moved.
        let mut view = Box::new(MaybeUninit::<ffi::Py_buffer>::uninit());
        let (object, py) = (object.as_ptr(), object.py());
        // SAFETY: any object may be asked; the interpreter is attached.
        let got = unsafe { ffi::PyObject_GetBuffer(object, view.as_mut_ptr(), ffi::PyBUF_FULL_RO) };
        if got < 0 {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: it has been filled in.
        Ok(Exported(unsafe { view.assume_init() }))
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    /// Of an element, in bytes.
    pub(crate) fn item_size(&self) -> usize {
        self.0.itemsize.unsigned_abs()
    }

    pub(crate) fn read_only(&self) -> bool {
        self.0.readonly != 0
    }

    /// Are there pointers in it, to rows elsewhere?
    pub(crate) fn is_indirect(&self) -> bool {
        !self.0.suboffsets.is_null()
    }

    pub(crate) fn format(&self) -> &CStr {
        match self.0.format.is_null() {
            true => c"B",
            // SAFETY: a string of the exporter, which is valid as long as the view.
            false => unsafe { CStr::from_ptr(self.0.format) },
        }
    }

    /// A list of the exporter; `None` if it has left it out.
    fn list(&self, start: *const ffi::Py_ssize_t) -> Option<Vec<isize>> {
        let count = self.0.ndim.unsigned_abs() as usize;
        if count != 0 && start.is_null() {
            return None;
        }
        let entry = |n| {
            // SAFETY: it has an entry for each dimension.
            unsafe { start.add(n).read() }
        };
        Some((0..count).map(entry).collect())
    }

    pub(crate) fn shape(&self) -> Vec<usize> {
        match self.list(self.0.shape) {
            Some(shape) => shape.into_iter().map(isize::unsigned_abs).collect(),
            None => vec![self.0.len.unsigned_abs() / self.item_size().max(1)],
        }
    }

    /// In bytes.
    pub(crate) fn strides(&self) -> Vec<isize> {
        let strides = self.list(self.0.strides);
        strides.unwrap_or_else(|| contiguous(&self.shape(), self.item_size()))
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // Not attached when the interpreter ends: then the memory is left to the process.
        Python::try_attach(|_| {
            // SAFETY: it was filled in, and is released once.
            unsafe { ffi::PyBuffer_Release(&raw mut *self.0) };
        });
    }
}
