//! f32 and f64 arithmetic against the host's, which IEEE 754 defines to the last bit.

use wavelift::Gfx;

use super::input;
use super::{Want, check};
use harness::number::{EXACT, F16, F32, F64, Format, Number, Round};

/// A result of arithmetic: every NaN is as good as another.
trait Result {
    fn want(self) -> Want;
}

impl Result for f32 {
    fn want(self) -> Want {
        bits(F32, self.to_bits().into())
    }
}

impl Result for f64 {
    fn want(self) -> Want {
        bits(F64, self.to_bits())
    }
}

impl Result for bool {
    fn want(self) -> Want {
        Want::Bits(self.into())
    }
}

/// A bit pattern, or any NaN if it is one.
pub(super) fn bits(format: Format, bits: u64) -> Want {
    if format.is_nan(bits) {
        Want::Nan(format)
    } else {
        Want::Bits(bits)
    }
}

/// The results of the kernels `f32` and `f64`, which are the same text for both types.
macro_rules! operations {
    ($float:ident, $format:ident) => {{
        let smaller = |x: $float, y: $float| match () {
            _ if x.is_nan() => y,
            _ if y.is_nan() => x,
            _ if x < y || x == y && x.is_sign_negative() => x,
            _ => y,
        };
        let larger = move |x: $float, y: $float| -smaller(-x, -y);
        let remainder = |x: $float, y: $float| {
            if x.is_nan() || y.is_nan() || x.is_infinite() || y == 0.0 {
                return $float::NAN;
            }
            let (m, n) = (x.abs(), y.abs());
            if n.is_infinite() {
                return x;
            }
            let odd = m % (2.0 * n) >= n;
            let low = m % n;
            let up = low > n - low || low == n - low && odd;
            let magnitude = if up { low - n } else { low };
            if magnitude == 0.0 {
                (0.0 as $float).copysign(x)
            } else if x < 0.0 {
                -magnitude
            } else {
                magnitude
            }
        };
        let after = |x: $float, y: $float| match () {
            _ if x.is_nan() || y.is_nan() => Want::Nan($format),
            _ if x == 0.0 && y == 0.0 => Want::Zero($format),
            _ if x == y => y.want(),
            // From the least denormal to a zero, whose sign is open.
            _ if x.abs() == $float::from_bits(1) && (x < y) != (x > 0.0) => Want::Zero($format),
            _ if x < y => x.next_up().want(),
            _ => x.next_down().want(),
        };
        let scaled = |x: $float, by: i32| match $format.number(x.to_bits().into()) {
            Number::Finite(number) => Want::Bits($format.round(number.scaled(by), EXACT)),
            _ => x.want(),
        };
        // Mantissa in [0.5, 1) and its exponent.
        let parted = move |x: $float| match $format.number(x.to_bits().into()) {
            Number::Finite(number) if number.magnitude != 0 => {
                let width = 128 - number.magnitude.leading_zeros() as i32;
                let exponent = number.exponent + width;
                let mantissa = $format.round(number.scaled(-exponent), EXACT);
                (Want::Bits(mantissa), exponent)
            }
            _ => (x.want(), 0),
        };
        vec![
            named::<$float>("add", |x, y, _z, _n| (x + y).want()),
            named::<$float>("sub", |x, y, _z, _n| (x - y).want()),
            named::<$float>("mul", |x, y, _z, _n| (x * y).want()),
            named::<$float>("div", |x, y, _z, _n| (x / y).want()),
            named::<$float>("reciprocal", |x, _y, _z, _n| (1.0 / x).want()),
            named::<$float>("sqrt", |x, _y, _z, _n| x.sqrt().want()),
            named::<$float>("fma", |x, y, z, _n| x.mul_add(y, z).want()),
            named::<$float>("fma(-x)", |x, y, z, _n| (-x).mul_add(y, z).want()),
            named::<$float>("fma(|y|, -z)", |x, y, z, _n| x.mul_add(y.abs(), -z).want()),
            named::<$float>("fmod", |x, y, _z, _n| (x % y).want()),
            named::<$float>("remainder", move |x, y, _z, _n| remainder(x, y).want()),
            named::<$float>("fmin", move |x, y, _z, _n| smaller(x, y).want()),
            named::<$float>("fmax", move |x, y, _z, _n| larger(x, y).want()),
            named::<$float>("fmin3", move |x, y, z, _n| smaller(smaller(x, y), z).want()),
            named::<$float>("fmax3", move |x, y, z, _n| larger(larger(x, y), z).want()),
            named::<$float>("floor", |x, _y, _z, _n| x.floor().want()),
            named::<$float>("ceil", |x, _y, _z, _n| x.ceil().want()),
            named::<$float>("trunc", |x, _y, _z, _n| x.trunc().want()),
            named::<$float>("rint", |x, _y, _z, _n| x.round_ties_even().want()),
            named::<$float>("round", |x, _y, _z, _n| x.round().want()),
            named::<$float>("fabs", |x, _y, _z, _n| Want::Bits(x.abs().to_bits().into())),
            named::<$float>("neg", |x, _y, _z, _n| Want::Bits((-x).to_bits().into())),
            named::<$float>("copysign", |x, y, _z, _n| {
                Want::Bits(x.copysign(y).to_bits().into())
            }),
            named::<$float>("fdim", |x, y, _z, _n| {
                if x <= y {
                    (0.0 as $float).want()
                } else {
                    (x - y).want()
                }
            }),
            named::<$float>("nextafter", move |x, y, _z, _n| after(x, y)),
            named::<$float>("ldexp", move |x, _y, _z, n| scaled(x, n)),
            named::<$float>("frexp mantissa", move |x, _y, _z, _n| parted(x).0),
            named::<$float>("frexp exponent", move |x, _y, _z, _n| {
                Want::Bits((parted(x).1 as u32).into())
            }),
            named::<$float>("modf", |x, _y, _z, _n| match () {
                _ if x.is_nan() => Want::Nan($format),
                _ if x.is_infinite() => (0.0 as $float).copysign(x).want(),
                _ => (x - x.trunc()).copysign(x).want(),
            }),
            named::<$float>("modf whole", |x, _y, _z, _n| x.trunc().want()),
            named::<$float>("==", |x, y, _z, _n| (x == y).want()),
            named::<$float>("!=", |x, y, _z, _n| (x != y).want()),
            named::<$float>("<", |x, y, _z, _n| (x < y).want()),
            named::<$float>("<=", |x, y, _z, _n| (x <= y).want()),
            named::<$float>(">", |x, y, _z, _n| (x > y).want()),
            named::<$float>(">=", |x, y, _z, _n| (x >= y).want()),
            named::<$float>("not <", |x, y, _z, _n| (x >= y || x != x || y != y).want()),
            named::<$float>("not <=", |x, y, _z, _n| (x > y || x != x || y != y).want()),
            named::<$float>("not >", |x, y, _z, _n| (x <= y || x != x || y != y).want()),
            named::<$float>("not >=", |x, y, _z, _n| (x < y || x != x || y != y).want()),
            named::<$float>("ordered", |x, y, _z, _n| (x == x && y == y).want()),
            named::<$float>("unordered", |x, y, _z, _n| (x != x || y != y).want()),
            named::<$float>("less or greater", |x, y, _z, _n| {
                x.partial_cmp(&y).is_some_and(|o| o.is_ne()).want()
            }),
            named::<$float>("isnan", |x, _y, _z, _n| x.is_nan().want()),
            named::<$float>("isinf", |x, _y, _z, _n| x.is_infinite().want()),
            named::<$float>("isfinite", |x, _y, _z, _n| x.is_finite().want()),
            named::<$float>("isnormal", |x, _y, _z, _n| x.is_normal().want()),
            named::<$float>("signbit", |x, _y, _z, _n| x.is_sign_negative().want()),
            named::<$float>("select", |x, y, z, _n| {
                Want::Bits(if x < y { -y } else { z }.to_bits().into())
            }),
            named::<$float>("x*2 + y/2", |x, y, _z, _n| (x * 2.0 + y * 0.5).want()),
            named::<$float>("(x+y)*(x-z)", |x, y, z, _n| ((x + y) * (x - z)).want()),
        ]
    }};
}

