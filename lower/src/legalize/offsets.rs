//! Loops over the bytes of a register: 256, four of each lane.

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
}
