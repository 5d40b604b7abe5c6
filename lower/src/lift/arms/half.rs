//! Vector operations with f16 results. The IR has no f16 arithmetic: all of it is lane functions.

use frontend::inst::Inst;
use frontend::op::Op;
use frontend::ops;

use crate::ir::functions::LaneFn;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::value::{U, call};

/// Computes an operation with an f16 result.
pub(super) fn compute<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let s0 = args.u(0)?;
    let b = s0.builder();
    // Functions that differ by target see gfx9 in bit 31.
    let mode = args.mode | u32::from(args.gfx9) << 31;
    let u = |i: usize| args.u(i);
    let one = |f: LaneFn| call(b, f, mode, &[s0]);
    let two = |f: LaneFn, x: U<'b>, y: U<'b>| call(b, f, mode, &[x, y]);
    let three = |f: LaneFn| Some(call(b, f, mode, &[s0, u(1)?, u(2)?]));
    let packed = inst.desc.ty().bits() == 32;
    Some(Out::W(match inst.op() {
        // v_pk_fmac_f16
        Op::Fmac if packed => three(LaneFn::PkFmaF16)?,
        Op::Add => two(LaneFn::AddF16, s0, u(1)?),
        Op::Sub => two(LaneFn::SubF16, s0, u(1)?),
        Op::Mul => two(LaneFn::MulF16, s0, u(1)?),
        Op::Mad | Op::Mac => {
            // An output modifier flushes the sum.
            let imm = mode | u32::from(args.omod) << 30;
            call(b, LaneFn::MadF16, imm, &[s0, u(1)?, u(2)?])
        }
        Op::Fma | Op::Fmac => three(LaneFn::FmaF16)?,
        Op::Min => two(LaneFn::MinF16, s0, u(1)?),
        Op::Max => two(LaneFn::MaxF16, s0, u(1)?),
        Op::Min3 => two(LaneFn::MinF16, two(LaneFn::MinF16, s0, u(1)?), u(2)?),
        Op::Max3 => two(LaneFn::MaxF16, two(LaneFn::MaxF16, s0, u(1)?), u(2)?),
        Op::Med3 => three(LaneFn::Med3F16)?,
        Op::Ldexp => two(LaneFn::LdexpF16, s0, u(1)?),
        Op::DivFixup => three(LaneFn::DivFixupF16)?,
        Op::Exp => one(LaneFn::ExpF16),
        Op::Log => one(LaneFn::LogF16),
        Op::Rcp => one(LaneFn::RcpF16),
        Op::Rsq => one(LaneFn::RsqF16),
        Op::Sqrt => one(LaneFn::SqrtF16),
        Op::Sin => one(LaneFn::SinF16),
        Op::Cos => one(LaneFn::CosF16),
        Op::Fract => one(LaneFn::FractF16),
        Op::Floor => one(LaneFn::FloorF16),
        Op::Ceil => one(LaneFn::CeilF16),
        Op::Trunc => one(LaneFn::TruncF16),
        Op::Rndne => one(LaneFn::RndneF16),
        Op::FrexpMant => one(LaneFn::FrexpMantF16),
        ops!(moves | integer | logic | shifts | bits | compare | salu | mem) => return None,
        ops!(special | vector | vector_wide | convert | eight_bits | float_wide | legacy) => {
            return None;
        }
        ops!(packed | parameters | matrix) => return None,
    }))
}
