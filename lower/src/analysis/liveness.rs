//! Liveness: which registers a block's successors may still read, so that dead ones are never
//! computed or stored.
//!
//! The unit is the region: at its exits every register is live, except at the end of the wave. A
//! VGPR may be live on all lanes, or only on those in EXEC at that point. A write under EXEC does
//! not kill other lanes, so its merge reads the old value if those are live; if only lanes within
//! that EXEC are live, it does not. So a register written before a branch and read under a narrower
//! EXEC behind it is not live before the write. A scalar write kills.

use frontend::inst::M0;

use crate::abi::RELATIVE_SGPRS;
use crate::ir::functions::{EffectFn, LaneFn};
use crate::ir::matrix::LANE_REGISTERS;
use crate::ir::{Block, Func, Op, Slot, Target, Term, VECTOR_REGISTERS, Val};

mod all_ones;

/// A set of registers: the vector registers and staging registers, then the scalar slots; then one
/// more bit for each vector and staging register, set if it is also live on lanes outside of EXEC.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Live([u64; ALL_LANES / 64 + LANE_WORDS]);

/// Words of one bit for each vector register.
pub const VECTOR_WORDS: usize = VECTOR_REGISTERS / 64;

/// The same with staging registers.
const LANE_WORDS: usize = LANE_REGISTERS / 64;

const _: () = assert!(LANE_REGISTERS.is_multiple_of(64));

/// Index of the first bit of vector registers that are also live on lanes outside of EXEC.
const ALL_LANES: usize = LANE_REGISTERS + 192;

/// Bit number of a scalar slot.
fn slot_bit(slot: Slot) -> usize {
    LANE_REGISTERS
        + match slot {
            Slot::Sgpr(n) => usize::from(n & 127),
            Slot::Exec => 128,
            Slot::Vcc => 129,
            Slot::Scc => 130,
            Slot::Mode => 131,
            Slot::Temp(n) => 132 + usize::from(n),
        }
}

impl Live {
    /// The full set.
    pub const ALL: Live = Live([u64::MAX; ALL_LANES / 64 + LANE_WORDS]);

    fn bit(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 != 0
    }

    fn set(&mut self, n: usize, on: bool) {
        let bit = 1 << (n % 64);
        if on {
            self.0[n / 64] |= bit;
        } else {
            self.0[n / 64] &= !bit;
        }
    }

    /// Is vector register `n` in the set?
    pub fn has(&self, n: u16) -> bool {
        self.bit(usize::from(n))
    }

    /// Is a scalar slot in the set?
    pub fn has_slot(&self, slot: Slot) -> bool {
        self.bit(slot_bit(slot))
    }

    /// Inserts or removes a vector register.
    pub fn put(&mut self, n: u16, on: bool) {
        self.set(usize::from(n), on);
    }

    /// The same of a scalar slot.
    pub fn put_slot(&mut self, slot: Slot, on: bool) {
        self.set(slot_bit(slot), on);
    }

    /// Makes live vector registers live on all lanes.
    fn put_all_lanes(&mut self) {
        for i in 0..LANE_WORDS {
            self.0[ALL_LANES / 64 + i] |= self.0[i];
        }
    }

    /// The intersection.
    pub fn common(&self, other: &Live) -> Live {
        Live(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    fn union(&mut self, other: &Live) {
        for (a, b) in self.0.iter_mut().zip(&other.0) {
            *a |= b;
        }
    }
}

/// Vector registers as bits.
pub type VectorBits = [u64; VECTOR_WORDS];

/// Vector registers that the region may read before it has written all their lanes; exits read all.
/// First for any EXEC at the entry, then for all ones; `baseline`: EXEC is not tracked beyond the
/// first block.
pub fn reads(f: &Func, lives: &Lives, baseline: bool) -> [VectorBits; 2] {
    let bits = |live: &Live| VectorBits::try_from(&live.0[..VECTOR_WORDS]).expect("they begin it");
    let mut ones = Live::default();
    ones.put_slot(Slot::Exec, true);
    let full = live_at_start(&f.blocks[0], lives.end[0], Some(&ones), &mut Vec::new());
    let mut full = bits(&full);
    if !baseline && full != [0; VECTOR_WORDS] {
        // EXEC is all ones again where the region restores its saved value.
        let lives = lives_where(f, Some(&all_ones::find(f)));
        full = bits(&lives.start[0]);
    }
    [bits(&lives.start[0]), full]
}

/// Live registers of a region.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lives {
    /// At the beginning of each block.
    pub start: Vec<Live>,
    /// At its end.
    pub end: Vec<Live>,
}

/// Live registers at the beginning and at the end of every block.
pub fn lives(f: &Func) -> Lives {
    lives_where(f, None)
}

/// Given the slots that are all ones where each block begins, if computed.
fn lives_where(f: &Func, ones: Option<&[Live]>) -> Lives {
    let none = vec![Live::default(); f.blocks.len()];
    let mut lives = Lives {
        start: none.clone(),
        end: none,
    };
    lives.settle(f, ones, vec![false; f.blocks.len()]);
    lives
}

impl Lives {
    /// Updates liveness after a change of the code in block `last` and its predecessors. Control
    /// flow must be unchanged.
    pub fn update(&mut self, f: &Func, last: usize) {
        let mut settled = vec![true; f.blocks.len()];
        settled[last] = false;
        loop {
            let before = settled.clone();
            for (i, block) in f.blocks.iter().enumerate().rev() {
                let mut next = block.term.targets().filter_map(|t| t.block());
                settled[i] &= next.all(|to| settled[to]);
            }
            if settled == before {
                break;
            }
        }
        for i in (0..settled.len()).filter(|&i| !settled[i]) {
            (self.start[i], self.end[i]) = (Live::default(), Live::default());
        }
        self.settle(f, None, settled);
    }

