//! FLAT, GLOBAL and SCRATCH.
//!
//! FLAT selects by lane: the high dword of the address (offset included) selects LDS, scratch or
//! global memory. Accesses through an aperture that leave LDS or scratch are faults.

use frontend::inst::Operand;
use frontend::op::{Atomic, Data};
use frontend::registers::loads_to_lds;
use frontend::{Encoding, LANES, Op, ops};

use super::atomic::{Operands, apply, apply32, apply64};
use super::data::{self, Raw};
use super::observe::{Accessed, Observer};
use super::operand::{Exec, Lanes64, lanes};
use super::stop::{Run, Stop};
use crate::engine::{PRIVATE_BASE, SHARED_BASE};
use crate::fault::{Access, FaultKind, Private};
use crate::math::Denorm;

/// Target of one lane's access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Global(u64),
    Lds(u32),
    Scratch(u32),
}

/// How float additions in global memory treat denormals: f32 flushes always, the others never.
pub(crate) fn global_denorm(op: Atomic, wide: bool) -> Denorm {
    if op == Atomic::FAdd && !wide {
        Denorm::FLUSH
    } else {
        Denorm::KEEP
    }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One FLAT, GLOBAL or SCRATCH instruction.
    pub(crate) fn exec_flat(&mut self) -> Run<()> {
        let inst = self.inst;
        self.active = self.wave.exec();
        if inst.op() == Op::CacheCtl {
            return Ok(());
        }
        if inst.mem.lds && !loads_to_lds(inst.desc) {
            return Err(Stop::unsupported(format!("{} to LDS", self.name())));
        }
        let addresses = self.flat_addresses()?;
        match inst.op() {
            Op::Load(_, data) if inst.mem.lds => self.flat_load_lds(data, &addresses),
            Op::Load(_, data) => self.flat_load(data, &addresses),
            Op::Store(_, data) => self.flat_store(data, &addresses),
            Op::Atomic(_, op) => self.flat_atomic(op, &addresses),
            Op::StoreLds | Op::Image(_) | Op::Export => self.unknown(),
            Op::MemTime | Op::MemRealtime | Op::CacheCtl => self.unknown(),
            ops!(alu | salu | valu | lds) => self.unknown(),
        }
    }

    /// Address of each lane, offset included; of SCRATCH the byte offset in the lane's scratch.
    pub(super) fn flat_addresses(&self) -> Run<Lanes64> {
        let inst = self.inst;
        let offset = inst.mem.offset;
        let scratch = inst.desc.encoding == Encoding::Scratch;
        let scalar = if inst.src[2] == Operand::None {
            None
        } else if scratch {
            Some(u64::from(self.uniform32(inst.src[2])?))
        } else {
            Some(self.uniform64(inst.src[2])?)
        };
        let narrow = scratch || scalar.is_some();
        let vector: Lanes64 = if inst.src[0] == Operand::None {
            [0; 64]
        } else if narrow {
            self.wave
                .vector(self.vector_range(inst.src[0], 1)?)
                .map(u64::from)
        } else {
            self.vgpr_pair(self.vector_range(inst.src[0], 2)?)
        };
        let base = scalar.unwrap_or(0);
        let sum = vector.map(|v| base.wrapping_add(v).wrapping_add_signed(offset));
        // Scratch offsets have 32 bits.
        Ok(if scratch {
            sum.map(|a| a & 0xffff_ffff)
        } else {
            sum
        })
    }

    fn flat_place(&self, address: u64) -> Place {
        let encoding = self.inst.desc.encoding;
        let flat_in = |base: u64| encoding == Encoding::Flat && address >> 32 == base >> 32;
        if encoding == Encoding::Scratch || flat_in(PRIVATE_BASE) {
            Place::Scratch(address as u32)
        } else if flat_in(SHARED_BASE) {
            Place::Lds(address as u32)
        } else {
            Place::Global(address)
        }
    }

    fn flat_load(&mut self, data: Data, addresses: &Lanes64) -> Run<()> {
        let (bytes, count) = (data::bytes(data), data::registers(data));
        let to = self.vector_range(self.inst.dst[0], count)?;
        self.check_scratch(Access::Read, addresses, bytes)?;
        if self.is_scratch() && bytes > 4 {
            for (i, lane) in scratch_dwords(self.active, count) {
                let offset = (addresses[lane] as u32).wrapping_add(4 * i as u32);
                let raw = self.scratch_read(lane, offset, 4)?;
                self.wave.vector_mut(to + i)[lane] = data::dword(&raw, 0);
            }
            return Ok(());
        }
        for lane in lanes(self.active) {
            let raw = match self.flat_place(addresses[lane]) {
                Place::Global(address) => self.global_read(lane, address, bytes)?,
                Place::Lds(offset) => {
                    self.check_lds(lane, Access::Read, offset, bytes)?;
                    self.lds_read(lane, offset, 0, bytes)?
                }
                Place::Scratch(offset) => self.scratch_read(lane, offset, bytes)?,
            };
            self.write_loaded(data, to, lane, &raw);
        }
        Ok(())
    }

    /// Loads to LDS, a dword for each lane; what would lie behind LDS is dropped. (CDNA3 ISA manual, 10.3)
    fn flat_load_lds(&mut self, data: Data, addresses: &Lanes64) -> Run<()> {
        let bytes = data::bytes(data);
        let slots = self.lds_move_slots();
        self.check_scratch(Access::Read, addresses, bytes)?;
        let mut values = [0; LANES];
        for lane in lanes(self.active) {
            let raw = match self.flat_place(addresses[lane]) {
                Place::Scratch(offset) => self.scratch_read(lane, offset, bytes)?,
                Place::Global(address) => self.global_read(lane, address, bytes)?,
                Place::Lds(_) => return self.unknown(),
            };
            values[lane] = data::loaded(data, &raw, 0, false);
        }
        for lane in lanes(self.active) {
            let mut raw = [0; 16];
            raw[..4].copy_from_slice(&values[lane].to_le_bytes());
            self.lds_write(lane, slots[lane], 0, &raw, 4)?;
        }
        Ok(())
    }

    fn flat_store(&mut self, data: Data, addresses: &Lanes64) -> Run<()> {
        let (bytes, count) = (data::bytes(data), data::registers(data));
        let from = self.vector_range(self.inst.src[1], count)?;
        self.check_scratch(Access::Write, addresses, bytes)?;
        if self.is_scratch() && bytes > 4 {
            for (i, lane) in scratch_dwords(self.active, count) {
                let offset = (addresses[lane] as u32).wrapping_add(4 * i as u32);
                let words = [self.wave.vector(from + i)[lane], 0, 0, 0];
                let raw = data::stored(Data::Dwords(1), words);
                self.scratch_write(lane, offset, &raw, 4)?;
            }
            return Ok(());
        }
        for lane in lanes(self.active) {
            let raw = data::stored(data, self.vector_words(from, count, lane));
            match self.flat_place(addresses[lane]) {
                Place::Global(address) => self.global_write(lane, address, &raw, bytes)?,
                Place::Lds(offset) => {
                    self.check_lds(lane, Access::Write, offset, bytes)?;
                    self.lds_write(lane, offset, 0, &raw, bytes)?;
                }
                Place::Scratch(offset) => self.scratch_write(lane, offset, &raw, bytes)?,
            }
        }
        Ok(())
    }

    fn flat_atomic(&mut self, op: Atomic, addresses: &Lanes64) -> Run<()> {
        let inst = self.inst;
        // The destination's type is the type of the value; packed halves count as a dword.
        let wide = inst.dst_ty(0).bits() == 64;
        let count = if wide { 2 } else { 1 };
        let swap = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
        let from = self.vector_range(inst.src[1], if swap { 2 * count } else { count })?;
        let to = if inst.dst[0] == Operand::None {
            None
        } else {
            Some(self.vector_range(inst.dst[0], count)?)
        };
        for lane in lanes(self.active) {
            let operands = self.memory_operands(from, count, swap, lane);
            // In LDS and scratch as in global memory, unlike those of DS.
            let (address, bytes) = (addresses[lane], 4 * count as u32);
            let place = self.flat_place(address);
            if !matches!(place, Place::Global(_)) && !address.is_multiple_of(bytes.into()) {
                let (access, align) = (Access::Atomic, bytes);
                return Err(Stop::lane(
                    FaultKind::Misaligned {
                        access,
                        address,
                        bytes,
                        align,
                    },
                    lane,
                ));
            }
            let old = match place {
                Place::Global(address) => self.global_atomic(lane, op, address, wide, operands)?,
                Place::Lds(offset) => {
                    self.check_lds(lane, Access::Atomic, offset, 4 * count)?;
                    self.lds_atomic(lane, op, offset, 0, wide, operands)?
                }
                Place::Scratch(offset) => self.scratch_atomic(lane, op, offset, wide, operands)?,
            };
            if let Some(to) = to {
                self.set_pair(to, count, lane, old);
            }
        }
        Ok(())
    }

    /// Operands of FLAT and buffer atomics: the new value, then the compare value.
    pub(crate) fn memory_operands(
        &self,
        from: usize,
        count: usize,
        swap: bool,
        lane: usize,
    ) -> Operands<u64> {
        Operands {
            data: self.pair(from, count, lane),
            other: match swap {
                true => self.pair(from + count, count, lane),
                false => 0,
            },
        }
    }

    // ---- global memory

    /// Reads up to 16 bytes as one access.
    pub(crate) fn global_read(&self, lane: usize, address: u64, bytes: usize) -> Run<Raw> {
        let memory = self.group.memory;
        let mut raw = [0; 16];
        let result = match bytes {
            1 => memory
                .load::<1>(address)
                .map(|b| raw[..1].copy_from_slice(&b)),
            2 => memory
                .load::<2>(address)
                .map(|b| raw[..2].copy_from_slice(&b)),
            4 => memory
                .load::<4>(address)
                .map(|b| raw[..4].copy_from_slice(&b)),
            8 => memory
                .load::<8>(address)
                .map(|b| raw[..8].copy_from_slice(&b)),
            12 => memory
                .load::<12>(address)
                .map(|b| raw[..12].copy_from_slice(&b)),
            _ => memory.load::<16>(address).map(|b| raw = b),
        };
        result.map_err(|error| Stop::memory(error, lane))?;
        self.observer
            .note(|| Accessed::global(Access::Read, lane, address, &raw, bytes));
        Ok(raw)
    }

    /// Writes up to 16 bytes as one access.
    pub(crate) fn global_write(
        &self,
        lane: usize,
        address: u64,
        raw: &Raw,
        bytes: usize,
    ) -> Run<()> {
        let memory = self.group.memory;
        self.observer.before_store(memory, address, bytes);
        let result = match bytes {
            1 => memory.store_u8(address, raw[0]),
            2 => memory.store(address, [raw[0], raw[1]]),
            4 => memory.store_u32(address, data::dword(raw, 0)),
            // Aligned pairs of dwords are written in one piece, which 64-bit atomic stores rely on.
            8 => memory.store::<8>(address, *raw.first_chunk().expect("it has 16 bytes")),
            16 => memory.store::<16>(address, *raw),
            n => memory.store_dwords(address, &dwords(raw)[..(n / 4).min(4)]),
        };
        result.map_err(|error| Stop::memory(error, lane))?;
        self.observer
            .note(|| Accessed::global(Access::Write, lane, address, raw, bytes));
        Ok(())
    }

    /// An atomic on global memory.
    pub(crate) fn global_atomic(
        &self,
        lane: usize,
        op: Atomic,
        address: u64,
        wide: bool,
        operands: Operands<u64>,
    ) -> Run<u64> {
        let memory = self.group.memory;
        let denorm = global_denorm(op, wide);
        let old = if wide {
            memory.atomic_u64(address, |old| apply64(op, old, operands, denorm))
        } else {
            let operands = Operands {
                data: operands.data as u32,
                other: operands.other as u32,
            };
            memory
                .atomic_u32(address, |old| apply32(op, old, operands, denorm))
                .map(u64::from)
        };
        let old = old.map_err(|error| Stop::memory(error, lane))?;
        self.observer.note(|| {
            let new = apply(op, old, operands, wide, denorm);
            Accessed::atomic(false, Some(lane), address, (old, new), wide)
        });
        Ok(old)
    }

    // ---- LDS and scratch through their apertures

    /// FLAT access to LDS outside its size is a violation, not a silent zero.
    fn check_lds(&self, lane: usize, access: Access, offset: u32, bytes: usize) -> Run<()> {
        let size = self.lds_limit() as u64;
        let offset = u64::from(offset);
        if offset + bytes as u64 > size {
            return Err(outside(Private::Lds, lane, access, offset, bytes, size));
        }
        Ok(())
    }

    /// Base of the wave's scratch and bytes of each lane, as the registers say.
    fn scratch_window(&self) -> (u64, u64) {
        let flat_scratch = self.wave.sgpr64(self.gfx.flat_scratch());
        let scratch = &self.group.scratch;
        if self.gfx.flat_scratch_is_address() {
            (flat_scratch, u64::from(scratch.lane_bytes))
        } else {
            let offset = flat_scratch >> 32 << 8;
            let size = flat_scratch & 0xffff_ffff;
            (scratch.hidden_base.wrapping_add(offset), size)
        }
    }

    /// Base of the scratch for an access. That of FLAT must be inside; SCRATCH uses its offset
    /// unchecked, except in checked mode.
    fn scratch_base(&self, lane: usize, access: Access, offset: u32, bytes: usize) -> Run<u64> {
        let (base, size) = self.scratch_window();
        let offset = u64::from(offset);
        let checks = self.group.checked || !self.is_scratch();
        if checks && offset + bytes as u64 > size {
            return Err(outside(Private::Scratch, lane, access, offset, bytes, size));
        }
        Ok(base)
    }

    fn is_scratch(&self) -> bool {
        self.inst.desc.encoding == Encoding::Scratch
    }

    /// Checked mode checks all lanes of SCRATCH before any of them acts.
    fn check_scratch(&self, access: Access, addresses: &Lanes64, bytes: usize) -> Run<()> {
        if self.group.checked && self.is_scratch() {
            for lane in lanes(self.active) {
                self.scratch_base(lane, access, addresses[lane] as u32, bytes)?;
            }
        }
        Ok(())
    }

    fn scratch_read(&mut self, lane: usize, offset: u32, bytes: usize) -> Run<Raw> {
        let base = self.scratch_base(lane, Access::Read, offset, bytes)?;
        let mut raw = [0; 16];
        for (at, piece) in scratch_pieces(offset, bytes) {
            let address = swizzled(base, lane, offset.wrapping_add(at as u32));
            let part = self.global_read(lane, address, piece)?;
            raw[at..at + piece].copy_from_slice(&part[..piece]);
        }
        Ok(raw)
    }

    fn scratch_write(&mut self, lane: usize, offset: u32, raw: &Raw, bytes: usize) -> Run<()> {
        let base = self.scratch_base(lane, Access::Write, offset, bytes)?;
        for (at, piece) in scratch_pieces(offset, bytes) {
            let address = swizzled(base, lane, offset.wrapping_add(at as u32));
            let mut part = [0; 16];
            part[..piece].copy_from_slice(&raw[at..at + piece]);
            self.global_write(lane, address, &part, piece)?;
        }
        Ok(())
    }

    /// A lane's scratch is not shared, so a load and a store suffice for an atomic.
    fn scratch_atomic(
        &mut self,
        lane: usize,
        op: Atomic,
        offset: u32,
        wide: bool,
        operands: Operands<u64>,
    ) -> Run<u64> {
        let bytes = if wide { 8 } else { 4 };
        self.scratch_base(lane, Access::Atomic, offset, bytes as usize)?;
        let raw = self.scratch_read(lane, offset, bytes as usize)?;
        let low = u64::from(data::dword(&raw, 0));
        let old = low | u64::from(data::dword(&raw, 1)) << 32;
        let denorm = global_denorm(op, wide);
        let new = apply(op, old, operands, wide, denorm);
        let words = [new as u32, (new >> 32) as u32, 0, 0];
        let raw = data::stored(Data::Dwords(2), words);
        self.scratch_write(lane, offset, &raw, bytes as usize)?;
        Ok(old)
    }
}

