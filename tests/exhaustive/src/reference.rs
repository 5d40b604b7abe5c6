//! What instructions compute, in plain Rust: written from the manuals and their errata, with exact integers rounded
//! once, and from no engine.
//!
//! Where a source is a NaN the result is the first one, quieted; no other NaN than `0x7fc00000` (`0x7e00`) is made,
//! but for the roots of negative numbers, which the manuals give as `0xffc00000`.

use frontend::op::{Cmp, F8};
use frontend::state::mode;
use frontend::{Gfx, Op, Ty, ops};

use crate::sweep::{Form, Shape, Source};

type Function = Box<dyn Fn(u32, u32) -> [u32; 2]>;

/// A form's results by its source registers.
pub struct Reference(Function);

/// A binary format.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Format {
    bits: u32,
    fraction: u32,
}

const F16: Format = Format {
    bits: 16,
    fraction: 10,
};
const F32: Format = Format {
    bits: 32,
    fraction: 23,
};
const F64: Format = Format {
    bits: 64,
    fraction: 52,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Round {
    Even,
    Up,
    Down,
    Zero,
}

/// Rounding and denormals of a format.
#[derive(Clone, Copy)]
struct Env {
    round: Round,
    flush_sources: bool,
    flush_results: bool,
    /// Overflow gives the largest number.
    saturate: bool,
}

const EXACT: Env = Env {
    round: Round::Even,
    flush_sources: false,
    flush_results: false,
    saturate: false,
};

fn env(bits: u32, format: Format) -> Env {
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
struct Finite {
    negative: bool,
    magnitude: u128,
    exponent: i32,
}

#[derive(Clone, Copy)]
enum Number {
    /// Bits as they are in its format.
    Nan(u64),
    Infinity(bool),
    Finite(Finite),
}

impl Format {
    const fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    const fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    const fn quiet(self) -> u64 {
        1 << (self.fraction - 1)
    }

    const fn nan(self) -> u64 {
        self.infinity() | self.quiet()
    }

    const fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    const fn is_denormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && bits & (self.sign() - 1) != 0
    }

    const fn flushed(self, bits: u64, flush: bool) -> u64 {
        if flush && self.is_denormal(bits) {
            bits & self.sign()
        } else {
            bits
        }
    }

    /// Exponent of the last place of denormals.
    const fn lowest(self) -> i32 {
        let bias = (1 << (self.bits - self.fraction - 2)) - 1;
        1 - bias - self.fraction as i32
    }

    fn number(self, bits: u64) -> Number {
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
    fn round(self, x: Finite, env: Env) -> u64 {
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
    fn of(self, number: Number, from: Format, env: Env) -> u64 {
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
fn wide(format: Format, bits: u64) -> f64 {
    f64::from_bits(F64.of(format.number(bits), format, EXACT))
}

fn number_of(x: f64) -> Number {
    F64.number(x.to_bits())
}

fn integer(x: i128) -> Number {
    Number::Finite(Finite {
        negative: x < 0,
        magnitude: x.unsigned_abs(),
        exponent: 0,
    })
}

/// A float to an integer, rounded and saturated; 0 for a NaN.
fn to_integer(number: Number, round: Round, least: i64, most: i64) -> i64 {
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

fn first_nan(format: Format, sources: &[u64]) -> Option<u64> {
    let nan = sources.iter().find(|&&bits| format.is_nan(bits));
    nan.map(|&bits| bits | format.quiet())
}

fn low(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

fn format_of(ty: Ty) -> Option<Format> {
    match ty {
        Ty::F16 | Ty::PkF16 => Some(F16),
        Ty::F32 => Some(F32),
        _ => None,
    }
}

impl Reference {
    /// The reference of a form under a MODE, if there is one.
    pub fn of(form: &Form, mode: u32) -> Option<Reference> {
        let whole = match form.shape {
            Shape::Scalar(..) => scalar(form)?,
            Shape::Lanes(_) | Shape::Compare | Shape::CompareExec => match form.sources()? {
                Source::Registers => vector(form, mode)?,
                Source::Halves => {
                    let f = binary(form, mode)?;
                    Box::new(move |x, _| {
                        let (a, b) = (x & 0xffff, x >> 16);
                        [f(a, b) | f(b, a) << 16, 0]
                    })
                }
                Source::Selected(at) => {
                    let f = vector(form, mode)?;
                    Box::new(move |a, b| f(a >> at[0], b >> at[1]))
                }
                Source::Constant(code) => {
                    let f = vector(form, mode)?;
                    let bits = constant(form.desc.src[0], code);
                    Box::new(move |b, _| f(bits, b))
                }
            },
        };
        Some(Reference(whole))
    }

    /// The result words: registers in order, then SCC.
    #[inline]
    pub fn results(&self, s0: u32, s1: u32) -> [u32; 2] {
        (self.0)(s0, s1)
    }
}

/// The value of an inline constant in a type of 16 bits.
fn constant(ty: Ty, code: u32) -> u32 {
    let float = |half: u32, single: u32| match ty {
        Ty::F16 => half,
        // Integer operands of 16 bits have the low half of f32 constants or f16 ones: LLVM and the manuals say f16.
        _ => {
            let _ = single;
            half
        }
    };
    match code {
        128..=192 => code - 128,
        193..=208 => 192u32.wrapping_sub(code) & 0xffff,
        240 => float(0x3800, 0x3f00_0000),
        241 => float(0xb800, 0xbf00_0000),
        242 => float(0x3c00, 0x3f80_0000),
        243 => float(0xbc00, 0xbf80_0000),
        244 => float(0x4000, 0x4000_0000),
        245 => float(0xc000, 0xc000_0000),
        246 => float(0x4400, 0x4080_0000),
        247 => float(0xc400, 0xc080_0000),
        _ => float(0x3118, 0x3e22_f983),
    }
}

fn scalar(form: &Form) -> Option<Function> {
    let count = |n: u32| if n == 32 { u32::MAX } else { n };
    let nonzero = |x: u32| [x, u32::from(x != 0)];
    Some(match form.desc.op {
        Op::Mov => Box::new(|x, _| [x, 0]),
        Op::Not => Box::new(move |x, _| nonzero(!x)),
        Op::Wqm => Box::new(move |x, _| {
            let mut all = 0;
            for quad in 0..8 {
                if x >> (4 * quad) & 15 != 0 {
                    all |= 15 << (4 * quad);
                }
            }
            nonzero(all)
        }),
        Op::QuadMask => Box::new(move |x, _| {
            let mut all = 0;
            for quad in 0..8 {
                all |= u32::from(x >> (4 * quad) & 15 != 0) << quad;
            }
            nonzero(all)
        }),
        Op::Brev => Box::new(|x, _| [x.reverse_bits(), 0]),
        Op::Bcnt0 => Box::new(move |x, _| nonzero(x.count_zeros())),
        Op::Bcnt1 => Box::new(move |x, _| nonzero(x.count_ones())),
        Op::Ff0 => Box::new(move |x, _| [count((!x).trailing_zeros()), 0]),
        Op::Ff1 => Box::new(move |x, _| [count(x.trailing_zeros()), 0]),
        Op::Flbit => Box::new(move |x, _| [count(x.leading_zeros()), 0]),
        Op::FlbitI => Box::new(|x, _| [sign_run(x), 0]),
        Op::SextI8 => Box::new(|x, _| [x as u8 as i8 as u32, 0]),
        Op::SextI16 => Box::new(|x, _| [x as u16 as i16 as u32, 0]),
        Op::Abs => Box::new(move |x, _| nonzero((x as i32).wrapping_abs() as u32)),
        Op::BitReplicate => Box::new(|x, _| {
            let mut all = 0u64;
            for bit in 0..32 {
                all |= (u64::from(x >> bit & 1) * 3) << (2 * bit);
            }
            low(all)
        }),
        _ => return None,
    })
}

/// Position from the top of the first bit that differs from the sign.
fn sign_run(x: u32) -> u32 {
    let sign = x >> 31;
    let bit = (1..32).find(|n| x >> (31 - n) & 1 != sign);
    bit.unwrap_or(u32::MAX)
}

fn vector(form: &Form, mode: u32) -> Option<Function> {
    if form.desc.src.len() == 2 {
        let f = binary(form, mode)?;
        return Some(Box::new(move |a, b| [f(a & 0xffff, b & 0xffff), 0]));
    }
    unary(form, mode)
}

/// Instructions with one source.
fn unary(form: &Form, mode: u32) -> Option<Function> {
    let desc = form.desc;
    let (&[from], &[to]) = (desc.src, desc.dst) else {
        return None;
    };
    if form.clamps() {
        return None;
    }
    let (e16, e32) = (env(mode, F16), env(mode, F32));
    let (format, target) = (format_of(from), format_of(to));
    let env_of = move |format: Format| if format.bits == 32 { e32 } else { e16 };
    let count = |n: u32| if n == 32 { u32::MAX } else { n };
    Some(match desc.op {
        Op::Mov => Box::new(|x, _| [x, 0]),
        Op::Not => Box::new(|x, _| [!x, 0]),
        Op::Brev => Box::new(|x, _| [x.reverse_bits(), 0]),
        Op::Ff1 => Box::new(move |x, _| [count(x.trailing_zeros()), 0]),
        Op::Flbit => Box::new(move |x, _| [count(x.leading_zeros()), 0]),
        Op::FlbitI => Box::new(|x, _| [sign_run(x), 0]),
        Op::SatPkU8I16 => Box::new(|x, _| {
            let byte = |half: u32| i32::from(half as u16 as i16).clamp(0, 255) as u32;
            [byte(x) | byte(x >> 16) << 8, 0]
        }),
        Op::CvtOffI4 => Box::new(|x, _| {
            let nibble = if x & 8 != 0 {
                (x & 15) as i32 - 16
            } else {
                (x & 15) as i32
            };
            [(nibble as f32 / 16.0).to_bits(), 0]
        }),
        Op::CvtUbyte(n) => Box::new(move |x, _| [((x >> (8 * n) & 0xff) as f32).to_bits(), 0]),
        Op::CvtFromF8(kind) => Box::new(move |x, _| [eight(kind, x & 0xff), 0]),
        Op::CvtPkFromF8(kind) => {
            Box::new(move |x, _| [eight(kind, x & 0xff), eight(kind, x >> 8 & 0xff)])
        }
        Op::Cvt => match (format, target, to) {
            (Some(from), Some(to), _) => {
                let mut how = env_of(to);
                how.flush_sources = env_of(from).flush_sources;
                if to.bits > from.bits {
                    how = Env {
                        flush_sources: how.flush_sources,
                        ..EXACT
                    };
                }
                Box::new(move |x, _| {
                    let x = from.flushed(u64::from(x) & mask(from), how.flush_sources);
                    low(to.of(from.number(x), from, how))
                })
            }
            (Some(from), None, Ty::F64) => {
                let flush = env_of(from).flush_sources;
                Box::new(move |x, _| {
                    let x = from.flushed(x.into(), flush);
                    low(F64.of(from.number(x), from, EXACT))
                })
            }
            (Some(from), None, _) => {
                let (least, most): (i64, i64) = match to {
                    Ty::I32 => (i32::MIN.into(), i32::MAX.into()),
                    Ty::U32 => (0, u32::MAX.into()),
                    Ty::I16 => (i16::MIN.into(), i16::MAX.into()),
                    Ty::U16 => (0, u16::MAX.into()),
                    _ => return None,
                };
                let bits = to.bits();
                Box::new(move |x, _| {
                    let number = from.number(u64::from(x) & mask(from));
                    let value = to_integer(number, Round::Zero, least, most) as u32;
                    [if bits == 16 { value & 0xffff } else { value }, 0]
                })
            }
            (None, _, _) => {
                let value: fn(u32) -> i128 = match from {
                    Ty::I32 => |x| (x as i32).into(),
                    Ty::U32 => |x| x.into(),
                    Ty::I16 => |x| (x as u16 as i16).into(),
                    Ty::U16 => |x| (x as u16).into(),
                    _ => return None,
                };
                let to = match to {
                    Ty::F16 => F16,
                    Ty::F32 => F32,
                    Ty::F64 => F64,
                    _ => return None,
                };
                let how = if to == F64 { EXACT } else { env_of(to) };
                Box::new(move |x, _| low(to.of(integer(value(x)), to, how)))
            }
        },
        Op::CvtRpi | Op::CvtFlr => {
            let half = if desc.op == Op::CvtRpi { 0.5 } else { 0.0 };
            Box::new(move |x, _| {
                let x = F32.flushed(x.into(), e32.flush_sources);
                // A sum of an f32 and 0.5 is exact in f64, or too small to matter.
                let value = wide(F32, x);
                let sum = match value.abs() < 1e-9 && half != 0.0 {
                    true => half,
                    false => value + half,
                };
                let (least, most) = (i32::MIN.into(), i32::MAX.into());
                [
                    to_integer(number_of(sum), Round::Down, least, most) as u32,
                    0,
                ]
            })
        }
        Op::CvtNorm => {
            let scale = if to == Ty::I16 { 32767 } else { 65535 };
            Box::new(move |x, _| [norm(F16, x, scale, e16.flush_sources), 0])
        }
        Op::Trunc | Op::Ceil | Op::Floor | Op::Rndne => {
            let format = format?;
            let flush = env_of(format).flush_sources;
            let how: fn(f64) -> f64 = match desc.op {
                Op::Trunc => f64::trunc,
                Op::Ceil => f64::ceil,
                Op::Floor => f64::floor,
                _ => f64::round_ties_even,
            };
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & mask(format), flush);
                if let Some(nan) = first_nan(format, &[x]) {
                    return low(nan);
                }
                low(format.of(number_of(how(wide(format, x))), F64, EXACT))
            })
        }
        // A fault of the oldest target.
        Op::Fract if form.gfx == Gfx::Gfx600 => return None,
        Op::Fract => {
            let format = format?;
            let how = env_of(format);
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & mask(format), how.flush_sources);
                low(fract(format, x, how))
            })
        }
        Op::FrexpExp => {
            let format = format?;
            let flush = env_of(format).flush_sources;
            let bits = to.bits();
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & mask(format), flush);
                let exponent = match format.number(x) {
                    Number::Finite(x) if x.magnitude != 0 => {
                        x.exponent + 128 - x.magnitude.leading_zeros() as i32
                    }
                    _ => 0,
                };
                [
                    if bits == 16 {
                        exponent as u32 & 0xffff
                    } else {
                        exponent as u32
                    },
                    0,
                ]
            })
        }
        Op::FrexpMant => {
            let format = format?;
            let flush = env_of(format).flush_sources;
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & mask(format), flush);
                let number = match format.number(x) {
                    Number::Finite(x) if x.magnitude != 0 => Number::Finite(Finite {
                        exponent: x.magnitude.leading_zeros() as i32 - 128,
                        ..x
                    }),
                    other => other,
                };
                low(format.of(number, format, EXACT))
            })
        }
        Op::Rcp | Op::RcpIflag | Op::Sqrt | Op::Rsq => {
            let format = format?;
            // f32 flushes whatever MODE says.
            let how = match format.bits {
                32 => Env {
                    flush_sources: true,
                    flush_results: true,
                    ..EXACT
                },
                _ => Env {
                    round: Round::Even,
                    ..e16
                },
            };
            let op = desc.op;
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & mask(format), how.flush_sources);
                low(root(format, op, x, how))
            })
        }
        _ => return None,
    })
}

