//! Accesses at addresses of which nothing is known, made inline wherever each lane's element lies. The addresses of
//! all lanes are compared with the bounds of memory first, as vectors; where one is out of bounds, or the high words
//! are not all the same, the runtime makes the access from the beginning.
//!
//! AVX-512 has instructions for dwords anywhere. They hold one place in the processor's window where a loop over lanes
//! holds several a lane, so more lanes wait for memory at once. Four dwords are loaded lane by lane, but into vectors, which
//! spares the window the stores of single words. Bytes and shorts are loaded inline where they follow one another, as they
//! may where their addresses were not loaded; one by one, and pairs of dwords, the runtime is as quick.

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::contiguous::Contiguous;
use super::lanes::dwords_type;
use super::prefetch::Indirect;
use super::{Emitter, access};
use crate::analysis::schedule::Schedule;
use crate::analysis::schedule::is_computed;
use crate::host::{self, Isa};
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::options::Forms;
use crate::vir::{Block as HostBlock, IntCC, Memory, Op as VirOp, Value, types};

/// An access whose addresses and data, or results, are in slots.
#[derive(Clone, Copy)]
struct Access<'a> {
    data: Data,
    /// The low words, and outside of LDS the high words.
    addresses: &'a [Value],
    /// Lanes that act; there is one.
    exec: Value,
    places: &'a [Value],
}

/// Where the elements of lanes may lie, as far as it is one answer for all of them.
struct Window {
    /// The first lane that acts (I64).
    first: Value,
    /// Host address of low word 0.
    start: Value,
    /// The lowest low word that is in bounds, and how far the highest is from it (I64).
    low: Value,
    room: Value,
    /// The high words (I32), of an address outside of LDS.
    high: Option<Value>,
}

/// Some lanes that follow one another: from which one on, which of them act, and their low words.
struct Group {
    lane: usize,
    on: Value,
    words: Value,
}

