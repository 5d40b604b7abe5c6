//! Loads and stores of scratch, where the dwords of the 64 lanes are adjacent: by SCRATCH, and by
//! MUBUF through descriptors that may be of scratch.
//!
//! Accesses within the running wave's own scratch are loops over lanes after one check of all
//! offsets; a uniform offset is a copy. Everything else (other buffers, elements that cross a
//! dword, faults, checked mode) is done lane by lane, from the beginning.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use lower::abi::Context;
use lower::ir::SCRATCH_DESCRIPTOR;

use super::items::{Byte, Dwords, Item, Short};
use super::*;
use crate::helpers::{Words, buffer};

/// Bytes from one dword of a lane to its next.
const ROW: u64 = 256;

/// The part of a wave's scratch that an access can reach.
#[derive(Clone, Copy)]
pub(super) struct Window {
    /// Address of offset 0 of lane 0.
    start: *mut u8,
    /// Bytes of each lane from there on.
    bytes: u64,
    /// The least offset.
    least: u32,
}

impl Window {
    /// The part from a guest address to the end of the running wave's scratch; empty in checked
    /// mode.
    #[inline(always)]
    pub(super) fn of(ctx: &Context, start: u64) -> Option<Window> {
        let away = start.wrapping_sub(ctx.scratch);
        (away < ctx.scratch_len).then(|| Window {
            start: std::ptr::with_exposed_provenance_mut(start as usize),
            bytes: (ctx.scratch_len - away) / 64,
            least: 0,
        })
    }

    /// The same with a maximum number of bytes for each lane.
    #[inline(always)]
    pub(super) fn at_most(self, bytes: u64) -> Window {
        Window {
            bytes: self.bytes.min(bytes),
            ..self
        }
    }

    /// The window of an access through a descriptor, if it is one of scratch and the window is in
    /// its range.
    #[inline(always)]
    fn described(ctx: &Context, [low, high, soffset, least]: [u64; 4]) -> Option<Window> {
        let words = [low >> 32, high >> 32].map(|word| word as u32);
        let mut both = words.iter().zip(SCRATCH_DESCRIPTOR);
        if !both.all(|(word, kind)| word & kind.mask == kind.bits) {
            return None;
        }
        let base = low & 0xffff_ffff_ffff;
        let window = Window::of(ctx, base.wrapping_add(soffset))?;
        (window.bytes + soffset <= u64::from(high as u32)).then_some(Window {
            least: least as u32,
            ..window
        })
    }
}

/// The offsets of active lanes.
#[derive(Clone, Copy)]
pub(super) enum Offsets<'a> {
    One(u32),
    Each(&'a Lanes),
}

impl Offsets<'_> {
    #[inline(always)]
    fn get(&self, lane: usize) -> u32 {
        match self {
            Offsets::One(word) => *word,
            Offsets::Each(lanes) => lanes[lane],
        }
    }

    /// Those of the lanes in `exec`, which is not 0, if all elements are in the window and do not
    /// cross a dword.
    #[inline(always)]
    fn checked(self, exec: u64, window: Window, bytes: u64, align: u32) -> Option<Self> {
        let first = self.get(exec.trailing_zeros() as usize);
        let (mut least, mut most, mut bits, mut unequal) = (first, first, first, 0);
        if let Offsets::Each(lanes) = self {
            for (half, words) in lanes.as_chunks::<32>().0.iter().enumerate() {
                let on = (exec >> (32 * half)) as u32;
                for (&word, lane) in words.iter().zip(0u32..) {
                    let on = (on >> lane & 1).wrapping_neg();
                    let word = word & on | first & !on;
                    least = least.min(word);
                    most = most.max(word);
                    bits |= word;
                    unequal |= word ^ first;
                }
            }
        }
        let aligned = bits & align == 0;
        let inside = least >= window.least && u64::from(most) + bytes <= window.bytes;
        let offsets = match unequal {
            0 => Offsets::One(first),
            _ => self,
        };
        (aligned && inside).then_some(offsets)
    }
}

/// Where the element of a lane is.
#[inline(always)]
fn place(window: Window, offset: u32, lane: usize) -> *mut u8 {
    let row = u64::from(offset / 4) * ROW;
    let byte = row + 4 * lane as u64 + u64::from(offset % 4);
    window.start.wrapping_add(byte as usize)
}