/// A result and what it is of three operands and an integer.
type Operation<F> = (&'static str, Box<dyn Fn(F, F, F, i32) -> Want>);

fn named<F>(name: &'static str, of: impl Fn(F, F, F, i32) -> Want + 'static) -> Operation<F> {
    (name, Box::new(of))
}

#[test]
fn f32_arithmetic() {
    let operations: Vec<Operation<f32>> = operations!(f32, F32);
    let names: Vec<&str> = operations.iter().map(|o| o.0).collect();
    let slots = input::slots_of(0x3000, 64 * 24 - 5, 32, |r| input::float(r, F32));
    let want: Vec<Want> = slots
        .items()
        .flat_map(|slots| {
            let [x, y, z] = slots.map(|slot| f32::from_bits(slot as u32));
            let n = (slots[2] >> 32) as i32 >> 21;
            operations.iter().map(move |o| (o.1)(x, y, z, n))
        })
        .collect();
    check("floats", "f32", &slots, &names, |_| want.clone());
}

#[test]
fn f64_arithmetic() {
    let operations: Vec<Operation<f64>> = operations!(f64, F64);
    let names: Vec<&str> = operations.iter().map(|o| o.0).collect();
    let slots = input::slots_of(0x3100, 64 * 24 - 5, 64, |r| input::float(r, F64));
    let want: Vec<Want> = slots
        .items()
        .flat_map(|slots| {
            let [x, y, z] = slots.map(f64::from_bits);
            let n = (slots[2] >> 32) as i32 >> 21;
            operations.iter().map(move |o| (o.1)(x, y, z, n))
        })
        .collect();
    check("floats", "f64", &slots, &names, |target| {
        let mut want = want.clone();
        if target == Gfx::Gfx600 {
            for (item, want) in slots.a.iter().zip(want.chunks_mut(names.len())) {
                for (name, want) in names.iter().zip(want) {
                    *want = expanded(name, f64::from_bits(*item)).unwrap_or(*want);
                }
            }
        }
        want
    });
}

/// gfx600 has no instructions that round f64, and what LLVM makes instead is not what IEEE 754 says:
/// zeros lose their sign, and floor is wrong by 2^-53 next below zero.
fn expanded(name: &str, x: f64) -> Option<Want> {
    match name {
        "floor" => Some(expanded_floor(x).want()),
        "ceil" if x.ceil() == 0.0 => Some(Want::Zero(F64)),
        "rint" if x.round_ties_even() == 0.0 => Some(Want::Zero(F64)),
        _ => None,
    }
}

/// See [`expanded`].
pub(super) fn expanded_floor(x: f64) -> f64 {
    let below_one = 1.0 - f64::EPSILON / 2.0;
    if x.is_finite() {
        x - (x - x.floor()).min(below_one)
    } else {
        x
    }
}

/// A denormal is a zero of its sign.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() {
        0f32.copysign(x)
    } else {
        x
    }
}

