//! Bytes to [`Inst`]. Total: any byte string gives an instruction or a typed error.

pub use alignment::misaligned;

use crate::desc::InstDesc;
use crate::inst::{Form, Inst, MemMods, Mods, Operand};
use crate::target::Gfx;

mod alignment;
pub(crate) mod memory;
pub(crate) mod operand;
mod scalar;
mod vector;
mod vop3;

/// Why a word is not an instruction.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Fewer bytes than the instruction needs.
    #[error("truncated instruction: {have} of {need} bytes")]
    Truncated {
        /// Number of available bytes.
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
    /// The target has no such opcode in this encoding.
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
    /// A reserved operand code.
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
    /// A literal in a form without one.
    #[error("{name} takes no literal in this form on {gfx}")]
    LiteralNotAllowed {
        /// Instruction.
        name: &'static str,
        /// Target.
        gfx: Gfx,
    },
    /// The instruction has no such SDWA or DPP form.
    #[error("{name} has no {form} form on {gfx}")]
    NoSuchForm {
        /// `SDWA` or `DPP`.
        form: &'static str,
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

/// The bytes of one instruction, with at least its first dword.
#[derive(Clone, Copy)]
pub(crate) struct Code<'a> {
    pub(crate) gfx: Gfx,
    /// First dword.
    pub(crate) word: u32,
    bytes: &'a [u8],
}

impl Code<'_> {
    /// The dword at `4 * n`.
    pub(crate) fn dword(&self, n: usize) -> Result<u32, DecodeError> {
        match self.bytes.get(4 * n..).and_then(|b| b.first_chunk::<4>()) {
            Some(b) => Ok(u32::from_le_bytes(*b)),
            None => Err(DecodeError::Truncated {
                have: self.bytes.len(),
                need: 4 * n + 4,
            }),
        }
    }

    /// Bits `lo..lo + len` of the first dword.
    pub(crate) fn bits(&self, lo: u32, len: u32) -> u32 {
        field(self.word, lo, len)
    }

    /// The error for leading bits that belong to no encoding.
    pub(crate) fn unknown_encoding(&self) -> DecodeError {
        DecodeError::UnknownEncoding {
            word: self.word,
            gfx: self.gfx,
        }
    }
}

/// Bits `lo..lo + len` of `word`.
pub(crate) const fn field(word: u32, lo: u32, len: u32) -> u32 {
    (word >> lo) & ((1 << len) - 1)
}

/// Is bit `n` of `word` set?
pub(crate) const fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// An instruction of `desc` without operands, `len` bytes long.
pub(crate) fn blank(desc: &'static InstDesc, len: u8) -> Inst {
    Inst {
        desc,
        form: Form::Native,
        len,
        dst: [Operand::None; 2],
        src: [Operand::None; 4],
        mods: Mods::default(),
        mem: MemMods::default(),
    }
}

/// Decodes the first instruction of `bytes` (little-endian dwords).
pub fn decode(gfx: Gfx, bytes: &[u8]) -> Result<Inst, DecodeError> {
    let Some(first) = bytes.first_chunk::<4>() else {
        return Err(DecodeError::Truncated {
            have: bytes.len(),
            need: 4,
        });
    };
    let word = u32::from_le_bytes(*first);
    let code = Code { gfx, word, bytes };
    if word >> 31 == 0 {
        return match word >> 25 {
            0x3e => vector::decode_vopc(code),
            0x3f => vector::decode_vop1(code),
            _ => vector::decode_vop2(code),
        };
    }
    if word >> 30 == 0b10 {
        return match word >> 23 {
            0b1_0111_1101 => scalar::decode_sop1(code),
            0b1_0111_1110 => scalar::decode_sopc(code),
            0b1_0111_1111 => scalar::decode_sopp(code),
            _ if word >> 28 == 0b1011 => scalar::decode_sopk(code),
            _ => scalar::decode_sop2(code),
        };
    }
    match (word >> 26, gfx.is_gfx6_7()) {
        (0b11_0000, _) | (0b11_0001, true) => memory::decode_smem(code),
        (0b11_0010, true) | (0b11_0101, false) => vector::decode_vintrp(code),
        (0b11_0100, false) if gfx.is_gfx9() && word >> 23 == 0b1_1010_0111 => {
            vop3::decode_vop3p(code)
        }
        (0b11_0100, _) => vop3::decode_vop3(code),
        (0b11_0110, _) => memory::decode_ds(code),
        (0b11_0111, _) if gfx != Gfx::Gfx600 => memory::decode_flat(code),
        (0b11_1000, _) => memory::decode_mubuf(code),
        (0b11_1010, _) => memory::decode_mtbuf(code),
        (0b11_1100, _) => memory::decode_mimg(code),
        (0b11_1110, true) | (0b11_0001, false) => memory::decode_exp(code),
        _ => Err(code.unknown_encoding()),
    }
}
