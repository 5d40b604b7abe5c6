//! The accesses of a wave, and their pieces.

use frontend::inst::Operand;
use frontend::{Inst, LANES};

use super::WORD;
use super::addresses::Addresses;
use super::record::AccessKind;
use crate::fault::Access;

/// An access by lanes of a wave, or by its scalar unit.
#[derive(Clone, Copy)]
pub(crate) struct WaveAccess<'a> {
    /// What it does.
    pub(crate) kind: AccessKind,
    /// Guest address of the instruction.
    pub(crate) pc: u64,
    /// The wave.
    pub(crate) wave: u32,
    /// Active lanes; `None` for the scalar unit.
    pub(crate) exec: Option<u64>,
    /// An atomic whose result the wave gets, by which it may learn of others.
    pub(crate) returns: bool,
    /// Bytes of each lane.
    pub(crate) bytes: u64,
    /// The scalar unit's is the one of lane 0.
    pub(crate) addresses: Addresses<'a>,
    /// Of a store of lanes, where it is known: what they store.
    pub(crate) stored: Option<&'a dyn Stored>,
}

/// What lanes store.
pub(crate) trait Stored {
    /// The bytes of a lane, in the beginning.
    fn value(&self, lane: usize) -> [u8; 16];

    /// Did memory have them before?
    fn is_there(&self, lane: usize) -> bool;
}

impl WaveAccess<'_> {
    /// The address of a lane.
    pub(super) fn address(&self, lane: usize) -> u64 {
        self.addresses.get(lane, self.bytes)
    }

    /// The first byte to which two lanes store different values, and one of them.
    pub(super) fn collision(&self) -> Option<(u64, u32)> {
        let (stored, exec) = (self.stored?, self.exec?);
        if matches!(self.addresses, Addresses::Adjacent(_)) {
            return None;
        }
        let active = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
        let mut lanes: Vec<(u64, usize)> = active.map(|lane| (self.address(lane), lane)).collect();
        lanes.sort_unstable();
        lanes.windows(2).find_map(|pair| {
            let [(address, lane), (next, other)] = [pair[0], pair[1]];
            let bytes = self.bytes as usize;
            let apart = next.wrapping_sub(address) as usize;
            let shared = bytes.checked_sub(apart).filter(|&shared| shared != 0)?;
            let [value, above] = [lane, other].map(|lane| stored.value(lane));
            (value[apart..bytes] != above[..shared]).then_some((next, other as u32))
        })
    }

    /// The range of the active lanes' elements; `None` if there is no such lane.
    pub(super) fn hull(&self) -> Option<(u64, u64)> {
        self.addresses.hull(self.exec.unwrap_or(1), self.bytes)
    }

    /// The words below `end` that its lanes access, with the lane.
    pub(super) fn words(&self, end: u64) -> impl Iterator<Item = (u64, Option<u32>)> {
        self.runs().flat_map(move |run| {
            run.elements(self).flat_map(move |element| {
                let lane = run.lane(element, self);
                let behind = element.saturating_add(self.bytes).min(end);
                let words = (element / WORD * WORD..behind).step_by(WORD as usize);
                words.map(move |word| (word, lane))
            })
        })
    }

    /// Its runs.
    pub(super) fn runs(&self) -> Runs<'_> {
        Runs {
            access: self,
            left: self.exec.unwrap_or(1),
        }
    }
}

/// What an instruction's access is.
pub(crate) fn kind_of(inst: &Inst, access: Access) -> AccessKind {
    match access {
        Access::Read | Access::Execute if inst.mem.glc => AccessKind::CoherentRead,
        Access::Read | Access::Execute => AccessKind::Read,
        Access::Write => AccessKind::Write,
        Access::Atomic => AccessKind::Atomic,
    }
}

/// Does the instruction write a register?
pub(crate) fn returns(inst: &Inst) -> bool {
    inst.dst[0] != Operand::None
}

/// Adjacent elements of adjacent lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    /// The first lane.
    lane: usize,
    pub(super) address: u64,
    pub(super) bytes: u64,
}

impl Run {
    /// The lane that accesses a byte.
    pub(super) fn lane(&self, at: u64, access: &WaveAccess<'_>) -> Option<u32> {
        let further = at.wrapping_sub(self.address) / access.bytes.max(1);
        access.exec.map(|_| self.lane as u32 + further as u32)
    }

    /// The addresses of its elements.
    pub(super) fn elements(&self, access: &WaveAccess<'_>) -> impl Iterator<Item = u64> + use<> {
        let first = self.address;
        let offsets = (0..self.bytes).step_by(access.bytes.max(1) as usize);
        offsets.map(move |offset| first.wrapping_add(offset))
    }
}

/// The runs of an access.
pub(super) struct Runs<'a> {
    access: &'a WaveAccess<'a>,
    /// Lanes that are left.
    left: u64,
}

impl Iterator for Runs<'_> {
    type Item = Run;

    fn next(&mut self) -> Option<Run> {
        if self.left == 0 {
            return None;
        }
        let element = self.access.bytes;
        let lane = self.left.trailing_zeros() as usize;
        let address = self.access.address(lane);
        let active = |end: usize| end < LANES && self.left >> end & 1 != 0;
        let (mut end, mut bytes) = (lane + 1, element);
        match self.access.addresses {
            Addresses::Same(_) => end = LANES,
            Addresses::Adjacent(_) => {
                let lanes = (self.left >> lane).trailing_ones() as usize;
                (end, bytes) = (lane + lanes, lanes as u64 * element);
            }
            Addresses::Lanes(_) | Addresses::Offsets(_) => {
                let at = |lane| self.access.address(lane);
                while active(end) && at(end) == address.wrapping_add(bytes) {
                    bytes += element;
                    end += 1;
                }
                // Lanes at the same address are one access.
                while bytes == element && active(end) && at(end) == address {
                    end += 1;
                }
            }
        }
        self.left = if end == LANES {
            0
        } else {
            self.left >> end << end
        };
        Some(Run {
            lane,
            address,
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_bytes_that_are_not_aligned() {
        let access = WaveAccess {
            kind: AccessKind::Write,
            pc: 0,
            wave: 0,
            exec: Some(0b101),
            returns: false,
            bytes: 2,
            addresses: Addresses::Adjacent(5),
            stored: None,
        };
        let words: Vec<_> = access.words(10).collect();
        // Lane 0 has bytes 5 and 6, lane 2 9 and 10, of which the last one is behind the end.
        assert_eq!(words, [(4, Some(0)), (8, Some(2))]);
    }
}
