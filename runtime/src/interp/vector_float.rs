//! Float operations of the vector ALU on 32 and 16 bits.
//!
//! Order: sources flushed, operation, rounding, OMOD, CLAMP, result flushed. OMOD applies only
//! where MODE flushes results of the type, so an operation followed by it leaves the flushing to
//! it.

use frontend::state::mode;
use frontend::{Op, Ty, ops};

use super::float::{self, Fract};
use super::observe::Observer;
use super::operand::{Exec, Lanes, lanes};
use super::stop::Run;
use super::vector::{Carried, map1, map2, map3};
use crate::math::{self, Denorm, Env, TrigRange};

/// The environment of one type, and the other parts of MODE that float arms need.
#[derive(Clone, Copy)]
pub(crate) struct FloatMode {
    /// Rounding and denormals of MODE; results are not flushed where OMOD will do it.
    pub(crate) env: Env,
    /// As `env` with denormals always flushed, for the operations that do so.
    pub(crate) always: Env,
    pub(crate) ieee: bool,
    pub(crate) dx10_clamp: bool,
    /// MODE.FP16_OVFL.
    pub(crate) overflow: bool,
    /// OMOD, 0 where it does not act.
    pub(crate) omod: u8,
    pub(crate) clamp: bool,
}

pub(crate) fn is_nan32(x: u32) -> bool {
    x & 0x7fff_ffff > 0x7f80_0000
}

fn is_nan16(x: u16) -> bool {
    x & 0x7fff > 0x7c00
}

pub(crate) fn is_inf16(x: u16) -> bool {
    x & 0x7fff == 0x7c00
}

/// `a * b + c` in two roundings. A NaN that is only in `c` is the result even if the product
/// generates one.
pub(crate) fn mad_f32(a: u32, b: u32, c: u32, product: Env, sum: Env) -> u32 {
    if is_nan32(c) && !is_nan32(a) && !is_nan32(b) {
        return c | 0x0040_0000;
    }
    math::add_f32_flush(math::mul_f32_flush(a, b, product), c, sum)
}

fn mad_f16(a: u16, b: u16, c: u16, product: Env, sum: Env) -> u16 {
    if is_nan16(c) && !is_nan16(a) && !is_nan16(b) {
        return c | 0x0200;
    }
    math::add_f16_flush(math::mul_f16_flush(a, b, product), c, sum)
}

impl<O: Observer> Exec<'_, '_, O> {
    /// MODE and modifiers for results of type `ty`.
    pub(crate) fn float_mode(&self, ty: Ty) -> FloatMode {
        let bits = self.wave.mode;
        let mut env = match matches!(ty, Ty::F32 | Ty::PkF32) {
            true => Env::f32_of_mode(bits),
            false => Env::f16_f64_of_mode(bits),
        };
        let ieee = bits & mode::IEEE != 0;
        let acts = env.denorm.flush_dst && !ieee;
        let omod = if acts { self.inst.mods.omod } else { 0 };
        env.denorm.flush_dst &= omod == 0;
        let always = Env {
            round: env.round,
            denorm: Denorm {
                flush_src: true,
                flush_dst: omod == 0,
            },
        };
        FloatMode {
            env,
            always,
            ieee,
            dx10_clamp: bits & mode::DX10_CLAMP != 0,
            overflow: self.gfx.has_fp16_overflow() && bits & mode::FP16_OVFL != 0,
            omod,
            clamp: self.inst.mods.clamp,
        }
    }

    /// OMOD and CLAMP of f32 results.
    pub(crate) fn output_f32(&self, mode: FloatMode, mut d: Lanes) -> Lanes {
        let round = mode.env.round;
        if mode.omod != 0 {
            d = map1(self.active, &d, |x| float::omod_f32(x, mode.omod, round));
        }
        if mode.clamp {
            d = map1(self.active, &d, |x| float::clamp_f32(x, mode.dx10_clamp));
        }
        d
    }

    /// OMOD and CLAMP of f16 results.
    pub(crate) fn output_f16(&self, mode: FloatMode, mut d: Lanes) -> Lanes {
        if mode.omod != 0 {
            d = map1(self.active, &d, |x| {
                let x = x as u16;
                let scaled = float::omod_f16(x, mode.omod, mode.env.round);
                u32::from(half_overflow(mode, scaled, is_inf16(x)))
            });
        }
        if mode.clamp {
            d = map1(self.active, &d, |x| {
                u32::from(float::clamp_f16(x as u16, mode.dx10_clamp))
            });
        }
        d
    }

