//! Waves of a workgroup that run one after the other without leaving the code. A wave that has come to a barrier, or has
//! ended, hands over to the next one, which is entered where that one was; when all of them have come to the same
//! barrier, the first goes on behind it. Leaving and entering costs more than many a piece of code between two barriers.
//! What is handed over, and how far, is in [`Context`]; the runtime does the same for waves that it runs one by one.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, BlockArg, InstBuilder, Value, types};

use super::{Emitter, trusted};
use crate::abi::{Context, ExitCode};
use crate::functions::EffectFn;
use crate::ir::{Block, Func, Node, Op, Target, Term};

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

/// Is there a way on which waves burn fuel?
fn goes_back(f: &Func) -> bool {
    let mut targets = f.blocks.iter().flat_map(|block| block.term.targets());
    targets.any(|target| match target {
        Target::Block { back, .. } | Target::Exit { back, .. } => back,
    })
}

impl Emitter<'_> {
    /// Has waves handed over from here on: what `self.wave` is and the entry, which is given and returned, are another wave's
    /// each time.
    pub(super) fn begin_relay(&mut self, entry: Value) -> Value {
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
        // Takes the number of a wave, and an entry.
        let hand = self.b.create_block();
        let args = [(); 2].map(|()| self.b.append_block_param(hand, types::I32));
        // Takes the number of the wave before.
        let next = self.b.create_block();
        let before = self.b.append_block_param(next, types::I32);

        self.arrive(relay.arrived, next, hand);
        self.end_wave(relay.ended, next);

        self.b.switch_to_block(next);
        let one = self.b.ins().iconst(types::I32, 1);
        let behind = self.b.ins().iadd(before, one);
        let same = self.context(types::I32, offset_of!(Context, entry));
        self.b
            .ins()
            .jump(hand, &[behind, same].map(BlockArg::Value));

        self.b.switch_to_block(hand);
        self.hand_over(args, relay.enter);
    }

    /// A wave has come to the barrier before an entry. Goes to `next`, or behind the last wave of the round to `hand` for the
    /// first one behind the barrier; leaves where waves part, or have gone round often enough.
    fn arrive(&mut self, arrived: clif::Block, next: clif::Block, hand: clif::Block) {
        let [first, later, on, all, again, leave] = [(); 6].map(|()| self.b.create_block());
        self.b.switch_to_block(arrived);
        let here = self.b.block_params(arrived)[0];
        let running = self.context(types::I32, offset_of!(Context, index));
        let last = self.context(types::I32, offset_of!(Context, last));
        self.b.ins().brif(running, later, &[], first, &[]);
        self.b.switch_to_block(first);
        self.set_context(here, offset_of!(Context, arrived));
        self.b.ins().jump(on, &[]);
        self.b.switch_to_block(later);
        let others = self.context(types::I32, offset_of!(Context, arrived));
        let same = self.b.ins().icmp(IntCC::Equal, others, here);
        self.b.ins().brif(same, on, &[], leave, &[]);

        self.b.switch_to_block(on);
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, running, last);
        let args = [BlockArg::Value(running)];
        self.b.ins().brif(more, next, &args, all, &[]);
        self.b.switch_to_block(all);
        let rounds = self.context(types::I32, offset_of!(Context, rounds));
        self.b.ins().brif(rounds, again, &[], leave, &[]);
        self.b.switch_to_block(again);
        let one = self.b.ins().iconst(types::I32, 1);
        let rounds = self.b.ins().isub(rounds, one);
        self.set_context(rounds, offset_of!(Context, rounds));
        self.set_context(here, offset_of!(Context, entry));
        let zero = self.b.ins().iconst(types::I32, 0);
        self.b.ins().jump(hand, &[zero, here].map(BlockArg::Value));

        self.b.switch_to_block(leave);
        self.b.set_cold_block(leave);
        self.set_context(here, offset_of!(Context, resume));
        self.return_with(ExitCode::Barrier);
    }

    /// A wave has ended: the others go on without it.
    fn end_wave(&mut self, ended: clif::Block, next: clif::Block) {
        self.b.switch_to_block(ended);
        let running = self.context(types::I32, offset_of!(Context, index));
        let last = self.context(types::I32, offset_of!(Context, last));
        let one = self.b.ins().iconst(types::I32, 1);
        let bit = self.b.ins().ishl(one, running);
        let before = self.context(types::I32, offset_of!(Context, ended));
        let with = self.b.ins().bor(before, bit);
        self.set_context(with, offset_of!(Context, ended));
        // No barrier is all waves' any more.
        let none = self.b.ins().iconst(types::I32, 0);
        self.set_context(none, offset_of!(Context, rounds));
        let out = self.b.create_block();
        let more = self.b.ins().icmp(IntCC::UnsignedLessThan, running, last);
        let args = [BlockArg::Value(running)];
        self.b.ins().brif(more, next, &args, out, &[]);
        self.b.switch_to_block(out);
        self.return_with(ExitCode::End);
    }

    /// Makes the wave with a number (I32) the one that runs, and enters it by an entry (I32).
    fn hand_over(&mut self, [to, entry]: [Value; 2], enter: clif::Block) {
        self.set_context(to, offset_of!(Context, index));
        let waves = self.context(types::I64, offset_of!(Context, waves));
        let offset = self.b.ins().uextend(types::I64, to);
        let offset = self.b.ins().ishl_imm_u(offset, 3);
        let place = self.b.ins().iadd(waves, offset);
        let wave = self.b.ins().load(types::I64, trusted(), place, 0);
        self.set_context(wave, offset_of!(Context, wave));
        if goes_back(self.f) {
            let ticket = self.context(types::I32, offset_of!(Context, ticket));
            self.set_fuel(ticket);
        }
        self.b
            .ins()
            .jump(enter, &[wave, entry].map(BlockArg::Value));
    }
}
