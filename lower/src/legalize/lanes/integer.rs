//! Integer operations on lanes that are several host operations.

use super::bytes::NO_BYTE;
use super::{Lanes, ODD};
use crate::ir::{Float, Op};
use crate::vir::{Op as VirOp, Value, types};

impl Lanes<'_, '_> {
    /// Logical shifts by a constant; `left` otherwise right.
    pub(super) fn shift(&mut self, v: Value, amount: u32, left: bool) -> Value {
        let amount = self.b.iconst(types::I32, i64::from(amount));
        if left {
            self.b.ishl(v, amount)
        } else {
            self.b.ushr(v, amount)
        }
    }

    /// Shifts by one wave amount (I32).
    pub(crate) fn shift_by_wave(&mut self, op: Op, a: &[Value], amount: Value) -> Vec<Value> {
        self.map1(a, |l, x| match op {
            Op::Shl => l.b.ishl(x, amount),
            Op::Lshr => l.b.ushr(x, amount),
            _ => l.b.sshr(x, amount),
        })
    }

    /// `v_alignbit` by one wave amount (I32).
    pub(crate) fn align_by_wave(
        &mut self,
        hi: &[Value],
        lo: &[Value],
        amount: Value,
    ) -> Vec<Value> {
        let n = self.b.band_imm(amount, 31);
        let c31 = self.b.iconst(types::I32, 31);
        let rest = self.b.isub(c31, n);
        let one = self.b.iconst(types::I32, 1);
        self.map2(hi, lo, |l, h, lo| {
            let right = l.b.ushr(lo, n);
            let left = l.b.ishl(h, one);
            let left = l.b.ishl(left, rest);
            l.b.bor(left, right)
        })
    }

    /// `v_alignbit` by a constant other than 0.
    pub(crate) fn align_by_const(&mut self, hi: &[Value], lo: &[Value], n: u32) -> Vec<Value> {
        self.map2(hi, lo, |l, h, lo| {
            if l.masks && h == lo {
                // AVX-512 rotates, too.
                let n = l.b.iconst(types::I32, i64::from(n));
                return l.b.op(VirOp::Rotate, &[lo, n], l.dwords_type());
            }
            let right = l.shift(lo, n, false);
            let left = l.shift(h, 32 - n, true);
            l.b.bor(left, right)
        })
    }

    /// `v_perm` by a constant selector without sign bytes.
    pub(crate) fn perm_by_const(
        &mut self,
        s0: &[Value],
        s1: &[Value],
        selector: u32,
    ) -> Vec<Value> {
        let sel = selector.to_le_bytes();
        let mut mask = [0u8; 16];
        let (mut and, mut or) = (0u32, 0u32);
        for (i, &s) in sel.iter().enumerate() {
            if s < 8 {
                and |= 0xff << (8 * i);
            } else if s > 12 {
                or |= 0xff << (8 * i);
            }
            for lane in 0..4 {
                // Bytes 0..=3 are S1's, 4..=7 S0's; the shuffle takes (s1, s0).
                let byte = if s < 4 {
                    4 * lane as u8 + s
                } else {
                    16 + 4 * lane as u8 + (s & 3)
                };
                mask[4 * lane + i] = if s < 8 { byte } else { NO_BYTE };
            }
        }
        if self.per > 4 {
            // The wide back end's shuffles produce the zeros.
            and = u32::MAX;
        } else {
            mask = mask.map(|byte| byte & 31);
        }
        self.map2(s0, s1, |l, x, y| {
            let mut v = l.shuffle(l.dwords_type(), y, x, mask);
            if and != u32::MAX {
                let keep = l.dwords(and);
                v = l.b.band(v, keep);
            }
            if or != 0 {
                let set = l.dwords(or);
                v = l.b.bor(v, set);
            }
            v
        })
    }

