//! Vector ALU instructions, always in these steps: read the sources, apply their modifiers,
//! compute, apply the result's modifiers, write under EXEC. All results are computed before any is
//! written, since destinations may be sources of the same instruction.

use frontend::desc::{Effects, Encoding, Forms};
use frontend::inst::{Form, Inst, Operand};
use frontend::op::Op;
use frontend::ops;
use frontend::ty::Ty;

use crate::lift::arms::operands::{Args, Out, Src, read_mask, read32, read64};
use crate::lift::arms::{
    Lowered, compare, convert, eight_bits, float, half, integer, lane, modifiers, packed,
};
use crate::lift::guest::{Guest, register_behind};
use crate::lift::value::{M, U};

/// Lowers a vector ALU instruction.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst) -> Lowered {
    match inst.op() {
        // TRAPSTS is only a register here: nothing sets the bits that this clears.
        Op::Nop | Op::ClrExcp => return Lowered::Done,
        Op::ReadLane | Op::WriteLane | Op::ReadFirstLane => return lane::lower(g, inst),
        Op::Swap => return swap(g, inst),
        Op::AccVgprRead | Op::AccVgprWrite | Op::AccVgprMov => return accumulation_move(g, inst),
        Op::Mov | Op::Select | Op::MovRelS | Op::MovRelD | Op::MovRelSD => {}
        ops!(arithmetic | integer | logic | shifts | bits | compare | vector | vector_wide) => {}
        ops!(convert | eight_bits | rounding | float | float_wide | legacy | packed) => {}
        Op::MovRelSD2 | Op::Mfma(_) | Op::Smfmac(_) | ops!(parameters | salu | mem) => {
            return Lowered::Fallback;
        }
    }
    match (|| {
        let (mut args, enable) = read(g, inst)?;
        let out = compute(g, inst, &mut args)?;
        Some((modifiers::result(g, inst, out), enable))
    })() {
        None => Lowered::Fallback,
        Some((out, enable)) => {
            write(g, inst, out, enable);
            Lowered::Done
        }
    }
}

fn compute<'b>(g: &mut Guest<'b>, inst: &Inst, args: &mut Args<'b>) -> Option<Out<'b>> {
    if inst.desc.encoding == Encoding::Vop3p {
        return packed::compute(g, inst, args);
    }
    match inst.op() {
        ops!(packed) => packed::compute(g, inst, args),
        ops!(compare) => compare::compute(inst, args),
        ops!(convert) => convert::compute(inst, args),
        ops!(eight_bits) => eight_bits::compute(inst, args),
        ops!(moves | arithmetic | integer | logic | shifts | bits)
        | ops!(vector | vector_wide | rounding | float | float_wide | legacy) => {
            let ty = inst.desc.ty();
            if matches!(ty, Ty::F32 | Ty::F64) {
                float::compute(g, inst, args)
            } else if matches!(ty, Ty::F16 | Ty::PkF16) {
                half::compute(inst, args)
            } else {
                integer::compute(inst, args)
            }
        }
        ops!(special | parameters | matrix | salu | mem) => None,
    }
}

// ---- reading

fn read_one<'b>(g: &mut Guest<'b>, operand: Operand, ty: Ty) -> Option<Src<'b>> {
    Some(match (ty, ty.bits()) {
        (Ty::Mask, _) => Src::M(read_mask(g, operand)?),
        (_, 16 | 32) => Src::W(read32(g, operand)?),
        (_, 64) => Src::D(read64(g, operand)?),
        (_, 128) => {
            let n = operand.vector_register()?;
            let word = |g: &mut Guest<'b>, i: u8| U::new(g.b, g.read_v(register_behind(n, i)));
            Src::X([word(g, 0), word(g, 1), word(g, 2), word(g, 3)])
        }
        _ => return None,
    })
}

