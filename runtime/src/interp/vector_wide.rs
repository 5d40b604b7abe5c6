//! Vector ALU operations with 64-bit sources or results: doubles, 64-bit shifts and multiply-adds,
//! and the sums of absolute differences over sliding windows.

use frontend::inst::Operand;
use frontend::{Op, Ty, ops};

use super::float;
use super::observe::Observer;
use super::operand::{Exec, Lanes, Lanes64, lanes};
use super::stop::Run;
use super::vector::{map1, map2, map3};
use super::vector_float::FloatMode;
use super::vector_int::{masked_sad4, plain_sad4};
use crate::choices;
use crate::math::{self, Denorm, Env};

/// Sources of any width, exchanged for rows marked `rev`, zero-extended to 64 bits.
struct Wide {
    s0: Lanes64,
    s1: Lanes64,
    s2: Lanes64,
}

fn low(x: &Lanes64) -> Lanes {
    x.map(|v| v as u32)
}

impl<O: Observer> Exec<'_, '_, O> {
    fn wide_sources(&self) -> Run<Wide> {
        let types = self.inst.desc.src;
        let get = |n: usize| -> Run<Lanes64> {
            match types.get(n) {
                Some(ty) if ty.bits() == 64 && *ty != Ty::Mask => self.source64(n),
                Some(ty) if ty.bits() <= 32 && *ty != Ty::Imm => {
                    Ok(self.source32(n)?.map(u64::from))
                }
                _ => Ok([0; 64]),
            }
        };
        let (mut s0, mut s1, mut s2) = (get(0)?, get(1)?, get(2)?);
        if types.len() < 3 && self.reads_dest() {
            s2 = self.accumulator64()?;
        }
        if self.inst.desc.rev {
            std::mem::swap(&mut s0, &mut s1);
        }
        Ok(Wide { s0, s1, s2 })
    }

    fn accumulator64(&self) -> Run<Lanes64> {
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        Ok(self.vgpr_pair(self.vgpr_source(reg, 2, 2)?))
    }

    /// One operation of this chapter.
    pub(crate) fn exec_wide(&mut self) -> Run<()> {
        let op = self.inst.op();
        if op == Op::Mad64 {
            return self.exec_mad64();
        }
        if op == Op::MqsadU32U8 {
            return self.exec_mqsad_u32();
        }
        if op == Op::DivScale {
            return self.exec_div_scale64();
        }
        let src = self.wide_sources()?;
        let ty = self.dest_ty();
        if ty == Ty::F64 {
            let d = self.f64_arm(&src)?;
            self.write64(&d)
        } else if ty.bits() == 64 {
            let d = self.int64_arm(&src)?;
            self.write64(&d)
        } else {
            let d = self.narrowing_arm(&src)?;
            self.write32(&d)
        }
    }

