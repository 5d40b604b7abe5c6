//! Sizes that the code object states against what instructions use: vector registers, LDS, scratch; pairs
//! of registers that must be aligned.

use frontend::op::{Data, Space};
use frontend::{Encoding, Gfx, Inst, Op, Operand, Ty};

use crate::cfg::{Code, Item, Kernel, Routine};
use crate::finding::{Certainty, Report, Rule};
use frontend::registers::{self, AGPR, Reg, VGPR, is_lds, space};

static VGPRS: Rule = Rule {
    id: "limit-vgprs",
    title: "a vector register is used that the kernel descriptor does not allocate",
    certainty: Certainty::A,
    source: "AMDGPUUsage, GRANULATED_WORKITEM_VGPR_COUNT",
};
static LDS: Rule = Rule {
    id: "limit-lds",
    title: "an LDS access lies behind the LDS that a workgroup can have",
    certainty: Certainty::A,
    source: "ISA manuals, LDS; AMDGPUUsage",
};
static LDS_STATED: Rule = Rule {
    id: "limit-lds-stated",
    title: "an LDS access lies behind the LDS that the code object states",
    certainty: Certainty::C,
    source: "AMDGPUUsage, group_segment_fixed_size; a launch may add to it",
};
static SCRATCH: Rule = Rule {
    id: "limit-scratch",
    title: "a scratch access lies behind the scratch that the code object states",
    certainty: Certainty::B,
    source: "AMDGPUUsage, private_segment_fixed_size",
};
static ALIGNED: Rule = Rule {
    id: "misaligned-pair",
    title: "several vector registers in a row begin with an even one",
    certainty: Certainty::A,
    source: "CDNA2 ISA; LLVM FeatureRequiresAlignedVGPRs",
};
static SCALARS: Rule = Rule {
    id: "misaligned-sgprs",
    title: "two scalar registers in a row begin with an even one, four and more with a multiple of four",
    certainty: Certainty::A,
    source: "Vega ISA 3.6.3; LLVM register classes",
};

