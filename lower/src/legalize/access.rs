//! Moves of elements between guest memory or LDS and registers, for one, four, eight or 16 lanes at a time. All
//! addresses are host addresses whose bounds were checked.
//!
//! An aligned element of two or four dwords is one host access, so that other threads see all of it or nothing: its
//! dwords never come from two vectors and are never stored by two instructions. Hosts access at least each aligned 16
//! bytes of a vector at once: Intel and AMD guarantee this for moves of 16 bytes on processors with AVX, and wider
//! moves consist of such.

use frontend::op::Data;

use super::Code;
use super::scalar::joined;
use crate::host;
use crate::vir::{Memory, Part, Type, Value, types};

mod eight;
mod masked;
mod narrow;
mod sixteen;
mod strided;
mod window;

pub(super) use strided::is_interleaved;
pub(super) use window::{On, Window};

/// Does inline code support such elements?
pub(super) fn is_known(data: Data) -> bool {
    matches!(
        data,
        Data::Dwords(1..=4) | Data::U8 | Data::I8 | Data::U16 | Data::I16
    )
}

/// Bytes of an element.
pub(super) fn bytes(data: Data) -> u32 {
    match data {
        Data::Dwords(n) => 4 * u32::from(n),
        Data::U8 | Data::I8 => 1,
        Data::U16 | Data::I16 => 2,
        _ => unreachable!("bug: {data:?} is not accessed inline"),
    }
}

/// Number of VGPRs of an element.
pub(super) fn words(data: Data) -> usize {
    match data {
        Data::Dwords(n) => usize::from(n),
        _ => 1,
    }
}

/// Are elements with this stride contiguous?
pub(super) fn is_contiguous(data: Data, stride: i64) -> bool {
    is_known(data) && stride == i64::from(bytes(data))
}

/// The number of words of an element if each word is loaded by itself: for elements of three dwords with a stride of
/// one dword. Word `n` of all lanes is contiguous and begins `n` strides after word 0. The dwords of other elements
/// must come from one vector.
fn overlapping(data: Data, stride: i64) -> Option<i64> {
    (data == Data::Dwords(3) && stride == 4).then_some(3)
}

/// Are elements every other dword, so that two vectors hold those of 16 lanes?
pub(super) fn is_pairwise(data: Data, stride: i64) -> bool {
    data == Data::Dwords(1) && stride == 8
}

/// The window of 16 lanes whose elements are every other dword, the first `away` bytes from an address.
pub(super) fn pairwise(away: i64) -> Window {
    let lanes = std::array::from_fn(|lane| away + 8 * lane as i64);
    let window = Window::of(lanes, (lanes[0], lanes[15]));
    window.expect("bug: 31 dwords are more than two vectors")
}

/// Two shuffles that make one vector from three. Each selects four dwords of two vectors by their indices, those of the
/// second vector from 4 on.
pub(super) struct Triple {
    /// The sources of the first shuffle.
    pub(super) first: [usize; 2],
    /// The dwords that it selects.
    pub(super) picks: [u8; 4],
    /// The second source of the second shuffle; the first is the result of the first shuffle.
    pub(super) third: usize,
    /// The dwords that the second shuffle selects.
    pub(super) then: [u8; 4],
}

const fn triple(first: [usize; 2], picks: [u8; 4], third: usize, then: [u8; 4]) -> Triple {
    Triple {
        first,
        picks,
        third,
        then,
    }
}

/// Deinterleaves four structures of three dwords, in three vectors in memory order, to one vector for each dword.
pub(super) const SPLIT_TRIPLES: [Triple; 3] = [
    triple([0, 1], [0, 3, 6, 0], 2, [0, 1, 2, 5]),
    triple([0, 1], [1, 4, 7, 0], 2, [0, 1, 2, 6]),
    triple([0, 1], [2, 5, 0, 0], 2, [0, 1, 4, 7]),
];

/// The reverse.
pub(super) const JOIN_TRIPLES: [Triple; 3] = [
    triple([0, 1], [0, 4, 1, 0], 2, [0, 1, 4, 2]),
    triple([1, 2], [1, 5, 2, 0], 0, [0, 1, 6, 2]),
    triple([0, 1], [3, 7, 0, 0], 2, [6, 0, 1, 7]),
];

