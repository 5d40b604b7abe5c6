//! Matrix instructions: D = A * B + C on the vector registers of the running wave.
//!
//! Layouts are those of AMD's matrix instruction calculator, and of the CDNA3 ISA, 7.1.4. Numerics
//! are those that MMA-Sim (arXiv 2511.10909) measured on MI100 (gfx908), MI200 (gfx90a) and MI300 (gfx942).
//!
//! [`f32_rows`] has f32 of 16 and 32 columns. With AVX-512 [`wide`] has the others; [`cut`], with AVX2 too, has gfx942's sums
//! that are cut off. What these leave are the loops over rows of D of [`cdna3`], for what only gfx942 has, and of [`loops`].

use std::mem::offset_of;
use std::ops::Range;

use frontend::WaveState;
use frontend::op::{Factor, Matrix};
use lower::abi::{Context, ExitCode, Lanes, Site};
use lower::ir::matrix::MAX_CALLS;
use lower::ir::{MatrixCall, VECTOR_REGISTERS};

use self::operands::{
    Factors, MOST_OF_B, Product, Source, by_register, factors, finish, in_place, lanes_of, place,
    quiet, spread, sum_so_far,
};
use super::{Call, Level};

mod cdna3;
#[cfg(target_arch = "x86_64")]
mod cut;
mod exact;
mod f32_rows;
mod loops;
mod operands;
#[cfg(target_arch = "x86_64")]
mod vectors;
#[cfg(target_arch = "x86_64")]
mod wide;

/// Vector registers.
type Rows = [Lanes];

/// Instructions to run, and the registers of a wave.
struct Work<'a> {
    /// The words of each instruction.
    calls: &'a [[u64; 3]],
    /// VGPRs and accumulation registers.
    rows: &'a mut [Lanes; VECTOR_REGISTERS],
    /// Staging registers.
    staged: &'a Rows,
}

/// The work with these words.
///
/// # Safety
/// The context's wave is the running wave, which nothing else accesses during the call, and there
/// are the words that `EffectFn::Matrix` gets.
#[inline(always)]
unsafe fn decoded<'a>(ctx: *mut Context, words: *const u64) -> Work<'a> {
    // SAFETY: the caller's.
    let header = unsafe { *words };
    let (count, slots) = (header as u8 as usize, (header >> 32) as usize);
    // SAFETY: the caller's.
    let calls = unsafe { std::slice::from_raw_parts(words.add(1).cast::<[u64; 3]>(), count) };
    // SAFETY: the caller's.
    let context = unsafe { &mut *ctx };
    context.matrix_kinds |= header as u32 >> 8;
    let (wave, frame) = (context.wave, context.frame);
    // SAFETY: the field is within the wave.
    let first = unsafe { wave.byte_add(offset_of!(WaveState, vgpr)) };
    // SAFETY: accumulation registers lie right behind the VGPRs, as `WaveState` asserts.
    let rows = unsafe { &mut *first.cast::<[Lanes; VECTOR_REGISTERS]>() };
    let staged = match slots {
        0 => &[],
        // SAFETY: the caller's.
        _ => unsafe { std::slice::from_raw_parts(frame, slots) },
    };
    Work {
        calls,
        rows,
        staged,
    }
}

/// `EffectFn::Matrix`.
pub(super) fn portable(call: &mut Call<'_>) -> Result<(), ExitCode> {
    // SAFETY: translated code passes these words, and the context of the running wave.
    let work = unsafe { decoded(call.ctx, call.args) };
    run(work, f32_rows::portable, |_, _| false);
    Ok(())
}

/// The address of the variant for a host, unless it is [`portable`].
#[cfg(target_arch = "x86_64")]
pub(super) fn wide(level: Level) -> Option<usize> {
    match level {
        Level::Portable => None,
        Level::Avx2 => Some(avx2 as *const () as usize),
        Level::Avx512 if std::is_x86_feature_detected!("avx512vnni") => {
            Some(avx512_vnni as *const () as usize)
        }
        Level::Avx512 => Some(avx512 as *const () as usize),
    }
}

