//! Floating point on lanes: denormals, NaNs, one rounding, and conversions between formats.

use super::{LOW_HALVES, Lanes};
use crate::ir::Float;
use crate::legalize::evaluate::Shape;
use crate::legalize::scalar::layout;
use crate::vir::{IntCC, Op as VirOp, Value};

impl Lanes<'_, '_> {
    /// Signed zeros in place of denormals, without value numbering.
    pub(super) fn flush_anew(&mut self, float: Float, v: Value) -> Value {
        let l = layout(float);
        if self.masks && self.baseline && float == Float::F32 {
            let ty = self.dwords_type();
            return self.b.op(VirOp::Flush, &[v], ty);
        }
        if self.masks {
            // Only the sign where the exponent is zero.
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

    /// f64 lanes to f32, scaled first if requested.
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
                    let f = self.b.op(VirOp::Demote, &halves, ty);
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
                let mut f = self.b.op(half, &[x], ty);
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
