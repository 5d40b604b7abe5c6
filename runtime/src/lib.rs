//! Running GCN code: code objects, guest memory, dispatch and the engines.
//!
//! `unsafe` is in [`memory`], in `float_env` and in the modules that call or are called by translated
//! code; every other module is safe code.

pub mod breaks;
pub mod choices;
pub mod code;
pub mod coverage;
pub mod debug;
pub mod delayed;
pub mod dispatch;
pub mod engine;
pub mod export;
pub mod fault;
pub mod files;
mod float_env;
pub mod foreign;
pub mod gws;
#[cfg(feature = "jit")]
pub mod helpers;
pub mod image;
pub mod interp;
#[cfg(feature = "jit")]
pub mod jit;
pub mod kernarg;
pub mod lds;
pub mod lockstep;
pub mod math;
pub mod memory;
mod mix;
pub mod object;
pub mod sanitizer;
pub mod stack;
pub mod trace;
pub mod undefined;
mod waiting;

pub use code::LoadedCode;
pub use engine::{Engine, Exit, Group, Stats};
pub use export::{Export, Exports};
pub use fault::{Access, Fault, FaultKind, WaveFault};
pub use interp::Interpreter;
pub use lds::Lds;
pub use memory::{Memory, MemoryError};
pub use waiting::{Waiting, WaitingGroup, WaitingWave, WaitsFor};
