//! Interleaves the vectors of a long-latency expansion. The out-of-order window is short among
//! vector instructions, so the next instruction should be ready.
//!
//! (Without it loops of one exponential or logarithm take 2 to 15 % longer, a kernel with several 3
//! %.)

use super::Lanes;
use crate::vir::{self, Op as VirOp};

/// Approximate latency of an operation in cycles. It may become several host instructions.
fn latency(op: VirOp) -> u32 {
    match op {
        VirOp::Bitcast | VirOp::Vconst(_) | VirOp::Iconst(_) => 0,
        VirOp::Fmul => 3,
        VirOp::Fma => 4,
        VirOp::Shuffle(_) => 5,
        VirOp::Icmp(_) | VirOp::Fcmp(_) => 6,
        VirOp::Fdiv => 13,
        op if op.needs_avx2() => 5,
        _ => 2,
    }
}

impl Lanes<'_, '_> {
    /// The last instruction so far.
    pub(super) fn last_inst(&self) -> Option<vir::Inst> {
        self.b.func.last(self.b.current_block()?)
    }

    /// List scheduler: orders the instructions after `last` by the critical path from them. None of
    /// them has an effect; those of each vector end with one of `ends`. Each vector starts `behind`
    /// cycles after the one before it: its first steps fill the time in which the others wait for
    /// their last ones. (Starting all at once may exceed the registers.)
    pub(super) fn interleave(&mut self, last: Option<vir::Inst>, ends: &[vir::Inst], by: u32) {
        let (Some(last), Some(block)) = (last, self.b.current_block()) else {
            return;
        };
        let all = self.b.func.insts(block);
        let Some(from) = all.iter().rposition(|&inst| inst == last) else {
            return;
        };
        let from = from + 1;
        let mut behind = 0;
        let mut insts: Vec<(vir::Inst, u32, u32)> = Vec::with_capacity(all.len() - from);
        for &inst in &all[from..] {
            insts.push((inst, behind, 0));
            if ends.contains(&inst) {
                behind += by;
            }
        }
        let Some(&(first, ..)) = insts.first() else {
            return;
        };
        // Numbered in order of creation. The third is the time from the start of each to the end of
        // all.
        let func = &*self.b.func;
        let mut longest = 0;
        for i in (0..insts.len()).rev() {
            let inst = insts[i].0;
            insts[i].2 += latency(func.op(inst));
            let left = insts[i].2;
            longest = left.max(longest);
            for &arg in func.args(inst) {
                if let Some(of) = func.inst_of(arg)
                    && of >= first
                {
                    let before = &mut insts[of.index() - first.index()].2;
                    *before = left.max(*before);
                }
            }
        }
        insts.sort_by_key(|&(_, behind, left)| behind + longest - left);
        let order: Vec<vir::Inst> = insts.into_iter().map(|(inst, ..)| inst).collect();
        self.b.reorder(from, &order);
    }
}
