//! Pure functions that move values between lanes.

use lower::abi::Lanes;

use crate::choices;

/// Argument `i` of a lane function.
///
/// # Safety
/// `args` points to more than `i` addresses of lane slots.
unsafe fn arg<'a>(args: *const *const Lanes, i: usize) -> &'a Lanes {
    // SAFETY: the caller's contract.
    let slot = unsafe { *args.add(i) };
    // SAFETY: a lane slot that nobody writes during the call; results are written at the end.
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

/// The lane that a DPP control field names for a lane, if there is one.
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
        // The first row (two rows) has no row before it.
        0x142 if lane < 16 => choices::DPP_BCAST_FIRST_ROW_IS_OWN.then_some(lane),
        0x142 => Some(row - 1),
        0x143 if lane < 32 => choices::DPP_BCAST_FIRST_ROW_IS_OWN.then_some(lane),
        0x143 => Some(31),
        // row_newbcast (gfx90a)
        0x150..=0x15f => Some(row | count),
        _ => None,
    }
}

/// DPP's fetch: the value, and whether there was an active source lane.
///
/// # Safety
/// The contract of `lower::abi::LaneFnPtr`.
pub(super) unsafe extern "C" fn dpp(out: *const *mut Lanes, args: *const *const Lanes, ctrl: u32) {
    // SAFETY: the function takes two arguments.
    let (source, active) = unsafe { (arg(args, 0), arg(args, 1)) };
    let mut values = [0; 64];
    let mut valid = [0; 64];
    for lane in 0..64 {
        if let Some(from) = dpp_source(ctrl, lane)
            && active[from] != 0
        {
            values[lane] = source[from];
            valid[lane] = 1;
        }
    }
    // SAFETY: it gives two results.
    unsafe { give(out, 0, values) };
    // SAFETY: as above.
    unsafe { give(out, 1, valid) };
}

/// The lane that `ds_swizzle` reads for a lane.
fn swizzle_source(offset: u32, gfx9: bool, lane: usize) -> usize {
    let (group, i) = (lane & 32, lane as u32 & 31);
    let j = if gfx9 && offset >= 0xe000 {
        // FFT: bits reversed, except those of the mask
        let mask = offset & 31;
        (i.reverse_bits() >> 27 >> mask.count_ones()) | i & mask
    } else if gfx9 && offset >= 0xc000 {
        let (rotate, mask) = (offset >> 5 & 31, offset & 31);
        let turned = if offset >> 10 & 1 != 0 {
            i.wrapping_sub(rotate)
        } else {
            i + rotate
        };
        i & mask | turned & !mask
    } else if offset & 0x8000 != 0 {
        i & !3 | offset >> (2 * (i & 3)) & 3
    } else {
        (i & offset | offset >> 5 & 31) ^ offset >> 10 & 31
    };
    group | (j & 31) as usize
}

/// `ds_swizzle`: lanes that are off are read as 0.
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
    let values = std::array::from_fn(|lane| {
        let from = swizzle_source(imm & 0xffff, imm >> 31 != 0, lane);
        if active[from] != 0 { source[from] } else { 0 }
    });
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
    let mut values = [0; 64];
    for lane in 0..64 {
        if active[lane] != 0 {
            values[(to[lane] >> 2 & 63) as usize] = data[lane];
        }
    }
    // SAFETY: it gives one result.
    unsafe { give(out, 0, values) };
}

/// `ds_bpermute`: lanes fetch from a lane; one that is off is read as 0.
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
    let values = std::array::from_fn(|lane| {
        let source = (from[lane] >> 2 & 63) as usize;
        if active[source] != 0 { data[source] } else { 0 }
    });
    // SAFETY: it gives one result.
    unsafe { give(out, 0, values) };
}
