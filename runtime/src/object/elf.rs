//! The ELF part of a code object: header, loadable segments, symbols, notes. Everything is checked
//! against the size of the file here, once; relocations are in `reloc.rs`. Section headers serve the symbol
//! tables only, so an object without them still loads.

use std::collections::HashSet;

use object::elf::{
    Dyn64, FileHeader64, PF_R, PF_W, PF_X, PT_DYNAMIC, PT_GNU_RELRO, PT_LOAD, PT_NOTE, PT_TLS,
    ProgramHeader64, SHF_ALLOC, SHT_DYNSYM, SHT_NOTE, SHT_RELA, SHT_SYMTAB, Sym64,
};
use object::read::StringTable;
use object::read::elf::{
    Dyn, FileHeader, NoteIterator, ProgramHeader, SectionHeader, SectionTable, Sym,
};
use object::{LittleEndian, pod};

use super::debug::DebugSections;
use super::error::LoadError;
use super::target::Target;

const LE: LittleEndian = LittleEndian;
type Header = FileHeader64<LittleEndian>;
/// Entries of a symbol table and their names.
type SymbolTable<'a> = (&'a [Sym64<LittleEndian>], StringTable<'a>);

/// `e_machine` of AMD GPUs.
pub(crate) const EM_AMDGPU: u16 = 0xe0;
/// The most memory that the segments of one code object may span.
pub const MAX_IMAGE: u64 = 1 << 30;
/// Images begin at a multiple of this.
pub(crate) const PAGE: u64 = 0x1000;
const MAX_ALIGN: u64 = 1 << 24;
const ELFOSABI_AMDGPU_HSA: u8 = 64;
const NT_AMDGPU_METADATA: u32 = 32;

/// The revision of the ABI that a code object follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// Code object version 3.
    V3,
    /// Code object version 4.
    V4,
    /// Code object version 5.
    V5,
    /// Code object version 6: as version 5, and code for generic targets has a version of its own.
    V6,
}

impl Version {
    /// Its number.
    pub const fn number(self) -> u32 {
        match self {
            Version::V3 => 3,
            Version::V4 => 4,
            Version::V5 => 5,
            Version::V6 => 6,
        }
    }
}

/// A piece of the image: bytes of the file, then zeros.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Virtual address of the first byte.
    pub address: u64,
    /// Size in memory; what `data` does not cover is zero.
    pub size: u64,
    /// Offset of `data` in the file.
    pub file_offset: u64,
    /// The bytes that the file has.
    pub data: Vec<u8>,
    /// Required alignment, a power of two.
    pub align: u64,
    /// Whether it may be read.
    pub read: bool,
    /// Whether it may be written.
    pub write: bool,
    /// Whether all of it may only be read once it is relocated (`PT_GNU_RELRO`).
    pub relocated_only: bool,
    /// Whether it holds code.
    pub execute: bool,
}

impl Segment {
    /// Whether all of `size` bytes at `address` lie inside.
    pub fn contains(&self, address: u64, size: u64) -> bool {
        address >= self.address && size <= self.size && address - self.address <= self.size - size
    }
}

/// Kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolKind {
    /// Data.
    Object,
    /// Code.
    Function,
    /// Anything else, with its `STT_` number.
    Other(u8),
}

/// Section of a symbol's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// An address in the image.
    Image,
    /// A number that does not move with the image.
    Absolute,
    /// Undefined: must be resolved by the loader.
    Undefined,
}

/// One symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// Virtual address in the image, or the absolute value.
    pub value: u64,
    /// Size in bytes; 0 if unknown.
    pub size: u64,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its section.
    pub place: Place,
    /// Whether other objects see it (it is in the dynamic symbol table).
    pub exported: bool,
    /// Whether an undefined one counts as zero.
    pub weak: bool,
}

/// The parts of the ELF file that the loader needs.
pub(crate) struct Elf<'data> {
    pub(crate) version: Version,
    pub(crate) target: Target,
    pub(crate) segments: Vec<Segment>,
    /// The dynamic symbol table in its order, for relocations.
    pub(crate) dynamic_symbols: Vec<Symbol>,
    /// Defined symbols of `.symtab` that are not in the dynamic table.
    pub(crate) local_symbols: Vec<Symbol>,
    /// Contents of the metadata note.
    pub(crate) metadata: Option<&'data [u8]>,
    pub(crate) debug: DebugSections,
    pub(crate) dynamic: Dynamic,
    /// Addresses and sizes of the tables of relocations with addends.
    pub(crate) relocations: Vec<(u64, u64)>,
}

