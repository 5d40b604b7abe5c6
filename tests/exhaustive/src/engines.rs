//! The engines that a sweep runs on.

use lower::host::{self, FarMemory};
use lower::jit::{HostLevel, LowerError};
use runtime::engine::{Emitter, Engine};
use runtime::interp::Interpreter;
use runtime::jit::{JitEngine, JitOptions, Tier};

/// What computes results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The interpreter.
    Interpreter,
    /// The translator with Cranelift, in vectors of 128 bits.
    Cranelift,
    /// The translator with the wide back end for AVX2.
    Avx2,
    /// The same for AVX-512.
    Avx512,
    /// Plain Rust of this crate.
    Reference,
}

impl Kind {
    /// All of them, in the order in which they are compared.
    pub const ALL: [Kind; 5] = [
        Kind::Interpreter,
        Kind::Cranelift,
        Kind::Avx2,
        Kind::Avx512,
        Kind::Reference,
    ];

    /// Its letter in digest files and on the command line.
    pub fn letter(self) -> char {
        match self {
            Kind::Interpreter => 'i',
            Kind::Cranelift => 'c',
            Kind::Avx2 => '2',
            Kind::Avx512 => '5',
            Kind::Reference => 'r',
        }
    }

    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Interpreter => "interpreter",
            Kind::Cranelift => "Cranelift",
            Kind::Avx2 => "AVX2",
            Kind::Avx512 => "AVX-512",
            Kind::Reference => "reference",
        }
    }

    /// Can this CPU run it?
    pub fn is_here(self) -> bool {
        match self {
            Kind::Interpreter | Kind::Cranelift | Kind::Reference => true,
            Kind::Avx2 => host::is_supported(),
            Kind::Avx512 => host::has_avx512(),
        }
    }
}

/// The engine of a kind; none of the reference.
pub(crate) fn engine(kind: Kind) -> Result<Option<Box<dyn Engine>>, LowerError> {
    let mut options = JitOptions {
        tier: Tier::Optimizing,
        no_fallback: true,
        ..JitOptions::exact()
    };
    options.code.host.far_memory = FarMemory::Yes;
    match kind {
        Kind::Reference => return Ok(None),
        Kind::Interpreter => return Ok(Some(Box::new(Interpreter))),
        Kind::Cranelift => options.emitter = Emitter::Cranelift,
        Kind::Avx2 => (options.emitter, options.host) = (Emitter::Wide, HostLevel::Avx2),
        Kind::Avx512 => options.emitter = Emitter::Wide,
    }
    Ok(Some(Box::new(JitEngine::new(options)?)))
}
