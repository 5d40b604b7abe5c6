//! Fast paths of functions of one lane, without a branch, so that the loop over lanes vectorises:
//! the result, and whether it is valid. If it is not, for any lane of a group, the general function
//! runs.

use frontend::state::mode;

use super::float::GFX9;
use crate::math::{Denorm, Env, Round, elementary};

/// A result, and whether it is valid.
pub(super) type FastResult<const R: usize> = ([u32; R], bool);

const MAGNITUDE: u32 = 0x7fff_ffff;
const INF: u32 = 0x7f80_0000;
const MIN_NORMAL: u32 = 0x0080_0000;

fn wide(lo: u32, hi: u32) -> u64 {
    u64::from(lo) | u64::from(hi) << 32
}

/// Exponent field of an f32.
#[inline(always)]
fn exponent(x: u32) -> i32 {
    (x >> 23 & 0xff) as i32
}

/// Exponent field of an f64 by its high word.
#[inline(always)]
fn exponent64(hi: u32) -> i32 {
    (hi >> 20 & 0x7ff) as i32
}

/// Is it at least the lower bound and below the upper one?
#[inline(always)]
fn between(x: i32, low: i32, high: i32) -> bool {
    (x >= low) & (x < high)
}

// ---- division

#[inline(always)]
pub(super) fn div_fmas_f32([a, b, c, vcc]: [u32; 4], imm: u32) -> FastResult<1> {
    let env = Env::f32_of_mode(imm);
    let f = f32::from_bits;
    let d = f(a).mul_add(f(b), f(c)).to_bits();
    let magnitude = d & MAGNITUDE;
    let least = if env.denorm.flush_dst {
        MIN_NORMAL + 1
    } else {
        0
    };
    let right = (vcc == 0) & (magnitude <= INF) & (magnitude >= least);
    ([d], right & (env.round == Round::NearestEven))
}

#[inline(always)]
pub(super) fn div_fmas_f64([a, b, c, d, e, f, vcc]: [u32; 7], imm: u32) -> FastResult<2> {
    let env = Env::f16_f64_of_mode(imm);
    let of = |lo, hi| f64::from_bits(wide(lo, hi));
    let d = of(a, b).mul_add(of(c, d), of(e, f)).to_bits();
    let magnitude = d & (u64::MAX >> 1);
    let least = if env.denorm.flush_dst {
        0x0010_0000_0000_0001
    } else {
        0
    };
    let right = (vcc == 0) & (magnitude <= 0x7ff0_0000_0000_0000) & (magnitude >= least);
    (
        [d as u32, (d >> 32) as u32],
        right & (env.round == Round::NearestEven),
    )
}

// ---- elementary functions

/// Arguments of `v_exp_f32` whose f64 value is a tie (see `math::exp_f32`).
const TIES: [u32; 2] = [0x3b42_9d37, 0xbcf3_a937];

#[inline(always)]
pub(super) fn exp_f32([a]: [u32; 1], _: u32) -> FastResult<1> {
    let value = f32::from_bits(a);
    let value = if value > 200.0 { 200.0 } else { value };
    let power = (elementary::exp2(f64::from(value)) as f32).to_bits();
    let d = if value < -126.0 { 0 } else { power };
    let number = a & MAGNITUDE <= INF;
    ([d], number & (a != TIES[0]) & (a != TIES[1]))
}

#[inline(always)]
pub(super) fn log_f32([a]: [u32; 1], _: u32) -> FastResult<1> {
    let d = (elementary::log2_of_bits(a) as f32).to_bits();
    ([d], (MIN_NORMAL..INF).contains(&a))
}

/// Sine or cosine of a finite number.
#[inline(always)]
fn turns([a]: [u32; 1], imm: u32, quarters: u64) -> FastResult<1> {
    let denorm = Env::f32_of_mode(imm).denorm;
    let flush = |x: u32, asked: bool| {
        let tiny = (x & INF == 0) & asked;
        if tiny { x & !MAGNITUDE } else { x }
    };
    let a = flush(a, denorm.flush_src);
    let value = f64::from(f32::from_bits(a));
    let inside = (imm & GFX9 != 0) | (value.abs() <= 256.0);
    let value = if inside { value } else { 0.0 };
    let d = (elementary::sin_turns(value, quarters) as f32).to_bits();
    let itself = (a & MAGNITUDE == 0) & (quarters == 0);
    let d = if itself { a } else { d };
    ([flush(d, denorm.flush_dst)], a & MAGNITUDE < INF)
}

#[inline(always)]
pub(super) fn sin_f32(args: [u32; 1], imm: u32) -> FastResult<1> {
    turns(args, imm, 0)
}

#[inline(always)]
pub(super) fn cos_f32(args: [u32; 1], imm: u32) -> FastResult<1> {
    turns(args, imm, 1)
}

// ---- scaling