/// The entries of the dynamic segment that matter here, by address and size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Dynamic {
    pub(crate) symbols: Option<u64>,
    pub(crate) strings: Option<u64>,
    pub(crate) strings_size: u64,
    pub(crate) hash: Option<u64>,
    pub(crate) rela: Option<u64>,
    pub(crate) rela_size: u64,
    pub(crate) rela_entry: Option<u64>,
    pub(crate) plt: Option<u64>,
    pub(crate) plt_size: u64,
    /// A table of relocations in a form that is not read.
    pub(crate) other_form: Option<&'static str>,
}

fn damaged(what: &'static str) -> impl Fn(object::read::Error) -> LoadError {
    move |error| LoadError::Elf {
        what,
        detail: error.to_string(),
    }
}

/// The ELF header of a 64-bit little-endian file, for any machine.
pub(crate) fn header(bytes: &[u8]) -> Result<&Header, LoadError> {
    if bytes.len() < size_of::<Header>() {
        return Err(LoadError::Truncated {
            what: "the ELF header".to_owned(),
            offset: 0,
            needed: size_of::<Header>() as u64,
            end: bytes.len() as u64,
        });
    }
    let wrong = |field, found: u8, expected| {
        Err(LoadError::Header {
            field,
            found: u64::from(found),
            expected,
        })
    };
    if bytes[4] != 2 {
        return wrong("EI_CLASS", bytes[4], "2 (64-bit)");
    }
    if bytes[5] != 1 {
        return wrong("EI_DATA", bytes[5], "1 (little endian)");
    }
    if bytes[6] != 1 {
        return wrong("EI_VERSION", bytes[6], "1");
    }
    Header::parse(bytes).map_err(damaged("header"))
}

/// Version and target from a header of an amdgcn file.
pub(crate) fn identify(header: &Header) -> Result<(Version, Target), LoadError> {
    if header.e_machine(LE).0 != EM_AMDGPU {
        return Err(LoadError::Header {
            field: "e_machine",
            found: u64::from(header.e_machine(LE).0),
            expected: "0xe0 (AMD GPU)",
        });
    }
    let ident = header.e_ident();
    if ident.os_abi.0 != ELFOSABI_AMDGPU_HSA {
        return Err(LoadError::Header {
            field: "EI_OSABI",
            found: u64::from(ident.os_abi.0),
            expected: "0x40 (AMDGPU_HSA; compile for amdgcn-amd-amdhsa)",
        });
    }
    let abi = ident.abi_version;
    let version = match abi {
        1 => Version::V3,
        2 => Version::V4,
        3 => Version::V5,
        4 => Version::V6,
        _ => {
            let version = if abi == 0 { "2" } else { "unknown" };
            return Err(LoadError::UnsupportedVersion { abi, version });
        }
    };
    let target = Target::from_flags(header.e_flags(LE).0, abi)?;
    match header.e_type(LE) {
        object::elf::ET_DYN => Ok((version, target)),
        object::elf::ET_REL => Err(LoadError::NotLinked),
        other => Err(LoadError::Header {
            field: "e_type",
            found: u64::from(other.0),
            expected: "3 (ET_DYN)",
        }),
    }
}

/// The section table with its names, for any 64-bit little-endian ELF file.
pub(crate) fn sections(bytes: &[u8]) -> Result<SectionTable<'_, Header>, LoadError> {
    header(bytes)?
        .sections(LE, bytes)
        .map_err(damaged("section headers"))
}

