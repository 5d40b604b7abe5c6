//! Loops over the rows of D, which the compiler vectorises.

use std::array;

use frontend::op::{Factor, Matrix, MatrixSums};
use lower::ir::MatrixCall;

use super::{Factors, Rows, by_register, exact, lanes_of, place};

// ---- f64

/// f64: a chain of fused multiply-adds over K.
#[inline(always)]
pub(super) fn f64_rows<const N: usize>(shape: Matrix, factors: Factors<'_>, d: &mut Rows) {
    let wide = |rows: &Rows| joined::<64>(&rows[0], &rows[1]);
    let (a, b) = (wide(factors.a), wide(factors.b));
    let blocks = usize::from(shape.blocks);
    for block in 0..blocks {
        let from = factors.source.of(block);
        for i in 0..N {
            let (item, lane) = place::<N, 1>(block, i);
            let pair = d[2 * item..].first_chunk_mut::<2>();
            let [low, high] = pair.expect("an item has two registers");
            let [low, high] = [low, high].map(|register| {
                let row = register[lane..].first_chunk_mut::<N>();
                row.expect("a row lies within the lanes")
            });
            let mut sum = joined::<N>(low, high);
            for k in 0..usize::from(shape.k) {
                let x = a[lanes_of::<N>(blocks, from, k) + i];
                let y: &[f64] = &b[lanes_of::<N>(blocks, block, k)..][..N];
                for (sum, &y) in sum.iter_mut().zip(y) {
                    *sum = x.mul_add(y, *sum);
                }
            }
            for (j, sum) in sum.into_iter().enumerate() {
                let bits = sum.to_bits();
                (low[j], high[j]) = (bits as u32, (bits >> 32) as u32);
            }
        }
    }
}

/// The f64 with these words.
#[inline(always)]
fn joined<const N: usize>(low: &[u32; N], high: &[u32; N]) -> [f64; N] {
    array::from_fn(|j| f64::from_bits(u64::from(low[j]) | u64::from(high[j]) << 32))
}

// ---- elements of at most 32 bits

/// Matrices of `N` columns by their arithmetic.
#[inline(always)]
pub(super) fn by_columns<const N: usize>(call: &MatrixCall, factors: Factors<'_>, d: &mut Rows) {
    let shape = call.shape;
    let pairs = call.sums == MatrixSums::Pairs;
    match (shape.factor, factors.a.len(), pairs) {
        (Factor::F32, ..) => {
            let float = |rows: &Rows, _: usize, lane: usize| f32::from_bits(rows[0][lane]);
            rows_of::<N, 1, f32>(shape, factors, d, float, |sum, x, y| {
                for (sum, &y) in sum.iter_mut().zip(y[0]) {
                    *sum = x[0].mul_add(y, f32::from_bits(*sum)).to_bits();
                }
            });
        }
        (Factor::F16, _, true) => rows_of::<N, 4, f32>(shape, factors, d, f16_flushed, pairs4),
        (Factor::F16, _, false) => rows_of::<N, 4, f32>(shape, factors, d, f16, exact::add::<N, 4>),
        (Factor::Bf16, 2, true) => rows_of::<N, 4, f32>(shape, factors, d, bf16_flushed, pairs4),
        (Factor::Bf16, 2, false) => {
            rows_of::<N, 4, f32>(shape, factors, d, bf16, exact::add::<N, 4>);
        }
        (Factor::Bf16, _, true) => rows_of::<N, 2, f32>(shape, factors, d, bf16_flushed, pairs2),
        (Factor::Bf16, _, false) => {
            rows_of::<N, 2, f32>(shape, factors, d, bf16, exact::add::<N, 2>);
        }
        (Factor::I8, ..) => {
            for (shape, factors) in by_register(shape, factors) {
                rows_of::<N, 4, i32>(shape, factors, d, i8_of, |sum, x, y| {
                    for t in 0..4 {
                        for (sum, &y) in sum.iter_mut().zip(y[t]) {
                            *sum = sum.wrapping_add(x[t].wrapping_mul(y).cast_unsigned());
                        }
                    }
                });
            }
        }
        (Factor::F64, ..) => unreachable!("bug: f64 has two registers for an element"),
        (Factor::Xf32 | Factor::F8(..), ..) => unreachable!("bug: these are of gfx942"),
    }
}

/// Goes through the rows of D, and for each through the `P` values of K that a lane of A and B has:
/// `add` adds their products to the row, given those of A and rows of B.
#[inline(always)]
fn rows_of<const N: usize, const P: usize, T: Copy + Default>(
    shape: Matrix,
    factors: Factors<'_>,
    d: &mut Rows,
    element: impl Fn(&Rows, usize, usize) -> T,
    add: impl Fn(&mut [u32; N], [T; P], [&[T; N]; P]),
) {
    let items = |rows: &Rows| -> [[T; 64]; P] {
        array::from_fn(|item| array::from_fn(|lane| element(rows, item, lane)))
    };
    let (a, b) = (items(factors.a), items(factors.b));
    let blocks = usize::from(shape.blocks);
    let steps = usize::from(shape.k) / P;
    for block in 0..blocks {
        let from = factors.source.of(block);
        for i in 0..N {
            let (item, lane) = place::<N, 4>(block, i);
            let sum = d[item][lane..].first_chunk_mut::<N>();
            let sum = sum.expect("a row of D lies within the lanes");
            for k in 0..steps {
                let at = lanes_of::<N>(blocks, from, k) + i;
                let x = array::from_fn(|t| a[t][at]);
                let at = lanes_of::<N>(blocks, block, k);
                let y = array::from_fn(|t| {
                    let row = b[t][at..].first_chunk::<N>();
                    row.expect("a row of B lies within the lanes")
                });
                add(sum, x, y);
            }
        }
    }
}

