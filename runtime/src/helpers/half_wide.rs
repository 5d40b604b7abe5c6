//! f16 arithmetic of a whole wave with F16C and AVX2, for the MODE that compilers use: to nearest
//! even, denormals kept, overflow to infinity. Everything else, and every group of lanes in which a
//! result is a NaN, uses the functions of one lane in [`super::half`]; results are bit-identical.
//!
//! Sums and products are computed in f32: with 24 bits the two roundings equal one. For a fused
//! multiply-add they do not; its sum is rounded to odd in f32 first.

use std::arch::x86_64::*;

use frontend::state::mode;
use lower::abi::Lanes;

use super::half;

/// Lanes in a host vector.
const GROUP: usize = 8;

/// A group's words.
type Group = [u32; GROUP];

/// Does MODE leave f16 arithmetic to the host's own rules?
fn is_plain(imm: u32) -> bool {
    imm & (mode::ROUND_F16_F64 | mode::DENORM_F16_F64 | mode::FP16_OVFL) == mode::DENORM_F16_F64
}

/// Group `k` of argument `i`.
///
/// # Safety
/// `args` points to more than `i` addresses of lane slots; `k` is below 8.
#[inline(always)]
unsafe fn group(args: *const *const Lanes, i: usize, k: usize) -> *const Group {
    // SAFETY: the caller's contract; eight groups of eight lanes make a slot.
    unsafe { (*args.add(i)).cast::<Group>().add(k) }
}

/// Group `k` of the first result.
///
/// # Safety
/// `out` points to the address of a lane slot; `k` is below 8.
#[inline(always)]
unsafe fn result(out: *const *mut Lanes, k: usize) -> *mut Group {
    // SAFETY: the caller's contract.
    unsafe { (*out).cast::<Group>().add(k) }
}

/// Two f32 vectors of the halves of eight words: those of the first four words, then the others'.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn widen(words: __m256i) -> [__m256; 2] {
    [
        _mm256_cvtph_ps(_mm256_castsi256_si128(words)),
        _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(words)),
    ]
}

/// The words of two such vectors, rounded to nearest even.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn narrow(halves: [__m256; 2]) -> __m256i {
    let [low, high] = halves.map(|h| _mm256_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(h));
    _mm256_set_m128i(high, low)
}

/// Is one of the numbers a NaN?
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn has_nan(halves: [__m256; 2]) -> bool {
    let [low, high] = halves;
    _mm256_movemask_ps(_mm256_or_ps(
        _mm256_cmp_ps::<_CMP_UNORD_Q>(low, low),
        _mm256_cmp_ps::<_CMP_UNORD_Q>(high, high),
    )) != 0
}

/// Is one of the halves a NaN?
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn has_half_nan(words: __m256i) -> bool {
    let magnitude = _mm256_and_si256(words, _mm256_set1_epi16(0x7fff));
    _mm256_movemask_epi8(_mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(0x7c00))) != 0
}

/// a * b + c, each step in f32 but the sum rounded to odd, so that rounding it to f16 is one rounding.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn multiply_add(a: __m256, b: __m256, c: __m256) -> __m256 {
    // Exact: 22 bits, no exponent beyond f32's.
    let p = _mm256_mul_ps(a, b);
    // The sum and its error.
    let s = _mm256_add_ps(p, c);
    let c_part = _mm256_sub_ps(s, p);
    let p_part = _mm256_sub_ps(s, c_part);
    let error = _mm256_add_ps(_mm256_sub_ps(p, p_part), _mm256_sub_ps(c, c_part));
    // An inexact even sum becomes its odd neighbour on the side of the error. The error of an infinite
    // sum is a NaN, which counts as none.
    let inexact = _mm256_cmp_ps::<_CMP_NEQ_OQ>(error, _mm256_setzero_ps());
    let (sum, error) = (_mm256_castps_si256(s), _mm256_castps_si256(error));
    let one = _mm256_set1_epi32(1);
    let even = _mm256_cmpeq_epi32(_mm256_and_si256(sum, one), _mm256_setzero_si256());
    let step = _mm256_or_si256(_mm256_srai_epi32::<31>(_mm256_xor_si256(sum, error)), one);
    let step = _mm256_and_si256(step, _mm256_and_si256(even, _mm256_castps_si256(inexact)));
    _mm256_castsi256_ps(_mm256_add_epi32(sum, step))
}

