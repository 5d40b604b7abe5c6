//! VOP3P: packed halves, mixed precision, dot products, packed f32. OP_SEL chooses the half of each
//! source for the low result, OP_SEL_HI for the high one.

use frontend::inst::Inst;
use frontend::op::Op;
use frontend::ops;
use frontend::state::mode;
use frontend::ty::Ty;

use crate::ir::functions::LaneFn;
use crate::ir::{Float, Halves};
use crate::lift::arms::integer::short_op;
use crate::lift::arms::operands::{Args, Out};
use crate::lift::guest::Guest;
use crate::lift::value::{Env, F, Q, U, call};

/// Computes a VOP3P instruction, or one of the VOP2 dot products.
pub(super) fn compute<'b>(g: &mut Guest<'b>, inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    match inst.op() {
        Op::Mix | Op::MixLo | Op::MixHi => mix(g, inst, args),
        Op::Dot2 | Op::Dot2c | Op::Dot4 | Op::Dot4c | Op::Dot8 | Op::Dot8c => dot(inst, args),
        Op::Mov => {
            let half = |i: usize, bit: u8| {
                let s = args.q(i)?;
                Some(if bit >> i & 1 != 0 { s.hi() } else { s.lo() })
            };
            // OP_SEL of S0 chooses the low result, that of S1 the high one.
            let (lo, hi) = (half(0, inst.mods.op_sel)?, half(1, inst.mods.op_sel)?);
            Some(Out::D(lo.pair(hi)))
        }
        ops!(arithmetic | shifts) => {
            let ty = inst.desc.ty();
            if ty == Ty::PkF32 {
                pair_f32(inst, args)
            } else if ty == Ty::PkF16 {
                halves_float(inst, args).map(Out::W)
            } else {
                halves_int(inst, args).map(Out::W)
            }
        }
        Op::Nop | Op::Select | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => None,
        ops!(
            integer
                | logic
                | bits
                | compare
                | special
                | vector
                | vector_wide
                | convert
                | eight_bits
        ) => None,
        ops!(rounding | float | float_wide | legacy | parameters | matrix | salu | mem) => None,
    }
}

/// Encoding position of the operation's source `i`.
fn position(inst: &Inst, i: usize) -> usize {
    match (inst.desc.rev, i) {
        (true, 0) => 1,
        (true, 1) => 0,
        _ => i,
    }
}

// ---- packed integers

fn halves_int<'b>(inst: &Inst, args: &Args<'b>) -> Option<U<'b>> {
    let mods = &inst.mods;
    let signed = inst.desc.ty() == Ty::PkI16;
    if let Some(d) = at_once(inst, args, signed) {
        return Some(d);
    }
    let half = |i: usize, sel: u8| {
        let word = args.u(i)?;
        let high = sel >> position(inst, i) & 1 != 0;
        Some(match (high, signed) {
            (false, false) => word.lo16(),
            (false, true) => word.lo16s(),
            (true, false) => word.hi16(),
            (true, true) => word.hi16s(),
        })
    };
    let one = |sel: u8| {
        let s2 = || half(2, sel);
        short_op(
            inst.op(),
            signed,
            args.saturate,
            half(0, sel)?,
            half(1, sel)?,
            s2,
        )
    };
    Some(one(mods.op_sel)?.pack16(one(mods.op_sel_hi)?))
}

/// Operations that the host computes on both halves at once.
fn at_once<'b>(inst: &Inst, args: &Args<'b>, signed: bool) -> Option<U<'b>> {
    let (s0, s1) = (placed(inst, args, 0)?, placed(inst, args, 1)?);
    let shift = |op| {
        let by = s1.as_const()? as u32;
        let n = by & 15;
        (by >> 16 & 15 == n).then(|| s0.shift_halves(op, n as u8))
    };
    let op = match inst.op() {
        Op::Add if !args.saturate => Halves::Add,
        Op::Add if signed => Halves::AddSatS,
        Op::Add => Halves::AddSatU,
        Op::Sub if !args.saturate => Halves::Sub,
        Op::Sub if signed => Halves::SubSatS,
        Op::Sub => Halves::SubSatU,
        Op::Mul => Halves::Mul,
        Op::Mad if !args.saturate => {
            let product = s0.halves(Halves::Mul, s1);
            return Some(product.halves(Halves::Add, placed(inst, args, 2)?));
        }
        Op::Min if signed => Halves::MinS,
        Op::Min => Halves::MinU,
        Op::Max if signed => Halves::MaxS,
        Op::Max => Halves::MaxU,
        Op::Shl => return shift(Halves::Shl),
        Op::Lshr => return shift(Halves::Lshr),
        Op::Ashr => return shift(Halves::Ashr),
        Op::Mad | Op::Mac | Op::Fma | Op::Fmac | Op::Min3 | Op::Max3 | Op::Med3 => return None,
        ops!(moves | integer | logic | bits | compare | valu | salu | mem) => return None,
    };
    Some(s0.halves(op, s1))
}

