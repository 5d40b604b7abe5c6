//! Images and samplers.

use std::ffi::c_void;

use crate::abi::{
    AmdImageDescriptor, Dim3, Handle, ImageDataInfo, ImageFormat, ImageGeometry, ImageRegion,
    Outcome, RawStatus, SamplerMode, SamplerModes, Status,
};
use crate::agent::{self, Agent};
use crate::guard::{guard, list, put, wanted};
use crate::image::{self, Layout, Outside, Texel};
use crate::state::{Runtime, existing, runtime};

use super::address;

/// Geometries that there are.
const GEOMETRIES: u32 = 8;

/// To read, to write, both.
const ACCESS: std::ops::RangeInclusive<u32> = 1..=3;

/// The runtime, for a function that needs the GPU.
fn on_gpu(agent: Handle) -> Outcome<&'static Runtime> {
    let rt = runtime()?;
    match Agent::from_handle(agent)? {
        Agent::Gpu => Ok(rt),
        Agent::Cpu => Err(Status::INVALID_AGENT),
    }
}

/// The value at an address.
///
/// # Safety
/// `at` must be null or valid.
unsafe fn given<T: Copy>(at: *const T) -> Outcome<T> {
    // SAFETY: the caller answers for it.
    unsafe { list(at, 1) }.map(|one| one[0])
}

/// Capabilities of images of a format.
pub unsafe extern "C" fn hsa_ext_image_get_capability(
    agent: Handle,
    geometry: u32,
    format: *const ImageFormat,
    out: *mut u32,
) -> RawStatus {
    const READ_WRITE_ATOMIC_SAME_LAYOUT: u32 = 0x1f;
    guard(|| {
        on_gpu(agent)?;
        if geometry >= GEOMETRIES {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module.
        let texel = Texel::new(unsafe { given(format) }?);
        // SAFETY: head of the module.
        unsafe { put(out, texel.map_or(0, |_| READ_WRITE_ATOMIC_SAME_LAYOUT)) }
    })
}

/// As [`hsa_ext_image_get_capability`]; the layout changes nothing.
pub unsafe extern "C" fn hsa_ext_image_get_capability_with_layout(
    agent: Handle,
    geometry: u32,
    format: *const ImageFormat,
    _layout: u32,
    out: *mut u32,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_ext_image_get_capability(agent, geometry, format, out) }
}

fn layout(
    rt: &Runtime,
    image: *const ImageGeometry,
    access: u32,
    pitch: [usize; 2],
) -> Outcome<Layout> {
    if !ACCESS.contains(&access) {
        return Err(Status::INVALID_ARGUMENT);
    }
    // SAFETY: head of the module.
    let image = unsafe { given(image) }?;
    Layout::new(rt.config.gpu.gfx, &image, pitch.map(|bytes| bytes as u64))
}

/// Size and alignment of an image's memory.
pub unsafe extern "C" fn hsa_ext_image_data_get_info(
    agent: Handle,
    image: *const ImageGeometry,
    access: u32,
    out: *mut ImageDataInfo,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_ext_image_data_get_info_with_layout(agent, image, access, 0, 0, 0, out) }
}

/// As [`hsa_ext_image_data_get_info`], with the distances of rows and slices.
pub unsafe extern "C" fn hsa_ext_image_data_get_info_with_layout(
    agent: Handle,
    image: *const ImageGeometry,
    access: u32,
    _layout: u32,
    row_pitch: usize,
    slice_pitch: usize,
    out: *mut ImageDataInfo,
) -> RawStatus {
    guard(|| {
        let layout = layout(on_gpu(agent)?, image, access, [row_pitch, slice_pitch])?;
        let info = ImageDataInfo {
            size: layout.bytes() as usize,
            alignment: image::ALIGNMENT as usize,
        };
        // SAFETY: head of the module.
        unsafe { put(out, info) }
    })
}

/// Makes an image of memory.
pub unsafe extern "C" fn hsa_ext_image_create(
    agent: Handle,
    image: *const ImageGeometry,
    data: *const c_void,
    access: u32,
    out: *mut Handle,
) -> RawStatus {
    // SAFETY: head of the module.
    unsafe { hsa_ext_image_create_with_layout(agent, image, data, access, 0, 0, 0, out) }
}

/// As [`hsa_ext_image_create`], with the distances of rows and slices.
pub unsafe extern "C" fn hsa_ext_image_create_with_layout(
    agent: Handle,
    image: *const ImageGeometry,
    data: *const c_void,
    access: u32,
    _layout: u32,
    row_pitch: usize,
    slice_pitch: usize,
    out: *mut Handle,
) -> RawStatus {
    create(agent, out, |rt| {
        let layout = layout(rt, image, access, [row_pitch, slice_pitch])?;
        image::create(rt, layout, address(data))
    })
}

/// Makes an image of memory that another driver laid out. Its descriptor must be for this GPU, and
/// be one that this library could have made: consecutive rows.
pub unsafe extern "C" fn hsa_amd_image_create(
    agent: Handle,
    image: *const ImageGeometry,
    descriptor: *const AmdImageDescriptor,
    data: *const c_void,
    access: u32,
    out: *mut Handle,
) -> RawStatus {
    const VENDOR: u32 = 0x1002;
    create(agent, out, |rt| {
        // SAFETY: head of the module.
        let (image, head) = unsafe { (given(image)?, given(descriptor.cast::<[u32; 2]>())?) };
        if head != [1, VENDOR << 16 | rt.config.gpu.chip] || !ACCESS.contains(&access) {
            return Err(Status::INVALID_ARGUMENT);
        }
        // SAFETY: head of the module; a descriptor of this version has eight words for this vendor.
        let words = unsafe { given(descriptor) }?.words;
        let layout = Layout::described(rt.config.gpu.gfx, &image, words)?;
        image::create(rt, layout, address(data))
    })
}

