//! Wave values: one host instruction or a few for each node.

use super::evaluate::Shape;
use crate::ir::{Fcmp, Float, Icmp, Width};
use crate::vir::{Builder, FloatCC, IntCC, Type, Value, types};

mod exponents;
mod halves;
mod loads;
mod shape;

/// Type of a wave value of a width.
pub(crate) fn wave_type(width: Width) -> Type {
    match width {
        Width::W1 => types::I8,
        Width::W32 => types::I32,
        Width::W64 => types::I64,
    }
}

/// Integer condition of an IR comparison.
pub(crate) fn int_cc(cond: Icmp) -> IntCC {
    match cond {
        Icmp::Eq => IntCC::Equal,
        Icmp::Ne => IntCC::NotEqual,
        Icmp::Ult => IntCC::UnsignedLessThan,
        Icmp::Ule => IntCC::UnsignedLessThanOrEqual,
        Icmp::Slt => IntCC::SignedLessThan,
        Icmp::Sle => IntCC::SignedLessThanOrEqual,
    }
}

/// Float condition of an IR comparison.
pub(crate) fn float_cc(cond: Fcmp) -> FloatCC {
    match cond {
        Fcmp::Eq => FloatCC::Equal,
        Fcmp::Lt => FloatCC::LessThan,
        Fcmp::Le => FloatCC::LessThanOrEqual,
        Fcmp::Ord => FloatCC::Ordered,
        Fcmp::Uno => FloatCC::Unordered,
        Fcmp::Une => FloatCC::NotEqual,
    }
}

/// Bit layout of a float format.
pub(crate) struct Layout {
    /// Exponent field.
    pub(crate) exponent: u64,
    /// Sign bit.
    pub(crate) sign: u64,
    /// Quiet bit of a NaN.
    pub(crate) quiet: u64,
    /// The default NaN.
    pub(crate) nan: u64,
    /// 2^k for k below half the exponent range, to test results before they become denormal.
    pub(crate) scale: u64,
    /// The smallest normal number times `scale`.
    pub(crate) scaled_min: u64,
}

/// Layout of a float format.
pub(crate) const fn layout(float: Float) -> Layout {
    match float {
        Float::F32 => Layout {
            exponent: 0x7f80_0000,
            sign: 0x8000_0000,
            quiet: 0x0040_0000,
            nan: 0x7fc0_0000,
            scale: (127 + 32) << 23,
            scaled_min: (1 + 32) << 23,
        },
        Float::F64 => Layout {
            exponent: 0x7ff0_0000_0000_0000,
            sign: 1 << 63,
            quiet: 1 << 51,
            nan: 0x7ff8_0000_0000_0000,
            scale: (1023 + 64) << 52,
            scaled_min: (1 + 64) << 52,
        },
    }
}

/// Type of a float.
pub(crate) fn float_type(float: Float) -> Type {
    match float {
        Float::F32 => types::F32,
        Float::F64 => types::F64,
    }
}

fn int_type(float: Float) -> Type {
    match float {
        Float::F32 => types::I32,
        Float::F64 => types::I64,
    }
}

/// Emits wave operations on scalars.
pub(crate) struct Scalars<'a, 'f> {
    /// Where instructions go.
    pub(crate) b: &'a mut Builder<'f>,
    /// NaN results are bit-exact.
    pub(crate) exact_nan: bool,
}

impl Scalars<'_, '_> {
    fn iconst(&mut self, ty: Type, value: u64) -> Value {
        let value = match ty {
            types::I8 => i64::from(value as u8),
            types::I32 => i64::from(value as u32),
            _ => value as i64,
        };
        self.b.iconst(ty, value)
    }

    /// The low word of a number.
    pub(super) fn low_word(&mut self, v: Value) -> Value {
        match self.b.func.ty(v) {
            types::I64 => self.b.ireduce(types::I32, v),
            _ => v,
        }
    }

    /// See [`crate::ir::Op::AlignBit`].
    pub(super) fn align_bit(&mut self, high: Value, low: Value, amount: Value) -> Value {
        let wide = joined(self.b, low, high);
        let amount = self.b.band_imm(amount, 31);
        let amount = self.b.uextend(types::I64, amount);
        let shifted = self.b.ushr(wide, amount);
        self.b.ireduce(types::I32, shifted)
    }

    /// The reciprocal root of an f32, in f64, which is never so close to a midpoint of two f32 that
    /// rounding it is wrong.
    fn rsq(&mut self, a: Value) -> Value {
        let x = self.flush(Float::F32, a);
        let x = self.as_float(Float::F32, x);
        let wide = self.b.fpromote(types::F64, x);
        let root = self.b.sqrt(wide);
        let one = self.b.f64const(1.0);
        let d = self.b.fdiv(one, root);
        let d = self.b.fdemote(types::F32, d);
        let d = self.as_bits(Float::F32, d);
        if !self.exact_nan {
            return d;
        }
        let zero = self.b.f32const(0.0);
        let below = self.b.fcmp(FloatCC::LessThan, x, zero);
        let nan = self.iconst(types::I32, layout(Float::F32).sign | layout(Float::F32).nan);
        self.b.select(below, nan, d)
    }

    fn high_of_product(&mut self, a: Value, b: Value) -> Value {
        let product = self.b.imul(a, b);
        let high = self.b.ushr_imm(product, 32);
        self.b.ireduce(types::I32, high)
    }

    /// `v_perm_b32` byte by byte.
    fn perm(&mut self, s0: Value, s1: Value, selectors: Value) -> Value {
        let wide = joined(self.b, s1, s0);
        let mut result = self.iconst(types::I32, 0);
        for i in 0..4 {
            let sel = self.b.ushr_imm(selectors, i * 8);
            let sel = self.b.band_imm(sel, 0xff);
            // 0..=7: that byte
            let low = self.b.band_imm(sel, 7);
            let amount = self.b.ishl_imm(low, 3);
            let amount64 = self.b.uextend(types::I64, amount);
            let plain = self.b.ushr(wide, amount64);
            // 8..=11: the sign of bytes 1, 3, 5, 7
            let pair = self.b.band_imm(sel, 3);
            let up = self.b.ishl_imm(pair, 4);
            let up64 = self.b.uextend(types::I64, up);
            let sign = self.b.ushr(wide, up64);
            let sign = self.b.ishl_imm(sign, 48);
            let sign = self.b.sshr_imm(sign, 63);
            let ones = self.iconst(types::I64, u64::MAX);
            let zero = self.iconst(types::I64, 0);
            let is_plain = self.b.icmp_imm(IntCC::UnsignedLessThan, sel, 8);
            let is_sign = self.b.icmp_imm(IntCC::UnsignedLessThan, sel, 12);
            let is_zero = self.b.icmp_imm(IntCC::Equal, sel, 12);
            let rest = self.b.select(is_zero, zero, ones);
            let high = self.b.select(is_sign, sign, rest);
            let byte = self.b.select(is_plain, plain, high);
            let byte = self.b.ireduce(types::I32, byte);
            let byte = self.b.band_imm(byte, 0xff);
            let placed = self.b.ishl_imm(byte, i * 8);
            result = self.b.bor(result, placed);
        }
        result
    }
}

/// Two words as one 64-bit value.
pub(super) fn joined(b: &mut Builder<'_>, low: Value, high: Value) -> Value {
    let low = b.uextend(types::I64, low);
    let high = b.uextend(types::I64, high);
    let high = b.ishl_imm(high, 32);
    b.bor(high, low)
}
