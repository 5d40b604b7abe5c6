//! MIMG: images. Linear surfaces of one level in one to three dimensions, their arrays, and
//! sampling with nearest and linear filters; tiled, multi-level and cube images are refused.

mod sample;

use frontend::inst::Operand;
use frontend::op::{Atomic, ImageOp};
use frontend::{Gfx, Op};

use super::format::{Format, Number};
use super::observe::Observer;
use super::operand::{Exec, lanes};
use super::stop::{Run, Stop};
use crate::math;

/// Shape of an image, by the TYPE field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    D1,
    D2,
    D3,
    D1Array,
    D2Array,
}

impl Shape {
    /// Spatial dimensions.
    fn dimensions(self) -> usize {
        match self {
            Shape::D1 | Shape::D1Array => 1,
            Shape::D2 | Shape::D2Array => 2,
            Shape::D3 => 3,
        }
    }

    fn is_array(self) -> bool {
        matches!(self, Shape::D1Array | Shape::D2Array)
    }
}

/// An image descriptor (T#).
#[derive(Clone, Copy, Debug)]
struct Image {
    base: u64,
    format: Format,
    shape: Shape,
    width: u64,
    height: u64,
    /// Depth of a 3D image, layers of an array, else 1.
    depth: u64,
    /// First layer.
    first: u64,
    /// Texels from one row to the next.
    pitch: u64,
    /// First and last level.
    levels: [u32; 2],
    dst_sel: [u32; 4],
    /// Component of the border colour in each component of a texel (BC_SWIZZLE).
    border: [usize; 4],
}

impl Image {
    /// Decodes the descriptor; the error names the unsupported feature.
    fn new(words: [u32; 8], gfx: Gfx) -> Result<Image, String> {
        let [w0, w1, w2, w3, w4, w5, w6, _] = words;
        let shape = match w3 >> 28 {
            8 => Shape::D1,
            9 => Shape::D2,
            10 => Shape::D3,
            12 => Shape::D1Array,
            13 => Shape::D2Array,
            11 => return Err("a cube map".into()),
            14 | 15 => return Err("a multisampled image".into()),
            other => return Err(format!("an image of type {other}")),
        };
        let tiling = w3 >> 20 & 31;
        // Swizzle mode 0 of gfx9 and the tiling index 8 of earlier targets are linear.
        let linear = gfx.linear_tiling();
        if tiling != linear {
            return Err(format!("a tiled image (mode {tiling})"));
        }
        let (data, number) = (w1 >> 20 & 63, w1 >> 26 & 15);
        let format = match (data, number) {
            // Normalised or scaled components have at most 16 bits, packed ones no other
            // interpretation.
            (4 | 11 | 13 | 14, 0..=3) | (6 | 7, 0..=6) | (16..=19, 1..) => None,
            _ => Format::from_fields(data, number),
        }
        .ok_or_else(|| format!("an image of data format {data}, number format {number}"))?;
        if gfx.is_gfx8_up() && w6 >> 21 & 1 != 0 {
            return Err("a compressed image".into());
        }
        let pitch_mask = gfx.max_image_pitch() - 1;
        let first = u64::from(w5 & 0x1fff);
        let depth = u64::from(w4 & 0x1fff);
        // The last layer is in another field before gfx9.
        let last = match gfx.is_gfx9() {
            true => depth,
            false => u64::from(w5 >> 13 & 0x1fff),
        };
        Ok(Image {
            base: (u64::from(w0) | u64::from(w1 & 0xff) << 32) << 8,
            format,
            shape,
            width: u64::from(w2 & 0x3fff) + 1,
            height: match shape.dimensions() {
                1 => 1,
                _ => u64::from(w2 >> 14 & 0x3fff) + 1,
            },
            depth: if shape == Shape::D3 {
                depth + 1
            } else if shape.is_array() {
                (last + 1).saturating_sub(first).max(1)
            } else {
                1
            },
            first,
            pitch: u64::from(w4 >> 13 & pitch_mask) + 1,
            levels: [w3 >> 12 & 15, w3 >> 16 & 15],
            dst_sel: [0, 3, 6, 9].map(|shift| w3 >> shift & 7),
            border: match w4 >> 29 {
                1 if gfx.is_gfx9() => [0, 3, 1, 2],
                2 if gfx.is_gfx9() => [3, 2, 1, 0],
                3 if gfx.is_gfx9() => [3, 0, 1, 2],
                4 if gfx.is_gfx9() => [2, 1, 0, 3],
                5 if gfx.is_gfx9() => [1, 0, 3, 2],
                _ => [0, 1, 2, 3],
            },
        })
    }

