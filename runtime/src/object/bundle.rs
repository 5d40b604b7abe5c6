//! Files that wrap code objects: clang offload bundles, compressed or not, several of them one after another,
//! and host programs that carry them in a `.hip_fatbin` section. The table of contents comes out as a list of
//! entries; choosing one of them by target is here too. A bare code object counts as a file with one entry.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use object::LittleEndian;
use object::read::elf::{FileHeader, SectionHeader};

use super::compressed::{self, Budget};
use super::elf;
use super::error::{LoadError, list};
use super::target::TargetId;

const LE: LittleEndian = LittleEndian;
const ELF: &[u8] = b"\x7fELF";
const BUNDLE: &[u8] = b"__CLANG_OFFLOAD_BUNDLE__";
const OFFLOAD_BINARY: &[u8] = b"\x10\xff\x10\xad";
/// The wrapper with which a HIP program registers its fat binary, `HIPF` as a little-endian number.
const HIP_WRAPPER: &[u8] = b"FPIH";
const HIP_WRAPPER_SIZE: usize = 24;
const FATBIN_SECTION: &[u8] = b".hip_fatbin";

/// One code object in a file, for the host or for a GPU.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    /// Which bundle of the file it is in; a program linked from several sources has several.
    pub bundle: usize,
    /// The whole id, such as `hipv4-amdgcn-amd-amdhsa--gfx906:xnack-`.
    pub id: String,
    /// `host`, `hip`, `hipv4` or `openmp`; empty for a bare code object.
    pub kind: String,
    /// The triple, such as `amdgcn-amd-amdhsa`.
    pub triple: String,
    /// The processor, for GPUs.
    pub target: Option<TargetId>,
    /// Where the code object is in the file, or in the decompressed bundle.
    pub range: Range<usize>,
    holder: Holder<'a>,
}

/// What holds a code object.
#[derive(Clone)]
enum Holder<'a> {
    File(&'a [u8]),
    Unpacked(Arc<Vec<u8>>),
}

impl Holder<'_> {
    fn bytes(&self) -> &[u8] {
        match self {
            Holder::File(bytes) => bytes,
            Holder::Unpacked(bytes) => bytes,
        }
    }
}

impl fmt::Debug for Holder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Holder::File(_) => "File",
            Holder::Unpacked(_) => "Unpacked",
        };
        write!(f, "{name}({} bytes)", self.bytes().len())
    }
}

impl<'a> Entry<'a> {
    fn from_id(
        bundle: usize,
        id: &str,
        range: Range<usize>,
        holder: &Holder<'a>,
    ) -> Result<Entry<'a>, LoadError> {
        let (kind, rest) = id.split_once('-').unwrap_or((id, ""));
        // The triple has three or four parts and names of processors may have hyphens: look for "gfx".
        let (triple, target) = match rest.find("-gfx") {
            Some(at) => (&rest[..at], Some(rest[at + 1..].parse()?)),
            None => (rest, None),
        };
        Ok(Entry {
            bundle,
            id: id.to_owned(),
            kind: kind.to_owned(),
            triple: triple.trim_end_matches('-').to_owned(),
            target,
            range,
            holder: holder.clone(),
        })
    }

    /// The code object.
    pub fn code(&self) -> &[u8] {
        &self.holder.bytes()[self.range.clone()]
    }

    /// Whether its bundle is compressed.
    pub fn is_compressed(&self) -> bool {
        matches!(self.holder, Holder::Unpacked(_))
    }

    fn into_code(self) -> Cow<'a, [u8]> {
        match self.holder {
            Holder::File(bytes) => Cow::Borrowed(&bytes[self.range]),
            Holder::Unpacked(bytes) => Cow::Owned(bytes[self.range].to_vec()),
        }
    }

    /// Whether it is code for an AMD GPU.
    pub fn is_amdgcn(&self) -> bool {
        self.triple.starts_with("amdgcn") && self.target.is_some() && !self.range.is_empty()
    }
}

/// How much of a compressed bundle is needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// The code objects.
    Code,
    /// The table of contents.
    Table,
}

/// All entries of a file in their order.
pub fn entries(bytes: &[u8]) -> Result<Vec<Entry<'_>>, LoadError> {
    read(bytes, Depth::Code)
}

/// The targets of all code for AMD GPUs in a file. Compressed bundles are decompressed as far as their
/// tables of contents only.
pub fn targets(bytes: &[u8]) -> Result<Vec<TargetId>, LoadError> {
    let entries = read(bytes, Depth::Table)?.into_iter();
    let gpu = entries.filter(Entry::is_amdgcn);
    Ok(gpu.filter_map(|entry| entry.target).collect())
}

