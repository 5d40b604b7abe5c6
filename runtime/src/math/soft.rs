//! Addition, subtraction, multiplication, fused multiply-add under every rounding direction;
//! division and square root to nearest.
//!
//! Results are rounded exactly once. To nearest even the host's own operation gives the answer
//! (f16 goes through f64, where double rounding is harmless: f64 has more than 2 * 11 + 2 bits,
//! and the sum of a fused f16 operation is inexact in f64 only where the addend outweighs the
//! product by 31 binary places, far from any tie); everything else takes the integer path of
//! `format.rs`. Both give the same bits, which the tests check.
//!
//! Special values are those of IEEE 754: `inf - inf`, `0 * inf`, `0 / 0`, `inf / inf` and the
//! root of a negative number are the positive default NaN, also in `fma(0, inf, c)` unless a
//! source is a NaN; an exact zero sum is `+0`, but `-0` when rounding down.

use super::format::{
    Exact, F16, F32, F64, Format, copy_sign, flush, is_infinite, is_nan, is_zero, nan_of, round,
};
use super::{Denorm, Env, Round};

/// A format with the host's operations to nearest even. NaN results may be any NaN.
pub(super) trait Host: Format {
    fn host_add(a: u64, b: u64) -> u64;
    fn host_mul(a: u64, b: u64) -> u64;
    fn host_fma(a: u64, b: u64, c: u64) -> u64;
    fn host_div(a: u64, b: u64) -> u64;
    fn host_sqrt(x: u64) -> u64;
}

fn single(x: u64) -> f32 {
    f32::from_bits(x as u32)
}

impl Host for F32 {
    #[inline]
    fn host_add(a: u64, b: u64) -> u64 {
        (single(a) + single(b)).to_bits().into()
    }
    #[inline]
    fn host_mul(a: u64, b: u64) -> u64 {
        (single(a) * single(b)).to_bits().into()
    }
    #[inline]
    fn host_fma(a: u64, b: u64, c: u64) -> u64 {
        single(a).mul_add(single(b), single(c)).to_bits().into()
    }
    #[inline]
    fn host_div(a: u64, b: u64) -> u64 {
        (single(a) / single(b)).to_bits().into()
    }
    #[inline]
    fn host_sqrt(x: u64) -> u64 {
        single(x).sqrt().to_bits().into()
    }
}

impl Host for F64 {
    #[inline]
    fn host_add(a: u64, b: u64) -> u64 {
        (f64::from_bits(a) + f64::from_bits(b)).to_bits()
    }
    #[inline]
    fn host_mul(a: u64, b: u64) -> u64 {
        (f64::from_bits(a) * f64::from_bits(b)).to_bits()
    }
    #[inline]
    fn host_fma(a: u64, b: u64, c: u64) -> u64 {
        f64::from_bits(a)
            .mul_add(f64::from_bits(b), f64::from_bits(c))
            .to_bits()
    }
    #[inline]
    fn host_div(a: u64, b: u64) -> u64 {
        (f64::from_bits(a) / f64::from_bits(b)).to_bits()
    }
    #[inline]
    fn host_sqrt(x: u64) -> u64 {
        f64::from_bits(x).sqrt().to_bits()
    }
}

impl Host for F16 {
    #[inline]
    fn host_add(a: u64, b: u64) -> u64 {
        narrow_f16(widen_f16(a as u16) + widen_f16(b as u16)).into()
    }
    #[inline]
    fn host_mul(a: u64, b: u64) -> u64 {
        narrow_f16(widen_f16(a as u16) * widen_f16(b as u16)).into()
    }
    #[inline]
    fn host_fma(a: u64, b: u64, c: u64) -> u64 {
        // The product is exact in f64, so this rounds to f64 once even without a fused operation.
        narrow_f16(widen_f16(a as u16) * widen_f16(b as u16) + widen_f16(c as u16)).into()
    }
    #[inline]
    fn host_div(a: u64, b: u64) -> u64 {
        narrow_f16(widen_f16(a as u16) / widen_f16(b as u16)).into()
    }
    #[inline]
    fn host_sqrt(x: u64) -> u64 {
        narrow_f16(widen_f16(x as u16).sqrt()).into()
    }
}

