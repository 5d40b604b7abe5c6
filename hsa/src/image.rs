//! Images and samplers. A handle is the address of the kernel's object: the descriptor and the
//! values that the device libraries read after it. Images are linear, regardless of the requested
//! layout.

mod texel;

use std::collections::{HashMap, HashSet};
use std::ffi::c_void;
use std::sync::{Mutex, RwLock};

use frontend::Gfx;
use runtime::image::{
    AddressMode, DescriptorError, Filter, ImageDescriptor, SamplerDescriptor, Shape,
};
use runtime::memory::Purpose;

use crate::abi::{Dim3, Handle, ImageFormat, ImageGeometry, ImageRegion, Outcome, Status};
use crate::copy::{self, Task};
use crate::guard::list;
use crate::lock::{lock, read, write};
use crate::state::Runtime;
pub(crate) use texel::Texel;

/// Where images begin.
pub(crate) const ALIGNMENT: u64 = 256;

/// Bytes of the object that a handle points to; HIP copies 48 of an image's and 32 of a sampler's.
const OBJECT_BYTES: u64 = 64;

/// The images and samplers that there are.
#[derive(Default)]
pub(crate) struct Images {
    images: RwLock<HashMap<Handle, Image>>,
    samplers: Mutex<HashSet<Handle>>,
}

/// Where an image's texels lie.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    texel: Texel,
    /// `None` for one that is read as a buffer.
    shape: Option<Shape>,
    size: [u32; 3],
    /// Bytes from row to row and from slice to slice.
    pitch: [u64; 2],
}

/// An image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Image {
    data: u64,
    layout: Layout,
}

impl Layout {
    /// Layout of such an image's texels; pitches of 0 mean no gaps.
    pub(crate) fn new(gfx: Gfx, image: &ImageGeometry, pitch: [u64; 2]) -> Outcome<Layout> {
        let texel = Texel::new(image.format).ok_or(Status::IMAGE_FORMAT_UNSUPPORTED)?;
        let (shape, [width, height, depth]) = match image.geometry {
            0 => (Some(Shape::D1), [image.width, 1, 1]),
            1 | 6 => (Some(Shape::D2), [image.width, image.height, 1]),
            2 => (Some(Shape::D3), [image.width, image.height, image.depth]),
            3 => (Some(Shape::D1Array), [image.width, 1, image.array_size]),
            4 | 7 => {
                let size = [image.width, image.height, image.array_size];
                (Some(Shape::D2Array), size)
            }
            5 => (None, [image.width, 1, 1]),
            _ => return Err(Status::INVALID_ARGUMENT),
        };
        let number =
            |value: usize| u32::try_from(value).map_err(|_| Status::IMAGE_SIZE_UNSUPPORTED);
        let size = [number(width)?, number(height)?, number(depth)?];
        if size.contains(&0) {
            return Err(Status::IMAGE_SIZE_UNSUPPORTED);
        }
        let least = u64::from(size[0]) * texel.bytes();
        let row = if pitch[0] == 0 { least } else { pitch[0] };
        let whole = row
            .checked_mul(u64::from(size[1]))
            .ok_or(Status::IMAGE_PITCH_UNSUPPORTED)?;
        let slice = if pitch[1] == 0 { whole } else { pitch[1] };
        // Slices follow one another.
        let gaps = size[2] != 1 && slice != whole;
        if row < least || !row.is_multiple_of(texel.bytes()) || slice < whole || gaps {
            return Err(Status::IMAGE_PITCH_UNSUPPORTED);
        }
        let layout = Layout {
            texel,
            shape,
            size,
            pitch: [row, slice],
        };
        layout.words(gfx, 0)?;
        Ok(layout)
    }

    /// Layout of an image's texels by a descriptor (T#) of another driver, which must be one that
    /// this library could have made.
    pub(crate) fn described(gfx: Gfx, image: &ImageGeometry, words: [u32; 8]) -> Outcome<Layout> {
        let texel = Texel::new(image.format).ok_or(Status::INVALID_ARGUMENT)?;
        let texels = (words[4] >> 13 & (gfx.max_image_pitch() - 1)) + 1;
        let layout = Layout::new(gfx, image, [u64::from(texels) * texel.bytes(), 0]);
        let layout = layout.map_err(|_| Status::INVALID_ARGUMENT)?;
        // The address is another.
        let rest = |words: &[u32]| [&[words[1] & !0xff], &words[2..8]].concat();
        match layout.shape.is_some() && rest(&layout.words(gfx, 0)?) == rest(&words) {
            true => Ok(layout),
            false => Err(Status::INVALID_ARGUMENT),
        }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.pitch[1] * u64::from(self.size[2])
    }

