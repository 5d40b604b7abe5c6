//! OpenCL kernels on images: descriptors from `wavelift::image`, compiled code of each target, and what
//! OpenCL's rules say, computed here.

use harness::random::Random;
use wavelift::image::{Channel, DataFormat, ImageDescriptor, NumberFormat};
use wavelift::{Arg, Buffer, Element, Launch, Module, Size};

use super::{Rig, TARGETS, THREADS, on_targets};

mod atomics;
mod samplers;

/// Code object of the kernels here.
const OBJECT: &str = "../images/images";

/// Texels and the T# of an image in guest memory.
struct Image {
    texels: Buffer,
    descriptor: Buffer,
}

impl Image {
    fn new<T: Element>(rig: &Rig, module: &Module, image: ImageDescriptor, texels: &[T]) -> Image {
        assert_eq!(size_of_val(texels) as u64, image.bytes());
        let texels = rig.buffer(texels);
        let words = image.at(texels.address()).opencl_words(module.gfx());
        let words = words.expect("a good descriptor");
        Image {
            texels,
            descriptor: rig.buffer(&words),
        }
    }
}

impl From<&Image> for Arg {
    fn from(image: &Image) -> Arg {
        Arg::Pointer(image.descriptor.address())
    }
}

fn launch(size: [u32; 3], group: [u32; 3]) -> Launch {
    Launch::new(Size::from(size), Size::from(group))
}

#[test]
fn copies_keep_texels() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let mut random = Random::new(21);
        let (width, height) = (37, 11);
        for (format, number) in [
            (DataFormat::Bits8x4, NumberFormat::Unorm),
            (DataFormat::Bits16x4, NumberFormat::Snorm),
            (DataFormat::Bits32x4, NumberFormat::Float),
            (DataFormat::Bits8, NumberFormat::Unorm),
            (DataFormat::Bits16x2, NumberFormat::Unorm),
            (DataFormat::Bits10x3And2, NumberFormat::Unorm),
            (DataFormat::Bits5And6And5, NumberFormat::Unorm),
        ] {
            let from = ImageDescriptor::d2(width, height, format, number).with_pitch(64);
            let to = ImageDescriptor::d2(width, height, format, number);
            let size = format.bytes() as usize;
            // Floats that are numbers; -128 and -127 are the same SNORM.
            let byte = |i: usize, random: &mut Random| match number {
                NumberFormat::Float => [0x12, 0x34, 0xb5, 0x41][i % 4],
                NumberFormat::Snorm => random.below(128) as u8,
                _ => random.below(256) as u8,
            };
            let texels: Vec<u8> = (0..from.bytes() as usize)
                .map(|i| byte(i, &mut random))
                .collect();
            let row = |y: usize| &texels[y * 64 * size..][..width as usize * size];
            let want: Vec<u8> = (0..height as usize).flat_map(row).copied().collect();
            rig.each(&THREADS, |rig| {
                let from = Image::new(rig, module, from, &texels);
                let to = Image::new(rig, module, to, &vec![0u8; want.len()]);
                let args = [(&from).into(), (&to).into()];
                rig.launch(module, "copy_2d", launch([40, 12, 1], [8, 4, 1]), &args);
                rig.expect(module, "copy_2d", &to.texels, &want);
            });
        }
    });
}

#[test]
fn channels_are_selected_both_ways() {
    use Channel::{W, X, Y, Z};
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let rgba = ImageDescriptor::d2(16, 4, DataFormat::Bits8x4, NumberFormat::Unorm);
        let bgra = rgba.with_channels([Z, Y, X, W]);
        let texels: Vec<u8> = (0..=255).collect();
        let want: Vec<u8> = texels
            .chunks(4)
            .flat_map(|t| [t[2], t[1], t[0], t[3]])
            .collect();
        rig.each(&THREADS, |rig| {
            for (from, to) in [(rgba, bgra), (bgra, rgba)] {
                let from = Image::new(rig, module, from, &texels);
                let to = Image::new(rig, module, to, &[0u8; 256]);
                let args = [(&from).into(), (&to).into()];
                rig.launch(module, "copy_2d", launch([16, 4, 1], [16, 4, 1]), &args);
                rig.expect(module, "copy_2d", &to.texels, &want);
            }
        });
    });
}

