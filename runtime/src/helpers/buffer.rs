//! MUBUF and MTBUF through a buffer descriptor: addresses, range checks, formats, loads to LDS.

use frontend::inst::Inst;
use frontend::op::{Atomic, Data, Op};
use frontend::{Encoding, Gfx, LANES};
use lower::abi::{ExitCode, Lanes, Site};

use super::atomic::{Rmw, float_denorm};
use super::format::Format;
use super::memory::{Addresses, Element, active, load_elements, read, store_global, write};
use super::{Call, Words};
use crate::choices;
use crate::fault::{Access, FaultKind};
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

/// Uniform parameters of an access.
struct Buffer<'a> {
    inst: &'a Inst,
    gfx: Gfx,
    descriptor: Descriptor,
    soffset: u32,
    index: Words<'a>,
    offset: Words<'a>,
    /// The format of format instructions.
    format: Option<Format>,
    /// The descriptor is unbound.
    unbound: bool,
}

impl<'a> Buffer<'a> {
    /// From the arguments common to the three functions.
    fn of(call: &mut Call<'a>) -> Result<Buffer<'a>, ExitCode> {
        let (index, offset) = (call.words(4), call.words(5));
        let words = [call.wave64(0), call.wave64(1), call.wave32(2).into()];
        Buffer::new(call, call.site, words, index, offset)
    }

    /// From the two halves of the descriptor, SOFFSET, and the address registers.
    fn new(
        call: &mut Call<'_>,
        site: &'a Site,
        [low, high, soffset]: [u64; 3],
        index: Words<'a>,
        offset: Words<'a>,
    ) -> Result<Buffer<'a>, ExitCode> {
        let gfx = call.host().group.gfx;
        let inst = &site.inst;
        let mut descriptor = Descriptor::of(low, high);
        let is_format = matches!(
            inst.op(),
            Op::Load(_, data) | Op::Store(_, data)
                if matches!(data, Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi)
        );
        // With ADD_TID the format field holds more bits of the stride.
        let wide_stride = gfx.is_gfx8_up() && descriptor.add_tid && !is_format;
        if wide_stride {
            descriptor.stride |= descriptor.dfmt << 14;
        }
        if gfx.is_gfx9() {
            descriptor.element_size = 4;
        }
        // A 64-bit address uses nothing of the descriptor.
        let mut unbound =
            !inst.mem.addr64 && (descriptor.zero || (!wide_stride && descriptor.dfmt == 0));
        let mut format = None;
        if is_format && !unbound {
            let (dfmt, nfmt) = match inst.desc.encoding {
                Encoding::Mtbuf => (u32::from(inst.mem.dfmt), u32::from(inst.mem.nfmt)),
                _ => (descriptor.dfmt, descriptor.nfmt),
            };
            format = Format::of(dfmt, nfmt);
            unbound |= dfmt == 0;
            if format.is_none() && dfmt != 0 {
                let what = format!(
                    "data format {dfmt} with number format {nfmt} in {}",
                    inst.desc.name_on(gfx)
                );
                return Err(call.fault(FaultKind::Unsupported { what }, None));
            }
        }
        Ok(Buffer {
            inst,
            gfx,
            descriptor,
            soffset: soffset as u32,
            index,
            offset,
            format,
            unbound,
        })
    }

