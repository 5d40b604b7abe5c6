//! Images and samplers: memory, copies, colours, and what is refused.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use hsa_runtime64::abi::{
    AmdImageDescriptor, Dim3, ImageDataInfo, ImageFormat, ImageGeometry, ImageRegion, SamplerMode,
    SamplerModes,
};
use hsa_runtime64::api::*;

use crate::support::{Buffer, agents, begin};

const UNORM_INT8: u32 = 2;
const FLOAT: u32 = 15;
const R: u32 = 1;
const RGBA: u32 = 8;

fn image_2d(width: usize, height: usize, kind: u32, order: u32) -> ImageGeometry {
    ImageGeometry {
        geometry: 1,
        width,
        height,
        format: ImageFormat { kind, order },
        ..ImageGeometry::default()
    }
}

fn create(image: &ImageGeometry, data: *const c_void, row_pitch: usize) -> Result<u64, u32> {
    let mut handle = 0;
    let [_, gpu] = agents();
    // SAFETY: image and result are ours.
    let status = unsafe {
        hsa_ext_image_create_with_layout(gpu, image, data, 3, 1, row_pitch, 0, &mut handle)
    };
    if status == 0 { Ok(handle) } else { Err(status) }
}

fn region(x: u32, y: u32, width: u32, height: u32) -> ImageRegion {
    ImageRegion {
        offset: Dim3 { x, y, z: 0 },
        range: Dim3 {
            x: width,
            y: height,
            z: 1,
        },
    }
}

#[test]
fn formats_tell_what_they_can() {
    begin();
    let [cpu, gpu] = agents();
    let capability = |agent, geometry, kind, order| {
        let (mut mask, format) = (u32::MAX, ImageFormat { kind, order });
        // SAFETY: format and result are ours.
        let status = unsafe { hsa_ext_image_get_capability(agent, geometry, &format, &mut mask) };
        if status == 0 { Ok(mask) } else { Err(status) }
    };
    assert_eq!(capability(gpu, 1, UNORM_INT8, RGBA), Ok(0x1f));
    assert_eq!(capability(gpu, 2, FLOAT, R), Ok(0x1f));
    assert_eq!(capability(gpu, 1, UNORM_INT8, 14), Ok(0), "no sRGB");
    assert_eq!(capability(gpu, 8, FLOAT, R), Err(0x1001));
    assert_eq!(capability(cpu, 1, FLOAT, R), Err(0x1004));
    let mut info = ImageDataInfo::default();
    let image = image_2d(100, 20, FLOAT, R);
    // SAFETY: image and result are ours.
    unsafe {
        assert_eq!(hsa_ext_image_data_get_info(gpu, &image, 1, &mut info), 0);
        assert_eq!((info.size, info.alignment), (8000, 256));
        let with_pitch = |pitch, info: &mut ImageDataInfo| {
            hsa_ext_image_data_get_info_with_layout(gpu, &image, 1, 1, pitch, 0, info)
        };
        assert_eq!(with_pitch(512, &mut info), 0);
        assert_eq!(info.size, 512 * 20);
        assert_eq!(with_pitch(401, &mut info), 0x3002);
        assert_eq!(
            hsa_ext_image_data_get_info(gpu, &image, 0, &mut info),
            0x1001
        );
        assert_eq!(
            hsa_ext_image_data_get_info(gpu, null(), 1, &mut info),
            0x1001
        );
        let large = image_2d(1 << 20, 1, FLOAT, R);
        assert_eq!(
            hsa_ext_image_data_get_info(gpu, &large, 1, &mut info),
            0x3001
        );
    }
}

#[test]
fn images_of_other_drivers_must_be_linear() {
    begin();
    let [_, gpu] = agents();
    let (a, b) = (Buffer::new(4096), Buffer::new(4096));
    let geometry = image_2d(10, 6, UNORM_INT8, RGBA);
    let own = create(&geometry, a.at.cast_const(), 512).unwrap();
    let words = |handle: u64| -> [u32; 8] {
        // SAFETY: a handle is the address of the descriptor.
        unsafe { std::ptr::with_exposed_provenance::<[u32; 8]>(handle as usize).read() }
    };
    let mut chip = 0;
    // SAFETY: attribute 0xa000 is a dword.
    let status = unsafe { hsa_agent_get_info(gpu, 0xa000, (&raw mut chip).cast()) };
    assert_eq!(status, 0);
    let good = AmdImageDescriptor {
        version: 1,
        device: 0x1002 << 16 | chip,
        words: words(own),
    };
    let other = |descriptor: *const AmdImageDescriptor, data: *const c_void| {
        let mut handle = 0;
        // SAFETY: image, descriptor and result are ours.
        match unsafe { hsa_amd_image_create(gpu, &geometry, descriptor, data, 3, &mut handle) } {
            0 => Ok(handle),
            status => Err(status),
        }
    };
    let image = other(&good, b.at.cast_const()).unwrap();
    let same = create(&geometry, b.at.cast_const(), 512).unwrap();
    assert_eq!(words(image), words(same));
    assert_ne!(words(image), words(own));
    let mut bad = [good; 6];
    bad[0].version = 2;
    bad[1].device += 1;
    // A tiled layout, other formats, sizes and pitches.
    bad[2].words[3] ^= 1 << 20;
    bad[3].words[1] ^= 1 << 20;
    bad[4].words[2] += 1;
    bad[5].words[4] = 0;
    for bad in &bad {
        assert_eq!(other(bad, b.at.cast_const()), Err(0x1001), "{bad:x?}");
    }
    assert_eq!(other(null(), b.at.cast_const()), Err(0x1001));
    assert_eq!(other(&good, null()), Err(0x1001));
    for image in [own, image, same] {
        assert_eq!(hsa_ext_image_destroy(gpu, image), 0);
    }
}

