//! LDS.

use frontend::ops;

use super::*;

impl<'c> Call<'c> {
    /// The LDS bytes that instructions see.
    pub(in crate::helpers) fn lds(&mut self) -> &mut [u8] {
        // SAFETY: the engine stores the workgroup's buffer and a size within it; one wave of a group
        // runs at a time, on the thread that owns the buffer.
        unsafe { std::slice::from_raw_parts_mut(self.ctx.lds, self.ctx.lds_len as usize) }
    }

    /// Checked mode: announces an access to LDS.
    pub(in crate::helpers) fn announce(
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

    /// The accesses of all active lanes, none of which acts before all are checked.
    pub(in crate::helpers) fn announce_all(
        &mut self,
        access: Access,
        exec: u64,
        bytes: usize,
        offset: impl Fn(usize) -> u64,
    ) -> Result<(), ExitCode> {
        if self.host().group.checked {
            for lane in active(exec) {
                self.announce(access, offset(lane), bytes, lane)?;
            }
        }
        Ok(())
    }

    /// As [`Call::announce`], for LDS with only `size` bytes.
    pub(in crate::helpers) fn announce_below(
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

pub(super) fn load_lds(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
) -> Result<(), ExitCode> {
    let mut results = [[0; 64]; 4];
    let words = element.words();
    let bytes = element.bytes();
    call.announce_all(Access::Read, exec, bytes, |lane| u64::from(at.lo[lane]))?;
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

pub(super) fn store_lds(
    call: &mut Call<'_>,
    at: Addresses<'_>,
    exec: u64,
    element: Element,
    data: [&Lanes; 4],
) -> Result<(), ExitCode> {
    let bytes = element.bytes();
    call.announce_all(Access::Write, exec, bytes, |lane| u64::from(at.lo[lane]))?;
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

/// `EffectFn::Fence`.
pub(in crate::helpers) fn fence(call: &mut Call<'_>) -> Result<(), ExitCode> {
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer() {
        sanitizer.acquire(group, group.wave);
    }
    Ok(())
}

/// `EffectFn::CheckLds`.
pub(in crate::helpers) fn check_lds(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (exec, bases) = (call.wave64(0), call.words(1));
    let (offset, bytes, limit) = (call.wave32(2), call.wave32(3), call.wave32(4));
    let access = match call.site.inst.op() {
        Op::Load(..) | Op::Read2 { .. } => Access::Read,
        Op::Store(..) | Op::Write2 { .. } => Access::Write,
        Op::Atomic(..) | Op::Wrxchg2 { .. } | Op::Ds(_) => Access::Atomic,
        // Handled elsewhere.
        Op::AtomicSrc2(_) | Op::WriteSrc2 | Op::ReadAddTid | Op::WriteAddTid => Access::Atomic,
        Op::StoreLds | Op::Image(_) | Op::Export => Access::Atomic,
        Op::MemTime | Op::MemRealtime | Op::CacheCtl => Access::Atomic,
        ops!(alu | salu | valu) => Access::Atomic,
    };
    let size = u64::from(call.ctx.lds_len.min(limit));
    let gfx = call.host().group.gfx;
    for lane in active(exec) {
        let base = bases.get(lane);
        let place = u64::from(base.wrapping_add(offset) & !(bytes.next_power_of_two() - 1));
        let below = gfx.lds_checks_base() && (base as i32) < 0;
        if below || place + u64::from(bytes) > size {
            let kind = FaultKind::OutsidePrivate {
                space: Private::Lds,
                access,
                offset: place,
                bytes,
                size,
                allocated: None,
            };
            return Err(call.fault(kind, Some(lane)));
        }
        call.announce(access, place, bytes as usize, lane)?;
    }
    Ok(())
}
