//! Vector ALU encodings in 32 bits: VOP1, VOP2 and VOPC with their SDWA and DPP forms, and VINTRP.
//! The 64-bit encodings are in `vop3.rs`.
//!
//! Modifier bits without meaning for an instruction are dropped here, so that an engine may apply
//! everything in [`Mods`](crate::inst::Mods).

use crate::decode::operand::{At, LITERAL, literal_bits, scalar_reg, scalar_src, src9, vgpr};
use crate::decode::{Code, DecodeError, bit, blank, field};
use crate::desc::{Forms, InstDesc};
use crate::inst::{Dpp, Form, Inst, Operand, Sdwa, Sel, Special, Unused, VCC_LO};
use crate::isa::{vintrp, vop1, vop2, vopc};
use crate::op::Op;
use crate::target::Gfx;
use crate::ty::Ty;

/// Source codes that announce a second dword of modifiers.
const SDWA: u32 = 249;
const DPP: u32 = 250;

/// VCC as a mask operand.
pub(super) const VCC: Operand = Operand::Sgpr(VCC_LO);

/// Do `neg` and `abs` act on source `i`?
pub(super) fn takes_neg(desc: &InstDesc, i: usize) -> bool {
    match desc.op {
        Op::CmpClass | Op::CmpxClass => i == 0,
        _ => desc.src[i].is_float() || (i < 2 && desc.forms.has(Forms::FLOAT_MODS)),
    }
}

/// Are NEG bits of integer sources kept for printing? Yes for float instructions with an integer
/// operand (`v_ldexp`).
pub(super) fn takes_neg_int(desc: &InstDesc) -> bool {
    matches!(
        desc.op,
        Op::Ldexp | Op::TrigPreop | Op::CvtPkU8 | Op::CvtPkAccumU8
    )
}

/// Is `clamp` defined (or at least allowed)?
pub(super) fn takes_clamp(gfx: Gfx, desc: &InstDesc) -> bool {
    match desc.op {
        Op::CmpClass | Op::CmpxClass | Op::CvtPkToF8(_) | Op::CvtSrToF8(_) => false,
        _ if desc.dst.first().is_some_and(|ty| ty.is_float()) => true,
        _ => {
            gfx.is_gfx8_up()
                && (desc.forms.has(Forms::INT_CLAMP) || desc.src.iter().any(|ty| ty.is_float()))
        }
    }
}

/// Does the output modifier exist? For conversions to integers it does, without effect.
pub(super) fn takes_omod(desc: &InstDesc) -> bool {
    let Some(&d) = desc.dst.first() else {
        return false;
    };
    match desc.op {
        Op::PackF16 => false,
        Op::InterpP2 => d == Ty::F32,
        Op::Cvt | Op::CvtNorm => d.is_float() || desc.src[0].is_float(),
        Op::FrexpExp => desc.src[0] != Ty::F32,
        _ => d.is_float(),
    }
}

/// Bits of `raw` whose source takes float modifiers.
pub(super) fn float_sources(desc: &InstDesc, raw: u8) -> u8 {
    let mut kept = 0;
    for i in 0..desc.src.len().min(3) {
        if raw >> i & 1 != 0 && takes_neg(desc, i) {
            kept |= 1 << i;
        }
    }
    kept
}

/// Operand kinds of instructions that move single lanes: `v_readlane` reads a vector register (or
/// LDS), the lane's number and the value of `v_writelane` are the wave's.
pub(super) fn lane_operand(op: Op, i: usize, operand: &Operand) -> bool {
    let vector = matches!(operand, Operand::Vgpr(_));
    match (op, i) {
        (Op::ReadLane, 0) => vector || *operand == Operand::Special(Special::LdsDirect),
        (Op::ReadLane | Op::WriteLane, _) => !vector,
        _ => true,
    }
}

fn no_form(gfx: Gfx, desc: &InstDesc, form: &'static str) -> DecodeError {
    DecodeError::NoSuchForm {
        form,
        name: desc.name_on(gfx),
        gfx,
    }
}

