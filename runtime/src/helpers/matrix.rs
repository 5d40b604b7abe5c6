//! Matrix instructions: D = A * B + C on the vector registers of the running wave.
//!
//! Layouts are those of AMD's matrix instruction calculator, and of the CDNA3 ISA, 7.1.4. Numerics
//! are those that MMA-Sim (arXiv 2511.10909) measured on MI100 (gfx908) and MI200 (gfx90a).
//! `v_mfma_f32` of 16 and 32 columns has a kernel of host vectors; the others are loops over the
//! rows of D, which the compiler vectorises.

use std::array;
use std::mem::offset_of;

use frontend::WaveState;
use frontend::op::{Factor, Matrix, MatrixSums};
use lower::abi::{Context, ExitCode, Lanes, Site};
use lower::ir::matrix::{Addend, MAX_CALLS};
use lower::ir::{MatrixCall, VECTOR_REGISTERS};

use super::{Call, Level};
use crate::choices::{self, MATRIX_NAN, MATRIX_NAN_F64};

mod cdna3;
#[cfg(target_arch = "x86_64")]
mod cut;
mod exact;
mod f32_rows;
#[cfg(target_arch = "x86_64")]
mod vectors;
#[cfg(target_arch = "x86_64")]
mod wide;

/// Vector registers.
type Rows = [Lanes];

/// Most registers of A or B, unless A is sparse.
const FACTOR: usize = 2;

/// Most registers of B.
const MOST_OF_B: usize = 4;

/// Copies of the registers of A or B.
type Copied = [Lanes; MOST_OF_B];

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
    run(work, f32_rows::portable, |_, _, _, _| false);
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
    |call, factors, places, d| {
        // SAFETY: the caller's.
        unsafe { cut::avx2(call, factors, places, d) }
    }
);
#[cfg(target_arch = "x86_64")]
variant!(
    avx512,
    "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    avx512,
    |call, factors, places, d| {
        // SAFETY: the caller's.
        unsafe { wide::multiply(call, factors, places, d, wide::Bytes::Pairs) }
    }
);
#[cfg(target_arch = "x86_64")]
variant!(
    avx512_vnni,
    "avx512vnni,avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt",
    avx512,
    |call, factors, places, d| {
        // SAFETY: the caller's.
        unsafe { wide::multiply(call, factors, places, d, wide::Bytes::Vnni) }
    }
);

/// A and B, in registers.
#[derive(Clone, Copy)]
pub(crate) struct Factors<'a> {
    a: &'a Rows,
    b: &'a Rows,
    /// The block of A that a block of D has.
    source: Source,
}

/// Which block of A takes part, by CBSZ and ABID.
#[derive(Clone, Copy)]
struct Source {
    cbsz: u8,
    abid: u8,
    blocks: u8,
}

impl Source {
    fn of_call(call: &MatrixCall) -> Source {
        Source {
            cbsz: call.cbsz,
            abid: call.abid,
            blocks: call.shape.blocks,
        }
    }

    /// The block of A that block `b` of D has.
    #[inline(always)]
    fn of(self, b: usize) -> usize {
        // A division otherwise.
        if self.cbsz == 0 {
            return b;
        }
        choices::matrix_block_of_a(b, self.blocks.into(), self.cbsz, self.abid)
    }
}

/// Multiplies factors if it has vectors for them, and says so. The arguments are those of [`multiply`].
trait Others: Fn(&MatrixCall, Factors<'_>, Option<&Lanes>, &mut Rows) -> bool {}

impl<F: Fn(&MatrixCall, Factors<'_>, Option<&Lanes>, &mut Rows) -> bool> Others for F {}

/// Multiplies. `f32_rows` is for f32 of 16 and 32 columns: of a chain of factors, whose products are
/// added one after the other. `others` is asked first for those of other kinds.
#[inline(always)]
fn run(work: Work<'_>, f32_rows: impl Fn(Matrix, &[Factors<'_>], &mut Rows), others: impl Others) {
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
            let source = Source {
                cbsz: 0,
                abid: 0,
                blocks: shape.blocks,
            };
            chained(
                chain,
                shape,
                (d.clone(), 1, source),
                rows,
                staged,
                &f32_rows,
            );
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
                multiply(&call, factors, None, d, &f32_rows, &others);
                continue;
            }
            // The sources are read before anything is written: D may be any of their registers.
            let (a, b) = factors(&call, rows, staged);
            let factors = Factors {
                a: &a[..usize::from(call.a_registers())],
                b: &b[..usize::from(MatrixCall::factor_registers(call.shape))],
                source: Source::of_call(&call),
            };
            let places = call.places.map(|places| rows[usize::from(places)]);
            let d = sum_so_far(&call, rows);
            multiply(&call, factors, places.as_ref(), d, &f32_rows, &others);
        }
    }
}

