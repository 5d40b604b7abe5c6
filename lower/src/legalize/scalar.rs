//! Wave values: one host instruction or a few for each node.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{
    DataFlowGraph, InstBuilder, InstructionData, Opcode, Type as Clif, Value, ValueDef, types,
};
use cranelift_frontend::FunctionBuilder;

use super::compound;
use super::division::Division;
use super::roots;
use crate::ir::{Fcmp, Float, Flush, Icmp, Op, Width};

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
    pub(crate) b: &'a mut FunctionBuilder<'f>,
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
        self.b.ins().iconst(ty, value)
    }

    /// Bits as a float; what was one before goes back to that without a way through the integer registers.
    pub(crate) fn as_float(&mut self, float: Float, v: Value) -> Value {
        if let ValueDef::Result(inst, _) = self.b.func.dfg.value_def(v)
            && self.b.func.dfg.insts[inst].opcode() == Opcode::Bitcast
        {
            let from = self.b.func.dfg.inst_args(inst)[0];
            if self.b.func.dfg.value_type(from) == float_type(float) {
                return from;
            }
        }
        self.b.ins().bitcast(float_type(float), super::flags(), v)
    }

    fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.b.ins().bitcast(int_type(float), super::flags(), v)
    }

    /// Denormals to zero, on bits.
    fn flush(&mut self, float: Float, v: Value) -> Value {
        let l = layout(float);
        let ty = int_type(float);
        let exponent = self.iconst(ty, l.exponent);
        let sign = self.iconst(ty, l.sign);
        let field = self.b.ins().band(v, exponent);
        let zero = self.b.ins().icmp_imm_u(IntCC::Equal, field, 0);
        let signed = self.b.ins().band(v, sign);
        self.b.ins().select(zero, signed, v)
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
            let is = self.b.ins().fcmp(FloatCC::Unordered, f, f);
            let quieted = self.b.ins().bor(s, quiet);
            nan = self.b.ins().select(is, quieted, nan);
        }
        let f = self.as_float(float, result);
        let is = self.b.ins().fcmp(FloatCC::Unordered, f, f);
        self.b.ins().select(is, nan, result)
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
        let magnitude = self.b.ins().fabs(scaled);
        let tiny = self.b.ins().fcmp(FloatCC::LessThan, magnitude, min);
        let sign = self.iconst(ty, l.sign);
        let zero = self.b.ins().band(result, sign);
        self.b.ins().select(tiny, zero, result)
    }

    fn scale(&mut self, float: Float, v: Value) -> Value {
        let bits = self.iconst(int_type(float), layout(float).scale);
        let factor = self.as_float(float, bits);
        self.b.ins().fmul(v, factor)
    }

    fn arithmetic(&mut self, op: Op, float: Float, flush: Flush, args: &[Value]) -> Value {
        let sources = self.sources(float, flush, args);
        let f: Vec<Value> = sources.iter().map(|&s| self.as_float(float, s)).collect();
        let mut scaled = None;
        let r = match op {
            Op::FAdd(..) => self.b.ins().fadd(f[0], f[1]),
            Op::FSub(..) => self.b.ins().fsub(f[0], f[1]),
            Op::FMul(..) => {
                if flush.dst {
                    let a = self.scale(float, f[0]);
                    scaled = Some(self.b.ins().fmul(a, f[1]));
                }
                self.b.ins().fmul(f[0], f[1])
            }
            Op::Fma(..) => {
                if flush.dst {
                    let a = self.scale(float, f[0]);
                    let c = self.scale(float, f[2]);
                    scaled = Some(self.b.ins().fma(a, f[1], c));
                }
                self.b.ins().fma(f[0], f[1], f[2])
            }
            Op::FDiv(..) => self.b.ins().fdiv(f[0], f[1]),
            _ => self.b.ins().sqrt(f[0]),
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
        let wide = self.b.ins().fpromote(types::F64, x);
        let root = self.b.ins().sqrt(wide);
        let one = self.b.ins().f64const(1.0);
        let d = self.b.ins().fdiv(one, root);
        let d = self.b.ins().fdemote(types::F32, d);
        let d = self.as_bits(Float::F32, d);
        if !self.exact_nan {
            return d;
        }
        let zero = self.b.ins().f32const(0.0);
        let below = self.b.ins().fcmp(FloatCC::LessThan, x, zero);
        let nan = self.iconst(types::I32, layout(Float::F32).sign | layout(Float::F32).nan);
        self.b.ins().select(below, nan, d)
    }

    /// One operation; `width` is the width of the node's first argument (of the node for leaves).
    pub(crate) fn op(&mut self, op: Op, width: Width, args: &[Value]) -> Value {
        let ty = clif_type(width);
        let bits = if width == Width::W64 { 64 } else { 32 };
        let arg = |i: usize| args[i];
        match op {
            Op::Const(value) => self.iconst(ty, value),
            Op::Add => self.b.ins().iadd(arg(0), arg(1)),
            Op::Sub => self.b.ins().isub(arg(0), arg(1)),
            Op::Mul => self.b.ins().imul(arg(0), arg(1)),
            Op::MulHiU if width == Width::W64 => self.b.ins().umulhi(arg(0), arg(1)),
            Op::MulHiS if width == Width::W64 => self.b.ins().smulhi(arg(0), arg(1)),
            Op::MulHiU => {
                let a = self.b.ins().uextend(types::I64, arg(0));
                let c = self.b.ins().uextend(types::I64, arg(1));
                self.high_of_product(a, c)
            }
            Op::MulHiS => {
                let a = self.b.ins().sextend(types::I64, arg(0));
                let c = self.b.ins().sextend(types::I64, arg(1));
                self.high_of_product(a, c)
            }
            Op::And => self.b.ins().band(arg(0), arg(1)),
            Op::Or => self.b.ins().bor(arg(0), arg(1)),
            Op::Xor => self.b.ins().bxor(arg(0), arg(1)),
            Op::Not if width == Width::W1 => self.b.ins().bxor_imm_u(arg(0), 1),
            Op::Not => self.b.ins().bnot(arg(0)),
            // CLIF masks the amount to the width, as the guest does.
            Op::Shl => self.b.ins().ishl(arg(0), arg(1)),
            Op::Lshr => self.b.ins().ushr(arg(0), arg(1)),
            Op::Ashr => self.b.ins().sshr(arg(0), arg(1)),
            Op::MinU => self.b.ins().umin(arg(0), arg(1)),
            Op::MaxU => self.b.ins().umax(arg(0), arg(1)),
            Op::MinS => self.b.ins().smin(arg(0), arg(1)),
            Op::MaxS => self.b.ins().smax(arg(0), arg(1)),
            Op::Popcnt => {
                let n = self.b.ins().popcnt(arg(0));
                self.narrow(n, width)
            }
            Op::Clz => {
                let n = self.b.ins().clz(arg(0));
                self.narrow(n, width)
            }
            Op::Ctz => {
                let n = self.b.ins().ctz(arg(0));
                self.narrow(n, width)
            }
            Op::Brev => self.b.ins().bitrev(arg(0)),
            Op::AlignBit => {
                let wide = joined(self.b, arg(1), arg(0));
                let amount = self.b.ins().band_imm_u(arg(2), 31);
                let amount = self.b.ins().uextend(types::I64, amount);
                let shifted = self.b.ins().ushr(wide, amount);
                self.b.ins().ireduce(types::I32, shifted)
            }
            Op::Perm => self.perm(arg(0), arg(1), arg(2)),
            Op::Halves(op) => self.halves(op, args),
            Op::ByteU(n) => {
                let shifted = self.b.ins().ushr_imm_u(arg(0), i64::from(n) * 8);
                self.b.ins().band_imm_u(shifted, 0xff)
            }
            Op::SextFrom(n) => {
                let up = i64::from(bits - u32::from(n));
                let shifted = self.b.ins().ishl_imm_u(arg(0), up);
                self.b.ins().sshr_imm_u(shifted, up)
            }
            Op::Icmp(cond) => self.b.ins().icmp(int_cc(cond), arg(0), arg(1)),
            Op::Pair => joined(self.b, arg(0), arg(1)),
            Op::Lo => self.b.ins().ireduce(types::I32, arg(0)),
            Op::Hi => {
                let shifted = self.b.ins().ushr_imm_u(arg(0), 32);
                self.b.ins().ireduce(types::I32, shifted)
            }
            Op::Zext => self.b.ins().uextend(types::I64, arg(0)),
            Op::Sext => self.b.ins().sextend(types::I64, arg(0)),
            Op::BoolToInt => self.b.ins().uextend(types::I32, arg(0)),
            Op::Select => self.b.ins().select(arg(0), arg(1), arg(2)),
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
                self.b.ins().fcmp(float_cc(cond), a, c)
            }
            Op::FFloor(float) | Op::FCeil(float) | Op::FTrunc(float) | Op::FNearest(float) => {
                let f = self.as_float(float, arg(0));
                let r = match op {
                    Op::FFloor(_) => self.b.ins().floor(f),
                    Op::FCeil(_) => self.b.ins().ceil(f),
                    Op::FTrunc(_) => self.b.ins().trunc(f),
                    _ => self.b.ins().nearest(f),
                };
                self.as_bits(float, r)
            }
            Op::FQuiet(float) => {
                let f = self.as_float(float, arg(0));
                let is = self.b.ins().fcmp(FloatCC::Unordered, f, f);
                let quiet = self.iconst(ty, layout(float).quiet);
                let quieted = self.b.ins().bor(arg(0), quiet);
                self.b.ins().select(is, quieted, arg(0))
            }
            Op::FFlush(float) => self.flush(float, arg(0)),
            Op::CvtFromS(float) => {
                let f = self.b.ins().fcvt_from_sint(float_type(float), arg(0));
                self.as_bits(float, f)
            }
            Op::CvtFromU(float) => {
                let f = self.b.ins().fcvt_from_uint(float_type(float), arg(0));
                self.as_bits(float, f)
            }
            Op::CvtToS(float) => {
                let f = self.as_float(float, arg(0));
                self.b.ins().fcvt_to_sint_sat(types::I32, f)
            }
            Op::CvtToU(float) => {
                let f = self.as_float(float, arg(0));
                self.b.ins().fcvt_to_uint_sat(types::I32, f)
            }
            Op::FWiden => {
                let f = self.as_float(Float::F32, arg(0));
                let wide = self.b.ins().fpromote(types::F64, f);
                self.as_bits(Float::F64, wide)
            }
            Op::FNarrow(flush) => {
                let f = self.as_float(Float::F64, arg(0));
                let narrow = self.b.ins().fdemote(types::F32, f);
                let bits = self.as_bits(Float::F32, narrow);
                if flush.dst {
                    // Tiny before rounding to the denormal range.
                    let factor = self.b.ins().f64const(4_294_967_296.0);
                    let scaled = self.b.ins().fmul(f, factor);
                    let scaled = self.b.ins().fdemote(types::F32, scaled);
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
            self.b.ins().ireduce(types::I32, v)
        } else {
            v
        }
    }

    fn high_of_product(&mut self, a: Value, b: Value) -> Value {
        let product = self.b.ins().imul(a, b);
        let high = self.b.ins().ushr_imm_u(product, 32);
        self.b.ins().ireduce(types::I32, high)
    }

    /// `v_perm_b32` byte by byte.
    fn perm(&mut self, s0: Value, s1: Value, selectors: Value) -> Value {
        let wide = joined(self.b, s1, s0);
        let mut result = self.iconst(types::I32, 0);
        for i in 0..4 {
            let sel = self.b.ins().ushr_imm_u(selectors, i * 8);
            let sel = self.b.ins().band_imm_u(sel, 0xff);
            // 0..=7: that byte
            let low = self.b.ins().band_imm_u(sel, 7);
            let amount = self.b.ins().ishl_imm_u(low, 3);
            let amount64 = self.b.ins().uextend(types::I64, amount);
            let plain = self.b.ins().ushr(wide, amount64);
            // 8..=11: the sign of bytes 1, 3, 5, 7
            let pair = self.b.ins().band_imm_u(sel, 3);
            let up = self.b.ins().ishl_imm_u(pair, 4);
            let up64 = self.b.ins().uextend(types::I64, up);
            let sign = self.b.ins().ushr(wide, up64);
            let sign = self.b.ins().ishl_imm_u(sign, 48);
            let sign = self.b.ins().sshr_imm_u(sign, 63);
            let ones = self.iconst(types::I64, u64::MAX);
            let zero = self.iconst(types::I64, 0);
            let is_plain = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, sel, 8);
            let is_sign = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, sel, 12);
            let is_zero = self.b.ins().icmp_imm_u(IntCC::Equal, sel, 12);
            let rest = self.b.ins().select(is_zero, zero, ones);
            let high = self.b.ins().select(is_sign, sign, rest);
            let byte = self.b.ins().select(is_plain, plain, high);
            let byte = self.b.ins().ireduce(types::I32, byte);
            let byte = self.b.ins().band_imm_u(byte, 0xff);
            let placed = self.b.ins().ishl_imm_u(byte, i * 8);
            result = self.b.ins().bor(result, placed);
        }
        result
    }
}

