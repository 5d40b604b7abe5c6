//! Random machine words for image instructions, on the registers that [`super::prepared`] names.

use frontend::desc::InstDesc;
use frontend::op::{Atomic, ImageOp, Op};
use frontend::target::Gfx;

use super::prepared;
use crate::random::Random;

/// Does a program run the row? Others are refused whatever their operands are.
pub fn runs(desc: &InstDesc) -> bool {
    match desc.op {
        Op::Image(ImageOp::Sample(mods) | ImageOp::Gather4(mods)) => !mods.compare,
        Op::Image(op) => !matches!(op, ImageOp::Gather4h(_) | ImageOp::GetLod),
        _ => false,
    }
}

/// A flag that is set once in so many.
fn flag(r: &mut Random, bit: u32, once_in: u32) -> u32 {
    u32::from(r.once_in(once_in)) << bit
}

/// The words of an image instruction.
pub(super) fn random(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Vec<u32> {
    let Op::Image(op) = desc.op else {
        unreachable!("bug: {} is no image instruction", desc.name)
    };
    let dmask = match op {
        _ if r.once_in(24) => r.below(16),
        ImageOp::Atomic(Atomic::CmpSwap | Atomic::FCmpSwap) => *r.pick(&[3, 3, 15]),
        ImageOp::Atomic(_) => *r.pick(&[1, 1, 3]),
        ImageOp::Gather4(_) | ImageOp::Gather4h(_) => 1 << r.below(4),
        _ => 1 + r.below(15),
    };
    let sampled = match op {
        ImageOp::Sample(mods) | ImageOp::Gather4(mods) | ImageOp::Gather4h(mods) => Some(mods),
        _ => None,
    };
    let mut low = 0x3c << 26 | opcode << 18 | dmask << 8;
    low |= flag(r, 13, 2) | flag(r, 14, 3) | flag(r, 16, 8) | flag(r, 17, 16) | flag(r, 25, 8);
    // Coordinates of samples are made for sizes of 1.
    low |= flag(r, 12, if sampled.is_some() { 5 } else { 2 });
    low |= flag(r, 15, if gfx.is_gfx9() { 6 } else { 64 });
    let address = match sampled {
        _ if r.once_in(16) => r.below(prepared::IMAGE_V),
        None => prepared::IMAGE_V,
        // What stands in front of the coordinates may be anything.
        Some(mods) => {
            let slopes = if mods.deriv || mods.coarse { 4 } else { 0 };
            let front = [mods.offset, mods.bias, mods.compare];
            let front = front.iter().filter(|&&there| there).count() as u32;
            prepared::SAMPLE_V - front - slopes
        }
    };
    let mut high = address | r.below(10) << 8 | (prepared::IMAGE_S / 4) << 16;
    if sampled.is_some() || op == ImageOp::GetLod {
        high |= (prepared::SAMPLER_S / 4) << 21;
    }
    if gfx.is_gfx8_up() {
        high |= flag(r, 31, 4);
    }
    vec![low, high]
}
