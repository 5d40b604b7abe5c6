//! Variables that one block's loops need. The builder keeps a table of all host blocks for each variable, so a
//! region must not have new ones for each of its loops.

use super::Emitter;
use crate::vir::{Type, Variable};

/// Variables that are used over and over.
#[derive(Default)]
pub(super) struct Variables {
    free: Vec<(Type, Variable)>,
    /// By the block that is being emitted.
    taken: Vec<(Type, Variable)>,
}

impl Emitter<'_> {
    /// A variable for the rest of the block that is being emitted; it must be written before it is read.
    pub(super) fn variable(&mut self, ty: Type) -> Variable {
        let Variables { free, taken } = &mut self.variables;
        let variable = match free.iter().rposition(|&(of, _)| of == ty) {
            Some(at) => free.swap_remove(at).1,
            None => self.b.declare_var(ty),
        };
        taken.push((ty, variable));
        variable
    }

    /// The block is done with its variables.
    pub(super) fn free_variables(&mut self) {
        let Variables { free, taken } = &mut self.variables;
        free.append(taken);
    }
}
