//! Vector instructions that reach across lanes or registers: readlane, writelane, readfirstlane,
//! swap, relative moves, and the interpolation instructions, which read LDS.

use frontend::LANES;
use frontend::Op;
use frontend::inst::Operand;
use frontend::ops;

use super::observe::Observer;
use super::operand::{Exec, Lanes};
use super::stop::Run;

impl<O: Observer> Exec<'_, '_, O> {
    /// One of the instructions of this chapter except interpolation.
    pub(crate) fn exec_lane(&mut self) -> Run<()> {
        let inst = self.inst;
        match inst.op() {
            Op::ReadLane => {
                let lane = self.lane_number(1)?;
                let value = self.raw32(0)?[lane];
                self.set_uniform(inst.dst[0], &[value])
            }
            Op::ReadFirstLane => {
                // Without an active lane it is lane 0.
                let lane = self.wave.exec().trailing_zeros() as usize % LANES;
                let value = self.raw32(0)?[lane];
                self.set_uniform(inst.dst[0], &[value])
            }
            Op::WriteLane => {
                let lane = self.lane_number(1)?;
                let value = self.uniform_source(0, lane)?;
                let Operand::Vgpr(reg) = inst.dst[0] else {
                    return self.unknown();
                };
                if let Some(to) = self.vgpr_dest(reg, 1)? {
                    self.wave.vgpr[to][lane] = value;
                }
                Ok(())
            }
            Op::Swap => {
                let (Operand::Vgpr(d), Operand::Vgpr(s)) = (inst.dst[0], inst.src[0]) else {
                    return self.unknown();
                };
                let s = self.vgpr_source(s, 1, 0)?;
                if let Some(d) = self.vgpr_dest(d, 1)? {
                    let (old_d, old_s) = (self.wave.vgpr[d], self.wave.vgpr[s]);
                    self.set_vgpr(s, &old_d, self.active);
                    self.set_vgpr(d, &old_s, self.active);
                }
                Ok(())
            }
            Op::MovRelS => {
                let values = self.relative_source(self.wave.m0())?;
                self.write32(&values)
            }
            Op::MovRelD => {
                let values = self.source32(0)?;
                self.relative_write(&values, self.wave.m0())
            }
            Op::MovRelSD => {
                let m0 = self.wave.m0();
                let values = self.relative_source(m0)?;
                self.relative_write(&values, m0)
            }
            Op::MovRelSD2 => {
                let m0 = self.wave.m0();
                let values = self.relative_source(m0 & 0xff)?;
                self.relative_write(&values, m0 >> 8 & 0xff)
            }
            Op::Nop | Op::Mov | Op::Select | Op::ClrExcp => self.unknown(),
            ops!(arithmetic | integer | logic | shifts | bits | compare) => self.unknown(),
            ops!(vector | vector_wide | convert | eight_bits | rounding | float) => self.unknown(),
            ops!(float_wide | legacy | packed | parameters | matrix) => self.unknown(),
            ops!(salu | mem) => self.unknown(),
        }
    }

    /// The lane that source `n` selects.
    fn lane_number(&self, n: usize) -> Run<usize> {
        Ok(self.uniform32(self.inst.src[n])? as usize % LANES)
    }

    /// Source `n` for one lane.
    fn uniform_source(&self, n: usize, lane: usize) -> Run<u32> {
        if let Operand::Vgpr(_) = self.inst.src[n] {
            return Ok(self.raw32(n)?[lane]);
        }
        self.uniform32(self.inst.src[n])
    }

    /// VGPR[S0 + index]; out of range reads v0.
    fn relative_source(&self, index: u32) -> Run<Lanes> {
        let Operand::Vgpr(reg) = self.inst.src[0] else {
            return self.unknown();
        };
        let register = usize::from(reg) + index as usize;
        let register = if register < self.vgpr_limit() {
            register
        } else {
            0
        };
        Ok(self.wave.vgpr[register])
    }

    /// VGPR[D + index] = values; out of range writes nothing.
    fn relative_write(&mut self, values: &Lanes, index: u32) -> Run<()> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        let register = usize::from(reg) + index as usize;
        if register < self.vgpr_limit() {
            self.set_vgpr(register, values, self.active);
        }
        Ok(())
    }
}
