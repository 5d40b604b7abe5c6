//! The functions that translated code calls: pure functions of lanes ([`LaneFn`]) and functions
//! with effects ([`EffectFn`]), and the table of their addresses.
//!
//! A lane function is defined for one lane, as a plain Rust function of words; the loop over the 64
//! lanes is here, compiled once for every host and once for hosts with AVX2, where the compiler
//! vectorises it. Functions with effects access the wave's environment through [`Host`]. A panic in
//! one of these functions aborts: nothing unwinds through translated code.
#![expect(
    unsafe_code,
    reason = "called by translated code with addresses of lane slots"
)]

use lower::abi::{Context, ExitCode, Lanes, Site};
use lower::ir::functions::{CallHeader, EffectFn, LaneFn};
use lower::jit::HostLevel;

mod atomic;
mod buffer;
mod eight_bits;
mod export;
mod fast_path;
mod float;
mod format;
mod half;
#[cfg(target_arch = "x86_64")]
mod half_wide;
mod host;
mod image;
mod integer;
mod lane;
#[cfg(target_arch = "x86_64")]
mod lane_wide;
mod matrix;
mod memory;
mod observe;
mod relative;
mod scalar;

use fast_path::FastResult;
pub use host::Host;

/// Addresses of all functions for a host of this level: [`LaneFn`]s, then [`EffectFn`]s, in the
/// order of their numbers.
pub fn table(level: HostLevel) -> Box<[usize]> {
    table_for(match level {
        HostLevel::Native if has_avx2() && lower::host::has_avx512() => Level::Avx512,
        HostLevel::Native | HostLevel::Avx2 if has_avx2() => Level::Avx2,
        HostLevel::Native | HostLevel::Avx2 | HostLevel::Sse41 => Level::Portable,
    })
}

/// Host features that functions may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Portable,
    Avx2,
    /// AVX-512 F, BW, DQ and VL, and what [`Level::Avx2`] has.
    Avx512,
}

/// The table of the variants for a host.
fn table_for(level: Level) -> Box<[usize]> {
    let lanes = LaneFn::ALL.iter().map(|&f| lane_fn(f, level));
    lanes
        .chain(EffectFn::ALL.iter().map(|&f| effect_fn(f, level)))
        .collect()
}

/// Does the host support the wide variants?
#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2")
        && std::arch::is_x86_feature_detected!("fma")
        && std::arch::is_x86_feature_detected!("f16c")
        && std::arch::is_x86_feature_detected!("bmi1")
        && std::arch::is_x86_feature_detected!("bmi2")
        && std::arch::is_x86_feature_detected!("lzcnt")
        && std::arch::is_x86_feature_detected!("popcnt")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}

// ---- lane functions

/// The type of a compiled lane function.
type LaneEntry = unsafe extern "C" fn(*const *mut Lanes, *const *const Lanes, u32);

/// The loop over the lanes of a function of one lane.
///
/// # Safety
/// `args` points to `A` addresses of lane slots, `out` to `R`; a result slot may be an argument slot.
#[inline(always)]
unsafe fn run<const A: usize, const R: usize, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    const { assert!(size_of::<F>() == 0, "a function item") };
    // SAFETY: F has no bytes and is inhabited (`entry` was given a value of it), so that any aligned
    // address is one of a value.
    let f: &F = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
    let sources: [&Lanes; A] = std::array::from_fn(|i| {
        // SAFETY: the caller passes `A` addresses.
        let slot = unsafe { *args.add(i) };
        // SAFETY: each is a lane slot, and nothing else writes it during the call.
        unsafe { &*slot }
    });
    let mut results: [Lanes; R] = [[0; 64]; R];
    for lane in 0..64 {
        let words = f(std::array::from_fn(|i| sources[i][lane]), imm);
        for (result, word) in results.iter_mut().zip(words) {
            result[lane] = word;
        }
    }
    for (i, result) in results.iter().enumerate() {
        // SAFETY: the caller passes `R` addresses.
        let slot = unsafe { *out.add(i) };
        // SAFETY: each is a lane slot; the sources are not used any more.
        unsafe { *slot = *result };
    }
}

