//! Vectors of the memory instructions.

use frontend::Gfx::{self, Gfx600, Gfx700, Gfx803, Gfx900, Gfx906};
use frontend::inst::M0;

use crate::engine::{PRIVATE_BASE, SHARED_BASE, Scratch};
use crate::interp::testing::Machine;

/// A machine with `words` in a buffer whose address is in s[0:1] and in v[2:3] of every lane, 4 bytes
/// a lane apart.
fn with_buffer(gfx: Gfx, words: &[u32]) -> (Machine, u64) {
    let mut m = Machine::new(gfx);
    let address = m.memory.alloc(4 * words.len() as u64, 256).unwrap();
    m.memory.store_dwords(address, words).unwrap();
    m.set64(0, address);
    for lane in 0..64 {
        m.set_lane64(2, lane, address + 4 * lane as u64);
    }
    m.wave.vgpr[1] = std::array::from_fn(|l| 4 * l as u32);
    (m, address)
}

fn counting() -> Vec<u32> {
    (0..256).collect()
}

#[test]
fn scalar_loads() {
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.ends(&[0xc00a_0100, 0x0000_0012, 0xbe82_00a1, 0xc000_0200, 0x0000_0002, 0xbf8c_c07f] /* s_load_dwordx4 s[4:7], s[0:1], 0x12; s_mov_b32 s2, 0x21; s_load_dword s8, s[0:1], s2; s_waitcnt lgkmcnt(0) */);
    assert_eq!(
        m.wave.sgpr[4..9],
        [4, 5, 6, 7, 8],
        "the low two bits are ignored"
    );
    let (mut m, _) = with_buffer(Gfx700, &counting());
    m.ends(&[0xc042_0103, 0xc003_0164] /* s_load_dwordx2 s[4:5], s[0:1], 0x3; s_load_dword s6, s[0:1], 0x64 */);
    assert_eq!(m.wave.sgpr[4..7], [3, 4, 100], "immediates count dwords");
    // The destination may hold the address.
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.ends(
        &[0xc006_0000, 0x0000_0008], /* s_load_dwordx2 s[0:1], s[0:1], 0x8 */
    );
    assert_eq!(m.wave.sgpr[..2], [2, 3]);
    let (mut m, address) = with_buffer(Gfx900, &counting());
    m.wave.sgpr[5] = 77;
    m.ends(
        &[
            0xc042_0140,
            0x0000_0010,
            0xc20b_0140,
            0x0000_0010,
            0xc084_0000,
            0x0000_0000,
        ], /* s_store_dword s5, s[0:1], 0x10; s_atomic_add s5, s[0:1], 0x10 glc; s_dcache_wb */
    );
    assert_eq!(m.memory.load_u32(address + 16).unwrap(), 154);
    assert_eq!(m.wave.sgpr[5], 77);
    let mut m = Machine::new(Gfx900);
    assert_eq!(
        m.fault(
            &[0xc002_0100, 0x0000_0010] /* s_load_dword s4, s[0:1], 0x10 */
        ),
        "read 4 bytes at 0x10, 16 bytes from a null pointer"
    );
    let before = m.wave.pc;
    m.run(&[0xc090_0100, 0x0000_0000, 0xc090_0180, 0x0000_0000] /* s_memtime s[4:5]; s_memtime s[6:7] */);
    assert!(m.wave.sgpr64(4) <= m.wave.sgpr64(6) && before != 0);
}

#[test]
fn scalar_buffers_end_at_their_size() {
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.wave.sgpr[2] = 24;
    m.wave.sgpr[3] = 0x24fac;
    m.wave.sgpr[8..12].fill(9);
    m.ends(
        &[0xc02a_0200, 0x0000_0010], /* s_buffer_load_dwordx4 s[8:11], s[0:3], 0x10 */
    );
    assert_eq!(m.wave.sgpr[8..12], [4, 5, 0, 0]);
    // With a stride the size is stride times records.
    m.wave.sgpr[1] |= 8 << 16;
    m.wave.sgpr[2] = 4;
    m.ends(
        &[0xc02a_0200, 0x0000_0018], /* s_buffer_load_dwordx4 s[8:11], s[0:3], 0x18 */
    );
    assert_eq!(m.wave.sgpr[8..12], [6, 7, 0, 0]);
}

