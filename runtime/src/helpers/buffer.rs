//! MUBUF and MTBUF through a buffer descriptor: addresses, range checks, formats, loads to LDS.

use frontend::inst::Inst;
use frontend::op::{Atomic, Data, Op};
use frontend::{Encoding, Gfx, LANES};
use lower::abi::ExitCode;

use super::atomic::{Rmw, float_denorm};
use super::format::Format;
use super::memory::{Element, active, read, write};
use super::{Call, Words};
use crate::fault::Access;
use crate::memory::Memory;

/// Addresses wrap at the descriptor's 48 bits: compilers fold negative offsets into the base.
const ADDRESS: u64 = (1 << 48) - 1;

/// The fields of a buffer descriptor.
#[derive(Clone, Copy)]
pub(super) struct Descriptor {
    /// Address of the first byte.
    pub(super) base: u64,
    /// Bytes between records (14 bits).
    pub(super) stride: u32,
    swizzle: bool,
    /// Size in units that depend on the access.
    pub(super) num_records: u32,
    dst_sel: [u32; 4],
    nfmt: u32,
    dfmt: u32,
    element_size: u32,
    index_stride: u32,
    add_tid: bool,
    /// All bits are 0.
    zero: bool,
}

impl Descriptor {
    /// From words 1:0 and 3:2.
    pub(super) fn of(low: u64, high: u64) -> Descriptor {
        let (w1, w2, w3) = ((low >> 32) as u32, high as u32, (high >> 32) as u32);
        Descriptor {
            base: low & 0xffff_ffff_ffff,
            stride: w1 >> 16 & 0x3fff,
            swizzle: w1 >> 31 != 0,
            num_records: w2,
            dst_sel: [0, 3, 6, 9].map(|shift| w3 >> shift & 7),
            nfmt: w3 >> 12 & 7,
            dfmt: w3 >> 15 & 15,
            element_size: 2 << (w3 >> 19 & 3),
            index_stride: 8 << (w3 >> 21 & 3),
            add_tid: w3 >> 23 & 1 != 0,
            zero: low == 0 && high == 0,
        }
    }
}

/// What an access does, decided once for the wave.
struct Buffer<'a> {
    inst: &'a Inst,
    gfx: Gfx,
    descriptor: Descriptor,
    soffset: u32,
    index: Words<'a>,
    offset: Words<'a>,
    /// The format of format instructions.
    format: Option<Format>,
    /// Bytes that are checked together.
    unit: usize,
    /// Nothing is behind the descriptor.
    unbound: bool,
}

