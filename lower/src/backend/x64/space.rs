//! Memory reused from function to function. The allocator would return the tables of a large region
//! to the system, and get them again for the next region, page by page.

use regalloc2::{Operand, VReg};

use super::inst::{HostFunc, HostInst};
use crate::host::Isa;
use crate::vir::{Inst, Value};

/// Empty tables of selection.
#[derive(Default)]
pub struct Space {
    pub(super) insts: [Vec<HostInst>; 2],
    pub(super) operands: Vec<Operand>,
    pub(super) same: Vec<Value>,
    pub(super) defs: Vec<Inst>,
    pub(super) once: Vec<bool>,
    pub(super) values: Vec<VReg>,
    pub(super) here: Vec<(u32, VReg)>,
    pub(super) needed: Vec<bool>,
    pub(super) folded: Vec<bool>,
    pub(super) counts: Vec<(u32, Inst)>,
    pub(super) epochs: Vec<(u32, u32)>,
    pub(super) vectors: Vec<(u32, VReg)>,
    pub(super) uses: Vec<u32>,
    pub(super) made: Vec<u32>,
}

/// A table of equal entries, in recycled memory.
pub(super) fn table<T: Copy>(memory: &mut Vec<T>, count: usize, entry: T) -> Vec<T> {
    let mut table = std::mem::take(memory);
    table.clear();
    table.resize(count, entry);
    table
}

impl HostFunc {
    /// An empty function.
    pub(super) fn new(isa: Isa, space: &mut Space) -> HostFunc {
        let mut func = HostFunc::default();
        func.isa = isa;
        func.insts = std::mem::take(&mut space.insts[0]);
        func.operands = std::mem::take(&mut space.operands);
        func.insts.clear();
        func.operands.clear();
        func
    }

    /// Returns the memory of a finished function.
    pub(super) fn give_back(self, space: &mut Space) {
        space.insts[0] = self.insts;
        space.operands = self.operands;
    }
}