#[test]
fn global_memory() {
    let (mut m, address) = with_buffer(Gfx900, &counting());
    m.wave.set_exec(!1);
    m.ends(&[0xdc50_8004, 0x007f_0002, 0xdc50_8000, 0x0400_0001] /* global_load_dword v0, v[2:3], off offset:4; global_load_dword v4, v1, s[0:1] */);
    assert_eq!(
        (m.wave.vgpr[0][5], m.wave.vgpr[0][0], m.wave.vgpr[4][63]),
        (6, 0, 63)
    );
    m.ends(
        &[0xdc50_9ffc, 0x007f_0002], /* global_load_dword v0, v[2:3], off offset:-4 */
    );
    assert_eq!(m.wave.vgpr[0][5], 4);
    // The destination may be the address.
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.ends(
        &[0xdc54_8000, 0x027f_0002], /* global_load_dwordx2 v[2:3], v[2:3], off */
    );
    assert_eq!((m.wave.vgpr[2][7], m.wave.vgpr[3][7]), (7, 8));
    let (mut m, _) = with_buffer(Gfx900, &[0x8182_8384; 128]);
    m.wave.vgpr[0] = [0x1111_2222; 64];
    m.wave.vgpr[5] = [0x1111_2222; 64];
    m.ends(&[0xdc44_8001, 0x047f_0002, 0xdc90_8000, 0x007f_0002, 0xdc84_8000, 0x057f_0002] /* global_load_sbyte v4, v[2:3], off offset:1; global_load_short_d16 v0, v[2:3], off; global_load_ubyte_d16_hi v5, v[2:3], off */);
    assert_eq!(
        (m.wave.vgpr[4][0], m.wave.vgpr[0][0], m.wave.vgpr[5][0]),
        (0xffff_ff83, 0x1111_8384, 0x0084_2222)
    );
    let (mut m, _) = with_buffer(Gfx906, &[0x8182_8384; 128]);
    m.wave.vgpr[0] = [0x1111_2222; 64];
    m.ends(
        &[0xdc90_8000, 0x007f_0002], /* global_load_short_d16 v0, v[2:3], off */
    );
    assert_eq!(
        m.wave.vgpr[0][0], 0x8384,
        "with SRAM ECC the other half is zeroed"
    );
    // Stores to one address: the highest lane wins. Atomics return in lane order.
    let (mut m, a) = with_buffer(Gfx900, &counting());
    m.wave.vgpr[5] = std::array::from_fn(|l| 1000 + l as u32);
    m.ends(&[0x7e02_0280, 0xdc70_8008, 0x0000_0501] /* v_mov_b32 v1, 0; global_store_dword v1, v5, s[0:1] offset:8 */);
    assert_eq!(m.memory.load_u32(a + 8).unwrap(), 1063);
    m.ends(&[0x7e08_0281, 0xdd09_8000, 0x0600_0401] /* v_mov_b32 v4, 1; global_atomic_add v6, v1, v4, s[0:1] glc */);
    assert_eq!(m.wave.vgpr[6], std::array::from_fn(|l| l as u32));
    m.ends(&[0x7e0e_02c0, 0x7e0c_0285, 0xdd04_8000, 0x0000_0601] /* v_mov_b32 v7, 64; v_mov_b32 v6, 5; global_atomic_cmpswap v1, v[6:7], s[0:1] */);
    assert_eq!(
        m.memory.load_u32(a).unwrap(),
        5,
        "data is the new value, then the compare value"
    );
    let _ = address;
}