impl<'data> Elf<'data> {
    pub(crate) fn parse(bytes: &'data [u8]) -> Result<Elf<'data>, LoadError> {
        let header = header(bytes)?;
        let (version, target) = identify(header)?;
        let programs = header
            .program_headers(LE, bytes)
            .map_err(damaged("program headers"))?;
        let sections = sections(bytes)?;
        let segments = segments(programs, bytes)?;
        let dynamic = dynamic(programs, bytes)?;
        let mut elf = Elf {
            version,
            target,
            segments,
            dynamic_symbols: Vec::new(),
            local_symbols: Vec::new(),
            metadata: metadata(programs, &sections, bytes)?,
            debug: DebugSections::read(&sections, bytes),
            relocations: relocation_tables(&dynamic, programs, &sections),
            dynamic,
        };
        elf.read_symbols(&sections, bytes)?;
        Ok(elf)
    }

    /// `size` bytes of the file that are loaded at `address`.
    pub(crate) fn file_bytes(&self, address: u64, size: u64) -> Option<&[u8]> {
        file_bytes(&self.segments, address, size)
    }

    fn read_symbols(
        &mut self,
        sections: &SectionTable<'data, Header>,
        bytes: &'data [u8],
    ) -> Result<(), LoadError> {
        // Names may share one long string, so copying them all could be quadratic in the file's
        // size.
        let mut budget = (bytes.len() as u64)
            .saturating_mul(8)
            .saturating_add(0x1000);
        let table = sections
            .symbols(LE, bytes, SHT_DYNSYM)
            .map_err(damaged("dynamic symbols"))?;
        let mut symbols = Vec::new();
        if table.is_empty() {
            if let Some((entries, strings)) = self.dynamic_table()? {
                for entry in entries {
                    symbols.push(symbol(entry, &strings, true, &mut budget)?);
                }
            }
        } else {
            for entry in table.iter() {
                symbols.push(symbol(entry, &table.strings(), true, &mut budget)?);
            }
        }
        self.dynamic_symbols = symbols;

        let table = sections
            .symbols(LE, bytes, SHT_SYMTAB)
            .map_err(damaged("symbol table"))?;
        let known: HashSet<(&str, u64)> = self
            .dynamic_symbols
            .iter()
            .map(|s| (s.name.as_str(), s.value))
            .collect();
        let mut locals = Vec::new();
        for entry in table.iter() {
            let symbol = symbol(entry, &table.strings(), false, &mut budget)?;
            let wanted = matches!(symbol.kind, SymbolKind::Object | SymbolKind::Function)
                && symbol.place == Place::Image
                && !symbol.name.is_empty();
            if wanted && !known.contains(&(symbol.name.as_str(), symbol.value)) {
                locals.push(symbol);
            }
        }
        self.local_symbols = locals;
        Ok(())
    }

    /// The dynamic symbol table from the dynamic segment, if there are no section headers.
    fn dynamic_table(&self) -> Result<Option<SymbolTable<'_>>, LoadError> {
        let dynamic = &self.dynamic;
        let (Some(symbols), Some(strings), Some(hash)) =
            (dynamic.symbols, dynamic.strings, dynamic.hash)
        else {
            return Ok(None);
        };
        let missing = |what, address, needed| LoadError::Truncated {
            what: format!("{what} (named in the dynamic segment)"),
            offset: address,
            needed,
            end: self
                .segments
                .last()
                .map_or(0, |s| s.address + s.data.len() as u64),
        };
        let counts = self
            .file_bytes(hash, 8)
            .ok_or_else(|| missing("DT_HASH", hash, 8))?;
        let count = u64::from(u32::from_le_bytes([
            counts[4], counts[5], counts[6], counts[7],
        ]));
        let size = count * size_of::<Sym64<LittleEndian>>() as u64;
        let data = self
            .file_bytes(symbols, size)
            .ok_or_else(|| missing("DT_SYMTAB", symbols, size))?;
        let names = self
            .file_bytes(strings, dynamic.strings_size)
            .ok_or_else(|| missing("DT_STRTAB", strings, dynamic.strings_size))?;
        let (entries, _) = pod::slice_from_bytes(data, count as usize)
            .map_err(|()| missing("DT_SYMTAB", symbols, size))?;
        Ok(Some((
            entries,
            StringTable::new(names, 0, names.len() as u64),
        )))
    }
}

/// The segment that holds all of `size` bytes at `address`; `segments` are in ascending order.
pub(crate) fn segment_at(segments: &[Segment], address: u64, size: u64) -> Option<&Segment> {
    let after = segments.partition_point(|segment| segment.address <= address);
    segments
        .get(after.checked_sub(1)?)
        .filter(|segment| segment.contains(address, size))
}

/// `size` bytes of file data that are loaded at `address`.
pub(crate) fn file_bytes(segments: &[Segment], address: u64, size: u64) -> Option<&[u8]> {
    let segment = segment_at(segments, address, size)?;
    let start = usize::try_from(address - segment.address).ok()?;
    segment
        .data
        .get(start..start.checked_add(usize::try_from(size).ok()?)?)
}

