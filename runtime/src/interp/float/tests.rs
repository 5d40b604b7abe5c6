use super::*;

const INF: u32 = 0x7f80_0000;
const MINUS: u32 = 1 << 31;
const ONE: u32 = 0x3f80_0000;
const QUIET: u32 = 0x7fc0_0001;
const QUIET2: u32 = 0xffc0_0002;
const SIGNALLING: u32 = 0x7f80_0003;
const SIGNALLING2: u32 = 0xff80_0004;

#[test]
fn minimum_and_maximum() {
    // a, b -> min, max, with MODE.IEEE and without
    for (a, b, ieee, plain) in [
        (ONE, 0x4000_0000, (ONE, 0x4000_0000), (ONE, 0x4000_0000)),
        (0xc000_0000, ONE, (0xc000_0000, ONE), (0xc000_0000, ONE)),
        (
            0xc000_0000,
            0xbf80_0000,
            (0xc000_0000, 0xbf80_0000),
            (0xc000_0000, 0xbf80_0000),
        ),
        (0, MINUS, (MINUS, 0), (MINUS, 0)),
        (MINUS, 0, (MINUS, 0), (MINUS, 0)),
        (INF, INF | MINUS, (INF | MINUS, INF), (INF | MINUS, INF)),
        (1, MINUS | 1, (MINUS | 1, 1), (MINUS | 1, 1)),
        (QUIET, ONE, (ONE, ONE), (ONE, ONE)),
        (ONE, QUIET, (ONE, ONE), (ONE, ONE)),
        (QUIET, QUIET2, (QUIET2, QUIET2), (QUIET2, QUIET2)),
        (SIGNALLING, ONE, (0x7fc0_0003, 0x7fc0_0003), (ONE, ONE)),
        (ONE, SIGNALLING2, (0xffc0_0004, 0xffc0_0004), (ONE, ONE)),
        (
            QUIET,
            SIGNALLING2,
            (0xffc0_0004, 0xffc0_0004),
            (SIGNALLING2, SIGNALLING2),
        ),
        (
            SIGNALLING,
            SIGNALLING2,
            (0x7fc0_0003, 0x7fc0_0003),
            (SIGNALLING2, SIGNALLING2),
        ),
    ] {
        assert_eq!(
            (min_f32(a, b, true), max_f32(a, b, true)),
            ieee,
            "{a:#x} {b:#x} ieee"
        );
        assert_eq!(
            (min_f32(a, b, false), max_f32(a, b, false)),
            plain,
            "{a:#x} {b:#x}"
        );
    }
    assert_eq!(
        (min_f16(0x8000, 0, true), max_f16(0x8000, 0, true)),
        (0x8000, 0)
    );
    assert_eq!(
        (min_f16(0x7d00, 1, true), max_f16(0x7e00, 1, true)),
        (0x7f00, 1)
    );
    let d = |x: f64| x.to_bits();
    assert_eq!(
        (
            min_f64(d(1.5), d(-2.0), true),
            max_f64(d(1.5), d(-2.0), true)
        ),
        (d(-2.0), d(1.5))
    );
    // Every pair of halves of a sample, against the host.
    for a in (0..=u16::MAX).step_by(31) {
        for b in (0..=u16::MAX).step_by(257) {
            let number = |x| f32::from_bits(math::f16_to_f32(x, false));
            let (x, y) = (number(a), number(b));
            if !x.is_nan() && !y.is_nan() && x != y {
                let (small, large) = if x < y { (a, b) } else { (b, a) };
                assert_eq!((min_f16(a, b, true), max_f16(a, b, false)), (small, large));
            }
        }
    }
}