/// The halves as integers in the order of the numbers, and back.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn ordered(words: __m256i) -> __m256i {
    let signs = _mm256_srai_epi16::<15>(words);
    _mm256_xor_si256(words, _mm256_srli_epi16::<1>(signs))
}

/// Lists functions: number of arguments, whether only the low halves are used, the computation on
/// words or f32, and the function of one lane.
macro_rules! functions {
    ($($name:ident($count:literal, $mask:literal, |$args:ident| $body:expr, $one:path);)*) => {
        $(
            /// See [`super::LaneFn`].
            ///
            /// # Safety
            /// The contract of `lower::abi::LaneFnPtr`; the host has AVX2 and F16C.
            #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
            pub(super) unsafe extern "C" fn $name(
                out: *const *mut Lanes,
                args: *const *const Lanes,
                imm: u32,
            ) {
                let plain = is_plain(imm);
                for k in 0..64 / GROUP {
                    let words: [Group; $count] = std::array::from_fn(|i| {
                        // SAFETY: the function takes as many arguments.
                        unsafe { *group(args, i, k) }
                    });
                    if plain {
                        let $args = words.map(|word| {
                            // SAFETY: a group is 32 bytes, as the vector; any bits are valid.
                            let word = unsafe { std::mem::transmute::<Group, __m256i>(word) };
                            _mm256_and_si256(word, _mm256_set1_epi32($mask))
                        });
                        if let Some(words) = $body {
                            // SAFETY: as above.
                            let words = unsafe { std::mem::transmute::<__m256i, Group>(words) };
                            // SAFETY: the function has one result, a lane slot; the group's
                            // arguments are not used any more.
                            unsafe { *result(out, k) = words };
                            continue;
                        }
                    }
                    let one: Group = std::array::from_fn(|lane| {
                        let [word] = $one(words.map(|word| word[lane]), imm);
                        word
                    });
                    // SAFETY: as above.
                    unsafe { *result(out, k) = one };
                }
            }
        )*
    };
}

/// An f32 operation on two sources.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn through_f32(args: [__m256i; 2], f: impl Fn(__m256, __m256) -> __m256) -> Option<__m256i> {
    let ([a0, a1], [b0, b1]) = (widen(args[0]), widen(args[1]));
    let d = [f(a0, b0), f(a1, b1)];
    (!has_nan(d)).then(|| narrow(d))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn add_halves(args: [__m256i; 2]) -> Option<__m256i> {
    through_f32(args, |a, b| _mm256_add_ps(a, b))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn sub_halves(args: [__m256i; 2]) -> Option<__m256i> {
    through_f32(args, |a, b| _mm256_sub_ps(a, b))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn mul_halves(args: [__m256i; 2]) -> Option<__m256i> {
    through_f32(args, |a, b| _mm256_mul_ps(a, b))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn fma_halves(args: [__m256i; 3]) -> Option<__m256i> {
    let ([a0, a1], [b0, b1], [c0, c1]) = (widen(args[0]), widen(args[1]), widen(args[2]));
    let d = [multiply_add(a0, b0, c0), multiply_add(a1, b1, c1)];
    (!has_nan(d)).then(|| narrow(d))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn lesser_halves(args: [__m256i; 2], min: bool) -> Option<__m256i> {
    let [a, b] = args;
    if has_half_nan(a) || has_half_nan(b) {
        return None;
    }
    let (a, b) = (ordered(a), ordered(b));
    let d = if min {
        _mm256_min_epi16(a, b)
    } else {
        _mm256_max_epi16(a, b)
    };
    Some(ordered(d))
}

/// Is a number between zero and the least normal one, inclusive, where flushing decides?
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn has_tiny(words: __m256i) -> bool {
    let magnitude = _mm256_and_si256(words, _mm256_set1_epi16(0x7fff));
    let nonzero = _mm256_cmpgt_epi16(magnitude, _mm256_setzero_si256());
    let small = _mm256_cmpgt_epi16(_mm256_set1_epi16(0x401), magnitude);
    _mm256_testz_si256(nonzero, small) == 0
}

/// The product rounded, then the sum; flushing does not matter without denormals.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn mad_halves(args: [__m256i; 3]) -> Option<__m256i> {
    if args.into_iter().any(|word| has_tiny(word)) {
        return None;
    }
    let product = mul_halves([args[0], args[1]]).filter(|&p| !has_tiny(p))?;
    add_halves([product, args[2]]).filter(|&sum| !has_tiny(sum))
}

/// An f32 operation on one source.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn one_through_f32(args: [__m256i; 1], f: impl Fn(__m256) -> __m256) -> Option<__m256i> {
    let d = widen(args[0]).map(f);
    (!has_nan(d)).then(|| {
        // Only the low halves are used; a function of 0 need not be 0.
        _mm256_and_si256(narrow(d), _mm256_set1_epi32(0xffff))
    })
}

/// The square root: rounded to f32, then to f16, is rounded once.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn sqrt_halves(args: [__m256i; 1]) -> Option<__m256i> {
    one_through_f32(args, |a| _mm256_sqrt_ps(a))
}

/// The reciprocal, likewise.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn rcp_halves(args: [__m256i; 1]) -> Option<__m256i> {
    one_through_f32(args, |a| _mm256_div_ps(_mm256_set1_ps(1.0), a))
}

