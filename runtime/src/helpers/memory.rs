//! Loads and stores of the whole wave: global memory, FLAT with its apertures, LDS. Lanes act in
//! ascending order. Addresses that are all equal, or follow one another, are one access.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use frontend::Encoding;
use frontend::op::{Op, Space};
use lower::abi::{ExitCode, Lanes};

use super::Call;
use crate::choices;
use crate::engine::{APERTURE_BYTES, PRIVATE_BASE, SHARED_BASE};
use crate::fault::{Access, FaultKind, Private};
use crate::memory::Memory;

mod common;

pub(super) use common::entry as common;

const _: () = assert!(SHARED_BASE == lower::abi::SHARED_BASE);
const _: () = assert!(PRIVATE_BASE == lower::abi::PRIVATE_BASE);
const _: () = assert!(APERTURE_BYTES == 1 << 32);

/// The data of one lane in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Element {
    /// Dwords, 1 to 4.
    Dwords(usize),
    /// A byte, sign-extended when set.
    Byte(bool),
    /// Two bytes, sign-extended when set.
    Short(bool),
}

impl Element {
    /// From the code that `lower::functions::mem_code` makes.
    pub(super) fn of(code: u64) -> Element {
        match code & 0xff {
            32 => Element::Byte(false),
            33 => Element::Byte(true),
            34 => Element::Short(false),
            35 => Element::Short(true),
            n @ 1..=4 => Element::Dwords(n as usize),
            n => unreachable!("bug: data kind {n} in a memory node"),
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(self) -> usize {
        match self {
            Element::Dwords(n) => 4 * n,
            Element::Byte(_) => 1,
            Element::Short(_) => 2,
        }
    }

    /// Registers.
    pub(super) fn words(self) -> usize {
        match self {
            Element::Dwords(n) => n,
            _ => 1,
        }
    }

    /// The registers of the bytes at the front of `bytes`.
    pub(super) fn decode(self, bytes: &[u8]) -> [u32; 4] {
        let mut words = [0; 4];
        match self {
            Element::Dwords(n) => {
                for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)).take(n) {
                    *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            Element::Byte(false) => words[0] = u32::from(bytes[0]),
            Element::Byte(true) => words[0] = i32::from(bytes[0] as i8) as u32,
            Element::Short(signed) => {
                let short = u16::from_le_bytes([bytes[0], bytes[1]]);
                words[0] = match signed {
                    false => u32::from(short),
                    true => i32::from(short as i16) as u32,
                };
            }
        }
        words
    }

    /// The bytes of registers.
    pub(super) fn encode(self, words: [u32; 4]) -> [u8; 16] {
        let mut bytes = [0; 16];
        for (i, word) in words.into_iter().enumerate() {
            bytes[4 * i..4 * i + 4].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// The addresses of the lanes: low words, and high words where there are any.
#[derive(Clone, Copy)]
pub(super) struct Addresses<'a> {
    lo: &'a Lanes,
    hi: Option<&'a Lanes>,
}

impl<'a> Addresses<'a> {
    /// From two arguments of a memory node's call.
    fn of(call: &Call<'a>) -> Addresses<'a> {
        let hi = (call.raw(1) != 0).then(|| call.lanes(1));
        Addresses {
            lo: call.lanes(0),
            hi,
        }
    }

    /// The address of a lane.
    #[inline]
    pub(super) fn get(&self, lane: usize) -> u64 {
        let hi = self.hi.map_or(0, |hi| hi[lane]);
        u64::from(self.lo[lane]) | u64::from(hi) << 32
    }

    /// Does a lane's high word say LDS or scratch aperture?
    fn any_aperture(&self, exec: u64) -> bool {
        let Some(hi) = self.hi else { return false };
        let (shared, private) = ((SHARED_BASE >> 32) as u32, (PRIVATE_BASE >> 32) as u32);
        let mut any = false;
        for (lane, &word) in hi.iter().enumerate() {
            any |= (word == shared || word == private) & (exec >> lane & 1 != 0);
        }
        any
    }
}

/// How the active lanes' addresses lie.
enum Pattern {
    /// All the same.
    Uniform(u64),
    /// Lane l is at the address plus l times the element's size.
    Contiguous(u64),
    /// Anything.
    Scattered,
}

/// How the addresses lie; EXEC is not 0.
fn pattern(at: &Addresses<'_>, exec: u64, step: u64) -> Pattern {
    let first = exec.trailing_zeros() as usize;
    let base = at.get(first);
    let start = base.wrapping_sub(first as u64 * step);
    // Differences of all lanes are collected without branches; the compiler vectorises the loops.
    let mut unequal = 0u32;
    let mut apart = 0u32;
    let step = step as u32;
    let zero = [0; 64];
    let hi = at.hi.unwrap_or(&zero);
    // High words must be the base's; a range that crosses 4 GiB counts as scattered.
    let lanes = at.lo.iter().zip(hi).zip(0u32..);
    if exec == u64::MAX {
        for ((&lo, &hi), lane) in lanes {
            let high = hi ^ (base >> 32) as u32;
            unequal |= lo ^ base as u32 | high;
            apart |= lo ^ (start as u32).wrapping_add(lane * step) | high;
        }
    } else {
        for ((&lo, &hi), lane) in lanes {
            let active = ((exec >> lane & 1) as u32).wrapping_neg();
            let high = hi ^ (base >> 32) as u32;
            unequal |= (lo ^ base as u32 | high) & active;
            apart |= (lo ^ (start as u32).wrapping_add(lane * step) | high) & active;
        }
    }
    if unequal == 0 {
        Pattern::Uniform(base)
    } else if apart == 0 && (start as u32).checked_add(63 * step).is_some() {
        Pattern::Contiguous(start)
    } else {
        Pattern::Scattered
    }
}

/// Lanes that are on, ascending.
pub(super) fn active(exec: u64) -> impl Iterator<Item = usize> {
    let mut rest = exec;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}

/// A host pointer to `bytes` bytes of the arena at a guest address, when they all lie below its limit.
#[inline]
fn arena(memory: &Memory, address: u64, bytes: u64) -> Option<*mut u8> {
    let offset = address.wrapping_sub(memory.arena_base());
    let limit = memory.limit();
    (offset < limit && limit - offset >= bytes)
        .then(|| std::ptr::with_exposed_provenance_mut(address as usize))
}

/// The dword at an aligned pointer.
///
/// # Safety
/// `ptr` points to four bytes of guest memory.
#[inline(always)]
unsafe fn word(ptr: *mut u8) -> &'static AtomicU32 {
    // SAFETY: the caller's contract; all accesses to guest memory are atomic, and the reference is
    // used at once.
    unsafe { AtomicU32::from_ptr(ptr.cast()) }
}

/// The pair of dwords at an aligned pointer.
///
/// # Safety
/// `ptr` points to eight bytes of guest memory.
#[inline(always)]
unsafe fn pair(ptr: *mut u8) -> &'static AtomicU64 {
    // SAFETY: as for `word`.
    unsafe { AtomicU64::from_ptr(ptr.cast()) }
}

/// Loads `n` dwords. Aligned pairs are loaded in one piece: waves that talk to each other through
/// memory rely on it.
///
/// # Safety
/// `ptr` is aligned to a dword and points to `n` dwords of guest memory.
#[inline(always)]
unsafe fn load_words(ptr: *mut u8, n: usize) -> [u32; 4] {
    let mut words = [0; 4];
    if n.is_multiple_of(2) && ptr.addr().is_multiple_of(8) {
        for i in (0..n).step_by(2) {
            // SAFETY: the caller's contract.
            let both = unsafe { pair(ptr.wrapping_add(4 * i)) }.load(Relaxed);
            (words[i], words[i + 1]) = (both as u32, (both >> 32) as u32);
        }
    } else {
        for (i, value) in words.iter_mut().enumerate().take(n) {
            // SAFETY: the caller's contract.
            *value = unsafe { word(ptr.wrapping_add(4 * i)) }.load(Relaxed);
        }
    }
    words
}

/// Stores `n` dwords, aligned pairs in one piece.
///
/// # Safety
/// `ptr` is aligned to a dword and points to `n` dwords of guest memory.
#[inline(always)]
unsafe fn store_words(ptr: *mut u8, n: usize, words: [u32; 4]) {
    if n.is_multiple_of(2) && ptr.addr().is_multiple_of(8) {
        for i in (0..n).step_by(2) {
            let both = u64::from(words[i]) | u64::from(words[i + 1]) << 32;
            // SAFETY: the caller's contract.
            unsafe { pair(ptr.wrapping_add(4 * i)) }.store(both, Relaxed);
        }
    } else {
        for (i, &value) in words.iter().enumerate().take(n) {
            // SAFETY: the caller's contract.
            unsafe { word(ptr.wrapping_add(4 * i)) }.store(value, Relaxed);
        }
    }
}

// ---- loads

/// `EffectFn::Load`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let code = call.raw(3);
    let exec = call.raw(2);
    let at = Addresses::of(call);
    let element = Element::of(code);
    if exec == 0 {
        return Ok(());
    }
    match code >> 8 & 0xff {
        space if space == Space::Lds as u64 => load_lds(call, at, exec, element),
        space if space == Space::Flat as u64 && at.any_aperture(exec) => {
            load_flat(call, at, exec, element)
        }
        _ => load_global(call, at, exec, element),
    }
}

/// Writes the results of all registers.
fn give(call: &mut Call<'_>, exec: u64, results: &[Lanes]) {
    for (i, lanes) in results.iter().enumerate() {
        call.result(i, exec, lanes);
    }
}

fn load_global(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let mut results = [[0; 64]; 4];
    let words = element.words();
    let bytes = element.bytes() as u64;
    match pattern(&at, exec, bytes) {
        Pattern::Uniform(address) => {
            let lane = exec.trailing_zeros() as usize;
            let value = read_hard(call, memory, address, element);
            let value = value.map_err(|kind| call.fault(kind, Some(lane)))?;
            for (result, word) in results.iter_mut().zip(value) {
                *result = [word; 64];
            }
        }
        Pattern::Contiguous(start) if let Some(ptr) = bulk(memory, start, element) => {
            read_bulk(ptr, element, &mut results);
        }
        _ => {
            for lane in active(exec) {
                let address = at.get(lane);
                let value = match (element, arena(memory, address, bytes)) {
                    (Element::Dwords(n), Some(ptr)) if address.is_multiple_of(4) => {
                        // SAFETY: `arena` proved that the element's bytes are there.
                        unsafe { load_words(ptr, n) }
                    }
                    _ => read_hard(call, memory, address, element)
                        .map_err(|kind| call.fault(kind, Some(lane)))?,
                };
                for (result, word) in results.iter_mut().zip(value).take(words) {
                    result[lane] = word;
                }
            }
        }
    }
    give(call, exec, &results[..words]);
    Ok(())
}

/// A pointer for an access of all 64 lanes, when it is allowed as a whole and aligned.
fn bulk(memory: &Memory, start: u64, element: Element) -> Option<*mut u8> {
    let align = element.bytes().min(4) as u64;
    if !start.is_multiple_of(align) {
        return None;
    }
    arena(memory, start, 64 * element.bytes() as u64)
}

/// Reads 64 elements that follow one another; `ptr` comes from [`bulk`].
fn read_bulk(ptr: *mut u8, element: Element, results: &mut [Lanes; 4]) {
    match element {
        Element::Dwords(1) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: `bulk` proved that 64 elements are there.
                *value = unsafe { word(ptr.wrapping_add(4 * i)) }.load(Relaxed);
            }
        }
        Element::Dwords(n) => {
            for lane in 0..64 {
                // SAFETY: `bulk` proved that 64 elements are there.
                let words = unsafe { load_words(ptr.wrapping_add(4 * lane * n), n) };
                for (result, word) in results.iter_mut().zip(words).take(n) {
                    result[lane] = word;
                }
            }
        }
        Element::Byte(signed) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: `bulk` proved that 64 elements are there; all accesses are atomic.
                let byte = unsafe { std::sync::atomic::AtomicU8::from_ptr(ptr.wrapping_add(i)) }
                    .load(Relaxed);
                *value = match signed {
                    false => u32::from(byte),
                    true => i32::from(byte as i8) as u32,
                };
            }
        }
        Element::Short(signed) => {
            for (i, value) in results[0].iter_mut().enumerate() {
                // SAFETY: as above; `bulk` proved alignment too.
                let short = unsafe {
                    std::sync::atomic::AtomicU16::from_ptr(ptr.wrapping_add(2 * i).cast())
                }
                .load(Relaxed);
                *value = match signed {
                    false => u32::from(short),
                    true => i32::from(short as i16) as u32,
                };
            }
        }
    }
}

