//! Emission of parallel regions (see [`crate::analysis::parallel`]): one loop over lane groups, whose body is the
//! region's whole control flow with VGPRs and masks as host values. After the last group, what is live at the exit is
//! stored to the wave.
//!
//! A failed assumption (an address out of bounds, a loop that exceeds its iteration budget) leaves for the general code
//! of the region's first block, which restarts from the unchanged registers: no register that is live there is stored
//! to the wave before all groups are done.

use std::collections::BTreeMap;

use super::body::Body;
use super::boundary::slot_type;
use super::evaluate::Shape;
use super::lanes::dwords_type;
use super::scalar::joined;
use super::scratch::Window;
use super::{Boundary, Code, Emitter, frame_offset};
use crate::analysis::interchange::{MaskPlace, mask_read};
use crate::analysis::liveness::{Live, Lives};
use crate::analysis::parallel::affine::{Affine, BlockFacts};
use crate::analysis::parallel::{self, BlockPlan, Kind, Parallel};
use crate::analysis::schedule::{Place, Schedule};
use crate::analysis::uniformity::Facts;
use crate::ir::{Block, Op, Slot, Target, Term, Val, Vary, Width};
use crate::maps::HashMap;
use crate::vir::{self, IntCC, Memory, Value, Variable, types};
use frontend::state::LANES;

mod base;
mod memory;
mod scratch;

/// Maximum iterations of a region's loops per group, before the general code takes over, which yields to other waves.
const MOST_ITERATIONS: i64 = 1 << 20;

/// State of a parallel region while a group's code is emitted.
struct Group<'p> {
    plan: &'p Parallel,
    facts: &'p Facts,
    /// The guest block that is emitted.
    at: usize,
    schedule: Schedule,
    body: Body,
    vgprs: BTreeMap<u16, Vec<Variable>>,
    /// Lane-0 scalars of the VGPRs that the region writes.
    carried: BTreeMap<u16, Variable>,
    fixed: BTreeMap<u16, Value>,
    /// Lane-0 scalars of the block's values.
    bases: HashMap<Val, Value>,
    /// The block's 64-bit masks as lane masks. Not in `body.values`: a constant may be a mask and a number of 64 bits.
    lane_masks: HashMap<Val, Vec<Value>>,
    masks: BTreeMap<MaskPlace, Vec<Variable>>,
    slots: BTreeMap<Slot, Variable>,
    /// The windows of scratch accesses, by block and node.
    windows: HashMap<(usize, Val), Window>,
    /// The host block of each guest block.
    blocks: BTreeMap<usize, vir::Block>,
    /// The end of the group's code.
    end: vir::Block,
    /// The target of failed checks: leaves for the general code.
    fail: vir::Block,
    /// Iterations left (I32).
    budget: Variable,
    /// Two slots of the frame for vectors whose lanes are read by number. The number is that of the first active lane,
    /// 32 if there is none, which is still inside the second slot.
    temporary: u32,
}

/// Is a slot part of a mask that is held as a lane mask at the exit?
fn is_masked_slot(plan: &Parallel, slot: Slot) -> bool {
    plan.exit_masks
        .iter()
        .any(|&place| parallel::slots_of(place).any(|s| s == slot))
}

impl Group<'_> {
    fn code(&self) -> &BlockPlan {
        &self.plan.code[&self.at]
    }

    fn kind(&self, v: Val) -> Kind {
        self.code().kinds[v.index()]
    }

    /// Affine values of the block.
    fn facts(&self) -> Option<&BlockFacts> {
        self.plan.affine.blocks.get(&self.at)
    }

    fn affine(&self, v: Val) -> Option<Affine> {
        self.facts()?.values[v.index()]
    }

    fn is_uniform(&self, block: &Block, v: Val) -> bool {
        self.facts().is_some_and(|facts| facts.is_uniform(block, v))
    }
}

