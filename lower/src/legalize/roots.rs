//! Reciprocal square roots of f64, correctly rounded, shared by lanes and the wave.
//!
//! An estimate y of nearly 53 bits and the residual 1 - x * y^2, with the square in two parts, give
//! the reciprocal root as a sum of two numbers with 100 correct bits. Rounding the sum is correct
//! unless it is close to a midpoint of two numbers. Those, and sources at the ends of the exponent
//! range, zeros, infinities, NaNs and negative numbers, are handled out of line, by the sign of 1 -
//! x * m^2 for the midpoint m.

use super::evaluate::Shape;
use crate::ir::{Fcmp, Float, Flush, Icmp, Op, Width};

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};

const SIGN: u64 = 1 << 63;
const INFINITY: u64 = 0x7ff0_0000_0000_0000;
const FRACTION: u64 = 0x000f_ffff_ffff_ffff;
/// The result for negative sources.
const NO_ROOT: u64 = 0xfff8_0000_0000_0000;

/// The bits of 2^exponent.
const fn power(exponent: i64) -> u64 {
    ((1023 + exponent) as u64) << 52
}

/// Residuals of sources from 2^LEAST to below 2^MOST are normal numbers.
const LEAST: i64 = -959;
const MOST: i64 = 961;

/// 1 / sqrt(x).
pub(super) fn rsq_double<O: Shape>(ops: &mut O, x: &O::Value) -> O::Value {
    Roots { ops }.rsq(x)
}

struct Roots<'a, O: Shape> {
    ops: &'a mut O,
}

