//! GCN instructions to host code: arms write lane IR, passes shape it, an emitter makes machine code.
//! Never executes guest code and never owns guest memory.

pub mod abi;
pub mod arms;
mod barrier_hoist;
pub mod build;
pub mod clif;
pub mod cost;
pub mod functions;
pub mod guest;
pub mod interchange;
pub mod ir;
pub mod jit;
pub mod liveness;
mod maps;
pub mod object;
pub mod options;
pub mod passes;
mod placement;
pub mod profile;
pub mod region;
pub mod schedule;
pub mod support;
pub mod uniformity;
pub mod value;
pub mod wide;
