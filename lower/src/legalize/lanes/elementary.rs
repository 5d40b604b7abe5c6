//! Powers of two and logarithms of f32, correctly rounded to nearest even: polynomials in f64,
//! evaluated with fused products for two halves of a vector at once. An exhaustive test over all
//! arguments shows that the rounding to f32 is correct (`every_argument` among the tests of the
//! lowering).

use super::Lanes;
use crate::ir::Float;
use crate::legalize::evaluate::Shape;
use crate::vir::fix::{By, Of};
use crate::vir::{Fixes, FloatCC, IntCC, Op as VirOp, Value, types};

/// (2^f - 1) / f for |f| <= 1/2, with an error below 2^-51 of 2^f, as coefficients of the powers of
/// f.
const POWER: [f64; 10] = [
    0.6931471805599516,
    0.24022650695910472,
    0.05550410866434658,
    0.009618129107380713,
    0.0013333558246480782,
    0.00015403530800819353,
    1.525264774766611e-05,
    1.3215235634262416e-06,
    1.0210506463831575e-07,
    7.111758770636024e-09,
];

/// The argument for which the f64 value is a tie and the exact one is above it.
const TIE: u32 = 0xbcf3_a937;

/// log2((1 + s) / (1 - s)) / s for |s| <= 0.1716, with a relative error below 2^-52, as
/// coefficients of the powers of s^2.
const LOGARITHM: [f64; 7] = [
    2.885390081777927,
    0.9617966939243345,
    0.5770780172463286,
    0.4121984020482752,
    0.32061638813224547,
    0.2614442493522915,
    0.2429160853987535,
];

/// The first f32 above sqrt(1/2).
const ROOT_HALF: u32 = 0x3f35_04f4;

const MIN_NORMAL: u32 = 0x0080_0000;
const INFINITY: u32 = 0x7f80_0000;

impl Lanes<'_, '_> {
    pub(super) fn single(&mut self, bits: u32) -> Value {
        let bits = self.dwords(bits);
        self.as_float(Float::F32, bits)
    }

    fn double(&mut self, value: f64) -> Value {
        let bits = self.quads(value.to_bits());
        self.as_float(Float::F64, bits)
    }

    /// f32 as f64, in two halves.
    fn halves(&mut self, x: Value) -> [Value; 2] {
        let ty = self.vector(Float::F64);
        [VirOp::PromoteLowHalf, VirOp::PromoteHighHalf].map(|f| self.b.op(f, &[x], ty))
    }

    /// The f32 next to both halves.
    fn rounded(&mut self, halves: [Value; 2]) -> Value {
        let ty = self.vector(Float::F32);
        self.b.op(VirOp::DemoteHalves, &halves, ty)
    }

    /// The polynomial of f64 with these coefficients: the even powers plus x times the odd ones.
    fn polynomial(&mut self, coefficients: &[f64], x: Value) -> Value {
        let square = self.b.fmul(x, x);
        let [even, odd] =
            [0, 1].map(|first| self.in_turn(coefficients[first..].iter().step_by(2), square));
        self.b.fma(odd, x, even)
    }

