//! Parallel regions: parts of a region's control flow with one entry and one exit in which lanes cannot observe one
//! another. Each lane group may execute all of one before the next group begins, with its values in host registers.
//!
//! The hardware executes an instruction on all lanes before the next instruction. The order of lanes is not observable
//! in blocks that only load and compute; control flow remains. A branch on a scalar takes the same edge in all groups.
//! For a branch that tests whether a mask is empty, each group tests its own lanes: a group without active lanes skips
//! blocks that the wave may still execute, and leaves a loop before other groups do. This is correct where the skipped
//! blocks have no effect under an empty mask, which `skip` proves.
//!
//! Scratch counts as disjoint from all other memory: a region may store to the wave's scratch and load from global memory
//! without a proof that these accesses do not meet. A program that reads its own scratch through a global address is the
//! exception to the order of instructions.

use std::collections::{BTreeMap, BTreeSet};

use frontend::op::{Data, Space};
use frontend::state::LANES;

use crate::analysis::interchange::MaskPlace;
use crate::analysis::liveness::{Live, Lives};
use crate::analysis::schedule::is_computed;
use crate::analysis::uniformity::Facts;
use crate::host::Host;
use crate::ir::memory::bounds;
use crate::ir::{Block, Func, Op, SiteId, Slot, Target, Term, Val, Vary};

pub mod affine;
mod graph;
mod kinds;
mod refusal;
mod skip;

pub use affine::AffineValues;
pub use kinds::{BlockPlan, Kind};
pub use refusal::Refusal;
pub(crate) use skip::tested;

/// Maximum number of blocks of a parallel region.
const MAX_BLOCKS: usize = 96;

/// Maximum number of lane IR nodes of a parallel region.
const MAX_NODES: usize = 4000;

/// A parallel region.
#[derive(Debug)]
pub struct Parallel {
    /// The entry block.
    pub head: usize,
    /// The region's blocks in reverse postorder, so that each follows its dominators.
    pub blocks: Vec<usize>,
    /// The target of every exit.
    pub exit: Target,
    /// By block: what is computed, and how each value is held.
    pub code: BTreeMap<usize, BlockPlan>,
    /// Masks that are held as lane masks at the exit.
    pub exit_masks: BTreeSet<MaskPlace>,
    /// A loop loads, so it may wait for memory that other waves write; its iterations are limited by the wave's fuel.
    pub may_wait: bool,
    /// Accesses of scratch: block and node. The windows of all are computed at the region's entry, where accesses of
    /// other memory than the wave's own scratch fail.
    pub scratch: Vec<(usize, Val)>,
    /// No block changes EXEC. Then the region requires EXEC != 0 at its entry.
    pub keeps_exec: bool,
    /// Affine values.
    pub affine: AffineValues,
    /// By block: the condition of its branch, if the branch tests whether EXEC has a lane where a condition holds that is
    /// uniform in the wave. Groups need no proof that they may skip: all take the wave's edge. A group without active lanes
    /// would compute the condition from registers with arbitrary contents, so such a region requires
    /// [`needs_lanes`](Parallel::needs_lanes).
    pub uniform_tests: BTreeMap<usize, Val>,
    /// SGPR pairs with masks that the guest saved before the region. A group's lane-0 scalars are computed from its first
    /// lane in EXEC or in one of these masks: a region may begin where EXEC is narrow and restore it.
    pub saved_masks: Vec<u8>,
    /// The region is entered only if each group has a lane in EXEC or in one of the saved masks. Without one a group's
    /// lane-0 scalars are meaningless, and it needs them for a uniform test, or since blocks may act on other lanes.
    pub needs_lanes: bool,
    /// VGPRs whose lanes some block uses; the others are used by their lane-0 scalar only.
    pub vectors: BTreeSet<u16>,
    /// Lanes of a group.
    pub group: usize,
}

