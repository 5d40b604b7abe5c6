//! Dwords of 16 lanes at arbitrary positions in a range of 32 dwords, for AVX-512: two vectors are loaded, and a
//! permute of both selects the dwords. A store consists of two masked stores. It does not load the previous contents of
//! the range, which would wait for earlier stores.

use crate::legalize::Code;
use crate::vir::{IntCC, Op as VirOp, Value, types};

const LANES: usize = 16;

/// Bytes of a vector.
const VECTOR: i64 = 4 * LANES as i64;

/// The locations of the dwords of 16 lanes, as byte offsets from an address.
pub(in crate::legalize) struct Window {
    lanes: [i64; LANES],
    /// Byte offsets of the first vector, and of the second if it is needed.
    first: i64,
    second: Option<i64>,
}

impl Window {
    /// The window of these lanes, if their dwords fit. It touches only the dwords at offsets from `low` to `high`.
    pub(in crate::legalize) fn of(lanes: [i64; LANES], (low, high): (i64, i64)) -> Option<Window> {
        let least = lanes.iter().copied().min()?;
        let most = lanes.iter().copied().max()?;
        let first = least.min(high + 4 - VECTOR);
        let end = most + 4;
        let aligned = lanes.iter().all(|lane| (lane - first) % 4 == 0);
        if !aligned || first < low || end - first > 2 * VECTOR {
            return None;
        }
        let second = (end - first > VECTOR).then_some(end - VECTOR);
        Some(Window {
            lanes,
            first,
            second,
        })
    }

    /// For each lane, the index of its dword in both vectors, those of the second from 16 on.
    fn sources(&self) -> [u32; LANES] {
        self.lanes.map(|at| {
            let n = (at - self.first) / 4;
            match self.second {
                Some(second) if n >= LANES as i64 => (LANES as i64 + (at - second) / 4) as u32,
                _ => n as u32,
            }
        })
    }

    /// For each dword of the vector at byte offset `part`, the highest lane whose dword it is.
    fn targets(&self, part: i64) -> [Option<u32>; LANES] {
        std::array::from_fn(|n| {
            let at = part + 4 * n as i64;
            let lane = self.lanes.iter().rposition(|&lane| lane == at);
            lane.map(|lane| lane as u32)
        })
    }

    /// The byte offsets of the vectors.
    fn parts(&self) -> impl Iterator<Item = i64> {
        [Some(self.first), self.second].into_iter().flatten()
    }
}

/// The active ones of 16 lanes.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct On {
    /// A dword with a bit for each of 32 lanes, broadcast to a vector.
    pub(in crate::legalize) word: Value,
    /// The bit number of the first of the 16.
    pub(in crate::legalize) first: u32,
}