#[test]
fn faults_of_memory() {
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.set_lane64(2, 17, 4);
    assert_eq!(
        m.fault(
            &[0xdc50_8000, 0x007f_0002] /* global_load_dword v0, v[2:3], off */
        ),
        "lane 17 read 4 bytes at 0x4, 4 bytes from a null pointer"
    );
    m.wave.set_exec(!(1 << 17));
    m.ends(
        &[0xdc50_8000, 0x007f_0002], /* global_load_dword v0, v[2:3], off */
    );
    let (mut m, a) = with_buffer(Gfx900, &counting());
    m.set_lane64(2, 3, a + 2);
    assert_eq!(
        m.fault(
            &[0xdd08_8000, 0x007f_0002] /* global_atomic_add v[2:3], v0, off */
        ),
        format!(
            "lane 3 atomically updated 4 bytes at 0x{:x}, which is not aligned to 4",
            a + 2
        )
    );
    let (mut m, _) = with_buffer(Gfx900, &counting());
    m.set_lane64(2, 0, SHARED_BASE);
    assert!(
        m.fault(
            &[0xdc50_8000, 0x007f_0002] /* global_load_dword v0, v[2:3], off */
        )
        .starts_with("lane 0 read 4 bytes at 0x1000000000000")
    );
    assert_eq!(
        m.fault(
            &[0xbe82_0180, 0xbe80_1d02] /* s_mov_b64 s[2:3], 0; s_setpc_b64 s[2:3] */
        ),
        "executed 4 bytes at 0x0, a null pointer"
    );
    assert!(
        m.fault(&[0xffff_ffff])
            .starts_with("executed an illegal instruction: ")
    );
}

#[test]
fn flat_picks_its_memory_by_lane() {
    let (mut m, _) = with_buffer(Gfx900, &counting());
    let scratch = m.memory.alloc(64 * 16, 256).unwrap();
    m.scratch = Scratch {
        hidden_base: 0,
        base: scratch,
        lane_bytes: 16,
    };
    m.set64(102, scratch);
    m.lds.bytes_mut()[8..12].copy_from_slice(&77u32.to_le_bytes());
    m.set_lane64(2, 1, SHARED_BASE + 4);
    m.set_lane64(2, 2, PRIVATE_BASE + 2);
    m.memory
        .store_u32(scratch + 256 + 2 * 4, 0x0055_6677)
        .unwrap();
    m.memory.store_u32(scratch + 2 * 4, 0x1122_3344).unwrap();
    m.ends(
        &[0xdc50_0004, 0x0000_0002], /* flat_load_dword v0, v[2:3] offset:4 */
    );
    assert_eq!(m.wave.vgpr[0][..3], [1, 77, 0x0000_0055]);
    m.set_lane64(2, 2, PRIVATE_BASE - 2);
    assert!(
        m.fault(
            &[0xdc50_0000, 0x0000_0002] /* flat_load_dword v0, v[2:3] */
        )
        .starts_with("lane 2 read 4 bytes at 0x1fffffffffffe")
    );
    m.set_lane64(2, 2, PRIVATE_BASE + 14);
    assert_eq!(
        m.fault(
            &[0xdc70_0000, 0x0000_0002] /* flat_store_dword v[2:3], v0 */
        ),
        "lane 2 wrote 4 bytes of scratch at offset 0xe, past the end of the lane's 16 bytes of scratch; try --stack BYTES"
    );
    m.set_lane64(2, 2, SHARED_BASE + 1022);
    assert_eq!(
        m.fault(
            &[0xdc50_0000, 0x0000_0002] /* flat_load_dword v0, v[2:3] */
        ),
        "lane 2 read 4 bytes of LDS at offset 0x3fe, outside its 1024 bytes"
    );
    // An unaligned access of scratch crosses dwords that lie 256 bytes apart.
    m.set_lane64(2, 2, PRIVATE_BASE + 2);
    m.ends(
        &[0xdc50_0000, 0x0000_0002], /* flat_load_dword v0, v[2:3] */
    );
    assert_eq!(m.wave.vgpr[0][2], 0x6677_1122);
    m.wave.vgpr[1] = [4; 64];
    m.ends(&[0xdc50_4000, 0x007f_0001, 0xbe85_0082, 0xdc48_4001, 0x0405_0000] /* scratch_load_dword v0, v1, off; s_mov_b32 s5, 2; scratch_load_ushort v4, off, s5 offset:1 */);
    assert_eq!(
        (m.wave.vgpr[0][2], m.wave.vgpr[4][2]),
        (0x0055_6677, 0x7711)
    );
    // gfx8: base and size come from other fields.
    let (mut m, _) = with_buffer(Gfx803, &counting());
    let scratch = m.memory.alloc(64 * 16 + 512, 256).unwrap();
    m.scratch.hidden_base = scratch;
    m.set64(102, 2 << 32 | 16);
    m.set_lane64(2, 0, PRIVATE_BASE + 4);
    m.wave.set_exec(1);
    m.wave.vgpr[0][0] = 99;
    m.ends(
        &[0xdc70_0000, 0x0000_0002], /* flat_store_dword v[2:3], v0 */
    );
    assert_eq!(m.memory.load_u32(scratch + 512 + 256).unwrap(), 99);
}

