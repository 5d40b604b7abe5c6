//! Tracks the origin of each byte of a word and folds chains of byte moves into one permutation.

use super::Build;
use crate::ir::{Op, Val, Width};

/// A byte of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    Of(Val, u8),
    Zero,
    Ones,
}

/// Maximum depth of the search.
const DEPTH: u32 = 6;

/// Selectors of `v_perm` for zeros and ones.
const ZERO: u8 = 12;
const ONES: u8 = 13;

impl Build {
    /// Folds a permutation by constant selectors into one of the original words; `None` if that
    /// does not save an operation.
    pub(super) fn fold_perm(&self, args: &[Val]) -> Option<Val> {
        self.as_const(args[2])?;
        let bytes = self.permuted(args, DEPTH)?;
        let mut words = Vec::new();
        for byte in bytes {
            if let Byte::Of(word, _) = byte
                && !words.contains(&word)
            {
                words.push(word);
            }
        }
        let constant = |byte: &Byte| if *byte == Byte::Ones { 0xff } else { 0 };
        let (low, high) = match words[..] {
            [] => {
                let value = u32::from_le_bytes(bytes.each_ref().map(constant));
                return Some(self.constant(Width::W32, u64::from(value)));
            }
            [word] => (word, word),
            [low, high] => (low, high),
            _ => return None,
        };
        if (0..4).all(|n| bytes[usize::from(n)] == Byte::Of(low, n)) {
            return Some(low);
        }
        let selectors = bytes.map(|byte| match byte {
            Byte::Of(word, n) if word == low => n,
            Byte::Of(_, n) => 4 + n,
            Byte::Zero => ZERO,
            Byte::Ones => ONES,
        });
        let selectors = u32::from_le_bytes(selectors);
        let selectors = self.constant(Width::W32, u64::from(selectors));
        let new = [high, low, selectors];
        (new != *args).then(|| self.pure(Op::Perm, &new))
    }

    /// The bytes of a permutation by constant selectors without sign selectors.
    fn permuted(&self, args: &[Val], depth: u32) -> Option<[Byte; 4]> {
        let selectors = (self.as_const(args[2])? as u32).to_le_bytes();
        if selectors.iter().any(|n| (8..12).contains(n)) {
            return None;
        }
        let [high, low] = [args[0], args[1]].map(|word| self.bytes(word, depth - 1));
        Some(selectors.map(|n| match n {
            0..=3 => low[usize::from(n)],
            4..=7 => high[usize::from(n) - 4],
            ZERO => Byte::Zero,
            _ => Byte::Ones,
        }))
    }

    /// The origin of each byte of a word.
    fn bytes(&self, word: Val, depth: u32) -> [Byte; 4] {
        let itself = [0, 1, 2, 3].map(|n| Byte::Of(word, n));
        let (op, args) = self.parts(word);
        if self.ty(word).width != Width::W32 || depth == 0 {
            return itself;
        }
        let arg = |i: usize| self.bytes(args[i], depth - 1);
        let constant = |i: usize| self.as_const(args[i]).map(|c| c as u32);
        // The bytes shifted up by whole bytes, or down if `by` is negative.
        let moved = |by: i32| {
            let from = arg(0);
            [0, 1, 2, 3].map(|n| match usize::try_from(n - by) {
                Ok(n) if n < 4 => from[n],
                _ => Byte::Zero,
            })
        };
        let bytes_of_shift = |i: usize| {
            let bits = constant(i)? & 31;
            (bits % 8 == 0).then_some(bits as i32 / 8)
        };
        match op {
            Op::Const(c) => {
                let bytes = (c as u32).to_le_bytes();
                [0, 1, 2, 3].map(|n| match bytes[usize::from(n)] {
                    0 => Byte::Zero,
                    0xff => Byte::Ones,
                    _ => Byte::Of(word, n),
                })
            }
            Op::And => {
                let Some(mask) = constant(1) else {
                    return itself;
                };
                let (mask, from) = (mask.to_le_bytes(), arg(0));
                [0, 1, 2, 3].map(|n| match mask[n] {
                    0 => Byte::Zero,
                    0xff => from[n],
                    _ => itself[n],
                })
            }
            Op::Or => {
                let (a, b) = (arg(0), arg(1));
                [0, 1, 2, 3].map(|n| match (a[n], b[n]) {
                    (byte, Byte::Zero) | (Byte::Zero, byte) => byte,
                    _ => itself[n],
                })
            }
            Op::Shl => bytes_of_shift(1).map_or(itself, moved),
            Op::Lshr => bytes_of_shift(1).map_or(itself, |by| moved(-by)),
            Op::ByteU(n) => [arg(0)[usize::from(n)], Byte::Zero, Byte::Zero, Byte::Zero],
            Op::Perm => self.permuted(&args, depth).unwrap_or(itself),
            _ => itself,
        }
    }
}
