//! Vectors of the forms and modifiers of the vector ALU: SDWA, DPP, packed, index mode, lanes.

use frontend::Gfx::{Gfx700, Gfx803, Gfx900, Gfx906};

use crate::interp::testing::{MODE, Machine, lanes32};

/// v1 holds 100 + lane.
fn numbered(gfx: frontend::Gfx) -> Machine {
    let mut m = Machine::new(gfx);
    m.wave.vgpr[1] = std::array::from_fn(|l| 100 + l as u32);
    m.wave.vgpr[0] = [7; 64];
    m
}

#[test]
fn sdwa() {
    let words = &[0x6800_04f9, 0x0503_1101] /* v_add_u32_sdwa v0, v1, v2 dst_sel:BYTE_1 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_3 src1_sel:WORD_1 */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x0500_0000, 0x0102_ffff, 0, 0x0700]],
    );
    let words = &[0x0200_04f9, 0x0636_0601] /* v_add_f32_sdwa v0, -|v1|, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x3f80_0000, 0x4040_0000, 0, 0x4000_0000]],
    );
    let words = &[0x1a00_04f9, 0x0608_0d01] /* v_max_i32_sdwa v0, sext(v1), v2 dst_sel:WORD_1 dst_unused:UNUSED_SEXT src0_sel:BYTE_0 src1_sel:DWORD */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[
            [0xff, 0x8000_0000, 0, 0xffff_0000],
            [0x7f, 0, 0, 0x007f_0000],
        ],
    );
    let words = &[0x3e00_04f9, 0x0405_3501] /* v_add_f16_sdwa v0, v1, v2 clamp dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0 */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x3800_0000, 0x3c00, 0, 0x3c00_0000]],
    );
    let words = &[0x7d94_04f9, 0x8002_8401, 0xd100_0000, 0x0011_0280] /* v_cmp_eq_u32_sdwa s[4:5], v1, s2 src0_sel:BYTE_2 src1_sel:BYTE_0; v_cndmask_b32_e64 v0, 0, 1, s[4:5] */;
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[1][3] = 0x0055_0000;
    m.wave.sgpr[2] = 0xff55;
    m.wave.set_exec(0xff);
    m.ends(words);
    assert_eq!(m.wave.sgpr64(4), 8);
}

#[test]
fn dpp() {
    let mut m = numbered(Gfx803);
    m.ends(
        &[0x7e00_02fa, 0xff01_1101], /* v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf */
    );
    assert_eq!(
        (m.wave.vgpr[0][1], m.wave.vgpr[0][0], m.wave.vgpr[0][16]),
        (100, 7, 7)
    );
    let mut m = numbered(Gfx803);
    m.ends(&[0x7e00_02fa, 0xff09_1101] /* v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0 */);
    assert_eq!(
        (m.wave.vgpr[0][1], m.wave.vgpr[0][0], m.wave.vgpr[0][16]),
        (100, 0, 0)
    );
    let mut m = numbered(Gfx803);
    m.ends(&[0x7e00_02fa, 0xaf01_4201] /* v_mov_b32_dpp v0, v1 row_bcast:15 row_mask:0xa bank_mask:0xf */);
    assert_eq!(
        (m.wave.vgpr[0][16], m.wave.vgpr[0][32], m.wave.vgpr[0][48]),
        (115, 7, 147)
    );
    let mut m = numbered(Gfx803);
    m.ends(&[0x7e00_02fa, 0x1200_1b01] /* v_mov_b32_dpp v0, v1 quad_perm:[3,2,1,0] row_mask:0x1 bank_mask:0x2 */);
    assert_eq!(
        (m.wave.vgpr[0][4], m.wave.vgpr[0][0], m.wave.vgpr[0][20]),
        (107, 7, 7)
    );
    // A source lane that is off: the lane keeps its value, or reads 0 with bound_ctrl.
    let mut m = numbered(Gfx803);
    m.wave.set_exec(!2);
    m.ends(
        &[0x7e00_02fa, 0xff01_1101], /* v_mov_b32_dpp v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf */
    );
    assert_eq!(
        (m.wave.vgpr[0][2], m.wave.vgpr[0][1], m.wave.vgpr[0][3]),
        (7, 7, 102)
    );
    let mut m = numbered(Gfx803);
    m.wave.set_exec(!2);
    m.ends(&[0x3200_02fa, 0xff09_1101] /* v_add_u32_dpp v0, vcc, v1, v1 row_shr:1 row_mask:0xf bank_mask:0xf bound_ctrl:0 */);
    assert_eq!(
        (m.wave.vgpr[0][2], m.wave.vgpr[0][1], m.wave.vgpr[0][3]),
        (102, 7, 205)
    );
    let mut m = numbered(Gfx803);
    m.wave.vgpr[1] = [0x3f80_0000; 64];
    m.ends(&[0x0200_02fa, 0xff91_2301] /* v_add_f32_dpp v0, -v1, |v1| row_ror:3 row_mask:0xf bank_mask:0xf */);
    assert_eq!(m.wave.vgpr[0], [0; 64]);
}

