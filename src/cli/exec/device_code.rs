//! For which GPUs a host program or library has code.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use memmap2::Mmap;
use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::{ElfFile, ProgramHeader as _};
use object::{Object as _, ObjectSection as _};
use runtime::object::TargetId;

type Elf<'data> = ElfFile<'data, FileHeader64<LittleEndian>>;

/// A file, mapped: libraries may have hundreds of megabytes of code, of which only headers are read.
pub(super) struct HostFile(Mmap);

impl HostFile {
    /// `None` if it cannot be read.
    #[expect(unsafe_code, reason = "maps a file")]
    pub(super) fn open(path: &Path) -> Option<HostFile> {
        let file = File::open(path).ok()?;
        // SAFETY: the loader maps the same file in a moment, and relies on the same: programs and
        // libraries are replaced as files, not written in place.
        unsafe { Mmap::map(&file) }.ok().map(HostFile)
    }

    fn elf(&self) -> Option<Elf<'_>> {
        Elf::parse(&self.0[..]).ok()
    }

    /// The targets of its code: HIP's bundles and OpenMP's images. What cannot be read counts as
    /// none.
    pub(super) fn targets(&self) -> Vec<TargetId> {
        let mut targets = runtime::object::targets(&self.0).unwrap_or_default();
        let section = self.elf().and_then(|elf| {
            let section = elf.section_by_name(".llvm.offloading")?;
            section.data().ok()
        });
        targets.extend(section.map(offload_targets).into_iter().flatten());
        targets
    }

    /// The loader that the program names.
    fn interpreter(&self) -> Option<&Path> {
        let elf = self.elf()?;
        let mut headers = elf.elf_program_headers().iter();
        let path =
            headers.find_map(|header| header.interpreter(LittleEndian, &self.0[..]).ok()?)?;
        Some(Path::new(OsStr::from_bytes(path)))
    }

    /// The shared libraries that the loader would load for this program. The loader itself is called,
    /// since only it knows all the places where it looks; it does not run the program.
    pub(super) fn libraries(&self, path: &Path, library_path: &OsStr) -> Vec<PathBuf> {
        let Some(interpreter) = self.interpreter() else {
            return Vec::new();
        };
        let output = Command::new(interpreter)
            .arg("--list")
            .arg(path)
            .env("LD_LIBRARY_PATH", library_path)
            .output();
        let listed = output.map(|output| output.stdout).unwrap_or_default();
        let lines = listed.split(|&byte| byte == b'\n');
        lines.filter_map(listed_library).collect()
    }
}

/// The path in a line such as `\tlibm.so.6 => /lib/libm.so.6 (0x00007f...)`.
fn listed_library(line: &[u8]) -> Option<PathBuf> {
    let arrow = line.windows(4).position(|part| part == b" => ")?;
    let path = &line[arrow + 4..];
    let end = path.windows(4).rposition(|part| part == b" (0x")?;
    Some(OsStr::from_bytes(&path[..end]).into())
}

/// The targets of LLVM's offload binaries, one after the other: version 1 of the format, in which
/// each has one image.
fn offload_targets(mut bytes: &[u8]) -> Vec<TargetId> {
    let mut targets = Vec::new();
    while let Some(size) = offload_size(bytes) {
        let (binary, rest) = bytes.split_at(size);
        targets.extend(offload_target(binary));
        // Each is aligned to 8 bytes.
        bytes = rest
            .get(size.next_multiple_of(8) - size..)
            .unwrap_or_default();
    }
    targets
}

/// Magic, version 1.
const OFFLOAD: &[u8] = b"\x10\xff\x10\xad\x01\x00\x00\x00";

/// A number of 64 bits.
fn number(bytes: &[u8], at: usize) -> Option<usize> {
    let word = bytes.get(at..)?.first_chunk::<8>()?;
    usize::try_from(u64::from_le_bytes(*word)).ok()
}

fn offload_size(bytes: &[u8]) -> Option<usize> {
    let size = number(bytes.strip_prefix(OFFLOAD)?, 0)?;
    (OFFLOAD.len()..=bytes.len())
        .contains(&size)
        .then_some(size)
}

/// The target of an offload binary, if it is an AMD GPU.
fn offload_target(binary: &[u8]) -> Option<TargetId> {
    let entry = number(binary, 16)?;
    let strings = number(binary, entry.checked_add(8)?)?;
    let count = number(binary, entry.checked_add(16)?)?;
    let text = |offset: usize| {
        let rest = binary.get(offset..)?;
        let end = rest.iter().position(|&byte| byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    };
    let value = |key: &str| {
        // A damaged count ends at the binary's end.
        let mut pairs = (0..count).map_while(|n| {
            let at = strings.checked_add(n.checked_mul(16)?)?;
            Some((number(binary, at)?, number(binary, at.checked_add(8)?)?))
        });
        pairs.find_map(|(name, value)| (text(name)? == key).then(|| text(value))?)
    };
    if !value("triple")?.starts_with("amdgcn") {
        return None;
    }
    value("arch")?.parse().ok()
}
