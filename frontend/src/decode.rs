//! Bytes to [`Inst`]. Total: any byte string gives an instruction or a typed error.

use crate::inst::Inst;
use crate::target::Gfx;

/// Why a word is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Fewer bytes than the instruction needs.
    #[error("truncated instruction: {have} of {need} bytes")]
    Truncated {
        /// Bytes that are there.
        have: usize,
        /// Bytes that the instruction needs.
        need: usize,
    },
    /// The leading bits belong to no encoding of the target.
    #[error("unknown encoding 0x{word:08x} on {gfx}")]
    UnknownEncoding {
        /// First dword.
        word: u32,
        /// Target.
        gfx: Gfx,
    },
    /// The encoding has no such opcode on the target.
    #[error("unknown opcode {opcode} in {encoding} on {gfx} (word 0x{word:08x})")]
    UnknownOpcode {
        /// Opcode number.
        opcode: u16,
        /// Name of the encoding.
        encoding: &'static str,
        /// First dword.
        word: u32,
        /// Target.
        gfx: Gfx,
    },
    /// An operand code that is reserved there.
    #[error("reserved operand {code} for {what} of {name} on {gfx}")]
    ReservedOperand {
        /// Operand code.
        code: u16,
        /// Which operand.
        what: &'static str,
        /// Instruction.
        name: &'static str,
        /// Target.
        gfx: Gfx,
    },
    /// A literal where the form takes none.
    #[error("{name} takes no literal in this form on {gfx}")]
    LiteralNotAllowed {
        /// Instruction.
        name: &'static str,
        /// Target.
        gfx: Gfx,
    },
    /// A modifier field with a reserved value.
    #[error("reserved value {value} of {field} in {name} on {gfx}")]
    ReservedField {
        /// Value of the field.
        value: u32,
        /// Name of the field.
        field: &'static str,
        /// Instruction.
        name: &'static str,
        /// Target.
        gfx: Gfx,
    },
}

/// Decodes the first instruction of `bytes` (little-endian dwords as they lie in memory).
pub fn decode(gfx: Gfx, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let need = 4;
    let Some(first) = bytes.first_chunk::<4>() else {
        return Err(DecodeError::Truncated {
            have: bytes.len(),
            need,
        });
    };
    Err(DecodeError::UnknownEncoding {
        word: u32::from_le_bytes(*first),
        gfx,
    })
}