impl<'a> Buffer<'a> {
    /// From the arguments that the three functions share.
    fn of(call: &mut Call<'a>) -> Buffer<'a> {
        let site = call.site;
        let gfx = call.host().group.gfx;
        let inst = &site.inst;
        let mut descriptor = Descriptor::of(call.raw(1), call.raw(2));
        let is_format = matches!(
            inst.op(),
            Op::Load(_, data) | Op::Store(_, data)
                if matches!(data, Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi)
        );
        let typed = inst.desc.encoding == Encoding::Mtbuf;
        // With ADD_TID the format field holds more bits of the stride.
        let wide_stride = gfx.is_gfx8_up() && descriptor.add_tid && !is_format;
        if wide_stride {
            descriptor.stride |= descriptor.dfmt << 14;
        }
        if gfx.is_gfx9() {
            descriptor.element_size = 4;
        }
        let format = is_format.then(|| match typed {
            true => Format::of(u32::from(inst.mem.dfmt), u32::from(inst.mem.nfmt)),
            false => Format::of(descriptor.dfmt, descriptor.nfmt),
        });
        let unbound = descriptor.zero
            || (!wide_stride && !typed && descriptor.dfmt == 0)
            || format.is_some_and(|format| format.is_none());
        let unit = match (inst.op(), format) {
            (_, Some(format)) => format.bytes(),
            (Op::Atomic(..), _) => 4 * inst.desc.dst[0].regs() as usize,
            (Op::Load(_, data) | Op::Store(_, data), _) => element(data).bytes().min(4),
            _ => 4,
        };
        Buffer {
            inst,
            gfx,
            descriptor,
            soffset: call.raw(3) as u32,
            index: call.words(5),
            offset: call.words(6),
            format,
            unit,
            unbound,
        }
    }

    /// Address of a lane's element, and the range check of byte `i` and the unit that begins there.
    fn lane(&self, lane: usize) -> (u64, impl Fn(usize) -> bool + use<'_, 'a>) {
        let mem = &self.inst.mem;
        let d = &self.descriptor;
        if mem.addr64 {
            let address = u64::from(self.index.get(lane)) | u64::from(self.offset.get(lane)) << 32;
            let address = address
                .wrapping_add(d.base)
                .wrapping_add(u64::from(self.soffset))
                .wrapping_add(mem.offset as u64);
            return (address & ADDRESS, self.checks(0, 0));
        }
        let (index, offset) = self.position(lane);
        (self.place(index, offset), self.checks(index, offset))
    }

    /// Record and byte offset of a lane's element.
    fn position(&self, lane: usize) -> (u32, u32) {
        let mem = &self.inst.mem;
        let d = &self.descriptor;
        let index = if mem.idxen { self.index.get(lane) } else { 0 };
        let index = index.wrapping_add(if d.add_tid { lane as u32 } else { 0 });
        let offset = if mem.offen { self.offset.get(lane) } else { 0 };
        (index, offset.wrapping_add(mem.offset as u32))
    }

    /// Address of a byte of a record. Bytes of one element stay together, elements of a swizzled
    /// buffer do not.
    fn place(&self, index: u32, offset: u32) -> u64 {
        let d = &self.descriptor;
        let (index64, offset64) = (u64::from(index), u64::from(offset));
        let stride = u64::from(d.stride);
        let within = if d.swizzle {
            let (per, size) = (u64::from(d.index_stride), u64::from(d.element_size));
            let rows = (index64 / per * stride).wrapping_add(offset64 / size * size);
            rows.wrapping_mul(per) + index64 % per * size + offset64 % size
        } else {
            (index64 * stride).wrapping_add(offset64)
        };
        let address = d
            .base
            .wrapping_add(u64::from(self.soffset))
            .wrapping_add(within);
        address & ADDRESS
    }

    /// The runs of bytes, as (address, first byte, count), that `bytes` bytes of a lane from byte
    /// `from` on lie in: one, unless they cross elements of a swizzled buffer.
    fn runs(&self, lane: usize, from: usize, bytes: usize) -> Vec<(u64, usize, usize)> {
        let (address, _) = self.lane(lane);
        let address = self.aligned(address);
        let d = &self.descriptor;
        if self.inst.mem.addr64 || !d.swizzle {
            return vec![(address.wrapping_add(from as u64), from, bytes)];
        }
        let (index, offset) = self.position(lane);
        let start = match (self.gfx, self.unit) {
            (Gfx::Gfx600, 2) => offset & !1,
            (Gfx::Gfx600, 4..) => offset & !3,
            _ => offset,
        };
        let mut runs = Vec::new();
        let mut at = from;
        while at < from + bytes {
            let here = start.wrapping_add(at as u32);
            let left = (d.element_size - here % d.element_size) as usize;
            let count = left.min(from + bytes - at);
            runs.push((self.place(index, here), at, count));
            at += count;
        }
        runs
    }

    /// Reads bytes of a lane's element, `from` on.
    fn read(
        &self,
        memory: &Memory,
        lane: usize,
        from: usize,
        bytes: usize,
    ) -> Result<[u8; 16], crate::FaultKind> {
        let mut out = [0; 16];
        for (address, at, count) in self.runs(lane, from, bytes) {
            memory.read_bytes(address, &mut out[at - from..at - from + count])?;
        }
        Ok(out)
    }

    /// Writes bytes of a lane's element, `from` on.
    fn write(
        &self,
        memory: &Memory,
        lane: usize,
        from: usize,
        bytes: &[u8],
    ) -> Result<(), crate::FaultKind> {
        for (address, at, count) in self.runs(lane, from, bytes.len()) {
            memory.write_bytes(address, &bytes[at - from..at - from + count])?;
        }
        Ok(())
    }

    /// Do a lane's `bytes` bytes lie in one piece?
    fn whole(&self, lane: usize, bytes: usize) -> bool {
        let d = &self.descriptor;
        if self.inst.mem.addr64 || !d.swizzle {
            return true;
        }
        let (_, offset) = self.position(lane);
        offset as usize % d.element_size as usize + bytes <= d.element_size as usize
    }

    /// Is the unit at byte `i` of the element inside the buffer?
    fn checks(&self, index: u32, offset: u32) -> impl Fn(usize) -> bool + use<'_, 'a> {
        let mem = &self.inst.mem;
        let d = &self.descriptor;
        let records = u64::from(d.num_records);
        let by_bytes = match self.gfx {
            Gfx::Gfx600 | Gfx::Gfx700 => d.stride == 0,
            Gfx::Gfx803 => d.stride == 0 || !d.swizzle,
            _ => d.stride == 0 || !mem.idxen,
        };
        let gfx9 = self.gfx.is_gfx9();
        let scratch = gfx9 && d.add_tid && !mem.idxen;
        let start = match by_bytes && d.stride != 0 && !d.add_tid {
            true => u64::from(index) * u64::from(d.stride) + u64::from(offset),
            false => u64::from(offset),
        };
        let whole = self.format.is_some() || matches!(self.inst.op(), Op::Atomic(..));
        let unit = self.unit as u64;
        move |i: usize| {
            if self.unbound {
                return false;
            }
            if mem.addr64 || scratch {
                return true;
            }
            if by_bytes {
                // Before gfx9 the scalar offset takes part.
                let soffset = if gfx9 { 0 } else { u64::from(self.soffset) };
                let Some(room) = records.checked_sub(soffset) else {
                    return false;
                };
                let at = start + i as u64;
                return at < room && (!whole || room - at >= unit);
            }
            u64::from(index) < records && (gfx9 || !d.swizzle || offset < d.stride)
        }
    }

    /// The address with the low bits that gfx6 ignores cleared.
    fn aligned(&self, address: u64) -> u64 {
        match (self.gfx, self.unit) {
            (Gfx::Gfx600, 2) => address & !1,
            (Gfx::Gfx600, 4..) => address & !3,
            _ => address,
        }
    }
}

/// The element of data without a format.
fn element(data: Data) -> Element {
    match data {
        Data::Dwords(n) => Element::Dwords(usize::from(n)),
        Data::U8 | Data::D16U8 | Data::D16HiU8 | Data::D16HiB8 => Element::Byte(false),
        Data::I8 | Data::D16I8 | Data::D16HiI8 => Element::Byte(true),
        Data::I16 => Element::Short(true),
        _ => Element::Short(false),
    }
}

/// The data registers of a lane's load.
fn load_lane(
    access: &Buffer<'_>,
    memory: &Memory,
    data: Data,
    lane: usize,
) -> Result<[u32; 4], crate::FaultKind> {
    let (address, inside) = access.lane(lane);
    let address = access.aligned(address);
    let Some(format) = access.format else {
        let element = element(data);
        let Element::Dwords(n) = element else {
            return match (inside(0), access.whole(lane, element.bytes())) {
                (false, _) => Ok([0; 4]),
                (true, true) => read(memory, address, element),
                (true, false) => {
                    let b = access.read(memory, lane, 0, element.bytes())?;
                    let half = u16::from_le_bytes([b[0], b[1]]);
                    Ok([
                        match element {
                            Element::Short(true) => half as i16 as u32,
                            _ => u32::from(half),
                        },
                        0,
                        0,
                        0,
                    ])
                }
            };
        };
        if access.whole(lane, 4 * n) && (0..n).all(|i| inside(4 * i)) {
            return read(memory, address, element);
        }
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate().take(n) {
            if inside(4 * i) {
                let b = access.read(memory, lane, 4 * i, 4)?;
                *word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            }
        }
        return Ok(words);
    };
    let components = match inside(0) {
        true => {
            let count = format.bytes();
            format.load(&access.read(memory, lane, 0, count)?[..count])
        }
        false => [0; 4],
    };
    let typed = access.inst.desc.encoding == Encoding::Mtbuf;
    let components = match typed {
        // What a typed format does not hold reads as 0, w too.
        true => {
            let held = format.components();
            std::array::from_fn(|i| if i < held { components[i] } else { 0 })
        }
        // Of an element that is not there only constant selections show.
        false => format.select(components, access.descriptor.dst_sel),
    };
    Ok(match data {
        Data::FormatD16(n) => {
            let halves = components.map(|component| format.narrow(component));
            if access.gfx.is_gfx9() {
                let half = |i: u8| if i < n { halves[usize::from(i)] } else { 0 };
                [half(0) | half(1) << 16, half(2) | half(3) << 16, 0, 0]
            } else {
                halves
            }
        }
        Data::FormatD16Hi => [format.narrow(components[0]), 0, 0, 0],
        _ => components,
    })
}

/// Where a lane's dword lies in LDS for loads and stores between buffer and LDS.
fn lds_address(access: &Buffer<'_>, m0: u32, lane: usize) -> u64 {
    let own = if access.gfx.is_gfx9() {
        access.inst.mem.offset as u64
    } else {
        0
    };
    u64::from(m0 & 0xffff) + own + 4 * lane as u64
}

/// `EffectFn::BufferLoad`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let access = Buffer::of(call);
    let exec = call.raw(4);
    let m0 = call.raw(7) as u32;
    let memory = call.host().group.memory;
    let Op::Load(_, data) = access.inst.op() else {
        unreachable!("bug: {} as a buffer load", access.inst.desc.name)
    };
    if access.inst.mem.lds {
        for lane in active(exec) {
            let words = load_lane(&access, memory, data, lane)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
            let offset = lds_address(&access, m0, lane);
            call.announce(Access::Write, offset, 4, lane)?;
            let start = offset as usize;
            if let Some(to) = call.lds().get_mut(start..start + 4) {
                to.copy_from_slice(&words[0].to_le_bytes());
            }
        }
        return Ok(());
    }
    let mut results = [[0; LANES]; 4];
    for lane in active(exec) {
        let words =
            load_lane(&access, memory, data, lane).map_err(|kind| call.fault(kind, Some(lane)))?;
        for (result, word) in results.iter_mut().zip(words) {
            result[lane] = word;
        }
    }
    let regs = access.inst.desc.dst[0].regs() as usize;
    for (i, result) in results.iter().enumerate().take(regs) {
        call.result(i, exec, result);
    }
    Ok(())
}

