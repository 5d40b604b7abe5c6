//! Selection for general registers. A 32-bit value is zero-extended in its register, a truth value
//! is 0 or 1.

use regalloc2::{Operand, VReg};

use super::Select;
use crate::backend::x64::Refused;
use crate::backend::x64::encode::{Len, Row};
use crate::backend::x64::inst::{
    Addr, AddrBase, Cc, Compare, Form, HostOp, Imm, RAX, RDX, Src, general,
};
use crate::backend::x64::rows::{legacy, vex};
use crate::vir::{Inst, IntCC, Op, StackSlot, Value, types};

/// The host's name of a condition.
pub(super) fn condition(cond: IntCC) -> Cc {
    match cond {
        IntCC::Equal => Cc::E,
        IntCC::NotEqual => Cc::Ne,
        IntCC::SignedLessThan => Cc::L,
        IntCC::SignedGreaterThanOrEqual => Cc::Ge,
        IntCC::SignedGreaterThan => Cc::G,
        IntCC::SignedLessThanOrEqual => Cc::Le,
        IntCC::UnsignedLessThan => Cc::B,
        IntCC::UnsignedGreaterThanOrEqual => Cc::Ae,
        IntCC::UnsignedGreaterThan => Cc::A,
        IntCC::UnsignedLessThanOrEqual => Cc::Be,
    }
}

/// The digit of an operation with an immediate.
fn alu_digit(row: Row) -> u8 {
    match row {
        legacy::ADD => 0,
        legacy::OR => 1,
        legacy::AND => 4,
        legacy::SUB => 5,
        _ => 6,
    }
}

