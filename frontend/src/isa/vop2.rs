//! VOP2: vector instructions with two sources.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::Op;
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vop2(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Vop2, name, opcodes, d, s, op)
}

const WIDE: Forms = Forms::NO_SDWA.and(Forms::NO_DPP);
/// Only the 32-bit encoding.
const ONLY_E32: Forms = WIDE.and(Forms::NO_VOP3);
/// A literal is one of the sources.
const MADK: Forms = ONLY_E32.and(Forms::LITERAL_K);
const MADMK: Forms = MADK.and(Forms::K_FIRST);
/// VCC or, as VOP3, an SGPR pair takes the carry.
const CARRY: Forms = Forms::VOP3B.and(Forms::INT_CLAMP);
const DOTC: Forms = Forms::NO_SDWA.and(Forms::INT_CLAMP);
const READLANE: Effects = Effects::CROSS_LANE.and(Effects::IGNORES_EXEC);
const WRITELANE: Effects = READLANE.and(Effects::READS_D);

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    vop2("v_cndmask_b32",        op(0x00),                                    &[B32],       &[B32, B32, Mask], Op::Select).form(Forms::FLOAT_MODS),
    vop2("v_readlane_b32",       op(0x01).dropped_in(Gfx::Gfx803),            &[B32],       &[B32, U32],       Op::ReadLane).effect(READLANE).form(ONLY_E32),
    vop2("v_writelane_b32",      op(0x02).dropped_in(Gfx::Gfx803),            &[B32],       &[B32, U32],       Op::WriteLane).effect(WRITELANE).form(ONLY_E32),
    vop2("v_add_f32",            op(0x03).gfx8(0x01),                         &[F32],       &[F32, F32],       Op::Add),
    vop2("v_sub_f32",            op(0x04).gfx8(0x02),                         &[F32],       &[F32, F32],       Op::Sub),
    vop2("v_subrev_f32",         op(0x05).gfx8(0x03),                         &[F32],       &[F32, F32],       Op::Sub).rev(),
    vop2("v_mac_legacy_f32",     op(0x06).dropped_in(Gfx::Gfx803),            &[F32],       &[F32, F32],       Op::MacLegacy).effect(Effects::READS_D),
    vop2("v_mul_legacy_f32",     op(0x07).gfx8(0x04).dropped_in(Gfx::Gfx90a), &[F32],       &[F32, F32],       Op::MulLegacy),
    vop2("v_fmac_f64",           absent().gfx90a(0x04),                       &[F64],       &[F64, F64],       Op::Fmac).effect(Effects::READS_D).form(WIDE),
    vop2("v_mul_f32",            op(0x08).gfx8(0x05),                         &[F32],       &[F32, F32],       Op::Mul),
    vop2("v_mul_i32_i24",        op(0x09).gfx8(0x06),                         &[I32],       &[I32, I32],       Op::Mul24).form(Forms::INT_CLAMP),
    vop2("v_mul_hi_i32_i24",     op(0x0a).gfx8(0x07),                         &[I32],       &[I32, I32],       Op::MulHi24),
    vop2("v_mul_u32_u24",        op(0x0b).gfx8(0x08),                         &[U32],       &[U32, U32],       Op::Mul24).form(Forms::INT_CLAMP),
    vop2("v_mul_hi_u32_u24",     op(0x0c).gfx8(0x09),                         &[U32],       &[U32, U32],       Op::MulHi24),
    vop2("v_min_legacy_f32",     op(0x0d).dropped_in(Gfx::Gfx803),            &[F32],       &[F32, F32],       Op::MinLegacy),
    vop2("v_max_legacy_f32",     op(0x0e).dropped_in(Gfx::Gfx803),            &[F32],       &[F32, F32],       Op::MaxLegacy),
    vop2("v_min_f32",            op(0x0f).gfx8(0x0a),                         &[F32],       &[F32, F32],       Op::Min),
    vop2("v_max_f32",            op(0x10).gfx8(0x0b),                         &[F32],       &[F32, F32],       Op::Max),
    vop2("v_min_i32",            op(0x11).gfx8(0x0c),                         &[I32],       &[I32, I32],       Op::Min),
    vop2("v_max_i32",            op(0x12).gfx8(0x0d),                         &[I32],       &[I32, I32],       Op::Max),
    vop2("v_min_u32",            op(0x13).gfx8(0x0e),                         &[U32],       &[U32, U32],       Op::Min),
    vop2("v_max_u32",            op(0x14).gfx8(0x0f),                         &[U32],       &[U32, U32],       Op::Max),
    vop2("v_lshr_b32",           op(0x15).dropped_in(Gfx::Gfx803),            &[B32],       &[B32, U32],       Op::Lshr),
    vop2("v_lshrrev_b32",        op(0x16).gfx8(0x10),                         &[B32],       &[U32, B32],       Op::Lshr).rev(),
    vop2("v_ashr_i32",           op(0x17).dropped_in(Gfx::Gfx803),            &[I32],       &[I32, U32],       Op::Ashr),
    vop2("v_ashrrev_i32",        op(0x18).gfx8(0x11),                         &[I32],       &[U32, I32],       Op::Ashr).rev(),
    vop2("v_lshl_b32",           op(0x19).dropped_in(Gfx::Gfx803),            &[B32],       &[B32, U32],       Op::Shl),
    vop2("v_lshlrev_b32",        op(0x1a).gfx8(0x12),                         &[B32],       &[U32, B32],       Op::Shl).rev(),
    vop2("v_and_b32",            op(0x1b).gfx8(0x13),                         &[B32],       &[B32, B32],       Op::And),
    vop2("v_or_b32",             op(0x1c).gfx8(0x14),                         &[B32],       &[B32, B32],       Op::Or),
    vop2("v_xor_b32",            op(0x1d).gfx8(0x15),                         &[B32],       &[B32, B32],       Op::Xor),
    vop2("v_bfm_b32",            op(0x1e).dropped_in(Gfx::Gfx803),            &[B32],       &[U32, U32],       Op::Bfm),
    vop2("v_mac_f32",            op(0x1f).gfx8(0x16).dropped_in(Gfx::Gfx942), &[F32],       &[F32, F32],       Op::Mac).effect(Effects::READS_D).form(Forms::SDWA_GFX8),
    vop2("v_madmk_f32",          op(0x20).gfx8(0x17).dropped_in(Gfx::Gfx942), &[F32],       &[F32, F32, F32],  Op::Mad).form(MADMK),
    vop2("v_madak_f32",          op(0x21).gfx8(0x18).dropped_in(Gfx::Gfx942), &[F32],       &[F32, F32, F32],  Op::Mad).form(MADK),
    vop2("v_fmamk_f32",          absent().gfx942(0x17),                       &[F32],       &[F32, F32, F32],  Op::Fma).form(MADMK),
    vop2("v_fmaak_f32",          absent().gfx942(0x18),                       &[F32],       &[F32, F32, F32],  Op::Fma).form(MADK),
    vop2("v_bcnt_u32_b32",       op(0x22).dropped_in(Gfx::Gfx803),            &[U32],       &[B32, U32],       Op::BcntAdd),
    vop2("v_mbcnt_lo_u32_b32",   op(0x23).dropped_in(Gfx::Gfx803),            &[U32],       &[B32, U32],       Op::MbcntLo),
    vop2("v_mbcnt_hi_u32_b32",   op(0x24).dropped_in(Gfx::Gfx803),            &[U32],       &[B32, U32],       Op::MbcntHi),
    vop2("v_add_i32",            op(0x25).gfx8(0x19),                         &[U32, Mask], &[U32, U32],       Op::AddCo).renamed(&[(Gfx::Gfx803, "v_add_u32"), (Gfx::Gfx900, "v_add_co_u32")]).form(CARRY),
    vop2("v_sub_i32",            op(0x26).gfx8(0x1a),                         &[U32, Mask], &[U32, U32],       Op::SubCo).renamed(&[(Gfx::Gfx803, "v_sub_u32"), (Gfx::Gfx900, "v_sub_co_u32")]).form(CARRY),
    vop2("v_subrev_i32",         op(0x27).gfx8(0x1b),                         &[U32, Mask], &[U32, U32],       Op::SubCo).renamed(&[(Gfx::Gfx803, "v_subrev_u32"), (Gfx::Gfx900, "v_subrev_co_u32")]).form(CARRY).rev(),
    vop2("v_addc_u32",           op(0x28).gfx8(0x1c),                         &[U32, Mask], &[U32, U32, Mask], Op::AddCarry).renamed(&[(Gfx::Gfx900, "v_addc_co_u32")]).form(CARRY),
    vop2("v_subb_u32",           op(0x29).gfx8(0x1d),                         &[U32, Mask], &[U32, U32, Mask], Op::SubBorrow).renamed(&[(Gfx::Gfx900, "v_subb_co_u32")]).form(CARRY),
    vop2("v_subbrev_u32",        op(0x2a).gfx8(0x1e),                         &[U32, Mask], &[U32, U32, Mask], Op::SubBorrow).renamed(&[(Gfx::Gfx900, "v_subbrev_co_u32")]).form(CARRY).rev(),
    vop2("v_ldexp_f32",          op(0x2b).dropped_in(Gfx::Gfx803),            &[F32],       &[F32, I32],       Op::Ldexp),
    vop2("v_cvt_pkaccum_u8_f32", op(0x2c).dropped_in(Gfx::Gfx803),            &[B32],       &[F32, U32],       Op::CvtPkAccumU8).effect(Effects::READS_D),
    vop2("v_cvt_pknorm_i16_f32", op(0x2d).dropped_in(Gfx::Gfx803),            &[PkI16],     &[F32, F32],       Op::CvtPkNorm),
    vop2("v_cvt_pknorm_u16_f32", op(0x2e).dropped_in(Gfx::Gfx803),            &[PkU16],     &[F32, F32],       Op::CvtPkNorm),
    vop2("v_cvt_pkrtz_f16_f32",  op(0x2f).dropped_in(Gfx::Gfx803),            &[PkF16],     &[F32, F32],       Op::CvtPkRtz),
    vop2("v_cvt_pk_u16_u32",     op(0x30).dropped_in(Gfx::Gfx803),            &[PkU16],     &[U32, U32],       Op::CvtPkInt),
    vop2("v_cvt_pk_i16_i32",     op(0x31).dropped_in(Gfx::Gfx803),            &[PkI16],     &[I32, I32],       Op::CvtPkInt),
    vop2("v_add_f16",            absent().gfx8(0x1f),                         &[F16],       &[F16, F16],       Op::Add),
    vop2("v_sub_f16",            absent().gfx8(0x20),                         &[F16],       &[F16, F16],       Op::Sub),
    vop2("v_subrev_f16",         absent().gfx8(0x21),                         &[F16],       &[F16, F16],       Op::Sub).rev(),
    vop2("v_mul_f16",            absent().gfx8(0x22),                         &[F16],       &[F16, F16],       Op::Mul),
    vop2("v_mac_f16",            absent().gfx8(0x23),                         &[F16],       &[F16, F16],       Op::Mac).effect(Effects::READS_D).form(Forms::SDWA_GFX8.and(Forms::KEEPS_HI16)),
    vop2("v_madmk_f16",          absent().gfx8(0x24),                         &[F16],       &[F16, F16, F16],  Op::Mad).form(MADMK.and(Forms::KEEPS_HI16)),
    vop2("v_madak_f16",          absent().gfx8(0x25),                         &[F16],       &[F16, F16, F16],  Op::Mad).form(MADK.and(Forms::KEEPS_HI16)),
    vop2("v_add_u16",            absent().gfx8(0x26),                         &[U16],       &[U16, U16],       Op::Add).form(Forms::INT_CLAMP),
    vop2("v_sub_u16",            absent().gfx8(0x27),                         &[U16],       &[U16, U16],       Op::Sub).form(Forms::INT_CLAMP),
    vop2("v_subrev_u16",         absent().gfx8(0x28),                         &[U16],       &[U16, U16],       Op::Sub).form(Forms::INT_CLAMP).rev(),
    vop2("v_mul_lo_u16",         absent().gfx8(0x29),                         &[U16],       &[U16, U16],       Op::Mul),
    vop2("v_lshlrev_b16",        absent().gfx8(0x2a),                         &[B16],       &[U16, B16],       Op::Shl).rev(),
    vop2("v_lshrrev_b16",        absent().gfx8(0x2b),                         &[B16],       &[U16, B16],       Op::Lshr).rev(),
    vop2("v_ashrrev_i16",        absent().gfx8(0x2c),                         &[I16],       &[U16, I16],       Op::Ashr).rev(),
    vop2("v_max_f16",            absent().gfx8(0x2d),                         &[F16],       &[F16, F16],       Op::Max),
    vop2("v_min_f16",            absent().gfx8(0x2e),                         &[F16],       &[F16, F16],       Op::Min),
    vop2("v_max_u16",            absent().gfx8(0x2f),                         &[U16],       &[U16, U16],       Op::Max),
    vop2("v_max_i16",            absent().gfx8(0x30),                         &[I16],       &[I16, I16],       Op::Max),
    vop2("v_min_u16",            absent().gfx8(0x31),                         &[U16],       &[U16, U16],       Op::Min),
    vop2("v_min_i16",            absent().gfx8(0x32),                         &[I16],       &[I16, I16],       Op::Min),
    vop2("v_ldexp_f16",          absent().gfx8(0x33),                         &[F16],       &[F16, I16],       Op::Ldexp),
    vop2("v_add_u32",            absent().gfx9(0x34),                         &[U32],       &[U32, U32],       Op::Add).form(Forms::INT_CLAMP),
    vop2("v_sub_u32",            absent().gfx9(0x35),                         &[U32],       &[U32, U32],       Op::Sub).form(Forms::INT_CLAMP),
    vop2("v_subrev_u32",         absent().gfx9(0x36),                         &[U32],       &[U32, U32],       Op::Sub).form(Forms::INT_CLAMP).rev(),
    vop2("v_dot2c_f32_f16",      absent().gfx908(0x37),                       &[F32],       &[PkF16, PkF16],   Op::Dot2c).form(DOTC).effect(Effects::READS_D),
    vop2("v_dot2c_i32_i16",      absent().gfx908(0x38),                       &[I32],       &[PkI16, PkI16],   Op::Dot2c).form(DOTC).effect(Effects::READS_D),
    vop2("v_dot4c_i32_i8",       absent().gfx908(0x39),                       &[I32],       &[B32, B32],       Op::Dot4c).form(DOTC).effect(Effects::READS_D),
    vop2("v_dot8c_i32_i4",       absent().gfx908(0x3a),                       &[I32],       &[B32, B32],       Op::Dot8c).form(DOTC).effect(Effects::READS_D),
    vop2("v_fmac_f32",           absent().gfx906(0x3b),                       &[F32],       &[F32, F32],       Op::Fmac).form(Forms::NO_SDWA).effect(Effects::READS_D),
    vop2("v_pk_fmac_f16",        absent().gfx908(0x3c),                       &[PkF16],     &[PkF16, PkF16],   Op::Fmac).form(ONLY_E32).effect(Effects::READS_D),
    vop2("v_xnor_b32",           absent().gfx906(0x3d),                       &[B32],       &[B32, B32],       Op::Xnor),
];

/// From opcode to row.
pub static INDEX: Index<64> = Index::new("VOP2").with(ROWS);
