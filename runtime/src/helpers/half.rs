//! f16 functions of one lane, and of two f16 in a word. The hard ones are in [`crate::math`].

use frontend::state::mode;

use super::float::{GFX9, KEEP_SUM, class_of_half, normalised, trig_range};
use crate::math::{self, Denorm, Env, Round, ToHalf};

/// f16's part of MODE.
#[inline(always)]
fn env(mode: u32) -> Env {
    Env::f16_f64_of_mode(mode)
}

#[inline(always)]
fn is_inf(x: u16) -> bool {
    x & 0x7fff == 0x7c00
}

#[inline(always)]
fn is_nan(x: u16) -> bool {
    x & 0x7fff > 0x7c00
}

/// MODE.FP16_OVFL: overflow gives the largest number, infinite sources stay infinite.
#[inline(always)]
fn overflow(d: u16, mode: u32, sources: &[u16]) -> u16 {
    if mode & mode::FP16_OVFL == 0 {
        return d;
    }
    math::clamp_overflow_f16(d, sources.iter().any(|&x| is_inf(x)))
}

// ---- arithmetic on one f16

#[inline(always)]
fn add1(a: u16, b: u16, mode: u32) -> u16 {
    overflow(math::add_f16_flush(a, b, env(mode)), mode, &[a, b])
}

#[inline(always)]
fn mul1(a: u16, b: u16, mode: u32) -> u16 {
    overflow(math::mul_f16_flush(a, b, env(mode)), mode, &[a, b])
}

#[inline(always)]
fn fma1(a: u16, b: u16, c: u16, mode: u32) -> u16 {
    overflow(math::fma_f16_flush(a, b, c, env(mode)), mode, &[a, b, c])
}

