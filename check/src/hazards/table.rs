//! The rules of required independent instructions, one row each, by the manuals' sections on "manually
//! inserted wait states" and LLVM's hazard recognizer.

use frontend::inst::{EXEC_HI, EXEC_LO, M0, Special, VCC_HI, VCC_LO};
use frontend::op::Hint;
use frontend::{Encoding, Gfx, Inst, Op, Operand};

use crate::cfg::Item;
use crate::finding::{Certainty, Rule};
use frontend::registers::{
    AGPR, Reg, SCC, Span, VGPR, is_gws, is_salu, is_store, is_valu, is_vmem, span,
};
use frontend::waits::data;

/// A rule: between an instruction that produces something and one that consumes it there are others.
pub(super) struct Row {
    pub(super) rule: Rule,
    /// How many, if the rule holds for the target.
    pub(super) states: fn(Gfx) -> Option<u8>,
    /// What the instruction produces: registers, or numbers of other things.
    pub(super) produces: fn(&Item, Gfx) -> Vec<Span>,
    /// Does it consume one of them?
    pub(super) consumes: fn(&Item, Gfx, Reg) -> bool,
    /// The sentence: `PRODUCER ..., which CONSUMER ...`.
    pub(super) does: &'static str,
}

const fn rule(
    id: &'static str,
    title: &'static str,
    certainty: Certainty,
    source: &'static str,
) -> Rule {
    Rule {
        id,
        title,
        certainty,
        source,
    }
}

fn only(holds: bool, n: u8) -> Option<u8> {
    holds.then_some(n)
}

/// What the rows about no register in particular produce.
const ONE: Span = Span { first: 0, count: 1 };

fn scalars_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) {
        true => scalars(&item.uses.writes),
        false => vec![],
    }
}

fn scalars(spans: &[Span]) -> Vec<Span> {
    let exec = Reg::from(EXEC_LO);
    let found = spans
        .iter()
        .filter(|span| span.first < SCC && span.first != exec);
    found.copied().collect()
}

fn vectors_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) {
        true => vectors(&item.uses.writes),
        false => vec![],
    }
}

fn vectors(spans: &[Span]) -> Vec<Span> {
    let found = spans.iter().filter(|span| span.first >= VGPR);
    found.copied().collect()
}

fn writes_exec(item: &Item) -> bool {
    item.uses.writes(Reg::from(EXEC_LO)) || item.uses.writes(Reg::from(EXEC_HI))
}

fn exec_of_valu(item: &Item, _: Gfx) -> Vec<Span> {
    match is_valu(&item.inst) && writes_exec(item) {
        true => vec![ONE],
        false => vec![],
    }
}

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

fn is_dot(inst: &Inst) -> bool {
    matches!(
        inst.op(),
        Op::Dot2 | Op::Dot4 | Op::Dot8 | Op::Dot2c | Op::Dot4c | Op::Dot8c
    )
}

