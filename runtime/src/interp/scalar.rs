//! The scalar ALU: SOP1, SOP2, SOPC and SOPK, except instructions that change the PC.

use std::cmp::Ordering;

use frontend::desc::{Encoding, Scc};
use frontend::inst::{Inst, Operand};
use frontend::op::{Cmp, Logic};
use frontend::state::mode;
use frontend::{Op, Ty, ops};

use super::observe::Observer;
use super::operand::Exec;
use super::stop::Run;

/// Result of an operation: the value for D and the booleans that the row's SCC rule selects from.
#[derive(Clone, Copy, Default)]
struct Out {
    d: u64,
    carry: bool,
    overflow: bool,
    result: bool,
}

impl Out {
    fn value(d: u64) -> Out {
        Out {
            d,
            ..Out::default()
        }
    }

    fn word(d: u32) -> Out {
        Out::value(u64::from(d))
    }

    fn boolean(result: bool) -> Out {
        Out {
            result,
            ..Out::default()
        }
    }
}

/// Number of SGPRs that relative moves may reach: the wave's own, without VCC and what follows.
fn sgpr_limit(count: u32) -> usize {
    (count as usize).clamp(2, 104)
}

impl<O: Observer> Exec<'_, '_, O> {
    /// A scalar source in its row's type, zero-extended to 64 bits.
    fn scalar_src(&self, n: usize) -> Run<u64> {
        let operand = self.inst.src[n];
        match self.inst.desc.src.get(n) {
            Some(ty) if ty.bits() == 64 => self.uniform64(operand),
            Some(ty) if ty.bits() == 16 => Ok(u64::from(self.uniform32(operand)? & 0xffff)),
            _ => Ok(u64::from(self.uniform32(operand)?)),
        }
    }

    fn scalar_dest(&self) -> Run<u64> {
        if self.inst.dst_ty(0).bits() == 64 {
            self.uniform64(self.inst.dst[0])
        } else {
            Ok(u64::from(self.uniform32(self.inst.dst[0])?))
        }
    }

    fn write_scalar(&mut self, n: usize, value: u64) -> Run<()> {
        let operand = self.inst.dst[n];
        if self.inst.dst_ty(n).bits() == 64 {
            self.set_uniform64(operand, value)
        } else {
            self.set_uniform(operand, &[value as u32])
        }
    }

    /// One instruction of the scalar ALU.
    pub(crate) fn exec_scalar(&mut self) -> Run<()> {
        let inst = self.inst;
        match inst.op() {
            Op::SaveExec(logic) => return self.exec_saveexec(logic, false),
            Op::WrExec(logic) => return self.exec_saveexec(logic, true),
            Op::CMov if self.wave.scc == 0 => return Ok(()),
            Op::MovRelS => return self.exec_movrels(),
            Op::MovRelD => return self.exec_movreld(),
            Op::SetGprIdxOn => return self.exec_set_gpr_idx_on(),
            Op::SetGprIdxIdx => {
                let index = self.uniform32(inst.src[0])? & 0xff;
                self.set_m0(0xff, index);
                return Ok(());
            }
            Op::SetVskip => {
                let bit = self.scalar_src(0)? >> (self.scalar_src(1)? & 31) & 1;
                self.wave.mode &= !mode::VSKIP;
                self.wave.mode |= if bit != 0 { mode::VSKIP } else { 0 };
                return Ok(());
            }
            Op::Mov | Op::Select | ops!(arithmetic | integer | logic | shifts | bits) => {}
            ops!(compare | scalar | scalar_bits | scalar_other) => {}
            // `exec_control` has these.
            Op::Nop | Op::Waitcnt | Op::Hint(_) | Op::Sendmsg => return self.unknown(),
            Op::Branch(_) | Op::Call | Op::GetPc | Op::SetPc => return self.unknown(),
            Op::SwapPc | Op::Endpgm | Op::Barrier | Op::Trap => return self.unknown(),
            Op::CbranchGFork | Op::CbranchIFork | Op::CbranchJoin => return self.unknown(),
            Op::SetGprIdxOff | Op::SetGprIdxMode => return self.unknown(),
            Op::GetReg | Op::SetReg | Op::Rfe | Op::RfeRestore => return self.unknown(),
            Op::MovRelSD | Op::MovRelSD2 | ops!(valu | mem) => return self.unknown(),
        }
        let (s0, s1) = match inst.desc.src.len() {
            0 => return self.unknown(),
            // `s_addk`, `s_mulk`: D op simm16.
            1 if inst.desc.encoding == Encoding::Sopk && matches!(inst.op(), Op::Add | Op::Mul) => {
                (self.scalar_dest()?, self.scalar_src(0)?)
            }
            1 => (self.scalar_src(0)?, 0),
            _ => (self.scalar_src(0)?, self.scalar_src(1)?),
        };
        let (s0, s1) = if inst.desc.rev { (s1, s0) } else { (s0, s1) };
        // `s_cmpk_*_u32` zero-extends simm16, everything else sign-extends it.
        let unsigned = matches!(inst.desc.src.first(), Some(Ty::U32));
        let s1 =
            if let (Op::Cmp(_), Operand::Imm(simm16), true) = (inst.op(), inst.src[1], unsigned) {
                u64::from(simm16 as u16)
            } else {
                s1
            };
        // D, for those that change bits of it.
        let old = if let Op::Bitset0 | Op::Bitset1 = inst.op() {
            self.scalar_dest()?
        } else {
            0
        };
        let Some(out) = compute(inst, s0, s1, old, self.wave.scc & 1) else {
            return self.unknown();
        };
        let nonzero = match inst.desc.dst.first() {
            Some(ty) if ty.bits() == 64 => out.d != 0,
            _ => out.d as u32 != 0,
        };
        if !inst.desc.dst.is_empty() {
            self.write_scalar(0, out.d)?;
        }
        match inst.desc.scc {
            Scc::Keep => {}
            Scc::NonZero => self.wave.scc = u32::from(nonzero),
            Scc::Carry => self.wave.scc = u32::from(out.carry),
            Scc::Overflow => self.wave.scc = u32::from(out.overflow),
            Scc::Result => self.wave.scc = u32::from(out.result),
        }
        Ok(())
    }

