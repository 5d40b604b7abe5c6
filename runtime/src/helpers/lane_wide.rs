//! The functions of [`super::lane`] that fetch from other lanes, with AVX-512: a wave is four vectors, and two permutations
//! of two vectors each fetch from any of its lanes.

use std::arch::x86_64::*;

use lower::abi::Lanes;

use super::lane::{DPP_SOURCES, leaves_rows, swizzle_sources};

/// The words of 64 lanes.
type Wave = [__m512i; 4];

/// Argument `i` of a lane function.
///
/// # Safety
/// `args` points to more than `i` addresses of lane slots.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn arg(args: *const *const Lanes, i: usize) -> Wave {
    // SAFETY: the caller's contract; four vectors make a slot.
    std::array::from_fn(|n| unsafe { _mm512_loadu_si512((*args.add(i)).cast::<__m512i>().add(n)) })
}

/// Writes result `i`.
///
/// # Safety
/// `out` points to more than `i` addresses of lane slots.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
unsafe fn give(out: *const *mut Lanes, i: usize, value: Wave) {
    for (n, vector) in value.into_iter().enumerate() {
        // SAFETY: the caller's contract; four vectors make a slot.
        unsafe { _mm512_storeu_si512((*out.add(i)).cast::<__m512i>().add(n), vector) };
    }
}

/// The data of active lanes, 0 for others.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn where_active(data: Wave, active: Wave) -> Wave {
    std::array::from_fn(|n| {
        let on = _mm512_test_epi32_mask(active[n], active[n]);
        _mm512_maskz_mov_epi32(on, data[n])
    })
}

/// For each lane the data of the lane in `from`: bits 5:0.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fetched(data: Wave, from: Wave) -> Wave {
    from.map(|from| {
        let low = _mm512_permutex2var_epi32(data[0], from, data[1]);
        let high = _mm512_permutex2var_epi32(data[2], from, data[3]);
        let upper = _mm512_test_epi32_mask(from, _mm512_set1_epi32(32));
        _mm512_mask_blend_epi32(upper, low, high)
    })
}

/// The same within rows of 16 lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fetched_in_rows(data: Wave, from: Wave) -> Wave {
    std::array::from_fn(|n| _mm512_permutexvar_epi32(from[n], data[n]))
}

/// The same within halves of the wave.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn fetched_in_halves([a, b, c, d]: Wave, from: Wave) -> Wave {
    std::array::from_fn(|n| match n {
        0 | 1 => _mm512_permutex2var_epi32(a, from[n], b),
        _ => _mm512_permutex2var_epi32(c, from[n], d),
    })
}

/// The lane numbers in byte addresses.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn lanes_of(addresses: Wave) -> Wave {
    addresses
        .map(|address| _mm512_and_si512(_mm512_srli_epi32::<2>(address), _mm512_set1_epi32(63)))
}

/// `ds_bpermute`.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`; the host has AVX-512 F, BW, DQ and VL.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe extern "C" fn bpermute(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    _: u32,
) {
    // SAFETY: the function takes three arguments and gives one result.
    unsafe {
        let data = where_active(arg(args, 1), arg(args, 2));
        give(out, 0, fetched(data, lanes_of(arg(args, 0))));
    }
}

/// `ds_permute`. Of lanes that send to one the highest is stored last.
///
/// # Safety
/// As for [`bpermute`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe extern "C" fn permute(out: *const *mut Lanes, args: *const *const Lanes, _: u32) {
    // SAFETY: the function takes three arguments and gives one result. Lane numbers are below 64.
    unsafe {
        let (to, data, active) = (lanes_of(arg(args, 0)), arg(args, 1), arg(args, 2));
        let mut values: Lanes = [0; 64];
        for n in 0..4 {
            let on = _mm512_test_epi32_mask(active[n], active[n]);
            _mm512_mask_i32scatter_epi32::<4>(values.as_mut_ptr().cast(), on, to[n], data[n]);
        }
        **out = values;
    }
}

/// DPP's fetch.
///
/// # Safety
/// As for [`bpermute`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe extern "C" fn dpp(out: *const *mut Lanes, args: *const *const Lanes, ctrl: u32) {
    let sources = &DPP_SOURCES[ctrl as usize % DPP_SOURCES.len()];
    // SAFETY: the function takes two arguments and gives two results; a row has a byte for each of 64 lanes.
    unsafe {
        let (data, active) = (arg(args, 0), arg(args, 1));
        let from: Wave = std::array::from_fn(|n| {
            let bytes = _mm_loadu_si128(sources.as_ptr().cast::<__m128i>().add(n));
            _mm512_cvtepu8_epi32(bytes)
        });
        let none = _mm512_movepi8_mask(_mm512_loadu_si512(sources.as_ptr().cast()));
        let there = |wave: Wave| -> Wave {
            std::array::from_fn(|n| _mm512_maskz_mov_epi32(!(none >> (16 * n)) as u16, wave[n]))
        };
        let ones = [_mm512_set1_epi32(1); 4];
        let (data, valid) = (where_active(data, active), where_active(ones, active));
        let (values, valid) = match leaves_rows(ctrl) {
            true => (fetched(data, from), fetched(valid, from)),
            false => (fetched_in_rows(data, from), fetched_in_rows(valid, from)),
        };
        give(out, 0, there(values));
        give(out, 1, there(valid));
    }
}

/// `ds_swizzle`.
///
/// # Safety
/// As for [`bpermute`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
pub(super) unsafe extern "C" fn swizzle(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) {
    let from = swizzle_sources(imm);
    // SAFETY: the function takes two arguments and gives one result; four vectors are 64 words.
    unsafe {
        let data = where_active(arg(args, 0), arg(args, 1));
        let from =
            std::array::from_fn(|n| _mm512_loadu_si512(from.as_ptr().cast::<__m512i>().add(n)));
        give(out, 0, fetched_in_halves(data, from));
    }
}
