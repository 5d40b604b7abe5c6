//! Reciprocal square roots of f32 lanes, correctly rounded, and the initial estimate of those of
//! f64.
//!
//! For a y with an error of at most one last place, r = 1 - x * y^2, computed with the rounding
//! error of x * y, gives y / sqrt(1 - r) = y + y/2 * r * (1 + 3/4 r + ...), which rounds correctly
//! for every f32 (tested for both parities of the exponent with all mantissas, and all three y for
//! each). Only the source can be denormal.

use super::Lanes;
use crate::ir::{Fcmp, Float, Flush, Halves, Op, Width};
use crate::legalize::evaluate::Shape;
use crate::vir::fix::{By, Of};
use crate::vir::{Fixes, Op as VirOp, Value};

const SIGN: u32 = 1 << 31;
/// Unit of the exponent field.
const EXPONENT_ONE: u32 = 1 << 23;
/// The result for negative sources.
const NO_ROOT: u32 = 0xffc0_0000;

impl Lanes<'_, '_> {
    fn negative(&mut self, v: Value) -> Value {
        let bits = self.as_bits(Float::F32, v);
        let sign = self.dwords(SIGN);
        let bits = self.b.bxor(bits, sign);
        self.as_float(Float::F32, bits)
    }

    /// From the estimate of AVX-512, with a relative error of at most 2^-14. Two Newton steps, y +
    /// y * r with r = 1/2 - x * y * y/2: the first leaves little more than its own rounding error
    /// and half of that of x * y, which the second takes into account. The error of the second,
    /// 3/2 * r^2 of y, is always negative: rounding r up to the next f32 compensates for it. (Tested
    /// for all estimates this close, for both parities of the exponent with all mantissas; with
    /// other roundings of r two of these numbers are wrong.) The estimates for NaNs and negative
    /// sources are the results; both steps preserve them. For zeros and infinities the result is
    /// unspecified.
    pub(super) fn rsq(&mut self, bits: Value) -> Value {
        const FIXES: Fixes = Fixes::NONE
            .with(Of::Zero, By::SignedInfinity)
            .with(Of::PositiveValue, By::SignedInfinity)
            .with(Of::NegativeValue, By::SignedInfinity)
            .with(Of::Infinity, By::Zero);
        let ty = self.vector(Float::F32);
        let x = self.as_float(Float::F32, bits);
        let half = self.single(0.5f32.to_bits());
        let y = self.b.op(VirOp::RootEstimate, &[x], ty);
        let h = self.b.fmul(x, y);
        let minus_h = self.negative(h);
        let half_y = self.halved(y);
        let r = self.b.fma(minus_h, half_y, half);
        let y = self.b.fma(y, r, y);
        // From here on twice r, so that y is not halved again.
        let h = self.b.fmul(x, y);
        let minus_h = self.negative(h);
        let rest = self.b.fma(x, y, minus_h);
        let one = self.single(1f32.to_bits());
        let r = self.b.fma(minus_h, y, one);
        let minus_rest = self.negative(rest);
        let r = self.b.fma(minus_rest, y, r);
        let r = self.raised_half(r);
        let d = self.b.fma(y, r, y);
        let special = self
            .b
            .op(VirOp::ZeroOrInfinite, &[x], self.dwords_type().truth());
        let fixes = self.dwords(FIXES.bits());
        let fixed = self.b.op(VirOp::Fix, &[d, x, fixes], ty);
        let [d, fixed] = [d, fixed].map(|v| self.as_bits(Float::F32, v));
        self.blend(special, fixed, d)
    }

    /// Half of f32 that are zero or neither small nor infinite, without the multiplier: their
    /// exponents decremented, saturating at zero.
    fn halved(&mut self, y: Value) -> Value {
        let bits = self.as_bits(Float::F32, y);
        let one = self.dwords(EXPONENT_ONE);
        let bits = self.by_halves(Halves::SubSatU, &[&[bits], &[one]])[0];
        self.as_float(Float::F32, bits)
    }

