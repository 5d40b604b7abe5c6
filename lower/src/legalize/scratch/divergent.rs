//! Accesses of scratch at offsets that differ by lane: checks, gathers and scatters of host vectors. AVX-512 unrolls the
//! vectors of a wave; AVX2, whose waves have eight, has loops over them, and no scatter.

use frontend::op::Data;
use frontend::state::LANES;

use super::{DWORD_STRIDE, Window, alignment, part};
use crate::ir::Width;
use crate::legalize::lanes::dwords_type;
use crate::legalize::{Code, access, frame_offset};
use crate::vir::{Block as HostBlock, IntCC, Memory, Op as VirOp, Value, types};

/// What an access moves for each lane, and where it may.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct Elements {
    pub(in crate::legalize) data: Data,
    pub(in crate::legalize) window: Window,
    /// Smaller offsets are not valid.
    pub(in crate::legalize) least: u32,
}

/// Where elements of a host vector of lanes are, as a gather or scatter has it.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct Index {
    /// Bytes (signed) from the base to the dword, in scratch from the first word of lane 0.
    pub(in crate::legalize) bytes: Value,
    /// Bit offsets of bytes and shorts in their dwords.
    shift: Option<Value>,
}

/// A host vector of a wave's lanes.
#[derive(Clone, Copy)]
pub(super) struct LaneVector {
    place: Place,
    /// The mask of the active lanes.
    pub(super) on: Value,
}

/// Bytes from the word of lane 0 of a slot to the vector's first word.
#[derive(Clone, Copy)]
enum Place {
    Fixed(i32),
    /// Those of an iteration (I64).
    Moving(Value),
}

