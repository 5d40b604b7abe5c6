//! MUBUF: untyped buffer instructions.
//!
//! Sources: VADDR (index and offset, or a 64-bit address, by modifiers), SRSRC, SOFFSET, VDATA of
//! stores and atomics (compare-and-swap: new value, then compare value). The `format_d16` forms of
//! more than one component have two rows: gfx803 has one component a register, gfx9 packs two.
//! Loads that can go to LDS read M0 when they do.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::Data::{
    self, D16, D16Hi, D16HiB8, D16HiI8, D16HiU8, D16I8, D16U8, Dwords, Format, FormatD16,
    FormatD16Hi,
};
use crate::op::Space::Buffer;
use crate::op::{Atomic, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const READS_M0: Effects = Effects::READS_M0;
const READS_D: Effects = Effects::READS_D;

const fn mubuf(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(Encoding::Mubuf, name, opcodes, d, s, op)
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    mubuf("buffer_load_format_x",         op(0x00),                                    &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, Format(1))).effect(READS_M0),
    mubuf("buffer_load_format_xy",        op(0x01),                                    &[B64],   &[B64, B128, U32, B64],   Op::Load(Buffer, Format(2))),
    mubuf("buffer_load_format_xyz",       op(0x02),                                    &[B96],   &[B64, B128, U32, B96],   Op::Load(Buffer, Format(3))),
    mubuf("buffer_load_format_xyzw",      op(0x03),                                    &[B128],  &[B64, B128, U32, B128],  Op::Load(Buffer, Format(4))),
    mubuf("buffer_store_format_x",        op(0x04),                                    &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, Format(1))),
    mubuf("buffer_store_format_xy",       op(0x05),                                    &[],      &[B64, B128, U32, B64],   Op::Store(Buffer, Format(2))),
    mubuf("buffer_store_format_xyz",      op(0x06),                                    &[],      &[B64, B128, U32, B96],   Op::Store(Buffer, Format(3))),
    mubuf("buffer_store_format_xyzw",     op(0x07),                                    &[],      &[B64, B128, U32, B128],  Op::Store(Buffer, Format(4))),
    mubuf("buffer_load_format_d16_x",     absent().gfx8(0x08),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, FormatD16(1))),
    mubuf("buffer_load_format_d16_xy",    absent().gfx8(0x09).dropped_in(Gfx::Gfx900), &[B64],   &[B64, B128, U32, B64],   Op::Load(Buffer, FormatD16(2))),
    mubuf("buffer_load_format_d16_xy",    absent().gfx9(0x09),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, FormatD16(2))),
    mubuf("buffer_load_format_d16_xyz",   absent().gfx8(0x0a).dropped_in(Gfx::Gfx900), &[B96],   &[B64, B128, U32, B96],   Op::Load(Buffer, FormatD16(3))),
    mubuf("buffer_load_format_d16_xyz",   absent().gfx9(0x0a),                         &[B64],   &[B64, B128, U32, B64],   Op::Load(Buffer, FormatD16(3))),
    mubuf("buffer_load_format_d16_xyzw",  absent().gfx8(0x0b).dropped_in(Gfx::Gfx900), &[B128],  &[B64, B128, U32, B128],  Op::Load(Buffer, FormatD16(4))),
    mubuf("buffer_load_format_d16_xyzw",  absent().gfx9(0x0b),                         &[B64],   &[B64, B128, U32, B64],   Op::Load(Buffer, FormatD16(4))),
    mubuf("buffer_store_format_d16_x",    absent().gfx8(0x0c),                         &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, FormatD16(1))),
    mubuf("buffer_store_format_d16_xy",   absent().gfx8(0x0d).dropped_in(Gfx::Gfx900), &[],      &[B64, B128, U32, B64],   Op::Store(Buffer, FormatD16(2))),
    mubuf("buffer_store_format_d16_xy",   absent().gfx9(0x0d),                         &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, FormatD16(2))),
    mubuf("buffer_store_format_d16_xyz",  absent().gfx8(0x0e).dropped_in(Gfx::Gfx900), &[],      &[B64, B128, U32, B96],   Op::Store(Buffer, FormatD16(3))),
    mubuf("buffer_store_format_d16_xyz",  absent().gfx9(0x0e),                         &[],      &[B64, B128, U32, B64],   Op::Store(Buffer, FormatD16(3))),
    mubuf("buffer_store_format_d16_xyzw", absent().gfx8(0x0f).dropped_in(Gfx::Gfx900), &[],      &[B64, B128, U32, B128],  Op::Store(Buffer, FormatD16(4))),
    mubuf("buffer_store_format_d16_xyzw", absent().gfx9(0x0f),                         &[],      &[B64, B128, U32, B64],   Op::Store(Buffer, FormatD16(4))),
    mubuf("buffer_load_ubyte",            op(0x08).gfx8(0x10),                         &[U32],   &[B64, B128, U32, U32],   Op::Load(Buffer, Data::U8)).effect(READS_M0),
    mubuf("buffer_load_sbyte",            op(0x09).gfx8(0x11),                         &[I32],   &[B64, B128, U32, I32],   Op::Load(Buffer, Data::I8)).effect(READS_M0),
    mubuf("buffer_load_ushort",           op(0x0a).gfx8(0x12),                         &[U32],   &[B64, B128, U32, U32],   Op::Load(Buffer, Data::U16)).effect(READS_M0),
    mubuf("buffer_load_sshort",           op(0x0b).gfx8(0x13),                         &[I32],   &[B64, B128, U32, I32],   Op::Load(Buffer, Data::I16)).effect(READS_M0),
    mubuf("buffer_load_dword",            op(0x0c).gfx8(0x14),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, Dwords(1))).effect(READS_M0),
    mubuf("buffer_load_dwordx2",          op(0x0d).gfx8(0x15),                         &[B64],   &[B64, B128, U32, B64],   Op::Load(Buffer, Dwords(2))),
    mubuf("buffer_load_dwordx3",          op(0x0f).gfx8(0x16),                         &[B96],   &[B64, B128, U32, B96],   Op::Load(Buffer, Dwords(3))),
    mubuf("buffer_load_dwordx4",          op(0x0e).gfx8(0x17),                         &[B128],  &[B64, B128, U32, B128],  Op::Load(Buffer, Dwords(4))),
    mubuf("buffer_store_byte",            op(0x18),                                    &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, Data::U8)),
    mubuf("buffer_store_byte_d16_hi",     absent().gfx9(0x19),                         &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, D16HiB8)),
    mubuf("buffer_store_short",           op(0x1a),                                    &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, Data::U16)),
    mubuf("buffer_store_short_d16_hi",    absent().gfx9(0x1b),                         &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, D16Hi)),
    mubuf("buffer_store_dword",           op(0x1c),                                    &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, Dwords(1))),
    mubuf("buffer_store_dwordx2",         op(0x1d),                                    &[],      &[B64, B128, U32, B64],   Op::Store(Buffer, Dwords(2))),
    mubuf("buffer_store_dwordx3",         op(0x1f).gfx8(0x1e),                         &[],      &[B64, B128, U32, B96],   Op::Store(Buffer, Dwords(3))),
    mubuf("buffer_store_dwordx4",         op(0x1e).gfx8(0x1f),                         &[],      &[B64, B128, U32, B128],  Op::Store(Buffer, Dwords(4))),
    mubuf("buffer_load_ubyte_d16",        absent().gfx9(0x20),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16U8)).effect(READS_D),
    mubuf("buffer_load_ubyte_d16_hi",     absent().gfx9(0x21),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16HiU8)).effect(READS_D),
    mubuf("buffer_load_sbyte_d16",        absent().gfx9(0x22),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16I8)).effect(READS_D),
    mubuf("buffer_load_sbyte_d16_hi",     absent().gfx9(0x23),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16HiI8)).effect(READS_D),
    mubuf("buffer_load_short_d16",        absent().gfx9(0x24),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16)).effect(READS_D),
    mubuf("buffer_load_short_d16_hi",     absent().gfx9(0x25),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, D16Hi)).effect(READS_D),
    mubuf("buffer_load_format_d16_hi_x",  absent().gfx9(0x26),                         &[B32],   &[B64, B128, U32, B32],   Op::Load(Buffer, FormatD16Hi)).effect(READS_D),
    mubuf("buffer_store_format_d16_hi_x", absent().gfx9(0x27),                         &[],      &[B64, B128, U32, B32],   Op::Store(Buffer, FormatD16Hi)),
    mubuf("buffer_wbl2",                  absent().gfx90a(0x28),                       &[],      &[],                      Op::CacheCtl).form(Forms::SCOPE),
    mubuf("buffer_invl2",                 absent().gfx90a(0x29),                       &[],      &[],                      Op::CacheCtl).form(Forms::SCOPE).renamed(&[(Gfx::Gfx942, "buffer_inv")]),
    mubuf("buffer_store_lds_dword",       absent().gfx8(0x3d),                         &[],      &[B64, B128, U32],        Op::StoreLds).effect(READS_M0),
    mubuf("buffer_atomic_fcmpswap",       op(0x3e).dropped_in(Gfx::Gfx803),            &[F32],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::FCmpSwap)),
    mubuf("buffer_wbinvl1",               op(0x71).gfx8(0x3e),                         &[],      &[],                      Op::CacheCtl),
    mubuf("buffer_atomic_fmin",           op(0x3f).dropped_in(Gfx::Gfx803),            &[F32],   &[B64, B128, U32, F32],   Op::Atomic(Buffer, Atomic::FMin)),
    mubuf("buffer_wbinvl1_vol",           absent().gfx7(0x70).gfx8(0x3f),              &[],      &[],                      Op::CacheCtl),
    mubuf("buffer_atomic_fmax",           op(0x40).dropped_in(Gfx::Gfx803),            &[F32],   &[B64, B128, U32, F32],   Op::Atomic(Buffer, Atomic::FMax)),
    mubuf("buffer_atomic_swap",           op(0x30).gfx8(0x40),                         &[B32],   &[B64, B128, U32, B32],   Op::Atomic(Buffer, Atomic::Swap)),
    mubuf("buffer_atomic_cmpswap",        op(0x31).gfx8(0x41),                         &[B32],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::CmpSwap)),
    mubuf("buffer_atomic_add",            op(0x32).gfx8(0x42),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::Add)),
    mubuf("buffer_atomic_sub",            op(0x33).gfx8(0x43),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::Sub)),
    mubuf("buffer_atomic_rsub",           op(0x34).dropped_in(Gfx::Gfx700),            &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::Rsub)),
    mubuf("buffer_atomic_smin",           op(0x35).gfx8(0x44),                         &[I32],   &[B64, B128, U32, I32],   Op::Atomic(Buffer, Atomic::MinI)),
    mubuf("buffer_atomic_umin",           op(0x36).gfx8(0x45),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::MinU)),
    mubuf("buffer_atomic_smax",           op(0x37).gfx8(0x46),                         &[I32],   &[B64, B128, U32, I32],   Op::Atomic(Buffer, Atomic::MaxI)),
    mubuf("buffer_atomic_umax",           op(0x38).gfx8(0x47),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::MaxU)),
    mubuf("buffer_atomic_and",            op(0x39).gfx8(0x48),                         &[B32],   &[B64, B128, U32, B32],   Op::Atomic(Buffer, Atomic::And)),
    mubuf("buffer_atomic_or",             op(0x3a).gfx8(0x49),                         &[B32],   &[B64, B128, U32, B32],   Op::Atomic(Buffer, Atomic::Or)),
    mubuf("buffer_atomic_xor",            op(0x3b).gfx8(0x4a),                         &[B32],   &[B64, B128, U32, B32],   Op::Atomic(Buffer, Atomic::Xor)),
    mubuf("buffer_atomic_inc",            op(0x3c).gfx8(0x4b),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::Inc)),
    mubuf("buffer_atomic_dec",            op(0x3d).gfx8(0x4c),                         &[U32],   &[B64, B128, U32, U32],   Op::Atomic(Buffer, Atomic::Dec)),
    mubuf("buffer_atomic_add_f32",        absent().gfx908(0x4d),                       &[F32],   &[B64, B128, U32, F32],   Op::Atomic(Buffer, Atomic::FAdd)),
    mubuf("buffer_atomic_pk_add_f16",     absent().gfx908(0x4e),                       &[PkF16], &[B64, B128, U32, PkF16], Op::Atomic(Buffer, Atomic::PkFAdd16)),
    mubuf("buffer_atomic_add_f64",        absent().gfx90a(0x4f),                       &[F64],   &[B64, B128, U32, F64],   Op::Atomic(Buffer, Atomic::FAdd)),
    mubuf("buffer_atomic_min_f64",        absent().gfx90a(0x50),                       &[F64],   &[B64, B128, U32, F64],   Op::Atomic(Buffer, Atomic::FMin)),
    mubuf("buffer_atomic_max_f64",        absent().gfx90a(0x51),                       &[F64],   &[B64, B128, U32, F64],   Op::Atomic(Buffer, Atomic::FMax)),
    mubuf("buffer_atomic_fcmpswap_x2",    op(0x5e).dropped_in(Gfx::Gfx803),            &[F64],   &[B64, B128, U32, B128],  Op::Atomic(Buffer, Atomic::FCmpSwap)),
    mubuf("buffer_atomic_fmin_x2",        op(0x5f).dropped_in(Gfx::Gfx803),            &[F64],   &[B64, B128, U32, F64],   Op::Atomic(Buffer, Atomic::FMin)),
    mubuf("buffer_atomic_fmax_x2",        op(0x60).dropped_in(Gfx::Gfx803),            &[F64],   &[B64, B128, U32, F64],   Op::Atomic(Buffer, Atomic::FMax)),
    mubuf("buffer_atomic_swap_x2",        op(0x50).gfx8(0x60),                         &[B64],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::Swap)),
    mubuf("buffer_atomic_cmpswap_x2",     op(0x51).gfx8(0x61),                         &[B64],   &[B64, B128, U32, B128],  Op::Atomic(Buffer, Atomic::CmpSwap)),
    mubuf("buffer_atomic_add_x2",         op(0x52).gfx8(0x62),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::Add)),
    mubuf("buffer_atomic_sub_x2",         op(0x53).gfx8(0x63),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::Sub)),
    mubuf("buffer_atomic_rsub_x2",        op(0x54).dropped_in(Gfx::Gfx700),            &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::Rsub)),
    mubuf("buffer_atomic_smin_x2",        op(0x55).gfx8(0x64),                         &[I64],   &[B64, B128, U32, I64],   Op::Atomic(Buffer, Atomic::MinI)),
    mubuf("buffer_atomic_umin_x2",        op(0x56).gfx8(0x65),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::MinU)),
    mubuf("buffer_atomic_smax_x2",        op(0x57).gfx8(0x66),                         &[I64],   &[B64, B128, U32, I64],   Op::Atomic(Buffer, Atomic::MaxI)),
    mubuf("buffer_atomic_umax_x2",        op(0x58).gfx8(0x67),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::MaxU)),
    mubuf("buffer_atomic_and_x2",         op(0x59).gfx8(0x68),                         &[B64],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::And)),
    mubuf("buffer_atomic_or_x2",          op(0x5a).gfx8(0x69),                         &[B64],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::Or)),
    mubuf("buffer_atomic_xor_x2",         op(0x5b).gfx8(0x6a),                         &[B64],   &[B64, B128, U32, B64],   Op::Atomic(Buffer, Atomic::Xor)),
    mubuf("buffer_atomic_inc_x2",         op(0x5c).gfx8(0x6b),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::Inc)),
    mubuf("buffer_atomic_dec_x2",         op(0x5d).gfx8(0x6c),                         &[U64],   &[B64, B128, U32, U64],   Op::Atomic(Buffer, Atomic::Dec)),
    mubuf("buffer_wbinvl1_sc",            op(0x70).dropped_in(Gfx::Gfx700),            &[],      &[],                      Op::CacheCtl),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("MUBUF").with(ROWS);
