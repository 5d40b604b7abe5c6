//! DS: the workgroup's LDS, and exchanges between lanes that go through its crossbar.
//!
//! An access outside the LDS reads 0 or writes nothing, each access on its own. On gfx6 to gfx8 M0
//! clamps the size. In checked mode such accesses are faults.

use frontend::op::{Atomic, Data, DsOp, Space};
use frontend::{Gfx, LANES, Op, ops};

use super::atomic::{Operands, apply};
use super::data::{self, Raw};
use super::flat::outside;
use super::observe::{Accessed, Observer};
use super::operand::{Exec, Lanes, lanes};
use super::stop::{Run, Stop};
use crate::fault::{Access, Private};
use crate::math::Denorm;

/// The lane that `ds_swizzle_b32` reads for `lane`.
pub(crate) fn swizzle_source(gfx: Gfx, offset: u32, lane: usize) -> usize {
    let i = lane as u32;
    let half = i & 0x20;
    let low = offset & 0x1f;
    let j = if offset & 0x8000 == 0 {
        ((i & low) | offset >> 5 & 0x1f) ^ offset >> 10 & 0x1f
    } else if gfx.has_swizzle_rotate() && offset >= 0xe000 {
        // The order of a fast Fourier transform: bits reversed above those of the mask.
        let reversed = (i & 0x1f).reverse_bits() >> 27;
        (reversed >> low.count_ones()) | (i & low)
    } else if gfx.has_swizzle_rotate() && offset >= 0xc000 {
        let by = offset >> 5 & 0x1f;
        let to = match offset & 0x400 {
            0 => i.wrapping_add(by),
            _ => i.wrapping_sub(by),
        };
        (i & low) | (to & !low)
    } else {
        return lane & !3 | (offset >> (2 * (i & 3)) & 3) as usize;
    };
    ((j & 0x1f) | half) as usize
}

impl<O: Observer> Exec<'_, '_, O> {
    /// One DS instruction.
    pub(crate) fn exec_ds(&mut self) -> Run<()> {
        let inst = self.inst;
        self.active = self.wave.exec();
        if inst.mem.gds {
            return Err(Stop::unsupported(format!(
                "{} on GDS: global data share is not emulated",
                self.name()
            )));
        }
        match inst.op() {
            Op::Load(Space::Lds, data) => self.ds_load(data),
            Op::Store(Space::Lds, data) => self.ds_store(data),
            Op::Atomic(Space::Lds, op) => self.ds_atomic(op),
            Op::Read2 { st64 } => self.ds_read2(st64),
            Op::Write2 { st64 } => self.ds_write2(st64),
            Op::Wrxchg2 { st64 } => self.ds_exchange2(st64),
            Op::AtomicSrc2(op) => self.ds_source2(Some(op)),
            Op::WriteSrc2 => self.ds_source2(None),
            Op::ReadAddTid => {
                let addresses = self.add_tid_addresses();
                self.ds_load_at(Data::Dwords(1), &addresses)
            }
            Op::WriteAddTid => {
                let addresses = self.add_tid_addresses();
                self.ds_store_at(Data::Dwords(1), &addresses)
            }
            Op::Ds(DsOp::Nop) => Ok(()),
            Op::Ds(DsOp::Swizzle) => self.ds_swizzle(),
            Op::Ds(DsOp::Permute) => self.ds_permute(),
            Op::Ds(DsOp::Bpermute) => self.ds_bpermute(),
            Op::Ds(DsOp::Append) => self.ds_count(false),
            Op::Ds(DsOp::Consume) => self.ds_count(true),
            Op::Ds(DsOp::Condxchg32Rtn64) => self.ds_condxchg(),
            // These are of GDS, or were executed before.
            Op::Ds(DsOp::OrderedCount | DsOp::GwsInit | DsOp::GwsBarrier) => self.unknown(),
            Op::Ds(DsOp::GwsSemaV | DsOp::GwsSemaP | DsOp::GwsSemaBr) => self.unknown(),
            Op::Ds(DsOp::GwsSemaReleaseAll) => self.unknown(),
            // Of other spaces.
            Op::Load(..) | Op::Store(..) | Op::Atomic(..) => self.unknown(),
            Op::StoreLds | Op::Image(_) | Op::Export => self.unknown(),
            Op::MemTime | Op::MemRealtime | Op::CacheCtl => self.unknown(),
            ops!(alu | salu | valu) => self.unknown(),
        }
    }

