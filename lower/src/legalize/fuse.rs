//! Loads and stores that a segment makes itself. The loads right before a segment and the stores right behind
//! it whose addresses are affine need not go through memory slots when all lanes act: their ranges are
//! checked, then each group of the segment's loop loads its own lanes, computes, and stores them. Where a check
//! fails, or EXEC is not all ones, loads and stores are made one after the other by [`super::affine`] before and
//! behind the segment's other loop, which takes their operands and results through the slots.
//!
//! The groups come one behind the other, so a group's loads come after the stores of the groups before. What
//! one lane stores no other lane may load, nor store by another instruction: see [`alias`].

use frontend::op::{Data, Space};

use super::Emitter;
use super::access;
use super::affine::Spot;
use super::body::Body;
use super::lanes::dwords_type;
use super::prefetch::Prefetch;
use crate::analysis::schedule::{self, Place, Schedule, Segment};
use crate::analysis::uniformity::Affine;
use crate::ir::memory::{bounds, load_or_store};
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};
use crate::options::Forms;
use crate::vir::{Value, types};

mod alias;
mod range_check;
mod store;

/// A load or store that the segment makes.
pub(super) struct Fused {
    v: Val,
    data: Data,
    pub(super) affine: Affine,
    lds: bool,
    /// The address without its constant part.
    pub(super) base: Val,
    /// Its constant part.
    pub(super) offset: i32,
    /// Host address of lane 0's element without the constant part, for those affine in the whole wave.
    start: Option<Value>,
    /// Where it is expected next, unless it has the lines of another access.
    ahead: Option<Prefetch>,
    /// A load's result for each word.
    words: Vec<Option<Val>>,
    store: bool,
}

/// The loads and stores of a segment.
#[derive(Default)]
pub(super) struct Fusion {
    /// In the order of the program.
    accesses: Vec<Fused>,
    /// Which load gives a value.
    of: HashMap<Val, usize>,
    /// Results wanted outside, with their places.
    keep: Vec<(Val, Place)>,
    /// Values of the segment that only its own stores want.
    private: HashSet<Val>,
    /// Start of LDS.
    lds: Option<Value>,
    /// Host addresses of the first lanes of accesses to global memory, each with those accesses that differ by constants
    /// only.
    firsts: Vec<(Value, Vec<usize>)>,
    /// Of each of these one must hold (I8), mostly the first does.
    pub(super) either: Vec<(Value, Value)>,
}

/// A lane's address as a base, which differs by lane, and a constant.
pub(super) fn parts(block: &Block, address: Val) -> (Val, i32) {
    let parts = base_and_constant(block, address);
    match block.nodes[parts.0.index()].ty.vary {
        Vary::Wave => (address, 0),
        _ => parts,
    }
}

/// An address as a base and a constant.
pub(super) fn base_and_constant(block: &Block, address: Val) -> (Val, i32) {
    let node = &block.nodes[address.index()];
    if node.op == Op::Add
        && let Op::Const(c) = block.nodes[node.args[1].index()].op
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
    /// Results wanted outside the segment, with their places.
    pub(super) fn keep(&self) -> Vec<(Val, Place)> {
        self.keep.clone()
    }

    /// Is it a value of the segment that only its own stores want?
    pub(super) fn is_private(&self, v: Val) -> bool {
        self.private.contains(&v)
    }
}

