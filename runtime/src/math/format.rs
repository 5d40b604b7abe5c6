//! The three binary floating-point formats, exact values, and the one rounding step that all
//! slow paths share.
//!
//! A finite number is taken apart into an [`Exact`]: sign, integer significand, power of two.
//! Arithmetic on exact values loses nothing that matters (what falls off the end is folded into
//! the lowest bit), and [`round`] turns the result into bits once. Everything is integer
//! arithmetic, so the result cannot depend on the host.

use super::Round;

/// The parameters of an IEEE 754 binary interchange format whose bits are kept in a `u64`.
pub(super) trait Format {
    /// Number of stored fraction bits.
    const FRACTION: u32;
    /// Number of exponent bits.
    const EXPONENT: u32;

    /// Exponent bias, which is also the largest unbiased exponent.
    const BIAS: i32 = (1 << (Self::EXPONENT - 1)) - 1;
    /// Unbiased exponent of the smallest normal number.
    const LEAST: i32 = 1 - Self::BIAS;
    /// The sign bit.
    const SIGN: u64 = 1 << (Self::FRACTION + Self::EXPONENT);
    /// Everything but the sign.
    const MAGNITUDE: u64 = Self::SIGN - 1;
    /// Positive infinity.
    const INFINITY: u64 = ((1 << Self::EXPONENT) - 1) << Self::FRACTION;
    /// The bit that tells a quiet NaN from a signalling one.
    const QUIET: u64 = 1 << (Self::FRACTION - 1);
    /// The NaN of an operation none of whose sources is one.
    const DEFAULT_NAN: u64 = Self::INFINITY | Self::QUIET;
    /// The largest finite number.
    const MAX: u64 = Self::INFINITY - 1;
    /// The smallest positive normal number.
    const MIN_NORMAL: u64 = 1 << Self::FRACTION;
    /// One.
    const ONE: u64 = (Self::BIAS as u64) << Self::FRACTION;
}

/// IEEE binary16.
#[derive(Clone, Copy)]
pub(super) enum F16 {}
/// IEEE binary32.
#[derive(Clone, Copy)]
pub(super) enum F32 {}
/// IEEE binary64.
#[derive(Clone, Copy)]
pub(super) enum F64 {}

impl Format for F16 {
    const FRACTION: u32 = 10;
    const EXPONENT: u32 = 5;
}
impl Format for F32 {
    const FRACTION: u32 = 23;
    const EXPONENT: u32 = 8;
}
impl Format for F64 {
    const FRACTION: u32 = 52;
    const EXPONENT: u32 = 11;
}

/// Whether the bits are a NaN.
#[inline]
pub(super) fn is_nan<F: Format>(x: u64) -> bool {
    x & F::MAGNITUDE > F::INFINITY
}

/// Whether the bits are an infinity of either sign.
#[inline]
pub(super) fn is_infinite<F: Format>(x: u64) -> bool {
    x & F::MAGNITUDE == F::INFINITY
}

/// Whether the bits are a zero of either sign.
#[inline]
pub(super) fn is_zero<F: Format>(x: u64) -> bool {
    x & F::MAGNITUDE == 0
}

/// Whether the bits are a denormal number (zero is none).
#[inline]
pub(super) fn is_denormal<F: Format>(x: u64) -> bool {
    let magnitude = x & F::MAGNITUDE;
    magnitude != 0 && magnitude < F::MIN_NORMAL
}

/// Replaces a denormal number by the zero of its sign.
#[inline]
pub(super) fn flush<F: Format>(x: u64) -> u64 {
    if x & F::MAGNITUDE < F::MIN_NORMAL {
        x & F::SIGN
    } else {
        x
    }
}

/// The exponent field.
#[inline]
pub(super) fn exponent_field<F: Format>(x: u64) -> i32 {
    ((x & F::MAGNITUDE) >> F::FRACTION) as i32
}

/// `x` with `sign`'s sign.
#[inline]
pub(super) fn copy_sign<F: Format>(x: u64, sign: u64) -> u64 {
    (x & F::MAGNITUDE) | (sign & F::SIGN)
}

/// The first NaN among `sources`, quieted, else the positive default NaN.
#[cold]
pub(super) fn nan_of<F: Format>(sources: &[u64]) -> u64 {
    sources
        .iter()
        .find(|&&source| is_nan::<F>(source))
        .map_or(F::DEFAULT_NAN, |&source| source | F::QUIET)
}

/// `(-1)^negative * significand * 2^exponent`.
///
/// Where bits have been dropped below bit 0, bit 0 is set ("jammed"); this is only done when the
/// significand keeps far more bits than any format has, so that rounding sees the truth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact {
    pub(super) negative: bool,
    pub(super) significand: u128,
    pub(super) exponent: i32,
}

impl Exact {
    /// The value of finite bits.
    #[inline]
    pub(super) fn of<F: Format>(x: u64) -> Self {
        let field = exponent_field::<F>(x);
        let fraction = x & (F::MIN_NORMAL - 1);
        let significand = if field == 0 {
            fraction
        } else {
            fraction | F::MIN_NORMAL
        };
        Exact {
            negative: x & F::SIGN != 0,
            significand: u128::from(significand),
            exponent: field.max(1) - F::BIAS - F::FRACTION as i32,
        }
    }

