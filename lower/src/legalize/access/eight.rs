//! Elements of eight lanes at a time, for the wide back end. Shuffles work within each 128 bits of a vector. Elements
//! are therefore first arranged so that the low half of each vector belongs to lanes 0 to 3 and the high half to lanes
//! 4 to 7.

use frontend::op::Data;

use super::{JOIN_TRIPLES, SPLIT_TRIPLES, Triple, bytes, bytes_of_dwords, is_contiguous};
use crate::host;
use crate::legalize::Code;
use crate::legalize::lanes::{EVEN, ODD, UNPACK_HIGH, UNPACK_LOW, dwords_type};
use crate::vir::{Memory, Op as VirOp, Type, Value, types};

/// The low quads of two vectors, within each 128 bits.
pub(super) const LOW_QUADS: [u8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23];
/// The high quads.
pub(super) const HIGH_QUADS: [u8; 16] =
    [8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31];

/// Are elements with this stride moved eight lanes at a time?
pub(super) fn suits_eight(data: Data, stride: i64) -> bool {
    is_contiguous(data, stride) || matches!(data, Data::Dwords(2 | 4))
}

impl Code<'_> {
    fn load_sixteen_bytes(&mut self, start: Value, offset: i32) -> Value {
        self.b.load(types::I32X4, Memory::Guest, start, offset)
    }

    fn in_eight(&mut self, f: VirOp, args: &[Value], result: Type) -> Value {
        self.of_lanes(1, host::LANES).b.op(f, args, result)
    }

    /// Joins two vectors of 16 bytes.
    pub(in crate::legalize) fn join_halves(&mut self, low: Value, high: Value) -> Value {
        self.in_eight(VirOp::Join, &[low, high], types::I32X8)
    }

    fn shuffled(&mut self, a: Value, b: Value, pattern: [u8; 16]) -> Value {
        self.of_lanes(1, host::LANES)
            .shuffle(types::I32X8, a, b, pattern)
    }

    /// The halves of a vector, each of `lanes` lanes.
    pub(in crate::legalize) fn halves(&mut self, lanes: usize, v: Value) -> [Value; 2] {
        [VirOp::LowHalf, VirOp::HighHalf].map(|half| self.in_eight(half, &[v], dwords_type(lanes)))
    }

    /// The location `away` bytes from `start` as an address and a constant offset.
    pub(super) fn near(&mut self, start: Value, away: i64) -> (Value, i32) {
        // Callers add less than 256 to the offset.
        match i32::try_from(away) {
            Ok(away) if away < i32::MAX - 256 => (start, away),
            _ => (self.b.iadd_imm(start, away), 0),
        }
    }

    /// Loads the words of eight lanes whose elements are `stride` apart, the first `away` from `start`.
    pub(super) fn load_eight(
        &mut self,
        start: Value,
        away: i64,
        stride: i64,
        data: Data,
    ) -> Vec<Value> {
        let (start, offset) = self.near(start, away);
        if stride == i64::from(bytes(data)) {
            self.load_run_of_eight(start, offset, data)
        } else if (data, stride) == (Data::Dwords(2), 4) {
            let [low, high] = [0, 16].map(|n| self.load_adjacent(start, offset + n));
            let both = low.into_iter().zip(high);
            both.map(|(low, high)| self.join_halves(low, high))
                .collect()
        } else {
            let at = i64::from(offset);
            let from = std::array::from_fn(|k| {
                let away = at + stride * k as i64;
                self.b.iadd_imm(start, away)
            });
            self.load_each_of_eight(from, data)
        }
    }

    /// Stores eight lanes' elements in lane order, `stride` apart, the first `away` from `start`; `lanes` is a vector
    /// for each word.
    pub(super) fn store_eight(
        &mut self,
        start: Value,
        away: i64,
        stride: i64,
        data: Data,
        lanes: &[Value],
    ) {
        let (start, offset) = self.near(start, away);
        if stride == i64::from(bytes(data)) {
            self.store_run_of_eight(start, offset, data, lanes);
        } else {
            let at = i64::from(offset);
            let to = std::array::from_fn(|k| {
                let away = at + stride * k as i64;
                self.b.iadd_imm(start, away)
            });
            self.store_each_of_eight(to, data, lanes);
        }
    }

    /// Loads the words of eight lanes whose elements are contiguous from `start + offset` on.
    fn load_run_of_eight(&mut self, start: Value, offset: i32, data: Data) -> Vec<Value> {
        match data {
            Data::Dwords(1) => vec![self.load_vector(types::I32X8, start, offset)],
            Data::Dwords(words @ 2..=4) => {
                // Four lanes have `words` pieces of 16 bytes, and no element of two or four words is in two pieces.
                // The pieces of lanes 4 to 7 follow those of lanes 0 to 3.
                let words = i32::from(words);
                let pieces: Vec<Value> = (0..words)
                    .map(|n| {
                        let low = self.load_sixteen_bytes(start, offset + 16 * n);
                        let high = self.load_sixteen_bytes(start, offset + 16 * (n + words));
                        self.join_halves(low, high)
                    })
                    .collect();
                self.split_eight(&pieces)
            }
            _ => vec![self.load_parts(start, offset, data)],
        }
    }

    /// Loads contiguous bytes or shorts of eight lanes and extends them to dwords.
    fn load_parts(&mut self, start: Value, offset: i32, data: Data) -> Value {
        let (ty, widen) = match data {
            Data::U8 => (types::I64, VirOp::WidenBytesU),
            Data::I8 => (types::I64, VirOp::WidenBytesS),
            Data::U16 => (types::I32X4, VirOp::WidenShortsU),
            Data::I16 => (types::I32X4, VirOp::WidenShortsS),
            _ => unreachable!("bug: {data:?} is no run of eight"),
        };
        let mut parts = self.b.load(ty, Memory::Guest, start, offset);
        if ty == types::I64 {
            parts = self.b.scalar_to_vector(types::I64X2, parts);
        }
        self.in_eight(widen, &[parts], types::I32X8)
    }

    /// Loads the words of eight lanes' elements of two or four words from arbitrary addresses.
    pub(in crate::legalize) fn load_each_of_eight(
        &mut self,
        from: [Value; 8],
        data: Data,
    ) -> Vec<Value> {
        let piece = |e: &mut Self, lane: usize| match data {
            Data::Dwords(4) => e.load_sixteen_bytes(from[lane], 0),
            _ => {
                let [a, b] =
                    [lane, lane + 1].map(|lane| e.b.load(types::I64, Memory::Guest, from[lane], 0));
                let first = e.b.scalar_to_vector(types::I64X2, a);
                // Selection folds the load of `b` into the insertion.
                let both = e.b.insertlane(first, b, 1);
                e.b.bitcast(types::I32X4, both)
            }
        };
        let step = if data == Data::Dwords(4) { 1 } else { 2 };
        let pieces: Vec<Value> = (0..4)
            .step_by(step)
            .map(|lane| {
                let (low, high) = (piece(self, lane), piece(self, lane + 4));
                self.join_halves(low, high)
            })
            .collect();
        self.split_eight(&pieces)
    }

    /// Stores eight lanes' elements contiguously; `lanes` is a vector for each word.
    fn store_run_of_eight(&mut self, start: Value, offset: i32, data: Data, lanes: &[Value]) {
        if lanes.len() == 1 && data != Data::Dwords(1) {
            self.store_parts(start, offset, data, lanes[0]);
            return;
        }
        let pieces = self.join_eight(lanes);
        let mut stored = pieces.clone();
        if let [a, b, c] = pieces[..] {
            let low = self.in_eight(VirOp::LowHalves, &[a, b], types::I32X8);
            let high = self.in_eight(VirOp::HighHalves, &[b, c], types::I32X8);
            let (first, last) = (self.halves(4, a), self.halves(4, c));
            stored = vec![low, self.join_halves(last[0], first[1]), high];
        } else if pieces.len() > 1 {
            // The low halves are first in memory.
            stored.clear();
            for halves in [VirOp::LowHalves, VirOp::HighHalves] {
                for two in pieces.chunks_exact(2) {
                    stored.push(self.in_eight(halves, two, types::I32X8));
                }
            }
        }
        for (n, value) in stored.into_iter().enumerate() {
            let at = offset + 32 * n as i32;
            self.b.store(Memory::Guest, value, start, at);
        }
    }

    /// Stores the low bytes or shorts of eight lanes contiguously.
    fn store_parts(&mut self, start: Value, offset: i32, data: Data, lanes: Value) {
        let size = bytes(data) as u8;
        // Packs the parts of its four lanes in each half, repeated to fill it.
        let pattern = std::array::from_fn(|n| {
            let n = n as u8 % (4 * size);
            4 * (n / size) + n % size
        });
        let packed = self.shuffled(lanes, lanes, pattern);
        let [low, high] = self.halves(4, packed);
        let pattern = if size == 1 { UNPACK_LOW } else { LOW_QUADS };
        let mut four = self.of_lanes(1, 4);
        if size == 1 {
            let both = four.shuffle(types::I64X2, low, high, pattern);
            let both = self.b.extractlane(both, 0);
            self.b.store(Memory::Guest, both, start, offset);
        } else {
            let both = four.shuffle(types::I32X4, low, high, pattern);
            self.b.store(Memory::Guest, both, start, offset);
        }
    }

    /// Stores eight lanes' elements of two or four words to arbitrary addresses in lane order.
    pub(in crate::legalize) fn store_each_of_eight(
        &mut self,
        to: [Value; 8],
        data: Data,
        lanes: &[Value],
    ) {
        let pieces = self.join_eight(lanes);
        let halves: Vec<[Value; 2]> = pieces.iter().map(|&piece| self.halves(4, piece)).collect();
        for (lane, at) in to.into_iter().enumerate() {
            let (high, lane) = (lane / 4, lane % 4);
            let value = match data {
                Data::Dwords(4) => halves[lane][high],
                _ => {
                    let piece = halves[lane / 2][high];
                    let quads = self.b.bitcast(types::I64X2, piece);
                    self.b.extractlane(quads, lane as u8 % 2)
                }
            };
            self.b.store(Memory::Guest, value, at, 0);
        }
    }

    /// Deinterleaves eight lanes' structures of two to four dwords to one vector for each dword. The low halves have
    /// the structures of lanes 0 to 3 in memory order, the high halves those of lanes 4 to 7.
    fn split_eight(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a, b] => vec![self.shuffled(a, b, EVEN), self.shuffled(a, b, ODD)],
            [a, b, c] => self.triples_of_eight([a, b, c], &SPLIT_TRIPLES),
            _ => self.transpose_eight(m),
        }
    }

    /// The reverse.
    fn join_eight(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => [UNPACK_LOW, UNPACK_HIGH]
                .map(|pattern| self.shuffled(a, b, pattern))
                .to_vec(),
            [a, b, c] => self.triples_of_eight([a, b, c], &JOIN_TRIPLES),
            _ => self.transpose_eight(m),
        }
    }

    fn triples_of_eight(&mut self, m: [Value; 3], triples: &[Triple; 3]) -> Vec<Value> {
        let made = triples.iter().map(|triple| {
            let [a, b] = triple.first.map(|n| m[n]);
            let two = self.shuffled(a, b, bytes_of_dwords(triple.picks));
            self.shuffled(two, m[triple.third], bytes_of_dwords(triple.then))
        });
        made.collect()
    }

    fn transpose_eight(&mut self, m: &[Value]) -> Vec<Value> {
        let low01 = self.shuffled(m[0], m[1], UNPACK_LOW);
        let high01 = self.shuffled(m[0], m[1], UNPACK_HIGH);
        let low23 = self.shuffled(m[2], m[3], UNPACK_LOW);
        let high23 = self.shuffled(m[2], m[3], UNPACK_HIGH);
        vec![
            self.shuffled(low01, low23, LOW_QUADS),
            self.shuffled(low01, low23, HIGH_QUADS),
            self.shuffled(high01, high23, LOW_QUADS),
            self.shuffled(high01, high23, HIGH_QUADS),
        ]
    }
}
