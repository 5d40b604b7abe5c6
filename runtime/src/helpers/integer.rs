//! Integer functions of one lane.

/// The 64-bit value of two words.
#[inline(always)]
fn wide(lo: u32, hi: u32) -> u64 {
    u64::from(lo) | u64::from(hi) << 32
}

/// The words of a 64-bit value.
#[inline(always)]
fn words(x: u64) -> [u32; 2] {
    [x as u32, (x >> 32) as u32]
}

#[inline(always)]
pub(super) fn shl([a, n]: [u32; 2], _: u32) -> [u32; 1] {
    [a << (n & 31)]
}

#[inline(always)]
pub(super) fn lshr([a, n]: [u32; 2], _: u32) -> [u32; 1] {
    [a >> (n & 31)]
}

#[inline(always)]
pub(super) fn ashr([a, n]: [u32; 2], _: u32) -> [u32; 1] {
    [((a as i32) >> (n & 31)) as u32]
}

#[inline(always)]
pub(super) fn shl64([lo, hi, n]: [u32; 3], _: u32) -> [u32; 2] {
    words(wide(lo, hi) << (n & 63))
}

#[inline(always)]
pub(super) fn lshr64([lo, hi, n]: [u32; 3], _: u32) -> [u32; 2] {
    words(wide(lo, hi) >> (n & 63))
}

#[inline(always)]
pub(super) fn ashr64([lo, hi, n]: [u32; 3], _: u32) -> [u32; 2] {
    words((wide(lo, hi) as i64 >> (n & 63)) as u64)
}

#[inline(always)]
pub(super) fn align_bit([a, b, n]: [u32; 3], _: u32) -> [u32; 1] {
    [(wide(b, a) >> (n & 31)) as u32]
}

#[inline(always)]
pub(super) fn bfe_u([a, offset, width]: [u32; 3], _: u32) -> [u32; 1] {
    [a >> (offset & 31) & !(u32::MAX << (width & 31))]
}

#[inline(always)]
pub(super) fn bfe_i([a, offset, width]: [u32; 3], _: u32) -> [u32; 1] {
    // Bits above bit 31 are the sign; the field is shifted to the top and back.
    let field = (a as i32) >> (offset & 31);
    let width = width & 31;
    let up = 32 - width.max(1);
    [if width == 0 {
        0
    } else {
        ((field << up) >> up) as u32
    }]
}

/// The byte that a selector of `v_perm_b32` selects among the bytes of {a, b}, b lowest.
#[inline(always)]
fn permuted(bytes: u64, selector: u32) -> u32 {
    let sign = |byte: u32| {
        if bytes >> (8 * byte + 7) & 1 != 0 {
            0xff
        } else {
            0
        }
    };
    match selector {
        0..=7 => (bytes >> (8 * selector)) as u32 & 0xff,
        8 => sign(1),
        9 => sign(3),
        10 => sign(5),
        11 => sign(7),
        12 => 0,
        _ => 0xff,
    }
}

#[inline(always)]
pub(super) fn perm([a, b, selectors]: [u32; 3], _: u32) -> [u32; 1] {
    let bytes = wide(b, a);
    let byte = |i: u32| permuted(bytes, selectors >> (8 * i) & 0xff) << (8 * i);
    [byte(0) | byte(1) | byte(2) | byte(3)]
}

#[inline(always)]
fn byte(x: u32, i: u32) -> u32 {
    x >> (8 * i) & 0xff
}

