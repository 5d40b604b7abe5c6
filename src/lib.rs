//! wavelift runs AMD GCN machine code on an ordinary CPU.

pub mod manifest;
