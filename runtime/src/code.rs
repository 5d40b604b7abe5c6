//! Code as it lies in guest memory. Instructions are fetched from a copy that is made when the code
//! is loaded and never changes: as on the hardware, whose instruction caches know nothing of
//! stores, a guest that writes over its own code does not see that until it is loaded anew.

use frontend::{Gfx, Inst};

use crate::fault::FaultKind;
use crate::memory::{AllocError, Memory, MemoryError};

/// An executable segment.
#[derive(Clone, Debug)]
struct Segment {
    start: u64,
    bytes: Box<[u8]>,
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
    /// There is no room.
    #[error("the code object does not fit: {0}")]
    Alloc(#[from] AllocError),
    /// Writing failed: an address or size in the code object does not belong to its image.
    #[error("the code object's image is inconsistent: {0}")]
    Memory(#[from] MemoryError),
}

/// Loaded code of one code object.
#[derive(Clone, Debug)]
pub struct LoadedCode {
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

impl LoadedCode {
    /// Plain instructions without a code object, as tests and tools use them; they are numbered
    /// from 0.
    pub fn from_bytes(memory: &Memory, gfx: Gfx, bytes: &[u8]) -> Result<LoadedCode, CodeError> {
        let base = memory.alloc(bytes.len() as u64, 4096)?;
        memory.write_bytes(base, bytes)?;
        Ok(LoadedCode {
            gfx,
            base,
            len: bytes.len() as u64,
            bias: base,
            segments: vec![Segment {
                start: base,
                bytes: bytes.into(),
            }],
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

    /// The instruction at `pc`, or the fault that executing it gives.
    pub fn decode(&self, pc: u64) -> Result<Inst, FaultKind> {
        let bytes = self.bytes_at(pc).ok_or(FaultKind::no_code(pc))?;
        frontend::decode(self.gfx, bytes).map_err(|error| FaultKind::IllegalInstruction { error })
    }

    /// The instruction at `pc` as text; the raw dword when it is none.
    pub fn text_at(&self, pc: u64) -> String {
        match (self.decode(pc), self.bytes_at(pc)) {
            (Ok(inst), _) => inst.text(self.gfx),
            (Err(_), Some(&[a, b, c, d, ..])) => {
                format!(".long 0x{:08x}", u32::from_le_bytes([a, b, c, d]))
            }
            (Err(_), _) => "(no code)".to_owned(),
        }
    }

    /// The number that the code object gives to a guest address, as a disassembly shows it; other
    /// addresses stay what they are.
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

    /// Symbols by address.
    pub fn symbols(&self) -> &[CodeSymbol] {
        &self.symbols
    }
}
