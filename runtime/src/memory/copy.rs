//! Copies between guest memory and the host, in pieces that are relaxed atomics of the widest size
//! that the alignment allows. Every pointer here comes from `Memory::locate`.

use super::sixteen;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::Relaxed};

/// Loads and stores of one size through an atomic type. `ptr` must be aligned to it.
macro_rules! piece {
    ($load:ident, $store:ident, $int:ty, $atomic:ty) => {
        #[inline(always)]
        fn $load(ptr: *mut u8) -> $int {
            debug_assert!(ptr.cast::<$int>().is_aligned(), "bug: misaligned piece");
            // SAFETY: callers of this module's copy functions pass pointers that `Memory::locate`
            // gave for at least this many bytes, and split them at aligned addresses.
            unsafe { <$atomic>::from_ptr(ptr.cast()) }.load(Relaxed)
        }

        #[inline(always)]
        fn $store(ptr: *mut u8, value: $int) {
            debug_assert!(ptr.cast::<$int>().is_aligned(), "bug: misaligned piece");
            // SAFETY: as for the load.
            unsafe { <$atomic>::from_ptr(ptr.cast()) }.store(value, Relaxed);
        }
    };
}
piece!(load_1, store_1, u8, AtomicU8);
piece!(load_2, store_2, u16, AtomicU16);
piece!(load_4, store_4, u32, AtomicU32);
piece!(load_8, store_8, u64, AtomicU64);

#[inline(always)]
fn load_16(ptr: *mut u8) -> [u8; 16] {
    // SAFETY: as for the smaller pieces.
    let words = unsafe { sixteen::load::<false>(ptr) };
    let mut bytes = [0; 16];
    for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_ne_bytes());
    }
    bytes
}

#[inline(always)]
fn store_16(ptr: *mut u8, bytes: &[u8; 16]) {
    let mut words = [0; 4];
    for (word, from) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *word = u32::from_ne_bytes(*from);
    }
    // SAFETY: as for the smaller pieces.
    unsafe { sixteen::store::<false>(ptr, words) };
}

/// Loads an aligned word of 8 bytes, which must be in the arena.
#[inline(always)]
pub(super) fn load_word(ptr: *mut u8) -> u64 {
    load_8(ptr)
}

/// Stores an aligned word of 8 bytes, which must be in the arena.
#[inline(always)]
pub(super) fn store_word(ptr: *mut u8, value: u64) {
    store_8(ptr, value);
}

/// The widest piece of at most `len` bytes that an access at `ptr` may use.
#[inline(always)]
fn piece_size(ptr: *mut u8, len: usize) -> usize {
    let addr = ptr.addr();
    if len >= 16 && addr.is_multiple_of(16) {
        16
    } else if len >= 8 && addr.is_multiple_of(8) {
        8
    } else if len >= 4 && addr.is_multiple_of(4) {
        4
    } else if len >= 2 && addr.is_multiple_of(2) {
        2
    } else {
        1
    }
}

/// Copies guest bytes out; `ptr` comes from `Memory::locate` for `out.len()` bytes.
#[inline(always)]
pub(super) fn copy_out(ptr: *mut u8, out: &mut [u8]) {
    let mut done = 0;
    while done < out.len() {
        let at = ptr.wrapping_add(done);
        let rest = &mut out[done..];
        let size = piece_size(at, rest.len());
        match size {
            16 => rest[..16].copy_from_slice(&load_16(at)),
            8 => rest[..8].copy_from_slice(&load_8(at).to_ne_bytes()),
            4 => rest[..4].copy_from_slice(&load_4(at).to_ne_bytes()),
            2 => rest[..2].copy_from_slice(&load_2(at).to_ne_bytes()),
            _ => rest[0] = load_1(at),
        }
        done += size;
    }
}

/// Copies bytes in; `ptr` comes from `Memory::locate` for `bytes.len()` bytes.
#[inline(always)]
pub(super) fn copy_in(ptr: *mut u8, bytes: &[u8]) {
    let mut done = 0;
    while done < bytes.len() {
        let at = ptr.wrapping_add(done);
        let rest = &bytes[done..];
        let size = piece_size(at, rest.len());
        if size == 16
            && let Some(piece) = rest.first_chunk()
        {
            store_16(at, piece);
            done += size;
            continue;
        }
        match *rest {
            [a, b, c, d, e, f, g, h, ..] if size == 8 => {
                store_8(at, u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
            }
            [a, b, c, d, ..] if size == 4 => store_4(at, u32::from_ne_bytes([a, b, c, d])),
            [a, b, ..] if size == 2 => store_2(at, u16::from_ne_bytes([a, b])),
            _ => store_1(at, rest[0]),
        }
        done += size;
    }
}

/// Writes `len` times `value`; `ptr` comes from `Memory::locate` for `len` bytes.
pub(super) fn fill(ptr: *mut u8, value: u8, len: usize) {
    let mut done = 0;
    while done < len {
        let at = ptr.wrapping_add(done);
        let size = piece_size(at, len - done);
        match size {
            8 | 16 => {
                let pieces = (len - done) / 8;
                for piece in 0..pieces {
                    store_8(at.wrapping_add(8 * piece), u64::from_ne_bytes([value; 8]));
                }
                done += 8 * pieces;
                continue;
            }
            4 => store_4(at, u32::from_ne_bytes([value; 4])),
            2 => store_2(at, u16::from_ne_bytes([value; 2])),
            _ => store_1(at, value),
        }
        done += size;
    }
}
