//! Observation of the memory accesses of instructions.

use std::cell::RefCell;

use super::data::Raw;
use crate::fault::Access;
use crate::memory::Memory;

/// What observes accesses. The interpreter is compiled once for `()`, which observes nothing and costs
/// nothing, and once for [`Accesses`].
pub(crate) trait Observer: Copy {
    /// A lane, or the scalar unit, has made an access.
    fn note(self, access: impl FnOnce() -> Accessed);

    /// These bytes of guest memory are about to be written by a store. An atomic is not announced: its
    /// [`Accessed`] has the old value.
    #[inline(always)]
    fn before_store(self, memory: &Memory, address: u64, bytes: usize) {
        let _ = (memory, address, bytes);
    }

    /// These bytes of LDS are about to be replaced by a store.
    #[inline(always)]
    fn before_lds_store(self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// A lane's access to LDS is outside it, and has no effect.
    #[inline(always)]
    fn outside_lds(self, access: Access, lane: usize, address: u32, bytes: usize) {
        let _ = (access, lane, address, bytes);
    }
}

impl Observer for () {
    #[inline(always)]
    fn note(self, _access: impl FnOnce() -> Accessed) {}
}

/// The accesses of an instruction, in the order in which they were made.
#[derive(Default)]
pub(crate) struct Accesses(RefCell<Vec<Accessed>>);

impl Accesses {
    /// The accesses since the last call.
    pub(crate) fn take(&self) -> Vec<Accessed> {
        self.0.take()
    }
}

impl Observer for &Accesses {
    fn note(self, access: impl FnOnce() -> Accessed) {
        self.0.borrow_mut().push(access());
    }
}

/// An access that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Accessed {
    pub(crate) access: Access,
    /// Is it to LDS?
    pub(crate) lds: bool,
    /// `None` for the scalar unit.
    pub(crate) lane: Option<usize>,
    /// Guest address, or offset in LDS.
    pub(crate) address: u64,
    /// Bytes that were read or written; of an atomic those before it.
    pub(crate) value: Vec<u8>,
    /// Bytes that an atomic has left.
    pub(crate) new: Option<Vec<u8>>,
}

impl Accessed {
    /// A read or a write of guest memory by a lane.
    pub(super) fn global(
        access: Access,
        lane: usize,
        address: u64,
        raw: &Raw,
        bytes: usize,
    ) -> Accessed {
        Accessed {
            access,
            lds: false,
            lane: Some(lane),
            address,
            value: raw[..bytes.min(raw.len())].to_vec(),
            new: None,
        }
    }

    /// A read or a write of LDS by a lane.
    pub(crate) fn lds(access: Access, lane: usize, slot: usize, value: &[u8]) -> Accessed {
        Accessed {
            access,
            lds: true,
            lane: Some(lane),
            address: slot as u64,
            value: value.to_vec(),
            new: None,
        }
    }

    /// A read or a write of dwords by the scalar unit.
    pub(super) fn scalar(access: Access, address: u64, words: &[u32]) -> Accessed {
        Accessed {
            access,
            lds: false,
            lane: None,
            address,
            value: words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            new: None,
        }
    }

    /// An atomic on guest memory, or on LDS.
    pub(super) fn atomic(
        lds: bool,
        lane: Option<usize>,
        address: u64,
        values: (u64, u64),
        wide: bool,
    ) -> Accessed {
        let bytes = |value: u64| value.to_le_bytes()[..if wide { 8 } else { 4 }].to_vec();
        Accessed {
            access: Access::Atomic,
            lds,
            lane,
            address,
            value: bytes(values.0),
            new: Some(bytes(values.1)),
        }
    }
}