impl Code<'_> {
    /// A new variable with an initial value.
    fn defined(&mut self, value: Value) -> Variable {
        let ty = self.b.func.ty(value);
        let var = self.variable(ty);
        self.b.def_var(var, value);
        var
    }

    /// Jumps along an edge; a back edge decrements the iteration budget.
    fn group_edge(&mut self, g: &Group<'_>, target: &Target) {
        let to = target
            .block()
            .and_then(|to| Some((to, *g.blocks.get(&to)?)));
        match to {
            Some((to, block)) => {
                if g.plan.is_back(g.at, to) {
                    let left = self.b.use_var(g.budget);
                    let left = self.b.iadd_imm(left, -1);
                    self.b.def_var(g.budget, left);
                    let more = self.b.icmp_imm(IntCC::SignedGreaterThan, left, 0);
                    self.require(g.fail, more);
                }
                self.b.jump(block, &[]);
            }
            None => {
                self.b.jump(g.end, &[]);
            }
        }
    }

    /// Does a mask have a lane in each group of `group` lanes (I8)?
    fn has_lane_in_each(&mut self, group: usize, mask: Value) -> Value {
        let mut any = mask;
        let mut distance = group / 2;
        while distance > 0 {
            let other = self.b.ushr_imm(any, distance as i64);
            any = self.b.bor(any, other);
            distance /= 2;
        }
        // Bit 0 of each group is the union of its bits.
        let first = u64::MAX / (u64::MAX >> (LANES - group));
        let any = self.b.band_imm(any, first as i64);
        self.b.icmp_imm(IntCC::Equal, any, first as i64)
    }

    /// A VGPR as the group's vectors.
    fn group_register(&mut self, g: &Group<'_>, n: u16) -> Vec<Value> {
        match g.vgprs.get(&n) {
            Some(vars) => vars.iter().map(|&x| self.b.use_var(x)).collect(),
            None => self.reload(&g.body, Place::Home(n)),
        }
    }

    /// A vector of zeros.
    fn nothing(&mut self) -> Value {
        let ty = dwords_type(self.per());
        let zero = self.b.iconst(types::I32, 0);
        self.b.splat(ty, zero)
    }
}

impl Boundary {
    /// A slot's value at the region's entry; 0 if it is not live.
    fn entry_slot(&mut self, code: &mut Code<'_>, slot: Slot, live: &Live) -> Value {
        match live.has_slot(slot) {
            true => self.read_slot(code, slot),
            false => code.b.iconst(slot_type(slot), 0),
        }
    }

    /// A mask's bits at the region's entry.
    fn entry_mask(&mut self, code: &mut Code<'_>, place: MaskPlace, live: &Live) -> Value {
        match place {
            MaskPlace::Exec => self.entry_slot(code, Slot::Exec, live),
            MaskPlace::Vcc => self.entry_slot(code, Slot::Vcc, live),
            MaskPlace::Pair(n) => match [n, n + 1].map(|n| live.has_slot(Slot::Sgpr(n))) {
                [true, true] => self.read_mask(code, place),
                _ => {
                    let [low, high] =
                        [n, n + 1].map(|n| self.entry_slot(code, Slot::Sgpr(n), live));
                    joined(&mut code.b, low, high)
                }
            },
        }
    }

    /// A slot's current value inside the group.
    fn group_slot(&mut self, code: &mut Code<'_>, g: &Group<'_>, slot: Slot) -> Value {
        match g.slots.get(&slot) {
            Some(&var) => code.b.use_var(var),
            None => self.read_slot(code, slot),
        }
    }

    /// The value of s[low:low+1] inside the group, if one variable holds them and the region leaves them alone.
    fn group_pair(&mut self, code: &mut Code<'_>, g: &Group<'_>, low: u8) -> Option<Value> {
        let changed = |n: u8| g.slots.contains_key(&Slot::Sgpr(n));
        match changed(low) || changed(low + 1) {
            true => None,
            false => self.pair(code, low),
        }
    }

