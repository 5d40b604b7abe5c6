//! Reproducible random numbers, biased toward the values at which instructions go wrong.

/// A xorshift generator; the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
pub struct Random(u64);

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
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        random.next();
        random
    }

    /// 64 random bits.
    #[allow(clippy::should_implement_trait, reason = "it never ends")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n` (which is not 0).
    pub fn below(&mut self, n: u32) -> u32 {
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
        let word = (self.next() >> 16) as u32;
        match self.below(8) {
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
