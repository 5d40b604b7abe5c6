//! Shared by the tests of this module: random bits with many edge cases, and an exact oracle
//! independent of the code under test. A value is a fixed-point integer of thousands of bits;
//! rounding searches the floats for the two neighbours and compares.

use super::Round;
use super::format::Format;

/// xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    /// Bits of any value of the format: special values, values at the edges of the exponent range,
    /// short and long significands, everything.
    pub(super) fn float<F: Format>(&mut self) -> u64 {
        let x = self.bits() & (F::SIGN | F::MAGNITUDE);
        let sign = x & F::SIGN;
        let fraction = F::MIN_NORMAL - 1;
        let exponents = 1 << F::EXPONENT;
        match self.below(16) {
            0 => {
                let edges = [
                    0,
                    1,
                    fraction,
                    F::MIN_NORMAL,
                    F::MIN_NORMAL + 1,
                    F::ONE,
                    F::ONE - 1,
                    F::MAX,
                    F::INFINITY,
                    F::INFINITY + 1,
                    F::DEFAULT_NAN,
                    F::DEFAULT_NAN | 5,
                ];
                sign | edges[self.below(edges.len() as u64) as usize]
            }
            1 => sign | (x & fraction),
            2 => sign | (x & fraction) >> self.below(u64::from(F::FRACTION)),
            // Few significant bits.
            3 | 4 => x & !(fraction >> self.below(8)),
            // All ones or zeros after some bits.
            5 => x | fraction >> self.below(u64::from(F::FRACTION)),
            // Exponents at both ends and around one.
            6 => sign | self.below(4) << F::FRACTION | (x & fraction),
            7 => sign | (exponents - 2 - self.below(4)) << F::FRACTION | (x & fraction),
            8..=11 => {
                let near_one =
                    (F::ONE + (self.below(64) << F::FRACTION)).saturating_sub(32 << F::FRACTION);
                sign | (near_one.clamp(F::MIN_NORMAL, F::MAX) & !fraction) | (x & fraction)
            }
            _ => x,
        }
    }

    /// As [`Random::float`], but finite.
    pub(super) fn finite<F: Format>(&mut self) -> u64 {
        loop {
            let x = self.float::<F>();
            if x & F::MAGNITUDE < F::INFINITY {
                return x;
            }
        }
    }
}

const LIMBS: usize = 72;
/// Weight of bit 0.
const LEAST: i32 = -2300;

/// A signed fixed-point number from `2^-2300` to `2^2307`, in two's complement.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Big([u64; LIMBS]);

impl Big {
    pub(super) fn zero() -> Self {
        Big([0; LIMBS])
    }

    /// Adds `±significand * 2^exponent`.
    pub(super) fn add(&mut self, negative: bool, significand: u128, exponent: i32) {
        let at = usize::try_from(exponent - LEAST).expect("exponent in range");
        let (limb, bit) = (at / 64, at % 64);
        let low = significand << bit;
        let high = if bit == 0 {
            0
        } else {
            significand >> (128 - bit)
        };
        let parts = [low as u64, (low >> 64) as u64, high as u64];
        let mut carry = false;
        for (i, slot) in self.0[limb..].iter_mut().enumerate() {
            let part = parts.get(i).copied().unwrap_or(0);
            let (x, c1, c2);
            if negative {
                let (y, a) = slot.overflowing_sub(part);
                (x, c2) = y.overflowing_sub(carry.into());
                c1 = a;
            } else {
                let (y, a) = slot.overflowing_add(part);
                (x, c2) = y.overflowing_add(carry.into());
                c1 = a;
            }
            *slot = x;
            carry = c1 | c2;
        }
    }

    /// Adds a finite float.
    pub(super) fn add_float<F: Format>(&mut self, x: u64, scale: i32) {
        let (negative, significand, exponent) = parts::<F>(x);
        self.add(negative, significand.into(), exponent + scale);
    }

    /// Adds the product of two finite floats.
    pub(super) fn add_product<F: Format>(&mut self, x: u64, y: u64, scale: i32) {
        let (a, b) = (parts::<F>(x), parts::<F>(y));
        self.add(
            a.0 != b.0,
            u128::from(a.1) * u128::from(b.1),
            a.2 + b.2 + scale,
        );
    }

    fn is_negative(&self) -> bool {
        self.0[LIMBS - 1] >> 63 == 1
    }

    fn is_zero(&self) -> bool {
        self.0.iter().all(|&limb| limb == 0)
    }

    fn magnitude(&self) -> Self {
        if !self.is_negative() {
            return self.clone();
        }
        let mut carry = true;
        Big(self.0.map(|limb| {
            let (x, c) = (!limb).overflowing_add(carry.into());
            carry = c;
            x
        }))
    }

    fn at_least(&self, other: &Big) -> bool {
        self.0.iter().rev().ge(other.0.iter().rev())
    }
}

fn parts<F: Format>(x: u64) -> (bool, u64, i32) {
    let field = (x & F::MAGNITUDE) >> F::FRACTION;
    let fraction = x & (F::MIN_NORMAL - 1);
    let integer = if field == 0 {
        fraction
    } else {
        fraction + F::MIN_NORMAL
    };
    let exponent = field.max(1) as i32 - F::BIAS - F::FRACTION as i32;
    (x & F::SIGN != 0, integer, exponent)
}

fn power(exponent: i32) -> Big {
    let mut big = Big::zero();
    big.add(false, 1, exponent);
    big
}

/// The bits of `value` rounded to the format; an exact zero gets `zero_sign`.
pub(super) fn rounded<F: Format>(
    value: &Big,
    zero_sign: bool,
    direction: Round,
    flush: bool,
) -> u64 {
    let sign = |negative: bool| if negative { F::SIGN } else { 0 };
    if value.is_zero() {
        return sign(zero_sign);
    }
    let negative = value.is_negative();
    let value = value.magnitude();
    let away = match direction {
        Round::NearestEven => None,
        Round::Up => Some(!negative),
        Round::Down => Some(negative),
        Round::Zero => Some(false),
    };
    if flush && !value.at_least(&power(F::LEAST)) {
        // With an unbounded exponent the next number below the smallest normal one is this:
        let mut below = power(F::LEAST);
        below.add(true, 1, F::LEAST - 1 - F::FRACTION as i32);
        let mut middle = below.clone();
        middle.add(false, 1, F::LEAST - 2 - F::FRACTION as i32);
        let reaches_normal = match away {
            None => value.at_least(&middle),
            Some(away) => away && value.at_least(&below) && value != below,
        };
        return sign(negative) | if reaches_normal { F::MIN_NORMAL } else { 0 };
    }
    // The largest finite float that is not above the value.
    let (mut low, mut high) = (0, F::INFINITY);
    while high - low > 1 {
        let middle = (low + high) / 2;
        let mut float = Big::zero();
        float.add_float::<F>(middle, 0);
        if value.at_least(&float) {
            low = middle
        } else {
            high = middle
        }
    }
    let mut lower = Big::zero();
    lower.add_float::<F>(low, 0);
    let ulp = ((low >> F::FRACTION).max(1) as i32) - F::BIAS - F::FRACTION as i32;
    let up = match away {
        _ if value == lower => false,
        Some(away) => away,
        None => {
            let mut middle = lower;
            middle.add(false, 1, ulp - 1);
            value.at_least(&middle) && (value != middle || low & 1 == 1)
        }
    };
    sign(negative) | (low + u64::from(up))
}
