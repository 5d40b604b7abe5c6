use std::array;

use frontend::op::{F8, MatrixSums};
use frontend::target::Gfx;
use lower::ir::functions::{EffectFn, LaneFn};
use lower::ir::matrix::{Addend, STAGED};

use super::*;
use crate::helpers::{has_avx2, table_for};
use crate::interp::testing::{MODE, Machine};
use crate::math::testing::Random;

/// Registers of A, unless a test says otherwise.
const A: u16 = 3;
/// Those of B.
const B: u16 = 300;
/// Those of C.
const C: u16 = 20;
/// Those of D.
const D: u16 = 260;

/// All shapes.
fn shapes() -> Vec<Matrix> {
    let rows = frontend::isa::all().filter_map(|row| match row.op {
        frontend::Op::Mfma(shape) => Some(shape),
        _ => None,
    });
    rows.collect()
}

const SUMS: [MatrixSums; 3] = [MatrixSums::Exact, MatrixSums::Pairs, MatrixSums::CutOff];

fn call_of(shape: Matrix) -> MatrixCall {
    MatrixCall {
        shape,
        d: D,
        a: A,
        b: B,
        c: Addend::Registers(C),
        cbsz: 0,
        abid: 0,
        blgp: 0,
        sums: MatrixSums::Pairs,
        flush: false,
        quiet: false,
        saturates: false,
        negate: 0,
        places: None,
    }
}

/// Runs a call on every level of this host, whose results must be the same.
fn runs(call: &MatrixCall, wave: &WaveState) -> Box<WaveState> {
    runs_all(&[*call], wave, &[])
}

/// The same of several calls in a row, with these staging registers.
fn runs_all(calls: &[MatrixCall], wave: &WaveState, staged: &[Lanes]) -> Box<WaveState> {
    let mut levels = vec![Level::Portable];
    levels.extend(has_avx2().then_some(Level::Avx2));
    levels.extend((has_avx2() && lower::host::has_avx512()).then_some(Level::Avx512));
    let mut results = levels.into_iter().map(|level| {
        let table = table_for(level);
        let mut wave = Box::new(wave.clone());
        let mut context = Context::new(table.as_ptr());
        context.wave = std::ptr::from_mut(&mut *wave);
        let entry = table[LaneFn::ALL.len() + EffectFn::Matrix as usize];
        // SAFETY: the table's addresses of such numbers are functions with effects.
        let entry = unsafe { std::mem::transmute::<usize, lower::abi::EffectFnPtr>(entry) };
        let mut words = vec![calls.len() as u64 | (staged.len() as u64) << 32];
        for (i, call) in calls.iter().enumerate() {
            let joined = i > 0 && call.continues(&calls[i - 1]);
            words.extend(call.words(joined));
        }
        let mut frame = staged.to_vec();
        context.frame = frame.as_mut_ptr();
        let site = Site {
            pc: 0,
            inst: frontend::decode(Gfx::Gfx900, &[0; 8]).expect("an addition"),
        };
        // SAFETY: the wave is the context's, and there are the words of a call.
        let status = unsafe { entry(&raw mut context, &site, words.as_ptr(), std::ptr::null()) };
        assert_eq!(status, 0);
        wave
    });
    let first = results.next().expect("there is one level");
    for other in results {
        assert!(
            first.vgpr == other.vgpr && first.agpr == other.agpr,
            "{calls:?}"
        );
    }
    first
}

