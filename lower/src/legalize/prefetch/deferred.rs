//! Lines that are asked for later. A wave that asks for all it wants at once waits until the lines before are there: about
//! [`BURST`](super::BURST) can be under way. In code that all waves go through, a block behind the other, with barriers in
//! between, the blocks behind that of the loads ask for some of them each.

use std::mem::offset_of;

use frontend::op::Space;
use frontend::state::{LANES, LAST, WaveState};

use super::super::fuse::Fused;
use super::super::{Emitter, offset32};
use super::{LINE, Prefetch, lines};
use crate::analysis::uniformity::{Affine, Facts};
use crate::ir::{Func, Op, Term, Val};
use crate::passes::sink;
use crate::vir::{Memory, Op as VirOp, Value, types};

/// Lines that follow one another.
struct Lines {
    /// Entry of [`WaveState::next`] that they count from.
    entry: usize,
    /// How far the first one is from there.
    away: i64,
    count: i64,
    into: VirOp,
}

/// What blocks have not asked for, and who will.
#[derive(Default)]
pub(in crate::legalize) struct Deferred {
    lines: Vec<Lines>,
    /// The blocks that wait for it.
    blocks: Vec<usize>,
    /// How many lines the block being emitted is to ask for.
    wanted: i64,
    /// Stores at the end that blocks before it ask for.
    stores: Vec<Stores>,
}

impl Deferred {
    /// How many entries of [`WaveState::last`] are kept free for stores.
    pub(super) fn entries(&self) -> usize {
        self.stores.len()
    }
}

/// Stores that differ by constants only.
struct Stores {
    block: usize,
    base: Val,
    affine: Affine,
    /// Their entry of [`WaveState::last`].
    entry: usize,
}

/// Barriers that all waves come to at least: between few, blocks would have as many lines each as there were at once
/// (`heat-256` and `blur-4096` take 5 % more with two).
const FEWEST: usize = 4;

/// Entries for stores at most.
const MOST_STORES: usize = 4;

/// What a loop over the lanes asks for in each iteration.
pub(in crate::legalize) struct Requested {
    first: Value,
    into: VirOp,
}

/// The blocks that each wave goes through behind a block, those of loops left out.
fn behind(f: &Func, block: usize) -> Vec<usize> {
    let mut found = vec![block];
    while let Some(&at) = found.last()
        && let Some(next) = next(f, at)
        && !found.contains(&next)
    {
        found.push(next);
    }
    found.retain(|&at| at != block && !sink::goes_round(f, at));
    found
}

/// Do a block and those that each wave goes through behind it share lines?
fn share_lines(f: &Func, block: usize, behind: &[usize]) -> bool {
    let all = behind.iter().chain([&block]);
    let barriers = all.filter(|&&at| matches!(f.blocks[at].term, Term::Barrier { .. }));
    barriers.count() >= FEWEST
}

/// The block that all ways out of a block lead to, of those that branch around a block or two.
fn next(f: &Func, block: usize) -> Option<usize> {
    let only = |at: usize| match f.blocks[at].term {
        Term::Jump(next) => next.block(),
        _ => None,
    };
    match f.blocks[block].term {
        Term::Jump(next) | Term::Barrier { next } => next.block(),
        Term::Branch { then, other, .. } => {
            let (then, other) = (then.block()?, other.block()?);
            if only(other) == Some(then) {
                return Some(then);
            }
            only(then).filter(|&next| next == other || only(other) == Some(next))
        }
        _ => None,
    }
}

/// The blocks that a block leads to, those of loops left out.
fn reached(f: &Func, from: usize) -> Vec<usize> {
    let mut found = vec![from];
    let mut done = 0;
    while let Some(&at) = found.get(done) {
        done += 1;
        for target in f.blocks[at].term.targets().filter_map(|t| t.block()) {
            if !found.contains(&target) {
                found.push(target);
            }
        }
    }
    found.retain(|&at| at != from && !sink::goes_round(f, at));
    found
}

