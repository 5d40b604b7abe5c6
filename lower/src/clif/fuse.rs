//! Loads that a segment makes itself. The loads right before a segment whose addresses are affine need not
//! go through memory slots when all lanes act: their ranges are checked, then each group of the segment's
//! loop loads its own lanes. Where a check fails, or EXEC is not all ones, the loads are made one after the
//! other by [`super::affine`] before the segment's other loop, which finds their results in the slots.

use std::collections::{HashMap, HashSet};
use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::access;
use super::affine::{self, Lane};
use super::lanes::{Lanes, dwords_type};
use super::segment::Body;
use super::whole::bounds;
use super::{Emitter, offset32, trusted};
use crate::abi::Context;
use crate::facts::Affine;
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::schedule::{self, Place, Schedule, Segment};

/// A load that the segment makes.
pub(super) struct Fused {
    data: Data,
    affine: Affine,
    lds: bool,
    /// The address without its constant part.
    base: Val,
    /// Its constant part.
    offset: i32,
    /// Host address of lane 0's element without the constant part, for loads affine in the whole wave.
    start: Option<Value>,
    /// The result for each word.
    words: Vec<Option<Val>>,
}

/// The loads of a segment.
#[derive(Default)]
pub(super) struct Fusion {
    loads: Vec<Fused>,
    /// Which load gives a value.
    of: HashMap<Val, usize>,
    /// Results wanted outside, with their places.
    keep: Vec<(Val, Place)>,
    /// Most lanes in a group.
    row: usize,
    /// Start of LDS.
    lds: Option<Value>,
}

/// An address as a base and a constant.
fn parts(block: &Block, address: Val) -> (Val, i32) {
    let node = &block.nodes[address.index()];
    if node.op == Op::Add
        && let Op::Const(c) = block.nodes[node.args[1].index()].op
        && block.nodes[node.args[0].index()].ty.vary != Vary::Wave
    {
        let signed = match node.ty.width {
            Width::W64 => c as i64,
            _ => i64::from(c as u32 as i32),
        };
        if let Ok(offset) = i32::try_from(signed)
            && offset.abs() < 1 << 24
        {
            return (node.args[0], offset);
        }
    }
    (address, 0)
}

impl Fusion {
    /// Lanes of a group, given how many the segment would take.
    pub(super) fn group(&self, wanted: usize) -> usize {
        wanted.min(self.row)
    }

    /// Results wanted outside the segment, with their places.
    pub(super) fn keep(&self) -> Vec<(Val, Place)> {
        self.keep.clone()
    }
}

