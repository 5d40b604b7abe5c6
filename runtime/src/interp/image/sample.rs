//! Sampling: coordinates to texels by wrap mode, nearest and linear filters.

use frontend::op::SampleMods;

use super::Image;
use crate::choices::{IMAGE_COORDINATE_LIMIT, IMAGE_FRACTION_BITS};
use crate::interp::observe::Observer;
use crate::interp::operand::{Exec, lanes};
use crate::interp::stop::Run;

/// Treatment of coordinates outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrap {
    Repeat,
    Mirror,
    ClampLastTexel,
    MirrorOnceLastTexel,
    ClampBorder,
    MirrorOnceBorder,
}

impl Wrap {
    fn from_field(field: u32) -> Option<Wrap> {
        Some(match field {
            0 => Wrap::Repeat,
            1 => Wrap::Mirror,
            2 => Wrap::ClampLastTexel,
            3 => Wrap::MirrorOnceLastTexel,
            6 => Wrap::ClampBorder,
            7 => Wrap::MirrorOnceBorder,
            // No interface in use has half borders.
            _ => return None,
        })
    }

    /// The texel for index `i` of `n`; `None`: the border.
    fn texel(self, i: i64, n: u64) -> Option<u64> {
        let size = n as i64;
        let last = size - 1;
        // -1 mirrors to 0.
        let once = if i < 0 { -1 - i } else { i };
        match self {
            Wrap::Repeat => Some(i.rem_euclid(size) as u64),
            Wrap::Mirror => {
                let i = i.rem_euclid(2 * size);
                Some(if i < size { i } else { 2 * size - 1 - i } as u64)
            }
            Wrap::ClampLastTexel => Some(i.clamp(0, last) as u64),
            Wrap::MirrorOnceLastTexel => Some(once.min(last) as u64),
            Wrap::ClampBorder => (0..size).contains(&i).then_some(i as u64),
            Wrap::MirrorOnceBorder => (once < size).then_some(once as u64),
        }
    }
}

/// A sampler descriptor (S#).
#[derive(Clone, Copy, Debug)]
struct Sampler {
    wrap: [Wrap; 3],
    unnormalized: bool,
    nearest: Filter,
    /// XY filters for near and far: bit 0 is linear, bit 1 anisotropic.
    filters: [u32; 2],
    /// Z filter: 1 nearest, 2 linear, else as XY.
    z_filter: u32,
    anisotropic: bool,
    /// Bias, least and largest level of detail.
    lod: [f32; 3],
    /// 0 or 1 in each component of the border.
    border: [bool; 4],
}

impl Sampler {
    fn new(words: [u32; 4]) -> Result<Sampler, String> {
        let [w0, w1, w2, w3] = words;
        let mut wrap = [Wrap::Repeat; 3];
        for (i, wrap) in wrap.iter_mut().enumerate() {
            let field = w0 >> (3 * i) & 7;
            *wrap = Wrap::from_field(field).ok_or_else(|| format!("wrap mode {field}"))?;
        }
        if w0 >> 29 & 3 != 0 {
            return Err("a minimum or maximum filter".into());
        }
        let border = match w3 >> 30 {
            0 => [false; 4],
            1 => [false, false, false, true],
            2 => [true; 4],
            _ => return Err("a border colour from memory".into()),
        };
        let bias = (w2 << 18) as i32 >> 18;
        Ok(Sampler {
            wrap,
            unnormalized: w0 >> 15 & 1 != 0,
            nearest: match w0 >> 27 & 1 {
                0 => Filter::NearestRounded,
                _ => Filter::NearestBelow,
            },
            filters: [w2 >> 20 & 3, w2 >> 22 & 3],
            z_filter: w2 >> 24 & 3,
            anisotropic: w0 >> 9 & 7 != 0,
            lod: [
                bias as f32 / 256.0,
                (w1 & 0xfff) as f32 / 256.0,
                (w1 >> 12 & 0xfff) as f32 / 256.0,
            ],
            border,
        })
    }

    /// Is the image shrunk at this level of detail?
    fn is_far(&self, lod: f32) -> bool {
        let [bias, least, largest] = self.lod;
        (lod + bias).max(least).min(largest) > 0.0
    }
}

/// One dimension of a footprint: two texels and the weight of the second, less than one in units of
/// the last fraction bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    texels: [Option<u64>; 2],
    weight: u32,
}

/// Handling of a coordinate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    /// The texel that contains it after rounding to fraction bits.
    NearestRounded,
    /// The texel that contains it.
    NearestBelow,
    /// Two texels.
    Linear,
}

/// One in weights.
const ONE: f64 = (1u32 << IMAGE_FRACTION_BITS) as f64;

