//! The forms of a row that are swept.

use frontend::desc::{Effects, Encoding, Forms, InstDesc, Scc};
use frontend::{Gfx, Op, Ty};

use super::{Coding, Field, Form, PLAIN3, Shape};

/// Is the row plain enough: are results functions of the explicit sources and MODE?
fn is_pure(desc: &InstDesc) -> bool {
    let others = [
        Effects::READS_SCC,
        Effects::READS_VCC,
        Effects::READS_M0,
        Effects::WRITES_M0,
        Effects::CROSS_LANE,
        Effects::READS_D,
        Effects::IGNORES_EXEC,
    ];
    let moves = matches!(
        desc.op,
        Op::Nop | Op::Swap | Op::ClrExcp | Op::AccVgprMov | Op::ReadFirstLane
    );
    !moves && !others.iter().any(|&effect| desc.effects.has(effect))
}

fn field(width: u32, at: u32, from: u32) -> Field {
    Field { width, at, from }
}

/// Live bits of the plain form's sources, if there are at most 32.
fn plain_fields(desc: &InstDesc) -> Option<Vec<Field>> {
    match *desc.src {
        [ty] if ty.bits() == 32 => Some(vec![Field::all()]),
        [ty] if ty.bits() == 16 => Some(vec![field(16, 0, 0)]),
        [a, b] if a.bits() == 16 && b.bits() == 16 => Some(vec![field(16, 0, 0), field(16, 0, 16)]),
        _ => None,
    }
}

fn is_packed(ty: Ty) -> bool {
    matches!(ty, Ty::PkF16 | Ty::PkI16 | Ty::PkU16)
}

/// All forms of a row on a target.
pub(super) fn forms_of(desc: &'static InstDesc, gfx: Gfx, out: &mut Vec<Form>) {
    if desc.opcodes.get(gfx).is_none() || !is_pure(desc) {
        return;
    }
    let mut add = |name: String, coding, shape, fields: Vec<Field>, bits| {
        let form = Form {
            desc,
            gfx,
            name,
            coding,
            shape,
            fields,
            bits,
        };
        // What does not decode to the row is no form of it on this target.
        if form.inst().is_some() {
            out.push(form);
        }
    };
    let registers: u32 = desc.dst.iter().map(|ty| ty.regs()).sum();
    let wide = desc.dst.iter().any(|ty| ty.bits() > 64);
    match desc.encoding {
        Encoding::Sop1 => {
            let writes_exec = desc.effects.has(Effects::WRITES_EXEC);
            let (&[d], &[s]) = (desc.dst, desc.src) else {
                return;
            };
            if s.bits() == 32 && !writes_exec {
                let scc = desc.scc != Scc::Keep;
                let shape = Shape::Scalar(d.regs(), scc);
                add(
                    "plain".into(),
                    Coding::Scalar,
                    shape,
                    vec![Field::all()],
                    32,
                );
            }
        }
        Encoding::Vopc => {
            let Some(fields) = plain_fields(desc) else {
                return;
            };
            let shape = match desc.effects.has(Effects::WRITES_EXEC) {
                false => Shape::Compare,
                true => Shape::CompareExec,
            };
            add("plain".into(), PLAIN3, shape, fields, 32);
        }
        Encoding::Vop3p => {
            let packed = matches!(*desc.src, [a, b] if is_packed(a) && is_packed(b));
            if packed && matches!(*desc.dst, [d] if is_packed(d)) {
                let clamps = desc.dst[0] == Ty::PkF16 || desc.forms.has(Forms::INT_CLAMP);
                for clamp in [false, true] {
                    if clamp && !clamps {
                        continue;
                    }
                    let name = if clamp { "halves clamp" } else { "halves" };
                    let coding = Coding::Halves { clamp };
                    add(name.into(), coding, Shape::Lanes(1), vec![Field::all()], 32);
                }
            }
        }
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vop3 => {
            if desc.dst.is_empty() || wide || desc.dst.contains(&Ty::Mask) {
                return;
            }
            let shape = Shape::Lanes(registers);
            if let Some(fields) = plain_fields(desc) {
                let bits = fields.iter().map(|f| f.width).sum();
                let native = match desc.encoding {
                    Encoding::Vop3 => PLAIN3,
                    _ => Coding::E32,
                };
                add("plain".into(), native, shape, fields.clone(), bits);
                modified(desc, bits, shape, &fields, &mut add);
            }
            selected(desc, gfx, shape, &mut add);
        }
        Encoding::Sop2
        | Encoding::Sopk
        | Encoding::Sopc
        | Encoding::Sopp
        | Encoding::Smem
        | Encoding::Vintrp
        | Encoding::Ds
        | Encoding::Flat
        | Encoding::Global
        | Encoding::Scratch
        | Encoding::Mubuf
        | Encoding::Mtbuf
        | Encoding::Mimg
        | Encoding::Exp => {}
    }
}

