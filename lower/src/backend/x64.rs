//! The wide back end: what an emitter wrote as CLIF with vectors of 256 or 512 bits, to host code for CPUs with
//! AVX2 and FMA, or with AVX-512. Own selection and encoding; a linear scan and `regalloc2` for registers. It knows the instructions that
//! emission writes, no others: what it lacks it refuses, and Cranelift compiles the region instead.

use cranelift_codegen::ir::{Function, Value};

use crate::backend::object::Patch;
use crate::host::Isa;

mod alloc;
mod emit;
pub mod encode;
pub mod evex;
pub mod evex_forms;
mod inst;
mod linear_scan;
mod lists;
mod redundant_params;
pub mod rows;
mod select;
mod space;

pub use space::Space;

/// Why a function was refused: what it has that this back end lacks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the wide back end does not do {0}")]
pub struct Refused(pub String);

/// Host code without a place.
pub struct Code {
    /// The bytes and their constants.
    pub bytes: Vec<u8>,
    /// Where addresses go.
    pub patches: Vec<Patch>,
    /// Where the first piece of code begins.
    pub first: usize,
    /// Lengths of the pieces, each with the source location that it is for.
    pub locs: Vec<(u32, u32)>,
}

/// Compiles a function of a context, in which `wave` is what most addresses begin with; `quick`: its registers by a
/// linear scan.
pub fn compile(
    func: &mut Function,
    wave: Value,
    isa: Isa,
    quick: bool,
    space: &mut Space,
) -> Result<Code, Refused> {
    redundant_params::join(func);
    if quick {
        let host = select::select(func, wave, isa, true, space)?;
        let output = alloc::allocate_quickly(&host);
        let code = output.map(|output| emit::emit(&host, &output));
        host.give_back(space);
        if let Ok(code) = code {
            return Ok(code);
        }
    }
    let host = select::select(func, wave, isa, false, space)?;
    let output = alloc::allocate(&host).map_err(Refused)?;
    let code = emit::emit(&host, &output);
    host.give_back(space);
    Ok(code)
}
