//! Conversions from and to floats of 8 bits.

use frontend::inst::Inst;
use frontend::op::{F8, Op};
use frontend::ops;
use frontend::state::mode;

use crate::ir::functions::LaneFn;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::value::{U, call};

/// Computes a conversion; those to 8 bits keep the rest of their destination, the last source.
pub(super) fn compute<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let s0 = args.u(0)?;
    let b = s0.builder();
    let of = |ty: F8| match ty {
        F8::Fp8 => 0,
        F8::Bf8 => 1,
    };
    let saturates = if args.mode & mode::FP16_OVFL != 0 {
        2
    } else {
        0
    };
    let op_sel = u32::from(inst.mods.op_sel);
    Some(match inst.op() {
        Op::CvtFromF8(ty) => Out::W(call(b, LaneFn::WidenF8, of(ty), &[s0.byte(0)])),
        Op::CvtPkFromF8(ty) => {
            let value = |n: u8| call(b, LaneFn::WidenF8, of(ty), &[s0.byte(n)]);
            Out::D(value(0).pair(value(1)))
        }
        Op::CvtPkToF8(ty) => {
            let code = |x: U<'b>| call(b, LaneFn::NarrowF8, of(ty) | saturates, &[x]);
            let pair = code(s0) | code(args.u(1)?).shl_k(8);
            Out::W(insert(pair, 16, 16 * (op_sel >> 3 & 1), args.u(2)?))
        }
        Op::CvtSrToF8(ty) => {
            let imm = of(ty) | saturates;
            let code = call(b, LaneFn::StochasticF8, imm, &[s0, args.u(1)?]);
            Out::W(insert(code, 8, 8 * (op_sel >> 2 & 3), args.u(2)?))
        }
        ops!(alu | special | vector | vector_wide | convert | rounding | float) => return None,
        ops!(float_wide | legacy | packed | parameters | matrix | salu | mem) => return None,
    })
}

/// `old` with `bits` bits at `at` replaced.
fn insert<'b>(value: U<'b>, bits: u32, at: u32, old: U<'b>) -> U<'b> {
    let field = ((1u64 << bits) - 1) << at;
    value.shl_k(at) | (old & old.k(!field))
}
