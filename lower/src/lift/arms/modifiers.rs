//! Modifiers of vector instructions: SDWA, DPP, OP_SEL, ABS and NEG of sources; OMOD, CLAMP and
//! placement of results.

use frontend::desc::Forms;
use frontend::inst::{Dpp, Form, Inst, Operand, Sdwa, Sel, Unused};
use frontend::op::Op;
use frontend::state::mode;
use frontend::ty::Ty;

use crate::ir::functions::LaneFn;
use crate::ir::{Float, Flush, Op as Ir, Width};
use crate::lift::arms::operands::{Out, Src, read32};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{Env, F, M, U, call, result as call_result};

// ---- sources

/// Source `i` after SDWA selection or OP_SEL, then ABS, then NEG.
pub(super) fn source<'b>(inst: &Inst, i: usize, ty: Ty, value: Src<'b>) -> Src<'b> {
    let mods = &inst.mods;
    let mut value = match (value, &mods.sdwa) {
        (Src::W(word), Some(sdwa)) if i < 2 => Src::W(select(sdwa, i, word)),
        (Src::W(word), None) if takes_half(inst, i, ty) => Src::W(word.hi16()),
        (value, _) => value,
    };
    let is_float = ty.is_float() || (inst.desc.forms.has(Forms::FLOAT_MODS) && ty == Ty::B32);
    if !is_float {
        return value;
    }
    if mods.abs >> i & 1 != 0 {
        value = on_sign(value, ty, |word, sign| word & word.k(!sign), F::abs);
    }
    if mods.neg >> i & 1 != 0 {
        value = on_sign(value, ty, |word, sign| word ^ word.k(sign), F::neg);
    }
    value
}

/// Does OP_SEL take the high half of source `i`?
fn takes_half(inst: &Inst, i: usize, ty: Ty) -> bool {
    inst.desc.forms.has(Forms::OP_SEL) && ty.bits() == 16 && inst.mods.op_sel >> i & 1 != 0
}

/// Changes the sign bit of a float source.
fn on_sign<'b>(
    value: Src<'b>,
    ty: Ty,
    word: impl Fn(U<'b>, u64) -> U<'b>,
    wide: impl Fn(F<'b>) -> F<'b>,
) -> Src<'b> {
    match value {
        Src::W(u) => Src::W(word(u, if ty == Ty::F16 { 0x8000 } else { 1 << 31 })),
        Src::D(q) => {
            let b = q.builder();
            let f = wide(q.float(Env::of(Float::F64, 0)));
            Src::D(crate::lift::value::Q::new(b, f.v))
        }
        Src::M(_) | Src::X(_) => value,
    }
}

/// SDWA selection of source `i`: moves bits without conversion.
fn select<'b>(sdwa: &Sdwa, i: usize, word: U<'b>) -> U<'b> {
    let sext = sdwa.sext[i];
    match (sdwa.src_sel[i], sext) {
        (Sel::Byte0, false) => word.byte(0),
        (Sel::Byte1, false) => word.byte(1),
        (Sel::Byte2, false) => word.byte(2),
        (Sel::Byte3, false) => word.byte(3),
        (Sel::Byte0, true) => word.sext_from(8),
        (Sel::Byte1, true) => word.shl_k(16).ashr_k(24),
        (Sel::Byte2, true) => word.shl_k(8).ashr_k(24),
        (Sel::Byte3, true) => word.ashr_k(24),
        (Sel::Word0, false) => word.lo16(),
        (Sel::Word1, false) => word.hi16(),
        (Sel::Word0, true) => word.lo16s(),
        (Sel::Word1, true) => word.hi16s(),
        (Sel::Dword, _) => word,
    }
}