    /// Record and byte offset of a lane's element for the range check: a sum of 2^32 or more is out
    /// of range. Addresses use the low 32 bits of the offset.
    fn position(&self, lane: usize) -> (u64, u64) {
        let mem = &self.inst.mem;
        if mem.addr64 {
            return (0, mem.offset as u64);
        }
        let word = |there: bool, words: &Words<'_>| match there {
            true => u64::from(words.get(lane)),
            false => 0,
        };
        let tid = if self.descriptor.add_tid {
            lane as u64
        } else {
            0
        };
        let index = word(mem.idxen, &self.index) + tid;
        let offset = word(mem.offen, &self.offset) + mem.offset as u64;
        (index, offset)
    }

    /// Is the buffer swizzled?
    fn swizzles(&self) -> bool {
        self.descriptor.swizzle && !self.inst.mem.addr64
    }

    /// Address of a byte of a lane's record.
    fn place(&self, lane: usize, index: u64, offset: u64) -> u64 {
        let d = &self.descriptor;
        let offset = match self.inst.mem.addr64 {
            true => offset,
            false => u64::from(offset as u32),
        };
        let stride = u64::from(d.stride);
        let within = if self.swizzles() {
            let (per, size) = (u64::from(d.index_stride), u64::from(d.element_size));
            let rows = (index / per * stride).wrapping_add(offset / size * size);
            rows.wrapping_mul(per) + index % per * size + offset % size
        } else {
            (index * stride).wrapping_add(offset)
        };
        let own = match self.inst.mem.addr64 {
            true => u64::from(self.index.get(lane)) | u64::from(self.offset.get(lane)) << 32,
            false => 0,
        };
        let address = d
            .base
            .wrapping_add(own)
            .wrapping_add(u64::from(self.soffset))
            .wrapping_add(within);
        address & ADDRESS
    }

    /// Low bits of addresses that targets without unaligned access ignore in an access of `bytes` bytes.
    fn ignored(&self, bytes: usize) -> u64 {
        match self.gfx.buffer_unaligned() {
            true => 0,
            false => bytes.min(4) as u64 - 1,
        }
    }

    /// Location of the piece of `bytes` bytes (in swizzled buffers at most a dword) at byte `from`
    /// of a lane's element: one address, or one for each byte if the piece leaves its element of a
    /// swizzled buffer.
    fn piece(&self, lane: usize, from: usize, bytes: usize) -> Piece {
        let (index, offset) = self.position(lane);
        let offset = offset + from as u64;
        let ignored = self.ignored(bytes);
        if !self.swizzles() {
            return Piece::Whole(self.place(lane, index, offset) & !ignored);
        }
        let offset = offset & !ignored;
        let size = u64::from(self.descriptor.element_size);
        if offset % size + bytes as u64 <= size {
            return Piece::Whole(self.place(lane, index, offset) & !ignored);
        }
        Piece::Bytes(std::array::from_fn(|i| {
            self.place(lane, index, offset + i as u64)
        }))
    }

    /// Reads a piece of 1, 2 or 4 bytes.
    fn read_piece(
        &self,
        memory: &Memory,
        lane: usize,
        from: usize,
        bytes: usize,
    ) -> Result<[u8; 4], FaultKind> {
        let mut out = [0; 4];
        match (self.piece(lane, from, bytes), bytes) {
            (Piece::Whole(address), 1) => out[..1].copy_from_slice(&memory.load::<1>(address)?),
            (Piece::Whole(address), 2) => out[..2].copy_from_slice(&memory.load::<2>(address)?),
            (Piece::Whole(address), _) => out = memory.load::<4>(address)?,
            (Piece::Bytes(addresses), _) => {
                for (byte, address) in out.iter_mut().zip(addresses).take(bytes) {
                    [*byte] = memory.load::<1>(address)?;
                }
            }
        }
        Ok(out)
    }

    /// Writes a piece of 1, 2 or 4 bytes.
    fn write_piece(
        &self,
        memory: &Memory,
        lane: usize,
        from: usize,
        piece: &[u8],
    ) -> Result<(), FaultKind> {
        match (self.piece(lane, from, piece.len()), piece) {
            (Piece::Whole(address), &[a]) => memory.store(address, [a])?,
            (Piece::Whole(address), &[a, b]) => memory.store(address, [a, b])?,
            (Piece::Whole(address), &[a, b, c, d]) => memory.store(address, [a, b, c, d])?,
            (Piece::Whole(address), _) => memory.store_bytes(address, piece)?,
            (Piece::Bytes(addresses), _) => {
                for (&byte, address) in piece.iter().zip(addresses) {
                    memory.store(address, [byte])?;
                }
            }
        }
        Ok(())
    }

    /// The address of a lane's element if it is contiguous and in range.
    fn whole(&self, lane: usize, bytes: usize) -> Option<u64> {
        if self.swizzles() || !(0..bytes).step_by(4).all(|i| self.inside(lane, i)) {
            return None;
        }
        match self.piece(lane, 0, bytes) {
            Piece::Whole(address) => Some(address),
            Piece::Bytes(_) => None,
        }
    }

    /// Reads the 1, 2 or 4 * n bytes of a lane's element as one access where that is possible; dwords out of
    /// range are 0.
    fn read(&self, memory: &Memory, lane: usize, bytes: usize) -> Result<[u8; 16], FaultKind> {
        if let Some(address) = self.whole(lane, bytes) {
            let element = plain(bytes);
            return Ok(element.encode(read(memory, address, element)?));
        }
        let mut out = [0; 16];
        for i in (0..bytes).step_by(4) {
            if self.inside(lane, i) {
                let piece = self.read_piece(memory, lane, i, bytes.min(4))?;
                out[i..i + 4].copy_from_slice(&piece);
            }
        }
        Ok(out)
    }

    /// Writes the first 1, 2 or 4 * n of `bytes` to a lane's element as one access where that is possible;
    /// dwords out of range are dropped.
    fn write(
        &self,
        memory: &Memory,
        lane: usize,
        bytes: [u8; 16],
        count: usize,
    ) -> Result<(), FaultKind> {
        if let Some(address) = self.whole(lane, count) {
            let element = plain(count);
            return write(memory, address, element, element.decode(&bytes));
        }
        for i in (0..count).step_by(4) {
            if self.inside(lane, i) {
                self.write_piece(memory, lane, i, &bytes[i..i + count.min(4)])?;
            }
        }
        Ok(())
    }

    /// Is byte `i` of a lane's element in range?
    fn inside(&self, lane: usize, i: usize) -> bool {
        let d = &self.descriptor;
        let gfx9 = self.gfx.is_gfx9();
        if self.unbound {
            return false;
        }
        if self.is_unchecked() {
            return true;
        }
        let (index, offset) = self.position(lane);
        let offset = offset + i as u64;
        let records = u64::from(d.num_records);
        if self.counts_bytes() {
            // Swizzling follows the check.
            let start = match d.swizzle {
                true => 0,
                false => index * u64::from(d.stride),
            };
            return start + offset + self.checked_soffset() < records;
        }
        index < records && (gfx9 || !d.swizzle || offset < u64::from(d.stride))
    }

    /// Is there no range check?
    fn is_unchecked(&self) -> bool {
        let mem = &self.inst.mem;
        mem.addr64 || self.gfx.is_gfx9() && self.descriptor.add_tid && !mem.idxen
    }

    /// Does the range check compare bytes, not records?
    fn counts_bytes(&self) -> bool {
        self.descriptor.stride == 0
            || match self.gfx {
                Gfx::Gfx600 | Gfx::Gfx700 => false,
                Gfx::Gfx803 => !self.descriptor.swizzle,
                _ => !self.inst.mem.idxen,
            }
    }

    /// The scalar offset's part in a range check of bytes: before gfx9 it takes part.
    fn checked_soffset(&self) -> u64 {
        match self.gfx.is_gfx9() && !choices::GFX9_RAW_CHECK_HAS_SOFFSET {
            true => 0,
            false => u64::from(self.soffset),
        }
    }

    /// The active lanes whose elements of `bytes` bytes are in range, and their addresses. `None` if the
    /// buffer is swizzled, an address is of 64 bits, or an element is partly in range.
    fn in_range(&self, exec: u64, bytes: usize) -> Option<InRange> {
        #[cfg(target_arch = "x86_64")]
        if super::has_avx2() {
            // SAFETY: the host has these features.
            return unsafe { self.in_range_by_avx2(exec, bytes) };
        }
        self.in_range_by_lanes(exec, bytes)
    }

    /// As [`Buffer::in_range`].
    ///
    /// # Safety
    /// The host has these features.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,bmi1,bmi2")]
    unsafe fn in_range_by_avx2(&self, exec: u64, bytes: usize) -> Option<InRange> {
        self.in_range_by_lanes(exec, bytes)
    }

    /// As [`Buffer::in_range`]. The loop over the addresses has no branches, so that it vectorises.
    #[inline(always)]
    fn in_range_by_lanes(&self, exec: u64, bytes: usize) -> Option<InRange> {
        let (mem, d) = (&self.inst.mem, &self.descriptor);
        if d.swizzle || mem.addr64 {
            return None;
        }
        let by_bytes = self.counts_bytes();
        let unless = |left_out: bool, words: &Words<'_>| match left_out {
            true => [0; LANES],
            false => words.all(),
        };
        let indices = unless(!mem.idxen, &self.index);
        let offsets = unless(!mem.offen, &self.offset);
        let base = d.base.wrapping_add(u64::from(self.soffset));
        let (stride, records) = (u64::from(d.stride), u64::from(d.num_records));
        let (soffset, tid) = (self.checked_soffset(), u64::from(d.add_tid));
        let last = (bytes as u64 - 1) & !3;
        let kept = ADDRESS & !self.ignored(bytes);
        let [mut low, mut high, mut starts, mut ends] = [[0; LANES]; 4];
        // All sums are less than 2^63, so a difference is negative if its high bit is set.
        let below = |at: u64| (at.wrapping_sub(records) >> 63) as u32;
        for lane in 0..LANES {
            let index = u64::from(indices[lane]) + tid * lane as u64;
            let offset = u64::from(offsets[lane]) + mem.offset as u64;
            let start = index * stride;
            let address = base.wrapping_add(start + u64::from(offset as u32)) & kept;
            (low[lane], high[lane]) = (address as u32, (address >> 32) as u32);
            let (first, end) = match by_bytes {
                true => (start + offset + soffset, start + offset + soffset + last),
                false => (index, index),
            };
            (starts[lane], ends[lane]) = (below(first), below(end));
        }
        let (starts, ends) = (mask(&starts), mask(&ends));
        let lanes = match (self.unbound, self.is_unchecked()) {
            (true, _) => 0,
            (_, true) => exec,
            _ if exec & (starts ^ ends) != 0 => return None,
            _ => exec & ends,
        };
        Some(InRange { low, high, lanes })
    }

    /// Formats and atomics are all or nothing.
    fn inside_whole(&self, lane: usize, bytes: usize) -> bool {
        self.inside(lane, 0) && self.inside(lane, bytes - 1)
    }
}

