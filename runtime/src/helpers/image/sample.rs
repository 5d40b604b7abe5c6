//! Samples and gathers: from coordinates to texels, and their weighted sum.

use frontend::LANES;
use frontend::op::{ImageOp, SampleMods};
use lower::abi::{ExitCode, Lanes};

use super::{Image, Refusal, Surface, bits};
use crate::choices::{IMAGE_COORDINATE_LIMIT, IMAGE_FRACTION_BITS};
use crate::fault::FaultKind;
use crate::helpers::Call;
use crate::helpers::memory::active;
use crate::math;
use crate::memory::Memory;

/// The weight of a whole texel.
const WHOLE: i64 = 1 << IMAGE_FRACTION_BITS;

/// The fields of an S#.
struct Sampler {
    /// CLAMP_X, CLAMP_Y, CLAMP_Z.
    clamp: [u32; 3],
    in_texels: bool,
    /// TRUNC_COORD.
    truncates: bool,
    /// XY filters when magnified and when not.
    magnify: u32,
    minify: u32,
    depth_filter: u32,
    anisotropy: u32,
    lod_bias: f32,
    lod_range: (f32, f32),
    border: Border,
}

#[derive(Clone, Copy, PartialEq)]
enum Border {
    Transparent,
    Black,
    White,
}

impl Sampler {
    fn of(w: [u32; 4]) -> Result<Sampler, Refusal> {
        let clamp = [0, 3, 6].map(|low| bits(w[0], low, 3));
        if let Some(mode) = clamp.into_iter().find(|&mode| mode == 4 || mode == 5) {
            return Err(format!("wrap mode {mode}"));
        }
        if bits(w[0], 29, 2) > 0 {
            return Err("a minimum or maximum filter".into());
        }
        let border = match w[3] >> 30 {
            0 => Border::Transparent,
            1 => Border::Black,
            2 => Border::White,
            _ => return Err("a border colour from memory".into()),
        };
        // Fixed point with eight fraction bits, the bias signed.
        let fixed = |x: i32| x as f32 / 256.0;
        let bias = bits(w[2], 0, 14) as i32;
        Ok(Sampler {
            clamp,
            in_texels: bits(w[0], 15, 1) == 1,
            truncates: bits(w[0], 27, 1) == 1,
            magnify: bits(w[2], 20, 2),
            minify: bits(w[2], 22, 2),
            depth_filter: bits(w[2], 24, 2),
            anisotropy: bits(w[0], 9, 3),
            lod_bias: fixed(if bias >= 1 << 13 {
                bias - (1 << 14)
            } else {
                bias
            }),
            lod_range: (
                fixed(bits(w[1], 0, 12) as i32),
                fixed(bits(w[1], 12, 12) as i32),
            ),
            border,
        })
    }

    /// Why the sample cannot be computed without the neighbours of a lane, if so.
    fn refusal(&self, mods: SampleMods) -> Option<&'static str> {
        if mods.lod || mods.lz {
            return None;
        }
        if (self.magnify ^ self.minify) & 1 == 1 {
            return Some("different filters for near and far");
        }
        let aniso = (self.magnify | self.minify) & 2 == 2 && self.anisotropy > 0;
        aniso.then_some("an anisotropic filter")
    }

    /// The XY filter at a level of detail.
    fn filter(&self, lod: f32) -> u32 {
        let (least, most) = self.lod_range;
        let lod = (lod + self.lod_bias).max(least).min(most);
        if lod > 0.0 { self.minify } else { self.magnify }
    }
}

/// Columns, rows or slices of a footprint: two of them, and the weight of the second as a fraction
/// of [`WHOLE`]. -1 is the border.
#[derive(Clone, Copy, Default, Debug, PartialEq)]
struct Reach {
    near: i64,
    far: i64,
    share: i64,
}

/// The texel for index `i` of `n`, or -1.
fn wrapped(mode: u32, i: i64, n: i64) -> i64 {
    let mirrored = if i < 0 { !i } else { i };
    match mode {
        0 => i.rem_euclid(n),
        1 => {
            let turn = i.div_euclid(n);
            let i = i - turn * n;
            if turn & 1 == 0 { i } else { n - 1 - i }
        }
        2 => i.max(0).min(n - 1),
        3 => mirrored.min(n - 1),
        6 if i < 0 || i >= n => -1,
        6 => i,
        _ if mirrored < n => mirrored,
        _ => -1,
    }
}

