//! A compiled region before placement: position-independent host code with relocations. It can be
//! kept, written to a file and placed any number of times.

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{ExternalName, Function, LibCall, UserExternalName};
use cranelift_codegen::{CompiledCode, FinalizedRelocTarget};
use frontend::state::VECTOR_REGISTERS;

use crate::profile::Shape;

/// A compiled region before placement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Object {
    /// Host code and its constants.
    pub code: Box<[u8]>,
    /// Relocations of 64-bit addresses.
    pub patches: Vec<Patch>,
    /// Frame slots that `Context::frame` must have.
    pub frame_slots: u32,
    /// Guest instructions translated.
    pub guest_insts: u32,
    /// Number of the first VGPR from which on none is written.
    pub vgprs: u32,
    /// Number of the first accumulation register from which on none is written.
    pub agprs: u32,
    /// Vector registers that are read before they are written; see `liveness::reads`.
    pub reads: [[u64; VECTOR_REGISTERS / 64]; 2],
    /// The first vector register that it writes to the wave; see `Emitted::writes_from`.
    pub writes_from: u32,
    /// At barriers and ends it switches to other waves; see [`crate::abi::Context::last`].
    pub switches_waves: bool,
    /// It has no loop: a wave burns no fuel in it.
    pub straight: bool,
    /// Guest addresses of the instructions that the code refers to, less the base.
    pub sites: Vec<u64>,
    /// Names of instructions that fall back to the interpreter.
    pub fallbacks: Vec<String>,
    /// The wide back end compiled it.
    pub wide: bool,
    /// What the wide back end refused, if it was requested and Cranelift compiled the code.
    pub refused: Option<String>,
    /// Chosen shapes, if the options request them.
    pub shape: Option<Box<Shape>>,
}

/// A 64-bit address in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Offset in the code.
    pub offset: u32,
    /// What the addend is added to.
    pub symbol: Symbol,
    /// Distance from the symbol.
    pub addend: i64,
}

/// Base of an address in the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// The base that the region was compiled for: the image of its code object.
    Guest,
    /// The region's sites.
    Sites,
    /// A function by its index in `FUNCTIONS`.
    Function(u8),
}

/// Cranelift's name of [`Symbol::Guest`].
pub(crate) const GUEST: UserExternalName = UserExternalName {
    namespace: 0,
    index: 0,
};

/// Cranelift's name of [`Symbol::Sites`].
pub(crate) const SITES: UserExternalName = UserExternalName {
    namespace: 0,
    index: 1,
};

/// Functions that Cranelift calls where the host lacks an instruction.
pub(crate) const FUNCTIONS: [LibCall; 10] = [
    LibCall::CeilF32,
    LibCall::CeilF64,
    LibCall::FloorF32,
    LibCall::FloorF64,
    LibCall::TruncF32,
    LibCall::TruncF64,
    LibCall::NearestF32,
    LibCall::NearestF64,
    LibCall::FmaF32,
    LibCall::FmaF64,
];

macro_rules! functions {
    ($($name:ident($($arg:ident),*: $ty:ty) = $value:expr;)*) => {
        $(extern "C" fn $name($($arg: $ty),*) -> $ty {
            $value
        })*
    };
}
functions! {
    ceil_f32(a: f32) = a.ceil();
    ceil_f64(a: f64) = a.ceil();
    floor_f32(a: f32) = a.floor();
    floor_f64(a: f64) = a.floor();
    trunc_f32(a: f32) = a.trunc();
    trunc_f64(a: f64) = a.trunc();
    nearest_f32(a: f32) = a.round_ties_even();
    nearest_f64(a: f64) = a.round_ties_even();
    fma_f32(a, b, c: f32) = a.mul_add(b, c);
    fma_f64(a, b, c: f64) = a.mul_add(b, c);
}

impl Symbol {
    /// Number of functions.
    pub const FUNCTIONS: usize = FUNCTIONS.len();

    /// Address of a function by its number.
    pub(crate) fn function(n: u8) -> Option<u64> {
        let all: [*const u8; FUNCTIONS.len()] = [
            ceil_f32 as *const u8,
            ceil_f64 as *const u8,
            floor_f32 as *const u8,
            floor_f64 as *const u8,
            trunc_f32 as *const u8,
            trunc_f64 as *const u8,
            nearest_f32 as *const u8,
            nearest_f64 as *const u8,
            fma_f32 as *const u8,
            fma_f64 as *const u8,
        ];
        all.get(usize::from(n)).map(|at| *at as u64)
    }
}

impl Object {
    /// The code and relocations of Cranelift's output for `func`; the caller fills in the rest.
    /// Fails for code that cannot be relocated.
    pub(crate) fn new(func: &Function, compiled: &CompiledCode) -> Result<Object, String> {
        let patches = compiled.buffer.relocs().iter().map(|reloc| {
            let FinalizedRelocTarget::ExternalName(name) = &reloc.target else {
                return Err(format!("a reference to {:?}", reloc.target));
            };
            let symbol = match name {
                ExternalName::User(name) => match func.params.user_named_funcs()[*name] {
                    GUEST => Some(Symbol::Guest),
                    SITES => Some(Symbol::Sites),
                    _ => None,
                },
                ExternalName::LibCall(call) => FUNCTIONS
                    .iter()
                    .position(|f| f == call)
                    .map(|n| Symbol::Function(n as u8)),
                _ => None,
            };
            match (reloc.kind, symbol) {
                (Reloc::Abs8, Some(symbol)) => Ok(Patch {
                    offset: reloc.offset,
                    symbol,
                    addend: reloc.addend,
                }),
                _ => Err(format!("a {:?} reference to {name:?}", reloc.kind)),
            }
        });
        Ok(Object {
            code: compiled.code_buffer().into(),
            patches: patches.collect::<Result<_, _>>()?,
            ..Object::default()
        })
    }

    /// Are all relocations inside the code and of valid symbols?
    pub fn is_sound(&self) -> bool {
        self.patches.iter().all(|patch| {
            let end = (patch.offset as usize).checked_add(8);
            let known = match patch.symbol {
                Symbol::Guest | Symbol::Sites => true,
                Symbol::Function(n) => usize::from(n) < FUNCTIONS.len(),
            };
            known && end.is_some_and(|end| end <= self.code.len())
        })
    }
}

/// Changes with the translator: its objects are valid for no other.
pub const FINGERPRINT: &str = env!("LOWER_FINGERPRINT");
