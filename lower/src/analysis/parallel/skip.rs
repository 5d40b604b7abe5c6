//! Proof that a lane group without active lanes may skip what the wave executes: with EXEC 0 at a branch on EXEC, all
//! paths from the branch to the block where its edges meet leave every register that is live there unchanged, or give
//! it the same value.

use std::collections::{BTreeMap, BTreeSet};

use super::{Parallel, Request, condition};
use crate::analysis::liveness::Live;
use crate::ir::{Block, Op, Slot, Target, Term, Val, Vary, Width};
use crate::maps::HashMap;

/// Abstract value of a scalar: those of its bits whose lanes are inactive at the branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Off {
    /// The bits of this slot at the branch.
    Old(Slot),
    /// The bits of the pair s[n:n+1] at the branch.
    OldPair(u8),
    /// Zeros.
    Zero,
    /// Ones.
    Ones,
    /// Unknown.
    Other,
}

/// Registers that may differ from their values at the branch. Slots without an entry have their old value.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    slots: BTreeMap<Slot, Off>,
    vgprs: BTreeSet<u16>,
}

impl State {
    /// Records that a slot holds a constant, if all its bits are equal.
    fn set_constant(&mut self, slot: Slot, c: u64) {
        let ones = match slot {
            Slot::Exec | Slot::Vcc => u64::MAX,
            Slot::Sgpr(_) | Slot::Temp(_) => u64::from(u32::MAX),
            Slot::Scc | Slot::Mode => return,
        };
        if c == 0 {
            self.slots.insert(slot, Off::Zero);
        } else if c == ones {
            self.slots.insert(slot, Off::Ones);
        }
    }

    fn slot(&self, slot: Slot) -> Off {
        self.slots.get(&slot).copied().unwrap_or(Off::Old(slot))
    }

    /// Joins the state of another path; returns whether this state changes.
    fn join(&mut self, other: &State) -> bool {
        let before = self.clone();
        let slots: BTreeSet<Slot> = self
            .slots
            .keys()
            .chain(other.slots.keys())
            .copied()
            .collect();
        for slot in slots {
            if self.slot(slot) != other.slot(slot) {
                self.slots.insert(slot, Off::Other);
            }
        }
        self.vgprs.extend(&other.vgprs);
        *self != before
    }
}

/// The first block of a region whose branch tests a mask such that groups may not branch independently.
pub(super) fn refused(request: Request<'_>, parallel: &Parallel) -> Option<usize> {
    let mut branches = parallel.blocks.iter().copied();
    branches.find(|&b| {
        parallel.test(request.f, b).is_some()
            && !parallel.uniform_tests.contains_key(&b)
            && !may_skip(request, parallel, b)
    })
}

/// The mask that a test is of, and whether the test is true for a mask that is not empty.
pub(crate) fn tested(block: &Block, v: Val) -> (Val, bool) {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::Not => {
            let (mask, any) = tested(block, node.args[0]);
            (mask, !any)
        }
        Op::Icmp(crate::ir::Icmp::Ne) => (node.args[0], true),
        _ => (node.args[0], false),
    }
}

