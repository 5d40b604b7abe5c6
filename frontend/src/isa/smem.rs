//! SMEM: scalar memory instructions (SMRD on gfx6 and gfx7).

use crate::desc::InstDesc;
use crate::isa::Index;

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From opcode to row.
pub static INDEX: Index<256> = Index::new("SMEM").with(ROWS);
