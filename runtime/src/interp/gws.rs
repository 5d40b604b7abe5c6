//! The instructions of the global wave sync.

use frontend::Op;
use frontend::inst::Operand;
use frontend::op::DsOp;

use super::control::Control;
use super::observe::Observer;
use super::operand::Exec;
use super::stop::Run;
use crate::gws::{self, Passage};

impl<O: Observer> Exec<'_, '_, O> {
    /// Is it one of these? Then it is executed once for the wave.
    pub(crate) fn exec_gws(&mut self) -> Run<Option<Control>> {
        let Op::Ds(op) = self.inst.op() else {
            return Ok(None);
        };
        let resource = gws::resource(self.wave, self.inst);
        let gws = self.group.memory.gws();
        let passage = match op {
            DsOp::GwsInit => {
                gws.init(resource, self.gws_value()?);
                Passage::Passes
            }
            DsOp::GwsBarrier => {
                let value = self.gws_value()?;
                gws.barrier(resource, self.wave, value)
            }
            DsOp::GwsSemaV => {
                gws.release(resource, 1);
                Passage::Passes
            }
            DsOp::GwsSemaBr => {
                gws.release(resource, self.gws_value()?);
                Passage::Passes
            }
            DsOp::GwsSemaP => gws.acquire(resource, self.wave),
            DsOp::GwsSemaReleaseAll => {
                gws.release_all(resource);
                Passage::Passes
            }
            DsOp::Nop
            | DsOp::Swizzle
            | DsOp::Permute
            | DsOp::Bpermute
            | DsOp::Append
            | DsOp::Consume
            | DsOp::Condxchg32Rtn64
            | DsOp::OrderedCount => return Ok(None),
        };
        Ok(Some(match passage {
            Passage::Passes => Control::Next,
            Passage::Waits => Control::Wait,
        }))
    }

    /// The value of the first active lane.
    fn gws_value(&self) -> Run<u32> {
        let source = self.inst.src[0];
        if !matches!(source, Operand::Vgpr(_) | Operand::Agpr(_)) {
            return self.unknown();
        }
        let register = self.vector_range(source, 1)?;
        let lane = self.wave.exec().trailing_zeros() as usize % frontend::LANES;
        Ok(self.wave.vector(register)[lane])
    }
}
