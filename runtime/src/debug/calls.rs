//! The calls of a wave, as it has made them.

use frontend::{Inst, Op};

/// A call that has not returned yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Guest address of the call.
    pub site: u64,
    /// Guest address where the callee began.
    pub target: u64,
    /// Guest address behind the call.
    pub back: u64,
}

/// Most calls of a wave that are kept: of deeper ones the outermost are forgotten.
const MOST: usize = 4096;

/// Is it an instruction that calls?
pub fn is_call(inst: &Inst) -> bool {
    matches!(inst.op(), Op::SwapPc | Op::Call)
}

/// The wave has executed an instruction at `pc` and continues at `next`.
pub(super) fn follow(calls: &mut Vec<Call>, inst: &Inst, pc: u64, next: u64) {
    if is_call(inst) {
        if calls.len() == MOST {
            calls.remove(0);
        }
        calls.push(Call {
            site: pc,
            target: next,
            back: pc.wrapping_add(u64::from(inst.len)),
        });
    } else if inst.op() == Op::SetPc
        && let Some(depth) = calls.iter().rposition(|call| call.back == next)
    {
        calls.truncate(depth);
    }
}