type Add<'a> = dyn FnMut(String, Coding, Shape, Vec<Field>, u32) + 'a;

/// Modifiers of VOP3, where inputs are few; OP_SEL; inline constants.
fn modified(desc: &InstDesc, bits: u32, shape: Shape, fields: &[Field], add: &mut Add<'_>) {
    let float_in = desc.src[0].is_float();
    let float_out = desc.dst[0].is_float();
    let clamps = float_out || desc.forms.has(Forms::INT_CLAMP);
    if bits == 16 {
        for n in 1..32u32 {
            let (abs, neg, clamp, omod) = (n & 1, n >> 1 & 1, n >> 2 & 1 != 0, n >> 3);
            if (abs | neg) != 0 && !float_in || clamp && !clamps || omod != 0 && !float_out {
                continue;
            }
            let mut name = String::from("e64");
            for (on, word) in [(abs != 0, " abs"), (neg != 0, " neg"), (clamp, " clamp")] {
                name += if on { word } else { "" };
            }
            name += ["", " mul:2", " mul:4", " div:2"][omod as usize];
            let coding = Coding::Vop3 {
                abs,
                neg,
                clamp,
                omod,
                op_sel: 0,
            };
            add(name, coding, shape, fields.to_vec(), bits);
        }
        return;
    }
    if fields.len() != 2 {
        return;
    }
    if clamps {
        let coding = Coding::Vop3 {
            abs: 0,
            neg: 0,
            clamp: true,
            omod: 0,
            op_sel: 0,
        };
        add("e64 clamp".into(), coding, shape, fields.to_vec(), bits);
    }
    if desc.forms.has(Forms::OP_SEL) {
        for op_sel in 1..16u32 {
            if op_sel & 4 != 0 {
                continue;
            }
            let at = |n: u32| field(16, 16 * (op_sel >> n & 1), 16 * n);
            let coding = Coding::Vop3 {
                abs: 0,
                neg: 0,
                clamp: false,
                omod: 0,
                op_sel,
            };
            let name = format!("op_sel:{op_sel:#x}");
            add(name, coding, shape, vec![at(0), at(1)], bits);
        }
    }
    if desc.encoding == Encoding::Vop2 {
        for code in (128..=208).chain(240..=248) {
            let name = format!("constant {code}");
            let only = vec![field(16, 0, 0)];
            add(name, Coding::Constant(code), shape, only, 16);
        }
    }
}

/// Selections of bytes and words by SDWA: each byte of one source, or each pair of bytes of two. Sign extension and the
/// placement of the result differ from form to form.
fn selected(desc: &InstDesc, gfx: Gfx, shape: Shape, add: &mut Add<'_>) {
    let narrow = |ty: &Ty| ty.bits() <= 32;
    if !gfx.is_gfx8_up() || desc.encoding == Encoding::Vop3 || !desc.src.iter().all(narrow) {
        return;
    }
    let two = desc.src.len() == 2;
    if desc.src.is_empty() || desc.src.len() > 2 {
        return;
    }
    let float = desc.src[0].is_float();
    let mut number = 0u32;
    for sel0 in 0..6u32 {
        for sel1 in if two { 0..4 } else { 0..1 } {
            if two && sel0 > 3 {
                continue;
            }
            number += 1;
            let field_of = |sel: u32, from| match sel {
                0..4 => field(8, 8 * sel, from),
                _ => field(16, 16 * (sel - 4), from),
            };
            let mut fields = vec![field_of(sel0, 0)];
            if two {
                fields.push(field_of(sel1, 8));
            }
            let (dst_sel, unused) = match number % 3 {
                0 => (6, 0),
                1 => (number / 3 % 6, 0),
                _ => (number / 3 % 6, 1),
            };
            let sext = match float || desc.forms.has(Forms::SDWA_SOURCE) {
                true => 0,
                false => number & 3,
            };
            let (dst_sel, unused) =
                match desc.forms.has(Forms::SDWA_SOURCE) || shape != Shape::Lanes(1) {
                    true => (6, 0),
                    false => (dst_sel, unused),
                };
            let word = dst_sel << 8
                | unused << 11
                | sel0 << 16
                | (sext & 1) << 19
                | if two {
                    sel1 << 24 | (sext >> 1) << 27
                } else {
                    6 << 24
                };
            let name = format!("sdwa {word:08x}");
            let bits = fields.iter().map(|f| f.width).sum();
            add(name, Coding::Sdwa(word), shape, fields, bits);
        }
    }
}
