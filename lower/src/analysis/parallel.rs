//! Parallel regions: parts of a region's control flow with one entry and one exit in which lanes cannot observe one
//! another, so that each lane group may run all of it before the next group begins, with its values in host registers.
//!
//! The hardware executes an instruction on all lanes before the next one. The order of lanes is not observable in blocks
//! that only load and compute; what remains is control flow. A branch on a scalar goes the same way for all groups. A
//! branch that asks whether a mask has a lane is decided by each group for its own lanes: a group without lanes skips
//! blocks that the wave may still execute, and leaves a loop before others do. That is right where the skipped blocks do
//! nothing under an empty mask, which `skip` proves.

use std::collections::{BTreeMap, BTreeSet};

use frontend::op::{Data, Space};

use crate::analysis::interchange::MaskPlace;
use crate::analysis::liveness::{Live, Lives};
use crate::analysis::schedule::is_computed;
use crate::analysis::uniformity::Facts;
use crate::ir::memory::bounds;
use crate::ir::{Block, Func, Op, SiteId, Slot, Target, Term, Val, Vary};

pub mod affine;
mod graph;
mod kinds;
mod skip;

pub use affine::AffineValues;
pub use kinds::{BlockPlan, Kind};
pub(crate) use skip::tested;

/// Most blocks of a parallel region.
const MAX_BLOCKS: usize = 96;

/// Most nodes of a parallel region.
const MAX_NODES: usize = 4000;

/// A parallel region.
#[derive(Debug)]
pub struct Parallel {
    /// The block by which control enters.
    pub head: usize,
    /// Its blocks, each behind those that dominate it.
    pub blocks: Vec<usize>,
    /// Where control leaves for.
    pub exit: Target,
    /// What is computed in each block, and how it is held.
    pub code: BTreeMap<usize, BlockPlan>,
    /// Masks that are held by lanes where control leaves.
    pub exit_masks: BTreeSet<MaskPlace>,
    /// May a loop wait for memory that other waves write?
    pub may_wait: bool,
    /// Accesses of scratch: block and node. Each is of the wave's own scratch, which is known where the region begins.
    pub scratch: Vec<(usize, Val)>,
    /// Does no block change EXEC? Then it must not be 0 where the region begins.
    pub keeps_exec: bool,
    /// What is affine.
    pub affine: AffineValues,
    /// VGPRs that some block needs by lanes.
    pub vectors: BTreeSet<u8>,
    /// Lanes in a group.
    pub group: usize,
}

/// What is asked of a region's blocks.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The region.
    pub f: &'a Func,
    /// What is live in it.
    pub lives: &'a Lives,
    /// What is affine in it.
    pub facts: &'a Facts,
    /// Is code for the wide back end, which has more functions of lanes?
    pub wide: bool,
    /// Lanes in a host vector.
    pub per: usize,
    /// Lanes that a group is to have, if that is said.
    pub group: Option<u8>,
}

/// Finds disjoint parallel regions, the largest first met from the entry on. Blocks that are `taken` belong to none.
pub fn find(request: Request<'_>, taken: &BTreeSet<usize>) -> Vec<Parallel> {
    let f = request.f;
    let graph = graph::Graph::new(f);
    let mut covered = taken.clone();
    let mut found = Vec::new();
    for &head in &graph.order {
        if covered.contains(&head) || !is_legal(request, head) {
            continue;
        }
        let mut best = None;
        for exit in graph.postdominators(head) {
            let Some(blocks) = graph.between(head, exit, MAX_BLOCKS) else {
                break;
            };
            if blocks
                .iter()
                .any(|b| covered.contains(b) || !is_legal(request, *b))
            {
                break;
            }
            let nodes: usize = blocks.iter().map(|&b| f.blocks[b].nodes.len()).sum();
            if nodes > MAX_NODES {
                break;
            }
            best = plan(request, head, exit, blocks).or(best);
        }
        if let Some(parallel) = best {
            covered.extend(&parallel.blocks);
            found.push(parallel);
        }
    }
    found
}