    /// Doubles, and conversions to them.
    fn f64_arm(&self, src: &Wide) -> Run<Lanes64> {
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let fm = self.float_mode(Ty::F64);
        let FloatMode { env, ieee, .. } = fm;
        let flush = |x: u64| env.denorm.src_f64(x);
        let settle = |x: u64| env.denorm.dst_f64(x);
        let mm = self.min_max_denorm(env);
        let from = self.inst.src_ty(0);
        let d = match self.inst.op() {
            Op::Add => map2(on, s0, s1, |a, b| math::add_f64_flush(a, b, env)),
            Op::Mul => map2(on, s0, s1, |a, b| math::mul_f64_flush(a, b, env)),
            Op::Fma | Op::Fmac => map3(on, s0, s1, s2, |a, b, c| math::fma_f64_flush(a, b, c, env)),
            Op::Min => map2(on, s0, s1, |a, b| {
                mm.dst_f64(float::min_f64(mm.src_f64(a), mm.src_f64(b), ieee))
            }),
            Op::Max => map2(on, s0, s1, |a, b| {
                mm.dst_f64(float::max_f64(mm.src_f64(a), mm.src_f64(b), ieee))
            }),
            Op::Ldexp => map2(on, s0, s1, |a, b| math::ldexp_f64(a, b as i32, env)),
            Op::Fract => {
                let variant = self.fract_variant();
                map1(on, s0, |a| {
                    settle(float::fract_f64(flush(a), env.round, variant))
                })
            }
            Op::Trunc => map1(on, s0, |a| float::trunc_f64(flush(a))),
            Op::Ceil => map1(on, s0, |a| float::ceil_f64(flush(a))),
            Op::Rndne => map1(on, s0, |a| float::rndne_f64(flush(a))),
            Op::Floor => map1(on, s0, |a| float::floor_f64(flush(a))),
            Op::Rcp => map1(on, s0, |a| settle(math::rcp_f64(flush(a)))),
            Op::RcpClamp => map1(on, s0, |a| settle(math::rcp_clamp_f64(flush(a)))),
            Op::Rsq => map1(on, s0, |a| settle(math::rsq_f64(flush(a)))),
            Op::RsqClamp => map1(on, s0, |a| settle(math::rsq_clamp_f64(flush(a)))),
            Op::Sqrt => map1(on, s0, |a| settle(math::sqrt_f64(flush(a)))),
            Op::FrexpMant => map1(on, s0, |a| math::frexp_mant_f64(flush(a))),
            Op::TrigPreop => map2(on, s0, s1, |a, b| {
                settle(math::trig_preop_f64(flush(a), b as u32))
            }),
            Op::DivFmas => {
                let vcc = self.wave.vcc();
                let mut d = [0; 64];
                for l in lanes(on) {
                    d[l] = math::div_fmas_f64(s0[l], s1[l], s2[l], vcc >> l & 1 != 0, env);
                }
                d
            }
            Op::DivFixup => map3(on, s0, s1, s2, math::div_fixup_f64),
            Op::Cvt if from == Ty::I32 => map1(on, s0, |a| math::i32_to_f64(a as i32)),
            Op::Cvt if from == Ty::U32 => map1(on, s0, |a| math::u32_to_f64(a as u32)),
            Op::Cvt if from == Ty::F32 => {
                let flush = Env::f32_of_mode(self.wave.mode).denorm.flush_src;
                map1(on, s0, |a| math::f32_to_f64(a as u32, flush))
            }
            Op::Cvt => return self.unknown(),
            Op::CvtRpi | Op::CvtFlr | Op::CvtOffI4 | Op::CvtUbyte(_) => return self.unknown(),
            Op::CvtPkU8 | Op::CvtPkAccumU8 | Op::CvtPkNorm => return self.unknown(),
            Op::CvtPkRtz | Op::CvtPkInt | Op::CvtNorm => return self.unknown(),
            Op::PackF16 | Op::FrexpExp => return self.unknown(),
            Op::Sub | Op::Mad | Op::Mac | Op::Min3 | Op::Max3 | Op::Med3 => return self.unknown(),
            Op::Exp | Op::Log | Op::Sin | Op::Cos => return self.unknown(),
            Op::RcpIflag | Op::LogClamp | Op::RcpLegacy | Op::RsqLegacy => return self.unknown(),
            Op::ExpLegacy | Op::LogLegacy | Op::MulLit | Op::DivScale => return self.unknown(),
            Op::CubeId | Op::CubeSc | Op::CubeTc | Op::CubeMa => return self.unknown(),
            ops!(moves | integer | logic | shifts | bits | compare) => return self.unknown(),
            ops!(special | vector | vector_wide | eight_bits | legacy) => return self.unknown(),
            ops!(packed | parameters | matrix | salu | mem) => return self.unknown(),
        };
        Ok(self.output_f64(fm, d))
    }

    fn output_f64(&self, fm: FloatMode, mut d: Lanes64) -> Lanes64 {
        let round = fm.env.round;
        if fm.omod != 0 {
            d = map1(self.active, &d, |x| float::omod_f64(x, fm.omod, round));
        }
        if fm.clamp {
            d = map1(self.active, &d, |x| float::clamp_f64(x, fm.dx10_clamp));
        }
        d
    }