static SHIFT: Rule = Rule {
    id: "shift-amount",
    title: "the amount of a 64-bit shift is not in the last vector register that is allocated",
    certainty: Certainty::B,
    source: "LLVM fixShift64HighRegBug (a defect of gfx90a)",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[
    &VGPRS,
    &LDS,
    &LDS_STATED,
    &SCRATCH,
    &ALIGNED,
    &SCALARS,
    &SHIFT,
];

/// Vector registers are allocated in such groups on gfx90a.
const VGPR_GROUP: Reg = 8;

/// The vector register of the amount of a 64-bit shift.
fn shift_amount(inst: &Inst) -> Option<Reg> {
    let shifts = matches!(inst.op(), Op::Shl | Op::Lshr | Op::Ashr);
    if !shifts || !registers::is_valu(inst) || inst.dst_ty(0).bits() != 64 {
        return None;
    }
    let amount = inst.desc.src.iter().position(|ty| ty.bits() == 32)?;
    let first = registers::span(inst.src[amount], 1)?.first;
    (VGPR..AGPR).contains(&first).then_some(first)
}

/// gfx90a: is it the last of its group, and the next one not used by the routine?
fn shift(code: &Code, at: usize, report: &mut Report) {
    let Some(amount) = shift_amount(&code.items[at].inst) else {
        return;
    };
    let next = amount + 1;
    if !(next - VGPR).is_multiple_of(VGPR_GROUP) {
        return;
    }
    let uses = |item: &Item| item.uses.reads(next) || item.uses.writes(next);
    if next == AGPR || !code.items.iter().any(uses) {
        let name = registers::name(amount, code.gfx);
        let why = format!(
            "{name} may be the last vector register, from which gfx90a does not read the amount"
        );
        report.add(&SHIFT, at, None, why);
    }
}

/// Bytes from the offset on, for a lane.
fn bytes(inst: &Inst) -> u64 {
    let of = |types: &[Ty], i: usize| types.get(i).map_or(0, |ty| u64::from(ty.bits()) / 8);
    match inst.op() {
        Op::Load(_, data) | Op::Store(_, data) => match data {
            Data::Dwords(n) => 4 * u64::from(n),
            Data::U8 | Data::I8 | Data::D16U8 | Data::D16I8 | Data::D16HiU8 | Data::D16HiI8 => 1,
            Data::D16HiB8 => 1,
            Data::U16 | Data::I16 | Data::D16 | Data::D16Hi => 2,
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => 1,
        },
        Op::Atomic(Space::Lds, _) => of(inst.desc.src, 1),
        _ => 1,
    }
}

fn lds(item: &Item, kernel: &Kernel, gfx: Gfx, at: usize, report: &mut Report) {
    let inst = &item.inst;
    // Only where the offset is one from an unsigned address.
    if !is_lds(inst) || space(inst) != Some(Space::Lds) {
        return;
    }
    let end = inst.mem.offset as u64 + bytes(inst);
    let limit = u64::from(gfx.lds_limit());
    let stated = kernel.lds.map(|bytes| u64::from(gfx.lds_allocated(bytes)));
    if end > limit {
        let why =
            format!("it ends {end} bytes behind its address, of at most {limit} bytes of LDS");
        report.add(&LDS, at, None, why);
    } else if let Some(stated) = stated.filter(|&stated| end > stated) {
        let why = format!("it ends {end} bytes behind its address, of {stated} bytes of LDS");
        report.add(&LDS_STATED, at, None, why);
    }
}

fn scratch(item: &Item, kernel: &Kernel, at: usize, report: &mut Report) {
    let inst = &item.inst;
    let Some(stated) = kernel.scratch else { return };
    let alone = inst.desc.encoding == Encoding::Scratch
        && inst.src[0] == Operand::None
        && matches!(inst.src[2], Operand::None | Operand::Inline { .. });
    if !alone {
        return;
    }
    let end = inst.mem.offset + bytes(inst) as i64;
    if inst.mem.offset < 0 || end > i64::from(stated) {
        let why = format!(
            "it is at offset {} of {stated} bytes of scratch",
            inst.mem.offset
        );
        report.add(&SCRATCH, at, None, why);
    }
}

pub(crate) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    for (at, item) in code.items.iter().enumerate() {
        if !code.is_reached(at) || item.removed {
            continue;
        }
        let spans = || item.uses.reads.iter().chain(&item.uses.writes);
        if let Some(kernel) = &routine.kernel {
            let end = VGPR + kernel.vgprs.min(256) as u16;
            let vector = spans().filter(|span| (VGPR..AGPR).contains(&span.first));
            if let Some(last) = vector.map(|span| span.first + span.count - 1).max()
                && last >= end
            {
                let name = registers::name(last, code.gfx);
                let why = format!("{name} is used, and {} are allocated", kernel.vgprs);
                report.add(&VGPRS, at, None, why);
            }
            lds(item, kernel, code.gfx, at, report);
            scratch(item, kernel, at, report);
        }
        if let Some(first) = item.misaligned {
            let name = registers::name(first, code.gfx);
            let why = format!(
                "a group of scalar registers begins with {name}, which hardware rounds down"
            );
            report.add(&SCALARS, at, None, why);
        }
        if code.gfx == Gfx::Gfx90a {
            shift(code, at, report);
        }
        if code.gfx.aligns_vgprs() {
            let odd = |span: &&registers::Span| {
                span.first >= VGPR && span.count > 1 && !span.first.is_multiple_of(2)
            };
            if let Some(span) = spans().find(odd) {
                let name = registers::name(span.first, code.gfx);
                let why = format!("{} registers begin with {name}, an odd one", span.count);
                report.add(&ALIGNED, at, None, why);
            }
        }
    }
}
