//! MUBUF and MTBUF: memory through a buffer descriptor.

use std::sync::atomic::{Ordering, fence};

use frontend::inst::Operand;
use frontend::op::{Atomic, Data, Space};
use frontend::{Encoding, Gfx, Op, ops};

use super::data::{self, Raw, unformatted};
use super::format::Format;
use super::observe::{Accessed, Observer};
use super::operand::{Exec, Lanes, lanes};
use super::stop::{Run, Stop};
use crate::choices;
use crate::fault::Access;

/// The descriptor (V#) as one instruction sees it.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    base: u64,
    stride: u64,
    records: u64,
    swizzle: bool,
    add_tid: bool,
    element: u64,
    index_stride: u64,
    dst_sel: [u32; 4],
    number_format: u32,
    data_format: u32,
    /// Loads give 0 and stores are dropped.
    unbound: bool,
    /// Address from vector registers, no range check.
    addr64: bool,
    idxen: bool,
    soffset: u64,
    gfx: Gfx,
}

/// One lane's position in the buffer.
#[derive(Clone, Copy, Debug)]
struct At {
    lane: usize,
    index: u64,
    /// Sum of the register's and the instruction's offset with its carry, which the range check
    /// includes.
    offset: u64,
    /// ADDR64: the address in vector registers.
    address: u64,
}

impl Buffer {
    fn new(words: [u32; 4], gfx: Gfx, format: bool) -> Buffer {
        let [w0, w1, records, w3] = words;
        let add_tid = w3 >> 23 & 1 != 0;
        let data_format = w3 >> 15 & 15;
        // With ADD_TID the format's bits extend the stride, unless the instruction needs them.
        let extended = add_tid && gfx.is_gfx8_up() && !format;
        let stride = u64::from(w1 >> 16 & 0x3fff);
        Buffer {
            base: u64::from(w0) | u64::from(w1 & 0xffff) << 32,
            stride: match extended {
                true => stride | u64::from(data_format) << 14,
                false => stride,
            },
            records: u64::from(records),
            swizzle: w1 >> 31 != 0,
            add_tid,
            element: match gfx.is_gfx9() {
                true => 4,
                false => 2 << (w3 >> 19 & 3),
            },
            index_stride: 8 << (w3 >> 21 & 3),
            dst_sel: [0, 3, 6, 9].map(|shift| w3 >> shift & 7),
            number_format: w3 >> 12 & 7,
            data_format,
            unbound: words == [0; 4] || data_format == 0 && !extended,
            addr64: false,
            idxen: false,
            soffset: 0,
            gfx,
        }
    }

    /// Byte position in the buffer, without the scalar offset.
    fn position(&self, index: u64, offset: u64) -> u64 {
        if self.addr64 {
            // A 64-bit address uses neither records nor lanes.
            return offset;
        }
        // The adder of the offsets has 32 bits. After it nothing wraps until the final address.
        let offset = offset & 0xffff_ffff;
        if !self.swizzle {
            return index * self.stride + offset;
        }
        let (index_msb, index_lsb) = (index / self.index_stride, index % self.index_stride);
        let (offset_msb, offset_lsb) = (offset / self.element, offset % self.element);
        (index_msb * self.stride + offset_msb * self.element) * self.index_stride
            + index_lsb * self.element
            + offset_lsb
    }

    fn address(&self, at: At, offset: u64) -> u64 {
        // Compilers fold negative offsets into the base, so the sum wraps at the descriptor's 48 bits.
        let sum = self
            .base
            .wrapping_add(at.address)
            .wrapping_add(self.soffset)
            .wrapping_add(self.position(at.index, offset));
        sum & ((1 << 48) - 1)
    }

