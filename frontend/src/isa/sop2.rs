//! SOP2: scalar instructions with two sources.

use crate::desc::{Encoding, InstDesc, Opcodes, Scc, op, row};
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
    sop2("s_add_u32", op(0x00), &[U32], &[U32, U32], Op::Add).scc(Scc::Carry),
    sop2("s_add_i32", op(0x02), &[I32], &[I32, I32], Op::Add).scc(Scc::Overflow),
    sop2("s_and_b64", op(0x0f).gfx8(0x0d), &[B64], &[B64, B64], Op::And).scc(Scc::NonZero),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("SOP2").with(ROWS);
