use super::super::{Denorm, Round};
use super::*;

const KEEP: Env = Env {
    round: Round::NearestEven,
    denorm: Denorm::KEEP,
};

#[test]
fn frexp_takes_every_half_apart() {
    for x in 0..=u16::MAX {
        let (mant, exp) = (frexp_mant_f16(x), frexp_exp_f16(x));
        match x & 0x7fff {
            0 => assert_eq!((mant, exp), (x, 0)),
            0x7c00 => assert_eq!((mant, exp), (x, 0)),
            0x7c01.. => assert_eq!((mant, exp), (x | 0x0200, 0)),
            _ => {
                assert!((0x3800..0x3c00).contains(&(mant & 0x7fff)), "{x:#x}");
                assert_eq!(ldexp_f16(mant, exp, KEEP), x);
            }
        }
    }
}

#[test]
fn frexp_vectors() {
    // value, mantissa, exponent
    for (x, mant, exp) in [
        (0x3f80_0000, 0x3f00_0000, 1),
        (0xc049_0fdb, 0xbf49_0fdb, 2),
        (0x0000_0001, 0x3f00_0000, -148),
        (0x807f_ffff, 0xbf7f_fffe, -126),
        (0x0080_0000, 0x3f00_0000, -125),
        (0x7f7f_ffff, 0x3f7f_ffff, 128),
        (0x8000_0000, 0x8000_0000, 0),
        (0x7f80_0000, 0x7f80_0000, 0),
        (0xff80_0001, 0xffc0_0001, 0),
    ] {
        assert_eq!((frexp_mant_f32(x), frexp_exp_f32(x)), (mant, exp), "{x:#x}");
    }
    for (x, mant, exp) in [
        (0x3ff8_0000_0000_0000, 0x3fe8_0000_0000_0000, 1),
        (0x0000_0000_0000_0001, 0x3fe0_0000_0000_0000, -1073),
        (0x800f_ffff_ffff_ffff, 0xbfef_ffff_ffff_fffe, -1022),
        (0x7fef_ffff_ffff_ffff, 0x3fef_ffff_ffff_ffff, 1024),
        (0xfff0_0000_0000_0000, 0xfff0_0000_0000_0000, 0),
        (0x7ff0_0000_0000_0001, 0x7ff8_0000_0000_0001, 0),
    ] {
        assert_eq!((frexp_mant_f64(x), frexp_exp_f64(x)), (mant, exp), "{x:#x}");
    }
}

#[test]
fn ldexp_vectors() {
    let one = 0x3f80_0000;
    for (x, by, result) in [
        (one, 127, 0x7f00_0000),
        (one, 128, 0x7f80_0000),
        (one, i32::MAX, 0x7f80_0000),
        (one, -149, 1),
        (one, -150, 0),
        (one + 1, -150, 1),
        (0xbf80_0000, i32::MIN, 0x8000_0000),
        (1, 276, 0x7f00_0000),
        (1, 277, 0x7f80_0000),
        (0x8000_0000, 1000, 0x8000_0000),
        (0xff80_0000, -1000, 0xff80_0000),
        (0x7f80_0001, 3, 0x7fc0_0001),
        // 1.5 * 2^-149 to even.
        (0x3fc0_0000, -149, 2),
        // 2^-126 (1 - 2^-24), which full precision keeps.
        (0x3fff_ffff, -127, 0x0080_0000),
    ] {
        assert_eq!(ldexp_f32(x, by, KEEP), result, "{x:#x} {by}");
    }
    let flush = Env {
        denorm: Denorm::FLUSH,
        ..KEEP
    };
    assert_eq!(ldexp_f32(0x3fff_ffff, -127, flush), 0);
    assert_eq!(ldexp_f32(0x8000_0001, 100, flush), 0x8000_0000);
    assert_eq!(
        ldexp_f32(
            one,
            -149,
            Env {
                round: Round::Up,
                ..KEEP
            }
        ),
        1
    );
    assert_eq!(
        ldexp_f32(
            one,
            i32::MIN,
            Env {
                round: Round::Up,
                ..KEEP
            }
        ),
        1
    );
    assert_eq!(
        ldexp_f32(
            one,
            i32::MAX,
            Env {
                round: Round::Zero,
                ..KEEP
            }
        ),
        0x7f7f_ffff
    );
    assert_eq!(ldexp_f16(0x3c00, i16::MAX, KEEP), 0x7c00);
    assert_eq!(ldexp_f16(0x3c00, -24, KEEP), 1);
    assert_eq!(ldexp_f16(0x0001, 39, KEEP), 0x7800);
    assert_eq!(ldexp_f64(1, 1074 + 1023, KEEP), 0x7fe0_0000_0000_0000);
    assert_eq!(ldexp_f64(0x3ff8_0000_0000_0000, -1074, KEEP), 2);
}
