//! Undefined bits of results of the scalar and the vector unit.

use frontend::inst::{EXEC_HI, EXEC_LO, Inst, M0, Operand, VCC_LO};
use frontend::registers::{self, Reg, SCC, Uses, is_relative, is_valu};
use frontend::state::mode;
use frontend::{Effects, LANES, Op, Ty};

use super::Step;
use super::class::{Class, accumulates, behind, relevant, written};
use super::findings::{Rule, Tag};
use super::registers::{Cell, vector_number};
use super::samples::Difference;
use crate::fault::WaveFault;
use crate::interp::{self, Flow};

/// Does a bit per lane say so?
fn lanes(holds: impl Fn(usize) -> bool) -> u64 {
    (0..LANES).fold(0, |mask, lane| mask | u64::from(holds(lane)) << lane)
}

impl Step<'_, '_> {
    /// Executes an instruction that computes.
    pub(super) fn compute(&mut self) -> Result<Flow, WaveFault> {
        let pc = self.wave.pc;
        // Matrix instructions ignore EXEC.
        let exec = match self.inst.op().product() {
            Some(_) => u64::MAX,
            None => self.wave.exec(),
        };
        let indexed = self.indexed();
        let of_indexed;
        let (inst, uses) = match &indexed {
            Some(inst) => {
                self.check_index(pc);
                of_indexed = Uses::of(inst, self.group.gfx);
                (inst, &of_indexed)
            }
            None => (self.inst, &self.site.uses),
        };
        let read_lanes = if self.site.across { u64::MAX } else { exec };
        let undefined = self.registers.any_of(&uses.reads, read_lanes)
            || self.site.partial && self.registers.any_of(&uses.writes, u64::MAX);
        if !undefined {
            let flow = interp::step(self.wave, self.group, self.inst)?;
            for reg in uses.writes.iter().flat_map(|span| span.each()) {
                self.registers.define(reg, exec);
            }
            return Ok(flow);
        }
        let differences = self.samples(uses);
        let flow = interp::step(self.wave, self.group, self.inst)?;
        let result = Computed {
            step: self,
            inst,
            uses,
            exec,
        };
        for (reg, lane, cell) in result.cells(&differences) {
            self.registers.set(reg, lane, cell);
        }
        if let Some((lane, cell)) = self.registers.settle_exec() {
            self.report(Rule::Branch, pc, Some(lane), cell);
        }
        Ok(flow)
    }

    /// The instruction with the registers that M0 makes of those that it names, if so.
    fn indexed(&self) -> Option<Inst> {
        let m0 = self.wave.m0();
        let mut inst = *self.inst;
        if is_relative(inst.op()) {
            let (source, destination) = match inst.op() {
                Op::MovRelS => (m0, 0),
                Op::MovRelD => (0, m0),
                Op::MovRelSD2 => (m0 & 0xff, m0 >> 8 & 0xff),
                _ => (m0, m0),
            };
            inst.src[0] = behind(inst.src[0], source);
            inst.dst[0] = behind(inst.dst[0], destination);
            return Some(inst);
        }
        if self.wave.mode & mode::GPR_IDX_EN == 0 || !is_valu(&inst) {
            return None;
        }
        let index = |bit: u32| if m0 >> bit & 1 != 0 { m0 & 0xff } else { 0 };
        for (n, operand) in inst.src.iter_mut().enumerate().take(3) {
            if let Operand::Vgpr(_) = operand {
                *operand = behind(*operand, index(12 + n as u32));
            }
        }
        if let Operand::Vgpr(_) = inst.dst[0] {
            inst.dst[0] = behind(inst.dst[0], index(15));
        }
        Some(inst)
    }

    fn check_index(&mut self, pc: u64) {
        let cell = self.registers.get(M0.into(), 0);
        if cell.bits != 0 {
            self.report(Rule::Address, pc, None, cell);
            self.registers.define(M0.into(), 0);
        }
    }
}

/// An instruction with undefined sources that was executed.
struct Computed<'c, 's, 'g> {
    step: &'c Step<'s, 'g>,
    inst: &'c Inst,
    uses: &'c Uses,
    exec: u64,
}

