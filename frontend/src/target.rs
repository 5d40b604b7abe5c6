//! The GPUs that wavelift runs, and their differences as methods. Each names its source in
//! brackets.

use std::fmt;
use std::str::FromStr;

use crate::op::MatrixSums;

/// A guest processor. The order is the order of inheritance in the instruction tables: an opcode
/// given for one target holds for the later ones until it is overridden or dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Gfx {
    /// GCN 1.0 (Southern Islands).
    Gfx600 = 0,
    /// GCN 1.1 (Sea Islands).
    Gfx700 = 1,
    /// GCN 1.2 (Volcanic Islands).
    Gfx803 = 2,
    /// GCN 1.4 (Vega 10).
    Gfx900 = 3,
    /// GCN 1.4 with the dot products and fused mixes (Vega 20).
    Gfx906 = 4,
    /// CDNA 1.
    Gfx908 = 5,
    /// CDNA 2.
    Gfx90a = 6,
    /// CDNA 3.
    Gfx942 = 7,
}

impl Gfx {
    /// Number of targets, the length of every per-target table.
    pub const COUNT: usize = 8;

    /// All targets, oldest first.
    pub const ALL: [Gfx; Gfx::COUNT] = [
        Gfx::Gfx600,
        Gfx::Gfx700,
        Gfx::Gfx803,
        Gfx::Gfx900,
        Gfx::Gfx906,
        Gfx::Gfx908,
        Gfx::Gfx90a,
        Gfx::Gfx942,
    ];

    /// The names of all, as a list with `last` before the last one.
    pub fn list(last: &str) -> String {
        let [others @ .., newest] = Gfx::ALL.map(Gfx::name);
        format!("{}{last}{newest}", others.join(", "))
    }

    /// Position in per-target tables.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name that compilers use, such as `gfx900`.
    pub const fn name(self) -> &'static str {
        match self {
            Gfx::Gfx600 => "gfx600",
            Gfx::Gfx700 => "gfx700",
            Gfx::Gfx803 => "gfx803",
            Gfx::Gfx900 => "gfx900",
            Gfx::Gfx906 => "gfx906",
            Gfx::Gfx908 => "gfx908",
            Gfx::Gfx90a => "gfx90a",
            Gfx::Gfx942 => "gfx942",
        }
    }

    /// GCN 1.0 or 1.1: the encodings before Volcanic Islands.
    pub const fn is_gfx6_7(self) -> bool {
        matches!(self, Gfx::Gfx600 | Gfx::Gfx700)
    }

    /// GCN 1.2 or later: SDWA, DPP, SMEM, 16-bit instructions.
    pub const fn is_gfx8_up(self) -> bool {
        !self.is_gfx6_7()
    }

    /// GCN 1.0.
    const fn is_gfx600(self) -> bool {
        matches!(self, Gfx::Gfx600)
    }

    /// CDNA 2 or later.
    const fn is_gfx90a_up(self) -> bool {
        matches!(self, Gfx::Gfx90a | Gfx::Gfx942)
    }

    /// CDNA 3.
    const fn is_gfx942(self) -> bool {
        matches!(self, Gfx::Gfx942)
    }

    /// GCN 1.4 or CDNA: VOP3P, GLOBAL and SCRATCH, aperture registers.
    pub const fn is_gfx9(self) -> bool {
        !matches!(self, Gfx::Gfx600 | Gfx::Gfx700 | Gfx::Gfx803)
    }

    /// The most LDS that a workgroup can have, in bytes. (LLVM's `FeatureAddressableLocalMemorySize32768` and `65536`)
    pub const fn lds_limit(self) -> u32 {
        if self.is_gfx600() {
            32 * 1024
        } else {
            64 * 1024
        }
    }

    /// The unit in which LDS is allocated to a workgroup, in bytes. (LLVM's AMDGPU user guide, `GRANULATED_LDS_SIZE`)
    pub const fn lds_granule(self) -> u32 {
        if self.is_gfx600() { 256 } else { 512 }
    }

    /// Allocated LDS of a workgroup that requests `bytes` bytes: whole granules. The range checks
    /// of the hardware use this size.
    pub const fn lds_allocated(self, bytes: u32) -> u32 {
        bytes.next_multiple_of(self.lds_granule())
    }
}

/// Registers and the state that a wave starts with.
impl Gfx {
    /// The number of SGPRs that code can name; special registers have the codes after them. (LLVM's
    /// `getAddressableNumSGPRs`; the Vega ISA manual, 3.6.2)
    pub const fn max_sgprs(self) -> u32 {
        if self.is_gfx6_7() { 104 } else { 102 }
    }