#[test]
fn packed() {
    lanes32(
        Gfx900,
        MODE,
        &[0xd38a_4000, 0x1802_0501], /* v_pk_add_u16 v0, v1, v2 */
        &[[0xffff_0001, 0x0001_0002, 0, 3]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38a_c000, 0x1802_0501], /* v_pk_add_u16 v0, v1, v2 clamp */
        &[[0xffff_0001, 0x0001_0002, 0, 0xffff_0003]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd383_c000, 0x1802_0501], /* v_pk_sub_i16 v0, v1, v2 clamp */
        &[[0x8000_0001, 0x0001_0002, 0, 0x8000_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38b_c000, 0x1802_0501], /* v_pk_sub_u16 v0, v1, v2 clamp */
        &[[0x8000_0001, 0x0001_0002, 0, 0x7fff_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd381_4000, 0x0802_0501], /* v_pk_mul_lo_u16 v0, v1, v2 op_sel_hi:[1,0] */
        &[[0x0003_0005, 0x0007_0002, 0, 0x0006_000a]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd384_4000, 0x1802_0501], /* v_pk_lshlrev_b16 v0, v1, v2 */
        &[[0x0011_0001, 0x0003_0003, 0, 0x0006_0006]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd386_4000, 0x1802_0501], /* v_pk_ashrrev_i16 v0, v1, v2 */
        &[[0x0004_000f, 0x8000_8000, 0, 0xf800_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd389_c000, 0x1c0e_0501], /* v_pk_mad_u16 v0, v1, v2, v3 clamp */
        &[[0x0100_0002, 0x0100_0003, 0x0000_0001, 0xffff_0007]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd388_4000, 0x1802_0501], /* v_pk_min_i16 v0, v1, v2 */
        &[[0xffff_0001, 0x0001_ffff, 0, 0xffff_ffff]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38f_4000, 0x1801_e501], /* v_pk_add_f16 v0, v1, 1.0 */
        &[[0x3c00_3c00, 0, 0, 0x3c00_4000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38f_4200, 0x3802_0501], /* v_pk_add_f16 v0, v1, v2 neg_lo:[1,0] neg_hi:[0,1] */
        &[[0x4200_3c00, 0x3c00_4200, 0, 0x4000_4000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38e_5000, 0x140e_0501], /* v_pk_fma_f16 v0, v1, v2, v3 op_sel:[0,1,0] op_sel_hi:[0,1,1] */
        &[[0x0000_4000, 0x4200_3c00, 0x3c00_0000, 0x4700_4600]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd392_4000, 0x1802_0501], /* v_pk_max_f16 v0, v1, v2 */
        &[[0x7e00_8000, 0x3c00_0000, 0, 0x3c00_0000]],
    );
    lanes32(
        Gfx900,
        MODE,
        &[0xd38a_4000, 0x1801_0301], /* v_pk_add_u16 v0, v1, 1 */
        &[[0x0005_0005, 0, 0, 0x0005_0006]],
    );
}

#[test]
fn mixed() {
    // 2 (high half) * 3 + 1
    let words = &[0xd3a0_0800, 0x0c0e_0501] /* v_mad_mix_f32 v0, v1, v2, v3 op_sel:[1,0,0] op_sel_hi:[1,0,0] */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x4000_0000, 0x4040_0000, 0x3f80_0000, 0x40e0_0000]],
    );
    let words = &[0xd3a0_0100, 0x240e_0501] /* v_mad_mix_f32 v0, -|v1|, v2, v3 */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0xc000_0000, 0x4040_0000, 0x3f80_0000, 0xc0a0_0000]],
    );
    let words = &[0x7e00_0303, 0xd3a1_0000, 0x0202_0501] /* v_mov_b32 v0, v3; v_mad_mixlo_f16 v0, v1, v2, 0 */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x4000_0000, 0x4040_0000, 0xabcd_0000, 0xabcd_4600]],
    );
    let words = &[0x7e00_0303, 0xd3a2_0000, 0x0202_0501] /* v_mov_b32 v0, v3; v_mad_mixhi_f16 v0, v1, v2, 0 */;
    lanes32(
        Gfx900,
        MODE,
        words,
        &[[0x4000_0000, 0x4040_0000, 0xabcd_1234, 0x4600_1234]],
    );
    // Denormals: flushed by the unfused form, kept by the fused one.
    lanes32(
        Gfx900,
        MODE,
        &[0xd3a0_0000, 0x040d_e501], /* v_mad_mix_f32 v0, v1, 1.0, v3 */
        &[[5, 0, 0, 0]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0xd3a0_0000, 0x040d_e501], /* v_fma_mix_f32 v0, v1, 1.0, v3 */
        &[[5, 0, 0, 5]],
    );
}

