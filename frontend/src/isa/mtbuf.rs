//! MTBUF: buffer instructions with the format in the instruction.
//!
//! Operands as in MUBUF.

use crate::desc::{Encoding, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::Data::{Format, FormatD16};
use crate::op::Op;
use crate::op::Space::Buffer;
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn mtbuf(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Mtbuf, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    mtbuf("tbuffer_load_format_x",         op(0x00),                                    &[B32],  &[B64, B128, U32, B32],  Op::Load(Buffer, Format(1))),
    mtbuf("tbuffer_load_format_xy",        op(0x01),                                    &[B64],  &[B64, B128, U32, B64],  Op::Load(Buffer, Format(2))),
    mtbuf("tbuffer_load_format_xyz",       op(0x02),                                    &[B96],  &[B64, B128, U32, B96],  Op::Load(Buffer, Format(3))),
    mtbuf("tbuffer_load_format_xyzw",      op(0x03),                                    &[B128], &[B64, B128, U32, B128], Op::Load(Buffer, Format(4))),
    mtbuf("tbuffer_store_format_x",        op(0x04),                                    &[],     &[B64, B128, U32, B32],  Op::Store(Buffer, Format(1))),
    mtbuf("tbuffer_store_format_xy",       op(0x05),                                    &[],     &[B64, B128, U32, B64],  Op::Store(Buffer, Format(2))),
    mtbuf("tbuffer_store_format_xyz",      op(0x06),                                    &[],     &[B64, B128, U32, B96],  Op::Store(Buffer, Format(3))),
    mtbuf("tbuffer_store_format_xyzw",     op(0x07),                                    &[],     &[B64, B128, U32, B128], Op::Store(Buffer, Format(4))),
    mtbuf("tbuffer_load_format_d16_x",     absent().gfx8(0x08),                         &[B32],  &[B64, B128, U32, B32],  Op::Load(Buffer, FormatD16(1))),
    mtbuf("tbuffer_load_format_d16_xy",    absent().gfx8(0x09).dropped_in(Gfx::Gfx900), &[B64],  &[B64, B128, U32, B64],  Op::Load(Buffer, FormatD16(2))),
    mtbuf("tbuffer_load_format_d16_xy",    absent().gfx9(0x09),                         &[B32],  &[B64, B128, U32, B32],  Op::Load(Buffer, FormatD16(2))),
    mtbuf("tbuffer_load_format_d16_xyz",   absent().gfx8(0x0a).dropped_in(Gfx::Gfx900), &[B96],  &[B64, B128, U32, B96],  Op::Load(Buffer, FormatD16(3))),
    mtbuf("tbuffer_load_format_d16_xyz",   absent().gfx9(0x0a),                         &[B64],  &[B64, B128, U32, B64],  Op::Load(Buffer, FormatD16(3))),
    mtbuf("tbuffer_load_format_d16_xyzw",  absent().gfx8(0x0b).dropped_in(Gfx::Gfx900), &[B128], &[B64, B128, U32, B128], Op::Load(Buffer, FormatD16(4))),
    mtbuf("tbuffer_load_format_d16_xyzw",  absent().gfx9(0x0b),                         &[B64],  &[B64, B128, U32, B64],  Op::Load(Buffer, FormatD16(4))),
    mtbuf("tbuffer_store_format_d16_x",    absent().gfx8(0x0c),                         &[],     &[B64, B128, U32, B32],  Op::Store(Buffer, FormatD16(1))),
    mtbuf("tbuffer_store_format_d16_xy",   absent().gfx8(0x0d).dropped_in(Gfx::Gfx900), &[],     &[B64, B128, U32, B64],  Op::Store(Buffer, FormatD16(2))),
    mtbuf("tbuffer_store_format_d16_xy",   absent().gfx9(0x0d),                         &[],     &[B64, B128, U32, B32],  Op::Store(Buffer, FormatD16(2))),
    mtbuf("tbuffer_store_format_d16_xyz",  absent().gfx8(0x0e).dropped_in(Gfx::Gfx900), &[],     &[B64, B128, U32, B96],  Op::Store(Buffer, FormatD16(3))),
    mtbuf("tbuffer_store_format_d16_xyz",  absent().gfx9(0x0e),                         &[],     &[B64, B128, U32, B64],  Op::Store(Buffer, FormatD16(3))),
    mtbuf("tbuffer_store_format_d16_xyzw", absent().gfx8(0x0f).dropped_in(Gfx::Gfx900), &[],     &[B64, B128, U32, B128], Op::Store(Buffer, FormatD16(4))),
    mtbuf("tbuffer_store_format_d16_xyzw", absent().gfx9(0x0f),                         &[],     &[B64, B128, U32, B64],  Op::Store(Buffer, FormatD16(4))),
];

/// From opcode to row.
pub static INDEX: Index<16> = Index::new("MTBUF").with(ROWS);