#[inline(always)]
pub(super) fn lerp([a, b, c]: [u32; 3], _: u32) -> [u32; 1] {
    let average = |i: u32| ((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1) << (8 * i);
    [average(0) | average(1) | average(2) | average(3)]
}

#[inline(always)]
pub(super) fn sad_u8([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let distance = |i: u32| byte(a, i).abs_diff(byte(b, i));
    [distance(0) + distance(1) + distance(2) + distance(3)]
}

#[inline(always)]
pub(super) fn sad_u16([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    [(a & 0xffff).abs_diff(b & 0xffff) + (a >> 16).abs_diff(b >> 16)]
}

#[inline(always)]
pub(super) fn msad_u8([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let distance = |i: u32| match byte(b, i) {
        0 => 0,
        reference => byte(a, i).abs_diff(reference),
    };
    [distance(0) + distance(1) + distance(2) + distance(3)]
}

/// Sums of four windows against the reference, by `sad`, added to four 16-bit accumulators.
#[inline(always)]
fn windows16(
    [lo, hi, reference, acc_lo, acc_hi]: [u32; 5],
    saturate: bool,
    sad: fn([u32; 2], u32) -> [u32; 1],
) -> [u32; 2] {
    let source = wide(lo, hi);
    let acc = wide(acc_lo, acc_hi);
    let mut out = 0;
    for i in 0..4 {
        let [distance] = sad([(source >> (8 * i)) as u32, reference], 0);
        let sum = distance + ((acc >> (16 * i)) as u32 & 0xffff);
        let half = if saturate {
            sum.min(0xffff)
        } else {
            sum & 0xffff
        };
        out |= u64::from(half) << (16 * i);
    }
    words(out)
}

#[inline(always)]
pub(super) fn qsad_pk(args: [u32; 5], saturate: u32) -> [u32; 2] {
    windows16(args, saturate != 0, sad_u8)
}

#[inline(always)]
pub(super) fn mqsad_pk(args: [u32; 5], saturate: u32) -> [u32; 2] {
    windows16(args, saturate != 0, msad_u8)
}

#[inline(always)]
pub(super) fn mqsad_u32([lo, hi, reference, a, b, c, d]: [u32; 7], saturate: u32) -> [u32; 4] {
    let source = wide(lo, hi);
    let sum = |i: u32, acc: u32| {
        let [distance] = msad_u8([(source >> (8 * i)) as u32, reference], 0);
        if saturate != 0 {
            acc.saturating_add(distance)
        } else {
            acc.wrapping_add(distance)
        }
    };
    [sum(0, a), sum(1, b), sum(2, c), sum(3, d)]
}

#[inline(always)]
pub(super) fn dot4_i([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let product = |i: u32| i32::from(byte(a, i) as i8) * i32::from(byte(b, i) as i8);
    [(product(0) + product(1) + product(2) + product(3)) as u32]
}

#[inline(always)]
pub(super) fn dot4_u([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let product = |i: u32| byte(a, i) * byte(b, i);
    [product(0) + product(1) + product(2) + product(3)]
}

#[inline(always)]
pub(super) fn dot8_i([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let nibble = |x: u32, i: u32| (x << (28 - 4 * i)) as i32 >> 28;
    let mut sum = 0;
    for i in 0..8 {
        sum += nibble(a, i) * nibble(b, i);
    }
    [sum as u32]
}

#[inline(always)]
pub(super) fn dot8_u([a, b]: [u32; 2], _: u32) -> [u32; 1] {
    let nibble = |x: u32, i: u32| x >> (4 * i) & 15;
    let mut sum = 0;
    for i in 0..8 {
        sum += nibble(a, i) * nibble(b, i);
    }
    [sum]
}

/// The manual's table of `v_screen_partition_4se_b32`, a nibble an entry, 16 entries a row.
const PARTITION: [u64; 16] = [
    0xffff_fff7_fff5_f731,
    0xffff_ffbf_ffaf_e62f,
    0xffff_fdff_f5ff_c4fd,
    0xffff_efff_afff_8fb9,
    0xfffe_fff6_fdc4_ffff,
    0xffdf_f99f_b98f_ffff,
    0xfbff_f9ff_31f7_ffff,
    0x7fff_6ff6_2fe6_ffff,
    0xfffa_fb32_ffff_fffb,
    0xff5f_d91f_ffff_ff7f,
    0xfaff_c8fe_ffff_feff,
    0x5fff_4f76_ffff_dfff,
    0xfec8_ffff_fffd_fff9,
    0x764f_ffff_ffef_f66f,
    0x32fb_ffff_f7ff_f6ff,
    0x1fd9_ffff_bfff_9ff9,
];

#[inline(always)]
pub(super) fn screen_partition([a]: [u32; 1], _: u32) -> [u32; 1] {
    let row = PARTITION[(a >> 4 & 15) as usize];
    [(row >> (4 * (a & 15))) as u32 & 15]
}
