//! Loops over the bytes of a register: 256, four of each lane.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block as HostBlock, BlockArg, InstBuilder, Value, types};

use super::Emitter;
use crate::abi::Lanes;

impl Emitter<'_> {
    /// Begins a loop: its first block, in which the builder is left, and the offset (I64) of the turn's bytes.
    pub(super) fn begin_offsets(&mut self) -> (HostBlock, Value) {
        let head = self.b.create_block();
        let offset = self.b.append_block_param(head, types::I64);
        let zero = self.integer(types::I64, 0);
        self.b.ins().jump(head, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(head);
        (head, offset)
    }

    /// Ends a turn, `step` bytes in front of the next one: goes there, or to `done` behind the last.
    pub(super) fn end_offsets(
        &mut self,
        (head, offset): (HostBlock, Value),
        step: usize,
        done: HostBlock,
    ) {
        let step = self.integer(types::I64, step as i64);
        let next = self.b.ins().iadd(offset, step);
        let all = self.integer(types::I64, size_of::<Lanes>() as i64);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, next, all);
        let to = [BlockArg::Value(next)];
        self.b.ins().brif(more, head, &to, done, &[]);
    }
}
