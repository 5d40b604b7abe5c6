//! The orders in which matrix instructions add, in the words of `docs/matrix.md`.

use frontend::Gfx;
use frontend::op::{Factor, MatrixKind, MatrixSums};

/// How both engines add the products of a kind on a target.
pub(super) fn order(gfx: Gfx, kind: MatrixKind) -> &'static str {
    match (kind.factor, gfx.matrix_sums()) {
        (Factor::F32 | Factor::F64, _) => "fused multiply-adds, one k after the other",
        (Factor::F16 | Factor::Bf16, MatrixSums::CutOff) => "eight products, cut off",
        (Factor::Bf16, MatrixSums::Pairs) if !kind.wide => {
            "each product is rounded, two are added, then to the sum so far"
        }
        (Factor::F16 | Factor::Bf16, MatrixSums::Pairs) => {
            "each product is rounded, four are added in pairs, then to the sum so far"
        }
        (Factor::F16, MatrixSums::Exact) => {
            "the exact sum of four products and the sum so far, rounded once"
        }
        (Factor::Bf16, MatrixSums::Exact) => {
            "the exact sum of two products and the sum so far, rounded once"
        }
        (Factor::Xf32, _) => {
            "four products, cut off; of the factors ten bits of the mantissa count"
        }
        (Factor::F8(..), _) => "sixteen products, cut off, the even and the odd ones apart",
        (Factor::I8, _) if gfx.limits_matrix_sums() => {
            "exact, wraps at 32 bits, limited where MODE.FP16_OVFL is set"
        }
        (Factor::I8, _) => "exact, wraps at 32 bits",
    }
}