/// Two words as one 64-bit value (CLIF's own `iconcat` does not make an i64 on this host).
pub(super) fn joined(b: &mut FunctionBuilder<'_>, low: Value, high: Value) -> Value {
    let low = b.ins().uextend(types::I64, low);
    let high = b.ins().uextend(types::I64, high);
    let high = b.ins().ishl_imm_u(high, 32);
    b.ins().bor(high, low)
}

/// The operands of what gives a value, if that is such an operation of one, which is given twice, or two.
pub(crate) fn operands(dfg: &DataFlowGraph, v: Value, of: Opcode) -> Option<[Value; 2]> {
    let ValueDef::Result(inst, 0) = dfg.value_def(v) else {
        return None;
    };
    if dfg.insts[inst].opcode() != of {
        return None;
    }
    let args = match *dfg.inst_args(inst) {
        [a] => [a, a],
        [a, b] => [a, b],
        _ => return None,
    };
    Some(args.map(|v| dfg.resolve_aliases(v)))
}

/// The value of 64 bits of which these are the halves, if they are one's.
pub(crate) fn halves_of(dfg: &DataFlowGraph, low: Value, high: Value) -> Option<Value> {
    let word_of = |v: Value| operands(dfg, dfg.resolve_aliases(v), Opcode::Ireduce);
    let [[whole, _], [shifted, _]] = [word_of(low)?, word_of(high)?];
    let [from, by] = operands(dfg, shifted, Opcode::Ushr)?;
    let words = dfg.value_type(low) == types::I32 && dfg.value_type(high) == types::I32;
    (words && from == whole && is_constant(dfg, by, 32)).then_some(whole)
}

/// The integer that a value is, if it is a constant.
pub(crate) fn constant(dfg: &DataFlowGraph, v: Value) -> Option<i64> {
    let ValueDef::Result(inst, _) = dfg.value_def(v) else {
        return None;
    };
    match dfg.insts[inst] {
        InstructionData::UnaryImm {
            opcode: Opcode::Iconst,
            imm,
        } => Some(imm.bits()),
        _ => None,
    }
}

/// Is a value this integer?
pub(crate) fn is_constant(dfg: &DataFlowGraph, v: Value, n: i64) -> bool {
    constant(dfg, v) == Some(n)
}
