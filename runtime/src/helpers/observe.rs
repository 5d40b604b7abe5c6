//! Announces what translated code does to the sanitizer of guest memory.

use frontend::LANES;
use frontend::op::Space;
use lower::abi::ExitCode;
use lower::ir::SCRATCH_DESCRIPTOR;
use lower::ir::functions::Observed;

use super::memory::active;
use super::{Call, Words, buffer};
use crate::engine::{APERTURE_BYTES, Group, PRIVATE_BASE, SHARED_BASE};
use crate::fault::Access;
use crate::sanitizer::{AccessKind, Sanitizer, WaveAccess, kind_of, returns};

/// `EffectFn::Observe`.
pub(super) fn observe(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (code, exec) = (call.wave32(0), call.wave64(1));
    let (event, space, bytes) = decode(code);
    let (pc, inst) = (call.site.pc, &call.site.inst);
    let access = match event {
        Observed::Barrier | Observed::Wait => {
            let group = &*call.host().group;
            if let Some(sanitizer) = group.memory.sanitizer() {
                match event {
                    Observed::Barrier => sanitizer.barrier(group, group.wave, pc, exec),
                    _ => sanitizer.waited(group, group.wave),
                }
            }
            return Ok(());
        }
        Observed::Load | Observed::ScalarLoad => Access::Read,
        Observed::Store => Access::Write,
        Observed::Atomic => Access::Atomic,
    };
    if exec == 0 {
        return Ok(());
    }
    let kind = kind_of(inst, access);
    let addresses = addresses(&call.words(2), &call.words(3));
    let data: Vec<Words<'_>> = match kind {
        AccessKind::Write => (0..bytes.div_ceil(4))
            .map(|n| call.words(4 + n as usize))
            .collect(),
        _ => Vec::new(),
    };
    let group = &*call.host().group;
    let Some(sanitizer) = group.memory.sanitizer() else {
        return Ok(());
    };
    let value = |lane: usize| {
        let mut value = [0; 16];
        for (bytes, words) in value.chunks_exact_mut(4).zip(&data) {
            bytes.copy_from_slice(&words.get(lane).to_le_bytes());
        }
        value
    };
    let made = Made {
        sanitizer,
        group,
        pc,
        kind,
        returns: returns(inst),
        bytes,
        addresses,
        value: &value,
    };
    if event == Observed::ScalarLoad {
        made.global(None);
        return Ok(());
    }
    if space == Space::Lds as u32 {
        made.lds(exec);
        return Ok(());
    }
    // Lanes have scratch of their own.
    let aperture = |base: u64| lanes(exec, |lane| addresses_in(&made.addresses, lane, base));
    let (shared, private) = match space == Space::Flat as u32 {
        true => (aperture(SHARED_BASE), aperture(PRIVATE_BASE)),
        false => (0, 0),
    };
    let global = exec & !shared & !private;
    if kind == AccessKind::Atomic && shared != 0 && global != 0 {
        sanitizer.mixed_atomic(group, group.wave, pc);
    }
    if shared != 0 {
        let offsets = made
            .addresses
            .map(|address| address.wrapping_sub(SHARED_BASE));
        Made {
            addresses: offsets,
            ..made
        }
        .lds(shared);
    }
    if global != 0 {
        made.global(Some(global));
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
    if is_scratch || exec == 0 {
        return Ok(());
    }
    let (event, _, bytes) = decode(code);
    let [low, high] = descriptor;
    let soffset = call.wave32(4).into();
    let offset = call.words(5);
    let (exec, addresses) = buffer::places(call, [low, high, soffset], &offset, exec, bytes)?;
    let (pc, inst) = (call.site.pc, &call.site.inst);
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer()
        && exec != 0
    {
        let access = match event {
            Observed::Store => Access::Write,
            _ => Access::Read,
        };
        sanitizer.global(
            group,
            &WaveAccess {
                kind: kind_of(inst, access),
                pc,
                wave: group.wave,
                exec: Some(exec),
                returns: returns(inst),
                bytes: bytes.into(),
                addresses: &addresses,
                same: None,
            },
        );
    }
    Ok(())
}

/// The parts of [`Observed::code`].
fn decode(code: u32) -> (Observed, u32, u32) {
    let event = Observed::ALL[(code & 0xff) as usize % Observed::ALL.len()];
    (event, code >> 8 & 0xff, code >> 16)
}

fn addresses(low: &Words<'_>, high: &Words<'_>) -> [u64; LANES] {
    let (low, high) = (low.all(), high.all());
    let mut addresses = [0; LANES];
    for (address, (low, high)) in addresses.iter_mut().zip(low.iter().zip(&high)) {
        *address = u64::from(*low) | u64::from(*high) << 32;
    }
    addresses
}

/// The active lanes of which this is true.
fn lanes(exec: u64, is: impl Fn(usize) -> bool) -> u64 {
    active(exec).fold(0, |mask, lane| mask | u64::from(is(lane)) << lane)
}

fn addresses_in(addresses: &[u64; LANES], lane: usize, base: u64) -> bool {
    addresses[lane].wrapping_sub(base) < APERTURE_BYTES
}

/// An access of a wave.
struct Made<'a> {
    sanitizer: &'a Sanitizer,
    group: &'a Group<'a>,
    pc: u64,
    kind: AccessKind,
    returns: bool,
    bytes: u32,
    addresses: [u64; LANES],
    /// The bytes that a lane stores.
    value: &'a dyn Fn(usize) -> [u8; 16],
}

impl Made<'_> {
    fn access<'b>(&'b self, exec: Option<u64>, same: &'b dyn Fn(usize) -> bool) -> WaveAccess<'b> {
        WaveAccess {
            kind: self.kind,
            pc: self.pc,
            wave: self.group.wave,
            exec,
            returns: self.returns,
            bytes: self.bytes.into(),
            addresses: &self.addresses,
            same: Some(same),
        }
    }

    fn global(&self, exec: Option<u64>) {
        let same = |lane: usize| {
            let mut now = [0; 16];
            let now = &mut now[..self.bytes as usize];
            let read = self.group.memory.read_bytes(self.addresses[lane], now);
            read.is_ok() && *now == (self.value)(lane)[..now.len()]
        };
        self.sanitizer.global(self.group, &self.access(exec, &same));
    }

    fn lds(&self, exec: u64) {
        let same = |lane: usize| {
            let start = self.addresses[lane] as usize;
            let now = start.checked_add(self.bytes as usize);
            let now = now.and_then(|end| self.group.lds.bytes().get(start..end));
            now.is_some_and(|now| *now == (self.value)(lane)[..now.len()])
        };
        self.sanitizer
            .lds(self.group, &self.access(Some(exec), &same));
    }
}
