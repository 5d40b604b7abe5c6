//! Lane-serial loops. Where addresses in a loop are loaded, as for the rows of a sparse matrix, lanes
//! take different numbers of iterations through memory that has nothing to do with their
//! neighbours', and vectors do not help. Such a loop runs one lane after the other, all iterations of
//! a lane at once, with scalars in host registers. Nothing is stored in it, so the order is not
//! observable; lanes that are inactive when it begins are skipped, which the proof of
//! [`super::if_conversion`] allows.
//!
//! It does not pay where memory is not the bottleneck, where all addresses are each lane's own
//! arithmetic (gathers are faster), where neighbouring lanes read neighbouring elements (vectors load
//! them at once, and each lane would fetch the cache lines again), and where an address or the loop
//! condition depends on a loaded value: 64 lanes wait for memory together, serial lanes one after the
//! other.

use std::collections::{BTreeMap, BTreeSet};

use super::if_conversion::{self, Latch};
use super::used::{Granularity, Masks, Used};
use super::{LoopCondition, MaskPlace, mask_read, pair_read, unmerged};
use crate::analysis::liveness::Live;
use crate::analysis::uniformity::pair_of;
use crate::ir::{Block, Func, Op, Slot, Target, Val, Vary, Width};

pub mod trip_count;

use trip_count::{Count, Recurrence};

/// The plan of a loop.
#[derive(Debug)]
pub struct LaneSerial {
    /// An iteration as one block.
    pub block: Block,
    /// Condition for another iteration of the lane.
    pub condition: LoopCondition,
    /// The blocks of the loop.
    pub blocks: Vec<usize>,
    /// VGPRs that are loop-carried or live behind the loop, with their new values.
    pub outs: BTreeMap<u16, Val>,
    /// Pairs v[n:n+1] of those that are loop-carried as one value, with their new values.
    pub pairs: BTreeMap<u16, Val>,
    /// Masks, with their new values.
    pub masks: BTreeMap<MaskPlace, Val>,
    /// Other scalars, with their new values.
    pub slots: Vec<(Slot, Val)>,
    /// The loop's exit.
    pub exit: Target,
    /// Loads with addresses that are invariant in the loop.
    pub first: Vec<Val>,
    /// The mask that collects the lanes that left: the loop ends for a lane in it.
    pub left: Option<MaskPlace>,
    /// Pairs held relative to the arena's base: mostly addresses.
    pub based: BTreeSet<u16>,
    /// Those of the VGPRs that are live after the loop.
    pub keep: BTreeSet<u16>,
    /// The trip count; see [`LaneSerial::find_trip_count`].
    pub count: Option<Count>,
    /// Words and pairs that counted iterations do not hold: each is stepped by a power of two, of
    /// which this is the exponent.
    pub steady: BTreeMap<u16, u32>,
    /// How the addresses of loads progress.
    pub recurrences: BTreeMap<Val, Recurrence>,
    /// Which wave values are made of lanes' bits.
    is_mask: Vec<bool>,
    /// Nodes that are invariant.
    fixed: Vec<bool>,
    /// Loaded words used only as floats.
    floats: BTreeSet<Val>,
}

/// A term of a sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// A 64-bit value.
    Wide(Val),
    /// A word.
    Low(Val),
    /// A word as the high half.
    High(Val),
}

impl Term {
    /// The value.
    pub fn val(self) -> Val {
        match self {
            Term::Wide(v) | Term::Low(v) | Term::High(v) => v,
        }
    }
}

/// Maximum number of lane operations for each load.
const MAX_WORK: usize = 16;

/// The stride between lanes of the address of a block's load, if it is constant.
pub type Strides<'a> = dyn Fn(usize, Val) -> Option<i64> + 'a;

