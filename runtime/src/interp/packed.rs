//! VOP3P: packed halves, mixed precision, and dot products.
//!
//! The low result uses the halves selected by OP_SEL and NEG, the high result those of OP_SEL_HI
//! and NEG_HI. Only signs of floats are changed.

use frontend::inst::Operand;
use frontend::{Encoding, Op, Ty, ops};

use super::float;
use super::observe::Observer;
use super::operand::{Exec, Lanes, Lanes64, lanes};
use super::stop::Run;
use super::vector::map1;
use super::vector_float::{FloatMode, half_overflow, is_inf16, mad_f32};
use crate::math::{self, Denorm, Env, ToHalf};

const SIGN16: u16 = 0x8000;

/// Halves of the sources for one of the two results.
#[derive(Clone, Copy)]
struct Halves {
    op_sel: u8,
    neg: u8,
}

impl Halves {
    fn pick(self, n: usize, value: u32) -> u16 {
        (value >> if self.op_sel >> n & 1 != 0 { 16 } else { 0 }) as u16
    }

    /// As [`Halves::pick`], of a float.
    fn pick_float(self, n: usize, value: u32) -> u16 {
        let sign = if self.neg >> n & 1 != 0 { SIGN16 } else { 0 };
        self.pick(n, value) ^ sign
    }
}

fn saturate(ty: Ty, clamp: bool, value: i32) -> u16 {
    let value = match (clamp, ty) {
        (false, _) => value,
        (true, Ty::PkI16) => value.clamp(-0x8000, 0x7fff),
        (true, _) => value.clamp(0, 0xffff),
    };
    value as u16
}

impl<O: Observer> Exec<'_, '_, O> {
    /// The halves for the low and the high result. Forms without these fields pair low with low
    /// and high with high.
    fn halves(&self) -> [Halves; 2] {
        let mods = &self.inst.mods;
        if self.inst.desc.encoding != Encoding::Vop3p {
            return [Halves { op_sel: 0, neg: 0 }, Halves { op_sel: 7, neg: 0 }];
        }
        [
            Halves {
                op_sel: mods.op_sel,
                neg: mods.neg,
            },
            Halves {
                op_sel: mods.op_sel_hi,
                neg: mods.neg_hi,
            },
        ]
    }

    /// Raw sources, exchanged for rows marked `rev`; the accumulator is source 2.
    fn packed_sources(&self) -> Run<[Lanes; 3]> {
        let mut s = [[0; 64]; 3];
        for (n, values) in s.iter_mut().enumerate().take(self.inst.desc.src.len()) {
            *values = self.raw32(n)?;
        }
        if self.inst.desc.src.len() < 3 && self.reads_dest() {
            s[2] = self.accumulator()?;
        }
        Ok(s)
    }

    /// A packed operation.
    pub(crate) fn exec_packed(&mut self) -> Run<()> {
        if matches!(self.dest_ty(), Ty::PkF32 | Ty::PkB32) {
            return self.exec_packed32();
        }
        let s = self.packed_sources()?;
        let halves = self.halves();
        let float = self.dest_ty() == Ty::PkF16;
        let mut d = [0; 64];
        for l in lanes(self.active) {
            let values = [s[0][l], s[1][l], s[2][l]];
            let mut half = [0; 2];
            for (result, halves) in half.iter_mut().zip(halves) {
                *result = match float {
                    true => self.packed_f16(halves, values)?,
                    false => self.packed_int(halves, values)?,
                };
            }
            d[l] = u32::from(half[0]) | u32::from(half[1]) << 16;
        }
        self.write32(&d)
    }