impl Code<'_> {
    /// Loads the vector at byte offset `part` of a window.
    fn load_part(&mut self, start: Value, part: i64) -> Value {
        let (start, offset) = self.near(start, part);
        self.load_vector(types::I32X16, start, offset)
    }

    /// Selects dwords of two vectors by their indices, those of the second from 16 on.
    pub(super) fn of_both(&mut self, a: Value, b: Value, indices: [u32; LANES]) -> Value {
        let mut lanes = self.of_lanes(1, LANES);
        let indices = lanes.dwords_by(|n| indices[n]);
        lanes
            .b
            .op(VirOp::PickDwords, &[a, indices, b], types::I32X16)
    }

    /// Loads the dwords of the lanes of a window; its offsets are from `start`.
    pub(in crate::legalize) fn load_window(&mut self, start: Value, window: &Window) -> Value {
        let first = self.load_part(start, window.first);
        let second = match window.second {
            Some(second) => self.load_part(start, second),
            None => first,
        };
        self.of_both(first, second, window.sources())
    }

    /// Stores the dwords of the lanes of a window; the highest lane's if several have the same location. If `on` is
    /// given, only the active lanes store, and no two of the 16 lanes may have the same location.
    pub(in crate::legalize) fn store_window(
        &mut self,
        start: Value,
        window: &Window,
        words: Value,
        on: Option<On>,
    ) {
        for part in window.parts() {
            let targets = window.targets(part);
            let moves = (0..)
                .zip(targets)
                .any(|(n, lane)| lane.is_some_and(|lane| lane != n));
            let new = match moves {
                true => self.of_both(words, words, targets.map(|lane| lane.unwrap_or(0))),
                false => words,
            };
            let mask = match on {
                Some(on) => {
                    let bit = |lane: u32| 1 << (on.first + lane);
                    let mut lanes = self.of_lanes(1, LANES);
                    let bits = lanes.dwords_by(|n| targets[n].map_or(0, bit));
                    let none = lanes.dwords_by(|_| 0);
                    let stored = self.b.band(on.word, bits);
                    self.b.icmp(IntCC::NotEqual, stored, none)
                }
                None => {
                    let stored = (0..LANES).filter(|&n| targets[n].is_some());
                    let bits = stored.fold(0, |bits, n| bits | 1 << n);
                    let bits = self.b.iconst(types::I64, bits);
                    self.b.op(VirOp::MaskOfBits, &[bits], types::M32X16)
                }
            };
            let at = self.b.iadd_imm(start, part);
            self.b.effect(VirOp::StoreSome, &[new, mask, at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A name, and the dword of each lane.
    type Pattern = (&'static str, fn(i64) -> i64);

    /// Returns what the lanes load from `memory`, and then stores -1 from lane 0, -2 from lane 1 and so on.
    fn run(window: &Window, memory: &mut [i64]) -> [i64; LANES] {
        let range = |part: i64| {
            let first = usize::try_from(part / 4).expect("it begins in memory");
            first..first + LANES
        };
        let parts: Vec<Vec<i64>> = window
            .parts()
            .map(|part| memory[range(part)].to_vec())
            .collect();
        let both = parts.concat();
        let loaded = window.sources().map(|n| both[n as usize]);
        for part in window.parts() {
            for (word, lane) in memory[range(part)].iter_mut().zip(window.targets(part)) {
                *word = lane.map_or(*word, |lane| -1 - i64::from(lane));
            }
        }
        loaded
    }

    #[test]
    fn lanes_get_their_dwords_and_nothing_else_is_touched() {
        let patterns: [Pattern; 9] = [
            ("every other dword", |n| 2 * n),
            ("pairs", |n| 2 * n - (n & 1)),
            ("fours", |n| 2 * n - (n & 3)),
            ("eights", |n| 2 * n - (n & 7)),
            ("in order", |n| n),
            ("backwards", |n| 15 - n),
            ("crossed", |n| n ^ 5),
            ("shared", |n| n / 3),
            ("far", |n| 24 * (n & 1) + n / 2),
        ];
        for (name, pattern) in patterns {
            for (low, high) in [(0, 0), (0, 20), (13, 0), (3, 40)] {
                let at: [i64; LANES] = std::array::from_fn(|n| low + pattern(n as i64));
                let last = at.iter().max().expect("16 of them") + high;
                let mut memory: Vec<i64> = (0..=last).collect();
                let Some(window) = Window::of(at.map(|at| 4 * at), (0, 4 * last)) else {
                    assert!(last < LANES as i64 - 1, "{name}, {low} to {high}");
                    continue;
                };
                assert_eq!(run(&window, &mut memory), at, "{name}, {low} to {high}");
                for (n, &now) in memory.iter().enumerate() {
                    let lane = at.iter().rposition(|&at| at == n as i64);
                    let expected = lane.map_or(n as i64, |lane| -1 - lane as i64);
                    assert_eq!(now, expected, "{name}, {low} to {high}, dword {n}");
                }
            }
        }
        let spread = std::array::from_fn(|n| 12 * n as i64);
        assert!(Window::of(spread, (0, 180)).is_none());
        let odd = std::array::from_fn(|n| 4 * n as i64 + n as i64 % 2);
        assert!(Window::of(odd, (0, 100)).is_none());
    }
}
