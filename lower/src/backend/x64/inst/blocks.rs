//! Normalizes blocks for register allocation.

use regalloc2::{Block, Function};

use super::{HostBlock, HostFunc, HostOp};
use crate::backend::x64::space::Space;

impl HostFunc {
    /// Normalizes the blocks for register allocation; `in_place`: values stay in one location, so
    /// that edges without arguments have no moves and are not split.
    pub(in crate::backend::x64) fn finish(&mut self, in_place: bool, space: &mut Space) {
        self.split_edges(in_place);
        self.sort(space);
        let mut first = 0;
        let counts = counts(&self.blocks);
        for (block, count) in self.blocks.iter_mut().zip(counts) {
            block.preds = (first, first);
            first += count;
        }
        self.preds = vec![Block::invalid(); first as usize];
        for b in 0..self.blocks.len() {
            for k in 0..usize::from(self.blocks[b].succ_count) {
                let to = self.blocks[b].succs[k];
                let end = &mut self.blocks[to.index()].preds.1;
                self.preds[*end as usize] = Block::new(b);
                *end += 1;
            }
        }
    }

    /// The loop depth of each block.
    pub(in crate::backend::x64) fn depths(&self) -> Vec<u8> {
        let blocks = self.blocks.len();
        let mut depths = vec![0u8; blocks];
        let mut inside = vec![usize::MAX; blocks];
        for head in 0..blocks {
            let backs = self.block_preds(Block::new(head)).iter();
            let mut work: Vec<usize> = backs.map(|b| b.index()).filter(|&b| b >= head).collect();
            if work.is_empty() {
                continue;
            }
            inside[head] = head;
            depths[head] = depths[head].saturating_add(1);
            while let Some(b) = work.pop() {
                if b < head || inside[b] == head {
                    continue;
                }
                inside[b] = head;
                depths[b] = depths[b].saturating_add(1);
                let preds = self.block_preds(Block::new(b)).iter();
                work.extend(preds.map(|p| p.index()));
            }
        }
        depths
    }

    /// Sorts the blocks so that each but the first has a predecessor before it.
    fn sort(&mut self, space: &mut Space) {
        let mut seen = vec![false; self.blocks.len()];
        let mut order = Vec::with_capacity(self.blocks.len());
        let mut work = vec![(0, 0)];
        seen[0] = true;
        while let Some((b, next)) = work.pop() {
            match self.blocks[b].succs().get(next) {
                None => order.push(b),
                Some(to) => {
                    work.push((b, next + 1));
                    if !std::mem::replace(&mut seen[to.index()], true) {
                        work.push((to.index(), 0));
                    }
                }
            }
        }
        order.reverse();
        let mut numbers = vec![0; self.blocks.len()];
        for (new, &old) in order.iter().enumerate() {
            numbers[old] = new;
        }
        let mut blocks: Vec<_> = std::mem::take(&mut self.blocks)
            .into_iter()
            .map(Some)
            .collect();
        let sorted = std::mem::take(&mut space.insts[1]);
        let insts = std::mem::replace(&mut self.insts, sorted);
        self.insts.clear();
        self.insts.reserve(insts.len());
        self.blocks.reserve(blocks.len());
        for old in order {
            let mut block = blocks[old].take().expect("each block stands once");
            let range = block.first as usize..block.end as usize;
            block.first = self.insts.len() as u32;
            self.insts.extend(&insts[range]);
            block.end = self.insts.len() as u32;
            for to in &mut block.succs[..usize::from(block.succ_count)] {
                *to = Block::new(numbers[to.index()]);
            }
            self.blocks.push(block);
        }
        space.insts[1] = insts;
    }

    /// Splits critical edges, only those `with_args` if set.
    fn split_edges(&mut self, with_args: bool) {
        let preds = counts(&self.blocks);
        for b in 0..self.blocks.len() {
            if self.blocks[b].succ_count < 2 {
                continue;
            }
            for k in 0..2 {
                let to = self.blocks[b].succs[k];
                if preds[to.index()] < 2 || with_args && self.blocks[b].args[k].is_empty() {
                    continue;
                }
                let edge = self.blocks.len();
                let cold = self.blocks[to.index()].cold || self.blocks[b].cold;
                let place = self.blocks[b].place.0;
                self.blocks.push(HostBlock {
                    place: (place, k + 1),
                    ..HostBlock::new(place, cold)
                });
                let args = std::mem::take(&mut self.blocks[b].args[k]);
                self.blocks[b].succs[k] = Block::new(edge);
                self.begin(edge);
                self.push(HostOp::Jump, &[], None);
                self.end(edge, [(to.index(), args)]);
            }
        }
    }
}

/// How many blocks lead to each.
fn counts(blocks: &[HostBlock]) -> Vec<u32> {
    let mut counts = vec![0; blocks.len()];
    for to in blocks.iter().flat_map(HostBlock::succs) {
        counts[to.index()] += 1;
    }
    counts
}
