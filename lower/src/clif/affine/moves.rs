//! Elements between memory and slots, for lanes whose addresses were checked: all lanes of the wave, those of a
//! row, or those that act.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use frontend::op::Data;
use frontend::state::LANES;

use super::super::runs::Runs;
use super::super::{Emitter, access, trusted};
use super::Access;
use crate::wide;

impl Emitter<'_> {
    /// Loads or stores a row, all of whose lanes act; `bytes` is where its lanes are in a slot.
    pub(super) fn row_access(&mut self, load: bool, a: &Access, places: &[Value], bytes: i64) {
        match (load, a.stride) {
            (true, 0) => {
                let loaded = self.load_one(a.start, a.data);
                for (&place, word) in places.iter().zip(loaded) {
                    let four = self.b.ins().splat(types::I32X4, word);
                    for j in 0..self.row / 4 {
                        let at = (bytes + 16 * j) as i32;
                        self.b.ins().store(trusted(), four, place, at);
                    }
                }
            }
            (false, 0) => {
                // The highest lane wins.
                let at = self.b.ins().iconst(types::I64, bytes + 4 * (self.row - 1));
                self.store_from(places, at, a.start, a.data);
            }
            _ => {
                let lanes = self.lanes_at_once(a).min(self.row);
                for j in 0..self.row / lanes {
                    let at = self.b.ins().iadd_imm_s(a.start, lanes * j * a.stride);
                    let bytes = self.b.ins().iconst(types::I64, bytes + 4 * lanes * j);
                    match lanes {
                        8 => self.eight(load, a, at, places, bytes),
                        _ => self.four(load, a, at, places, bytes),
                    }
                }
            }
        }
    }

    /// How many lanes that all act are moved at once.
    fn lanes_at_once(&self, a: &Access) -> i64 {
        match self.per() == wide::LANES && access::suits_eight(a.data, a.stride) {
            true => 8,
            false => 4,
        }
    }

    /// Moves eight lanes of which the first is at `at`, between memory and places.
    fn eight(&mut self, load: bool, a: &Access, at: Value, places: &[Value], bytes: Value) {
        let slots: Vec<Value> = places
            .iter()
            .map(|&place| self.b.ins().iadd(place, bytes))
            .collect();
        if load {
            let lanes = self.load_eight(at, 0, a.stride, a.data);
            for (&slot, value) in slots.iter().zip(lanes) {
                self.b.ins().store(trusted(), value, slot, 0);
            }
        } else {
            let lanes: Vec<Value> = slots
                .iter()
                .map(|&slot| self.b.ins().load(types::I32X8, trusted(), slot, 0))
                .collect();
            self.store_eight(at, 0, a.stride, a.data, &lanes);
        }
    }

    /// Moves four lanes of which the first is at `at`, between memory and places.
    fn four(&mut self, load: bool, a: &Access, at: Value, places: &[Value], bytes: Value) {
        let slots: Vec<Value> = places
            .iter()
            .map(|&place| self.b.ins().iadd(place, bytes))
            .collect();
        if load {
            let lanes = if a.is_run() {
                self.load_run(at, 0, a.data)
            } else {
                let each = [0, 1, 2, 3].map(|k| self.b.ins().iadd_imm_s(at, k * a.stride));
                self.load_four(each, a.data)
            };
            for (&slot, value) in slots.iter().zip(lanes) {
                self.b.ins().store(trusted(), value, slot, 0);
            }
        } else if a.is_run() {
            let lanes: Vec<Value> = slots
                .iter()
                .map(|&slot| self.b.ins().load(types::I32X4, trusted(), slot, 0))
                .collect();
            self.store_run(at, 0, a.data, &lanes);
        } else {
            for k in 0..4 {
                let to = self.b.ins().iadd_imm_s(at, k * a.stride);
                let lane = self.b.ins().iconst(types::I64, 4 * k);
                self.store_from(&slots, lane, to, a.data);
            }
        }
    }

    /// Goes over the lanes that act, lowest first; `body` gets the lane (I64).
    fn each_lane(
        &mut self,
        exec: Value,
        done: cranelift_codegen::ir::Block,
        body: &mut dyn FnMut(&mut Self, Value),
    ) {
        let head = self.b.create_block();
        let left = self.b.append_block_param(head, types::I64);
        self.b.ins().jump(head, &[BlockArg::Value(exec)]);
        self.b.switch_to_block(head);
        let lane = self.b.ins().ctz(left);
        body(self, lane);
        let less = self.b.ins().iadd_imm_s(left, -1);
        let rest = self.b.ins().band(left, less);
        self.b
            .ins()
            .brif(rest, head, &[BlockArg::Value(rest)], done, &[]);
    }

    /// Goes over the lanes that act, lowest first: four at once where four that a vector of a slot has all act,
    /// else one. `body` gets whether it is four, the address of the first and its byte offset in a slot.
    fn each_run(
        &mut self,
        a: &Access,
        done: cranelift_codegen::ir::Block,
        body: &mut dyn FnMut(&mut Self, bool, Value, Value),
    ) {
        let head = self.b.create_block();
        let left = self.b.append_block_param(head, types::I64);
        let (four, one) = (self.b.create_block(), self.b.create_block());
        self.b.ins().jump(head, &[BlockArg::Value(a.exec)]);
        self.b.switch_to_block(head);
        let lane = self.b.ins().ctz(left);
        let at = self.lane_address(a, lane);
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        let next = self.b.ins().ushr(left, lane);
        let next = self.b.ins().band_imm_u(next, 15);
        let within = self.b.ins().band_imm_u(lane, 3);
        let within = self.b.ins().ishl_imm_u(within, 4);
        let both = self.b.ins().bor(next, within);
        let is_four = self.b.ins().icmp_imm_u(IntCC::Equal, both, 15);
        self.b.ins().brif(is_four, four, &[], one, &[]);
        for (block, lanes) in [(four, 15), (one, 1)] {
            self.b.switch_to_block(block);
            body(self, lanes == 15, at, bytes);
            let these = self.b.ins().iconst(types::I64, lanes);
            let these = self.b.ins().ishl(these, lane);
            let rest = self.b.ins().bxor(left, these);
            self.b
                .ins()
                .brif(rest, head, &[BlockArg::Value(rest)], done, &[]);
        }
    }

    /// Splits into the case that all lanes act and the other; leaves the builder in the first.
    fn when_full(&mut self, exec: Value) -> cranelift_codegen::ir::Block {
        let full = self.b.create_block();
        let partial = self.b.create_block();
        let ones = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
        self.b.ins().brif(ones, full, &[], partial, &[]);
        self.b.switch_to_block(full);
        partial
    }

    /// Address of lane `lane`.
    fn lane_address(&mut self, a: &Access, lane: Value) -> Value {
        let away = self.b.ins().isub(lane, a.first);
        let bytes = self.b.ins().imul_imm_s(away, a.stride);
        self.b.ins().iadd(a.start, bytes)
    }

    pub(super) fn fast_load(
        &mut self,
        a: &Access,
        places: &[Value],
        done: cranelift_codegen::ir::Block,
    ) {
        if a.stride == 0 {
            let words = self.load_one(a.start, a.data);
            let partial = self.when_full(a.exec);
            for (w, &word) in words.iter().enumerate() {
                let four = self.b.ins().splat(types::I32X4, word);
                for i in 0..16 {
                    self.b.ins().store(trusted(), four, places[w], 16 * i);
                }
            }
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(partial);
            self.each_lane(a.exec, done, &mut |e, lane| {
                let bytes = e.b.ins().ishl_imm_u(lane, 2);
                e.words_to(places, bytes, &words);
            });
            return;
        }
        self.lanes_in_turn(true, a, places, done);
    }

    pub(super) fn fast_store(
        &mut self,
        a: &Access,
        places: &[Value],
        done: cranelift_codegen::ir::Block,
    ) {
        if a.stride == 0 {
            // The highest lane wins.
            let bytes = self.b.ins().ishl_imm_u(a.last, 2);
            self.store_from(places, bytes, a.start, a.data);
            self.b.ins().jump(done, &[]);
            return;
        }
        self.lanes_in_turn(false, a, places, done);
    }

    /// Loads or stores lanes that have addresses of their own.
    fn lanes_in_turn(
        &mut self,
        load: bool,
        a: &Access,
        places: &[Value],
        done: cranelift_codegen::ir::Block,
    ) {
        let partial = self.when_full(a.exec);
        self.vectors(load, a, places, done);
        self.b.switch_to_block(partial);
        if let Some(len) = a.lds
            && !load
            && a.is_run()
        {
            self.part_of_run(a, len, places, done);
        }
        self.each_run(a, done, &mut |e, four, at, bytes| match (four, load) {
            (true, _) => e.four(load, a, at, places, bytes),
            (false, true) => e.load_to(places, bytes, at, a.data),
            (false, false) => e.store_from(places, bytes, at, a.data),
        });
    }

    /// Stores some lanes' elements, which follow one another in LDS, by loading those between them and storing all,
    /// where the elements of all lanes are in LDS; leaves the builder where they are not.
    fn part_of_run(
        &mut self,
        a: &Access,
        len: Value,
        places: &[Value],
        done: cranelift_codegen::ir::Block,
    ) {
        let lds = self.lds_start();
        let before = self.b.ins().imul_imm_s(a.first, a.stride);
        let start = self.b.ins().isub(a.start, before);
        let low = self.b.ins().isub(start, lds);
        let high = self.b.ins().iadd_imm_s(low, LANES as i64 * a.stride);
        let order = IntCC::UnsignedLessThanOrEqual;
        let below = self.b.ins().icmp(order, low, len);
        let above = self.b.ins().icmp(order, high, len);
        let inside = self.b.ins().band(below, above);
        let (all, some) = (self.b.create_block(), self.b.create_block());
        self.b.ins().brif(inside, all, &[], some, &[]);
        self.b.switch_to_block(all);
        let runs = Runs {
            load: false,
            data: a.data,
            places,
            exec: a.exec,
        };
        self.whole_run(&runs, start, done);
        self.b.switch_to_block(some);
    }

    /// A lane's words from memory, `bytes` into their places.
    fn load_to(&mut self, places: &[Value], bytes: Value, from: Value, data: Data) {
        let words = self.load_one(from, data);
        self.words_to(places, bytes, &words);
    }

    fn words_to(&mut self, places: &[Value], bytes: Value, words: &[Value]) {
        for (&place, &word) in places.iter().zip(words) {
            let at = self.b.ins().iadd(place, bytes);
            self.b.ins().store(trusted(), word, at, 0);
        }
    }

    /// A lane's words, `bytes` into their places, to memory.
    fn store_from(&mut self, places: &[Value], bytes: Value, to: Value, data: Data) {
        let words: Vec<Value> = places
            .iter()
            .map(|&place| {
                let at = self.b.ins().iadd(place, bytes);
                self.b.ins().load(types::I32, trusted(), at, 0)
            })
            .collect();
        self.store_one(to, data, &words);
    }

    /// A loop over the wave, four or eight lanes at a time, that moves its lanes between memory and places.
    fn vectors(
        &mut self,
        load: bool,
        a: &Access,
        places: &[Value],
        done: cranelift_codegen::ir::Block,
    ) {
        let lanes = self.lanes_at_once(a);
        let head = self.b.create_block();
        let bytes = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        // Two steps a turn: the loop's own instructions count.
        let mut at = bytes;
        for _ in 0..2 {
            let guest_bytes = match a.stride % 4 {
                0 => self.b.ins().imul_imm_s(at, a.stride / 4),
                _ => {
                    let lane = self.b.ins().ushr_imm_u(at, 2);
                    self.b.ins().imul_imm_s(lane, a.stride)
                }
            };
            let guest = self.b.ins().iadd(a.start, guest_bytes);
            match lanes {
                8 => self.eight(load, a, guest, places, at),
                _ => self.four(load, a, guest, places, at),
            }
            at = self.b.ins().iadd_imm_s(at, 4 * lanes);
        }
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, at, 256);
        self.b
            .ins()
            .brif(more, head, &[BlockArg::Value(at)], done, &[]);
    }
}