    /// Is the access that begins at `offset` in range? The units of NUM_RECORDS differ between
    /// targets.
    fn inside(&self, at: At, offset: u64) -> bool {
        if self.addr64 {
            return true;
        }
        let gfx9 = self.gfx.is_gfx9();
        if gfx9 && self.add_tid && !self.idxen {
            return true;
        }
        let in_bytes = self.stride == 0
            || match self.gfx {
                Gfx::Gfx600 | Gfx::Gfx700 => false,
                Gfx::Gfx803 => !self.swizzle,
                Gfx::Gfx900 | Gfx::Gfx906 | Gfx::Gfx908 | Gfx::Gfx90a | Gfx::Gfx942 => !self.idxen,
            };
        if in_bytes {
            let checks_soffset = !gfx9 || choices::GFX9_RAW_CHECK_HAS_SOFFSET;
            let soffset = if checks_soffset { self.soffset } else { 0 };
            let limit = self.records.saturating_sub(soffset);
            // The instruction's offset: swizzling follows the check.
            let record = if self.swizzle {
                0
            } else {
                at.index * self.stride
            };
            return record + offset < limit;
        }
        let in_record = gfx9 || !self.swizzle || offset < self.stride;
        at.index < self.records && in_record
    }

    /// All or nothing: first and last byte.
    fn inside_whole(&self, at: At, offset: u64, bytes: usize) -> bool {
        let last = (bytes.max(1) - 1) as u64;
        self.inside(at, offset) && self.inside(at, offset + last)
    }

    /// Is the buffer swizzled? Not for a 64-bit address.
    fn swizzles(&self) -> bool {
        self.swizzle && !self.addr64
    }

    /// Is a piece at `offset` within one element of a swizzled buffer, or in an unswizzled one?
    fn in_one_piece(&self, offset: u64, bytes: usize) -> bool {
        !self.swizzles() || offset % self.element + bytes as u64 <= self.element
    }

