//! Tests of the guest: rows, decoding, disassembly.

mod disasm;
mod memory;
mod operands;
mod table;
mod total;
