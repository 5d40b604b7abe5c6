//! Selection for vectors, and for scalar floats, which are in the same registers. Truth values of
//! lanes are all ones or zeros. Casts between integer and float vectors are free and looked
//! through.

use regalloc2::{Operand, RegClass, VReg};

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::{Len, Row};
use crate::backend::x64::evex::rows;
use crate::backend::x64::inst::{Form, HostOp, Imm, Src};
use crate::backend::x64::rows::{legacy, vex};
use crate::vir::patterns;
use crate::vir::{FloatCC, Inst, IntCC, Op, Type, Value, types};

/// The predicate of a comparison instruction; none of these faults on quiet NaNs or depends on
/// MXCSR.
pub(super) fn predicate(cond: FloatCC) -> u8 {
    match cond {
        FloatCC::Equal => 0,
        FloatCC::LessThan => 1,
        FloatCC::LessThanOrEqual => 2,
        FloatCC::Unordered => 3,
        FloatCC::NotEqual => 4,
        FloatCC::UnorderedOrGreaterThanOrEqual => 5,
        FloatCC::UnorderedOrGreaterThan => 6,
        FloatCC::Ordered => 7,
        FloatCC::UnorderedOrEqual => 8,
        FloatCC::UnorderedOrLessThan => 9,
        FloatCC::UnorderedOrLessThanOrEqual => 10,
        FloatCC::OrderedNotEqual => 12,
        FloatCC::GreaterThanOrEqual => 13,
        FloatCC::GreaterThan => 14,
    }
}

/// The row of an operation by its type: scalar f32 or f64, vectors of f32 or f64.
fn by_type(ty: Type, rows: [Row; 4]) -> Row {
    let wide = usize::from(ty.lane_type() == types::F64);
    rows[wide + if ty.is_vector() { 2 } else { 0 }]
}

/// Binary vector operations: the row, and whether it is commutative.
fn binary_row(op: Op, ty: Type) -> Option<(Row, bool)> {
    let quads = ty.lane_bits() == 64;
    let words = ty.lane_bits() == 16;
    let int = |dwords: Row, qwords: Row| if quads { qwords } else { dwords };
    let float = |rows| by_type(ty, rows);
    if !ty.is_vector() && !ty.is_float() {
        return None;
    }
    Some(match op {
        Op::Iadd if words => (vex::VPADDW, true),
        Op::Isub if words => (vex::VPSUBW, false),
        Op::Imul if words => (vex::VPMULLW, true),
        Op::Umin if words => (vex::VPMINUW, true),
        Op::Umax if words => (vex::VPMAXUW, true),
        Op::Smin if words => (vex::VPMINSW, true),
        Op::Smax if words => (vex::VPMAXSW, true),
        Op::UaddSat if words => (vex::VPADDUSW, true),
        Op::SaddSat if words => (vex::VPADDSW, true),
        Op::UsubSat if words => (vex::VPSUBUSW, false),
        Op::SsubSat if words => (vex::VPSUBSW, false),
        Op::Iadd => (int(vex::VPADDD, vex::VPADDQ), true),
        Op::Isub => (int(vex::VPSUBD, vex::VPSUBQ), false),
        Op::Imul if !quads => (vex::VPMULLD, true),
        Op::Band => (vex::VPAND, true),
        Op::Bor => (vex::VPOR, true),
        Op::Bxor => (vex::VPXOR, true),
        Op::Umin if ty.lane_bits() == 8 => (vex::VPMINUB, true),
        Op::Umin if !quads => (vex::VPMINUD, true),
        Op::Umax if !quads => (vex::VPMAXUD, true),
        Op::Smin if !quads => (vex::VPMINSD, true),
        Op::Smax if !quads => (vex::VPMAXSD, true),
        // Which of two NaNs a sum or product propagates depends on the operand order.
        Op::Fadd => (
            float([vex::VADDSS, vex::VADDSD, vex::VADDPS, vex::VADDPD]),
            false,
        ),
        Op::Fsub => (
            float([vex::VSUBSS, vex::VSUBSD, vex::VSUBPS, vex::VSUBPD]),
            false,
        ),
        Op::Fmul => (
            float([vex::VMULSS, vex::VMULSD, vex::VMULPS, vex::VMULPD]),
            false,
        ),
        Op::Fdiv => (
            float([vex::VDIVSS, vex::VDIVSD, vex::VDIVPS, vex::VDIVPD]),
            false,
        ),
        _ => return None,
    })
}

