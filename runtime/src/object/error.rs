//! Errors of files with device code. Every variant is one kind of defect and names its location;
//! `is_unsupported` separates unsupported features from damage.

use super::compressed::CompressionDefect;
use crate::foreign::Foreign;
use frontend::Gfx;

/// Why a code object, or the file that wraps it, cannot be loaded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The file is none of the formats that hold device code.
    #[error(
        "the file begins with {start}, which is no code object; expected an amdgcn ELF, a host ELF with a \
         .hip_fatbin section or a clang offload bundle"
    )]
    UnknownFormat {
        /// The first bytes in hexadecimal, or `nothing`.
        start: String,
    },
    /// Something reaches past the end of the file.
    #[error(
        "{what} at offset {offset:#x} needs {needed} bytes, but the file ends at {end:#x}: truncated or damaged"
    )]
    Truncated {
        /// The thing that does not fit.
        what: String,
        /// Its offset in the file.
        offset: u64,
        /// How many bytes it needs.
        needed: u64,
        /// The size of the file, or of the part that must hold it.
        end: u64,
    },
    /// A field of the ELF header has a value that no amdgcn code object has.
    #[error("ELF header: {field} is {found:#x}, expected {expected}")]
    Header {
        /// The field's name in the ELF specification.
        field: &'static str,
        /// Its value.
        found: u64,
        /// The values that are accepted.
        expected: &'static str,
    },
    /// A relocatable object, which the linker has not seen yet.
    #[error("this is a relocatable object (ET_REL); link it first: ld.lld -shared in.o -o out.co")]
    NotLinked,
    /// A code object version that is not supported.
    #[error(
        "unsupported code object version {version} (ELF ABI version {abi}); versions 3 to 6 are \
         supported: recompile with -mcode-object-version=5"
    )]
    UnsupportedVersion {
        /// The ABI version byte of the ELF header.
        abi: u8,
        /// The name of the version that has it.
        version: &'static str,
    },
    /// Code for a processor that wavelift does not run.
    #[error(
        "unsupported target {name}; supported are {known} and their siblings with the same instructions",
        name = Foreign(.name), known = Gfx::list(", "))]
    UnsupportedTarget {
        /// The processor's name.
        name: String,
    },
    /// A machine number in `e_flags` of no known processor.
    #[error("unsupported target: e_flags {flags:#x} name no known processor")]
    UnknownMachine {
        /// The whole of `e_flags`.
        flags: u32,
    },
    /// Code for a generic processor without a version, or for a plain one with a version.
    #[error(
        "ELF header: {name} with generic version {version}; generic targets have a version from 1 on in code object \
         version 6, others have none: recompile with -mcode-object-version=6"
    )]
    GenericVersion {
        /// The processor's name.
        name: &'static str,
        /// The version in `e_flags`.
        version: u8,
    },
    /// A table of the ELF file cannot be read.
    #[error("damaged ELF file: {what}: {detail}", detail = Foreign(.detail))]
    Elf {
        /// Which table.
        what: &'static str,
        /// The defect.
        detail: String,
    },
    /// A section of debugging information cannot be decompressed.
    #[error("section {name} is damaged: {detail}", detail = Foreign(.detail))]
    DebugSection {
        /// Its name.
        name: String,
        /// The defect.
        detail: String,
    },
    /// There is nothing to load.
    #[error(
        "the code object has no loadable segment; it was stripped of its program headers or is no executable"
    )]
    NoSegments,
    /// A program header describes an impossible segment.
    #[error("segment {index} at address {address:#x}: {defect}")]
    Segment {
        /// Number of the program header.
        index: usize,
        /// Its virtual address.
        address: u64,
        /// The defect.
        defect: String,
    },
    /// The segments span more memory than a code object may take.
    #[error("the segments span {size} bytes of memory, more than the limit of {limit}")]
    ImageTooLarge {
        /// Bytes from the first to the last address.
        size: u64,
        /// The most that is allowed.
        limit: u64,
    },
    /// The memory given for the image does not suit it.
    #[error(
        "an image of {needed} bytes aligned to {align} does not go into {given} bytes at {base:#x}"
    )]
    Placement {
        /// Requested address of the image.
        base: u64,
        /// Bytes available at the address.
        given: u64,
        /// Bytes needed.
        needed: u64,
        /// Alignment needed.
        align: u64,
    },
    /// A relocation of a type that cannot be applied.
    #[error(
        "unsupported relocation {name} at address {offset:#x}; link the object again with ld.lld -shared"
    )]
    RelocationType {
        /// The type's name, or its number.
        name: String,
        /// The address to be patched.
        offset: u64,
    },
    /// A relocation that patches memory outside the segments.
    #[error(
        "relocation {name} patches {bytes} bytes at address {offset:#x}, outside the loaded segments"
    )]
    RelocationRange {
        /// The type's name.
        name: &'static str,
        /// The address to be patched.
        offset: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// A relocation whose value does not fit.
    #[error("relocation {name} at address {offset:#x}: value {value:#x} does not fit into 32 bits")]
    RelocationOverflow {
        /// The type's name.
        name: &'static str,
        /// The address to be patched.
        offset: u64,
        /// The value.
        value: u64,
    },
    /// A relocation names a symbol that the symbol table lacks.
    #[error(
        "relocation {name} at address {offset:#x} refers to symbol {symbol}, which the symbol table lacks"
    )]
    RelocationSymbol {
        /// The type's name.
        name: &'static str,
        /// The address to be patched.
        offset: u64,
        /// Number of the symbol.
        symbol: u32,
    },
    /// A relocation refers to an undefined symbol.
    #[error(
        "undefined symbol `{symbol}`, needed by relocation {name} at address {offset:#x}; define it in the code object", symbol = Foreign(.symbol))]
    UndefinedSymbol {
        /// The symbol's name.
        symbol: String,
        /// The relocation type's name.
        name: &'static str,
        /// The address to be patched.
        offset: u64,
    },
    /// A symbol lies outside the segments.
    #[error(
        "symbol `{name}` covers {size} bytes at address {address:#x}, outside the loaded segments", name = Foreign(.name))]
    Symbol {
        /// The symbol's name.
        name: String,
        /// Its address.
        address: u64,
        /// Its size.
        size: u64,
    },
    /// The metadata note cannot be understood.
    #[error("kernel metadata: {path}: {defect}", path = Foreign(.path), defect = Foreign(.defect))]
    Metadata {
        /// Where in the document, such as `amdhsa.kernels[1].args[0].size`.
        path: String,
        /// The defect.
        defect: String,
    },
    /// The metadata names a kernel descriptor that the symbol tables lack.
    #[error(
        "kernel `{kernel}`: the symbol tables have no 64-byte object `{symbol}` for its descriptor", kernel = Foreign(.kernel), symbol = Foreign(.symbol))]
    NoDescriptor {
        /// The kernel's name.
        kernel: String,
        /// The symbol's name.
        symbol: String,
    },
    /// A kernel descriptor with impossible contents.
    #[error("kernel `{kernel}`: its descriptor at address {address:#x} is wrong: {defect}", kernel = Foreign(.kernel))]
    Descriptor {
        /// The kernel's name.
        kernel: String,
        /// Address of the descriptor.
        address: u64,
        /// The defect.
        defect: String,
    },
    /// A kernel that requires an unsupported feature.
    #[error("kernel `{kernel}`: {what} is not supported", kernel = Foreign(.kernel))]
    UnsupportedKernel {
        /// The kernel's name.
        kernel: String,
        /// The feature.
        what: &'static str,
    },
    /// A kernel name that the code object lacks.
    #[error("no kernel `{name}`; the code object has {available}", name = Foreign(.name))]
    UnknownKernel {
        /// The requested name.
        name: String,
        /// The available names, as a list.
        available: String,
    },
    /// An offload bundle with an invalid table.
    #[error("offload bundle at offset {offset:#x}: {defect}", defect = Foreign(.defect))]
    Bundle {
        /// Where the bundle begins in the file.
        offset: u64,
        /// The defect.
        defect: String,
    },
    /// A compressed offload bundle that cannot be decompressed.
    #[error("compressed offload bundle at offset {offset:#x}: {defect}")]
    CompressedBundle {
        /// Where it begins in the file.
        offset: u64,
        /// The defect.
        defect: CompressionDefect,
    },
    /// LLVM's other container.
    #[error(
        "LLVM offload binary at offset {offset:#x} is not supported; take the code object out of it with \
         clang-offload-packager"
    )]
    OffloadBinary {
        /// Where it begins in the file.
        offset: u64,
    },
    /// A program or library for the host without device code.
    #[error(
        "this ELF file is for the host (machine {machine:#x}) and has no .hip_fatbin section, so no device code"
    )]
    NoDeviceCode {
        /// The machine number of the ELF header.
        machine: u16,
    },
    /// No code object matches the requested target.
    #[error("no code object for {wanted}; the file has {available}", wanted = Foreign(.wanted))]
    NoMatch {
        /// The requested target, or `amdgcn`.
        wanted: String,
        /// The available ones, as a list.
        available: String,
    },
    /// Several code objects are possible.
    #[error("several code objects for {wanted}: {available}; name the target", wanted = Foreign(.wanted))]
    Ambiguous {
        /// The requested target, or `amdgcn`.
        wanted: String,
        /// The possible ones, as a list.
        available: String,
    },
    /// Text that is no target id.
    #[error("`{text}` is no target id: {defect}; write it as gfx906 or gfx906:sramecc-:xnack+", text = Foreign(.text))]
    TargetId {
        /// The text.
        text: String,
        /// The defect.
        defect: &'static str,
    },
}

impl LoadError {
    /// Whether the file is valid but requires an unsupported feature.
    pub fn is_unsupported(&self) -> bool {
        matches!(
            self,
            LoadError::UnsupportedVersion { .. }
                | LoadError::UnsupportedTarget { .. }
                | LoadError::UnknownMachine { .. }
                | LoadError::RelocationType { .. }
                | LoadError::UnsupportedKernel { .. }
                | LoadError::CompressedBundle {
                    defect: CompressionDefect::Version(_) | CompressionDefect::Method(_),
                    ..
                }
                | LoadError::OffloadBinary { .. }
                | LoadError::NotLinked
        )
    }
}

/// Names as a list for a message: at most a dozen, then how many more.
pub(crate) fn list<S: AsRef<str>>(names: impl ExactSizeIterator<Item = S>) -> String {
    const SHOWN: usize = 12;
    let total = names.len();
    if total == 0 {
        return "none".to_owned();
    }
    let shown: Vec<String> = names
        .take(SHOWN)
        .map(|name| Foreign(name.as_ref()).to_string())
        .collect();
    let text = shown.join(", ");
    if total > SHOWN {
        format!("{text} and {} more", total - SHOWN)
    } else {
        text
    }
}
