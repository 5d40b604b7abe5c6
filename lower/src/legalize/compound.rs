//! Operations composed of others, shared by lanes and the wave: exponents of f64 here, the steps of
//! a division in `division.rs`.

use super::evaluate::Shape;
use crate::ir::{Fcmp, Float, Flush, Icmp, Op, Width};

const KEEP: Flush = Flush {
    src: false,
    dst: false,
};
/// Bias of the exponent field, and the field's position in the high dword.
const BIAS: i32 = 1023;
const PLACE: u32 = 20;
const FIELD: u64 = 0x7ff0_0000;
/// Exponent of the factor that makes denormal f64 normal.
const UP: u32 = 54;

fn dword<O: Shape>(ops: &mut O, op: Op, x: &O::Value, k: i32) -> O::Value {
    let k = ops.immediate(Width::W32, (k as u32).into());
    ops.op(op, Width::W32, &[x, &k])
}

/// The f64 2^n, n from -1022 to 1023.
fn power<O: Shape>(ops: &mut O, n: &O::Value) -> O::Value {
    let biased = dword(ops, Op::Add, n, BIAS);
    let high = ops.shifted(&biased, PLACE, true);
    let zero = ops.immediate(Width::W32, 0);
    ops.op(Op::Pair, Width::W32, &[&zero, &high])
}

/// The f64 `a * 2^n`, rounded once. Of three factors only the last one rounds: at that point values
/// are multiples of 2^-969 from 2^-1022 on, so that those it makes denormal become zero.
pub(super) fn ldexp_double<O: Shape>(
    ops: &mut O,
    flush: Flush,
    a: &O::Value,
    n: &O::Value,
) -> O::Value {
    let times = |ops: &mut O, flush, a: &O::Value, n: &O::Value| {
        let factor = power(ops, n);
        ops.op(Op::FMul(Float::F64, flush), Width::W64, &[a, &factor])
    };
    let mut a = match flush.src {
        true => ops.op(Op::FFlush(Float::F64), Width::W64, &[a]),
        false => a.clone(),
    };
    let mut n = n.clone();
    let [down, none, up] =
        [-969i32, 0, BIAS].map(|by| ops.immediate(Width::W32, (by as u32).into()));
    for _ in 0..2 {
        let below = dword(ops, Op::Icmp(Icmp::Slt), &n, -1022);
        let above = dword(ops, Op::Icmp(Icmp::Sle), &n, BIAS);
        let step = ops.choose(Width::W32, &above, &none, &up);
        let step = ops.choose(Width::W32, &below, &down, &step);
        a = times(ops, KEEP, &a, &step);
        n = ops.op(Op::Sub, Width::W32, &[&n, &step]);
    }
    let n = dword(ops, Op::MaxS, &n, -1022);
    let n = dword(ops, Op::MinS, &n, BIAS);
    times(
        ops,
        Flush {
            src: false,
            ..flush
        },
        &a,
        &n,
    )
}

/// An f64 with denormals scaled to normal numbers, whether it was denormal, its high dword, and
/// whether it has no mantissa (zeros, infinities, NaNs).
fn normalised<O: Shape>(ops: &mut O, a: &O::Value) -> [O::Value; 4] {
    let high = ops.op(Op::Hi, Width::W64, &[a]);
    let field = dword(ops, Op::And, &high, FIELD as i32);
    let denormal = dword(ops, Op::Icmp(Icmp::Eq), &field, 0);
    let factor = ops.immediate(Width::W64, u64::from(BIAS as u32 + UP) << 52);
    let scaled = ops.op(Op::FMul(Float::F64, KEEP), Width::W64, &[a, &factor]);
    let normal = ops.choose(Width::W64, &denormal, &scaled, a);
    let high = ops.op(Op::Hi, Width::W64, &[&normal]);
    let field = dword(ops, Op::And, &high, FIELD as i32);
    let zero = dword(ops, Op::Icmp(Icmp::Eq), &field, 0);
    let large = dword(ops, Op::Icmp(Icmp::Eq), &field, FIELD as i32);
    let none = ops.op(Op::Or, Width::W1, &[&zero, &large]);
    [normal, denormal, high, none]
}

/// The m of the f64 m * 2^e with 1/2 <= |m| < 1; zeros and infinities unchanged, NaNs quieted.
pub(super) fn frexp_mant_double<O: Shape>(ops: &mut O, a: &O::Value) -> O::Value {
    let [normal, _, high, none] = normalised(ops, a);
    let low = ops.op(Op::Lo, Width::W64, &[&normal]);
    let rest = dword(ops, Op::And, &high, !(FIELD as i32));
    let half = dword(ops, Op::Or, &rest, (BIAS - 1) << PLACE);
    let quiet = ops.op(Op::FQuiet(Float::F64), Width::W64, &[a]);
    let quiet = ops.op(Op::Hi, Width::W64, &[&quiet]);
    let high = ops.choose(Width::W32, &none, &quiet, &half);
    ops.op(Op::Pair, Width::W32, &[&low, &high])
}

/// Its e; 0 for zeros, infinities and NaNs.
pub(super) fn frexp_exp_double<O: Shape>(ops: &mut O, a: &O::Value) -> O::Value {
    let [_, denormal, high, none] = normalised(ops, a);
    let plain = dword(ops, Op::And, &high, FIELD as i32);
    let field = ops.shifted(&plain, PLACE, false);
    let biases = [BIAS - 1 + UP as i32, BIAS - 1];
    let [more, bias] = biases.map(|by| ops.immediate(Width::W32, by as u64));
    let bias = ops.choose(Width::W32, &denormal, &more, &bias);
    let exponent = ops.op(Op::Sub, Width::W32, &[&field, &bias]);
    let zero = ops.immediate(Width::W32, 0);
    ops.choose(Width::W32, &none, &zero, &exponent)
}

/// An f64 as an i32 or a u32: toward zero, saturating, 0 for a NaN. Adding a large number puts the
/// integer into the low bits.
pub(super) fn to_integer<O: Shape>(ops: &mut O, x: &O::Value, signed: bool) -> O::Value {
    const LARGE: f64 = 6_755_399_441_055_744.0;
    let bounds = match signed {
        true => [f64::from(i32::MIN), f64::from(i32::MAX)],
        false => [0.0, f64::from(u32::MAX)],
    };
    let [least, most] = bounds.map(|bound| ops.immediate(Width::W64, bound.to_bits()));
    let less = Op::Fcmp(Float::F64, Fcmp::Lt, KEEP);
    let below = ops.op(less, Width::W64, &[x, &least]);
    let above = ops.op(less, Width::W64, &[&most, x]);
    let inside = ops.choose(Width::W64, &below, &least, x);
    let inside = ops.choose(Width::W64, &above, &most, &inside);
    let whole = ops.op(Op::FTrunc(Float::F64), Width::W64, &[&inside]);
    let large = ops.immediate(Width::W64, LARGE.to_bits());
    let sum = ops.op(Op::FAdd(Float::F64, KEEP), Width::W64, &[&whole, &large]);
    let word = ops.op(Op::Lo, Width::W64, &[&sum]);
    let number = Op::Fcmp(Float::F64, Fcmp::Ord, KEEP);
    let number = ops.op(number, Width::W64, &[x, x]);
    let zero = ops.immediate(Width::W32, 0);
    ops.choose(Width::W32, &number, &word, &zero)
}
