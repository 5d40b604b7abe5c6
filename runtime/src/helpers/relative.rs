//! VGPRs named by M0.

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
