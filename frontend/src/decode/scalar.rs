//! Scalar ALU encodings: SOP1, SOP2, SOPK, SOPC and SOPP.

use crate::decode::operand::{At, LITERAL, scalar_reg, scalar_src};
use crate::decode::{Code, DecodeError, blank};
use crate::desc::{Forms, InstDesc};
use crate::inst::{Inst, Operand};
use crate::isa::{sop1, sop2, sopc, sopk, sopp};
use crate::op::Op;
use crate::ty::Ty;

/// The scalar source of code `raw` at position `i`, with the literal that follows if it asks for
/// one; `len` is then 8.
#[inline]
fn source(
    code: Code<'_>,
    desc: &'static InstDesc,
    i: usize,
    raw: u32,
    len: &mut u8,
) -> Result<Operand, DecodeError> {
    let at = At {
        gfx: code.gfx,
        desc,
        what: if i == 0 { "SSRC0" } else { "SSRC1" },
    };
    let raw = raw as u16;
    let literal = if raw == LITERAL {
        *len = 8;
        Some(code.dword(1)?)
    } else {
        None
    };
    scalar_src(at, raw, desc.src[i], literal)
}

/// An instruction of these operands.
#[inline]
fn inst(desc: &'static InstDesc, len: u8, d: Operand, s0: Operand, s1: Operand) -> Inst {
    Inst {
        dst: [d, Operand::None],
        src: [s0, s1, Operand::None, Operand::None],
        ..blank(desc, len)
    }
}

/// The scalar destination (or the register that SOPK reads) of code `raw`.
fn register(
    code: Code<'_>,
    desc: &'static InstDesc,
    raw: u32,
    ty: Ty,
) -> Result<Operand, DecodeError> {
    let at = At {
        gfx: code.gfx,
        desc,
        what: "SDST",
    };
    scalar_reg(at, raw as u16, ty.regs())
}

/// simm16, sign-extended.
fn simm16(word: u32) -> Operand {
    Operand::Imm(i32::from(word as i16))
}

/// The destination, if the row has one.
#[inline]
fn destination(code: Code<'_>, desc: &'static InstDesc, raw: u32) -> Result<Operand, DecodeError> {
    match desc.dst.first() {
        Some(&ty) => register(code, desc, raw, ty),
        None => Ok(Operand::None),
    }
}

pub(crate) fn decode_sop1(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sop1::INDEX.get(code.gfx, code.bits(8, 8), code.word)?;
    let mut len = 4;
    let d = destination(code, desc, code.bits(16, 7))?;
    let s0 = if desc.src.is_empty() {
        Operand::None
    } else {
        source(code, desc, 0, code.bits(0, 8), &mut len)?
    };
    Ok(inst(desc, len, d, s0, Operand::None))
}

pub(crate) fn decode_sop2(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sop2::INDEX.get(code.gfx, code.bits(23, 7), code.word)?;
    let mut len = 4;
    let d = destination(code, desc, code.bits(16, 7))?;
    let s0 = source(code, desc, 0, code.bits(0, 8), &mut len)?;
    let s1 = source(code, desc, 1, code.bits(8, 8), &mut len)?;
    Ok(inst(desc, len, d, s0, s1))
}

pub(crate) fn decode_sopk(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopk::INDEX.get(code.gfx, code.bits(23, 5), code.word)?;
    let d = destination(code, desc, code.bits(16, 7))?;
    let imm = simm16(code.word);
    let [ty, _] = *desc.src else {
        return Ok(inst(desc, 4, d, imm, Operand::None));
    };
    if desc.forms.has(Forms::LITERAL_K) {
        let word = code.dword(1)?;
        let k = Operand::Literal {
            word,
            bits: u64::from(word),
        };
        return Ok(inst(desc, 8, d, k, imm));
    }
    let s0 = register(code, desc, code.bits(16, 7), ty)?;
    Ok(inst(desc, 4, d, s0, imm))
}

pub(crate) fn decode_sopc(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopc::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    let mut len = 4;
    let s0 = source(code, desc, 0, code.bits(0, 8), &mut len)?;
    let s1 = if desc.op == Op::SetGprIdxOn {
        // SSRC1 is the mask of index enables itself, not an operand code.
        Operand::Imm(code.bits(8, 8) as i32)
    } else {
        source(code, desc, 1, code.bits(8, 8), &mut len)?
    };
    Ok(inst(desc, len, Operand::None, s0, s1))
}

pub(crate) fn decode_sopp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopp::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    let s0 = if desc.src.is_empty() {
        Operand::None
    } else {
        simm16(code.word)
    };
    Ok(inst(desc, 4, Operand::None, s0, Operand::None))
}
