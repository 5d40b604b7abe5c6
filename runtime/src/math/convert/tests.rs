use super::super::testing::{Big, Random, rounded};
use super::super::{Env, ldexp_f16, ldexp_f32, ldexp_f64};
use super::*;

fn how(round: Round, flush_dst: bool) -> ToHalf {
    ToHalf {
        round,
        flush_dst,
        ..ToHalf::default()
    }
}

#[test]
fn every_half_survives_single() {
    for x in 0..=u16::MAX {
        let wide = f16_to_f32(x, false);
        if x & 0x7fff > 0x7c00 {
            assert_eq!(f32_to_f16(wide, ToHalf::default()), x | 0x0200);
            assert_eq!(
                wide,
                u32::from(x & 0x8000) << 16 | 0x7fc0_0000 | u32::from(x & 0x3ff) << 13
            );
            continue;
        }
        for round in Round::ALL {
            assert_eq!(f32_to_f16(wide, how(round, false)), x);
            assert_eq!(f64_to_f16(f32_to_f64(wide, false), how(round, false)), x);
        }
        let flushed = f16_to_f32(x, true);
        let denormal = x & 0x7c00 == 0;
        assert_eq!(
            flushed,
            if denormal {
                u32::from(x & 0x8000) << 16
            } else {
                wide
            }
        );
    }
}

#[test]
fn narrowing_is_rounded_once() {
    let mut random = Random::new(11);
    for i in 0..60_000 {
        let round = Round::ALL[i % 4];
        let x = random.finite::<F32>();
        let mut y = random.finite::<F64>();
        if i % 3 == 0 {
            // Close to the middle between two f32, or at an f32.
            let z = f32_to_f64(random.finite::<F32>() as u32, false);
            y = z
                .wrapping_add(0x1000_0000 * random.below(3))
                .wrapping_add(random.below(3))
                .wrapping_sub(1);
            if y & F64::MAGNITUDE >= F64::INFINITY {
                continue;
            }
        }
        for flush in [false, true] {
            let mut exact = Big::zero();
            exact.add_float::<F32>(x, 0);
            let half = rounded::<F16>(&exact, x & F32::SIGN != 0, round, flush) as u16;
            assert_eq!(
                f32_to_f16(x as u32, how(round, flush)),
                half,
                "{x:#x} {round:?} {flush}"
            );
            let mut exact = Big::zero();
            exact.add_float::<F64>(y, 0);
            let single = rounded::<F32>(&exact, y & F64::SIGN != 0, round, flush) as u32;
            let denorm = Denorm {
                flush_src: false,
                flush_dst: flush,
            };
            assert_eq!(
                f64_to_f32(y, round, denorm),
                single,
                "{y:#x} {round:?} {flush}"
            );
            let half = rounded::<F16>(&exact, y & F64::SIGN != 0, round, flush) as u16;
            assert_eq!(
                f64_to_f16(y, how(round, flush)),
                half,
                "{y:#x} {round:?} {flush}"
            );
        }
    }
}

#[test]
fn conversion_of_special_values() {
    let nearest = ToHalf::default();
    let clamped = ToHalf {
        clamp_overflow: true,
        ..nearest
    };
    // 65519.996 is the last value below the middle between 65504 and 65536.
    assert_eq!(f32_to_f16(0x477f_efff, nearest), 0x7bff);
    assert_eq!(f32_to_f16(0x477f_f000, nearest), 0x7c00);
    assert_eq!(f32_to_f16(0xc77f_f000, clamped), 0xfbff);
    assert_eq!(f32_to_f16(0x7f80_0000, clamped), 0x7c00);
    assert_eq!(f32_to_f16(0xff80_0000, clamped), 0xfc00);
    assert_eq!(f64_to_f16(0x7fe0_0000_0000_0000, clamped), 0x7bff);
    assert_eq!(f64_to_f16(0x7ff0_0000_0000_0000, clamped), 0x7c00);
    assert_eq!(f32_to_f16(0x7f80_0001, nearest), 0x7e00);
    assert_eq!(f32_to_f16(0xffc0_2000, clamped), 0xfe01);
    // Halves of the smallest denormal number: 2^-25 ties to zero.
    assert_eq!(f32_to_f16(0x3300_0000, nearest), 0);
    assert_eq!(f32_to_f16(0x3300_0001, nearest), 1);
    assert_eq!(
        f32_to_f16(
            0x3300_0000,
            ToHalf {
                round: Round::Up,
                ..nearest
            }
        ),
        1
    );
    assert_eq!(
        f32_to_f16(
            0x0000_0001,
            ToHalf {
                round: Round::Up,
                ..nearest
            }
        ),
        1
    );
    let flush_src = ToHalf {
        round: Round::Up,
        flush_src: true,
        ..nearest
    };
    assert_eq!(f32_to_f16(0x0000_0001, flush_src), 0);
    assert_eq!(
        f32_to_f16(
            0x387f_e000,
            ToHalf {
                flush_dst: true,
                ..nearest
            }
        ),
        0x0400 - 0x0400
    );
    assert_eq!(f32_to_f16(0xb87f_c000, nearest), 0x83ff);
    assert_eq!(
        f32_to_f16(
            0xb87f_c000,
            ToHalf {
                flush_dst: true,
                ..nearest
            }
        ),
        0x8000
    );

    assert_eq!(
        pkrtz_f16_f32(0x477f_ff00, 0xff80_0000, Denorm::KEEP),
        0xfc00_7bff
    );
    assert_eq!(
        pkrtz_f16_f32(0x7f7f_ffff, 0x33ff_ffff, Denorm::KEEP),
        0x0001_7bff
    );
    assert_eq!(
        pkrtz_f16_f32(0x3f80_1fff, 0x8000_0001, Denorm::KEEP),
        0x8000_3c00
    );
    assert_eq!(
        pkrtz_f16_f32(0xb840_0000, 0x7fa0_0000, Denorm::FLUSH),
        0x7f00_8000
    );

    assert_eq!(
        f64_to_f32(0x7ff0_0000_0000_0001, Round::NearestEven, Denorm::KEEP),
        0x7fc0_0000
    );
    assert_eq!(
        f64_to_f32(0xfff8_0000_2000_0000, Round::Up, Denorm::KEEP),
        0xffc0_0001
    );
    assert_eq!(
        f64_to_f32(0x7fe0_0000_0000_0000, Round::Zero, Denorm::KEEP),
        0x7f7f_ffff
    );
    assert_eq!(f64_to_f32(1, Round::Up, Denorm::KEEP), 1);
    assert_eq!(
        f64_to_f32(
            1,
            Round::Up,
            Denorm {
                flush_src: true,
                flush_dst: false
            }
        ),
        0
    );
    assert_eq!(
        f64_to_f32(0x380f_ffff_ffff_ffff, Round::NearestEven, Denorm::FLUSH),
        0x0080_0000
    );
    assert_eq!(
        f64_to_f32(0x380f_ffff_0000_0000, Round::NearestEven, Denorm::FLUSH),
        0
    );
    assert_eq!(f32_to_f64(0x0000_0001, false), 0x36a0_0000_0000_0000);
    assert_eq!(f32_to_f64(0x8000_0001, true), 0x8000_0000_0000_0000);
    assert_eq!(f32_to_f64(0xff80_0001, false), 0xfff8_0000_2000_0000);
    assert_eq!(f32_to_f64(0xff80_0000, true), 0xfff0_0000_0000_0000);
    assert_eq!(clamp_vectors(), [0x7bff, 0xfbff, 0x7c00, 0x7e00, 0x7bff]);
}

