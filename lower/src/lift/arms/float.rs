//! Vector float operations with results of 32 and 64 bits.

use frontend::inst::Inst;
use frontend::op::Op;
use frontend::ops;
use frontend::ty::Ty;

use crate::ir::functions::LaneFn;
use crate::ir::{Float, Flush};
use crate::lift::arms::division;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::arms::scalar::vcc_mask;
use crate::lift::guest::Guest;
use crate::lift::value::{Env, F, Handle, M, Q, U, call, call64};

/// A float as the result of its width.
fn out(f: F<'_>) -> Out<'_> {
    match f.env.ty {
        Float::F32 => Out::W(U::new(f.builder(), f.v)),
        Float::F64 => Out::D(Q::new(f.builder(), f.v)),
    }
}

/// Computes an operation with an f32 or f64 result.
pub(super) fn compute<'b>(g: &mut Guest<'b>, inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let f = |i: usize| args.f(i);
    let s0 = f(0)?;
    let env = s0.env;
    let flushes = g.gfx.min_max_flushes();
    let min = |a, b| lesser(flushes, true, a, b);
    let max = |a, b| lesser(flushes, false, a, b);
    Some(out(match inst.op() {
        Op::Add => s0 + f(1)?,
        Op::Sub => s0 - f(1)?,
        Op::Mul => s0 * f(1)?,
        Op::Mad | Op::Mac => mad(g.exact_nan, args.omod, s0, f(1)?, f(2)?),
        Op::Fma | Op::Fmac => s0.fma(f(1)?, f(2)?),
        Op::MulLegacy => mul_legacy(s0, f(1)?),
        Op::MadLegacy | Op::MacLegacy => {
            let env = env.flushing();
            let (s1, s2) = (f(1)?, f(2)?);
            let product = mul_legacy(s0.in_env(env), s1.in_env(env));
            product.in_env(sum_env(env, args.omod)) + s2
        }
        Op::Min => min(s0, f(1)?),
        Op::Max => max(s0, f(1)?),
        Op::Min3 => min(min(s0, f(1)?), f(2)?),
        Op::Max3 => max(max(s0, f(1)?), f(2)?),
        Op::Med3 => med3(flushes, s0, f(1)?, f(2)?),
        Op::MinLegacy => {
            let (a, b) = (s0.in_env(env.keeping()), f(1)?);
            a.lt(b).pick(a, b)
        }
        Op::MaxLegacy => {
            let (a, b) = (s0.in_env(env.keeping()), f(1)?);
            b.in_env(env.keeping()).le(a).pick(a, b)
        }
        Op::Fract if !g.gfx.fract_is_below_one() => s0.flush_src() - s0.flush_src().floor(),
        Op::Fract => fract(s0),
        Op::Trunc => s0.flush_src().trunc(),
        Op::Ceil => s0.flush_src().ceil(),
        Op::Rndne => s0.flush_src().nearest(),
        Op::Floor => s0.flush_src().floor(),
        ops!(float | float_wide) => return functions(g, inst, args),
        ops!(moves | integer | logic | shifts | bits | compare | salu | mem) => return None,
        ops!(
            special | vector | vector_wide | convert | eight_bits | packed | parameters | matrix
        ) => {
            return None;
        }
    }))
}

/// Flushing of the sum of an unfused multiply-add: always, unless an output modifier follows.
fn sum_env(env: Env, omod: bool) -> Env {
    env.with_flush(Flush {
        src: true,
        dst: !omod,
    })
}

/// S0 * S1 + S2, both steps rounded; f32 denormals are flushed regardless of MODE.
pub(super) fn mad<'b>(exact_nan: bool, omod: bool, s0: F<'b>, s1: F<'b>, s2: F<'b>) -> F<'b> {
    let env = s0.env.flushing();
    if env.round != 0 {
        let words = [s0.word(), s1.word(), s2.word()];
        let imm = env.mode | u32::from(omod) << 30;
        return s0.with(call(s0.builder(), LaneFn::MadF32, imm, &words).v);
    }
    let product = s0.in_env(env) * s1;
    let d = product.in_env(sum_env(env, omod)) + s2;
    if !exact_nan {
        return d;
    }
    // A NaN from the product does not precede S2 as a source.
    let only_s2 = s2.is_nan() & !(s0.is_nan() | s1.is_nan());
    only_s2.pick(s2.quiet().in_env(d.env), d)
}

