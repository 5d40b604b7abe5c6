//! Text of instructions as LLVM prints it. `print/operand.rs` is common to all encodings,
//! `scalar.rs`, `vector.rs` and `memory.rs` have the operand lists and modifiers of theirs.

use crate::desc::Encoding;
use crate::inst::Inst;
use crate::target::Gfx;

mod memory;
mod operand;
mod scalar;
mod vector;

/// See [`Inst::text`].
pub fn text(inst: &Inst, gfx: Gfx) -> String {
    let mut out = String::with_capacity(64);
    match inst.desc.encoding {
        Encoding::Sop2 | Encoding::Sopk | Encoding::Sop1 | Encoding::Sopc | Encoding::Sopp => {
            scalar::text(&mut out, inst, gfx);
        }
        Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp => vector::text(&mut out, inst, gfx),
        Encoding::Smem
        | Encoding::Ds
        | Encoding::Flat
        | Encoding::Global
        | Encoding::Scratch
        | Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Exp => memory::text(&mut out, inst, gfx),
    }
    out
}