fn at(code: Code<'_>, desc: &'static InstDesc, what: &'static str) -> At {
    At {
        gfx: code.gfx,
        desc,
        what,
    }
}

/// The vector register (or the first of as many as the type takes) in an 8-bit field.
fn vector(
    code: Code<'_>,
    desc: &'static InstDesc,
    what: &'static str,
    raw: u16,
    ty: Ty,
) -> Result<Operand, DecodeError> {
    vgpr(at(code, desc, what), raw, ty.regs())
}

/// Kind of the 9-bit source field of a 32-bit encoding.
enum Kind {
    Plain,
    Sdwa(u32),
    Dpp(u32),
}

fn kind(code: Code<'_>, desc: &'static InstDesc) -> Result<Kind, DecodeError> {
    let gfx = code.gfx;
    match code.bits(0, 9) {
        SDWA if gfx.is_gfx8_up() => {
            if desc.forms.has(Forms::NO_SDWA)
                || (desc.forms.has(Forms::SDWA_GFX8) && gfx != Gfx::Gfx803)
            {
                return Err(no_form(gfx, desc, "SDWA"));
            }
            code.dword(1).map(Kind::Sdwa)
        }
        DPP if gfx.is_gfx8_up() => {
            let modifiers = code.dword(1)?;
            if desc.forms.has(Forms::NO_DPP) && !wide_dpp(gfx, desc) {
                return Err(no_form(gfx, desc, "DPP"));
            }
            Ok(Kind::Dpp(modifiers))
        }
        _ => Ok(Kind::Plain),
    }
}

/// From gfx90a on there is DPP for 64-bit operands, with `row_newbcast` only.
fn wide_dpp(gfx: Gfx, desc: &InstDesc) -> bool {
    gfx.has_row_newbcast()
        && desc
            .dst
            .iter()
            .chain(desc.src)
            .any(|ty| matches!(ty, Ty::F64 | Ty::B64 | Ty::PkF32))
}

/// The sources S0 and S1 of a 32-bit encoding, with the modifiers of its form.
fn sources(code: Code<'_>, inst: &mut Inst) -> Result<(), DecodeError> {
    let desc = inst.desc;
    // Masks are implicit, a literal K has its own field.
    let two = matches!(desc.encoding, crate::desc::Encoding::Vop1) as usize;
    let count = if desc.src.is_empty() { 0 } else { 2 - two };
    let second = code.bits(9, 8) as u16;
    match kind(code, desc)? {
        Kind::Plain => {
            if count > 0 {
                let raw = code.bits(0, 9) as u16;
                let literal = if raw == LITERAL {
                    inst.len = 8;
                    Some(code.dword(1)?)
                } else {
                    None
                };
                inst.src[0] = src9(at(code, desc, "SRC0"), raw, desc.src[0], literal)?;
            }
            if count > 1 {
                inst.src[1] = vector(code, desc, "VSRC1", second, desc.src[1])?;
            }
        }
        Kind::Sdwa(word) => {
            inst.form = Form::Sdwa;
            inst.len = 8;
            sdwa(code, inst, word, second, count)?;
        }
        Kind::Dpp(word) => {
            inst.form = Form::Dpp;
            inst.len = 8;
            dpp(code, inst, word, second, count)?;
        }
    }
    Ok(())
}

/// A selection field; 7 is reserved.
fn sel(code: Code<'_>, desc: &InstDesc, raw: u32, what: &'static str) -> Result<Sel, DecodeError> {
    Ok(match raw & 7 {
        0 => Sel::Byte0,
        1 => Sel::Byte1,
        2 => Sel::Byte2,
        3 => Sel::Byte3,
        4 => Sel::Word0,
        5 => Sel::Word1,
        6 => Sel::Dword,
        value => return Err(reserved_field(code, desc, value, what)),
    })
}

#[cold]
fn reserved_field(code: Code<'_>, desc: &InstDesc, value: u32, field: &'static str) -> DecodeError {
    DecodeError::ReservedField {
        value,
        field,
        name: desc.name_on(code.gfx),
        gfx: code.gfx,
    }
}