/// The product, where 0 times anything is +0.
fn mul_legacy<'b>(s0: F<'b>, s1: F<'b>) -> F<'b> {
    let zero = s0.k(0.0);
    (s0.eq(zero) | s1.eq(zero)).pick(zero, s0 * s1)
}

/// x - floor(x), below 1.
fn fract(s0: F<'_>) -> F<'_> {
    let s0 = s0.flush_src();
    let d = s0 - s0.floor();
    let below_one = match s0.env.ty {
        Float::F32 => s0.bits(0x3f7f_ffff),
        Float::F64 => s0.bits(0x3fef_ffff_ffff_ffff),
    };
    below_one.le(d).pick(below_one, d)
}

/// Can the values be equal with different bits (zeros)?
fn may_be_zeros<'b>(a: F<'b>, b: F<'b>) -> bool {
    let nonzero = |f: F<'b>| {
        let constant = f.builder().as_const(f.v);
        constant.is_some_and(|bits| match f.env.ty {
            Float::F32 => bits & 0x7fff_ffff != 0,
            Float::F64 => bits & (u64::MAX >> 1) != 0,
        })
    };
    !nonzero(a) && !nonzero(b)
}

/// The smaller (larger) of two numbers, -0 below +0; NaN sources give S1.
fn lesser_number<'b>(min: bool, a: F<'b>, b: F<'b>) -> F<'b> {
    let first = if min { a.lt(b) } else { b.lt(a) };
    let other = if may_be_zeros(a, b) {
        // Equal: identical bits, or zeros distinguished by sign.
        a.eq(b).pick(zero_of(min, a, b), b)
    } else {
        b
    };
    first.pick(a, other)
}

/// S1; if both are equal and may be zeros of different signs, the smaller (larger) zero.
fn equal_or<'b>(min: bool, a: F<'b>, b: F<'b>) -> F<'b> {
    if may_be_zeros(a, b) {
        a.eq(b).pick(zero_of(min, a, b), b)
    } else {
        b
    }
}

/// The smaller (larger) of equal numbers: zeros are ordered by sign.
fn zero_of<'b>(min: bool, a: F<'b>, b: F<'b>) -> F<'b> {
    let builder = a.builder();
    let bits = match (a.env.ty, min) {
        (Float::F32, true) => (a.word() | b.word()).v,
        (Float::F32, false) => (a.word() & b.word()).v,
        (Float::F64, true) => (Q::new(builder, a.v) | Q::new(builder, b.v)).v,
        (Float::F64, false) => (Q::new(builder, a.v) & Q::new(builder, b.v)).v,
    };
    a.with(bits)
}

/// A NaN with its quiet bit set.
fn quieted(f: F<'_>) -> F<'_> {
    match f.env.ty {
        Float::F32 => f.with((f.word() | f.word().k(1 << 22)).v),
        Float::F64 => {
            let q = Q::new(f.builder(), f.v);
            f.with((q | q.k(1 << 51)).v)
        }
    }
}

/// v_min and v_max. Before gfx9 they keep denormals regardless of MODE.
fn lesser<'b>(gfx9: bool, min: bool, a: F<'b>, b: F<'b>) -> F<'b> {
    let env = a.env;
    let (a, b) = if gfx9 {
        (a.flush_src(), b.flush_src())
    } else {
        (a, b)
    };
    let (a, b) = (a.in_env(env.keeping()), b.in_env(env.keeping()));
    // With a NaN the comparison is false and selects S0, which is correct unless S0 is the NaN.
    let second = if min { b.le(a) } else { a.le(b) };
    let mut d = second.pick(equal_or(min, a, b), a);
    let a_nan = a.is_nan();
    d = a_nan.pick(b, d);
    if env.ieee() {
        d = b.is_snan().pick(quieted(b), d);
        d = a.is_snan().pick(quieted(a), d);
    }
    let d = d.in_env(env);
    if gfx9 { d.flush_dst().in_env(env) } else { d }
}

/// May two of the three be zeros of different signs and the third below them? Then their order
/// determines the median.
fn zeros_decide<'b>(x: F<'b>, y: F<'b>, z: F<'b>) -> bool {
    let pair = |p, q, third: F<'b>| {
        let positive = third.builder().as_const(third.v).is_some_and(|bits| {
            let negative = match third.env.ty {
                Float::F32 => bits >> 31 & 1,
                Float::F64 => bits >> 63,
            };
            negative == 0 && !may_be_zeros(third, third)
        });
        may_be_zeros(p, q) && !positive
    };
    pair(x, y, z) || pair(x, z, y) || pair(y, z, x)
}

