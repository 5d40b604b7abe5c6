//! Arrays of Python as memory: by the buffer protocol or by DLPack.
#![expect(unsafe_code, reason = "arrays are read and written by address")]

use pyo3::buffer::ElementType;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes};
use wavelift::Dtype;

use crate::buffer::Buffer;
use crate::dlpack;
use crate::exported::Exported;
use crate::parameter::{Element, Parameter, type_name};

/// What keeps an array's memory valid.
#[expect(dead_code, reason = "they are only kept")]
pub(crate) enum Owner {
    Buffer(Exported),
    Tensor(dlpack::Borrowed),
}

/// What elements are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Integer,
    Float,
    Complex,
    /// A structure, or something that the format does not say.
    Other,
}

/// An array of Python, whose memory stays valid as long as the view lives.
pub(crate) struct View {
    start: *mut u8,
    shape: Vec<usize>,
    /// In bytes.
    strides: Vec<isize>,
    class: Class,
    /// Of an element, in bytes.
    size: usize,
    pub(crate) read_only: bool,
    pub(crate) owner: Owner,
}

impl View {
    /// The array that an object is; `None` if it is none.
    pub(crate) fn of(parameter: &Parameter, value: &Bound<'_, PyAny>) -> PyResult<Option<View>> {
        // The buffer protocol first: it says more about the elements.
        match Exported::get(value) {
            Ok(buffer) => {
                let mut view = View::of_buffer(parameter, buffer)?;
                // Bytes of whatever it is.
                if value.is_instance_of::<PyBytes>()
                    || value.is_instance_of::<PyByteArray>()
                    || value.is_instance_of::<Buffer>()
                {
                    view.class = Class::Other;
                }
                Ok(Some(view))
            }
            Err(_) if dlpack::offers(value)? => {
                let tensor = dlpack::Borrowed::take(value);
                let tensor = tensor.and_then(|tensor| Ok((tensor.about()?, tensor)));
                let (about, tensor) = tensor.map_err(|error| {
                    let ty = type_name(value);
                    parameter.type_error(format!("{ty}: {}", error.value(value.py())))
                })?;
                let class = match about.code {
                    // kDLInt, kDLUInt, kDLBool
                    0 | 1 | 6 => Class::Integer,
                    // kDLFloat
                    2 => Class::Float,
                    // kDLComplex
                    5 => Class::Complex,
                    _ => Class::Other,
                };
                Ok(Some(View {
                    start: about.start,
                    shape: about.shape,
                    strides: about.strides,
                    class,
                    size: about.size,
                    read_only: about.read_only,
                    owner: Owner::Tensor(tensor),
                }))
            }
            Err(_) => Ok(None),
        }
    }

    pub(crate) fn of_buffer(parameter: &Parameter, buffer: Exported) -> PyResult<View> {
        let format = buffer.format().to_bytes();
        if let [b'>' | b'!', _] = format
            && buffer.item_size() > 1
        {
            return Err(parameter.type_error("has elements in big-endian order"));
        }
        if buffer.is_indirect() {
            return Err(parameter.type_error("is an array of pointers to its rows"));
        }
        let class = match (ElementType::from_format(buffer.format()), format) {
            (
                ElementType::SignedInteger { .. }
                | ElementType::UnsignedInteger { .. }
                | ElementType::Bool,
                _,
            ) => Class::Integer,
            (ElementType::Float { .. }, _) => Class::Float,
            (_, b"Zf" | b"Zd" | b"=Zf" | b"=Zd" | b"<Zf" | b"<Zd") => Class::Complex,
            _ => Class::Other,
        };
        Ok(View {
            start: buffer.start(),
            shape: buffer.shape(),
            strides: buffer.strides(),
            class,
            size: buffer.item_size(),
            read_only: buffer.read_only(),
            owner: Owner::Buffer(buffer),
        })
    }

    /// Address of the first element.
    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    /// Size of the elements.
    pub(crate) fn bytes(&self) -> usize {
        // The other sizes of an empty array may be too large to multiply.
        match self.shape.contains(&0) {
            true => 0,
            false => self.shape.iter().product::<usize>() * self.size,
        }
    }

    /// Do two arrays have bytes in common?
    pub(crate) fn overlaps(&self, other: &View) -> bool {
        let (mine, theirs) = (self.span(), other.span());
        let (low, high) = (mine.0.max(theirs.0), mine.1.min(theirs.1));
        if low >= high {
            return false;
        }
        // Elements of one may lie in the gaps of the other.
        let mut bytes = vec![false; high - low];
        let mut common = false;
        for (view, first) in [(self, true), (other, false)] {
            view.runs(|start, count| {
                let from = start.addr().clamp(low, high) - low;
                let to = (start.addr() + count).clamp(low, high) - low;
                match first {
                    true => bytes[from..to].fill(true),
                    false => common |= bytes[from..to].contains(&true),
                }
            });
        }
        common
    }

