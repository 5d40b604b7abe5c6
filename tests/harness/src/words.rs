//! Random machine words for a row: the opcode in its place, operands and modifiers at random within
//! the registers that a test sets up.

use frontend::desc::{Encoding, Forms, InstDesc};
use frontend::target::Gfx;

use crate::random::Random;

pub mod image;
mod matrix;
mod memory;

/// Destinations stay below these, so that prepared addresses survive a sequence.
pub const VGPRS: u32 = 16;
/// See [`VGPRS`].
pub const SGPRS: u32 = 24;

/// Registers that hold what memory instructions need.
pub mod prepared {
    /// VGPR pair with global addresses.
    pub const GLOBAL_V: u32 = 20;
    /// VGPR with LDS byte addresses.
    pub const LDS_V: u32 = 22;
    /// VGPR with byte offsets for SGPR-based addresses and buffers.
    pub const OFFSET_V: u32 = 23;
    /// SGPR pair with a global base.
    pub const GLOBAL_S: u32 = 28;
    /// VGPR pair with addresses for FLAT: global ones, and such in the apertures of LDS and scratch.
    pub const FLAT_V: u32 = 24;
    /// VGPR pair with addresses in the aperture of scratch.
    pub const PRIVATE_V: u32 = 26;
    /// VGPR with offsets into a lane's scratch.
    pub const SCRATCH_V: u32 = 28;
    /// VGPR with one offset into all lanes' scratch.
    pub const FRAME_V: u32 = 29;
    /// VGPR pair with a buffer's indices and offsets.
    pub const INDEX_V: u32 = 30;
    /// SGPR with a small offset.
    pub const NEAR_S: u32 = 30;
    /// SGPR with an offset that may be anything.
    pub const FAR_S: u32 = 31;
    /// Four SGPRs with a buffer descriptor.
    pub const BUFFER_S: u32 = 32;
    /// Four SGPRs with the descriptor of a buffer at address 0, for addresses in VGPRs.
    pub const ZERO_S: u32 = 36;
    /// Four SGPRs with the descriptor of scratch, mostly.
    pub const PRIVATE_S: u32 = 76;
    /// VGPR pair that address idioms write.
    pub const ADDRESS_V: u32 = 18;
    /// Eight SGPRs with an image descriptor.
    pub const IMAGE_S: u32 = 64;
    /// Four SGPRs with a sampler.
    pub const SAMPLER_S: u32 = 72;
    /// Four VGPRs with coordinates of texels.
    pub const IMAGE_V: u32 = 32;
    /// Four VGPRs with coordinates of samples.
    pub const SAMPLE_V: u32 = 36;
    /// First of the SGPRs that hold masks and counters of blocks.
    pub const CONTROL_S: u32 = 40;
}

/// How a vector ALU row is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// Its own encoding.
    Native,
    /// VOP3.
    Vop3,
    /// SDWA.
    Sdwa,
    /// DPP.
    Dpp,
}

/// A scalar source code.
fn ssrc(r: &mut Random, gfx: Gfx) -> u32 {
    match r.below(10) {
        0..=4 => r.below(SGPRS - 2),
        5 => 128 + r.below(81),
        6 => 240 + r.below(if gfx.is_gfx8_up() { 9 } else { 8 }),
        7 => *r.pick(&[106, 107, 124, 126, 127]),
        8 => 255,
        _ => *r.pick(&[251, 252, 253]),
    }
}

/// A nine-bit vector source code.
fn vsrc(r: &mut Random, gfx: Gfx) -> u32 {
    if r.once_in(3) {
        ssrc(r, gfx)
    } else {
        256 + r.below(VGPRS)
    }
}

/// As [`vsrc`] without a literal.
fn vsrc_no_literal(r: &mut Random, gfx: Gfx) -> u32 {
    match vsrc(r, gfx) {
        255 => 128 + r.below(81),
        code => code,
    }
}

/// A scalar destination, even where it matters.
fn sdst(r: &mut Random) -> u32 {
    match r.below(12) {
        0 => 106,
        1 => 126,
        _ => r.below(SGPRS - 4) & !1,
    }
}

