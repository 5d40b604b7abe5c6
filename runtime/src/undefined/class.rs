//! How results of an instruction depend on undefined bits of its sources.

use frontend::inst::{Inst, Operand, Sel, Unused};
use frontend::registers::{Uses, is_lane_exchange, is_relative, is_valu};
use frontend::{Effects, Encoding, Gfx, Op, ops};

/// How bits of the result depend on bits of the sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Each on few bits, which samples find.
    Bits,
    /// Each on those at its position and below.
    Upwards,
    /// All on all.
    Whole,
}

/// What is known of an instruction whatever its registers hold.
pub(super) struct Site {
    pub(super) uses: Uses,
    pub(super) class: Class,
    /// Sources that say which bits of others are taken, one bit each.
    pub(super) selectors: u8,
    /// The result is more than a copy of bits.
    pub(super) computes: bool,
    /// Lanes may get values of other lanes.
    pub(super) across: bool,
    /// A part of the destination may stay, in active lanes.
    pub(super) partial: bool,
    /// It accesses memory or exports.
    pub(super) accesses: bool,
    /// It is no computation.
    pub(super) controls: bool,
}

impl Site {
    pub(super) fn of(inst: &Inst, gfx: Gfx) -> Site {
        let op = inst.op();
        let exchange = matches!(op, Op::Ds(op) if is_lane_exchange(op));
        let uses = Uses::of(inst, gfx);
        let class = class(inst);
        let lanes = matches!(op, Op::ReadLane | Op::ReadFirstLane | Op::WriteLane);
        let logic = matches!(
            op,
            Op::Xor | Op::Xnor | Op::Not | Op::Nand | Op::Nor | Op::Bitcmp0 | Op::Bitcmp1
        );
        let matrix = op.product().is_some();
        Site {
            class,
            selectors: selectors(inst),
            computes: class != Class::Bits || logic || matrix,
            across: exchange || lanes || matrix || inst.mods.dpp.is_some(),
            partial: !uses.keeps.is_empty()
                || inst.mods.dpp.is_some()
                || matches!(
                    op,
                    Op::CMov | Op::WriteLane | Op::Bitset0 | Op::Bitset1 | Op::Swap
                )
                || is_relative(op),
            accesses: !exchange && !inst.desc.encoding.is_scalar() && !is_valu(inst)
                || inst.desc.encoding == Encoding::Smem,
            controls: is_control(op),
            uses,
        }
    }
}

fn is_control(op: Op) -> bool {
    match op {
        Op::SaveExec(_) | Op::WrExec(_) => false,
        Op::Nop | Op::ClrExcp => true,
        ops!(control) => true,
        _ => false,
    }
}

fn class(inst: &Inst) -> Class {
    let float = inst.desc.dst.first().is_some_and(|ty| ty.is_float());
    match inst.op() {
        ops!(moves | logic | shifts) | Op::Brev | Op::Bfm => Class::Bits,
        Op::PackLL | Op::PackLH | Op::PackHH | Op::SBfe | Op::SextI8 | Op::SextI16 => Class::Bits,
        Op::CMov | Op::Bitset0 | Op::Bitset1 | Op::Bitcmp0 | Op::Bitcmp1 => Class::Bits,
        Op::Wqm | Op::QuadMask | Op::BitReplicate => Class::Bits,
        Op::SaveExec(_) | Op::WrExec(_) => Class::Bits,
        Op::Swap | Op::ReadLane | Op::WriteLane | Op::ReadFirstLane => Class::Bits,
        Op::AndOr | Op::Or3 | Op::ShlOr | Op::Bfe | Op::Bfi => Class::Bits,
        Op::AlignBit | Op::AlignByte | Op::Perm | Op::PackF16 | Op::Ds(_) => Class::Bits,
        // An element of a factor is in one lane and reaches others.
        Op::Mfma(_) | Op::Smfmac(_) => Class::Bits,
        Op::AccVgprRead | Op::AccVgprWrite | Op::AccVgprMov => Class::Bits,
        _ if float || inst.mods.clamp || inst.desc.encoding == Encoding::Vop3p => Class::Whole,
        Op::Add | Op::Sub | Op::Mul | Op::Mad | Op::Mac => Class::Upwards,
        Op::AddCarry | Op::SubBorrow | Op::AddCo | Op::SubCo | Op::ShlNAdd(_) => Class::Upwards,
        Op::Add3 | Op::ShlAdd | Op::AddShl | Op::XorAdd => Class::Upwards,
        Op::Mad64 | Op::ShlAdd64 => Class::Upwards,
        Op::Mul24 | Op::Mad24 | Op::Mad32x16 | Op::MbcntLo | Op::MbcntHi => Class::Upwards,
        _ => Class::Whole,
    }
}