#[test]
fn local_memory() {
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[1] = std::array::from_fn(|l| 8 * l as u32);
    m.wave.vgpr[2] = std::array::from_fn(|l| 0x100 + l as u32);
    m.wave.vgpr[3] = std::array::from_fn(|l| 0x200 + l as u32);
    m.ends(&[0xd81c_0100, 0x0003_0201, 0xd86e_0201, 0x0400_0001, 0xd8ec_0008, 0x0600_0001] /* ds_write2_b32 v1, v2, v3 offset0:0 offset1:1; ds_read2_b32 v[4:5], v1 offset0:1 offset1:2; ds_read_b64 v[6:7], v1 offset:8 */);
    assert_eq!((m.wave.vgpr[4][3], m.wave.vgpr[5][3]), (0x203, 0x104));
    assert_eq!((m.wave.vgpr[6][3], m.wave.vgpr[7][3]), (0x104, 0x204));
    // 1016 is the last address here: one past it reads 0.
    assert_eq!((m.wave.vgpr[5][63], m.wave.vgpr[4][63]), (0, 0x203 + 60));
    // Equal offsets write the first data only.
    m.ends(&[0xd81c_0101, 0x0003_0201, 0xd86c_0004, 0x0000_0001] /* ds_write2_b32 v1, v2, v3 offset0:1 offset1:1; ds_read_b32 v0, v1 offset:4 */);
    assert_eq!(m.wave.vgpr[0][9], 0x109);
    m.ends(&[0xd81e_0100, 0x0003_0208, 0xd86c_0100, 0x0000_0008] /* ds_write2st64_b32 v8, v2, v3 offset0:0 offset1:1; ds_read_b32 v0, v8 offset:256 */);
    assert_eq!(m.wave.vgpr[0][0], 0x23f, "the highest lane wins");
    // Unaligned: done in full on gfx9, rounded down before.
    let unaligned = |gfx, words: &[u32]| {
        let mut m = Machine::new(gfx);
        m.lds.bytes_mut()[..8].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
        m.ends(words).wave.vgpr[0][0]
    };
    assert_eq!(
        unaligned(
            Gfx900,
            &[0xd86c_0001, 0x0000_0001] /* ds_read_b32 v0, v1 offset:1 */
        ),
        0x0504_0302
    );
    assert_eq!(
        unaligned(
            Gfx803,
            &[0xd86c_0001, 0x0000_0001] /* ds_read_b32 v0, v1 offset:1 */
        ),
        0x0403_0201
    );
    assert_eq!(
        unaligned(
            Gfx900,
            &[0xd872_0001, 0x0000_0001] /* ds_read_i8 v0, v1 offset:1 */
        ),
        2
    );
    // M0 clamps before gfx9.
    let mut m = Machine::new(Gfx803);
    m.lds.bytes_mut().fill(0xff);
    m.wave.sgpr[usize::from(M0)] = 8;
    m.ends(
        &[
            0x7e02_0284,
            0xd86c_0000,
            0x0000_0001,
            0xd86c_0004,
            0x0200_0001,
        ], /* v_mov_b32 v1, 4; ds_read_b32 v0, v1; ds_read_b32 v2, v1 offset:4 */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[2][0]), (u32::MAX, 0));
    // A negative base with an offset: inside, except on gfx6.
    let negative = |gfx, words: &[u32]| {
        let mut m = Machine::new(gfx);
        m.lds.bytes_mut().fill(0xff);
        m.ends(words).wave.vgpr[0][0]
    };
    assert_eq!(
        negative(
            Gfx700,
            &[0x7e02_02c8, 0xd8d8_000c, 0x0000_0001] /* v_mov_b32 v1, -8; ds_read_b32 v0, v1 offset:12 */
        ),
        u32::MAX
    );
    assert_eq!(
        negative(
            Gfx600,
            &[0x7e02_02c8, 0xd8d8_000c, 0x0000_0001] /* v_mov_b32 v1, -8; ds_read_b32 v0, v1 offset:12 */
        ),
        0
    );
    // Far outside, whatever the offset.
    assert_eq!(
        negative(
            Gfx900,
            &[
                0x7e02_02c8,
                0xd86c_0000,
                0x0000_0001,
                0xd81a_0000,
                0x0000_0001
            ] /* v_mov_b32 v1, -8; ds_read_b32 v0, v1; ds_write_b32 v1, v0 */
        ),
        0
    );
}

