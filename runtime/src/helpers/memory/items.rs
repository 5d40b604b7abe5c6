//! Elements of a lane in memory, one type for each kind, so that loops over lanes are compiled for
//! each: single elements, and contiguous ones of a whole wave.
//!
//! Guest memory is accessed by relaxed atomics.

use crate::memory::sixteen;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

use lower::abi::Lanes;

/// One lane's data in memory, and its conversion from and to registers.
pub(super) trait Item: Copy {
    /// Registers.
    const WORDS: usize;
    /// Bytes in memory.
    const BYTES: u64;
    /// Address bits that are 0.
    const ALIGN: u32;

    /// Reads an element of guest memory. `AVX`: in code for hosts with AVX.
    ///
    /// # Safety
    /// The element's bytes are guest memory, aligned as [`Item::ALIGN`] says.
    unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4];

    /// Writes an element of guest memory.
    ///
    /// # Safety
    /// As for [`Item::load`].
    unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]);

    /// Reads an element of LDS.
    ///
    /// # Safety
    /// The element's bytes are inside the workgroup's LDS, which nothing else uses.
    #[inline(always)]
    unsafe fn load_lds(from: *const u8) -> [u32; 4] {
        let mut bytes = [0; 16];
        // SAFETY: the caller's contract.
        unsafe { std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), Self::BYTES as usize) };
        Self::extend(bytes)
    }

    /// Writes an element of LDS.
    ///
    /// # Safety
    /// As for [`Item::load_lds`].
    #[inline(always)]
    unsafe fn store_lds(to: *mut u8, words: [u32; 4]) {
        let mut bytes = [0; 16];
        for (i, word) in words.into_iter().enumerate() {
            bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
        // SAFETY: the caller's contract.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, Self::BYTES as usize) };
    }

    /// Reads 64 contiguous elements of guest memory into a slot; false if this kind, or this
    /// address, has no fast path.
    ///
    /// # Safety
    /// As for [`Item::load`], of all 64; the slot has 64 words.
    #[inline(always)]
    unsafe fn load_run(_from: *mut u8, _slot: *mut u32) -> bool {
        false
    }

    /// Registers of the leading bytes; the others are 0.
    #[inline(always)]
    fn extend(bytes: [u8; 16]) -> [u32; 4] {
        std::array::from_fn(|i| {
            u32::from_le_bytes([
                bytes[4 * i],
                bytes[4 * i + 1],
                bytes[4 * i + 2],
                bytes[4 * i + 3],
            ])
        })
    }
}

/// Dwords, `N` of them.
#[derive(Clone, Copy)]
pub(super) struct Dwords<const N: usize>;

impl<const N: usize> Item for Dwords<N> {
    const WORDS: usize = N;
    const BYTES: u64 = 4 * N as u64;
    const ALIGN: u32 = if N.is_multiple_of(2) { 7 } else { 3 };

    #[inline(always)]
    unsafe fn load_run(from: *mut u8, slot: *mut u32) -> bool {
        if N != 1 {
            return false;
        }
        for i in 0..64 {
            // SAFETY: the caller's contract.
            unsafe {
                *slot.add(i) = AtomicU32::from_ptr(from.add(4 * i).cast()).load(Relaxed);
            }
        }
        true
    }

    #[inline(always)]
    unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
        if N == 4 && from.addr().is_multiple_of(16) {
            // SAFETY: the caller's contract.
            return unsafe { sixteen::load::<AVX>(from) };
        }
        let mut words = [0; 4];
        if N.is_multiple_of(2) {
            for i in (0..N).step_by(2) {
                // SAFETY: the caller's contract.
                let pair = unsafe { AtomicU64::from_ptr(from.add(4 * i).cast()) }.load(Relaxed);
                (words[i], words[i + 1]) = (pair as u32, (pair >> 32) as u32);
            }
        } else {
            for (i, word) in words.iter_mut().enumerate().take(N) {
                // SAFETY: the caller's contract.
                *word = unsafe { AtomicU32::from_ptr(from.add(4 * i).cast()) }.load(Relaxed);
            }
        }
        words
    }

    #[inline(always)]
    unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
        if N == 4 && to.addr().is_multiple_of(16) {
            // SAFETY: the caller's contract.
            return unsafe { sixteen::store::<AVX>(to, words) };
        }
        if N.is_multiple_of(2) {
            for i in (0..N).step_by(2) {
                let pair = u64::from(words[i]) | u64::from(words[i + 1]) << 32;
                // SAFETY: the caller's contract.
                unsafe { AtomicU64::from_ptr(to.add(4 * i).cast()) }.store(pair, Relaxed);
            }
        } else {
            for (i, &word) in words.iter().enumerate().take(N) {
                // SAFETY: the caller's contract.
                unsafe { AtomicU32::from_ptr(to.add(4 * i).cast()) }.store(word, Relaxed);
            }
        }
    }
}

