//! VOPC: vector compares. Families of eight or sixteen comparisons differ in the type only; the
//! macros list their rows.

use crate::desc::{Effects, Encoding, Forms, InstDesc, Opcodes, absent, op, row};
use crate::isa::Index;
use crate::op::{Cmp, Op};
use crate::target::Gfx;
use crate::ty::Ty::{self, *};

const fn vopc(
    name: &'static str,
    opcodes: Opcodes,
    d: &'static [Ty],
    s: &'static [Ty],
    op: Op,
) -> InstDesc {
    let row = row(Encoding::Vopc, name, opcodes, d, s, op);
    if s[0].bits() == 64 {
        row.form(Forms::NO_SDWA.and(Forms::NO_DPP))
    } else {
        row
    }
}

/// The `cmpx` forms write EXEC as well as the mask.
const X: Effects = Effects::READS_EXEC.and(Effects::WRITES_EXEC);

/// Sixteen float comparisons.
macro_rules! float {
    ($prefix:literal, $op:ident, $opcodes:expr, $suffix:literal, $ty:ident, $effects:expr) => {
        &[
            float!(@ $prefix, $op, $opcodes, 0, "f_", $suffix, $ty, F, $effects),
            float!(@ $prefix, $op, $opcodes, 1, "lt_", $suffix, $ty, Lt, $effects),
            float!(@ $prefix, $op, $opcodes, 2, "eq_", $suffix, $ty, Eq, $effects),
            float!(@ $prefix, $op, $opcodes, 3, "le_", $suffix, $ty, Le, $effects),
            float!(@ $prefix, $op, $opcodes, 4, "gt_", $suffix, $ty, Gt, $effects),
            float!(@ $prefix, $op, $opcodes, 5, "lg_", $suffix, $ty, Lg, $effects),
            float!(@ $prefix, $op, $opcodes, 6, "ge_", $suffix, $ty, Ge, $effects),
            float!(@ $prefix, $op, $opcodes, 7, "o_", $suffix, $ty, O, $effects),
            float!(@ $prefix, $op, $opcodes, 8, "u_", $suffix, $ty, U, $effects),
            float!(@ $prefix, $op, $opcodes, 9, "nge_", $suffix, $ty, Nge, $effects),
            float!(@ $prefix, $op, $opcodes, 10, "nlg_", $suffix, $ty, Nlg, $effects),
            float!(@ $prefix, $op, $opcodes, 11, "ngt_", $suffix, $ty, Ngt, $effects),
            float!(@ $prefix, $op, $opcodes, 12, "nle_", $suffix, $ty, Nle, $effects),
            float!(@ $prefix, $op, $opcodes, 13, "neq_", $suffix, $ty, Neq, $effects),
            float!(@ $prefix, $op, $opcodes, 14, "nlt_", $suffix, $ty, Nlt, $effects),
            float!(@ $prefix, $op, $opcodes, 15, "tru_", $suffix, $ty, T, $effects),
        ]
    };
    (@ $prefix:literal, $op:ident, $opcodes:expr, $n:literal, $cmp:literal, $suffix:literal,
     $ty:ident, $variant:ident, $effects:expr) => {
        vopc(concat!($prefix, $cmp, $suffix), $opcodes.plus($n), &[Mask], &[$ty, $ty],
            Op::$op(Cmp::$variant)).effect($effects)
    };
}

/// Eight integer comparisons.
macro_rules! int {
    ($prefix:literal, $op:ident, $opcodes:expr, $suffix:literal, $ty:ident, $effects:expr) => {
        &[
            float!(@ $prefix, $op, $opcodes, 0, "f_", $suffix, $ty, F, $effects),
            float!(@ $prefix, $op, $opcodes, 1, "lt_", $suffix, $ty, Lt, $effects),
            float!(@ $prefix, $op, $opcodes, 2, "eq_", $suffix, $ty, Eq, $effects),
            float!(@ $prefix, $op, $opcodes, 3, "le_", $suffix, $ty, Le, $effects),
            float!(@ $prefix, $op, $opcodes, 4, "gt_", $suffix, $ty, Gt, $effects),
            float!(@ $prefix, $op, $opcodes, 5, "ne_", $suffix, $ty, Lg, $effects),
            float!(@ $prefix, $op, $opcodes, 6, "ge_", $suffix, $ty, Ge, $effects),
            float!(@ $prefix, $op, $opcodes, 7, "t_", $suffix, $ty, T, $effects),
        ]
    };
}

