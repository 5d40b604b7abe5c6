//! VOP1: vector instructions with one source.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::{F8, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vop1(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Vop1, name, opcodes, d, s, op)
}

/// No SDWA and no DPP form: 64-bit operands, relative moves, `v_clrexcp`.
const WIDE: Forms = Forms::NO_SDWA.and(Forms::NO_DPP);
/// Only the 32-bit encoding.
const ONLY_E32: Forms = WIDE.and(Forms::NO_VOP3);
const READFIRSTLANE: Effects = Effects::CROSS_LANE
    .and(Effects::READS_EXEC)
    .and(Effects::IGNORES_EXEC);

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    vop1("v_nop",                      op(0x00),                                    &[],      &[],    Op::Nop),
    vop1("v_mov_b32",                  op(0x01),                                    &[B32],   &[B32], Op::Mov),
    vop1("v_readfirstlane_b32",        op(0x02),                                    &[B32],   &[B32], Op::ReadFirstLane).effect(READFIRSTLANE).form(ONLY_E32),
    vop1("v_cvt_i32_f64",              op(0x03),                                    &[I32],   &[F64], Op::Cvt).form(WIDE),
    vop1("v_cvt_f64_i32",              op(0x04),                                    &[F64],   &[I32], Op::Cvt).form(WIDE),
    vop1("v_cvt_f32_i32",              op(0x05),                                    &[F32],   &[I32], Op::Cvt),
    vop1("v_cvt_f32_u32",              op(0x06),                                    &[F32],   &[U32], Op::Cvt),
    vop1("v_cvt_u32_f32",              op(0x07),                                    &[U32],   &[F32], Op::Cvt),
    vop1("v_cvt_i32_f32",              op(0x08),                                    &[I32],   &[F32], Op::Cvt),
    vop1("v_cvt_f16_f32",              op(0x0a),                                    &[F16],   &[F32], Op::Cvt),
    vop1("v_cvt_f32_f16",              op(0x0b),                                    &[F32],   &[F16], Op::Cvt),
    vop1("v_cvt_rpi_i32_f32",          op(0x0c),                                    &[I32],   &[F32], Op::CvtRpi),
    vop1("v_cvt_flr_i32_f32",          op(0x0d),                                    &[I32],   &[F32], Op::CvtFlr),
    vop1("v_cvt_off_f32_i4",           op(0x0e),                                    &[F32],   &[I32], Op::CvtOffI4),
    vop1("v_cvt_f32_f64",              op(0x0f),                                    &[F32],   &[F64], Op::Cvt).form(WIDE),
    vop1("v_cvt_f64_f32",              op(0x10),                                    &[F64],   &[F32], Op::Cvt).form(WIDE),
    vop1("v_cvt_f32_ubyte0",           op(0x11),                                    &[F32],   &[U32], Op::CvtUbyte(0)),
    vop1("v_cvt_f32_ubyte1",           op(0x12),                                    &[F32],   &[U32], Op::CvtUbyte(1)),
    vop1("v_cvt_f32_ubyte2",           op(0x13),                                    &[F32],   &[U32], Op::CvtUbyte(2)),
    vop1("v_cvt_f32_ubyte3",           op(0x14),                                    &[F32],   &[U32], Op::CvtUbyte(3)),
    vop1("v_cvt_u32_f64",              op(0x15),                                    &[U32],   &[F64], Op::Cvt).form(WIDE),
    vop1("v_cvt_f64_u32",              op(0x16),                                    &[F64],   &[U32], Op::Cvt).form(WIDE),
    vop1("v_trunc_f64",                absent().gfx7(0x17),                         &[F64],   &[F64], Op::Trunc).form(WIDE),
    vop1("v_ceil_f64",                 absent().gfx7(0x18),                         &[F64],   &[F64], Op::Ceil).form(WIDE),
    vop1("v_rndne_f64",                absent().gfx7(0x19),                         &[F64],   &[F64], Op::Rndne).form(WIDE),
    vop1("v_floor_f64",                absent().gfx7(0x1a),                         &[F64],   &[F64], Op::Floor).form(WIDE),
    vop1("v_fract_f32",                op(0x20).gfx8(0x1b),                         &[F32],   &[F32], Op::Fract),
    vop1("v_trunc_f32",                op(0x21).gfx8(0x1c),                         &[F32],   &[F32], Op::Trunc),
    vop1("v_ceil_f32",                 op(0x22).gfx8(0x1d),                         &[F32],   &[F32], Op::Ceil),
    vop1("v_rndne_f32",                op(0x23).gfx8(0x1e),                         &[F32],   &[F32], Op::Rndne),
    vop1("v_floor_f32",                op(0x24).gfx8(0x1f),                         &[F32],   &[F32], Op::Floor),
    vop1("v_exp_f32",                  op(0x25).gfx8(0x20),                         &[F32],   &[F32], Op::Exp),
    vop1("v_log_clamp_f32",            op(0x26).dropped_in(Gfx::Gfx803),            &[F32],   &[F32], Op::LogClamp),
    vop1("v_log_f32",                  op(0x27).gfx8(0x21),                         &[F32],   &[F32], Op::Log),
    vop1("v_rcp_clamp_f32",            op(0x28).dropped_in(Gfx::Gfx803),            &[F32],   &[F32], Op::RcpClamp),
    vop1("v_rcp_legacy_f32",           op(0x29).dropped_in(Gfx::Gfx803),            &[F32],   &[F32], Op::RcpLegacy),
    vop1("v_rcp_f32",                  op(0x2a).gfx8(0x22),                         &[F32],   &[F32], Op::Rcp),
    vop1("v_rcp_iflag_f32",            op(0x2b).gfx8(0x23),                         &[F32],   &[F32], Op::RcpIflag),
    vop1("v_rsq_clamp_f32",            op(0x2c).dropped_in(Gfx::Gfx803),            &[F32],   &[F32], Op::RsqClamp),
    vop1("v_rsq_legacy_f32",           op(0x2d).dropped_in(Gfx::Gfx803),            &[F32],   &[F32], Op::RsqLegacy),
    vop1("v_rsq_f32",                  op(0x2e).gfx8(0x24),                         &[F32],   &[F32], Op::Rsq),
    vop1("v_rcp_f64",                  op(0x2f).gfx8(0x25),                         &[F64],   &[F64], Op::Rcp).form(WIDE),
    vop1("v_rcp_clamp_f64",            op(0x30).dropped_in(Gfx::Gfx803),            &[F64],   &[F64], Op::RcpClamp).form(WIDE),
    vop1("v_rsq_f64",                  op(0x31).gfx8(0x26),                         &[F64],   &[F64], Op::Rsq).form(WIDE),
    vop1("v_rsq_clamp_f64",            op(0x32).dropped_in(Gfx::Gfx803),            &[F64],   &[F64], Op::RsqClamp).form(WIDE),
    vop1("v_sqrt_f32",                 op(0x33).gfx8(0x27),                         &[F32],   &[F32], Op::Sqrt),
    vop1("v_sqrt_f64",                 op(0x34).gfx8(0x28),                         &[F64],   &[F64], Op::Sqrt).form(WIDE),
    vop1("v_sin_f32",                  op(0x35).gfx8(0x29),                         &[F32],   &[F32], Op::Sin),
    vop1("v_cos_f32",                  op(0x36).gfx8(0x2a),                         &[F32],   &[F32], Op::Cos),
    vop1("v_not_b32",                  op(0x37).gfx8(0x2b),                         &[B32],   &[B32], Op::Not),
    vop1("v_bfrev_b32",                op(0x38).gfx8(0x2c),                         &[B32],   &[B32], Op::Brev),
    vop1("v_ffbh_u32",                 op(0x39).gfx8(0x2d),                         &[U32],   &[U32], Op::Flbit),
    vop1("v_ffbl_b32",                 op(0x3a).gfx8(0x2e),                         &[U32],   &[B32], Op::Ff1),
    vop1("v_ffbh_i32",                 op(0x3b).gfx8(0x2f),                         &[I32],   &[I32], Op::FlbitI),
    vop1("v_frexp_exp_i32_f64",        op(0x3c).gfx8(0x30),                         &[I32],   &[F64], Op::FrexpExp).form(WIDE),
    vop1("v_frexp_mant_f64",           op(0x3d).gfx8(0x31),                         &[F64],   &[F64], Op::FrexpMant).form(WIDE),
    vop1("v_fract_f64",                op(0x3e).gfx8(0x32),                         &[F64],   &[F64], Op::Fract).form(WIDE),
    vop1("v_frexp_exp_i32_f32",        op(0x3f).gfx8(0x33),                         &[I32],   &[F32], Op::FrexpExp),
    vop1("v_frexp_mant_f32",           op(0x40).gfx8(0x34),                         &[F32],   &[F32], Op::FrexpMant),
    vop1("v_clrexcp",                  op(0x41).gfx8(0x35),                         &[],      &[],    Op::ClrExcp).form(WIDE),
    vop1("v_movreld_b32",              op(0x42).gfx8(0x36).dropped_in(Gfx::Gfx900), &[B32],   &[B32], Op::MovRelD).effect(Effects::READS_M0).form(WIDE),
    vop1("v_movrels_b32",              op(0x43).gfx8(0x37).dropped_in(Gfx::Gfx900), &[B32],   &[B32], Op::MovRelS).effect(Effects::READS_M0).form(WIDE),
    vop1("v_movrelsd_b32",             op(0x44).gfx8(0x38).dropped_in(Gfx::Gfx900), &[B32],   &[B32], Op::MovRelSD).effect(Effects::READS_M0).form(WIDE),
    vop1("v_screen_partition_4se_b32", absent().gfx9(0x37),                         &[B32],   &[B32], Op::ScreenPartition4se),
    vop1("v_cvt_f16_u16",              absent().gfx8(0x39),                         &[F16],   &[U16], Op::Cvt),
    vop1("v_cvt_f16_i16",              absent().gfx8(0x3a),                         &[F16],   &[I16], Op::Cvt),
    vop1("v_cvt_u16_f16",              absent().gfx8(0x3b),                         &[U16],   &[F16], Op::Cvt),
    vop1("v_cvt_i16_f16",              absent().gfx8(0x3c),                         &[I16],   &[F16], Op::Cvt),
    vop1("v_rcp_f16",                  absent().gfx8(0x3d),                         &[F16],   &[F16], Op::Rcp),
    vop1("v_sqrt_f16",                 absent().gfx8(0x3e),                         &[F16],   &[F16], Op::Sqrt),
    vop1("v_rsq_f16",                  absent().gfx8(0x3f),                         &[F16],   &[F16], Op::Rsq),
    vop1("v_log_f16",                  absent().gfx8(0x40),                         &[F16],   &[F16], Op::Log),
    vop1("v_exp_f16",                  absent().gfx8(0x41),                         &[F16],   &[F16], Op::Exp),
    vop1("v_frexp_mant_f16",           absent().gfx8(0x42),                         &[F16],   &[F16], Op::FrexpMant),
    vop1("v_frexp_exp_i16_f16",        absent().gfx8(0x43),                         &[I16],   &[F16], Op::FrexpExp),
    vop1("v_floor_f16",                absent().gfx8(0x44),                         &[F16],   &[F16], Op::Floor),
    vop1("v_ceil_f16",                 absent().gfx8(0x45),                         &[F16],   &[F16], Op::Ceil),
    vop1("v_trunc_f16",                absent().gfx8(0x46),                         &[F16],   &[F16], Op::Trunc),
    vop1("v_rndne_f16",                absent().gfx8(0x47),                         &[F16],   &[F16], Op::Rndne),
    vop1("v_fract_f16",                absent().gfx8(0x48),                         &[F16],   &[F16], Op::Fract),
    vop1("v_sin_f16",                  absent().gfx8(0x49),                         &[F16],   &[F16], Op::Sin),
    vop1("v_cos_f16",                  absent().gfx8(0x4a),                         &[F16],   &[F16], Op::Cos),
    vop1("v_exp_legacy_f32",           absent().gfx7(0x46).gfx8(0x4b),              &[F32],   &[F32], Op::ExpLegacy),
    vop1("v_log_legacy_f32",           absent().gfx7(0x45).gfx8(0x4c),              &[F32],   &[F32], Op::LogLegacy),
    vop1("v_cvt_norm_i16_f16",         absent().gfx9(0x4d),                         &[I16],   &[F16], Op::CvtNorm),
    vop1("v_cvt_norm_u16_f16",         absent().gfx9(0x4e),                         &[U16],   &[F16], Op::CvtNorm),
    vop1("v_sat_pk_u8_i16",            absent().gfx9(0x4f),                         &[B32],   &[B32], Op::SatPkU8I16),
    vop1("v_swap_b32",                 absent().gfx9(0x51),                         &[B32],   &[B32], Op::Swap).effect(Effects::READS_D).form(ONLY_E32),
    vop1("v_mov_b64",                  absent().gfx942(0x38),                       &[B64],   &[B64], Op::Mov).form(WIDE),
    vop1("v_cvt_f32_fp8",              absent().gfx942(0x54),                       &[F32],   &[B32], Op::CvtFromF8(F8::Fp8)).form(Forms::SDWA_SOURCE),
    vop1("v_cvt_f32_bf8",              absent().gfx942(0x55),                       &[F32],   &[B32], Op::CvtFromF8(F8::Bf8)).form(Forms::SDWA_SOURCE),
    vop1("v_cvt_pk_f32_fp8",           absent().gfx942(0x56),                       &[PkF32], &[B32], Op::CvtPkFromF8(F8::Fp8)).form(Forms::NO_DPP.and(Forms::SDWA_SOURCE)),
    vop1("v_cvt_pk_f32_bf8",           absent().gfx942(0x57),                       &[PkF32], &[B32], Op::CvtPkFromF8(F8::Bf8)).form(Forms::NO_DPP.and(Forms::SDWA_SOURCE)),
    vop1("v_accvgpr_mov_b32",          absent().gfx90a(0x52),                       &[B32],   &[B32], Op::AccVgprMov).form(ONLY_E32),
];

/// From opcode to row.
pub static INDEX: Index<256> = Index::new("VOP1").with(ROWS);