/// A load of elements of `n` dwords, or of one smaller; true if it was done.
///
/// # Safety
/// The window is of the running wave's scratch; there is a result slot for each register.
#[inline(always)]
unsafe fn load_items<T: Item>(
    window: Window,
    offsets: Offsets<'_>,
    exec: u64,
    n: usize,
    out: *const *mut Lanes,
) -> bool {
    let bytes = T::BYTES * n as u64;
    let Some(offsets) = offsets.checked(exec, window, bytes, T::ALIGN) else {
        return false;
    };
    // A result slot may be the offsets'.
    let copy;
    let offsets = match offsets {
        Offsets::Each(lanes) if n > 1 => {
            copy = *lanes;
            Offsets::Each(&copy)
        }
        other => other,
    };
    for i in 0..n {
        // SAFETY: the caller's contract.
        let slot: *mut u32 = unsafe { *out.add(i) }.cast();
        let row = Window {
            start: window.start.wrapping_add(ROW as usize * i),
            ..window
        };
        if let (Offsets::One(offset), u64::MAX, 4) = (offsets, exec, T::BYTES)
            && place(row, offset, 0).addr().is_multiple_of(8)
        {
            let from = place(row, offset, 0).cast::<u64>();
            for pair in 0..32 {
                // SAFETY: `checked` proved that the row lies in the wave's scratch; a slot has 64 words.
                unsafe {
                    let words = AtomicU64::from_ptr(from.add(pair)).load(Relaxed);
                    slot.cast::<u64>().add(pair).write_unaligned(words);
                }
            }
            continue;
        }
        for lane in active(exec) {
            let from = place(row, offsets.get(lane), lane);
            // SAFETY: `checked` proved that the element is aligned and lies in the wave's scratch; a slot has 64 words.
            unsafe { *slot.add(lane) = T::load::<false>(from)[0] };
        }
    }
    true
}

/// A store of elements of `n` dwords, or of one smaller; true if it was done.
///
/// # Safety
/// The window is of the running wave's scratch; `data` are slots, one for each register.
#[inline(always)]
unsafe fn store_items<T: Item>(
    window: Window,
    offsets: Offsets<'_>,
    exec: u64,
    n: usize,
    data: *const u64,
) -> bool {
    let bytes = T::BYTES * n as u64;
    let Some(offsets) = offsets.checked(exec, window, bytes, T::ALIGN) else {
        return false;
    };
    for i in 0..n {
        // SAFETY: the caller's contract.
        let slot = (unsafe { *data.add(i) }) as *const u32;
        let row = Window {
            start: window.start.wrapping_add(ROW as usize * i),
            ..window
        };
        if let (Offsets::One(offset), u64::MAX, 4) = (offsets, exec, T::BYTES)
            && place(row, offset, 0).addr().is_multiple_of(8)
        {
            let to = place(row, offset, 0).cast::<u64>();
            for pair in 0..32 {
                // SAFETY: `checked` proved that the row lies in the wave's scratch; a slot has 64 words.
                unsafe {
                    let words = slot.cast::<u64>().add(pair).read_unaligned();
                    AtomicU64::from_ptr(to.add(pair)).store(words, Relaxed);
                }
            }
            continue;
        }
        for lane in active(exec) {
            let to = place(row, offsets.get(lane), lane);
            // SAFETY: `checked` proved that the element is aligned and lies in the wave's scratch; a slot has 64 words.
            unsafe { T::store::<false>(to, [*slot.add(lane), 0, 0, 0]) };
        }
    }
    true
}

/// A load from a window; true if it was done.
///
/// # Safety
/// See [`load_items`].
#[inline(always)]
pub(super) unsafe fn load_in(
    window: Window,
    offsets: Offsets<'_>,
    exec: u64,
    element: Element,
    out: *const *mut Lanes,
) -> bool {
    if !window.start.addr().is_multiple_of(4) {
        return false;
    }
    // SAFETY: the caller's contract.
    unsafe {
        match element {
            Element::Dwords(n) => load_items::<Dwords<1>>(window, offsets, exec, n, out),
            Element::Byte(false) => load_items::<Byte<false>>(window, offsets, exec, 1, out),
            Element::Byte(true) => load_items::<Byte<true>>(window, offsets, exec, 1, out),
            Element::Short(false) => load_items::<Short<false>>(window, offsets, exec, 1, out),
            Element::Short(true) => load_items::<Short<true>>(window, offsets, exec, 1, out),
        }
    }
}