impl Emitter<'_> {
    /// How many calls at the end of a gap the segment behind it may make itself.
    pub(super) fn fusable(&self, block: &Block, calls: &[Val]) -> usize {
        if self.o.no_fused || self.o.always_masked {
            return 0;
        }
        let suits = |&&v: &&Val| match block.nodes[v.index()].op {
            Op::Load(_, _, site) => {
                self.affine.contains_key(&v) && !self.f.sites[site.0 as usize].inst.mem.glc
            }
            _ => false,
        };
        calls.iter().rev().take_while(suits).count()
    }

    /// Prepares the loads in `calls` for the segment: everything that its loop needs, and whether it may run
    /// (I8). All scalars that either way needs are there behind this.
    pub(super) fn fuse(
        &mut self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        calls: &[Val],
        execs: &mut Vec<Value>,
    ) -> (Fusion, Value) {
        let mut fusion = Fusion {
            row: LANES,
            ..Fusion::default()
        };
        for &v in calls {
            let node = &block.nodes[v.index()];
            let Op::Load(space, data, _) = node.op else {
                unreachable!("bug: {:?} is no load", node.op)
            };
            let affine = self.affine[&v];
            for leaf in affine::leaves(block, node.args[0]).unwrap_or_default() {
                if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                    self.scalar(block, plan, leaf);
                }
            }
            self.new_exec(block, plan, v);
            for &bound in bounds(node) {
                self.effect_arg(block, plan, bound);
            }
            let exec = self.mask_bits(block, plan, node.args[1]);
            if !execs.contains(&exec) {
                execs.push(exec);
            }
            if !affine.whole {
                fusion.row = self.row as usize;
            }
            let (base, offset) = parts(block, node.args[0]);
            let mut words = vec![None; access::words(data)];
            words[0] = Some(v);
            fusion.of.insert(v, fusion.loads.len());
            fusion.loads.push(Fused {
                data,
                affine,
                lds: space == Space::Lds,
                base,
                offset,
                start: None,
                words,
            });
        }
        for (i, node) in block.nodes.iter().enumerate() {
            if let Op::Result(n) = node.op
                && let Some(&load) = fusion.of.get(&node.args[0])
                && let Some(word) = fusion.loads[load].words.get_mut(usize::from(n))
            {
                *word = Some(Val(i as u32));
                fusion.of.insert(Val(i as u32), load);
            }
        }
        self.find_kept(block, plan, segment, &mut fusion);
        let inside = self.check_ranges(block, plan, &mut fusion);
        (fusion, inside)
    }

    /// Finds the results that somebody outside the segment wants.
    fn find_kept(&self, block: &Block, plan: &Schedule, segment: &Segment, fusion: &mut Fusion) {
        let inner: HashSet<Val> = segment.nodes.iter().copied().collect();
        let mut outside = HashSet::new();
        for i in 0..block.nodes.len() {
            let v = Val(i as u32);
            if plan.needed[i] && !inner.contains(&v) {
                let affine = |v: Val| {
                    let node = &block.nodes[v.index()];
                    let known = self.affine.contains_key(&v);
                    known.then(|| affine::leaves(block, node.args[0])).flatten()
                };
                outside.extend(schedule::operands(block, &plan.class, &affine, i));
            }
        }
        for other in &plan.segments {
            if !std::ptr::eq(other, segment) {
                outside.extend(other.stores.iter().map(|&(_, v)| v));
            }
        }
        let mut keep: Vec<(Val, Place)> = Vec::new();
        for &v in fusion.of.keys() {
            match plan.place[v.index()] {
                Some(Place::Home(n)) => keep.push((v, Place::Home(n))),
                Some(place) if outside.contains(&v) => keep.push((v, place)),
                _ => {}
            }
        }
        keep.sort_unstable_by_key(|&(v, _)| v);
        fusion.keep = keep;
    }

    /// Checks the loads by their bases.
    fn check_ranges(&mut self, block: &Block, plan: &Schedule, fusion: &mut Fusion) -> Value {
        let mut inside = self.b.ins().iconst(types::I8, 1);
        if fusion.loads.iter().any(|load| load.lds) {
            let lds_at = offset32(offset_of!(Context, lds));
            let lds = self.b.ins().load(types::I64, trusted(), self.ctx, lds_at);
            fusion.lds = Some(lds);
        }
        let mut memory: HashMap<bool, (Value, Value)> = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for n in 0..fusion.loads.len() {
            let load = &fusion.loads[n];
            let same = groups.iter_mut().find(|group| {
                let other = &fusion.loads[group[0]];
                other.base == load.base && other.affine == load.affine && other.lds == load.lds
            });
            match same {
                Some(group) => group.push(n),
                None => groups.push(vec![n]),
            }
        }
        for group in groups {
            let first = &fusion.loads[group[0]];
            let (base, affine, lds) = (first.base, first.affine, first.lds);
            let least = group.iter().map(|&n| fusion.loads[n].offset).min();
            let most = group
                .iter()
                .map(|&n| {
                    i64::from(fusion.loads[n].offset)
                        + i64::from(access::bytes(fusion.loads[n].data))
                })
                .max();
            let (least, most) = (i64::from(least.unwrap_or(0)), most.unwrap_or(0));
            let space = if lds { Space::Lds } else { Space::Global };
            let (low, len) = match memory.get(&lds) {
                Some(&memory) => memory,
                None => {
                    let found = self.memory_of(space);
                    memory.insert(lds, found);
                    found
                }
            };
            let rows = if affine.whole { LANES } else { fusion.row };
            for row in 0..LANES / rows {
                let run = [row * rows, (row + 1) * rows - 1].map(|n| Lane::Number(n as u8));
                let ends = self.ends(block, plan, base, affine, run);
                let (start, good) = self.within(ends, affine, (lds, low, len), (least, most));
                inside = self.b.ins().band(inside, good);
                if affine.whole {
                    let host = match fusion.lds {
                        Some(lds_start) if lds => self.b.ins().iadd(lds_start, start),
                        _ => start,
                    };
                    for &n in &group {
                        fusion.loads[n].start = Some(host);
                    }
                }
            }
        }
        inside
    }

    /// Loads the group's lanes of the load that gives `v`, if one does.
    pub(super) fn fused_value(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        v: Val,
    ) -> Option<Vec<Value>> {
        let n = *self.fusion.of.get(&v)?;
        let load = &self.fusion.loads[n];
        let (data, stride, offset) = (load.data, load.affine.stride, load.offset);
        let (base, lds, start) = (load.base, load.lds, load.start);
        let words = load.words.clone();
        let first = match start {
            Some(start) if stride == 0 => start,
            Some(start) => {
                let lane = self.b.ins().uextend(types::I64, body.lane);
                let bytes = self.b.ins().imul_imm_s(lane, stride);
                self.b.ins().iadd(start, bytes)
            }
            None => {
                let lane = self.b.ins().uextend(types::I64, body.lane);
                let mut known = std::mem::take(&mut body.at);
                let address = self.at_lane(block, plan, base, lane, &mut known);
                body.at = known;
                match self.fusion.lds {
                    Some(start) if lds => {
                        let address = self.b.ins().uextend(types::I64, address);
                        self.b.ins().iadd(start, address)
                    }
                    _ => address,
                }
            }
        };
        let loaded = self.load_group(first, offset, stride, data, body.slices);
        for (word, value) in words.into_iter().zip(loaded) {
            if let Some(word) = word {
                body.values.insert(word, value);
            }
        }
        Some(body.values[&v].clone())
    }

    /// The words of a group of `slices` host vectors of lanes whose elements are `stride` apart, the first at `start`
    /// and a constant: for each word its host vectors. The range was checked.
    pub(super) fn load_group(
        &mut self,
        start: Value,
        offset: i32,
        stride: i64,
        data: Data,
        slices: usize,
    ) -> Vec<Vec<Value>> {
        if stride == 0 {
            let at = match offset {
                0 => start,
                _ => self.b.ins().iadd_imm_s(start, i64::from(offset)),
            };
            let words = self.load_one(at, data);
            return words
                .into_iter()
                .map(|word| {
                    let ty = dwords_type(self.per());
                    let all = self.b.ins().splat(ty, word);
                    vec![all; slices]
                })
                .collect();
        }
        let run = stride == i64::from(access::bytes(data)) && access::has_run(data);
        let per = self.per();
        let mut out = vec![Vec::with_capacity(slices); access::words(data)];
        if run && data == Data::Dwords(1) {
            let ty = dwords_type(per);
            for j in 0..slices {
                let away = i64::from(offset) + (4 * per * j) as i64;
                let value = match i32::try_from(away) {
                    Ok(away) => self.load_vector(ty, start, away),
                    Err(_) => {
                        let at = self.b.ins().iadd_imm_s(start, away);
                        self.load_vector(ty, at, 0)
                    }
                };
                out[0].push(value);
            }
            return out;
        }
        for j in 0..(slices * per / 4) as i64 {
            let away = |k: i64| i64::from(offset) + stride * (4 * j + k);
            let four = match i32::try_from(away(0)) {
                Ok(away) if run => self.load_run(start, away, data),
                _ => {
                    let from = [0, 1, 2, 3].map(|k| self.b.ins().iadd_imm_s(start, away(k)));
                    self.load_four(from, data)
                }
            };
            for (out, value) in out.iter_mut().zip(four) {
                out.push(value);
            }
        }
        let mut lanes = Lanes {
            b: &mut self.b,
            exact_nan: self.o.exact_nan,
            slices,
            per,
        };
        out.into_iter()
            .map(|fours| lanes.join_fours(fours))
            .collect()
    }

    /// The address at the first end of a run without the start of LDS, and whether all of its lanes'
    /// bytes from `least` to `most` beyond their addresses are inside (I8).
    fn within(
        &mut self,
        ends: affine::Ends,
        affine: Affine,
        (lds, low, len): (bool, Value, Value),
        (least, most): (i64, i64),
    ) -> (Value, Value) {
        let [start, end] = ends.addresses.map(|address| match lds {
            true => self.b.ins().uextend(types::I64, address),
            false => address,
        });
        let distance = self.b.ins().isub(ends.lanes[1], ends.lanes[0]);
        let span = self.b.ins().imul_imm_s(distance, affine.stride);
        let offset = self.b.ins().isub(start, low);
        let far = self.b.ins().iadd(offset, span);
        let (first, last) = if affine.stride < 0 {
            (far, offset)
        } else {
            (offset, far)
        };
        let first = self.b.ins().iadd_imm_s(first, least);
        let last = self.b.ins().iadd_imm_s(last, most);
        let below = self
            .b
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, first, len);
        let above = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, last, len);
        let mut inside = self.b.ins().band(below, above);
        if affine.guarded && affine.stride != 0 {
            let real = self.b.ins().isub(end, start);
            let good = self.b.ins().icmp(IntCC::Equal, real, span);
            inside = self.b.ins().band(inside, good);
        }
        for good in ends.conditions {
            inside = self.b.ins().band(inside, good);
        }
        (start, inside)
    }
}
