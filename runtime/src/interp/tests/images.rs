//! Vectors of the image instructions.

use frontend::Gfx::{self, Gfx803, Gfx900};

use crate::interp::image::tests::descriptor;
use crate::interp::testing::Machine;

/// A 4 x 2 image of bytes 0, 1, 2 .. with a pitch of 64 texels; descriptor in s[8:15], coordinates
/// in v2, v3.
fn image(gfx: Gfx) -> (Machine, u64) {
    let mut m = Machine::new(gfx);
    let base = m.memory.alloc(1024, 256).unwrap();
    for y in 0..2u32 {
        for x in 0..4u32 {
            let texel = ((x + 4 * y) * 0x0101_0101) | 0x4000_0000;
            m.memory
                .store_u32(base + u64::from(y * 64 + x) * 4, texel)
                .unwrap();
        }
    }
    m.wave.sgpr[8..16].copy_from_slice(&descriptor(gfx, base, [4, 2], 64));
    m.wave.vgpr[2] = std::array::from_fn(|l| l as u32 % 4);
    m.wave.vgpr[3] = std::array::from_fn(|l| l as u32 / 4);
    (m, base)
}

#[test]
fn loads_and_stores() {
    let (mut m, base) = image(Gfx900);
    m.ends(
        &[0xf000_1b00, 0x0002_0402], /* image_load v[4:6], v[2:3], s[8:15] dmask:0xb unorm */
    );
    let lane = |m: &Machine, l: usize| [4, 5, 6].map(|r| m.wave.vgpr[r][l]);
    assert_eq!(lane(&m, 6), [6, 6, 0x46]);
    assert_eq!(lane(&m, 8), [0; 3], "outside");
    m.ends(
        &[0xf020_1900, 0x0002_0402], /* image_store v[4:5], v[2:3], s[8:15] dmask:0x9 unorm */
    );
    assert_eq!(m.memory.load_u32(base + 4 * (64 + 2)).unwrap(), 0x0600_0006);
    m.ends(&[0x7e0e_0280, 0xf038_1f00, 0x0002_0407] /* v_mov_b32 v7, 0; image_get_resinfo v[4:7], v7, s[8:15] dmask:0xf unorm */);
    let info: Vec<u32> = (4..8).map(|r| m.wave.vgpr[r][0]).collect();
    assert_eq!(info, [4, 2, 1, 1]);
    let (mut m, base) = image(Gfx803);
    m.wave.vgpr[4] = [1; 64];
    m.ends(
        &[0xf048_3100, 0x0002_0402], /* image_atomic_add v4, v[2:3], s[8:15] dmask:0x1 unorm glc */
    );
    assert_eq!(m.wave.vgpr[4][1], 0x4101_0101);
    assert_eq!(m.memory.load_u32(base + 4).unwrap(), 0x4101_0102);
    // D16: one register for each component on gfx8, two in a register on gfx9.
    let (mut m, _) = image(Gfx900);
    m.ends(
        &[0xf000_1f00, 0x8002_0402], /* image_load v[4:5], v[2:3], s[8:15] dmask:0xf unorm d16 */
    );
    assert_eq!(
        (m.wave.vgpr[4][5], m.wave.vgpr[5][5]),
        (0x0005_0005, 0x0045_0005)
    );
}

#[test]
fn sampling() {
    let (mut m, _) = image(Gfx900);
    // UNORM, nearest, clamped to the edge, unnormalized coordinates.
    m.wave.sgpr[9] &= !(15 << 26);
    m.wave.sgpr[16] = 2 | 2 << 3 | 2 << 6 | 1 << 15;
    m.wave.sgpr[17..20].fill(0);
    m.wave.vgpr[2] = [1.75f32.to_bits(); 64];
    m.wave.vgpr[3] = [(-3.0f32).to_bits(); 64];
    m.ends(
        &[0xf080_0100, 0x0082_0402], /* image_sample v4, v[2:3], s[8:15], s[16:19] dmask:0x1 */
    );
    assert_eq!(m.wave.vgpr[4][0], (1f32 / 255.0).to_bits());
    // Linear: a quarter of texel 1, three quarters of texel 2 in row 0.
    m.wave.sgpr[18] = 1 << 20 | 1 << 22;
    m.wave.vgpr[2] = [2.25f32.to_bits(); 64];
    m.ends(
        &[0xf09c_0100, 0x0082_0402], /* image_sample_lz v4, v[2:3], s[8:15], s[16:19] dmask:0x1 */
    );
    let third = |n: f32| (n / 255.0) as f64;
    let want = (0.25 * f64::from(1f32 / 255.0) + 0.75 * third(2.0)) as f32;
    assert_eq!(m.wave.vgpr[4][0], want.to_bits());
    assert_eq!(
        m.fault(
            &[0xf0a0_0100, 0x0082_0402] /* image_sample_c v4, v[2:4], s[8:15], s[16:19] dmask:0x1 */
        ),
        "executed something unsupported: a depth comparison in image_sample_c on gfx900"
    );
    m.wave.sgpr[11] |= 9 << 20;
    assert_eq!(
        m.fault(
            &[0xf000_1100, 0x0002_0402] /* image_load v4, v[2:3], s[8:15] dmask:0x1 unorm */
        ),
        "executed something unsupported: a tiled image (mode 9) in image_load on gfx900"
    );
}
