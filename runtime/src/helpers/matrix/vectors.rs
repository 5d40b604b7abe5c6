//! Host vectors of 32-bit words, which are integers or f32. Shifts by 32 and more shift everything out.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;

/// A trait of host vectors with these operations, each of which has an expression for vectors of 512 and one for those of
/// 256 bits.
macro_rules! operations {
    ($(
        $(#[$about:meta])*
        fn $name:ident $(<const $constant:ident: $ty:ty>)? ($($arguments:tt)*) -> $result:ty {
            512 => $wide:expr,
            256 => $narrow:expr,
        }
    )*) => {
        /// A host vector.
        pub(super) trait Vector: Copy {
            /// Words.
            const LANES: usize;

            /// A choice of words.
            type Mask: Copy;

            /// # Safety
            /// There are so many words at the address; the host has the vector.
            unsafe fn load(from: *const u32) -> Self;

            /// # Safety
            /// As [`Vector::load`].
            unsafe fn store(self, to: *mut u32);

            $(
                $(#[$about])*
                ///
                /// # Safety
                /// The host has the vector.
                unsafe fn $name $(<const $constant: $ty>)? ($($arguments)*) -> $result;
            )*
        }

        impl Vector for __m512i {
            const LANES: usize = 16;

            type Mask = __mmask16;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> Self {
                // SAFETY: the caller's.
                unsafe { _mm512_loadu_si512(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: the caller's.
                unsafe { _mm512_storeu_si512(to.cast(), self) }
            }

            $(
                #[inline(always)]
                unsafe fn $name $(<const $constant: $ty>)? ($($arguments)*) -> $result {
                    #[allow(unused_unsafe, reason = "not all expressions need it")]
                    // SAFETY: the caller's.
                    unsafe { $wide }
                }
            )*
        }

        impl Vector for __m256i {
            const LANES: usize = 8;

            type Mask = __m256i;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> Self {
                // SAFETY: the caller's.
                unsafe { _mm256_loadu_si256(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: the caller's.
                unsafe { _mm256_storeu_si256(to.cast(), self) }
            }

            $(
                #[inline(always)]
                unsafe fn $name $(<const $constant: $ty>)? ($($arguments)*) -> $result {
                    // SAFETY: the caller's.
                    unsafe { $narrow }
                }
            )*
        }
    };
}

operations! {
    /// The word in all places.
    fn all(n: i32) -> Self {
        512 => _mm512_set1_epi32(n),
        256 => _mm256_set1_epi32(n),
    }

    /// Sums of integers.
    fn plus(self, other: Self) -> Self {
        512 => _mm512_add_epi32(self, other),
        256 => _mm256_add_epi32(self, other),
    }

    /// Differences of integers.
    fn minus(self, other: Self) -> Self {
        512 => _mm512_sub_epi32(self, other),
        256 => _mm256_sub_epi32(self, other),
    }

    /// The larger ones of signed integers.
    fn highest(self, other: Self) -> Self {
        512 => _mm512_max_epi32(self, other),
        256 => _mm256_max_epi32(self, other),
    }

    /// The smaller ones of signed integers.
    fn lowest(self, other: Self) -> Self {
        512 => _mm512_min_epi32(self, other),
        256 => _mm256_min_epi32(self, other),
    }

    /// Sums of integers of 16 bits.
    fn plus16(self, other: Self) -> Self {
        512 => _mm512_add_epi16(self, other),
        256 => _mm256_add_epi16(self, other),
    }

    /// The larger ones of signed integers of 16 bits.
    fn highest16(self, other: Self) -> Self {
        512 => _mm512_max_epi16(self, other),
        256 => _mm256_max_epi16(self, other),
    }

    /// Sums of integers of eight bits.
    fn plus8(self, other: Self) -> Self {
        512 => _mm512_add_epi8(self, other),
        256 => _mm256_add_epi8(self, other),
    }

    /// The larger ones of signed integers of eight bits.
    fn highest8(self, other: Self) -> Self {
        512 => _mm512_max_epi8(self, other),
        256 => _mm256_max_epi8(self, other),
    }

    /// Absolute values of integers.
    fn size(self) -> Self {
        512 => _mm512_abs_epi32(self),
        256 => _mm256_abs_epi32(self),
    }

    /// Bits that both have.
    fn and(self, other: Self) -> Self {
        512 => _mm512_and_si512(self, other),
        256 => _mm256_and_si256(self, other),
    }

    /// Bits that one of both has.
    fn or(self, other: Self) -> Self {
        512 => _mm512_or_si512(self, other),
        256 => _mm256_or_si256(self, other),
    }

    /// Shifted up.
    fn shl <const N: u32>(self) -> Self {
        512 => _mm512_slli_epi32::<N>(self),
        256 => _mm256_sll_epi32(self, _mm_cvtsi32_si128(N.cast_signed())),
    }

    /// Shifted down.
    fn shr <const N: u32>(self) -> Self {
        512 => _mm512_srli_epi32::<N>(self),
        256 => _mm256_srl_epi32(self, _mm_cvtsi32_si128(N.cast_signed())),
    }

    /// Shifted down, signed.
    fn sar <const N: u32>(self) -> Self {
        512 => _mm512_srai_epi32::<N>(self),
        256 => _mm256_sra_epi32(self, _mm_cvtsi32_si128(N.cast_signed())),
    }

    /// Each shifted up.
    fn shl_by(self, by: Self) -> Self {
        512 => _mm512_sllv_epi32(self, by),
        256 => _mm256_sllv_epi32(self, by),
    }

    /// Each shifted down, signed.
    fn sar_by(self, by: Self) -> Self {
        512 => _mm512_srav_epi32(self, by),
        256 => _mm256_srav_epi32(self, by),
    }

    /// Products of f32.
    fn times(self, other: Self) -> Self {
        512 => bits512(_mm512_mul_ps(floats512(self), floats512(other))),
        256 => bits256(_mm256_mul_ps(floats256(self), floats256(other))),
    }

    /// Sums of f32.
    fn plus_f32(self, other: Self) -> Self {
        512 => bits512(_mm512_add_ps(floats512(self), floats512(other))),
        256 => bits256(_mm256_add_ps(floats256(self), floats256(other))),
    }

    /// The integer parts of f32.
    fn truncated(self) -> Self {
        512 => _mm512_cvttps_epi32(floats512(self)),
        256 => _mm256_cvttps_epi32(floats256(self)),
    }

    /// Integers as f32, rounded to nearest even.
    fn to_f32(self) -> Self {
        512 => bits512(_mm512_cvtepi32_ps(self)),
        256 => bits256(_mm256_cvtepi32_ps(self)),
    }

    /// Products of f32 as integers, downwards; that of a tiny negative number is -1.
    fn floor_of_product(self, other: Self) -> Self {
        512 => {
            const DOWN: i32 = _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC;
            let product = _mm512_mul_round_ps::<DOWN>(floats512(self), floats512(other));
            _mm512_cvt_roundps_epi32::<DOWN>(product)
            },
        256 => {
            let (x, zero) = (floats256(self), _mm256_setzero_ps());
            let negative = _mm256_cmp_ps::<_CMP_LT_OQ>(x, zero);
            let tiny = _mm256_and_ps(negative, _mm256_set1_ps(-1e-30));
            let product = _mm256_mul_ps(x, floats256(other));
            _mm256_cvttps_epi32(_mm256_floor_ps(_mm256_add_ps(product, tiny)))
            },
    }

    /// f32 between `-limit` and `limit`.
    fn limited(self, limit: Self) -> Self {
        512 => {
            let (x, limit) = (floats512(self), floats512(limit));
            let lower = _mm512_sub_ps(_mm512_setzero_ps(), limit);
            bits512(_mm512_max_ps(_mm512_min_ps(x, limit), lower))
            },
        256 => {
            let (x, limit) = (floats256(self), floats256(limit));
            let lower = _mm256_sub_ps(_mm256_setzero_ps(), limit);
            bits256(_mm256_max_ps(_mm256_min_ps(x, limit), lower))
            },
    }

    /// In each four words the one with this number, which is given four times in two bits.
    fn quads <const I: i32>(self) -> Self {
        512 => _mm512_shuffle_epi32::<I>(self),
        256 => _mm256_shuffle_epi32::<I>(self),
    }

    /// The f16 in the low halves as f32.
    fn widened(self) -> Self {
        512 => bits512(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(self))),
        256 => {
            let low = _mm256_and_si256(self, _mm256_set1_epi32(0xffff));
            let halves = _mm256_permute4x64_epi64::<0x08>(_mm256_packus_epi32(low, low));
            bits256(_mm256_cvtph_ps(_mm256_castsi256_si128(halves)))
            },
    }

    /// Where signed integers are less.
    fn less(self, other: Self) -> Self::Mask {
        512 => _mm512_cmplt_epi32_mask(self, other),
        256 => _mm256_cmpgt_epi32(other, self),
    }

    /// Where words are equal.
    fn equals(self, other: Self) -> Self::Mask {
        512 => _mm512_cmpeq_epi32_mask(self, other),
        256 => _mm256_cmpeq_epi32(self, other),
    }

    /// Where words have a bit in common.
    fn meets(self, other: Self) -> Self::Mask {
        512 => _mm512_test_epi32_mask(self, other),
        256 => {
            let none = _mm256_cmpeq_epi32(_mm256_and_si256(self, other), _mm256_setzero_si256());
            _mm256_xor_si256(none, _mm256_set1_epi32(-1))
            },
    }

    /// What one of both chooses.
    fn either(one: Self::Mask, other: Self::Mask) -> Self::Mask {
        512 => one | other,
        256 => _mm256_or_si256(one, other),
    }

    /// Words of `yes` where they are chosen, otherwise of `no`.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
        512 => _mm512_mask_mov_epi32(no, mask, yes),
        256 => _mm256_blendv_epi8(no, yes, mask),
    }

    /// The largest one of signed integers.
    fn largest(self) -> i32 {
        512 => _mm512_reduce_max_epi32(self),
        256 => {
            let words: [i32; 8] = std::mem::transmute(self);
            words.into_iter().fold(i32::MIN, i32::max)
            },
    }
}

/// As numbers.
#[inline(always)]
fn floats512(x: __m512i) -> __m512 {
    // SAFETY: these bits are some numbers.
    unsafe { std::mem::transmute(x) }
}

/// As bits.
#[inline(always)]
fn bits512(x: __m512) -> __m512i {
    // SAFETY: any bits are words.
    unsafe { std::mem::transmute(x) }
}

/// As numbers.
#[inline(always)]
fn floats256(x: __m256i) -> __m256 {
    // SAFETY: these bits are some numbers.
    unsafe { std::mem::transmute(x) }
}

/// As bits.
#[inline(always)]
fn bits256(x: __m256) -> __m256i {
    // SAFETY: any bits are words.
    unsafe { std::mem::transmute(x) }
}
