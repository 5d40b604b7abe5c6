//! A code object with one kernel, as small as loaders accept it: an ELF file with a segment, the
//! kernel's descriptor, its code, its metadata and two symbols.

use std::ops::Range;

use object::elf::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, ET_DYN, EV_CURRENT, FileFlags, FileHeader64, Ident, Machine,
    NoteHeader32, NoteType, OsAbi, PF_R, PF_X, PT_LOAD, PT_NOTE, ProgramFlags, ProgramHeader64,
    ProgramType, SHF_ALLOC, SHF_EXECINSTR, SHT_NULL, SHT_PROGBITS, SHT_STRTAB, SHT_SYMTAB,
    STB_LOCAL, STT_FUNC, STT_NOTYPE, STT_OBJECT, SectionFlags, SectionHeader64, SectionType, Sym64,
    SymbolInfo, SymbolOther, SymbolSection, SymbolType,
};
use object::pod::{Pod, bytes_of};
use object::{LittleEndian, U16, U32, U64};
use rmpv::Value;
use runtime::object::{DESCRIPTOR_SIZE, KernelDescriptor, Processor};

type Header = FileHeader64<LittleEndian>;
type Program = ProgramHeader64<LittleEndian>;
type Section = SectionHeader64<LittleEndian>;
type Symbol = Sym64<LittleEndian>;

/// `e_machine` of AMD GPUs.
const EM_AMDGPU: Machine = Machine(0xe0);
const ELFOSABI_AMDGPU_HSA: OsAbi = OsAbi(64);
/// ABI version of code object version 4.
const ABI_V4: u8 = 2;
const NT_AMDGPU_METADATA: NoteType = NoteType(32);
/// Entry points lie at multiples of this.
const ENTRY_ALIGN: usize = 256;
/// Names of the sections behind the first, which is none.
const SECTIONS: &[u8] = b"\0.rodata\0.text\0.symtab\0.strtab\0.shstrtab\0";
/// Segments: read-only data, code, and the note within the first.
const SEGMENTS: usize = 3;

/// A kernel whose parameters are pointers to global memory.
pub struct Kernel<'a> {
    /// Its name.
    pub name: &'a str,
    /// The target.
    pub processor: &'static Processor,
    /// Without entry point and size of the arguments.
    pub descriptor: KernelDescriptor,
    /// The only workgroup size.
    pub workgroup: [u32; 3],
    /// Names of the parameters.
    pub parameters: &'a [&'a str],
    /// Its instructions.
    pub code: &'a [u8],
}

