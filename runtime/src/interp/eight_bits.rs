//! Conversions from and to floats of 8 bits. (CDNA3 ISA manual, 7.2; numbers as in its table 30: one zero, no infinity,
//! 0x80 is the only NaN)
//!
//! SDWA selects as in other instructions, although the manual has the one-byte forms with bytes and the two-byte forms
//! with words only.

use frontend::op::F8;
use frontend::state::mode;
use frontend::{Op, Ty, ops};

use super::observe::Observer;
use super::operand::{Exec, Lanes, lanes};
use super::stop::Run;
use super::vector::map1;
use crate::choices;

/// Bits of the mantissa, and the bias of the exponent.
fn format(ty: F8) -> (u32, i32) {
    match ty {
        F8::Fp8 => (3, 8),
        F8::Bf8 => (2, 16),
    }
}

/// The code of the only NaN.
const NAN: u32 = 0x80;

/// The value of a code; exact.
pub(crate) fn to_f32(ty: F8, code: u32) -> f32 {
    let (bits, bias) = format(ty);
    if code == NAN {
        return f32::from_bits(choices::F8_NAN);
    }
    let mantissa = (code & ((1 << bits) - 1)) as f32;
    let exponent = (code & 0x7f) >> bits;
    let one = (1 << bits) as f32;
    let magnitude = match exponent {
        0 => mantissa / one * 2f32.powi(1 - bias),
        exponent => (1.0 + mantissa / one) * 2f32.powi(exponent as i32 - bias),
    };
    if code & 0x80 != 0 {
        -magnitude
    } else {
        magnitude
    }
}

/// How a number that is none of the format's becomes one.
#[derive(Clone, Copy)]
enum Rounding {
    Nearest,
    /// These bits are added to the mantissa of 23 bits, then the rest is cut off.
    Stochastic(u32),
}

