//! SOPK: scalar instructions with a 16-bit immediate. `Imm` holds simm16 sign-extended; the `_u32`
//! compares read its low 16 bits unsigned.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, Scc, absent, op, row};
use crate::isa::Index;
use crate::op::{Cmp, Op};
use crate::ty::Ty::{self, *};

const fn sopk(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Sopk, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    sopk("s_movk_i32",         op(0x00),            &[I32], &[Imm],      Op::Mov),
    sopk("s_cmovk_i32",        op(0x02).gfx8(0x01), &[I32], &[Imm],      Op::CMov).effect(Effects::READS_SCC.and(Effects::READS_D)),
    sopk("s_cmpk_eq_i32",      op(0x03).gfx8(0x02), &[],    &[I32, Imm], Op::Cmp(Cmp::Eq)).scc(Scc::Result),
    sopk("s_cmpk_lg_i32",      op(0x04).gfx8(0x03), &[],    &[I32, Imm], Op::Cmp(Cmp::Lg)).scc(Scc::Result),
    sopk("s_cmpk_gt_i32",      op(0x05).gfx8(0x04), &[],    &[I32, Imm], Op::Cmp(Cmp::Gt)).scc(Scc::Result),
    sopk("s_cmpk_ge_i32",      op(0x06).gfx8(0x05), &[],    &[I32, Imm], Op::Cmp(Cmp::Ge)).scc(Scc::Result),
    sopk("s_cmpk_lt_i32",      op(0x07).gfx8(0x06), &[],    &[I32, Imm], Op::Cmp(Cmp::Lt)).scc(Scc::Result),
    sopk("s_cmpk_le_i32",      op(0x08).gfx8(0x07), &[],    &[I32, Imm], Op::Cmp(Cmp::Le)).scc(Scc::Result),
    sopk("s_cmpk_eq_u32",      op(0x09).gfx8(0x08), &[],    &[U32, Imm], Op::Cmp(Cmp::Eq)).scc(Scc::Result),
    sopk("s_cmpk_lg_u32",      op(0x0a).gfx8(0x09), &[],    &[U32, Imm], Op::Cmp(Cmp::Lg)).scc(Scc::Result),
    sopk("s_cmpk_gt_u32",      op(0x0b).gfx8(0x0a), &[],    &[U32, Imm], Op::Cmp(Cmp::Gt)).scc(Scc::Result),
    sopk("s_cmpk_ge_u32",      op(0x0c).gfx8(0x0b), &[],    &[U32, Imm], Op::Cmp(Cmp::Ge)).scc(Scc::Result),
    sopk("s_cmpk_lt_u32",      op(0x0d).gfx8(0x0c), &[],    &[U32, Imm], Op::Cmp(Cmp::Lt)).scc(Scc::Result),
    sopk("s_cmpk_le_u32",      op(0x0e).gfx8(0x0d), &[],    &[U32, Imm], Op::Cmp(Cmp::Le)).scc(Scc::Result),
    sopk("s_addk_i32",         op(0x0f).gfx8(0x0e), &[I32], &[Imm],      Op::Add).scc(Scc::Overflow).effect(Effects::READS_D),
    sopk("s_mulk_i32",         op(0x10).gfx8(0x0f), &[I32], &[Imm],      Op::Mul).effect(Effects::READS_D),
    sopk("s_cbranch_i_fork",   op(0x11).gfx8(0x10), &[],    &[B64, Imm], Op::CbranchIFork).effect(Effects::READS_EXEC.and(Effects::WRITES_EXEC)),
    sopk("s_getreg_b32",       op(0x12).gfx8(0x11), &[B32], &[Imm],      Op::GetReg),
    sopk("s_setreg_b32",       op(0x13).gfx8(0x12), &[],    &[B32, Imm], Op::SetReg),
    sopk("s_setreg_imm32_b32", op(0x15).gfx8(0x14), &[],    &[B32, Imm], Op::SetReg).form(Forms::LITERAL_K),
    sopk("s_call_b64",         absent().gfx9(0x15), &[B64], &[Imm],      Op::Call),
];

/// From opcode to row.
pub static INDEX: Index<32> = Index::new("SOPK").with(ROWS);
