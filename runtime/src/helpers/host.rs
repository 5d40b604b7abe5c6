//! The environment of functions with effects besides the wave's context.

use lower::abi::ExitCode;

use super::Call;
use crate::engine::Group;
use crate::fault::{FaultKind, WaveFault};
use crate::interp::Flow;
use crate::sanitizer;

/// The running wave's environment. The engine creates one for each run and stores its address in
/// `Context::host`.
pub struct Host<'g, 'a> {
    /// The workgroup.
    pub group: &'g mut Group<'a>,
    /// The fault reported by `ExitCode::Fault`.
    pub fault: Option<WaveFault>,
}

impl<'g, 'a> Host<'g, 'a> {
    /// For one run of a wave of `group`.
    pub fn new(group: &'g mut Group<'a>) -> Host<'g, 'a> {
        Host { group, fault: None }
    }
}

impl<'c> Call<'c> {
    /// The surroundings.
    pub(super) fn host(&mut self) -> &mut Host<'c, 'c> {
        let host = self.ctx.host.cast::<Host<'c, 'c>>();
        // SAFETY: the engine stores the address of a `Host` that outlives the run, and nothing else
        // uses it while a function runs. The lifetimes are shortened to the call's.
        unsafe { &mut *host }
    }

    /// Records a fault of a lane.
    #[cold]
    pub(super) fn fault(&mut self, kind: FaultKind, lane: Option<usize>) -> ExitCode {
        let pc = self.site.pc;
        let lane = lane.map(|lane| lane as u32);
        self.host().fault = Some(WaveFault { kind, pc, lane });
        ExitCode::Fault
    }
}

/// Runs the site's instruction on the interpreter; all registers are in the wave.
pub(super) fn interpret(call: &mut Call<'_>) -> Result<(), ExitCode> {
    call.ctx.fallbacks += 1;
    // The instruction may be a store or a barrier.
    (call.ctx.stores, call.ctx.lds_settled) = (1, 0);
    let wave = call.ctx.wave;
    let site = call.site;
    let name = site.inst.desc.name;
    let host = call.host();
    host.group.stats.fallbacks += 1;
    *host.group.stats.fallback_names.entry(name).or_default() += 1;
    // SAFETY: the context's wave is the running wave, which nothing else accesses during the call.
    let wave = unsafe { &mut *wave };
    wave.start = 0;
    wave.pc = site.pc;
    match sanitizer::step(wave, host.group, &site.inst) {
        Ok(Flow::Next) => Ok(()),
        Ok(Flow::Jump | Flow::Back) => Err(ExitCode::Continue),
        Ok(Flow::End) => Err(ExitCode::End),
        Ok(Flow::Barrier) => Err(ExitCode::Barrier),
        Ok(Flow::Wait) => Err(ExitCode::Yield),
        Err(fault) => {
            host.fault = Some(fault);
            Err(ExitCode::Fault)
        }
    }
}
