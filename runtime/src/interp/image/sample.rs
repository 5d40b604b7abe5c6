//! Sampling: coordinates to texels by wrap mode, nearest and linear filters.

use frontend::op::SampleMods;

use super::{Image, Shape};
use crate::interp::operand::{Exec, lanes};
use crate::interp::stop::Run;

/// What happens to coordinates outside the image.
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
            // Half borders have never been in an interface that is still used.
            _ => return None,
        })
    }

    /// The texel for index `i` of `n`; `None`: the border.
    fn texel(self, i: i64, n: u64) -> Option<u64> {
        let size = n as i64;
        let last = size - 1;
        // -1 mirrors to 0.
        let once = if i < 0 { -1 - i.max(i64::MIN + 1) } else { i };
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
    linear: bool,
    linear_min: bool,
    linear_z: bool,
    /// All four components of the border as f32.
    border: [u32; 4],
}

impl Sampler {
    fn new(words: [u32; 4]) -> Result<Sampler, String> {
        let [w0, _, w2, w3] = words;
        let mut wrap = [Wrap::Repeat; 3];
        for (i, wrap) in wrap.iter_mut().enumerate() {
            let field = w0 >> (3 * i) & 7;
            *wrap = Wrap::from_field(field).ok_or_else(|| format!("wrap mode {field}"))?;
        }
        if w0 >> 29 & 3 != 0 {
            return Err("a minimum or maximum filter".into());
        }
        let one = 0x3f80_0000;
        let border = match w3 >> 30 {
            0 => [0; 4],
            1 => [0, 0, 0, one],
            2 => [one; 4],
            _ => return Err("a border colour from memory".into()),
        };
        Ok(Sampler {
            wrap,
            unnormalized: w0 >> 15 & 1 != 0,
            linear: w2 >> 20 & 1 != 0,
            linear_min: w2 >> 22 & 1 != 0,
            linear_z: w2 >> 24 & 3 == 2,
            border,
        })
    }
}

/// One dimension of a footprint: two texels and the weight of the second in 1/256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    texels: [Option<u64>; 2],
    weight: u32,
}

/// The footprint of a coordinate in texels. The weights of hardware have eight fraction bits.
fn span(coordinate: f64, n: u64, wrap: Wrap, linear: bool) -> Span {
    let coordinate = if coordinate.is_finite() {
        coordinate
    } else {
        0.0
    };
    if !linear {
        let texel = wrap.texel(coordinate.floor() as i64, n);
        return Span {
            texels: [texel, texel],
            weight: 0,
        };
    }
    let shifted = coordinate - 0.5;
    let first = shifted.floor();
    let weight = ((shifted - first) * 256.0).round_ties_even() as u32;
    let i = first as i64;
    Span {
        texels: [wrap.texel(i, n), wrap.texel(i.saturating_add(1), n)],
        weight,
    }
}

impl Exec<'_, '_> {
    /// `image_sample*` of an image of one level.
    pub(super) fn image_sample(&mut self, image: &Image, mods: SampleMods) -> Run<()> {
        let words = self.uniform_block::<4>(self.inst.src[2])?;
        let sampler = Sampler::new(words).map_err(|what| self.image_unsupported(&what))?;
        if mods.compare {
            return Err(self.image_unsupported("a depth comparison"));
        }
        if image.levels > 1 {
            return Err(self.image_unsupported("an image of several mip levels"));
        }
        // Which of the two filters it is depends on derivatives when the level is not given.
        let given = mods.lz || mods.lod;
        if sampler.linear != sampler.linear_min && !given {
            return Err(self.image_unsupported("different filters for near and far"));
        }
        for lane in lanes(self.active) {
            let components = self.sample_lane(image, &sampler, mods, lane)?;
            self.write_image_components(lane, components, Some(image.format))?;
        }
        Ok(())
    }

    fn sample_lane(
        &self,
        image: &Image,
        sampler: &Sampler,
        mods: SampleMods,
        lane: usize,
    ) -> Run<[u32; 4]> {
        let dimensions = image.shape.dimensions();
        // {offset} {bias} {compare} {derivatives} body
        let mut next = 0;
        let mut offsets = [0; 3];
        if mods.offset {
            // Offsets are a dword even with A16.
            let first = self.memory_vgpr(self.inst.src[0], 1)?;
            let packed = self.wave.vgpr[first][lane];
            offsets = [0, 8, 16].map(|shift| i64::from((packed << (26 - shift)) as i32 >> 26));
            next += if self.inst.mem.a16 { 2 } else { 1 };
        }
        next += usize::from(mods.bias);
        if mods.deriv || mods.coarse {
            next += 2 * dimensions;
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
        // Above level 0 the other filter acts.
        let far = mods.lod && self.image_float(next, lane)? > 0.0;
        let integer = image.format.number.is_integer();
        let linear = !integer
            && if far {
                sampler.linear_min
            } else {
                sampler.linear
            };
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
            let linear = if i == 2 {
                linear && sampler.linear_z
            } else {
                linear
            };
            span(coordinate, sizes[i], sampler.wrap[i], linear)
        });
        let layer = match image.shape {
            Shape::D1Array | Shape::D2Array => {
                let nearest = f64::from(slice).round_ties_even().max(0.0);
                Some((nearest as u64).min(image.depth - 1))
            }
            _ => None,
        };
        self.filter(image, sampler, spans, layer, lane)
    }

    /// The weighted sum over the footprint; one texel passes as it is.
    fn filter(
        &self,
        image: &Image,
        sampler: &Sampler,
        spans: [Span; 3],
        layer: Option<u64>,
        lane: usize,
    ) -> Run<[u32; 4]> {
        let fetch = |corner: usize| -> Run<[u32; 4]> {
            let texel = |i: usize| spans[i].texels[corner >> i & 1];
            let (Some(x), Some(y), Some(z)) = (texel(0), texel(1), texel(2)) else {
                return Ok(sampler.border);
            };
            let texel = self.read_texel(image, lane, [x, y, layer.unwrap_or(z)])?;
            Ok(texel.map_or([0; 4], |texel| image.select(texel)))
        };
        if spans.iter().all(|span| span.weight == 0) {
            return fetch(0);
        }
        let mut sums = [0.0f64; 4];
        for corner in 0..8 {
            let weight: f64 = (0..3)
                .map(|i| match corner >> i & 1 {
                    0 => f64::from(256 - spans[i].weight) / 256.0,
                    _ => f64::from(spans[i].weight) / 256.0,
                })
                .product();
            if weight != 0.0 {
                for (sum, component) in sums.iter_mut().zip(fetch(corner)?) {
                    *sum += weight * f64::from(f32::from_bits(component));
                }
            }
        }
        Ok(sums.map(|sum| (sum as f32).to_bits()))
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
        let near = span(2.75, 4, wrap, false);
        assert_eq!(near.texels[0], Some(2));
        let far = span(2.75, 4, wrap, true);
        assert_eq!((far.texels, far.weight), ([Some(2), Some(3)], 64));
        let edge = span(0.25, 4, wrap, true);
        assert_eq!((edge.texels, edge.weight), ([Some(0), Some(0)], 192));
        assert_eq!(span(f64::NAN, 4, wrap, true).texels[1], Some(0));
        assert_eq!(span(f64::MAX, 4, wrap, true).texels[0], Some(3));
    }
}
