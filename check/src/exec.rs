//! Vector instructions under an EXEC that is zero on every path.

use frontend::inst::EXEC_LO;
use frontend::{Effects, Encoding, Inst, Op, Operand};

use crate::cfg::Code;
use crate::finding::{Certainty, Report, Rule};
use crate::solve::{State, solve};
use frontend::registers::{is_valu, is_vmem};

static ZERO: Rule = Rule {
    id: "exec-zero",
    title: "a vector instruction has no active lane on any path",
    certainty: Certainty::C,
    source: "ISA manuals, EXEC; compilers leave such instructions at the ends of divergent code",
};

/// All of them.
pub(crate) static RULES: &[&Rule] = &[&ZERO];

/// An abstract value of EXEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exec {
    Zero,
    Unknown,
}

impl State for Exec {
    fn join(&mut self, other: &Exec) -> bool {
        let before = *self;
        if *other == Exec::Unknown {
            *self = Exec::Unknown;
        }
        *self != before
    }

    fn size(&self) -> usize {
        0
    }
}

fn is_zero(operand: Operand) -> bool {
    matches!(
        operand,
        Operand::Inline { bits: 0, .. } | Operand::Literal { bits: 0, .. }
    )
}

fn step(code: &Code, exec: &mut Exec, at: usize) {
    let item = &code.items[at];
    let inst = &item.inst;
    let calls = matches!(inst.op(), Op::Call | Op::SwapPc);
    let writes = item.uses.writes(EXEC_LO.into()) || item.uses.writes(u16::from(EXEC_LO) + 1);
    if calls || writes {
        let all_bits = inst.op() == Op::Mov
            && inst.dst[0] == Operand::Sgpr(EXEC_LO)
            && inst.dst_ty(0).bits() == 64;
        *exec = match all_bits && is_zero(inst.src[0]) {
            true => Exec::Zero,
            false => Exec::Unknown,
        };
    }
}

/// Has it no effect without active lanes?
fn needs_lanes(inst: &Inst) -> bool {
    let vector = is_valu(inst) || is_vmem(inst) || inst.desc.encoding == Encoding::Ds;
    let scalar = inst.dst.iter().any(|dst| matches!(dst, Operand::Sgpr(_)));
    vector && !scalar && inst.op() != Op::Nop && !inst.desc.effects.has(Effects::IGNORES_EXEC)
}

pub(crate) fn check(code: &Code, report: &mut Report) {
    // The other edge of such a branch shows that it is not zero.
    let edge = |block: usize, number: usize, exec: &mut Exec| {
        if code.is_exec_zero(block, number) {
            *exec = Exec::Zero;
        } else if code.is_exec_zero(block, 1 - number.min(1)) {
            *exec = Exec::Unknown;
        }
    };
    let states = solve(
        code,
        Exec::Unknown,
        |block, exec| {
            for at in code.blocks[block].items.clone() {
                step(code, exec, at);
            }
        },
        edge,
    );
    for (block, state) in states.unwrap_or_default().into_iter().enumerate() {
        let Some(mut exec) = state else { continue };
        for at in code.blocks[block].items.clone() {
            if exec == Exec::Zero && needs_lanes(&code.items[at].inst) {
                report.add(
                    &ZERO,
                    at,
                    None,
                    "EXEC is zero here on every path".to_owned(),
                );
            }
            step(code, &mut exec, at);
        }
    }
}
