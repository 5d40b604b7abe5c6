//! EXP.

use frontend::LANES;
use lower::abi::ExitCode;

use super::Call;
use crate::export::Export;

/// `EffectFn::Export`.
pub(super) fn record(call: &mut Call<'_>) -> Result<(), ExitCode> {
    let (exec, site) = (call.wave64(0), call.site);
    let sources = [1, 2, 3, 4].map(|i| call.words(i));
    let mem = site.inst.mem;
    let component = |i: usize| {
        let mut out = [0; LANES];
        let shift = if mem.exp_compr && i & 1 == 1 { 16 } else { 0 };
        let mask = if mem.exp_compr { 0xffff } else { u32::MAX };
        if mem.exp_en >> i & 1 == 1 {
            for (lane, word) in out.iter_mut().enumerate() {
                if exec >> lane & 1 == 1 {
                    *word = sources[i].get(lane) >> shift & mask;
                }
            }
        }
        out
    };
    let group = &mut call.host().group;
    let (workgroup, wave) = (group.workgroup, group.wave);
    group.stats.exports.record(mem.exp_target, || Export {
        workgroup,
        wave,
        pc: site.pc,
        exec,
        target: mem.exp_target,
        enabled: mem.exp_en,
        compressed: mem.exp_compr,
        done: mem.exp_done,
        valid_mask: mem.exp_vm,
        components: Box::new([0, 1, 2, 3].map(component)),
    });
    Ok(())
}
