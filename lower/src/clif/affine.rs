//! Memory accesses whose addresses are known to be affine: one scalar address and one range check for the
//! wave, or for each of its rows, then vectors. What the check does not cover (a wrapped address, a registered range, a fault) goes
//! the long way: all addresses are computed and the runtime's function is called.

use std::collections::HashMap;
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::scalar::Scalars;
use super::whole::{bounds, data_words};
use super::{Emitter, flags, offset32, trusted};
use crate::abi::Context;
use crate::facts::Affine;
use crate::functions::{EffectFn, mem_code};
use crate::ir::{Block, Op, SiteId, Val, Vary};
use crate::schedule::{Place, Schedule};

/// Longest address expression that is computed anew for single lanes.
const MAX_NODES: usize = 24;

/// The leaves of an address expression, if it can be computed for a single lane: registers, results in
/// memory, wave values.
pub(crate) fn leaves(block: &Block, address: Val) -> Option<Vec<Val>> {
    let mut leaves = Vec::new();
    let mut work = vec![address];
    let mut seen = Vec::new();
    while let Some(v) = work.pop() {
        if seen.contains(&v) {
            continue;
        }
        seen.push(v);
        if seen.len() > MAX_NODES {
            return None;
        }
        let node = &block.nodes[v.index()];
        if node.ty.vary == Vary::Wave {
            leaves.push(v);
            continue;
        }
        match node.op {
            Op::ReadV(_)
            | Op::Result(_)
            | Op::Call(..)
            | Op::Load(..)
            | Op::Atomic(..)
            | Op::Effect { .. } => {
                leaves.push(v);
            }
            Op::LaneId => {}
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                // On the lanes that act it is the new value.
                work.push(node.args[1]);
            }
            Op::Add
            | Op::Sub
            | Op::Mul
            | Op::And
            | Op::Or
            | Op::Xor
            | Op::Not
            | Op::Shl
            | Op::Lshr
            | Op::Ashr
            | Op::MinU
            | Op::MaxU
            | Op::MinS
            | Op::MaxS
            | Op::Pair
            | Op::Lo
            | Op::Hi
            | Op::Zext
            | Op::Sext
            | Op::SextFrom(_)
            | Op::ByteU(_) => work.extend(node.args.iter()),
            _ => return None,
        }
    }
    Some(leaves)
}

/// Is a memory node one that this file emits, given how its address varies?
pub(crate) fn suits(block: &Block, v: Val, affine: Affine, row: usize) -> bool {
    let node = &block.nodes[v.index()];
    let (space, data) = match node.op {
        Op::Load(space, data, _) | Op::Store(space, data, _) => (space, data),
        _ => return false,
    };
    let known_space = matches!(space, Space::Global | Space::Flat | Space::Lds);
    let few_rows = affine.whole || row >= 8;
    let known_shape = match data {
        Data::Dwords(n) => {
            affine.stride == 0 || affine.stride == 4 * i64::from(n) && matches!(n, 1 | 2 | 4)
        }
        _ => false,
    };
    let bits_known = matches!(block.nodes[node.args[1].index()].op, Op::ExecMask);
    known_space && known_shape && few_rows && bits_known && leaves(block, node.args[0]).is_some()
}

/// A run of lanes whose addresses were checked.
struct Piece {
    /// Its first and last lane, I64.
    first: Value,
    last: Value,
    /// Host address of the first lane's data.
    start: Value,
}

/// What an access needs to know.
struct Access {
    /// Lanes that act.
    exec: Value,
    /// Number of the first lane that acts, I64.
    first: Value,
    /// Number of the last lane that acts, I64.
    last: Value,
    /// Address of the first lane that acts.
    start: Value,
    stride: i64,
    words: usize,
}

