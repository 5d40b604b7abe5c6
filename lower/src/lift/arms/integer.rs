//! Vector integer operations of 16, 32 and 64 bits, logic, moves and byte work.

use frontend::inst::Inst;
use frontend::op::Op;
use frontend::ops;
use frontend::ty::Ty;

use crate::ir::Op as Ir;
use crate::ir::functions::LaneFn;
use crate::lift::arms::operands::{Args, Out, Src};
use crate::lift::value::{M, Q, U, call, call64, result};

/// Computes an operation with an integer or untyped result.
pub(super) fn compute<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let (d, op) = (inst.desc.ty(), inst.op());
    match d.bits() {
        16 => short(d, op, args).map(Out::W),
        64 | 128 => wide(d, op, args),
        _ => word(d, op, args),
    }
}

// ---- saturation

/// The low word of a 64-bit result, or its saturation to 32 bits.
fn saturate32<'b>(args: &Args<'b>, signed: bool, exact: impl Fn() -> Q<'b>, low: U<'b>) -> U<'b> {
    if !args.saturate {
        return low;
    }
    let exact = exact();
    if signed {
        let (min, max) = (exact.k(i32::MIN as i64 as u64), exact.k(i32::MAX as u64));
        let high = max.lt_s(exact).pick(max, exact);
        exact.lt_s(min).pick(min, high).lo()
    } else {
        // Negative results of unsigned operations are sign-extended.
        let (zero, max) = (exact.k(0), exact.k(u64::from(u32::MAX)));
        let high = max.lt_s(exact).pick(max, exact);
        exact.lt_s(zero).pick(zero, high).lo()
    }
}

fn extend<'b>(signed: bool, x: U<'b>) -> Q<'b> {
    if signed { x.sext() } else { x.zext() }
}

/// a + b, saturating if the instruction clamps.
fn add<'b>(args: &Args<'b>, signed: bool, a: U<'b>, b: U<'b>) -> U<'b> {
    saturate32(
        args,
        signed,
        || extend(signed, a) + extend(signed, b),
        a + b,
    )
}

/// A 32-bit sum `x + y` with unsigned saturation if the instruction clamps.
fn add_u<'b>(args: &Args<'b>, x: U<'b>, y: U<'b>) -> U<'b> {
    let sum = x + y;
    if args.saturate {
        sum.lt_u(x).pick(sum.k(u64::MAX), sum)
    } else {
        sum
    }
}

// ---- 16 bits

/// Values of 16-bit sources, extended by the type.
fn short<'b>(d: Ty, op: Op, args: &Args<'b>) -> Option<U<'b>> {
    let signed = d.is_signed();
    let s = |i: usize| {
        let word = args.u(i)?;
        Some(if signed { word.lo16s() } else { word.lo16() })
    };
    let (s0, s1) = (s(0)?, s(1)?);
    let s2 = || s(2);
    Some(short_op(op, signed, args.saturate, s0, s1, s2)?.lo16())
}

/// A 16-bit operation on extended sources; bits 15:0 of the result count.
pub(super) fn short_op<'b>(
    op: Op,
    signed: bool,
    saturate: bool,
    s0: U<'b>,
    s1: U<'b>,
    s2: impl Fn() -> Option<U<'b>>,
) -> Option<U<'b>> {
    let clamped = |x: U<'b>| match (saturate, signed) {
        (false, _) => x,
        (true, true) => x
            .max_s(x.k(i16::MIN as i64 as u64))
            .min_s(x.k(i16::MAX as u64)),
        (true, false) => x.max_s(x.k(0)).min_s(x.k(0xffff)),
    };
    let min = |a: U<'b>, b: U<'b>| if signed { a.min_s(b) } else { a.min_u(b) };
    let max = |a: U<'b>, b: U<'b>| if signed { a.max_s(b) } else { a.max_u(b) };
    let amount = |n: U<'b>| n & n.k(15);
    Some(match op {
        Op::Add => clamped(s0 + s1),
        Op::Sub => clamped(s0 - s1),
        Op::Mul => s0 * s1,
        Op::Mad => {
            let (product, s2) = (s0 * s1, s2()?);
            match (saturate, signed) {
                // 0xffff * 0xffff + 0xffff fits 32 bits unsigned, but not signed.
                (true, false) => (product + s2).min_u(s2.k(0xffff)),
                _ => clamped(product + s2),
            }
        }
        Op::Min => min(s0, s1),
        Op::Max => max(s0, s1),
        Op::Min3 => min(min(s0, s1), s2()?),
        Op::Max3 => max(max(s0, s1), s2()?),
        Op::Med3 => max(min(s0, s1), min(max(s0, s1), s2()?)),
        Op::Shl => s0.shl(amount(s1)),
        Op::Lshr => s0.lo16().lshr(amount(s1)),
        Op::Ashr => s0.lo16s().ashr(amount(s1)),
        Op::Mac | Op::Fma | Op::Fmac => return None,
        ops!(moves | integer | logic | bits | compare | valu | salu | mem) => return None,
    })
}

