//! Uniform and affine facts over a whole region: which lane values are `base + stride * lane` on the lanes
//! that matter, so that a memory instruction needs one scalar address instead of 64.
//!
//! A fact holds on a *set* of lanes: all of them, or the lanes that EXEC had at some point. Sets form a
//! tree, because guest code narrows EXEC by `and` and widens it again only to a value it saved before. A set
//! is named by the block and value that computed it; a name means the most recent execution, so a fact is
//! carried into a block only under names whose definition strictly dominates it; otherwise it is renamed to
//! "EXEC on entry to this block" when it held on at least that.
//!
//! Where the dispatch lays work-items out in rows (a workgroup 16 wide has four rows in a wave), a fact may
//! hold within each row only: neighbours in a row differ by the stride, rows by anything.

use std::collections::{BTreeMap, HashMap};

use crate::functions::EffectFn;
use frontend::WaveState;
use frontend::state::LANES;

use crate::ir::{Block, Func, Op, Slot, Target, Term, Val, Vary, Width};

/// A set of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Set {
    /// All 64 lanes.
    All,
    /// EXEC when the block was entered (block 0's: EXEC on entry to the region).
    Entry(usize),
    /// The value with this number computed in this block.
    At(usize, Val),
}

impl Set {
    fn block(self) -> Option<usize> {
        match self {
            Set::All => None,
            Set::Entry(b) | Set::At(b, _) => Some(b),
        }
    }
}

/// What is known of a lane value on the lanes of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fact {
    /// Difference between neighbouring lanes, modulo the width.
    stride: u64,
    /// True of 64-bit values only if the 32-bit part they were widened from does not wrap between
    /// the lanes in question.
    guarded: bool,
    /// True between all lanes of the wave, not only within its rows.
    whole: bool,
    /// True only if no word on the way here wraps between the lanes in question, each of which
    /// [`Facts::steps`] knows. Such a fact stays in its block.
    stepped: bool,
    /// Zero bits at the low end of the value that lane 0 (of the wave, or of each row) has or would have.
    aligned: u32,
    set: Set,
}

const UNIFORM: Fact = Fact {
    stride: 0,
    guarded: false,
    whole: true,
    stepped: false,
    aligned: 0,
    set: Set::All,
};

/// Strides of words whose carries into the high word are taken to be rare.
const SMALL: u64 = 1 << 24;

/// Is it a stride whose carries are rare?
fn small(stride: u64) -> bool {
    (stride as i64).unsigned_abs() < SMALL
}

/// Facts about the registers at one point.
#[derive(Clone, Debug, PartialEq)]
struct Registers {
    vgpr: Vec<Option<Fact>>,
    /// v[n:n+1] as one value, where more is known than of its halves.
    pair: HashMap<u8, Fact>,
    /// SGPR pairs that hold a value EXEC had.
    saved: HashMap<u8, Set>,
    vcc: Option<Set>,
    exec: Set,
}

/// What the rest of the translator asks: how an address varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Affine {
    /// Bytes between neighbouring lanes (sign-extended).
    pub stride: i64,
    /// Must be checked at run time: the addresses of the first and last active lane must differ by
    /// exactly stride times their distance.
    pub guarded: bool,
    /// Among all lanes of the wave; else within rows of [`Facts::row`] lanes only.
    pub whole: bool,
    /// Every value of its expression in `Facts::steps` must be checked at run time as well.
    pub stepped: bool,
}

/// What must be checked at run time of a value in an address expression, at the first and the last active
/// lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It is the same.
    Equal,
    /// It differs by this times the distance.
    Stride(i64),
    /// It differs by this times the distance, and is the greater at the last lane, as signed words or not.
    Clamp(i64, bool),
}

/// What is known where a loop begins, whenever EXEC is all ones there: strides within rows of
/// [`Facts::row`] lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoopEntry {
    /// VGPRs and their strides modulo 2^32.
    pub vgprs: BTreeMap<u8, u32>,
    /// Pairs v[n:n+1] and their strides, true of the lanes between which the low word does not wrap.
    pub pairs: BTreeMap<u8, u64>,
}

/// Facts about the whole region.
pub struct Facts {
    /// For each block, for each memory node whose address is affine on its lanes.
    addresses: HashMap<(usize, Val), Affine>,
    steps: HashMap<(usize, Val), Step>,
    loops: HashMap<usize, LoopEntry>,
    row: usize,
}

impl Facts {
    /// How the address (first argument) of memory node `v` of a block varies on its active lanes.
    pub fn address(&self, block: usize, v: Val) -> Option<Affine> {
        self.addresses.get(&(block, v)).copied()
    }

