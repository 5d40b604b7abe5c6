//! Host code: two readers of the vector IR, and where their code is put.

pub(crate) mod cranelift;
pub mod object;
pub(crate) mod placement;
pub mod x64;