/// Multiplies a chain of plain products of f32, whose sum begins with the D of `about`: see [`in_place`].
#[inline(always)]
fn chained(
    chain: &[[u64; 3]],
    shape: Matrix,
    about: (std::ops::Range<usize>, usize, Source),
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

/// Multiplies the factors of one instruction; D has the elements of C. A is sparse if there are places.
#[inline(always)]
fn multiply(
    call: &MatrixCall,
    factors: Factors<'_>,
    places: Option<&Lanes>,
    d: &mut Rows,
    f32_rows: &impl Fn(Matrix, &[Factors<'_>], &mut Rows),
    others: &impl Others,
) {
    let shape = call.shape;
    if others(call, factors, places, d) {
        finish(call, d);
        return;
    }
    if cdna3::takes(call) {
        cdna3::multiply(call, factors, places, d);
        finish(call, d);
        return;
    }
    match (shape.factor, shape.size) {
        (Factor::F32, 16 | 32) => f32_rows(shape, &[factors], d),
        (Factor::F64, 16) => f64_rows::<16>(shape, factors, d),
        (Factor::F64, _) => f64_rows::<4>(shape, factors, d),
        (_, 32) => by_columns::<32>(call, factors, d),
        (_, 16) => by_columns::<16>(call, factors, d),
        (_, _) => by_columns::<4>(call, factors, d),
    }
    finish(call, d);
}

/// Can A and B be read where they are while D is written?
#[inline(always)]
fn is_direct(call: &MatrixCall) -> bool {
    let (d, count) = (call.writes(), MatrixCall::factor_registers(call.shape));
    let outside = |n: u16| n + count <= d.start || d.end <= n;
    let plain = call.blgp == 0 && call.negate == 0 && !call.flush;
    outside(call.a) && outside(call.b) && plain
}

/// The factors of a chain of instructions where they are, and its D. Given are the registers of D, the
/// number of those of a factor, which is outside of D, and which block of A takes part.
#[inline(always)]
fn in_place<'a, const N: usize>(
    chain: &[[u64; 3]],
    (d, count, source): (std::ops::Range<usize>, usize, Source),
    rows: &'a mut [Lanes; VECTOR_REGISTERS],
    staged: &'a Rows,
) -> ([Factors<'a>; N], &'a mut Rows) {
    let (below, from) = rows.split_at_mut(d.start);
    let (sums, above) = from.split_at_mut(d.len());
    let (below, above) = (&*below, &*above);
    let tuple = |n: u16| {
        let n = usize::from(n);
        if n < d.start {
            &below[n..][..count]
        } else if n < VECTOR_REGISTERS {
            &above[n - d.end..][..count]
        } else {
            &staged[n - VECTOR_REGISTERS..][..count]
        }
    };
    let none = Factors {
        a: &[],
        b: &[],
        source,
    };
    let mut factors = [none; N];
    for (factors, &[registers, ..]) in factors.iter_mut().zip(chain) {
        let [a, b] = MatrixCall::factors_of(registers);
        *factors = Factors {
            a: tuple(a),
            b: tuple(b),
            source,
        };
    }
    (factors, sums)
}

/// Registers as indices.
#[inline(always)]
fn range(registers: std::ops::Range<u16>) -> std::ops::Range<usize> {
    usize::from(registers.start)..usize::from(registers.end)
}

/// Makes the results of a call final.
#[inline(always)]
fn finish(call: &MatrixCall, d: &mut Rows) {
    if call.quiet {
        quiet(call.shape.factor, d);
    }
}

/// Copies of the registers of A and B, the lanes of B as BLGP says, f32 flushed and f64 negated if required.
#[inline(always)]
fn factors(call: &MatrixCall, rows: &Rows, staged: &Rows) -> (Copied, Copied) {
    let copy = |first: u16, count: u16| {
        let mut copied = [[0; 64]; MOST_OF_B];
        for (to, n) in copied
            .iter_mut()
            .zip(usize::from(first)..)
            .take(count.into())
        {
            *to = match n.checked_sub(VECTOR_REGISTERS) {
                None => rows[n],
                Some(n) => staged[n],
            };
        }
        copied
    };
    let mut a = copy(call.a, call.a_registers());
    let mut b = copy(call.b, MatrixCall::factor_registers(call.shape));
    if call.blgp != 0 {
        for row in &mut b {
            let from = *row;
            *row = array::from_fn(|lane| from[lane_of_b(call.blgp, lane)]);
        }
    }
    if call.flush {
        let words = a[0].iter_mut().chain(&mut b[0]);
        words.for_each(|word| *word = flushed_with_sign(*word));
    }
    for (bit, factor) in [&mut a, &mut b].into_iter().enumerate() {
        if call.negate >> bit & 1 != 0 {
            negate(&mut factor[1]);
        }
    }
    (a, b)
}

/// Negates the numbers with these high words.
#[inline(always)]
fn negate(high: &mut Lanes) {
    high.iter_mut().for_each(|word| *word ^= 1 << 31);
}

/// The lane that B is read at, by BLGP (CDNA3 ISA, table 29).
fn lane_of_b(blgp: u8, lane: usize) -> usize {
    match blgp {
        0 => lane,
        1 => lane % 32,
        2 => lane % 32 + 32,
        3 => (lane + 16) % 64,
        group => lane % 16 + 16 * (usize::from(group) - 4),
    }
}

/// The registers of D, which get the elements of C.
#[inline(always)]
fn sum_so_far<'a>(call: &MatrixCall, rows: &'a mut Rows) -> &'a mut Rows {
    let count = MatrixCall::sum_registers(call.shape) as usize;
    let d = call.d as usize;
    match call.c {
        Addend::Registers(c) if c == call.d => {}
        Addend::Registers(c) => rows.copy_within(c as usize..c as usize + count, d),
        Addend::Constant(bits) => {
            let wide = call.shape.factor == Factor::F64;
            for (i, row) in rows[d..d + count].iter_mut().enumerate() {
                let high = wide && i % 2 == 1;
                *row = [if high {
                    (bits >> 32) as u32
                } else {
                    bits as u32
                }; 64];
            }
        }
    }
    let d = &mut rows[d..d + count];
    if call.negate & 4 != 0 {
        d.iter_mut().skip(1).step_by(2).for_each(negate);
    }
    d
}

/// The item and the first lane of row `i` of block `b` of C or D; columns are in adjacent lanes.
/// `H` adjacent rows are in adjacent items.
#[inline(always)]
fn place<const N: usize, const H: usize>(b: usize, i: usize) -> (usize, usize) {
    // Blocks side by side in the lanes, then rows above one another in them.
    let beside = const {
        if 64 * H / (N * N) > 1 {
            64 * H / (N * N)
        } else {
            1
        }
    };
    let above = 64 / (N * beside);
    let groups = N / (H * above);
    let item = i % H + H * (i / (H * above) + groups * (b / beside));
    let lane = N * (b % beside + beside * (i / H % above));
    (item, lane)
}

/// The first lane of the elements of A or B whose K is in group `k` of those that a lane has.
#[inline(always)]
fn lanes_of<const N: usize>(blocks: usize, b: usize, k: usize) -> usize {
    N * (b + blocks * k)
}

// ---- f64

/// f64: a chain of fused multiply-adds over K.
#[inline(always)]
fn f64_rows<const N: usize>(shape: Matrix, factors: Factors<'_>, d: &mut Rows) {
    let wide = |rows: &Rows| joined::<64>(&rows[0], &rows[1]);
    let (a, b) = (wide(factors.a), wide(factors.b));
    let blocks = usize::from(shape.blocks);
    for block in 0..blocks {
        let from = factors.source.of(block);
        for i in 0..N {
            let (item, lane) = place::<N, 1>(block, i);
            let pair = d[2 * item..].first_chunk_mut::<2>();
            let [low, high] = pair.expect("an item has two registers");
            let [low, high] = [low, high].map(|register| {
                let row = register[lane..].first_chunk_mut::<N>();
                row.expect("a row lies within the lanes")
            });
            let mut sum = joined::<N>(low, high);
            for k in 0..usize::from(shape.k) {
                let x = a[lanes_of::<N>(blocks, from, k) + i];
                let y: &[f64] = &b[lanes_of::<N>(blocks, block, k)..][..N];
                for (sum, &y) in sum.iter_mut().zip(y) {
                    *sum = x.mul_add(y, *sum);
                }
            }
            for (j, sum) in sum.into_iter().enumerate() {
                let bits = sum.to_bits();
                (low[j], high[j]) = (bits as u32, (bits >> 32) as u32);
            }
        }
    }
}

/// The f64 with these words.
#[inline(always)]
fn joined<const N: usize>(low: &[u32; N], high: &[u32; N]) -> [f64; N] {
    array::from_fn(|j| f64::from_bits(u64::from(low[j]) | u64::from(high[j]) << 32))
}

/// The f64 of a lane of a pair of registers.
#[inline(always)]
fn double(pair: &Rows, lane: usize) -> f64 {
    f64::from_bits(u64::from(pair[0][lane]) | u64::from(pair[1][lane]) << 32)
}

// ---- elements of at most 32 bits

/// Matrices of `N` columns by their arithmetic.
#[inline(always)]
fn by_columns<const N: usize>(call: &MatrixCall, factors: Factors<'_>, d: &mut Rows) {
    let shape = call.shape;
    let pairs = call.sums == MatrixSums::Pairs;
    match (shape.factor, factors.a.len(), pairs) {
        (Factor::F32, ..) => {
            let float = |rows: &Rows, _: usize, lane: usize| f32::from_bits(rows[0][lane]);
            rows_of::<N, 1, f32>(shape, factors, d, float, |sum, x, y| {
                for (sum, &y) in sum.iter_mut().zip(y[0]) {
                    *sum = x[0].mul_add(y, f32::from_bits(*sum)).to_bits();
                }
            });
        }
        (Factor::F16, _, true) => rows_of::<N, 4, f32>(shape, factors, d, f16_flushed, pairs4),
        (Factor::F16, _, false) => rows_of::<N, 4, f32>(shape, factors, d, f16, exact::add::<N, 4>),
        (Factor::Bf16, 2, true) => rows_of::<N, 4, f32>(shape, factors, d, bf16_flushed, pairs4),
        (Factor::Bf16, 2, false) => {
            rows_of::<N, 4, f32>(shape, factors, d, bf16, exact::add::<N, 4>);
        }
        (Factor::Bf16, _, true) => rows_of::<N, 2, f32>(shape, factors, d, bf16_flushed, pairs2),
        (Factor::Bf16, _, false) => {
            rows_of::<N, 2, f32>(shape, factors, d, bf16, exact::add::<N, 2>);
        }
        (Factor::I8, ..) => {
            for (shape, factors) in by_register(shape, factors) {
                rows_of::<N, 4, i32>(shape, factors, d, i8_of, |sum, x, y| {
                    for t in 0..4 {
                        for (sum, &y) in sum.iter_mut().zip(y[t]) {
                            *sum = sum.wrapping_add(x[t].wrapping_mul(y).cast_unsigned());
                        }
                    }
                });
            }
        }
        (Factor::F64, ..) => unreachable!("bug: f64 has two registers for an element"),
        (Factor::Xf32 | Factor::F8(..), ..) => unreachable!("bug: these are of gfx942"),
    }
}

/// A product of i8 as products of one register of each factor, whose sums are added: they wrap, so that their order is of no effect.
#[inline(always)]
fn by_register<'a>(
    shape: Matrix,
    factors: Factors<'a>,
) -> impl Iterator<Item = (Matrix, Factors<'a>)> {
    let (a, b) = (factors.a.chunks(1), factors.b.chunks(1));
    let shape = Matrix {
        k: shape.k / factors.a.len() as u8,
        ..shape
    };
    a.zip(b)
        .map(move |(a, b)| (shape, Factors { a, b, ..factors }))
}

