//! `v_trig_preop_f64`: segments of `2/pi` for the argument reduction of large angles.

use super::Round;
use super::format::{Exact, F64, Format, exponent_field, is_nan, round};

/// The first bits of `2/pi` after the point, as many words as LLVM's constant folding has.
#[rustfmt::skip]
const TWO_OVER_PI: [u32; 37] = [
    0xa2f9_836e, 0x4e44_1529, 0xfc27_57d1, 0xf534_ddc0, 0xdb62_9599, 0x3c43_9041,
    0xfe51_63ab, 0xdebb_c561, 0xb724_6e3a, 0x424d_d2e0, 0x0649_2eea, 0x09d1_921c,
    0xfe1d_eb1c, 0xb129_a73e, 0xe882_35f5, 0x2ebb_4484, 0xe99c_7026, 0xb45f_7e41,
    0x3991_d639, 0x8353_39f4, 0x9c84_5f8b, 0xbdf9_283b, 0x1ff8_97ff, 0xde05_980f,
    0xef2f_118b, 0x5a0a_6d1f, 0x6d36_7ecf, 0x27cb_09b7, 0x4f46_3f66, 0x9e5f_ea2d,
    0x7527_bac7, 0xebe5_f17b, 0x3d07_39f7, 0x8a52_92ea, 0x6bfb_5fb1, 0x1f8d_5d08,
    0x5603_3046,
];

/// `v_trig_preop_f64`: 53 bits of `2/pi` from bit `53 * segment` on (segment: low five bits), and
/// further by as much as the exponent field of `x` is above 1077, as a number of that place value;
/// times `2^128` for exponent fields from 1968 on. 0 beyond the table. A NaN gives itself, quieted;
/// an infinity counts by its exponent field. Vega ISA, V_TRIG_PREOP_F64; the end of the table as
/// in LLVM's constant folding.
pub fn trig_preop_f64(x: u64, segment: u32) -> u64 {
    if is_nan::<F64>(x) {
        return x | F64::QUIET;
    }
    let exponent = exponent_field::<F64>(x);
    let shift = (segment & 31) as i32 * 53 + (exponent - 1077).max(0);
    let word = (shift >> 5) as usize;
    let Some(&[first, second, third]) = TWO_OVER_PI.get(word..word + 3) else {
        return 0;
    };
    let window = u128::from(first) << 64 | u128::from(second) << 32 | u128::from(third);
    let significand = (window >> (96 - 53 - (shift & 31))) & ((1 << 53) - 1);
    let boost = if exponent >= 1968 { 128 } else { 0 };
    let exact = Exact {
        negative: false,
        significand,
        exponent: boost - 53 - shift,
    };
    round::<F64>(exact, Round::NearestEven, false)
}

#[cfg(test)]
mod tests;
