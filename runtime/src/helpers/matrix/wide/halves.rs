//! Products of f16 and bf16 as gfx908 and gfx90a have them.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;

use frontend::op::{Factor, Matrix};
use lower::abi::Lanes;

use super::doubles::load_doubles;
use super::{Arithmetic, Step, Words, by_size};
use crate::helpers::matrix::vectors::{Vector, load};
use crate::helpers::matrix::{Factors, Rows, Source};

/// Multiplies, with sums in pairs or with one rounding. False if some products may be denormal and would be flushed, or sums are not
/// exact in f64.
///
/// # Safety
/// As [`super::multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn multiply(
    shape: Matrix,
    Factors { a, b, source }: Factors<'_>,
    pairs: bool,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        match (shape.factor, a.len()) {
            (Factor::F16, _) if pairs => {
                // Products of f16 that are no denormals are none, and neither are their sums.
                let [a, b] = &[a, b].map(|rows| f16_values::<true>(rows));
                by_size(shape, &Words { a, b, step: Paired }, source, d);
                true
            }
            (Factor::F16, _) => {
                let [a, b] = &[a, b].map(|rows| f16_values::<false>(rows));
                exact(shape, (a, b), source, d)
            }
            (_, 2) => {
                let [a, b] = &[a, b].map(|rows| bf16_values::<4>(rows, pairs));
                bf16(shape, (a, b), pairs, source, d)
            }
            (_, _) => {
                let [a, b] = &[a, b].map(|rows| bf16_values::<2>(rows, pairs));
                bf16(shape, (a, b), pairs, source, d)
            }
        }
    }
}

// ---- in pairs

/// Products that are rounded and added in pairs, then to the sum: without flushes, as none of them is
/// denormal.
struct Paired;

impl<const P: usize> Step<P> for Paired {
    #[inline(always)]
    unsafe fn begin(&self, c: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { positive(c) }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [__m512i; P], y: [__m512i; P]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let product = |t: usize| {
                let (x, y) = (x[t % P], y[t % P]);
                _mm512_mul_ps(_mm512_castsi512_ps(x), _mm512_castsi512_ps(y))
            };
            let mut both = _mm512_add_ps(product(0), product(1));
            if P == 4 {
                both = _mm512_add_ps(both, _mm512_add_ps(product(2), product(3)));
            }
            _mm512_castps_si512(_mm512_add_ps(_mm512_castsi512_ps(sum), both))
        }
    }
}

/// Denormals as +0.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn positive(x: __m512i) -> __m512i {
    // SAFETY: the caller's.
    unsafe {
        let small = _mm512_testn_epi32_mask(x, _mm512_set1_epi32(0x7f80_0000));
        let denormal = _mm512_mask_test_epi32_mask(small, x, _mm512_set1_epi32(0x7f_ffff));
        _mm512_mask_mov_epi32(x, denormal, _mm512_setzero_si512())
    }
}

/// The f16 of two registers as f32, denormals as +0 if required.
///
/// # Safety
/// The host has these features; there are two registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn f16_values<const FLUSH: bool>(rows: &Rows) -> [Lanes; 4] {
    let mut items = [[0; 64]; 4];
    for (t, item) in items.iter_mut().enumerate() {
        for lane in (0..64).step_by(16) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let words: __m512i = load(&rows[t / 2], lane);
                let words = match t % 2 {
                    0 => words,
                    _ => _mm512_srli_epi32::<16>(words),
                };
                let mut bits = _mm512_cvtepi32_epi16(words);
                if FLUSH {
                    let small = _mm256_testn_epi16_mask(bits, _mm256_set1_epi16(0x7c00));
                    let fraction = _mm256_set1_epi16(0x3ff);
                    let denormal = _mm256_mask_test_epi16_mask(small, bits, fraction);
                    bits = _mm256_mask_mov_epi16(bits, denormal, _mm256_setzero_si256());
                }
                let values = _mm512_castps_si512(_mm512_cvtph_ps(bits));
                values.store(item.as_mut_ptr().add(lane));
            }
        }
    }
    items
}

/// The bf16 of `P / 2` registers as f32, denormals as +0 if required.
///
/// # Safety
/// The host has these features; there are so many registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn bf16_values<const P: usize>(rows: &Rows, flush: bool) -> [Lanes; P] {
    let mut items = [[0; 64]; P];
    for (t, item) in items.iter_mut().enumerate() {
        for lane in (0..64).step_by(16) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let words: __m512i = load(&rows[t / 2], lane);
                let mut bits = match t % 2 {
                    0 => _mm512_slli_epi32::<16>(words),
                    _ => _mm512_and_si512(words, _mm512_set1_epi32(-0x1_0000)),
                };
                if flush {
                    bits = positive(bits);
                }
                bits.store(item.as_mut_ptr().add(lane));
            }
        }
    }
    items
}

/// The exponents of some numbers: of the greatest, and of the least but 0, the multiples of whose last
/// bit they all are. `None` if one is infinite or a NaN.
///
/// # Safety
/// The host has these features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn exponents<const P: usize>(items: &[Lanes; P]) -> Option<(i32, i32)> {
    // SAFETY: the caller's; the lanes are some.
    unsafe {
        let one = _mm512_set1_epi32(1);
        let (mut most, mut least) = (_mm512_setzero_si512(), _mm512_set1_epi32(-1));
        for item in items {
            for lane in (0..64).step_by(16) {
                let bits = load(item, lane);
                let size = _mm512_and_si512(bits, _mm512_set1_epi32(i32::MAX));
                most = _mm512_max_epu32(most, size);
                // 0 becomes the greatest.
                least = _mm512_min_epu32(least, _mm512_sub_epi32(size, one));
            }
        }
        let most = (_mm512_reduce_max_epu32(most) >> 23) as i32;
        let least = _mm512_reduce_min_epu32(least).saturating_add(1) >> 23;
        (most < 255).then(|| (most.max(1) - 127, (least as i32).clamp(1, 254) - 127))
    }
}

