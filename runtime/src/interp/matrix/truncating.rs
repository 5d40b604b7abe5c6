//! gfx942's sums of products of at most 19 significant bits: the terms are cut off below a place that depends on the
//! largest one, their sum is cut off again, and then rounded. (S) Numbers are integers times powers of two here.

use frontend::op::F8;

use super::super::eight_bits;
use crate::choices::MATRIX_NAN;
use crate::math;

/// An element of A or B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Its value; exact.
    value: f64,
    /// The value is this times 2^(exponent - places).
    significand: i64,
    /// That of the value; of denormals, the format's least.
    exponent: i32,
    /// Bits behind the point.
    places: i32,
}

/// The exponent of a product of 0, below that of all others.
const NONE: i32 = i32::MIN / 4;

impl Part {
    fn new(value: f32, least: i32, places: i32) -> Part {
        let bits = value.to_bits();
        let exponent = ((bits >> 23 & 0xff) as i32 - 127).max(least);
        let finite = f64::from(if value.is_finite() { value } else { 0.0 });
        Part {
            value: f64::from(value),
            significand: (finite * 2f64.powi(places - exponent)) as i64,
            exponent: if finite == 0.0 { NONE } else { exponent },
            places,
        }
    }

    pub(super) fn f16(bits: u64) -> Part {
        Part::new(
            f32::from_bits(math::f16_to_f32(bits as u16, false)),
            -14,
            10,
        )
    }

    pub(super) fn bf16(bits: u64) -> Part {
        Part::new(f32::from_bits((bits as u32) << 16), -126, 7)
    }

    /// The low 13 bits of the mantissa are cut off (S; M3 says that they are rounded).
    pub(super) fn xf32(bits: u64) -> Part {
        let value = f32::from_bits(bits as u32);
        let cut = f32::from_bits(bits as u32 & !0x1fff);
        Part::new(if value.is_nan() { value } else { cut }, -126, 10)
    }

    pub(super) fn f8(ty: F8, bits: u64) -> Part {
        let value = eight_bits::to_f32(ty, bits as u32);
        match ty {
            F8::Fp8 => Part::new(value, -7, 3),
            F8::Bf8 => Part::new(value, -15, 2),
        }
    }
}

/// `value` * 2^`by`, downwards to an integer.
fn scaled(value: i64, by: i32) -> i64 {
    if by >= 0 {
        value << by
    } else {
        value >> (-by).min(63)
    }
}

/// A sum of products whose highest exponent is `exponent`, in units of 2^(exponent - 24).
#[derive(Clone, Copy)]
struct Total {
    sum: i64,
    exponent: i32,
}

fn total<'a>(products: impl Iterator<Item = (&'a Part, &'a Part)> + Clone) -> Total {
    let exponent = |(a, b): (&Part, &Part)| match a.exponent == NONE || b.exponent == NONE {
        true => NONE,
        false => a.exponent + b.exponent,
    };
    let highest = products.clone().map(exponent).max().unwrap_or(NONE);
    let cut = |(a, b): (&Part, &Part)| {
        let product = a.significand * b.significand;
        if product == 0 {
            return 0;
        }
        let by = exponent((a, b)) - a.places - b.places - highest + 24;
        // Toward zero.
        product.signum() * scaled(product.abs(), by)
    };
    Total {
        sum: products.map(cut).sum(),
        exponent: highest,
    }
}

/// How products are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grouping {
    /// All in one sum.
    All,
    /// Those of even and of odd numbers in sums of their own: floats of 8 bits.
    EvenOdd,
}

/// Adds products to the bits of a sum. If it `saturates`, an overflow gives the largest number.
pub(super) fn sum(grouping: Grouping, saturates: bool, c: u64, a: &[Part], b: &[Part]) -> u64 {
    let c = f32::from_bits(c as u32);
    let products = || a.iter().zip(b);
    let plain = products().fold(f64::from(c), |sum, (a, b)| sum + a.value * b.value);
    let result = if plain.is_nan() {
        return MATRIX_NAN.into();
    } else if plain.is_infinite() {
        return u64::from((plain as f32).to_bits());
    } else {
        let too_large =
            |sign: f64| products().any(|(a, b)| a.value * b.value * sign >= 2f64.powi(128));
        match (too_large(1.0), too_large(-1.0)) {
            (true, true) => return MATRIX_NAN.into(),
            (true, false) => f32::INFINITY,
            (false, true) => f32::NEG_INFINITY,
            (false, false) => finite_sum(grouping, c, a, b),
        }
    };
    let settled = match result.is_infinite() && saturates {
        true => f32::MAX.copysign(result),
        false => result,
    };
    settled.to_bits().into()
}

fn finite_sum(grouping: Grouping, c: f32, a: &[Part], b: &[Part]) -> f32 {
    let products = a.iter().zip(b);
    let Total { sum, exponent } = match grouping {
        Grouping::All => total(products),
        Grouping::EvenOdd => {
            let (even, odd) = (
                total(products.clone().step_by(2)),
                total(products.skip(1).step_by(2)),
            );
            let exponent = even.exponent.max(odd.exponent);
            let cut = |one: Total| match one.exponent {
                NONE => 0,
                own => scaled(one.sum, own - exponent),
            };
            Total {
                sum: cut(even) + cut(odd),
                exponent,
            }
        }
    };
    let bits = c.to_bits();
    let c_exponent = ((bits >> 23 & 0xff) as i32 - 127).max(-126);
    let c_exponent = if c == 0.0 { -126 } else { c_exponent };
    let significand = (f64::from(c) * 2f64.powi(23 - c_exponent)) as i64;
    let highest = exponent.max(c_exponent);
    let counts = grouping == Grouping::All || c_exponent >= highest - 25;
    let significand = if counts { significand } else { 0 };
    // Units of 2^(highest - 32).
    let of_products = match exponent {
        NONE => 0,
        exponent => scaled(sum, exponent - highest + 8),
    };
    let all = of_products + (scaled(significand, c_exponent - highest + 1) << 8);
    let length = 64 - all.unsigned_abs().leading_zeros() as i32;
    let own = (highest - 32 + length - 1).max(-126);
    let drop = (own - highest + 1).max(0);
    let cut = all >> drop << drop;
    (cut as f64 * 2f64.powi(highest - 32)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sums of one chunk of products, the check vector of S.
    #[test]
    fn check_vector() {
        let a = [-8192.0, -0.5, -0.25, -0.125];
        let b = [1024.0, 1.0, 1.0, 1.0];
        let c = 8388608f32;
        let of = |part: &dyn Fn(f32) -> Part, grouping| {
            let [a, b] = [a, b].map(|x: [f32; 4]| x.map(part));
            f32::from_bits(sum(grouping, false, c.to_bits().into(), &a, &b) as u32)
        };
        let f16 = |x: f32| Part::new(x, -14, 10);
        let bf16 = |x: f32| Part::new(x, -126, 7);
        let bf8 = |x: f32| Part::new(x, -15, 2);
        assert_eq!(of(&f16, Grouping::All), -0.5);
        assert_eq!(of(&bf16, Grouping::All), -0.5);
        assert_eq!(of(&bf8, Grouping::EvenOdd), -1.0);
    }
}