    /// High words of products, from those of the even and those of the odd lanes.
    fn wide_high_of_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        let ty = self.quads_type();
        let f = if signed {
            VirOp::MulWideS
        } else {
            VirOp::MulWideU
        };
        let (x, y) = (self.b.bitcast(ty, x), self.b.bitcast(ty, y));
        let even = self.b.op(f, &[x, y], ty);
        let even = self.shift(even, 32, false);
        let (x, y) = (self.shift(x, 32, false), self.shift(y, 32, false));
        let odd = self.b.op(f, &[x, y], ty);
        let dwords = self.dwords_type();
        self.b.op(VirOp::OddDwords, &[even, odd], dwords)
    }

    pub(super) fn high_of_product(&mut self, x: Value, y: Value, signed: bool) -> Value {
        if self.per > 4 {
            return self.wide_high_of_product(x, y, signed);
        }
        let halves: Vec<Value> = [false, true]
            .into_iter()
            .map(|high| {
                let (x, y) = match (signed, high) {
                    (false, false) => (self.b.uwiden_low(x), self.b.uwiden_low(y)),
                    (false, true) => (self.b.uwiden_high(x), self.b.uwiden_high(y)),
                    (true, false) => (self.b.swiden_low(x), self.b.swiden_low(y)),
                    (true, true) => (self.b.swiden_high(x), self.b.swiden_high(y)),
                };
                self.b.imul(x, y)
            })
            .collect();
        self.shuffle(self.dwords_type(), halves[0], halves[1], ODD)
    }

    /// Bit reversal by swapping ever larger neighbours.
    pub(super) fn reverse(&mut self, x: Value) -> Value {
        let mut v = x;
        for (amount, mask) in [(1, 0x5555_5555u32), (2, 0x3333_3333), (4, 0x0f0f_0f0f)] {
            let mask = self.dwords(mask);
            let right = self.shift(v, amount, false);
            let right = self.b.band(right, mask);
            let left = self.b.band(v, mask);
            let left = self.shift(left, amount, true);
            v = self.b.bor(left, right);
        }
        self.shuffle(
            self.dwords_type(),
            v,
            v,
            [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12],
        )
    }

    /// Zeros above the highest one of each dword, or below the lowest; 32 for 0. Found in the
    /// exponent of a float of only that bit, or with the next one cleared so that rounding cannot
    /// carry.
    pub(super) fn zeros(&mut self, x: Value, leading: bool) -> Value {
        let one = match leading {
            true => {
                let below = self.shift(x, 1, false);
                self.b.band_not(x, below)
            }
            false => {
                let zero = self.dwords(0);
                let negative = self.b.isub(zero, x);
                self.b.band(x, negative)
            }
        };
        let ty = self.vector(Float::F32);
        let float = self.b.fcvt_from_sint(ty, one);
        let bits = self.b.bitcast(self.dwords_type(), float);
        let shifted = self.shift(bits, 23, false);
        // Without the sign that bit 31 gives.
        let field = self.dwords(0xff);
        let exponent = self.b.band(shifted, field);
        let all = self.dwords(32);
        if leading {
            let highest = self.dwords(127 + 31);
            let n = self.b.isub(highest, exponent);
            let n = self.b.umin(n, all);
            // A negative number is below its highest bit.
            let amount = self.b.iconst(types::I32, 31);
            let negative = self.b.sshr(x, amount);
            self.b.band_not(n, negative)
        } else {
            let lowest = self.dwords(127);
            let n = self.b.isub(exponent, lowest);
            self.b.umin(n, all)
        }
    }

    /// Ones in each dword, from ones in each byte.
    pub(super) fn popcount(&mut self, x: Value) -> Value {
        let ty = match self.per {
            16 => types::I8X64,
            8 => types::I8X32,
            _ => types::I8X16,
        };
        let bytes = self.b.bitcast(ty, x);
        let counts = self.b.popcnt(bytes);
        let v = self.b.bitcast(self.dwords_type(), counts);
        let s = self.shift(v, 8, false);
        let v = self.b.iadd(v, s);
        let s = self.shift(v, 16, false);
        let v = self.b.iadd(v, s);
        let mask = self.dwords(0xff);
        self.b.band(v, mask)
    }
}
