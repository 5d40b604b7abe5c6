//! gfx908's f16 and bf16: the products of one lane's values of K and the sum so far are added
//! exactly, and rounded once to f32 (to nearest even). An exact sum of 0 is +0.
//!
//! A product is exact in f64. In most cases so is the sum of the products, and then the sum so far
//! is added with the error of that addition known, which suffices to round correctly. Otherwise the
//! sum is computed in fixed point.

use std::array;

/// Adds the products of values of A and rows of B to a row of D.
#[inline(always)]
pub(super) fn add<const N: usize, const P: usize>(
    sum: &mut [u32; N],
    x: [f32; P],
    y: [&[f32; N]; P],
) {
    let old = *sum;
    let mut inexact = false;
    for (j, sum) in sum.iter_mut().enumerate() {
        let products = products(x, y, j);
        let (mut total, mut lost) = (products[0], false);
        for &product in &products[1..] {
            let (next, error) = two_sum(total, product);
            lost |= error != 0.0;
            total = next;
        }
        let (total, error) = two_sum(total, f64::from(f32::from_bits(old[j])));
        // NaNs and infinities have an error that is a NaN.
        inexact |= lost;
        *sum = narrowed(to_odd(total, error)).to_bits();
    }
    if inexact {
        for (j, sum) in sum.iter_mut().enumerate() {
            *sum = in_fixed_point(products(x, y, j), f32::from_bits(old[j])).to_bits();
        }
    }
}

/// The products of column `j`.
#[inline(always)]
fn products<const N: usize, const P: usize>(x: [f32; P], y: [&[f32; N]; P], j: usize) -> [f64; P] {
    array::from_fn(|t| f64::from(x[t]) * f64::from(y[t][j]))
}

/// A sum and its rounding error (Knuth).
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// A sum with an error, rounded to odd: where the error is not 0, of the two neighbours around the
/// exact value the one whose last bit is 1. Rounding that to f32 is rounding the exact value, since
/// f64 has more than two further bits.
#[inline(always)]
fn to_odd(sum: f64, error: f64) -> f64 {
    let bits = sum.to_bits();
    let even = bits & 1 == 0;
    // An infinity is exact, and so is a NaN.
    if error == 0.0 || !even || !sum.is_finite() {
        return sum;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { bits + 1 } else { bits - 1 })
}

/// To f32; -0 as +0.
#[inline(always)]
fn narrowed(x: f64) -> f32 {
    (x + 0.0) as f32
}

/// The sum of products and `c`, rounded once.
#[cold]
#[inline(never)]
fn in_fixed_point<const P: usize>(products: [f64; P], c: f32) -> f32 {
    let terms = products.into_iter().chain([f64::from(c)]);
    if terms.clone().any(|term| !term.is_finite()) {
        return terms.sum::<f64>() as f32;
    }
    let mut sum = Fixed::default();
    terms.for_each(|term| sum.add(term));
    sum.rounded()
}

/// 64-bit digits of a sum.
const DIGITS: usize = 10;

/// The exponent of the last bit of a sum: the least product of bf16 is a multiple of 2^-266, the
/// greatest is less than 2^256.
const LAST: i32 = -300;

/// A number in fixed point, in two's complement; the lowest digit is first.
#[derive(Clone, Copy, Default)]
struct Fixed([u64; DIGITS]);

impl Fixed {
    /// Adds a finite number that is a multiple of 2^-300 of magnitude less than 2^300.
    fn add(&mut self, x: f64) {
        let bits = x.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        // f64 denormals are no products.
        if exponent == 0 {
            return;
        }
        let significand = bits & ((1 << 52) - 1) | 1 << 52;
        let at = exponent - 1075 - LAST;
        // Bits below the last one of the sum are 0: the factors have few.
        let (significand, at) = match at {
            0.. => (significand, at as usize),
            _ => (significand >> -at, 0),
        };
        let mut digits = [0; DIGITS];
        let wide = u128::from(significand) << (at % 64);
        digits[at / 64] = wide as u64;
        if let Some(next) = digits.get_mut(at / 64 + 1) {
            *next = (wide >> 64) as u64;
        }
        if x < 0.0 {
            negate(&mut digits);
        }
        let mut carry = false;
        for (digit, more) in self.0.iter_mut().zip(digits) {
            let (sum, first) = digit.overflowing_add(more);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            (*digit, carry) = (sum, first | second);
        }
    }