/// The median; with a NaN among the sources, min3.
fn med3<'b>(gfx9: bool, a: F<'b>, b: F<'b>, c: F<'b>) -> F<'b> {
    let builder = a.builder();
    let constants = [a, b, c]
        .iter()
        .filter(|f| builder.as_const(f.v).is_some())
        .count();
    if constants < 2 {
        let imm = a.env.mode | u32::from(gfx9) << 31;
        let words = [a.word(), b.word(), c.word()];
        return a.with(call(builder, LaneFn::Med3F32, imm, &words).v);
    }
    let env = a.env;
    let (x, y, z) = if gfx9 {
        (a.flush_src(), b.flush_src(), c.flush_src())
    } else {
        (a, b, c)
    };
    let keep = |f: F<'b>| f.in_env(env.keeping());
    let (x, y, z) = (keep(x), keep(y), keep(z));
    let max = |p, q| lesser_number(false, p, q);
    let median = if zeros_decide(x, y, z) {
        // The manual compares with the largest numerically: zeros of either sign are equal.
        let largest = max(max(x, y), z);
        let second = largest.eq(y).pick(max(x, z), max(x, y));
        largest.eq(x).pick(max(y, z), second)
    } else {
        let low = lesser_number(true, x, y);
        max(low, lesser_number(true, max(x, y), z))
    };
    let median = median.in_env(env);
    let median = if gfx9 { median.flush_dst() } else { median };
    let nan = x.is_nan() | y.is_nan() | z.is_nan();
    let min3 = lesser(gfx9, true, lesser(gfx9, true, a, b), c);
    nan.pick(min3, median)
}

