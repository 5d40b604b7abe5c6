//! Announces what translated code does to the sanitizer of guest memory.

use frontend::op::Space;
use frontend::{Inst, LANES};
use lower::abi::{ExitCode, Settled};
use lower::ir::SCRATCH_DESCRIPTOR;
use lower::ir::functions::Observed;

use super::memory::active;
use super::{Call, Words, buffer};
use crate::engine::{APERTURE_BYTES, Group, PRIVATE_BASE, SHARED_BASE};
use crate::fault::Access;
use crate::sanitizer::{Addresses, Sanitizer, Stored, WaveAccess, kind_of, returns};

/// `EffectFn::Observe`.
pub(super) fn observe(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (code, exec) = (call.wave32(0), call.wave64(1));
    let (event, space, bytes, number) = Observed::parts(code);
    let (pc, inst) = (call.site.pc, &call.site.inst);
    let access = match event {
        Observed::Load | Observed::ScalarLoad => Access::Read,
        Observed::Store => Access::Write,
        Observed::Atomic => Access::Atomic,
    };
    let (mut low, mut high) = (call.words(2), call.words(3));
    let offsets;
    if space == Space::Lds as u32 {
        // The second word is added.
        let more = high.get(0);
        high = Words::Wave(0);
        match low {
            Words::Wave(offset) => low = Words::Wave(offset.wrapping_add(more)),
            Words::Lanes(lanes) if more != 0 => {
                offsets = lanes.map(|offset| offset.wrapping_add(more));
                low = Words::Lanes(&offsets);
            }
            Words::Lanes(_) => {}
        }
    }
    let lanes;
    let addresses = match shape(&low, &high, bytes) {
        Some(addresses) => addresses,
        None => match low {
            Words::Lanes(offsets) if space == Space::Lds as u32 => Addresses::Offsets(offsets),
            _ => {
                lanes = joined(&low, &high);
                Addresses::Lanes(&lanes)
            }
        },
    };
    let words = match event {
        Observed::Store => bytes.div_ceil(4) as usize,
        _ => 0,
    };
    let data = std::array::from_fn(|n| (n < words).then(|| call.words(4 + n)));
    let group = &*call.host().group;
    let Some(sanitizer) = group.memory.sanitizer() else {
        return Ok(());
    };
    let made = Made {
        sanitizer,
        group,
        pc,
        inst,
        access,
        bytes,
        data,
    };
    let (seen, settled) = if event == Observed::ScalarLoad {
        (0, made.global(None, addresses))
    } else if space == Space::Lds as u32 {
        let size = u64::from(group.lds.size());
        (exec, made.lds(exec, addresses).then_some((0, size)))
    } else if space == Space::Flat as u32 {
        made.flat(exec, addresses)
    } else {
        (exec, made.global(Some(exec), addresses))
    };
    call.ctx.known_lanes |= seen;
    if access != Access::Read && space != Space::Lds as u32 {
        call.ctx.stores = 1;
    }
    if let Some((start, end)) = settled {
        let len = end - start;
        call.ctx.settled[usize::from(number)] = Settled { start, len };
    }
    Ok(())
}

/// `EffectFn::ObserveBarrier`.
pub(super) fn barrier(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (pc, exec) = (call.site.pc, call.wave64(0));
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer() {
        call.ctx.lds_settled = sanitizer.barrier(group, group.wave, pc, exec);
    }
    Ok(())
}

/// `EffectFn::ObserveWait`.
pub(super) fn wait(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer() {
        sanitizer.waited(group, group.wave);
        call.ctx.stores = 0;
    }
    Ok(())
}

/// `EffectFn::ObserveBuffer`.
pub(super) fn buffer(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (code, exec) = (call.wave32(0), call.wave64(1));
    let descriptor = [call.wave64(2), call.wave64(3)];
    let is_scratch = descriptor
        .iter()
        .zip(SCRATCH_DESCRIPTOR)
        .all(|(words, kind)| (words >> 32) as u32 & kind.mask == kind.bits);
    if is_scratch {
        return Ok(());
    }
    let (event, _, bytes, _) = Observed::parts(code);
    let [low, high] = descriptor;
    let words = [low, high, call.wave32(4).into()];
    let offset = call.words(5);
    let (exec, addresses) = buffer::places(call, words, &offset, exec, bytes)?;
    let (pc, inst) = (call.site.pc, &call.site.inst);
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer()
        && exec != 0
    {
        let access = match event {
            Observed::Store => Access::Write,
            _ => Access::Read,
        };
        let made = Made {
            sanitizer,
            group,
            pc,
            inst,
            access,
            bytes,
            data: [const { None }; 4],
        };
        made.global(Some(exec), Addresses::Lanes(&addresses));
    }
    Ok(())
}

