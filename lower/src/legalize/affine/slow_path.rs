//! The slow path of an access whose addresses should be affine: taken if its check fails.

use frontend::op::{Data, Space};

use super::super::fuse::parts;
use super::super::segment::Work;
use super::super::{Emitter, frame_offset};
use crate::analysis::schedule::{Class, Place, Schedule, Segment};
use crate::ir::functions::{EffectFn, mem_code, mem_code_more};
use crate::ir::{Block, Op, SiteId, Val, Vary, Width};
use crate::maps::HashMap;
use crate::vir::{Block as HostBlock, IntCC, Memory, Value, types};

impl Emitter<'_> {
    /// Calls the runtime's function with all addresses; jumps to `done` afterwards.
    #[allow(clippy::too_many_arguments, reason = "an access's facts, passed once")]
    pub(super) fn slow_path(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (load, space, data): (bool, Space, Data),
        (site, new_exec): (SiteId, Option<Value>),
        exec: Value,
        (storage, bounding): (&[Value], &[Value]),
        done: HostBlock,
    ) {
        let address = block.nodes[v.index()].args[0];
        let lying = match space {
            Space::Lds if self.code.region.options().baseline => self.lying(block, plan, address),
            _ => None,
        };
        let (mut args, more) = match lying {
            Some((place, more)) => (vec![place], more),
            None => (self.spread_addresses(block, plan, address, space), 0),
        };
        if space == Space::Lds {
            // LDS addresses have no high words.
            args.push(self.code.b.iconst(types::I64, 0));
        }
        args.push(exec);
        let code = mem_code(space, data) | mem_code_more(more);
        args.push(self.code.b.iconst(types::I64, code as i64));
        let function = if load {
            EffectFn::Load
        } else {
            EffectFn::Store
        };
        let out = if load {
            self.calls.store_outputs(&mut self.code, storage)
        } else {
            args.extend(storage);
            self.code.b.iconst(types::I64, 0)
        };
        args.extend(bounding);
        let args = self.calls.store_args(&mut self.code, &args);
        let status = self.code.call_effect(function, site, args, out);
        let pc = self.code.region.pc_of(site);
        self.check(status, pc, new_exec);
        self.code.b.jump(done, &[]);
    }

    /// Emits the access as if nothing were known of its addresses but whether they are affine `in_rows`, which are
    /// computed first; jumps to `done` afterwards.
    pub(super) fn general_path(
        &mut self,
        block: &Block,
        plan: &Schedule,
        v: Val,
        (exec, storage): (Value, &[Value]),
        in_rows: bool,
        done: HostBlock,
    ) {
        let addresses = self.computed_addresses(block, plan, block.nodes[v.index()].args[0]);
        let lists = (addresses.as_slice(), exec, storage);
        let region = &self.code.region;
        // A gather is shorter, and rows are short runs.
        let runs = region.is_contiguous_form(block, v) && !(in_rows && region.can_gather(block, v));
        match runs {
            true => self.contiguous_or_other(block, plan, v, lists),
            false => self.inline_or_call(block, plan, v, lists, None),
        }
        self.code.b.jump(done, &[]);
    }

    /// Computes the addresses of all lanes in a separate loop, unless they are in memory; returns the addresses of
    /// their low and their high words.
    fn computed_addresses(&mut self, block: &Block, plan: &Schedule, address: Val) -> Vec<Value> {
        let mut nodes = Vec::new();
        let mut work = vec![address];
        while let Some(v) = work.pop() {
            let lies = matches!(plan.place[v.index()], Some(Place::Home(_)));
            if lies || plan.class[v.index()] != Class::Lane || nodes.contains(&v) {
                continue;
            }
            nodes.push(v);
            let node = &block.nodes[v.index()];
            match node.op {
                // On the active lanes it is the new value.
                Op::Select => work.push(node.args[1]),
                _ => work.extend(node.args.iter()),
            }
        }
        if nodes.is_empty() {
            return self.addresses(block, plan, address);
        }
        nodes.sort_unstable();
        let [low, high] = [(); 2].map(|()| self.code.take_slot());
        let segment = Segment {
            nodes,
            spills: vec![(address, low)],
            ..Segment::default()
        };
        let group = self.facts.group_of(&self.code.region, block, &segment, &[]);
        let work = Work {
            block,
            plan,
            segment: &segment,
            bits: &[],
            execs: &[],
            selectors: &HashMap::default(),
            group,
        };
        let behind = self.code.b.create_block();
        self.lane_loop(work, true, None, behind);
        self.code.enter(behind);
        let slots = [low, high].map(|slot| i64::from(frame_offset(slot)));
        let [low, high] = slots.map(|at| self.code.b.iadd_imm(self.code.region.frame(), at));
        match block.nodes[address.index()].ty.width {
            Width::W64 => vec![low, high],
            _ => vec![low, self.code.b.iconst(types::I64, 0)],
        }
    }

    /// If the addresses of all lanes, less a constant, are in memory: where (I64), and the constant. For the baseline
    /// tier only: with it, `regalloc2` assigns other registers to the surrounding code, not always better ones.
    fn lying(&mut self, block: &Block, plan: &Schedule, address: Val) -> Option<(Value, u32)> {
        let (base, more) = parts(block, address);
        let node = &block.nodes[base.index()];
        let lies = matches!(
            (node.op, plan.place[base.index()]),
            (Op::ReadV(_), _)
                | (_, Some(Place::Home(_)))
                | (
                    Op::Result(_) | Op::Call(..) | Op::Load(..),
                    Some(Place::Frame(_))
                )
        );
        let lies = lies && node.ty.vary != Vary::Wave && node.ty.width == Width::W32;
        lies.then(|| (self.storage_of(block, plan, base), more as u32))
    }

    /// Computes all addresses by scalar code, lane by lane; returns the addresses of the low words and, outside of
    /// LDS, of the high words.
    fn spread_addresses(
        &mut self,
        block: &Block,
        plan: &Schedule,
        address: Val,
        space: Space,
    ) -> Vec<Value> {
        let (low, high) = (self.code.take_slot(), self.code.take_slot());
        let each = self.code.b.create_block();
        let lane = self.code.b.append_block_param(each, types::I64);
        let call = self.code.b.create_block();
        self.code.b.set_cold_block(each);
        self.code.b.set_cold_block(call);
        let zero = self.code.b.iconst(types::I64, 0);
        self.code.b.jump(each, &[zero]);
        self.code.b.switch_to_block(each);
        let spot = self.code.computed_spot(lane);
        let address = self.at_lane(block, plan, address, spot, &mut HashMap::default());
        let words = if space == Space::Lds {
            vec![(address, low)]
        } else {
            let lo = self.code.b.ireduce(types::I32, address);
            let hi = self.code.b.ushr_imm(address, 32);
            let hi = self.code.b.ireduce(types::I32, hi);
            vec![(lo, low), (hi, high)]
        };
        let bytes = self.code.b.ishl_imm(lane, 2);
        let at = self.code.b.iadd(self.code.region.frame(), bytes);
        for &(word, slot) in &words {
            let offset = frame_offset(slot);
            self.code.b.store(Memory::Trusted, word, at, offset);
        }
        let next = self.code.b.iadd_imm(lane, 1);
        let more = self.code.b.icmp_imm(IntCC::UnsignedLessThan, next, 64);
        self.code.b.brif(more, each, &[next], call, &[]);
        self.code.seal(each);
        self.code.enter(call);
        let slots = words.iter().map(|&(_, slot)| frame_offset(slot));
        slots
            .map(|offset| {
                self.code
                    .b
                    .iadd_imm(self.code.region.frame(), i64::from(offset))
            })
            .collect()
    }
}
