//! Sinks register writes into the block that reads them. A kernel often begins with a block that
//! computes addresses from the work-item's number, compares the number with a bound, and branches
//! around the rest. At their original position the addresses are stored to memory in a loop over
//! the lanes; sunk behind the branch, they are parts of the address expressions there, which loads
//! and stores evaluate for one or two lanes only.
//!
//! A write is sunk if the register is not live on the other exit of its block, if the target block
//! has no other predecessor, and if its value is integer arithmetic on registers that are unchanged
//! at the target. Scalars that the guest has overwritten meanwhile are passed in [`Slot::Temp`].

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::{Analysed, rebuild};
use crate::analysis::liveness::{Live, Lives};
use crate::ir::build::{Build, types};
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Func, Node, Op, Slot, Target, Term, Val, Vary, Width};
use crate::maps::{HashMap, HashSet};

/// Maximum number of values recomputed in the other block.
const MAX_NODES: usize = 96;

/// Maximum number of temporary slots of a region.
const MAX_TEMPS: usize = 48;

/// Runs the pass.
pub(super) fn run(region: &mut Analysed<'_>) {
    let (sunk, lives) = sink(&region.func, std::mem::take(&mut region.lives));
    region.lives = lives;
    if let Some(sunk) = sunk {
        region.func = Cow::Owned(sunk);
    }
}