fn read(bytes: &[u8], depth: Depth) -> Result<Vec<Entry<'_>>, LoadError> {
    if bytes.starts_with(ELF) {
        let header = elf::header(bytes)?;
        let machine = header.e_machine(LE).0;
        if machine == elf::EM_AMDGPU {
            let (_, target) = elf::identify(header)?;
            return Ok(vec![Entry {
                bundle: 0,
                id: format!("amdgcn-amd-amdhsa--{target}"),
                kind: String::new(),
                triple: "amdgcn-amd-amdhsa".to_owned(),
                target: Some(target.id()),
                range: 0..bytes.len(),
                holder: Holder::File(bytes),
            }]);
        }
        return bundles(bytes, fatbin(bytes, machine)?, depth);
    }
    if bytes.starts_with(HIP_WRAPPER) {
        let rest = bytes.get(HIP_WRAPPER_SIZE..).unwrap_or_default();
        let find = |magic: &[u8]| rest.windows(magic.len()).position(|window| window == magic);
        return match find(BUNDLE).or_else(|| find(compressed::MAGIC)) {
            Some(at) => bundles(bytes, HIP_WRAPPER_SIZE + at..bytes.len(), depth),
            None => Err(LoadError::Bundle {
                offset: 0,
                defect:
                    "a HIP wrapper that only points to its fat binary; give the file that has it"
                        .to_owned(),
            }),
        };
    }
    bundles(bytes, 0..bytes.len(), depth)
}

/// The section of a host program that has the bundles.
fn fatbin(bytes: &[u8], machine: u16) -> Result<Range<usize>, LoadError> {
    let sections = elf::sections(bytes)?;
    let section = sections
        .section_by_name(LE, FATBIN_SECTION)
        .map(|(_, section)| section)
        .ok_or(LoadError::NoDeviceCode { machine })?;
    let (offset, size) = section.file_range(LE).unwrap_or((0, 0));
    part(bytes.len(), 0, offset, size).ok_or_else(|| LoadError::Truncated {
        what: "section .hip_fatbin".to_owned(),
        offset,
        needed: size,
        end: bytes.len() as u64,
    })
}

/// `size` bytes at `offset` after `start`, when they end before `end`.
fn part(end: usize, start: usize, offset: u64, size: u64) -> Option<Range<usize>> {
    let from = start.checked_add(usize::try_from(offset).ok()?)?;
    let to = from.checked_add(usize::try_from(size).ok()?)?;
    (to <= end).then_some(from..to)
}

/// The entries of the bundles in `range`, which zeros may separate.
fn bundles(bytes: &[u8], range: Range<usize>, depth: Depth) -> Result<Vec<Entry<'_>>, LoadError> {
    let bytes = &bytes[..range.end];
    let mut budget = Budget::default();
    let mut entries = Vec::new();
    let (mut position, mut number) = (range.start, 0);
    loop {
        let rest = &bytes[position..];
        let offset = position as u64;
        if rest.starts_with(BUNDLE) {
            let holder = Holder::File(bytes);
            position = bundle(&holder, bytes.len(), position, number, &mut entries)?;
            number += 1;
        } else if rest.starts_with(compressed::MAGIC) {
            position = unpack(bytes, position, number, depth, &mut budget, &mut entries)?;
            number += 1;
        } else if rest.starts_with(OFFLOAD_BINARY) {
            return Err(LoadError::OffloadBinary { offset });
        } else if number == 0 {
            return Err(LoadError::UnknownFormat {
                start: first_bytes(rest),
            });
        } else {
            let defect = format!("followed by {}, which is no bundle", first_bytes(rest));
            return Err(LoadError::Bundle { offset, defect });
        }
        match bytes[position..].iter().position(|&byte| byte != 0) {
            Some(padding) => position += padding,
            None => return Ok(entries),
        }
    }
}

/// Reads the compressed bundle at `start` and returns where it ends.
fn unpack(
    bytes: &[u8],
    start: usize,
    number: usize,
    depth: Depth,
    budget: &mut Budget,
    entries: &mut Vec<Entry<'_>>,
) -> Result<usize, LoadError> {
    let header = compressed::Header::read(bytes, start)?;
    let (unpacked, end) = match depth {
        Depth::Code => header.unpack(bytes, budget)?,
        Depth::Table => header.unpack_start(bytes)?,
    };
    if !unpacked.starts_with(BUNDLE) {
        return Err(LoadError::Bundle {
            offset: start as u64,
            defect: format!("decompressed, it begins with {}", first_bytes(&unpacked)),
        });
    }
    let holder = Holder::Unpacked(Arc::new(unpacked));
    bundle(&holder, header.unpacked_size, 0, number, entries)?;
    Ok(end)
}

