//! SOP2: scalar instructions with two sources.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, Scc, absent, op, row};
use crate::isa::Index;
use crate::op::Op;
use crate::ty::Ty::{self, *};

const fn sop2(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Sop2, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    sop2("s_add_u32",         op(0x00),            &[U32], &[U32, U32], Op::Add).scc(Scc::Carry),
    sop2("s_sub_u32",         op(0x01),            &[U32], &[U32, U32], Op::Sub).scc(Scc::Carry),
    sop2("s_add_i32",         op(0x02),            &[I32], &[I32, I32], Op::Add).scc(Scc::Overflow),
    sop2("s_sub_i32",         op(0x03),            &[I32], &[I32, I32], Op::Sub).scc(Scc::Overflow),
    sop2("s_addc_u32",        op(0x04),            &[U32], &[U32, U32], Op::AddCarry).scc(Scc::Carry).effect(Effects::READS_SCC),
    sop2("s_subb_u32",        op(0x05),            &[U32], &[U32, U32], Op::SubBorrow).scc(Scc::Carry).effect(Effects::READS_SCC),
    sop2("s_min_i32",         op(0x06),            &[I32], &[I32, I32], Op::Min).scc(Scc::Result),
    sop2("s_min_u32",         op(0x07),            &[U32], &[U32, U32], Op::Min).scc(Scc::Result),
    sop2("s_max_i32",         op(0x08),            &[I32], &[I32, I32], Op::Max).scc(Scc::Result),
    sop2("s_max_u32",         op(0x09),            &[U32], &[U32, U32], Op::Max).scc(Scc::Result),
    sop2("s_cselect_b32",     op(0x0a),            &[B32], &[B32, B32], Op::Select).effect(Effects::READS_SCC),
    sop2("s_cselect_b64",     op(0x0b),            &[B64], &[B64, B64], Op::Select).effect(Effects::READS_SCC),
    sop2("s_and_b32",         op(0x0e).gfx8(0x0c), &[B32], &[B32, B32], Op::And).scc(Scc::NonZero),
    sop2("s_and_b64",         op(0x0f).gfx8(0x0d), &[B64], &[B64, B64], Op::And).scc(Scc::NonZero),
    sop2("s_or_b32",          op(0x10).gfx8(0x0e), &[B32], &[B32, B32], Op::Or).scc(Scc::NonZero),
    sop2("s_or_b64",          op(0x11).gfx8(0x0f), &[B64], &[B64, B64], Op::Or).scc(Scc::NonZero),
    sop2("s_xor_b32",         op(0x12).gfx8(0x10), &[B32], &[B32, B32], Op::Xor).scc(Scc::NonZero),
    sop2("s_xor_b64",         op(0x13).gfx8(0x11), &[B64], &[B64, B64], Op::Xor).scc(Scc::NonZero),
    sop2("s_andn2_b32",       op(0x14).gfx8(0x12), &[B32], &[B32, B32], Op::AndN2).scc(Scc::NonZero),
    sop2("s_andn2_b64",       op(0x15).gfx8(0x13), &[B64], &[B64, B64], Op::AndN2).scc(Scc::NonZero),
    sop2("s_orn2_b32",        op(0x16).gfx8(0x14), &[B32], &[B32, B32], Op::OrN2).scc(Scc::NonZero),
    sop2("s_orn2_b64",        op(0x17).gfx8(0x15), &[B64], &[B64, B64], Op::OrN2).scc(Scc::NonZero),
    sop2("s_nand_b32",        op(0x18).gfx8(0x16), &[B32], &[B32, B32], Op::Nand).scc(Scc::NonZero),
    sop2("s_nand_b64",        op(0x19).gfx8(0x17), &[B64], &[B64, B64], Op::Nand).scc(Scc::NonZero),
    sop2("s_nor_b32",         op(0x1a).gfx8(0x18), &[B32], &[B32, B32], Op::Nor).scc(Scc::NonZero),
    sop2("s_nor_b64",         op(0x1b).gfx8(0x19), &[B64], &[B64, B64], Op::Nor).scc(Scc::NonZero),
    sop2("s_xnor_b32",        op(0x1c).gfx8(0x1a), &[B32], &[B32, B32], Op::Xnor).scc(Scc::NonZero),
    sop2("s_xnor_b64",        op(0x1d).gfx8(0x1b), &[B64], &[B64, B64], Op::Xnor).scc(Scc::NonZero),
    sop2("s_lshl_b32",        op(0x1e).gfx8(0x1c), &[B32], &[B32, U32], Op::Shl).scc(Scc::NonZero),
    sop2("s_lshl_b64",        op(0x1f).gfx8(0x1d), &[B64], &[B64, U32], Op::Shl).scc(Scc::NonZero),
    sop2("s_lshr_b32",        op(0x20).gfx8(0x1e), &[B32], &[B32, U32], Op::Lshr).scc(Scc::NonZero),
    sop2("s_lshr_b64",        op(0x21).gfx8(0x1f), &[B64], &[B64, U32], Op::Lshr).scc(Scc::NonZero),
    sop2("s_ashr_i32",        op(0x22).gfx8(0x20), &[I32], &[I32, U32], Op::Ashr).scc(Scc::NonZero),
    sop2("s_ashr_i64",        op(0x23).gfx8(0x21), &[I64], &[I64, U32], Op::Ashr).scc(Scc::NonZero),
    sop2("s_bfm_b32",         op(0x24).gfx8(0x22), &[B32], &[U32, U32], Op::Bfm),
    sop2("s_bfm_b64",         op(0x25).gfx8(0x23), &[B64], &[U32, U32], Op::Bfm),
    sop2("s_mul_i32",         op(0x26).gfx8(0x24), &[I32], &[I32, I32], Op::Mul),
    sop2("s_bfe_u32",         op(0x27).gfx8(0x25), &[U32], &[U32, U32], Op::SBfe).scc(Scc::NonZero),
    sop2("s_bfe_i32",         op(0x28).gfx8(0x26), &[I32], &[I32, U32], Op::SBfe).scc(Scc::NonZero),
    sop2("s_bfe_u64",         op(0x29).gfx8(0x27), &[U64], &[U64, U32], Op::SBfe).scc(Scc::NonZero),
    sop2("s_bfe_i64",         op(0x2a).gfx8(0x28), &[I64], &[I64, U32], Op::SBfe).scc(Scc::NonZero),
    sop2("s_cbranch_g_fork",  op(0x2b).gfx8(0x29), &[],    &[B64, B64], Op::CbranchGFork).effect(Effects::READS_EXEC.and(Effects::WRITES_EXEC)),
    sop2("s_absdiff_i32",     op(0x2c).gfx8(0x2a), &[I32], &[I32, I32], Op::AbsDiff).scc(Scc::NonZero),
    sop2("s_rfe_restore_b64", absent().gfx8(0x2b), &[],    &[B64, B32], Op::RfeRestore),
    sop2("s_mul_hi_u32",      absent().gfx9(0x2c), &[U32], &[U32, U32], Op::MulHi),
    sop2("s_mul_hi_i32",      absent().gfx9(0x2d), &[I32], &[I32, I32], Op::MulHi),
    sop2("s_lshl1_add_u32",   absent().gfx9(0x2e), &[U32], &[U32, U32], Op::ShlNAdd(1)).scc(Scc::Carry),
    sop2("s_lshl2_add_u32",   absent().gfx9(0x2f), &[U32], &[U32, U32], Op::ShlNAdd(2)).scc(Scc::Carry),
    sop2("s_lshl3_add_u32",   absent().gfx9(0x30), &[U32], &[U32, U32], Op::ShlNAdd(3)).scc(Scc::Carry),
    sop2("s_lshl4_add_u32",   absent().gfx9(0x31), &[U32], &[U32, U32], Op::ShlNAdd(4)).scc(Scc::Carry),
    sop2("s_pack_ll_b32_b16", absent().gfx9(0x32), &[B32], &[B32, B32], Op::PackLL),
    sop2("s_pack_lh_b32_b16", absent().gfx9(0x33), &[B32], &[B32, B32], Op::PackLH),
    sop2("s_pack_hh_b32_b16", absent().gfx9(0x34), &[B32], &[B32, B32], Op::PackHH),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("SOP2").with(ROWS);
