//! Host vectors of 32-bit words, which are integers or f32. Shifts by 32 and more shift everything out.

#[allow(
    clippy::wildcard_imports,
    reason = "intrinsics have long names of their own"
)]
use std::arch::x86_64::*;
use std::arch::x86_64::{
    _mm256_castps_si256 as bits256, _mm256_castsi256_ps as floats256,
    _mm512_castps_si512 as bits512, _mm512_castsi512_ps as floats512,
};

use lower::abi::Lanes;

/// A trait of host vectors with these operations: those of two vectors, each of which is an intrinsic for vectors of 512 and one for
/// those of 256 bits, and others, which are expressions.
macro_rules! operations {
    (
        of_two_vectors { $($(#[$about:meta])* $name:ident = $wide:ident, $narrow:ident;)* }
        $(
            $(#[$about_other:meta])*
            fn $other:ident $(<const $constant:ident: $ty:ty>)? ($($arguments:tt)*) -> $result:ty {
                512 => $other_wide:expr,
                256 => $other_narrow:expr,
            }
        )*
    ) => {
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
                unsafe fn $name(self, other: Self) -> Self;
            )*

            $(
                $(#[$about_other])*
                ///
                /// # Safety
                /// The host has the vector.
                unsafe fn $other $(<const $constant: $ty>)? ($($arguments)*) -> $result;
            )*
        }

        vector! {
            __m512i, 16, __mmask16, _mm512_loadu_si512, _mm512_storeu_si512;
            of_two_vectors { $($name = $wide;)* }
            $(fn $other $(<const $constant: $ty>)? ($($arguments)*) -> $result { $other_wide })*
        }

        vector! {
            __m256i, 8, __m256i, _mm256_loadu_si256, _mm256_storeu_si256;
            of_two_vectors { $($name = $narrow;)* }
            $(fn $other $(<const $constant: $ty>)? ($($arguments)*) -> $result { $other_narrow })*
        }
    };
}

/// Implements [`Vector`].
macro_rules! vector {
    (
        $vector:ident, $lanes:literal, $mask:ident, $load:ident, $store:ident;
        of_two_vectors { $($name:ident = $intrinsic:ident;)* }
        $(
            fn $other:ident $(<const $constant:ident: $ty:ty>)? ($($arguments:tt)*) -> $result:ty { $value:expr }
        )*
    ) => {
        impl Vector for $vector {
            const LANES: usize = $lanes;

            type Mask = $mask;

            #[inline(always)]
            unsafe fn load(from: *const u32) -> Self {
                // SAFETY: the caller's.
                unsafe { $load(from.cast()) }
            }

            #[inline(always)]
            unsafe fn store(self, to: *mut u32) {
                // SAFETY: the caller's.
                unsafe { $store(to.cast(), self) }
            }

            $(
                #[inline(always)]
                unsafe fn $name(self, other: Self) -> Self {
                    // SAFETY: the caller's.
                    unsafe { $intrinsic(self, other) }
                }
            )*

            $(
                #[inline(always)]
                unsafe fn $other $(<const $constant: $ty>)? ($($arguments)*) -> $result {
                    // SAFETY: the caller's.
                    unsafe { $value }
                }
            )*
        }
    };
}

operations! {
    of_two_vectors {
        /// Sums of integers.
        plus = _mm512_add_epi32, _mm256_add_epi32;
        /// Differences of integers.
        minus = _mm512_sub_epi32, _mm256_sub_epi32;
        /// The larger ones of signed integers.
        highest = _mm512_max_epi32, _mm256_max_epi32;
        /// The smaller ones of signed integers.
        lowest = _mm512_min_epi32, _mm256_min_epi32;
        /// Sums of integers of 16 bits.
        plus16 = _mm512_add_epi16, _mm256_add_epi16;
        /// The larger ones of signed integers of 16 bits.
        highest16 = _mm512_max_epi16, _mm256_max_epi16;
        /// Sums of integers of eight bits.
        plus8 = _mm512_add_epi8, _mm256_add_epi8;
        /// The larger ones of signed integers of eight bits.
        highest8 = _mm512_max_epi8, _mm256_max_epi8;
        /// Bits that both have.
        and = _mm512_and_si512, _mm256_and_si256;
        /// Bits that one of both has.
        or = _mm512_or_si512, _mm256_or_si256;
        /// Each shifted up.
        shl_by = _mm512_sllv_epi32, _mm256_sllv_epi32;
        /// Each shifted down, signed.
        sar_by = _mm512_srav_epi32, _mm256_srav_epi32;
    }

    /// The word in all places.
    fn all(n: i32) -> Self {
        512 => _mm512_set1_epi32(n),
        256 => _mm256_set1_epi32(n),
    }

    /// Absolute values of integers.
    fn size(self) -> Self {
        512 => _mm512_abs_epi32(self),
        256 => _mm256_abs_epi32(self),
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
        512 => _kor_mask16(one, other),
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

/// The words of a register from a lane on.
///
/// # Safety
/// The host has the vector; there are so many lanes.
#[inline(always)]
pub(super) unsafe fn load<V: Vector>(row: &Lanes, lane: usize) -> V {
    debug_assert!(lane + V::LANES <= row.len());
    // SAFETY: the caller's.
    unsafe { V::load(row.as_ptr().add(lane)) }
}

/// As [`load`], of several registers.
///
/// # Safety
/// As [`load`].
#[inline(always)]
pub(super) unsafe fn load_all<V: Vector, const R: usize>(rows: &[Lanes; R], lane: usize) -> [V; R] {
    // SAFETY: the caller's.
    unsafe {
        let mut all = [V::all(0); R];
        for (to, row) in all.iter_mut().zip(rows) {
            *to = load(row, lane);
        }
        all
    }
}