impl Emitter<'_> {
    /// The value of a lane expression at one lane (I64).
    fn at_lane(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        lane: Value,
        known: &mut HashMap<Val, Value>,
    ) -> Value {
        if let Some(&value) = known.get(&v) {
            return value;
        }
        let node = &block.nodes[v.index()];
        let value = if node.ty.vary == Vary::Wave {
            self.scalar(block, plan, v)
        } else {
            match (node.op, plan.place[v.index()]) {
                (Op::ReadV(n), _) | (_, Some(Place::Home(n))) => {
                    let bytes = self.b.ins().ishl_imm_u(lane, 2);
                    let at = self.b.ins().iadd(self.wave, bytes);
                    self.b
                        .ins()
                        .load(types::I32, trusted(), at, Self::home_offset(n))
                }
                (Op::LaneId, _) => self.b.ins().ireduce(types::I32, lane),
                (
                    Op::Result(_)
                    | Op::Call(..)
                    | Op::Load(..)
                    | Op::Atomic(..)
                    | Op::Effect { .. },
                    Some(Place::Frame(slot)),
                ) => {
                    let bytes = self.b.ins().ishl_imm_u(lane, 2);
                    let at = self.b.ins().iadd(self.frame, bytes);
                    self.b
                        .ins()
                        .load(types::I32, trusted(), at, Self::frame_offset(slot))
                }
                (Op::Select, _) => self.at_lane(block, plan, node.args[1], lane, known),
                _ => {
                    let args: Vec<Value> = node
                        .args
                        .iter()
                        .map(|&a| self.at_lane(block, plan, a, lane, known))
                        .collect();
                    let width = block.nodes[node.args[0].index()].ty.width;
                    let exact_nan = self.o.exact_nan;
                    Scalars {
                        b: &mut self.b,
                        exact_nan,
                    }
                    .op(node.op, width, &args)
                }
            }
        };
        known.insert(v, value);
        value
    }

    /// Emits a load or store whose address is affine.
    pub(super) fn affine_access(&mut self, block: &Block, plan: &Schedule, v: Val, affine: Affine) {
        let node = &block.nodes[v.index()];
        let (load, space, data, site) = match node.op {
            Op::Load(space, data, site) => (true, space, data, site),
            Op::Store(space, data, site) => (false, space, data, site),
            _ => unreachable!("bug: {:?} is no access", node.op),
        };
        let Data::Dwords(n) = data else {
            unreachable!("bug: {data:?} is not affine")
        };
        let words = usize::from(n);
        // Everything that both ways need is computed before they part.
        for leaf in leaves(block, node.args[0]).unwrap_or_default() {
            if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, leaf);
            }
        }
        let exec = self.mask_bits(block, plan, node.args[1]);
        let new_exec = self.new_exec(block, plan, v);
        let places = if load {
            self.outputs(block, plan, v, words)
        } else {
            let data: Vec<Val> = data_words(node).to_vec();
            data.iter()
                .map(|&d| self.place_address(block, plan, d))
                .collect()
        };
        let mut bounding = Vec::new();
        for &bound in bounds(node) {
            bounding.extend(self.effect_arg(block, plan, bound));
        }
        let done = self.b.create_block();
        let some = self.b.create_block();
        self.b.ins().brif(exec, some, &[], done, &[]);
        self.b.switch_to_block(some);
        let memory = self.memory_of(space);
        let stride = affine.stride;
        let fast = self.b.create_block();
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        let accesses = if affine.whole {
            let first = self.b.ins().ctz(exec);
            let leading = self.b.ins().clz(exec);
            let c63 = self.b.ins().iconst(types::I64, 63);
            let last = self.b.ins().isub(c63, leading);
            vec![self.piece_of(block, plan, v, affine, (first, last), memory, slow)]
        } else {
            // Rows go inline when all lanes act.
            let on = self.b.create_block();
            let full = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
            self.b.ins().brif(full, on, &[], slow, &[]);
            self.b.switch_to_block(on);
            (0..LANES as i64 / self.row)
                .map(|n| {
                    let first = self.b.ins().iconst(types::I64, n * self.row);
                    let last = self.b.ins().iconst(types::I64, (n + 1) * self.row - 1);
                    self.piece_of(block, plan, v, affine, (first, last), memory, slow)
                })
                .collect()
        };
        self.b.ins().jump(fast, &[]);

        self.b.switch_to_block(slow);
        let site = (site, new_exec);
        self.long_way(
            block,
            plan,
            v,
            (load, space, data),
            site,
            exec,
            (&places, &bounding),
        );
        self.b.ins().jump(done, &[]);

        self.b.switch_to_block(fast);
        if !affine.whole {
            for (n, access) in accesses.iter().enumerate() {
                let bytes = 4 * n as i64 * self.row;
                self.row_access(load, (access, stride), words, &places, bytes);
            }
            self.b.ins().jump(done, &[]);
            self.b.switch_to_block(done);
            return;
        }
        let piece = &accesses[0];
        let access = Access {
            exec,
            first: piece.first,
            last: piece.last,
            start: piece.start,
            stride,
            words,
        };
        if load {
            self.fast_load(&access, &places, done);
        } else {
            self.fast_store(&access, &places, done);
        }
        self.b.switch_to_block(done);
    }

    /// Where a space's bytes are and how many inline accesses may touch (both I64).
    fn memory_of(&mut self, space: Space) -> (Value, Value) {
        let len_at = offset32(offset_of!(Context, arena_len));
        let len = self.b.ins().load(types::I64, trusted(), self.ctx, len_at);
        if space != Space::Lds {
            let base_at = offset32(offset_of!(Context, arena_base));
            let base = self.b.ins().load(types::I64, trusted(), self.ctx, base_at);
            return (base, len);
        }
        let lds_at = offset32(offset_of!(Context, lds_len));
        let lds_len = self.b.ins().load(types::I32, trusted(), self.ctx, lds_at);
        let lds_len = self.b.ins().uextend(types::I64, lds_len);
        // Without an arena every access goes the long way, those to LDS too.
        let zero = self.b.ins().iconst(types::I64, 0);
        let inline = self.b.ins().icmp(IntCC::NotEqual, len, zero);
        let lds_len = self.b.ins().select(inline, lds_len, zero);
        (zero, lds_len)
    }

    /// The address of a run of lanes, checked; leaves for `slow` where the check fails.
    #[allow(clippy::too_many_arguments, reason = "a run's facts, passed once")]
    fn piece_of(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        affine: Affine,
        (first, last): (Value, Value),
        (base, len): (Value, Value),
        slow: cranelift_codegen::ir::Block,
    ) -> Piece {
        let node = &block.nodes[v.index()];
        let (lds, words) = match node.op {
            Op::Load(space, Data::Dwords(n), _) | Op::Store(space, Data::Dwords(n), _) => {
                (space == Space::Lds, n)
            }
            _ => unreachable!("bug: {:?} is not affine", node.op),
        };
        let stride = affine.stride;
        let at = |e: &mut Self, lane: Value| {
            let address = e.at_lane(block, plan, node.args[0], lane, &mut HashMap::new());
            if lds {
                e.b.ins().uextend(types::I64, address)
            } else {
                address
            }
        };
        let start = at(self, first);
        let distance = self.b.ins().isub(last, first);
        let span = self.b.ins().imul_imm_s(distance, stride);
        let offset = self.b.ins().isub(start, base);
        let below = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, offset, len);
        let reach = self.b.ins().iadd_imm_u(span, 4 * i64::from(words));
        let end = self.b.ins().iadd(offset, reach);
        let ends = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, len);
        let mut inside = self.b.ins().band(below, ends);
        if affine.guarded && stride != 0 {
            let end = at(self, last);
            let real = self.b.ins().isub(end, start);
            let good = self.b.ins().icmp(IntCC::Equal, real, span);
            inside = self.b.ins().band(inside, good);
        }
        let on = self.b.create_block();
        self.b.ins().brif(inside, on, &[], slow, &[]);
        self.b.switch_to_block(on);
        let start = if lds {
            let lds_at = offset32(offset_of!(Context, lds));
            let lds = self.b.ins().load(types::I64, trusted(), self.ctx, lds_at);
            self.b.ins().iadd(lds, start)
        } else {
            start
        };
        Piece { first, last, start }
    }

    /// Loads or stores a row, all of whose lanes act; `bytes` is where its lanes are in a slot.
    fn row_access(
        &mut self,
        load: bool,
        (piece, stride): (&Piece, i64),
        words: usize,
        places: &[Value],
        bytes: i64,
    ) {
        let guest = flags().with_notrap();
        let slot = |j: i64| (bytes + 16 * j) as i32;
        match (load, stride) {
            (true, 0) => {
                let loaded = self.load_words(piece.start, words);
                for (&place, word) in places.iter().zip(loaded) {
                    let four = self.b.ins().splat(types::I32X4, word);
                    for j in 0..self.row / 4 {
                        self.b.ins().store(trusted(), four, place, slot(j));
                    }
                }
            }
            (false, 0) => {
                // The highest lane wins.
                let at = self.b.ins().iconst(types::I64, bytes + 4 * (self.row - 1));
                self.store_lane(places, at, piece.start);
            }
            (true, _) => {
                for j in 0..self.row / 4 {
                    let loaded: Vec<Value> = (0..words)
                        .map(|i| {
                            let at = 16 * (j as i32 * words as i32 + i as i32);
                            self.b.ins().load(types::I32X4, guest, piece.start, at)
                        })
                        .collect();
                    for (&place, value) in places.iter().zip(self.split(&loaded)) {
                        self.b.ins().store(trusted(), value, place, slot(j));
                    }
                }
            }
            (false, _) => {
                for j in 0..self.row / 4 {
                    let lanes: Vec<Value> = places
                        .iter()
                        .map(|&p| self.b.ins().load(types::I32X4, trusted(), p, slot(j)))
                        .collect();
                    for (i, value) in self.join(&lanes).into_iter().enumerate() {
                        let at = 16 * (j as i32 * words as i32 + i as i32);
                        self.b.ins().store(guest, value, piece.start, at);
                    }
                }
            }
        }
    }

    /// All addresses by scalar code, then the runtime's function.
    #[allow(clippy::too_many_arguments, reason = "an access's facts, passed once")]
    fn long_way(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (load, space, data): (bool, Space, Data),
        (site, new_exec): (SiteId, Option<Value>),
        exec: Value,
        (places, bounding): (&[Value], &[Value]),
    ) {
        let node = &block.nodes[v.index()];
        let (low, high) = (self.take_slot(), self.take_slot());
        let each = self.b.create_block();
        let lane = self.b.append_block_param(each, types::I64);
        let call = self.b.create_block();
        self.b.set_cold_block(each);
        self.b.set_cold_block(call);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(each, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(each);
        let address = self.at_lane(block, plan, node.args[0], lane, &mut HashMap::new());
        let words = if space == Space::Lds {
            vec![(address, low)]
        } else {
            let lo = self.b.ins().ireduce(types::I32, address);
            let hi = self.b.ins().ushr_imm_u(address, 32);
            let hi = self.b.ins().ireduce(types::I32, hi);
            vec![(lo, low), (hi, high)]
        };
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        let at = self.b.ins().iadd(self.frame, bytes);
        for &(word, slot) in &words {
            let offset = Self::frame_offset(slot);
            self.b.ins().store(trusted(), word, at, offset);
        }
        let next = self.b.ins().iadd_imm_s(lane, 1);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, 64);
        self.b
            .ins()
            .brif(more, each, &[BlockArg::Value(next)], call, &[]);
        self.b.switch_to_block(call);
        let mut args: Vec<Value> = words
            .iter()
            .map(|&(_, s)| {
                self.b
                    .ins()
                    .iadd_imm_s(self.frame, i64::from(Self::frame_offset(s)))
            })
            .collect();
        if space == Space::Lds {
            // No high words.
            args.push(self.b.ins().iconst(types::I64, 0));
        }
        args.push(exec);
        args.push(
            self.b
                .ins()
                .iconst(types::I64, mem_code(space, data) as i64),
        );
        let function = if load {
            EffectFn::Load
        } else {
            EffectFn::Store
        };
        let out = if load {
            self.store_words(self.out_slot, places)
        } else {
            args.extend(places);
            self.b.ins().iconst(types::I64, 0)
        };
        args.extend(bounding);
        let args = self.store_words(self.arg_slot, &args);
        let status = self.call_effect(function, site, args, out);
        let pc = self.f.sites[site.0 as usize].pc;
        self.check(status, pc, new_exec);
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

    fn fast_load(&mut self, a: &Access, places: &[Value], done: cranelift_codegen::ir::Block) {
        let guest = flags().with_notrap();
        if a.stride == 0 {
            let words = self.load_words(a.start, a.words);
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
                for (w, &word) in words.iter().enumerate() {
                    let at = e.b.ins().iadd(places[w], bytes);
                    e.b.ins().store(trusted(), word, at, 0);
                }
            });
            return;
        }
        let partial = self.when_full(a.exec);
        self.vectors(a, done, &mut |e, from, bytes| {
            let loaded: Vec<Value> = (0..a.words)
                .map(|i| e.b.ins().load(types::I32X4, guest, from, 16 * i as i32))
                .collect();
            let lanes = e.split(&loaded);
            for (w, value) in lanes.into_iter().enumerate() {
                let at = e.b.ins().iadd(places[w], bytes);
                e.b.ins().store(trusted(), value, at, 0);
            }
        });
        self.b.switch_to_block(partial);
        self.each_lane(a.exec, done, &mut |e, lane| {
            let from = e.lane_address(a, lane);
            let bytes = e.b.ins().ishl_imm_u(lane, 2);
            let words = e.load_words(from, places.len());
            for (&place, word) in places.iter().zip(words) {
                let at = e.b.ins().iadd(place, bytes);
                e.b.ins().store(trusted(), word, at, 0);
            }
        });
    }

    fn fast_store(&mut self, a: &Access, places: &[Value], done: cranelift_codegen::ir::Block) {
        let guest = flags().with_notrap();
        if a.stride == 0 {
            // The highest lane wins.
            let bytes = self.b.ins().ishl_imm_u(a.last, 2);
            self.store_lane(places, bytes, a.start);
            self.b.ins().jump(done, &[]);
            return;
        }
        let partial = self.when_full(a.exec);
        self.vectors(a, done, &mut |e, to, bytes| {
            let lanes: Vec<Value> = places
                .iter()
                .map(|&place| {
                    let at = e.b.ins().iadd(place, bytes);
                    e.b.ins().load(types::I32X4, trusted(), at, 0)
                })
                .collect();
            for (i, value) in e.join(&lanes).into_iter().enumerate() {
                e.b.ins().store(guest, value, to, 16 * i as i32);
            }
        });
        self.b.switch_to_block(partial);
        self.each_lane(a.exec, done, &mut |e, lane| {
            let to = e.lane_address(a, lane);
            let bytes = e.b.ins().ishl_imm_u(lane, 2);
            e.store_lane(places, bytes, to);
        });
    }

    /// A lane's dwords from guest memory; pairs in one piece, as other waves store them.
    pub(super) fn load_words(&mut self, from: Value, words: usize) -> Vec<Value> {
        let guest = flags().with_notrap();
        let mut out = Vec::with_capacity(words);
        while out.len() + 1 < words {
            let offset = 4 * out.len() as i32;
            let pair = self.b.ins().load(types::I64, guest, from, offset);
            let high = self.b.ins().ushr_imm_u(pair, 32);
            out.push(self.b.ins().ireduce(types::I32, pair));
            out.push(self.b.ins().ireduce(types::I32, high));
        }
        if out.len() < words {
            let offset = 4 * out.len() as i32;
            out.push(self.b.ins().load(types::I32, guest, from, offset));
        }
        out
    }

    /// A lane's dwords, `bytes` into their places, to guest memory; pairs in one piece.
    fn store_lane(&mut self, places: &[Value], bytes: Value, to: Value) {
        let guest = flags().with_notrap();
        for (i, pair) in places.chunks(2).enumerate() {
            let words: Vec<Value> = pair
                .iter()
                .map(|&place| {
                    let at = self.b.ins().iadd(place, bytes);
                    self.b.ins().load(types::I32, trusted(), at, 0)
                })
                .collect();
            let data = match words[..] {
                [low, high] => {
                    let low = self.b.ins().uextend(types::I64, low);
                    let high = self.b.ins().uextend(types::I64, high);
                    let high = self.b.ins().ishl_imm_u(high, 32);
                    self.b.ins().bor(low, high)
                }
                _ => words[0],
            };
            self.b.ins().store(guest, data, to, 8 * i as i32);
        }
    }

    /// A loop over the wave, four lanes at a time: `body` gets the guest address of the four and their
    /// byte offset in a slot.
    fn vectors(
        &mut self,
        a: &Access,
        done: cranelift_codegen::ir::Block,
        body: &mut dyn FnMut(&mut Self, Value, Value),
    ) {
        let head = self.b.create_block();
        let bytes = self.b.append_block_param(head, types::I64);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        // Two steps a turn: the loop's own instructions count.
        let mut at = bytes;
        for _ in 0..2 {
            let guest_bytes = self.b.ins().imul_imm_s(at, a.words as i64);
            let guest = self.b.ins().iadd(a.start, guest_bytes);
            body(self, guest, at);
            at = self.b.ins().iadd_imm_s(at, 16);
        }
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, at, 256);
        self.b
            .ins()
            .brif(more, head, &[BlockArg::Value(at)], done, &[]);
    }

    fn dwords(&mut self, a: Value, b: Value, lanes: [u8; 4]) -> Value {
        let mut mask = [0u8; 16];
        for (i, &lane) in lanes.iter().enumerate() {
            for byte in 0..4 {
                mask[4 * i + byte] = 4 * lane + byte as u8;
            }
        }
        let a = self.b.ins().bitcast(types::I8X16, flags(), a);
        let b = self.b.ins().bitcast(types::I8X16, flags(), b);
        let mask = self.b.func.dfg.immediates.push(mask.as_slice().into());
        let v = self.b.ins().shuffle(a, b, mask);
        self.b.ins().bitcast(types::I32X4, flags(), v)
    }

    /// Four lanes' structures of 1, 2 or 4 dwords as they lie in memory, to one vector a dword.
    pub(super) fn split(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => vec![
                self.dwords(a, b, [0, 2, 4, 6]),
                self.dwords(a, b, [1, 3, 5, 7]),
            ],
            [..] => self.transpose(m),
        }
    }

    /// The reverse of `split`.
    fn join(&mut self, m: &[Value]) -> Vec<Value> {
        match *m {
            [a] => vec![a],
            [a, b] => vec![
                self.dwords(a, b, [0, 4, 1, 5]),
                self.dwords(a, b, [2, 6, 3, 7]),
            ],
            [..] => self.transpose(m),
        }
    }

    fn transpose(&mut self, m: &[Value]) -> Vec<Value> {
        let low01 = self.dwords(m[0], m[1], [0, 4, 1, 5]);
        let high01 = self.dwords(m[0], m[1], [2, 6, 3, 7]);
        let low23 = self.dwords(m[2], m[3], [0, 4, 1, 5]);
        let high23 = self.dwords(m[2], m[3], [2, 6, 3, 7]);
        vec![
            self.dwords(low01, low23, [0, 1, 4, 5]),
            self.dwords(low01, low23, [2, 3, 6, 7]),
            self.dwords(high01, high23, [0, 1, 4, 5]),
            self.dwords(high01, high23, [2, 3, 6, 7]),
        ]
    }
}
