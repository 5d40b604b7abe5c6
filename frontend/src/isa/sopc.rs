//! SOPC: scalar compares.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, Scc, absent, op, row};
use crate::isa::Index;
use crate::op::{Cmp, Op};
use crate::ty::Ty::{self, *};

const fn sopc(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Sopc, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    sopc("s_cmp_eq_i32",     op(0x00),            &[], &[I32, I32], Op::Cmp(Cmp::Eq)).scc(Scc::Result),
    sopc("s_cmp_lg_i32",     op(0x01),            &[], &[I32, I32], Op::Cmp(Cmp::Lg)).scc(Scc::Result),
    sopc("s_cmp_gt_i32",     op(0x02),            &[], &[I32, I32], Op::Cmp(Cmp::Gt)).scc(Scc::Result),
    sopc("s_cmp_ge_i32",     op(0x03),            &[], &[I32, I32], Op::Cmp(Cmp::Ge)).scc(Scc::Result),
    sopc("s_cmp_lt_i32",     op(0x04),            &[], &[I32, I32], Op::Cmp(Cmp::Lt)).scc(Scc::Result),
    sopc("s_cmp_le_i32",     op(0x05),            &[], &[I32, I32], Op::Cmp(Cmp::Le)).scc(Scc::Result),
    sopc("s_cmp_eq_u32",     op(0x06),            &[], &[U32, U32], Op::Cmp(Cmp::Eq)).scc(Scc::Result),
    sopc("s_cmp_lg_u32",     op(0x07),            &[], &[U32, U32], Op::Cmp(Cmp::Lg)).scc(Scc::Result),
    sopc("s_cmp_gt_u32",     op(0x08),            &[], &[U32, U32], Op::Cmp(Cmp::Gt)).scc(Scc::Result),
    sopc("s_cmp_ge_u32",     op(0x09),            &[], &[U32, U32], Op::Cmp(Cmp::Ge)).scc(Scc::Result),
    sopc("s_cmp_lt_u32",     op(0x0a),            &[], &[U32, U32], Op::Cmp(Cmp::Lt)).scc(Scc::Result),
    sopc("s_cmp_le_u32",     op(0x0b),            &[], &[U32, U32], Op::Cmp(Cmp::Le)).scc(Scc::Result),
    sopc("s_bitcmp0_b32",    op(0x0c),            &[], &[B32, U32], Op::Bitcmp0).scc(Scc::Result),
    sopc("s_bitcmp1_b32",    op(0x0d),            &[], &[B32, U32], Op::Bitcmp1).scc(Scc::Result),
    sopc("s_bitcmp0_b64",    op(0x0e),            &[], &[B64, U32], Op::Bitcmp0).scc(Scc::Result),
    sopc("s_bitcmp1_b64",    op(0x0f),            &[], &[B64, U32], Op::Bitcmp1).scc(Scc::Result),
    sopc("s_setvskip",       op(0x10),            &[], &[B32, U32], Op::SetVskip),
    sopc("s_set_gpr_idx_on", absent().gfx8(0x11), &[], &[B32, Imm], Op::SetGprIdxOn).effect(Effects::READS_M0.and(Effects::WRITES_M0)),
    sopc("s_cmp_eq_u64",     absent().gfx8(0x12), &[], &[U64, U64], Op::Cmp(Cmp::Eq)).scc(Scc::Result),
    sopc("s_cmp_lg_u64",     absent().gfx8(0x13), &[], &[U64, U64], Op::Cmp(Cmp::Lg)).scc(Scc::Result),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("SOPC").with(ROWS);