/// The address as the instruction at the site forms it: those of buffers wrap at 48 bits.
pub(super) fn wrapped(call: &Call<'_>, address: u64) -> u64 {
    match call.site.inst.desc.encoding {
        Encoding::Mubuf => address & ((1 << 48) - 1),
        _ => address,
    }
}

/// Where the bytes of a scratch access lie that leaves its dword: dwords of a lane lie apart. Translated code
/// marks it by the misalignment in bits 61:60 of the address of the dword.
fn apart(call: &Call<'_>, address: u64) -> Option<impl Iterator<Item = u64> + use<>> {
    let (skew, dword) = (address >> 60 & 3, address & !(3 << 60));
    let scratch = call.site.inst.desc.encoding == Encoding::Scratch;
    (scratch && skew != 0).then(|| (skew..).map(move |at| dword + 256 * (at / 4) + at % 4))
}

/// One lane's load from global memory; what fails may lie apart or at a wrapped address.
fn read_hard(
    call: &Call<'_>,
    memory: &Memory,
    address: u64,
    element: Element,
) -> Result<[u32; 4], FaultKind> {
    let error = match read(memory, address, element) {
        Ok(words) => return Ok(words),
        Err(error) => error,
    };
    if let Some(places) = apart(call, address) {
        let mut bytes = [0; 16];
        for (byte, place) in bytes.iter_mut().zip(places).take(element.bytes()) {
            *byte = memory.load_u8(place)?;
        }
        return Ok(element.decode(&bytes));
    }
    match wrapped(call, address) {
        at if at == address => Err(error),
        at => read(memory, at, element),
    }
}

