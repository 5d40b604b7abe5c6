//! Vector compares: VOPC and its VOP3 forms.

use frontend::inst::Inst;
use frontend::op::{Cmp, Op};
use frontend::ops;
use frontend::ty::Ty;

use crate::ir::Float;
use crate::ir::functions::LaneFn;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::value::{Env, F, M, Q, U, call};

/// Computes the mask of a compare or class test.
pub(super) fn compute<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    Some(Out::M(match inst.op() {
        Op::CmpClass | Op::CmpxClass => class(args)?,
        Op::Cmp(cmp) | Op::Cmpx(cmp) | Op::Cmps(cmp) | Op::Cmpsx(cmp) => {
            if args.ty(0) == Ty::F16 {
                half(cmp, args)?
            } else if args.ty(0).is_float() {
                float(cmp, args.f(0)?, args.f(1)?)
            } else {
                integer(cmp, args)?
            }
        }
        ops!(moves | arithmetic | integer | logic | shifts | bits) => return None,
        ops!(valu | salu | mem) => return None,
    }))
}

fn float<'b>(cmp: Cmp, s0: F<'b>, s1: F<'b>) -> M<'b> {
    match cmp {
        Cmp::F => M::imm(s0.builder(), false),
        Cmp::T => M::imm(s0.builder(), true),
        Cmp::Lt => s0.lt(s1),
        Cmp::Eq => s0.eq(s1),
        Cmp::Le => s0.le(s1),
        Cmp::Gt => s1.lt(s0),
        // Less or greater: false for NaN.
        Cmp::Lg => s0.ord(s1) & s0.une(s1),
        Cmp::Ge => s1.le(s0),
        Cmp::O => s0.ord(s1),
        Cmp::U => s0.uno(s1),
        Cmp::Nge => !s1.le(s0),
        Cmp::Nlg => s0.uno(s1) | s0.eq(s1),
        Cmp::Ngt => !s1.lt(s0),
        Cmp::Nle => !s0.le(s1),
        Cmp::Neq => s0.une(s1),
        Cmp::Nlt => !s0.lt(s1),
    }
}

/// f16 values are compared as f32, which is exact.
fn half<'b>(cmp: Cmp, args: &Args<'b>) -> Option<M<'b>> {
    let env = Env::of(Float::F32, args.mode).keeping();
    let wide = |i: usize| {
        let s = args.u(i)?;
        let word = call(s.builder(), LaneFn::CvtF32F16, args.mode, &[s]);
        Some(word.float(env))
    };
    Some(float(cmp, wide(0)?, wide(1)?))
}

fn integer<'b>(cmp: Cmp, args: &Args<'b>) -> Option<M<'b>> {
    let signed = args.ty(0).is_signed();
    /// The six relations.
    macro_rules! relation {
        ($s0:expr, $s1:expr) => {{
            let (s0, s1) = ($s0, $s1);
            match (cmp, signed) {
                (Cmp::F, _) => M::imm(s0.builder(), false),
                (Cmp::T, _) => M::imm(s0.builder(), true),
                (Cmp::Eq, _) => s0.eq(s1),
                (Cmp::Lg, _) => s0.ne(s1),
                (Cmp::Lt, true) => s0.lt_s(s1),
                (Cmp::Lt, false) => s0.lt_u(s1),
                (Cmp::Le, true) => s0.le_s(s1),
                (Cmp::Le, false) => s0.le_u(s1),
                (Cmp::Gt, true) => s1.lt_s(s0),
                (Cmp::Gt, false) => s1.lt_u(s0),
                (Cmp::Ge, true) => s1.le_s(s0),
                (Cmp::Ge, false) => s1.le_u(s0),
                (Cmp::O | Cmp::U | Cmp::Nge | Cmp::Nlg | Cmp::Ngt, _) => return None,
                (Cmp::Nle | Cmp::Neq | Cmp::Nlt, _) => return None,
            }
        }};
    }
    Some(match args.ty(0).bits() {
        64 => relation!(args.q(0)?, args.q(1)?),
        16 if signed => relation!(args.u(0)?.lo16s(), args.u(1)?.lo16s()),
        16 => relation!(args.u(0)?.lo16(), args.u(1)?.lo16()),
        _ => relation!(args.u(0)?, args.u(1)?),
    })
}

