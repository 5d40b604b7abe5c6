//! Arbitrary bytes as a file with code objects: an ELF file, an offload bundle, a compressed one, a host program.

use std::cell::OnceCell;

use runtime::memory::{Memory, Options};
use runtime::object::{self, CodeObject, LoadError};
use runtime::{LoadedCode, memory};

/// Images above this size are not loaded.
const MOST: u64 = 8 << 20;

/// Instructions of a kernel that are decoded at most.
const DECODED: usize = 256;

thread_local! {
    static MEMORY: OnceCell<Memory> = const { OnceCell::new() };
}

/// The bytes are the file. Whatever it is, it has code objects that can be used, or there is an error that says why not.
pub fn loader(data: &[u8]) {
    if let Ok(entries) = object::entries(data) {
        for entry in &entries {
            // Of a compressed bundle the range is one of what was compressed.
            let inside = entry.is_compressed() || entry.range.end <= data.len();
            assert!(inside, "{:?}", entry.range);
            let _ = entry.is_amdgcn();
            said(CodeObject::parse(entry.code()).map(|object| used(&object)));
        }
    }
    said(object::targets(data).map(drop));
    said(object::open(data, None).map(|object| used(&object)));
    said(object::select_kernel(data, None, "kernel").map(drop));
}

/// Errors have messages.
fn said(result: Result<(), LoadError>) {
    if let Err(error) = result {
        assert!(!error.to_string().is_empty());
    }
}

/// Does with a code object what a launch does before it runs.
fn used(object: &CodeObject) {
    for kernel in &object.kernels {
        let gfx = object.target.gfx;
        assert!(object.kernel(&kernel.name).is_ok(), "{}", kernel.name);
        let descriptor = &kernel.descriptor;
        let _ = (
            kernel.accumulation(gfx),
            descriptor.vgpr_count(gfx),
            descriptor.sgpr_count(gfx),
            descriptor.mode(gfx),
            descriptor.user_sgpr_count(),
            descriptor.entry(kernel.descriptor_address),
        );
    }
    let _ = (object.undefined_symbols(), object.is_writable());
    if object.image_size() > MOST {
        return;
    }
    MEMORY.with(|memory| {
        let memory = memory.get_or_init(|| {
            let options = Options {
                reserve: 16 * MOST,
                ..Options::default()
            };
            Memory::with_options(options).expect("address space is free")
        });
        loaded(memory, object);
    });
}

fn loaded(memory: &memory::Memory, object: &CodeObject) {
    let code = match LoadedCode::load_with(memory, object, &|_| Some(0x1000)) {
        Ok(code) => code,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    for kernel in &object.kernels {
        let mut pc = object.address_in(code.base(), kernel.code.start);
        for _ in 0..DECODED {
            let Ok(inst) = code.inst_at(pc) else {
                break;
            };
            let _ = code.place(pc);
            pc += u64::from(inst.len);
        }
    }
    for (start, bytes) in code.segments() {
        assert_eq!(code.bytes_at(start), Some(bytes).filter(|b| !b.is_empty()));
    }
    code.unload(memory).expect("it was loaded");
}