// ---- 32 bits

fn word<'b>(d: Ty, op: Op, args: &Args<'b>) -> Option<Out<'b>> {
    let signed = d.is_signed();
    let u = |i: usize| args.u(i);
    let s0 = u(0)?;
    let b = s0.builder();
    let min = |a: U<'b>, b: U<'b>| if signed { a.min_s(b) } else { a.min_u(b) };
    let max = |a: U<'b>, b: U<'b>| if signed { a.max_s(b) } else { a.max_u(b) };
    let none = s0.k(u64::MAX);
    Some(Out::W(match op {
        Op::Mov | Op::MovRelS | Op::MovRelD | Op::MovRelSD => s0,
        Op::ScreenPartition4se => call(b, LaneFn::ScreenPartition, 0, &[s0]),
        Op::Select => args.m(2)?.pick(u(1)?, s0),
        Op::Not => !s0,
        Op::Brev => s0.brev(),
        Op::Flbit => s0.is_zero().pick(none, s0.clz()),
        Op::Ff1 => s0.is_zero().pick(none, s0.ctz()),
        Op::FlbitI => {
            let differ = s0 ^ s0.ashr_k(31);
            differ.is_zero().pick(none, differ.clz())
        }
        Op::SatPkU8I16 => {
            let sat = |x: U<'b>| x.max_s(x.k(0)).min_s(x.k(255));
            sat(s0.lo16s()) | sat(s0.hi16s()).shl_k(8)
        }
        Op::Add => add(args, signed, s0, u(1)?),
        Op::Sub => {
            let s1 = u(1)?;
            saturate32(
                args,
                signed,
                || extend(signed, s0) - extend(signed, s1),
                s0 - s1,
            )
        }
        Op::AddCo => {
            let sum = s0 + u(1)?;
            return Some(carried(args, sum, sum.lt_u(s0), true));
        }
        Op::SubCo => {
            let s1 = u(1)?;
            return Some(carried(args, s0 - s1, s0.lt_u(s1), false));
        }
        Op::AddCarry => {
            let (s1, carry) = (u(1)?, args.m(2)?);
            let sum = U::new(b, b.add_with_carry(s0.v, s1.v, carry.v));
            let plain = s0 + s1;
            let out = plain.lt_u(s0) | (carry & plain.eq(none));
            return Some(carried(args, sum, out, true));
        }
        Op::SubBorrow => {
            let (s1, borrow) = (u(1)?, args.m(2)?);
            let diff = U::new(b, b.sub_with_borrow(s0.v, s1.v, borrow.v));
            let out = s0.lt_u(s1) | (borrow & s0.eq(s1));
            return Some(carried(args, diff, out, false));
        }
        Op::Mul => s0 * u(1)?,
        Op::MulHi if signed => s0.mul_hi_s(u(1)?),
        Op::MulHi => s0.mul_hi_u(u(1)?),
        Op::Mul24 => {
            let (x, y) = (low24(signed, s0), low24(signed, u(1)?));
            saturate32(
                args,
                signed,
                || extend(signed, x) * extend(signed, y),
                x * y,
            )
        }
        Op::MulHi24 => {
            let (x, y) = (low24(signed, s0), low24(signed, u(1)?));
            if signed { x.mul_hi_s(y) } else { x.mul_hi_u(y) }
        }
        Op::Mad24 => {
            let (x, y, s2) = (low24(signed, s0), low24(signed, u(1)?), u(2)?);
            let exact = || extend(signed, x) * extend(signed, y) + extend(signed, s2);
            saturate32(args, signed, exact, x * y + s2)
        }
        Op::Mad32x16 => {
            let half = |x: U<'b>| if signed { x.lo16s() } else { x.lo16() };
            let product = half(s0) * half(u(1)?);
            add(args, signed, product, u(2)?)
        }
        Op::Min => min(s0, u(1)?),
        Op::Max => max(s0, u(1)?),
        Op::Min3 => min(min(s0, u(1)?), u(2)?),
        Op::Max3 => max(max(s0, u(1)?), u(2)?),
        Op::Med3 => {
            let s1 = u(1)?;
            max(min(s0, s1), min(max(s0, s1), u(2)?))
        }
        Op::Add3 => s0 + u(1)? + u(2)?,
        Op::ShlAdd => s0.shl(u(1)?) + u(2)?,
        Op::AddShl => (s0 + u(1)?).shl(u(2)?),
        Op::ShlOr => s0.shl(u(1)?) | u(2)?,
        Op::AndOr => (s0 & u(1)?) | u(2)?,
        Op::Or3 => s0 | u(1)? | u(2)?,
        Op::XorAdd => (s0 ^ u(1)?) + u(2)?,
        Op::And => s0 & u(1)?,
        Op::Or => s0 | u(1)?,
        Op::Xor => s0 ^ u(1)?,
        Op::Xnor => !(s0 ^ u(1)?),
        Op::Shl => s0.shl(u(1)?),
        Op::Lshr => s0.lshr(u(1)?),
        Op::Ashr => s0.ashr(u(1)?),
        Op::Bfm => s0.low_mask().shl(u(1)?),
        Op::Bfe => bfe(signed, s0, u(1)?, u(2)?),
        Op::Bfi => {
            // (S0 & S1) | (~S0 & S2), with one operation fewer
            let s2 = u(2)?;
            ((u(1)? ^ s2) & s0) ^ s2
        }
        Op::BcntAdd => s0.popcnt() + u(1)?,
        Op::AlignBit => align(s0, u(1)?, u(2)?),
        Op::AlignByte => {
            let s2 = u(2)?;
            align(s0, u(1)?, (s2 & s2.k(3)).shl_k(3))
        }
        Op::Perm => {
            let (s1, s2) = (u(1)?, u(2)?);
            if s2.as_const().is_some() {
                s0.with_pure(Ir::Perm, &[s0, s1, s2])
            } else {
                call(b, LaneFn::Perm, 0, &[s0, s1, s2])
            }
        }
        Op::Lerp => call(b, LaneFn::Lerp, 0, &[s0, u(1)?, u(2)?]),
        Op::SadU8 => add_u(args, call(b, LaneFn::SadU8, 0, &[s0, u(1)?]), u(2)?),
        Op::SadHiU8 => add_u(
            args,
            call(b, LaneFn::SadU8, 0, &[s0, u(1)?]).shl_k(16),
            u(2)?,
        ),
        Op::SadU16 => add_u(args, call(b, LaneFn::SadU16, 0, &[s0, u(1)?]), u(2)?),
        Op::SadU32 => {
            let s1 = u(1)?;
            add_u(args, s0.max_u(s1) - s0.min_u(s1), u(2)?)
        }
        Op::MsadU8 => add_u(args, call(b, LaneFn::MsadU8, 0, &[s0, u(1)?]), u(2)?),
        Op::MbcntLo => mbcnt_lo(s0) + u(1)?,
        Op::MbcntHi => return Some(Out::W(mbcnt_hi(s0, u(1)?))),
        Op::Nop | Op::MovRelSD2 | Op::Mad | Op::Mac | Op::Fma | Op::Fmac => return None,
        Op::AndN2 | Op::OrN2 | Op::Nand | Op::Nor => return None,
        ops!(
            special | vector_wide | compare | convert | eight_bits | packed | parameters | matrix
        ) => {
            return None;
        }
        ops!(rounding | float | float_wide | legacy | salu | mem) => return None,
    }))
}

