//! EXP and the interpolation of parameters: what only a graphics pipeline has.

use super::operand::Exec;
use super::stop::{Run, Stop};

impl Exec<'_, '_> {
    /// `exp`: behind a compute kernel there is no pipeline that would take the values; exports of
    /// every kind, like those to the null target, have no effect.
    pub(crate) fn exec_export(&mut self) -> Run<()> {
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
