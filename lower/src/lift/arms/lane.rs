//! Instructions that move single lanes: readlane, writelane, readfirstlane.

use frontend::inst::{Inst, Operand};
use frontend::op::Op;
use frontend::ops;

use crate::ir::Op as Ir;
use crate::lift::arms::Lowered;
use crate::lift::arms::operands::read32;
use crate::lift::guest::Guest;
use crate::lift::value::{M, Q, U};

/// Lowers an instruction that accesses one lane, regardless of EXEC.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst) -> Lowered {
    let lowered = match inst.op() {
        Op::WriteLane => write_lane(g, inst),
        Op::ReadLane | Op::ReadFirstLane => read_lane(g, inst),
        Op::Swap | Op::ClrExcp => None,
        ops!(alu | vector | vector_wide | convert | eight_bits | rounding | float | float_wide) => {
            None
        }
        ops!(legacy | packed | parameters | matrix | salu | mem) => None,
    };
    match lowered {
        Some(()) => Lowered::Done,
        None => Lowered::Fallback,
    }
}

/// All lanes of a source, regardless of EXEC.
fn read_all<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<U<'b>> {
    if let Some(n) = operand.vector_register() {
        return Some(U::new(g.b, g.read_v_all(n)));
    }
    read32(g, operand)
}

fn read_lane(g: &mut Guest<'_>, inst: &Inst) -> Option<()> {
    let Operand::Sgpr(d) = inst.dst[0] else {
        return None;
    };
    let b = g.b;
    let source = read_all(g, inst.src[0])?;
    let lane = if inst.op() == Op::ReadFirstLane {
        // The first active lane; 64 trailing zeros of an empty EXEC count as lane 0.
        Q::new(b, g.exec()).ctz()
    } else {
        lane_number(g, inst.src[1])?
    };
    let value = b.pure(Ir::LaneAt, &[source.v, lane.v]);
    g.write_s32(d, value);
    Some(())
}

/// A wave value that is a lane number; a vector register cannot be one.
fn lane_number<'b>(g: &mut Guest<'b>, operand: Operand) -> Option<U<'b>> {
    if operand.vector_register().is_some() {
        return None;
    }
    read32(g, operand)
}

fn write_lane(g: &mut Guest<'_>, inst: &Inst) -> Option<()> {
    let d = inst.dst[0].vector_register()?;
    let b = g.b;
    let source = read_all(g, inst.src[0])?;
    if !source.is_wave() {
        return None;
    }
    let lane = lane_number(g, inst.src[1])?;
    let here = lane.lane_id().eq(lane & lane.k(63));
    let old = U::new(b, g.read_v_all(d));
    let here: M<'_> = here;
    g.write_v_all(d, here.pick(source, old).v);
    Some(())
}
