//! Fast path of whole-wave loads, stores and atomics whose lanes are all in the arena or in one
//! registered range, aligned, or inside LDS: the ranges are checked first, and loops over the lanes
//! have no branches. Everything else (apertures, lanes in several ranges, faults, checked mode) is
//! left to the functions of [`super`], from the beginning.

use frontend::op::{Atomic, Space};
use lower::abi::{Context, ExitCode, Lanes, Site};
use lower::ir::functions::{EffectFn, more_of};

use super::super::atomic::OPERATIONS;
use super::super::host::Host;
use super::atomics::whole;
use super::items::{Byte, Dwords, Item, Short, in_order};
use super::scratch;

/// So many active lanes are visited one by one in less time than all lanes as vectors.
const FEW: u32 = 12;

/// Arguments common to loads, stores and atomics.
#[derive(Clone, Copy)]
pub(super) struct Wave {
    lo: *const u32,
    /// Null when the high words are 0.
    hi: *const u32,
    pub(super) exec: u64,
    pub(super) code: u64,
    args: *const u64,
}

/// Summary of the low words for the check.
struct Ends {
    min: u32,
    max: u32,
    /// The union of all bits.
    bits: u32,
}

impl Ends {
    fn new() -> Ends {
        Ends {
            min: u32::MAX,
            max: 0,
            bits: 0,
        }
    }

    #[inline(always)]
    fn take(&mut self, word: u32) {
        self.min = self.min.min(word);
        self.max = self.max.max(word);
        self.bits |= word;
    }
}

/// Locations of the lanes' elements, after the check: the address of a lane is `base` plus its low
/// word, to which `more` is added.
pub(super) struct Checked {
    base: *mut u8,
    lo: *const u32,
    more: u32,
    /// From the lowest low word to the highest.
    pub(super) span: u32,
}

impl Wave {
    /// # Safety
    /// The arguments are those of a memory node.
    #[inline(always)]
    unsafe fn of(args: *const u64) -> Wave {
        // SAFETY: the caller's contract.
        let [lo, hi, exec, code] = unsafe { *args.cast::<[u64; 4]>() };
        Wave {
            lo: lo as *const u32,
            hi: hi as *const u32,
            exec,
            code,
            args,
        }
    }

    /// Is it on LDS?
    #[inline(always)]
    pub(super) fn is_lds(&self) -> bool {
        self.code >> 8 & 0xff == Space::Lds as u64
    }

    /// An atomic's operation.
    #[inline(always)]
    pub(super) fn operation(&self) -> Atomic {
        OPERATIONS[(self.code & 0xff) as usize]
    }

    /// The slot that argument `4 + i` is.
    ///
    /// # Safety
    /// There is such an argument.
    #[inline(always)]
    pub(super) unsafe fn data(&self, i: usize) -> *const u32 {
        // SAFETY: the caller's contract.
        (unsafe { *self.args.add(4 + i) }) as *const u32
    }

    /// Visits the words of active lanes; for each other lane the first active one's is repeated, unless few are active.
    #[inline(always)]
    fn words(&self, words: &Lanes, first: usize, mut take: impl FnMut(u32)) {
        if self.exec == u64::MAX {
            for &word in words {
                take(word);
            }
            return;
        }
        if self.exec.count_ones() <= FEW {
            for lane in lanes(self.exec) {
                take(words[lane]);
            }
            return;
        }
        let other = words[first];
        for (half, words) in words.as_chunks::<32>().0.iter().enumerate() {
            let bits = (self.exec >> (32 * half)) as u32;
            for (&word, lane) in words.iter().zip(0u32..) {
                let on = (bits >> lane & 1).wrapping_neg();
                take(word & on | other & !on);
            }
        }
    }

