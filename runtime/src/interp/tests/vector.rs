//! Vectors of the vector ALU: integers, floats, compares, conversions.

use frontend::Gfx::{Gfx600, Gfx700, Gfx803, Gfx900, Gfx906};

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
fn integers() {
    lanes32(
        Gfx900,
        MODE,
        &[0x6800_0501], /* v_add_u32 v0, v1, v2 */
        &[[ONES, 2, 0, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd134_8000, 0x0002_0501], /* v_add_u32_e64 v0, v1, v2 clamp */
        &[[ONES, 2, 0, ONES], [1, 2, 0, 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x6c00_0501], /* v_subrev_u32 v0, v1, v2 */
        &[[2, 5, 0, 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd135_8000, 0x0002_0501], /* v_sub_u32_e64 v0, v1, v2 clamp */
        &[[2, 5, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd29c_8000, 0x0002_0501], /* v_add_i32 v0, v1, v2 clamp */
        &[[0x7fff_ffff, 1, 0, 0x7fff_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd285_0000, 0x0002_0501], /* v_mul_lo_u32 v0, v1, v2 */
        &[[ONES, ONES, 0, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd286_0000, 0x0002_0501], /* v_mul_hi_u32 v0, v1, v2 */
        &[[ONES, ONES, 0, ONES - 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd287_0000, 0x0002_0501], /* v_mul_hi_i32 v0, v1, v2 */
        &[[ONES, 5, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x0c00_0501], /* v_mul_i32_i24 v0, v1, v2 */
        &[[0x00ff_ffff, 5, 0, ONES - 4]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x0e00_0501], /* v_mul_hi_i32_i24 v0, v1, v2 */
        &[[0x00ff_ffff, 5, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x1000_0501], /* v_mul_u32_u24 v0, v1, v2 */
        &[[0x1100_0003, 5, 0, 15]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x1200_0501], /* v_mul_hi_u32_u24 v0, v1, v2 */
        &[[0x00ff_ffff, 0x00ff_ffff, 0, 0xffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1c3_8000, 0x040e_0501], /* v_mad_u32_u24 v0, v1, v2, v3 clamp */
        &[[0xffff, 0xffff, ONES, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1c2_0000, 0x040e_0501], /* v_mad_i32_i24 v0, v1, v2, v3 */
        &[[0x00ff_ffff, 2, 5, 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x1800_0501], /* v_min_i32 v0, v1, v2 */
        &[[ONES, 2, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x1e00_0501], /* v_max_u32 v0, v1, v2 */
        &[[ONES, 2, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1d7_0000, 0x040e_0501], /* v_med3_i32 v0, v1, v2, v3 */
        &[[5, ONES, 2, 2], [1, 1, 9, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1d2_0000, 0x040e_0501], /* v_min3_u32 v0, v1, v2, v3 */
        &[[5, ONES, 2, 2]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x2400_0501], /* v_lshlrev_b32 v0, v1, v2 */
        &[[33, 3, 0, 6]],
    );
    lanes32(
        Gfx700,
        MODE,
        &[0x3200_0501], /* v_lshl_b32 v0, v1, v2 */
        &[[3, 33, 0, 6]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x2200_0501], /* v_ashrrev_i32 v0, v1, v2 */
        &[[4, 0x8000_0000, 0, 0xf800_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1c8_0000, 0x040e_0501], /* v_bfe_u32 v0, v1, v2, v3 */
        &[[0xabcd, 4, 8, 0xbc], [ONES, 0, 32, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1c9_0000, 0x040e_0501], /* v_bfe_i32 v0, v1, v2, v3 */
        &[[0xabcd, 4, 8, 0xffff_ffbc]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1ca_0000, 0x040e_0501], /* v_bfi_b32 v0, v1, v2, v3 */
        &[[0xff00, 0x1234, 0x5678, 0x1278]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd293_0000, 0x0002_0501], /* v_bfm_b32 v0, v1, v2 */
        &[[4, 8, 0, 0xf00], [32, 0, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1ce_0000, 0x040e_0501], /* v_alignbit_b32 v0, v1, v2, v3 */
        &[[1, 2, 1, 0x8000_0001], [1, 2, 32, 2]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1cf_0000, 0x040e_0501], /* v_alignbyte_b32 v0, v1, v2, v3 */
        &[[0x11, 0x2233_4455, 5, 0x1122_3344]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd28b_0000, 0x0002_0501], /* v_bcnt_u32_b32 v0, v1, v2 */
        &[[7, 10, 0, 13]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_5b01], /* v_ffbh_u32 v0, v1 */
        &[[0, 0, 0, ONES], [1, 0, 0, 31]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_5f01], /* v_ffbh_i32 v0, v1 */
        &[[0x8000_0000, 0, 0, 1], [ONES, 0, 0, ONES]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_5d01], /* v_ffbl_b32 v0, v1 */
        &[[0, 0, 0, ONES], [8, 0, 0, 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1cd_0000, 0x040e_0501], /* v_lerp_u8 v0, v1, v2, v3 */
        &[[0x0001_ff00, 0x0002_ff01, 0x0001_0001, 0x0002_ff01]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1da_0000, 0x040e_0501], /* v_sad_hi_u8 v0, v1, v2, v3 */
        &[[5, 9, 3, 4 << 16 | 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1dc_0000, 0x040e_0501], /* v_sad_u32 v0, v1, v2, v3 */
        &[[1, ONES, 3, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1db_0000, 0x040e_0501], /* v_sad_u16 v0, v1, v2, v3 */
        &[[0x0001_0002, 0x0003_0001, 3, 6]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1f3_0000, 0x040e_0501], /* v_xad_u32 v0, v1, v2, v3 */
        &[[5, 3, 10, 16]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1fe_0000, 0x040e_0501], /* v_add_lshl_u32 v0, v1, v2, v3 */
        &[[5, 3, 33, 16]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd200_0000, 0x040e_0501], /* v_lshl_or_b32 v0, v1, v2, v3 */
        &[[5, 3, 1, 41]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd28c_0000, 0x0002_0501], /* v_mbcnt_lo_u32_b32 v0, v1, v2 */
        &[[ONES, 7, 0, 7], [ONES, 7, 0, 8], [2, 7, 0, 8]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd298_0000, 0x0002_0501], /* v_cvt_pk_i16_i32 v0, v1, v2 */
        &[[70000, (-70000i32) as u32, 0, 0x8000_7fff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd297_0000, 0x0002_0501], /* v_cvt_pk_u16_u32 v0, v1, v2 */
        &[[70000, 5, 0, 0x5_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x7e00_9f01], /* v_sat_pk_u8_i16 v0, v1 */
        &[[0x0100_ffff, 0, 0, 0xff00]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0x7a00_0501], /* v_xnor_b32 v0, v1, v2 */
        &[[5, 3, 0, !6]],
    );
}

#[test]
fn halves_of_16_bits() {
    // gfx8 and gfx9 zero the upper half; the rows that keep it on gfx9 say so.
    let old = 0xdead_0000;
    let upper = |gfx, words: &[u32]| {
        let mut m = Machine::new(gfx);
        m.wave.vgpr[0][0] = old;
        (m.wave.vgpr[1][0], m.wave.vgpr[2][0], m.wave.vgpr[3][0]) = (3, 4, 5);
        m.ends(words);
        m.wave.vgpr[0][0]
    };
    assert_eq!(upper(Gfx803, &[0x4c00_0501] /* v_add_u16 v0, v1, v2 */), 7);
    assert_eq!(upper(Gfx900, &[0x4c00_0501] /* v_add_u16 v0, v1, v2 */), 7);
    assert_eq!(
        upper(
            Gfx900,
            &[0xd204_0000, 0x040e_0501] /* v_mad_u16 v0, v1, v2, v3 */
        ),
        0xdead_0000 | 17
    );
    assert_eq!(
        upper(
            Gfx900,
            &[0xd1eb_0000, 0x040e_0501] /* v_mad_legacy_u16 v0, v1, v2, v3 */
        ),
        17
    );
    assert_eq!(
        upper(
            Gfx803,
            &[0xd1eb_0000, 0x040e_0501] /* v_mad_u16 v0, v1, v2, v3 */
        ),
        17
    );
    assert_eq!(
        upper(
            Gfx900,
            &[0xd29e_4000, 0x0002_0501] /* v_add_i16 v0, v1, v2 op_sel:[0,0,1] */
        ),
        7 << 16
    );
    assert_eq!(
        upper(
            Gfx900,
            &[0xd204_4000, 0x040e_0501] /* v_mad_u16 v0, v1, v2, v3 op_sel:[0,0,0,1] */
        ),
        17 << 16
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd29e_8800, 0x0002_0501], /* v_add_i16 v0, v1, v2 op_sel:[1,0,0] clamp */
        &[[0x7fff_0000, 1, 0, 0x7fff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd127_8000, 0x0002_0501], /* v_sub_u16_e64 v0, v1, v2 clamp */
        &[[3, 5, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x5200_0501], /* v_mul_lo_u16 v0, v1, v2 */
        &[[0x300, 0x300, 0, 0x0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x5800_0501], /* v_ashrrev_i16 v0, v1, v2 */
        &[[20, 0x8000, 0, 0xf800]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x5600_0501], /* v_lshrrev_b16 v0, v1, v2 */
        &[[4, 0xffff_8000, 0, 0x0800]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0x6000_0501], /* v_max_i16 v0, v1, v2 */
        &[[0xffff, 1, 0, 1]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1fb_0000, 0x040e_0501], /* v_med3_i16 v0, v1, v2, v3 */
        &[[0xffff, 1, 0, 0]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1f1_0000, 0x040e_0501], /* v_mad_u32_u16 v0, v1, v2, v3 */
        &[[0xffff, 0xffff, 1, 0xfffe_0002]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd1f2_0800, 0x040e_0501], /* v_mad_i32_i16 v0, v1, v2, v3 op_sel:[1,0,0,0] */
        &[[0xffff_0000, 5, 1, ONES - 3]],
    );
}

#[test]
fn carries() {
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[1] = [ONES; 64];
    m.wave.vgpr[2][5] = 1;
    m.wave.set_exec(0xf0);
    m.set64(106, u64::MAX);
    m.ends(&[0x3200_0501] /* v_add_co_u32 v0, vcc, v1, v2 */);
    assert_eq!(m.wave.vcc(), 0x20, "inactive lanes get 0");
    assert_eq!(
        (m.wave.vgpr[0][5], m.wave.vgpr[0][4], m.wave.vgpr[0][3]),
        (0, ONES, 0)
    );
    // Carry in and out are the same register, and the destination is a source.
    m.ends(&[0x3804_0302] /* v_addc_co_u32 v2, vcc, v2, v1, vcc */);
    assert_eq!((m.wave.vgpr[2][5], m.wave.vgpr[2][4]), (1, ONES));
    assert_eq!(m.wave.vcc(), 0x20);
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[1][0] = 5;
    m.wave.vgpr[2][0] = 5;
    m.set64(4, 1);
    m.ends(
        &[0xd11d_0200, 0x0012_0501], /* v_subb_co_u32_e64 v0, s[2:3], v1, v2, s[4:5] */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.sgpr64(2)), (ONES, 1));
    m.ends(
        &[0xd11b_0200, 0x0001_0f01], /* v_subrev_co_u32_e64 v0, s[2:3], v1, 7 */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.sgpr64(2)), (2, 0));
    m.ends(
        &[0xd11a_8200, 0x0001_0f01], /* v_sub_co_u32_e64 v0, s[2:3], v1, 7 clamp */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.sgpr64(2)), (0, u64::MAX));
    let mut m = Machine::new(Gfx900);
    m.set_lane64(4, 0, u64::MAX);
    (m.wave.vgpr[2][0], m.wave.vgpr[3][0]) = (3, 2);
    m.ends(
        &[0xd1e8_0200, 0x0412_0702], /* v_mad_u64_u32 v[0:1], s[2:3], v2, v3, v[4:5] */
    );
    assert_eq!((m.lane64(0, 0), m.wave.sgpr64(2)), (5, 1));
}

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
    // Classes see denormals whatever MODE says.
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
