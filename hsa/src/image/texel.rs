//! Texel formats.

use runtime::image::{Channel, DataFormat, NumberFormat};

use crate::abi::ImageFormat;

/// A texel's layout and meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Texel {
    pub(super) data: DataFormat,
    pub(super) number: NumberFormat,
    pub(super) channels: [Channel; 4],
    /// The interface's own words for it.
    pub(super) format: ImageFormat,
}

impl Texel {
    /// `None` for formats that no image can have.
    pub(crate) fn new(format: ImageFormat) -> Option<Texel> {
        use Channel::{One, W, X, Y, Z, Zero};
        use DataFormat::*;
        use NumberFormat::*;
        const RGB: u32 = 6;
        let texel = |data, number, channels| Texel {
            data,
            number,
            channels,
            format,
        };
        let packed = |data| {
            // Red is in the highest bits.
            let texel = texel(data, Unorm, [Z, Y, X, One]);
            (format.order == RGB).then_some(texel)
        };
        let (bits, number) = match format.kind {
            0 => (8, Snorm),
            1 => (16, Snorm),
            2 => (8, Unorm),
            3 => (16, Unorm),
            5 => return packed(Bits5x3And1),
            6 => return packed(Bits5And6And5),
            7 => return packed(Bits10x3And2),
            8 => (8, Sint),
            9 => (16, Sint),
            10 => (32, Sint),
            11 => (8, Uint),
            12 => (16, Uint),
            13 => (32, Uint),
            14 => (16, Float),
            15 => (32, Float),
            _ => return None,
        };
        let channels = match format.order {
            0 => [Zero, Zero, Zero, X],
            1 => [X, Zero, Zero, One],
            3 => [X, Y, Zero, One],
            5 => [X, Zero, Zero, Y],
            8 => [X, Y, Z, W],
            9 if bits == 8 => [Z, Y, X, W],
            10 if bits == 8 => [Y, Z, W, X],
            11 if bits == 8 => [W, Z, Y, X],
            16 => [X, X, X, X],
            17 => [X, X, X, One],
            18 if matches!((bits, number), (16, Unorm) | (32, Float)) => [X, Zero, Zero, One],
            _ => return None,
        };
        let data = match (bits, format.order) {
            (8, 3 | 5) => Bits8x2,
            (8, 8..=11) => Bits8x4,
            (8, _) => Bits8,
            (16, 3 | 5) => Bits16x2,
            (16, 8) => Bits16x4,
            (16, _) => Bits16,
            (_, 3 | 5) => Bits32x2,
            (_, 8) => Bits32x4,
            _ => Bits32,
        };
        Some(texel(data, number, channels))
    }

    pub(super) fn bytes(self) -> u64 {
        u64::from(self.data.bytes())
    }

    /// The texel of a colour: red, green, blue and alpha as floats or integers.
    pub(super) fn of(self, colour: [u32; 4]) -> [u8; 16] {
        use DataFormat::*;
        let widths: &[u32] = match self.data {
            Bits5And6And5 => &[5, 6, 5],
            Bits5x3And1 => &[5, 5, 5, 1],
            Bits10x3And2 => &[10, 10, 10, 2],
            Bits11x2And10 => &[11, 11, 10],
            Bits4x4 => &[4; 4],
            Bits8 | Bits8x2 | Bits8x4 => &[8; 4],
            Bits16 | Bits16x2 | Bits16x4 => &[16; 4],
            Bits32 | Bits32x2 | Bits32x4 => &[32; 4],
        };
        let mut out = 0u128;
        let mut at = 0;
        let places = [Channel::X, Channel::Y, Channel::Z, Channel::W];
        let components = places.iter().zip(widths).take(self.data.components());
        for (place, &width) in components {
            let from = self.channels.iter().position(|channel| channel == place);
            let bits = from.map_or(0, |from| self.component(colour[from], width));
            out |= u128::from(bits) << at;
            at += width;
        }
        out.to_le_bytes()
    }

    fn component(self, value: u32, width: u32) -> u32 {
        use NumberFormat::*;
        let mask = u32::MAX >> (32 - width);
        let float = f64::from(f32::from_bits(value));
        let most = f64::from(mask);
        let signed = f64::from(mask >> 1);
        match self.number {
            Unorm => (float.clamp(0.0, 1.0) * most).round_ties_even() as u32,
            Uscaled => float.clamp(0.0, most) as u32,
            Snorm => (float.clamp(-1.0, 1.0) * signed).round_ties_even() as i32 as u32 & mask,
            Sscaled => float.clamp(-signed - 1.0, signed) as i32 as u32 & mask,
            Uint => value.min(mask),
            Sint => {
                let most = (mask >> 1) as i32;
                (value as i32).clamp(-most - 1, most) as u32 & mask
            }
            Float if width == 16 => u32::from(half::f16::from_f64(float).to_bits()),
            Float => value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texel(kind: u32, order: u32) -> Texel {
        Texel::new(ImageFormat { kind, order }).unwrap()
    }

    #[test]
    fn colours_become_texels() {
        let floats = |colour: [f32; 4]| colour.map(f32::to_bits);
        let colour = floats([1.0, 0.5, 0.0, 0.25]);
        // Bytes: red first; blue first; alpha first.
        assert_eq!(texel(2, 8).of(colour)[..4], [255, 128, 0, 64]);
        assert_eq!(texel(2, 9).of(colour)[..4], [0, 128, 255, 64]);
        assert_eq!(texel(2, 10).of(colour)[..4], [64, 255, 128, 0]);
        assert_eq!(texel(2, 0).of(colour)[..2], [64, 0]);
        // 5, 6 and 5 bits, red in the highest.
        assert_eq!(
            texel(6, 6).of(colour)[..2],
            (31u16 << 11 | 32 << 5).to_le_bytes()
        );
        assert_eq!(texel(0, 1).of(floats([-1.0, 0.0, 0.0, 0.0]))[0], 0x81);
        assert_eq!(
            texel(14, 1).of(floats([-2.0, 0.0, 0.0, 0.0]))[..2],
            [0, 0xc0]
        );
        assert_eq!(texel(15, 3).of(colour)[4..8], 0.5f32.to_le_bytes());
        assert_eq!(texel(8, 1).of([-200i32 as u32, 0, 0, 0])[0], 0x80);
        assert_eq!(texel(11, 1).of([300, 0, 0, 0])[0], 255);
    }
}
