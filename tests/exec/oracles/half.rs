//! f16 arithmetic. Sums, products, quotients and roots of halves may be computed in f32 and rounded
//! again, which is as good as rounding once; fused multiply-adds may not.

use wavelift::Gfx;

use super::input;
use super::{Want, check};
use harness::number::{EXACT, F16, F32, Finite, Number, Round};

/// The value of a half; a NaN keeps its sign only.
fn wide(half: u64) -> f32 {
    match F32.bits_of(F16.number(half & 0xffff), Round::Even) {
        Some(bits) => f32::from_bits(bits as u32),
        None => f32::NAN.copysign(if half & 0x8000 == 0 { 1.0 } else { -1.0 }),
    }
}

/// The half next to a float.
fn narrow(value: f32) -> Want {
    F16.bits_of(F32.number(value.to_bits().into()), Round::Even)
        .map_or(Want::Nan(F16), Want::Bits)
}

/// `x * y + z`, rounded once. Halves are multiples of 2^-24, so everything fits into an integer.
fn fused(x: u64, y: u64, z: u64) -> Want {
    let [p, q, r] = [x, y, z].map(wide);
    if !(p.is_finite() && q.is_finite() && r.is_finite()) {
        return narrow(p * q + r);
    }
    let fixed = |x: f32| (f64::from(x) * f64::from(1 << 24)) as i128;
    let sum = fixed(p) * fixed(q) + (fixed(r) << 24);
    if sum == 0 {
        // A zero of the sign that IEEE 754 says, which does not depend on the size of operands.
        return narrow(p * q * 0.0 + r * 0.0);
    }
    let number = Finite {
        negative: sum < 0,
        magnitude: sum.unsigned_abs(),
        exponent: -48,
    };
    Want::Bits(F16.round(number, EXACT))
}

/// What `fma` of halves compiles to: targets without f16 arithmetic do it in f32.
fn fma(target: Gfx, x: u64, y: u64, z: u64) -> Want {
    match target {
        Gfx::Gfx600 | Gfx::Gfx700 => narrow(wide(x).mul_add(wide(y), wide(z))),
        _ => fused(x, y, z),
    }
}

fn smaller(x: u64, y: u64) -> Want {
    let (p, q) = (wide(x), wide(y));
    match () {
        _ if p.is_nan() => narrow(q),
        _ if q.is_nan() => narrow(p),
        _ if p < q || p == q && p.is_sign_negative() => narrow(p),
        _ => narrow(q),
    }
}

fn larger(x: u64, y: u64) -> Want {
    match smaller(x ^ 0x8000, y ^ 0x8000) {
        Want::Bits(bits) => Want::Bits(bits ^ 0x8000),
        other => other,
    }
}

fn scaled(x: u64, by: i32) -> Want {
    match F16.number(x & 0xffff) {
        Number::Finite(number) => Want::Bits(F16.round(number.scaled(by), EXACT)),
        _ => narrow(wide(x)),
    }
}

#[test]
fn f16_arithmetic() {
    let names = [
        "add",
        "sub",
        "mul",
        "div",
        "sqrt",
        "fma",
        "fma(-x)",
        "fmin",
        "fmax",
        "floor",
        "ceil",
        "trunc",
        "rint",
        "fabs",
        "neg",
        "copysign",
        "ldexp",
        "==",
        "!=",
        "<",
        "<=",
        "not >",
        "unordered",
        "isnan",
        "isinf",
        "isnormal",
    ];
    let slots = input::slots_of(0x5000, 64 * 48 - 11, 16, |r| input::float(r, F16));
    let one = |target: Gfx, [a, b, c]: [u64; 3]| {
        let [x, y] = [a, b].map(wide);
        let flag = |flag: bool| Want::Bits(flag.into());
        [
            narrow(x + y),
            narrow(x - y),
            narrow(x * y),
            narrow(x / y),
            narrow(x.sqrt()),
            fma(target, a, b, c),
            fma(target, a ^ 0x8000, b, c),
            smaller(a, b),
            larger(a, b),
            narrow(x.floor()),
            narrow(x.ceil()),
            narrow(x.trunc()),
            narrow(x.round_ties_even()),
            Want::Bits(a & 0x7fff),
            Want::Bits(a & 0xffff ^ 0x8000),
            Want::Bits(a & 0x7fff | b & 0x8000),
            scaled(a, (c >> 32) as i32 >> 26),
            flag(x == y),
            flag(x != y),
            flag(x < y),
            flag(x <= y),
            flag(x <= y || x.is_nan() || y.is_nan()),
            flag(x.is_nan() || y.is_nan()),
            flag(x.is_nan()),
            flag(x.is_infinite()),
            flag(x.is_finite() && a & 0x7c00 != 0),
        ]
    };
    check("half", "f16", &slots, &names, |target| {
        slots.items().flat_map(|item| one(target, item)).collect()
    });
}

