//! Loops over the bytes of a register: 256, four of each lane; and over the lane groups that have an active lane.

use super::Code;
use crate::abi::Lanes;
use crate::vir::{Block as HostBlock, IntCC, Value, types};

impl Code<'_> {
    /// Begins a loop: its header, in which the builder is positioned, and the offset (I64) of the
    /// iteration's bytes.
    pub(super) fn begin_offsets(&mut self) -> (HostBlock, Value) {
        let head = self.b.create_block();
        let offset = self.b.append_block_param(head, types::I64);
        let zero = self.integer(types::I64, 0);
        self.b.jump(head, &[zero]);
        self.b.switch_to_block(head);
        (head, offset)
    }

    /// Ends an iteration: continues `step` bytes further, or leaves for `done` after the last.
    pub(super) fn end_offsets(
        &mut self,
        (head, offset): (HostBlock, Value),
        step: usize,
        done: HostBlock,
    ) {
        let step = self.integer(types::I64, step as i64);
        let next = self.b.iadd(offset, step);
        let all = self.integer(types::I64, size_of::<Lanes>() as i64);
        let more = self.b.icmp(IntCC::UnsignedLessThan, next, all);
        let to = [next];
        self.b.brif(more, head, &to, done, &[]);
    }

    /// A bit for each group of `count` lanes that has a lane in `mask` (I64), at the group's first lane.
    pub(super) fn active_groups(&mut self, mask: Value, count: usize) -> Value {
        let high = (u64::MAX / ((1 << count) - 1)) << (count - 1);
        let low = self.integer(types::I64, !high as i64);
        let sum = self.b.band(mask, low);
        let sum = self.b.iadd(sum, low);
        let some = self.b.bor(sum, mask);
        let high = self.integer(types::I64, high as i64);
        let some = self.b.band(some, high);
        let first = self.integer(types::I64, count as i64 - 1);
        self.b.ushr(some, first)
    }

    /// Begins a loop over the groups of which [`active_groups`](Code::active_groups) has bits: a bit loop, which takes no
    /// branch for the others. The builder is positioned in its header; without any group, control is at `done`.
    pub(super) fn begin_active(&mut self, groups: Value, done: HostBlock) -> ActiveGroups {
        let head = self.b.create_block();
        let rest = self.b.append_block_param(head, types::I64);
        self.b.brif(groups, head, &[groups], done, &[]);
        self.b.switch_to_block(head);
        let lane = self.b.ctz(rest);
        ActiveGroups { head, rest, lane }
    }

    /// Ends an iteration: continues with the next group that has an active lane, or leaves for `done`.
    pub(super) fn end_active(&mut self, groups: ActiveGroups, done: HostBlock) {
        let less = self.integer(types::I64, -1);
        let less = self.b.iadd(groups.rest, less);
        let rest = self.b.band(groups.rest, less);
        self.b.brif(rest, groups.head, &[rest], done, &[]);
    }
}

/// A loop over the lane groups that have an active lane.
#[derive(Clone, Copy)]
pub(super) struct ActiveGroups {
    /// The header.
    pub(super) head: HostBlock,
    /// A bit for each group that is left, at its first lane (I64).
    rest: Value,
    /// The first lane of the iteration's group (I64).
    pub(super) lane: Value,
}
