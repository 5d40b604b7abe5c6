//! SOPK: scalar instructions with a 16-bit immediate.

use crate::desc::InstDesc;
use crate::isa::Index;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From opcode to row.
pub static INDEX: Index<32> = Index::new("SOPK").with(ROWS);