/// May a block be part of a parallel region, as far as its effects and its end tell?
fn is_legal(request: Request<'_>, index: usize) -> bool {
    let block = &request.f.blocks[index];
    let ends = matches!(block.term, Term::Jump(_) | Term::Branch { .. });
    ends && block
        .effects
        .iter()
        .all(|&v| is_parallel(request.f, block.nodes[v.index()].op))
        && block.writes_s.iter().all(|&(slot, _)| slot != Slot::Mode)
}

/// May lanes make an access in any order? A coherent load is to see what others store meanwhile.
fn is_parallel(f: &Func, op: Op) -> bool {
    let coherent = |site: SiteId| f.sites[site.0 as usize].inst.mem.glc;
    match op {
        Op::Load(Space::Global | Space::Flat | Space::Lds, data, site) => {
            is_known(data) && !coherent(site)
        }
        Op::Load(Space::Scratch | Space::Buffer, data, _)
        | Op::Store(Space::Scratch | Space::Buffer, data, _) => is_known(data),
        Op::ScalarLoad(_, site) => !coherent(site),
        _ => false,
    }
}

/// Elements that are loaded inline.
fn is_known(data: Data) -> bool {
    matches!(
        data,
        Data::Dwords(1..=4) | Data::U8 | Data::I8 | Data::U16 | Data::I16
    )
}

/// Plans the region of these blocks, if it is parallel.
fn plan(request: Request<'_>, head: usize, exit: usize, blocks: Vec<usize>) -> Option<Parallel> {
    let f = request.f;
    let inside: BTreeSet<usize> = blocks.iter().copied().collect();
    let mut exits = Vec::new();
    let mut has_loop = false;
    let mut places = BTreeMap::new();
    for (n, &b) in blocks.iter().enumerate() {
        places.insert(b, n);
    }
    for &b in &blocks {
        for target in f.blocks[b].term.targets() {
            match target.block() {
                Some(to) if inside.contains(&to) => has_loop |= places[&to] <= places[&b],
                Some(to) if to == exit => exits.push(target),
                _ => return None,
            }
        }
    }
    let first = *exits.first()?;
    if exits.iter().any(|&other| other != first) {
        return None;
    }
    let (code, exit_masks) = kinds::plan(request, &blocks, exit)?;
    let again = |&b: &usize| f.blocks[b].term.targets().any(|t| t.block() == Some(head));
    let scratch = scratch(f, &blocks, &code, blocks.iter().any(again))?;
    if blocks.len() < 2 && !has_loop && scratch.len() < FEW {
        return None;
    }
    let is_store =
        |&(b, v): &(usize, Val)| matches!(f.blocks[b].nodes[v.index()].op, Op::Store(..));
    let stores = scratch.iter().any(is_store);
    let may_wait = has_loop && may_wait(f, &inside);
    if stores && !can_begin_again(f, &blocks, &scratch) {
        return None;
    }
    let lanes = code.values().any(|plan| !plan.vgprs.is_empty());
    let writes_exec = |plan: &BlockPlan| plan.masks.iter().any(|w| w.0 == MaskPlace::Exec);
    let mut parallel = Parallel {
        head,
        may_wait,
        scratch,
        keeps_exec: !code.values().any(writes_exec),
        blocks,
        exit: first,
        code,
        exit_masks,
        affine: AffineValues::default(),
        vectors: BTreeSet::new(),
        group: request.per,
    };
    parallel.choose_group(request);
    let pays = lanes && parallel.is_affine(f) && (has_loop || parallel.pays(request));
    (pays && skip::is_allowed(request, &parallel)).then_some(parallel)
}

/// Does a loop load, so that it may wait for what it loads to change?
fn may_wait(f: &Func, inside: &BTreeSet<usize>) -> bool {
    inside.iter().any(|&b| {
        let block = &f.blocks[b];
        let mut effects = block.effects.iter();
        effects.any(|v| !is_scratch(block.nodes[v.index()].op))
    })
}

/// Is it an access of scratch, or of a buffer that may be scratch?
pub(crate) fn is_scratch(op: Op) -> bool {
    matches!(
        op,
        Op::Load(Space::Scratch | Space::Buffer, ..)
            | Op::Store(Space::Scratch | Space::Buffer, ..)
    )
}