    /// An operation with floats of up to 32 bits among its operands.
    pub(crate) fn float_arm(&self) -> Run<Lanes> {
        match self.inst.op() {
            ops!(convert) => self.convert_arm(),
            ops!(arithmetic | rounding | float | float_wide | legacy) => {
                if self.dest_ty() == Ty::F32 {
                    self.f32_arm()
                } else if self.dest_ty() == Ty::F16 {
                    self.f16_arm()
                } else {
                    self.unknown()
                }
            }
            ops!(moves | integer | logic | shifts | bits | compare) => self.unknown(),
            ops!(special | vector | vector_wide | eight_bits | packed | parameters | matrix) => {
                self.unknown()
            }
            ops!(salu | mem) => self.unknown(),
        }
    }

    /// Minimum, maximum and median: gfx9 flushes by MODE, earlier targets never.
    pub(crate) fn min_max_denorm(&self, env: Env) -> Denorm {
        match self.gfx.min_max_flushes() {
            true => env.denorm,
            false => Denorm::KEEP,
        }
    }

    fn f32_arm(&self) -> Run<Lanes> {
        let src = self.sources32()?;
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let fm = self.float_mode(Ty::F32);
        let FloatMode { env, always, .. } = fm;
        // The product inside an unfused operation is flushed whatever becomes of the sum.
        let product = Env {
            round: env.round,
            denorm: Denorm::FLUSH,
        };
        let mm = self.min_max_denorm(env);
        let flush = |x: u32| env.denorm.src_f32(x);
        let settle = |x: u32| env.denorm.dst_f32(x);
        let ieee = fm.ieee;
        let turns = self.trig_range();
        // Minimum, maximum and median of two and three.
        let choose2 = |f: fn(u32, u32, bool) -> u32| {
            map2(on, s0, s1, |a, b| {
                mm.dst_f32(f(mm.src_f32(a), mm.src_f32(b), ieee))
            })
        };
        let choose3 = |f: fn(u32, u32, u32, bool) -> u32| {
            map3(on, s0, s1, s2, |a, b, c| {
                mm.dst_f32(f(mm.src_f32(a), mm.src_f32(b), mm.src_f32(c), ieee))
            })
        };
        let d = match self.inst.op() {
            Op::Add => map2(on, s0, s1, |a, b| math::add_f32_flush(a, b, env)),
            Op::Sub => map2(on, s0, s1, |a, b| math::sub_f32_flush(a, b, env)),
            Op::Mul => map2(on, s0, s1, |a, b| math::mul_f32_flush(a, b, env)),
            Op::Fma | Op::Fmac => map3(on, s0, s1, s2, |a, b, c| math::fma_f32_flush(a, b, c, env)),
            Op::Mad | Op::Mac => map3(on, s0, s1, s2, |a, b, c| mad_f32(a, b, c, product, always)),
            Op::MulLegacy => map2(on, s0, s1, |a, b| float::mul_legacy_f32(a, b, env)),
            Op::MadLegacy | Op::MacLegacy => map3(on, s0, s1, s2, |a, b, c| {
                math::add_f32_flush(float::mul_legacy_f32(a, b, product), c, always)
            }),
            Op::MulLit => map3(on, s0, s1, s2, |a, b, c| float::mullit_f32(a, b, c, env)),
            Op::Min => choose2(float::min_f32),
            Op::Max => choose2(float::max_f32),
            Op::MinLegacy => map2(on, s0, s1, float::min_legacy_f32),
            Op::MaxLegacy => map2(on, s0, s1, float::max_legacy_f32),
            Op::Min3 => choose3(float::min3_f32),
            Op::Max3 => choose3(float::max3_f32),
            Op::Med3 => choose3(float::med3_f32),
            Op::Fract => {
                let variant = self.fract_variant();
                map1(on, s0, |a| {
                    env.denorm
                        .dst_f32(float::fract_f32(flush(a), env.round, variant))
                })
            }
            Op::Trunc => map1(on, s0, |a| float::trunc_f32(flush(a))),
            Op::Ceil => map1(on, s0, |a| float::ceil_f32(flush(a))),
            Op::Rndne => map1(on, s0, |a| float::rndne_f32(flush(a))),
            Op::Floor => map1(on, s0, |a| float::floor_f32(flush(a))),
            Op::Exp | Op::ExpLegacy => map1(on, s0, math::exp_f32),
            Op::Log | Op::LogLegacy => map1(on, s0, math::log_f32),
            Op::LogClamp => map1(on, s0, math::log_clamp_f32),
            Op::Rcp => map1(on, s0, math::rcp_f32),
            Op::RcpIflag => map1(on, s0, math::rcp_iflag_f32),
            Op::RcpClamp => map1(on, s0, math::rcp_clamp_f32),
            Op::RcpLegacy => map1(on, s0, math::rcp_legacy_f32),
            Op::Rsq => map1(on, s0, math::rsq_f32),
            Op::RsqClamp => map1(on, s0, math::rsq_clamp_f32),
            Op::RsqLegacy => map1(on, s0, math::rsq_legacy_f32),
            Op::Sqrt => map1(on, s0, math::sqrt_f32),
            Op::Sin => map1(on, s0, |a| {
                env.denorm.dst_f32(math::sin_f32(flush(a), turns))
            }),
            Op::Cos => map1(on, s0, |a| {
                env.denorm.dst_f32(math::cos_f32(flush(a), turns))
            }),
            Op::FrexpMant => map1(on, s0, |a| math::frexp_mant_f32(flush(a))),
            Op::Ldexp => map2(on, s0, s1, |a, b| math::ldexp_f32(a, b as i32, env)),
            Op::DivFmas => {
                let vcc = self.wave.vcc();
                let mut d = [0; 64];
                for l in lanes(on) {
                    d[l] = math::div_fmas_f32(s0[l], s1[l], s2[l], vcc >> l & 1 != 0, env);
                }
                d
            }
            Op::DivFixup => map3(on, s0, s1, s2, math::div_fixup_f32),
            Op::CubeId => map3(on, s0, s1, s2, |x, y, z| {
                float::cube_id_f32(flush(x), flush(y), flush(z))
            }),
            Op::CubeSc => map3(on, s0, s1, s2, |x, y, z| {
                settle(float::cube_sc_f32(flush(x), flush(y), flush(z)))
            }),
            Op::CubeTc => map3(on, s0, s1, s2, |x, y, z| {
                settle(float::cube_tc_f32(flush(x), flush(y), flush(z)))
            }),
            Op::CubeMa => map3(on, s0, s1, s2, |x, y, z| {
                settle(float::cube_ma_f32(flush(x), flush(y), flush(z), env.round))
            }),
            // With an additional mask result; doubles only.
            Op::DivScale | Op::TrigPreop => return self.unknown(),
            ops!(moves | integer | logic | shifts | bits | compare) => return self.unknown(),
            ops!(special | vector | vector_wide | convert | eight_bits) => return self.unknown(),
            ops!(packed | parameters | matrix | salu | mem) => return self.unknown(),
        };
        Ok(self.output_f32(fm, d))
    }

