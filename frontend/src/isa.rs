//! The instruction rows, one file per encoding of the manual.

pub mod sop2;
