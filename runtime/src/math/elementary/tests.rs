use super::super::Round;
use super::super::format::{Exact, round};
use super::super::testing::Random;
use super::*;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

const TURN: TrigRange = TrigRange::Full;

// ---- a slow reference: fixed point with 124 fraction bits, other formulas

const ONE: u128 = 1 << 124;
const LN_2_FIXED: u128 = 0x0b17_217f_7d1c_f79a_bc9e_3b39_803f_2f6a;
const TAU_FIXED: u128 = 0x6487_ed51_10b4_611a_6263_3145_c06e_0e68;
/// Bound of the reference's own error, in units of 2^-124.
const SLACK: u128 = 1 << 24;

/// The product, cut off.
fn mul(a: u128, b: u128) -> u128 {
    const LOW: u128 = u64::MAX as u128;
    let (a1, a0, b1, b0) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let low = a0 * b0;
    let (m1, m2) = (a1 * b0, a0 * b1);
    let carry = (low >> 64) + (m1 & LOW) + (m2 & LOW);
    let high = a1 * b1 + (m1 >> 64) + (m2 >> 64) + (carry >> 64);
    high << 4 | ((carry & LOW) << 64 | low & LOW) >> 124
}

/// A reference value: `±significand * 2^exponent`, the significand right to `slack`.
#[derive(Clone, Copy, Debug)]
struct Value {
    negative: bool,
    significand: u128,
    exponent: i32,
    slack: u128,
}

impl Value {
    /// The rounded bits; panics if the reference itself is not accurate enough to decide.
    fn bits<F: Format>(self) -> u64 {
        let at = |significand| {
            let exact = Exact {
                negative: self.negative,
                significand,
                exponent: self.exponent,
            };
            round::<F>(exact, Round::NearestEven, false)
        };
        let (low, high) = (
            at(self.significand - self.slack),
            at(self.significand + self.slack),
        );
        assert_eq!(low, high, "the reference cannot tell: {self:?}");
        low
    }

    fn f32(self) -> u32 {
        self.bits::<F32>() as u32
    }

    /// The error of `x` in units of its last place.
    fn distance(self, x: f64) -> f64 {
        let exact = Exact::of::<super::super::format::F64>(x.to_bits());
        let shift = exact.exponent - self.exponent;
        let unit = 2f64.powi(shift);
        let scaled = exact.significand << shift;
        assert_eq!(exact.negative, self.negative);
        scaled.abs_diff(self.significand) as f64 / unit
    }
}

/// `2^x` by the power series of `e^y`, for `2^-60 <= |x| < 200`.
fn exp2_reference(x: f64) -> Value {
    let fixed = (x * 2f64.powi(100)) as i128;
    assert_eq!(fixed as f64 * 2f64.powi(-100), x);
    let fraction = ((fixed & ((1 << 100) - 1)) as u128) << 24;
    let y = mul(fraction, LN_2_FIXED);
    let (mut sum, mut term, mut k) = (ONE, ONE, 1u128);
    while term != 0 {
        term = mul(term, y) / k;
        sum += term;
        k += 1;
    }
    Value {
        negative: false,
        significand: sum,
        exponent: (fixed >> 100) as i32 - 124,
        slack: SLACK,
    }
}

/// `log2(x)` digit by digit: squaring the significand doubles its logarithm.
fn log2_reference(x: f64) -> Value {
    let exponent = (x.to_bits() >> 52) as i32 - 1023;
    let mut power = u128::from(x.to_bits() & ((1 << 52) - 1) | 1 << 52) << 72;
    let mut digits = 0u128;
    for _ in 0..112 {
        power = mul(power, power);
        digits <<= 1;
        if power >= ONE << 1 {
            power >>= 1;
            digits |= 1;
        }
    }
    let value = (i128::from(exponent) << 112) + digits as i128;
    let slack = 1 << 12;
    Value {
        negative: value < 0,
        significand: value.unsigned_abs(),
        exponent: -112,
        slack,
    }
}

