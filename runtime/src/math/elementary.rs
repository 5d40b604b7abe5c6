//! `v_exp`, `v_log`, `v_sin`, `v_cos`, correctly rounded to nearest even regardless of MODE.
//!
//! Each function is a short polynomial in f64, evaluated with plain `+ - * /` in a fixed order, so
//! that every host computes the same bits and a compiler may vectorise over lanes. The f64 value
//! has an error below three of its last places; one rounding to f32 or f16 then gives the correctly
//! rounded result unless the exact one is that close to a midpoint of two numbers. An exhaustive
//! search over f32 arguments found two such cases, of `exp`, which are listed; the test
//! `every_f32_argument` repeats the search.
//!
//! The polynomials are interpolations at Chebyshev nodes, computed with 60 digits. The f32 forms of
//! `exp` and `log` flush denormal sources and results regardless of MODE; `sin` and `cos` keep
//! denormal sources (Vega ISA: "denormals are supported"), and so do all f16 forms.

use super::flush_f32;
use super::format::{F16, F32, Format};
use super::reciprocal::no_root;
use super::soft::{narrow_f16, widen_f16};
use std::f64::consts::{LN_2, TAU};

/// 1.5 * 2^52: adding it rounds a number below 2^51 to an integer, to be found in the low bits.
const ALIGN: f64 = 6_755_399_441_055_744.0;

/// `2^x` for `|x|` below 1000, with a relative error below 2^-51.
#[inline(always)]
pub(crate) fn exp2(x: f64) -> f64 {
    let aligned = x + ALIGN;
    let integer = aligned.to_bits().wrapping_sub(ALIGN.to_bits());
    let f = x - (aligned - ALIGN);
    // (2^f - 1) / f for |f| <= 1/2, to 2^-55.
    let f2 = f * f;
    let f4 = f2 * f2;
    let low =
        (LN_2 + f * 0.24022650695910097) + f2 * (0.0555041086648216 + f * 0.009618129107606888);
    let middle = (0.0013333558146416936 + f * 0.0001540353044173605)
        + f2 * (1.525273382983612e-05 + f * 1.321544258792169e-06);
    let high = (1.0178062445845774e-07 + f * 7.072585949269223e-09) + f2 * 4.4549605981865186e-10;
    let power = 1.0 + f * (low + f4 * (middle + f4 * high));
    f64::from_bits(power.to_bits().wrapping_add(integer << 52))
}

/// `log2(x)` for positive normal `x`, with a relative error below 2^-51.
#[inline]
fn log2(x: f64) -> f64 {
    let (whole, fraction) = log2_parts(x);
    whole + fraction
}

/// The whole number next to `log2(x)`, and the rest.
#[inline]
fn log2_parts(x: f64) -> (f64, f64) {
    // x = m * 2^e with m from sqrt(1/2) to sqrt(2).
    const ROOT_HALF: i64 = 0x3fe6_a09e_667f_3bcd;
    let e = (x.to_bits() as i64 - ROOT_HALF) >> 52;
    let m = f64::from_bits(x.to_bits().wrapping_sub((e << 52) as u64));
    (e as f64, log2_near_one(m))
}

/// `log2(m)` for `m` from the root of 1/2 to that of 2.
#[inline(always)]
fn log2_near_one(m: f64) -> f64 {
    // log2(m) = s * L(s^2) with s = (m - 1) / (m + 1), to 2^-59.
    let s = (m - 1.0) / (m + 1.0);
    let z = s * s;
    let z2 = z * z;
    let low = (2.8853900817779268 + z * 0.9617966939259898)
        + z2 * (0.577078016345514 + z * 0.4121985858422942);
    let high = (0.3205985347650481 + z * 0.26233436060329546)
        + z2 * (0.22091286734180157 + z * 0.21366122502798326);
    s * (low + z2 * z2 * high)
}