/// Reads the bundle at `start` and returns where it ends. Of a holder with fewer than `end` bytes only
/// the table of contents is there.
fn bundle<'a>(
    holder: &Holder<'a>,
    end: usize,
    start: usize,
    number: usize,
    entries: &mut Vec<Entry<'a>>,
) -> Result<usize, LoadError> {
    let bytes = holder.bytes();
    let mut position = start + BUNDLE.len();
    let mut take = |size: u64, what: &str| {
        let found = part(bytes.len(), position, 0, size).ok_or_else(|| LoadError::Truncated {
            what: format!("{what} of the offload bundle"),
            offset: position as u64,
            needed: size,
            end: bytes.len() as u64,
        })?;
        position = found.end;
        Ok::<&[u8], LoadError>(&bytes[found])
    };
    let word = |data: &[u8]| {
        data.iter()
            .rev()
            .fold(0_u64, |number, &byte| number << 8 | u64::from(byte))
    };
    let count = word(take(8, "the number of entries")?);
    let mut last = 0;
    for index in 0..count {
        let what = format!("entry {index}");
        let head = take(24, &what)?;
        let (offset, size) = (word(&head[..8]), word(&head[8..16]));
        let id = take(word(&head[16..]), &format!("the id of {what}"))?;
        let id = std::str::from_utf8(id).map_err(|_| LoadError::Bundle {
            offset: start as u64,
            defect: format!("the id of entry {index} is not text"),
        })?;
        let range = part(end, start, offset, size).ok_or_else(|| LoadError::Truncated {
            what: format!("code object `{id}` of the offload bundle"),
            offset: (start as u64).saturating_add(offset),
            needed: size,
            end: end as u64,
        })?;
        if !range.is_empty() {
            last = last.max(range.end);
        }
        entries.push(Entry::from_id(number, id, range, holder)?);
    }
    Ok(position.max(last))
}

fn first_bytes(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "nothing".to_owned();
    }
    let shown: Vec<String> = bytes
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    shown.join(" ")
}

/// The entries that match `wanted`: the best one of each bundle. Without a target, each bundle must
/// have exactly one for a GPU.
pub fn candidates<'a, 'b>(
    entries: &'a [Entry<'b>],
    wanted: Option<&TargetId>,
) -> Result<Vec<&'a Entry<'b>>, LoadError> {
    let name = || wanted.map_or_else(|| "amdgcn".to_owned(), TargetId::to_string);
    let ids = |entries: &[&Entry]| list(entries.iter().map(|entry| entry.id.as_str()));
    let mut chosen: Vec<&Entry> = Vec::new();
    let bundles = entries.chunk_by(|a, b| a.bundle == b.bundle);
    for bundle in bundles {
        let rank = |entry: &Entry| match (&entry.target, wanted) {
            _ if !entry.is_amdgcn() => 0,
            (Some(target), Some(wanted)) => target.suits(wanted),
            _ => 1,
        };
        let best = bundle.iter().map(rank).max().unwrap_or(0);
        let best: Vec<&Entry> = match best {
            0 => continue,
            _ => bundle.iter().filter(|entry| rank(entry) == best).collect(),
        };
        match best[..] {
            [entry] => chosen.push(entry),
            _ => {
                return Err(LoadError::Ambiguous {
                    wanted: name(),
                    available: ids(&best),
                });
            }
        }
    }
    if chosen.is_empty() {
        let all: Vec<&Entry> = entries.iter().collect();
        return Err(LoadError::NoMatch {
            wanted: name(),
            available: ids(&all),
        });
    }
    Ok(chosen)
}

/// The one code object in a file that matches `wanted`, or the only one.
pub fn select<'a>(bytes: &'a [u8], wanted: Option<&TargetId>) -> Result<Cow<'a, [u8]>, LoadError> {
    let entries = entries(bytes)?;
    let chosen = candidates(&entries, wanted)?;
    match chosen[..] {
        [entry] => Ok(entry.clone().into_code()),
        _ => Err(LoadError::Ambiguous {
            wanted: wanted.map_or_else(|| "amdgcn".to_owned(), TargetId::to_string),
            available: format!("one in each of {} bundles; name the kernel", chosen.len()),
        }),
    }
}

#[cfg(test)]
mod tests;
