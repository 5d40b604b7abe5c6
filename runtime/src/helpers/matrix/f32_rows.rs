//! `v_mfma_f32` of f32 with 16 or 32 columns: a chain of fused multiply-adds over K for each
//! element, on host vectors. A single instruction has little to do for each vector of D, so that loads, multiplications
//! and stores must overlap: it goes through D by register. Of a chain of instructions, eight rows of D stay in host registers
//! while K of all of them is gone through: they are at two places in the lanes of four registers.

use frontend::op::Matrix;
use lower::abi::Lanes;

use super::{Factors, Rows, lanes_of, place};

/// A host vector of f32.
trait Vector: Copy {
    /// Elements.
    const LANES: usize;

    /// # Safety
    /// There are so many words at the address; the host has the vector.
    unsafe fn load(from: *const u32) -> Self;

    /// # Safety
    /// As [`Vector::load`].
    unsafe fn store(self, to: *mut u32);

    /// x * y + self in each element, with one rounding.
    ///
    /// # Safety
    /// The host has the vector.
    unsafe fn plus_product(self, x: u32, y: Self) -> Self;
}

impl Vector for f32 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u32) -> Self {
        // SAFETY: the caller's.
        f32::from_bits(unsafe { *from })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u32) {
        // SAFETY: the caller's.
        unsafe { *to = self.to_bits() }
    }

    #[inline(always)]
    unsafe fn plus_product(self, x: u32, y: Self) -> Self {
        f32::from_bits(x).mul_add(y, self)
    }
}

