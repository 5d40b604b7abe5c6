//! EXP: there is no pipeline to export to; the runtime records the values.

use frontend::inst::{Inst, Operand};

use crate::ir::functions::EffectFn;
use crate::lift::arms::memory::effect;
use crate::lift::arms::{Lowered, Sites};
use crate::lift::guest::Guest;

/// Lowers `exp`.
pub(super) fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    let mut args = vec![g.exec()];
    for source in inst.src {
        args.push(match source {
            Operand::Vgpr(n) => g.read_v(n.into()),
            Operand::None => g.imm32(0),
            Operand::Sgpr(_) | Operand::Agpr(_) | Operand::Special(_) | Operand::Imm(_) => {
                return Lowered::Fallback;
            }
            Operand::Inline { .. } | Operand::Literal { .. } => return Lowered::Fallback,
        });
    }
    let site = sites.add(pc, inst);
    effect(g, EffectFn::Export, site, &args, 0, 0);
    Lowered::Done
}
