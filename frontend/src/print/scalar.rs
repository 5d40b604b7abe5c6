//! Scalar ALU instructions as text.

use crate::inst::Inst;
use crate::target::Gfx;

/// Appends the instruction.
pub(super) fn text(out: &mut String, inst: &Inst, gfx: Gfx) {
    out.push_str(inst.desc.name_on(gfx));
}
