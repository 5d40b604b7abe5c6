//! Lifting for a sanitizer: waits and barriers are announced, and accesses that only runtime functions make are left to
//! the interpreter, which announces them. Accesses that are nodes of the IR are announced by the pass `observe`.

use frontend::inst::Inst;
use frontend::op::{DsOp, Op, Space};

use crate::ir::functions::EffectFn;
use crate::lift::arms::memory::effect;
use crate::lift::arms::{self, Lowered, Sites};
use crate::lift::guest::Guest;

/// As [`arms::lower`].
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    if is_call(inst) {
        return Lowered::Fallback;
    }
    if inst.waits_for_vector_memory(g.gfx) {
        // Where there is nothing to wait for, the pass `observe` changes the operand.
        let stores = g.imm64(1);
        effect(
            g,
            EffectFn::ObserveWait,
            sites.add(pc, inst),
            &[stores],
            0,
            0,
        );
    }
    arms::lower(g, inst, pc, sites)
}

/// The wave arrives at a barrier.
pub(super) fn barrier(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) {
    let exec = g.exec();
    effect(
        g,
        EffectFn::ObserveBarrier,
        sites.add(pc, inst),
        &[exec],
        0,
        0,
    );
}

/// Does a runtime function make its accesses?
fn is_call(inst: &Inst) -> bool {
    match inst.op() {
        Op::Atomic(_, op) if op.is_float_sum() => true,
        Op::Load(Space::ScalarBuffer | Space::ScalarScratch, _) => true,
        Op::Store(Space::Scalar | Space::ScalarBuffer | Space::ScalarScratch, _) => true,
        Op::Atomic(Space::Scalar | Space::ScalarBuffer, _) => true,
        Op::Image(_) | Op::Wrxchg2 { .. } | Op::AtomicSrc2(_) | Op::WriteSrc2 => true,
        Op::Ds(op) => matches!(
            op,
            DsOp::Append | DsOp::Consume | DsOp::OrderedCount | DsOp::Condxchg32Rtn64
        ),
        _ => false,
    }
}
