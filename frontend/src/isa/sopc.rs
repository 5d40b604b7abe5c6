//! SOPC: scalar compares.

use crate::desc::InstDesc;
use crate::isa::Index;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("SOPC").with(ROWS);
