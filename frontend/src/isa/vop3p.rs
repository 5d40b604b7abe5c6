//! VOP3P: packed, mixed and matrix instructions.

use crate::desc::InstDesc;
use crate::isa::Index;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("VOP3P").with(ROWS);