impl Kernel<'_> {
    /// The file.
    pub fn file(&self) -> Vec<u8> {
        let mut file = vec![0; size_of::<Header>() + SEGMENTS * size_of::<Program>()];
        let note = append(&mut file, 4, &self.note());
        let note_size = file.len() - note;
        let entry = (file.len().next_multiple_of(DESCRIPTOR_SIZE as usize)
            + DESCRIPTOR_SIZE as usize)
            .next_multiple_of(ENTRY_ALIGN);
        let descriptor = entry - DESCRIPTOR_SIZE as usize;
        file.resize(descriptor, 0);
        let filled = KernelDescriptor {
            kernarg_size: self.kernarg_size(),
            entry_byte_offset: DESCRIPTOR_SIZE as i64,
            ..self.descriptor
        };
        file.extend(descriptor_bytes(&filled));
        file.extend(self.code);

        let names = format!("\0{0}\0{0}.kd\0", self.name);
        let kd = self.name.len() + 2;
        let symbols = [
            symbol(0, 0, STT_NOTYPE, 0, 0),
            symbol(1, 2, STT_FUNC, entry, self.code.len()),
            symbol(kd, 1, STT_OBJECT, descriptor, DESCRIPTOR_SIZE as usize),
        ];
        let table: Vec<u8> = symbols.iter().flat_map(bytes_of).copied().collect();
        let symtab = append(&mut file, 8, &table);
        let strtab = append(&mut file, 1, names.as_bytes());
        let shstrtab = append(&mut file, 1, SECTIONS);
        let text = SHF_ALLOC | SHF_EXECINSTR;
        let data = DESCRIPTOR_SIZE as usize;
        let sections = [
            section(0, SHT_NULL, SectionFlags(0), 0, 0),
            section(1, SHT_PROGBITS, SHF_ALLOC, descriptor, data),
            section(9, SHT_PROGBITS, text, entry, self.code.len()),
            Section {
                // The names are in the section behind.
                sh_link: U32::from(4),
                // The first symbol that is not local: none.
                sh_info: U32::from(symbols.len() as u32),
                sh_entsize: U64::from(size_of::<Symbol>() as u64),
                ..section(15, SHT_SYMTAB, SectionFlags(0), symtab, table.len())
            },
            section(23, SHT_STRTAB, SectionFlags(0), strtab, names.len()),
            section(31, SHT_STRTAB, SectionFlags(0), shstrtab, SECTIONS.len()),
        ];
        let table: Vec<u8> = sections.iter().flat_map(bytes_of).copied().collect();
        let at = append(&mut file, 8, &table);

        put(&mut file, 0, &self.header(at as u64, sections.len() as u16));
        let segments: [Program; SEGMENTS] = [
            segment(PT_LOAD, PF_R, 0x1000, 0..entry),
            segment(PT_LOAD, PF_R | PF_X, 0x1000, entry..entry + self.code.len()),
            segment(PT_NOTE, PF_R, 4, note..note + note_size),
        ];
        for (n, segment) in segments.iter().enumerate() {
            put(
                &mut file,
                size_of::<Header>() + n * size_of::<Program>(),
                segment,
            );
        }
        file
    }

    fn header(&self, sections: u64, count: u16) -> Header {
        Header {
            e_ident: Ident {
                magic: ELFMAG,
                class: ELFCLASS64,
                data: ELFDATA2LSB,
                version: EV_CURRENT,
                os_abi: ELFOSABI_AMDGPU_HSA,
                abi_version: ABI_V4,
                padding: [0; 7],
            },
            e_type: ET_DYN.into(),
            e_machine: EM_AMDGPU.into(),
            e_version: U32::from(1),
            e_entry: U64::from(0),
            e_phoff: U64::from(size_of::<Header>() as u64),
            e_shoff: U64::from(sections),
            e_flags: FileFlags(u32::from(self.processor.machine)).into(),
            e_ehsize: U16::from(size_of::<Header>() as u16),
            e_phentsize: U16::from(size_of::<Program>() as u16),
            e_phnum: U16::from(SEGMENTS as u16),
            e_shentsize: U16::from(size_of::<Section>() as u16),
            e_shnum: U16::from(count),
            e_shstrndx: SymbolSection(count - 1).into(),
        }
    }

    fn kernarg_size(&self) -> u32 {
        8 * self.parameters.len() as u32
    }

    /// The note with the metadata.
    fn note(&self) -> Vec<u8> {
        let map = |entries: Vec<(&str, Value)>| {
            let entries = entries.into_iter();
            Value::Map(entries.map(|(key, value)| (key.into(), value)).collect())
        };
        let parameters = self.parameters.iter().enumerate();
        let parameters = parameters.map(|(n, &name)| {
            map(vec![
                (".name", name.into()),
                (".offset", (8 * n).into()),
                (".size", 8.into()),
                (".value_kind", "global_buffer".into()),
                (".address_space", "global".into()),
            ])
        });
        let d = &self.descriptor;
        let workgroup = self.workgroup.map(Value::from).to_vec();
        let kernel = map(vec![
            (".name", self.name.into()),
            (".symbol", format!("{}.kd", self.name).into()),
            (".args", Value::Array(parameters.collect())),
            (".kernarg_segment_size", self.kernarg_size().into()),
            (".kernarg_segment_align", 8.into()),
            (
                ".group_segment_fixed_size",
                d.group_segment_fixed_size.into(),
            ),
            (
                ".private_segment_fixed_size",
                d.private_segment_fixed_size.into(),
            ),
            (".wavefront_size", 64.into()),
            (".reqd_workgroup_size", Value::Array(workgroup)),
            (
                ".max_flat_workgroup_size",
                self.workgroup.iter().product::<u32>().into(),
            ),
        ]);
        let target = format!("amdgcn-amd-amdhsa--{}", self.processor.name);
        let document = map(vec![
            ("amdhsa.version", Value::Array(vec![1.into(), 1.into()])),
            ("amdhsa.target", target.into()),
            ("amdhsa.kernels", Value::Array(vec![kernel])),
        ]);
        let mut metadata = Vec::new();
        rmpv::encode::write_value(&mut metadata, &document)
            .expect("writing to memory does not fail");
        let owner = b"AMDGPU\0";
        let header = NoteHeader32::<LittleEndian> {
            n_namesz: U32::from(owner.len() as u32),
            n_descsz: U32::from(metadata.len() as u32),
            n_type: NT_AMDGPU_METADATA.into(),
        };
        let mut note = bytes_of(&header).to_vec();
        append(&mut note, 4, owner);
        append(&mut note, 4, &metadata);
        note.resize(note.len().next_multiple_of(4), 0);
        note
    }
}

