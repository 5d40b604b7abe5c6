//! `v_perm` with variable selectors, for the wide back end. Selectors are looked up in tables of 16
//! bytes: all selectors from 13 on mean the same.

use super::Lanes;
use crate::vir::{Op as VirOp, Value, types};

/// Index that picks a zero byte.
pub(super) const NO_BYTE: u8 = 0x80;

/// The selectors of a vector as byte indices. Unused parts are never emitted.
#[derive(Clone, Copy)]
pub(crate) struct Selectors {
    /// Indices of bytes of S1, of S0, and of both where they are equal.
    bytes: [Value; 3],
    /// Indices of the bytes whose signs are selected, likewise.
    signs: [Value; 3],
    /// All ones where selected.
    ones: Value,
}

/// The byte of S1 (0) or S0 (1) that a selector picks.
fn byte(selector: u8) -> Option<(usize, u8)> {
    (selector < 8).then_some((usize::from(selector / 4), selector % 4))
}

/// The byte whose sign a selector selects: 1, 3, 5 or 7 of both.
fn sign(selector: u8) -> Option<(usize, u8)> {
    (8..12).contains(&selector).then(|| {
        let byte = 2 * (selector - 8) + 1;
        (usize::from(byte / 4), byte % 4)
    })
}

impl Lanes<'_, '_> {
    /// `v_perm` on a vector.
    pub(super) fn permute(&mut self, s0: Value, s1: Value, selectors: Value) -> Value {
        let selectors = self.selectors(selectors);
        self.permuted(s0, s1, &selectors)
    }

    /// Decodes a vector of selectors.
    pub(crate) fn selectors(&mut self, selectors: Value) -> Selectors {
        let bytes = match self.per {
            16 => types::I8X64,
            _ => types::I8X32,
        };
        let last = self.dwords(0x0f0f_0f0f);
        let [selectors, last] = [selectors, last].map(|v| self.b.bitcast(bytes, v));
        let at = self.b.umin(selectors, last);
        // The index of each lane's first byte within 128 bits; it does not change [`NO_BYTE`].
        let lane = self.dwords_by(|lane| 0x0404_0404 * (lane as u32 & 3));
        let mut picks = |of: fn(u8) -> Option<(usize, u8)>| {
            [Some(0), Some(1), None].map(|source| {
                let index = |n: u8| match of(n) {
                    Some((from, byte)) if source.is_none_or(|source| source == from) => byte,
                    _ => NO_BYTE,
                };
                let byte = self.looked_up(at, index);
                self.b.bor(byte, lane)
            })
        };
        Selectors {
            bytes: picks(byte),
            signs: picks(sign),
            ones: self.looked_up(at, |n| if n > 12 { 0xff } else { 0 }),
        }
    }

    /// Looks up each byte, which is below 16, in a table.
    fn looked_up(&mut self, at: Value, table: impl Fn(u8) -> u8) -> Value {
        let word = |n: usize| {
            let first = 4 * (n as u8 & 3);
            u32::from_le_bytes([0, 1, 2, 3].map(|byte| table(first + byte)))
        };
        let table = self.dwords_by(word);
        self.picked_bytes(table, at)
    }

    fn picked_bytes(&mut self, source: Value, at: Value) -> Value {
        self.b
            .op(VirOp::PickBytes, &[source, at], self.dwords_type())
    }

    /// `v_perm` on a vector, given its decoded selectors.
    pub(crate) fn permuted(&mut self, s0: Value, s1: Value, selectors: &Selectors) -> Value {
        let sources = match s0 == s1 {
            true => vec![(s0, 2)],
            false => vec![(s1, 0), (s0, 1)],
        };
        let mut result = selectors.ones;
        for (source, n) in sources {
            // The sign of the higher of each two bytes.
            let signs = self.b.op(VirOp::ShortSigns, &[source], self.dwords_type());
            let byte = self.picked_bytes(source, selectors.bytes[n]);
            let sign = self.picked_bytes(signs, selectors.signs[n]);
            let both = self.b.bor(byte, sign);
            result = self.b.bor(result, both);
        }
        result
    }
}
