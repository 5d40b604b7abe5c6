//! Vector ALU encodings in 64 bits: VOP3 (native and promoted), VOP3P and the matrix instructions.

use crate::decode::operand::{At, scalar_reg, src9, vgpr};
use crate::decode::vector::{float_sources, lane_operand, takes_clamp, takes_neg_int, takes_omod};
use crate::decode::{Code, DecodeError, bit, blank, field};
use crate::desc::{Encoding, Forms, InstDesc};
use crate::inst::{Form, Inst, Mods, Operand};
use crate::isa::{vop3, vop3p};
use crate::op::Op;
use crate::ty::Ty;

const SRC: [&str; 3] = ["SRC0", "SRC1", "SRC2"];

fn at(code: Code<'_>, desc: &'static InstDesc, what: &'static str) -> At {
    At {
        gfx: code.gfx,
        desc,
        what,
    }
}

pub(crate) fn decode_vop3(code: Code<'_>) -> Result<Inst, DecodeError> {
    let gfx = code.gfx;
    let old = gfx.is_gfx6_7();
    let opcode = if old {
        code.bits(17, 9)
    } else {
        code.bits(16, 10)
    };
    let desc = vop3::INDEX.get(gfx, opcode, code.word)?;
    let high = code.dword(1)?;
    let form = if desc.encoding == Encoding::Vop3 {
        Form::Native
    } else {
        Form::Vop3
    };
    if desc.src.is_empty() {
        return Ok(Inst {
            form,
            ..blank(desc, 8)
        });
    }

    let raw = code.bits(0, 8);
    let d = match (desc.op, desc.dst[0]) {
        (Op::ReadLane | Op::ReadFirstLane, _) => scalar_reg(at(code, desc, "SDST"), raw as u16, 1)?,
        (_, Ty::Mask) => scalar_reg(at(code, desc, "SDST"), raw as u16, 2)?,
        (_, ty) => vgpr(at(code, desc, "VDST"), raw as u16, ty.regs())?,
    };
    let vop3b = desc.forms.has(Forms::VOP3B);
    let d1 = if vop3b {
        scalar_reg(at(code, desc, "SDST"), code.bits(8, 7) as u16, 2)?
    } else {
        Operand::None
    };

    let mut mods = Mods::default();
    let mut neg = field(high, 29, 3) as u8;
    let mut abs = if vop3b { 0 } else { code.bits(8, 3) as u8 };
    let mut src = [Operand::None; 4];
    if interpolates(desc.op) {
        // The attribute stands in SRC0, the register in SRC1.
        src[1] = Operand::Imm(field(high, 0, 9) as i32);
        src[0] = if desc.op == Op::InterpMov {
            Operand::Imm(field(high, 9, 9) as i32)
        } else {
            src9(
                at(code, desc, SRC[1]),
                field(high, 9, 9) as u16,
                desc.src[0],
                None,
            )?
        };
        if let Some(&ty) = desc.src.get(2) {
            src[2] = src9(at(code, desc, SRC[2]), field(high, 18, 9) as u16, ty, None)?;
        }
        neg = neg >> 1 & 1 | neg & 4;
        abs = abs >> 1 & 1 | abs & 4;
    } else {
        for (i, &ty) in desc.src.iter().enumerate().take(3) {
            let raw = field(high, 9 * i as u32, 9) as u16;
            src[i] = src9(at(code, desc, SRC[i]), raw, ty, None)?;
            if !lane_operand(desc.op, i, &src[i]) {
                return Err(at(code, desc, SRC[i]).reserved(raw));
            }
        }
    }

    if neg | abs != 0 {
        mods.neg = float_sources(desc, neg);
        mods.abs = float_sources(desc, abs);
        if takes_neg_int(desc) {
            mods.neg_int = neg & !mods.neg & ((1 << desc.src.len()) - 1);
        }
    }
    // On gfx6 and gfx7 SDST of the VOP3b layout stands where CLAMP is.
    let clamp = match (old, vop3b) {
        (true, true) => false,
        (true, false) => bit(code.word, 11),
        (false, _) => bit(code.word, 15),
    };
    mods.clamp = clamp && takes_clamp(gfx, desc);
    let omod = field(high, 27, 2) as u8;
    if omod != 0 && takes_omod(desc) {
        mods.omod = omod;
    }
    if gfx.is_gfx9() {
        mods.op_sel = code.bits(11, 4) as u8 & desc.op_sel_mask();
    }
    Ok(Inst {
        form,
        dst: [d, d1],
        src,
        mods,
        ..blank(desc, 8)
    })
}