/// Input of the search for parallel regions.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The region.
    pub f: &'a Func,
    /// Live registers at its block boundaries.
    pub lives: &'a Lives,
    /// Uniformity analysis of it.
    pub facts: &'a Facts,
    /// The host, whose back end decides which functions are computed by lanes.
    pub host: Host,
    /// Lanes of a host vector.
    pub per: usize,
    /// Lanes of a group, if set explicitly.
    pub group: Option<u8>,
}

/// The parallel regions of a region.
#[derive(Debug, Default)]
pub struct Found {
    /// They are disjoint.
    pub regions: Vec<Parallel>,
    /// By block of a loop that is in none of them: why the loop is none.
    pub refused: BTreeMap<usize, Refusal>,
}

/// Finds disjoint parallel regions: in reverse postorder, the largest that begins at each block. Blocks that are
/// `taken` belong to none.
pub fn find(request: Request<'_>, taken: &BTreeSet<usize>) -> Found {
    let graph = graph::Graph::new(request.f);
    let mut covered = taken.clone();
    let mut found = Found::default();
    for &head in &graph.order {
        let is_header = graph.is_header(head);
        if covered.contains(&head) || !is_header && check_block(request.f, head).is_err() {
            continue;
        }
        let mut best = None;
        let mut reason = None;
        for exit in graph.postdominators(head) {
            let Some(blocks) = graph.between(head, exit, MAX_BLOCKS) else {
                break;
            };
            let checked = check_blocks(request, &blocks, &covered);
            let stop = checked.is_err();
            match checked.and_then(|()| plan(request, head, exit, &blocks)) {
                Ok(parallel) => best = Some(parallel),
                Err(refusal) if is_header && reason.is_none() && graph.is_loop(head, &blocks) => {
                    // The smallest loop with this header; inner loops come later and replace it for their blocks.
                    reason = Some((refusal, blocks));
                }
                Err(_) => {}
            }
            if stop {
                break;
            }
        }
        if let Some(parallel) = best {
            covered.extend(&parallel.blocks);
            found.regions.push(parallel);
        } else if let Some((refusal, blocks)) = reason {
            found
                .refused
                .extend(blocks.into_iter().map(|b| (b, refusal)));
        }
    }
    found.refused.retain(|b, _| !covered.contains(b));
    found
}

/// Refuses blocks of which one cannot be in a parallel region, or that are too many.
fn check_blocks(
    request: Request<'_>,
    blocks: &[usize],
    covered: &BTreeSet<usize>,
) -> Result<(), Refusal> {
    let f = request.f;
    for &b in blocks {
        if covered.contains(&b) {
            return Err(Refusal::Taken(b));
        }
        check_block(f, b)?;
    }
    let nodes: usize = blocks.iter().map(|&b| f.blocks[b].nodes.len()).sum();
    if nodes > MAX_NODES {
        return Err(Refusal::Large);
    }
    Ok(())
}

/// Refuses a block whose effects, terminator or writes of MODE do not permit it in a parallel region.
fn check_block(f: &Func, b: usize) -> Result<(), Refusal> {
    let block = &f.blocks[b];
    if !matches!(block.term, Term::Jump(_) | Term::Branch { .. }) {
        return Err(Refusal::End(b));
    }
    let mut effects = block.effects.iter();
    if let Some(&v) = effects.find(|v| !is_parallel(f, block.nodes[v.index()].op)) {
        return Err(Refusal::Effect(b, v));
    }
    match block.writes_s.iter().any(|w| w.0 == Slot::Mode) {
        true => Err(Refusal::Mode(b)),
        false => Ok(()),
    }
}

/// May lanes execute an access in any order? Coherent loads (GLC) must observe other waves' stores, so they may not.
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

/// Element types that inline code loads.
fn is_known(data: Data) -> bool {
    matches!(
        data,
        Data::Dwords(1..=4) | Data::U8 | Data::I8 | Data::U16 | Data::I16
    )
}

