//! The recursive evaluation of lane IR in frames whose values are scalars: the wave, a lane, the
//! first lanes of groups.

use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Val, Vary};
use crate::legalize::Emitter;
use crate::maps::HashMap;
use crate::vir::Value;

/// A frame of evaluation: available values, and nodes that are not operations on evaluated
/// operands.
pub(in crate::legalize) trait Frame: Sized {
    /// The block whose values are evaluated, and its schedule.
    fn code(&self) -> (&Block, &Schedule);

    /// The cache of values.
    fn kept<'k>(&'k mut self, e: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>>;

    /// Resolves a value in this frame.
    fn resolve(&self, v: Val) -> Val {
        v
    }

    /// Is it a value of the wave, which the wave's frame evaluates?
    fn is_of_wave(&self, v: Val) -> bool {
        self.code().0.nodes[v.index()].ty.vary == Vary::Wave
    }

    /// A value that this frame does not compute by its operation: leaves, and available values.
    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value>;

    /// Operand `i` of a value.
    fn operand(&mut self, e: &mut Emitter<'_>, v: Val, i: usize) -> Value {
        let arg = self.code().0.nodes[v.index()].args[i];
        evaluate(e, self, arg)
    }

    /// A value's operation on its operands; see [`super::operation`].
    fn operation(&mut self, e: &mut Emitter<'_>, v: Val, args: &[Value]) -> Value {
        e.code.wave_op(self.code().0, v, args)
    }
}

/// Evaluates a value in a frame. The recursion depth is that of an expression, bounded by a block's
/// maximum number of instructions times the operations of each: 504 dependent `s_quadmask_b64` took
/// 2.2 MiB of stack in a debug build, the most of the rows that were tried.
pub(in crate::legalize) fn evaluate(e: &mut Emitter<'_>, frame: &mut impl Frame, v: Val) -> Value {
    let v = frame.resolve(v);
    if let Some(&value) = frame.kept(e).and_then(|kept| kept.get(&v)) {
        return value;
    }
    let (block, plan) = frame.code();
    if frame.is_of_wave(v) {
        return e.scalar(block, plan, v);
    }
    let operands = 0..block.nodes[v.index()].args.len();
    let value = frame.leaf(e, v).unwrap_or_else(|| {
        let args: Vec<Value> = operands.map(|i| frame.operand(e, v, i)).collect();
        frame.operation(e, v, &args)
    });
    if let Some(kept) = frame.kept(e) {
        kept.insert(v, value);
    }
    value
}
