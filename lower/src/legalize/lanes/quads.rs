//! Quads by their dwords, where truth values are in mask registers: usually the dwords are
//! available, the carry of a sum is a mask, and comparisons of dwords are in lane order.

use super::{EVEN, Lanes, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::ir::Icmp;
use crate::legalize::scalar::int_cc;
use crate::vir::patterns::{all_or_nothing, operands, repeated, vector_constant};
use crate::vir::{IntCC, Op as VirOp, Value, types};

/// Two vectors of quads: those of 16 lanes, in the order in which dwords unpack.
type Quads = [Value; 2];
/// Their low dwords and their high ones.
type Dwords = [Value; 2];

impl Lanes<'_, '_> {
    /// Compares quads.
    pub(super) fn compare_by_dwords(&mut self, cond: Icmp, a: &[Value], b: &[Value]) -> Vec<Value> {
        let both = a.chunks_exact(2).zip(b.chunks_exact(2));
        both.map(|(a, b)| {
            let [a, b] = [a, b].map(|quads| self.dwords_of([quads[0], quads[1]]));
            self.compare_dwords(cond, a, b)
        })
        .collect()
    }

    fn compare_dwords(&mut self, cond: Icmp, [al, ah]: Dwords, [bl, bh]: Dwords) -> Value {
        let equal = matches!(cond, Icmp::Eq | Icmp::Ne);
        let low = match cond {
            Icmp::Slt => int_cc(Icmp::Ult),
            Icmp::Sle => int_cc(Icmp::Ule),
            other => int_cc(other),
        };
        let low = self.b.icmp(low, al, bl);
        let unsigned = matches!(cond, Icmp::Ult | Icmp::Ule);
        if (unsigned || equal) && self.is_zero(ah) && self.is_zero(bh) {
            return low;
        }
        if cond == Icmp::Ne {
            let high = self.b.icmp(IntCC::NotEqual, ah, bh);
            return self.b.bor(high, low);
        }
        if unsigned && self.is_zero(ah) {
            let high = self.b.icmp(IntCC::NotEqual, bh, ah);
            return self.b.bor(high, low);
        }
        let same = self.b.icmp(IntCC::Equal, ah, bh);
        let low = self.b.band(same, low);
        if equal || unsigned && self.is_zero(bh) {
            return low;
        }
        let less = match unsigned {
            true => IntCC::UnsignedLessThan,
            false => IntCC::SignedLessThan,
        };
        let less = self.b.icmp(less, ah, bh);
        self.b.bor(less, low)
    }

    /// The dwords of quads.
    pub(super) fn dwords_of(&mut self, quads: Quads) -> Dwords {
        let quads = quads.map(|v| self.uncast(v));
        if let Some(dwords) = self.available_dwords(quads) {
            return dwords;
        }
        // Longer chains take fewer instructions as quads.
        let made = self.dwords_of_sum(quads);
        let dwords = made.or_else(|| self.dwords_of_shift(quads));
        let ty = self.dwords_type();
        let dwords = dwords.unwrap_or_else(|| {
            let [first, second] = quads;
            [EVEN, ODD].map(|half| self.shuffle(ty, first, second, half))
        });
        self.numbering.note_dwords(self.b, quads, dwords);
        dwords
    }

    /// The same, if the dwords are available.
    fn available_dwords(&mut self, quads: Quads) -> Option<Dwords> {
        let quads = quads.map(|v| self.uncast(v));
        if let Some(dwords) = self.numbering.dwords(self.b, quads) {
            return Some(dwords);
        }
        let dwords = match self.unpacked(quads) {
            None if quads[0] == quads[1] => self.dwords_of_all(quads[0]),
            dwords => dwords,
        }?;
        self.numbering.note_dwords(self.b, quads, dwords);
        Some(dwords)
    }

    /// The dwords that quads were unpacked from.
    fn unpacked(&mut self, [first, second]: Quads) -> Option<Dwords> {
        let (first, second) = (self.shuffled(first)?, self.shuffled(second)?);
        let made = first.1 == UNPACK_LOW && second.1 == UNPACK_HIGH;
        let dwords = (made && first.0 == second.0).then_some(first.0)?;
        let ty = self.dwords_type();
        Some(dwords.map(|v| self.b.bitcast(ty, v)))
    }

    /// The dwords of a quad that is a broadcast.
    fn dwords_of_all(&mut self, quads: Value) -> Option<Dwords> {
        match self.b.func.made_by(quads)? {
            (VirOp::Vconst(constant), _) => {
                let quad = u64::from_le_bytes(repeated(self.b.func.bytes(constant))?);
                Some([quad as u32, (quad >> 32) as u32].map(|word| self.dwords(word)))
            }
            (VirOp::Splat, &[arg]) => {
                let f = &*self.b.func;
                let extended = operands(f, arg, VirOp::Uextend).map(|[word, _]| word);
                let extended = extended.filter(|&word| f.ty(word) == types::I32);
                let ty = self.dwords_type();
                let low = match extended {
                    Some(word) => word,
                    None => self.b.ireduce(types::I32, arg),
                };
                let low = self.b.splat(ty, low);
                if extended.is_some() {
                    return Some([low, self.dwords(0)]);
                }
                let high = self.b.ushr_imm(arg, 32);
                let high = self.b.ireduce(types::I32, high);
                Some([low, self.b.splat(ty, high)])
            }
            _ => None,
        }
    }

    /// The dwords of a sum of quads whose dwords are available.
    fn dwords_of_sum(&mut self, [first, second]: Quads) -> Option<Dwords> {
        let f = &*self.b.func;
        let [first, second] = [first, second].map(|v| operands(f, v, VirOp::Iadd));
        let (first, second) = (first?, second?);
        let [a, b] = [0, 1].map(|n| [first[n], second[n]]);
        let [al, ah] = self.available_dwords(a)?;
        let [bl, bh] = self.available_dwords(b)?;
        let low = self.b.iadd(al, bl);
        let carry = self.b.icmp(IntCC::UnsignedLessThan, low, bl);
        let high = match (self.is_zero(ah), self.is_zero(bh)) {
            (true, _) => bh,
            (_, true) => ah,
            _ => self.b.iadd(ah, bh),
        };
        let one = self.dwords(1);
        let more = self.b.iadd(high, one);
        Some([low, self.blend(carry, more, high)])
    }

    /// The dwords of quads, whose dwords are available, shifted by a constant.
    fn dwords_of_shift(&mut self, quads: Quads) -> Option<Dwords> {
        let f = &*self.b.func;
        let shifted = |by: VirOp| {
            let [first, second] = quads.map(|v| operands(f, v, by));
            let ([first, amount], [second, other]) = (first?, second?);
            (amount == other).then_some((by == VirOp::Ishl, [first, second], amount))
        };
        let (left, from, amount) = shifted(VirOp::Ishl).or_else(|| shifted(VirOp::Ushr))?;
        let amount = u32::try_from(f.iconst(amount)?).ok()?;
        if !(1..32).contains(&amount) {
            return None;
        }
        let [low, high] = self.available_dwords(from)?;
        // Bits shifted out of one dword enter the other.
        let (whole, cut) = if left { (low, high) } else { (high, low) };
        let over = self.shift(whole, 32 - amount, !left);
        let whole = self.shift(whole, amount, left);
        let cut = match self.is_zero(cut) {
            true => over,
            false => {
                let cut = self.shift(cut, amount, left);
                self.b.bor(cut, over)
            }
        };
        Some(if left { [whole, cut] } else { [cut, whole] })
    }

    fn is_zero(&self, v: Value) -> bool {
        let bytes = vector_constant(self.b.func, self.uncast(v));
        bytes.and_then(all_or_nothing) == Some(false)
    }
}