    /// LDS offset of an access of `bytes` bytes; `None` if out of range. Addresses wrap at 32 bits.
    /// `aligned`: the low bits are ignored on every target.
    pub(crate) fn lds_slot(
        &mut self,
        lane: usize,
        access: Access,
        base: u32,
        offset: u32,
        bytes: usize,
        aligned: bool,
    ) -> Run<Option<usize>> {
        let mut address = base.wrapping_add(offset);
        if aligned || !self.gfx.lds_unaligned() {
            let align = bytes.next_power_of_two() as u32;
            address &= !(align - 1);
        }
        let start = address as usize;
        // gfx6 checks the base separately: a negative one is outside even if the sum is not.
        let negative = self.gfx.lds_checks_base() && base >> 31 != 0;
        let limit = self.lds_limit();
        let inside = !negative && start + bytes <= limit;
        if self.group.lds.is_checked() {
            if !inside {
                let (offset, size) = (u64::from(address), limit as u64);
                return Err(outside(Private::Lds, lane, access, offset, bytes, size));
            }
            self.group
                .lds
                .check(access, u64::from(address), bytes as u32)
                .map_err(|kind| Stop::lane(kind, lane))?;
        }
        if !inside {
            self.observer.outside_lds(access, lane, address, bytes);
        }
        Ok(inside.then_some(start))
    }

    /// Checked mode checks an access of all lanes, at this offset, before any of them acts.
    fn lds_check(
        &mut self,
        access: Access,
        addresses: &Lanes,
        offset: u32,
        bytes: usize,
        aligned: bool,
    ) -> Run<()> {
        if self.group.lds.is_checked() {
            for lane in lanes(self.active) {
                self.lds_slot(lane, access, addresses[lane], offset, bytes, aligned)?;
            }
        }
        Ok(())
    }

    /// Bytes of LDS that the wave may access.
    pub(crate) fn lds_limit(&self) -> usize {
        let size = self.group.lds.size() as usize;
        if self.gfx.lds_limited_by_m0() {
            size.min(self.wave.m0() as usize)
        } else {
            size
        }
    }

    fn lds_bytes(&self, lane: usize, slot: usize, bytes: usize) -> Raw {
        let mut raw = [0; 16];
        let value = &self.group.lds.bytes()[slot..slot + bytes];
        raw[..bytes].copy_from_slice(value);
        self.observer
            .note(|| Accessed::lds(Access::Read, lane, slot, value));
        raw
    }

    pub(crate) fn lds_read(
        &mut self,
        lane: usize,
        base: u32,
        offset: u32,
        bytes: usize,
    ) -> Run<Raw> {
        let slot = self.lds_slot(lane, Access::Read, base, offset, bytes, false)?;
        Ok(slot.map_or([0; 16], |slot| self.lds_bytes(lane, slot, bytes)))
    }

    pub(crate) fn lds_write(
        &mut self,
        lane: usize,
        base: u32,
        offset: u32,
        raw: &Raw,
        bytes: usize,
    ) -> Run<()> {
        if let Some(slot) = self.lds_slot(lane, Access::Write, base, offset, bytes, false)? {
            self.lds_store(lane, slot, &raw[..bytes]);
        }
        Ok(())
    }

    /// Writes a value at a place that is known to be inside.
    pub(crate) fn lds_store(&mut self, lane: usize, slot: usize, value: &[u8]) {
        let place = &mut self.group.lds.bytes_mut()[slot..slot + value.len()];
        self.observer.before_lds_store(place);
        place.copy_from_slice(value);
        self.observer
            .note(|| Accessed::lds(Access::Write, lane, slot, value));
    }

    /// Replaces a value in LDS by `new(old)`; out of range the old value is 0.
    fn lds_update(
        &mut self,
        lane: usize,
        base: u32,
        offset: u32,
        bytes: usize,
        new: impl FnOnce(u64) -> u64,
    ) -> Run<u64> {
        let Some(slot) = self.lds_slot(lane, Access::Atomic, base, offset, bytes, true)? else {
            return Ok(0);
        };
        let place = &mut self.group.lds.bytes_mut()[slot..slot + bytes];
        let mut raw = [0; 8];
        raw[..bytes].copy_from_slice(place);
        let old = u64::from_le_bytes(raw);
        let new = new(old);
        place.copy_from_slice(&new.to_le_bytes()[..bytes]);
        self.observer
            .note(|| Accessed::atomic(true, Some(lane), slot as u64, (old, new), bytes == 8));
        Ok(old)
    }

