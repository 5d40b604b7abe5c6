//! Scalar memory, time, hardware registers.

use std::sync::OnceLock;
use std::time::Instant;

use frontend::Op;
use lower::abi::ExitCode;

use super::Call;
use super::atomic::Rmw;
use super::buffer::Descriptor;
use crate::FaultKind;
use crate::engine::{PRIVATE_BASE, SHARED_BASE};
use crate::math::Denorm;

/// `EffectFn::ScalarLoad`.
pub(super) fn load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let address = call.raw(0);
    let count = (call.raw(1) as usize).min(16);
    let memory = call.host().group.memory;
    let done = memory.load_dwords(address, &mut call.ctx.ret[..count]);
    done.map_err(|error| call.fault(error.into(), None))
}

/// Bytes that a scalar buffer access may touch.
fn buffer_size(descriptor: &Descriptor) -> u64 {
    let records = u64::from(descriptor.num_records);
    match descriptor.stride {
        0 => records,
        stride => u64::from(stride) * records,
    }
}

/// `EffectFn::ScalarBufferLoad`: dwords beyond the buffer are 0.
pub(super) fn buffer_load(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let descriptor = Descriptor::of(call.wave64(0), call.wave64(1));
    let offset = call.wave64(2);
    let count = (call.wave32(3) as usize).min(16);
    let memory = call.host().group.memory;
    let size = buffer_size(&descriptor);
    for i in 0..count {
        let at = offset + 4 * i as u64;
        let value = if at < size {
            let loaded = memory.load_u32((descriptor.base & !3).wrapping_add(at));
            loaded.map_err(|error| call.fault(error.into(), None))?
        } else {
            0
        };
        call.ctx.ret[i] = value;
    }
    Ok(())
}

/// Data words of a scalar store.
fn data(call: &Call<'_>, first: usize) -> [u32; 4] {
    let (low, high) = (call.wave64(first), call.wave64(first + 1));
    [
        low as u32,
        (low >> 32) as u32,
        high as u32,
        (high >> 32) as u32,
    ]
}

/// `EffectFn::ScalarStore`.
pub(super) fn store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let address = call.wave64(0);
    let count = (call.wave32(1) as usize).min(4);
    let words = data(call, 2);
    let memory = call.host().group.memory;
    let done = memory.store_dwords(address, &words[..count]);
    done.map_err(|error| call.fault(error.into(), None))
}

/// `EffectFn::ScalarBufferStore`: dwords beyond the buffer are dropped.
pub(super) fn buffer_store(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let descriptor = Descriptor::of(call.wave64(0), call.wave64(1));
    let offset = call.wave64(2);
    let count = (call.wave32(3) as usize).min(4);
    let words = data(call, 4);
    let memory = call.host().group.memory;
    let size = buffer_size(&descriptor);
    for (i, &word) in words.iter().enumerate().take(count) {
        let at = offset + 4 * i as u64;
        if at < size {
            let stored = memory.store_u32((descriptor.base & !3).wrapping_add(at), word);
            stored.map_err(|error| call.fault(error.into(), None))?;
        }
    }
    Ok(())
}

/// Gives an old value of one or two dwords.
fn give_old(call: &mut Call<'_>, old: u64) {
    call.ctx.ret[0] = old as u32;
    call.ctx.ret[1] = (old >> 32) as u32;
}

/// `EffectFn::ScalarAtomic`.
pub(super) fn atomic(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let address = call.wave64(0);
    let rmw = Rmw::of(call.wave32(1).into(), Denorm::KEEP);
    let memory = call.host().group.memory;
    let old = rmw.on_memory(memory, address, call.wave64(2), call.wave64(3));
    let old = old.map_err(|kind| call.fault(kind, None))?;
    give_old(call, old);
    Ok(())
}