/// The sources with their modifiers, and the lanes that a DPP form writes.
fn read<'b>(g: &mut Guest<'b>, inst: &Inst) -> Option<(Args<'b>, Option<M<'b>>)> {
    let desc = inst.desc;
    let mut src = Vec::with_capacity(4);
    let mut ty = Vec::with_capacity(4);
    let mut enable = None;
    for (i, &source_ty) in desc.src.iter().enumerate() {
        if source_ty == Ty::Imm {
            return None;
        }
        let mut value = match (inst.mods.dpp, i) {
            (Some(dpp), 0) => {
                let (fetched, lanes) = modifiers::dpp(g, &dpp, inst.src[0], 0)?;
                enable = lanes;
                if source_ty.bits() == 64 {
                    let (high, _) = modifiers::dpp(g, &dpp, inst.src[0], 1)?;
                    Src::D(fetched.pair(high))
                } else {
                    Src::W(fetched)
                }
            }
            _ => read_one(g, inst.src[i], source_ty)?,
        };
        if desc.encoding != Encoding::Vop3p {
            value = modifiers::source(inst, i, source_ty, value);
        }
        src.push(value);
        ty.push(source_ty);
    }
    if desc.rev {
        src.swap(0, 1);
        ty.swap(0, 1);
    }
    if desc.effects.has(Effects::READS_D) {
        let accumulator = g.accumulator.unwrap_or(inst.dst[0]);
        src.push(read_one(g, accumulator, desc.dst[0])?);
        ty.push(desc.dst[0]);
    }
    let saturate = inst.mods.clamp && desc.forms.has(Forms::INT_CLAMP) && g.gfx.is_gfx8_up();
    let gfx9 = g.gfx.is_gfx9();
    let omod = modifiers::omod_acts(inst, g.mode);
    Some((
        Args {
            src,
            ty,
            mode: modifiers::computing_mode(inst, g.mode),
            omod,
            saturate,
            gfx9,
        },
        enable,
    ))
}

// ---- writing

/// Writes 32 bits to register `i` of the operand, in the enabled lanes.
fn write_word<'b>(g: &mut Guest<'b>, operand: Operand, i: u8, value: U<'b>, enable: Option<M<'b>>) {
    let Some(n) = operand.vector_register() else {
        return;
    };
    let n = register_behind(n, i);
    let value = match enable {
        None => value,
        Some(lanes) => {
            let old = U::new(g.b, g.read_v(n));
            lanes.pick(value, old)
        }
    };
    g.write_v(n, value.v);
}

fn write_mask<'b>(
    g: &mut Guest<'b>,
    inst: &Inst,
    operand: Operand,
    mask: M<'b>,
    enable: Option<M<'b>>,
) {
    let Operand::Sgpr(n) = operand else { return };
    // Lanes disabled by DPP count as inactive.
    let mask = enable.map_or(mask, |lanes| mask & lanes);
    g.write_mask(n, mask.v);
    if inst.desc.effects.has(Effects::WRITES_EXEC) {
        let bits = g.read_s64(n);
        g.set_exec(bits);
    }
}

/// Writes the results, vector registers first: a mask may go to EXEC.
fn write<'b>(g: &mut Guest<'b>, inst: &Inst, out: Out<'b>, enable: Option<M<'b>>) {
    let d = inst.dst[0];
    match out {
        Out::W(value) | Out::WM(value, _) => write_word(g, d, 0, value, enable),
        Out::D(value) | Out::DM(value, _) => {
            write_word(g, d, 0, value.lo(), enable);
            write_word(g, d, 1, value.hi(), enable);
        }
        Out::X(words) => {
            for (i, word) in words.into_iter().enumerate() {
                write_word(g, d, i as u8, word, enable);
            }
        }
        Out::M(_) => {}
    }
    match out {
        Out::M(mask) => write_mask(g, inst, d, mask, enable),
        Out::WM(_, mask) | Out::DM(_, mask) => write_mask(g, inst, inst.dst[1], mask, enable),
        Out::W(_) | Out::D(_) | Out::X(_) => {}
    }
}

/// Moves from or to accumulation registers, under EXEC like other vector instructions.
fn accumulation_move(g: &mut Guest<'_>, inst: &Inst) -> Lowered {
    let Some(value) = read32(g, inst.src[0]) else {
        return Lowered::Fallback;
    };
    write_word(g, inst.dst[0], 0, value, None);
    Lowered::Done
}

/// `v_swap_b32`: both registers are written.
fn swap(g: &mut Guest<'_>, inst: &Inst) -> Lowered {
    let (Operand::Vgpr(d), Operand::Vgpr(s), Form::Native) = (inst.dst[0], inst.src[0], inst.form)
    else {
        return Lowered::Fallback;
    };
    let (d, s) = (d.into(), s.into());
    let (old_d, old_s) = (g.read_v(d), g.read_v(s));
    g.write_v(d, old_s);
    g.write_v(s, old_d);
    Lowered::Done
}