/// The exact f64 of an f16. A NaN stays a NaN.
#[inline]
pub(super) fn widen_f16(x: u16) -> f64 {
    let magnitude = u64::from(x & 0x7fff);
    let wide = match magnitude {
        0x7c00.. => (magnitude << 42) | 0x7ff0_0000_0000_0000,
        0x0400.. => (magnitude + (1008 << 10)) << 42,
        // A denormal number counts in units of 2^-24.
        _ => (magnitude as f64 * f64::from_bits(0x3e70_0000_0000_0000)).to_bits(),
    };
    f64::from_bits(wide | u64::from(x & 0x8000) << 48)
}

/// An f64 rounded to f16, to nearest even. A NaN becomes some NaN.
#[inline]
pub(super) fn narrow_f16(x: f64) -> u16 {
    const MIN_NORMAL: u64 = 0x3f10_0000_0000_0000; // 2^-14
    const ALIGN: u64 = 0x41b0_0000_0000_0000; // 2^28, where f64 counts in units of 2^-24
    let sign = (x.to_bits() >> 48) as u16 & 0x8000;
    let magnitude = x.to_bits() & F64::MAGNITUDE;
    if magnitude < MIN_NORMAL {
        let counted = f64::from_bits(magnitude) + f64::from_bits(ALIGN);
        return sign | (counted.to_bits() - ALIGN) as u16;
    }
    if magnitude > F64::INFINITY {
        return sign | 0x7e00;
    }
    let nearest = (magnitude + ((1 << 41) - 1) + (magnitude >> 42 & 1)) >> 42;
    sign | (nearest - (1008 << 10)).min(0x7c00) as u16
}

#[inline]
pub(super) fn add<F: Host>(a: u64, b: u64, rounding: Round) -> u64 {
    if rounding == Round::NearestEven {
        let sum = F::host_add(a, b);
        if !is_nan::<F>(sum) {
            return sum;
        }
    }
    add_exactly::<F>(a, b, rounding)
}

#[inline(never)]
pub(super) fn add_exactly<F: Format>(a: u64, b: u64, rounding: Round) -> u64 {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return nan_of::<F>(&[a, b]);
    }
    match (is_infinite::<F>(a), is_infinite::<F>(b)) {
        (true, true) if a != b => F::DEFAULT_NAN,
        (true, _) => a,
        (_, true) => b,
        _ => round::<F>(
            Exact::of::<F>(a).plus(Exact::of::<F>(b), rounding),
            rounding,
            false,
        ),
    }
}

#[inline]
pub(super) fn sub<F: Host>(a: u64, b: u64, rounding: Round) -> u64 {
    // A NaN keeps its sign: only numbers are negated.
    let negated = if is_nan::<F>(b) { b } else { b ^ F::SIGN };
    add::<F>(a, negated, rounding)
}

#[inline]
pub(super) fn mul<F: Host>(a: u64, b: u64, rounding: Round, flush_dst: bool) -> u64 {
    if rounding == Round::NearestEven {
        let product = F::host_mul(a, b);
        if let Some(result) = settle_tiny::<F>(product, flush_dst) {
            return result;
        }
    }
    mul_exactly::<F>(a, b, rounding, flush_dst)
}

/// A correctly rounded result with `flush_dst` applied, unless it is a NaN or lies exactly at the
/// border, where only the exact value tells whether it is tiny.
#[inline]
fn settle_tiny<F: Format>(result: u64, flush_dst: bool) -> Option<u64> {
    if is_nan::<F>(result) {
        return None;
    }
    if flush_dst && result & F::MAGNITUDE <= F::MIN_NORMAL {
        return if result & F::MAGNITUDE == F::MIN_NORMAL {
            None
        } else {
            Some(flush::<F>(result))
        };
    }
    Some(result)
}

