//! Writes of registers put off to the block that reads them. A kernel often begins with a block that makes
//! addresses of the work-item's number, compares them with a size, and branches around all the rest. Written
//! where the guest writes them, the addresses go to memory in a loop over the lanes; put off to the block
//! behind the branch, they are parts of the expressions there, which the loads and stores need for one lane or
//! two only.
//!
//! A write is put off when the only other way out of its block does not want the register, when the block that
//! gets it has no other way in, and when its value is plain integer arithmetic on registers that still hold then
//! what they held before. Scalars that the guest has overwritten meanwhile are carried over in
//! [`Slot::Temp`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::Analysed;
use crate::analysis::liveness::{Live, Lives};
use crate::ir::build::{Build, types};
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Func, Op, Slot, Target, Term, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};

/// Values that are computed again in the other block at most.
const MAX_NODES: usize = 96;

/// Temporary slots of a region at most.
const MAX_TEMPS: usize = 48;

/// Puts off what can be.
pub(super) fn run(region: &mut Analysed<'_>) {
    let (sunk, lives) = sink(&region.func, std::mem::take(&mut region.lives));
    region.lives = lives;
    if let Some(sunk) = sunk {
        region.func = Cow::Owned(sunk);
    }
}

/// Puts off what can be in a region with these live registers. Gives the region after that, if it is another, and
/// what is live in it.
pub fn sink(f: &Func, mut lives: Lives) -> (Option<Func>, Lives) {
    let mut out: Option<Func> = None;
    let mut temps = 0;
    // Where control goes stays as it is.
    let mut ways_in = vec![0; f.blocks.len()];
    for to in f.blocks.iter().flat_map(next) {
        ways_in[to] += 1;
    }
    for p in 0..f.blocks.len() {
        let now = out.as_ref().unwrap_or(f);
        if now.blocks[p].writes_v.is_empty() {
            continue;
        }
        let ways = ways(now, p, &ways_in);
        if ways.is_empty() || goes_round(now, p) {
            continue;
        }
        let mut sunk = None;
        for (b, other) in ways {
            let wanted = other.map_or(Live::default(), |other| lives.start[other]);
            let step = Step {
                f: now,
                p,
                b,
                wanted,
                live: lives.start[b],
                temps,
            };
            sunk = step.run();
            if sunk.is_some() {
                break;
            }
        }
        if let Some((b, first, second, used)) = sunk {
            let f = out.get_or_insert_with(|| f.clone());
            f.blocks[p] = first;
            f.blocks[b] = second;
            temps = used;
            lives.again(f, b);
        }
    }
    (out, lives)
}

/// Can control come back to a block?
pub(crate) fn goes_round(f: &Func, from: usize) -> bool {
    comes_back(f, from, |_| true)
}

/// Can control come back to a block with no barrier on the way?
pub(crate) fn goes_round_at_once(f: &Func, from: usize) -> bool {
    comes_back(f, from, |block| !matches!(block.term, Term::Barrier { .. }))
}

/// Can control come back to a block through blocks that it `passes`?
fn comes_back(f: &Func, from: usize, passes: impl Fn(&Block) -> bool) -> bool {
    let mut seen = vec![false; f.blocks.len()];
    let mut work = vec![from];
    while let Some(at) = work.pop() {
        let block = &f.blocks[at];
        for to in next(block).filter(|_| passes(block)) {
            if to == from {
                return true;
            }
            if !std::mem::replace(&mut seen[to], true) {
                work.push(to);
            }
        }
    }
    false
}

fn next(block: &Block) -> impl Iterator<Item = usize> {
    block.term.targets().filter_map(|t| t.block())
}