    /// Are the elements in C order without gaps?
    pub(crate) fn is_contiguous(&self) -> bool {
        let expected = dlpack::contiguous(&self.shape, self.size);
        let mut dimensions = self.shape.iter().zip(self.strides.iter().zip(&expected));
        self.bytes() == 0 || dimensions.all(|(&count, (is, should))| count <= 1 || is == should)
    }

    /// Are the elements in C order without gaps, and may they be written?
    pub(crate) fn is_plain(&self) -> bool {
        !self.read_only && self.is_contiguous()
    }

    /// Can kernels access the elements where they are? Instructions access whole dwords, and atomics
    /// are aligned to their size.
    pub(crate) fn is_aligned(&self) -> bool {
        let align = match self.size {
            8 | 16 => 8,
            _ => 4,
        };
        self.start.addr().is_multiple_of(align) && self.bytes().is_multiple_of(4)
    }

    /// First address, and the one behind the last byte.
    pub(crate) fn span(&self) -> (usize, usize) {
        let (mut low, mut high) = (self.start.addr(), self.start.addr() + self.size);
        if self.bytes() == 0 {
            return (low, low);
        }
        for (&count, &stride) in self.shape.iter().zip(&self.strides) {
            let extent = stride.unsigned_abs() * (count - 1);
            match stride < 0 {
                true => low -= extent,
                false => high += extent,
            }
        }
        (low, high)
    }

    /// Has another array the same elements in the same order?
    pub(crate) fn is_same(&self, other: &View) -> bool {
        (self.start, self.size) == (other.start, other.size)
            && (&self.shape, &self.strides) == (&other.shape, &other.strides)
    }

    /// Refuses elements of another type than the kernel's, if both are known. The sign of integers
    /// does not count.
    pub(crate) fn check_elements(
        &self,
        parameter: &Parameter,
        expected: Option<Element>,
    ) -> PyResult<()> {
        let Some(expected) = expected else {
            return Ok(());
        };
        let (class, size) = match expected.dtype.is_float() {
            true => (Class::Float, expected.dtype.size()),
            false => (Class::Integer, expected.dtype.size()),
        };
        let fits = match self.class {
            Class::Complex => {
                class == Class::Float && expected.lanes.is_multiple_of(2) && self.size == 2 * size
            }
            Class::Other => true,
            own => (own, self.size) == (class, size),
        };
        if fits {
            return Ok(());
        }
        let kind = match self.class {
            Class::Integer => "integers",
            Class::Float => "floats",
            Class::Complex => "complex numbers",
            Class::Other => "elements",
        };
        Err(parameter.type_error(format!(
            "must have elements of {}, not {kind} of {} bytes",
            names(expected.dtype),
            self.size
        )))
    }

    /// Calls `each` with the address of each run of contiguous bytes, in C order, and its size.
    fn runs(&self, mut each: impl FnMut(*mut u8, usize)) {
        if self.is_contiguous() {
            each(self.start, self.bytes());
            return;
        }
        let mut index = vec![0; self.shape.len()];
        let mut at = self.start;
        loop {
            each(at, self.size);
            let mut dimension = self.shape.len();
            loop {
                let Some(next) = dimension.checked_sub(1) else {
                    return;
                };
                dimension = next;
                let (count, stride) = (self.shape[dimension], self.strides[dimension]);
                index[dimension] += 1;
                at = at.wrapping_offset(stride);
                if index[dimension] < count {
                    break;
                }
                index[dimension] = 0;
                at = at.wrapping_offset(-stride.wrapping_mul(count as isize));
            }
        }
    }

    /// Copies the elements to memory, in C order.
    ///
    /// # Safety
    /// There must be room for them at `to`.
    pub(crate) unsafe fn copy_to(&self, mut to: *mut u8) {
        self.runs(|from, count| {
            // SAFETY: the owner keeps the array's memory valid, and the caller promises the room.
            unsafe { std::ptr::copy(from, to, count) };
            to = to.wrapping_add(count);
        });
    }

    /// Overwrites the elements from memory, in C order. The array must not be read-only.
    ///
    /// # Safety
    /// The bytes of all elements must be readable at `from`.
    pub(crate) unsafe fn copy_from(&self, mut from: *const u8) {
        self.runs(|to, count| {
            // SAFETY: the owner keeps the array's memory valid, and the caller promises the bytes.
            unsafe { std::ptr::copy(from, to, count) };
            from = from.wrapping_add(count);
        });
    }

    /// The elements in C order.
    pub(crate) fn read(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.bytes());
        // SAFETY: the vector has room for all elements.
        unsafe { self.copy_to(out.as_mut_ptr()) };
        // SAFETY: they were written.
        unsafe { out.set_len(self.bytes()) };
        out
    }
}

/// NumPy's names of a type.
fn names(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::I8 | Dtype::U8 => "int8 or uint8",
        Dtype::I16 | Dtype::U16 => "int16 or uint16",
        Dtype::I32 | Dtype::U32 => "int32 or uint32",
        Dtype::I64 | Dtype::U64 => "int64 or uint64",
        Dtype::F16 => "float16",
        Dtype::F32 => "float32",
        Dtype::F64 => "float64",
    }
}