/// One lane's store to global memory; what fails may lie apart or at a wrapped address.
fn write_hard(
    call: &Call<'_>,
    memory: &Memory,
    address: u64,
    element: Element,
    words: [u32; 4],
) -> Result<(), FaultKind> {
    let Err(error) = write(memory, address, element, words) else {
        return Ok(());
    };
    if let Some(places) = apart(call, address) {
        let bytes = element.encode(words);
        for (&byte, place) in bytes.iter().zip(places).take(element.bytes()) {
            memory.store_u8(place, byte)?;
        }
        return Ok(());
    }
    match wrapped(call, address) {
        at if at == address => Err(error),
        at => write(memory, at, element, words),
    }
}

/// One lane's load from global memory.
pub(super) fn read(memory: &Memory, address: u64, element: Element) -> Result<[u32; 4], FaultKind> {
    let mut words = [0; 4];
    match element {
        Element::Dwords(2) => return Ok(element.decode(&memory.load::<8>(address)?)),
        Element::Dwords(4) => return Ok(element.decode(&memory.load::<16>(address)?)),
        Element::Dwords(n) => memory.load_dwords(address, &mut words[..n])?,
        Element::Byte(_) => return Ok(element.decode(&memory.load::<1>(address)?)),
        Element::Short(_) => return Ok(element.decode(&memory.load::<2>(address)?)),
    }
    Ok(words)
}