/// May blocks that store to scratch begin again after a part of them ran? Not where they load what they overwrite. Offsets
/// must be known, and a load counts as one of what was stored before in the same block under the same mask, or in the first one
/// where all act under the EXEC with which control enters.
fn can_begin_again(f: &Func, blocks: &[usize], scratch: &[(usize, Val)]) -> bool {
    let entry = |block: &Block, mask: Val| {
        let node = &block.nodes[mask.index()];
        let exec = || block.nodes[node.args[0].index()].op == Op::ReadS(Slot::Exec);
        node.op == Op::ExecMask && exec()
    };
    let mut stored: BTreeSet<u64> = BTreeSet::new();
    let mut exposed: BTreeSet<u64> = BTreeSet::new();
    let mut of_head: BTreeSet<u64> = BTreeSet::new();
    let keeps = blocks
        .iter()
        .all(|&b| f.blocks[b].writes_s.iter().all(|w| w.0 != Slot::Exec));
    let mut of_block: BTreeSet<(usize, Val, u64)> = BTreeSet::new();
    // Offsets are compared, so that all must count from one place.
    let mut places = scratch.iter().map(|&(b, v)| place(f, blocks[0], b, v));
    let first = places.next();
    if places.any(|place| Some(place) != first) {
        return false;
    }
    for &(b, v) in scratch {
        let block = &f.blocks[b];
        let node = &block.nodes[v.index()];
        let Op::Const(at) = block.nodes[node.args[0].index()].op else {
            return false;
        };
        let (Op::Load(_, data, _) | Op::Store(_, data, _)) = node.op else {
            return false;
        };
        // Bytes and shorts share their dwords with others.
        let Data::Dwords(count) = data else {
            return false;
        };
        let mask = node.args[1];
        for at in (0..u64::from(count)).map(|n| at / 4 + n) {
            match node.op {
                Op::Store(..) => {
                    stored.insert(at);
                    of_block.insert((b, mask, at));
                    if b == blocks[0] && keeps && entry(block, mask) {
                        of_head.insert(at);
                    }
                }
                _ if of_block.contains(&(b, mask, at)) || of_head.contains(&at) => {}
                _ => {
                    exposed.insert(at);
                }
            }
        }
    }
    stored.is_disjoint(&exposed)
}

/// What an access of scratch counts its offsets from, in terms of the scalars with which control enters `head`.
fn place(f: &Func, head: usize, b: usize, v: Val) -> Vec<(Op, usize)> {
    let node = &f.blocks[b].nodes[v.index()];
    let mut terms = Vec::new();
    let bounds = bounds(node);
    let mut work: Vec<(usize, Val)> = bounds.iter().take(3).map(|&v| (b, v)).collect();
    while let Some((b, v)) = work.pop() {
        let block = &f.blocks[b];
        let node = &block.nodes[v.index()];
        if let Op::ReadS(slot) = node.op
            && b != head
            && let Some(&(_, write)) = f.blocks[head].writes_s.iter().find(|w| w.0 == slot)
        {
            work.push((head, write));
            continue;
        }
        terms.push((node.op, node.args.len()));
        work.extend(node.args.iter().map(|&v| (b, v)));
    }
    terms
}

/// The accesses of scratch in some blocks; nothing where what says where it is changes inside of them.
fn scratch(
    f: &Func,
    blocks: &[usize],
    code: &BTreeMap<usize, BlockPlan>,
    head_again: bool,
) -> Option<Vec<(usize, Val)>> {
    let written = |slot: Slot, of_head: bool| {
        let plans = code.iter().filter(|(b, _)| of_head || **b != blocks[0]);
        let mut plans = plans.map(|(_, plan)| plan);
        plans.any(|plan| {
            let mask = |w: &(MaskPlace, Val)| slots_of(w.0).any(|s| s == slot);
            plan.slots.iter().any(|w| w.0 == slot) || plan.masks.iter().any(mask)
        })
    };
    let mut found = Vec::new();
    for &b in blocks {
        let block = &f.blocks[b];
        let accesses = block.effects.iter().copied();
        for v in accesses.filter(|v| is_scratch(block.nodes[v.index()].op)) {
            let mut work: Vec<(usize, Val)> = Vec::new();
            work.extend(bounds(&block.nodes[v.index()]).iter().map(|&v| (b, v)));
            while let Some((b, v)) = work.pop() {
                let node = &f.blocks[b].nodes[v.index()];
                match node.op {
                    Op::ReadS(slot) if written(slot, head_again) => return None,
                    // As the first block leaves it.
                    Op::ReadS(slot) if b != blocks[0] => {
                        let head = &f.blocks[blocks[0]];
                        let write = head.writes_s.iter().find(|w| w.0 == slot);
                        work.extend(write.map(|w| (blocks[0], w.1)));
                    }
                    Op::ScalarLoad(..) | Op::LaneAt | Op::Ballot | Op::Result(_) => return None,
                    _ => work.extend(node.args.iter().map(|&v| (b, v))),
                }
            }
            found.push((b, v));
        }
    }
    Some(found)
}

