//! The instructions of a division against those of the interpreter, by lane and for the wave, on every host level; and
//! the sequences of them that compilers make.

use frontend::WaveState;
use frontend::state::LANES;
use frontend::target::Gfx;
use lower::host::{Host, Isa};
use lower::ir::build::{Build, types};
use lower::ir::{Float, Flush, Icmp, Op, Slot, Val, Width};
use lower::jit::{HostLevel, Jit};
use lower::options::Options;
use runtime::math::{self, Denorm, Env, Round};

use super::operations::run;
use super::{can_run, region_of};

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};
const FLUSH: Flush = Flush {
    src: false,
    dst: true,
};

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 16) % n
    }
}

/// Sizes of a format.
#[derive(Clone, Copy)]
struct Format {
    float: Float,
    fraction: u32,
    top: u64,
    /// Distances of exponents near which something changes.
    distances: [i64; 8],
    step: i64,
}

const SINGLE: Format = Format {
    float: Float::F32,
    fraction: 23,
    top: 255,
    distances: [96, -126, -150, 0, -64, 64, -127, -102],
    step: 64,
};
const DOUBLE: Format = Format {
    float: Float::F64,
    fraction: 52,
    top: 2047,
    distances: [768, -1022, -1075, 0, -128, 128, -1023, -970],
    step: 128,
};

impl Format {
    fn words(&self) -> usize {
        if self.float == Float::F64 { 2 } else { 1 }
    }

    fn number(&self, exponent: u64, r: &mut Random) -> u64 {
        let all = (1u64 << self.fraction) - 1;
        let fraction = match r.below(8) {
            0 => 0,
            1 => all,
            2 => 1,
            3 => all - 1,
            4 => 1 << r.below(self.fraction.into()),
            _ => r.next() & all,
        };
        let sign = r.below(2) << if self.float == Float::F64 { 63 } else { 31 };
        sign | exponent << self.fraction | fraction
    }

    /// A number whose exponent is near an edge, or any.
    fn edge(&self, r: &mut Random) -> u64 {
        let exponent = match r.below(4) {
            0 => r.below(3),
            1 => self.top - r.below(4),
            _ => r.below(self.top + 1),
        };
        self.number(exponent, r)
    }

    /// One whose exponent is at a telling distance from another's.
    fn partner(&self, other: u64, r: &mut Random) -> u64 {
        if r.below(4) == 0 {
            return self.edge(r);
        }
        let from = (other >> self.fraction & self.top) as i64;
        let by = self.distances[r.below(8) as usize] + r.below(5) as i64 - 2;
        self.number((from + by).clamp(0, self.top as i64) as u64, r)
    }

    /// Factors and a sum that meet near where a scaled result is rounded.
    fn fused(&self, r: &mut Random) -> [u64; 3] {
        let bias = (self.top >> 1) as i64;
        let c = match r.below(3) {
            0 => self.edge(r),
            // Scaled it is denormal, with its last bits near the middle.
            _ => {
                let depth = r.below(u64::from(self.fraction) + 3) as i64;
                let c = self.number((1 + self.step - depth).max(0) as u64, r);
                let place = depth.clamp(1, self.fraction.into()) as u32;
                let low = (1u64 << place) - 1;
                match r.below(4) {
                    0 => c & !low | 1 << (place - 1),
                    1 => c & !low | low >> 1,
                    2 => c & !low,
                    _ => c,
                }
            }
        };
        let a = self.edge(r);
        let from = (c >> self.fraction & self.top) as i64;
        let product = from - r.below(2 * u64::from(self.fraction) + 20) as i64 + 2;
        let b = product - (a >> self.fraction & self.top) as i64 + bias;
        let b = match r.below(4) {
            0 => self.edge(r),
            _ => self.number(b.clamp(0, self.top as i64) as u64, r),
        };
        [a, b, c]
    }

    fn sources(&self, r: &mut Random) -> [u64; 3] {
        if r.below(2) == 0 {
            return self.fused(r);
        }
        let d = self.edge(r);
        let n = self.partner(d, r);
        let s0 = match r.below(5) {
            0 | 1 => d,
            2 | 3 => n,
            _ => self.edge(r),
        };
        [s0, d, n]
    }
}

fn env(flush: Flush) -> Env {
    Env {
        round: Round::NearestEven,
        denorm: Denorm {
            flush_src: flush.src,
            flush_dst: flush.dst,
        },
    }
}

/// What is computed of three sources and a bit, and what it should be.
struct Tested {
    name: &'static str,
    op: fn(&Build, Float, [Val; 3], Val, Val) -> Val,
    expected: fn(Float, [u64; 3], bool) -> u64,
}

