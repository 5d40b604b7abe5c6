//! Data formats of typed buffers and images: texels between memory and four components.

use crate::math::{self, ToHalf};

/// Interpretation of a component's bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Unorm,
    Snorm,
    Uscaled,
    Sscaled,
    Uint,
    Sint,
    Float,
}

impl Number {
    /// From the NUM_FORMAT field.
    pub(crate) fn from_field(field: u32) -> Option<Number> {
        Some(match field {
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

    pub(crate) fn is_integer(self) -> bool {
        matches!(self, Number::Uint | Number::Sint)
    }

    /// The value 1 of a missing component.
    pub(crate) fn one(self) -> u32 {
        if self.is_integer() { 1 } else { 0x3f80_0000 }
    }
}

/// How the components of a texel lie in memory: widths from the lowest bit on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Format {
    pub(crate) widths: [u8; 4],
    pub(crate) number: Number,
}

impl Format {
    /// From the DATA_FORMAT and NUM_FORMAT fields; the names list components from the highest bit.
    pub(crate) fn from_fields(data: u32, number: u32) -> Option<Format> {
        let widths = match data {
            1 => [8, 0, 0, 0],
            2 => [16, 0, 0, 0],
            3 => [8, 8, 0, 0],
            4 => [32, 0, 0, 0],
            5 => [16, 16, 0, 0],
            6 => [11, 11, 10, 0],
            7 => [10, 11, 11, 0],
            8 => [2, 10, 10, 10],
            9 => [10, 10, 10, 2],
            10 => [8, 8, 8, 8],
            11 => [32, 32, 0, 0],
            12 => [16, 16, 16, 16],
            13 => [32, 32, 32, 0],
            14 => [32, 32, 32, 32],
            // Images only.
            16 => [5, 6, 5, 0],
            17 => [5, 5, 5, 1],
            18 => [1, 5, 5, 5],
            19 => [4, 4, 4, 4],
            _ => return None,
        };
        let number = Number::from_field(number)?;
        // There are no floats of other widths.
        let float = |width: u8| matches!(width, 0 | 10 | 11 | 16 | 32);
        if number == Number::Float && !widths.into_iter().all(float) {
            return None;
        }
        Some(Format { widths, number })
    }

    /// Components in memory.
    pub(crate) fn components(&self) -> usize {
        self.widths.iter().filter(|&&width| width != 0).count()
    }

    /// Bytes of a texel.
    pub(crate) fn bytes(&self) -> usize {
        self.widths.iter().map(|&w| usize::from(w)).sum::<usize>() / 8
    }

    /// Components of a texel as 32-bit values. Missing ones are 0, 0, 0, 1.
    pub(crate) fn unpack(&self, raw: &[u8; 16]) -> [u32; 4] {
        let texel = u128::from_le_bytes(*raw);
        let mut components = [0, 0, 0, self.number.one()];
        let mut shift = 0;
        for (component, &width) in components.iter_mut().zip(&self.widths) {
            if width != 0 {
                let mask = u32::MAX >> (32 - u32::from(width));
                *component = to_component(self.number, width, (texel >> shift) as u32 & mask);
            }
            shift += u32::from(width);
        }
        components
    }

    /// The texel of four 32-bit components.
    pub(crate) fn pack(&self, components: [u32; 4]) -> [u8; 16] {
        let mut texel = 0;
        let mut shift = 0;
        for (component, &width) in components.into_iter().zip(&self.widths) {
            if width != 0 {
                texel |= u128::from(from_component(self.number, width, component)) << shift;
            }
            shift += u32::from(width);
        }
        texel.to_le_bytes()
    }

    /// The texel of the low bits of four components.
    pub(crate) fn pack_bits(&self, components: [u32; 4]) -> [u8; 16] {
        let mut texel = 0;
        let mut shift = 0;
        for (component, &width) in components.into_iter().zip(&self.widths) {
            if width != 0 {
                texel |= u128::from(component & largest(width)) << shift;
            }
            shift += u32::from(width);
        }
        texel.to_le_bytes()
    }

    /// A component as 16 bits: an f16 of the float formats, the low half of the integer ones.
    pub(crate) fn narrow(&self, component: u32) -> u16 {
        match self.number.is_integer() {
            true => component as u16,
            false => math::f32_to_f16(component, ToHalf::default()),
        }
    }

    /// The inverse of [`Format::narrow`] for stores.
    pub(crate) fn widen(&self, half: u16) -> u32 {
        match self.number {
            Number::Uint => u32::from(half),
            Number::Sint => i32::from(half as i16) as u32,
            Number::Unorm | Number::Snorm | Number::Uscaled | Number::Sscaled | Number::Float => {
                math::f16_to_f32(half, false)
            }
        }
    }
}

fn sign_extend(bits: u32, width: u8) -> i32 {
    let shift = 32 - u32::from(width);
    (bits << shift) as i32 >> shift
}

fn largest(width: u8) -> u32 {
    u32::MAX >> (32 - u32::from(width))
}

/// One component from memory as a 32-bit value.
fn to_component(number: Number, width: u8, bits: u32) -> u32 {
    let unsigned_max = f64::from(largest(width));
    let signed_max = f64::from(largest(width) >> 1).max(1.0);
    match number {
        Number::Uint => bits,
        Number::Sint => sign_extend(bits, width) as u32,
        Number::Unorm => ((f64::from(bits) / unsigned_max) as f32).to_bits(),
        Number::Snorm => {
            let value = f64::from(sign_extend(bits, width)) / signed_max;
            (value.max(-1.0) as f32).to_bits()
        }
        Number::Uscaled => (bits as f32).to_bits(),
        Number::Sscaled => (sign_extend(bits, width) as f32).to_bits(),
        Number::Float => match width {
            32 => bits,
            16 => math::f16_to_f32(bits as u16, false),
            // 11 and 10 bits are f16 without a sign and with fewer fraction bits.
            11 => math::f16_to_f32((bits << 4) as u16, false),
            10 => math::f16_to_f32((bits << 5) as u16, false),
            _ => 0,
        },
    }
}

/// One component in its memory format: rounded to nearest even and clamped to the range.
fn from_component(number: Number, width: u8, value: u32) -> u32 {
    let float = f64::from(f32::from_bits(value));
    let max = f64::from(largest(width));
    let half = f64::from(largest(width) >> 1);
    let mask = largest(width);
    match number {
        Number::Uint => value.min(mask),
        Number::Sint => {
            let limit = (mask >> 1) as i32;
            (value as i32).clamp(-limit - 1, limit) as u32 & mask
        }
        // A NaN becomes 0 in the conversion to an integer.
        Number::Unorm => (float.clamp(0.0, 1.0) * max).round_ties_even() as u32,
        Number::Snorm => {
            let scaled = float.clamp(-1.0, 1.0) * half.max(1.0);
            scaled.round_ties_even() as i64 as u32 & mask
        }
        Number::Uscaled => float.round_ties_even().clamp(0.0, max) as u32,
        Number::Sscaled => float.round_ties_even().clamp(-half - 1.0, half) as i64 as u32 & mask,
        Number::Float => match width {
            32 => value,
            16 => u32::from(math::f32_to_f16(value, ToHalf::default())),
            11 => small_float(value, 6),
            10 => small_float(value, 5),
            _ => 0,
        },
    }
}

/// An unsigned float of 5 exponent bits and `fraction` fraction bits: negative numbers become 0.
fn small_float(value: u32, fraction: u32) -> u32 {
    let magnitude = value & 0x7fff_ffff;
    if magnitude > 0x7f80_0000 {
        return 0x1f << fraction | 1;
    }
    if value >> 31 != 0 {
        return 0;
    }
    let infinity: u32 = 0x1f << fraction;
    if magnitude == 0x7f80_0000 {
        return infinity;
    }
    let number = f64::from(f32::from_bits(value));
    // In units of the last place of the exponent's range, denormals at the bottom.
    let exponent = (magnitude >> 23) as i32 - 127;
    let exponent = exponent.max(-14);
    let units = number / 2f64.powi(exponent - fraction as i32);
    let rounded = units.round_ties_even() as u64;
    let biased = (exponent + 14) as u64;
    let bits = (biased << fraction) + rounded;
    bits.min(u64::from(infinity)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(texel: u128) -> [u8; 16] {
        texel.to_le_bytes()
    }

    #[test]
    fn texels_to_components() {
        let one = 1f32.to_bits();
        let f = |data, number| Format::from_fields(data, number).unwrap();
        assert_eq!(f(10, 4).unpack(&raw(0x0403_0201)), [1, 2, 3, 4]);
        assert_eq!(
            f(10, 5).unpack(&raw(0xff80_0201))[2..],
            [0xffff_ff80, u32::MAX]
        );
        assert_eq!(f(10, 0).unpack(&raw(0xff00_00ff)), [one, 0, 0, one]);
        assert_eq!(f(1, 0).unpack(&raw(0x33)), [0.2f32.to_bits(), 0, 0, one]);
        assert_eq!(f(1, 4).unpack(&raw(0x133)), [0x33, 0, 0, 1]);
        // -128 and -127 of 8 bits are both -1.
        let minus = (-1f32).to_bits();
        assert_eq!(f(3, 1).unpack(&raw(0x8180))[..2], [minus, minus]);
        assert_eq!(
            f(5, 7).unpack(&raw(0xc000_3c00))[..2],
            [one, (-2f32).to_bits()]
        );
        // 2_10_10_10: x in the lowest ten bits, w in the highest two.
        assert_eq!(f(9, 4).unpack(&raw(0xc000_0c05)), [5, 3, 0, 3]);
        // 10_11_11: x and y have 11 bits, 1.0 is exponent 15.
        assert_eq!(
            f(6, 7).unpack(&raw(15 << 6 | (15 << 6) << 11))[..3],
            [one, one, 0]
        );
        assert_eq!(f(2, 2).unpack(&raw(0xffff))[0], 65535f32.to_bits());
        assert_eq!(Format::from_fields(0, 0), None);
        assert_eq!(Format::from_fields(15, 4), None);
    }

    #[test]
    fn components_to_texels() {
        let f = |data, number| Format::from_fields(data, number).unwrap();
        let floats = |v: [f32; 4]| v.map(f32::to_bits);
        let low = |raw: [u8; 16]| u32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]]);
        assert_eq!(
            low(f(10, 0).pack(floats([1.5, -1.0, 0.5, f32::NAN]))),
            0x0080_00ff
        );
        assert_eq!(low(f(10, 1).pack(floats([1.0, -2.0, 0.0, 0.0]))), 0x817f);
        assert_eq!(low(f(10, 4).pack([300, 1, 2, 3])), 0x0302_01ff);
        assert_eq!(low(f(10, 5).pack([300, (-300i32) as u32, 0, 0])), 0x807f);
        assert_eq!(
            low(f(5, 7).pack(floats([1.0, 65520.0, 0.0, 0.0]))),
            0x7c00_3c00
        );
        assert_eq!(low(f(3, 2).pack(floats([2.5, 3.5, 0.0, 0.0]))), 0x0402);
        let texel = low(f(6, 7).pack(floats([1.0, -1.0, 2.0, 0.0])));
        assert_eq!(texel, 15 << 6 | (16 << 5) << 22);
    }

    #[test]
    fn small_floats() {
        assert_eq!(small_float(65024f32.to_bits(), 6), 0x7bf);
        assert_eq!(small_float(f32::INFINITY.to_bits(), 6), 0x7c0);
        assert_eq!(small_float(f32::MAX.to_bits(), 6), 0x7c0);
        assert_eq!(small_float((2f32.powi(-20)).to_bits(), 6), 1);
        assert_eq!(small_float((2f32.powi(-14)).to_bits(), 5), 1 << 5);
        assert_eq!(small_float(f32::NAN.to_bits(), 5), 0x3e1);
    }
}