    /// Address of a texel; `None` outside the image.
    fn texel(&self, [x, y, z]: [u64; 3]) -> Option<u64> {
        if x >= self.width || y >= self.height || z >= self.depth {
            return None;
        }
        let layer = if self.shape.is_array() {
            z + self.first
        } else {
            z
        };
        let index = (layer * self.height + y) * self.pitch + x;
        Some(self.base.wrapping_add(index * self.format.bytes() as u64))
    }

    /// The components of a texel from those that a store sends: the inverse of DST_SEL. Components
    /// that nothing selects become 0.
    fn route(&self, components: [u32; 4]) -> [u32; 4] {
        std::array::from_fn(|channel| {
            let mut sources = self.dst_sel.iter();
            let source = sources.position(|&sel| sel == channel as u32 + 4);
            source.map_or(0, |source| components[source])
        })
    }

    /// Components of a texel in the order that the descriptor selects.
    fn select(&self, texel: [u32; 4]) -> [u32; 4] {
        self.dst_sel.map(|sel| match sel {
            1 => self.format.number.one(),
            4..=7 => texel[sel as usize - 4],
            _ => 0,
        })
    }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One image instruction.
    pub(crate) fn exec_image(&mut self) -> Run<()> {
        let inst = self.inst;
        self.active = self.wave.exec();
        let Op::Image(op) = inst.op() else {
            return self.unknown();
        };
        if self.active == 0 {
            return Ok(());
        }
        if inst.mem.r128 {
            return Err(self.image_unsupported("a 128-bit descriptor, which has no pitch"));
        }
        match op {
            ImageOp::GetLod => {
                return Err(self.image_unsupported("a level of detail, which is of four lanes,"));
            }
            ImageOp::Gather4h(_) => return Err(self.image_unsupported("a gather of one row")),
            ImageOp::Sample(mods) | ImageOp::Gather4(mods) if mods.compare => {
                return Err(self.image_unsupported("a depth comparison"));
            }
            ImageOp::Load { .. } | ImageOp::Store { .. } | ImageOp::GetResinfo => {}
            ImageOp::Atomic(_) | ImageOp::Sample(_) | ImageOp::Gather4(_) => {}
        }
        let words = self.uniform_block::<8>(inst.src[1])?;
        if words == [0; 8] {
            return self.unbound_image(op);
        }
        let image = Image::new(words, self.gfx).map_err(|what| self.image_unsupported(&what))?;
        if op != ImageOp::GetResinfo && image.levels != [0, 0] {
            return Err(self.image_unsupported("an image of several mip levels"));
        }
        // With integer coordinates it makes no difference; AMD's kernels that copy images do so.
        let whole = matches!(
            op,
            ImageOp::Load { mip: false, .. } | ImageOp::Store { mip: false, .. }
        );
        if image.shape == Shape::D3 && inst.mem.da && !whole {
            return Err(self.image_unsupported("an array of 3D images"));
        }
        match op {
            ImageOp::Load { mip, pck, sgn } => self.image_load(&image, mip, pck, sgn),
            ImageOp::Store { mip, pck } => self.image_store(&image, mip, pck),
            ImageOp::GetResinfo => self.image_resinfo(&image),
            ImageOp::Atomic(op) => self.image_atomic(&image, op),
            ImageOp::Sample(mods) => self.image_sample(&image, mods),
            ImageOp::Gather4(mods) => self.image_gather(&image, mods),
            ImageOp::Gather4h(_) | ImageOp::GetLod => self.unknown(),
        }
    }

    #[cold]
    fn image_unsupported(&self, what: &str) -> Stop {
        Stop::unsupported(format!("{what} in {} on {}", self.name(), self.gfx))
    }

