//! Floating-point numbers of any size as integers times powers of two, and the one rounding that
//! brings a number into a format. Slow and obvious.

/// A binary format of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    /// Bits in all.
    pub(crate) bits: u32,
    /// Stored bits of the significand.
    pub(crate) fraction: u32,
}

pub(crate) const F16: Format = Format {
    bits: 16,
    fraction: 10,
};
pub(crate) const F32: Format = Format {
    bits: 32,
    fraction: 23,
};
pub(crate) const F64: Format = Format {
    bits: 64,
    fraction: 52,
};

/// How a number between two others is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Round {
    Even,
    Zero,
    Up,
    Down,
}

/// OpenCL's order of `_rte _rtz _rtp _rtn`.
pub(crate) const ROUNDS: [Round; 4] = [Round::Even, Round::Zero, Round::Up, Round::Down];

/// What a bit pattern means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Nan,
    Infinity {
        negative: bool,
    },
    /// `magnitude * 2^exponent`
    Finite {
        negative: bool,
        magnitude: u128,
        exponent: i32,
    },
}

impl Format {
    pub(crate) fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    pub(crate) fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    pub(crate) fn is_nan(self, bits: u64) -> bool {
        bits <= self.sign() | (self.sign() - 1) && bits & (self.sign() - 1) > self.infinity()
    }

    /// Exponent of the last place of the smallest numbers.
    fn lowest(self) -> i32 {
        let bias = (1 << (self.bits - self.fraction - 2)) - 1;
        1 - bias - self.fraction as i32
    }

    /// Takes a bit pattern apart.
    pub(crate) fn number(self, bits: u64) -> Number {
        let negative = bits & self.sign() != 0;
        let below = bits & (self.sign() - 1);
        if below > self.infinity() {
            return Number::Nan;
        }
        if below == self.infinity() {
            return Number::Infinity { negative };
        }
        let (field, fraction) = (below >> self.fraction, below & ((1 << self.fraction) - 1));
        let (magnitude, place) = match field {
            0 => (fraction, 0),
            _ => (fraction | 1 << self.fraction, field as i32 - 1),
        };
        Number::Finite {
            negative,
            magnitude: magnitude.into(),
            exponent: self.lowest() + place,
        }
    }

    /// The bit pattern of a number that is rounded once. A NaN gives `None`.
    pub(crate) fn bits_of(self, number: Number, round: Round) -> Option<u64> {
        let (negative, magnitude, exponent) = match number {
            Number::Nan => return None,
            Number::Infinity { negative } => {
                return Some(self.infinity() | if negative { self.sign() } else { 0 });
            }
            Number::Finite {
                negative,
                magnitude,
                exponent,
            } => (negative, magnitude, exponent),
        };
        let sign = if negative { self.sign() } else { 0 };
        if magnitude == 0 {
            return Some(sign);
        }
        let top = exponent + (127 - magnitude.leading_zeros() as i32);
        let place = (top - self.fraction as i32).max(self.lowest());
        let rounded = shifted(magnitude, exponent - place, negative, round);
        // The leading one of a normal number adds one to the exponent field, a carry one more.
        let field = (place - self.lowest()) as u64;
        let below = (u128::from(field) << self.fraction) + rounded;
        let infinity = u128::from(self.infinity());
        if below < infinity {
            return Some(sign | below as u64);
        }
        let away = match round {
            Round::Even => true,
            Round::Zero => false,
            Round::Up => !negative,
            Round::Down => negative,
        };
        Some(sign | (self.infinity() - u64::from(!away)))
    }
}

/// `magnitude * 2^by` as an integer.
pub(crate) fn shifted(magnitude: u128, by: i32, negative: bool, round: Round) -> u128 {
    if by >= 0 {
        return magnitude << by;
    }
    let by = by.unsigned_abs();
    let (whole, rest, half) = match by {
        128.. => (0, u128::from(magnitude != 0), 2),
        _ => (magnitude >> by, magnitude & ((1 << by) - 1), 1 << (by - 1)),
    };
    let up = match round {
        Round::Even => rest > half || rest == half && whole & 1 == 1,
        Round::Zero => false,
        Round::Up => rest != 0 && !negative,
        Round::Down => rest != 0 && negative,
    };
    whole + u128::from(up)
}

/// An integer as a number.
pub(crate) fn integer(value: i128) -> Number {
    Number::Finite {
        negative: value < 0,
        magnitude: value.unsigned_abs(),
        exponent: 0,
    }
}

/// A number as an integer between two others; a NaN is 0.
pub(crate) fn saturated(number: Number, round: Round, least: i128, most: i128) -> i128 {
    match number {
        Number::Nan => 0,
        Number::Infinity { negative: true } => least,
        Number::Infinity { negative: false } => most,
        Number::Finite {
            negative,
            magnitude,
            exponent,
        } => {
            // All magnitudes have at most 64 bits, and no integer type has more.
            let value = match exponent {
                64.. if magnitude != 0 => i128::MAX,
                64.. => 0,
                _ => i128::try_from(shifted(magnitude, exponent, negative, round))
                    .unwrap_or(i128::MAX),
            };
            (if negative { -value } else { value }).clamp(least, most)
        }
    }
}

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