/// The order of the dwords of a SCRATCH access, as (dword, lane): those of all lanes are adjacent and
/// are one access.
fn scratch_dwords(active: u64, count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |i| lanes(active).map(move |lane| (i, lane)))
}

/// The pieces of a scratch access as (first byte, bytes): an access within one dword is one piece,
/// otherwise it is done byte by byte.
fn scratch_pieces(offset: u32, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let piece = bytes.min(4);
    let whole = offset as usize % 4 + piece <= 4;
    let step = if whole { piece } else { 1 };
    (0..bytes).step_by(step).map(move |at| (at, step))
}

/// Dword-interleaved address of byte `offset` of a lane's scratch.
fn swizzled(base: u64, lane: usize, offset: u32) -> u64 {
    let (dword, byte) = (u64::from(offset / 4), u64::from(offset % 4));
    base.wrapping_add(dword * 256 + lane as u64 * 4 + byte)
}

fn dwords(raw: &Raw) -> [u32; 4] {
    std::array::from_fn(|i| data::dword(raw, i))
}

pub(super) fn outside(
    space: Private,
    lane: usize,
    access: Access,
    offset: u64,
    bytes: usize,
    size: u64,
) -> Stop {
    Stop::lane(
        FaultKind::OutsidePrivate {
            space,
            access,
            offset,
            bytes: bytes as u32,
            size,
            allocated: None,
        },
        lane,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_is_interleaved_by_dword() {
        assert_eq!(swizzled(0x1000, 0, 0), 0x1000);
        assert_eq!(swizzled(0x1000, 3, 2), 0x100e);
        assert_eq!(swizzled(0x1000, 63, 4), 0x1000 + 256 + 252);
        assert_eq!(swizzled(0x1000, 1, 9), 0x1000 + 512 + 4 + 1);
    }
}