#[test]
fn three_operands() {
    let [a, b, c] = [ONE, 0x4000_0000, 0xc040_0000];
    for [a, b, c] in [
        [a, b, c],
        [a, c, b],
        [b, a, c],
        [b, c, a],
        [c, a, b],
        [c, b, a],
    ] {
        assert_eq!(min3_f32(a, b, c, true), 0xc040_0000);
        assert_eq!(max3_f32(a, b, c, true), 0x4000_0000);
        assert_eq!(med3_f32(a, b, c, true), ONE);
    }
    // Any NaN: the minimum of the three.
    assert_eq!(med3_f32(QUIET, b, a, true), a);
    assert_eq!(med3_f32(b, QUIET, a, true), a);
    assert_eq!(med3_f32(b, a, QUIET, true), a);
    // The result of a signalling NaN is a quiet one, which then loses.
    assert_eq!(min3_f32(SIGNALLING, a, b, true), b);
    assert_eq!(min3_f32(a, b, SIGNALLING, true), 0x7fc0_0003);
    assert_eq!(med3_f32(SIGNALLING, a, b, true), b);
    assert_eq!(min3_f32(SIGNALLING, a, b, false), a);
    assert_eq!(med3_f16(0x3c00, 0x4000, 0xc000, true), 0x3c00);
    assert_eq!(med3_f32(0, MINUS, 0xbf80_0000, true), MINUS);
    assert_eq!(med3_f32(ONE, ONE, 0, true), ONE);
}

#[test]
fn legacy_operations() {
    assert_eq!(min_legacy_f32(QUIET, ONE), ONE);
    assert_eq!(min_legacy_f32(ONE, QUIET), QUIET);
    assert_eq!(max_legacy_f32(QUIET, ONE), ONE);
    assert_eq!(max_legacy_f32(ONE, SIGNALLING), SIGNALLING);
    assert_eq!(
        [min_legacy_f32(0, MINUS), max_legacy_f32(0, MINUS)],
        [MINUS, 0]
    );
    assert_eq!(
        [min_legacy_f32(MINUS, 0), max_legacy_f32(MINUS, 0)],
        [0, MINUS]
    );
    let env = math::Env::default();
    assert_eq!(mul_legacy_f32(MINUS, ONE, env), 0);
    assert_eq!(mul_legacy_f32(QUIET, 0, env), 0);
    assert_eq!(mul_legacy_f32(0, INF | MINUS, env), 0);
    assert_eq!(mul_legacy_f32(QUIET, ONE, env), QUIET);
    assert_eq!(mul_legacy_f32(0x4000_0000, 0xc040_0000, env), 0xc0c0_0000);
    assert_eq!(mul_legacy_f32(1, INF, env), INF);
    let flush = math::Env {
        denorm: math::Denorm::FLUSH,
        ..env
    };
    assert_eq!(mul_legacy_f32(MINUS | 1, INF, flush), 0);
    assert_eq!(mullit_f32(0x4000_0000, ONE, ONE, env), 0x4000_0000);
    assert_eq!(mullit_f32(0x4000_0000, ONE, MINUS, env), 0xff7f_ffff);
    assert_eq!(mullit_f32(0x4000_0000, QUIET, ONE, env), 0xff7f_ffff);
    assert_eq!(mullit_f32(0x4000_0000, 0xff7f_ffff, ONE, env), 0xff7f_ffff);
    assert_eq!(mullit_f32(0x4000_0000, ONE, QUIET, env), 0xff7f_ffff);
}

#[test]
fn classes() {
    let rows: [(u32, u64, u16); 10] = [
        (SIGNALLING, 0xfff0_0000_0000_0001, 0x7c01),
        (QUIET2, 0x7ff8_0000_0000_0000, 0xfe00),
        (INF | MINUS, 0xfff0_0000_0000_0000, 0xfc00),
        (0x8080_0000, 0x8010_0000_0000_0000, 0xfbff),
        (0x807f_ffff, 0x8000_0000_0000_0001, 0x83ff),
        (MINUS, 1 << 63, 0x8000),
        (0, 0, 0),
        (1, 0x000f_ffff_ffff_ffff, 0x0001),
        (0x7f7f_ffff, 0x0010_0000_0000_0000, 0x0400),
        (INF, 0x7ff0_0000_0000_0000, 0x7c00),
    ];
    for (bit, (s, d, h)) in rows.into_iter().enumerate() {
        assert_eq!(
            [class_f32(s), class_f64(d), class_f16(h)],
            [1 << bit; 3],
            "bit {bit}"
        );
    }
}

