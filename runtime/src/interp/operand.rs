//! Reading and writing operands: scalar registers, vector registers, constants, special sources,
//! and the index that M0 adds to vector registers.

use frontend::inst::{Inst, Operand, Special};
use frontend::state::mode;
use frontend::{Gfx, LANES, WaveState};

use super::observe::Observer;
use super::stop::{Run, Stop};
use crate::engine::{APERTURE_BYTES, Group, PRIVATE_BASE, SHARED_BASE};
use crate::fault::Access;

/// One 32-bit value a lane.
pub(crate) type Lanes = [u32; LANES];

/// One 64-bit value a lane.
pub(crate) type Lanes64 = [u64; LANES];

/// The lanes whose bit is set, ascending.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        Some(lane)
    })
}

/// The instruction being executed and its state.
pub(crate) struct Exec<'e, 'g, O = ()> {
    pub(crate) wave: &'e mut WaveState,
    pub(crate) group: &'e mut Group<'g>,
    pub(crate) inst: &'e Inst,
    /// Target.
    pub(crate) gfx: Gfx,
    /// Address of the next instruction.
    pub(crate) next_pc: u64,
    /// Active lanes: EXEC, without those that DPP excludes.
    pub(crate) active: u64,
    /// What observes its memory accesses.
    pub(crate) observer: O,
}