/// Number of lanes computed by a fast path before its validity is tested.
const GROUP: usize = 16;

/// The loop over the lanes of a function with a fast path for common cases.
///
/// # Safety
/// See [`run`].
#[inline(always)]
unsafe fn run_fast_path<const A: usize, const R: usize, Q, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    Q: Fn([u32; A], u32) -> FastResult<R> + Copy,
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    const { assert!(size_of::<Q>() == 0 && size_of::<F>() == 0, "function items") };
    // SAFETY: as in `run`.
    let fast_path: &Q = unsafe { std::ptr::NonNull::<Q>::dangling().as_ref() };
    // SAFETY: as in `run`.
    let f: &F = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
    let sources: [*const [u32; GROUP]; A] = std::array::from_fn(|i| {
        // SAFETY: the caller passes `A` addresses.
        unsafe { *args.add(i) }.cast()
    });
    let slots: [*mut [u32; GROUP]; R] = std::array::from_fn(|i| {
        // SAFETY: the caller passes `R` addresses.
        unsafe { *out.add(i) }.cast()
    });
    for group in 0..64 / GROUP {
        let words: [[u32; GROUP]; A] = std::array::from_fn(|i| {
            // SAFETY: a slot has this number of groups; a group is read before it is written.
            unsafe { *sources[i].add(group) }
        });
        let mut results = [[0; GROUP]; R];
        let mut counts = true;
        for lane in 0..GROUP {
            let (one, right) = fast_path(std::array::from_fn(|i| words[i][lane]), imm);
            counts &= right;
            for (result, word) in results.iter_mut().zip(one) {
                result[lane] = word;
            }
        }
        if !counts {
            for lane in 0..GROUP {
                let one = f(std::array::from_fn(|i| words[i][lane]), imm);
                for (result, word) in results.iter_mut().zip(one) {
                    result[lane] = word;
                }
            }
        }
        for (slot, result) in slots.iter().zip(results) {
            // SAFETY: a slot has this number of groups, and the caller passes result slots.
            unsafe { *slot.add(group) = result };
        }
    }
}

/// For every host.
///
/// # Safety
/// See [`run`].
unsafe extern "C" fn portable_fast_path<const A: usize, const R: usize, Q, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    Q: Fn([u32; A], u32) -> FastResult<R> + Copy,
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    // SAFETY: the same contract.
    unsafe { run_fast_path::<A, R, Q, F>(out, args, imm) }
}

/// For hosts with AVX2.
///
/// # Safety
/// See [`run`]; the host has the features (see [`has_avx2`]).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "C" fn wide_fast_path<const A: usize, const R: usize, Q, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    Q: Fn([u32; A], u32) -> FastResult<R> + Copy,
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    // SAFETY: the same contract.
    unsafe { run_fast_path::<A, R, Q, F>(out, args, imm) }
}

/// The address of the loop over a function of one lane with a fast path.
fn with_fast_path<const A: usize, const R: usize, Q, F>(_fast_path: Q, _f: F, avx2: bool) -> usize
where
    Q: Fn([u32; A], u32) -> FastResult<R> + Copy,
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    #[cfg(target_arch = "x86_64")]
    if avx2 {
        return wide_fast_path::<A, R, Q, F> as *const () as usize;
    }
    let _ = avx2;
    portable_fast_path::<A, R, Q, F> as *const () as usize
}

/// For every host.
///
/// # Safety
/// See [`run`].
unsafe extern "C" fn portable<const A: usize, const R: usize, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    // SAFETY: the same contract.
    unsafe { run::<A, R, F>(out, args, imm) }
}

/// For hosts with AVX2.
///
/// # Safety
/// See [`run`]; the host has the features (see [`has_avx2`]).
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe extern "C" fn wide<const A: usize, const R: usize, F>(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) where
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    // SAFETY: the same contract.
    unsafe { run::<A, R, F>(out, args, imm) }
}

/// The address of the loop over a function of one lane.
fn entry<const A: usize, const R: usize, F>(_f: F, avx2: bool) -> usize
where
    F: Fn([u32; A], u32) -> [u32; R] + Copy,
{
    #[cfg(target_arch = "x86_64")]
    if avx2 {
        return wide::<A, R, F> as *const () as usize;
    }
    let _ = avx2;
    portable::<A, R, F> as *const () as usize
}

