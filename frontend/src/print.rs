//! Text of instructions as LLVM prints it.

use crate::inst::Inst;
use crate::target::Gfx;

/// See [`Inst::text`].
pub fn text(inst: &Inst, gfx: Gfx) -> String {
    inst.desc.name_on(gfx).to_owned()
}
