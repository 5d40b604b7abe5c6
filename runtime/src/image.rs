//! Image and sampler descriptors (T# and S#): what a kernel's image instructions read from scalar
//! registers. A host program makes them here, puts them into guest memory, and passes their addresses
//! as the kernel's `image` and `sampler` arguments ([`ImageDescriptor::opencl_words`] for kernels in
//! OpenCL).
//!
//! Images are linear: texels follow one another, rows are `pitch` texels apart, slices and layers
//! `pitch * height` texels. That is the layout of a plain array, so that a buffer is an image.
//!
//! ```
//! use frontend::Gfx;
//! use runtime::image::{AddressMode, DataFormat, Filter, ImageDescriptor, NumberFormat, SamplerDescriptor};
//!
//! // 640 x 480 RGBA bytes at 0x10000, as floats from 0 to 1.
//! let image = ImageDescriptor::d2(640, 480, DataFormat::Bits8x4, NumberFormat::Unorm).at(0x10000);
//! assert_eq!(image.bytes(), 640 * 480 * 4);
//! let words: [u32; 8] = image.words(Gfx::Gfx900)?;
//! assert_eq!(words[0], 0x10000 >> 8);
//!
//! let sampler = SamplerDescriptor::new(Filter::Linear, AddressMode::ClampToEdge);
//! let words: [u32; 4] = sampler.words();
//! assert_eq!(words[0], 0o222);
//! # Ok::<(), runtime::image::DescriptorError>(())
//! ```

use frontend::Gfx;

/// Dimensions of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One row.
    D1,
    /// Rows and columns.
    D2,
    /// Slices.
    D3,
    /// Layers of one row.
    D1Array,
    /// Layers of rows and columns.
    D2Array,
}

impl Shape {
    /// The TYPE field.
    fn field(self) -> u32 {
        match self {
            Shape::D1 => 8,
            Shape::D2 => 9,
            Shape::D3 => 10,
            Shape::D1Array => 12,
            Shape::D2Array => 13,
        }
    }

    fn is_array(self) -> bool {
        matches!(self, Shape::D1Array | Shape::D2Array)
    }
}

/// How the components lie in a texel, first component in the lowest bits. The discriminants are the
/// DATA_FORMAT field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum DataFormat {
    /// One byte.
    Bits8 = 1,
    /// One component of 16 bits.
    Bits16 = 2,
    /// Two bytes.
    Bits8x2 = 3,
    /// One component of 32 bits.
    Bits32 = 4,
    /// Two components of 16 bits.
    Bits16x2 = 5,
    /// Three floats of 11, 11 and 10 bits.
    Bits11x2And10 = 6,
    /// Three components of 10 bits, then one of 2.
    Bits10x3And2 = 9,
    /// Four bytes.
    Bits8x4 = 10,
    /// Two components of 32 bits.
    Bits32x2 = 11,
    /// Four components of 16 bits.
    Bits16x4 = 12,
    /// Four components of 32 bits.
    Bits32x4 = 14,
    /// Components of 5, 6 and 5 bits.
    Bits5And6And5 = 16,
    /// Three components of 5 bits, then one of 1.
    Bits5x3And1 = 17,
    /// Four components of 4 bits.
    Bits4x4 = 19,
}

impl DataFormat {
    /// Bytes of a texel.
    pub const fn bytes(self) -> u32 {
        match self {
            DataFormat::Bits8 => 1,
            DataFormat::Bits16
            | DataFormat::Bits8x2
            | DataFormat::Bits5And6And5
            | DataFormat::Bits5x3And1
            | DataFormat::Bits4x4 => 2,
            DataFormat::Bits32
            | DataFormat::Bits16x2
            | DataFormat::Bits11x2And10
            | DataFormat::Bits10x3And2
            | DataFormat::Bits8x4 => 4,
            DataFormat::Bits32x2 | DataFormat::Bits16x4 => 8,
            DataFormat::Bits32x4 => 16,
        }
    }

    /// Components in memory.
    pub const fn components(self) -> usize {
        match self {
            DataFormat::Bits8 | DataFormat::Bits16 | DataFormat::Bits32 => 1,
            DataFormat::Bits8x2 | DataFormat::Bits16x2 | DataFormat::Bits32x2 => 2,
            DataFormat::Bits11x2And10 | DataFormat::Bits5And6And5 => 3,
            _ => 4,
        }
    }
}

