//! Little code rather than fast code, for what does not run long: the first translation of a region, which a
//! wave waits for.

use super::Options;
use crate::schedule::Segment;

/// Loops of a region that run inside the lane groups or lane by lane. Each is there twice, and kernels seldom have
/// more; where they have, the second forms would take most of the time of translation.
const FEW_LOOPS: usize = 16;

/// Nodes of a segment of which the host has several groups under way at once, whether they are written side by side
/// or not.
const SHORT: usize = 48;

impl Options {
    /// As these, but for little code: what saves less time than it takes to be translated is not made.
    pub(crate) fn small(&self) -> Options {
        Options {
            no_runs: true,
            small: true,
            ..*self
        }
    }

    /// Does one host vector make a group of the segment's loops, however many there is space for?
    pub(super) fn is_narrow(&self, segment: &Segment) -> bool {
        self.small && segment.nodes.len() <= SHORT
    }

    /// Has a region enough loops in two forms?
    pub(super) fn is_enough(&self, loops: usize) -> bool {
        self.small && loops == FEW_LOOPS
    }
}
