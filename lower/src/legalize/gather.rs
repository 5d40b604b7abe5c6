//! Accesses at arbitrary addresses, inline. The addresses of all active lanes are first compared
//! with the bounds of memory, as vectors. If one is out of bounds, or the high words differ, the
//! runtime executes the complete access.
//!
//! AVX-512 has gathers and scatters of dwords. One occupies a single entry of the out-of-order
//! window, where a loop over lanes occupies several for each lane, so that more cache misses
//! overlap. Bytes and shorts are taken from gathered dwords, unless they are contiguous, which is
//! likely if the addresses were computed rather than loaded. Elements of two and four dwords are
//! loaded lane by lane, which keeps each element one access, but into vectors, which avoids stores of
//! single words. Bytes and shorts are stored lane by lane. For stores of several dwords, and for most
//! elements with AVX2's gather and no scatter, the runtime is as fast or faster.

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::contiguous::Contiguous;
use super::lanes::dwords_type;
use super::prefetch::Indirect;
use super::scratch::{Index, part};
use super::{Code, Emitter, Region, access, frame_offset};
use crate::analysis::schedule::Schedule;
use crate::analysis::schedule::is_computed;
use crate::host;
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::options::Forms;
use crate::vir::{Block as HostBlock, IntCC, Memory, Op as VirOp, Part, Value, types};

/// Gathers and scatters sign-extend their indices, so unsigned low words are biased by this. Offsets in LDS are not.
const MIDDLE: u32 = 1 << 31;

/// An access whose addresses and data, or results, are in slots.
#[derive(Clone, Copy)]
struct Access<'a> {
    load: bool,
    data: Data,
    /// Slots of the low words and, outside of LDS, of the high words.
    addresses: &'a [Value],
    /// The active lanes; at least one.
    exec: Value,
    storage: &'a [Value],
}

/// The range of addresses that is valid for all lanes.
struct Window {
    /// The first active lane (I64).
    first: Value,
    /// Host address for a low word of 0.
    start: Value,
    /// The lowest low word in bounds, and the distance from it to the highest (I64).
    low: Value,
    room: Value,
    /// The high word of all active lanes (I32); `None` in LDS.
    high: Option<Value>,
}

/// The lanes of a host vector: the first one, the mask of the active ones, and their low words.
struct Group {
    lane: usize,
    on: Value,
    words: Value,
}

/// May an element taken from a gathered dword be in two?
pub(super) fn may_straddle(data: Data) -> bool {
    part(data).is_some_and(|(bits, _)| bits == 16)
}

