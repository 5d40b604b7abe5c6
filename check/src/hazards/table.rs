//! The rules of required independent instructions, one row each, by the manuals' sections on "manually
//! inserted wait states" and LLVM's hazard recognizer.

use frontend::inst::{EXEC_HI, EXEC_LO, M0, Sel, Special, VCC_HI, VCC_LO};
use frontend::op::{BranchIf, Hint};
use frontend::{Effects, Encoding, Gfx, Inst, Op, Operand, Ty};

use super::row::{
    Consumes, ONE, Row, exec_of_valu, only, rule, scalars, scalars_of_valu, vectors_of_valu,
};
use crate::cfg::Item;
use crate::finding::Certainty;
use frontend::registers::{
    Reg, Span, is_gws, is_salu, is_store, is_valu, is_vmem, source_count, span,
};
use frontend::waits::data;

fn m0_of_salu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_salu(&item.inst) && item.uses.writes(Reg::from(M0)) {
        true => vec![ONE],
        false => vec![],
    }
}

/// The hardware register of `s_setreg` and `s_getreg`.
fn hwreg(inst: &Inst) -> Option<(u16, u32, u32)> {
    let field = inst.src.iter().find_map(|source| match source {
        Operand::Imm(field) => Some(*field as u32 & 0xffff),
        _ => None,
    })?;
    Some(((field & 63) as u16, field >> 6 & 31, (field >> 11 & 31) + 1))
}

const MODE: u16 = 1;
const TRAPSTS: u16 = 3;
const VSKIP_BIT: u32 = 28;

fn set_register(item: &Item, _: Gfx) -> Vec<Span> {
    match (item.inst.op(), hwreg(&item.inst)) {
        (Op::SetReg, Some((first, ..))) => vec![Span { first, count: 1 }],
        _ => vec![],
    }
}

/// Does VALU read the register as a constant, not lane by lane as a carry or a condition?
fn read_as_constant(item: &Item, gfx: Gfx, reg: Reg) -> bool {
    let inst = &item.inst;
    let constant = |(i, &source): (usize, &Operand)| {
        let mask = inst.desc.src.get(i) == Some(&Ty::Mask);
        !mask && span(source, source_count(inst, gfx, i)).is_some_and(|span| span.has(reg))
    };
    is_valu(inst) && inst.src.iter().enumerate().any(constant)
}

fn read_by_memory(item: &Item, _: Gfx, reg: Reg) -> bool {
    is_vmem(&item.inst) && item.uses.reads(reg)
}

fn sends_or_gds(item: &Item, _: Gfx, _: Reg) -> bool {
    let inst = &item.inst;
    let gds = inst.desc.encoding == Encoding::Ds && (inst.mem.gds || is_gws(inst));
    gds || matches!(inst.op(), Op::Sendmsg | Op::Hint(Hint::TtraceData))
}

fn is_transcendental(op: Op) -> bool {
    let legacy = matches!(op, Op::ExpLegacy | Op::LogLegacy);
    let reciprocal = matches!(op, Op::Rcp | Op::RcpIflag | Op::Rsq | Op::Sqrt);
    legacy || reciprocal || matches!(op, Op::Exp | Op::Log | Op::Sin | Op::Cos)
}

/// Does SDWA or OP_SEL place the result elsewhere than at bit 0?
fn is_placed(inst: &Inst) -> bool {
    let sdwa = inst
        .mods
        .sdwa
        .is_some_and(|sdwa| sdwa.dst_sel != Sel::Dword);
    sdwa || inst.mods.op_sel & inst.desc.op_sel_of_d() != 0
}

/// Does VALU read the vector register as a source, not to keep a part of it?
fn is_source(item: &Item, gfx: Gfx, reg: Reg) -> bool {
    let inst = &item.inst;
    let sums =
        inst.desc.effects.has(Effects::READS_D) && item.uses.keeps.iter().any(|span| span.has(reg));
    sums || read_as_constant(item, gfx, reg)
}