#[test]
fn local_atomics() {
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[2] = [1; 64];
    m.ends(&[0xd840_0000, 0x0000_0201, 0xd800_0004, 0x0000_0201] /* ds_add_rtn_u32 v0, v1, v2; ds_add_u32 v1, v2 offset:4 */);
    assert_eq!(m.wave.vgpr[0], std::array::from_fn(|l| l as u32));
    // DS compares with DATA0 and writes DATA1.
    m.wave.set_exec(1);
    m.wave.vgpr[2][0] = 64;
    m.wave.vgpr[3][0] = 9;
    m.ends(&[0xd860_0000, 0x0003_0201, 0xd86c_0000, 0x0400_0001] /* ds_cmpst_rtn_b32 v0, v1, v2, v3; ds_read_b32 v4, v1 */);
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[4][0]), (64, 9));
    m.ends(&[0xd818_0000, 0x0002_0301, 0xd86c_0000, 0x0400_0001] /* ds_mskor_b32 v1, v3, v2; ds_read_b32 v4, v1 */);
    assert_eq!(m.wave.vgpr[4][0], 64);
    m.wave.vgpr[2][0] = 0x3f80_0000;
    m.ends(&[0xd81a_0000, 0x0000_0201, 0xd82a_0000, 0x0000_0201, 0xd866_0000, 0x0000_0201, 0xd86c_0000, 0x0400_0001] /* ds_write_b32 v1, v2; ds_add_f32 v1, v2; ds_max_rtn_f32 v0, v1, v2; ds_read_b32 v4, v1 */);
    assert_eq!(
        (m.wave.vgpr[0][0], m.wave.vgpr[4][0]),
        (0x4000_0000, 0x4000_0000)
    );
    m.set_lane64(2, 0, u64::MAX);
    m.ends(
        &[
            0xd89a_0000,
            0x0000_0201,
            0xd8c6_0000,
            0x0400_0201,
            0xd8ec_0000,
            0x0600_0001,
        ], /* ds_write_b64 v1, v[2:3]; ds_inc_rtn_u64 v[4:5], v1, v[2:3]; ds_read_b64 v[6:7], v1 */
    );
    assert_eq!((m.lane64(4, 0), m.lane64(6, 0)), (u64::MAX, 0));
    // Both operands in memory: [0] += [8].
    m.lds.bytes_mut()[..12].copy_from_slice(&[5, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]);
    m.ends(&[0xd900_0002, 0x0000_0001, 0xd86c_0000, 0x0400_0001] /* ds_add_src2_u32 v1 offset:2; ds_read_b32 v4, v1 */);
    assert_eq!(m.wave.vgpr[4][0], 12);
    m.ends(&[0xd91a_0002, 0x0000_0001, 0xd86c_0000, 0x0400_0001] /* ds_write_src2_b32 v1 offset:2; ds_read_b32 v4, v1 */);
    assert_eq!(m.wave.vgpr[4][0], 7);
}

