//! Moves elements between memory and slots, for lanes whose addresses were checked: all lanes of the wave, those of a
//! row, or the active ones.

use frontend::op::Data;
use frontend::state::LANES;

use super::super::access::On;
use super::super::contiguous::Contiguous;
use super::super::lanes::dwords_type;
use super::super::{Code, access};
use super::Access;
use crate::host;
use crate::vir::{Block as HostBlock, IntCC, Memory, Value, types};

impl Code<'_> {
    /// Loads or stores a row, all of whose lanes are active; `bytes` is the byte offset of its lanes in a slot.
    pub(super) fn row_access(&mut self, load: bool, a: &Access, storage: &[Value], bytes: i64) {
        match (load, a.stride) {
            (true, 0) => {
                let loaded = self.load_one(a.start, a.data);
                for (&place, word) in storage.iter().zip(loaded) {
                    let four = self.b.splat(types::I32X4, word);
                    for j in 0..self.region.row() / 4 {
                        let at = (bytes + 16 * j) as i32;
                        self.b.store(Memory::Trusted, four, place, at);
                    }
                }
            }
            (false, 0) => {
                // All lanes have one address, and the highest lane's store is the last.
                let at = self
                    .b
                    .iconst(types::I64, bytes + 4 * (self.region.row() - 1));
                self.store_from(storage, at, a.start, a.data);
            }
            _ => {
                let lanes = self.at_once(load, a).min(self.region.row() as usize);
                for first in (0..self.region.row()).step_by(lanes) {
                    let at = self.b.iadd_imm(a.start, first * a.stride);
                    let bytes = self.b.iconst(types::I64, bytes + 4 * first);
                    self.some(lanes, load, a, at, storage, bytes);
                }
            }
        }
    }

    /// Moves four, eight or 16 lanes, of which the first has its element at `at`, between memory and slots.
    fn some(
        &mut self,
        lanes: usize,
        load: bool,
        a: &Access,
        at: Value,
        storage: &[Value],
        bytes: Value,
    ) {
        let slots = self.storage_at(storage, bytes);
        if load {
            let words = self.load_lanes(lanes, (at, 0), a.stride, a.data);
            self.store_storage(&slots, &words);
        } else if lanes >= host::LANES || a.is_contiguous() {
            let words = self.load_storage(dwords_type(lanes), &slots);
            self.store_lanes(lanes, (at, 0), a.stride, a.data, &words);
        } else {
            for k in 0..lanes as i64 {
                let to = self.b.iadd_imm(at, k * a.stride);
                let lane = self.b.iconst(types::I64, 4 * k);
                self.store_from(&slots, lane, to, a.data);
            }
        }
    }

    /// Iterates over the active lanes in ascending order; `body` gets the lane (I64).
    fn each_lane(&mut self, exec: Value, done: HostBlock, body: &mut dyn FnMut(&mut Self, Value)) {
        let head = self.b.create_block();
        let left = self.b.append_block_param(head, types::I64);
        self.b.jump(head, &[exec]);
        self.b.switch_to_block(head);
        let lane = self.b.ctz(left);
        body(self, lane);
        let less = self.b.iadd_imm(left, -1);
        let rest = self.b.band(left, less);
        self.b.brif(rest, head, &[rest], done, &[]);
    }

    /// Iterates over the active lanes in ascending order: four at once if all of an aligned group of four are active,
    /// otherwise one. `body` gets whether it is four, the address of the first and its byte offset in a slot.
    fn each_run(
        &mut self,
        a: &Access,
        done: HostBlock,
        body: &mut dyn FnMut(&mut Self, bool, Value, Value),
    ) {
        let head = self.b.create_block();
        let left = self.b.append_block_param(head, types::I64);
        let (four, one) = (self.b.create_block(), self.b.create_block());
        self.b.jump(head, &[a.exec]);
        self.b.switch_to_block(head);
        let lane = self.b.ctz(left);
        let at = self.lane_address(a, lane);
        let bytes = self.b.ishl_imm(lane, 2);
        let next = self.b.ushr(left, lane);
        let next = self.b.band_imm(next, 15);
        let within = self.b.band_imm(lane, 3);
        let within = self.b.ishl_imm(within, 4);
        let both = self.b.bor(next, within);
        let is_four = self.b.icmp_imm(IntCC::Equal, both, 15);
        self.b.brif(is_four, four, &[], one, &[]);
        for (block, lanes) in [(four, 15), (one, 1)] {
            self.b.switch_to_block(block);
            body(self, lanes == 15, at, bytes);
            let these = self.b.iconst(types::I64, lanes);
            let these = self.b.ishl(these, lane);
            let rest = self.b.bxor(left, these);
            self.b.brif(rest, head, &[rest], done, &[]);
        }
    }

    /// Emits `body`, which ends with a jump, for the case that all lanes are active; leaves the builder in the other
    /// case. Emits nothing in out-of-line code of the baseline tier, where the case of all lanes is handled elsewhere.
    pub(in crate::legalize) fn if_full(&mut self, exec: Value, body: impl FnOnce(&mut Self)) {
        if self.is_out_of_line() && self.region.options().baseline {
            return;
        }
        let full = self.b.create_block();
        let partial = self.b.create_block();
        let ones = self.b.icmp_imm(IntCC::Equal, exec, -1);
        self.b.brif(ones, full, &[], partial, &[]);
        self.b.switch_to_block(full);
        body(self);
        self.b.switch_to_block(partial);
    }

    /// The address of a lane.
    fn lane_address(&mut self, a: &Access, lane: Value) -> Value {
        let first = self.number(a.first);
        let away = self.b.isub(lane, first);
        let bytes = self.b.imul_imm(away, a.stride);
        self.b.iadd(a.start, bytes)
    }

    pub(super) fn fast_load(&mut self, a: &Access, storage: &[Value], done: HostBlock) {
        if a.stride == 0 {
            let words = self.load_one(a.start, a.data);
            self.if_full(a.exec, |e| {
                for (&place, &word) in storage.iter().zip(&words) {
                    let four = e.b.splat(types::I32X4, word);
                    for i in 0..16 {
                        e.b.store(Memory::Trusted, four, place, 16 * i);
                    }
                }
                e.b.jump(done, &[]);
            });
            self.each_lane(a.exec, done, &mut |e, lane| {
                let bytes = e.b.ishl_imm(lane, 2);
                e.words_to(storage, bytes, &words);
            });
            return;
        }
        self.vectors_or_groups(true, a, storage, done);
    }

    pub(super) fn fast_store(&mut self, a: &Access, storage: &[Value], done: HostBlock) {
        if a.stride == 0 {
            // All lanes have one address, and the highest lane's store is the last.
            let last = self.number(a.last);
            let bytes = self.b.ishl_imm(last, 2);
            self.store_from(storage, bytes, a.start, a.data);
            self.b.jump(done, &[]);
            return;
        }
        self.vectors_or_groups(false, a, storage, done);
    }

    /// Loads or stores lanes with distinct addresses.
    fn vectors_or_groups(&mut self, load: bool, a: &Access, storage: &[Value], done: HostBlock) {
        if !a.full_apart {
            self.if_full(a.exec, |e| e.vectors(load, a, storage, done));
        }
        if self.region.options().baseline {
            self.each_lane(a.exec, done, &mut |e, lane| {
                let at = e.lane_address(a, lane);
                let bytes = e.b.ishl_imm(lane, 2);
                match load {
                    true => e.load_to(storage, bytes, at, a.data),
                    false => e.store_from(storage, bytes, at, a.data),
                }
            });
            return;
        }
        if self.is_masked_access(a.data, a.stride) {
            self.by_masks(load, a, storage, done);
            return;
        }
        let pairwise = self.per() > host::LANES && access::is_pairwise(a.data, a.stride);
        if pairwise && !load && a.lds.is_some() {
            self.masked_windows(a, storage, done);
            return;
        }
        if let Some(len) = a.lds
            && (pairwise || !load && a.is_contiguous())
        {
            self.masked_lds_access(load, a, len, storage, done);
        }
        self.each_run(a, done, &mut |e, four, at, bytes| match (four, load) {
            (true, _) => e.some(4, load, a, at, storage, bytes),
            (false, true) => e.load_to(storage, bytes, at, a.data),
            (false, false) => e.store_from(storage, bytes, at, a.data),
        });
    }

    /// Moves the active lanes of a contiguous access, one host vector at a time under a mask; the elements of inactive
    /// lanes are neither read nor written.
    fn by_masks(&mut self, load: bool, a: &Access, storage: &[Value], done: HostBlock) {
        let start = self.lane_0_address(a);
        for first in (0..LANES).step_by(self.per()) {
            let bytes = self.b.iconst(types::I64, 4 * first as i64);
            let place = self.storage_at(storage, bytes)[0];
            let at = self.b.iadd_imm(start, first as i64 * a.stride);
            self.masked_access(load, (a.exec, first), at, place);
        }
        self.b.jump(done, &[]);
    }

    /// Stores every other dword of a range, those of the active lanes.
    fn masked_windows(&mut self, a: &Access, storage: &[Value], done: HostBlock) {
        let start = self.lane_0_address(a);
        let halves = [0, 1].map(|half| self.word_of(a.exec, half));
        for first in (0..LANES).step_by(self.per()) {
            let bytes = self.b.iconst(types::I64, 4 * first as i64);
            let place = self.storage_at(storage, bytes);
            let words = self.load_storage(types::I32X16, &place)[0];
            let on = On {
                word: halves[first / 32],
                first: first as u32 % 32,
            };
            let window = access::pairwise(first as i64 * a.stride);
            self.store_window(start, &window, words, Some(on));
        }
        self.b.jump(done, &[]);
    }

    /// The address that lane 0 would have.
    fn lane_0_address(&mut self, a: &Access) -> Value {
        let first = self.number(a.first);
        let before = self.b.imul_imm(first, a.stride);
        self.b.isub(a.start, before)
    }

    /// Moves the active lanes of an affine access of LDS, if the elements of all lanes are in bounds: a store then
    /// loads and stores all of them. Leaves the builder where they are not.
    fn masked_lds_access(
        &mut self,
        load: bool,
        a: &Access,
        len: Value,
        storage: &[Value],
        done: HostBlock,
    ) {
        let lds = self.lds_start();
        let start = self.lane_0_address(a);
        let low = self.b.isub(start, lds);
        let high = self.b.iadd_imm(low, LANES as i64 * a.stride);
        let order = IntCC::UnsignedLessThanOrEqual;
        let below = self.b.icmp(order, low, len);
        let above = self.b.icmp(order, high, len);
        let inside = self.b.band(below, above);
        let (all, some) = (self.b.create_block(), self.b.create_block());
        self.b.brif(inside, all, &[], some, &[]);
        self.b.switch_to_block(all);
        let runs = Contiguous {
            load,
            data: a.data,
            stride: a.stride,
            storage,
            exec: a.exec,
        };
        self.access_in_groups(&runs, start, done);
        self.b.switch_to_block(some);
    }

    /// Loads a lane's words and stores them `bytes` into their slots.
    fn load_to(&mut self, storage: &[Value], bytes: Value, from: Value, data: Data) {
        let words = self.load_one(from, data);
        self.words_to(storage, bytes, &words);
    }

    fn words_to(&mut self, storage: &[Value], bytes: Value, words: &[Value]) {
        let slots = self.storage_at(storage, bytes);
        self.store_storage(&slots, words);
    }

    /// Stores a lane's words, which are `bytes` into their slots, to memory.
    fn store_from(&mut self, storage: &[Value], bytes: Value, to: Value, data: Data) {
        let slots = self.storage_at(storage, bytes);
        let words = self.load_storage(types::I32, &slots);
        self.store_one(to, data, &words);
    }

    /// The number of lanes of an access that move at once.
    fn at_once(&self, load: bool, a: &Access) -> usize {
        // Bytes between elements may be loaded. In LDS, which only the running wave writes, they may also be stored
        // back unchanged.
        self.lanes_at_once(load, a.data, a.stride, load || a.lds.is_some())
    }

    /// Moves all lanes of the wave between memory and slots, one host vector or more at a time.
    pub(super) fn vectors(&mut self, load: bool, a: &Access, storage: &[Value], done: HostBlock) {
        let lanes = self.at_once(load, a);
        if a.lds.is_some() && lanes > host::LANES && storage.len() == 1 {
            // Shorter than a loop.
            for first in (0..LANES as i64).step_by(lanes) {
                let at = self.plus(a.start, first * a.stride);
                let bytes = self.b.iconst(types::I64, 4 * first);
                self.some(lanes, load, a, at, storage, bytes);
            }
            self.b.jump(done, &[]);
            return;
        }
        let (head, mut at) = self.begin_offsets();
        // The optimizing tier unrolls twice, since the loop's own instructions take time.
        let steps = if self.region.options().baseline { 1 } else { 2 };
        for step in 0..steps {
            if step > 0 {
                at = self.b.iadd_imm(at, 4 * lanes as i64);
            }
            // A multiplication by 1 is kept, too: without it gathers of dwords take 15 % more time, for reasons not found.
            let guest_bytes = match a.stride % 4 {
                0 => self.b.imul_imm(at, a.stride / 4),
                _ => {
                    let lane = self.b.ushr_imm(at, 2);
                    self.b.imul_imm(lane, a.stride)
                }
            };
            let guest = self.b.iadd(a.start, guest_bytes);
            self.some(lanes, load, a, guest, storage, at);
        }
        self.end_offsets((head, at), 4 * lanes, done);
    }
}
