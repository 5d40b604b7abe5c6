//! Deferred prefetches. A wave that requests all lines at once stalls until the earlier ones
//! arrive: about [`BURST`](super::BURST) can be outstanding. In straight code with barriers in
//! between, the blocks behind that of the loads each request a share.

use std::mem::offset_of;

use frontend::op::Space;
use frontend::state::{LANES, LAST, WaveState};

use super::super::fuse::Fused;
use super::super::{BlockFacts, Code, Prefetches, Region, offset32};
use super::{LINE, Prefetch, lines};
use crate::analysis::uniformity::{Affine, Facts};
use crate::ir::{Func, Op, Term, Val};
use crate::passes::sink;
use crate::vir::{Memory, Op as VirOp, Value, types};

/// Consecutive cache lines.
struct Lines {
    /// The entry of [`WaveState::next`] that they are relative to.
    entry: usize,
    /// Offset of the first line.
    away: i64,
    count: i64,
    into: VirOp,
}

/// Lines not requested yet, and the blocks that will.
#[derive(Default)]
pub(in crate::legalize) struct Deferred {
    lines: Vec<Lines>,
    /// The blocks that request them.
    blocks: Vec<usize>,
    /// Number of lines that the current block requests.
    share_size: i64,
    /// Stores at the end whose lines earlier blocks request.
    stores: Vec<Stores>,
}

impl Deferred {
    /// Number of entries of [`WaveState::last`] reserved for stores.
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

/// Minimum number of barriers that all waves reach: with fewer, each block would request as many
/// lines as there were at once (two stencil kernels take 5 % longer with two).
const FEWEST: usize = 4;

/// Maximum number of entries for stores.
const MOST_STORES: usize = 4;

/// Requests of a loop over the lanes in each iteration.
pub(in crate::legalize) struct Requested {
    first: Value,
    into: VirOp,
}

/// The blocks that each wave passes behind a block, without those of loops.
fn behind(f: &Func, block: usize) -> Vec<usize> {
    let mut found = vec![block];
    while let Some(&at) = found.last()
        && let Some(next) = next(f, at)
        && !found.contains(&next)
    {
        found.push(next);
    }
    found.retain(|&at| at != block && !sink::is_in_loop(f, at));
    found
}

/// Do a block and those that each wave passes behind it share requests?
fn share_lines(f: &Func, block: usize, behind: &[usize]) -> bool {
    let all = behind.iter().chain([&block]);
    let barriers = all.filter(|&&at| matches!(f.blocks[at].term, Term::Barrier { .. }));
    barriers.count() >= FEWEST
}

/// The common successor of a block's exits, across branches around a block or two.
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

/// The blocks reachable from a block, without those of loops.
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
    found.retain(|&at| at != from && !sink::is_in_loop(f, at));
    found
}

impl Code<'_> {
    /// Emits the requests in the iteration of the group whose first lane is `lane`.
    pub(in crate::legalize) fn request_at(
        &mut self,
        requested: &[Requested],
        lane: Value,
        group: usize,
    ) {
        for requested in requested {
            let bytes = self.b.imul_imm(lane, LINE / group as i64);
            let at = self.b.iadd(requested.first, bytes);
            self.b.effect(requested.into, &[at]);
        }
    }

    /// Records a predicted address.
    fn keep_next(&mut self, ahead: Prefetch) {
        let at = next_at(ahead.entry);
        self.b
            .store(Memory::Trusted, ahead.start, self.region.wave(), at);
    }
}

impl Prefetches {
    /// Finds the stores behind the last of several barriers, so that earlier blocks can request
    /// their lines.
    pub(in crate::legalize) fn find_last_stores(&mut self, region: &Region<'_>, facts: &Facts) {
        let barrier = |&at: &usize| {
            let barrier = matches!(region.func().blocks[at].term, Term::Barrier { .. });
            barrier && !sink::is_in_loop(region.func(), at)
        };
        let Some(first) = (0..region.func().blocks.len()).find(barrier) else {
            return;
        };
        let blocks = behind(region.func(), first);
        if !share_lines(region.func(), first, &blocks) {
            return;
        }
        let last = blocks.iter().rev().find(|at| barrier(at));
        for block in reached(region.func(), *last.unwrap_or(&first)) {
            self.find_stores(region, block, facts);
        }
        self.deferred.blocks = blocks;
    }

