//! For AVX-512: comparisons of f32 that are one host instruction but several in the vector IR.

use regalloc2::VReg;

use super::{Select, length};
use crate::backend::x64::evex::rows;
use crate::backend::x64::inst::{Form, HostOp, Imm, MASK, Src};
use crate::vir::patterns::repeated;
use crate::vir::{FloatCC, Inst, IntCC, Op, Value, types};

const MAGNITUDE: u32 = 0x7fff_ffff;

/// Classes of f32 by magnitude, as bits: the first, how many, and the mask of `vfpclassps`.
const KINDS: [(u32, u32, u8); 3] = [
    (0, 1, 0b0000_0110),
    (1, 0x007f_ffff, 0b0010_0000),
    (0x7f80_0000, 1, 0b0001_1000),
];

impl Select<'_> {
    /// The dword that a constant vector repeats.
    fn dword_constant(&self, v: Value) -> Option<u32> {
        let dword = repeated(self.vector_constant(v)?)?;
        Some(u32::from_le_bytes(dword))
    }

    /// The variable operand of an operation with a constant, and the constant.
    fn with_constant(&self, v: Value, ops: [Op; 2]) -> Option<(Value, Op, u32)> {
        let (op, &[a, b]) = self.made_by(v)? else {
            return None;
        };
        let constant = self.dword_constant(b)?;
        ops.contains(&op).then_some((a, op, constant))
    }

    /// Which f32 are in a class: `(bits & MAGNITUDE) - first < count`, without a sign.
    pub(super) fn kind(&mut self, cond: IntCC, args: &[Value]) -> Option<VReg> {
        if cond != IntCC::UnsignedLessThan || self.ty(args[0]).lane_type() != types::I32 {
            return None;
        }
        let count = self.dword_constant(args[1])?;
        let (magnitude, op, first) = self.with_constant(args[0], [Op::Iadd, Op::Isub])?;
        let first = match op {
            Op::Iadd => first.wrapping_neg(),
            _ => first,
        };
        let &(.., kind) = KINDS
            .iter()
            .find(|kind| (kind.0, kind.1) == (first, count))?;
        let (bits, _, mask) = self.with_constant(magnitude, [Op::Band; 2])?;
        if mask != MAGNITUDE {
            return None;
        }
        let len = length(self.ty(args[0])).ok()?;
        let bits = self.reg(bits).ok()?;
        // Without another use the masked value is dead.
        if let Some(made) = self.made_for_one(args[0]) {
            self.h.take(made);
            if let Some(made) = self.made_for_one(magnitude) {
                self.h.take(made);
            }
        }
        let op = HostOp::Evex(rows::VFPCLASSPS, len, Form::Rm, Imm::Byte(kind));
        Some(self.define(MASK, op, &[], Some(Src::Reg(bits))))
    }

    /// A comparison that is also true for NaNs, from an ordered one and one for NaNs.
    pub(super) fn unordered_or(&mut self, inst: Inst) -> Option<VReg> {
        let (Op::Bor, &[one, other]) = (self.op(inst), self.func.args(inst)) else {
            return None;
        };
        let [(cond, a), (nan, b)] = [self.float_comparison(one)?, self.float_comparison(other)?];
        let (cond, which) = match (cond, nan) {
            (FloatCC::Unordered, cond) | (cond, FloatCC::Unordered) => (cond, a),
            _ => return None,
        };
        let cond = match cond {
            FloatCC::Equal => FloatCC::UnorderedOrEqual,
            FloatCC::LessThan => FloatCC::UnorderedOrLessThan,
            FloatCC::LessThanOrEqual => FloatCC::UnorderedOrLessThanOrEqual,
            FloatCC::GreaterThan => FloatCC::UnorderedOrGreaterThan,
            FloatCC::GreaterThanOrEqual => FloatCC::UnorderedOrGreaterThanOrEqual,
            _ => return None,
        };
        let made = [self.made_for_one(one)?, self.made_for_one(other)?];
        if a != b {
            return None;
        }
        for inst in made {
            self.h.take(inst);
        }
        self.compare_floats_into_mask(cond, &which).ok()
    }

    /// The comparison of float vectors that a value is.
    fn float_comparison(&self, v: Value) -> Option<(FloatCC, [Value; 2])> {
        let (Op::Fcmp(cond), &[a, b]) = self.made_by(v)? else {
            return None;
        };
        let args = [a, b].map(|v| self.resolve(v));
        self.ty(args[0]).is_vector().then_some((cond, args))
    }
}
