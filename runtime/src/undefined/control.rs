//! Branches on undefined values, and other instructions that compute nothing.

use frontend::Op;
use frontend::inst::{M0, VCC_LO};
use frontend::op::BranchIf;
use frontend::registers::{Reg, SCC, Span};

use super::Step;
use super::findings::Rule;
use super::registers::Cell;
use crate::fault::WaveFault;
use crate::interp::{self, Flow};

impl Step<'_, '_> {
    /// Executes an instruction that is no computation.
    pub(super) fn control(&mut self) -> Result<Flow, WaveFault> {
        let pc = self.wave.pc;
        let used = match self.inst.op() {
            Op::Branch(BranchIf::Scc0 | BranchIf::Scc1) => Some(self.registers.get(SCC, 0)),
            Op::Branch(BranchIf::Vccz | BranchIf::Vccnz) => self.vccz(),
            Op::SetPc | Op::SwapPc | Op::CbranchGFork | Op::CbranchJoin => self.first_source(),
            Op::SetVskip => self.first_source(),
            _ => None,
        };
        if let Some(cell) = used.filter(|cell| cell.bits != 0) {
            self.report(Rule::Branch, pc, None, cell);
        }
        if let Op::SetGprIdxOn | Op::SetGprIdxIdx = self.inst.op()
            && let Some(cell) = self.first_source().filter(|cell| cell.bits & 0xff != 0)
        {
            self.report(Rule::Address, pc, None, cell);
        }
        let flow = interp::step(self.wave, self.group, self.inst)?;
        let index = matches!(
            self.inst.op(),
            Op::SetGprIdxOn | Op::SetGprIdxIdx | Op::SetGprIdxMode
        );
        if index {
            self.registers.define(M0.into(), 0);
        }
        for reg in self.site.uses.writes.iter().flat_map(|span| span.each()) {
            self.registers.define(reg, u64::MAX);
        }
        Ok(flow)
    }

    /// Is it undefined whether VCC is 0? Not if a defined bit is set.
    fn vccz(&self) -> Option<Cell> {
        let halves = [VCC_LO, VCC_LO + 1];
        let cells = halves.map(|code| self.registers.get(Reg::from(code), 0));
        let set = |n: usize| self.wave.sgpr[usize::from(halves[n])] & !cells[n].bits != 0;
        if set(0) || set(1) {
            return None;
        }
        cells.into_iter().find(|cell| cell.bits != 0)
    }

    /// What is undefined of the first source.
    fn first_source(&self) -> Option<Cell> {
        let spans: &[Span] = &self.site.uses.reads;
        let mut regs = spans.iter().take(1).flat_map(|span| span.each());
        regs.find_map(|reg| Some(self.registers.get(reg, 0)).filter(|cell| cell.bits != 0))
    }
}
