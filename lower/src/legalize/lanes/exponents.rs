//! Exponents of f32 lanes, by AVX-512 instructions.

use super::Lanes;
use crate::ir::{Float, Flush, Op, Width};
use crate::legalize::evaluate::Shape;
use crate::vir::fix::{By, Of};
use crate::vir::patterns::{repeated, vector_constant};
use crate::vir::{Fixes, IntCC, Op as VirOp, Value};

/// Replacement of special f32 whose integers are exponents.
const LIKE_INTEGERS: Fixes = Fixes::NONE
    .with_nans(By::Zero)
    .with(Of::NegativeInfinity, By::Least)
    .with(Of::Infinity, By::Greatest);

impl Lanes<'_, '_> {
    /// `a * 2^n`, rounded once.
    pub(super) fn ldexp(&mut self, flush: Flush, a: &[Value], n: &[Value]) -> Vec<Value> {
        if self.masks {
            return self.map2(a, n, |l, a, n| l.scaled(flush, a, n));
        }
        // The product is exact in f64; beyond these exponents the result is constant.
        let a = match flush.src {
            true => self.map1(a, |l, a| l.flush(Float::F32, a)),
            false => a.to_vec(),
        };
        let powers = self.map1(n, |l, n| {
            let [least, most] = [-400i32, 400].map(|n| l.dwords(n as u32));
            let n = l.b.smax(n, least);
            let n = l.b.smin(n, most);
            let bias = l.dwords(1023);
            let biased = l.b.iadd(n, bias);
            l.shift(biased, 20, true)
        });
        let zeros = self.const_lanes(Width::W32, 0);
        let powers = self.pair([&zeros, &powers]);
        let wide = self.promote(&a);
        let times = Op::FMul(Float::F64, Flush::default());
        let product = self.op(times, Width::W64, &[&wide, &powers]);
        self.narrow(flush, &product)
    }

    /// `a * 2^n` of f64, where the host has an instruction for it.
    pub(super) fn scaled_doubles(
        &mut self,
        flush: Flush,
        a: &[Value],
        n: &Vec<Value>,
    ) -> Vec<Value> {
        let ty = self.vector(Float::F64);
        let a = match flush.src {
            true => self.map1(a, |l, a| l.flush(Float::F64, a)),
            false => a.to_vec(),
        };
        let n = self.integer_to_float(Float::F64, true, n);
        self.map2(&a, &n, |l, a, n| {
            let [a, n] = [a, n].map(|v| l.as_float(Float::F64, v));
            let d = l.b.op(VirOp::Scale, &[a, n], ty);
            let d = l.as_bits(Float::F64, d);
            if !flush.dst {
                return d;
            }
            // As for f32: before rounding, with a greater exponent.
            let more = l.quads(64f64.to_bits());
            let more = l.as_float(Float::F64, more);
            let n = l.b.fadd(n, more);
            let seen = l.b.op(VirOp::Scale, &[a, n], ty);
            l.finish(Float::F64, flush, d, Some(seen))
        })
    }

    fn scaled(&mut self, flush: Flush, a: Value, n: Value) -> Value {
        let ty = self.vector(Float::F32);
        let (a, n) = match self.quotient(a, n) {
            Some(quotient) => quotient,
            None => {
                let a = match flush.src {
                    true => self.flush(Float::F32, a),
                    false => a,
                };
                (self.as_float(Float::F32, a), self.exponent_to_scale(n))
            }
        };
        let d = self.b.op(VirOp::Scale, &[a, n], ty);
        let d = self.as_bits(Float::F32, d);
        if !flush.dst {
            return d;
        }
        // Before rounding, with the exponent increased by 32.
        let more = self.single(32f32.to_bits());
        let n = self.b.fadd(n, more);
        let seen = self.b.op(VirOp::Scale, &[a, n], ty);
        self.finish(Float::F32, flush, d, Some(seen))
    }

    /// i32 as f32.
    fn exponent_to_scale(&mut self, n: Value) -> Value {
        let ty = self.vector(Float::F32);
        match self.whole_float(n) {
            Some(float) => {
                let fixes = self.dwords(LIKE_INTEGERS.bits());
                self.b.op(VirOp::Fix, &[float, float, fixes], ty)
            }
            None => self.b.fcvt_from_sint(ty, n),
        }
    }