/// For a sanitizer: of the site's access, given the two halves of the descriptor, SOFFSET and the offset with the
/// instruction's, the active lanes whose elements of `bytes` bytes are in range, and where these begin.
pub(super) fn places(
    call: &mut Call<'_>,
    descriptor: [u64; 3],
    offset: &Words<'_>,
    exec: u64,
    bytes: u32,
) -> Result<(u64, [u64; LANES]), ExitCode> {
    let site = call.site;
    let own = offset
        .all()
        .map(|offset| offset.wrapping_sub(site.inst.mem.offset as u32));
    let access = Buffer::new(call, site, descriptor, Words::Wave(0), Words::Lanes(&own))?;
    let (mut inside, mut addresses) = (0, [0; LANES]);
    for lane in active(exec) {
        if let Some(address) = access.whole(lane, bytes as usize) {
            inside |= 1 << lane;
            addresses[lane] = address;
        }
    }
    Ok((inside, addresses))
}

/// A word for each lane, 0 or 1, as a mask.
fn mask(words: &Lanes) -> u64 {
    let bits = words.iter().zip(0u32..);
    bits.fold(0, |mask, (&word, lane)| mask | u64::from(word) << lane)
}

/// Lanes of an access whose elements are contiguous and in range.
struct InRange {
    /// Low and high words of the addresses.
    low: Lanes,
    high: Lanes,
    /// The lanes.
    lanes: u64,
}