/// Sinks writes in a region with this liveness. Returns the changed region, if any, and its
/// liveness.
pub fn sink(f: &Func, mut lives: Lives) -> (Option<Func>, Lives) {
    let mut out: Option<Func> = None;
    let mut temps = 0;
    // Control flow does not change.
    let mut pred_counts = vec![0; f.blocks.len()];
    for to in f.blocks.iter().flat_map(next) {
        pred_counts[to] += 1;
    }
    for p in 0..f.blocks.len() {
        let now = out.as_ref().unwrap_or(f);
        if now.blocks[p].writes_v.is_empty() {
            continue;
        }
        let candidates = candidates(now, p, &pred_counts);
        if candidates.is_empty() || is_in_loop(now, p) {
            continue;
        }
        let mut sunk = None;
        for (b, other) in candidates {
            let live_other = other.map_or(Live::default(), |other| lives.start[other]);
            let step = Step {
                f: now,
                p,
                b,
                live_other,
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
            lives.update(f, b);
        }
    }
    (out, lives)
}

/// Is a block in a cycle?
pub(crate) fn is_in_loop(f: &Func, from: usize) -> bool {
    is_in_loop_through(f, from, |_| true)
}

/// Is a block in a cycle without a barrier?
pub(crate) fn goes_round_at_once(f: &Func, from: usize) -> bool {
    is_in_loop_through(f, from, |block| !matches!(block.term, Term::Barrier { .. }))
}

/// Is a block in a cycle through blocks for which `passes` holds?
fn is_in_loop_through(f: &Func, from: usize, passes: impl Fn(&Block) -> bool) -> bool {
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

/// Blocks whose only predecessor is block `p`, each with the other successor.
fn candidates(f: &Func, p: usize, pred_counts: &[u32]) -> Vec<(usize, Option<usize>)> {
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
        .filter(|&(b, _)| b != 0 && b != p && pred_counts[b] == 1 && !by_number(&f.blocks[b]))
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

/// A block and the successor that may receive its writes.
struct Step<'a> {
    f: &'a Func,
    p: usize,
    b: usize,
    /// Registers live on the other exit.
    live_other: Live,
    /// Registers live at the start of the successor.
    live: Live,
    /// Number of temporary slots in use.
    temps: usize,
}

impl Step<'_> {
    /// The successor's number, both blocks, and the number of temporary slots in use afterwards.
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
        let second = replace_reads(second, &build, &late);
        let mut first = first.clone();
        // Drops dead and sunk writes so that their old values do not become live.
        first
            .writes_v
            .retain(|(n, _)| self.is_live(*n) && !late.contains_key(n));
        for (k, &v) in carried.iter().enumerate() {
            first.writes_s.push((temp(self.temps + k), v));
        }
        Some((self.b, first, second, self.temps + carried.len()))
    }

    /// Is the first block's write of a VGPR live?
    fn is_live(&self, n: u16) -> bool {
        self.live_other.has(n) || self.live.has(n)
    }

    /// The writes to sink.
    fn choose(&self) -> Vec<(u16, Val)> {
        let first = &self.f.blocks[self.p];
        let writes = first.writes_v.iter().copied();
        let writes = writes.filter(|&(n, _)| self.is_live(n));
        let writes: Vec<(u16, Val)> = writes.collect();
        let mut chosen: Vec<(u16, Val, BTreeSet<u16>)> = Vec::new();
        for &(n, v) in &writes {
            if self.live_other.has(n) {
                continue;
            }
            let build = Build::new();
            let mut copy = Copy::new(first, &build, self.temps);
            if copy.value(v).is_some() {
                chosen.push((n, v, copy.reads));
            }
        }
        // Their operands must not be written before.
        loop {
            let late: HashSet<u16> = chosen.iter().map(|&(n, ..)| n).collect();
            let early: HashSet<u16> = writes
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

/// Recomputes values of one block in its successor.
struct Copy<'a> {
    from: &'a Block,
    to: &'a Build,
    /// Slots of values at the end of the first block.
    slots: HashMap<Val, Slot>,
    written: HashSet<Slot>,
    /// Wave values passed in temporary slots, from number `first` on.
    carried: Vec<Val>,
    first: usize,
    done: HashMap<Val, Val>,
    /// VGPRs that the values read.
    reads: BTreeSet<u16>,
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
            Op::Select | Op::ExecMask => self.recompute(v),
            _ if node.ty.width != Width::W1 && node.op.is_address_part() => self.recompute(v),
            _ => None,
        }
    }

    fn recompute(&mut self, v: Val) -> Option<Val> {
        let node = &self.from.nodes[v.index()];
        let args: Option<Vec<Val>> = node.args.iter().map(|&a| self.value(a)).collect();
        Some(self.to.pure(node.op, &args?))
    }

    /// A wave value: read from its slot, recomputed, or passed in a temporary slot.
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
            _ if self.is_available(v, 8) => self.recompute(v),
            Width::W32 => {
                let n = self.first + self.carried.len();
                if n >= MAX_TEMPS {
                    return None;
                }
                self.carried.push(v);
                Some(self.to.leaf(Op::ReadS(temp(n)), types::W32))
            }
            _ if node.op.is_address_part() => self.recompute(v),
            _ => None,
        }
    }

    /// Is a wave value cheap arithmetic on available values?
    fn is_available(&self, v: Val, depth: u32) -> bool {
        let node = &self.from.nodes[v.index()];
        match node.op {
            Op::Const(_) | Op::CodeAddress(_) => true,
            Op::ReadS(slot) if !self.written.contains(&slot) => true,
            _ if self.slots.contains_key(&v) => true,
            op => {
                let plain = depth > 0 && op.is_address_part();
                plain && node.args.iter().all(|&a| self.is_available(a, depth - 1))
            }
        }
    }

    /// A 64-bit value whose words the guest keeps in two SGPRs.
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

/// A block with reads of some VGPRs replaced by values in `build`.
fn replace_reads(block: &Block, build: &Build, late: &HashMap<u16, Val>) -> Block {
    let replace = |_, node: &Node, _: &[Val]| match node.op {
        Op::ReadV(n) => late.get(&n).copied(),
        _ => None,
    };
    let mut block = rebuild::block(block, build, replace, |v, values| values[v.index()]);
    for (&n, &v) in late {
        if !block.writes_v.iter().any(|&(m, _)| m == n) {
            block.writes_v.push((n, v));
        }
    }
    block.writes_v.sort_unstable_by_key(|&(n, _)| n);
    block
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_barriers_split_loops() {
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
            outcomes: Vec::new(),
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
        assert_eq!(all(is_in_loop), [true, true, true, false]);
        assert_eq!(all(goes_round_at_once), [false, false, true, false]);
    }
}
