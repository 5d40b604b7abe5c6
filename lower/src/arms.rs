//! One guest instruction to lane IR: the translation's own writing of the instruction set, one file
//! per chapter of the manual.

use frontend::desc::Encoding;
use frontend::inst::{Inst, Operand, Special};

use crate::abi::Site;
use crate::guest::Guest;
use crate::ir::SiteId;

mod buffer;
mod compare;
mod convert;
mod ds;
mod float;
mod half;
mod integer;
mod lane;
mod memory;
mod modifiers;
mod packed;
mod scalar;
mod scalar_memory;
mod vector;

/// What became of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lowered {
    /// Its nodes are in the block, its results in the guest's registers.
    Done,
    /// The interpreter must run it (nothing was changed).
    Fallback,
}

/// The guest instructions that effects refer to.
#[derive(Default, Debug)]
pub struct Sites(pub Vec<Site>);

impl Sites {
    /// Adds an instruction.
    pub fn add(&mut self, pc: u64, inst: &Inst) -> SiteId {
        let id = SiteId(self.0.len() as u32);
        self.0.push(Site { pc, inst: *inst });
        id
    }
}

/// Lowers one instruction that does not change the flow of control.
pub fn lower(g: &mut Guest<'_>, inst: &Inst, pc: u64, sites: &mut Sites) -> Lowered {
    // LDS_DIRECT and accumulation registers are not lowered anywhere.
    let operands = inst.src.iter().chain(&inst.dst);
    if operands.into_iter().any(|operand| {
        matches!(
            operand,
            Operand::Special(Special::LdsDirect) | Operand::Agpr(_)
        )
    }) {
        return Lowered::Fallback;
    }
    match inst.desc.encoding {
        Encoding::Sop1 | Encoding::Sop2 | Encoding::Sopk | Encoding::Sopc | Encoding::Sopp => {
            scalar::lower(g, inst, pc, sites)
        }
        Encoding::Smem => scalar_memory::lower(g, inst, pc, sites),
        Encoding::Vop1
        | Encoding::Vop2
        | Encoding::Vopc
        | Encoding::Vop3
        | Encoding::Vop3p
        | Encoding::Vintrp => vector::lower(g, inst),
        Encoding::Ds => ds::lower(g, inst, pc, sites),
        Encoding::Flat | Encoding::Global | Encoding::Scratch => memory::lower(g, inst, pc, sites),
        Encoding::Mubuf | Encoding::Mtbuf => buffer::lower(g, inst, pc, sites),
        // Nothing consumes exports of a compute kernel.
        Encoding::Exp => Lowered::Done,
        Encoding::Mimg => Lowered::Fallback,
    }
}
