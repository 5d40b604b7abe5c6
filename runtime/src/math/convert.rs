//! Conversions between the float formats and from integers to floats.
//!
//! A NaN keeps its sign and the top bits of its payload and becomes quiet; infinities and zeros
//! keep their sign. Converting a float to an integer is not here: each engine writes its own.

use super::format::{Exact, F16, F32, F64, Format, is_infinite, is_nan, round};
use super::soft::narrow_f16;
use super::{Denorm, Round};

fn convert<From: Format, To: Format>(x: u64, rounding: Round, flush_dst: bool) -> u64 {
    let sign = if x & From::SIGN != 0 { To::SIGN } else { 0 };
    if is_nan::<From>(x) {
        let payload = x & (From::QUIET - 1);
        let payload = if From::FRACTION >= To::FRACTION {
            payload >> (From::FRACTION - To::FRACTION)
        } else {
            payload << (To::FRACTION - From::FRACTION)
        };
        return sign | To::DEFAULT_NAN | payload;
    }
    if is_infinite::<From>(x) {
        return sign | To::INFINITY;
    }
    round::<To>(Exact::of::<From>(x), rounding, flush_dst)
}

/// `v_cvt_f32_f16`: exact. Denormal f16 sources become zero with `flush_src` (the f16/f64 part of
/// MODE); no result is a denormal f32.
#[inline]
pub fn f16_to_f32(x: u16, flush_src: bool) -> u32 {
    let magnitude = u32::from(x & 0x7fff);
    let sign = u32::from(x & 0x8000) << 16;
    let wide = match magnitude {
        0x7c01.. => 0x7fc0_0000 | magnitude << 13,
        0x7c00 => 0x7f80_0000,
        0x0400.. => (magnitude + (112 << 10)) << 13,
        _ if flush_src => 0,
        // A denormal number counts in units of 2^-24.
        _ => (magnitude as f32 * f32::from_bits(0x3380_0000)).to_bits(),
    };
    sign | wide
}

/// How an f32 (or f64) becomes an f16.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct ToHalf {
    /// The rounding direction: of the f16/f64 part of MODE.
    pub round: Round,
    /// Denormal sources are read as zero: by the f32 part of MODE.
    pub flush_src: bool,
    /// Denormal f16 results are written as zero, see [`Denorm::flush_dst`]: by the f16/f64 part.
    pub flush_dst: bool,
    /// MODE.FP16_OVFL: a finite source that overflows gives 65504 in place of infinity.
    pub clamp_overflow: bool,
}

/// `v_cvt_f16_f32`, and the conversion step of the MIX instructions.
#[inline]
pub fn f32_to_f16(x: u32, how: ToHalf) -> u16 {
    let x = if how.flush_src {
        super::flush_f32(x)
    } else {
        x
    };
    if how.round == Round::NearestEven && !how.flush_dst && x & 0x7fff_ffff < 0x7f80_0000 {
        // Widening to f64 is exact, so this is one rounding.
        let half = narrow_f16(f32::from_bits(x).into());
        return super::clamp_overflow_f16(half, !how.clamp_overflow);
    }
    let half = convert::<F32, F16>(x.into(), how.round, how.flush_dst) as u16;
    super::clamp_overflow_f16(half, !how.clamp_overflow || is_infinite::<F32>(x.into()))
}

/// f64 to f16 in one rounding. No instruction does this; sums of exact f16 products need it.
#[inline]
pub fn f64_to_f16(x: u64, how: ToHalf) -> u16 {
    let x = if how.flush_src {
        super::flush_f64(x)
    } else {
        x
    };
    let half = convert::<F64, F16>(x, how.round, how.flush_dst) as u16;
    super::clamp_overflow_f16(half, !how.clamp_overflow || is_infinite::<F64>(x))
}

/// `v_cvt_pkrtz_f16_f32`: `a` in the low half, `b` in the high half, both rounded towards zero
/// regardless of MODE, so that a finite source never becomes an infinity. `denorm` controls
/// denormal sources (f32) and results (f16).
#[inline]
pub fn pkrtz_f16_f32(a: u32, b: u32, denorm: Denorm) -> u32 {
    let how = ToHalf {
        round: Round::Zero,
        flush_src: denorm.flush_src,
        flush_dst: denorm.flush_dst,
        clamp_overflow: false,
    };
    u32::from(f32_to_f16(a, how)) | u32::from(f32_to_f16(b, how)) << 16
}

/// `v_cvt_f32_f64`: rounds by the f32 direction; `flush_src` is of the f64 part of MODE,
/// `flush_dst` of the f32 part.
#[inline]
pub fn f64_to_f32(x: u64, rounding: Round, denorm: Denorm) -> u32 {
    let x = denorm.src_f64(x);
    if rounding == Round::NearestEven && !denorm.flush_dst && !is_nan::<F64>(x) {
        return (f64::from_bits(x) as f32).to_bits();
    }
    convert::<F64, F32>(x, rounding, denorm.flush_dst) as u32
}

/// `v_cvt_f64_f32`: exact. Denormal f32 sources become zero with `flush_src`.
#[inline]
pub fn f32_to_f64(x: u32, flush_src: bool) -> u64 {
    let x = if flush_src { super::flush_f32(x) } else { x };
    if is_nan::<F32>(x.into()) {
        return convert::<F32, F64>(x.into(), Round::NearestEven, false);
    }
    f64::from(f32::from_bits(x)).to_bits()
}

fn from_integer<F: Format>(negative: bool, magnitude: u32, rounding: Round) -> u64 {
    let value = Exact {
        negative,
        significand: magnitude.into(),
        exponent: 0,
    };
    round::<F>(value, rounding, false)
}

/// `v_cvt_f32_u32`.
#[inline]
pub fn u32_to_f32(x: u32, round: Round) -> u32 {
    match round {
        Round::NearestEven => (x as f32).to_bits(),
        _ => from_integer::<F32>(false, x, round) as u32,
    }
}

/// `v_cvt_f32_i32`. Zero is `+0`.
#[inline]
pub fn i32_to_f32(x: i32, round: Round) -> u32 {
    match round {
        Round::NearestEven => (x as f32).to_bits(),
        _ => from_integer::<F32>(x < 0, x.unsigned_abs(), round) as u32,
    }
}

/// `v_cvt_f64_u32`: exact.
#[inline]
pub fn u32_to_f64(x: u32) -> u64 {
    f64::from(x).to_bits()
}

/// `v_cvt_f64_i32`: exact.
#[inline]
pub fn i32_to_f64(x: i32) -> u64 {
    f64::from(x).to_bits()
}

/// `v_cvt_f16_u16`. From 65520 on, the nearest f16 is infinity; with `clamp_overflow`
/// (MODE.FP16_OVFL) it is 65504.
#[inline]
pub fn u16_to_f16(x: u16, round: Round, clamp_overflow: bool) -> u16 {
    let half = match round {
        Round::NearestEven => narrow_f16(x.into()),
        _ => from_integer::<F16>(false, x.into(), round) as u16,
    };
    super::clamp_overflow_f16(half, !clamp_overflow)
}

/// `v_cvt_f16_i16`. Nothing overflows; zero is `+0`.
#[inline]
pub fn i16_to_f16(x: i16, round: Round) -> u16 {
    match round {
        Round::NearestEven => narrow_f16(x.into()),
        _ => from_integer::<F16>(x < 0, x.unsigned_abs().into(), round) as u16,
    }
}

#[cfg(test)]
mod tests;