    /// What is to be checked of value `v` of a block where [`Affine::stepped`] says so.
    pub fn step(&self, block: usize, v: Val) -> Option<Step> {
        self.steps.get(&(block, v)).copied()
    }

    /// What is known at the beginning of a block with which a loop begins.
    pub fn at_loop(&self, block: usize) -> Option<&LoopEntry> {
        self.loops.get(&block)
    }

    /// Blocks with which loops begin.
    pub fn loops(&self) -> Vec<usize> {
        let mut loops: Vec<usize> = self.loops.keys().copied().collect();
        loops.sort_unstable();
        loops
    }

    /// Lanes in a row.
    pub fn row(&self) -> usize {
        self.row
    }
}

struct Analysis<'a> {
    f: &'a Func,
    /// Lanes in a row.
    row: usize,
    preds: Vec<Vec<usize>>,
    /// Strict dominators of each block, as bits.
    dominators: Vec<Vec<u64>>,
    /// Parent of each set: a superset.
    parents: HashMap<Set, Set>,
}

fn successors(block: &Block) -> Vec<usize> {
    let of = |t: &Target| match *t {
        Target::Block { block, .. } => Some(block),
        Target::Exit { .. } => None,
    };
    match &block.term {
        Term::Jump(t) | Term::Barrier { next: t } | Term::Fallback { next: t, .. } => {
            of(t).into_iter().collect()
        }
        Term::Branch { then, other, .. } => of(then).into_iter().chain(of(other)).collect(),
        _ => Vec::new(),
    }
}

/// Strict dominators as bit sets, by the usual iteration.
fn dominators(preds: &[Vec<usize>]) -> Vec<Vec<u64>> {
    let n = preds.len();
    let words = n.div_ceil(64);
    let mut dom = vec![vec![u64::MAX; words]; n];
    dom[0] = vec![0; words];
    dom[0][0] |= 1;
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..n {
            let mut meet = vec![u64::MAX; words];
            for &p in &preds[b] {
                for (m, d) in meet.iter_mut().zip(&dom[p]) {
                    *m &= d;
                }
            }
            meet[b / 64] |= 1 << (b % 64);
            if meet != dom[b] {
                dom[b] = meet;
                changed = true;
            }
        }
    }
    for (b, d) in dom.iter_mut().enumerate() {
        d[b / 64] &= !(1 << (b % 64));
    }
    dom
}

/// Blocks beyond which the analysis is not worth its quadratic parts.
const MAX_BLOCKS: usize = 1500;

/// Sweeps after which nothing is taken to be known.
const MAX_SWEEPS: usize = 64;

/// Analyses a region. `start` says what the dispatch itself established: bits of [`WaveState::START`].
pub fn analyse(f: &Func, start: u64) -> Facts {
    let row = (start & WaveState::ROWS) >> WaveState::ROWS.trailing_zeros();
    let mut facts = Facts {
        addresses: HashMap::new(),
        steps: HashMap::new(),
        loops: HashMap::new(),
        row: if row == 0 { LANES } else { 1 << row },
    };
    if f.blocks.len() > MAX_BLOCKS {
        return facts;
    }
    let mut preds = vec![Vec::new(); f.blocks.len()];
    for (i, block) in f.blocks.iter().enumerate() {
        for s in successors(block) {
            preds[s].push(i);
        }
    }
    let dominators = dominators(&preds);
    let mut a = Analysis {
        f,
        row: facts.row,
        preds,
        dominators,
        parents: HashMap::new(),
    };
    let bits = start;
    let mut start = Registers {
        vgpr: vec![None; 256],
        pair: HashMap::new(),
        saved: HashMap::new(),
        vcc: None,
        exec: Set::Entry(0),
    };
    let mut seed = |n: usize, stride, whole, aligned| {
        start.vgpr[n] = Some(Fact {
            stride,
            guarded: false,
            whole,
            stepped: false,
            aligned,
            set: Set::Entry(0),
        });
    };
    if row != 0 {
        seed(0, 1, false, row as u32);
        seed(1, 0, false, 0);
        seed(2, 0, false, 0);
    }
    if bits & WaveState::V0_COUNTS != 0 {
        seed(0, 1, true, LANES.ilog2());
    }
    if bits & WaveState::V12_UNIFORM != 0 {
        seed(1, 0, true, 0);
        seed(2, 0, true, 0);
    }
    a.parents.insert(Set::Entry(0), Set::All);
    let mut exits: Vec<Option<Registers>> = vec![None; f.blocks.len()];
    // Sweeps until nothing changes: facts and sets only get weaker.
    let mut settled = false;
    for _ in 0..MAX_SWEEPS {
        settled = true;
        for b in 0..f.blocks.len() {
            let reached = b == 0 || a.preds[b].iter().any(|&p| exits[p].is_some());
            if !reached {
                continue;
            }
            let parent = a.parents.get(&Set::Entry(b)).copied();
            let entry = a.entry(b, &start, &exits);
            let exit = a.block(b, &entry, None);
            let same = a.parents.get(&Set::Entry(b)).copied() == parent;
            if !same || exits[b].as_ref() != Some(&exit) {
                exits[b] = Some(exit);
                settled = false;
            }
        }
        if settled {
            break;
        }
    }
    if !settled {
        return facts;
    }
    for b in 0..f.blocks.len() {
        if exits[b].is_some() {
            let entry = a.entry(b, &start, &exits);
            let back = |&p: &usize| p == b || a.dominators[p][b / 64] >> (b % 64) & 1 != 0;
            if a.preds[b].iter().any(back) {
                facts.loops.insert(b, a.loop_entry(&entry));
            }
            a.block(b, &entry, Some(&mut facts));
        }
    }
    facts
}

