//! The registers that an instruction reads and writes, by dword, those that it does not name included.

use crate::desc::InstDesc;
use crate::inst::{EXEC_LO, M0, VCC_LO};
use crate::op::{ImageOp, Space};
use crate::{Effects, Encoding, Gfx, Inst, Op, Operand, Scc};

/// A register: 0 to 127 are the scalar file by encoding, 128 is SCC, VGPRs begin at 256, accumulation
/// registers at 512.
pub type Reg = u16;

/// SCC.
pub const SCC: Reg = 128;
/// v0.
pub const VGPR: Reg = 256;
/// a0.
pub const AGPR: Reg = 512;
/// Behind the last one.
pub const END: Reg = 768;

/// Registers in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first.
    pub first: Reg,
    /// How many.
    pub count: u16,
}

impl Span {
    /// Is the register among them?
    pub fn has(self, reg: Reg) -> bool {
        reg.wrapping_sub(self.first) < self.count
    }

    /// Has it a register in common with the other one?
    pub fn overlaps(self, other: Span) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }

    /// Each of them.
    pub fn each(self) -> impl Iterator<Item = Reg> {
        self.first..self.first + self.count
    }
}

/// What an instruction reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Named or implied sources; EXEC only where it is data.
    pub reads: Vec<Span>,
    /// Results. Vector registers are written in the active lanes only.
    pub writes: Vec<Span>,
    /// The destination is read since a part of it stays.
    pub keeps: Vec<Span>,
}

impl Uses {
    /// Those of an instruction.
    pub fn of(inst: &Inst, gfx: Gfx) -> Uses {
        let mut uses = Uses::default();
        let effects = inst.desc.effects;
        for (i, &operand) in inst.src.iter().enumerate() {
            let count = source_count(inst, gfx, i);
            uses.reads.extend(span(operand, count));
        }
        for (i, &operand) in inst.dst.iter().enumerate() {
            let Some(found) = span(operand, destination_count(inst, gfx, i)) else {
                continue;
            };
            uses.writes.push(found);
            if i == 0 && inst.reads_d(gfx) {
                uses.keeps.push(found);
            }
        }
        if inst.op() == Op::Swap {
            // Both sides are read and written.
            let (d, s) = (span(inst.dst[0], 1), span(inst.src[0], 1));
            uses.reads.extend(d);
            uses.writes.extend(s);
        }
        let one = |reg: u8, count| Span {
            first: Reg::from(reg),
            count,
        };
        let scc = Span {
            first: SCC,
            count: 1,
        };
        if effects.has(Effects::READS_SCC)
            || matches!(inst.op(), Op::Select | Op::AddCarry | Op::SubBorrow) && is_salu(inst)
        {
            uses.reads.push(scc);
        }
        if inst.desc.scc != Scc::Keep {
            uses.writes.push(scc);
        }
        if effects.has(Effects::READS_VCC) {
            uses.reads.push(one(VCC_LO, 2));
        }
        if effects.has(Effects::READS_EXEC) && !is_valu(inst) {
            uses.reads.push(one(EXEC_LO, 2));
        }
        if effects.has(Effects::WRITES_EXEC) {
            uses.writes.push(one(EXEC_LO, 2));
        }
        if reads_m0(inst, gfx) {
            uses.reads.push(one(M0, 1));
        }
        if effects.has(Effects::WRITES_M0) {
            uses.writes.push(one(M0, 1));
        }
        uses
    }

    /// Is the register read?
    pub fn reads(&self, reg: Reg) -> bool {
        self.reads.iter().any(|span| span.has(reg))
    }

    /// Is it written?
    pub fn writes(&self, reg: Reg) -> bool {
        self.writes.iter().any(|span| span.has(reg))
    }
}

/// Rows mark instructions that read M0 on any target; LDS is not limited by it on gfx9.
fn reads_m0(inst: &Inst, gfx: Gfx) -> bool {
    if !inst.desc.effects.has(Effects::READS_M0) {
        return false;
    }
    match inst.desc.encoding {
        Encoding::Mubuf => inst.mem.lds || inst.op() == Op::StoreLds,
        // Only where an address is in LDS, which the instruction does not say.
        Encoding::Flat => false,
        Encoding::Ds => {
            let always = inst.mem.gds
                || matches!(inst.op(), Op::ReadAddTid | Op::WriteAddTid)
                || matches!(inst.op(), Op::Ds(op) if !is_lane_exchange(op));
            always
                || gfx.lds_limited_by_m0()
                    && !matches!(inst.op(), Op::Ds(op) if is_lane_exchange(op))
        }
        _ => true,
    }
}

/// Do lanes exchange values without LDS memory?
pub fn is_lane_exchange(op: crate::op::DsOp) -> bool {
    use crate::op::DsOp;
    matches!(
        op,
        DsOp::Swizzle | DsOp::Permute | DsOp::Bpermute | DsOp::Nop
    )
}

/// Registers from an operand on.
pub fn span(operand: Operand, count: u32) -> Option<Span> {
    let (first, end) = match operand {
        Operand::Sgpr(n) => (Reg::from(n), SCC),
        Operand::Vgpr(n) => (VGPR + Reg::from(n), AGPR),
        Operand::Agpr(n) => (AGPR + Reg::from(n), END),
        Operand::None
        | Operand::Inline { .. }
        | Operand::Literal { .. }
        | Operand::Special(_)
        | Operand::Imm(_) => return None,
    };
    let count = (count as u16).min(end - first);
    (count > 0).then_some(Span { first, count })
}