    /// Iterates over the blocks to a fixed point; blocks in `settled` are done.
    fn settle(&mut self, f: &Func, ones: Option<&[Live]>, mut settled: Vec<bool>) {
        let mut space = Vec::new();
        loop {
            let mut changed = false;
            for (i, block) in f.blocks.iter().enumerate().rev() {
                let live = live_at_end(block, &self.start);
                // A block's live-in set follows from its live-out set.
                if std::mem::replace(&mut settled[i], true) && live == self.end[i] {
                    continue;
                }
                changed = true;
                self.start[i] = live_at_start(block, live, ones.map(|ones| &ones[i]), &mut space);
                self.end[i] = live;
            }
            if !changed {
                return;
            }
        }
    }
}

/// The scalar slots that the region may have written since its entry, at the beginning and at the
/// end of each block: the wave itself holds the others.
pub fn written(f: &Func) -> Lives {
    let none = vec![Live::default(); f.blocks.len()];
    let mut written = Lives {
        start: none.clone(),
        end: none,
    };
    let mut work: Vec<usize> = (0..f.blocks.len()).rev().collect();
    while let Some(i) = work.pop() {
        let block = &f.blocks[i];
        let mut end = written.start[i];
        for slot in block.written_slots() {
            end.put_slot(slot, true);
        }
        written.end[i] = end;
        // Where the wave leaves in between, or is passed to a function, everything is in the wave.
        if let Term::Barrier { .. } | Term::Fallback { .. } | Term::ScalarMove { .. } = block.term {
            continue;
        }
        for to in block.term.targets().filter_map(|t| t.block()) {
            let mut start = written.start[to];
            start.union(&end);
            if start != written.start[to] {
                written.start[to] = start;
                work.push(to);
            }
        }
    }
    written
}

/// The scalar slots that any block writes.
pub fn written_anywhere(f: &Func) -> Live {
    let mut all = Live::default();
    for slot in f.blocks.iter().flat_map(Block::written_slots) {
        all.put_slot(slot, true);
    }
    all
}

fn live_at_end(block: &Block, live_in: &[Live]) -> Live {
    let of = |t: &Target| match *t {
        Target::Block { block, .. } => live_in[block],
        Target::Exit { .. } => Live::ALL,
    };
    match &block.term {
        Term::Jump(t) | Term::Barrier { next: t } => of(t),
        Term::Branch { then, other, .. } => {
            let mut live = of(then);
            live.union(&of(other));
            live
        }
        Term::End => Live::default(),
        Term::ScalarMove { value, next, .. } => {
            let mut live = of(next);
            // It may write EXEC, so lanes outside of EXEC before it may be read behind it.
            live.put_all_lanes();
            live.put_slot(Slot::Sgpr(M0), true);
            if value.is_none() {
                (0..RELATIVE_SGPRS).for_each(|n| live.put_slot(Slot::Sgpr(n), true));
            }
            live
        }
        Term::Matrix { calls, next, .. } => {
            let mut live = of(next);
            let mut put = |n: u16, on: bool| {
                live.put(n, on);
                live.set(ALL_LANES + usize::from(n), on);
            };
            for call in calls.iter().rev() {
                call.writes().for_each(|n| put(n, false));
                call.reads().for_each(|n| put(n, true));
            }
            live
        }
        // The interpreter may read any register.
        Term::Fallback { .. } | Term::Indirect(_) | Term::Interpret { .. } => Live::ALL,
    }
}

/// Values that the block needs regardless of live VGPRs: effects, live scalars, the terminator's.
pub fn roots(block: &Block, live: &Live) -> impl Iterator<Item = Val> {
    let slots = block.writes_s.iter().filter(|(s, _)| live.has_slot(*s));
    let effects = block.effects.iter().copied();
    effects
        .chain(slots.map(|&(_, v)| v))
        .chain(block.execs.iter().map(|&(_, v)| v))
        .chain(block.counts.iter().map(|&(v, _)| v))
        .chain(block.outcomes.iter().map(|counted| counted.bits))
        .chain(block.term.value())
}

/// Lanes on which a value is live.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Demand {
    Nowhere,
    /// Those of this EXEC (W64); `None` is EXEC at block entry.
    Under(Option<Val>),
    Everywhere,
}

