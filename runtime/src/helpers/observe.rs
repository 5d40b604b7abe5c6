//! Announces what translated code does to the sanitizer of guest memory.

use frontend::op::Space;
use frontend::{Inst, LANES};
use lower::abi::ExitCode;
use lower::ir::SCRATCH_DESCRIPTOR;
use lower::ir::functions::Observed;

use super::memory::active;
use super::{Call, Words, buffer};
use crate::engine::{APERTURE_BYTES, Group, PRIVATE_BASE, SHARED_BASE};
use crate::fault::Access;
use crate::sanitizer::{Sanitizer, Stored, WaveAccess, kind_of, returns};

/// `EffectFn::Observe`.
pub(super) fn observe(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (code, exec) = (call.wave32(0), call.wave64(1));
    let (event, space, bytes) = Observed::parts(code);
    let (pc, inst) = (call.site.pc, &call.site.inst);
    let access = match event {
        Observed::Barrier | Observed::Wait => {
            order(call, event, exec);
            return Ok(());
        }
        Observed::Load | Observed::ScalarLoad => Access::Read,
        Observed::Store => Access::Write,
        Observed::Atomic => Access::Atomic,
    };
    if exec == 0 {
        return Ok(());
    }
    let addresses = addresses(&call.words(2), &call.words(3));
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
    if event == Observed::ScalarLoad {
        made.global(None, &addresses);
    } else if space == Space::Lds as u32 {
        made.lds(exec, &addresses);
    } else if space == Space::Flat as u32 {
        made.flat(exec, &addresses);
    } else {
        made.global(Some(exec), &addresses);
    }
    Ok(())
}

/// Announces a barrier or a wait.
fn order(call: &mut Call<'_>, event: Observed, exec: u64) {
    let pc = call.site.pc;
    let group = &*call.host().group;
    if let Some(sanitizer) = group.memory.sanitizer() {
        match event {
            Observed::Barrier => sanitizer.barrier(group, group.wave, pc, exec),
            _ => sanitizer.waited(group, group.wave),
        }
    }
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
    let (event, _, bytes) = Observed::parts(code);
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
        made.global(Some(exec), &addresses);
    }
    Ok(())
}

fn addresses(low: &Words<'_>, high: &Words<'_>) -> [u64; LANES] {
    let (low, high) = (low.all(), high.all());
    let mut addresses = [0; LANES];
    for (address, (low, high)) in addresses.iter_mut().zip(low.iter().zip(&high)) {
        *address = u64::from(*low) | u64::from(*high) << 32;
    }
    addresses
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
        addresses: &'b [u64; LANES],
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

    fn data<'b>(&'b self, addresses: &'b [u64; LANES], lds: bool) -> Data<'b> {
        Data {
            made: self,
            addresses,
            lds,
        }
    }

    fn global(&self, exec: Option<u64>, addresses: &[u64; LANES]) {
        let data = self.data(addresses, false);
        let access = self.access(exec, addresses, &data);
        self.sanitizer.global(self.group, &access);
    }

    fn lds(&self, exec: u64, offsets: &[u64; LANES]) {
        let data = self.data(offsets, true);
        let access = self.access(Some(exec), offsets, &data);
        self.sanitizer.lds(self.group, &access);
    }

    /// Each lane is in LDS, scratch or global memory. Lanes have scratch of their own.
    fn flat(&self, exec: u64, addresses: &[u64; LANES]) {
        let aperture = |base: u64| {
            let lanes =
                active(exec).filter(|&lane| addresses[lane].wrapping_sub(base) < APERTURE_BYTES);
            lanes.fold(0u64, |mask, lane| mask | 1 << lane)
        };
        let (shared, private) = (aperture(SHARED_BASE), aperture(PRIVATE_BASE));
        let global = exec & !shared & !private;
        if self.access == Access::Atomic && shared != 0 && global != 0 {
            self.sanitizer
                .mixed_atomic(self.group, self.group.wave, self.pc);
        }
        if shared != 0 {
            self.lds(
                shared,
                &addresses.map(|address| address.wrapping_sub(SHARED_BASE)),
            );
        }
        if global != 0 {
            self.global(Some(global), addresses);
        }
    }
}

/// What lanes store, and where.
struct Data<'a> {
    made: &'a Made<'a>,
    addresses: &'a [u64; LANES],
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
        let (group, address) = (self.made.group, self.addresses[lane]);
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
