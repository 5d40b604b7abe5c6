//! Memory accesses whose addresses are known to be affine: one scalar address and one range check for the
//! wave, or for each of its rows, then vectors. What the check does not cover (a wrapped address, a registered
//! range, a fault) goes the long way: all addresses are computed and the runtime's function is called.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::access;
use super::whole::{bounds, load_or_store};
use super::{Emitter, offset32, trusted};
use crate::abi::Context;
use crate::facts::{Affine, Step};
use crate::functions::{EffectFn, mem_code};
use crate::ir::{Block, Op, SiteId, Val, Vary};
use crate::maps::HashMap;
use crate::schedule::{Place, Schedule};

mod moves;

/// Longest address expression that is computed anew for single lanes.
const MAX_NODES: usize = 128;

/// Bytes between neighbouring lanes at most.
const MAX_STRIDE: i64 = 1 << 24;

/// The leaves of an address expression, if it can be computed for a single lane: registers, results in
/// memory, wave values.
pub(crate) fn leaves(block: &Block, address: Val) -> Option<Vec<Val>> {
    walk(block, address).map(|(leaves, _)| leaves)
}

/// The values of an address expression that differ by lane.
fn expression(block: &Block, address: Val) -> Vec<Val> {
    let mut all = walk(block, address).map_or(Vec::new(), |(_, all)| all);
    all.retain(|v| block.nodes[v.index()].ty.vary != Vary::Wave);
    all.sort_unstable();
    all
}

/// The leaves of an address expression, and all its values.
fn walk(block: &Block, address: Val) -> Option<(Vec<Val>, Vec<Val>)> {
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
            op if op.is_address_part() => work.extend(node.args.iter()),
            _ => return None,
        }
    }
    Some((leaves, seen))
}

/// Is a memory node one that this file emits, given how its address varies?
pub(crate) fn suits(block: &Block, v: Val, affine: Affine, row: usize) -> bool {
    let node = &block.nodes[v.index()];
    let Some((_, space, data, _)) = load_or_store(node.op) else {
        return false;
    };
    let known_space = matches!(space, Space::Global | Space::Flat | Space::Lds);
    let few_rows = affine.whole || row >= 8;
    let known_shape = access::is_known(data) && affine.stride.abs() < MAX_STRIDE;
    let bits_known = matches!(block.nodes[node.args[1].index()].op, Op::ExecMask);
    known_space && known_shape && few_rows && bits_known && leaves(block, node.args[0]).is_some()
}

/// A lane as it is named where addresses are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Lane {
    /// The first that is on in these 64 bits, any if none is.
    First(Value),
    /// The last.
    Last(Value),
    /// This one.
    Number(u8),
}

/// A run of lanes: addresses at its ends.
pub(super) struct Ends {
    /// Its first and last lane, I64.
    pub(super) lanes: [Value; 2],
    /// Addresses of the two; only the first where one is enough.
    pub(super) addresses: [Value; 2],
    /// Further conditions (I8) on which it is affine.
    pub(super) conditions: Vec<Value>,
}

/// Addresses of a run of lanes in a space, I64.
pub(super) struct Line {
    /// That of the first lane.
    pub(super) start: Value,
    /// That of the last, where it is known by itself.
    end: Value,
    /// From the first to the last.
    span: Value,
    /// The lowest from the space's beginning on.
    pub(super) low: Value,
    /// The highest.
    pub(super) high: Value,
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
    data: Data,
    /// The bytes of LDS (I64), if it is there.
    lds: Option<Value>,
}

impl Access {
    /// Do the lanes follow one another without gaps?
    fn is_run(&self) -> bool {
        access::is_run(self.data, self.stride)
    }
}