/// Is an f32 in one of the classes of a constant mask? Mask bits as in the instruction: signalling
/// and quiet NaN; negative infinity, normal, denormal, zero; positive zero, denormal, normal,
/// infinity.
fn class_of(x: U<'_>, mask: u64) -> M<'_> {
    let selected = |bit: u32| mask >> bit & 1 != 0;
    let magnitude = x & x.k(0x7fff_ffff);
    // From (included) to (not included).
    let between = |from: u64, to: u64| (magnitude - x.k(from)).lt_u(x.k(to - from));
    let negative = x.lt_s(x.k(0));
    let mut any = M::imm(x.builder(), false);
    if selected(0) {
        any = any | between(0x7f80_0001, 0x7fc0_0000);
    }
    if selected(1) {
        any = any | between(0x7fc0_0000, 0x8000_0000);
    }
    let classes = [
        (2, 9, 0x7f80_0000, 0x7f80_0001),
        (3, 8, 0x0080_0000, 0x7f80_0000),
        (4, 7, 1, 0x0080_0000),
        (5, 6, 0, 1),
    ];
    for (below, above, from, to) in classes {
        let inside = || between(from, to);
        any = match (selected(below), selected(above)) {
            (true, true) => any | inside(),
            (true, false) => any | (inside() & negative),
            (false, true) => any | (inside() & !negative),
            (false, false) => any,
        };
    }
    any
}

/// As [`class_of`] with a mask computed at run time: extracts the mask bit of the f32's class.
fn class_by_mask<'b>(x: U<'b>, mask: U<'b>) -> M<'b> {
    let size = x & x.k(0x7fff_ffff);
    let negative = x.lt_s(x.k(0));
    let bit = |below: u32, above: u32| negative.pick(x.k(1 << below), x.k(1 << above));
    let nan = size.lt_u(x.k(0x7fc0_0000)).pick(x.k(1), x.k(2));
    let class = size.le_u(x.k(0x7f80_0000)).pick(bit(2, 9), nan);
    let class = size.lt_u(x.k(0x7f80_0000)).pick(bit(3, 8), class);
    let class = size.lt_u(x.k(0x0080_0000)).pick(bit(4, 7), class);
    let class = size.is_zero().pick(bit(5, 6), class);
    (class & mask).is_nonzero()
}

/// As [`class_by_mask`] for an f64.
fn class_of_double_by_mask<'b>(x: Q<'b>, mask: U<'b>) -> M<'b> {
    let (low, high) = (x.lo(), x.hi());
    let size = high & high.k(0x7fff_ffff);
    let rest = low.is_nonzero();
    let negative = high.lt_s(high.k(0));
    let bit = |below: u32, above: u32| negative.pick(high.k(1 << below), high.k(1 << above));
    let nan = size.lt_u(high.k(0x7ff8_0000)).pick(high.k(1), high.k(2));
    let is_infinite = size.eq(high.k(0x7ff0_0000)) & !rest;
    let class = is_infinite.pick(bit(2, 9), nan);
    let class = size.lt_u(high.k(0x7ff0_0000)).pick(bit(3, 8), class);
    let class = size.lt_u(high.k(0x0010_0000)).pick(bit(4, 7), class);
    let is_zero = size.is_zero() & !rest;
    let class = is_zero.pick(bit(5, 6), class);
    (class & mask).is_nonzero()
}

/// As [`class_of`] for an f64, by float comparisons: hosts compare quads in half vectors either
/// way.
fn class_of_double<'b>(x: F<'b>, mask: u64) -> M<'b> {
    let selected = |bit: u32| mask >> bit & 1 != 0;
    let b = x.builder();
    let x = x.in_env(x.env.keeping());
    let size = x.abs();
    let high = Q::new(b, x.v).hi();
    let negative = high.lt_s(high.k(0));
    let quiet = (high & high.k(1 << 19)).is_nonzero();
    let [zero, least, infinity] = [0, 0x0010 << 48, 0x7ff0 << 48].map(|bits| x.bits(bits));
    let mut any = M::imm(b, false);
    any = match (selected(0), selected(1)) {
        (true, true) => any | x.uno(x),
        (true, false) => any | (x.uno(x) & !quiet),
        (false, true) => any | (x.uno(x) & quiet),
        (false, false) => any,
    };
    let classes: [(u32, u32, &dyn Fn() -> M<'b>); 4] = [
        (2, 9, &|| size.eq(infinity)),
        (3, 8, &|| least.le(size) & size.lt(infinity)),
        (4, 7, &|| zero.lt(size) & size.lt(least)),
        (5, 6, &|| x.eq(zero)),
    ];
    for (below, above, inside) in classes {
        any = match (selected(below), selected(above)) {
            (true, true) => any | inside(),
            (true, false) => any | (inside() & negative),
            (false, true) => any | (inside() & !negative),
            (false, false) => any,
        };
    }
    any
}

/// Class tests read raw bits: no denormal is flushed.
fn class<'b>(args: &Args<'b>) -> Option<M<'b>> {
    let s1 = args.u(1)?;
    Some(match (args.ty(0), s1.as_const()) {
        (Ty::F64, Some(mask)) => class_of_double(args.f(0)?, mask),
        (Ty::F64, None) => class_of_double_by_mask(args.q(0)?, s1),
        (Ty::F16, _) => {
            let word = call(s1.builder(), LaneFn::ClassF16, 0, &[args.u(0)?, s1]);
            word.is_nonzero()
        }
        (_, Some(mask)) => class_of(args.u(0)?, mask),
        (_, None) => class_by_mask(args.u(0)?, s1),
    })
}
