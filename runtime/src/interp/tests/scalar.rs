//! Vectors of the scalar ALU and of program control.

use frontend::Gfx::{Gfx700, Gfx803, Gfx900};
use frontend::state::mode;

use crate::engine::Exit;
use crate::interp::testing::{Machine, scalar32, scalar64};

const ONES: u32 = u32::MAX;

#[test]
fn arithmetic_and_scc() {
    scalar32(
        Gfx900,
        &[0x8000_0302], /* s_add_u32 s0, s2, s3 */
        &[[1, 2, 1, 3, 0], [ONES, 1, 0, 0, 1]],
    );
    scalar32(
        Gfx900,
        &[0x8100_0302], /* s_add_i32 s0, s2, s3 */
        &[[0x7fff_ffff, 1, 0, 0x8000_0000, 1], [ONES, 1, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8080_0302], /* s_sub_u32 s0, s2, s3 */
        &[[1, 2, 0, ONES, 1], [2, 1, 1, 1, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8180_0302], /* s_sub_i32 s0, s2, s3 */
        &[[0x8000_0000, 1, 0, 0x7fff_ffff, 1], [1, 2, 1, ONES, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8200_0302], /* s_addc_u32 s0, s2, s3 */
        &[[ONES, 0, 1, 0, 1], [ONES, 0, 0, ONES, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8280_0302], /* s_subb_u32 s0, s2, s3 */
        &[[5, ONES, 1, 5, 1], [5, 5, 1, ONES, 1], [5, 4, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8300_0302], /* s_min_i32 s0, s2, s3 */
        &[[ONES, 1, 0, ONES, 1], [1, 1, 1, 1, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8480_0302], /* s_max_u32 s0, s2, s3 */
        &[[ONES, 1, 0, ONES, 1], [1, 1, 1, 1, 0]],
    );
    scalar32(
        Gfx900,
        &[0x9200_0302], /* s_mul_i32 s0, s2, s3 */
        &[[ONES, 3, 1, ONES - 2, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9680_0302], /* s_mul_hi_i32 s0, s2, s3 */
        &[[ONES, 3, 1, ONES, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9600_0302], /* s_mul_hi_u32 s0, s2, s3 */
        &[[ONES, 3, 1, 2, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9500_0302], /* s_absdiff_i32 s0, s2, s3 */
        &[
            [2, 5, 0, 3, 1],
            [0x8000_0000, 0, 0, 0x8000_0000, 1],
            [7, 7, 1, 0, 0],
        ],
    );
    scalar32(
        Gfx900,
        &[0xbe80_3002], /* s_abs_i32 s0, s2 */
        &[
            [ONES, 0, 0, 1, 1],
            [0x8000_0000, 0, 0, 0x8000_0000, 1],
            [0, 0, 1, 0, 0],
        ],
    );
    scalar32(
        Gfx900,
        &[0x9780_0302], /* s_lshl2_add_u32 s0, s2, s3 */
        &[
            [1, 3, 0, 7, 0],
            [0x4000_0000, 3, 0, 3, 1],
            [0x3fff_ffff, 4, 0, 0, 1],
        ],
    );
    scalar32(
        Gfx900,
        &[0xb702_fffd, 0xbe80_0002], /* s_addk_i32 s2, -3; s_mov_b32 s0, s2 */
        &[[5, 0, 1, 2, 0], [0x8000_0001, 0, 0, 0x7fff_fffe, 1]],
    );
    scalar32(
        Gfx900,
        &[0xb782_fffd, 0xbe80_0002], /* s_mulk_i32 s2, -3; s_mov_b32 s0, s2 */
        &[[5, 0, 1, ONES - 14, 1]],
    );
}

#[test]
fn bits_and_shifts() {
    scalar32(
        Gfx900,
        &[0x8900_0302], /* s_andn2_b32 s0, s2, s3 */
        &[[6, 3, 0, 4, 1], [6, 7, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8a00_0302], /* s_orn2_b32 s0, s2, s3 */
        &[[1, 0xffff_fff0, 0, 15, 1]],
    );
    scalar32(
        Gfx900,
        &[0x8d00_0302], /* s_xnor_b32 s0, s2, s3 */
        &[[5, !5, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8e00_0302], /* s_lshl_b32 s0, s2, s3 */
        &[[1, 33, 0, 2, 1], [1 << 31, 1, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x9000_0302], /* s_ashr_i32 s0, s2, s3 */
        &[[0x8000_0000, 31, 0, ONES, 1]],
    );
    scalar64(
        Gfx900,
        &[0x8f80_0402], /* s_lshr_b64 s[0:1], s[2:3], s4 */
        &[[1 << 63, 63, 0, 1, 1], [1 << 63, 64, 0, 1 << 63, 1]],
    );
    scalar64(
        Gfx900,
        &[0x9080_0402], /* s_ashr_i64 s[0:1], s[2:3], s4 */
        &[[1 << 63, 62, 0, u64::MAX - 1, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9100_0302], /* s_bfm_b32 s0, s2, s3 */
        &[[4, 8, 1, 0xf00, 1], [32, 8, 1, 0, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9280_0302], /* s_bfe_u32 s0, s2, s3 */
        &[
            [0xabcd_1234, 8 << 16 | 8, 0, 0x12, 1],
            [0xabcd_1234, 8, 1, 0, 0],
            [0xabcd_1234, 64 << 16 | 16, 0, 0xabcd, 1],
            [0xabcd_1234, 40 << 16, 0, 0xabcd_1234, 1],
        ],
    );
    scalar32(
        Gfx900,
        &[0x9300_0302], /* s_bfe_i32 s0, s2, s3 */
        &[
            [0xabcd_f234, 8 << 16 | 8, 0, 0xffff_fff2, 1],
            [0x8000_0000, 9 << 16 | 28, 0, 0xffff_fff8, 1],
        ],
    );
    scalar64(
        Gfx900,
        &[0x9400_0402], /* s_bfe_i64 s[0:1], s[2:3], s4 */
        &[
            [0x80 << 32, 8 << 16 | 32, 0, (-128i64) as u64, 1],
            [0x80 << 32, 64 << 16, 0, 0x80 << 32, 1],
        ],
    );
    scalar32(
        Gfx900,
        &[0xbe80_0802], /* s_brev_b32 s0, s2 */
        &[[1, 0, 1, 1 << 31, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_0a02], /* s_bcnt0_i32_b32 s0, s2 */
        &[[ONES, 0, 1, 0, 0], [5, 0, 0, 30, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_0180, 0xbe80_0d02], /* s_mov_b64 s[0:1], 0; s_bcnt1_i32_b64 s0, s[2:3] */
        &[[7 << 40, 0, 0, 3, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_0e02], /* s_ff0_i32_b32 s0, s2 */
        &[[ONES, 0, 1, ONES, 1], [7, 0, 1, 3, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_1002], /* s_ff1_i32_b32 s0, s2 */
        &[[0, 0, 1, ONES, 1], [8, 0, 1, 3, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_1202], /* s_flbit_i32_b32 s0, s2 */
        &[[0, 0, 1, ONES, 1], [0xcccc, 0, 1, 16, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_1402], /* s_flbit_i32 s0, s2 */
        &[
            [0, 0, 1, ONES, 1],
            [ONES, 0, 1, ONES, 1],
            [0x8000_0000, 0, 1, 1, 1],
            [0xffff_0000, 0, 1, 16, 1],
        ],
    );
    scalar64(
        Gfx900,
        &[0xbe80_0180, 0xbe80_1502], /* s_mov_b64 s[0:1], 0; s_flbit_i32_i64 s0, s[2:3] */
        &[[1, 0, 1, 63, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_1702], /* s_sext_i32_i16 s0, s2 */
        &[[0x1_8000, 0, 1, 0xffff_8000, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbe83_1a02, 0xbe80_0003], /* s_bitset1_b32 s3, s2; s_mov_b32 s0, s3 */
        &[[33, 1, 1, 3, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe82_1904, 0xbe80_0102], /* s_bitset0_b64 s[2:3], s4; s_mov_b64 s[0:1], s[2:3] */
        &[[u64::MAX, 63, 1, u64::MAX >> 1, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_0702], /* s_wqm_b64 s[0:1], s[2:3] */
        &[[0x8000_0000_0000_0020, 0, 0, 0xf000_0000_0000_00f0, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_2902], /* s_quadmask_b64 s[0:1], s[2:3] */
        &[[0x8000_0000_0000_0020, 0, 0, 0x8002, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_3702], /* s_bitreplicate_b64_b32 s[0:1], s2 */
        &[[0x8000_0005, 0, 1, 0xc000_0000_0000_0033, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9980_0302], /* s_pack_lh_b32_b16 s0, s2, s3 */
        &[[0x1111_2222, 0x3333_4444, 1, 0x3333_2222, 1]],
    );
    scalar32(
        Gfx900,
        &[0x9a00_0302], /* s_pack_hh_b32_b16 s0, s2, s3 */
        &[[0x1111_2222, 0x3333_4444, 1, 0x3333_1111, 1]],
    );
}

#[test]
fn constants_of_64_bits() {
    scalar64(
        Gfx900,
        &[0xbe80_01f2], /* s_mov_b64 s[0:1], 1.0 */
        &[[0, 0, 1, 0x3ff0_0000_0000_0000, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_01c3], /* s_mov_b64 s[0:1], -3 */
        &[[0, 0, 1, (-3i64) as u64, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_01ff, 0x8765_4321], /* s_mov_b64 s[0:1], 0x87654321 */
        &[[0, 0, 1, 0x8765_4321, 1]],
    );
    scalar64(
        Gfx900,
        &[0xbe80_01eb], /* s_mov_b64 s[0:1], src_shared_base */
        &[[0, 0, 1, 1 << 48, 1]],
    );
}

#[test]
fn comparisons_and_selection() {
    scalar32(
        Gfx900,
        &[0xbf04_0302], /* s_cmp_lt_i32 s2, s3 */
        &[[ONES, 1, 0, 0, 1], [1, 1, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0xbf0a_0302], /* s_cmp_lt_u32 s2, s3 */
        &[[ONES, 1, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0xb402_ffff], /* s_cmpk_eq_u32 s2, 0xffff */
        &[[0xffff, 0, 0, 0, 1], [ONES, 0, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0xb102_ffff], /* s_cmpk_eq_i32 s2, -1 */
        &[[0xffff, 0, 1, 0, 0], [ONES, 0, 0, 0, 1]],
    );
    scalar32(
        Gfx900,
        &[0xbf0d_0302], /* s_bitcmp1_b32 s2, s3 */
        &[[4, 34, 0, 0, 1], [4, 1, 1, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0x8500_0302], /* s_cselect_b32 s0, s2, s3 */
        &[[1, 2, 1, 1, 1], [1, 2, 0, 2, 0]],
    );
    scalar32(
        Gfx900,
        &[0xbe80_0202], /* s_cmov_b32 s0, s2 */
        &[[1, 0, 1, 1, 1], [1, 0, 0, 0, 0]],
    );
    scalar32(
        Gfx900,
        &[0xb080_fffe], /* s_cmovk_i32 s0, -2 */
        &[[1, 0, 1, ONES - 1, 1], [1, 0, 0, 0, 0]],
    );
}

#[test]
fn exec_families() {
    let run = |words: &[u32], exec: u64, s0: u64| {
        let mut m = Machine::new(Gfx900);
        m.wave.set_exec(exec);
        m.set64(2, s0).ends(words);
        (m.wave.sgpr64(0), m.wave.exec(), m.wave.scc)
    };
    assert_eq!(
        run(
            &[0xbe80_2002], /* s_and_saveexec_b64 s[0:1], s[2:3] */
            12,
            10
        ),
        (12, 8, 1)
    );
    assert_eq!(
        run(
            &[0xbe80_2302], /* s_andn2_saveexec_b64 s[0:1], s[2:3] */
            12,
            10
        ),
        (12, 2, 1)
    );
    assert_eq!(
        run(
            &[0xbe80_2402], /* s_orn2_saveexec_b64 s[0:1], s[2:3] */
            !12,
            2
        ),
        (!12, 14, 1)
    );
    assert_eq!(
        run(
            &[0xbe80_3302], /* s_andn1_saveexec_b64 s[0:1], s[2:3] */
            12,
            12
        ),
        (12, 0, 0)
    );
    assert_eq!(
        run(
            &[0xbe80_3602], /* s_andn2_wrexec_b64 s[0:1], s[2:3] */
            12,
            10
        ),
        (2, 2, 1)
    );
    // D is written after S0 was read.
    let mut m = Machine::new(Gfx900);
    m.wave.set_exec(7);
    m.set64(2, 3)
        .ends(&[0xbe82_2002] /* s_and_saveexec_b64 s[2:3], s[2:3] */);
    assert_eq!((m.wave.sgpr64(2), m.wave.exec()), (7, 3));
}

#[test]
fn jumps() {
    // Skips the second move.
    let mut m = Machine::new(Gfx900);
    m.ends(
        &[0xbe80_0081, 0xbf82_0001, 0xbe80_0082], /* s_mov_b32 s0, 1; s_branch 1; s_mov_b32 s0, 2 */
    );
    assert_eq!(m.wave.sgpr[0], 1);
    // A loop of three iterations.
    let mut m = Machine::new(Gfx900);
    m.ends(&[0x8000_8100, 0xbf0a_8300, 0xbf85_fffd] /* s_add_u32 s0, s0, 1; s_cmp_lt_u32 s0, 3; s_cbranch_scc1 65533 */);
    assert_eq!(m.wave.sgpr[0], 3);
    // A call and the return.
    let mut m = Machine::new(Gfx900);
    m.ends(&[0xba82_0002, 0xbe80_0087, 0xbf82_0002, 0xbe81_0085, 0xbe80_1d02] /* s_call_b64 s[2:3], 2; s_mov_b32 s0, 7; s_branch 2; s_mov_b32 s1, 5; s_setpc_b64 s[2:3] */);
    assert_eq!(m.wave.sgpr[..2], [7, 5]);
    // An endless loop runs out of fuel.
    let mut m = Machine::new(Gfx900);
    assert_eq!(m.run(&[0xbf82_ffff] /* s_branch 65535 */), Exit::Yield);
    assert_eq!(m.run(&[0xbf8a_0000] /* s_barrier */), Exit::Barrier);
    assert_eq!(
        m.fault(&[0xbf92_0002] /* s_trap 2 */),
        "stopped at trap 2 (llvm.trap)"
    );
    m.ends(&[0xbf92_0003] /* s_trap 3 */);
}

#[test]
fn forks_run_the_smaller_side_first() {
    // Lanes 0 to 2 pass, the others fail: the passing side runs first.
    let words = &[0xb808_0002, 0xbe8c_017e, 0xbf82_0001, 0xbe8e_017e, 0xbe80_2e10] /* s_cbranch_i_fork s[8:9], 2; s_mov_b64 s[12:13], exec; s_branch 1; s_mov_b64 s[14:15], exec; s_cbranch_join s16 */;
    let mut m = Machine::new(Gfx900);
    m.wave.set_exec(0xff);
    m.set64(8, 7).ends(words);
    assert_eq!(m.wave.sgpr64(14), 7);
    assert_eq!(m.wave.sgpr64(12), 0xf8);
    assert_eq!(m.wave.exec(), 0xf8);
    assert_eq!(m.wave.mode >> 29, 0);
    // All lanes pass: nothing is pushed.
    let mut m = Machine::new(Gfx900);
    m.wave.set_exec(7);
    m.set64(8, 7).ends(words);
    assert_eq!((m.wave.sgpr64(14), m.wave.sgpr64(12)), (7, 0));
}

#[test]
fn hardware_registers() {
    let mut m = Machine::new(Gfx900);
    m.ends(&[0xba00_0901, 0x0000_0000, 0xb880_1901] /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 0; s_getreg_b32 s0, hwreg(HW_REG_MODE, 4, 4) */);
    assert_eq!((m.wave.mode, m.wave.sgpr[0]), (0x3c0, 12));
    let mut m = Machine::new(Gfx900);
    m.wave.sgpr[1] = 0xffff_fff5;
    m.ends(
        &[0xb901_1801], /* s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s1 */
    );
    assert_eq!(m.wave.mode, 0x3f5);
    let mut m = Machine::new(Gfx900);
    m.ends(
        &[0xb880_f80f], /* s_getreg_b32 s0, hwreg(HW_REG_SH_MEM_BASES) */
    );
    assert_eq!(m.wave.sgpr[0], 1 << 16 | 2);
    let mut m = Machine::new(Gfx900);
    m.wave.set_exec(0);
    m.wave.scc = 1;
    m.ends(
        &[0xb880_f802], /* s_getreg_b32 s0, hwreg(HW_REG_STATUS) */
    );
    assert_eq!(m.wave.sgpr[0] & 0x601, 0x601);
}

#[test]
fn relative_moves() {
    let mut m = Machine::new(Gfx700);
    m.wave.sgpr[124] = 3;
    m.wave.sgpr[5] = 77;
    m.ends(
        &[0xbe80_2e02, 0xbe86_3000], /* s_movrels_b32 s0, s2; s_movreld_b32 s6, s0 */
    );
    assert_eq!((m.wave.sgpr[0], m.wave.sgpr[9]), (77, 77));
    // Far outside: the source is s0, the destination is dropped.
    let mut m = Machine::new(Gfx700);
    m.wave.sgpr[124] = 0xffff_fff0;
    m.wave.sgpr[0] = 5;
    let before = m.wave.sgpr;
    m.ends(
        &[0xbe86_3002, 0xbe81_2e02], /* s_movreld_b32 s6, s2; s_movrels_b32 s1, s2 */
    );
    assert_eq!(m.wave.sgpr[1], 5);
    assert_eq!(m.wave.sgpr[2..], before[2..]);
}

#[test]
fn vskip_skips_vector_instructions() {
    let mut m = Machine::new(Gfx803);
    m.ends(&[0xbf10_8081, 0x7e00_0281, 0xbf10_8080, 0x7e02_0281] /* s_setvskip 1, 0; v_mov_b32 v0, 1; s_setvskip 0, 0; v_mov_b32 v1, 1 */);
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[1][0]), (0, 1));
    assert_eq!(m.wave.mode & mode::VSKIP, 0);
}
