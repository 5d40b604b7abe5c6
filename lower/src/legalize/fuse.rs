//! Fuses loads and stores with a segment. The loads right before a segment and the stores right
//! after it whose addresses are affine need not pass through memory slots when all lanes are
//! active: their ranges are checked, then each group of the segment's loop loads its own lanes,
//! computes, and stores them. If a check fails, or EXEC is not all ones, [`super::affine`] emits
//! loads and stores one after the other before and after the segment's other loop, which passes
//! their operands and results through the slots.
//!
//! Groups run one after the other, so a group's loads follow the stores of earlier groups. No lane
//! may load or store, by another instruction, what another lane stores: see [`alias`].

use frontend::op::{Data, Space};

use super::access;
use super::affine::Spot;
use super::body::Body;
use super::lanes::dwords_type;
use super::prefetch::Prefetch;
use super::{BlockFacts, Code, Emitter, Region};
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

/// A fused load or store.
pub(super) struct Fused {
    v: Val,
    data: Data,
    pub(super) affine: Affine,
    lds: bool,
    /// The address without its constant offset.
    pub(super) base: Val,
    /// Its constant part.
    pub(super) offset: i32,
    /// Host address of lane 0's element without the constant offset, for those affine in the whole
    /// wave.
    start: Option<Value>,
    /// Its predicted next address, unless it shares the cache lines of another access.
    prefetch_at: Option<Prefetch>,
    /// A load's result for each word.
    words: Vec<Option<Val>>,
    store: bool,
}

/// The loads and stores of a segment.
#[derive(Default)]
pub(super) struct Fusion {
    /// In program order.
    accesses: Vec<Fused>,
    /// The load that gives a value.
    of: HashMap<Val, usize>,
    /// Results live outside, with their locations.
    keep: Vec<(Val, Place)>,
    /// Values of the segment that only its own stores use.
    private: HashSet<Val>,
    /// Start of LDS.
    lds: Option<Value>,
    /// Host addresses of the first lanes of accesses to global memory, each with the accesses that
    /// differ by constants only.
    firsts: Vec<(Value, Vec<usize>)>,
    /// One of each pair must hold (I8); usually the first does.
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
    /// Results live outside the segment, with their locations.
    pub(super) fn keep(&self) -> Vec<(Val, Place)> {
        self.keep.clone()
    }

    /// Is it a value of the segment that only its own stores use?
    pub(super) fn is_private(&self, v: Val) -> bool {
        self.private.contains(&v)
    }
}

impl Code<'_> {
    /// The words of a group of `slices` host vectors of lanes whose elements are `stride` apart,
    /// the first at `start` plus a constant: for each word its host vectors. The range is already
    /// checked.
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

impl BlockFacts {
    /// The number of calls at the end of a gap that the following segment may fuse.
    pub(super) fn fusable(&self, region: &Region<'_>, block: &Block, calls: &[Val]) -> usize {
        if !region.options().has(Forms::FUSED_LOADS | Forms::UNMASKED) {
            return 0;
        }
        let suits = |&&v: &&Val| self.load_suits(region, block, v);
        calls.iter().rev().take_while(suits).count()
    }

    /// The number of calls at the beginning that a segment may fuse.
    pub(super) fn fusable_from(&self, region: &Region<'_>, block: &Block, calls: &[Val]) -> usize {
        if !region
            .options()
            .has(Forms::FUSED_LOADS | Forms::FUSED_STORES | Forms::UNMASKED)
        {
            return 0;
        }
        let suits = |&&v: &&Val| self.load_suits(region, block, v);
        calls.iter().take_while(suits).count()
    }

    fn load_suits(&self, region: &Region<'_>, block: &Block, v: Val) -> bool {
        match block.nodes[v.index()].op {
            Op::Load(_, _, site) => {
                self.affine(v).is_some() && !region.func().sites[site.0 as usize].inst.mem.glc
            }
            _ => false,
        }
    }

