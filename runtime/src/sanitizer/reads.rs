//! Loads from LDS that were not compared with other accesses. They matter only if the workgroup also stores to LDS before the next
//! barrier, which in most kernels that load much it does not.

use frontend::LANES;

use super::addresses::Addresses;
use super::record::{AccessKind, Accessor};
use super::runs::WaveAccess;

/// Most loads that are kept.
const MOST: usize = 1 << 12;

/// The loads between two barriers.
#[derive(Default)]
pub(super) struct Reads {
    /// It is too late: there was a store, or there are too many.
    closed: bool,
    all: Vec<Read>,
}

/// The addresses of a load.
#[expect(
    clippy::large_enum_variant,
    reason = "most have all offsets, and an allocation costs more"
)]
enum Kept {
    Same(u64),
    Adjacent(u64),
    Offsets([u32; LANES]),
}

/// A load.
pub(super) struct Read {
    pub(super) by: Accessor,
    pc: u64,
    wave: u32,
    exec: u64,
    bytes: u64,
    kept: Kept,
}

impl Reads {
    /// Keeps a load; false if it is to be compared now.
    pub(super) fn keep(&mut self, access: &WaveAccess<'_>, by: Accessor) -> bool {
        let Some(exec) = access.exec.filter(|_| !self.closed) else {
            return false;
        };
        if self.all.len() == MOST {
            return false;
        }
        let kept = match access.addresses {
            Addresses::Same(offset) => Kept::Same(offset),
            Addresses::Adjacent(first) => Kept::Adjacent(first),
            Addresses::Offsets(offsets) => Kept::Offsets(*offsets),
            // All are in LDS.
            Addresses::Lanes(lanes) => Kept::Offsets(lanes.map(|offset| offset as u32)),
        };
        self.all.push(Read {
            by,
            pc: access.pc,
            wave: access.wave,
            exec,
            bytes: access.bytes,
            kept,
        });
        true
    }

    /// Another access than a load is made: if it is the first one, these loads are to be compared before.
    pub(super) fn close(&mut self) -> Option<Vec<Read>> {
        let is_first = !std::mem::replace(&mut self.closed, true);
        is_first.then(|| std::mem::take(&mut self.all))
    }

    /// The next barrier.
    pub(super) fn open(&mut self) {
        self.closed = false;
        self.all.clear();
    }
}

impl Read {
    pub(super) fn access(&self) -> WaveAccess<'_> {
        WaveAccess {
            kind: AccessKind::Read,
            pc: self.pc,
            wave: self.wave,
            exec: Some(self.exec),
            returns: true,
            bytes: self.bytes,
            addresses: match &self.kept {
                Kept::Same(offset) => Addresses::Same(*offset),
                Kept::Adjacent(first) => Addresses::Adjacent(*first),
                Kept::Offsets(offsets) => Addresses::Offsets(offsets),
            },
            stored: None,
        }
    }
}
