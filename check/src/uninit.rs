//! Reads of registers that neither an instruction on a path from the beginning of a kernel nor the dispatcher has
//! written.

use frontend::inst::{EXEC_LO, M0};
use frontend::{Op, Operand};

use crate::cfg::{Code, Routine};
use crate::finding::{Certainty, Report, Rule};
use crate::solve::{State, solve};
use frontend::registers::{self, AGPR, END, Reg, SCC, VGPR};

static UNWRITTEN: Rule = Rule {
    id: "unwritten",
    title: "a register is read that nobody wrote",
    certainty: Certainty::C,
    source: "AMDGPUUsage, initial kernel execution state; compilers read such registers where the value does not matter",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&UNWRITTEN];

const WORDS: usize = (END as usize).div_ceil(64);

/// Registers that have been written.
#[derive(Clone, PartialEq)]
struct Written {
    words: [u64; WORDS],
    /// On all paths; otherwise on some path.
    always: bool,
}

impl Written {
    fn add(&mut self, reg: Reg) {
        if let Some(word) = self.words.get_mut(usize::from(reg / 64)) {
            *word |= 1 << (reg % 64);
        }
    }

    fn has(&self, reg: Reg) -> bool {
        let word = self.words.get(usize::from(reg / 64));
        word.is_none_or(|word| word >> (reg % 64) & 1 != 0)
    }

    fn all(&mut self) {
        self.words = [u64::MAX; WORDS];
    }
}

impl State for Written {
    fn join(&mut self, other: &Written) -> bool {
        let before = self.words;
        for (word, other) in self.words.iter_mut().zip(other.words) {
            *word = if self.always {
                *word & other
            } else {
                *word | other
            };
        }
        self.words != before
    }

    fn size(&self) -> usize {
        1
    }
}

fn step(code: &Code, written: &mut Written, at: usize) {
    let item = &code.items[at];
    // A function, or an instruction that names registers by M0, may write any.
    if item.relative || matches!(item.inst.op(), Op::Call | Op::SwapPc) {
        written.all();
    }
    for span in &item.uses.writes {
        span.each().for_each(|reg| written.add(reg));
    }
}

/// The first read of an unwritten register at each instruction: of one that is written on no path, or not on `all` paths.
fn unwritten(routine: &Routine<'_>, code: &Code, all: bool) -> Vec<(usize, Reg)> {
    let Some(kernel) = routine.kernel else {
        return Vec::new();
    };
    let mut start = Written {
        words: [0; WORDS],
        always: all,
    };
    (0..kernel.initial_sgprs.min(SCC.into()) as Reg).for_each(|reg| start.add(reg));
    (0..kernel.initial_vgprs.min(256) as Reg).for_each(|reg| start.add(VGPR + reg));
    for reg in [EXEC_LO, EXEC_LO + 1] {
        start.add(reg.into());
    }
    // FLAT_SCRATCH, XNACK_MASK and the trap registers are the driver's.
    let named = routine.gfx.max_sgprs() as Reg..Reg::from(M0);
    let vcc = [frontend::inst::VCC_LO, frontend::inst::VCC_HI].map(Reg::from);
    named
        .filter(|reg| !vcc.contains(reg))
        .for_each(|reg| start.add(reg));
    let states = solve(
        code,
        start,
        |block, written| {
            for at in code.blocks[block].items.clone() {
                step(code, written, at);
            }
        },
        |_, _, _| {},
    );
    let mut unwritten = Vec::new();
    for (block, state) in states.unwrap_or_default().into_iter().enumerate() {
        let Some(mut written) = state else { continue };
        for at in code.blocks[block].items.clone() {
            let item = &code.items[at];
            let op = item.inst.op();
            // `v_writelane` builds a register lane by lane; x ^ x and x - x do not depend on x.
            let harmless = matches!(op, Op::WriteLane) || same_source(&item.inst.src, op);
            let reads = item.uses.reads.iter().flat_map(|span| span.each());
            let found = reads.filter(|&reg| !written.has(reg)).min();
            if let (Some(reg), false) = (found, harmless) {
                unwritten.push((at, reg));
                written.add(reg);
            }
            step(code, &mut written, at);
        }
    }
    unwritten
}

pub(crate) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    for (at, reg) in unwritten(routine, code, false) {
        let what = match reg {
            reg if reg >= AGPR => "accumulation register",
            reg if reg >= VGPR => "vector register",
            _ => "scalar register",
        };
        let why = format!(
            "nothing has written the {what} {} on any path",
            registers::name(reg, code.gfx)
        );
        report.add(&UNWRITTEN, at, None, why);
    }
}

/// Does a kernel read a register that is not written on all paths?
pub(crate) fn may_read_unwritten(routine: &Routine<'_>, code: &Code) -> bool {
    !unwritten(routine, code, true).is_empty()
}

/// Is the result the same whatever the register holds?
fn same_source(src: &[Operand; 4], op: Op) -> bool {
    matches!(op, Op::Xor | Op::Sub) && src[0] == src[1]
}