    /// The unit in which SGPRs are allocated. (LLVM's AMDGPU user guide, `GRANULATED_WAVEFRONT_SGPR_COUNT`)
    pub const fn sgpr_granule(self) -> u32 {
        if self.is_gfx9() { 16 } else { 8 }
    }

    /// The unit in which VGPRs are allocated. (LLVM's AMDGPU user guide, `GRANULATED_WORKITEM_VGPR_COUNT`)
    pub const fn vgpr_granule(self) -> u32 {
        if self.has_unified_vgprs() { 8 } else { 4 }
    }

    /// Has the target accumulation registers? (LLVM's `FeatureMAIInsts`)
    pub const fn has_agprs(self) -> bool {
        matches!(self, Gfx::Gfx908 | Gfx::Gfx90a | Gfx::Gfx942)
    }

    /// Are accumulation registers allocated together with the VGPRs, after them? (LLVM's AMDGPU
    /// user guide, `ACCUM_OFFSET`)
    pub const fn has_unified_vgprs(self) -> bool {
        self.is_gfx90a_up()
    }

    /// Must several vector registers in a row begin with an even one? (LLVM's `FeatureRequiresAlignedVGPRs`)
    pub const fn aligns_vgprs(self) -> bool {
        self.is_gfx90a_up()
    }

    /// Are the ids of a work-item packed in v0, 10 bits each? (LLVM's `FeaturePackedTID`)
    pub const fn packs_work_item_ids(self) -> bool {
        self.is_gfx90a_up()
    }

    /// Can kernel arguments be loaded into SGPRs before the start? (LLVM's AMDGPU user guide, "Preloaded Kernel
    /// Arguments")
    pub const fn preloads_arguments(self) -> bool {
        self.is_gfx90a_up()
    }

    /// Code of FLAT_SCRATCH in the SGPR file. gfx6 has no FLAT. (LLVM's `SIRegisterInfo.td`)
    pub const fn flat_scratch(self) -> u8 {
        if matches!(self, Gfx::Gfx700) {
            104
        } else {
            102
        }
    }

    /// Does FLAT_SCRATCH hold an address? If not, it holds a size and an offset. (LLVM's AMDGPU
    /// user guide, "Flat Scratch")
    pub const fn flat_scratch_is_address(self) -> bool {
        self.is_gfx9()
    }

    /// Is FLAT_SCRATCH set before the start, without a descriptor and an offset of scratch in SGPRs? (LLVM's
    /// `FeatureArchitectedFlatScratch`)
    pub const fn presets_flat_scratch(self) -> bool {
        self.is_gfx942()
    }

    /// Are there hardware registers of the number of a wave's die and of snapshots for profilers? (LLVM's
    /// `HW_REG_XCC_ID`, `HW_REG_SQ_PERF_SNAPSHOT_*`)
    pub const fn has_die_registers(self) -> bool {
        self.is_gfx942()
    }

    /// Do registers hold the apertures of LDS and scratch? (LLVM's `FeatureApertureRegs`)
    pub const fn has_aperture_registers(self) -> bool {
        self.is_gfx9()
    }

    /// Has MODE the bit FP16_OVFL? (LLVM's AMDGPU user guide, `compute_pgm_rsrc1`)
    pub const fn has_fp16_overflow(self) -> bool {
        self.is_gfx9()
    }
}

/// Arithmetic.
impl Gfx {
    /// Does the target have `v_fma_mix*`, which are fused, in place of `v_mad_mix*`? (LLVM's
    /// `FeatureFmaMixInsts`)
    pub const fn has_fused_mix(self) -> bool {
        matches!(self, Gfx::Gfx906 | Gfx::Gfx908 | Gfx::Gfx90a | Gfx::Gfx942)
    }

    /// Does `v_fract` stay below 1? (LLVM's `hasFractBug`)
    pub const fn fract_is_below_one(self) -> bool {
        !self.is_gfx600()
    }

    /// Do `v_sin` and `v_cos` accept sources of any size? If not, up to 256 revolutions. (LLVM's
    /// `FeatureTrigReducedRange`)
    pub const fn has_full_trig_range(self) -> bool {
        self.is_gfx9()
    }

    /// Has DPP the control values `row_newbcast`? (LLVM's AMDGPU modifier syntax, `dpp_ctrl`)
    pub const fn has_row_newbcast(self) -> bool {
        self.is_gfx90a_up()
    }

    /// How products of matrices of f16 and bf16 are added up. (MMA-Sim, arXiv 2511.10909, on MI100, MI200 and MI300)
    pub const fn matrix_sums(self) -> MatrixSums {
        match self {
            Gfx::Gfx600 | Gfx::Gfx700 | Gfx::Gfx803 | Gfx::Gfx900 | Gfx::Gfx906 | Gfx::Gfx908 => {
                MatrixSums::Exact
            }
            Gfx::Gfx90a => MatrixSums::Pairs,
            Gfx::Gfx942 => MatrixSums::CutOff,
        }
    }