    /// Checks the ranges of all active lanes; EXEC is not 0. `LOAD`: nothing is written.
    ///
    /// # Safety
    /// The address slots are valid; the context is the running wave's.
    #[inline(always)]
    pub(super) unsafe fn check<const LOAD: bool>(
        &self,
        ctx: &Context,
        bytes: u64,
        align: u32,
    ) -> Option<Checked> {
        let first = self.exec.trailing_zeros() as usize;
        // Inactive lanes count as the first active one. The loops have no branches, so that they
        // vectorise.
        let mut ends = Ends::new();
        // SAFETY: a slot has 64 words.
        let lows = unsafe { &*self.lo.cast::<Lanes>() };
        let more = more_of(self.code);
        // LDS addresses have no high words that a sum could carry into.
        let inner = if self.is_lds() { more } else { 0 };
        self.words(lows, first, |word| ends.take(word.wrapping_add(inner)));
        let Ends { min, max, bits } = ends;
        if self.is_lds() {
            // An empty arena means that all accesses are checked individually.
            let inside = u64::from(max) + bytes <= u64::from(ctx.lds_len) && ctx.arena_len != 0;
            return inside.then_some(Checked {
                base: ctx.lds,
                lo: self.lo,
                more,
                span: max - min,
            });
        }
        if self.hi.is_null() || (bits | more) & align != 0 {
            return None;
        }
        // SAFETY: a slot has 64 words.
        let highs = unsafe { &*self.hi.cast::<Lanes>() };
        let high = highs[first];
        let mut unequal = 0;
        self.words(highs, first, |word| unequal |= word ^ high);
        let base = (u64::from(high) << 32).wrapping_add(more as i32 as u64);
        let (arena_base, arena_len) = match LOAD {
            true => (ctx.arena_base, ctx.arena_len),
            false => (ctx.store_base, ctx.store_len),
        };
        let start = (base.wrapping_add(min.into())).wrapping_sub(arena_base);
        let end = (base.wrapping_add(max.into())).wrapping_sub(arena_base);
        if unequal != 0 || start > end {
            return None;
        }
        let base = if end < arena_len && arena_len - end >= bytes {
            std::ptr::with_exposed_provenance_mut(base as usize)
        } else {
            let whole = u64::from(max - min) + bytes;
            // SAFETY: the caller's contract.
            let first = unsafe { registered(ctx, base.wrapping_add(min.into()), whole, align) }?;
            first.wrapping_sub(min as usize)
        };
        Some(Checked {
            base,
            lo: self.lo,
            more: 0,
            span: max - min,
        })
    }
}

/// The host address of `bytes` bytes at `address`, if they are in one registered range and as
/// aligned there.
///
/// # Safety
/// The context is the running wave's.
#[cold]
#[inline(never)]
unsafe fn registered(ctx: &Context, address: u64, bytes: u64, align: u32) -> Option<*mut u8> {
    // An empty arena means that all accesses are checked individually.
    if ctx.arena_len == 0 {
        return None;
    }
    // SAFETY: the caller's contract; the engine stores the address of a `Host` that outlives the run.
    let memory = unsafe { (*ctx.host.cast::<Host<'_, '_>>()).group.memory };
    let at = memory.registered(address, bytes)?;
    (at.addr() & align as usize == 0).then_some(at)
}

impl Checked {
    /// The element of a lane.
    #[inline(always)]
    pub(super) fn at(&self, lane: usize) -> *mut u8 {
        // SAFETY: a slot has 64 words.
        let low = unsafe { *self.lo.add(lane) }.wrapping_add(self.more);
        self.base.wrapping_add(low as usize)
    }
}