/// Sine and cosine of `2 pi r` by their power series, for `2^-40 <= r <= 1/8`.
fn sin_cos_reference(r: f64) -> [Value; 2] {
    let y = mul((r * 2f64.powi(124)) as u128, TAU_FIXED);
    let (mut sums, mut term) = ([0u128, ONE], ONE);
    let mut k = 1;
    while term != 0 {
        term = mul(term, y) / k;
        let sum = &mut sums[(k as usize + 1) % 2];
        if k / 2 % 2 == 0 {
            *sum += term
        } else {
            *sum -= term
        }
        k += 1;
    }
    sums.map(|significand| Value {
        negative: false,
        significand,
        exponent: -124,
        slack: SLACK,
    })
}

/// The sine of `2 pi m 2^exponent` for an integer `m` below 2^25 and angles so small that only the
/// angle counts.
fn tiny_sin_reference(m: u32, exponent: i32) -> Value {
    let significand = u128::from(m) * (TAU_FIXED >> 24);
    Value {
        negative: false,
        significand,
        exponent: exponent - 100,
        slack: u128::from(m),
    }
}

// ---- against the reference

const SAMPLES: usize = 1 << 20;

#[test]
fn exp_f32_is_correctly_rounded() {
    let mut random = Random::new(41);
    let mut worst = 0.0f64;
    for i in 0..SAMPLES {
        // Half of them spread over the exponents, half over the values.
        let magnitude = if i % 2 == 0 {
            random.below(0x42fc_0000 - 0x3200_0000) as u32 + 0x3200_0000
        } else {
            (random.below(126 << 23) as f32 / 8_388_608.0)
                .max(1e-7)
                .to_bits()
        };
        let x = magnitude | (random.bits() as u32) << 31;
        let value = f64::from(f32::from_bits(x));
        let reference = exp2_reference(value);
        worst = worst.max(reference.distance(exp2(value)));
        assert_eq!(exp_f32(x), reference.f32(), "{x:#x}");
    }
    assert!(worst < 2.0, "{worst} last places");
}

#[test]
fn log_f32_is_correctly_rounded() {
    let mut random = Random::new(42);
    let mut worst = 0.0f64;
    for i in 0..SAMPLES {
        let x = match i % 4 {
            0 => 0x3f80_0000 + 1 + (random.below(1 << 23) >> random.below(23)) as u32,
            1 => 0x3f80_0000 - 1 - (random.below(1 << 23) >> random.below(23)) as u32,
            _ => random.below(0x7f00_0000) as u32 + 0x0080_0000,
        };
        if x & 0x007f_ffff == 0 {
            continue;
        }
        let value = f64::from(f32::from_bits(x));
        let reference = log2_reference(value);
        worst = worst.max(reference.distance(log2(value)));
        assert_eq!(log_f32(x), reference.f32(), "{x:#x}");
    }
    assert!(worst < 3.0, "{worst} last places");
    for e in -126..=127i32 {
        let power = ((e + 127) as u32) << 23;
        assert_eq!(f32::from_bits(log_f32(power)), e as f32);
        assert_eq!(exp_f32((e as f32).to_bits()), power);
    }
}

/// The reduced angle and its sine and cosine in the right octant, for an angle of any size.
fn sin_cos_any(x: f64) -> (f64, impl Fn(u32) -> (bool, u32)) {
    let quarter = (x * 4.0).round_ties_even();
    let r = x - quarter / 4.0;
    let references = (r != 0.0).then(|| sin_cos_reference(r.abs()).map(Value::f32));
    let result = move |of: u32| {
        let quadrant = (quarter as i64 as u32).wrapping_add(of);
        let [sin, cos] = references.unwrap_or([0, 0x3f80_0000]);
        let negative = (quadrant & 2 != 0) != (quadrant & 1 == 0 && r < 0.0);
        (negative, if quadrant & 1 == 0 { sin } else { cos })
    };
    (r, result)
}

