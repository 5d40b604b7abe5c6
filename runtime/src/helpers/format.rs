//! Formats of buffers and images: the layout of components in memory, and their conversion from and
//! to registers.

use crate::math::{self, Round, ToHalf};

/// Bits of the components from the lowest up, by DATA_FORMAT; empty for invalid formats.
fn layout(dfmt: u32) -> &'static [u32] {
    match dfmt {
        1 => &[8],
        2 => &[16],
        3 => &[8, 8],
        4 => &[32],
        5 => &[16, 16],
        6 => &[11, 11, 10],
        7 => &[10, 11, 11],
        8 => &[2, 10, 10, 10],
        9 => &[10, 10, 10, 2],
        10 => &[8, 8, 8, 8],
        11 => &[32, 32],
        12 => &[16, 16, 16, 16],
        13 => &[32, 32, 32],
        14 => &[32, 32, 32, 32],
        // Of images only.
        16 => &[5, 6, 5],
        17 => &[5, 5, 5, 1],
        18 => &[1, 5, 5, 5],
        19 => &[4, 4, 4, 4],
        _ => &[],
    }
}

/// NUM_FORMAT.
#[derive(Clone, Copy, PartialEq)]
enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

impl Number {
    fn of(nfmt: u32) -> Option<Number> {
        Some(match nfmt {
            0 => Number::Unorm,
            1 => Number::Snorm,
            2 => Number::Uscaled,
            3 => Number::Sscaled,
            4 => Number::Uint,
            5 => Number::Sint,
            7 => Number::Float,
            _ => return None,
        })
    }

    fn is_integer(self) -> bool {
        matches!(self, Number::Uint | Number::Sint)
    }
}

/// A buffer element's format.
#[derive(Clone, Copy)]
pub(super) struct Format {
    bits: &'static [u32],
    number: Number,
    /// Bytes of an element.
    bytes: usize,
    /// The bits of each component if all have the same whole number of bytes, else 0.
    whole: u32,
}

/// A small float with `exponent` and `fraction` bits (and no sign) as f32 bits.
fn small_float(x: u32, fraction: u32) -> u32 {
    let (e, m) = (x >> fraction & 31, x & ((1 << fraction) - 1));
    match (e, m) {
        (0, _) => (m as f32 * f32::from_bits((127 - 14 - fraction) << 23)).to_bits(),
        (31, 0) => 0x7f80_0000,
        (31, _) => 0x7fc0_0000 | m << (23 - fraction),
        _ => (e + 112) << 23 | m << (23 - fraction),
    }
}

/// The nearest unsigned small float; negative numbers become zero.
fn to_small_float(x: u32, fraction: u32) -> u32 {
    let value = f32::from_bits(x);
    if value.is_nan() {
        return 31 << fraction | 1;
    }
    if value <= 0.0 {
        return 0;
    }
    let infinity = 31 << fraction;
    if value == f32::INFINITY {
        return infinity;
    }
    // Scaled so that the format's lowest denormal unit is 1 for small numbers; larger numbers round
    // at their own last place.
    let exponent = ((x >> 23) as i32 - 127).max(-14);
    let unit = f64::from(exponent - fraction as i32).exp2();
    let steps = (f64::from(value) / unit).round_ties_even() as u32;
    let encoded = ((exponent + 14) as u32) * (1 << fraction) + steps;
    // Overflow gives infinity, as for f16.
    encoded.min(infinity)
}

impl Format {
    /// From DATA_FORMAT and NUM_FORMAT, if the combination is valid.
    pub(super) fn of(dfmt: u32, nfmt: u32) -> Option<Format> {
        let bits = layout(dfmt);
        let number = Number::of(nfmt)?;
        // Floats have 10, 11, 16 or 32 bits.
        let narrow = bits.iter().any(|&n| n == 2 || n == 8);
        let bad = bits.is_empty() || number == Number::Float && narrow;
        let whole = match bits {
            [first @ (8 | 16 | 32), ..] if bits.iter().all(|bits| bits == first) => *first,
            _ => 0,
        };
        (!bad).then(|| Format {
            bits,
            number,
            bytes: (bits.iter().sum::<u32>() / 8) as usize,
            whole,
        })
    }

    /// Are the components integers?
    pub(super) fn is_integer(&self) -> bool {
        self.number.is_integer()
    }

    /// Bytes of an element.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// One in the register format of the components.
    pub(super) fn one(&self) -> u32 {
        if self.number.is_integer() {
            1
        } else {
            1.0f32.to_bits()
        }
    }

