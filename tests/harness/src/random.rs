//! Reproducible random numbers, biased toward the values at which instructions go wrong: from a seed, or from the bytes of
//! a fuzzer's input, so that a change of a byte changes few decisions.

use std::sync::Arc;

/// A source of decisions. From a seed it is a xorshift generator; the same seed gives the same numbers everywhere.
///
/// From an input, a number takes as many bytes as its range needs, in their order, so that equal inputs give equal
/// numbers. Behind the last byte the numbers are those of a constant seed.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
    input: Option<Input>,
}

/// The rest of an input.
#[derive(Clone, Debug)]
struct Input {
    bytes: Arc<[u8]>,
    at: usize,
}

/// 32-bit values at the edges of integer and float formats.
pub const EDGES: [u32; 40] = [
    0,
    1,
    2,
    0xffff_ffff,
    0xffff_fffe,
    0x8000_0000,
    0x8000_0001,
    0x7fff_ffff,
    31,
    32,
    33,
    63,
    64,
    0x3f80_0000,
    0xbf80_0000,
    0x4000_0000,
    0x3f00_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x7fc0_1234,
    0xff81_0001,
    0x7f80_0001,
    0x0000_0003,
    0x8040_0000,
    0x007f_ffff,
    0x0080_0000,
    0x7f7f_ffff,
    0x7ff0_0000,
    0xfff0_0000,
    0x7ff8_0001,
    0x3ff0_0000,
    0x000f_ffff,
    0x4b00_0000,
    0x4f00_0000,
    0x3c00_7c00,
    0xfc00_8000,
    0x7e01_03ff,
    0x8001_0400,
    0x0000_ff80,
];

impl Random {
    /// A generator; a seed of 0 is replaced.
    pub fn new(seed: u64) -> Random {
        let mut random = Random {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            input: None,
        };
        random.next();
        random.next();
        random
    }

    /// The decisions of an input.
    pub fn from_bytes(bytes: &[u8]) -> Random {
        let input = Input {
            bytes: bytes.into(),
            at: 0,
        };
        Random {
            input: Some(input),
            ..Random::new(0)
        }
    }

    /// Has the input ended? A generator from a seed never does.
    pub fn is_exhausted(&self) -> bool {
        let input = self.input.as_ref();
        input.is_some_and(|input| input.at >= input.bytes.len())
    }

    /// The next bytes of the input as a number, if it has so many.
    fn take(&mut self, count: usize) -> Option<u64> {
        let input = self.input.as_mut()?;
        let bytes = input.bytes.get(input.at..input.at + count);
        let number = bytes.map(|bytes| {
            let bytes = bytes.iter().rev();
            bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
        });
        input.at = match number {
            Some(_) => input.at + count,
            None => input.bytes.len(),
        };
        number
    }

    /// 64 random bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        if let Some(number) = self.take(8) {
            return number;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n` (which is not 0).
    pub fn below(&mut self, n: u32) -> u32 {
        let bytes = match n {
            1 => 0,
            2..=0x100 => 1,
            0x101..=0x1_0000 => 2,
            _ => 4,
        };
        if let Some(number) = self.take(bytes) {
            return (number % u64::from(n)) as u32;
        }
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// One of a slice.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u32) as usize]
    }

    /// A 32-bit value, often one at an edge.
    pub fn word(&mut self) -> u32 {
        // An input spends no bytes on what the kind does not need.
        if self.input.is_some() {
            let kind = self.below(8);
            let word = match kind {
                0..=2 => 0,
                3 => self.below(0x100),
                _ => self.take(4).unwrap_or_else(|| self.next()) as u32,
            };
            return self.of_kind(kind, word);
        }
        let word = (self.next() >> 16) as u32;
        let kind = self.below(8);
        self.of_kind(kind, word)
    }

    fn of_kind(&mut self, kind: u32, word: u32) -> u32 {
        match kind {
            0..=2 => *self.pick(&EDGES),
            3 => word & 0xff,
            // A float of ordinary size.
            4 => word & 0x807f_ffff | (120 + self.below(16)) << 23,
            _ => word,
        }
    }

    /// A mask of lanes: all, none, half, alternating, one, or random.
    pub fn lanes(&mut self) -> u64 {
        match self.below(8) {
            0..=2 => u64::MAX,
            3 => 0,
            4 => 0xffff_ffff,
            5 => 0x5555_5555_5555_5555,
            6 => 1 << self.below(64),
            _ => self.next(),
        }
    }

    /// Lanes behind one another, as masks that leave whole groups out.
    pub fn run_of_lanes(&mut self) -> u64 {
        u64::MAX >> self.below(64) << self.below(64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_used_byte_by_byte() {
        let mut r = Random::from_bytes(&[5, 0x34, 0x12, 9, 1, 2, 3, 4, 5, 6, 7, 8, 0xff]);
        assert_eq!(r.below(4), 1);
        assert_eq!(r.below(1), 0, "one choice takes no byte");
        assert_eq!(r.below(1000), 0x1234 % 1000);
        assert_eq!(r.below(256), 9);
        assert_eq!(r.next(), 0x0807_0605_0403_0201);
        assert!(!r.is_exhausted());
        let rest = r.clone().next();
        assert_eq!(rest, Random::new(0).next(), "too few bytes are none");
        assert_eq!(r.below(256), 0xff);
        assert!(r.is_exhausted());
        assert_eq!(r.next(), rest);
    }

    #[test]
    fn words_of_an_input_take_what_their_kind_needs() {
        let mut r = Random::from_bytes(&[0, 3, 3, 0xab, 7, 1, 2, 3, 4]);
        assert_eq!(r.word(), EDGES[3]);
        assert_eq!(r.word(), 0xab);
        assert_eq!(r.word(), 0x0403_0201);
        assert!(r.is_exhausted());
    }

    #[test]
    fn a_seed_gives_the_numbers_that_it_always_gave() {
        let mut r = Random::new(1);
        let numbers = [r.next(), u64::from(r.below(1000)), u64::from(r.word())];
        assert_eq!(numbers, [0x7d97_4833_520e_a11e, 330, 0xff80]);
        assert!(!r.is_exhausted());
    }
}