const fn mask(format: Format) -> u64 {
    format.sign() | (format.sign() - 1)
}

/// `x - floor(x)`, below 1.
fn fract(format: Format, x: u64, how: Env) -> u64 {
    let below_one = (format.infinity() >> 1 >> format.fraction << format.fraction) - 1;
    let x = match format.number(x) {
        Number::Nan(_) => return x | format.quiet(),
        Number::Infinity(_) => return format.nan(),
        Number::Finite(x) => x,
    };
    if x.exponent >= 0 || x.magnitude == 0 {
        // The difference of equal numbers is +0, and -0 rounding down.
        return if how.round == Round::Down {
            format.sign()
        } else {
            0
        };
    }
    if -x.exponent > 100 {
        return match x.negative {
            true => below_one,
            false => format.round(x, how),
        };
    }
    let one = 1u128 << -x.exponent;
    let rest = x.magnitude & (one - 1);
    if rest == 0 {
        return if how.round == Round::Down {
            format.sign()
        } else {
            0
        };
    }
    let magnitude = if x.negative { one - rest } else { rest };
    let fraction = Finite {
        negative: false,
        magnitude,
        exponent: x.exponent,
    };
    format.round(fraction, how).min(below_one)
}

/// Reciprocals and roots, correctly rounded.
fn root(format: Format, op: Op, x: u64, how: Env) -> u64 {
    if let Some(nan) = first_nan(format, &[x]) {
        return nan;
    }
    let value = wide(format, x);
    let sign = x & format.sign();
    match op {
        Op::Rcp | Op::RcpIflag => {
            if value == 0.0 {
                return sign | format.infinity();
            }
            // A quotient in f64 rounds to the same as the exact one.
            format.of(number_of(1.0 / value), F64, how)
        }
        _ if value < 0.0 => format.nan() | format.sign(),
        Op::Sqrt => match value == 0.0 {
            true => sign,
            false => format.of(number_of(value.sqrt()), F64, how),
        },
        _ if value == 0.0 => sign | format.infinity(),
        _ if value.is_infinite() => 0,
        _ => inverse_root(format, value),
    }
}

