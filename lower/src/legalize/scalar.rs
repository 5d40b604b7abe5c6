//! Wave values: one host instruction or a few for each node.

use super::compound;
use super::division::Division;
use super::roots;
use crate::ir::{Fcmp, Float, Flush, Icmp, Op, Width};
use crate::vir::{Builder, FloatCC, IntCC, Op as VirOp, Type as Clif, Value, types};

mod division;
mod exponents;
mod halves;
mod loads;

/// CLIF type of a wave value of a width.
pub(crate) fn clif_type(width: Width) -> Clif {
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
    /// 2^k for k below half the exponent range, used to see results before they become denormal.
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

/// CLIF type of a float.
pub(crate) fn float_type(float: Float) -> Clif {
    match float {
        Float::F32 => types::F32,
        Float::F64 => types::F64,
    }
}

fn int_type(float: Float) -> Clif {
    match float {
        Float::F32 => types::I32,
        Float::F64 => types::I64,
    }
}

/// Emits wave operations on plain CLIF scalars.
pub(crate) struct Scalars<'a, 'f> {
    /// Where instructions go.
    pub(crate) b: &'a mut Builder<'f>,
    /// NaN results follow the guest's rule bit for bit.
    pub(crate) exact_nan: bool,
}

impl Scalars<'_, '_> {
    fn iconst(&mut self, ty: Clif, value: u64) -> Value {
        let value = match ty {
            types::I8 => i64::from(value as u8),
            types::I32 => i64::from(value as u32),
            _ => value as i64,
        };
        self.b.iconst(ty, value)
    }

    /// Bits as a float; what was one before goes back to that without a way through the integer registers.
    pub(crate) fn as_float(&mut self, float: Float, v: Value) -> Value {
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

    /// Denormals to zero, on bits.
    fn flush(&mut self, float: Float, v: Value) -> Value {
        let l = layout(float);
        let ty = int_type(float);
        let exponent = self.iconst(ty, l.exponent);
        let sign = self.iconst(ty, l.sign);
        let field = self.b.band(v, exponent);
        let zero = self.b.icmp_imm_u(IntCC::Equal, field, 0);
        let signed = self.b.band(v, sign);
        self.b.select(zero, signed, v)
    }

    fn sources(&mut self, float: Float, flush: Flush, args: &[Value]) -> Vec<Value> {
        args.iter()
            .map(|&a| if flush.src { self.flush(float, a) } else { a })
            .collect()
    }

    /// Gives a NaN result the guest's bits: the first NaN source quieted, else the default NaN.
    fn fix_nan(&mut self, float: Float, result: Value, sources: &[Value]) -> Value {
        if !self.exact_nan {
            return result;
        }
        let l = layout(float);
        let ty = int_type(float);
        let quiet = self.iconst(ty, l.quiet);
        let mut nan = self.iconst(ty, l.nan);
        for &s in sources.iter().rev() {
            let f = self.as_float(float, s);
            let is = self.b.fcmp(FloatCC::Unordered, f, f);
            let quieted = self.b.bor(s, quiet);
            nan = self.b.select(is, quieted, nan);
        }
        let f = self.as_float(float, result);
        let is = self.b.fcmp(FloatCC::Unordered, f, f);
        self.b.select(is, nan, result)
    }

    /// Flushes a result. Products and fused sums are seen before rounding into the denormal range,
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
        let Some(scaled) = scaled else {
            return self.flush(float, result);
        };
        // The scaled result only tells apart what rounds up to the least normal number; it is a NaN
        // where scaling overflows and another factor is 0.
        let result = self.flush(float, result);
        let l = layout(float);
        let ty = int_type(float);
        let bits = self.iconst(ty, l.scaled_min);
        let min = self.as_float(float, bits);
        let magnitude = self.b.fabs(scaled);
        let tiny = self.b.fcmp(FloatCC::LessThan, magnitude, min);
        let sign = self.iconst(ty, l.sign);
        let zero = self.b.band(result, sign);
        self.b.select(tiny, zero, result)
    }

    fn scale(&mut self, float: Float, v: Value) -> Value {
        let bits = self.iconst(int_type(float), layout(float).scale);
        let factor = self.as_float(float, bits);
        self.b.fmul(v, factor)
    }

    fn arithmetic(&mut self, op: Op, float: Float, flush: Flush, args: &[Value]) -> Value {
        let sources = self.sources(float, flush, args);
        let f: Vec<Value> = sources.iter().map(|&s| self.as_float(float, s)).collect();
        let mut scaled = None;
        let r = match op {
            Op::FAdd(..) => self.b.fadd(f[0], f[1]),
            Op::FSub(..) => self.b.fsub(f[0], f[1]),
            Op::FMul(..) => {
                if flush.dst {
                    let a = self.scale(float, f[0]);
                    scaled = Some(self.b.fmul(a, f[1]));
                }
                self.b.fmul(f[0], f[1])
            }
            Op::Fma(..) => {
                if flush.dst {
                    let a = self.scale(float, f[0]);
                    let c = self.scale(float, f[2]);
                    scaled = Some(self.b.fma(a, f[1], c));
                }
                self.b.fma(f[0], f[1], f[2])
            }
            Op::FDiv(..) => self.b.fdiv(f[0], f[1]),
            _ => self.b.sqrt(f[0]),
        };
        let bits = self.as_bits(float, r);
        let bits = self.fix_nan(float, bits, &sources);
        self.finish(float, flush, bits, scaled)
    }

    /// The reciprocal of the root of an f32, in f64, where it is never so close to the middle between two f32 that
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

    /// One operation; `width` is the width of the node's first argument (of the node for leaves).
    pub(crate) fn op(&mut self, op: Op, width: Width, args: &[Value]) -> Value {
        let ty = clif_type(width);
        let bits = if width == Width::W64 { 64 } else { 32 };
        let arg = |i: usize| args[i];
        match op {
            Op::Const(value) => self.iconst(ty, value),
            Op::Add => self.b.iadd(arg(0), arg(1)),
            Op::Sub => self.b.isub(arg(0), arg(1)),
            Op::Mul => self.b.imul(arg(0), arg(1)),
            Op::MulHiU if width == Width::W64 => self.b.umulhi(arg(0), arg(1)),
            Op::MulHiS if width == Width::W64 => self.b.smulhi(arg(0), arg(1)),
            Op::MulHiU => {
                let a = self.b.uextend(types::I64, arg(0));
                let c = self.b.uextend(types::I64, arg(1));
                self.high_of_product(a, c)
            }
            Op::MulHiS => {
                let a = self.b.sextend(types::I64, arg(0));
                let c = self.b.sextend(types::I64, arg(1));
                self.high_of_product(a, c)
            }
            Op::And => self.b.band(arg(0), arg(1)),
            Op::Or => self.b.bor(arg(0), arg(1)),
            Op::Xor => self.b.bxor(arg(0), arg(1)),
            Op::Not if width == Width::W1 => self.b.bxor_imm_u(arg(0), 1),
            Op::Not => self.b.bnot(arg(0)),
            // CLIF masks the amount to the width, as the guest does.
            Op::Shl => self.b.ishl(arg(0), arg(1)),
            Op::Lshr => self.b.ushr(arg(0), arg(1)),
            Op::Ashr => self.b.sshr(arg(0), arg(1)),
            Op::MinU => self.b.umin(arg(0), arg(1)),
            Op::MaxU => self.b.umax(arg(0), arg(1)),
            Op::MinS => self.b.smin(arg(0), arg(1)),
            Op::MaxS => self.b.smax(arg(0), arg(1)),
            Op::Popcnt => {
                let n = self.b.popcnt(arg(0));
                self.narrow(n, width)
            }
            Op::Clz => {
                let n = self.b.clz(arg(0));
                self.narrow(n, width)
            }
            Op::Ctz => {
                let n = self.b.ctz(arg(0));
                self.narrow(n, width)
            }
            Op::Brev => self.b.bitrev(arg(0)),
            Op::AlignBit => {
                let wide = joined(self.b, arg(1), arg(0));
                let amount = self.b.band_imm_u(arg(2), 31);
                let amount = self.b.uextend(types::I64, amount);
                let shifted = self.b.ushr(wide, amount);
                self.b.ireduce(types::I32, shifted)
            }
            Op::Perm => self.perm(arg(0), arg(1), arg(2)),
            Op::Halves(op) => self.halves(op, args),
            Op::ByteU(n) => {
                let shifted = self.b.ushr_imm_u(arg(0), i64::from(n) * 8);
                self.b.band_imm_u(shifted, 0xff)
            }
            Op::SextFrom(n) => {
                let up = i64::from(bits - u32::from(n));
                let shifted = self.b.ishl_imm_u(arg(0), up);
                self.b.sshr_imm_u(shifted, up)
            }
            Op::Icmp(cond) => self.b.icmp(int_cc(cond), arg(0), arg(1)),
            Op::Pair => joined(self.b, arg(0), arg(1)),
            Op::Lo => self.b.ireduce(types::I32, arg(0)),
            Op::Hi => {
                let shifted = self.b.ushr_imm_u(arg(0), 32);
                self.b.ireduce(types::I32, shifted)
            }
            Op::Zext => self.b.uextend(types::I64, arg(0)),
            Op::Sext => self.b.sextend(types::I64, arg(0)),
            Op::BoolToInt => self.b.uextend(types::I32, arg(0)),
            Op::Select => self.b.select(arg(0), arg(1), arg(2)),
            Op::FAdd(float, flush)
            | Op::FSub(float, flush)
            | Op::FMul(float, flush)
            | Op::Fma(float, flush)
            | Op::FDiv(float, flush)
            | Op::FSqrt(float, flush) => self.arithmetic(op, float, flush, args),
            Op::Fcmp(float, cond, flush) => {
                let s = self.sources(float, flush, args);
                let a = self.as_float(float, s[0]);
                let c = self.as_float(float, s[1]);
                self.b.fcmp(float_cc(cond), a, c)
            }
            Op::FFloor(float) | Op::FCeil(float) | Op::FTrunc(float) | Op::FNearest(float) => {
                let f = self.as_float(float, arg(0));
                let r = match op {
                    Op::FFloor(_) => self.b.floor(f),
                    Op::FCeil(_) => self.b.ceil(f),
                    Op::FTrunc(_) => self.b.trunc(f),
                    _ => self.b.nearest(f),
                };
                self.as_bits(float, r)
            }
            Op::FQuiet(float) => {
                let f = self.as_float(float, arg(0));
                let is = self.b.fcmp(FloatCC::Unordered, f, f);
                let quiet = self.iconst(ty, layout(float).quiet);
                let quieted = self.b.bor(arg(0), quiet);
                self.b.select(is, quieted, arg(0))
            }
            Op::FFlush(float) => self.flush(float, arg(0)),
            Op::CvtFromS(float) => {
                let f = self.b.fcvt_from_sint(float_type(float), arg(0));
                self.as_bits(float, f)
            }
            Op::CvtFromU(float) => {
                let f = self.b.fcvt_from_uint(float_type(float), arg(0));
                self.as_bits(float, f)
            }
            Op::CvtToS(float) => {
                let f = self.as_float(float, arg(0));
                self.b.fcvt_to_sint_sat(types::I32, f)
            }
            Op::CvtToU(float) => {
                let f = self.as_float(float, arg(0));
                self.b.fcvt_to_uint_sat(types::I32, f)
            }
            Op::FWiden => {
                let f = self.as_float(Float::F32, arg(0));
                let wide = self.b.fpromote(types::F64, f);
                self.as_bits(Float::F64, wide)
            }
            Op::FNarrow(flush) => {
                let f = self.as_float(Float::F64, arg(0));
                let narrow = self.b.fdemote(types::F32, f);
                let bits = self.as_bits(Float::F32, narrow);
                if flush.dst {
                    // Tiny before rounding to the denormal range.
                    let factor = self.b.f64const(4_294_967_296.0);
                    let scaled = self.b.fmul(f, factor);
                    let scaled = self.b.fdemote(types::F32, scaled);
                    self.finish(Float::F32, flush, bits, Some(scaled))
                } else {
                    bits
                }
            }
            Op::FRsq(Float::F32) => self.rsq(arg(0)),
            Op::FRsq(Float::F64) => roots::rsq_double(self, &args[0]),
            Op::Ldexp(Float::F32, flush) => self.ldexp(flush, arg(0), arg(1)),
            Op::FrexpMant(Float::F32) => self.frexp_mant(arg(0)),
            Op::FrexpExp(Float::F32) => self.frexp_exp(arg(0)),
            Op::Ldexp(Float::F64, flush) => compound::ldexp_double(self, flush, &args[0], &args[1]),
            Op::FrexpMant(Float::F64) => compound::frexp_mant_double(self, &args[0]),
            Op::FrexpExp(Float::F64) => compound::frexp_exp_double(self, &args[0]),
            Op::Quotient(float, flush) => {
                Division::new(self, float).quotient(flush, &args[0], &args[1])
            }
            Op::DivScale(float) => {
                let sources = [&args[0], &args[1], &args[2]];
                Division::new(self, float).scale(sources, &args[3])
            }
            Op::DivScaled(float) => Division::new(self, float).scaled(&args[0], &args[1], &args[2]),
            Op::DivFmas(float, flush) => {
                let sources = [&args[0], &args[1], &args[2]];
                Division::new(self, float).fmas(flush, sources, &args[3])
            }
            Op::DivFixup(float) => {
                let sources = [&args[0], &args[1], &args[2]];
                Division::new(self, float).fixup(sources, &args[3])
            }
            _ => unreachable!("bug: {op:?} is not a wave operation"),
        }
    }

    fn narrow(&mut self, v: Value, width: Width) -> Value {
        if width == Width::W64 {
            self.b.ireduce(types::I32, v)
        } else {
            v
        }
    }

    fn high_of_product(&mut self, a: Value, b: Value) -> Value {
        let product = self.b.imul(a, b);
        let high = self.b.ushr_imm_u(product, 32);
        self.b.ireduce(types::I32, high)
    }

    /// `v_perm_b32` byte by byte.
    fn perm(&mut self, s0: Value, s1: Value, selectors: Value) -> Value {
        let wide = joined(self.b, s1, s0);
        let mut result = self.iconst(types::I32, 0);
        for i in 0..4 {
            let sel = self.b.ushr_imm_u(selectors, i * 8);
            let sel = self.b.band_imm_u(sel, 0xff);
            // 0..=7: that byte
            let low = self.b.band_imm_u(sel, 7);
            let amount = self.b.ishl_imm_u(low, 3);
            let amount64 = self.b.uextend(types::I64, amount);
            let plain = self.b.ushr(wide, amount64);
            // 8..=11: the sign of bytes 1, 3, 5, 7
            let pair = self.b.band_imm_u(sel, 3);
            let up = self.b.ishl_imm_u(pair, 4);
            let up64 = self.b.uextend(types::I64, up);
            let sign = self.b.ushr(wide, up64);
            let sign = self.b.ishl_imm_u(sign, 48);
            let sign = self.b.sshr_imm_u(sign, 63);
            let ones = self.iconst(types::I64, u64::MAX);
            let zero = self.iconst(types::I64, 0);
            let is_plain = self.b.icmp_imm_u(IntCC::UnsignedLessThan, sel, 8);
            let is_sign = self.b.icmp_imm_u(IntCC::UnsignedLessThan, sel, 12);
            let is_zero = self.b.icmp_imm_u(IntCC::Equal, sel, 12);
            let rest = self.b.select(is_zero, zero, ones);
            let high = self.b.select(is_sign, sign, rest);
            let byte = self.b.select(is_plain, plain, high);
            let byte = self.b.ireduce(types::I32, byte);
            let byte = self.b.band_imm_u(byte, 0xff);
            let placed = self.b.ishl_imm_u(byte, i * 8);
            result = self.b.bor(result, placed);
        }
        result
    }
}

/// Two words as one 64-bit value (CLIF's own `iconcat` does not make an i64 on this host).
pub(super) fn joined(b: &mut Builder<'_>, low: Value, high: Value) -> Value {
    let low = b.uextend(types::I64, low);
    let high = b.uextend(types::I64, high);
    let high = b.ishl_imm_u(high, 32);
    b.bor(high, low)
}