    /// The words of the kernel's object.
    fn words(&self, gfx: Gfx, data: u64) -> Outcome<[u32; 12]> {
        let Texel {
            data: format,
            number,
            channels,
            format: ImageFormat { kind, order },
        } = self.texel;
        let [width, height, depth] = self.size;
        let Some(shape) = self.shape else {
            return Ok(self.buffer_words(gfx, data));
        };
        let wrong = |error| match error {
            DescriptorError::Address(_) => Status::INVALID_ARGUMENT,
            DescriptorError::Format { .. } => Status::IMAGE_FORMAT_UNSUPPORTED,
            DescriptorError::Size { what, .. } if what.contains("pitch") => {
                Status::IMAGE_PITCH_UNSUPPORTED
            }
            DescriptorError::Size { .. } => Status::IMAGE_SIZE_UNSUPPORTED,
        };
        let pitch = u32::try_from(self.pitch[0] / self.texel.bytes());
        let descriptor = ImageDescriptor {
            shape,
            address: data,
            width,
            height,
            depth,
            pitch: pitch.map_err(|_| Status::IMAGE_PITCH_UNSUPPORTED)?,
            format,
            number,
            channels,
        };
        let mut words = descriptor.opencl_words(gfx).map_err(wrong)?;
        words[8..10].copy_from_slice(&[kind, order]);
        Ok(words)
    }

    /// A buffer's descriptor (V#), for an image of one row that is read as a buffer.
    fn buffer_words(&self, gfx: Gfx, data: u64) -> [u32; 12] {
        let texel = self.texel;
        let stride = texel.data.bytes();
        // In bytes on gfx8, where the buffer is not swizzled; else in texels.
        let records = if gfx.is_gfx8_up() && !gfx.is_gfx9() {
            self.size[0].saturating_mul(stride)
        } else {
            self.size[0]
        };
        let select = texel.channels.iter().enumerate();
        let select = select.fold(0, |word, (i, &channel)| word | (channel as u32) << (3 * i));
        let mut words = [0; 12];
        words[..4].copy_from_slice(&[
            data as u32,
            (data >> 32) as u32 & 0xffff | stride << 16,
            records,
            select | (texel.number as u32) << 12 | (texel.data as u32) << 15,
        ]);
        words[8..11].copy_from_slice(&[texel.format.kind, texel.format.order, self.size[0]]);
        words
    }
}

impl Image {
    /// The address of the first texel of a region, and the region's bytes, rows and slices.
    fn region(&self, offset: Dim3, range: Dim3) -> Outcome<(u64, [u64; 3])> {
        let offset = [offset.x, offset.y, offset.z].map(u64::from);
        let range = [range.x, range.y, range.z].map(u64::from);
        let Layout { size, pitch, .. } = self.layout;
        for dim in 0..3 {
            if range[dim] == 0 || offset[dim] + range[dim] > u64::from(size[dim]) {
                return Err(Status::INVALID_ARGUMENT);
            }
        }
        let bytes = self.layout.texel.bytes();
        let first = self.data + offset[0] * bytes + offset[1] * pitch[0] + offset[2] * pitch[1];
        Ok((first, [range[0] * bytes, range[1], range[2]]))
    }
}

/// Puts an object for kernels into guest memory; returns its handle.
fn put_object(rt: &Runtime, words: &[u32]) -> Outcome<Handle> {
    let out_of = |_| Status::OUT_OF_RESOURCES;
    let address = rt
        .memory
        .alloc_for(Purpose::Structure, OBJECT_BYTES, OBJECT_BYTES)
        .map_err(out_of)?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let written = rt.memory.write_bytes(address, &bytes);
    debug_assert!(written.is_ok(), "bug: the object was allocated just now");
    Ok(address)
}

fn free_object(rt: &Runtime, handle: Handle) {
    let freed = rt.memory.free(handle);
    debug_assert!(freed.is_ok(), "bug: an object was freed twice");
}