/// Plans the loop that begins at block `head`, if it profits from running lane-serially. `live` are
/// the registers live where a block begins.
pub fn plan(f: &Func, head: usize, live: &[Live], strides: &Strides<'_>) -> Option<LaneSerial> {
    let converted = if_conversion::merge(f, head)?;
    let block = &converted.block;
    let loads = converted.blocks.iter().flat_map(|&b| {
        let loads = f.blocks[b].effects.iter().copied();
        let loads = loads.filter(move |v| matches!(f.blocks[b].nodes[v.index()].op, Op::Load(..)));
        loads.map(move |v| strides(b, v))
    });
    let loads: Vec<Option<i64>> = loads.collect();
    let in_order = |s: &Option<i64>| s.is_some_and(|s| s != 0);
    if loads.iter().all(Option::is_some) || loads.iter().any(in_order) {
        return None;
    }
    let condition = match converted.latch {
        Latch::Uniform { cond, back_when } => LoopCondition::While(cond, back_when),
        Latch::Exec { exec } => LoopCondition::Lane(exec),
    };
    let behind = converted.exit.block().map_or(Live::ALL, |b| live[b]);
    let masks = Masks::find(block);
    let used = Used::find(
        f,
        &converted,
        condition,
        &masks,
        &behind,
        Granularity::LaneSerial,
    )?;
    let mut plan = LaneSerial {
        condition,
        blocks: converted.blocks,
        keep: (used.vgprs.keys().copied())
            .filter(|&n| behind.has(n))
            .collect(),
        outs: used.vgprs,
        pairs: BTreeMap::new(),
        masks: used.masks,
        slots: used.slots,
        exit: converted.exit,
        first: Vec::new(),
        left: None,
        based: BTreeSet::new(),
        count: None,
        steady: BTreeMap::new(),
        recurrences: BTreeMap::new(),
        is_mask: masks.nodes,
        fixed: Vec::new(),
        floats: BTreeSet::new(),
        block: converted.block,
    };
    plan.join_pairs();
    plan.left = plan.collects();
    plan.fixed = plan.spread(&|p, v| p.changes(v), true);
    plan.fixed.iter_mut().for_each(|x| *x = !*x);
    let needed = plan.needed();
    let work = (0..needed.len()).filter(|&i| {
        let node = &plan.block.nodes[i];
        needed[i] && !plan.fixed[i] && !node.args.is_empty() && node.ty.vary != Vary::Wave
    });
    if work.count() > MAX_WORK * loads.len() || plan.waits() {
        return None;
    }
    plan.first = plan.independent_loads();
    if plan.first.len() == loads.len() {
        return None;
    }
    plan.based = plan.addresses();
    plan.floats = plan.floats_only(&needed);
    Some(plan)
}

impl LaneSerial {
    /// Is it EXEC at the start of an iteration, in which the lane's bit is 1?
    pub fn is_exec(&self, v: Val) -> bool {
        let node = &self.block.nodes[v.index()];
        self.is_mask[v.index()] && mask_read(&self.block, node) == Some(MaskPlace::Exec)
    }

    /// Is it the mask of the lanes that left, in which the bit of an active lane is 0?
    pub fn is_zero(&self, v: Val) -> bool {
        let node = &self.block.nodes[v.index()];
        self.left.is_some() && self.is_mask[v.index()] && mask_read(&self.block, node) == self.left
    }

    /// Is it a wave value made of lanes' bits?
    pub fn is_mask(&self, v: Val) -> bool {
        self.is_mask[v.index()]
    }

    /// Is it one bit of a lane? A mask that no iteration writes is not: it is 64 bits of the wave,
    /// from which the lane's bit must be extracted.
    fn is_bit(&self, v: Val) -> bool {
        self.block.nodes[v.index()].ty.width == Width::W1 || self.is_mask(v)
    }

    /// Is it invariant?
    pub fn is_fixed(&self, v: Val) -> bool {
        self.fixed[v.index()]
    }

    /// Is a loaded word used only as a float?
    pub fn is_float(&self, v: Val) -> bool {
        self.floats.contains(&v)
    }

