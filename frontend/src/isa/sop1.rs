//! SOP1: scalar instructions with one source.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, Scc, absent, op, row};
use crate::isa::Index;
use crate::op::{Logic, Op};
use crate::ty::Ty::{self, *};

const fn sop1(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Sop1, name, opcodes, d, s, op)
}

const SAVEEXEC: Effects = Effects::READS_EXEC.and(Effects::WRITES_EXEC);
const CMOV: Effects = Effects::READS_SCC.and(Effects::READS_D);

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    sop1("s_mov_b32",              op(0x03).gfx8(0x00), &[B32], &[B32], Op::Mov),
    sop1("s_mov_b64",              op(0x04).gfx8(0x01), &[B64], &[B64], Op::Mov),
    sop1("s_cmov_b32",             op(0x05).gfx8(0x02), &[B32], &[B32], Op::CMov).effect(CMOV),
    sop1("s_cmov_b64",             op(0x06).gfx8(0x03), &[B64], &[B64], Op::CMov).effect(CMOV),
    sop1("s_not_b32",              op(0x07).gfx8(0x04), &[B32], &[B32], Op::Not).scc(Scc::NonZero),
    sop1("s_not_b64",              op(0x08).gfx8(0x05), &[B64], &[B64], Op::Not).scc(Scc::NonZero),
    sop1("s_wqm_b32",              op(0x09).gfx8(0x06), &[B32], &[B32], Op::Wqm).scc(Scc::NonZero),
    sop1("s_wqm_b64",              op(0x0a).gfx8(0x07), &[B64], &[B64], Op::Wqm).scc(Scc::NonZero),
    sop1("s_brev_b32",             op(0x0b).gfx8(0x08), &[B32], &[B32], Op::Brev),
    sop1("s_brev_b64",             op(0x0c).gfx8(0x09), &[B64], &[B64], Op::Brev),
    sop1("s_bcnt0_i32_b32",        op(0x0d).gfx8(0x0a), &[I32], &[B32], Op::Bcnt0).scc(Scc::NonZero),
    sop1("s_bcnt0_i32_b64",        op(0x0e).gfx8(0x0b), &[I32], &[B64], Op::Bcnt0).scc(Scc::NonZero),
    sop1("s_bcnt1_i32_b32",        op(0x0f).gfx8(0x0c), &[I32], &[B32], Op::Bcnt1).scc(Scc::NonZero),
    sop1("s_bcnt1_i32_b64",        op(0x10).gfx8(0x0d), &[I32], &[B64], Op::Bcnt1).scc(Scc::NonZero),
    sop1("s_ff0_i32_b32",          op(0x11).gfx8(0x0e), &[I32], &[B32], Op::Ff0),
    sop1("s_ff0_i32_b64",          op(0x12).gfx8(0x0f), &[I32], &[B64], Op::Ff0),
    sop1("s_ff1_i32_b32",          op(0x13).gfx8(0x10), &[I32], &[B32], Op::Ff1),
    sop1("s_ff1_i32_b64",          op(0x14).gfx8(0x11), &[I32], &[B64], Op::Ff1),
    sop1("s_flbit_i32_b32",        op(0x15).gfx8(0x12), &[I32], &[B32], Op::Flbit),
    sop1("s_flbit_i32_b64",        op(0x16).gfx8(0x13), &[I32], &[B64], Op::Flbit),
    sop1("s_flbit_i32",            op(0x17).gfx8(0x14), &[I32], &[I32], Op::FlbitI),
    sop1("s_flbit_i32_i64",        op(0x18).gfx8(0x15), &[I32], &[I64], Op::FlbitI),
    sop1("s_sext_i32_i8",          op(0x19).gfx8(0x16), &[I32], &[I32], Op::SextI8),
    sop1("s_sext_i32_i16",         op(0x1a).gfx8(0x17), &[I32], &[I32], Op::SextI16),
    sop1("s_bitset0_b32",          op(0x1b).gfx8(0x18), &[B32], &[U32], Op::Bitset0).effect(Effects::READS_D),
    sop1("s_bitset0_b64",          op(0x1c).gfx8(0x19), &[B64], &[U32], Op::Bitset0).effect(Effects::READS_D),
    sop1("s_bitset1_b32",          op(0x1d).gfx8(0x1a), &[B32], &[U32], Op::Bitset1).effect(Effects::READS_D),
    sop1("s_bitset1_b64",          op(0x1e).gfx8(0x1b), &[B64], &[U32], Op::Bitset1).effect(Effects::READS_D),
    sop1("s_getpc_b64",            op(0x1f).gfx8(0x1c), &[B64], &[],    Op::GetPc),
    sop1("s_setpc_b64",            op(0x20).gfx8(0x1d), &[],    &[B64], Op::SetPc),
    sop1("s_swappc_b64",           op(0x21).gfx8(0x1e), &[B64], &[B64], Op::SwapPc),
    sop1("s_rfe_b64",              op(0x22).gfx8(0x1f), &[],    &[B64], Op::Rfe),
    sop1("s_and_saveexec_b64",     op(0x24).gfx8(0x20), &[B64], &[B64], Op::SaveExec(Logic::And)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_or_saveexec_b64",      op(0x25).gfx8(0x21), &[B64], &[B64], Op::SaveExec(Logic::Or)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_xor_saveexec_b64",     op(0x26).gfx8(0x22), &[B64], &[B64], Op::SaveExec(Logic::Xor)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_andn2_saveexec_b64",   op(0x27).gfx8(0x23), &[B64], &[B64], Op::SaveExec(Logic::AndN2)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_orn2_saveexec_b64",    op(0x28).gfx8(0x24), &[B64], &[B64], Op::SaveExec(Logic::OrN2)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_nand_saveexec_b64",    op(0x29).gfx8(0x25), &[B64], &[B64], Op::SaveExec(Logic::Nand)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_nor_saveexec_b64",     op(0x2a).gfx8(0x26), &[B64], &[B64], Op::SaveExec(Logic::Nor)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_xnor_saveexec_b64",    op(0x2b).gfx8(0x27), &[B64], &[B64], Op::SaveExec(Logic::Xnor)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_quadmask_b32",         op(0x2c).gfx8(0x28), &[B32], &[B32], Op::QuadMask).scc(Scc::NonZero),
    sop1("s_quadmask_b64",         op(0x2d).gfx8(0x29), &[B64], &[B64], Op::QuadMask).scc(Scc::NonZero),
    sop1("s_movrels_b32",          op(0x2e).gfx8(0x2a), &[B32], &[B32], Op::MovRelS).effect(Effects::READS_M0),
    sop1("s_movrels_b64",          op(0x2f).gfx8(0x2b), &[B64], &[B64], Op::MovRelS).effect(Effects::READS_M0),
    sop1("s_movreld_b32",          op(0x30).gfx8(0x2c), &[B32], &[B32], Op::MovRelD).effect(Effects::READS_M0),
    sop1("s_movreld_b64",          op(0x31).gfx8(0x2d), &[B64], &[B64], Op::MovRelD).effect(Effects::READS_M0),
    sop1("s_cbranch_join",         op(0x32).gfx8(0x2e), &[],    &[B32], Op::CbranchJoin).effect(Effects::READS_EXEC.and(Effects::WRITES_EXEC)),
    sop1("s_abs_i32",              op(0x34).gfx8(0x30), &[I32], &[I32], Op::Abs).scc(Scc::NonZero),
    sop1("s_set_gpr_idx_idx",      absent().gfx8(0x32), &[],    &[B32], Op::SetGprIdxIdx).effect(Effects::READS_M0.and(Effects::WRITES_M0)),
    sop1("s_andn1_saveexec_b64",   absent().gfx9(0x33), &[B64], &[B64], Op::SaveExec(Logic::AndN1)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_orn1_saveexec_b64",    absent().gfx9(0x34), &[B64], &[B64], Op::SaveExec(Logic::OrN1)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_andn1_wrexec_b64",     absent().gfx9(0x35), &[B64], &[B64], Op::WrExec(Logic::AndN1)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_andn2_wrexec_b64",     absent().gfx9(0x36), &[B64], &[B64], Op::WrExec(Logic::AndN2)).scc(Scc::Result).effect(SAVEEXEC),
    sop1("s_bitreplicate_b64_b32", absent().gfx9(0x37), &[B64], &[B32], Op::BitReplicate),
];

/// From opcode to row.
pub static INDEX: Index<256> = Index::new("SOP1").with(ROWS);