    /// EXEC = S0 op EXEC. D is the old EXEC (saveexec) or the new one (wrexec).
    fn exec_saveexec(&mut self, logic: Logic, write_result: bool) -> Run<()> {
        let s0 = self.uniform64(self.inst.src[0])?;
        let exec = self.wave.exec();
        let result = match logic {
            Logic::And => s0 & exec,
            Logic::Or => s0 | exec,
            Logic::Xor => s0 ^ exec,
            Logic::AndN2 => s0 & !exec,
            Logic::OrN2 => s0 | !exec,
            Logic::Nand => !(s0 & exec),
            Logic::Nor => !(s0 | exec),
            Logic::Xnor => !(s0 ^ exec),
            Logic::AndN1 => !s0 & exec,
            Logic::OrN1 => !s0 | exec,
        };
        self.set_uniform64(self.inst.dst[0], if write_result { result } else { exec })?;
        self.wave.set_exec(result);
        self.wave.scc = u32::from(result != 0);
        Ok(())
    }

    /// D = SGPR[S0 + M0]; out of range reads s0.
    fn exec_movrels(&mut self) -> Run<()> {
        let Operand::Sgpr(code) = self.inst.src[0] else {
            return self.unknown();
        };
        let regs = self.inst.dst_ty(0).regs() as usize;
        let index = usize::from(code) + self.wave.m0() as usize;
        let index = match index + regs <= sgpr_limit(self.wave.sgpr_count) {
            true => index,
            false => 0,
        };
        let values = [self.wave.sgpr[index], self.wave.sgpr[index + regs - 1]];
        self.set_uniform(self.inst.dst[0], &values[..regs.min(2)])
    }

    /// SGPR[D + M0] = S0; out of range writes nothing.
    fn exec_movreld(&mut self) -> Run<()> {
        let Operand::Sgpr(code) = self.inst.dst[0] else {
            return self.unknown();
        };
        let regs = self.inst.dst_ty(0).regs() as usize;
        let value = self.scalar_src(0)?;
        let index = usize::from(code) + self.wave.m0() as usize;
        if index + regs <= sgpr_limit(self.wave.sgpr_count) {
            self.wave.sgpr[index] = value as u32;
            if regs > 1 {
                self.wave.sgpr[index + 1] = (value >> 32) as u32;
            }
        }
        Ok(())
    }

    /// Replaces the bits `mask` of M0.
    fn set_m0(&mut self, mask: u32, value: u32) {
        let m0 = &mut self.wave.sgpr[usize::from(frontend::inst::M0)];
        *m0 = *m0 & !mask | value & mask;
    }

    /// GPR index mode on: M0[7:0] = S0[7:0], M0[15:12] = the raw four bits of the S1 field.
    fn exec_set_gpr_idx_on(&mut self) -> Run<()> {
        let index = self.uniform32(self.inst.src[0])? & 0xff;
        let Operand::Imm(enables) = self.inst.src[1] else {
            return self.unknown();
        };
        self.set_m0(0xf0ff, index | (enables as u32 & 0xf) << 12);
        self.wave.mode |= mode::GPR_IDX_EN;
        Ok(())
    }

    /// M0[15:12] = simm16.
    pub(crate) fn exec_set_gpr_idx_mode(&mut self) -> Run<()> {
        let enables = self.uniform32(self.inst.src[0])?;
        self.set_m0(0xf000, enables << 12);
        Ok(())
    }
}

