//! Scratch accesses. The dwords of the 64 lanes are interleaved, so each word of an element at one offset of all lanes
//! is 64 contiguous dwords. The optimizing tier emits an inline form of an access, which is executed if the access lies
//! in the running wave's own scratch. No other wave accesses that memory, so a byte or short is stored by rewriting its
//! dword. The runtime executes all other accesses completely, including those through descriptors of other buffers:
//! inline code moves nothing before all its checks have passed.
//!
//! Where offsets differ by lane, hosts with gathers use these and scatters. Other hosts call the runtime, which is as
//! fast as inline code for each lane.

use std::mem::offset_of;

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::affine::Singles;
use super::lanes::dwords_type;
use super::{BlockFacts, Code, Emitter, Region, access};
use crate::abi::Context;
use crate::analysis::schedule::Schedule;
use crate::ir::functions::{EffectFn, mem_code};
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, SCRATCH_DESCRIPTOR, Val, Vary, Width};
use crate::vir::{Block as HostBlock, IntCC, Memory, Op as VirOp, Value, types};

pub(super) use divergent::{Elements, Index};

mod divergent;

/// Bytes from one dword of a lane to its next dword.
pub(super) const DWORD_STRIDE: i64 = 4 * LANES as i64;

/// Is it an access of scratch, or of a buffer that may be scratch?
pub(super) fn is_scratch(op: Op) -> bool {
    matches!(
        load_or_store(op),
        Some((_, Space::Scratch | Space::Buffer, ..))
    )
}

/// The part of the wave's scratch that an inline access may touch.
#[derive(Clone, Copy)]
pub(in crate::legalize) struct Window {
    /// Host address of offset 0 of lane 0 (I64).
    pub(super) start: Value,
    /// Bytes from `start` to the end of the wave's scratch (I64); 0 if the access cannot be inline.
    pub(super) room: Value,
}

/// An access whose data or results are in slots.
#[derive(Clone, Copy)]
struct Access<'a> {
    load: bool,
    data: Data,
    /// Mask of the active lanes (I64).
    exec: Value,
    storage: &'a [Value],
    window: Window,
    /// Smaller offsets take the slow path.
    least: u32,
}

/// The offset of all active lanes.
#[derive(Clone, Copy)]
enum Offset {
    Constant(u32),
    /// Computed at run time (I32).
    Word(Value),
}

/// Location of the elements at one offset of all lanes.
#[derive(Clone, Copy)]
struct Location {
    /// The address of lane 0's first dword is `base + bytes`.
    base: Value,
    bytes: i32,
    /// Bit offset of a byte or short in its dword (I32).
    shift: Value,
}

/// Bits of an offset that must be 0 for an inline access, so that no element straddles two dwords.
pub(super) fn alignment(data: Data) -> u32 {
    match data {
        Data::Dwords(_) => 3,
        Data::U16 | Data::I16 => 1,
        _ => 0,
    }
}

/// The width in bits of a byte or short, and whether it is signed; `None` for dwords.
pub(super) fn part(data: Data) -> Option<(u32, bool)> {
    match data {
        Data::U8 => Some((8, false)),
        Data::I8 => Some((8, true)),
        Data::U16 => Some((16, false)),
        Data::I16 => Some((16, true)),
        _ => None,
    }
}

