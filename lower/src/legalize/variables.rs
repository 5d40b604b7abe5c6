//! Variables for one block's loops. The builder keeps a table of all host blocks for each variable,
//! so loops of a region share them.

use super::Emitter;
use crate::vir::{Type, Variable};

/// Recycled variables.
#[derive(Default)]
pub(super) struct Variables {
    free: Vec<(Type, Variable)>,
    /// In use by the current block.
    taken: Vec<(Type, Variable)>,
}

impl Emitter<'_> {
    /// A variable for the rest of the current block; it must be written before it is read.
    pub(super) fn variable(&mut self, ty: Type) -> Variable {
        let Variables { free, taken } = &mut self.variables;
        let variable = match free.iter().rposition(|&(of, _)| of == ty) {
            Some(at) => free.swap_remove(at).1,
            None => self.b.declare_var(ty),
        };
        taken.push((ty, variable));
        variable
    }

    /// Releases the variables of the block.
    pub(super) fn free_variables(&mut self) {
        let Variables { free, taken } = &mut self.variables;
        free.append(taken);
    }
}