impl Analysis<'_> {
    /// Is `small` known to be a subset of `big`?
    fn within(&self, small: Set, big: Set) -> bool {
        let mut at = small;
        for _ in 0..10_000 {
            if at == big || big == Set::All {
                return true;
            }
            match self.parents.get(&at) {
                Some(&up) if up != at => at = up,
                _ => return false,
            }
        }
        false
    }

    /// The facts that hold on all lanes when EXEC is all ones.
    fn loop_entry(&self, entry: &Registers) -> LoopEntry {
        let holds = |f: &Fact| self.within(entry.exec, f.set);
        let vgprs = entry.vgpr.iter().enumerate();
        LoopEntry {
            vgprs: vgprs
                .filter_map(|(n, f)| Some((n as u8, f.filter(|f| holds(f))?.stride as u32)))
                .collect(),
            pairs: entry
                .pair
                .iter()
                .filter(|(_, f)| holds(f))
                .map(|(&n, f)| (n, f.stride))
                .collect(),
        }
    }

    /// The smaller of two sets, when one is within the other.
    fn meet_sets(&self, a: Set, b: Set) -> Option<Set> {
        if self.within(a, b) {
            Some(a)
        } else if self.within(b, a) {
            Some(b)
        } else {
            None
        }
    }

    /// May a name that was valid at the end of a predecessor be used in `block`?
    fn survives(&self, set: Set, block: usize) -> bool {
        match set.block() {
            None => true,
            Some(d) => {
                // The region's entry set is defined before block 0.
                (set == Set::Entry(0) && block != 0)
                    || self.dominators[block][d / 64] >> (d % 64) & 1 != 0
            }
        }
    }

    /// The nearest superset that may be named in `block`.
    fn surviving_parent(&self, set: Set, block: usize) -> Set {
        let mut at = set;
        while !self.survives(at, block) {
            at = self.parents.get(&at).copied().unwrap_or(Set::All);
        }
        at
    }

    /// Renames a set for use in `block`, given EXEC at the end of the predecessor.
    fn rename(&self, set: Set, exec: Set, block: usize) -> Option<Set> {
        if self.survives(set, block) {
            Some(set)
        } else if self.within(exec, set) {
            Some(Set::Entry(block))
        } else {
            None
        }
    }

    /// The registers at the start of a block, from its predecessors that were reached.
    fn entry(&mut self, b: usize, start: &Registers, exits: &[Option<Registers>]) -> Registers {
        let from: Vec<&Registers> = self.preds[b]
            .iter()
            .filter_map(|&p| exits[p].as_ref())
            .collect();
        if b != 0 {
            // EXEC on entry lies within what all predecessors' EXEC lie within.
            let mut parent: Option<Set> = None;
            for r in &from {
                let up = self.surviving_parent(r.exec, b);
                parent = Some(match parent {
                    None => up,
                    Some(old) if self.within(up, old) => old,
                    Some(old) if self.within(old, up) => up,
                    Some(_) => Set::All,
                });
            }
            self.parents
                .insert(Set::Entry(b), parent.unwrap_or(Set::All));
        } else if !from.is_empty() {
            // A region whose entry is a loop's head: nothing is assumed beyond the first time.
            let mut r = start.clone();
            r.vgpr = vec![None; 256];
            return r;
        } else {
            return start.clone();
        }
        let mut result: Option<Registers> = None;
        for r in from {
            let renamed = self.renamed(r, b);
            result = Some(match result {
                None => renamed,
                Some(old) => self.join(&old, &renamed),
            });
        }
        result.unwrap_or_else(|| start.clone())
    }

    fn renamed(&self, r: &Registers, b: usize) -> Registers {
        let fact = |f: Fact| self.rename(f.set, r.exec, b).map(|set| Fact { set, ..f });
        let saved = |&set: &Set| {
            if self.survives(set, b) {
                Some(set)
            } else {
                (set == r.exec).then_some(Set::Entry(b))
            }
        };
        Registers {
            vgpr: r.vgpr.iter().map(|f| f.and_then(fact)).collect(),
            pair: r
                .pair
                .iter()
                .filter_map(|(&n, &f)| Some((n, fact(f)?)))
                .collect(),
            saved: r
                .saved
                .iter()
                .filter_map(|(&n, s)| Some((n, saved(s)?)))
                .collect(),
            vcc: r.vcc.as_ref().and_then(saved),
            exec: Set::Entry(b),
        }
    }

    fn join_facts(&self, a: Fact, b: Fact) -> Option<Fact> {
        if a.stride != b.stride {
            return None;
        }
        let set = self.meet_sets(a.set, b.set)?;
        Some(Fact {
            stride: a.stride,
            guarded: a.guarded || b.guarded,
            whole: a.whole && b.whole,
            stepped: false,
            aligned: a.aligned.min(b.aligned),
            set,
        })
    }

    fn join(&self, a: &Registers, b: &Registers) -> Registers {
        let both = |x: Option<Fact>, y: Option<Fact>| self.join_facts(x?, y?);
        Registers {
            vgpr: a
                .vgpr
                .iter()
                .zip(&b.vgpr)
                .map(|(&x, &y)| both(x, y))
                .collect(),
            pair: a
                .pair
                .iter()
                .filter_map(|(n, &x)| Some((*n, both(Some(x), b.pair.get(n).copied())?)))
                .collect(),
            saved: a
                .saved
                .iter()
                .filter(|(n, s)| b.saved.get(n) == Some(s))
                .map(|(&n, &s)| (n, s))
                .collect(),
            vcc: if a.vcc == b.vcc { a.vcc } else { None },
            exec: a.exec,
        }
    }

    /// Goes through a block; gives the registers at its end, and the facts about its addresses.
    fn block(&mut self, b: usize, entry: &Registers, mut facts: Option<&mut Facts>) -> Registers {
        let block = &self.f.blocks[b];
        let mut values: Vec<Option<Fact>> = Vec::with_capacity(block.nodes.len());
        let mut sets: HashMap<Val, Set> = HashMap::new();
        for (i, node) in block.nodes.iter().enumerate() {
            let v = Val(i as u32);
            if node.ty.vary == Vary::Wave {
                if node.ty.width == Width::W64
                    && let Some(set) = self.exec_value(b, block, v, entry, &sets)
                {
                    sets.insert(v, set);
                }
                values.push(Some(Fact {
                    aligned: zeros(block, v, 0),
                    ..UNIFORM
                }));
                continue;
            }
            let fact = self.lane_fact(block, v, entry, &values, &sets);
            values.push(fact);
            if let Some(facts) = facts.as_deref_mut()
                && let Some(step) = step_of(node, fact, &values)
            {
                facts.steps.insert((b, v), step);
            }
            if let Some(facts) = facts.as_deref_mut()
                && let Op::Load(..) | Op::Store(..) | Op::Atomic(..) = node.op
            {
                self.note_address(b, block, v, &values, &sets, facts);
            }
        }
        // A store has no lane result, so its type is a wave's: look at effects apart.
        if let Some(facts) = facts {
            for &v in &block.effects {
                self.note_address(b, block, v, &values, &sets, facts);
            }
        }
        self.exit(b, block, entry, &values, &sets)
    }

    /// The set of lanes that a 64-bit wave value holds as EXEC would.
    fn exec_value(
        &mut self,
        b: usize,
        block: &Block,
        v: Val,
        entry: &Registers,
        sets: &HashMap<Val, Set>,
    ) -> Option<Set> {
        let node = &block.nodes[v.index()];
        let set = |i: usize| sets.get(&node.args[i]).copied();
        let here = Set::At(b, v);
        match node.op {
            Op::ReadS(Slot::Exec) => Some(entry.exec),
            Op::ReadS(Slot::Vcc) => entry.vcc,
            Op::Const(u64::MAX) => Some(Set::All),
            Op::Pair => {
                let (lo, hi) = (
                    &block.nodes[node.args[0].index()],
                    &block.nodes[node.args[1].index()],
                );
                match (lo.op, hi.op) {
                    (Op::ReadS(Slot::Sgpr(n)), Op::ReadS(Slot::Sgpr(m))) if m == n + 1 => {
                        entry.saved.get(&n).copied()
                    }
                    _ => None,
                }
            }
            Op::And => {
                let parent = match (set(0), set(1)) {
                    (Some(x), Some(y)) => match self.meet_sets(x, y) {
                        Some(smaller) => return Some(smaller),
                        // Of two unrelated supersets the one that leads to EXEC is remembered: guest
                        // code comes back to that.
                        None if self.within(y, entry.exec) => y,
                        None => x,
                    },
                    (Some(x), None) | (None, Some(x)) => x,
                    (None, None) => return None,
                };
                self.parents.insert(here, parent);
                Some(here)
            }
            Op::Or => {
                let (x, y) = (set(0)?, set(1)?);
                if self.within(x, y) {
                    Some(y)
                } else if self.within(y, x) {
                    Some(x)
                } else {
                    None
                }
            }
            Op::Xor => {
                // Removing a subset.
                let (x, y) = (set(0)?, set(1)?);
                let parent = if self.within(y, x) {
                    x
                } else if self.within(x, y) {
                    y
                } else {
                    return None;
                };
                self.parents.insert(here, parent);
                Some(here)
            }
            Op::Ballot => {
                let mask = &block.nodes[node.args[0].index()];
                let exec = mask.args.iter().find_map(|&a| {
                    let arg = &block.nodes[a.index()];
                    (mask.op == Op::And && arg.op == Op::ExecMask).then(|| arg.args[0])
                })?;
                let parent = *sets.get(&exec)?;
                self.parents.insert(here, parent);
                Some(here)
            }
            _ => None,
        }
    }

    fn lane_fact(
        &self,
        block: &Block,
        v: Val,
        entry: &Registers,
        values: &[Option<Fact>],
        sets: &HashMap<Val, Set>,
    ) -> Option<Fact> {
        let node = &block.nodes[v.index()];
        let arg = |i: usize| values[node.args[i].index()];
        let constant = |i: usize| match block.nodes[node.args[i].index()].op {
            Op::Const(c) => Some(c),
            _ => None,
        };
        let mask = if node.ty.width == Width::W64 {
            u64::MAX
        } else {
            0xffff_ffff
        };
        let with = |f: Fact, stride: u64| Fact {
            stride: stride & mask,
            ..f
        };
        let two = |f: &dyn Fn(u64, u64) -> u64| {
            let (x, y) = (arg(0)?, arg(1)?);
            let set = self.meet_sets(x.set, y.set)?;
            let guarded = x.guarded || y.guarded;
            // Two wrapping parts must wrap in one direction, or the ends could agree by accident.
            let opposite = (x.stride ^ y.stride) >> 63 != 0;
            let stepped = x.stepped || y.stepped;
            let whole = x.whole && y.whole;
            let aligned = self.aligned_in(x, whole).min(self.aligned_in(y, whole));
            if !stepped && x.guarded && y.guarded && opposite != (node.op == Op::Sub) {
                return None;
            }
            Some(Fact {
                stride: f(x.stride, y.stride) & mask,
                guarded,
                whole,
                stepped,
                aligned,
                set,
            })
        };
        match node.op {
            Op::LaneId => Some(Fact {
                stride: 1,
                guarded: false,
                whole: true,
                stepped: false,
                aligned: 64,
                set: Set::All,
            }),
            Op::ReadV(n) => entry.vgpr[usize::from(n)],
            Op::Add => two(&|x, y| x.wrapping_add(y)),
            Op::Sub => two(&|x, y| x.wrapping_sub(y)),
            Op::Mul if constant(1).is_some() => {
                let factor = constant(1).unwrap_or(0);
                arg(0).map(|f| Fact {
                    aligned: f.aligned + factor.trailing_zeros(),
                    ..with(f, f.stride.wrapping_mul(factor))
                })
            }
            Op::Shl if constant(1).is_some() => {
                let n = constant(1).unwrap_or(0) as u32 & if mask == u64::MAX { 63 } else { 31 };
                arg(0).map(|f| Fact {
                    aligned: f.aligned + n,
                    ..with(f, f.stride << n)
                })
            }
            Op::Lo => arg(0).map(|f| with(f, f.stride)).map(|f| Fact {
                guarded: false,
                ..f
            }),
            Op::Pair => {
                let read = |i: usize| match block.nodes[node.args[i].index()].op {
                    Op::ReadV(n) => Some(n),
                    _ => None,
                };
                if let (Some(n), Some(m)) = (read(0), read(1))
                    && n.checked_add(1) == Some(m)
                    && let Some(&fact) = entry.pair.get(&n)
                {
                    return Some(fact);
                }
                let (lo, hi) = (arg(0)?, arg(1)?);
                if hi.stride != 0 {
                    return None;
                }
                let set = self.meet_sets(lo.set, hi.set)?;
                Some(Fact {
                    stride: sign(lo.stride),
                    guarded: lo.stride != 0,
                    whole: lo.whole && hi.whole,
                    stepped: lo.stepped || hi.stepped,
                    aligned: lo.aligned,
                    set,
                })
            }
            // The same for all lanes between which the low word does not wrap.
            Op::Hi if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                small(f.stride).then_some(Fact {
                    stride: 0,
                    guarded: false,
                    stepped: true,
                    aligned: 0,
                    ..f
                })
            }
            Op::Zext | Op::Sext => {
                let f = arg(0)?;
                Some(Fact {
                    stride: sign(f.stride),
                    guarded: f.stride != 0,
                    ..f
                })
            }
            // The merge under EXEC: on those lanes it is the new value.
            Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                let exec = *sets.get(&block.nodes[node.args[0].index()].args[0])?;
                let new = arg(1)?;
                Some(Fact {
                    set: self.meet_sets(new.set, exec)?,
                    ..new
                })
            }
            Op::ReadS(_)
            | Op::Call(..)
            | Op::Result(_)
            | Op::Effect { .. }
            | Op::Load(..)
            | Op::Atomic(..)
            | Op::MaskFromBits
            | Op::ExecMask => None,
            Op::And | Op::Or | Op::Xor if self.varies(arg(0)?, arg(1)?) => {
                let bits = if arg(0)?.stride != 0 { 1 } else { 0 };
                self.bitwise(node.op, arg(1 - bits)?, arg(bits)?, constant(bits))
            }
            Op::Lshr if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                let n = constant(1)? as u32 & if mask == u64::MAX { 63 } else { 31 };
                let reach = self.reach(f)?;
                if f.guarded || reach > f.aligned {
                    None
                } else if reach <= n {
                    Some(Fact {
                        stride: 0,
                        aligned: 0,
                        ..f
                    })
                } else {
                    (f.stride.trailing_zeros() >= n && f.aligned >= n).then(|| Fact {
                        stride: f.stride >> n,
                        aligned: f.aligned - n,
                        ..f
                    })
                }
            }
            // The bound is not met by any lane if it is not met at the ends.
            Op::MinS | Op::MaxS | Op::MinU | Op::MaxU
                if node.ty.width == Width::W32 && self.varies(arg(0)?, arg(1)?) =>
            {
                let (x, y) = (arg(0)?, arg(1)?);
                let f = if x.stride != 0 { x } else { y };
                (f.stride < SMALL).then_some(Fact {
                    set: self.meet_sets(x.set, y.set)?,
                    whole: x.whole && y.whole,
                    stepped: true,
                    aligned: 0,
                    ..f
                })
            }
            Op::SextFrom(n) if arg(0)?.stride != 0 => {
                let f = arg(0)?;
                let reach = self.reach(f)?;
                (!f.guarded && reach <= f.aligned && reach < u32::from(n)).then_some(f)
            }
            // Any function of uniform values is uniform on the lanes where they all are.
            _ => {
                let mut set = Set::All;
                let mut whole = true;
                let mut stepped = false;
                for i in 0..node.args.len() {
                    let f = arg(i)?;
                    if f.stride != 0 {
                        return None;
                    }
                    set = self.meet_sets(set, f.set)?;
                    whole &= f.whole;
                    stepped |= f.stepped;
                }
                Some(Fact {
                    stride: 0,
                    guarded: false,
                    whole,
                    stepped,
                    aligned: 0,
                    set,
                })
            }
        }
    }

    /// Bits that the lanes' differences span: stride times lane is below two to that many.
    fn reach(&self, f: Fact) -> Option<u32> {
        let lanes = if f.whole { LANES } else { self.row } as u64;
        (f.stride < SMALL).then(|| u64::BITS - (f.stride * (lanes - 1)).leading_zeros())
    }

    /// Zero bits at the low end of what lane 0 has, of the wave or of each row.
    fn aligned_in(&self, f: Fact, whole: bool) -> u32 {
        if f.stride == 0 || f.whole == whole {
            return f.aligned;
        }
        let rows = f.stride.trailing_zeros() + self.row.ilog2();
        f.aligned.min(rows)
    }

    /// Does one of two values differ by lane, and the other not?
    fn varies(&self, x: Fact, y: Fact) -> bool {
        (x.stride == 0) != (y.stride == 0)
    }

    /// `x` that differs by lane, combined with the bits of a uniform value, which may be a constant. Where the
    /// lanes differ in low bits only, which the rest of the value leaves 0, these may be kept, cleared or
    /// joined with others apart from the rest.
    fn bitwise(&self, op: Op, x: Fact, other: Fact, constant: Option<u64>) -> Option<Fact> {
        let set = self.meet_sets(x.set, other.set)?;
        let whole = x.whole && other.whole;
        let f = Fact {
            whole,
            aligned: self.aligned_in(x, whole),
            set,
            stepped: x.stepped || other.stepped,
            ..x
        };
        let reach = self.reach(f)?;
        if f.guarded || other.guarded || reach > f.aligned || reach >= u64::BITS {
            return None;
        }
        let low = (1u64 << reach) - 1;
        match (op, constant) {
            (Op::And, Some(c)) if c & low == low => Some(Fact {
                aligned: f.aligned.max((c & !low).trailing_zeros()),
                ..f
            }),
            (Op::And, Some(c)) if c & low == 0 => Some(Fact {
                stride: 0,
                aligned: f.aligned.max(c.trailing_zeros()),
                ..f
            }),
            (Op::Or | Op::Xor, _) if other.aligned >= reach => Some(Fact {
                aligned: f.aligned.min(other.aligned),
                ..f
            }),
            _ => None,
        }
    }

    fn note_address(
        &self,
        b: usize,
        block: &Block,
        v: Val,
        values: &[Option<Fact>],
        sets: &HashMap<Val, Set>,
        facts: &mut Facts,
    ) {
        let node = &block.nodes[v.index()];
        if !matches!(node.op, Op::Load(..) | Op::Store(..) | Op::Atomic(..)) {
            return;
        }
        let Some(fact) = values[node.args[0].index()] else {
            return;
        };
        let mask = &block.nodes[node.args[1].index()];
        let lanes = match mask.op {
            Op::ExecMask => sets.get(&mask.args[0]).copied(),
            Op::Const(_) => Some(Set::All),
            _ => None,
        };
        if lanes.is_some_and(|lanes| self.within(lanes, fact.set)) {
            let wide = block.nodes[node.args[0].index()].ty.width == Width::W64;
            let stride = if wide {
                fact.stride as i64
            } else {
                i64::from(fact.stride as u32 as i32)
            };
            facts.addresses.insert(
                (b, v),
                Affine {
                    stride,
                    guarded: fact.guarded || !wide,
                    whole: fact.whole,
                    stepped: fact.stepped,
                },
            );
        }
    }

    fn exit(
        &mut self,
        b: usize,
        block: &Block,
        entry: &Registers,
        values: &[Option<Fact>],
        sets: &HashMap<Val, Set>,
    ) -> Registers {
        let relative = |v: &Val| {
            matches!(
                block.nodes[v.index()].op,
                Op::Effect {
                    f: EffectFn::WriteRelative,
                    ..
                }
            )
        };
        if matches!(block.term, Term::Fallback { .. }) || block.effects.iter().any(relative) {
            // The interpreter may change anything, a write by number any VGPR.
            let exec = Set::At(b, Val(u32::MAX));
            self.parents.insert(exec, Set::All);
            return Registers {
                vgpr: vec![None; 256],
                pair: HashMap::new(),
                saved: HashMap::new(),
                vcc: None,
                exec,
            };
        }
        let mut r = entry.clone();
        let new = |v: Val| {
            let node = &block.nodes[v.index()];
            match node.op {
                Op::Select if block.nodes[node.args[0].index()].op == Op::ExecMask => {
                    (node.args[1], Some(node.args[0]))
                }
                _ => (v, None),
            }
        };
        for &(n, v) in &block.writes_v {
            r.vgpr[usize::from(n)] = values[v.index()].filter(|f| !f.stepped);
            r.pair.remove(&n);
            if let Some(below) = n.checked_sub(1) {
                r.pair.remove(&below);
            }
        }
        // Two halves of one 64-bit value written to neighbours under the same EXEC.
        for &(n, lo) in &block.writes_v {
            let Some(&(_, hi)) = block
                .writes_v
                .iter()
                .find(|w| Some(w.0) == n.checked_add(1))
            else {
                continue;
            };
            let ((lo, lo_mask), (hi, hi_mask)) = (new(lo), new(hi));
            let wide = pair_of(block, lo, hi).filter(|_| lo_mask == hi_mask);
            let known = wide.and_then(|wide| values[wide.index()]);
            let Some(fact) = known.filter(|f| !f.stepped) else {
                continue;
            };
            let set = match lo_mask {
                None => Some(fact.set),
                Some(mask) => sets
                    .get(&block.nodes[mask.index()].args[0])
                    .and_then(|&exec| self.meet_sets(fact.set, exec)),
            };
            if let Some(set) = set {
                r.pair.insert(n, Fact { set, ..fact });
            }
        }
        for &(slot, v) in &block.writes_s {
            match slot {
                Slot::Exec => {
                    r.exec = sets.get(&v).copied().unwrap_or_else(|| {
                        self.parents.entry(Set::At(b, v)).or_insert(Set::All);
                        Set::At(b, v)
                    });
                }
                Slot::Vcc => r.vcc = sets.get(&v).copied(),
                Slot::Sgpr(n) => {
                    r.saved.remove(&n);
                    if let Some(below) = n.checked_sub(1) {
                        r.saved.remove(&below);
                    }
                }
                Slot::Scc | Slot::Mode => {}
            }
        }
        let slots: HashMap<Slot, Val> = block.writes_s.iter().copied().collect();
        for (&slot, &lo) in &slots {
            if let Slot::Sgpr(n) = slot
                && let Some(&hi) = slots.get(&Slot::Sgpr(n.wrapping_add(1)))
            {
                let (lo, hi) = (&block.nodes[lo.index()], &block.nodes[hi.index()]);
                if lo.op == Op::Lo
                    && hi.op == Op::Hi
                    && lo.args[0] == hi.args[0]
                    && let Some(&set) = sets.get(&lo.args[0])
                {
                    r.saved.insert(n, set);
                }
            }
        }
        r
    }
}