/// Item `item` of 16 bits of a lane.
#[inline(always)]
fn half(rows: &Rows, item: usize, lane: usize) -> u16 {
    (rows[item / 2][lane] >> (item % 2 * 16)) as u16
}

/// An f16.
#[inline(always)]
fn f16(rows: &Rows, item: usize, lane: usize) -> f32 {
    widened(half(rows, item, lane))
}

/// An f16, denormals as +0.
#[inline(always)]
fn f16_flushed(rows: &Rows, item: usize, lane: usize) -> f32 {
    let bits = half(rows, item, lane);
    let denormal = bits & 0x7c00 == 0 && bits & 0x3ff != 0;
    widened(if denormal { 0 } else { bits })
}

/// f16 to f32; exact.
#[inline(always)]
pub(super) fn widened(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff) << 13;
    // The exponent's bias by a multiplication, which normalises denormals.
    let scaled = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let special = bits & 0x7c00 == 0x7c00;
    let bits = if special {
        rest | 0x7f80_0000
    } else {
        scaled.to_bits()
    };
    f32::from_bits(bits | sign)
}

/// A bf16.
#[inline(always)]
fn bf16(rows: &Rows, item: usize, lane: usize) -> f32 {
    f32::from_bits(u32::from(half(rows, item, lane)) << 16)
}

/// A bf16, denormals as +0.
#[inline(always)]
fn bf16_flushed(rows: &Rows, item: usize, lane: usize) -> f32 {
    positive(bf16(rows, item, lane))
}

/// A signed byte.
#[inline(always)]
fn i8_of(rows: &Rows, item: usize, lane: usize) -> i32 {
    i32::from((rows[0][lane] >> (8 * item)) as i8)
}

// ---- products in pairs

/// A denormal as zero of its sign.
#[inline(always)]
pub(super) fn flushed_with_sign(bits: u32) -> u32 {
    match bits & 0x7f80_0000 {
        0 => bits & 0x8000_0000,
        _ => bits,
    }
}

/// A denormal as zero of its sign.
#[inline(always)]
fn flushed(x: f32) -> f32 {
    f32::from_bits(flushed_with_sign(x.to_bits()))
}

/// A denormal as +0.
#[inline(always)]
fn positive(x: f32) -> f32 {
    let denormal = x != 0.0 && x.abs() < f32::MIN_POSITIVE;
    if denormal { 0.0 } else { x }
}

/// gfx90a, four values of K: products are rounded, added in pairs, and then to the sum; all flushed.
#[inline(always)]
fn pairs4<const N: usize>(sum: &mut [u32; N], x: [f32; 4], y: [&[f32; N]; 4]) {
    for (j, sum) in sum.iter_mut().enumerate() {
        let p: [f32; 4] = array::from_fn(|t| flushed(x[t] * y[t][j]));
        let both = flushed(flushed(p[0] + p[1]) + flushed(p[2] + p[3]));
        *sum = flushed(positive(f32::from_bits(*sum)) + both).to_bits();
    }
}

/// As [`pairs4`], two values of K.
#[inline(always)]
fn pairs2<const N: usize>(sum: &mut [u32; N], x: [f32; 2], y: [&[f32; N]; 2]) {
    for (j, sum) in sum.iter_mut().enumerate() {
        let p: [f32; 2] = array::from_fn(|t| flushed(x[t] * y[t][j]));
        *sum = flushed(positive(f32::from_bits(*sum)) + flushed(p[0] + p[1])).to_bits();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// gfx90a: denormal halves, sums and products are zeros.
    #[test]
    fn pairs_flush() {
        let one = 1.0f32.to_bits();
        let sum = |c: u32, x: [f32; 4], y: [f32; 4]| {
            let rows = y.map(|y| [y; 4]);
            let mut sum = [c; 4];
            pairs4(&mut sum, x, array::from_fn(|t| &rows[t]));
            assert_eq!(sum, [sum[0]; 4]);
            sum[0]
        };
        let tiny = f32::from_bits(1 << 23);
        assert_eq!(sum(1, [0.0; 4], [0.0; 4]), 0);
        assert_eq!(sum(0x8000_0001, [0.0; 4], [0.0; 4]), 0);
        assert_eq!(sum(one, [tiny, 0.0, 0.0, 0.0], [0.5; 4]), one);
        assert_eq!(sum(0, [tiny, tiny, 0.0, 0.0], [0.5; 4]), 0);
        assert_eq!(sum(0, [tiny, tiny, 0.0, 0.0], [1.0; 4]), 2 << 23);
        let halves = [[0x8001_03ff; 64]; 2];
        assert_eq!(f16_flushed(&halves, 0, 0).to_bits(), 0);
        assert_eq!(f16_flushed(&halves, 1, 0).to_bits(), 0);
        assert_eq!(f16(&halves, 1, 0), -1.0 / 16_777_216.0);
        assert_eq!(bf16_flushed(&[[0x8001; 64]], 0, 0).to_bits(), 0);
        assert_eq!(bf16_flushed(&[[0x8000; 64]], 0, 0).to_bits(), 0x8000_0000);
    }

    #[test]
    fn widening_of_f16() {
        for bits in 0..=u16::MAX {
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff));
            let size = match exponent {
                0 => fraction * f64::powi(2.0, -24),
                31 if fraction == 0.0 => f64::INFINITY,
                31 => f64::NAN,
                _ => (1024.0 + fraction) * f64::powi(2.0, exponent - 25),
            };
            let got = f64::from(widened(bits));
            assert!(
                got.abs() == size || got.is_nan() && size.is_nan(),
                "{bits:x}"
            );
            assert_eq!(got.is_sign_negative(), bits >> 15 != 0, "{bits:x}");
        }
    }
}