#[test]
fn clamping_and_output_modifiers() {
    for (x, result) in [
        (MINUS, 0),
        (0xbf80_0000, 0),
        (INF | MINUS, 0),
        (0x3f00_0000, 0x3f00_0000),
        (1, 1),
        (0x3f80_0001, ONE),
        (INF, ONE),
    ] {
        assert_eq!(clamp_f32(x, false), result, "{x:#x}");
        assert_eq!(clamp_f32(x, true), result, "{x:#x}");
    }
    assert_eq!(
        [clamp_f32(QUIET2, true), clamp_f32(QUIET2, false)],
        [0, QUIET2]
    );
    assert_eq!(
        [clamp_f16(0xfe00, true), clamp_f16(0xfe00, false)],
        [0, 0xfe00]
    );
    assert_eq!(
        clamp_f64(0x4000_0000_0000_0000, true),
        0x3ff0_0000_0000_0000
    );

    let near = Round::NearestEven;
    assert_eq!(omod_f32(0x3fc0_0000, 0, near), 0x3fc0_0000);
    assert_eq!(omod_f32(0x3fc0_0000, 1, near), 0x4040_0000);
    assert_eq!(omod_f32(0x3fc0_0000, 2, near), 0x40c0_0000);
    assert_eq!(omod_f32(0x3fc0_0000, 3, near), 0x3f40_0000);
    assert_eq!(omod_f32(0x0080_0001, 3, near), 0);
    assert_eq!(omod_f32(0x8080_0001, 3, near), 0);
    assert_eq!(omod_f32(MINUS, 1, near), 0);
    assert_eq!(omod_f32(0x7f00_0000, 2, near), INF);
    assert_eq!(omod_f32(0x7f00_0000, 2, Round::Zero), 0x7f7f_ffff);
    assert_eq!(omod_f16(0x3c00, 2, near), 0x4400);
    assert_eq!(omod_f16(0x3c00, 3, near), 0x3800);
    assert_eq!(
        omod_f64(0xbff0_0000_0000_0000, 1, near),
        0xc000_0000_0000_0000
    );
}

#[test]
fn integral_values() {
    let f = |x: f32| x.to_bits();
    // x: trunc, ceil, floor, rndne
    for (x, all) in [
        (f(0.5), [0.0, 1.0, 0.0, 0.0]),
        (f(1.5), [1.0, 2.0, 1.0, 2.0]),
        (f(2.5), [2.0, 3.0, 2.0, 2.0]),
        (f(-0.5), [-0.0, -0.0, -1.0, -0.0]),
        (f(-2.75), [-2.0, -2.0, -3.0, -3.0]),
        (f(0.499_999_97), [0.0, 1.0, 0.0, 0.0]),
        (f(8_388_609.0), [8_388_609.0; 4]),
        (f(-0.0), [-0.0; 4]),
        (1, [0.0, 1.0, 0.0, 0.0]),
        (INF, [f32::INFINITY; 4]),
    ] {
        let results = [trunc_f32(x), ceil_f32(x), floor_f32(x), rndne_f32(x)];
        assert_eq!(results, all.map(f), "{x:#x}");
        let wide = f64::from(f32::from_bits(x)).to_bits();
        let results = [
            trunc_f64(wide),
            ceil_f64(wide),
            floor_f64(wide),
            rndne_f64(wide),
        ];
        assert_eq!(results, all.map(|v| f64::from(v).to_bits()), "{x:#x}");
    }
    assert_eq!(
        [trunc_f32(SIGNALLING), rndne_f32(SIGNALLING2)],
        [0x7fc0_0003, 0xffc0_0004]
    );
    assert_eq!(
        [ceil_f16(0xb800), floor_f16(0xb800), rndne_f16(0x3a00)],
        [0x8000, 0xbc00, 0x3c00]
    );
    assert_eq!(
        [ceil_f16(0x0001), floor_f16(0x8001), trunc_f16(0x7bff)],
        [0x3c00, 0xbc00, 0x7bff]
    );
    assert_eq!([ceil_f16(0x7c00), floor_f16(0x7d00)], [0x7c00, 0x7f00]);
}