    /// A value on an active lane: without merges, and without masks that are constant there.
    pub fn resolve(&self, v: Val) -> Val {
        let mut v = v;
        loop {
            let next = unmerged(&self.block, self.condition, v);
            let node = &self.block.nodes[next.index()];
            v = match node.op {
                Op::ExecMask | Op::MaskFromBits | Op::Ballot if self.is_mask(node.args[0]) => {
                    node.args[0]
                }
                Op::Ballot => node.args[0],
                Op::And if self.is_bit(next) => {
                    let all = |i: usize| {
                        self.is_exec(self.resolve(node.args[i])) && self.is_bit(node.args[1 - i])
                    };
                    match (all(0), all(1)) {
                        (true, _) => node.args[1],
                        (_, true) => node.args[0],
                        _ => return next,
                    }
                }
                Op::Or if self.is_mask(next) => {
                    let none = |i: usize| {
                        self.is_zero(self.resolve(node.args[i])) && self.is_mask(node.args[1 - i])
                    };
                    match (none(0), none(1)) {
                        (true, _) => node.args[1],
                        (_, true) => node.args[0],
                        _ => return next,
                    }
                }
                _ => return next,
            };
        }
    }

    /// The operands of a resolved value, resolved.
    pub fn operands(&self, v: Val) -> Vec<Val> {
        let node = &self.block.nodes[v.index()];
        let args = match node.op {
            _ if self.is_mask(v) && mask_read(&self.block, node).is_some() => return Vec::new(),
            _ if self.pair_at(v).is_some() => return Vec::new(),
            Op::Load(..) => &node.args[..2],
            _ => &node.args[..],
        };
        args.iter().map(|&a| self.resolve(a)).collect()
    }

    /// The pair, loop-carried as one value, that a value is.
    pub fn pair_at(&self, v: Val) -> Option<u16> {
        let n = pair_read(&self.block, &self.block.nodes[v.index()])?;
        self.pairs.contains_key(&n).then_some(n)
    }

    /// The nodes of an iteration whose values are used.
    pub fn roots(&self) -> Vec<Val> {
        let mut roots = self.block.effects.clone();
        let outs = self.outs.iter().filter(|(n, _)| !self.in_pair(**n));
        roots.extend(outs.map(|(_, &v)| v));
        roots.extend(self.pairs.values());
        roots.extend(self.masks.values());
        roots.extend(self.slots.iter().map(|&(_, v)| v));
        match self.condition {
            LoopCondition::While(cond, _) => roots.push(cond),
            LoopCondition::Lane(exec) => roots.push(exec),
            LoopCondition::Exec(_) | LoopCondition::Unmasked => {}
        }
        roots.iter().map(|&v| self.resolve(v)).collect()
    }

    /// Is a VGPR half of a pair that is loop-carried as one value?
    pub fn in_pair(&self, n: u16) -> bool {
        let above = n.checked_sub(1);
        self.pairs.contains_key(&n) || above.is_some_and(|m| self.pairs.contains_key(&m))
    }