/// Signalling compares: gfx6 and gfx7 only.
const fn old(n: u16) -> Opcodes {
    op(n).dropped_in(Gfx::Gfx803)
}

/// The rows, by family.
#[rustfmt::skip]
pub static ROWS: &[&[InstDesc]] = &[
    float!("v_cmp_",   Cmp,   op(0x00).gfx8(0x40),  "f32", F32, Effects::NONE),
    float!("v_cmpx_",  Cmpx,  op(0x10).gfx8(0x50),  "f32", F32, X),
    float!("v_cmp_",   Cmp,   op(0x20).gfx8(0x60),  "f64", F64, Effects::NONE),
    float!("v_cmpx_",  Cmpx,  op(0x30).gfx8(0x70),  "f64", F64, X),
    float!("v_cmps_",  Cmps,  old(0x40),            "f32", F32, Effects::NONE),
    float!("v_cmpsx_", Cmpsx, old(0x50),            "f32", F32, X),
    float!("v_cmps_",  Cmps,  old(0x60),            "f64", F64, Effects::NONE),
    float!("v_cmpsx_", Cmpsx, old(0x70),            "f64", F64, X),
    float!("v_cmp_",   Cmp,   absent().gfx8(0x20),  "f16", F16, Effects::NONE),
    float!("v_cmpx_",  Cmpx,  absent().gfx8(0x30),  "f16", F16, X),
    int!("v_cmp_",     Cmp,   op(0x80).gfx8(0xc0),  "i32", I32, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  op(0x90).gfx8(0xd0),  "i32", I32, X),
    int!("v_cmp_",     Cmp,   op(0xa0).gfx8(0xe0),  "i64", I64, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  op(0xb0).gfx8(0xf0),  "i64", I64, X),
    int!("v_cmp_",     Cmp,   op(0xc0).gfx8(0xc8),  "u32", U32, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  op(0xd0).gfx8(0xd8),  "u32", U32, X),
    int!("v_cmp_",     Cmp,   op(0xe0).gfx8(0xe8),  "u64", U64, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  op(0xf0).gfx8(0xf8),  "u64", U64, X),
    int!("v_cmp_",     Cmp,   absent().gfx8(0xa0),  "i16", I16, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  absent().gfx8(0xb0),  "i16", I16, X),
    int!("v_cmp_",     Cmp,   absent().gfx8(0xa8),  "u16", U16, Effects::NONE),
    int!("v_cmpx_",    Cmpx,  absent().gfx8(0xb8),  "u16", U16, X),
    &[
        vopc("v_cmp_class_f32",  op(0x88).gfx8(0x10), &[Mask], &[F32, U32], Op::CmpClass),
        vopc("v_cmpx_class_f32", op(0x98).gfx8(0x11), &[Mask], &[F32, U32], Op::CmpxClass).effect(X),
        vopc("v_cmp_class_f64",  op(0xa8).gfx8(0x12), &[Mask], &[F64, U32], Op::CmpClass),
        vopc("v_cmpx_class_f64", op(0xb8).gfx8(0x13), &[Mask], &[F64, U32], Op::CmpxClass).effect(X),
        vopc("v_cmp_class_f16",  absent().gfx8(0x14), &[Mask], &[F16, F16], Op::CmpClass),
        vopc("v_cmpx_class_f16", absent().gfx8(0x15), &[Mask], &[F16, F16], Op::CmpxClass).effect(X),
    ],
];

/// From opcode to row.
pub static INDEX: Index<256> = Index::new("VOPC").with_families(ROWS);
