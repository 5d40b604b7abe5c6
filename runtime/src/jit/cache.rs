//! Translated code by content: of all engines of the process in memory, and on disk if a directory
//! is given. The key is a hash of all inputs of code generation, so a cached object equals a newly
//! compiled one.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};

use lower::backend::object::{FINGERPRINT, Object, Patch, Symbol};
use lower::ir::VECTOR_REGISTERS;
use sha2::{Digest, Sha256};

use crate::LoadedCode;

mod guard;
mod limit;

use limit::Limit;

/// A hash of all inputs of a region's code generation.
pub(super) type Key = [u8; 32];

/// Hash of a loaded code object's code, wherever it lies.
pub(super) fn content(code: &LoadedCode) -> Key {
    let mut hash = Sha256::new();
    for (start, bytes) in code.segments() {
        hash.update(start.wrapping_sub(code.base()).to_le_bytes());
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    }
    hash.finalize().into()
}

/// The key of a region: its code, and the other inputs as text.
pub(super) fn key(content: &Key, rest: &str) -> Key {
    let mut hash = Sha256::new();
    hash.update(content);
    hash.update(FINGERPRINT);
    hash.update(rest);
    hash.finalize().into()
}

/// Code of all engines of the process. Beyond [`MEMORY_BYTES`], the oldest is dropped.
#[derive(Default)]
struct InMemory {
    objects: HashMap<Key, Arc<Object>>,
    /// From the oldest on.
    order: VecDeque<Key>,
    bytes: usize,
}

/// Size of host code kept in memory in addition to the code of running engines.
const MEMORY_BYTES: usize = 32 << 20;

static MEMORY: LazyLock<Mutex<InMemory>> = LazyLock::new(Mutex::default);

/// Translated earlier in this process.
pub(super) fn recall(key: &Key) -> Option<Arc<Object>> {
    let memory = MEMORY.lock().expect("no holder of the lock panics");
    memory.objects.get(key).cloned()
}

/// Stores a translation.
pub(super) fn remember(key: Key, object: &Arc<Object>) {
    let mut memory = MEMORY.lock().expect("no holder of the lock panics");
    if memory.objects.insert(key, Arc::clone(object)).is_some() {
        return;
    }
    memory.order.push_back(key);
    memory.bytes += object.code.len();
    while memory.bytes > MEMORY_BYTES
        && let Some(oldest) = memory.order.pop_front()
    {
        if let Some(object) = memory.objects.remove(&oldest) {
            memory.bytes -= object.code.len();
        }
    }
}

/// Drops the code that the process keeps in memory for other engines, so that the next engine translates, or reads files,
/// as in a new process. For tests.
pub fn forget() {
    *MEMORY.lock().expect("no holder of the lock panics") = InMemory::default();
}

/// A folder with translated code.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    limit: Option<Limit>,
}

/// First bytes of a file, which name its format.
const MAGIC: &[u8; 8] = b"wavelft3";

/// Bytes before an object's: the magic, the translator's fingerprint, the key.
const HEADER: usize = 8 + 16 + 32;

/// Largest file that is read.
const MAX_FILE: u64 = 256 << 20;

impl Folder {
    /// Creates the directory if missing, for this user only, and tests that files can be written into
    /// it. A directory that others may write is refused. Its files have about `limit` bytes at most.
    pub(super) fn open(path: &Path, limit: Option<u64>) -> io::Result<Folder> {
        guard::create_folder(path)?;
        guard::check_folder(path)?;
        let folder = Folder {
            path: path.into(),
            limit: limit.map(Limit::new),
        };
        let probe = folder.temporary();
        guard::create(&probe)?;
        fs::remove_file(&probe)?;
        Ok(folder)
    }

    /// A name that no other writer uses.
    fn temporary(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let (process, n) = (std::process::id(), NEXT.fetch_add(1, Relaxed));
        self.path.join(format!(".{process}.{n}.tmp"))
    }

    fn file(&self, key: &Key) -> PathBuf {
        let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
        self.path.join(name + ".code")
    }

    /// The object under `key`. Files that are damaged, or written by another version of the
    /// translator, are ignored, and so are links, pipes and files that another user may have written.
    pub(super) fn read(&self, key: &Key) -> Option<Object> {
        let file = guard::open(&self.file(key)).ok()?;
        let mut bytes = Vec::new();
        (&file).take(MAX_FILE).read_to_end(&mut bytes).ok()?;
        let (body, hash) = bytes.split_last_chunk::<32>()?;
        if Sha256::digest(body)[..] != hash[..] {
            return None;
        }
        let (header, object) = body.split_at_checked(HEADER)?;
        (header == self::header(key)).then_some(())?;
        let object = decode(object)?;
        limit::renew(&file);
        Some(object)
    }

