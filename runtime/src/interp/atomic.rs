//! Read-modify-write operations on memory, as functions from the old value to the new one. The
//! memory chapters determine the location of the value and the order of operands in registers.

use frontend::op::Atomic;

use crate::choices;
use crate::math::{Denorm, Env, Round, add_f16_flush, add_f32_flush, add_f64_flush};

/// Operands of an atomic: `data` is the source; `other` the compare value of a compare-and-swap and
/// the second source of `mskor` and `wrap`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operands<T> {
    pub(crate) data: T,
    pub(crate) other: T,
}

/// Rounding of float additions in memory is always to nearest even; the caller determines
/// denormals.
fn env(denorm: Denorm) -> Env {
    Env {
        round: Round::NearestEven,
        denorm,
    }
}

/// A sum of bf16, in f64: there it is exact, or rounded to odd where it needs more than 53 bits, and then rounded once.
fn add_bf16(a: u16, b: u16, denorm: Denorm) -> u16 {
    let wide = |x: u16| f64::from(f32::from_bits(denorm.src_f32(u32::from(x) << 16)));
    let sum = wide(a) + wide(b);
    if sum.is_nan() {
        return choices::BF16_NAN;
    }
    if sum.is_infinite() {
        return if sum > 0.0 { 0x7f80 } else { 0xff80 };
    }
    // f64 holds the sum of numbers that are up to 45 binary places apart; below that the smaller one only counts as a
    // part that is neither nothing nor a half.
    let lost = (wide(a) - (sum - wide(b))) + (wide(b) - (sum - (sum - wide(b))));
    let bits = sum.to_bits();
    let odd = match lost == 0.0 || bits & 1 != 0 {
        true => bits,
        false if (lost > 0.0) == (sum > 0.0) => bits + 1,
        false => bits - 1,
    };
    rounded_to_bf16(f64::from_bits(odd), denorm)
}

/// To nearest even.
fn rounded_to_bf16(x: f64, denorm: Denorm) -> u16 {
    let sign = ((x.to_bits() >> 48) & 0x8000) as u16;
    let magnitude = x.abs();
    let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).max(-126);
    let step = 2f64.powi(exponent - 7);
    let rounded = ((magnitude / step).round_ties_even() * step) as f32;
    sign | (denorm.dst_f32(rounded.to_bits()) >> 16) as u16
}

/// The new value of a dword.
pub(crate) fn apply32(op: Atomic, old: u32, operands: Operands<u32>, denorm: Denorm) -> u32 {
    let Operands { data, other } = operands;
    match op {
        Atomic::Swap => data,
        Atomic::CmpSwap => {
            if old == other {
                data
            } else {
                old
            }
        }
        Atomic::Add => old.wrapping_add(data),
        Atomic::Sub => old.wrapping_sub(data),
        Atomic::Rsub => data.wrapping_sub(old),
        Atomic::MinI => (old as i32).min(data as i32) as u32,
        Atomic::MinU => old.min(data),
        Atomic::MaxI => (old as i32).max(data as i32) as u32,
        Atomic::MaxU => old.max(data),
        Atomic::And => old & data,
        Atomic::Or => old | data,
        Atomic::Xor => old ^ data,
        Atomic::Inc => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        Atomic::FCmpSwap => {
            if f32::from_bits(old) == f32::from_bits(other) {
                data
            } else {
                old
            }
        }
        // A comparison with a NaN is false and leaves memory unchanged.
        Atomic::FMin => {
            if f32::from_bits(data) < f32::from_bits(old) {
                data
            } else {
                old
            }
        }
        Atomic::FMax => {
            if f32::from_bits(data) > f32::from_bits(old) {
                data
            } else {
                old
            }
        }
        Atomic::FAdd => add_f32_flush(old, data, env(denorm)),
        Atomic::PkFAdd16 => {
            let half = |a: u32, b: u32| u32::from(add_f16_flush(a as u16, b as u16, env(denorm)));
            half(old, data) | half(old >> 16, data >> 16) << 16
        }
        Atomic::PkFAddBf16 => {
            let half = |a: u32, b: u32| u32::from(add_bf16(a as u16, b as u16, denorm));
            half(old, data) | half(old >> 16, data >> 16) << 16
        }
        Atomic::Mskor => old & !data | other,
        Atomic::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(other)
            }
        }
    }
}

/// The new value of a dword, or of a pair if it is `wide`.
pub(crate) fn apply(
    op: Atomic,
    old: u64,
    operands: Operands<u64>,
    wide: bool,
    denorm: Denorm,
) -> u64 {
    if wide {
        return apply64(op, old, operands, denorm);
    }
    let operands = Operands {
        data: operands.data as u32,
        other: operands.other as u32,
    };
    u64::from(apply32(op, old as u32, operands, denorm))
}

