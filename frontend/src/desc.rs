//! The static description of an instruction on all targets (a row). Rows are data (`isa/*.rs`);
//! their semantics are the [`Op`], implemented once in each engine.

use crate::op::Op;
use crate::target::Gfx;
use crate::ty::Ty;

/// The encoding (opcode space) that a row belongs to. VOP1, VOP2 and VOPC rows are reachable as
/// VOP3, SDWA and DPP forms too, by rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Encoding {
    Sop2,
    Sopk,
    Sop1,
    Sopc,
    Sopp,
    /// SMRD (gfx6/7) and SMEM (gfx8 up).
    Smem,
    Vop1,
    Vop2,
    Vopc,
    /// Native VOP3 only (opcode in the VOP3 space of the target).
    Vop3,
    Vop3p,
    Vintrp,
    Ds,
    /// FLAT segment of the FLAT format.
    Flat,
    Global,
    Scratch,
    Mubuf,
    Mtbuf,
    Mimg,
    Exp,
}

impl Encoding {
    /// Do such instructions run once for the wave, on the scalar unit or on scalar memory? All others run in lanes.
    pub const fn is_scalar(self) -> bool {
        matches!(
            self,
            Encoding::Sop1
                | Encoding::Sop2
                | Encoding::Sopk
                | Encoding::Sopc
                | Encoding::Sopp
                | Encoding::Smem
        )
    }
}

/// No opcode on this target.
pub const ABSENT: u16 = u16::MAX;

/// Opcode of a row on each target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Opcodes(pub [u16; Gfx::COUNT]);

/// The opcode on every target until overridden.
pub const fn op(n: u16) -> Opcodes {
    Opcodes([n; Gfx::COUNT])
}

/// On no target until added.
pub const fn absent() -> Opcodes {
    Opcodes([ABSENT; Gfx::COUNT])
}

impl Opcodes {
    /// From `gfx` on the opcode is `n`.
    pub const fn from(mut self, gfx: Gfx, n: u16) -> Opcodes {
        let mut i = gfx.index();
        while i < Gfx::COUNT {
            self.0[i] = n;
            i += 1;
        }
        self
    }

    /// Every opcode `n` higher.
    pub const fn plus(mut self, n: u16) -> Opcodes {
        let mut i = 0;
        while i < Gfx::COUNT {
            if self.0[i] != ABSENT {
                self.0[i] += n;
            }
            i += 1;
        }
        self
    }

    /// From gfx700 on.
    pub const fn gfx7(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx700, n)
    }

    /// From gfx803 on.
    pub const fn gfx8(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx803, n)
    }

    /// From gfx900 on.
    pub const fn gfx9(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx900, n)
    }

    /// From gfx906 on.
    pub const fn gfx906(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx906, n)
    }

    /// From gfx908 on.
    pub const fn gfx908(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx908, n)
    }

    /// From gfx90a on.
    pub const fn gfx90a(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx90a, n)
    }

    /// From gfx942 on.
    pub const fn gfx942(self, n: u16) -> Opcodes {
        self.from(Gfx::Gfx942, n)
    }

    /// Absent from `gfx` on.
    pub const fn dropped_in(self, gfx: Gfx) -> Opcodes {
        self.from(gfx, ABSENT)
    }

    /// The opcode on `gfx`, if any.
    pub const fn get(&self, gfx: Gfx) -> Option<u16> {
        match self.0[gfx.index()] {
            ABSENT => None,
            n => Some(n),
        }
    }
}

/// Effect on SCC. Each engine implements these rules once; `D` is the first destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scc {
    /// Unchanged.
    Keep,
    /// D != 0 (all bits of the type).
    NonZero,
    /// Unsigned carry or borrow out.
    Carry,
    /// Signed overflow.
    Overflow,
    /// The operation's own boolean (compares, bit tests, min/max choice, saveexec).
    Result,
}

/// Implicit effects in addition to the explicit operands, as a set of bits. (SCC written: [`Scc`].)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effects(pub u16);

impl Effects {
    /// Nothing implicit (vector instructions always depend on EXEC, which is not repeated here).
    pub const NONE: Effects = Effects(0);
    /// Reads SCC.
    pub const READS_SCC: Effects = Effects(1);
    /// Reads VCC in addition to the explicit operands (`v_div_fmas`, `s_cbranch_vccz`).
    pub const READS_VCC: Effects = Effects(2);
    /// Writes EXEC.
    pub const WRITES_EXEC: Effects = Effects(4);
    /// Reads M0.
    pub const READS_M0: Effects = Effects(8);
    /// Writes M0.
    pub const WRITES_M0: Effects = Effects(16);
    /// A lane's result depends on other lanes (readlane, permute, swizzle; DPP forms by rule).
    pub const CROSS_LANE: Effects = Effects(32);
    /// D is read as well (mac, fmac, writelane, partial writes). More by rule: `Inst::reads_d`.
    pub const READS_D: Effects = Effects(64);
    /// Reads EXEC as data (saveexec, readfirstlane, execz branches).
    pub const READS_EXEC: Effects = Effects(128);
    /// Ignores EXEC although it is a vector instruction.
    pub const IGNORES_EXEC: Effects = Effects(256);

    /// Union of two sets.
    pub const fn and(self, other: Effects) -> Effects {
        Effects(self.0 | other.0)
    }

