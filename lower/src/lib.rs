//! GCN instructions to host code: arms write lane IR ([`lift`]), passes transform it, legalization
//! lowers it to vector IR, a back end generates machine code. Never executes guest code and never
//! owns guest memory.

pub mod abi;
pub mod analysis;
pub mod backend;
pub mod cost;
pub mod host;
pub mod ir;
pub mod jit;
pub mod legalize;
pub mod lift;
mod maps;
pub mod options;
pub mod passes;
pub mod profile;
#[cfg(test)]
mod rooms;
pub mod vir;