/// Makes an image of memory.
pub(crate) fn create(rt: &Runtime, layout: Layout, data: u64) -> Outcome<Handle> {
    copy::check(rt, data, layout.bytes())?;
    let words = layout.words(rt.config.gpu.gfx, data)?;
    let handle = put_object(rt, &words)?;
    let mut images = write(&rt.images.images);
    images.insert(handle, Image { data, layout });
    Ok(handle)
}

/// Ends an image; its memory stays.
pub(crate) fn destroy(rt: &Runtime, handle: Handle) -> Outcome {
    let mut images = write(&rt.images.images);
    images.remove(&handle).ok_or(Status::INVALID_ARGUMENT)?;
    free_object(rt, handle);
    Ok(())
}

/// The image with this handle.
pub(crate) fn get(rt: &Runtime, handle: Handle) -> Outcome<Image> {
    let images = read(&rt.images.images);
    images.get(&handle).copied().ok_or(Status::INVALID_ARGUMENT)
}

/// Makes a sampler: normalized coordinates, linear filter, treatment of coordinates outside in x, y
/// and z.
pub(crate) fn create_sampler(
    rt: &Runtime,
    coordinates: u32,
    filter: u32,
    outside: [u32; 3],
) -> Outcome<Handle> {
    let mut address_modes = [AddressMode::ClampToEdge; 3];
    for (mode, number) in address_modes.iter_mut().zip(outside) {
        *mode = match number {
            0 | 1 => AddressMode::ClampToEdge,
            2 => AddressMode::ClampToBorder,
            3 => AddressMode::Repeat,
            4 => AddressMode::MirroredRepeat,
            _ => return Err(Status::SAMPLER_DESCRIPTOR_UNSUPPORTED),
        };
    }
    let filter = match filter {
        0 => Filter::Nearest,
        1 => Filter::Linear,
        _ => return Err(Status::SAMPLER_DESCRIPTOR_UNSUPPORTED),
    };
    if coordinates > 1 {
        return Err(Status::SAMPLER_DESCRIPTOR_UNSUPPORTED);
    }
    let sampler = SamplerDescriptor {
        address_modes,
        unnormalized: coordinates == 0,
        ..SamplerDescriptor::new(filter, AddressMode::ClampToEdge)
    };
    let handle = put_object(rt, &sampler.words())?;
    lock(&rt.images.samplers).insert(handle);
    Ok(handle)
}

/// Ends a sampler.
pub(crate) fn destroy_sampler(rt: &Runtime, handle: Handle) -> Outcome {
    if !lock(&rt.images.samplers).remove(&handle) {
        return Err(Status::INVALID_ARGUMENT);
    }
    free_object(rt, handle);
    Ok(())
}

/// Memory outside of an image: first byte, row and slice pitch in bytes (0 for no gaps).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outside {
    pub(crate) at: u64,
    pub(crate) pitch: [u64; 2],
}

impl Outside {
    fn pitch(&self, range: [u64; 3]) -> Outcome<[u64; 2]> {
        let [bytes, rows, _] = range;
        let row = if self.pitch[0] == 0 {
            bytes
        } else {
            self.pitch[0]
        };
        let whole = row.checked_mul(rows).ok_or(Status::INVALID_ARGUMENT)?;
        let slice = if self.pitch[1] == 0 {
            whole
        } else {
            self.pitch[1]
        };
        match self.at == 0 || row < bytes || slice < whole {
            true => Err(Status::INVALID_ARGUMENT),
            false => Ok([row, slice]),
        }
    }
}

/// Copies a region of an image to memory outside, or from there when `into` is true.
///
/// # Safety
/// The memory outside must be valid for it.
pub(crate) unsafe fn transfer(
    image: &Image,
    region: &ImageRegion,
    outside: &Outside,
    into: bool,
) -> Outcome {
    let (first, range) = image.region(region.offset, region.range)?;
    let (pitch, own) = (outside.pitch(range)?, image.layout.pitch);
    let task = match into {
        true => Task::Rect {
            to: first,
            from: outside.at,
            to_pitch: own,
            from_pitch: pitch,
            range,
        },
        false => Task::Rect {
            to: outside.at,
            from: first,
            to_pitch: pitch,
            from_pitch: own,
            range,
        },
    };
    // SAFETY: the caller answers for the memory outside; the image's was checked when it was made, and
    // the program keeps it as long as the image.
    unsafe { copy::run(task) };
    Ok(())
}

