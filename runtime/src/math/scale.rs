//! Taking exponents out and putting them in: `v_ldexp`, `v_frexp_exp`, `v_frexp_mant`.

use super::Env;
use super::format::{Exact, F16, F32, F64, Format, exponent_field, flush, is_zero, round};

fn ldexp<F: Format>(x: u64, exponent: i32, env: Env) -> u64 {
    let x = if env.denorm.flush_src {
        flush::<F>(x)
    } else {
        x
    };
    if x & F::MAGNITUDE > F::INFINITY {
        return x | F::QUIET;
    }
    if is_zero::<F>(x) || x & F::MAGNITUDE == F::INFINITY {
        return x;
    }
    let mut value = Exact::of::<F>(x);
    // Beyond this the result is settled, and the sum cannot overflow.
    value.exponent += exponent.clamp(-10_000, 10_000);
    round::<F>(value, env.round, env.denorm.flush_dst)
}

/// `v_ldexp_f32`: `x * 2^exponent`, rounded once, also into the denormal range. The exponent is a
/// full signed 32-bit integer and saturates in effect. Zeros and infinities are unchanged.
#[inline]
pub fn ldexp_f32(x: u32, exponent: i32, env: Env) -> u32 {
    ldexp::<F32>(x.into(), exponent, env) as u32
}

/// `v_ldexp_f64`, see [`ldexp_f32`].
#[inline]
pub fn ldexp_f64(x: u64, exponent: i32, env: Env) -> u64 {
    ldexp::<F64>(x, exponent, env)
}

/// `v_ldexp_f16`, see [`ldexp_f32`]; the exponent is a signed 16-bit integer.
#[inline]
pub fn ldexp_f16(x: u16, exponent: i16, env: Env) -> u16 {
    ldexp::<F16>(x.into(), exponent.into(), env) as u16
}

fn frexp_exp<F: Format>(x: u64) -> i32 {
    let magnitude = x & F::MAGNITUDE;
    if magnitude == 0 || magnitude >= F::INFINITY {
        return 0;
    }
    match exponent_field::<F>(x) {
        0 => F::LEAST + 64 - magnitude.leading_zeros() as i32 - F::FRACTION as i32,
        field => field - F::BIAS + 1,
    }
}

fn frexp_mant<F: Format>(x: u64) -> u64 {
    let magnitude = x & F::MAGNITUDE;
    if magnitude > F::INFINITY {
        return x | F::QUIET;
    }
    if magnitude == 0 || magnitude == F::INFINITY {
        return x;
    }
    let fraction = if magnitude < F::MIN_NORMAL {
        let up = magnitude.leading_zeros() - (63 - F::FRACTION);
        magnitude << up
    } else {
        magnitude
    };
    let half = F::ONE - F::MIN_NORMAL;
    x & F::SIGN | half | (fraction & (F::MIN_NORMAL - 1))
}

/// `v_frexp_exp_i32_f32`: the exponent `e` of `x = m * 2^e` with `0.5 <= |m| < 1`. Denormal
/// numbers give their true exponent (`2^-149` gives -148); zeros, infinities and NaNs give 0.
#[inline]
pub fn frexp_exp_f32(x: u32) -> i32 {
    frexp_exp::<F32>(x.into())
}

/// `v_frexp_exp_i32_f64`, see [`frexp_exp_f32`].
#[inline]
pub fn frexp_exp_f64(x: u64) -> i32 {
    frexp_exp::<F64>(x)
}

/// `v_frexp_exp_i16_f16`, see [`frexp_exp_f32`].
#[inline]
pub fn frexp_exp_f16(x: u16) -> i16 {
    frexp_exp::<F16>(x.into()) as i16
}

/// `v_frexp_mant_f32`: the `m` of `x = m * 2^e` with `0.5 <= |m| < 1` and the sign of `x`. Zeros
/// and infinities give themselves, a NaN itself, quieted.
#[inline]
pub fn frexp_mant_f32(x: u32) -> u32 {
    frexp_mant::<F32>(x.into()) as u32
}

/// `v_frexp_mant_f64`, see [`frexp_mant_f32`].
#[inline]
pub fn frexp_mant_f64(x: u64) -> u64 {
    frexp_mant::<F64>(x)
}

/// `v_frexp_mant_f16`, see [`frexp_mant_f32`].
#[inline]
pub fn frexp_mant_f16(x: u16) -> u16 {
    frexp_mant::<F16>(x.into()) as u16
}

#[cfg(test)]
mod tests;