impl Code<'_> {
    /// Moves elements as one access if the active lanes' offsets are equal, otherwise by gathers or scatters. Jumps to
    /// `done`, or branches to `slow` before anything is moved.
    fn scratch_each(
        &mut self,
        a: Access<'_>,
        (offsets, first): (Value, Value),
        slow: HostBlock,
        done: HostBlock,
    ) {
        let ty = dwords_type(self.per());
        let all = self.b.splat(ty, first);
        let same = self.scratch_lanes(a.exec, offsets, |e, words| {
            e.b.icmp(IntCC::Equal, words, all)
        });
        let [one, many] = [(); 2].map(|()| self.b.create_block());
        self.b.brif(same, one, &[], many, &[]);
        self.enter(one);
        self.scratch_uniform(a, Offset::Word(first), slow, done);
        self.enter(many);
        self.scratch_divergent(a, offsets, slow, done);
    }

    /// Does `good` hold for the words of all active lanes (I8)? It is called for each host vector of words.
    fn scratch_lanes(
        &mut self,
        exec: Value,
        slot: Value,
        mut good: impl FnMut(&mut Self, Value) -> Value,
    ) -> Value {
        let per = self.per();
        let mut bad = None;
        for lane in (0..LANES).step_by(per) {
            let (ty, at) = (dwords_type(per), 4 * lane as i32);
            let words = self.b.load(ty, Memory::Trusted, slot, at);
            let on = self.on_from(exec, lane, per);
            let good = good(self, words);
            bad = Some(self.with_bad(bad, on, good));
        }
        self.is_none_bad(bad.expect("a wave has lanes"))
    }

    /// Moves the elements at one offset of all lanes and jumps to `done`; branches to `slow` if they are not in the
    /// window.
    fn scratch_uniform(&mut self, a: Access<'_>, offset: Offset, slow: HostBlock, done: HostBlock) {
        let (mask, size) = (alignment(a.data), DWORD_STRIDE * a.storage.len() as i64);
        let order = IntCC::UnsignedLessThanOrEqual;
        let location = match offset {
            Offset::Constant(n) => {
                let bytes = i32::try_from(i64::from(n & !3) * (DWORD_STRIDE / 4)).ok();
                let fits = |&bytes: &i32| i64::from(bytes) + size <= i64::from(i32::MAX);
                let good = n & mask == 0 && n >= a.least;
                let Some(bytes) = bytes.filter(fits).filter(|_| good) else {
                    self.b.jump(slow, &[]);
                    return;
                };
                let end = self.b.iconst(types::I64, i64::from(bytes) + size);
                let inside = self.b.icmp(order, end, a.window.room);
                self.require(slow, inside);
                let shift = self.b.iconst(types::I32, i64::from(n % 4 * 8));
                Location {
                    base: a.window.start,
                    bytes,
                    shift,
                }
            }
            Offset::Word(word) => {
                let wide = self.b.uextend(types::I64, word);
                let dword = self.b.band_imm(wide, !3);
                let bytes = self.b.imul_imm(dword, DWORD_STRIDE / 4);
                let end = self.b.iadd_imm(bytes, size);
                let mut good = self.b.icmp(order, end, a.window.room);
                if mask != 0 {
                    let rest = self.b.band_imm(word, i64::from(mask));
                    let aligned = self.b.icmp_imm(IntCC::Equal, rest, 0);
                    good = self.b.band(good, aligned);
                }
                if a.least != 0 {
                    let order = IntCC::UnsignedGreaterThanOrEqual;
                    let above = self.b.icmp_imm(order, word, i64::from(a.least));
                    good = self.b.band(good, above);
                }
                self.require(slow, good);
                let base = self.b.iadd(a.window.start, bytes);
                let shift = self.b.band_imm(word, 3);
                let shift = self.b.ishl_imm(shift, 3);
                Location {
                    base,
                    bytes: 0,
                    shift,
                }
            }
        };
        self.if_full(a.exec, |e| {
            e.move_uniform(a, location, false);
            e.b.jump(done, &[]);
        });
        self.move_uniform(a, location, true);
        self.b.jump(done, &[]);
    }

    /// Moves the elements of all lanes, or only those of the active lanes.
    fn move_uniform(&mut self, a: Access<'_>, location: Location, masked: bool) {
        let (per, base) = (self.per(), location.base);
        let ty = dwords_type(per);
        for lane in (0..LANES).step_by(per) {
            let on = masked.then(|| self.on_from(a.exec, lane, per));
            let place = 4 * lane as i32;
            for (i, &slot) in a.storage.iter().enumerate() {
                let at = location.bytes + (DWORD_STRIDE * i as i64) as i32 + place;
                let dwords = part(a.data).is_none();
                if dwords
                    && per > crate::host::LANES
                    && let Some(on) = on
                {
                    self.move_masked(a.load, on, (base, at), (slot, place));
                    continue;
                }
                let inside = |e: &mut Self| e.load_vector(ty, base, at);
                let outside = |e: &mut Self| e.b.load(ty, Memory::Trusted, slot, place);
                let (new, old) = match (dwords, a.load) {
                    (true, true) => (inside(self), on.map(|_| outside(self))),
                    (true, false) => (outside(self), on.map(|_| inside(self))),
                    (false, true) => {
                        let held = inside(self);
                        let part = self.loaded_part(held, a.data, location.shift);
                        (part, on.map(|_| outside(self)))
                    }
                    (false, false) => {
                        let (held, word) = (inside(self), outside(self));
                        let new = self.with_part(held, word, a.data, location.shift);
                        (new, Some(held))
                    }
                };
                let new = match (on, old) {
                    (Some(on), Some(old)) => {
                        let mut lanes = self.of_lanes(1, per);
                        lanes.select(Width::W32, &[on], &[new], &[old])[0]
                    }
                    _ => new,
                };
                match a.load {
                    true => {
                        self.b.store(Memory::Trusted, new, slot, place);
                    }
                    false => self.store_vector(new, base, at),
                }
            }
        }
    }

    /// Moves the dwords of the active ones of 16 lanes between scratch and a slot.
    fn move_masked(
        &mut self,
        load: bool,
        on: Value,
        (base, at): (Value, i32),
        (slot, place): (Value, i32),
    ) {
        let ty = dwords_type(self.per());
        let words = self.b.load(ty, Memory::Trusted, slot, place);
        let at = self.b.iadd_imm(base, i64::from(at));
        if load {
            let new = self.b.op(VirOp::LoadSome, &[words, on, at], ty);
            self.b.store(Memory::Trusted, new, slot, place);
        } else {
            self.b.effect(VirOp::StoreSome, &[words, on, at]);
        }
    }

    /// Shifts dwords by one amount (I32), or by a vector of amounts.
    fn scratch_shift(&mut self, op: Op, v: Value, amount: Value) -> Value {
        let per = self.per();
        let mut lanes = self.of_lanes(1, per);
        if !lanes.b.func.ty(amount).is_vector() {
            return lanes.shift_by_wave(op, &[v], amount)[0];
        }
        let f = match op {
            Op::Shl => VirOp::ShiftLeft,
            _ => VirOp::ShiftRight,
        };
        lanes.b.op(f, &[v, amount], dwords_type(per))
    }

    /// Extracts the byte or short at bit `shift` of each dword and extends it to 32 bits.
    pub(super) fn loaded_part(&mut self, dwords: Value, data: Data, shift: Value) -> Value {
        let (bits, signed) = part(data).expect("bug: a dword is no part of one");
        let low = self.scratch_shift(Op::Lshr, dwords, shift);
        let up = self.b.iconst(types::I32, i64::from(32 - bits));
        let high = self.b.ishl(low, up);
        match signed {
            true => self.b.sshr(high, up),
            false => self.b.ushr(high, up),
        }
    }

    /// Inserts the low bits of `words` into dwords as the byte or short at bit `shift`.
    pub(super) fn with_part(
        &mut self,
        dwords: Value,
        words: Value,
        data: Data,
        shift: Value,
    ) -> Value {
        let (bits, _) = part(data).expect("bug: a dword is no part of one");
        let per = self.per();
        let ones = u32::MAX >> (32 - bits);
        let ones = self.of_lanes(1, per).dwords_by(|_| ones);
        let word = self.b.band(words, ones);
        let word = self.scratch_shift(Op::Shl, word, shift);
        let mask = self.scratch_shift(Op::Shl, ones, shift);
        let rest = self.b.bnot(mask);
        let rest = self.b.band(dwords, rest);
        self.b.bor(rest, word)
    }

    /// Moves elements whose offsets differ by lane, by gathers or scatters, and jumps to `done`; branches to
    /// `slow` if one is not in the window.
    fn scratch_divergent(
        &mut self,
        a: Access<'_>,
        offsets: Value,
        slow: HostBlock,
        done: HostBlock,
    ) {
        let elements = Elements {
            data: a.data,
            window: a.window,
            least: a.least,
        };
        let last = self.last_offset(elements, slow);
        self.require_each(a.exec, offsets, slow, |e, words| {
            e.is_valid_offset(elements, words, last)
        });
        let starts = self.word_starts(a.data, a.window.start);
        self.each_vector(a.exec, |e, vector| {
            let words = e.words_in(offsets, vector);
            let lanes = e.lane_bytes(vector);
            let index = e.scratch_index(a.data, words, lanes);
            for (&slot, &start) in a.storage.iter().zip(&starts) {
                let held = e.words_in(slot, vector);
                if a.load {
                    let new = e.gathered(a.data, vector.on, Some(held), start, index);
                    e.store_words(slot, vector, new);
                } else {
                    e.scattered(a.data, vector.on, held, start, index);
                }
            }
        });
        self.b.jump(done, &[]);
    }
}

