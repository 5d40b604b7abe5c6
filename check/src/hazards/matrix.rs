//! Wait states around the matrix instructions of gfx908, gfx90a and gfx942, by LLVM's hazard recognizer. Their number
//! depends on the passes of the producer and on the operand of the consumer. D is the result, A, B and C
//! are the sources.

use frontend::op::Factor;
use frontend::registers::{AGPR, Span, is_valu, is_vmem, span};
use frontend::{Encoding, Gfx, Op, Ty};

use super::row::{Consumes, ONE, Row, exec_of_valu, only, rule, vectors, vectors_of_valu};
use crate::cfg::Item;
use crate::finding::Certainty;

const LLVM_908: &str = "LLVM checkMAIHazards908";
const LLVM_90A: &str = "LLVM checkMAIHazards90A, checkMAIVALUHazards";
const LLVM_BOTH: &str = "LLVM checkMAIHazards908, checkMAIHazards90A, checkMAIVALUHazards";

const A: usize = 0;
const B: usize = 1;
const C: usize = 2;

fn passes(item: &Item) -> Option<u8> {
    item.inst.op().product().map(|matrix| matrix.passes)
}

fn is_matrix(item: &Item) -> bool {
    passes(item).is_some()
}

fn is_f64(item: &Item) -> bool {
    is_matrix(item) && item.inst.src_ty(A) == Ty::F64
}

/// Sparse: C is D, and the third source is read as A and B are.
fn is_sparse(item: &Item) -> bool {
    matches!(item.inst.op(), Op::Smfmac(_))
}

/// On gfx942, is it a product of other elements than f32 and f64?
fn is_narrow(item: &Item) -> bool {
    let product = item.inst.op().product();
    product.is_some_and(|matrix| !matches!(matrix.factor, Factor::F32 | Factor::F64))
}

fn is_move(item: &Item) -> bool {
    matches!(item.inst.op(), Op::AccVgprRead | Op::AccVgprWrite)
}

/// VALU, but no matrix instruction.
fn is_other_valu(item: &Item) -> bool {
    is_valu(&item.inst) && !is_matrix(item)
}

fn is_dot(item: &Item) -> bool {
    matches!(
        item.inst.op(),
        Op::Dot2 | Op::Dot4 | Op::Dot8 | Op::Dot2c | Op::Dot4c | Op::Dot8c
    )
}

/// Memory instructions, DS included.
fn is_memory(item: &Item) -> bool {
    is_vmem(&item.inst) || item.inst.desc.encoding == Encoding::Ds
}

fn is_memory_or_export(item: &Item) -> bool {
    is_memory(item) || item.inst.desc.encoding == Encoding::Exp
}

fn result(item: &Item) -> Option<Span> {
    span(item.inst.dst[0], item.inst.dst_ty(0).regs())
}

fn source(item: &Item, i: usize) -> Option<Span> {
    span(item.inst.src[i], item.inst.desc.src.get(i)?.regs())
}

fn results_of(is: bool, item: &Item) -> Vec<Span> {
    match is {
        true => vectors(&item.uses.writes),
        false => vec![],
    }
}

fn matrix_result(item: &Item, _: Gfx) -> Vec<Span> {
    results_of(is_matrix(item), item)
}

fn touches(spans: &[Span], of: Option<Span>) -> bool {
    of.is_some_and(|of| spans.iter().any(|span| span.overlaps(of)))
}

fn reads_result(consumer: &Item, producer: &Item) -> bool {
    touches(&consumer.uses.reads, result(producer))
}

fn writes_result(consumer: &Item, producer: &Item) -> bool {
    touches(&consumer.uses.writes, result(producer))
}

/// The registers of C.
fn addend(item: &Item) -> Option<Span> {
    match is_sparse(item) {
        true => result(item),
        false => source(item, C),
    }
}

/// Does source `i` overlap the result?
fn takes(consumer: &Item, i: usize, producer: &Item) -> bool {
    match (source(consumer, i), result(producer)) {
        (Some(source), Some(result)) => source.overlaps(result),
        _ => false,
    }
}

