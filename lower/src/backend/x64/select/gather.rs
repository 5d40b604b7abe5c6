//! Selection of masked accesses: gathers of dwords and, for AVX-512, scatters and masked contiguous
//! loads and stores. Gather and scatter clear their mask as they proceed, so the mask is also a
//! result. AVX2 has the gather only, whose mask is a vector.

use regalloc2::{Operand, VReg};

use super::masks::load_row;
use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::evex::rows;
use crate::backend::x64::inst::{Addr, Form, HostOp, Imm, Src};
use crate::backend::x64::rows::vex;
use crate::vir::{Inst, Value};

impl Select<'_> {
    fn place(&mut self, base: Value, index: VReg) -> Result<Option<Src>, Refused> {
        Ok(Some(Src::Mem(Addr {
            base: self.base(base)?,
            index: Some((index, 0)),
            disp: 0,
        })))
    }

    /// A gather of dwords.
    pub(super) fn gather(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let (old, mut index) = (self.reg(args[0])?, self.reg(args[3])?);
        let (mut on, left, op) = if self.is_avx512() {
            let op = HostOp::Evex(rows::VPGATHERDD, len, Form::Gather, Imm::No);
            (self.mask(args[1])?, self.mask_reg(), op)
        } else {
            let op = HostOp::Vex(vex::VPGATHERDD, len, Form::Gather, Imm::No);
            (self.reg(args[1])?, self.vec_reg(), op)
        };
        // Destination, index and a mask in a vector must be different registers.
        if on == old {
            on = self.rm(vex::VMOVAPS, len, Src::Reg(on), Imm::No);
        }
        if index == old || index == on {
            index = self.rm(vex::VMOVAPS, len, Src::Reg(index), Imm::No);
        }
        let d = self.vec_reg();
        let operands = [
            Operand::reg_reuse_def(d, 2),
            Operand::reg_reuse_def(left, 3),
            Operand::reg_use(old),
            Operand::reg_use(on),
        ];
        let rm = self.place(args[2], index)?;
        self.h.push(op, &operands, rm);
        self.set(inst, d);
        Ok(())
    }

    /// A scatter of dwords.
    pub(super) fn scatter(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let (data, on, index) = (self.reg(args[0])?, self.mask(args[1])?, self.reg(args[3])?);
        let left = self.mask_reg();
        let operands = [
            Operand::reg_reuse_def(left, 1),
            Operand::reg_use(on),
            Operand::reg_use(data),
        ];
        let op = HostOp::Evex(rows::VPSCATTERDD, len, Form::Scatter, Imm::No);
        let rm = self.place(args[2], index)?;
        self.h.push(op, &operands, rm);
        Ok(())
    }

    /// A masked load of contiguous elements.
    pub(super) fn load_some(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let quads = self.ty(args[0]).lane_bits() == 64;
        let on = self.mask(args[1])?;
        let memory = Src::Mem(self.addr(args[2], 0)?);
        let d = if self.all_or_nothing(args[0]) == Some(false) {
            self.kept(quads, len, on, memory)
        } else {
            let old = self.reg(args[0])?;
            let d = self.vec_reg();
            let operands = [
                Operand::reg_reuse_def(d, 1),
                Operand::reg_use(old),
                Operand::reg_use(on),
            ];
            let op = HostOp::Evex(load_row(quads), len, Form::MergedRm, Imm::No);
            self.h.push(op, &operands, Some(memory));
            d
        };
        self.set(inst, d);
        Ok(())
    }

    /// A masked store of contiguous elements.
    pub(super) fn store_some(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let row = match self.ty(args[0]).lane_bits() {
            64 => rows::VMOVDQU32_STORE.w1(),
            _ => rows::VMOVDQU32_STORE,
        };
        let (data, on) = (self.reg(args[0])?, self.mask(args[1])?);
        let memory = Src::Mem(self.addr(args[2], 0)?);
        let operands = [Operand::reg_use(data), Operand::reg_use(on)];
        let op = HostOp::Evex(row, len, Form::StoreSome, Imm::No);
        self.h.push(op, &operands, Some(memory));
        Ok(())
    }
}
