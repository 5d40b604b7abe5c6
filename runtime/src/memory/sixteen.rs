//! Sixteen aligned bytes of guest memory in one host access.
//!
//! Intel and AMD guarantee that an aligned 16-byte move of SSE or AVX is one access on processors
//! that have AVX. Those without, and hosts of other architectures, use two accesses of eight bytes,
//! the widest atomic type. So do Miri and builds with a sanitizer (`--cfg instrumented`), which do
//! not see the accesses of assembly.

#[cfg(all(target_arch = "x86_64", not(any(miri, instrumented))))]
mod host {
    use std::arch::{asm, x86_64::__m128i};

    #[inline(always)]
    pub(super) unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
        let value: __m128i;
        // SAFETY: the caller's contract; the instructions have no other effect. Callers with `AVX`
        // run on hosts that have it.
        unsafe {
            if AVX {
                asm!("vmovdqa {value}, xmmword ptr [{from}]", from = in(reg) from, value = lateout(xmm_reg) value,
                    options(nostack, preserves_flags, readonly));
            } else {
                asm!("movdqa {value}, xmmword ptr [{from}]", from = in(reg) from, value = lateout(xmm_reg) value,
                    options(nostack, preserves_flags, readonly));
            }
        }
        // SAFETY: both are 16 bytes, and any bits are valid.
        unsafe { std::mem::transmute::<__m128i, [u32; 4]>(value) }
    }

    #[inline(always)]
    pub(super) unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
        // SAFETY: both are 16 bytes, and any bits are valid.
        let value = unsafe { std::mem::transmute::<[u32; 4], __m128i>(words) };
        // SAFETY: the caller's contract; the instructions have no other effect. Callers with `AVX`
        // run on hosts that have it.
        unsafe {
            if AVX {
                asm!("vmovdqa xmmword ptr [{to}], {value}", to = in(reg) to, value = in(xmm_reg) value,
                    options(nostack, preserves_flags));
            } else {
                asm!("movdqa xmmword ptr [{to}], {value}", to = in(reg) to, value = in(xmm_reg) value,
                    options(nostack, preserves_flags));
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", not(any(miri, instrumented)))))]
mod host {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

    #[inline(always)]
    pub(super) unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
        let half = |n: usize| {
            // SAFETY: the caller's contract; all accesses to guest memory are atomic.
            let half = unsafe { AtomicU64::from_ptr(from.wrapping_add(8 * n).cast()) };
            half.load(Relaxed)
        };
        // SAFETY: both are 16 bytes, and any bits are valid.
        unsafe { std::mem::transmute::<[u64; 2], [u32; 4]>([half(0), half(1)]) }
    }

    #[inline(always)]
    pub(super) unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
        // SAFETY: both are 16 bytes, and any bits are valid.
        let halves = unsafe { std::mem::transmute::<[u32; 4], [u64; 2]>(words) };
        for (n, half) in halves.into_iter().enumerate() {
            // SAFETY: the caller's contract; all accesses to guest memory are atomic.
            let place = unsafe { AtomicU64::from_ptr(to.wrapping_add(8 * n).cast()) };
            place.store(half, Relaxed);
        }
    }
}

/// Loads 16 bytes. `AVX`: the caller is compiled for AVX, where SSE moves would incur a transition
/// penalty.
///
/// # Safety
/// `from` is aligned to 16 bytes of guest memory.
#[inline(always)]
pub(crate) unsafe fn load<const AVX: bool>(from: *mut u8) -> [u32; 4] {
    debug_assert!(from.addr().is_multiple_of(16), "bug: misaligned piece");
    // SAFETY: the caller's contract.
    unsafe { host::load::<AVX>(from) }
}

/// Stores 16 bytes, as [`load`] loads them.
///
/// # Safety
/// As for [`load`].
#[inline(always)]
pub(crate) unsafe fn store<const AVX: bool>(to: *mut u8, words: [u32; 4]) {
    debug_assert!(to.addr().is_multiple_of(16), "bug: misaligned piece");
    // SAFETY: the caller's contract.
    unsafe { host::store::<AVX>(to, words) }
}