#[inline(always)]
pub(super) fn add([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    [u32::from(add1(a as u16, b as u16, mode))]
}

#[inline(always)]
pub(super) fn sub([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    let (a, b) = (a as u16, b as u16);
    let d = math::sub_f16_flush(a, b, env(mode));
    [u32::from(overflow(d, mode, &[a, b]))]
}

#[inline(always)]
pub(super) fn mul([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    [u32::from(mul1(a as u16, b as u16, mode))]
}

#[inline(always)]
pub(super) fn fma([a, b, c]: [u32; 3], mode: u32) -> [u32; 1] {
    [u32::from(fma1(a as u16, b as u16, c as u16, mode))]
}

#[inline(always)]
pub(super) fn mad([a, b, c]: [u32; 3], mode: u32) -> [u32; 1] {
    let (a, b, c) = (a as u16, b as u16, c as u16);
    let env = Env {
        denorm: Denorm::FLUSH,
        ..env(mode)
    };
    if is_nan(c) && !is_nan(a) && !is_nan(b) {
        // The addend is the first NaN source, regardless of the product.
        return [u32::from(c | 1 << 9)];
    }
    let product = overflow(math::mul_f16_flush(a, b, env), mode, &[a, b]);
    let flush_dst = mode & KEEP_SUM == 0;
    let denorm = Denorm {
        flush_dst,
        ..Denorm::FLUSH
    };
    let sum = math::add_f16_flush(product, c, Env { denorm, ..env });
    [u32::from(overflow(sum, mode, &[product, c]))]
}

// ---- minimum, maximum, median

/// An integer that orders numbers, -0 below +0.
#[inline(always)]
fn order(x: u16) -> i16 {
    (x ^ ((x as i16 >> 15) as u16 >> 1)) as i16
}

/// The smaller (larger) by the manual's rules.
#[inline(always)]
fn lesser(min: bool, ieee: bool, a: u16, b: u16) -> u16 {
    const QUIET: u16 = 1 << 9;
    let signalling = |x: u16| ieee && is_nan(x) && x & QUIET == 0;
    if signalling(a) {
        a | QUIET
    } else if signalling(b) {
        b | QUIET
    } else if is_nan(a) {
        b
    } else if is_nan(b) || (order(a) < order(b)) == min {
        a
    } else {
        b
    }
}

/// Denormals that MODE flushes in these instructions; none before gfx9.
#[inline(always)]
fn min_max_denorm(imm: u32) -> Denorm {
    if imm & GFX9 != 0 {
        env(imm).denorm
    } else {
        Denorm::KEEP
    }
}

#[inline(always)]
fn min_max(min: bool, a: u16, b: u16, imm: u32) -> u16 {
    let denorm = min_max_denorm(imm);
    let ieee = imm & mode::IEEE != 0;
    denorm.dst_f16(lesser(min, ieee, denorm.src_f16(a), denorm.src_f16(b)))
}

#[inline(always)]
pub(super) fn min([a, b]: [u32; 2], imm: u32) -> [u32; 1] {
    [u32::from(min_max(true, a as u16, b as u16, imm))]
}

#[inline(always)]
pub(super) fn max([a, b]: [u32; 2], imm: u32) -> [u32; 1] {
    [u32::from(min_max(false, a as u16, b as u16, imm))]
}

#[inline(always)]
pub(super) fn med3(args: [u32; 3], imm: u32) -> [u32; 1] {
    let denorm = min_max_denorm(imm);
    let ieee = imm & mode::IEEE != 0;
    let [a, b, c] = args.map(|x| denorm.src_f16(x as u16));
    let min = |x, y| lesser(true, ieee, x, y);
    let max = |x, y| lesser(false, ieee, x, y);
    let d = if is_nan(a) || is_nan(b) || is_nan(c) {
        min(min(a, b), c)
    } else {
        // The manual compares with the largest numerically: zeros of either sign are equal.
        let largest = max(max(a, b), c);
        let equal = |x: u16| largest == x || (largest | x) & 0x7fff == 0;
        if equal(a) {
            max(b, c)
        } else if equal(b) {
            max(a, c)
        } else {
            max(a, b)
        }
    };
    [u32::from(denorm.dst_f16(d))]
}

// ---- functions

/// A function of one f16 with source and result flushed by MODE. Infinities that are not an
/// overflow of a finite result are kept: those of infinite sources and at poles, where the source
/// is 0.
#[inline(always)]
fn by_mode(a: u32, mode: u32, f: impl Fn(u16) -> u16) -> [u32; 1] {
    let denorm = env(mode).denorm;
    let x = denorm.src_f16(a as u16);
    let d = denorm.dst_f16(f(x));
    if x & 0x7fff == 0 {
        return [u32::from(d)];
    }
    [u32::from(overflow(d, mode, &[x]))]
}

/// Lists functions of one f16.
macro_rules! functions {
    ($($name:ident: $f:ident)*) => {
        $(#[inline(always)]
        pub(super) fn $name([a]: [u32; 1], mode: u32) -> [u32; 1] {
            by_mode(a, mode, math::$f)
        })*
    };
}
functions! {
    exp: exp_f16
    log: log_f16
    rcp: rcp_f16
    rsq: rsq_f16
    sqrt: sqrt_f16
    frexp_mant: frexp_mant_f16
}

#[inline(always)]
pub(super) fn sin([a]: [u32; 1], imm: u32) -> [u32; 1] {
    by_mode(a, imm, |x| math::sin_f16(x, trig_range(imm)))
}

#[inline(always)]
pub(super) fn cos([a]: [u32; 1], imm: u32) -> [u32; 1] {
    by_mode(a, imm, |x| math::cos_f16(x, trig_range(imm)))
}

/// An f16 as a number, flushed as MODE says; NaNs are left to the caller.
#[inline(always)]
fn number(x: u16, mode: u32) -> f32 {
    f32::from_bits(math::f16_to_f32(x, env(mode).denorm.flush_src))
}

/// A function of numbers whose result is an f16, or a NaN quieted.
#[inline(always)]
fn through_f32(a: u32, mode: u32, f: impl Fn(f32) -> f32) -> u16 {
    let x = a as u16;
    if is_nan(x) {
        return x | 1 << 9;
    }
    let how = ToHalf {
        round: Round::NearestEven,
        ..ToHalf::default()
    };
    math::f32_to_f16(f(number(x, mode)).to_bits(), how)
}

#[inline(always)]
pub(super) fn floor([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(through_f32(a, mode, f32::floor))]
}

#[inline(always)]
pub(super) fn ceil([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(through_f32(a, mode, f32::ceil))]
}

#[inline(always)]
pub(super) fn trunc([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(through_f32(a, mode, f32::trunc))]
}

#[inline(always)]
pub(super) fn rndne([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(through_f32(a, mode, f32::round_ties_even))]
}

#[inline(always)]
pub(super) fn fract([a]: [u32; 1], mode: u32) -> [u32; 1] {
    let x = a as u16;
    if is_nan(x) {
        return [u32::from(x | 1 << 9)];
    }
    if is_inf(x) {
        return [0x7e00];
    }
    // Exact in f32; then one rounding, kept below 1.
    let x = number(x, mode);
    let how = ToHalf {
        round: env(mode).round,
        flush_dst: env(mode).denorm.flush_dst,
        ..ToHalf::default()
    };
    let part = x - x.floor();
    if part == 0.0 {
        // A difference of equal numbers is -0 when rounding down.
        let sign = u32::from(how.round == Round::Down) << 15;
        return [sign];
    }
    let d = math::f32_to_f16(part.to_bits(), how);
    [u32::from(d.min(0x3bff))]
}

#[inline(always)]
pub(super) fn ldexp([a, n]: [u32; 2], mode: u32) -> [u32; 1] {
    let a = a as u16;
    let d = math::ldexp_f16(a, n as i16, env(mode));
    [u32::from(overflow(d, mode, &[a]))]
}

#[inline(always)]
pub(super) fn frexp_exp([a]: [u32; 1], mode: u32) -> [u32; 1] {
    let x = env(mode).denorm.src_f16(a as u16);
    [math::frexp_exp_f16(x) as u32 & 0xffff]
}

#[inline(always)]
pub(super) fn div_fixup([q, d, n]: [u32; 3], _: u32) -> [u32; 1] {
    [u32::from(math::div_fixup_f16(q as u16, d as u16, n as u16))]
}

#[inline(always)]
pub(super) fn class([x, mask]: [u32; 2], _: u32) -> [u32; 1] {
    [u32::from(class_of_half(x as u16, mask))]
}

// ---- output modifiers

#[inline(always)]
pub(super) fn omod([a]: [u32; 1], imm: u32) -> [u32; 1] {
    let factor = match imm >> 28 & 3 {
        1 => 0x4000,
        2 => 0x4400,
        3 => 0x3800,
        _ => 0x3c00,
    };
    // Denormal results of the operation are multiplied first, then flushed.
    let denorm = Denorm {
        flush_src: false,
        flush_dst: true,
    };
    let env = Env { denorm, ..env(imm) };
    let d = overflow(math::mul_f16_flush(a as u16, factor, env), imm, &[a as u16]);
    // -0 becomes +0.
    [if d == 0x8000 { 0 } else { u32::from(d) }]
}

#[inline(always)]
fn clamp1(x: u16, mode: u32) -> u16 {
    if is_nan(x) {
        return if mode & mode::DX10_CLAMP != 0 { 0 } else { x };
    }
    if x & 0x8000 != 0 { 0 } else { x.min(0x3c00) }
}

#[inline(always)]
pub(super) fn clamp([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(clamp1(a as u16, mode))]
}

// ---- conversions

/// How `v_cvt_f16_f32` converts.
#[inline(always)]
fn to_half(mode: u32) -> ToHalf {
    ToHalf {
        round: env(mode).round,
        flush_src: Env::f32_of_mode(mode).denorm.flush_src,
        flush_dst: env(mode).denorm.flush_dst,
        clamp_overflow: mode & mode::FP16_OVFL != 0,
    }
}

#[inline(always)]
pub(super) fn cvt_f16_f32([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(math::f32_to_f16(a, to_half(mode)))]
}

#[inline(always)]
pub(super) fn narrow_flush([a]: [u32; 1], mode: u32) -> [u32; 1] {
    let how = ToHalf {
        flush_src: true,
        flush_dst: true,
        ..to_half(mode)
    };
    [u32::from(math::f32_to_f16(a, how))]
}

#[inline(always)]
pub(super) fn cvt_f32_f16([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [math::f16_to_f32(a as u16, env(mode).denorm.flush_src)]
}

#[inline(always)]
pub(super) fn widen([a]: [u32; 1], _: u32) -> [u32; 1] {
    [math::f16_to_f32(a as u16, false)]
}

#[inline(always)]
pub(super) fn widen_flush([a]: [u32; 1], _: u32) -> [u32; 1] {
    [math::f16_to_f32(a as u16, true)]
}

#[inline(always)]
pub(super) fn cvt_f16_u16([a]: [u32; 1], mode: u32) -> [u32; 1] {
    let clamp = mode & mode::FP16_OVFL != 0;
    [u32::from(math::u16_to_f16(
        a as u16,
        env(mode).round,
        clamp,
    ))]
}

#[inline(always)]
pub(super) fn cvt_f16_i16([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [u32::from(math::i16_to_f16(a as i16, env(mode).round))]
}

#[inline(always)]
pub(super) fn cvt_u16_f16([a]: [u32; 1], _: u32) -> [u32; 1] {
    // The conversion truncates and saturates, NaN gives 0.
    [u32::from(
        f32::from_bits(math::f16_to_f32(a as u16, false)) as u16
    )]
}

#[inline(always)]
pub(super) fn cvt_i16_f16([a]: [u32; 1], _: u32) -> [u32; 1] {
    [f32::from_bits(math::f16_to_f32(a as u16, false)) as i16 as u32]
}

#[inline(always)]
pub(super) fn norm_i16([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [normalised(number(a as u16, mode), 32767.0, -32767.0) as u32 & 0xffff]
}

#[inline(always)]
pub(super) fn norm_u16([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [normalised(number(a as u16, mode), 65535.0, 0.0) as u32]
}

#[inline(always)]
pub(super) fn pk_rtz([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    let denorm = Denorm {
        flush_src: Env::f32_of_mode(mode).denorm.flush_src,
        flush_dst: env(mode).denorm.flush_dst,
    };
    [math::pkrtz_f16_f32(a, b, denorm)]
}

// ---- two f16 in a word

/// Low and high half through the same function.
#[inline(always)]
fn pair<const A: usize>(args: [u32; A], f: impl Fn([u16; A]) -> u16) -> [u32; 1] {
    let lo = f(args.map(|x| x as u16));
    let hi = f(args.map(|x| (x >> 16) as u16));
    [u32::from(lo) | u32::from(hi) << 16]
}

#[inline(always)]
pub(super) fn pk_add(args: [u32; 2], mode: u32) -> [u32; 1] {
    pair(args, |[a, b]| add1(a, b, mode))
}

#[inline(always)]
pub(super) fn pk_mul(args: [u32; 2], mode: u32) -> [u32; 1] {
    pair(args, |[a, b]| mul1(a, b, mode))
}

#[inline(always)]
pub(super) fn pk_fma(args: [u32; 3], mode: u32) -> [u32; 1] {
    pair(args, |[a, b, c]| fma1(a, b, c, mode))
}

#[inline(always)]
pub(super) fn pk_min(args: [u32; 2], imm: u32) -> [u32; 1] {
    pair(args, |[a, b]| min_max(true, a, b, imm))
}

#[inline(always)]
pub(super) fn pk_max(args: [u32; 2], imm: u32) -> [u32; 1] {
    pair(args, |[a, b]| min_max(false, a, b, imm))
}

#[inline(always)]
pub(super) fn pk_clamp(args: [u32; 1], mode: u32) -> [u32; 1] {
    pair(args, |[a]| clamp1(a, mode))
}
