//! The wide back end: vector IR with vectors of up to 256 or 512 bits, to host code for CPUs with
//! AVX2 and FMA, or with AVX-512. Own selection and encoding; a linear scan and `regalloc2` for
//! registers. It refuses what it does not support, and Cranelift compiles the region instead.

use crate::backend::object::Patch;
use crate::host::Isa;
use crate::vir::{Func, Value};

mod alloc;
mod emit;
pub mod encode;
pub mod evex;
pub mod evex_forms;
mod inst;
mod linear_scan;
mod lists;
pub mod rows;
mod select;
mod space;

pub use space::Space;

/// Reason for a refusal: a construct that this back end does not support.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the wide back end does not do {0}")]
pub struct Refused(pub String);

/// Host code before placement.
pub struct Code {
    /// The bytes, followed by their constants.
    pub bytes: Vec<u8>,
    /// Relocations.
    pub patches: Vec<Patch>,
    /// Offset of the first piece of code.
    pub first: usize,
    /// Lengths of the pieces, each with its source location.
    pub locs: Vec<(u32, u32)>,
}

/// Compiles a function whose parameter is the context; most addresses are relative to `wave`.
/// `baseline`: registers are allocated by a linear scan.
pub fn compile(
    func: &Func,
    wave: Value,
    isa: Isa,
    baseline: bool,
    space: &mut Space,
) -> Result<Code, Refused> {
    if baseline {
        let host = select::select(func, wave, isa, true, space)?;
        let output = alloc::allocate_linear(&host);
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