#[test]
fn exchanges_through_the_crossbar() {
    let mut m = Machine::new(Gfx900);
    m.wave.vgpr[2] = std::array::from_fn(|l| 100 + l as u32);
    m.wave.vgpr[1] = std::array::from_fn(|l| 4 * (l as u32 ^ 1));
    m.wave.vgpr[0] = [7; 64];
    m.wave.set_exec(!4);
    m.ends(
        &[0xd87e_0000, 0x0000_0201], /* ds_bpermute_b32 v0, v1, v2 */
    );
    assert_eq!(
        m.wave.vgpr[0][..5],
        [101, 100, 7, 0, 105],
        "an inactive source gives 0"
    );
    m.ends(
        &[0xd87e_0008, 0x0000_0201], /* ds_bpermute_b32 v0, v1, v2 offset:8 */
    );
    assert_eq!(m.wave.vgpr[0][0], 103);
    // All send to lane 0: the highest wins, the others get 0.
    m.wave.vgpr[1] = [0; 64];
    m.ends(
        &[0xd87c_0000, 0x0000_0201], /* ds_permute_b32 v0, v1, v2 */
    );
    assert_eq!(m.wave.vgpr[0][..3], [163, 0, 7]);
    m.ends(
        &[0xd87a_041f, 0x0000_0002], /* ds_swizzle_b32 v0, v2 offset:swizzle(SWAP,1) */
    );
    assert_eq!(m.wave.vgpr[0][..4], [101, 100, 7, 0]);
    let mut m = Machine::new(Gfx900);
    m.wave.sgpr[usize::from(M0)] = 16;
    m.wave.set_exec(0xf0f);
    m.ends(
        &[
            0xd97c_0004,
            0x0000_0000,
            0xd97c_0004,
            0x0100_0000,
            0xd97a_0004,
            0x0200_0000,
        ], /* ds_append v0 offset:4; ds_append v1 offset:4; ds_consume v2 offset:4 */
    );
    assert_eq!(
        (m.wave.vgpr[0][0], m.wave.vgpr[1][11], m.wave.vgpr[2][8]),
        (0, 8, 16)
    );
    assert_eq!(m.lds.bytes()[20], 8);
    m.wave.vgpr[3] = std::array::from_fn(|l| l as u32);
    m.ends(&[0xd83a_0004, 0x0000_0300, 0xd96c_0008, 0x0400_0000] /* ds_write_addtid_b32 v3 offset:4; ds_read_addtid_b32 v4 offset:8 */);
    assert_eq!((m.wave.vgpr[4][1], m.wave.vgpr[4][3]), (2, 0));
}

/// Puts a descriptor with `records` and flags into s[4:7].
fn descriptor(m: &mut Machine, address: u64, stride: u32, records: u32, w3: u32) {
    m.wave.sgpr[4] = address as u32;
    m.wave.sgpr[5] = (address >> 32) as u32 | stride << 16;
    m.wave.sgpr[6] = records;
    m.wave.sgpr[7] = w3;
}

/// dst_sel XYZW, UINT, format 32.
const UINT32: u32 = 0xfac | 4 << 12 | 4 << 15;