/// The byte indices of four dwords of two vectors.
pub(super) fn bytes_of_dwords(dwords: [u8; 4]) -> [u8; 16] {
    std::array::from_fn(|n| 4 * dwords[n / 4] + n as u8 % 4)
}

impl Code<'_> {
    // ---- one lane

    /// Loads a lane's words; elements of two or four dwords by one access.
    pub(super) fn load_one(&mut self, from: Value, data: Data) -> Vec<Value> {
        match data {
            Data::U8 => vec![self.b.load_part(Part::Byte, Memory::Guest, from, 0)],
            Data::I8 => vec![self.b.load_part(Part::SignedByte, Memory::Guest, from, 0)],
            Data::U16 => vec![self.b.load_part(Part::Short, Memory::Guest, from, 0)],
            Data::I16 => vec![self.b.load_part(Part::SignedShort, Memory::Guest, from, 0)],
            Data::Dwords(4) => {
                let four = self.b.load(types::I32X4, Memory::Guest, from, 0);
                (0..4).map(|n| self.b.extractlane(four, n)).collect()
            }
            _ => self.load_words(from, words(data)),
        }
    }

    /// Loads a lane's one to three dwords, the first two by one access.
    fn load_words(&mut self, from: Value, words: usize) -> Vec<Value> {
        let mut out = Vec::with_capacity(words);
        while out.len() + 1 < words {
            let offset = 4 * out.len() as i32;
            let pair = self.b.load(types::I64, Memory::Guest, from, offset);
            let high = self.b.ushr_imm(pair, 32);
            out.push(self.b.ireduce(types::I32, pair));
            out.push(self.b.ireduce(types::I32, high));
        }
        if out.len() < words {
            let offset = 4 * out.len() as i32;
            out.push(self.b.load(types::I32, Memory::Guest, from, offset));
        }
        out
    }

    /// Stores a lane's words; elements of two or four dwords by one access.
    pub(super) fn store_one(&mut self, to: Value, data: Data, words: &[Value]) {
        match data {
            Data::U8 | Data::I8 => {
                self.b
                    .store_part(Part::Byte, Memory::Guest, words[0], to, 0);
                return;
            }
            Data::U16 | Data::I16 => {
                self.b
                    .store_part(Part::Short, Memory::Guest, words[0], to, 0);
                return;
            }
            Data::Dwords(4) => {
                let [low, high] = [0, 2].map(|n| joined(&mut self.b, words[n], words[n + 1]));
                let pairs = self.b.scalar_to_vector(types::I64X2, low);
                let pairs = self.b.insertlane(pairs, high, 1);
                self.b.store(Memory::Guest, pairs, to, 0);
                return;
            }
            _ => {}
        }
        for (i, pair) in words.chunks(2).enumerate() {
            let value = match *pair {
                [low, high] => joined(&mut self.b, low, high),
                _ => pair[0],
            };
            self.b.store(Memory::Guest, value, to, 8 * i as i32);
        }
    }

    // ---- vectors

    /// Loads a contiguous vector.
    pub(super) fn load_vector(&mut self, ty: Type, start: Value, offset: i32) -> Value {
        self.b.load(ty, Memory::Guest, start, offset)
    }

    /// Stores a contiguous vector.
    pub(super) fn store_vector(&mut self, vector: Value, start: Value, offset: i32) {
        self.b.store(Memory::Guest, vector, start, offset);
    }

    /// Stores the elements of two lanes, which are pairs of dwords.
    pub(super) fn store_two(&mut self, to: [Value; 2], pairs: Value) {
        let pairs = self.b.bitcast(types::I64X2, pairs);
        for (n, at) in to.into_iter().enumerate() {
            let pair = self.b.extractlane(pairs, n as u8);
            self.b.store(Memory::Guest, pair, at, 0);
        }
    }

    /// The number of lanes with this stride that are moved at once: four, eight or 16. `between`: the bytes between
    /// elements may be moved with them.
    pub(super) fn lanes_at_once(
        &self,
        load: bool,
        data: Data,
        stride: i64,
        between: bool,
    ) -> usize {
        let data = match overlapping(data, stride) {
            Some(_) if load => Data::Dwords(1),
            _ => data,
        };
        // Elements that overlap have no bytes between them.
        let between = between || stride < i64::from(bytes(data));
        match self.per() {
            16 if sixteen::suits_sixteen(data, stride) => 16,
            16 if between && is_pairwise(data, stride) => 16,
            16 if load && between && strided::is_strided(data, stride) => 16,
            16 if load && between && narrow::is_narrow(data, stride) => 16,
            host::LANES.. if eight::suits_eight(data, stride) => host::LANES,
            _ => 4,
        }
    }

    /// Loads the words of four, eight or 16 lanes, whose elements are `stride` apart, the first `away` bytes from
    /// `start`: a vector for each word.
    pub(super) fn load_lanes(
        &mut self,
        lanes: usize,
        (start, away): (Value, i64),
        stride: i64,
        data: Data,
    ) -> Vec<Value> {
        if let Some(count) = overlapping(data, stride) {
            let parts = (0..count).map(|n| away + n * stride);
            return parts
                .flat_map(|away| self.load_lanes(lanes, (start, away), stride, Data::Dwords(1)))
                .collect();
        }
        if lanes == host::LANES {
            return self.load_eight(start, away, stride, data);
        } else if lanes > host::LANES {
            return if is_pairwise(data, stride) {
                vec![self.load_window(start, &pairwise(away))]
            } else if strided::is_strided(data, stride) {
                self.load_strided((start, away), stride, data)
            } else if narrow::is_narrow(data, stride) {
                vec![self.load_narrow((start, away), stride, data)]
            } else {
                self.load_sixteen(start, away, data)
            };
        }
        match i32::try_from(away) {
            Ok(away) if is_contiguous(data, stride) => self.load_contiguous(start, away, data),
            Ok(away) if (data, stride) == (Data::Dwords(2), 4) => {
                self.load_adjacent(start, away).to_vec()
            }
            _ => {
                let from = self.four_addresses(start, away, stride);
                self.load_four(from, data)
            }
        }
    }

    /// Stores the elements of four, eight or 16 lanes in lane order, `stride` apart, the first `away` bytes from
    /// `start`; `words` is a vector for each word.
    pub(super) fn store_lanes(
        &mut self,
        lanes: usize,
        (start, away): (Value, i64),
        stride: i64,
        data: Data,
        words: &[Value],
    ) {
        if lanes == host::LANES {
            self.store_eight(start, away, stride, data, words);
            return;
        } else if lanes > host::LANES {
            match is_pairwise(data, stride) {
                true => self.store_window(start, &pairwise(away), words[0], None),
                false => self.store_sixteen(start, away, data, words),
            }
            return;
        }
        match i32::try_from(away) {
            Ok(away) if is_contiguous(data, stride) => {
                self.store_contiguous(start, away, data, words)
            }
            _ => {
                let to = self.four_addresses(start, away, stride);
                self.store_four(to, data, words);
            }
        }
    }

    fn four_addresses(&mut self, start: Value, away: i64, stride: i64) -> [Value; 4] {
        [0, 1, 2, 3].map(|k| self.b.iadd_imm(start, away + stride * k))
    }

    // ---- storage of lane values

    /// The addresses `bytes` after each of `storage`.
    pub(super) fn storage_at(&mut self, storage: &[Value], bytes: Value) -> Vec<Value> {
        let after = |&at: &Value| self.b.iadd(at, bytes);
        storage.iter().map(after).collect()
    }

    /// Loads a value from each of `storage`.
    pub(super) fn load_storage(&mut self, ty: Type, storage: &[Value]) -> Vec<Value> {
        let load = |&at: &Value| self.b.load(ty, Memory::Trusted, at, 0);
        storage.iter().map(load).collect()
    }

    /// Stores a word to each of `storage`.
    pub(super) fn store_storage(&mut self, storage: &[Value], words: &[Value]) {
        for (&at, &word) in storage.iter().zip(words) {
            self.b.store(Memory::Trusted, word, at, 0);
        }
    }

    // ---- four lanes

    /// Loads the words of four lanes whose elements are contiguous from `start + offset` on: a vector for each word.
    fn load_contiguous(&mut self, start: Value, offset: i32, data: Data) -> Vec<Value> {
        let size = match data {
            Data::Dwords(n) => {
                let loaded: Vec<Value> = (0..i32::from(n))
                    .map(|i| {
                        let at = offset + 16 * i;
                        self.b.load(types::I32X4, Memory::Guest, start, at)
                    })
                    .collect();
                return self.split(&loaded);
            }
            _ => bytes(data),
        };
        let signed = matches!(data, Data::I8 | Data::I16);
        let shorts = if size == 1 {
            let four = self.b.load(types::I32, Memory::Guest, start, offset);
            let v = self.b.scalar_to_vector(types::I32X4, four);
            let v = self.b.bitcast(types::I8X16, v);
            match signed {
                true => self.b.swiden_low(v),
                false => self.b.uwiden_low(v),
            }
        } else {
            let four = self.b.load(types::I64, Memory::Guest, start, offset);
            let v = self.b.scalar_to_vector(types::I64X2, four);
            self.b.bitcast(types::I16X8, v)
        };
        vec![match signed {
            true => self.b.swiden_low(shorts),
            false => self.b.uwiden_low(shorts),
        }]
    }

    /// Loads two dwords for each of four lanes with a stride of one dword. Both dwords of a lane come from one vector.
    pub(super) fn load_adjacent(&mut self, start: Value, offset: i32) -> [Value; 2] {
        let [a, b] = [0, 4].map(|n| self.load_vector(types::I32X4, start, offset + n));
        [[0, 1, 2, 6], [1, 2, 3, 7]].map(|lanes| self.pick(a, b, lanes))
    }

    /// Stores four lanes' elements contiguously; `lanes` is a vector for each word.
    fn store_contiguous(&mut self, start: Value, offset: i32, data: Data, lanes: &[Value]) {
        if let Data::Dwords(_) = data {
            for (i, value) in self.join(lanes).into_iter().enumerate() {
                let at = offset + 16 * i as i32;
                self.b.store(Memory::Guest, value, start, at);
            }
            return;
        }
        // Packs the low bytes of the four lanes.
        let size = bytes(data) as u8;
        let mut mask = [0u8; 16];
        for lane in 0..4 {
            for byte in 0..size {
                mask[usize::from(lane * size + byte)] = 4 * lane + byte;
            }
        }
        let v = self.b.bitcast(types::I8X16, lanes[0]);
        let mask = self.b.func.constant(&mask);
        let v = self.b.shuffle(types::I8X16, v, v, mask);
        let (vector, scalar) = match size {
            1 => (types::I32X4, types::I32),
            _ => (types::I64X2, types::I64),
        };
        let v = self.b.bitcast(vector, v);
        let packed = self.b.extractlane(v, 0);
        debug_assert_eq!(self.b.func.ty(packed), scalar);
        self.b.store(Memory::Guest, packed, start, offset);
    }

    /// Loads the words of four lanes from arbitrary addresses: a vector for each word.
    pub(super) fn load_four(&mut self, from: [Value; 4], data: Data) -> Vec<Value> {
        match data {
            Data::Dwords(4) => {
                let whole = from.map(|at| self.b.load(types::I32X4, Memory::Guest, at, 0));
                self.transpose(&whole)
            }
            Data::Dwords(2) => {
                let pairs = from.map(|at| {
                    let pair = self.b.load(types::I64, Memory::Guest, at, 0);
                    let v = self.b.scalar_to_vector(types::I64X2, pair);
                    self.b.bitcast(types::I32X4, v)
                });
                let low = self.pick(pairs[0], pairs[1], [0, 1, 4, 5]);
                let high = self.pick(pairs[2], pairs[3], [0, 1, 4, 5]);
                self.split(&[low, high])
            }
            _ => {
                let lanes = from.map(|at| self.load_one(at, data));
                (0..words(data))
                    .map(|w| {
                        let mut v = self.b.scalar_to_vector(types::I32X4, lanes[0][w]);
                        for (k, lane) in lanes.iter().enumerate().skip(1) {
                            v = self.b.insertlane(v, lane[w], k as u8);
                        }
                        v
                    })
                    .collect()
            }
        }
    }

    /// Stores four lanes' elements to arbitrary addresses in lane order; `lanes` is a vector for each word.
    pub(super) fn store_four(&mut self, to: [Value; 4], data: Data, lanes: &[Value]) {
        match data {
            Data::Dwords(4) => {
                let whole = self.transpose(lanes);
                for (at, whole) in to.into_iter().zip(whole) {
                    self.b.store(Memory::Guest, whole, at, 0);
                }
            }
            Data::Dwords(2) => {
                let pairs = self
                    .join(lanes)
                    .into_iter()
                    .flat_map(|two| [(two, 0), (two, 1)]);
                for (at, (two, n)) in to.into_iter().zip(pairs) {
                    let two = self.b.bitcast(types::I64X2, two);
                    let pair = self.b.extractlane(two, n);
                    self.b.store(Memory::Guest, pair, at, 0);
                }
            }
            _ => {
                for (k, at) in to.into_iter().enumerate() {
                    let words: Vec<Value> = lanes
                        .iter()
                        .map(|&word| self.b.extractlane(word, k as u8))
                        .collect();
                    self.store_one(at, data, &words);
                }
            }
        }
    }

    // ---- shuffles

    /// Selects four dwords of two vectors by their indices, those of the second from 4 on.
    fn pick(&mut self, a: Value, b: Value, lanes: [u8; 4]) -> Value {
        let mask = bytes_of_dwords(lanes);
        let a = self.b.bitcast(types::I8X16, a);
        let b = self.b.bitcast(types::I8X16, b);
        let mask = self.b.func.constant(&mask);
        let v = self.b.shuffle(types::I8X16, a, b, mask);
        self.b.bitcast(types::I32X4, v)
    }

    /// Deinterleaves four lanes' structures of 1 to 4 dwords, in memory order, to one vector for each dword.
    pub(super) fn split(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => vec![self.pick(a, b, [0, 2, 4, 6]), self.pick(a, b, [1, 3, 5, 7])],
            [a, b, c] => self.triples([a, b, c], &SPLIT_TRIPLES),
            [..] => self.transpose(m),
        }
    }

    /// The reverse of `split`.
    pub(super) fn join(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => vec![self.pick(a, b, [0, 4, 1, 5]), self.pick(a, b, [2, 6, 3, 7])],
            [a, b, c] => self.triples([a, b, c], &JOIN_TRIPLES),
            [..] => self.transpose(m),
        }
    }

    fn triples(&mut self, m: [Value; 3], triples: &[Triple; 3]) -> Vec<Value> {
        let made = triples.iter().map(|triple| {
            let [a, b] = triple.first.map(|n| m[n]);
            let two = self.pick(a, b, triple.picks);
            self.pick(two, m[triple.third], triple.then)
        });
        made.collect()
    }

    fn transpose(&mut self, m: &[Value]) -> Vec<Value> {
        let low01 = self.pick(m[0], m[1], [0, 4, 1, 5]);
        let high01 = self.pick(m[0], m[1], [2, 6, 3, 7]);
        let low23 = self.pick(m[2], m[3], [0, 4, 1, 5]);
        let high23 = self.pick(m[2], m[3], [2, 6, 3, 7]);
        vec![
            self.pick(low01, low23, [0, 1, 4, 5]),
            self.pick(low01, low23, [2, 3, 6, 7]),
            self.pick(high01, high23, [0, 1, 4, 5]),
            self.pick(high01, high23, [2, 3, 6, 7]),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_and_joining_triples_are_inverse() {
        let run = |m: [[u8; 4]; 3], triples: &[Triple; 3]| -> [[u8; 4]; 3] {
            std::array::from_fn(|n| {
                let Triple {
                    first,
                    picks,
                    third,
                    then,
                } = triples[n];
                let pick = |a: [u8; 4], b: [u8; 4], picks: [u8; 4]| {
                    picks.map(|n| [a, b].concat()[usize::from(n)])
                };
                let [a, b] = first.map(|n| m[n]);
                pick(pick(a, b, picks), m[third], then)
            })
        };
        let memory = std::array::from_fn(|n| std::array::from_fn(|i| (4 * n + i) as u8));
        let words = std::array::from_fn(|word| std::array::from_fn(|lane| (3 * lane + word) as u8));
        assert_eq!(run(memory, &SPLIT_TRIPLES), words);
        assert_eq!(run(words, &JOIN_TRIPLES), memory);
    }
}