    /// The nodes that are computed.
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.block.nodes.len()];
        let mut work = self.roots();
        while let Some(v) = work.pop() {
            if !std::mem::replace(&mut needed[v.index()], true) {
                work.extend(self.operands(v));
            }
        }
        needed
    }

    /// The mask that collects the lanes that left, if it ends the loop.
    fn collects(&self) -> Option<MaskPlace> {
        let LoopCondition::Lane(exec) = self.condition else {
            return None;
        };
        let node = &self.block.nodes[self.resolve(exec).index()];
        if node.op != Op::Not {
            return None;
        }
        let leaves = self.resolve(node.args[0]);
        let mut masks = self.masks.iter().filter(|m| *m.0 != MaskPlace::Exec);
        let found = masks.find(|m| self.resolve(*m.1) == leaves);
        found.map(|m| *m.0)
    }

    /// The terms of the sum that a 64-bit value is, invariant or not. Each is shifted left by a
    /// number of bits.
    pub fn terms(&self, v: Val) -> Vec<(Term, u32)> {
        let mut terms = Vec::new();
        self.add_terms(v, 0, 0, &mut terms);
        terms
    }

    fn add_terms(&self, v: Val, shift: u32, depth: u32, terms: &mut Vec<(Term, u32)>) {
        let v = self.resolve(v);
        let node = &self.block.nodes[v.index()];
        let constant = |i: usize| match self.block.nodes[node.args[i].index()].op {
            Op::Const(c) => Some(c as u32 & 63),
            _ => None,
        };
        let whole = self.is_fixed(v) || self.pair_at(v).is_some() || depth == 6;
        match node.op {
            _ if whole => terms.push((Term::Wide(v), shift)),
            Op::Add => {
                self.add_terms(node.args[0], shift, depth + 1, terms);
                self.add_terms(node.args[1], shift, depth + 1, terms);
            }
            Op::Shl if constant(1).is_some_and(|c| shift + c < 64) => {
                let by = constant(1).unwrap_or(0);
                self.add_terms(node.args[0], shift + by, depth + 1, terms);
            }
            Op::Pair if self.is_fixed(self.resolve(node.args[1])) => {
                terms.push((Term::Low(self.resolve(node.args[0])), shift));
                terms.push((Term::High(self.resolve(node.args[1])), shift));
            }
            Op::Zext => terms.push((Term::Low(self.resolve(node.args[0])), shift)),
            _ => terms.push((Term::Wide(v), shift)),
        }
    }

    /// The loop-carried pair to which an address adds the rest.
    pub fn base_pair(&self, terms: &[(Term, u32)]) -> Option<u16> {
        let mut pairs = terms.iter().filter_map(|&(term, shift)| match term {
            Term::Wide(v) if shift == 0 => self.pair_at(v),
            _ => None,
        });
        pairs.next().filter(|_| pairs.next().is_none())
    }

    /// The pairs that are the bases of loads' addresses.
    fn addresses(&self) -> BTreeSet<u16> {
        let loads = self.block.effects.iter().filter_map(|&load| {
            let node = &self.block.nodes[load.index()];
            let wide = self.block.nodes[node.args[0].index()].ty.width == Width::W64;
            let load = matches!(node.op, Op::Load(..)) && wide;
            load.then(|| self.base_pair(&self.terms(node.args[0])))?
        });
        loads.collect()
    }

    /// Finds the pairs that are read and written as one value.
    fn join_pairs(&mut self) {
        let mut last = None;
        let reads: BTreeSet<u16> = self
            .block
            .nodes
            .iter()
            .filter_map(|node| pair_read(&self.block, node))
            .collect();
        for n in reads {
            let new = |n: u16| Some(unmerged(&self.block, self.condition, *self.outs.get(&n)?));
            let wide = match (new(n), n.checked_add(1).and_then(new)) {
                (Some(low), Some(high)) => pair_of(&self.block, low, high),
                _ => None,
            };
            if let Some(wide) = wide
                && last.is_none_or(|m: u16| m + 1 < n)
            {
                self.pairs.insert(n, wide);
                last = Some(n);
            }
        }
    }

    /// Does a value itself differ between iterations?
    fn changes(&self, v: Val) -> bool {
        let node = &self.block.nodes[v.index()];
        match node.op {
            Op::Load(..) | Op::ScalarLoad(..) => true,
            Op::ReadV(n) => self.outs.contains_key(&n),
            Op::ReadS(slot) => self.slots.iter().any(|s| s.0 == slot),
            _ if self.is_mask(v) => {
                mask_read(&self.block, node).is_some_and(|place| place != MaskPlace::Exec)
            }
            _ => false,
        }
    }

    /// The nodes for which `is` holds, or holds for a transitive operand; with `loads`, a load
    /// depends on its address.
    fn spread(&self, is: &dyn Fn(&LaneSerial, Val) -> bool, loads: bool) -> Vec<bool> {
        let mut found = vec![false; self.block.nodes.len()];
        for i in 0..found.len() {
            let v = Val(i as u32);
            let through = loads || !matches!(self.block.nodes[i].op, Op::Load(..));
            let of_pair = || match self.pair_at(v) {
                Some(_) => is(self, self.block.nodes[i].args[0]),
                None => false,
            };
            found[i] = is(self, v)
                || of_pair()
                || through && self.operands(v).iter().any(|a| found[a.index()]);
        }
        found
    }

    /// Does an address depend on a load of an earlier iteration, or the loop condition on any load?
    fn waits(&self) -> bool {
        let mut slow = BTreeSet::new();
        let mut slow_masks = BTreeSet::new();
        let loaded = loop {
            let loaded = self.spread(
                &|p, v| match p.block.nodes[v.index()].op {
                    Op::Load(..) => true,
                    Op::ReadV(n) => slow.contains(&n),
                    _ => match mask_read(&p.block, &p.block.nodes[v.index()]) {
                        Some(place) => p.is_mask(v) && slow_masks.contains(&place),
                        None => false,
                    },
                },
                true,
            );
            let is_slow = |v: Val| loaded[self.resolve(v).index()];
            let before = (slow.len(), slow_masks.len());
            let mut outs: Vec<(u16, Val)> = self.outs.iter().map(|(&n, &v)| (n, v)).collect();
            for (&n, &v) in &self.pairs {
                outs.extend([(n, v), (n + 1, v)]);
            }
            slow.extend(outs.iter().filter(|o| is_slow(o.1)).map(|o| o.0));
            let masks = self.masks.iter().filter(|m| *m.0 != MaskPlace::Exec);
            slow_masks.extend(masks.filter(|m| is_slow(*m.1)).map(|m| *m.0));
            if before == (slow.len(), slow_masks.len()) {
                break loaded;
            }
        };
        if let LoopCondition::Lane(exec) = self.condition
            && loaded[self.resolve(exec).index()]
        {
            return true;
        }
        let carried = self.spread(
            &|p, v| matches!(p.block.nodes[v.index()].op, Op::ReadV(n) if slow.contains(&n)),
            true,
        );
        self.block.effects.iter().any(|&load| {
            let address = self.block.nodes[load.index()].args[0];
            carried[self.resolve(address).index()]
        })
    }

    /// Loads whose addresses depend on no load of the iteration.
    fn independent_loads(&self) -> Vec<Val> {
        let is_load = |p: &LaneSerial, v: Val| {
            matches!(
                p.block.nodes[v.index()].op,
                Op::Load(..) | Op::ScalarLoad(..)
            )
        };
        let loaded = self.spread(&is_load, true);
        let effects = self.block.effects.iter().copied();
        let independent = effects.filter(|&v| {
            let node = &self.block.nodes[v.index()];
            let address = self.resolve(node.args[0]);
            matches!(node.op, Op::Load(..)) && !loaded[address.index()]
        });
        independent.collect()
    }

    /// Loaded words used only by f32 arithmetic.
    fn floats_only(&self, needed: &[bool]) -> BTreeSet<Val> {
        use crate::ir::Float::F32;
        let mut uses: BTreeMap<Val, bool> = BTreeMap::new();
        for (i, _) in needed.iter().enumerate().filter(|n| *n.1) {
            let float = matches!(
                self.block.nodes[i].op,
                Op::FAdd(F32, _) | Op::FSub(F32, _) | Op::FMul(F32, _) | Op::Fma(F32, _)
            );
            for a in self.operands(Val(i as u32)) {
                *uses.entry(a).or_insert(true) &= float;
            }
        }
        let loaded = uses.into_iter().filter(|&(v, float)| {
            let out = self.outs.values().any(|&out| self.resolve(out) == v);
            float && !out && matches!(self.block.nodes[v.index()].op, Op::Load(..))
        });
        loaded.map(|(v, _)| v).collect()
    }
}
