//! Descriptors bit by bit.

use super::*;

#[test]
fn image_words() {
    let image = ImageDescriptor::d2(5, 3, DataFormat::Bits8x4, NumberFormat::Uint)
        .at(0x12_3456_7800)
        .with_pitch(64);
    let both = [0x1234_5678, 10 << 20 | 4 << 26, 4 | 2 << 14];
    let gfx8 = image.words(Gfx::Gfx803).expect("it is well");
    assert_eq!(gfx8[..3], both);
    assert_eq!(gfx8[3..], [0xfac | 8 << 20 | 9 << 28, 63 << 13, 0, 0, 0]);
    let gfx9 = image.words(Gfx::Gfx900).expect("it is well");
    assert_eq!(gfx9[..3], both);
    assert_eq!(gfx9[3..], [0xfac | 9 << 28, 63 << 13, 0, 0, 0]);
    assert_eq!(image.bytes(), 64 * 3 * 4);
    let high = image.at(0xab12_3456_7800).words(Gfx::Gfx600);
    assert_eq!(high.expect("it is well")[1] & 0xff, 0xab);
}

#[test]
fn layers_and_slices() {
    let array = ImageDescriptor::d2_array([8, 4, 6], DataFormat::Bits32, NumberFormat::Float);
    let words = array.words(Gfx::Gfx700).expect("it is well");
    assert_eq!(words[4..6], [5 | 7 << 13, 5 << 13]);
    // x, 0, 0, 1.
    assert_eq!(words[3] & 0xfff, 4 | 1 << 9);
    let words = array.words(Gfx::Gfx906).expect("it is well");
    assert_eq!(words[4..6], [5 | 7 << 13, 0]);
    let volume = ImageDescriptor::d3([8, 4, 6], DataFormat::Bits16x2, NumberFormat::Snorm);
    let words = volume.words(Gfx::Gfx803).expect("it is well");
    assert_eq!((words[3] >> 28, words[4] & 0x1fff, words[5]), (10, 5, 0));
}

#[test]
fn bgra_borders() {
    use Channel::*;
    let image = ImageDescriptor::d2(8, 8, DataFormat::Bits8x4, NumberFormat::Unorm);
    let order = |channels| {
        let words = image.with_channels(channels).words(Gfx::Gfx900);
        words.expect("it is well")[4] >> 29
    };
    assert_eq!(order([X, Y, Z, W]), 0);
    assert_eq!(order([Z, Y, X, W]), 4);
    assert_eq!(order([Y, Z, W, X]), 3);
    assert_eq!(order([W, Z, Y, X]), 2);
    assert_eq!(order([Zero, Zero, Zero, X]), 3);
    assert_eq!(order([X, X, X, Y]), 1);
}

#[test]
fn what_cannot_be() {
    let image = ImageDescriptor::d2(5, 3, DataFormat::Bits8x4, NumberFormat::Uint);
    let message = |image: ImageDescriptor| {
        let error = image.words(Gfx::Gfx803).expect_err("it is wrong");
        error.to_string()
    };
    assert_eq!(
        message(image.at(0x1080)),
        "an image at 0x1080: the address must be a multiple of 256 below 2^48; allocate with that alignment"
    );
    assert_eq!(
        message(image.with_pitch(4)),
        "the pitch 4 of an image: must be 5 to 16384"
    );
    assert_eq!(
        message(ImageDescriptor { depth: 2, ..image }),
        "the depth 2 of an image: must be 1 to 1"
    );
    assert_eq!(
        message(ImageDescriptor { width: 0, ..image }),
        "the width 0 of an image: must be 1 to 16384"
    );
    let number = NumberFormat::Float;
    assert_eq!(
        message(ImageDescriptor { number, ..image }),
        "an image of format Bits8x4 has no Float components"
    );
    assert!(image.with_pitch(20000).words(Gfx::Gfx900).is_ok());
}

#[test]
fn sampler_words() {
    let sampler = SamplerDescriptor::new(Filter::Linear, AddressMode::ClampToBorder)
        .unnormalized()
        .with_border(Border::OpaqueWhite);
    assert_eq!(
        sampler.words(),
        [0o666 | 1 << 15, 0xfff << 12, 1 << 20 | 1 << 22, 2 << 30]
    );
    let nearest = SamplerDescriptor::new(Filter::Nearest, AddressMode::MirroredRepeat);
    assert_eq!(nearest.words(), [0o111, 0xfff << 12, 0, 0]);
}
