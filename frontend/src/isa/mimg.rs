//! MIMG: image instructions.
//!
//! Sources: VADDR, SRSRC, SSAMP, VDATA of stores and atomics. The types are the largest that occur:
//! how many data registers there are follows from DMASK, D16 and TFE, how many address registers
//! from the image's dimension, which the instruction does not say before gfx10. SRSRC is 128 bits
//! wide with R128.

use crate::desc::{Encoding, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::{Atomic, ImageOp, Op, SampleMods};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

/// A row; gfx942 has no image instructions.
const fn mimg(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    row(
        Encoding::Mimg,
        name,
        opcodes.dropped_in(Gfx::Gfx942),
        d,
        s,
        op,
    )
}

const fn load(mip: bool, pck: bool, sgn: bool) -> Op {
    Op::Image(ImageOp::Load { mip, pck, sgn })
}

const fn store(mip: bool, pck: bool) -> Op {
    Op::Image(ImageOp::Store { mip, pck })
}

const fn atomic(atomic: Atomic) -> Op {
    Op::Image(ImageOp::Atomic(atomic))
}

/// A suffix of the sampling instructions.
#[derive(Clone, Copy)]
enum Suffix {
    C,
    CL,
    D,
    CD,
    L,
    B,
    LZ,
    O,
}
use Suffix::{B, C, CD, CL, D, L, LZ, O};

const fn suffixes(list: &[Suffix]) -> SampleMods {
    let mut mods = SampleMods {
        compare: false,
        clamp: false,
        deriv: false,
        coarse: false,
        lod: false,
        bias: false,
        lz: false,
        offset: false,
    };
    let mut i = 0;
    while i < list.len() {
        match list[i] {
            C => mods.compare = true,
            CL => mods.clamp = true,
            D => mods.deriv = true,
            CD => mods.coarse = true,
            L => mods.lod = true,
            B => mods.bias = true,
            LZ => mods.lz = true,
            O => mods.offset = true,
        }
        i += 1;
    }
    mods
}

const fn sample(list: &[Suffix]) -> Op {
    Op::Image(ImageOp::Sample(suffixes(list)))
}

const fn gather4(list: &[Suffix]) -> Op {
    Op::Image(ImageOp::Gather4(suffixes(list)))
}

const fn gather4h(list: &[Suffix]) -> Op {
    Op::Image(ImageOp::Gather4h(suffixes(list)))
}

/// The rows.
#[rustfmt::skip]
pub static ROWS: &[InstDesc] = &[
    mimg("image_load",             op(0x00),                                    &[B128], &[B128, B256],             load(false, false, false)),
    mimg("image_load_mip",         op(0x01),                                    &[B128], &[B128, B256],             load(true, false, false)),
    mimg("image_load_pck",         op(0x02),                                    &[B128], &[B128, B256],             load(false, true, false)),
    mimg("image_load_pck_sgn",     op(0x03),                                    &[B128], &[B128, B256],             load(false, true, true)),
    mimg("image_load_mip_pck",     op(0x04),                                    &[B128], &[B128, B256],             load(true, true, false)),
    mimg("image_load_mip_pck_sgn", op(0x05),                                    &[B128], &[B128, B256],             load(true, true, true)),
    mimg("image_store",            op(0x08),                                    &[],     &[B128, B256, B128, B128], store(false, false)),
    mimg("image_store_mip",        op(0x09),                                    &[],     &[B128, B256, B128, B128], store(true, false)),
    mimg("image_store_pck",        op(0x0a),                                    &[],     &[B128, B256, B128, B128], store(false, true)),
    mimg("image_store_mip_pck",    op(0x0b),                                    &[],     &[B128, B256, B128, B128], store(true, true)),
    mimg("image_get_resinfo",      op(0x0e),                                    &[B128], &[B128, B256],             Op::Image(ImageOp::GetResinfo)),
    mimg("image_atomic_swap",      op(0x0f).gfx8(0x10),                         &[B32],  &[B128, B256, B128, B32],  atomic(Atomic::Swap)),
    mimg("image_atomic_cmpswap",   op(0x10).gfx8(0x11),                         &[B32],  &[B128, B256, B128, B64],  atomic(Atomic::CmpSwap)),
    mimg("image_atomic_add",       op(0x11).gfx8(0x12),                         &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::Add)),
    mimg("image_atomic_rsub",      op(0x13).dropped_in(Gfx::Gfx803),            &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::Rsub)),
    mimg("image_atomic_sub",       op(0x12).gfx8(0x13),                         &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::Sub)),
    mimg("image_atomic_smin",      op(0x14),                                    &[I32],  &[B128, B256, B128, I32],  atomic(Atomic::MinI)),
    mimg("image_atomic_umin",      op(0x15),                                    &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::MinU)),
    mimg("image_atomic_smax",      op(0x16),                                    &[I32],  &[B128, B256, B128, I32],  atomic(Atomic::MaxI)),
    mimg("image_atomic_umax",      op(0x17),                                    &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::MaxU)),
    mimg("image_atomic_and",       op(0x18),                                    &[B32],  &[B128, B256, B128, B32],  atomic(Atomic::And)),
    mimg("image_atomic_or",        op(0x19),                                    &[B32],  &[B128, B256, B128, B32],  atomic(Atomic::Or)),
    mimg("image_atomic_xor",       op(0x1a),                                    &[B32],  &[B128, B256, B128, B32],  atomic(Atomic::Xor)),
    mimg("image_atomic_inc",       op(0x1b),                                    &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::Inc)),
    mimg("image_atomic_dec",       op(0x1c),                                    &[U32],  &[B128, B256, B128, U32],  atomic(Atomic::Dec)),
    mimg("image_atomic_fcmpswap",  op(0x1d).dropped_in(Gfx::Gfx803),            &[F32],  &[B128, B256, B128, B64],  atomic(Atomic::FCmpSwap)),
    mimg("image_atomic_fmin",      op(0x1e).dropped_in(Gfx::Gfx803),            &[F32],  &[B128, B256, B128, F32],  atomic(Atomic::FMin)),
    mimg("image_atomic_fmax",      op(0x1f).dropped_in(Gfx::Gfx803),            &[F32],  &[B128, B256, B128, F32],  atomic(Atomic::FMax)),
    mimg("image_sample",           op(0x20),                                    &[B128], &[B128, B256, B128],       sample(&[])),
    mimg("image_sample_cl",        op(0x21).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CL])),
    mimg("image_sample_d",         op(0x22).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[D])),
    mimg("image_sample_d_cl",      op(0x23).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[D, CL])),
    mimg("image_sample_l",         op(0x24).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[L])),
    mimg("image_sample_b",         op(0x25).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[B])),
    mimg("image_sample_b_cl",      op(0x26).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[B, CL])),
    mimg("image_sample_lz",        op(0x27).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[LZ])),
    mimg("image_sample_c",         op(0x28).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C])),
    mimg("image_sample_c_cl",      op(0x29).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CL])),
    mimg("image_sample_c_d",       op(0x2a).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, D])),
    mimg("image_sample_c_d_cl",    op(0x2b).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, D, CL])),
    mimg("image_sample_c_l",       op(0x2c).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, L])),
    mimg("image_sample_c_b",       op(0x2d).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, B])),
    mimg("image_sample_c_b_cl",    op(0x2e).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, B, CL])),
    mimg("image_sample_c_lz",      op(0x2f).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, LZ])),
    mimg("image_sample_o",         op(0x30).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[O])),
    mimg("image_sample_cl_o",      op(0x31).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CL, O])),
    mimg("image_sample_d_o",       op(0x32).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[D, O])),
    mimg("image_sample_d_cl_o",    op(0x33).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[D, CL, O])),
    mimg("image_sample_l_o",       op(0x34).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[L, O])),
    mimg("image_sample_b_o",       op(0x35).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[B, O])),
    mimg("image_sample_b_cl_o",    op(0x36).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[B, CL, O])),
    mimg("image_sample_lz_o",      op(0x37).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[LZ, O])),
    mimg("image_sample_c_o",       op(0x38).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, O])),
    mimg("image_sample_c_cl_o",    op(0x39).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CL, O])),
    mimg("image_sample_c_d_o",     op(0x3a).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, D, O])),
    mimg("image_sample_c_d_cl_o",  op(0x3b).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, D, CL, O])),
    mimg("image_sample_c_l_o",     op(0x3c).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, L, O])),
    mimg("image_sample_c_b_o",     op(0x3d).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, B, O])),
    mimg("image_sample_c_b_cl_o",  op(0x3e).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, B, CL, O])),
    mimg("image_sample_c_lz_o",    op(0x3f).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, LZ, O])),
    mimg("image_gather4",          op(0x40).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[])),
    mimg("image_gather4_cl",       op(0x41).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[CL])),
    mimg("image_gather4h",         absent().gfx9(0x42).dropped_in(Gfx::Gfx90a), &[B128], &[B128, B256, B128],       gather4h(&[])),
    mimg("image_gather4_l",        op(0x44).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[L])),
    mimg("image_gather4_b",        op(0x45).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[B])),
    mimg("image_gather4_b_cl",     op(0x46).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[B, CL])),
    mimg("image_gather4_lz",       op(0x47).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[LZ])),
    mimg("image_gather4_c",        op(0x48).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C])),
    mimg("image_gather4_c_cl",     op(0x49).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, CL])),
    mimg("image_gather4_c_l",      op(0x4c).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, L])),
    mimg("image_gather4_c_b",      op(0x4d).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, B])),
    mimg("image_gather4_c_b_cl",   op(0x4e).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, B, CL])),
    mimg("image_gather4_c_lz",     op(0x4f).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, LZ])),
    mimg("image_gather4_o",        op(0x50).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[O])),
    mimg("image_gather4_cl_o",     op(0x51).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[CL, O])),
    mimg("image_gather4_l_o",      op(0x54).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[L, O])),
    mimg("image_gather4_b_o",      op(0x55).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[B, O])),
    mimg("image_gather4_b_cl_o",   op(0x56).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[B, CL, O])),
    mimg("image_gather4_lz_o",     op(0x57).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[LZ, O])),
    mimg("image_gather4_c_o",      op(0x58).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, O])),
    mimg("image_gather4_c_cl_o",   op(0x59).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, CL, O])),
    mimg("image_gather4_c_l_o",    op(0x5c).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, L, O])),
    mimg("image_gather4_c_b_o",    op(0x5d).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, B, O])),
    mimg("image_gather4_c_b_cl_o", op(0x5e).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, B, CL, O])),
    mimg("image_gather4_c_lz_o",   op(0x5f).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       gather4(&[C, LZ, O])),
    mimg("image_get_lod",          op(0x60).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       Op::Image(ImageOp::GetLod)),
    mimg("image_sample_cd",        op(0x68).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CD])),
    mimg("image_sample_cd_cl",     op(0x69).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CD, CL])),
    mimg("image_sample_c_cd",      op(0x6a).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CD])),
    mimg("image_sample_c_cd_cl",   op(0x6b).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CD, CL])),
    mimg("image_sample_cd_o",      op(0x6c).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CD, O])),
    mimg("image_sample_cd_cl_o",   op(0x6d).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[CD, CL, O])),
    mimg("image_sample_c_cd_o",    op(0x6e).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CD, O])),
    mimg("image_sample_c_cd_cl_o", op(0x6f).dropped_in(Gfx::Gfx90a),            &[B128], &[B128, B256, B128],       sample(&[C, CD, CL, O])),
];

/// From opcode to row.
pub static INDEX: Index<128> = Index::new("MIMG").with(ROWS);