/// A byte, sign-extended or not.
#[derive(Clone, Copy)]
pub(super) struct Byte<const SIGNED: bool>;

impl<const SIGNED: bool> Item for Byte<SIGNED> {
    const WORDS: usize = 1;
    const BYTES: u64 = 1;
    const ALIGN: u32 = 0;

    #[inline(always)]
    unsafe fn load_run(from: *mut u8, slot: *mut u32) -> bool {
        // SAFETY: the caller's contract.
        unsafe {
            eights(from, 1, |i, eight| {
                let words = eight.to_le_bytes().map(|byte| match SIGNED {
                    true => i32::from(byte as i8) as u32,
                    false => u32::from(byte),
                });
                *slot.add(8 * i).cast::<[u32; 8]>() = words;
            })
        }
    }

    #[inline(always)]
    unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
        // SAFETY: the caller's contract.
        let byte = unsafe { AtomicU8::from_ptr(from) }.load(Relaxed);
        let word = match SIGNED {
            true => i32::from(byte as i8) as u32,
            false => u32::from(byte),
        };
        [word, 0, 0, 0]
    }

    #[inline(always)]
    unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
        // SAFETY: the caller's contract.
        unsafe { AtomicU8::from_ptr(to) }.store(words[0] as u8, Relaxed);
    }

    #[inline(always)]
    fn extend(bytes: [u8; 16]) -> [u32; 4] {
        let word = match SIGNED {
            true => i32::from(bytes[0] as i8) as u32,
            false => u32::from(bytes[0]),
        };
        [word, 0, 0, 0]
    }
}

/// Two bytes, sign-extended or not.
#[derive(Clone, Copy)]
pub(super) struct Short<const SIGNED: bool>;

impl<const SIGNED: bool> Item for Short<SIGNED> {
    const WORDS: usize = 1;
    const BYTES: u64 = 2;
    const ALIGN: u32 = 1;

    #[inline(always)]
    unsafe fn load_run(from: *mut u8, slot: *mut u32) -> bool {
        // SAFETY: the caller's contract.
        unsafe {
            eights(from, 2, |i, eight| {
                let words = [0, 1, 2, 3].map(|n| {
                    let short = (eight >> (16 * n)) as u16;
                    match SIGNED {
                        true => i32::from(short as i16) as u32,
                        false => u32::from(short),
                    }
                });
                *slot.add(4 * i).cast::<[u32; 4]>() = words;
            })
        }
    }

    #[inline(always)]
    unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
        // SAFETY: the caller's contract.
        let short = unsafe { AtomicU16::from_ptr(from.cast()) }.load(Relaxed);
        let word = match SIGNED {
            true => i32::from(short as i16) as u32,
            false => u32::from(short),
        };
        [word, 0, 0, 0]
    }

    #[inline(always)]
    unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
        // SAFETY: the caller's contract.
        unsafe { AtomicU16::from_ptr(to.cast()) }.store(words[0] as u16, Relaxed);
    }

    #[inline(always)]
    fn extend(bytes: [u8; 16]) -> [u32; 4] {
        let short = u16::from_le_bytes([bytes[0], bytes[1]]);
        let word = match SIGNED {
            true => i32::from(short as i16) as u32,
            false => u32::from(short),
        };
        [word, 0, 0, 0]
    }
}

/// Reads 64 elements of `bytes` bytes, eight bytes at a time; false if they are not sufficiently
/// aligned.
///
/// # Safety
/// The elements' bytes are guest memory.
#[inline(always)]
unsafe fn eights(from: *mut u8, bytes: usize, mut take: impl FnMut(usize, u64)) -> bool {
    if !from.addr().is_multiple_of(8) {
        return false;
    }
    for i in 0..8 * bytes {
        // SAFETY: the caller's contract.
        let eight = unsafe { AtomicU64::from_ptr(from.add(8 * i).cast()) }.load(Relaxed);
        take(i, u64::from_le(eight));
    }
    true
}

/// Are all 64 words this distance apart?
#[inline(always)]
pub(super) fn in_order(words: &Lanes, step: u32) -> bool {
    let mut apart = 0;
    for (&word, n) in words.iter().zip(0u32..) {
        apart |= word ^ words[0].wrapping_add(n * step);
    }
    apart == 0
}