#[inline(never)]
pub(super) fn mul_exactly<F: Format>(a: u64, b: u64, rounding: Round, flush_dst: bool) -> u64 {
    if is_nan::<F>(a) || is_nan::<F>(b) {
        return nan_of::<F>(&[a, b]);
    }
    if is_infinite::<F>(a) || is_infinite::<F>(b) {
        let undefined = is_zero::<F>(a) || is_zero::<F>(b);
        return if undefined {
            F::DEFAULT_NAN
        } else {
            copy_sign::<F>(F::INFINITY, a ^ b)
        };
    }
    round::<F>(
        Exact::of::<F>(a).times(Exact::of::<F>(b)),
        rounding,
        flush_dst,
    )
}

#[inline]
pub(super) fn fma<F: Host>(a: u64, b: u64, c: u64, rounding: Round, flush_dst: bool) -> u64 {
    if rounding == Round::NearestEven {
        let result = F::host_fma(a, b, c);
        if let Some(result) = settle_tiny::<F>(result, flush_dst) {
            return result;
        }
    }
    fma_exactly::<F>(a, b, c, 0, rounding, flush_dst)
}

/// `(a * b + c) * 2^scale`, rounded once.
#[inline(never)]
pub(super) fn fma_exactly<F: Format>(
    a: u64,
    b: u64,
    c: u64,
    scale: i32,
    rounding: Round,
    flush_dst: bool,
) -> u64 {
    if is_nan::<F>(a) || is_nan::<F>(b) || is_nan::<F>(c) {
        return nan_of::<F>(&[a, b, c]);
    }
    if is_infinite::<F>(a) || is_infinite::<F>(b) {
        let product = copy_sign::<F>(F::INFINITY, a ^ b);
        let undefined = is_zero::<F>(a) || is_zero::<F>(b) || (is_infinite::<F>(c) && c != product);
        return if undefined { F::DEFAULT_NAN } else { product };
    }
    if is_infinite::<F>(c) {
        return c;
    }
    let product = Exact::of::<F>(a).times(Exact::of::<F>(b));
    let mut sum = product.plus(Exact::of::<F>(c), rounding);
    sum.exponent += scale;
    round::<F>(sum, rounding, flush_dst)
}

/// The quotient to nearest even.
#[inline]
pub(super) fn div<F: Host>(a: u64, b: u64) -> u64 {
    let quotient = F::host_div(a, b);
    if is_nan::<F>(quotient) {
        nan_of::<F>(&[a, b])
    } else {
        quotient
    }
}

/// The square root to nearest even.
#[inline]
pub(super) fn root<F: Host>(x: u64) -> u64 {
    let root = F::host_sqrt(x);
    if is_nan::<F>(root) {
        nan_of::<F>(&[x])
    } else {
        root
    }
}

fn flush_sources<F: Format, const N: usize>(denorm: Denorm, sources: [u64; N]) -> [u64; N] {
    if denorm.flush_src {
        sources.map(flush::<F>)
    } else {
        sources
    }
}

