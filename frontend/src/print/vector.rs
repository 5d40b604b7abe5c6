//! Vector ALU instructions as text: form suffix, operands with their modifiers, then the modifiers
//! of the form.

use crate::desc::{Encoding, Forms};
use crate::inst::{Dpp, Form, Inst, Operand, Sdwa, Sel, Unused};
use crate::op::Op;
use crate::print::operand::{Sep, operand, put};
use crate::target::Gfx;
use crate::ty::Ty;

/// Appends the instruction.
pub(super) fn text(out: &mut String, inst: &Inst, gfx: Gfx) {
    let desc = inst.desc;
    out.push_str(desc.name_on(gfx));
    if desc.src.is_empty() {
        // `v_nop` is the only one with forms, and has no suffix.
        if let Some(dpp) = inst.mods.dpp {
            dpp_modifiers(out, &dpp);
        }
        return;
    }
    out.push_str(suffix(inst, gfx));

    let mut sep = Sep::default();
    for (i, &ty) in desc.dst.iter().enumerate() {
        sep.next(out);
        operand(out, gfx, inst.dst[i], ty);
    }
    for i in 0..desc.src.len() {
        sep.next(out);
        source(out, inst, gfx, i);
    }
    match (inst.mods.sdwa, inst.mods.dpp) {
        (Some(sdwa), _) => sdwa_modifiers(out, inst, gfx, &sdwa),
        (None, Some(dpp)) => dpp_modifiers(out, &dpp),
        (None, None) if desc.encoding == Encoding::Vop3p => packed_modifiers(out, inst, gfx),
        (None, None) => {
            op_sel(out, inst, gfx);
            output_modifiers(out, inst);
        }
    }
}

/// `_e32`, `_e64`, `_sdwa`, `_dpp`, or nothing for instructions with one encoding only.
fn suffix(inst: &Inst, gfx: Gfx) -> &'static str {
    let desc = inst.desc;
    match (inst.form, desc.encoding) {
        // An oddity of LLVM's: the compares of gfx8 have no suffix in this form.
        (Form::Sdwa, Encoding::Vopc) if !gfx.is_gfx9() => "",
        (Form::Sdwa, _) => "_sdwa",
        (Form::Dpp, _) => "_dpp",
        (Form::Vop3, _) => "_e64",
        (Form::Native, Encoding::Vop3 | Encoding::Vop3p) => "",
        (Form::Native, Encoding::Vintrp) if gfx.is_gfx6_7() => "",
        (Form::Native, _) if desc.forms.has(Forms::NO_VOP3) && desc.op != Op::Fmac => "",
        (Form::Native, _) => "_e32",
    }
}

fn source(out: &mut String, inst: &Inst, gfx: Gfx, i: usize) {
    let desc = inst.desc;
    let mods = &inst.mods;
    let value = inst.src[i];
    let ty = desc.src[i];
    match value {
        Operand::Imm(raw) if interpolation(desc.op) => {
            return if i == 0 {
                out.push_str(match raw {
                    0 => "p10",
                    1 => "p20",
                    2 => "p0",
                    _ => return put!(out, "invalid_param_{raw}"),
                });
            } else {
                let channel = ['x', 'y', 'z', 'w'][raw as usize >> 6 & 3];
                put!(out, "attr{}.{channel}", raw & 63);
            };
        }
        _ => {}
    }
    let mix = matches!(desc.op, Op::Mix | Op::MixLo | Op::MixHi);
    let packed = desc.encoding == Encoding::Vop3p && !mix;
    let neg = mods.neg >> i & 1 != 0 && !packed;
    let abs = mods.abs >> i & 1 != 0;
    let sext = mods.neg_int >> i & 1 != 0 || mods.sdwa.is_some_and(|sdwa| i < 2 && sdwa.sext[i]);
    let ty = if mix && mods.op_sel_hi >> i & 1 != 0 {
        Ty::F16
    } else {
        ty
    };
    // LLVM takes the exponent of the half-precision form for an f16.
    let ty = if (desc.op, i) == (Op::Ldexp, 1) && ty == Ty::I16 {
        Ty::F16
    } else {
        ty
    };
    // A minus before a number would read as a negative number.
    let number = matches!(value, Operand::Inline { .. } | Operand::Literal { .. });
    let (open, close) = match (neg, abs) {
        (false, false) if sext => ("sext(", ")"),
        (false, false) => ("", ""),
        (false, true) => ("|", "|"),
        (true, true) => ("-|", "|"),
        (true, false) if number => ("neg(", ")"),
        (true, false) => ("-", ""),
    };
    out.push_str(open);
    match value {
        // K is printed as it stands.
        Operand::Literal { word, .. } if desc.forms.has(Forms::LITERAL_K) && is_k(inst, i) => {
            put!(out, "0x{word:x}");
        }
        _ => operand(out, gfx, value, ty),
    }
    out.push_str(close);
}

/// Is source `i` of `v_madmk` or `v_madak` its K?
fn is_k(inst: &Inst, i: usize) -> bool {
    i == if matches!(inst.src[2], Operand::Literal { .. }) {
        2
    } else {
        1
    }
}

fn interpolation(op: Op) -> bool {
    matches!(
        op,
        Op::InterpP1 | Op::InterpP1Ll | Op::InterpP1Lv | Op::InterpP2 | Op::InterpMov
    )
}

