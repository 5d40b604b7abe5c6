//! Loads in a parallel region. A load is emitted by the shape of its addresses: uniform, affine, probably affine, or
//! arbitrary.

use frontend::op::{Data, Space};

use super::Group;
use crate::analysis::schedule::is_computed;
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::legalize::affine::Singles;
use crate::legalize::evaluate::Shape;
use crate::legalize::gather::may_straddle;
use crate::legalize::lanes::dwords_type;
use crate::legalize::{Code, Emitter, access, frame_offset};
use crate::maps::HashMap;
use crate::vir::{self, IntCC, Memory, Value, types};

/// The addresses of active lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Address {
    /// They probably have this stride, which is checked at run time.
    Affine(i64),
    /// They are arbitrary.
    Any,
}

/// A load by one host vector of lanes.
#[derive(Clone, Copy)]
struct Access {
    space: Space,
    data: Data,
    /// Low and high words of the addresses; for LDS only low ones.
    low: Value,
    high: Option<Value>,
    /// Mask of the active lanes.
    mask: Value,
}

/// The first active lane and its address.
struct First {
    /// Its number in the vector (I64).
    lane: Value,
    /// The bits of the mask (I32), 0 if no lane is active.
    any: Value,
    low: Value,
    high: Option<Value>,
}

/// Values of a block that are available at a point of its code.
pub(super) struct Available {
    values: HashMap<Val, Vec<Value>>,
    words: HashMap<Val, Vec<Vec<Value>>>,
    bases: HashMap<Val, Value>,
    lane_masks: HashMap<Val, Vec<Value>>,
    scalars: HashMap<Val, Value>,
    singles: Singles,
}

/// The results of a load with their numbers; the load itself is number 0.
pub(super) fn results(block: &Block, v: Val) -> impl Iterator<Item = (Val, u8)> {
    let nodes = block.nodes.iter().enumerate();
    nodes.filter_map(move |(i, node)| match node.op {
        Op::Result(k) if node.args[0] == v => Some((Val(i as u32), k)),
        _ if i == v.index() => Some((v, 0)),
        _ => None,
    })
}

/// Classifies the addresses of a load that is not affine.
fn address_kind(g: &Group<'_>, block: &Block, v: Val, data: Data) -> Address {
    let node = &block.nodes[v.index()];
    match g.facts.address(g.at, v) {
        Some(affine) => Address::Affine(affine.stride),
        None if is_computed(block, node.args[0]) => Address::Affine(i64::from(access::bytes(data))),
        None => Address::Any,
    }
}