/// Demands on a block's values, computed backward.
struct Demands<'a> {
    block: &'a Block,
    /// Slots that are all ones at block entry.
    ones: Option<&'a Live>,
    of: Vec<Demand>,
}

impl Demands<'_> {
    fn op(&self, v: Val) -> Op {
        self.block.nodes[v.index()].op
    }

    /// A set of lanes, as the wave value with its bits.
    fn set(&self, exec: Val) -> Option<Val> {
        (self.op(exec) != Op::ReadS(Slot::Exec)).then_some(exec)
    }

    /// Is a set provably all lanes? True only where EXEC at the region's entry is assumed to be.
    fn is_all(&self, set: Option<Val>) -> bool {
        self.ones.is_some_and(|ones| match set {
            Some(v) => all_ones::is_ones(self.block, ones, v, DEPTH),
            None => ones.has_slot(Slot::Exec),
        })
    }

    /// Is the set `a` provably a subset of `b`?
    fn within(&self, a: Option<Val>, b: Option<Val>, depth: u32) -> bool {
        if a == b || self.is_all(b) {
            return true;
        }
        let Some(v) = a.filter(|_| depth > 0) else {
            return false;
        };
        let node = &self.block.nodes[v.index()];
        let inside = |&x: &Val| self.within(self.set(x), b, depth - 1);
        match node.op {
            Op::And => node.args.iter().any(inside),
            Op::Or => node.args.iter().all(inside),
            Op::Ballot => self
                .confined(node.args[0], depth)
                .is_some_and(|x| inside(&x)),
            _ => false,
        }
    }

    /// An EXEC (W64) that contains a lane mask.
    fn confined(&self, mask: Val, depth: u32) -> Option<Val> {
        let node = &self.block.nodes[mask.index()];
        match node.op {
            Op::ExecMask | Op::MaskFromBits => Some(node.args[0]),
            Op::And if depth > 0 => {
                let mut args = node.args.iter();
                args.find_map(|&a| self.confined(a, depth - 1))
            }
            _ => None,
        }
    }

    /// Adds a demand on a value.
    fn demand_more(&mut self, v: Val, more: Demand) {
        let old = self.of[v.index()];
        let sum = match (old, more) {
            (Demand::Nowhere, d) => d,
            (Demand::Everywhere, _) | (_, Demand::Nowhere) => return,
            _ if old == more => return,
            (Demand::Under(a), Demand::Under(b)) => {
                let mut sets = [b, a, None].into_iter();
                let around =
                    |&s: &Option<Val>| self.within(a, s, DEPTH) && self.within(b, s, DEPTH);
                sets.find(around).map_or(Demand::Everywhere, Demand::Under)
            }
            _ => Demand::Everywhere,
        };
        self.of[v.index()] = sum;
    }

    /// The part of a demand where a mask is true.
    fn under(&self, demand: Demand, mask: Val) -> Demand {
        let Some(exec) = self.confined(mask, DEPTH).map(|v| self.set(v)) else {
            return demand;
        };
        match demand {
            Demand::Under(set) if self.within(set, exec, DEPTH) => demand,
            _ => Demand::Under(exec),
        }
    }

    /// The part of a demand where the mask of an EXEC is false.
    fn outside(&self, demand: Demand, mask: Val) -> Demand {
        let node = &self.block.nodes[mask.index()];
        if node.op != Op::ExecMask {
            return demand;
        }
        let exec = self.set(node.args[0]);
        match demand {
            Demand::Under(set) if self.within(set, exec, DEPTH) => Demand::Nowhere,
            Demand::Everywhere if self.is_all(exec) => Demand::Nowhere,
            _ => demand,
        }
    }

    /// Propagates the demand on a value to its operands.
    fn follow(&mut self, v: Val) {
        let node = &self.block.nodes[v.index()];
        let demand = self.of[v.index()];
        let all = Demand::Everywhere;
        match node.op {
            Op::Select => {
                let (mask, new, old) = (node.args[0], node.args[1], node.args[2]);
                let (under, outside) = (self.under(demand, mask), self.outside(demand, mask));
                self.demand_more(mask, demand);
                self.demand_more(new, under);
                self.demand_more(old, outside);
            }
            Op::And => {
                let (a, b) = (node.args[0], node.args[1]);
                let (for_a, for_b) = (self.under(demand, b), self.under(demand, a));
                self.demand_more(a, for_a);
                self.demand_more(b, for_b);
            }
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) => {
                let mask = node.args[1];
                let under = self.under(all, mask);
                for (i, &a) in node.args.iter().enumerate() {
                    self.demand_more(a, if i == 1 { all } else { under });
                }
            }
            Op::Effect { .. }
            | Op::Ballot
            | Op::LaneAt
            | Op::Call(LaneFn::Dpp | LaneFn::Swizzle | LaneFn::Permute | LaneFn::Bpermute, _) => {
                node.args.iter().for_each(|&a| self.demand_more(a, all));
            }
            _ => node.args.iter().for_each(|&a| self.demand_more(a, demand)),
        }
    }
}