/// Infinities become the largest numbers.
fn clamp_inf(f: F<'_>) -> F<'_> {
    let b = f.builder();
    match f.env.ty {
        Float::F32 => {
            let word = f.word();
            let inf = (word & word.k(0x7fff_ffff)).eq(word.k(0x7f80_0000));
            f.with(inf.pick(word - word.k(1), word).v)
        }
        Float::F64 => {
            let q = Q::new(b, f.v);
            let inf = (q & q.k(u64::MAX >> 1)).eq(q.k(0x7ff0_0000_0000_0000));
            f.with(inf.pick(q - q.k(1), q).v)
        }
    }
}

/// The legacy forms of gfx6 and gfx7: zeros in place of infinities, sign kept.
fn legacy_zero(f: F<'_>) -> F<'_> {
    let word = f.word();
    let inf = (word & word.k(0x7fff_ffff)).eq(word.k(0x7f80_0000));
    f.with(inf.pick(word & word.k(0x8000_0000), word).v)
}

/// Environment of reciprocals and roots: nearest even; f32 flushes denormals regardless of MODE,
/// f64 by MODE.
fn reciprocal_env(f: F<'_>) -> Env {
    let env = match f.env.ty {
        Float::F32 => f.env.flushing(),
        Float::F64 => f.env,
    };
    Env { round: 0, ..env }
}

/// 1 / x, correctly rounded.
fn rcp(s0: F<'_>) -> F<'_> {
    let env = reciprocal_env(s0);
    let flush = Flush {
        src: false,
        // The reciprocal of a mantissa is between 1 and 2.
        dst: env.flush.dst && !s0.is_mantissa(),
    };
    let x = s0.in_env(env).flush_src().in_env(env.with_flush(flush));
    x.k(1.0).div(x)
}

/// Negative sources give the negative default NaN. Without exact NaNs the host's NaN is used.
fn root<'b>(exact_nan: bool, s0: F<'b>, root: F<'b>) -> F<'b> {
    if !exact_nan {
        return root;
    }
    let nan = match s0.env.ty {
        Float::F32 => s0.bits(0xffc0_0000),
        Float::F64 => s0.bits(0xfff8_0000_0000_0000),
    };
    s0.lt(s0.k(0.0)).pick(nan, root)
}

/// sqrt(x), correctly rounded.
fn sqrt(exact_nan: bool, s0: F<'_>) -> F<'_> {
    let env = reciprocal_env(s0);
    // No root is denormal.
    let x = s0.in_env(env).flush_src().in_env(env.keeping());
    root(exact_nan, x, x.sqrt())
}

/// Operations that are lane functions.
fn functions<'b>(g: &mut Guest<'b>, inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let b = g.b;
    let (mode, exact_nan) = (args.mode, g.exact_nan);
    let s0 = args.f(0)?;
    let wide = inst.desc.ty() == Ty::F64;
    // A function of one f32.
    let one = |f: LaneFn| (!wide).then(|| s0.with(call(b, f, mode, &s0.words()).v));
    let words = |n: usize| -> Option<Vec<U<'b>>> {
        let mut words = Vec::new();
        for i in 0..n {
            words.extend(args.f(i)?.words());
        }
        Some(words)
    };
    let rsq = || match wide {
        false => s0.rsq(),
        true => s0.flush_src().rsq(),
    };
    let log = || one(LaneFn::LogF32);
    Some(out(match inst.op() {
        Op::Exp | Op::ExpLegacy => one(LaneFn::ExpF32)?,
        Op::Log | Op::LogLegacy => log()?,
        Op::LogClamp => clamp_inf(log()?),
        Op::Rcp | Op::RcpIflag => rcp(s0),
        Op::RcpClamp => clamp_inf(rcp(s0)),
        Op::RcpLegacy => legacy_zero(rcp(s0)),
        Op::Rsq => rsq(),
        Op::RsqClamp => clamp_inf(rsq()),
        Op::RsqLegacy => legacy_zero(rsq()),
        Op::Sqrt => sqrt(exact_nan, s0),
        Op::Sin | Op::Cos => {
            let f = if inst.op() == Op::Sin {
                LaneFn::SinF32
            } else {
                LaneFn::CosF32
            };
            let imm = mode | u32::from(g.gfx.has_full_trig_range()) << 31;
            s0.with(call(b, f, imm, &s0.words()).v)
        }
        Op::FrexpMant => s0.flush_src().frexp_mant(),
        Op::Ldexp if s0.env.round == 0 => s0.ldexp(args.u(1)?),
        Op::Ldexp => {
            let mut words = s0.words();
            words.push(args.u(1)?);
            return Some(if wide {
                Out::D(call64(b, LaneFn::LdexpF64, mode, &words))
            } else {
                Out::W(call(b, LaneFn::LdexpF32, mode, &words))
            });
        }
        Op::TrigPreop => {
            let mut words = s0.words();
            words.push(args.u(1)?);
            return Some(Out::D(call64(b, LaneFn::TrigPreop, mode, &words)));
        }
        Op::DivScale => {
            let (d, bit) = division::scale(s0, args.f(1)?, args.f(2)?);
            return Some(match d.env.ty {
                Float::F32 => Out::WM(U::new(b, d.v), bit),
                Float::F64 => Out::DM(Q::new(b, d.v), bit),
            });
        }
        Op::DivFmas if s0.env.round == 0 => s0.div_fmas(args.f(1)?, args.f(2)?, vcc_mask(g)),
        Op::DivFmas => {
            let mut words = words(3)?;
            let vcc: M<'b> = vcc_mask(g);
            words.push(vcc.int());
            return Some(if wide {
                Out::D(call64(b, LaneFn::DivFmasF64, mode, &words))
            } else {
                Out::W(call(b, LaneFn::DivFmasF32, mode, &words))
            });
        }
        Op::DivFixup => division::fixup(g, s0, args.f(1)?, args.f(2)?),
        Op::CubeId => return Some(Out::W(call(b, LaneFn::CubeId, mode, &words(3)?))),
        Op::CubeSc => return Some(Out::W(call(b, LaneFn::CubeSc, mode, &words(3)?))),
        Op::CubeTc => return Some(Out::W(call(b, LaneFn::CubeTc, mode, &words(3)?))),
        Op::CubeMa => return Some(Out::W(call(b, LaneFn::CubeMa, mode, &words(3)?))),
        Op::MulLit => return Some(Out::W(call(b, LaneFn::MulLit, mode, &words(3)?))),
        ops!(alu | special | vector | vector_wide | convert | eight_bits | rounding | legacy) => {
            return None;
        }
        ops!(packed | parameters | matrix | salu | mem) => return None,
    }))
}
