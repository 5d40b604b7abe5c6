//! The shapes of CDNA's matrix instructions.

use serde::{Deserialize, Serialize};

use crate::op::Op;
use crate::target::Gfx;

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

/// Products that are added in the same way on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixKind {
    /// Elements of A and B.
    pub factor: Factor,
    /// Of bf16: a lane has four or more values of K.
    pub wide: bool,
}

impl MatrixKind {
    /// The name, as instructions of a target have it.
    pub const fn name(self, gfx: Gfx) -> &'static str {
        match (self.factor, self.wide) {
            (Factor::F32, _) => "f32",
            (Factor::F16, _) => "f16",
            (Factor::Bf16, true) if !matches!(gfx, Gfx::Gfx942) => "bf16_1k",
            (Factor::Bf16, _) => "bf16",
            (Factor::I8, _) => "i8",
            (Factor::F64, _) => "f64",
            (Factor::Xf32, _) => "xf32",
            (Factor::F8(F8::Fp8, F8::Fp8), _) => "fp8_fp8",
            (Factor::F8(F8::Fp8, F8::Bf8), _) => "fp8_bf8",
            (Factor::F8(F8::Bf8, F8::Fp8), _) => "bf8_fp8",
            (Factor::F8(F8::Bf8, F8::Bf8), _) => "bf8_bf8",
        }
    }
}

/// All kinds, in the order of their bits in [`MatrixKinds`].
const KINDS: [MatrixKind; 11] = {
    const fn kind(factor: Factor, wide: bool) -> MatrixKind {
        MatrixKind { factor, wide }
    }
    [
        kind(Factor::F32, false),
        kind(Factor::F16, false),
        kind(Factor::Bf16, false),
        kind(Factor::Bf16, true),
        kind(Factor::I8, false),
        kind(Factor::F64, false),
        kind(Factor::Xf32, false),
        kind(Factor::F8(F8::Fp8, F8::Fp8), false),
        kind(Factor::F8(F8::Fp8, F8::Bf8), false),
        kind(Factor::F8(F8::Bf8, F8::Fp8), false),
        kind(Factor::F8(F8::Bf8, F8::Bf8), false),
    ]
};

/// A set of kinds of products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixKinds(pub u32);

impl MatrixKinds {
    /// Of one shape.
    pub fn of(shape: Matrix) -> MatrixKinds {
        let of = KINDS.iter().position(|&kind| kind == shape.kind());
        MatrixKinds(1 << of.expect("bug: all kinds are listed"))
    }

    /// Those of both.
    pub const fn with(self, other: MatrixKinds) -> MatrixKinds {
        MatrixKinds(self.0 | other.0)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = MatrixKind> {
        let all = KINDS.into_iter().enumerate();
        all.filter_map(move |(bit, kind)| (self.0 >> bit & 1 != 0).then_some(kind))
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

impl Matrix {
    /// How its products are added.
    pub const fn kind(self) -> MatrixKind {
        MatrixKind {
            factor: self.factor,
            wide: matches!(self.factor, Factor::Bf16) && self.per_lane() >= 4,
        }
    }

    /// Values of K of each lane.
    pub const fn per_lane(self) -> u32 {
        self.k as u32 * self.size as u32 * self.blocks as u32 / 64
    }
}

impl Op {
    /// The shape of a matrix instruction that multiplies.
    pub const fn product(self) -> Option<Matrix> {
        match self {
            Op::Mfma(shape) | Op::Smfmac(shape) => Some(shape),
            _ => None,
        }
    }
}

/// How products of matrices of f16 and bf16 are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum MatrixSums {
    /// Exactly, those of a lane and the sum so far, which is rounded once.
    Exact,
    /// Each product is rounded; they are added in pairs, then to the sum so far.
    Pairs,
    /// Each product is cut off below a place that the largest one determines.
    CutOff,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_all_shapes() {
        let mut all = MatrixKinds::default();
        for row in crate::isa::all() {
            if let crate::op::Op::Mfma(shape) | crate::op::Op::Smfmac(shape) = row.op {
                let one = MatrixKinds::of(shape);
                let kinds: Vec<MatrixKind> = one.iter().collect();
                assert_eq!(kinds, [shape.kind()], "{}", row.name);
                let targets = [Gfx::Gfx90a, Gfx::Gfx942];
                let mut names = targets.map(|gfx| shape.kind().name(gfx)).into_iter();
                assert!(names.any(|name| row.name.ends_with(name)), "{}", row.name);
                all = all.with(one);
            }
        }
        assert_eq!(all.iter().count(), KINDS.len());
    }
}