#[inline(always)]
pub(super) fn ldexp_f32([a, n]: [u32; 2], _: u32) -> FastResult<1> {
    let n = n as i32;
    let e = exponent(a);
    // A normal number stays normal, and zero zero.
    let zero = a & MAGNITUDE == 0;
    let near = between(n, -300, 300) & between(e, 1, 255);
    let to = e + n.clamp(-300, 300);
    let d = if zero {
        a
    } else {
        a.wrapping_add((n as u32) << 23)
    };
    ([d], zero | (near & between(to, 1, 255)))
}

#[inline(always)]
pub(super) fn ldexp_f64([lo, hi, n]: [u32; 3], _: u32) -> FastResult<2> {
    let n = n as i32;
    let e = exponent64(hi);
    let zero = (hi & MAGNITUDE | lo) == 0;
    let near = between(n, -3000, 3000) & between(e, 1, 2047);
    let to = e + n.clamp(-3000, 3000);
    let d = if zero {
        hi
    } else {
        hi.wrapping_add((n as u32) << 20)
    };
    ([lo, d], zero | (near & between(to, 1, 2047)))
}

// ---- conversions to f16

/// An f32 of f16's normal range, or zero, cut to f16.
#[inline(always)]
fn cut(x: u32) -> (u32, bool) {
    let magnitude = x & MAGNITUDE;
    let zero = magnitude == 0;
    let half = (magnitude >> 13).wrapping_sub(112 << 10);
    let half = if zero { 0 } else { half };
    let right = zero | (0x3880_0000..0x4780_0000).contains(&magnitude);
    (x >> 16 & 0x8000 | half & 0x7fff, right)
}

#[inline(always)]
pub(super) fn pk_rtz([a, b]: [u32; 2], _: u32) -> FastResult<1> {
    let ((a, a_right), (b, b_right)) = (cut(a), cut(b));
    ([a | b << 16], a_right & b_right)
}

#[inline(always)]
pub(super) fn narrow_flush([a]: [u32; 1], imm: u32) -> FastResult<1> {
    // Rounded first, to nearest even; a result that becomes the least normal number may be tiny.
    let rounded = a.wrapping_add(0xfff + (a >> 13 & 1));
    let (half, right) = cut(rounded);
    let magnitude = a & MAGNITUDE;
    let inside = (0x3880_0000..0x477f_e000).contains(&magnitude);
    let nearest = imm & mode::ROUND_F16_F64 == 0;
    ([half], right & inside & nearest)
}

// ---- order and bytes

/// An integer that orders numbers, -0 below +0.
#[inline(always)]
fn order(x: u32) -> i32 {
    (x ^ ((x as i32 >> 31) as u32 >> 1)) as i32
}

/// The number of such an integer.
#[inline(always)]
fn at(place: i32) -> u32 {
    place as u32 ^ ((place >> 31) as u32 >> 1)
}

#[inline(always)]
pub(super) fn med3_f32(args: [u32; 3], imm: u32) -> FastResult<1> {
    let denorm = if imm & GFX9 != 0 {
        Env::f32_of_mode(imm).denorm
    } else {
        Denorm::KEEP
    };
    let [a, b, c] = args.map(|x| {
        let flushed = if x & INF == 0 { x & !MAGNITUDE } else { x };
        if denorm.flush_src { flushed } else { x }
    });
    let number = |x: u32| x & MAGNITUDE <= INF;
    let (oa, ob, oc) = (order(a), order(b), order(c));
    // The manual compares with the largest numerically: zeros of either sign are equal.
    let largest = f32::from_bits(at(oa.max(ob).max(oc)));
    let second = if largest == f32::from_bits(b) {
        oa.max(oc)
    } else {
        oa.max(ob)
    };
    let middle = if largest == f32::from_bits(a) {
        ob.max(oc)
    } else {
        second
    };
    let d = at(middle);
    let flushed = if d & INF == 0 { d & !MAGNITUDE } else { d };
    let d = if denorm.flush_dst { flushed } else { d };
    ([d], number(a) & number(b) & number(c))
}

/// The byte that a selector of `v_perm_b32` selects.
#[inline(always)]
fn permuted(a: u32, b: u32, selector: u32) -> u32 {
    let s = selector & 0xff;
    let word = if s & 4 != 0 { a } else { b };
    let byte = word >> (8 * (s & 3)) & 0xff;
    let signs = if s & 2 != 0 { a } else { b };
    let sign = if s & 1 != 0 { signs } else { signs << 16 };
    let sign = (sign as i32 >> 31) as u32 & 0xff;
    let high = if s < 12 { sign } else { 0xff };
    let high = if s == 12 { 0 } else { high };
    if s < 8 { byte } else { high }
}

#[inline(always)]
pub(super) fn perm([a, b, s]: [u32; 3], _: u32) -> FastResult<1> {
    let byte = |i: u32| permuted(a, b, s >> (8 * i)) << (8 * i);
    ([byte(0) | byte(1) | byte(2) | byte(3)], true)
}