fn sdwa(
    code: Code<'_>,
    inst: &mut Inst,
    word: u32,
    second: u16,
    count: usize,
) -> Result<(), DecodeError> {
    let desc = inst.desc;
    let gfx = code.gfx;
    let gfx9 = gfx.is_gfx9();
    if count == 0 {
        return Ok(());
    }
    let compare = desc.encoding == crate::desc::Encoding::Vopc;
    let source_only = desc.forms.has(Forms::SDWA_SOURCE);
    let mut fields = Sdwa::default();
    if compare && gfx9 {
        if bit(word, 15) {
            let raw = field(word, 8, 7) as u16;
            inst.dst[0] = scalar_reg(at(code, desc, "SDST"), raw, 2)?;
        }
    } else {
        if !compare && !source_only {
            fields.dst_sel = sel(code, desc, field(word, 8, 3), "dst_sel")?;
            fields.dst_unused = match field(word, 11, 2) {
                0 => Unused::Pad,
                1 => Unused::Sext,
                2 => Unused::Preserve,
                value => return Err(reserved_field(code, desc, value, "dst_unused")),
            };
        }
        if !compare && gfx9 && takes_omod(desc) && desc.dst[0].is_float() {
            inst.mods.omod = field(word, 14, 2) as u8;
        }
        inst.mods.clamp = bit(word, 13);
    }
    for i in 0..count {
        let raw = if i == 0 {
            field(word, 0, 8) as u16
        } else {
            second
        };
        let (what, scalar) = if i == 0 {
            ("SRC0", bit(word, 23))
        } else {
            ("SRC1", bit(word, 31))
        };
        inst.src[i] = if scalar && gfx9 {
            scalar_src(at(code, desc, what), raw, desc.src[i], None)?
        } else {
            vector(code, desc, what, raw, desc.src[i])?
        };
        let lo = 16 + 8 * i as u32;
        let name = if i == 0 { "src0_sel" } else { "src1_sel" };
        fields.src_sel[i] = sel(code, desc, field(word, lo, 3), name)?;
        if takes_neg(desc, i) {
            inst.mods.neg |= u8::from(bit(word, lo + 4)) << i;
            inst.mods.abs |= u8::from(bit(word, lo + 5)) << i;
        } else if !source_only {
            fields.sext[i] = bit(word, lo + 3);
        }
    }
    inst.mods.sdwa = Some(fields);
    Ok(())
}

/// Is `ctrl` a lane pattern of the target?
fn dpp_control(gfx: Gfx, ctrl: u16) -> bool {
    match ctrl {
        0..=0xff => true,
        0x100 | 0x110 | 0x120 => false,
        0x101..=0x12f => true,
        0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 => true,
        0x150..=0x15f => gfx.has_row_newbcast(),
        _ => false,
    }
}

fn dpp(
    code: Code<'_>,
    inst: &mut Inst,
    word: u32,
    second: u16,
    count: usize,
) -> Result<(), DecodeError> {
    let desc = inst.desc;
    let ctrl = field(word, 8, 9) as u16;
    let wide = desc.forms.has(Forms::NO_DPP);
    if !dpp_control(code.gfx, ctrl) || (wide && ctrl < 0x150) {
        return Err(reserved_field(code, desc, u32::from(ctrl), "dpp_ctrl"));
    }
    if count > 0 {
        inst.src[0] = vector(code, desc, "SRC0", field(word, 0, 8) as u16, desc.src[0])?;
    }
    if count > 1 {
        inst.src[1] = vector(code, desc, "VSRC1", second, desc.src[1])?;
    }
    for i in 0..count {
        if takes_neg(desc, i) {
            let lo = 20 + 2 * i as u32;
            inst.mods.neg |= u8::from(bit(word, lo)) << i;
            inst.mods.abs |= u8::from(bit(word, lo + 1)) << i;
        } else if takes_neg_int(desc) {
            inst.mods.neg_int |= u8::from(bit(word, 20 + 2 * i as u32)) << i;
        }
    }
    inst.mods.dpp = Some(Dpp {
        ctrl,
        bound_ctrl: bit(word, 19),
        bank_mask: field(word, 24, 4) as u8,
        row_mask: field(word, 28, 4) as u8,
    });
    Ok(())
}