/// The operations that only need values. `None`: not an operation of the scalar ALU.
fn compute(inst: &Inst, s0: u64, s1: u64, old: u64, scc: u32) -> Option<Out> {
    let ty = inst.desc.ty();
    let wide = ty.bits() == 64;
    let source = inst.desc.src.first().copied().unwrap_or(ty);
    let (a, b) = (s0 as u32, s1 as u32);
    Some(match inst.op() {
        Op::Mov | Op::CMov => Out::value(s0),
        Op::Select => Out::value(if scc != 0 { s0 } else { s1 }),
        Op::Add => Out {
            d: u64::from(a.wrapping_add(b)),
            carry: a.checked_add(b).is_none(),
            overflow: (a as i32).checked_add(b as i32).is_none(),
            result: false,
        },
        Op::Sub => Out {
            d: u64::from(a.wrapping_sub(b)),
            carry: a < b,
            overflow: (a as i32).checked_sub(b as i32).is_none(),
            result: false,
        },
        Op::AddCarry => {
            let sum = u64::from(a) + u64::from(b) + u64::from(scc);
            Out {
                carry: sum >> 32 != 0,
                ..Out::word(sum as u32)
            }
        }
        Op::SubBorrow => Out {
            carry: u64::from(b) + u64::from(scc) > u64::from(a),
            ..Out::word(a.wrapping_sub(b).wrapping_sub(scc))
        },
        Op::Mul => Out::word(a.wrapping_mul(b)),
        Op::MulHi if ty.is_signed() => {
            let product = i64::from(a as i32) * i64::from(b as i32);
            Out::word((product >> 32) as u32)
        }
        Op::MulHi => Out::word(((u64::from(a) * u64::from(b)) >> 32) as u32),
        // SCC is set if S0 was chosen by the strict comparison.
        Op::Min | Op::Max => {
            let less = if ty.is_signed() {
                (a as i32).cmp(&(b as i32))
            } else {
                a.cmp(&b)
            };
            let first = if inst.op() == Op::Min {
                less.is_lt()
            } else {
                less.is_gt()
            };
            Out {
                result: first,
                ..Out::word(if first { a } else { b })
            }
        }
        Op::ShlNAdd(n) => {
            let sum = (u64::from(a) << n) + u64::from(b);
            Out {
                carry: sum >> 32 != 0,
                ..Out::word(sum as u32)
            }
        }
        Op::AbsDiff => Out::word((a.wrapping_sub(b) as i32).wrapping_abs() as u32),
        Op::Abs => Out::word((a as i32).wrapping_abs() as u32),
        Op::And => Out::value(s0 & s1),
        Op::Or => Out::value(s0 | s1),
        Op::Xor => Out::value(s0 ^ s1),
        Op::AndN2 => Out::value(s0 & !s1),
        Op::OrN2 => Out::value(s0 | !s1),
        Op::Nand => Out::value(!(s0 & s1)),
        Op::Nor => Out::value(!(s0 | s1)),
        Op::Xnor => Out::value(!(s0 ^ s1)),
        Op::Not => Out::value(!s0),
        Op::Shl if wide => Out::value(s0 << (s1 & 63)),
        Op::Shl => Out::word(a << (b & 31)),
        Op::Lshr if wide => Out::value(s0 >> (s1 & 63)),
        Op::Lshr => Out::word(a >> (b & 31)),
        Op::Ashr if wide => Out::value((s0 as i64 >> (s1 & 63)) as u64),
        Op::Ashr => Out::word((a as i32 >> (b & 31)) as u32),
        Op::Bfm if wide => Out::value(((1 << (s0 & 63)) - 1) << (s1 & 63)),
        Op::Bfm => Out::word(((1 << (a & 31)) - 1) << (b & 31)),
        Op::SBfe => Out::value(bit_field(ty, s0, b)),
        Op::PackLL => Out::word(b << 16 | a & 0xffff),
        Op::PackLH => Out::word(b & 0xffff_0000 | a & 0xffff),
        Op::PackHH => Out::word(b & 0xffff_0000 | a >> 16),
        Op::Wqm => Out::value(whole_quads(s0)),
        Op::QuadMask => Out::value(quad_mask(s0)),
        Op::BitReplicate => Out::value(replicate(a)),
        Op::Brev if wide => Out::value(s0.reverse_bits()),
        Op::Brev => Out::word(a.reverse_bits()),
        Op::Bcnt1 => Out::word(s0.count_ones()),
        Op::Bcnt0 => Out::word(source.bits() - s0.count_ones()),
        Op::Ff1 => Out::word(first_one(s0)),
        // A 32-bit source is zero-extended: its upper half must not count as zeros found.
        Op::Ff0 if source.bits() == 64 => Out::word(first_one(!s0)),
        Op::Ff0 => Out::word(first_one(u64::from(!a))),
        Op::Flbit if source.bits() == 64 => Out::word(leading(s0, 64)),
        Op::Flbit => Out::word(leading(s0, 32)),
        Op::FlbitI if source.bits() == 64 => Out::word(leading(s0 ^ (s0 as i64 >> 63) as u64, 64)),
        Op::FlbitI => Out::word(leading(u64::from(a ^ (a as i32 >> 31) as u32), 32)),
        Op::SextI8 => Out::word(i32::from(a as i8) as u32),
        Op::SextI16 => Out::word(i32::from(a as i16) as u32),
        Op::Cmp(cmp) => Out::boolean(compare(cmp, source, s0, s1)?),
        Op::Bitcmp0 | Op::Bitcmp1 => {
            let bit = s0 >> (s1 & (u64::from(source.bits()) - 1)) & 1;
            Out::boolean((bit == 1) == (inst.op() == Op::Bitcmp1))
        }
        Op::Bitset0 => Out::value(old & !(1 << (s0 & (u64::from(ty.bits()) - 1)))),
        Op::Bitset1 => Out::value(old | 1 << (s0 & (u64::from(ty.bits()) - 1))),
        Op::Nop | Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => return None,
        Op::Mad | Op::Mac | Op::Fma | Op::Fmac | Op::Min3 | Op::Max3 | Op::Med3 => return None,
        Op::Cmpx(_) | Op::Cmps(_) | Op::Cmpsx(_) | Op::CmpClass | Op::CmpxClass => return None,
        ops!(control | valu | mem) => return None,
    })
}