/// Lists the public functions of one format.
macro_rules! operations {
    ($format:ty, $bits:ty, $name:literal, $add:ident, $sub:ident, $mul:ident, $fma:ident, $div:ident, $sqrt:ident,
     $add_env:ident, $sub_env:ident, $mul_env:ident, $fma_env:ident) => {
        #[doc = concat!("`a + b` in ", $name, ", rounded once; denormal numbers are kept.")]
        #[inline]
        pub fn $add(a: $bits, b: $bits, round: Round) -> $bits {
            add::<$format>(a.into(), b.into(), round) as $bits
        }

        #[doc = concat!("`a - b` in ", $name, ", rounded once; denormal numbers are kept. A NaN keeps its sign.")]
        #[inline]
        pub fn $sub(a: $bits, b: $bits, round: Round) -> $bits {
            sub::<$format>(a.into(), b.into(), round) as $bits
        }

        #[doc = concat!("`a * b` in ", $name, ", rounded once; denormal numbers are kept.")]
        #[inline]
        pub fn $mul(a: $bits, b: $bits, round: Round) -> $bits {
            mul::<$format>(a.into(), b.into(), round, false) as $bits
        }

        #[doc = concat!("`a * b + c` in ", $name, ", rounded once; denormal numbers are kept.")]
        #[inline]
        pub fn $fma(a: $bits, b: $bits, c: $bits, round: Round) -> $bits {
            fma::<$format>(a.into(), b.into(), c.into(), round, false) as $bits
        }

        #[doc = concat!("`a / b` in ", $name, ", rounded once to nearest even; denormal numbers are kept.")]
        #[inline]
        pub fn $div(a: $bits, b: $bits) -> $bits {
            div::<$format>(a.into(), b.into()) as $bits
        }

        #[doc = concat!("The IEEE square root in ", $name, ", rounded once to nearest even; denormal numbers are kept.")]
        /// The root of a negative number is the positive default NaN, of `-0` it is `-0`.
        #[inline]
        pub fn $sqrt(x: $bits) -> $bits {
            root::<$format>(x.into()) as $bits
        }

        #[doc = concat!("`a + b` in ", $name, " under MODE's rounding and denormal handling.")]
        #[inline]
        pub fn $add_env(a: $bits, b: $bits, env: Env) -> $bits {
            let [a, b] = flush_sources::<$format, 2>(env.denorm, [a.into(), b.into()]);
            let sum = add::<$format>(a, b, env.round);
            // A sum below the normal range is exact, so flushing after rounding is enough.
            (if env.denorm.flush_dst { flush::<$format>(sum) } else { sum }) as $bits
        }

        #[doc = concat!("`a - b` in ", $name, " under MODE's rounding and denormal handling. A NaN keeps its sign.")]
        #[inline]
        pub fn $sub_env(a: $bits, b: $bits, env: Env) -> $bits {
            let [a, b] = flush_sources::<$format, 2>(env.denorm, [a.into(), b.into()]);
            let difference = sub::<$format>(a, b, env.round);
            (if env.denorm.flush_dst { flush::<$format>(difference) } else { difference }) as $bits
        }

        #[doc = concat!("`a * b` in ", $name, " under MODE's rounding and denormal handling, see [`Denorm::flush_dst`].")]
        #[inline]
        pub fn $mul_env(a: $bits, b: $bits, env: Env) -> $bits {
            let [a, b] = flush_sources::<$format, 2>(env.denorm, [a.into(), b.into()]);
            mul::<$format>(a, b, env.round, env.denorm.flush_dst) as $bits
        }

        #[doc = concat!("`a * b + c` in ", $name, ", fused, under MODE's rounding and denormal handling, see [`Denorm::flush_dst`].")]
        #[inline]
        pub fn $fma_env(a: $bits, b: $bits, c: $bits, env: Env) -> $bits {
            let [a, b, c] = flush_sources::<$format, 3>(env.denorm, [a.into(), b.into(), c.into()]);
            fma::<$format>(a, b, c, env.round, env.denorm.flush_dst) as $bits
        }
    };
}

#[rustfmt::skip]
operations!(F16, u16, "f16", add_f16, sub_f16, mul_f16, fma_f16, div_rne_f16, sqrt_rne_f16,
    add_f16_flush, sub_f16_flush, mul_f16_flush, fma_f16_flush);
#[rustfmt::skip]
operations!(F32, u32, "f32", add_f32, sub_f32, mul_f32, fma_f32, div_rne_f32, sqrt_rne_f32,
    add_f32_flush, sub_f32_flush, mul_f32_flush, fma_f32_flush);
#[rustfmt::skip]
operations!(F64, u64, "f64", add_f64, sub_f64, mul_f64, fma_f64, div_rne_f64, sqrt_rne_f64,
    add_f64_flush, sub_f64_flush, mul_f64_flush, fma_f64_flush);

/// The effect of MODE.FP16_OVFL (gfx9) on an f16 result: an infinity from overflow becomes the
/// largest finite number, a true infinity (from an infinite source, or a division by zero) is kept.
/// Vega ISA, table 4.
#[inline]
pub fn clamp_overflow_f16(result: u16, true_infinity: bool) -> u16 {
    if result & 0x7fff == 0x7c00 && !true_infinity {
        result - 1
    } else {
        result
    }
}

#[cfg(test)]
mod tests;