/// Registers of a source.
pub fn source_count(inst: &Inst, gfx: Gfx, i: usize) -> u32 {
    let Some(ty) = inst.desc.src.get(i) else {
        return 1;
    };
    let mem = &inst.mem;
    match (inst.desc.encoding, i) {
        (Encoding::Mubuf | Encoding::Mtbuf, 0) => {
            u32::from(mem.offen) + u32::from(mem.idxen) + 2 * u32::from(mem.addr64)
        }
        (Encoding::Global, 0) if inst.src[2] != Operand::None => 1,
        (Encoding::Scratch, 0) => 1,
        (Encoding::Scratch, 2) => 1,
        // The number of addresses depends on the image; there is one at least.
        (Encoding::Mimg, 0) => 1,
        (Encoding::Mimg, 1) => {
            if mem.r128 {
                4
            } else {
                8
            }
        }
        (Encoding::Mimg, 3) => image_data(inst, gfx),
        _ => ty.regs(),
    }
}

/// Registers of a destination.
pub fn destination_count(inst: &Inst, gfx: Gfx, i: usize) -> u32 {
    let Some(ty) = inst.desc.dst.get(i) else {
        return 1;
    };
    let status = u32::from(inst.mem.tfe || inst.mem.lwe);
    match inst.desc.encoding {
        Encoding::Mimg => image_data(inst, gfx) + status,
        Encoding::Mubuf | Encoding::Mtbuf | Encoding::Flat => ty.regs() + status,
        _ => ty.regs(),
    }
}

fn image_data(inst: &Inst, gfx: Gfx) -> u32 {
    let bits = u32::from(inst.mem.dmask & 15).count_ones();
    let components = match inst.op() {
        Op::Image(ImageOp::Gather4(_) | ImageOp::Gather4h(_)) => 4,
        _ => bits.max(1),
    };
    match inst.mem.d16 && gfx.packs_d16() {
        true => components.div_ceil(2),
        false => components,
    }
}

/// Does the scalar unit compute it?
pub fn is_salu(inst: &Inst) -> bool {
    use Encoding::{Sop1, Sop2, Sopc, Sopk, Sopp};
    matches!(inst.desc.encoding, Sop1 | Sop2 | Sopc | Sopk | Sopp)
}

/// Does the vector unit compute it?
pub fn is_valu(inst: &Inst) -> bool {
    use Encoding::{Vintrp, Vop1, Vop2, Vop3, Vop3p, Vopc};
    matches!(
        inst.desc.encoding,
        Vop1 | Vop2 | Vopc | Vop3 | Vop3p | Vintrp
    )
}

/// Does it access memory through the vector memory path, FLAT included?
pub fn is_vmem(inst: &Inst) -> bool {
    use Encoding::{Flat, Global, Mimg, Mtbuf, Mubuf, Scratch};
    let memory = matches!(
        inst.desc.encoding,
        Mubuf | Mtbuf | Mimg | Flat | Global | Scratch
    );
    memory && inst.op() != Op::CacheCtl
}

/// Is it a row of FLAT's loads that always go to LDS?
pub fn loads_to_lds(desc: &InstDesc) -> bool {
    matches!(desc.op, Op::Load(..)) && desc.dst.is_empty()
}

/// Does it store, without a result?
pub fn is_store(inst: &Inst) -> bool {
    matches!(
        inst.op(),
        Op::Store(..) | Op::StoreLds | Op::Image(ImageOp::Store { .. })
    ) || matches!(inst.op(), Op::Atomic(..) | Op::Image(ImageOp::Atomic(_)))
        && inst.dst[0] == Operand::None
}

/// Does it use the sampler?
pub fn is_sampler(inst: &Inst) -> bool {
    use ImageOp::{Gather4, Gather4h, GetLod, Sample};
    matches!(
        inst.op(),
        Op::Image(Sample(_) | Gather4(_) | Gather4h(_) | GetLod)
    )
}

/// Does it name registers by M0?
pub fn is_relative(op: Op) -> bool {
    matches!(op, Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2)
}

/// Does it access LDS memory through the DS instructions?
pub fn is_lds(inst: &Inst) -> bool {
    inst.desc.encoding == Encoding::Ds
        && !inst.mem.gds
        && !is_gws(inst)
        && !matches!(inst.op(), Op::Ds(op) if is_lane_exchange(op))
}

/// Is it an operation of the global wave sync?
pub fn is_gws(inst: &Inst) -> bool {
    matches!(inst.op(), Op::Ds(op) if op.is_gws())
}

/// The memory space, if it has one.
pub fn space(inst: &Inst) -> Option<Space> {
    match inst.op() {
        Op::Load(space, _) | Op::Store(space, _) | Op::Atomic(space, _) => Some(space),
        _ => None,
    }
}

/// A register's name.
pub fn name(reg: Reg, gfx: Gfx) -> String {
    match reg {
        106 => "vcc_lo".to_owned(),
        107 => "vcc_hi".to_owned(),
        124 => "m0".to_owned(),
        126 => "exec_lo".to_owned(),
        127 => "exec_hi".to_owned(),
        SCC => "scc".to_owned(),
        reg if reg < SCC => {
            let n = u32::from(reg);
            if n < gfx.max_sgprs() {
                format!("s{n}")
            } else if n == u32::from(gfx.flat_scratch()) || n == u32::from(gfx.flat_scratch()) + 1 {
                let half = if n.is_multiple_of(2) { "lo" } else { "hi" };
                format!("flat_scratch_{half}")
            } else {
                format!("scalar register {n}")
            }
        }
        reg if reg < VGPR => format!("register {reg}"),
        reg if reg < AGPR => format!("v{}", reg - VGPR),
        reg => format!("a{}", reg - AGPR),
    }
}
