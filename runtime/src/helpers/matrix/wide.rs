//! Products of f16, bf16, i8 and f64, and all of four columns, on host vectors of 512 bits; sums that are cut off are [`cut`]'s.
//!
//! Factors are converted once for each instruction. Eight rows of 16 columns of D stay in host
//! registers while K is gone through.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;
use std::array;

use frontend::op::{Factor, Matrix, MatrixSums};
use lower::abi::Lanes;
use lower::ir::MatrixCall;

use super::{Factors, MOST_OF_B, Rows, Source, by_register, cdna3, cut, lanes_of, place};

/// How bytes are multiplied.
#[derive(Clone, Copy)]
pub(super) enum Bytes {
    /// By instructions of AVX512-VNNI.
    Vnni,
    /// As pairs of 16 bits.
    Pairs,
}

/// A step of a sum: the products of the values of K that a lane has.
trait Arithmetic {
    /// The values of 16 lanes.
    type Values: Copy;

    /// A's of one lane, 16 times.
    ///
    /// # Safety
    /// The host has vectors of 512 bits with all extensions that `multiply` requires; the lane is one.
    unsafe fn all(&self, lane: usize) -> Self::Values;

    /// B's of 16 lanes from this one on.
    ///
    /// # Safety
    /// As [`Arithmetic::all`].
    unsafe fn b(&self, lane: usize) -> Self::Values;

    /// A's of 16 lanes from this one on, where each four lanes have those of the `I`th of them.
    ///
    /// # Safety
    /// As [`Arithmetic::all`].
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> Self::Values;

    /// What is subtracted from C beside `more`, for the values of B from this lane on.
    ///
    /// # Safety
    /// As [`Arithmetic::all`].
    #[inline(always)]
    unsafe fn excess(&self, _lane: usize, more: __m512i) -> __m512i {
        more
    }

    /// C before products are added.
    ///
    /// # Safety
    /// As [`Arithmetic::all`].
    #[inline(always)]
    unsafe fn begin(&self, c: __m512i, _excess: __m512i) -> __m512i {
        c
    }

    /// The sum with the products.
    ///
    /// # Safety
    /// As [`Arithmetic::all`].
    unsafe fn add(&self, sum: __m512i, x: Self::Values, y: Self::Values) -> __m512i;
}

/// Multiplies; false if this is none of the products here.
///
/// # Safety
/// The host has these features, and AVX512-VNNI for `Bytes::Vnni`. `d` are the sums of the call.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
pub(super) unsafe fn multiply(
    call: &MatrixCall,
    factors: Factors<'_>,
    places: Option<&Lanes>,
    d: &mut Rows,
    bytes: Bytes,
) -> bool {
    let bytes_in_registers = call.shape.factor == Factor::I8 && !call.saturates;
    if cdna3::takes(call) && !bytes_in_registers {
        // SAFETY: the caller's.
        return unsafe { cut::avx512(call, factors, places, d) };
    }
    let (shape, source) = (call.shape, factors.source);
    let spread = spread(shape, factors);
    let factors = match &spread {
        None => factors,
        Some(a) => Factors {
            a: &a[..factors.a.len()],
            ..factors
        },
    };
    let (wide, pairs) = (factors.a.len() == 2, call.sums == MatrixSums::Pairs);
    // SAFETY: the caller's.
    unsafe {
        match (shape.factor, wide) {
            (Factor::F32, _) if shape.size == 4 => {
                let [a, b] = [factors.a, factors.b].map(|rows| &rows[0]);
                by_size(shape, &Fused { a, b }, source, d);
            }
            (Factor::F32, _) => return false,
            (Factor::F16, _) if pairs => {
                let [a, b] = [factors.a, factors.b].map(|rows| halves::<true>(rows));
                by_size(shape, &Paired { a, b }, source, d);
            }
            (Factor::F16, _) => {
                let [a, b] = [factors.a, factors.b].map(|rows| halves::<false>(rows));
                return exact(shape, (&a, &b), source, d);
            }
            (Factor::Bf16, true) => {
                let [a, b] = [factors.a, factors.b].map(|rows| shorts::<4>(rows, pairs));
                return bf16(shape, (a, b), pairs, source, d);
            }
            (Factor::Bf16, false) => {
                let [a, b] = [factors.a, factors.b].map(|rows| shorts::<2>(rows, pairs));
                return bf16(shape, (a, b), pairs, source, d);
            }
            (Factor::I8, _) => {
                let dense;
                let factors = match places {
                    None => factors,
                    Some(places) => match dense_bytes(call, factors.a, places) {
                        None => return false,
                        Some(a) => {
                            dense = a;
                            let a = &dense[..];
                            Factors { a, ..factors }
                        }
                    },
                };
                match (bytes, factors.b.len()) {
                    (Bytes::Vnni, 1) => dotted::<1>(shape, factors, d),
                    (Bytes::Vnni, 2) => dotted::<2>(shape, factors, d),
                    (Bytes::Vnni, _) => dotted::<4>(shape, factors, d),
                    (Bytes::Pairs, _) => {
                        for (shape, Factors { a, b, .. }) in by_register(shape, factors) {
                            let [a, b] = [a, b].map(|rows| words_of_bytes(&rows[0]));
                            by_size(shape, &Words { a, b }, source, d);
                        }
                    }
                }
            }
            (Factor::F64, _) if shape.size == 16 => doubles(factors, d),
            (Factor::F64 | Factor::Xf32 | Factor::F8(..), _) => return false,
        }
    }
    true
}