    /// Horner's scheme, which has a longer latency, but fewer registers and instructions.
    fn in_turn<'a>(
        &mut self,
        coefficients: impl DoubleEndedIterator<Item = &'a f64>,
        x: Value,
    ) -> Value {
        let mut powers = coefficients.rev();
        let highest = powers.next().expect("there are coefficients");
        let mut sum = self.double(*highest);
        for &power in powers {
            let power = self.double(power);
            sum = self.b.fma(sum, x, power);
        }
        sum
    }

    /// `v_exp_f32` on bits: 2^x, zero where that is less than 2^-126.
    pub(super) fn exp2(&mut self, bits: Value) -> Value {
        let x = self.as_float(Float::F32, bits);
        let ty = self.vector(Float::F32);
        // x = n + f with |f| <= 1/2, exactly; n is also in the low bits of the sum that rounds x.
        let (x, n, f, integer) = if self.masks {
            // 0 for infinity.
            let f = self.b.op(VirOp::Rest, &[x], ty);
            (x, self.b.fsub(x, f), f, None)
        } else {
            // From 128 on the result is infinity.
            let most = self.single(128f32.to_bits());
            let x = self.b.op(VirOp::Least, &[most, x], ty);
            let large = self.single(12_582_912f32.to_bits());
            let aligned = self.b.fadd(x, large);
            let n = self.b.fsub(aligned, large);
            let f = self.b.fsub(x, n);
            (x, n, f, Some(self.as_bits(Float::F32, aligned)))
        };
        let powers = self.halves(f).map(|f| {
            let slope = match self.masks {
                true => self.in_turn(POWER.iter(), f),
                false => self.polynomial(&POWER, f),
            };
            let one = self.double(1.0);
            self.b.fma(slope, f, one)
        });
        let power = self.rounded(powers);
        let power = self.as_bits(Float::F32, power);
        let tie = self.dwords(TIE);
        let tie = self.b.icmp(IntCC::Equal, bits, tie);
        let up = self.dwords(1);
        let above = self.b.iadd(power, up);
        let power = self.blend(tie, above, power);
        let low = self.single((-126f32).to_bits());
        let kept = self.b.fcmp(FloatCC::UnorderedOrGreaterThanOrEqual, x, low);
        match integer {
            None => {
                let power = self.as_float(Float::F32, power);
                let scaled = self.b.op(VirOp::Scale, &[power, n], ty);
                let scaled = self.as_bits(Float::F32, scaled);
                self.b.band(kept, scaled)
            }
            Some(integer) => {
                let up = self.shift(integer, 23, true);
                let scaled = self.b.iadd(power, up);
                let scaled = self.quiet_or(x, scaled);
                self.b.band(kept, scaled)
            }
        }
    }

    /// x quieted where it is a NaN; else other bits.
    fn quiet_or(&mut self, x: Value, bits: Value) -> Value {
        let nan = self.b.fcmp(FloatCC::Unordered, x, x);
        let quiet = self.b.fadd(x, x);
        let quiet = self.as_bits(Float::F32, quiet);
        self.blend(nan, quiet, bits)
    }

    /// `v_log_f32` on bits: the logarithm to base 2, with denormals as zeros.
    pub(super) fn log2(&mut self, bits: Value) -> Value {
        // x = m * 2^e with m from sqrt(1/2) to sqrt(2).
        let root = self.dwords(ROOT_HALF);
        let above = self.b.isub(bits, root);
        let c23 = self.b.iconst(types::I32, 23);
        let e = self.b.sshr(above, c23);
        let field = self.dwords(0xff80_0000);
        let exponent = self.b.band(above, field);
        let m = self.b.isub(bits, exponent);
        let m = self.as_float(Float::F32, m);
        let wholes = {
            let ty = self.vector(Float::F32);
            let e = self.b.fcvt_from_sint(ty, e);
            self.halves(e)
        };
        let parts = self.halves(m);
        let sums = [0, 1].map(|n| {
            let one = self.double(1.0);
            let below = self.b.fsub(parts[n], one);
            let above = self.b.fadd(parts[n], one);
            let s = self.b.fdiv(below, above);
            let square = self.b.fmul(s, s);
            let slope = self.polynomial(&LOGARITHM, square);
            self.b.fma(slope, s, wholes[n])
        });
        let sum = self.rounded(sums);
        let sum = self.as_bits(Float::F32, sum);
        let x = self.as_float(Float::F32, bits);
        if self.masks {
            const FIXES: Fixes = Fixes::NONE
                .with_nans(By::Quieted)
                .with(Of::NegativeInfinity, By::DefaultNan)
                .with(Of::Infinity, By::Infinity)
                .with(Of::NegativeValue, By::DefaultNan);
            let ty = self.vector(Float::F32);
            let fixes = self.dwords(FIXES.bits());
            let sum = self.as_float(Float::F32, sum);
            let d = self.b.op(VirOp::Fix, &[sum, x, fixes], ty);
            let d = self.as_bits(Float::F32, d);
            let [field, zero, bottom] = [INFINITY, 0, 1 << 31 | INFINITY].map(|b| self.dwords(b));
            let field = self.b.band(bits, field);
            let low = self.b.icmp(IntCC::Equal, field, zero);
            return self.blend(low, bottom, d);
        }
        // -infinity below the normal numbers, NaN for negative ones; infinity and NaN are
        // unchanged.
        let [least, negative, infinity] =
            [MIN_NORMAL, 1 << 31 | MIN_NORMAL, INFINITY].map(|b| self.single(b));
        let number = self.b.fcmp(FloatCC::LessThan, x, infinity);
        let itself = self.b.fadd(x, x);
        let itself = self.as_bits(Float::F32, itself);
        let d = self.blend(number, sum, itself);
        let low = self.b.fcmp(FloatCC::LessThan, x, least);
        let bottom = self.dwords(1 << 31 | INFINITY);
        let d = self.blend(low, bottom, d);
        let below = self.b.fcmp(FloatCC::LessThanOrEqual, x, negative);
        let nan = self.dwords(0xffc0_0000);
        self.blend(below, nan, d)
    }
}