/// The variant of the function for a host with these features: with the products of f32 of this name,
/// and others by a function, which says whether it has such.
#[cfg(target_arch = "x86_64")]
macro_rules! variant {
    ($name:ident, $features:literal, $rows:ident, $others:expr) => {
        /// # Safety
        /// The contract of `lower::abi::EffectFnPtr`; the host has these features.
        #[target_feature(enable = $features)]
        unsafe extern "C" fn $name(
            ctx: *mut Context,
            _: *const Site,
            words: *const u64,
            _: *const *mut Lanes,
        ) -> u64 {
            // SAFETY: the caller's.
            let work = unsafe { decoded(ctx, words) };
            let f32_rows = |shape: Matrix, chain: &[Factors<'_>], d: &mut Rows| {
                // SAFETY: the caller's.
                unsafe { f32_rows::$rows(shape, chain, d) }
            };
            run(work, f32_rows, $others);
            ExitCode::Continue as u64
        }
    };
}

#[cfg(target_arch = "x86_64")]
variant!(
    avx2,
    "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    avx2,
    |product, d| {
        // SAFETY: the caller's.
        unsafe { cut::avx2(product, d) }
    }
);
#[cfg(target_arch = "x86_64")]
variant!(
    avx512,
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    avx512,
    |product, d| {
        // SAFETY: the caller's.
        unsafe { wide::multiply(product, d, wide::Bytes::Pairs) }
    }
);
#[cfg(target_arch = "x86_64")]
variant!(
    avx512_vnni,
    "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    avx512,
    |product, d| {
        // SAFETY: the caller's.
        unsafe { wide::multiply(product, d, wide::Bytes::Vnni) }
    }
);