/// A lane's store of data registers.
fn store_lane(
    access: &Buffer<'_>,
    memory: &Memory,
    data: Data,
    words: [u32; 4],
    lane: usize,
) -> Result<(), crate::FaultKind> {
    let (address, inside) = access.lane(lane);
    let address = access.aligned(address);
    let Some(format) = access.format else {
        let high = matches!(data, Data::D16Hi | Data::D16HiB8);
        let words = if high {
            words.map(|word| word >> 16)
        } else {
            words
        };
        let element = element(data);
        let Element::Dwords(n) = element else {
            return match (inside(0), access.whole(lane, element.bytes())) {
                (false, _) => Ok(()),
                (true, true) => write(memory, address, element, words),
                (true, false) => {
                    let bytes = words[0].to_le_bytes();
                    access.write(memory, lane, 0, &bytes[..element.bytes()])
                }
            };
        };
        if access.whole(lane, 4 * n) && (0..n).all(|i| inside(4 * i)) {
            return write(memory, address, element, words);
        }
        for (i, &word) in words.iter().enumerate().take(n) {
            if inside(4 * i) {
                access.write(memory, lane, 4 * i, &word.to_le_bytes())?;
            }
        }
        return Ok(());
    };
    if !inside(0) {
        return Ok(());
    }
    let mut components = [0; 4];
    match data {
        Data::FormatD16(n) => {
            for (i, component) in components.iter_mut().enumerate().take(usize::from(n)) {
                let half = match access.gfx.is_gfx9() {
                    true => words[i / 2] >> (16 * (i % 2)),
                    false => words[i],
                };
                *component = format.widen(half);
            }
        }
        Data::FormatD16Hi => components[0] = format.widen(words[0] >> 16),
        Data::Format(n) => components[..usize::from(n)].copy_from_slice(&words[..usize::from(n)]),
        _ => {}
    }
    let bytes = format.store(components);
    access.write(memory, lane, 0, &bytes[..format.bytes()])
}