/// One lane's store to global memory.
pub(super) fn write(
    memory: &Memory,
    address: u64,
    element: Element,
    words: [u32; 4],
) -> Result<(), FaultKind> {
    match element {
        Element::Dwords(2) => {
            let [low, high, ..] = words.map(u64::from);
            memory.store_u64(address, low | high << 32)?;
        }
        Element::Dwords(4) => memory.store(address, element.encode(words))?,
        Element::Dwords(n) => memory.store_dwords(address, &words[..n])?,
        Element::Byte(_) => memory.store_u8(address, words[0] as u8)?,
        Element::Short(_) => memory.store_u16(address, words[0] as u16)?,
    }
    Ok(())
}

// ---- LDS

impl<'c> Call<'c> {
    /// The LDS bytes that instructions see.
    pub(super) fn lds(&mut self) -> &mut [u8] {
        // SAFETY: the engine stores the workgroup's buffer and a size within it; one wave of a group
        // runs at a time, on the thread that owns the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.ctx.lds, self.ctx.lds_len as usize) }
    }

    /// Checked mode: announces an access to LDS.
    pub(super) fn announce(
        &mut self,
        access: Access,
        offset: u64,
        bytes: usize,
        lane: usize,
    ) -> Result<(), ExitCode> {
        let group = &mut *self.host().group;
        if !group.checked {
            return Ok(());
        }
        let checked = group.lds.check(access, offset, bytes as u32);
        checked.map_err(|kind| self.fault(kind, Some(lane)))
    }