fn single(x: [u64; 3]) -> [u32; 3] {
    x.map(|x| x as u32)
}

fn fmas(float: Float, x: [u64; 3], bit: bool, flush: Flush) -> u64 {
    let [a, b, c] = single(x);
    match float {
        Float::F32 => math::div_fmas_f32(a, b, c, bit, env(flush)).into(),
        Float::F64 => math::div_fmas_f64(x[0], x[1], x[2], bit, env(flush)),
    }
}

/// A division of f64 as compilers make it, if the result is denormal.
fn by_steps(n: u64, d: u64) -> u64 {
    let f = f64::from_bits;
    let scaled = [d, n].map(|s0| math::div_scale_f64(s0, d, n));
    let [d_scaled, n_scaled] = scaled.map(|(value, _)| f(value));
    let mut y = 1.0 / d_scaled;
    for _ in 0..2 {
        y = y.mul_add((-d_scaled).mul_add(y, 1.0), y);
    }
    let q = n_scaled * y;
    let rest = (-d_scaled).mul_add(q, n_scaled);
    let [rest, y, q] = [rest, y, q].map(f64::to_bits);
    let sum = math::div_fmas_f64(rest, y, q, scaled[1].1, env(KEEP));
    math::div_fixup_f64(sum, d, n)
}

/// The quotient of the last two by IEEE's rules, with the NaNs of the instruction.
fn quotient(float: Float, [_, d, n]: [u64; 3]) -> u64 {
    match float {
        Float::F32 => {
            let (x, y) = (f32::from_bits(n as u32), f32::from_bits(d as u32));
            let nan = (x / y).is_nan();
            let first = [(x, n), (y, d)].into_iter().find(|(x, _)| x.is_nan());
            match first {
                Some((_, bits)) => bits | 1 << 22,
                None if nan => 0xffc0_0000,
                None => (x / y).to_bits().into(),
            }
        }
        Float::F64 => {
            let (x, y) = (f64::from_bits(n), f64::from_bits(d));
            let nan = (x / y).is_nan();
            let first = [(x, n), (y, d)].into_iter().find(|(x, _)| x.is_nan());
            match first {
                Some((_, bits)) => bits | 1 << 51,
                None if nan => 0xfff8 << 48,
                None if (x / y).is_normal() || x == 0.0 || y.is_infinite() => (x / y).to_bits(),
                None if (x / y).is_infinite() => (x / y).to_bits(),
                None => by_steps(n, d),
            }
        }
    }
}

const TESTED: [Tested; 7] = [
    Tested {
        name: "scale",
        op: |b, float, [s0, d, n], _, plain| b.pure(Op::DivScale(float), &[s0, d, n, plain]),
        expected: |float, x, _| match float {
            Float::F32 => {
                let [s0, d, n] = single(x);
                math::div_scale_f32(s0, d, n).0.into()
            }
            Float::F64 => math::div_scale_f64(x[0], x[1], x[2]).0,
        },
    },
    Tested {
        name: "scaled",
        op: |b, float, [_, d, n], _, plain| {
            let bit = b.pure(Op::DivScaled(float), &[d, n, plain]);
            let bit = b.pure(Op::BoolToInt, &[bit]);
            match float {
                Float::F32 => bit,
                Float::F64 => b.pure(Op::Zext, &[bit]),
            }
        },
        expected: |float, x, _| match float {
            Float::F32 => {
                let [s0, d, n] = single(x);
                math::div_scale_f32(s0, d, n).1.into()
            }
            Float::F64 => math::div_scale_f64(x[0], x[1], x[2]).1.into(),
        },
    },
    Tested {
        name: "fmas",
        op: |b, float, [x, y, z], bit, _| b.pure(Op::DivFmas(float, KEEP), &[x, y, z, bit]),
        expected: |float, x, bit| fmas(float, x, bit, KEEP),
    },
    Tested {
        name: "fmas, flushed",
        op: |b, float, [x, y, z], bit, _| b.pure(Op::DivFmas(float, FLUSH), &[x, y, z, bit]),
        expected: |float, x, bit| fmas(float, x, bit, FLUSH),
    },
    Tested {
        name: "fixup",
        op: |b, float, [q, d, n], _, plain| b.pure(Op::DivFixup(float), &[q, d, n, plain]),
        expected: |float, x, _| match float {
            Float::F32 => {
                let [q, d, n] = single(x);
                math::div_fixup_f32(q, d, n).into()
            }
            Float::F64 => math::div_fixup_f64(x[0], x[1], x[2]),
        },
    },
    Tested {
        name: "quotient",
        op: |b, float, [_, d, n], _, _| b.pure(Op::Quotient(float, KEEP), &[n, d]),
        expected: |float, x, _| quotient(float, x),
    },
    Tested {
        name: "quotient, flushed",
        op: |b, float, [_, d, n], _, _| {
            // Of f64 there is the other one only.
            let flush = if float == Float::F64 { KEEP } else { FLUSH };
            b.pure(Op::Quotient(float, flush), &[n, d])
        },
        expected: |float, x, _| {
            let exact = quotient(float, x);
            if float == Float::F64 {
                return exact;
            }
            // Tiny: rounded to the precision of normal numbers it is less than the least one.
            let [_, d, n] = x.map(|x| f64::from(f32::from_bits(x as u32)));
            let scaled = (n / d * 2f64.powi(64)) as f32;
            let tiny = scaled.abs() < 2f32.powi(64 - 126);
            if tiny { exact & 1 << 31 } else { exact }
        },
    },
];

