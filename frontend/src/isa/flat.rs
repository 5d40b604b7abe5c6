//! FLAT, GLOBAL and SCRATCH: memory instructions with an address in vector registers.
//!
//! Sources: ADDR, DATA (compare-and-swap: new value, then compare value), SADDR. ADDR of GLOBAL is
//! 64 bits wide without SADDR and 32 bits wide with it. FLAT may reach LDS, which M0 clamps on gfx7
//! and gfx8, so its rows are marked as readers of M0. Loads without a destination go to LDS.

use crate::desc::{Effects, Encoding, InstDesc, Opcodes, absent, row};
use crate::isa::Index;
use crate::op::Data::{self, D16, D16Hi, D16HiB8, D16HiI8, D16HiU8, D16I8, D16U8, Dwords};
use crate::op::Space::{Flat, Global, Scratch};
use crate::op::{Atomic, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const READS_M0: Effects = Effects::READS_M0;
const READS_D: Effects = Effects::READS_D;

const fn flat(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Flat, name, opcodes, d, s, op)
}

const fn global(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Global, name, opcodes, d, s, op)
}

const fn scratch(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Scratch, name, opcodes, d, s, op)
}

/// The rows of FLAT.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    flat("flat_load_ubyte",         absent().gfx7(0x08).gfx8(0x10),              &[U32],   &[B64, U32],   Op::Load(Flat, Data::U8)).effect(READS_M0),
    flat("flat_load_sbyte",         absent().gfx7(0x09).gfx8(0x11),              &[I32],   &[B64, I32],   Op::Load(Flat, Data::I8)).effect(READS_M0),
    flat("flat_load_ushort",        absent().gfx7(0x0a).gfx8(0x12),              &[U32],   &[B64, U32],   Op::Load(Flat, Data::U16)).effect(READS_M0),
    flat("flat_load_sshort",        absent().gfx7(0x0b).gfx8(0x13),              &[I32],   &[B64, I32],   Op::Load(Flat, Data::I16)).effect(READS_M0),
    flat("flat_load_dword",         absent().gfx7(0x0c).gfx8(0x14),              &[B32],   &[B64, B32],   Op::Load(Flat, Dwords(1))).effect(READS_M0),
    flat("flat_load_dwordx2",       absent().gfx7(0x0d).gfx8(0x15),              &[B64],   &[B64, B64],   Op::Load(Flat, Dwords(2))).effect(READS_M0),
    flat("flat_load_dwordx3",       absent().gfx7(0x0f).gfx8(0x16),              &[B96],   &[B64, B96],   Op::Load(Flat, Dwords(3))).effect(READS_M0),
    flat("flat_load_dwordx4",       absent().gfx7(0x0e).gfx8(0x17),              &[B128],  &[B64, B128],  Op::Load(Flat, Dwords(4))).effect(READS_M0),
    flat("flat_store_byte",         absent().gfx7(0x18),                         &[],      &[B64, B32],   Op::Store(Flat, Data::U8)).effect(READS_M0),
    flat("flat_store_byte_d16_hi",  absent().gfx9(0x19),                         &[],      &[B64, B32],   Op::Store(Flat, D16HiB8)).effect(READS_M0),
    flat("flat_store_short",        absent().gfx7(0x1a),                         &[],      &[B64, B32],   Op::Store(Flat, Data::U16)).effect(READS_M0),
    flat("flat_store_short_d16_hi", absent().gfx9(0x1b),                         &[],      &[B64, B32],   Op::Store(Flat, D16Hi)).effect(READS_M0),
    flat("flat_store_dword",        absent().gfx7(0x1c),                         &[],      &[B64, B32],   Op::Store(Flat, Dwords(1))).effect(READS_M0),
    flat("flat_store_dwordx2",      absent().gfx7(0x1d),                         &[],      &[B64, B64],   Op::Store(Flat, Dwords(2))).effect(READS_M0),
    flat("flat_store_dwordx3",      absent().gfx7(0x1f).gfx8(0x1e),              &[],      &[B64, B96],   Op::Store(Flat, Dwords(3))).effect(READS_M0),
    flat("flat_store_dwordx4",      absent().gfx7(0x1e).gfx8(0x1f),              &[],      &[B64, B128],  Op::Store(Flat, Dwords(4))).effect(READS_M0),
    flat("flat_load_ubyte_d16",     absent().gfx9(0x20),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16U8)).effect(READS_M0.and(READS_D)),
    flat("flat_load_ubyte_d16_hi",  absent().gfx9(0x21),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16HiU8)).effect(READS_M0.and(READS_D)),
    flat("flat_load_sbyte_d16",     absent().gfx9(0x22),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16I8)).effect(READS_M0.and(READS_D)),
    flat("flat_load_sbyte_d16_hi",  absent().gfx9(0x23),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16HiI8)).effect(READS_M0.and(READS_D)),
    flat("flat_load_short_d16",     absent().gfx9(0x24),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16)).effect(READS_M0.and(READS_D)),
    flat("flat_load_short_d16_hi",  absent().gfx9(0x25),                         &[B32],   &[B64, B32],   Op::Load(Flat, D16Hi)).effect(READS_M0.and(READS_D)),
    flat("flat_atomic_fcmpswap",    absent().gfx7(0x3e).dropped_in(Gfx::Gfx803), &[F32],   &[B64, B64],   Op::Atomic(Flat, Atomic::FCmpSwap)).effect(READS_M0),
    flat("flat_atomic_fmin",        absent().gfx7(0x3f).dropped_in(Gfx::Gfx803), &[F32],   &[B64, F32],   Op::Atomic(Flat, Atomic::FMin)).effect(READS_M0),
    flat("flat_atomic_fmax",        absent().gfx7(0x40).dropped_in(Gfx::Gfx803), &[F32],   &[B64, F32],   Op::Atomic(Flat, Atomic::FMax)).effect(READS_M0),
    flat("flat_atomic_swap",        absent().gfx7(0x30).gfx8(0x40),              &[B32],   &[B64, B32],   Op::Atomic(Flat, Atomic::Swap)).effect(READS_M0),
    flat("flat_atomic_cmpswap",     absent().gfx7(0x31).gfx8(0x41),              &[B32],   &[B64, B64],   Op::Atomic(Flat, Atomic::CmpSwap)).effect(READS_M0),
    flat("flat_atomic_add",         absent().gfx7(0x32).gfx8(0x42),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::Add)).effect(READS_M0),
    flat("flat_atomic_sub",         absent().gfx7(0x33).gfx8(0x43),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::Sub)).effect(READS_M0),
    flat("flat_atomic_smin",        absent().gfx7(0x35).gfx8(0x44),              &[I32],   &[B64, I32],   Op::Atomic(Flat, Atomic::MinI)).effect(READS_M0),
    flat("flat_atomic_umin",        absent().gfx7(0x36).gfx8(0x45),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::MinU)).effect(READS_M0),
    flat("flat_atomic_smax",        absent().gfx7(0x37).gfx8(0x46),              &[I32],   &[B64, I32],   Op::Atomic(Flat, Atomic::MaxI)).effect(READS_M0),
    flat("flat_atomic_umax",        absent().gfx7(0x38).gfx8(0x47),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::MaxU)).effect(READS_M0),
    flat("flat_atomic_and",         absent().gfx7(0x39).gfx8(0x48),              &[B32],   &[B64, B32],   Op::Atomic(Flat, Atomic::And)).effect(READS_M0),
    flat("flat_atomic_or",          absent().gfx7(0x3a).gfx8(0x49),              &[B32],   &[B64, B32],   Op::Atomic(Flat, Atomic::Or)).effect(READS_M0),
    flat("flat_atomic_xor",         absent().gfx7(0x3b).gfx8(0x4a),              &[B32],   &[B64, B32],   Op::Atomic(Flat, Atomic::Xor)).effect(READS_M0),
    flat("flat_atomic_inc",         absent().gfx7(0x3c).gfx8(0x4b),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::Inc)).effect(READS_M0),
    flat("flat_atomic_dec",         absent().gfx7(0x3d).gfx8(0x4c),              &[U32],   &[B64, U32],   Op::Atomic(Flat, Atomic::Dec)).effect(READS_M0),
    flat("flat_atomic_add_f32",     absent().gfx942(0x4d),                       &[F32],   &[B64, F32],   Op::Atomic(Flat, Atomic::FAdd)).effect(READS_M0),
    flat("flat_atomic_pk_add_f16",  absent().gfx942(0x4e),                       &[PkF16], &[B64, PkF16], Op::Atomic(Flat, Atomic::PkFAdd16)).effect(READS_M0),
    flat("flat_atomic_add_f64",     absent().gfx90a(0x4f),                       &[F64],   &[B64, F64],   Op::Atomic(Flat, Atomic::FAdd)).effect(READS_M0),
    flat("flat_atomic_min_f64",     absent().gfx90a(0x50),                       &[F64],   &[B64, F64],   Op::Atomic(Flat, Atomic::FMin)).effect(READS_M0),
    flat("flat_atomic_max_f64",     absent().gfx90a(0x51),                       &[F64],   &[B64, F64],   Op::Atomic(Flat, Atomic::FMax)).effect(READS_M0),
    flat("flat_atomic_pk_add_bf16", absent().gfx942(0x52),                       &[B32],   &[B64, B32],   Op::Atomic(Flat, Atomic::PkFAddBf16)).effect(READS_M0),
    flat("flat_atomic_fcmpswap_x2", absent().gfx7(0x5e).dropped_in(Gfx::Gfx803), &[F64],   &[B64, B128],  Op::Atomic(Flat, Atomic::FCmpSwap)).effect(READS_M0),
    flat("flat_atomic_fmin_x2",     absent().gfx7(0x5f).dropped_in(Gfx::Gfx803), &[F64],   &[B64, F64],   Op::Atomic(Flat, Atomic::FMin)).effect(READS_M0),
    flat("flat_atomic_fmax_x2",     absent().gfx7(0x60).dropped_in(Gfx::Gfx803), &[F64],   &[B64, F64],   Op::Atomic(Flat, Atomic::FMax)).effect(READS_M0),
    flat("flat_atomic_swap_x2",     absent().gfx7(0x50).gfx8(0x60),              &[B64],   &[B64, B64],   Op::Atomic(Flat, Atomic::Swap)).effect(READS_M0),
    flat("flat_atomic_cmpswap_x2",  absent().gfx7(0x51).gfx8(0x61),              &[B64],   &[B64, B128],  Op::Atomic(Flat, Atomic::CmpSwap)).effect(READS_M0),
    flat("flat_atomic_add_x2",      absent().gfx7(0x52).gfx8(0x62),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::Add)).effect(READS_M0),
    flat("flat_atomic_sub_x2",      absent().gfx7(0x53).gfx8(0x63),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::Sub)).effect(READS_M0),
    flat("flat_atomic_smin_x2",     absent().gfx7(0x55).gfx8(0x64),              &[I64],   &[B64, I64],   Op::Atomic(Flat, Atomic::MinI)).effect(READS_M0),
    flat("flat_atomic_umin_x2",     absent().gfx7(0x56).gfx8(0x65),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::MinU)).effect(READS_M0),
    flat("flat_atomic_smax_x2",     absent().gfx7(0x57).gfx8(0x66),              &[I64],   &[B64, I64],   Op::Atomic(Flat, Atomic::MaxI)).effect(READS_M0),
    flat("flat_atomic_umax_x2",     absent().gfx7(0x58).gfx8(0x67),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::MaxU)).effect(READS_M0),
    flat("flat_atomic_and_x2",      absent().gfx7(0x59).gfx8(0x68),              &[B64],   &[B64, B64],   Op::Atomic(Flat, Atomic::And)).effect(READS_M0),
    flat("flat_atomic_or_x2",       absent().gfx7(0x5a).gfx8(0x69),              &[B64],   &[B64, B64],   Op::Atomic(Flat, Atomic::Or)).effect(READS_M0),
    flat("flat_atomic_xor_x2",      absent().gfx7(0x5b).gfx8(0x6a),              &[B64],   &[B64, B64],   Op::Atomic(Flat, Atomic::Xor)).effect(READS_M0),
    flat("flat_atomic_inc_x2",      absent().gfx7(0x5c).gfx8(0x6b),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::Inc)).effect(READS_M0),
    flat("flat_atomic_dec_x2",      absent().gfx7(0x5d).gfx8(0x6c),              &[U64],   &[B64, U64],   Op::Atomic(Flat, Atomic::Dec)).effect(READS_M0),
];

