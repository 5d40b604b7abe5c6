//! Operations on both halves of dwords: vectors of 16-bit lanes.

use super::Lanes;
use crate::ir::Halves;
use crate::vir::{Type, Value, types};

impl Lanes<'_, '_> {
    fn halves_type(&self) -> Type {
        match self.per {
            16 => types::I16X32,
            8 => types::I16X16,
            _ => types::I16X8,
        }
    }

    /// See [`crate::ir::Op::Halves`].
    pub(super) fn by_halves(&mut self, op: Halves, args: &[&[Value]]) -> Vec<Value> {
        let ty = self.halves_type();
        let slices = 0..args[0].len();
        slices
            .map(|i| {
                let words: Vec<Value> = args.iter().map(|arg| self.b.bitcast(ty, arg[i])).collect();
                let d = self.both_halves(op, &words);
                self.b.bitcast(self.dwords_type(), d)
            })
            .collect()
    }

    fn both_halves(&mut self, op: Halves, args: &[Value]) -> Value {
        let (a, b) = (args[0], args[args.len() - 1]);
        let by = match op {
            Halves::Shl(n) | Halves::Lshr(n) | Halves::Ashr(n) => n,
            _ => 0,
        };
        let by = self.b.iconst(types::I32, i64::from(by));
        let ins = &mut *self.b;
        match op {
            Halves::Add => ins.iadd(a, b),
            Halves::Sub => ins.isub(a, b),
            Halves::Mul => ins.imul(a, b),
            Halves::MinU => ins.umin(a, b),
            Halves::MaxU => ins.umax(a, b),
            Halves::MinS => ins.smin(a, b),
            Halves::MaxS => ins.smax(a, b),
            Halves::AddSatU => ins.uadd_sat(a, b),
            Halves::AddSatS => ins.sadd_sat(a, b),
            Halves::SubSatU => ins.usub_sat(a, b),
            Halves::SubSatS => ins.ssub_sat(a, b),
            Halves::Shl(_) => ins.ishl(a, by),
            Halves::Lshr(_) => ins.ushr(a, by),
            Halves::Ashr(_) => ins.sshr(a, by),
        }
    }
}