/// The footprint of a coordinate in texels.
fn span(coordinate: f64, n: u64, wrap: Wrap, filter: Filter) -> Span {
    let coordinate = match coordinate.is_nan() {
        true => 0.0,
        false => coordinate.clamp(-IMAGE_COORDINATE_LIMIT, IMAGE_COORDINATE_LIMIT),
    };
    if filter != Filter::Linear {
        let coordinate = match filter {
            Filter::NearestRounded => (coordinate * ONE).round_ties_even() / ONE,
            Filter::NearestBelow | Filter::Linear => coordinate,
        };
        let texel = wrap.texel(coordinate.floor() as i64, n);
        return Span {
            texels: [texel, texel],
            weight: 0,
        };
    }
    let units = ((coordinate - 0.5) * ONE).round_ties_even();
    let first = (units / ONE).floor();
    let weight = (units - first * ONE) as u32;
    let i = first as i64;
    Span {
        texels: [wrap.texel(i, n), wrap.texel(i + 1, n)],
        weight,
    }
}

/// Sample position of a lane.
struct Footprint {
    spans: [Span; 3],
    layer: Option<u64>,
}

impl<O: Observer> Exec<'_, '_, O> {
    /// The sampler, if the instruction needs no derivatives.
    fn image_sampler(&self, mods: SampleMods) -> Run<Sampler> {
        let words = self.uniform_block::<4>(self.inst.src[2])?;
        let sampler = Sampler::new(words).map_err(|what| self.image_unsupported(&what))?;
        // Without an explicit level, derivatives select between the two filters.
        if !mods.lz && !mods.lod {
            let [near, far] = sampler.filters;
            if near & 1 != far & 1 {
                return Err(self.image_unsupported("different filters for near and far"));
            }
            if (near | far) & 2 != 0 && sampler.anisotropic {
                return Err(self.image_unsupported("an anisotropic filter"));
            }
        }
        Ok(sampler)
    }

    /// `image_sample*` of an image of one level.
    pub(super) fn image_sample(&mut self, image: &Image, mods: SampleMods) -> Run<()> {
        let sampler = self.image_sampler(mods)?;
        for lane in lanes(self.active) {
            let footprint = self.footprint(image, &sampler, mods, false, lane)?;
            let components = self.filter(image, &sampler, &footprint, lane)?;
            self.write_image_components(lane, components, Some(image.format))?;
        }
        Ok(())
    }

    /// The component that a gather takes.
    pub(super) fn gathered_component(&self) -> Run<usize> {
        match self.inst.mem.dmask & 15 {
            1 => Ok(0),
            2 => Ok(1),
            4 => Ok(2),
            8 => Ok(3),
            dmask => Err(self.image_unsupported(&format!("DMASK {dmask:#x}"))),
        }
    }

    /// `image_gather4*`: one component of the four texels that a linear filter would weight.
    pub(super) fn image_gather(&mut self, image: &Image, mods: SampleMods) -> Run<()> {
        let component = self.gathered_component()?;
        let sampler = self.image_sampler(mods)?;
        if image.shape.dimensions() != 2 {
            return Err(self.image_unsupported("an image that is not 2D"));
        }
        for lane in lanes(self.active) {
            let footprint = self.footprint(image, &sampler, mods, true, lane)?;
            let mut words = [0; 4];
            // Counter-clockwise, from the texel below on the left.
            for (word, corner) in words.iter_mut().zip([2, 3, 1, 0]) {
                let texel = self.fetch(image, &sampler, &footprint, corner, lane)?;
                *word = match self.inst.mem.d16 {
                    true => u32::from(image.format.narrow(texel[component])),
                    false => texel[component],
                };
            }
            self.write_image_words(self.inst.dst[0], lane, &words, self.packs_halves())?;
        }
        Ok(())
    }

    /// Sample position of a lane, by its addresses: {offset} {bias} {compare} {derivatives} body,
    /// each of which begins with a register of its own.
    fn footprint(
        &self,
        image: &Image,
        sampler: &Sampler,
        mods: SampleMods,
        gather: bool,
        lane: usize,
    ) -> Run<Footprint> {
        let dimensions = image.shape.dimensions();
        // Counted in values, of which A16 has two in a register.
        let register = if self.inst.mem.a16 { 2 } else { 1 };
        let mut next = 0;
        let mut offsets = [0; 3];
        if mods.offset {
            // Offsets are a dword even with A16.
            let first = self.vector_range(self.inst.src[0], 1)?;
            let packed = self.wave.vector(first)[lane];
            offsets = [0, 8, 16].map(|shift| i64::from((packed << (26 - shift)) as i32 >> 26));
            next += register;
        }
        if mods.bias {
            next += register;
        }
        if mods.deriv || mods.coarse {
            next += 2 * dimensions.next_multiple_of(register);
        }
        let mut at = [0.0f64; 3];
        for value in at.iter_mut().take(dimensions) {
            *value = f64::from(self.image_float(next, lane)?);
            next += 1;
        }
        let slice = match self.inst.mem.da {
            true => {
                next += 1;
                self.image_float(next - 1, lane)?
            }
            false => 0.0,
        };
        // Above level 0 the other filter applies.
        let far = mods.lod && sampler.is_far(self.image_float(next, lane)?);
        let linear = sampler.filters[usize::from(far)] & 1 != 0;
        let linear = gather || linear && !image.format.number.is_integer();
        let sizes = [image.width, image.height, image.depth];
        let unnormalized = sampler.unnormalized || self.inst.mem.unrm;
        let spans: [Span; 3] = std::array::from_fn(|i| {
            if i >= dimensions {
                return Span {
                    texels: [Some(0); 2],
                    weight: 0,
                };
            }
            let scale = if unnormalized { 1.0 } else { sizes[i] as f64 };
            let coordinate = at[i] * scale + offsets[i] as f64;
            let linear = match (i, sampler.z_filter) {
                (2, 1) => false,
                (2, 2) => !image.format.number.is_integer(),
                _ => linear,
            };
            let filter = match linear {
                true => Filter::Linear,
                false => sampler.nearest,
            };
            span(coordinate, sizes[i], sampler.wrap[i], filter)
        });
        let layer = image.shape.is_array().then(|| {
            let nearest = f64::from(slice).round_ties_even().max(0.0);
            (nearest as u64).min(image.depth - 1)
        });
        Ok(Footprint { spans, layer })
    }