/// bf16. False if some of their products or sums may be denormal and would be flushed, or are not exact
/// in f64.
///
/// # Safety
/// As [`multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn bf16<const P: usize>(
    shape: Matrix,
    (a, b): (&[Lanes; P], &[Lanes; P]),
    pairs: bool,
    source: Source,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        if !pairs {
            return exact(shape, (a, b), source, d);
        }
        // All sums of products are multiples of the product of the last bits. If that is not less than
        // 2^-102, they are normal or 0; and so are they with C: where it is as small as 2^-103, it is
        // too small to cancel another, and otherwise a multiple of 2^-126.
        let (Some((_, a_least)), Some((_, b_least))) = (exponents(a), exponents(b)) else {
            return false;
        };
        if a_least + b_least - 14 < -102 {
            return false;
        }
        by_size(shape, &Words { a, b, step: Paired }, source, d);
    }
    true
}

// ---- with one rounding

/// The values of K of the lanes of A or B as f64.
type Doubles<const P: usize> = [[f64; 64]; P];

/// Products and the sum so far are added exactly and rounded once. All sums of products are exact in
/// f64.
struct Exact<const P: usize> {
    a: Doubles<P>,
    b: Doubles<P>,
}

/// f16 of four values in a lane, or bf16; false if the sum of the products of a lane may be inexact in
/// f64.
///
/// # Safety
/// As [`multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn exact<const P: usize>(
    shape: Matrix,
    (a, b): (&[Lanes; P], &[Lanes; P]),
    source: Source,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        let (Some(of_a), Some(of_b)) = (exponents(a), exponents(b)) else {
            return false;
        };
        // The exponent of the last bit that a factor may have. Denormal f16 are normal here, denormal
        // bf16 have the exponent of the least normal f32.
        let last = |least: i32| match shape.factor {
            Factor::F16 => (least - 10).max(-24),
            _ => least - 7,
        };
        // A sum of P products of less than 2^(a + 1) 2^(b + 1).
        let highest = of_a.0 + of_b.0 + 2 + P.ilog2() as i32;
        if highest - last(of_a.1) - last(of_b.1) > 53 {
            return false;
        }
        let (a, b) = (doubles_of(a), doubles_of(b));
        by_size(shape, &Exact { a, b }, source, d);
    }
    true
}

/// To f64.
///
/// # Safety
/// The host has these features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn doubles_of<const P: usize>(items: &[Lanes; P]) -> Doubles<P> {
    let mut doubles = [[0.0; 64]; P];
    for (to, from) in doubles.iter_mut().zip(items) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = f64::from(f32::from_bits(from));
        }
    }
    doubles
}

impl<const P: usize> Arithmetic for Exact<P> {
    /// Those of eight lanes, then of the next eight.
    type Values = [[__m512d; 2]; P];

    #[inline(always)]
    unsafe fn a(&self, lane: usize) -> [[__m512d; 2]; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [[_mm512_setzero_pd(); 2]; P];
            for (value, row) in values.iter_mut().zip(&self.a) {
                *value = [_mm512_set1_pd(*row.get_unchecked(lane)); 2];
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> [[__m512d; 2]; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [[_mm512_setzero_pd(); 2]; P];
            for (value, row) in values.iter_mut().zip(&self.b) {
                *value = load_doubles(row, lane);
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> [[__m512d; 2]; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [[_mm512_setzero_pd(); 2]; P];
            for (value, row) in values.iter_mut().zip(&self.a) {
                let [low, high] = load_doubles(row, lane);
                *value = [_mm512_permutex_pd::<I>(low), _mm512_permutex_pd::<I>(high)];
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [[__m512d; 2]; P], y: [[__m512d; 2]; P]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let c = _mm512_castsi512_ps(sum);
            // A first product of -0 gives +0.
            let (mut low, mut high) = (_mm512_setzero_pd(), _mm512_setzero_pd());
            for (x, y) in x.into_iter().zip(y) {
                low = _mm512_fmadd_pd(x[0], y[0], low);
                high = _mm512_fmadd_pd(x[1], y[1], high);
            }
            low = to_odd(low, _mm512_cvtps_pd(_mm512_castps512_ps256(c)));
            high = to_odd(high, _mm512_cvtps_pd(_mm512_extractf32x8_ps::<1>(c)));
            let (low, high) = (_mm512_cvtpd_ps(low), _mm512_cvtpd_ps(high));
            let sum = _mm512_insertf32x8::<1>(_mm512_castps256_ps512(low), high);
            _mm512_castps_si512(sum)
        }
    }
}

/// The sum rounded to odd: truncated, and with a last bit of 1 if that is inexact. Rounding it to f32
/// is rounding the exact sum.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn to_odd(a: __m512d, b: __m512d) -> __m512d {
    // SAFETY: the caller's.
    unsafe {
        let cut = _mm512_add_round_pd::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a, b);
        let below = _mm512_add_round_pd::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a, b);
        let above = _mm512_add_round_pd::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(a, b);
        let inexact = _mm512_cmp_pd_mask::<_CMP_NEQ_OQ>(below, above);
        let bits = _mm512_castpd_si512(cut);
        let odd = _mm512_mask_or_epi64(bits, inexact, bits, _mm512_set1_epi64(1));
        _mm512_castsi512_pd(odd)
    }
}
