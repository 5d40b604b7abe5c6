//! Samples and gathers, against a model of OpenCL's rules.

use harness::random::Random;
use wavelift::image::{
    AddressMode, Border, DataFormat, Filter, ImageDescriptor, NumberFormat, SamplerDescriptor,
    Shape,
};
use wavelift::{Buffer, Launch, Module};

use super::{Image, OBJECT, launch};
use crate::kernels::{Rig, TARGETS, THREADS, on_targets};

fn sampler(rig: &Rig, sampler: SamplerDescriptor) -> Buffer {
    rig.buffer(&sampler.words())
}

/// An image of float texels, as OpenCL sees it.
struct Model {
    descriptor: ImageDescriptor,
    texels: Vec<f32>,
}

impl Model {
    fn new(descriptor: ImageDescriptor, random: &mut Random) -> Model {
        let count = descriptor.bytes() / 4;
        let texels = (0..count).map(|_| random.below(256) as f32 / 4.0).collect();
        Model { descriptor, texels }
    }

    fn sizes(&self) -> Vec<u32> {
        let d = &self.descriptor;
        match d.shape {
            Shape::D1 | Shape::D1Array => vec![d.width],
            Shape::D2 | Shape::D2Array => vec![d.width, d.height],
            Shape::D3 => vec![d.width, d.height, d.depth],
        }
    }

    /// The component in the image's `channels`, by indexes that may be outside.
    fn texel(&self, at: &[i64], layer: i64, sampler: &SamplerDescriptor) -> [f32; 4] {
        let mut index = [0, 0, layer];
        for (i, (&at, size)) in at.iter().zip(self.sizes()).enumerate() {
            let n = i64::from(size);
            index[i] = match sampler.address_modes[i] {
                AddressMode::ClampToEdge => at.clamp(0, n - 1),
                AddressMode::Repeat => at.rem_euclid(n),
                AddressMode::MirroredRepeat => {
                    let at = at.rem_euclid(2 * n);
                    at.min(2 * n - 1 - at)
                }
                AddressMode::ClampToBorder if (0..n).contains(&at) => at,
                AddressMode::ClampToBorder => {
                    let x = f32::from(u8::from(sampler.border == Border::OpaqueWhite));
                    return [x, 0.0, 0.0, 1.0];
                }
            };
        }
        let [x, y, z] = index;
        let d = &self.descriptor;
        let row = z * i64::from(d.height) + y;
        let x = self.texels[(row * i64::from(d.pitch) + x) as usize];
        [x, 0.0, 0.0, 1.0]
    }

    /// A sample at coordinates, of which arrays have the layer last.
    fn sample(&self, sampler: &SamplerDescriptor, at: &[f32]) -> [f64; 4] {
        let sizes = self.sizes();
        let layer = match self.descriptor.shape {
            Shape::D1Array | Shape::D2Array => {
                let layer = at[sizes.len()].round_ties_even() as i64;
                layer.clamp(0, i64::from(self.descriptor.depth) - 1)
            }
            _ => 0,
        };
        let scaled: Vec<f64> = (at.iter().zip(&sizes))
            .map(|(&at, &size)| {
                let size = if sampler.unnormalized { 1 } else { size };
                f64::from(at) * f64::from(size)
            })
            .collect();
        if sampler.filter == Filter::Nearest {
            let at: Vec<i64> = scaled.iter().map(|u| u.floor() as i64).collect();
            return self.texel(&at, layer, sampler).map(f64::from);
        }
        let mut sum = [0.0; 4];
        for corner in 0..1 << sizes.len() {
            let mut weight = 1.0;
            let mut at = Vec::new();
            for (i, u) in scaled.iter().enumerate() {
                let (first, part) = ((u - 0.5).floor(), (u - 0.5) - (u - 0.5).floor());
                let far = corner >> i & 1;
                weight *= if far == 1 { part } else { 1.0 - part };
                at.push(first as i64 + far);
            }
            let texel = self.texel(&at, layer, sampler);
            for (sum, component) in sum.iter_mut().zip(texel) {
                *sum += weight * f64::from(component);
            }
        }
        sum
    }
}

/// Samples with a kernel and compares. Coordinates that weights of 1/256 hit must be exact, others be as near as
/// the weights allow.
fn check_samples<const N: usize>(
    rig: &Rig,
    module: &Module,
    (kernel, components): (&str, usize),
    model: &Model,
    sampler: &SamplerDescriptor,
    points: &[([f32; N], bool)],
) {
    let image = Image::new(rig, module, model.descriptor, &model.texels);
    let s = self::sampler(rig, *sampler);
    let coordinates: Vec<f32> = points.iter().flat_map(|(point, _)| *point).collect();
    let at = rig.buffer(&coordinates);
    let out = rig.buffer(&vec![0f32; 4 * points.len()]);
    let args = [(&image).into(), (&s).into(), (&at).into(), (&out).into()];
    let count = points.len() as u32;
    rig.launch(module, kernel, Launch::new(count, 64.min(count)), &args);
    let got: Vec<f32> = out.read().expect("the buffer is there");
    for ((point, exact), got) in points.iter().zip(got.chunks(4)) {
        let want = model.sample(sampler, &point[..components]);
        for (got, want) in got.iter().zip(want) {
            let near = if *exact { 0.0 } else { 64.0 * 3.0 / 512.0 };
            assert!(
                (f64::from(*got) - want).abs() <= near,
                "{}: {point:?} of {:?} by {sampler:?}: {got}, not {want}",
                rig.at(module, kernel),
                model.descriptor
            );
        }
    }
}