/// May a group without active lanes take the edge for an empty mask at the end of block `b`, whichever edge the wave
/// takes?
fn may_skip(request: Request<'_>, parallel: &Parallel, b: usize) -> bool {
    let f = request.f;
    let block = &f.blocks[b];
    let cond = condition(&block.term).expect("bug: a block that tests nothing");
    let (mask, _) = tested(block, cond);
    let written = block.writes_s.iter().find(|w| w.0 == Slot::Exec);
    let is_exec = match written {
        Some(&(_, exec)) => exec == mask,
        None => block.nodes[mask.index()].op == Op::ReadS(Slot::Exec),
    };
    if !is_exec {
        return false;
    }
    let mut state = State::default();
    let constants = request.facts.at_block(b).map(|entry| &entry.constants);
    for (&slot, &c) in constants.into_iter().flatten() {
        state.set_constant(slot, c);
    }
    for &(slot, v) in &block.writes_s {
        state.slots.remove(&slot);
        if let Op::Const(c) = block.nodes[v.index()].op {
            state.set_constant(slot, c);
        }
    }
    state.slots.insert(Slot::Exec, Off::Zero);
    for &(slot, v) in &block.writes_s {
        let node = &block.nodes[v.index()];
        if v == mask || matches!(node.op, Op::Lo | Op::Hi) && node.args[0] == mask {
            state.slots.insert(slot, Off::Zero);
        }
    }
    let exit = parallel.exit.block();
    let meet = meeting(request, parallel, b);
    let mut states: BTreeMap<usize, State> = BTreeMap::new();
    let mut work = Vec::new();
    let go =
        |states: &mut BTreeMap<usize, State>, work: &mut Vec<usize>, term: &Term, state: &State| {
            for to in term.targets().filter_map(|t: Target| t.block()) {
                let changed = match states.get_mut(&to) {
                    Some(there) => there.join(state),
                    None => {
                        states.insert(to, state.clone());
                        true
                    }
                };
                if changed && Some(to) != meet && Some(to) != exit {
                    work.push(to);
                }
            }
        };
    go(&mut states, &mut work, &block.term, &state);
    while let Some(at) = work.pop() {
        let before = states[&at].clone();
        let Some(end) = through(&f.blocks[at], &before, &request.lives.end[at]) else {
            return false;
        };
        go(&mut states, &mut work, &f.blocks[at].term, &end);
    }
    let Some(end) = meet.or(exit) else {
        return false;
    };
    states
        .get(&end)
        .is_some_and(|state| is_unchanged(state, &request.lives.start[end]))
}

/// Does every live register have one value on all paths from the branch?
fn is_unchanged(state: &State, live: &Live) -> bool {
    let mut slots = state.slots.iter();
    let slots = slots.all(|(&slot, &off)| off != Off::Other || !live.has_slot(slot));
    slots && state.vgprs.iter().all(|&n| !live.has(n))
}

/// The block of the region in which the edges of block `b` meet: its immediate postdominator. `None` if that is the
/// region's exit.
fn meeting(request: Request<'_>, parallel: &Parallel, b: usize) -> Option<usize> {
    let f = request.f;
    let place: BTreeMap<usize, usize> = parallel
        .blocks
        .iter()
        .enumerate()
        .map(|(n, &b)| (b, n))
        .collect();
    // By block: its strict postdominators in the region as bits of their positions (at most MAX_BLOCKS); the exit
    // has none.
    let all = u128::MAX;
    let mut after = vec![all; parallel.blocks.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for (n, &at) in parallel.blocks.iter().enumerate().rev() {
            let mut common = all;
            for to in f.blocks[at].term.targets().filter_map(|t| t.block()) {
                common &= place.get(&to).map_or(0, |&p| after[p] | 1 << p);
            }
            if after[n] != common {
                after[n] = common;
                changed = true;
            }
        }
    }
    let own = after[place[&b]];
    // The nearest candidate is postdominated by all the others.
    let mut candidates =
        (0..parallel.blocks.len()).filter(|&n| own >> n & 1 != 0 && n != place[&b]);
    candidates
        .find(|&n| own & !(1 << n) & !after[n] == 0)
        .map(|n| parallel.blocks[n])
}

/// The state at a block's end; `None` if an effect of the block may act on inactive lanes.
fn through(block: &Block, before: &State, live: &Live) -> Option<State> {
    let mut known = HashMap::default();
    let mut eval = Eval {
        block,
        before,
        known: &mut known,
    };
    for &v in &block.effects {
        match block.nodes[v.index()].op {
            Op::Load(..) | Op::ScalarLoad(..) => {}
            Op::Store(..) if eval.is_off(block.nodes[v.index()].args[1]) => {}
            _ => return None,
        }
    }
    let mut after = before.clone();
    for &(slot, v) in &block.writes_s {
        if live.has_slot(slot) {
            let off = eval.scalar(v);
            after.slots.insert(slot, off);
        } else {
            after.slots.insert(slot, Off::Other);
        }
    }
    for &(n, v) in &block.writes_v {
        if live.has(n) && !eval.is_kept(n, v) {
            after.vgprs.insert(n);
        }
    }
    Some(after)
}

struct Eval<'a> {
    block: &'a Block,
    before: &'a State,
    known: &'a mut HashMap<Val, Off>,
}