/// Multiplies. `f32_rows` is for f32 of 16 and 32 columns: of a chain of factors, whose products are
/// added one after the other. `others` multiplies other products, or returns false.
#[inline(always)]
fn run(
    work: Work<'_>,
    f32_rows: impl Fn(Matrix, &[Factors<'_>], &mut Rows),
    others: impl Fn(Product<'_>, &mut Rows) -> bool,
) {
    let Work {
        mut calls,
        rows,
        staged,
    } = work;
    while let Some((&words, behind)) = calls.split_first() {
        let joined = behind
            .iter()
            .take_while(|&&words| MatrixCall::is_joined(words));
        let (chain, rest) = calls.split_at(1 + joined.count());
        calls = rest;
        if let Some((shape, d, default_nan)) = MatrixCall::plain_of(words) {
            let sums = MatrixCall::sum_registers(shape);
            let d = usize::from(d)..usize::from(d + sums);
            let about = (d.clone(), 1, Source::own(shape));
            chained(chain, shape, about, rows, staged, &f32_rows);
            if default_nan {
                quiet(Factor::F32, &mut rows[d]);
            }
            continue;
        }
        let first = call_of(words);
        if first.shape.factor == Factor::F32
            && first.shape.size >= 16
            && is_direct(&first)
            && !cdna3::takes(&first)
        {
            sum_so_far(&first, rows);
            let about = (range(first.writes()), 1, Source::of_call(&first));
            chained(chain, first.shape, about, rows, staged, &f32_rows);
            finish(&first, &mut rows[range(first.writes())]);
            continue;
        }
        for words in chain {
            let call = call_of(*words);
            if is_direct(&call) && call.places.is_none() {
                sum_so_far(&call, rows);
                let count = MatrixCall::factor_registers(call.shape) as usize;
                let about = (range(call.writes()), count, Source::of_call(&call));
                let one = std::slice::from_ref(words);
                let ([factors], d) = in_place(one, about, rows, staged);
                let product = Product {
                    call: &call,
                    factors,
                    places: None,
                };
                multiply(product, d, &f32_rows, &others);
                continue;
            }
            // The sources are read before anything is written: D may be any of their registers.
            let (a, b) = factors(&call, rows, staged);
            let places = call.places.map(|places| rows[usize::from(places)]);
            let product = Product {
                call: &call,
                factors: Factors {
                    a: &a[..usize::from(call.a_registers())],
                    b: &b[..usize::from(MatrixCall::factor_registers(call.shape))],
                    source: Source::of_call(&call),
                },
                places: places.as_ref(),
            };
            let d = sum_so_far(&call, rows);
            multiply(product, d, &f32_rows, &others);
        }
    }
}

/// Multiplies a chain of plain products of f32, whose sum begins with the D of `about`: see [`in_place`].
#[inline(always)]
fn chained(
    chain: &[[u64; 3]],
    shape: Matrix,
    about: (Range<usize>, usize, Source),
    rows: &mut [Lanes; VECTOR_REGISTERS],
    staged: &Rows,
    f32_rows: &impl Fn(Matrix, &[Factors<'_>], &mut Rows),
) {
    // An array of all would take as long as a small product.
    if chain.len() == 1 {
        let (factors, d) = in_place::<1>(chain, about, rows, staged);
        f32_rows(shape, &factors, d);
    } else {
        let (factors, d) = in_place::<MAX_CALLS>(chain, about, rows, staged);
        f32_rows(shape, &factors[..chain.len()], d);
    }
}

/// The call with these words.
#[inline(always)]
fn call_of(words: [u64; 3]) -> MatrixCall {
    MatrixCall::from_words(words).expect("bug: code passes the words of a call")
}

/// Multiplies the factors of one instruction; D has the elements of C.
#[inline(always)]
fn multiply(
    product: Product<'_>,
    d: &mut Rows,
    f32_rows: &impl Fn(Matrix, &[Factors<'_>], &mut Rows),
    others: &impl Fn(Product<'_>, &mut Rows) -> bool,
) {
    let (call, shape) = (product.call, product.call.shape);
    let spread = spread(shape, product.factors);
    let factors = product.factors.with_spread(shape, spread.as_ref());
    let product = Product { factors, ..product };
    if !others(product, d) {
        by_loops(product, d, f32_rows);
    }
    finish(call, d);
}

/// Multiplies what has no kernel of host vectors, and f32.
#[inline(always)]
fn by_loops(
    product: Product<'_>,
    d: &mut Rows,
    f32_rows: &impl Fn(Matrix, &[Factors<'_>], &mut Rows),
) {
    let Product { call, factors, .. } = product;
    if cdna3::takes(call) {
        cdna3::multiply(product, d);
        return;
    }
    let shape = call.shape;
    match (shape.factor, shape.size) {
        (Factor::F32, 16 | 32) => f32_rows(shape, &[factors], d),
        (Factor::F64, 16) => loops::f64_rows::<16>(shape, factors, d),
        (Factor::F64, _) => loops::f64_rows::<4>(shape, factors, d),
        (_, 32) => loops::by_columns::<32>(call, factors, d),
        (_, 16) => loops::by_columns::<16>(call, factors, d),
        (_, _) => loops::by_columns::<4>(call, factors, d),
    }
}

/// Can A and B be read where they are while D is written?
#[inline(always)]
fn is_direct(call: &MatrixCall) -> bool {
    let (d, count) = (call.writes(), MatrixCall::factor_registers(call.shape));
    let outside = |n: u16| n + count <= d.start || d.end <= n;
    let plain = call.blgp == 0 && call.negate == 0 && !call.flush;
    outside(call.a) && outside(call.b) && plain
}

/// Registers as indices.
#[inline(always)]
fn range(registers: Range<u16>) -> Range<usize> {
    usize::from(registers.start)..usize::from(registers.end)
}

#[cfg(test)]
mod tests;
