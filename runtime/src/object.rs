//! Code objects: the output of compilers for AMD GPUs. [`open`] finds the matching one in a file,
//! and [`CodeObject`] has its kernels, variables and segments and writes the image that runs.
//! Nothing here reads files or runs code; every number in a file is checked before it is used, so
//! that damaged or hostile files give a [`LoadError`] and never a panic.

mod bundle;
mod compressed;
mod debug;
mod descriptor;
mod elf;
mod error;
mod metadata;
mod reloc;
mod target;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use bundle::{Entry, candidates, entries, select, targets};
pub use compressed::{CompressionDefect, MAX_UNPACKED};
pub use debug::DebugSections;
pub use descriptor::{DESCRIPTOR_SIZE, KernelDescriptor};
pub use elf::{MAX_IMAGE, Place, Segment, Symbol, SymbolKind, Version};
pub use error::LoadError;
pub use metadata::{ArgKind, ArgMetadata, KernelMetadata, MAX_KERNARG, Metadata};
pub use reloc::{RelocKind, Relocation};
pub use target::{PROCESSORS, Processor, Setting, Target, TargetId};

use elf::{Elf, PAGE, segment_at};
use error::list;
use reloc::Relocations;

/// One kernel of a code object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name, without `.kd`.
    pub name: String,
    /// Virtual address of the descriptor.
    pub descriptor_address: u64,
    /// The descriptor.
    pub descriptor: KernelDescriptor,
    /// Virtual addresses of its code, from the entry point to the end of the function, or, if no symbol has
    /// the size, to the next function or the end of the segment.
    pub code: Range<u64>,
    /// Its metadata; `None` if the object has none for it.
    pub metadata: Option<KernelMetadata>,
}

/// Accumulation registers of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accumulation {
    /// How many.
    pub registers: u32,
    /// How many VGPRs they follow in the same file; `None` where they have a file of their own.
    pub offset: Option<u32>,
}

impl fmt::Display for Accumulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} accumulation registers", self.registers)?;
        match self.offset {
            None => Ok(()),
            Some(offset) => write!(f, ", which follow {offset} of these VGPRs"),
        }
    }
}

impl Kernel {
    /// Its accumulation registers, by its metadata or else by its descriptor, if it has any and that is
    /// known.
    pub fn accumulation(&self, gfx: frontend::Gfx) -> Option<Accumulation> {
        let unified = gfx.has_unified_vgprs();
        let offset = unified.then(|| self.descriptor.accum_offset());
        let stated = self.metadata.as_ref().and_then(|data| data.agpr_count);
        let behind = |offset| self.descriptor.vgpr_count(gfx).saturating_sub(offset);
        let registers = stated.or_else(|| offset.map(behind))?;
        (registers > 0).then_some(Accumulation { registers, offset })
    }
}

/// A loadable code object. Addresses are virtual addresses of the file until an image is made.
#[derive(Clone, Debug)]
pub struct CodeObject {
    /// The revision of the ABI.
    pub version: Version,
    /// Its target.
    pub target: Target,
    /// Segments in ascending order, without overlap.
    pub segments: Vec<Segment>,
    /// Kernels in the order of the metadata, then those without.
    pub kernels: Vec<Kernel>,
    /// Variables, those visible to other objects first.
    pub globals: Vec<Symbol>,
    /// Functions, kernels' code included, those visible to other objects first.
    pub functions: Vec<Symbol>,
    /// `amdhsa.version` of the metadata.
    pub metadata_version: Option<(u32, u32)>,
    /// The raw metadata note (msgpack); empty if there is none.
    pub metadata_note: Vec<u8>,
    /// Formats of the device's printf calls.
    pub printf: Vec<String>,
    /// Debugging information.
    pub debug: Arc<DebugSections>,
    symbols: Vec<Symbol>,
    relocations: Relocations,
}

/// Finds the code object for `wanted` in a file (an amdgcn ELF, an offload bundle, compressed or not, or a host
/// program) and parses it. Without a target the file must have exactly one for AMD GPUs.
pub fn open(bytes: &[u8], wanted: Option<&TargetId>) -> Result<CodeObject, LoadError> {
    CodeObject::parse(&select(bytes, wanted)?)
}

/// Like [`open`], for files with several bundles: the first code object that has the kernel.
pub fn open_kernel(
    bytes: &[u8],
    wanted: Option<&TargetId>,
    kernel: &str,
) -> Result<CodeObject, LoadError> {
    find_kernel(bytes, wanted, kernel, |object, _| object)
}

/// Like [`open_kernel`], the code object's own ELF file.
pub fn select_kernel(
    bytes: &[u8],
    wanted: Option<&TargetId>,
    kernel: &str,
) -> Result<Vec<u8>, LoadError> {
    find_kernel(bytes, wanted, kernel, |_, elf| elf.to_vec())
}