/// `EffectFn::ScalarBufferAtomic`: out of range gives 0.
pub(super) fn buffer_atomic(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let descriptor = Descriptor::of(call.wave64(0), call.wave64(1));
    let at = call.wave64(2);
    let rmw = Rmw::of(call.wave32(3).into(), Denorm::KEEP);
    let size = buffer_size(&descriptor);
    if at >= size || size - at < rmw.bytes() as u64 {
        give_old(call, 0);
        return Ok(());
    }
    let memory = call.host().group.memory;
    let address = (descriptor.base & !3).wrapping_add(at);
    let old = rmw.on_memory(memory, address, call.wave64(4), call.wave64(5));
    let old = old.map_err(|kind| call.fault(kind, None))?;
    give_old(call, old);
    Ok(())
}

/// `EffectFn::Time`: nanoseconds for `s_memtime`, a constant 100 MHz for `s_memrealtime`.
pub(super) fn time(call: &mut Call<'_>) -> Result<(), ExitCode> {
    static START: OnceLock<Instant> = OnceLock::new();
    let nanoseconds = START.get_or_init(Instant::now).elapsed().as_nanos() as u64;
    let ticks = if call.site.inst.op() == Op::MemRealtime {
        nanoseconds / 10
    } else {
        nanoseconds
    };
    give_old(call, ticks);
    Ok(())
}

/// Bits of a register field: (mask in place, shift).
fn field(simm16: i32) -> (u32, u32) {
    let (offset, size) = (simm16 as u32 >> 6 & 31, (simm16 as u32 >> 11 & 31) + 1);
    let ones = if size >= 32 {
        u32::MAX
    } else {
        (1 << size) - 1
    };
    (ones, offset)
}

const STATUS: u32 = 2;
/// Number of the hardware register with the apertures.
const SH_MEM_BASES: u32 = 15;
const TRAPSTS: u32 = 3;

/// `EffectFn::GetReg`.
pub(super) fn get_reg(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let frontend::Operand::Imm(simm16) = call.site.inst.src[0] else {
        unreachable!("bug: s_getreg without its immediate")
    };
    let (scc, exec, vcc) = (call.wave32(0) & 1, call.wave64(1), call.wave64(2));
    // SAFETY: the context's wave is the running wave, which nothing else accesses during the call.
    let wave = unsafe { &*call.ctx.wave };
    let register = simm16 as u32 & 63;
    let value = match register {
        STATUS => {
            let flags = 1 | 1 << 9 | 1 << 10;
            wave.hwreg[STATUS as usize] & !flags
                | scc
                | u32::from(exec == 0) << 9
                | u32::from(vcc == 0) << 10
        }
        TRAPSTS => wave.trapsts,
        // Bits 63:48 of both apertures.
        SH_MEM_BASES if call.host().group.gfx.has_aperture_registers() => {
            (PRIVATE_BASE >> 48) as u32 | ((SHARED_BASE >> 48) as u32) << 16
        }
        n => wave.hwreg.get(n as usize).copied().unwrap_or(0),
    };
    let (ones, offset) = field(simm16);
    call.ctx.ret[0] = value >> offset & ones;
    Ok(())
}

/// `EffectFn::SetReg`: of the registers other than MODE only TRAPSTS is writable.
pub(super) fn set_reg(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let frontend::Operand::Imm(simm16) = call.site.inst.src[1] else {
        unreachable!("bug: s_setreg without its immediate")
    };
    if simm16 as u32 & 63 == TRAPSTS {
        let (ones, offset) = field(simm16);
        let value = call.wave32(0);
        // SAFETY: the context's wave is the running wave, which nothing else accesses during the
        // call.
        let wave = unsafe { &mut *call.ctx.wave };
        let mask = ones << offset;
        wave.start = 0;
        wave.trapsts = wave.trapsts & !mask | value << offset & mask;
    }
    Ok(())
}

/// `EffectFn::ForkStack`.
pub(super) fn fork_stack(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let what = match call.wave32(0) {
        0 => return Ok(()),
        1 => "a join below the bottom of the fork stack",
        _ => "a fork stack of more than 6 entries",
    };
    let what = what.to_owned();
    Err(call.fault(FaultKind::Unsupported { what }, None))
}
