//! Operations on wave values: a value is one host scalar.

use super::{Scalars, float_type, int_cc, int_type, joined, layout, wave_type};
use crate::ir::{Float, Flush, Halves, Icmp, Width};
use crate::legalize::compound;
use crate::legalize::evaluate::Shape;
use crate::vir::{Builder, FloatCC, IntCC, Op as VirOp, Value, types};

impl Shape for Scalars<'_, '_> {
    type Value = Value;

    fn emit(&mut self, f: impl FnOnce(&mut Builder<'_>) -> Value) -> Value {
        f(self.b)
    }

    fn exact_nan(&self) -> bool {
        self.exact_nan
    }

    fn constant(&mut self, float: Float, bits: u64) -> Value {
        self.iconst(int_type(float), bits)
    }

    /// Reuses the float that bits were cast from, without a move through the integer registers.
    fn as_float(&mut self, float: Float, v: Value) -> Value {
        if let Some((VirOp::Bitcast, &[from])) = self.b.func.made_by(v)
            && self.b.func.ty(from) == float_type(float)
        {
            return from;
        }
        self.b.bitcast(float_type(float), v)
    }

    fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.b.bitcast(int_type(float), v)
    }

    fn pick(&mut self, mask: Value, yes: Value, no: Value) -> Value {
        self.b.select(mask, yes, no)
    }

    fn flush(&mut self, float: Float, v: Value) -> Value {
        let exponent = self.constant(float, layout(float).exponent);
        let sign = self.constant(float, layout(float).sign);
        let field = self.b.band(v, exponent);
        let zero = self.b.icmp_imm(IntCC::Equal, field, 0);
        let signed = self.b.band(v, sign);
        self.b.select(zero, signed, v)
    }

    fn flush_by(&mut self, float: Float, result: Value, scaled: Value) -> Value {
        let bits = self.constant(float, layout(float).scaled_min);
        let min = self.as_float(float, bits);
        let magnitude = self.b.fabs(scaled);
        let tiny = self.b.fcmp(FloatCC::LessThan, magnitude, min);
        let sign = self.constant(float, layout(float).sign);
        let zero = self.b.band(result, sign);
        self.b.select(tiny, zero, result)
    }

    fn finish_product(&mut self, float: Float, result: Value, scaled: Value) -> Value {
        let result = self.flush(float, result);
        self.flush_by(float, result, scaled)
    }

    fn quiet(&mut self, float: Float, v: Value) -> Value {
        let is = self.is_nan(float, v);
        let quiet = self.constant(float, layout(float).quiet);
        let quieted = self.b.bor(v, quiet);
        self.b.select(is, quieted, v)
    }

    fn frexp_mantissa(&mut self, v: Value) -> Value {
        self.frexp_mant(v)
    }

    fn frexp_exponent(&mut self, v: Value) -> Value {
        self.frexp_exp(v)
    }

    fn immediate(&mut self, width: Width, bits: u64) -> Value {
        self.iconst(wave_type(width), bits)
    }

    fn each<const N: usize>(
        &mut self,
        args: [&Value; N],
        mut f: impl FnMut(&mut Self, [Value; N]) -> Value,
    ) -> Value {
        f(self, args.map(|&arg| arg))
    }

    fn by_lane(
        &mut self,
        args: &[&Value],
        mut f: impl FnMut(&mut Scalars<'_, '_>, &[Value]) -> Value,
    ) -> Value {
        let args: Vec<Value> = args.iter().map(|&&arg| arg).collect();
        f(self, &args)
    }

    fn choose(&mut self, _: Width, mask: &Value, yes: &Value, no: &Value) -> Value {
        self.b.select(*mask, *yes, *no)
    }

    fn not(&mut self, width: Width, a: &Value) -> Value {
        match width {
            Width::W1 => self.b.bxor_imm(*a, 1),
            _ => self.b.bnot(*a),
        }
    }

    fn mul_high(&mut self, width: Width, [a, b]: [&Value; 2], signed: bool) -> Value {
        match (width, signed) {
            (Width::W64, false) => self.b.umulhi(*a, *b),
            (Width::W64, true) => self.b.smulhi(*a, *b),
            _ => {
                let [a, b] = [a, b].map(|v| self.extend(signed, v));
                self.high_of_product(a, b)
            }
        }
    }

    fn count_ones(&mut self, _: Width, a: &Value) -> Value {
        let n = self.b.popcnt(*a);
        self.low_word(n)
    }

