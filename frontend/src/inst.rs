//! A decoded instruction. After decoding no encoding bits are needed: operands are registers or
//! bits of the right type, modifiers are data.

use crate::desc::{Effects, Forms, InstDesc};
use crate::op::{Factor, Op};
use crate::state::FIRST_AGPR;
use crate::target::Gfx;
use crate::ty::Ty;
use crate::waits::WaitField;

/// Code of VCC_LO in the SGPR file.
pub const VCC_LO: u8 = 106;
/// Code of VCC_HI in the SGPR file.
pub const VCC_HI: u8 = 107;
/// Code of M0 in the SGPR file.
pub const M0: u8 = 124;
/// Code that no register has before gfx10. LLVM calls it `null`; memory instructions hold it as
/// [`Operand::Inline`] with value 0.
pub const NULL: u8 = 125;
/// Code of EXEC_LO in the SGPR file.
pub const EXEC_LO: u8 = 126;
/// Code of EXEC_HI in the SGPR file.
pub const EXEC_HI: u8 = 127;

/// A source that is neither a register nor a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Special {
    /// 235: aperture registers of gfx9; value in the high dword of a 64-bit read, 32-bit reads give 0.
    SharedBase,
    SharedLimit,
    PrivateBase,
    PrivateLimit,
    PopsExitingWaveId,
    /// 251: VCC == 0
    Vccz,
    /// 252: EXEC == 0
    Execz,
    /// 253: SCC
    Scc,
    /// 254: LDS_DIRECT, address and format in M0
    LdsDirect,
}

/// One operand. Its type is the row's, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Operand {
    /// Absent (a disabled destination, an address `off`).
    #[default]
    None,
    /// First register of the scalar file by encoding code 0..=127: SGPRs, FLAT_SCRATCH, XNACK_MASK,
    /// VCC (106), TBA/TMA/TTMP (108..), M0 (124), EXEC (126).
    Sgpr(u8),
    /// First vector register.
    Vgpr(u8),
    /// First accumulation register (gfx908 and later).
    Agpr(u8),
    /// Inline constant: its code, and the bits in the operand's type (packed types: the whole dword).
    Inline {
        /// Encoding code 128..=208 or 240..=248, or [`NULL`].
        code: u8,
        /// Value in the operand's type, zero-extended to 64 bits.
        bits: u64,
    },
    /// 32-bit literal that follows the instruction.
    Literal {
        /// The dword as it stands.
        word: u32,
        /// Value in the operand's type, zero-extended to 64 bits.
        bits: u64,
    },
    /// A special source.
    Special(Special),
    /// An immediate field (type [`Ty::Imm`], and SOPK's simm16 for typed positions): sign-extended
    /// simm16, raw counter or message fields, attribute numbers.
    Imm(i32),
}

impl Operand {
    /// The first register of a vector operand, of a VGPR or from [`FIRST_AGPR`] on.
    pub fn vector_register(self) -> Option<u16> {
        match self {
            Operand::Vgpr(n) => Some(n.into()),
            Operand::Agpr(n) => Some(FIRST_AGPR + u16::from(n)),
            Operand::None
            | Operand::Sgpr(_)
            | Operand::Inline { .. }
            | Operand::Literal { .. }
            | Operand::Special(_)
            | Operand::Imm(_) => None,
        }
    }
}

/// SDWA selections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Sel {
    Byte0 = 0,
    Byte1 = 1,
    Byte2 = 2,
    Byte3 = 3,
    Word0 = 4,
    Word1 = 5,
    #[default]
    Dword = 6,
}

/// Treatment of bits that an SDWA result does not cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Unused {
    #[default]
    Pad = 0,
    Sext = 1,
    Preserve = 2,
}

/// Modifiers of the SDWA form. Order of application: select, then sext or (abs, then neg).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Sdwa {
    /// Destination selection.
    pub dst_sel: Sel,
    /// Treatment of the rest.
    pub dst_unused: Unused,
    /// Selections of S0 and S1.
    pub src_sel: [Sel; 2],
    /// Sign extension of S0 and S1.
    pub sext: [bool; 2],
}

/// Modifiers of the DPP form; S0 comes from another lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Dpp {
    /// The 9-bit control field (quad_perm 0..=0xff, row_shl 0x101.., …).
    pub ctrl: u16,
    /// The bit as encoded: true = an invalid source lane reads 0 and writes.
    pub bound_ctrl: bool,
    /// Rows whose destination is written.
    pub row_mask: u8,
    /// Banks whose destination is written.
    pub bank_mask: u8,
}

/// Modifiers of vector ALU instructions. Bit n of a field is source n.
///
/// VOP3, SDWA and DPP: bits without meaning for the instruction are dropped by the decoder, except
/// `clamp` of float compares and conversions to integers and `omod` of the latter, which are
/// allowed without effect. VOP3P: all bits are kept, since LLVM prints them: `neg` and `neg_hi` of
/// integer types and `clamp` of integer rows without `Forms::INT_CLAMP` have no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Mods {
    /// Absolute value, applied first. VOP3P: mixes only.
    pub abs: u8,
    /// Negation, applied after `abs`. VOP3P but the mixes: negation of the low half's source (`neg_lo`).
    pub neg: u8,
    /// VOP3: NEG bits at integer sources of a float instruction (`v_ldexp`). Without effect; LLVM
    /// prints them as `sext()`.
    pub neg_int: u8,
    /// VOP3P but the mixes: negation of the high half's source.
    pub neg_hi: u8,
    /// Clamp.
    pub clamp: bool,
    /// Output modifier: 0 none, 1 times 2, 2 times 4, 3 divide by 2.
    pub omod: u8,
    /// VOP3 on gfx9: high half of source n (bit 3: of the destination). VOP3P: half for the low result. Conversions to
    /// floats of 8 bits: bits 3 and 2 are the byte of the destination, bits 1 and 0 have no effect.
    pub op_sel: u8,
    /// VOP3P: half for the high result. Mixes: source n is f16, and a constant there has f16 bits.
    pub op_sel_hi: u8,
    /// MFMA fields (cbsz, abid, blgp) of CDNA, raw. blgp of f64 is a negation on gfx942: [`Inst::negates_factors`].
    pub mfma: [u8; 3],
    /// The SDWA form's modifiers.
    pub sdwa: Option<Sdwa>,
    /// The DPP form's modifiers.
    pub dpp: Option<Dpp>,
}

