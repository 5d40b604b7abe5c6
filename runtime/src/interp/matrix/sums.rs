//! How sums of products are rounded. Each function adds to the bits of a sum the products that one
//! lane holds; further products are added by further calls, in the order of k. Rounding is to
//! nearest even whatever MODE says (M3).

use crate::choices::{MATRIX_NAN, MATRIX_NAN_F64};

fn bits_f32(value: f32) -> u64 {
    u64::from(if value.is_nan() {
        MATRIX_NAN
    } else {
        value.to_bits()
    })
}

fn value_f32(sum: u64) -> f32 {
    f32::from_bits(sum as u32)
}

/// The value of f32 bits.
pub(super) fn double(bits: u32) -> f64 {
    f64::from(f32::from_bits(bits))
}

/// f32 on all targets: fused, one product after the other. (S) If it `saturates`, an overflow gives the largest number.
pub(super) fn fused_f32(sum: u64, a: &[u32], b: &[u32], saturates: bool) -> u64 {
    let products = a.iter().zip(b);
    let sum = products.fold(value_f32(sum), |sum, (&a, &b)| {
        let (a, b) = (f32::from_bits(a), f32::from_bits(b));
        let next = a.mul_add(b, sum);
        let overflows = next.is_infinite() && [a, b, sum].iter().all(|x| x.is_finite());
        match saturates && overflows {
            true => f32::MAX.copysign(next),
            false => next,
        }
    });
    bits_f32(sum)
}

/// f64 on all targets: fused, nothing flushed. (M2, M3, S)
pub(super) fn fused_f64(sum: u64, a: &[u64], b: &[u64]) -> u64 {
    let products = a.iter().zip(b);
    let sum = products.fold(f64::from_bits(sum), |sum, (&a, &b)| {
        f64::from_bits(a).mul_add(f64::from_bits(b), sum)
    });
    if sum.is_nan() {
        MATRIX_NAN_F64
    } else {
        sum.to_bits()
    }
}

/// i8 on all targets.
pub(super) fn wrapping_i32(sum: u64, a: &[i32], b: &[i32]) -> u64 {
    let products = a.iter().zip(b).map(|(a, b)| a * b);
    let sum = products.fold(sum as i32, i32::wrapping_add);
    u64::from(sum as u32)
}

/// i8 on gfx942 where MODE.FP16_OVFL is set: all products of a block are given.
pub(super) fn limited_i32(sum: u64, a: &[i32], b: &[i32]) -> u64 {
    let products = a.iter().zip(b).map(|(a, b)| i64::from(a * b));
    let sum = products.fold(i64::from(sum as i32), |sum, product| sum + product);
    u64::from(sum.clamp(i32::MIN.into(), i32::MAX.into()) as u32)
}

/// f16 and bf16 on gfx908: the exact sum, rounded once; nothing is flushed and zero is positive.
/// (S)
pub(super) fn exact(sum: u64, a: &[f64], b: &[f64]) -> u64 {
    // A product of two such numbers is exact in f64 and far from its limits.
    let products = a.iter().zip(b).map(|(a, b)| a * b);
    let terms = || products.clone().chain([double(sum as u32)]);
    let mut total = 0.0;
    let mut is_exact = true;
    for term in terms() {
        let (before, after) = (total, total + term);
        // The rounding error of the addition. (Knuth's two-sum)
        let added = after - before;
        let error = (before - (after - added)) + (term - added);
        is_exact &= error == 0.0;
        total = after;
    }
    if !is_exact && total.is_finite() {
        total = FixedPoint::sum(terms()).rounded_to_odd();
    }
    // Adding 0 makes a negative zero positive.
    bits_f32((total + 0.0) as f32)
}

/// Limbs of a [`FixedPoint`].
const LIMBS: usize = 10;

/// The exponent of a [`FixedPoint`]'s lowest bit. The lowest bit of a product of two denormals of
/// bf16 is 2^-266; those of f64 are 52 below the highest one.
const LOWEST: i32 = -320;

/// A sum without rounding, in two's complement.
#[derive(Default)]
struct FixedPoint([u64; LIMBS]);

impl FixedPoint {
    fn sum(terms: impl Iterator<Item = f64>) -> FixedPoint {
        let mut fixed = FixedPoint::default();
        terms.for_each(|term| fixed.add(term));
        fixed
    }

