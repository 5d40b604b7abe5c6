//! Code in guest memory, which kernels may only read unless the code object has writable segments.
//! Instructions are fetched from a copy that is made when the code is loaded and never changes: as
//! on the hardware, whose instruction caches do not observe stores, code that is overwritten there,
//! by the host or beside writable data, does not change until it is loaded again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use frontend::{Gfx, Inst};

use crate::fault::FaultKind;
use crate::memory::{AllocError, Memory, MemoryError, Purpose};
use crate::object::{CodeObject, LoadError};

/// Bytes that are written at once when code is loaded.
const PAGE: usize = 4096;

/// An executable segment.
#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    bytes: Box<[u8]>,
    /// The instruction at each dword, decoded on first use.
    decoded: Box<[OnceLock<Box<Inst>>]>,
}

impl Segment {
    fn new(start: u64, bytes: Box<[u8]>) -> Segment {
        let dwords = bytes.len().div_ceil(4);
        Segment {
            start,
            bytes,
            decoded: std::iter::repeat_with(OnceLock::new).take(dwords).collect(),
        }
    }
}

/// A named part of the code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSymbol {
    /// Guest address.
    pub address: u64,
    /// Size in bytes; 0 when unknown.
    pub size: u64,
    /// Name.
    pub name: String,
}

/// Why code cannot be put into guest memory.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// Guest memory is exhausted.
    #[error("the code object does not fit: {0}")]
    Alloc(#[from] AllocError),
    /// The image could not be written.
    #[error("the code object cannot be written to guest memory: {0}")]
    Memory(#[from] MemoryError),
    /// The image is invalid.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// Loaded code of one code object.
#[derive(Debug)]
pub struct LoadedCode {
    id: u64,
    gfx: Gfx,
    /// First byte of the image in guest memory.
    base: u64,
    /// Bytes of the image.
    len: u64,
    /// Guest address minus the address in the code object.
    bias: u64,
    /// Sorted by start.
    segments: Vec<Segment>,
    /// Sorted by address.
    symbols: Vec<CodeSymbol>,
}

/// Numbers loaded code.
fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Relaxed)
}

/// What the memory of a code object is for.
fn purpose_of(object: &CodeObject) -> Purpose {
    match object.is_writable() {
        true => Purpose::System,
        false => Purpose::Code,
    }
}

impl LoadedCode {
    /// Puts a code object into guest memory, with data of its own.
    pub fn load(memory: &Memory, object: &CodeObject) -> Result<LoadedCode, CodeError> {
        LoadedCode::load_with(memory, object, &|_| None)
    }

