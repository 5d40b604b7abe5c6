//! Floating-point numbers as integers times powers of two, and the one rounding that brings a number into a format. Slow
//! and obvious.

/// A binary format of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits in all.
    pub bits: u32,
    /// Stored bits of the significand.
    pub fraction: u32,
}

/// Half precision.
pub const F16: Format = Format {
    bits: 16,
    fraction: 10,
};
/// Single precision.
pub const F32: Format = Format {
    bits: 32,
    fraction: 23,
};
/// Double precision.
pub const F64: Format = Format {
    bits: 64,
    fraction: 52,
};

/// How a number between two others is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// To the nearest, or the even one of two.
    Even,
    /// To the greater one.
    Up,
    /// To the smaller one.
    Down,
    /// To the one nearer zero.
    Zero,
}

/// Rounding and denormals of a format.
#[derive(Clone, Copy)]
pub struct Env {
    /// How results are rounded.
    pub round: Round,
    /// Denormal sources are zeros.
    pub flush_sources: bool,
    /// Denormal results are zeros.
    pub flush_results: bool,
    /// Overflow gives the largest number.
    pub saturate: bool,
}

/// OpenCL's order of `_rte _rtz _rtp _rtn`.
pub const ROUNDS: [Round; 4] = [Round::Even, Round::Zero, Round::Up, Round::Down];

/// Rounds to nearest, keeps denormals.
pub const EXACT: Env = Env {
    round: Round::Even,
    flush_sources: false,
    flush_results: false,
    saturate: false,
};

/// A number: its sign, and `magnitude * 2^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finite {
    /// Is it below zero, or a negative zero?
    pub negative: bool,
    /// Its leading digits.
    pub magnitude: u128,
    /// The power of two.
    pub exponent: i32,
}

impl Finite {
    /// The same times a power of two.
    pub const fn scaled(self, by: i32) -> Finite {
        Finite {
            exponent: self.exponent + by,
            ..self
        }
    }
}

/// What a bit pattern means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// Bits as they are in its format.
    Nan(u64),
    /// Is it negative?
    Infinity(bool),
    /// Any other.
    Finite(Finite),
}

impl Format {
    /// The bit of the sign.
    #[inline]
    pub const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// All bits.
    #[inline]
    pub const fn mask(self) -> u64 {
        self.sign() | (self.sign() - 1)
    }

