//! Float operations that the interpreter defines itself: minimum and maximum, classification,
//! rounding to an integer, conversion to integers and normalised formats, cube maps, the legacy
//! multiplications, and the output modifiers.
//!
//! All on raw bits. Unless a function states otherwise it neither flushes denormals nor depends on
//! MODE: the caller flushes sources and results where the generation does. Sums and products with
//! explicit rounding come from [`crate::math`].

use crate::math::{self, Round};

/// The bits of a float type.
trait Bits: Copy + Eq {
    const SIGN: u64;
    const INFINITY: u64;
    /// The bit of a quiet NaN; also the lowest fraction bit's position plus one.
    const QUIET: u64;
    const ONE: u64;
    fn wide(self) -> u64;
    fn narrow(bits: u64) -> Self;
}

impl Bits for u16 {
    const SIGN: u64 = 0x8000;
    const INFINITY: u64 = 0x7c00;
    const QUIET: u64 = 0x0200;
    const ONE: u64 = 0x3c00;
    fn wide(self) -> u64 {
        self.into()
    }
    fn narrow(bits: u64) -> Self {
        bits as u16
    }
}

impl Bits for u32 {
    const SIGN: u64 = 0x8000_0000;
    const INFINITY: u64 = 0x7f80_0000;
    const QUIET: u64 = 0x0040_0000;
    const ONE: u64 = 0x3f80_0000;
    fn wide(self) -> u64 {
        self.into()
    }
    fn narrow(bits: u64) -> Self {
        bits as u32
    }
}

impl Bits for u64 {
    const SIGN: u64 = 0x8000_0000_0000_0000;
    const INFINITY: u64 = 0x7ff0_0000_0000_0000;
    const QUIET: u64 = 0x0008_0000_0000_0000;
    const ONE: u64 = 0x3ff0_0000_0000_0000;
    fn wide(self) -> u64 {
        self
    }
    fn narrow(bits: u64) -> Self {
        bits
    }
}

fn is_nan<T: Bits>(x: T) -> bool {
    x.wide() & (T::SIGN - 1) > T::INFINITY
}

fn is_signalling<T: Bits>(x: T) -> bool {
    is_nan(x) && x.wide() & T::QUIET == 0
}

fn quiet<T: Bits>(x: T) -> T {
    T::narrow(x.wide() | T::QUIET)
}

/// An integer that orders numbers as floats, with `-0` below `+0`.
fn order<T: Bits>(x: T) -> i64 {
    let magnitude = (x.wide() & (T::SIGN - 1)) as i64;
    if x.wide() & T::SIGN == 0 {
        magnitude
    } else {
        !magnitude
    }
}

/// IEEE equality of two numbers: the zeros are equal.
fn equal<T: Bits>(a: T, b: T) -> bool {
    !is_nan(a) && !is_nan(b) && (a == b || (a.wide() | b.wide()) & (T::SIGN - 1) == 0)
}

fn choose<T: Bits>(a: T, b: T, ieee: bool, largest: bool) -> T {
    if ieee && is_signalling(a) {
        return quiet(a);
    }
    if ieee && is_signalling(b) {
        return quiet(b);
    }
    if is_nan(a) {
        return b;
    }
    if is_nan(b) {
        return a;
    }
    if (order(a) < order(b)) == largest {
        b
    } else {
        a
    }
}

fn min3<T: Bits>(a: T, b: T, c: T, ieee: bool) -> T {
    choose(choose(a, b, ieee, false), c, ieee, false)
}

fn max3<T: Bits>(a: T, b: T, c: T, ieee: bool) -> T {
    choose(choose(a, b, ieee, true), c, ieee, true)
}

fn med3<T: Bits>(a: T, b: T, c: T, ieee: bool) -> T {
    if is_nan(a) || is_nan(b) || is_nan(c) {
        return min3(a, b, c, ieee);
    }
    let largest = max3(a, b, c, ieee);
    if equal(largest, a) {
        choose(b, c, ieee, true)
    } else if equal(largest, b) {
        choose(a, c, ieee, true)
    } else {
        choose(a, b, ieee, true)
    }
}

fn class<T: Bits>(x: T) -> u32 {
    let magnitude = x.wide() & (T::SIGN - 1);
    let negative = x.wide() & T::SIGN != 0;
    if magnitude > T::INFINITY {
        return if is_signalling(x) { 1 << 0 } else { 1 << 1 };
    }
    // Of a positive number: 6 zero, 7 denormal, 8 normal, 9 infinity; a negative one mirrors it.
    let kind = if magnitude == T::INFINITY {
        9
    } else if magnitude >= T::QUIET << 1 {
        8
    } else if magnitude != 0 {
        7
    } else {
        6
    };
    1 << if negative { 11 - kind } else { kind }
}