/// Points in and around an image: on a grid of 1/32 texel, and anywhere.
fn points<const N: usize>(
    random: &mut Random,
    sizes: &[u32],
    sampler: &SamplerDescriptor,
    layers: Option<u32>,
) -> Vec<([f32; N], bool)> {
    (0..128)
        .map(|i| {
            let exact = i % 2 == 0;
            let mut point = [0.0; N];
            for (value, &size) in point.iter_mut().zip(sizes) {
                // From one size before to one size behind.
                let steps = random.below(3 * 32 * size) as f32 - (32 * size) as f32;
                let within = if exact {
                    0.0
                } else {
                    random.below(1000) as f32 / 1000.0
                };
                let texels = (steps + within) / 32.0;
                let scale = if sampler.unnormalized {
                    1.0
                } else {
                    size as f32
                };
                *value = texels / scale;
            }
            if let Some(layers) = layers {
                point[sizes.len()] = random.below(4 * layers + 8) as f32 / 4.0 - 1.0;
            }
            (point, exact)
        })
        .collect()
}

/// All samplers of OpenCL.
fn samplers() -> Vec<SamplerDescriptor> {
    let mut all = Vec::new();
    for filter in [Filter::Nearest, Filter::Linear] {
        for mode in [
            AddressMode::Repeat,
            AddressMode::MirroredRepeat,
            AddressMode::ClampToEdge,
            AddressMode::ClampToBorder,
        ] {
            let sampler = SamplerDescriptor::new(filter, mode);
            all.push(sampler);
            // Repeating takes coordinates from 0 to 1.
            if matches!(mode, AddressMode::ClampToEdge | AddressMode::ClampToBorder) {
                all.push(sampler.unnormalized());
                all.push(sampler.with_border(Border::OpaqueWhite));
            }
        }
    }
    all
}

#[test]
fn samples_follow_opencl() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let mut random = Random::new(22);
        let (format, number) = (DataFormat::Bits32, NumberFormat::Float);
        // Sizes that are powers of two keep normalised coordinates exact.
        let line = Model::new(ImageDescriptor::d1(16, format, number), &mut random);
        let square = ImageDescriptor::d2(8, 4, format, number).with_pitch(11);
        let square = Model::new(square, &mut random);
        let volume = Model::new(ImageDescriptor::d3([4, 4, 2], format, number), &mut random);
        let layers = ImageDescriptor::d2_array([4, 4, 3], format, number);
        let layers = Model::new(layers, &mut random);
        let rows = Model::new(ImageDescriptor::d1_array(8, 3, format, number), &mut random);
        for sampler in samplers() {
            let s = &sampler;
            let p1 = points::<1>(&mut random, &[16], s, None);
            let p2 = points::<2>(&mut random, &[8, 4], s, None);
            let p3 = points::<4>(&mut random, &[4, 4, 2], s, None);
            let pl = points::<4>(&mut random, &[4, 4], s, Some(3));
            let pr = points::<2>(&mut random, &[8], s, Some(3));
            rig.each(&THREADS, |rig| {
                check_samples(rig, module, ("sample_1d", 1), &line, s, &p1);
                check_samples(rig, module, ("sample_2d", 2), &square, s, &p2);
                check_samples(rig, module, ("sample_3d", 3), &volume, s, &p3);
                check_samples(rig, module, ("sample_layers", 3), &layers, s, &pl);
                check_samples(rig, module, ("sample_rows", 2), &rows, s, &pr);
            });
        }
    });
}

#[test]
fn nearest_texels_of_odd_sizes() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let s = SamplerDescriptor::new(Filter::Nearest, AddressMode::Repeat);
        rig.each(&THREADS, |rig| {
            for width in [3, 49, 100, 1000] {
                let shape = ImageDescriptor::d1(width, DataFormat::Bits32, NumberFormat::Float);
                let texels: Vec<f32> = (0..width).map(|i| i as f32).collect();
                let image = Image::new(rig, module, shape, &texels);
                let s = sampler(rig, s);
                let part = |i: u32| (i as f32 + [0.02, 0.5, 0.98][i as usize % 3]) / width as f32;
                let at: Vec<f32> = (0..width).map(part).collect();
                let at = rig.buffer(&at);
                let out = rig.buffer(&vec![0f32; 4 * width as usize]);
                let args = [(&image).into(), (&s).into(), (&at).into(), (&out).into()];
                rig.launch(
                    module,
                    "sample_1d",
                    Launch::new(width, width.min(50)),
                    &args,
                );
                let want: Vec<f32> = texels.iter().flat_map(|&x| [x, 0.0, 0.0, 1.0]).collect();
                rig.expect(module, "sample_1d", &out, &want);
            }
        });
    });
}

