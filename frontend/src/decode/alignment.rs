//! Groups of SGPRs whose first one is not aligned: the decoder rounds them down, as hardware does.

use crate::desc::Encoding;
use crate::inst::{Form, Inst, Operand};
use crate::target::Gfx;

/// The first register, as encoded, of the first group of SGPRs that is not aligned.
/// `bytes` begin with the instruction.
pub fn misaligned(gfx: Gfx, inst: &Inst, bytes: &[u8]) -> Option<u8> {
    fields(gfx, inst, bytes).find_map(|(operand, code)| match operand {
        Operand::Sgpr(used) if code < 128 && code != u32::from(used) => Some(code as u8),
        _ => None,
    })
}

/// Operands that may be groups of SGPRs, with their codes.
fn fields(gfx: Gfx, inst: &Inst, bytes: &[u8]) -> impl Iterator<Item = (Operand, u32)> {
    let dword = |i: usize| {
        let at = bytes.get(4 * i..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*at))
    };
    let (low, high) = (dword(0).unwrap_or(0), dword(1).unwrap_or(0));
    let at = |word: u32, from: u32, bits: u32| word >> from & ((1 << bits) - 1);
    let ([d0, d1], [s0, s1, s2, _]) = (inst.dst, inst.src);
    let none = (Operand::None, 0);
    let found = match (inst.desc.encoding, inst.form) {
        (_, Form::Vop3) | (Encoding::Vop3, _) => [
            (d0, at(low, 0, 8)),
            (d1, at(low, 8, 7)),
            (s0, at(high, 0, 9)),
            (s1, at(high, 9, 9)),
            (s2, at(high, 18, 9)),
        ],
        (Encoding::Sop1, _) => [(d0, at(low, 16, 7)), (s0, at(low, 0, 8)), none, none, none],
        (Encoding::Sop2, _) => [
            (d0, at(low, 16, 7)),
            (s0, at(low, 0, 8)),
            (s1, at(low, 8, 8)),
            none,
            none,
        ],
        (Encoding::Sopc, _) => [(s0, at(low, 0, 8)), (s1, at(low, 8, 8)), none, none, none],
        (Encoding::Sopk, _) => [(d0, at(low, 16, 7)), none, none, none, none],
        (Encoding::Smem, _) if gfx.is_gfx6_7() => [
            (d0, at(low, 15, 7)),
            (s0, at(low, 9, 6) << 1),
            none,
            none,
            none,
        ],
        // The data of a store is in the field of the destination.
        (Encoding::Smem, _) => [
            (d0, at(low, 6, 7)),
            (s0, at(low, 0, 6) << 1),
            (s2, at(low, 6, 7)),
            none,
            none,
        ],
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, Form::Native) => {
            [(s0, at(low, 0, 9)), none, none, none, none]
        }
        (Encoding::Vop3p, _) => [
            (s0, at(high, 0, 9)),
            (s1, at(high, 9, 9)),
            (s2, at(high, 18, 9)),
            none,
            none,
        ],
        (Encoding::Global, _) => [(s2, at(high, 16, 7)), none, none, none, none],
        _ => [none; 5],
    };
    found.into_iter()
}