    /// One component to its register value: an f32 or an integer.
    fn load_one(&self, raw: u32, bits: u32) -> u32 {
        let signed = (raw << (32 - bits)) as i32 >> (32 - bits);
        let largest = |bits: u32| ((1u64 << bits) - 1) as f64;
        match self.number {
            Number::Uint => raw,
            Number::Sint => signed as u32,
            Number::Uscaled => (raw as f32).to_bits(),
            Number::Sscaled => (signed as f32).to_bits(),
            Number::Unorm => ((f64::from(raw) / largest(bits)) as f32).to_bits(),
            Number::Snorm => ((f64::from(signed) / largest(bits - 1)).max(-1.0) as f32).to_bits(),
            Number::Float => match bits {
                10 => small_float(raw, 5),
                11 => small_float(raw, 6),
                16 => math::f16_to_f32(raw as u16, false),
                _ => raw,
            },
        }
    }

    /// One register value to its component.
    fn store_one(&self, word: u32, bits: u32) -> u32 {
        let value = f64::from(f32::from_bits(word));
        let ones = if bits == 32 {
            u32::MAX
        } else {
            (1 << bits) - 1
        };
        let high = f64::from(ones);
        let half = f64::from(ones >> 1);
        // Float to integer conversions saturate, NaN gives 0.
        match self.number {
            Number::Uint => word.min(ones),
            Number::Sint => {
                let (min, max) = (-(i64::from(ones >> 1)) - 1, i64::from(ones >> 1));
                i64::from(word as i32).clamp(min, max) as u32 & ones
            }
            Number::Uscaled => value.round_ties_even().clamp(0.0, high) as u32,
            Number::Sscaled => {
                value.round_ties_even().clamp(-half - 1.0, half) as i32 as u32 & ones
            }
            Number::Unorm => (value.clamp(0.0, 1.0) * high).round_ties_even() as u32,
            Number::Snorm => (value.clamp(-1.0, 1.0) * half).round_ties_even() as i32 as u32 & ones,
            Number::Float => match bits {
                10 => to_small_float(word, 5),
                11 => to_small_float(word, 6),
                16 => u32::from(math::f32_to_f16(word, ToHalf::default())),
                _ => word,
            },
        }
    }

    /// The components x, y, z, w of an element; missing ones are 0, 0, 0, 1.
    pub(super) fn load(&self, bytes: &[u8]) -> [u32; 4] {
        let mut components = [0, 0, 0, self.one()];
        let count = self.bits.len();
        match self.whole {
            8 => {
                for (component, &byte) in components.iter_mut().zip(bytes).take(count) {
                    *component = self.load_one(u32::from(byte), 8);
                }
            }
            16 => {
                let shorts = bytes.as_chunks::<2>().0;
                for (component, &short) in components.iter_mut().zip(shorts).take(count) {
                    *component = self.load_one(u32::from(u16::from_le_bytes(short)), 16);
                }
            }
            32 => {
                let dwords = bytes.as_chunks::<4>().0;
                for (component, &dword) in components.iter_mut().zip(dwords).take(count) {
                    *component = self.load_one(u32::from_le_bytes(dword), 32);
                }
            }
            _ => {
                // Packed elements have at most 32 bits.
                let mut raw = bytes
                    .iter()
                    .rev()
                    .fold(0, |raw, &byte| raw << 8 | u32::from(byte));
                for (component, &bits) in components.iter_mut().zip(self.bits) {
                    *component = self.load_one(raw & ((1 << bits) - 1), bits);
                    raw >>= bits;
                }
            }
        }
        components
    }

    /// The bytes of an element of these components.
    pub(super) fn store(&self, components: [u32; 4]) -> [u8; 16] {
        self.store_by(components, |word, bits| self.store_one(word, bits))
    }

    /// The bytes of an element of the low bits of these components.
    pub(super) fn store_bits(&self, components: [u32; 4]) -> [u8; 16] {
        self.store_by(components, |word, bits| match bits {
            32 => word,
            _ => word & ((1 << bits) - 1),
        })
    }

    /// The bytes of an element whose components are those of `raw`, given a register and the component's bits.
    #[inline(always)]
    fn store_by(&self, components: [u32; 4], raw: impl Fn(u32, u32) -> u32) -> [u8; 16] {
        let mut bytes = [0; 16];
        let count = self.bits.len();
        match self.whole {
            8 => {
                for (byte, word) in bytes.iter_mut().zip(components).take(count) {
                    *byte = raw(word, 8) as u8;
                }
            }
            16 => {
                let shorts = bytes.as_chunks_mut::<2>().0;
                for (short, word) in shorts.iter_mut().zip(components).take(count) {
                    *short = (raw(word, 16) as u16).to_le_bytes();
                }
            }
            32 => {
                let dwords = bytes.as_chunks_mut::<4>().0;
                for (dword, word) in dwords.iter_mut().zip(components).take(count) {
                    *dword = raw(word, 32).to_le_bytes();
                }
            }
            _ => {
                let (mut all, mut at) = (0, 0);
                for (word, &bits) in components.into_iter().zip(self.bits) {
                    all |= raw(word, bits) << at;
                    at += bits;
                }
                bytes[..4].copy_from_slice(&u32::to_le_bytes(all));
            }
        }
        bytes
    }