/// The rows.
#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    Row {
        rule: rule("nop-sgpr-smrd", "VALU writes an SGPR, SMRD reads it", Certainty::A, "SI ISA; LLVM hasSMRDReadVALUDefHazard; ACO"),
        states: |gfx| only(gfx == Gfx::Gfx600, 4),
        produces: scalars_of_valu,
        consumes: |item, _, reg| item.inst.desc.encoding == Encoding::Smem && item.uses.reads(reg),
        does: "writes a scalar register that the scalar load reads",
    },
    Row {
        rule: rule("nop-descriptor-smrd", "SALU writes a buffer descriptor, s_buffer_load reads it", Certainty::B, "LLVM checkSMRDHazards; ACO"),
        states: |gfx| only(gfx == Gfx::Gfx600, 4),
        produces: |item, _| match is_salu(&item.inst) {
            true => scalars(&item.uses.writes),
            false => vec![],
        },
        consumes: |item, _, reg| {
            use frontend::op::Space::ScalarBuffer;
            matches!(item.inst.op(), Op::Load(ScalarBuffer, _))
                && span(item.inst.src[0], 4).is_some_and(|span| span.has(reg))
        },
        does: "writes the buffer descriptor of the scalar load",
    },
    Row {
        rule: rule("nop-sgpr-vmem", "VALU writes an SGPR, VMEM reads it", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM hasVMEMReadSGPRVALUDefHazard; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 5),
        produces: scalars_of_valu,
        consumes: |item, _, reg| is_vmem(&item.inst) && item.uses.reads(reg),
        does: "writes a scalar register that the memory access reads",
    },
    Row {
        rule: rule("nop-lane-select", "VALU writes an SGPR, v_readlane or v_writelane selects the lane by it", Certainty::A, "ISA manuals 4.5; LLVM checkRWLaneHazards; ACO"),
        states: |_| Some(4),
        produces: scalars_of_valu,
        consumes: |item, _, reg| {
            matches!(item.inst.op(), Op::ReadLane | Op::WriteLane)
                && span(item.inst.src[1], 1).is_some_and(|span| span.has(reg))
        },
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
        consumes: |item, _, reg| {
            item.inst.op() == Op::DivFmas && (reg == Reg::from(VCC_LO) || reg == Reg::from(VCC_HI))
        },
        does: "writes VCC, which the division reads",
    },
    Row {
        rule: rule("nop-vgpr-dpp", "VALU writes a VGPR, DPP reads it", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM checkDPPHazards; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 2),
        produces: vectors_of_valu,
        consumes: |item, _, reg| {
            item.dpp().is_some() && span(item.inst.src[0], 1).is_some_and(|span| span.has(reg))
        },
        does: "writes a vector register that DPP reads from another lane",
    },
    Row {
        rule: rule("nop-exec-dpp", "VALU writes EXEC, a DPP instruction follows", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM checkDPPHazards; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 5),
        produces: exec_of_valu,
        consumes: |item, _, _| item.dpp().is_some(),
        does: "writes EXEC, on which the DPP instruction depends",
    },
    Row {
        rule: rule("nop-store-data", "a store of more than 64 bits, VALU overwrites its data", Certainty::A, "ISA manuals 4.5; LLVM has12DWordStoreHazard; ACO"),
        states: |gfx| only(gfx != Gfx::Gfx600, 1),
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
        consumes: |item, _, reg| is_valu(&item.inst) && item.uses.writes(reg),
        does: "still reads its data, which the next instruction overwrites",
    },
    Row {
        rule: rule("nop-setreg-getreg", "s_setreg, s_getreg of the same register", Certainty::A, "ISA manuals 4.5; LLVM checkGetRegHazards; ACO"),
        states: |_| Some(2),
        produces: set_register,
        consumes: |item, _, reg| {
            item.inst.op() == Op::GetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == reg)
        },
        does: "writes the hardware register that is read",
    },
    Row {
        rule: rule("nop-setreg-setreg", "s_setreg, s_setreg of the same register", Certainty::A, "ISA manuals 4.5; LLVM getSetRegWaitStates; ACO"),
        states: |gfx| Some(if gfx.is_gfx6_7() { 1 } else { 2 }),
        produces: set_register,
        consumes: |item, _, reg| {
            item.inst.op() == Op::SetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == reg)
        },
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
        consumes: |item, _, _| matches!(item.inst.op(), Op::Rfe | Op::RfeRestore),
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
        consumes: |item, _, _| !is_salu(&item.inst) && item.inst.desc.encoding != Encoding::Smem,
        does: "sets whether vector instructions are skipped",
    },
    Row {
        rule: rule("nop-setvskip-getreg", "s_setvskip, s_getreg of MODE", Certainty::B, "ISA manuals 4.5; ACO"),
        states: |_| Some(2),
        produces: |item, _| match item.inst.op() {
            Op::SetVskip => vec![ONE],
            _ => vec![],
        },
        consumes: |item, _, _| {
            item.inst.op() == Op::GetReg && hwreg(&item.inst).is_some_and(|(id, ..)| id == MODE)
        },
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
        consumes: |item, _, reg| {
            let wanted = if reg == 0 { Special::Execz } else { Special::Vccz };
            is_valu(&item.inst) && item.inst.src.contains(&Operand::Special(wanted))
        },
        does: "writes the mask of which VALU reads whether it is zero",
    },
    Row {
        rule: rule("nop-m0-message", "SALU writes M0, GDS, s_sendmsg or s_ttracedata follows", Certainty::A, "GCN3 and Vega ISA 4.5; LLVM hasReadM0SendMsgHazard; ACO"),
        states: |gfx| only(gfx.is_gfx8_up(), 1),
        produces: m0_of_salu,
        consumes: |item, _, _| {
            let inst = &item.inst;
            let gds = inst.desc.encoding == Encoding::Ds && (inst.mem.gds || is_gws(inst));
            gds || matches!(inst.op(), Op::Sendmsg | Op::Hint(Hint::TtraceData))
        },
        does: "writes M0, which the next instruction uses",
    },
    Row {
        rule: rule("nop-m0-indirect", "SALU writes M0, an instruction that uses it as an index or an LDS address follows", Certainty::A, "Vega ISA 4.5; LLVM hasReadM0MovRelInterpHazard, hasReadM0LdsDmaHazard; ACO"),
        states: |gfx| only(gfx.is_gfx9(), 1),
        produces: m0_of_salu,
        consumes: |item, _, _| {
            let inst = &item.inst;
            let direct = inst.src.contains(&Operand::Special(Special::LdsDirect));
            let relative = frontend::registers::is_relative(inst.op());
            let tid = matches!(inst.op(), Op::ReadAddTid | Op::WriteAddTid);
            let loads = is_vmem(inst) && inst.mem.lds;
            direct || relative || tid || loads || inst.desc.encoding == Encoding::Vintrp
        },
        does: "writes M0, which the next instruction uses",
    },
    Row {
        rule: rule("nop-interp-lane", "v_interp writes a VGPR, v_readlane or v_readfirstlane reads it", Certainty::B, "ACO (an erratum that AMD has confirmed)"),
        states: |gfx| only(gfx == Gfx::Gfx600, 1),
        produces: |item, gfx| match item.inst.desc.encoding {
            Encoding::Vintrp => vectors_of_valu(item, gfx),
            _ => vec![],
        },
        consumes: |item, _, reg| {
            matches!(item.inst.op(), Op::ReadLane | Op::ReadFirstLane) && item.uses.reads(reg)
        },
        does: "writes a vector register of which a lane is read",
    },
    Row {
        rule: rule("nop-dot", "v_dot writes a VGPR, another VALU instruction uses it", Certainty::B, "LLVM checkMAIHazards90A"),
        states: |gfx| only(gfx == Gfx::Gfx90a, 3),
        produces: |item, gfx| match is_dot(&item.inst) {
            true => vectors_of_valu(item, gfx),
            false => vec![],
        },
        consumes: |item, _, reg| {
            is_valu(&item.inst)
                && !is_dot(&item.inst)
                && (item.uses.reads(reg) || item.uses.writes(reg))
        },
        does: "writes a vector register that VALU uses",
    },
    Row {
        rule: rule("nop-exec-mfma", "VALU writes EXEC, a matrix instruction follows", Certainty::B, "LLVM checkMAIHazards908, checkMAIHazards90A"),
        states: |gfx| only(gfx >= Gfx::Gfx908, 4),
        produces: exec_of_valu,
        consumes: |item, gfx, _| {
            item.inst.op() == Op::Mfma
                || gfx == Gfx::Gfx908 && item.inst.op() == Op::AccVgprWrite
        },
        does: "writes EXEC, on which the matrix instruction depends",
    },
    Row {
        rule: rule("nop-vgpr-mfma", "VALU writes a VGPR, a matrix instruction reads it", Certainty::B, "LLVM checkMAIHazards908, checkMAIHazards90A"),
        states: |gfx| only(gfx >= Gfx::Gfx908, 2),
        produces: |item, gfx| match item.inst.op() {
            Op::Mfma | Op::AccVgprRead | Op::AccVgprWrite => vec![],
            _ => {
                let mut spans = vectors_of_valu(item, gfx);
                spans.retain(|span| span.first < AGPR);
                spans
            }
        },
        consumes: |item, gfx, reg| {
            let takes = item.inst.op() == Op::Mfma
                || gfx == Gfx::Gfx908 && item.inst.op() == Op::AccVgprWrite;
            takes && item.uses.reads(reg)
        },
        does: "writes a vector register that the matrix instruction reads",
    },
];
