//! Selects and emits the stores that a segment fuses.

use frontend::op::Data;

use super::super::body::Body;
use super::super::{Emitter, access, affine};
use super::alias;
use crate::analysis::schedule::{self, Class, Schedule};
use crate::host;
use crate::ir::memory::data_words;
use crate::ir::{Block, Op, Val, Vary};
use crate::options::Forms;
use crate::vir::Value;

impl Emitter<'_> {
    /// The number of calls after segment `number`, which fuses the loads in `loads`, that it may
    /// fuse too.
    pub(in crate::legalize) fn fusable_stores(
        &self,
        block: &Block,
        plan: &Schedule,
        number: usize,
        loads: &[Val],
        calls: &[Val],
    ) -> usize {
        if !self
            .code
            .region
            .options()
            .has(Forms::FUSED_LOADS | Forms::FUSED_STORES | Forms::UNMASKED)
        {
            return 0;
        }
        let mut all: Vec<Val> = loads.to_vec();
        for &v in calls {
            if !self.store_suits(block, plan, number as i32 - 1, loads, v) {
                break;
            }
            let fused = self.facts.access_of(block, v);
            let meets =
                |&other: &Val| alias::always_meet(&fused, &self.facts.access_of(block, other));
            if all.iter().any(meets) {
                break;
            }
            all.push(v);
        }
        all.len() - loads.len()
    }

    /// May the segment whose wave values are those of the gaps up to `time` fuse this store?
    fn store_suits(
        &self,
        block: &Block,
        plan: &Schedule,
        time: i32,
        loads: &[Val],
        v: Val,
    ) -> bool {
        let node = &block.nodes[v.index()];
        let Op::Store(_, _, site) = node.op else {
            return false;
        };
        let Some(affine) = self.facts.affine(v) else {
            return false;
        };
        // Of lanes at one address the highest wins: not fused.
        if affine.stride == 0 || self.code.region.func().sites[site.0 as usize].inst.mem.glc {
            return false;
        }
        let mut before = affine::leaves(block, node.args[0]).unwrap_or_default();
        before.push(node.args[1]);
        before.extend(block.exec_at(v));
        let data = data_words(node);
        before.extend(node.args[2 + data.len()..].iter());
        let known = |&w: &Val| {
            schedule::available_in(block, plan, w) <= time && !loads.contains(&source(block, w))
        };
        let there = |&w: &Val| match plan.class[w.index()] {
            Class::Lane => plan.time[w.index()] <= time + 1,
            _ => schedule::available_in(block, plan, w) <= time,
        };
        before.iter().all(known) && data.iter().all(there)
    }

    /// Emits the segment's stores for a group.
    pub(in crate::legalize) fn fused_stores(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
    ) {
        let numbers = 0..self.fusion.accesses.len();
        let stores: Vec<usize> = numbers.filter(|&n| self.fusion.accesses[n].store).collect();
        // Operands used only by stores are not loaded yet, and a store may overwrite them.
        for &n in &stores {
            let store = self.fusion.accesses[n].v;
            for &word in data_words(&block.nodes[store.index()]) {
                let Some(&load) = self.fusion.of.get(&word) else {
                    continue;
                };
                let accesses = &self.fusion.accesses;
                let meets = |&n: &usize| alias::concern(&accesses[load], &accesses[n]);
                if stores.iter().any(meets) {
                    self.lane_value(block, plan, body, word);
                }
            }
        }
        let mut left = &stores[..];
        while !left.is_empty() {
            let (together, rest) = left.split_at(self.without_gaps(left));
            left = rest;
            let mut together = together.to_vec();
            together.sort_by_key(|&n| self.fusion.accesses[n].offset);
            let access = &self.fusion.accesses[together[0]];
            let (stride, offset, data) = (access.affine.stride, access.offset, access.data);
            let mut words: Vec<Vec<Value>> = Vec::new();
            for &n in &together {
                let v = self.fusion.accesses[n].v;
                for &word in data_words(&block.nodes[v.index()]) {
                    words.push(self.lane_value(block, plan, body, word));
                }
            }
            let starts = self.group_starts(block, plan, body, together[0]);
            let slices = body.slices / starts.len();
            for (row, start) in starts.into_iter().enumerate() {
                let lanes = slices * row..slices * (row + 1);
                let words: Vec<&[Value]> = words.iter().map(|w| &w[lanes.clone()]).collect();
                match together.len() {
                    1 => self.store_group(start, (offset, stride), data, &words),
                    _ => self.store_interleaved(start, offset, &words),
                }
            }
        }
    }

    /// The number of these stores, from the first on, emitted together: words of lanes that fill
    /// memory contiguously from the first lane's to the last one's. Otherwise 1.
    fn without_gaps(&self, stores: &[usize]) -> usize {
        let accesses = stores.iter().map(|&n| &self.fusion.accesses[n]);
        let first = &self.fusion.accesses[stores[0]];
        let (bytes, stride) = (i64::from(access::bytes(first.data)), first.affine.stride);
        let count = usize::try_from(stride / bytes).unwrap_or(1);
        let suits = self.code.per() > host::LANES
            && matches!(first.data, Data::Dwords(1 | 2))
            && count > 1
            && stride == bytes * count as i64
            && access::is_interleaved(count * access::words(first.data));
        let alike = accesses.take(count).filter(|a| {
            let same = (a.base, a.affine, a.lds) == (first.base, first.affine, first.lds);
            same && a.data == first.data
        });
        let mut offsets: Vec<i64> = alike.map(|a| i64::from(a.offset)).collect();
        offsets.sort_unstable();
        let follow = offsets.windows(2).all(|two| two[1] - two[0] == bytes);
        match suits && offsets.len() == count && follow {
            true => count,
            false => 1,
        }
    }

    /// Stores a group's lanes, whose words are contiguous, the first at `start` plus a constant;
    /// `words` has the host vectors of each word. The range is already checked.
    fn store_interleaved(&mut self, start: Value, offset: i32, words: &[&[Value]]) {
        let mut at = offset;
        for slice in 0..words[0].len() {
            let each: Vec<Value> = words.iter().map(|word| word[slice]).collect();
            for vector in self.code.interleaved(&each) {
                self.code.store_vector(vector, start, at);
                at += 4 * self.code.per() as i32;
            }
        }
    }

    /// Stores a group's lanes, whose elements are `stride` apart, the first at `start` plus a
    /// constant, lowest lane first; `words` has the host vectors of each word. The range is already
    /// checked.
    fn store_group(
        &mut self,
        start: Value,
        (offset, stride): (i32, i64),
        data: Data,
        words: &[&[Value]],
    ) {
        let count = self.code.lanes_at_once(false, data, stride, false);
        let words = words.iter().map(|word| self.parts(count, word));
        let words: Vec<Vec<Value>> = words.collect();
        for j in 0..words[0].len() {
            let each: Vec<Value> = words.iter().map(|word| word[j]).collect();
            let away = i64::from(offset) + stride * (count * j) as i64;
            self.code
                .store_lanes(count, (start, away), stride, data, &each);
        }
    }

    /// Host vectors split into vectors of this number of lanes.
    fn parts(&mut self, lanes: usize, word: &[Value]) -> Vec<Value> {
        let (mut parts, mut per) = (word.to_vec(), self.code.per());
        while per > lanes {
            per /= 2;
            let halves = parts.iter().map(|&value| self.code.halves(per, value));
            parts = halves.flatten().collect();
        }
        parts
    }
}

/// The node of which a value is a result.
fn source(block: &Block, v: Val) -> Val {
    let node = &block.nodes[v.index()];
    match node.op {
        Op::Result(_) if node.ty.vary != Vary::Wave => node.args[0],
        _ => v,
    }
}
