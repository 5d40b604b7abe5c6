//! Evaluates each operation of lane IR, once for all shapes: a wave value is one host value, a
//! group of lanes is a list of host vectors.
#![deny(clippy::wildcard_enum_match_arm)]

pub(super) use frame::{Frame, evaluate};

use super::division::Division;
use super::scalar::{Scalars, float_cc, layout};
use super::{compound, roots};
use crate::ir::{Float, Flush, Halves, Icmp, Op, Width};
use crate::vir::{Builder, FloatCC, Value};

mod frame;

/// Representation of values, and the primitives that depend on it.
pub(crate) trait Shape: Sized {
    /// A value.
    type Value: Clone + PartialEq;

    // ---- one host value

    /// Emits host operations.
    fn emit(&mut self, f: impl FnOnce(&mut Builder<'_>) -> Value) -> Value;

    /// Are NaN results bit-exact?
    fn exact_nan(&self) -> bool;

    /// A constant of a format's bits.
    fn constant(&mut self, float: Float, bits: u64) -> Value;

    /// Bits as floats.
    fn as_float(&mut self, float: Float, v: Value) -> Value;

    /// Floats as bits.
    fn as_bits(&mut self, float: Float, v: Value) -> Value;

    /// mask ? yes : no
    fn pick(&mut self, mask: Value, yes: Value, no: Value) -> Value;

    /// Signed zeros in place of denormals, on bits.
    fn flush(&mut self, float: Float, v: Value) -> Value;

    /// Flushes a result that was below the least normal number before rounding, which its scaled
    /// form shows.
    fn flush_by(&mut self, float: Float, result: Value, scaled: Value) -> Value;

    /// The same for a product in a format whose results are kept.
    fn finish_product(&mut self, float: Float, result: Value, scaled: Value) -> Value;

    // ---- one host value: operations without a common form; the last two for f32

    fn quiet(&mut self, float: Float, v: Value) -> Value;
    fn frexp_mantissa(&mut self, v: Value) -> Value;
    fn frexp_exponent(&mut self, v: Value) -> Value;

    // ---- whole values

    /// A constant.
    fn immediate(&mut self, width: Width, bits: u64) -> Self::Value;

    /// Applies an operation to each host value.
    fn each<const N: usize>(
        &mut self,
        args: [&Self::Value; N],
        f: impl FnMut(&mut Self, [Value; N]) -> Value,
    ) -> Self::Value;

    /// Applies a scalar operation to each lane, where there is no vector form.
    fn by_lane(
        &mut self,
        args: &[&Self::Value],
        f: impl FnMut(&mut Scalars<'_, '_>, &[Value]) -> Value,
    ) -> Self::Value;

    /// mask ? yes : no
    fn choose(
        &mut self,
        width: Width,
        mask: &Self::Value,
        yes: &Self::Value,
        no: &Self::Value,
    ) -> Self::Value;

    // ---- whole values: operations without a common form

    fn not(&mut self, width: Width, a: &Self::Value) -> Self::Value;
    fn mul_high(&mut self, width: Width, args: [&Self::Value; 2], signed: bool) -> Self::Value;
    fn count_ones(&mut self, width: Width, a: &Self::Value) -> Self::Value;
    fn count_zeros(&mut self, width: Width, leading: bool, a: &Self::Value) -> Self::Value;
    fn reverse_bits(&mut self, width: Width, a: &Self::Value) -> Self::Value;
    fn permute_bytes(&mut self, args: [&Self::Value; 3]) -> Self::Value;
    fn on_halves(&mut self, op: Halves, args: &[&Self::Value]) -> Self::Value;
    fn byte(&mut self, n: u8, a: &Self::Value) -> Self::Value;
    fn sign_extend(&mut self, width: Width, n: u8, a: &Self::Value) -> Self::Value;
    fn compare(&mut self, cond: Icmp, width: Width, args: [&Self::Value; 2]) -> Self::Value;
    fn pair(&mut self, args: [&Self::Value; 2]) -> Self::Value;
    fn word(&mut self, high: bool, a: &Self::Value) -> Self::Value;
    fn extend(&mut self, signed: bool, a: &Self::Value) -> Self::Value;
    fn bool_to_int(&mut self, a: &Self::Value) -> Self::Value;
    fn integer_to_float(&mut self, float: Float, signed: bool, a: &Self::Value) -> Self::Value;
    fn float_to_integer(&mut self, float: Float, signed: bool, a: &Self::Value) -> Self::Value;
    fn promote(&mut self, a: &Self::Value) -> Self::Value;
    fn narrow(&mut self, flush: Flush, a: &Self::Value) -> Self::Value;
    fn rsq_single(&mut self, a: &Self::Value) -> Self::Value;
    fn scale_by_power(
        &mut self,
        float: Float,
        flush: Flush,
        args: [&Self::Value; 2],
    ) -> Self::Value;

    // ---- whole values: building blocks

    /// Dwords shifted by a constant; right shifts are logical.
    fn shifted(&mut self, x: &Self::Value, by: u32, left: bool) -> Self::Value;

    /// The mask of a comparison in a format.
    fn mask_of(&mut self, float: Float, compared: Self::Value) -> Self::Value;

    /// An approximation of 1 / sqrt(x) for an f64, with a relative error below 2^-50, where x is
    /// neither special nor at the ends of the range.
    fn estimate_rsq(&mut self, x: &Self::Value) -> Self::Value;

    /// `usual` if the mask is false for all lanes, else `rare`, which is correct for all.
    fn unless_any(
        &mut self,
        width: Width,
        mask: &Self::Value,
        usual: Self::Value,
        rare: impl FnOnce(&mut Self) -> Self::Value,
    ) -> Self::Value;

    // ---- the same for all

    /// See [`operation`].
    fn op(&mut self, op: Op, width: Width, args: &[&Self::Value]) -> Self::Value {
        operation(self, op, width, args)
    }

    /// Which floats are NaNs?
    fn is_nan(&mut self, float: Float, v: Value) -> Value {
        let f = self.as_float(float, v);
        self.emit(|b| b.fcmp(FloatCC::Unordered, f, f))
    }

    /// Makes NaN results the guest's: the first NaN source quieted, otherwise the default NaN.
    fn fix_nan(&mut self, float: Float, result: Value, sources: &[Value]) -> Value {
        if !self.exact_nan() {
            return result;
        }
        let quiet = self.constant(float, layout(float).quiet);
        let mut nan = self.constant(float, layout(float).nan);
        for &source in sources.iter().rev() {
            let is = self.is_nan(float, source);
            let quieted = self.emit(|b| b.bor(source, quiet));
            nan = self.pick(is, quieted, nan);
        }
        let is = self.is_nan(float, result);
        self.pick(is, nan, result)
    }

    /// Flushes results. Products and fused sums are tested before rounding to the denormal range,
    /// by `scaled`, the same operation with the result scaled up.
    fn finish(
        &mut self,
        float: Float,
        flush: Flush,
        result: Value,
        scaled: Option<Value>,
    ) -> Value {
        if !flush.dst {
            return result;
        }
        // The scaled result only identifies results that round up to the least normal number. If
        // scaling overflows and another factor is 0, it is a NaN, and the addend may be a denormal.
        let result = self.flush(float, result);
        match scaled {
            Some(scaled) => self.flush_by(float, result, scaled),
            None => result,
        }
    }

    /// Floats scaled up, so that none is denormal.
    fn scale_up(&mut self, float: Float, v: Value) -> Value {
        let bits = self.constant(float, layout(float).scale);
        let factor = self.as_float(float, bits);
        self.emit(|b| b.fmul(v, factor))
    }

    /// n / d with the host's NaNs, which are those of `v_div_fixup`: the first NaN quieted, or the
    /// default one with its sign set. Sources are not flushed.
    fn divided(
        &mut self,
        float: Float,
        flush: Flush,
        n: &Self::Value,
        d: &Self::Value,
    ) -> Self::Value {
        self.each([n, d], |s, args| {
            let [n, d] = args.map(|v| s.as_float(float, v));
            let quotient = s.emit(|b| b.fdiv(n, d));
            let bits = s.as_bits(float, quotient);
            let scaled = flush.dst.then(|| {
                let n = s.scale_up(float, n);
                s.emit(|b| b.fdiv(n, d))
            });
            s.finish(float, flush, bits, scaled)
        })
    }
}

/// One operation; `width` is the width of the node's first argument (of the node for constants and selections).
pub(crate) fn operation<S: Shape>(s: &mut S, op: Op, width: Width, args: &[&S::Value]) -> S::Value {
    match op {
        Op::Const(bits) => s.immediate(width, bits),
        Op::Undef => s.immediate(width, 0),
        Op::Add => binary(s, args, |b, x, y| b.iadd(x, y)),
        Op::Sub => binary(s, args, |b, x, y| b.isub(x, y)),
        Op::Mul => binary(s, args, |b, x, y| b.imul(x, y)),
        Op::And => binary(s, args, |b, x, y| b.band(x, y)),
        Op::Or => binary(s, args, |b, x, y| b.bor(x, y)),
        Op::Xor => binary(s, args, |b, x, y| b.bxor(x, y)),
        Op::Not => s.not(width, args[0]),
        Op::MulHiU => s.mul_high(width, operands(args), false),
        Op::MulHiS => s.mul_high(width, operands(args), true),
        // The host masks the amount to the width, as the guest does.
        Op::Shl => s.by_lane(args, |s, x| s.b.ishl(x[0], x[1])),
        Op::Lshr => s.by_lane(args, |s, x| s.b.ushr(x[0], x[1])),
        Op::Ashr => s.by_lane(args, |s, x| s.b.sshr(x[0], x[1])),
        Op::MinU => of_dwords(s, width, args, |b, x, y| b.umin(x, y)),
        Op::MaxU => of_dwords(s, width, args, |b, x, y| b.umax(x, y)),
        Op::MinS => of_dwords(s, width, args, |b, x, y| b.smin(x, y)),
        Op::MaxS => of_dwords(s, width, args, |b, x, y| b.smax(x, y)),
        Op::Popcnt => s.count_ones(width, args[0]),
        Op::Clz => s.count_zeros(width, true, args[0]),
        Op::Ctz => s.count_zeros(width, false, args[0]),
        Op::Brev => s.reverse_bits(width, args[0]),
        Op::AlignBit => s.by_lane(args, |s, x| s.align_bit(x[0], x[1], x[2])),
        Op::Perm => s.permute_bytes(operands(args)),
        Op::Halves(op) => s.on_halves(op, args),
        Op::ByteU(n) => s.byte(n, args[0]),
        Op::SextFrom(n) => s.sign_extend(width, n, args[0]),
        Op::Icmp(cond) => s.compare(cond, width, operands(args)),
        Op::Pair => s.pair(operands(args)),
        Op::Lo => s.word(false, args[0]),
        Op::Hi => s.word(true, args[0]),
        Op::Zext => s.extend(false, args[0]),
        Op::Sext => s.extend(true, args[0]),
        Op::BoolToInt => s.bool_to_int(args[0]),
        Op::Select => s.choose(width, args[0], args[1], args[2]),
        Op::FAdd(f, flush) => arithmetic(s, f, flush, args, &[], |b, [x, y]| b.fadd(x, y)),
        Op::FSub(f, flush) => arithmetic(s, f, flush, args, &[], |b, [x, y]| b.fsub(x, y)),
        Op::FMul(f, flush) => arithmetic(s, f, flush, args, &[0], |b, [x, y]| b.fmul(x, y)),
        Op::Fma(f, flush) => arithmetic(s, f, flush, args, &[0, 2], |b, [x, y, z]| b.fma(x, y, z)),
        Op::FDiv(f, flush) => arithmetic(s, f, flush, args, &[], |b, [x, y]| b.fdiv(x, y)),
        Op::FSqrt(f, flush) => arithmetic(s, f, flush, args, &[], |b, [x]| b.sqrt(x)),
        Op::Fcmp(float, cond, flush) => {
            let compared = s.each(operands(args), |s, args| {
                let [x, y] = sources(s, float, flush, args).map(|v| s.as_float(float, v));
                s.emit(|b| b.fcmp(float_cc(cond), x, y))
            });
            s.mask_of(float, compared)
        }
        Op::FFloor(float) => rounded(s, float, args, |b, x| b.floor(x)),
        Op::FCeil(float) => rounded(s, float, args, |b, x| b.ceil(x)),
        Op::FTrunc(float) => rounded(s, float, args, |b, x| b.trunc(x)),
        Op::FNearest(float) => rounded(s, float, args, |b, x| b.nearest(x)),
        Op::FQuiet(float) => s.each(operands(args), |s, [x]| s.quiet(float, x)),
        Op::FFlush(float) => s.each(operands(args), |s, [x]| s.flush(float, x)),
        Op::CvtFromS(float) => s.integer_to_float(float, true, args[0]),
        Op::CvtFromU(float) => s.integer_to_float(float, false, args[0]),
        Op::CvtToS(float) => s.float_to_integer(float, true, args[0]),
        Op::CvtToU(float) => s.float_to_integer(float, false, args[0]),
        Op::FWiden => s.promote(args[0]),
        Op::FNarrow(flush) => s.narrow(flush, args[0]),
        Op::FRsq(Float::F32) => s.rsq_single(args[0]),
        Op::FRsq(Float::F64) => roots::rsq_double(s, args[0]),
        Op::Ldexp(float, flush) => s.scale_by_power(float, flush, operands(args)),
        Op::FrexpMant(Float::F32) => s.each(operands(args), |s, [x]| s.frexp_mantissa(x)),
        Op::FrexpMant(Float::F64) => compound::frexp_mant_double(s, args[0]),
        Op::FrexpExp(Float::F32) => s.each(operands(args), |s, [x]| s.frexp_exponent(x)),
        Op::FrexpExp(Float::F64) => compound::frexp_exp_double(s, args[0]),
        Op::Quotient(float, flush) => {
            let [n, d] = operands(args);
            Division::new(s, float).quotient(flush, n, d)
        }
        Op::DivScale(float) => {
            let [s0, d, n, plain] = operands(args);
            Division::new(s, float).scale([s0, d, n], plain)
        }
        Op::DivScaled(float) => {
            let [d, n, plain] = operands(args);
            Division::new(s, float).scaled(d, n, plain)
        }
        Op::DivFmas(float, flush) => {
            let [a, b, c, bit] = operands(args);
            Division::new(s, float).fmas(flush, [a, b, c], bit)
        }
        Op::DivFixup(float) => {
            let [quotient, d, n, plain] = operands(args);
            Division::new(s, float).fixup([quotient, d, n], plain)
        }
        Op::CodeAddress(_)
        | Op::Settled(_)
        | Op::LaneId
        | Op::ReadS(_)
        | Op::ReadV(_)
        | Op::MaskFromBits
        | Op::ExecMask
        | Op::Ballot
        | Op::LaneAt
        | Op::Call(..)
        | Op::Result(_)
        | Op::Load(..)
        | Op::Store(..)
        | Op::Atomic(..)
        | Op::ScalarLoad(..)
        | Op::Effect { .. } => unreachable!("bug: {op:?} is not computed from its arguments alone"),
    }
}

/// The operands, as an array.
fn operands<'a, T, const N: usize>(args: &[&'a T]) -> [&'a T; N] {
    args.try_into()
        .expect("bug: an operation without its operands")
}