impl BlockFacts {
    /// Is a node an access with an inline form? That form is executed if the access lies in the wave's own scratch.
    pub(super) fn is_inline_scratch(&self, region: &Region<'_>, block: &Block, v: Val) -> bool {
        let node = &block.nodes[v.index()];
        let Some((_, Space::Scratch | Space::Buffer, data, _)) = load_or_store(node.op) else {
            return false;
        };
        let wave = block.nodes[node.args[0].index()].ty.vary == Vary::Wave;
        let one = wave || self.has_uniform_offset(v);
        !region.options().baseline
            && (one || region.options().host.has_gathers())
            && access::is_known(data)
    }
}

impl Singles {
    /// The window of an access: from its offset 0 to the end of the wave's scratch. `room` is 0 if the start is outside
    /// of the wave's scratch or misaligned, or if the descriptor is not one of scratch or has too few records. Accesses
    /// of a block with the same bounds share a window.
    pub(super) fn scratch_window(
        &mut self,
        code: &mut Code<'_>,
        v: Val,
        block: &Block,
        space: Space,
        bounding: &[Value],
    ) -> Window {
        let mut key = bounds(&block.nodes[v.index()]).to_vec();
        key.truncate(3);
        if let Some(window) = self.window(&key) {
            return window;
        }
        let (at, len) = (
            offset_of!(Context, scratch),
            offset_of!(Context, scratch_len),
        );
        let [at, len] = [at, len].map(|field| code.context(types::I64, field));
        let order = IntCC::UnsignedLessThanOrEqual;
        let start = match space {
            Space::Scratch => bounding[0],
            _ => {
                let base = code.b.band_imm(bounding[0], (1 << 48) - 1);
                code.b.iadd(base, bounding[2])
            }
        };
        let away = code.b.isub(start, at);
        let inside = code.b.icmp(order, away, len);
        // Some targets ignore the low bits of misaligned addresses.
        let rest = code.b.band_imm(start, 3);
        let aligned = code.b.icmp_imm(IntCC::Equal, rest, 0);
        let mut good = code.b.band(inside, aligned);
        let room = code.b.isub(len, away);
        if space != Space::Scratch {
            let wrong = [0, 1].map(|i| {
                let word = SCRATCH_DESCRIPTOR[i];
                let [mask, bits] = [word.mask, word.bits].map(|w| (u64::from(w) << 32) as i64);
                let word = code.b.band_imm(bounding[i], mask);
                code.b.bxor_imm(word, bits)
            });
            let wrong = code.b.bor(wrong[0], wrong[1]);
            let kind = code.b.icmp_imm(IntCC::Equal, wrong, 0);
            // Some targets compare the sum of offset and SOFFSET with the number of records. This check covers all
            // offsets in the window.
            let records = code.b.band_imm(bounding[1], i64::from(u32::MAX));
            let most = code.b.ushr_imm(room, 6);
            let most = code.b.iadd(most, bounding[2]);
            let bound = code.b.icmp(order, most, records);
            let both = code.b.band(kind, bound);
            good = code.b.band(good, both);
        }
        let zero = code.b.iconst(types::I64, 0);
        let room = code.b.select(good, room, zero);
        let window = Window { start, room };
        self.keep_window(key, window);
        window
    }
}