/// The first register with results.
const RESULT: u8 = 8;

fn check(level: HostLevel, isa: Option<Isa>, group: Option<u8>) {
    let mut jit = Jit::new(level).expect("this host");
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut wave = WaveState::new_boxed();
    let mut frame = vec![[0u32; LANES]; 64];
    let rounds = harness::environment::number("ROUNDS").unwrap_or(60);
    for format in [SINGLE, DOUBLE] {
        for tested in TESTED {
            let words = format.words();
            let b = Build::new();
            let value = |n: usize, lane: bool| {
                let word = |n: usize| match lane {
                    true => b.leaf(Op::ReadV(n as u16), types::L32),
                    false => b.leaf(Op::ReadS(Slot::Sgpr(n as u8)), types::W32),
                };
                match words {
                    1 => word(n),
                    _ => b.pure(Op::Pair, &[word(2 * n), word(2 * n + 1)]),
                }
            };
            let zero = b.constant(Width::W32, 0);
            let results = [true, false].map(|lane| {
                let sources = [0, 1, 2].map(|n| value(n, lane));
                let [bit, plain] = [6u8, 7].map(|n| {
                    let word = match lane {
                        true => b.leaf(Op::ReadV(n.into()), types::L32),
                        false => b.leaf(Op::ReadS(Slot::Sgpr(n)), types::W32),
                    };
                    b.pure(Op::Icmp(Icmp::Ne), &[word, zero])
                });
                let result = (tested.op)(&b, format.float, sources, bit, plain);
                match words {
                    1 => vec![result],
                    _ => vec![b.pure(Op::Lo, &[result]), b.pure(Op::Hi, &[result])],
                }
            });
            let [lanes, scalars] = results;
            let lanes = lanes.into_iter().enumerate();
            let scalars = scalars.into_iter().enumerate();
            let writes_v = lanes
                .map(|(i, v)| (u16::from(RESULT) + i as u16, v))
                .collect();
            let writes_s = scalars
                .map(|(i, v)| (Slot::Sgpr(16 + i as u8), v))
                .collect();
            let region = region_of(b, writes_s, writes_v);
            let options = Options {
                exact_nan: true,
                group,
                host: Host::of(isa),
                ..Options::default()
            };
            let compiled = jit.compile(region, &options).expect("it compiles");
            assert_eq!(compiled.refused(), None, "{}", tested.name);
            for round in 0..rounds {
                let mut cases = Vec::new();
                for lane in 0..LANES {
                    let sources = format.sources(&mut random);
                    // In some rounds nothing is scaled back.
                    let bit = round % 4 != 0 && random.below(2) == 1;
                    for (n, x) in sources.into_iter().enumerate() {
                        for word in 0..words {
                            wave.vgpr[n * words + word][lane] = (x >> (32 * word)) as u32;
                        }
                    }
                    wave.vgpr[6][lane] = bit.into();
                    wave.vgpr[7][lane] = 0;
                    cases.push((sources, bit));
                }
                let scalar = random.below(LANES as u64) as usize;
                for n in 0..8 {
                    wave.sgpr[n] = wave.vgpr[n][scalar];
                }
                wave.set_exec(u64::MAX);
                run(&compiled, &mut wave, &mut frame);
                for (lane, &(sources, bit)) in cases.iter().enumerate() {
                    let expected = (tested.expected)(format.float, sources, bit);
                    let joined = |word: &dyn Fn(usize) -> u32| match words {
                        1 => u64::from(word(0)),
                        _ => u64::from(word(0)) | u64::from(word(1)) << 32,
                    };
                    let actual = joined(&|n| wave.vgpr[usize::from(RESULT) + n][lane]);
                    let what = format!(
                        "{} {:?} of {sources:#x?} {bit} on {level:?} {isa:?}",
                        tested.name, format.float
                    );
                    assert_eq!(actual, expected, "{what}: {actual:#x}, not {expected:#x}");
                    if lane == scalar {
                        let actual = joined(&|n| wave.sgpr[16 + n]);
                        assert_eq!(
                            actual, expected,
                            "wave, {what}: {actual:#x}, not {expected:#x}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn divisions_with_avx512() {
    if can_run(Isa::Avx512) {
        check(HostLevel::Native, Some(Isa::Avx512), None);
        check(HostLevel::Native, Some(Isa::Avx512), Some(16));
    }
}

#[test]
fn divisions_with_avx2() {
    if can_run(Isa::Avx2) {
        check(HostLevel::Native, Some(Isa::Avx2), None);
    }
}

#[test]
fn divisions_of_cranelift() {
    check(HostLevel::Native, None, None);
    check(HostLevel::Sse41, None, Some(8));
}

/// The reciprocal that one step of Newton makes of the rounded one is rounded correctly, too: what the recognition of
/// quotients relies on.
#[test]
fn refined_reciprocals_are_rounded_correctly() {
    for fraction in 0..1u32 << 23 {
        let d = f32::from_bits(0x3f80_0000 | fraction);
        let y = 1.0 / d;
        let refined = (-d).mul_add(y, 1.0).mul_add(y, y);
        assert_eq!(refined.to_bits(), y.to_bits(), "of {d:e}");
    }
}

/// v8 / v1 as clang 19 computes it for gfx906, into v8.
const DIVISION: [u32; 20] = [
    // v_div_scale_f32 v20, s[28:29], v1, v1, v8; v_div_scale_f32 v21, vcc, v8, v1, v8; v_rcp_f32 v22, v20
    0xd1e0_1c14,
    0x0422_0301,
    0xd1e0_6a15,
    0x0422_0308,
    0x7e2c_4514,
    // v_fma_f32 v23, -v20, v22, 1.0; v_fmac_f32 v22, v23, v22; v_mul_f32 v23, v21, v22
    0xd1cb_0017,
    0x23ca_2d14,
    0x762c_2d17,
    0x0a2e_2d15,
    // v_fma_f32 v24, -v20, v23, v21; v_fmac_f32 v23, v24, v22; v_fma_f32 v20, -v20, v23, v21
    0xd1cb_0018,
    0x2456_2f14,
    0x762e_2d18,
    0xd1cb_0014,
    0x2456_2f14,
    // v_div_fmas_f32 v20, v20, v22, v23; v_div_fixup_f32 v8, v20, v1, v8
    0xd1e2_0014,
    0x045e_2d14,
    0xd1de_0008,
    0x0422_0314,
    0xbf81_0000,
    0xbf80_0000,
];

/// s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3 or 0.
const KEEP_DENORMALS: [u32; 2] = [0xba00_0901, 3];
const FLUSH_DENORMALS: [u32; 2] = [0xba00_0901, 0];

fn text(words: &[u32], mode: u32) -> String {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let fetch = |pc: u64| bytes.get(pc as usize..).filter(|rest| !rest.is_empty());
    let regions = runtime::jit::print_ir(Gfx::Gfx906, 0, mode, &fetch, None);
    regions.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn compilers_quotients_are_recognised() {
    let kept = text(&DIVISION, 0xf0);
    assert!(kept.contains("Quotient(F32"), "{kept}");
    // With denormals flushed around the sequence.
    let mut words = DIVISION[..5].to_vec();
    words.extend(KEEP_DENORMALS);
    words.extend(&DIVISION[5..14]);
    words.extend(FLUSH_DENORMALS);
    words.extend(&DIVISION[14..]);
    let flushed = text(&words, 0xc0);
    assert!(flushed.contains("Quotient(F32"), "{flushed}");
    // A step that flushes may lose what the last sum needs.
    let other = text(&DIVISION, 0xc0);
    assert!(!other.contains("Quotient"), "{other}");
    // Another numerator is scaled than divided: v_div_fixup_f32 v8, v20, v1, v9.
    let mut words = DIVISION;
    words[17] = 0x0426_0314;
    let other = text(&words, 0xf0);
    assert!(!other.contains("Quotient"), "{other}");
}