/// Maximum depth of the search for how a set of lanes derives from others.
const DEPTH: u32 = 4;

/// Demands on the block's values when the registers in `live` are live at its end, and the slots in
/// `ones` are all ones where it begins. Reuses the memory of `space`.
fn demands<'a>(
    block: &'a Block,
    live: &Live,
    ones: Option<&'a Live>,
    mut space: Vec<Demand>,
) -> Demands<'a> {
    space.clear();
    space.resize(block.nodes.len(), Demand::Nowhere);
    let mut demands = Demands {
        block,
        ones,
        of: space,
    };
    for v in roots(block, live) {
        demands.demand_more(v, Demand::Everywhere);
    }
    let end = exec_at_end(&demands);
    for &(n, v) in block.writes_v.iter().filter(|&&(n, _)| live.has(n)) {
        let whole = live.bit(ALL_LANES + usize::from(n));
        let lanes = if whole {
            Demand::Everywhere
        } else {
            Demand::Under(end)
        };
        demands.demand_more(v, lanes);
    }
    for i in (0..block.nodes.len()).rev() {
        if demands.of[i] != Demand::Nowhere {
            demands.follow(Val(i as u32));
        }
    }
    demands
}

/// By node of a block: is it a merge under EXEC whose old value nobody reads, given the registers that are live at the
/// block's end?
pub fn free_merges(block: &Block, live: &Live) -> Vec<bool> {
    let demands = demands(block, live, None, Vec::new());
    let nodes = block.nodes.iter().enumerate();
    let free = nodes.map(|(i, node)| {
        let demand = demands.of[i];
        node.op == Op::Select
            && demand != Demand::Nowhere
            && demands.outside(demand, node.args[0]) == Demand::Nowhere
    });
    free.collect()
}

/// EXEC at the end of a block.
fn exec_at_end(demands: &Demands<'_>) -> Option<Val> {
    let mut writes = demands.block.writes_s.iter();
    let write = writes.find(|&&(slot, _)| slot == Slot::Exec);
    write.and_then(|&(_, v)| demands.set(v))
}

/// Live-in registers of a block from its live-out registers. Reuses the memory of `space`.
fn live_at_start(block: &Block, live: Live, ones: Option<&Live>, space: &mut Vec<Demand>) -> Live {
    let demands = demands(block, &live, ones, std::mem::take(space));
    let mut entry = live;
    // Lanes that EXEC gains keep the values from outside of it.
    if !demands.within(exec_at_end(&demands), None, DEPTH) {
        entry.put_all_lanes();
    }
    for &(n, _) in &block.writes_v {
        entry.set(usize::from(n), false);
        entry.set(ALL_LANES + usize::from(n), false);
    }
    for &(slot, _) in &block.writes_s {
        entry.set(slot_bit(slot), false);
    }
    // Faults report EXEC.
    if !block.effects.is_empty() {
        entry.set(slot_bit(Slot::Exec), true);
    }
    for (i, node) in block.nodes.iter().enumerate() {
        let demand = demands.of[i];
        match node.op {
            Op::ReadV(n) if demand != Demand::Nowhere => {
                entry.set(usize::from(n), true);
                let within = match demand {
                    Demand::Under(set) => demands.within(set, None, DEPTH),
                    _ => false,
                };
                if !within {
                    entry.set(ALL_LANES + usize::from(n), true);
                }
            }
            // Reads a register by number.
            Op::Effect {
                f: EffectFn::ReadRelative,
                ..
            } => {
                entry.0[..VECTOR_WORDS].fill(u64::MAX);
                entry.0[ALL_LANES / 64..][..VECTOR_WORDS].fill(u64::MAX);
            }
            Op::ReadS(slot) if demand != Demand::Nowhere => entry.set(slot_bit(slot), true),
            _ => {}
        }
    }
    *space = demands.of;
    entry
}