fn interpolates(op: Op) -> bool {
    matches!(
        op,
        Op::InterpP1 | Op::InterpP1Ll | Op::InterpP1Lv | Op::InterpP2 | Op::InterpMov
    )
}

pub(crate) fn decode_vop3p(code: Code<'_>) -> Result<Inst, DecodeError> {
    let desc = vop3p::INDEX.get(code.gfx, code.bits(16, 7), code.word)?;
    let high = code.dword(1)?;
    let mut inst = blank(desc, 8);
    if desc.op.product().is_some() || matches!(desc.op, Op::AccVgprRead | Op::AccVgprWrite) {
        return matrix(code, inst, high);
    }
    let raw = code.bits(0, 8) as u16;
    inst.dst[0] = vgpr(at(code, desc, "VDST"), raw, desc.dst[0].regs())?;
    let sources = (1 << desc.src.len()) - 1;
    let hi = (field(high, 27, 2) | code.bits(14, 1) << 2) as u8 & sources;
    inst.mods.op_sel = code.bits(11, 3) as u8 & sources;
    inst.mods.op_sel_hi = hi;
    inst.mods.neg = field(high, 29, 3) as u8 & sources;
    inst.mods.clamp = bit(code.word, 15);
    let mix = matches!(desc.op, Op::Mix | Op::MixLo | Op::MixHi);
    // The mixes have ABS where the others have NEG_HI.
    let abs_or_neg_hi = code.bits(8, 3) as u8 & sources;
    if mix {
        inst.mods.abs = abs_or_neg_hi;
    } else {
        inst.mods.neg_hi = abs_or_neg_hi;
    }
    for (i, &ty) in desc.src.iter().enumerate().take(3) {
        // A source of a mix is f16 if op_sel_hi is set.
        let ty = if mix && hi >> i & 1 != 0 { Ty::F16 } else { ty };
        let raw = field(high, 9 * i as u32, 9) as u16;
        inst.src[i] = src9(at(code, desc, SRC[i]), raw, ty, None)?;
    }
    Ok(inst)
}

/// The matrix instructions of CDNA: `acc` bits choose between VGPRs and AccVGPRs.
fn matrix(code: Code<'_>, mut inst: Inst, high: u32) -> Result<Inst, DecodeError> {
    let desc = inst.desc;
    let unified = code.gfx.has_unified_vgprs();
    let acc = |raw: u16, set: bool, ty, what| {
        src9(at(code, desc, what), raw, ty, None).map(|operand| match operand {
            Operand::Vgpr(first) if set => Operand::Agpr(first),
            other => other,
        })
    };
    let (s0, s1, s2) = (
        field(high, 0, 9) as u16,
        field(high, 9, 9) as u16,
        field(high, 18, 9) as u16,
    );
    let raw = code.bits(0, 8) as u8;
    match desc.op {
        Op::AccVgprRead => {
            inst.dst[0] = Operand::Vgpr(raw);
            if s0 < 256 {
                return Err(at(code, desc, SRC[0]).reserved(s0));
            }
            inst.src[0] = acc(s0, true, desc.src[0], SRC[0])?;
        }
        Op::AccVgprWrite => {
            inst.dst[0] = Operand::Agpr(raw);
            inst.src[0] = src9(at(code, desc, SRC[0]), s0, desc.src[0], None)?;
        }
        _ => {
            let acc_cd = !unified || bit(code.word, 15);
            inst.dst[0] = acc(u16::from(raw) | 256, acc_cd, desc.dst[0], "VDST")?;
            inst.src[0] = acc(s0, bit(high, 27), desc.src[0], SRC[0])?;
            inst.src[1] = acc(s1, bit(high, 28), desc.src[1], SRC[1])?;
            let sparse = matches!(desc.op, Op::Smfmac(_));
            // What places the values of a sparse A have is in a vector register; LLVM has no other class for it.
            if sparse && s2 < 256 {
                return Err(at(code, desc, SRC[2]).reserved(s2));
            }
            inst.src[2] = acc(s2, acc_cd && !sparse, desc.src[2], SRC[2])?;
            inst.mods.mfma = [
                code.bits(8, 3) as u8,
                code.bits(11, 4) as u8,
                if sparse { 0 } else { field(high, 29, 3) as u8 },
            ];
        }
    }
    Ok(inst)
}