impl Eval<'_> {
    /// Does a VGPR keep its value in the inactive lanes?
    fn is_kept(&mut self, n: u16, v: Val) -> bool {
        let node = &self.block.nodes[v.index()];
        match node.op {
            Op::ReadV(m) => m == n,
            // Nobody reads it.
            Op::Undef => true,
            Op::Select => self.is_off(node.args[0]) && self.is_kept(n, node.args[2]),
            _ => false,
        }
    }

    /// Is a lane mask false in the inactive lanes?
    fn is_off(&mut self, v: Val) -> bool {
        let node = &self.block.nodes[v.index()];
        match node.op {
            Op::ExecMask | Op::MaskFromBits => self.scalar(node.args[0]) == Off::Zero,
            Op::And => node.args.iter().any(|&a| self.is_off(a)),
            _ => false,
        }
    }

    fn scalar(&mut self, v: Val) -> Off {
        if let Some(&off) = self.known.get(&v) {
            return off;
        }
        let off = self.compute(v);
        self.known.insert(v, off);
        off
    }

    fn compute(&mut self, v: Val) -> Off {
        let node = &self.block.nodes[v.index()];
        if node.ty.vary != Vary::Wave {
            return Off::Other;
        }
        let args = &node.args;
        match node.op {
            Op::ReadS(slot) => self.before.slot(slot),
            Op::Const(0) => Off::Zero,
            Op::Const(u64::MAX) => Off::Ones,
            Op::Const(c) if c == u64::from(u32::MAX) && node.ty.width == Width::W32 => Off::Ones,
            Op::Pair => match (self.scalar(args[0]), self.scalar(args[1])) {
                (Off::Old(Slot::Sgpr(n)), Off::Old(Slot::Sgpr(m)))
                    if n.checked_add(1) == Some(m) =>
                {
                    Off::OldPair(n)
                }
                (Off::Zero, Off::Zero) => Off::Zero,
                (Off::Ones, Off::Ones) => Off::Ones,
                _ => Off::Other,
            },
            Op::Lo => match self.scalar(args[0]) {
                Off::OldPair(n) => Off::Old(Slot::Sgpr(n)),
                same @ (Off::Zero | Off::Ones) => same,
                Off::Old(_) | Off::Other => Off::Other,
            },
            Op::Hi => match self.scalar(args[0]) {
                Off::OldPair(n) => Off::Old(Slot::Sgpr(n + 1)),
                same @ (Off::Zero | Off::Ones) => same,
                Off::Old(_) | Off::Other => Off::Other,
            },
            Op::Ballot => match self.is_off(args[0]) {
                true => Off::Zero,
                false => match self.block.nodes[args[0].index()].op {
                    Op::MaskFromBits | Op::ExecMask => {
                        let mask = self.block.nodes[args[0].index()].args[0];
                        self.scalar(mask)
                    }
                    _ => Off::Other,
                },
            },
            Op::Not => match self.scalar(args[0]) {
                Off::Zero => Off::Ones,
                Off::Ones => Off::Zero,
                _ => Off::Other,
            },
            Op::And => match (self.scalar(args[0]), self.scalar(args[1])) {
                (Off::Zero, _) | (_, Off::Zero) => Off::Zero,
                (Off::Ones, other) | (other, Off::Ones) => other,
                (a, b) if a == b => a,
                _ => Off::Other,
            },
            Op::Or => match (self.scalar(args[0]), self.scalar(args[1])) {
                (Off::Ones, _) | (_, Off::Ones) => Off::Ones,
                (Off::Zero, other) | (other, Off::Zero) => other,
                (a, b) if a == b => a,
                _ => Off::Other,
            },
            Op::Xor => match (self.scalar(args[0]), self.scalar(args[1])) {
                (Off::Zero, other) | (other, Off::Zero) => other,
                (a, b) if a == b && a != Off::Other => Off::Zero,
                _ => Off::Other,
            },
            Op::Select => match (self.scalar(args[1]), self.scalar(args[2])) {
                (a, b) if a == b => a,
                _ => Off::Other,
            },
            _ => Off::Other,
        }
    }
}