/// Calls in a row are as one after the other, whether they continue the same sums or not.
#[test]
fn several_in_a_row() {
    let mut random = Random::new(5);
    for shape in shapes() {
        for round in 0..20 {
            let mut wave = WaveState::new_boxed();
            for n in 0..80 {
                *wave.vector_mut(n) = array::from_fn(|_| word_of(shape.factor, &mut random));
            }
            let sum = MatrixCall::sum_registers(shape);
            let staged: Vec<Lanes> = (0..4)
                .map(|_| array::from_fn(|_| word_of(shape.factor, &mut random)))
                .collect();
            let mut calls: Vec<MatrixCall> = Vec::new();
            for _ in 0..1 + random.below(MAX_CALLS as u64) {
                let d = 20 + random.below(2) as u16 * sum;
                let factor = |random: &mut Random| match random.below(8) {
                    0 => STAGED + random.below(3) as u16,
                    1 => d + random.below(u64::from(sum) - 1) as u16,
                    _ => random.below(18) as u16,
                };
                calls.push(MatrixCall {
                    d,
                    a: factor(&mut random),
                    b: factor(&mut random),
                    c: match random.below(6) {
                        0 => Addend::Constant(0),
                        _ => Addend::Registers(d),
                    },
                    flush: round % 4 == 0 && shape.factor == Factor::F32,
                    sums: [MatrixSums::Exact, MatrixSums::Pairs][round % 2],
                    quiet: true,
                    ..call_of(shape)
                });
            }
            let mut want = wave.clone();
            // Copies of the staged registers: nothing writes them.
            for (n, row) in staged.iter().enumerate() {
                *want.vector_mut(500 + n) = *row;
            }
            for call in &calls {
                let there = |n: u16| if n >= STAGED { n - STAGED + 500 } else { n };
                let (a, b) = (there(call.a), there(call.b));
                want = runs(&MatrixCall { a, b, ..*call }, &want);
            }
            let got = runs_all(&calls, &wave, &staged);
            for n in 0..500 {
                assert_eq!(got.vector(n), want.vector(n), "register {n} {calls:?}");
            }
        }
    }
}

/// A word of numbers of a format that seldom overflow, some of them denormal or 0.
fn word_of(factor: Factor, random: &mut Random) -> u32 {
    let bits = random.bits() as u32;
    if random.below(30) == 0 {
        return bits & 0x8000_8000 | random.below(2) as u32;
    }
    match factor {
        Factor::F64 => 0x3ff0_0000 | bits & 0x8003_ffff,
        Factor::F32 | Factor::Xf32 => 0x3f00_0000 | bits & 0x80ff_ffff,
        Factor::F16 => 0x3000_3000 | bits & 0x8fff_8fff,
        Factor::Bf16 => 0x3f00_3f00 | bits & 0x80ff_80ff,
        Factor::I8 | Factor::F8(..) => bits,
    }
}

/// All levels have the same results for numbers of small and of large ranges, of which some are not
/// finite.
#[test]
fn numbers_of_any_range() {
    let mut random = Random::new(11);
    for shape in shapes() {
        for round in 0..200 {
            let mut wave = WaveState::new_boxed();
            let any = random.below(3);
            // The exponents of a round: few, or all.
            let (first, count) = match any {
                0 => (0, 256),
                1 => (random.below(200), 1 + random.below(40)),
                _ => (100 + random.below(20), 1 + random.below(20)),
            };
            let mut word = |factor: Factor| {
                let bits = random.bits() as u32;
                let exponent = (first + random.below(count)).min(if any == 0 { 255 } else { 254 });
                let other = (first + random.below(count)).min(254);
                if random.below(40) == 0 {
                    return bits & 0x8000_8000;
                }
                match factor {
                    Factor::F64 | Factor::F32 | Factor::Xf32 => {
                        bits & 0x807f_ffff | (exponent as u32) << 23
                    }
                    Factor::F16 => {
                        let [low, high] = [exponent, other].map(|e| (e as u32 / 4 % 31) << 10);
                        bits & 0x83ff_83ff | low | high << 16
                    }
                    Factor::Bf16 => {
                        let [low, high] = [exponent, other].map(|e| (e as u32) << 7);
                        bits & 0x807f_807f | low | high << 16
                    }
                    Factor::I8 | Factor::F8(..) => bits,
                }
            };
            for n in [A, A + 1, B, B + 1] {
                *wave.vector_mut(n.into()) = array::from_fn(|_| word(shape.factor));
            }
            for n in C..C + MatrixCall::sum_registers(shape) {
                *wave.vector_mut(n.into()) = array::from_fn(|_| word(Factor::F32));
            }
            let call = MatrixCall {
                sums: SUMS[round % 3],
                saturates: round % 7 == 0 && shape.factor != Factor::F64,
                cbsz: (round % 5 / 4 * shape.blocks.ilog2() as usize) as u8,
                quiet: true,
                ..call_of(shape)
            };
            let after = runs(&call, &wave);
            #[cfg(target_arch = "x86_64")]
            if has_avx2()
                && lower::host::has_avx512()
                && shape.factor == Factor::I8
                && !call.saturates
            {
                let registers = usize::from(MatrixCall::factor_registers(shape));
                let mut d = Vec::new();
                for n in call.writes() {
                    d.push(*wave.vector(usize::from(n - D + C)));
                }
                let factors = Factors {
                    a: &[*wave.vector(A.into()), *wave.vector(usize::from(A) + 1)][..registers],
                    b: &[*wave.vector(B.into()), *wave.vector(usize::from(B) + 1)][..registers],
                    source: Source::of_call(&call),
                };
                let spread = spread(shape, factors);
                let product = Product {
                    call: &call,
                    factors: factors.with_spread(shape, spread.as_ref()),
                    places: None,
                };
                // SAFETY: the host has it.
                assert!(unsafe { wide::multiply(product, &mut d, wide::Bytes::Pairs) });
                for (n, row) in call.writes().zip(d) {
                    assert_eq!(after.vector(n.into()), &row);
                }
            }
        }
    }
}

