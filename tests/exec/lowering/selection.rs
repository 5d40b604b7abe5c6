//! The wide back end on vector IR that legalization does not make, or seldom: every shuffle of dwords, every pair of
//! comparisons, random expressions. What comes out is computed here, lane by lane.

use std::mem::offset_of;
use std::sync::Arc;

use frontend::WaveState;
use frontend::state::LANES;
use harness::random::Random;
use lower::abi::{Context, ExitCode};
use lower::backend::object::Object;
use lower::backend::x64;
use lower::host::Isa;
use lower::jit::Compiled;
use lower::vir::types::{self, Lane};
use lower::vir::verify::verify;
use lower::vir::{Builder, FloatCC, Func, IntCC, Memory, Op, Ssa, Type, Value, text};

use super::can_run;
use super::operations::{EDGES, run};
use super::words::bytes;

/// Programs read vector registers of the wave in front of this one, and write from it on.
const RESULTS: usize = 64;

/// The place of a vector register behind the wave's address.
fn register(n: usize) -> i32 {
    (offset_of!(WaveState, vgpr) + 4 * LANES * n) as i32
}

/// A function that does what `write` appends, which gets the wave's address.
fn function(write: impl FnOnce(&mut Builder<'_>, Value)) -> (Func, Value) {
    let (mut f, mut ssa) = (Func::new(), Ssa::default());
    let mut b = Builder::new(&mut f, &mut ssa);
    let entry = b.create_block();
    let context = b.append_block_param(entry, types::I64);
    b.switch_to_block(entry);
    let wave = offset_of!(Context, wave) as i32;
    let wave = b.load(types::I64, Memory::Trusted, context, wave);
    write(&mut b, wave);
    b.finish();
    if let Err(broken) = verify(&f) {
        panic!("{broken}\n{}", text::print(&f));
    }
    (f, wave)
}

/// Ends a function.
fn leave(b: &mut Builder<'_>) {
    let code = b.iconst(types::I64, ExitCode::Barrier as i64);
    b.return_(code);
}

fn load(b: &mut Builder<'_>, ty: Type, wave: Value, n: usize) -> Value {
    b.load(ty, Memory::Trusted, wave, register(n))
}

/// Stores a result. A mask becomes lanes of all ones or zeros.
fn keep(b: &mut Builder<'_>, v: Value, wave: Value, n: usize) {
    b.store(Memory::Trusted, v, wave, register(RESULTS + n));
}

/// What compiles.
#[derive(Clone, Copy, Debug)]
struct Compiler {
    isa: Isa,
    /// Registers are allocated by a linear scan.
    baseline: bool,
}

/// All that this CPU can run.
fn compilers() -> Vec<Compiler> {
    let isas = [Isa::Avx2, Isa::Avx512]
        .into_iter()
        .filter(|&isa| can_run(isa));
    let both = |isa| [false, true].map(|baseline| Compiler { isa, baseline });
    isas.flat_map(both).collect()
}

/// The same, each with the types of vectors of 32-bit lanes that it has.
fn vectors(lane: Lane) -> Vec<(Compiler, Type)> {
    let of = |compiler: Compiler| {
        let most = if compiler.isa == Isa::Avx512 { 4 } else { 3 };
        (2..=most).map(move |log2| (compiler, Type::vector(lane, log2)))
    };
    compilers().into_iter().flat_map(of).collect()
}

/// Compiles a function, which gets the wave's address in a value.
fn compile((f, wave): &(Func, Value), compiler: Compiler) -> Compiled {
    let Compiler { isa, baseline } = compiler;
    let code = x64::compile(f, *wave, isa, baseline, &mut x64::Space::default());
    let code = code.unwrap_or_else(|refused| {
        panic!("{refused}, {compiler:?}:\n{}", text::print(f));
    });
    let object = Object {
        code: code.bytes.into(),
        patches: code.patches,
        wide: true,
        ..Object::default()
    };
    let compiled = Compiled::new(Arc::new(object), 0, Vec::new(), Vec::new());
    compiled.expect("there is memory for code")
}

/// A word at an edge, or any.
fn word(r: &mut Random) -> u32 {
    match r.below(3) {
        0 => r.word(),
        1 => *r.pick(&EDGES),
        _ => r.below(4),
    }
}

/// A wave with such words.
fn random_wave(r: &mut Random) -> Box<WaveState> {
    let mut wave = WaveState::new_boxed();
    for row in &mut wave.vgpr[..RESULTS] {
        row.fill_with(|| word(r));
    }
    wave
}

// ---- shuffles

/// All shuffles of the dwords of two vectors, and some of their bytes.
fn patterns(r: &mut Random) -> Vec<[u8; 16]> {
    let dwords = (0..8 * 8 * 8 * 8).map(|n: u32| {
        let of = [0, 3, 6, 9].map(|shift| (n >> shift & 7) as u8);
        std::array::from_fn(|i| 4 * of[i / 4] + i as u8 % 4)
    });
    let mut all: Vec<[u8; 16]> = dwords.collect();
    for _ in 0..300 {
        // Of the first vector, of the second, of both; with and without zeros.
        let (start, len) = *r.pick(&[(0, 16), (16, 16), (0, 32)]);
        let zeros = r.once_in(2);
        all.push(std::array::from_fn(|_| match zeros && r.once_in(4) {
            true => 0x80,
            false => (start + r.below(len)) as u8,
        }));
    }
    all
}

#[test]
fn shuffles_of_two_vectors() {
    const AT_ONCE: usize = 128;
    let mut r = Random::new(0x5f0f);
    let patterns = patterns(&mut r);
    for (compiler, ty) in vectors(Lane::I32) {
        for (n, some) in patterns.chunks(AT_ONCE).enumerate() {
            // Now and then both sources are one vector.
            let second = usize::from(n % 8 != 7);
            let f = function(|b, wave| {
                let sources = [0, second].map(|n| load(b, ty, wave, n));
                for (n, pattern) in some.iter().enumerate() {
                    let pattern = b.func.constant(pattern);
                    let d = b.shuffle(ty, sources[0], sources[1], pattern);
                    keep(b, d, wave, n);
                }
                leave(b);
            });
            let mut wave = random_wave(&mut r);
            run(&compile(&f, compiler), &mut wave, &mut []);
            let sources = [0, second].map(|n| bytes(&wave.vgpr[n]));
            for (n, pattern) in some.iter().enumerate() {
                let of = |at: usize| match pattern[at % 16] {
                    index @ 0..32 => {
                        let part = at & !15;
                        sources[usize::from(index / 16)][part + usize::from(index % 16)]
                    }
                    _ => 0,
                };
                let expected: Vec<u8> = (0..ty.bytes() as usize).map(of).collect();
                let got = &bytes(&wave.vgpr[RESULTS + n])[..expected.len()];
                assert_eq!(got, expected, "{ty} by {pattern:?}, {compiler:?}");
            }
        }
    }
}

/// Lanes of 8 and 16 bits, extended to twice their size.
#[test]
fn widened_lanes() {
    const OPS: [(Op, bool); 2] = [(Op::SwidenLow, true), (Op::UwidenLow, false)];
    let mut r = Random::new(0x31de);
    for compiler in compilers() {
        for (from, size) in [(types::I8X16, 1), (types::I16X8, 2)] {
            let to = from.widened().expect("the lanes are small");
            let f = function(|b, wave| {
                let v = load(b, from, wave, 0);
                for (n, (op, _)) in OPS.into_iter().enumerate() {
                    let d = b.op(op, &[v], to);
                    keep(b, d, wave, n);
                }
                leave(b);
            });
            let mut wave = random_wave(&mut r);
            run(&compile(&f, compiler), &mut wave, &mut []);
            let source = bytes(&wave.vgpr[0]);
            for (n, (_, signed)) in OPS.into_iter().enumerate() {
                let expected = source[..8].chunks(size).flat_map(|lane| {
                    let negative = lane[size - 1] >> 7 != 0;
                    let above = if signed && negative { 0xff } else { 0 };
                    [lane, &vec![above; size]].concat()
                });
                let expected: Vec<u8> = expected.collect();
                let got = &bytes(&wave.vgpr[RESULTS + n])[..16];
                assert_eq!(got, expected, "{from}, signed: {signed}, {compiler:?}");
            }
        }
    }
}

// ---- floats

/// A comparison of two f32 that are converted to f64, which changes none.
fn compares(cond: FloatCC, a: f64, b: f64) -> bool {
    let uno = a.is_nan() || b.is_nan();
    match cond {
        FloatCC::Ordered => !uno,
        FloatCC::Unordered => uno,
        FloatCC::Equal => a == b,
        FloatCC::NotEqual => a != b,
        FloatCC::OrderedNotEqual => !uno && a != b,
        FloatCC::UnorderedOrEqual => uno || a == b,
        FloatCC::LessThan => a < b,
        FloatCC::LessThanOrEqual => a <= b,
        FloatCC::GreaterThan => a > b,
        FloatCC::GreaterThanOrEqual => a >= b,
        FloatCC::UnorderedOrLessThan => uno || a < b,
        FloatCC::UnorderedOrLessThanOrEqual => uno || a <= b,
        FloatCC::UnorderedOrGreaterThan => uno || a > b,
        FloatCC::UnorderedOrGreaterThanOrEqual => uno || a >= b,
    }
}

/// Pairs of comparisons of the same and of other sources, joined by `or` and `and`.
#[test]
fn joined_comparisons_of_floats() {
    let all = FloatCC::ALL.map(|(cond, _)| cond);
    // The second comparison, its sources, and how the first one joins it.
    let mut seconds: Vec<(FloatCC, [usize; 2], Op)> = Vec::new();
    for cond in all {
        for sources in [[0, 1], [1, 0], [0, 2]] {
            seconds.extend([Op::Bor, Op::Band].map(|join| (cond, sources, join)));
        }
    }
    let mut r = Random::new(0xf10a);
    for (compiler, ty) in vectors(Lane::F32) {
        for first in all {
            let f = function(|b, wave| {
                let sources = [0, 1, 2].map(|n| load(b, ty, wave, n));
                for (n, &(second, [x, y], join)) in seconds.iter().enumerate() {
                    let one = b.fcmp(first, sources[0], sources[1]);
                    let other = b.fcmp(second, sources[x], sources[y]);
                    let both = b.op(join, &[one, other], ty.truth());
                    keep(b, both, wave, n);
                }
                leave(b);
            });
            let mut wave = random_wave(&mut r);
            run(&compile(&f, compiler), &mut wave, &mut []);
            for lane in 0..ty.lane_count() as usize {
                let sources = [0, 1, 2].map(|n| f64::from(f32::from_bits(wave.vgpr[n][lane])));
                let one = compares(first, sources[0], sources[1]);
                for (n, &(second, [x, y], join)) in seconds.iter().enumerate() {
                    let other = compares(second, sources[x], sources[y]);
                    let expected = compute(join, one.into(), other.into()).wrapping_neg();
                    assert_eq!(
                        wave.vgpr[RESULTS + n][lane],
                        expected,
                        "{first:?}, {join:?}, {second:?} of {x} and {y}: {sources:?}, {compiler:?}",
                    );
                }
            }
        }
    }
}

/// Scalar floats to 32-bit integers, saturating.
#[test]
fn scalar_floats_to_integers() {
    let numbers = [
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        -0.9,
        1.5,
        -1.5,
        2147483647.5,
        2147483648.0,
        -2147483648.5,
        -2147483649.0,
        4294967295.5,
        4294967296.0,
        1e300,
        -1e300,
    ];
    for compiler in compilers() {
        let f = function(|b, wave| {
            for (n, ty) in [types::F64, types::F32].into_iter().enumerate() {
                let v = load(b, ty, wave, n);
                let ops = [Op::FcvtToSintSat, Op::FcvtToUintSat];
                for (k, op) in ops.into_iter().enumerate() {
                    let d = b.op(op, &[v], types::I32);
                    keep(b, d, wave, 2 * n + k);
                }
            }
            leave(b);
        });
        let code = compile(&f, compiler);
        for x in numbers {
            let mut wave = WaveState::new_boxed();
            (wave.vgpr[0][0], wave.vgpr[0][1]) = (x.to_bits() as u32, (x.to_bits() >> 32) as u32);
            let single = x as f32;
            wave.vgpr[1][0] = single.to_bits();
            run(&code, &mut wave, &mut []);
            let got = [0, 1, 2, 3].map(|n| wave.vgpr[RESULTS + n][0]);
            let expected = [
                x as i32 as u32,
                x as u32,
                single as i32 as u32,
                single as u32,
            ];
            assert_eq!(got, expected, "{x}, {compiler:?}");
        }
    }
}

// ---- blocks

/// A jump with constants to a block that only compares one of them; its other parameter is used behind it.
#[test]
fn decided_branches_with_arguments() {
    for compiler in compilers() {
        for (constant, wide) in [(2, false), (5, false), (2, true), (5, true)] {
            let ty = if wide { types::I64 } else { types::I32 };
            let f = function(|b, wave| {
                let [one, other, head, low, high] = [(); 5].map(|()| b.create_block());
                let number = b.append_block_param(head, types::I32);
                let param = b.append_block_param(head, ty);
                let cond = load(b, types::I32, wave, 0);
                let [x, y] = [1, 2].map(|n| load(b, ty, wave, n));
                let given = load(b, types::I32, wave, 3);
                let cond = b.icmp_imm(IntCC::NotEqual, cond, 0);
                b.brif(cond, one, &[], other, &[]);
                b.switch_to_block(one);
                let constant = b.iconst(types::I32, constant);
                b.jump(head, &[constant, x]);
                b.switch_to_block(other);
                b.jump(head, &[given, y]);
                b.switch_to_block(head);
                let three = b.iconst(types::I32, 3);
                let less = b.icmp(IntCC::UnsignedLessThan, number, three);
                b.brif(less, low, &[], high, &[]);
                for (block, n) in [(low, 0), (high, 1)] {
                    b.switch_to_block(block);
                    keep(b, param, wave, n);
                    keep(b, number, wave, 2);
                    leave(b);
                }
            });
            let code = compile(&f, compiler);
            for (cond, given) in [(0, 1), (0, 7), (1, 0)] {
                let mut wave = WaveState::new_boxed();
                let [x, y] = [0x1234_5678, 0x9abc_def0];
                for (n, word) in [cond, x, y, given].into_iter().enumerate() {
                    wave.vgpr[n][0] = word;
                }
                run(&code, &mut wave, &mut []);
                let (number, param) = match cond {
                    0 => (given, y),
                    _ => (constant as u32, x),
                };
                let mut expected = [0, 0, number];
                expected[usize::from(number >= 3)] = param;
                let got = [0, 1, 2].map(|n| wave.vgpr[RESULTS + n][0]);
                assert_eq!(got, expected, "{constant} {cond} {given}, {compiler:?}");
            }
        }
    }
}

// ---- random expressions

/// A value of a program, with what it is in each lane: a word, or 0 or 1 of a mask.
#[derive(Clone)]
struct Known {
    v: Value,
    lanes: Vec<u32>,
}

fn compare_words(cond: IntCC, a: u32, b: u32) -> bool {
    let (x, y) = (a as i32, b as i32);
    match cond {
        IntCC::Equal => a == b,
        IntCC::NotEqual => a != b,
        IntCC::SignedLessThan => x < y,
        IntCC::SignedGreaterThanOrEqual => x >= y,
        IntCC::SignedGreaterThan => x > y,
        IntCC::SignedLessThanOrEqual => x <= y,
        IntCC::UnsignedLessThan => a < b,
        IntCC::UnsignedGreaterThanOrEqual => a >= b,
        IntCC::UnsignedGreaterThan => a > b,
        IntCC::UnsignedLessThanOrEqual => a <= b,
    }
}

/// A sum, difference and so on of words.
fn compute(op: Op, a: u32, b: u32) -> u32 {
    match op {
        Op::Iadd => a.wrapping_add(b),
        Op::Isub => a.wrapping_sub(b),
        Op::Imul => a.wrapping_mul(b),
        Op::Band => a & b,
        Op::Bor => a | b,
        Op::Bxor => a ^ b,
        Op::Umin => a.min(b),
        Op::Umax => a.max(b),
        Op::Smin => (a as i32).min(b as i32) as u32,
        Op::Smax => (a as i32).max(b as i32) as u32,
        Op::Ishl => a << (b & 31),
        Op::Ushr => a >> (b & 31),
        Op::Sshr => ((a as i32) >> (b & 31)) as u32,
        other => panic!("{other:?} is not one of these"),
    }
}

const BINARY: [Op; 10] = [
    Op::Iadd,
    Op::Isub,
    Op::Imul,
    Op::Band,
    Op::Bor,
    Op::Bxor,
    Op::Umin,
    Op::Umax,
    Op::Smin,
    Op::Smax,
];
const LOGIC: [Op; 3] = [Op::Band, Op::Bor, Op::Bxor];
const SHIFTS: [Op; 3] = [Op::Ishl, Op::Ushr, Op::Sshr];

/// A random function on vectors of words, and what each of its results is.
struct Expressions<'a> {
    r: &'a mut Random,
    ty: Type,
    /// The registers' words now.
    state: Vec<[u32; LANES]>,
    words: Vec<Known>,
    masks: Vec<Known>,
    /// Bits of masks in the low bits of an i32.
    scalars: Vec<Known>,
}

