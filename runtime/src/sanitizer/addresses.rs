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

    /// The range of the active lanes' elements, which have so many bytes: the first byte, and the one behind the last. `None` if no lane
    /// is active.
    pub(super) fn hull(&self, exec: u64, bytes: u64) -> Option<(u64, u64)> {
        if exec == 0 {
            return None;
        }
        let [low, high] = match self {
            Addresses::Same(address) => [*address; 2],
            Addresses::Adjacent(_) => {
                let ends = [exec.trailing_zeros(), exec.ilog2()];
                ends.map(|lane| self.get(lane as usize, bytes))
            }
            Addresses::Offsets(offsets) => {
                let lanes = offsets.iter().enumerate();
                let all = exec == u64::MAX;
                let is_active = |lane: usize| all || exec >> lane & 1 != 0;
                let ends = lanes.fold([u32::MAX, 0], |[low, high], (lane, &offset)| {
                    // Without branches, so that it vectorises.
                    let [at_least, at_most] = match is_active(lane) {
                        true => [offset; 2],
                        false => [u32::MAX, 0],
                    };
                    [low.min(at_least), high.max(at_most)]
                });
                ends.map(u64::from)
            }
            Addresses::Lanes(lanes) => {
                let active = (0..LANES).filter(|lane| exec >> lane & 1 != 0);
                active.fold([u64::MAX, 0], |[low, high], lane| {
                    [low.min(lanes[lane]), high.max(lanes[lane])]
                })
            }
        };
        Some((low, high.saturating_add(bytes)))
    }

    /// Are the elements of the active lanes below `end`?
    pub(super) fn are_below(&self, end: u64, exec: u64, bytes: u64) -> bool {
        self.hull(exec, bytes).is_none_or(|(_, high)| high <= end)
    }
}
