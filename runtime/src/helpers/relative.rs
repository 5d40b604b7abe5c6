//! Registers named by M0.

use frontend::Op;
use frontend::inst::{M0, Operand};
use frontend::state::WaveState;
use lower::abi::ExitCode;

use super::Call;

impl Call<'_> {
    /// The running wave's registers.
    fn wave(&mut self) -> &mut WaveState {
        // SAFETY: the context's wave is the running wave, which nobody else touches during the call.
        unsafe { &mut *self.ctx.wave }
    }

    /// The VGPR that the first arguments of a relative access name, if the wave has the whole operand.
    fn register(&mut self) -> Option<usize> {
        let [operand, index, registers, k] = [1, 2, 3, 4].map(|i| self.raw(i) & 0xffff_ffff);
        let first = operand + index;
        let count = u64::from(self.wave().vgpr_count.min(256));
        (first + registers <= count).then_some((first + k) as usize)
    }
}

/// `EffectFn::ReadRelative`.
pub(super) fn read(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let k = call.raw(4) as usize & 3;
    let n = call.register().unwrap_or(k);
    let value = call.wave().vgpr[n];
    call.result(0, u64::MAX, &value);
    Ok(())
}

/// `EffectFn::WriteRelative`.
pub(super) fn write(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let exec = call.raw(5);
    let value = call.words(6);
    let register = call.register();
    call.ctx.ret[0] = u32::from(register.is_some());
    let Some(n) = register else {
        return Ok(());
    };
    let lanes: [u32; 64] = std::array::from_fn(|lane| value.get(lane));
    let wave = call.wave();
    wave.start = 0;
    let register = &mut wave.vgpr[n];
    for (lane, word) in register.iter_mut().enumerate() {
        if exec >> lane & 1 != 0 {
            *word = lanes[lane];
        }
    }
    Ok(())
}

/// `EffectFn::ScalarRelative`: a source beyond the wave's registers is s0, a destination is not written.
pub(super) fn scalar(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let inst = &call.site.inst;
    let (op, source, d) = (inst.op(), inst.src[0], inst.dst[0]);
    let words = inst.dst_ty(0).regs() as usize;
    let wave = call.wave();
    let m0 = u64::from(wave.sgpr[usize::from(M0)]);
    // The register that M0 moves `n` to, if the wave has it.
    let count = u64::from(wave.sgpr_count.min(104));
    let moved = |n: u8| {
        let first = u64::from(n) + m0;
        (first + words as u64 <= count).then_some(first as usize)
    };
    let Operand::Sgpr(d) = d else { return Ok(()) };
    let value: [u32; 2] = match (op, source) {
        (Op::MovRelS, Operand::Sgpr(s)) => {
            let from = moved(s).unwrap_or(0);
            [wave.sgpr[from], wave.sgpr[from + 1]]
        }
        (_, Operand::Sgpr(s)) => {
            let s = usize::from(s) & 127;
            [wave.sgpr[s], wave.sgpr[(s + 1) & 127]]
        }
        (_, Operand::Inline { bits, .. } | Operand::Literal { bits, .. }) => {
            [bits as u32, (bits >> 32) as u32]
        }
        _ => [0; 2],
    };
    let to = match op {
        Op::MovRelS => Some(usize::from(d)),
        _ => moved(d),
    };
    if let Some(to) = to {
        wave.start = 0;
        for (k, &word) in value[..words].iter().enumerate() {
            wave.sgpr[(to + k) & 127] = word;
        }
    }
    Ok(())
}