/// A source with its halves selected.
fn placed<'b>(inst: &Inst, args: &Args<'b>, i: usize) -> Option<U<'b>> {
    let mods = &inst.mods;
    let at = position(inst, i);
    let word = args.u(i)?;
    let (lo_high, hi_high) = (mods.op_sel >> at & 1 != 0, mods.op_sel_hi >> at & 1 != 0);
    Some(match (lo_high, hi_high) {
        (false, true) => word,
        (false, false) => word.lo16() | word.shl_k(16),
        (true, true) => word.hi16() | (word & word.k(0xffff_0000)),
        (true, false) => word.hi16() | word.shl_k(16),
    })
}

// ---- packed f16

/// A source with its halves selected and its signs applied.
fn arranged<'b>(inst: &Inst, args: &Args<'b>, i: usize) -> Option<U<'b>> {
    let mods = &inst.mods;
    let at = position(inst, i);
    let placed = placed(inst, args, i)?;
    let neg = u64::from(mods.neg >> at & 1) << 15 | u64::from(mods.neg_hi >> at & 1) << 31;
    Some(placed ^ placed.k(neg))
}

fn halves_float<'b>(inst: &Inst, args: &Args<'b>) -> Option<U<'b>> {
    let s0 = arranged(inst, args, 0)?;
    let s1 = arranged(inst, args, 1)?;
    let b = s0.builder();
    // VOP3P exists on gfx9 only: see `half`.
    let two = |f: LaneFn| call(b, f, args.mode | 1 << 31, &[s0, s1]);
    Some(match inst.op() {
        Op::Add => two(LaneFn::PkAddF16),
        Op::Mul => two(LaneFn::PkMulF16),
        Op::Min => two(LaneFn::PkMinF16),
        Op::Max => two(LaneFn::PkMaxF16),
        Op::Fma => {
            let s2 = arranged(inst, args, 2)?;
            call(b, LaneFn::PkFmaF16, args.mode, &[s0, s1, s2])
        }
        Op::Sub | Op::Mad | Op::Mac | Op::Fmac | Op::Min3 | Op::Max3 | Op::Med3 => return None,
        ops!(moves | integer | logic | shifts | bits | compare | valu | salu | mem) => return None,
    })
}

// ---- packed f32 (gfx90a)

fn pair_f32<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let mods = &inst.mods;
    let env = Env::of(Float::F32, args.mode);
    let source = |i: usize, sel: u8, neg: u8| {
        let s = args.q(i)?;
        let word = if sel >> i & 1 != 0 { s.hi() } else { s.lo() };
        let f = word.float(env);
        Some(if neg >> i & 1 != 0 { f.neg() } else { f })
    };
    let one = |sel: u8, neg: u8| -> Option<U<'b>> {
        let (s0, s1) = (source(0, sel, neg)?, source(1, sel, neg)?);
        Some(
            match inst.op() {
                Op::Add => s0 + s1,
                Op::Mul => s0 * s1,
                Op::Fma => s0.fma(s1, source(2, sel, neg)?),
                Op::Sub | Op::Mad | Op::Mac | Op::Fmac | Op::Min | Op::Max => return None,
                Op::Min3 | Op::Max3 | Op::Med3 => return None,
                ops!(moves | integer | logic | shifts | bits | compare) => return None,
                ops!(valu | salu | mem) => return None,
            }
            .word(),
        )
    };
    let lo = one(mods.op_sel, mods.neg)?;
    let hi = one(mods.op_sel_hi, mods.neg_hi)?;
    Some(Out::D(lo.pair(hi)))
}

// ---- mixed precision

fn mix<'b>(g: &mut Guest<'b>, inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let b = g.b;
    let mods = &inst.mods;
    // gfx900 multiplies, rounds and adds, and flushes; later targets fuse.
    let fused = g.gfx.has_fused_mix();
    let env = Env::of(Float::F32, args.mode);
    let env = if fused { env } else { env.flushing() };
    let widen = if fused {
        LaneFn::CvtF32F16
    } else {
        LaneFn::WidenF16Flush
    };
    let source = |i: usize| -> Option<F<'b>> {
        let mut word = args.u(i)?;
        if mods.op_sel_hi >> i & 1 != 0 {
            if mods.op_sel >> i & 1 != 0 {
                word = word.hi16();
            }
            word = call(b, widen, args.mode, &[word]);
        }
        let mut f = word.float(env);
        if mods.abs >> i & 1 != 0 {
            f = f.abs();
        }
        if mods.neg >> i & 1 != 0 {
            f = f.neg();
        }
        Some(f)
    };
    let (s0, s1, s2) = (source(0)?, source(1)?, source(2)?);
    let d = if fused {
        s0.fma(s1, s2)
    } else {
        super::float::mad(g.exact_nan, false, s0, s1, s2)
    };
    Some(Out::W(if inst.op() == Op::Mix {
        d.word()
    } else if fused {
        // The intermediate f32 sum is not a source and not flushed again.
        let mode = args.mode | mode::DENORM_F32;
        call(b, LaneFn::CvtF16F32, mode, &[d.word()])
    } else {
        call(b, LaneFn::NarrowF16Flush, args.mode, &[d.word()])
    }))
}