#[inline]
#[target_feature(enable = "avx2,f16c")]
fn integral<const HOW: i32>(args: [__m256i; 1]) -> Option<__m256i> {
    one_through_f32(args, |a| _mm256_round_ps::<HOW>(a))
}

/// The f32 of the low halves.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn widen_low(args: [__m256i; 1]) -> Option<__m256i> {
    let packed = _mm_packus_epi32(
        _mm256_castsi256_si128(args[0]),
        _mm256_extracti128_si256::<1>(args[0]),
    );
    let wide = _mm256_cvtph_ps(packed);
    (!has_nan([wide, wide])).then(|| _mm256_castps_si256(wide))
}

/// The f16 of f32.
#[inline]
#[target_feature(enable = "avx2,f16c")]
fn narrow_low(args: [__m256i; 1]) -> Option<__m256i> {
    let wide = _mm256_castsi256_ps(args[0]);
    if has_nan([wide, wide]) {
        return None;
    }
    let packed = _mm256_cvtps_ph::<{ _MM_FROUND_TO_NEAREST_INT }>(wide);
    Some(_mm256_cvtepu16_epi32(packed))
}

functions! {
    add(2, 0xffff, |a| add_halves(a), half::add);
    sub(2, 0xffff, |a| sub_halves(a), half::sub);
    mul(2, 0xffff, |a| mul_halves(a), half::mul);
    fma(3, 0xffff, |a| fma_halves(a), half::fma);
    min(2, 0xffff, |a| lesser_halves(a, true), half::min);
    max(2, 0xffff, |a| lesser_halves(a, false), half::max);
    sqrt(1, 0xffff, |a| sqrt_halves(a), half::sqrt);
    rcp(1, 0xffff, |a| rcp_halves(a), half::rcp);
    floor(1, 0xffff, |a| integral::<{ _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC }>(a), half::floor);
    ceil(1, 0xffff, |a| integral::<{ _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC }>(a), half::ceil);
    trunc(1, 0xffff, |a| integral::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(a), half::trunc);
    rndne(1, 0xffff, |a| integral::<{ _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC }>(a), half::rndne);
    mad(3, 0xffff, |a| mad_halves(a), half::mad);
    pk_add(2, -1, |a| add_halves(a), half::pk_add);
    pk_mul(2, -1, |a| mul_halves(a), half::pk_mul);
    pk_fma(3, -1, |a| fma_halves(a), half::pk_fma);
    pk_min(2, -1, |a| lesser_halves(a, true), half::pk_min);
    pk_max(2, -1, |a| lesser_halves(a, false), half::pk_max);
    cvt_f32_f16(1, 0xffff, |a| widen_low(a), half::cvt_f32_f16);
    widen_f16(1, 0xffff, |a| widen_low(a), half::widen);
    cvt_f16_f32(1, -1, |a| narrow_low(a), half::cvt_f16_f32);
}
