//! Selection of conversions between integers and floats.

use regalloc2::{Operand, VReg};

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::Len;
use crate::backend::x64::inst::{Form, HostOp, Imm, Src};
use crate::backend::x64::rows::{legacy, vex};
use crate::vir::{Inst, Op, Type, Value, types};

impl Select<'_> {
    /// Integer lanes, or a single integer, to float.
    pub(super) fn integer_to_float(
        &mut self,
        inst: Inst,
        to: Type,
        v: Value,
    ) -> Result<VReg, Refused> {
        let from = self.ty(v);
        let unsigned = self.op(inst) == Op::FcvtFromUint;
        if from == types::I32 {
            // An unsigned word is a positive 64-bit number.
            let a = self.reg(v)?;
            let row = if to == types::F64 {
                vex::VCVTSI2SD
            } else {
                vex::VCVTSI2SS
            };
            let row = if unsigned { row.w1() } else { row };
            let zero = self.vec_reg();
            self.h.push(HostOp::Zero, &[Operand::reg_def(zero)], None);
            return Ok(self.rvm(row, Len::L128, zero, Src::Reg(a)));
        }
        if from.lane_type() != types::I32 || to.lane_type() != types::F32 {
            return Err(self.refuse(inst));
        }
        let len = length(from)?;
        let a = self.reg(v)?;
        if !unsigned {
            return Ok(self.rm(vex::VCVTDQ2PS, len, Src::Reg(a), Imm::No));
        }
        // Both halves are exact; their sum is rounded once.
        let high = self.shift_constant(vex::VPSHIFTD_I, 2, len, a, 16);
        let mask = self.dwords(len, 0xffff);
        let low = self.rvm(vex::VPAND, len, a, mask);
        let high = self.rm(vex::VCVTDQ2PS, len, Src::Reg(high), Imm::No);
        let low = self.rm(vex::VCVTDQ2PS, len, Src::Reg(low), Imm::No);
        let factor = self.dwords(len, 65536f32.to_bits());
        let high = self.rvm(vex::VMULPS, len, high, factor);
        Ok(self.rvm(vex::VADDPS, len, high, Src::Reg(low)))
    }

    /// f32 lanes, or a single f32 or f64, to 32-bit integers: toward zero, saturating, NaN to 0.
    pub(super) fn float_to_integer(
        &mut self,
        unsigned: bool,
        from: Type,
        to: Type,
        v: Value,
    ) -> Result<VReg, Refused> {
        if from == types::F64 {
            return self.f64_to_integer(unsigned, v);
        }
        if from.lane_type() != types::F32 {
            return Err(Refused(format!("a conversion of {from} to {to}")));
        }
        let len = length(from)?;
        let a = self.reg(v)?;
        if self.is_avx512() {
            let reg = self.saturate(unsigned, len, a);
            return Ok(match to.is_vector() {
                true => reg,
                false => self.move_to_general(false, reg),
            });
        }
        let convert = |s: &mut Self, a: VReg| s.rm(vex::VCVTTPS2DQ, len, Src::Reg(a), Imm::No);
        let half = self.dwords(len, 2_147_483_648f32.to_bits());
        let reg = if unsigned {
            let zero = self.vec_reg();
            self.h.push(HostOp::Zero, &[Operand::reg_def(zero)], None);
            // The second source is the result when the first is a NaN.
            let a = self.rvm(vex::VMAXPS, len, a, Src::Reg(zero));
            let low = convert(self, a);
            let less = self.rvm(vex::VSUBPS, len, a, half);
            let high = convert(self, less);
            let top = self.dwords(len, 1 << 31);
            let high = self.rvm(vex::VPXOR, len, high, top);
            // At least 2^31, at least 2^32.
            let big = self.rvm_imm(vex::VCMPPS, len, a, half, Imm::Byte(5));
            let whole = self.dwords(len, 4_294_967_296f32.to_bits());
            let over = self.rvm_imm(vex::VCMPPS, len, a, whole, Imm::Byte(5));
            let d = self.blend(len, big, Src::Reg(high), low);
            self.rvm(vex::VPOR, len, d, Src::Reg(over))
        } else {
            let ordered = self.rvm_imm(vex::VCMPPS, len, a, Src::Reg(a), Imm::Byte(7));
            let a = self.rvm(vex::VPAND, len, a, Src::Reg(ordered));
            let big = self.rvm_imm(vex::VCMPPS, len, a, half, Imm::Byte(5));
            let whole = convert(self, a);
            self.rvm(vex::VPXOR, len, whole, Src::Reg(big))
        };
        Ok(if to.is_vector() {
            reg
        } else {
            self.move_to_general(false, reg)
        })
    }

    /// As [`Select::float_to_integer`], for a scalar f64, which represents every bound exactly.
    fn f64_to_integer(&mut self, unsigned: bool, v: Value) -> Result<VReg, Refused> {
        let len = Len::L128;
        let bound = |s: &mut Self, value: f64| s.pool(&value.to_bits().to_le_bytes());
        let a = self.reg(v)?;
        let (least, most) = if unsigned {
            (0.0, f64::from(u32::MAX))
        } else {
            (f64::from(i32::MIN), f64::from(i32::MAX))
        };
        let a = match self.is_avx512() {
            true => self.number_or_zero(a),
            false => {
                let ordered = self.rvm_imm(vex::VCMPSD, len, a, Src::Reg(a), Imm::Byte(7));
                self.rvm(vex::VPAND, len, a, Src::Reg(ordered))
            }
        };
        let least = bound(self, least);
        let a = self.rvm(vex::VMAXSD, len, a, least);
        let most = bound(self, most);
        let a = self.rvm(vex::VMINSD, len, a, most);
        let d = self.int_reg();
        let op = HostOp::Vex(vex::VCVTTSD2SI.w1(), len, Form::Rm, Imm::No);
        self.h.push(op, &[Operand::reg_def(d)], Some(Src::Reg(a)));
        // The low word of a 64-bit number.
        let low = self.int_reg();
        let op = HostOp::Legacy(legacy::LOAD, false, Form::Rm, Imm::No);
        self.h.push(op, &[Operand::reg_def(low)], Some(Src::Reg(d)));
        Ok(low)
    }
}
