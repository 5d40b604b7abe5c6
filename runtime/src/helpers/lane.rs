//! Pure functions that move values between lanes.

use std::sync::LazyLock;

use lower::abi::Lanes;

use crate::choices;

/// Argument `i` of a lane function.
///
/// # Safety
/// `args` points to more than `i` addresses of lane slots.
unsafe fn arg<'a>(args: *const *const Lanes, i: usize) -> &'a Lanes {
    // SAFETY: the caller's contract.
    let slot = unsafe { *args.add(i) };
    // SAFETY: a lane slot that nothing writes during the call; results are written at the end.
    unsafe { &*slot }
}

/// Writes result `i`.
///
/// # Safety
/// `out` points to more than `i` addresses of lane slots, and no argument is used afterwards.
unsafe fn give(out: *const *mut Lanes, i: usize, value: Lanes) {
    // SAFETY: the caller's contract.
    let slot = unsafe { *out.add(i) };
    // SAFETY: a lane slot.
    unsafe { *slot = value };
}

/// Ones of a below the lane, counting lanes 0..32 of the wave.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn mbcnt_lo(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    _: u32,
) {
    // SAFETY: the function takes one argument.
    let a = unsafe { arg(args, 0) };
    let below = |lane: usize| {
        if lane >= 32 {
            u32::MAX
        } else {
            (1 << lane) - 1
        }
    };
    let counts = std::array::from_fn(|lane| (a[lane] & below(lane)).count_ones());
    // SAFETY: it gives one result.
    unsafe { give(out, 0, counts) };
}

/// Ones of a below the lane, counting lanes 32..64 of the wave.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn mbcnt_hi(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    _: u32,
) {
    // SAFETY: the function takes one argument.
    let a = unsafe { arg(args, 0) };
    let below = |lane: usize| {
        if lane < 32 {
            0
        } else {
            (1u32 << (lane - 32)) - 1
        }
    };
    let counts = std::array::from_fn(|lane| (a[lane] & below(lane)).count_ones());
    // SAFETY: it gives one result.
    unsafe { give(out, 0, counts) };
}

/// The source lane of a DPP control field, if it exists.
fn dpp_source(ctrl: u32, lane: usize) -> Option<usize> {
    let (row, n) = (lane & !15, lane & 15);
    let count = ctrl as usize & 15;
    match ctrl {
        0..=0xff => Some(lane & !3 | (ctrl >> (2 * (lane & 3)) & 3) as usize),
        0x100..=0x10f => (n + count < 16).then(|| row | (n + count)),
        0x110..=0x11f => n.checked_sub(count).map(|n| row | n),
        0x120..=0x12f => Some(row | (n + 16 - count) & 15),
        // wave_shl, wave_rol: from the next lane
        0x130 => (lane < 63).then_some(lane + 1),
        0x134 => Some((lane + 1) & 63),
        // wave_shr, wave_ror: from the previous lane
        0x138 => lane.checked_sub(1),
        0x13c => Some((lane + 63) & 63),
        0x140 => Some(row | (15 - n)),
        0x141 => Some(lane & !7 | (7 - (lane & 7))),
        // The first row (or the first two) has no row before it.
        0x142 if lane < 16 => choices::DPP_BCAST_FIRST_ROW_IS_OWN.then_some(lane),
        0x142 => Some(row - 1),
        0x143 if lane < 32 => choices::DPP_BCAST_FIRST_ROW_IS_OWN.then_some(lane),
        0x143 => Some(31),
        // row_newbcast (gfx90a)
        0x150..=0x15f => Some(row | count),
        _ => None,
    }
}

/// Does a DPP control field select lanes of other rows?
pub(super) fn leaves_rows(ctrl: u32) -> bool {
    matches!(ctrl, 0x130 | 0x134 | 0x138 | 0x13c | 0x142 | 0x143)
}

/// In [`DPP_SOURCES`]: the source lane does not exist.
const NONE: u8 = 0x80;

/// By control field and lane the lane that DPP fetches from, or [`NONE`].
pub(super) static DPP_SOURCES: LazyLock<Box<[Lanes8; 512]>> = LazyLock::new(|| {
    let mut sources = Box::new([[NONE; 64]; 512]);
    for (ctrl, row) in (0..).zip(sources.iter_mut()) {
        for (lane, from) in row.iter_mut().enumerate() {
            *from = dpp_source(ctrl, lane).map_or(NONE, |from| from as u8);
        }
    }
    sources
});