#[test]
fn flushed_denormals() {
    let names = [
        "add", "sub", "mul", "x*y+z", "x*y-z", "z-x*y", "x*3.25+y", "x*y+1.75", "div", "sqrt",
        "f64 mul",
    ];
    let slots = input::slots_of(0x3200, 64 * 24 - 5, 64, |r| {
        let (low, high) = (input::float(r, F32), input::float(r, F64));
        if r.once_in(2) { low | high << 32 } else { high }
    });
    let want = |target: Gfx| -> Vec<Want> {
        // gfx906 has v_fmac_f32 and no reason to round twice.
        let multiply_add = |x: f32, y: f32, z: f32| {
            let (x, y, z) = (flush(x), flush(y), flush(z));
            match target {
                Gfx::Gfx906 => flush(x.mul_add(y, z)),
                _ => flush(flush(x * y) + z),
            }
        };
        let one = |[a, b, c]: [u64; 3]| {
            let [x, y, z] = [a, b, c].map(|slot| f32::from_bits(slot as u32));
            // What becomes of denormals in a division, compilers leave open.
            let quotient = flush(x) / flush(y);
            let open = x.is_subnormal() || y.is_subnormal() || (x / y).is_subnormal();
            [
                flush(flush(x) + flush(y)).want(),
                flush(flush(x) - flush(y)).want(),
                flush(flush(x) * flush(y)).want(),
                multiply_add(x, y, z).want(),
                multiply_add(x, y, -z).want(),
                multiply_add(-x, y, z).want(),
                multiply_add(x, 3.25, y).want(),
                multiply_add(x, y, 1.75).want(),
                if open { Want::Any } else { quotient.want() },
                if x.is_subnormal() {
                    Want::Any
                } else {
                    x.sqrt().want()
                },
                (f64::from_bits(a) * f64::from_bits(b)).want(),
            ]
        };
        slots.items().flat_map(one).collect()
    };
    check("flush", "flushed", &slots, &names, want);
}

#[test]
fn flushed_mixed_precision() {
    let names = ["s0*s0+z", "s1*s2-z", "|s3|*s1+s2", "f16 s1*s3+s0"];
    let slots = input::slots(0x3300, 64, |r| {
        let halves = (0..4).map(|i| input::float(r, F16) << (16 * i)).sum();
        if r.once_in(3) {
            input::float(r, F32)
        } else {
            halves
        }
    });
    let want = |target: Gfx| -> Vec<Want> {
        // v_mad_mix of gfx900 flushes denormal halves on both sides; v_fma_mix does not.
        let flush_half = |half: u64| match half & 0x7c00 {
            0 if target == Gfx::Gfx900 => half & 0x8000,
            _ => half,
        };
        let f16 = |slot: u64, at: u32| {
            let number = F16.number(flush_half(slot >> (16 * at) & 0xffff));
            F32.bits_of(number, Round::Even)
                .map_or(f32::NAN, |bits| f32::from_bits(bits as u32))
        };
        let one = |[a, b, c]: [u64; 3]| {
            let z = flush(f32::from_bits(c as u32));
            // Products of halves are exact.
            let add = |x: f32, y: f32, z: f32| flush(x * y + z);
            let half = add(f16(a, 1), f16(b, 3), f16(a, 0));
            let half = F16.bits_of(F32.number(half.to_bits().into()), Round::Even);
            [
                add(f16(a, 0), f16(b, 0), z).want(),
                add(f16(a, 1), f16(b, 2), -z).want(),
                add(f16(a, 3).abs(), f16(b, 1), f16(a, 2)).want(),
                half.map_or(Want::Nan(F16), |half| Want::Bits(flush_half(half))),
            ]
        };
        slots.items().flat_map(one).collect()
    };
    check("flush", "flushed_mix", &slots, &names, want);
}
