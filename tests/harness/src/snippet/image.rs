//! Random image and sampler descriptors, and addresses of texels.

use frontend::state::LANES;
use frontend::target::Gfx;

use crate::random::Random;

/// Bytes of texels by data format; 0 where there is no such format.
const BYTES: [u32; 20] = [0, 1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 8, 8, 12, 16, 0, 2, 2, 2, 2];

/// A resource of at most 4096 bytes at `base`, a multiple of 256.
pub(super) fn resource(r: &mut Random, gfx: Gfx, base: u64) -> [u32; 8] {
    if r.once_in(32) {
        return [0; 8];
    }
    let gfx9 = gfx.is_gfx9();
    let data = match r.below(12) {
        0 => 1 + r.below(19),
        1..=3 => 4,
        4 => 11,
        5 => 14,
        6 | 7 => 10,
        _ => *r.pick(&[1, 2, 3, 5, 6, 7, 8, 9, 12, 16, 17, 18, 19]),
    };
    let number = match data {
        _ if r.once_in(24) => r.below(10),
        4 | 11 | 13 | 14 => *r.pick(&[4, 5, 7]),
        6 | 7 => 7,
        16.. => 0,
        2 | 5 | 12 => *r.pick(&[0, 1, 4, 5, 7]),
        _ => *r.pick(&[0, 1, 2, 3, 4, 5]),
    };
    let kind = match r.below(24) {
        0 => r.below(16),
        n => [8, 9, 9, 10, 12, 13][n as usize % 6],
    };
    // 8 * 4 texels of 16 bytes, eight times.
    let size = BYTES[data as usize].max(1);
    let (w, h, d) = match kind {
        8 => (1 + r.below(64), 1, 1),
        9 => (1 + r.below(8), 1 + r.below(32), 1),
        12 => (1 + r.below(8), 1, 1 + r.below(16)),
        _ => (1 + r.below(8), 1 + r.below(4), 1 + r.below(4)),
    };
    let pitch = w + r.below(if size == 16 { 1 } else { 4 });
    let first = if kind >= 12 && r.once_in(4) {
        r.below(d)
    } else {
        0
    };
    let sel = match r.below(6) {
        0 => r.word() & 0xfff,
        1 => 6 | 5 << 3 | 4 << 6 | 7 << 9,
        _ => 0xfac,
    };
    let linear = if gfx9 { 0 } else { 8 };
    let tiling = if r.once_in(48) { r.below(32) } else { linear };
    let levels = if r.once_in(32) { r.below(256) } else { 0 };
    let (w4, w5) = match gfx9 {
        true => (r.below(6) << 29, first),
        false => (0, first | (d - 1) << 13),
    };
    [
        (base >> 8) as u32,
        (base >> 40) as u32 & 0xff | data << 20 | number << 26,
        (w - 1) | (h - 1) << 14,
        sel | levels << 12 | tiling << 20 | kind << 28,
        (d - 1) | (pitch - 1) << 13 | w4,
        w5,
        flag(r, 21, 64),
        0,
    ]
}

fn flag(r: &mut Random, bit: u32, once_in: u32) -> u32 {
    u32::from(r.once_in(once_in)) << bit
}

/// A sampler.
pub(super) fn sampler(r: &mut Random) -> [u32; 4] {
    let mut w0 = 0;
    for i in 0..3 {
        let mode = if r.once_in(48) {
            r.below(8)
        } else {
            *r.pick(&[0, 1, 2, 3, 6, 7])
        };
        w0 |= mode << (3 * i);
    }
    w0 |= flag(r, 15, 4) | flag(r, 27, 4) | flag(r, 29, 64) | flag(r, 9, 32);
    let filter = r.below(2);
    let far = if r.once_in(6) { r.below(4) } else { filter };
    let z = if r.once_in(4) { r.below(3) } else { 0 };
    let lod = if r.once_in(4) {
        r.word() & 0xff_ffff
    } else {
        0xfff << 12
    };
    let bias = if r.once_in(4) { r.below(1 << 14) } else { 0 };
    let border = if r.once_in(32) { 3 } else { r.below(3) };
    [
        w0,
        lod,
        bias | filter << 20 | far << 22 | z << 24,
        border << 30,
    ]
}

/// Columns, rows, slices and levels for loads; the same as floats for samples.
pub(super) fn coordinates(r: &mut Random) -> ([[u32; LANES]; 4], [[u32; LANES]; 4]) {
    let mut whole = [[0; LANES]; 4];
    let mut parts = [[0; LANES]; 4];
    let (grid, wild) = (r.once_in(2), r.once_in(6));
    let flat = r.once_in(2);
    for lane in 0..LANES {
        for i in 0..4 {
            let limit = [8, 4, 4, 1][i] + u32::from(wild);
            whole[i][lane] = match (i, grid) {
                (0, true) => lane as u32 & 7,
                (1, true) => lane as u32 >> 3 & 3,
                _ if flat && i > 1 => 0,
                _ => r.below(limit),
            };
            let part = match grid {
                // Halves and quarters of texels, a little before and behind.
                true => r.below(128) as f32 / 32.0 - 1.0,
                false => r.below(1 << 20) as f32 / (1 << 19) as f32 - 0.5,
            };
            let part = if i == 3 { part.floor() } else { part };
            parts[i][lane] = part.to_bits();
            if wild && r.once_in(40) {
                whole[i][lane] = r.word();
                parts[i][lane] = r.word();
            }
        }
    }
    (whole, parts)
}
