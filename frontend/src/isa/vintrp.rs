//! VINTRP: parameter interpolation. The attribute is an immediate: number in bits 5:0, channel in
//! bits 7:6, in the half-precision forms the high half in bit 8.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, op, row};
use crate::isa::Index;
use crate::op::Op;
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vintrp(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Vintrp, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    vintrp("v_interp_p1_f32",  op(0x00).dropped_in(Gfx::Gfx90a), &[F32], &[F32, Imm], Op::InterpP1).effect(Effects::READS_M0),
    vintrp("v_interp_p2_f32",  op(0x01).dropped_in(Gfx::Gfx90a), &[F32], &[F32, Imm], Op::InterpP2).effect(Effects::READS_M0.and(Effects::READS_D)),
    vintrp("v_interp_mov_f32", op(0x02).dropped_in(Gfx::Gfx90a), &[F32], &[Imm, Imm], Op::InterpMov).effect(Effects::READS_M0),
];

/// From opcode to row.
pub static INDEX: Index<4> = Index::new("VINTRP").with(ROWS);
