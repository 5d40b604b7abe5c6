//! Matrix instructions, moves of accumulation registers, and their use as data of memory
//! instructions.

use frontend::op::{Factor, Matrix};
use frontend::target::Gfx;
use frontend::{Encoding, InstDesc, Op};

use super::{VGPRS, vsrc_no_literal};
use crate::random::Random;
use crate::snippet::agprs;

/// Is it of the matrix unit, and in its encoding?
pub(super) fn is_matrix(op: Op) -> bool {
    op.product().is_some() || matches!(op, Op::AccVgprRead | Op::AccVgprWrite)
}

/// Makes accumulation registers of the data of a memory instruction, if its encoding has them.
pub(super) fn accumulate(encoding: Encoding, words: &mut [u32]) {
    match (encoding, words) {
        (Encoding::Ds, [low, _]) => *low |= 1 << 25,
        (
            Encoding::Flat
            | Encoding::Global
            | Encoding::Scratch
            | Encoding::Mubuf
            | Encoding::Mtbuf,
            [_, high],
        ) => *high |= 1 << 23,
        _ => {}
    }
}

/// The words of a row.
pub(super) fn random(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> [u32; 2] {
    let first = 0x1a7 << 23 | opcode << 16;
    let count = agprs(gfx) as u32;
    match desc.op {
        Op::Mfma(shape) | Op::Smfmac(shape) => product(r, gfx, desc, shape, first),
        Op::AccVgprRead => [
            first | 1 << 14 | r.below(VGPRS - 4),
            3 << 27 | 256 | r.below(count),
        ],
        _ => {
            let source = match vsrc_no_literal(r, gfx) {
                // gfx908 takes no scalar registers.
                code if code < 128 && !gfx.has_unified_vgprs() => 128 + code % 81,
                code => code,
            };
            [first | 1 << 14 | r.below(count), 3 << 27 | source]
        }
    }
}

/// A register of a tuple, aligned as the target wants it.
fn tuple(r: &mut Random, gfx: Gfx, acc: bool, regs: u32) -> u32 {
    let count = if acc { agprs(gfx) as u32 } else { VGPRS };
    let first = r.below(count + 1 - regs);
    let aligned = gfx.has_unified_vgprs() && regs > 1;
    if aligned { first & !1 } else { first }
}

fn product(r: &mut Random, gfx: Gfx, desc: &InstDesc, shape: Matrix, first: u32) -> [u32; 2] {
    let regs = desc.dst[0].regs();
    let sparse = matches!(desc.op, Op::Smfmac(_));
    let unified = gfx.has_unified_vgprs();
    let acc = !unified || regs > VGPRS - 4 || r.once_in(2);
    let d = match acc {
        true => tuple(r, gfx, true, regs),
        // The registers behind are those of addresses.
        false => r.below(VGPRS - 3 - regs) & !1,
    };
    let (a_acc, b_acc) = (r.once_in(2), r.once_in(2));
    let a = tuple(r, gfx, a_acc, desc.src[0].regs());
    let b = tuple(r, gfx, b_acc, desc.src[1].regs());
    let c = match tuple(r, gfx, acc, regs) {
        // Where the values of A belong.
        _ if sparse => 256 + r.below(VGPRS),
        _ if r.once_in(4) => 128 + r.below(65),
        // Sums may be added in place; other overlaps are not valid.
        c if c.abs_diff(d) < regs => 256 + d,
        c => 256 + c,
    };
    let mut fields = [0; 3];
    if shape.factor == Factor::F64 {
        if gfx >= Gfx::Gfx942 && r.once_in(2) {
            fields[2] = r.below(8);
        }
    } else if sparse {
        fields = [r.below(2), r.below(4), 0];
    } else if r.once_in(2) {
        let cbsz = r.below(shape.blocks.ilog2() + 1);
        fields = [cbsz, r.below(1 << cbsz), r.below(8)];
    }
    let [cbsz, abid, blgp] = fields;
    [
        first | u32::from(acc && unified) << 15 | abid << 11 | cbsz << 8 | d,
        blgp << 29
            | u32::from(b_acc) << 28
            | u32::from(a_acc) << 27
            | c << 18
            | (256 + b) << 9
            | (256 + a),
    ]
}
