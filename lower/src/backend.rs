//! Host code: two consumers of the vector IR, and the placement of their code.

pub(crate) mod cranelift;
pub mod object;
pub(crate) mod placement;
pub mod x64;