#[test]
fn integers_in_every_shape() {
    use DataFormat::{Bits8x4, Bits16x4, Bits32, Bits32x4};
    use NumberFormat::{Float, Sint, Uint};
    on_targets(OBJECT, &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            // In place.
            let bytes: Vec<u8> = (0..64 * 5).map(|i| (i * 7) as u8).collect();
            let image = ImageDescriptor::d2(16, 5, Bits8x4, Uint);
            let image = Image::new(rig, module, image, &bytes);
            let args = [(&image).into()];
            rig.launch(module, "invert_2d", launch([16, 8, 1], [16, 4, 1]), &args);
            let want: Vec<u8> = bytes.iter().map(|b| 255 - b).collect();
            rig.expect(module, "invert_2d", &image.texels, &want);
            // Signed sums that saturate at the format.
            let a: Vec<i16> = (0..4 * 64).map(|i| (i * 300) as i16).collect();
            let b: Vec<i16> = (0..4 * 64).map(|i| 20000 - (i * 17) as i16).collect();
            let shape = ImageDescriptor::d2(8, 8, Bits16x4, Sint);
            let [a_image, b_image, to] =
                [&a, &b, &vec![0i16; 256]].map(|texels| Image::new(rig, module, shape, texels));
            let args = [(&a_image).into(), (&b_image).into(), (&to).into()];
            rig.launch(module, "add_2d", launch([8, 8, 1], [8, 8, 1]), &args);
            let sum = |(&a, &b): (&i16, &i16)| a.saturating_add(b);
            let want: Vec<i16> = a.iter().zip(&b).map(sum).collect();
            rig.expect(module, "add_2d", &to.texels, &want);
            // A row backwards.
            let row: Vec<f32> = (0..100).map(|i| i as f32 * 0.25).collect();
            let shape = ImageDescriptor::d1(100, Bits32, Float);
            let from = Image::new(rig, module, shape, &row);
            let to = Image::new(rig, module, shape, &[0f32; 100]);
            let args = [(&from).into(), (&to).into()];
            rig.launch(module, "copy_1d", launch([100, 1, 1], [50, 1, 1]), &args);
            let want: Vec<f32> = row.iter().rev().copied().collect();
            rig.expect(module, "copy_1d", &to.texels, &want);
            // A volume with components the other way round.
            let texels: Vec<u32> = (0..4 * 6 * 5 * 3).map(|i| i * 1000).collect();
            let shape = ImageDescriptor::d3([6, 5, 3], Bits32x4, Uint);
            let from = Image::new(rig, module, shape, &texels);
            let to = Image::new(rig, module, shape, &vec![0u32; texels.len()]);
            let args = [(&from).into(), (&to).into()];
            rig.launch(module, "copy_3d", launch([6, 5, 3], [6, 5, 3]), &args);
            let want: Vec<u32> = texels
                .chunks(4)
                .flat_map(|t| [t[3], t[2], t[1], t[0]])
                .collect();
            rig.expect(module, "copy_3d", &to.texels, &want);
            // Layers and rows.
            let layers: Vec<f32> = (0..6 * 5 * 3).map(|i| i as f32).collect();
            let shape = ImageDescriptor::d2_array([6, 5, 3], Bits32, Float);
            let from = Image::new(rig, module, shape, &layers);
            let to = Image::new(rig, module, shape, &[0f32; 90]);
            let args = [(&from).into(), (&to).into()];
            rig.launch(module, "copy_layers", launch([6, 5, 3], [6, 5, 1]), &args);
            let want: Vec<f32> = layers.chunks(30).rev().flatten().copied().collect();
            rig.expect(module, "copy_layers", &to.texels, &want);
            let rows: Vec<i32> = (0..64 * 4).map(|i| i - 77).collect();
            let shape = ImageDescriptor::d1_array(64, 4, Bits32, Sint);
            let from = Image::new(rig, module, shape, &rows);
            let to = Image::new(rig, module, shape, &[0i32; 256]);
            let args = [(&from).into(), (&to).into()];
            rig.launch(module, "copy_rows", launch([64, 4, 1], [64, 1, 1]), &args);
            let want: Vec<i32> = rows.iter().map(|x| x * 2).collect();
            rig.expect(module, "copy_rows", &to.texels, &want);
        });
    });
}

