//! Differential fuzzing: random programs and long straight lines from the rows of the instruction set,
//! run on the interpreter and on the translator, which must agree on every register, on memory and on
//! faults. A program that differs is made smaller.
//!
//! [`Campaign`] turns seeds into verdicts: what it does for a seed is a function of the
//! [`Settings`] and the seed, so that a range of seeds can be divided among machines. [`Checker`] is
//! the comparison of one program.

pub mod assembler;
pub mod campaign;
pub mod checker;
pub mod code_object;
pub mod digest;
pub mod kernel;
mod lines;
pub mod program;
pub mod shapes;
pub mod targets;
mod whole;

use lower::jit::LowerError;
use runtime::engine::Exit;
use runtime::memory::AllocError;

pub use campaign::{Campaign, Kind, Settings, Verdict};
pub use checker::{Checker, Failure};
pub use digest::Digest;
pub use kernel::Launch;

/// How programs are made and translated. The defaults leave nothing out.
#[derive(Clone, Debug)]
pub struct Options {
    /// Iterations of a loop at most; at least 1.
    pub loops: u32,
    /// Instructions of a block at most; otherwise the engine's own limit, or for some programs a
    /// random one.
    pub max_block: Option<usize>,
    /// Each program in all shapes of the translator, not in one that depends on the seed.
    pub all_shapes: bool,
    /// Only shapes with this in their name.
    pub shapes: Option<String>,
    /// No instructions with this in their name.
    pub without: Option<String>,
    /// Guest memory in checked mode.
    pub checked: bool,
    /// A buffer that programs may only read.
    pub read_only: bool,
    /// For tests of the comparison: in place of the translator, an interpreter that computes the
    /// instruction of this name wrong.
    pub wrong: Option<String>,
    /// Called with each fault and the program's disassembly.
    pub on_fault: Option<fn(&Exit, &str)>,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            loops: 3,
            max_block: None,
            all_shapes: false,
            shapes: None,
            without: None,
            checked: false,
            read_only: false,
            wrong: None,
            on_fault: None,
        }
    }
}

impl Options {
    fn check(&self) -> Result<(), Error> {
        at_least("loops", u64::from(self.loops), 1)?;
        at_least("max_block", self.max_block.unwrap_or(1) as u64, 1)
    }
}

/// Refuses a setting that is too small.
fn at_least(name: &'static str, value: u64, least: u64) -> Result<(), Error> {
    match value < least {
        true => Err(Error::TooSmall { name, value, least }),
        false => Ok(()),
    }
}

/// Why a comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no guest memory.
    #[error(transparent)]
    Memory(#[from] AllocError),
    /// There is no translator.
    #[error("the translator does not run on this host: {0}")]
    Engine(#[from] LowerError),
    /// A number that is too small.
    #[error("{name} is {value}, and must be at least {least}")]
    TooSmall {
        /// The setting.
        name: &'static str,
        /// Its value.
        value: u64,
        /// The least value.
        least: u64,
    },
    /// A length whose programs might not fit into guest memory.
    #[error("length is {length}, and must be at most {most}")]
    TooLong {
        /// The requested length.
        length: u32,
        /// The greatest length.
        most: u32,
    },
    /// No shape of the translator has this in its name.
    #[error(
        "no shape of the translator has `{0}` in its name; names are such as `native, wide, counting`"
    )]
    NoShape(String),
    /// So many instructions are left out that no program can be made.
    #[error(
        "without all instructions with `{0}` in their name no programs can be made; exclude fewer"
    )]
    TooFewRows(String),
    /// An option that straight lines do not have.
    #[error(
        "straight lines have no option `{0}`: every fourth of them runs in checked mode, all may write"
    )]
    NotForLines(&'static str),
    /// A program that no launch can run.
    #[error("the program accesses a buffer that may only be read, and launches have none")]
    NoLaunch,
}