#[test]
fn texels_come_and_go() {
    begin();
    let [_, gpu] = agents();
    let (a, b) = (Buffer::new(4096), Buffer::new(4096));
    let geometry = image_2d(10, 6, UNORM_INT8, RGBA);
    let first = create(&geometry, a.at.cast_const(), 64).unwrap();
    let second = create(&geometry, b.at.cast_const(), 0).unwrap();
    assert_ne!(first, second);
    for at in (0..4096).step_by(4) {
        a.write(at, 0xaaaa_aaaau32);
        b.write(at, 0xbbbb_bbbbu32);
    }
    let texels: Vec<u32> = (0..12).map(|i| 0x0101_0101 * i).collect();
    let mut back = vec![0u32; 4 * 5];
    // SAFETY: regions, texels and colour are ours.
    unsafe {
        // Three rows of four texels at column 5, row 2.
        let part = region(5, 2, 4, 3);
        let from = texels.as_ptr().cast();
        assert_eq!(hsa_ext_image_import(gpu, from, 0, 0, first, &part), 0);
        let offset = Dim3 { x: 1, y: 0, z: 0 };
        let status = hsa_ext_image_copy(gpu, first, &part.offset, second, &offset, &part.range);
        assert_eq!(status, 0);
        let to = back.as_mut_ptr().cast();
        let moved = region(1, 0, 4, 3);
        assert_eq!(hsa_ext_image_export(gpu, second, to, 20, 0, &moved), 0);
        // Red and a half of alpha in two texels.
        let colour = [1.0f32, 0.0, 0.0, 0.5];
        let place = region(8, 5, 2, 1);
        assert_eq!(
            hsa_ext_image_clear(gpu, second, colour.as_ptr().cast(), &place),
            0
        );
        // Outside, and with too narrow rows.
        let outside = region(5, 2, 6, 3);
        assert_eq!(
            hsa_ext_image_import(gpu, from, 0, 0, first, &outside),
            0x1001
        );
        assert_eq!(hsa_ext_image_import(gpu, from, 15, 0, first, &part), 0x1001);
        assert_eq!(
            hsa_ext_image_import(gpu, null(), 0, 0, first, &part),
            0x1001
        );
    }
    for row in 0..3 {
        for column in 0..4 {
            let texel = texels[row * 4 + column];
            assert_eq!(a.read::<u32>((row + 2) * 64 + (column + 5) * 4), texel);
            assert_eq!(b.read::<u32>(row * 40 + (column + 1) * 4), texel);
            assert_eq!(back[row * 5 + column], texel);
        }
    }
    assert_eq!(a.read::<u32>(2 * 64 + 4 * 4), 0xaaaa_aaaa);
    assert_eq!(b.read::<u32>(5 * 40 + 7 * 4), 0xbbbb_bbbb);
    for column in [8, 9] {
        assert_eq!(b.read::<u32>(5 * 40 + column * 4), 0x8000_00ff);
    }
    assert_eq!(hsa_ext_image_destroy(gpu, first), 0);
    assert_eq!(hsa_ext_image_destroy(gpu, first), 0x1001);
    assert_eq!(hsa_ext_image_destroy(gpu, second), 0);
    // SAFETY: the image is gone, which is found.
    let status = unsafe {
        hsa_ext_image_export(
            gpu,
            first,
            back.as_mut_ptr().cast(),
            0,
            0,
            &region(0, 0, 1, 1),
        )
    };
    assert_eq!(status, 0x1001);
}

#[test]
fn images_that_cannot_be_are_refused() {
    begin();
    let buffer = Buffer::new(4096);
    let good = image_2d(16, 16, FLOAT, R);
    let data = buffer.at.cast_const();
    assert_eq!(create(&good, null(), 0), Err(0x1001));
    assert_eq!(create(&good, data.wrapping_byte_add(16), 0), Err(0x1001));
    assert_eq!(
        create(&image_2d(1024, 1024, FLOAT, R), data, 0),
        Err(0x1001)
    );
    assert_eq!(create(&image_2d(16, 16, 77, R), data, 0), Err(0x3000));
    assert_eq!(create(&image_2d(0, 16, FLOAT, R), data, 0), Err(0x3001));
    assert_eq!(create(&good, data, 63), Err(0x3002));
}

#[test]
fn samplers_are_made_of_their_modes() {
    begin();
    let [_, gpu] = agents();
    let mut sampler = 0;
    let mode = SamplerMode {
        coordinates: 1,
        filter: 1,
        outside: 3,
    };
    let modes = SamplerModes {
        coordinates: 0,
        filter: 0,
        outside: [1, 2, 9],
    };
    // SAFETY: modes and result are ours; a handle is the address of 32 bytes.
    unsafe {
        assert_eq!(hsa_ext_sampler_create(gpu, &mode, &mut sampler), 0);
        let words: [u32; 4] =
            std::ptr::with_exposed_provenance::<[u32; 4]>(sampler as usize).read();
        assert_eq!(words, [0, 0xfff << 12, 1 << 20 | 1 << 22, 0]);
        assert_eq!(hsa_ext_sampler_create(gpu, null(), &mut sampler), 0x1001);
        assert_eq!(hsa_ext_sampler_create(gpu, &mode, null_mut()), 0x1001);
        assert_eq!(hsa_ext_sampler_create_v2(gpu, &modes, &mut sampler), 0x3003);
    }
    assert_eq!(hsa_ext_sampler_destroy(gpu, sampler), 0);
    assert_eq!(hsa_ext_sampler_destroy(gpu, sampler), 0x1001);
}