impl InRange {
    /// Loads the elements; results of other lanes are 0.
    fn load(
        &self,
        call: &mut Call<'_>,
        element: Element,
        results: &mut [Lanes; 4],
    ) -> Result<(), ExitCode> {
        if self.lanes != 0 {
            let at = Addresses::new(&self.low, &self.high);
            load_elements(call, at, self.lanes, element, results)?;
        }
        for lane in active(!self.lanes) {
            for result in results.iter_mut() {
                result[lane] = 0;
            }
        }
        Ok(())
    }

    /// Stores the elements.
    fn store(
        &self,
        call: &mut Call<'_>,
        element: Element,
        data: [&Lanes; 4],
    ) -> Result<(), ExitCode> {
        let at = Addresses::new(&self.low, &self.high);
        match self.lanes {
            0 => Ok(()),
            lanes => store_global(call, at, lanes, element, data),
        }
    }
}

/// Location of a piece of at most a dword.
enum Piece {
    /// Contiguous.
    Whole(u64),
    /// Each byte for itself.
    Bytes([u64; 4]),
}

/// The element of data without a format.
fn element(data: Data) -> Element {
    match data {
        Data::Dwords(n) => Element::Dwords(usize::from(n)),
        Data::U8 | Data::D16U8 | Data::D16HiU8 | Data::D16HiB8 => Element::Byte(false),
        Data::I8 | Data::D16I8 | Data::D16HiI8 => Element::Byte(true),
        Data::I16 => Element::Short(true),
        Data::U16 | Data::D16 | Data::D16Hi => Element::Short(false),
        // The format determines their element.
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi => Element::Short(false),
    }
}

