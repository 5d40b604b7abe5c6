//! The shapes of CDNA's matrix instructions.

use serde::{Deserialize, Serialize};

/// Floats of 8 bits, both with one zero, no infinity and 0x80 for a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum F8 {
    /// Exponent of 4 bits with bias 8, mantissa of 3.
    Fp8,
    /// Exponent of 5 bits with bias 16, mantissa of 2.
    Bf8,
}

/// Elements of the factors A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Factor {
    F32,
    F16,
    Bf16,
    I8,
    F64,
    /// f32 of which 10 bits of the mantissa count.
    Xf32,
    /// The types of A and of B.
    F8(F8, F8),
}

impl Factor {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Factor::F64 => 64,
            Factor::F32 | Factor::Xf32 => 32,
            Factor::F16 | Factor::Bf16 => 16,
            Factor::I8 | Factor::F8(..) => 8,
        }
    }
}

/// D = A * B + C of several independent blocks; each of A is `size` x `k`, of B `k` x `size`, of C
/// and D `size` x `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Matrix {
    /// Rows and columns of a block of D.
    pub size: u8,
    /// Columns of a block of A, of a sparse one together with those that it leaves out.
    pub k: u8,
    /// Blocks.
    pub blocks: u8,
    /// Elements of A and B. Those of C and D are f64 for f64, i32 for i8 and f32 for the others.
    pub factor: Factor,
    /// Passes of 4 cycles, which hazards count.
    pub passes: u8,
}

/// A shape; the arguments are the fields in their order.
pub(crate) const fn matrix(size: u8, k: u8, blocks: u8, factor: Factor, passes: u8) -> Matrix {
    Matrix {
        size,
        k,
        blocks,
        factor,
        passes,
    }
}