fn clamp_vectors() -> [u16; 5] {
    use super::super::clamp_overflow_f16 as clamp;
    [
        clamp(0x7c00, false),
        clamp(0xfc00, false),
        clamp(0x7c00, true),
        clamp(0x7e00, false),
        clamp(0x7bff, false),
    ]
}

#[test]
fn integers_are_rounded_once() {
    let mut random = Random::new(12);
    let check = |x: u32| {
        for round in Round::ALL {
            let value = |negative, magnitude: u32| {
                let mut big = Big::zero();
                big.add(negative, magnitude.into(), 0);
                big
            };
            let unsigned = value(false, x);
            assert_eq!(
                u32_to_f32(x, round),
                rounded::<F32>(&unsigned, false, round, false) as u32
            );
            let signed = value((x as i32) < 0, (x as i32).unsigned_abs());
            let expected = rounded::<F32>(&signed, false, round, false) as u32;
            assert_eq!(i32_to_f32(x as i32, round), expected, "{x:#x} {round:?}");
            let half = x as u16;
            let expected = rounded::<F16>(&value(false, half.into()), false, round, false) as u16;
            assert_eq!(
                u16_to_f16(half, round, false),
                expected,
                "{half:#x} {round:?}"
            );
            let half = half as i16;
            let signed = value(half < 0, half.unsigned_abs().into());
            let expected = rounded::<F16>(&signed, false, round, false) as u16;
            assert_eq!(i16_to_f16(half, round), expected, "{half:#x} {round:?}");
        }
        assert_eq!(f64::from_bits(u32_to_f64(x)) as u32, x);
        assert_eq!(f64::from_bits(i32_to_f64(x as i32)) as i32, x as i32);
    };
    for x in [
        0,
        1,
        0x7fff,
        0x8000,
        0xffff,
        65519,
        65520,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
    ] {
        check(x);
    }
    for _ in 0..4000 {
        let x = random.bits() as u32;
        check(x >> random.below(32));
        check(x | u32::MAX >> random.below(32));
    }
    assert_eq!(u16_to_f16(65535, Round::NearestEven, false), 0x7c00);
    assert_eq!(u16_to_f16(65535, Round::NearestEven, true), 0x7bff);
    assert_eq!(u16_to_f16(65535, Round::Up, true), 0x7bff);
    assert_eq!(u16_to_f16(65535, Round::Zero, false), 0x7bff);
}

#[test]
fn ldexp_is_rounded_once() {
    let mut random = Random::new(13);
    for i in 0..40_000 {
        let env = Env {
            round: Round::ALL[i % 4],
            denorm: Denorm::from_mode(if i % 8 < 4 { 3 } else { 1 }),
        };
        let flush = env.denorm.flush_dst;
        let (h, s, d) = (
            random.finite::<F16>(),
            random.finite::<F32>(),
            random.finite::<F64>(),
        );
        let by = random.below(if i % 2 == 0 { 80 } else { 300 }) as i32 - 100;
        let mut exact = Big::zero();
        exact.add_float::<F16>(h, by);
        let expected = rounded::<F16>(&exact, h & F16::SIGN != 0, env.round, flush) as u16;
        assert_eq!(
            ldexp_f16(h as u16, by as i16, env),
            expected,
            "{h:#x} {by} {env:?}"
        );
        let mut exact = Big::zero();
        exact.add_float::<F32>(s, by);
        let expected = rounded::<F32>(&exact, s & F32::SIGN != 0, env.round, flush) as u32;
        assert_eq!(
            ldexp_f32(s as u32, by, env),
            expected,
            "{s:#x} {by} {env:?}"
        );
        let by = by * 4;
        let mut exact = Big::zero();
        exact.add_float::<F64>(d, by);
        let expected = rounded::<F64>(&exact, d & F64::SIGN != 0, env.round, flush);
        assert_eq!(ldexp_f64(d, by, env), expected, "{d:#x} {by} {env:?}");
    }
}
