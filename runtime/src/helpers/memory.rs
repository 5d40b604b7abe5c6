//! Loads and stores of the whole wave: global memory, FLAT with its apertures, LDS. Lanes act in
//! ascending order. Uniform or contiguous addresses are one access.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use frontend::Encoding;
use frontend::op::{Op, Space};
use lower::abi::{ExitCode, Lanes};
use lower::ir::functions::more_of;

use super::Call;
use crate::engine::{APERTURE_BYTES, PRIVATE_BASE, SHARED_BASE};
use crate::fault::{Access, FaultKind, Private};
use crate::memory::Memory;

mod atomics;
mod common;
mod flat;
mod items;
mod lds;
mod scratch;
mod words;

pub(super) use common::entry as common;
pub(super) use flat::{Bounds, Place, place};
use flat::{load_flat, store_flat};
pub(super) use lds::{check_lds, fence};
use lds::{load_lds, store_lds};
use words::{arena, bulk, load_words, read_bulk, store_words};

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
    /// From the code of `lower::ir::functions::mem_code`.
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

    /// The registers of the leading bytes.
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
    /// From low and high words.
    pub(super) fn new(lo: &'a Lanes, hi: &'a Lanes) -> Addresses<'a> {
        Addresses { lo, hi: Some(hi) }
    }

    /// From two arguments of a memory node's call.
    fn of(call: &Call<'a>) -> Addresses<'a> {
        let hi = (call.raw(1) != 0).then(|| call.lanes(1));
        Addresses {
            lo: call.lanes(0),
            hi,
        }
    }

    /// The addresses with the offset in a memory node's word; `moved` is a buffer for the sums.
    fn with_more<'b>(self, code: u64, moved: &'b mut Option<[Lanes; 2]>) -> Addresses<'b>
    where
        'a: 'b,
    {
        let more = more_of(code);
        if more == 0 {
            return self;
        }
        let sum = |lane: usize| self.get(lane).wrapping_add(more as i32 as u64);
        let low = std::array::from_fn(|lane| sum(lane) as u32);
        let high = std::array::from_fn(|lane| (sum(lane) >> 32) as u32);
        let [lo, hi] = moved.insert([low, high]);
        Addresses {
            lo,
            hi: self.hi.map(|_| &*hi),
        }
    }

    /// The address of a lane.
    #[inline]
    pub(super) fn get(&self, lane: usize) -> u64 {
        let hi = self.hi.map_or(0, |hi| hi[lane]);
        u64::from(self.lo[lane]) | u64::from(hi) << 32
    }

    /// Is a lane's high word in the LDS or scratch aperture?
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

/// Pattern of the active lanes' addresses.
enum Pattern {
    /// All the same.
    Uniform(u64),
    /// Lane l is at the address plus l times the element's size.
    Contiguous(u64),
    /// Anything.
    Scattered,
}

/// The pattern of the addresses; EXEC is not 0.
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

/// Active lanes, ascending.
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

/// `EffectFn::Load`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let code = call.raw(3);
    let exec = call.raw(2);
    if scratch::is_scratch(code) {
        return scratch::load_lanes(call);
    }
    let mut moved = None;
    let at = Addresses::of(call).with_more(code, &mut moved);
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
    let mut results = [[0; 64]; 4];
    load_elements(call, at, exec, element, &mut results)?;
    give(call, exec, &results[..element.words()]);
    Ok(())
}

/// Loads the elements of the lanes in EXEC, which is not 0, from global memory; results of other lanes are undefined.
pub(super) fn load_elements(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    results: &mut [Lanes; 4],
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
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
        Pattern::Contiguous(start) if let Some(ptr) = bulk::<true>(memory, start, element) => {
            read_bulk(ptr, element, results);
        }
        _ => {
            for lane in active(exec) {
                let address = at.get(lane);
                let value = match (element, arena::<true>(memory, address, bytes)) {
                    (Element::Dwords(n), Some(ptr)) if address.is_multiple_of(4) => {
                        // SAFETY: `arena` proved that the element's bytes are in the arena.
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
    Ok(())
}

/// The effective address of the site's instruction: those of buffers wrap at 48 bits.
pub(super) fn wrapped(call: &Call<'_>, address: u64) -> u64 {
    match call.site.inst.desc.encoding {
        Encoding::Mubuf => address & ((1 << 48) - 1),
        _ => address,
    }
}

/// One lane's load from global memory; a failed access may be at a wrapped address.
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
    match wrapped(call, address) {
        at if at == address => Err(error),
        at => read(memory, at, element),
    }
}

/// One lane's store to global memory; a failed access may be at a wrapped address.
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

/// `EffectFn::Store`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let code = call.raw(3);
    let exec = call.raw(2);
    if scratch::is_scratch(code) {
        return scratch::store_lanes(call);
    }
    let mut moved = None;
    let at = Addresses::of(call).with_more(code, &mut moved);
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

/// Stores the elements of the lanes in EXEC, which is not 0, to global memory.
pub(super) fn store_global(
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
        && let Some(ptr) = bulk::<false>(memory, start, element)
    {
        for lane in 0..64 {
            let words = data.map(|lanes| lanes[lane]);
            // SAFETY: `bulk` proved that 64 elements are in range.
            unsafe { store_words(ptr.wrapping_add(4 * lane * n), n, words) };
        }
        return Ok(());
    }
    for lane in active(exec) {
        let address = at.get(lane);
        let words = data.map(|lanes| lanes[lane]);
        match (element, arena::<false>(memory, address, bytes)) {
            (Element::Dwords(n), Some(ptr)) if address.is_multiple_of(4) => {
                // SAFETY: `arena` proved that the element's bytes are in the arena.
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

#[cfg(test)]
mod tests {
    use lower::ir::functions::mem_code_more;

    use super::*;

    #[test]
    fn sums_go_over_into_high_words() {
        let (lo, hi) = ([0xffff_fff8; 64], [0x12; 64]);
        let at = Addresses {
            lo: &lo,
            hi: Some(&hi),
        };
        let low = Addresses { lo: &lo, hi: None };
        for (more, whole, word) in [
            (0, 0x12_ffff_fff8, 0xffff_fff8),
            (16, 0x13_0000_0008, 8),
            (-4096, 0x12_ffff_eff8, 0xffff_eff8),
        ] {
            let code = mem_code_more(more as u32) | 1;
            assert_eq!(at.with_more(code, &mut None).get(63), whole, "{more}");
            assert_eq!(low.with_more(code, &mut None).get(63), word, "{more}");
        }
    }
}
