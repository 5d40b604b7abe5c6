//! Accesses at arbitrary addresses, inline as long as the elements of neighbouring lanes are
//! contiguous, which is tested at run time. In most kernels they are, in runs of 8 lanes or more
//! whose starts depend on bits of the lane number. From the first lane group on that is not
//! contiguous, the access continues as in `gather.rs`. Elements of less than a dword are stored only:
//! `gather.rs` has a form that loads them.
//!
//! A group may have inactive lanes. Loading their elements is harmless. In LDS their old contents
//! are stored again, since no other wave accesses the workgroup's LDS while one runs. A store of a
//! partial group to memory is inline here if the host stores dwords under a mask.

use std::mem::offset_of;

use frontend::op::{Data, Space};

use super::lanes::dwords_type;
use super::scalar::joined;
use super::{Code, Emitter, Region, access};
use crate::abi::Context;
use crate::analysis::schedule::Schedule;
use crate::analysis::schedule::is_computed;
use crate::ir::functions::{EffectFn, mem_code};
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, SiteId, Val, Width};
use crate::options::Forms;
use crate::vir::{Block as HostBlock, IntCC, Memory, Value, types};

/// An access that moves elements a lane group at a time.
pub(super) struct Contiguous<'a> {
    pub(super) load: bool,
    pub(super) data: Data,
    /// Bytes from one lane's element to the next.
    pub(super) stride: i64,
    /// The slots of the elements' words, one for each word.
    pub(super) storage: &'a [Value],
    /// The active lanes.
    pub(super) exec: Value,
}

/// A lane group, by its location in slots.
#[derive(Clone, Copy)]
struct Group {
    /// Byte offset of the first lane.
    offset: Value,
    /// Number of the first lane (I64).
    lane: Value,
}