impl Select<'_> {
    /// Can `user` take `v` from memory?
    pub(super) fn takes_memory(&self, user: Inst, v: Value) -> bool {
        let args = self.func.args(user);
        let is = |n: usize| self.resolve(args[n]) == v;
        if let Some(logic) = self.logic.get(&user) {
            return logic.sources.get(2) == Some(&v);
        }
        if let Some((a, _)) = self.and_not(user) {
            return self.ty(a).is_vector() && is(0);
        }
        match self.op(user) {
            Op::Fma => is(1) && !is(2),
            Op::Bitselect | Op::Blendv => is(1),
            Op::Splat | Op::ScalarToVector => self.ty(v).is_int(),
            Op::Insertlane(_) => is(1) && matches!(self.ty(v), types::I32 | types::I64),
            Op::Join => is(1) && !is(0),
            Op::WidenBytesU | Op::WidenBytesS | Op::WidenShortsU | Op::WidenShortsS => true,
            op if args.len() == 2 => {
                let ty = self.ty(args[0]);
                ty.is_vector()
                    && binary_row(op, ty).is_some_and(|(_, commutes)| is(1) || commutes && is(0))
            }
            _ => false,
        }
    }

    /// A vector as an operand that may be in memory.
    pub(super) fn src(&mut self, v: Value) -> Result<Src, Refused> {
        let v = self.resolve(v);
        if let Some(inst) = self.def(v) {
            if self.folded[inst.index()]
                && let Op::Load(_, _, offset) = self.op(inst)
            {
                let addr = self.addr(self.func.args(inst)[0], offset)?;
                return Ok(Src::Mem(addr));
            }
            if let Some(bytes) = self.vector_constant(v) {
                return Ok(self.pool(bytes));
            }
        }
        Ok(Src::Reg(self.reg(v)?))
    }

    /// A vector constant that repeats this lane.
    pub(super) fn lanes_of(&mut self, len: Len, lane: &[u8]) -> Src {
        let size = 16 << len as usize;
        let mut bytes = [0; 64];
        for (byte, &of_lane) in bytes.iter_mut().zip(lane.iter().cycle()) {
            *byte = of_lane;
        }
        self.pool(&bytes[..size])
    }

    pub(super) fn dwords(&mut self, len: Len, value: u32) -> Src {
        self.lanes_of(len, &value.to_le_bytes())
    }

    pub(super) fn rvm(&mut self, row: Row, len: Len, a: VReg, b: Src) -> VReg {
        self.rvm_imm(row, len, a, b, Imm::No)
    }

    pub(super) fn rvm_imm(&mut self, row: Row, len: Len, a: VReg, b: Src, imm: Imm) -> VReg {
        let op = HostOp::Vex(row, len, Form::Rvm, imm);
        self.define(RegClass::Float, op, &[a], Some(b))
    }

    /// Lanes of `yes` where `which` is all ones, else, where it is zero, of `no`.
    pub(super) fn blend(&mut self, len: Len, which: VReg, yes: Src, no: VReg) -> VReg {
        let op = HostOp::Vex(vex::VPBLENDVB, len, Form::Rvmr, Imm::No);
        self.define(RegClass::Float, op, &[no, which], Some(yes))
    }

    pub(super) fn rm(&mut self, row: Row, len: Len, a: Src, imm: Imm) -> VReg {
        let op = HostOp::Vex(row, len, Form::Rm, imm);
        self.define(RegClass::Float, op, &[], Some(a))
    }

    /// A source from a general register.
    pub(super) fn move_from_general(&mut self, wide: bool, a: VReg) -> VReg {
        let row = if wide {
            vex::VMOVD_TO.w1()
        } else {
            vex::VMOVD_TO
        };
        self.rm(row, Len::L128, Src::Reg(a), Imm::No)
    }

    /// The lowest lane in a general register.
    pub(super) fn move_to_general(&mut self, wide: bool, a: VReg) -> VReg {
        let row = if wide {
            vex::VMOVD_FROM.w1()
        } else {
            vex::VMOVD_FROM
        };
        let d = self.int_reg();
        let operands = [Operand::reg_def(d), Operand::reg_use(a)];
        let op = HostOp::Vex(row, Len::L128, Form::Mr, Imm::No);
        self.h.push(op, &operands, None);
        d
    }

    /// The sources, exchanged if that puts the one in memory second.
    fn operands(&mut self, a: Value, b: Value, commutes: bool) -> Result<(VReg, Src), Refused> {
        let in_memory = |s: &Self, v: Value| {
            let v = s.resolve(v);
            let folded = s.def(v).is_some_and(|i| s.folded[i.index()]);
            folded || s.vector_constant(v).is_some()
        };
        let (a, b) = if commutes && in_memory(self, a) {
            (b, a)
        } else {
            (a, b)
        };
        Ok((self.reg(a)?, self.src(b)?))
    }

    /// Selects an instruction on vectors or single floats.
    pub(super) fn vector(&mut self, inst: Inst) -> Result<(), Refused> {
        let op = self.op(inst);
        let args = self.func.args(inst);
        let result = self.ty(self.result(inst));
        let ty = self.ty(args[0]);
        let len = length(ty)?;
        if let Some((a, b)) = self.and_not(inst) {
            let (a, b) = (self.src(a)?, self.reg(b)?);
            let d = self.rvm(vex::VPANDN, len, b, a);
            self.set(inst, d);
            return Ok(());
        }
        if let Some((row, commutes)) = binary_row(op, ty).filter(|_| args.len() == 2) {
            let (a, b) = self.operands(args[0], args[1], commutes)?;
            let d = self.rvm(row, len, a, b);
            self.set(inst, d);
            return Ok(());
        }
        let reg = match op {
            Op::Imul => self.multiply_quads(len, args[0], args[1])?,
            Op::Bnot => {
                let a = self.reg(args[0])?;
                let ones = self.dwords(len, u32::MAX);
                self.rvm(vex::VPXOR, len, a, ones)
            }
            Op::Fabs => {
                let a = self.reg(args[0])?;
                let mask: &[u8] = if ty.lane_bits() == 64 {
                    &(u64::MAX >> 1).to_le_bytes()
                } else {
                    &(u32::MAX >> 1).to_le_bytes()
                };
                let mask = self.lanes_of(len, mask);
                self.rvm(vex::VPAND, len, a, mask)
            }
            Op::Icmp(cond) => self.compare_lanes(cond, len, args)?,
            Op::Fcmp(cond) => self.compare_floats(cond, len, args)?,
            Op::Bitselect | Op::Blendv => {
                // The sources' lanes are truth values; see the module.
                let c = self.reg(args[0])?;
                let (yes, no) = (self.src(args[1])?, self.reg(args[2])?);
                self.blend(len, c, yes, no)
            }
            Op::Fma => match self.fused(inst) {
                Some(fused) => self.fused_sum(ty, &fused)?,
                None => {
                    let (a, b) = (self.reg(args[0])?, self.src(args[1])?);
                    let sum = self.reg(args[2])?;
                    let row = match ty {
                        types::F64 => vex::VFMADD231SD,
                        _ => vex::VFMADD231SS,
                    };
                    let d = self.vec_reg();
                    let operands = [
                        Operand::reg_reuse_def(d, 1),
                        Operand::reg_use(sum),
                        Operand::reg_use(a),
                    ];
                    let op = HostOp::Vex(row, len, Form::Fma, Imm::No);
                    self.h.push(op, &operands, Some(b));
                    d
                }
            },
            Op::Sqrt => {
                let a = self.reg(args[0])?;
                let rows = [vex::VSQRTSS, vex::VSQRTSD, vex::VSQRTPS, vex::VSQRTPD];
                self.one_float(by_type(ty, rows), ty, a, Imm::No)?
            }
            Op::Floor | Op::Ceil | Op::Trunc | Op::Nearest => {
                let a = self.reg(args[0])?;
                let mode = match op {
                    Op::Nearest => 8,
                    Op::Floor => 9,
                    Op::Ceil => 10,
                    _ => 11,
                };
                let rows = [vex::VROUNDSS, vex::VROUNDSD, vex::VROUNDPS, vex::VROUNDPD];
                self.one_float(by_type(ty, rows), ty, a, Imm::Byte(mode))?
            }
            Op::Ishl | Op::Ushr | Op::Sshr => self.shift_lanes(op, ty, args[0], args[1])?,
            Op::Splat => self.splat(result, args[0])?,
            Op::ScalarToVector if self.ty(args[0]).is_int() => {
                let a = self.src(args[0])?;
                let row = match self.ty(args[0]) {
                    types::I64 => vex::VMOVD_TO.w1(),
                    _ => vex::VMOVD_TO,
                };
                self.rm(row, Len::L128, a, Imm::No)
            }
            Op::Insertlane(lane) | Op::Extractlane(lane) => self.one_lane(inst, lane, args)?,
            Op::VhighBits if ty.lane_bits() == 32 => {
                let a = self.reg(args[0])?;
                let d = self.int_reg();
                let op = HostOp::Vex(vex::VMOVMSKPS, len, Form::Rm, Imm::No);
                self.h.push(op, &[Operand::reg_def(d)], Some(Src::Reg(a)));
                d
            }
            Op::Bitcast => self.cast(ty, result, args[0])?,
            Op::SwidenLow | Op::UwidenLow if ty.lane_bits() < 32 && len == Len::L128 => {
                let a = self.reg(args[0])?;
                let row = match (op, ty.lane_bits()) {
                    (Op::SwidenLow, 8) => vex::VPMOVSXBW,
                    (Op::SwidenLow, _) => vex::VPMOVSXWD,
                    (_, 8) => vex::VPMOVZXBW,
                    _ => vex::VPMOVZXWD,
                };
                self.rm(row, len, Src::Reg(a), Imm::No)
            }
            Op::Popcnt if ty.lane_bits() == 8 => self.count_bits(len, args[0])?,
            Op::FcvtFromSint | Op::FcvtFromUint => self.integer_to_float(inst, result, args[0])?,
            Op::FcvtToSintSat | Op::FcvtToUintSat if result.lane_type() == types::I32 => {
                let unsigned = op == Op::FcvtToUintSat;
                self.float_to_integer(unsigned, ty, result, args[0])?
            }
            Op::Fpromote => {
                let a = self.reg(args[0])?;
                self.rvm(vex::VCVTSS2SD, len, a, Src::Reg(a))
            }
            Op::Fdemote => {
                let a = self.reg(args[0])?;
                self.rvm(vex::VCVTSD2SS, len, a, Src::Reg(a))
            }
            Op::FvpromoteLow => {
                let a = self.src(args[0])?;
                self.rm(vex::VCVTPS2PD, Len::L128, a, Imm::No)
            }
            Op::Fvdemote => {
                let a = self.reg(args[0])?;
                self.rm(vex::VCVTPD2PS, Len::L128, Src::Reg(a), Imm::No)
            }
            _ => return Err(self.refuse(inst)),
        };
        self.set(inst, reg);
        Ok(())
    }

    /// An operation with one float source; scalar ones copy the upper part of the register from it.
    fn one_float(&mut self, row: Row, ty: Type, a: VReg, imm: Imm) -> Result<VReg, Refused> {
        let len = length(ty)?;
        Ok(if ty.is_vector() {
            self.rm(row, len, Src::Reg(a), imm)
        } else {
            self.rvm_imm(row, len, a, Src::Reg(a), imm)
        })
    }

    fn cast(&mut self, from: Type, to: Type, v: Value) -> Result<VReg, Refused> {
        let wide = from.bits() == 64;
        let a = self.reg(v)?;
        match (from, to) {
            (types::I32 | types::I64, _) => Ok(self.move_from_general(wide, a)),
            (_, types::I32 | types::I64) => Ok(self.move_to_general(wide, a)),
            _ => Err(Refused(format!("a cast of {from} to {to}"))),
        }
    }

    fn splat(&mut self, to: Type, v: Value) -> Result<VReg, Refused> {
        let wide = to.lane_bits() == 64;
        let row = match to.lane_bits() {
            32 => vex::VPBROADCASTD,
            64 => vex::VPBROADCASTQ,
            _ => return Err(Refused(format!("a splat to {to}"))),
        };
        let len = length(to)?;
        if let Some(n) = self.int(v) {
            let bytes = if wide {
                self.lanes_of(len, &n.to_le_bytes())
            } else {
                self.dwords(len, n as u32)
            };
            return Ok(self.rm(vex::VMOVAPS, len, bytes, Imm::No));
        }
        let from = match self.src(v)? {
            Src::Reg(a) if self.ty(v).is_int() => Src::Reg(self.move_from_general(wide, a)),
            src => src,
        };
        Ok(self.rm(row, len, from, Imm::No))
    }

    // ---- comparisons

    fn invert_if(&mut self, negated: bool, len: Len, mask: VReg) -> VReg {
        if !negated {
            return mask;
        }
        let ones = self.dwords(len, u32::MAX);
        self.rvm(vex::VPXOR, len, mask, ones)
    }

    fn compare_lanes(&mut self, cond: IntCC, len: Len, args: &[Value]) -> Result<VReg, Refused> {
        let quads = self.ty(args[0]).lane_bits() == 64;
        let (equal, greater) = if quads {
            (vex::VPCMPEQQ, vex::VPCMPGTQ)
        } else {
            (vex::VPCMPEQD, vex::VPCMPGTD)
        };
        // Each order is that one operand is above the other, or the negation: a <= b is not a > b.
        let (unsigned, swapped, negated) = match cond {
            IntCC::Equal | IntCC::NotEqual => {
                let (a, b) = self.operands(args[0], args[1], true)?;
                let same = self.rvm(equal, len, a, b);
                return Ok(self.invert_if(cond == IntCC::NotEqual, len, same));
            }
            IntCC::SignedGreaterThan => (false, false, false),
            IntCC::SignedLessThan => (false, true, false),
            IntCC::SignedLessThanOrEqual => (false, false, true),
            IntCC::SignedGreaterThanOrEqual => (false, true, true),
            IntCC::UnsignedGreaterThan => (true, false, false),
            IntCC::UnsignedLessThan => (true, true, false),
            IntCC::UnsignedLessThanOrEqual => (true, false, true),
            IntCC::UnsignedGreaterThanOrEqual => (true, true, true),
        };
        let [x, y] = match swapped {
            true => [args[1], args[0]],
            false => [args[0], args[1]],
        };
        if unsigned && !quads {
            // x is not above y if it is the minimum.
            let (x, y) = self.operands(x, y, false)?;
            let least = self.rvm(vex::VPMINUD, len, x, y);
            let not_above = self.rvm(equal, len, x, Src::Reg(least));
            return Ok(self.invert_if(!negated, len, not_above));
        }
        let above = if unsigned {
            // With the sign bits flipped the order is the signed one.
            let sign = self.lanes_of(len, &(1u64 << 63).to_le_bytes());
            let [x, y] = [self.reg(x)?, self.reg(y)?].map(|v| self.rvm(vex::VPXOR, len, v, sign));
            self.rvm(greater, len, x, Src::Reg(y))
        } else {
            let (x, y) = self.operands(x, y, false)?;
            self.rvm(greater, len, x, y)
        };
        Ok(self.invert_if(negated, len, above))
    }

    fn compare_floats(&mut self, cond: FloatCC, len: Len, args: &[Value]) -> Result<VReg, Refused> {
        let ty = self.ty(args[0]);
        let (a, b) = (self.reg(args[0])?, self.reg(args[1])?);
        let row = by_type(ty, [vex::VCMPSS, vex::VCMPSD, vex::VCMPPS, vex::VCMPPD]);
        let code = Imm::Byte(predicate(cond));
        let mask = self.rvm_imm(row, len, a, Src::Reg(b), code);
        if ty.is_vector() {
            return Ok(mask);
        }
        let bits = self.move_to_general(false, mask);
        Ok(self.tied(legacy::ALU_I8, 4, false, bits, Imm::Byte(1)))
    }

    // ---- shifts and products

    pub(super) fn shift_constant(&mut self, row: Row, digit: u8, len: Len, a: VReg, n: u8) -> VReg {
        let d = self.vec_reg();
        let op = HostOp::Vex(row, len, Form::Digit(digit), Imm::Byte(n));
        self.h.push(op, &[Operand::reg_def(d)], Some(Src::Reg(a)));
        d
    }

    fn shift_lanes(&mut self, op: Op, ty: Type, v: Value, amount: Value) -> Result<VReg, Refused> {
        let len = length(ty)?;
        let quads = ty.lane_bits() == 64;
        let a = self.reg(v)?;
        if ty.lane_bits() == 16 {
            let by = self.int(amount);
            let by = by.ok_or_else(|| Refused(format!("a shift of {ty} by no constant")))?;
            let digit = match op {
                Op::Ishl => 6,
                Op::Ushr => 2,
                _ => 4,
            };
            return Ok(self.shift_constant(vex::VPSHIFTW_I, digit, len, a, by as u8 & 15));
        }
        let limit = if quads { 63 } else { 31 };
        let (row, constant_row, digit) = match (op, quads) {
            (Op::Ishl, false) => (vex::VPSLLD, vex::VPSHIFTD_I, 6),
            (Op::Ushr, false) => (vex::VPSRLD, vex::VPSHIFTD_I, 2),
            (Op::Sshr, false) => (vex::VPSRAD, vex::VPSHIFTD_I, 4),
            (Op::Ishl, true) => (vex::VPSLLQ, vex::VPSHIFTQ_I, 6),
            _ => (vex::VPSRLQ, vex::VPSHIFTQ_I, 2),
        };
        let constant = self.int(amount).map(|n| n as u8 & limit);
        if constant == Some(0) {
            return Ok(a);
        }
        let count = match constant {
            Some(_) => None,
            None => {
                let n = self.reg(amount)?;
                let n = self.tied(legacy::ALU_I8, 4, false, n, Imm::Byte(limit));
                Some(self.move_from_general(false, n))
            }
        };
        let shift = |s: &mut Self, a: VReg| match (constant, count) {
            (Some(n), _) => s.shift_constant(constant_row, digit, len, a, n),
            (None, Some(count)) => s.rvm(row, len, a, Src::Reg(count)),
            (None, None) => unreachable!("bug: a shift without an amount"),
        };
        let shifted = shift(self, a);
        if !(quads && op == Op::Sshr) {
            return Ok(shifted);
        }
        // Extends the shifted sign bit by (x ^ m) - m.
        let top = self.lanes_of(len, &(1u64 << 63).to_le_bytes());
        let top = self.rm(vex::VMOVAPS, len, top, Imm::No);
        let sign = shift(self, top);
        let flipped = self.rvm(vex::VPXOR, len, shifted, Src::Reg(sign));
        Ok(self.rvm(vex::VPSUBQ, len, flipped, Src::Reg(sign)))
    }

    /// Low halves of products of quads: the low product, and the cross products in the high half, of those dwords that are
    /// not known to be 0.
    fn multiply_quads(&mut self, len: Len, a: Value, b: Value) -> Result<VReg, Refused> {
        let zero = [a, b].map(|v| patterns::has_zero_high_dwords(self.func, v));
        if zero == [true, true] {
            let (a, b) = self.operands(a, b, true)?;
            return Ok(self.rvm(vex::VPMULUDQ, len, a, b));
        }
        if self.is_avx512() {
            let (a, b) = (self.reg(a)?, self.src(b)?);
            return Ok(self.evex_rvm(rows::VPMULLQ, len, a, b, Imm::No));
        }
        let [a, b] = [self.reg(a)?, self.reg(b)?];
        let low = self.rvm(vex::VPMULUDQ, len, a, Src::Reg(b));
        let mut cross = None;
        for (high, other) in [(!zero[0]).then_some((a, b)), (!zero[1]).then_some((b, a))]
            .into_iter()
            .flatten()
        {
            let high = self.shift_constant(vex::VPSHIFTQ_I, 2, len, high, 32);
            let product = self.rvm(vex::VPMULUDQ, len, high, Src::Reg(other));
            cross = Some(match cross {
                Some(sum) => self.rvm(vex::VPADDQ, len, sum, Src::Reg(product)),
                None => product,
            });
        }
        let cross = cross.expect("bug: two factors of dwords");
        let cross = self.shift_constant(vex::VPSHIFTQ_I, 6, len, cross, 32);
        Ok(self.rvm(vex::VPADDQ, len, low, Src::Reg(cross)))
    }

    /// Ones in each byte, by a table of nibbles.
    fn count_bits(&mut self, len: Len, v: Value) -> Result<VReg, Refused> {
        let a = self.reg(v)?;
        let table: Vec<u8> = (0..16u8).map(|n| n.count_ones() as u8).collect();
        let table = self.lanes_of(len, &table);
        let table = self.rm(vex::VMOVAPS, len, table, Imm::No);
        let mask = self.lanes_of(len, &[0x0f]);
        let low = self.rvm(vex::VPAND, len, a, mask);
        let high = self.shift_constant(vex::VPSHIFTW_I, 2, len, a, 4);
        let high = self.rvm(vex::VPAND, len, high, mask);
        let low = self.rvm(vex::VPSHUFB, len, table, Src::Reg(low));
        let high = self.rvm(vex::VPSHUFB, len, table, Src::Reg(high));
        Ok(self.rvm(vex::VPADDB, len, low, Src::Reg(high)))
    }
}
