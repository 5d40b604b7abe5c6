//! Matrix instructions of CDNA. Their registers are read and written by a function of the runtime,
//! all lanes of them, whatever EXEC is.

use frontend::inst::{Inst, Operand};
use frontend::op::{Factor, Matrix, Op};
use frontend::state::mode;

use crate::ir::MatrixCall;
use crate::ir::matrix::Addend;
use crate::lift::arms::Lowered;
use crate::lift::guest::Guest;

/// In MODE's field of f32 denormals: those of sources are kept.
const KEEPS_SOURCES: u32 = 1 << mode::DENORM_F32.trailing_zeros();

/// Lowers `v_mfma` and `v_smfmac`.
pub(super) fn lower(g: &Guest<'_>, inst: &Inst, shape: Matrix) -> Lowered {
    match call(g, inst, shape).filter(MatrixCall::is_valid) {
        Some(call) => Lowered::Matrix(call),
        None => Lowered::Fallback,
    }
}

fn call(g: &Guest<'_>, inst: &Inst, shape: Matrix) -> Option<MatrixCall> {
    let [cbsz, abid, blgp] = inst.mods.mfma;
    let sparse = matches!(inst.op(), Op::Smfmac(_));
    let c = if sparse {
        Addend::Registers(inst.dst[0].vector_register()?)
    } else if let Operand::Inline { bits, .. } = inst.src[2] {
        Addend::Constant(bits)
    } else {
        Addend::Registers(inst.src[2].vector_register()?)
    };
    Some(MatrixCall {
        shape,
        d: inst.dst[0].vector_register()?,
        a: inst.src[0].vector_register()?,
        b: inst.src[1].vector_register()?,
        c,
        cbsz,
        abid,
        // What the field means for f64 on gfx90a is not documented: nothing here.
        blgp: if shape.factor == Factor::F64 { 0 } else { blgp },
        sums: g.gfx.matrix_sums(),
        // CDNA2 ISA, 7.1: A and B obey MODE's f32 denormals.
        flush: shape.factor == Factor::F32 && g.mode & KEEPS_SOURCES == 0,
        quiet: g.exact_nan,
        saturates: g.gfx.limits_matrix_sums()
            && g.mode & mode::FP16_OVFL != 0
            && shape.factor != Factor::F64,
        negate: if inst.negates_factors(g.gfx) { blgp } else { 0 },
        places: match sparse {
            true => Some(inst.src[2].vector_register()?),
            false => None,
        },
    })
}
