//! Vectors of float operations, conversions and compares of the vector ALU.

use frontend::Gfx::{Gfx600, Gfx700, Gfx803, Gfx900};

use crate::interp::testing::{MODE, Machine, lanes32, lanes64};

const ONES: u32 = u32::MAX;
const QNAN: u32 = 0x7fc0_0000;
const SNAN: u32 = 0x7f80_0001;
const INF: u32 = 0x7f80_0000;
const ONE: u32 = 0x3f80_0000;
const TWO: u32 = 0x4000_0000;
const THREE: u32 = 0x4040_0000;
const MINUS: u32 = 0x8000_0000;

/// f32 denormals flushed on both sides.
const FLUSH: u32 = 0x3c0;

#[test]
fn additions_and_products() {
    lanes32(
        Gfx900,
        MODE,
        &[0x0200_0501], /* v_add_f32 v0, v1, v2 */
        &[
            [ONE, ONE, 0, TWO],
            [SNAN, QNAN | 1, 0, SNAN | 0x40_0000],
            [ONE, QNAN | MINUS | 5, 0, QNAN | MINUS | 5],
            [INF, INF | MINUS, 0, QNAN],
            [1, 1, 0, 2],
            [MINUS, 0, 0, 0],
            [MINUS, MINUS, 0, MINUS],
        ],
    );
    lanes32(
        Gfx900,
        FLUSH,
        &[0x0200_0501], /* v_add_f32 v0, v1, v2 */
        &[[1, 1, 0, 0], [0x8000_0001, MINUS, 0, MINUS]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x0400_0501], /* v_sub_f32 v0, v1, v2 */
        &[[THREE, ONE, 0, TWO], [ONE, SNAN, 0, SNAN | 0x40_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x0600_0501], /* v_subrev_f32 v0, v1, v2 */
        &[[ONE, THREE, 0, TWO]],
    );
    // 1 + 2^-24: down, up, down, toward zero.
    for (round, want) in [(0, ONE), (1, ONE + 1), (2, ONE), (3, ONE)] {
        lanes32(
            Gfx900,
            MODE | round,
            &[0x0200_0501], /* v_add_f32 v0, v1, v2 */
            &[[ONE, 0x3380_0000, 0, want]],
        );
    }
    lanes32(
        Gfx900,
        MODE,
        &[0x0a00_0501], /* v_mul_f32 v0, v1, v2 */
        &[[THREE, TWO, 0, 0x40c0_0000], [INF, 0, 0, QNAN]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x0800_0501], /* v_mul_legacy_f32 v0, v1, v2 */
        &[[INF, MINUS, 0, 0], [QNAN, 0, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1cb_0000, 0x040e_0501], /* v_fma_f32 v0, v1, v2, v3 */
        &[
            // (1 + 2^-23)^2 - (1 + 2^-22) = 2^-46
            [ONE + 1, ONE + 1, (ONE + 2) | MINUS, 0x2880_0000],
            [1, ONE, 0, 1],
        ],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1c1_0000, 0x040e_0501], /* v_mad_f32 v0, v1, v2, v3 */
        &[
            [ONE + 1, ONE + 1, (ONE + 2) | MINUS, 0],
            [1, ONE, 0, 0],
            [INF, 0, SNAN, SNAN | 0x40_0000],
        ],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_0303, 0x2c00_0501], /* v_mov_b32 v0, v3; v_mac_f32 v0, v1, v2 */
        &[[TWO, THREE, ONE, 0x40e0_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x2e00_0501, 0x4040_0000], /* v_madmk_f32 v0, v1, 0x40400000, v2 */
        &[[TWO, ONE, 0, 0x40e0_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x3000_0501, 0x3f80_0000], /* v_madak_f32 v0, v1, v2, 0x3f800000 */
        &[[TWO, THREE, 0, 0x40e0_0000]],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0xd280_0000, 0x0002_0902], /* v_add_f64 v[0:1], v[2:3], v[4:5] */
        &[
            [1f64.to_bits(), 2f64.to_bits(), 0, 3f64.to_bits()],
            [1, 1, 0, 2],
        ],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0xd1cc_0000, 0x041a_0902], /* v_fma_f64 v[0:1], v[2:3], v[4:5], v[6:7] */
        &[[
            2f64.to_bits(),
            3f64.to_bits(),
            1f64.to_bits(),
            7f64.to_bits(),
        ]],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0xd281_0200, 0x2002_0902], /* v_mul_f64 v[0:1], -v[2:3], |v[4:5]| */
        &[[2f64.to_bits(), (-3f64).to_bits(), 0, (-6f64).to_bits()]],
    );
}

