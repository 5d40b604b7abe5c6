//! Floating point on lanes: denormals, NaNs, one rounding, and conversions between formats.

use super::{LOW_HALVES, Lanes};
use crate::ir::{Float, Flush, Op};
use crate::legalize::scalar::layout;
use crate::vir::{FloatCC, IntCC, Op as VirOp, Value};

impl Lanes<'_, '_> {
    pub(super) fn as_float(&mut self, float: Float, v: Value) -> Value {
        self.cast(self.vector(float), v)
    }

    pub(super) fn as_bits(&mut self, float: Float, v: Value) -> Value {
        self.cast(self.bits_type(float), v)
    }

    /// Zeros with their signs in place of denormals.
    pub(super) fn flush(&mut self, float: Float, v: Value) -> Value {
        if let Some(flushed) = self.numbering.flushed(self.b, v) {
            return flushed;
        }
        let flushed = self.flush_anew(float, v);
        self.numbering.note_flushed(v, flushed);
        flushed
    }

    fn flush_anew(&mut self, float: Float, v: Value) -> Value {
        let l = layout(float);
        if self.masks && self.baseline && float == Float::F32 {
            let ty = self.dwords_type();
            return self.intrinsic(VirOp::Flush, &[v], ty);
        }
        if self.masks {
            // The sign alone where the exponent is least.
            let [exponent, sign, zero] =
                [l.exponent, l.sign, 0].map(|bits| self.constant(float, bits));
            let field = self.b.band(v, exponent);
            let denormal = self.b.icmp(IntCC::Equal, field, zero);
            let signed = self.b.band(v, sign);
            return self.blend(denormal, signed, v);
        }
        let exponent = self.constant(float, l.exponent);
        let zero = self.constant(float, 0);
        let magnitude = self.constant(float, !l.sign);
        let field = self.b.band(v, exponent);
        let denormal = self.b.icmp(IntCC::Equal, field, zero);
        let drop = self.b.band(denormal, magnitude);
        self.b.band_not(v, drop)
    }

    pub(super) fn fix_nan(&mut self, float: Float, result: Value, sources: &[Value]) -> Value {
        if !self.exact_nan {
            return result;
        }
        let l = layout(float);
        let quiet = self.constant(float, l.quiet);
        let mut nan = self.constant(float, l.nan);
        for &s in sources.iter().rev() {
            let f = self.as_float(float, s);
            let is = self.b.fcmp(FloatCC::Unordered, f, f);
            let quieted = self.b.bor(s, quiet);
            nan = self.blend(is, quieted, nan);
        }
        let f = self.as_float(float, result);
        let is = self.b.fcmp(FloatCC::Unordered, f, f);
        self.blend(is, nan, result)
    }

    pub(super) fn finish(
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
        // Where scaling overflows and another factor is 0 the scaled result is a NaN, and what was added to 0 may be
        // a denormal.
        let result = self.flush(float, result);
        self.flush_by(float, result, scaled)
    }

    /// A zero in place of a result that was less than the least normal number before it was rounded, as its scaled
    /// form tells.
    fn flush_by(&mut self, float: Float, result: Value, scaled: Value) -> Value {
        let l = layout(float);
        let bits = self.constant(float, l.scaled_min);
        let min = self.as_float(float, bits);
        let magnitude = self.b.fabs(scaled);
        let tiny = self.b.fcmp(FloatCC::LessThan, magnitude, min);
        let tiny = self.cast(self.bits_type(float), tiny);
        let keep = self.constant(float, !l.sign);
        let drop = self.b.band(tiny, keep);
        let result = self.b.band_not(result, drop);
        self.numbering.note_flushed(result, result);
        result
    }

    pub(super) fn arithmetic(
        &mut self,
        op: Op,
        float: Float,
        flush: Flush,
        args: &[Value],
    ) -> Value {
        let sources: Vec<Value> = args
            .iter()
            .map(|&a| if flush.src { self.flush(float, a) } else { a })
            .collect();
        let f: Vec<Value> = sources.iter().map(|&s| self.as_float(float, s)).collect();
        let mut scaled = None;
        let factor = |l: &mut Self, v: Value| {
            let bits = l.constant(float, layout(float).scale);
            let factor = l.as_float(float, bits);
            l.b.fmul(v, factor)
        };
        let r = match op {
            Op::FAdd(..) => self.b.fadd(f[0], f[1]),
            Op::FSub(..) => self.b.fsub(f[0], f[1]),
            Op::FMul(..) => {
                if flush.dst {
                    let a = factor(self, f[0]);
                    scaled = Some(self.b.fmul(a, f[1]));
                }
                self.b.fmul(f[0], f[1])
            }
            Op::Fma(..) => {
                if flush.dst {
                    let a = factor(self, f[0]);
                    let c = factor(self, f[2]);
                    scaled = Some(self.b.fma(a, f[1], c));
                }
                self.b.fma(f[0], f[1], f[2])
            }
            Op::FDiv(..) => self.b.fdiv(f[0], f[1]),
            _ => self.b.sqrt(f[0]),
        };
        let bits = self.as_bits(float, r);
        let bits = self.fix_nan(float, bits, &sources);
        match (op, scaled) {
            // A product is 0 where its scaled form is a NaN for want of range.
            (Op::FMul(..), Some(scaled)) => self.flush_by(float, bits, scaled),
            _ => self.finish(float, flush, bits, scaled),
        }
    }

    /// f64 lanes to f32, scaled first when asked.
    pub(super) fn demote(&mut self, wide: &[Value], scale: Option<f64>) -> Vec<Value> {
        wide.chunks_exact(2)
            .map(|w| {
                let halves: Vec<Value> = w
                    .iter()
                    .map(|&x| {
                        let mut f = self.as_float(Float::F64, x);
                        if let Some(scale) = scale {
                            let bits = self.quads(scale.to_bits());
                            let factor = self.as_float(Float::F64, bits);
                            f = self.b.fmul(f, factor);
                        }
                        if self.per > 4 { f } else { self.b.fvdemote(f) }
                    })
                    .collect();
                if self.per > 4 {
                    let ty = self.vector(Float::F32);
                    let f = self.intrinsic(VirOp::Demote, &halves, ty);
                    return self.as_bits(Float::F32, f);
                }
                self.shuffle(self.dwords_type(), halves[0], halves[1], LOW_HALVES)
            })
            .collect()
    }

    /// i32 or u32 lanes to f64.
    pub(super) fn widen_integers(&mut self, a: &[Value], unsigned: bool) -> Vec<Value> {
        let ty = self.vector(Float::F64);
        let mut wide = Vec::with_capacity(a.len() * 2);
        for &x in a {
            // An unsigned number less 2^31 is a signed one.
            let x = if unsigned {
                let top = self.dwords(1 << 31);
                self.b.bxor(x, top)
            } else {
                x
            };
            for half in [VirOp::FromIntLow, VirOp::FromIntHigh] {
                let mut f = self.intrinsic(half, &[x], ty);
                if unsigned {
                    let bits = self.quads(2_147_483_648f64.to_bits());
                    let top = self.as_float(Float::F64, bits);
                    f = self.b.fadd(f, top);
                }
                wide.push(self.as_bits(Float::F64, f));
            }
        }
        wide
    }
}