/// Active lanes, ascending.
#[inline(always)]
fn lanes(exec: u64) -> impl Iterator<Item = usize> {
    let mut rest = exec;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// Runs `body` for the active lanes, ascending.
#[inline(always)]
pub(super) fn each(exec: u64, mut body: impl FnMut(usize)) {
    if exec == u64::MAX {
        for lane in 0..64 {
            body(lane);
        }
    } else {
        for lane in lanes(exec) {
            body(lane);
        }
    }
}

/// A load; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
#[inline(always)]
unsafe fn load_items<T: Item, const AVX: bool>(
    ctx: &Context,
    w: Wave,
    out: *const *mut Lanes,
) -> bool {
    // SAFETY: the caller's contract.
    let Some(from) = (unsafe { w.check::<true>(ctx, T::BYTES, T::ALIGN) }) else {
        return false;
    };
    let slots: [*mut u32; 4] = std::array::from_fn(|i| {
        // SAFETY: there is a slot for each register.
        unsafe { *out.add(i.min(T::WORDS - 1)) }.cast()
    });
    let lds = w.is_lds();
    let give = |lane: usize, words: [u32; 4]| {
        for i in 0..T::WORDS {
            // SAFETY: a result slot has 64 words. It may be a slot of addresses, of which this
            // lane's was read already.
            unsafe { *slots[i].add(lane) = words[i] };
        }
    };
    if from.span == 0 {
        // One address: one load.
        let first = from.at(w.exec.trailing_zeros() as usize);
        // SAFETY: `check` proved that the element lies inside LDS, or is aligned and in guest memory.
        let words = unsafe {
            match lds {
                true => T::load_lds(first),
                false => T::load::<AVX>(first),
            }
        };
        each(w.exec, |lane| give(lane, words));
        return true;
    }
    // The ends exclude most other patterns.
    if w.exec == u64::MAX && !lds && u64::from(from.span) == 63 * T::BYTES {
        // SAFETY: a slot has 64 words.
        let lows = unsafe { &*w.lo.cast::<Lanes>() };
        if in_order(lows, T::BYTES as u32)
            // SAFETY: `check` proved that the elements are aligned and lie in guest memory.
            && unsafe { T::load_run(from.at(0), slots[0]) }
        {
            return true;
        }
    }
    if lds {
        each(w.exec, |lane| {
            // SAFETY: `check` proved that the elements lie inside LDS.
            give(lane, unsafe { T::load_lds(from.at(lane)) });
        });
    } else {
        each(w.exec, |lane| {
            // SAFETY: `check` proved that the elements are aligned and lie in guest memory.
            give(lane, unsafe { T::load::<AVX>(from.at(lane)) });
        });
    }
    true
}

/// A store; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
#[inline(always)]
unsafe fn store_items<T: Item, const AVX: bool>(ctx: &Context, w: Wave) -> bool {
    // SAFETY: the caller's contract.
    let Some(to) = (unsafe { w.check::<false>(ctx, T::BYTES, T::ALIGN) }) else {
        return false;
    };
    let slots: [*const u32; 4] = std::array::from_fn(|i| {
        // SAFETY: there is a slot for each register.
        unsafe { w.data(i.min(T::WORDS - 1)) }
    });
    // SAFETY: a slot has 64 words.
    let words = |lane: usize| slots.map(|slot| unsafe { *slot.add(lane) });
    if w.is_lds() {
        // SAFETY: `check` proved that the elements lie inside LDS.
        each(w.exec, |lane| unsafe {
            T::store_lds(to.at(lane), words(lane))
        });
    } else {
        // SAFETY: `check` proved that the elements are aligned and lie in guest memory.
        each(w.exec, |lane| unsafe {
            T::store::<AVX>(to.at(lane), words(lane))
        });
    }
    true
}

/// `EffectFn::Load` of the common kind; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
#[inline(always)]
unsafe fn load<const AVX: bool>(ctx: &Context, args: *const u64, out: *const *mut Lanes) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let w = Wave::of(args);
        if scratch::is_scratch(w.code) {
            return scratch::load_common(ctx, args, out);
        }
        if w.exec == 0 {
            return true;
        }
        match w.code & 0xff {
            1 => load_items::<Dwords<1>, AVX>(ctx, w, out),
            2 => load_items::<Dwords<2>, AVX>(ctx, w, out),
            3 => load_items::<Dwords<3>, AVX>(ctx, w, out),
            4 => load_items::<Dwords<4>, AVX>(ctx, w, out),
            32 => load_items::<Byte<false>, AVX>(ctx, w, out),
            33 => load_items::<Byte<true>, AVX>(ctx, w, out),
            34 => load_items::<Short<false>, AVX>(ctx, w, out),
            35 => load_items::<Short<true>, AVX>(ctx, w, out),
            _ => false,
        }
    }
}