impl Emitter<'_> {
    /// Emits an access of scratch.
    pub(super) fn scratch_access(&mut self, block: &Block, plan: &Schedule, v: Val) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, site) = access.expect("bug: no load and no store");
        let exec = self.mask_bits(block, plan, node.args[1]);
        // Before the branch, because all paths use it.
        self.new_exec(block, plan, v);
        let storage = self.storage(block, plan, v);
        let mut bounding = Vec::new();
        for &bound in bounds(node) {
            bounding.push(self.wave_word(block, plan, bound));
        }
        let address = &block.nodes[node.args[0].index()];
        let wave = address.ty.vary == Vary::Wave;
        let constant = match address.op {
            Op::Const(c) => Some(c as u32),
            _ => None,
        };
        let offset = match wave {
            true => self.scalar(block, plan, node.args[0]),
            false => self.storage_of(block, plan, node.args[0]),
        };
        let call = |e: &mut Self| {
            let code = e.code.integer(types::I64, mem_code(space, data) as i64);
            let kind = e.code.integer(types::I64, i64::from(wave));
            let offset = match wave {
                true => e.code.b.uextend(types::I64, offset),
                false => offset,
            };
            let mut args = vec![offset, kind, exec, code];
            let (f, out) = match load {
                true => (EffectFn::Load, storage.as_slice()),
                false => (EffectFn::Store, &[][..]),
            };
            if !load {
                args.extend(&storage);
            }
            args.extend(&bounding);
            e.effect_to(block, plan, v, (f, site), &args, out);
        };
        let uniform = self.facts.has_uniform_offset(v);
        if !self.facts.is_inline_scratch(&self.code.region, block, v) {
            call(self);
            return;
        }
        let window = self
            .singles
            .scratch_window(&mut self.code, v, block, space, &bounding);
        let least = match (space, bounds(node)) {
            (Space::Buffer, &[_, _, _, least]) => match block.nodes[least.index()].op {
                Op::Const(least) => least as u32,
                _ => unreachable!("bug: a bound of offsets that is not known"),
            },
            _ => 0,
        };
        let [some, slow, done] = [(); 3].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(slow);
        self.code.b.brif(exec, some, &[], done, &[]);
        self.code.enter(some);
        let a = Access {
            load,
            data,
            exec,
            storage: &storage,
            window,
            least,
        };
        match (constant, wave) {
            (Some(n), _) => self
                .code
                .scratch_uniform(a, Offset::Constant(n), slow, done),
            (None, true) => self
                .code
                .scratch_uniform(a, Offset::Word(offset), slow, done),
            (None, false) => {
                let first = self.code.b.ctz(exec);
                let at = self.code.b.ishl_imm(first, 2);
                let first = self.code.word_at(offset, at);
                if uniform {
                    self.code
                        .scratch_uniform(a, Offset::Word(first), slow, done);
                } else {
                    self.code.scratch_each(a, (offset, first), slow, done);
                }
            }
        }
        self.code.enter(slow);
        call(self);
        self.code.b.jump(done, &[]);
        self.code.enter(done);
    }
}
