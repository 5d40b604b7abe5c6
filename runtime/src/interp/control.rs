//! Program control: SOPP, jumps, the fork and join stack, hardware registers and messages.

use frontend::inst::Operand;
use frontend::op::BranchIf;
use frontend::state::mode;
use frontend::{Op, Ty, ops};

use super::observe::Observer;
use super::operand::Exec;
use super::stop::{Run, Stop};
use crate::choices;
use crate::engine::{PRIVATE_BASE, SHARED_BASE};
use crate::fault::FaultKind;

/// Hardware register numbers.
mod hwreg {
    pub(super) const MODE: u32 = 1;
    pub(super) const STATUS: u32 = 2;
    pub(super) const TRAPSTS: u32 = 3;
    pub(super) const PC_LO: u32 = 8;
    pub(super) const PC_HI: u32 = 9;
    pub(super) const SH_MEM_BASES: u32 = 15;
}

/// The fields of `simm16` of `s_getreg` and `s_setreg`: register, shift, mask of the field.
fn hwreg_field(simm16: u32) -> (u32, u32, u32) {
    let bits = (simm16 >> 11 & 31) + 1;
    let mask = (u64::MAX >> (64 - bits)) as u32;
    (simm16 & 63, simm16 >> 6 & 31, mask)
}

/// Continuation of the wave after an instruction.
pub(crate) enum Control {
    /// To the next instruction.
    Next,
    /// To an address that the instruction holds.
    Jump(u64),
    /// To an address that a register holds.
    Indirect(u64),
    /// Nowhere.
    End,
    /// To the next instruction, once the group's other waves have arrived.
    Barrier,
    /// To the same instruction, later.
    Wait,
}