/// The address of a whole-wave function.
fn whole(f: LaneEntry) -> usize {
    f as *const () as usize
}

/// The address of a lane function's implementation.
fn lane_fn(f: LaneFn, level: Level) -> usize {
    let wide = level >= Level::Avx2;
    /// The variant for the host of a function that fetches from other lanes.
    macro_rules! fetches {
        ($name:ident) => {{
            #[cfg(target_arch = "x86_64")]
            if level == Level::Avx512 {
                return whole(lane_wide::$name);
            }
            whole(lane::$name)
        }};
    }
    /// The function of one lane, or its whole-wave variant.
    macro_rules! halves {
        ($one:path, $whole:ident) => {{
            #[cfg(target_arch = "x86_64")]
            if wide {
                return whole(half_wide::$whole);
            }
            entry($one, wide)
        }};
    }
    match f {
        LaneFn::ShlVar => entry(integer::shl, wide),
        LaneFn::LshrVar => entry(integer::lshr, wide),
        LaneFn::AshrVar => entry(integer::ashr, wide),
        LaneFn::Shl64Var => entry(integer::shl64, wide),
        LaneFn::Lshr64Var => entry(integer::lshr64, wide),
        LaneFn::Ashr64Var => entry(integer::ashr64, wide),
        LaneFn::AlignBitVar => entry(integer::align_bit, wide),
        LaneFn::BfeU => entry(integer::bfe_u, wide),
        LaneFn::BfeI => entry(integer::bfe_i, wide),
        LaneFn::Perm => with_fast_path(fast_path::perm, integer::perm, wide),
        LaneFn::Lerp => entry(integer::lerp, wide),
        LaneFn::SadU8 => entry(integer::sad_u8, wide),
        LaneFn::SadU16 => entry(integer::sad_u16, wide),
        LaneFn::MsadU8 => entry(integer::msad_u8, wide),
        LaneFn::QsadPk => entry(integer::qsad_pk, wide),
        LaneFn::MqsadPk => entry(integer::mqsad_pk, wide),
        LaneFn::MqsadU32 => entry(integer::mqsad_u32, wide),
        LaneFn::ScreenPartition => entry(integer::screen_partition, wide),
        LaneFn::MbcntLo => whole(lane::mbcnt_lo),
        LaneFn::MbcntHi => whole(lane::mbcnt_hi),
        LaneFn::Dot4I => entry(integer::dot4_i, wide),
        LaneFn::Dot4U => entry(integer::dot4_u, wide),
        LaneFn::Dot8I => entry(integer::dot8_i, wide),
        LaneFn::Dot8U => entry(integer::dot8_u, wide),
        LaneFn::AddF32 => entry(float::add_f32, wide),
        LaneFn::SubF32 => entry(float::sub_f32, wide),
        LaneFn::MulF32 => entry(float::mul_f32, wide),
        LaneFn::FmaF32 => entry(float::fma_f32, wide),
        LaneFn::AddF64 => entry(float::add_f64, wide),
        LaneFn::SubF64 => entry(float::sub_f64, wide),
        LaneFn::MulF64 => entry(float::mul_f64, wide),
        LaneFn::FmaF64 => entry(float::fma_f64, wide),
        LaneFn::MadF32 => entry(float::mad_f32, wide),
        LaneFn::Med3F32 => with_fast_path(fast_path::med3_f32, float::med3_f32, wide),
        LaneFn::ExpF32 => with_fast_path(fast_path::exp_f32, float::exp_f32, wide),
        LaneFn::LogF32 => with_fast_path(fast_path::log_f32, float::log_f32, wide),
        LaneFn::SinF32 => with_fast_path(fast_path::sin_f32, float::sin_f32, wide),
        LaneFn::CosF32 => with_fast_path(fast_path::cos_f32, float::cos_f32, wide),
        LaneFn::LdexpF32 => with_fast_path(fast_path::ldexp_f32, float::ldexp_f32, wide),
        LaneFn::LdexpF64 => with_fast_path(fast_path::ldexp_f64, float::ldexp_f64, wide),
        LaneFn::DivFmasF32 => with_fast_path(fast_path::div_fmas_f32, float::div_fmas_f32, wide),
        LaneFn::DivFmasF64 => with_fast_path(fast_path::div_fmas_f64, float::div_fmas_f64, wide),
        LaneFn::TrigPreop => entry(float::trig_preop, wide),
        LaneFn::ClassF16 => entry(half::class, wide),
        LaneFn::CubeId => entry(float::cube_id, wide),
        LaneFn::CubeSc => entry(float::cube_sc, wide),
        LaneFn::CubeTc => entry(float::cube_tc, wide),
        LaneFn::CubeMa => entry(float::cube_ma, wide),
        LaneFn::MulLit => entry(float::mul_lit, wide),
        LaneFn::CvtF32I32 => entry(float::cvt_f32_i32, wide),
        LaneFn::CvtF32U32 => entry(float::cvt_f32_u32, wide),
        LaneFn::CvtF32F64 => entry(float::cvt_f32_f64, wide),
        LaneFn::CvtF16F32 => halves!(half::cvt_f16_f32, cvt_f16_f32),
        LaneFn::CvtF32F16 => halves!(half::cvt_f32_f16, cvt_f32_f16),
        LaneFn::WidenF16 => halves!(half::widen, widen_f16),
        LaneFn::WidenF16Flush => entry(half::widen_flush, wide),
        LaneFn::NarrowF16Flush => with_fast_path(fast_path::narrow_flush, half::narrow_flush, wide),
        LaneFn::CvtF16U16 => entry(half::cvt_f16_u16, wide),
        LaneFn::CvtF16I16 => entry(half::cvt_f16_i16, wide),
        LaneFn::CvtU16F16 => entry(half::cvt_u16_f16, wide),
        LaneFn::CvtI16F16 => entry(half::cvt_i16_f16, wide),
        LaneFn::CvtRpi => entry(float::cvt_rpi, wide),
        LaneFn::CvtU8F32 => entry(float::cvt_u8_f32, wide),
        LaneFn::NormI16F32 => entry(float::norm_i16, wide),
        LaneFn::NormU16F32 => entry(float::norm_u16, wide),
        LaneFn::NormI16F16 => entry(half::norm_i16, wide),
        LaneFn::NormU16F16 => entry(half::norm_u16, wide),
        LaneFn::PkRtzF16 => with_fast_path(fast_path::pk_rtz, half::pk_rtz, wide),
        LaneFn::WidenF8 => entry(eight_bits::widen, wide),
        LaneFn::NarrowF8 => entry(eight_bits::nearest, wide),
        LaneFn::StochasticF8 => entry(eight_bits::stochastic, wide),
        LaneFn::AddF16 => halves!(half::add, add),
        LaneFn::SubF16 => halves!(half::sub, sub),
        LaneFn::MulF16 => halves!(half::mul, mul),
        LaneFn::FmaF16 => halves!(half::fma, fma),
        LaneFn::MadF16 => halves!(half::mad, mad),
        LaneFn::MinF16 => halves!(half::min, min),
        LaneFn::MaxF16 => halves!(half::max, max),
        LaneFn::Med3F16 => entry(half::med3, wide),
        LaneFn::ExpF16 => entry(half::exp, wide),
        LaneFn::LogF16 => entry(half::log, wide),
        LaneFn::RcpF16 => halves!(half::rcp, rcp),
        LaneFn::RsqF16 => entry(half::rsq, wide),
        LaneFn::SqrtF16 => halves!(half::sqrt, sqrt),
        LaneFn::SinF16 => entry(half::sin, wide),
        LaneFn::CosF16 => entry(half::cos, wide),
        LaneFn::FractF16 => entry(half::fract, wide),
        LaneFn::FloorF16 => halves!(half::floor, floor),
        LaneFn::CeilF16 => halves!(half::ceil, ceil),
        LaneFn::TruncF16 => halves!(half::trunc, trunc),
        LaneFn::RndneF16 => halves!(half::rndne, rndne),
        LaneFn::LdexpF16 => entry(half::ldexp, wide),
        LaneFn::FrexpExpF16 => entry(half::frexp_exp, wide),
        LaneFn::FrexpMantF16 => entry(half::frexp_mant, wide),
        LaneFn::DivFixupF16 => entry(half::div_fixup, wide),
        LaneFn::OmodF16 => entry(half::omod, wide),
        LaneFn::ClampF16 => entry(half::clamp, wide),
        LaneFn::PkAddF16 => halves!(half::pk_add, pk_add),
        LaneFn::PkMulF16 => halves!(half::pk_mul, pk_mul),
        LaneFn::PkFmaF16 => halves!(half::pk_fma, pk_fma),
        LaneFn::PkMinF16 => halves!(half::pk_min, pk_min),
        LaneFn::PkMaxF16 => halves!(half::pk_max, pk_max),
        LaneFn::PkClampF16 => entry(half::pk_clamp, wide),
        LaneFn::Dpp => fetches!(dpp),
        LaneFn::Swizzle => fetches!(swizzle),
        LaneFn::Permute => fetches!(permute),
        LaneFn::Bpermute => fetches!(bpermute),
    }
}

