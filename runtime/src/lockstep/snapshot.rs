//! Copies of guest memory.

use crate::gws;
use crate::memory::{Memory, MemoryError};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 16;

/// Memory that has other contents than a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// Address of the first byte.
    pub address: u64,
    /// Contents in the snapshot.
    pub old: Vec<u8>,
    /// Contents now.
    pub new: Vec<u8>,
}

/// The contents of all allocations and the state of GWS at one time.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Address and contents.
    blocks: Vec<(u64, Vec<u8>)>,
    gws: gws::State,
}

impl Snapshot {
    /// Copies what is allocated now.
    pub fn take(memory: &Memory) -> Result<Snapshot, MemoryError> {
        let blocks = memory.allocations().into_iter().map(|(address, len)| {
            let mut bytes = vec![0; len as usize];
            memory.read_bytes(address, &mut bytes)?;
            Ok((address, bytes))
        });
        Ok(Snapshot {
            blocks: blocks.collect::<Result<_, _>>()?,
            gws: memory.gws().state(),
        })
    }

    /// Restores memory and GWS.
    pub fn restore(&self, memory: &Memory) -> Result<(), MemoryError> {
        for (address, bytes) in &self.blocks {
            memory.write_bytes(*address, bytes)?;
        }
        memory.gws().set_state(&self.gws);
        Ok(())
    }

    /// The differences in memory, in ascending order of addresses.
    pub fn changes(&self, memory: &Memory) -> Result<Vec<Change>, MemoryError> {
        let mut out: Vec<Change> = Vec::new();
        let mut now = vec![0; CHUNK];
        for (address, bytes) in &self.blocks {
            let mut at = *address;
            for old in bytes.chunks(CHUNK) {
                let new = &mut now[..old.len()];
                memory.read_bytes(at, new)?;
                if old != new {
                    add_changes(&mut out, at, old, new);
                }
                at += old.len() as u64;
            }
        }
        Ok(out)
    }

    /// As [`Snapshot::changes`], and restores memory and GWS.
    pub fn undo(&self, memory: &Memory) -> Result<Vec<Change>, MemoryError> {
        let changes = self.changes(memory)?;
        for change in &changes {
            memory.write_bytes(change.address, &change.old)?;
        }
        memory.gws().set_state(&self.gws);
        Ok(changes)
    }

    /// Makes the snapshot one of memory as it is now, after these changes.
    pub fn apply(&mut self, memory: &Memory, changes: &[Change]) {
        self.gws = memory.gws().state();
        for change in changes {
            let after = self
                .blocks
                .partition_point(|&(start, _)| start <= change.address);
            let Some((start, bytes)) = after.checked_sub(1).map(|i| &mut self.blocks[i]) else {
                continue;
            };
            let at = (change.address - *start) as usize;
            if let Some(slot) = bytes.get_mut(at..at + change.new.len()) {
                slot.copy_from_slice(&change.new);
            }
        }
    }
}

/// Appends the runs of bytes that differ.
fn add_changes(out: &mut Vec<Change>, address: u64, old: &[u8], new: &[u8]) {
    let mut at = 0;
    while at < old.len() {
        if old[at] == new[at] {
            at += 1;
            continue;
        }
        let rest = old[at..].iter().zip(&new[at..]);
        let len = rest.take_while(|(old, new)| old != new).count();
        out.push(Change {
            address: address + at as u64,
            old: old[at..at + len].to_vec(),
            new: new[at..at + len].to_vec(),
        });
        at += len;
    }
}