    /// As [`Call::announce`], of LDS of which only `size` bytes are there.
    pub(super) fn announce_below(
        &mut self,
        size: usize,
        access: Access,
        offset: u64,
        bytes: usize,
        lane: usize,
    ) -> Result<(), ExitCode> {
        if self.host().group.checked {
            Self::inside(Private::Lds, access, offset, bytes, size as u64)
                .map_err(|kind| self.fault(kind, Some(lane)))?;
        }
        self.announce(access, offset, bytes, lane)
    }
}

fn load_lds(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
) -> Result<(), ExitCode> {
    let mut results = [[0; 64]; 4];
    let words = element.words();
    let bytes = element.bytes();
    if call.host().group.checked {
        for lane in active(exec) {
            call.announce(Access::Read, u64::from(at.lo[lane]), bytes, lane)?;
        }
    }
    let lds = call.lds();
    for lane in active(exec) {
        let start = at.lo[lane] as usize;
        // Out of range reads 0.
        let Some(bytes) = lds.get(start..start + bytes) else {
            continue;
        };
        let value = match element {
            Element::Dwords(1) => [
                u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
                0,
                0,
                0,
            ],
            _ => element.decode(bytes),
        };
        for (result, word) in results.iter_mut().zip(value).take(words) {
            result[lane] = word;
        }
    }
    give(call, exec, &results[..words]);
    Ok(())
}

fn store_lds(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let bytes = element.bytes();
    if call.host().group.checked {
        for lane in active(exec) {
            call.announce(Access::Write, u64::from(at.lo[lane]), bytes, lane)?;
        }
    }
    let lds = call.lds();
    for lane in active(exec) {
        let start = at.lo[lane] as usize;
        // Out of range is dropped.
        let Some(to) = lds.get_mut(start..start + bytes) else {
            continue;
        };
        let encoded = element.encode(data.map(|lanes| lanes[lane]));
        to.copy_from_slice(&encoded[..bytes]);
    }
    Ok(())
}

// ---- FLAT

/// Where a flat address of a lane leads.
pub(super) enum Place {
    Global(u64),
    /// Offset in LDS.
    Lds(u64),
    /// Offset in the lane's scratch.
    Scratch(u64),
}

/// The place that a flat address names.
pub(super) fn place(address: u64) -> Place {
    match address & !(APERTURE_BYTES - 1) {
        SHARED_BASE => Place::Lds(address - SHARED_BASE),
        PRIVATE_BASE => Place::Scratch(address - PRIVATE_BASE),
        _ => Place::Global(address),
    }
}

/// What bounds the accesses of a FLAT instruction through its apertures, from the registers of the wave.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Bytes of LDS.
    lds: u64,
    /// Are misaligned accesses to LDS done in full? Else the low bits of the address are ignored.
    unaligned: bool,
    /// Address of the wave's scratch.
    scratch: u64,
    /// Bytes of a lane's scratch.
    lane_bytes: u64,
}

impl Bounds {
    /// From the last two arguments of a memory node on FLAT: FLAT_SCRATCH and the limit of LDS.
    pub(super) fn of(call: &mut Call<'_>, first: usize) -> Bounds {
        let (flat_scratch, limit) = (call.raw(first), call.raw(first + 1) & 0xffff_ffff);
        let lds = u64::from(call.ctx.lds_len).min(limit);
        let group = &call.host().group;
        let scratch = group.scratch;
        let unaligned = choices::lds_unaligned(group.gfx);
        // FLAT_SCRATCH is the address on gfx9; before it holds the size of a lane's scratch and, in units
        // of 256 bytes, the offset of the wave's.
        let (scratch, lane_bytes) = match group.gfx.is_gfx9() {
            true => (flat_scratch, u64::from(scratch.lane_bytes)),
            false => (
                scratch.hidden_base.wrapping_add((flat_scratch >> 32) * 256),
                flat_scratch & 0xffff_ffff,
            ),
        };
        Bounds {
            lds,
            unaligned,
            scratch,
            lane_bytes,
        }
    }
}