impl<O: Shape> Roots<'_, O> {
    fn k(&mut self, bits: u64) -> O::Value {
        self.ops.immediate(Width::W64, bits)
    }

    fn op(&mut self, op: Op, args: &[&O::Value]) -> O::Value {
        self.ops.op(op, Width::W64, args)
    }

    fn add(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::FAdd(Float::F64, KEEP), &[x, y])
    }

    fn sub(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::FSub(Float::F64, KEEP), &[x, y])
    }

    fn mul(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::FMul(Float::F64, KEEP), &[x, y])
    }

    fn fma(&mut self, x: &O::Value, y: &O::Value, z: &O::Value) -> O::Value {
        self.op(Op::Fma(Float::F64, KEEP), &[x, y, z])
    }

    fn negative(&mut self, x: &O::Value) -> O::Value {
        let sign = self.k(SIGN);
        self.op(Op::Xor, &[x, &sign])
    }

    fn compare(&mut self, cond: Fcmp, x: &O::Value, y: &O::Value) -> O::Value {
        self.op(Op::Fcmp(Float::F64, cond, KEEP), &[x, y])
    }

    fn choose(&mut self, mask: &O::Value, yes: &O::Value, no: &O::Value) -> O::Value {
        self.ops.choose(Width::W64, mask, yes, no)
    }

    fn and(&mut self, x: &O::Value, y: &O::Value) -> O::Value {
        self.ops.op(Op::And, Width::W1, &[x, y])
    }

    fn dword(&mut self, op: Op, x: &O::Value, k: u32) -> O::Value {
        let k = self.ops.immediate(Width::W32, k.into());
        self.ops.op(op, Width::W32, &[x, &k])
    }

    /// a * b as the sum of two numbers.
    fn product(&mut self, a: &O::Value, b: &O::Value) -> [O::Value; 2] {
        let high = self.mul(a, b);
        let minus_high = self.negative(&high);
        let low = self.fma(a, b, &minus_high);
        [high, low]
    }

    /// a - b as the sum of two numbers.
    fn difference(&mut self, a: &O::Value, b: &O::Value) -> [O::Value; 2] {
        let high = self.sub(a, b);
        let b_part = self.sub(a, &high);
        let a_part = self.add(&high, &b_part);
        let a_rest = self.sub(a, &a_part);
        let b_rest = self.sub(&b_part, b);
        let low = self.add(&a_rest, &b_rest);
        [high, low]
    }

    /// A number next to the reciprocal root and its error, for sources that are neither special nor
    /// extreme.
    fn two_parts(&mut self, x: &O::Value) -> [O::Value; 2] {
        let y = self.ops.estimate_rsq(x);
        let [square, rest] = self.product(&y, &y);
        let minus_x = self.negative(x);
        let [one, half] = [0, -1].map(|exponent| self.k(power(exponent)));
        let residual = self.fma(&minus_x, &square, &one);
        let residual = self.fma(&minus_x, &rest, &residual);
        let residual = self.mul(&residual, &half);
        let step = self.mul(&y, &residual);
        let d = self.add(&y, &step);
        let moved = self.sub(&d, &y);
        let left = self.sub(&step, &moved);
        [d, left]
    }

    fn rsq(&mut self, x: &O::Value) -> O::Value {
        let [d, left] = self.two_parts(x);
        // The distance of the error from half of a last place, against 2^-30 of that.
        let exponent = self.k(INFINITY);
        let ulp = self.op(Op::And, &[&d, &exponent]);
        let [half, limit] = [-53, -83].map(|exponent| {
            let factor = self.k(power(exponent));
            self.mul(&ulp, &factor)
        });
        let magnitude = self.k(SIGN - 1);
        let left = self.op(Op::And, &[&left, &magnitude]);
        let distance = self.sub(&left, &half);
        let distance = self.op(Op::And, &[&distance, &magnitude]);
        let apart = self.compare(Fcmp::Lt, &limit, &distance);
        // Below a power of two a last place is half of that above.
        let [fraction, zero] = [FRACTION, 0].map(|bits| self.k(bits));
        let fraction = self.op(Op::And, &[&d, &fraction]);
        let between = self.op(Op::Icmp(Icmp::Ne), &[&fraction, &zero]);
        let [least, most] = [LEAST, MOST].map(|exponent| self.k(power(exponent)));
        let above = self.compare(Fcmp::Le, &least, x);
        let below = self.compare(Fcmp::Lt, x, &most);
        let usual = self.and(&apart, &between);
        let inside = self.and(&above, &below);
        let usual = self.and(&usual, &inside);
        let rare = self.ops.op(Op::Not, Width::W1, &[&usual]);
        self.ops
            .unless_any(Width::W64, &rare, d, |ops| Roots { ops }.any_rsq(x))
    }

    /// The same for arbitrary sources.
    fn any_rsq(&mut self, source: &O::Value) -> O::Value {
        // x * 4^k with 1/2 <= x < 2.
        let mantissa = self.op(Op::FrexpMant(Float::F64), &[source]);
        let exponent = self.op(Op::FrexpExp(Float::F64), &[source]);
        let odd = self.dword(Op::And, &exponent, 1);
        let even = self.ops.op(Op::Sub, Width::W32, &[&exponent, &odd]);
        let even = self.dword(Op::Add, &even, 2048);
        let k = self.ops.shifted(&even, 1, false);
        let bias = self.ops.immediate(Width::W32, 1024);
        let minus_k = self.ops.op(Op::Sub, Width::W32, &[&bias, &k]);
        let ldexp = Op::Ldexp(Float::F64, KEEP);
        let x = self.op(ldexp, &[&mantissa, &odd]);
        let d = self.nearest(&x);
        let value = self.op(ldexp, &[&d, &minus_k]);
        // Special sources.
        let [zero, infinity, none] = [0, INFINITY, NO_ROOT].map(|bits| self.k(bits));
        let is_zero = self.compare(Fcmp::Eq, source, &zero);
        let is_infinite = self.compare(Fcmp::Eq, source, &infinity);
        let is_below = self.compare(Fcmp::Lt, source, &zero);
        let is_nan = self.compare(Fcmp::Uno, source, source);
        let of_zero = self.op(Op::Or, &[source, &infinity]);
        let of_nan = self.op(Op::FQuiet(Float::F64), &[source]);
        let value = self.choose(&is_infinite, &zero, &value);
        let value = self.choose(&is_zero, &of_zero, &value);
        let value = self.choose(&is_below, &none, &value);
        self.choose(&is_nan, &of_nan, &value)
    }

    /// Of 1/2 <= x < 2.
    fn nearest(&mut self, x: &O::Value) -> O::Value {
        let [d, left] = self.two_parts(x);
        // Half of the last place on the side of the error: below 1 it is half of that above.
        let [zero, one] = [0, power(0)].map(|bits| self.k(bits));
        let more = self.compare(Fcmp::Lt, &one, &d);
        let is_one = self.compare(Fcmp::Eq, &d, &one);
        let up = self.compare(Fcmp::Lt, &zero, &left);
        let more_than_one = self.and(&is_one, &up);
        let more = self.ops.op(Op::Or, Width::W1, &[&more, &more_than_one]);
        let [below, above] = [-54, -53].map(|exponent| self.k(power(exponent)));
        let half = self.choose(&more, &above, &below);
        let sign = self.k(SIGN);
        let sign = self.op(Op::And, &[&left, &sign]);
        let half = self.op(Op::Or, &[&half, &sign]);
        let whole = self.add(&half, &half);
        // 1 - x * (d + half)^2 = 1 - x * d^2 - whole * x * d - half^2 * x. The first sums are
        // exact. Their errors, and the products' low parts, are below 2^-104, so that rounding
        // their sum changes it by less than 2^-155.
        let [square, rest] = self.product(&d, &d);
        let [high, high_rest] = self.product(x, &square);
        let [low, low_rest] = self.product(x, &rest);
        let [along, along_rest] = self.product(x, &d);
        let along = self.mul(&whole, &along);
        let sum = self.sub(&one, &high);
        let [sum, first] = self.difference(&sum, &high_rest);
        let [sum, second] = self.difference(&sum, &low);
        let [sum, third] = self.difference(&sum, &along);
        let rest = self.add(&first, &second);
        let rest = self.add(&rest, &third);
        let rest = self.sub(&rest, &low_rest);
        let minus_whole = self.negative(&whole);
        let rest = self.fma(&minus_whole, &along_rest, &rest);
        let minus_half = self.negative(&half);
        let minus_square = self.mul(&half, &minus_half);
        let rest = self.fma(&minus_square, x, &rest);
        let sum = self.add(&sum, &rest);
        // Is the reciprocal beyond the midpoint?
        let beyond = self.mul(&sum, &half);
        let beyond = self.compare(Fcmp::Lt, &zero, &beyond);
        let next = self.add(&d, &whole);
        self.choose(&beyond, &next, &d)
    }
}