#[test]
fn untyped_buffers() {
    let (mut m, a) = with_buffer(Gfx900, &counting());
    descriptor(&mut m, a, 0, 40, UINT32);
    m.ends(&[0xe050_1000, 0x8001_0001, 0xbe88_0088, 0xe054_1004, 0x0801_0401] /* buffer_load_dword v0, v1, s[4:7], 0 offen; s_mov_b32 s8, 8; buffer_load_dwordx2 v[4:5], v1, s[4:7], s8 offen offset:4 */);
    assert_eq!((m.wave.vgpr[0][9], m.wave.vgpr[0][10]), (9, 0));
    // The scalar offset is not part of the check; each dword is checked on its own.
    assert_eq!((m.wave.vgpr[4][7], m.wave.vgpr[5][7]), (10, 11));
    assert_eq!((m.wave.vgpr[4][8], m.wave.vgpr[5][8]), (11, 0));
    // Index and offset: the index comes first.
    m.wave.vgpr[6] = [2; 64];
    m.wave.vgpr[7] = [4; 64];
    descriptor(&mut m, a, 16, 3, UINT32);
    m.ends(
        &[0xe050_3000, 0x8001_0006], /* buffer_load_dword v0, v[6:7], s[4:7], 0 idxen offen */
    );
    assert_eq!(m.wave.vgpr[0][0], 2 * 4 + 1);
    m.wave.vgpr[6] = [3; 64];
    m.ends(&[0xe050_3000, 0x8081_0006, 0x7e08_0301] /* buffer_load_dword v[0:1], v[6:7], s[4:7], 0 idxen offen tfe; v_mov_b32 v4, v1 */);
    assert_eq!(
        (m.wave.vgpr[0][0], m.wave.vgpr[4][1]),
        (0, 0),
        "TFE writes a status behind"
    );
    // Stores out of range are dropped, atomics return 0.
    descriptor(&mut m, a, 0, 8, UINT32);
    m.wave.vgpr[1] = std::array::from_fn(|l| 4 * l as u32);
    m.wave.vgpr[8] = [50; 64];
    m.ends(&[0xe070_1000, 0x8001_0801, 0xe108_5000, 0x8001_0801] /* buffer_store_dword v8, v1, s[4:7], 0 offen; buffer_atomic_add v8, v1, s[4:7], 0 offen glc */);
    assert_eq!(
        (
            m.memory.load_u32(a + 4).unwrap(),
            m.memory.load_u32(a + 8).unwrap()
        ),
        (100, 2)
    );
    assert_eq!((m.wave.vgpr[8][1], m.wave.vgpr[8][2]), (50, 0));
    // An empty descriptor is unbound.
    m.wave.sgpr[4..8].fill(0);
    m.ends(&[0xe050_0000, 0x8001_0000, 0xe070_0000, 0x8001_0000] /* buffer_load_dword v0, off, s[4:7], 0; buffer_store_dword v0, off, s[4:7], 0 */);
    assert_eq!(m.wave.vgpr[0][0], 0);
}

#[test]
fn scratch_buffers() {
    let (mut m, _) = with_buffer(Gfx900, &counting());
    let scratch = m.memory.alloc(64 * 16, 256).unwrap();
    // swizzle, ADD_TID, index stride 64
    descriptor(&mut m, scratch, 0, 64 * 16, 0x00e0_0000 | UINT32);
    m.wave.sgpr[5] |= 1 << 31;
    m.wave.vgpr[0] = std::array::from_fn(|l| 500 + l as u32);
    m.ends(&[0xe070_0004, 0x8001_0000, 0x7e02_0284, 0xe050_1000, 0x8001_0401] /* buffer_store_dword v0, off, s[4:7], 0 offset:4; v_mov_b32 v1, 4; buffer_load_dword v4, v1, s[4:7], 0 offen */);
    assert_eq!(m.wave.vgpr[4][33], 533);
    assert_eq!(m.memory.load_u32(scratch + 256 + 33 * 4).unwrap(), 533);
}

