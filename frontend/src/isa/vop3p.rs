//! VOP3P: packed, mixed, dot-product and matrix instructions.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, row};
use crate::isa::Index;
use crate::op::matrix::matrix;
use crate::op::{Factor, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vop3p(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Vop3p, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    vop3p("v_pk_mad_i16",               absent().gfx9(0x00),   &[PkI16],  &[PkI16, PkI16, PkI16], Op::Mad).form(Forms::INT_CLAMP),
    vop3p("v_pk_mul_lo_u16",            absent().gfx9(0x01),   &[PkU16],  &[PkU16, PkU16],        Op::Mul),
    vop3p("v_pk_add_i16",               absent().gfx9(0x02),   &[PkI16],  &[PkI16, PkI16],        Op::Add).form(Forms::INT_CLAMP),
    vop3p("v_pk_sub_i16",               absent().gfx9(0x03),   &[PkI16],  &[PkI16, PkI16],        Op::Sub).form(Forms::INT_CLAMP),
    vop3p("v_pk_lshlrev_b16",           absent().gfx9(0x04),   &[PkU16],  &[PkU16, PkU16],        Op::Shl).rev(),
    vop3p("v_pk_lshrrev_b16",           absent().gfx9(0x05),   &[PkU16],  &[PkU16, PkU16],        Op::Lshr).rev(),
    vop3p("v_pk_ashrrev_i16",           absent().gfx9(0x06),   &[PkI16],  &[PkU16, PkI16],        Op::Ashr).rev(),
    vop3p("v_pk_max_i16",               absent().gfx9(0x07),   &[PkI16],  &[PkI16, PkI16],        Op::Max),
    vop3p("v_pk_min_i16",               absent().gfx9(0x08),   &[PkI16],  &[PkI16, PkI16],        Op::Min),
    vop3p("v_pk_mad_u16",               absent().gfx9(0x09),   &[PkU16],  &[PkU16, PkU16, PkU16], Op::Mad).form(Forms::INT_CLAMP),
    vop3p("v_pk_add_u16",               absent().gfx9(0x0a),   &[PkU16],  &[PkU16, PkU16],        Op::Add).form(Forms::INT_CLAMP),
    vop3p("v_pk_sub_u16",               absent().gfx9(0x0b),   &[PkU16],  &[PkU16, PkU16],        Op::Sub).form(Forms::INT_CLAMP),
    vop3p("v_pk_max_u16",               absent().gfx9(0x0c),   &[PkU16],  &[PkU16, PkU16],        Op::Max),
    vop3p("v_pk_min_u16",               absent().gfx9(0x0d),   &[PkU16],  &[PkU16, PkU16],        Op::Min),
    vop3p("v_pk_fma_f16",               absent().gfx9(0x0e),   &[PkF16],  &[PkF16, PkF16, PkF16], Op::Fma),
    vop3p("v_pk_add_f16",               absent().gfx9(0x0f),   &[PkF16],  &[PkF16, PkF16],        Op::Add),
    vop3p("v_pk_mul_f16",               absent().gfx9(0x10),   &[PkF16],  &[PkF16, PkF16],        Op::Mul),
    vop3p("v_pk_min_f16",               absent().gfx9(0x11),   &[PkF16],  &[PkF16, PkF16],        Op::Min),
    vop3p("v_pk_max_f16",               absent().gfx9(0x12),   &[PkF16],  &[PkF16, PkF16],        Op::Max),
    vop3p("v_mad_mix_f32",              absent().gfx9(0x20),   &[F32],    &[F32, F32, F32],       Op::Mix).renamed(&[(Gfx::Gfx906, "v_fma_mix_f32")]),
    vop3p("v_mad_mixlo_f16",            absent().gfx9(0x21),   &[F16],    &[F32, F32, F32],       Op::MixLo).renamed(&[(Gfx::Gfx906, "v_fma_mixlo_f16")]).effect(Effects::READS_D).form(Forms::KEEPS_HI16),
    vop3p("v_mad_mixhi_f16",            absent().gfx9(0x22),   &[F16],    &[F32, F32, F32],       Op::MixHi).renamed(&[(Gfx::Gfx906, "v_fma_mixhi_f16")]).effect(Effects::READS_D).form(Forms::KEEPS_HI16),
    vop3p("v_dot2_f32_f16",             absent().gfx906(0x23), &[F32],    &[PkF16, PkF16, F32],   Op::Dot2),
    vop3p("v_dot2_i32_i16",             absent().gfx906(0x26), &[I32],    &[PkI16, PkI16, I32],   Op::Dot2).form(Forms::INT_CLAMP),
    vop3p("v_dot2_u32_u16",             absent().gfx906(0x27), &[U32],    &[PkU16, PkU16, U32],   Op::Dot2).form(Forms::INT_CLAMP),
    vop3p("v_dot4_i32_i8",              absent().gfx906(0x28), &[I32],    &[B32, B32, I32],       Op::Dot4).form(Forms::INT_CLAMP),
    vop3p("v_dot4_u32_u8",              absent().gfx906(0x29), &[U32],    &[B32, B32, U32],       Op::Dot4).form(Forms::INT_CLAMP),
    vop3p("v_dot8_i32_i4",              absent().gfx906(0x2a), &[I32],    &[B32, B32, I32],       Op::Dot8).form(Forms::INT_CLAMP),
    vop3p("v_dot8_u32_u4",              absent().gfx906(0x2b), &[U32],    &[B32, B32, U32],       Op::Dot8).form(Forms::INT_CLAMP),
    vop3p("v_pk_fma_f32",               absent().gfx90a(0x30), &[PkF32],  &[PkF32, PkF32, PkF32], Op::Fma),
    vop3p("v_pk_mul_f32",               absent().gfx90a(0x31), &[PkF32],  &[PkF32, PkF32],        Op::Mul),
    vop3p("v_pk_add_f32",               absent().gfx90a(0x32), &[PkF32],  &[PkF32, PkF32],        Op::Add),
    vop3p("v_pk_mov_b32",               absent().gfx90a(0x33), &[PkB32],  &[PkB32, PkB32],        Op::Mov),
    vop3p("v_mfma_f32_32x32x1f32",      absent().gfx908(0x40), &[F32x32], &[F32, F32, F32x32],    Op::Mfma(matrix(32, 1, 2, Factor::F32, 16))),
    vop3p("v_mfma_f32_16x16x1f32",      absent().gfx908(0x41), &[F32x16], &[F32, F32, F32x16],    Op::Mfma(matrix(16, 1, 4, Factor::F32, 8))),
    vop3p("v_mfma_f32_4x4x1f32",        absent().gfx908(0x42), &[F32x4],  &[F32, F32, F32x4],     Op::Mfma(matrix(4, 1, 16, Factor::F32, 2))),
    vop3p("v_mfma_f32_32x32x2f32",      absent().gfx908(0x44), &[F32x16], &[F32, F32, F32x16],    Op::Mfma(matrix(32, 2, 1, Factor::F32, 16))),
    vop3p("v_mfma_f32_16x16x4f32",      absent().gfx908(0x45), &[F32x4],  &[F32, F32, F32x4],     Op::Mfma(matrix(16, 4, 1, Factor::F32, 8))),
    vop3p("v_mfma_f32_32x32x4f16",      absent().gfx908(0x48), &[F32x32], &[B64, B64, F32x32],    Op::Mfma(matrix(32, 4, 2, Factor::F16, 16))),
    vop3p("v_mfma_f32_16x16x4f16",      absent().gfx908(0x49), &[F32x16], &[B64, B64, F32x16],    Op::Mfma(matrix(16, 4, 4, Factor::F16, 8))),
    vop3p("v_mfma_f32_4x4x4f16",        absent().gfx908(0x4a), &[F32x4],  &[B64, B64, F32x4],     Op::Mfma(matrix(4, 4, 16, Factor::F16, 2))),
    vop3p("v_mfma_f32_32x32x8f16",      absent().gfx908(0x4c), &[F32x16], &[B64, B64, F32x16],    Op::Mfma(matrix(32, 8, 1, Factor::F16, 16))),
    vop3p("v_mfma_f32_16x16x16f16",     absent().gfx908(0x4d), &[F32x4],  &[B64, B64, F32x4],     Op::Mfma(matrix(16, 16, 1, Factor::F16, 8))),
    vop3p("v_mfma_i32_32x32x4i8",       absent().gfx908(0x50), &[B1024],  &[B32, B32, B1024],     Op::Mfma(matrix(32, 4, 2, Factor::I8, 16))),
    vop3p("v_mfma_i32_16x16x4i8",       absent().gfx908(0x51), &[B512],   &[B32, B32, B512],      Op::Mfma(matrix(16, 4, 4, Factor::I8, 8))),
    vop3p("v_mfma_i32_4x4x4i8",         absent().gfx908(0x52), &[B128],   &[B32, B32, B128],      Op::Mfma(matrix(4, 4, 16, Factor::I8, 2))),
    vop3p("v_mfma_i32_32x32x8i8",       absent().gfx908(0x54), &[B512],   &[B32, B32, B512],      Op::Mfma(matrix(32, 8, 1, Factor::I8, 16))),
    vop3p("v_mfma_i32_16x16x16i8",      absent().gfx908(0x55), &[B128],   &[B32, B32, B128],      Op::Mfma(matrix(16, 16, 1, Factor::I8, 8))),
    vop3p("v_accvgpr_read_b32",         absent().gfx908(0x58), &[B32],    &[B32],                 Op::AccVgprRead),
    vop3p("v_accvgpr_write_b32",        absent().gfx908(0x59), &[B32],    &[B32],                 Op::AccVgprWrite),
    vop3p("v_mfma_f32_32x32x4bf16_1k",  absent().gfx90a(0x63), &[F32x32], &[B64, B64, F32x32],    Op::Mfma(matrix(32, 4, 2, Factor::Bf16, 16))),
    vop3p("v_mfma_f32_16x16x4bf16_1k",  absent().gfx90a(0x64), &[F32x16], &[B64, B64, F32x16],    Op::Mfma(matrix(16, 4, 4, Factor::Bf16, 8))),
    vop3p("v_mfma_f32_4x4x4bf16_1k",    absent().gfx90a(0x65), &[F32x4],  &[B64, B64, F32x4],     Op::Mfma(matrix(4, 4, 16, Factor::Bf16, 2))),
    vop3p("v_mfma_f32_32x32x8bf16_1k",  absent().gfx90a(0x66), &[F32x16], &[B64, B64, F32x16],    Op::Mfma(matrix(32, 8, 1, Factor::Bf16, 16))),
    vop3p("v_mfma_f32_16x16x16bf16_1k", absent().gfx90a(0x67), &[F32x4],  &[B64, B64, F32x4],     Op::Mfma(matrix(16, 16, 1, Factor::Bf16, 8))),
    vop3p("v_mfma_f32_32x32x2bf16",     absent().gfx908(0x68), &[F32x32], &[B32, B32, F32x32],    Op::Mfma(matrix(32, 2, 2, Factor::Bf16, 16))),
    vop3p("v_mfma_f32_16x16x2bf16",     absent().gfx908(0x69), &[F32x16], &[B32, B32, F32x16],    Op::Mfma(matrix(16, 2, 4, Factor::Bf16, 8))),
    vop3p("v_mfma_f32_4x4x2bf16",       absent().gfx908(0x6b), &[F32x4],  &[B32, B32, F32x4],     Op::Mfma(matrix(4, 2, 16, Factor::Bf16, 2))),
    vop3p("v_mfma_f32_32x32x4bf16",     absent().gfx908(0x6c), &[F32x16], &[B32, B32, F32x16],    Op::Mfma(matrix(32, 4, 1, Factor::Bf16, 16))),
    vop3p("v_mfma_f32_16x16x8bf16",     absent().gfx908(0x6d), &[F32x4],  &[B32, B32, F32x4],     Op::Mfma(matrix(16, 8, 1, Factor::Bf16, 8))),
    vop3p("v_mfma_f64_16x16x4f64",      absent().gfx90a(0x6e), &[B256],   &[F64, F64, B256],      Op::Mfma(matrix(16, 4, 1, Factor::F64, 8))),
    vop3p("v_mfma_f64_4x4x4f64",        absent().gfx90a(0x6f), &[F64],    &[F64, F64, F64],       Op::Mfma(matrix(4, 4, 4, Factor::F64, 4))),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("VOP3P").with(ROWS);