    /// To f32, to nearest even.
    fn rounded(mut self) -> f32 {
        let negative = self.0[DIGITS - 1] >> 63 != 0;
        if negative {
            negate(&mut self.0);
        }
        let Some(top) = self.0.iter().rposition(|&digit| digit != 0) else {
            return 0.0;
        };
        let highest = 64 * top as i32 + self.0[top].ilog2() as i32;
        // The last bit of f32, or of its denormals.
        let last = (highest - 23).max(-149 - LAST);
        let bit = |n: i32| self.0[n as usize / 64] >> (n % 64) & 1;
        let kept = (last..=highest).rev().fold(0, |kept, n| kept << 1 | bit(n));
        let half = bit(last - 1);
        let below = (0..last - 1).any(|n| bit(n) != 0);
        let up = half == 1 && (below || kept & 1 == 1);
        // At most 24 bits and a carry: exact in f64, and in f32 unless it is infinite there.
        let scale = f64::powi(2.0, last + LAST);
        let value = ((kept + u64::from(up)) as f64 * scale) as f32;
        if negative { -value } else { value }
    }
}

/// Negates a number in two's complement.
fn negate(digits: &mut [u64; DIGITS]) {
    let mut carry = true;
    for digit in digits {
        (*digit, carry) = (!*digit).overflowing_add(u64::from(carry));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::testing::Random;

    /// The exact sum in units of 2^-60, of numbers that are multiples of it and not too large.
    fn exact(products: &[f64], c: f32) -> f32 {
        let unit = f64::powi(2.0, 60);
        let terms = products.iter().copied().chain([f64::from(c)]);
        let sum: i128 = terms.map(|x| (x * unit) as i128).sum();
        (sum as f32) * f32::from_bits((127 - 60) << 23)
    }

    #[test]
    fn one_rounding() {
        let mut random = Random::new(99);
        let (mut fast, mut slow) = (0, 0);
        for _ in 0..200_000 {
            // f16 of any exponent, and f32 of multiples of 2^-60.
            let mut half = || {
                let bits = random.bits() >> 8;
                let size =
                    (1024 + bits % 1024) as f32 * f32::powi(2.0, ((bits >> 10) % 30) as i32 - 24);
                if bits >> 20 & 1 == 0 { size } else { -size }
            };
            let x: [f32; 4] = array::from_fn(|_| half());
            let y: [f32; 4] = array::from_fn(|_| half());
            let bits = random.bits() >> 8;
            let c = f32::from_bits(
                (127 - 36 + (bits >> 24) as u32 % 70) << 23 | bits as u32 & 0x807f_ffff,
            );
            let products: [f64; 4] = array::from_fn(|t| f64::from(x[t]) * f64::from(y[t]));
            let want = exact(&products, c);
            assert_eq!(in_fixed_point(products, c), want, "{products:?} {c}");
            let rows = y.map(|y| [y; 2]);
            let mut sum = [c.to_bits(); 2];
            add(&mut sum, x, array::from_fn(|t| &rows[t]));
            assert_eq!(sum, [want.to_bits(); 2], "{products:?} {c}");
            let lost = products[1..]
                .iter()
                .fold((products[0], false), |(sum, lost), &p| {
                    let (next, error) = two_sum(sum, p);
                    (next, lost | (error != 0.0))
                });
            if lost.1 { slow += 1 } else { fast += 1 }
        }
        assert!(fast > 1000 && slow > 1000, "{fast} {slow}");
    }

    #[test]
    fn ends_of_the_range() {
        let of = |products: [f64; 2], c: f32| in_fixed_point(products, c);
        let (least, most) = (f64::powi(2.0, -266), f64::powi(2.0, 255));
        assert_eq!(of([most, -most], 1.5), 1.5);
        assert_eq!(of([most, most], 0.0), f32::INFINITY);
        assert_eq!(of([-most, least], 0.0), f32::NEG_INFINITY);
        assert_eq!(of([least, 0.0], 0.0).to_bits(), 0);
        assert_eq!(of([least, -least], -0.0).to_bits(), 0);
        // Just above a tie between two denormals, and at it.
        let tie = f64::powi(2.0, -150);
        assert_eq!(of([tie, least], 0.0).to_bits(), 1);
        assert_eq!(of([tie, 0.0], 0.0).to_bits(), 0);
        assert_eq!(of([3.0 * tie, 0.0], 0.0).to_bits(), 2);
        assert!(of([f64::INFINITY, -f64::INFINITY], 0.0).is_nan());
        assert_eq!(of([f64::INFINITY, 1.0], 0.0), f32::INFINITY);
        assert_eq!(of([f64::from(f32::MAX), 0.0], f32::MAX), f32::INFINITY);
    }
}
