//! The addresses of an access, in the shape that costs least.

use frontend::LANES;

/// The addresses of all lanes.
#[derive(Clone, Copy)]
pub(crate) enum Addresses<'a> {
    /// All are the same.
    Same(u64),
    /// The elements are adjacent, in the order of lanes; this is the first one's.
    Adjacent(u64),
    /// By lane.
    Lanes(&'a [u64; LANES]),
    /// By lane, offsets in LDS.
    Offsets(&'a [u32; LANES]),
}

impl Addresses<'_> {
    /// The address of a lane, whose element has so many bytes.
    pub(crate) fn get(&self, lane: usize, bytes: u64) -> u64 {
        match self {
            Addresses::Same(address) => *address,
            Addresses::Adjacent(first) => first.wrapping_add(lane as u64 * bytes),
            Addresses::Lanes(lanes) => lanes[lane],
            Addresses::Offsets(offsets) => offsets[lane].into(),
        }
    }

    /// Are the elements of the active lanes below `end`?
    pub(super) fn are_below(&self, end: u64, exec: u64, bytes: u64) -> bool {
        let last = match self {
            Addresses::Offsets(offsets) if exec == u64::MAX => {
                u64::from(offsets.iter().fold(0, |most, &offset| most.max(offset)))
            }
            _ => {
                let active = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
                let addresses = active.map(|lane| self.get(lane, bytes));
                addresses.max().unwrap_or_default()
            }
        };
        last.checked_add(bytes).is_some_and(|last| last <= end)
    }
}
