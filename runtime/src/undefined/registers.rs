//! Which bits of a wave's registers are undefined.

use frontend::inst::{EXEC_HI, EXEC_LO, M0, VCC_HI, VCC_LO};
use frontend::registers::{AGPR, END, Reg, SCC, Span, VGPR};
use frontend::{Gfx, LANES};

use super::findings::{Findings, Origin, Source, Tag};
use crate::object::KernelDescriptor;

/// The undefined bits of a dword, and where they come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) bits: u32,
    pub(super) tag: Tag,
}

/// Registers that the dispatcher defines.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    sgprs: u32,
    vgprs: u32,
}

impl Start {
    pub(super) fn of(descriptor: &KernelDescriptor, gfx: Gfx) -> Start {
        let system = [
            descriptor.enable_workgroup_id_x(),
            descriptor.enable_workgroup_id_y(),
            descriptor.enable_workgroup_id_z(),
            descriptor.enable_workgroup_info(),
            descriptor.enable_private_segment(),
        ];
        Start {
            sgprs: descriptor.user_sgpr_count() + system.map(u32::from).iter().sum::<u32>(),
            vgprs: match descriptor.workitem_id_vgprs() {
                _ if gfx.packs_work_item_ids() => 1,
                n => n.min(2) + 1,
            },
        }
    }

    /// The registers of a wave that begins. FLAT_SCRATCH, XNACK_MASK and the trap registers are the driver's.
    pub(super) fn registers(self, gfx: Gfx, findings: &mut Findings) -> Registers {
        let mut registers = Registers::default();
        let mut unwritten = |reg: Reg| Cell {
            bits: u32::MAX,
            tag: findings.tag(Origin {
                source: Source::Register(reg),
                read: None,
            }),
        };
        let named = self.sgprs as Reg..gfx.max_sgprs() as Reg;
        for reg in named.chain([VCC_LO, VCC_HI, M0].map(Reg::from)) {
            registers.scalar[usize::from(reg)] = unwritten(reg);
        }
        registers.scalar[usize::from(SCC)] = Cell {
            bits: 1,
            ..unwritten(SCC)
        };
        let end = if gfx.has_agprs() { END } else { AGPR };
        registers.grow(usize::from(end - VGPR));
        for n in self.vgprs as usize..usize::from(end - VGPR) {
            registers.vector[n] = [unwritten(VGPR + n as Reg); LANES];
            registers.undefined[n] = u64::MAX;
        }
        registers
    }
}

/// Undefined bits of all registers of a wave. EXEC is always defined: where it becomes undefined that is reported.
pub(super) struct Registers {
    /// The scalar file, and SCC.
    scalar: [Cell; SCC as usize + 1],
    /// VGPRs and accumulation registers, as many as were ever undefined.
    vector: Vec<[Cell; LANES]>,
    /// Lanes in which a vector register has undefined bits; cells of others mean nothing.
    undefined: [u64; VECTORS],
}

impl Default for Registers {
    /// All is defined.
    fn default() -> Registers {
        Registers {
            scalar: [Cell::default(); SCC as usize + 1],
            vector: Vec::new(),
            undefined: [0; VECTORS],
        }
    }
}

/// VGPRs and accumulation registers.
const VECTORS: usize = (END - VGPR) as usize;

/// The number of a vector register, as of [`frontend::WaveState::vector`].
pub(super) fn vector_number(reg: Reg) -> Option<usize> {
    (VGPR..END).contains(&reg).then(|| usize::from(reg - VGPR))
}

impl Registers {
    /// Makes room for the cells of this number of vector registers.
    fn grow(&mut self, count: usize) {
        if self.vector.len() < count {
            self.vector.resize(count, [Cell::default(); LANES]);
        }
    }

    /// Undefined bits of a register in a lane. A scalar register is the same in all.
    pub(super) fn get(&self, reg: Reg, lane: usize) -> Cell {
        match vector_number(reg) {
            Some(n) if self.undefined[n] >> lane & 1 != 0 => self.vector[n][lane],
            Some(_) => Cell::default(),
            None => self
                .scalar
                .get(usize::from(reg))
                .copied()
                .unwrap_or_default(),
        }
    }

    /// Sets them.
    pub(super) fn set(&mut self, reg: Reg, lane: usize, cell: Cell) {
        let Some(n) = vector_number(reg) else {
            if let Some(place) = self.scalar.get_mut(usize::from(reg)) {
                *place = cell;
            }
            return;
        };
        self.undefined[n] &= !(1 << lane);
        if cell.bits != 0 {
            self.undefined[n] |= 1 << lane;
            self.grow(n + 1);
            self.vector[n][lane] = cell;
        }
    }

    /// Is it undefined in one of these lanes?
    pub(super) fn any(&self, reg: Reg, lanes: u64) -> bool {
        match vector_number(reg) {
            Some(n) => self.undefined[n] & lanes != 0,
            None => self
                .scalar
                .get(usize::from(reg))
                .is_some_and(|cell| cell.bits != 0),
        }
    }

    /// Is one of them?
    pub(super) fn any_of(&self, spans: &[Span], lanes: u64) -> bool {
        spans
            .iter()
            .flat_map(|span| span.each())
            .any(|reg| self.any(reg, lanes))
    }

    /// It is defined in these lanes.
    pub(super) fn define(&mut self, reg: Reg, lanes: u64) {
        match vector_number(reg) {
            Some(n) => self.undefined[n] &= !lanes,
            None => self.set(reg, 0, Cell::default()),
        }
    }

    /// Makes EXEC defined, and gives what was not: a lane, and its cell.
    pub(super) fn settle_exec(&mut self) -> Option<(usize, Cell)> {
        let halves = [EXEC_LO, EXEC_HI].map(Reg::from);
        let cells = halves.map(|reg| self.get(reg, 0));
        halves.iter().for_each(|&reg| self.define(reg, 0));
        let bits = u64::from(cells[0].bits) | u64::from(cells[1].bits) << 32;
        let lane = bits.trailing_zeros() as usize;
        (bits != 0).then(|| (lane, cells[lane / 32]))
    }
}
