//! The long way of an access whose addresses ought to be affine: where its check fails.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use frontend::op::{Data, Space};

use super::super::{Emitter, trusted};
use crate::functions::{EffectFn, mem_code};
use crate::ir::{Block, SiteId, Val};
use crate::maps::HashMap;
use crate::schedule::Schedule;

impl Emitter<'_> {
    /// All addresses by scalar code, then the runtime's function.
    #[allow(clippy::too_many_arguments, reason = "an access's facts, passed once")]
    pub(super) fn long_way(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (load, space, data): (bool, Space, Data),
        (site, new_exec): (SiteId, Option<Value>),
        exec: Value,
        (places, bounding): (&[Value], &[Value]),
    ) {
        let node = &block.nodes[v.index()];
        let (low, high) = (self.take_slot(), self.take_slot());
        let each = self.b.create_block();
        let lane = self.b.append_block_param(each, types::I64);
        let call = self.b.create_block();
        self.b.set_cold_block(each);
        self.b.set_cold_block(call);
        let zero = self.b.ins().iconst(types::I64, 0);
        self.b.ins().jump(each, &[BlockArg::Value(zero)]);
        self.b.switch_to_block(each);
        let spot = self.computed_spot(lane);
        let address = self.at_lane(block, plan, node.args[0], spot, &mut HashMap::default());
        let words = if space == Space::Lds {
            vec![(address, low)]
        } else {
            let lo = self.b.ins().ireduce(types::I32, address);
            let hi = self.b.ins().ushr_imm_u(address, 32);
            let hi = self.b.ins().ireduce(types::I32, hi);
            vec![(lo, low), (hi, high)]
        };
        let bytes = self.b.ins().ishl_imm_u(lane, 2);
        let at = self.b.ins().iadd(self.frame, bytes);
        for &(word, slot) in &words {
            let offset = Self::frame_offset(slot);
            self.b.ins().store(trusted(), word, at, offset);
        }
        let next = self.b.ins().iadd_imm_s(lane, 1);
        let more = self.b.ins().icmp_imm_u(IntCC::UnsignedLessThan, next, 64);
        self.b
            .ins()
            .brif(more, each, &[BlockArg::Value(next)], call, &[]);
        self.b.switch_to_block(call);
        let mut args: Vec<Value> = words
            .iter()
            .map(|&(_, s)| {
                self.b
                    .ins()
                    .iadd_imm_s(self.frame, i64::from(Self::frame_offset(s)))
            })
            .collect();
        if space == Space::Lds {
            // No high words.
            args.push(self.b.ins().iconst(types::I64, 0));
        }
        args.push(exec);
        args.push(
            self.b
                .ins()
                .iconst(types::I64, mem_code(space, data) as i64),
        );
        let function = if load {
            EffectFn::Load
        } else {
            EffectFn::Store
        };
        let out = if load {
            self.store_words(self.out_slot, places)
        } else {
            args.extend(places);
            self.b.ins().iconst(types::I64, 0)
        };
        args.extend(bounding);
        let args = self.store_words(self.arg_slot, &args);
        let status = self.call_effect(function, site, args, out);
        let pc = self.f.sites[site.0 as usize].pc;
        self.check(status, pc, new_exec);
    }
}