/// f64 to f16, which has it.
fn f16_of(x: f64) -> u32 {
    let bits = x.to_bits();
    let exponent = (bits >> 52 & 0x7ff) as u32;
    let sign = (bits >> 63) as u32;
    if x == 0.0 {
        return sign << 15;
    }
    sign << 15 | (exponent + 15 - 1023) << 10 | (bits >> 42 & 0x3ff) as u32
}

/// The code of a float of 8 bits that has the value.
fn f8_of(ty: F8, x: f64) -> u64 {
    let imm = match ty {
        F8::Fp8 => 0,
        F8::Bf8 => 1,
    };
    let value = |code: u32| f32::from_bits(crate::helpers::eight_bits::widen([code], imm)[0]);
    let code = (0..256).find(|&code| f64::from(value(code)) == x);
    code.expect("it has one").into()
}

/// The type that elements of A or of B have.
fn of_b(factor: Factor) -> Factor {
    match factor {
        Factor::F8(_, b) => Factor::F8(b, b),
        other => other,
    }
}

/// Sets item `item` of a lane; of A for floats of 8 bits.
fn set(wave: &mut WaveState, first: u16, factor: Factor, (item, lane): (usize, usize), x: f64) {
    let mut put = |item: usize, bits: u32, word: u64| {
        let per = 32 / bits as usize;
        let register = wave.vector_mut(usize::from(first) + item / per);
        let at = item % per * bits as usize;
        let mask = u32::MAX >> (32 - bits) << at;
        register[lane] = register[lane] & !mask | (word as u32) << at & mask;
    };
    match factor {
        Factor::F64 => {
            put(2 * item, 32, x.to_bits());
            put(2 * item + 1, 32, x.to_bits() >> 32);
        }
        Factor::F32 | Factor::Xf32 => put(item, 32, u64::from((x as f32).to_bits())),
        Factor::F8(a, _) => put(item, 8, f8_of(a, x)),
        Factor::F16 => put(item, 16, u64::from(f16_of(x))),
        Factor::Bf16 => put(item, 16, u64::from((x as f32).to_bits() >> 16)),
        Factor::I8 => put(item, 8, x as i64 as u64),
    }
}

/// An element of C or D.
fn sum_of(wave: &WaveState, first: u16, factor: Factor, (item, lane): (usize, usize)) -> f64 {
    let word = |n: usize| wave.vector(usize::from(first) + n)[lane];
    match factor {
        Factor::F64 => {
            f64::from_bits(u64::from(word(2 * item)) | u64::from(word(2 * item + 1)) << 32)
        }
        Factor::I8 => f64::from(word(item) as i32),
        Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
            f64::from(f32::from_bits(word(item)))
        }
    }
}

fn set_sum(wave: &mut WaveState, first: u16, factor: Factor, at: (usize, usize), x: f64) {
    match factor {
        Factor::F64 => set(wave, first, factor, at, x),
        Factor::I8 => {
            wave.vector_mut(usize::from(first) + at.0)[at.1] = x as i32 as u32;
        }
        Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
            set(wave, first, Factor::F32, at, x);
        }
    }
}

