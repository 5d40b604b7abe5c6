//! Sums and products with a choice between a number and one that changes nothing: the guest's libraries scale
//! arguments so.

use super::Build;
use crate::functions::LaneFn;
use crate::ir::{Float, Flush, Op, Val};

impl Build {
    /// x * (m ? k : 1) is m ? x * k : x, and x - (m ? k : 0) likewise, where x is as a result would be. The operation can
    /// merge lanes then, and the choice is not made for itself.
    pub(super) fn around_neutral(&self, op: Op, args: &[Val]) -> Option<Val> {
        let (float, flush, neutral, choices) = match op {
            Op::FMul(Float::F32, flush) => (Float::F32, flush, 1f32.to_bits().into(), 0..2),
            Op::FMul(Float::F64, flush) => (Float::F64, flush, 1f64.to_bits(), 0..2),
            Op::FSub(float, flush) => (float, flush, 0, 1..2),
            _ => return None,
        };
        choices.into_iter().find_map(|i| {
            let (x, (Op::Select, choice)) = (args[1 - i], self.parts(args[i])) else {
                return None;
            };
            let is_neutral = |n: usize| self.as_const(choice[n]) == Some(neutral);
            let other = (1..3).find(|&n| is_neutral(3 - n) && !is_neutral(n))?;
            if !self.is_result(x, float, flush) {
                return None;
            }
            let mut changed = [x; 2];
            changed[i] = choice[other];
            let changed = self.pure(op, &changed);
            let mut picked = [choice[0], x, x];
            picked[other] = changed;
            Some(self.pure(Op::Select, &picked))
        })
    }

    /// Is a value what arithmetic gives: no signalling NaN, and no denormal where those are flushed?
    fn is_result(&self, v: Val, float: Float, flush: Flush) -> bool {
        match self.parts(v).0 {
            Op::FAdd(of, by)
            | Op::FSub(of, by)
            | Op::FMul(of, by)
            | Op::Fma(of, by)
            | Op::FDiv(of, by) => of == float && (by.dst || !flush.src && !flush.dst),
            // They give no denormals.
            Op::FSqrt(of, _) => of == float,
            Op::FRsq | Op::Call(LaneFn::ExpF32 | LaneFn::LogF32, _) => float == Float::F32,
            _ => false,
        }
    }
}