/// A store to a window; true if it was done.
///
/// # Safety
/// See [`store_items`].
#[inline(always)]
pub(super) unsafe fn store_in(
    window: Window,
    offsets: Offsets<'_>,
    exec: u64,
    element: Element,
    data: *const u64,
) -> bool {
    if !window.start.addr().is_multiple_of(4) {
        return false;
    }
    // SAFETY: the caller's contract.
    unsafe {
        match element {
            Element::Dwords(n) => store_items::<Dwords<1>>(window, offsets, exec, n, data),
            Element::Byte(_) => store_items::<Byte<false>>(window, offsets, exec, 1, data),
            Element::Short(_) => store_items::<Short<false>>(window, offsets, exec, 1, data),
        }
    }
}

/// Is it an access to scratch, or to a buffer that may be scratch, by this word?
#[inline(always)]
pub(super) fn is_scratch(code: u64) -> bool {
    let space = code >> 8 & 0xff;
    space == Space::Scratch as u64 || space == Space::Buffer as u64
}

/// The window of such an access, given its trailing arguments, and the offsets.
///
/// # Safety
/// The arguments are those of a memory node on scratch or a buffer, the trailing ones of which
/// begin at `behind`.
#[inline(always)]
unsafe fn reached<'a>(
    ctx: &Context,
    args: *const u64,
    behind: usize,
) -> Option<(Window, Offsets<'a>)> {
    // SAFETY: the caller's contract.
    let [offset, kind, _, code] = unsafe { *args.cast::<[u64; 4]>() };
    let window = match code >> 8 & 0xff == Space::Scratch as u64 {
        // SAFETY: the caller's contract.
        true => Window::of(ctx, unsafe { *args.add(behind) })?,
        // SAFETY: the caller's contract.
        false => Window::described(ctx, unsafe { *args.add(behind).cast::<[u64; 4]>() })?,
    };
    let offsets = match kind {
        0 => {
            // SAFETY: the caller's contract: it is the address of a slot.
            Offsets::Each(unsafe { &*(offset as *const Lanes) })
        }
        _ => Offsets::One(offset as u32),
    };
    Some((window, offsets))
}

/// `EffectFn::Load` of the common kind; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`; the access is one of [`is_scratch`].
#[inline(always)]
pub(super) unsafe fn load_common(ctx: &Context, args: *const u64, out: *const *mut Lanes) -> bool {
    // SAFETY: the caller's contract.
    let [_, _, exec, code] = unsafe { *args.cast::<[u64; 4]>() };
    // SAFETY: the caller's contract.
    unsafe {
        exec == 0
            || reached(ctx, args, 4).is_some_and(|(window, offsets)| {
                load_in(window, offsets, exec, Element::of(code), out)
            })
    }
}

/// `EffectFn::Store` of the common kind; true if it was done.
///
/// # Safety
/// The contract of `lower::abi::EffectFnPtr`; the access is one of [`is_scratch`].
#[inline(always)]
pub(super) unsafe fn store_common(ctx: &Context, args: *const u64) -> bool {
    // SAFETY: the caller's contract.
    let [_, _, exec, code] = unsafe { *args.cast::<[u64; 4]>() };
    let element = Element::of(code);
    // SAFETY: the caller's contract.
    unsafe {
        exec == 0
            || reached(ctx, args, 4 + element.words()).is_some_and(|(window, offsets)| {
                store_in(window, offsets, exec, element, args.add(4))
            })
    }
}

// ---- lane by lane

/// The offsets of a call.
fn offsets<'a>(call: &Call<'a>) -> Words<'a> {
    match call.raw(1) {
        0 => Words::Lanes(call.lanes(0)),
        _ => Words::Wave(call.raw(0) as u32),
    }
}

/// The registers of a lane from byte `from` of its element on, in scratch layout: the bytes of a
/// piece of at most a dword, which may cross a dword.
struct Piece {
    base: u64,
    lane: u64,
    offset: u32,
    bytes: usize,
}

