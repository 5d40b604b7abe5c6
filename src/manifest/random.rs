//! Random contents of buffers. They are part of the manifest's meaning, so the algorithm is fixed:
//!
//! Element `i` of a buffer takes one draw `z` of SplitMix64 in counter form: with 64-bit wrapping
//! arithmetic, `z = seed + (i + 1) * 0x9e3779b97f4a7c15`, then `z = (z ^ z >> 30) *
//! 0xbf58476d1ce4e5b9`, `z = (z ^ z >> 27) * 0x94d049bb133111eb`, `z = z ^ z >> 31`.
//!
//! * Integer types, `low` to `high` inclusive: `low + (z * (high - low + 1) >> 64)`, the product in
//!   128 bits. Without `low` and `high` the whole range of the type.
//! * Float types, uniform in `[low, high)`: `low + (z >> 11) * 2^-53 * (high - low)` in double
//!   precision, rounded to the type; a result that rounding makes `high` or more becomes the largest
//!   value of the type below `high`. Without `low` and `high` they are 0 and 1.

use half::f16;

use super::Dtype;

/// Draw `i` of the generator.
pub fn draw(seed: u64, i: u64) -> u64 {
    let mut z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

/// `count` integers of `dtype` from `low` to `high`, both inclusive.
pub fn integers(dtype: Dtype, count: usize, seed: u64, low: i128, high: i128) -> Vec<u8> {
    let mut out = Vec::with_capacity(count * dtype.size());
    let span = (high - low + 1) as u128;
    for i in 0..count {
        let offset = (u128::from(draw(seed, i as u64)) * span) >> 64;
        dtype.encode_integer(low + offset as i128, &mut out);
    }
    out
}

/// `count` floats of `dtype` from `low` inclusive to `high` exclusive.
pub fn floats(dtype: Dtype, count: usize, seed: u64, low: f64, high: f64) -> Vec<u8> {
    let mut out = Vec::with_capacity(count * dtype.size());
    let span = high - low;
    for i in 0..count {
        let unit = (draw(seed, i as u64) >> 11) as f64 * 2f64.powi(-53);
        let value = low + unit * span;
        match dtype {
            Dtype::F16 => {
                let value = below16(f16::from_f64(value), high);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Dtype::F32 => {
                let value = below32(value as f32, high);
                out.extend_from_slice(&value.to_le_bytes());
            }
            _ => {
                let value = if value >= high {
                    high.next_down()
                } else {
                    value
                };
                out.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
    out
}

/// The largest `f32` below `high`, when `value` is not below it.
fn below32(value: f32, high: f64) -> f32 {
    if f64::from(value) < high {
        return value;
    }
    value.next_down()
}

/// The largest `f16` below `high`, when `value` is not below it.
fn below16(value: f16, high: f64) -> f16 {
    if value.to_f64() < high {
        return value;
    }
    let bits = value.to_bits();
    f16::from_bits(match bits {
        0 | 0x8000 => 0x8001,
        _ if bits & 0x8000 != 0 => bits + 1,
        _ => bits - 1,
    })
}