/// `log2(x)` for the positive normal f32 of these bits: the bits of `log2` of the same number, found with
/// 32-bit integers only.
#[inline(always)]
#[cfg(feature = "jit")]
pub(crate) fn log2_of_bits(x: u32) -> f64 {
    // The first f32 above the root of 1/2.
    const ROOT_HALF: u32 = 0x3f35_04f4;
    let e = (x.wrapping_sub(ROOT_HALF) as i32) >> 23;
    let m = f32::from_bits(x.wrapping_sub((e << 23) as u32));
    f64::from(e) + log2_near_one(m.into())
}

/// The sine of `2 pi r` for `|r| <= 1/8`, with a relative error below 2^-51.
#[inline(always)]
fn sin_eighth(r: f64) -> f64 {
    let z = r * r;
    let z2 = z * z;
    let low = (TAU + z * -41.341702240399634) + z2 * (81.60524927594804 + z * -76.70585970427454);
    let high = (42.058685020160894 + z * -15.093804209987114) + z2 * 3.7808689593022957;
    r * (low + z2 * z2 * high)
}

/// The cosine of `2 pi r` for `|r| <= 1/8`, with a relative error below 2^-51.
#[inline(always)]
fn cos_eighth(r: f64) -> f64 {
    let z = r * r;
    let z2 = z * z;
    let low = (-19.739208802178716 + z * 64.93939402266824)
        + z2 * (-85.4568172066438 + z * 60.24464135270201);
    let high = (-26.426253275854723 + z * 7.903206911569678) + z2 * -1.6990343940660637;
    1.0 + z * (low + z2 * z2 * high)
}

/// The sine of `2 pi (x + quarters / 4)` for finite `x`. Exact at all quarters, where a zero is `+0`.
#[inline(always)]
pub(crate) fn sin_turns(x: f64, quarters: u64) -> f64 {
    // From 2^24 on an f32 is a whole number of turns.
    let x = if x.abs() < 16_777_216.0 { x } else { 0.0 };
    let aligned = x * 4.0 + ALIGN;
    let quadrant = aligned.to_bits().wrapping_add(quarters);
    let r = x - (aligned - ALIGN) * 0.25;
    let value = if quadrant & 1 == 0 {
        sin_eighth(r)
    } else {
        cos_eighth(r)
    };
    // Adding +0 makes -0 into +0.
    (if quadrant & 2 == 0 { value } else { -value }) + 0.0
}

/// `v_exp_f32`, `v_exp_legacy_f32`: `2^x`. Results below `2^-126` are 0, denormal sources give 1;
/// `2^-inf` is 0. Vega ISA, VOP1 32.
#[inline]
pub fn exp_f32(x: u32) -> u32 {
    if x & 0x7fff_ffff > 0x7f80_0000 {
        return x | 0x0040_0000;
    }
    let value = f32::from_bits(x);
    if value < -126.0 {
        return 0;
    }
    match x {
        // Here the f64 value is the middle itself and the true one lies above it.
        0x3b42_9d37 => 0x3f80_4385,
        0xbcf3_a937 => 0x3f7a_c6b1,
        _ => (exp2(f64::from(value.min(200.0))) as f32).to_bits(),
    }
}

/// `v_exp_f16`: `2^x`. Denormal results are kept.
#[inline]
pub fn exp_f16(x: u16) -> u16 {
    if x & 0x7fff > 0x7c00 {
        return x | 0x0200;
    }
    narrow_f16(exp2(widen_f16(x).clamp(-200.0, 200.0)))
}

/// `v_log_f32`, `v_log_legacy_f32`: the logarithm to base 2. Numbers below zero give `0xffc00000`,
/// zeros and denormal sources `-infinity`. Vega ISA, VOP1 33.
#[inline]
pub fn log_f32(x: u32) -> u32 {
    let x = flush_f32(x);
    if let Some(result) = no_root::<F32>(x.into()) {
        return result as u32;
    }
    match x {
        0 | 0x8000_0000 => 0xff80_0000,
        0x7f80_0000 => x,
        _ => (log2(f32::from_bits(x).into()) as f32).to_bits(),
    }
}

