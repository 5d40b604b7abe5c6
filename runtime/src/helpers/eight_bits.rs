//! Floats of 8 bits, of one lane. `imm` bit 0: the format with five bits of exponent. (CDNA3 ISA manual, 7.2)

use crate::choices;

/// Bits of the mantissa.
#[inline(always)]
fn mantissa_bits(imm: u32) -> u32 {
    3 - (imm & 1)
}

/// What the exponent's bias of f32 is above that of the format.
#[inline(always)]
fn bias_difference(imm: u32) -> u32 {
    if imm & 1 != 0 { 127 - 16 } else { 127 - 8 }
}

/// To f32.
#[inline(always)]
pub(super) fn widen([code]: [u32; 1], imm: u32) -> [u32; 1] {
    let code = code & 0xff;
    let magnitude = (code & 0x7f) << (23 - mantissa_bits(imm));
    // As a number of f32 it is too small by a power of two, denormals included.
    let scale = f32::from_bits((127 + bias_difference(imm)) << 23);
    let value = (f32::from_bits(magnitude) * scale).to_bits();
    let nan = code == 0x80;
    [if nan {
        choices::F8_NAN
    } else {
        value | (code & 0x80) << 24
    }]
}

/// The code of what is left of `magnitude`, bits of an f32, after the `drop`ped bits: `round` is added before.
#[inline(always)]
fn narrowed(x: u32, magnitude: u32, imm: u32, round: impl Fn(u32, u32) -> u32) -> u32 {
    let kept = 23 - mantissa_bits(imm);
    let sign = x >> 24 & 0x80;
    let limit = if imm & 2 != 0 { sign | 0x7f } else { 0x80 };
    let exponent = magnitude >> 23;
    let least = bias_difference(imm) + 1;
    // The significand, the place of whose lowest kept bit grows below the least exponent.
    let (significand, drop) = if exponent >= least {
        (magnitude - ((least - 1) << 23), kept)
    } else {
        let hidden = if exponent == 0 { 0 } else { 1 << 23 };
        let below = least - exponent.max(1);
        (magnitude & 0x7f_ffff | hidden, (kept + below).min(31))
    };
    let code = round(significand, drop) >> drop;
    if x & 0x7fff_ffff > 0x7f80_0000 {
        0x80
    } else if x & 0x7fff_ffff == 0x7f80_0000 || code > 0x7f {
        limit
    } else if code == 0 {
        0
    } else {
        sign | code
    }
}

/// From f32, to nearest even. Bit 1 of `imm`: an overflow gives the largest number, not the NaN.
#[inline(always)]
pub(super) fn nearest([x]: [u32; 1], imm: u32) -> [u32; 1] {
    let half_up = |significand: u32, drop: u32| {
        let odd = significand >> drop & 1;
        significand + (1 << (drop - 1)) - 1 + odd
    };
    [narrowed(x, x & 0x7fff_ffff, imm, half_up)]
}

/// As [`nearest`], but bits of the second word are added to the mantissa, and the rest is cut off.
#[inline(always)]
pub(super) fn stochastic([x, random]: [u32; 2], imm: u32) -> [u32; 1] {
    let sum = (x & 0x7fff_ffff).wrapping_add(random >> (12 - (imm & 1)));
    [narrowed(x, sum, imm, |significand, _| significand)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_that_of_its_value() {
        for imm in 0..4 {
            for code in 0..256 {
                let [value] = widen([code], imm);
                assert_eq!(nearest([value], imm), [code], "{imm}");
                assert_eq!(stochastic([value, 0], imm), [code], "{imm}");
            }
        }
    }

    #[test]
    fn ties_and_limits() {
        let near = |x: f32, imm| nearest([x.to_bits()], imm)[0];
        assert_eq!([near(1.0625, 0), near(1.1875, 0)], [0x40, 0x42]);
        assert_eq!([near(1.125, 1), near(1.375, 1)], [0x40, 0x42]);
        assert_eq!(
            [near(247.9, 0), near(248.0, 0), near(-248.0, 2)],
            [0x7f, 0x80, 0xff]
        );
        assert_eq!(
            [near(61439.0, 1), near(61440.0, 1), near(1e30, 3)],
            [0x7f, 0x80, 0x7f]
        );
        assert_eq!(
            [near(2f32.powi(-11), 0), near(2f32.powi(-11) * 3.0, 0)],
            [0, 2]
        );
        assert_eq!([near(-1e-40, 0), near(f32::NEG_INFINITY, 0)], [0, 0x80]);
    }
}