fn clamp<T: Bits>(x: T, dx10_clamp: bool) -> T {
    if is_nan(x) {
        return if dx10_clamp { T::narrow(0) } else { x };
    }
    if x.wide() & T::SIGN != 0 {
        T::narrow(0)
    } else {
        T::narrow(x.wide().min(T::ONE))
    }
}

/// Lists one function for each float type.
macro_rules! by_type {
    ($($(#[$doc:meta])* ($f16:ident, $f32:ident, $f64:ident) = $body:ident ($($arg:ident),+ ; $($more:ident : $ty:ty),*) $(-> $result:ty)?;)*) => {$(
        by_type!(@one $(#[$doc])* $f16, u16, $body, ($($arg),+), ($($more: $ty),*) $(, $result)?);
        by_type!(@one $(#[$doc])* $f32, u32, $body, ($($arg),+), ($($more: $ty),*) $(, $result)?);
        by_type!(@one $(#[$doc])* $f64, u64, $body, ($($arg),+), ($($more: $ty),*) $(, $result)?);
    )*};
    (@one $(#[$doc:meta])* $name:ident, $bits:ty, $body:ident, ($($arg:ident),+), ($($more:ident : $ty:ty),*)) => {
        by_type!(@one $(#[$doc])* $name, $bits, $body, ($($arg),+), ($($more: $ty),*), $bits);
    };
    (@one $(#[$doc:meta])* $name:ident, $bits:ty, $body:ident, ($($arg:ident),+), ($($more:ident : $ty:ty),*), $result:ty) => {
        $(#[$doc])*
        #[inline]
        pub fn $name($($arg: $bits,)+ $($more: $ty),*) -> $result {
            $body($($arg,)+ $($more),*)
        }
    };
}

fn min<T: Bits>(a: T, b: T, ieee: bool) -> T {
    choose(a, b, ieee, false)
}

fn max<T: Bits>(a: T, b: T, ieee: bool) -> T {
    choose(a, b, ieee, true)
}

by_type! {
    /// `v_min`: with `ieee` (MODE.IEEE) a signalling source is the result, quieted, the first one
    /// first; else the other operand of a NaN (of two NaNs the second); `min(+0, -0)` is `-0`.
    /// gfx6 to gfx8 never flush here, gfx9 does.
    (min_f16, min_f32, min_f64) = min(a, b; ieee: bool);
    /// `v_max`, see [`min_f32`]; `max(+0, -0)` is `+0`.
    (max_f16, max_f32, max_f64) = max(a, b; ieee: bool);
    /// `v_min3`: two nested minima.
    (min3_f16, min3_f32, min3_f64) = min3(a, b, c; ieee: bool);
    /// `v_max3`: two nested maxima.
    (max3_f16, max3_f32, max3_f64) = max3(a, b, c; ieee: bool);
    /// `v_med3`: if any source is a NaN, `min3` of them; else the one in the middle. Vega ISA 470.
    (med3_f16, med3_f32, med3_f64) = med3(a, b, c; ieee: bool);
    /// The one bit of the class mask of `v_cmp_class` that describes `x`: 0 signalling NaN, 1 quiet
    /// NaN, 2 -infinity, 3 -normal, 4 -denormal, 5 -0, 6 +0, 7 +denormal, 8 +normal, 9 +infinity.
    /// Nothing is flushed before.
    (class_f16, class_f32, class_f64) = class(x;) -> u32;
    /// CLAMP of a float result to `[0, 1]`: a NaN gives 0 with `dx10_clamp` and passes without;
    /// `-0` gives `+0`.
    (clamp_f16, clamp_f32, clamp_f64) = clamp(x; dx10_clamp: bool);
}

/// `v_min_legacy_f32`: `a < b ? a : b`, so a NaN gives `b`.
#[inline]
pub fn min_legacy_f32(a: u32, b: u32) -> u32 {
    if f32::from_bits(a) < f32::from_bits(b) {
        a
    } else {
        b
    }
}

/// `v_max_legacy_f32`: `a >= b ? a : b`, so a NaN gives `b`.
#[inline]
pub fn max_legacy_f32(a: u32, b: u32) -> u32 {
    if f32::from_bits(a) >= f32::from_bits(b) {
        a
    } else {
        b
    }
}

/// `v_mul_legacy_f32`: zero times anything, NaN and infinity too, is `+0`.
#[inline]
pub fn mul_legacy_f32(a: u32, b: u32, env: math::Env) -> u32 {
    let zero = |x: u32| env.denorm.src_f32(x) & 0x7fff_ffff == 0;
    if zero(a) || zero(b) {
        0
    } else {
        math::mul_f32_flush(a, b, env)
    }
}

/// `v_mullit_f32` (gfx6, gfx7), the multiplication of a lighting equation: `-MAX_FLOAT` if `b` is
/// `-MAX_FLOAT`, `-infinity` or a NaN or `c` is not above zero, else the legacy product of `a` and `b`.
#[inline]
pub fn mullit_f32(a: u32, b: u32, c: u32, env: math::Env) -> u32 {
    const LEAST: u32 = 0xff7f_ffff;
    let (factor, gate) = (f32::from_bits(b), f32::from_bits(env.denorm.src_f32(c)));
    let lit = factor > f32::from_bits(LEAST) && gate > 0.0;
    if lit {
        mul_legacy_f32(a, b, env)
    } else {
        LEAST
    }
}

/// Lists the operations that round to an integer, in the three types.
macro_rules! to_integral {
    ($($(#[$doc:meta])* ($f16:ident, $f32:ident, $f64:ident) = $method:ident;)*) => {$(
        $(#[$doc])*
        #[inline]
        pub fn $f16(x: u16) -> u16 {
            if is_nan(x) {
                return quiet(x);
            }
            // An f16 and its integral neighbours are exact in f32.
            let wide = f32::from_bits(math::f16_to_f32(x, false)).$method();
            math::f32_to_f16(wide.to_bits(), math::ToHalf::default())
        }

        $(#[$doc])*
        #[inline]
        pub fn $f32(x: u32) -> u32 {
            if is_nan(x) { quiet(x) } else { f32::from_bits(x).$method().to_bits() }
        }

        $(#[$doc])*
        #[inline]
        pub fn $f64(x: u64) -> u64 {
            if is_nan(x) { quiet(x) } else { f64::from_bits(x).$method().to_bits() }
        }
    )*};
}

to_integral! {
    /// `v_trunc`: the integral value towards zero. The sign of zero is kept, NaNs are quieted.
    (trunc_f16, trunc_f32, trunc_f64) = trunc;
    /// `v_ceil`: the integral value towards plus infinity; `ceil(-0.5)` is `-0`.
    (ceil_f16, ceil_f32, ceil_f64) = ceil;
    /// `v_floor`: the integral value towards minus infinity.
    (floor_f16, floor_f32, floor_f64) = floor;
    /// `v_rndne`: the nearest integral value, ties to even; the sign of zero is kept.
    (rndne_f16, rndne_f32, rndne_f64) = round_ties_even;
}

/// Which hardware's `v_fract`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fract {
    /// gfx7 and later: the result is at most the largest number below one.
    BelowOne,
    /// gfx6: the difference is not limited, so that `fract(-2^-30)` rounds to 1. (What it does
    /// with infinities is not documented beyond being wrong; here they give a NaN on all.)
    Unlimited,
}

/// Lists `fract` in the three types.
macro_rules! fract {
    ($name:ident, $bits:ty, $floor:ident, $sub:path, $below_one:literal) => {
        /// `v_fract`: `x - floor(x)`, rounded once; infinities give the positive default NaN, a NaN
        /// itself, quieted.
        #[inline]
        pub fn $name(x: $bits, round: Round, variant: Fract) -> $bits {
            let part = $sub(x, $floor(x), round);
            if variant == Fract::BelowOne
                && order(part) > order($below_one as $bits)
                && !is_nan(part)
            {
                $below_one
            } else {
                part
            }
        }
    };
}

fract!(fract_f16, u16, floor_f16, math::sub_f16, 0x3bff);
fract!(fract_f32, u32, floor_f32, math::sub_f32, 0x3f7f_ffff);
fract!(
    fract_f64,
    u64,
    floor_f64,
    math::sub_f64,
    0x3fef_ffff_ffff_ffff
);

/// `v_cvt_i32_f32`: towards zero, saturating, NaN to 0.
#[inline]
pub fn f32_to_i32(x: u32) -> i32 {
    f32::from_bits(x) as i32
}

/// `v_cvt_u32_f32`: towards zero, saturating (negative to 0), NaN to 0.
#[inline]
pub fn f32_to_u32(x: u32) -> u32 {
    f32::from_bits(x) as u32
}

/// `v_cvt_i32_f64`, see [`f32_to_i32`].
#[inline]
pub fn f64_to_i32(x: u64) -> i32 {
    f64::from_bits(x) as i32
}

/// `v_cvt_u32_f64`, see [`f32_to_u32`].
#[inline]
pub fn f64_to_u32(x: u64) -> u32 {
    f64::from_bits(x) as u32
}

/// `v_cvt_i16_f16`, see [`f32_to_i32`].
#[inline]
pub fn f16_to_i16(x: u16) -> i16 {
    f32::from_bits(math::f16_to_f32(x, false)) as i16
}

/// `v_cvt_u16_f16`, see [`f32_to_u32`].
#[inline]
pub fn f16_to_u16(x: u16) -> u16 {
    f32::from_bits(math::f16_to_f32(x, false)) as u16
}

/// `v_cvt_rpi_i32_f32`: `floor(x + 0.5)` without rounding the sum, saturating. A NaN gives `nan`
/// (the manuals say 0).
#[inline]
pub fn rpi_i32_f32(x: u32, nan: i32) -> i32 {
    let x = f64::from(f32::from_bits(x));
    // From 2^31 on the result saturates; below, the sum is inexact only far from an integer:
    // where |x| < 2^-29, and there it cannot reach 0 or 1 by rounding to 53 bits.
    if x.is_nan() {
        nan
    } else {
        (x + 0.5).floor() as i32
    }
}

/// `v_cvt_flr_i32_f32`: `floor(x)`, saturating. A NaN gives `nan` (the manuals say 0).
#[inline]
pub fn flr_i32_f32(x: u32, nan: i32) -> i32 {
    let x = f32::from_bits(x);
    if x.is_nan() { nan } else { x.floor() as i32 }
}

/// `v_cvt_off_f32_i4`: the signed low nibble divided by 16, from -0.5 to 0.4375.
#[inline]
pub fn off_f32_i4(x: u32) -> u32 {
    let nibble = (x << 28) as i32 >> 28;
    (nibble as f32 / 16.0).to_bits()
}

fn norm_i16(x: f64) -> u16 {
    // The product of 24 and 15 bits is exact. NaN becomes 0 by the cast.
    (x * 32767.0).round_ties_even().clamp(-32767.0, 32767.0) as i16 as u16
}

fn norm_u16(x: f64) -> u16 {
    (x * 65535.0).round_ties_even().clamp(0.0, 65535.0) as u16
}

fn half(x: u16) -> f64 {
    f32::from_bits(math::f16_to_f32(x, false)).into()
}

/// One half of `v_cvt_pknorm_i16_f32`: `x * 32767` to the nearest integer, ties to even, limited to
/// -32767 and 32767; NaN to 0.
#[inline]
pub fn norm_i16_f32(x: u32) -> u16 {
    norm_i16(f32::from_bits(x).into())
}

/// One half of `v_cvt_pknorm_u16_f32`: `x * 65535` likewise, limited to 0 and 65535.
#[inline]
pub fn norm_u16_f32(x: u32) -> u16 {
    norm_u16(f32::from_bits(x).into())
}

/// `v_cvt_norm_i16_f16` and one half of `v_cvt_pknorm_i16_f16`, see [`norm_i16_f32`].
#[inline]
pub fn norm_i16_f16(x: u16) -> u16 {
    norm_i16(half(x))
}

/// `v_cvt_norm_u16_f16` and one half of `v_cvt_pknorm_u16_f16`, see [`norm_u16_f32`].
#[inline]
pub fn norm_u16_f16(x: u16) -> u16 {
    norm_u16(half(x))
}

/// `v_cvt_pk_u8_f32`: `x` as an integer from 0 to 255 (NaN to 0) in byte `byte & 3`, the other bytes
/// from `others`.
#[inline]
pub fn pk_u8_f32(x: u32, byte: u32, others: u32, round: Round) -> u32 {
    let x = f32::from_bits(x);
    let integral = match round {
        Round::NearestEven => x.round_ties_even(),
        Round::Up => x.ceil(),
        Round::Down => x.floor(),
        Round::Zero => x.trunc(),
    };
    let shift = 8 * (byte & 3);
    others & !(0xff << shift) | u32::from(integral as u8) << shift
}

/// OMOD when it acts: `x` times 2 (`omod` 1), times 4 (2) or divided by 2 (3), rounded, with
/// denormal results flushed and `-0` made `+0`. It acts only where denormal results of the type
/// are flushed and MODE.IEEE is off, which is the caller's decision.
#[inline]
pub fn omod_f32(x: u32, omod: u8, round: Round) -> u32 {
    let factor = [0x3f80_0000, 0x4000_0000, 0x4080_0000, 0x3f00_0000][usize::from(omod & 3)];
    plus_zero(math::mul_f32_flush(x, factor, flushing(round)))
}

/// As [`omod_f32`].
#[inline]
pub fn omod_f16(x: u16, omod: u8, round: Round) -> u16 {
    let factor = [0x3c00, 0x4000, 0x4400, 0x3800][usize::from(omod & 3)];
    plus_zero(math::mul_f16_flush(x, factor, flushing(round)))
}

/// As [`omod_f32`].
#[inline]
pub fn omod_f64(x: u64, omod: u8, round: Round) -> u64 {
    let factor: u64 = [0x3ff, 0x400, 0x401, 0x3fe][usize::from(omod & 3)];
    plus_zero(math::mul_f64_flush(x, factor << 52, flushing(round)))
}

fn flushing(round: Round) -> math::Env {
    math::Env {
        round,
        denorm: math::Denorm {
            flush_src: false,
            flush_dst: true,
        },
    }
}

fn plus_zero<T: Bits>(x: T) -> T {
    if x.wide() == T::SIGN { T::narrow(0) } else { x }
}

/// The face of a cube map that a direction hits, and how its coordinates map onto the face.
struct Face {
    id: f32,
    s: u32,
    t: u32,
    major: u32,
}

/// Vega ISA, V_CUBEID to V_CUBEMA: ties go to z, then to y; `-0` counts as positive.
fn face(x: u32, y: u32, z: u32) -> Face {
    const SIGN: u32 = 0x8000_0000;
    let magnitude = |v: u32| f32::from_bits(v & !SIGN);
    let (ax, ay, az) = (magnitude(x), magnitude(y), magnitude(z));
    let below_zero = |v: u32| f32::from_bits(v) < 0.0;
    let minus = |v: u32| v ^ SIGN;
    if az >= ax && az >= ay {
        let negative = below_zero(z);
        Face {
            id: if negative { 5.0 } else { 4.0 },
            s: if negative { minus(x) } else { x },
            t: minus(y),
            major: z,
        }
    } else if ay >= ax {
        let negative = below_zero(y);
        Face {
            id: if negative { 3.0 } else { 2.0 },
            s: x,
            t: if negative { minus(z) } else { z },
            major: y,
        }
    } else {
        let negative = below_zero(x);
        Face {
            id: if negative { 1.0 } else { 0.0 },
            s: if negative { z } else { minus(z) },
            t: minus(y),
            major: x,
        }
    }
}

/// A coordinate that is a NaN becomes the first NaN source, quieted.
fn first_nan(result: u32, sources: [u32; 3]) -> u32 {
    if !is_nan(result) {
        return result;
    }
    sources
        .into_iter()
        .find(|&s| is_nan(s))
        .map_or(result, quiet)
}

/// `v_cubeid_f32`: the face of the direction (x, y, z) as a float: 0 +x, 1 -x, 2 +y, 3 -y, 4 +z,
/// 5 -z. Ties go to z, then to y.
#[inline]
pub fn cube_id_f32(x: u32, y: u32, z: u32) -> u32 {
    face(x, y, z).id.to_bits()
}

/// `v_cubesc_f32`: the s coordinate, not yet divided by the major axis.
#[inline]
pub fn cube_sc_f32(x: u32, y: u32, z: u32) -> u32 {
    first_nan(face(x, y, z).s, [x, y, z])
}

/// `v_cubetc_f32`: the t coordinate, not yet divided by the major axis.
#[inline]
pub fn cube_tc_f32(x: u32, y: u32, z: u32) -> u32 {
    first_nan(face(x, y, z).t, [x, y, z])
}

/// `v_cubema_f32`: twice the major axis, with its sign.
#[inline]
pub fn cube_ma_f32(x: u32, y: u32, z: u32, round: Round) -> u32 {
    let twice = math::mul_f32(face(x, y, z).major, 0x4000_0000, round);
    first_nan(twice, [x, y, z])
}

#[cfg(test)]
mod tests;