impl Emitter<'_> {
    /// Is a node an access that goes inline wherever its elements are?
    pub(super) fn can_gather(&self, block: &Block, v: Val) -> bool {
        let node = &block.nodes[v.index()];
        let Some((load, space, data, _)) = load_or_store(node.op) else {
            return false;
        };
        // Nothing lies in the low 4 GiB. One address for all is one access.
        let address = &block.nodes[node.args[0].index()];
        let known = match space {
            Space::Lds => true,
            Space::Global | Space::Flat => address.op != Op::Zext,
            _ => false,
        };
        let lanes = address.ty.vary != Vary::Wave;
        let suits = match data {
            Data::Dwords(1) => self.o.isa == Isa::Avx512,
            Data::Dwords(4) => load,
            Data::Dwords(_) => false,
            _ => load && access::is_known(data) && is_computed(block, node.args[0]),
        };
        known && lanes && suits && self.o.wide && self.o.has(Forms::GATHERS)
    }

    /// Emits such an access.
    pub(super) fn gather_access(&mut self, block: &Block, plan: &Schedule, v: Val) {
        let node = &block.nodes[v.index()];
        let addresses = self.addresses(block, plan, node.args[0]);
        let exec = self.mask_bits(block, plan, node.args[1]);
        // Both ways have it.
        self.new_exec(block, plan, v);
        for &bound in bounds(node) {
            self.wave_word(block, plan, bound);
        }
        let places = self.places(block, plan, v);
        let foreseen = match addresses[..] {
            [low, _] => self.predict(block, plan, (v, exec), low),
            _ => None,
        };
        let lists = (addresses.as_slice(), exec, places.as_slice());
        self.inline_or_call(block, plan, v, lists, foreseen.as_ref());
    }

    /// A load or store of the lanes in `exec`, whose address and data or results are in slots: inline if it goes so, and
    /// all is in bounds, else by the runtime. What is `foreseen` is asked for.
    pub(super) fn inline_or_call(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        lists: (&[Value], Value, &[Value]),
        foreseen: Option<&Indirect>,
    ) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, site) = access.expect("bug: no load and no store");
        if !self.can_gather(block, v) {
            self.memory_call(block, plan, v, (space, data, site), lists);
            return;
        }
        let (addresses, exec, places) = lists;
        let [some, slow, done] = [(); 3].map(|()| self.b.create_block());
        if matches!(data, Data::Dwords(_)) {
            self.b.set_cold_block(slow);
        }
        self.b.brif(exec, some, &[], done, &[]);

        self.b.switch_to_block(some);
        let a = Access {
            data,
            addresses,
            exec,
            places,
        };
        let window = self.window(a, space, slow);
        let groups = self.groups(a);
        match data {
            Data::Dwords(words) => {
                self.require_bounds(a, &window, &groups, slow);
                let request = |e: &mut Self, lanes| {
                    if let Some(foreseen) = foreseen {
                        e.request(block, plan, foreseen, lanes);
                    }
                };
                if words == 1 {
                    self.move_lanes(load, a, &window, &groups, request);
                } else {
                    request(self, (0, LANES));
                    self.load_each(a, &window, &groups);
                }
                self.b.jump(done, &[]);
            }
            _ => self.load_in_order(a, &window, &groups, slow, done),
        }

        self.b.switch_to_block(slow);
        self.memory_call(block, plan, v, (space, data, site), lists);
        self.b.jump(done, &[]);
        self.b.switch_to_block(done);
    }

    /// Where elements may lie that have the high word of the first lane that acts; leaves for `slow` where none may.
    fn window(&mut self, a: Access<'_>, space: Space, slow: HostBlock) -> Window {
        let (base, len) = self.memory_of(space);
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
            // The first low word in bounds, if it is one, and the last.
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

    /// The lanes by host vectors.
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

    /// Which of so many lanes from `lane` on act.
    pub(super) fn on_from(&mut self, exec: Value, lane: usize, count: usize) -> Value {
        let on = self.b.ushr_imm(exec, lane as i64);
        self.of_lanes(1, count).expand_mask(on)[0]
    }

    /// Is there no lane that acts whose low word is not as `good` says, given the group's place among the others, or whose
    /// high word is not the window's (I8)?
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
        let mut bad: Option<Value> = None;
        for group in groups {
            let mut good = good(self, group);
            if let Some(high) = high {
                let at = 4 * group.lane as i32;
                let words = self.b.load(ty, Memory::Trusted, a.addresses[1], at);
                let same = self.b.icmp(IntCC::Equal, words, high);
                good = self.b.band(good, same);
            }
            let other = self.b.bnot(good);
            let here = self.b.band(group.on, other);
            bad = Some(match bad {
                Some(bad) => self.b.bor(bad, here),
                None => here,
            });
        }
        let bad = bad.expect("a wave has lanes");
        let bad = self.of_lanes(1, per).collect_mask(&[bad]);
        self.b.icmp_imm(IntCC::Equal, bad, 0)
    }

    /// Leaves for `slow` where a lane that acts is out of bounds.
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
            e.b.icmp(order, away, room)
        });
        self.require(slow, good);
    }

    /// Moves the dwords of lanes between memory and their place; `behind` each group is told its first lane and
    /// how many it has.
    fn move_lanes(
        &mut self,
        load: bool,
        a: Access<'_>,
        window: &Window,
        groups: &[Group],
        mut behind: impl FnMut(&mut Self, (usize, usize)),
    ) {
        let per = self.per();
        let ty = dwords_type(per);
        // Indices have signs.
        let middle = 1 << 31;
        let lds = window.high.is_none();
        let base = match lds {
            true => window.start,
            false => self.b.iadd_imm(window.start, i64::from(middle)),
        };
        let sign = self.of_lanes(1, per).dwords_by(|_| middle);
        for group in groups {
            let at = 4 * group.lane as i32;
            let index = match lds {
                true => group.words,
                false => self.b.bxor(group.words, sign),
            };
            let words = self.b.load(ty, Memory::Trusted, a.places[0], at);
            let args = [words, group.on, base, index];
            if load {
                let loaded = self.b.op(VirOp::Gather, &args, ty);
                self.b.store(Memory::Trusted, loaded, a.places[0], at);
            } else {
                self.b.effect(VirOp::Scatter, &args);
            }
            behind(self, (group.lane, per));
        }
    }

    /// Loads elements of four dwords, eight lanes at a time. Lanes that are off load what the first that acts does.
    fn load_each(&mut self, a: Access<'_>, window: &Window, groups: &[Group]) {
        let per = self.per();
        let slot = self.take_slot();
        let slot = i64::from(Self::frame_offset(slot));
        let slot = self.b.iadd_imm(self.frame, slot);
        let at = self.b.ishl_imm(window.first, 2);
        let first = self.word_at(a.addresses[0], at);
        let first = self.b.splat(dwords_type(per), first);
        for group in groups {
            let mut lanes = self.of_lanes(1, per);
            let words = lanes.select(Width::W32, &[group.on], &[group.words], &[first])[0];
            let at = 4 * group.lane as i32;
            self.b.store(Memory::Trusted, words, slot, at);
        }
        let behind = self.b.create_block();
        let (head, offset) = self.begin_offsets();
        let from = std::array::from_fn(|k| {
            let at = self.b.iadd(slot, offset);
            let low = self.b.load(types::I32, Memory::Trusted, at, 4 * k as i32);
            let low = self.b.uextend(types::I64, low);
            self.b.iadd(window.start, low)
        });
        let new = self.load_each_of_eight(from, a.data);
        let places = self.places_at(a.places, offset);
        let old = self.load_places(types::I32X8, &places);
        let lane = self.b.ushr_imm(offset, 2);
        let on = self.b.ushr(a.exec, lane);
        let mut lanes = self.of_lanes(1, host::LANES);
        let mask = lanes.expand_mask(on);
        let both = new.iter().zip(old);
        let words = both.map(|(&new, old)| lanes.select(Width::W32, &mask, &[new], &[old])[0]);
        let words: Vec<Value> = words.collect();
        self.store_places(&places, &words);
        self.end_offsets((head, offset), 4 * host::LANES, behind);
        self.b.switch_to_block(behind);
    }

    /// Loads bytes or shorts and goes to `done` where those of the lanes that act follow one another, and with those of the
    /// others are in bounds; else leaves for `other`.
    fn load_in_order(
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
            let line = e.b.iadd(word, steps);
            e.b.icmp(IntCC::Equal, group.words, line)
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
                e.b.store(Memory::Trusted, words[0], a.places[0], at);
            }
            e.b.jump(done, &[]);
        });
        let runs = Contiguous {
            load: true,
            data: a.data,
            stride: i64::from(step),
            places: a.places,
            exec: a.exec,
        };
        self.whole_run(&runs, start, done);
    }
}
