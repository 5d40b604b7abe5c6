//! Waves of a workgroup that run one after the other without leaving the code. A wave that has come to a barrier, or has
//! ended, hands over to the next one, which is entered where that one was; when all of them have come to the same
//! barrier, the first goes on behind it. Leaving and entering costs more than many a piece of code between two barriers.
//! What is handed over, and how far, is in [`Context`]; the runtime does the same for waves that it runs one by one.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Type, Value, types};
use frontend::state::WaveState;

use super::{Emitter, offset32, trusted};
use crate::abi::{Context, ExitCode};
use crate::functions::EffectFn;
use crate::ir::{Block, Func, Node, Op, Term};

/// Stands for "not all came to one barrier" in [`Context::arrived`].
const APART: i64 = -1;

/// Where waves of a region are handed over.
#[derive(Clone, Copy)]
pub(super) struct Relay {
    /// Enters the region with a wave (I64) by an entry (I32).
    enter: clif::Block,
    /// The wave has come to the barrier before an entry (I32), and has in it what is wanted there.
    pub(super) arrived: clif::Block,
    /// The wave has ended.
    pub(super) ended: clif::Block,
}

/// Does a region have barriers behind which it goes on, and nothing that asks the runtime which wave runs?
pub(super) fn suits(f: &Func) -> bool {
    let barrier = |block: &Block| match block.term {
        Term::Barrier { next } => next.block().is_some(),
        _ => false,
    };
    let asks = |node: &Node| {
        matches!(
            node.op,
            Op::Effect {
                f: EffectFn::Export,
                ..
            }
        )
    };
    let mut blocks = f.blocks.iter();
    blocks.any(barrier) && !f.blocks.iter().any(|block| block.nodes.iter().any(asks))
}