    /// Is every effect of `other` in here?
    pub const fn has(self, other: Effects) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Flags of a row about its forms and modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forms(pub u16);

impl Forms {
    /// Nothing special.
    pub const NONE: Forms = Forms(0);
    /// No SDWA form although VOP1/2/C.
    pub const NO_SDWA: Forms = Forms(1);
    /// No DPP form although VOP1/2.
    pub const NO_DPP: Forms = Forms(2);
    /// No VOP3 form although VOP1/2/C.
    pub const NO_VOP3: Forms = Forms(4);
    /// Uses the VOP3b layout in its VOP3 form (SDST instead of ABS).
    pub const VOP3B: Forms = Forms(8);
    /// gfx9: accepts OP_SEL in its VOP3 form (16-bit operands chosen by half).
    pub const OP_SEL: Forms = Forms(16);
    /// Accepts CLAMP as integer saturation (gfx8 up).
    pub const INT_CLAMP: Forms = Forms(32);
    /// SDWA exists on gfx8 only (`v_mac_*`).
    pub const SDWA_GFX8: Forms = Forms(64);
    /// The third source is a 32-bit literal that follows (`v_madmk`, `v_madak`, `s_setreg_imm32`).
    pub const LITERAL_K: Forms = Forms(128);
    /// A 16-bit result keeps the destination's upper half on gfx9.
    pub const KEEPS_HI16: Forms = Forms(256);
    /// Takes `neg` and `abs` on f32 bits although its operands are untyped (`v_cndmask_b32`).
    pub const FLOAT_MODS: Forms = Forms(512);
    /// The literal of `LITERAL_K` is the second source (`v_madmk`).
    pub const K_FIRST: Forms = Forms(1024);
    /// Two bits of OP_SEL choose the byte of the destination (`v_cvt_sr_fp8_f32`).
    pub const BYTE_OP_SEL: Forms = Forms(2048);
    /// SDWA chooses a part of the source only, without sign extension (`v_cvt_f32_fp8`).
    pub const SDWA_SOURCE: Forms = Forms(4096);
    /// Has scope bits where the target has them, as the only field (`buffer_wbl2`).
    pub const SCOPE: Forms = Forms(8192);

    /// Union.
    pub const fn and(self, other: Forms) -> Forms {
        Forms(self.0 | other.0)
    }

    /// Is every flag of `other` in here?
    pub const fn has(self, other: Forms) -> bool {
        self.0 & other.0 == other.0
    }
}

/// One instruction of the manual, for all targets.
#[derive(Debug, PartialEq, Eq)]
pub struct InstDesc {
    /// Name without `_e32`/`_e64`/`_sdwa`/`_dpp`, as LLVM spells it on the oldest target that has it.
    pub name: &'static str,
    /// Later names: from this target on the name is the other one.
    pub renames: &'static [(Gfx, &'static str)],
    /// Opcode space.
    pub encoding: Encoding,
    /// Opcode on each target.
    pub opcodes: Opcodes,
    /// Types of the destinations by position: D, then D1 (carry mask, SDST).
    pub dst: &'static [Ty],
    /// Types of the sources by position.
    pub src: &'static [Ty],
    /// Its operation.
    pub op: Op,
    /// The operation receives S0 and S1 exchanged.
    pub rev: bool,
    /// Effect on SCC.
    pub scc: Scc,
    /// Implicit reads and writes.
    pub effects: Effects,
    /// Forms and modifiers.
    pub forms: Forms,
}

/// A row with nothing special; refine with the methods.
pub const fn row(
    encoding: Encoding,
    name: &'static str,
    opcodes: Opcodes,
    dst: &'static [Ty],
    src: &'static [Ty],
    op: Op,
) -> InstDesc {
    InstDesc {
        name,
        renames: &[],
        encoding,
        opcodes,
        dst,
        src,
        op,
        rev: false,
        scc: Scc::Keep,
        effects: Effects::NONE,
        forms: Forms::NONE,
    }
}

impl InstDesc {
    /// The operation receives S0 and S1 exchanged.
    pub const fn rev(mut self) -> InstDesc {
        self.rev = true;
        self
    }

    /// SCC rule.
    pub const fn scc(mut self, scc: Scc) -> InstDesc {
        self.scc = scc;
        self
    }

    /// Adds implicit effects.
    pub const fn effect(mut self, effects: Effects) -> InstDesc {
        self.effects = self.effects.and(effects);
        self
    }

    /// Adds form flags.
    pub const fn form(mut self, forms: Forms) -> InstDesc {
        self.forms = self.forms.and(forms);
        self
    }

    /// Later names.
    pub const fn renamed(mut self, renames: &'static [(Gfx, &'static str)]) -> InstDesc {
        self.renames = renames;
        self
    }

    /// The name on `gfx`.
    pub fn name_on(&self, gfx: Gfx) -> &'static str {
        let mut name = self.name;
        for &(from, new) in self.renames {
            if gfx >= from {
                name = new;
            }
        }
        name
    }

    /// The bits of OP_SEL that choose a part of the destination.
    pub const fn op_sel_of_d(&self) -> u8 {
        match (
            self.forms.has(Forms::OP_SEL),
            self.forms.has(Forms::BYTE_OP_SEL),
        ) {
            (false, _) => 0,
            (true, false) => 8,
            (true, true) => 12,
        }
    }

    /// The bits of OP_SEL in the VOP3 form: one for each source, and those of the destination.
    pub const fn op_sel_mask(&self) -> u8 {
        match self.op_sel_of_d() {
            0 => 0,
            of_d => of_d | ((1 << self.src.len()) - 1),
        }
    }

    /// Type of the result: the first destination, else the first source.
    pub fn ty(&self) -> Ty {
        match (self.dst.first(), self.src.first()) {
            (Some(&ty), _) | (None, Some(&ty)) => ty,
            (None, None) => Ty::Imm,
        }
    }
}