impl Expressions<'_> {
    fn map(&self, of: impl Fn(usize) -> u32) -> Vec<u32> {
        (0..self.ty.lane_count() as usize).map(of).collect()
    }

    /// One of the last values, mostly.
    fn pick(&mut self, list: fn(&Self) -> &Vec<Known>) -> Known {
        let len = list(self).len() as u32;
        let back = match self.r.once_in(3) {
            true => self.r.below(len),
            false => self.r.below(len.min(4)),
        };
        list(self)[(len - 1 - back) as usize].clone()
    }

    fn word(&mut self) -> Known {
        self.pick(|e| &e.words)
    }

    fn mask(&mut self) -> Known {
        self.pick(|e| &e.masks)
    }

    fn add_word(&mut self, v: Value, lanes: Vec<u32>) {
        self.words.push(Known { v, lanes });
    }

    /// A register, loaded.
    fn load(&mut self, b: &mut Builder<'_>, wave: Value) {
        let n = self.r.below(8) as usize;
        let v = load(b, self.ty, wave, n);
        let lanes = self.map(|lane| self.state[n][lane]);
        self.add_word(v, lanes);
    }

    /// A comparison.
    fn compare(&mut self, b: &mut Builder<'_>, cond: IntCC, x: &Known, y: &Known) {
        let v = b.icmp(cond, x.v, y.v);
        let lanes = self.map(|n| compare_words(cond, x.lanes[n], y.lanes[n]).into());
        self.masks.push(Known { v, lanes });
    }

    /// Appends one instruction or a few.
    fn step(&mut self, b: &mut Builder<'_>, wave: Value) {
        match self.r.below(16) {
            0 => self.load(b, wave),
            1 => {
                // A register that later loads read.
                let (n, x) = (self.r.below(8) as usize, self.word());
                b.store(Memory::Trusted, x.v, wave, register(n));
                self.state[n][..x.lanes.len()].copy_from_slice(&x.lanes);
            }
            2 => {
                let word = *self
                    .r
                    .pick(&[0, u32::MAX, 1, 0x7fff_ffff, 0x7f80_0000, 0x8000_0000]);
                let bytes = word.to_le_bytes().repeat(self.ty.lane_count() as usize);
                let constant = b.func.constant(&bytes);
                let v = b.vconst(self.ty, constant);
                let lanes = self.map(|_| word);
                self.add_word(v, lanes);
            }
            kind @ 3..=6 => {
                let ops: &[Op] = if kind < 5 { &BINARY } else { &LOGIC };
                let (op, x, y) = (*self.r.pick(ops), self.word(), self.word());
                let v = b.op(op, &[x.v, y.v], self.ty);
                let lanes = self.map(|n| compute(op, x.lanes[n], y.lanes[n]));
                self.add_word(v, lanes);
            }
            7 => {
                let x = self.word();
                let v = b.op(Op::Bnot, &[x.v], self.ty);
                let lanes = self.map(|n| !x.lanes[n]);
                self.add_word(v, lanes);
            }
            8 => {
                let (op, x, by) = (*self.r.pick(&SHIFTS), self.word(), self.r.below(32));
                let amount = b.iconst(types::I32, by.into());
                let v = b.op(op, &[x.v, amount], self.ty);
                let lanes = self.map(|n| compute(op, x.lanes[n], by));
                self.add_word(v, lanes);
            }
            9 | 10 => {
                let (m, x, y) = (self.mask(), self.word(), self.word());
                let op = *self.r.pick(&[Op::Blendv, Op::Bitselect]);
                let v = b.op(op, &[m.v, x.v, y.v], self.ty);
                let lanes = self.map(|n| {
                    if m.lanes[n] != 0 {
                        x.lanes[n]
                    } else {
                        y.lanes[n]
                    }
                });
                self.add_word(v, lanes);
            }
            11 => {
                let (m, x, first) = (self.mask(), self.word(), self.r.once_in(2));
                let mut args = [x.v, b.op(Op::MaskToVector, &[m.v], self.ty)];
                if first {
                    args.reverse();
                }
                let v = b.op(Op::Band, &args, self.ty);
                let lanes = self.map(|n| if m.lanes[n] != 0 { x.lanes[n] } else { 0 });
                self.add_word(v, lanes);
            }
            12 | 13 => {
                let (x, y) = (self.word(), self.word());
                let (cond, _) = *self.r.pick(&IntCC::ALL);
                self.compare(b, cond, &x, &y);
            }
            14 => {
                let (op, x, y) = (*self.r.pick(&LOGIC), self.mask(), self.mask());
                let (not, truth) = (self.r.once_in(3), self.ty.truth());
                let other = match not {
                    true => b.op(Op::Bnot, &[y.v], truth),
                    false => y.v,
                };
                let v = b.op(op, &[x.v, other], truth);
                let lanes = self.map(|n| compute(op, x.lanes[n], y.lanes[n] ^ u32::from(not)));
                self.masks.push(Known { v, lanes });
            }
            _ => {
                let m = self.mask();
                let v = b.op(Op::VhighBits, &[m.v], types::I32);
                let bits = m.lanes.iter().rev().fold(0, |bits, bit| bits << 1 | bit);
                self.scalars.push(Known {
                    v,
                    lanes: vec![bits],
                });
            }
        }
    }
}