#[test]
fn old_buffers_with_64_bit_addresses() {
    let (mut m, a) = with_buffer(Gfx600, &counting());
    descriptor(&mut m, 0, 0, u32::MAX, 0xf000);
    m.ends(
        &[0xe030_8008, 0x8001_0002], /* buffer_load_dword v0, v[2:3], s[4:7], 0 addr64 offset:8 */
    );
    assert_eq!((m.wave.vgpr[0][0], m.wave.vgpr[0][63]), (2, 65));
    m.ends(
        &[0xe060_8000, 0x8001_0002], /* buffer_store_byte v0, v[2:3], s[4:7], 0 addr64 */
    );
    assert_eq!(m.memory.load_u32(a).unwrap(), 2);
    // A negative offset as base, the pointer in registers: addresses have 48 bits.
    m.set64(4, (-4i64) as u64);
    m.wave.vgpr[0] = [0; 64];
    m.wave.set_exec(2);
    m.ends(
        &[0xe030_8008, 0x8001_0002], /* buffer_load_dword v0, v[2:3], s[4:7], 0 addr64 offset:8 */
    );
    assert_eq!(m.wave.vgpr[0][1], 4);
}

#[test]
fn typed_buffers() {
    let (mut m, a) = with_buffer(Gfx900, &[0x0403_02ff; 64]);
    // 8_8_8_8 UNORM, dst_sel W, 1, 0, X
    descriptor(&mut m, a, 4, 64, 7 | 1 << 3 | 4 << 9 | 10 << 15);
    m.ends(&[0x7e02_0280, 0xe00c_2000, 0x8001_0401] /* v_mov_b32 v1, 0; buffer_load_format_xyzw v[4:7], v1, s[4:7], 0 idxen */);
    let one = 0x3f80_0000;
    let got: Vec<u32> = (4..8).map(|r| m.wave.vgpr[r][0]).collect();
    assert_eq!(got, [(4f32 / 255.0).to_bits(), one, 0, one]);
    m.ends(&[0xea29_a000, 0x8001_0401] /* tbuffer_load_format_xyzw v[4:7], v1, s[4:7], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_UINT] idxen */);
    let got: Vec<u32> = (4..8).map(|r| m.wave.vgpr[r][0]).collect();
    assert_eq!(got, [0x02ff, 0x0403, 0, 0], "missing components are 0");
    m.ends(
        &[0xe024_2000, 0x8001_0401], /* buffer_load_format_d16_xy v4, v1, s[4:7], 0 idxen */
    );
    assert_eq!(m.wave.vgpr[4][0] >> 16, 0x3c00);
    // Stores: v4 goes to W, v7 to X.
    m.wave.vgpr[4] = [one; 64];
    m.wave.vgpr[7] = [0x3f00_0000; 64];
    m.ends(
        &[0xe01c_2000, 0x8001_0401], /* buffer_store_format_xyzw v[4:7], v1, s[4:7], 0 idxen */
    );
    assert_eq!(m.memory.load_u32(a).unwrap(), 0xff00_0080);
    m.ends(&[0x7e08_02ff, 0x0000_012c, 0xea0a_2000, 0x8001_0401] /* v_mov_b32 v4, 300; tbuffer_store_format_x v4, v1, s[4:7], 0 format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UINT] idxen */);
    assert_eq!(m.memory.load_u32(a).unwrap(), 0xff00_00ff);
}

#[test]
fn memory_to_lds() {
    let (mut m, a) = with_buffer(Gfx900, &counting());
    descriptor(&mut m, a, 0, 1024, UINT32);
    m.wave.sgpr[usize::from(M0)] = 0x100;
    m.ends(
        &[0xe051_1008, 0x8001_0001], /* buffer_load_dword v1, s[4:7], 0 offen offset:8 lds */
    );
    let dword =
        |m: &Machine, at: usize| u32::from_le_bytes(m.lds.bytes()[at..at + 4].try_into().unwrap());
    assert_eq!((dword(&m, 0x108), dword(&m, 0x10c)), (2, 3));
    // Lanes without room do nothing.
    m.wave.sgpr[usize::from(M0)] = 1020;
    m.ends(
        &[0xe051_1000, 0x8001_0001], /* buffer_load_dword v1, s[4:7], 0 offen lds */
    );
    assert_eq!(dword(&m, 1020), 0);
}
