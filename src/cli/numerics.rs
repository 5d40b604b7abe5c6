//! The orders in which matrix instructions add, in the words of `docs/matrix.md`.

use frontend::Gfx;
use frontend::op::{Factor, MatrixKind};

/// How both engines add the products of a kind on a target.
pub(super) fn order(gfx: Gfx, kind: MatrixKind) -> &'static str {
    let pairs = gfx >= Gfx::Gfx90a;
    match (kind.factor, kind.per_lane) {
        (Factor::F32 | Factor::F64, _) => "fused multiply-adds, one k after the other",
        (Factor::F16 | Factor::Bf16, 4) if pairs => {
            "each product is rounded, four are added in pairs, then to the sum so far"
        }
        (Factor::F16 | Factor::Bf16, _) if pairs => {
            "each product is rounded, two are added, then to the sum so far"
        }
        (Factor::F16 | Factor::Bf16, 4) => {
            "the exact sum of four products and the sum so far, rounded once"
        }
        (Factor::F16 | Factor::Bf16, _) => {
            "the exact sum of two products and the sum so far, rounded once"
        }
        (Factor::I8, _) => "exact, wraps at 32 bits",
    }
}