/// `EffectFn::BufferStore`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let access = Buffer::of(call);
    let exec = call.raw(4);
    let m0 = call.raw(7) as u32;
    let memory = call.host().group.memory;
    if access.inst.op() == Op::StoreLds {
        for lane in active(exec) {
            let offset = lds_address(&access, m0, lane);
            call.announce(Access::Read, offset, 4, lane)?;
            let start = offset as usize;
            let bytes = call.lds().get(start..start + 4);
            let word = bytes.map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            store_lane(&access, memory, Data::Dwords(1), [word, 0, 0, 0], lane)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
        }
        return Ok(());
    }
    let Op::Store(_, data) = access.inst.op() else {
        unreachable!("bug: {} as a buffer store", access.inst.desc.name)
    };
    let regs = (access.inst.desc.src[3].regs() as usize).min(4);
    let sources: Vec<Words<'_>> = (0..regs).map(|i| call.words(8 + i)).collect();
    for lane in active(exec) {
        let mut words = [0; 4];
        for (word, source) in words.iter_mut().zip(&sources) {
            *word = source.get(lane);
        }
        store_lane(&access, memory, data, words, lane)
            .map_err(|kind| call.fault(kind, Some(lane)))?;
    }
    Ok(())
}

/// `EffectFn::BufferAtomic`: out of range gives 0.
pub(super) fn atomic(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let access = Buffer::of(call);
    let exec = call.raw(4);
    let mode = call.raw(7) as u32;
    let memory = call.host().group.memory;
    let Op::Atomic(space, op) = access.inst.op() else {
        unreachable!("bug: {} as a buffer atomic", access.inst.desc.name)
    };
    let wide = access.inst.desc.dst[0].bits() == 64;
    let rmw = Rmw::new(op, wide, float_denorm(space as u64, wide, mode));
    let width = rmw.bytes() / 4;
    let compare = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
    let count = width * if compare { 2 } else { 1 };
    let words: Vec<Words<'_>> = (0..count).map(|i| call.words(8 + i)).collect();
    let mut old = [[0; LANES]; 2];
    for lane in active(exec) {
        let word = |i: usize| words.get(i).map_or(0, |word| u64::from(word.get(lane)));
        let (data, second) = match wide {
            true => (word(0) | word(1) << 32, word(2) | word(3) << 32),
            false => (word(0), word(1)),
        };
        let (address, inside) = access.lane(lane);
        if !inside(0) {
            continue;
        }
        let value = rmw
            .on_memory(memory, access.aligned(address), data, second)
            .map_err(|kind| call.fault(kind, Some(lane)))?;
        old[0][lane] = value as u32;
        old[1][lane] = (value >> 32) as u32;
    }
    if !matches!(access.inst.dst[0], frontend::Operand::None) {
        for (i, old) in old.iter().enumerate().take(width) {
            call.result(i, exec, old);
        }
    }
    Ok(())
}