/// Plans the region of these blocks; refused if it is not parallel or does not pay.
fn plan(
    request: Request<'_>,
    head: usize,
    exit: usize,
    blocks: &[usize],
) -> Result<Parallel, Refusal> {
    let f = request.f;
    let inside: BTreeSet<usize> = blocks.iter().copied().collect();
    let mut exits = Vec::new();
    let mut has_loop = false;
    let mut places = BTreeMap::new();
    for (n, &b) in blocks.iter().enumerate() {
        places.insert(b, n);
    }
    for &b in blocks {
        for target in f.blocks[b].term.targets() {
            match target.block() {
                Some(to) if inside.contains(&to) => has_loop |= places[&to] <= places[&b],
                Some(to) if to == exit => exits.push(target),
                _ => return Err(Refusal::Exits),
            }
        }
    }
    let first = *exits.first().ok_or(Refusal::Exits)?;
    if exits.iter().any(|&other| other != first) {
        return Err(Refusal::Exits);
    }
    let (code, exit_masks) = kinds::plan(request, blocks, exit)?;
    let again = |&b: &usize| f.blocks[b].term.targets().any(|t| t.block() == Some(head));
    let scratch =
        scratch(f, blocks, &code, blocks.iter().any(again)).ok_or(Refusal::ScratchMoves)?;
    if blocks.len() < 2 && !has_loop && scratch.len() < FEW {
        return Err(Refusal::Small);
    }
    let is_store =
        |&(b, v): &(usize, Val)| matches!(f.blocks[b].nodes[v.index()].op, Op::Store(..));
    let stores = scratch.iter().any(is_store);
    let may_wait = has_loop && may_wait(f, &inside);
    if stores && !can_begin_again(f, blocks, &scratch) {
        return Err(Refusal::ScratchReadBack);
    }
    let lanes = code.values().any(|plan| !plan.vgprs.is_empty());
    let writes_exec = |plan: &BlockPlan| plan.masks.iter().any(|w| w.0 == MaskPlace::Exec);
    let mut parallel = Parallel {
        head,
        may_wait,
        scratch,
        keeps_exec: !code.values().any(writes_exec),
        blocks: blocks.to_vec(),
        exit: first,
        code,
        exit_masks,
        affine: AffineValues::default(),
        uniform_tests: BTreeMap::new(),
        saved_masks: Vec::new(),
        needs_lanes: false,
        vectors: BTreeSet::new(),
        group: request.per,
    };
    parallel.choose_group(request);
    parallel.find_uniform_tests(request);
    parallel.find_saved_masks(request);
    parallel.check_addresses(f)?;
    if !lanes || !has_loop && !parallel.pays(request) {
        return Err(Refusal::Small);
    }
    match skip::refused(request, &parallel) {
        Some(b) => Err(Refusal::Skip(b)),
        None => Ok(parallel),
    }
}

/// Does a block access memory other than scratch, so that a loop may wait for a change of that memory?
fn may_wait(f: &Func, inside: &BTreeSet<usize>) -> bool {
    inside.iter().any(|&b| {
        let block = &f.blocks[b];
        let mut effects = block.effects.iter();
        effects.any(|v| !is_scratch(block.nodes[v.index()].op))
    })
}

/// Is it an access of scratch, or of a buffer, which may be scratch?
pub(crate) fn is_scratch(op: Op) -> bool {
    matches!(
        op,
        Op::Load(Space::Scratch | Space::Buffer, ..)
            | Op::Store(Space::Scratch | Space::Buffer, ..)
    )
}

/// Is a lane mask that of EXEC at the block's entry?
fn is_entry_exec(block: &Block, mask: Val) -> bool {
    let node = &block.nodes[mask.index()];
    let exec = || block.nodes[node.args[0].index()].op == Op::ReadS(Slot::Exec);
    node.op == Op::ExecMask && exec()
}