// ---- functions with effects

/// A function with effects, after argument decoding.
type Effect = fn(&mut Call<'_>) -> Result<(), ExitCode>;

/// One call of a function with effects.
struct Call<'a> {
    /// The context of the running wave.
    ctx: &'a mut Context,
    /// The guest instruction.
    site: &'a Site,
    /// The header of a call by signature; `None` where legalization calls by the function's text.
    header: Option<CallHeader>,
    args: *const u64,
    out: *const *mut Lanes,
}

/// An operand: a wave value or lanes.
#[derive(Clone, Copy)]
enum Words<'a> {
    Wave(u32),
    Lanes(&'a Lanes),
}

impl Words<'_> {
    /// The word of a lane.
    #[inline]
    fn get(&self, lane: usize) -> u32 {
        match self {
            Words::Wave(word) => *word,
            Words::Lanes(lanes) => lanes[lane],
        }
    }

    /// The words of all lanes.
    fn all(&self) -> Lanes {
        match self {
            Words::Wave(word) => [*word; 64],
            Words::Lanes(lanes) => **lanes,
        }
    }
}

impl<'a> Call<'a> {
    /// Argument `i`, as passed, of a function that only legalization calls.
    fn raw(&self, i: usize) -> u64 {
        debug_assert_eq!(self.header, None, "bug: operands have kinds here");
        // SAFETY: translated code passes as many arguments as the function's text names, and
        // callers use only those.
        unsafe { *self.args.add(i) }
    }

