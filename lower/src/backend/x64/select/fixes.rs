//! For AVX-512: parts of floats, and replacement of special floats.

use regalloc2::{Operand, VReg};

use super::Select;
use crate::backend::x64::encode::Len;
use crate::backend::x64::evex::rows;
use crate::backend::x64::inst::{Form, HostOp, Imm, MASK, Src};
use crate::backend::x64::rows::vex;
use crate::vir::Fixes;
use crate::vir::fix::{By, Of};

impl Select<'_> {
    /// `d` with lanes replaced where those of `x` are special.
    pub(super) fn fixed(&mut self, len: Len, d: VReg, x: VReg, fixes: Src) -> VReg {
        let op = HostOp::Evex(rows::VFIXUPIMMPS, len, Form::Fma, Imm::Byte(0));
        self.over_first(op, [d, x], fixes)
    }

    /// See [`crate::vir::Op::ZeroOrInfinite`].
    pub(super) fn zero_or_infinite(&mut self, len: Len, a: VReg) -> VReg {
        // Zeros of both signs, infinities, denormals.
        const KINDS: u8 = 0b0011_1110;
        let op = HostOp::Evex(rows::VFPCLASSPS, len, Form::Rm, Imm::Byte(KINDS));
        self.define(MASK, op, &[], Some(Src::Reg(a)))
    }

    /// See [`crate::vir::Op::Flush`]: only the sign where the exponent is zero.
    pub(super) fn flushed(&mut self, len: Len, a: VReg) -> VReg {
        let exponent = self.dwords(len, 0x7f80_0000);
        let op = HostOp::Evex(rows::VPTESTNMD, len, Form::Rvm, Imm::No);
        let denormal = self.define(MASK, op, &[a], Some(exponent));
        let sign = self.dwords(len, 1 << 31);
        let d = self.vec_reg();
        let operands = [
            Operand::reg_reuse_def(d, 1),
            Operand::reg_use(a),
            Operand::reg_use(denormal),
            Operand::reg_use(a),
        ];
        let op = HostOp::Evex(rows::VPANDD, len, Form::MergedRvm, Imm::No);
        self.h.push(op, &operands, Some(sign));
        d
    }

    /// See [`crate::vir::Op::Mantissa`].
    pub(super) fn mantissa(&mut self, len: Len, a: VReg) -> VReg {
        const FIXES: Fixes = Fixes::NONE
            .with(Of::Zero, By::Itself)
            .with(Of::NegativeInfinity, By::Itself)
            .with(Of::Infinity, By::Itself);
        let d = self.plain_mantissa(len, a);
        let fixes = self.dwords(len, FIXES.bits());
        self.fixed(len, d, a, fixes)
    }

    /// See [`crate::vir::Op::Exponent`].
    pub(super) fn exponent(&mut self, len: Len, a: VReg) -> VReg {
        const FIXES: Fixes = Fixes::NONE
            .with_nans(By::MinusOne)
            .with(Of::Zero, By::MinusOne)
            .with(Of::NegativeInfinity, By::MinusOne)
            .with(Of::Infinity, By::MinusOne);
        let d = self.plain_exponent(len, a);
        let fixes = self.dwords(len, FIXES.bits());
        let d = self.fixed(len, d, a, fixes);
        let d = self.rm(vex::VCVTTPS2DQ, len, Src::Reg(d), Imm::No);
        let one = self.dwords(len, 1);
        self.rvm(vex::VPADDD, len, d, one)
    }

    /// See [`crate::vir::Op::PlainMantissa`].
    pub(super) fn plain_mantissa(&mut self, len: Len, a: VReg) -> VReg {
        // From 1/2 to 1, with the sign of the source.
        self.evex_rm(rows::VGETMANTPS, len, Src::Reg(a), Imm::Byte(2))
    }

    /// See [`crate::vir::Op::PlainExponent`].
    pub(super) fn plain_exponent(&mut self, len: Len, a: VReg) -> VReg {
        // The instruction normalizes to [1, 2).
        self.evex_rm(rows::VGETEXPPS, len, Src::Reg(a), Imm::No)
    }
}