#[test]
fn sin_and_cos_f32_are_correctly_rounded() {
    let mut random = Random::new(43);
    let mut worst = [0.0f64; 2];
    for i in 0..SAMPLES {
        let r = random.below(0x3e00_0001 - 0x2c00_0000) as u32 + 0x2c00_0000;
        let x = if i % 2 == 0 {
            r
        } else {
            random.below(0x4b00_0000 - 0x3c00_0000) as u32 + 0x3c00_0000
        };
        let x = x | (random.bits() as u32) << 31;
        let value = f64::from(f32::from_bits(x));
        let (r, result) = sin_cos_any(value);
        if r != 0.0 && r.abs() < 1e-12 {
            continue;
        }
        if i % 2 == 0 {
            let [sin, cos] = sin_cos_reference(r.abs());
            worst[0] = worst[0].max(sin.distance(sin_eighth(r.abs())));
            worst[1] = worst[1].max(cos.distance(cos_eighth(r.abs())));
        }
        for (of, actual) in [(0, sin_f32(x, TURN)), (1, cos_f32(x, TURN))] {
            let (negative, magnitude) = result(of);
            let expected = if magnitude == 0 {
                0
            } else {
                magnitude | u32::from(negative) << 31
            };
            assert_eq!(actual, expected, "{x:#x} + {of}/4");
        }
    }
    assert!(worst[0] < 3.0 && worst[1] < 2.0, "{worst:?} last places");
}

/// Angles whose sine is the angle, denormal ones too.
#[test]
fn tiny_angles() {
    for x in (1..0x0080_0000u32).step_by(7) {
        assert_eq!(
            sin_f32(x, TURN),
            tiny_sin_reference(x, -149).f32(),
            "{x:#x}"
        );
        assert_eq!(cos_f32(x, TURN), 0x3f80_0000);
    }
    for m in (0x0080_0000..0x0100_0000u32).step_by(7) {
        for field in [1, 2, 20, 70] {
            let x = field << 23 | (m & 0x007f_ffff);
            let expected = tiny_sin_reference(m, field as i32 - 150).f32();
            assert_eq!(sin_f32(x, TURN), expected, "{x:#x}");
            assert_eq!(sin_f32(x | 1 << 31, TURN), expected | 1 << 31, "-{x:#x}");
        }
    }
}

#[test]
fn every_f16_is_correctly_rounded() {
    for x in 1..0x7c00u16 {
        let value = widen_f16(x);
        if x & 0x03ff != 0 || x < 0x0400 {
            let reference = log2_reference(value);
            let exact = value.log2().fract() == 0.0;
            if !exact {
                assert_eq!(u64::from(log_f16(x)), reference.bits::<F16>(), "log {x:#x}");
            }
        }
        for (x, value) in [(x, value), (x | 0x8000, -value)] {
            if value.fract() == 0.0 || value.abs() > 40.0 {
                continue;
            }
            let power = if value.abs() < 1e-5 {
                0x3c00
            } else {
                exp2_reference(value).bits::<F16>()
            };
            assert_eq!(u64::from(exp_f16(x)), power, "exp {x:#x}");
            let (turns, quarter) = (value * 4.0, (value * 4.0).round_ties_even());
            if turns == quarter {
                continue;
            }
            let references = sin_cos_reference((value - quarter / 4.0).abs());
            for (of, actual) in [(0, sin_f16(x, TURN)), (1, cos_f16(x, TURN))] {
                let quadrant = (quarter as i64 as u16).wrapping_add(of);
                let magnitude = references[usize::from(quadrant & 1)].bits::<F16>() as u16;
                let below = quadrant & 1 == 0 && turns < quarter;
                let sign = u16::from((quadrant & 2 != 0) != below) << 15;
                assert_eq!(actual, magnitude | sign, "{x:#x} + {of}/4");
            }
        }
    }
    // Whole numbers, where results are exact.
    for e in -24..=15i32 {
        let power = narrow_f16(2f64.powi(e));
        assert_eq!(widen_f16(log_f16(power)), f64::from(e));
        assert_eq!(exp_f16(narrow_f16(e.into())), power);
    }
}