/// May blocks that store to scratch be executed again from the first one after a part of them was executed? Requires
/// that no load reads a dword that a store may have overwritten. A load is exempt if the same block has stored the
/// dword before under the same mask, or if the first block has stored it before under the EXEC at its entry and no
/// block changes EXEC. All offsets must be constants and relative to the same base.
fn can_begin_again(f: &Func, blocks: &[usize], scratch: &[(usize, Val)]) -> bool {
    let mut stored: BTreeSet<u64> = BTreeSet::new();
    let mut exposed: BTreeSet<u64> = BTreeSet::new();
    let mut of_head: BTreeSet<u64> = BTreeSet::new();
    let keeps = blocks
        .iter()
        .all(|&b| f.blocks[b].writes_s.iter().all(|w| w.0 != Slot::Exec));
    let mut of_block: BTreeSet<(usize, Val, u64)> = BTreeSet::new();
    // Offsets are comparable only if they are relative to the same base.
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
        // Stores of bytes and shorts keep other bytes of their dword.
        let Data::Dwords(count) = data else {
            return false;
        };
        let mask = node.args[1];
        for at in (0..u64::from(count)).map(|n| at / 4 + n) {
            match node.op {
                Op::Store(..) => {
                    stored.insert(at);
                    of_block.insert((b, mask, at));
                    if b == blocks[0] && keeps && is_entry_exec(block, mask) {
                        of_head.insert(at);
                    }
                }
                _ if of_block.contains(&(b, mask, at)) => {}
                // A block that leaves EXEC unchanged may change it in between, so the load's mask is compared, too.
                _ if of_head.contains(&at) && is_entry_exec(block, mask) => {}
                _ => {
                    exposed.insert(at);
                }
            }
        }
    }
    stored.is_disjoint(&exposed)
}

/// The base of a scratch access's offset as an expression tree in preorder (operation, operand count), in terms of the
/// scalars at the entry of `head`.
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

/// The accesses of scratch in these blocks; `None` if the scalars that determine where the scratch is may change inside
/// the region. `head_again` is true if the first block is a loop header, whose own writes then count.
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
                    // The slot has its value at the end of the first block.
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

/// Number of scratch accesses from which a region without loops pays.
const FEW: usize = 2;

/// Minimum number of lane nodes that a region without loops must compute for each VGPR that it loads or stores.
const GAIN: usize = 3;

/// Pressure limit: a group of more than one host vector holds at most this many vectors, so that they stay in
/// registers.
const PRESSURE: usize = 12;

