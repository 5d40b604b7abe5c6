//! Elements of 16 lanes at a time, for AVX-512. A vector has four parts of 128 bits, and whatever works within 128
//! bits works on lanes 0 to 3, 4 to 7, 8 to 11 and 12 to 15 side by side, so these are brought there first.

use cranelift_codegen::ir::{InstBuilder, Value, types};
use frontend::op::Data;

use super::{bytes, guest, is_run};
use crate::clif::Emitter;
use crate::clif::lanes::{EVEN, ODD, UNPACK_HIGH, UNPACK_LOW};
use crate::wide::Intrinsic;

/// Lanes of a vector.
pub(super) const LANES: usize = 16;

/// Are elements that are `stride` apart moved 16 lanes at a time? Not quads: four loads of 64 bytes and what sorts
/// their words take longer than pieces of 16 bytes (`scan-16m` 30 ms instead of 22, which waited for the loads).
pub(super) fn suits_sixteen(data: Data, stride: i64) -> bool {
    is_run(data, stride) && data != Data::Dwords(4)
}

impl Emitter<'_> {
    fn in_sixteen(&mut self, f: Intrinsic, args: &[Value]) -> Value {
        self.of_lanes(1, LANES).intrinsic(f, args, types::I32X16)
    }

    fn shuffled_sixteen(&mut self, a: Value, b: Value, pattern: [u8; 16]) -> Value {
        self.of_lanes(1, LANES)
            .shuffle(types::I32X16, a, b, pattern)
    }

    /// The words of 16 lanes whose elements follow one another, the first `away` from `start`.
    pub(super) fn load_sixteen(&mut self, start: Value, away: i64, data: Data) -> Vec<Value> {
        let (start, offset) = self.near(start, away);
        let (ty, widen) = match data {
            Data::Dwords(words) => {
                let m: Vec<Value> = (0..i32::from(words))
                    .map(|n| self.load_vector(types::I32X16, start, offset + 64 * n))
                    .collect();
                return self.split_sixteen(&m);
            }
            Data::U8 => (types::I32X4, Intrinsic::WidenBytesU),
            Data::I8 => (types::I32X4, Intrinsic::WidenBytesS),
            Data::U16 => (types::I32X8, Intrinsic::WidenShortsU),
            Data::I16 => (types::I32X8, Intrinsic::WidenShortsS),
            _ => unreachable!("bug: {data:?} is no run of 16"),
        };
        let parts = self.load_vector(ty, start, offset);
        vec![self.in_sixteen(widen, &[parts])]
    }

    /// Stores 16 lanes' elements one after the other, the first `away` from `start`; `lanes` is a vector for each
    /// word.
    pub(super) fn store_sixteen(&mut self, start: Value, away: i64, data: Data, lanes: &[Value]) {
        let (start, offset) = self.near(start, away);
        let stored = match data {
            Data::Dwords(_) => self.join_sixteen(lanes),
            _ => {
                let (narrow, ty) = match bytes(data) {
                    1 => (Intrinsic::NarrowBytes, types::I32X4),
                    _ => (Intrinsic::NarrowShorts, types::I32X8),
                };
                vec![self.of_lanes(1, LANES).intrinsic(narrow, lanes, ty)]
            }
        };
        for (n, value) in stored.into_iter().enumerate() {
            let at = offset + 64 * n as i32;
            self.b.ins().store(guest(), value, start, at);
        }
    }

    /// 16 lanes' structures of one or two dwords as they lie in memory, to one vector a dword.
    fn split_sixteen(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => {
                let even = self.in_sixteen(Intrinsic::EvenParts, &[a, b]);
                let odd = self.in_sixteen(Intrinsic::OddParts, &[a, b]);
                [EVEN, ODD]
                    .map(|pattern| self.shuffled_sixteen(even, odd, pattern))
                    .to_vec()
            }
            _ => unreachable!("bug: {} words are no run of 16", m.len()),
        }
    }

    /// The reverse.
    fn join_sixteen(&mut self, words: &[Value]) -> Vec<Value> {
        match *words {
            [a] => vec![a],
            [a, b] => {
                let [even, odd] =
                    [UNPACK_LOW, UNPACK_HIGH].map(|pattern| self.shuffled_sixteen(a, b, pattern));
                [Intrinsic::LowHalves, Intrinsic::HighHalves]
                    .map(|halves| {
                        let both = self.in_sixteen(halves, &[even, odd]);
                        self.in_sixteen(Intrinsic::MixParts, &[both])
                    })
                    .to_vec()
            }
            _ => unreachable!("bug: {} words are no run of 16", words.len()),
        }
    }
}