/// A sum or difference with its carry, saturating if the instruction clamps.
fn carried<'b>(args: &Args<'b>, value: U<'b>, carry: M<'b>, up: bool) -> Out<'b> {
    let value = match (args.saturate, up) {
        (false, _) => value,
        (true, true) => carry.pick(value.k(u64::MAX), value),
        (true, false) => carry.pick(value.k(0), value),
    };
    Out::WM(value, carry)
}

/// The 24-bit factor.
fn low24(signed: bool, x: U<'_>) -> U<'_> {
    if signed {
        x.sext_from(24)
    } else {
        x & x.k(0x00ff_ffff)
    }
}

/// Bit field at s1[4:0], s2[4:0] bits wide; 0 bits give 0.
fn bfe<'b>(signed: bool, s0: U<'b>, s1: U<'b>, s2: U<'b>) -> U<'b> {
    let b = s0.builder();
    if !s1.is_wave() || !s2.is_wave() {
        let f = if signed { LaneFn::BfeI } else { LaneFn::BfeU };
        return call(b, f, 0, &[s0, s1, s2]);
    }
    let (offset, width) = (s1 & s1.k(31), s2 & s2.k(31));
    match (signed, offset.as_const(), width.as_const()) {
        (_, _, Some(0)) => s0.k(0),
        (false, Some(o), Some(8)) if o % 8 == 0 => s0.byte((o / 8) as u8),
        (false, ..) => s0.lshr(offset) & width.low_mask(),
        (true, Some(0), Some(width)) => s0.sext_from(width as u8),
        (true, ..) => {
            // A field that ends above bit 31 is sign-extended from bit 31.
            let up = width.k(32) - width;
            width
                .is_zero()
                .pick(s0.k(0), s0.ashr(offset).shl(up).ashr(up))
        }
    }
}

