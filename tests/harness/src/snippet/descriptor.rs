//! Random buffer descriptors.

use crate::random::Random;

/// A descriptor of a buffer of `bytes` bytes at `base`: most of what it allows stays inside.
pub(super) fn random(r: &mut Random, base: u64, bytes: u32) -> [u32; 4] {
    if r.once_in(24) {
        // Unbound.
        return [0; 4];
    }
    let stride = *r.pick(&[0, 0, 0, 4, 4, 8, 12, 16, 16, 32, 64, 3]);
    let records = match r.below(8) {
        0 => r.below(bytes),
        1 => r.below(80),
        2 => u32::MAX,
        3 => bytes,
        4 => 64,
        _ if stride == 0 => bytes,
        _ => bytes / stride,
    };
    let swizzle = u32::from(stride != 0 && r.once_in(3));
    let base = base
        + match r.below(16) {
            0 => u64::from(r.below(64)),
            1 | 2 => u64::from(r.below(16) * 4),
            _ => 0,
        };
    let selections = if r.once_in(3) {
        r.next() as u32 & 0xfff
    } else {
        // x, y, z, w
        4 | 5 << 3 | 6 << 6 | 7 << 9
    };
    let nfmt = if r.once_in(2) {
        *r.pick(&[0, 4, 7])
    } else if r.once_in(8) {
        r.below(8)
    } else {
        r.below(6)
    };
    let dfmt = if r.once_in(8) {
        r.below(16)
    } else {
        *r.pick(&[1, 2, 3, 4, 5, 8, 9, 10, 11, 12, 13, 14])
    };
    let add_tid = u32::from(r.once_in(8));
    // With the lane as index on gfx8 and gfx9 the format is a part of the stride.
    let dfmt = if add_tid != 0 && r.once_in(2) {
        0
    } else {
        dfmt
    };
    [
        base as u32,
        (base >> 32) as u32 & 0xffff | stride << 16 | r.below(2) << 30 | swizzle << 31,
        records,
        selections | nfmt << 12 | dfmt << 15 | r.below(4) << 19 | r.below(4) << 21 | add_tid << 23,
    ]
}

/// A descriptor of a wave's scratch at `base`, with `bytes` bytes for each lane: dwords of the lanes alternate.
pub(super) fn of_scratch(r: &mut Random, base: u64, bytes: u32) -> [u32; 4] {
    let records = *r.pick(&[bytes * 64, bytes, u32::MAX]);
    // Elements of 4 bytes, index stride 64, ADD_TID.
    let word3 = 4 | 5 << 3 | 6 << 6 | 7 << 9 | 4 << 12 | 1 << 19 | 3 << 21 | 1 << 23;
    // The format's bits are bits of the stride from gfx8 on, and a format must be there before.
    let format = if r.once_in(2) { 4 << 15 } else { 0 };
    [
        base as u32,
        (base >> 32) as u32 & 0xffff | 1 << 31,
        records,
        word3 | format,
    ]
}

/// The descriptor of scratch of `bytes` bytes at `base` as a dispatch makes it, mostly.
pub(super) fn scratch(r: &mut Random, base: u64, bytes: u32) -> [u32; 4] {
    const SWIZZLE: u32 = 1 << 31;
    let records = match r.below(12) {
        0 => r.below(256),
        1 => u32::MAX,
        _ => bytes,
    };
    let mut words = [
        base as u32,
        (base >> 32) as u32 & 0xffff | SWIZZLE,
        records,
        0x00ea_4fac,
    ];
    if r.once_in(16) {
        words[1] ^= 1 << (16 + r.below(16));
    }
    if r.once_in(16) {
        words[3] ^= 1 << r.below(24);
    }
    words
}
