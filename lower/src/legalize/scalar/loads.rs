//! Scalar loads. Consecutive ones from one base, such as a kernel's arguments, share a check, and a
//! call of the runtime if not all of them are in bounds.

use std::mem::offset_of;

use super::super::Emitter;
use super::super::fuse::base_and_constant;
use crate::abi::Context;
use crate::analysis::schedule::Schedule;
use crate::ir::functions::EffectFn;
use crate::ir::{Block, Op, SiteId, Val};
use crate::vir::{IntCC, Memory, Value, types};

/// Maximum span in dwords of loads that share a check: as many as `Context::scalar_starts` covers.
const REACH: i32 = 32;

/// A scalar load of `count` dwords, at an offset from its base.
#[derive(Clone, Copy)]
struct Load {
    v: Val,
    count: u8,
    site: SiteId,
    offset: i32,
}

impl Load {
    fn end(self) -> i32 {
        self.offset + 4 * i32::from(self.count)
    }
}

/// A scalar load and its base.
fn load(block: &Block, v: Val) -> Option<(Val, Load)> {
    let node = &block.nodes[v.index()];
    let Op::ScalarLoad(count, site) = node.op else {
        return None;
    };
    let (base, offset) = base_and_constant(block, node.args[0]);
    let load = Load {
        v,
        count,
        site,
        offset,
    };
    Some((base, load))
}

impl Emitter<'_> {
    /// Emits the leading scalar loads of `calls` that share a check; returns their number.
    pub(in crate::legalize) fn scalar_loads(
        &mut self,
        block: &Block,
        plan: &Schedule,
        calls: &[Val],
    ) -> usize {
        let Some((base, first)) = calls.first().and_then(|&v| load(block, v)) else {
            return 0;
        };
        let mut loads: Vec<Load> = Vec::new();
        let (mut low, mut high) = (first.offset, first.end());
        for &v in calls {
            // A new EXEC may depend on the loads.
            let same_exec = block.exec_at(v) == block.exec_at(first.v);
            let Some((_, load)) = load(block, v).filter(|(at, _)| *at == base && same_exec) else {
                break;
            };
            let both = (low.min(load.offset), high.max(load.end()));
            if both.1 - both.0 > 4 * REACH {
                break;
            }
            (low, high) = both;
            loads.push(load);
        }
        self.checked_loads(block, plan, &loads, (low, high));
        loads.len()
    }

    /// Loads whose words are from `first` to `end` beyond their base.
    fn checked_loads(
        &mut self,
        block: &Block,
        plan: &Schedule,
        loads: &[Load],
        (first, end): (i32, i32),
    ) {
        let lowest = loads.iter().find(|load| load.offset == first);
        let lowest = lowest.expect("bug: nothing is where loads begin");
        let start = self.scalar(block, plan, block.nodes[lowest.v.index()].args[0]);
        let new_exec = self.new_exec(block, plan, lowest.v);
        let base = self
            .code
            .context(types::I64, offset_of!(Context, arena_base));
        let offset = self.code.b.isub(start, base);
        let dwords = (end - first).cast_unsigned().div_ceil(4);
        let size = dwords.next_power_of_two().ilog2() as usize;
        let starts_at = offset_of!(Context, scalar_starts) + size * size_of::<u64>();
        let starts = self.code.context(types::I64, starts_at);
        let below = IntCC::UnsignedLessThan;
        let inside = self.code.b.icmp(below, offset, starts);
        let slow = self.code.b.create_block();
        let join = self.code.b.create_block();
        let at = self.code.b.append_block_param(join, types::I64);
        self.code.b.set_cold_block(slow);
        let here = [start];
        self.code.b.brif(inside, join, &here, slow, &[]);
        self.code.enter(slow);
        let there = match *loads {
            [load] => self.load_by_call(start, load, new_exec),
            _ => self.load_by_calls(start, first, loads, new_exec),
        };
        self.code.b.jump(join, &[there]);
        self.code.enter(join);
        for load in loads {
            let away = load.offset - first;
            for (i, other) in block.nodes.iter().enumerate() {
                let k = match other.op {
                    Op::Result(k) if other.args[0] == load.v => k,
                    _ if i == load.v.index() => 0,
                    _ => continue,
                };
                if k < load.count && plan.needed[i] {
                    let flags = Memory::Guest;
                    let from = away + 4 * i32::from(k);
                    let word = self.code.b.load(types::I32, flags, at, from);
                    self.values.insert(Val(i as u32), word);
                }
            }
        }
    }

    /// Emits a load by the runtime; returns the address of the words.
    fn load_by_call(&mut self, address: Value, load: Load, new_exec: Option<Value>) -> Value {
        let count = self.code.b.iconst(types::I64, i64::from(load.count));
        let args = self.calls.store_args(&mut self.code, &[address, count]);
        let status = self
            .code
            .call_effect(EffectFn::ScalarLoad, load.site, args, args);
        let pc = self.code.region.pc_of(load.site);
        self.check(status, pc, new_exec);
        if let Some(behind) = self.code.b.current_block() {
            self.code.b.set_cold_block(behind);
        }
        let ret = offset_of!(Context, ret) as i64;
        self.code.b.iadd_imm(self.code.region.ctx(), ret)
    }

    /// The same for several, the first word of which is at `start`; returns the address of the
    /// words, with unchanged distances.
    fn load_by_calls(
        &mut self,
        start: Value,
        first: i32,
        loads: &[Load],
        new_exec: Option<Value>,
    ) -> Value {
        let place = self.calls.loaded(&mut self.code, 4 * REACH as u32);
        for &load in loads {
            let away = load.offset - first;
            let address = self.code.b.iadd_imm(start, i64::from(away));
            let words = self.load_by_call(address, load, new_exec);
            for from in (0..4 * i32::from(load.count)).step_by(4) {
                let word = self.code.b.load(types::I32, Memory::Trusted, words, from);
                self.code.b.store(Memory::Trusted, word, place, away + from);
            }
        }
        place
    }
}
