//! The host blocks of guest blocks.

use std::collections::BTreeSet;

use crate::ir::Func;
use crate::maps::HashMap;
use crate::vir::{self, Builder};

/// The host blocks at which the guest blocks of a region begin, and the edges to them.
pub(super) struct Blocks {
    /// By guest block: where control enters it, from outside of its loop.
    entries: Vec<vir::Block>,
    /// The block of the general loop, for each loop header that also has an interchanged,
    /// lane-serial or parallel form.
    general: HashMap<usize, vir::Block>,
    /// The loops of `general`: (header, block) pairs.
    inside: BTreeSet<(usize, usize)>,
    /// The last block, in order of emission, with an edge to each block.
    last_predecessors: Vec<Option<usize>>,
}

impl Blocks {
    /// Creates a host block for each guest block.
    pub(super) fn new(f: &Func, b: &mut Builder<'_>) -> Blocks {
        Blocks {
            entries: f.blocks.iter().map(|_| b.create_block()).collect(),
            general: HashMap::default(),
            inside: BTreeSet::new(),
            last_predecessors: Vec::new(),
        }
    }

    /// Gives the general loop that begins at `head` a block of its own.
    pub(super) fn keep_general(&mut self, b: &mut Builder<'_>, head: usize, blocks: &[usize]) {
        let general = b.create_block();
        self.general.insert(head, general);
        self.inside
            .extend(blocks.iter().map(|&block| (head, block)));
    }

    /// Finds the predecessors of blocks. The second form of a loop is at its first block.
    pub(super) fn find_predecessors(&mut self, f: &Func) {
        let count = f.blocks.len();
        let mut stands: Vec<usize> = (0..count).collect();
        for &(head, block) in &self.inside {
            stands[block] = stands[block].max(head);
        }
        self.last_predecessors = vec![None; count];
        for (from, block) in f.blocks.iter().enumerate() {
            for to in block.term.targets().filter_map(|t| t.block()) {
                let last = &mut self.last_predecessors[to];
                *last = (*last).max(Some(stands[from]));
            }
        }
    }

    /// Where control enters a block from outside of its loop.
    pub(super) fn entry(&self, block: usize) -> vir::Block {
        self.entries[block]
    }

    /// The block of the general loop of a header with another form.
    pub(super) fn general(&self, head: usize) -> vir::Block {
        self.general[&head]
    }

    /// Where a block's general code begins.
    pub(super) fn head(&self, block: usize) -> vir::Block {
        let general = self.general.get(&block).copied();
        general.unwrap_or(self.entries[block])
    }

    /// Target of a jump from one block to another: within a loop the back edge bypasses the other
    /// form.
    pub(super) fn target(&self, from: usize, to: usize) -> vir::Block {
        match self.inside.contains(&(to, from)) {
            true => self.head(to),
            false => self.entries[to],
        }
    }

    /// Do all incoming edges of a block exist when it begins?
    pub(super) fn has_all_edges(&self, block: usize) -> bool {
        self.last_predecessors[block] < Some(block) && !self.general.contains_key(&block)
    }
}
