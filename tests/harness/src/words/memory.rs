//! Random machine words for memory instructions, on the registers that [`super::prepared`] names.

use frontend::desc::{Encoding, InstDesc};
use frontend::op::{Op, Space};
use frontend::target::Gfx;

use super::prepared;
use crate::random::Random;

/// Data registers end below this one.
const DATA: u32 = 12;

/// The words of a memory instruction, or `None` for an encoding of another kind.
pub(super) fn random(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Option<Vec<u32>> {
    Some(match desc.encoding {
        Encoding::Smem => smem(r, gfx, desc, opcode),
        Encoding::Ds => ds(r, gfx, desc, opcode),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => flat(r, gfx, desc, opcode),
        Encoding::Mubuf | Encoding::Mtbuf => buffer(r, gfx, desc, opcode),
        Encoding::Mimg => super::image::random(r, gfx, desc, opcode),
        _ => return None,
    })
}

/// A small offset, mostly aligned.
fn offset(r: &mut Random, limit: u32) -> u32 {
    match r.below(16) {
        0..=4 => 0,
        5..=10 => r.below(limit / 32) * 8,
        11..=13 => r.below(limit / 16) * 4,
        14 => r.below(limit / 4),
        _ => r.below(limit),
    }
}

/// Mostly a small offset. From 256 on it makes every negative offset of the prepared registers positive.
fn wide_offset(r: &mut Random) -> u32 {
    match r.below(6) {
        0 => 256 + r.below(16) * 8,
        _ => offset(r, 256),
    }
}

/// A register of scalar offsets.
fn scalar_offset(r: &mut Random) -> u32 {
    if r.once_in(8) {
        prepared::FAR_S
    } else {
        prepared::NEAR_S
    }
}

fn smem(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Vec<u32> {
    let data = desc.src.get(2).or(desc.dst.first());
    let regs = data.map_or(1, |ty| ty.regs().max(1));
    let align = regs.min(4);
    let sdata = r.below((super::SGPRS - regs) / align + 1) * align;
    let sbase = match desc.src.first().map_or(0, |ty| ty.regs()) {
        4 => prepared::BUFFER_S,
        _ => prepared::GLOBAL_S,
    };
    if gfx.is_gfx6_7() {
        let mut words = vec![0x18 << 27 | opcode << 22 | sdata << 15 | (sbase >> 1) << 9];
        match r.below(4) {
            0 | 1 => words[0] |= 1 << 8 | r.below(256),
            2 if gfx == Gfx::Gfx700 => {
                words[0] |= 255;
                words.push(offset(r, 1024));
            }
            _ => words[0] |= scalar_offset(r),
        }
        return words;
    }
    let mut low = 0x30 << 26 | opcode << 18 | sdata << 6 | sbase >> 1;
    low |= r.below(2) << 16;
    let mut high = 0;
    let with_imm = r.once_in(2);
    if with_imm {
        low |= 1 << 17;
        high = offset(r, 4096);
        if gfx.is_gfx9() && r.once_in(8) {
            high = 0u32.wrapping_sub(high) & 0x1f_ffff;
        }
    }
    if gfx.is_gfx9() && r.once_in(3) {
        low |= 1 << 14;
        high |= scalar_offset(r) << 25;
    } else if !with_imm {
        // Stores of gfx8 take M0 only.
        high = if r.once_in(6) { 124 } else { scalar_offset(r) };
    }
    vec![low, high]
}

fn ds(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Vec<u32> {
    let old = gfx.is_gfx6_7();
    let at = if old { 18 } else { 17 };
    let two = matches!(
        desc.op,
        Op::Read2 { .. } | Op::Write2 { .. } | Op::Wrxchg2 { .. }
    );
    let offsets = if two {
        let limit = if r.once_in(4) { 80 } else { 24 };
        r.below(limit) | r.below(limit) << 8
    } else {
        match desc.op {
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) => wide_offset(r),
            _ => r.word() & 0xffff,
        }
    };
    let mut low = 0x36 << 26 | opcode << at | offsets;
    if r.once_in(200) {
        low |= 1 << (at - 1);
    }
    let address = if r.once_in(10) {
        r.below(super::VGPRS)
    } else {
        prepared::LDS_V
    };
    let high = address | r.below(DATA) << 8 | r.below(DATA) << 16 | r.below(DATA) << 24;
    vec![low, high]
}

fn flat(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Vec<u32> {
    const SADDR_OFF: u32 = 127;
    let mut low = 0x37 << 26 | opcode << 18 | r.below(4) << 16;
    let mut saddr = 0;
    let address = match desc.encoding {
        Encoding::Flat => *r.pick(&[
            prepared::GLOBAL_V,
            prepared::GLOBAL_V,
            prepared::FLAT_V,
            prepared::PRIVATE_V,
        ]),
        Encoding::Global => {
            low |= 2 << 14;
            if r.once_in(2) {
                saddr = prepared::GLOBAL_S;
                prepared::OFFSET_V
            } else {
                saddr = SADDR_OFF;
                prepared::GLOBAL_V
            }
        }
        _ => {
            low |= 1 << 14;
            saddr = if r.once_in(3) {
                prepared::NEAR_S
            } else {
                SADDR_OFF
            };
            if gfx.adds_scratch_offsets() && !r.once_in(8) {
                low |= 1 << 13;
            }
            *r.pick(&[prepared::SCRATCH_V, prepared::FRAME_V])
        }
    };
    if gfx.is_gfx9() {
        let offset = wide_offset(r);
        let signed = desc.encoding != Encoding::Flat;
        low |= if signed && r.once_in(4) {
            0u32.wrapping_sub(offset) & 0x1fff
        } else {
            offset
        };
    }
    let mut high = address | r.below(DATA) << 8 | saddr << 16 | r.below(DATA) << 24;
    if !gfx.is_gfx9() && r.once_in(16) {
        high |= 1 << 23;
    }
    vec![low, high]
}

fn buffer(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32) -> Vec<u32> {
    let old = gfx.is_gfx6_7();
    let typed = desc.encoding == Encoding::Mtbuf;
    let mut low = wide_offset(r) | r.below(2) << 14;
    let mut high = r.below(DATA) << 8;
    let mut descriptor = prepared::BUFFER_S;
    if old && r.once_in(4) {
        // ADDR64
        low |= 1 << 15;
        descriptor = prepared::ZERO_S;
        high |= prepared::GLOBAL_V;
    } else if r.once_in(3) {
        low |= u32::from(r.once_in(16)) << 13 | r.below(2) << 12;
        descriptor = prepared::PRIVATE_S;
        high |= *r.pick(&[prepared::SCRATCH_V, prepared::FRAME_V]);
    } else {
        let (idxen, offen) = (r.below(2), r.below(2));
        low |= idxen << 13 | offen << 12;
        high |= match (idxen, offen) {
            (0, 1) => prepared::OFFSET_V,
            _ => prepared::INDEX_V,
        };
    }
    low |= if typed {
        let number = if r.once_in(8) {
            r.below(8)
        } else {
            *r.pick(&[0, 1, 2, 3, 4, 5])
        };
        let data = if r.once_in(8) {
            r.below(16)
        } else {
            *r.pick(&[1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14])
        };
        let format = number << 23 | data << 19;
        0x3a << 26 | format | opcode << if old { 16 } else { 15 }
    } else {
        0x38 << 26 | opcode << 18
    };
    let lds = match desc.op {
        Op::StoreLds => true,
        Op::Load(Space::Buffer, _) => !typed && r.once_in(12),
        _ => false,
    };
    low |= u32::from(lds) << 16 & if typed { 0 } else { u32::MAX };
    if !lds && r.once_in(12) {
        high |= 1 << 23;
    }
    let soffset = match r.below(6) {
        0 => 128 + offset(r, 64),
        1 => scalar_offset(r),
        2 if gfx.is_gfx8_up() => 125,
        3 => prepared::NEAR_S,
        _ => 128,
    };
    vec![low, high | (descriptor >> 2) << 16 | soffset << 24]
}
