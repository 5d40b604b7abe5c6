//! Modifiers of vector ALU forms. Sources: lane exchange (DPP), selection (SDWA, OP_SEL), sign
//! extension, absolute value, negation. Destination: placement (SDWA, OP_SEL) and the upper half of
//! 16-bit results.

use frontend::desc::{Effects, Forms};
use frontend::inst::{Dpp, Operand, Sel, Unused};
use frontend::{Gfx, LANES, Ty};

use super::observe::Observer;
use super::operand::{Exec, Lanes, Lanes64, lanes};
use super::stop::{Run, Stop};
use crate::choices;

/// The lane that DPP control `ctrl` reads for `lane`: `None` when it lies outside.
pub(crate) fn dpp_source(ctrl: u16, lane: usize) -> Option<usize> {
    let (row, in_row) = (lane & !15, lane & 15);
    let n = usize::from(ctrl & 15);
    match ctrl {
        0x000..=0x0ff => Some(lane & !3 | usize::from(ctrl) >> (2 * (lane & 3)) & 3),
        0x101..=0x10f => (in_row + n < 16).then_some(lane + n),
        0x111..=0x11f => (in_row >= n).then(|| lane - n),
        0x121..=0x12f => Some(row | (in_row + 16 - n) & 15),
        0x130 => (lane < 63).then_some(lane + 1),
        0x134 => Some((lane + 1) & 63),
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) & 63),
        0x140 => Some(row | (15 - in_row)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        0x142 | 0x143 => {
            // The first row (or the first two) has no row to read from.
            let (first, source) = match ctrl {
                0x142 => (lane < 16, (lane & 0x30).wrapping_sub(1)),
                _ => (lane < 32, 31),
            };
            match (first, choices::DPP_BCAST_FIRST_ROW_IS_OWN) {
                (false, _) => Some(source),
                (true, true) => Some(lane),
                (true, false) => None,
            }
        }
        // gfx90a: row_newbcast.
        0x150..=0x15f => Some(row | n),
        _ => None,
    }
}

/// Is `ctrl` a control value of `gfx`?
fn dpp_known(gfx: Gfx, ctrl: u16) -> bool {
    match ctrl {
        0x000..=0x0ff | 0x101..=0x10f | 0x111..=0x11f | 0x121..=0x12f => true,
        0x130 | 0x134 | 0x138 | 0x13c | 0x140..=0x143 => true,
        0x150..=0x15f => gfx.has_row_newbcast(),
        _ => false,
    }
}

/// S0 of a lane under DPP.
enum Fetch {
    From(usize),
    Zero,
    /// The lane does not write.
    Invalid,
}

fn dpp_fetch(dpp: &Dpp, exec: u64, lane: usize) -> Fetch {
    match dpp_source(dpp.ctrl, lane) {
        Some(source) if exec >> source & 1 != 0 => Fetch::From(source),
        Some(source) if !dpp.bound_ctrl && choices::DPP_READS_INACTIVE_LANES => Fetch::From(source),
        _ if dpp.bound_ctrl => Fetch::Zero,
        _ => Fetch::Invalid,
    }
}

/// The selected byte or word of a dword, extended.
pub(crate) fn select(value: u32, sel: Sel, sext: bool) -> u32 {
    let (shift, bits) = match sel {
        Sel::Byte0 => (0, 8),
        Sel::Byte1 => (8, 8),
        Sel::Byte2 => (16, 8),
        Sel::Byte3 => (24, 8),
        Sel::Word0 => (0, 16),
        Sel::Word1 => (16, 16),
        Sel::Dword => return value,
    };
    let up = value << (32 - bits - shift);
    if sext {
        ((up as i32) >> (32 - bits)) as u32
    } else {
        up >> (32 - bits)
    }
}