/// Makes an image or a sampler on the GPU.
fn create(
    agent: Handle,
    out: *mut Handle,
    make: impl FnOnce(&'static Runtime) -> Outcome<Handle>,
) -> RawStatus {
    guard(|| {
        let rt = on_gpu(agent)?;
        wanted(out)?;
        let handle = make(rt)?;
        // SAFETY: head of the module.
        unsafe { put(out, handle) }
    })
}

/// Ends an image or a sampler.
fn destroy(
    agent: Handle,
    object: Handle,
    end: impl FnOnce(&'static Runtime, Handle) -> Outcome,
) -> RawStatus {
    guard(|| {
        Agent::from_handle(agent)?;
        end(existing()?, object)
    })
}

/// Ends an image.
pub extern "C" fn hsa_ext_image_destroy(agent: Handle, image: Handle) -> RawStatus {
    destroy(agent, image, image::destroy)
}

/// Copies a region from image to image.
pub unsafe extern "C" fn hsa_ext_image_copy(
    agent: Handle,
    from: Handle,
    from_offset: *const Dim3,
    to: Handle,
    to_offset: *const Dim3,
    range: *const Dim3,
) -> RawStatus {
    guard(|| {
        let rt = on_gpu(agent)?;
        let (from, to) = (image::get(rt, from)?, image::get(rt, to)?);
        let _change = rt.begin_change();
        // SAFETY: head of the module.
        unsafe {
            let (from_offset, to_offset) = (given(from_offset)?, given(to_offset)?);
            image::copy_region(&from, from_offset, &to, to_offset, given(range)?)
        }
    })
}

fn transfer(
    agent: Handle,
    image: Handle,
    region: *const ImageRegion,
    outside: Outside,
    into: bool,
) -> RawStatus {
    guard(|| {
        let rt = on_gpu(agent)?;
        let image = image::get(rt, image)?;
        let _change = rt.begin_change();
        // SAFETY: head of the module.
        unsafe { image::transfer(&image, &given(region)?, &outside, into) }
    })
}

/// Copies memory into a region of an image.
pub unsafe extern "C" fn hsa_ext_image_import(
    agent: Handle,
    from: *const c_void,
    row_pitch: usize,
    slice_pitch: usize,
    image: Handle,
    region: *const ImageRegion,
) -> RawStatus {
    let outside = Outside {
        at: address(from),
        pitch: [row_pitch as u64, slice_pitch as u64],
    };
    transfer(agent, image, region, outside, true)
}

/// Copies a region of an image into memory.
pub unsafe extern "C" fn hsa_ext_image_export(
    agent: Handle,
    image: Handle,
    to: *mut c_void,
    row_pitch: usize,
    slice_pitch: usize,
    region: *const ImageRegion,
) -> RawStatus {
    let outside = Outside {
        at: address(to),
        pitch: [row_pitch as u64, slice_pitch as u64],
    };
    transfer(agent, image, region, outside, false)
}

/// Fills a region of an image with a colour.
pub unsafe extern "C" fn hsa_ext_image_clear(
    agent: Handle,
    image: Handle,
    colour: *const c_void,
    region: *const ImageRegion,
) -> RawStatus {
    guard(|| {
        let rt = on_gpu(agent)?;
        let image = image::get(rt, image)?;
        let _change = rt.begin_change();
        // SAFETY: head of the module.
        unsafe { image::clear(&image, &given(region)?, colour) }
    })
}

/// Makes a sampler.
pub unsafe extern "C" fn hsa_ext_sampler_create(
    agent: Handle,
    sampler: *const SamplerMode,
    out: *mut Handle,
) -> RawStatus {
    create(agent, out, |rt| {
        // SAFETY: head of the module.
        let mode = unsafe { given(sampler) }?;
        image::create_sampler(rt, mode.coordinates, mode.filter, [mode.outside; 3])
    })
}

/// As [`hsa_ext_sampler_create`], with a choice for each dimension.
pub unsafe extern "C" fn hsa_ext_sampler_create_v2(
    agent: Handle,
    sampler: *const SamplerModes,
    out: *mut Handle,
) -> RawStatus {
    create(agent, out, |rt| {
        // SAFETY: head of the module.
        let modes = unsafe { given(sampler) }?;
        image::create_sampler(rt, modes.coordinates, modes.filter, modes.outside)
    })
}

/// Ends a sampler.
pub extern "C" fn hsa_ext_sampler_destroy(agent: Handle, sampler: Handle) -> RawStatus {
    destroy(agent, sampler, |rt, sampler| {
        image::destroy_sampler(rt, sampler)
    })
}

/// The largest images of an agent.
pub unsafe extern "C" fn hsa_amd_image_get_info_max_dim(
    agent: Handle,
    attribute: u32,
    value: *mut c_void,
) -> RawStatus {
    guard(|| {
        let rt = on_gpu(agent)?;
        match attribute {
            // SAFETY: head of the module.
            0x3000..=0x3008 => unsafe { agent::info(rt, Agent::Gpu, attribute, value) },
            _ => Err(Status::INVALID_ARGUMENT),
        }
    })
}
