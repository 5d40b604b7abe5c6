//! Products of f64.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;

use crate::helpers::matrix::vectors::load;
use crate::helpers::matrix::{Factors, Rows, place};

/// f64 of 16 columns: a chain of fused multiply-adds over K. The words of a number are in two
/// registers.
///
/// # Safety
/// The host has these features; A and B have two registers, D eight.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn multiply(factors: Factors<'_>, d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe {
        let (a, b) = (joined(factors.a), joined(factors.b));
        let mut y = [[_mm512_setzero_pd(); 2]; 4];
        for (k, y) in y.iter_mut().enumerate() {
            *y = load_doubles(&b, 16 * k);
        }
        for i in (0..16).step_by(4) {
            let (item, lane) = place::<16, 1>(0, i);
            debug_assert_eq!(place::<16, 1>(0, i + 3), (item, lane + 48));
            let mut sums = [[_mm512_setzero_pd(); 2]; 4];
            for (h, sum) in sums.iter_mut().enumerate() {
                let at = lane + 16 * h;
                *sum = join(load(&d[2 * item], at), load(&d[2 * item + 1], at));
            }
            for (k, y) in y.into_iter().enumerate() {
                for (h, sum) in sums.iter_mut().enumerate() {
                    let x = _mm512_set1_pd(a[16 * k + i + h]);
                    sum[0] = _mm512_fmadd_pd(x, y[0], sum[0]);
                    sum[1] = _mm512_fmadd_pd(x, y[1], sum[1]);
                }
            }
            for (h, sum) in sums.into_iter().enumerate() {
                for (n, words) in split(sum).into_iter().enumerate() {
                    let to = &mut d[2 * item + n][lane + 16 * h..][..16];
                    _mm512_storeu_si512(to.as_mut_ptr().cast(), words);
                }
            }
        }
    }
}

/// The f64 of a pair of registers.
///
/// # Safety
/// The host has these features; there are two registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn joined(rows: &Rows) -> [f64; 64] {
    let mut all = [0.0; 64];
    for lane in (0..64).step_by(16) {
        // SAFETY: the caller's; the lanes are some.
        unsafe {
            let [first, second] = join(load(&rows[0], lane), load(&rows[1], lane));
            let to = all[lane..][..16].as_mut_ptr();
            _mm512_storeu_pd(to, first);
            _mm512_storeu_pd(to.add(8), second);
        }
    }
    all
}

/// f64 from their low and their high words.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn join(low: __m512i, high: __m512i) -> [__m512d; 2] {
    // SAFETY: the caller's.
    unsafe {
        let first = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
        let first = _mm512_permutex2var_epi32(low, first, high);
        let second = _mm512_permutex2var_epi32(low, second, high);
        [_mm512_castsi512_pd(first), _mm512_castsi512_pd(second)]
    }
}

/// The reverse of [`join`].
///
/// # Safety
/// As [`join`].
#[inline(always)]
unsafe fn split([first, second]: [__m512d; 2]) -> [__m512i; 2] {
    // SAFETY: the caller's.
    unsafe {
        let low = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        let high = _mm512_add_epi32(low, _mm512_set1_epi32(1));
        let (first, second) = (_mm512_castpd_si512(first), _mm512_castpd_si512(second));
        [
            _mm512_permutex2var_epi32(first, low, second),
            _mm512_permutex2var_epi32(first, high, second),
        ]
    }
}

/// Eight numbers from a lane on, and the next eight.
///
/// # Safety
/// The host has the vector; there are 16 lanes.
#[inline(always)]
pub(super) unsafe fn load_doubles(row: &[f64; 64], lane: usize) -> [__m512d; 2] {
    debug_assert!(lane + 16 <= row.len());
    // SAFETY: the caller's.
    unsafe {
        let first = row.as_ptr().add(lane);
        [_mm512_loadu_pd(first), _mm512_loadu_pd(first.add(8))]
    }
}
