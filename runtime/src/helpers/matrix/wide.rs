//! Products of f16, bf16, i8 and f64, and all of four columns, on host vectors of 512 bits; sums that are cut off are [`cut`]'s.
//!
//! Factors are converted once for each instruction. Eight rows of 16 columns of D stay in host registers in a loop over K.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;
use std::array;

use frontend::op::{Factor, Matrix, MatrixSums};
use lower::abi::Lanes;

pub(super) use self::bytes::Bytes;
use super::vectors::{load, load_all};
use super::{Product, Rows, Source, cdna3, cut, lanes_of, place};

mod bytes;
mod doubles;
mod halves;

/// Multiplies; false if this is none of the products here.
///
/// # Safety
/// The host has these features, and AVX512-VNNI for `Bytes::Vnni`. `d` are the sums of the call.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn multiply(product: Product<'_>, d: &mut Rows, by: Bytes) -> bool {
    let Product { call, factors, .. } = product;
    let shape = call.shape;
    // SAFETY: the caller's.
    unsafe {
        if shape.factor == Factor::I8 && !call.saturates {
            return bytes::multiply(product, d, by);
        }
        if cdna3::takes(call) {
            return cut::avx512(product, d);
        }
        match (shape.factor, shape.size) {
            (Factor::F32, 4) => {
                let [a, b] = [factors.a, factors.b].map(first_registers::<1>);
                let fused = Words { a, b, step: Fused };
                by_size(shape, &fused, factors.source, d);
                true
            }
            (Factor::F16 | Factor::Bf16, _) => {
                let pairs = call.sums == MatrixSums::Pairs;
                halves::multiply(shape, factors, pairs, d)
            }
            (Factor::F64, 16) => {
                doubles::multiply(factors, d);
                true
            }
            (Factor::F32 | Factor::F64 | Factor::I8 | Factor::Xf32 | Factor::F8(..), _) => false,
        }
    }
}

/// The first registers of a factor.
#[inline(always)]
fn first_registers<const R: usize>(rows: &Rows) -> &[Lanes; R] {
    let rows = rows.first_chunk::<R>();
    rows.expect("bug: a factor has the registers of its shape")
}

// ---- arithmetic

/// A step of a sum: the products of the values of K that a lane has.
trait Arithmetic {
    /// The values of 16 lanes.
    type Values: Copy;

    /// A's of one lane, 16 times.
    ///
    /// # Safety
    /// The host has vectors of 512 bits with all extensions that `multiply` requires; the lane is one.
    unsafe fn a(&self, lane: usize) -> Self::Values;

    /// B's of 16 lanes from this one on.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    unsafe fn b(&self, lane: usize) -> Self::Values;

    /// A's of 16 lanes from this one on, where each four lanes have those of the `I`th of them.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> Self::Values;

    /// What is subtracted from the sum beside `more`, for these values of B.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    #[inline(always)]
    unsafe fn excess(&self, _y: Self::Values, more: __m512i) -> __m512i {
        more
    }

    /// C before products are added.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    #[inline(always)]
    unsafe fn begin(&self, c: __m512i) -> __m512i {
        c
    }

    /// The sum of C and all products less the excess. The other sums do not depend on it, as it is a long chain.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    #[inline(always)]
    unsafe fn end(&self, sum: __m512i, _excess: __m512i) -> __m512i {
        sum
    }

    /// The sum with the products.
    ///
    /// # Safety
    /// As [`Arithmetic::a`].
    unsafe fn add(&self, sum: __m512i, x: Self::Values, y: Self::Values) -> __m512i;
}

/// The arithmetic of values that are words of `R` registers.
struct Words<'a, const R: usize, S> {
    a: &'a [Lanes; R],
    b: &'a [Lanes; R],
    step: S,
}

/// A step of a sum of [`Words`]. The functions are those of [`Arithmetic`].
trait Step<const R: usize> {
    /// # Safety
    /// As [`Arithmetic::excess`].
    #[inline(always)]
    unsafe fn excess(&self, _y: [__m512i; R], more: __m512i) -> __m512i {
        more
    }

    /// # Safety
    /// As [`Arithmetic::begin`].
    #[inline(always)]
    unsafe fn begin(&self, c: __m512i) -> __m512i {
        c
    }

    /// # Safety
    /// As [`Arithmetic::end`].
    #[inline(always)]
    unsafe fn end(&self, sum: __m512i, _excess: __m512i) -> __m512i {
        sum
    }

    /// # Safety
    /// As [`Arithmetic::add`].
    unsafe fn add(&self, sum: __m512i, x: [__m512i; R], y: [__m512i; R]) -> __m512i;
}

impl<const R: usize, S: Step<R>> Arithmetic for Words<'_, R, S> {
    type Values = [__m512i; R];

    #[inline(always)]
    unsafe fn a(&self, lane: usize) -> [__m512i; R] {
        debug_assert!(lane < 64);
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_si512(); R];
            for (value, row) in values.iter_mut().zip(self.a) {
                *value = _mm512_set1_epi32(row.get_unchecked(lane).cast_signed());
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> [__m512i; R] {
        // SAFETY: the caller's.
        unsafe { load_all(self.b, lane) }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> [__m512i; R] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = load_all(self.a, lane);
            for value in &mut values {
                *value = _mm512_shuffle_epi32::<I>(*value);
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn excess(&self, y: [__m512i; R], more: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.step.excess(y, more) }
    }

    #[inline(always)]
    unsafe fn begin(&self, c: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.step.begin(c) }
    }

    #[inline(always)]
    unsafe fn end(&self, sum: __m512i, excess: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.step.end(sum, excess) }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [__m512i; R], y: [__m512i; R]) -> __m512i {
        // SAFETY: the caller's.
        unsafe { self.step.add(sum, x, y) }
    }
}