/// Block, row and column of an item of C or D in a lane, as the manual draws them.
fn element(shape: Matrix, item: usize, lane: usize) -> (usize, usize, usize) {
    match (shape.size, shape.factor) {
        (32, _) => (
            item / 16,
            8 * (item % 16 / 4) + 4 * (lane / 32) + item % 4,
            lane % 32,
        ),
        (16, Factor::F64) => (0, 4 * item + lane / 16, lane % 16),
        (16, _) => (item / 4, 4 * (lane / 16) + item % 4, lane % 16),
        (_, Factor::F64) => (lane / 4 % 4, lane / 16, lane % 4),
        (_, _) => (lane / 4, item, lane % 4),
    }
}

/// The lane and the item of A[b][i][k]; of B[b][k][i].
fn factor_at(shape: Matrix, b: usize, i: usize, k: usize) -> (usize, usize) {
    let per = shape.per_lane() as usize;
    let (size, blocks) = (usize::from(shape.size), usize::from(shape.blocks));
    (k % per, i + size * (b + blocks * (k / per)))
}

/// -4..=4
fn small(random: &mut Random) -> f64 {
    random.below(9) as f64 - 4.0
}

fn sums(shape: Matrix) -> impl Iterator<Item = (usize, usize)> {
    let registers = usize::from(MatrixCall::sum_registers(shape));
    let items = if shape.factor == Factor::F64 {
        registers / 2
    } else {
        registers
    };
    (0..items).flat_map(|item| (0..64).map(move |lane| (item, lane)))
}

#[test]
fn products_of_small_integers() {
    let mut random = Random::new(1);
    for shape in shapes() {
        let (size, k) = (usize::from(shape.size), usize::from(shape.k));
        let blocks = usize::from(shape.blocks);
        for round in 0..24 {
            let cbsz = random.below(u64::from(shape.blocks.ilog2()) + 1) as u8;
            let call = MatrixCall {
                cbsz,
                abid: random.below(1 << cbsz) as u8,
                blgp: if shape.factor == Factor::F64 {
                    0
                } else {
                    round % 8
                },
                sums: SUMS[usize::from(round >> 2) % 3],
                c: Addend::Registers(if round % 3 == 0 { C } else { D }),
                quiet: round & 1 != 0,
                saturates: round % 5 == 0 && shape.factor != Factor::F64,
                ..call_of(shape)
            };
            let Addend::Registers(c_register) = call.c else {
                continue;
            };
            let mut wave = WaveState::new_boxed();
            let mut fill = |wave: &mut WaveState, first, factor| {
                let mut all = vec![vec![vec![0.0; k]; size]; blocks];
                for (b, rows) in all.iter_mut().enumerate() {
                    for (i, row) in rows.iter_mut().enumerate() {
                        for (k, x) in row.iter_mut().enumerate() {
                            *x = small(&mut random);
                            set(wave, first, factor, factor_at(shape, b, i, k), *x);
                        }
                    }
                }
                all
            };
            let a = fill(&mut wave, A, shape.factor);
            let b = fill(&mut wave, B, of_b(shape.factor));
            // B as the lanes have it after BLGP.
            let mut lanes_of_b = vec![[0.0; 64]; shape.per_lane() as usize];
            for (block, columns) in b.iter().enumerate() {
                for (j, column) in columns.iter().enumerate() {
                    for (k, &x) in column.iter().enumerate() {
                        let (item, lane) = factor_at(shape, block, j, k);
                        lanes_of_b[item][lane] = x;
                    }
                }
            }
            let from = |lane: usize| match call.blgp {
                0 => lane,
                1 => lane & 31,
                2 => lane & 31 | 32,
                3 => (lane + 16) & 63,
                n => lane & 15 | (usize::from(n) & 3) << 4,
            };
            let mut want = Vec::new();
            for (item, lane) in sums(shape) {
                let c = small(&mut random);
                set_sum(&mut wave, c_register, shape.factor, (item, lane), c);
                let (block, i, j) = element(shape, item, lane);
                let group = 1 << cbsz;
                let of_a = &a[block / group * group + usize::from(call.abid)][i];
                let sum: f64 = (0..k)
                    .map(|k| {
                        let (item, lane) = factor_at(shape, block, j, k);
                        of_a[k] * lanes_of_b[item][from(lane)]
                    })
                    .sum();
                want.push(c + sum);
            }
            let after = runs(&call, &wave);
            for ((at, want), n) in sums(shape).zip(want).zip(0..) {
                let got = sum_of(&after, D, shape.factor, at);
                assert_eq!(got, want, "{call:?} element {n} at {at:?}");
            }
            for n in 0..VECTOR_REGISTERS {
                if !call.writes().contains(&(n as u16)) {
                    assert_eq!(after.vector(n), wave.vector(n), "register {n} {call:?}");
                }
            }
        }
    }
}

