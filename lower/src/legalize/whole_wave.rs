//! Whole-wave operations: calls of the runtime, memory accesses, reads of single lanes. They are emitted between
//! segments; their lane arguments and results are in memory.

use std::mem::offset_of;

use super::affine::Known;
use super::scalar::joined;
use super::{Boundary, Code, Emitter, access, frame_offset, home_offset, scratch};
use crate::abi::Context;
use crate::analysis::schedule::{Class, Place, Schedule};
use crate::ir::functions::{CallHeader, EffectFn, LaneFn, atomic_code, mem_code, mem_code_more};
use crate::ir::memory::{bounds, data_words, load_results};
use crate::ir::{Block, Op, SiteId, Val, Vary, Width};
use crate::vir::{Memory, Value, types};

impl Code<'_> {
    /// Stores a wave word to all 64 lanes of a new slot and returns its address.
    fn broadcast(&mut self, word: Value) -> Value {
        let slot = self.take_slot();
        let at = self
            .b
            .iadd_imm(self.region.frame(), i64::from(frame_offset(slot)));
        let four = self.b.splat(types::I32X4, word);
        for i in 0..16 {
            self.b.store(Memory::Trusted, four, at, 16 * i);
        }
        at
    }
}

impl Code<'_> {}

impl Boundary {
    // ---- calls

    /// Addresses for the lane results of a call: their storage, or a slot that is never read.
    pub(super) fn outputs(
        &mut self,
        code: &mut Code<'_>,
        block: &Block,
        plan: &Schedule,
        v: Val,
        lanes: usize,
    ) -> Vec<Value> {
        let mut places = vec![None; lanes];
        for (i, node) in block.nodes.iter().enumerate() {
            let n = match node.op {
                Op::Result(n) if node.args[0] == v => usize::from(n),
                _ if i == v.index() => 0,
                _ => continue,
            };
            // A result whose storage is a VGPR's home has no other use, so it needs no slot.
            if n < lanes && plan.place[i].is_some() {
                places[n] = plan.place[i];
            }
        }
        places
            .into_iter()
            .map(|place| {
                let (base, offset) = match place {
                    Some(Place::Home(n)) => (code.region.wave(), self.home_to_write(n)),
                    Some(Place::Frame(slot)) => (code.region.frame(), frame_offset(slot)),
                    None => {
                        let slot = code.take_slot();
                        (code.region.frame(), frame_offset(slot))
                    }
                };
                code.offset_by(base, offset)
            })
            .collect()
    }
}