/// The `PT_LOAD` segments in ascending order, checked.
fn segments(
    programs: &[ProgramHeader64<LittleEndian>],
    bytes: &[u8],
) -> Result<Vec<Segment>, LoadError> {
    let mut found: Vec<(usize, &ProgramHeader64<LittleEndian>)> = Vec::new();
    for (index, program) in programs.iter().enumerate() {
        let loaded = program.p_memsz(LE) != 0;
        if program.p_type(LE) == PT_TLS && loaded {
            return Err(LoadError::Segment {
                index,
                address: program.p_vaddr(LE),
                defect: "thread-local storage (PT_TLS) does not exist on the GPU".to_owned(),
            });
        }
        if program.p_type(LE) == PT_LOAD && loaded {
            found.push((index, program));
        }
    }
    found.sort_by_key(|(_, program)| program.p_vaddr(LE));
    let Some(lowest) = found.first().map(|(_, program)| program.p_vaddr(LE)) else {
        return Err(LoadError::NoSegments);
    };
    let mut segments: Vec<Segment> = Vec::with_capacity(found.len());
    for (index, program) in found {
        let segment = segment(index, program, bytes)?;
        let wrong = |defect| LoadError::Segment {
            index,
            address: segment.address,
            defect,
        };
        if let Some(before) = segments.last()
            && before.address + before.size > segment.address
        {
            return Err(wrong(format!(
                "it overlaps the segment at {:#x}",
                before.address
            )));
        }
        let span = segment.address + segment.size - lowest;
        if span > MAX_IMAGE {
            return Err(LoadError::ImageTooLarge {
                size: span,
                limit: MAX_IMAGE,
            });
        }
        segments.push(segment);
    }
    for program in programs {
        if program.p_type(LE) == PT_GNU_RELRO {
            let (from, size) = (program.p_vaddr(LE), program.p_memsz(LE));
            for segment in &mut segments {
                let within = segment.address.checked_sub(from);
                segment.relocated_only |=
                    within.is_some_and(|at| at <= size && segment.size <= size - at);
            }
        }
    }
    Ok(segments)
}

fn segment(
    index: usize,
    program: &ProgramHeader64<LittleEndian>,
    bytes: &[u8],
) -> Result<Segment, LoadError> {
    let (address, size) = (program.p_vaddr(LE), program.p_memsz(LE));
    let (file_offset, file_size) = (program.p_offset(LE), program.p_filesz(LE));
    let wrong = |defect: String| LoadError::Segment {
        index,
        address,
        defect,
    };
    if size > MAX_IMAGE {
        return Err(LoadError::ImageTooLarge {
            size,
            limit: MAX_IMAGE,
        });
    }
    if file_size > size {
        return Err(wrong(format!(
            "{file_size} bytes in the file, but only {size} in memory"
        )));
    }
    // The offset table and the page rounding of the image need room as well.
    if address > u64::MAX - 4 * MAX_IMAGE {
        return Err(wrong(
            "it lies at the very end of the address space".to_owned(),
        ));
    }
    let align = program.p_align(LE).max(1);
    if !align.is_power_of_two() || align > MAX_ALIGN {
        return Err(wrong(format!(
            "alignment {align:#x} is no power of two up to {MAX_ALIGN:#x}"
        )));
    }
    if address % align != file_offset % align {
        return Err(wrong(format!(
            "file offset {file_offset:#x} differs from the address modulo the alignment {align:#x}"
        )));
    }
    let data = usize::try_from(file_offset)
        .ok()
        .and_then(|start| Some(start..start.checked_add(usize::try_from(file_size).ok()?)?))
        .and_then(|range| bytes.get(range))
        .ok_or_else(|| LoadError::Truncated {
            what: format!("segment {index}"),
            offset: file_offset,
            needed: file_size,
            end: bytes.len() as u64,
        })?;
    let flags = program.p_flags(LE);
    Ok(Segment {
        address,
        size,
        file_offset,
        data: data.to_vec(),
        align,
        read: flags.contains(PF_R),
        write: flags.contains(PF_W),
        relocated_only: false,
        execute: flags.contains(PF_X),
    })
}