impl Emitter<'_> {
    /// The value of a lane expression at one lane (I64).
    pub(super) fn at_lane(
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
                    self.wave_op(block, node, &args)
                }
            }
        };
        known.insert(v, value);
        value
    }

    /// Emits a load or store whose address is affine.
    pub(super) fn affine_access(&mut self, block: &Block, plan: &Schedule, v: Val, affine: Affine) {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, site) = access.expect("bug: no load and no store");
        // Everything that both ways need is computed before they part.
        for leaf in leaves(block, node.args[0]).unwrap_or_default() {
            if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, leaf);
            }
        }
        let exec = self.mask_bits(block, plan, node.args[1]);
        let new_exec = self.new_exec(block, plan, v);
        let places = self.places(block, plan, v);
        let mut bounding = Vec::new();
        for &bound in bounds(node) {
            bounding.extend(self.effect_arg(block, plan, bound));
        }
        let runs: Vec<[Lane; 2]> = if affine.whole {
            vec![[Lane::First(exec), Lane::Last(exec)]]
        } else {
            (0..LANES as i64 / self.row)
                .map(|n| [n * self.row, (n + 1) * self.row - 1].map(|l| Lane::Number(l as u8)))
                .collect()
        };
        let runs: Vec<Ends> = runs
            .into_iter()
            .map(|run| self.ends(block, plan, node.args[0], affine, run))
            .collect();
        let done = self.b.create_block();
        let some = self.b.create_block();
        // Rows go inline when all lanes act.
        self.b.ins().brif(exec, some, &[], done, &[]);
        self.b.switch_to_block(some);
        let fast = self.b.create_block();
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        if !affine.whole {
            let on = self.b.create_block();
            let full = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
            self.b.ins().brif(full, on, &[], slow, &[]);
            self.b.switch_to_block(on);
        }
        let memory = self.memory_of(space);
        let stride = affine.stride;
        let lds = space == Space::Lds;
        let pieces: Vec<Piece> = runs
            .into_iter()
            .map(|ends| self.piece_of(ends, affine, (lds, data), memory, slow))
            .collect();
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
        let access = |piece: &Piece| Access {
            exec,
            first: piece.first,
            last: piece.last,
            start: piece.start,
            stride,
            data,
            lds: lds.then_some(memory.1),
        };
        if !affine.whole {
            for (n, piece) in pieces.iter().enumerate() {
                let bytes = 4 * n as i64 * self.row;
                self.row_access(load, &access(piece), &places, bytes);
            }
            self.b.ins().jump(done, &[]);
        } else if load {
            self.fast_load(&access(&pieces[0]), &places, done);
        } else {
            self.fast_store(&access(&pieces[0]), &places, done);
        }
        self.b.switch_to_block(done);
    }

    /// The number of a lane, I64.
    fn lane_number(&mut self, lane: Lane) -> Value {
        if let Some(&number) = self.numbers.get(&lane) {
            return number;
        }
        let number = match lane {
            Lane::First(exec) => {
                let zeros = self.b.ins().ctz(exec);
                self.b.ins().band_imm_u(zeros, 63)
            }
            Lane::Last(exec) => {
                let zeros = self.b.ins().clz(exec);
                let c63 = self.b.ins().iconst(types::I64, 63);
                let number = self.b.ins().isub(c63, zeros);
                self.b.ins().band_imm_u(number, 63)
            }
            Lane::Number(n) => self.b.ins().iconst(types::I64, i64::from(n)),
        };
        self.numbers.insert(lane, number);
        number
    }

    /// The value of a lane expression at a lane; computed once in a block.
    fn at(&mut self, block: &Block, plan: &Schedule, v: Val, lane: Lane) -> Value {
        let number = self.lane_number(lane);
        let mut known = self.at.remove(&lane).unwrap_or_default();
        let value = self.at_lane(block, plan, v, number, &mut known);
        self.at.insert(lane, known);
        value
    }

    /// The addresses at the ends of a run, and on what it depends that those between are on a line.
    pub(super) fn ends(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        affine: Affine,
        run: [Lane; 2],
    ) -> Ends {
        let lanes = run.map(|lane| self.lane_number(lane));
        let first = self.at(block, plan, address, run[0]);
        let mut ends = Ends {
            lanes,
            addresses: [first; 2],
            conditions: Vec::new(),
        };
        if affine.stepped || affine.guarded && affine.stride != 0 {
            ends.addresses[1] = self.at(block, plan, address, run[1]);
        }
        if !affine.stepped {
            return ends;
        }
        let distance = self.b.ins().isub(lanes[1], lanes[0]);
        for v in expression(block, address) {
            let Some(&step) = self.steps.get(&v) else {
                continue;
            };
            let [a, b] = run.map(|lane| self.at(block, plan, v, lane));
            let stride = match step {
                Step::Equal => {
                    let good = self.b.ins().icmp(IntCC::Equal, a, b);
                    ends.conditions.push(good);
                    continue;
                }
                Step::Stride(stride) => stride,
                Step::Clamp(stride, signed) => {
                    let order = match signed {
                        true => IntCC::SignedLessThanOrEqual,
                        false => IntCC::UnsignedLessThanOrEqual,
                    };
                    let good = self.b.ins().icmp(order, a, b);
                    ends.conditions.push(good);
                    stride
                }
            };
            let real = self.b.ins().isub(b, a);
            let mut span = self.b.ins().imul_imm_s(distance, stride);
            if self.b.func.dfg.value_type(real) == types::I32 {
                span = self.b.ins().ireduce(types::I32, span);
            }
            let good = self.b.ins().icmp(IntCC::Equal, real, span);
            ends.conditions.push(good);
        }
        ends
    }

    /// Where a space's bytes are and how many inline accesses may touch (both I64).
    pub(super) fn memory_of(&mut self, space: Space) -> (Value, Value) {
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
    fn piece_of(
        &mut self,
        ends: Ends,
        affine: Affine,
        (lds, data): (bool, Data),
        (base, len): (Value, Value),
        slow: cranelift_codegen::ir::Block,
    ) -> Piece {
        let [first, last] = ends.lanes;
        let line = self.line_of(&ends, affine, lds, base);
        let bytes = i64::from(access::bytes(data));
        let end = self.b.ins().iadd_imm_s(line.high, bytes);
        let inside = self.is_inside(ends, affine, &line, (line.low, end), len);
        let on = self.b.create_block();
        self.b.ins().brif(inside, on, &[], slow, &[]);
        self.b.switch_to_block(on);
        let start = if lds {
            let lds = self.lds_start();
            self.b.ins().iadd(lds, line.start)
        } else {
            line.start
        };
        Piece { first, last, start }
    }

    /// The line on which the addresses of a run of lanes are, in a space that begins at `base`.
    pub(super) fn line_of(&mut self, ends: &Ends, affine: Affine, lds: bool, base: Value) -> Line {
        let [start, end] = ends.addresses.map(|address| match lds {
            true => self.b.ins().uextend(types::I64, address),
            false => address,
        });
        let distance = self.b.ins().isub(ends.lanes[1], ends.lanes[0]);
        let span = self.b.ins().imul_imm_s(distance, affine.stride);
        let offset = self.b.ins().isub(start, base);
        let far = self.b.ins().iadd(offset, span);
        let (low, high) = if affine.stride < 0 {
            (far, offset)
        } else {
            (offset, far)
        };
        Line {
            start,
            end,
            span,
            low,
            high,
        }
    }

    /// Do the bytes from `first` to `last` lie in a space of `len`, and are the addresses between the ends of a run on
    /// its line (I8)?
    pub(super) fn is_inside(
        &mut self,
        ends: Ends,
        affine: Affine,
        line: &Line,
        (first, last): (Value, Value),
        len: Value,
    ) -> Value {
        let order = IntCC::UnsignedLessThanOrEqual;
        let below = self.b.ins().icmp(order, first, len);
        let above = self.b.ins().icmp(order, last, len);
        let mut inside = self.b.ins().band(below, above);
        if affine.guarded && affine.stride != 0 {
            let real = self.b.ins().isub(line.end, line.start);
            let good = self.b.ins().icmp(IntCC::Equal, real, line.span);
            inside = self.b.ins().band(inside, good);
        }
        for good in ends.conditions {
            inside = self.b.ins().band(inside, good);
        }
        inside
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
        let address = self.at_lane(block, plan, node.args[0], lane, &mut HashMap::default());
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
}