/// The 64-bit value of which `lo` and `hi` are the words, when they are known to be.
pub(crate) fn pair_of(block: &Block, lo: Val, hi: Val) -> Option<Val> {
    let hi = &block.nodes[hi.index()];
    if hi.op != Op::Hi {
        return None;
    }
    low_is(block, hi.args[0], lo).then_some(hi.args[0])
}

/// Is `low` the low word of `wide`, by the names that the builder gives?
fn low_is(block: &Block, wide: Val, low: Val) -> bool {
    let node = &block.nodes[wide.index()];
    let l = &block.nodes[low.index()];
    match node.op {
        Op::Pair | Op::Zext | Op::Sext => node.args[0] == low,
        Op::Const(c) => matches!(l.op, Op::Const(l) if l == c & 0xffff_ffff),
        Op::Add | Op::Sub => {
            let lows = |n: usize, m: usize| {
                low_is(block, node.args[0], l.args[n]) && low_is(block, node.args[1], l.args[m])
            };
            let zero = |i: usize| match block.nodes[node.args[i].index()].op {
                Op::Const(c) => c & 0xffff_ffff == 0,
                _ => false,
            };
            l.op == node.op && (lows(0, 1) || node.op == Op::Add && lows(1, 0))
                || zero(1) && low_is(block, node.args[0], low)
        }
        Op::Shl if l.op == Op::Shl => {
            l.args[1] == node.args[1] && low_is(block, node.args[0], l.args[0])
        }
        _ => l.op == Op::Lo && l.args[0] == wide,
    }
}