    /// The same where it is the address of a lane slot.
    fn lanes(&self, i: usize) -> &'a Lanes {
        let slot = self.raw(i) as *const Lanes;
        // SAFETY: the function's text defines the argument as a slot; nothing else writes slots
        // during the call, and result slots are only written through `result`, after the last use.
        unsafe { &*slot }
    }

    /// The word of operand `i` of a function with a signature, and whether it is the address of a slot.
    fn operand(&self, i: usize) -> (u64, bool) {
        let header = self.header.filter(|header| i < header.operands());
        debug_assert_ne!(header, None, "bug: there is no operand {i}");
        let Some(header) = header else {
            return (0, false);
        };
        // SAFETY: translated code passes as many words after the header as it states.
        let word = unsafe { *self.args.add(1 + i) };
        (word, header.is_slot(i))
    }

    /// Operand `i`, 64 bits of the wave.
    fn wave64(&self, i: usize) -> u64 {
        let (word, slot) = self.operand(i);
        debug_assert!(!slot, "bug: operand {i} is not the wave's");
        word
    }

    /// Operand `i`, 32 bits of the wave.
    fn wave32(&self, i: usize) -> u32 {
        self.wave64(i) as u32
    }

    /// Operand `i`, 32 bits of the wave or of each lane.
    fn words(&self, i: usize) -> Words<'a> {
        let (word, slot) = self.operand(i);
        if !slot {
            return Words::Wave(word as u32);
        }
        let slot = word as *const Lanes;
        // SAFETY: the header marks the operand as a slot; no other code writes slots during the
        // call, and result slots are only written through `result`, after the last use.
        Words::Lanes(unsafe { &*slot })
    }

    /// Writes the active lanes of result `i`.
    #[inline]
    fn result(&mut self, i: usize, exec: u64, value: &Lanes) {
        if let Some(header) = self.header
            && i >= header.lanes()
        {
            debug_assert!(false, "bug: there is no result {i}");
            return;
        }
        // SAFETY: translated code passes a slot for each result in the header, or in the function's
        // text.
        let slot = unsafe { *self.out.add(i) };
        if exec == u64::MAX {
            // SAFETY: as above; a result slot may be an argument's, which is not used any more.
            unsafe { *slot = *value };
            return;
        }
        // SAFETY: as above.
        let slot = unsafe { &mut *slot };
        for (lane, word) in slot.iter_mut().enumerate() {
            if exec >> lane & 1 != 0 {
                *word = value[lane];
            }
        }
    }
}