/// Unconverted bytes in memory.
fn plain(bytes: usize) -> Element {
    match bytes {
        1 => Element::Byte(false),
        2 => Element::Short(false),
        n => Element::Dwords(n / 4),
    }
}

/// Is the data converted?
fn is_format(data: Data) -> bool {
    matches!(
        data,
        Data::Format(_) | Data::FormatD16(_) | Data::FormatD16Hi
    )
}

/// The data registers of a lane's load.
fn load_lane(
    access: &Buffer<'_>,
    memory: &Memory,
    data: Data,
    lane: usize,
) -> Result<[u32; 4], FaultKind> {
    if !is_format(data) {
        let element = element(data);
        let bytes = access.read(memory, lane, element.bytes())?;
        return Ok(element.decode(&bytes));
    }
    let Some(format) = access.format else {
        // Unbound.
        return Ok([0; 4]);
    };
    let bytes = format.bytes();
    let components = match access.inside_whole(lane, bytes) {
        true => format.load(&access.read(memory, lane, bytes)?[..bytes]),
        false => [0; 4],
    };
    let typed = access.inst.desc.encoding == Encoding::Mtbuf;
    let components = match typed {
        // Components that a typed format lacks read as 0, including w.
        true => {
            let held = format.components();
            std::array::from_fn(|i| if i < held { components[i] } else { 0 })
        }
        // An out-of-range element only shows constant selections.
        false => format.select(components, access.descriptor.dst_sel),
    };
    Ok(match data {
        Data::FormatD16(n) => {
            let halves = components.map(|component| format.narrow(component));
            if access.gfx.packs_d16() {
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

/// The location of a lane's dword in LDS for moves between buffer and LDS; lanes without room in
/// LDS are skipped.
fn lds_place(call: &mut Call<'_>, access: &Buffer<'_>, m0: u32, lane: usize) -> Option<usize> {
    let own = if access.gfx.is_gfx9() {
        access.inst.mem.offset as usize
    } else {
        0
    };
    let start = (m0 & 0xffff) as usize + own + 4 * lane;
    (start + 4 <= call.lds().len()).then_some(start)
}

/// The offset register of an access, from its sums with the instruction's offset; these wrap at 32
/// bits.
fn register<'a>(call: &Call<'_>, sums: Words<'_>, room: &'a mut Lanes) -> Words<'a> {
    let register = |sum: u32| sum.wrapping_sub(call.site.inst.mem.offset as u32);
    match sums {
        Words::Wave(sum) => Words::Wave(register(sum)),
        Words::Lanes(sums) => {
            *room = sums.map(register);
            Words::Lanes(room)
        }
    }
}

/// An access through a descriptor that may be of scratch, at sums of the register's and the instruction's offset.
fn raw<'a>(
    call: &mut Call<'_>,
    site: &'a Site,
    sums: Words<'_>,
    places: [usize; 3],
    room: &'a mut Lanes,
) -> Result<Buffer<'a>, ExitCode> {
    let offset = register(call, sums, room);
    let words = places.map(|i| call.raw(i));
    Buffer::new(call, site, words, Words::Wave(0), offset)
}

/// `EffectFn::Load` through a descriptor that may be of scratch; `places` are the arguments that are descriptor and SOFFSET.
pub(super) fn load_raw(
    call: &mut Call<'_>,
    sums: Words<'_>,
    places: [usize; 3],
    element: Element,
    results: &mut [Lanes; 4],
) -> Result<(), ExitCode> {
    let mut room = [0; LANES];
    let access = raw(call, call.site, sums, places, &mut room)?;
    let memory = call.host().group.memory;
    let exec = call.raw(2);
    if let Some(lanes) = access.in_range(exec, element.bytes()) {
        return lanes.load(call, element, results);
    }
    for lane in active(exec) {
        let bytes = access.read(memory, lane, element.bytes());
        let bytes = bytes.map_err(|kind| call.fault(kind, Some(lane)))?;
        for (result, word) in results.iter_mut().zip(element.decode(&bytes)) {
            result[lane] = word;
        }
    }
    Ok(())
}

/// `EffectFn::Store` through a descriptor that may be of scratch.
pub(super) fn store_raw(
    call: &mut Call<'_>,
    sums: Words<'_>,
    places: [usize; 3],
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let mut room = [0; LANES];
    let access = raw(call, call.site, sums, places, &mut room)?;
    let memory = call.host().group.memory;
    let exec = call.raw(2);
    if let Some(lanes) = access.in_range(exec, element.bytes()) {
        return lanes.store(call, element, data);
    }
    for lane in active(exec) {
        let bytes = element.encode(data.map(|words| words[lane]));
        access
            .write(memory, lane, bytes, element.bytes())
            .map_err(|kind| call.fault(kind, Some(lane)))?;
    }
    Ok(())
}

/// `EffectFn::BufferLoad`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let exec = call.wave64(3);
    if exec == 0 {
        return Ok(());
    }
    let access = Buffer::of(call)?;
    let m0 = call.wave32(6);
    let memory = call.host().group.memory;
    let Op::Load(_, data) = access.inst.op() else {
        unreachable!("bug: {} as a buffer load", access.inst.desc.name)
    };
    if access.inst.mem.lds {
        for lane in active(exec) {
            let Some(start) = lds_place(call, &access, m0, lane) else {
                continue;
            };
            let words = load_lane(&access, memory, data, lane)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
            call.announce(Access::Write, start as u64, 4, lane)?;
            call.lds()[start..start + 4].copy_from_slice(&words[0].to_le_bytes());
        }
        return Ok(());
    }
    let mut results = [[0; LANES]; 4];
    let lanes = match is_format(data) {
        true => None,
        false => access.in_range(exec, element(data).bytes()),
    };
    if let Some(lanes) = lanes {
        lanes.load(call, element(data), &mut results)?;
    } else {
        for lane in active(exec) {
            let words = load_lane(&access, memory, data, lane);
            let words = words.map_err(|kind| call.fault(kind, Some(lane)))?;
            for (result, word) in results.iter_mut().zip(words) {
                result[lane] = word;
            }
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
) -> Result<(), FaultKind> {
    if !is_format(data) {
        let element = element(data);
        return access.write(memory, lane, element.encode(words), element.bytes());
    }
    let Some(format) = access.format.filter(|_| !access.unbound) else {
        return Ok(());
    };
    let bytes = format.bytes();
    if !access.inside_whole(lane, bytes) {
        return Ok(());
    }
    let mut components = [0; 4];
    match data {
        Data::FormatD16(n) => {
            for (i, component) in components.iter_mut().enumerate().take(usize::from(n)) {
                let half = match access.gfx.packs_d16() {
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
    if access.inst.desc.encoding != Encoding::Mtbuf {
        // Each component in memory is the first one that selects it.
        let selected = access.descriptor.dst_sel;
        components = std::array::from_fn(|channel| {
            let from = selected.iter().position(|&sel| sel == 4 + channel as u32);
            from.map_or(0, |from| components[from])
        });
    }
    access.write(memory, lane, format.store(components), bytes)
}

/// `EffectFn::BufferStore`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let exec = call.wave64(3);
    if exec == 0 {
        return Ok(());
    }
    let access = Buffer::of(call)?;
    let m0 = call.wave32(6);
    let memory = call.host().group.memory;
    if access.inst.op() == Op::StoreLds {
        for lane in active(exec) {
            let Some(start) = lds_place(call, &access, m0, lane) else {
                continue;
            };
            call.announce(Access::Read, start as u64, 4, lane)?;
            let b = &call.lds()[start..start + 4];
            let word = u32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            store_lane(&access, memory, Data::Dwords(1), [word, 0, 0, 0], lane)
                .map_err(|kind| call.fault(kind, Some(lane)))?;
        }
        return Ok(());
    }
    let Op::Store(_, data) = access.inst.op() else {
        unreachable!("bug: {} as a buffer store", access.inst.desc.name)
    };
    let regs = (access.inst.desc.src[3].regs() as usize).min(4);
    // The high half of a register.
    let shift = match data {
        Data::D16Hi | Data::D16HiB8 => 16,
        _ => 0,
    };
    let mut sources = [[0; LANES]; 4];
    for (i, source) in sources.iter_mut().enumerate().take(regs) {
        *source = call.words(7 + i).all().map(|word| word >> shift);
    }
    if !is_format(data)
        && let Some(lanes) = access.in_range(exec, element(data).bytes())
    {
        return lanes.store(call, element(data), sources.each_ref());
    }
    for lane in active(exec) {
        let words = sources.map(|source| source[lane]);
        store_lane(&access, memory, data, words, lane)
            .map_err(|kind| call.fault(kind, Some(lane)))?;
    }
    Ok(())
}

/// `EffectFn::BufferAtomic`: out of range gives 0.
pub(super) fn atomic(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let exec = call.wave64(3);
    if exec == 0 {
        return Ok(());
    }
    let access = Buffer::of(call)?;
    let mode = call.wave32(6);
    let memory = call.host().group.memory;
    let Op::Atomic(_, op) = access.inst.op() else {
        unreachable!("bug: {} as a buffer atomic", access.inst.desc.name)
    };
    let wide = access.inst.desc.dst[0].bits() == 64;
    let rmw = Rmw::new(op, wide, float_denorm(op, false, wide, mode));
    let width = rmw.bytes() / 4;
    let compare = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
    let count = width * if compare { 2 } else { 1 };
    let words: Vec<Words<'_>> = (0..count).map(|i| call.words(7 + i)).collect();
    let mut old = [[0; LANES]; 2];
    for lane in active(exec) {
        let word = |i: usize| words.get(i).map_or(0, |word| u64::from(word.get(lane)));
        let (data, second) = match wide {
            true => (word(0) | word(1) << 32, word(2) | word(3) << 32),
            false => (word(0), word(1)),
        };
        if !access.inside_whole(lane, rmw.bytes()) {
            continue;
        }
        let (index, offset) = access.position(lane);
        let address = access.place(lane, index, offset) & !access.ignored(rmw.bytes());
        let value = rmw
            .on_memory(memory, address, data, second)
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