/// Interpretation of a component's bits. The discriminants are the NUM_FORMAT field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NumberFormat {
    /// An unsigned integer as a float from 0 to 1.
    Unorm = 0,
    /// A signed integer as a float from -1 to 1.
    Snorm = 1,
    /// An unsigned integer as a float of the same value.
    Uscaled = 2,
    /// A signed integer as a float of the same value.
    Sscaled = 3,
    /// An unsigned integer.
    Uint = 4,
    /// A signed integer.
    Sint = 5,
    /// A float.
    Float = 7,
}

/// Source of a component of the result. The discriminants are the values of DST_SEL fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Channel {
    /// The number 0.
    Zero = 0,
    /// The number 1.
    One = 1,
    /// The texel's first component.
    X = 4,
    /// The second.
    Y = 5,
    /// The third.
    Z = 6,
    /// The fourth.
    W = 7,
}

/// An image as a kernel sees it; [`words`](Self::words) encodes the T#.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImageDescriptor {
    /// Dimensions.
    pub shape: Shape,
    /// Guest address of the first texel: a multiple of 256.
    pub address: u64,
    /// Columns.
    pub width: u32,
    /// Rows; 1 where the shape has none.
    pub height: u32,
    /// Slices or layers; 1 where the shape has none.
    pub depth: u32,
    /// Texels from one row to the next. (Devices require the pitch of a linear image to be a
    /// multiple of 256 bytes; wavelift does not.)
    pub pitch: u32,
    /// Components in memory.
    pub format: DataFormat,
    /// Their meaning.
    pub number: NumberFormat,
    /// The components that a read gives; a write sends its components back the same way.
    pub channels: [Channel; 4],
}

/// An invalid descriptor: the field, and its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// The address.
    #[error(
        "an image at {0:#x}: the address must be a multiple of 256 below 2^48; allocate with that alignment"
    )]
    Address(u64),
    /// A size or the pitch.
    #[error("{what} {value} of an image: must be {least} to {most}")]
    Size {
        /// Which one.
        what: &'static str,
        /// What it is.
        value: u32,
        /// The minimum.
        least: u32,
        /// The maximum.
        most: u32,
    },
    /// The format does not support this interpretation.
    #[error("an image of format {format:?} has no {number:?} components")]
    Format {
        /// The layout.
        format: DataFormat,
        /// The meaning.
        number: NumberFormat,
    },
}

impl ImageDescriptor {
    fn new(shape: Shape, size: [u32; 3], format: DataFormat, number: NumberFormat) -> Self {
        let [width, height, depth] = size;
        let all = [Channel::X, Channel::Y, Channel::Z, Channel::W];
        let mut channels = [Channel::Zero, Channel::Zero, Channel::Zero, Channel::One];
        channels[..format.components()].copy_from_slice(&all[..format.components()]);
        ImageDescriptor {
            shape,
            address: 0,
            width,
            height,
            depth,
            pitch: width,
            format,
            number,
            channels,
        }
    }

    /// A row of texels without gaps.
    pub fn d1(width: u32, format: DataFormat, number: NumberFormat) -> Self {
        Self::new(Shape::D1, [width, 1, 1], format, number)
    }

    /// Rows without gaps.
    pub fn d2(width: u32, height: u32, format: DataFormat, number: NumberFormat) -> Self {
        Self::new(Shape::D2, [width, height, 1], format, number)
    }

    /// Slices without gaps.
    pub fn d3(size: [u32; 3], format: DataFormat, number: NumberFormat) -> Self {
        Self::new(Shape::D3, size, format, number)
    }

    /// Layers of a row each.
    pub fn d1_array(width: u32, layers: u32, format: DataFormat, number: NumberFormat) -> Self {
        Self::new(Shape::D1Array, [width, 1, layers], format, number)
    }

    /// Layers of rows: width, height, layers.
    pub fn d2_array(size: [u32; 3], format: DataFormat, number: NumberFormat) -> Self {
        Self::new(Shape::D2Array, size, format, number)
    }

