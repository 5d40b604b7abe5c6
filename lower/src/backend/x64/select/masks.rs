//! Selection for AVX-512, where truth values of lanes are in mask registers as long as only
//! comparisons and logic define them; as vectors of ones and zeros they are rematerialized where
//! needed. Bits above those of the lanes are unspecified.

use regalloc2::{RegClass, VReg};

use super::vector::predicate;
use super::{NOWHERE, Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::{Len, Row};
use crate::backend::x64::evex::{Evex, rows};
use crate::backend::x64::inst::{Form, HostOp, Imm, MASK, Src};
use crate::backend::x64::rows::{legacy, masks, vex};
use crate::backend::x64::space::{Space, table};
use crate::host::Isa;
use crate::vir::patterns;
use crate::vir::{FloatCC, Inst, IntCC, Op, Value, types};

/// State of values in mask registers.
#[derive(Default)]
pub(super) struct Masks {
    /// By value number: its expansion as a vector, and the block of that.
    vectors: Vec<(u32, VReg)>,
}

impl Masks {
    /// With recycled memory for this number of values.
    pub(super) fn new(isa: Isa, values: usize, space: &mut Space) -> Masks {
        let values = match isa {
            Isa::Avx512 => values,
            Isa::Avx2 => 0,
        };
        Masks {
            vectors: table(&mut space.vectors, values, NOWHERE),
        }
    }

    /// Returns the tables.
    pub(super) fn done(self, space: &mut Space) {
        space.vectors = self.vectors;
    }
}

/// The truth table of `a ? c : b` for a ternary operation.
const CHOOSE_LAST: u8 = 0xac;
/// That of `(a | b) & c`.
const LAST_OF_EITHER: u8 = 0xa8;
/// That of `c ? b : a`.
const CHOOSE_BY_LAST: u8 = 0xd8;

/// The row of a masked load.
pub(super) fn load_row(quads: bool) -> Evex {
    match quads {
        true => rows::VMOVDQU32_LOAD.w1(),
        false => rows::VMOVDQU32_LOAD,
    }
}

impl Select<'_> {
    pub(super) fn is_avx512(&self) -> bool {
        self.h.isa == Isa::Avx512
    }

    /// Is a value in a mask register? Constants are rematerialized.
    pub(super) fn is_mask(&self, v: Value) -> bool {
        let v = self.resolve(v);
        self.is_avx512() && self.ty(v).is_mask() && self.vector_constant(v).is_none()
    }

    /// A vector constant that is all ones or zeros.
    pub(super) fn all_or_nothing(&self, v: Value) -> Option<bool> {
        patterns::all_or_nothing(self.vector_constant(v)?)
    }

    /// Are the lanes of a mask 64 bits wide rather than 32?
    fn has_quads(&self, v: Value) -> bool {
        self.ty(self.resolve(v)).lane_bits() == 64
    }

    pub(super) fn mask_reg(&mut self) -> VReg {
        self.h.vreg(MASK)
    }

    /// A register for a parameter of a block.
    pub(super) fn param_reg(&mut self, param: Value) -> VReg {
        match self.is_mask(param) {
            true => self.mask_reg(),
            false => self.h.vreg(Self::class(self.ty(param))),
        }
    }

    /// A value in the form of a block parameter.
    pub(super) fn argument(&mut self, v: Value, param: Value) -> Result<VReg, Refused> {
        match self.is_mask(param) {
            true => self.mask(v),
            false => self.reg(v),
        }
    }

    /// A truth value of lanes in a mask register: one that is already there, a constant, or the
    /// signs of a vector.
    pub(super) fn mask(&mut self, v: Value) -> Result<VReg, Refused> {
        let v = self.resolve(v);
        if self.is_mask(v) {
            return Ok(self.values[v.index()]);
        }
        if let Some(all) = self.all_or_nothing(v) {
            let word = HostOp::MovImm(if all { 0xffff } else { 0 });
            let bits = self.define(RegClass::Int, word, &[], None);
            return Ok(self.mask_of_bits(bits));
        }
        let len = length(self.ty(v))?;
        let a = self.reg(v)?;
        let row = match self.has_quads(v) {
            true => rows::VPMOVQ2M,
            false => rows::VPMOVD2M,
        };
        let op = HostOp::Evex(row, len, Form::Rm, Imm::No);
        Ok(self.define(MASK, op, &[], Some(Src::Reg(a))))
    }

    /// A mask as a vector of ones and zeros.
    pub(super) fn vector_of_mask(&mut self, v: Value) -> Result<VReg, Refused> {
        let n = v.index();
        let (block, reg) = self.masks.vectors[n];
        if block == self.block {
            return Ok(reg);
        }
        let len = length(self.ty(v))?;
        let row = match self.has_quads(v) {
            true => rows::VPMOVM2Q,
            false => rows::VPMOVM2D,
        };
        let reg = self.evex_rm(row, len, Src::Reg(self.values[n]), Imm::No);
        self.masks.vectors[n] = (self.block, reg);
        Ok(reg)
    }

    fn mask_rm(&mut self, row: Row, a: VReg) -> VReg {
        let op = HostOp::Vex(row, Len::L128, Form::Rm, Imm::No);
        self.define(MASK, op, &[], Some(Src::Reg(a)))
    }

    fn mask_rvm(&mut self, row: Row, a: VReg, b: VReg) -> VReg {
        let op = HostOp::Vex(row, Len::L256, Form::Rvm, Imm::No);
        self.define(MASK, op, &[a], Some(Src::Reg(b)))
    }

    pub(super) fn evex_rm(&mut self, row: Evex, len: Len, a: Src, imm: Imm) -> VReg {
        let op = HostOp::Evex(row, len, Form::Rm, imm);
        self.define(RegClass::Float, op, &[], Some(a))
    }

    pub(super) fn evex_rvm(&mut self, row: Evex, len: Len, a: VReg, b: Src, imm: Imm) -> VReg {
        let op = HostOp::Evex(row, len, Form::Rvm, imm);
        self.define(RegClass::Float, op, &[a], Some(b))
    }

    /// An instruction with its result in the position of a source.
    pub(super) fn evex_mr(&mut self, row: Evex, len: Len, a: VReg, imm: Imm) -> VReg {
        let op = HostOp::Evex(row, len, Form::Mr, imm);
        self.define(RegClass::Float, op, &[a], None)
    }

    /// A shift or rotation by a constant.
    fn evex_digit(&mut self, row: Evex, digit: u8, len: Len, a: VReg, by: u8) -> VReg {
        let op = HostOp::Evex(row, len, Form::Digit(digit), Imm::Byte(by));
        self.define(RegClass::Float, op, &[], Some(Src::Reg(a)))
    }

    /// A comparison into a mask register.
    pub(super) fn evex_compare(&mut self, row: Evex, len: Len, a: VReg, b: Src, code: u8) -> VReg {
        let op = HostOp::Evex(row, len, Form::Rvm, Imm::Byte(code));
        self.define(MASK, op, &[a], Some(b))
    }

    /// A ternary operation by its truth table, of which the first source is the highest bit of the
    /// index.
    pub(super) fn ternary(&mut self, len: Len, a: VReg, b: VReg, c: Src, table: u8) -> VReg {
        let op = HostOp::Evex(rows::VPTERNLOGD, len, Form::Fma, Imm::Byte(table));
        self.over_first(op, [a, b], c)
    }

    /// Floats rounded to odd, from those rounded down and up: the one nearer to zero, with its last bit
    /// set if they differ.
    pub(super) fn rounded_to_odd(&mut self, len: Len, down: VReg, up: VReg) -> VReg {
        let one = self.dwords(len, 1);
        let last = self.ternary(len, down, up, one, LAST_OF_EITHER);
        let cut = self.rvm(vex::VPMINUD, len, down, Src::Reg(up));
        self.rvm(vex::VPOR, len, cut, Src::Reg(last))
    }

    /// The result of an instruction where a mask is set, zeros elsewhere.
    fn zeroed(&mut self, row: Evex, len: Len, mask: VReg, a: Src) -> VReg {
        let op = HostOp::Evex(row, len, Form::ZeroedRm, Imm::No);
        self.define(RegClass::Float, op, &[mask], Some(a))
    }

    /// Lanes where a mask is set, zeros elsewhere.
    pub(super) fn kept(&mut self, quads: bool, len: Len, mask: VReg, a: Src) -> VReg {
        let row = match (a, quads) {
            (Src::Reg(_), false) => rows::VMOVDQA32,
            (Src::Reg(_), true) => rows::VMOVDQA32.w1(),
            (Src::Mem(_), _) => load_row(quads),
        };
        self.zeroed(row, len, mask, a)
    }

    /// Lanes of `yes` where a mask is set, else of `no`.
    pub(super) fn picked(&mut self, quads: bool, len: Len, mask: VReg, yes: Src, no: VReg) -> VReg {
        let row = match quads {
            true => rows::VPBLENDMQ,
            false => rows::VPBLENDMD,
        };
        let op = HostOp::Evex(row, len, Form::MaskedRvm, Imm::No);
        self.define(RegClass::Float, op, &[mask, no], Some(yes))
    }

    /// Even dwords of the first source, odd ones of the second.
    pub(super) fn odd_dwords(&mut self, len: Len, a: VReg, b: VReg) -> VReg {
        let odd = self.lanes_of(len, &(u64::MAX << 32).to_le_bytes());
        self.ternary(len, a, b, odd, CHOOSE_BY_LAST)
    }

    /// Bits of a general register as a mask.
    pub(super) fn mask_of_bits(&mut self, bits: VReg) -> VReg {
        self.mask_rm(masks::KMOVW_TO, bits)
    }

    /// A mask in a general register, with zeros above.
    fn bits_of_mask(&mut self, lanes: u32, mask: VReg) -> VReg {
        let row = match lanes {
            16 => masks::KMOVW_FROM,
            _ => masks::KMOVB_FROM,
        };
        let op = HostOp::Vex(row, Len::L128, Form::Rm, Imm::No);
        let d = self.define(RegClass::Int, op, &[], Some(Src::Reg(mask)));
        match lanes {
            8 | 16 => d,
            _ => {
                let low = Imm::Byte((1 << lanes) - 1);
                self.tied(legacy::ALU_I8, 4, false, d, low)
            }
        }
    }

    /// Selects operations for which AVX-512 has masks or better instructions; false for those
    /// selected as for AVX2.
    pub(super) fn avx512(&mut self, inst: Inst) -> Result<bool, Refused> {
        if self.do_logic(inst)? {
            return Ok(true);
        }
        let op = self.op(inst);
        let args = self.func.args(inst);
        let result = self.result(inst);
        let ty = self.ty(args[0]);
        let len = length(ty)?;
        let quads = ty.lane_bits() == 64;
        let reg = match op {
            Op::Icmp(cond) => self.compare_into_mask(cond, args)?,
            Op::Fcmp(cond) => {
                let mask = self.compare_floats_into_mask(cond, args)?;
                match ty.is_vector() {
                    true => mask,
                    false => self.bits_of_mask(16, mask),
                }
            }
            _ if self.is_mask(result) => self.mask_logic(inst, args)?,
            _ => match op {
                Op::Bitselect | Op::Blendv => self.choose_lanes(args)?,
                Op::Band => match self.keep_lanes(inst, len, args)? {
                    Some(reg) => reg,
                    None => return Ok(false),
                },
                Op::VhighBits if ty.lane_bits() == 32 => {
                    let mask = self.mask(args[0])?;
                    self.bits_of_mask(ty.lane_count(), mask)
                }
                Op::Sshr if quads && ty.is_vector() => {
                    self.shift_signed_quads(len, args[0], args[1])?
                }
                Op::Splat if self.ty(args[0]).is_int() => return self.splat_general(inst),
                Op::FcvtFromUint
                    if ty.is_vector()
                        && ty.lane_bits() == 32
                        && self.ty(result).lane_type() == types::F32 =>
                {
                    let a = self.reg(args[0])?;
                    self.evex_rm(rows::VCVTUDQ2PS, len, Src::Reg(a), Imm::No)
                }
                _ => return Ok(false),
            },
        };
        self.set(inst, reg);
        Ok(true)
    }

    fn compare_into_mask(&mut self, cond: IntCC, args: &[Value]) -> Result<VReg, Refused> {
        let ty = self.ty(args[0]);
        if self.all_or_nothing(args[1]) == Some(false)
            && let Some(tested) = self.tested(cond, args[0])
        {
            return Ok(tested);
        }
        if let Some(kind) = self.kind(cond, args) {
            return Ok(kind);
        }
        if let (true, IntCC::Equal | IntCC::NotEqual) =
            (self.is_mask(args[0]) && self.is_mask(args[1]), cond)
        {
            let (a, b) = (self.mask(args[0])?, self.mask(args[1])?);
            let row = match cond {
                IntCC::Equal => masks::KXNORW,
                _ => masks::KXORW,
            };
            return Ok(self.mask_rvm(row, a, b));
        }
        let (code, unsigned) = match cond {
            IntCC::Equal => (0, false),
            IntCC::NotEqual => (4, false),
            IntCC::SignedLessThan => (1, false),
            IntCC::SignedLessThanOrEqual => (2, false),
            IntCC::SignedGreaterThanOrEqual => (5, false),
            IntCC::SignedGreaterThan => (6, false),
            IntCC::UnsignedLessThan => (1, true),
            IntCC::UnsignedLessThanOrEqual => (2, true),
            IntCC::UnsignedGreaterThanOrEqual => (5, true),
            IntCC::UnsignedGreaterThan => (6, true),
        };
        let row = match (ty.lane_bits(), unsigned) {
            (32, false) => rows::VPCMPD,
            (32, true) => rows::VPCMPUD,
            (64, false) => rows::VPCMPQ,
            (64, true) => rows::VPCMPUQ,
            _ => return Err(Refused(format!("a comparison of {ty}"))),
        };
        let (a, b) = (self.reg(args[0])?, self.src(args[1])?);
        Ok(self.evex_compare(row, length(ty)?, a, b, code))
    }

    pub(super) fn compare_floats_into_mask(
        &mut self,
        cond: FloatCC,
        args: &[Value],
    ) -> Result<VReg, Refused> {
        let ty = self.ty(args[0]);
        let row = match (ty.is_vector(), ty.lane_type() == types::F64) {
            (false, false) => rows::VCMPSS,
            (false, true) => rows::VCMPSD,
            (true, false) => rows::VCMPPS,
            (true, true) => rows::VCMPPD,
        };
        // A constant is the second operand, in memory.
        let constant = self.vector_constant(args[0]).is_some();
        let (cond, a, b) = match constant {
            true => (cond.swap_args(), args[1], args[0]),
            false => (cond, args[0], args[1]),
        };
        let a = self.reg(a)?;
        let b = match self.vector_constant(b) {
            Some(_) => self.src(b)?,
            None => Src::Reg(self.reg(b)?),
        };
        Ok(self.evex_compare(row, length(ty)?, a, b, predicate(cond)))
    }

    /// Logic that makes a mask of masks.
    fn mask_logic(&mut self, inst: Inst, args: &[Value]) -> Result<VReg, Refused> {
        if let Some((a, b)) = self.and_not(inst) {
            let (a, b) = (self.mask(a)?, self.mask(b)?);
            return Ok(self.mask_rvm(masks::KANDNW, b, a));
        }
        if let Some(either) = self.unordered_or(inst) {
            return Ok(either);
        }
        let row = match self.op(inst) {
            Op::Band => masks::KANDW,
            Op::Bor => masks::KORW,
            Op::Bxor => masks::KXORW,
            Op::Bnot => {
                let a = self.mask(args[0])?;
                if self.inverted(args[0]) {
                    return Ok(a);
                }
                return Ok(self.mask_rm(masks::KNOTW, a));
            }
            Op::Bitselect | Op::Blendv => {
                let which = self.mask(args[0])?;
                let (yes, no) = (self.mask(args[1])?, self.mask(args[2])?);
                let yes = self.mask_rvm(masks::KANDW, which, yes);
                let no = self.mask_rvm(masks::KANDNW, which, no);
                return Ok(self.mask_rvm(masks::KORW, yes, no));
            }
            _ => return Err(self.refuse(inst)),
        };
        let (a, b) = (self.mask(args[0])?, self.mask(args[1])?);
        Ok(self.mask_rvm(row, a, b))
    }

    /// Selects lanes of two vectors by a truth value.
    fn choose_lanes(&mut self, args: &[Value]) -> Result<VReg, Refused> {
        let (which, ty) = (args[0], self.ty(args[1]));
        let len = length(ty)?;
        let quads = ty.lane_bits() == 64;
        if self.is_mask(which) && self.has_quads(which) == quads {
            if let Some(merged) = self.merged(quads, args)? {
                return Ok(merged);
            }
            if self.all_or_nothing(args[2]) == Some(false)
                && let Some(zeroed) = self.zeroing(quads, which, args[1])?
            {
                return Ok(zeroed);
            }
            let mask = self.mask(which)?;
            let (yes, no) = (self.src(args[1])?, self.reg(args[2])?);
            return Ok(self.picked(quads, len, mask, yes, no));
        }
        let which = self.reg(which)?;
        let (yes, no) = (self.src(args[1])?, self.reg(args[2])?);
        Ok(self.ternary(len, which, no, yes, CHOOSE_LAST))
    }

    /// A vector `and` a mask.
    fn keep_lanes(
        &mut self,
        inst: Inst,
        len: Len,
        args: &[Value],
    ) -> Result<Option<VReg>, Refused> {
        if let Some((a, b)) = self.and_not(inst) {
            if !self.is_mask(b) || self.is_mask(a) {
                return Ok(None);
            }
            let not = self.mask(b)?;
            let mask = self.mask_rm(masks::KNOTW, not);
            let a = self.src(a)?;
            return Ok(Some(self.kept(self.has_quads(b), len, mask, a)));
        }
        let (mask, other) = match *args {
            [a, b] if self.is_mask(a) && !self.is_mask(b) => (a, b),
            [a, b] if self.is_mask(b) && !self.is_mask(a) => (b, a),
            _ => return Ok(None),
        };
        let quads = self.has_quads(mask);
        if let Some(zeroed) = self.zeroing(quads, mask, other)? {
            return Ok(Some(zeroed));
        }
        let mask = self.mask(mask)?;
        let other = self.src(other)?;
        Ok(Some(self.kept(quads, len, mask, other)))
    }

    fn shift_signed_quads(&mut self, len: Len, v: Value, amount: Value) -> Result<VReg, Refused> {
        let a = self.reg(v)?;
        if let Some(n) = self.int(amount) {
            return Ok(self.evex_digit(rows::VPSRAQ_I, 4, len, a, n as u8 & 63));
        }
        let n = self.reg(amount)?;
        let n = self.tied(legacy::ALU_I8, 4, false, n, Imm::Byte(63));
        let count = self.move_from_general(false, n);
        Ok(self.evex_rvm(rows::VPSRAQ, len, a, Src::Reg(count), Imm::No))
    }

    /// Dwords rotated to the right; `None` if the amount is not constant.
    pub(super) fn rotate(&mut self, len: Len, a: VReg, by: Value) -> Option<VReg> {
        let by = self.int(by)? as u8 & 31;
        // Among shifts by constants the digit 0 rotates right.
        Some(self.evex_digit(rows::VPSHIFTD_I, 0, len, a, by))
    }

    /// A general register in all lanes.
    fn splat_general(&mut self, inst: Inst) -> Result<bool, Refused> {
        let v = self.func.args(inst)[0];
        let to = self.ty(self.result(inst));
        let row = match to.lane_bits() {
            32 => rows::VPBROADCASTD_R,
            64 => rows::VPBROADCASTQ_R,
            _ => return Ok(false),
        };
        if self.int(v).is_some() {
            return Ok(false);
        }
        let Src::Reg(a) = self.src(v)? else {
            return Ok(false);
        };
        let d = self.evex_rm(row, length(to)?, Src::Reg(a), Imm::No);
        self.set(inst, d);
        Ok(true)
    }

    /// f32 lanes to 32-bit integers: toward zero, saturating, NaN to 0.
    pub(super) fn saturate(&mut self, unsigned: bool, len: Len, a: VReg) -> VReg {
        if unsigned {
            let zero = self.define(RegClass::Float, HostOp::Zero, &[], None);
            // The second source is the result when the first is a NaN; too large values become all
            // ones.
            let a = self.rvm(vex::VMAXPS, len, a, Src::Reg(zero));
            return self.evex_rm(rows::VCVTTPS2UDQ, len, Src::Reg(a), Imm::No);
        }
        let ordered = self.evex_compare(rows::VCMPPS, len, a, Src::Reg(a), 7);
        let half = self.dwords(len, 2_147_483_648f32.to_bits());
        // Not less, and no NaN.
        let big = self.evex_compare(rows::VCMPPS, len, a, half, 13);
        let whole = self.zeroed(rows::VCVTTPS2DQ, len, ordered, Src::Reg(a));
        let most = self.dwords(len, i32::MAX as u32);
        self.picked(false, len, big, most, whole)
    }

    /// A single f64, or zero for a NaN.
    pub(super) fn number_or_zero(&mut self, a: VReg) -> VReg {
        let ordered = self.evex_compare(rows::VCMPSD, Len::L128, a, Src::Reg(a), 7);
        self.kept(true, Len::L128, ordered, Src::Reg(a))
    }

    /// 128-bit parts of one vector, then as many of another; `which` has two bits for each, one for
    /// 256-bit vectors.
    pub(super) fn parts_of_two(&mut self, len: Len, a: VReg, b: VReg, which: u8) -> VReg {
        self.evex_rvm(rows::VSHUFI64X2, len, a, Src::Reg(b), Imm::Byte(which))
    }

    /// Permutes the quads of a 512-bit vector.
    pub(super) fn order_quads(&mut self, a: VReg, order: [u8; 8]) -> VReg {
        let bytes: Vec<u8> = order
            .iter()
            .flat_map(|&n| u64::from(n).to_le_bytes())
            .collect();
        let order = self.pool(&bytes);
        let order = self.rm(vex::VMOVUPS_LOAD, Len::L512, order, Imm::No);
        self.evex_rvm(rows::VPERMQ_V, Len::L512, order, Src::Reg(a), Imm::No)
    }
}
