//! One guest instruction to lane IR: the translation's own writing of the instruction set.

use frontend::inst::Inst;

use crate::abi::Site;
use crate::guest::Guest;
use crate::ir::SiteId;

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
pub fn lower(_g: &mut Guest<'_>, _inst: &Inst, _pc: u64, _sites: &mut Sites) -> Lowered {
    Lowered::Fallback
}