#[test]
fn registers_may_overlap() {
    let mut random = Random::new(77);
    for shape in shapes() {
        for _ in 0..40 {
            let mut wave = WaveState::new_boxed();
            // Small numbers of every format.
            for n in 0..64 {
                *wave.vector_mut(n) = array::from_fn(|_| match shape.factor {
                    Factor::F64 => 0x3ff0_0000 + random.below(16) as u32,
                    Factor::F32 | Factor::Xf32 => (small(&mut random) as f32).to_bits(),
                    Factor::F16 => 0x3c00_3c00 + random.below(16) as u32 * 0x10_0010,
                    Factor::Bf16 => 0x3f80_3f80 + random.below(16) as u32 * 0x1_0001,
                    Factor::I8 => random.bits() as u32,
                    Factor::F8(..) => 0x3c3c_3c3c + random.below(16) as u32 * 0x0001_0100,
                });
            }
            let mut register = || random.below(24) as u16;
            let (d, a, b, c) = (register(), register(), register(), register());
            let apart = MatrixCall {
                d: 200,
                a,
                b,
                c: Addend::Registers(c),
                ..call_of(shape)
            };
            let there = runs(&apart, &wave);
            let here = runs(&MatrixCall { d, ..apart }, &wave);
            for n in 0..usize::from(MatrixCall::sum_registers(shape)) {
                assert_eq!(
                    here.vgpr[usize::from(d) + n],
                    there.vgpr[200 + n],
                    "{shape:?}"
                );
            }
        }
    }
}

/// The values by which MMA-Sim tells the generations apart.
#[test]
fn rounding_of_each_generation() {
    for shape in shapes() {
        let wide = MatrixCall::factor_registers(shape) == 2;
        let new = matches!(shape.factor, Factor::Xf32 | Factor::F8(..));
        if shape.k < 4 || shape.factor == Factor::I8 || shape.factor == Factor::F32 || new {
            continue;
        }
        for numerics in [MatrixSums::Exact, MatrixSums::Pairs] {
            let pairs = numerics == MatrixSums::Pairs;
            let mut wave = WaveState::new_boxed();
            for b in 0..usize::from(shape.blocks) {
                for i in 0..usize::from(shape.size) {
                    for k in 0..4 {
                        let at = factor_at(shape, b, i, k);
                        let (x, y) = (
                            [-8192.0, -0.5, -0.25, -0.125][k],
                            [1024.0, 1.0, 1.0, 1.0][k],
                        );
                        set(&mut wave, A, shape.factor, at, x);
                        set(&mut wave, B, shape.factor, at, y);
                    }
                }
            }
            let factor = shape.factor;
            sums(shape).for_each(|at| set_sum(&mut wave, C, factor, at, 8_388_608.0));
            let after = runs(
                &MatrixCall {
                    sums: numerics,
                    ..call_of(shape)
                },
                &wave,
            );
            let want = match (factor, pairs, wide) {
                (Factor::F64, ..) | (_, false, _) => -0.875,
                (Factor::Bf16, true, false) => -0.375,
                (_, true, _) => 0.0,
            };
            for at in sums(shape) {
                assert_eq!(sum_of(&after, D, factor, at), want, "{shape:?} {pairs}");
            }
        }
    }
}