    /// Writes an object, so that a reader sees all of it or nothing.
    pub(super) fn write(&self, key: &Key, object: &Object) -> io::Result<()> {
        let mut bytes = header(key);
        encode(object, &mut bytes);
        let hash = Sha256::digest(&bytes);
        bytes.extend_from_slice(&hash);
        let temporary = self.temporary();
        let written = guard::create(&temporary)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&temporary, self.file(key)));
        if written.is_err() {
            // The file may not exist.
            let _ = fs::remove_file(&temporary);
        } else if let Some(limit) = &self.limit {
            limit.wrote(&self.path, bytes.len() as u64);
        }
        written
    }
}

/// The header of a file under `key`.
fn header(key: &Key) -> Vec<u8> {
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(FINGERPRINT.as_bytes());
    header.extend_from_slice(key);
    header
}

/// Appends an object's bytes. Lengths precede lists; all numbers are little-endian.
fn encode(object: &Object, out: &mut Vec<u8>) {
    let number = |out: &mut Vec<u8>, n: u64| out.extend_from_slice(&n.to_le_bytes());
    let bytes = |out: &mut Vec<u8>, bytes: &[u8]| {
        number(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    };
    bytes(out, &object.code);
    number(out, object.patches.len() as u64);
    for patch in &object.patches {
        let symbol = match patch.symbol {
            Symbol::Guest => 0,
            Symbol::Sites => 1,
            Symbol::Function(n) => 2 + u64::from(n),
        };
        number(out, u64::from(patch.offset));
        number(out, symbol);
        number(out, patch.addend as u64);
    }
    number(out, u64::from(object.frame_slots));
    number(out, u64::from(object.guest_insts));
    number(out, u64::from(object.vgprs));
    number(out, u64::from(object.agprs));
    for &word in object.reads.as_flattened() {
        number(out, word);
    }
    number(out, u64::from(object.writes_from));
    number(out, u64::from(object.switches_waves));
    number(out, u64::from(object.straight));
    number(out, object.sites.len() as u64);
    for &site in &object.sites {
        number(out, site);
    }
    number(out, object.fallbacks.len() as u64);
    for name in &object.fallbacks {
        bytes(out, name.as_bytes());
    }
    number(out, u64::from(object.wide));
    number(out, object.refused.iter().len() as u64);
    if let Some(what) = &object.refused {
        bytes(out, what.as_bytes());
    }
}

/// Reads what [`encode`] wrote.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<u64> {
        let (n, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*n))
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    fn truth(&mut self) -> Option<bool> {
        match self.number()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    /// A number of things, each of some bytes.
    fn count(&mut self) -> Option<usize> {
        let n = usize::try_from(self.number()?).ok()?;
        (n <= self.0.len()).then_some(n)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let n = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(bytes)
    }
}

fn decode(bytes: &[u8]) -> Option<Object> {
    let mut reader = Reader(bytes);
    let code = reader.bytes()?.into();
    let mut patches = Vec::new();
    for _ in 0..reader.count()? {
        let offset = reader.small()?;
        let symbol = match reader.number()? {
            0 => Symbol::Guest,
            1 => Symbol::Sites,
            n => Symbol::Function(u8::try_from(n - 2).ok()?),
        };
        let addend = reader.number()? as i64;
        patches.push(Patch {
            offset,
            symbol,
            addend,
        });
    }
    let frame_slots = reader.small()?;
    let guest_insts = reader.small()?;
    let vgprs = reader.small()?;
    let agprs = reader.small()?;
    let mut reads = [[0; VECTOR_REGISTERS / 64]; 2];
    for word in reads.as_flattened_mut() {
        *word = reader.number()?;
    }
    let writes_from = reader.small()?;
    let switches_waves = reader.truth()?;
    let straight = reader.truth()?;
    let mut sites = Vec::new();
    for _ in 0..reader.count()? {
        sites.push(reader.number()?);
    }
    let mut fallbacks = Vec::new();
    for _ in 0..reader.count()? {
        fallbacks.push(std::str::from_utf8(reader.bytes()?).ok()?.to_owned());
    }
    let wide = reader.truth()?;
    let refused = match reader.number()? {
        0 => None,
        1 => Some(std::str::from_utf8(reader.bytes()?).ok()?.to_owned()),
        _ => return None,
    };
    let object = Object {
        code,
        patches,
        frame_slots,
        guest_insts,
        vgprs,
        agprs,
        reads,
        writes_from,
        switches_waves,
        straight,
        sites,
        fallbacks,
        wide,
        refused,
        shape: None,
    };
    (reader.0.is_empty() && object.is_sound()).then_some(object)
}

#[cfg(test)]
mod tests;
