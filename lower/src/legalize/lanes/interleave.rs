//! Vectors take turns in a function whose result lanes wait for long. Processors look ahead for instructions that need
//! not wait, but not far among vectors: the one that follows had better be ready.
//!
//! (Without turns loops of one exponential or logarithm take 2 to 15 % more, blackscholes 3 %.)

use cranelift_codegen::ir::{self as clif, Opcode, ValueDef};

use super::Lanes;

/// Cycles until the result of an operation is there, about. What will be selected for it is not known here: it may be
/// several host instructions.
fn latency(opcode: Opcode) -> u32 {
    match opcode {
        Opcode::Bitcast | Opcode::Vconst | Opcode::Iconst => 0,
        Opcode::Fmul => 3,
        Opcode::Fma => 4,
        Opcode::Call => 5,
        Opcode::Icmp | Opcode::Fcmp => 6,
        Opcode::Fdiv => 13,
        _ => 2,
    }
}

impl Lanes<'_, '_> {
    /// The last instruction so far.
    pub(super) fn last_inst(&self) -> Option<clif::Inst> {
        let block = self.b.current_block()?;
        self.b.func.layout.last_inst(block)
    }

    /// Orders the instructions behind `last` by how long what follows from them takes. None of them has an effect;
    /// those of each vector end with one of `ends`. A vector is so many cycles behind the one before it: its first steps
    /// fill the time in which the others wait for their last ones. (All at once may want more registers than there are.)
    pub(super) fn interleave(&mut self, last: Option<clif::Inst>, ends: &[clif::Inst], by: u32) {
        let (Some(last), Some(block)) = (last, self.b.current_block()) else {
            return;
        };
        let func = &mut *self.b.func;
        let mut insts = Vec::new();
        let mut behind = 0;
        let mut next = func.layout.next_inst(last);
        while let Some(inst) = next {
            insts.push((inst, behind, 0));
            if ends.contains(&inst) {
                behind += by;
            }
            next = func.layout.next_inst(inst);
        }
        let Some(&(first, ..)) = insts.first() else {
            return;
        };
        // They are numbered as they were made. The third is the time from the beginning of each to the end of all.
        let mut longest = 0;
        for i in (0..insts.len()).rev() {
            let inst = insts[i].0;
            insts[i].2 += latency(func.dfg.insts[inst].opcode());
            let left = insts[i].2;
            longest = left.max(longest);
            for &arg in func.dfg.inst_args(inst) {
                if let ValueDef::Result(of, _) = func.dfg.value_def(arg)
                    && of >= first
                {
                    let before = &mut insts[(of.as_u32() - first.as_u32()) as usize].2;
                    *before = left.max(*before);
                }
            }
        }
        insts.sort_by_key(|&(_, behind, left)| behind + longest - left);
        for (inst, ..) in insts {
            func.layout.remove_inst(inst);
            func.layout.append_inst(inst, block);
        }
    }
}