    /// At a guest address.
    pub fn at(self, address: u64) -> Self {
        ImageDescriptor { address, ..self }
    }

    /// With this number of texels from one row to the next.
    pub fn with_pitch(self, pitch: u32) -> Self {
        ImageDescriptor { pitch, ..self }
    }

    /// With these components of a read.
    pub fn with_channels(self, channels: [Channel; 4]) -> Self {
        ImageDescriptor { channels, ..self }
    }

    /// Bytes of memory that the image covers.
    pub fn bytes(&self) -> u64 {
        let rows = u64::from(self.height) * u64::from(self.depth);
        rows * u64::from(self.pitch) * u64::from(self.format.bytes())
    }

    /// The eight words of the T#.
    pub fn words(&self, gfx: Gfx) -> Result<[u32; 8], DescriptorError> {
        self.check(gfx)?;
        let sel = |i: usize| self.channels[i] as u32;
        let linear = gfx.linear_tiling();
        let last = self.depth - 1;
        let (w4, w5) = match gfx.is_gfx9() {
            true => (last | (self.pitch - 1) << 13 | self.border_order() << 29, 0),
            false => {
                let layer = if self.shape.is_array() { last } else { 0 };
                (last | (self.pitch - 1) << 13, layer << 13)
            }
        };
        Ok([
            (self.address >> 8) as u32,
            (self.address >> 40) as u32 | (self.format as u32) << 20 | (self.number as u32) << 26,
            (self.width - 1) | (self.height - 1) << 14,
            sel(0)
                | sel(1) << 3
                | sel(2) << 6
                | sel(3) << 9
                | linear << 20
                | self.shape.field() << 28,
            w4,
            w5,
            0,
            0,
        ])
    }

    /// The target of an `image` argument of an OpenCL kernel: the T#, then the values that the
    /// device libraries read there, namely codes of the channels' type and order, and the width.
    pub fn opencl_words(&self, gfx: Gfx) -> Result<[u32; 12], DescriptorError> {
        let mut words = [0; 12];
        words[..8].copy_from_slice(&self.words(gfx)?);
        words[8] = self.channel_type();
        words[9] = self.channel_order();
        words[10] = self.width;
        Ok(words)
    }

    /// HSA's code of the components' type, which the device libraries convert to OpenCL's.
    fn channel_type(&self) -> u32 {
        use NumberFormat::*;
        let size = match self.format {
            DataFormat::Bits5x3And1 => return 5,
            DataFormat::Bits5And6And5 => return 6,
            DataFormat::Bits10x3And2 => return 7,
            DataFormat::Bits8 | DataFormat::Bits8x2 | DataFormat::Bits8x4 | DataFormat::Bits4x4 => {
                0
            }
            DataFormat::Bits16 | DataFormat::Bits16x2 | DataFormat::Bits16x4 => 1,
            _ => 2,
        };
        match self.number {
            Snorm | Sscaled => size,
            Unorm | Uscaled => 2 + size,
            Sint => 8 + size,
            Uint => 11 + size,
            Float => 13 + size,
        }
    }

    /// HSA's code of the components' order.
    fn channel_order(&self) -> u32 {
        use Channel::*;
        match self.channels {
            [Zero, Zero, Zero, X] => 0,
            [X, Zero, Zero, One] => 1,
            [X, Y, Zero, One] => 3,
            [X, Zero, Zero, Y] => 5,
            [X, Y, Z, One] => 6,
            [Z, Y, X, W] => 9,
            [Y, Z, W, X] => 10,
            [W, Z, Y, X] => 11,
            [X, X, X, X] => 16,
            [X, X, X, One] => 17,
            _ => 8,
        }
    }