    /// 64-bit integers and bits.
    fn int64_arm(&self, src: &Wide) -> Run<Lanes64> {
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let clamp = self.saturates();
        Ok(match self.inst.op() {
            Op::Mov => *s0,
            Op::Shl => map2(on, s0, s1, |a, b| a << (b & 63)),
            Op::Lshr => map2(on, s0, s1, |a, b| a >> (b & 63)),
            Op::Ashr => map2(on, s0, s1, |a, b| (a as i64 >> (b & 63)) as u64),
            Op::ShlAdd64 => map3(on, s0, s1, s2, |a, b, c| {
                let by = b & 7;
                (if by > 4 { a } else { a << by }).wrapping_add(c)
            }),
            Op::QsadPkU16U8 => map3(on, s0, s1, s2, |a, b, c| {
                window_sums(a, b as u32, c, clamp, plain_sad4)
            }),
            Op::MqsadPkU16U8 => map3(on, s0, s1, s2, |a, b, c| {
                window_sums(a, b as u32, c, clamp, masked_sad4)
            }),
            Op::Mad64 | Op::MqsadU32U8 => return self.unknown(),
            Op::Nop | Op::Select => return self.unknown(),
            Op::MovRelS | Op::MovRelD | Op::MovRelSD | Op::MovRelSD2 => return self.unknown(),
            ops!(arithmetic | integer | logic | bits | compare) => return self.unknown(),
            ops!(special | vector | convert | eight_bits | rounding | float) => {
                return self.unknown();
            }
            ops!(float_wide | legacy | packed | parameters | matrix) => return self.unknown(),
            ops!(salu | mem) => return self.unknown(),
        })
    }

    /// Results of up to 32 bits from doubles.
    fn narrowing_arm(&self, src: &Wide) -> Run<Lanes> {
        let s0 = &src.s0;
        let on = self.active;
        let denorm = Env::f16_f64_of_mode(self.wave.mode).denorm;
        let to = self.dest_ty();
        Ok(match self.inst.op() {
            Op::Cvt if to == Ty::I32 => map1(on, s0, |a| float::f64_to_i32(a) as u32),
            Op::Cvt if to == Ty::U32 => map1(on, s0, float::f64_to_u32),
            Op::Cvt if to == Ty::F32 => {
                let fm = self.float_mode(Ty::F32);
                let both = Denorm {
                    flush_src: denorm.flush_src,
                    flush_dst: fm.env.denorm.flush_dst,
                };
                let round = fm.env.round;
                let d = map1(on, s0, |a| math::f64_to_f32(a, round, both));
                self.output_f32(fm, d)
            }
            Op::Cvt => return self.unknown(),
            Op::FrexpExp => map1(on, s0, |a| math::frexp_exp_f64(denorm.src_f64(a)) as u32),
            Op::CvtRpi | Op::CvtFlr | Op::CvtOffI4 | Op::CvtUbyte(_) => return self.unknown(),
            Op::CvtPkU8 | Op::CvtPkAccumU8 | Op::CvtPkNorm => return self.unknown(),
            Op::CvtPkRtz | Op::CvtPkInt | Op::CvtNorm | Op::PackF16 => return self.unknown(),
            ops!(alu | special | vector | vector_wide | rounding) => return self.unknown(),
            ops!(eight_bits | float | float_wide | legacy | packed) => return self.unknown(),
            ops!(parameters | matrix | salu | mem) => return self.unknown(),
        })
    }

    /// `v_div_scale_f64`.
    fn exec_div_scale64(&mut self) -> Run<()> {
        let src = self.wide_sources()?;
        let mut d = [0; 64];
        let mut mask = 0;
        for l in lanes(self.active) {
            let (value, vcc) = math::div_scale_f64(src.s0[l], src.s1[l], src.s2[l]);
            d[l] = value;
            mask |= u64::from(vcc) << l;
        }
        let d = self.output_f64(self.float_mode(Ty::F64), d);
        self.finish_carried64(&d, mask)
    }

    /// `v_mad_u64_u32` and `v_mad_i64_i32`.
    fn exec_mad64(&mut self) -> Run<()> {
        let src = self.wide_sources()?;
        let (a, b) = (low(&src.s0), low(&src.s1));
        let signed = self.dest_ty().is_signed();
        let clamp = self.saturates();
        let mut d = [0; 64];
        let mut mask = 0;
        for l in lanes(self.active) {
            let (value, carry) = if signed {
                mad_i64(a[l] as i32, b[l] as i32, src.s2[l] as i64, clamp)
            } else {
                let product = u64::from(a[l]) * u64::from(b[l]);
                let (sum, carry) = product.overflowing_add(src.s2[l]);
                (if clamp && carry { u64::MAX } else { sum }, carry)
            };
            d[l] = value;
            mask |= u64::from(carry) << l;
        }
        self.finish_carried64(&d, mask)
    }