/// Places a result by the SDWA selection; `old` is the previous destination.
pub(crate) fn place(result: u32, old: u32, sel: Sel, unused: Unused) -> u32 {
    let (shift, mask) = match sel {
        Sel::Byte0 => (0, 0xff),
        Sel::Byte1 => (8, 0xff),
        Sel::Byte2 => (16, 0xff),
        Sel::Byte3 => (24, 0xff),
        Sel::Word0 => (0, 0xffff),
        Sel::Word1 => (16, 0xffff),
        Sel::Dword => return result,
    };
    let part = (result & mask) << shift;
    match unused {
        Unused::Pad => part,
        Unused::Preserve => part | old & !(mask << shift),
        // Sign above, zeros below.
        Unused::Sext => {
            let sign = mask ^ mask >> 1;
            if result & sign == 0 {
                part
            } else {
                part | (!mask) << shift
            }
        }
    }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// Restricts the active lanes to those that DPP writes.
    pub(crate) fn apply_dpp_to_active(&mut self) -> Run<()> {
        let Some(dpp) = self.inst.mods.dpp else {
            return Ok(());
        };
        if !dpp_known(self.gfx, dpp.ctrl) {
            return Err(Stop::unsupported(format!(
                "DPP control 0x{:x} of {} on {}",
                dpp.ctrl,
                self.name(),
                self.gfx
            )));
        }
        let exec = self.wave.exec();
        for lane in lanes(exec) {
            let enabled = dpp.row_mask >> (lane >> 4) & 1 != 0
                && dpp.bank_mask >> (lane >> 2 & 3) & 1 != 0
                && !matches!(dpp_fetch(&dpp, exec, lane), Fetch::Invalid);
            if !enabled {
                self.active &= !(1 << lane);
            }
        }
        Ok(())
    }

    /// Exchanges lanes of S0 as DPP says.
    fn dpp_exchange<T: Copy + Default>(&self, values: [T; LANES]) -> [T; LANES] {
        let Some(dpp) = self.inst.mods.dpp else {
            return values;
        };
        let exec = self.wave.exec();
        std::array::from_fn(|lane| match dpp_fetch(&dpp, exec, lane) {
            Fetch::From(source) => values[source],
            Fetch::Zero | Fetch::Invalid => T::default(),
        })
    }

    /// Do `abs` and `neg` apply to a source of type `ty`? They are sign-bit operations of float
    /// sources; rows like `v_cndmask_b32` declare theirs as f32.
    fn has_sign(&self, ty: Ty) -> bool {
        let as_float = self.inst.desc.forms.has(Forms::FLOAT_MODS);
        let pair = choices::DOT2C_HAS_SIGNS && ty == Ty::PkF16;
        pair || matches!(ty, Ty::F16 | Ty::F32 | Ty::F64) || as_float && ty == Ty::B32
    }

    /// VALU source `n` of up to 32 bits, modified. 16-bit values come in the low half, the high
    /// half zero.
    pub(crate) fn source32(&self, n: usize) -> Run<Lanes> {
        let mut values = [0; LANES];
        self.read_source32(n, &mut values)?;
        Ok(values)
    }

    /// As [`Exec::source32`], in place.
    pub(crate) fn read_source32(&self, n: usize, values: &mut Lanes) -> Run<()> {
        let mods = &self.inst.mods;
        let ty = self.inst.desc.src.get(n).copied().unwrap_or(Ty::B32);
        self.read_raw32(n, values)?;
        if n == 0 && mods.dpp.is_some() {
            *values = self.dpp_exchange(*values);
        }
        if let (Some(sdwa), 0 | 1) = (&mods.sdwa, n) {
            let (sel, sext) = (sdwa.src_sel[n], sdwa.sext[n]);
            if sel != Sel::Dword {
                values.iter_mut().for_each(|v| *v = select(*v, sel, sext));
            }
        }
        let half = ty.bits() == 16;
        if half {
            let shift = if mods.op_sel >> n & 1 != 0 { 16 } else { 0 };
            values.iter_mut().for_each(|v| *v = *v >> shift & 0xffff);
        }
        let (abs, neg) = (mods.abs >> n & 1 != 0, mods.neg >> n & 1 != 0);
        if (abs || neg) && self.has_sign(ty) {
            let sign = if half { 0x8000 } else { 0x8000_0000 };
            let (keep, flip) = (if abs { !sign } else { !0 }, if neg { sign } else { 0 });
            values.iter_mut().for_each(|v| *v = *v & keep ^ flip);
        }
        Ok(())
    }

    /// VALU source `n` of 64 bits, modified.
    pub(crate) fn source64(&self, n: usize) -> Run<Lanes64> {
        let mods = &self.inst.mods;
        let mut values = self.raw64(n)?;
        if n == 0 {
            values = self.dpp_exchange(values);
        }
        let (abs, neg) = (mods.abs >> n & 1 != 0, mods.neg >> n & 1 != 0);
        if (abs || neg) && self.inst.src_ty(n) == Ty::F64 {
            let sign = 1 << 63;
            let (keep, flip) = (if abs { !sign } else { !0 }, if neg { sign } else { 0 });
            values = values.map(|v: u64| v & keep ^ flip);
        }
        Ok(values)
    }

    /// The destination's own value as accumulator of `v_mac` and the like. In GPR index mode the
    /// bit of source 2 applies.
    pub(crate) fn accumulator(&self) -> Run<Lanes> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        Ok(self.wave.vgpr[self.vgpr_source(reg, 1, 2)?])
    }

    /// Writes a result of up to 32 bits to the vector destination under the acting lanes.
    pub(crate) fn write32(&mut self, values: &Lanes) -> Run<()> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        let Some(to) = self.vgpr_dest(reg, 1)? else {
            return Ok(());
        };
        let half = self.inst.dst_ty(0).bits() == 16;
        match self.inst.mods.sdwa {
            Some(sdwa) if sdwa.dst_sel != Sel::Dword => {
                let old = self.wave.vgpr[to];
                let placed = std::array::from_fn(|l| {
                    place(values[l], old[l], sdwa.dst_sel, sdwa.dst_unused)
                });
                self.set_vgpr(to, &placed, self.active);
            }
            _ if half => {
                let old = self.wave.vgpr[to];
                let merged: Lanes = if self.inst.mods.op_sel & 8 != 0 {
                    std::array::from_fn(|l| values[l] << 16 | old[l] & 0xffff)
                } else if self.keeps_upper_half() {
                    std::array::from_fn(|l| values[l] & 0xffff | old[l] & 0xffff_0000)
                } else {
                    values.map(|v| v & 0xffff)
                };
                self.set_vgpr(to, &merged, self.active);
            }
            _ => self.set_vgpr(to, values, self.active),
        }
        Ok(())
    }

    /// Does a 16-bit result preserve the destination's upper half? Never on gfx8; on gfx9 for the
    /// rows that declare it.
    fn keeps_upper_half(&self) -> bool {
        self.gfx.is_gfx9() && self.inst.desc.forms.has(Forms::KEEPS_HI16)
    }

    /// Writes a 64-bit result to the vector destination under the acting lanes.
    pub(crate) fn write64(&mut self, values: &Lanes64) -> Run<()> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        if let Some(to) = self.vgpr_dest(reg, 2)? {
            self.set_vgpr_pair(to, values, self.active);
        }
        Ok(())
    }

    /// Would the vector destination be out of range? Then an instruction with several results
    /// writes none.
    pub(crate) fn dest_dropped(&self) -> Run<bool> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return Ok(false);
        };
        let regs = self.inst.dst_ty(0).regs().max(1) as usize;
        Ok(self.vgpr_dest(reg, regs)?.is_none())
    }

    /// Does CLAMP saturate integer results? Declared by the row; gfx6 and gfx7 ignore it.
    pub(crate) fn saturates(&self) -> bool {
        self.inst.mods.clamp && self.gfx.is_gfx8_up() && self.inst.desc.forms.has(Forms::INT_CLAMP)
    }

    /// The row reads its destination.
    pub(crate) fn reads_dest(&self) -> bool {
        self.inst.desc.effects.has(Effects::READS_D)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dpp_lanes() {
        let cases: &[(u16, usize, Option<usize>)] = &[
            // quad_perm:[3,2,1,0]
            (0x1b, 0, Some(3)),
            (0x1b, 6, Some(5)),
            (0x101, 14, Some(15)),
            (0x101, 15, None),
            (0x10f, 0, Some(15)),
            (0x111, 16, None),
            (0x111, 17, Some(16)),
            (0x121, 16, Some(31)),
            (0x12f, 16, Some(17)),
            (0x130, 62, Some(63)),
            (0x130, 63, None),
            (0x134, 63, Some(0)),
            (0x138, 0, None),
            (0x138, 1, Some(0)),
            (0x13c, 0, Some(63)),
            (0x140, 16, Some(31)),
            (0x141, 8, Some(15)),
            (0x142, 15, Some(15)),
            (0x142, 16, Some(15)),
            (0x142, 40, Some(31)),
            (0x142, 63, Some(47)),
            (0x143, 31, Some(31)),
            (0x143, 32, Some(31)),
            (0x143, 63, Some(31)),
            (0x153, 37, Some(35)),
            (0x100, 3, None),
        ];
        for &(ctrl, lane, want) in cases {
            assert_eq!(dpp_source(ctrl, lane), want, "ctrl 0x{ctrl:x} lane {lane}");
        }
    }

    #[test]
    fn sdwa_selects_and_places() {
        let v = 0x8091_a2f3;
        assert_eq!(select(v, Sel::Byte0, false), 0xf3);
        assert_eq!(select(v, Sel::Byte0, true), 0xffff_fff3);
        assert_eq!(select(v, Sel::Byte1, true), 0xffff_ffa2);
        assert_eq!(select(v, Sel::Byte3, false), 0x80);
        assert_eq!(select(v, Sel::Word0, false), 0xa2f3);
        assert_eq!(select(v, Sel::Word1, true), 0xffff_8091);
        assert_eq!(select(v, Sel::Dword, true), v);
        let old = 0x1122_3344;
        assert_eq!(place(0xabcd, old, Sel::Byte1, Unused::Pad), 0xcd00);
        assert_eq!(
            place(0xabcd, old, Sel::Byte1, Unused::Preserve),
            0x1122_cd44
        );
        assert_eq!(place(0xabcd, old, Sel::Byte1, Unused::Sext), 0xffff_cd00);
        assert_eq!(place(0x12, old, Sel::Byte2, Unused::Sext), 0x0012_0000);
        assert_eq!(place(0x92, old, Sel::Byte3, Unused::Sext), 0x9200_0000);
        assert_eq!(place(0x8123, old, Sel::Word0, Unused::Sext), 0xffff_8123);
        assert_eq!(
            place(0x8123, old, Sel::Word1, Unused::Preserve),
            0x8123_3344
        );
        assert_eq!(place(0x5, old, Sel::Dword, Unused::Preserve), 5);
    }
}