fn find_kernel<T>(
    bytes: &[u8],
    wanted: Option<&TargetId>,
    kernel: &str,
    take: impl FnOnce(CodeObject, &[u8]) -> T,
) -> Result<T, LoadError> {
    let entries = entries(bytes)?;
    let mut missing = None;
    for entry in candidates(&entries, wanted)? {
        let object = CodeObject::parse(entry.code())?;
        match object.kernel(kernel) {
            Ok(_) => return Ok(take(object, entry.code())),
            Err(error) => missing = missing.or(Some(error)),
        }
    }
    Err(missing.unwrap_or_else(|| LoadError::UnknownKernel {
        name: kernel.to_owned(),
        available: "none".to_owned(),
    }))
}

impl CodeObject {
    /// Parses an amdgcn ELF file.
    pub fn parse(bytes: &[u8]) -> Result<CodeObject, LoadError> {
        let elf = Elf::parse(bytes)?;
        let relocations = Relocations::read(&elf)?;
        let metadata = elf
            .metadata
            .map(Metadata::parse)
            .transpose()?
            .unwrap_or_default();
        let metadata_version = elf.metadata.map(|_| metadata.version);
        let mut object = CodeObject {
            version: elf.version,
            target: elf.target,
            segments: elf.segments,
            kernels: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
            metadata_version,
            metadata_note: elf.metadata.unwrap_or_default().to_vec(),
            printf: metadata.printf,
            debug: Arc::new(elf.debug),
            symbols: elf.dynamic_symbols,
            relocations,
        };
        object.sort_symbols(elf.local_symbols, metadata.kernels)?;
        Ok(object)
    }

    /// Divides the symbols into kernels, variables and functions.
    fn sort_symbols(
        &mut self,
        locals: Vec<Symbol>,
        metadata: Vec<KernelMetadata>,
    ) -> Result<(), LoadError> {
        let mut descriptors: Vec<(String, u64)> = Vec::new();
        let mut by_name: HashMap<String, u64> = HashMap::new();
        let exported = self
            .symbols
            .iter()
            .filter(|s| s.place == Place::Image)
            .cloned();
        for symbol in exported.chain(locals) {
            let data = match symbol.kind {
                SymbolKind::Object => true,
                SymbolKind::Function => false,
                SymbolKind::Other(_) => continue,
            };
            if segment_at(&self.segments, symbol.value, symbol.size).is_none() {
                let Symbol {
                    name, value, size, ..
                } = symbol;
                return Err(LoadError::Symbol {
                    name,
                    address: value,
                    size,
                });
            }
            let descriptor = data && symbol.size == DESCRIPTOR_SIZE && symbol.name.ends_with(".kd");
            if descriptor {
                if !by_name.contains_key(&symbol.name) {
                    by_name.insert(symbol.name.clone(), symbol.value);
                    descriptors.push((symbol.name, symbol.value));
                }
            } else if data {
                self.globals.push(symbol);
            } else {
                self.functions.push(symbol);
            }
        }
        let mut ends: HashMap<u64, u64> = HashMap::new();
        for function in self.functions.iter().filter(|function| function.size != 0) {
            ends.entry(function.value)
                .or_insert(function.value + function.size);
        }
        for kernel in metadata {
            let address = by_name.remove(&kernel.symbol).ok_or_else(|| {
                let (kernel, symbol) = (kernel.name.clone(), kernel.symbol.clone());
                LoadError::NoDescriptor { kernel, symbol }
            })?;
            let kernel = self.kernel_at(kernel.name.clone(), address, &ends, Some(kernel))?;
            self.kernels.push(kernel);
        }
        for (symbol, address) in descriptors {
            if by_name.contains_key(&symbol) {
                let name = symbol.trim_end_matches(".kd").to_owned();
                let kernel = self.kernel_at(name, address, &ends, None)?;
                self.kernels.push(kernel);
            }
        }
        self.end_unsized_kernels(&ends);
        Ok(())
    }

    /// Kernels without a size, as those of Tensile, end at the next function or kernel. `ends` are of functions with a size.
    fn end_unsized_kernels(&mut self, ends: &HashMap<u64, u64>) {
        let functions = self.functions.iter().map(|function| function.value);
        let kernels = self.kernels.iter().map(|kernel| kernel.code.start);
        let starts: BTreeSet<u64> = functions.chain(kernels).collect();
        let kernels = self.kernels.iter_mut().map(|kernel| &mut kernel.code);
        for code in kernels.filter(|code| !ends.contains_key(&code.start)) {
            if let Some(&next) = starts.range(code.start + 1..).next() {
                code.end = code.end.min(next);
            }
        }
    }

