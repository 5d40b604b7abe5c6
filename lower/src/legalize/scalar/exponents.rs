//! Exponents of f32 wave values, computed in f64, in which every f32 but zero is a normal number.

use super::Scalars;
use crate::ir::{Float, Flush, Op, Width};
use crate::legalize::evaluate::Shape;
use crate::vir::{IntCC, Value, types};

/// Exponent field of an f64.
const FIELD: u64 = 0x7ff << 52;
/// The exponent field of numbers from 1/2 to 1.
const HALF: u64 = 1022;

impl Scalars<'_, '_> {
    /// `a * 2^n`, rounded once: the product is exact in f64.
    pub(super) fn ldexp(&mut self, flush: Flush, a: Value, n: Value) -> Value {
        let a = if flush.src {
            self.flush(Float::F32, a)
        } else {
            a
        };
        // Beyond this the result is constant.
        let [least, most] = [-400i32, 400].map(|n| self.iconst(types::I32, n as u32 as u64));
        let n = self.b.smax(n, least);
        let n = self.b.smin(n, most);
        let n = self.b.sextend(types::I64, n);
        let biased = self.b.iadd_imm(n, 1023);
        let power = self.b.ishl_imm(biased, 52);
        let wide = self.promote(&a);
        let keep = Flush::default();
        let product = self.op(Op::FMul(Float::F64, keep), Width::W64, &[&wide, &power]);
        self.narrow(flush, &product)
    }

    /// An f32 as f64 bits, its exponent field, and whether it is a zero, infinity or NaN.
    fn exponent(&mut self, a: Value) -> (Value, Value, Value) {
        let wide = self.promote(&a);
        let magnitude = self.b.ishl_imm(wide, 1);
        let field = self.b.ushr_imm(magnitude, 53);
        // 0 or 2047.
        let next = self.b.iadd_imm(field, 1);
        let low = self.b.band_imm(next, 0x7ff);
        let none = self.b.icmp_imm(IntCC::UnsignedLessThan, low, 2);
        (wide, field, none)
    }

    /// The mantissa; zeros and infinities unchanged, NaNs quieted.
    pub(super) fn frexp_mant(&mut self, a: Value) -> Value {
        let (wide, _, none) = self.exponent(a);
        let rest = self.iconst(types::I64, !FIELD);
        let fraction = self.b.band(wide, rest);
        let half = self.iconst(types::I64, HALF << 52);
        let mantissa = self.b.bor(fraction, half);
        let d = self.b.select(none, wide, mantissa);
        self.narrow(Flush::default(), &d)
    }

    /// The exponent; 0 for zeros, infinities and NaNs.
    pub(super) fn frexp_exp(&mut self, a: Value) -> Value {
        let (_, field, none) = self.exponent(a);
        let field = self.b.ireduce(types::I32, field);
        let exponent = self.b.iadd_imm(field, -(HALF as i64));
        let zero = self.iconst(types::I32, 0);
        self.b.select(none, zero, exponent)
    }
}