/// Blocks that only the end of block `p` leads to, each with the other block that it leads to.
fn ways(f: &Func, p: usize, ways_in: &[u32]) -> Vec<(usize, Option<usize>)> {
    let forward = |t: &Target| match *t {
        Target::Block {
            block, back: false, ..
        } => Some(block),
        _ => None,
    };
    let found = match &f.blocks[p].term {
        Term::Jump(t) => vec![(forward(t), Some(None))],
        Term::Branch { then, other, .. } => vec![
            (forward(then), other.block().map(Some)),
            (forward(other), then.block().map(Some)),
        ],
        _ => Vec::new(),
    };
    found
        .into_iter()
        .filter_map(|(b, other)| Some((b?, other?)))
        .filter(|&(b, _)| b != 0 && b != p && ways_in[b] == 1 && !by_number(&f.blocks[b]))
        .collect()
}

/// Does the block name registers by number at run time, in the wave?
fn by_number(block: &Block) -> bool {
    block.effects.iter().any(|&v| {
        matches!(
            block.nodes[v.index()].op,
            Op::Effect {
                f: EffectFn::ReadRelative | EffectFn::WriteRelative,
                ..
            }
        )
    })
}

/// One block and the block behind it that may get its writes.
struct Step<'a> {
    f: &'a Func,
    p: usize,
    b: usize,
    /// Registers that the other way out wants.
    wanted: Live,
    /// Registers that the block behind wants.
    live: Live,
    /// Temporary slots taken.
    temps: usize,
}

impl Step<'_> {
    /// The second block's number, both blocks, and how many temporary slots are taken then.
    fn run(&self) -> Option<(usize, Block, Block, usize)> {
        let chosen = self.choose();
        if chosen.is_empty() {
            return None;
        }
        let (first, second) = (&self.f.blocks[self.p], &self.f.blocks[self.b]);
        let build = Build::new();
        let mut copy = Copy::new(first, &build, self.temps);
        let mut late = HashMap::default();
        for &(n, v) in &chosen {
            late.insert(n, copy.value(v)?);
        }
        let carried = copy.carried;
        let second = rebuild(second, &build, &late);
        let mut first = first.clone();
        // What nobody wanted must not be wanted now by those who read the old value.
        first
            .writes_v
            .retain(|(n, _)| self.made(*n) && !late.contains_key(n));
        for (k, &v) in carried.iter().enumerate() {
            first.writes_s.push((temp(self.temps + k), v));
        }
        Some((self.b, first, second, self.temps + carried.len()))
    }

    /// Does anybody want what the first block writes to a VGPR?
    fn made(&self, n: u8) -> bool {
        self.wanted.has(n) || self.live.has(n)
    }

    /// Which writes are put off.
    fn choose(&self) -> Vec<(u8, Val)> {
        let first = &self.f.blocks[self.p];
        let writes = first.writes_v.iter().copied();
        let writes = writes.filter(|&(n, _)| self.made(n));
        let writes: Vec<(u8, Val)> = writes.collect();
        let mut chosen: Vec<(u8, Val, BTreeSet<u8>)> = Vec::new();
        for &(n, v) in &writes {
            if self.wanted.has(n) {
                continue;
            }
            let build = Build::new();
            let mut copy = Copy::new(first, &build, self.temps);
            if copy.value(v).is_some() {
                chosen.push((n, v, copy.reads));
            }
        }
        // What they read must not be written before.
        loop {
            let late: HashSet<u8> = chosen.iter().map(|&(n, ..)| n).collect();
            let early: HashSet<u8> = writes
                .iter()
                .map(|&(n, _)| n)
                .filter(|n| !late.contains(n))
                .collect();
            chosen.retain(|(_, _, reads)| reads.iter().all(|n| !early.contains(n)));
            if chosen.len() == late.len() {
                break;
            }
        }
        // All together may be too much.
        let build = Build::new();
        let mut copy = Copy::new(first, &build, self.temps);
        let all = chosen.iter().all(|&(_, v, _)| copy.value(v).is_some());
        match all {
            true => chosen.into_iter().map(|(n, v, _)| (n, v)).collect(),
            false => Vec::new(),
        }
    }
}

fn temp(n: usize) -> Slot {
    Slot::Temp(n as u8)
}