impl Piece {
    fn address(&self, byte: u32) -> u64 {
        let at = self.offset.wrapping_add(byte);
        let row = u64::from(at / 4) * ROW;
        let within = 4 * self.lane + u64::from(at % 4);
        self.base.wrapping_add(row).wrapping_add(within)
    }

    fn is_whole(&self) -> bool {
        (self.offset % 4) as usize + self.bytes <= 4
    }

    fn load(&self, memory: &Memory) -> Result<[u8; 4], FaultKind> {
        let mut out = [0; 4];
        match (self.is_whole(), self.bytes) {
            (true, 4) => out = memory.load::<4>(self.address(0))?,
            (true, 2) => out[..2].copy_from_slice(&memory.load::<2>(self.address(0))?),
            _ => {
                for (byte, i) in out.iter_mut().zip(0..).take(self.bytes) {
                    *byte = memory.load_u8(self.address(i))?;
                }
            }
        }
        Ok(out)
    }

    fn store(&self, memory: &Memory, data: [u8; 4]) -> Result<(), FaultKind> {
        match (self.is_whole(), self.bytes) {
            (true, 4) => memory.store(self.address(0), data)?,
            (true, 2) => memory.store(self.address(0), [data[0], data[1]])?,
            _ => {
                for (&byte, i) in data.iter().zip(0..).take(self.bytes) {
                    memory.store_u8(self.address(i), byte)?;
                }
            }
        }
        Ok(())
    }
}

/// Visits the pieces of a SCRATCH access: those of all lanes, then the next dword of each. In
/// checked mode all lanes must stay within their private segments before any of them acts.
fn each_piece(
    call: &mut Call<'_>,
    (access, element, base): (Access, Element, u64),
    mut act: impl FnMut(&Memory, usize, usize, Piece) -> Result<(), FaultKind>,
) -> Result<(), ExitCode> {
    let (exec, offsets) = (call.raw(2), offsets(call));
    let group = &call.host().group;
    let (memory, size) = (group.memory, u64::from(group.scratch.lane_bytes));
    if group.checked {
        for lane in active(exec) {
            let offset = u64::from(offsets.get(lane));
            Call::inside(Private::Scratch, access, offset, element.bytes(), size)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
        }
    }
    for i in 0..element.words() {
        for lane in active(exec) {
            let piece = Piece {
                base,
                lane: lane as u64,
                offset: offsets.get(lane).wrapping_add(4 * i as u32),
                bytes: element.bytes().min(4),
            };
            act(memory, i, lane, piece).map_err(|kind| call.fault(kind, Some(lane)))?;
        }
    }
    Ok(())
}

/// `EffectFn::Load` of scratch or a buffer.
pub(super) fn load_lanes(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (exec, code) = (call.raw(2), call.raw(3));
    let element = Element::of(code);
    let mut results = [[0; 64]; 4];
    if code >> 8 & 0xff == Space::Buffer as u64 {
        let offsets = offsets(call);
        buffer::load_raw(call, offsets, [4, 5, 6], element, &mut results)?;
    } else {
        let base = call.raw(4);
        each_piece(
            call,
            (Access::Read, element, base),
            |memory, i, lane, piece| {
                let bytes = piece.load(memory)?;
                let first = match element {
                    Element::Dwords(_) => u32::from_le_bytes(bytes),
                    _ => element.decode(&bytes)[0],
                };
                results[i][lane] = first;
                Ok(())
            },
        )?;
    }
    give(call, exec, &results[..element.words()]);
    Ok(())
}

/// `EffectFn::Store` of scratch or a buffer.
pub(super) fn store_lanes(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let element = Element::of(call.raw(3));
    let words = element.words();
    let data: [&Lanes; 4] = std::array::from_fn(|i| call.lanes(4 + i.min(words - 1)));
    let behind = 4 + words;
    if call.raw(3) >> 8 & 0xff == Space::Buffer as u64 {
        let offsets = offsets(call);
        let places = [behind, behind + 1, behind + 2];
        return buffer::store_raw(call, offsets, places, element, data);
    }
    let base = call.raw(behind);
    each_piece(
        call,
        (Access::Write, element, base),
        |memory, i, lane, piece| piece.store(memory, data[i][lane].to_le_bytes()),
    )
}
