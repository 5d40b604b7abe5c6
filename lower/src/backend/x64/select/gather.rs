//! Selection for accesses of AVX-512 to the elements of some lanes: to dwords that lie anywhere, each lane's at a place of
//! its own, and to what follows one another. The instructions for the former take lanes out of their mask as they go on,
//! so that it is a result, too.

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

    /// Dwords of memory, each at a place of its own.
    pub(super) fn gather(&mut self, inst: Inst) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let (old, on, mut index) = (self.reg(args[0])?, self.mask(args[1])?, self.reg(args[3])?);
        if index == old {
            // The result's register may not be the index.
            index = self.rm(vex::VMOVAPS, len, Src::Reg(old), Imm::No);
        }
        let (d, left) = (self.vec_reg(), self.mask_reg());
        let operands = [
            Operand::reg_reuse_def(d, 2),
            Operand::reg_reuse_def(left, 3),
            Operand::reg_use(old),
            Operand::reg_use(on),
        ];
        let op = HostOp::Evex(rows::VPGATHERDD, len, Form::Gather, Imm::No);
        let rm = self.place(args[2], index)?;
        self.h.push(op, &operands, rm);
        self.set(inst, d);
        Ok(())
    }

    /// Dwords to memory, each to a place of its own.
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

    /// Elements of memory that follow one another, those of lanes that a mask has.
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

    /// Elements to memory one after the other, those of lanes that a mask has.
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