/// Goes through the rows of D, and for each through the `P` values of K that a lane of A and B has:
/// `add` adds their products to the row, given those of A and rows of B.
#[inline(always)]
fn rows_of<const N: usize, const P: usize, T: Copy + Default>(
    shape: Matrix,
    factors: Factors<'_>,
    d: &mut Rows,
    element: impl Fn(&Rows, usize, usize) -> T,
    add: impl Fn(&mut [u32; N], [T; P], [&[T; N]; P]),
) {
    let items = |rows: &Rows| -> [[T; 64]; P] {
        array::from_fn(|item| array::from_fn(|lane| element(rows, item, lane)))
    };
    let (a, b) = (items(factors.a), items(factors.b));
    let blocks = usize::from(shape.blocks);
    let steps = usize::from(shape.k) / P;
    for block in 0..blocks {
        let from = factors.source.of(block);
        for i in 0..N {
            let (item, lane) = place::<N, 4>(block, i);
            let sum = d[item][lane..].first_chunk_mut::<N>();
            let sum = sum.expect("a row of D lies within the lanes");
            for k in 0..steps {
                let at = lanes_of::<N>(blocks, from, k) + i;
                let x = array::from_fn(|t| a[t][at]);
                let at = lanes_of::<N>(blocks, block, k);
                let y = array::from_fn(|t| {
                    let row = b[t][at..].first_chunk::<N>();
                    row.expect("a row of B lies within the lanes")
                });
                add(sum, x, y);
            }
        }
    }
}