    /// The atomic `op` on LDS, for DS and for FLAT through its aperture.
    pub(crate) fn lds_atomic(
        &mut self,
        lane: usize,
        op: Atomic,
        base: u32,
        offset: u32,
        wide: bool,
        operands: Operands<u64>,
    ) -> Run<u64> {
        // Float additions: those of f64 keep denormals whatever MODE says (CDNA2 manual, table 43; CDNA3 manual, table
        // 52). That those of bf16 follow the field of f16 is inferred.
        let halves = op.is_packed_sum();
        let denorm = match (wide, halves) {
            (true, _) => Denorm::KEEP,
            (false, false) => Denorm::from_mode(self.wave.mode >> 4),
            (false, true) => Denorm::from_mode(self.wave.mode >> 6),
        };
        let bytes = if wide { 8 } else { 4 };
        self.lds_update(lane, base, offset, bytes, |old| {
            apply(op, old, operands, wide, denorm)
        })
    }

    fn ds_addresses(&self) -> Run<Lanes> {
        let register = self.vector_range(self.inst.src[0], 1)?;
        Ok(*self.wave.vector(register))
    }

    /// M0[15:0] + 4 * lane, the base of the `addtid` forms.
    fn add_tid_addresses(&self) -> Lanes {
        let base = self.wave.m0() & 0xffff;
        std::array::from_fn(|lane| base + 4 * lane as u32)
    }

    /// One value of `count` dwords of a source, for one lane.
    pub(crate) fn vector_words(&self, first: usize, count: usize, lane: usize) -> [u32; 4] {
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate().take(count) {
            *word = self.wave.vector(first + i)[lane];
        }
        words
    }

    fn ds_load(&mut self, data: Data) -> Run<()> {
        let addresses = self.ds_addresses()?;
        self.ds_load_at(data, &addresses)
    }

    fn ds_load_at(&mut self, data: Data, addresses: &Lanes) -> Run<()> {
        let offset = self.inst.mem.offset as u32;
        let (bytes, count) = (data::bytes(data), data::registers(data));
        let to = self.vector_range(self.inst.dst[0], count)?;
        self.lds_check(Access::Read, addresses, offset, bytes, false)?;
        for lane in lanes(self.active) {
            let raw = self.lds_read(lane, addresses[lane], offset, bytes)?;
            self.write_loaded(data, to, lane, &raw);
        }
        Ok(())
    }

    /// Writes what a load of `data` brought to one lane's registers.
    pub(crate) fn write_loaded(&mut self, data: Data, to: usize, lane: usize, raw: &Raw) {
        let keeps = self.gfx.d16_keeps_other_half();
        let old = self.wave.vector(to)[lane];
        self.wave.vector_mut(to)[lane] = data::loaded(data, raw, old, keeps);
        for i in 1..data::registers(data) {
            self.wave.vector_mut(to + i)[lane] = data::dword(raw, i);
        }
    }

    fn ds_store(&mut self, data: Data) -> Run<()> {
        let addresses = self.ds_addresses()?;
        self.ds_store_at(data, &addresses)
    }

    fn ds_store_at(&mut self, data: Data, addresses: &Lanes) -> Run<()> {
        let offset = self.inst.mem.offset as u32;
        let (bytes, count) = (data::bytes(data), data::registers(data));
        let from = self.vector_range(self.inst.src[1], count)?;
        self.lds_check(Access::Write, addresses, offset, bytes, false)?;
        for lane in lanes(self.active) {
            let raw = data::stored(data, self.vector_words(from, count, lane));
            self.lds_write(lane, addresses[lane], offset, &raw, bytes)?;
        }
        Ok(())
    }

    /// Bytes of one element of a DS instruction, by the type of DATA0 (of half the destination for
    /// the reads of two).
    fn ds_element(&self) -> usize {
        match self.inst.desc.src.get(1) {
            Some(ty) => ty.bits() as usize / 8,
            None => self.dest_ty().bits() as usize / 16,
        }
    }

