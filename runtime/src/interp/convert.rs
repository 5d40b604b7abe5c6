//! Conversions of the vector ALU between floats and integers of up to 32 bits.

use frontend::{Op, Ty, ops};

use super::float;
use super::observe::Observer;
use super::operand::{Exec, Lanes};
use super::stop::Run;
use super::vector::{map1, map2, map3};
use crate::choices;
use crate::math::{self, Denorm, Env, Round, ToHalf};

fn pack(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

impl<O: Observer> Exec<'_, '_, O> {
    /// Conversions and what goes with them.
    pub(crate) fn convert_arm(&self) -> Run<Lanes> {
        let src = self.sources32()?;
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let bits = self.wave.mode;
        let (env32, env16) = (Env::f32_of_mode(bits), Env::f16_f64_of_mode(bits));
        let flush32 = |x: u32| env32.denorm.src_f32(x);
        let flush16 = |x: u32| env16.denorm.src_f16(x as u16);
        let to = self.dest_ty();
        let from = self.inst.src_ty(0);
        let d = match self.inst.op() {
            Op::Cvt => self.number_conversion(from, to, s0)?,
            Op::CvtRpi => map1(on, s0, |x| {
                float::rpi_i32_f32(flush32(x), choices::CVT_RPI_FLR_NAN) as u32
            }),
            Op::CvtFlr => map1(on, s0, |x| {
                float::flr_i32_f32(flush32(x), choices::CVT_RPI_FLR_NAN) as u32
            }),
            Op::CvtOffI4 => map1(on, s0, float::off_f32_i4),
            Op::CvtUbyte(n) => {
                let shift = 8 * u32::from(n & 3);
                map1(on, s0, |x| ((x >> shift & 0xff) as f32).to_bits())
            }
            Op::CvtPkU8 | Op::CvtPkAccumU8 => {
                let round = match choices::CVT_PK_U8_BY_MODE {
                    true => env32.round,
                    false => Round::Zero,
                };
                map3(on, s0, s1, s2, |x, byte, others| {
                    float::pk_u8_f32(flush32(x), byte, others, round)
                })
            }
            Op::CvtPkNorm => map2(on, s0, s1, |a, b| match (from, to) {
                (Ty::F16, Ty::PkI16) => pack(
                    float::norm_i16_f16(flush16(a)),
                    float::norm_i16_f16(flush16(b)),
                ),
                (Ty::F16, _) => pack(
                    float::norm_u16_f16(flush16(a)),
                    float::norm_u16_f16(flush16(b)),
                ),
                (_, Ty::PkI16) => pack(
                    float::norm_i16_f32(flush32(a)),
                    float::norm_i16_f32(flush32(b)),
                ),
                _ => pack(
                    float::norm_u16_f32(flush32(a)),
                    float::norm_u16_f32(flush32(b)),
                ),
            }),
            Op::CvtNorm if to == Ty::I16 => {
                map1(on, s0, |a| u32::from(float::norm_i16_f16(flush16(a))))
            }
            Op::CvtNorm => map1(on, s0, |a| u32::from(float::norm_u16_f16(flush16(a)))),
            Op::CvtPkRtz => {
                let denorm = Denorm {
                    flush_src: env32.denorm.flush_src,
                    flush_dst: env16.denorm.flush_dst,
                };
                map2(on, s0, s1, |a, b| math::pkrtz_f16_f32(a, b, denorm))
            }
            Op::PackF16 => map2(on, s0, s1, |a, b| match choices::PACK_F16_FLUSHES {
                true => pack(flush16(a), flush16(b)),
                false => pack(a as u16, b as u16),
            }),
            Op::FrexpExp if from == Ty::F16 => {
                map1(on, s0, |x| math::frexp_exp_f16(flush16(x)) as u32)
            }
            Op::FrexpExp => map1(on, s0, |x| math::frexp_exp_f32(flush32(x)) as u32),
            // Of integers.
            Op::CvtPkInt => return self.unknown(),
            ops!(alu | special | vector | vector_wide | rounding) => return self.unknown(),
            ops!(eight_bits | float | float_wide | legacy | packed) => return self.unknown(),
            ops!(parameters | matrix | salu | mem) => return self.unknown(),
        };
        Ok(if to == Ty::F32 {
            self.output_f32(self.float_mode(Ty::F32), d)
        } else if to == Ty::F16 {
            self.output_f16(self.float_mode(Ty::F16), d)
        } else if to == Ty::PkF16 && self.inst.mods.clamp {
            let dx10 = self.float_mode(Ty::F16).dx10_clamp;
            map1(on, &d, |x| {
                let half = |x: u32| float::clamp_f16(x as u16, dx10);
                pack(half(x), half(x >> 16))
            })
        } else {
            d
        })
    }

    /// `v_cvt_*` by the types of source and destination.
    fn number_conversion(&self, from: Ty, to: Ty, s0: &Lanes) -> Run<Lanes> {
        let on = self.active;
        let bits = self.wave.mode;
        let env32 = Env::f32_of_mode(bits);
        let mode16 = self.float_mode(Ty::F16);
        let round16 = mode16.env.round;
        Ok(match (to, from) {
            (Ty::F32, Ty::I32) => map1(on, s0, |x| math::i32_to_f32(x as i32, env32.round)),
            (Ty::F32, Ty::U32) => map1(on, s0, |x| math::u32_to_f32(x, env32.round)),
            (Ty::I32, Ty::F32) => map1(on, s0, |x| float::f32_to_i32(x) as u32),
            (Ty::U32, Ty::F32) => map1(on, s0, float::f32_to_u32),
            (Ty::F32, Ty::F16) => {
                let flush = mode16.env.denorm.flush_src;
                map1(on, s0, |x| math::f16_to_f32(x as u16, flush))
            }
            (Ty::F16, Ty::F32) => {
                let how = ToHalf {
                    round: round16,
                    flush_src: env32.denorm.flush_src,
                    flush_dst: mode16.env.denorm.flush_dst,
                    clamp_overflow: mode16.overflow,
                };
                map1(on, s0, |x| u32::from(math::f32_to_f16(x, how)))
            }
            (Ty::F16, Ty::U16) => map1(on, s0, |x| {
                u32::from(math::u16_to_f16(x as u16, round16, mode16.overflow))
            }),
            (Ty::F16, Ty::I16) => map1(on, s0, |x| u32::from(math::i16_to_f16(x as i16, round16))),
            (Ty::I16, Ty::F16) => map1(on, s0, |x| float::f16_to_i16(x as u16) as u32),
            (Ty::U16, Ty::F16) => map1(on, s0, |x| u32::from(float::f16_to_u16(x as u16))),
            _ => return self.unknown(),
        })
    }
}
