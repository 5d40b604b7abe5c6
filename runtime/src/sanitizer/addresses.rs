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

/// Half the lanes of a wave.
const HALF: usize = LANES / 2;

/// By lane of a half, its bit.
const LANE_BITS: [u32; HALF] = {
    let mut bits = [0; HALF];
    let mut lane = 0;
    while lane < HALF {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
};

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
                let (mut low, mut high) = (u32::MAX, 0);
                let halves = offsets.as_chunks::<HALF>().0.iter();
                for (half, bits) in halves.zip([exec as u32, (exec >> HALF) as u32]) {
                    // Without branches and shifts, so that it vectorises.
                    for (&offset, lane) in half.iter().zip(LANE_BITS) {
                        let inactive = if bits & lane == 0 { u32::MAX } else { 0 };
                        low = low.min(offset | inactive);
                        high = high.max(offset & !inactive);
                    }
                }
                [low, high].map(u64::from)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::testing::Random;

    #[test]
    fn a_hull_is_that_of_the_active_lanes() {
        let mut random = Random::new(3);
        for _ in 0..1000 {
            let exec = random.bits() & random.bits() & random.bits();
            let offsets: [u32; LANES] = std::array::from_fn(|_| random.below(1 << 16) as u32);
            let lanes = offsets.map(u64::from);
            let active = || {
                (0..LANES)
                    .filter(|lane| exec >> lane & 1 != 0)
                    .map(|lane| lanes[lane])
            };
            let expected = active().min().zip(active().max().map(|last| last + 8));
            assert_eq!(Addresses::Offsets(&offsets).hull(exec, 8), expected);
            assert_eq!(Addresses::Lanes(&lanes).hull(exec, 8), expected);
        }
        let adjacent = Addresses::Adjacent(100);
        assert_eq!(adjacent.hull(0b11100, 4), Some((108, 120)));
        assert_eq!(adjacent.hull(0, 4), None);
        assert_eq!(Addresses::Same(7).hull(1 << 63, 2), Some((7, 9)));
    }
}