impl Code<'_> {
    /// Emits the loop over the groups with an active lane, which jumps to `done` after the last one.
    /// It leaves at the first group that is not contiguous or not in bounds: the builder continues
    /// there, and the result is that group's first lane (I64).
    fn runs(
        &mut self,
        a: &Contiguous<'_>,
        space: Space,
        addresses: &[Value],
        done: HostBlock,
    ) -> Value {
        let count = self.lanes_of_group(a.data);
        let (base, len) = self.memory_of(space, a.load);
        let all = count as i64 * i64::from(access::bytes(a.data));
        let last = self.b.iadd_imm(len, -all);
        let lds = (space == Space::Lds).then(|| self.lds_start());
        let rest = self.b.create_block();
        let first = self.b.append_block_param(rest, types::I64);
        let zero = self.b.iconst(types::I64, 0);
        let room = IntCC::UnsignedGreaterThanOrEqual;
        let room = self.b.icmp_imm(room, len, all);
        self.or_leave(room, rest, zero);

        let groups = self.active_groups(a.exec, count);
        let groups = self.begin_active(groups, done);
        let lane = groups.lane;
        let offset = self.b.ishl_imm(lane, 2);
        let group = Group { offset, lane };
        let order = IntCC::UnsignedLessThanOrEqual;
        let mut same = self.matching_lanes(a.data, addresses[0], group, true);
        let low = self.word_at(addresses[0], offset);
        let away = if lds.is_some() {
            self.b.uextend(types::I64, low)
        } else {
            let equal = self.matching_lanes(a.data, addresses[1], group, false);
            same = self.b.band(same, equal);
            // The group's low words must not wrap.
            let fits = self.b.icmp_imm(order, low, (1 << 32) - all);
            self.or_leave(fits, rest, lane);
            let high = self.word_at(addresses[1], offset);
            let address = joined(&mut self.b, low, high);
            self.b.isub(address, base)
        };
        let inside = self.b.icmp(order, away, last);
        self.or_leave(inside, rest, lane);
        let same = self.of_lanes(1, count).collect_mask(&[same]);
        let same = self.b.icmp_imm(IntCC::Equal, same, (1 << count) - 1);
        self.or_leave(same, rest, lane);
        let start = self.b.iadd(lds.unwrap_or(base), away);
        let to_memory = lds.is_none() && !a.load;
        self.group(a, start, group, to_memory.then_some(rest));
        self.end_active(groups, done);
        self.b.switch_to_block(rest);
        first
    }

    /// Branches to `rest`, with the group's first lane, unless `good`.
    fn or_leave(&mut self, good: Value, rest: HostBlock, lane: Value) {
        let on = self.b.create_block();
        let to = [lane];
        self.b.brif(good, on, &[], rest, &to);
        self.b.switch_to_block(on);
    }

    /// Emits a loop over the lane groups with an active lane that moves elements with stride `a.stride` from `start` on,
    /// all of which are in bounds. A store writes the old contents back for inactive lanes, so it is
    /// for LDS only.
    pub(super) fn access_in_groups(&mut self, a: &Contiguous<'_>, start: Value, done: HostBlock) {
        let groups = self.active_groups(a.exec, self.lanes_of_group(a.data));
        let groups = self.begin_active(groups, done);
        let lane = groups.lane;
        let offset = self.b.ishl_imm(lane, 2);
        let away = self.b.imul_imm(lane, a.stride);
        let start = self.b.iadd(start, away);
        self.group(a, start, Group { offset, lane }, None);
        self.end_active(groups, done);
    }

    /// Lanes in a group.
    fn lanes_of_group(&self, data: Data) -> usize {
        match data {
            Data::Dwords(2..) => 4,
            _ => self.per(),
        }
    }

    /// The mask of a group's lanes whose word in a slot equals the first lane's, plus the element
    /// size times the distance if `steps` is set.
    fn matching_lanes(&mut self, data: Data, slot: Value, group: Group, steps: bool) -> Value {
        let count = self.lanes_of_group(data);
        let ty = dwords_type(count);
        let at = self.b.iadd(slot, group.offset);
        let words = self.b.load(ty, Memory::Trusted, at, 0);
        let first = self.word_at(slot, group.offset);
        let mut expected = self.b.splat(ty, first);
        let mut lanes = self.of_lanes(1, count);
        if steps {
            let step = access::bytes(data);
            let steps = lanes.dwords_by(|n| n as u32 * step);
            expected = lanes.b.iadd(expected, steps);
        }
        lanes.b.icmp(IntCC::Equal, words, expected)
    }

    /// Loads the word at a byte offset in a slot.
    pub(super) fn word_at(&mut self, slot: Value, offset: Value) -> Value {
        let at = self.b.iadd(slot, offset);
        self.b.load(types::I32, Memory::Trusted, at, 0)
    }

    /// Moves a group's elements, the first of which is at `start`. If `other` is given, a partial
    /// group branches there instead, with its first lane.
    fn group(&mut self, a: &Contiguous<'_>, start: Value, group: Group, other: Option<HostBlock>) {
        let every = (1 << self.lanes_of_group(a.data)) - 1;
        let on = self.b.ushr(a.exec, group.lane);
        if other.is_some() && self.is_masked_access(a.data, a.stride) {
            let storage = self.storage_at(a.storage, group.offset);
            self.masked_access(false, (on, 0), start, storage[0]);
            return;
        }
        let on = self.b.band_imm(on, every);
        let full = self.b.icmp_imm(IntCC::Equal, on, every);
        let all = self.b.create_block();
        if let Some(other) = other {
            let to = [group.lane];
            self.b.brif(full, all, &[], other, &to);
            self.b.switch_to_block(all);
            self.elements(a, start, group, None);
            return;
        }
        let (part, next) = (self.b.create_block(), self.b.create_block());
        self.b.brif(full, all, &[], part, &[]);
        for (block, mask) in [(all, None), (part, Some(on))] {
            self.b.switch_to_block(block);
            self.elements(a, start, group, mask);
            self.b.jump(next, &[]);
        }
        self.b.switch_to_block(next);
    }

    /// Moves the elements of a group; the destinations of lanes that are not in `on`, if it is
    /// given, keep their old contents.
    fn elements(&mut self, a: &Contiguous<'_>, start: Value, group: Group, on: Option<Value>) {
        let count = self.lanes_of_group(a.data);
        let ty = dwords_type(count);
        let slots = self.storage_at(a.storage, group.offset);
        let stride = a.stride;
        let words_of = |e: &mut Self, memory: bool| match memory {
            true => e.load_lanes(count, (start, 0), stride, a.data),
            false => e.load_storage(ty, &slots),
        };
        let mut words = words_of(self, a.load);
        if let Some(on) = on {
            let old = words_of(self, !a.load);
            let mut lanes = self.of_lanes(1, count);
            let mask = lanes.expand_mask(on);
            for (word, old) in words.iter_mut().zip(old) {
                *word = lanes.select(Width::W32, &mask, &[*word], &[old])[0];
            }
        }
        match a.load {
            true => self.store_storage(&slots, &words),
            false => self.store_lanes(count, (start, 0), stride, a.data, &words),
        }
    }

    /// Host address of the workgroup's LDS.
    pub(super) fn lds_start(&mut self) -> Value {
        self.context(types::I64, offset_of!(Context, lds))
    }
}