/// Calls a function with effects.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`.
unsafe extern "C" fn effect<const F: u16>(
    ctx: *mut Context,
    site: *const Site,
    args: *const u64,
    out: *const *mut Lanes,
) -> u64 {
    // SAFETY: the context is the running wave's, and translated code does not touch it during a call.
    let ctx = unsafe { &mut *ctx };
    // SAFETY: sites live as long as the code that refers to them.
    let site = unsafe { &*site };
    let f = const { EffectFn::ALL[F as usize] };
    let header = f.signature().map(|_| {
        // SAFETY: a call by signature begins with its header.
        CallHeader(unsafe { *args })
    });
    let mut call = Call {
        ctx,
        site,
        header,
        args,
        out,
    };
    match implementation(f)(&mut call) {
        Ok(()) => ExitCode::Continue as u64,
        Err(exit) => exit as u64,
    }
}

/// Lists the implementation of each function with effects.
macro_rules! implementations {
    ($($name:ident: $implementation:path;)*) => {
        /// The implementation, after argument decoding; called with constants only.
        #[inline(always)]
        fn implementation(f: EffectFn) -> Effect {
            match f {
                $(EffectFn::$name => $implementation,)*
            }
        }

        /// The address of an implementation.
        fn effect_fn(f: EffectFn, level: Level) -> usize {
            if let Some(common) = memory::common(f, level >= Level::Avx2) {
                return common;
            }
            #[cfg(target_arch = "x86_64")]
            if f == EffectFn::Matrix
                && let Some(wide) = matrix::wide(level)
            {
                return wide;
            }
            match f {
                $(EffectFn::$name => effect::<{ EffectFn::$name as u16 }> as *const () as usize,)*
            }
        }
    };
}

implementations! {
    Interpret: host::interpret;
    ScalarLoad: scalar::load;
    Load: memory::load;
    Store: memory::store;
    Atomic: atomic::integer;
    ScalarRelative: relative::scalar;
    Matrix: matrix::portable;
    AtomicFloat: atomic::float;
    BufferLoad: buffer::load;
    BufferStore: buffer::store;
    BufferAtomic: buffer::atomic;
    ImageDescriptors: image::descriptors;
    ImageLoad: image::load;
    ImageStore: image::store;
    ImageAtomic: image::atomic;
    ScalarBufferLoad: scalar::buffer_load;
    ScalarStore: scalar::store;
    ScalarBufferStore: scalar::buffer_store;
    ScalarAtomic: scalar::atomic;
    ScalarBufferAtomic: scalar::buffer_atomic;
    Time: scalar::time;
    GetReg: scalar::get_reg;
    SetReg: scalar::set_reg;
    AppendConsume: atomic::append_consume;
    LdsSrc2: atomic::src2;
    LdsExchange: atomic::exchange;
    ReadRelative: relative::read;
    WriteRelative: relative::write;
    Export: export::record;
    ForkStack: scalar::fork_stack;
    CheckLds: memory::check_lds;
    Fence: memory::fence;
    Observe: observe::observe;
    ObserveBarrier: observe::barrier;
    ObserveWait: observe::wait;
    ObserveBuffer: observe::buffer;
}

#[cfg(test)]
mod tests;
