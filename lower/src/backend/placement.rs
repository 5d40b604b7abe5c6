//! Placement of code in executable memory. `cranelift-jit` owns the pages, resolves symbols and
//! applies relocations, for the code of both back ends and for code from disk. Each region is a
//! module of its own, so that its memory is freed with it. Pages are first writable, then
//! executable, never both.

use std::io;
use std::mem;
use std::sync::{Mutex, OnceLock};

use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_codegen::settings::{self, Configurable};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{Linkage, Module, ModuleError, ModuleReloc, ModuleRelocTarget};

use crate::abi::Context;
use crate::backend::object::{FUNCTIONS, Object, Symbol};

/// Signature of a region's function.
pub(crate) type Entry = unsafe extern "C" fn(*mut Context) -> u64;

/// Alignment of code: a host vector of constants.
const ALIGNMENT: u64 = 64;

/// Names of the data that code refers to.
const GUEST: &str = "guest";
const SITES: &str = "sites";

/// A region's placed code. Dropping it frees the memory.
pub(crate) struct Placed {
    entry: Entry,
    /// `Some` until it is dropped; behind a lock since modules are not `Sync`.
    module: Mutex<Option<JITModule>>,
}

/// The ISA of the modules: only its alignments matter here, so that one serves code for every host
/// level.
fn isa() -> io::Result<OwnedTargetIsa> {
    static ISA: OnceLock<Result<OwnedTargetIsa, String>> = OnceLock::new();
    let isa = ISA.get_or_init(|| {
        let mut flags = settings::builder();
        flags.set("is_pic", "false").map_err(|e| e.to_string())?;
        let isa = cranelift_native::builder()?.finish(settings::Flags::new(flags));
        isa.map_err(|e| e.to_string())
    });
    isa.clone().map_err(io::Error::other)
}

fn error(e: ModuleError) -> io::Error {
    match e {
        ModuleError::Allocation { err } => err,
        other => io::Error::other(other.to_string()),
    }
}

impl Placed {
    /// Places a sound object; `guest` and `sites` are the values of these symbols.
    #[expect(unsafe_code, reason = "gives finished code its type")]
    pub(crate) fn new(object: &Object, guest: u64, sites: u64) -> io::Result<Placed> {
        let mut builder = JITBuilder::with_isa(
            isa()?,
            Box::new(|call| {
                let name = FUNCTIONS.iter().position(|f| *f == call);
                name.map_or_else(|| format!("{call}"), |n| n.to_string())
            }),
        );
        builder.symbol_lookup_fn(Box::new(move |name| match name {
            GUEST => Some(guest as *const u8),
            SITES => Some(sites as *const u8),
            name => match name.strip_prefix("0x") {
                Some(digits) => Some(u64::from_str_radix(digits, 16).ok()? as *const u8),
                None => Symbol::function(name.parse().ok()?).map(|at| at as *const u8),
            },
        }));
        let mut module = JITModule::new(builder);
        let mut data = |name: &str| {
            let id = module.declare_data(name, Linkage::Import, false, false);
            id.map(ModuleRelocTarget::from).map_err(error)
        };
        let [guest_data, sites_data] = [data(GUEST)?, data(SITES)?];
        let mut relocs = Vec::with_capacity(object.patches.len());
        for patch in &object.patches {
            let (base, name) = match patch.symbol {
                Symbol::Guest => (guest, guest_data.clone()),
                Symbol::Sites => (sites, sites_data.clone()),
                Symbol::Function(n) => (
                    Symbol::function(n).expect("objects are sound"),
                    ModuleRelocTarget::LibCall(FUNCTIONS[usize::from(n)]),
                ),
            };
            // A sum that leaves the address space wraps: such an address is an absolute symbol.
            let (name, addend) = match base.checked_add_signed(patch.addend) {
                Some(_) => (name, patch.addend),
                None => {
                    let address = base.wrapping_add_signed(patch.addend);
                    (data(&format!("{address:#x}"))?, 0)
                }
            };
            relocs.push(ModuleReloc {
                offset: patch.offset,
                kind: Reloc::Abs8,
                name,
                addend,
            });
        }
        let signature = Signature::new(module.isa().default_call_conv());
        let id = module.declare_anonymous_function(&signature);
        let id = id.map_err(error)?;
        let defined = module.define_function_bytes(id, ALIGNMENT, &object.code, &relocs);
        let defined = defined.map_err(error).and_then(|()| {
            let finalized = module.finalize_definitions();
            finalized.map_err(error)
        });
        // From here on the memory is freed in any case.
        let at = match &defined {
            Ok(()) => module.get_finalized_function(id),
            Err(_) => unplaced as *const u8,
        };
        // SAFETY: code is emitted with `cranelift::entry_signature`, which is that of an entry.
        let entry = unsafe { mem::transmute::<*const u8, Entry>(at) };
        let placed = Placed {
            entry,
            module: Mutex::new(Some(module)),
        };
        defined.map(|()| placed)
    }

    /// The function.
    #[inline]
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }
}

/// Stands for code that could not be placed; it is never called.
extern "C" fn unplaced(_: *mut Context) -> u64 {
    unreachable!("bug: a call of code without a place")
}

impl Drop for Placed {
    #[expect(unsafe_code, reason = "frees the memory of code")]
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(|e| e.into_inner());
        if let Some(module) = module.take() {
            // SAFETY: running code borrows `self`, so none is running.
            unsafe { module.free_memory() };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::object::Patch;

    /// Relocations give the right addresses, also where the sum wraps around the address space.
    #[test]
    fn addresses_are_written_into_the_code() {
        let patches = [
            (8, Symbol::Guest, 0x40, 0x7000_0000_1040),
            (16, Symbol::Sites, -8, 0x6000_0000_0ff8),
            (24, Symbol::Guest, -0x7000_0000_1001, u64::MAX),
            (33, Symbol::Guest, i64::MIN, 0x8000_7000_0000_1000),
            (
                41,
                Symbol::Function(1),
                0,
                Symbol::function(1).expect("there is one"),
            ),
        ];
        let object = Object {
            code: vec![0xcc; 64].into(),
            patches: patches
                .iter()
                .map(|&(offset, symbol, addend, _)| Patch {
                    offset,
                    symbol,
                    addend,
                })
                .collect(),
            ..Object::default()
        };
        assert!(object.is_sound());
        let placed = Placed::new(&object, 0x7000_0000_1000, 0x6000_0000_1000).expect("it fits");
        let at = placed.entry() as usize;
        assert_eq!(at as u64 % ALIGNMENT, 0);
        let mut want = [0xcc; 64];
        for (offset, _, _, address) in patches {
            want[offset as usize..][..8].copy_from_slice(&address.to_le_bytes());
        }
        #[expect(unsafe_code, reason = "reads code as bytes")]
        // SAFETY: the code is mapped, and nothing writes it.
        let found = unsafe { std::slice::from_raw_parts(at as *const u8, 64) };
        assert_eq!(found, want);
    }
}
