//! VINTRP: parameter interpolation.

use crate::desc::InstDesc;
use crate::isa::Index;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From opcode to row.
pub static INDEX: Index<4> = Index::new("VINTRP").with(ROWS);