/// A fused multiply-add of f32.
struct Fused;

impl Step<1> for Fused {
    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, [x]: [__m512i; 1], [y]: [__m512i; 1]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let (x, y) = (_mm512_castsi512_ps(x), _mm512_castsi512_ps(y));
            _mm512_castps_si512(_mm512_fmadd_ps(x, y, _mm512_castsi512_ps(sum)))
        }
    }
}

// ---- loops

/// Multiplies matrices of 4, 16 or 32 columns.
///
/// # Safety
/// The host has these features. The shape is that of `d` and of the values.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn by_size<A: Arithmetic>(shape: Matrix, arithmetic: &A, source: Source, d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe { sized(shape, arithmetic, source, d) }
}

/// # Safety
/// As [`by_size`].
#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn by_size_vnni<A: Arithmetic>(shape: Matrix, arithmetic: &A, source: Source, d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe { sized(shape, arithmetic, source, d) }
}

/// # Safety
/// As [`by_size`].
#[inline(always)]
unsafe fn sized<A: Arithmetic>(shape: Matrix, arithmetic: &A, source: Source, d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe {
        match (shape.size, shape.blocks) {
            (32, 1) => rows::<32, 2, A>(arithmetic, source, d),
            (32, _) => rows::<32, 1, A>(arithmetic, source, d),
            (16, 1) => rows::<16, 4, A>(arithmetic, source, d),
            (16, _) => rows::<16, 1, A>(arithmetic, source, d),
            _ => fours(arithmetic, d),
        }
    }
}

/// Matrices of `N` columns, 16 or 32, whose K is that of `STEPS` lanes.
///
/// # Safety
/// As [`by_size`].
#[inline(always)]
unsafe fn rows<const N: usize, const STEPS: usize, A: Arithmetic>(
    arithmetic: &A,
    source: Source,
    d: &mut Rows,
) {
    let blocks = 64 / (N * STEPS);
    // Values of B that fill at most half of the host's registers are loaded once.
    let held = size_of::<[A::Values; STEPS]>() <= 16 * size_of::<__m512i>();
    for block in 0..blocks {
        let from = source.of(block);
        for column in (0..N).step_by(16) {
            // SAFETY: the caller's; 16 columns of B are within its lanes.
            let b = |k: usize| unsafe { arithmetic.b(lanes_of::<N>(blocks, block, k) + column) };
            let all_b: [A::Values; STEPS] = array::from_fn(b);
            // SAFETY: the caller's.
            let mut excess = unsafe { _mm512_setzero_si512() };
            for y in all_b {
                // SAFETY: the caller's.
                excess = unsafe { arithmetic.excess(y, excess) };
            }
            for i in (0..N).step_by(8) {
                let (item, lane) = place::<N, 4>(block, i);
                debug_assert_eq!(place::<N, 4>(block, i + 4), (item, lane + N));
                let four = d[item..].first_chunk_mut::<4>();
                let four = four.expect("four rows are in adjacent registers");
                let mut at = |h: usize| {
                    let from = four[h % 4][lane + h / 4 * N + column..].first_chunk_mut::<16>();
                    let from = from.expect("a row of D lies within the lanes");
                    from.as_mut_ptr().cast::<__m512i>()
                };
                let mut sums = [excess; 8];
                for (h, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: the caller's; there are 16 words.
                    *sum = unsafe { arithmetic.begin(_mm512_loadu_si512(at(h))) };
                }
                for (k, &y) in all_b.iter().enumerate() {
                    let y = if held { y } else { b(k) };
                    let a_lane = lanes_of::<N>(blocks, from, k) + i;
                    for (h, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: the caller's; eight rows of A are within its lanes.
                        *sum = unsafe { arithmetic.add(*sum, arithmetic.a(a_lane + h), y) };
                    }
                }
                for (h, sum) in sums.into_iter().enumerate() {
                    // SAFETY: the caller's; there are 16 words.
                    unsafe { _mm512_storeu_si512(at(h), arithmetic.end(sum, excess)) }
                }
            }
        }
    }
}

/// Matrices of four columns, each in four lanes; D's rows are its registers.
///
/// # Safety
/// As [`by_size`].
#[inline(always)]
unsafe fn fours<A: Arithmetic>(arithmetic: &A, d: &mut Rows) {
    for lane in (0..64).step_by(16) {
        // SAFETY: the caller's; the lanes are some.
        unsafe {
            let y = arithmetic.b(lane);
            let excess = arithmetic.excess(y, _mm512_setzero_si512());
            let mut sums = [excess; 4];
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = arithmetic.begin(load(&d[i], lane));
            }
            sums[0] = arithmetic.add(sums[0], arithmetic.a_of_four::<0x00>(lane), y);
            sums[1] = arithmetic.add(sums[1], arithmetic.a_of_four::<0x55>(lane), y);
            sums[2] = arithmetic.add(sums[2], arithmetic.a_of_four::<0xaa>(lane), y);
            sums[3] = arithmetic.add(sums[3], arithmetic.a_of_four::<0xff>(lane), y);
            for (i, sum) in sums.into_iter().enumerate() {
                let sum = arithmetic.end(sum, excess);
                _mm512_storeu_si512(d[i][lane..][..16].as_mut_ptr().cast(), sum);
            }
        }
    }
}