impl Emitter<'_> {
    /// Finds what is stored behind the last of some barriers, so that blocks before can ask for the lines.
    pub(in crate::legalize) fn find_last_stores(&mut self, facts: &Facts) {
        let barrier = |&at: &usize| {
            let barrier = matches!(self.f.blocks[at].term, Term::Barrier { .. });
            barrier && !sink::goes_round(self.f, at)
        };
        let Some(first) = (0..self.f.blocks.len()).find(barrier) else {
            return;
        };
        let blocks = behind(self.f, first);
        if !share_lines(self.f, first, &blocks) {
            return;
        }
        let last = blocks.iter().rev().find(|at| barrier(at));
        for block in reached(self.f, *last.unwrap_or(&first)) {
            self.find_stores(block, facts);
        }
        self.deferred.blocks = blocks;
    }

    /// Finds what a block stores at lines.
    fn find_stores(&mut self, number: usize, facts: &Facts) {
        let block = &self.f.blocks[number];
        self.learn(number, block, facts);
        let stores = block.effects.iter().filter(|&&v| {
            let store = matches!(
                block.nodes[v.index()].op,
                Op::Store(Space::Global | Space::Flat, ..)
            );
            let affine = self.affine.get(&v);
            store && affine.is_some_and(|a| a.whole && lines(a.stride, LANES).0 == LINE)
        });
        let mut stores: Vec<Fused> = stores.map(|&v| self.access_of(block, v)).collect();
        stores.sort_by_key(|store| store.offset);
        let deferred = &mut self.deferred;
        for store in stores {
            let (base, affine) = (store.base, store.affine);
            let key = (number, base, affine);
            let mut known = deferred.stores.iter();
            let entry = match known.find(|s| (s.block, s.base, s.affine) == key) {
                Some(stores) => stores.entry,
                None if deferred.stores.len() == MOST_STORES => break,
                None => {
                    let entry = LAST - 1 - deferred.stores.len();
                    deferred.stores.push(Stores {
                        block: number,
                        base,
                        affine,
                        entry,
                    });
                    entry
                }
            };
            let away = i64::from(store.offset);
            let mut asked = deferred.lines.iter().filter(|lines| lines.entry == entry);
            if asked.all(|lines| away - lines.away >= LINE) {
                deferred.lines.push(Lines {
                    entry,
                    away,
                    count: lines(affine.stride, LANES).1,
                    into: VirOp::Prefetch,
                });
            }
        }
    }

    /// Expects accesses, the first lane of the first one at `first`, if blocks before this one ask for their lines.
    pub(in crate::legalize) fn expect_stores(&mut self, first: Value, access: &Fused) -> bool {
        let key = (self.current, access.base, access.affine);
        let mut stores = self.deferred.stores.iter();
        let Some(stores) = stores.find(|s| (s.block, s.base, s.affine) == key) else {
            return false;
        };
        let entry = stores.entry;
        if self.prefetches {
            let ahead = self.expect_in(entry, first, access.affine);
            self.keep_next(ahead);
        }
        true
    }

    /// Keeps where an access is expected.
    fn keep_next(&mut self, ahead: Prefetch) {
        let at = next_at(ahead.entry);
        self.b.store(Memory::Trusted, ahead.start, self.wave, at);
    }

    /// Leaves the lines of an access that is expected, `offset` from there with lanes `stride` apart, to the blocks behind
    /// this one, if there are such.
    pub(in crate::legalize) fn defer(&mut self, ahead: Prefetch, offset: i32, stride: i64) -> bool {
        if sink::goes_round(self.f, self.current) {
            return false;
        }
        let blocks = behind(self.f, self.current);
        let (step, count) = lines(stride, LANES);
        if step != LINE || !share_lines(self.f, self.current, &blocks) {
            return false;
        }
        self.keep_next(ahead);
        self.deferred.blocks = blocks;
        self.deferred.lines.push(Lines {
            entry: ahead.entry,
            away: offset.into(),
            count,
            into: ahead.into,
        });
        true
    }

    /// Begins a block, which asks for its share.
    pub(in crate::legalize) fn begin_share(&mut self, block: usize) {
        let deferred = &mut self.deferred;
        let at = deferred.blocks.iter().position(|&waits| waits == block);
        deferred.wanted = at.map_or(0, |at| {
            let lines: i64 = deferred.lines.iter().map(|lines| lines.count).sum();
            let blocks = (deferred.blocks.len() - at) as i64;
            (lines + blocks - 1) / blocks
        });
    }

    /// What the iterations of a loop over groups of so many lanes ask for.
    pub(in crate::legalize) fn share(&mut self, group: usize) -> Vec<Requested> {
        let turns = (LANES / group) as i64;
        let mut asked = Vec::new();
        while self.prefetches
            && self.deferred.wanted > 0
            && let Some(lines) = self.deferred.lines.first_mut()
        {
            let (entry, away, into) = (lines.entry, lines.away, lines.into);
            lines.away += turns * LINE;
            lines.count -= turns;
            if lines.count <= 0 {
                self.deferred.lines.remove(0);
            }
            self.deferred.wanted -= turns;
            let at = next_at(entry);
            let start = self.b.load(types::I64, Memory::Trusted, self.wave, at);
            let first = self.b.iadd_imm(start, away);
            asked.push(Requested { first, into });
        }
        asked
    }

    /// Asks for it in the iteration of the group whose first lane is `lane`.
    pub(in crate::legalize) fn request_at(
        &mut self,
        asked: &[Requested],
        lane: Value,
        group: usize,
    ) {
        for asked in asked {
            let bytes = self.b.imul_imm(lane, LINE / group as i64);
            let at = self.b.iadd(asked.first, bytes);
            self.b.effect(asked.into, &[at]);
        }
    }
}

/// Where an entry of [`WaveState::next`] is.
fn next_at(entry: usize) -> i32 {
    offset32(offset_of!(WaveState, next) + size_of::<u64>() * entry)
}
