//! For AVX-512: operations whose result is merged under a mask. The operation's own instruction
//! merges, so no blend follows.

use regalloc2::{Operand, RegClass, VReg};

use super::{Select, length};
use crate::backend::x64::Refused;
use crate::backend::x64::encode::Len;
use crate::backend::x64::evex::{Evex, Tuple, rows};
use crate::backend::x64::evex_forms::twin;
use crate::backend::x64::inst::{Form, HostOp, Imm, MASK, PlaceBase};
use crate::backend::x64::space::{Space, table};
use crate::vir::{IntCC, Op, Part, Value};

/// The instructions that define values.
#[derive(Default)]
pub(super) struct Merge {
    /// By value number: its number of uses; empty for other CPUs.
    pub(super) uses: Vec<u32>,
    /// By value number: one more than the index of the host instruction whose only result it is.
    made: Vec<u32>,
    /// The first instruction of the block.
    first: usize,
    /// The first virtual register of the current instruction.
    fresh: usize,
}

impl Merge {
    /// With recycled memory.
    pub(super) fn new(space: &mut Space) -> Merge {
        Merge {
            made: table(&mut space.made, 0, 0),
            ..Merge::default()
        }
    }

    /// Returns the tables.
    pub(super) fn done(self, space: &mut Space) {
        space.uses = self.uses;
        space.made = self.made;
    }
}

/// Maximum distance that an instruction may be moved: its sources stay live until then.
const FARTHEST: usize = 24;

/// Logic, which is encoded for lanes of both sizes.
const LOGIC: [Evex; 5] = [
    rows::VPANDD,
    rows::VPANDND,
    rows::VPORD,
    rows::VPXORD,
    rows::VPTERNLOGD,
];

/// Shifts of all lanes by one amount.
const SHIFTS: [Evex; 3] = [rows::VPSLLD, rows::VPSRLD, rows::VPSRAD];

/// The row for lanes of this size, if the write mask of a vector operation can have it.
fn by_lanes(row: Evex, quads: bool) -> Option<Evex> {
    if quads && LOGIC.contains(&row) {
        let tuple = Tuple::Full(8);
        return Some(Evex { tuple, ..row.w1() });
    }
    // Rows with broadcast have lanes of the broadcast size; these results are shorter.
    let lane = match row.tuple {
        Tuple::Full(lane) if row != rows::VCVTPD2PS => lane,
        _ if SHIFTS.contains(&row) => 4,
        _ => return None,
    };
    (lane == if quads { 8 } else { 4 }).then_some(row)
}

/// The merging variant of a form.
fn merging(form: Form) -> Option<Form> {
    match form {
        Form::Rvm | Form::Fma => Some(Form::MergedRvm),
        Form::Rm => Some(Form::MergedRm),
        Form::Digit(digit) => Some(Form::MergedDigit(digit)),
        _ => None,
    }
}

