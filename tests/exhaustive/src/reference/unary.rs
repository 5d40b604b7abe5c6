//! Vector instructions with one source: conversions, rounding, exponents and mantissas, reciprocals and roots.

use frontend::op::F8;
use frontend::{Gfx, Op, Ty};
use harness::number::{
    EXACT, Env, F16, F32, F64, Finite, Format, Number, Round, integer, number_of, to_integer, wide,
};

use super::number::{env, first_nan, format_of, norm};
use super::{Function, bits, low};
use crate::sweep::Form;

/// The results of an instruction with one source.
pub(super) fn unary(form: &Form, mode: u32) -> Option<Function> {
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
    Some(match desc.op {
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
                    let x = from.flushed(u64::from(x) & from.mask(), how.flush_sources);
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
                    let number = from.number(u64::from(x) & from.mask());
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
                let (least, most) = (i32::MIN, i32::MAX);
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
                let x = format.flushed(u64::from(x) & format.mask(), flush);
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
                let x = format.flushed(u64::from(x) & format.mask(), how.flush_sources);
                low(fract(format, x, how))
            })
        }
        Op::FrexpExp => {
            let format = format?;
            let flush = env_of(format).flush_sources;
            let narrow = to.bits() == 16;
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & format.mask(), flush);
                let exponent = match format.number(x) {
                    Number::Finite(x) if x.magnitude != 0 => {
                        x.exponent + 128 - x.magnitude.leading_zeros() as i32
                    }
                    _ => 0,
                };
                let kept = if narrow { 0xffff } else { u32::MAX };
                [exponent as u32 & kept, 0]
            })
        }
        Op::FrexpMant => {
            let format = format?;
            let flush = env_of(format).flush_sources;
            Box::new(move |x, _| {
                let x = format.flushed(u64::from(x) & format.mask(), flush);
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
                let x = format.flushed(u64::from(x) & format.mask(), how.flush_sources);
                low(root(format, op, x, how))
            })
        }
        op => {
            let word = bits::word(op)?;
            Box::new(move |x, _| [word(x), 0])
        }
    })
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