    /// A texel of a footprint: bit i of `corner` chooses in dimension i.
    fn fetch(
        &self,
        image: &Image,
        sampler: &Sampler,
        footprint: &Footprint,
        corner: usize,
        lane: usize,
    ) -> Run<[u32; 4]> {
        let texel = |i: usize| footprint.spans[i].texels[corner >> i & 1];
        let (Some(x), Some(y), Some(z)) = (texel(0), texel(1), texel(2)) else {
            let one = |there| if there { image.format.number.one() } else { 0 };
            let border = image.border.map(|from| one(sampler.border[from]));
            return Ok(image.select(border));
        };
        let texel = self.read_texel(image, lane, [x, y, footprint.layer.unwrap_or(z)])?;
        Ok(texel.map_or([0; 4], |texel| image.select(texel)))
    }

    /// The weighted sum over the footprint; a single texel is unchanged.
    fn filter(
        &self,
        image: &Image,
        sampler: &Sampler,
        footprint: &Footprint,
        lane: usize,
    ) -> Run<[u32; 4]> {
        let spans = &footprint.spans;
        if spans.iter().all(|span| span.weight == 0) {
            return self.fetch(image, sampler, footprint, 0, lane);
        }
        let mut sums = [0.0f64; 4];
        for corner in 0..8 {
            let weight: f64 = (0..3)
                .map(|i| match corner >> i & 1 {
                    0 => (ONE - f64::from(spans[i].weight)) / ONE,
                    _ => f64::from(spans[i].weight) / ONE,
                })
                .product();
            if weight != 0.0 {
                let texel = self.fetch(image, sampler, footprint, corner, lane)?;
                for (sum, component) in sums.iter_mut().zip(texel) {
                    *sum += weight * f64::from(f32::from_bits(component));
                }
            }
        }
        Ok(sums.map(|sum| match sum.is_nan() {
            true => 0x7fc0_0000,
            false => (sum as f32).to_bits(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrap_modes() {
        let texels = |wrap: Wrap| [-5, -1, 0, 3, 4, 9].map(|i| wrap.texel(i, 4));
        let some = |list: [u64; 6]| list.map(Some);
        assert_eq!(texels(Wrap::Repeat), some([3, 3, 0, 3, 0, 1]));
        assert_eq!(texels(Wrap::Mirror), some([3, 0, 0, 3, 3, 1]));
        assert_eq!(texels(Wrap::ClampLastTexel), some([0, 0, 0, 3, 3, 3]));
        assert_eq!(texels(Wrap::MirrorOnceLastTexel), some([3, 0, 0, 3, 3, 3]));
        assert_eq!(
            texels(Wrap::ClampBorder),
            [None, None, Some(0), Some(3), None, None]
        );
        assert_eq!(
            texels(Wrap::MirrorOnceBorder),
            [None, Some(0), Some(0), Some(3), None, None]
        );
    }

    #[test]
    fn footprints() {
        let wrap = Wrap::ClampLastTexel;
        let near = |at, filter| span(at, 4, wrap, filter).texels[0];
        assert_eq!(near(2.75, Filter::NearestRounded), Some(2));
        assert_eq!(near(2.999, Filter::NearestRounded), Some(3));
        assert_eq!(near(2.999, Filter::NearestBelow), Some(2));
        let far = span(2.75, 4, wrap, Filter::Linear);
        assert_eq!((far.texels, far.weight), ([Some(2), Some(3)], 64));
        let edge = span(0.25, 4, wrap, Filter::Linear);
        assert_eq!((edge.texels, edge.weight), ([Some(0), Some(0)], 192));
        assert_eq!(span(f64::NAN, 4, wrap, Filter::Linear).texels[1], Some(0));
        assert_eq!(span(f64::MAX, 4, wrap, Filter::Linear).texels[0], Some(3));
    }
}
