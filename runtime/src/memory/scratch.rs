//! Checked mode: which bytes of the running waves' scratch were written. Bookkeeping only.

use std::collections::BTreeMap;
use std::sync::Mutex;

use super::MemoryError;
use crate::fault::Access;

/// The scratch of the waves that are running, by first byte.
#[derive(Debug, Default)]
pub(super) struct ScratchRegions(Mutex<BTreeMap<u64, Region>>);

#[derive(Debug)]
struct Region {
    len: u64,
    /// One bit for each byte.
    written: Vec<u64>,
}

impl ScratchRegions {
    /// A wave begins: its scratch is unwritten.
    pub(super) fn begin(&self, start: u64, len: u64) {
        let mut regions = self.0.lock().expect("no holder of the lock panics");
        let region = regions.entry(start).or_insert(Region {
            len,
            written: Vec::new(),
        });
        region.len = len;
        region.written.clear();
        region.written.resize(len.div_ceil(64) as usize, 0);
    }

    /// One bit for each byte of the scratch that begins here: was it written?
    pub(super) fn written(&self, start: u64) -> Vec<u64> {
        let regions = self.0.lock().expect("no holder of the lock panics");
        regions
            .get(&start)
            .map_or(Vec::new(), |region| region.written.clone())
    }

    /// Restores the result of [`ScratchRegions::written`].
    pub(super) fn set_written(&self, start: u64, written: &[u64]) {
        let mut regions = self.0.lock().expect("no holder of the lock panics");
        if let Some(region) = regions.get_mut(&start) {
            region.written.clear();
            region.written.extend_from_slice(written);
        }
    }

    /// The block is scratch no more.
    pub(super) fn end(&self, start: u64, len: u64) {
        let mut regions = self.0.lock().expect("no holder of the lock panics");
        regions.retain(|&region, _| region < start || region - start >= len);
    }

    /// Records a write; refuses a read of unwritten bytes. Returns whether the access is of scratch.
    pub(super) fn check(
        &self,
        access: Access,
        address: u64,
        bytes: u64,
    ) -> Result<bool, MemoryError> {
        let mut regions = self.0.lock().expect("no holder of the lock panics");
        let Some((&start, region)) = regions.range_mut(..=address).next_back() else {
            return Ok(false);
        };
        let offset = address - start;
        if offset >= region.len {
            return Ok(false);
        }
        for byte in offset..region.len.min(offset + bytes) {
            let (word, bit) = ((byte / 64) as usize, 1 << (byte % 64));
            match access {
                Access::Write => region.written[word] |= bit,
                Access::Read | Access::Atomic if region.written[word] & bit == 0 => {
                    return Err(MemoryError::Unwritten {
                        // Dwords of the 64 lanes alternate.
                        offset: offset / 256 * 4 + offset % 4,
                        bytes: u32::try_from(bytes).unwrap_or(u32::MAX),
                    });
                }
                Access::Read | Access::Atomic | Access::Execute => {}
            }
        }
        Ok(true)
    }
}
