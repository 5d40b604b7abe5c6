//! Elements of 16 lanes that overlap or have gaps between them, for AVX-512: the whole range from the first element to
//! the last is loaded, and the words are extracted by permutes, those of an element from one vector. Also interleaving,
//! which brings words of 16 lanes into memory order.

use frontend::op::Data;

use super::words;
use crate::legalize::Code;
use crate::vir::{Value, types};

const LANES: usize = 16;

/// Bytes of a vector.
const VECTOR: i64 = 4 * LANES as i64;

/// Are elements with this stride loaded in this way? With strides above half a vector, each would need its own vector.
pub(super) fn is_strided(data: Data, stride: i64) -> bool {
    match (data, stride) {
        (Data::Dwords(2), 4) | (Data::Dwords(4), 4 | 8) => true,
        (Data::Dwords(1 | 2), _) => (12..=VECTOR / 2).contains(&stride) && stride % 4 == 0,
        (Data::Dwords(3), _) => (16..=VECTOR / 2).contains(&stride) && stride % 4 == 0,
        _ => false,
    }
}

/// Does [`Code::interleaved`] support elements of `words` words?
pub(in crate::legalize) fn is_interleaved(words: usize) -> bool {
    matches!(words, 2 | 4 | 8)
}

/// Words, each by its number and its lane, and their dword indices in a vector.
type Held = Vec<((usize, usize), u32)>;

/// A vector with words of some lanes.
struct Part {
    vector: Value,
    held: Held,
}

/// The byte offsets of vectors that cover elements of `words` words, and the words that each vector holds. All words of
/// an element are in one vector. No byte before the first element or after the last is touched.
fn covering_vectors(stride: i64, words: usize) -> (Vec<i64>, Vec<Held>) {
    let bytes = 4 * words as i64;
    let end = stride * (LANES as i64 - 1) + bytes;
    let mut starts: Vec<i64> = Vec::new();
    let mut held: Vec<Held> = Vec::new();
    for lane in 0..LANES {
        let at = stride * lane as i64;
        if starts
            .last()
            .is_none_or(|start| at + bytes > start + VECTOR)
        {
            starts.push(at.min(end - VECTOR));
            held.push(Vec::new());
        }
        if let (Some(start), Some(held)) = (starts.last(), held.last_mut()) {
            let first = ((at - start) / 4) as u32;
            held.extend((0..words).map(|word| ((word, lane), first + word as u32)));
        }
    }
    (starts, held)
}

/// Dword indices of two vectors, padded with 0.
fn padded(held: impl Iterator<Item = u32>) -> [u32; LANES] {
    let mut indices = [0; LANES];
    indices.iter_mut().zip(held).for_each(|(n, at)| *n = at);
    indices
}

/// The dword indices that interleave two vectors, each of which holds `unit` words of each lane in lane order: a lane's
/// words of the first vector precede those of the second. `high`: for the higher half of the lanes.
fn interleaving(unit: usize, high: bool) -> [u32; LANES] {
    std::array::from_fn(|n| {
        let both = n + if high { LANES } else { 0 };
        let (lane, word) = (both / (2 * unit), both % (2 * unit));
        let second = if word < unit { 0 } else { LANES };
        (second + lane * unit + word % unit) as u32
    })
}