impl Reach {
    /// Of a coordinate in texels. Filter 0 takes one texel: the one below, or that of the
    /// coordinate rounded to fraction bits.
    fn of(at: f64, n: u32, mode: u32, (filter, truncates): (u32, bool)) -> Reach {
        let limit = IMAGE_COORDINATE_LIMIT;
        let at = if at.is_nan() {
            0.0
        } else {
            at.max(-limit).min(limit)
        };
        let n = i64::from(n);
        let fixed = (at * WHOLE as f64).round_ties_even() as i64;
        if filter == 0 {
            let i = if truncates {
                at.floor() as i64
            } else {
                fixed >> IMAGE_FRACTION_BITS
            };
            let i = wrapped(mode, i, n);
            return Reach {
                near: i,
                far: i,
                share: 0,
            };
        }
        // The middle of a texel is its whole share; half a texel is a whole number of shares.
        let fixed = fixed - WHOLE / 2;
        let first = fixed >> IMAGE_FRACTION_BITS;
        Reach {
            near: wrapped(mode, first, n),
            far: wrapped(mode, first + 1, n),
            share: fixed & (WHOLE - 1),
        }
    }
}

/// State shared by the lanes of a sample.
struct Shared<'s> {
    surface: &'s Surface,
    sampler: &'s Sampler,
    memory: &'s Memory,
}

impl Shared<'_> {
    /// The texel of one of eight corners: bits 0 to 2 choose in x, y and z.
    fn corner(
        &self,
        reach: &[Reach; 3],
        layer: Option<u32>,
        corner: usize,
    ) -> Result<[u32; 4], FaultKind> {
        let surface = self.surface;
        let at: [i64; 3] = std::array::from_fn(|i| match corner >> i & 1 {
            0 => reach[i].near,
            _ => reach[i].far,
        });
        if at.contains(&-1) {
            let alpha = surface.border_order.map(|name| name == b'w');
            let lit = alpha.map(|alpha| match self.sampler.border {
                Border::Transparent => false,
                Border::Black => alpha,
                Border::White => true,
            });
            let colour = lit.map(|lit| u32::from(lit) * surface.format.one());
            return Ok(surface.format.select(colour, surface.select));
        }
        let z = layer.unwrap_or(at[2] as u32);
        match surface.place([at[0] as u32, at[1] as u32, z]) {
            Some(address) => surface.read(self.memory, address, surface.format),
            None => Ok([0; 4]),
        }
    }

    /// The sum of the corners by their weights; a single texel keeps its bits.
    fn blend(&self, reach: &[Reach; 3], layer: Option<u32>) -> Result<[u32; 4], FaultKind> {
        if reach.iter().all(|reach| reach.share == 0) {
            return self.corner(reach, layer, 0);
        }
        let mut sum = [0.0; 4];
        for corner in 0..8 {
            let parts: i64 = (0..3)
                .map(|i| match corner >> i & 1 {
                    0 => WHOLE - reach[i].share,
                    _ => reach[i].share,
                })
                .product();
            if parts == 0 {
                continue;
            }
            let weight = parts as f64 / (WHOLE * WHOLE * WHOLE) as f64;
            let texel = self.corner(reach, layer, corner)?;
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += weight * f64::from(f32::from_bits(component));
            }
        }
        Ok(sum.map(|sum: f64| match sum as f32 {
            value if value.is_nan() => 0x7fc0_0000,
            value => value.to_bits(),
        }))
    }
}

/// The float addresses of a lane, in order.
struct Cursor {
    /// Next value, of which A16 has two in a register.
    next: usize,
    a16: bool,
}

impl Cursor {
    /// Skips `count` values and the rest of the register.
    fn skip(&mut self, count: usize) {
        self.next += count;
        if self.a16 {
            self.next = self.next.next_multiple_of(2);
        }
    }

    fn float(&mut self, image: &Image<'_>, lane: usize) -> f32 {
        let raw = image.value(self.next, lane);
        self.next += 1;
        f32::from_bits(match self.a16 {
            true => math::f16_to_f32(raw as u16, false),
            false => raw,
        })
    }
}

/// Samples and gathers of all lanes.
pub(super) fn run<'a>(
    call: &mut Call<'a>,
    image: &Image<'a>,
    mods: SampleMods,
    results: &mut [Lanes; 4],
) -> Result<(), ExitCode> {
    let gathers = matches!(image.op, ImageOp::Gather4(_));
    let mask = image.mem().dmask & 15;
    if gathers && mask.count_ones() != 1 {
        return Err(Image::refuse(call, &format!("DMASK {mask:#x}")));
    }
    let Some(surface) = &image.surface else {
        *results = [[0; LANES]; 4];
        return Ok(());
    };
    let words = std::array::from_fn(|i| call.ctx.descriptors[8 + i]);
    let sampler = Sampler::of(words).map_err(|what| Image::refuse(call, &what))?;
    if let Some(what) = sampler.refusal(mods) {
        return Err(Image::refuse(call, what));
    }
    if gathers && surface.rank != 2 {
        return Err(Image::refuse(call, "an image that is not 2D"));
    }
    let shared = Shared {
        surface,
        sampler: &sampler,
        memory: image.memory,
    };
    for lane in active(image.exec) {
        let (reach, layer) = reaches(image, &shared, mods, lane);
        let words = match gathers {
            true => gather(image, &shared, &reach, layer),
            false => shared
                .blend(&reach, layer)
                .map(|texel| image.masked(texel, Some(surface.format))),
        };
        let words = words.map_err(|kind| call.fault(kind, Some(lane)))?;
        for (result, word) in results.iter_mut().zip(words) {
            result[lane] = word;
        }
    }
    Ok(())
}