/// Fields of memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub struct MemMods {
    /// Immediate offset in bytes (DS two-address forms: offset0 in elements; SMRD scaled to bytes).
    /// Bits that hardware ignores are removed: FLAT has none before gfx9 and 12 bits on gfx9.
    pub offset: i64,
    /// FLAT from gfx8 on: the 13 bits of the offset field as encoded, which LLVM prints even where
    /// hardware ignores them.
    pub flat_offset_field: u16,
    /// DS two-address forms: offset1 in elements.
    pub offset1: u8,
    /// SMEM: has an immediate offset (as opposed to a register only).
    pub has_imm: bool,
    pub glc: bool,
    pub slc: bool,
    pub nv: bool,
    /// gfx90a and later.
    pub scc: bool,
    pub gds: bool,
    pub lds: bool,
    pub tfe: bool,
    pub lwe: bool,
    pub offen: bool,
    pub idxen: bool,
    pub addr64: bool,
    pub unrm: bool,
    pub da: bool,
    pub r128: bool,
    pub a16: bool,
    pub d16: bool,
    /// MIMG: components.
    pub dmask: u8,
    /// MTBUF.
    pub dfmt: u8,
    /// MTBUF.
    pub nfmt: u8,
    /// EXP: target, enable mask, flags.
    pub exp_target: u8,
    pub exp_en: u8,
    pub exp_compr: bool,
    pub exp_done: bool,
    pub exp_vm: bool,
}

/// The assembler's name of an export target.
pub fn export_target_name(target: u8) -> String {
    match target {
        0..=7 => format!("mrt{target}"),
        8 => "mrtz".to_owned(),
        9 => "null".to_owned(),
        12..=15 => format!("pos{}", target - 12),
        32..=63 => format!("param{}", target - 32),
        _ => format!("target{target}"),
    }
}

/// How an instruction was encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Form {
    /// The row's own encoding (scalar, memory, VOP1/2/C in 32 bits, native VOP3 and VOP3P).
    Native,
    /// VOP1/2/C or VINTRP promoted to VOP3.
    Vop3,
    Sdwa,
    Dpp,
}

/// A decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inst {
    /// Its row.
    pub desc: &'static InstDesc,
    /// How it was encoded.
    pub form: Form,
    /// Length in bytes: 4, 8 or 12.
    pub len: u8,
    /// Destinations by position of the row.
    pub dst: [Operand; 2],
    /// Sources by position of the row. Memory rows: see the conventions in `isa/*.rs`.
    pub src: [Operand; 4],
    /// Modifiers of vector ALU forms.
    pub mods: Mods,
    /// Fields of memory instructions.
    pub mem: MemMods,
}

impl Inst {
    /// Its operation.
    pub fn op(&self) -> Op {
        self.desc.op
    }

    /// Type of destination `i`.
    pub fn dst_ty(&self, i: usize) -> Ty {
        self.desc.dst[i]
    }

    /// Type of source `i`.
    pub fn src_ty(&self, i: usize) -> Ty {
        self.desc.src[i]
    }

    /// Is it an `s_waitcnt` that waits for all accesses to vector memory (`vmcnt(0)`)?
    pub fn waits_for_vector_memory(&self, gfx: Gfx) -> bool {
        let Operand::Imm(imm) = self.src[0] else {
            return false;
        };
        self.op() == Op::Waitcnt && WaitField::Vm.get(imm as u16, gfx) == Some(0)
    }

    /// Is the last field of this matrix instruction a negation of A, B and C (bits 0 to 2) rather than a choice of lanes?
    /// (CDNA3 ISA manual, 7.1)
    pub fn negates_factors(&self, gfx: Gfx) -> bool {
        let f64 = matches!(self.op(), Op::Mfma(shape) if shape.factor == Factor::F64);
        f64 && gfx >= Gfx::Gfx942
    }

    /// Is the first destination also read, or written in part? Declared by the row, and by rule:
    /// SDWA results that preserve the rest, results in the high half (`op_sel`), and 16-bit results
    /// that keep the high half on gfx9.
    pub fn reads_d(&self, gfx: Gfx) -> bool {
        let preserves = matches!(
            self.mods.sdwa,
            Some(Sdwa {
                dst_unused: Unused::Preserve,
                dst_sel,
                ..
            }) if dst_sel != Sel::Dword
        );
        self.desc.effects.has(Effects::READS_D)
            || preserves
            || (self.desc.forms.has(Forms::OP_SEL) && self.mods.op_sel & 8 != 0)
            || (self.desc.forms.has(Forms::KEEPS_HI16) && gfx.is_gfx9())
    }

    /// The text as LLVM prints it for `gfx`; `pc` is the instruction's address (branch targets are
    /// printed as the raw distance, as by `llvm-mc`).
    pub fn text(&self, gfx: Gfx) -> String {
        crate::print::text(self, gfx)
    }
}