impl Select<'_> {
    /// A block begins.
    pub(super) fn merge_in_block(&mut self) {
        self.merge.first = self.h.insts.len();
    }

    /// Begins selection for an instruction.
    pub(super) fn merge_from_here(&mut self) {
        self.merge.fresh = self.h.vregs();
    }

    /// Records the host instruction that defines a value.
    pub(super) fn note_made(&mut self, v: Value, reg: VReg) {
        if self.is_avx512() && reg.vreg() >= self.merge.fresh && self.h.last_gives(reg) {
            self.merge.made.resize(self.values.len(), 0);
            self.merge.made[v.index()] = self.h.insts.len() as u32;
        }
    }

    /// The index of the host instruction that defines a value in this block.
    fn made_here(&self, v: Value) -> Option<usize> {
        let made = *self.merge.made.get(v.index())? as usize;
        (made > self.merge.first).then(|| made - 1)
    }

    /// The instruction in this block that defines a single-use value: its index, how it merges
    /// lanes of this size, and whether its result is already one of its sources.
    fn merges(&self, v: Value, quads: bool, len: Len) -> Option<(usize, HostOp, bool)> {
        if self.merge.uses[v.index()] != 1 {
            return None;
        }
        let made = self.made_here(v)?;
        if self.h.insts.len() - made > FARTHEST {
            return None;
        }
        let host = &self.h.insts[made];
        let (row, host_len, form, imm) = match host.op {
            HostOp::Vex(row, len, form, imm) => (twin(row)?, len, form, imm),
            HostOp::Evex(row, len, form, imm) => (row, len, form, imm),
            _ => return None,
        };
        // Memory other than constants may be written before the use.
        let waits = host
            .mem
            .is_none_or(|place| matches!(place.base, PlaceBase::Pool(_)));
        let row = by_lanes(row, quads).filter(|_| waits && host_len == len)?;
        let op = HostOp::Evex(row, len, merging(form)?, imm);
        Some((made, op, form == Form::Fma))
    }

    /// The index of the instruction in this block that defines a single-use value.
    pub(super) fn made_for_one(&self, v: Value) -> Option<usize> {
        let v = self.resolve(v);
        let once = self.merge.uses[v.index()] == 1;
        self.made_here(v).filter(|_| once)
    }

    /// Is a value's register most likely free after the selection between it and another? It is
    /// loaded here, or used only by the instruction that defines the other. Otherwise merging needs
    /// a copy, and a blend does not.
    fn ends_here(&self, old: Value, new: Value) -> bool {
        let old = self.resolve(old);
        let load = |inst| matches!(self.op(inst), Op::Load(_, Part::Whole, _));
        if self.def(old).is_some_and(load) && self.made_here(old).is_some() {
            return true;
        }
        let same = |&&arg: &&Value| self.resolve(arg) == old;
        let def = self.def(new);
        let there = def.map_or(0, |inst| self.func.args(inst).iter().filter(same).count());
        self.merge.uses[old.index()] as usize == there + 1
    }

    /// Lanes of `args[1]` where the mask `args[0]` is set, else of `args[2]`, if an instruction can
    /// merge them itself.
    pub(super) fn merged(&mut self, quads: bool, args: &[Value]) -> Result<Option<VReg>, Refused> {
        let len = length(self.ty(args[1]))?;
        let yes = self.resolve(args[1]);
        let Some((made, op, tied)) = self.merges(yes, quads, len) else {
            return Ok(None);
        };
        if !self.ends_here(args[2], yes) {
            return Ok(None);
        }
        let (mask, old) = (self.mask(args[0])?, self.reg(args[2])?);
        let mut sources = self.h.sources(made);
        if tied {
            // The result accumulates into its own source.
            if sources[0] != old {
                return Ok(None);
            }
            sources.remove(0);
        }
        let place = self.h.take(made);
        let d = self.h.vreg(RegClass::Float);
        let mut operands = vec![
            Operand::reg_reuse_def(d, 1),
            Operand::reg_use(old),
            Operand::reg_use(mask),
        ];
        operands.extend(sources.into_iter().map(Operand::reg_use));
        self.h.push_at(op, &operands, place);
        Ok(Some(d))
    }

    /// Lanes of `v` where a mask is set, else zeros, if the instruction that defines the single-use
    /// value `v` can do that.
    pub(super) fn zeroing(
        &mut self,
        quads: bool,
        mask: Value,
        v: Value,
    ) -> Result<Option<VReg>, Refused> {
        let v = self.resolve(v);
        let Some((made, HostOp::Evex(row, len, Form::MergedRvm, imm), false)) =
            self.merges(v, quads, length(self.ty(v))?)
        else {
            return Ok(None);
        };
        let mask = self.mask(mask)?;
        let sources = self.h.sources(made);
        let place = self.h.take(made);
        let d = self.h.vreg(RegClass::Float);
        let mut operands = vec![Operand::reg_def(d), Operand::reg_use(mask)];
        operands.extend(sources.into_iter().map(Operand::reg_use));
        let op = HostOp::Evex(row, len, Form::ZeroedRvm, imm);
        self.h.push_at(op, &operands, place);
        Ok(Some(d))
    }

    /// The `and` that a value is, compared with zero: one instruction if the value has no other
    /// use.
    pub(super) fn tested(&mut self, cond: IntCC, v: Value) -> Option<VReg> {
        let v = self.resolve(v);
        let row = match cond {
            IntCC::Equal => rows::VPTESTNMD,
            IntCC::NotEqual => rows::VPTESTMD,
            _ => return None,
        };
        let (made, op, _) =
            self.merges(v, self.ty(v).lane_bits() == 64, length(self.ty(v)).ok()?)?;
        let HostOp::Evex(and, len, Form::MergedRvm, Imm::No) = op else {
            return None;
        };
        let tuple = and.tuple;
        let row = match and.row {
            of if of == rows::VPANDD.row => row,
            of if of == rows::VPANDD.row.w1() => Evex { tuple, ..row.w1() },
            _ => return None,
        };
        let sources = self.h.sources(made);
        let place = self.h.take(made);
        let d = self.h.vreg(MASK);
        let mut operands = vec![Operand::reg_def(d)];
        operands.extend(sources.into_iter().map(Operand::reg_use));
        self.h
            .push_at(HostOp::Evex(row, len, Form::Rvm, Imm::No), &operands, place);
        Some(d)
    }

    /// Inverts the comparison that defines a mask, if the mask has no other use.
    pub(super) fn inverted(&mut self, v: Value) -> bool {
        let v = self.resolve(v);
        if self.merge.uses[v.index()] != 1 {
            return false;
        }
        let Some(made) = self.made_here(v) else {
            return false;
        };
        let HostOp::Evex(row, _, Form::Rvm, Imm::Byte(code)) = &mut self.h.insts[made].op else {
            return false;
        };
        let compares = [
            rows::VCMPPS,
            rows::VCMPPD,
            rows::VPCMPD,
            rows::VPCMPUD,
            rows::VPCMPQ,
            rows::VPCMPUQ,
        ];
        if !compares.contains(row) {
            return false;
        }
        // One bit inverts each of these predicates.
        *code ^= 4;
        true
    }
}