/// The bytes of one instruction of row `desc` on `gfx`, or `None` where the row has no such form.
pub fn random(r: &mut Random, gfx: Gfx, desc: &InstDesc, form: As) -> Option<Vec<u8>> {
    let opcode = u32::from(desc.opcodes.get(gfx)?);
    if form == As::Native
        && let Some(mut words) = memory::random(r, gfx, desc, opcode)
    {
        if gfx.has_unified_vgprs() && r.once_in(4) {
            matrix::accumulate(desc.encoding, &mut words);
        }
        return Some(words.into_iter().flat_map(u32::to_le_bytes).collect());
    }
    let old = gfx.is_gfx6_7();
    let vdst = r.below(VGPRS - 4);
    let mut words: Vec<u32> = Vec::new();
    match (desc.encoding, form) {
        (Encoding::Sop2, As::Native) => {
            words.push(0x2 << 30 | opcode << 23 | sdst(r) << 16 | ssrc(r, gfx) << 8 | ssrc(r, gfx));
        }
        (Encoding::Sopk, As::Native) => {
            let imm = r.word() & 0xffff;
            words.push(0xb << 28 | opcode << 23 | sdst(r) << 16 | imm);
        }
        (Encoding::Sop1, As::Native) => {
            words.push(0x17d << 23 | sdst(r) << 16 | opcode << 8 | ssrc(r, gfx));
        }
        (Encoding::Sopc, As::Native) => {
            words.push(0x17e << 23 | opcode << 16 | ssrc(r, gfx) << 8 | ssrc(r, gfx));
        }
        (Encoding::Sopp, As::Native) => words.push(0x17f << 23 | opcode << 16 | r.below(16)),
        (Encoding::Vop1, As::Native) => {
            words.push(0x3f << 25 | vdst << 17 | opcode << 9 | vsrc(r, gfx));
        }
        (Encoding::Vop2, As::Native) => {
            words.push(opcode << 25 | vdst << 17 | r.below(VGPRS) << 9 | vsrc(r, gfx));
        }
        (Encoding::Vopc, As::Native) => {
            words.push(0x3e << 25 | opcode << 17 | r.below(VGPRS) << 9 | vsrc(r, gfx));
        }
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc, As::Sdwa | As::Dpp) => {
            if old {
                return None;
            }
            let code = if form == As::Sdwa { 0xf9 } else { 0xfa };
            words.push(match desc.encoding {
                Encoding::Vop1 => 0x3f << 25 | vdst << 17 | opcode << 9 | code,
                Encoding::Vop2 => opcode << 25 | vdst << 17 | r.below(VGPRS) << 9 | code,
                _ => 0x3e << 25 | opcode << 17 | r.below(VGPRS) << 9 | code,
            });
            words.push(if form == As::Sdwa {
                sdwa(r, gfx, desc)
            } else {
                dpp(r, gfx, desc)
            });
        }
        (Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc | Encoding::Vop3, _) => {
            let promoted = match (desc.encoding, form) {
                (Encoding::Vop3, As::Native) => opcode,
                (Encoding::Vop3, _) => return None,
                (Encoding::Vop1, As::Vop3) => opcode + if old { 0x180 } else { 0x140 },
                (Encoding::Vop2, As::Vop3) => opcode + 0x100,
                _ => opcode,
            };
            vop3(r, gfx, desc, promoted, vdst, &mut words);
        }
        (Encoding::Vop3p, As::Native) if matrix::is_matrix(desc.op) => {
            words.extend(matrix::random(r, gfx, desc, opcode));
        }
        (Encoding::Vop3p, As::Native) => {
            let low = vdst | r.below(8) << 8 | r.below(8) << 11 | r.below(2) << 14;
            words.push(0x1a7 << 23 | opcode << 16 | r.below(2) << 15 | low);
            words.push(sources3(r, gfx) | r.below(4) << 27 | r.below(8) << 29);
        }
        _ => return None,
    }
    let last_source = words.first()?;
    let literal = match desc.encoding {
        _ if desc.forms.has(Forms::LITERAL_K) => true,
        Encoding::Sop2 | Encoding::Sopc => {
            last_source & 0xff == 0xff || last_source >> 8 & 0xff == 0xff
        }
        Encoding::Sop1 => last_source & 0xff == 0xff,
        Encoding::Vop1 | Encoding::Vop2 | Encoding::Vopc if form == As::Native => {
            last_source & 0x1ff == 0xff
        }
        _ => false,
    };
    if literal {
        words.push(r.word());
    }
    Some(words.into_iter().flat_map(u32::to_le_bytes).collect())
}