    fn count_zeros(&mut self, _: Width, leading: bool, a: &Value) -> Value {
        let n = match leading {
            true => self.b.clz(*a),
            false => self.b.ctz(*a),
        };
        self.low_word(n)
    }

    fn reverse_bits(&mut self, _: Width, a: &Value) -> Value {
        self.b.bitrev(*a)
    }

    fn permute_bytes(&mut self, [s0, s1, selectors]: [&Value; 3]) -> Value {
        self.perm(*s0, *s1, *selectors)
    }

    fn on_halves(&mut self, op: Halves, args: &[&Value]) -> Value {
        self.halves(op, args)
    }

    fn byte(&mut self, n: u8, a: &Value) -> Value {
        let shifted = self.b.ushr_imm(*a, i64::from(n) * 8);
        self.b.band_imm(shifted, 0xff)
    }

    fn sign_extend(&mut self, width: Width, n: u8, a: &Value) -> Value {
        let bits = if width == Width::W64 { 64 } else { 32 };
        let up = bits - i64::from(n);
        let shifted = self.b.ishl_imm(*a, up);
        self.b.sshr_imm(shifted, up)
    }

    fn compare(&mut self, cond: Icmp, _: Width, [a, b]: [&Value; 2]) -> Value {
        self.b.icmp(int_cc(cond), *a, *b)
    }

    fn pair(&mut self, [low, high]: [&Value; 2]) -> Value {
        joined(self.b, *low, *high)
    }

    fn word(&mut self, high: bool, a: &Value) -> Value {
        let word = match high {
            true => self.b.ushr_imm(*a, 32),
            false => *a,
        };
        self.b.ireduce(types::I32, word)
    }

    fn extend(&mut self, signed: bool, a: &Value) -> Value {
        match signed {
            true => self.b.sextend(types::I64, *a),
            false => self.b.uextend(types::I64, *a),
        }
    }

    fn bool_to_int(&mut self, a: &Value) -> Value {
        self.b.uextend(types::I32, *a)
    }

    fn shifted(&mut self, x: &Value, by: u32, left: bool) -> Value {
        match left {
            true => self.b.ishl_imm(*x, i64::from(by)),
            false => self.b.ushr_imm(*x, i64::from(by)),
        }
    }

    fn mask_of(&mut self, _: Float, compared: Value) -> Value {
        compared
    }

    fn integer_to_float(&mut self, float: Float, signed: bool, a: &Value) -> Value {
        let f = match signed {
            true => self.b.fcvt_from_sint(float_type(float), *a),
            false => self.b.fcvt_from_uint(float_type(float), *a),
        };
        self.as_bits(float, f)
    }

    fn float_to_integer(&mut self, float: Float, signed: bool, a: &Value) -> Value {
        let f = self.as_float(float, *a);
        match signed {
            true => self.b.fcvt_to_sint_sat(types::I32, f),
            false => self.b.fcvt_to_uint_sat(types::I32, f),
        }
    }

    fn promote(&mut self, a: &Value) -> Value {
        let f = self.as_float(Float::F32, *a);
        let wide = self.b.fpromote(types::F64, f);
        self.as_bits(Float::F64, wide)
    }

    fn narrow(&mut self, flush: Flush, a: &Value) -> Value {
        let f = self.as_float(Float::F64, *a);
        let narrow = self.b.fdemote(types::F32, f);
        let bits = self.as_bits(Float::F32, narrow);
        if !flush.dst {
            return bits;
        }
        // Tiny before rounding to the denormal range.
        let factor = self.b.f64const(4_294_967_296.0);
        let scaled = self.b.fmul(f, factor);
        let scaled = self.b.fdemote(types::F32, scaled);
        self.finish(Float::F32, flush, bits, Some(scaled))
    }

    fn rsq_single(&mut self, a: &Value) -> Value {
        self.rsq(*a)
    }

    fn estimate_rsq(&mut self, x: &Value) -> Value {
        let x = self.as_float(Float::F64, *x);
        let root = self.b.sqrt(x);
        let one = self.b.f64const(1.0);
        let y = self.b.fdiv(one, root);
        self.as_bits(Float::F64, y)
    }

    fn scale_by_power(&mut self, float: Float, flush: Flush, [a, n]: [&Value; 2]) -> Value {
        match float {
            Float::F32 => self.ldexp(flush, *a, *n),
            Float::F64 => compound::ldexp_double(self, flush, a, n),
        }
    }

    /// Computes both: wave values are few.
    fn unless_any(
        &mut self,
        _: Width,
        mask: &Value,
        usual: Value,
        rare: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        let rare = rare(self);
        self.b.select(*mask, rare, usual)
    }
}
