//! EXP: exports of graphics shaders.
//!
//! Sources: the four components, `None` where the mask leaves one out.

use crate::desc::{Encoding, InstDesc, op, row};
use crate::isa::Index;
use crate::op::Op;
use crate::target::Gfx;
use crate::ty::Ty::B32;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    row(Encoding::Exp, "exp", op(0).dropped_in(Gfx::Gfx90a), &[], &[B32, B32, B32, B32], Op::Export),
];

/// From opcode to row.
pub static INDEX: Index<1> = Index::new("EXP").with(ROWS);