/// A byte for each lane.
type Lanes8 = [u8; 64];

/// The data of active lanes, 0 for others.
#[inline(always)]
fn where_active(data: &Lanes, active: &Lanes) -> Lanes {
    std::array::from_fn(|lane| if active[lane] != 0 { data[lane] } else { 0 })
}

/// DPP's fetch: the value, and whether the source lane is active.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn dpp(out: *const *mut Lanes, args: *const *const Lanes, ctrl: u32) {
    // SAFETY: the function takes two arguments.
    let (source, active) = unsafe { (arg(args, 0), arg(args, 1)) };
    let from = &DPP_SOURCES[ctrl as usize % DPP_SOURCES.len()];
    let fetched = |data: &Lanes| -> Lanes {
        std::array::from_fn(|lane| match from[lane] {
            NONE => 0,
            from => data[usize::from(from & 63)],
        })
    };
    let values = fetched(&where_active(source, active));
    let valid = fetched(&where_active(&[1; 64], active));
    // SAFETY: it gives two results.
    unsafe { give(out, 0, values) };
    // SAFETY: as above.
    unsafe { give(out, 1, valid) };
}

/// The lanes that `ds_swizzle` reads, by lane.
#[inline(always)]
pub(super) fn swizzle_sources(imm: u32) -> Lanes {
    let (offset, gfx9) = (imm & 0xffff, imm >> 31 != 0);
    /// One loop for each mode, so that it vectorises.
    #[inline(always)]
    fn lanes(source: impl Fn(u32) -> u32) -> Lanes {
        std::array::from_fn(|lane| (lane & 32) as u32 | source(lane as u32 & 31) & 31)
    }
    let mask = offset & 31;
    if gfx9 && offset >= 0xe000 {
        // FFT: bits reversed, except those of the mask
        let by = mask.count_ones();
        lanes(|i| (i.reverse_bits() >> 27 >> by) | i & mask)
    } else if gfx9 && offset >= 0xc000 {
        let rotate = match (offset >> 5 & 31, offset >> 10 & 1) {
            (by, 0) => by,
            (by, _) => by.wrapping_neg(),
        };
        lanes(|i| i & mask | i.wrapping_add(rotate) & !mask)
    } else if offset & 0x8000 != 0 {
        lanes(|i| i & !3 | offset >> (2 * (i & 3)) & 3)
    } else {
        let (or, xor) = (offset >> 5 & 31, offset >> 10 & 31);
        lanes(|i| (i & mask | or) ^ xor)
    }
}

/// `ds_swizzle`: inactive lanes are read as 0.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn swizzle(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    imm: u32,
) {
    // SAFETY: the function takes two arguments.
    let (source, active) = unsafe { (arg(args, 0), arg(args, 1)) };
    let data = where_active(source, active);
    let values = swizzle_sources(imm).map(|from| data[(from & 63) as usize]);
    // SAFETY: it gives one result.
    unsafe { give(out, 0, values) };
}

/// `ds_permute`: active lanes send to a lane; the highest sender wins, lanes without one get 0.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn permute(out: *const *mut Lanes, args: *const *const Lanes, _: u32) {
    // SAFETY: the function takes three arguments.
    let (to, data, active) = unsafe { (arg(args, 0), arg(args, 1), arg(args, 2)) };
    // Inactive lanes send to an extra lane.
    let mut values = [0; 65];
    for lane in 0..64 {
        let to = if active[lane] != 0 {
            to[lane] >> 2 & 63
        } else {
            64
        };
        values[to as usize] = data[lane];
    }
    // SAFETY: it gives one result.
    unsafe { give(out, 0, std::array::from_fn(|lane| values[lane])) };
}

/// `ds_bpermute`: lanes fetch from a lane; an inactive one is read as 0.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn bpermute(
    out: *const *mut Lanes,
    args: *const *const Lanes,
    _: u32,
) {
    // SAFETY: the function takes three arguments.
    let (from, data, active) = unsafe { (arg(args, 0), arg(args, 1), arg(args, 2)) };
    let data = where_active(data, active);
    let values = from.map(|from| data[(from >> 2 & 63) as usize]);
    // SAFETY: it gives one result.
    unsafe { give(out, 0, values) };
}