#[test]
fn minimum_and_maximum() {
    lanes32(
        Gfx900,
        MODE,
        &[0x1400_0501], /* v_min_f32 v0, v1, v2 */
        &[
            [0, MINUS, 0, MINUS],
            [QNAN, ONE, 0, ONE],
            [ONE, SNAN, 0, SNAN | 0x40_0000],
            [TWO, ONE, 0, ONE],
        ],
    );
    lanes32(
        Gfx900,
        0x1f0,
        &[0x1400_0501], /* v_min_f32 v0, v1, v2 */
        &[[ONE, SNAN, 0, ONE]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x1600_0501], /* v_max_f32 v0, v1, v2 */
        &[[0, MINUS, 0, 0], [MINUS, 0, 0, 0]],
    );
    // Denormals are flushed from gfx9 on.
    lanes32(
        Gfx900,
        FLUSH,
        &[0x1600_0501], /* v_max_f32 v0, v1, v2 */
        &[[5, 0, 0, 0]],
    );
    lanes32(
        Gfx803,
        FLUSH,
        &[0x1600_0501], /* v_max_f32 v0, v1, v2 */
        &[[5, 0, 0, 5]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1d6_0000, 0x040e_0501], /* v_med3_f32 v0, v1, v2, v3 */
        &[[THREE, ONE, TWO, TWO], [QNAN, TWO, ONE, ONE]],
    );
    lanes32(
        Gfx700,
        MODE,
        &[0x1a00_0501], /* v_min_legacy_f32 v0, v1, v2 */
        &[[QNAN, ONE, 0, ONE], [ONE, QNAN, 0, QNAN]],
    );
}