/// Implements [`Vector`] by intrinsics of the host.
#[cfg(target_arch = "x86_64")]
macro_rules! vector {
    ($vector:ident, $lanes:literal, $load:ident, $store:ident, $all:ident, $fma:ident) => {
        impl Vector for std::arch::x86_64::$vector {
            const LANES: usize = $lanes;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> Self {
                // SAFETY: the caller's.
                unsafe { std::arch::x86_64::$load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: the caller's.
                unsafe { std::arch::x86_64::$store(to.cast(), self) }
            }

            #[inline(always)]
            unsafe fn plus_product(self, x: u32, y: Self) -> Self {
                // SAFETY: the caller's.
                let x = unsafe { std::arch::x86_64::$all(f32::from_bits(x)) };
                // SAFETY: the caller's.
                unsafe { std::arch::x86_64::$fma(x, y, self) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
vector!(
    __m256,
    8,
    _mm256_loadu_ps,
    _mm256_storeu_ps,
    _mm256_set1_ps,
    _mm256_fmadd_ps
);
#[cfg(target_arch = "x86_64")]
vector!(
    __m512,
    16,
    _mm512_loadu_ps,
    _mm512_storeu_ps,
    _mm512_set1_ps,
    _mm512_fmadd_ps
);

/// For every host.
pub(super) fn portable(shape: Matrix, chain: &[Factors<'_>], d: &mut Rows) {
    // SAFETY: every host has single words.
    unsafe { by_shape::<f32, 4, 4>(shape, chain, d) }
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
pub(super) unsafe fn avx2(shape: Matrix, chain: &[Factors<'_>], d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe { by_shape::<std::arch::x86_64::__m256, 1, 1>(shape, chain, d) }
}

/// # Safety
/// The host has these features.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx2,fma")]
pub(super) unsafe fn avx512(shape: Matrix, chain: &[Factors<'_>], d: &mut Rows) {
    // SAFETY: the caller's.
    unsafe { by_shape::<std::arch::x86_64::__m512, 2, 1>(shape, chain, d) }
}

/// Matrices of 32 columns, `W32` vectors of a row at a time, or of 16, `W16` at a time.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn by_shape<V: Vector, const W32: usize, const W16: usize>(
    shape: Matrix,
    chain: &[Factors<'_>],
    d: &mut Rows,
) {
    // SAFETY: the caller's.
    unsafe {
        match (shape.size, shape.k) {
            (32, 1) => multiply::<V, 32, W32, 1, 2>(chain, d),
            (32, _) => multiply::<V, 32, W32, 2, 1>(chain, d),
            (_, 1) => multiply::<V, 16, W16, 1, 4>(chain, d),
            (_, _) => multiply::<V, 16, W16, 4, 1>(chain, d),
        }
    }
}

/// `BLOCKS` matrices of `N` columns with `K` values of K, `W` vectors of a row at a time.
///
/// # Safety
/// The host has the vector.
#[inline(always)]
unsafe fn multiply<
    V: Vector,
    const N: usize,
    const W: usize,
    const K: usize,
    const BLOCKS: usize,
>(
    chain: &[Factors<'_>],
    d: &mut Rows,
) {
    if let [one] = chain
        && V::LANES >= LEAST_LANES
    {
        // SAFETY: the caller's.
        unsafe { by_register::<V, N, K, BLOCKS>(*one, d) };
        return;
    }
    let source = chain[0].source;
    for block in 0..BLOCKS {
        let from = source.of(block);
        for i in (0..N).step_by(8) {
            let (item, lane) = place::<N, 4>(block, i);
            debug_assert_eq!(place::<N, 4>(block, i + 4), (item, lane + N));
            let rows = d[item..].first_chunk_mut::<4>();
            let rows = rows.expect("four rows are in adjacent registers");
            for column in (0..N).step_by(W * V::LANES) {
                let a = |k: usize| lanes_of::<N>(BLOCKS, from, k) + i;
                let b = |k: usize| lanes_of::<N>(BLOCKS, block, k) + column;
                // SAFETY: the caller's; a row of D begins at a multiple of N lanes, as one of B,
                // and so do N rows of A.
                unsafe {
                    eight_rows::<V, N, W, K>(chain, (a, b), (rows, lane + column));
                }
            }
        }
    }
}

/// Least words of a vector in [`by_register`].
const LEAST_LANES: usize = 8;

/// Most vectors of a register there.
const MOST: usize = 64 / LEAST_LANES;

/// A single instruction: as [`multiply`].
///
/// # Safety
/// As [`multiply`].
#[inline(always)]
unsafe fn by_register<V: Vector, const N: usize, const K: usize, const BLOCKS: usize>(
    factors: Factors<'_>,
    d: &mut Rows,
) {
    let (a, b) = (factors.a[0].as_ptr(), factors.b[0].as_ptr());
    for (block, rows) in d.chunks_exact_mut(N * N / 64).take(BLOCKS).enumerate() {
        let from = factors.source.of(block);
        let y: [[V; MOST]; K] = std::array::from_fn(|k| {
            std::array::from_fn(|w| {
                let lane = lanes_of::<N>(BLOCKS, block, k) + w * V::LANES % N;
                // SAFETY: the caller's; a row of B lies within the lanes.
                unsafe { V::load(b.add(lane)) }
            })
        });
        for (item, row) in rows.iter_mut().enumerate() {
            let mut sums: [V; MOST] = std::array::from_fn(|n| {
                // SAFETY: the caller's; these are lanes of the register.
                unsafe { V::load(row.as_ptr().add(n * V::LANES % 64)) }
            });
            let sums = &mut sums[..64 / V::LANES];
            for (k, y) in y.iter().enumerate() {
                for (n, sum) in sums.iter_mut().enumerate() {
                    let lane = n * V::LANES;
                    let i = item % 4 + 4 * (lane / N + 64 / N * (item / 4));
                    debug_assert_eq!(place::<N, 4>(block, i).1, lane / N * N);
                    // SAFETY: the caller's; a column of A lies within the lanes.
                    let x = unsafe { *a.add(lanes_of::<N>(BLOCKS, from, k) + i) };
                    // SAFETY: the caller's.
                    *sum = unsafe { sum.plus_product(x, y[lane % N / V::LANES]) };
                }
            }
            for (n, sum) in sums.iter().enumerate() {
                // SAFETY: the caller's; these are lanes of the register.
                unsafe { sum.store(row.as_mut_ptr().add(n * V::LANES)) }
            }
        }
    }
}

/// Eight rows of D in `W` vectors each, which begin at a lane of its registers, or `N` lanes behind.
/// Those of A begin at the lane that the first function gives for each K, those of B at that of the
/// second.
///
/// # Safety
/// The host has the vector. Its elements, and eight lanes of A, are within the registers.
#[inline(always)]
unsafe fn eight_rows<V: Vector, const N: usize, const W: usize, const K: usize>(
    chain: &[Factors<'_>],
    (a_lane, b_lane): (impl Fn(usize) -> usize, impl Fn(usize) -> usize),
    (d, lane): (&mut [Lanes; 4], usize),
) {
    let at = |h: usize, w: usize| lane + h / 4 * N + w * V::LANES;
    let mut sum: [[V; W]; 8] = std::array::from_fn(|h| {
        std::array::from_fn(|w| {
            // SAFETY: the caller's.
            unsafe { V::load(d[h % 4].as_ptr().add(at(h, w))) }
        })
    });
    for factors in chain {
        let (a, b) = (factors.a[0].as_ptr(), factors.b[0].as_ptr());
        for k in 0..K {
            let y: [V; W] = std::array::from_fn(|w| {
                // SAFETY: the caller's.
                unsafe { V::load(b.add(b_lane(k) + w * V::LANES)) }
            });
            for (h, sum) in sum.iter_mut().enumerate() {
                // SAFETY: the caller's.
                let x = unsafe { *a.add(a_lane(k) + h) };
                for w in 0..W {
                    // SAFETY: the caller's.
                    sum[w] = unsafe { sum[w].plus_product(x, y[w]) };
                }
            }
        }
    }
    for (h, sum) in sum.into_iter().enumerate() {
        for (w, sum) in sum.into_iter().enumerate() {
            // SAFETY: the caller's.
            unsafe { sum.store(d[h % 4].as_mut_ptr().add(at(h, w))) }
        }
    }
}