impl Emitter<'_> {
    /// Emits a whole-wave operation.
    pub(super) fn whole(&mut self, block: &Block, plan: &Schedule, v: Val) {
        let node = &block.nodes[v.index()];
        if let Some(affine) = self.facts.affine(v) {
            self.known_access(block, plan, v, Known::Affine(affine));
            return;
        }
        if let Some(table) = self.facts.table(v) {
            self.known_access(block, plan, v, Known::Table(&table));
            return;
        }
        if scratch::is_scratch(node.op) {
            self.scratch_access(block, plan, v);
            return;
        }
        if self.code.region.is_contiguous_form(block, v) {
            self.contiguous_access(block, plan, v);
            return;
        }
        if self.code.region.can_gather(block, v) {
            self.gather_access(block, plan, v);
            return;
        }
        match node.op {
            Op::LaneAt => {
                let value = self.lane_at(block, plan, v);
                self.values.insert(v, value);
            }
            Op::Call(f, mode) => self.call(block, plan, v, f, mode),
            Op::ScalarLoad(..) => {
                self.scalar_loads(block, plan, &[v]);
            }
            Op::Load(space, data, site) => {
                let code = mem_code(space, data);
                let results = load_results(data);
                self.memory_node(block, plan, v, (EffectFn::Load, site), code, results);
            }
            Op::Store(space, data, site) => {
                let code = mem_code(space, data);
                self.memory_node(block, plan, v, (EffectFn::Store, site), code, 0);
            }
            Op::Atomic(space, op, dwords, wanted, site) => {
                let code = atomic_code(space, op, dwords);
                let results = if wanted { usize::from(dwords) } else { 0 };
                self.memory_node(block, plan, v, (EffectFn::Atomic, site), code, results);
            }
            Op::Effect {
                f,
                site,
                lanes,
                scalars,
            } => {
                let args = self.call_words(block, plan, v, lanes);
                let condition = match f {
                    EffectFn::Observe => Some(node.args[1]),
                    EffectFn::ObserveWait => Some(node.args[0]),
                    _ => None,
                };
                if let Some(condition) = condition {
                    let condition = self.scalar(block, plan, condition);
                    self.announce(f, site, &args, condition);
                    return;
                }
                self.effect(
                    block,
                    plan,
                    v,
                    f,
                    site,
                    &args,
                    usize::from(lanes),
                    usize::from(scalars),
                );
            }
            _ => unreachable!("bug: {:?} is not a whole-wave node", node.op),
        }
    }

    /// Calls the runtime's function for a memory node.
    fn memory_node(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (f, site): (EffectFn, SiteId),
        code: u64,
        results: usize,
    ) {
        let node = &block.nodes[v.index()];
        let (address, more) = self.facts.address_and_more(block, v);
        let mut args = self.addresses(block, plan, address);
        args.push(self.mask_bits(block, plan, node.args[1]));
        let code = code | mem_code_more(more);
        args.push(self.code.integer(types::I64, code as i64));
        for &word in data_words(node) {
            args.extend(self.words(block, plan, word));
        }
        for &bound in bounds(node) {
            args.push(self.wave_word(block, plan, bound));
        }
        self.effect(block, plan, v, f, site, &args, results, 0);
    }

    // ---- arguments

    /// Addresses of the lane words of a load's results or a store's data, one for each word of an element.
    pub(super) fn storage(&mut self, block: &Block, plan: &Schedule, v: Val) -> Vec<Value> {
        let node = &block.nodes[v.index()];
        match node.op {
            Op::Load(_, data, _) => {
                self.boundary
                    .outputs(&mut self.code, block, plan, v, access::words(data))
            }
            _ => {
                let words = data_words(node).iter();
                words
                    .map(|&word| self.storage_of(block, plan, word))
                    .collect()
            }
        }
    }

    /// Address of a value's 64 lane words. A wave value is broadcast to a slot first.
    pub(super) fn storage_of(&mut self, block: &Block, plan: &Schedule, v: Val) -> Value {
        let node = &block.nodes[v.index()];
        if node.ty.vary == Vary::Wave {
            let word = self.scalar(block, plan, v);
            return self.code.broadcast(word);
        }
        match (node.op, plan.place[v.index()]) {
            (Op::ReadV(n), _) | (_, Some(Place::Home(n))) => {
                self.code.offset_by(self.code.region.wave(), home_offset(n))
            }
            (Op::LaneId, _) => {
                let slot = self.code.take_slot();
                let at = self
                    .code
                    .b
                    .iadd_imm(self.code.region.frame(), i64::from(frame_offset(slot)));
                for first in (0..64u32).step_by(4) {
                    let ids: Vec<u8> = (first..first + 4).flat_map(u32::to_le_bytes).collect();
                    let c = self.code.b.func.constant(&ids);
                    let ids = self.code.b.vconst(types::I32X4, c);
                    self.code
                        .b
                        .store(Memory::Trusted, ids, at, first as i32 * 4);
                }
                at
            }
            (_, Some(Place::Frame(slot))) => self
                .code
                .offset_by(self.code.region.frame(), frame_offset(slot)),
            _ => unreachable!("bug: %{} {node:?} has no place", v.0),
        }
    }

    /// Addresses of a value's lane words: one for W32, low and high for W64.
    fn words(&mut self, block: &Block, plan: &Schedule, v: Val) -> Vec<Value> {
        let node = &block.nodes[v.index()];
        if node.ty.width != Width::W64 {
            return vec![self.storage_of(block, plan, v)];
        }
        if node.ty.vary == Vary::Wave {
            let wide = self.scalar(block, plan, v);
            let lo = self.code.b.ireduce(types::I32, wide);
            let hi = self.code.b.ushr_imm(wide, 32);
            let hi = self.code.b.ireduce(types::I32, hi);
            return vec![self.code.broadcast(lo), self.code.broadcast(hi)];
        }
        match node.op {
            Op::Pair => {
                let lo = self.storage_of(block, plan, node.args[0]);
                let hi = self.storage_of(block, plan, node.args[1]);
                vec![lo, hi]
            }
            Op::Zext => {
                let lo = self.storage_of(block, plan, node.args[0]);
                let zero = self.code.b.iconst(types::I32, 0);
                vec![lo, self.code.broadcast(zero)]
            }
            _ => {
                let Some(Place::Frame(slot)) = plan.place[v.index()] else {
                    unreachable!("bug: %{} has no place", v.0)
                };
                [slot, slot + 1]
                    .into_iter()
                    .map(|s| {
                        self.code
                            .offset_by(self.code.region.frame(), frame_offset(s))
                    })
                    .collect()
            }
        }
    }

    /// Addresses of the low and the high words of an address; 0 in place of the latter if there are none or all are 0.
    pub(super) fn addresses(&mut self, block: &Block, plan: &Schedule, v: Val) -> Vec<Value> {
        let node = &block.nodes[v.index()];
        let lane = node.ty.vary != Vary::Wave;
        match (node.ty.width, node.op) {
            (Width::W64, Op::Zext) if lane => {
                let lo = self.storage_of(block, plan, node.args[0]);
                vec![lo, self.code.b.iconst(types::I64, 0)]
            }
            (Width::W64, _) => self.words(block, plan, v),
            _ => {
                let lo = self.storage_of(block, plan, v);
                vec![lo, self.code.b.iconst(types::I64, 0)]
            }
        }
    }

    /// A wave value as a 64-bit argument word of a call.
    pub(super) fn wave_word(&mut self, block: &Block, plan: &Schedule, v: Val) -> Value {
        let word = self.scalar(block, plan, v);
        match block.nodes[v.index()].ty.width {
            Width::W64 => word,
            Width::W1 | Width::W32 => self.code.b.uextend(types::I64, word),
        }
    }

    /// The argument words of a call with effects: the header, then one word for each operand. The operand's type
    /// determines both its word and its bit in the header.
    fn call_words(&mut self, block: &Block, plan: &Schedule, v: Val, lanes: u8) -> Vec<Value> {
        let operands = block.nodes[v.index()].args;
        let mut words = Vec::with_capacity(1 + operands.len());
        let mut slots = 0;
        for (i, &operand) in operands.iter().enumerate() {
            words.push(match block.nodes[operand.index()].ty.vary {
                Vary::Wave => self.wave_word(block, plan, operand),
                Vary::Row | Vary::Period16 | Vary::Lane => {
                    slots |= 1 << i;
                    self.storage_of(block, plan, operand)
                }
            });
        }
        let header = CallHeader::new(slots, operands.len(), lanes);
        words.insert(0, self.code.integer(types::I64, header.0.cast_signed()));
        words
    }

    fn call(&mut self, block: &Block, plan: &Schedule, v: Val, f: LaneFn, mode: u32) {
        let node = &block.nodes[v.index()];
        let mut args = Vec::new();
        for &a in node.args.iter() {
            args.extend(self.words(block, plan, a));
        }
        let (_, results) = f.shape();
        let out = self
            .boundary
            .outputs(&mut self.code, block, plan, v, results);
        let args = self.calls.store_args(&mut self.code, &args);
        let out = self.calls.store_outputs(&mut self.code, &out);
        let mode = self.code.b.iconst(types::I32, i64::from(mode));
        let callee = self.code.function(f as usize);
        self.code.b.call_lanes(callee, [out, args, mode]);
    }

    #[allow(clippy::too_many_arguments, reason = "a call's facts, passed once")]
    fn effect(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        f: EffectFn,
        site: SiteId,
        args: &[Value],
        lanes: usize,
        scalars: usize,
    ) {
        let out = self.boundary.outputs(&mut self.code, block, plan, v, lanes);
        self.effect_to(block, plan, v, (f, site), args, &out);
        self.take_scalars(block, v, lanes, scalars);
    }

    /// Calls a function of the sanitizer, which has no results and no fault, unless the condition is 0.
    fn announce(&mut self, f: EffectFn, site: SiteId, args: &[Value], condition: Value) {
        let [call, done] = [(); 2].map(|()| self.code.b.create_block());
        self.code.b.set_cold_block(call);
        self.code.b.brif(condition, call, &[], done, &[]);
        self.code.enter(call);
        let at = self.calls.store_args(&mut self.code, args);
        self.code.call_effect(f, site, at, at);
        self.code.b.jump(done, &[]);
        self.code.enter(done);
    }

    /// Calls a function with effects that stores its lane results to `out`.
    pub(super) fn effect_to(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (f, site): (EffectFn, SiteId),
        args: &[Value],
        out: &[Value],
    ) {
        let new_exec = self.new_exec(block, plan, v);
        let at = self.calls.store_changed_args(&mut self.code, args);
        let out = match out {
            [] if self.code.region.options().baseline => at,
            _ => self.calls.store_outputs(&mut self.code, out),
        };
        let status = self.code.call_effect(f, site, at, out);
        let pc = self.code.region.pc_of(site);
        self.check(status, pc, new_exec);
        self.calls.keep_args(&self.code, args);
    }

    /// Reads the wave results of a call from the context.
    fn take_scalars(&mut self, block: &Block, v: Val, lanes: usize, scalars: usize) {
        for (i, node) in block.nodes.iter().enumerate() {
            let n = match node.op {
                Op::Result(n) if node.args[0] == v => usize::from(n),
                _ if i == v.index() => 0,
                _ => continue,
            };
            if n >= lanes && n < lanes + scalars {
                let at = offset_of!(Context, ret) + 4 * (n - lanes);
                let word = self.code.context(types::I32, at);
                self.values.insert(Val(i as u32), word);
            }
        }
    }

    // ---- single lanes

    /// Reads one lane of a value.
    fn lane_at(&mut self, block: &Block, plan: &Schedule, v: Val) -> Value {
        let node = &block.nodes[v.index()];
        let index = self.scalar(block, plan, node.args[1]);
        let lane = self.code.b.band_imm(index, 63);
        let lane = self.code.b.uextend(types::I64, lane);
        let source = node.args[0];
        let what = &block.nodes[source.index()];
        if what.op == Op::LaneId {
            return self.code.b.ireduce(types::I32, lane);
        }
        if what.ty.width == Width::W1 {
            let bits = self.mask_bits(block, plan, source);
            let bit = self.code.b.ushr(bits, lane);
            let bit = self.code.b.band_imm(bit, 1);
            return self.code.b.ireduce(types::I8, bit);
        }
        debug_assert!(
            plan.class[source.index()] != Class::Scalar,
            "a lane of a wave value folds to the value"
        );
        let bytes = self.code.b.ishl_imm(lane, 2);
        let words: Vec<Value> = self
            .words(block, plan, source)
            .into_iter()
            .map(|base| {
                let at = self.code.b.iadd(base, bytes);
                self.code.b.load(types::I32, Memory::Trusted, at, 0)
            })
            .collect();
        match words[..] {
            [word] => word,
            [low, high] => joined(&mut self.code.b, low, high),
            _ => unreachable!("bug: a value of {} words", words.len()),
        }
    }
}