    /// The two byte offsets of a two-address form.
    fn ds_offsets(&self, element: usize, st64: bool) -> [u32; 2] {
        let scale = element as u32 * if st64 { 64 } else { 1 };
        let mem = &self.inst.mem;
        [mem.offset as u32 * scale, u32::from(mem.offset1) * scale]
    }

    fn ds_read2(&mut self, st64: bool) -> Run<()> {
        let element = self.ds_element();
        let count = element / 4;
        let offsets = self.ds_offsets(element, st64);
        let addresses = self.ds_addresses()?;
        let to = self.vector_range(self.inst.dst[0], 2 * count)?;
        for (half, offset) in offsets.into_iter().enumerate() {
            self.lds_check(Access::Read, &addresses, offset, element, false)?;
            for lane in lanes(self.active) {
                let raw = self.lds_read(lane, addresses[lane], offset, element)?;
                for i in 0..count {
                    self.wave.vector_mut(to + half * count + i)[lane] = data::dword(&raw, i);
                }
            }
        }
        Ok(())
    }

    fn ds_write2(&mut self, st64: bool) -> Run<()> {
        let element = self.ds_element();
        let count = element / 4;
        let offsets = self.ds_offsets(element, st64);
        let addresses = self.ds_addresses()?;
        let from = [
            self.vector_range(self.inst.src[1], count)?,
            self.vector_range(self.inst.src[2], count)?,
        ];
        // Equal offsets are one access with the first data.
        let accesses = if offsets[0] == offsets[1] { 1 } else { 2 };
        // Two accesses, one after the other, each of all lanes.
        for k in 0..accesses {
            self.lds_check(Access::Write, &addresses, offsets[k], element, false)?;
            for lane in lanes(self.active) {
                let words = self.vector_words(from[k], count, lane);
                let raw = data::stored(Data::Dwords(count as u8), words);
                self.lds_write(lane, addresses[lane], offsets[k], &raw, element)?;
            }
        }
        Ok(())
    }

    /// `ds_wrxchg2*`: both old values are returned.
    fn ds_exchange2(&mut self, st64: bool) -> Run<()> {
        let element = self.ds_element();
        let count = element / 4;
        let offsets = self.ds_offsets(element, st64);
        let addresses = self.ds_addresses()?;
        let from = [
            self.vector_range(self.inst.src[1], count)?,
            self.vector_range(self.inst.src[2], count)?,
        ];
        let to = self.vector_range(self.inst.dst[0], 2 * count)?;
        let equal = offsets[0] == offsets[1];
        for &offset in &offsets[..if equal { 1 } else { 2 }] {
            self.lds_check(Access::Atomic, &addresses, offset, element, true)?;
        }
        for lane in lanes(self.active) {
            let mut old = [0; 2];
            for k in 0..2 {
                if k == 1 && equal {
                    old[1] = old[0];
                    continue;
                }
                let data = self.pair(from[k], count, lane);
                old[k] = self.lds_update(lane, addresses[lane], offsets[k], element, |_| data)?;
            }
            for (k, old) in old.into_iter().enumerate() {
                self.set_pair(to + k * count, count, lane, old);
            }
        }
        Ok(())
    }

    /// One or two registers of a lane as a number.
    pub(crate) fn pair(&self, first: usize, count: usize, lane: usize) -> u64 {
        let low = u64::from(self.wave.vector(first)[lane]);
        match count {
            1 => low,
            _ => low | u64::from(self.wave.vector(first + 1)[lane]) << 32,
        }
    }

    /// Writes one or two registers of a lane.
    pub(crate) fn set_pair(&mut self, first: usize, count: usize, lane: usize, value: u64) {
        self.wave.vector_mut(first)[lane] = value as u32;
        if count > 1 {
            self.wave.vector_mut(first + 1)[lane] = (value >> 32) as u32;
        }
    }