fn dynamic(programs: &[ProgramHeader64<LittleEndian>], bytes: &[u8]) -> Result<Dynamic, LoadError> {
    let mut found = Dynamic::default();
    for program in programs
        .iter()
        .filter(|program| program.p_type(LE) == PT_DYNAMIC)
    {
        let entries: Option<&[Dyn64<LittleEndian>]> = program
            .dynamic(LE, bytes)
            .map_err(damaged("dynamic segment"))?;
        for entry in entries.unwrap_or_default() {
            let value = entry.d_val(LE);
            match entry.d_tag(LE) {
                object::elf::DT_NULL => break,
                object::elf::DT_SYMTAB => found.symbols = Some(value),
                object::elf::DT_STRTAB => found.strings = Some(value),
                object::elf::DT_STRSZ => found.strings_size = value,
                object::elf::DT_HASH => found.hash = Some(value),
                object::elf::DT_RELA => found.rela = Some(value),
                object::elf::DT_RELASZ => found.rela_size = value,
                object::elf::DT_RELAENT => found.rela_entry = Some(value),
                object::elf::DT_JMPREL => found.plt = Some(value),
                object::elf::DT_PLTRELSZ => found.plt_size = value,
                object::elf::DT_REL => found.other_form = Some("table without addends (DT_REL)"),
                object::elf::DT_RELR => found.other_form = Some("packed table (DT_RELR)"),
                _ => {}
            }
        }
    }
    Ok(found)
}

/// Location of the relocations: from the dynamic segment; without one, from the loaded sections.
fn relocation_tables(
    dynamic: &Dynamic,
    programs: &[ProgramHeader64<LittleEndian>],
    sections: &SectionTable<'_, Header>,
) -> Vec<(u64, u64)> {
    if programs
        .iter()
        .any(|program| program.p_type(LE) == PT_DYNAMIC)
    {
        let tables = [
            (dynamic.rela, dynamic.rela_size),
            (dynamic.plt, dynamic.plt_size),
        ];
        return tables
            .into_iter()
            .filter_map(|(table, size)| Some((table?, size)))
            .collect();
    }
    sections
        .iter()
        .filter(|section| section.sh_type(LE) == SHT_RELA)
        .filter(|section| section.sh_flags(LE).contains(SHF_ALLOC))
        .map(|section| (section.sh_addr(LE), section.sh_size(LE)))
        .collect()
}

/// The contents of the metadata note, from the segments or else from the sections.
fn metadata<'data>(
    programs: &[ProgramHeader64<LittleEndian>],
    sections: &SectionTable<'data, Header>,
    bytes: &'data [u8],
) -> Result<Option<&'data [u8]>, LoadError> {
    for program in programs
        .iter()
        .filter(|program| program.p_type(LE) == PT_NOTE)
    {
        if let Some(notes) = program.notes(LE, bytes).map_err(damaged("note segment"))?
            && let Some(found) = find_note(notes)?
        {
            return Ok(Some(found));
        }
    }
    for section in sections
        .iter()
        .filter(|section| section.sh_type(LE) == SHT_NOTE)
    {
        if let Some(notes) = section.notes(LE, bytes).map_err(damaged("note section"))?
            && let Some(found) = find_note(notes)?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn find_note<'data>(
    mut notes: NoteIterator<'data, Header>,
) -> Result<Option<&'data [u8]>, LoadError> {
    while let Some(note) = notes.next().map_err(damaged("notes"))? {
        if note.name() == b"AMDGPU" && note.n_type(LE).0 == NT_AMDGPU_METADATA {
            return Ok(Some(note.desc()));
        }
    }
    Ok(None)
}

fn symbol(
    entry: &Sym64<LittleEndian>,
    strings: &StringTable<'_>,
    exported: bool,
    budget: &mut u64,
) -> Result<Symbol, LoadError> {
    let name = match entry.st_name(LE) {
        0 => &[][..],
        _ => entry.name(LE, *strings).map_err(damaged("symbol names"))?,
    };
    *budget = budget
        .checked_sub(name.len() as u64)
        .ok_or_else(|| LoadError::Elf {
            what: "symbol names",
            detail: "together they are much longer than the file".to_owned(),
        })?;
    let place = match entry.st_shndx(LE).0 {
        0 => Place::Undefined,
        // absolute values, common symbols and AMD's LDS symbols have no address in the image
        0xff00..=0xfffe => Place::Absolute,
        _ => Place::Image,
    };
    Ok(Symbol {
        name: String::from_utf8_lossy(name).into_owned(),
        value: entry.st_value(LE),
        size: entry.st_size(LE),
        kind: match entry.st_type() {
            object::elf::STT_OBJECT => SymbolKind::Object,
            object::elf::STT_FUNC => SymbolKind::Function,
            other => SymbolKind::Other(other.0),
        },
        place,
        exported,
        weak: entry.st_bind() == object::elf::STB_WEAK,
    })
}