/// Accesses of scratch that make a region pay.
const FEW: usize = 2;

/// Values that a region without loops computes for each register that it loads or stores.
const GAIN: usize = 3;

/// Vectors that a group of several holds at most, so that they stay in registers.
const PRESSURE: usize = 12;

impl Parallel {
    /// Chooses how many host vectors a group has, and finds what is affine in such groups.
    fn choose_group(&mut self, request: Request<'_>) {
        let f = request.f;
        let row = request.facts.row().max(request.per);
        let mut slices = match request.group {
            Some(lanes) => usize::from(lanes) / request.per,
            None => 4,
        };
        loop {
            slices = slices.clamp(1, row / request.per);
            self.group = slices * request.per;
            self.affine = affine::find(f, self, request.facts, self.group, request.wide);
            self.find_vectors(request);
            let held = self.vectors.len() * slices;
            if slices == 1 || request.group.is_some() || held <= PRESSURE {
                return;
            }
            slices /= 2;
        }
    }

    /// Are addresses that registers are computed to affine? If they are not, the general code knows more of them: offset tables,
    /// and steps that are checked.
    fn is_affine(&self, f: &Func) -> bool {
        self.blocks.iter().all(|&b| {
            let block = &f.blocks[b];
            let facts = self.affine.blocks.get(&b);
            let mut loads = block.effects.iter().filter(|v| {
                let op = block.nodes[v.index()].op;
                matches!(op, Op::Load(..)) && !is_scratch(op)
            });
            loads.all(|v| {
                let address = block.nodes[v.index()].args[0];
                block.nodes[address.index()].ty.vary == Vary::Wave
                    || facts.is_some_and(|facts| facts.loads.contains(v))
                    || !is_computed(block, address)
            })
        })
    }

    /// Does a region without loops compute enough for what it loads and stores of registers?
    fn pays(&self, request: Request<'_>) -> bool {
        if self.scratch.len() >= FEW {
            return true;
        }
        let f = request.f;
        let behind = match self.exit.block() {
            Some(b) => request.lives.start[b],
            None => Live::ALL,
        };
        let before = &request.lives.start[self.head];
        let loaded = self.vectors.iter().filter(|&&n| before.has(n)).count();
        let stored = self.written().iter().filter(|&&n| behind.has(n)).count();
        // How likely it is that control comes to each block, in 1024ths.
        let mut likely: BTreeMap<usize, usize> = BTreeMap::from([(self.head, 1024)]);
        let mut computed = 0;
        for &b in &self.blocks {
            let plan = &self.code[&b];
            let here = likely.get(&b).copied().unwrap_or(0);
            let lanes = |(i, needed): (usize, &bool)| *needed && plan.kinds[i] == Kind::Lanes;
            let nodes = plan.needed.iter().enumerate().filter(|&n| lanes(n)).count();
            computed += here * nodes;
            let targets = f.blocks[b].term.targets().count().max(1);
            for to in f.blocks[b].term.targets().filter_map(|t| t.block()) {
                *likely.entry(to).or_default() += here / targets;
            }
        }
        computed / 1024 >= GAIN * (loaded + stored)
    }

    /// Finds the VGPRs that are needed by lanes: those that are live at the exit, and what these and masks are made of.
    fn find_vectors(&mut self, request: Request<'_>) {
        let f = request.f;
        let behind = match self.exit.block() {
            Some(b) => request.lives.start[b],
            None => Live::ALL,
        };
        let written = self.written();
        let mut vectors: BTreeSet<u8> = written.into_iter().filter(|&n| behind.has(n)).collect();
        loop {
            let before = vectors.len();
            for &b in &self.blocks {
                self.vectors_of(f, b, &mut vectors);
            }
            if vectors.len() == before {
                break;
            }
        }
        self.vectors = vectors;
    }

