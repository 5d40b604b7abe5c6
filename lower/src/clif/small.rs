//! Little code rather than fast code, for what does not run long: the first translation of a region, which a
//! wave waits for.

use cranelift_codegen::ir as clif;

use super::{Emitter, Options};
use crate::schedule::Segment;

/// Most loops of a region that run inside the lane groups or lane by lane. Each is there twice, and kernels seldom have
/// more; where they have, the second forms would take most of the time of translation.
const FEW_LOOPS: usize = 16;

/// Guest instructions of a region for each of them.
const BETWEEN_LOOPS: usize = 64;

/// Nodes of a segment of which the host has several groups under way at once, whether they are written side by side
/// or not.
const SHORT: usize = 48;

/// Nodes of a segment that are computed as fast as it is found that no lane of a group wants them.
const BRIEF: usize = 16;

impl Emitter<'_> {
    /// Goes on in a block to which all ways are there. Told of that, the builder finds variables in it where they were
    /// written; else it would give the block a parameter for each and take them back at the end. In code that is not
    /// little the parameters' order, and so the choice of registers, stays what it is.
    pub(super) fn enter(&mut self, block: clif::Block) {
        self.b.switch_to_block(block);
        self.seal(block);
    }

    /// Finds which blocks' code leads to which others. Of a loop in two forms the other form stands with its first
    /// block.
    pub(super) fn find_ways(&mut self) {
        let count = self.f.blocks.len();
        let mut stands: Vec<usize> = (0..count).collect();
        for &(head, block) in &self.inside {
            stands[block] = stands[block].max(head);
        }
        self.led_by = vec![None; count];
        for (from, block) in self.f.blocks.iter().enumerate() {
            for to in block.term.targets().filter_map(|t| t.block()) {
                self.led_by[to] = self.led_by[to].max(Some(stands[from]));
            }
        }
    }

    /// Are all ways to a block there when it begins?
    pub(super) fn is_led_to(&self, index: usize) -> bool {
        self.led_by[index] < Some(index) && !self.heads.contains_key(&index)
    }

    /// All ways to a block are there.
    pub(super) fn seal(&mut self, block: clif::Block) {
        if self.o.small {
            self.b.seal_block(block);
        }
    }
}

impl Options {
    /// As these, but for little code: what saves less time than it takes to be translated is not made.
    pub(crate) fn small(&self) -> Options {
        Options {
            no_runs: true,
            no_tables: true,
            small: true,
            ..*self
        }
    }

    /// Does one host vector make a group of the segment's loops, however many there is space for?
    pub(super) fn is_narrow(&self, segment: &Segment) -> bool {
        self.small && segment.nodes.len() <= SHORT
    }

    /// Is a segment's loop to be made without a look at whether some lane of the group is on?
    pub(super) fn is_brief(&self, segment: &Segment) -> bool {
        self.has_own_form() && segment.nodes.len() <= BRIEF
    }

    /// Has a segment whose lanes may be off one loop only, the masked one? Vectors of the wide back end merge in an
    /// instruction or two. A profile tells how often each form ran.
    pub(super) fn is_masked_alone(&self) -> bool {
        self.has_own_form() && !self.profile
    }

    /// Do loops of little code have forms that others have not? Who names a group wants loops of such groups.
    fn has_own_form(&self) -> bool {
        self.small && self.wide && self.group.is_none()
    }

    /// Most loops in two forms in a region of so many guest instructions.
    pub(super) fn most_loops(&self, insts: usize) -> usize {
        match self.small {
            true => (insts / BETWEEN_LOOPS).clamp(1, FEW_LOOPS),
            false => usize::MAX,
        }
    }
}