/// Item `item` of 16 bits of a lane.
#[inline(always)]
fn half(rows: &Rows, item: usize, lane: usize) -> u16 {
    (rows[item / 2][lane] >> (item % 2 * 16)) as u16
}

/// An f16.
#[inline(always)]
fn f16(rows: &Rows, item: usize, lane: usize) -> f32 {
    widened(half(rows, item, lane))
}

/// An f16, denormals as +0.
#[inline(always)]
fn f16_flushed(rows: &Rows, item: usize, lane: usize) -> f32 {
    let bits = half(rows, item, lane);
    let denormal = bits & 0x7c00 == 0 && bits & 0x3ff != 0;
    widened(if denormal { 0 } else { bits })
}

/// f16 to f32; exact.
#[inline(always)]
fn widened(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff) << 13;
    // The exponent's bias by a multiplication, which normalises denormals.
    let scaled = f32::from_bits(rest) * f32::from_bits((127 + 112) << 23);
    let special = bits & 0x7c00 == 0x7c00;
    let bits = if special {
        rest | 0x7f80_0000
    } else {
        scaled.to_bits()
    };
    f32::from_bits(bits | sign)
}

/// A bf16.
#[inline(always)]
fn bf16(rows: &Rows, item: usize, lane: usize) -> f32 {
    f32::from_bits(u32::from(half(rows, item, lane)) << 16)
}