fn sources3(r: &mut Random, gfx: Gfx) -> u32 {
    vsrc_no_literal(r, gfx) | vsrc_no_literal(r, gfx) << 9 | vsrc_no_literal(r, gfx) << 18
}

fn vop3(r: &mut Random, gfx: Gfx, desc: &InstDesc, opcode: u32, vdst: u32, words: &mut Vec<u32>) {
    let old = gfx.is_gfx6_7();
    let mask_dst = desc.dst.first() == Some(&frontend::Ty::Mask);
    let scalar_dst = desc.name.starts_with("v_readlane");
    let dst = if mask_dst || scalar_dst {
        sdst(r)
    } else {
        vdst
    };
    let plain = r.once_in(2);
    let mut low = dst;
    if desc.forms.has(Forms::VOP3B) {
        low |= sdst(r) << 8;
    } else if !plain {
        low |= r.below(8) << 8;
    }
    if !plain {
        low |= r.below(2) << if old { 11 } else { 15 };
        if gfx.is_gfx9() && desc.forms.has(Forms::OP_SEL) {
            low |= r.below(16) << 11;
        }
    }
    words.push(if old {
        0x34 << 26 | opcode << 17 | low
    } else {
        0x34 << 26 | opcode << 16 | low
    });
    let modifiers = if plain {
        0
    } else {
        r.below(4) << 27 | r.below(8) << 29
    };
    let mut sources = sources3(r, gfx);
    // Carry-in and select masks come from SGPR pairs.
    if desc.src.get(2) == Some(&frontend::Ty::Mask) {
        sources = sources & 0x3_ffff | sdst(r) << 18;
    }
    words.push(sources | modifiers);
}

fn sdwa(r: &mut Random, gfx: Gfx, desc: &InstDesc) -> u32 {
    let sel = |r: &mut Random| r.below(7);
    let (sel0, sel1) = (sel(r), sel(r));
    let mut word = r.below(VGPRS) | sel0 << 16 | sel1 << 24;
    word |= r.below(8) << 19 & 0x7 << 19;
    word |= r.below(8) << 27;
    if desc.encoding == Encoding::Vopc && gfx.is_gfx9() {
        if r.once_in(2) {
            word |= 1 << 15 | sdst(r) << 8;
        }
    } else {
        word |= sel(r) << 8 | r.below(3) << 11 | r.below(2) << 13;
        if gfx.is_gfx9() {
            word |= r.below(4) << 14;
        }
    }
    if gfx.is_gfx9() && r.once_in(4) {
        word |= 1 << 23;
    }
    word
}

fn dpp(r: &mut Random, gfx: Gfx, desc: &InstDesc) -> u32 {
    let n = 1 + r.below(15);
    let broadcasts = gfx.has_row_newbcast() && (desc.forms.has(Forms::NO_DPP) || r.once_in(8));
    let ctrl = match r.below(9) {
        _ if broadcasts => 0x150 + n,
        0 | 1 => r.below(256),
        2 => 0x100 + n,
        3 => 0x110 + n,
        4 => 0x120 + n,
        5 => *r.pick(&[0x130, 0x134, 0x138, 0x13c]),
        6 => *r.pick(&[0x140, 0x141]),
        _ => *r.pick(&[0x142, 0x143]),
    };
    let modifiers = if desc.src.first().is_some_and(|ty| ty.is_float()) {
        r.below(16)
    } else {
        0
    };
    let masks = if r.once_in(2) { 0xff } else { r.below(256) };
    r.below(VGPRS) | ctrl << 8 | r.below(2) << 19 | modifiers << 20 | masks << 24
}