    /// `v_mqsad_u32_u8`: four windows into four accumulators of 32 bits.
    fn exec_mqsad_u32(&mut self) -> Run<()> {
        let s0 = self.source64(0)?;
        let s1 = self.source32(1)?;
        let Operand::Vgpr(to) = self.inst.dst[0] else {
            return self.unknown();
        };
        let accumulators: [Lanes; 4] = match self.inst.src[2] {
            Operand::Vgpr(reg) => {
                let first = self.vgpr_source(reg, 4, 2)?;
                std::array::from_fn(|i| self.wave.vgpr[first + i])
            }
            Operand::Sgpr(_) => {
                let words = self.uniform_block::<4>(self.inst.src[2])?;
                words.map(|word| [word; 64])
            }
            // A constant fills the low 64 bits.
            Operand::Inline { .. }
            | Operand::Literal { .. }
            | Operand::Special(_)
            | Operand::Imm(_)
            | Operand::Agpr(_)
            | Operand::None => {
                let bits = self.uniform64(self.inst.src[2])?;
                [
                    [bits as u32; 64],
                    [(bits >> 32) as u32; 64],
                    [0; 64],
                    [0; 64],
                ]
            }
        };
        let clamp = self.saturates();
        let Some(to) = self.vgpr_dest(to, 4)? else {
            return Ok(());
        };
        for (i, accumulator) in accumulators.iter().enumerate() {
            let values = map3(
                self.active,
                &s0,
                &s1,
                accumulator,
                |data, reference, sum| {
                    let window = (data >> (8 * i)) as u32;
                    let difference = masked_sad4(window, reference);
                    if clamp {
                        difference.saturating_add(sum)
                    } else {
                        difference.wrapping_add(sum)
                    }
                },
            );
            self.set_vgpr(to + i, &values, self.active);
        }
        Ok(())
    }
}

/// Four windows of `data`, each against the reference, added to four halves.
fn window_sums(data: u64, reference: u32, sums: u64, clamp: bool, sad: fn(u32, u32) -> u32) -> u64 {
    (0..4).fold(0, |d, i| {
        let window = (data >> (8 * i)) as u32;
        let old = (sums >> (16 * i)) as u32 & 0xffff;
        let sum = sad(window, reference) + old;
        let sum = if clamp { sum.min(0xffff) } else { sum & 0xffff };
        d | u64::from(sum) << (16 * i)
    })
}

fn mad_i64(a: i32, b: i32, c: i64, clamp: bool) -> (u64, bool) {
    let exact = i128::from(a) * i128::from(b) + i128::from(c);
    let overflow = i64::try_from(exact).is_err();
    let carry = match choices::MAD_I64_CARRY_IS_BIT_64 {
        true => exact >> 64 & 1 != 0,
        false => overflow,
    };
    let value = match (clamp && overflow, exact < 0) {
        (false, _) => exact as i64,
        (true, false) => i64::MAX,
        (true, true) => i64::MIN,
    };
    (value as u64, carry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sliding_windows() {
        // Bytes 01 02 03 04 05 ..: the second window is 02 03 04 05.
        let data = 0x0807_0605_0403_0201;
        let sums = window_sums(data, 0x0403_0201, 0xffff_0000_0000_0001, false, plain_sad4);
        assert_eq!(sums, 0x000b_0008_0004_0001);
        let clamped = window_sums(data, 0x0403_0201, 0xffff_0000_0000_0001, true, plain_sad4);
        assert_eq!(clamped, 0xffff_0008_0004_0001);
        // Reference bytes of 0 do not count.
        assert_eq!(
            window_sums(data, 0x0000_0001, 0, false, masked_sad4),
            0x0003_0002_0001_0000
        );
    }

    #[test]
    fn signed_multiply_add() {
        assert_eq!(mad_i64(-1, 1, 0, false), (u64::MAX, true));
        assert_eq!(mad_i64(2, 3, 4, false), (10, false));
        let (value, carry) = mad_i64(1, 1, i64::MAX, false);
        assert_eq!((value, carry), (1 << 63, false));
        assert_eq!(mad_i64(1, 1, i64::MAX, true).0, i64::MAX as u64);
    }
}