    /// Half of twice the r of the second step, slightly increased.
    fn raised_half(&mut self, r: Value) -> Value {
        let ty = self.vector(Float::F32);
        let half = self.single(0.5f32.to_bits());
        if self.per == 16 {
            let least = self.single(f32::MIN_POSITIVE.to_bits());
            return self.b.op(VirOp::FusedUp, &[r, half, least], ty);
        }
        let r = self.b.fmul(r, half);
        let three_halves = self.single(1.5f32.to_bits());
        let square = self.b.fmul(r, three_halves);
        self.b.fma(square, r, r)
    }

    /// An approximation of 1 / sqrt(x) of f64 with a relative error below 2^-50: from the estimate
    /// of AVX-512, with an error of at most 2^-14, two Newton steps give 2^-27 and 2^-51; otherwise
    /// by the square root.
    pub(super) fn root_reciprocal(&mut self, x: Value) -> Value {
        let ty = self.vector(Float::F64);
        let constant = |l: &mut Self, value: f64| {
            let bits = l.quads(value.to_bits());
            l.as_float(Float::F64, bits)
        };
        if !self.masks {
            let root = self.b.sqrt(x);
            let one = constant(self, 1.0);
            return self.b.fdiv(one, root);
        }
        let half = constant(self, 0.5);
        let minus_half = constant(self, -0.5);
        let minus_half_x = self.b.fmul(x, minus_half);
        let mut y = self.b.op(VirOp::RootEstimate, &[x], ty);
        for _ in 0..2 {
            // y + y * (1/2 - x/2 * y * y)
            let along = self.b.fmul(minus_half_x, y);
            let rest = self.b.fma(along, y, half);
            y = self.b.fma(y, rest, y);
        }
        y
    }

    /// From the reciprocal of the rounded root. Where r is not a number, that is the result.
    pub(super) fn rsq_by_root(&mut self, a: &Vec<Value>) -> Vec<Value> {
        const KEEP: Flush = Flush {
            src: false,
            dst: false,
        };
        let float = |op: fn(Float, Flush) -> Op| op(Float::F32, KEEP);
        let [one, half, three_quarters, sign] =
            [1f32.to_bits(), 0.5f32.to_bits(), 0.75f32.to_bits(), SIGN]
                .map(|bits| self.const_lanes(Width::W32, bits.into()));
        let mut op = |op: Op, args: &[&Vec<Value>]| self.op(op, Width::W32, args);
        let x = op(Op::FFlush(Float::F32), &[a]);
        let root = op(float(Op::FSqrt), &[&x]);
        let y = op(float(Op::FDiv), &[&one, &root]);
        let h = op(float(Op::FMul), &[&x, &y]);
        let minus_h = op(Op::Xor, &[&h, &sign]);
        let rest = op(float(Op::Fma), &[&x, &y, &minus_h]);
        let minus_rest = op(Op::Xor, &[&rest, &sign]);
        let r = op(float(Op::Fma), &[&minus_h, &y, &one]);
        let r = op(float(Op::Fma), &[&minus_rest, &y, &r]);
        let more = op(float(Op::FMul), &[&r, &three_quarters]);
        let step = op(float(Op::Fma), &[&r, &more, &r]);
        let along = op(float(Op::FMul), &[&y, &half]);
        let d = op(float(Op::Fma), &[&along, &step, &y]);
        let none = op(Op::Fcmp(Float::F32, Fcmp::Uno, KEEP), &[&r, &r]);
        let d = self.select(Width::W32, &none, &y, &d);
        if !self.exact_nan {
            return d;
        }
        let [zero, nan] = [0, NO_ROOT].map(|bits| self.const_lanes(Width::W32, bits.into()));
        let below = self.op(
            Op::Fcmp(Float::F32, Fcmp::Lt, KEEP),
            Width::W32,
            &[&x, &zero],
        );
        self.select(Width::W32, &below, &nan, &d)
    }
}