/// Four halves in a slot; a NaN among them makes the slot a matter of its own.
fn packed(f: impl Fn(u32) -> Want) -> Want {
    let mut bits = 0;
    for at in 0..4 {
        match f(at) {
            Want::Bits(half) => bits |= half << (16 * at),
            _ => return Want::Any,
        }
    }
    Want::Bits(bits)
}

#[test]
fn packed_f16_arithmetic() {
    let names = [
        "add",
        "sub",
        "mul",
        "fma",
        "fma(swapped)",
        "fmin",
        "fmax",
        "-x + reversed",
        "fabs",
        "mul by s0",
    ];
    // NaNs in other tests; here they would hide the rest of the slot.
    let slots = input::slots_of(0x5100, 64 * 24 - 11, 64, |r| {
        let mut half = || loop {
            let half = input::float(r, F16);
            if half & 0x7fff < 0x7c00 {
                break half;
            }
        };
        half() | half() << 16 | half() << 32 | half() << 48
    });
    let at = |slot: u64, at: u32| slot >> (16 * at) & 0xffff;
    let one = |target: Gfx, [a, b, c]: [u64; 3]| {
        let (x, y) = (|i| wide(at(a, i)), |i| wide(at(b, i)));
        [
            packed(|i| narrow(x(i) + y(i))),
            packed(|i| narrow(x(i) - y(i))),
            packed(|i| narrow(x(i) * y(i))),
            packed(|i| fma(target, at(a, i), at(b, i), at(c, i))),
            packed(|i| fma(target, at(a, i ^ 1), at(b, i) ^ 0x8000, at(c, i))),
            packed(|i| smaller(at(a, i), at(b, i))),
            packed(|i| larger(at(a, i), at(b, i))),
            packed(|i| narrow(-x(i) + y(3 - i))),
            packed(|i| Want::Bits(at(a, i) & 0x7fff)),
            packed(|i| narrow(x(i) * y(0))),
        ]
    };
    check("half", "f16x4", &slots, &names, |target| {
        slots.items().flat_map(|item| one(target, item)).collect()
    });
}

#[test]
fn mixed_precision() {
    let names = ["s0*s0+z", "s1*s2-z", "|s3|*s1+s2", "f16 s1*s3+s0"];
    let slots = input::slots(0x5200, 64, |r| {
        let halves = (0..4).map(|i| input::float(r, F16) << (16 * i)).sum();
        if r.once_in(3) {
            input::float(r, F32)
        } else {
            halves
        }
    });
    let f32_want = |x: f32| super::floats::bits(F32, x.to_bits().into());
    let half = |slot: u64, at: u32| wide(slot >> (16 * at));
    let want: Vec<Want> = slots
        .items()
        .flat_map(|[a, b, c]| {
            let z = f32::from_bits(c as u32);
            [
                f32_want(half(a, 0).mul_add(half(b, 0), z)),
                f32_want(half(a, 1).mul_add(half(b, 2), -z)),
                f32_want(half(a, 3).abs().mul_add(half(b, 1), half(a, 2))),
                narrow(half(a, 1).mul_add(half(b, 3), half(a, 0))),
            ]
        })
        .collect();
    check("half", "mixed", &slots, &names, |_| want.clone());
}