impl Emitter<'_> {
    /// How many calls at the end of a gap the segment behind it may make itself.
    pub(super) fn fusable(&self, block: &Block, calls: &[Val]) -> usize {
        if !self.o.has(Forms::FUSED_LOADS | Forms::UNMASKED) {
            return 0;
        }
        let suits = |&&v: &&Val| self.load_suits(block, v);
        calls.iter().rev().take_while(suits).count()
    }

    /// How many calls there are at the beginning that a segment may make.
    pub(super) fn fusable_from(&self, block: &Block, calls: &[Val]) -> usize {
        if !self
            .o
            .has(Forms::FUSED_LOADS | Forms::FUSED_STORES | Forms::UNMASKED)
        {
            return 0;
        }
        let suits = |&&v: &&Val| self.load_suits(block, v);
        calls.iter().take_while(suits).count()
    }

    fn load_suits(&self, block: &Block, v: Val) -> bool {
        match block.nodes[v.index()].op {
            Op::Load(_, _, site) => {
                self.affine.contains_key(&v) && !self.f.sites[site.0 as usize].inst.mem.glc
            }
            _ => false,
        }
    }

    /// Prepares loads and stores for the segment: everything that its loop needs, and what must hold (I8) for it to run.
    /// All scalars that either way needs are there behind this.
    pub(super) fn fuse(
        &mut self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        (loads, stores): (&[Val], &[Val]),
        execs: &mut Vec<Value>,
    ) -> (Fusion, Vec<Value>) {
        let mut fusion = Fusion::default();
        for &v in loads.iter().chain(stores) {
            self.prepare_access(block, plan, v, execs);
            let fused = self.access_of(block, v);
            if !fused.store {
                fusion.of.insert(v, fusion.accesses.len());
            }
            fusion.accesses.push(fused);
        }
        for (i, node) in block.nodes.iter().enumerate() {
            if let Op::Result(n) = node.op
                && let Some(&load) = fusion.of.get(&node.args[0])
                && let Some(word) = fusion.accesses[load].words.get_mut(usize::from(n))
            {
                *word = Some(Val(i as u32));
                fusion.of.insert(Val(i as u32), load);
            }
        }
        self.find_kept(block, plan, segment, stores, &mut fusion);
        let conditions = self.check_ranges(block, plan, &mut fusion);
        (fusion, conditions)
    }

    /// Computes the wave values that an access needs on either way, and collects its EXEC.
    fn prepare_access(&mut self, block: &Block, plan: &Schedule, v: Val, execs: &mut Vec<Value>) {
        let node = &block.nodes[v.index()];
        let mut wave = self.leaves.get(&v).cloned().unwrap_or_default();
        wave.extend(&node.args[2..]);
        for value in wave {
            if block.nodes[value.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, value);
            }
        }
        self.new_exec(block, plan, v);
        for &bound in bounds(node) {
            self.wave_word(block, plan, bound);
        }
        let exec = self.mask_bits(block, plan, node.args[1]);
        if !execs.contains(&exec) {
            execs.push(exec);
        }
    }

    /// A load or store, as its node and its facts say.
    pub(super) fn access_of(&self, block: &Block, v: Val) -> Fused {
        let node = &block.nodes[v.index()];
        let access = load_or_store(node.op);
        let (load, space, data, _) = access.expect("bug: no load and no store");
        let (base, offset) = parts(block, node.args[0]);
        let mut words = vec![None; access::words(data)];
        words[0] = load.then_some(v);
        Fused {
            v,
            data,
            affine: self.affine[&v],
            lds: space == Space::Lds,
            base,
            offset,
            start: None,
            ahead: None,
            words,
            store: !load,
        }
    }

    /// Finds the loads' results that somebody outside the segment wants, and the segment's values that nobody
    /// outside wants but its own stores.
    fn find_kept(
        &self,
        block: &Block,
        plan: &Schedule,
        segment: &Segment,
        stores: &[Val],
        fusion: &mut Fusion,
    ) {
        let mut inner: HashSet<Val> = segment.nodes.iter().copied().collect();
        inner.extend(stores);
        let mut outside = HashSet::default();
        // A further word of a load is no user of its first.
        let word = |v: Val| matches!(block.nodes[v.index()].op, Op::Result(_));
        for i in 0..block.nodes.len() {
            let v = Val(i as u32);
            let fused_word = word(v) && fusion.of.contains_key(&v);
            if plan.needed[i] && !inner.contains(&v) && !fused_word {
                schedule::each_operand(block, &plan.class, &self.leaves, i, |a| {
                    outside.insert(a);
                });
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
        let spilled = segment.spills.iter().map(|&(v, _)| v);
        fusion.private = spilled.filter(|v| !outside.contains(v)).collect();
    }

    /// Loads the group's lanes of the load that gives `v`, if one does, which makes them values of the group.
    pub(super) fn have_fused(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        v: Val,
    ) -> bool {
        let Some(&n) = self.fusion.of.get(&v) else {
            return false;
        };
        let starts = self.group_starts(block, plan, body, n);
        let load = &self.fusion.accesses[n];
        let (data, stride, offset) = (load.data, load.affine.stride, load.offset);
        let words = load.words.clone();
        let alike = load.affine.alike;
        let mut loaded = vec![Vec::with_capacity(body.slices); words.len()];
        let slices = body.slices / starts.len();
        let mut row = Vec::new();
        for (n, start) in starts.into_iter().enumerate() {
            if n == 0 || !alike {
                row = self.load_group(start, offset, stride, data, slices);
            }
            for (all, row) in loaded.iter_mut().zip(&row) {
                all.extend(row);
            }
        }
        for (word, value) in words.into_iter().zip(loaded) {
            if let Some(word) = word {
                body.values.insert(word, value);
            }
        }
        true
    }

    /// Host addresses of an access's elements without the constant part: of the group's first lane, or of the first
    /// in each of its rows.
    fn group_starts(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        n: usize,
    ) -> Vec<Value> {
        let access = &self.fusion.accesses[n];
        let (stride, base, lds) = (access.affine.stride, access.base, access.lds);
        let (offset, ahead, alike) = (access.offset, access.ahead, access.affine.alike);
        let lanes = body.slices * self.per();
        let lane = match access.start {
            Some(start) if stride == 0 => return vec![start],
            _ => body.lane,
        };
        if let Some(start) = access.start {
            let bytes = match u64::try_from(stride) {
                Ok(stride) if stride.is_power_of_two() => {
                    let n = i64::from(stride.trailing_zeros());
                    self.b.ishl_imm(lane, n)
                }
                _ => self.b.imul_imm(lane, stride),
            };
            if let Some(ahead) = ahead {
                let there = self.b.iadd(ahead.start, bytes);
                self.prefetch(ahead.into, there, (offset, stride, lanes));
            }
            return vec![self.b.iadd(start, bytes)];
        }
        let rows = lanes.div_ceil(self.row as usize);
        let mut known = std::mem::take(&mut body.at);
        known.resize_with(rows, HashMap::default);
        let different = if alike { 1 } else { rows };
        let mut starts = Vec::with_capacity(rows);
        for (row, known) in known.iter_mut().take(different).enumerate() {
            let spot = Spot::in_group(body, lane, row as i64 * self.row);
            let address = self.at_lane(block, plan, base, spot, known);
            starts.push(match self.fusion.lds {
                Some(start) if lds => {
                    let address = self.b.uextend(types::I64, address);
                    self.b.iadd(start, address)
                }
                _ => address,
            });
        }
        body.at = known;
        if let Some(ahead) = ahead {
            for &start in &starts {
                let there = self.b.iadd(start, ahead.delta);
                self.prefetch(ahead.into, there, (offset, stride, lanes / rows));
            }
        }
        starts.resize(rows, starts[0]);
        starts
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
                _ => self.b.iadd_imm(start, i64::from(offset)),
            };
            let words = self.load_one(at, data);
            return words
                .into_iter()
                .map(|word| {
                    let ty = dwords_type(self.per());
                    let all = self.b.splat(ty, word);
                    vec![all; slices]
                })
                .collect();
        }
        let (per, count) = (self.per(), self.lanes_at_once(true, data, stride, true));
        let mut out = vec![Vec::with_capacity(slices); access::words(data)];
        for first in (0..slices * per).step_by(count) {
            let away = i64::from(offset) + stride * first as i64;
            let words = self.load_lanes(count, (start, away), stride, data);
            for (out, word) in out.iter_mut().zip(words) {
                out.push(word);
            }
        }
        if count == per {
            return out;
        }
        let mut lanes = self.of_lanes(slices, per);
        out.into_iter()
            .map(|parts| lanes.join_parts(count, parts))
            .collect()
    }
}
