//! Runs of memory instructions that may be repeated after a page fault: their sources must be as they were.

use frontend::{Encoding, Inst, Op};

use crate::cfg::{Code, Routine};
use crate::finding::{Certainty, Report, Rule};
use frontend::registers::{is_store, is_vmem};

static CLAUSE: Rule = Rule {
    id: "xnack-clause",
    title: "with XNACK, no instruction of a run of loads writes what it or another of the run reads",
    certainty: Certainty::A,
    source: "LLVM checkSoftClauseHazards; ACO",
};

/// The rule is about all of a run, but LLVM looks back at five instructions only: its code has such runs.
static LONG: Rule = Rule {
    id: "xnack-clause-long",
    title: "with XNACK, no instruction of a long run of loads writes what one of the run, more than five before, reads",
    certainty: Certainty::C,
    source: "ACO; LLVM checkSoftClauseHazards describes it, but getMaxLookAhead limits it",
};

/// LLVM 15, whose code Debian ships, lets the only load of a run overwrite its own address.
static REPEAT: Rule = Rule {
    id: "xnack-repeat",
    title: "with XNACK, no load that stands alone writes what it reads",
    certainty: Certainty::C,
    source: "ACO; later versions of LLVM",
};

/// All of them.
pub(super) static RULES: &[&Rule] = &[&CLAUSE, &LONG, &REPEAT];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Vector,
}

fn kind(inst: &Inst) -> Option<Kind> {
    match inst.desc.encoding {
        Encoding::Smem if inst.op() != Op::CacheCtl => Some(Kind::Scalar),
        _ if is_vmem(inst) => Some(Kind::Vector),
        _ => None,
    }
}

/// Of so many instructions back LLVM and ACO agree.
const LOOK_BACK: usize = 5;

/// The most instructions of a run that are compared; hardware has no longer ones.
const LONGEST: usize = 64;

pub(super) fn check(routine: &Routine<'_>, code: &Code, report: &mut Report) {
    if !routine.xnack || !routine.gfx.is_gfx8_up() {
        return;
    }
    for block in code.blocks.iter().filter(|block| block.reached) {
        let mut run: Vec<usize> = Vec::new();
        let mut of = None;
        for at in block.items.clone() {
            let item = &code.items[at];
            if item.removed {
                continue;
            }
            let now = kind(&item.inst).filter(|_| !is_store(&item.inst));
            if now.is_none() || now != of || run.len() == LONGEST {
                run.clear();
            }
            of = now;
            if now.is_none() {
                continue;
            }
            run.push(at);
            let overlap = |from: usize, to: usize| {
                let writes = code.items[from].uses.writes.iter();
                let mut regs = writes.flat_map(|span| span.each());
                regs.any(|reg| code.items[to].uses.reads(reg))
            };
            let other = run
                .iter()
                .rev()
                .find(|&&other| overlap(at, other) || overlap(other, at));
            if let Some(&other) = other {
                let why = match other == at {
                    true => "it writes a register that it reads, and may be repeated".to_owned(),
                    false => format!(
                        "one writes what the other reads, and `{}` at {:#x} may be repeated",
                        code.items[other].inst.text(code.gfx),
                        code.items[other].address
                    ),
                };
                let rule = if other == at && run.len() == 1 {
                    &REPEAT
                } else if other + LOOK_BACK < at {
                    &LONG
                } else {
                    &CLAUSE
                };
                report.add(rule, at, Some(other).filter(|&other| other != at), why);
                if rule.certainty != Certainty::C {
                    run.clear();
                }
            }
        }
    }
}