    /// A descriptor of zeros: loads and samples give 0, stores are dropped.
    fn unbound_image(&mut self, op: ImageOp) -> Run<()> {
        let inst = self.inst;
        match op {
            ImageOp::Store { .. } => Ok(()),
            ImageOp::Atomic(op) => {
                let count = self.atomic_dwords(op)?;
                for lane in lanes(self.active) {
                    self.write_image_atomic(lane, count, 0)?;
                }
                Ok(())
            }
            ImageOp::Gather4(_) => {
                self.gathered_component()?;
                for lane in lanes(self.active) {
                    self.write_image_words(inst.dst[0], lane, &[0; 4], self.packs_halves())?;
                }
                Ok(())
            }
            ImageOp::Load { .. }
            | ImageOp::GetResinfo
            | ImageOp::GetLod
            | ImageOp::Sample(_)
            | ImageOp::Gather4h(_) => {
                for lane in lanes(self.active) {
                    self.write_image_components(lane, [0; 4], None)?;
                }
                Ok(())
            }
        }
    }

    /// Address value `n` of a lane: a dword, or 16 bits with A16.
    fn image_address(&self, n: usize, lane: usize) -> Run<u32> {
        let a16 = self.inst.mem.a16;
        let register = if a16 { n / 2 } else { n };
        let first = self.vector_range(self.inst.src[0], register + 1)?;
        let value = self.wave.vector(first + register)[lane];
        Ok(match (a16, n & 1) {
            (false, _) => value,
            (true, 0) => value & 0xffff,
            (true, _) => value >> 16,
        })
    }

    /// Integer coordinates of a lane, and the number of their address values.
    fn image_coordinates(&self, image: &Image, lane: usize) -> Run<([u64; 3], usize)> {
        let mut at = [0; 3];
        let dimensions = image.shape.dimensions();
        for (n, value) in at.iter_mut().enumerate().take(dimensions) {
            *value = u64::from(self.image_address(n, lane)?);
        }
        let mut used = dimensions;
        if self.inst.mem.da && image.shape != Shape::D3 {
            let slice = u64::from(self.image_address(used, lane)?);
            used += 1;
            if image.shape.is_array() {
                at[2] = slice;
            }
        }
        Ok((at, used))
    }

    /// Target of a lane's load or store; `None` outside the image, which has one level.
    fn image_place(&self, image: &Image, mip: bool, lane: usize) -> Run<Option<u64>> {
        let (at, used) = self.image_coordinates(image, lane)?;
        if mip && self.image_address(used, lane)? != 0 {
            return Ok(None);
        }
        Ok(image.texel(at))
    }

    /// Enabled components; none counts as the first.
    fn dmask(&self) -> u8 {
        match self.inst.mem.dmask & 15 {
            0 => 1,
            dmask => dmask,
        }
    }

    /// Are halves packed two in a register?
    fn packs_halves(&self) -> bool {
        self.inst.mem.d16 && self.gfx.packs_d16()
    }

    /// Writes the enabled components of one lane to consecutive registers.
    fn write_image_components(
        &mut self,
        lane: usize,
        components: [u32; 4],
        format: Option<Format>,
    ) -> Run<()> {
        let dmask = self.dmask();
        let mut words = [0; 4];
        let mut count = 0;
        for (i, &component) in components.iter().enumerate() {
            if dmask >> i & 1 == 0 {
                continue;
            }
            words[count] = match (self.inst.mem.d16, format) {
                (true, Some(format)) => u32::from(format.narrow(component)),
                _ => component,
            };
            count += 1;
        }
        // Without a format the halves are 0 in any case.
        self.write_image_words(self.inst.dst[0], lane, &words[..count], self.packs_halves())
    }

    /// Writes results of one lane to consecutive registers, packed halves two in a register, and
    /// the residency status after them: always resident.
    fn write_image_words(
        &mut self,
        to: Operand,
        lane: usize,
        words: &[u32],
        halves: bool,
    ) -> Run<()> {
        let mut packed = [0; 5];
        let mut count = 0;
        match halves {
            true => {
                for pair in words.chunks(2) {
                    packed[count] = pair[0] | pair.get(1).copied().unwrap_or(0) << 16;
                    count += 1;
                }
            }
            false => {
                packed[..words.len()].copy_from_slice(words);
                count = words.len();
            }
        }
        if self.inst.mem.tfe || self.inst.mem.lwe {
            packed[count] = 0;
            count += 1;
        }
        let to = self.vector_range(to, count)?;
        for (i, &word) in packed.iter().enumerate().take(count) {
            self.wave.vector_mut(to + i)[lane] = word;
        }
        Ok(())
    }