    /// Does MODE.FP16_OVFL limit sums of products of matrices? (CDNA3 ISA manual, table 28)
    pub const fn limits_matrix_sums(self) -> bool {
        self.is_gfx942()
    }

    /// Do minimum, maximum and median flush denormals by MODE? Before they never do. (LLVM's
    /// `supportsMinMaxDenormModes`)
    pub const fn min_max_flushes(self) -> bool {
        self.is_gfx9()
    }
}

/// Memory.
impl Gfx {
    /// Has FLAT, GLOBAL or SCRATCH a bit by which a load goes to LDS? Later targets have opcodes of their own for that,
    /// earlier ones neither. (LLVM's `FLAT_Real`)
    pub const fn has_flat_lds_bit(self) -> bool {
        self.is_gfx9() && !self.is_gfx942()
    }

    /// Has SCRATCH a bit for its address register, so that vector and scalar offset are added? (LLVM's
    /// `FeatureFlatScratchSVSMode`)
    pub const fn adds_scratch_offsets(self) -> bool {
        self.is_gfx942()
    }

    /// Are the cache bits `sc0`, `nt` and `sc1`, named by scope, rather than `glc`, `slc` and `scc`? (LLVM's
    /// `FeatureGFX940Insts`)
    pub const fn has_scope_bits(self) -> bool {
        self.is_gfx942()
    }

    /// Does M0 limit LDS? (LLVM's `ldsRequiresM0Init`)
    pub const fn lds_limited_by_m0(self) -> bool {
        !self.is_gfx9()
    }

    /// Is an LDS access with a negative address out of range even where the sum with its offset is not? (LLVM's
    /// `hasUsableDSOffset`)
    pub const fn lds_checks_base(self) -> bool {
        self.is_gfx600()
    }

    /// LDS accesses of 2 bytes and more at addresses that are not a multiple of their size (at most
    /// a dword; 8 and 16 bytes for the 64 and 128-bit forms) are supported on gfx9. Before, the low
    /// bits of the address are ignored. (LLVM's `FeatureUnalignedDSAccess`, and the mode that HSA
    /// sets up)
    pub const fn lds_unaligned(self) -> bool {
        self.is_gfx9()
    }

    /// Buffer accesses of a dword and more at addresses that are not a multiple of 4 are supported
    /// from gfx7 on; gfx6 ignores the low bits. (LLVM's `FeatureUnalignedBufferAccess`, and the
    /// mode that HSA sets up)
    pub const fn buffer_unaligned(self) -> bool {
        !self.is_gfx600()
    }

    /// Do D16 loads keep the other half of the register? Targets with SRAM ECC zero it; gfx906 and
    /// later may have it, and compilers assume neither unless it is disabled. (LLVM's
    /// `d16PreservesUnusedBits`)
    pub const fn d16_keeps_other_half(self) -> bool {
        matches!(self, Gfx::Gfx600 | Gfx::Gfx700 | Gfx::Gfx803 | Gfx::Gfx900)
    }

    /// Do several D16 components share registers? If not, each has its own. (LLVM's
    /// `FeatureUnpackedD16VMem`)
    pub const fn packs_d16(self) -> bool {
        self.is_gfx9()
    }

    /// Has `ds_swizzle` the modes that rotate and that reverse bits? (Vega ISA manual, `DS_SWIZZLE_B32`)
    pub const fn has_swizzle_rotate(self) -> bool {
        self.is_gfx9()
    }

    /// The tiling of linear images: swizzle mode 0 from gfx9 on, tiling index 8 ("linear aligned") before. (ISA manuals,
    /// image resource descriptor)
    pub const fn linear_tiling(self) -> u32 {
        if self.is_gfx9() { 0 } else { 8 }
    }

    /// The largest pitch of an image in texels. (ISA manuals, image resource descriptor)
    pub const fn max_image_pitch(self) -> u32 {
        if self.is_gfx9() { 1 << 16 } else { 1 << 14 }
    }
}

impl fmt::Display for Gfx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An unknown target name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{0}`; known are {known}", known = Gfx::list(" and "))]
pub struct UnknownTarget(pub String);

impl FromStr for Gfx {
    type Err = UnknownTarget;

    fn from_str(s: &str) -> Result<Gfx, UnknownTarget> {
        Gfx::ALL
            .into_iter()
            .find(|gfx| gfx.name() == s)
            .ok_or_else(|| UnknownTarget(s.to_owned()))
    }
}