impl Code<'_> {
    /// Leaves for `other` unless `bytes` bytes from `start` lie in a space's memory.
    fn group_inside(&mut self, other: vir::Block, space: Space, start: Value, bytes: i64) {
        let (base, len) = self.memory_of(space, true);
        let away = self.b.isub(start, base);
        let room = self.b.iadd_imm(len, -bytes);
        // Memory may be smaller than `bytes`.
        let some = self.b.icmp_imm(IntCC::SignedGreaterThanOrEqual, room, 0);
        let within = self.b.icmp(IntCC::UnsignedLessThanOrEqual, away, room);
        let good = self.b.band(some, within);
        self.require(other, good);
    }

    /// A load whose addresses are vectors.
    fn load_slices(
        &mut self,
        g: &Group<'_>,
        (space, data): (Space, Data),
        address: &Vec<Value>,
        mask: &[Value],
        kind: Address,
    ) -> Vec<Vec<Value>> {
        let (low, high) = match space {
            Space::Lds => (address.clone(), None),
            _ => {
                let low = self.lanes(&g.body).word(false, address);
                let high = self.lanes(&g.body).word(true, address);
                (low, Some(high))
            }
        };
        let mut words = vec![Vec::new(); access::words(data)];
        for j in 0..g.body.slices {
            let a = Access {
                space,
                data,
                low: low[j],
                high: high.as_ref().map(|high| high[j]),
                mask: mask[j],
            };
            let loaded = self.load_slice(g, a, kind);
            for (all, word) in words.iter_mut().zip(loaded) {
                all.push(word);
            }
        }
        words
    }

    /// The host address of an address in a space.
    fn in_host(&mut self, space: Space, at: Value) -> Value {
        match space {
            Space::Lds => {
                let lds = self.lds_start();
                self.b.iadd(lds, at)
            }
            _ => at,
        }
    }

    /// A load by one host vector of lanes: one result vector for each word.
    fn load_slice(&mut self, g: &Group<'_>, a: Access, kind: Address) -> Vec<Value> {
        let ty = dwords_type(self.per());
        let first = self.first_of(g, a);
        let done = self.b.create_block();
        let words = access::words(a.data);
        let results: Vec<Value> = (0..words)
            .map(|_| self.b.append_block_param(done, ty))
            .collect();
        if let Address::Affine(stride) = kind {
            let each = self.b.create_block();
            self.load_affine(g, a, &first, stride, (each, done));
            self.b.switch_to_block(each);
        }
        let loaded = match a.data {
            Data::Dwords(1) | Data::U8 | Data::I8 | Data::U16 | Data::I16 if self.has_gathers() => {
                self.load_gathered(g, a, &first)
            }
            _ => self.load_each_lane(g, a, &first, done),
        };
        self.b.jump(done, &loaded);
        self.b.switch_to_block(done);
        results
    }

    /// The first active lane; lane 32 with an undefined address if there is none.
    fn first_of(&mut self, g: &Group<'_>, a: Access) -> First {
        let any = self.b.vhigh_bits(types::I32, a.mask);
        let lane = self.b.ctz(any);
        let lane = self.b.uextend(types::I64, lane);
        let low = self.word_of_lane(g, a.low, lane);
        let high = a.high.map(|high| self.word_of_lane(g, high, lane));
        First {
            lane,
            any,
            low,
            high,
        }
    }

    /// The word of the lane with this number (I64), which is less than 64.
    fn word_of_lane(&mut self, g: &Group<'_>, vector: Value, lane: Value) -> Value {
        let at = self
            .b
            .iadd_imm(g.body.frame, i64::from(frame_offset(g.temporary)));
        self.b.store(Memory::Trusted, vector, at, 0);
        let bytes = self.b.ishl_imm(lane, 2);
        let at = self.b.iadd(at, bytes);
        self.b.load(types::I32, Memory::Trusted, at, 0)
    }

    /// The first active lane's address (I64).
    fn first_address(&mut self, first: &First) -> Value {
        let low = self.b.uextend(types::I64, first.low);
        match first.high {
            Some(high) => {
                let high = self.b.uextend(types::I64, high);
                let high = self.b.ishl_imm(high, 32);
                self.b.bor(high, low)
            }
            None => low,
        }
    }

    /// Loads elements with stride `stride` and jumps to `done`; leaves for `other` if the addresses of active lanes do
    /// not have this stride, or if the address of any lane, active or not, is out of bounds.
    fn load_affine(
        &mut self,
        g: &Group<'_>,
        a: Access,
        first: &First,
        stride: i64,
        (other, done): (vir::Block, vir::Block),
    ) {
        let per = self.per();
        let ty = dwords_type(per);
        let bytes = i64::from(access::bytes(a.data));
        let start = self.first_address(first);
        let before = self.b.imul_imm(first.lane, stride);
        let start = self.b.isub(start, before);
        // Check that the active lanes' addresses equal the predicted ones.
        let word = self.b.ireduce(types::I32, start);
        let word = self.b.splat(ty, word);
        let steps = self
            .of_lanes(1, per)
            .dwords_by(|n| (stride as u32).wrapping_mul(n as u32));
        let expected = self.b.iadd(word, steps);
        let mut wrong = self.b.icmp(IntCC::NotEqual, a.low, expected);
        if let (Some(high), Some(word)) = (a.high, first.high) {
            let word = self.b.splat(ty, word);
            let other = self.b.icmp(IntCC::NotEqual, high, word);
            wrong = self.b.bor(wrong, other);
        }
        let wrong = self.b.band(wrong, a.mask);
        let wrong = self.b.vhigh_bits(types::I32, wrong);
        let affine = self.b.icmp_imm(IntCC::Equal, wrong, 0);
        self.require(other, affine);
        let span = stride * (per as i64 - 1);
        let lowest = match span.min(0) {
            0 => start,
            below => self.b.iadd_imm(start, below),
        };
        self.group_inside(other, a.space, lowest, span.abs() + bytes);
        if a.high.is_some() {
            // The lanes have one high word, so the low words must not wrap.
            let low = self.b.band_imm(lowest, i64::from(u32::MAX));
            let end = self.b.iadd_imm(low, span.abs() + bytes);
            let fits = self
                .b
                .icmp_imm(IntCC::UnsignedLessThanOrEqual, end, 1 << 32);
            self.require(other, fits);
        }
        if stride == 0 {
            let some = self.b.icmp_imm(IntCC::NotEqual, first.any, 0);
            self.require(g.fail, some);
        }
        let start = self.in_host(a.space, start);
        let loaded = self.load_group(start, 0, stride, a.data, 1);
        let loaded: Vec<Value> = loaded.into_iter().map(|word| word[0]).collect();
        self.b.jump(done, &loaded);
    }

    /// The addresses in bounds that have the first active lane's high word: the host address of low word 0, the lowest
    /// low word in bounds, and the distance from it to the highest (I64). Leaves for `fail` if there are none.
    fn low_words(&mut self, g: &Group<'_>, a: Access, first: &First) -> (Value, Value, Value) {
        let (base, len) = self.memory_of(a.space, true);
        let last = self.b.iadd_imm(len, -i64::from(access::bytes(a.data)));
        let zero = self.b.iconst(types::I64, 0);
        let (start, low, room) = match first.high {
            None => (self.lds_start(), zero, last),
            Some(high) => {
                let start = self.b.uextend(types::I64, high);
                let start = self.b.ishl_imm(start, 32);
                let away = self.b.isub(base, start);
                let low = self.b.smax(away, zero);
                let top = self.b.iadd(away, last);
                let most = self.b.iconst(types::I64, i64::from(u32::MAX));
                let top = self.b.smin(top, most);
                (start, low, self.b.isub(top, low))
            }
        };
        let any = self.b.icmp(IntCC::SignedGreaterThanOrEqual, room, zero);
        self.require(g.fail, any);
        (start, low, room)
    }

    /// Leaves for `fail` unless the addresses of all active lanes have the first one's high word and are in bounds.
    fn require_lanes(
        &mut self,
        g: &Group<'_>,
        a: Access,
        first: &First,
        (low, room): (Value, Value),
    ) {
        let ty = dwords_type(self.per());
        let [low, room] = [low, room].map(|value| {
            let word = self.b.ireduce(types::I32, value);
            self.b.splat(ty, word)
        });
        let away = match a.high {
            Some(_) => self.b.isub(a.low, low),
            None => a.low,
        };
        let mut wrong = self.b.icmp(IntCC::UnsignedGreaterThan, away, room);
        if let (Some(high), Some(word)) = (a.high, first.high) {
            let word = self.b.splat(ty, word);
            let other = self.b.icmp(IntCC::NotEqual, high, word);
            wrong = self.b.bor(wrong, other);
        }
        let wrong = self.b.band(wrong, a.mask);
        let wrong = self.b.vhigh_bits(types::I32, wrong);
        let good = self.b.icmp_imm(IntCC::Equal, wrong, 0);
        self.require(g.fail, good);
    }

    /// Loads dwords by a gather, and extracts bytes and shorts from their dwords.
    fn load_gathered(&mut self, g: &Group<'_>, a: Access, first: &First) -> Vec<Value> {
        let per = self.per();
        let ty = dwords_type(per);
        let some = self.b.create_block();
        let done = self.b.create_block();
        let result = self.b.append_block_param(done, ty);
        let none = self.nothing();
        self.b.brif(first.any, some, &[], done, &[none]);
        self.b.switch_to_block(some);
        let (start, lowest, room) = self.low_words(g, a, first);
        self.require_lanes(g, a, first, (lowest, room));
        if may_straddle(a.data) {
            let whole = self.are_in_one_dword(a.low);
            let other = self.with_bad(None, a.mask, whole);
            let good = self.is_none_bad(other);
            self.require(g.fail, good);
        }
        let lds = a.high.is_none();
        let base = self.gather_base(start, lds);
        let index = self.gather_index(a.data, a.low, lds);
        let loaded = self.gathered(a.data, a.mask, None, base, index);
        self.b.jump(done, &[loaded]);
        self.b.switch_to_block(done);
        vec![result]
    }

    /// Loads elements one by one; inactive lanes load the first active lane's element. Jumps to `done` if no lane is
    /// active.
    fn load_each_lane(
        &mut self,
        g: &Group<'_>,
        a: Access,
        first: &First,
        done: vir::Block,
    ) -> Vec<Value> {
        let per = self.per();
        let some = self.b.create_block();
        let none = self.nothing();
        let nothing = vec![none; access::words(a.data)];
        self.b.brif(first.any, some, &[], done, &nothing);
        self.b.switch_to_block(some);
        let (start, low, room) = self.low_words(g, a, first);
        self.require_lanes(g, a, first, (low, room));
        let ty = dwords_type(per);
        let word = self.b.splat(ty, first.low);
        let lows = self
            .of_lanes(1, per)
            .select(Width::W32, &[a.mask], &[a.low], &[word])[0];
        let slot = i64::from(frame_offset(g.temporary));
        let slot = self.b.iadd_imm(g.body.frame, slot);
        self.b.store(Memory::Trusted, lows, slot, 0);
        let count = match a.data {
            Data::Dwords(2 | 4) => per.min(8),
            _ => 4,
        };
        let mut parts = vec![Vec::new(); access::words(a.data)];
        for lane in (0..per).step_by(count) {
            let from: Vec<Value> = (lane..lane + count)
                .map(|k| {
                    let low = self.b.load(types::I32, Memory::Trusted, slot, 4 * k as i32);
                    let low = self.b.uextend(types::I64, low);
                    self.b.iadd(start, low)
                })
                .collect();
            let words = match from[..] {
                [a0, b0, c0, d0] => self.load_four([a0, b0, c0, d0], a.data),
                _ => {
                    let from =
                        <[Value; 8]>::try_from(from).expect("bug: neither four lanes nor eight");
                    self.load_each_of_eight(from, a.data)
                }
            };
            for (part, word) in parts.iter_mut().zip(words) {
                part.push(word);
            }
        }
        let mut lanes = self.of_lanes(1, per);
        let joined = parts.into_iter();
        let joined = joined.map(|parts| lanes.join_parts(count, parts)[0]);
        joined.collect()
    }
}