/// A constant is C, of f64 in both words; f32 denormals of A and B only are flushed if required.
#[test]
fn constants_and_denormals() {
    for shape in shapes() {
        let bits = match shape.factor {
            Factor::F64 => 2.5f64.to_bits(),
            Factor::I8 => 7,
            Factor::F32 | Factor::F16 | Factor::Bf16 | Factor::Xf32 | Factor::F8(..) => {
                u64::from(2.5f32.to_bits())
            }
        };
        let call = MatrixCall {
            c: Addend::Constant(bits),
            ..call_of(shape)
        };
        let after = runs(&call, &WaveState::new_boxed());
        let want = if shape.factor == Factor::I8 { 7.0 } else { 2.5 };
        for at in sums(shape) {
            assert_eq!(sum_of(&after, D, shape.factor, at), want, "{shape:?}");
        }
        if shape.factor != Factor::F32 {
            continue;
        }
        for flush in [false, true] {
            let mut wave = WaveState::new_boxed();
            wave.vgpr[usize::from(A)] = [1; 64];
            *wave.vector_mut(usize::from(B)) = [1.0f32.to_bits(); 64];
            for n in 0..usize::from(MatrixCall::sum_registers(shape)) {
                wave.vgpr[usize::from(C) + n] = [1; 64];
            }
            let after = runs(
                &MatrixCall {
                    flush,
                    ..call_of(shape)
                },
                &wave,
            );
            let want = if flush { 1 } else { 1 + u32::from(shape.k) };
            assert_eq!(
                after.vector(usize::from(D)),
                &[want; 64],
                "{shape:?} {flush}"
            );
        }
    }
}

/// Sparse rows of A have two of each four values of K, where the register of places says.
#[test]
fn sparse_products_of_small_integers() {
    const PLACES: u16 = 500;
    let mut random = Random::new(5);
    let rows = frontend::isa::all().filter_map(|row| match row.op {
        frontend::Op::Smfmac(shape) => Some(shape),
        _ => None,
    });
    for shape in rows {
        let (size, k) = (usize::from(shape.size), usize::from(shape.k));
        let per_lane = shape.per_lane() as usize;
        let stored = per_lane / 2;
        for round in 0..16u8 {
            let call = MatrixCall {
                c: Addend::Registers(D),
                places: Some(PLACES),
                cbsz: round >> 2 & 1,
                abid: round & 3,
                saturates: round & 8 != 0,
                sums: MatrixSums::CutOff,
                ..call_of(shape)
            };
            let set_number = if call.cbsz == 0 {
                usize::from(call.abid) % (16 / stored)
            } else {
                0
            };
            let mut wave = WaveState::new_boxed();
            // The places differ in the sets that do not count.
            *wave.vector_mut(PLACES.into()) = array::from_fn(|_| random.bits() as u32);
            let mut a = vec![vec![0.0; k]; size];
            for lane in 0..64 {
                for pair in 0..stored / 2 {
                    let first = random.below(3) as usize;
                    let second = first + 1 + random.below(3 - first as u64) as usize;
                    for (n, place) in [first, second].into_iter().enumerate() {
                        let item = 2 * pair + n;
                        let shift = 2 * (stored * set_number + item);
                        let places = &mut wave.vector_mut(PLACES.into())[lane];
                        *places = *places & !(3 << shift) | (place as u32) << shift;
                        let x = small(&mut random);
                        set(&mut wave, A, shape.factor, (item, lane), x);
                        a[lane % size][lane / size * per_lane + 4 * pair + place] = x;
                    }
                }
            }
            let mut b = vec![vec![0.0; k]; size];
            for (j, column) in b.iter_mut().enumerate() {
                for (k, x) in column.iter_mut().enumerate() {
                    *x = small(&mut random);
                    let at = factor_at(shape, 0, j, k);
                    set(&mut wave, B, of_b(shape.factor), at, *x);
                }
            }
            let mut want = Vec::new();
            for at in sums(shape) {
                let c = small(&mut random);
                set_sum(&mut wave, D, shape.factor, at, c);
                let (_, i, j) = element(shape, at.0, at.1);
                want.push(c + a[i].iter().zip(&b[j]).map(|(x, y)| x * y).sum::<f64>());
            }
            let after = runs(&call, &wave);
            for (at, want) in sums(shape).zip(want) {
                assert_eq!(sum_of(&after, D, shape.factor, at), want, "{call:?} {at:?}");
            }
        }
    }
}