/// `1 / sqrt(x)`: of the numbers next to an estimate the one that is nearest, by exact products. No result is denormal.
fn inverse_root(format: Format, x: f64) -> u64 {
    let near = format.of(number_of(1.0 / x.sqrt()), F64, EXACT);
    let Number::Finite(exact) = number_of(x) else {
        return near;
    };
    let zeros = exact.magnitude.trailing_zeros();
    let (m, e) = (exact.magnitude >> zeros, exact.exponent + zeros as i32);
    // Is the middle of two numbers below the result: middle^2 * x < 1?
    let below = |a: u64, b: u64| {
        let middle = (wide(format, a) + wide(format, b)) / 2.0;
        let Number::Finite(middle) = number_of(middle) else {
            return false;
        };
        let zeros = middle.magnitude.trailing_zeros();
        let (n, f) = (middle.magnitude >> zeros, middle.exponent + zeros as i32);
        let product = n * n * m;
        let exponent = e + 2 * f;
        // product * 2^exponent < 1
        exponent < 0 && (exponent <= -128 || product >> -exponent == 0)
    };
    if below(near, near + 1) {
        near + 1
    } else if !below(near - 1, near) {
        near - 1
    } else {
        near
    }
}

/// A normalised integer of 16 bits.
fn norm(format: Format, x: u32, scale: i64, flush: bool) -> u32 {
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

/// The f32 of a float of 8 bits: no infinities, one NaN, no negative zero.
fn eight(kind: F8, x: u32) -> u32 {
    let (fraction, bias) = match kind {
        F8::Fp8 => (3, 8),
        F8::Bf8 => (2, 16),
    };
    if x == 0x80 {
        return 0x7fc0_0000;
    }
    let (field, rest) = ((x & 0x7f) >> fraction, x & ((1 << fraction) - 1));
    let (magnitude, place) = match field {
        0 => (rest, 1),
        _ => (rest | 1 << fraction, field as i32),
    };
    let value = Finite {
        negative: x & 0x80 != 0,
        magnitude: magnitude.into(),
        exponent: place - bias - fraction,
    };
    F32.round(value, EXACT) as u32
}

type Binary = Box<dyn Fn(u32, u32) -> u32>;

/// Instructions with two sources of 16 bits, which come without noise. Results of comparisons are 0 or 1.
fn binary(form: &Form, mode: u32) -> Option<Binary> {
    let desc = form.desc;
    let ty = *desc.src.first()?;
    let plain = plain_binary(form, mode, ty)?;
    Some(match desc.rev {
        true => Box::new(move |a, b| plain(b, a)),
        false => plain,
    })
}

fn plain_binary(form: &Form, mode: u32, ty: Ty) -> Option<Binary> {
    let desc = form.desc;
    let env = env(mode, F16);
    let ieee = mode & mode::IEEE != 0;
    let float = matches!(ty, Ty::F16 | Ty::PkF16);
    let signed = matches!(desc.ty(), Ty::I16 | Ty::PkI16);
    let clamp = form.clamps();
    if clamp && float {
        return None;
    }
    let int = move |x: u32| match signed {
        true => i64::from(x as u16 as i16),
        false => i64::from(x as u16),
    };
    let wrapped = move |value: i64| match (clamp, signed) {
        (false, _) => value as u32 & 0xffff,
        (true, true) => value.clamp(-0x8000, 0x7fff) as u32 & 0xffff,
        (true, false) => value.clamp(0, 0xffff) as u32,
    };
    let flushed = move |x: u32| F16.flushed(x.into(), env.flush_sources);
    Some(match desc.op {
        Op::Add | Op::Sub | Op::Mul if float => {
            let op = desc.op;
            Box::new(move |a, b| arithmetic(op, flushed(a), flushed(b), env) as u32)
        }
        Op::Add => Box::new(move |a, b| wrapped(int(a) + int(b))),
        Op::Sub => Box::new(move |a, b| wrapped(int(a) - int(b))),
        Op::Mul => Box::new(move |a, b| wrapped(int(a) * int(b))),
        // The amount is the operation's second source.
        Op::Shl => Box::new(|a, b| a << (b & 15) & 0xffff),
        Op::Lshr => Box::new(|a, b| a >> (b & 15)),
        Op::Ashr => Box::new(|a, b| (i32::from(a as u16 as i16) >> (b & 15)) as u32 & 0xffff),
        Op::Min | Op::Max if float => {
            let flush = form.gfx.is_gfx9();
            let most = desc.op == Op::Max;
            Box::new(move |a, b| {
                let source = |x: u32| if flush { flushed(x) } else { x.into() };
                let result = extreme(source(a), source(b), most, ieee);
                F16.flushed(result, flush && env.flush_results) as u32
            })
        }
        Op::Min => Box::new(move |a, b| wrapped(int(a).min(int(b)))),
        Op::Max => Box::new(move |a, b| wrapped(int(a).max(int(b)))),
        Op::Ldexp => Box::new(move |a, b| {
            let a = flushed(a);
            let by = i32::from(b as u16 as i16);
            let number = match F16.number(a) {
                Number::Finite(x) => Number::Finite(Finite {
                    exponent: x.exponent + by,
                    ..x
                }),
                other => other,
            };
            F16.of(number, F16, env) as u32
        }),
        Op::PackF16 => Box::new(|a, b| a | b << 16),
        Op::CvtPkNorm => {
            let scale = if desc.dst[0] == Ty::PkI16 {
                32767
            } else {
                65535
            };
            Box::new(move |a, b| {
                let half = |x| norm(F16, x, scale, env.flush_sources);
                half(a) | half(b) << 16
            })
        }
        Op::Cmp(cmp) | Op::Cmpx(cmp) if float => Box::new(move |a, b| {
            let (a, b) = (wide(F16, flushed(a)), wide(F16, flushed(b)));
            u32::from(compare(cmp, a.partial_cmp(&b)))
        }),
        Op::Cmp(cmp) | Op::Cmpx(cmp) => {
            let signed = ty == Ty::I16;
            Box::new(move |a, b| {
                let int = |x: u32| match signed {
                    true => i32::from(x as u16 as i16),
                    false => i32::from(x as u16),
                };
                u32::from(compare(cmp, Some(int(a).cmp(&int(b)))))
            })
        }
        Op::CmpClass | Op::CmpxClass => Box::new(|a, b| u32::from(class(a) & b != 0)),
        ops!(
            moves | bits | logic | scalar | scalar_bits | scalar_other | control | special | vector
        )
        | ops!(vector_wide | eight_bits | rounding | float_wide | legacy | packed | parameters)
        | ops!(matrix | mem) => return None,
        _ => return None,
    })
}

fn arithmetic(op: Op, a: u64, b: u64, env: Env) -> u64 {
    if let Some(nan) = first_nan(F16, &[a, b]) {
        return nan;
    }
    let (x, y) = (wide(F16, a), wide(F16, b));
    // Sums, differences and products of halves are exact in f64.
    let exact = match op {
        Op::Add => x + y,
        Op::Sub => x - y,
        _ => x * y,
    };
    if exact.is_nan() {
        return F16.nan();
    }
    // A sum of numbers other than equal zeros that cancels is -0 rounding down.
    let same_sign = x.is_sign_negative() == (y.is_sign_negative() != (op == Op::Sub));
    if exact == 0.0 && matches!(op, Op::Add | Op::Sub) && !same_sign {
        return if env.round == Round::Down {
            F16.sign()
        } else {
            0
        };
    }
    F16.of(number_of(exact), F64, env)
}

fn extreme(a: u64, b: u64, most: bool, ieee: bool) -> u64 {
    let signalling = |x: u64| F16.is_nan(x) && x & F16.quiet() == 0;
    if ieee && signalling(a) {
        return a | F16.quiet();
    }
    if ieee && signalling(b) {
        return b | F16.quiet();
    }
    if F16.is_nan(a) {
        return b;
    }
    if F16.is_nan(b) {
        return a;
    }
    // In the order of numbers, -0 below +0.
    let key = |x: u64| match x & F16.sign() {
        0 => x as i64,
        _ => -((x & (F16.sign() - 1)) as i64) - 1,
    };
    if (key(a) < key(b)) != most { a } else { b }
}

fn compare(cmp: Cmp, order: Option<std::cmp::Ordering>) -> bool {
    let is = |wanted| order == Some(wanted);
    use std::cmp::Ordering::{Equal, Greater, Less};
    match cmp {
        Cmp::F => false,
        Cmp::Lt => is(Less),
        Cmp::Eq => is(Equal),
        Cmp::Le => is(Less) || is(Equal),
        Cmp::Gt => is(Greater),
        Cmp::Lg => is(Less) || is(Greater),
        Cmp::Ge => is(Greater) || is(Equal),
        Cmp::O => order.is_some(),
        Cmp::U => order.is_none(),
        Cmp::Nge => !(is(Greater) || is(Equal)),
        Cmp::Nlg => !(is(Less) || is(Greater)),
        Cmp::Ngt => !is(Greater),
        Cmp::Nle => !(is(Less) || is(Equal)),
        Cmp::Neq => !is(Equal),
        Cmp::Nlt => !is(Less),
        Cmp::T => true,
    }
}

/// The bit of an f16's class.
fn class(x: u32) -> u32 {
    let x = u64::from(x);
    let negative = x & F16.sign() != 0;
    let below = x & (F16.sign() - 1);
    let place = match () {
        _ if F16.is_nan(x) => return if x & F16.quiet() == 0 { 1 } else { 2 },
        _ if below == F16.infinity() => (2, 9),
        _ if below == 0 => (5, 6),
        _ if F16.is_denormal(x) => (4, 7),
        _ => (3, 8),
    };
    1 << if negative { place.0 } else { place.1 }
}
