//! Binary formats, and numbers as integers times powers of two that are rounded once.

use frontend::Ty;
use frontend::state::mode;

/// A binary format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) bits: u32,
    pub(super) fraction: u32,
}

pub(super) const F16: Format = Format {
    bits: 16,
    fraction: 10,
};
pub(super) const F32: Format = Format {
    bits: 32,
    fraction: 23,
};
pub(super) const F64: Format = Format {
    bits: 64,
    fraction: 52,
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Even,
    Up,
    Down,
    Zero,
}

/// Rounding and denormals of a format.
#[derive(Clone, Copy)]
pub(super) struct Env {
    pub(super) round: Round,
    pub(super) flush_sources: bool,
    pub(super) flush_results: bool,
    /// Overflow gives the largest number.
    pub(super) saturate: bool,
}

pub(super) const EXACT: Env = Env {
    round: Round::Even,
    flush_sources: false,
    flush_results: false,
    saturate: false,
};

pub(super) fn env(bits: u32, format: Format) -> Env {
    let (round, denormals) = match format.bits {
        32 => (bits & 3, bits >> 4 & 3),
        _ => (bits >> 2 & 3, bits >> 6 & 3),
    };
    Env {
        round: [Round::Even, Round::Up, Round::Down, Round::Zero][round as usize],
        flush_sources: denormals & 1 == 0,
        flush_results: denormals & 2 == 0,
        saturate: format.bits == 16 && bits & mode::FP16_OVFL != 0,
    }
}

/// A number: its sign, and `magnitude * 2^exponent`.
#[derive(Clone, Copy)]
pub(super) struct Finite {
    pub(super) negative: bool,
    pub(super) magnitude: u128,
    pub(super) exponent: i32,
}

#[derive(Clone, Copy)]
pub(super) enum Number {
    /// Bits as they are in its format.
    Nan(u64),
    Infinity(bool),
    Finite(Finite),
}

impl Format {
    pub(super) const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    pub(super) const fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    pub(super) const fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }

    pub(super) const fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    pub(super) const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    pub(super) const fn is_denormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && bits & (self.sign() - 1) != 0
    }

    pub(super) const fn flushed(self, bits: u64, flush: bool) -> u64 {
        if flush && self.is_denormal(bits) {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// Exponent of the last place of denormals.
    pub(super) const fn lowest(self) -> i32 {
        let bias = (1 << (self.bits - self.fraction - 2)) - 1;
        1 - bias - self.fraction as i32
    }

    pub(super) fn number(self, bits: u64) -> Number {
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
    pub(super) fn round(self, x: Finite, env: Env) -> u64 {
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
        let rounded = shifted(x, place, env.round) as u64;
        // The leading one of a normal number adds one to the exponent's field.
        let below = (((place - self.lowest()) as u64) << self.fraction) + rounded;
        if below < self.infinity() {
            return sign | below;
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
    pub(super) fn of(self, number: Number, from: Format, env: Env) -> u64 {
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
}

/// The magnitude in units of `2^place`, rounded.
pub(super) fn shifted(x: Finite, place: i32, round: Round) -> u128 {
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
pub(super) fn wide(format: Format, bits: u64) -> f64 {
    f64::from_bits(F64.of(format.number(bits), format, EXACT))
}

pub(super) fn number_of(x: f64) -> Number {
    F64.number(x.to_bits())
}

pub(super) fn integer(x: i128) -> Number {
    Number::Finite(Finite {
        negative: x < 0,
        magnitude: x.unsigned_abs(),
        exponent: 0,
    })
}

/// A float to an integer, rounded and saturated; 0 for a NaN.
pub(super) fn to_integer(number: Number, round: Round, least: i64, most: i64) -> i64 {
    match number {
        Number::Nan(_) => 0,
        Number::Infinity(true) => least,
        Number::Infinity(false) => most,
        Number::Finite(x) => {
            let top = x.exponent + 127 - x.magnitude.leading_zeros() as i32;
            if x.magnitude != 0 && top > 64 {
                return if x.negative { least } else { most };
            }
            let magnitude = shifted(x, 0, round) as i128;
            let value = if x.negative { -magnitude } else { magnitude };
            value.clamp(least.into(), most.into()) as i64
        }
    }
}

pub(super) fn first_nan(format: Format, sources: &[u64]) -> Option<u64> {
    let nan = sources.iter().find(|&&bits| format.is_nan(bits));
    nan.map(|&bits| bits | format.quiet())
}

pub(super) fn format_of(ty: Ty) -> Option<Format> {
    match ty {
        Ty::F16 | Ty::PkF16 => Some(F16),
        Ty::F32 => Some(F32),
        _ => None,
    }
}

pub(super) const fn mask(format: Format) -> u64 {
    format.sign() | (format.sign() - 1)
}

/// A normalised integer of 16 bits.
pub(super) fn norm(format: Format, x: u32, scale: i64, flush: bool) -> u32 {
    let x = format.flushed(u64::from(x) & mask(format), flush);
    let least = if scale == 32767 { -scale } else { 0 };
    let value = match format.number(x) {
        Number::Finite(x) => {
            let x = Finite {
                magnitude: x.magnitude * scale as u128,
                ..x
            };
            to_integer(Number::Finite(x), Round::Even, least, scale)
        }
        other => to_integer(other, Round::Even, least, scale),
    };
    value as u32 & 0xffff
}
