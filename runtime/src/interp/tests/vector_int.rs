//! Vectors of integer operations of the vector ALU.

use frontend::Gfx::{Gfx700, Gfx803, Gfx900, Gfx906};

use crate::interp::testing::{MODE, Machine, lanes32};

const ONES: u32 = u32::MAX;

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