impl Code<'_> {
    /// A vector's words in a slot.
    pub(super) fn words_in(&mut self, slot: Value, vector: LaneVector) -> Value {
        let ty = dwords_type(self.per());
        let (base, at) = self.place_in(slot, vector);
        self.b.load(ty, Memory::Trusted, base, at)
    }

    /// Stores a vector's words in a slot.
    pub(super) fn store_words(&mut self, slot: Value, vector: LaneVector, words: Value) {
        let (base, at) = self.place_in(slot, vector);
        self.b.store(Memory::Trusted, words, base, at);
    }

    fn place_in(&mut self, slot: Value, vector: LaneVector) -> (Value, i32) {
        match vector.place {
            Place::Fixed(at) => (slot, at),
            Place::Moving(offset) => (self.b.iadd(slot, offset), 0),
        }
    }

    /// The number of each lane times 4.
    pub(super) fn lane_bytes(&mut self, vector: LaneVector) -> Value {
        let per = self.per();
        let from = |first: u32| move |n: usize| first + 4 * n as u32;
        match vector.place {
            Place::Fixed(at) => self.of_lanes(1, per).dwords_by(from(at as u32)),
            Place::Moving(offset) => {
                let first = self.b.ireduce(types::I32, offset);
                let first = self.b.splat(dwords_type(per), first);
                let steps = self.of_lanes(1, per).dwords_by(from(0));
                self.b.iadd(first, steps)
            }
        }
    }

    /// Emits code for each vector of a wave, or a loop over them.
    pub(super) fn each_vector(&mut self, exec: Value, mut body: impl FnMut(&mut Self, LaneVector)) {
        let per = self.per();
        if self.has_masks() {
            for lane in (0..LANES).step_by(per) {
                let on = self.on_from(exec, lane, per);
                let place = Place::Fixed(4 * lane as i32);
                body(self, LaneVector { place, on });
            }
            return;
        }
        let after = self.b.create_block();
        let (head, offset) = self.begin_offsets();
        let lane = self.b.ushr_imm(offset, 2);
        let bits = self.b.ushr(exec, lane);
        let on = self.of_lanes(1, per).expand_mask(bits)[0];
        let place = Place::Moving(offset);
        body(self, LaneVector { place, on });
        self.end_offsets((head, offset), 4 * per, after);
        self.b.switch_to_block(after);
    }

    /// Branches to `slow` unless `good` holds for the words of all active lanes in a slot. Without mask registers also if
    /// few lanes are active: gathers take the same time for any lanes, the runtime moves the active ones only.
    pub(super) fn require_each(
        &mut self,
        exec: Value,
        slot: Value,
        slow: HostBlock,
        good: impl Fn(&mut Self, Value) -> Value,
    ) {
        if self.has_masks() {
            let good = self.scratch_lanes(exec, slot, good);
            self.require(slow, good);
            return;
        }
        let active = self.b.popcnt(exec);
        let few = (LANES / self.per()) as i64;
        let many = self.b.icmp_imm(IntCC::UnsignedGreaterThan, active, few);
        self.require(slow, many);
        let bad = self.variable(types::I32);
        let none = self.b.iconst(types::I32, 0);
        self.b.def_var(bad, none);
        self.each_vector(exec, |e, vector| {
            let words = e.words_in(slot, vector);
            let good = good(e, words);
            let here = e.with_bad(None, vector.on, good);
            let here = e.b.vhigh_bits(types::I32, here);
            let before = e.b.use_var(bad);
            let all = e.b.bor(before, here);
            e.b.def_var(bad, all);
        });
        let bad = self.b.use_var(bad);
        let good = self.b.icmp_imm(IntCC::Equal, bad, 0);
        self.require(slow, good);
    }

    /// The greatest valid offset, in each lane of a vector; branches to `slow` if there is none.
    pub(in crate::legalize) fn last_offset(&mut self, a: Elements, slow: HostBlock) -> Value {
        let last = self.b.ushr_imm(a.window.room, 6);
        let last = self.b.iadd_imm(last, -i64::from(access::bytes(a.data)));
        let any = self.b.icmp_imm(IntCC::SignedGreaterThanOrEqual, last, 0);
        self.require(slow, any);
        let last = self.b.ireduce(types::I32, last);
        let ty = dwords_type(self.per());
        self.b.splat(ty, last)
    }

    /// Is an offset valid: at least the least one, at most the last one, and aligned?
    pub(in crate::legalize) fn is_valid_offset(
        &mut self,
        a: Elements,
        words: Value,
        last: Value,
    ) -> Value {
        let per = self.per();
        let order = IntCC::UnsignedLessThanOrEqual;
        let mut good = self.b.icmp(order, words, last);
        if a.least != 0 {
            let least = self.of_lanes(1, per).dwords_by(|_| a.least);
            let above = self.b.icmp(order, least, words);
            good = self.b.band(good, above);
        }
        let mask = alignment(a.data);
        if mask != 0 {
            let [bits, zero] = [mask, 0].map(|w| self.of_lanes(1, per).dwords_by(|_| w));
            let rest = self.b.band(words, bits);
            let aligned = self.b.icmp(IntCC::Equal, rest, zero);
            good = self.b.band(good, aligned);
        }
        good
    }

    /// Where each word of an element at offset 0 of the first lane is.
    pub(in crate::legalize) fn word_starts(&mut self, data: Data, start: Value) -> Vec<Value> {
        let words = 0..access::words(data) as i64;
        words
            .map(|i| self.b.iadd_imm(start, DWORD_STRIDE * i))
            .collect()
    }

    /// Where the elements at these offsets are. The dwords of the 64 lanes are interleaved: an offset of 4 is 256 bytes.
    /// `lanes`: 4 times the number of each lane.
    pub(in crate::legalize) fn scratch_index(
        &mut self,
        data: Data,
        offsets: Value,
        lanes: Value,
    ) -> Index {
        let mut index = self.in_dwords(data, offsets);
        let six = self.b.iconst(types::I32, 6);
        let bytes = self.b.ishl(index.bytes, six);
        index.bytes = self.b.iadd(bytes, lanes);
        index
    }

    /// The dwords that elements at these bytes are in, or begin in.
    pub(in crate::legalize) fn in_dwords(&mut self, data: Data, bytes: Value) -> Index {
        if part(data).is_none() {
            return Index { bytes, shift: None };
        }
        let per = self.per();
        let three = self.of_lanes(1, per).dwords_by(|_| 3);
        let byte = self.b.band(bytes, three);
        let bytes = self.b.bxor(bytes, byte);
        let three = self.b.iconst(types::I32, 3);
        let shift = Some(self.b.ishl(byte, three));
        Index { bytes, shift }
    }

    /// Loads one word of the elements of the lanes in the mask `on`. The others have `old`, or any value.
    pub(in crate::legalize) fn gathered(
        &mut self,
        data: Data,
        on: Value,
        old: Option<Value>,
        start: Value,
        index: Index,
    ) -> Value {
        let per = self.per();
        let none = match (old, index.shift) {
            (Some(old), None) => old,
            _ => self.of_lanes(1, per).dwords_by(|_| 0),
        };
        let args = [none, on, start, index.bytes];
        let held = self.b.op(VirOp::Gather, &args, dwords_type(per));
        let Some(shift) = index.shift else {
            return held;
        };
        let new = self.loaded_part(held, data, shift);
        match old {
            Some(old) => self
                .of_lanes(1, per)
                .select(Width::W32, &[on], &[new], &[old])[0],
            None => new,
        }
    }

    /// Stores one word of the elements of the lanes in the mask `on`.
    pub(in crate::legalize) fn scattered(
        &mut self,
        data: Data,
        on: Value,
        word: Value,
        start: Value,
        index: Index,
    ) {
        let word = match index.shift {
            None => word,
            Some(shift) => {
                let per = self.per();
                let none = self.of_lanes(1, per).dwords_by(|_| 0);
                let args = [none, on, start, index.bytes];
                let held = self.b.op(VirOp::Gather, &args, dwords_type(per));
                self.with_part(held, word, data, shift)
            }
        };
        if self.has_masks() {
            self.b
                .effect(VirOp::Scatter, &[word, on, start, index.bytes]);
        } else {
            self.scatter_by_lane(word, on, start, index.bytes);
        }
    }

    /// A scatter for hosts without the instruction, lower lanes first. Words and offsets pass through the frame, and
    /// inactive lanes are stored there.
    fn scatter_by_lane(&mut self, words: Value, on: Value, start: Value, index: Value) {
        let per = self.per();
        let slot = i64::from(frame_offset(self.scatter_slot()));
        let slot = self.b.iadd_imm(self.region.frame(), slot);
        let bytes = 4 * per as i32;
        self.b.store(Memory::Trusted, index, slot, 0);
        self.b.store(Memory::Trusted, words, slot, bytes);
        let unused = self.b.iadd_imm(slot, 2 * i64::from(bytes));
        let bits = self.b.vhigh_bits(types::I32, on);
        for lane in 0..per {
            let at = 4 * lane as i32;
            let offset = self.b.load(types::I32, Memory::Trusted, slot, at);
            let offset = self.b.sextend(types::I64, offset);
            let to = self.b.iadd(start, offset);
            let bit = self.b.band_imm(bits, 1 << lane);
            let active = self.b.icmp_imm(IntCC::NotEqual, bit, 0);
            let to = self.b.select(active, to, unused);
            let word = self.b.load(types::I32, Memory::Trusted, slot, bytes + at);
            self.b.store(Memory::Guest, word, to, 0);
        }
    }
}