#[test]
fn sizes_are_told() {
    use DataFormat::Bits8;
    use NumberFormat::Unorm;
    on_targets(OBJECT, &TARGETS, |rig, module| {
        rig.each(&THREADS, |rig| {
            let image = |image: ImageDescriptor| {
                Image::new(rig, module, image, &vec![0u8; image.bytes() as usize])
            };
            let images = [
                image(ImageDescriptor::d1(7, Bits8, Unorm)),
                image(ImageDescriptor::d2(20, 9, Bits8, Unorm).with_pitch(32)),
                image(ImageDescriptor::d3([3, 4, 5], Bits8, Unorm)),
                image(ImageDescriptor::d1_array(8, 6, Bits8, Unorm)),
                image(ImageDescriptor::d2_array([9, 10, 11], Bits8, Unorm)),
            ];
            let out = rig.buffer(&[0i32; 11]);
            let mut args: Vec<Arg> = images.iter().map(Arg::from).collect();
            args.push((&out).into());
            rig.launch(module, "sizes", Launch::new(1, 1), &args);
            let want = [7, 20, 9, 3, 4, 5, 8, 6, 9, 10, 11];
            rig.expect(module, "sizes", &out, &want);
            // The instruction tells the same, and nothing of levels that are not there.
            let out = rig.buffer(&[0i32; 8]);
            let args = [(&images[1]).into(), (&out).into()];
            rig.launch(module, "query", Launch::new(2, 2), &args);
            rig.expect(module, "query", &out, &[20, 9, 1, 1, 0, 0, 0, 1]);
        });
    });
}

#[test]
fn channels_are_told() {
    use Channel::{One, W, X, Y, Z, Zero};
    use DataFormat::{Bits5And6And5, Bits8, Bits8x4, Bits10x3And2, Bits16x2, Bits32, Bits32x4};
    use NumberFormat::{Float, Sint, Uint, Unorm};
    on_targets(OBJECT, &TARGETS, |rig, module| {
        for (format, number, channels, data_type, order) in [
            (Bits8x4, Unorm, [X, Y, Z, W], 0x10d2, 0x10b5),
            (Bits8x4, Unorm, [Z, Y, X, W], 0x10d2, 0x10b6),
            (Bits8x4, Uint, [Y, Z, W, X], 0x10da, 0x10b7),
            (Bits32, Float, [X, Zero, Zero, One], 0x10de, 0x10b0),
            (Bits16x2, Float, [X, Y, Zero, One], 0x10dd, 0x10b2),
            (Bits8, Unorm, [Zero, Zero, Zero, X], 0x10d2, 0x10b1),
            (Bits8, Unorm, [X, X, X, One], 0x10d2, 0x10b9),
            (Bits32x4, Sint, [X, Y, Z, W], 0x10d9, 0x10b5),
            (Bits5And6And5, Unorm, [X, Y, Z, One], 0x10d4, 0x10b4),
            (Bits10x3And2, Unorm, [X, Y, Z, W], 0x10d6, 0x10b5),
        ] {
            rig.each(&THREADS, |rig| {
                let image = ImageDescriptor::d2(4, 4, format, number).with_channels(channels);
                let image = Image::new(rig, module, image, &vec![0u8; image.bytes() as usize]);
                let out = rig.buffer(&[0i32; 2]);
                let args = [(&image).into(), (&out).into()];
                rig.launch(module, "channels", Launch::new(1, 1), &args);
                rig.expect(module, "channels", &out, &[data_type, order]);
            });
        }
    });
}

#[test]
fn what_is_not_run_is_said() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let shape = ImageDescriptor::d2(4, 4, DataFormat::Bits32, NumberFormat::Float);
        rig.each(&THREADS, |rig| {
            let from = Image::new(rig, module, shape, &[0f32; 16]);
            let to = Image::new(rig, module, shape, &[0f32; 16]);
            let mut words: Vec<u32> = from.descriptor.read().expect("the buffer is there");
            words[3] |= 13 << 20;
            from.descriptor.write(&words).expect("the buffer is there");
            let args = [(&from).into(), (&to).into()];
            let error = rig
                .try_launch(module, "copy_2d", launch([4, 4, 1], [4, 4, 1]), &args)
                .expect_err("tiled");
            let fault = error.fault().expect("the guest did it");
            assert_eq!(fault.kind.name(), "unsupported");
            let text = fault.kind.to_string();
            let gfx = module.gfx();
            assert_eq!(
                text,
                format!(
                    "executed something unsupported: a tiled image (mode 13) in image_load on {gfx}"
                )
            );
            // Texels that are not in memory.
            let words = shape.at(1 << 40).opencl_words(gfx);
            let words = words.expect("a good descriptor");
            from.descriptor.write(&words).expect("the buffer is there");
            let error = rig
                .try_launch(module, "copy_2d", launch([4, 4, 1], [4, 4, 1]), &args)
                .expect_err("nothing there");
            let fault = error.fault().expect("the guest did it");
            assert_eq!((fault.kind.name(), fault.lane), ("memory", Some(0)));
        });
    });
}
