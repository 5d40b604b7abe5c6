//! VOP3: vector instructions with up to three sources. The index holds VOP1, VOP2, VOPC and VINTRP
//! too, promoted by rule.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, op, row};
use crate::isa::{Index, vintrp, vop1, vop2, vopc};
use crate::op::{F8, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vop3(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Vop3, name, opcodes, d, s, op)
}

const READLANE: Effects = Effects::CROSS_LANE.and(Effects::IGNORES_EXEC);
const WRITELANE: Effects = READLANE.and(Effects::READS_D);

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    vop3("v_mad_legacy_f32",     op(0x140).gfx8(0x1c0).dropped_in(Gfx::Gfx942), &[F32],       &[F32, F32, F32],  Op::MadLegacy),
    vop3("v_mad_f32",            op(0x141).gfx8(0x1c1).dropped_in(Gfx::Gfx942), &[F32],       &[F32, F32, F32],  Op::Mad),
    vop3("v_mad_i32_i24",        op(0x142).gfx8(0x1c2),                         &[I32],       &[I32, I32, I32],  Op::Mad24).form(Forms::INT_CLAMP),
    vop3("v_mad_u32_u24",        op(0x143).gfx8(0x1c3),                         &[U32],       &[U32, U32, U32],  Op::Mad24).form(Forms::INT_CLAMP),
    vop3("v_cubeid_f32",         op(0x144).gfx8(0x1c4),                         &[F32],       &[F32, F32, F32],  Op::CubeId),
    vop3("v_cubesc_f32",         op(0x145).gfx8(0x1c5),                         &[F32],       &[F32, F32, F32],  Op::CubeSc),
    vop3("v_cubetc_f32",         op(0x146).gfx8(0x1c6),                         &[F32],       &[F32, F32, F32],  Op::CubeTc),
    vop3("v_cubema_f32",         op(0x147).gfx8(0x1c7),                         &[F32],       &[F32, F32, F32],  Op::CubeMa),
    vop3("v_bfe_u32",            op(0x148).gfx8(0x1c8),                         &[U32],       &[U32, U32, U32],  Op::Bfe),
    vop3("v_bfe_i32",            op(0x149).gfx8(0x1c9),                         &[I32],       &[I32, U32, U32],  Op::Bfe),
    vop3("v_bfi_b32",            op(0x14a).gfx8(0x1ca),                         &[B32],       &[B32, B32, B32],  Op::Bfi),
    vop3("v_fma_f32",            op(0x14b).gfx8(0x1cb),                         &[F32],       &[F32, F32, F32],  Op::Fma),
    vop3("v_fma_f64",            op(0x14c).gfx8(0x1cc),                         &[F64],       &[F64, F64, F64],  Op::Fma),
    vop3("v_lerp_u8",            op(0x14d).gfx8(0x1cd),                         &[B32],       &[B32, B32, B32],  Op::Lerp),
    vop3("v_alignbit_b32",       op(0x14e).gfx8(0x1ce),                         &[B32],       &[B32, B32, U32],  Op::AlignBit),
    vop3("v_alignbyte_b32",      op(0x14f).gfx8(0x1cf),                         &[B32],       &[B32, B32, U32],  Op::AlignByte),
    vop3("v_mullit_f32",         op(0x150).dropped_in(Gfx::Gfx803),             &[F32],       &[F32, F32, F32],  Op::MulLit),
    vop3("v_min3_f32",           op(0x151).gfx8(0x1d0),                         &[F32],       &[F32, F32, F32],  Op::Min3),
    vop3("v_min3_i32",           op(0x152).gfx8(0x1d1),                         &[I32],       &[I32, I32, I32],  Op::Min3),
    vop3("v_min3_u32",           op(0x153).gfx8(0x1d2),                         &[U32],       &[U32, U32, U32],  Op::Min3),
    vop3("v_max3_f32",           op(0x154).gfx8(0x1d3),                         &[F32],       &[F32, F32, F32],  Op::Max3),
    vop3("v_max3_i32",           op(0x155).gfx8(0x1d4),                         &[I32],       &[I32, I32, I32],  Op::Max3),
    vop3("v_max3_u32",           op(0x156).gfx8(0x1d5),                         &[U32],       &[U32, U32, U32],  Op::Max3),
    vop3("v_med3_f32",           op(0x157).gfx8(0x1d6),                         &[F32],       &[F32, F32, F32],  Op::Med3),
    vop3("v_med3_i32",           op(0x158).gfx8(0x1d7),                         &[I32],       &[I32, I32, I32],  Op::Med3),
    vop3("v_med3_u32",           op(0x159).gfx8(0x1d8),                         &[U32],       &[U32, U32, U32],  Op::Med3),
    vop3("v_sad_u8",             op(0x15a).gfx8(0x1d9),                         &[U32],       &[B32, B32, U32],  Op::SadU8).form(Forms::INT_CLAMP),
    vop3("v_sad_hi_u8",          op(0x15b).gfx8(0x1da),                         &[U32],       &[B32, B32, U32],  Op::SadHiU8).form(Forms::INT_CLAMP),
    vop3("v_sad_u16",            op(0x15c).gfx8(0x1db),                         &[U32],       &[B32, B32, U32],  Op::SadU16).form(Forms::INT_CLAMP),
    vop3("v_sad_u32",            op(0x15d).gfx8(0x1dc),                         &[U32],       &[U32, U32, U32],  Op::SadU32).form(Forms::INT_CLAMP),
    vop3("v_cvt_pk_u8_f32",      op(0x15e).gfx8(0x1dd),                         &[B32],       &[F32, U32, B32],  Op::CvtPkU8),
    vop3("v_div_fixup_f32",      op(0x15f).gfx8(0x1de),                         &[F32],       &[F32, F32, F32],  Op::DivFixup),
    vop3("v_div_fixup_f64",      op(0x160).gfx8(0x1df),                         &[F64],       &[F64, F64, F64],  Op::DivFixup),
    vop3("v_lshl_b64",           op(0x161).dropped_in(Gfx::Gfx803),             &[B64],       &[B64, U32],       Op::Shl),
    vop3("v_lshr_b64",           op(0x162).dropped_in(Gfx::Gfx803),             &[B64],       &[B64, U32],       Op::Lshr),
    vop3("v_ashr_i64",           op(0x163).dropped_in(Gfx::Gfx803),             &[I64],       &[I64, U32],       Op::Ashr),
    vop3("v_add_f64",            op(0x164).gfx8(0x280),                         &[F64],       &[F64, F64],       Op::Add),
    vop3("v_mul_f64",            op(0x165).gfx8(0x281),                         &[F64],       &[F64, F64],       Op::Mul),
    vop3("v_min_f64",            op(0x166).gfx8(0x282),                         &[F64],       &[F64, F64],       Op::Min),
    vop3("v_max_f64",            op(0x167).gfx8(0x283),                         &[F64],       &[F64, F64],       Op::Max),
    vop3("v_ldexp_f64",          op(0x168).gfx8(0x284),                         &[F64],       &[F64, I32],       Op::Ldexp),
    vop3("v_mul_lo_u32",         op(0x169).gfx8(0x285),                         &[U32],       &[U32, U32],       Op::Mul),
    vop3("v_mul_hi_u32",         op(0x16a).gfx8(0x286),                         &[U32],       &[U32, U32],       Op::MulHi),
    vop3("v_mul_lo_i32",         op(0x16b).dropped_in(Gfx::Gfx803),             &[I32],       &[I32, I32],       Op::Mul),
    vop3("v_mul_hi_i32",         op(0x16c).gfx8(0x287),                         &[I32],       &[I32, I32],       Op::MulHi),
    vop3("v_div_scale_f32",      op(0x16d).gfx8(0x1e0),                         &[F32, Mask], &[F32, F32, F32],  Op::DivScale).form(Forms::VOP3B),
    vop3("v_div_scale_f64",      op(0x16e).gfx8(0x1e1),                         &[F64, Mask], &[F64, F64, F64],  Op::DivScale).form(Forms::VOP3B),
    vop3("v_div_fmas_f32",       op(0x16f).gfx8(0x1e2),                         &[F32],       &[F32, F32, F32],  Op::DivFmas).effect(Effects::READS_VCC),
    vop3("v_div_fmas_f64",       op(0x170).gfx8(0x1e3),                         &[F64],       &[F64, F64, F64],  Op::DivFmas).effect(Effects::READS_VCC),
    vop3("v_msad_u8",            op(0x171).gfx8(0x1e4),                         &[U32],       &[B32, B32, U32],  Op::MsadU8).form(Forms::INT_CLAMP),
    vop3("v_qsad_pk_u16_u8",     absent().gfx7(0x172).gfx8(0x1e5),              &[B64],       &[B64, B32, B64],  Op::QsadPkU16U8).form(Forms::INT_CLAMP),
    vop3("v_mqsad_pk_u16_u8",    op(0x173).gfx8(0x1e6),                         &[B64],       &[B64, B32, B64],  Op::MqsadPkU16U8).form(Forms::INT_CLAMP),
    vop3("v_mqsad_u32_u8",       absent().gfx7(0x175).gfx8(0x1e7),              &[B128],      &[B64, B32, B128], Op::MqsadU32U8).form(Forms::INT_CLAMP),
    vop3("v_trig_preop_f64",     op(0x174).gfx8(0x292),                         &[F64],       &[F64, U32],       Op::TrigPreop),
    vop3("v_mad_u64_u32",        absent().gfx7(0x176).gfx8(0x1e8),              &[U64, Mask], &[U32, U32, U64],  Op::Mad64).form(Forms::VOP3B.and(Forms::INT_CLAMP)),
    vop3("v_mad_i64_i32",        absent().gfx7(0x177).gfx8(0x1e9),              &[I64, Mask], &[I32, I32, I64],  Op::Mad64).form(Forms::VOP3B.and(Forms::INT_CLAMP)),
    // gfx8 up: VOP2 of gfx6/7 that moved here
    vop3("v_ldexp_f32",          absent().gfx8(0x288),                          &[F32],       &[F32, I32],       Op::Ldexp),
    vop3("v_readlane_b32",       absent().gfx8(0x289),                          &[B32],       &[B32, U32],       Op::ReadLane).effect(READLANE),
    vop3("v_writelane_b32",      absent().gfx8(0x28a),                          &[B32],       &[B32, U32],       Op::WriteLane).effect(WRITELANE),
    vop3("v_bcnt_u32_b32",       absent().gfx8(0x28b),                          &[U32],       &[B32, U32],       Op::BcntAdd),
    vop3("v_mbcnt_lo_u32_b32",   absent().gfx8(0x28c),                          &[U32],       &[B32, U32],       Op::MbcntLo),
    vop3("v_mbcnt_hi_u32_b32",   absent().gfx8(0x28d),                          &[U32],       &[B32, U32],       Op::MbcntHi),
    vop3("v_bfm_b32",            absent().gfx8(0x293),                          &[B32],       &[U32, U32],       Op::Bfm),
    vop3("v_cvt_pkaccum_u8_f32", absent().gfx8(0x1f0),                          &[B32],       &[F32, U32],       Op::CvtPkAccumU8).effect(Effects::READS_D),
    vop3("v_cvt_pknorm_i16_f32", absent().gfx8(0x294),                          &[PkI16],     &[F32, F32],       Op::CvtPkNorm),
    vop3("v_cvt_pknorm_u16_f32", absent().gfx8(0x295),                          &[PkU16],     &[F32, F32],       Op::CvtPkNorm),
    vop3("v_cvt_pkrtz_f16_f32",  absent().gfx8(0x296),                          &[PkF16],     &[F32, F32],       Op::CvtPkRtz),
    vop3("v_cvt_pk_u16_u32",     absent().gfx8(0x297),                          &[PkU16],     &[U32, U32],       Op::CvtPkInt),
    vop3("v_cvt_pk_i16_i32",     absent().gfx8(0x298),                          &[PkI16],     &[I32, I32],       Op::CvtPkInt),
    // gfx8 up
    vop3("v_mad_f16",            absent().gfx8(0x1ea),                          &[F16],       &[F16, F16, F16],  Op::Mad).renamed(&[(Gfx::Gfx900, "v_mad_legacy_f16")]),
    vop3("v_mad_u16",            absent().gfx8(0x1eb),                          &[U16],       &[U16, U16, U16],  Op::Mad).renamed(&[(Gfx::Gfx900, "v_mad_legacy_u16")]).form(Forms::INT_CLAMP),
    vop3("v_mad_i16",            absent().gfx8(0x1ec),                          &[I16],       &[I16, I16, I16],  Op::Mad).renamed(&[(Gfx::Gfx900, "v_mad_legacy_i16")]).form(Forms::INT_CLAMP),
    vop3("v_perm_b32",           absent().gfx8(0x1ed),                          &[B32],       &[B32, B32, B32],  Op::Perm),
    vop3("v_fma_f16",            absent().gfx8(0x1ee),                          &[F16],       &[F16, F16, F16],  Op::Fma).renamed(&[(Gfx::Gfx900, "v_fma_legacy_f16")]),
    vop3("v_div_fixup_f16",      absent().gfx8(0x1ef),                          &[F16],       &[F16, F16, F16],  Op::DivFixup).renamed(&[(Gfx::Gfx900, "v_div_fixup_legacy_f16")]),
    vop3("v_lshlrev_b64",        absent().gfx8(0x28f),                          &[B64],       &[U32, B64],       Op::Shl).rev(),
    vop3("v_lshrrev_b64",        absent().gfx8(0x290),                          &[B64],       &[U32, B64],       Op::Lshr).rev(),
    vop3("v_ashrrev_i64",        absent().gfx8(0x291),                          &[I64],       &[U32, I64],       Op::Ashr).rev(),
    vop3("v_interp_p1ll_f16",    absent().gfx8(0x274).dropped_in(Gfx::Gfx90a),  &[F32],       &[F32, Imm],       Op::InterpP1Ll).effect(Effects::READS_M0),
    vop3("v_interp_p1lv_f16",    absent().gfx8(0x275).dropped_in(Gfx::Gfx90a),  &[F32],       &[F32, Imm, F16],  Op::InterpP1Lv).effect(Effects::READS_M0),
    vop3("v_interp_p2_f16",      absent().gfx8(0x276).dropped_in(Gfx::Gfx90a),  &[F16],       &[F32, Imm, F32],  Op::InterpP2).renamed(&[(Gfx::Gfx900, "v_interp_p2_legacy_f16")]).effect(Effects::READS_M0),
    // gfx9
    vop3("v_mad_u32_u16",        absent().gfx9(0x1f1),                          &[U32],       &[U16, U16, U32],  Op::Mad32x16).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_mad_i32_i16",        absent().gfx9(0x1f2),                          &[I32],       &[I16, I16, I32],  Op::Mad32x16).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_xad_u32",            absent().gfx9(0x1f3),                          &[U32],       &[U32, U32, U32],  Op::XorAdd),
    vop3("v_min3_f16",           absent().gfx9(0x1f4),                          &[F16],       &[F16, F16, F16],  Op::Min3).form(Forms::OP_SEL),
    vop3("v_min3_i16",           absent().gfx9(0x1f5),                          &[I16],       &[I16, I16, I16],  Op::Min3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_min3_u16",           absent().gfx9(0x1f6),                          &[U16],       &[U16, U16, U16],  Op::Min3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_max3_f16",           absent().gfx9(0x1f7),                          &[F16],       &[F16, F16, F16],  Op::Max3).form(Forms::OP_SEL),
    vop3("v_max3_i16",           absent().gfx9(0x1f8),                          &[I16],       &[I16, I16, I16],  Op::Max3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_max3_u16",           absent().gfx9(0x1f9),                          &[U16],       &[U16, U16, U16],  Op::Max3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_med3_f16",           absent().gfx9(0x1fa),                          &[F16],       &[F16, F16, F16],  Op::Med3).form(Forms::OP_SEL),
    vop3("v_med3_i16",           absent().gfx9(0x1fb),                          &[I16],       &[I16, I16, I16],  Op::Med3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_med3_u16",           absent().gfx9(0x1fc),                          &[U16],       &[U16, U16, U16],  Op::Med3).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_lshl_add_u32",       absent().gfx9(0x1fd),                          &[U32],       &[U32, U32, U32],  Op::ShlAdd),
    vop3("v_add_lshl_u32",       absent().gfx9(0x1fe),                          &[U32],       &[U32, U32, U32],  Op::AddShl),
    vop3("v_add3_u32",           absent().gfx9(0x1ff),                          &[U32],       &[U32, U32, U32],  Op::Add3),
    vop3("v_lshl_or_b32",        absent().gfx9(0x200),                          &[B32],       &[B32, U32, B32],  Op::ShlOr),
    vop3("v_and_or_b32",         absent().gfx9(0x201),                          &[B32],       &[B32, B32, B32],  Op::AndOr),
    vop3("v_or3_b32",            absent().gfx9(0x202),                          &[B32],       &[B32, B32, B32],  Op::Or3),
    vop3("v_mad_f16",            absent().gfx9(0x203),                          &[F16],       &[F16, F16, F16],  Op::Mad).form(Forms::OP_SEL.and(Forms::KEEPS_HI16)),
    vop3("v_mad_u16",            absent().gfx9(0x204),                          &[U16],       &[U16, U16, U16],  Op::Mad).form(Forms::OP_SEL.and(Forms::KEEPS_HI16).and(Forms::INT_CLAMP)),
    vop3("v_mad_i16",            absent().gfx9(0x205),                          &[I16],       &[I16, I16, I16],  Op::Mad).form(Forms::OP_SEL.and(Forms::KEEPS_HI16).and(Forms::INT_CLAMP)),
    vop3("v_fma_f16",            absent().gfx9(0x206),                          &[F16],       &[F16, F16, F16],  Op::Fma).form(Forms::OP_SEL.and(Forms::KEEPS_HI16)),
    vop3("v_div_fixup_f16",      absent().gfx9(0x207),                          &[F16],       &[F16, F16, F16],  Op::DivFixup).form(Forms::OP_SEL.and(Forms::KEEPS_HI16)),
    vop3("v_interp_p2_f16",      absent().gfx9(0x277).dropped_in(Gfx::Gfx90a),  &[F16],       &[F32, Imm, F32],  Op::InterpP2).effect(Effects::READS_M0).form(Forms::KEEPS_HI16),
    vop3("v_cvt_pknorm_i16_f16", absent().gfx9(0x299),                          &[PkI16],     &[F16, F16],       Op::CvtPkNorm).form(Forms::OP_SEL),
    vop3("v_cvt_pknorm_u16_f16", absent().gfx9(0x29a),                          &[PkU16],     &[F16, F16],       Op::CvtPkNorm).form(Forms::OP_SEL),
    vop3("v_add_i32",            absent().gfx9(0x29c),                          &[I32],       &[I32, I32],       Op::Add).form(Forms::INT_CLAMP),
    vop3("v_sub_i32",            absent().gfx9(0x29d),                          &[I32],       &[I32, I32],       Op::Sub).form(Forms::INT_CLAMP),
    vop3("v_add_i16",            absent().gfx9(0x29e),                          &[I16],       &[I16, I16],       Op::Add).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_sub_i16",            absent().gfx9(0x29f),                          &[I16],       &[I16, I16],       Op::Sub).form(Forms::OP_SEL.and(Forms::INT_CLAMP)),
    vop3("v_pack_b32_f16",       absent().gfx9(0x2a0),                          &[B32],       &[F16, F16],       Op::PackF16).form(Forms::OP_SEL),
    vop3("v_mul_legacy_f32",     absent().gfx90a(0x2a1),                        &[F32],       &[F32, F32],       Op::MulLegacy),
    // gfx942
    vop3("v_lshl_add_u64",       absent().gfx942(0x208),                        &[U64],       &[U64, U32, U64],  Op::ShlAdd64),
    vop3("v_cvt_pk_fp8_f32",     absent().gfx942(0x2a2),                        &[B32],       &[F32, F32],       Op::CvtPkToF8(F8::Fp8)).form(Forms::OP_SEL).effect(Effects::READS_D),
    vop3("v_cvt_pk_bf8_f32",     absent().gfx942(0x2a3),                        &[B32],       &[F32, F32],       Op::CvtPkToF8(F8::Bf8)).form(Forms::OP_SEL).effect(Effects::READS_D),
    vop3("v_cvt_sr_fp8_f32",     absent().gfx942(0x2a4),                        &[B32],       &[F32, U32],       Op::CvtSrToF8(F8::Fp8)).form(Forms::OP_SEL.and(Forms::BYTE_OP_SEL)).effect(Effects::READS_D),
    vop3("v_cvt_sr_bf8_f32",     absent().gfx942(0x2a5),                        &[B32],       &[F32, U32],       Op::CvtSrToF8(F8::Bf8)).form(Forms::OP_SEL.and(Forms::BYTE_OP_SEL)).effect(Effects::READS_D),
];

/// From VOP3 opcode to row: VOPC from 0, VOP2 from 0x100, VOP1 from 0x180 (gfx6/7) or 0x140, VINTRP
/// from 0x270 (gfx8 up).
pub static INDEX: Index<1024> = Index::new("VOP3")
    .with(ROWS)
    .with_families(vopc::ROWS)
    .with_offset(vop2::ROWS, [0x100; Gfx::COUNT], Forms::NO_VOP3.0)
    .with_offset(
        vop1::ROWS,
        [0x180, 0x180, 0x140, 0x140, 0x140, 0x140, 0x140, 0x140],
        Forms::NO_VOP3.0,
    )
    .with_offset(vintrp::ROWS, [0x270; Gfx::COUNT], Forms::NO_VOP3.0);