/// gfx942: the check vector of MMA-Sim, limits of sums, and negations of f64.
#[test]
fn rules_of_gfx942() {
    for shape in shapes() {
        let factor = shape.factor;
        let mut wave = WaveState::new_boxed();
        let values = match factor {
            Factor::F16 | Factor::Bf16 | Factor::Xf32 => Some((
                [-8192.0, -0.5, -0.25, -0.125],
                [1024.0, 1.0, 1.0, 1.0],
                -0.5,
            )),
            Factor::F8(F8::Bf8, F8::Bf8) => Some((
                [-8192.0, -0.5, -0.25, -0.125],
                [1024.0, 1.0, 1.0, 1.0],
                -1.0,
            )),
            Factor::F64 => Some(([1.0, 2.0, 0.0, 0.0], [1.0, 3.0, 0.0, 0.0], 8_388_615.0)),
            Factor::F32 | Factor::I8 | Factor::F8(..) => None,
        };
        if shape.k < 4 || MatrixCall::factor_registers(shape) < 2 {
            continue;
        }
        let Some((x, y, want)) = values else { continue };
        for b in 0..usize::from(shape.blocks) {
            for i in 0..usize::from(shape.size) {
                for k in 0..4 {
                    let at = factor_at(shape, b, i, k);
                    set(&mut wave, A, factor, at, x[k]);
                    set(&mut wave, B, of_b(factor), at, y[k]);
                }
            }
        }
        sums(shape).for_each(|at| set_sum(&mut wave, C, factor, at, 8_388_608.0));
        let call = MatrixCall {
            sums: MatrixSums::CutOff,
            ..call_of(shape)
        };
        for negate in 0..8u8 {
            let double = factor == Factor::F64;
            let sign = |bits: u8| {
                if bits.count_ones() & 1 != 0 {
                    -1.0
                } else {
                    1.0
                }
            };
            let want = match double {
                true => sign(negate & 4) * 8_388_608.0 + sign(negate & 3) * 7.0,
                false => want,
            };
            let negate = if double { negate } else { 0 };
            let after = runs(&MatrixCall { negate, ..call }, &wave);
            for at in sums(shape) {
                assert_eq!(sum_of(&after, D, factor, at), want, "{shape:?} {negate}");
            }
        }
    }
}

/// Bits of the exponent and of the mantissa of an element of A or of B.
fn widths(factor: Factor, is_b: bool) -> (u32, u32) {
    match (factor, is_b) {
        (Factor::F16, _) => (5, 10),
        (Factor::Bf16, _) => (8, 7),
        (Factor::Xf32 | Factor::F32, _) => (8, 23),
        (Factor::F8(F8::Fp8, _), false) | (Factor::F8(_, F8::Fp8), true) => (4, 3),
        (Factor::F8(F8::Bf8, _), false) | (Factor::F8(_, F8::Bf8), true) => (5, 2),
        (Factor::I8 | Factor::F64, _) => panic!("these have no such numbers"),
    }
}

/// A number with this exponent's field: mantissas are often the least or the greatest.
fn number_of((exponent, mantissa): (u32, u32), field: u64, random: &mut Random) -> u32 {
    let ones = (1 << mantissa) - 1;
    let fraction = match random.below(6) {
        0 => 0,
        1 => 1,
        2 => ones,
        _ => random.bits() as u32 & ones,
    };
    let sign = random.below(2) as u32;
    sign << (exponent + mantissa) | (field as u32) << mantissa | fraction
}