/// A 32-bit stride as a 64-bit one.
fn sign(stride: u64) -> u64 {
    stride as u32 as i32 as i64 as u64
}

/// What is to be checked of a value with this fact where one depends on it that no word wraps.
fn step_of(node: &crate::ir::Node, fact: Option<Fact>, values: &[Option<Fact>]) -> Option<Step> {
    let fact = fact?;
    match node.op {
        Op::Zext | Op::Sext | Op::Pair => {
            (fact.stride != 0).then_some(Step::Stride(fact.stride as i64))
        }
        Op::Hi => (values[node.args[0].index()]?.stride != 0).then_some(Step::Equal),
        Op::MinS | Op::MaxS => (fact.stride != 0).then_some(Step::Clamp(fact.stride as i64, true)),
        Op::MinU | Op::MaxU => (fact.stride != 0).then_some(Step::Clamp(fact.stride as i64, false)),
        _ => None,
    }
}

/// Bits at the low end of a wave value that are known to be 0.
fn zeros(block: &Block, v: Val, depth: u32) -> u32 {
    let node = &block.nodes[v.index()];
    if depth == 8 {
        return 0;
    }
    let of = |i: usize| zeros(block, node.args[i], depth + 1);
    let constant = |i: usize| match block.nodes[node.args[i].index()].op {
        Op::Const(c) => Some(c),
        _ => None,
    };
    match node.op {
        Op::Const(c) => c.trailing_zeros(),
        Op::Add | Op::Sub | Op::Or | Op::Xor => of(0).min(of(1)),
        Op::And => of(0).max(of(1)),
        Op::Mul => of(0) + of(1),
        Op::Shl => match constant(1) {
            Some(n) if n < 32 => of(0) + n as u32,
            _ => of(0),
        },
        Op::Lo | Op::Zext | Op::Sext => of(0),
        Op::Pair => of(0).min(32),
        _ => 0,
    }
}
