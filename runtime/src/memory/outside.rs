//! Memory at guest addresses outside of the arena: host memory of its own, registered there.

use std::sync::{Mutex, MutexGuard, PoisonError};

use memmap2::MmapRaw;

use super::arena::anonymous;

/// A piece of such memory.
struct Piece {
    start: u64,
    len: u64,
    /// Freed ones stay mapped, as the arena does: a kernel may still use their addresses.
    live: bool,
    _map: MmapRaw,
}

impl Piece {
    /// Behind its last dword, which is whole.
    fn end(&self) -> u64 {
        self.start + self.len.next_multiple_of(4)
    }
}

/// All such memory.
#[derive(Default)]
pub(super) struct Outside(Mutex<Vec<Piece>>);

impl Outside {
    fn pieces(&self) -> MutexGuard<'_, Vec<Piece>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Maps `len` bytes of zeros for a guest address; its first byte, and its size with the last dword whole.
    /// `None` where such memory is, behind the last address, or if the host refuses.
    pub(super) fn alloc(&self, start: u64, len: u64) -> Option<(*mut u8, usize)> {
        let whole = len.checked_next_multiple_of(4)?;
        let end = start.checked_add(whole)?;
        let mut pieces = self.pieces();
        let mut live = pieces.iter().filter(|piece| piece.live);
        if live.any(|piece| start < piece.end() && piece.start < end) {
            return None;
        }
        let size = usize::try_from(whole.max(1)).ok()?;
        let map = anonymous(size).ok()?;
        let first = map.as_mut_ptr();
        pieces.push(Piece {
            start,
            len,
            live: true,
            _map: map,
        });
        Some((first, size))
    }

    /// Frees what begins at `start`; false if nothing does.
    pub(super) fn free(&self, start: u64) -> bool {
        let mut pieces = self.pieces();
        let mut live = pieces.iter_mut().filter(|piece| piece.live);
        let found = live.find(|piece| piece.start == start);
        found.map(|piece| piece.live = false).is_some()
    }

    /// Start and size of all live pieces.
    pub(super) fn live(&self) -> Vec<(u64, u64)> {
        let pieces = self.pieces();
        let live = pieces.iter().filter(|piece| piece.live);
        live.map(|piece| (piece.start, piece.len)).collect()
    }
}
