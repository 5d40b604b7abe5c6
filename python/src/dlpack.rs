//! Tensors by DLPack: memory of the CPU that another library lends.
#![expect(unsafe_code, reason = "DLPack hands out C structures by pointer")]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// `DLTensor` of DLPack 1.0.
#[repr(C)]
struct Tensor {
    data: *mut u8,
    device_type: i32,
    device_id: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    /// In elements; null for C order.
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Unversioned {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Unversioned)>,
}

/// `DLManagedTensorVersioned`.
#[repr(C)]
struct Versioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const READ_ONLY: u64 = 1;
const CPU: i32 = 1;
/// The major version whose structure is `Versioned`.
const MAJOR: u32 = 1;

#[derive(Clone, Copy)]
enum Managed {
    Unversioned(NonNull<Unversioned>),
    Versioned(NonNull<Versioned>),
}

/// A tensor that this object owns until it is dropped.
pub(crate) struct Borrowed(Managed);

// SAFETY: nothing but its owner refers to the structure, and the deleter is called attached to the
// interpreter, as producers expect it.
unsafe impl Send for Borrowed {}

/// What a tensor is.
pub(crate) struct About {
    pub(crate) start: *mut u8,
    pub(crate) shape: Vec<usize>,
    /// In bytes.
    pub(crate) strides: Vec<isize>,
    /// Code of `DLDataTypeCode`.
    pub(crate) code: u8,
    /// Of an element, in bytes.
    pub(crate) size: usize,
    pub(crate) read_only: bool,
}

/// Does the object offer DLPack?
pub(crate) fn offers(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    object.hasattr("__dlpack__")
}

impl Borrowed {
    /// Takes a tensor from its producer.
    pub(crate) fn take(object: &Bound<'_, PyAny>) -> PyResult<Borrowed> {
        let py = object.py();
        let (device, _): (i32, i32) = object.call_method0("__dlpack_device__")?.extract()?;
        if device != CPU {
            let message = format!("a tensor on a device of DLPack's type {device}, not on the CPU");
            return Err(PyTypeError::new_err(message));
        }
        let version = PyDict::new(py);
        version.set_item("max_version", (MAJOR, 0))?;
        let capsule = match object.call_method("__dlpack__", (), Some(&version)) {
            // A producer that knows no versions.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                object.call_method0("__dlpack__")?
            }
            result => result?,
        };
        if let Some(tensor) = unwrap(&capsule, c"dltensor_versioned", c"used_dltensor_versioned")? {
            let versioned: NonNull<Versioned> = tensor.cast();
            let tensor = Borrowed(Managed::Versioned(versioned));
            // SAFETY: the capsule's name says that it has this structure, whose first field is the
            // version, whatever it is.
            let major = unsafe { (*versioned.as_ptr()).major };
            if major != MAJOR {
                let message = format!("a tensor of DLPack {major}; version {MAJOR} is known");
                return Err(PyTypeError::new_err(message));
            }
            return Ok(tensor);
        }
        if let Some(tensor) = unwrap(&capsule, c"dltensor", c"used_dltensor")? {
            return Ok(Borrowed(Managed::Unversioned(tensor.cast())));
        }
        Err(PyTypeError::new_err("__dlpack__ gives no tensor"))
    }

    fn tensor(&self) -> &Tensor {
        match self.0 {
            // SAFETY: the structure is valid until its deleter is called.
            Managed::Unversioned(managed) => unsafe { &managed.as_ref().tensor },
            // SAFETY: likewise.
            Managed::Versioned(managed) => unsafe { &managed.as_ref().tensor },
        }
    }

    fn is_read_only(&self) -> bool {
        match self.0 {
            // Producers refuse such arrays.
            Managed::Unversioned(_) => false,
            // SAFETY: the structure is valid until its deleter is called.
            Managed::Versioned(managed) => unsafe { managed.as_ref().flags & READ_ONLY != 0 },
        }
    }

    pub(crate) fn about(&self) -> PyResult<About> {
        let wrong = |what: &str| PyTypeError::new_err(format!("a tensor with {what}"));
        let tensor = self.tensor();
        let count = usize::try_from(tensor.dimensions)
            .map_err(|_| wrong("a negative number of dimensions"))?;
        let bits = usize::from(tensor.bits) * usize::from(tensor.lanes);
        if bits == 0 || !bits.is_multiple_of(8) {
            return Err(wrong("elements that are no whole bytes"));
        }
        let size = bits / 8;
        let list = |start: *const i64| {
            (0..count).map(move |n| {
                // SAFETY: there is an entry for each dimension.
                unsafe { start.add(n).read() }
            })
        };
        let shape = list(tensor.shape).map(usize::try_from);
        let shape: Vec<usize> = shape
            .collect::<Result<_, _>>()
            .map_err(|_| wrong("a negative size"))?;
        let strides = match tensor.strides.is_null() {
            true => contiguous(&shape, size),
            false => list(tensor.strides)
                .map(|stride| isize::try_from(stride).ok()?.checked_mul(size as isize))
                .collect::<Option<_>>()
                .ok_or_else(|| wrong("a stride that is too large"))?,
        };
        let offset = usize::try_from(tensor.byte_offset).map_err(|_| wrong("a large offset"))?;
        Ok(About {
            start: tensor.data.wrapping_add(offset),
            shape,
            strides,
            code: tensor.code,
            size,
            read_only: self.is_read_only(),
        })
    }
}

/// Strides in bytes of an array in C order.
pub(crate) fn contiguous(shape: &[usize], size: usize) -> Vec<isize> {
    let mut stride = size as isize;
    let mut strides: Vec<isize> = shape
        .iter()
        .rev()
        .map(|&count| {
            let here = stride;
            stride = stride.wrapping_mul(count.max(1) as isize);
            here
        })
        .collect();
    strides.reverse();
    strides
}

/// The pointer of a capsule of that name, which is renamed so that nobody else takes it.
fn unwrap(
    capsule: &Bound<'_, PyAny>,
    name: &'static CStr,
    used: &'static CStr,
) -> PyResult<Option<NonNull<c_void>>> {
    let (object, name): (_, *const c_char) = (capsule.as_ptr(), name.as_ptr());
    // SAFETY: any object may be asked; the interpreter is attached.
    let valid: c_int = unsafe { ffi::PyCapsule_IsValid(object, name) };
    if valid == 0 {
        return Ok(None);
    }
    // SAFETY: it is a capsule of that name.
    let pointer = unsafe { ffi::PyCapsule_GetPointer(object, name) };
    // SAFETY: it is a capsule, and the name is never freed.
    let renamed = unsafe { ffi::PyCapsule_SetName(object, used.as_ptr()) };
    match NonNull::new(pointer) {
        Some(pointer) if renamed == 0 => Ok(Some(pointer)),
        _ => Err(PyErr::fetch(capsule.py())),
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        let managed = self.0;
        // Not attached when the interpreter ends: then the memory is left to the process.
        Python::try_attach(|_| match managed {
            Managed::Unversioned(managed) => {
                // SAFETY: the structure is valid, and nobody uses it any more.
                if let Some(deleter) = unsafe { managed.as_ref().deleter } {
                    // SAFETY: likewise.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
            Managed::Versioned(managed) => {
                // SAFETY: as above. All versions have the deleter at its place.
                if let Some(deleter) = unsafe { managed.as_ref().deleter } {
                    // SAFETY: likewise.
                    unsafe { deleter(managed.as_ptr()) };
                }
            }
        });
    }
}
