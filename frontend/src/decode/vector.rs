//! Vector ALU encodings: VOP1, VOP2, VOPC with SDWA and DPP, VOP3, VOP3P and VINTRP.

use crate::decode::{Code, DecodeError};
use crate::inst::Inst;
use crate::isa::{vintrp, vop1, vop2, vop3, vop3p, vopc};

pub(crate) fn decode_vop1(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vop1::INDEX.get(code.gfx, code.bits(9, 8), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_vop2(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vop2::INDEX.get(code.gfx, code.bits(25, 6), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_vopc(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vopc::INDEX.get(code.gfx, code.bits(17, 8), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_vop3(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vop3::INDEX.get(code.gfx, code.bits(16, 10), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_vop3p(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vop3p::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_vintrp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = vintrp::INDEX.get(code.gfx, code.bits(16, 2), code.word)?;
    Err(code.unknown_encoding())
}