impl Code<'_> {
    /// Loads the words of 16 lanes whose elements are `stride` apart, the first `away` from `start`.
    pub(super) fn load_strided(
        &mut self,
        (start, away): (Value, i64),
        stride: i64,
        data: Data,
    ) -> Vec<Value> {
        let words = words(data);
        let (starts, held) = covering_vectors(stride, words);
        let mut parts: Vec<Part> = Vec::new();
        for (at, held) in starts.into_iter().zip(held) {
            let (start, offset) = self.near(start, away + at);
            let vector = self.load_vector(types::I32X16, start, offset);
            parts.push(Part { vector, held });
        }
        // Merges vectors as long as their words fit into one, then extracts each word.
        loop {
            let before = parts.len();
            let mut fewer: Vec<Part> = Vec::new();
            let mut rest = parts.into_iter().peekable();
            while let Some(one) = rest.next() {
                let room = |other: &Part| one.held.len() + other.held.len() <= LANES;
                let next = match rest.next_if(room) {
                    Some(other) => self.merge_parts(&one, &other),
                    None => one,
                };
                fewer.push(next);
            }
            parts = fewer;
            if parts.len() == before {
                break;
            }
        }
        (0..words)
            .map(|word| self.extract_word(&parts, word))
            .collect()
    }

    /// Merges the words of two vectors.
    fn merge_parts(&mut self, a: &Part, b: &Part) -> Part {
        let first = a.held.iter().map(|&(_, at)| at);
        let second = b.held.iter().map(|&(_, at)| LANES as u32 + at);
        let vector = self.of_both(a.vector, b.vector, padded(first.chain(second)));
        let names = a.held.iter().chain(&b.held).map(|&(name, _)| name);
        let held = names.zip(0..).collect();
        Part { vector, held }
    }

    /// Extracts a word of all lanes.
    fn extract_word(&mut self, parts: &[Part], word: usize) -> Value {
        let at = |part: &Part, lane: usize| {
            let found = part.held.iter().find(|&&(name, _)| name == (word, lane));
            found.map(|&(_, at)| at)
        };
        let first = &parts[0];
        let mut all = first.vector;
        let mut there: [Option<u32>; LANES] = std::array::from_fn(|lane| at(first, lane));
        let others = parts.get(1..).filter(|others| !others.is_empty());
        for other in others.unwrap_or(&parts[..1]) {
            let new = |lane: usize| at(other, lane).map(|at| LANES as u32 + at);
            let source = |lane: usize| there[lane].or_else(|| new(lane));
            let sources: [Option<u32>; LANES] = std::array::from_fn(source);
            all = self.of_both(all, other.vector, sources.map(|at| at.unwrap_or(0)));
            there = std::array::from_fn(|lane| sources[lane].map(|_| lane as u32));
        }
        all
    }

    /// Deinterleaves 16 lanes' elements of three words, in memory order.
    pub(super) fn separated_triples(&mut self, [a, b, c]: [Value; 3]) -> [Value; 3] {
        [0, 1, 2].map(|word| {
            // From the first two vectors, then from the third for the lanes whose word is there.
            let place = |lane: usize| 3 * lane + word;
            let two = std::array::from_fn(|lane| place(lane) as u32 % (2 * LANES as u32));
            let then = std::array::from_fn(|lane| match place(lane) / LANES {
                2 => (place(lane) - LANES) as u32,
                _ => lane as u32,
            });
            let two = self.of_both(a, b, two);
            self.of_both(two, c, then)
        })
    }

    /// Interleaves three words of each of 16 lanes into memory order.
    pub(super) fn interleaved_triples(&mut self, [a, b, c]: [Value; 3]) -> [Value; 3] {
        [0, 1, 2].map(|vector| {
            let sources = |held: [u32; 3]| -> [u32; LANES] {
                std::array::from_fn(|n| {
                    let at = LANES * vector + n;
                    // 0 keeps the dword; otherwise `source` is the index of lane 0 plus 16.
                    match held[at % 3] {
                        0 => n as u32,
                        source => source + (at / 3) as u32 - LANES as u32,
                    }
                })
            };
            let (first, second) = (LANES as u32, 2 * LANES as u32);
            let two = self.of_both(a, b, sources([first, second, first]));
            self.of_both(two, c, sources([0, 0, second]))
        })
    }

    /// Interleaves words of 16 lanes into memory order, for contiguous elements.
    pub(in crate::legalize) fn interleaved(&mut self, words: &[Value]) -> Vec<Value> {
        let mut columns: Vec<Vec<Value>> = words.iter().map(|&word| vec![word]).collect();
        let mut unit = 1;
        while columns.len() > 1 {
            let pairs = columns.chunks_exact(2).map(|two| {
                let both = two[0].iter().zip(&two[1]);
                let halves = both.flat_map(|(&a, &b)| {
                    [false, true].map(|high| self.of_both(a, b, interleaving(unit, high)))
                });
                halves.collect()
            });
            columns = pairs.collect();
            unit *= 2;
        }
        columns.concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_found_and_nothing_else_is_touched() {
        for stride in (4..=VECTOR / 2).step_by(4) {
            for words in [1, 2, 3, 4] {
                if !is_strided(Data::Dwords(words as u8), stride) {
                    continue;
                }
                let (starts, held) = covering_vectors(stride, words);
                let end = stride * (LANES as i64 - 1) + 4 * words as i64;
                assert!(starts.iter().all(|&at| at >= 0 && at + VECTOR <= end));
                let mut found = Vec::new();
                let whole = |held: &Held| held.len().is_multiple_of(words);
                assert!(held.iter().all(whole), "an element is in two vectors");
                for (start, held) in starts.iter().zip(&held) {
                    for &((word, lane), at) in held {
                        assert!(at < LANES as u32);
                        let byte = start + 4 * i64::from(at);
                        assert_eq!(byte, stride * lane as i64 + 4 * word as i64);
                        found.push((lane, word));
                    }
                }
                found.sort_unstable();
                let all = (0..LANES).flat_map(|lane| (0..words).map(move |word| (lane, word)));
                assert!(found.into_iter().eq(all), "{words} words, {stride} apart");
            }
        }
    }

    #[test]
    fn interleaved_words_are_in_lane_order() {
        for count in [2, 4, 8] {
            // A word is identified by its lane and its number.
            let mut columns: Vec<Vec<[(usize, usize); LANES]>> = (0..count)
                .map(|word| vec![std::array::from_fn(|lane| (lane, word))])
                .collect();
            let mut unit = 1;
            while columns.len() > 1 {
                let pairs = columns.chunks_exact(2).map(|two| {
                    let both = two[0].iter().zip(&two[1]);
                    let halves = both.flat_map(|(a, b)| {
                        let both = [&a[..], &b[..]].concat();
                        [false, true].map(|high| interleaving(unit, high).map(|n| both[n as usize]))
                    });
                    halves.collect()
                });
                columns = pairs.collect();
                unit *= 2;
            }
            let all = (0..LANES).flat_map(|lane| (0..count).map(move |word| (lane, word)));
            assert!(
                columns.concat().concat().into_iter().eq(all),
                "{count} words"
            );
        }
    }
}