impl Call<'_> {
    /// An access through an aperture must lie inside.
    fn inside(
        space: Private,
        access: Access,
        offset: u64,
        bytes: usize,
        size: u64,
    ) -> Result<(), FaultKind> {
        if offset < size && size - offset >= bytes as u64 {
            return Ok(());
        }
        Err(FaultKind::OutsidePrivate {
            space,
            access,
            offset,
            bytes: bytes as u32,
            size,
        })
    }

    /// The LDS range of an access through the aperture.
    pub(super) fn flat_lds(
        &mut self,
        bounds: Bounds,
        access: Access,
        offset: u64,
        bytes: usize,
    ) -> Result<std::ops::Range<usize>, FaultKind> {
        Self::inside(Private::Lds, access, offset, bytes, bounds.lds)?;
        let offset = match bounds.unaligned {
            true => offset,
            false => offset & !(bytes.next_power_of_two() as u64 - 1),
        };
        let group = &mut *self.host().group;
        group.lds.check(access, offset, bytes as u32)?;
        Ok(offset as usize..offset as usize + bytes)
    }

    /// The guest address of byte `offset` of a lane's scratch, after the check of the whole access.
    pub(super) fn flat_scratch(
        &mut self,
        bounds: Bounds,
        access: Access,
        offset: u64,
        bytes: usize,
        lane: usize,
    ) -> Result<impl Fn(u64) -> u64 + use<>, FaultKind> {
        let (base, size) = (bounds.scratch, bounds.lane_bytes);
        Self::inside(Private::Scratch, access, offset, bytes, size)?;
        Ok(move |a: u64| base.wrapping_add((a / 4) * 256 + lane as u64 * 4 + a % 4))
    }
}

fn load_flat(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let mut results = [[0; 64]; 4];
    let words = element.words();
    let bytes = element.bytes();
    let bounds = Bounds::of(call, 4);
    for lane in active(exec) {
        let value = match place(at.get(lane)) {
            Place::Global(address) => read(memory, address, element),
            Place::Lds(offset) => call
                .flat_lds(bounds, Access::Read, offset, bytes)
                .map(|range| element.decode(&call.lds()[range])),
            Place::Scratch(offset) => read_scratch(call, bounds, memory, element, offset, lane)
                .map(|b| element.decode(&b)),
        };
        let value = value.map_err(|kind| call.fault(kind, Some(lane)))?;
        for (result, word) in results.iter_mut().zip(value).take(words) {
            result[lane] = word;
        }
    }
    give(call, exec, &results[..words]);
    Ok(())
}

/// `EffectFn::CheckLds`.
pub(super) fn check_lds(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (exec, bases) = (call.raw(1), call.words(2));
    let (offset, bytes, limit) = (call.raw(3) as u32, call.raw(4) as u32, call.raw(5));
    let access = match call.site.inst.op() {
        Op::Load(..) | Op::Read2 { .. } => Access::Read,
        Op::Store(..) | Op::Write2 { .. } => Access::Write,
        _ => Access::Atomic,
    };
    let size = u64::from(call.ctx.lds_len).min(limit & 0xffff_ffff);
    let gfx = call.host().group.gfx;
    for lane in active(exec) {
        let base = bases.get(lane);
        let place = u64::from(base.wrapping_add(offset) & !(bytes.next_power_of_two() - 1));
        let below = gfx == frontend::Gfx::Gfx600 && (base as i32) < 0;
        if below || place + u64::from(bytes) > size {
            let kind = FaultKind::OutsidePrivate {
                space: Private::Lds,
                access,
                offset: place,
                bytes,
                size,
            };
            return Err(call.fault(kind, Some(lane)));
        }
        call.announce(access, place, bytes as usize, lane)?;
    }
    Ok(())
}

/// `EffectFn::CheckScratch`.
pub(super) fn check_scratch(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (exec, offsets, bytes) = (call.raw(1), call.words(2), call.raw(3) as usize);
    let access = match call.site.inst.op() {
        Op::Store(..) => Access::Write,
        _ => Access::Read,
    };
    let size = u64::from(call.host().group.scratch.lane_bytes);
    for lane in active(exec) {
        let offset = u64::from(offsets.get(lane));
        Call::inside(Private::Scratch, access, offset, bytes, size)
            .map_err(|kind| call.fault(kind, Some(lane)))?;
    }
    Ok(())
}