#[test]
fn integer_coordinates_and_samplers_of_the_program() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let texels: Vec<u8> = (0..4 * 6 * 5).map(|i| (i * 5 + 3) as u8).collect();
        let shape = ImageDescriptor::d2(6, 5, DataFormat::Bits8x4, NumberFormat::Uint);
        let at: Vec<i32> = (0..2 * 128).map(|i| i * 37 % 13 - 3).collect();
        let inside = |x: i32, y: i32| (0..6).contains(&x) && (0..5).contains(&y);
        let fetch = |x: i32, y: i32, c: usize| texels[(y * 6 + x) as usize * 4 + c];
        rig.each(&THREADS, |rig| {
            let image = Image::new(rig, module, shape, &texels);
            for mode in [AddressMode::ClampToEdge, AddressMode::ClampToBorder] {
                let want = at.chunks(2).flat_map(|at| {
                    let (x, y) = (at[0], at[1]);
                    [0, 1, 2, 3].map(|c| match mode {
                        AddressMode::ClampToEdge => fetch(x.clamp(0, 5), y.clamp(0, 4), c).into(),
                        _ if inside(x, y) => fetch(x, y, c).into(),
                        _ => 0u32,
                    })
                });
                let want: Vec<u32> = want.collect();
                let nearest = SamplerDescriptor::new(Filter::Nearest, mode).unnormalized();
                let s = sampler(rig, nearest);
                let points = rig.buffer(&at);
                let out = rig.buffer(&vec![0u32; want.len()]);
                let args = [
                    (&image).into(),
                    (&s).into(),
                    (&points).into(),
                    (&out).into(),
                ];
                rig.launch(module, "pick_2d", Launch::new(128, 64), &args);
                rig.expect(module, "pick_2d", &out, &want);
            }
            // A sampler that is a constant of the program.
            let shape = ImageDescriptor::d2(6, 5, DataFormat::Bits32x4, NumberFormat::Float);
            let floats: Vec<f32> = texels.iter().map(|&b| f32::from(b)).collect();
            let from = Image::new(rig, module, shape, &floats);
            let to = Image::new(rig, module, shape, &vec![0f32; floats.len()]);
            let args = [(&from).into(), (&to).into()];
            rig.launch(module, "box_blur", launch([6, 5, 1], [6, 5, 1]), &args);
            let blurred = |i: usize| {
                let (x, y, c) = ((i / 4 % 6) as i32, (i / 24) as i32, i % 4);
                let around = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (x + dx, y + dy)));
                let sum: u32 = around
                    .map(|(x, y)| u32::from(fetch(x.clamp(0, 5), y.clamp(0, 4), c)))
                    .sum();
                sum as f32 / 8.0
            };
            let want: Vec<f32> = (0..floats.len()).map(blurred).collect();
            rig.expect(module, "box_blur", &to.texels, &want);
        });
    });
}

#[test]
fn gathers_of_four_texels() {
    on_targets(OBJECT, &TARGETS, |rig, module| {
        let texels: Vec<f32> = (0..2 * 8 * 4).map(|i| i as f32 * 0.5).collect();
        let shape = ImageDescriptor::d2(8, 4, DataFormat::Bits32x2, NumberFormat::Float);
        let centres: Vec<f32> = (0..64)
            .flat_map(|i| [(i % 8) as f32 / 8.0, (i / 8) as f32 / 8.0])
            .collect();
        let green = |x: i32, y: i32| {
            let (x, y) = (x.rem_euclid(8), y.rem_euclid(4));
            texels[2 * (y * 8 + x) as usize + 1]
        };
        let want: Vec<f32> = centres
            .chunks(2)
            .flat_map(|at| {
                let [x, y] = [at[0] * 8.0 - 0.5, at[1] * 4.0 - 0.5].map(|u| u.floor() as i32);
                [(0, 1), (1, 1), (1, 0), (0, 0)].map(|(i, j)| green(x + i, y + j))
            })
            .collect();
        rig.each(&THREADS, |rig| {
            let image = Image::new(rig, module, shape, &texels);
            let linear = SamplerDescriptor::new(Filter::Linear, AddressMode::Repeat);
            let s = sampler(rig, linear);
            let at = rig.buffer(&centres);
            let out = rig.buffer(&[0f32; 256]);
            let args = [(&image).into(), (&s).into(), (&at).into(), (&out).into()];
            rig.launch(module, "gather", Launch::new(64, 64), &args);
            rig.expect(module, "gather", &out, &want);
        });
    });
}
