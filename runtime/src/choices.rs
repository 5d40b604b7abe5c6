//! Decisions on hardware behaviour that no source documents, each in one place. Both engines follow
//! them; a different answer is one edit here.

/// DPP with `bound_ctrl` clear and a source lane that is off in EXEC: does the lane write the value
/// of the inactive lane's register (`true`), or keep its destination (`false`)? LLVM assumes the
/// second. With `bound_ctrl` set such a lane reads 0.
pub const DPP_READS_INACTIVE_LANES: bool = false;

/// `row_bcast:15` in row 0 and `row_bcast:31` in rows 0 and 1: lanes without a source row keep
/// their own value as source (`true`), or count as out of bounds (`false`).
pub const DPP_BCAST_FIRST_ROW_IS_OWN: bool = true;

/// `v_cvt_rpi_i32_f32` and `v_cvt_flr_i32_f32` of a NaN.
pub const CVT_RPI_FLR_NAN: i32 = 0;

/// `v_cvt_pk_u8_f32` rounds by MODE (`true`) or toward zero (`false`).
pub const CVT_PK_U8_BY_MODE: bool = true;

/// `v_mad_i64_i32` carry-out: bit 64 of the sum of sign-extended operands (`true`), or signed
/// overflow of the 64-bit sum (`false`).
pub const MAD_I64_CARRY_IS_BIT_64: bool = true;

/// Raw buffers on gfx9: does the scalar offset take part in the range check?
pub const GFX9_RAW_CHECK_HAS_SOFFSET: bool = false;

/// `v_pack_b32_f16` flushes denormal halves when MODE flushes f16 sources.
pub const PACK_F16_FLUSHES: bool = false;

/// ABS and NEG of the pairs of halves of `v_dot2c_f32_f16` in VOP3 and DPP: bit 31, the sign of the
/// high half, as LLVM declares these sources as f32 (`true`), or nothing (`false`).
pub const DOT2C_HAS_SIGNS: bool = true;

/// `s_trap` numbers that only notify a debugger: 3 is `llvm.debugtrap`.
pub const fn trap_is_ignored(id: u32) -> bool {
    id == 3
}

/// Fraction bits to which an image coordinate in texels is rounded, to nearest even. Samples
/// without a filter round as well (OpenCL's libraries rely on it: they multiply whole texels by a
/// reciprocal of the size), unless the sampler's TRUNC_COORD selects the texel below.
pub const IMAGE_FRACTION_BITS: u32 = 8;

/// Sample coordinates are clamped to this number of texels on either side, including infinite ones;
/// NaN is 0.
pub const IMAGE_COORDINATE_LIMIT: f64 = 2147483648.0;

/// The block that a block of a matrix product takes A from: number ABID of the 2^CBSZ adjacent blocks that it is
/// one of. So have it the field's table in the CDNA3 manual and AMD's matrix instruction calculator; the manual's
/// 7.1.5.1 has another formula, with the same result where the set is all blocks. No source says what bits of the
/// fields beyond the number of blocks do: here nothing.
#[inline(always)]
pub const fn matrix_block_of_a(block: usize, blocks: usize, cbsz: u8, abid: u8) -> usize {
    let set = if 1 << cbsz < blocks {
        1 << cbsz
    } else {
        blocks
    };
    block / set * set + abid as usize % set
}

/// The f32 that the NaN of a float of 8 bits becomes.
pub const F8_NAN: u32 = 0x7fc0_0000;

/// The NaN that a sum of bf16 in memory gives.
pub const BF16_NAN: u16 = 0x7fc0;

/// How many products of a sparse matrix are added up at once, where `values` are stored in a row of A and a dense product
/// has `most` together. No source has the numerics of sparse products: they are as those of a dense one over what is
/// stored.
pub const fn sparse_chunk(most: usize, values: usize) -> usize {
    if most < values { most } else { values }
}

/// The NaN that a product of f32, f16 or bf16 matrices gives.
pub const MATRIX_NAN: u32 = 0x7fc0_0000;

/// As [`MATRIX_NAN`], of f64.
pub const MATRIX_NAN_F64: u64 = 0x7ff8_0000_0000_0000;
