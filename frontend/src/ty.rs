//! Operand types. Register counts, inline-constant bits, literal expansion and printing follow from
//! these, never from an instruction's name.

/// The type of one operand of an instruction row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names say it: kind and width in bits")]
pub enum Ty {
    /// 16 bits, untyped.
    B16,
    U16,
    I16,
    F16,
    /// 32 bits, untyped (inline floats give f32 bits).
    B32,
    U32,
    I32,
    F32,
    /// 64 bits, untyped; literals are zero-extended.
    B64,
    U64,
    /// 64 bits signed; literals are sign-extended.
    I64,
    /// Literals give the high dword.
    F64,
    /// Two packed halves in one dword (VOP3P); inline constants per semantics of packed operands.
    PkU16,
    PkI16,
    PkF16,
    /// Two packed f32 in a register pair (gfx90a).
    PkF32,
    /// Two packed dwords in a register pair (gfx90a `v_pk_mov_b32`).
    PkB32,
    /// One bit a lane: VCC or an SGPR pair.
    Mask,
    B96,
    B128,
    B160,
    B256,
    B512,
    B1024,
    /// f32 matrices of 4, 16 or 32 registers (MFMA).
    F32x4,
    F32x16,
    F32x32,
    /// An immediate field: `simm16`, branch distance, counter fields, message, hardware register.
    Imm,
}

impl Ty {
    /// Width in bits; 0 for an immediate field.
    pub const fn bits(self) -> u32 {
        match self {
            Ty::B16 | Ty::U16 | Ty::I16 | Ty::F16 => 16,
            Ty::B32 | Ty::U32 | Ty::I32 | Ty::F32 | Ty::PkU16 | Ty::PkI16 | Ty::PkF16 => 32,
            Ty::B64 | Ty::U64 | Ty::I64 | Ty::F64 | Ty::PkF32 | Ty::PkB32 | Ty::Mask => 64,
            Ty::B96 => 96,
            Ty::B128 | Ty::F32x4 => 128,
            Ty::B160 => 160,
            Ty::B256 => 256,
            Ty::B512 | Ty::F32x16 => 512,
            Ty::B1024 | Ty::F32x32 => 1024,
            Ty::Imm => 0,
        }
    }

    /// Are inline constants of this type of 64 bits? Those of pairs are in the low half, the high one is 0; `B256` are
    /// the accumulators of f64 matrices.
    pub const fn has_wide_constants(self) -> bool {
        match self {
            Ty::PkF32 | Ty::PkB32 => false,
            Ty::B256 => true,
            _ => self.bits() == 64,
        }
    }

    /// Number of 32-bit registers that a value occupies.
    pub const fn regs(self) -> u32 {
        self.bits().div_ceil(32)
    }

    /// A float type of 16, 32 or 64 bits, packed included: `neg`, `abs` and `omod` mean something.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64 | Ty::PkF16 | Ty::PkF32)
    }

    /// A signed integer type.
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::I16 | Ty::I32 | Ty::I64 | Ty::PkI16)
    }
}