// ---- dot products

fn dot<'b>(inst: &Inst, args: &Args<'b>) -> Option<Out<'b>> {
    let (s0, s1, s2) = (args.u(0)?, args.u(1)?, args.u(2)?);
    let b = s0.builder();
    let signed = inst.desc.ty() == Ty::I32;
    let mods = &inst.mods;
    let is_vop3p = inst.desc.encoding == frontend::Encoding::Vop3p;
    let (op_sel, op_sel_hi) = if is_vop3p {
        (mods.op_sel, mods.op_sel_hi)
    } else {
        (0, 7)
    };
    // The pair of factors of the low or the high product.
    let high = |i: usize, sel: u8| sel >> i & 1 != 0;
    Some(Out::W(match inst.op() {
        Op::Dot2 | Op::Dot2c if inst.desc.ty() == Ty::F32 => {
            // Denormals are always flushed; halves are exact in f32.
            let env = Env::of(Float::F32, args.mode).flushing();
            let half = |word: U<'b>, i: usize, sel: u8, neg: u8| {
                let half = if high(i, sel) { word.hi16() } else { word };
                let f = call(b, LaneFn::WidenF16, args.mode, &[half]).float(env);
                if is_vop3p && neg >> i & 1 != 0 {
                    f.neg()
                } else {
                    f
                }
            };
            let product = |sel: u8, neg: u8| half(s0, 0, sel, neg) * half(s1, 1, sel, neg);
            let mut s2 = s2.float(env);
            if is_vop3p && mods.neg >> 2 & 1 != 0 {
                s2 = s2.neg();
            }
            (s2 + product(op_sel, mods.neg) + product(op_sel_hi, mods.neg_hi)).word()
        }
        Op::Dot2 | Op::Dot2c => {
            let half = |word: U<'b>, i: usize, sel: u8| match (high(i, sel), signed) {
                (false, false) => word.lo16(),
                (false, true) => word.lo16s(),
                (true, false) => word.hi16(),
                (true, true) => word.hi16s(),
            };
            let product = |sel: u8| half(s0, 0, sel) * half(s1, 1, sel);
            let (x, y) = (product(op_sel), product(op_sel_hi));
            sum(args, signed, &[x, y, s2])
        }
        Op::Dot4 | Op::Dot4c => {
            let f = if signed { LaneFn::Dot4I } else { LaneFn::Dot4U };
            sum(args, signed, &[call(b, f, 0, &[s0, s1]), s2])
        }
        Op::Dot8 | Op::Dot8c => {
            let f = if signed { LaneFn::Dot8I } else { LaneFn::Dot8U };
            sum(args, signed, &[call(b, f, 0, &[s0, s1]), s2])
        }
        Op::Mix | Op::MixLo | Op::MixHi => return None,
        ops!(alu | special | vector | vector_wide | convert | eight_bits | rounding | float) => {
            return None;
        }
        ops!(float_wide | legacy | parameters | matrix | salu | mem) => return None,
    }))
}

/// The sum of 32-bit terms, saturating at the end if the instruction clamps.
fn sum<'b>(args: &Args<'b>, signed: bool, terms: &[U<'b>]) -> U<'b> {
    let low = terms[1..].iter().fold(terms[0], |acc, &term| acc + term);
    if !args.saturate {
        return low;
    }
    let wide = |x: U<'b>| if signed { x.sext() } else { x.zext() };
    let exact = terms[1..]
        .iter()
        .fold(wide(terms[0]), |acc, &term| acc + wide(term));
    let (min, max) = if signed {
        (i64::from(i32::MIN) as u64, i32::MAX as u64)
    } else {
        (0, u64::from(u32::MAX))
    };
    let (min, max): (Q<'b>, Q<'b>) = (exact.k(min), exact.k(max));
    let top = max.lt_s(exact).pick(max, exact);
    exact.lt_s(min).pick(min, top).lo()
}