fn result_to_c(producer: &Item, consumer: &Item, gfx: Gfx) -> u8 {
    let (Some(passes), true) = (passes(producer), is_matrix(consumer)) else {
        return 0;
    };
    let (Some(c), Some(d)) = (addend(consumer), result(producer)) else {
        return 0;
    };
    if !c.overlaps(d) {
        return 0;
    }
    let exact = c == d;
    if gfx == Gfx::Gfx908 {
        return if exact { 0 } else { 2 };
    }
    if gfx >= Gfx::Gfx942 && !is_f64(producer) {
        return match (is_narrow(producer), is_narrow(consumer)) {
            _ if exact => {
                if passes == 2 {
                    2
                } else {
                    0
                }
            }
            (true, _) => passes + 1,
            (false, true) => 0,
            (false, false) => passes,
        };
    }
    match (is_f64(producer), is_f64(consumer)) {
        (true, false) => 0,
        // 4x4 to 4x4 even if it is exact.
        (true, true) if passes == 4 && (!exact || self::passes(consumer) == Some(4)) => 4,
        _ if exact => 0,
        (true, true) => 9,
        (false, true) => passes + 1,
        (false, false) => passes,
    }
}

/// The wait states of a result of f64 by its passes.
fn by_passes(passes: u8, small: u8, large: u8) -> u8 {
    if passes == 4 { small } else { large }
}

fn result_to_a_b(producer: &Item, consumer: &Item, gfx: Gfx) -> u8 {
    let (Some(passes), true) = (passes(producer), is_matrix(consumer)) else {
        return 0;
    };
    let place = is_sparse(consumer) && takes(consumer, C, producer);
    if !place && !takes(consumer, A, producer) && !takes(consumer, B, producer) {
        return 0;
    }
    match gfx {
        Gfx::Gfx908 => 4,
        _ if is_f64(producer) => by_passes(passes, 6, 11),
        _ => behind(producer, passes, gfx),
    }
}

/// The wait states from a product of other elements than f64 until its result is there.
fn behind(producer: &Item, passes: u8, gfx: Gfx) -> u8 {
    match gfx >= Gfx::Gfx942 && !is_narrow(producer) {
        true => passes + 2,
        false => passes + 3,
    }
}

fn result_to_read(producer: &Item, consumer: &Item, gfx: Gfx) -> u8 {
    let Some(passes) = passes(producer) else {
        return 0;
    };
    let memory = is_memory_or_export(consumer);
    let reads = match gfx {
        Gfx::Gfx908 => consumer.inst.op() == Op::AccVgprRead,
        _ => memory || is_other_valu(consumer),
    };
    if !reads || !reads_result(consumer, producer) {
        return 0;
    }
    match gfx {
        Gfx::Gfx908 => passes + 2,
        _ if is_f64(producer) && memory => by_passes(passes, 9, 18),
        _ if is_f64(producer) => by_passes(passes, 6, 11),
        _ => behind(producer, passes, gfx),
    }
}

/// An instruction that may overwrite operands of matrix instructions too early.
fn overwrites(consumer: &Item, gfx: Gfx) -> bool {
    match gfx {
        Gfx::Gfx908 => consumer.inst.op() == Op::AccVgprWrite,
        _ => is_other_valu(consumer),
    }
}

fn result_to_write(producer: &Item, consumer: &Item, gfx: Gfx) -> u8 {
    let Some(passes) = passes(producer) else {
        return 0;
    };
    if !overwrites(consumer, gfx) || !writes_result(consumer, producer) {
        return 0;
    }
    match gfx {
        Gfx::Gfx908 => passes - 1,
        _ if is_f64(producer) => by_passes(passes, 6, 11),
        _ => behind(producer, passes, gfx),
    }
}

fn c_to_write(producer: &Item, consumer: &Item, gfx: Gfx) -> u8 {
    let Some(passes) = passes(producer) else {
        return 0;
    };
    if !overwrites(consumer, gfx) || !touches(&consumer.uses.writes, addend(producer)) {
        return 0;
    }
    match gfx {
        Gfx::Gfx908 => passes.saturating_sub(3),
        _ => passes - 1,
    }
}

