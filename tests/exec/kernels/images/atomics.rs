//! Atomics on texels.

use harness::random::Random;
use wavelift::Launch;
use wavelift::image::{DataFormat, ImageDescriptor, NumberFormat};

use super::{Image, OBJECT};
use crate::kernels::{TARGETS, THREADS, on_targets};

#[test]
fn atomics_count() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let mut random = Random::new(23);
        let data: Vec<u8> = (0..5000).map(|_| random.below(256) as u8).collect();
        let mut want = vec![0u32; 256];
        data.iter().for_each(|&byte| want[usize::from(byte)] += 1);
        let bins = ImageDescriptor::d2(16, 16, DataFormat::Bits32, NumberFormat::Uint);
        rig.each(&THREADS, |rig| {
            let image = Image::new(rig, module, bins, &[0u32; 256]);
            let bytes = rig.buffer(&data);
            let args = [(&image).into(), (&bytes).into(), 5000u32.into()];
            rig.launch(module, "histogram", Launch::new(1024, 128), &args);
            rig.expect(module, "histogram", &image.texels, &want);
        });
    });
}

#[test]
fn atomics_return_what_was_there() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let square = ImageDescriptor::d2(5, 4, DataFormat::Bits32, NumberFormat::Uint);
        let row = ImageDescriptor::d1(22, DataFormat::Bits32, NumberFormat::Uint);
        rig.each(&THREADS, |rig| {
            let image = Image::new(rig, module, square, &[7u32; 20]);
            let old = rig.buffer(&[0u32; 64]);
            let args = [(&image).into(), (&old).into()];
            rig.launch(module, "returning", Launch::new(64, 64), &args);
            let mut texels = [7u32; 20];
            let mut olds = Vec::new();
            // Lanes act in ascending order.
            for i in 0..64u32 {
                let at = ((i >> 2 & 3) * 5 + (i & 3)) as usize;
                olds.push(texels[at]);
                texels[at] += i;
            }
            texels[4] = 1063;
            rig.expect(module, "returning", &old, &olds);
            rig.expect(module, "returning", &image.texels, &texels);
            let image = Image::new(rig, module, row, &[0u32; 22]);
            let args = [(&image).into(), (&old).into()];
            rig.launch(module, "claim", Launch::new(64, 64), &args);
            let first: Vec<u32> = (0..22).map(|i| 3 * i + 1).collect();
            let olds: Vec<u32> = (0..64)
                .map(|i| if i % 3 == 0 { 0 } else { i / 3 * 3 + 1 })
                .collect();
            rig.expect(module, "claim", &image.texels, &first);
            rig.expect(module, "claim", &old, &olds);
        });
    });
}