    /// Compilers divide mantissas (or take the reciprocal of one) and scale by the difference of
    /// the exponents. Returns the operands of that quotient, with the exponent as f32: zeros and
    /// infinities then have infinite exponents and mantissas of 1, which gives the same results,
    /// NaNs included.
    fn quotient(&mut self, a: Value, n: Value) -> Option<(Value, Value)> {
        let [from, exponent] = self.args_of(n, VirOp::Isub)?;
        let below = self.argument_of(exponent, VirOp::Exponent)?;
        let (above, reciprocal) = match self.argument_of(from, VirOp::Exponent) {
            Some(above) => {
                let [one, other] = self.args_of(a, VirOp::Fmul)?;
                let mantissa = self.argument_of(one, VirOp::Mantissa)?;
                (mantissa == above).then_some((Some(above), other))?
            }
            None => self.is_all(from, 0).then_some((None, a))?,
        };
        let [one, mantissa] = self.args_of(reciprocal, VirOp::Fdiv)?;
        let known = self.argument_of(mantissa, VirOp::Mantissa)? == below;
        if !known || !self.is_all(one, 1f32.to_bits()) {
            return None;
        }
        let ty = self.vector(Float::F32);
        let parts = |l: &mut Self, x: Value| {
            let x = l.as_float(Float::F32, x);
            [VirOp::PlainMantissa, VirOp::PlainExponent].map(|f| l.b.op(f, &[x], ty))
        };
        let [mantissa, exponent] = parts(self, below);
        let one = self.single(1f32.to_bits());
        let reciprocal = self.b.fdiv(one, mantissa);
        Some(match above {
            Some(above) => {
                let [mantissa, from] = parts(self, above);
                let quotient = self.b.fmul(mantissa, reciprocal);
                (quotient, self.b.fsub(from, exponent))
            }
            None => {
                let from = self.single((-1f32).to_bits());
                (reciprocal, self.b.fsub(from, exponent))
            }
        })
    }

    /// The arguments of the binary operation `of` that defines a value.
    fn args_of(&self, v: Value, of: VirOp) -> Option<[Value; 2]> {
        let (op, args) = self.made_by(v)?;
        (op == of).then_some(args)?.try_into().ok()
    }

    /// The argument of the unary operation `of` that defines a value.
    fn argument_of(&self, v: Value, of: VirOp) -> Option<Value> {
        let (op, args) = self.made_by(v)?;
        (op == of).then(|| self.uncast(args[0]))
    }

    /// Is it a constant that repeats this dword?
    fn is_all(&self, v: Value, word: u32) -> bool {
        let bytes = vector_constant(self.b.func, self.uncast(v));
        bytes.and_then(repeated) == Some(word.to_le_bytes())
    }

    /// The f32 from which i32 were converted, if those are integers.
    fn whole_float(&self, n: Value) -> Option<Value> {
        let (VirOp::FcvtToSintSat, &[float]) = self.made_by(n)? else {
            return None;
        };
        let whole = self.uncast(float);
        let (rounding, _) = self.made_by(whole)?;
        let rounds = matches!(
            rounding,
            VirOp::Nearest | VirOp::Trunc | VirOp::Floor | VirOp::Ceil
        );
        (self.b.func.ty(whole) == self.vector(Float::F32) && rounds).then_some(whole)
    }

    /// The mantissa; zeros and infinities unchanged, NaNs quieted.
    pub(super) fn frexp_mant(&mut self, a: Value) -> Value {
        if self.masks {
            let ty = self.vector(Float::F32);
            let x = self.as_float(Float::F32, a);
            let d = self.b.op(VirOp::Mantissa, &[x], ty);
            return self.as_bits(Float::F32, d);
        }
        let (normal, _, none) = self.normalised(a);
        let [fraction, sign, half] =
            [0x007f_ffff, 1 << 31, 0x3f00_0000].map(|bits| self.dwords(bits));
        let fraction = self.b.band(normal, fraction);
        let sign = self.b.band(a, sign);
        let mantissa = self.b.bor(sign, half);
        let mantissa = self.b.bor(mantissa, fraction);
        let d = self.blend(none, a, mantissa);
        self.quiet(Float::F32, d)
    }

    /// The exponent; 0 for zeros, infinities and NaNs.
    pub(super) fn frexp_exp(&mut self, a: Value) -> Value {
        if self.masks {
            let x = self.as_float(Float::F32, a);
            return self.b.op(VirOp::Exponent, &[x], self.dwords_type());
        }
        let (normal, denormal, none) = self.normalised(a);
        let [plain, more] = [126, 126 + 149].map(|bias| self.dwords(bias));
        let bias = self.blend(denormal, more, plain);
        let field = self.shift(normal, 23, false);
        let d = self.b.isub(field, bias);
        let zero = self.dwords(0);
        self.blend(none, zero, d)
    }

    /// The magnitude as bits, with denormals scaled by 2^149 (the integer that their bits are, as a
    /// float), whether it was denormal, and whether it has no mantissa (zeros, infinities, NaNs).
    fn normalised(&mut self, a: Value) -> (Value, Value, Value) {
        let [all, least, most, zero] =
            [0x7fff_ffff, 0x0080_0000, 0x7f7f_ffff, 0].map(|bits| self.dwords(bits));
        let magnitude = self.b.band(a, all);
        let denormal = self.b.icmp(IntCC::SignedLessThan, magnitude, least);
        let ty = self.vector(Float::F32);
        let float = self.b.fcvt_from_sint(ty, magnitude);
        let float = self.as_bits(Float::F32, float);
        let normal = self.blend(denormal, float, magnitude);
        let none = self.b.icmp(IntCC::Equal, magnitude, zero);
        let large = self.b.icmp(IntCC::SignedLessThan, most, magnitude);
        (normal, denormal, self.b.bor(none, large))
    }
}