pub(crate) fn decode_vop1(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = vop1::INDEX.get(code.gfx, code.bits(9, 8), code.word)?;
    let mut inst = blank(desc, 4);
    let raw = code.bits(17, 8);
    match desc.op {
        Op::ReadFirstLane => {
            inst.dst[0] = scalar_reg(at(code, desc, "SDST"), raw as u16, 1)?;
        }
        Op::AccVgprMov => {
            let source = code.bits(0, 9) as u16;
            if source < 256 {
                return Err(at(code, desc, "SRC0").reserved(source));
            }
            inst.dst[0] = Operand::Agpr(raw as u8);
            inst.src[0] = Operand::Agpr(source as u8);
            return Ok(inst);
        }
        _ => {
            if let Some(&ty) = desc.dst.first() {
                inst.dst[0] = vector(code, desc, "VDST", raw as u16, ty)?;
            }
        }
    }
    sources(code, &mut inst)?;
    // The source of an exchange is written.
    if desc.op == Op::Swap && !matches!(inst.src[0], Operand::Vgpr(_)) {
        return Err(at(code, desc, "SRC0").reserved(code.bits(0, 9) as u16));
    }
    Ok(inst)
}

pub(crate) fn decode_vop2(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = vop2::INDEX.get(code.gfx, code.bits(25, 6), code.word)?;
    let mut inst = blank(desc, 4);
    let raw = code.bits(17, 8) as u16;
    match desc.op {
        Op::ReadLane | Op::WriteLane => {
            inst.dst[0] = if desc.op == Op::ReadLane {
                scalar_reg(at(code, desc, "SDST"), raw, 1)?
            } else {
                Operand::Vgpr(raw as u8)
            };
            let value = code.bits(0, 9) as u16;
            inst.src[0] = src9(at(code, desc, "SRC0"), value, desc.src[0], None)?;
            if !lane_operand(desc.op, 0, &inst.src[0]) {
                return Err(at(code, desc, "SRC0").reserved(value));
            }
            let lane = code.bits(9, 8) as u16;
            inst.src[1] = scalar_src(at(code, desc, "SRC1"), lane, desc.src[1], None)?;
            return Ok(inst);
        }
        _ => inst.dst[0] = vector(code, desc, "VDST", raw, desc.dst[0])?,
    }
    if desc.dst.len() > 1 {
        inst.dst[1] = VCC;
    }
    if desc.forms.has(Forms::LITERAL_K) {
        let word = code.dword(1)?;
        let value = code.bits(0, 9) as u16;
        let k = Operand::Literal {
            word,
            bits: literal_bits(word, desc.src[0]),
        };
        inst.len = 8;
        inst.src[0] = src9(at(code, desc, "SRC0"), value, desc.src[0], Some(word))?;
        let second = Operand::Vgpr(code.bits(9, 8) as u8);
        (inst.src[1], inst.src[2]) = match desc.forms.has(Forms::K_FIRST) {
            true => (k, second),
            false => (second, k),
        };
        return Ok(inst);
    }
    sources(code, &mut inst)?;
    if desc.src.len() > 2 {
        inst.src[2] = VCC;
    }
    Ok(inst)
}

pub(crate) fn decode_vopc(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = vopc::INDEX.get(code.gfx, code.bits(17, 8), code.word)?;
    let mut inst = blank(desc, 4);
    inst.dst[0] = VCC;
    sources(code, &mut inst)?;
    Ok(inst)
}

pub(crate) fn decode_vintrp(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = vintrp::INDEX.get(code.gfx, code.bits(16, 2), code.word)?;
    let mut inst = blank(desc, 4);
    inst.dst[0] = Operand::Vgpr(code.bits(18, 8) as u8);
    inst.src[0] = if desc.op == Op::InterpMov {
        Operand::Imm(code.bits(0, 8) as i32)
    } else {
        Operand::Vgpr(code.bits(0, 8) as u8)
    };
    inst.src[1] = Operand::Imm((code.bits(10, 6) | code.bits(8, 2) << 6) as i32);
    Ok(inst)
}
