//! `v_rcp`, `v_rsq`, `v_sqrt`, and their clamped and legacy variants. All correctly rounded to
//! nearest even, regardless of MODE.
//!
//! The hardware promises 1 ulp for f32, 0.51 ulp for f16 and about 24 correct bits for f64; the
//! correctly rounded value is within all of them. The f32 forms flush denormal sources and results
//! regardless of MODE, the f16 and f64 forms keep them. Special values are those of the Vega ISA
//! (VOP1 34 to 40, 61 to 63): the reciprocal of `±0` is `±infinity` and vice versa; square roots of
//! negative numbers are the *negative* default NaN (`0xffc00000`); `sqrt(-0)` is `-0` and `rsq(-0)`
//! is `-infinity`. A NaN source is returned, quieted.

use super::format::{Exact, F16, F32, F64, Format, is_nan, is_zero, round};
use super::soft::{Host, narrow_f16, widen_f16};
use super::{Round, flush_f32};

/// The result for a source that is a NaN or below zero, if it is one.
#[inline]
pub(super) fn no_root<F: Format>(x: u64) -> Option<u64> {
    if is_nan::<F>(x) {
        return Some(x | F::QUIET);
    }
    let below_zero = x & F::SIGN != 0 && !is_zero::<F>(x);
    below_zero.then_some(F::SIGN | F::DEFAULT_NAN)
}

fn reciprocal<F: Host>(x: u64) -> u64 {
    if is_nan::<F>(x) {
        x | F::QUIET
    } else {
        F::host_div(F::ONE, x)
    }
}

fn root<F: Host>(x: u64) -> u64 {
    no_root::<F>(x).unwrap_or_else(|| F::host_sqrt(x))
}

/// `v_rcp_f32`: denormal sources give infinity, reciprocals above `2^126` in magnitude zero.
#[inline]
pub fn rcp_f32(x: u32) -> u32 {
    flush_f32(reciprocal::<F32>(flush_f32(x).into()) as u32)
}

/// `v_rcp_iflag_f32`: the value of [`rcp_f32`]; only the exceptions differ, which are not modelled.
#[inline]
pub fn rcp_iflag_f32(x: u32) -> u32 {
    rcp_f32(x)
}

/// `v_rcp_f16`. A reciprocal that overflows (of a source below `2^-16`) gives infinity.
#[inline]
pub fn rcp_f16(x: u16) -> u16 {
    reciprocal::<F16>(x.into()) as u16
}

/// `v_rcp_f64`.
#[inline]
pub fn rcp_f64(x: u64) -> u64 {
    reciprocal::<F64>(x)
}

/// `v_sqrt_f32`.
#[inline]
pub fn sqrt_f32(x: u32) -> u32 {
    root::<F32>(flush_f32(x).into()) as u32
}

/// `v_sqrt_f16`.
#[inline]
pub fn sqrt_f16(x: u16) -> u16 {
    root::<F16>(x.into()) as u16
}

/// `v_sqrt_f64`.
#[inline]
pub fn sqrt_f64(x: u64) -> u64 {
    root::<F64>(x)
}

/// `v_rsq_f32`.
#[inline]
pub fn rsq_f32(x: u32) -> u32 {
    let x = flush_f32(x);
    if let Some(result) = no_root::<F32>(x.into()) {
        return result as u32;
    }
    // The f64 value has an error below two of its last places, and no f32 has a reciprocal root
    // that close to a midpoint of two f32: tested exhaustively.
    let root = f64::from(f32::from_bits(x)).sqrt();
    ((1.0 / root) as f32).to_bits()
}

/// `v_rsq_f16`.
#[inline]
pub fn rsq_f16(x: u16) -> u16 {
    match no_root::<F16>(x.into()) {
        Some(result) => result as u16,
        None => narrow_f16(1.0 / widen_f16(x).sqrt()),
    }
}

/// `v_rsq_f64`.
pub fn rsq_f64(x: u64) -> u64 {
    if let Some(result) = no_root::<F64>(x) {
        return result;
    }
    if is_zero::<F64>(x) {
        return x | F64::INFINITY;
    }
    if x == F64::INFINITY {
        return 0;
    }
    // x = s * 4^k with 2^52 <= s < 2^54.
    let value = Exact::of::<F64>(x);
    let mut up = value.significand.leading_zeros() as i32 - (127 - 52);
    up += (value.exponent - up) & 1;
    let s = value.significand << up;
    let k = (value.exponent - up) / 2;
    // y = floor(2^80 / sqrt(s)) has 54 bits: one more than the result. An estimate from f64 is a
    // few units off; `rest` = 2^160 - y^2 * s leads to the floor. Its exact value fits in 128 bits,
    // so it may be computed modulo 2^128, where 2^160 is 0.
    let mut y = ((1.0 / (s as f64).sqrt()) * f64::from_bits((1023 + 80) << 52)) as u128;
    let mut rest = y.wrapping_mul(y).wrapping_mul(s).wrapping_neg() as i128;
    while rest < 0 {
        rest += ((2 * y - 1) * s) as i128;
        y -= 1;
    }
    while rest >= ((2 * y + 1) * s) as i128 {
        rest -= ((2 * y + 1) * s) as i128;
        y += 1;
    }
    let significand = y << 1 | u128::from(rest != 0);
    let exact = Exact {
        negative: false,
        significand,
        exponent: -81 - k,
    };
    round::<F64>(exact, Round::NearestEven, false)
}

/// An infinity becomes the largest finite number of its sign.
fn finite<F: Format>(x: u64) -> u64 {
    if x & F::MAGNITUDE == F::INFINITY {
        x - 1
    } else {
        x
    }
}

/// An infinity becomes the zero of its sign.
fn zero_for_infinity(x: u32) -> u32 {
    if x & 0x7fff_ffff == 0x7f80_0000 {
        x & 0x8000_0000
    } else {
        x
    }
}

/// `v_rcp_clamp_f32` (gfx6, gfx7): [`rcp_f32`] with infinities clamped to the largest number.
#[inline]
pub fn rcp_clamp_f32(x: u32) -> u32 {
    finite::<F32>(rcp_f32(x).into()) as u32
}

/// `v_rcp_clamp_f64` (gfx6, gfx7): [`rcp_f64`] with infinities clamped to the largest number.
#[inline]
pub fn rcp_clamp_f64(x: u64) -> u64 {
    finite::<F64>(rcp_f64(x))
}

/// `v_rcp_legacy_f32` (gfx6, gfx7): [`rcp_f32`] with zeros in place of infinities, sign kept.
#[inline]
pub fn rcp_legacy_f32(x: u32) -> u32 {
    zero_for_infinity(rcp_f32(x))
}

/// `v_rsq_clamp_f32` (gfx6, gfx7): [`rsq_f32`] with infinities clamped to the largest number.
#[inline]
pub fn rsq_clamp_f32(x: u32) -> u32 {
    finite::<F32>(rsq_f32(x).into()) as u32
}

/// `v_rsq_clamp_f64` (gfx6, gfx7): [`rsq_f64`] with infinities clamped to the largest number.
#[inline]
pub fn rsq_clamp_f64(x: u64) -> u64 {
    finite::<F64>(rsq_f64(x))
}

/// `v_rsq_legacy_f32` (gfx6, gfx7): [`rsq_f32`] with zeros in place of infinities, sign kept.
#[inline]
pub fn rsq_legacy_f32(x: u32) -> u32 {
    zero_for_infinity(rsq_f32(x))
}

#[cfg(test)]
mod tests;