    /// One half of a packed integer operation.
    fn packed_int(&self, halves: Halves, values: [u32; 3]) -> Run<u16> {
        let ty = self.dest_ty();
        let mut bits: [u16; 3] = std::array::from_fn(|n| halves.pick(n, values[n]));
        if self.inst.desc.rev {
            bits.swap(0, 1);
        }
        let number = |x: u16| match ty.is_signed() {
            true => i32::from(x as i16),
            false => i32::from(x),
        };
        let [a, b, c] = bits.map(number);
        let clamp = self.saturates();
        let amount = u32::from(bits[1]) & 15;
        Ok(match self.inst.op() {
            Op::Add => saturate(ty, clamp, a + b),
            Op::Sub => saturate(ty, clamp, a - b),
            Op::Mul => bits[0].wrapping_mul(bits[1]),
            Op::Mad => {
                let wide = i64::from(a) * i64::from(b) + i64::from(c);
                let limited = wide.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32;
                saturate(ty, clamp, if clamp { limited } else { wide as i32 })
            }
            Op::Min => a.min(b) as u16,
            Op::Max => a.max(b) as u16,
            Op::Shl => bits[0] << amount,
            Op::Lshr => bits[0] >> amount,
            Op::Ashr => (bits[0] as i16 >> amount) as u16,
            Op::Mac | Op::Fma | Op::Fmac | Op::Min3 | Op::Max3 | Op::Med3 => return self.unknown(),
            ops!(moves | integer | logic | bits | compare) => return self.unknown(),
            ops!(valu | salu | mem) => return self.unknown(),
        })
    }

    /// One half of a packed float operation.
    fn packed_f16(&self, halves: Halves, values: [u32; 3]) -> Run<u16> {
        let fm = self.float_mode(Ty::F16);
        let FloatMode { env, ieee, .. } = fm;
        let [a, b, c]: [u16; 3] = std::array::from_fn(|n| halves.pick_float(n, values[n]));
        let mm = self.min_max_denorm(env);
        let flush = |x: u16| mm.src_f16(x);
        let fused = matches!(self.inst.op(), Op::Fma | Op::Fmac);
        let count = if fused { 3 } else { 2 };
        let infinite = [a, b, c].iter().take(count).any(|&x| is_inf16(x));
        let d = match self.inst.op() {
            Op::Add => math::add_f16_flush(a, b, env),
            Op::Mul => math::mul_f16_flush(a, b, env),
            Op::Fma | Op::Fmac => math::fma_f16_flush(a, b, c, env),
            Op::Min => mm.dst_f16(float::min_f16(flush(a), flush(b), ieee)),
            Op::Max => mm.dst_f16(float::max_f16(flush(a), flush(b), ieee)),
            Op::Sub | Op::Mad | Op::Mac | Op::Min3 | Op::Max3 | Op::Med3 => return self.unknown(),
            ops!(moves | integer | logic | shifts | bits | compare) => return self.unknown(),
            ops!(valu | salu | mem) => return self.unknown(),
        };
        let d = half_overflow(fm, d, infinite);
        Ok(match fm.clamp {
            true => float::clamp_f16(d, fm.dx10_clamp),
            false => d,
        })
    }

    /// gfx90a: two dwords at a time in register pairs.
    fn exec_packed32(&mut self) -> Run<()> {
        let inst = self.inst;
        let mut s: [Lanes64; 3] = [[0; 64]; 3];
        for (n, values) in s.iter_mut().enumerate().take(inst.desc.src.len()) {
            *values = self.raw64(n)?;
        }
        let fm = self.float_mode(Ty::F32);
        let env = fm.env;
        let [low, high] = self.halves();
        let pick = |halves: Halves, n: usize, l: usize| {
            let shift = if halves.op_sel >> n & 1 != 0 { 32 } else { 0 };
            let sign = u32::from(halves.neg >> n & 1) << 31;
            (s[n][l] >> shift) as u32 ^ sign
        };
        let mut d = [0; 64];
        for l in lanes(self.active) {
            let compute = |halves: Halves| -> Run<u32> {
                let (a, b, c) = (pick(halves, 0, l), pick(halves, 1, l), pick(halves, 2, l));
                Ok(match inst.op() {
                    Op::Add => math::add_f32_flush(a, b, env),
                    Op::Mul => math::mul_f32_flush(a, b, env),
                    Op::Fma => math::fma_f32_flush(a, b, c, env),
                    Op::Sub | Op::Mad | Op::Mac | Op::Fmac => return self.unknown(),
                    Op::Min | Op::Max | Op::Min3 | Op::Max3 | Op::Med3 => return self.unknown(),
                    ops!(moves | integer | logic | shifts | bits) => return self.unknown(),
                    ops!(compare | valu | salu | mem) => return self.unknown(),
                })
            };
            let clamp = |x: u32| match fm.clamp {
                true => float::clamp_f32(x, fm.dx10_clamp),
                false => x,
            };
            let half = if inst.op() == Op::Mov {
                // D.lo = the half of S0 that OP_SEL names, D.hi = that of S1.
                let half =
                    |n: usize| (s[n][l] >> if low.op_sel >> n & 1 != 0 { 32 } else { 0 }) as u32;
                [half(0), half(1)]
            } else {
                [clamp(compute(low)?), clamp(compute(high)?)]
            };
            d[l] = u64::from(half[0]) | u64::from(half[1]) << 32;
        }
        self.write64(&d)
    }

