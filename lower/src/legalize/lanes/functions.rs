//! Lane functions that the wide back end computes inside segments: shifts by amounts that differ by
//! lane, bytes by selectors (see `bytes.rs`), exponentials and logarithms (see `elementary.rs`),
//! and f16 arithmetic in the MODE that compilers use. Elsewhere they are calls for the whole wave.

use super::{EVEN, Lanes, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::ir::Float;
use crate::ir::functions::LaneFn;
use crate::legalize::evaluate::Shape;
use crate::vir::{FloatCC, IntCC, Op as VirOp, Type, Value, types};

/// Cycles by which the expansion of a power or logarithm follows that of the previous vector.
const BEHIND: u32 = 26;

/// The f16 whose power, rounded to f32, is a tie between two f16 although the exact one is above
/// it. All other powers, and all logarithms and reciprocal roots, may be rounded to f32 first.
const TIE_OF_HALVES: u32 = 0x3a38_a000;

impl Lanes<'_, '_> {
    /// Such a function on a group: its result words.
    pub(crate) fn function(&mut self, f: LaneFn, args: &[&[Value]]) -> Vec<Vec<Value>> {
        if f == LaneFn::RsqF16 {
            return vec![self.rsq_of_halves(args[0])];
        }
        let (_, results) = f.shape();
        let mut words = vec![Vec::with_capacity(self.slices); results];
        let last = self.last_inst();
        let mut ends = Vec::new();
        for i in 0..args[0].len() {
            let slice: Vec<Value> = args.iter().map(|arg| arg[i]).collect();
            match results {
                1 => words[0].push(self.function_of_vectors(f, &slice)),
                _ => {
                    let both = self.shift_quads_each(f, slice[0], slice[1], slice[2]);
                    for (word, value) in words.iter_mut().zip(both) {
                        word.push(value);
                    }
                }
            }
            ends.extend(self.last_inst());
        }
        // With fewer registers interleaving would spill.
        if self.masks && matches!(f, LaneFn::ExpF32 | LaneFn::LogF32) {
            self.interleave(last, &ends, BEHIND);
        }
        words
    }

    fn function_of_vectors(&mut self, f: LaneFn, a: &[Value]) -> Value {
        match f {
            LaneFn::ShlVar => self.shift_each(VirOp::ShiftLeft, a[0], a[1]),
            LaneFn::LshrVar => self.shift_each(VirOp::ShiftRight, a[0], a[1]),
            LaneFn::AshrVar => self.shift_each(VirOp::ShiftArithmetic, a[0], a[1]),
            LaneFn::AlignBitVar => self.align_each(a[0], a[1], a[2]),
            LaneFn::Perm => self.permute(a[0], a[1], a[2]),
            LaneFn::BfeU => {
                let field = self.shift_each(VirOp::ShiftRight, a[0], a[1]);
                let ones = self.dwords(u32::MAX);
                let above = self.shift_each(VirOp::ShiftLeft, ones, a[2]);
                self.b.band_not(field, above)
            }
            LaneFn::BfeI => self.signed_field(a[0], a[1], a[2]),
            LaneFn::WidenF16 | LaneFn::CvtF32F16 => {
                let halves = self.low_halves(a[0]);
                self.as_bits(Float::F32, halves)
            }
            LaneFn::CvtF16F32 => {
                let x = self.as_float(Float::F32, a[0]);
                self.b.op(VirOp::ToHalf, &[x], self.dwords_type())
            }
            LaneFn::ExpF32 => self.exp2(a[0]),
            LaneFn::LogF32 => self.log2(a[0]),
            LaneFn::ExpF16 | LaneFn::LogF16 => {
                let x = self.low_halves(a[0]);
                let x = self.as_bits(Float::F32, x);
                let d = match f {
                    LaneFn::ExpF16 => {
                        let power = self.exp2(x);
                        let tie = self.dwords(TIE_OF_HALVES);
                        let tie = self.b.icmp(IntCC::Equal, x, tie);
                        let up = self.dwords(1);
                        let above = self.b.iadd(power, up);
                        self.blend(tie, above, power)
                    }
                    _ => self.log2(x),
                };
                let d = self.as_float(Float::F32, d);
                self.b.op(VirOp::ToHalf, &[d], self.dwords_type())
            }
            LaneFn::PkRtzF16 => {
                let [low, high] = [a[0], a[1]].map(|x| {
                    let x = self.as_float(Float::F32, x);
                    self.b.op(VirOp::ToHalfTruncating, &[x], self.dwords_type())
                });
                let high = self.shift(high, 16, true);
                self.b.bor(low, high)
            }
            LaneFn::PkAddF16 | LaneFn::PkMulF16 | LaneFn::PkFmaF16 => {
                let halves = [VirOp::WidenLow, VirOp::WidenHigh].map(|widen| {
                    let sources: Vec<Value> = a.iter().map(|&x| self.widened(widen, x)).collect();
                    self.half_arithmetic(f, &sources)
                });
                self.b.op(VirOp::Narrow, &halves, self.dwords_type())
            }
            _ => {
                let sources: Vec<Value> = a.iter().map(|&x| self.low_halves(x)).collect();
                let result = self.half_arithmetic(f, &sources);
                self.b.op(VirOp::ToHalf, &[result], self.dwords_type())
            }
        }
    }

    // ---- integer

    /// Shifts each lane by its own amount, modulo 32.
    fn shift_each(&mut self, f: VirOp, x: Value, amount: Value) -> Value {
        let mask = self.dwords(31);
        let amount = self.b.band(amount, mask);
        self.b.op(f, &[x, amount], self.dwords_type())
    }

    /// Shifts 64-bit lanes, as their low and high words, each by its own amount, modulo 64.
    fn shift_quads_each(
        &mut self,
        f: LaneFn,
        low: Value,
        high: Value,
        amount: Value,
    ) -> [Value; 2] {
        let (dwords, quads) = (self.dwords_type(), self.quads_type());
        let mask = self.dwords(63);
        let amount = self.b.band(amount, mask);
        let zero = self.dwords(0);
        let shifted = [UNPACK_LOW, UNPACK_HIGH].map(|half| {
            let x = self.shuffle(quads, low, high, half);
            let amount = self.shuffle(quads, amount, zero, half);
            match f {
                LaneFn::Shl64Var => self.b.op(VirOp::ShiftLeftQuads, &[x, amount], quads),
                LaneFn::Lshr64Var => self.b.op(VirOp::ShiftRightQuads, &[x, amount], quads),
                _ => self.shift_quads_signed(x, amount),
            }
        });
        [EVEN, ODD].map(|words| self.shuffle(dwords, shifted[0], shifted[1], words))
    }

    /// AVX2 has only logical right shifts of quads: the shifted sign bit is extended by (x ^ m) -
    /// m.
    fn shift_quads_signed(&mut self, x: Value, amount: Value) -> Value {
        let ty = self.quads_type();
        if self.masks {
            return self.b.op(VirOp::ShiftArithmeticQuads, &[x, amount], ty);
        }
        let top = self.quads(1 << 63);
        let [x, sign] = [x, top].map(|v| self.b.op(VirOp::ShiftRightQuads, &[v, amount], ty));
        let flipped = self.b.bxor(x, sign);
        self.b.isub(flipped, sign)
    }

    fn align_each(&mut self, high: Value, low: Value, amount: Value) -> Value {
        let mask = self.dwords(31);
        let n = self.b.band(amount, mask);
        let right = self.b.op(VirOp::ShiftRight, &[low, n], self.dwords_type());
        // 31 - n bits after one.
        let rest = self.b.bxor(n, mask);
        let left = self.shift(high, 1, true);
        let left = self
            .b
            .op(VirOp::ShiftLeft, &[left, rest], self.dwords_type());
        self.b.bor(left, right)
    }

    /// The field is shifted to the top and back; a shift by 32 clears it, as required for width 0.
    fn signed_field(&mut self, x: Value, offset: Value, width: Value) -> Value {
        let ty = self.dwords_type();
        let field = self.shift_each(VirOp::ShiftArithmetic, x, offset);
        let mask = self.dwords(31);
        let width = self.b.band(width, mask);
        let all = self.dwords(32);
        let up = self.b.isub(all, width);
        let top = self.b.op(VirOp::ShiftLeft, &[field, up], ty);
        self.b.op(VirOp::ShiftArithmetic, &[top, up], ty)
    }

    // ---- f16, as f32

    fn floats_type(&self) -> Type {
        self.vector(Float::F32)
    }

    fn low_halves(&mut self, x: Value) -> Value {
        self.b.op(VirOp::FromHalf, &[x], self.floats_type())
    }

    fn rsq_of_halves(&mut self, x: &[Value]) -> Vec<Value> {
        let x = self.map1(x, |l, x| {
            let x = l.low_halves(x);
            l.as_bits(Float::F32, x)
        });
        let d = self.rsq_single(&x);
        self.map1(&d, |l, d| {
            let d = l.as_float(Float::F32, d);
            l.b.op(VirOp::ToHalf, &[d], l.dwords_type())
        })
    }

    fn widened(&mut self, half: VirOp, x: Value) -> Value {
        self.b.op(half, &[x], self.floats_type())
    }

    /// The result in f32 before rounding to f16. For sums and products of f32 the two roundings
    /// equal one, as 24 bits suffice.
    fn half_arithmetic(&mut self, f: LaneFn, x: &[Value]) -> Value {
        let result = match f {
            LaneFn::AddF16 | LaneFn::PkAddF16 => self.b.fadd(x[0], x[1]),
            LaneFn::SubF16 => self.b.fsub(x[0], x[1]),
            LaneFn::MulF16 | LaneFn::PkMulF16 => self.b.fmul(x[0], x[1]),
            _ => self.fused_halves(x[0], x[1], x[2]),
        };
        if !self.exact_nan {
            return result;
        }
        let bits = self.as_bits(Float::F32, result);
        let sources: Vec<Value> = x.iter().map(|&x| self.as_bits(Float::F32, x)).collect();
        let bits = self.fix_nan(Float::F32, bits, &sources);
        self.as_float(Float::F32, bits)
    }

    /// a * b + c for f16 in f32: the product is exact, the sum is rounded to odd, so that rounding
    /// it to f16 is one rounding.
    fn fused_halves(&mut self, a: Value, b: Value, c: Value) -> Value {
        let product = self.b.fmul(a, b);
        if self.masks && self.per == 16 {
            let ty = self.floats_type();
            let sums = [VirOp::SumDown, VirOp::SumUp].map(|sum| self.b.op(sum, &[product, c], ty));
            return self.b.op(VirOp::ToOdd, &sums, ty);
        }
        let sum = self.b.fadd(product, c);
        // The error of the sum.
        let c_part = self.b.fsub(sum, product);
        let product_part = self.b.fsub(sum, c_part);
        let product_rest = self.b.fsub(product, product_part);
        let c_rest = self.b.fsub(c, c_part);
        let error = self.b.fadd(product_rest, c_rest);
        // An inexact sum is truncated toward zero, one step back if the error has the other sign,
        // and made odd. The error of an infinite sum is a NaN, which compares false.
        let zero = self.dwords(0);
        let nothing = self.as_float(Float::F32, zero);
        let inexact = self.b.fcmp(FloatCC::OrderedNotEqual, error, nothing);
        let sum = self.as_bits(Float::F32, sum);
        let error = self.as_bits(Float::F32, error);
        let signs = self.b.bxor(sum, error);
        let c31 = self.b.iconst(types::I32, 31);
        let back = self.b.sshr(signs, c31);
        let back = self.b.band(back, inexact);
        let cut = self.b.iadd(sum, back);
        let one = self.dwords(1);
        let last = self.b.band(inexact, one);
        let odd = self.b.bor(cut, last);
        self.as_float(Float::F32, odd)
    }
}