impl Emitter<'_> {
    /// Emits a load of `n` dwords at a wave address.
    pub(super) fn group_scalar_load(&mut self, g: &mut Group<'_>, block: &Block, v: Val, n: u8) {
        let node = &block.nodes[v.index()];
        let start = self.scalar(block, &g.schedule, node.args[0]);
        self.code
            .group_inside(g.fail, Space::Global, start, 4 * i64::from(n));
        let results: Vec<(Val, u8)> = results(block, v)
            .filter(|&(result, k)| k < n && g.code().needed[result.index()])
            .collect();
        let word = |e: &mut Self, at: Value, k: u8| {
            e.code
                .b
                .load(types::I32, Memory::Guest, at, 4 * i32::from(k))
        };
        let words: Vec<Value> = results.iter().map(|&(_, k)| word(self, start, k)).collect();
        for (&(result, _), word) in results.iter().zip(words) {
            self.values.insert(result, word);
        }
    }

    /// Saves the available values before code that does not dominate what follows.
    pub(super) fn save_available(&self, g: &Group<'_>) -> Available {
        Available {
            values: g.body.values.clone(),
            words: g.body.words.clone(),
            bases: g.bases.clone(),
            lane_masks: g.lane_masks.clone(),
            scalars: self.values.scalars().clone(),
            singles: self.singles.clone(),
        }
    }

    /// Restores the saved values after such code.
    pub(super) fn restore_available(&mut self, g: &mut Group<'_>, available: Available) {
        g.body.values = available.values;
        g.body.words = available.words;
        g.bases = available.bases;
        g.lane_masks = available.lane_masks;
        self.values.set_scalars(available.scalars);
        self.singles = available.singles;
    }

    /// Emits a load by lanes; its results become values of the group.
    pub(super) fn group_load(&mut self, g: &mut Group<'_>, block: &Block, v: Val) {
        let node = &block.nodes[v.index()];
        let Op::Load(space, data, _) = node.op else {
            unreachable!("bug: {:?} in a parallel region", node.op)
        };
        let mask = self.group_value(g, block, node.args[1]);
        let address = node.args[0];
        let affine = g.facts().filter(|facts| facts.loads.contains(&v));
        let stride = affine.and_then(|facts| facts.values[address.index()]?.stride);
        let wave = block.nodes[address.index()].ty.vary == Vary::Wave;
        let words: Vec<Vec<Value>> = match stride {
            _ if wave || stride == Some(0) => {
                self.group_load_one(g, block, v, &mask);
                return;
            }
            Some(stride) => self.group_load_affine(g, block, v, (stride, &mask)),
            None => {
                let kind = address_kind(g, block, v, data);
                let value = self.group_value(g, block, address);
                self.code.load_slices(g, (space, data), &value, &mask, kind)
            }
        };
        for (result, k) in results(block, v) {
            g.body.values.insert(result, words[usize::from(k)].clone());
        }
    }

    /// A load at one address for all active lanes. It is executed even if no lane is active, provided that the address
    /// is in bounds.
    fn group_load_one(&mut self, g: &mut Group<'_>, block: &Block, v: Val, mask: &[Value]) {
        let node = &block.nodes[v.index()];
        let Op::Load(space, data, _) = node.op else {
            unreachable!("bug: no load")
        };
        let start = self.group_base(g, block, node.args[0]);
        let guards = self.group_guards(g, block, node.args[0]);
        for good in guards {
            self.code.require(g.fail, good);
        }
        let start = match space {
            Space::Lds => self.code.b.uextend(types::I64, start),
            _ => start,
        };
        let [cold, done] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(cold);
        let words = access::words(data);
        let loaded_words: Vec<Value> = (0..words)
            .map(|_| self.code.b.append_block_param(done, types::I32))
            .collect();
        self.code
            .group_inside(cold, space, start, i64::from(access::bytes(data)));
        let start = self.code.in_host(space, start);
        let loaded = self.code.load_one(start, data);
        self.code.b.jump(done, &loaded);
        self.code.b.switch_to_block(cold);
        let any = self.any_lane(mask.to_vec());
        let none = self.code.b.icmp_imm(IntCC::Equal, any, 0);
        self.code.require(g.fail, none);
        let zero = self.code.b.iconst(types::I32, 0);
        self.code.b.jump(done, &vec![zero; words]);
        self.code.b.switch_to_block(done);
        for (result, k) in results(block, v) {
            let word = loaded_words[usize::from(k)];
            g.bases.insert(result, word);
            let lanes = self.code.lanes(&g.body).splat(Width::W32, word);
            g.body.values.insert(result, lanes);
        }
    }

    /// A load whose addresses are affine on the active lanes. It loads for all lanes of the group if their addresses
    /// are in bounds; otherwise code out of line loads for the active lanes.
    fn group_load_affine(
        &mut self,
        g: &mut Group<'_>,
        block: &Block,
        v: Val,
        (stride, mask): (i64, &[Value]),
    ) -> Vec<Vec<Value>> {
        let node = &block.nodes[v.index()];
        let Op::Load(space, data, _) = node.op else {
            unreachable!("bug: no load")
        };
        let address = node.args[0];
        let base = self.group_base(g, block, address);
        let guards = self.group_guards(g, block, address);
        let guarded = !guards.is_empty();
        let start = match space {
            Space::Lds => self.code.b.uextend(types::I64, base),
            _ => base,
        };
        let (slices, ty) = (g.body.slices, dwords_type(self.code.per()));
        let [each, done] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(each);
        let words = access::words(data);
        let results: Vec<Vec<Value>> = (0..words)
            .map(|_| {
                (0..slices)
                    .map(|_| self.code.b.append_block_param(done, ty))
                    .collect()
            })
            .collect();
        for good in guards {
            self.code.require(each, good);
        }
        let span = stride * (g.plan.group as i64 - 1);
        let lowest = match span.min(0) {
            0 => start,
            below => self.code.b.iadd_imm(start, below),
        };
        let bytes = i64::from(access::bytes(data));
        self.code
            .group_inside(each, space, lowest, span.abs() + bytes);
        let start = self.code.in_host(space, start);
        let loaded = self.code.load_group(start, 0, stride, data, slices);
        let loaded: Vec<Value> = loaded.into_iter().flatten().collect();
        self.code.b.jump(done, &loaded);

        self.code.b.switch_to_block(each);
        let available = self.save_available(g);
        let address = match guarded {
            // The guards may have failed: the lanes' own addresses.
            true => self.group_value(g, block, address),
            false => self
                .code
                .group_ramp(g, block.nodes[address.index()].ty.width, base, stride),
        };
        let loaded = self
            .code
            .load_slices(g, (space, data), &address, mask, Address::Any);
        self.restore_available(g, available);
        let loaded: Vec<Value> = loaded.into_iter().flatten().collect();
        self.code.b.jump(done, &loaded);
        self.code.b.switch_to_block(done);
        results
    }
}