    /// Adds a number of which no bit is below [`LOWEST`].
    fn add(&mut self, value: f64) {
        if value == 0.0 {
            return;
        }
        let bits = value.to_bits();
        let significand = bits & ((1 << 52) - 1) | 1 << 52;
        let exponent = (bits >> 52 & 0x7ff) as i32 - 1075;
        let at = (exponent - LOWEST) as usize;
        let shifted = u128::from(significand) << (at % 64);
        let mut parts = [shifted as u64, (shifted >> 64) as u64].into_iter();
        let mut carry = 0;
        for limb in &mut self.0[at / 64..] {
            let part = u128::from(parts.next().unwrap_or(0)) + u128::from(carry);
            let old = u128::from(*limb);
            let new = match value < 0.0 {
                true => old.wrapping_sub(part),
                false => old + part,
            };
            *limb = new as u64;
            carry = (new >> 64) as u64 & 1;
        }
    }

    /// The sum in 53 bits, of which the lowest is set if bits below it are: rounding that to f32
    /// is as rounding the sum.
    fn rounded_to_odd(mut self) -> f64 {
        let negative = self.0[LIMBS - 1] >> 63 != 0;
        if negative {
            self.negate();
        }
        let Some(top) = self.0.iter().rposition(|&limb| limb != 0) else {
            return 0.0;
        };
        let highest = 64 * top as i32 + 63 - self.0[top].leading_zeros() as i32;
        let first = highest - 52;
        let significand = (0..53).fold(0, |all, n| all | self.bit(first + n) << n);
        let below = (0..first).any(|n| self.bit(n) != 0);
        let magnitude = (significand | u64::from(below)) as f64 * power(first + LOWEST);
        if negative { -magnitude } else { magnitude }
    }

    fn negate(&mut self) {
        let mut carry = true;
        for limb in &mut self.0 {
            (*limb, carry) = (!*limb).overflowing_add(u64::from(carry));
        }
    }

    fn bit(&self, n: i32) -> u64 {
        match usize::try_from(n) {
            Ok(n) => self.0[n / 64] >> (n % 64) & 1,
            Err(_) => 0,
        }
    }
}

/// 2^exponent, which is a normal number.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// A denormal becomes +0, as those of factors and of C do on gfx90a. (S; MIOpen's documentation and
/// M2 say that they are flushed)
pub(super) fn flushed_f32(bits: u32) -> u32 {
    if f32::from_bits(bits).is_subnormal() {
        0
    } else {
        bits
    }
}

/// As [`flushed_f32`].
pub(super) fn flushed_f16(bits: u64) -> u64 {
    if bits & 0x7c00 == 0 && bits & 0x3ff != 0 {
        0
    } else {
        bits
    }
}

/// A denormal result becomes the zero of its sign.
fn settled(value: f32) -> f32 {
    if value.is_subnormal() {
        0f32.copysign(value)
    } else {
        value
    }
}

/// f16 and bf16 on gfx90a: each product and each sum is rounded, products are summed in pairs, and
/// denormals are flushed. (S)
pub(super) fn pairwise(sum: u64, a: &[f32], b: &[f32]) -> u64 {
    let sum = f32::from_bits(flushed_f32(sum as u32));
    bits_f32(settled(sum + pairs(a, b)))
}

/// The sum of a power of two of products.
fn pairs(a: &[f32], b: &[f32]) -> f32 {
    if let ([a], [b]) = (a, b) {
        return settled(a * b);
    }
    let half = a.len() / 2;
    settled(pairs(&a[..half], &b[..half]) + pairs(&a[half..], &b[half..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_point_keeps_all_bits() {
        let sum = |terms: &[f64]| FixedPoint::sum(terms.iter().copied()).rounded_to_odd();
        let (large, tiny) = (2f64.powi(256), 2f64.powi(-266));
        assert_eq!(sum(&[1.0, -1.0]), 0.0);
        assert_eq!(sum(&[3.5, -1.25, 2f64.powi(-40)]), 2.25 + 2f64.powi(-40));
        assert_eq!(sum(&[tiny, tiny]), 2.0 * tiny);
        assert_eq!(sum(&[large, tiny, -large]), tiny);
        assert_eq!(sum(&[-large, large, -tiny]), -tiny);
        // The lowest bit tells that there is more.
        assert_eq!(sum(&[large, tiny]), large.next_up());
        assert_eq!(sum(&[-large, -tiny]), (-large).next_down());
        assert_eq!(sum(&[large, -tiny]), large.next_down());
    }
}
