//! The bytes of buffers that a shard changed, as a file: a line of JSON (the header), then for each changed page its
//! number, a mask with a bit for each byte, both little-endian, and the bytes that changed.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

/// Bytes of a page of a buffer.
const PAGE: usize = 4096;

/// Longest header in bytes.
const MAX_HEADER: u64 = 1 << 20;

/// What changes are of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    /// The digest of the launch.
    pub(super) launch: String,
    /// The digest of the inputs.
    pub(super) inputs: String,
    pub(super) kernel: String,
    /// Number and of how many.
    pub(super) shard: [u64; 2],
}

/// What begins a file.
#[derive(Serialize, Deserialize)]
struct Header {
    #[serde(flatten)]
    origin: Origin,
    /// For each buffer, the number of changed pages.
    pages: Vec<u64>,
}

/// A page of which some bytes changed.
struct Page {
    changed: [u64; PAGE / 64],
    bytes: [u8; PAGE],
}

/// The changed pages of buffers, by number.
pub(super) struct Changes {
    /// Of the first shard, after [`Changes::join`].
    pub(super) origin: Origin,
    buffers: Vec<BTreeMap<u64, Page>>,
}

/// A byte that two shards changed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Overlap {
    pub(super) buffer: usize,
    pub(super) offset: u64,
}

impl Page {
    fn new() -> Page {
        Page {
            changed: [0; PAGE / 64],
            bytes: [0; PAGE],
        }
    }

    fn changes(&self, byte: usize) -> bool {
        self.changed[byte / 64] >> (byte % 64) & 1 != 0
    }

    /// The bytes that changed, in ascending order.
    fn places(&self) -> impl Iterator<Item = usize> + use<> {
        let changed = self.changed;
        (0..PAGE).filter(move |byte| changed[byte / 64] >> (byte % 64) & 1 != 0)
    }
}

impl Changes {
    /// None yet.
    pub(super) fn new(origin: Origin) -> Changes {
        Changes {
            origin,
            buffers: Vec::new(),
        }
    }

    /// Adds the next buffer.
    pub(super) fn add(&mut self, before: &[u8], after: &[u8]) {
        let mut pages = BTreeMap::new();
        let both = before.chunks(PAGE).zip(after.chunks(PAGE)).zip(0..);
        for ((before, after), number) in both.filter(|((before, after), _)| before != after) {
            let mut page = Page::new();
            for (n, (old, new)) in before.iter().zip(after).enumerate() {
                page.changed[n / 64] |= u64::from(old != new) << (n % 64);
            }
            page.bytes[..after.len()].copy_from_slice(after);
            pages.insert(number, page);
        }
        self.buffers.push(pages);
    }

    /// The number of changed bytes.
    pub(super) fn bytes(&self) -> u64 {
        let pages = self.buffers.iter().flat_map(BTreeMap::values);
        let words = pages.flat_map(|page| page.changed);
        words.map(|word| u64::from(word.count_ones())).sum()
    }

    /// Adds the changes of another shard, which [fit](Changes::fit) the same buffers; fails at a byte that both changed.
    pub(super) fn join(&mut self, other: Changes) -> Result<(), Overlap> {
        let both = self.buffers.iter_mut().zip(other.buffers).enumerate();
        for (buffer, (pages, others)) in both {
            for (number, other) in others {
                let Some(page) = pages.get_mut(&number) else {
                    pages.insert(number, other);
                    continue;
                };
                for byte in other.places() {
                    if page.changes(byte) {
                        let offset = number * PAGE as u64 + byte as u64;
                        return Err(Overlap { buffer, offset });
                    }
                    page.bytes[byte] = other.bytes[byte];
                }
                let words = page.changed.iter_mut().zip(other.changed);
                words.for_each(|(word, other)| *word |= other);
            }
        }
        Ok(())
    }

    /// Are these changes of buffers with these sizes?
    pub(super) fn fit(&self, sizes: &[u64]) -> bool {
        let inside = |(pages, &size): (&BTreeMap<u64, Page>, &u64)| {
            let last = pages.last_key_value();
            let end = last.and_then(|(number, page)| {
                let last = page.places().last().unwrap_or(0) as u64;
                number.checked_mul(PAGE as u64)?.checked_add(last)
            });
            last.is_none() || end.is_some_and(|end| end < size)
        };
        self.buffers.len() == sizes.len() && self.buffers.iter().zip(sizes).all(inside)
    }

    /// Makes the changes in the contents of a buffer, which they [fit](Changes::fit).
    pub(super) fn apply(&self, buffer: usize, contents: &mut [u8]) {
        for (&number, page) in &self.buffers[buffer] {
            let start = number as usize * PAGE;
            for n in page.places() {
                contents[start + n] = page.bytes[n];
            }
        }
    }

    /// Writes the file.
    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let header = Header {
            origin: self.origin.clone(),
            pages: self
                .buffers
                .iter()
                .map(|pages| pages.len() as u64)
                .collect(),
        };
        serde_json::to_writer(&mut *to, &header)?;
        to.write_all(b"\n")?;
        for (number, page) in self.buffers.iter().flatten() {
            to.write_all(&number.to_le_bytes())?;
            for word in page.changed {
                to.write_all(&word.to_le_bytes())?;
            }
            let bytes: Vec<u8> = page.places().map(|n| page.bytes[n]).collect();
            to.write_all(&bytes)?;
        }
        Ok(())
    }

    /// Reads a file.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Changes> {
        let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, what.to_owned());
        let mut line = Vec::new();
        from.take(MAX_HEADER).read_until(b'\n', &mut line)?;
        let header: Header = serde_json::from_slice(&line)
            .map_err(|error| bad(&format!("it has no header of changes: {error}")))?;
        let mut buffers = Vec::new();
        for &count in &header.pages {
            let mut pages = BTreeMap::new();
            for _ in 0..count {
                let mut number = [0; 8];
                from.read_exact(&mut number)?;
                let mut page = Page::new();
                for word in &mut page.changed {
                    let mut bytes = [0; 8];
                    from.read_exact(&mut bytes)?;
                    *word = u64::from_le_bytes(bytes);
                }
                for n in page.places() {
                    from.read_exact(&mut page.bytes[n..n + 1])?;
                }
                pages.insert(u64::from_le_bytes(number), page);
            }
            buffers.push(pages);
        }
        match from.read(&mut [0])? {
            0 => Ok(Changes {
                origin: header.origin,
                buffers,
            }),
            _ => Err(bad("there is more behind the last page")),
        }
    }
}