    /// Reads a texel's components; outside the image they are all 0.
    fn read_texel(&self, image: &Image, lane: usize, at: [u64; 3]) -> Run<Option<[u32; 4]>> {
        let Some(address) = image.texel(at) else {
            return Ok(None);
        };
        let bytes = image.format.bytes();
        let raw = self.global_read(lane, address, bytes)?;
        Ok(Some(image.format.unpack(&raw)))
    }

    fn image_load(&mut self, image: &Image, mip: bool, pck: bool, sgn: bool) -> Run<()> {
        let mut image = *image;
        if pck {
            // The raw bits, zero- or sign-extended.
            image.format.number = if sgn { Number::Sint } else { Number::Uint };
        }
        for lane in lanes(self.active) {
            let components = match self.image_place(&image, mip, lane)? {
                Some(address) => {
                    let raw = self.global_read(lane, address, image.format.bytes())?;
                    image.select(image.format.unpack(&raw))
                }
                None => [0; 4],
            };
            self.write_image_components(lane, components, Some(image.format))?;
        }
        Ok(())
    }

    /// The components that a store sends: those of DMASK from consecutive registers, else 0.
    fn image_components(&self, lane: usize, format: Format) -> Run<[u32; 4]> {
        let dmask = self.dmask();
        let count = dmask.count_ones() as usize;
        let registers = if self.packs_halves() {
            count.div_ceil(2)
        } else {
            count
        };
        let from = self.vector_range(self.inst.src[3], registers)?;
        let mut components = [0; 4];
        let mut next = 0;
        for (i, component) in components.iter_mut().enumerate() {
            // With D16 the mask only counts.
            let there = match self.inst.mem.d16 {
                true => i < count,
                false => dmask >> i & 1 != 0,
            };
            if !there {
                continue;
            }
            *component = if self.packs_halves() {
                let word = self.wave.vector(from + next / 2)[lane];
                format.widen((word >> (16 * (next & 1))) as u16)
            } else if self.inst.mem.d16 {
                format.widen(self.wave.vector(from + next)[lane] as u16)
            } else {
                self.wave.vector(from + next)[lane]
            };
            next += 1;
        }
        Ok(components)
    }

    fn image_store(&mut self, image: &Image, mip: bool, pck: bool) -> Run<()> {
        let format = image.format;
        for lane in lanes(self.active) {
            let place = self.image_place(image, mip, lane)?;
            let components = image.route(self.image_components(lane, format)?);
            if let Some(address) = place {
                let raw = match pck {
                    true => format.pack_bits(components),
                    false => format.pack(components),
                };
                self.global_write(lane, address, &raw, format.bytes())?;
            }
        }
        Ok(())
    }

    /// Width, height, depth or layers, number of levels.
    fn image_resinfo(&mut self, image: &Image) -> Run<()> {
        for lane in lanes(self.active) {
            let level = self.image_address(0, lane)?.min(31);
            let [base, last] = image.levels;
            let count = last.saturating_sub(base) + 1;
            let size = |n: u64| (n >> (base + level)).max(1) as u32;
            let layers = image.depth as u32;
            let info = match image.shape {
                Shape::D1 => [size(image.width), 1, 1],
                Shape::D1Array => [size(image.width), layers, 1],
                Shape::D2 => [size(image.width), size(image.height), 1],
                Shape::D2Array => [size(image.width), size(image.height), layers],
                Shape::D3 => [size(image.width), size(image.height), size(image.depth)],
            };
            let info = match level < count {
                true => [info[0], info[1], info[2], count],
                false => [0, 0, 0, count],
            };
            self.write_image_components(lane, info, None)?;
        }
        Ok(())
    }