    fn trig_range(&self) -> TrigRange {
        match self.gfx.has_full_trig_range() {
            true => TrigRange::Full,
            false => TrigRange::Reduced,
        }
    }

    pub(crate) fn fract_variant(&self) -> Fract {
        match self.gfx.fract_is_below_one() {
            true => Fract::BelowOne,
            false => Fract::Unlimited,
        }
    }

    fn f16_arm(&self) -> Run<Lanes> {
        let src = self.sources32()?;
        let (s0, s1, s2) = (&src.s0, &src.s1, &src.s2);
        let on = self.active;
        let fm = self.float_mode(Ty::F16);
        let FloatMode { env, always, .. } = fm;
        let product = Env {
            round: env.round,
            denorm: Denorm::FLUSH,
        };
        let mm = self.min_max_denorm(env);
        let flush = |x: u16| env.denorm.src_f16(x);
        let ieee = fm.ieee;
        let turns = self.trig_range();
        // One, two and three sources; infinite sources make true infinities.
        let one = |f: &dyn Fn(u16) -> u16| map1(on, s0, |a| u32::from(f(a as u16)));
        let two = |f: &dyn Fn(u16, u16) -> u16| {
            map2(on, s0, s1, |a, b| {
                let (a, b) = (a as u16, b as u16);
                u32::from(half_overflow(fm, f(a, b), is_inf16(a) || is_inf16(b)))
            })
        };
        let three = |f: &dyn Fn(u16, u16, u16) -> u16| {
            map3(on, s0, s1, s2, |a, b, c| {
                let (a, b, c) = (a as u16, b as u16, c as u16);
                let infinite = is_inf16(a) || is_inf16(b) || is_inf16(c);
                u32::from(half_overflow(fm, f(a, b, c), infinite))
            })
        };
        let choose2 = |f: fn(u16, u16, bool) -> u16| {
            two(&|a, b| mm.dst_f16(f(mm.src_f16(a), mm.src_f16(b), ieee)))
        };
        let choose3 = |f: fn(u16, u16, u16, bool) -> u16| {
            three(&|a, b, c| mm.dst_f16(f(mm.src_f16(a), mm.src_f16(b), mm.src_f16(c), ieee)))
        };
        let d = match self.inst.op() {
            Op::Add => two(&|a, b| math::add_f16_flush(a, b, env)),
            Op::Sub => two(&|a, b| math::sub_f16_flush(a, b, env)),
            Op::Mul => two(&|a, b| math::mul_f16_flush(a, b, env)),
            Op::Fma | Op::Fmac => three(&|a, b, c| math::fma_f16_flush(a, b, c, env)),
            Op::Mad | Op::Mac => three(&|a, b, c| {
                let infinite = is_inf16(a) || is_inf16(b);
                if is_nan16(c) || !fm.overflow || infinite {
                    return mad_f16(a, b, c, product, always);
                }
                // The overflow of the product counts on its own.
                let p = half_overflow(fm, math::mul_f16_flush(a, b, product), false);
                math::add_f16_flush(p, c, always)
            }),
            Op::Min => choose2(float::min_f16),
            Op::Max => choose2(float::max_f16),
            Op::Min3 => choose3(float::min3_f16),
            Op::Max3 => choose3(float::max3_f16),
            Op::Med3 => choose3(float::med3_f16),
            Op::Fract => {
                let variant = self.fract_variant();
                one(&|a| {
                    env.denorm
                        .dst_f16(float::fract_f16(flush(a), env.round, variant))
                })
            }
            Op::Trunc => one(&|a| float::trunc_f16(flush(a))),
            Op::Ceil => one(&|a| float::ceil_f16(flush(a))),
            Op::Rndne => one(&|a| float::rndne_f16(flush(a))),
            Op::Floor => one(&|a| float::floor_f16(flush(a))),
            Op::Exp => one(&|a| {
                let d = env.denorm.dst_f16(math::exp_f16(flush(a)));
                half_overflow(fm, d, is_inf16(a))
            }),
            Op::Log => one(&|a| env.denorm.dst_f16(math::log_f16(flush(a)))),
            Op::Rcp => one(&|a| {
                let a = flush(a);
                let d = env.denorm.dst_f16(math::rcp_f16(a));
                half_overflow(fm, d, a & 0x7fff == 0)
            }),
            Op::Rsq => one(&|a| env.denorm.dst_f16(math::rsq_f16(flush(a)))),
            Op::Sqrt => one(&|a| env.denorm.dst_f16(math::sqrt_f16(flush(a)))),
            Op::Sin => one(&|a| env.denorm.dst_f16(math::sin_f16(flush(a), turns))),
            Op::Cos => one(&|a| env.denorm.dst_f16(math::cos_f16(flush(a), turns))),
            Op::FrexpMant => one(&|a| math::frexp_mant_f16(flush(a))),
            Op::Ldexp => map2(on, s0, s1, |a, b| {
                let a = a as u16;
                let d = math::ldexp_f16(a, b as i16, env);
                u32::from(half_overflow(fm, d, is_inf16(a)))
            }),
            Op::DivFixup => map3(on, s0, s1, s2, |a, b, c| {
                u32::from(math::div_fixup_f16(a as u16, b as u16, c as u16))
            }),
            ops!(moves | integer | logic | shifts | bits | compare) => return self.unknown(),
            ops!(special | vector | vector_wide | convert | eight_bits) => return self.unknown(),
            ops!(float_wide | legacy | packed | parameters | matrix) => return self.unknown(),
            ops!(salu | mem) => return self.unknown(),
        };
        Ok(self.output_f16(fm, d))
    }

    /// `v_div_scale_f32`.
    pub(crate) fn div_scale32(&self) -> Run<Carried> {
        let src = self.sources32()?;
        let mut d = [0; 64];
        let mut mask = 0;
        for l in lanes(self.active) {
            let (value, vcc) = math::div_scale_f32(src.s0[l], src.s1[l], src.s2[l]);
            d[l] = value;
            mask |= u64::from(vcc) << l;
        }
        let values = self.output_f32(self.float_mode(Ty::F32), d);
        Ok(Carried { values, mask })
    }
}

/// MODE.FP16_OVFL: an infinity that is none of the sources' making becomes the largest number.
pub(crate) fn half_overflow(mode: FloatMode, result: u16, true_infinity: bool) -> u16 {
    math::clamp_overflow_f16(result, true_infinity || !mode.overflow)
}