#[test]
fn fractions() {
    use Fract::*;
    let near = Round::NearestEven;
    for (x, result) in [
        (0x3fc0_0000, 0x3f00_0000),
        (0xbf40_0000, 0x3e80_0000),
        (0xb000_0000, 0x3f7f_ffff),
        (MINUS | 1, 0x3f7f_ffff),
        (1, 1),
        (MINUS, 0),
        (0x4040_0000, 0),
        (INF, 0x7fc0_0000),
        (INF | MINUS, 0x7fc0_0000),
        (SIGNALLING2, 0xffc0_0004),
    ] {
        assert_eq!(fract_f32(x, near, BelowOne), result, "{x:#x}");
    }
    assert_eq!(fract_f32(0xb000_0000, near, Unlimited), ONE);
    assert_eq!(fract_f32(0xb000_0000, Round::Zero, Unlimited), 0x3f7f_ffff);
    assert_eq!(fract_f16(0x8001, near, BelowOne), 0x3bff);
    assert_eq!(fract_f16(0x4100, near, BelowOne), 0x3800);
    assert_eq!(
        fract_f64(1 << 63 | 1, near, BelowOne),
        0x3fef_ffff_ffff_ffff
    );
    assert_eq!(
        fract_f64(0xc004_0000_0000_0000, near, BelowOne),
        0x3fe0_0000_0000_0000
    );
}

#[test]
fn integers() {
    let f = |x: f32| x.to_bits();
    assert_eq!(
        [f(-1.9), f(3e9), f(-3e9), QUIET, INF].map(f32_to_i32),
        [-1, i32::MAX, i32::MIN, 0, i32::MAX]
    );
    assert_eq!(
        [f(-1.9), f(3e9), f(5e9), QUIET, f(0.99)].map(f32_to_u32),
        [0, 3_000_000_000, u32::MAX, 0, 0]
    );
    assert_eq!(
        [2147483647.9f64, -2147483648.9, f64::NAN].map(|x| f64_to_i32(x.to_bits())),
        [i32::MAX, i32::MIN, 0]
    );
    assert_eq!(
        [4294967295.9f64, 4294967294.9].map(|x| f64_to_u32(x.to_bits())),
        [u32::MAX, u32::MAX - 1]
    );
    assert_eq!(
        [0x7bff, 0xfbff, 0x7e00, 0xbe00, 0xfc00].map(f16_to_i16),
        [i16::MAX, i16::MIN, 0, -1, i16::MIN]
    );
    assert_eq!(
        [0x7bff, 0xfbff, 0x7c00, 0x3dff].map(f16_to_u16),
        [65504, 0, 65535, 1]
    );
    // floor(x + 0.5) without rounding the sum.
    let cases = [
        0.5,
        0.499_999_97,
        -0.5,
        -0.500_000_06,
        1.5,
        -1.5,
        8_388_609.0,
        4e9,
        -4e9,
        -1e-38,
    ];
    let results = [1, 0, 0, -1, 2, -1, 8_388_609, i32::MAX, i32::MIN, 0];
    assert_eq!(cases.map(|x: f32| rpi_i32_f32(x.to_bits(), 0)), results);
    let results = [0, 0, -1, -1, 1, -2, 8_388_609, i32::MAX, i32::MIN, -1];
    assert_eq!(cases.map(|x: f32| flr_i32_f32(x.to_bits(), 0)), results);
    assert_eq!([rpi_i32_f32(QUIET, 0), flr_i32_f32(QUIET, 7)], [0, 7]);
    let offsets = [0, 1, 7, 8, 15, 0xfff0].map(|x| f32::from_bits(off_f32_i4(x)));
    assert_eq!(offsets, [0.0, 0.0625, 0.4375, -0.5, -0.0625, 0.0]);
}