    fn ds_atomic(&mut self, op: Atomic) -> Run<()> {
        let inst = self.inst;
        let count = self.ds_element() / 4;
        let addresses = self.ds_addresses()?;
        let first = self.vector_range(inst.src[1], count)?;
        let second = match inst.desc.src.len() {
            0..=2 => None,
            _ => Some(self.vector_range(inst.src[2], count)?),
        };
        let to = match inst.desc.dst.is_empty() {
            true => None,
            false => Some(self.vector_range(inst.dst[0], count)?),
        };
        let offset = inst.mem.offset as u32;
        self.lds_check(Access::Atomic, &addresses, offset, 4 * count, true)?;
        for lane in lanes(self.active) {
            let data0 = self.pair(first, count, lane);
            let data1 = second.map_or(0, |second| self.pair(second, count, lane));
            // A compare-and-swap has the compare value first.
            let swapped = matches!(op, Atomic::CmpSwap | Atomic::FCmpSwap);
            let (data, other) = if swapped {
                (data1, data0)
            } else {
                (data0, data1)
            };
            let operands = Operands { data, other };
            let old = self.lds_atomic(lane, op, addresses[lane], offset, count == 2, operands)?;
            if let Some(to) = to {
                self.set_pair(to, count, lane, old);
            }
        }
        Ok(())
    }

    /// The `_src2` forms: both operands lie in LDS.
    fn ds_source2(&mut self, op: Option<Atomic>) -> Run<()> {
        let count = self.ds_element() / 4;
        let addresses = self.ds_addresses()?;
        let offset = self.inst.mem.offset as u32;
        let each_lane = offset & 0x8000 != 0;
        let bytes = 4 * count;
        let places = addresses.map(|address| {
            let (a, distance) = if each_lane {
                (address & 0x1_ffff, (address as i32 >> 17) * 4)
            } else {
                (address, ((offset << 17) as i32 >> 17) * 4)
            };
            (a, a.wrapping_add_signed(distance))
        });
        if self.group.lds.is_checked() {
            let access = match op {
                Some(_) => Access::Atomic,
                None => Access::Write,
            };
            for lane in lanes(self.active) {
                let (a, b) = places[lane];
                self.lds_slot(lane, Access::Read, b, 0, bytes, true)?;
                self.lds_slot(lane, access, a, 0, bytes, true)?;
            }
        }
        for lane in lanes(self.active) {
            let (a, b) = places[lane];
            let slot = self.lds_slot(lane, Access::Read, b, 0, bytes, true)?;
            let raw = slot.map_or([0; 16], |slot| self.lds_bytes(lane, slot, bytes));
            let low = u64::from(data::dword(&raw, 0));
            let data = low | u64::from(data::dword(&raw, 1)) << 32;
            let operands = Operands { data, other: 0 };
            let op = op.unwrap_or(Atomic::Swap);
            self.lds_atomic(lane, op, a, 0, count == 2, operands)?;
        }
        Ok(())
    }

    /// `ds_swizzle_b32`: an inactive source lane gives 0.
    fn ds_swizzle(&mut self) -> Run<()> {
        let values = self.ds_addresses()?;
        let offset = self.inst.mem.offset as u32 & 0xffff;
        let gfx = self.gfx;
        self.exchange(&values, |lane| swizzle_source(gfx, offset, lane))
    }

    /// `ds_bpermute_b32`: each lane reads the lane that its address names.
    fn ds_bpermute(&mut self) -> Run<()> {
        let addresses = self.ds_addresses()?;
        let from = self.vector_range(self.inst.src[1], 1)?;
        let values = *self.wave.vector(from);
        let offset = self.inst.mem.offset as u32;
        self.exchange(&values, |lane| {
            (addresses[lane].wrapping_add(offset) / 4) as usize % LANES
        })
    }

    /// Each active lane gets the value of a lane, or 0 when that one is inactive.
    fn exchange(&mut self, values: &Lanes, source: impl Fn(usize) -> usize) -> Run<()> {
        let to = self.vector_range(self.inst.dst[0], 1)?;
        let exec = self.active;
        for lane in lanes(exec) {
            let from = source(lane);
            let valid = exec >> from & 1 != 0;
            self.wave.vector_mut(to)[lane] = if valid { values[from] } else { 0 };
        }
        Ok(())
    }

    /// `ds_permute_b32`: each lane sends to the lane that its address names; the highest sender
    /// wins, and lanes without a sender get 0.
    fn ds_permute(&mut self) -> Run<()> {
        let addresses = self.ds_addresses()?;
        let from = self.vector_range(self.inst.src[1], 1)?;
        let to = self.vector_range(self.inst.dst[0], 1)?;
        let offset = self.inst.mem.offset as u32;
        let mut sent = [0; LANES];
        for lane in lanes(self.active) {
            let target = (addresses[lane].wrapping_add(offset) / 4) as usize % LANES;
            sent[target] = self.wave.vector(from)[lane];
        }
        self.set_vgpr(to, &sent, self.active);
        Ok(())
    }