    // ---- mixed precision

    /// Source `n` of a MIX instruction as f32: an f32, or a half if OP_SEL_HI is set.
    fn mix_source(&self, n: usize, flush_half: bool) -> Run<Lanes> {
        let mods = &self.inst.mods;
        let is_half = mods.op_sel_hi >> n & 1 != 0;
        let shift = if mods.op_sel >> n & 1 != 0 { 16 } else { 0 };
        let mut values = self.raw32(n)?;
        if is_half {
            values = values.map(|v| math::f16_to_f32((v >> shift) as u16, flush_half));
        }
        let (abs, neg) = (mods.abs >> n & 1 != 0, mods.neg >> n & 1 != 0);
        let (keep, flip) = (if abs { 0x7fff_ffff } else { !0 }, u32::from(neg) << 31);
        Ok(values.map(|v| v & keep ^ flip))
    }

    /// `v_mad_mix*`, unfused with denormals flushed, and `v_fma_mix*`, fused by MODE.
    pub(crate) fn exec_mix(&mut self) -> Run<()> {
        let fused = self.gfx.has_fused_mix();
        let mode16 = self.float_mode(Ty::F16);
        let fm = self.float_mode(Ty::F32);
        let flush_half = !fused || mode16.env.denorm.flush_src;
        let (s0, s1, s2) = (
            self.mix_source(0, flush_half)?,
            self.mix_source(1, flush_half)?,
            self.mix_source(2, flush_half)?,
        );
        let flushing = Env {
            round: fm.env.round,
            denorm: Denorm::FLUSH,
        };
        let mut d = [0; 64];
        for l in lanes(self.active) {
            let (a, b, c) = (s0[l], s1[l], s2[l]);
            d[l] = match fused {
                true => math::fma_f32_flush(a, b, c, fm.env),
                false => mad_f32(a, b, c, flushing, flushing),
            };
        }
        let op = self.inst.op();
        if op == Op::Mix {
            let d = self.output_f32(fm, d);
            return self.write32(&d);
        }
        let how = ToHalf {
            round: mode16.env.round,
            flush_src: false,
            flush_dst: !fused || mode16.env.denorm.flush_dst,
            clamp_overflow: mode16.overflow,
        };
        let halves = map1(self.active, &d, |x| {
            let half = math::f32_to_f16(x, how);
            u32::from(match mode16.clamp {
                true => float::clamp_f16(half, mode16.dx10_clamp),
                false => half,
            })
        });
        // The other half of the register is preserved.
        let Operand::Vgpr(reg) = self.inst.dst[0] else {
            return self.unknown();
        };
        let Some(to) = self.vgpr_dest(reg, 1)? else {
            return Ok(());
        };
        for l in lanes(self.active) {
            let old = &mut self.wave.vgpr[to][l];
            *old = if op == Op::MixHi {
                *old & 0xffff | halves[l] << 16
            } else {
                *old & 0xffff_0000 | halves[l]
            };
        }
        Ok(())
    }

    // ---- dot products