impl Parallel {
    /// Chooses the number of host vectors of a group, and finds the affine values in groups of that size.
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
            self.affine = affine::find(f, self, request.facts, self.group, request.host);
            self.find_vectors(request);
            let held = self.vectors.len() * slices;
            if slices == 1 || request.group.is_some() || held <= PRESSURE {
                return;
            }
            slices /= 2;
        }
    }

    /// Refuses computed addresses that are not affine. The general code is better: it has offset tables and runtime
    /// checks.
    fn check_addresses(&self, f: &Func) -> Result<(), Refusal> {
        for &b in &self.blocks {
            let block = &f.blocks[b];
            let facts = self.affine.blocks.get(&b);
            let mut loads = block.effects.iter().filter(|v| {
                let op = block.nodes[v.index()].op;
                matches!(op, Op::Load(..)) && !is_scratch(op)
            });
            let scattered = loads.find(|v| {
                let address = block.nodes[v.index()].args[0];
                block.nodes[address.index()].ty.vary != Vary::Wave
                    && !facts.is_some_and(|facts| facts.loads.contains(v))
                    && is_computed(block, address)
            });
            if let Some(&v) = scattered {
                return Err(Refusal::Address(b, v));
            }
        }
        Ok(())
    }

    /// Does a region without loops compute enough for the VGPRs that it loads and stores?
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
        // Estimated execution probability of each block, in 1024ths.
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

    /// Finds the VGPRs whose lanes are used: those that are live at the exit, and operands of these, of masks, effects
    /// and branches.
    fn find_vectors(&mut self, request: Request<'_>) {
        let f = request.f;
        let behind = match self.exit.block() {
            Some(b) => request.lives.start[b],
            None => Live::ALL,
        };
        let written = self.written();
        let mut vectors: BTreeSet<u16> = written.into_iter().filter(|&n| behind.has(n)).collect();
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

    /// Adds the VGPRs whose lanes block `b` uses.
    fn vectors_of(&self, f: &Func, b: usize, vectors: &mut BTreeSet<u16>) {
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
                // Inactive lanes keep the old value, even if the new one is uniform.
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

    /// Finds the uniform tests; see [`Parallel::uniform_tests`].
    fn find_uniform_tests(&mut self, request: Request<'_>) {
        let uniform = self.keeps_exec && request.facts.row() == LANES;
        for &b in self.blocks.iter().filter(|_| uniform) {
            let test = self
                .test(request.f, b)
                .and_then(|mask| self.uniform_condition(&request.f.blocks[b], b, mask));
            self.uniform_tests.extend(test.map(|cond| (b, cond)));
        }
    }

    /// Finds the masks from whose lanes lane-0 scalars are computed.
    fn find_saved_masks(&mut self, request: Request<'_>) {
        if !self.uniform_tests.is_empty() {
            self.needs_lanes = true;
            return;
        }
        let facts = request.facts;
        let known = self.affine.known_at_entry(facts, self.head);
        if known.is_empty() {
            return;
        }
        let live = &request.lives.start[self.head];
        let mut saved = facts.saved_masks(self.head, &known);
        saved.retain(|&n| slots_of(MaskPlace::Pair(n)).all(|slot| live.has_slot(slot)));
        let again = |b: usize| {
            let mut targets = request.f.blocks[b].term.targets();
            targets.any(|target| target.block() == Some(self.head))
        };
        let within = |&b: &usize| facts.acts_within(b, again(b), self.head, &saved);
        self.needs_lanes = !self.blocks.iter().all(within);
        self.saved_masks = saved;
    }

    /// The mask that the branch at the end of block `b` tests, if groups may find different answers.
    fn test(&self, f: &Func, b: usize) -> Option<Val> {
        let block = &f.blocks[b];
        condition(&block.term)
            .filter(|v| self.code[&b].kinds[v.index()] == Kind::Test)
            .map(|v| tested(block, v).0)
    }

    /// If a mask is EXEC where a condition holds that is uniform in the group, and 0 otherwise: the condition.
    fn uniform_condition(&self, block: &Block, b: usize, mask: Val) -> Option<Val> {
        let facts = self.affine.blocks.get(&b)?;
        let node = &block.nodes[mask.index()];
        let of = match node.op {
            Op::Ballot => &block.nodes[node.args[0].index()],
            _ => return None,
        };
        if of.op != Op::And {
            return None;
        }
        let cond = match (
            is_entry_exec(block, of.args[0]),
            is_entry_exec(block, of.args[1]),
        ) {
            (true, _) => of.args[1],
            (_, true) => of.args[0],
            _ => return None,
        };
        facts.is_uniform(block, cond).then_some(cond)
    }

    /// Is an edge a back edge: does it lead to a block that does not follow `from` in the region's order?
    pub fn is_back(&self, from: usize, to: usize) -> bool {
        let place = |b: usize| self.blocks.iter().position(|&other| other == b);
        place(to) <= place(from)
    }

    /// VGPRs that some block writes and that are live at its end.
    pub fn written(&self) -> BTreeSet<u16> {
        let plans = self.code.values();
        plans
            .flat_map(|plan| plan.vgprs.iter().map(|w| w.0))
            .collect()
    }

    /// Scalar slots that some block writes as scalars and that are live at its end.
    pub fn slots(&self) -> BTreeSet<Slot> {
        let plans = self.code.values();
        plans
            .flat_map(|plan| plan.slots.iter().map(|w| w.0))
            .collect()
    }

    /// Masks that are held as lane masks at some block boundary.
    pub fn masks(&self) -> BTreeSet<MaskPlace> {
        let mut all = self.exit_masks.clone();
        for plan in self.code.values() {
            all.extend(&plan.masks_in);
            all.extend(&plan.masks_out);
        }
        all
    }
}

/// The scalar slots that a mask consists of.
pub(crate) fn slots_of(place: MaskPlace) -> impl Iterator<Item = Slot> {
    place.slots().into_iter().flatten()
}

/// The value that a branch tests.
pub fn condition(term: &Term) -> Option<Val> {
    match *term {
        Term::Branch { cond, .. } => Some(cond),
        _ => None,
    }
}