    /// Converts scalars to lane masks where a successor holds them as such.
    fn enter_masks(&mut self, code: &mut Code<'_>, g: &Group<'_>, block: &Block) {
        let plan = g.code();
        let mut places: Vec<MaskPlace> = Vec::new();
        for to in block.term.targets().filter_map(|t| t.block()) {
            let next = match g.plan.code.get(&to) {
                Some(next) => &next.masks_in,
                None => &g.plan.exit_masks,
            };
            places.extend(next.difference(&plan.masks_out));
        }
        places.sort_unstable();
        places.dedup();
        for place in places {
            let bits = match place {
                MaskPlace::Exec => continue,
                MaskPlace::Vcc => self.group_slot(code, g, Slot::Vcc),
                MaskPlace::Pair(n) => {
                    let [low, high] = [n, n + 1].map(|n| self.group_slot(code, g, Slot::Sgpr(n)));
                    joined(&mut code.b, low, high)
                }
            };
            let value = code.expand(&g.body, bits);
            for (&var, x) in g.masks[&place].iter().zip(value) {
                code.b.def_var(var, x);
            }
        }
    }
}

impl Emitter<'_> {
    /// Plans the parallel regions, by first block; `taken` blocks belong to none. The first blocks also get a block for
    /// their general code.
    pub(super) fn plan_parallel(
        &mut self,
        lives: &Lives,
        facts: &Facts,
        taken: impl Iterator<Item = usize>,
    ) -> HashMap<usize, Parallel> {
        if !self.code.region.options().has_parallel() {
            return HashMap::default();
        }
        let request = parallel::Request {
            f: self.code.region.func(),
            lives,
            facts,
            host: self.code.region.options().host,
            per: self.code.per(),
            group: self.code.region.options().group,
        };
        let found = parallel::find(request, &taken.collect());
        let mut regions = HashMap::default();
        let f = self.code.region.func();
        let refused = found.refused.iter();
        self.profile
            .note_refused(refused.map(|(&b, refusal)| (b, refusal.text(f))));
        for region in found.regions {
            self.blocks
                .keep_general(&mut self.code.b, region.head, &region.blocks);
            regions.insert(region.head, region);
        }
        regions
    }

    /// Emits a parallel region where control enters it.
    pub(super) fn parallel(&mut self, plan: &Parallel, facts: &Facts, live_in: &[Live]) {
        let head = plan.head;
        let Some((general, exec, fail)) = self.begin_form(head) else {
            return;
        };
        // Lanes for which the facts about VGPRs hold.
        let mut known = exec;
        for &n in &plan.saved_masks {
            let saved =
                self.boundary
                    .entry_mask(&mut self.code, MaskPlace::Pair(n), &live_in[head]);
            known = self.code.b.bor(known, saved);
        }
        if plan.needs_lanes {
            let lanes = self.code.has_lane_in_each(plan.group, known);
            self.code.require(fail, lanes);
        }
        if plan.keeps_exec && plan.uniform_tests.is_empty() {
            self.code.require(fail, exec);
        }
        let behind = plan.exit.block().map_or(Live::ALL, |b| live_in[b]);
        let windows = self.scratch_windows(plan, fail);
        let written: Vec<u16> = plan
            .written()
            .intersection(&plan.vectors)
            .copied()
            .collect();
        // Values at the region's entry: slots that the region writes, and masks.
        let slots: Vec<(Slot, Variable, Value)> = plan
            .slots()
            .into_iter()
            .map(|slot| {
                let before = self
                    .boundary
                    .entry_slot(&mut self.code, slot, &live_in[head]);
                (slot, self.code.variable(slot_type(slot)), before)
            })
            .collect();
        let masks: Vec<(MaskPlace, Value)> = plan
            .masks()
            .into_iter()
            .map(|place| {
                (
                    place,
                    self.boundary
                        .entry_mask(&mut self.code, place, &live_in[head]),
                )
            })
            .collect();
        let results: Vec<(MaskPlace, Variable)> = plan
            .exit_masks
            .iter()
            .filter(|&&place| parallel::slots_of(place).any(|slot| behind.has_slot(slot)))
            .map(|&place| (place, self.code.variable(types::I64)))
            .collect();
        for &(_, var) in &results {
            let none = self.code.b.iconst(types::I64, 0);
            self.code.b.def_var(var, none);
        }
        let outs: Vec<(u16, Option<u32>)> = written
            .iter()
            .filter(|&&n| behind.has(n))
            .map(|&n| {
                // A register that is dead at the entry may be stored at once: the general code does not read it.
                let kept = live_in[head].has(n);
                (n, kept.then(|| self.code.take_slot()))
            })
            .collect();
        let group = plan.group;
        let per = self.code.per();
        let temporary = self.code.take_slot();
        self.code.take_slot();

        let (header, offset) = self.code.begin_offsets();
        let lane = self.code.b.ushr_imm(offset, 2);
        let wave = self.code.b.iadd(self.code.region.wave(), offset);
        let frame = self.code.b.iadd(self.code.region.frame(), offset);
        let mut g = Group {
            plan,
            facts,
            at: head,
            schedule: Schedule::default(),
            body: Body {
                slices: group / per,
                full: false,
                lane,
                wave,
                frame,
                values: HashMap::default(),
                words: HashMap::default(),
                any: HashMap::default(),
                selectors: HashMap::default(),
                at: Vec::new(),
            },
            vgprs: BTreeMap::new(),
            carried: BTreeMap::new(),
            fixed: BTreeMap::new(),
            bases: HashMap::default(),
            lane_masks: HashMap::default(),
            masks: BTreeMap::new(),
            slots: BTreeMap::new(),
            windows,
            blocks: BTreeMap::new(),
            end: self.code.b.create_block(),
            fail,
            budget: self.code.variable(types::I32),
            temporary,
        };
        let most = match plan.may_wait {
            true => self.code.fuel(),
            false => self.code.b.iconst(types::I32, MOST_ITERATIONS),
        };
        self.code.b.def_var(g.budget, most);
        for (slot, var, before) in slots.iter().copied() {
            self.code.b.def_var(var, before);
            g.slots.insert(slot, var);
        }
        for (place, bits) in masks {
            let value = self.code.expand(&g.body, bits);
            let vars = value.into_iter().map(|x| self.code.defined(x)).collect();
            g.masks.insert(place, vars);
        }
        for &n in &written {
            let value = match live_in[head].has(n) {
                true => self.code.reload(&g.body, Place::Home(n)),
                false => self.code.lanes(&g.body).const_lanes(Width::W32, 0),
            };
            let vars = value.into_iter().map(|x| self.code.defined(x)).collect();
            g.vgprs.insert(n, vars);
        }
        for &b in &plan.blocks {
            let block = self.code.b.create_block();
            g.blocks.insert(b, block);
        }
        self.code.begin_carried(&mut g, known);
        let first = g.blocks[&head];
        self.code.b.jump(first, &[]);
        for &b in &plan.blocks {
            g.at = b;
            self.parallel_block(&mut g);
        }

        self.code.b.switch_to_block(g.end);
        for &(n, slot) in &outs {
            let value: Vec<Value> = g.vgprs[&n]
                .iter()
                .map(|&x| self.code.b.use_var(x))
                .collect();
            let (base, at) = match slot {
                Some(slot) => (frame, frame_offset(slot)),
                None => (wave, self.boundary.home_to_write(n)),
            };
            for (j, x) in value.into_iter().enumerate() {
                self.code
                    .b
                    .store(Memory::Trusted, x, base, at + (4 * per * j) as i32);
            }
        }
        for &(place, var) in &results {
            let mask: Vec<Value> = g.masks[&place]
                .iter()
                .map(|&x| self.code.b.use_var(x))
                .collect();
            let bits = self.code.lanes(&g.body).collect_mask(&mask);
            let placed = self.code.b.ishl(bits, lane);
            let before = self.code.b.use_var(var);
            let with = self.code.b.bor(before, placed);
            self.code.b.def_var(var, with);
        }
        let done = self.code.b.create_block();
        self.code.end_offsets((header, offset), 4 * group, done);

        self.code.b.switch_to_block(fail);
        self.code.b.jump(general, &[]);

        self.code.b.switch_to_block(done);
        let shadows: Vec<(u16, u32)> = outs
            .iter()
            .filter_map(|&(n, slot)| Some((n, slot?)))
            .collect();
        self.commit(&shadows);
        for &(slot, var, _) in &slots {
            if behind.has_slot(slot) && !is_masked_slot(plan, slot) {
                let value = self.code.b.use_var(var);
                self.boundary.write_slot(&mut self.code, slot, value);
            }
        }
        for (place, var) in results {
            let bits = self.code.b.use_var(var);
            self.boundary.write_mask(&mut self.code, place, bits);
        }
        self.values.clear_scalars();
        self.jump(&plan.exit);
    }

    /// Emits a guest block for the group.
    fn parallel_block(&mut self, g: &mut Group<'_>) {
        let f = self.code.region.func();
        let block = &f.blocks[g.at];
        self.code.b.switch_to_block(g.blocks[&g.at]);
        self.values.clear();
        self.singles.clear();
        g.body.values.clear();
        g.body.words.clear();
        g.body.any.clear();
        g.body.at.clear();
        g.bases.clear();
        g.lane_masks.clear();
        g.schedule = Schedule::unplaced(block, self.code.region.options().host);
        for (i, node) in block.nodes.iter().enumerate() {
            let v = Val(i as u32);
            if !g.code().needed[i] || g.kind(v) != Kind::Scalar {
                continue;
            }
            let value = match (node.op, mask_read(block, node)) {
                (Op::ReadS(slot), _) => Some(self.boundary.group_slot(&mut self.code, g, slot)),
                (_, Some(MaskPlace::Pair(low))) => self.boundary.group_pair(&mut self.code, g, low),
                _ => None,
            };
            if let Some(value) = value {
                self.values.insert(v, value);
            }
        }
        for &v in &block.effects {
            if !g.code().needed[v.index()] {
                continue;
            }
            match block.nodes[v.index()].op {
                Op::ScalarLoad(n, _) => self.group_scalar_load(g, block, v, n),
                op if parallel::is_scratch(op) => self.group_scratch(g, block, v),
                _ => self.group_load(g, block, v),
            }
        }
        let plan = &g.plan.code[&g.at];
        let mut news: Vec<(Variable, Value)> = Vec::new();
        for &(n, v) in &plan.vgprs {
            if g.vgprs.contains_key(&n) {
                let value = self.group_value(g, block, v);
                news.extend(g.vgprs[&n].iter().copied().zip(value));
            }
            if let Some(&var) = g.carried.get(&n)
                && g.affine(v).is_some()
            {
                let value = self.group_base(g, block, v);
                news.push((var, value));
            }
        }
        for &(place, v) in &plan.masks {
            let value = self.group_mask(g, block, v);
            news.extend(g.masks[&place].iter().copied().zip(value));
        }
        for &(slot, v) in &plan.slots {
            let value = self.scalar(block, &g.schedule, v);
            news.push((g.slots[&slot], value));
        }
        let condition = match block.term {
            Term::Branch { cond, .. } => Some(self.group_condition(g, block, cond)),
            _ => None,
        };
        for (var, value) in news {
            self.code.b.def_var(var, value);
        }
        self.boundary.enter_masks(&mut self.code, g, block);
        match (&block.term, condition) {
            (Term::Jump(target), _) => self.code.group_edge(g, target),
            (Term::Branch { then, other, .. }, Some((value, when))) => {
                let [yes, no] = [(); 2].map(|()| self.code.b.create_block());
                self.code.b.brif(value, yes, &[], no, &[]);
                let (then, other) = match when {
                    true => (then, other),
                    false => (other, then),
                };
                for (edge, target) in [(yes, then), (no, other)] {
                    self.code.b.switch_to_block(edge);
                    self.code.group_edge(g, target);
                }
            }
            _ => unreachable!("bug: {:?} in a parallel region", block.term),
        }
    }

    /// A branch's condition: a value, and whether the first edge is taken if that is not 0.
    fn group_condition(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> (Value, bool) {
        match g.kind(v) {
            Kind::Test => {
                let (mask, any) = parallel::tested(block, v);
                if let Some(&cond) = g.plan.uniform_tests.get(&g.at) {
                    return (self.group_base(g, block, cond), any);
                }
                let mask = self.group_mask(g, block, mask);
                (self.any_lane(mask), any)
            }
            _ => (self.scalar(block, &g.schedule, v), true),
        }
    }

    /// A 64-bit mask's bits of the group, as a lane mask.
    fn group_mask(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> Vec<Value> {
        if let Some(value) = g.lane_masks.get(&v) {
            return value.clone();
        }
        let node = &block.nodes[v.index()];
        let value = match (g.kind(v), node.op) {
            (Kind::Mask, Op::Ballot) => self.group_value(g, block, node.args[0]),
            (Kind::Mask, Op::Select) => {
                let [yes, no] = [1, 2].map(|i| self.group_mask(g, block, node.args[i]));
                let which = self.scalar(block, &g.schedule, node.args[0]);
                let which = self.code.lanes(&g.body).splat(Width::W1, which);
                let pairs = yes.into_iter().zip(no).zip(which);
                pairs
                    .map(|((yes, no), which)| {
                        let yes = self.code.b.band(which, yes);
                        let other = self.code.b.bnot(which);
                        let no = self.code.b.band(other, no);
                        self.code.b.bor(yes, no)
                    })
                    .collect()
            }
            (Kind::Mask, op) => match mask_read(block, node) {
                Some(place) if g.code().masks_in.contains(&place) => {
                    let vars = g.masks[&place].clone();
                    vars.into_iter().map(|x| self.code.b.use_var(x)).collect()
                }
                _ => {
                    let args: Vec<Vec<Value>> = node
                        .args
                        .iter()
                        .map(|&a| self.group_mask(g, block, a))
                        .collect();
                    let args: Vec<&Vec<Value>> = args.iter().collect();
                    self.code.lanes(&g.body).op(op, Width::W1, &args)
                }
            },
            (_, Op::Const(u64::MAX)) => self.code.lanes(&g.body).all_true(),
            _ => {
                let bits = self.scalar(block, &g.schedule, v);
                self.code.expand(&g.body, bits)
            }
        };
        g.lane_masks.insert(v, value.clone());
        value
    }

    /// A value as the group's vectors.
    fn group_value(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> Vec<Value> {
        if let Some(value) = g.body.values.get(&v) {
            return value.clone();
        }
        let node = &block.nodes[v.index()];
        let value = match node.op {
            _ if node.ty.vary == Vary::Wave => match node.op {
                Op::Const(c) if node.ty.width != Width::W1 => {
                    self.code.lanes(&g.body).const_lanes(node.ty.width, c)
                }
                _ => {
                    let s = self.scalar(block, &g.schedule, v);
                    self.code.lanes(&g.body).splat(node.ty.width, s)
                }
            },
            _ if g.is_uniform(block, v) => {
                let s = self.group_base(g, block, v);
                self.code.lanes(&g.body).splat(node.ty.width, s)
            }
            Op::ReadV(n) => self.code.group_register(g, n),
            Op::LaneId => {
                let lane = self.code.b.ireduce(types::I32, g.body.lane);
                self.code.lanes(&g.body).lane_ids(lane)
            }
            Op::MaskFromBits | Op::ExecMask => self.group_mask(g, block, node.args[0]),
            Op::Select if block.is_free_merge(node) => self.group_value(g, block, node.args[1]),
            Op::Select => {
                let [mask, new] = [0, 1].map(|i| self.group_value(g, block, node.args[i]));
                let old = self.group_lanes(g, block, node.args[2]);
                self.code
                    .lanes(&g.body)
                    .select(node.ty.width, &mask, &new, &old)
            }
            Op::Load(..) => unreachable!("bug: %{} is not loaded yet", v.0),
            _ => {
                for &a in node.args.iter() {
                    match block.nodes[a.index()].ty.vary {
                        Vary::Wave => {
                            self.scalar(block, &g.schedule, a);
                        }
                        Vary::Row | Vary::Period16 | Vary::Lane => {
                            self.group_value(g, block, a);
                        }
                    }
                }
                self.lane_node(block, &g.schedule, &mut g.body, v)
            }
        };
        g.body.values.insert(v, value.clone());
        value
    }

    /// The old operand of a merge as the group's vectors: a register is read itself, not as its lane-0 scalar, since
    /// inactive lanes keep their own values.
    fn group_lanes(&mut self, g: &mut Group<'_>, block: &Block, v: Val) -> Vec<Value> {
        match block.nodes[v.index()].op {
            Op::ReadV(n) => self.code.group_register(g, n),
            _ => self.group_value(g, block, v),
        }
    }
}