/// `EffectFn::Store` of the common kind; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
#[inline(always)]
unsafe fn store<const AVX: bool>(ctx: &Context, args: *const u64) -> bool {
    // SAFETY: the caller's contract.
    unsafe {
        let w = Wave::of(args);
        if scratch::is_scratch(w.code) {
            return scratch::store_common(ctx, args);
        }
        if w.exec == 0 {
            return true;
        }
        match w.code & 0xff {
            1 => store_items::<Dwords<1>, AVX>(ctx, w),
            2 => store_items::<Dwords<2>, AVX>(ctx, w),
            3 => store_items::<Dwords<3>, AVX>(ctx, w),
            4 => store_items::<Dwords<4>, AVX>(ctx, w),
            32 | 33 => store_items::<Byte<false>, AVX>(ctx, w),
            34 | 35 => store_items::<Short<false>, AVX>(ctx, w),
            _ => false,
        }
    }
}

/// `EffectFn::Atomic` of the common kind: integer operations on global memory and on LDS; true if it
/// was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
#[inline(always)]
unsafe fn atomic(ctx: &Context, site: &Site, args: *const u64, out: *const *mut Lanes) -> bool {
    // SAFETY: the caller's contract.
    let w = unsafe { Wave::of(args) };
    if w.exec == 0 {
        return true;
    }
    // SAFETY: the caller's contract.
    unsafe {
        match matches!(site.inst.dst[0], frontend::Operand::None) {
            true => whole::<false>(ctx, w, out),
            false => whole::<true>(ctx, w, out),
        }
    }
}

/// Defines the entries of a function for every host and for hosts with AVX2.
macro_rules! entries {
    ($portable:ident, $wide:ident, $f:ident, |$ctx:ident, $site:ident, $args:ident, $out:ident| $run:expr) => {
        /// For every host.
        ///
        /// # Safety
        /// The contract of `lower::abi::EffectFnPtr`.
        unsafe extern "C" fn $portable(
            ctx: *mut Context,
            site: *const Site,
            $args: *const u64,
            $out: *const *mut Lanes,
        ) -> u64 {
            #[allow(dead_code, reason = "not all functions ask")]
            const AVX: bool = false;
            // SAFETY: the context is the running wave's, and sites live as long as the code that refers
            // to them.
            let ($ctx, $site) = unsafe { (&*ctx, &*site) };
            // SAFETY: the same contract.
            if unsafe { $run } {
                return ExitCode::Continue as u64;
            }
            // SAFETY: the same contract.
            unsafe { super::super::effect::<{ EffectFn::$f as u16 }>(ctx, site, $args, $out) }
        }

        /// For hosts with AVX2.
        ///
        /// # Safety
        /// The contract of `lower::abi::EffectFnPtr`; the host has the features.
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
        unsafe extern "C" fn $wide(
            ctx: *mut Context,
            site: *const Site,
            $args: *const u64,
            $out: *const *mut Lanes,
        ) -> u64 {
            #[allow(dead_code, reason = "not all functions ask")]
            const AVX: bool = true;
            // SAFETY: as above.
            let ($ctx, $site) = unsafe { (&*ctx, &*site) };
            // SAFETY: the same contract.
            if unsafe { $run } {
                return ExitCode::Continue as u64;
            }
            // SAFETY: the same contract.
            unsafe { super::super::effect::<{ EffectFn::$f as u16 }>(ctx, site, $args, $out) }
        }
    };
}

entries!(
    load_portable,
    load_wide,
    Load,
    |ctx, _site, args, out| load::<AVX>(ctx, args, out)
);
entries!(
    store_portable,
    store_wide,
    Store,
    |ctx, _site, args, _out| store::<AVX>(ctx, args)
);
entries!(
    atomic_portable,
    atomic_wide,
    Atomic,
    |ctx, site, args, out| atomic(ctx, site, args, out)
);

/// The address of a function with a fast path for common cases.
pub(in super::super) fn entry(f: EffectFn, avx2: bool) -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    if avx2 {
        return match f {
            EffectFn::Load => Some(load_wide as *const () as usize),
            EffectFn::Store => Some(store_wide as *const () as usize),
            EffectFn::Atomic => Some(atomic_wide as *const () as usize),
            _ => None,
        };
    }
    let _ = avx2;
    match f {
        EffectFn::Load => Some(load_portable as *const () as usize),
        EffectFn::Store => Some(store_portable as *const () as usize),
        EffectFn::Atomic => Some(atomic_portable as *const () as usize),
        _ => None,
    }
}