    /// The offset at which a piece is accessed: targets without unaligned access ignore its low
    /// bits. (Likewise those of the address.)
    fn piece_offset(&self, offset: u64, bytes: usize) -> u64 {
        match self.swizzles() && !self.gfx.buffer_unaligned() {
            true => offset & !(bytes.min(4) as u64 - 1),
            false => offset,
        }
    }
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One MUBUF or MTBUF instruction.
    pub(crate) fn exec_buffer(&mut self) -> Run<()> {
        let inst = self.inst;
        self.active = self.wave.exec();
        if inst.op() == Op::CacheCtl {
            // Stores before it are seen before later loads are made.
            fence(Ordering::SeqCst);
            return Ok(());
        }
        if self.active == 0 {
            return Ok(());
        }
        let buffer = self.buffer()?;
        match inst.op() {
            Op::Load(Space::Buffer, data) if inst.mem.lds => self.buffer_load_lds(&buffer, data),
            Op::Load(Space::Buffer, data) => self.buffer_load(&buffer, data),
            Op::Store(Space::Buffer, data) => self.buffer_store(&buffer, data),
            Op::Atomic(Space::Buffer, op) => self.buffer_atomic(&buffer, op),
            Op::StoreLds => self.buffer_store_lds(&buffer),
            // Of other spaces.
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) => self.unknown(),
            Op::Image(_) | Op::Export => self.unknown(),
            Op::MemTime | Op::MemRealtime | Op::CacheCtl => self.unknown(),
            ops!(alu | salu | valu | lds) => self.unknown(),
        }
    }

    /// The descriptor and the uniform parts of the address.
    fn buffer(&self) -> Run<Buffer> {
        let inst = self.inst;
        let words = self.uniform_block::<4>(inst.src[1])?;
        let format = inst.desc.encoding == Encoding::Mtbuf
            || matches!(
                inst.op(),
                Op::Load(_, Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi)
                    | Op::Store(_, Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi)
            );
        let mut buffer = Buffer::new(words, self.gfx, format);
        buffer.soffset = if inst.src[2] == Operand::None {
            0
        } else {
            u64::from(self.uniform32(inst.src[2])?)
        };
        buffer.addr64 = inst.mem.addr64;
        buffer.idxen = inst.mem.idxen;
        // Without a range check the buffer cannot be unbound.
        buffer.unbound &= !buffer.addr64;
        Ok(buffer)
    }

    /// Every lane's position.
    fn buffer_places(&self, buffer: &Buffer) -> Run<[At; 64]> {
        let mem = &self.inst.mem;
        let mut next = 0;
        let mut register = |present: bool, count: usize| -> Run<Option<usize>> {
            if !present {
                return Ok(None);
            }
            let first = self.vector_range(self.inst.src[0], next + count)? + next;
            next += count;
            Ok(Some(first))
        };
        let index = register(mem.idxen && !mem.addr64, 1)?;
        let offset = register(mem.offen && !mem.addr64, 1)?;
        let address = register(mem.addr64, 2)?;
        let inst_offset = mem.offset as u64;
        let value = |register: Option<usize>, lane: usize| {
            register.map_or(0, |register| u64::from(self.wave.vector(register)[lane]))
        };
        Ok(std::array::from_fn(|lane| {
            let tid = if buffer.add_tid { lane as u64 } else { 0 };
            At {
                lane,
                index: value(index, lane) + tid,
                offset: value(offset, lane) + inst_offset,
                address: address.map_or(0, |first| self.pair(first, 2, lane)),
            }
        }))
    }

    /// Every lane's address of a buffer that is not swizzled.
    pub(super) fn buffer_addresses(&self) -> Run<[u64; 64]> {
        let buffer = self.buffer()?;
        if buffer.swizzles() {
            return self.unknown();
        }
        let places = self.buffer_places(&buffer)?;
        Ok(places.map(|at| buffer.address(at, at.offset)))
    }

    /// Reads one piece at `offset`; in a swizzled buffer it has at most a dword.
    fn buffer_read_piece(&self, buffer: &Buffer, at: At, offset: u64, bytes: usize) -> Run<Raw> {
        let offset = buffer.piece_offset(offset, bytes);
        let address = buffer.address(at, offset);
        if buffer.in_one_piece(offset, bytes) {
            return self.global_read(at.lane, self.buffer_align(address, bytes), bytes);
        }
        // A piece that crosses a swizzled element is scattered.
        let mut raw = [0; 16];
        for (i, byte) in raw.iter_mut().enumerate().take(bytes) {
            let address = buffer.address(at, offset + i as u64);
            *byte = self.global_read(at.lane, address, 1)?[0];
        }
        Ok(raw)
    }

    fn buffer_write_piece(
        &self,
        buffer: &Buffer,
        at: At,
        offset: u64,
        raw: &Raw,
        bytes: usize,
    ) -> Run<()> {
        let offset = buffer.piece_offset(offset, bytes);
        let address = buffer.address(at, offset);
        if buffer.in_one_piece(offset, bytes) {
            return self.global_write(at.lane, self.buffer_align(address, bytes), raw, bytes);
        }
        for (i, &byte) in raw.iter().enumerate().take(bytes) {
            let address = buffer.address(at, offset + i as u64);
            self.global_write(at.lane, address, &[byte; 16], 1)?;
        }
        Ok(())
    }

    /// Targets without unaligned access ignore the low bits of the address.
    fn buffer_align(&self, address: u64, bytes: usize) -> u64 {
        match self.gfx.buffer_unaligned() {
            true => address,
            false => address & !(bytes.min(4) as u64 - 1),
        }
    }

    /// Is an access without a format one piece? It is if the buffer is not swizzled and every dword
    /// is in range; 64-bit atomic loads and stores are such accesses.
    fn buffer_is_one_piece(&self, buffer: &Buffer, at: At, bytes: usize) -> bool {
        let mut starts = (0..bytes).step_by(4);
        !buffer.swizzles() && starts.all(|start| buffer.inside(at, at.offset + start as u64))
    }

    /// Reads without a format; each dword is checked individually and out of range gives 0.
    fn buffer_read(&self, buffer: &Buffer, at: At, bytes: usize) -> Run<Raw> {
        let mut raw = [0; 16];
        if buffer.unbound {
            return Ok(raw);
        }
        if self.buffer_is_one_piece(buffer, at, bytes) {
            return self.buffer_read_piece(buffer, at, at.offset, bytes);
        }
        for start in (0..bytes).step_by(4) {
            let offset = at.offset + start as u64;
            let piece = (bytes - start).min(4);
            if buffer.inside(at, offset) {
                let read = self.buffer_read_piece(buffer, at, offset, piece)?;
                raw[start..start + piece].copy_from_slice(&read[..piece]);
            }
        }
        Ok(raw)
    }

    fn buffer_write(&self, buffer: &Buffer, at: At, raw: &Raw, bytes: usize) -> Run<()> {
        if buffer.unbound {
            return Ok(());
        }
        if self.buffer_is_one_piece(buffer, at, bytes) {
            return self.buffer_write_piece(buffer, at, at.offset, raw, bytes);
        }
        for start in (0..bytes).step_by(4) {
            let offset = at.offset + start as u64;
            let piece = (bytes - start).min(4);
            if buffer.inside(at, offset) {
                let mut part = [0; 16];
                part[..piece].copy_from_slice(&raw[start..start + piece]);
                self.buffer_write_piece(buffer, at, offset, &part, piece)?;
            }
        }
        Ok(())
    }

    /// The format of a typed access: the instruction's or the resource's. `None`: unbound.
    fn buffer_format(&self, buffer: &Buffer) -> Run<Option<Format>> {
        if buffer.unbound {
            return Ok(None);
        }
        let mem = &self.inst.mem;
        let (data, number) = if self.inst.desc.encoding == Encoding::Mtbuf {
            (u32::from(mem.dfmt), u32::from(mem.nfmt))
        } else {
            (buffer.data_format, buffer.number_format)
        };
        match Format::from_fields(data, number) {
            Some(format) => Ok(Some(format)),
            None if data == 0 => Ok(None),
            None => Err(Stop::unsupported(format!(
                "data format {data} with number format {number} in {}",
                self.name()
            ))),
        }
    }

    /// Reads one texel and arranges its components by the descriptor.
    fn buffer_read_texel(&self, buffer: &Buffer, format: Option<Format>, at: At) -> Run<[u32; 4]> {
        let typed = self.inst.desc.encoding == Encoding::Mtbuf;
        let Some(format) = format else {
            return Ok([0; 4]);
        };
        let bytes = format.bytes();
        let inside = buffer.inside_whole(at, at.offset, bytes);
        let texel = match inside {
            true => {
                let mut raw = [0; 16];
                // Without a swizzle a texel is one piece.
                let most = if buffer.swizzles() { 4 } else { bytes.max(1) };
                for start in (0..bytes).step_by(most) {
                    let piece = (bytes - start).min(most);
                    let offset = at.offset + start as u64;
                    let read = self.buffer_read_piece(buffer, at, offset, piece)?;
                    raw[start..start + piece].copy_from_slice(&read[..piece]);
                }
                format.unpack(&raw)
            }
            false => [0; 4],
        };
        if typed {
            // Identity: components missing in memory are 0.
            let count = format.components();
            return Ok(std::array::from_fn(
                |i| if i < count { texel[i] } else { 0 },
            ));
        }
        Ok(buffer.dst_sel.map(|sel| match sel {
            1 => format.number.one(),
            4..=7 => texel[sel as usize - 4],
            _ => 0,
        }))
    }

    fn buffer_load(&mut self, buffer: &Buffer, data: Data) -> Run<()> {
        let count = self.inst.dst_ty(0).regs() as usize;
        let tfe = usize::from(self.inst.mem.tfe);
        let to = self.vector_range(self.inst.dst[0], count + tfe)?;
        let places = self.buffer_places(buffer)?;
        let format = match data {
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => {
                self.buffer_format(buffer)?
            }
            unformatted!() => None,
        };
        for lane in lanes(self.active) {
            let at = places[lane];
            match data {
                Data::Format(_) => {
                    let texel = self.buffer_read_texel(buffer, format, at)?;
                    for (i, value) in texel.into_iter().enumerate().take(count) {
                        self.wave.vector_mut(to + i)[lane] = value;
                    }
                }
                Data::FormatD16(components) => {
                    let texel = self.buffer_read_texel(buffer, format, at)?;
                    let mut halves = [0u16; 4];
                    for (i, half) in halves.iter_mut().enumerate().take(components.into()) {
                        *half = format.map_or(0, |format| format.narrow(texel[i]));
                    }
                    for i in 0..count {
                        self.wave.vector_mut(to + i)[lane] =
                            halves_of(halves, i, count, components);
                    }
                }
                Data::FormatD16Hi => {
                    let texel = self.buffer_read_texel(buffer, format, at)?;
                    let half = format.map_or(0, |format| format.narrow(texel[0]));
                    let mut raw = [0; 16];
                    raw[..2].copy_from_slice(&half.to_le_bytes());
                    self.write_loaded(Data::D16Hi, to, lane, &raw);
                }
                unformatted!() => {
                    let raw = self.buffer_read(buffer, at, data::bytes(data))?;
                    self.write_loaded(data, to, lane, &raw);
                }
            }
            if tfe != 0 {
                self.wave.vector_mut(to + count)[lane] = 0;
            }
        }
        Ok(())
    }

    fn buffer_store(&mut self, buffer: &Buffer, data: Data) -> Run<()> {
        let count = self.inst.src_ty(3).regs() as usize;
        let from = self.vector_range(self.inst.src[3], count)?;
        let places = self.buffer_places(buffer)?;
        let format = match data {
            Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => {
                self.buffer_format(buffer)?
            }
            unformatted!() => None,
        };
        for lane in lanes(self.active) {
            let at = places[lane];
            let words = self.vector_words(from, count, lane);
            let components = match data {
                Data::Format(_) => words,
                Data::FormatD16(n) => std::array::from_fn(|i| {
                    let half = half_of(words, i, count, n);
                    format.map_or(0, |format| format.widen(half))
                }),
                Data::FormatD16Hi => {
                    let half = (words[0] >> 16) as u16;
                    [format.map_or(0, |format| format.widen(half)), 0, 0, 0]
                }
                unformatted!() => {
                    let raw = data::stored(data, words);
                    self.buffer_write(buffer, at, &raw, data::bytes(data))?;
                    continue;
                }
            };
            self.buffer_write_texel(buffer, format, at, components)?;
        }
        Ok(())
    }

    /// Writes one texel; each component in memory takes the value that the descriptor's selects
    /// route to it.
    fn buffer_write_texel(
        &self,
        buffer: &Buffer,
        format: Option<Format>,
        at: At,
        components: [u32; 4],
    ) -> Run<()> {
        let Some(format) = format else {
            return Ok(());
        };
        let bytes = format.bytes();
        if !buffer.inside_whole(at, at.offset, bytes) {
            return Ok(());
        }
        let routed = if self.inst.desc.encoding == Encoding::Mtbuf {
            components
        } else {
            std::array::from_fn(|channel| {
                let source = buffer
                    .dst_sel
                    .iter()
                    .position(|&sel| sel == channel as u32 + 4);
                source.map_or(0, |source| components[source])
            })
        };
        let raw = format.pack(routed);
        let most = if buffer.swizzles() { 4 } else { bytes.max(1) };
        for start in (0..bytes).step_by(most) {
            let piece = (bytes - start).min(most);
            let mut part = [0; 16];
            part[..piece].copy_from_slice(&raw[start..start + piece]);
            self.buffer_write_piece(buffer, at, at.offset + start as u64, &part, piece)?;
        }
        Ok(())
    }

    fn buffer_atomic(&mut self, buffer: &Buffer, op: Atomic) -> Run<()> {
        let inst = self.inst;
        let wide = inst.dst_ty(0).bits() == 64;
        let count = if wide { 2 } else { 1 };
        let swap = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
        let from = self.vector_range(inst.src[3], if swap { 2 * count } else { count })?;
        let to = if inst.dst[0] == Operand::None {
            None
        } else {
            Some(self.vector_range(inst.dst[0], count)?)
        };
        let places = self.buffer_places(buffer)?;
        for lane in lanes(self.active) {
            let at = places[lane];
            let operands = self.memory_operands(from, count, swap, lane);
            let inside = !buffer.unbound && buffer.inside_whole(at, at.offset, 4 * count);
            let old = match inside {
                true => {
                    let address = self.buffer_align(buffer.address(at, at.offset), 4 * count);
                    self.global_atomic(lane, op, address, wide, operands)?
                }
                false => 0,
            };
            if let Some(to) = to {
                self.set_pair(to, count, lane, old);
                if inst.mem.tfe {
                    let status = self.vector_range(inst.dst[0], count + 1)? + count;
                    self.wave.vector_mut(status)[lane] = 0;
                }
            }
        }
        Ok(())
    }

    /// Byte offsets in LDS for moves between memory and LDS, a dword for each lane, from M0 on: M0\[15:0\] of buffers (Vega
    /// ISA manual, 8.1.9), M0\[17:2\] * 4 of FLAT (CDNA3 ISA manual, 10.3). From gfx9 on the instruction's offset is added.
    pub(super) fn lds_move_slots(&self) -> Lanes {
        let buffer = self.inst.desc.encoding == Encoding::Mubuf;
        let mask = if buffer { 0xffff } else { 0x3_fffc };
        let offset = match self.gfx.is_gfx9() {
            true => self.inst.mem.offset as u32,
            false => 0,
        };
        let first = (self.wave.m0() & mask).wrapping_add(offset);
        std::array::from_fn(|lane| first.wrapping_add(4 * lane as u32))
    }

    /// Slots of buffers; lanes without room in LDS are skipped.
    fn buffer_lds_slots(&mut self) -> Lanes {
        let slots = self.lds_move_slots();
        let size = self.group.lds.size();
        for lane in lanes(self.active) {
            if slots[lane].checked_add(4).is_none_or(|end| end > size) {
                self.active &= !(1 << lane);
            }
        }
        slots
    }

    /// Loads with the LDS bit: one dword of LDS for each lane.
    fn buffer_load_lds(&mut self, buffer: &Buffer, data: Data) -> Run<()> {
        let places = self.buffer_places(buffer)?;
        let format = if let Data::Format(_) = data {
            self.buffer_format(buffer)?
        } else {
            None
        };
        let slots = self.buffer_lds_slots();
        for lane in lanes(self.active) {
            let at = places[lane];
            let value = if let Data::Format(_) = data {
                self.buffer_read_texel(buffer, format, at)?[0]
            } else {
                let raw = self.buffer_read(buffer, at, data::bytes(data))?;
                data::loaded(data, &raw, 0, false)
            };
            let slot = slots[lane] as usize;
            self.check_lds_move(lane, Access::Write, slot)?;
            self.lds_store(lane, slot, &value.to_le_bytes());
        }
        Ok(())
    }

    /// `buffer_store_lds_dword`.
    fn buffer_store_lds(&mut self, buffer: &Buffer) -> Run<()> {
        let places = self.buffer_places(buffer)?;
        let slots = self.buffer_lds_slots();
        for lane in lanes(self.active) {
            let slot = slots[lane] as usize;
            self.check_lds_move(lane, Access::Read, slot)?;
            let mut raw = [0; 16];
            raw[..4].copy_from_slice(&self.group.lds.bytes()[slot..slot + 4]);
            self.observer
                .note(|| Accessed::lds(Access::Read, lane, slot, &raw[..4]));
            self.buffer_write(buffer, places[lane], &raw, 4)?;
        }
        Ok(())
    }

    fn check_lds_move(&mut self, lane: usize, access: Access, slot: usize) -> Run<()> {
        self.group
            .lds
            .check(access, slot as u64, 4)
            .map_err(|kind| Stop::lane(kind, lane))
    }
}

/// Register `i` of `count` that hold 16-bit components: one or two in each.
fn halves_of(halves: [u16; 4], i: usize, count: usize, components: u8) -> u32 {
    if count == usize::from(components) {
        return u32::from(halves[i]);
    }
    u32::from(halves[(2 * i) & 3]) | u32::from(halves[(2 * i + 1) & 3]) << 16
}

/// The component `i` of registers that hold 16-bit components.
fn half_of(words: [u32; 4], i: usize, count: usize, components: u8) -> u16 {
    if i >= usize::from(components) {
        0
    } else if count == usize::from(components) {
        words[i] as u16
    } else {
        (words[i / 2] >> (16 * (i & 1))) as u16
    }
}

#[cfg(test)]
mod tests;
