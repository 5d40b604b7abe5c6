//! Operations of lanes for those that are made of others.

use super::Lanes;
use crate::ir::{Float, Flush, Op, Width};
use crate::legalize::compound::Operations;
use crate::legalize::scalar::layout;
use crate::vir::Value;

impl Operations for Lanes<'_, '_> {
    type Value = Vec<Value>;

    fn operation(&mut self, op: Op, width: Width, args: &[&Vec<Value>]) -> Vec<Value> {
        let args: Vec<&[Value]> = args.iter().map(|arg| arg.as_slice()).collect();
        self.op(op, width, &args)
    }

    fn immediate(&mut self, width: Width, bits: u64) -> Vec<Value> {
        self.const_lanes(width, bits)
    }

    fn choose(
        &mut self,
        width: Width,
        mask: &Vec<Value>,
        yes: &Vec<Value>,
        no: &Vec<Value>,
    ) -> Vec<Value> {
        self.select(width, mask, yes, no)
    }

    fn divided(
        &mut self,
        float: Float,
        flush: Flush,
        n: &Vec<Value>,
        d: &Vec<Value>,
    ) -> Vec<Value> {
        self.map2(n, d, |l, n, d| {
            let [n, d] = [n, d].map(|v| l.as_float(float, v));
            let quotient = l.b.fdiv(n, d);
            let bits = l.as_bits(float, quotient);
            let scaled = flush.dst.then(|| {
                let factor = l.constant(float, layout(float).scale);
                let factor = l.as_float(float, factor);
                let n = l.b.fmul(n, factor);
                l.b.fdiv(n, d)
            });
            l.finish(float, flush, bits, scaled)
        })
    }

    fn root_reciprocal(&mut self, x: &Vec<Value>) -> Vec<Value> {
        self.map1(x, |l, x| {
            let x = l.as_float(Float::F64, x);
            let y = l.root_reciprocal(x);
            l.as_bits(Float::F64, y)
        })
    }

    fn shifted(&mut self, x: &Vec<Value>, by: u32, left: bool) -> Vec<Value> {
        self.map1(x, |l, x| l.shift(x, by, left))
    }

    fn unless_any(
        &mut self,
        width: Width,
        mask: &Vec<Value>,
        usual: Vec<Value>,
        rare: impl FnOnce(&mut Self) -> Vec<Value>,
    ) -> Vec<Value> {
        let ty = match width {
            Width::W64 => self.quads_type(),
            _ => self.dwords_type(),
        };
        let usual = self.map1(&usual, |l, v| l.cast(ty, v));
        let any = self.any(mask);
        self.where_any(any, &usual, rare)
    }
}
