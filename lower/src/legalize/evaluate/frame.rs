//! The walk over lane IR, one for every frame in which values are scalars: the wave, a lane, the first lanes of groups.

use crate::analysis::schedule::Schedule;
use crate::ir::{Block, Val, Vary};
use crate::legalize::Emitter;
use crate::maps::HashMap;
use crate::vir::Value;

/// Where lane IR is evaluated: what is there, and what is not an operation on evaluated operands.
pub(in crate::legalize) trait Frame: Sized {
    /// The block whose values are evaluated, and its schedule.
    fn code(&self) -> (&Block, &Schedule);

    /// Where values are kept for further uses.
    fn kept<'k>(&'k mut self, e: &'k mut Emitter<'_>) -> Option<&'k mut HashMap<Val, Value>>;

    /// What stands for a value in this frame.
    fn resolve(&self, v: Val) -> Val {
        v
    }

    /// Is it a value of the wave, which is evaluated in the wave's frame?
    fn is_of_wave(&self, v: Val) -> bool {
        self.code().0.nodes[v.index()].ty.vary == Vary::Wave
    }

    /// A value for which this frame has more than its operation: leaves, and whatever is at hand.
    fn leaf(&mut self, e: &mut Emitter<'_>, v: Val) -> Option<Value>;

    /// Operand `i` of a value.
    fn operand(&mut self, e: &mut Emitter<'_>, v: Val, i: usize) -> Value {
        let arg = self.code().0.nodes[v.index()].args[i];
        evaluate(e, self, arg)
    }

    /// A value's operation on its operands; see [`super::operation`].
    fn operation(&mut self, e: &mut Emitter<'_>, v: Val, args: &[Value]) -> Value {
        e.wave_op(self.code().0, v, args)
    }
}

/// A value in a frame. The recursion is as deep as an expression, which a block's most instructions bound: 508 that
/// depend on each other take less than 160 KiB of stack.
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
