//! f32 and f64 functions of one lane. The hard ones are in [`crate::math`].

use frontend::state::mode;

use crate::math::{self, Denorm, Env, Round, TrigRange};

/// Bit of an immediate that tells gfx9 from earlier targets.
pub(super) const GFX9: u32 = 1 << 31;

#[inline(always)]
fn wide(lo: u32, hi: u32) -> u64 {
    u64::from(lo) | u64::from(hi) << 32
}

#[inline(always)]
fn words(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

/// f32's part of MODE.
#[inline(always)]
fn single(mode: u32) -> Env {
    Env::f32_of_mode(mode)
}

/// f64's part of MODE.
#[inline(always)]
fn double(mode: u32) -> Env {
    Env::f16_f64_of_mode(mode)
}

// ---- arithmetic in MODE's rounding

#[inline(always)]
pub(super) fn add_f32([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    [math::add_f32_flush(a, b, single(mode))]
}

#[inline(always)]
pub(super) fn sub_f32([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    [math::sub_f32_flush(a, b, single(mode))]
}

#[inline(always)]
pub(super) fn mul_f32([a, b]: [u32; 2], mode: u32) -> [u32; 1] {
    [math::mul_f32_flush(a, b, single(mode))]
}

#[inline(always)]
pub(super) fn fma_f32([a, b, c]: [u32; 3], mode: u32) -> [u32; 1] {
    [math::fma_f32_flush(a, b, c, single(mode))]
}

#[inline(always)]
pub(super) fn add_f64([a, b, c, d]: [u32; 4], mode: u32) -> [u32; 2] {
    words(math::add_f64_flush(wide(a, b), wide(c, d), double(mode)))
}

#[inline(always)]
pub(super) fn sub_f64([a, b, c, d]: [u32; 4], mode: u32) -> [u32; 2] {
    words(math::sub_f64_flush(wide(a, b), wide(c, d), double(mode)))
}

#[inline(always)]
pub(super) fn mul_f64([a, b, c, d]: [u32; 4], mode: u32) -> [u32; 2] {
    words(math::mul_f64_flush(wide(a, b), wide(c, d), double(mode)))
}

#[inline(always)]
pub(super) fn fma_f64([a, b, c, d, e, f]: [u32; 6], mode: u32) -> [u32; 2] {
    words(math::fma_f64_flush(
        wide(a, b),
        wide(c, d),
        wide(e, f),
        double(mode),
    ))
}

#[inline(always)]
pub(super) fn mad_f32([a, b, c]: [u32; 3], mode: u32) -> [u32; 1] {
    let env = Env {
        denorm: Denorm::FLUSH,
        ..single(mode)
    };
    if is_nan(c) && !is_nan(a) && !is_nan(b) {
        // The addend is the first NaN source, regardless of the product.
        return [c | QUIET];
    }
    let product = math::mul_f32_flush(a, b, env);
    let sum = Env {
        denorm: Denorm {
            flush_dst: mode & KEEP_SUM == 0,
            ..Denorm::FLUSH
        },
        ..env
    };
    [math::add_f32_flush(product, c, sum)]
}

/// Bit of an immediate of the unfused multiply-add: keeps the sum's denormals, since an output
/// modifier follows.
pub(super) const KEEP_SUM: u32 = 1 << 30;

/// The bit of a quiet NaN.
const QUIET: u32 = 1 << 22;

// ---- minimum, maximum, median

const INF: u32 = 0x7f80_0000;
const MAGNITUDE: u32 = 0x7fff_ffff;

#[inline(always)]
fn is_nan(x: u32) -> bool {
    x & MAGNITUDE > INF
}

/// An integer that orders numbers, -0 below +0.
#[inline(always)]
fn order(x: u32) -> i32 {
    (x ^ ((x as i32 >> 31) as u32 >> 1)) as i32
}

/// The smaller (larger) by the manual's rules.
#[inline(always)]
fn lesser(min: bool, ieee: bool, a: u32, b: u32) -> u32 {
    let signalling = |x: u32| ieee && is_nan(x) && x & QUIET == 0;
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

#[inline(always)]
pub(super) fn med3_f32([a, b, c]: [u32; 3], imm: u32) -> [u32; 1] {
    let ieee = imm & mode::IEEE != 0;
    // Before gfx9 these instructions keep denormals.
    let denorm = if imm & GFX9 != 0 {
        single(imm).denorm
    } else {
        Denorm::KEEP
    };
    let [a, b, c] = [a, b, c].map(|x| denorm.src_f32(x));
    let min = |x, y| lesser(true, ieee, x, y);
    let max = |x, y| lesser(false, ieee, x, y);
    let d = if is_nan(a) || is_nan(b) || is_nan(c) {
        // The steps of min3 flush by themselves; flushed values stay flushed.
        min(min(a, b), c)
    } else {
        // The manual compares with the largest numerically: zeros of either sign are equal.
        let largest = f32::from_bits(max(max(a, b), c));
        if largest == f32::from_bits(a) {
            max(b, c)
        } else if largest == f32::from_bits(b) {
            max(a, c)
        } else {
            max(a, b)
        }
    };
    [denorm.dst_f32(d)]
}

// ---- functions

#[inline(always)]
pub(super) fn exp_f32([a]: [u32; 1], _: u32) -> [u32; 1] {
    [math::exp_f32(a)]
}

#[inline(always)]
pub(super) fn log_f32([a]: [u32; 1], _: u32) -> [u32; 1] {
    [math::log_f32(a)]
}

/// The arguments that the target's sine and cosine take.
#[inline(always)]
pub(super) fn trig_range(imm: u32) -> TrigRange {
    if imm & GFX9 != 0 {
        TrigRange::Full
    } else {
        TrigRange::Reduced
    }
}

#[inline(always)]
pub(super) fn sin_f32([a]: [u32; 1], imm: u32) -> [u32; 1] {
    let denorm = single(imm).denorm;
    [denorm.dst_f32(math::sin_f32(denorm.src_f32(a), trig_range(imm)))]
}

#[inline(always)]
pub(super) fn cos_f32([a]: [u32; 1], imm: u32) -> [u32; 1] {
    let denorm = single(imm).denorm;
    [denorm.dst_f32(math::cos_f32(denorm.src_f32(a), trig_range(imm)))]
}

#[inline(always)]
pub(super) fn ldexp_f32([a, n]: [u32; 2], mode: u32) -> [u32; 1] {
    [math::ldexp_f32(a, n as i32, single(mode))]
}

#[inline(always)]
pub(super) fn ldexp_f64([lo, hi, n]: [u32; 3], mode: u32) -> [u32; 2] {
    words(math::ldexp_f64(wide(lo, hi), n as i32, double(mode)))
}

#[inline(always)]
pub(super) fn div_fmas_f32([a, b, c, vcc]: [u32; 4], mode: u32) -> [u32; 1] {
    [math::div_fmas_f32(a, b, c, vcc != 0, single(mode))]
}

#[inline(always)]
pub(super) fn div_fmas_f64([a, b, c, d, e, f, vcc]: [u32; 7], mode: u32) -> [u32; 2] {
    let (x, y, z) = (wide(a, b), wide(c, d), wide(e, f));
    words(math::div_fmas_f64(x, y, z, vcc != 0, double(mode)))
}

#[inline(always)]
pub(super) fn trig_preop([lo, hi, n]: [u32; 3], mode: u32) -> [u32; 2] {
    let denorm = double(mode).denorm;
    let x = denorm.src_f64(wide(lo, hi));
    words(denorm.dst_f64(math::trig_preop_f64(x, n)))
}

// ---- classes

/// The bit of the class mask of a number with these properties.
#[inline(always)]
pub(super) fn class_bit(negative: bool, kind: Kind) -> u32 {
    let (minus, plus) = match kind {
        Kind::SignallingNan => return 1,
        Kind::QuietNan => return 1 << 1,
        Kind::Infinity => (2, 9),
        Kind::Normal => (3, 8),
        Kind::Denormal => (4, 7),
        Kind::Zero => (5, 6),
    };
    1 << if negative { minus } else { plus }
}

/// Kinds of bit patterns.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    SignallingNan,
    QuietNan,
    Infinity,
    Normal,
    Denormal,
    Zero,
}

#[inline(always)]
fn kind(exponent: u64, ones: u64, fraction: u64, quiet: bool) -> Kind {
    match (exponent, fraction) {
        (0, 0) => Kind::Zero,
        (0, _) => Kind::Denormal,
        (e, 0) if e == ones => Kind::Infinity,
        (e, _) if e == ones && quiet => Kind::QuietNan,
        (e, _) if e == ones => Kind::SignallingNan,
        _ => Kind::Normal,
    }
}

/// The class test of an f16.
#[inline(always)]
pub(super) fn class_of_half(x: u16, mask: u32) -> bool {
    let kind = kind(
        u64::from(x >> 10 & 31),
        31,
        u64::from(x & 0x3ff),
        x >> 9 & 1 != 0,
    );
    mask & class_bit(x >> 15 != 0, kind) != 0
}

// ---- cube maps

/// The axis with the largest coordinate: |z| wins ties, then |y|.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    X,
    Y,
    Z,
}

#[inline(always)]
fn major(x: f32, y: f32, z: f32) -> Axis {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        Axis::Z
    } else if y.abs() >= x.abs() {
        Axis::Y
    } else {
        Axis::X
    }
}

#[inline(always)]
fn coordinates(args: [u32; 3], mode: u32) -> ([u32; 3], Axis, bool) {
    let bits = args.map(|x| single(mode).denorm.src_f32(x));
    let [x, y, z] = bits.map(f32::from_bits);
    let axis = major(x, y, z);
    let along = match axis {
        Axis::X => x,
        Axis::Y => y,
        Axis::Z => z,
    };
    (bits, axis, along < 0.0)
}

const SIGN: u32 = 1 << 31;

/// A coordinate as written: flushed, of NaNs the first source.
#[inline(always)]
fn coordinate(d: u32, sources: [u32; 3], mode: u32) -> u32 {
    match sources.into_iter().find(|&s| is_nan(s)) {
        Some(source) if is_nan(d) => source | QUIET,
        _ => single(mode).denorm.dst_f32(d),
    }
}

#[inline(always)]
pub(super) fn cube_id(args: [u32; 3], mode: u32) -> [u32; 1] {
    let (_, axis, negative) = coordinates(args, mode);
    let face = match axis {
        Axis::X => 0.0,
        Axis::Y => 2.0,
        Axis::Z => 4.0,
    };
    [(face + if negative { 1.0f32 } else { 0.0 }).to_bits()]
}

#[inline(always)]
pub(super) fn cube_sc(args: [u32; 3], mode: u32) -> [u32; 1] {
    let (bits, axis, negative) = coordinates(args, mode);
    let [x, _, z] = bits;
    let d = match (axis, negative) {
        (Axis::Z, false) => x,
        (Axis::Z, true) => x ^ SIGN,
        (Axis::Y, _) => x,
        (Axis::X, true) => z,
        (Axis::X, false) => z ^ SIGN,
    };
    [coordinate(d, bits, mode)]
}

#[inline(always)]
pub(super) fn cube_tc(args: [u32; 3], mode: u32) -> [u32; 1] {
    let (bits, axis, negative) = coordinates(args, mode);
    let [_, y, z] = bits;
    let d = match (axis, negative) {
        (Axis::Y, false) => z,
        (Axis::Y, true) => z ^ SIGN,
        _ => y ^ SIGN,
    };
    [coordinate(d, bits, mode)]
}

#[inline(always)]
pub(super) fn cube_ma(args: [u32; 3], mode: u32) -> [u32; 1] {
    let (bits, axis, _) = coordinates(args, mode);
    let [x, y, z] = bits;
    let along = match axis {
        Axis::X => x,
        Axis::Y => y,
        Axis::Z => z,
    };
    let d = math::mul_f32_flush(along, 2.0f32.to_bits(), single(mode));
    [coordinate(d, bits, mode)]
}

#[inline(always)]
pub(super) fn mul_lit([s0, s1, s2]: [u32; 3], mode: u32) -> [u32; 1] {
    let least = f32::MIN.to_bits();
    let [s0, s1, s2] = [s0, s1, s2].map(|x| single(mode).denorm.src_f32(x));
    let zero = |x: u32| x & MAGNITUDE == 0;
    let (light, power) = (f32::from_bits(s1), f32::from_bits(s2));
    // Factors out of range give the least number.
    if is_nan(s1) || light <= f32::MIN || is_nan(s2) || power <= 0.0 {
        [least]
    } else if zero(s0) || zero(s1) {
        [0]
    } else {
        [math::mul_f32_flush(s0, s1, single(mode))]
    }
}

// ---- conversions

#[inline(always)]
pub(super) fn cvt_f32_i32([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [math::i32_to_f32(a as i32, Round::from_mode(mode))]
}

#[inline(always)]
pub(super) fn cvt_f32_u32([a]: [u32; 1], mode: u32) -> [u32; 1] {
    [math::u32_to_f32(a, Round::from_mode(mode))]
}

#[inline(always)]
pub(super) fn cvt_f32_f64([lo, hi]: [u32; 2], mode: u32) -> [u32; 1] {
    let denorm = Denorm {
        flush_src: double(mode).denorm.flush_src,
        flush_dst: single(mode).denorm.flush_dst,
    };
    [math::f64_to_f32(
        wide(lo, hi),
        Round::from_mode(mode),
        denorm,
    )]
}

#[inline(always)]
pub(super) fn cvt_rpi([a]: [u32; 1], _: u32) -> [u32; 1] {
    // In f64 the sum is exact wherever its floor depends on it. NaN gives 0.
    [(f64::from(f32::from_bits(a)) + 0.5).floor() as i32 as u32]
}

#[inline(always)]
pub(super) fn cvt_u8_f32([a]: [u32; 1], mode: u32) -> [u32; 1] {
    let x = f32::from_bits(single(mode).denorm.src_f32(a));
    let integer = match Round::from_mode(mode) {
        Round::NearestEven => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
    };
    // The conversion saturates, NaN gives 0.
    [u32::from(integer as u8)]
}

/// x times `scale`, to nearest even, within ±`scale`; NaN gives 0.
#[inline(always)]
pub(super) fn normalised(x: f32, scale: f64, low: f64) -> i32 {
    let scaled = (f64::from(x) * scale).round_ties_even();
    if scaled.is_nan() {
        0
    } else {
        scaled.clamp(low, scale) as i32
    }
}

#[inline(always)]
pub(super) fn norm_i16([a]: [u32; 1], _: u32) -> [u32; 1] {
    [normalised(f32::from_bits(a), 32767.0, -32767.0) as u32 & 0xffff]
}

#[inline(always)]
pub(super) fn norm_u16([a]: [u32; 1], _: u32) -> [u32; 1] {
    [normalised(f32::from_bits(a), 65535.0, 0.0) as u32]
}