    /// Dwords of an atomic's memory word, by DMASK: one bit for each dword.
    fn atomic_dwords(&self, op: Atomic) -> Run<usize> {
        let swap = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
        match (self.inst.mem.dmask & 15, swap) {
            (1, false) | (3, true) => Ok(1),
            (3, false) | (15, true) => Ok(2),
            (dmask, _) => Err(self.image_unsupported(&format!("DMASK {dmask:#x}"))),
        }
    }

    /// Writes the old value of an atomic, if it is returned.
    fn write_image_atomic(&mut self, lane: usize, count: usize, old: u64) -> Run<()> {
        let words = [old as u32, (old >> 32) as u32];
        if self.inst.dst[0] == Operand::None {
            return Ok(());
        }
        self.write_image_words(self.inst.dst[0], lane, &words[..count], false)
    }

    fn image_atomic(&mut self, image: &Image, op: Atomic) -> Run<()> {
        let inst = self.inst;
        let count = self.atomic_dwords(op)?;
        let (bytes, wide) = (image.format.bytes(), count == 2);
        if bytes != 4 * count {
            let what = format!("an atomic of {} bytes on texels of {bytes}", 4 * count);
            return Err(self.image_unsupported(&what));
        }
        let swap = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
        let from = self.vector_range(inst.src[3], if swap { 2 * count } else { count })?;
        for lane in lanes(self.active) {
            let (at, _) = self.image_coordinates(image, lane)?;
            let operands = self.memory_operands(from, count, swap, lane);
            let old = match image.texel(at) {
                Some(address) => self.global_atomic(lane, op, address, wide, operands)?,
                None => 0,
            };
            self.write_image_atomic(lane, count, old)?;
        }
        Ok(())
    }

    /// A float address value: an f16 with A16.
    fn image_float(&self, n: usize, lane: usize) -> Run<f32> {
        let bits = self.image_address(n, lane)?;
        Ok(f32::from_bits(match self.inst.mem.a16 {
            true => math::f16_to_f32(bits as u16, false),
            false => bits,
        }))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A linear 2D image of `width` x `height` texels of 8_8_8_8 UINT with the given pitch.
    pub(crate) fn descriptor(gfx: Gfx, base: u64, size: [u32; 2], pitch: u32) -> [u32; 8] {
        let tiling = if gfx.is_gfx9() { 0 } else { 8 };
        [
            (base >> 8) as u32,
            (base >> 40) as u32 | 10 << 20 | 4 << 26,
            (size[0] - 1) | (size[1] - 1) << 14,
            0xfac | tiling << 20 | 9 << 28,
            (pitch - 1) << 13,
            0,
            0,
            0,
        ]
    }

    #[test]
    fn texels_lie_in_rows() {
        let image = Image::new(descriptor(Gfx::Gfx900, 0x1000, [5, 3], 64), Gfx::Gfx900).unwrap();
        assert_eq!(image.texel([4, 2, 0]), Some(0x1000 + (2 * 64 + 4) * 4));
        assert_eq!(image.texel([5, 2, 0]), None);
        assert_eq!(image.texel([0, 3, 0]), None);
        let mut layers = descriptor(Gfx::Gfx803, 0x1000, [5, 3], 64);
        layers[3] = layers[3] & 0x0fff_ffff | 13 << 28;
        layers[5] = 1 | 2 << 13;
        let image = Image::new(layers, Gfx::Gfx803).unwrap();
        assert_eq!(image.depth, 2);
        assert_eq!(image.texel([0, 0, 1]), Some(0x1000 + 2 * 3 * 64 * 4));
    }

    #[test]
    fn refusals_say_what() {
        let mut tiled = descriptor(Gfx::Gfx900, 0x1000, [5, 3], 64);
        tiled[3] |= 9 << 20;
        assert_eq!(
            Image::new(tiled, Gfx::Gfx900).unwrap_err(),
            "a tiled image (mode 9)"
        );
        let mut cube = descriptor(Gfx::Gfx900, 0x1000, [5, 3], 64);
        cube[3] = cube[3] & 0x0fff_ffff | 11 << 28;
        assert_eq!(Image::new(cube, Gfx::Gfx900).unwrap_err(), "a cube map");
    }
}