/// Dword `n` of source 0 of a DPP form, fetched from other lanes, and the lanes whose destination is
/// written (`None`: all).
pub(super) fn dpp<'b>(
    g: &mut Guest<'b>,
    dpp: &Dpp,
    operand: Operand,
    n: u8,
) -> Option<(U<'b>, Option<M<'b>>)> {
    let b = g.b;
    let source = if let Some(first) = operand.vector_register() {
        U::new(b, g.read_v_all(register_behind(first, n)))
    } else {
        read32(g, operand)?
    };
    // Row and bank masks affect the write only, not which lanes may be read.
    let mut written = 0u64;
    for lane in 0..64 {
        let (row, bank) = (lane / 16, lane / 4 % 4);
        if dpp.row_mask >> row & 1 != 0 && dpp.bank_mask >> bank & 1 != 0 {
            written |= 1 << lane;
        }
    }
    let bits = b.constant(Width::W64, written);
    let masked = M::new(b, b.pure(Ir::MaskFromBits, &[bits]));
    let active = M::new(b, g.exec_mask()).int();
    let fetched = call(b, LaneFn::Dpp, u32::from(dpp.ctrl), &[source, active]);
    let enable = if dpp.bound_ctrl {
        masked
    } else {
        masked & call_result(fetched, 1).is_nonzero()
    };
    let enable = (enable.as_const() != Some(true)).then_some(enable);
    Some((fetched, enable))
}

// ---- results

/// The result after OMOD, CLAMP and, for results narrower than the register, placement.
pub(super) fn result<'b>(g: &mut Guest<'b>, inst: &Inst, out: Out<'b>) -> Out<'b> {
    let Some(&ty) = inst.desc.dst.first() else {
        return out;
    };
    match out {
        Out::W(word) => {
            let word = modified(g, inst, ty, word);
            Out::W(placed(g, inst, ty, word))
        }
        Out::WM(word, mask) => {
            let word = modified(g, inst, ty, word);
            Out::WM(placed(g, inst, ty, word), mask)
        }
        Out::D(wide) if ty == Ty::F64 => Out::D(float_out(g, inst, Float::F64, wide.v, wide)),
        Out::DM(wide, mask) if ty == Ty::F64 => {
            Out::DM(float_out(g, inst, Float::F64, wide.v, wide), mask)
        }
        Out::D(wide) if ty == Ty::PkF32 => {
            let b = g.b;
            let lo = float_out(g, inst, Float::F32, wide.lo().v, wide.lo());
            let hi = float_out(g, inst, Float::F32, wide.hi().v, wide.hi());
            Out::D(crate::lift::value::Q::new(b, lo.pair(hi).v))
        }
        Out::D(_) | Out::DM(..) | Out::X(_) | Out::M(_) => out,
    }
}

/// OMOD and CLAMP on a result of 32 or 16 bits.
fn modified<'b>(g: &mut Guest<'b>, inst: &Inst, ty: Ty, word: U<'b>) -> U<'b> {
    let mods = &inst.mods;
    if ty == Ty::F32 {
        return float_out(g, inst, Float::F32, word.v, word);
    }
    let mut word = word;
    if ty == Ty::F16 {
        if omod_acts(inst, g.mode) {
            let imm = g.mode | u32::from(mods.omod) << 28;
            word = call(g.b, LaneFn::OmodF16, imm, &[word]);
        }
        if mods.clamp {
            word = call(g.b, LaneFn::ClampF16, g.mode, &[word]);
        }
    }
    if ty == Ty::PkF16 && mods.clamp {
        word = call(g.b, LaneFn::PkClampF16, g.mode, &[word]);
    }
    word
}

/// MODE's bit that keeps denormal results of a type.
fn keep_results(ty: Ty) -> u32 {
    if matches!(ty, Ty::F32 | Ty::PkF32) {
        2 << 4
    } else if matches!(ty, Ty::F16 | Ty::F64) {
        2 << 6
    } else {
        0
    }
}

/// OMOD has no effect while output denormals are kept or MODE.IEEE is set.
pub(super) fn omod_acts(inst: &Inst, mode_bits: u32) -> bool {
    let keep = inst.desc.dst.first().map_or(0, |&ty| keep_results(ty));
    inst.mods.omod != 0 && keep != 0 && mode_bits & (keep | mode::IEEE) == 0
}

