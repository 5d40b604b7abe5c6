//! The three steps that turn an estimate of a reciprocal into a correctly rounded quotient:
//! `v_div_scale`, `v_div_fmas`, `v_div_fixup`.
//!
//! A compiler divides by: scale numerator and denominator so that nothing in between over- or
//! underflows; refine `rcp` of the denominator and the quotient with fused operations; a last
//! fused operation that undoes the scaling in its one rounding (`div_fmas`); special cases
//! (`div_fixup`). The texts of the manuals do not give correct quotients. What is here does, which
//! the tests check by running that whole sequence: relative to the manuals, the scale when both
//! `1/S1` and `S2/S1` are denormal is `2^-64`, a quotient that underflows to zero counts as denormal,
//! `div_fmas` scales by `2^64` up or down and rounds once, and `div_fixup` turns a NaN estimate of
//! finite operands into infinity.

use super::format::{
    Exact, F16, F32, F64, Format, copy_sign, exponent_field, is_denormal, is_infinite, is_nan,
    is_zero, round,
};
use super::soft::{self, Host};
use super::{Env, Round};

/// Parameters of the f32 and the f64 form.
trait Division: Host {
    /// Scaling works in steps of `2^STEP`.
    const STEP: i32 = if Self::FRACTION == 23 { 64 } else { 128 };
    /// From this distance of the exponent fields on, the quotient is huge.
    const FAR: i32 = if Self::FRACTION == 23 { 96 } else { 768 };
    /// Up to this exponent field the numerator is small.
    const SMALL: i32 = if Self::FRACTION == 23 { 23 } else { 53 };
    /// Below this distance of the exponent fields the quotient is zero.
    const UNDERFLOW: i32 = if Self::FRACTION == 23 { -150 } else { -1075 };
}
impl Division for F32 {}
impl Division for F64 {}

fn scaled<F: Format>(x: u64, by: i32) -> u64 {
    if is_nan::<F>(x) {
        return x | F::QUIET;
    }
    if is_infinite::<F>(x) {
        return x;
    }
    let mut value = Exact::of::<F>(x);
    value.exponent += by;
    round::<F>(value, Round::NearestEven, false)
}

fn div_scale<F: Division>(s0: u64, denominator: u64, numerator: u64) -> (u64, bool) {
    if is_zero::<F>(denominator) || is_zero::<F>(numerator) {
        return (F::DEFAULT_NAN, false);
    }
    let exponent = exponent_field::<F>;
    // "Denormal" includes what rounds to zero: half of the smallest denormal number must reach the
    // one rounding in `div_fmas` unharmed.
    let is_tiny =
        |a: u64, b: u64| F::host_div(a, b) & F::MAGNITUDE < F::MIN_NORMAL && !is_infinite::<F>(b);
    if exponent(numerator) - exponent(denominator) >= F::FAR {
        let value = if s0 == denominator {
            scaled::<F>(s0, F::STEP)
        } else {
            s0
        };
        return (value, true);
    }
    if is_denormal::<F>(denominator) {
        return (scaled::<F>(s0, F::STEP), false);
    }
    match (
        is_tiny(F::ONE, denominator),
        is_tiny(numerator, denominator),
    ) {
        (true, true) => {
            let value = if s0 == denominator {
                scaled::<F>(s0, -F::STEP)
            } else {
                s0
            };
            (value, true)
        }
        (true, false) => (scaled::<F>(s0, -F::STEP), false),
        (false, true) => {
            let value = if s0 == numerator {
                scaled::<F>(s0, F::STEP)
            } else {
                s0
            };
            (value, true)
        }
        (false, false) if exponent(numerator) <= F::SMALL => (scaled::<F>(s0, F::STEP), false),
        (false, false) => (s0, false),
    }
}

/// `v_div_scale_f32`: `s0` scaled for the division of `numerator` (S2) by `denominator` (S1), and
/// the VCC bit that tells `v_div_fmas_f32` to undo it. `s0` is one of the two others, compared by
/// its bits. If either of them is zero: the positive default NaN, and no VCC.
#[inline]
pub fn div_scale_f32(s0: u32, denominator: u32, numerator: u32) -> (u32, bool) {
    let (value, vcc) = div_scale::<F32>(s0.into(), denominator.into(), numerator.into());
    (value as u32, vcc)
}

