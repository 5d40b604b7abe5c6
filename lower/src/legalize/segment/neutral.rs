//! Sums and products with a select between a number and the neutral element: math libraries scale
//! arguments this way.

use super::super::Emitter;
use super::super::evaluate::Shape;
use super::super::lanes::Lanes;
use super::Body;
use crate::analysis::schedule::Schedule;
use crate::ir::functions::LaneFn;
use crate::ir::{Block, Float, Flush, Icmp, Node, Op, Val, Vary};
use crate::vir::Value;

impl Emitter<'_> {
    /// Rewrites x * (m ? k : 1) to m ? x * k : x, and x - (m ? k : 0) likewise, where x is flushed
    /// and quieted like a result. The product then does not wait for the comparison, and the select
    /// of constants is not computed. This does not help where masks are vectors. Where the mask is
    /// rarely true, the operation is branched around.
    pub(super) fn around_neutral(
        &mut self,
        block: &Block,
        plan: &Schedule,
        body: &mut Body,
        node: &Node,
    ) -> Option<Vec<Value>> {
        let (float, flush, neutral, choices) = match node.op {
            _ if !self.code.has_masks() => return None,
            Op::FMul(Float::F32, flush) => (Float::F32, flush, 1f32.to_bits().into(), 0..2),
            Op::FMul(Float::F64, flush) => (Float::F64, flush, 1f64.to_bits(), 0..2),
            Op::FSub(float, flush) => (float, flush, 0, 1..2),
            Op::FAdd(float, flush) => (float, flush, 0, 0..2),
            _ => return None,
        };
        let is_neutral = |v: Val| block.nodes[v.index()].op == Op::Const(neutral);
        // Adding 0 changes -0 to +0.
        let adds = matches!(node.op, Op::FAdd(..));
        let found = choices.into_iter().find_map(|i| {
            let choice = &block.nodes[node.args[i].index()];
            let made = choice.op == Op::Select && body.values.contains_key(&node.args[i]);
            let args = choice.args.iter();
            // All operands of a select that the group computed are available.
            if !made || !args.clone().all(|a| body.values.contains_key(a)) {
                return None;
            }
            let other = (1..3).find(|&n| is_neutral(choice.args[3 - n]))?;
            let x = node.args[1 - i];
            let same = !adds && is_result(block, x, float, flush);
            let rare = other == 1
                && !self.code.region.options().baseline
                && is_rare(block, choice.args[0], DEPTH);
            (same || adds && rare).then_some((i, x, choice, other, rare))
        });
        let (i, x, choice, other, rare) = found?;
        let [mask, number, x] =
            [choice.args[0], choice.args[other], x].map(|v| self.lane_value(block, plan, body, v));
        let factors: [&Vec<Value>; 2] = match i {
            0 => [&number, &x],
            _ => [&x, &number],
        };
        let width = node.ty.width;
        let choose = |lanes: &mut Lanes<'_, '_>| {
            let changed = lanes.op(node.op, width, &factors);
            let (yes, no) = if other == 1 {
                (&changed, &x)
            } else {
                (&x, &changed)
            };
            lanes.select(width, &mask, yes, no)
        };
        if rare {
            let known = body.any.get(&choice.args[0]).copied();
            let any = known.unwrap_or_else(|| self.code.lanes(body).any(&mask));
            body.any.insert(choice.args[0], any);
            let mut lanes = self.code.lanes(body);
            let plain = match adds {
                true => {
                    let zeros = lanes.const_lanes(width, 0);
                    lanes.op(node.op, width, &[&x, &zeros])
                }
                false => x.clone(),
            };
            return Some(lanes.where_any(any, &plain, choose));
        }
        Some(choose(&mut self.code.lanes(body)))
    }
}

/// Maximum depth of the search through masks.
const DEPTH: u32 = 8;

/// Is a mask rarely true? Libraries scale what is outside of their working range, which is the same
/// for all lanes.
fn is_rare(block: &Block, mask: Val, depth: u32) -> bool {
    let node = &block.nodes[mask.index()];
    let mut args = node.args.iter();
    match node.op {
        Op::Fcmp(..) => args.any(|arg| block.nodes[arg.index()].ty.vary == Vary::Wave),
        // Denormal numbers.
        Op::Icmp(Icmp::Ult) => {
            args.any(|arg| block.nodes[arg.index()].op == Op::Const(0x007f_ffff))
        }
        Op::And if depth != 0 => args.any(|&arg| is_rare(block, arg, depth - 1)),
        _ => false,
    }
}

/// Is a value a result of arithmetic: no signalling NaN, and no denormal where those are flushed?
fn is_result(block: &Block, v: Val, float: Float, flush: Flush) -> bool {
    match block.nodes[v.index()].op {
        Op::FAdd(of, by)
        | Op::FSub(of, by)
        | Op::FMul(of, by)
        | Op::Fma(of, by)
        | Op::FDiv(of, by) => of == float && (by.dst || !flush.src && !flush.dst),
        // These give no denormals.
        Op::FSqrt(of, _) | Op::FRsq(of) => of == float,
        Op::Call(LaneFn::ExpF32 | LaneFn::LogF32, _) => float == Float::F32,
        _ => false,
    }
}