    /// A load or store from its node and its facts.
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
            affine: self.affine(v).expect("bug: an address that is not affine"),
            lds: space == Space::Lds,
            base,
            offset,
            start: None,
            prefetch_at: None,
            words,
            store: !load,
        }
    }

    /// Finds the loads' results that are live outside the segment, and the segment's values that
    /// only its own stores use.
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
        // A further word of a load is no use of its first.
        let word = |v: Val| matches!(block.nodes[v.index()].op, Op::Result(_));
        for i in 0..block.nodes.len() {
            let v = Val(i as u32);
            let fused_word = word(v) && fusion.of.contains_key(&v);
            if plan.needed[i] && !inner.contains(&v) && !fused_word {
                schedule::each_operand(block, &plan.class, self.all_leaves(), i, |a| {
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
}

impl Emitter<'_> {
    /// Prepares the fused loads and stores: everything that the segment's loop needs, and the
    /// conditions (I8) for it. All scalars that either path needs are available afterwards.
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
            let fused = self.facts.access_of(block, v);
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
        self.facts
            .find_kept(block, plan, segment, stores, &mut fusion);
        let conditions = self.check_ranges(block, plan, &mut fusion);
        (fusion, conditions)
    }

    /// Computes the wave values that an access needs on either path, and collects its EXEC.
    fn prepare_access(&mut self, block: &Block, plan: &Schedule, v: Val, execs: &mut Vec<Value>) {
        let node = &block.nodes[v.index()];
        let mut wave = self.facts.leaves(v);
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

    /// Loads the group's lanes of the load that gives `v`, if one does, as values of the group.
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
                row = self.code.load_group(start, offset, stride, data, slices);
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

    /// Host addresses of an access's elements without the constant offset: of the group's first
    /// lane, or of the first in each of its rows.
    fn group_starts(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        n: usize,
    ) -> Vec<Value> {
        let access = &self.fusion.accesses[n];
        let (stride, base, lds) = (access.affine.stride, access.base, access.lds);
        let (offset, prefetch_at, alike) = (access.offset, access.prefetch_at, access.affine.alike);
        let lanes = body.slices * self.code.per();
        let lane = match access.start {
            Some(start) if stride == 0 => return vec![start],
            _ => body.lane,
        };
        if let Some(start) = access.start {
            let bytes = match u64::try_from(stride) {
                Ok(stride) if stride.is_power_of_two() => {
                    let n = i64::from(stride.trailing_zeros());
                    self.code.b.ishl_imm(lane, n)
                }
                _ => self.code.b.imul_imm(lane, stride),
            };
            if let Some(prefetch_at) = prefetch_at {
                let there = self.code.b.iadd(prefetch_at.start, bytes);
                self.code
                    .prefetch(prefetch_at.into, there, (offset, stride, lanes));
            }
            return vec![self.code.b.iadd(start, bytes)];
        }
        let rows = lanes.div_ceil(self.code.region.row() as usize);
        let mut known = std::mem::take(&mut body.at);
        known.resize_with(rows, HashMap::default);
        let different = if alike { 1 } else { rows };
        let mut starts = Vec::with_capacity(rows);
        for (row, known) in known.iter_mut().take(different).enumerate() {
            let spot = Spot::in_group(body, lane, row as i64 * self.code.region.row());
            let address = self.at_lane(block, plan, base, spot, known);
            starts.push(match self.fusion.lds {
                Some(start) if lds => {
                    let address = self.code.b.uextend(types::I64, address);
                    self.code.b.iadd(start, address)
                }
                _ => address,
            });
        }
        body.at = known;
        if let Some(prefetch_at) = prefetch_at {
            for &start in &starts {
                let there = self.code.b.iadd(start, prefetch_at.delta);
                self.code
                    .prefetch(prefetch_at.into, there, (offset, stride, lanes / rows));
            }
        }
        starts.resize(rows, starts[0]);
        starts
    }
}