/// The rows of GLOBAL.
#[rustfmt::skip]
pub static GLOBAL: &[InstDesc] = &[
    global("global_load_ubyte",         absent().gfx9(0x10),   &[U32],   &[B64, U32, B64],   Op::Load(Global, Data::U8)),
    global("global_load_sbyte",         absent().gfx9(0x11),   &[I32],   &[B64, I32, B64],   Op::Load(Global, Data::I8)),
    global("global_load_ushort",        absent().gfx9(0x12),   &[U32],   &[B64, U32, B64],   Op::Load(Global, Data::U16)),
    global("global_load_sshort",        absent().gfx9(0x13),   &[I32],   &[B64, I32, B64],   Op::Load(Global, Data::I16)),
    global("global_load_dword",         absent().gfx9(0x14),   &[B32],   &[B64, B32, B64],   Op::Load(Global, Dwords(1))),
    global("global_load_dwordx2",       absent().gfx9(0x15),   &[B64],   &[B64, B64, B64],   Op::Load(Global, Dwords(2))),
    global("global_load_dwordx3",       absent().gfx9(0x16),   &[B96],   &[B64, B96, B64],   Op::Load(Global, Dwords(3))),
    global("global_load_dwordx4",       absent().gfx9(0x17),   &[B128],  &[B64, B128, B64],  Op::Load(Global, Dwords(4))),
    global("global_store_byte",         absent().gfx9(0x18),   &[],      &[B64, B32, B64],   Op::Store(Global, Data::U8)),
    global("global_store_byte_d16_hi",  absent().gfx9(0x19),   &[],      &[B64, B32, B64],   Op::Store(Global, D16HiB8)),
    global("global_store_short",        absent().gfx9(0x1a),   &[],      &[B64, B32, B64],   Op::Store(Global, Data::U16)),
    global("global_store_short_d16_hi", absent().gfx9(0x1b),   &[],      &[B64, B32, B64],   Op::Store(Global, D16Hi)),
    global("global_store_dword",        absent().gfx9(0x1c),   &[],      &[B64, B32, B64],   Op::Store(Global, Dwords(1))),
    global("global_store_dwordx2",      absent().gfx9(0x1d),   &[],      &[B64, B64, B64],   Op::Store(Global, Dwords(2))),
    global("global_store_dwordx3",      absent().gfx9(0x1e),   &[],      &[B64, B96, B64],   Op::Store(Global, Dwords(3))),
    global("global_store_dwordx4",      absent().gfx9(0x1f),   &[],      &[B64, B128, B64],  Op::Store(Global, Dwords(4))),
    global("global_load_ubyte_d16",     absent().gfx9(0x20),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16U8)).effect(READS_D),
    global("global_load_ubyte_d16_hi",  absent().gfx9(0x21),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16HiU8)).effect(READS_D),
    global("global_load_sbyte_d16",     absent().gfx9(0x22),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16I8)).effect(READS_D),
    global("global_load_sbyte_d16_hi",  absent().gfx9(0x23),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16HiI8)).effect(READS_D),
    global("global_load_short_d16",     absent().gfx9(0x24),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16)).effect(READS_D),
    global("global_load_short_d16_hi",  absent().gfx9(0x25),   &[B32],   &[B64, B32, B64],   Op::Load(Global, D16Hi)).effect(READS_D),
    global("global_load_lds_ubyte",     absent().gfx942(0x26), &[],      &[B64, U32, B64],   Op::Load(Global, Data::U8)).effect(READS_M0),
    global("global_load_lds_sbyte",     absent().gfx942(0x27), &[],      &[B64, I32, B64],   Op::Load(Global, Data::I8)).effect(READS_M0),
    global("global_load_lds_ushort",    absent().gfx942(0x28), &[],      &[B64, U32, B64],   Op::Load(Global, Data::U16)).effect(READS_M0),
    global("global_load_lds_sshort",    absent().gfx942(0x29), &[],      &[B64, I32, B64],   Op::Load(Global, Data::I16)).effect(READS_M0),
    global("global_load_lds_dword",     absent().gfx942(0x2a), &[],      &[B64, B32, B64],   Op::Load(Global, Dwords(1))).effect(READS_M0),
    global("global_atomic_swap",        absent().gfx9(0x40),   &[B32],   &[B64, B32, B64],   Op::Atomic(Global, Atomic::Swap)),
    global("global_atomic_cmpswap",     absent().gfx9(0x41),   &[B32],   &[B64, B64, B64],   Op::Atomic(Global, Atomic::CmpSwap)),
    global("global_atomic_add",         absent().gfx9(0x42),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::Add)),
    global("global_atomic_sub",         absent().gfx9(0x43),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::Sub)),
    global("global_atomic_smin",        absent().gfx9(0x44),   &[I32],   &[B64, I32, B64],   Op::Atomic(Global, Atomic::MinI)),
    global("global_atomic_umin",        absent().gfx9(0x45),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::MinU)),
    global("global_atomic_smax",        absent().gfx9(0x46),   &[I32],   &[B64, I32, B64],   Op::Atomic(Global, Atomic::MaxI)),
    global("global_atomic_umax",        absent().gfx9(0x47),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::MaxU)),
    global("global_atomic_and",         absent().gfx9(0x48),   &[B32],   &[B64, B32, B64],   Op::Atomic(Global, Atomic::And)),
    global("global_atomic_or",          absent().gfx9(0x49),   &[B32],   &[B64, B32, B64],   Op::Atomic(Global, Atomic::Or)),
    global("global_atomic_xor",         absent().gfx9(0x4a),   &[B32],   &[B64, B32, B64],   Op::Atomic(Global, Atomic::Xor)),
    global("global_atomic_inc",         absent().gfx9(0x4b),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::Inc)),
    global("global_atomic_dec",         absent().gfx9(0x4c),   &[U32],   &[B64, U32, B64],   Op::Atomic(Global, Atomic::Dec)),
    global("global_atomic_add_f32",     absent().gfx908(0x4d), &[F32],   &[B64, F32, B64],   Op::Atomic(Global, Atomic::FAdd)),
    global("global_atomic_pk_add_f16",  absent().gfx908(0x4e), &[PkF16], &[B64, PkF16, B64], Op::Atomic(Global, Atomic::PkFAdd16)),
    global("global_atomic_add_f64",     absent().gfx90a(0x4f), &[F64],   &[B64, F64, B64],   Op::Atomic(Global, Atomic::FAdd)),
    global("global_atomic_min_f64",     absent().gfx90a(0x50), &[F64],   &[B64, F64, B64],   Op::Atomic(Global, Atomic::FMin)),
    global("global_atomic_max_f64",     absent().gfx90a(0x51), &[F64],   &[B64, F64, B64],   Op::Atomic(Global, Atomic::FMax)),
    global("global_atomic_pk_add_bf16", absent().gfx942(0x52), &[B32],   &[B64, B32, B64],   Op::Atomic(Global, Atomic::PkFAddBf16)),
    global("global_atomic_swap_x2",     absent().gfx9(0x60),   &[B64],   &[B64, B64, B64],   Op::Atomic(Global, Atomic::Swap)),
    global("global_atomic_cmpswap_x2",  absent().gfx9(0x61),   &[B64],   &[B64, B128, B64],  Op::Atomic(Global, Atomic::CmpSwap)),
    global("global_atomic_add_x2",      absent().gfx9(0x62),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::Add)),
    global("global_atomic_sub_x2",      absent().gfx9(0x63),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::Sub)),
    global("global_atomic_smin_x2",     absent().gfx9(0x64),   &[I64],   &[B64, I64, B64],   Op::Atomic(Global, Atomic::MinI)),
    global("global_atomic_umin_x2",     absent().gfx9(0x65),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::MinU)),
    global("global_atomic_smax_x2",     absent().gfx9(0x66),   &[I64],   &[B64, I64, B64],   Op::Atomic(Global, Atomic::MaxI)),
    global("global_atomic_umax_x2",     absent().gfx9(0x67),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::MaxU)),
    global("global_atomic_and_x2",      absent().gfx9(0x68),   &[B64],   &[B64, B64, B64],   Op::Atomic(Global, Atomic::And)),
    global("global_atomic_or_x2",       absent().gfx9(0x69),   &[B64],   &[B64, B64, B64],   Op::Atomic(Global, Atomic::Or)),
    global("global_atomic_xor_x2",      absent().gfx9(0x6a),   &[B64],   &[B64, B64, B64],   Op::Atomic(Global, Atomic::Xor)),
    global("global_atomic_inc_x2",      absent().gfx9(0x6b),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::Inc)),
    global("global_atomic_dec_x2",      absent().gfx9(0x6c),   &[U64],   &[B64, U64, B64],   Op::Atomic(Global, Atomic::Dec)),
];