/// A bf16, denormals as +0.
#[inline(always)]
fn bf16_flushed(rows: &Rows, item: usize, lane: usize) -> f32 {
    positive(bf16(rows, item, lane))
}

/// A signed byte.
#[inline(always)]
fn i8_of(rows: &Rows, item: usize, lane: usize) -> i32 {
    i32::from((rows[0][lane] >> (8 * item)) as i8)
}

// ---- products in pairs

/// A denormal as zero of its sign.
#[inline(always)]
fn flushed_with_sign(bits: u32) -> u32 {
    match bits & 0x7f80_0000 {
        0 => bits & 0x8000_0000,
        _ => bits,
    }
}

/// A denormal as zero of its sign.
#[inline(always)]
fn flushed(x: f32) -> f32 {
    f32::from_bits(flushed_with_sign(x.to_bits()))
}

/// A denormal as +0.
#[inline(always)]
fn positive(x: f32) -> f32 {
    let denormal = x != 0.0 && x.abs() < f32::MIN_POSITIVE;
    if denormal { 0.0 } else { x }
}

/// gfx90a, four values of K: products are rounded, added in pairs, and then to the sum; all flushed.
#[inline(always)]
fn pairs4<const N: usize>(sum: &mut [u32; N], x: [f32; 4], y: [&[f32; N]; 4]) {
    for (j, sum) in sum.iter_mut().enumerate() {
        let p: [f32; 4] = array::from_fn(|t| flushed(x[t] * y[t][j]));
        let both = flushed(flushed(p[0] + p[1]) + flushed(p[2] + p[3]));
        *sum = flushed(positive(f32::from_bits(*sum)) + both).to_bits();
    }
}

/// As [`pairs4`], two values of K.
#[inline(always)]
fn pairs2<const N: usize>(sum: &mut [u32; N], x: [f32; 2], y: [&[f32; N]; 2]) {
    for (j, sum) in sum.iter_mut().enumerate() {
        let p: [f32; 2] = array::from_fn(|t| flushed(x[t] * y[t][j]));
        *sum = flushed(positive(f32::from_bits(*sum)) + flushed(p[0] + p[1])).to_bits();
    }
}

// ---- NaNs

/// Replaces NaNs by the default one.
#[inline(always)]
fn quiet(factor: Factor, d: &mut Rows) {
    match factor {
        Factor::I8 => {}
        Factor::F64 => {
            for pair in d.chunks_exact_mut(2) {
                for lane in 0..64 {
                    if double(pair, lane).is_nan() {
                        (pair[0][lane], pair[1][lane]) =
                            (MATRIX_NAN_F64 as u32, (MATRIX_NAN_F64 >> 32) as u32);
                    }
                }
            }
        }
        Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
            for word in d.as_flattened_mut() {
                if f32::from_bits(*word).is_nan() {
                    *word = MATRIX_NAN;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