#[test]
fn modifiers_of_sources_and_results() {
    lanes32(
        Gfx900,
        MODE,
        &[0xd101_0100, 0x2002_0501], /* v_add_f32_e64 v0, -|v1|, v2 */
        &[[TWO | MINUS, THREE, 0, ONE]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd105_8000, 0x0002_0501], /* v_mul_f32_e64 v0, v1, v2 clamp */
        &[
            [TWO, THREE, 0, ONE],
            [TWO, THREE | MINUS, 0, 0],
            [QNAN, ONE, 0, 0],
        ],
    );
    lanes32(
        Gfx900,
        0x2f0,
        &[0xd105_8000, 0x0002_0501], /* v_mul_f32_e64 v0, v1, v2 clamp */
        &[[QNAN, ONE, 0, QNAN]],
    );
    // OMOD: not with IEEE, not with denormals.
    let omod = &[0xd105_0000, 0x0802_0501] /* v_mul_f32_e64 v0, v1, v2 mul:2 */;
    lanes32(Gfx900, MODE, omod, &[[TWO, ONE, 0, TWO]]);
    lanes32(Gfx900, FLUSH, omod, &[[TWO, ONE, 0, TWO]]);
    lanes32(Gfx900, 0x1f0, omod, &[[TWO, ONE, 0, TWO]]);
    lanes32(
        Gfx900,
        0x1c0,
        omod,
        &[
            [TWO, ONE, 0, 0x4080_0000],
            [MINUS, ONE, 0, 0],
            // The smallest normal divided by two, times two again.
            [0x0080_0000, 0x3f00_0000, 0, 0x0080_0000],
        ],
    );
    lanes32(
        Gfx900,
        0x1c0,
        &[0xd105_8000, 0x1802_0501], /* v_mul_f32_e64 v0, v1, v2 clamp div:2 */
        &[[THREE, ONE, 0, ONE], [ONE, ONE, 0, 0x3f00_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd100_0200, 0x200a_0501], /* v_cndmask_b32_e64 v0, -v1, |v2|, s[2:3] */
        &[[ONE, 0, 0, ONE | MINUS]],
    );
}

#[test]
fn rounding_to_integers_and_conversions() {
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_3b01], /* v_ceil_f32 v0, v1 */
        &[[0xbf00_0000, 0, 0, MINUS]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_3d01], /* v_rndne_f32 v0, v1 */
        &[[0x4020_0000, 0, 0, TWO]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_3701], /* v_fract_f32 v0, v1 */
        &[
            [0xb080_0000, 0, 0, 0x3f7f_ffff],
            [0xbfc0_0000, 0, 0, 0x3f00_0000],
        ],
    );
    lanes32(
        Gfx600,
        MODE,
        &[0x7e00_4101], /* v_fract_f32 v0, v1 */
        &[[0xb080_0000, 0, 0, ONE]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1101], /* v_cvt_i32_f32 v0, v1 */
        &[
            [0xbfc0_0000, 0, 0, ONES],
            [QNAN, 0, 0, 0],
            [INF, 0, 0, 0x7fff_ffff],
        ],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_0f01], /* v_cvt_u32_f32 v0, v1 */
        &[[0xbfc0_0000, 0, 0, 0], [INF, 0, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_0d01], /* v_cvt_f32_u32 v0, v1 */
        &[[ONES, 0, 0, 0x4f80_0000]],
    );
    lanes32(
        Gfx900,
        MODE | 3,
        &[0x7e00_0d01], /* v_cvt_f32_u32 v0, v1 */
        &[[ONES, 0, 0, 0x4f7f_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_0b01], /* v_cvt_f32_i32 v0, v1 */
        &[[ONES, 0, 0, ONE | MINUS]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1501], /* v_cvt_f16_f32 v0, v1 */
        &[[ONE, 0, 0, 0x3c00], [0x477f_f000, 0, 0, 0x7c00]],
    );
    lanes32(
        Gfx900,
        MODE | 1 << 23,
        &[0x7e00_1501], /* v_cvt_f16_f32 v0, v1 */
        &[[0x477f_f000, 0, 0, 0x7bff], [INF, 0, 0, 0x7c00]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1701], /* v_cvt_f32_f16 v0, v1 */
        &[[0xffff_3c00, 0, 0, ONE], [1, 0, 0, 0x3380_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd296_0000, 0x0002_0501], /* v_cvt_pkrtz_f16_f32 v0, v1, v2 */
        &[[0x477f_ff00, ONE, 0, 0x3c00_7bff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_2701], /* v_cvt_f32_ubyte2 v0, v1 */
        &[[0x00ff_0000, 0, 0, 0x437f_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1d01], /* v_cvt_off_f32_i4 v0, v1 */
        &[[0xf8, 0, 0, 0xbf00_0000], [7, 0, 0, 0x3ee0_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd294_0000, 0x0002_0501], /* v_cvt_pknorm_i16_f32 v0, v1, v2 */
        &[[ONE | MINUS, ONE, 0, 0x7fff_8001]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1dd_0000, 0x040e_0501], /* v_cvt_pk_u8_f32 v0, v1, v2, v3 */
        &[[0x4300_0000, 1, 0x1122_3344, 0x1122_8044]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1901], /* v_cvt_rpi_i32_f32 v0, v1 */
        &[[0xbf00_0000, 0, 0, 0], [0x3fc0_0000, 0, 0, 2]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_6701], /* v_frexp_exp_i32_f32 v0, v1 */
        &[[1, 0, 0, (-148i32) as u32], [INF, 0, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_6901], /* v_frexp_mant_f32 v0, v1 */
        &[[THREE, 0, 0, 0x3f40_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd288_0000, 0x0002_0501], /* v_ldexp_f32 v0, v1, v2 */
        &[[ONE, 3, 0, 0x4100_0000], [ONE, (-149i32) as u32, 0, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_0702], /* v_cvt_i32_f64 v0, v[2:3] */
        &[[0, 0, 0xc000_0000, (-2i32) as u32]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_1f02], /* v_cvt_f32_f64 v0, v[2:3] */
        &[[0, 0, 0xc000_0000, 0xc000_0000]],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0x7e00_0902], /* v_cvt_f64_i32 v[0:1], v2 */
        &[[u64::MAX, 0, 0, (-1f64).to_bits()]],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0xd28f_0000, 0x0002_0902], /* v_lshlrev_b64 v[0:1], v2, v[4:5] */
        &[[65, 3, 0, 6]],
    );
    lanes64(
        Gfx900,
        MODE,
        &[0xd291_0000, 0x0002_0902], /* v_ashrrev_i64 v[0:1], v2, v[4:5] */
        &[[60, 1 << 63, 0, (-8i64) as u64]],
    );
    lanes64(
        Gfx700,
        MODE,
        &[0xd2c4_0000, 0x0002_0902], /* v_lshr_b64 v[0:1], v[2:3], v4 */
        &[[1 << 63, 63, 0, 1]],
    );
}

#[test]
fn division() {
    // 1 / 3 by the sequence that compilers emit, in lanes 0 and 1: 1/3 and -6/2.
    let words = &[0xd1e0_020a, 0x0406_0502, 0xd1e0_6a0b, 0x0406_0501, 0x7e18_450a, 0xd1cb_000d, 0x23ca_190a, 0xd1cb_000c, 0x0432_190d, 0x0a1a_190b, 0xd1cb_000e, 0x242e_1b0a, 0xd1cb_000d, 0x0436_190e, 0xd1cb_000a, 0x242e_1b0a, 0xd1e2_000a, 0x0436_190a, 0xd1de_0000, 0x0406_050a] /* v_div_scale_f32 v10, s[2:3], v2, v2, v1; v_div_scale_f32 v11, vcc, v1, v2, v1; v_rcp_f32 v12, v10; v_fma_f32 v13, -v10, v12, 1.0; v_fma_f32 v12, v13, v12, v12; v_mul_f32 v13, v11, v12; v_fma_f32 v14, -v10, v13, v11; v_fma_f32 v13, v14, v12, v13; v_fma_f32 v10, -v10, v13, v11; v_div_fmas_f32 v10, v10, v12, v13; v_div_fixup_f32 v0, v10, v2, v1 */;
    let tiny = 0x0000_0003;
    let cases = [
        (1f32, 3f32),
        (-6.0, 2.0),
        (1e-40, 3e-3),
        (3e38, 1e-5),
        (1e30, 3e-8),
    ];
    let mut vectors: Vec<[u32; 4]> = cases
        .iter()
        .map(|&(n, d)| [n.to_bits(), d.to_bits(), 0, (n / d).to_bits()])
        .collect();
    vectors.push([tiny, 0x7f00_0000, 0, 0]);
    vectors.push([ONE, 0, 0, INF]);
    vectors.push([0, 0, 0, 0xffc0_0000]);
    lanes32(Gfx900, MODE, words, &vectors);
}

#[test]
fn compares_write_whole_masks() {
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[1] = std::array::from_fn(|l| l as u32);
    m.wave.set_exec(0x0f);
    m.set64(106, u64::MAX);
    m.ends(&[0x7d98_0282] /* v_cmp_gt_u32 vcc, 2, v1 */);
    assert_eq!(m.wave.vcc(), 3);
    m.ends(
        &[0xd0c1_0002, 0x0002_0281], /* v_cmp_lt_i32_e64 s[2:3], 1, v1 */
    );
    assert_eq!(m.wave.sgpr64(2), 0xc);
    m.ends(&[0x7db4_0283] /* v_cmpx_eq_u32 vcc, 3, v1 */);
    assert_eq!((m.wave.vcc(), m.wave.exec()), (8, 8));
    let float = |words: &[u32], mode: u32, a: u32, b: u32| {
        let mut m = Machine::new(Gfx900);
        m.wave.mode = mode;
        m.wave.vgpr[1][0] = a;
        m.wave.vgpr[2][0] = b;
        m.wave.set_exec(1);
        m.ends(words).wave.vcc()
    };
    assert_eq!(
        float(
            &[0x7c8a_0501], /* v_cmp_lg_f32 vcc, v1, v2 */
            MODE,
            QNAN,
            ONE
        ),
        0
    );
    assert_eq!(
        float(
            &[0x7c9a_0501], /* v_cmp_neq_f32 vcc, v1, v2 */
            MODE,
            QNAN,
            ONE
        ),
        1
    );
    assert_eq!(
        float(
            &[0x7c84_0501], /* v_cmp_eq_f32 vcc, v1, v2 */
            MODE,
            MINUS,
            0
        ),
        1
    );
    assert_eq!(
        float(
            &[0x7c84_0501], /* v_cmp_eq_f32 vcc, v1, v2 */
            MODE,
            1,
            0
        ),
        0
    );
    assert_eq!(
        float(
            &[0x7c84_0501], /* v_cmp_eq_f32 vcc, v1, v2 */
            FLUSH,
            1,
            0
        ),
        1
    );
    // Classes see denormals regardless of MODE.
    assert_eq!(
        float(
            &[0x7c20_0501], /* v_cmp_class_f32 vcc, v1, v2 */
            FLUSH,
            1,
            0x80
        ),
        1
    );
    assert_eq!(
        float(
            &[0x7c20_0501], /* v_cmp_class_f32 vcc, v1, v2 */
            MODE,
            SNAN,
            2
        ),
        0
    );
    assert_eq!(
        float(
            &[0x7d48_0501], /* v_cmp_gt_i16 vcc, v1, v2 */
            MODE,
            1,
            0xffff
        ),
        1
    );
    assert_eq!(
        float(
            &[0x7c48_0501], /* v_cmp_gt_f16 vcc, v1, v2 */
            MODE,
            0x3c00,
            0xbc00
        ),
        1
    );
}

#[test]
fn half_precision() {
    lanes32(
        Gfx900,
        MODE,
        &[0x3e00_0501], /* v_add_f16 v0, v1, v2 */
        &[
            [0xffff_3c00, 0x3c00, 0, 0x4000],
            [0x7bff, 0x7bff, 0, 0x7c00],
        ],
    );
    lanes32(
        Gfx900,
        MODE | 1 << 23,
        &[0x3e00_0501], /* v_add_f16 v0, v1, v2 */
        &[[0x7bff, 0x7bff, 0, 0x7bff], [0x7c00, 0x3c00, 0, 0x7c00]],
    );
    lanes32(
        Gfx803,
        MODE | 1 << 23,
        &[0x3e00_0501], /* v_add_f16 v0, v1, v2 */
        &[[0x7bff, 0x7bff, 0, 0x7c00]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd206_0800, 0x040e_0501], /* v_fma_f16 v0, v1, v2, v3 op_sel:[1,0,0,0] */
        &[[0x4000_0000, 0x4200, 0x3c00, 0x4700]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd203_0000, 0x040e_0501], /* v_mad_f16 v0, v1, v2, v3 */
        &[[1, 0x3c00, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd206_0000, 0x040e_0501], /* v_fma_f16 v0, v1, v2, v3 */
        &[[1, 0x3c00, 0, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd122_0000, 0x2001_e101], /* v_mul_f16_e64 v0, -v1, 0.5 */
        &[[0x3c00, 0, 0, 0xb800]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd2a0_0800, 0x4002_0501], /* v_pack_b32_f16 v0, v1, -v2 op_sel:[1,0,0] */
        &[[0x1234_0000, 0x5678, 0, 0xd678_1234]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_7701], /* v_cvt_u16_f16 v0, v1 */
        &[[0xbc00, 0, 0, 0], [0x7c00, 0, 0, 0xffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x6600_0501], /* v_ldexp_f16 v0, v1, v2 */
        &[[0x3c00, 0xffff, 0, 0x3800]],
    );
}