impl<O: Observer> Exec<'_, '_, O> {
    /// An instruction that may change the PC, or touches the wave's control state. `None` when it
    /// is not one of these.
    pub(crate) fn exec_control(&mut self) -> Run<Option<Control>> {
        let inst = self.inst;
        let flow = match inst.op() {
            Op::Nop | Op::Waitcnt | Op::Hint(_) | Op::CacheCtl => Control::Next,
            Op::Sendmsg => Control::Next,
            Op::Endpgm => Control::End,
            Op::Barrier => Control::Barrier,
            Op::Branch(condition) => match self.condition(condition) {
                true => Control::Jump(self.branch_target(0)?),
                false => Control::Next,
            },
            Op::GetPc => {
                self.set_uniform64(inst.dst[0], self.next_pc)?;
                Control::Next
            }
            Op::SetPc => Control::Indirect(self.uniform64(inst.src[0])? & !3),
            Op::SwapPc => {
                let target = self.uniform64(inst.src[0])? & !3;
                self.set_uniform64(inst.dst[0], self.next_pc)?;
                Control::Indirect(target)
            }
            Op::Call => {
                let target = self.branch_target(0)?;
                self.set_uniform64(inst.dst[0], self.next_pc)?;
                Control::Jump(target)
            }
            Op::CbranchGFork => {
                let target = self.uniform64(inst.src[1])? & !3;
                self.fork(target)?
            }
            Op::CbranchIFork => {
                let target = self.branch_target(1)?;
                self.fork(target)?
            }
            Op::CbranchJoin => self.join()?,
            Op::SetGprIdxOff => {
                self.wave.mode &= !mode::GPR_IDX_EN;
                Control::Next
            }
            Op::SetGprIdxMode => {
                self.exec_set_gpr_idx_mode()?;
                Control::Next
            }
            Op::GetReg => {
                let (id, shift, mask) = hwreg_field(self.uniform32(inst.src[0])?);
                let value = self.hardware_register(id) >> shift & mask;
                self.set_uniform(inst.dst[0], &[value])?;
                Control::Next
            }
            Op::SetReg => {
                let value = self.uniform32(inst.src[0])?;
                let (id, shift, mask) = hwreg_field(self.uniform32(inst.src[1])?);
                let (mask, value) = (mask << shift, (value & mask) << shift);
                match id {
                    hwreg::MODE => self.wave.mode = self.wave.mode & !mask | value,
                    hwreg::TRAPSTS => self.wave.trapsts = self.wave.trapsts & !mask | value,
                    // The others are read-only to a user's kernel.
                    _ => {}
                }
                Control::Next
            }
            Op::Trap => {
                let id = self.uniform32(inst.src[0])? & 0xff;
                if !choices::trap_is_ignored(id) {
                    return Err(Stop::wave(FaultKind::Trap { id }));
                }
                Control::Next
            }
            Op::Rfe | Op::RfeRestore => {
                return Err(Stop::unsupported(format!(
                    "{} outside a trap handler",
                    self.name()
                )));
            }
            Op::SaveExec(_) | Op::WrExec(_) => return Ok(None),
            Op::SetGprIdxOn | Op::SetGprIdxIdx | Op::SetVskip => return Ok(None),
            Op::Mov | Op::Select => return Ok(None),
            Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => return Ok(None),
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) | Op::StoreLds => return Ok(None),
            Op::Image(_) | Op::Export | Op::MemTime | Op::MemRealtime => return Ok(None),
            ops!(arithmetic | integer | logic | shifts | bits | compare) => return Ok(None),
            ops!(scalar | scalar_bits | scalar_other | valu | lds) => return Ok(None),
        };
        Ok(Some(flow))
    }

    /// PC + 4 + 4 * simm16, the immediate being source `n`.
    fn branch_target(&self, n: usize) -> Run<u64> {
        let Operand::Imm(simm16) = self.inst.src[n] else {
            return self.unknown();
        };
        Ok(self.next_pc.wrapping_add_signed(i64::from(simm16) * 4))
    }

    fn condition(&self, condition: BranchIf) -> bool {
        match condition {
            BranchIf::Always => true,
            BranchIf::Scc0 => self.wave.scc == 0,
            BranchIf::Scc1 => self.wave.scc != 0,
            BranchIf::Vccz => self.wave.vcc() == 0,
            BranchIf::Vccnz => self.wave.vcc() != 0,
            BranchIf::Execz => self.wave.exec() == 0,
            BranchIf::Execnz => self.wave.exec() != 0,
            BranchIf::CdbgSys
            | BranchIf::CdbgUser
            | BranchIf::CdbgSysOrUser
            | BranchIf::CdbgSysAndUser => false,
        }
    }

    fn stack_depth(&self) -> u32 {
        self.wave.mode >> 29
    }

    fn set_stack_depth(&mut self, depth: u32) {
        self.wave.mode = self.wave.mode & !mode::CSP | depth << 29;
    }

    /// Fork on the mask S0: the side with fewer lanes runs first, the other one is pushed.
    fn fork(&mut self, target: u64) -> Run<Control> {
        let s0 = self.uniform64(self.inst.src[0])?;
        let exec = self.wave.exec();
        let (pass, fail) = (s0 & exec, !s0 & exec);
        if pass == exec {
            return Ok(Control::Jump(target));
        }
        if fail == exec {
            return Ok(Control::Next);
        }
        let (flow, now, later_pc, later) = if fail.count_ones() < pass.count_ones() {
            (Control::Next, fail, target, pass)
        } else {
            (Control::Jump(target), pass, self.next_pc, fail)
        };
        // Six levels suffice, since at least half of the lanes are pushed each time.
        let depth = self.stack_depth();
        if depth > 6 {
            return Err(Stop::unsupported("a fork stack of more than 6 entries"));
        }
        let entry = depth as u8 * 4;
        self.wave.set_sgpr64(entry, later);
        self.wave.set_sgpr64(entry + 2, later_pc);
        self.set_stack_depth(depth + 1);
        self.wave.set_exec(now);
        Ok(flow)
    }

    /// Join: at the depth S0 both sides are complete; otherwise the pushed side runs.
    fn join(&mut self) -> Run<Control> {
        let s0 = self.uniform32(self.inst.src[0])?;
        let depth = self.stack_depth();
        if depth == s0 {
            return Ok(Control::Next);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Stop::unsupported(
                "a join below the bottom of the fork stack",
            ));
        };
        self.set_stack_depth(depth);
        let entry = depth as u8 * 4;
        let (exec, pc) = (self.wave.sgpr64(entry), self.wave.sgpr64(entry + 2));
        self.wave.set_exec(exec);
        Ok(Control::Indirect(pc & !3))
    }

    /// A hardware register as `s_getreg` shows it.
    fn hardware_register(&self, id: u32) -> u32 {
        let pc = self.wave.pc;
        match id {
            hwreg::MODE => self.wave.mode,
            hwreg::STATUS => {
                let in_group = u32::from(self.group.waves > 1);
                self.wave.scc & 1
                    | u32::from(self.wave.exec() == 0) << 9
                    | u32::from(self.wave.vcc() == 0) << 10
                    | in_group << 11
            }
            hwreg::TRAPSTS => self.wave.trapsts,
            hwreg::PC_LO if !self.gfx.is_gfx9() => pc as u32,
            hwreg::PC_HI if !self.gfx.is_gfx9() => (pc >> 32) as u32,
            hwreg::SH_MEM_BASES if self.gfx.has_aperture_registers() => {
                (PRIVATE_BASE >> 48) as u32 | (SHARED_BASE >> 48 << 16) as u32
            }
            _ => self.wave.hwreg.get(id as usize).copied().unwrap_or(0),
        }
    }

    /// Type of the first destination, for tests of scalar against vector forms.
    pub(crate) fn dest_ty(&self) -> Ty {
        self.inst.desc.dst.first().copied().unwrap_or(Ty::Imm)
    }
}