    /// The same layout with integers, signed or not.
    pub(super) fn as_integers(&self, signed: bool) -> Format {
        let number = match signed {
            true => Number::Sint,
            false => Number::Uint,
        };
        Format { number, ..*self }
    }

    /// Components that the format holds.
    pub(super) fn components(&self) -> usize {
        self.bits.len()
    }

    /// DST_SEL on loaded components; codes 4 to 7 are x to w.
    pub(super) fn select(&self, components: [u32; 4], dst_sel: [u32; 4]) -> [u32; 4] {
        dst_sel.map(|sel| match sel {
            1 => self.one(),
            4..=7 => components[sel as usize - 4],
            _ => 0,
        })
    }

    /// A component as 16 bits.
    pub(super) fn narrow(&self, component: u32) -> u32 {
        if self.number.is_integer() {
            component & 0xffff
        } else {
            let how = ToHalf {
                round: Round::NearestEven,
                ..ToHalf::default()
            };
            u32::from(math::f32_to_f16(component, how))
        }
    }

    /// 16 bits as a component.
    pub(super) fn widen(&self, half: u32) -> u32 {
        match self.number {
            Number::Uint => half & 0xffff,
            Number::Sint => i32::from(half as i16) as u32,
            _ => math::f16_to_f32(half as u16, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_come_back() {
        let bytes = [0xff, 0x00, 0x80, 0x7f];
        let unorm8 = Format::of(10, 0).unwrap();
        assert_eq!(unorm8.bytes(), 4);
        let loaded = unorm8.load(&bytes);
        assert_eq!(loaded[0], 1.0f32.to_bits());
        assert_eq!(loaded[1], 0);
        assert_eq!(unorm8.store(loaded)[..4], bytes);
        let snorm8 = Format::of(10, 1).unwrap();
        assert_eq!(
            snorm8.load(&bytes)[2],
            (-1.0f32).to_bits(),
            "-128 is -1 as well"
        );
        let sint16 = Format::of(5, 5).unwrap();
        assert_eq!(sint16.load(&[0xff, 0xff, 1, 0]), [u32::MAX, 1, 0, 1]);
        assert_eq!(
            sint16.store([40000, 0xffff_0000, 0, 0])[..4],
            [0xff, 0x7f, 0x00, 0x80]
        );
    }

    #[test]
    fn small_floats() {
        let packed = Format::of(6, 7).unwrap();
        let one = [1.0f32.to_bits(); 4];
        let bytes = packed.store(one);
        // 11 bits: exponent 15, no fraction; 10 bits likewise.
        let word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        assert_eq!(word, 0x3c0 | 0x3c0 << 11 | 0x1e0 << 22);
        assert_eq!(packed.load(&bytes[..4])[..3], one[..3]);
        assert_eq!(to_small_float((-3.0f32).to_bits(), 6), 0);
        assert_eq!(to_small_float(f32::MAX.to_bits(), 6), 0x7c0);
        assert_eq!(
            to_small_float(2f32.powi(-20).to_bits(), 6),
            1,
            "the least denormal"
        );
        assert_eq!(small_float(1, 6), 2f32.powi(-20).to_bits());
    }

    /// The bytes of every layout, from the bits of all its components in order.
    #[test]
    fn layouts() {
        let words = [0x8765_4321, 0x0fed_cba9, 0x1357_9bdf, 0xfdb9_7531];
        for dfmt in 0..20 {
            let Some(format) = Format::of(dfmt, 4) else {
                assert_eq!(layout(dfmt), [0; 0], "{dfmt}");
                continue;
            };
            let (mut all, mut at, mut want) = (0u128, 0, [0, 0, 0, 1]);
            for (i, &bits) in layout(dfmt).iter().enumerate() {
                let part = u128::from(words[i]) & ((1 << bits) - 1);
                want[i] = part as u32;
                all |= part << at;
                at += bits;
            }
            let bytes = all.to_le_bytes();
            assert_eq!(format.store_bits(words), bytes, "{dfmt}");
            assert_eq!(format.load(&bytes[..format.bytes()]), want, "{dfmt}");
        }
    }

    #[test]
    fn missing_components() {
        let x8 = Format::of(1, 4).unwrap();
        assert_eq!(x8.load(&[7]), [7, 0, 0, 1]);
        assert_eq!(x8.select([7, 0, 0, 1], [4, 5, 1, 7]), [7, 0, 1, 1]);
    }
}