#[test]
fn normalised_and_bytes() {
    let f = |x: f32| x.to_bits();
    assert_eq!(
        [1.0, -1.0, 2.0, -9.0, 0.5, -0.5].map(|x| norm_i16_f32(f(x))),
        [0x7fff, 0x8001, 0x7fff, 0x8001, 0x4000, 0xc000]
    );
    assert_eq!(
        [
            norm_i16_f32(QUIET),
            norm_i16_f32(INF | MINUS),
            norm_i16_f32(1)
        ],
        [0, 0x8001, 0]
    );
    assert_eq!(
        [1.0, -1.0, 2.0, 0.5, 0.25].map(|x| norm_u16_f32(f(x))),
        [0xffff, 0, 0xffff, 0x8000, 0x4000]
    );
    assert_eq!([norm_u16_f32(QUIET), norm_u16_f32(INF)], [0, 0xffff]);
    assert_eq!(
        [0x3c00, 0xbc00, 0x3800, 0x7e00].map(norm_i16_f16),
        [0x7fff, 0x8001, 0x4000, 0]
    );
    assert_eq!(
        [0x3c00, 0xbc00, 0x3800, 0x0001].map(norm_u16_f16),
        [0xffff, 0, 0x8000, 0]
    );

    let near = Round::NearestEven;
    assert_eq!(pk_u8_f32(f(2.5), 0, 0xaabb_ccdd, near), 0xaabb_cc02);
    assert_eq!(pk_u8_f32(f(2.5), 1, 0xaabb_ccdd, Round::Up), 0xaabb_03dd);
    assert_eq!(pk_u8_f32(f(2.5), 6, 0xaabb_ccdd, Round::Down), 0xaa02_ccdd);
    assert_eq!(pk_u8_f32(f(300.0), 3, 0xaabb_ccdd, near), 0xffbb_ccdd);
    assert_eq!(pk_u8_f32(f(-3.0), 3, 0xaabb_ccdd, near), 0x00bb_ccdd);
    assert_eq!(pk_u8_f32(QUIET, 3, 0xaabb_ccdd, near), 0x00bb_ccdd);
    assert_eq!(pk_u8_f32(f(255.5), 0, 0, near), 0xff);
}

#[test]
fn cube_maps() {
    let f = |x: f32| x.to_bits();
    // x, y, z -> id, s, t, twice the major axis
    for ([x, y, z], result) in [
        ([3.0, 1.0, 2.0], [0.0, -2.0, -1.0, 6.0]),
        ([-3.0, 1.0, 2.0], [1.0, 2.0, -1.0, -6.0]),
        ([1.0, 3.0, 2.0], [2.0, 1.0, 2.0, 6.0]),
        ([1.0, -3.0, 2.0], [3.0, 1.0, -2.0, -6.0]),
        ([1.0, 2.0, 3.0], [4.0, 1.0, -2.0, 6.0]),
        ([1.0, 2.0, -3.0], [5.0, -1.0, -2.0, -6.0]),
        // Ties: z, then y.
        ([1.0, 1.0, 1.0], [4.0, 1.0, -1.0, 2.0]),
        ([1.0, -1.0, 0.5], [3.0, 1.0, -0.5, -2.0]),
        ([0.0, 0.0, -0.0], [4.0, 0.0, -0.0, -0.0]),
    ] {
        let (x, y, z) = (f(x), f(y), f(z));
        let results = [
            cube_id_f32(x, y, z),
            cube_sc_f32(x, y, z),
            cube_tc_f32(x, y, z),
            cube_ma_f32(x, y, z, Round::NearestEven),
        ];
        assert_eq!(results, result.map(f));
    }
    // z is no number: neither z nor, by its magnitude, decides; y does.
    assert_eq!(cube_id_f32(ONE, ONE, QUIET), f(2.0));
    assert_eq!(cube_tc_f32(ONE, ONE, SIGNALLING2), 0xffc0_0004);
}