    fn check(&self, gfx: Gfx) -> Result<(), DescriptorError> {
        if !self.address.is_multiple_of(256) || self.address >> 48 != 0 {
            return Err(DescriptorError::Address(self.address));
        }
        let columns = 1 << 14;
        let (rows, slices) = match self.shape {
            Shape::D1 => (1, 1),
            Shape::D2 => (columns, 1),
            Shape::D1Array => (1, 1 << 13),
            Shape::D3 | Shape::D2Array => (columns, 1 << 13),
        };
        let pitches = gfx.max_image_pitch();
        for (what, value, least, most) in [
            ("the width", self.width, 1, columns),
            ("the height", self.height, 1, rows),
            ("the depth", self.depth, 1, slices),
            ("the pitch", self.pitch, self.width, pitches),
        ] {
            if !(least..=most).contains(&value) {
                return Err(DescriptorError::Size {
                    what,
                    value,
                    least,
                    most,
                });
            }
        }
        use DataFormat::*;
        use NumberFormat::*;
        let (format, number) = (self.format, self.number);
        let good = match format {
            Bits8 | Bits8x2 | Bits8x4 | Bits10x3And2 => number != Float,
            Bits16 | Bits16x2 | Bits16x4 => true,
            Bits32 | Bits32x2 | Bits32x4 => matches!(number, Uint | Sint | Float),
            Bits11x2And10 => number == Float,
            Bits5And6And5 | Bits5x3And1 | Bits4x4 => number == Unorm,
        };
        match good {
            true => Ok(()),
            false => Err(DescriptorError::Format { format, number }),
        }
    }

    /// BC_SWIZZLE: the order of the border colour's components before the selection, so that its
    /// alpha is the result's alpha.
    fn border_order(&self) -> u32 {
        let at = |channel| self.channels.iter().position(|&c| c == channel);
        let alpha = |channel| at(channel) == Some(3);
        let red = |channel| at(channel) == Some(0);
        match () {
            // WZYX, WXYZ: alpha first.
            () if alpha(Channel::X) && red(Channel::W) => 2,
            () if alpha(Channel::X) => 3,
            // XWYZ: alpha second.
            () if alpha(Channel::Y) && red(Channel::X) => 1,
            // ZYXW, YXWZ.
            () if alpha(Channel::W) && red(Channel::Z) => 4,
            () if alpha(Channel::Z) && red(Channel::Y) => 5,
            () => 0,
        }
    }
}

/// Treatment of coordinates outside the image. The discriminants are the values of CLAMP fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum AddressMode {
    /// Repeats the image.
    Repeat = 0,
    /// Repeats the image, mirrored every other time.
    MirroredRepeat = 1,
    /// The nearest texel.
    ClampToEdge = 2,
    /// The border colour.
    ClampToBorder = 6,
}

/// How texels become a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Filter {
    /// The texel that the coordinates lie in.
    Nearest,
    /// The weighted sum of two, four or eight texels around.
    Linear,
}

/// The colour outside an image. Components that the image's `channels` set to constants are
/// unaffected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum Border {
    /// 0, 0, 0, 0.
    #[default]
    TransparentBlack = 0,
    /// 0, 0, 0, 1.
    OpaqueBlack = 1,
    /// 1, 1, 1, 1.
    OpaqueWhite = 2,
}

/// A sampler as a kernel sees it; [`words`](Self::words) makes the S#.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SamplerDescriptor {
    /// Of x, y and z.
    pub address_modes: [AddressMode; 3],
    /// Nearest or linear.
    pub filter: Filter,
    /// Coordinates are in texels rather than from 0 to 1.
    pub unnormalized: bool,
    /// The colour outside.
    pub border: Border,
}

impl SamplerDescriptor {
    /// For coordinates from 0 to 1.
    pub fn new(filter: Filter, mode: AddressMode) -> Self {
        SamplerDescriptor {
            address_modes: [mode; 3],
            filter,
            unnormalized: false,
            border: Border::default(),
        }
    }

    /// For coordinates in texels.
    pub fn unnormalized(self) -> Self {
        SamplerDescriptor {
            unnormalized: true,
            ..self
        }
    }

    /// With this colour outside.
    pub fn with_border(self, border: Border) -> Self {
        SamplerDescriptor { border, ..self }
    }

    /// The four words of the S#, the same for all targets.
    pub fn words(&self) -> [u32; 4] {
        let [x, y, z] = self.address_modes.map(|mode| mode as u32);
        let linear = u32::from(self.filter == Filter::Linear);
        [
            x | y << 3 | z << 6 | u32::from(self.unnormalized) << 15,
            // Every level of detail.
            0xfff << 12,
            // For near and far; in z the same.
            linear << 20 | linear << 22,
            (self.border as u32) << 30,
        ]
    }
}

#[cfg(test)]
mod tests;