    /// `ds_append` and `ds_consume`: one addition or subtraction of the number of active lanes; all
    /// of them get the old value.
    fn ds_count(&mut self, consume: bool) -> Run<()> {
        let to = self.vector_range(self.inst.dst[0], 1)?;
        let exec = self.active;
        if exec == 0 {
            return Ok(());
        }
        let count = u64::from(exec.count_ones());
        let base = self.wave.m0() & 0xffff;
        let offset = self.inst.mem.offset as u32;
        let address = base.wrapping_add(offset) & !3;
        let first = exec.trailing_zeros() as usize;
        // M0 is the address here and does not clamp.
        if self.group.lds.is_checked() {
            self.group
                .lds
                .check(Access::Atomic, u64::from(address), 4)
                .map_err(|kind| Stop::lane(kind, first))?;
        }
        let slot = address as usize;
        let old = match self.group.lds.bytes_mut().get_mut(slot..slot + 4) {
            Some(bytes) => {
                let old = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                let new = match consume {
                    true => old.wrapping_sub(count as u32),
                    false => old.wrapping_add(count as u32),
                };
                bytes.copy_from_slice(&new.to_le_bytes());
                self.observer.note(|| {
                    let values = (old.into(), new.into());
                    Accessed::atomic(true, Some(first), slot as u64, values, false)
                });
                old
            }
            None => 0,
        };
        self.set_vgpr(to, &[old; LANES], exec);
        Ok(())
    }

    /// `ds_condxchg32_rtn_b64`: two dwords, each written when bit 31 of its data is set, without
    /// that bit.
    fn ds_condxchg(&mut self) -> Run<()> {
        let addresses = self.ds_addresses()?;
        let from = self.vector_range(self.inst.src[1], 2)?;
        let to = self.vector_range(self.inst.dst[0], 2)?;
        let offset = self.inst.mem.offset as u32;
        self.lds_check(Access::Atomic, &addresses, offset, 8, true)?;
        for lane in lanes(self.active) {
            let data = self.pair(from, 2, lane);
            let exchange = |old: u64| {
                let half = |shift: u32| {
                    let data = (data >> shift) as u32;
                    let keep = (old >> shift) as u32;
                    let new = if data >> 31 != 0 {
                        data & 0x7fff_ffff
                    } else {
                        keep
                    };
                    u64::from(new) << shift
                };
                half(0) | half(32)
            };
            let old = self.lds_update(lane, addresses[lane], offset, 8, exchange)?;
            self.set_pair(to, 2, lane, old);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swizzle_patterns() {
        // gfx, offset, lane, source
        let cases: &[(Gfx, u32, usize, usize)] = &[
            // quad_perm [1,0,3,2]
            (Gfx::Gfx803, 0x80b1, 4, 5),
            (Gfx::Gfx803, 0x80b1, 39, 38),
            // and 0x1f, xor 1
            (Gfx::Gfx900, 0x041f, 6, 7),
            (Gfx::Gfx900, 0x041f, 39, 38),
            // broadcast of lane 3 in groups of 8: and 0x18, or 3
            (Gfx::Gfx700, 0x0078, 45, 43),
            // reverse of 32: and 0x1f, xor 0x1f
            (Gfx::Gfx700, 0x7c1f, 33, 62),
            // rotate by 1 to the left within 32
            (Gfx::Gfx900, 0xc020, 31, 0),
            (Gfx::Gfx900, 0xc020, 63, 32),
            (Gfx::Gfx900, 0xc020, 5, 6),
            // rotate by 1 to the right, bit 0 kept
            (Gfx::Gfx900, 0xc420, 32, 63),
            // FFT with mask 0: bit reversal
            (Gfx::Gfx900, 0xe000, 1, 16),
            (Gfx::Gfx900, 0xe000, 35, 56),
            (Gfx::Gfx900, 0xe01f, 7, 7),
        ];
        for &(gfx, offset, lane, want) in cases {
            assert_eq!(
                swizzle_source(gfx, offset, lane),
                want,
                "{offset:#x} lane {lane}"
            );
        }
    }
}
