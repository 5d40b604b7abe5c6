//! Vector conversions.

use frontend::inst::Inst;
use frontend::op::Op;
use frontend::ops;
use frontend::ty::Ty;

use crate::ir::Float;
use crate::ir::functions::LaneFn;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::value::{Env, U, call};

/// Computes a conversion.
pub(super) fn compute<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let mode = args.mode;
    let f32_env = Env::of(Float::F32, mode);
    let u = |i: usize| args.u(i);
    let by_one = |f: LaneFn, x: U<'b>| call(x.builder(), f, mode, &[x]);
    Some(Out::W(match inst.op() {
        Op::Cvt => return number(inst.desc.ty(), args),
        Op::CvtRpi => by_one(LaneFn::CvtRpi, u(0)?),
        Op::CvtFlr => args.f(0)?.flush_src().floor().to_s(),
        Op::CvtOffI4 => {
            // A signed nibble divided by 16 is exact.
            let nibble = u(0)?.sext_from(4).cvt_s(f32_env.keeping());
            let exact = Env {
                round: 0,
                ..f32_env.keeping()
            };
            (nibble.in_env(exact) * nibble.k(0.0625)).word()
        }
        Op::CvtUbyte(n) => u(0)?.byte(n).cvt_u(f32_env).word(),
        Op::CvtPkU8 | Op::CvtPkAccumU8 => {
            let x = args.f(0)?.flush_src().word();
            insert_byte(by_one(LaneFn::CvtU8F32, x), u(1)?, u(2)?)
        }
        Op::CvtPkNorm => {
            let f = match (args.ty(0), inst.desc.ty()) {
                (Ty::F16, Ty::PkI16) => LaneFn::NormI16F16,
                (Ty::F16, _) => LaneFn::NormU16F16,
                (_, Ty::PkI16) => LaneFn::NormI16F32,
                _ => LaneFn::NormU16F32,
            };
            by_one(f, u(0)?).pack16(by_one(f, u(1)?))
        }
        Op::CvtNorm if inst.desc.ty() == Ty::I16 => by_one(LaneFn::NormI16F16, u(0)?).lo16(),
        Op::CvtNorm => by_one(LaneFn::NormU16F16, u(0)?).lo16(),
        Op::PackF16 => u(0)?.pack16(u(1)?),
        Op::CvtPkRtz => call(u(0)?.builder(), LaneFn::PkRtzF16, mode, &[u(0)?, u(1)?]),
        Op::CvtPkInt => {
            let sat = |x: U<'b>| {
                if inst.desc.ty() == Ty::PkI16 {
                    x.max_s(x.k(i16::MIN as i64 as u64))
                        .min_s(x.k(i16::MAX as u64))
                } else {
                    x.min_u(x.k(0xffff))
                }
            };
            sat(u(0)?).pack16(sat(u(1)?))
        }
        Op::FrexpExp if args.ty(0) == Ty::F16 => by_one(LaneFn::FrexpExpF16, u(0)?).lo16(),
        Op::FrexpExp => args.f(0)?.flush_src().frexp_exp(),
        ops!(alu | special | vector | vector_wide | rounding | float | float_wide) => return None,
        ops!(eight_bits | legacy | packed | parameters | matrix | salu | mem) => return None,
    }))
}

/// Byte s1[1:0] of s2 replaced.
fn insert_byte<'b>(byte: U<'b>, s1: U<'b>, s2: U<'b>) -> U<'b> {
    let at = (s1 & s1.k(3)).shl_k(3);
    let hole = s1.k(0xff).shl(at);
    (byte & byte.k(0xff)).shl(at) | (s2 & !hole)
}

/// Conversion by source and destination type.
fn number<'b>(to: Ty, args: &Args<'b>) -> Option<Out<'b>> {
    let mode = args.mode;
    let f32_env = Env::of(Float::F32, mode);
    let f64_env = Env::of(Float::F64, mode);
    let nearest = f32_env.round == 0;
    let by_one = |f: LaneFn| {
        let s0 = args.u(0)?;
        Some(call(s0.builder(), f, mode, &[s0]))
    };
    Some(match (args.ty(0), to) {
        (Ty::I32, Ty::F32) if nearest => Out::W(args.u(0)?.cvt_s(f32_env).word()),
        (Ty::U32, Ty::F32) if nearest => Out::W(args.u(0)?.cvt_u(f32_env).word()),
        (Ty::I32, Ty::F32) => Out::W(by_one(LaneFn::CvtF32I32)?),
        (Ty::U32, Ty::F32) => Out::W(by_one(LaneFn::CvtF32U32)?),
        // Every 32-bit integer is an f64.
        (Ty::I32, Ty::F64) => wide(args.u(0)?.cvt_s(f64_env)),
        (Ty::U32, Ty::F64) => wide(args.u(0)?.cvt_u(f64_env)),
        (Ty::F32 | Ty::F64, Ty::I32) => Out::W(args.f(0)?.to_s()),
        (Ty::F32 | Ty::F64, Ty::U32) => Out::W(args.f(0)?.to_u()),
        (Ty::F32, Ty::F64) => wide(args.f(0)?.flush_src().widen(f64_env)),
        (Ty::F64, Ty::F32) => {
            let s0 = args.f(0)?.flush_src();
            if nearest {
                // The result's denormals are f32's, the source's f64's.
                let mut env = f32_env;
                env.flush.src = false;
                Out::W(s0.narrow(env).word())
            } else {
                Out::W(call(s0.builder(), LaneFn::CvtF32F64, mode, &s0.words()))
            }
        }
        (Ty::F32, Ty::F16) => Out::W(by_one(LaneFn::CvtF16F32)?),
        (Ty::F16, Ty::F32) => Out::W(by_one(LaneFn::CvtF32F16)?),
        (Ty::U16, Ty::F16) => Out::W(by_one(LaneFn::CvtF16U16)?),
        (Ty::I16, Ty::F16) => Out::W(by_one(LaneFn::CvtF16I16)?),
        (Ty::F16, Ty::U16) => Out::W(by_one(LaneFn::CvtU16F16)?),
        (Ty::F16, Ty::I16) => Out::W(by_one(LaneFn::CvtI16F16)?.lo16()),
        _ => return None,
    })
}

fn wide(f: crate::lift::value::F<'_>) -> Out<'_> {
    Out::D(crate::lift::value::Q::new(f.builder(), f.v))
}
