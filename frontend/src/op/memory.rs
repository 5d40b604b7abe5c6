//! Operations on memory: space, data and operation.

use serde::{Deserialize, Serialize};

/// Memory space of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Space {
    /// SMRD/SMEM with a 64-bit address in SGPRs.
    Scalar,
    /// SMRD/SMEM through a buffer descriptor in SGPRs.
    ScalarBuffer,
    /// `s_scratch_*`: register offset scaled by 64.
    ScalarScratch,
    /// DS on the workgroup's LDS (GDS when the modifier says so).
    Lds,
    /// FLAT: the aperture is decided lane by lane.
    Flat,
    /// GLOBAL.
    Global,
    /// SCRATCH.
    Scratch,
    /// MUBUF and MTBUF through a buffer descriptor.
    Buffer,
    /// MIMG through an image descriptor.
    Image,
}

/// How loaded or stored data lies in memory and in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Data {
    /// `n` dwords in `n` registers.
    Dwords(u8),
    /// One byte, zero-extended on load.
    U8,
    /// One byte, sign-extended on load.
    I8,
    /// Two bytes, zero-extended on load.
    U16,
    /// Two bytes, sign-extended on load.
    I16,
    /// D16 forms: the low half of the register, the other half per the D16 rule.
    D16U8,
    /// See [`Data::D16U8`].
    D16I8,
    /// See [`Data::D16U8`].
    D16,
    /// D16 forms on the high half of the register.
    D16HiU8,
    /// See [`Data::D16HiU8`].
    D16HiI8,
    /// See [`Data::D16HiU8`]; a store of this kind stores the high half.
    D16Hi,
    /// The high half's low byte (store_byte_d16_hi).
    D16HiB8,
    /// `n` components converted by the buffer's or the instruction's format.
    Format(u8),
    /// As [`Data::Format`] with 16-bit components.
    FormatD16(u8),
    /// As [`Data::FormatD16`] with one component in the high half.
    FormatD16Hi,
}

/// Read-modify-write operations on memory. `mem` is the old value, `data` the operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum Atomic {
    Swap,
    /// FLAT/BUFFER/SMEM order: data = {new, compare}. DS order: DATA0 compare, DATA1 new.
    CmpSwap,
    Add,
    Sub,
    /// data - mem
    Rsub,
    MinI,
    MinU,
    MaxI,
    MaxU,
    And,
    Or,
    Xor,
    /// mem >= data ? 0 : mem + 1 (unsigned)
    Inc,
    /// mem == 0 || mem > data ? data : mem - 1 (unsigned)
    Dec,
    /// Float compare-and-swap: -0 equals +0, NaN equals nothing.
    FCmpSwap,
    FMin,
    FMax,
    FAdd,
    PkFAdd16,
    /// (mem & ~DATA0) | DATA1
    Mskor,
    /// mem >= DATA0 ? mem - DATA0 : mem + DATA1
    Wrap,
    /// As [`Atomic::PkFAdd16`] with bf16.
    PkFAddBf16,
}

impl Atomic {
    /// Is it a sum of floats?
    pub const fn is_float_sum(self) -> bool {
        matches!(self, Atomic::FAdd) || self.is_packed_sum()
    }

    /// Is it a sum of both halves of a word?
    pub const fn is_packed_sum(self) -> bool {
        matches!(self, Atomic::PkFAdd16 | Atomic::PkFAddBf16)
    }
}

/// A counter-like or other special DS operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are the manual's")]
pub enum DsOp {
    Append,
    Consume,
    OrderedCount,
    Swizzle,
    Permute,
    Bpermute,
    GwsInit,
    GwsSemaV,
    GwsSemaP,
    GwsSemaBr,
    GwsSemaReleaseAll,
    GwsBarrier,
    Condxchg32Rtn64,
    Nop,
}

impl DsOp {
    /// Is it an operation of the global wave sync?
    pub fn is_gws(self) -> bool {
        match self {
            DsOp::GwsInit
            | DsOp::GwsSemaV
            | DsOp::GwsSemaP
            | DsOp::GwsSemaBr
            | DsOp::GwsSemaReleaseAll
            | DsOp::GwsBarrier => true,
            DsOp::Append
            | DsOp::Consume
            | DsOp::OrderedCount
            | DsOp::Swizzle
            | DsOp::Permute
            | DsOp::Bpermute
            | DsOp::Condxchg32Rtn64
            | DsOp::Nop => false,
        }
    }
}

/// Operation of a MIMG instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ImageOp {
    /// image_load, _mip, and the packed forms without conversion.
    Load {
        /// Has a mip-level address.
        mip: bool,
        /// `_pck`: no format conversion.
        pck: bool,
        /// `_sgn`.
        sgn: bool,
    },
    /// image_store and its forms.
    Store {
        /// Has a mip-level address.
        mip: bool,
        /// `_pck`.
        pck: bool,
    },
    /// image_get_resinfo.
    GetResinfo,
    /// image_get_lod.
    GetLod,
    /// image_atomic_*.
    Atomic(Atomic),
    /// image_sample_*.
    Sample(SampleMods),
    /// image_gather4_*.
    Gather4(SampleMods),
    /// image_gather4h: four texels of one row.
    Gather4h(SampleMods),
}

/// Suffixes of the sampling instructions: their additional addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct SampleMods {
    /// `_c`: depth compare value.
    pub compare: bool,
    /// `_cl`: LOD clamp value.
    pub clamp: bool,
    /// `_d`: derivatives.
    pub deriv: bool,
    /// `_cd`: coarse derivatives.
    pub coarse: bool,
    /// `_l`: explicit LOD.
    pub lod: bool,
    /// `_b`: LOD bias.
    pub bias: bool,
    /// `_lz`: LOD zero.
    pub lz: bool,
    /// `_o`: texel offsets.
    pub offset: bool,
}