/// Values of one block computed in another, behind it.
struct Copy<'a> {
    from: &'a Block,
    to: &'a Build,
    /// Where values are at the end of the first block.
    slots: HashMap<Val, Slot>,
    written: HashSet<Slot>,
    /// Wave values carried in temporary slots, from number `first` on.
    carried: Vec<Val>,
    first: usize,
    done: HashMap<Val, Val>,
    /// VGPRs that they read.
    reads: BTreeSet<u8>,
}

impl<'a> Copy<'a> {
    fn new(from: &'a Block, to: &'a Build, first: usize) -> Copy<'a> {
        let slots = from.writes_s.iter().map(|&(slot, v)| (v, slot));
        Copy {
            from,
            to,
            slots: slots.collect(),
            written: from.writes_s.iter().map(|&(slot, _)| slot).collect(),
            carried: Vec::new(),
            first,
            done: HashMap::default(),
            reads: BTreeSet::new(),
        }
    }

    fn value(&mut self, v: Val) -> Option<Val> {
        if let Some(&done) = self.done.get(&v) {
            return Some(done);
        }
        if self.done.len() > MAX_NODES {
            return None;
        }
        let node = &self.from.nodes[v.index()];
        let new = if node.ty.vary == Vary::Wave {
            self.wave(v)?
        } else {
            self.lane(v)?
        };
        self.done.insert(v, new);
        Some(new)
    }

    fn lane(&mut self, v: Val) -> Option<Val> {
        let node = &self.from.nodes[v.index()];
        match node.op {
            Op::ReadV(n) => {
                self.reads.insert(n);
                Some(self.to.leaf(node.op, node.ty))
            }
            Op::LaneId => Some(self.to.leaf(node.op, node.ty)),
            Op::Select | Op::ExecMask => self.again(v),
            _ if node.ty.width != Width::W1 && node.op.is_address_part() => self.again(v),
            _ => None,
        }
    }

    fn again(&mut self, v: Val) -> Option<Val> {
        let node = &self.from.nodes[v.index()];
        let args: Option<Vec<Val>> = node.args.iter().map(|&a| self.value(a)).collect();
        Some(self.to.pure(node.op, &args?))
    }

    /// A wave value: from where it is, or computed again, or carried over.
    fn wave(&mut self, v: Val) -> Option<Val> {
        let node = &self.from.nodes[v.index()];
        match node.op {
            Op::Const(_) | Op::CodeAddress(_) => return Some(self.to.leaf(node.op, node.ty)),
            Op::ReadS(slot) if !self.written.contains(&slot) => {
                return Some(self.to.leaf(node.op, node.ty));
            }
            _ => {}
        }
        if let Some(&slot) = self.slots.get(&v) {
            return Some(self.to.leaf(Op::ReadS(slot), node.ty));
        }
        if let Some(pair) = self.saved(v) {
            return Some(pair);
        }
        match node.ty.width {
            _ if self.is_there(v, 8) => self.again(v),
            Width::W32 => {
                let n = self.first + self.carried.len();
                if n >= MAX_TEMPS {
                    return None;
                }
                self.carried.push(v);
                Some(self.to.leaf(Op::ReadS(temp(n)), types::W32))
            }
            _ if node.op.is_address_part() => self.again(v),
            _ => None,
        }
    }

    /// Is a wave value a sum or the like of what is there?
    fn is_there(&self, v: Val, depth: u32) -> bool {
        let node = &self.from.nodes[v.index()];
        match node.op {
            Op::Const(_) | Op::CodeAddress(_) => true,
            Op::ReadS(slot) if !self.written.contains(&slot) => true,
            _ if self.slots.contains_key(&v) => true,
            op => {
                let plain = depth > 0 && op.is_address_part();
                plain && node.args.iter().all(|&a| self.is_there(a, depth - 1))
            }
        }
    }

    /// A 64-bit value of which the guest keeps the words in two SGPRs.
    fn saved(&mut self, v: Val) -> Option<Val> {
        let word = |op: Op| {
            let all = self.from.writes_s.iter().copied();
            let half = all.filter(|&(_, w)| {
                let node = &self.from.nodes[w.index()];
                node.op == op && node.args[0] == v
            });
            half.map(|(slot, _)| slot).collect::<Vec<Slot>>()
        };
        let next = |slot: Slot| match slot {
            Slot::Sgpr(n) => n.checked_add(1).map(Slot::Sgpr),
            _ => None,
        };
        let high = word(Op::Hi);
        let low = word(Op::Lo)
            .into_iter()
            .find(|&low| next(low).is_some_and(|next| high.contains(&next)))?;
        let words = [low, next(low)?].map(|s| self.to.leaf(Op::ReadS(s), types::W32));
        Some(self.to.pure(Op::Pair, &words))
    }
}

