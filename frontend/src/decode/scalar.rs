//! Scalar ALU encodings: SOP1, SOP2, SOPK, SOPC and SOPP.

use crate::decode::{Code, DecodeError};
use crate::inst::Inst;
use crate::isa::{sop1, sop2, sopc, sopk, sopp};

pub(crate) fn decode_sop1(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = sop1::INDEX.get(code.gfx, code.bits(8, 8), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_sop2(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = sop2::INDEX.get(code.gfx, code.bits(23, 7), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_sopk(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = sopk::INDEX.get(code.gfx, code.bits(23, 5), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_sopc(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = sopc::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    Err(code.unknown_encoding())
}

pub(crate) fn decode_sopp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let _desc = sopp::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    Err(code.unknown_encoding())
}
