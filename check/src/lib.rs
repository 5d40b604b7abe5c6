//! Static checks of GCN machine code: missing and redundant waits, missing independent instructions,
//! reads of unwritten registers, unreachable code, exceeded sizes. From the code alone; nothing is
//! executed.
//!
//! A [`Routine`] is a kernel or a function. Its control-flow graph ([`Code`]) is followed with abstract
//! states, which are joined where paths meet, until nothing changes. Work is bounded: a routine that takes
//! too long is reported as such and not checked on.
#![forbid(unsafe_code)]

mod cfg;
mod counters;
mod dead;
mod exec;
mod facts;
mod finding;
mod hazards;
mod limits;
mod solve;
mod stale;
#[cfg(test)]
mod tests;
mod uninit;
mod waits;

pub use cfg::{Code, Edit, Item, Kernel, Routine};
pub use finding::{Certainty, Finding, Report, Rule, Severity};
pub use frontend::registers::{Reg, Span, Uses};
pub use frontend::waits::WaitField;

/// All rules, those of notes included.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let groups = [
        waits::RULES,
        uninit::RULES,
        stale::RULES,
        exec::RULES,
        dead::RULES,
        limits::RULES,
        finding::RULES,
    ];
    groups
        .into_iter()
        .flatten()
        .copied()
        .chain(hazards::rules())
}

/// Checks a routine.
pub fn check(routine: &Routine<'_>) -> Report {
    check_code(routine, &Code::new(routine))
}

/// May a kernel read a register that neither an instruction nor the dispatcher has written? Compilers read such registers where
/// the value does not matter.
pub fn may_read_unwritten(routine: &Routine<'_>) -> bool {
    uninit::may_read_unwritten(routine, &Code::new(routine))
}

/// Checks code that may have been edited.
pub fn check_code(routine: &Routine<'_>, code: &Code) -> Report {
    let mut report = Report::default();
    waits::check(routine, code, &mut report);
    hazards::check(routine, code, &mut report);
    uninit::check(routine, code, &mut report);
    stale::check(code, &mut report);
    exec::check(code, &mut report);
    dead::check(code, &mut report);
    limits::check(routine, code, &mut report);
    report.finish(code);
    report
}