#[test]
fn special_values() {
    const NAN: u32 = 0xffc0_0000;
    const MINUS: u32 = 1 << 31;
    const INF: u32 = 0x7f80_0000;
    const ONE: u32 = 0x3f80_0000;
    for (x, power) in [
        (INF | MINUS, 0),
        (MINUS, ONE),
        (0, ONE),
        (1, ONE),
        (MINUS | 0x007f_ffff, ONE),
        (INF, INF),
        (0x4300_0000, INF),
        (0x42ff_ffff, 0x7f7f_ffa7),
        (0xc2fc_0000, 0x0080_0000),
        (0xc2fc_0001, 0),
        (0x7f7f_ffff, INF),
        (0xff7f_ffff, 0),
        // Next to a tie.
        (0x3b42_9d37, 0x3f80_4385),
        (0xbcf3_a937, 0x3f7a_c6b1),
        (0x7f80_0001, 0x7fc0_0001),
    ] {
        assert_eq!(exp_f32(x), power, "{x:#x}");
    }
    for (x, log) in [
        (INF | MINUS, NAN),
        (0xbf80_0000, NAN),
        (0x8080_0000, NAN),
        (MINUS, INF | MINUS),
        (0, INF | MINUS),
        (0x007f_ffff, INF | MINUS),
        (MINUS | 1, INF | MINUS),
        (ONE, 0),
        (0x4000_0000, ONE),
        (INF, INF),
        (0xff80_0001, 0xffc0_0001),
    ] {
        assert_eq!(log_f32(x), log, "{x:#x}");
    }
    assert_eq!(
        [log_clamp_f32(0), log_clamp_f32(INF)],
        [0xff7f_ffff, 0x7f7f_ffff]
    );
    assert_eq!(
        [
            log_clamp_f32(NAN),
            log_clamp_f32(0xbf80_0000),
            log_clamp_f32(ONE)
        ],
        [NAN, NAN, 0]
    );
    // x, sine, cosine
    for (x, sin, cos) in [
        (0, 0, ONE),
        (MINUS, MINUS, ONE),
        (0x3e00_0000, 0x3f35_04f3, 0x3f35_04f3),
        (0x3e80_0000, ONE, 0),
        (0xbe80_0000, ONE | MINUS, 0),
        (0x3f00_0000, 0, ONE | MINUS),
        (0xbf00_0000, 0, ONE | MINUS),
        (0x3f40_0000, ONE | MINUS, 0),
        (ONE, 0, ONE),
        (ONE | MINUS, 0, ONE),
        (0x4b00_0001, 0, ONE),
        (0x7f7f_ffff, 0, ONE),
        (0xff7f_ffff, 0, ONE),
        (INF, NAN, NAN),
        (INF | MINUS, NAN, NAN),
        (0x7f80_0001, 0x7fc0_0001, 0x7fc0_0001),
    ] {
        assert_eq!([sin_f32(x, TURN), cos_f32(x, TURN)], [sin, cos], "{x:#x}");
    }
    // 256.25 turns: outside of the reduced range, which ends at 256.
    assert_eq!(sin_f32(0x4380_2000, TrigRange::Full), ONE);
    assert_eq!(sin_f32(0x4380_2000, TrigRange::Reduced), 0);
    assert_eq!(cos_f32(0xc380_2000, TrigRange::Reduced), ONE);
    assert_eq!(
        sin_f32(0xc37f_c000, TrigRange::Reduced),
        ONE,
        "-255.75 turns"
    );
    assert_eq!(cos_f32(0x4380_0000, TrigRange::Reduced), ONE);
    assert_eq!(sin_f32(MINUS, TrigRange::Reduced), MINUS);
    assert_eq!(sin_f32(INF, TrigRange::Reduced), NAN);
    for (x, power, log, sin, cos) in [
        (0x0000, 0x3c00, 0xfc00, 0x0000, 0x3c00),
        (0x8000, 0x3c00, 0xfc00, 0x8000, 0x3c00),
        (0x0001, 0x3c00, 0xce00, 0x0006, 0x3c00),
        (0x3c00, 0x4000, 0x0000, 0x0000, 0x3c00),
        (0x3400, 0x3cc2, 0xc000, 0x3c00, 0x0000),
        (0xbc00, 0x3800, 0xfe00, 0x0000, 0x3c00),
        (0xce00, 0x0001, 0xfe00, 0x0000, 0x3c00),
        (0xce40, 0x0000, 0xfe00, 0x0000, 0x3c00),
        (0x4c00, 0x7c00, 0x4400, 0x0000, 0x3c00),
        (0x7c00, 0x7c00, 0x7c00, 0xfe00, 0xfe00),
        (0xfc00, 0x0000, 0xfe00, 0xfe00, 0xfe00),
        (0x7c01, 0x7e01, 0x7e01, 0x7e01, 0x7e01),
    ] {
        let results = [exp_f16(x), log_f16(x), sin_f16(x, TURN), cos_f16(x, TURN)];
        assert_eq!(results, [power, log, sin, cos], "{x:#x}");
    }
    assert_eq!(cos_f16(0x7bff, TrigRange::Reduced), 0x3c00);
}