/// One host operation.
fn binary<S: Shape>(
    s: &mut S,
    args: &[&S::Value],
    f: fn(&mut Builder<'_>, Value, Value) -> Value,
) -> S::Value {
    s.each(operands(args), |s, [x, y]| s.emit(|b| f(b, x, y)))
}

/// One host operation on vectors of dwords, lane by lane on quads.
fn of_dwords<S: Shape>(
    s: &mut S,
    width: Width,
    args: &[&S::Value],
    f: fn(&mut Builder<'_>, Value, Value) -> Value,
) -> S::Value {
    match width {
        Width::W64 => s.by_lane(args, |s, x| f(s.b, x[0], x[1])),
        Width::W1 | Width::W32 => binary(s, args, f),
    }
}

/// Rounds floats to integers.
fn rounded<S: Shape>(
    s: &mut S,
    float: Float,
    args: &[&S::Value],
    f: fn(&mut Builder<'_>, Value) -> Value,
) -> S::Value {
    s.each(operands(args), |s, [x]| {
        let x = s.as_float(float, x);
        let r = s.emit(|b| f(b, x));
        s.as_bits(float, r)
    })
}

/// Sources, flushed if required.
fn sources<S: Shape, const N: usize>(
    s: &mut S,
    float: Float,
    flush: Flush,
    args: [Value; N],
) -> [Value; N] {
    match flush.src {
        true => args.map(|v| s.flush(float, v)),
        false => args,
    }
}

/// Float arithmetic; scaling the operands in `scaled` scales the result.
fn arithmetic<S: Shape, const N: usize>(
    s: &mut S,
    float: Float,
    flush: Flush,
    args: &[&S::Value],
    scaled: &[usize],
    f: fn(&mut Builder<'_>, [Value; N]) -> Value,
) -> S::Value {
    s.each(operands(args), |s, args| {
        let sources = sources(s, float, flush, args);
        let x = sources.map(|v| s.as_float(float, v));
        let seen = (flush.dst && !scaled.is_empty()).then(|| {
            let mut x = x;
            for &i in scaled {
                x[i] = s.scale_up(float, x[i]);
            }
            s.emit(|b| f(b, x))
        });
        let r = s.emit(|b| f(b, x));
        let bits = s.as_bits(float, r);
        let bits = s.fix_nan(float, bits, &sources);
        match (seen, scaled) {
            (Some(seen), [_]) => s.finish_product(float, bits, seen),
            _ => s.finish(float, flush, bits, seen),
        }
    })
}
