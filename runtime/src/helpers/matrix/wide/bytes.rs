//! Products of i8.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;

use frontend::op::Matrix;
use lower::abi::Lanes;

use super::{Step, Words, by_size, by_size_vnni, first_registers};
use crate::helpers::matrix::{Factors, MOST_OF_B, Product, Rows, by_register};

/// How bytes are multiplied.
#[derive(Clone, Copy)]
pub(in super::super) enum Bytes {
    /// By instructions of AVX512-VNNI.
    Vnni,
    /// As pairs of 16 bits.
    Pairs,
}

/// Multiplies; false if two values of a sparse A have the same place.
///
/// # Safety
/// As [`super::multiply`].
#[inline(always)]
pub(super) unsafe fn multiply(product: Product<'_>, d: &mut Rows, by: Bytes) -> bool {
    let (shape, mut factors) = (product.call.shape, product.factors);
    let dense;
    if let Some(places) = product.places {
        let Some(a) = dense_bytes(product, places) else {
            return false;
        };
        dense = a;
        factors.a = &dense[..factors.b.len()];
    }
    // SAFETY: the caller's.
    unsafe {
        match (by, factors.b.len()) {
            (Bytes::Vnni, 1) => dotted::<1>(shape, factors, d),
            (Bytes::Vnni, 2) => dotted::<2>(shape, factors, d),
            (Bytes::Vnni, _) => dotted::<4>(shape, factors, d),
            (Bytes::Pairs, _) => as_pairs(shape, factors, d),
        }
    }
    true
}

/// A sparse A of bytes with the zeros that it leaves out. `None` if two values have the same place.
#[inline(always)]
fn dense_bytes(product: Product<'_>, places: &Lanes) -> Option<[Lanes; MOST_OF_B]> {
    let shift = product.first_place(8);
    let mut dense = [[0; 64]; MOST_OF_B];
    let mut clash = false;
    for (n, row) in dense.iter_mut().enumerate() {
        // Two values of each four are stored.
        for ((to, values), places) in row.iter_mut().zip(&product.factors.a[n / 2]).zip(places) {
            let values = values >> (16 * (n % 2));
            let places = places >> (shift + 4 * n as u32);
            let (first, second) = (places & 3, places >> 2 & 3);
            clash |= first == second;
            *to = (values & 0xff) << (8 * first) | (values >> 8 & 0xff) << (8 * second);
        }
    }
    (!clash).then_some(dense)
}

// ---- with AVX512-VNNI

/// Copies of registers whose host vectors do not cross cache lines: a product of four columns takes 30 ns, otherwise up to 40.
#[repr(align(64))]
struct Aligned<const R: usize>([Lanes; R]);

/// Multiplies bytes in `R` registers of A and of B.
///
/// # Safety
/// The host has the features of [`super::multiply`] and AVX512-VNNI; there are such registers, and `d` are the sums.
#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn dotted<const R: usize>(shape: Matrix, factors: Factors<'_>, d: &mut Rows) {
    let mut a = Aligned([[0; 64]; R]);
    for (a, row) in a.0.iter_mut().zip(factors.a) {
        for (to, word) in a.iter_mut().zip(row) {
            *to = word ^ 0x8080_8080;
        }
    }
    let (a, b) = (&a.0, first_registers(factors.b));
    // SAFETY: the caller's.
    unsafe { by_size_vnni(shape, &Words { a, b, step: Dotted }, factors.source, d) }
}

/// Sums of products of unsigned bytes by signed bytes. A has 128 more than its values, so that 128
/// times the values of B is subtracted from the sum.
struct Dotted;

impl<const R: usize> Step<R> for Dotted {
    #[inline(always)]
    unsafe fn excess(&self, y: [__m512i; R], mut more: __m512i) -> __m512i {
        for y in y {
            // SAFETY: the caller's.
            more = unsafe { _mm512_dpbusd_epi32(more, _mm512_set1_epi8(-128), y) };
        }
        more
    }

    #[inline(always)]
    unsafe fn end(&self, sum: __m512i, excess: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_sub_epi32(sum, excess) }
    }

    #[inline(always)]
    unsafe fn add(&self, mut sum: __m512i, x: [__m512i; R], y: [__m512i; R]) -> __m512i {
        for (x, y) in x.into_iter().zip(y) {
            // SAFETY: the caller's.
            sum = unsafe { _mm512_dpbusd_epi32(sum, x, y) };
        }
        sum
    }
}

// ---- without it

/// Multiplies bytes as pairs of 16 bits.
///
/// # Safety
/// As [`super::multiply`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn as_pairs(shape: Matrix, factors: Factors<'_>, d: &mut Rows) {
    for (shape, Factors { a, b, source }) in by_register(shape, factors) {
        // SAFETY: the caller's.
        unsafe {
            let [a, b] = &[a, b].map(|rows| words_of_bytes(&rows[0]));
            by_size(
                shape,
                &Words {
                    a,
                    b,
                    step: Sixteen,
                },
                source,
                d,
            );
        }
    }
}

/// The four bytes of each lane, sign-extended, as two pairs of 16 bits.
///
/// # Safety
/// The host has these features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn words_of_bytes(row: &Lanes) -> [Lanes; 2] {
    let mut pairs = [[0; 64]; 2];
    for (pair, up) in pairs.iter_mut().zip([16, 0]) {
        for (to, &bits) in pair.iter_mut().zip(row) {
            let bits = (bits << up).cast_signed();
            let (low, high) = (bits << 8 >> 24, bits >> 8);
            *to = (low & 0xffff | high & !0xffff).cast_unsigned();
        }
    }
    pairs
}

/// Sums of products of 16 bits.
struct Sixteen;

impl Step<2> for Sixteen {
    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [__m512i; 2], y: [__m512i; 2]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x[0], y[0]));
            _mm512_add_epi32(sum, _mm512_madd_epi16(x[1], y[1]))
        }
    }
}
