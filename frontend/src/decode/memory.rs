//! Memory encodings: SMEM (SMRD), DS, FLAT, MUBUF, MTBUF, MIMG and EXP.

use crate::decode::{Code, DecodeError};
use crate::inst::Inst;

/// SMRD (gfx6/7) and SMEM (gfx8 up).
pub(crate) fn decode_smem(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// DS.
pub(crate) fn decode_ds(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// FLAT, GLOBAL and SCRATCH.
pub(crate) fn decode_flat(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// MUBUF.
pub(crate) fn decode_mubuf(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// MTBUF.
pub(crate) fn decode_mtbuf(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// MIMG.
pub(crate) fn decode_mimg(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}

/// EXP.
pub(crate) fn decode_exp(code: Code<'_>) -> Result<Inst, DecodeError> {
    Err(code.unknown_encoding())
}