    /// The exact product of two values of at most 64 significant bits each.
    #[inline]
    pub(super) fn times(self, other: Self) -> Self {
        Exact {
            negative: self.negative != other.negative,
            significand: self.significand * other.significand,
            exponent: self.exponent + other.exponent,
        }
    }

    /// The sum of two values of at most 106 significant bits each. A sum that is exactly zero has
    /// the sign that IEEE 754 gives it: the common sign of two zeros, else plus, and minus when
    /// rounding down.
    pub(super) fn plus(self, other: Self, round: Round) -> Self {
        if self.significand == 0 && other.significand == 0 {
            let negative = match round {
                _ if self.negative == other.negative => self.negative,
                Round::Down => true,
                _ => false,
            };
            return Exact { negative, ..self };
        }
        if self.significand == 0 {
            return other;
        }
        if other.significand == 0 {
            return self;
        }
        let (a, b) = (self.with_top_at_126(), other.with_top_at_126());
        let (large, small) = if a.exponent >= b.exponent {
            (a, b)
        } else {
            (b, a)
        };
        // Both have their lowest 20 bits clear, so up to a distance of 20 nothing is lost, and
        // beyond it at most one leading bit can cancel: the jammed bit stays far below rounding.
        let aligned = shift_right_jam(small.significand, (large.exponent - small.exponent) as u32);
        if large.negative == small.negative {
            return Exact {
                significand: large.significand + aligned,
                ..large
            };
        }
        if large.significand == aligned {
            return Exact {
                negative: round == Round::Down,
                significand: 0,
                exponent: 0,
            };
        }
        if large.significand > aligned {
            Exact {
                significand: large.significand - aligned,
                ..large
            }
        } else {
            Exact {
                negative: small.negative,
                significand: aligned - large.significand,
                exponent: large.exponent,
            }
        }
    }

    /// The same nonzero value with its highest bit at bit 126.
    fn with_top_at_126(self) -> Self {
        let up = self.significand.leading_zeros() as i32 - 1;
        Exact {
            significand: self.significand << up,
            exponent: self.exponent - up,
            ..self
        }
    }
}

fn shift_right_jam(x: u128, by: u32) -> u128 {
    match by {
        0 => x,
        1..=127 => (x >> by) | u128::from(x << (128 - by) != 0),
        _ => u128::from(x != 0),
    }
}

/// Drops the low `by` bits (1 to 140) of a significand, rounding.
fn round_off(significand: u128, by: u32, round: Round, negative: bool) -> u64 {
    let (kept, rest, half) = match by {
        1..=127 => (
            significand >> by,
            significand & ((1 << by) - 1),
            1 << (by - 1),
        ),
        128 => (0, significand, 1 << 127),
        // Below half of the last place whatever the bits are.
        _ => (0, u128::from(significand != 0), 2),
    };
    let up = match round {
        Round::NearestEven => rest > half || (rest == half && kept & 1 == 1),
        Round::Up => !negative && rest != 0,
        Round::Down => negative && rest != 0,
        Round::Zero => false,
    };
    kept as u64 + u64::from(up)
}

/// The result of an overflow.
pub(super) fn overflow<F: Format>(negative: bool, round: Round) -> u64 {
    let infinite = match round {
        Round::NearestEven => true,
        Round::Up => !negative,
        Round::Down => negative,
        Round::Zero => false,
    };
    (if infinite { F::INFINITY } else { F::MAX }) | if negative { F::SIGN } else { 0 }
}

/// Rounds an exact value to bits, once.
///
/// With `flush` a result that is tiny becomes the zero of its sign. Tiny means: rounded to the
/// format's precision with an unbounded exponent, in the same direction, its magnitude is below
/// the smallest normal number. It is the rule of x86's flush-to-zero.
pub(super) fn round<F: Format>(value: Exact, round: Round, flush: bool) -> u64 {
    let sign = if value.negative { F::SIGN } else { 0 };
    if value.significand == 0 {
        return sign;
    }
    let up = value.significand.leading_zeros();
    let significand = value.significand << up;
    // The value is 1.xxx * 2^exponent with the leading one at bit 127.
    let exponent = value.exponent - up as i32 + 127;
    let drop = 127 - F::FRACTION;
    if exponent > F::BIAS {
        return overflow::<F>(value.negative, round);
    }
    if exponent < F::LEAST {
        if flush {
            let rounded = round_off(significand, drop, round, value.negative);
            let carried = rounded == F::MIN_NORMAL << 1;
            return sign
                | if carried && exponent == F::LEAST - 1 {
                    F::MIN_NORMAL
                } else {
                    0
                };
        }
        let below = (F::LEAST - exponent).min(128) as u32;
        return sign | round_off(significand, (drop + below).min(140), round, value.negative);
    }
    let rounded = round_off(significand, drop, round, value.negative);
    // A carry out of the significand walks into the exponent by itself.
    let bits = (((exponent + F::BIAS - 1) as u64) << F::FRACTION) + rounded;
    if bits >= F::INFINITY {
        overflow::<F>(value.negative, round)
    } else {
        sign | bits
    }
}