impl Emitter<'_> {
    /// Has waves handed over from here on, if the region has barriers: what `self.wave` is and the entry, which is given
    /// and returned, are another wave's each time.
    pub(super) fn begin_relay(&mut self, entry: Value) -> Value {
        if self.o.small || !suits(self.f) {
            return entry;
        }
        let [enter, arrived, ended] = [(); 3].map(|()| self.b.create_block());
        let first = [self.wave, entry].map(BlockArg::Value);
        self.b.ins().jump(enter, &first);
        self.wave = self.b.append_block_param(enter, types::I64);
        let entry = self.b.append_block_param(enter, types::I32);
        self.b.append_block_param(arrived, types::I32);
        self.b.switch_to_block(enter);
        self.relay = Some(Relay {
            enter,
            arrived,
            ended,
        });
        entry
    }

    /// Emits what hands waves over.
    pub(super) fn end_relay(&mut self) {
        let Some(relay) = self.relay else {
            return;
        };
        let [next, all, hand, leave] = [(); 4].map(|()| self.b.create_block());
        // The wave behind this one, by the entry of this round.
        let index = self.b.append_block_param(next, types::I32);
        // The wave with a number, by an entry.
        let [to, entry] = [(); 2].map(|()| self.b.append_block_param(hand, types::I32));

        self.b.switch_to_block(relay.arrived);
        let here = self.b.block_params(relay.arrived)[0];
        let token = self.word(types::I64, offset_of!(Context, token));
        let number = self.b.ins().uextend(types::I64, here);
        let token = self.b.ins().iadd(token, number);
        let resume = offset32(offset_of!(WaveState, resume));
        self.b.ins().store(trusted(), token, self.wave, resume);
        let running = self.word(types::I32, offset_of!(Context, index));
        let last = self.word(types::I32, offset_of!(Context, last));
        let [first, later, apart, on] = [(); 4].map(|()| self.b.create_block());
        self.b.ins().brif(running, later, &[], first, &[]);
        self.b.switch_to_block(first);
        self.set_word(here, offset_of!(Context, arrived));
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(later);
        let others = self.word(types::I32, offset_of!(Context, arrived));
        let same = self.b.ins().icmp(IntCC::Equal, others, here);
        self.b.ins().brif(same, on, &[], apart, &[]);
        self.b.switch_to_block(apart);
        self.b.set_cold_block(apart);
        let none = self.b.ins().iconst(types::I32, APART);
        self.set_word(none, offset_of!(Context, arrived));
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(on);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, running, last);
        let args = [BlockArg::Value(running)];
        self.b.ins().brif(more, next, &args, all, &[]);

        // No wave is left in this round.
        self.b.switch_to_block(all);
        let [together, again] = [(); 2].map(|()| self.b.create_block());
        let others = self.word(types::I32, offset_of!(Context, arrived));
        let same = self.b.ins().icmp(IntCC::Equal, others, here);
        self.b.ins().brif(same, together, &[], leave, &[]);
        self.b.switch_to_block(together);
        let rounds = self.word(types::I32, offset_of!(Context, rounds));
        self.b.ins().brif(rounds, again, &[], leave, &[]);
        self.b.switch_to_block(again);
        let one = self.b.ins().iconst(types::I32, 1);
        let rounds = self.b.ins().isub(rounds, one);
        self.set_word(rounds, offset_of!(Context, rounds));
        self.set_word(here, offset_of!(Context, entry));
        let zero = self.b.ins().iconst(types::I32, 0);
        let args = [zero, here].map(BlockArg::Value);
        self.b.ins().jump(hand, &args);
        self.b.switch_to_block(leave);
        self.b.set_cold_block(leave);
        self.return_with(ExitCode::Barrier);

        // The rest of the waves runs without this one, and no barrier is everyone's.
        self.b.switch_to_block(relay.ended);
        let running = self.word(types::I32, offset_of!(Context, index));
        let last = self.word(types::I32, offset_of!(Context, last));
        let one = self.b.ins().iconst(types::I32, 1);
        let bit = self.b.ins().ishl(one, running);
        let ended = self.word(types::I32, offset_of!(Context, ended));
        let ended = self.b.ins().bor(ended, bit);
        self.set_word(ended, offset_of!(Context, ended));
        let none = self.b.ins().iconst(types::I32, APART);
        self.set_word(none, offset_of!(Context, arrived));
        let out = self.b.create_block();
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, running, last);
        let args = [BlockArg::Value(running)];
        self.b.ins().brif(more, next, &args, out, &[]);
        self.b.switch_to_block(out);
        self.return_with(ExitCode::End);

        self.b.switch_to_block(next);
        let one = self.b.ins().iconst(types::I32, 1);
        let behind = self.b.ins().iadd(index, one);
        let same = self.word(types::I32, offset_of!(Context, entry));
        let args = [behind, same].map(BlockArg::Value);
        self.b.ins().jump(hand, &args);

        self.b.switch_to_block(hand);
        self.set_word(to, offset_of!(Context, index));
        let waves = self.word(types::I64, offset_of!(Context, waves));
        let offset = self.b.ins().uextend(types::I64, to);
        let offset = self.b.ins().ishl_imm_u(offset, 3);
        let place = self.b.ins().iadd(waves, offset);
        let wave = self.b.ins().load(types::I64, trusted(), place, 0);
        self.set_word(wave, offset_of!(Context, wave));
        let nowhere = self.b.ins().iconst(types::I64, 0);
        self.b.ins().store(trusted(), nowhere, wave, resume);
        let ticket = self.word(types::I32, offset_of!(Context, ticket));
        self.set_word(ticket, offset_of!(Context, fuel));
        let args = [wave, entry].map(BlockArg::Value);
        self.b.ins().jump(relay.enter, &args);
    }

    /// A word of the context.
    fn word(&mut self, ty: Type, at: usize) -> Value {
        self.b.ins().load(ty, trusted(), self.ctx, offset32(at))
    }

    /// Sets a word of the context.
    fn set_word(&mut self, word: Value, at: usize) {
        self.b.ins().store(trusted(), word, self.ctx, offset32(at));
    }
}