#[test]
fn dot_products() {
    lanes32(
        Gfx906,
        MODE,
        &[0xd3a8_4000, 0x1c0e_0501], /* v_dot4_i32_i8 v0, v1, v2, v3 */
        &[[0x0102_03ff, 0x0101_0105, 10, 11]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0xd3a9_c000, 0x1c0e_0501], /* v_dot4_u32_u8 v0, v1, v2, v3 clamp */
        &[[u32::MAX, u32::MAX, u32::MAX, u32::MAX]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0xd3aa_4000, 0x1c0e_0501], /* v_dot8_i32_i4 v0, v1, v2, v3 */
        &[[0x1000_000f, 0x2000_0003, 10, 9]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0xd3a6_4000, 0x1c0e_0501], /* v_dot2_i32_i16 v0, v1, v2, v3 */
        &[[0xffff_0002, 0x0003_0004, 10, 15]],
    );
    lanes32(
        Gfx906,
        MODE,
        &[0xd3a3_4000, 0x1c0e_0501], /* v_dot2_f32_f16 v0, v1, v2, v3 */
        &[[0x4000_3c00, 0x4200_4200, 0x3f80_0000, 0x4120_0000]],
    );
}

#[test]
fn lanes_of_scalars() {
    let mut m = numbered(Gfx900);
    m.wave.set_exec(0xf0);
    m.ends(
        &[
            0x7e00_0501,
            0xd289_0001,
            0x0001_7f01,
            0xd28a_0000,
            0x0001_0400,
        ], /* v_readfirstlane_b32 s0, v1; v_readlane_b32 s1, v1, 63; v_writelane_b32 v0, s0, 2 */
    );
    assert_eq!(m.wave.sgpr[..2], [104, 163]);
    assert_eq!((m.wave.vgpr[0][2], m.wave.vgpr[0][4]), (104, 7));
    m.wave.set_exec(0);
    m.ends(&[0x7e00_0501] /* v_readfirstlane_b32 s0, v1 */);
    assert_eq!(m.wave.sgpr[0], 100);
    let mut m = numbered(Gfx900);
    m.wave.set_exec(1);
    m.ends(&[0x7e00_a301] /* v_swap_b32 v0, v1 */);
    assert_eq!(
        (m.wave.vgpr[0][0], m.wave.vgpr[1][0], m.wave.vgpr[1][1]),
        (100, 7, 101)
    );
    // Each lane counts the set bits below it.
    let mut m = Machine::new(Gfx900);
    m.ends(&[0xd28c_0000, 0x0001_00c1, 0xd28d_0000, 0x0002_00c1] /* v_mbcnt_lo_u32_b32 v0, -1, 0; v_mbcnt_hi_u32_b32 v0, -1, v0 */);
    assert_eq!(m.wave.vgpr[0], std::array::from_fn(|l| l as u32));
}

