//! The vector IR: host vectors, scalars and control flow; the input of both back ends. [`Builder`]
//! constructs it.

mod builder;
mod fixes;
mod func;
pub(crate) mod op;
pub(crate) mod patterns;
mod ssa;
#[cfg(test)]
mod tests;
pub mod text;
pub mod types;
pub mod verify;

pub use builder::{Builder, Variable};
pub use fixes::{Fixes, fix};
pub use func::{Block, Def, Edge, Func, Inst, Value};
pub(crate) use op::ops;
pub use op::{Callee, Constant, FloatCC, IntCC, Memory, Op, Part, StackSlot, Symbol};
pub use ssa::Ssa;
pub use types::Type;