/// One component of four texels: (0, 1), (1, 1), (1, 0), (0, 0).
fn gather(
    image: &Image<'_>,
    shared: &Shared<'_>,
    reach: &[Reach; 3],
    layer: Option<u32>,
) -> Result<[u32; 4], FaultKind> {
    let component = (image.mem().dmask & 15).trailing_zeros() as usize;
    let mut words = [0; 4];
    for (word, (x, y)) in words.iter_mut().zip([(0, 1), (1, 1), (1, 0), (0, 0)]) {
        *word = shared.corner(reach, layer, x | y << 1)?[component];
    }
    Ok(image.registers(&words, Some(shared.surface.format)))
}

/// The footprint of a lane, and the layer: {offset} {bias} {slopes} coordinates {slice} {level}.
fn reaches(
    image: &Image<'_>,
    shared: &Shared<'_>,
    mods: SampleMods,
    lane: usize,
) -> ([Reach; 3], Option<u32>) {
    let Shared {
        surface, sampler, ..
    } = shared;
    let mem = image.mem();
    let mut cursor = Cursor {
        next: 0,
        a16: mem.a16,
    };
    let mut offset = [0; 3];
    if mods.offset {
        // Three signed fields of six bits in three bytes, of a whole register.
        let packed = image.address(0, lane).to_le_bytes();
        offset = [packed[0], packed[1], packed[2]].map(|byte| ((byte << 2) as i8) >> 2);
        cursor.skip(1);
    }
    if mods.bias {
        cursor.skip(1);
    }
    if mods.deriv || mods.coarse {
        cursor.skip(surface.rank);
        cursor.skip(surface.rank);
    }
    let mut at = [0.0; 3];
    for coordinate in at.iter_mut().take(surface.rank) {
        *coordinate = cursor.float(image, lane);
    }
    let slice = match mem.da {
        true => cursor.float(image, lane),
        false => 0.0,
    };
    let layer = surface.layers.map(|(count, _)| {
        // To the nearest, then into the array; NaN is 0.
        (slice.round_ties_even() as u32).min(count - 1)
    });
    let filter = match mods.lod {
        true => sampler.filter(cursor.float(image, lane)),
        false => sampler.magnify,
    };
    let blends = !surface.format.is_integer();
    let gathers = matches!(image.op, ImageOp::Gather4(_));
    let reach = std::array::from_fn(|i| {
        if i >= surface.rank {
            return Reach::default();
        }
        let linear = match (i, sampler.depth_filter) {
            _ if gathers => true,
            (2, 1) => false,
            (2, 2) => blends,
            _ => blends && filter & 1 == 1,
        };
        let size = surface.size[i];
        let unit = match sampler.in_texels || mem.unrm {
            true => 1.0,
            false => f64::from(size),
        };
        let coordinate = f64::from(at[i]) * unit + f64::from(offset[i]);
        let filter = (u32::from(linear), sampler.truncates);
        Reach::of(coordinate, size, sampler.clamp[i], filter)
    });
    (reach, layer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_outside() {
        let texels = |mode| [-5, -1, 0, 3, 4, 9].map(|i| wrapped(mode, i, 4));
        assert_eq!(texels(0), [3, 3, 0, 3, 0, 1]);
        assert_eq!(texels(1), [3, 0, 0, 3, 3, 1]);
        assert_eq!(texels(2), [0, 0, 0, 3, 3, 3]);
        assert_eq!(texels(3), [3, 0, 0, 3, 3, 3]);
        assert_eq!(texels(6), [-1, -1, 0, 3, -1, -1]);
        assert_eq!(texels(7), [-1, 0, 0, 3, -1, -1]);
    }

    #[test]
    fn shares() {
        let reach = |at| {
            let Reach { near, far, share } = Reach::of(at, 4, 2, (1, false));
            (near, far, share)
        };
        assert_eq!(reach(0.5), (0, 1, 0));
        assert_eq!(reach(2.75), (2, 3, 64));
        assert_eq!(reach(0.25), (0, 0, 192));
        // Closer to the next texel than a weight can represent.
        assert_eq!(reach(1.499), (1, 2, 0));
        assert_eq!(Reach::of(1.999, 4, 2, (0, false)).near, 2);
        assert_eq!(Reach::of(1.999, 4, 2, (0, true)).near, 1);
        assert_eq!(reach(f64::NAN), (0, 0, 128));
        assert_eq!(reach(f64::INFINITY).0, 3);
    }
}
