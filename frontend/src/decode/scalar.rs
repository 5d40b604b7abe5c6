//! Scalar ALU encodings: SOP1, SOP2, SOPK, SOPC and SOPP.

use crate::decode::operand::{At, LITERAL, scalar_reg, scalar_src};
use crate::decode::{Code, DecodeError, blank};
use crate::desc::{Forms, InstDesc};
use crate::inst::{Inst, Operand};
use crate::isa::{sop1, sop2, sopc, sopk, sopp};
use crate::op::Op;
use crate::ty::Ty;

/// Puts the scalar source of code `raw` at position `i`, with the literal that follows if it asks
/// for one.
fn source(code: Code<'_>, inst: &mut Inst, i: usize, raw: u32) -> Result<(), DecodeError> {
    let at = At {
        gfx: code.gfx,
        desc: inst.desc,
        what: if i == 0 { "SSRC0" } else { "SSRC1" },
    };
    let raw = raw as u16;
    let literal = if raw == LITERAL {
        inst.len = 8;
        Some(code.dword(1)?)
    } else {
        None
    };
    inst.src[i] = scalar_src(at, raw, inst.desc.src[i], literal)?;
    Ok(())
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

pub(crate) fn decode_sop1(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sop1::INDEX.get(code.gfx, code.bits(8, 8), code.word)?;
    let mut inst = blank(desc, 4);
    if let Some(&ty) = desc.dst.first() {
        inst.dst[0] = register(code, desc, code.bits(16, 7), ty)?;
    }
    if !desc.src.is_empty() {
        source(code, &mut inst, 0, code.bits(0, 8))?;
    }
    Ok(inst)
}

pub(crate) fn decode_sop2(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sop2::INDEX.get(code.gfx, code.bits(23, 7), code.word)?;
    let mut inst = blank(desc, 4);
    if let Some(&ty) = desc.dst.first() {
        inst.dst[0] = register(code, desc, code.bits(16, 7), ty)?;
    }
    source(code, &mut inst, 0, code.bits(0, 8))?;
    source(code, &mut inst, 1, code.bits(8, 8))?;
    Ok(inst)
}

pub(crate) fn decode_sopk(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopk::INDEX.get(code.gfx, code.bits(23, 5), code.word)?;
    let mut inst = blank(desc, 4);
    if let Some(&ty) = desc.dst.first() {
        inst.dst[0] = register(code, desc, code.bits(16, 7), ty)?;
    }
    if let [ty, _] = *desc.src {
        if desc.forms.has(Forms::LITERAL_K) {
            let word = code.dword(1)?;
            inst.len = 8;
            inst.src[0] = Operand::Literal {
                word,
                bits: u64::from(word),
            };
        } else {
            inst.src[0] = register(code, desc, code.bits(16, 7), ty)?;
        }
        inst.src[1] = simm16(code.word);
    } else {
        inst.src[0] = simm16(code.word);
    }
    Ok(inst)
}

pub(crate) fn decode_sopc(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopc::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    let mut inst = blank(desc, 4);
    source(code, &mut inst, 0, code.bits(0, 8))?;
    if desc.op == Op::SetGprIdxOn {
        // SSRC1 is the mask of index enables itself, not an operand code.
        inst.src[1] = Operand::Imm(code.bits(8, 8) as i32);
    } else {
        source(code, &mut inst, 1, code.bits(8, 8))?;
    }
    Ok(inst)
}

pub(crate) fn decode_sopp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = sopp::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    let mut inst = blank(desc, 4);
    if !desc.src.is_empty() {
        inst.src[0] = simm16(code.word);
    }
    Ok(inst)
}