fn moved_to_matrix(producer: &Item, consumer: &Item, _: Gfx) -> u8 {
    if consumer.inst.op() == Op::AccVgprRead && reads_result(consumer, producer) {
        return 3;
    }
    match is_matrix(consumer) {
        true if takes(consumer, A, producer) || takes(consumer, B, producer) => 3,
        true if takes(consumer, C, producer) => 1,
        _ => 0,
    }
}

fn dot_to_use(producer: &Item, consumer: &Item, _: Gfx) -> u8 {
    if !is_other_valu(consumer) && !is_memory_or_export(consumer) {
        return 0;
    }
    let uses = match std::ptr::eq(producer.inst.desc, consumer.inst.desc) {
        true => takes(consumer, A, producer) || takes(consumer, B, producer),
        false => reads_result(consumer, producer) || writes_result(consumer, producer),
    };
    if uses { 3 } else { 0 }
}

/// The rows.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    Row {
        rule: rule("nop-exec-mfma", "VALU writes EXEC, a matrix instruction follows", Certainty::B, LLVM_BOTH),
        states: |gfx| only(gfx >= Gfx::Gfx908, 4),
        produces: exec_of_valu,
        consumes: Consumes::Result(|item, gfx, _| {
            is_matrix(item) || gfx == Gfx::Gfx908 && item.inst.op() == Op::AccVgprWrite
        }),
        does: "writes EXEC, on which the matrix instruction depends",
    },
    Row {
        rule: rule("nop-vgpr-mfma", "VALU writes a VGPR, a matrix instruction reads it", Certainty::B, LLVM_BOTH),
        states: |gfx| only(gfx >= Gfx::Gfx908, 2),
        produces: |item, gfx| {
            // Of gfx908's AccVGPRs there are other rows, and on gfx90a one of dot products.
            let old = gfx == Gfx::Gfx908;
            let mut spans = results_of(is_other_valu(item) && (old || !is_dot(item)), item);
            spans.retain(|span| !old || span.first < AGPR);
            spans
        },
        consumes: Consumes::Result(|item, gfx, reg| {
            let takes = is_matrix(item) || gfx == Gfx::Gfx908 && item.inst.op() == Op::AccVgprWrite;
            takes && item.uses.reads(reg)
        }),
        does: "writes a vector register that the matrix instruction reads",
    },
    Row {
        rule: rule("nop-mfma-c", "a matrix instruction writes registers, another one reads a part of them as C", Certainty::B, LLVM_BOTH),
        states: |gfx| match gfx {
            Gfx::Gfx908 => Some(2),
            _ => only(gfx >= Gfx::Gfx90a, 17),
        },
        produces: matrix_result,
        consumes: Consumes::Pair(result_to_c),
        does: "writes registers of which the matrix instruction reads some as C",
    },
    Row {
        rule: rule("nop-mfma-a-b", "a matrix instruction writes registers, another one reads them as A or B", Certainty::B, LLVM_BOTH),
        states: |gfx| match gfx {
            Gfx::Gfx908 => Some(4),
            _ => only(gfx >= Gfx::Gfx90a, 19),
        },
        produces: matrix_result,
        consumes: Consumes::Pair(result_to_a_b),
        does: "writes registers that the matrix instruction reads as A or B",
    },
    Row {
        rule: rule("nop-mfma-read", "a matrix instruction writes registers, VALU (gfx908: v_accvgpr_read), memory or an export reads them", Certainty::B, LLVM_BOTH),
        states: |gfx| match gfx {
            Gfx::Gfx908 => Some(18),
            _ => only(gfx >= Gfx::Gfx90a, 19),
        },
        produces: matrix_result,
        consumes: Consumes::Pair(result_to_read),
        does: "writes registers that are read",
    },
    Row {
        rule: rule("nop-mfma-write", "a matrix instruction writes registers, VALU (gfx908: v_accvgpr_write) writes them", Certainty::B, LLVM_BOTH),
        states: |gfx| match gfx {
            Gfx::Gfx908 => Some(15),
            _ => only(gfx >= Gfx::Gfx90a, 19),
        },
        produces: matrix_result,
        consumes: Consumes::Pair(result_to_write),
        does: "writes registers that are written again",
    },
    Row {
        rule: rule("nop-mfma-c-write", "a matrix instruction reads C, VALU (gfx908: v_accvgpr_write) overwrites it", Certainty::B, LLVM_BOTH),
        states: |gfx| match gfx {
            Gfx::Gfx908 => Some(13),
            _ => only(gfx >= Gfx::Gfx90a, 15),
        },
        produces: |item, gfx| match is_matrix(item) && match gfx {
            Gfx::Gfx908 => true,
            _ if gfx >= Gfx::Gfx942 => is_narrow(item),
            _ => !is_f64(item),
        } {
            true => addend(item).into_iter().collect(),
            false => vec![],
        },
        consumes: Consumes::Pair(c_to_write),
        does: "still reads C, which is overwritten",
    },
    Row {
        rule: rule("nop-accvgpr-mfma", "v_accvgpr_write writes an AccVGPR, a matrix instruction or v_accvgpr_read reads it", Certainty::B, LLVM_908),
        states: |gfx| only(gfx == Gfx::Gfx908, 3),
        produces: |item, _| results_of(item.inst.op() == Op::AccVgprWrite, item),
        consumes: Consumes::Pair(moved_to_matrix),
        does: "writes an AccVGPR that is read",
    },
    Row {
        rule: rule("nop-accvgpr-memory", "v_accvgpr_read writes a VGPR, memory reads it", Certainty::B, "LLVM checkMAILdStHazards"),
        states: |gfx| only(gfx == Gfx::Gfx908, 2),
        produces: |item, _| results_of(item.inst.op() == Op::AccVgprRead, item),
        consumes: Consumes::Result(|item, _, reg| is_memory(item) && item.uses.reads(reg)),
        does: "writes a vector register that the memory access reads",
    },
    Row {
        rule: rule("nop-vgpr-memory", "VALU writes a VGPR, memory reads it, and between them is v_accvgpr_read or v_accvgpr_write (gfx908), a matrix instruction of f64 (gfx90a, gfx942)", Certainty::B, "LLVM checkMAILdStHazards, checkMAIVALUHazards"),
        states: |gfx| only(gfx >= Gfx::Gfx908, 2),
        produces: |item, _| results_of(is_other_valu(item) && !is_move(item), item),
        consumes: Consumes::Behind(
            |item, gfx| if gfx == Gfx::Gfx908 { is_move(item) } else { is_f64(item) },
            |item, _, reg| is_memory(item) && item.uses.reads(reg),
        ),
        does: "writes a vector register that the memory access reads behind a matrix instruction or a move",
    },
    Row {
        rule: rule("nop-mfma-fma", "a matrix instruction of f64, v_fma_f64 or v_fmac_f64 follows", Certainty::B, LLVM_90A),
        states: |gfx| only(gfx >= Gfx::Gfx90a, 2),
        produces: |item, _| match is_f64(item) {
            true => vec![ONE],
            false => vec![],
        },
        consumes: Consumes::Result(|item, _, _| {
            matches!(item.inst.op(), Op::Fma | Op::Fmac) && item.inst.dst_ty(0) == Ty::F64
        }),
        does: "multiplies matrices of f64, which v_fma_f64 must not follow at once",
    },
    Row {
        rule: rule("nop-dot", "v_dot writes a VGPR, another instruction uses it, or the same one as A or B", Certainty::B, LLVM_90A),
        states: |gfx| only(gfx >= Gfx::Gfx90a, 3),
        produces: |item, gfx| match is_dot(item) {
            true => vectors_of_valu(item, gfx),
            false => vec![],
        },
        consumes: Consumes::Pair(dot_to_use),
        does: "writes a vector register that is used",
    },
];