/// The code of an f32. An overflow gives the NaN, or the largest number if it `saturates`.
fn from_f32(ty: F8, x: f32, rounding: Rounding, saturates: bool) -> u32 {
    let (bits, bias) = format(ty);
    let largest = 0x7f;
    let sign = u32::from(x.is_sign_negative()) << 7;
    let limit = match saturates {
        true => sign | largest,
        false => NAN,
    };
    if x.is_nan() {
        return NAN;
    }
    if x.is_infinite() {
        return limit;
    }
    let magnitude = match rounding {
        Rounding::Nearest => f64::from(x.abs()),
        // Of a denormal, whose sum is below all numbers of the format, no more than a carry would count.
        Rounding::Stochastic(add) => f64::from(f32::from_bits(x.abs().to_bits() + add)),
    };
    // The distance of the format's numbers around this one.
    let lowest = 1 - bias;
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let step = 2f64.powi(exponent.max(lowest) - bits as i32);
    let steps = magnitude / step;
    let rounded = step
        * match rounding {
            Rounding::Nearest => steps.round_ties_even(),
            Rounding::Stochastic(_) => steps.floor(),
        };
    if rounded == 0.0 {
        return 0;
    }
    let exponent = (rounded.to_bits() >> 52) as i32 - 1023;
    let code = if exponent < lowest {
        (rounded / 2f64.powi(lowest - bits as i32)) as u32
    } else {
        let mantissa = (rounded / 2f64.powi(exponent) - 1.0) * f64::from(1 << bits);
        ((exponent + bias) as u32) << bits | mantissa as u32
    };
    if code > largest { limit } else { sign | code }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// An instruction of this chapter.
    pub(crate) fn exec_eight_bits(&mut self) -> Run<()> {
        let on = self.active;
        let saturates = self.wave.mode & mode::FP16_OVFL != 0;
        match self.inst.op() {
            Op::CvtFromF8(ty) => {
                let d = map1(on, &self.source32(0)?, |x| to_f32(ty, x & 0xff).to_bits());
                let d = self.output_f32(self.float_mode(Ty::F32), d);
                self.write32(&d)
            }
            Op::CvtPkFromF8(ty) => {
                let s0 = self.source32(0)?;
                let byte = |n: u32| {
                    let d = map1(on, &s0, |x| to_f32(ty, x >> (8 * n) & 0xff).to_bits());
                    self.output_f32(self.float_mode(Ty::F32), d)
                };
                let (low, high) = (byte(0), byte(1));
                let pairs = std::array::from_fn(|l| u64::from(low[l]) | u64::from(high[l]) << 32);
                self.write64(&pairs)
            }
            Op::CvtPkToF8(ty) => {
                let src = self.sources32()?;
                let code = |x: u32| from_f32(ty, f32::from_bits(x), Rounding::Nearest, saturates);
                let shift = if self.inst.mods.op_sel & 8 != 0 {
                    16
                } else {
                    0
                };
                let mut d: Lanes = src.s2;
                for l in lanes(on) {
                    let pair = code(src.s0[l]) | code(src.s1[l]) << 8;
                    d[l] = d[l] & !(0xffff << shift) | pair << shift;
                }
                self.write32(&d)
            }
            Op::CvtSrToF8(ty) => {
                let src = self.sources32()?;
                let low = match ty {
                    F8::Fp8 => 12,
                    F8::Bf8 => 11,
                };
                let shift = 8 * u32::from(self.inst.mods.op_sel >> 2 & 3);
                let mut d: Lanes = src.s2;
                for l in lanes(on) {
                    let rounding = Rounding::Stochastic(src.s1[l] >> low);
                    let code = from_f32(ty, f32::from_bits(src.s0[l]), rounding, saturates);
                    d[l] = d[l] & !(0xff << shift) | code << shift;
                }
                self.write32(&d)
            }
            ops!(alu | special | vector | vector_wide | convert | rounding) => self.unknown(),
            ops!(float | float_wide | legacy | packed | parameters) => self.unknown(),
            ops!(matrix | salu | mem) => self.unknown(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every code is the code of its value.
    #[test]
    fn codes_and_values() {
        for ty in [F8::Fp8, F8::Bf8] {
            for code in 0..256 {
                let value = to_f32(ty, code);
                for rounding in [Rounding::Nearest, Rounding::Stochastic(0)] {
                    assert_eq!(from_f32(ty, value, rounding, false), code, "{value}");
                }
            }
        }
        let largest = [(F8::Fp8, 240.0), (F8::Bf8, 57344.0)];
        let least = [(F8::Fp8, 2f32.powi(-10)), (F8::Bf8, 2f32.powi(-17))];
        for (ty, value) in largest {
            assert_eq!(to_f32(ty, 0x7f), value);
            assert_eq!(to_f32(ty, 0xff), -value);
        }
        for (ty, value) in least {
            assert_eq!(to_f32(ty, 1), value);
        }
        assert_eq!(to_f32(F8::Fp8, 8), 2f32.powi(-7));
        assert_eq!(to_f32(F8::Bf8, 4), 2f32.powi(-15));
        assert!(to_f32(F8::Fp8, 0x80).is_nan());
    }

    #[test]
    fn rounding_and_overflow() {
        let near = |x: f32, ovfl| from_f32(F8::Fp8, x, Rounding::Nearest, ovfl);
        assert_eq!([near(1.0625, false), near(1.1875, false)], [0x40, 0x42]);
        assert_eq!([near(247.9, false), near(248.0, false)], [0x7f, 0x80]);
        assert_eq!([near(248.0, true), near(-1e9, true)], [0x7f, 0xff]);
        assert_eq!(
            [near(f32::INFINITY, true), near(f32::NAN, true)],
            [0x7f, 0x80]
        );
        assert_eq!([near(-0.0, false), near(-2f32.powi(-11), false)], [0, 0]);
        assert_eq!(near(-2f32.powi(-11) * 1.001, false), 0x81);
        let random = |x: f32, add| from_f32(F8::Fp8, x, Rounding::Stochastic(add), false);
        // A quarter of a step: three quarters of the random numbers leave it.
        let x = 1.0 + 0.125 / 4.0;
        assert_eq!([random(x, 0xbffff), random(x, 0xc0000)], [0x40, 0x41]);
        assert_eq!([random(255.9, 0), random(255.9, 0xfffff)], [0x7f, 0x80]);
        assert_eq!(random(1.999, 0xfffff), 0x48);
    }
}
