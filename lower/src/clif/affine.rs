//! Memory accesses whose addresses are known to be affine: one scalar address and one range check for the
//! wave, or for each of its rows, then vectors. What the check does not cover (a wrapped address, a registered
//! range, a fault) goes the long way: all addresses are computed and the runtime's function is called.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as HostBlock, InstBuilder, Value, types};
use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::access;
use super::segment::Body;
use super::whole::{bounds, load_or_store};
use super::{Emitter, offset32, trusted};
use crate::abi::Context;
use crate::facts::{Affine, Step};
use crate::ir::{Block, Op, Val, Vary};
use crate::maps::HashMap;
use crate::schedule::{Place, Schedule};

mod long;
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
pub(super) fn expression(block: &Block, address: Val) -> Vec<Val> {
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

/// A number of lanes or of bytes: what is computed (I64), if anything, and so many more.
#[derive(Clone, Copy)]
pub(super) struct Number {
    computed: Option<Value>,
    more: i64,
}

impl Number {
    pub(super) fn known(n: i64) -> Number {
        Number {
            computed: None,
            more: n,
        }
    }

    fn computed(n: Value) -> Number {
        Number {
            computed: Some(n),
            more: 0,
        }
    }
}

/// Where values of a lane are found.
#[derive(Clone, Copy)]
pub(super) struct Spot {
    lane: Number,
    /// The wave and the frame plus the bytes of the computed part of the lane's number.
    wave: Value,
    frame: Value,
}

impl Spot {
    /// A lane of the group that a loop is at.
    pub(super) fn in_group(body: &Body, lane: Value, more: i64) -> Spot {
        let computed = Some(lane);
        Spot {
            lane: Number { computed, more },
            wave: body.wave,
            frame: body.frame,
        }
    }
}

/// A run of lanes: addresses at its ends.
pub(super) struct Ends {
    /// Its first and last lane.
    lanes: [Number; 2],
    /// Addresses of the two; only the first where one is enough.
    pub(super) addresses: [Value; 2],
    /// Further conditions (I8) on which it is affine.
    pub(super) conditions: Vec<Value>,
}

/// Runs of lanes, each as long as the others, and what must hold for their bytes to be where they should.
pub(super) struct Checked {
    /// Addresses (in their space, I64) of the runs' first lanes.
    pub(super) starts: Vec<Value>,
    /// The first byte that any lane touches, relative to the space, of those there are.
    firsts: Vec<Value>,
    /// The end of the last.
    last: Value,
    /// All of this (I8).
    pub(super) conditions: Vec<Value>,
}

/// A run of lanes whose addresses were checked.
struct Piece {
    /// Its first and last lane.
    first: Number,
    last: Number,
    /// Host address of the first lane's data.
    start: Value,
}

/// What an access needs to know.
struct Access {
    /// Lanes that act.
    exec: Value,
    /// The first lane that acts.
    first: Number,
    /// The last lane that acts.
    last: Number,
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
    /// The value of a lane expression at one lane.
    pub(super) fn at_lane(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        spot: Spot,
        known: &mut HashMap<Val, Value>,
    ) -> Value {
        if let Some(&value) = known.get(&v) {
            return value;
        }
        let node = &block.nodes[v.index()];
        let word = |e: &mut Self, base: Value, offset: i32| {
            let offset = offset + 4 * spot.lane.more as i32;
            e.b.ins().load(types::I32, trusted(), base, offset)
        };
        let value = if node.ty.vary == Vary::Wave {
            self.scalar(block, plan, v)
        } else {
            match (node.op, plan.place[v.index()]) {
                (Op::ReadV(n), _) | (_, Some(Place::Home(n))) => {
                    word(self, spot.wave, Self::home_offset(n))
                }
                (Op::LaneId, _) => {
                    let lane = self.number(spot.lane);
                    self.b.ins().ireduce(types::I32, lane)
                }
                (
                    Op::Result(_)
                    | Op::Call(..)
                    | Op::Load(..)
                    | Op::Atomic(..)
                    | Op::Effect { .. },
                    Some(Place::Frame(slot)),
                ) => word(self, spot.frame, Self::frame_offset(slot)),
                (Op::Select, _) => self.at_lane(block, plan, node.args[1], spot, known),
                _ => {
                    let args: Vec<Value> = node
                        .args
                        .iter()
                        .map(|&a| self.at_lane(block, plan, a, spot, known))
                        .collect();
                    self.wave_op(block, node, &args)
                }
            }
        };
        known.insert(v, value);
        value
    }

    /// A number as a value.
    fn number(&mut self, n: Number) -> Value {
        match n.computed {
            None => self.b.ins().iconst(types::I64, n.more),
            Some(computed) => self.plus(computed, n.more),
        }
    }

    /// A value (I64) and so many bytes.
    fn plus(&mut self, v: Value, bytes: i64) -> Value {
        match bytes {
            0 => v,
            _ => self.b.ins().iadd_imm_s(v, bytes),
        }
    }

    /// What lies between two lanes that are `stride` apart from their neighbours.
    fn span(&mut self, [first, last]: [Number; 2], stride: i64) -> Number {
        if let (None, None) = (first.computed, last.computed) {
            return Number::known((last.more - first.more) * stride);
        }
        let (first, last) = (self.number(first), self.number(last));
        let distance = self.b.ins().isub(last, first);
        Number::computed(self.b.ins().imul_imm_s(distance, stride))
    }

    /// A value (I64) and a number of bytes beyond it.
    fn beyond(&mut self, v: Value, bytes: Number) -> Value {
        let v = match bytes.computed {
            None => v,
            Some(computed) => self.b.ins().iadd(v, computed),
        };
        self.plus(v, bytes.more)
    }

    /// Is a value (I32 or I64) this number, or its low word?
    fn is_number(&mut self, v: Value, n: Number) -> Value {
        let ty = self.b.func.dfg.value_type(v);
        if n.computed.is_none() {
            let n = match ty {
                types::I32 => i64::from(n.more as i32),
                _ => n.more,
            };
            return self.b.ins().icmp_imm_s(IntCC::Equal, v, n);
        }
        let mut n = self.number(n);
        if ty == types::I32 {
            n = self.b.ins().ireduce(types::I32, n);
        }
        self.b.ins().icmp(IntCC::Equal, v, n)
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
        // Rows go inline when all lanes act.
        let inline = affine.whole || !self.apart;
        let runs = match inline {
            true => self.runs_of(block, plan, node.args[0], affine, exec),
            false => Vec::new(),
        };
        let done = self.b.create_block();
        let some = self.b.create_block();
        self.b.ins().brif(exec, some, &[], done, &[]);
        self.b.switch_to_block(some);
        let fast = self.b.create_block();
        let slow = self.b.create_block();
        self.b.set_cold_block(slow);
        let lds = space == Space::Lds;
        let mut pieces = Vec::new();
        let mut lds_len = None;
        if inline {
            if !affine.whole {
                let on = self.b.create_block();
                let full = self.b.ins().icmp_imm_s(IntCC::Equal, exec, -1);
                self.b.ins().brif(full, on, &[], slow, &[]);
                self.b.switch_to_block(on);
            }
            let memory = self.memory_of(space);
            pieces = self.pieces_of(&runs, affine, (lds, data), memory, slow);
            lds_len = lds.then_some(memory.1);
        }
        let way = if inline { fast } else { slow };
        self.b.ins().jump(way, &[]);

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
        if !inline {
            self.b.switch_to_block(done);
            return;
        }

        self.b.switch_to_block(fast);
        let access = |piece: &Piece| Access {
            exec,
            first: piece.first,
            last: piece.last,
            start: piece.start,
            stride: affine.stride,
            data,
            lds: lds_len,
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

    /// The ends of the runs of an access: of the lanes that act, or of each row.
    fn runs_of(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        affine: Affine,
        exec: Value,
    ) -> Vec<Ends> {
        let runs: Vec<[Lane; 2]> = if affine.whole {
            vec![[Lane::First(exec), Lane::Last(exec)]]
        } else {
            (0..LANES as i64 / self.row)
                .map(|n| [n * self.row, (n + 1) * self.row - 1].map(|l| Lane::Number(l as u8)))
                .collect()
        };
        runs.into_iter()
            .map(|run| self.ends(block, plan, address, affine, run))
            .collect()
    }

    /// Where values of a lane are found.
    fn spot(&mut self, lane: Lane) -> Spot {
        if let Some(&spot) = self.spots.get(&lane) {
            return spot;
        }
        let number = match lane {
            Lane::First(exec) => self.b.ins().ctz(exec),
            Lane::Last(exec) => {
                let zeros = self.b.ins().clz(exec);
                let c63 = self.b.ins().iconst(types::I64, 63);
                self.b.ins().isub(c63, zeros)
            }
            Lane::Number(n) => {
                let (wave, frame) = (self.wave, self.frame);
                let lane = Number::known(i64::from(n));
                return Spot { lane, wave, frame };
            }
        };
        let number = self.b.ins().band_imm_u(number, 63);
        let spot = self.computed_spot(number);
        self.spots.insert(lane, spot);
        spot
    }

    /// The same of a lane that is computed (I64).
    fn computed_spot(&mut self, lane: Value) -> Spot {
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        let [wave, frame] = [self.wave, self.frame].map(|at| self.b.ins().iadd(at, bytes));
        let lane = Number::computed(lane);
        Spot { lane, wave, frame }
    }

    /// The value of a lane expression at a lane; computed once in a block.
    fn at(&mut self, block: &Block, plan: &Schedule, v: Val, lane: Lane) -> Value {
        let spot = self.spot(lane);
        let mut known = self.at.remove(&lane).unwrap_or_default();
        let value = self.at_lane(block, plan, v, spot, &mut known);
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
        let lanes = run.map(|lane| self.spot(lane).lane);
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
            let span = self.span(lanes, stride);
            let good = self.is_number(real, span);
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

    /// The addresses of runs of lanes, checked; leaves for `slow` where a check fails.
    fn pieces_of(
        &mut self,
        runs: &[Ends],
        affine: Affine,
        (lds, data): (bool, Data),
        space: (Value, Value),
        slow: HostBlock,
    ) -> Vec<Piece> {
        let reach = (0, i64::from(access::bytes(data)));
        let checked = self.check_runs(runs, affine, (lds, space), reach);
        for good in checked.conditions {
            self.require(slow, good);
        }
        let lds = lds.then(|| self.lds_start());
        let pieces = runs.iter().zip(checked.starts);
        pieces
            .map(|(ends, start)| Piece {
                first: ends.lanes[0],
                last: ends.lanes[1],
                start: lds.map_or(start, |lds| self.b.ins().iadd(lds, start)),
            })
            .collect()
    }

    /// Runs of lanes, of which none is longer than the others, whose bytes lie from `least` to `most` beyond their
    /// addresses; the space begins at `base` and has `len` bytes.
    pub(super) fn check_runs(
        &mut self,
        runs: &[Ends],
        affine: Affine,
        (lds, (base, len)): (bool, (Value, Value)),
        (least, most): (i64, i64),
    ) -> Checked {
        let span = self.span(runs[0].lanes, affine.stride);
        let (mut starts, mut firsts) = (Vec::new(), Vec::new());
        let (mut conditions, mut lengths) = (Vec::new(), Vec::new());
        for run in runs {
            let [start, end] = run.addresses.map(|address| match lds {
                true => self.b.ins().uextend(types::I64, address),
                false => address,
            });
            if affine.guarded && affine.stride != 0 {
                lengths.push(self.b.ins().isub(end, start));
            }
            conditions.extend(&run.conditions);
            let mut first = match lds {
                true => start,
                false => self.b.ins().isub(start, base),
            };
            if affine.stride < 0 {
                first = self.beyond(first, span);
            }
            firsts.push(self.plus(first, least));
            starts.push(start);
        }
        // The run that begins last ends last: where the others begin and end, nothing wraps if nothing wraps there.
        let highest = firsts.iter().copied();
        let highest = highest.reduce(|a, b| self.b.ins().umax(a, b));
        let highest = highest.expect("bug: an access without lanes");
        let mut longest = span;
        if affine.stride < 0 {
            longest.computed = span.computed.map(|span| self.b.ins().ineg(span));
            longest.more = -span.more;
        }
        longest.more += most - least;
        let last = self.beyond(highest, longest);
        let order = IntCC::UnsignedLessThanOrEqual;
        let [below, above] = [highest, last].map(|at| self.b.ins().icmp(order, at, len));
        let mut all = vec![below, above];
        all.extend(self.are_all(&lengths, span));
        all.append(&mut conditions);
        Checked {
            starts,
            firsts,
            last,
            conditions: all,
        }
    }

    /// Are values (all I32 or all I64) this number, or its low word? Nothing if there is no value.
    pub(super) fn are_all(&mut self, values: &[Value], n: Number) -> Option<Value> {
        match *values {
            [] => return None,
            [one] => return Some(self.is_number(one, n)),
            _ => {}
        }
        debug_assert!(n.computed.is_none(), "bug: rows whose length is not known");
        let differ = values.iter().map(|&v| self.b.ins().bxor_imm_s(v, n.more));
        let differ: Vec<Value> = differ.collect();
        let any = differ.into_iter().reduce(|a, b| self.b.ins().bor(a, b))?;
        Some(self.b.ins().icmp_imm_u(IntCC::Equal, any, 0))
    }

    /// The first byte that runs touch and the end of the last.
    pub(super) fn bytes_of(&mut self, runs: &Checked) -> (Value, Value) {
        let firsts = runs.firsts.iter().copied();
        let first = firsts.reduce(|a, b| self.b.ins().umin(a, b));
        (first.expect("bug: an access without lanes"), runs.last)
    }
}