    /// Dot products. NEG acts on the float form only; OP_SEL acts on the 16-bit forms.
    pub(crate) fn exec_dot(&mut self) -> Run<()> {
        let s = self.dot_sources()?;
        let (a, b, c) = (&s[0], &s[1], &s[2]);
        let op = self.inst.op();
        let ty = self.dest_ty();
        let halves = self.halves();
        let clamp = self.saturates();
        let mut d = [0; 64];
        if ty == Ty::F32 {
            let mode = self.wave.mode;
            let fm = self.float_mode(Ty::F32);
            let env = Env {
                round: Env::f32_of_mode(mode).round,
                denorm: Denorm::FLUSH,
            };
            let accumulator_neg = u32::from(self.dot_accumulator_neg()) << 31;
            for l in lanes(self.active) {
                // Products of halves are exact in f32; they are added in order.
                d[l] = halves.iter().fold(c[l] ^ accumulator_neg, |sum, half| {
                    let factor = |n: usize, v: u32| math::f16_to_f32(half.pick_float(n, v), false);
                    let product = math::mul_f32_flush(factor(0, a[l]), factor(1, b[l]), env);
                    dot_add(sum, product, env)
                });
            }
            let d = self.output_f32(fm, d);
            return self.write32(&d);
        }
        let signed = ty.is_signed();
        for l in lanes(self.active) {
            let products: i64 = match op {
                Op::Dot2 | Op::Dot2c => halves
                    .iter()
                    .map(|half| {
                        let x = field(u32::from(half.pick(0, a[l])), 0, 16, signed);
                        x * field(u32::from(half.pick(1, b[l])), 0, 16, signed)
                    })
                    .sum(),
                Op::Dot4 | Op::Dot4c => sum_of_products(a[l], b[l], 8, signed),
                Op::Dot8 | Op::Dot8c => sum_of_products(a[l], b[l], 4, signed),
                Op::Mix | Op::MixLo | Op::MixHi => return self.unknown(),
                ops!(alu | special | vector | vector_wide | convert | eight_bits) => {
                    return self.unknown();
                }
                ops!(rounding | float | float_wide | legacy) => return self.unknown(),
                ops!(parameters | matrix | salu | mem) => return self.unknown(),
            };
            let addend = field(c[l], 0, 32, signed);
            let sum = products + addend;
            d[l] = match (clamp, signed) {
                (false, _) => sum as u32,
                (true, true) => sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32,
                (true, false) => sum.clamp(0, i64::from(u32::MAX)) as u32,
            };
        }
        self.write32(&d)
    }

    /// The VOP2 forms take DPP and accumulate into D.
    fn dot_sources(&self) -> Run<[Lanes; 3]> {
        if self.inst.desc.encoding == Encoding::Vop3p {
            return self.packed_sources();
        }
        Ok([self.source32(0)?, self.source32(1)?, self.accumulator()?])
    }

    fn dot_accumulator_neg(&self) -> bool {
        self.inst.desc.encoding == Encoding::Vop3p && self.inst.mods.neg >> 2 & 1 != 0
    }
}

/// One addition of the float dot product. A NaN of the sum passes as it is.
fn dot_add(sum: u32, product: u32, env: Env) -> u32 {
    math::add_f32_flush(sum, product, env)
}

/// Field `i` of `bits` bits as a number.
fn field(value: u32, i: u32, bits: u32, signed: bool) -> i64 {
    let up = value << (32 - bits - i * bits);
    if signed {
        i64::from(up as i32 >> (32 - bits))
    } else {
        i64::from(up >> (32 - bits))
    }
}

fn sum_of_products(a: u32, b: u32, bits: u32, signed: bool) -> i64 {
    (0..32 / bits)
        .map(|i| field(a, i, bits, signed) * field(b, i, bits, signed))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_products() {
        assert_eq!(field(0x80ff_7f01, 0, 8, true), 1);
        assert_eq!(field(0x80ff_7f01, 2, 8, true), -1);
        assert_eq!(field(0x80ff_7f01, 3, 8, false), 128);
        assert_eq!(
            sum_of_products(0x0102_0304, 0x0101_01ff, 8, true),
            1 + 2 + 3 - 4
        );
        assert_eq!(
            sum_of_products(0x0102_0304, 0x0101_01ff, 8, false),
            6 + 4 * 255
        );
        assert_eq!(sum_of_products(0x8000_0001, 0x8000_000f, 4, true), 64 - 1);
    }

    #[test]
    fn saturation_of_halves() {
        assert_eq!(saturate(Ty::PkI16, true, 40000), 0x7fff);
        assert_eq!(saturate(Ty::PkU16, true, -1), 0);
        assert_eq!(saturate(Ty::PkU16, true, 70000), 0xffff);
        assert_eq!(saturate(Ty::PkI16, false, 40000), 40000);
    }
}