/// The addresses with these low and high words, if they are the same or adjacent.
fn shape(low: &Words<'_>, high: &Words<'_>, bytes: u32) -> Option<Addresses<'static>> {
    let first = u64::from(low.get(0)) | u64::from(high.get(0)) << 32;
    if let Words::Lanes(high) = high
        && high.iter().fold(0, |all, word| all | (word ^ high[0])) != 0
    {
        return None;
    }
    let Words::Lanes(low) = low else {
        return Some(Addresses::Same(first));
    };
    let apart = |step: u32| {
        // Without branches and products, so that it vectorises.
        let pairs = low.iter().zip(&low[1..]);
        pairs.fold(0, |apart, (word, next)| {
            apart | (next.wrapping_sub(*word) ^ step)
        })
    };
    if low[1] == low[0] {
        return (apart(0) == 0).then_some(Addresses::Same(first));
    }
    let is_adjacent = low[0].checked_add(LANES as u32 * bytes).is_some() && apart(bytes) == 0;
    is_adjacent.then_some(Addresses::Adjacent(first))
}

/// Addresses by lane, of low and high words.
fn joined(low: &Words<'_>, high: &Words<'_>) -> [u64; LANES] {
    match (low, high) {
        (Words::Lanes(low), Words::Wave(high)) => {
            low.map(|low| u64::from(low) | u64::from(*high) << 32)
        }
        (Words::Lanes(low), Words::Lanes(high)) => {
            std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
        }
        (Words::Wave(_), _) => {
            std::array::from_fn(|lane| u64::from(low.get(lane)) | u64::from(high.get(lane)) << 32)
        }
    }
}

/// An access of a wave.
struct Made<'a> {
    sanitizer: &'a Sanitizer,
    group: &'a Group<'a>,
    pc: u64,
    inst: &'a Inst,
    access: Access,
    bytes: u32,
    /// The words that a store stores, where they are known.
    data: [Option<Words<'a>>; 4],
}

impl Made<'_> {
    fn access<'b>(
        &self,
        exec: Option<u64>,
        addresses: Addresses<'b>,
        stored: &'b Data<'b>,
    ) -> WaveAccess<'b> {
        WaveAccess {
            kind: kind_of(self.inst, self.access),
            pc: self.pc,
            wave: self.group.wave,
            exec,
            returns: returns(self.inst),
            bytes: self.bytes.into(),
            addresses,
            stored: self.data[0].is_some().then_some(stored),
        }
    }

    fn data<'b>(&'b self, addresses: Addresses<'b>, lds: bool) -> Data<'b> {
        Data {
            made: self,
            addresses,
            lds,
        }
    }

    /// See [`Sanitizer::global`].
    fn global(&self, exec: Option<u64>, addresses: Addresses<'_>) -> Option<(u64, u64)> {
        let data = self.data(addresses, false);
        let access = self.access(exec, addresses, &data);
        self.sanitizer.global(self.group, &access)
    }

    /// See [`Sanitizer::lds`].
    fn lds(&self, exec: u64, offsets: Addresses<'_>) -> bool {
        let data = self.data(offsets, true);
        let access = self.access(Some(exec), offsets, &data);
        self.sanitizer.lds(self.group, &access)
    }

    /// Each lane is in LDS, scratch or global memory. Lanes have scratch of their own, of which the sanitizer is not told. The lanes that
    /// it was told of, and what is settled for them.
    fn flat(&self, exec: u64, addresses: Addresses<'_>) -> (u64, Option<(u64, u64)>) {
        let bytes = self.bytes.into();
        let aperture = |base: u64| {
            let is_in =
                |lane: usize| addresses.get(lane, bytes).wrapping_sub(base) < APERTURE_BYTES;
            let lanes = active(exec).filter(|&lane| is_in(lane));
            lanes.fold(0u64, |mask, lane| mask | 1 << lane)
        };
        let (shared, private) = (aperture(SHARED_BASE), aperture(PRIVATE_BASE));
        let global = exec & !shared & !private;
        if self.access == Access::Atomic && shared != 0 && global != 0 {
            self.sanitizer
                .mixed_atomic(self.group, self.group.wave, self.pc);
        }
        if shared != 0 {
            let offset = |lane| addresses.get(lane, bytes).wrapping_sub(SHARED_BASE);
            self.lds(shared, Addresses::Lanes(&std::array::from_fn(offset)));
        }
        let settled = match global {
            0 => None,
            _ => self.global(Some(global), addresses),
        };
        (shared | global, settled)
    }
}

/// What lanes store, and where.
struct Data<'a> {
    made: &'a Made<'a>,
    addresses: Addresses<'a>,
    lds: bool,
}

impl Stored for Data<'_> {
    fn value(&self, lane: usize) -> [u8; 16] {
        let mut value = [0; 16];
        for (bytes, words) in value
            .chunks_exact_mut(4)
            .zip(self.made.data.iter().flatten())
        {
            bytes.copy_from_slice(&words.get(lane).to_le_bytes());
        }
        value
    }

    fn is_there(&self, lane: usize) -> bool {
        let group = self.made.group;
        let address = self.addresses.get(lane, self.made.bytes.into());
        let value = self.value(lane);
        let value = &value[..self.made.bytes as usize];
        if self.lds {
            let from = group.lds.bytes().get(address as usize..);
            return from.is_some_and(|from| from.starts_with(value));
        }
        let mut now = [0; 16];
        let now = &mut now[..value.len()];
        group.memory.read_bytes(address, now).is_ok() && now == value
    }
}