    fn kernel_at(
        &self,
        name: String,
        address: u64,
        ends: &HashMap<u64, u64>,
        metadata: Option<KernelMetadata>,
    ) -> Result<Kernel, LoadError> {
        let wrong = |defect: String| LoadError::Descriptor {
            kernel: name.clone(),
            address,
            defect,
        };
        let bytes: &[u8; 64] = self
            .file_bytes(address, DESCRIPTOR_SIZE)
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or_else(|| wrong("its bytes are not in the file".to_owned()))?;
        let descriptor = KernelDescriptor::parse(bytes).map_err(wrong)?;
        let entry = descriptor
            .entry(address)
            .ok_or_else(|| wrong("the entry point is outside the address space".to_owned()))?;
        let segment = segment_at(&self.segments, entry, 4)
            .filter(|segment| segment.execute)
            .ok_or_else(|| {
                wrong(format!(
                    "the entry point {entry:#x} is in no segment with code"
                ))
            })?;
        if !entry.is_multiple_of(256) {
            return Err(wrong(format!(
                "the entry point {entry:#x} is not aligned to 256 bytes"
            )));
        }
        let lanes = metadata
            .as_ref()
            .map_or(64, |metadata| metadata.wavefront_size);
        if descriptor.wave32() || lanes != 64 {
            let what = "a wave of other than 64 lanes";
            return Err(LoadError::UnsupportedKernel { kernel: name, what });
        }
        let end = ends
            .get(&entry)
            .copied()
            .unwrap_or(segment.address + segment.size);
        Ok(Kernel {
            name,
            descriptor_address: address,
            descriptor,
            code: entry..end,
            metadata,
        })
    }

    /// The kernel of this name; `NAME.kd` will do too.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, LoadError> {
        let find = |name: &str| self.kernels.iter().find(|kernel| kernel.name == name);
        let stripped = || name.strip_suffix(".kd").and_then(find);
        find(name)
            .or_else(stripped)
            .ok_or_else(|| LoadError::UnknownKernel {
                name: name.to_owned(),
                available: list(self.kernels.iter().map(|kernel| kernel.name.as_str())),
            })
    }

    /// The variable of this name.
    pub fn global(&self, name: &str) -> Option<&Symbol> {
        self.globals.iter().find(|symbol| symbol.name == name)
    }

    /// The relocations, in the order of the file.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations.list
    }

    /// Names of undefined symbols, which must be resolved before the object can run, each once.
    pub fn undefined_symbols(&self) -> BTreeSet<&str> {
        let used = self
            .relocations
            .list
            .iter()
            .filter_map(|r| self.symbols.get(r.symbol as usize));
        used.filter(|symbol| symbol.place == Place::Undefined && !symbol.weak)
            .map(|symbol| symbol.name.as_str())
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// `size` bytes of the file that are loaded at virtual address `address`, not relocated.
    pub fn file_bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        elf::file_bytes(&self.segments, address, size)
    }

    /// The alignment that an image needs.
    pub fn image_align(&self) -> u64 {
        self.segments
            .iter()
            .map(|segment| segment.align)
            .fold(PAGE, u64::max)
    }

    /// The virtual address with which an image begins.
    pub fn image_start(&self) -> u64 {
        let lowest = self.segments.first().map_or(0, |segment| segment.address);
        lowest & !(self.image_align() - 1)
    }

    /// Does the image have data that kernels may write? Bytes that only relocation changes are none.
    pub fn is_writable(&self) -> bool {
        let writable = |segment: &Segment| segment.write && !segment.relocated_only;
        self.segments.iter().any(writable)
    }

    /// Bytes from the image's start to the end of the last segment.
    fn segments_size(&self) -> u64 {
        let end = self
            .segments
            .last()
            .map_or(0, |segment| segment.address + segment.size);
        (end - self.image_start()).next_multiple_of(8)
    }

    /// How much memory an image needs.
    pub fn image_size(&self) -> u64 {
        (self.segments_size() + self.relocations.table_size()).next_multiple_of(PAGE)
    }

    /// Where virtual address `address` is in an image at `base`.
    pub fn address_in(&self, base: u64, address: u64) -> u64 {
        base.wrapping_add(address.wrapping_sub(self.image_start()))
    }

    /// Writes the image for guest address `base`: segments, zeros, relocations. `image` must have
    /// [`image_size`](Self::image_size) bytes and `base` be aligned to [`image_align`](Self::image_align).
    pub fn load(&self, base: u64, image: &mut [u8]) -> Result<(), LoadError> {
        self.load_with(base, image, &|_| None)
    }

    /// Like [`load`](Self::load); `resolve` gives the addresses of symbols that the object does not define.
    pub fn load_with(
        &self,
        base: u64,
        image: &mut [u8],
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<(), LoadError> {
        let (needed, align, given) = (self.image_size(), self.image_align(), image.len() as u64);
        if given < needed || !base.is_multiple_of(align) || base.checked_add(needed).is_none() {
            return Err(LoadError::Placement {
                base,
                given,
                needed,
                align,
            });
        }
        image.fill(0);
        self.fill(base, image, resolve)
    }

    /// As [`load_with`](Self::load_with), into an image of zeros of the right size.
    pub(crate) fn fill(
        &self,
        base: u64,
        image: &mut [u8],
        resolve: &dyn Fn(&str) -> Option<u64>,
    ) -> Result<(), LoadError> {
        let start = self.image_start();
        for segment in &self.segments {
            let at = (segment.address - start) as usize;
            image[at..at + segment.data.len()].copy_from_slice(&segment.data);
        }
        let table = self.segments_size();
        self.relocations
            .apply(&self.symbols, resolve, start, base, table, image)
    }
}

#[cfg(test)]
mod tests;