/// `v_div_scale_f64`, see [`div_scale_f32`].
#[inline]
pub fn div_scale_f64(s0: u64, denominator: u64, numerator: u64) -> (u64, bool) {
    div_scale::<F64>(s0, denominator, numerator)
}

fn div_fmas<F: Division>(a: u64, b: u64, c: u64, vcc: bool, env: Env) -> u64 {
    if !vcc {
        return soft::fma::<F>(a, b, c, env.round, env.denorm.flush_dst);
    }
    let up = exponent_field::<F>(c) > F::BIAS;
    let scale = if up { F::STEP } else { -F::STEP };
    soft::fma_exactly::<F>(a, b, c, scale, env.round, env.denorm.flush_dst)
}

/// `v_div_fmas_f32`: `fma(a, b, c)`, and with `vcc` that times `2^64` if the exponent field of `c`
/// is above 127, else times `2^-64`; rounded once. Source denormals are never flushed, results by
/// `env`.
#[inline]
pub fn div_fmas_f32(a: u32, b: u32, c: u32, vcc: bool, env: Env) -> u32 {
    div_fmas::<F32>(a.into(), b.into(), c.into(), vcc, env) as u32
}

/// `v_div_fmas_f64`: as [`div_fmas_f32`] with `2^128` and 1023.
#[inline]
pub fn div_fmas_f64(a: u64, b: u64, c: u64, vcc: bool, env: Env) -> u64 {
    div_fmas::<F64>(a, b, c, vcc, env)
}

fn div_fixup<F: Format>(quotient: u64, denominator: u64, numerator: u64, least: i32) -> u64 {
    let signed = |magnitude: u64| copy_sign::<F>(magnitude, denominator ^ numerator);
    if is_nan::<F>(numerator) {
        return numerator | F::QUIET;
    }
    if is_nan::<F>(denominator) {
        return denominator | F::QUIET;
    }
    let both = |test: fn(u64) -> bool| test(numerator) && test(denominator);
    if both(is_zero::<F>) || both(is_infinite::<F>) {
        return F::SIGN | F::DEFAULT_NAN;
    }
    if is_zero::<F>(denominator) || is_infinite::<F>(numerator) {
        return signed(F::INFINITY);
    }
    if is_infinite::<F>(denominator) || is_zero::<F>(numerator) {
        return signed(0);
    }
    let distance = exponent_field::<F>(numerator) - exponent_field::<F>(denominator);
    if distance < least {
        return signed(0);
    }
    if is_nan::<F>(quotient) {
        return signed(F::INFINITY);
    }
    signed(quotient)
}

/// `v_div_fixup_f32`: the estimate `quotient` (S0) of `numerator / denominator` (S2 / S1) with the
/// right sign, or the result of a special case: a NaN numerator or denominator quieted; `0/0` and
/// `inf/inf` give `0xffc00000`; `x/0` and `inf/y` infinity; `x/inf`, `0/y` and exponents more than
/// 150 apart zero; a NaN estimate of finite operands is an overflow and gives infinity.
#[inline]
pub fn div_fixup_f32(quotient: u32, denominator: u32, numerator: u32) -> u32 {
    let (q, d, n) = (quotient.into(), denominator.into(), numerator.into());
    div_fixup::<F32>(q, d, n, F32::UNDERFLOW) as u32
}

/// `v_div_fixup_f64`: as [`div_fixup_f32`], with zero for exponents more than 1075 apart.
#[inline]
pub fn div_fixup_f64(quotient: u64, denominator: u64, numerator: u64) -> u64 {
    div_fixup::<F64>(quotient, denominator, numerator, F64::UNDERFLOW)
}

/// `v_div_fixup_f16`: as [`div_fixup_f32`], without a test of the exponents: the estimate comes
/// from f32, where nothing underflows.
#[inline]
pub fn div_fixup_f16(quotient: u16, denominator: u16, numerator: u16) -> u16 {
    let (q, d, n) = (quotient.into(), denominator.into(), numerator.into());
    div_fixup::<F16>(q, d, n, i32::MIN) as u16
}

#[cfg(test)]
mod tests;