impl Region<'_> {
    /// Is a node an access whose contiguous groups are inline?
    pub(super) fn is_contiguous_form(&self, block: &Block, v: Val) -> bool {
        let node = &block.nodes[v.index()];
        let Some((load, space, data, _)) = load_or_store(node.op) else {
            return false;
        };
        // The low 4 GiB have no memory, so a zero-extended address is never in bounds.
        let zext = block.nodes[node.args[0].index()].op == Op::Zext;
        let reachable = space == Space::Lds || space == Space::Global && !zext;
        let suits = matches!(data, Data::Dwords(_)) || !load;
        reachable
            && suits
            && access::is_known(data)
            && self.options().has(Forms::GATHERS)
            && is_computed(block, node.args[0])
    }
}

impl Emitter<'_> {
    /// Emits an access for which `is_contiguous_form` holds.
    pub(super) fn contiguous_access(&mut self, block: &Block, plan: &Schedule, v: Val) {
        let node = &block.nodes[v.index()];
        let addresses = self.addresses(block, plan, node.args[0]);
        let exec = self.mask_bits(block, plan, node.args[1]);
        // Before the branch, because both paths use it.
        self.new_exec(block, plan, v);
        let storage = self.storage(block, plan, v);
        self.contiguous_or_other(block, plan, v, (&addresses, exec, &storage));
    }

    /// The same, given the slots of the addresses and of the data or results.
    pub(super) fn contiguous_or_other(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (addresses, exec, storage): (&[Value], Value, &[Value]),
    ) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, _) = access.expect("bug: no load and no store");
        let runs = Contiguous {
            load,
            data,
            stride: i64::from(access::bytes(data)),
            storage,
            exec,
        };
        let done = self.code.b.create_block();
        let lane = self.code.runs(&runs, space, addresses, done);

        // The lanes that the loop has not handled.
        let ones = self.code.b.iconst(types::I64, -1);
        let rest = self.code.b.ishl(ones, lane);
        let rest = self.code.b.band(exec, rest);
        self.inline_or_call(block, plan, v, (addresses, rest, storage), None);
        self.code.b.jump(done, &[]);
        self.code.b.switch_to_block(done);
    }

    /// Calls the runtime for a load or store of the lanes in `exec`, whose addresses and data or
    /// results are in slots.
    pub(super) fn memory_call(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (space, data, site): (Space, Data, SiteId),
        (addresses, exec, storage): (&[Value], Value, &[Value]),
    ) {
        let code = mem_code(space, data) as i64;
        let node = &block.nodes[v.index()];
        let mut args = addresses.to_vec();
        args.extend([exec, self.code.b.iconst(types::I64, code)]);
        let (f, out) = match node.op {
            Op::Load(..) => (EffectFn::Load, storage),
            _ => {
                args.extend(storage);
                (EffectFn::Store, &[][..])
            }
        };
        for &bound in bounds(node) {
            args.push(self.wave_word(block, plan, bound));
        }
        self.effect_to(block, plan, v, (f, site), &args, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::schedule::is_made_without;
    use crate::ir::build::Build;
    use crate::ir::{Term, Type, Vary};

    #[test]
    fn shared_operands_are_visited_once() {
        let b = Build::new();
        let ty = Type {
            width: Width::W32,
            vary: Vary::Lane,
        };
        let mut v = b.leaf(Op::ReadV(1), ty);
        for _ in 0..100 {
            v = b.pure(Op::Mul, &[v, v]);
        }
        let (nodes, effects) = b.finish();
        let block = Block {
            pc: 0,
            nodes,
            effects,
            execs: Vec::new(),
            writes_s: Vec::new(),
            writes_v: Vec::new(),
            term: Term::End,
            guest_insts: 1,
            counts: Vec::new(),
            outcomes: Vec::new(),
        };
        assert!(is_made_without(&block, v, |node| node.op == Op::ReadV(2)));
        assert!(!is_made_without(&block, v, |node| node.op == Op::ReadV(1)));
    }
}