#[test]
fn indexed_registers() {
    let mut m = numbered(Gfx900);
    m.wave.vgpr[5] = [55; 64];
    m.wave.sgpr[2] = 4;
    m.ends(&[0xbf11_0102, 0x7e00_0301, 0xbf9c_0000, 0x7e04_0301] /* s_set_gpr_idx_on s2, 0x1; v_mov_b32 v0, v1; s_set_gpr_idx_off; v_mov_b32 v2, v1 */);
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[2][0]), (55, 100));
    assert_eq!(m.wave.sgpr[124], 0xffff_1f04, "other bits of M0 stay");
    let mut m = numbered(Gfx900);
    m.wave.sgpr[2] = 4;
    m.ends(&[0xbf11_0802, 0x7e00_0301, 0xbf9c_0000] /* s_set_gpr_idx_on s2, 0x8; v_mov_b32 v0, v1; s_set_gpr_idx_off */);
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[4][0]), (7, 100));
    // Outside: the source is v0, the destination is dropped.
    let mut m = numbered(Gfx900);
    m.wave.vgpr_count = 8;
    m.wave.sgpr[2] = 8;
    m.ends(&[0xbf11_0102, 0x7e04_0301, 0xbf9d_0008, 0x7e06_0285, 0xbf9c_0000] /* s_set_gpr_idx_on s2, 0x1; v_mov_b32 v2, v1; s_set_gpr_idx_mode 8; v_mov_b32 v3, 5; s_set_gpr_idx_off */);
    assert_eq!(
        (m.wave.vgpr[2][0], m.wave.vgpr[3][0], m.wave.vgpr[11][0]),
        (7, 0, 0)
    );
    let mut m = numbered(Gfx700);
    m.wave.sgpr[124] = 1;
    m.wave.vgpr[3] = [33; 64];
    m.ends(
        &[0x7e00_8702, 0x7e08_8501], /* v_movrels_b32 v0, v2; v_movreld_b32 v4, v1 */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[5][9]), (33, 109));
}

#[test]
fn lds_direct_and_specials() {
    let mut m = Machine::new(Gfx900);
    m.lds.bytes_mut()[8..12].copy_from_slice(&0x8122_3384u32.to_le_bytes());
    m.wave.sgpr[124] = 8 | 2 << 16;
    m.ends(&[0x7e00_02fe] /* v_mov_b32 v0, src_lds_direct */);
    m.wave.sgpr[124] = 8 | 4 << 16;
    m.ends(&[0x7e02_02fe] /* v_mov_b32 v1, src_lds_direct */);
    assert_eq!(
        (m.wave.vgpr[0][9], m.wave.vgpr[1][9]),
        (0x8122_3384, 0xffff_ff84)
    );
    m.wave.scc = 1;
    m.ends(&[0x7e04_02fb, 0x7e06_02fd, 0x7e08_02fc] /* v_mov_b32 v2, src_vccz; v_mov_b32 v3, src_scc; v_mov_b32 v4, src_execz */);
    assert_eq!(
        (m.wave.vgpr[2][0], m.wave.vgpr[3][0], m.wave.vgpr[4][0]),
        (1, 1, 0)
    );
}