/// A of a shape of four columns with the blocks that CBSZ and ABID choose in the places of those that
/// they replace.
#[inline(always)]
fn spread(shape: Matrix, factors: Factors<'_>) -> Option<[Lanes; super::FACTOR]> {
    (shape.size == 4 && factors.source.cbsz != 0).then(|| {
        let lane = |lane: usize| 4 * factors.source.of(lane / 4) + lane % 4;
        let spread = |row: &Lanes| array::from_fn(|n| row[lane(n)]);
        array::from_fn(|n| factors.a.get(n).map_or([0; 64], spread))
    })
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
        match shape.size {
            32 => rows::<32, A>(shape, arithmetic, source, d),
            16 => rows::<16, A>(shape, arithmetic, source, d),
            _ => fours(arithmetic, d),
        }
    }
}

/// Matrices of `N` columns, 16 or 32.
///
/// # Safety
/// As [`by_size`].
#[inline(always)]
unsafe fn rows<const N: usize, A: Arithmetic>(
    shape: Matrix,
    arithmetic: &A,
    source: Source,
    d: &mut Rows,
) {
    let blocks = usize::from(shape.blocks);
    let steps = 64 / (N * blocks);
    for block in 0..blocks {
        let from = source.of(block);
        for column in (0..N).step_by(16) {
            let b_lane = |k: usize| lanes_of::<N>(blocks, block, k) + column;
            // SAFETY: the caller's.
            let mut excess = unsafe { _mm512_setzero_si512() };
            for k in 0..steps {
                // SAFETY: the caller's; 16 columns of B are within its lanes.
                excess = unsafe { arithmetic.excess(b_lane(k), excess) };
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
                    *sum = unsafe { arithmetic.begin(_mm512_loadu_si512(at(h)), excess) };
                }
                for k in 0..steps {
                    // SAFETY: as above.
                    let y = unsafe { arithmetic.b(b_lane(k)) };
                    let a_lane = lanes_of::<N>(blocks, from, k) + i;
                    for (h, sum) in sums.iter_mut().enumerate() {
                        // SAFETY: the caller's; eight rows of A are within its lanes.
                        *sum = unsafe { arithmetic.add(*sum, arithmetic.all(a_lane + h), y) };
                    }
                }
                for (h, sum) in sums.into_iter().enumerate() {
                    // SAFETY: the caller's; there are 16 words.
                    unsafe { _mm512_storeu_si512(at(h), sum) }
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
        let (y, excess) = unsafe {
            let none = _mm512_setzero_si512();
            (arithmetic.b(lane), arithmetic.excess(lane, none))
        };
        // SAFETY: the caller's; the lanes are some.
        unsafe {
            let mut sums = [excess; 4];
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum = arithmetic.begin(load(&d[i], lane), excess);
            }
            sums[0] = arithmetic.add(sums[0], arithmetic.a_of_four::<0x00>(lane), y);
            sums[1] = arithmetic.add(sums[1], arithmetic.a_of_four::<0x55>(lane), y);
            sums[2] = arithmetic.add(sums[2], arithmetic.a_of_four::<0xaa>(lane), y);
            sums[3] = arithmetic.add(sums[3], arithmetic.a_of_four::<0xff>(lane), y);
            for (i, sum) in sums.into_iter().enumerate() {
                _mm512_storeu_si512(d[i][lane..][..16].as_mut_ptr().cast(), sum);
            }
        }
    }
}

/// 16 words from a lane on.
///
/// # Safety
/// The host has the vector; there are 16 lanes.
#[inline(always)]
unsafe fn load(row: &Lanes, lane: usize) -> __m512i {
    debug_assert!(lane + 16 <= row.len());
    // SAFETY: the caller's.
    unsafe { _mm512_loadu_si512(row.as_ptr().add(lane).cast()) }
}

/// 16 numbers from a lane on.
///
/// # Safety
/// As [`load`].
#[inline(always)]
unsafe fn load_floats(row: &[f32; 64], lane: usize) -> __m512 {
    debug_assert!(lane + 16 <= row.len());
    // SAFETY: the caller's.
    unsafe { _mm512_loadu_ps(row.as_ptr().add(lane)) }
}

// ---- f32

/// A fused multiply-add.
struct Fused<'a> {
    a: &'a Lanes,
    b: &'a Lanes,
}

