//! Operations on both halves of wave values, one after the other.

use super::Scalars;
use crate::ir::Halves;
use crate::vir::{Value, types};

impl Scalars<'_, '_> {
    /// The low and the high half of a word, zero- or sign-extended.
    fn parts(&mut self, word: Value, signed: bool) -> [Value; 2] {
        match signed {
            true => {
                let low = self.b.ishl_imm(word, 16);
                [low, word].map(|v| self.b.sshr_imm(v, 16))
            }
            false => [self.b.band_imm(word, 0xffff), self.b.ushr_imm(word, 16)],
        }
    }

    /// See [`crate::ir::Op::Halves`].
    pub(super) fn halves(&mut self, op: Halves, args: &[&Value]) -> Value {
        let signed = matches!(
            op,
            Halves::MinS | Halves::MaxS | Halves::AddSatS | Halves::SubSatS | Halves::Ashr(_)
        );
        let parts: Vec<[Value; 2]> = args.iter().map(|&&a| self.parts(a, signed)).collect();
        let [low, high] = [0, 1].map(|n| {
            let args: Vec<Value> = parts.iter().map(|parts| parts[n]).collect();
            self.half(op, &args)
        });
        let low = self.b.band_imm(low, 0xffff);
        let high = self.b.ishl_imm(high, 16);
        self.b.bor(low, high)
    }

    /// One half; the upper bits of the result are unspecified.
    fn half(&mut self, op: Halves, args: &[Value]) -> Value {
        let (x, y) = (args[0], args[args.len() - 1]);
        match op {
            Halves::Add => self.b.iadd(x, y),
            Halves::Sub => self.b.isub(x, y),
            Halves::Mul => self.b.imul(x, y),
            Halves::MinU | Halves::MinS => self.b.smin(x, y),
            Halves::MaxU | Halves::MaxS => self.b.smax(x, y),
            Halves::AddSatU | Halves::AddSatS => {
                let sum = self.b.iadd(x, y);
                self.nearest_half(sum, op == Halves::AddSatS)
            }
            Halves::SubSatU | Halves::SubSatS => {
                let difference = self.b.isub(x, y);
                self.nearest_half(difference, op == Halves::SubSatS)
            }
            Halves::Shl(n) => self.b.ishl_imm(x, i64::from(n)),
            Halves::Lshr(n) => self.b.ushr_imm(x, i64::from(n)),
            Halves::Ashr(n) => self.b.sshr_imm(x, i64::from(n)),
        }
    }

    /// The 16-bit integer nearest to a signed word.
    fn nearest_half(&mut self, word: Value, signed: bool) -> Value {
        let (least, most) = match signed {
            true => (i32::from(i16::MIN), i32::from(i16::MAX)),
            false => (0, i32::from(u16::MAX)),
        };
        let [least, most] = [least, most].map(|n| self.iconst(types::I32, n as u32 as u64));
        let word = self.b.smax(word, least);
        self.b.smin(word, most)
    }
}