    /// As [`LoadedCode::load`]; `resolve` gives the guest addresses of symbols that the object does
    /// not define.
    pub fn load_with(
        memory: &Memory,
        object: &CodeObject,
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<LoadedCode, CodeError> {
        let len = object.image_size();
        let base = memory.alloc_for(purpose_of(object), len, object.image_align())?;
        LoadedCode::load_into(memory, object, base, resolve)
    }

    /// As [`LoadedCode::load`], at a guest address where nothing is allocated.
    pub fn load_at(
        memory: &Memory,
        object: &CodeObject,
        base: u64,
    ) -> Result<LoadedCode, CodeError> {
        memory.alloc_at(purpose_of(object), base, object.image_size())?;
        LoadedCode::load_into(memory, object, base, &|_| None)
    }

    /// Loads into memory that was allocated for it, which is freed if that is not possible.
    fn load_into(
        memory: &Memory,
        object: &CodeObject,
        base: u64,
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<LoadedCode, CodeError> {
        let len = object.image_size();
        let loaded = LoadedCode::write(memory, object, base, len, resolve);
        if loaded.is_err() {
            memory.free(base)?;
        }
        loaded
    }

    fn write(
        memory: &Memory,
        object: &CodeObject,
        base: u64,
        len: u64,
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<LoadedCode, CodeError> {
        // The size was checked against a limit when the object was parsed.
        let mut image = vec![0; len as usize];
        object.fill(base, &mut image, resolve)?;
        // A small file may request much memory, which is zero already and must not be touched.
        for (page, bytes) in image.chunks(PAGE).enumerate() {
            if *bytes != [0; PAGE][..bytes.len()] {
                memory.write_bytes(base + (page * PAGE) as u64, bytes)?;
            }
        }
        let start = object.image_start();
        let segments = object.segments.iter().filter(|segment| segment.execute);
        let segments = segments.map(|segment| {
            let at = (segment.address - start) as usize;
            // The zeros after the file's bytes are not code.
            let bytes = image[at..at + segment.data.len()].into();
            Segment::new(base + (segment.address - start), bytes)
        });
        let mut symbols: Vec<_> = object
            .functions
            .iter()
            .map(|symbol| CodeSymbol {
                address: object.address_in(base, symbol.value),
                size: symbol.size,
                name: symbol.name.clone(),
            })
            .collect();
        symbols.sort_by_key(|symbol| symbol.address);
        Ok(LoadedCode {
            id: next_id(),
            gfx: object.target.gfx,
            base,
            len,
            bias: base.wrapping_sub(start),
            segments: segments.collect(),
            symbols,
        })
    }

    /// Frees the guest memory. The code must not be run afterwards.
    pub fn unload(self, memory: &Memory) -> Result<(), AllocError> {
        memory.free(self.base)
    }

    /// A number that is unique among all loaded code of this process.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Instructions without a code object, for tests and tools; addresses are numbered from 0.
    pub fn from_bytes(memory: &Memory, gfx: Gfx, bytes: &[u8]) -> Result<LoadedCode, CodeError> {
        let base = memory.alloc_for(Purpose::Code, bytes.len() as u64, 4096)?;
        memory.write_bytes(base, bytes)?;
        Ok(LoadedCode {
            id: next_id(),
            gfx,
            base,
            len: bytes.len() as u64,
            bias: base,
            segments: vec![Segment::new(base, bytes.into())],
            symbols: Vec::new(),
        })
    }

    /// Target that the code is for.
    pub fn gfx(&self) -> Gfx {
        self.gfx
    }

    /// First byte of the image in guest memory.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Size of the image.
    pub fn image_len(&self) -> u64 {
        self.len
    }

    /// The code at `pc`, up to the end of its executable segment. `None` outside such a segment
    /// and at addresses that are no multiple of four.
    #[inline]
    pub fn bytes_at(&self, pc: u64) -> Option<&[u8]> {
        let after = self.segments.partition_point(|segment| segment.start <= pc);
        let segment = &self.segments[after.checked_sub(1)?];
        let offset = usize::try_from(pc - segment.start).ok()?;
        if !pc.is_multiple_of(4) {
            return None;
        }
        segment
            .bytes
            .get(offset..)
            .filter(|bytes| !bytes.is_empty())
    }

    /// The instruction at `pc`, or the fault of executing it.
    pub fn decode(&self, pc: u64) -> Result<Inst, FaultKind> {
        let bytes = self.bytes_at(pc).ok_or(FaultKind::no_code(pc))?;
        frontend::decode(self.gfx, bytes).map_err(|error| FaultKind::IllegalInstruction { error })
    }

    /// As [`LoadedCode::decode`]; each instruction is decoded only once.
    #[inline]
    pub fn inst_at(&self, pc: u64) -> Result<&Inst, FaultKind> {
        let after = self.segments.partition_point(|segment| segment.start <= pc);
        let slot = after.checked_sub(1).and_then(|i| {
            let segment = &self.segments[i];
            let offset = pc - segment.start;
            let slot = segment.decoded.get(usize::try_from(offset / 4).ok()?)?;
            offset.is_multiple_of(4).then_some(slot)
        });
        let slot = slot.ok_or(FaultKind::no_code(pc))?;
        if let Some(inst) = slot.get() {
            return Ok(inst);
        }
        let inst = self.decode(pc)?;
        Ok(slot.get_or_init(|| Box::new(inst)))
    }

    /// The instruction at `pc` as text; the raw dword if it is invalid.
    pub fn text_at(&self, pc: u64) -> String {
        match (self.decode(pc), self.bytes_at(pc)) {
            (Ok(inst), _) => inst.text(self.gfx),
            (Err(_), Some(&[a, b, c, d, ..])) => {
                format!(".long 0x{:08x}", u32::from_le_bytes([a, b, c, d]))
            }
            (Err(_), _) => "(no code)".to_owned(),
        }
    }

    /// The code object's address for a guest address, as in a disassembly; other addresses are
    /// unchanged.
    pub fn local(&self, pc: u64) -> u64 {
        if pc.wrapping_sub(self.base) < self.len {
            pc.wrapping_sub(self.bias)
        } else {
            pc
        }
    }

    /// Guest address of an address in the code object.
    pub fn guest(&self, local: u64) -> u64 {
        local.wrapping_add(self.bias)
    }

    /// The symbol that `pc` lies in, and the distance from its beginning.
    pub fn symbol_at(&self, pc: u64) -> Option<(&CodeSymbol, u64)> {
        let after = self.symbols.partition_point(|symbol| symbol.address <= pc);
        let symbol = &self.symbols[after.checked_sub(1)?];
        let offset = pc - symbol.address;
        (offset < symbol.size.max(1)).then_some((symbol, offset))
    }

    /// A place in the code for readers: `name+0x10`, or the address in the code object where it has no name.
    pub fn place(&self, pc: u64) -> String {
        match self.symbol_at(pc) {
            Some((symbol, 0)) => symbol.name.clone(),
            Some((symbol, offset)) => format!("{}+0x{offset:x}", symbol.name),
            None => format!("0x{:x}", self.local(pc)),
        }
    }

    /// The executable segments: guest address and bytes of code, by address.
    pub fn segments(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.segments
            .iter()
            .map(|segment| (segment.start, &*segment.bytes))
    }

    /// Symbols by address.
    pub fn symbols(&self) -> &[CodeSymbol] {
        &self.symbols
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Access;
    use crate::memory::Options;

    fn memory() -> Memory {
        Memory::with_options(Options {
            reserve: 64 << 20,
            exact: true,
            ..Options::default()
        })
        .unwrap()
    }

    fn example(name: &str) -> CodeObject {
        let path = format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"));
        CodeObject::parse(&std::fs::read(path).unwrap()).unwrap()
    }

    #[test]
    fn a_code_object_lies_in_guest_memory_as_its_segments_say() {
        let memory = memory();
        let object = example("saxpy/saxpy.gfx900.co");
        let code = LoadedCode::load(&memory, &object).unwrap();
        assert_eq!(code.gfx(), Gfx::Gfx900);
        for segment in &object.segments {
            let mut bytes = vec![0; segment.data.len()];
            let address = code.guest(segment.address);
            memory.read_bytes(address, &mut bytes).unwrap();
            // Relocations change data only.
            if segment.execute {
                assert_eq!(bytes, segment.data);
                assert_eq!(code.bytes_at(address).unwrap(), segment.data);
            } else {
                assert_eq!(code.bytes_at(address), None, "data is no code");
            }
        }
        let kernel = object.kernel("saxpy").unwrap();
        let entry = code.guest(kernel.code.start);
        let (symbol, offset) = code.symbol_at(entry + 8).unwrap();
        assert_eq!((symbol.name.as_str(), offset), ("saxpy", 8));
        assert_eq!(code.local(entry), kernel.code.start);
        assert_eq!(code.local(4), 4);
        let base = code.base();
        code.unload(&memory).unwrap();
        assert!(memory.load_u32(base).is_err());
    }

    #[test]
    fn code_objects_without_data_of_their_own_may_only_be_read() {
        for exact in [false, true] {
            let memory = Memory::with_options(Options {
                reserve: 64 << 20,
                exact,
                ..Options::default()
            });
            let memory = memory.unwrap();
            for (name, writable) in [
                ("examples/saxpy/saxpy.gfx803.co", false),
                ("examples/saxpy/saxpy.gfx906.co", false),
                ("tests/kernels/faults/read_only.gfx900.co", false),
                ("tests/kernels/faults/read_write.gfx900.co", true),
            ] {
                let object = example(&format!("../{name}"));
                assert_eq!(object.is_writable(), writable, "{name}");
                let code = LoadedCode::load(&memory, &object).unwrap();
                for segment in &object.segments {
                    let at = code.guest(segment.address);
                    assert_eq!(memory.store_u8(at, 1).is_ok(), writable, "{name}");
                    // Its dynamic table is in a segment that was to be written for relocation only.
                    assert!(segment.write || !segment.relocated_only, "{name}");
                }
            }
        }
    }

    #[test]
    fn each_load_is_its_own() {
        let memory = memory();
        let object = example("saxpy/saxpy.gfx803.co");
        let one = LoadedCode::load(&memory, &object).unwrap();
        let two = LoadedCode::load(&memory, &object).unwrap();
        assert_ne!(one.base(), two.base());
        assert_ne!(one.id(), two.id());
    }

    #[test]
    fn code_ends_where_its_segment_ends() {
        let memory = memory();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let base = code.base();
        assert_eq!(code.bytes_at(base + 4), Some(&[5, 6, 7, 8][..]));
        for pc in [base + 8, base - 4, base + 2, 0, !3] {
            assert_eq!(code.bytes_at(pc), None, "{pc:#x}");
            assert_eq!(
                code.decode(pc),
                Err(FaultKind::Memory {
                    access: Access::Execute,
                    address: pc,
                    bytes: 4,
                    nearest: None
                })
            );
        }
        assert_eq!(code.text_at(base + 8), "(no code)");
    }

    #[test]
    fn stores_over_code_do_not_change_what_runs() {
        let memory = memory();
        let code = LoadedCode::from_bytes(&memory, Gfx::Gfx900, &[0; 8]).unwrap();
        let [write, other] = [[0x81, 0xbf, 0, 0], [1, 2, 3, 4]];
        assert_eq!(
            memory.store(code.base(), other),
            Err(MemoryError::ReadOnly {
                access: Access::Write,
                address: code.base(),
                bytes: 4,
            })
        );
        memory.write_bytes(code.base(), &write).unwrap();
        assert_eq!(memory.load(code.base()), Ok(write));
        assert_eq!(code.bytes_at(code.base()), Some(&[0; 8][..]));
    }
}