    /// Positive infinity.
    #[inline]
    pub const fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    /// The bit of quiet NaNs.
    #[inline]
    pub const fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }

    /// The positive default NaN.
    #[inline]
    pub const fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    /// Is it one of its NaNs?
    #[inline]
    pub const fn is_nan(self, bits: u64) -> bool {
        bits <= self.mask() && bits & (self.sign() - 1) > self.infinity()
    }

    /// Is it a denormal number?
    #[inline]
    pub const fn is_denormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && bits & (self.sign() - 1) != 0
    }

    /// The bits, or a zero of the same sign for a denormal number.
    #[inline]
    pub const fn flushed(self, bits: u64, flush: bool) -> u64 {
        if flush && self.is_denormal(bits) {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// Exponent of the last place of denormals.
    #[inline]
    pub const fn lowest(self) -> i32 {
        let bias = (1 << (self.bits - self.fraction - 2)) - 1;
        1 - bias - self.fraction as i32
    }

    /// Takes a bit pattern apart.
    #[inline]
    pub fn number(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let below = bits & (self.sign() - 1);
        if below > self.infinity() {
            return Number::Nan(bits);
        }
        if below == self.infinity() {
            return Number::Infinity(negative);
        }
        let (field, fraction) = (below >> self.fraction, below & ((1 << self.fraction) - 1));
        let (magnitude, place) = match field {
            0 => (fraction, 0),
            _ => (fraction | 1 << self.fraction, field as i32 - 1),
        };
        Number::Finite(Finite {
            negative,
            magnitude: magnitude.into(),
            exponent: self.lowest() + place,
        })
    }

    /// The bits of a number that is rounded once.
    #[inline]
    pub fn round(self, x: Finite, env: Env) -> u64 {
        let sign = if x.negative { self.sign() } else { 0 };
        if x.magnitude == 0 {
            return sign;
        }
        let top = x.exponent + 127 - x.magnitude.leading_zeros() as i32;
        let unbounded = top - self.fraction as i32;
        if env.flush_results {
            // Denormal is what is below the smallest normal number after rounding to the format's precision.
            let rounded = shifted(x, unbounded, env.round);
            let carry = rounded >> (self.fraction + 1) != 0;
            if unbounded + i32::from(carry) < self.lowest() {
                return sign;
            }
        }
        let place = unbounded.max(self.lowest());
        let field = (place - self.lowest()) as u128;
        // The leading one of a normal number adds one to the exponent's field.
        let below = (field << self.fraction) + shifted(x, place, env.round);
        if below < self.infinity().into() {
            return sign | below as u64;
        }
        let away = match env.round {
            Round::Even => true,
            Round::Up => !x.negative,
            Round::Down => x.negative,
            Round::Zero => false,
        };
        let overflow = self.infinity() - u64::from(!away || env.saturate);
        sign | overflow
    }

    /// The bits of a number of format `from`; a NaN is quieted and keeps its leading bits.
    #[inline]
    pub fn of(self, number: Number, from: Format, env: Env) -> u64 {
        match number {
            Number::Nan(bits) => {
                let negative = bits & from.sign() != 0;
                let fraction = bits & ((1 << from.fraction) - 1);
                let fraction = match from.fraction > self.fraction {
                    true => fraction >> (from.fraction - self.fraction),
                    false => fraction << (self.fraction - from.fraction),
                };
                (if negative { self.sign() } else { 0 }) | self.nan() | fraction
            }
            Number::Infinity(negative) => self.infinity() | if negative { self.sign() } else { 0 },
            Number::Finite(x) => self.round(x, env),
        }
    }

    /// The bits of a number that is rounded once; denormals are kept. A NaN gives `None`.
    pub fn bits_of(self, number: Number, round: Round) -> Option<u64> {
        match number {
            Number::Nan(_) => None,
            other => Some(self.of(other, self, Env { round, ..EXACT })),
        }
    }
}

/// The magnitude in units of `2^place`, rounded.
#[inline]
fn shifted(x: Finite, place: i32, round: Round) -> u128 {
    let by = place - x.exponent;
    if by <= 0 {
        return x.magnitude << -by;
    }
    let (whole, rest, half) = match by {
        0..=127 => {
            let whole = x.magnitude >> by;
            (whole, x.magnitude - (whole << by), 1u128 << (by - 1))
        }
        _ => (0, 1, u128::MAX),
    };
    let up = match round {
        Round::Even => rest > half || rest == half && whole & 1 == 1,
        Round::Up => rest != 0 && !x.negative,
        Round::Down => rest != 0 && x.negative,
        Round::Zero => false,
    };
    whole + u128::from(up)
}

/// The exact value of an f16 or f32.
#[inline]
pub fn wide(format: Format, bits: u64) -> f64 {
    f64::from_bits(F64.of(format.number(bits), format, EXACT))
}

/// The number that a double is.
#[inline]
pub fn number_of(x: f64) -> Number {
    F64.number(x.to_bits())
}

/// An integer as a number.
#[inline]
pub fn integer(x: i128) -> Number {
    Number::Finite(Finite {
        negative: x < 0,
        magnitude: x.unsigned_abs(),
        exponent: 0,
    })
}

/// A number of any format to an integer of at most 64 bits between two others, rounded and saturated; 0 for a NaN.
#[inline]
pub fn to_integer<T: Copy + Into<i128> + TryFrom<i128>>(
    number: Number,
    round: Round,
    least: T,
    most: T,
) -> T {
    let value = match number {
        Number::Nan(_) => 0,
        Number::Infinity(true) => return least,
        Number::Infinity(false) => return most,
        Number::Finite(x) => {
            let top = x.exponent + 127 - x.magnitude.leading_zeros() as i32;
            if x.magnitude != 0 && top > 64 {
                return if x.negative { least } else { most };
            }
            let magnitude = match x.magnitude {
                0 => 0,
                _ => shifted(x, 0, round) as i128,
            };
            if x.negative { -magnitude } else { magnitude }
        }
    };
    let value = value.clamp(least.into(), most.into());
    value.try_into().unwrap_or(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats() {
        assert_eq!(F16.infinity(), 0x7c00);
        assert_eq!(F32.infinity(), 0x7f80_0000);
        assert_eq!(F64.infinity(), f64::INFINITY.to_bits());
        for bits in [0, 1, 0x007f_ffff, 0x0080_0000, 0x3f80_0001, 0xff7f_ffff] {
            let value = f64::from(f32::from_bits(bits));
            for round in ROUNDS {
                let number = F32.number(bits.into());
                assert_eq!(F32.bits_of(number, round), Some(bits.into()));
                assert_eq!(F64.bits_of(number, round), Some(value.to_bits()));
            }
        }
        let third = F64.number((1f64 / 3.0).to_bits());
        assert_eq!(
            ROUNDS.map(|round| F32.bits_of(third, round)),
            [0x3eaa_aaab, 0x3eaa_aaaa, 0x3eaa_aaab, 0x3eaa_aaaa].map(Some)
        );
        let huge = F64.number(1e300f64.to_bits());
        assert_eq!(
            ROUNDS.map(|round| F16.bits_of(huge, round)),
            [0x7c00, 0x7bff, 0x7c00, 0x7bff].map(Some)
        );
        assert!(F32.is_nan(0x7f80_0001) && F32.is_nan(0xffff_ffff) && !F32.is_nan(0xff80_0000));
        assert!(F64.is_nan(u64::MAX) && !F64.is_nan(f64::INFINITY.to_bits()));
    }

    #[test]
    fn integers() {
        let f64 = |x: f64| number_of(x);
        assert_eq!(to_integer(f64(2.5), Round::Even, -9i64, 9), 2);
        assert_eq!(to_integer(f64(-2.5), Round::Down, -9i64, 9), -3);
        assert_eq!(
            to_integer(f64(1e30), Round::Zero, 0i128, u64::MAX.into()),
            u64::MAX.into()
        );
        assert_eq!(
            to_integer(f64(f64::NEG_INFINITY), Round::Zero, i64::MIN, i64::MAX),
            i64::MIN
        );
        assert_eq!(to_integer(f64(f64::NAN), Round::Up, -9i64, 9), 0);
        let zero = Number::Finite(Finite {
            negative: true,
            magnitude: 0,
            exponent: 900,
        });
        assert_eq!(to_integer(zero, Round::Up, -9i64, 9), 0);
    }
}
