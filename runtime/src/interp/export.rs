//! EXP and the interpolation of parameters: instructions of the graphics pipeline.

use frontend::LANES;
use frontend::inst::Operand;

use super::observe::Observer;
use super::operand::{Exec, lanes};
use super::stop::{Run, Stop};
use crate::export::Export;

impl<O: Observer> Exec<'_, '_, O> {
    /// `exp`: a compute kernel has no pipeline that consumes the values; they are recorded without
    /// further effect.
    pub(crate) fn exec_export(&mut self) -> Run<()> {
        let mem = &self.inst.mem;
        let exec = self.wave.exec();
        let mut components = Box::new([[0; LANES]; 4]);
        for (i, component) in components.iter_mut().enumerate() {
            if self.inst.src[i] == Operand::None {
                continue;
            }
            let register = self.vector_range(self.inst.src[i], 1)?;
            for lane in lanes(exec) {
                let word = self.wave.vector(register)[lane];
                component[lane] = match (mem.exp_compr, i % 2) {
                    (false, _) => word,
                    (true, 0) => word & 0xffff,
                    (true, _) => word >> 16,
                };
            }
        }
        let (workgroup, wave) = (self.group.workgroup, self.group.wave);
        let pc = self.wave.pc;
        self.group.stats.exports.record(mem.exp_target, || Export {
            workgroup,
            wave,
            pc,
            exec,
            target: mem.exp_target,
            enabled: mem.exp_en,
            compressed: mem.exp_compr,
            done: mem.exp_done,
            valid_mask: mem.exp_vm,
            components,
        });
        Ok(())
    }

    /// `v_interp_*`: the parameters in LDS are laid out by the graphics pipeline.
    pub(crate) fn exec_interp(&mut self) -> Run<()> {
        Err(Stop::unsupported(format!(
            "{}: there is no graphics pipeline that leaves parameters in LDS",
            self.name()
        )))
    }
}