/// Does an access to a lane select it by the register?
fn selects_lane(item: &Item, reg: Reg) -> bool {
    matches!(item.inst.op(), Op::ReadLane | Op::WriteLane)
        && span(item.inst.src[1], 1).is_some_and(|span| span.has(reg))
}

/// Is a lane of the register read?
fn reads_lane(item: &Item, _: Gfx, reg: Reg) -> bool {
    matches!(item.inst.op(), Op::ReadLane | Op::ReadFirstLane)
        && span(item.inst.src[0], 1).is_some_and(|span| span.has(reg))
}

/// The rows.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    Row {
        rule: rule("nop-sgpr-smrd", "VALU writes an SGPR, SMRD reads it", Certainty::A, "SI ISA; LLVM hasSMRDReadVALUDefHazard; ACO"),
        states: |gfx| only(gfx == Gfx::Gfx600, 4),
        produces: scalars_of_valu,
        consumes: Consumes::Result(|item, _, reg| item.inst.desc.encoding == Encoding::Smem && item.uses.reads(reg)),
        does: "writes a scalar register that the scalar load reads",
    },
    Row {
        rule: rule("nop-descriptor-smrd", "SALU writes a buffer descriptor, s_buffer_load reads it", Certainty::B, "LLVM checkSMRDHazards; ACO"),
        states: |gfx| only(gfx == Gfx::Gfx600, 4),
        produces: |item, _| match is_salu(&item.inst) {
            true => scalars(&item.uses.writes),
            false => vec![],
        },
        consumes: Consumes::Result(|item, _, reg| {
            use frontend::op::Space::ScalarBuffer;
            matches!(item.inst.op(), Op::Load(ScalarBuffer, _))
                && span(item.inst.src[0], 4).is_some_and(|span| span.has(reg))
        }),
        does: "writes the buffer descriptor of the scalar load",
    },
    Row {
        rule: rule("nop-sgpr-vmem", "VALU writes an SGPR, VMEM reads it", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM hasVMEMReadSGPRVALUDefHazard; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 5),
        produces: scalars_of_valu,
        consumes: Consumes::Result(read_by_memory),
        does: "writes a scalar register that the memory access reads",
    },
    Row {
        rule: rule("nop-sgpr-vmem-old", "VALU writes an SGPR, VMEM reads it (gfx6, gfx7)", Certainty::C, "ACO; LLVM requires it of gfx8 and gfx9 only"),
        states: |gfx| only(gfx.is_gfx6_7(), 5),
        produces: scalars_of_valu,
        consumes: Consumes::Result(read_by_memory),
        does: "writes a scalar register that the memory access reads",
    },
    Row {
        rule: rule("nop-lane-select", "VALU writes an SGPR, v_readlane or v_writelane selects the lane by it", Certainty::A, "ISA manuals 4.5; LLVM checkRWLaneHazards; ACO"),
        states: |_| Some(4),
        produces: scalars_of_valu,
        consumes: Consumes::Result(|item, _, reg| selects_lane(item, reg)),
        does: "writes the scalar register that selects the lane",
    },
    Row {
        rule: rule("nop-vcc-div-fmas", "VALU writes VCC, v_div_fmas reads it", Certainty::A, "ISA manuals 4.5; LLVM checkDivFMasHazards; ACO"),
        states: |_| Some(4),
        produces: |item, gfx| {
            let vcc = [Reg::from(VCC_LO), Reg::from(VCC_HI)];
            let mut spans = scalars_of_valu(item, gfx);
            spans.retain(|span| vcc.iter().any(|&reg| span.has(reg)));
            spans
        },
        consumes: Consumes::Result(|item, _, reg| {
            item.inst.op() == Op::DivFmas && (reg == Reg::from(VCC_LO) || reg == Reg::from(VCC_HI))
        }),
        does: "writes VCC, which the division reads",
    },
    Row {
        rule: rule("nop-vgpr-dpp", "VALU writes a VGPR, DPP reads it", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM checkDPPHazards; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 2),
        produces: vectors_of_valu,
        consumes: Consumes::Result(|item, gfx, reg| {
            let source = span(item.inst.src[0], source_count(&item.inst, gfx, 0));
            item.dpp().is_some() && source.is_some_and(|span| span.has(reg))
        }),
        does: "writes a vector register that DPP reads from another lane",
    },
    Row {
        rule: rule("nop-exec-dpp", "VALU writes EXEC, a DPP instruction follows", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM checkDPPHazards; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 5),
        produces: exec_of_valu,
        consumes: Consumes::Result(|item, _, _| item.dpp().is_some()),
        does: "writes EXEC, on which the DPP instruction depends",
    },
    Row {
        rule: rule("nop-store-data", "a store of more than 64 bits, VALU overwrites its data", Certainty::A, "ISA manuals 4.5; LLVM has12DWordStoreHazard; ACO"),
        states: |gfx| match gfx {
            Gfx::Gfx600 => None,
            Gfx::Gfx942 => Some(2),
            _ => Some(1),
        },
        produces: |item, _| {
            let inst = &item.inst;
            // A store with an offset in an SGPR reads its data earlier.
            let buffer = matches!(inst.desc.encoding, Encoding::Mubuf | Encoding::Mtbuf);
            let slow = !buffer || !matches!(inst.src[2], Operand::Sgpr(_));
            let image = inst.desc.encoding == Encoding::Mimg && !inst.mem.r128;
            let stores = is_store(inst) || matches!(inst.op(), Op::Atomic(..));
            match is_vmem(inst) && stores && slow && !image {
                true => data(inst, &item.uses).filter(|span| span.count > 2).collect(),
                false => vec![],
            }
        },
        consumes: Consumes::Result(|item, _, reg| is_valu(&item.inst) && item.uses.writes(reg)),
        does: "still reads its data, which the next instruction overwrites",
    },
    Row {
        rule: rule("nop-setreg-getreg", "s_setreg, s_getreg of the same register", Certainty::A, "ISA manuals 4.5; LLVM checkGetRegHazards; ACO"),
        states: |_| Some(2),
        produces: set_register,
        consumes: Consumes::Result(|item, _, reg| {
            item.inst.op() == Op::GetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == reg)
        }),
        does: "writes the hardware register that is read",
    },
    Row {
        rule: rule("nop-setreg-setreg", "s_setreg, s_setreg of the same register", Certainty::A, "ISA manuals 4.5; LLVM getSetRegWaitStates; ACO"),
        states: |gfx| Some(if gfx.is_gfx6_7() { 1 } else { 2 }),
        produces: set_register,
        consumes: Consumes::Result(|item, _, reg| {
            item.inst.op() == Op::SetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == reg)
        }),
        does: "writes the hardware register that is written again",
    },
    Row {
        rule: rule("nop-trapsts-rfe", "s_setreg of TRAPSTS, s_rfe", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM hasRFEHazards; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 1),
        produces: |item, gfx| {
            let mut spans = set_register(item, gfx);
            spans.retain(|span| span.first == TRAPSTS);
            spans
        },
        consumes: Consumes::Result(|item, _, _| matches!(item.inst.op(), Op::Rfe | Op::RfeRestore)),
        does: "writes TRAPSTS, on which the return depends",
    },
    Row {
        rule: rule("nop-vskip", "s_setreg of MODE.vskip, a vector instruction", Certainty::B, "ISA manuals 4.5; ACO"),
        states: |_| Some(2),
        produces: |item, _| match (item.inst.op(), hwreg(&item.inst)) {
            (Op::SetReg, Some((MODE, offset, size)))
                if (offset..offset + size).contains(&VSKIP_BIT) =>
            {
                vec![ONE]
            }
            _ => vec![],
        },
        consumes: Consumes::Result(|item, _, _| !is_salu(&item.inst) && item.inst.desc.encoding != Encoding::Smem),
        does: "sets whether vector instructions are skipped",
    },
    Row {
        rule: rule("nop-setvskip-getreg", "s_setvskip, s_getreg of MODE", Certainty::B, "ISA manuals 4.5; ACO"),
        states: |_| Some(2),
        produces: |item, _| match item.inst.op() {
            Op::SetVskip => vec![ONE],
            _ => vec![],
        },
        consumes: Consumes::Result(|item, _, _| {
            item.inst.op() == Op::GetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == MODE)
        }),
        does: "writes MODE, which is read",
    },
    Row {
        rule: rule("nop-vccz-data", "VALU writes VCC or EXEC, VALU reads VCCZ or EXECZ as data", Certainty::B, "ISA manuals 4.5; ACO"),
        states: |_| Some(5),
        produces: |item, gfx| {
            let mut spans = exec_of_valu(item, gfx);
            for span in scalars_of_valu(item, gfx) {
                if span.has(Reg::from(VCC_LO)) || span.has(Reg::from(VCC_HI)) {
                    spans.push(Span { first: 1, count: 1 });
                }
            }
            spans
        },
        consumes: Consumes::Result(|item, _, reg| {
            let wanted = if reg == 0 { Special::Execz } else { Special::Vccz };
            is_valu(&item.inst) && item.inst.src.contains(&Operand::Special(wanted))
        }),
        does: "writes the mask of which VALU reads whether it is zero",
    },
    Row {
        rule: rule("nop-m0-message", "SALU writes M0, GDS, s_sendmsg or s_ttracedata follows", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM hasReadM0SendMsgHazard; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 1),
        produces: m0_of_salu,
        consumes: Consumes::Result(sends_or_gds),
        does: "writes M0, which the next instruction uses",
    },
    Row {
        rule: rule("nop-m0-message-old", "SALU writes M0, GDS, s_sendmsg or s_ttracedata follows (gfx6, gfx7)", Certainty::C, "ACO; LLVM requires it of gfx8 and gfx9 only"),
        states: |gfx| only(gfx.is_gfx6_7(), 1),
        produces: m0_of_salu,
        consumes: Consumes::Result(sends_or_gds),
        does: "writes M0, which the next instruction uses",
    },
    Row {
        rule: rule("nop-m0-indirect", "SALU writes M0, an instruction that uses it as an index or an LDS address follows", Certainty::A, "Vega ISA 4.5; LLVM hasReadM0MovRelInterpHazard, hasReadM0LdsDmaHazard; ACO"),
        states: |gfx| only(gfx.is_gfx9(), 1),
        produces: m0_of_salu,
        consumes: Consumes::Result(|item, _, _| {
            let inst = &item.inst;
            let direct = inst.src.contains(&Operand::Special(Special::LdsDirect));
            let relative = frontend::registers::is_relative(inst.op());
            let tid = matches!(inst.op(), Op::ReadAddTid | Op::WriteAddTid);
            let loads = is_vmem(inst) && inst.mem.lds;
            direct || relative || tid || loads || inst.desc.encoding == Encoding::Vintrp
        }),
        does: "writes M0, which the next instruction uses",
    },
    Row {
        rule: rule("nop-vcc-number", "VALU writes VCC, VALU reads it as a constant, one of them by its name, the other by the number of the SGPR that holds it", Certainty::B, "Vega ISA 4.5"),
        states: |gfx| only(gfx.is_gfx9(), 1),
        produces: scalars_of_valu,
        consumes: Consumes::OtherName(read_as_constant),
        does: "writes VCC, by its name or by the number of the SGPR that holds it, and it is read by the other one",
    },
    Row {
        rule: rule("nop-vcc-number-branch", "SALU writes VCC by the number of the SGPR that holds it, a branch on VCCZ follows", Certainty::B, "Vega ISA 3.9"),
        states: |gfx| only(gfx.is_gfx9(), 1),
        produces: |item, _| match is_salu(&item.inst) {
            true => scalars(&item.uses.writes),
            false => vec![],
        },
        consumes: Consumes::OtherName(|item, _, reg| {
            let branches = matches!(item.inst.op(), Op::Branch(BranchIf::Vccz | BranchIf::Vccnz));
            branches && item.uses.reads(reg)
        }),
        does: "writes VCC by the number of the SGPR that holds it, and the branch depends on VCCZ",
    },
    Row {
        rule: rule("nop-interp-lane", "v_interp writes a VGPR, v_readlane or v_readfirstlane reads it", Certainty::B, "ACO (an erratum that AMD has confirmed)"),
        states: |gfx| only(gfx == Gfx::Gfx600, 1),
        produces: |item, gfx| match item.inst.desc.encoding {
            Encoding::Vintrp => vectors_of_valu(item, gfx),
            _ => vec![],
        },
        consumes: Consumes::Result(reads_lane),
        does: "writes a vector register of which a lane is read",
    },
    Row {
        rule: rule("nop-vgpr-lane", "VALU writes a VGPR, v_readlane or v_readfirstlane reads it", Certainty::A, "CDNA3 ISA 4.5; LLVM hasVDecCoExecHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 1),
        produces: vectors_of_valu,
        consumes: Consumes::Result(reads_lane),
        does: "writes a vector register of which a lane is read",
    },
    Row {
        rule: rule("nop-exec-lane", "VALU writes EXEC, v_readlane, v_readfirstlane or v_writelane follows", Certainty::A, "CDNA3 ISA 4.5; LLVM hasVDecCoExecHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 4),
        produces: exec_of_valu,
        consumes: Consumes::Result(|item, _, _| {
            matches!(item.inst.op(), Op::ReadLane | Op::ReadFirstLane | Op::WriteLane)
        }),
        does: "writes EXEC before the access to a lane",
    },
    Row {
        rule: rule("nop-exec-constant", "VALU writes EXEC, VALU reads it as a constant", Certainty::A, "CDNA3 ISA 4.5; LLVM hasVDecCoExecHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 2),
        produces: exec_of_valu,
        consumes: Consumes::Result(|item, gfx, _| {
            [EXEC_LO, EXEC_HI].iter().any(|&reg| read_as_constant(item, gfx, Reg::from(reg)))
        }),
        does: "writes EXEC, which is read as a constant",
    },
    Row {
        rule: rule("nop-sgpr-constant", "VALU writes an SGPR or VCC, VALU reads it as a constant", Certainty::A, "CDNA3 ISA 4.5; LLVM hasVDecCoExecHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 2),
        produces: scalars_of_valu,
        consumes: Consumes::Result(|item, gfx, reg| {
            !selects_lane(item, reg) && read_as_constant(item, gfx, reg)
        }),
        does: "writes a scalar register that is read as a constant",
    },
    Row {
        rule: rule("nop-trans-result", "VALU writes a VGPR by a transcendental operation, another one reads it", Certainty::A, "CDNA3 ISA 4.5; LLVM hasTransForwardingHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 1),
        produces: |item, gfx| match is_transcendental(item.inst.op()) {
            true => vectors_of_valu(item, gfx),
            false => vec![],
        },
        consumes: Consumes::Result(|item, gfx, reg| {
            !is_transcendental(item.inst.op()) && is_source(item, gfx, reg)
        }),
        does: "writes a vector register by a transcendental operation, and one of another kind reads it",
    },
    Row {
        rule: rule("nop-placed-result", "SDWA or OP_SEL moves a result within its VGPR, VALU reads it", Certainty::A, "CDNA3 ISA 4.5; LLVM hasDstSelForwardingHazard"),
        states: |gfx| only(gfx == Gfx::Gfx942, 1),
        produces: |item, gfx| match is_placed(&item.inst) {
            true => vectors_of_valu(item, gfx),
            false => vec![],
        },
        consumes: Consumes::Result(is_source),
        does: "writes a part of a vector register that is read",
    },
];