impl Arithmetic for Fused<'_> {
    type Values = __m512;

    #[inline(always)]
    unsafe fn all(&self, lane: usize) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_set1_ps(f32::from_bits(self.a[lane])) }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_castsi512_ps(load(self.b, lane)) }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> __m512 {
        // SAFETY: the caller's.
        unsafe { _mm512_permute_ps::<I>(_mm512_castsi512_ps(load(self.a, lane))) }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: __m512, y: __m512) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_castps_si512(_mm512_fmadd_ps(x, y, _mm512_castsi512_ps(sum))) }
    }
}

// ---- f16 and bf16 in pairs

/// The values of K of the lanes of A or B.
type Items<const P: usize> = [[f32; 64]; P];

/// Products that are rounded and added in pairs, then to the sum: without flushes, as none of them is
/// denormal.
struct Paired<const P: usize> {
    a: Items<P>,
    b: Items<P>,
}

impl<const P: usize> Arithmetic for Paired<P> {
    type Values = [__m512; P];

    #[inline(always)]
    unsafe fn all(&self, lane: usize) -> [__m512; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_ps(); P];
            for (value, row) in values.iter_mut().zip(&self.a) {
                *value = _mm512_set1_ps(*row.get_unchecked(lane));
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> [__m512; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_ps(); P];
            for (value, row) in values.iter_mut().zip(&self.b) {
                *value = load_floats(row, lane);
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> [__m512; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_ps(); P];
            for (value, row) in values.iter_mut().zip(&self.a) {
                *value = _mm512_permute_ps::<I>(load_floats(row, lane));
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn begin(&self, c: __m512i, _: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { positive(c) }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [__m512; P], y: [__m512; P]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let mut both = _mm512_add_ps(_mm512_mul_ps(x[0], y[0]), _mm512_mul_ps(x[1], y[1]));
            if P == 4 {
                let third = _mm512_mul_ps(x[2 % P], y[2 % P]);
                let fourth = _mm512_mul_ps(x[3 % P], y[3 % P]);
                both = _mm512_add_ps(both, _mm512_add_ps(third, fourth));
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

/// The f16 of two registers, denormals as +0 if required.
///
/// # Safety
/// The host has these features; there are two registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn halves<const FLUSH: bool>(rows: &Rows) -> Items<4> {
    let mut items = [[0.0; 64]; 4];
    for (t, item) in items.iter_mut().enumerate() {
        for lane in (0..64).step_by(16) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let words = load(&rows[t / 2], lane);
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
                _mm512_storeu_ps(item.as_mut_ptr().add(lane), _mm512_cvtph_ps(bits));
            }
        }
    }
    items
}

/// The bf16 of `P / 2` registers, denormals as +0 if required.
///
/// # Safety
/// The host has these features; there are so many registers.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn shorts<const P: usize>(rows: &Rows, flush: bool) -> Items<P> {
    let mut items = [[0.0; 64]; P];
    for (t, item) in items.iter_mut().enumerate() {
        for lane in (0..64).step_by(16) {
            // SAFETY: the caller's; the lanes are some.
            unsafe {
                let words = load(&rows[t / 2], lane);
                let mut bits = match t % 2 {
                    0 => _mm512_slli_epi32::<16>(words),
                    _ => _mm512_and_si512(words, _mm512_set1_epi32(-0x1_0000)),
                };
                if flush {
                    bits = positive(bits);
                }
                _mm512_storeu_ps(item.as_mut_ptr().add(lane), _mm512_castsi512_ps(bits));
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
unsafe fn exponents<const P: usize>(items: &Items<P>) -> Option<(i32, i32)> {
    // SAFETY: the caller's; the lanes are some.
    unsafe {
        let one = _mm512_set1_epi32(1);
        let (mut most, mut least) = (_mm512_setzero_si512(), _mm512_set1_epi32(-1));
        for item in items {
            for lane in (0..64).step_by(16) {
                let bits = _mm512_castps_si512(load_floats(item, lane));
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
    (a, b): (Items<P>, Items<P>),
    pairs: bool,
    source: Source,
    d: &mut Rows,
) -> bool {
    // SAFETY: the caller's.
    unsafe {
        if !pairs {
            return exact(shape, (&a, &b), source, d);
        }
        // All sums of products are multiples of the product of the last bits. If that is not less than
        // 2^-102, they are normal or 0; and so are they with C: where it is as small as 2^-103, it is
        // too small to cancel another, and otherwise a multiple of 2^-126.
        let (Some((_, a_least)), Some((_, b_least))) = (exponents(&a), exponents(&b)) else {
            return false;
        };
        if a_least + b_least - 14 < -102 {
            return false;
        }
        by_size(shape, &Paired { a, b }, source, d);
    }
    true
}

// ---- f16 and bf16 with one rounding

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
    (a, b): (&Items<P>, &Items<P>),
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
unsafe fn doubles_of<const P: usize>(items: &Items<P>) -> Doubles<P> {
    let mut doubles = [[0.0; 64]; P];
    for (to, from) in doubles.iter_mut().zip(items) {
        for (to, &from) in to.iter_mut().zip(from) {
            *to = f64::from(from);
        }
    }
    doubles
}

impl<const P: usize> Arithmetic for Exact<P> {
    /// Those of eight lanes, then of the next eight.
    type Values = [[__m512d; 2]; P];

    #[inline(always)]
    unsafe fn all(&self, lane: usize) -> [[__m512d; 2]; P] {
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

/// Eight numbers from a lane on, and the next eight.
///
/// # Safety
/// The host has the vector; there are 16 lanes.
#[inline(always)]
unsafe fn load_doubles(row: &[f64; 64], lane: usize) -> [__m512d; 2] {
    debug_assert!(lane + 16 <= row.len());
    // SAFETY: the caller's.
    unsafe {
        let first = row.as_ptr().add(lane);
        [_mm512_loadu_pd(first), _mm512_loadu_pd(first.add(8))]
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

// ---- i8

/// A sparse A of bytes with the zeros that it leaves out. `None` if two values have the same place.
#[inline(always)]
fn dense_bytes(call: &MatrixCall, a: &Rows, places: &Lanes) -> Option<[Lanes; MOST_OF_B]> {
    let set = match call.cbsz & 3 {
        0 => u32::from(call.abid) % 2,
        _ => 0,
    };
    let mut dense = [[0; 64]; MOST_OF_B];
    let mut clash = false;
    for (n, row) in dense.iter_mut().enumerate() {
        // Two values of each four are stored.
        for ((to, values), places) in row.iter_mut().zip(&a[n / 2]).zip(places) {
            let values = values >> (16 * (n % 2));
            let places = places >> (16 * set + 4 * n as u32);
            let (first, second) = (places & 3, places >> 2 & 3);
            clash |= first == second;
            *to = (values & 0xff) << (8 * first) | (values >> 8 & 0xff) << (8 * second);
        }
    }
    (!clash).then_some(dense)
}

/// Multiplies bytes in `R` registers of A and of B.
///
/// # Safety
/// The host has the features of [`multiply`] and AVX512-VNNI; there are such registers, and `d` are the sums.
#[target_feature(enable = "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn dotted<const R: usize>(shape: Matrix, factors: Factors<'_>, d: &mut Rows) {
    let mut a = [[0; 64]; R];
    for (a, row) in a.iter_mut().zip(factors.a) {
        for (to, word) in a.iter_mut().zip(row) {
            *to = word ^ 0x8080_8080;
        }
    }
    let b = factors.b.first_chunk::<R>();
    let b = b.expect("bug: B has as many registers as a dense A");
    // SAFETY: the caller's.
    unsafe { by_size_vnni(shape, &Dotted { a, b }, factors.source, d) }
}

/// Sums of products of unsigned bytes by signed bytes. A has 128 more than its values, so that 128
/// times the values of B is subtracted from C.
struct Dotted<'a, const R: usize> {
    a: [Lanes; R],
    b: &'a [Lanes; R],
}

impl<const R: usize> Arithmetic for Dotted<'_, R> {
    type Values = [__m512i; R];

    #[inline(always)]
    unsafe fn all(&self, lane: usize) -> [__m512i; R] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_si512(); R];
            for (value, row) in values.iter_mut().zip(&self.a) {
                *value = _mm512_set1_epi32(row.get_unchecked(lane).cast_signed());
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> [__m512i; R] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_si512(); R];
            for (value, row) in values.iter_mut().zip(self.b) {
                *value = load(row, lane);
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> [__m512i; R] {
        // SAFETY: the caller's.
        unsafe {
            let mut values = [_mm512_setzero_si512(); R];
            for (value, row) in values.iter_mut().zip(&self.a) {
                *value = _mm512_shuffle_epi32::<I>(load(row, lane));
            }
            values
        }
    }

    #[inline(always)]
    unsafe fn excess(&self, lane: usize, mut more: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            for row in self.b {
                more = _mm512_dpbusd_epi32(more, _mm512_set1_epi8(-128), load(row, lane));
            }
        }
        more
    }

    #[inline(always)]
    unsafe fn begin(&self, c: __m512i, excess: __m512i) -> __m512i {
        // SAFETY: the caller's.
        unsafe { _mm512_sub_epi32(c, excess) }
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

/// The four bytes of each lane as two pairs of 16 bits.
type Pairs = [Lanes; 2];

/// Sums of products of 16 bits.
struct Words {
    a: Pairs,
    b: Pairs,
}

/// Sign-extends bytes.
///
/// # Safety
/// The host has these features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn words_of_bytes(row: &Lanes) -> Pairs {
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

impl Arithmetic for Words {
    type Values = [__m512i; 2];

    #[inline(always)]
    unsafe fn all(&self, lane: usize) -> [__m512i; 2] {
        let [first, second] = &self.a;
        // SAFETY: the caller's.
        unsafe {
            [
                _mm512_set1_epi32(first.get_unchecked(lane).cast_signed()),
                _mm512_set1_epi32(second.get_unchecked(lane).cast_signed()),
            ]
        }
    }

    #[inline(always)]
    unsafe fn b(&self, lane: usize) -> [__m512i; 2] {
        // SAFETY: the caller's.
        unsafe { [load(&self.b[0], lane), load(&self.b[1], lane)] }
    }

    #[inline(always)]
    unsafe fn a_of_four<const I: i32>(&self, lane: usize) -> [__m512i; 2] {
        // SAFETY: the caller's.
        unsafe {
            [
                _mm512_shuffle_epi32::<I>(load(&self.a[0], lane)),
                _mm512_shuffle_epi32::<I>(load(&self.a[1], lane)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn add(&self, sum: __m512i, x: [__m512i; 2], y: [__m512i; 2]) -> __m512i {
        // SAFETY: the caller's.
        unsafe {
            let sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x[0], y[0]));
            _mm512_add_epi32(sum, _mm512_madd_epi16(x[1], y[1]))
        }
    }
}

// ---- f64

/// f64 of 16 columns: a chain of fused multiply-adds over K. The words of a number are in two
/// registers.
///
/// # Safety
/// The host has these features; A and B have two registers, D eight.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")]
unsafe fn doubles(factors: Factors<'_>, d: &mut Rows) {
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