/// `clamp mul:2`.
fn output_modifiers(out: &mut String, inst: &Inst) {
    if inst.mods.clamp {
        out.push_str(" clamp");
    }
    out.push_str(match inst.mods.omod {
        1 => " mul:2",
        2 => " mul:4",
        3 => " div:2",
        _ => "",
    });
}

/// `op_sel:[0,1,0]` with the destination's bit last, and `high` of the interpolations.
fn op_sel(out: &mut String, inst: &Inst, _gfx: Gfx) {
    if interpolation(inst.desc.op)
        && let Operand::Imm(raw) = inst.src[1]
        && raw & 0x100 != 0
    {
        out.push_str(" high");
    }
    if inst.mods.op_sel != 0 {
        out.push_str(" op_sel:[");
        // The lower bit of a byte's number stands where a third source would.
        for i in 0..(inst.desc.op_sel_mask() & 7).count_ones() {
            put!(out, "{},", inst.mods.op_sel >> i & 1);
        }
        put!(out, "{}]", inst.mods.op_sel >> 3 & 1);
    }
}

/// A list of bits such as `neg_lo:[1,0]`, unless all are `default`.
fn bits(out: &mut String, name: &str, value: u8, n: usize, default: bool) {
    let all = (1u8 << n) - 1;
    if value & all == if default { all } else { 0 } {
        return;
    }
    put!(out, " {name}:[");
    for i in 0..n {
        put!(out, "{}{}", if i == 0 { "" } else { "," }, value >> i & 1);
    }
    out.push(']');
}

fn packed_modifiers(out: &mut String, inst: &Inst, gfx: Gfx) {
    let mods = &inst.mods;
    let n = inst.desc.src.len();
    if inst.op().product().is_some() {
        let [cbsz, abid, blgp] = mods.mfma;
        let negates = inst.negates_factors(gfx);
        let blgp = if negates { 0 } else { blgp };
        for (name, value) in [("cbsz", cbsz), ("abid", abid), ("blgp", blgp)] {
            if value != 0 {
                put!(out, " {name}:{value}");
            }
        }
        if negates {
            bits(out, "neg", mods.mfma[2], 3, false);
        }
        return;
    }
    match inst.desc.op {
        Op::AccVgprRead | Op::AccVgprWrite => return,
        Op::Mix | Op::MixLo | Op::MixHi => {
            bits(out, "op_sel", mods.op_sel, n, false);
            bits(out, "op_sel_hi", mods.op_sel_hi, n, false);
        }
        _ => {
            bits(out, "op_sel", mods.op_sel, n, false);
            bits(out, "op_sel_hi", mods.op_sel_hi, n, true);
            bits(out, "neg_lo", mods.neg, n, false);
            bits(out, "neg_hi", mods.neg_hi, n, false);
        }
    }
    if mods.clamp {
        out.push_str(" clamp");
    }
}

fn sel(sel: Sel) -> &'static str {
    match sel {
        Sel::Byte0 => "BYTE_0",
        Sel::Byte1 => "BYTE_1",
        Sel::Byte2 => "BYTE_2",
        Sel::Byte3 => "BYTE_3",
        Sel::Word0 => "WORD_0",
        Sel::Word1 => "WORD_1",
        Sel::Dword => "DWORD",
    }
}

fn sdwa_modifiers(out: &mut String, inst: &Inst, _gfx: Gfx, sdwa: &Sdwa) {
    output_modifiers(out, inst);
    let compare = inst.desc.encoding == Encoding::Vopc;
    if !compare && !inst.desc.forms.has(Forms::SDWA_SOURCE) {
        let unused = match sdwa.dst_unused {
            Unused::Pad => "UNUSED_PAD",
            Unused::Sext => "UNUSED_SEXT",
            Unused::Preserve => "UNUSED_PRESERVE",
        };
        put!(out, " dst_sel:{} dst_unused:{unused}", sel(sdwa.dst_sel));
    }
    put!(out, " src0_sel:{}", sel(sdwa.src_sel[0]));
    if inst.desc.encoding != Encoding::Vop1 {
        put!(out, " src1_sel:{}", sel(sdwa.src_sel[1]));
    }
}

fn dpp_modifiers(out: &mut String, dpp: &Dpp) {
    let n = dpp.ctrl & 15;
    match dpp.ctrl {
        ctrl @ 0..=0xff => put!(
            out,
            " quad_perm:[{},{},{},{}]",
            ctrl & 3,
            ctrl >> 2 & 3,
            ctrl >> 4 & 3,
            ctrl >> 6 & 3
        ),
        0x100..=0x10f => put!(out, " row_shl:{n}"),
        0x110..=0x11f => put!(out, " row_shr:{n}"),
        0x120..=0x12f => put!(out, " row_ror:{n}"),
        0x130 => out.push_str(" wave_shl:1"),
        0x134 => out.push_str(" wave_rol:1"),
        0x138 => out.push_str(" wave_shr:1"),
        0x13c => out.push_str(" wave_ror:1"),
        0x140 => out.push_str(" row_mirror"),
        0x141 => out.push_str(" row_half_mirror"),
        0x142 => out.push_str(" row_bcast:15"),
        0x143 => out.push_str(" row_bcast:31"),
        _ => put!(out, " row_newbcast:{n}"),
    }
    put!(
        out,
        " row_mask:0x{:x} bank_mask:0x{:x}",
        dpp.row_mask,
        dpp.bank_mask
    );
    if dpp.bound_ctrl {
        out.push_str(" bound_ctrl:1");
    }
}