/// A block whose reads of some VGPRs are values that `build` has.
fn rebuild(block: &Block, build: &Build, late: &HashMap<u8, Val>) -> Block {
    let effects: HashSet<Val> = block.effects.iter().copied().collect();
    let mut values: Vec<Val> = Vec::with_capacity(block.nodes.len());
    for (i, node) in block.nodes.iter().enumerate() {
        let args: Vec<Val> = node.args.iter().map(|a| values[a.index()]).collect();
        values.push(match node.op {
            Op::ReadV(n) if late.contains_key(&n) => late[&n],
            op if effects.contains(&Val(i as u32)) => build.effect(op, &args, node.ty),
            Op::Call(f, mode) => build.call(f, mode, &args),
            Op::Result(n) => build.result(args[0], n, node.ty),
            op if args.is_empty() => build.leaf(op, node.ty),
            op => build.pure(op, &args),
        });
    }
    let new = |v: Val| values[v.index()];
    let mut writes_v: Vec<(u8, Val)> = block.writes_v.iter().map(|&(n, v)| (n, new(v))).collect();
    for (&n, &v) in late {
        if !writes_v.iter().any(|&(m, _)| m == n) {
            writes_v.push((n, v));
        }
    }
    writes_v.sort_unstable_by_key(|&(n, _)| n);
    let term = match block.term.clone() {
        Term::Branch { cond, then, other } => Term::Branch {
            cond: new(cond),
            then,
            other,
        },
        Term::Indirect(v) => Term::Indirect(new(v)),
        Term::ScalarMove { site, value, next } => Term::ScalarMove {
            site,
            value: value.map(new),
            next,
        },
        term => term,
    };
    let (nodes, effects) = build.finish();
    Block {
        pc: block.pc,
        nodes,
        effects,
        execs: block.execs.iter().map(|&(v, e)| (new(v), new(e))).collect(),
        writes_s: block.writes_s.iter().map(|&(s, v)| (s, new(v))).collect(),
        writes_v,
        term,
        guest_insts: block.guest_insts,
        counts: block.counts.iter().map(|&(v, n)| (new(v), n)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_barriers_part_turns() {
        let block = |pc, term| Block {
            pc,
            nodes: Vec::new(),
            effects: Vec::new(),
            execs: Vec::new(),
            writes_s: Vec::new(),
            writes_v: Vec::new(),
            term,
            guest_insts: 1,
            counts: Vec::new(),
        };
        let to = |block| Target::Block {
            block,
            back: block == 0,
            pc: 0,
        };
        // Blocks 0 and 1 with a barrier between them, block 2 by itself, and one that ends.
        let mut f = Func::of(block(0, Term::Jump(to(1))), 0, Vec::new());
        f.blocks.push(block(4, Term::Barrier { next: to(0) }));
        f.blocks.push(block(8, Term::Jump(to(2))));
        f.blocks.push(block(12, Term::End));
        let all = |of: fn(&Func, usize) -> bool| [0, 1, 2, 3].map(|at| of(&f, at));
        assert_eq!(all(goes_round), [true, true, true, false]);
        assert_eq!(all(goes_round_at_once), [false, false, true, false]);
    }
}