impl Computed<'_, '_, '_> {
    /// The undefined bits of the results.
    fn cells(&self, differences: &[Difference]) -> Vec<(Reg, usize, Cell)> {
        if !is_valu(self.inst) && self.inst.desc.encoding.is_scalar() {
            self.scalar_cells(differences)
        } else {
            self.vector_cells(differences)
        }
    }

    fn get(&self, reg: Reg, lane: usize) -> Cell {
        self.step.registers.get(reg, lane)
    }

    /// Undefined bits of a source that matter to a lane.
    fn source(&self, n: usize, lane: usize) -> u32 {
        let ty = self.inst.desc.src.get(n).copied().unwrap_or(Ty::B32);
        let count = registers::source_count(self.inst, self.step.group.gfx, n);
        let Some(span) = registers::span(self.inst.src[n], count) else {
            return 0;
        };
        if ty == Ty::Mask && vector_number(span.first).is_none() {
            return self.mask(span.first, lane);
        }
        let mut bits = self.get(span.first, lane).bits & relevant(self.inst, n);
        for reg in span.each().skip(1) {
            bits |= self.get(reg, lane).bits;
        }
        bits
    }

    /// A lane's bit of a mask in a pair of SGPRs.
    fn mask(&self, pair: Reg, lane: usize) -> u32 {
        self.get(pair + lane as Reg / 32, 0).bits >> (lane % 32) & 1
    }

    /// Does a computation in this lane have undefined sources?
    fn has_undefined_source(&self, lane: usize) -> bool {
        let effects = self.inst.desc.effects;
        let destination = || {
            let spans = self.uses.keeps.iter();
            spans
                .flat_map(|span| span.each())
                .any(|reg| self.get(reg, lane).bits != 0)
        };
        (0..self.inst.src.len()).any(|n| self.source(n, lane) != 0)
            || effects.has(Effects::READS_VCC) && self.mask(VCC_LO.into(), lane) != 0
            || self.uses.reads(SCC) && self.get(SCC, 0).bits != 0
            || accumulates(self.inst) && destination()
    }

    /// Is it undefined which bits a lane takes?
    fn has_undefined_selector(&self, lane: usize) -> bool {
        (0..self.inst.src.len())
            .any(|n| self.step.site.selectors >> n & 1 != 0 && self.source(n, lane) != 0)
    }

    /// Do all bits of the result depend on all of the sources, in this lane?
    fn is_whole(&self, lane: usize, differs: bool) -> bool {
        match self.step.site.class {
            Class::Bits => differs && self.has_undefined_selector(lane),
            Class::Upwards => false,
            Class::Whole if self.inst.mods.dpp.is_some() => differs,
            Class::Whole => self.has_undefined_source(lane),
        }
    }

    /// Where an undefined result in a lane comes from.
    fn tag(&self, lane: usize) -> Tag {
        let spans = [&self.uses.reads, &self.uses.keeps, &self.uses.writes];
        let regs = || {
            spans
                .iter()
                .flat_map(|spans| spans.iter())
                .flat_map(|span| span.each())
        };
        let others = || regs().flat_map(|reg| (0..LANES).map(move |lane| (reg, lane)));
        let mut cells = regs()
            .map(|reg| self.get(reg, lane))
            .chain(others().map(|(reg, lane)| self.get(reg, lane)));
        let tag = cells.find(|cell| cell.bits != 0).unwrap_or_default().tag;
        let condition = self.inst.op() == Op::Select
            && match self.uses.reads(SCC) {
                true => self.get(SCC, 0).bits != 0,
                false => self.source(2, lane) != 0,
            };
        match self.step.site.computes || condition || self.has_undefined_selector(lane) {
            true => tag.computed(),
            false => tag,
        }
    }

    fn scalar_cells(&self, differences: &[Difference]) -> Vec<(Reg, usize, Cell)> {
        let main = || {
            differences
                .iter()
                .filter(|difference| difference.reg != SCC)
        };
        let differs = differences.iter().any(|difference| difference.bits[0] != 0);
        let whole = self.is_whole(0, differs);
        let low = low_bit(main().map(|difference| difference.bits[0]));
        let tag = self.tag(0);
        let cell = |difference: &Difference, index: usize| {
            let bits = match self.step.site.class {
                _ if whole => u32::MAX,
                Class::Upwards => upwards(low, index),
                Class::Bits | Class::Whole => difference.bits[0],
            };
            Cell { bits, tag }
        };
        let mut cells: Vec<_> = main()
            .enumerate()
            .map(|(index, difference)| (difference.reg, 0, cell(difference, index)))
            .collect();
        if let Some(scc) = differences.iter().find(|difference| difference.reg == SCC) {
            let upwards = self.step.site.class == Class::Upwards && low.is_some();
            let bits = u32::from(whole || upwards || scc.bits[0] != 0);
            cells.push((SCC, 0, Cell { bits, tag }));
        }
        cells
    }

    fn vector_cells(&self, differences: &[Difference]) -> Vec<(Reg, usize, Cell)> {
        let first = registers::span(self.inst.dst[0], 1).map(|span| span.first);
        let vector = || {
            differences
                .iter()
                .filter(|difference| vector_number(difference.reg).is_some())
        };
        let differing = lanes(|lane| {
            differences
                .iter()
                .any(|difference| match vector_number(difference.reg) {
                    Some(_) => difference.bits[lane] != 0,
                    None => false,
                })
        });
        let whole = lanes(|lane| {
            self.exec >> lane & 1 != 0 && self.is_whole(lane, differing >> lane & 1 != 0)
        });
        let one_lane = self.inst.op() == Op::WriteLane;
        let mut cells = Vec::new();
        for lane in 0..LANES {
            let active = self.exec >> lane & 1 != 0;
            if !active && !one_lane {
                continue;
            }
            let low = low_bit(vector().map(|difference| difference.bits[lane]));
            for (index, difference) in vector().enumerate() {
                let own = first.is_some_and(|first| difference.reg >= first);
                let all = if own { written(self.inst) } else { u32::MAX };
                let bits = difference.bits[lane];
                let bits = match self.step.site.class {
                    _ if active && whole >> lane & 1 != 0 => all | bits,
                    Class::Upwards => upwards(low, index) & (all | bits),
                    Class::Bits | Class::Whole => bits,
                };
                let old = self.get(difference.reg, lane);
                let tag = match bits {
                    0 => Tag::default(),
                    _ if one_lane && bits == old.bits => old.tag,
                    _ => self.tag(lane),
                };
                cells.push((difference.reg, lane, Cell { bits, tag }));
            }
        }
        for difference in differences
            .iter()
            .filter(|difference| vector_number(difference.reg).is_none())
        {
            cells.push((
                difference.reg,
                0,
                self.scalar_result(difference, differing, whole),
            ));
        }
        cells
    }

    /// A scalar register that a vector instruction writes: half of a mask, or a lane's value.
    fn scalar_result(&self, difference: &Difference, differing: u64, whole: u64) -> Cell {
        let mut bits = difference.bits[0];
        if matches!(self.inst.op(), Op::ReadLane | Op::ReadFirstLane) {
            let lane = if self.has_undefined_selector(0) && bits != 0 {
                u32::MAX
            } else {
                bits
            };
            let tag = self.tag(self.exec.trailing_zeros() as usize % LANES);
            return Cell { bits: lane, tag };
        }
        let pair = self
            .inst
            .dst
            .iter()
            .filter_map(|&operand| registers::span(operand, 1));
        let is_high = difference.reg == Reg::from(EXEC_HI)
            || difference.reg != Reg::from(EXEC_LO)
                && !pair
                    .map(|span| span.first)
                    .any(|first| first == difference.reg);
        let half = |mask: u64| (mask >> if is_high { 32 } else { 0 }) as u32;
        bits |= half(match self.step.site.class {
            Class::Whole => whole,
            Class::Upwards => differing & self.exec,
            Class::Bits => 0,
        });
        let lane = bits.trailing_zeros() as usize % 32 + if is_high { 32 } else { 0 };
        Cell {
            bits,
            tag: self.tag(lane),
        }
    }
}

/// The lowest bit that differs in a value of one or two dwords.
fn low_bit(dwords: impl Iterator<Item = u32>) -> Option<u32> {
    let mut dwords = (0..).zip(dwords);
    let (index, bits) = dwords.find(|(_, bits)| *bits != 0)?;
    Some(32 * index + bits.trailing_zeros())
}

/// The bits of a dword from that bit upwards.
fn upwards(low: Option<u32>, index: usize) -> u32 {
    let before = 32 * index as u32;
    match low {
        None => 0,
        Some(low) if low < before => u32::MAX,
        Some(low) => u32::MAX.checked_shl(low - before).unwrap_or(0),
    }
}