    /// Adds the VGPRs that block `b` needs by lanes.
    fn vectors_of(&self, f: &Func, b: usize, vectors: &mut BTreeSet<u8>) {
        let (block, plan) = (&f.blocks[b], &self.code[&b]);
        let nothing = affine::BlockFacts::default();
        let facts = self.affine.blocks.get(&b).unwrap_or(&nothing);
        let mut work: Vec<Val> = block.effects.clone();
        work.extend(plan.masks.iter().map(|w| w.1));
        let written = plan.vgprs.iter().filter(|w| vectors.contains(&w.0));
        work.extend(written.map(|w| w.1));
        work.extend(condition(&block.term));
        let mut seen = vec![false; block.nodes.len()];
        while let Some(v) = work.pop() {
            if std::mem::replace(&mut seen[v.index()], true) || facts.is_uniform(block, v) {
                continue;
            }
            let node = &block.nodes[v.index()];
            match node.op {
                Op::ReadV(n) => {
                    vectors.insert(n);
                }
                Op::Load(..) if facts.is_plain(block, v) => work.push(node.args[1]),
                // Lanes that are off keep what they have, whatever others do.
                Op::Select => {
                    if let Op::ReadV(n) = block.nodes[node.args[2].index()].op {
                        vectors.insert(n);
                    }
                    work.extend(node.args.iter());
                }
                _ => work.extend(node.args.iter()),
            }
        }
    }

    /// Is a branch's mask EXEC where one condition holds, which is the same in all lanes, else 0? The condition.
    pub(crate) fn uniform_test(&self, f: &Func, b: usize, mask: Val) -> Option<Val> {
        let block = &f.blocks[b];
        let facts = self.affine.blocks.get(&b)?;
        let node = &block.nodes[mask.index()];
        let of = match node.op {
            Op::Ballot => &block.nodes[node.args[0].index()],
            _ => return None,
        };
        if of.op != Op::And {
            return None;
        }
        let is_exec = |v: Val| {
            let node = &block.nodes[v.index()];
            let exec = || block.nodes[node.args[0].index()].op == Op::ReadS(Slot::Exec);
            node.op == Op::ExecMask && exec()
        };
        let (a, b) = (of.args[0], of.args[1]);
        let cond = match (is_exec(a), is_exec(b)) {
            (true, _) => b,
            (_, true) => a,
            _ => return None,
        };
        (self.keeps_exec && facts.is_uniform(block, cond)).then_some(cond)
    }

    /// Does control go from one block to another against their order, in a loop?
    pub fn is_back(&self, from: usize, to: usize) -> bool {
        let place = |b: usize| self.blocks.iter().position(|&other| other == b);
        place(to) <= place(from)
    }

    /// VGPRs that blocks write.
    pub fn written(&self) -> BTreeSet<u8> {
        let plans = self.code.values();
        plans
            .flat_map(|plan| plan.vgprs.iter().map(|w| w.0))
            .collect()
    }

    /// Scalar slots that blocks write as scalars.
    pub fn slots(&self) -> BTreeSet<Slot> {
        let plans = self.code.values();
        plans
            .flat_map(|plan| plan.slots.iter().map(|w| w.0))
            .collect()
    }

    /// Masks that are held by lanes somewhere.
    pub fn masks(&self) -> BTreeSet<MaskPlace> {
        let mut all = self.exit_masks.clone();
        for plan in self.code.values() {
            all.extend(&plan.masks_in);
            all.extend(&plan.masks_out);
        }
        all
    }
}

/// The slots that a mask's bits lie in.
pub(crate) fn slots_of(place: MaskPlace) -> impl Iterator<Item = Slot> {
    place.slots().into_iter().flatten()
}

/// What a branch decides by: the value that it tests.
pub fn condition(term: &Term) -> Option<Val> {
    match *term {
        Term::Branch { cond, .. } => Some(cond),
        _ => None,
    }
}
