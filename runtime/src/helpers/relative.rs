//! Registers named by M0.

use frontend::Op;
use frontend::inst::{M0, Operand};
use frontend::state::WaveState;
use lower::abi::{ExitCode, RELATIVE_SGPRS};

use super::Call;

impl Call<'_> {
    /// The running wave's registers.
    fn wave(&mut self) -> &mut WaveState {
        // SAFETY: the context's wave is the running wave, which nothing else accesses during the
        // call.
        unsafe { &mut *self.ctx.wave }
    }

    /// The VGPR that the first arguments of a relative access name, if the wave has the whole
    /// operand.
    fn register(&mut self) -> Option<usize> {
        let [operand, index, registers, k] = [0, 1, 2, 3].map(|i| u64::from(self.wave32(i)));
        let first = operand + index;
        let count = u64::from(self.wave().vgpr_count.min(256));
        (first + registers <= count).then_some((first + k) as usize)
    }
}

/// `EffectFn::ReadRelative`.
pub(super) fn read(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let k = call.wave32(3) as usize & 3;
    let n = call.register().unwrap_or(k);
    let value = call.wave().vgpr[n];
    call.result(0, u64::MAX, &value);
    Ok(())
}

/// `EffectFn::WriteRelative`.
pub(super) fn write(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let exec = call.wave64(4);
    let value = call.words(5);
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

/// `EffectFn::ScalarRelative`.
pub(super) fn scalar(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let inst = &call.site.inst;
    let words = inst.dst_ty(0).regs();
    let Operand::Sgpr(d) = inst.dst[0] else {
        return Ok(());
    };
    let to_named = inst.op() == Op::MovRelD;
    let value = to_named.then(|| call.raw(0));
    let source = inst.src[0];
    let wave = call.wave();
    // Translated code has stored the region's registers to the wave.
    wave.start = 0;
    let m0 = u64::from(wave.sgpr[usize::from(M0)]);
    let count = u64::from(wave.sgpr_count.min(RELATIVE_SGPRS.into()));
    // The register `n` relative to M0, if the wave has the whole operand.
    let named = |n: u8| {
        let first = u64::from(n) + m0;
        (first + u64::from(words) <= count).then_some(first as usize)
    };
    let (to, value) = match (value, source) {
        (Some(value), _) => (named(d), [value as u32, (value >> 32) as u32]),
        (None, Operand::Sgpr(s)) => {
            let from = named(s).unwrap_or(0);
            (Some(d.into()), [wave.sgpr[from], wave.sgpr[from + 1]])
        }
        _ => return Ok(()),
    };
    if let Some(to) = to {
        for (register, word) in wave.sgpr[to..].iter_mut().zip(value).take(words as usize) {
            *register = word;
        }
    }
    Ok(())
}