/// {s0, s1} >> s2[4:0]
fn align<'b>(s0: U<'b>, s1: U<'b>, s2: U<'b>) -> U<'b> {
    if s2.is_wave() {
        s0.with_pure(Ir::AlignBit, &[s0, s1, s2])
    } else {
        call(s0.builder(), LaneFn::AlignBitVar, 0, &[s0, s1, s2])
    }
}

/// Ones of s0 below the lane among lanes 0..32.
fn mbcnt_lo(s0: U<'_>) -> U<'_> {
    match s0.as_const() {
        Some(0xffff_ffff) => s0.lane_id().min_u(s0.k(32)),
        _ => call(s0.builder(), LaneFn::MbcntLo, 0, &[s0]),
    }
}

/// Ones of s0 below the lane among lanes 32..64, plus s1.
fn mbcnt_hi<'b>(s0: U<'b>, s1: U<'b>) -> U<'b> {
    if s0.as_const() != Some(0xffff_ffff) {
        return call(s0.builder(), LaneFn::MbcntHi, 0, &[s0]) + s1;
    }
    let lane = s0.lane_id();
    // The idiom for the lane's number: mbcnt_hi(-1, mbcnt_lo(-1, 0)).
    if s1.v == lane.min_u(s0.k(32)).v {
        return lane;
    }
    lane.max_u(s0.k(32)) - s0.k(32) + s1
}

// ---- 64 and 128 bits

fn wide<'b>(d: Ty, op: Op, args: &Args<'b>) -> Option<Out<'b>> {
    let signed = d.is_signed();
    Some(match op {
        Op::Mov => Out::D(args.q(0)?),
        Op::ShlAdd64 => {
            let (s0, s1, s2) = (args.q(0)?, args.u(1)?, args.q(2)?);
            let by = s1 & s1.k(7);
            // More than four places are none.
            let by = by.k(4).lt_u(by).pick(by.k(0), by);
            Out::D(s0.shl(by) + s2)
        }
        Op::Shl => Out::D(args.q(0)?.shl(args.u(1)?)),
        Op::Lshr => Out::D(args.q(0)?.lshr(args.u(1)?)),
        Op::Ashr => Out::D(args.q(0)?.ashr(args.u(1)?)),
        Op::Mad64 => {
            let (s0, s1, s2) = (args.u(0)?, args.u(1)?, args.q(2)?);
            let product = extend(signed, s0) * extend(signed, s1);
            let sum = product + s2;
            let carry = sum.lt_u(s2);
            if !signed {
                let sum = if args.saturate {
                    carry.pick(sum.k(u64::MAX), sum)
                } else {
                    sum
                };
                return Some(Out::DM(sum, carry));
            }
            // Bit 64 of the sum of the sign-extended operands: the signs and the carry into it.
            let negative = |x: Q<'b>| x.lt_s(x.k(0));
            let bit64 = negative(product) ^ negative(s2) ^ carry;
            let overflow = negative((sum ^ product) & (sum ^ s2));
            let sum = if args.saturate {
                let edge = negative(product).pick(sum.k(1 << 63), sum.k(u64::MAX >> 1));
                overflow.pick(edge, sum)
            } else {
                sum
            };
            Out::DM(sum, bit64)
        }
        Op::QsadPkU16U8 => window_sums(LaneFn::QsadPk, args)?,
        Op::MqsadPkU16U8 => window_sums(LaneFn::MqsadPk, args)?,
        Op::MqsadU32U8 => {
            let (s0, s1) = (args.q(0)?, args.u(1)?);
            let Some(Src::X([a, b, c, e])) = args.src.get(2).copied() else {
                return None;
            };
            let words = [s0.lo(), s0.hi(), s1, a, b, c, e];
            let imm = u32::from(args.saturate);
            let first = call(s1.builder(), LaneFn::MqsadU32, imm, &words);
            Out::X([first, result(first, 1), result(first, 2), result(first, 3)])
        }
        Op::Nop | Op::Select | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => {
            return None;
        }
        ops!(arithmetic | integer | logic | bits | compare | special | vector) => return None,
        ops!(
            convert
                | eight_bits
                | rounding
                | float
                | float_wide
                | legacy
                | packed
                | parameters
                | matrix
        ) => {
            return None;
        }
        ops!(salu | mem) => return None,
    })
}

/// Sums of absolute differences of four windows, in four halves.
fn window_sums<'b>(f: LaneFn, args: &Args<'b>) -> Option<Out<'b>> {
    let (s0, s1, s2) = (args.q(0)?, args.u(1)?, args.q(2)?);
    let words = [s0.lo(), s0.hi(), s1, s2.lo(), s2.hi()];
    let imm = u32::from(args.saturate);
    Some(Out::D(call64(s1.builder(), f, imm, &words)))
}
