//! Variables for one block's loops. The builder keeps a table of all host blocks for each variable,
//! so loops of a region share them.

use crate::vir::{Builder, Type, Variable};

/// Recycled variables.
#[derive(Default)]
pub(super) struct Variables {
    free: Vec<(Type, Variable)>,
    /// In use by the current block.
    taken: Vec<(Type, Variable)>,
}

impl Variables {
    /// A variable for the rest of the current block.
    pub(super) fn take(&mut self, b: &mut Builder<'_>, ty: Type) -> Variable {
        let variable = match self.free.iter().rposition(|&(of, _)| of == ty) {
            Some(at) => self.free.swap_remove(at).1,
            None => b.declare_var(ty),
        };
        self.taken.push((ty, variable));
        variable
    }

    /// Releases the variables of the block.
    pub(super) fn free(&mut self) {
        self.free.append(&mut self.taken);
    }
}
