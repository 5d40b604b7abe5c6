//! Integer atomics of the whole wave whose words are all in guest memory and aligned, or all in LDS.
//! Lanes act in ascending order. On guest memory each is one host atomic; if all act on one word,
//! they share one. Nothing else accesses LDS meanwhile.

use std::sync::atomic::{
    AtomicU32, AtomicU64,
    Ordering::{AcqRel, Acquire, Relaxed},
};

use frontend::op::Atomic;
use lower::abi::{Context, Lanes};

use super::super::atomic::takes_two;
use super::common::{Checked, Wave, each};

/// An atomic; true if it is done. `WANTED`: the instruction returns the old words.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`, for `EffectFn::Atomic`; EXEC is not 0.
#[inline(always)]
pub(super) unsafe fn whole<const WANTED: bool>(
    ctx: &Context,
    w: Wave,
    out: *const *mut Lanes,
) -> bool {
    let op = w.operation();
    // SAFETY: the caller's contract.
    unsafe {
        match w.code >> 16 & 0xff {
            1 => dword::run::<WANTED>(ctx, w, op, out),
            _ => pair::run::<WANTED>(ctx, w, op, out),
        }
    }
}

/// The atomics on words of one size.
macro_rules! atomics {
    ($name:ident, $word:ty, $signed:ty, $cell:ty) => {
        mod $name {
            use super::*;

            const DWORDS: usize = size_of::<$word>() / 4;

            /// # Safety
            /// See [`whole`].
            #[inline(always)]
            pub(super) unsafe fn run<const WANTED: bool>(
                ctx: &Context,
                w: Wave,
                op: Atomic,
                out: *const *mut Lanes,
            ) -> bool {
                let bytes = size_of::<$word>();
                // SAFETY: the caller's contract.
                let Some(at) = (unsafe { w.check::<false>(ctx, bytes as u64, bytes as u32 - 1) }) else {
                    return false;
                };
                let signed = |word: $word| word as $signed;
                /// The host atomic with the operands, the new word, and the combination of two
                /// lanes' operands, if there is one.
                macro_rules! each_by {
                    ($one:expr, $new:expr, $both:expr) => {
                        match w.is_lds() {
                            // SAFETY: `check` proved that the words lie inside LDS.
                            true => unsafe { act_on_lds::<WANTED>(w, at, out, $new) },
                            // SAFETY: `check` proved that the words are aligned and lie in guest memory.
                            false => unsafe { act::<WANTED>(w, at, out, $one, $new, $both) },
                        }
                    };
                    ($new:expr, $both:expr) => {
                        each_by!(
                            |cell: &$cell, data, second| update(cell, |old| $new(old, data, second)),
                            $new,
                            $both
                        )
                    };
                }
                match op {
                    Atomic::Swap => each_by!(|cell: &$cell, data, _| cell.swap(data, AcqRel), |_, data, _| data, None),
                    Atomic::CmpSwap => each_by!(
                        |cell: &$cell, data, second| {
                            match cell.compare_exchange(second, data, AcqRel, Acquire) {
                                Ok(old) | Err(old) => old,
                            }
                        },
                        |old, data, second| if old == second { data } else { old },
                        None
                    ),
                    Atomic::Add => each_by!(
                        |cell: &$cell, data, _| cell.fetch_add(data, AcqRel),
                        |old: $word, data, _| old.wrapping_add(data),
                        Some(<$word>::wrapping_add)
                    ),
                    Atomic::Sub => each_by!(
                        |cell: &$cell, data, _| cell.fetch_sub(data, AcqRel),
                        |old: $word, data, _| old.wrapping_sub(data),
                        Some(<$word>::wrapping_add)
                    ),
                    Atomic::And => each_by!(
                        |cell: &$cell, data, _| cell.fetch_and(data, AcqRel),
                        |old, data, _| old & data,
                        Some(|a, b| a & b)
                    ),
                    Atomic::Or => each_by!(
                        |cell: &$cell, data, _| cell.fetch_or(data, AcqRel),
                        |old, data, _| old | data,
                        Some(|a, b| a | b)
                    ),
                    Atomic::Xor => each_by!(
                        |cell: &$cell, data, _| cell.fetch_xor(data, AcqRel),
                        |old, data, _| old ^ data,
                        Some(|a, b| a ^ b)
                    ),
                    Atomic::MinU => each_by!(|old: $word, data: $word, _| old.min(data), Some(Ord::min)),
                    Atomic::MaxU => each_by!(|old: $word, data: $word, _| old.max(data), Some(Ord::max)),
                    Atomic::MinI => each_by!(|old, data, _| signed(old).min(signed(data)) as $word, Some(|a, b| (a as $signed).min(b as $signed) as $word)),
                    Atomic::MaxI => each_by!(|old, data, _| signed(old).max(signed(data)) as $word, Some(|a, b| (a as $signed).max(b as $signed) as $word)),
                    Atomic::Rsub => each_by!(|old, data: $word, _| data.wrapping_sub(old), None),
                    Atomic::Inc => each_by!(|old, data, _| if old >= data { 0 } else { old + 1 }, None),
                    Atomic::Dec => each_by!(|old, data, _| if old == 0 || old > data { data } else { old - 1 }, None),
                    Atomic::FCmpSwap
                    | Atomic::FMin
                    | Atomic::FMax
                    | Atomic::FAdd
                    | Atomic::PkFAdd16
                    | Atomic::PkFAddBf16
                    | Atomic::Mskor
                    | Atomic::Wrap => return false,
                }
                true
            }

            /// Replaces a word by another in one step; gives the old one.
            #[inline(always)]
            fn update(cell: &$cell, new: impl Fn($word) -> $word) -> $word {
                let mut old = cell.load(Acquire);
                loop {
                    let next = new(old);
                    match cell.compare_exchange_weak(old, next, AcqRel, Acquire) {
                        Ok(_) => return old,
                        Err(now) => old = now,
                    }
                }
            }

            /// Operand `i` of a lane.
            ///
            /// # Safety
            /// Operand `i` exists.
            #[inline(always)]
            unsafe fn operand(w: Wave, i: usize, lane: usize) -> $word {
                let mut word = 0;
                for n in (0..DWORDS).rev() {
                    // SAFETY: the caller's contract; a slot has 64 words.
                    let dword = unsafe { *w.data(i * DWORDS + n).add(lane) };
                    word = (word as u64) << 32 | u64::from(dword);
                }
                word as $word
            }

            /// The first and second operand of a lane.
            ///
            /// # Safety
            /// The arguments are an atomic's; `two` says whether it takes two operands.
            #[inline(always)]
            unsafe fn operands(w: Wave, two: bool, lane: usize) -> ($word, $word) {
                // SAFETY: the caller's contract.
                unsafe { (operand(w, 0, lane), if two { operand(w, 1, lane) } else { 0 }) }
            }

            /// Gives the old words of the active lanes.
            ///
            /// # Safety
            /// There is a slot for each dword of a result; operands are not used any more.
            #[inline(always)]
            unsafe fn give(w: Wave, out: *const *mut Lanes, old: &[$word; 64]) {
                for n in 0..DWORDS {
                    // SAFETY: the caller's contract.
                    let slot = unsafe { *out.add(n) }.cast::<u32>();
                    each(w.exec, |lane| {
                        // SAFETY: a slot has 64 words.
                        unsafe { *slot.add(lane) = (u64::from(old[lane]) >> (32 * n)) as u32 };
                    });
                }
            }

            /// Performs the lanes' atomics on LDS, one after the other.
            ///
            /// # Safety
            /// The words at `at` lie inside LDS; the arguments are an atomic's.
            #[inline(always)]
            unsafe fn act_on_lds<const WANTED: bool>(
                w: Wave,
                at: Checked,
                out: *const *mut Lanes,
                new: impl Fn($word, $word, $word) -> $word,
            ) {
                let two = takes_two(w.operation());
                let mut old: [$word; 64] = [0; 64];
                each(w.exec, |lane| {
                    let cell = at.at(lane).cast::<$word>();
                    // SAFETY: the caller's contract.
                    unsafe {
                        let (data, second) = operands(w, two, lane);
                        let word = cell.read_unaligned();
                        cell.write_unaligned(new(word, data, second));
                        if WANTED {
                            old[lane] = word;
                        }
                    }
                });
                if WANTED {
                    // SAFETY: the caller's contract.
                    unsafe { give(w, out, &old) };
                }
            }

            /// Performs the lanes' atomics on guest memory, one after the other.
            ///
            /// # Safety
            /// The words at `at` are aligned guest memory; the arguments are an atomic's.
            #[inline(always)]
            unsafe fn act<const WANTED: bool>(
                w: Wave,
                at: Checked,
                out: *const *mut Lanes,
                one: impl Fn(&$cell, $word, $word) -> $word,
                new: impl Fn($word, $word, $word) -> $word,
                both: Option<fn($word, $word) -> $word>,
            ) {
                let two = takes_two(w.operation());
                // SAFETY: the caller's contract.
                let operands = |lane: usize| unsafe { operands(w, two, lane) };
                // SAFETY: the caller's contract; all accesses to guest memory are atomic.
                let cell = |lane: usize| unsafe { <$cell>::from_ptr(at.at(lane).cast()) };
                let mut old: [$word; 64] = [0; 64];
                if at.span == 0 && w.exec & (w.exec - 1) != 0 {
                    // One word: no other thread interleaves with the lanes.
                    let lane = w.exec.trailing_zeros() as usize;
                    let cell = cell(lane);
                    if !WANTED && let Some(both) = both {
                        let mut all = operands(lane).0;
                        each(w.exec & (w.exec - 1), |lane| all = both(all, operands(lane).0));
                        one(cell, all, 0);
                        return;
                    }
                    let mut first = cell.load(Relaxed);
                    loop {
                        let mut word = first;
                        each(w.exec, |lane| {
                            let (data, second) = operands(lane);
                            old[lane] = word;
                            word = new(word, data, second);
                        });
                        match cell.compare_exchange_weak(first, word, AcqRel, Acquire) {
                            Ok(_) => break,
                            Err(now) => first = now,
                        }
                    }
                } else {
                    each(w.exec, |lane| {
                        let (data, second) = operands(lane);
                        let word = one(cell(lane), data, second);
                        if WANTED {
                            old[lane] = word;
                        }
                    });
                }
                if WANTED {
                    // SAFETY: the caller's contract.
                    unsafe { give(w, out, &old) };
                }
            }
        }
    };
}

atomics!(dword, u32, i32, AtomicU32);
atomics!(pair, u64, i64, AtomicU64);
