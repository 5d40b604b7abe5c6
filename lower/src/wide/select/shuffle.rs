//! Selection of shuffles, of single lanes, and of what CLIF has no instruction for.

use cranelift_codegen::ir::{self as clif, InstructionData, Value};
use regalloc2::{Operand, VReg};

use super::{Select, length};
use crate::wide::encode::{Len, Row};
use crate::wide::inst::{Form, Imm, Op, Src};
use crate::wide::rows::vex;
use crate::wide::{INTRINSIC, Intrinsic, Refused, SHUFFLE};

/// The row of an intrinsic that makes dwords of bytes or shorts, in registers or in memory.
fn widening(f: Intrinsic) -> Option<Row> {
    match f {
        Intrinsic::WidenBytesU => Some(vex::VPMOVZXBD),
        Intrinsic::WidenBytesS => Some(vex::VPMOVSXBD),
        Intrinsic::WidenShortsU => Some(vex::VPMOVZXWD),
        Intrinsic::WidenShortsS => Some(vex::VPMOVSXWD),
        _ => None,
    }
}

impl Select<'_> {
    /// One lane of a vector taken out or put in.
    pub(super) fn one_lane(&mut self, inst: clif::Inst, args: &[Value]) -> Result<VReg, Refused> {
        let (lane, insert) = match *self.data(inst) {
            InstructionData::TernaryImm8 { imm, .. } => (imm, true),
            InstructionData::BinaryImm8 { imm, .. } => (imm, false),
            _ => return Err(self.refuse(inst)),
        };
        let ty = self.ty(args[0]);
        let wide = ty.lane_bits() == 64;
        if ty.is_float() || !matches!(ty.lane_bits(), 32 | 64) || ty.lane_type().is_float() {
            return Err(self.refuse(inst));
        }
        let per_half = (128 / ty.lane_bits()) as u8;
        let (half, lane) = (lane / per_half, lane % per_half);
        let whole = self.reg(args[0])?;
        let part = match (half, insert) {
            (0, _) => whole,
            _ => self.high_half(whole),
        };
        let row = |row: Row| if wide { row.w1() } else { row };
        if !insert {
            if lane == 0 {
                return Ok(self.move_to_general(wide, part));
            }
            let d = self.int_reg();
            let op = Op::Vex(row(vex::VPEXTRD), Len::L128, Form::Mr, Imm::Byte(lane));
            let operands = [Operand::reg_def(d), Operand::reg_use(part)];
            self.h.push(op, &operands, None);
            return Ok(d);
        }
        let word = self.src(args[1])?;
        let part = self.rvm_imm(row(vex::VPINSRD), Len::L128, part, word, Imm::Byte(lane));
        if length(ty)? == Len::L128 {
            return Ok(part);
        }
        let half = Imm::Byte(half);
        Ok(self.rvm_imm(vex::VINSERTI128, Len::L256, whole, Src::Reg(part), half))
    }

    /// The high 128 bits of a vector.
    fn high_half(&mut self, a: VReg) -> VReg {
        self.reversed(vex::VEXTRACTI128, a, 1)
    }

    /// Eight f32 as f16 in 128 bits, rounded as the number says: 0 to nearest even, 3 toward zero.
    fn halves_of(&mut self, a: VReg, rounding: u8) -> VReg {
        self.reversed(vex::VCVTPS2PH, a, rounding)
    }

    /// An instruction whose result is where others have a source.
    fn reversed(&mut self, row: Row, a: VReg, imm: u8) -> VReg {
        let d = self.vec_reg();
        let op = Op::Vex(row, Len::L256, Form::Mr, Imm::Byte(imm));
        let operands = [Operand::reg_def(d), Operand::reg_use(a)];
        self.h.push(op, &operands, None);
        d
    }

    /// Bytes of two vectors by a pattern of 16, in each half of 128 bits.
    pub(super) fn shuffle(
        &mut self,
        len: Len,
        a: Value,
        b: Value,
        pattern: &[u8],
    ) -> Result<VReg, Refused> {
        let dwords: Option<Vec<u8>> = pattern
            .chunks_exact(4)
            .map(|c| {
                let whole = c[0] % 4 == 0 && (1..4).all(|n| c[n] == c[0] + n as u8);
                whole.then_some(c[0] / 4)
            })
            .collect();
        let same = self.resolve(a) == self.resolve(b);
        let (a_reg, b_reg) = (self.reg(a)?, self.reg(b)?);
        let second = Src::Reg(b_reg);
        if let Some(dwords) = &dwords {
            let row = match dwords[..] {
                [0, 4, 1, 5] => Some((vex::VPUNPCKLDQ, Imm::No)),
                [2, 6, 3, 7] => Some((vex::VPUNPCKHDQ, Imm::No)),
                [0, 1, 4, 5] => Some((vex::VPUNPCKLQDQ, Imm::No)),
                [2, 3, 6, 7] => Some((vex::VPUNPCKHQDQ, Imm::No)),
                [x, y, z, w] if x < 4 && y < 4 && z >= 4 && w >= 4 => {
                    let imm = x | y << 2 | (z & 3) << 4 | (w & 3) << 6;
                    Some((vex::VSHUFPS, Imm::Byte(imm)))
                }
                _ => None,
            };
            if let Some((row, imm)) = row {
                return Ok(self.rvm_imm(row, len, a_reg, second, imm));
            }
            if same || dwords.iter().all(|&d| d < 4) {
                let imm = (0..4).fold(0, |imm, n| imm | (dwords[n] & 3) << (2 * n));
                return Ok(self.rm(vex::VPSHUFD, len, Src::Reg(a_reg), Imm::Byte(imm)));
            }
        }
        let of = |second: bool| -> Vec<u8> {
            let choose = |&byte: &u8| {
                if same || (byte >= 16) == second {
                    byte & 15
                } else {
                    0x80
                }
            };
            pattern.iter().map(choose).collect()
        };
        let first = self.lanes_of(len, &of(false));
        let first = self.rvm(vex::VPSHUFB, len, a_reg, first);
        if same || pattern.iter().all(|&byte| byte < 16) {
            return Ok(first);
        }
        let other = self.lanes_of(len, &of(true));
        let other = self.rvm(vex::VPSHUFB, len, b_reg, other);
        Ok(self.rvm(vex::VPOR, len, first, Src::Reg(other)))
    }

    /// The name of what an instruction calls.
    fn callee(&self, inst: clif::Inst) -> Option<&clif::UserExternalName> {
        let InstructionData::Call { func_ref, .. } = *self.data(inst) else {
            return None;
        };
        let clif::ExternalName::User(name) = self.clif.dfg.ext_funcs[func_ref].name else {
            return None;
        };
        Some(&self.clif.params.user_named_funcs()[name])
    }

    /// The intrinsic that an instruction calls.
    pub(super) fn called(&self, inst: clif::Inst) -> Option<Intrinsic> {
        let name = self.callee(inst)?;
        let number = (name.namespace == INTRINSIC).then_some(name.index)?;
        Intrinsic::ALL.get(number as usize).copied()
    }

    /// A call by name: what CLIF has no instruction for.
    pub(super) fn intrinsic(&mut self, inst: clif::Inst) -> Result<(), Refused> {
        let name = self.callee(inst).ok_or_else(|| self.refuse(inst))?;
        let args = self.clif.dfg.inst_args(inst);
        let len = length(self.ty(args[0]))?;
        let reg = if name.namespace == SHUFFLE {
            let imm = clif::Immediate::from_u32(name.index);
            let pattern = self.clif.dfg.immediates[imm].as_slice();
            self.shuffle(len, args[0], args[1], pattern)?
        } else {
            let intrinsic = Intrinsic::ALL.get(name.index as usize).copied();
            let intrinsic = intrinsic.ok_or_else(|| self.refuse(inst))?;
            self.function(intrinsic, len, args)?
        };
        self.set(inst, reg);
        Ok(())
    }

    fn function(&mut self, f: Intrinsic, len: Len, args: &[Value]) -> Result<VReg, Refused> {
        if let Some(row) = widening(f) {
            let parts = self.src(args[0])?;
            return Ok(self.rm(row, Len::L256, parts, Imm::No));
        }
        let a = self.reg(args[0])?;
        let second = |s: &mut Self| Ok(Src::Reg(s.reg(args[1])?));
        let of_both = |s: &mut Self, row| second(s).map(|b| s.rvm(row, len, a, b));
        // Quads 0 and 2 in the low half, 1 and 3 in the high one; its own inverse.
        let middle =
            |s: &mut Self, a: VReg| s.rm(vex::VPERMQ, Len::L256, Src::Reg(a), Imm::Byte(0xd8));
        Ok(match f {
            Intrinsic::MulWideU => of_both(self, vex::VPMULUDQ)?,
            Intrinsic::MulWideS => of_both(self, vex::VPMULDQ)?,
            Intrinsic::OddDwords => {
                let b = second(self)?;
                self.rvm_imm(vex::VPBLENDD, len, a, b, Imm::Byte(0xaa))
            }
            Intrinsic::PromoteLow
            | Intrinsic::PromoteHigh
            | Intrinsic::FromIntLow
            | Intrinsic::FromIntHigh => {
                let mut half = middle(self, a);
                if matches!(f, Intrinsic::PromoteHigh | Intrinsic::FromIntHigh) {
                    half = self.high_half(half);
                }
                let row = match f {
                    Intrinsic::PromoteLow | Intrinsic::PromoteHigh => vex::VCVTPS2PD,
                    _ => vex::VCVTDQ2PD,
                };
                self.rm(row, Len::L256, Src::Reg(half), Imm::No)
            }
            // What is above 128 bits is not looked at.
            Intrinsic::LowHalf => a,
            Intrinsic::HighHalf => self.high_half(a),
            Intrinsic::LowHalves | Intrinsic::HighHalves => {
                let b = second(self)?;
                let halves = if f == Intrinsic::LowHalves {
                    0x20
                } else {
                    0x31
                };
                self.rvm_imm(vex::VPERM2I128, Len::L256, a, b, Imm::Byte(halves))
            }
            Intrinsic::WidenBytesU
            | Intrinsic::WidenBytesS
            | Intrinsic::WidenShortsU
            | Intrinsic::WidenShortsS => unreachable!("bug: {f:?} was seen to before"),
            Intrinsic::Join => {
                let b = self.src(args[1])?;
                self.rvm_imm(vex::VINSERTI128, Len::L256, a, b, Imm::Byte(1))
            }
            Intrinsic::ShiftLeft => of_both(self, vex::VPSLLVD)?,
            Intrinsic::ShiftRight => of_both(self, vex::VPSRLVD)?,
            Intrinsic::ShiftArithmetic => of_both(self, vex::VPSRAVD)?,
            Intrinsic::WidenLow => self.rm(vex::VCVTPH2PS, Len::L256, Src::Reg(a), Imm::No),
            Intrinsic::WidenHigh => {
                let high = self.high_half(a);
                self.rm(vex::VCVTPH2PS, Len::L256, Src::Reg(high), Imm::No)
            }
            Intrinsic::Narrow => {
                let b = self.reg(args[1])?;
                let low = self.halves_of(a, 0);
                let high = self.halves_of(b, 0);
                let one = Imm::Byte(1);
                self.rvm_imm(vex::VINSERTI128, Len::L256, low, Src::Reg(high), one)
            }
            Intrinsic::FromHalf => {
                let mask = self.dwords(Len::L256, 0xffff);
                let low = self.rvm(vex::VPAND, Len::L256, a, mask);
                let packed = self.rvm(vex::VPACKUSDW, Len::L256, low, Src::Reg(low));
                let packed = middle(self, packed);
                self.rm(vex::VCVTPH2PS, Len::L256, Src::Reg(packed), Imm::No)
            }
            Intrinsic::ToHalf | Intrinsic::ToHalfTruncating => {
                let toward_zero = f == Intrinsic::ToHalfTruncating;
                let halves = self.halves_of(a, if toward_zero { 3 } else { 0 });
                self.rm(vex::VPMOVZXWD, Len::L256, Src::Reg(halves), Imm::No)
            }
            Intrinsic::Demote => {
                let b = self.reg(args[1])?;
                let low = self.rm(vex::VCVTPD2PS, Len::L256, Src::Reg(a), Imm::No);
                let high = self.rm(vex::VCVTPD2PS, Len::L256, Src::Reg(b), Imm::No);
                let one = Imm::Byte(1);
                let both = self.rvm_imm(vex::VINSERTI128, Len::L256, low, Src::Reg(high), one);
                middle(self, both)
            }
        })
    }
}