    /// Finds the affine stores of a block.
    fn find_stores(&mut self, region: &Region<'_>, number: usize, facts: &Facts) {
        let block = &region.func().blocks[number];
        let mut block_facts = BlockFacts::default();
        block_facts.learn(region, number, block, facts);
        let stores = block.effects.iter().filter(|&&v| {
            let store = matches!(
                block.nodes[v.index()].op,
                Op::Store(Space::Global | Space::Flat, ..)
            );
            let affine = block_facts.affine(v);
            store && affine.is_some_and(|a| a.whole && lines(a.stride, LANES).0 == LINE)
        });
        let mut stores: Vec<Fused> = stores.map(|&v| block_facts.access_of(block, v)).collect();
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
            let mut requested = deferred.lines.iter().filter(|lines| lines.entry == entry);
            if requested.all(|lines| away - lines.away >= LINE) {
                deferred.lines.push(Lines {
                    entry,
                    away,
                    count: lines(affine.stride, LANES).1,
                    into: VirOp::Prefetch,
                });
            }
        }
    }

    /// Begins a block, which requests its share.
    pub(super) fn begin_share(&mut self, block: usize) {
        let deferred = &mut self.deferred;
        let at = deferred.blocks.iter().position(|&waits| waits == block);
        deferred.share_size = at.map_or(0, |at| {
            let lines: i64 = deferred.lines.iter().map(|lines| lines.count).sum();
            let blocks = (deferred.blocks.len() - at) as i64;
            (lines + blocks - 1) / blocks
        });
    }

    /// Defers the lines of a predicted access, at `offset` with lanes `stride` apart, to the
    /// following blocks, if any.
    pub(in crate::legalize) fn defer(
        &mut self,
        code: &mut Code<'_>,
        ahead: Prefetch,
        offset: i32,
        stride: i64,
    ) -> bool {
        if sink::is_in_loop(code.region.func(), self.block) {
            return false;
        }
        let blocks = behind(code.region.func(), self.block);
        let (step, count) = lines(stride, LANES);
        if step != LINE || !share_lines(code.region.func(), self.block, &blocks) {
            return false;
        }
        code.keep_next(ahead);
        self.deferred.blocks = blocks;
        self.deferred.lines.push(Lines {
            entry: ahead.entry,
            away: offset.into(),
            count,
            into: ahead.into,
        });
        true
    }

    /// The requests of a loop's iterations over groups of this number of lanes.
    pub(in crate::legalize) fn share(
        &mut self,
        code: &mut Code<'_>,
        group: usize,
    ) -> Vec<Requested> {
        let iterations = (LANES / group) as i64;
        let mut requested = Vec::new();
        while self.in_block
            && self.deferred.share_size > 0
            && let Some(lines) = self.deferred.lines.first_mut()
        {
            let (entry, away, into) = (lines.entry, lines.away, lines.into);
            lines.away += iterations * LINE;
            lines.count -= iterations;
            if lines.count <= 0 {
                self.deferred.lines.remove(0);
            }
            self.deferred.share_size -= iterations;
            let at = next_at(entry);
            let start = code
                .b
                .load(types::I64, Memory::Trusted, code.region.wave(), at);
            let first = code.b.iadd_imm(start, away);
            requested.push(Requested { first, into });
        }
        requested
    }

    /// Predicts the accesses, the first lane of the first one at `first`, if earlier blocks request
    /// their lines.
    pub(in crate::legalize) fn predict_stores(
        &mut self,
        code: &mut Code<'_>,
        first: Value,
        access: &Fused,
    ) -> bool {
        let key = (self.block, access.base, access.affine);
        let mut stores = self.deferred.stores.iter();
        let Some(stores) = stores.find(|s| (s.block, s.base, s.affine) == key) else {
            return false;
        };
        let entry = stores.entry;
        if self.in_block {
            let ahead = code.predict_in(entry, first, access.affine);
            code.keep_next(ahead);
        }
        true
    }
}

/// Offset of an entry of [`WaveState::next`].
fn next_at(entry: usize) -> i32 {
    offset32(offset_of!(WaveState, next) + size_of::<u64>() * entry)
}