/// Sums that gfx942 cuts off are those of the interpreter: of products whose exponents are close or far from one another, and
/// from that of C, of zeros, denormals and numbers that are not finite, of sparse and of dense matrices.
#[test]
fn sums_that_are_cut_off_are_those_of_the_interpreter() {
    const GFX: Gfx = Gfx::Gfx942;
    let [a, b, places, d] = [0u16, 4, 60, 64];
    let mut random = Random::new(942);
    for row in frontend::isa::all() {
        let sparse = matches!(row.op, frontend::Op::Smfmac(_));
        let (Some(shape), Some(opcode)) = (row.op.product(), row.opcodes.get(GFX)) else {
            continue;
        };
        if matches!(shape.factor, Factor::F32 | Factor::F64 | Factor::I8) {
            continue;
        }
        for round in 0..60u64 {
            let [of_a, of_b] = [false, true].map(|is_b| widths(shape.factor, is_b));
            // The exponents of a round.
            let mut fields = |(exponent, _): (u32, u32)| {
                let count = [1, 2, 5, 12, 30, 300][random.below(6) as usize];
                let all = 1 << exponent;
                let first = match (exponent, random.below(4)) {
                    (_, 0) => random.below(all),
                    (8, _) => 90 + random.below(60),
                    (_, _) => random.below(all / 2),
                };
                (first, count)
            };
            let ranges = [fields(of_a), fields(of_b)];
            let specials = random.below(4) == 0;
            let zeros = [2, 10, 1000][random.below(3) as usize];
            let mut word = |format: (u32, u32), (first, count): (u64, u64)| {
                let bits = 1 + format.0 + format.1;
                // Floats of eight bits have no infinite numbers.
                let special = bits > 8 && !(specials && random.below(300) == 0);
                let last = (1 << format.0) - 1 - u64::from(special);
                (0..32 / bits).fold(0, |word, n| {
                    let field = (first + random.below(count)).min(last);
                    let number = match random.below(zeros) {
                        0 => (random.below(2) as u32) << (bits - 1),
                        _ => number_of(format, field, &mut random),
                    };
                    // The code of a NaN.
                    let nan = bits == 8 && number == 0x80 && !specials;
                    word | (if nan { 0 } else { number }) << (n * bits)
                })
            };
            let mut wave = WaveState::new_boxed();
            for n in 0..4 {
                wave.vgpr[usize::from(a + n)] = array::from_fn(|_| word(of_a, ranges[0]));
                wave.vgpr[usize::from(b + n)] = array::from_fn(|_| word(of_b, ranges[1]));
            }
            wave.vgpr[usize::from(places)] = array::from_fn(|_| random.bits() as u32);
            // That of the largest products.
            let middle = [(of_a, ranges[0]), (of_b, ranges[1])].map(|(format, (first, count))| {
                let bias = (1 << (format.0 - 1)) - if format.0 + format.1 == 7 { 0 } else { 1 };
                (first + count - 1).min((1 << format.0) - 1) as i64 - bias
            });
            let middle = 127 + middle[0] + middle[1];
            for n in 0..MatrixCall::sum_registers(shape) {
                wave.vgpr[usize::from(d + n)] = array::from_fn(|_| {
                    let field = middle + random.below(81) as i64 - 45;
                    match random.below(30) {
                        0 => random.bits() as u32,
                        1 => random.bits() as u32 & 0x807f_ffff,
                        2 => random.bits() as u32 & 0x8000_0000,
                        _ => number_of((8, 23), field.clamp(0, 254) as u64, &mut random),
                    }
                });
            }
            let saturates = round % 6 == 0;
            let abid = random.below(16) as u8;
            let call = MatrixCall {
                a,
                b,
                c: Addend::Registers(d),
                d,
                places: sparse.then_some(places),
                cbsz: if sparse { random.below(4) as u8 } else { 0 },
                abid: if sparse { abid } else { 0 },
                blgp: if round % 5 == 0 && !sparse { 3 } else { 0 },
                sums: MatrixSums::CutOff,
                quiet: true,
                saturates,
                ..call_of(shape)
            };
            let mut machine = Machine::new(GFX);
            machine.wave.vgpr = wave.vgpr;
            machine.wave.mode = MODE
                | if saturates {
                    frontend::state::mode::FP16_OVFL
                } else {
                    0
                };
            let [cbsz, abid, blgp] = [call.cbsz, call.abid, call.blgp].map(u32::from);
            let third = u32::from(call.places.unwrap_or(d));
            let factors = (256 + u32::from(b)) << 9 | (256 + u32::from(a));
            machine.ends(&[
                0x1a7 << 23 | u32::from(opcode) << 16 | abid << 11 | cbsz << 8 | u32::from(d),
                blgp << 29 | (256 + third) << 18 | factors,
            ]);
            let after = runs(&call, &wave);
            for n in call.writes() {
                let n = usize::from(n);
                for lane in 0..64 {
                    assert_eq!(
                        after.vgpr[n][lane], machine.wave.vgpr[n][lane],
                        "{} lane {lane} of v{n}, {:08x} before, round {round}",
                        row.name, wave.vgpr[n][lane]
                    );
                }
            }
        }
    }
}
