//! Selection of fused multiply-adds, which can negate their sources.

use regalloc2::VReg;

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::Row;
use crate::backend::x64::inst::{Form, HostOp, Imm};
use crate::backend::x64::rows::vex;
use crate::vir::{Inst, Op, Type, Value, types};

/// Factors and addend, and whether the product and the addend are negated.
pub(super) struct Fused {
    pub(super) sources: [Value; 3],
    product: bool,
    sum: bool,
}

impl Select<'_> {
    /// The operand of a negated vector of floats.
    fn negative(&self, v: Value, bits: u32) -> Option<Value> {
        let (Op::Bxor, &[a, sign]) = self.made_by(v)? else {
            return None;
        };
        let lane = (1u64 << (bits - 1)).to_le_bytes();
        let lane = &lane[..bits as usize / 8];
        let signs = self.vector_constant(sign)?;
        signs
            .chunks_exact(lane.len())
            .all(|s| s == lane)
            .then_some(a)
    }

    /// The parts of a fused multiply-add of vectors.
    pub(super) fn fused(&self, inst: Inst) -> Option<Fused> {
        let (Op::Fma, &[a, b, c]) = (self.op(inst), self.func.args(inst)) else {
            return None;
        };
        let ty = self.ty(a);
        if !ty.is_vector() {
            return None;
        }
        let mut changed = [false; 3];
        let mut sources = [a, b, c];
        for (source, changed) in sources.iter_mut().zip(&mut changed) {
            if let Some(plain) = self.negative(*source, ty.lane_bits()) {
                (*source, *changed) = (plain, true);
            }
        }
        Some(Fused {
            sources,
            product: changed[0] != changed[1],
            sum: changed[2],
        })
    }

    /// Selects a fused multiply-add of vectors of this type. A constant addend comes from memory,
    /// and the result overwrites a factor.
    pub(super) fn fused_sum(&mut self, ty: Type, fused: &Fused) -> Result<VReg, Refused> {
        let [a, b, sum] = fused.sources.map(|v| self.resolve(v));
        let is_constant = |v: Value| self.vector_constant(v).is_some();
        let over_factor = is_constant(sum) && !is_constant(b);
        let [first, second, third] = match over_factor {
            true => [a, b, sum],
            false => [sum, a, b],
        };
        // A constant with no other use may be overwritten.
        let first = match self.def(first) {
            Some(inst) if over_factor && is_constant(first) => self.constant(inst, first)?,
            _ => self.reg(first)?,
        };
        let second = self.reg(second)?;
        let third = self.src(third)?;
        let row = row(over_factor, ty.lane_type() == types::F64, fused);
        let op = HostOp::Vex(row, length(ty)?, Form::Fma, Imm::No);
        Ok(self.over_first(op, [first, second], third))
    }
}

fn row(over_factor: bool, wide: bool, fused: &Fused) -> Row {
    let rows = match (over_factor, fused.product, fused.sum) {
        (false, false, false) => [vex::VFMADD231PS, vex::VFMADD231PD],
        (false, false, true) => [vex::VFMSUB231PS, vex::VFMSUB231PD],
        (false, true, false) => [vex::VFNMADD231PS, vex::VFNMADD231PD],
        (false, true, true) => [vex::VFNMSUB231PS, vex::VFNMSUB231PD],
        (true, false, false) => [vex::VFMADD213PS, vex::VFMADD213PD],
        (true, false, true) => [vex::VFMSUB213PS, vex::VFMSUB213PD],
        (true, true, false) => [vex::VFNMADD213PS, vex::VFNMADD213PD],
        (true, true, true) => [vex::VFNMSUB213PS, vex::VFNMSUB213PD],
    };
    rows[usize::from(wide)]
}