/// The new value of a pair of dwords.
pub(crate) fn apply64(op: Atomic, old: u64, operands: Operands<u64>, denorm: Denorm) -> u64 {
    let Operands { data, other } = operands;
    match op {
        Atomic::Swap => data,
        Atomic::CmpSwap => {
            if old == other {
                data
            } else {
                old
            }
        }
        Atomic::Add => old.wrapping_add(data),
        Atomic::Sub => old.wrapping_sub(data),
        Atomic::Rsub => data.wrapping_sub(old),
        Atomic::MinI => (old as i64).min(data as i64) as u64,
        Atomic::MinU => old.min(data),
        Atomic::MaxI => (old as i64).max(data as i64) as u64,
        Atomic::MaxU => old.max(data),
        Atomic::And => old & data,
        Atomic::Or => old | data,
        Atomic::Xor => old ^ data,
        Atomic::Inc => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        Atomic::Dec => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
        Atomic::FCmpSwap => {
            if f64::from_bits(old) == f64::from_bits(other) {
                data
            } else {
                old
            }
        }
        Atomic::FMin => {
            if f64::from_bits(data) < f64::from_bits(old) {
                data
            } else {
                old
            }
        }
        Atomic::FMax => {
            if f64::from_bits(data) > f64::from_bits(old) {
                data
            } else {
                old
            }
        }
        Atomic::FAdd => add_f64_flush(old, data, env(denorm)),
        // There is no 64-bit form; it would be two independent dwords.
        Atomic::PkFAdd16 | Atomic::PkFAddBf16 => {
            let dword = |shift: u32| {
                let operands = Operands {
                    data: (data >> shift) as u32,
                    other: 0,
                };
                u64::from(apply32(op, (old >> shift) as u32, operands, denorm)) << shift
            };
            dword(0) | dword(32)
        }
        Atomic::Mskor => old & !data | other,
        Atomic::Wrap => {
            if old >= data {
                old - data
            } else {
                old.wrapping_add(other)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dword_operations() {
        // op, memory, data, other -> memory
        let cases: &[(Atomic, u32, u32, u32, u32)] = &[
            (Atomic::Swap, 1, 2, 0, 2),
            (Atomic::CmpSwap, 1, 2, 1, 2),
            (Atomic::CmpSwap, 1, 2, 3, 1),
            (Atomic::Add, u32::MAX, 2, 0, 1),
            (Atomic::Sub, 1, 2, 0, u32::MAX),
            (Atomic::Rsub, 1, 3, 0, 2),
            (Atomic::MinI, 1, u32::MAX, 0, u32::MAX),
            (Atomic::MinU, 1, u32::MAX, 0, 1),
            (Atomic::MaxI, 1, u32::MAX, 0, 1),
            (Atomic::MaxU, 1, u32::MAX, 0, u32::MAX),
            (Atomic::Inc, 5, 5, 0, 0),
            (Atomic::Inc, 4, 5, 0, 5),
            (Atomic::Inc, 9, 5, 0, 0),
            (Atomic::Dec, 0, 5, 0, 5),
            (Atomic::Dec, 6, 5, 0, 5),
            (Atomic::Dec, 5, 5, 0, 4),
            (Atomic::Wrap, 7, 5, 100, 2),
            (Atomic::Wrap, 3, 5, 100, 103),
            (Atomic::Mskor, 0xff, 0x0f, 0x300, 0x3f0),
            (Atomic::FCmpSwap, 0x8000_0000, 7, 0, 7),
            (Atomic::FCmpSwap, 0x7fc0_0000, 7, 0x7fc0_0000, 0x7fc0_0000),
            (Atomic::FMin, 0x3f80_0000, 0xbf80_0000, 0, 0xbf80_0000),
            (Atomic::FMin, 0x3f80_0000, 0x7fc0_0000, 0, 0x3f80_0000),
            (Atomic::FMax, 0x7fc0_0000, 0x3f80_0000, 0, 0x7fc0_0000),
            (Atomic::FAdd, 0x3f80_0000, 0x4000_0000, 0, 0x4040_0000),
            (Atomic::PkFAdd16, 0x3c00_4000, 0x3c00_3c00, 0, 0x4000_4200),
            (Atomic::PkFAddBf16, 0x3f80_4000, 0x3f80_3f80, 0, 0x4000_4040),
            // A tie, and what lies just above it.
            (Atomic::PkFAddBf16, 0x3f80_3f80, 0x3b80_3b81, 0, 0x3f80_3f81),
            // A part far below decides a tie of the others' places; a carry; infinity.
            (Atomic::PkFAddBf16, 0x7f7f_3fff, 0x7b00_3b80, 0, 0x7f80_4000),
            // Denormals, zeros, opposites, and infinities without a sum.
            (Atomic::PkFAddBf16, 0x0001_8000, 0x007f_8000, 0, 0x0080_8000),
            (Atomic::PkFAddBf16, 0xc000_7f80, 0x4000_ff80, 0, 0x0000_7fc0),
        ];
        for &(op, old, data, other, want) in cases {
            let got = apply32(op, old, Operands { data, other }, Denorm::KEEP);
            assert_eq!(got, want, "{op:?} {old:#x} {data:#x} {other:#x}");
        }
    }

    #[test]
    fn pair_operations() {
        let wide = |op, old, data, other| apply64(op, old, Operands { data, other }, Denorm::KEEP);
        assert_eq!(wide(Atomic::Add, u64::MAX, 1, 0), 0);
        assert_eq!(wide(Atomic::MinI, 1, u64::MAX, 0), u64::MAX);
        assert_eq!(wide(Atomic::Dec, 0, 9, 0), 9);
        assert_eq!(wide(Atomic::CmpSwap, 1 << 40, 2, 1 << 40), 2);
        let one = 1f64.to_bits();
        assert_eq!(wide(Atomic::FAdd, one, one, 0), 2f64.to_bits());
    }
}