/// `s_bfe`: offset S1[4:0] or [5:0], width S1[22:16]; the width may exceed the type.
fn bit_field(ty: Ty, s0: u64, s1: u32) -> u64 {
    let bits = ty.bits();
    let offset = s1 & (bits - 1);
    let width = (s1 >> 16 & 0x7f).min(bits - offset);
    if width == 0 {
        return 0;
    }
    // Field to the top, then back down with zeros or signs.
    let up = s0 << (64 - width - offset);
    if ty.is_signed() {
        let value = (up as i64 >> (64 - width)) as u64;
        if bits == 32 {
            value & 0xffff_ffff
        } else {
            value
        }
    } else {
        up >> (64 - width)
    }
}

fn whole_quads(s0: u64) -> u64 {
    quads(s0) * 15
}

/// Bit 4n: the or of the quad n.
fn quads(s0: u64) -> u64 {
    (s0 | s0 >> 1 | s0 >> 2 | s0 >> 3) & 0x1111_1111_1111_1111
}

fn quad_mask(s0: u64) -> u64 {
    let quads = quads(s0);
    (0..16).fold(0, |d, n| d | (quads >> (4 * n) & 1) << n)
}

fn replicate(s0: u32) -> u64 {
    (0..32).fold(0, |d, n| d | (u64::from(s0 >> n & 1) * 3) << (2 * n))
}

fn first_one(s0: u64) -> u32 {
    if s0 == 0 {
        u32::MAX
    } else {
        s0.trailing_zeros()
    }
}

/// Zeros above the highest one of the low `bits` bits; -1 for 0.
fn leading(s0: u64, bits: u32) -> u32 {
    if s0 == 0 {
        u32::MAX
    } else {
        s0.leading_zeros() - (64 - bits)
    }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "by type: the scalar unit has no other"
)]
fn order(ty: Ty, s0: u64, s1: u64) -> Option<Ordering> {
    Some(match ty {
        Ty::I32 | Ty::I16 | Ty::Imm => (s0 as i32).cmp(&(s1 as i32)),
        Ty::U32 | Ty::B32 => (s0 as u32).cmp(&(s1 as u32)),
        Ty::U64 | Ty::B64 => s0.cmp(&s1),
        Ty::I64 => (s0 as i64).cmp(&(s1 as i64)),
        _ => return None,
    })
}

fn compare(cmp: Cmp, ty: Ty, s0: u64, s1: u64) -> Option<bool> {
    let order = order(ty, s0, s1)?;
    Some(match cmp {
        Cmp::F => false,
        Cmp::Lt => order.is_lt(),
        Cmp::Eq => order.is_eq(),
        Cmp::Le => order.is_le(),
        Cmp::Gt => order.is_gt(),
        Cmp::Lg => order.is_ne(),
        Cmp::Ge => order.is_ge(),
        Cmp::T => true,
        Cmp::O | Cmp::U | Cmp::Nge | Cmp::Nlg => return None,
        Cmp::Ngt | Cmp::Nle | Cmp::Neq | Cmp::Nlt => return None,
    })
}
