//! VOP3: vector instructions with up to three sources. The index holds VOP1, VOP2 and VOPC too,
//! promoted by rule.

use crate::desc::{Forms, InstDesc};
use crate::isa::{Index, vop1, vop2, vopc};

/// The rows that exist as VOP3 only.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
];

/// From VOP3 opcode to row: VOPC from 0, VOP2 from 0x100, VOP1 from 0x180 (gfx6/7) or 0x140.
pub static INDEX: Index<1024> = Index::new("VOP3")
    .with(ROWS)
    .with_offset(vopc::ROWS, [0; 7], Forms::NO_VOP3.0)
    .with_offset(vop2::ROWS, [0x100; 7], Forms::NO_VOP3.0)
    .with_offset(
        vop1::ROWS,
        [0x180, 0x180, 0x140, 0x140, 0x140, 0x140, 0x140],
        Forms::NO_VOP3.0,
    );
