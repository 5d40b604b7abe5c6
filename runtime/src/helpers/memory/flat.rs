//! Generic addresses (FLAT) and private memory: apertures, and host addresses.

use super::scratch::{Offsets, Window};
use super::*;

/// Target of a lane's flat address.
pub(in crate::helpers) enum Place {
    Global(u64),
    /// Offset in LDS.
    Lds(u64),
    /// Offset in the lane's scratch.
    Scratch(u64),
}

/// The target of a flat address.
pub(in crate::helpers) fn place(address: u64) -> Place {
    match address & !(APERTURE_BYTES - 1) {
        SHARED_BASE => Place::Lds(address - SHARED_BASE),
        PRIVATE_BASE => Place::Scratch(address - PRIVATE_BASE),
        _ => Place::Global(address),
    }
}

/// Bounds of a FLAT instruction's apertures, from the registers of the wave.
#[derive(Clone, Copy)]
pub(in crate::helpers) struct Bounds {
    /// Bytes of LDS.
    lds: u64,
    /// Are misaligned accesses to LDS supported? If not, the low bits of the address are ignored.
    unaligned: bool,
    /// Address of the wave's scratch.
    scratch: u64,
    /// Bytes of a lane's scratch.
    lane_bytes: u64,
}

impl Bounds {
    /// From the last two arguments of a memory node on FLAT.
    pub(in crate::helpers) fn of(call: &mut Call<'_>, first: usize) -> Bounds {
        let (flat_scratch, limit) = (call.raw(first), call.raw(first + 1) as u32);
        Bounds::new(call, flat_scratch, limit)
    }

    /// From FLAT_SCRATCH and the limit of LDS.
    pub(in crate::helpers) fn new(call: &mut Call<'_>, flat_scratch: u64, limit: u32) -> Bounds {
        let lds = u64::from(call.ctx.lds_len.min(limit));
        let group = &call.host().group;
        let scratch = group.scratch;
        let unaligned = group.gfx.lds_unaligned();
        // FLAT_SCRATCH is the address on gfx9; before it holds the size of a lane's scratch and, in units
        // of 256 bytes, the offset of the wave's.
        let (scratch, lane_bytes) = match group.gfx.flat_scratch_is_address() {
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
    /// An access through an aperture must be inside it.
    pub(super) fn inside(
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
            allocated: None,
        })
    }

    /// The LDS range of an access through the aperture.
    pub(in crate::helpers) fn flat_lds(
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

    /// The running wave's scratch for an access whose active lanes are all in its aperture, and
    /// their offsets.
    fn flat_window<'a>(
        &self,
        bounds: Bounds,
        at: Addresses<'a>,
        exec: u64,
    ) -> Option<(Window, Offsets<'a>)> {
        let private = (PRIVATE_BASE >> 32) as u32;
        let hi = at.hi?;
        let mut other = 0;
        for (lane, &word) in hi.iter().enumerate() {
            other |= (word ^ private) & ((exec >> lane & 1) as u32).wrapping_neg();
        }
        let window = Window::of(self.ctx, bounds.scratch).filter(|_| other == 0)?;
        Some((window.at_most(bounds.lane_bytes), Offsets::Each(at.lo)))
    }

    /// The guest address of byte `offset` of a lane's scratch, after the check of the whole access.
    pub(in crate::helpers) fn flat_scratch(
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

pub(super) fn load_flat(
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
    if let Some((window, offsets)) = call.flat_window(bounds, at, exec)
        // SAFETY: the window is of the running wave's scratch, and there is a result slot for each register.
        && unsafe { scratch::load_in(window, offsets, exec, element, call.out) }
    {
        return Ok(());
    }
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

/// The bytes of a lane's scratch.
pub(super) fn read_scratch(
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

pub(super) fn write_scratch(
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

pub(super) fn store_flat(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let memory = call.host().group.memory;
    let bytes = element.bytes();
    let bounds = Bounds::of(call, 4 + element.words());
    if let Some((window, offsets)) = call.flat_window(bounds, at, exec)
        // SAFETY: the window is of the running wave's scratch, and data slots begin behind four arguments.
        && unsafe { scratch::store_in(window, offsets, exec, element, call.args.add(4)) }
    {
        return Ok(());
    }
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
