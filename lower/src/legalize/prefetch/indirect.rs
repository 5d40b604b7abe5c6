//! Prefetches at indirect addresses: `table[index[i]]`. Where this wave's indices are affine in
//! memory, the next workgroup's are as far ahead as these are from the previous one's; they are
//! loaded now, and the elements they select are prefetched. The out-of-order window never reaches
//! that far: 64 lanes that wait for memory, and the instructions between two waves fill it.
//!
//! Elements of a small table are cached anyway, so only lanes far apart are prefetched.

use frontend::op::{Data, Space};
use frontend::state::LANES;

use super::super::affine::{self, Lane};
use super::super::{Code, Emitter};
use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Op, Val, Vary, Width};
use crate::maps::HashMap;
use crate::vir::{IntCC, Memory, Op as VirOp, Value, types};

/// Approximate number of bytes of a table that the core's caches hold.
const NEAR: i64 = 1 << 18;

/// Maximum number of loads in an address.
const MAX_LOADS: usize = 2;

/// The predicted access of the next workgroup.
pub(in crate::legalize) struct Indirect {
    /// Its address.
    address: Val,
    /// The addresses of the dwords loaded for it.
    starts: Vec<(Val, Value)>,
    /// Is it to be requested (I8)?
    requested: Value,
}

impl Code<'_> {
    /// Are the words at `low` of the first and the last lane far apart (I8)?
    fn are_far(&mut self, low: Value) -> Value {
        let ends = [0, LANES as i32 - 1];
        let [first, last] = ends.map(|n| self.b.load(types::I32, Memory::Trusted, low, 4 * n));
        let apart = self.b.isub(last, first);
        let apart = self.b.iadd_imm(apart, NEAR);
        let far = IntCC::UnsignedGreaterThan;
        self.b.icmp_imm(far, apart, 2 * NEAR)
    }
}

impl Emitter<'_> {
    /// Predicts an access of the next workgroup whose addresses are computed from dwords that this
    /// one loaded at affine addresses, on the lanes in `exec`. The low words of its own addresses
    /// are at `low`.
    pub(in crate::legalize) fn predict(
        &mut self,
        block: &Block,
        plan: &Schedule,
        (v, exec): (Val, Value),
        low: Value,
    ) -> Option<Indirect> {
        if !self.prefetches.in_block {
            return None;
        }
        let address = block.nodes[v.index()].args[0];
        if block.nodes[address.index()].ty.width != Width::W64 {
            // LDS is near.
            return None;
        }
        let leaves = affine::leaves(block, address)?;
        let loads = self.loads_among(block, &leaves, exec)?;
        let mut requested = self.code.are_far(low);
        let (base, len) = self.code.memory_of(Space::Global, true);
        let room = self.code.b.iadd_imm(len, -4 * LANES as i64);
        let mut starts = Vec::new();
        for (leaf, start) in loads {
            let delta = self.prefetches.moved_on(&mut self.code, start)?;
            let there = self.code.b.iadd(start, delta);
            let away = self.code.b.isub(there, base);
            let zero = self.code.b.iconst(types::I64, 0);
            for (low, high) in [(zero, away), (away, room)] {
                let order = IntCC::SignedLessThanOrEqual;
                let inside = self.code.b.icmp(order, low, high);
                requested = self.code.b.band(requested, inside);
            }
            starts.push((leaf, there));
        }
        // They are used on all paths.
        for leaf in leaves {
            if block.nodes[leaf.index()].ty.vary == Vary::Wave {
                self.scalar(block, plan, leaf);
            }
        }
        Some(Indirect {
            address,
            starts,
            requested,
        })
    }

    /// Requests the lines of this number of lanes from `first` on. As many as a gather has, between
    /// one and the next: excess prefetches may be dropped.
    pub(in crate::legalize) fn request(
        &mut self,
        block: &Block,
        plan: &Schedule,
        predicted: &Indirect,
        (first, lanes): (usize, usize),
    ) {
        let [request_block, done] = [(); 2].map(|()| self.code.b.create_block());
        self.code
            .b
            .brif(predicted.requested, request_block, &[], done, &[]);
        self.code.enter(request_block);
        for lane in first..first + lanes {
            let words = predicted.starts.iter().map(|&(leaf, start)| {
                let at = 4 * lane as i32;
                (
                    leaf,
                    self.code.b.load(types::I32, Memory::Trusted, start, at),
                )
            });
            let mut known: HashMap<Val, Value> = words.collect();
            let spot = self.singles.spot(&mut self.code, Lane::Number(lane as u8));
            let there = self.at_lane(block, plan, predicted.address, spot, &mut known);
            // More lines can be outstanding to the second-level cache than to the first.
            let into = match self.code.region.options().host.is_memory_far() {
                true => VirOp::PrefetchSecond,
                false => VirOp::Prefetch,
            };
            self.code.b.effect(into, &[there]);
        }
        self.code.b.jump(done, &[]);
        self.code.enter(done);
    }

    /// The loads in an address, if there are few and all load dwords at affine addresses, and the
    /// addresses of their first lanes.
    fn loads_among(&self, block: &Block, leaves: &[Val], exec: Value) -> Option<Vec<(Val, Value)>> {
        let mut loads = Vec::new();
        for &leaf in leaves {
            let node = &block.nodes[leaf.index()];
            match node.op {
                _ if node.ty.vary == Vary::Wave => {}
                Op::ReadV(_) => {}
                Op::Load(Space::Global | Space::Flat, Data::Dwords(1), _) => {
                    let affine = self.facts.affine(leaf)?;
                    if !affine.whole || affine.stride != 4 {
                        return None;
                    }
                    let known = |lane| self.singles.known_at(node.args[0], lane);
                    let start = known(Lane::First(exec)).or_else(|| known(Lane::Number(0)))?;
                    loads.push((leaf, start));
                }
                _ => return None,
            }
        }
        (1..=MAX_LOADS).contains(&loads.len()).then_some(loads)
    }
}