/// The bytes of a lane's scratch.
fn read_scratch(
    call: &mut Call<'_>,
    bounds: Bounds,
    memory: &Memory,
    element: Element,
    offset: u64,
    lane: usize,
) -> Result<[u8; 16], FaultKind> {
    let size = element.bytes();
    let address = call.flat_scratch(bounds, Access::Read, offset, size, lane)?;
    let mut bytes = [0; 16];
    match (offset % 4, size) {
        (0, 4..) => {
            for i in (0..size).step_by(4) {
                let dword = memory.load::<4>(address(offset + i as u64))?;
                bytes[i..i + 4].copy_from_slice(&dword);
            }
        }
        (0..3, 2) => bytes[..2].copy_from_slice(&memory.load::<2>(address(offset))?),
        _ => {
            for (i, byte) in bytes.iter_mut().enumerate().take(size) {
                *byte = memory.load_u8(address(offset + i as u64))?;
            }
        }
    }
    Ok(bytes)
}

fn write_scratch(
    call: &mut Call<'_>,
    bounds: Bounds,
    memory: &Memory,
    element: Element,
    offset: u64,
    lane: usize,
    bytes: &[u8; 16],
) -> Result<(), FaultKind> {
    let size = element.bytes();
    let address = call.flat_scratch(bounds, Access::Write, offset, size, lane)?;
    match (offset % 4, size) {
        (0, 4..) => {
            for (i, dword) in bytes[..size].as_chunks::<4>().0.iter().enumerate() {
                memory.store(address(offset + 4 * i as u64), *dword)?;
            }
        }
        (0..3, 2) => memory.store(address(offset), [bytes[0], bytes[1]])?,
        _ => {
            for (i, &byte) in bytes.iter().enumerate().take(size) {
                memory.store_u8(address(offset + i as u64), byte)?;
            }
        }
    }
    Ok(())
}

fn store_flat(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let bytes = element.bytes();
    let bounds = Bounds::of(call, 4 + element.words());
    for lane in active(exec) {
        let words = data.map(|lanes| lanes[lane]);
        let encoded = element.encode(words);
        let done = match place(at.get(lane)) {
            Place::Global(address) => write(memory, address, element, words),
            Place::Lds(offset) => call
                .flat_lds(bounds, Access::Write, offset, bytes)
                .map(|range| call.lds()[range].copy_from_slice(&encoded[..bytes])),
            Place::Scratch(offset) => {
                write_scratch(call, bounds, memory, element, offset, lane, &encoded)
            }
        };
        done.map_err(|kind| call.fault(kind, Some(lane)))?;
    }
    Ok(())
}

// ---- stores

/// `EffectFn::Store`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let code = call.raw(3);
    let exec = call.raw(2);
    let at = Addresses::of(call);
    let element = Element::of(code);
    if exec == 0 {
        return Ok(());
    }
    let words = element.words();
    let data: [&Lanes; 4] = std::array::from_fn(|i| call.lanes(4 + i.min(words - 1)));
    match code >> 8 & 0xff {
        space if space == Space::Lds as u64 => store_lds(call, at, exec, element, data),
        space if space == Space::Flat as u64 && at.any_aperture(exec) => {
            store_flat(call, at, exec, element, data)
        }
        _ => store_global(call, at, exec, element, data),
    }
}

fn store_global(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let bytes = element.bytes() as u64;
    if exec == u64::MAX
        && let Element::Dwords(n) = element
        && let Pattern::Contiguous(start) = pattern(&at, exec, bytes)
        && let Some(ptr) = bulk(memory, start, element)
    {
        for lane in 0..64 {
            let words = data.map(|lanes| lanes[lane]);
            // SAFETY: `bulk` proved that 64 elements are there.
            unsafe { store_words(ptr.wrapping_add(4 * lane * n), n, words) };
        }
        return Ok(());
    }
    for lane in active(exec) {
        let address = at.get(lane);
        let words = data.map(|lanes| lanes[lane]);
        match (element, arena(memory, address, bytes)) {
            (Element::Dwords(n), Some(ptr)) if address.is_multiple_of(4) => {
                // SAFETY: `arena` proved that the element's bytes are there.
                unsafe { store_words(ptr, n, words) };
            }
            _ => write_hard(call, memory, address, element, words)
                .map_err(|kind| call.fault(kind, Some(lane)))?,
        }
    }
    Ok(())
}

/// The addresses of a call, for atomics.
pub(super) fn addresses<'a>(call: &Call<'a>) -> Addresses<'a> {
    Addresses::of(call)
}