impl<O: Observer> Exec<'_, '_, O> {
    /// Name of the instruction, for messages.
    pub(crate) fn name(&self) -> &'static str {
        self.inst.desc.name_on(self.gfx)
    }

    /// The fault for an operation that the current chapter does not implement.
    #[cold]
    pub(crate) fn unknown<T>(&self) -> Run<T> {
        Err(Stop::unsupported(format!(
            "{} on {}",
            self.name(),
            self.gfx
        )))
    }

    #[cold]
    fn bad_operand<T>(&self, operand: Operand) -> Run<T> {
        Err(Stop::unsupported(format!(
            "operand {operand:?} of {} on {}",
            self.name(),
            self.gfx
        )))
    }

    // ---- scalar file

    /// `count` scalar registers from `code` on are inside the file.
    fn scalar_range(&self, code: u8, count: usize) -> Run<usize> {
        let first = usize::from(code);
        if first + count > self.wave.sgpr.len() {
            return self.bad_operand(Operand::Sgpr(code));
        }
        Ok(first)
    }

    /// A wave-uniform 32-bit value.
    pub(crate) fn uniform32(&self, operand: Operand) -> Run<u32> {
        match operand {
            Operand::Sgpr(code) => Ok(self.wave.sgpr[self.scalar_range(code, 1)?]),
            Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Ok(bits as u32),
            Operand::Imm(value) => Ok(value as u32),
            Operand::Special(special) => Ok(match special {
                // The aperture registers give nothing in 32 bits (semantics of the operand table).
                Special::SharedBase
                | Special::SharedLimit
                | Special::PrivateBase
                | Special::PrivateLimit
                | Special::PopsExitingWaveId => 0,
                Special::Vccz => u32::from(self.wave.vcc() == 0),
                Special::Execz => u32::from(self.wave.exec() == 0),
                Special::Scc => self.wave.scc & 1,
                Special::LdsDirect => self.lds_direct()?,
            }),
            Operand::None | Operand::Vgpr(_) | Operand::Agpr(_) => self.bad_operand(operand),
        }
    }

    /// A wave-uniform 64-bit value.
    pub(crate) fn uniform64(&self, operand: Operand) -> Run<u64> {
        match operand {
            Operand::Sgpr(code) => {
                let i = self.scalar_range(code, 2)?;
                let [low, high] = [self.wave.sgpr[i], self.wave.sgpr[i + 1]];
                Ok(u64::from(low) | u64::from(high) << 32)
            }
            Operand::Inline { bits, .. } | Operand::Literal { bits, .. } => Ok(bits),
            Operand::Imm(value) => Ok(i64::from(value) as u64),
            Operand::Special(Special::SharedBase) => Ok(SHARED_BASE),
            Operand::Special(Special::SharedLimit) => Ok(SHARED_BASE + (APERTURE_BYTES - 1)),
            Operand::Special(Special::PrivateBase) => Ok(PRIVATE_BASE),
            Operand::Special(Special::PrivateLimit) => Ok(PRIVATE_BASE + (APERTURE_BYTES - 1)),
            Operand::None | Operand::Vgpr(_) | Operand::Agpr(_) | Operand::Special(_) => {
                self.uniform32(operand).map(u64::from)
            }
        }
    }

    /// The first `N` scalar registers of a descriptor or a block of data.
    pub(crate) fn uniform_block<const N: usize>(&self, operand: Operand) -> Run<[u32; N]> {
        let Operand::Sgpr(code) = operand else {
            return self.bad_operand(operand);
        };
        let first = self.scalar_range(code, N)?;
        Ok(std::array::from_fn(|i| self.wave.sgpr[first + i]))
    }

    /// Writes scalar registers.
    pub(crate) fn set_uniform(&mut self, operand: Operand, values: &[u32]) -> Run<()> {
        let Operand::Sgpr(code) = operand else {
            return self.bad_operand(operand);
        };
        let first = self.scalar_range(code, values.len())?;
        self.wave.sgpr[first..first + values.len()].copy_from_slice(values);
        Ok(())
    }

    /// Writes a 64-bit value, such as a lane mask.
    pub(crate) fn set_uniform64(&mut self, operand: Operand, value: u64) -> Run<()> {
        self.set_uniform(operand, &[value as u32, (value >> 32) as u32])
    }

    /// LDS_DIRECT: one value at M0[15:0], of the kind M0[18:16], for all lanes. Checked mode
    /// reports its dword as read by lane 0.
    fn lds_direct(&self) -> Run<u32> {
        let m0 = self.wave.m0();
        let lds = &self.group.lds;
        lds.look(Access::Read, u64::from(m0 & 0xfffc), 4)
            .map_err(|kind| Stop::lane(kind, 0))?;
        let bytes = lds.bytes();
        let at = |i: usize| bytes.get(i).copied().unwrap_or(0);
        let a = m0 as usize & 0xffff;
        let half = a & !1;
        let half = u16::from_le_bytes([at(half), at(half + 1)]);
        Ok(match m0 >> 16 & 7 {
            0 => u32::from(at(a)),
            1 => u32::from(half),
            4 => i32::from(at(a) as i8) as u32,
            5 => i32::from(half as i16) as u32,
            _ => {
                let d = a & !3;
                u32::from_le_bytes([at(d), at(d + 1), at(d + 2), at(d + 3)])
            }
        })
    }

    // ---- vector file

    /// The index that GPR index mode adds to a vector register; `bit` of M0 enables it
    /// (12 to 14 sources, 15 destination).
    fn gpr_index(&self, bit: u32) -> usize {
        let m0 = self.wave.m0();
        if self.wave.mode & mode::GPR_IDX_EN != 0 && m0 >> bit & 1 != 0 {
            (m0 & 0xff) as usize
        } else {
            0
        }
    }

    /// Number of vector registers that the wave may index.
    pub(crate) fn vgpr_limit(&self) -> usize {
        (self.wave.vgpr_count as usize).clamp(1, self.wave.vgpr.len())
    }

    /// First register of `count` for VALU source `n`: off-range indexes read v0.
    pub(crate) fn vgpr_source(&self, reg: u8, count: usize, n: usize) -> Run<usize> {
        let first = self.vgpr_range(reg, count)?;
        match self.gpr_index(12 + n as u32) {
            0 => Ok(first),
            index if first + index + count <= self.vgpr_limit() => Ok(first + index),
            _ => Ok(0),
        }
    }

    /// First register of `count` for the VALU destination; `None` when an index leaves the wave's
    /// registers: then nothing is written.
    pub(crate) fn vgpr_dest(&self, reg: u8, count: usize) -> Run<Option<usize>> {
        let first = self.vgpr_range(reg, count)?;
        match self.gpr_index(15) {
            0 => Ok(Some(first)),
            index if first + index + count <= self.vgpr_limit() => Ok(Some(first + index)),
            _ => Ok(None),
        }
    }

    /// `count` vector registers from `reg` on are inside the file. (Not the wave's allocation: only
    /// indexed accesses are checked against that.)
    pub(crate) fn vgpr_range(&self, reg: u8, count: usize) -> Run<usize> {
        self.vector_range(Operand::Vgpr(reg), count)
    }

    /// `count` vector registers from an operand on are inside their file. The number is that of
    /// [`WaveState::vector`].
    pub(crate) fn vector_range(&self, operand: Operand, count: usize) -> Run<usize> {
        let Some(number) = operand.vector_register().map(usize::from) else {
            return self.bad_operand(operand);
        };
        let vgprs = self.wave.vgpr.len();
        let first = number % vgprs;
        if first + count > vgprs {
            let file = if number < vgprs { 'v' } else { 'a' };
            return Err(Stop::unsupported(format!(
                "{file}[{first}:{}] of {}, past {file}255",
                first + count - 1,
                self.name()
            )));
        }
        Ok(number)
    }

    /// VALU source `n` as it stands, 32 bits a lane.
    pub(crate) fn raw32(&self, n: usize) -> Run<Lanes> {
        let mut values = [0; LANES];
        self.read_raw32(n, &mut values)?;
        Ok(values)
    }

    /// As [`Exec::raw32`], in place.
    pub(crate) fn read_raw32(&self, n: usize, to: &mut Lanes) -> Run<()> {
        *to = if let Operand::Vgpr(reg) = self.inst.src[n] {
            self.wave.vgpr[self.vgpr_source(reg, 1, n)?]
        } else {
            [self.uniform32(self.inst.src[n])?; LANES]
        };
        Ok(())
    }

    /// VALU source `n` as it stands, 64 bits a lane.
    pub(crate) fn raw64(&self, n: usize) -> Run<Lanes64> {
        if let Operand::Vgpr(reg) = self.inst.src[n] {
            return Ok(self.vgpr_pair(self.vgpr_source(reg, 2, n)?));
        }
        Ok([self.uniform64(self.inst.src[n])?; LANES])
    }

    /// 64-bit values of a register pair inside the file.
    pub(crate) fn vgpr_pair(&self, first: usize) -> Lanes64 {
        let (low, high) = (self.wave.vector(first), self.wave.vector(first + 1));
        std::array::from_fn(|l| u64::from(low[l]) | u64::from(high[l]) << 32)
    }

    /// Writes active lanes of one VGPR.
    pub(crate) fn set_vgpr(&mut self, register: usize, values: &Lanes, mask: u64) {
        self.set_vector(register, values, mask);
    }

    /// Writes active lanes of one register of both files, see [`WaveState::vector`].
    pub(crate) fn set_vector(&mut self, register: usize, values: &Lanes, mask: u64) {
        let to = self.wave.vector_mut(register);
        if mask == u64::MAX {
            *to = *values;
        } else {
            lanes(mask).for_each(|l| to[l] = values[l]);
        }
    }

    /// Writes active lanes of a register pair inside the file.
    pub(crate) fn set_vgpr_pair(&mut self, first: usize, values: &Lanes64, mask: u64) {
        for l in lanes(mask) {
            self.wave.vgpr[first][l] = values[l] as u32;
            self.wave.vgpr[first + 1][l] = (values[l] >> 32) as u32;
        }
    }
}