impl Code<'_> {
    /// The window of addresses with the first active lane's high word; branches to `slow` if none
    /// of them is in bounds.
    fn window(&mut self, a: Access<'_>, space: Space, slow: HostBlock) -> Window {
        let (base, len) = self.memory_of(space, a.load);
        let bytes = i64::from(access::bytes(a.data));
        let last = self.b.iadd_imm(len, -bytes);
        let zero = self.b.iconst(types::I64, 0);
        let first = self.b.ctz(a.exec);
        let (window, room) = if space == Space::Lds {
            let start = self.lds_start();
            ((start, zero, None), last)
        } else {
            let at = self.b.ishl_imm(first, 2);
            let high = self.word_at(a.addresses[1], at);
            let start = self.b.uextend(types::I64, high);
            let start = self.b.ishl_imm(start, 32);
            // The lowest and the highest low word in bounds.
            let away = self.b.isub(base, start);
            let low = self.b.smax(away, zero);
            let top = self.b.iadd(away, last);
            let most = self.b.iconst(types::I64, i64::from(u32::MAX));
            let top = self.b.smin(top, most);
            ((start, low, Some(high)), self.b.isub(top, low))
        };
        let any = IntCC::SignedGreaterThanOrEqual;
        let any = self.b.icmp(any, room, zero);
        self.require(slow, any);
        let (start, low, high) = window;
        Window {
            first,
            start,
            low,
            room,
            high,
        }
    }

    /// The wave's lanes as host vectors.
    fn groups(&mut self, a: Access<'_>) -> Vec<Group> {
        let per = self.per();
        let firsts = (0..LANES).step_by(per);
        firsts
            .map(|lane| {
                let (ty, at) = (dwords_type(per), 4 * lane as i32);
                let words = self.b.load(ty, Memory::Trusted, a.addresses[0], at);
                let on = self.on_from(a.exec, lane, per);
                Group { lane, on, words }
            })
            .collect()
    }

    /// The mask of the active ones of `count` lanes from `lane` on.
    pub(super) fn on_from(&mut self, exec: Value, lane: usize, count: usize) -> Value {
        let on = self.b.ushr_imm(exec, lane as i64);
        self.of_lanes(1, count).expand_mask(on)[0]
    }

    /// Does every active lane have the window's high word and a low word for which `good` holds
    /// (I8)? `good` is called for each group.
    fn all_good(
        &mut self,
        a: Access<'_>,
        window: &Window,
        groups: &[Group],
        mut good: impl FnMut(&mut Self, &Group) -> Value,
    ) -> Value {
        let per = self.per();
        let ty = dwords_type(per);
        let high = window.high.map(|word| self.b.splat(ty, word));
        let mut bad = None;
        for group in groups {
            let mut good = good(self, group);
            if let Some(high) = high {
                let at = 4 * group.lane as i32;
                let words = self.b.load(ty, Memory::Trusted, a.addresses[1], at);
                let same = self.b.icmp(IntCC::Equal, words, high);
                good = self.b.band(good, same);
            }
            bad = Some(self.with_bad(bad, group.on, good));
        }
        self.is_none_bad(bad.expect("a wave has lanes"))
    }

    /// The lanes of a mask that are active and for which `good` does not hold, in addition to those in `bad`.
    pub(super) fn with_bad(&mut self, bad: Option<Value>, on: Value, good: Value) -> Value {
        let other = self.b.bnot(good);
        let here = self.b.band(on, other);
        match bad {
            Some(bad) => self.b.bor(bad, here),
            None => here,
        }
    }

    /// Is no lane of a host vector in a mask (I8)?
    pub(super) fn is_none_bad(&mut self, bad: Value) -> Value {
        let per = self.per();
        let bits = self.of_lanes(1, per).collect_mask(&[bad]);
        self.b.icmp_imm(IntCC::Equal, bits, 0)
    }

    /// Branches to `slow` if an active lane is out of bounds, or if a gather would not load all of its element.
    fn require_bounds(
        &mut self,
        a: Access<'_>,
        window: &Window,
        groups: &[Group],
        slow: HostBlock,
    ) {
        let ty = dwords_type(self.per());
        let [low, room] = [window.low, window.room].map(|value| {
            let word = self.b.ireduce(types::I32, value);
            self.b.splat(ty, word)
        });
        let from_zero = window.high.is_none();
        let good = self.all_good(a, window, groups, |e, group| {
            let away = match from_zero {
                true => group.words,
                false => e.b.isub(group.words, low),
            };
            let order = IntCC::UnsignedLessThanOrEqual;
            let inside = e.b.icmp(order, away, room);
            if !(a.load && may_straddle(a.data)) {
                return inside;
            }
            let whole = e.are_in_one_dword(group.words);
            e.b.band(inside, whole)
        });
        self.require(slow, good);
    }

    /// Base of gathers and scatters at low words, given the host address of low word 0.
    pub(super) fn gather_base(&mut self, start: Value, lds: bool) -> Value {
        match lds {
            true => start,
            false => self.b.iadd_imm(start, i64::from(MIDDLE)),
        }
    }

    /// Where elements at low words are from [`Self::gather_base`].
    pub(super) fn gather_index(&mut self, data: Data, words: Value, lds: bool) -> Index {
        let mut index = self.in_dwords(data, words);
        if !lds {
            let per = self.per();
            let sign = self.of_lanes(1, per).dwords_by(|_| MIDDLE);
            index.bytes = self.b.bxor(index.bytes, sign);
        }
        index
    }

    /// Which shorts at low words are in one dword?
    pub(super) fn are_in_one_dword(&mut self, words: Value) -> Value {
        let per = self.per();
        let three = self.of_lanes(1, per).dwords_by(|_| 3);
        let byte = self.b.band(words, three);
        self.b.icmp(IntCC::NotEqual, byte, three)
    }

    /// Loads elements of two or four dwords, eight lanes at a time. Inactive lanes load the first active
    /// lane's element, and keep their results' old values.
    fn load_each(&mut self, a: Access<'_>, window: &Window, groups: &[Group]) {
        let per = self.per();
        let slot = self.take_slot();
        let slot = i64::from(frame_offset(slot));
        let slot = self.b.iadd_imm(self.region.frame(), slot);
        let at = self.b.ishl_imm(window.first, 2);
        let first = self.word_at(a.addresses[0], at);
        let first = self.b.splat(dwords_type(per), first);
        for group in groups {
            let mut lanes = self.of_lanes(1, per);
            let words = lanes.select(Width::W32, &[group.on], &[group.words], &[first])[0];
            let at = 4 * group.lane as i32;
            self.b.store(Memory::Trusted, words, slot, at);
        }
        let after = self.b.create_block();
        let (head, offset) = self.begin_offsets();
        let from = std::array::from_fn(|k| {
            let at = self.b.iadd(slot, offset);
            let low = self.b.load(types::I32, Memory::Trusted, at, 4 * k as i32);
            let low = self.b.uextend(types::I64, low);
            self.b.iadd(window.start, low)
        });
        let new = self.load_each_of_eight(from, a.data);
        let storage = self.storage_at(a.storage, offset);
        let old = self.load_storage(types::I32X8, &storage);
        let lane = self.b.ushr_imm(offset, 2);
        let on = self.b.ushr(a.exec, lane);
        let mut lanes = self.of_lanes(1, host::LANES);
        let mask = lanes.expand_mask(on);
        let both = new.iter().zip(old);
        let words = both.map(|(&new, old)| lanes.select(Width::W32, &mask, &[new], &[old])[0]);
        let words: Vec<Value> = words.collect();
        self.store_storage(&storage, &words);
        self.end_offsets((head, offset), 4 * host::LANES, after);
        self.b.switch_to_block(after);
    }

    /// Stores bytes or shorts, lower lanes first.
    fn store_each(&mut self, a: Access<'_>, window: &Window) {
        let part = match access::bytes(a.data) {
            1 => Part::Byte,
            _ => Part::Short,
        };
        let [head, after] = [(); 2].map(|()| self.b.create_block());
        let left = self.b.append_block_param(head, types::I64);
        self.b.jump(head, &[a.exec]);
        self.b.switch_to_block(head);
        let lane = self.b.ctz(left);
        let at = self.b.ishl_imm(lane, 2);
        let low = self.word_at(a.addresses[0], at);
        let low = self.b.uextend(types::I64, low);
        let to = self.b.iadd(window.start, low);
        let word = self.word_at(a.storage[0], at);
        self.b.store_part(part, Memory::Guest, word, to, 0);
        let less = self.b.iadd_imm(left, -1);
        let rest = self.b.band(left, less);
        self.b.brif(rest, head, &[rest], after, &[]);
        self.b.switch_to_block(after);
    }

    /// Loads bytes or shorts and jumps to `done`, if the elements of active lanes are contiguous
    /// and the range that all 64 lanes would cover is in bounds; otherwise branches to `other`.
    fn load_contiguous_parts(
        &mut self,
        a: Access<'_>,
        window: &Window,
        groups: &[Group],
        other: HostBlock,
        done: HostBlock,
    ) {
        let per = self.per();
        let step = access::bytes(a.data);
        let at = self.b.ishl_imm(window.first, 2);
        let low = self.word_at(a.addresses[0], at);
        let low = self.b.uextend(types::I64, low);
        let before = self.b.imul_imm(window.first, i64::from(step));
        let low = self.b.isub(low, before);
        let away = self.b.isub(low, window.low);
        let others = i64::from(step) * (LANES as i64 - 1);
        let room = self.b.iadd_imm(window.room, -others);
        let zero = self.b.iconst(types::I64, 0);
        for (low, high) in [(zero, away), (away, room)] {
            let order = IntCC::SignedLessThanOrEqual;
            let inside = self.b.icmp(order, low, high);
            self.require(other, inside);
        }
        let word = self.b.ireduce(types::I32, low);
        let word = self.b.splat(dwords_type(per), word);
        let good = self.all_good(a, window, groups, |e, group| {
            let steps = e
                .of_lanes(1, per)
                .dwords_by(|n| step * (group.lane + n) as u32);
            let expected = e.b.iadd(word, steps);
            e.b.icmp(IntCC::Equal, group.words, expected)
        });
        self.require(other, good);
        let start = self.b.iadd(window.start, low);
        self.if_full(a.exec, |e| {
            let step = i64::from(step);
            let lanes = e.lanes_at_once(true, a.data, step, false);
            for lane in (0..LANES).step_by(lanes) {
                let away = step * lane as i64;
                let words = e.load_lanes(lanes, (start, away), step, a.data);
                let at = 4 * lane as i32;
                e.b.store(Memory::Trusted, words[0], a.storage[0], at);
            }
            e.b.jump(done, &[]);
        });
        let runs = Contiguous {
            load: true,
            data: a.data,
            stride: i64::from(step),
            storage: a.storage,
            exec: a.exec,
        };
        self.access_in_groups(&runs, start, done);
    }
}

