//! Elements of 16 lanes at a time, for AVX-512. Pairs and fours of dwords are deinterleaved within parts of 128 bits.
//! All words of lanes 0 to 3 are therefore first brought to the same part of each vector, and likewise those of lanes 4
//! to 7, 8 to 11 and 12 to 15.

use frontend::op::Data;

use super::eight::{HIGH_QUADS, LOW_QUADS};
use super::{bytes, is_contiguous};
use crate::legalize::Code;
use crate::legalize::lanes::{EVEN, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::vir::{Memory, Op as VirOp, Value, types};

const LANES: usize = 16;

/// Are elements with this stride moved 16 lanes at a time?
pub(super) fn suits_sixteen(data: Data, stride: i64) -> bool {
    is_contiguous(data, stride)
}

impl Code<'_> {
    fn in_sixteen(&mut self, f: VirOp, args: &[Value]) -> Value {
        self.b.op(f, args, types::I32X16)
    }

    fn shuffled_sixteen(&mut self, a: Value, b: Value, pattern: [u8; 16]) -> Value {
        self.of_lanes(1, LANES)
            .shuffle(types::I32X16, a, b, pattern)
    }

    /// Loads the words of 16 lanes whose elements are contiguous, the first `away` from `start`.
    pub(super) fn load_sixteen(&mut self, start: Value, away: i64, data: Data) -> Vec<Value> {
        let (start, offset) = self.near(start, away);
        let (ty, widen) = match data {
            Data::Dwords(1) => return vec![self.load_vector(types::I32X16, start, offset)],
            Data::Dwords(2) => {
                let both = [0, 64].map(|n| self.load_vector(types::I32X16, start, offset + n));
                return self.split_pairs(both).to_vec();
            }
            Data::Dwords(3) => {
                let vectors =
                    [0, 64, 128].map(|n| self.load_vector(types::I32X16, start, offset + n));
                return self.separated_triples(vectors).to_vec();
            }
            Data::Dwords(4) => {
                let vectors =
                    [0, 64, 128, 192].map(|n| self.load_vector(types::I32X16, start, offset + n));
                let parts = self.transposed_parts(vectors);
                return self.transposed_within(parts).to_vec();
            }
            Data::U8 => (types::I32X4, VirOp::WidenBytesU),
            Data::I8 => (types::I32X4, VirOp::WidenBytesS),
            Data::U16 => (types::I32X8, VirOp::WidenShortsU),
            Data::I16 => (types::I32X8, VirOp::WidenShortsS),
            _ => unreachable!("bug: {data:?} is no run of 16"),
        };
        let parts = self.load_vector(ty, start, offset);
        vec![self.in_sixteen(widen, &[parts])]
    }

    /// Stores 16 lanes' elements contiguously, the first `away` from `start`; `lanes` is a vector for each word.
    pub(super) fn store_sixteen(&mut self, start: Value, away: i64, data: Data, lanes: &[Value]) {
        let (start, offset) = self.near(start, away);
        let stored = match (data, lanes) {
            (Data::Dwords(_), &[low, high]) => self.join_pairs([low, high]).to_vec(),
            (Data::Dwords(_), &[a, b, c]) => self.interleaved_triples([a, b, c]).to_vec(),
            (Data::Dwords(_), &[a, b, c, d]) => {
                let parts = self.transposed_within([a, b, c, d]);
                self.transposed_parts(parts).to_vec()
            }
            (Data::Dwords(_), _) => lanes.to_vec(),
            _ => {
                let (narrow, ty) = match bytes(data) {
                    1 => (VirOp::NarrowBytes, types::I32X4),
                    _ => (VirOp::NarrowShorts, types::I32X8),
                };
                vec![self.b.op(narrow, lanes, ty)]
            }
        };
        for (n, value) in stored.into_iter().enumerate() {
            let at = offset + 64 * n as i32;
            self.b.store(Memory::Guest, value, start, at);
        }
    }

    /// Deinterleaves 16 lanes' pairs of dwords, in memory order, to one vector for each dword.
    fn split_pairs(&mut self, pairs: [Value; 2]) -> [Value; 2] {
        let [even, odd] =
            [VirOp::EvenParts, VirOp::OddParts].map(|parts| self.in_sixteen(parts, &pairs));
        [EVEN, ODD].map(|pattern| self.shuffled_sixteen(even, odd, pattern))
    }

    /// The reverse.
    fn join_pairs(&mut self, [low, high]: [Value; 2]) -> [Value; 2] {
        let parts = [UNPACK_LOW, UNPACK_HIGH].map(|p| self.shuffled_sixteen(low, high, p));
        [VirOp::LowHalves, VirOp::HighHalves].map(|halves| {
            let both = self.in_sixteen(halves, &parts);
            self.in_sixteen(VirOp::MixParts, &[both])
        })
    }

    /// Transposes parts of 128 bits: part `n` of vector `m` becomes part `m` of vector `n`.
    fn transposed_parts(&mut self, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
        let mut sorted = |parts, pair: [Value; 2]| self.in_sixteen(parts, &pair);
        let [even, odd] = [VirOp::EvenParts, VirOp::OddParts]
            .map(|parts| [[a, b], [c, d]].map(|pair| sorted(parts, pair)));
        [
            sorted(VirOp::EvenParts, even),
            sorted(VirOp::EvenParts, odd),
            sorted(VirOp::OddParts, even),
            sorted(VirOp::OddParts, odd),
        ]
    }

    /// Transposes the dwords of each part: dword `n` of vector `m` becomes dword `m` of vector `n`.
    fn transposed_within(&mut self, [a, b, c, d]: [Value; 4]) -> [Value; 4] {
        let mut sorted = |pattern, [a, b]: [Value; 2]| self.shuffled_sixteen(a, b, pattern);
        let [low, high] =
            [UNPACK_LOW, UNPACK_HIGH].map(|half| [[a, b], [c, d]].map(|pair| sorted(half, pair)));
        [
            sorted(LOW_QUADS, low),
            sorted(HIGH_QUADS, low),
            sorted(LOW_QUADS, high),
            sorted(HIGH_QUADS, high),
        ]
    }
}