#[test]
fn expressions_of_words_and_masks() {
    const STEPS: usize = 24;
    let rounds = harness::environment::number("ROUNDS");
    for (compiler, ty) in vectors(Lane::I32) {
        for round in 0..rounds.unwrap_or(150) {
            let mut r = Random::new(0x0e59 + round);
            let mut wave = random_wave(&mut r);
            let mut e = Expressions {
                r: &mut r,
                ty,
                state: wave.vgpr[..RESULTS].to_vec(),
                words: Vec::new(),
                masks: Vec::new(),
                scalars: Vec::new(),
            };
            let mut results = Vec::new();
            let f = function(|b, wave| {
                e.load(b, wave);
                e.load(b, wave);
                let (x, y) = (e.words[0].clone(), e.words[1].clone());
                e.compare(b, IntCC::SignedLessThan, &x, &y);
                for _ in 0..STEPS {
                    e.step(b, wave);
                }
                // Values that nothing uses yet end here, and some others.
                results = e.words.split_off(e.words.len() - 2);
                let Known { v, lanes } = e.mask();
                let lanes = e.map(|n| lanes[n].wrapping_neg());
                results.push(Known { v, lanes });
                results.append(&mut e.scalars);
                for (n, known) in results.iter().enumerate() {
                    keep(b, known.v, wave, n);
                }
                leave(b);
            });
            run(&compile(&f, compiler), &mut wave, &mut []);
            for (n, known) in results.iter().enumerate() {
                let got = &wave.vgpr[RESULTS + n][..known.lanes.len()];
                let print = || text::print(&f.0);
                assert_eq!(got, known.lanes, "result {n}, {compiler:?}\n{}", print());
            }
            let lanes = ty.lane_count() as usize;
            for (n, row) in e.state[..8].iter().enumerate() {
                assert_eq!(wave.vgpr[n][..lanes], row[..lanes], "v{n}, {compiler:?}");
            }
        }
    }
}