fn selectors(inst: &Inst) -> u8 {
    match inst.op() {
        ops!(shifts) if inst.desc.rev => 1 << 0,
        ops!(shifts) => 1 << 1,
        Op::Bfe => 1 << 1 | 1 << 2,
        Op::Bfm => 1 << 0 | 1 << 1,
        Op::SBfe | Op::ShlOr | Op::Bitcmp0 | Op::Bitcmp1 => 1 << 1,
        Op::ReadLane | Op::WriteLane => 1 << 1,
        Op::Bitset0 | Op::Bitset1 | Op::Ds(_) => 1 << 0,
        Op::AlignBit | Op::AlignByte | Op::Perm => 1 << 2,
        _ => 0,
    }
}

/// Bits of a dword that a selection takes.
fn selected(sel: Sel) -> u32 {
    match sel {
        Sel::Byte0 => 0xff,
        Sel::Byte1 => 0xff << 8,
        Sel::Byte2 => 0xff << 16,
        Sel::Byte3 => 0xff << 24,
        Sel::Word0 => 0xffff,
        Sel::Word1 => 0xffff << 16,
        Sel::Dword => u32::MAX,
    }
}

/// Bits of a source's first dword that matter.
pub(super) fn relevant(inst: &Inst, source: usize) -> u32 {
    if let (Some(sdwa), 0 | 1) = (inst.mods.sdwa, source) {
        return selected(sdwa.src_sel[source]);
    }
    let ty = inst.desc.src.get(source);
    let bits = ty.map_or(32, |ty| ty.bits());
    match inst.op() {
        Op::CvtUbyte(n) => 0xff << (8 * (n & 3)),
        Op::CvtFromF8(_) => 0xff,
        Op::CvtPkFromF8(_) => 0xffff,
        Op::Mul24 | Op::MulHi24 | Op::Mad24 if source < 2 => 0xff_ffff,
        ops!(shifts) | Op::Bfe if selectors(inst) >> source & 1 != 0 => match inst.desc.ty().bits()
        {
            64 => 0x3f,
            _ => 0x1f,
        },
        Op::SBfe if source == 1 => 0x7f_003f,
        Op::ReadLane | Op::WriteLane if source == 1 => 0x3f,
        _ if bits == 16 && inst.mods.op_sel >> source & 1 != 0 => 0xffff << 16,
        _ if bits == 16 => 0xffff,
        _ => u32::MAX,
    }
}

/// Bits of the first destination's dwords that are written.
pub(super) fn written(inst: &Inst) -> u32 {
    if let Some(sdwa) = inst.mods.sdwa {
        let bits = selected(sdwa.dst_sel);
        return match sdwa.dst_unused {
            Unused::Sext => u32::MAX << bits.trailing_zeros(),
            Unused::Pad | Unused::Preserve => bits,
        };
    }
    match inst.op() {
        Op::CvtPkToF8(_) => return 0xffff << (16 * (inst.mods.op_sel >> 3 & 1)),
        Op::CvtSrToF8(_) => return 0xff << (8 * (inst.mods.op_sel >> 2 & 3)),
        _ => {}
    }
    match inst.desc.dst.first().map(|ty| ty.bits()) {
        Some(16) if inst.mods.op_sel & 8 != 0 => 0xffff << 16,
        Some(16) => 0xffff,
        _ => u32::MAX,
    }
}

/// Is the destination read as a source of the computation?
pub(super) fn accumulates(inst: &Inst) -> bool {
    // Conversions to floats of 8 bits keep the rest of the destination.
    let keeps = matches!(inst.op(), Op::CvtPkToF8(_) | Op::CvtSrToF8(_));
    inst.desc.effects.has(Effects::READS_D) && !keeps
}

/// An operand some registers behind.
pub(super) fn behind(operand: Operand, index: u32) -> Operand {
    let add = |n: u8| u8::try_from(u32::from(n).saturating_add(index)).ok();
    match operand {
        Operand::Vgpr(n) => add(n).map_or(Operand::Vgpr(0), Operand::Vgpr),
        Operand::Agpr(n) => add(n).map_or(Operand::Agpr(0), Operand::Agpr),
        Operand::Sgpr(n) => add(n).filter(|&n| n < 128).map_or(operand, Operand::Sgpr),
        other => other,
    }
}
