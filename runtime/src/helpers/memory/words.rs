//! Words of guest memory as host atomics, and whole waves of them at once.

use super::*;
use crate::memory::sixteen;

/// A host pointer to `bytes` bytes of the arena at a guest address, if they are all below its limit
/// and, unless it is for a `LOAD`, not read-only.
#[inline]
pub(super) fn arena<const LOAD: bool>(
    memory: &Memory,
    address: u64,
    bytes: u64,
) -> Option<*mut u8> {
    let below = if LOAD { 0 } else { memory.read_only() };
    let offset = address.wrapping_sub(memory.arena_base() + below);
    let limit = memory.limit().saturating_sub(below);
    (offset < limit && limit - offset >= bytes)
        .then(|| std::ptr::with_exposed_provenance_mut(address as usize))
}

/// The dword at an aligned pointer.
///
/// # Safety
/// `ptr` points to four bytes of guest memory.
#[inline(always)]
pub(super) unsafe fn word(ptr: *mut u8) -> &'static AtomicU32 {
    // SAFETY: the caller's contract; all accesses to guest memory are atomic, and the reference is
    // used at once.
    unsafe { AtomicU32::from_ptr(ptr.cast()) }
}

/// The pair of dwords at an aligned pointer.
///
/// # Safety
/// `ptr` points to eight bytes of guest memory.
#[inline(always)]
pub(super) unsafe fn pair(ptr: *mut u8) -> &'static AtomicU64 {
    // SAFETY: as for `word`.
    unsafe { AtomicU64::from_ptr(ptr.cast()) }
}

/// Loads `n` dwords. Aligned pairs and quadruples are one access: waves that communicate through
/// memory rely on it.
///
/// # Safety
/// `ptr` is aligned to a dword and points to `n` dwords of guest memory.
#[inline(always)]
pub(super) unsafe fn load_words(ptr: *mut u8, n: usize) -> [u32; 4] {
    if n == 4 && ptr.addr().is_multiple_of(16) {
        // SAFETY: the caller's contract.
        return unsafe { sixteen::load::<false>(ptr) };
    }
    let mut words = [0; 4];
    if n.is_multiple_of(2) && ptr.addr().is_multiple_of(8) {
        for i in (0..n).step_by(2) {
            // SAFETY: the caller's contract.
            let both = unsafe { pair(ptr.wrapping_add(4 * i)) }.load(Relaxed);
            (words[i], words[i + 1]) = (both as u32, (both >> 32) as u32);
        }
    } else {
        for (i, value) in words.iter_mut().enumerate().take(n) {
            // SAFETY: the caller's contract.
            *value = unsafe { word(ptr.wrapping_add(4 * i)) }.load(Relaxed);
        }
    }
    words
}

/// Stores `n` dwords, aligned pairs and quadruples in one access.
///
/// # Safety
/// `ptr` is aligned to a dword and points to `n` dwords of guest memory.
#[inline(always)]
pub(super) unsafe fn store_words(ptr: *mut u8, n: usize, words: [u32; 4]) {
    if n == 4 && ptr.addr().is_multiple_of(16) {
        // SAFETY: the caller's contract.
        return unsafe { sixteen::store::<false>(ptr, words) };
    }
    if n.is_multiple_of(2) && ptr.addr().is_multiple_of(8) {
        for i in (0..n).step_by(2) {
            let both = u64::from(words[i]) | u64::from(words[i + 1]) << 32;
            // SAFETY: the caller's contract.
            unsafe { pair(ptr.wrapping_add(4 * i)) }.store(both, Relaxed);
        }
    } else {
        for (i, &value) in words.iter().enumerate().take(n) {
            // SAFETY: the caller's contract.
            unsafe { word(ptr.wrapping_add(4 * i)) }.store(value, Relaxed);
        }
    }
}

/// A pointer for an access of all 64 lanes, if it is permitted as a whole and aligned.
pub(super) fn bulk<const LOAD: bool>(
    memory: &Memory,
    start: u64,
    element: Element,
) -> Option<*mut u8> {
    let align = element.bytes().min(4) as u64;
    if !start.is_multiple_of(align) {
        return None;
    }
    arena::<LOAD>(memory, start, 64 * element.bytes() as u64)
}

/// Reads 64 contiguous elements; `ptr` comes from [`bulk`].
pub(super) fn read_bulk(ptr: *mut u8, element: Element, results: &mut [Lanes; 4]) {
    match element {
        Element::Dwords(1) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: `bulk` proved that 64 elements are in range.
                *value = unsafe { word(ptr.wrapping_add(4 * i)) }.load(Relaxed);
            }
        }
        Element::Dwords(n) => {
            for lane in 0..64 {
                // SAFETY: `bulk` proved that 64 elements are in range.
                let words = unsafe { load_words(ptr.wrapping_add(4 * lane * n), n) };
                for (result, word) in results.iter_mut().zip(words).take(n) {
                    result[lane] = word;
                }
            }
        }
        Element::Byte(signed) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: `bulk` proved that 64 elements are in range; all accesses are atomic.
                let byte = unsafe { std::sync::atomic::AtomicU8::from_ptr(ptr.wrapping_add(i)) }
                    .load(Relaxed);
                *value = match signed {
                    false => u32::from(byte),
                    true => i32::from(byte as i8) as u32,
                };
            }
        }
        Element::Short(signed) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: as above; `bulk` proved alignment too.
                let short = unsafe {
                    std::sync::atomic::AtomicU16::from_ptr(ptr.wrapping_add(2 * i).cast())
                }
                .load(Relaxed);
                *value = match signed {
                    false => u32::from(short),
                    true => i32::from(short as i16) as u32,
                };
            }
        }
    }
}
