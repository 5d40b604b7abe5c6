//! Tests of the guest: rows, decoding, disassembly.

mod disasm;
mod memory;
mod table;
mod total;
