//! Tests of the guest: rows, decoding, disassembly.

mod memory;
