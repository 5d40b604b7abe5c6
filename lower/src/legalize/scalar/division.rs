//! Operations of wave values for those that are made of others.

use super::{Scalars, clif_type};
use crate::ir::{Float, Flush, Op, Width};
use crate::legalize::compound::Operations;
use crate::vir::Value;

impl Operations for Scalars<'_, '_> {
    type Value = Value;

    fn operation(&mut self, op: Op, width: Width, args: &[&Value]) -> Value {
        let args: Vec<Value> = args.iter().map(|&&arg| arg).collect();
        self.op(op, width, &args)
    }

    fn immediate(&mut self, width: Width, bits: u64) -> Value {
        self.iconst(clif_type(width), bits)
    }

    fn choose(&mut self, _: Width, mask: &Value, yes: &Value, no: &Value) -> Value {
        self.b.select(*mask, *yes, *no)
    }

    fn divided(&mut self, float: Float, flush: Flush, n: &Value, d: &Value) -> Value {
        let [n, d] = [*n, *d].map(|v| self.as_float(float, v));
        let quotient = self.b.fdiv(n, d);
        let bits = self.as_bits(float, quotient);
        let scaled = flush.dst.then(|| {
            let n = self.scale(float, n);
            self.b.fdiv(n, d)
        });
        self.finish(float, flush, bits, scaled)
    }

    fn root_reciprocal(&mut self, x: &Value) -> Value {
        let x = self.as_float(Float::F64, *x);
        let root = self.b.sqrt(x);
        let one = self.b.f64const(1.0);
        let y = self.b.fdiv(one, root);
        self.as_bits(Float::F64, y)
    }

    fn shifted(&mut self, x: &Value, by: u32, left: bool) -> Value {
        match left {
            true => self.b.ishl_imm_u(*x, i64::from(by)),
            false => self.b.ushr_imm_u(*x, i64::from(by)),
        }
    }

    /// Both are computed: wave values are few.
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
