//! The shapes of CDNA's matrix instructions.

use serde::{Deserialize, Serialize};

/// Elements of the factors A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Factor {
    F32,
    F16,
    Bf16,
    I8,
    F64,
}

impl Factor {
    /// Bits of an element.
    pub const fn bits(self) -> u32 {
        match self {
            Factor::F64 => 64,
            Factor::F32 => 32,
            Factor::F16 | Factor::Bf16 => 16,
            Factor::I8 => 8,
        }
    }
}

/// Products that are added in the same way on a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MatrixKind {
    /// Elements of A and B.
    pub factor: Factor,
    /// Values of K that a lane has: bf16 has instructions of two kinds.
    pub per_lane: u8,
}

impl MatrixKind {
    /// The name, as instructions have it.
    pub const fn name(self) -> &'static str {
        match (self.factor, self.per_lane) {
            (Factor::F32, _) => "f32",
            (Factor::F16, _) => "f16",
            (Factor::Bf16, 4) => "bf16_1k",
            (Factor::Bf16, _) => "bf16",
            (Factor::I8, _) => "i8",
            (Factor::F64, _) => "f64",
        }
    }
}

/// A set of kinds of products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatrixKinds(pub u32);

impl MatrixKinds {
    /// Of one shape.
    pub const fn of(shape: Matrix) -> MatrixKinds {
        let wide = matches!(
            shape.kind(),
            MatrixKind {
                factor: Factor::Bf16,
                per_lane: 4
            }
        );
        MatrixKinds(1 << (2 * shape.factor as u32 + wide as u32))
    }

    /// Those of both.
    pub const fn with(self, other: MatrixKinds) -> MatrixKinds {
        MatrixKinds(self.0 | other.0)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = MatrixKind> {
        let kind = |(factor, per_lane)| MatrixKind { factor, per_lane };
        let all = [
            (Factor::F32, 1),
            (Factor::F16, 4),
            (Factor::Bf16, 2),
            (Factor::Bf16, 4),
            (Factor::I8, 4),
            (Factor::F64, 1),
        ];
        all.into_iter().map(kind).filter(move |kind| {
            let wide = kind.factor == Factor::Bf16 && kind.per_lane == 4;
            self.0 >> (2 * kind.factor as u32 + u32::from(wide)) & 1 != 0
        })
    }
}

/// D = A * B + C of several independent blocks; each of A is `size` x `k`, of B `k` x `size`, of C
/// and D `size` x `size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Matrix {
    /// Rows and columns of a block of D.
    pub size: u8,
    /// Columns of a block of A.
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
        let lanes = 64 / self.blocks as u32;
        MatrixKind {
            factor: self.factor,
            per_lane: (self.k as u32 * self.size as u32 / lanes) as u8,
        }
    }
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
            if let crate::op::Op::Mfma(shape) = row.op {
                let one = MatrixKinds::of(shape);
                let kinds: Vec<MatrixKind> = one.iter().collect();
                assert_eq!(kinds, [shape.kind()], "{}", row.name);
                let name = shape.kind().name();
                assert!(row.name.ends_with(name), "{} {name}", row.name);
                all = all.with(one);
            }
        }
        assert_eq!(all.iter().count(), 6);
    }
}