impl Select<'_> {
    /// Selects an instruction on general registers.
    pub(super) fn scalar(&mut self, inst: Inst) -> Result<(), Refused> {
        let op = self.op(inst);
        let args = self.func.args(inst);
        let ty = self.ty(self.result(inst));
        let wide = ty == types::I64;
        let sixty_four = args.first().is_some_and(|&a| self.ty(a) == types::I64);
        let reg = match op {
            Op::Iadd => self.add(wide, args[0], args[1])?,
            Op::Isub => self.alu(legacy::SUB, wide, args[0], args[1])?,
            Op::Bor => self.alu_commuting(legacy::OR, wide, args[0], args[1])?,
            Op::Bxor => self.alu_commuting(legacy::XOR, wide, args[0], args[1])?,
            Op::Band if self.and_not(inst).is_some() => {
                let (a, b) = self.and_not(inst).expect("it was just seen");
                let (a, b) = (self.reg(a)?, self.reg(b)?);
                let row = if wide { vex::ANDN.w1() } else { vex::ANDN };
                self.general_rvm(row, b, a)
            }
            Op::Band => self.alu_commuting(legacy::AND, wide, args[0], args[1])?,
            Op::Imul => self.multiply(wide, args[0], args[1])?,
            Op::Umulhi | Op::Smulhi => {
                let (a, b) = (self.reg(args[0])?, self.reg(args[1])?);
                let d = self.int_reg();
                let operands = [
                    Operand::reg_fixed_use(a, general(RAX)),
                    Operand::reg_use(b),
                    Operand::reg_fixed_def(d, general(RDX)),
                ];
                let op = HostOp::MulHigh(op == Op::Smulhi, wide);
                self.h.push(op, &operands, None);
                d
            }
            Op::Bnot if ty != types::I8 => self.unary(2, wide, args[0])?,
            Op::Ineg if ty != types::I8 => self.unary(3, wide, args[0])?,
            Op::Ishl => self.shift(4, vex::SHLX, wide, args[0], args[1])?,
            Op::Ushr => self.shift(5, vex::SHRX, wide, args[0], args[1])?,
            Op::Sshr => self.shift(7, vex::SARX, wide, args[0], args[1])?,
            Op::Umin => self.choose(Cc::B, wide, args[0], args[1])?,
            Op::Umax => self.choose(Cc::A, wide, args[0], args[1])?,
            Op::Smin => self.choose(Cc::L, wide, args[0], args[1])?,
            Op::Smax => self.choose(Cc::G, wide, args[0], args[1])?,
            Op::Popcnt => self.general_rm(legacy::POPCNT, sixty_four, args[0])?,
            Op::Clz => self.general_rm(legacy::LZCNT, sixty_four, args[0])?,
            Op::Ctz => self.general_rm(legacy::TZCNT, sixty_four, args[0])?,
            Op::Bitrev => self.reverse(wide, args[0])?,
            Op::Ireduce if ty == types::I32 => self.general_rm(legacy::LOAD, false, args[0])?,
            Op::Ireduce if ty == types::I8 => self.general_rm(legacy::MOVZX_B, false, args[0])?,
            Op::Uextend => self.reg(args[0])?,
            Op::Sextend if self.ty(args[0]) == types::I32 => {
                self.general_rm(legacy::MOVSXD, true, args[0])?
            }
            Op::Icmp(_) => {
                let value = self.result(inst);
                let (compare, a, b) = self.compare(value)?;
                let d = self.int_reg();
                let [first, second] = [a, b.unwrap_or(a)].map(Operand::reg_use);
                let operands = [Operand::reg_def(d), first, second];
                let operands = &operands[..2 + usize::from(b.is_some())];
                self.h.push(HostOp::Set(compare), operands, None);
                d
            }
            Op::Select => {
                let (compare, a, b) = self.compare(args[0])?;
                let (yes, no) = (self.reg(args[1])?, self.reg(args[2])?);
                self.pick(compare, yes, no, a, b)
            }
            _ => return Err(self.refuse(inst)),
        };
        self.set(inst, reg);
        Ok(())
    }

    /// The address of a stack slot.
    pub(super) fn stack_addr(&mut self, inst: Inst, slot: StackSlot) -> Result<(), Refused> {
        let d = self.int_reg();
        let addr = Addr {
            base: AddrBase::Stack,
            index: None,
            disp: self.slot(slot),
        };
        self.lea(d, true, addr);
        self.set(inst, d);
        Ok(())
    }

    fn lea(&mut self, d: VReg, wide: bool, addr: Addr) {
        let op = HostOp::Legacy(legacy::LEA, wide, Form::Rm, Imm::No);
        self.h
            .push(op, &[Operand::reg_def(d)], Some(Src::Mem(addr)));
    }

    fn add(&mut self, wide: bool, a: Value, b: Value) -> Result<VReg, Refused> {
        let (base, index, disp) = match (self.small(a), self.small(b)) {
            (_, Some(disp)) => (self.base(a)?, None, disp),
            (Some(disp), None) => (self.base(b)?, None, disp),
            (None, None) => {
                let (a, b) = self.base_first(a, b);
                (self.base(a)?, Some((self.reg(b)?, 0)), 0)
            }
        };
        let d = self.int_reg();
        self.lea(d, wide, Addr { base, index, disp });
        Ok(d)
    }

    fn alu_commuting(&mut self, row: Row, wide: bool, a: Value, b: Value) -> Result<VReg, Refused> {
        if self.small(a).is_some() {
            self.alu(row, wide, b, a)
        } else {
            self.alu(row, wide, a, b)
        }
    }

    fn alu(&mut self, row: Row, wide: bool, a: Value, b: Value) -> Result<VReg, Refused> {
        let first = self.reg(a)?;
        if let Some(imm) = self.small(b) {
            return Ok(self.alu_constant(row, wide, first, imm));
        }
        let second = self.reg(b)?;
        Ok(self.two(row, wide, first, second))
    }

    fn alu_constant(&mut self, row: Row, wide: bool, a: VReg, imm: i32) -> VReg {
        let digit = alu_digit(row);
        match i8::try_from(imm) {
            Ok(short) => self.tied(legacy::ALU_I8, digit, wide, a, Imm::Byte(short as u8)),
            Err(_) => self.tied(legacy::ALU_I32, digit, wide, a, Imm::Word(imm)),
        }
    }

    /// A two-operand instruction that overwrites its first register.
    fn two(&mut self, row: Row, wide: bool, a: VReg, b: VReg) -> VReg {
        let d = self.int_reg();
        let operands = [Operand::reg_reuse_def(d, 1), Operand::reg_use(a)];
        let op = HostOp::Legacy(row, wide, Form::Tied, Imm::No);
        self.h.push(op, &operands, Some(Src::Reg(b)));
        d
    }

    /// An instruction that overwrites its only register, with a digit.
    pub(super) fn tied(&mut self, row: Row, digit: u8, wide: bool, a: VReg, imm: Imm) -> VReg {
        let d = self.int_reg();
        let operands = [Operand::reg_reuse_def(d, 1), Operand::reg_use(a)];
        let op = HostOp::Legacy(row, wide, Form::TiedDigit(digit), imm);
        self.h.push(op, &operands, None);
        d
    }

    fn unary(&mut self, digit: u8, wide: bool, a: Value) -> Result<VReg, Refused> {
        let a = self.reg(a)?;
        Ok(self.tied(legacy::UNARY, digit, wide, a, Imm::No))
    }

    fn general_rm(&mut self, row: Row, wide: bool, a: Value) -> Result<VReg, Refused> {
        let a = self.reg(a)?;
        let d = self.int_reg();
        let op = HostOp::Legacy(row, wide, Form::Rm, Imm::No);
        self.h.push(op, &[Operand::reg_def(d)], Some(Src::Reg(a)));
        Ok(d)
    }

    fn general_rvm(&mut self, row: Row, vvvv: VReg, rm: VReg) -> VReg {
        let d = self.int_reg();
        let op = HostOp::Vex(row, Len::L128, Form::Rvm, Imm::No);
        let operands = [Operand::reg_def(d), Operand::reg_use(vvvv)];
        self.h.push(op, &operands, Some(Src::Reg(rm)));
        d
    }

    fn multiply(&mut self, wide: bool, a: Value, b: Value) -> Result<VReg, Refused> {
        let (a, b) = if self.small(a).is_some() {
            (b, a)
        } else {
            (a, b)
        };
        let first = self.reg(a)?;
        if let Some(imm) = self.small(b) {
            let d = self.int_reg();
            let op = HostOp::Legacy(legacy::IMUL_I32, wide, Form::Rm, Imm::Word(imm));
            let rm = Some(Src::Reg(first));
            self.h.push(op, &[Operand::reg_def(d)], rm);
            return Ok(d);
        }
        let second = self.reg(b)?;
        Ok(self.two(legacy::IMUL, wide, first, second))
    }

    fn shift(
        &mut self,
        digit: u8,
        row: Row,
        wide: bool,
        a: Value,
        amount: Value,
    ) -> Result<VReg, Refused> {
        let first = self.reg(a)?;
        if let Some(n) = self.int(amount) {
            return Ok(self.shift_by(digit, wide, first, n as u8));
        }
        let amount = self.reg(amount)?;
        let row = if wide { row.w1() } else { row };
        Ok(self.general_rvm(row, amount, first))
    }

    /// A shift by a constant, modulo the width: left by digit 4, right by 5, arithmetic by 7.
    fn shift_by(&mut self, digit: u8, wide: bool, a: VReg, n: u8) -> VReg {
        let n = n & if wide { 63 } else { 31 };
        if n == 0 {
            return a;
        }
        self.tied(legacy::SHIFT_I, digit, wide, a, Imm::Byte(n))
    }

    /// The first if the condition holds against the second, else the second.
    fn choose(&mut self, cc: Cc, wide: bool, a: Value, b: Value) -> Result<VReg, Refused> {
        let (a, b) = (self.reg(a)?, self.reg(b)?);
        let compare = Compare {
            cc,
            wide,
            imm: None,
        };
        Ok(self.pick(compare, a, b, a, Some(b)))
    }

    /// One of two values by a comparison of `a` with `b`, or with its constant.
    fn pick(&mut self, compare: Compare, yes: VReg, no: VReg, a: VReg, b: Option<VReg>) -> VReg {
        let d = self.int_reg();
        let [no, yes, first, second] = [no, yes, a, b.unwrap_or(a)].map(Operand::reg_use);
        let operands = [Operand::reg_reuse_def(d, 1), no, yes, first, second];
        let operands = &operands[..4 + usize::from(b.is_some())];
        self.h.push(HostOp::Select(compare), operands, None);
        d
    }

    /// Reverses bits by swapping ever larger neighbours.
    fn reverse(&mut self, wide: bool, a: Value) -> Result<VReg, Refused> {
        let mut v = self.reg(a)?;
        let steps: &[(u8, u64)] = &[
            (1, 0x5555_5555_5555_5555),
            (2, 0x3333_3333_3333_3333),
            (4, 0x0f0f_0f0f_0f0f_0f0f),
            (8, 0x00ff_00ff_00ff_00ff),
            (16, 0x0000_ffff_0000_ffff),
            (32, 0x0000_0000_ffff_ffff),
        ];
        for &(n, mask) in &steps[..if wide { 6 } else { 5 }] {
            let mask = if wide { mask } else { mask & 0xffff_ffff };
            let constant = self.int_reg();
            let def = [Operand::reg_def(constant)];
            self.h.push(HostOp::MovImm(mask), &def, None);
            let right = self.shift_by(5, wide, v, n);
            let right = self.two(legacy::AND, wide, right, constant);
            let left = self.two(legacy::AND, wide, v, constant);
            let left = self.shift_by(4, wide, left, n);
            v = self.two(legacy::OR, wide, left, right);
        }
        Ok(v)
    }
}