/// Copies a region from image to image.
///
/// # Safety
/// The images' memory must still be valid.
pub(crate) unsafe fn copy_region(
    from: &Image,
    from_offset: Dim3,
    to: &Image,
    to_offset: Dim3,
    range: Dim3,
) -> Outcome {
    if from.layout.texel.bytes() != to.layout.texel.bytes() {
        return Err(Status::INVALID_ARGUMENT);
    }
    let (first, _) = from.region(from_offset, range)?;
    let offset = to_offset;
    let outside = Outside {
        at: first,
        pitch: from.layout.pitch,
    };
    // SAFETY: the caller answers for it.
    unsafe { transfer(to, &ImageRegion { offset, range }, &outside, true) }
}

/// Fills a region with a colour.
///
/// # Safety
/// `colour` must be null or point to four floats or integers; the image's memory must still be valid.
pub(crate) unsafe fn clear(image: &Image, region: &ImageRegion, colour: *const c_void) -> Outcome {
    // SAFETY: the caller answers for it.
    let colour = unsafe { list(colour.cast::<[u32; 4]>(), 1) }?[0];
    let texel = image.layout.texel.of(colour);
    let (_, [bytes, rows, slices]) = image.region(region.offset, region.range)?;
    let size = image.layout.texel.bytes();
    let row: Vec<u8> = texel[..size as usize].repeat((bytes / size) as usize);
    for slice in 0..slices as u32 {
        for line in 0..rows as u32 {
            let mut one = *region;
            one.offset.y += line;
            one.offset.z += slice;
            (one.range.y, one.range.z) = (1, 1);
            let outside = Outside {
                at: row.as_ptr().expose_provenance() as u64,
                pitch: [0; 2],
            };
            // SAFETY: the row is as long as the region is wide.
            unsafe { transfer(image, &one, &outside, true) }?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_is_refused() {
        // sRGB, three components of 8 bits, a depth of 8 bits, blue first with 16 bits.
        for (kind, order) in [(2, 14), (2, 6), (2, 18), (3, 9), (4, 1), (99, 1), (2, 99)] {
            assert_eq!(
                Texel::new(ImageFormat { kind, order }),
                None,
                "{kind} {order}"
            );
        }
        let image = ImageGeometry {
            geometry: 1,
            width: 100,
            height: 20,
            depth: 0,
            array_size: 0,
            format: ImageFormat { kind: 2, order: 8 },
        };
        let layout = |image: &ImageGeometry, pitch| {
            let layout = Layout::new(Gfx::Gfx906, image, pitch);
            layout.map(|layout| layout.bytes())
        };
        assert_eq!(layout(&image, [0, 0]), Ok(8000));
        assert_eq!(layout(&image, [512, 0]), Ok(512 * 20));
        for pitch in [[399, 0], [402, 0], [512, 512 * 19], [1 << 40, 0]] {
            let refused = layout(&image, pitch);
            assert_eq!(refused, Err(Status::IMAGE_PITCH_UNSUPPORTED), "{pitch:?}");
        }
        for (width, height) in [(0, 1), (1, 0), (16385, 1), (1 << 40, 1)] {
            let image = ImageGeometry {
                width,
                height,
                ..image
            };
            assert_eq!(layout(&image, [0, 0]), Err(Status::IMAGE_SIZE_UNSUPPORTED));
        }
    }

    #[test]
    fn buffers_count_as_the_target_does() {
        let image = ImageGeometry {
            geometry: 5,
            width: 100_000,
            height: 0,
            depth: 0,
            array_size: 0,
            format: ImageFormat { kind: 15, order: 1 },
        };
        for (gfx, records) in [
            (Gfx::Gfx700, 100_000),
            (Gfx::Gfx803, 400_000),
            (Gfx::Gfx906, 100_000),
        ] {
            let layout = Layout::new(gfx, &image, [0, 0]).unwrap();
            let words = layout.words(gfx, 0x1234_5678_9a00).unwrap();
            // Selection X, 0, 0, 1; FLOAT; 32 bits.
            let last = 4 | 1 << 9 | 7 << 12 | 4 << 15;
            assert_eq!(words[..4], [0x5678_9a00, 4 << 16 | 0x1234, records, last]);
        }
    }
}