/// The rows of SCRATCH.
#[rustfmt::skip]
pub static SCRATCH: &[InstDesc] = &[
    scratch("scratch_load_ubyte",         absent().gfx9(0x10),   &[U32],  &[U32, U32, U32],  Op::Load(Scratch, Data::U8)),
    scratch("scratch_load_sbyte",         absent().gfx9(0x11),   &[I32],  &[U32, I32, U32],  Op::Load(Scratch, Data::I8)),
    scratch("scratch_load_ushort",        absent().gfx9(0x12),   &[U32],  &[U32, U32, U32],  Op::Load(Scratch, Data::U16)),
    scratch("scratch_load_sshort",        absent().gfx9(0x13),   &[I32],  &[U32, I32, U32],  Op::Load(Scratch, Data::I16)),
    scratch("scratch_load_dword",         absent().gfx9(0x14),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, Dwords(1))),
    scratch("scratch_load_dwordx2",       absent().gfx9(0x15),   &[B64],  &[U32, B64, U32],  Op::Load(Scratch, Dwords(2))),
    scratch("scratch_load_dwordx3",       absent().gfx9(0x16),   &[B96],  &[U32, B96, U32],  Op::Load(Scratch, Dwords(3))),
    scratch("scratch_load_dwordx4",       absent().gfx9(0x17),   &[B128], &[U32, B128, U32], Op::Load(Scratch, Dwords(4))),
    scratch("scratch_store_byte",         absent().gfx9(0x18),   &[],     &[U32, B32, U32],  Op::Store(Scratch, Data::U8)),
    scratch("scratch_store_byte_d16_hi",  absent().gfx9(0x19),   &[],     &[U32, B32, U32],  Op::Store(Scratch, D16HiB8)),
    scratch("scratch_store_short",        absent().gfx9(0x1a),   &[],     &[U32, B32, U32],  Op::Store(Scratch, Data::U16)),
    scratch("scratch_store_short_d16_hi", absent().gfx9(0x1b),   &[],     &[U32, B32, U32],  Op::Store(Scratch, D16Hi)),
    scratch("scratch_store_dword",        absent().gfx9(0x1c),   &[],     &[U32, B32, U32],  Op::Store(Scratch, Dwords(1))),
    scratch("scratch_store_dwordx2",      absent().gfx9(0x1d),   &[],     &[U32, B64, U32],  Op::Store(Scratch, Dwords(2))),
    scratch("scratch_store_dwordx3",      absent().gfx9(0x1e),   &[],     &[U32, B96, U32],  Op::Store(Scratch, Dwords(3))),
    scratch("scratch_store_dwordx4",      absent().gfx9(0x1f),   &[],     &[U32, B128, U32], Op::Store(Scratch, Dwords(4))),
    scratch("scratch_load_ubyte_d16",     absent().gfx9(0x20),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16U8)).effect(READS_D),
    scratch("scratch_load_ubyte_d16_hi",  absent().gfx9(0x21),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16HiU8)).effect(READS_D),
    scratch("scratch_load_sbyte_d16",     absent().gfx9(0x22),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16I8)).effect(READS_D),
    scratch("scratch_load_sbyte_d16_hi",  absent().gfx9(0x23),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16HiI8)).effect(READS_D),
    scratch("scratch_load_short_d16",     absent().gfx9(0x24),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16)).effect(READS_D),
    scratch("scratch_load_short_d16_hi",  absent().gfx9(0x25),   &[B32],  &[U32, B32, U32],  Op::Load(Scratch, D16Hi)).effect(READS_D),
    scratch("scratch_load_lds_ubyte",     absent().gfx942(0x26), &[],     &[U32, U32, U32],  Op::Load(Scratch, Data::U8)).effect(READS_M0),
    scratch("scratch_load_lds_sbyte",     absent().gfx942(0x27), &[],     &[U32, I32, U32],  Op::Load(Scratch, Data::I8)).effect(READS_M0),
    scratch("scratch_load_lds_ushort",    absent().gfx942(0x28), &[],     &[U32, U32, U32],  Op::Load(Scratch, Data::U16)).effect(READS_M0),
    scratch("scratch_load_lds_sshort",    absent().gfx942(0x29), &[],     &[U32, I32, U32],  Op::Load(Scratch, Data::I16)).effect(READS_M0),
    scratch("scratch_load_lds_dword",     absent().gfx942(0x2a), &[],     &[U32, B32, U32],  Op::Load(Scratch, Dwords(1))).effect(READS_M0),
];

/// From opcode to row, FLAT.
pub static INDEX: Index<128> = Index::new("FLAT").with(ROWS);

/// From opcode to row, GLOBAL.
pub static GLOBAL_INDEX: Index<128> = Index::new("GLOBAL").with(GLOBAL);

/// From opcode to row, SCRATCH.
pub static SCRATCH_INDEX: Index<128> = Index::new("SCRATCH").with(SCRATCH);
