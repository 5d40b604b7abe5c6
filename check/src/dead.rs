//! Unreachable code.

use frontend::{Op, Operand};

use crate::cfg::{Code, Item};
use crate::finding::{Certainty, Report, Rule};
use crate::hazards::is_nop;

static UNREACHED: Rule = Rule {
    id: "unreached",
    title: "no path leads to an instruction",
    certainty: Certainty::C,
    source: "the control-flow graph",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&UNREACHED];

/// Is it padding, with which compilers fill the space after a routine?
fn is_filling(item: &Item) -> bool {
    let zero = item.inst.op() == Op::Endpgm || item.inst.src[0] == Operand::Imm(0);
    is_nop(item) || zero
}

pub(crate) fn check(code: &Code, report: &mut Report) {
    // Jumps that cannot be followed may lead anywhere.
    if code.has_indirect() {
        return;
    }
    let mut before = true;
    for block in &code.blocks {
        let first = block.items.start;
        let filling = code.items[block.items.clone()].iter().all(is_filling);
        if !block.reached && !filling && before {
            let why = "no path leads here from the beginning".to_owned();
            report.add(&UNREACHED, first, None, why);
        }
        before = block.reached;
    }
}
