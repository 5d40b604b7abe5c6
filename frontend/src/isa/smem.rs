//! SMEM (gfx8 up) and SMRD (gfx6/7): scalar loads, stores and atomics, time and scalar cache control.
//!
//! Sources: SBASE (an address, or a buffer descriptor for the `buffer` forms), register offset,
//! SDATA of stores and atomics (compare-and-swap: new value, then compare value).

use crate::desc::{Encoding, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::Data::Dwords;
use crate::op::Space::{Scalar, ScalarBuffer, ScalarScratch};
use crate::op::{Atomic, Op};
use crate::ty::Ty::{self, *};

const fn smem(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Smem, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    smem("s_load_dword",               op(0x00),                       &[B32],  &[B64, U32],        Op::Load(Scalar, Dwords(1))),
    smem("s_load_dwordx2",             op(0x01),                       &[B64],  &[B64, U32],        Op::Load(Scalar, Dwords(2))),
    smem("s_load_dwordx4",             op(0x02),                       &[B128], &[B64, U32],        Op::Load(Scalar, Dwords(4))),
    smem("s_load_dwordx8",             op(0x03),                       &[B256], &[B64, U32],        Op::Load(Scalar, Dwords(8))),
    smem("s_load_dwordx16",            op(0x04),                       &[B512], &[B64, U32],        Op::Load(Scalar, Dwords(16))),
    smem("s_scratch_load_dword",       absent().gfx9(0x05),            &[B32],  &[B64, U32],        Op::Load(ScalarScratch, Dwords(1))),
    smem("s_scratch_load_dwordx2",     absent().gfx9(0x06),            &[B64],  &[B64, U32],        Op::Load(ScalarScratch, Dwords(2))),
    smem("s_scratch_load_dwordx4",     absent().gfx9(0x07),            &[B128], &[B64, U32],        Op::Load(ScalarScratch, Dwords(4))),
    smem("s_buffer_load_dword",        op(0x08),                       &[B32],  &[B128, U32],       Op::Load(ScalarBuffer, Dwords(1))),
    smem("s_buffer_load_dwordx2",      op(0x09),                       &[B64],  &[B128, U32],       Op::Load(ScalarBuffer, Dwords(2))),
    smem("s_buffer_load_dwordx4",      op(0x0a),                       &[B128], &[B128, U32],       Op::Load(ScalarBuffer, Dwords(4))),
    smem("s_buffer_load_dwordx8",      op(0x0b),                       &[B256], &[B128, U32],       Op::Load(ScalarBuffer, Dwords(8))),
    smem("s_buffer_load_dwordx16",     op(0x0c),                       &[B512], &[B128, U32],       Op::Load(ScalarBuffer, Dwords(16))),
    smem("s_store_dword",              absent().gfx8(0x10),            &[],     &[B64, U32, B32],   Op::Store(Scalar, Dwords(1))),
    smem("s_store_dwordx2",            absent().gfx8(0x11),            &[],     &[B64, U32, B64],   Op::Store(Scalar, Dwords(2))),
    smem("s_store_dwordx4",            absent().gfx8(0x12),            &[],     &[B64, U32, B128],  Op::Store(Scalar, Dwords(4))),
    smem("s_scratch_store_dword",      absent().gfx9(0x15),            &[],     &[B64, U32, B32],   Op::Store(ScalarScratch, Dwords(1))),
    smem("s_scratch_store_dwordx2",    absent().gfx9(0x16),            &[],     &[B64, U32, B64],   Op::Store(ScalarScratch, Dwords(2))),
    smem("s_scratch_store_dwordx4",    absent().gfx9(0x17),            &[],     &[B64, U32, B128],  Op::Store(ScalarScratch, Dwords(4))),
    smem("s_buffer_store_dword",       absent().gfx8(0x18),            &[],     &[B128, U32, B32],  Op::Store(ScalarBuffer, Dwords(1))),
    smem("s_buffer_store_dwordx2",     absent().gfx8(0x19),            &[],     &[B128, U32, B64],  Op::Store(ScalarBuffer, Dwords(2))),
    smem("s_buffer_store_dwordx4",     absent().gfx8(0x1a),            &[],     &[B128, U32, B128], Op::Store(ScalarBuffer, Dwords(4))),
    smem("s_dcache_inv",               op(0x1f).gfx8(0x20),            &[],     &[],                Op::CacheCtl),
    smem("s_dcache_wb",                absent().gfx8(0x21),            &[],     &[],                Op::CacheCtl),
    smem("s_dcache_inv_vol",           absent().gfx7(0x1d).gfx8(0x22), &[],     &[],                Op::CacheCtl),
    smem("s_dcache_wb_vol",            absent().gfx8(0x23),            &[],     &[],                Op::CacheCtl),
    smem("s_memtime",                  op(0x1e).gfx8(0x24),            &[U64],  &[],                Op::MemTime),
    smem("s_memrealtime",              absent().gfx8(0x25),            &[U64],  &[],                Op::MemRealtime),
    smem("s_atc_probe",                absent().gfx8(0x26),            &[],     &[B64, U32, Imm],   Op::CacheCtl),
    smem("s_atc_probe_buffer",         absent().gfx8(0x27),            &[],     &[B128, U32, Imm],  Op::CacheCtl),
    smem("s_dcache_discard",           absent().gfx9(0x28),            &[],     &[B64, U32],        Op::CacheCtl),
    smem("s_dcache_discard_x2",        absent().gfx9(0x29),            &[],     &[B64, U32],        Op::CacheCtl),
    smem("s_buffer_atomic_swap",       absent().gfx9(0x40),            &[B32],  &[B128, U32, B32],  Op::Atomic(ScalarBuffer, Atomic::Swap)),
    smem("s_buffer_atomic_cmpswap",    absent().gfx9(0x41),            &[B32],  &[B128, U32, B64],  Op::Atomic(ScalarBuffer, Atomic::CmpSwap)),
    smem("s_buffer_atomic_add",        absent().gfx9(0x42),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::Add)),
    smem("s_buffer_atomic_sub",        absent().gfx9(0x43),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::Sub)),
    smem("s_buffer_atomic_smin",       absent().gfx9(0x44),            &[I32],  &[B128, U32, I32],  Op::Atomic(ScalarBuffer, Atomic::MinI)),
    smem("s_buffer_atomic_umin",       absent().gfx9(0x45),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::MinU)),
    smem("s_buffer_atomic_smax",       absent().gfx9(0x46),            &[I32],  &[B128, U32, I32],  Op::Atomic(ScalarBuffer, Atomic::MaxI)),
    smem("s_buffer_atomic_umax",       absent().gfx9(0x47),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::MaxU)),
    smem("s_buffer_atomic_and",        absent().gfx9(0x48),            &[B32],  &[B128, U32, B32],  Op::Atomic(ScalarBuffer, Atomic::And)),
    smem("s_buffer_atomic_or",         absent().gfx9(0x49),            &[B32],  &[B128, U32, B32],  Op::Atomic(ScalarBuffer, Atomic::Or)),
    smem("s_buffer_atomic_xor",        absent().gfx9(0x4a),            &[B32],  &[B128, U32, B32],  Op::Atomic(ScalarBuffer, Atomic::Xor)),
    smem("s_buffer_atomic_inc",        absent().gfx9(0x4b),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::Inc)),
    smem("s_buffer_atomic_dec",        absent().gfx9(0x4c),            &[U32],  &[B128, U32, U32],  Op::Atomic(ScalarBuffer, Atomic::Dec)),
    smem("s_buffer_atomic_swap_x2",    absent().gfx9(0x60),            &[B64],  &[B128, U32, B64],  Op::Atomic(ScalarBuffer, Atomic::Swap)),
    smem("s_buffer_atomic_cmpswap_x2", absent().gfx9(0x61),            &[B64],  &[B128, U32, B128], Op::Atomic(ScalarBuffer, Atomic::CmpSwap)),
    smem("s_buffer_atomic_add_x2",     absent().gfx9(0x62),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::Add)),
    smem("s_buffer_atomic_sub_x2",     absent().gfx9(0x63),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::Sub)),
    smem("s_buffer_atomic_smin_x2",    absent().gfx9(0x64),            &[I64],  &[B128, U32, I64],  Op::Atomic(ScalarBuffer, Atomic::MinI)),
    smem("s_buffer_atomic_umin_x2",    absent().gfx9(0x65),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::MinU)),
    smem("s_buffer_atomic_smax_x2",    absent().gfx9(0x66),            &[I64],  &[B128, U32, I64],  Op::Atomic(ScalarBuffer, Atomic::MaxI)),
    smem("s_buffer_atomic_umax_x2",    absent().gfx9(0x67),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::MaxU)),
    smem("s_buffer_atomic_and_x2",     absent().gfx9(0x68),            &[B64],  &[B128, U32, B64],  Op::Atomic(ScalarBuffer, Atomic::And)),
    smem("s_buffer_atomic_or_x2",      absent().gfx9(0x69),            &[B64],  &[B128, U32, B64],  Op::Atomic(ScalarBuffer, Atomic::Or)),
    smem("s_buffer_atomic_xor_x2",     absent().gfx9(0x6a),            &[B64],  &[B128, U32, B64],  Op::Atomic(ScalarBuffer, Atomic::Xor)),
    smem("s_buffer_atomic_inc_x2",     absent().gfx9(0x6b),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::Inc)),
    smem("s_buffer_atomic_dec_x2",     absent().gfx9(0x6c),            &[U64],  &[B128, U32, U64],  Op::Atomic(ScalarBuffer, Atomic::Dec)),
    smem("s_atomic_swap",              absent().gfx9(0x80),            &[B32],  &[B64, U32, B32],   Op::Atomic(Scalar, Atomic::Swap)),
    smem("s_atomic_cmpswap",           absent().gfx9(0x81),            &[B32],  &[B64, U32, B64],   Op::Atomic(Scalar, Atomic::CmpSwap)),
    smem("s_atomic_add",               absent().gfx9(0x82),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::Add)),
    smem("s_atomic_sub",               absent().gfx9(0x83),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::Sub)),
    smem("s_atomic_smin",              absent().gfx9(0x84),            &[I32],  &[B64, U32, I32],   Op::Atomic(Scalar, Atomic::MinI)),
    smem("s_atomic_umin",              absent().gfx9(0x85),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::MinU)),
    smem("s_atomic_smax",              absent().gfx9(0x86),            &[I32],  &[B64, U32, I32],   Op::Atomic(Scalar, Atomic::MaxI)),
    smem("s_atomic_umax",              absent().gfx9(0x87),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::MaxU)),
    smem("s_atomic_and",               absent().gfx9(0x88),            &[B32],  &[B64, U32, B32],   Op::Atomic(Scalar, Atomic::And)),
    smem("s_atomic_or",                absent().gfx9(0x89),            &[B32],  &[B64, U32, B32],   Op::Atomic(Scalar, Atomic::Or)),
    smem("s_atomic_xor",               absent().gfx9(0x8a),            &[B32],  &[B64, U32, B32],   Op::Atomic(Scalar, Atomic::Xor)),
    smem("s_atomic_inc",               absent().gfx9(0x8b),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::Inc)),
    smem("s_atomic_dec",               absent().gfx9(0x8c),            &[U32],  &[B64, U32, U32],   Op::Atomic(Scalar, Atomic::Dec)),
    smem("s_atomic_swap_x2",           absent().gfx9(0xa0),            &[B64],  &[B64, U32, B64],   Op::Atomic(Scalar, Atomic::Swap)),
    smem("s_atomic_cmpswap_x2",        absent().gfx9(0xa1),            &[B64],  &[B64, U32, B128],  Op::Atomic(Scalar, Atomic::CmpSwap)),
    smem("s_atomic_add_x2",            absent().gfx9(0xa2),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::Add)),
    smem("s_atomic_sub_x2",            absent().gfx9(0xa3),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::Sub)),
    smem("s_atomic_smin_x2",           absent().gfx9(0xa4),            &[I64],  &[B64, U32, I64],   Op::Atomic(Scalar, Atomic::MinI)),
    smem("s_atomic_umin_x2",           absent().gfx9(0xa5),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::MinU)),
    smem("s_atomic_smax_x2",           absent().gfx9(0xa6),            &[I64],  &[B64, U32, I64],   Op::Atomic(Scalar, Atomic::MaxI)),
    smem("s_atomic_umax_x2",           absent().gfx9(0xa7),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::MaxU)),
    smem("s_atomic_and_x2",            absent().gfx9(0xa8),            &[B64],  &[B64, U32, B64],   Op::Atomic(Scalar, Atomic::And)),
    smem("s_atomic_or_x2",             absent().gfx9(0xa9),            &[B64],  &[B64, U32, B64],   Op::Atomic(Scalar, Atomic::Or)),
    smem("s_atomic_xor_x2",            absent().gfx9(0xaa),            &[B64],  &[B64, U32, B64],   Op::Atomic(Scalar, Atomic::Xor)),
    smem("s_atomic_inc_x2",            absent().gfx9(0xab),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::Inc)),
    smem("s_atomic_dec_x2",            absent().gfx9(0xac),            &[U64],  &[B64, U32, U64],   Op::Atomic(Scalar, Atomic::Dec)),
];

/// From opcode to row.
pub static INDEX: Index<256> = Index::new("SMEM").with(ROWS);