/// MODE for the operation itself: keeps denormal results if OMOD, which flushes, follows.
pub(super) fn computing_mode(inst: &Inst, mode_bits: u32) -> u32 {
    match inst.desc.dst.first() {
        Some(&ty) if omod_acts(inst, mode_bits) => mode_bits | keep_results(ty),
        _ => mode_bits,
    }
}

/// OMOD, then CLAMP, on a float of 32 or 64 bits; the handle has the result's kind.
fn float_out<'b, T: crate::lift::value::Handle<'b>>(
    g: &mut Guest<'b>,
    inst: &Inst,
    ty: Float,
    v: crate::ir::Val,
    handle: T,
) -> T {
    let env = Env::of(ty, g.mode);
    let mut f = F::new(g.b, v, env);
    if omod_acts(inst, g.mode) {
        let factor = match inst.mods.omod {
            1 => 2.0,
            2 => 4.0,
            _ => 0.5,
        };
        let flush = Flush {
            src: false,
            dst: true,
        };
        let scaled = f.in_env(env.with_flush(flush)) * f.k(factor);
        // -0 becomes +0 by an addition of +0 in nearest-even rounding.
        let nearest = Env {
            round: 0,
            ..env.keeping()
        };
        f = scaled.in_env(nearest) + scaled.k(0.0);
    }
    if inst.mods.clamp {
        f = clamp01(f);
    }
    handle.with(f.v)
}

/// Clamps to [0, 1]: -0 gives +0, NaN gives 0 with DX10_CLAMP and is unchanged otherwise.
pub(super) fn clamp01(f: F<'_>) -> F<'_> {
    let f = f.in_env(f.env.keeping());
    let (zero, one) = (f.k(0.0), f.k(1.0));
    let low = zero.lt(f).pick(f, zero);
    let both = one.lt(low).pick(one, low);
    if f.env.mode & mode::DX10_CLAMP != 0 {
        both
    } else {
        f.is_nan().pick(f, both)
    }
}

/// Places a result narrower than its register: SDWA, 16-bit results.
fn placed<'b>(g: &mut Guest<'b>, inst: &Inst, ty: Ty, word: U<'b>) -> U<'b> {
    let Some(d) = inst.dst[0].vector_register() else {
        return word;
    };
    if let Some(sdwa) = &inst.mods.sdwa {
        let old = U::new(g.b, g.read_v(d));
        return place_sdwa(sdwa, word, old);
    }
    if ty.bits() != 16 {
        return word;
    }
    let sel_high = inst.desc.forms.has(Forms::OP_SEL)
        && inst.form == Form::Native
        && inst.mods.op_sel & 8 != 0;
    let high = inst.op() == Op::MixHi || (sel_high && inst.op() != Op::MixLo);
    let keeps = high || (inst.desc.forms.has(Forms::KEEPS_HI16) && g.gfx.is_gfx9());
    if !keeps {
        return word.lo16();
    }
    let old = U::new(g.b, g.read_v(d));
    if high {
        old.lo16() | word.shl_k(16)
    } else {
        word.lo16() | (old & old.k(0xffff_0000))
    }
}

/// SDWA placement of a result.
fn place_sdwa<'b>(sdwa: &Sdwa, word: U<'b>, old: U<'b>) -> U<'b> {
    let (shift, bits) = match sdwa.dst_sel {
        Sel::Dword => return word,
        Sel::Byte0 => (0, 8),
        Sel::Byte1 => (8, 8),
        Sel::Byte2 => (16, 8),
        Sel::Byte3 => (24, 8),
        Sel::Word0 => (0, 16),
        Sel::Word1 => (16, 16),
    };
    let field = (1u64 << bits) - 1;
    match sdwa.dst_unused {
        Unused::Pad => (word & word.k(field)).shl_k(shift),
        // Sign bits above, zeros below.
        Unused::Sext => word.sext_from(bits).shl_k(shift),
        Unused::Preserve => (word & word.k(field)).shl_k(shift) | (old & old.k(!(field << shift))),
    }
}
