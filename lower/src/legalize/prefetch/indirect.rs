//! Prefetches at addresses that were loaded: `table[index[i]]`. Where this wave's indices lay on a line, the next
//! workgroup's lie as far on as these from the last; they are loaded now, and what they name is asked for. The
//! processor's window never reaches that far: 64 lanes that wait for memory, each a place or more, and the
//! instructions between two waves fill it.
//!
//! An element of a small table is in a cache anyhow, so lanes far apart are asked for only.

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::super::Emitter;
use super::super::affine::{self, Lane};
use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Op, Val, Vary};
use crate::maps::HashMap;
use crate::vir::{IntCC, Memory, Op as VirOp, Value, types};

/// Bytes that caches near the core hold of a table, about.
const NEAR: i64 = 1 << 18;

/// Most loads that an address is made of.
const MAX_LOADS: usize = 2;

/// What an access in the next workgroup will want.
pub(in crate::legalize) struct Indirect {
    /// Its address.
    address: Val,
    /// Where the dwords of the loads will lie that it is made of.
    starts: Vec<(Val, Value)>,
    /// Is it to be asked for (I8)?
    wanted: Value,
}

impl Emitter<'_> {
    /// Foresees what an access in the next workgroup will want at addresses that are made of dwords which this one
    /// loaded from a line, on the lanes in `exec`. The low words of its own addresses are at `low`.
    pub(in crate::legalize) fn predict(
        &mut self,
        block: &Block,
        plan: &Schedule,
        (v, exec): (Val, Value),
        low: Value,
    ) -> Option<Indirect> {
        if !self.prefetches {
            return None;
        }
        let address = block.nodes[v.index()].args[0];
        let leaves = affine::leaves(block, address)?;
        let loads = self.loads_among(block, &leaves, exec)?;
        let mut wanted = self.are_far(low);
        let (base, len) = self.memory_of(Space::Global);
        let room = self.b.iadd_imm(len, -4 * LANES as i64);
        let mut starts = Vec::new();
        for (leaf, start) in loads {
            let delta = self.moved_on(start)?;
            let there = self.b.iadd(start, delta);
            let away = self.b.isub(there, base);
            let zero = self.b.iconst(types::I64, 0);
            for (low, high) in [(zero, away), (away, room)] {
                let order = IntCC::SignedLessThanOrEqual;
                let inside = self.b.icmp(order, low, high);
                wanted = self.b.band(wanted, inside);
            }
            starts.push((leaf, there));
        }
        // They are wanted on all ways.
        for leaf in leaves {
            if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, leaf);
            }
        }
        Some(Indirect {
            address,
            starts,
            wanted,
        })
    }

    /// Asks for what so many lanes from `first` on will want. So many as a gather has, between one and the next: what the
    /// processor cannot take all at once it may forget.
    pub(in crate::legalize) fn request(
        &mut self,
        block: &Block,
        plan: &Schedule,
        foreseen: &Indirect,
        (first, lanes): (usize, usize),
    ) {
        let [asked, done] = [(); 2].map(|()| self.b.create_block());
        self.b.brif(foreseen.wanted, asked, &[], done, &[]);
        self.enter(asked);
        for lane in first..first + lanes {
            let words = foreseen.starts.iter().map(|&(leaf, start)| {
                let at = 4 * lane as i32;
                (leaf, self.b.load(types::I32, Memory::Trusted, start, at))
            });
            let mut known: HashMap<Val, Value> = words.collect();
            let spot = self.spot(Lane::Number(lane as u8));
            let there = self.at_lane(block, plan, foreseen.address, spot, &mut known);
            // More lines can be under way to the second cache than to the first.
            let into = match self.o.is_memory_far() {
                true => VirOp::PrefetchSecond,
                false => VirOp::Prefetch,
            };
            self.b.effect(into, &[there]);
        }
        self.b.jump(done, &[]);
        self.enter(done);
    }

    /// The loads among what an address is made of, if there are few and all of them are of dwords on a line, and the
    /// addresses of their first lanes.
    fn loads_among(&self, block: &Block, leaves: &[Val], exec: Value) -> Option<Vec<(Val, Value)>> {
        let mut loads = Vec::new();
        for &leaf in leaves {
            let node = &block.nodes[leaf.index()];
            match node.op {
                _ if node.ty.vary == Vary::Wave => {}
                Op::ReadV(_) => {}
                Op::Load(Space::Global | Space::Flat, Data::Dwords(1), _) => {
                    let affine = self.affine.get(&leaf)?;
                    if !affine.whole || affine.stride != 4 {
                        return None;
                    }
                    let known = |lane| self.known_at(node.args[0], lane);
                    let start = known(Lane::First(exec)).or_else(|| known(Lane::Number(0)))?;
                    loads.push((leaf, start));
                }
                _ => return None,
            }
        }
        (1..=MAX_LOADS).contains(&loads.len()).then_some(loads)
    }

    /// Are the words at `low` of the first lane and the last far apart (I8)?
    fn are_far(&mut self, low: Value) -> Value {
        let ends = [0, LANES as i32 - 1];
        let [first, last] = ends.map(|n| self.b.load(types::I32, Memory::Trusted, low, 4 * n));
        let apart = self.b.isub(last, first);
        let apart = self.b.iadd_imm(apart, NEAR);
        let far = IntCC::UnsignedGreaterThan;
        self.b.icmp_imm(far, apart, 2 * NEAR)
    }
}