/// `(x, y, z)` to face, s, t, twice the major axis, and the median, from LLVM 19's constant folding.
#[test]
fn cube_maps_and_medians_as_in_llvm() {
    let f = |x: f32| x.to_bits();
    for ([x, y, z], result) in [
        ([1.0, 1.0, -1.0], [5.0, -1.0, -1.0, -2.0, 1.0]),
        ([1.0, 1.0, 0.5], [2.0, 1.0, 0.5, 2.0, 1.0]),
        ([1.0, -1.0, 1.0], [4.0, 1.0, 1.0, 2.0, 1.0]),
        ([1.0, -1.0, -1.0], [5.0, -1.0, 1.0, -2.0, -1.0]),
        ([-1.0, 1.0, 1.0], [4.0, -1.0, -1.0, 2.0, 1.0]),
        ([-1.0, 1.0, -1.0], [5.0, 1.0, -1.0, -2.0, -1.0]),
        ([-1.0, 1.0, 0.5], [2.0, -1.0, 0.5, 2.0, 0.5]),
        ([-1.0, -1.0, 0.5], [3.0, -1.0, -0.5, -2.0, -1.0]),
        ([2.0, 1.0, -1.0], [0.0, 1.0, -1.0, 4.0, 1.0]),
        ([2.0, -1.0, 0.5], [0.0, -0.5, 1.0, 4.0, 0.5]),
        ([-2.0, 1.0, -2.0], [5.0, 2.0, -1.0, -4.0, -2.0]),
        ([0.0, 0.0, 0.0], [4.0, 0.0, -0.0, 0.0, 0.0]),
        ([-0.0, -0.0, -0.0], [4.0, -0.0, 0.0, -0.0, -0.0]),
        ([0.0, -0.0, -0.0], [4.0, 0.0, 0.0, -0.0, -0.0]),
        ([1.0, -0.0, -2.0], [5.0, -1.0, 0.0, -4.0, -0.0]),
        ([-0.5, -0.0, -2.0], [5.0, 0.5, 0.0, -4.0, -0.5]),
        ([2.0, -0.0, 2.0], [4.0, 2.0, 0.0, 4.0, 2.0]),
        ([2.0, -2.0, 0.0], [3.0, 2.0, -0.0, -4.0, 0.0]),
        ([2.0, 0.5, -0.5], [0.0, 0.5, -0.5, 4.0, 0.5]),
    ] {
        let (x, y, z) = (f(x), f(y), f(z));
        let results = [
            cube_id_f32(x, y, z),
            cube_sc_f32(x, y, z),
            cube_tc_f32(x, y, z),
            cube_ma_f32(x, y, z, Round::NearestEven),
            med3_f32(x, y, z, true),
        ];
        assert_eq!(results, result.map(f), "{x:#x} {y:#x} {z:#x}");
    }
    let (plus, minus) = (f(0.0), f(-0.0));
    for (sources, median) in [
        ([plus, plus, minus], plus),
        ([plus, minus, plus], plus),
        ([minus, plus, plus], plus),
        ([minus, plus, minus], plus),
        ([minus, minus, plus], plus),
        ([plus, minus, f(-1.0)], minus),
        ([minus, plus, f(-1.0)], plus),
        ([minus, plus, f(1.0)], plus),
    ] {
        let [a, b, c] = sources;
        assert_eq!(med3_f32(a, b, c, true), median, "{sources:x?}");
    }
}
