//! Selection for accesses of AVX-512 to dwords that lie anywhere, each lane's at a place of its own. The instructions
//! take lanes out of their mask as they go on, so that it is a result, too.

use cranelift_codegen::ir::{self as clif, Value};
use regalloc2::{Operand, VReg};

use super::Select;
use crate::wide::Refused;
use crate::wide::encode::Len;
use crate::wide::evex::rows;
use crate::wide::inst::{Addr, Form, Imm, Op, Src};
use crate::wide::rows::vex;

impl Select<'_> {
    fn place(&mut self, base: Value, index: VReg) -> Result<Option<Src>, Refused> {
        Ok(Some(Src::Mem(Addr {
            base: self.base(base)?,
            index: Some((index, 0)),
            disp: 0,
        })))
    }

    /// Dwords of memory, each at a place of its own.
    pub(super) fn gather(
        &mut self,
        inst: clif::Inst,
        len: Len,
        args: &[Value],
    ) -> Result<(), Refused> {
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
        let op = Op::Evex(rows::VPGATHERDD, len, Form::Gather, Imm::No);
        let rm = self.place(args[2], index)?;
        self.h.push(op, &operands, rm);
        self.set(inst, d);
        Ok(())
    }

    /// Dwords to memory, each to a place of its own.
    pub(super) fn scatter(&mut self, len: Len, args: &[Value]) -> Result<(), Refused> {
        let (data, on, index) = (self.reg(args[0])?, self.mask(args[1])?, self.reg(args[3])?);
        let left = self.mask_reg();
        let operands = [
            Operand::reg_reuse_def(left, 1),
            Operand::reg_use(on),
            Operand::reg_use(data),
        ];
        let op = Op::Evex(rows::VPSCATTERDD, len, Form::Scatter, Imm::No);
        let rm = self.place(args[2], index)?;
        self.h.push(op, &operands, rm);
        Ok(())
    }
}
