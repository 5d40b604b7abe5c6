//! Selection of shuffles, single lanes and host vector operations.

use regalloc2::{Operand, RegClass, VReg};

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::{Len, Row};
use crate::backend::x64::evex::{Rounding, rows};
use crate::backend::x64::inst::{Form, HostOp, Imm, Src};
use crate::backend::x64::rows::{legacy, vex};
use crate::vir::{Constant, Inst, Op, Value, types};

/// The row of an operation that extends bytes or shorts to dwords, from registers or memory.
fn widening(op: Op) -> Option<Row> {
    match op {
        Op::WidenBytesU => Some(vex::VPMOVZXBD),
        Op::WidenBytesS => Some(vex::VPMOVSXBD),
        Op::WidenShortsU => Some(vex::VPMOVZXWD),
        Op::WidenShortsS => Some(vex::VPMOVSXWD),
        _ => None,
    }
}

/// The cache level of a prefetch, as the instruction's digit.
pub(super) fn caches(op: Op) -> Option<u8> {
    match op {
        Op::Prefetch => Some(1),
        Op::PrefetchSecond => Some(2),
        _ => None,
    }
}

impl Select<'_> {
    /// Extracts or inserts one lane of a vector.
    pub(super) fn one_lane(
        &mut self,
        inst: Inst,
        lane: u8,
        args: &[Value],
    ) -> Result<VReg, Refused> {
        let ty = self.ty(args[0]);
        let wide = ty.lane_bits() == 64;
        if ty.is_float() || !matches!(ty.lane_bits(), 32 | 64) || ty.lane_type().is_float() {
            return Err(self.refuse(inst));
        }
        let per_part = (128 / ty.lane_bits()) as u8;
        let (at, lane) = (lane / per_part, lane % per_part);
        let whole = self.reg(args[0])?;
        let len = length(ty)?;
        let part = match (at, len) {
            (0, _) => whole,
            (_, Len::L512) => self.evex_mr(rows::VEXTRACTI32X4, len, whole, Imm::Byte(at)),
            _ => self.high_half(Len::L256, whole),
        };
        let row = |row: Row| if wide { row.w1() } else { row };
        if args.len() == 1 {
            if lane == 0 {
                return Ok(self.move_to_general(wide, part));
            }
            let d = self.int_reg();
            let op = HostOp::Vex(row(vex::VPEXTRD), Len::L128, Form::Mr, Imm::Byte(lane));
            let operands = [Operand::reg_def(d), Operand::reg_use(part)];
            self.h.push(op, &operands, None);
            return Ok(d);
        }
        let word = self.src(args[1])?;
        let part = self.rvm_imm(row(vex::VPINSRD), Len::L128, part, word, Imm::Byte(lane));
        if len == Len::L128 {
            return Ok(part);
        }
        // The 128-bit instruction inserts into a longer vector.
        Ok(self.rvm_imm(vex::VINSERTI128, len, whole, Src::Reg(part), Imm::Byte(at)))
    }

    /// The high half of a vector.
    fn high_half(&mut self, len: Len, a: VReg) -> VReg {
        match len {
            Len::L512 => self.evex_mr(rows::VEXTRACTI64X4, len, a, Imm::Byte(1)),
            _ => self.reversed(vex::VEXTRACTI128, Len::L256, a, 1),
        }
    }

    /// Two vectors as one, of this length.
    fn joined(&mut self, len: Len, a: VReg, b: Src) -> VReg {
        match len {
            Len::L512 => self.evex_rvm(rows::VINSERTI64X4, len, a, b, Imm::Byte(1)),
            _ => self.rvm_imm(vex::VINSERTI128, len, a, b, Imm::Byte(1)),
        }
    }

    /// Two vectors of f64 as one of f32.
    fn demoted(&mut self, len: Len, a: VReg, b: VReg) -> VReg {
        let low = self.rm(vex::VCVTPD2PS, len, Src::Reg(a), Imm::No);
        let high = self.rm(vex::VCVTPD2PS, len, Src::Reg(b), Imm::No);
        self.joined(len, low, Src::Reg(high))
    }

    /// f32 as f16 in half of the bits, rounded as the number says: 0 to nearest even, 3 toward zero.
    fn halves_of(&mut self, len: Len, a: VReg, rounding: u8) -> VReg {
        self.reversed(vex::VCVTPS2PH, len, a, rounding)
    }

    /// Quads 0, 2, 4 and so on in the low half, odd quads in the high half.
    fn parted(&mut self, len: Len, a: VReg) -> VReg {
        match len {
            Len::L512 => self.order_quads(a, [0, 2, 4, 6, 1, 3, 5, 7]),
            _ => self.rm(vex::VPERMQ, len, Src::Reg(a), Imm::Byte(0xd8)),
        }
    }

    /// The reverse.
    fn mixed(&mut self, len: Len, a: VReg) -> VReg {
        match len {
            Len::L512 => self.order_quads(a, [0, 4, 1, 5, 2, 6, 3, 7]),
            _ => self.parted(len, a),
        }
    }

    /// An instruction with its result in the position of a source.
    fn reversed(&mut self, row: Row, len: Len, a: VReg, imm: u8) -> VReg {
        let op = HostOp::Vex(row, len, Form::Mr, Imm::Byte(imm));
        self.define(RegClass::Float, op, &[a], None)
    }

    /// Shuffles bytes of two vectors by a pattern of 16, within each 128 bits; zero where the
    /// pattern is at least 0x80.
    pub(super) fn shuffle(&mut self, inst: Inst, pattern: Constant) -> Result<(), Refused> {
        let args = self.func.args(inst);
        let len = length(self.ty(args[0]))?;
        let reg = self.shuffled(len, args[0], args[1], self.func.bytes(pattern))?;
        self.set(inst, reg);
        Ok(())
    }

    fn shuffled(&mut self, len: Len, a: Value, b: Value, pattern: &[u8]) -> Result<VReg, Refused> {
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
                if byte < 0x80 && (same || (byte >= 16) == second) {
                    byte & 15
                } else {
                    0x80
                }
            };
            pattern.iter().map(choose).collect()
        };
        let takes = |from: std::ops::Range<u8>| pattern.iter().any(|byte| from.contains(byte));
        if !same && !takes(0..16) {
            let second = self.lanes_of(len, &of(true));
            return Ok(self.rvm(vex::VPSHUFB, len, b_reg, second));
        }
        let first = self.lanes_of(len, &of(false));
        let first = self.rvm(vex::VPSHUFB, len, a_reg, first);
        if same || !takes(16..32) {
            return Ok(first);
        }
        let other = self.lanes_of(len, &of(true));
        let other = self.rvm(vex::VPSHUFB, len, b_reg, other);
        Ok(self.rvm(vex::VPOR, len, first, Src::Reg(other)))
    }

    /// Prefetches a cache line.
    pub(super) fn prefetch(&mut self, inst: Inst) -> Result<(), Refused> {
        let digit = caches(self.op(inst)).ok_or_else(|| self.refuse(inst))?;
        let addr = Src::Mem(self.addr(self.func.args(inst)[0], 0)?);
        let op = HostOp::Legacy(legacy::PREFETCH, false, Form::Address(digit), Imm::No);
        self.h.push(op, &[], Some(addr));
        Ok(())
    }

    /// Selects a host vector operation.
    pub(super) fn host_vector(&mut self, inst: Inst) -> Result<(), Refused> {
        let len = length(self.ty(self.func.args(inst)[0]))?;
        let result = length(self.ty(self.result(inst)))?;
        let reg = self.function(inst, len, result)?;
        self.set(inst, reg);
        Ok(())
    }

    /// A unary operation whose source has length `len` and whose result has length `result`.
    fn function(&mut self, inst: Inst, len: Len, result: Len) -> Result<VReg, Refused> {
        let (op, args) = (self.op(inst), self.func.args(inst));
        if let Some(row) = widening(op) {
            let parts = self.src(args[0])?;
            return Ok(self.rm(row, result, parts, Imm::No));
        }
        let a = self.reg(args[0])?;
        let second = |s: &mut Self| Ok(Src::Reg(s.reg(args[1])?));
        let of_both = |s: &mut Self, row| second(s).map(|b| s.rvm(row, len, a, b));
        Ok(match op {
            Op::MulWideU => of_both(self, vex::VPMULUDQ)?,
            Op::MulWideS => of_both(self, vex::VPMULDQ)?,
            Op::OddDwords if self.is_avx512() => {
                let b = self.reg(args[1])?;
                self.odd_dwords(len, a, b)
            }
            Op::OddDwords => {
                let b = second(self)?;
                self.rvm_imm(vex::VPBLENDD, len, a, b, Imm::Byte(0xaa))
            }
            Op::PromoteLow | Op::PromoteHigh | Op::FromIntLow | Op::FromIntHigh => {
                let mut half = self.parted(len, a);
                if matches!(op, Op::PromoteHigh | Op::FromIntHigh) {
                    half = self.high_half(len, half);
                }
                let row = match op {
                    Op::PromoteLow | Op::PromoteHigh => vex::VCVTPS2PD,
                    _ => vex::VCVTDQ2PD,
                };
                self.rm(row, len, Src::Reg(half), Imm::No)
            }
            // The upper half is not read.
            Op::LowHalf => a,
            Op::HighHalf => self.high_half(len, a),
            Op::LowHalves | Op::HighHalves if self.is_avx512() => {
                let b = self.reg(args[1])?;
                let halves = match (op, len) {
                    (Op::LowHalves, Len::L512) => 0x44,
                    (_, Len::L512) => 0xee,
                    (Op::LowHalves, _) => 0,
                    _ => 3,
                };
                self.parts_of_two(len, a, b, halves)
            }
            Op::LowHalves | Op::HighHalves => {
                let b = second(self)?;
                let halves = if op == Op::LowHalves { 0x20 } else { 0x31 };
                self.rvm_imm(vex::VPERM2I128, len, a, b, Imm::Byte(halves))
            }
            Op::EvenParts | Op::OddParts => {
                let b = self.reg(args[1])?;
                let parts = if op == Op::EvenParts { 0x88 } else { 0xdd };
                self.parts_of_two(len, a, b, parts)
            }
            Op::MixParts => self.parts_of_two(len, a, a, 0xd8),
            Op::NarrowBytes => self.evex_mr(rows::VPMOVDB, len, a, Imm::No),
            Op::NarrowShorts => self.evex_mr(rows::VPMOVDW, len, a, Imm::No),
            Op::MaskOfBits => self.mask_of_bits(a),
            Op::Rotate => {
                let rotated = self.rotate(len, a, args[1]);
                rotated.ok_or_else(|| Refused("a rotation by no constant".to_owned()))?
            }
            Op::Join => {
                let b = self.src(args[1])?;
                self.joined(result, a, b)
            }
            Op::ShiftLeft => of_both(self, vex::VPSLLVD)?,
            Op::ShiftRight => of_both(self, vex::VPSRLVD)?,
            Op::ShiftArithmetic => of_both(self, vex::VPSRAVD)?,
            Op::ShiftLeftQuads => of_both(self, vex::VPSLLVQ)?,
            Op::ShiftRightQuads => of_both(self, vex::VPSRLVQ)?,
            Op::ShiftArithmeticQuads => {
                let b = second(self)?;
                self.evex_rvm(rows::VPSRAVQ, len, a, b, Imm::No)
            }
            Op::ShortSigns => self.shift_constant(vex::VPSHIFTW_I, 4, len, a, 15),
            Op::PickBytes => of_both(self, vex::VPSHUFB)?,
            Op::PickDwords => {
                let numbers = self.reg(args[1])?;
                if self.resolve(args[0]) == self.resolve(args[2]) {
                    // Either source will do.
                    let op = HostOp::Evex(rows::VPERMD, len, Form::Rvm, Imm::No);
                    let class = RegClass::Float;
                    return Ok(self.define(class, op, &[numbers], Some(Src::Reg(a))));
                }
                let b = self.src(args[2])?;
                let op = HostOp::Evex(rows::VPERMT2D, len, Form::Fma, Imm::No);
                self.over_first(op, [a, numbers], b)
            }
            Op::WidenLow => self.rm(vex::VCVTPH2PS, len, Src::Reg(a), Imm::No),
            Op::WidenHigh => {
                let high = self.high_half(len, a);
                self.rm(vex::VCVTPH2PS, len, Src::Reg(high), Imm::No)
            }
            Op::Narrow => {
                let b = self.reg(args[1])?;
                let low = self.halves_of(len, a, 0);
                let high = self.halves_of(len, b, 0);
                self.joined(len, low, Src::Reg(high))
            }
            Op::FromHalf if self.is_avx512() => {
                let low = self.evex_mr(rows::VPMOVDW, len, a, Imm::No);
                self.rm(vex::VCVTPH2PS, len, Src::Reg(low), Imm::No)
            }
            Op::FromHalf => {
                let mask = self.dwords(len, 0xffff);
                let low = self.rvm(vex::VPAND, len, a, mask);
                let packed = self.rvm(vex::VPACKUSDW, len, low, Src::Reg(low));
                let packed = self.parted(len, packed);
                self.rm(vex::VCVTPH2PS, len, Src::Reg(packed), Imm::No)
            }
            Op::ToHalf | Op::ToHalfTruncating => {
                let toward_zero = op == Op::ToHalfTruncating;
                let halves = self.halves_of(len, a, if toward_zero { 3 } else { 0 });
                self.rm(vex::VPMOVZXWD, len, Src::Reg(halves), Imm::No)
            }
            Op::PromoteLowHalf => self.rm(vex::VCVTPS2PD, len, Src::Reg(a), Imm::No),
            Op::PromoteHighHalf => {
                let high = self.high_half(len, a);
                self.rm(vex::VCVTPS2PD, len, Src::Reg(high), Imm::No)
            }
            Op::DemoteHalves => {
                let b = self.reg(args[1])?;
                self.demoted(len, a, b)
            }
            Op::SumDown | Op::SumUp => {
                let b = self.reg(args[1])?;
                let direction = match op {
                    Op::SumDown => Rounding::Down,
                    _ => Rounding::Up,
                };
                let op = HostOp::Evex(rows::VADDPS, len, Form::Rounded(direction), Imm::No);
                self.define(RegClass::Float, op, &[a], Some(Src::Reg(b)))
            }
            Op::FusedUp => {
                let (b, c) = (self.reg(args[1])?, self.reg(args[2])?);
                let op = HostOp::Evex(
                    rows::VFMADD213PS,
                    len,
                    Form::RoundedFma(Rounding::Up),
                    Imm::No,
                );
                self.over_first(op, [a, b], Src::Reg(c))
            }
            Op::ToOdd => {
                let b = self.reg(args[1])?;
                self.rounded_to_odd(len, a, b)
            }
            Op::Least => {
                let b = self.src(args[1])?;
                self.rvm(vex::VMINPS, len, a, b)
            }
            Op::Scale => {
                let b = second(self)?;
                let row = match self.ty(args[0]).lane_type() {
                    types::F64 => rows::VSCALEFPD,
                    _ => rows::VSCALEFPS,
                };
                self.evex_rvm(row, len, a, b, Imm::No)
            }
            // To the nearest even integers, regardless of MXCSR.
            Op::Rest => self.evex_rm(rows::VREDUCEPS, len, Src::Reg(a), Imm::Byte(0)),
            Op::RootEstimate => {
                let row = match self.ty(args[0]).lane_type() {
                    types::F64 => rows::VRSQRT14PD,
                    _ => rows::VRSQRT14PS,
                };
                self.evex_rm(row, len, Src::Reg(a), Imm::No)
            }
            Op::ZeroOrInfinite => self.zero_or_infinite(len, a),
            Op::Mantissa => self.mantissa(len, a),
            Op::Exponent => self.exponent(len, a),
            Op::PlainMantissa => self.plain_mantissa(len, a),
            Op::PlainExponent => self.plain_exponent(len, a),
            Op::Fix => {
                let (x, fixes) = (self.reg(args[1])?, self.src(args[2])?);
                self.fixed(len, a, x, fixes)
            }
            Op::Flush => self.flushed(len, a),
            Op::Demote => {
                let b = self.reg(args[1])?;
                let both = self.demoted(len, a, b);
                self.mixed(len, both)
            }
            _ => return Err(self.refuse(inst)),
        })
    }
}
