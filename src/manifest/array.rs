//! Contents of buffers: bytes with an element type and a shape, if specified.

use crate::dtype::Dtype;

/// The contents of a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Element type; `None` for raw bytes.
    pub dtype: Option<Dtype>,
    /// Elements in each dimension, slowest first.
    pub shape: Vec<u64>,
    /// The elements, little-endian.
    pub bytes: Vec<u8>,
}

impl Array {
    /// Raw bytes.
    pub fn raw(bytes: Vec<u8>) -> Array {
        Array {
            dtype: None,
            shape: vec![bytes.len() as u64],
            bytes,
        }
    }

    /// A list of elements.
    pub fn list(dtype: Dtype, bytes: Vec<u8>) -> Array {
        Array {
            dtype: Some(dtype),
            shape: vec![(bytes.len() / dtype.size()) as u64],
            bytes,
        }
    }

    /// Element type and shape as text, such as `f32[16, 4]` or `64 bytes`.
    pub fn kind(&self) -> String {
        match self.dtype {
            Some(dtype) => format!("{dtype}{:?}", self.shape),
            None => format!("{} bytes", self.bytes.len()),
        }
    }
}
