//! Accesses of scratch at offsets that differ by lane, in loops over the host vectors of a wave: for hosts with gathers,
//! but without mask registers, whose waves have eight vectors. Two loops: the first checks all lanes, the second moves the
//! elements of the active ones.

use frontend::op::Data;
use frontend::state::LANES;

use super::part;
use crate::ir::Width;
use crate::legalize::lanes::dwords_type;
use crate::legalize::{Code, frame_offset};
use crate::vir::{Block as HostBlock, IntCC, Memory, Op as VirOp, Value, types};

/// A host vector of lanes.
#[derive(Clone, Copy)]
pub(super) struct LaneVector {
    /// Bytes from the first lane's word of a register or slot to this vector's (I64).
    offset: Value,
    /// The mask of the active lanes.
    on: Value,
}

/// Elements that are moved between memory and slots.
#[derive(Clone, Copy)]
pub(super) struct Elements<'a> {
    pub(super) load: bool,
    pub(super) data: Data,
    /// Mask of the active lanes (I64).
    pub(super) exec: Value,
    /// The slots, one for each word.
    pub(super) storage: &'a [Value],
    /// The address of each word for an index of 0.
    pub(super) starts: &'a [Value],
}

impl Code<'_> {
    /// A vector's words in a slot.
    pub(super) fn words_in(&mut self, slot: Value, vector: LaneVector) -> Value {
        let ty = dwords_type(self.per());
        let at = self.b.iadd(slot, vector.offset);
        self.b.load(ty, Memory::Trusted, at, 0)
    }

    /// The number of each lane times 4.
    pub(super) fn lane_bytes(&mut self, vector: LaneVector) -> Value {
        let per = self.per();
        let first = self.b.ireduce(types::I32, vector.offset);
        let first = self.b.splat(dwords_type(per), first);
        let steps = self.of_lanes(1, per).dwords_by(|n| 4 * n as u32);
        self.b.iadd(first, steps)
    }

    /// Emits a loop over the vectors of a wave.
    fn each_vector(&mut self, exec: Value, body: impl FnOnce(&mut Self, LaneVector)) {
        let per = self.per();
        let after = self.b.create_block();
        let (head, offset) = self.begin_offsets();
        let lane = self.b.ushr_imm(offset, 2);
        let bits = self.b.ushr(exec, lane);
        let on = self.of_lanes(1, per).expand_mask(bits)[0];
        body(self, LaneVector { offset, on });
        self.end_offsets((head, offset), 4 * per, after);
        self.b.switch_to_block(after);
    }

    /// Branches to `slow` unless so many lanes are active that gathers, which take the same time for any lanes, are
    /// faster than the runtime, which moves the active ones only, and `good` holds for all of them.
    pub(super) fn require_each(
        &mut self,
        exec: Value,
        slow: HostBlock,
        good: impl FnOnce(&mut Self, LaneVector) -> Value,
    ) {
        let active = self.b.popcnt(exec);
        let few = (LANES / self.per()) as i64;
        let many = self.b.icmp_imm(IntCC::UnsignedGreaterThan, active, few);
        self.require(slow, many);
        let bad = self.variable(types::I32);
        let none = self.b.iconst(types::I32, 0);
        self.b.def_var(bad, none);
        self.each_vector(exec, |e, vector| {
            let good = good(e, vector);
            let other = e.b.bnot(good);
            let here = e.b.band(vector.on, other);
            let here = e.b.vhigh_bits(types::I32, here);
            let before = e.b.use_var(bad);
            let all = e.b.bor(before, here);
            e.b.def_var(bad, all);
        });
        let bad = self.b.use_var(bad);
        let good = self.b.icmp_imm(IntCC::Equal, bad, 0);
        self.require(slow, good);
    }

    /// Moves the elements of the active lanes. `index` computes the offsets (signed, of dwords) of a vector's elements and,
    /// for bytes and shorts, their places in the dwords in bytes.
    pub(super) fn move_each(
        &mut self,
        a: Elements<'_>,
        index: impl FnOnce(&mut Self, LaneVector) -> (Value, Option<Value>),
    ) {
        let per = self.per();
        let ty = dwords_type(per);
        self.each_vector(a.exec, |e, vector| {
            let (index, place) = index(e, vector);
            let shift = place.map(|place| {
                let bits = e.b.iconst(types::I32, 3);
                e.b.ishl(place, bits)
            });
            for (&slot, &start) in a.storage.iter().zip(a.starts) {
                let outside = e.words_in(slot, vector);
                let gather = |e: &mut Self| {
                    let args = [outside, vector.on, start, index];
                    e.b.op(VirOp::Gather, &args, ty)
                };
                if !a.load {
                    let word = match shift {
                        None => outside,
                        Some(shift) => {
                            let held = gather(e);
                            e.with_part(held, outside, a.data, shift)
                        }
                    };
                    e.scatter(word, vector.on, start, index);
                    continue;
                }
                let held = gather(e);
                let word = match shift {
                    None => held,
                    Some(shift) => {
                        let new = e.loaded_part(held, a.data, shift);
                        let mut lanes = e.of_lanes(1, per);
                        lanes.select(Width::W32, &[vector.on], &[new], &[outside])[0]
                    }
                };
                let at = e.b.iadd(slot, vector.offset);
                e.b.store(Memory::Trusted, word, at, 0);
            }
        });
    }

    /// Splits the addresses of bytes and shorts in those of their dwords and the places in these in bytes; dwords have no
    /// places.
    pub(super) fn dwords_and_places(&mut self, data: Data, words: Value) -> (Value, Option<Value>) {
        if part(data).is_none() {
            return (words, None);
        }
        let per = self.per();
        let three = self.of_lanes(1, per).dwords_by(|_| 3);
        let place = self.b.band(words, three);
        (self.b.bxor(words, place), Some(place))
    }

    /// Stores the words of the lanes in the mask `on` at `base` plus the signed offsets `index`,
    /// lower lanes first. Without an instruction for it, words and offsets pass through the frame,
    /// and inactive lanes are stored there.
    pub(in crate::legalize) fn scatter(
        &mut self,
        words: Value,
        on: Value,
        base: Value,
        index: Value,
    ) {
        if self.has_masks() {
            self.b.effect(VirOp::Scatter, &[words, on, base, index]);
            return;
        }
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
            let to = self.b.iadd(base, offset);
            let bit = self.b.band_imm(bits, 1 << lane);
            let active = self.b.icmp_imm(IntCC::NotEqual, bit, 0);
            let to = self.b.select(active, to, unused);
            let word = self.b.load(types::I32, Memory::Trusted, slot, bytes + at);
            self.b.store(Memory::Guest, word, to, 0);
        }
    }
}