impl Region<'_> {
    /// Is a node an access that is inline for arbitrary addresses?
    pub(super) fn can_gather(&self, block: &Block, v: Val) -> bool {
        let node = &block.nodes[v.index()];
        let Some((load, space, data, _)) = load_or_store(node.op) else {
            return false;
        };
        // The low 4 GiB have no memory, so a zero-extended address is never in bounds. A uniform
        // address is a single access.
        let address = &block.nodes[node.args[0].index()];
        let reachable = match space {
            Space::Lds => true,
            Space::Global | Space::Flat => address.op != Op::Zext,
            _ => false,
        };
        let lanes = address.ty.vary != Vary::Wave;
        let masks = self.has_masks();
        let suits = match data {
            Data::Dwords(1) => masks,
            Data::Dwords(2) => load && masks,
            Data::Dwords(4) => load,
            Data::Dwords(_) => false,
            _ => access::is_known(data) && (masks || load && is_computed(block, node.args[0])),
        };
        reachable
            && lanes
            && suits
            && self.options().host.is_wide()
            && self.options().has(Forms::GATHERS)
    }
}

impl Emitter<'_> {
    /// Gathers dwords, or bytes and shorts from them, to their slot, or scatters dwords from it; after each group, calls
    /// `then` with its first lane and its number of lanes.
    fn move_lanes(
        &mut self,
        a: Access<'_>,
        window: &Window,
        groups: &[Group],
        mut then: impl FnMut(&mut Self, (usize, usize)),
    ) {
        let per = self.code.per();
        let lds = window.high.is_none();
        let base = self.code.gather_base(window.start, lds);
        for group in groups {
            let at = 4 * group.lane as i32;
            let index = self.code.gather_index(a.data, group.words, lds);
            let (slot, ty) = (a.storage[0], dwords_type(per));
            let words = self.code.b.load(ty, Memory::Trusted, slot, at);
            if a.load {
                let new = (self.code).gathered(a.data, group.on, Some(words), base, index);
                self.code.b.store(Memory::Trusted, new, slot, at);
            } else {
                let args = [words, group.on, base, index.bytes];
                self.code.b.effect(VirOp::Scatter, &args);
            }
            then(self, (group.lane, per));
        }
    }

    /// Moves the elements of active lanes, all of which are in bounds.
    fn move_each(
        &mut self,
        (a, window, groups): (Access<'_>, &Window, &[Group]),
        mut request: impl FnMut(&mut Self, (usize, usize)),
    ) {
        match (a.load, a.data) {
            (true, Data::Dwords(2..)) => {
                request(self, (0, LANES));
                self.code.load_each(a, window, groups);
            }
            (true, _) | (false, Data::Dwords(_)) => self.move_lanes(a, window, groups, request),
            (false, _) => {
                request(self, (0, LANES));
                self.code.store_each(a, window);
            }
        }
    }

    /// Emits an access for which `can_gather` holds.
    pub(super) fn gather_access(&mut self, block: &Block, plan: &Schedule, v: Val) {
        let node = &block.nodes[v.index()];
        let addresses = self.addresses(block, plan, node.args[0]);
        let exec = self.mask_bits(block, plan, node.args[1]);
        // Before the branch, because both paths use it.
        self.new_exec(block, plan, v);
        for &bound in bounds(node) {
            self.wave_word(block, plan, bound);
        }
        let storage = self.storage(block, plan, v);
        let predicted = match addresses[..] {
            [low, _] => self.predict(block, plan, (v, exec), low),
            _ => None,
        };
        let lists = (addresses.as_slice(), exec, storage.as_slice());
        self.inline_or_call(block, plan, v, lists, predicted.as_ref());
    }

    /// Emits a load or store of the lanes in `exec`, whose addresses and data or results are in
    /// slots: inline if `can_gather` holds and all active lanes are in bounds, otherwise by the
    /// runtime. The inline path also requests the elements of `predicted`.
    pub(super) fn inline_or_call(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        lists: (&[Value], Value, &[Value]),
        predicted: Option<&Indirect>,
    ) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, site) = access.expect("bug: no load and no store");
        if !self.code.region.can_gather(block, v) {
            self.memory_call(block, plan, v, (space, data, site), lists);
            return;
        }
        let (addresses, exec, storage) = lists;
        let a = Access {
            load,
            data,
            addresses,
            exec,
            storage,
        };
        let runs = load && part(data).is_some() && is_computed(block, node.args[0]);
        let each = !runs || self.code.has_masks();
        let [some, slow, done] = [(); 3].map(|()| self.code.b.create_block());
        if each {
            self.code.b.set_cold_block(slow);
        }
        self.code.b.brif(exec, some, &[], done, &[]);

        self.code.b.switch_to_block(some);
        let window = self.code.window(a, space, slow);
        let groups = self.code.groups(a);
        if runs {
            let other = self.code.b.create_block();
            (self.code).load_contiguous_parts(a, &window, &groups, other, done);
            self.code.b.switch_to_block(other);
        }
        if each {
            self.code.require_bounds(a, &window, &groups, slow);
            self.move_each((a, &window, &groups), |e, lanes| {
                if let Some(predicted) = predicted {
                    e.request(block, plan, predicted, lanes);
                }
            });
            self.code.b.jump(done, &[]);
        } else {
            self.code.b.jump(slow, &[]);
        }

        self.code.b.switch_to_block(slow);
        self.memory_call(block, plan, v, (space, data, site), lists);
        self.code.b.jump(done, &[]);
        self.code.b.switch_to_block(done);
    }
}
