//! Operand codes to [`Operand`]s: registers, inline constants and literals in the operand's type.

use crate::decode::DecodeError;
use crate::desc::InstDesc;
use crate::inst::{Operand, Special};
use crate::target::Gfx;
use crate::ty::Ty;

/// Code of a literal that follows.
pub(crate) const LITERAL: u16 = 255;

/// Where an operand stands, for its error.
#[derive(Clone, Copy)]
pub(crate) struct At {
    pub(crate) gfx: Gfx,
    pub(crate) desc: &'static InstDesc,
    /// `S0`, `SDST`, …
    pub(crate) what: &'static str,
}

impl At {
    /// The error for a reserved code.
    #[cold]
    pub(crate) fn reserved(self, code: u16) -> DecodeError {
        DecodeError::ReservedOperand {
            code,
            what: self.what,
            name: self.desc.name_on(self.gfx),
            gfx: self.gfx,
        }
    }
}

/// A source of 8 bits: a scalar register, a constant or a special source. `literal` is the dword
/// after the instruction where the form takes one.
#[inline]
pub(crate) fn scalar_src(
    at: At,
    code: u16,
    ty: Ty,
    literal: Option<u32>,
) -> Result<Operand, DecodeError> {
    match code {
        0..=127 => scalar_reg(at, code, ty.regs()),
        128..=208 | 240..=247 => Ok(inline(code as u8, ty)),
        248 if at.gfx.is_gfx8_up() => Ok(inline(248, ty)),
        235..=239 if at.gfx.is_gfx9() => Ok(Operand::Special(match code {
            235 => Special::SharedBase,
            236 => Special::SharedLimit,
            237 => Special::PrivateBase,
            238 => Special::PrivateLimit,
            _ => Special::PopsExitingWaveId,
        })),
        251 => Ok(Operand::Special(Special::Vccz)),
        252 => Ok(Operand::Special(Special::Execz)),
        253 => Ok(Operand::Special(Special::Scc)),
        // A source of vector instructions; hardware has it for SRC0 only, LLVM prints it anywhere.
        254 if ty.regs() <= 1 && at.what.starts_with("SRC") => {
            Ok(Operand::Special(Special::LdsDirect))
        }
        LITERAL => match literal {
            Some(word) => Ok(Operand::Literal {
                word,
                bits: literal_bits(word, ty),
            }),
            None => Err(DecodeError::LiteralNotAllowed {
                name: at.desc.name_on(at.gfx),
                gfx: at.gfx,
            }),
        },
        _ => Err(at.reserved(code)),
    }
}

/// A source of 9 bits: as [`scalar_src`], or a vector register (which holds no mask).
#[inline(always)]
pub(crate) fn src9(
    at: At,
    code: u16,
    ty: Ty,
    literal: Option<u32>,
) -> Result<Operand, DecodeError> {
    if code >= 256 && ty != Ty::Mask {
        vgpr(at, code & 0xff, ty.regs())
    } else {
        scalar_src(at, code, ty, literal)
    }
}

/// A vector register or the first of `regs`, all of which exist.
#[inline(always)]
pub(crate) fn vgpr(at: At, first: u16, regs: u32) -> Result<Operand, DecodeError> {
    if u32::from(first) + regs <= 256 {
        Ok(Operand::Vgpr(first as u8))
    } else {
        Err(at.reserved(first + 256))
    }
}

/// A scalar register or the first of `regs` registers, as source or destination. A group that is
/// not aligned as its size asks is rounded down, as hardware and LLVM do.
#[inline]
pub(crate) fn scalar_reg(at: At, code: u16, regs: u32) -> Result<Operand, DecodeError> {
    let align = match regs {
        0 | 1 => 1,
        2 => 2,
        _ => 4,
    };
    let first = code & !(align - 1);
    // The named registers are pairs, which start at even codes; longer groups exist of SGPRs and
    // TTMPs only.
    let ttmp = if at.gfx.is_gfx9() { 108 } else { 112 };
    let sgprs = if at.gfx.is_gfx6_7() { 104 } else { 102 };
    let named = regs <= 1 || (regs == 2 && code & 1 == 0);
    let fits = match code {
        // Up to the end of the pair behind the SGPRs, which hardware lets a group reach.
        _ if code < sgprs => first + regs as u16 <= 104,
        102..=105 => named && (code >= 104 || !at.gfx.is_gfx6_7()) && at.gfx != Gfx::Gfx600,
        106 | 107 | 126 | 127 => named,
        108..=123 if code >= ttmp => first + regs as u16 <= 124,
        108..=111 => named,
        124 => regs <= 1,
        _ => false,
    };
    if fits {
        Ok(Operand::Sgpr(first as u8))
    } else {
        Err(at.reserved(code))
    }
}

/// An inline constant in the operand's type. `code` is 128..=208 or 240..=248.
pub(crate) fn inline(code: u8, ty: Ty) -> Operand {
    let bits = match code {
        128..=192 => u64::from(code) - 128,
        193..=208 => (192 - i64::from(code)) as u64,
        _ => float_bits(code, ty),
    };
    let bits = match ty.bits() {
        16 => bits & 0xffff,
        _ if ty.has_wide_constants() => bits,
        _ => u64::from(bits as u32),
    };
    Operand::Inline { code, bits }
}

/// The float constant `code` (240..=248) in an operand's type. 16-bit integers read the low half of
/// the f32 (only f16 operands get f16 bits); packed f16 has the constant in the low half, packed
/// integers and pairs have the f32.
pub(crate) fn float_bits(code: u8, ty: Ty) -> u64 {
    let (f16, f32, f64) = FLOATS[usize::from(code - 240) % FLOATS.len()];
    match ty {
        Ty::F16 | Ty::PkF16 => u64::from(f16),
        _ if ty.has_wide_constants() => f64,
        _ => u64::from(f32),
    }
}

/// 0.5, -0.5, 1, -1, 2, -2, 4, -4 and 1/(2 pi) as f16, f32 and f64.
const FLOATS: [(u16, u32, u64); 9] = [
    (0x3800, 0x3f00_0000, 0x3fe0_0000_0000_0000),
    (0xb800, 0xbf00_0000, 0xbfe0_0000_0000_0000),
    (0x3c00, 0x3f80_0000, 0x3ff0_0000_0000_0000),
    (0xbc00, 0xbf80_0000, 0xbff0_0000_0000_0000),
    (0x4000, 0x4000_0000, 0x4000_0000_0000_0000),
    (0xc000, 0xc000_0000, 0xc000_0000_0000_0000),
    (0x4400, 0x4080_0000, 0x4010_0000_0000_0000),
    (0xc400, 0xc080_0000, 0xc010_0000_0000_0000),
    (0x3118, 0x3e22_f983, 0x3fc4_5f30_6dc9_c882),
];

/// The inline constant whose bits in `ty` (F16, F32 or F64) are `bits`.
pub(crate) fn float_code(bits: u64, ty: Ty) -> Option<u8> {
    FLOATS
        .iter()
        .position(|&(f16, f32, f64)| {
            bits == match ty {
                Ty::F16 => u64::from(f16),
                Ty::F32 => u64::from(f32),
                _ => f64,
            }
        })
        .map(|i| 240 + i as u8)
}

/// A literal expanded to the operand's type.
pub(crate) fn literal_bits(word: u32, ty: Ty) -> u64 {
    match ty {
        Ty::F64 => u64::from(word) << 32,
        Ty::I64 => i64::from(word as i32) as u64,
        _ if ty.bits() == 16 => u64::from(word & 0xffff),
        _ => u64::from(word),
    }
}