/// The f64 value is within 64 of its last places of the middle between two f32.
fn near_tie(x: f64) -> bool {
    let low = x.to_bits() & ((1 << 29) - 1);
    low.abs_diff(1 << 28) <= 64
}

/// A candidate: a name, an argument, its result, and the exact result.
type Near<'a> = &'a mut dyn FnMut(&str, u32, u32, u32);

fn exp_near_ties(magnitudes: Range<u32>, check: Near) {
    for magnitude in magnitudes {
        for x in [magnitude, magnitude | 1 << 31] {
            let value = f64::from(f32::from_bits(x));
            if value > -126.0 && near_tie(exp2(value)) {
                check("exp", x, exp_f32(x), exp2_reference(value).f32());
            }
        }
    }
}

/// For significands from 1 to 2, as bits, with every exponent: their logarithms differ by an
/// integer only, which [`log2`] adds last.
fn log_near_ties(significands: Range<u32>, check: Near) {
    for m in significands {
        let (whole, fraction) = log2_parts(f64::from(f32::from_bits(m)));
        for e in -126..=127 {
            if near_tie((whole + f64::from(e)) + fraction) {
                let x = m.wrapping_add((e << 23) as u32);
                let reference = log2_reference(f64::from(f32::from_bits(x)));
                check("log", x, log_f32(x), reference.f32());
            }
        }
    }
}

fn turns_near_ties(arguments: Range<u32>, check: Near) {
    for x in arguments {
        let value = f64::from(f32::from_bits(x));
        if near_tie(sin_eighth(value)) || near_tie(cos_eighth(value)) {
            let [sin, cos] = sin_cos_reference(value).map(Value::f32);
            check("sin", x, sin_f32(x, TURN), sin);
            check("cos", x, cos_f32(x, TURN), cos);
        }
    }
}

/// Sines that are the angle itself: all of them, for some exponents.
fn tiny_sines(significands: Range<u32>, check: Near) {
    for m in significands {
        let tiny = m & 0x007f_ffff;
        if tiny != 0 {
            let expected = tiny_sin_reference(tiny, -149).f32();
            check("sin", tiny, sin_f32(tiny, TURN), expected);
        }
        // 1 to 3: results on the border of the denormal range.
        for field in [1, 2, 3, 40] {
            let x = tiny | field << 23;
            let expected = tiny_sin_reference(m, field as i32 - 150).f32();
            check("sin", x, sin_f32(x, TURN), expected);
        }
    }
}

/// Checks every f32 argument whose f64 value is near a tie, on all threads.
#[test]
fn every_f32_argument() {
    const PIECE: u32 = 1 << 18;
    type Part = fn(Range<u32>, Near);
    let parts: [(Part, Range<u32>); 4] = [
        (log_near_ties, 0x3f80_0000..0x4000_0000),
        (exp_near_ties, 0x3280_0000..0x4300_0000),
        (turns_near_ties, 0x2e00_0000..0x3e00_0001),
        (tiny_sines, 0x0080_0000..0x0100_0000),
    ];
    let pieces: Vec<(Part, Range<u32>)> = parts
        .into_iter()
        .flat_map(|(part, Range { start, end })| {
            let starts = (start..end).step_by(PIECE as usize);
            starts.map(move |from| (part, from..end.min(from + PIECE)))
        })
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let (mut near, mut wrong) = (0usize, Vec::new());
        let mut check = |name: &str, x: u32, actual: u32, expected: u32| {
            near += 1;
            if actual != expected {
                wrong.push(format!("{name} ({x:#010x}, {expected:#010x})"));
            }
        };
        while let Some((part, range)) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            part(range.clone(), &mut check);
        }
        (near, wrong)
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (near, wrong) = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let results = workers
            .into_iter()
            .map(|w| w.join().expect("a check panicked"));
        results.fold((0, Vec::new()), |(near, mut all), (n, wrong)| {
            all.extend(wrong);
            (near + n, all)
        })
    });
    println!("{near} checked");
    assert!(wrong.is_empty(), "{wrong:#?}");
}