/// Adds bytes at the next multiple of `align`; gives their offset.
fn append(file: &mut Vec<u8>, align: usize, bytes: &[u8]) -> usize {
    let at = file.len().next_multiple_of(align);
    file.resize(at, 0);
    file.extend(bytes);
    at
}

fn put(file: &mut [u8], at: usize, value: &impl Pod) {
    let bytes = bytes_of(value);
    file[at..at + bytes.len()].copy_from_slice(bytes);
}

/// A segment whose addresses are the offsets in the file.
fn segment(kind: ProgramType, flags: ProgramFlags, align: u64, place: Range<usize>) -> Program {
    let at = U64::from(place.start as u64);
    let size = U64::from(place.len() as u64);
    Program {
        p_type: kind.into(),
        p_flags: flags.into(),
        p_offset: at,
        p_vaddr: at,
        p_paddr: at,
        p_filesz: size,
        p_memsz: size,
        p_align: U64::from(align),
    }
}

fn section(name: u32, kind: SectionType, flags: SectionFlags, at: usize, size: usize) -> Section {
    let address = if flags == SectionFlags(0) { 0 } else { at };
    Section {
        sh_name: U32::from(name),
        sh_type: kind.into(),
        sh_flags: flags.into(),
        sh_addr: U64::from(address as u64),
        sh_offset: U64::from(at as u64),
        sh_size: U64::from(size as u64),
        sh_link: U32::from(0),
        sh_info: U32::from(0),
        sh_addralign: U64::from(1),
        sh_entsize: U64::from(0),
    }
}

fn symbol(name: usize, section: u16, kind: SymbolType, value: usize, size: usize) -> Symbol {
    Symbol {
        st_name: U32::from(name as u32),
        st_info: SymbolInfo::new(STB_LOCAL, kind),
        st_other: SymbolOther(0),
        st_shndx: SymbolSection(section).into(),
        st_value: U64::from(value as u64),
        st_size: U64::from(size as u64),
    }
}

/// The inverse of [`KernelDescriptor::parse`].
pub fn descriptor_bytes(d: &KernelDescriptor) -> [u8; DESCRIPTOR_SIZE as usize] {
    let mut bytes = [0; DESCRIPTOR_SIZE as usize];
    let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
    put(0, &d.group_segment_fixed_size.to_le_bytes());
    put(4, &d.private_segment_fixed_size.to_le_bytes());
    put(8, &d.kernarg_size.to_le_bytes());
    put(16, &d.entry_byte_offset.to_le_bytes());
    put(44, &d.rsrc3.to_le_bytes());
    put(48, &d.rsrc1.to_le_bytes());
    put(52, &d.rsrc2.to_le_bytes());
    put(56, &d.properties.to_le_bytes());
    put(58, &d.preload.to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use runtime::object::CodeObject;

    use super::*;

    #[test]
    fn the_file_is_read_back() {
        let descriptor = KernelDescriptor {
            group_segment_fixed_size: 2048,
            private_segment_fixed_size: 256,
            rsrc1: 0x00ac_033f,
            rsrc2: 0x1085,
            properties: 8,
            ..KernelDescriptor::default()
        };
        let code: Vec<u8> = [0xbf80_0000_u32, 0xbf81_0000]
            .into_iter()
            .flat_map(u32::to_le_bytes)
            .collect();
        for name in ["gfx600", "gfx803", "gfx906"] {
            let kernel = Kernel {
                name: "program",
                processor: Processor::by_name(name).expect("there is one"),
                descriptor,
                workgroup: [16, 4, 1],
                parameters: &["state", "out"],
                code: &code,
            };
            let object = CodeObject::parse(&kernel.file()).expect("a sound code object");
            assert_eq!(object.target.processor.name, name);
            let [read] = &object.kernels[..] else {
                panic!("one kernel, not {:?}", object.kernels);
            };
            assert_eq!(read.name, "program");
            let expected = KernelDescriptor {
                kernarg_size: 16,
                entry_byte_offset: 64,
                ..descriptor
            };
            assert_eq!(read.descriptor, expected);
            let bytes = object.file_bytes(read.code.start, code.len() as u64);
            assert_eq!(bytes, Some(&code[..]));
            assert_eq!(read.code.end - read.code.start, code.len() as u64);
            let metadata = read.metadata.as_ref().expect("it has metadata");
            assert_eq!(metadata.reqd_workgroup_size, Some([16, 4, 1]));
            let names = metadata
                .args
                .iter()
                .map(|arg| (arg.name.as_deref(), arg.offset));
            let names: Vec<_> = names.collect();
            assert_eq!(names, [(Some("state"), 0), (Some("out"), 8)]);
        }
    }
}