/// `v_log_f16`: the logarithm to base 2. Denormal sources are numbers like others.
#[inline]
pub fn log_f16(x: u16) -> u16 {
    if let Some(result) = no_root::<F16>(x.into()) {
        return result as u16;
    }
    match x {
        0 | 0x8000 => 0xfc00,
        0x7c00 => x,
        _ => narrow_f16(log2(widen_f16(x))),
    }
}

/// `v_log_clamp_f32` (gfx6, gfx7): [`log_f32`] with infinities clamped to the largest number.
#[inline]
pub fn log_clamp_f32(x: u32) -> u32 {
    let result = log_f32(x);
    if result & 0x7fff_ffff == 0x7f80_0000 {
        result - 1
    } else {
        result
    }
}

/// For which arguments `v_sin` and `v_cos` work.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum TrigRange {
    /// gfx6 to gfx8: from -256 to 256 turns. Beyond, the sine is `+0` and the cosine 1, as the GCN3
    /// ISA says. (Compilers put a `v_fract` before.)
    Reduced,
    /// gfx9: all finite numbers.
    Full,
}

/// Sine (0 quarters) or cosine (1 quarter) of an f32.
#[inline]
fn turns_f32(x: u32, range: TrigRange, quarters: u64) -> u32 {
    let magnitude = x & F32::MAGNITUDE as u32;
    if magnitude >= F32::INFINITY as u32 {
        return if magnitude > F32::INFINITY as u32 {
            x | 0x0040_0000
        } else {
            0xffc0_0000
        };
    }
    if magnitude == 0 && quarters == 0 {
        return x;
    }
    let value = f64::from(f32::from_bits(x));
    let inside = range == TrigRange::Full || value.abs() <= 256.0;
    let value = if inside { value } else { 0.0 };
    (sin_turns(value, quarters) as f32).to_bits()
}

/// Sine (0 quarters) or cosine (1 quarter) of an f16.
#[inline]
fn turns_f16(x: u16, range: TrigRange, quarters: u64) -> u16 {
    let magnitude = x & 0x7fff;
    if magnitude >= 0x7c00 {
        return if magnitude > 0x7c00 {
            x | 0x0200
        } else {
            0xfe00
        };
    }
    if magnitude == 0 && quarters == 0 {
        return x;
    }
    let value = widen_f16(x);
    let inside = range == TrigRange::Full || value.abs() <= 256.0;
    narrow_f16(sin_turns(if inside { value } else { 0.0 }, quarters))
}

/// `v_sin_f32`: the sine of `2 pi x`. Exact at quarter turns: `sin(±0)` is `±0`, every other
/// multiple of a half is `+0`. Infinities give `0xffc00000`. Vega ISA, VOP1 41.
#[inline]
pub fn sin_f32(x: u32, range: TrigRange) -> u32 {
    turns_f32(x, range, 0)
}

/// `v_cos_f32`: the cosine of `2 pi x`. Exact at quarter turns, zeros are `+0`. Infinities give
/// `0xffc00000`. Vega ISA, VOP1 42.
#[inline]
pub fn cos_f32(x: u32, range: TrigRange) -> u32 {
    turns_f32(x, range, 1)
}

/// `v_sin_f16`, see [`sin_f32`]; infinities give `0xfe00`.
#[inline]
pub fn sin_f16(x: u16, range: TrigRange) -> u16 {
    turns_f16(x, range, 0)
}

/// `v_cos_f16`, see [`cos_f32`]; infinities give `0xfe00`.
#[inline]
pub fn cos_f16(x: u16, range: TrigRange) -> u16 {
    turns_f16(x, range, 1)
}

#[cfg(test)]
mod tests;
