//! `--evidence`: how well the instructions are tested that a run has executed.

use std::collections::{BTreeMap, HashMap};

use frontend::{Gfx, InstDesc};
use serde::Serialize;

use crate::cli::evidence::Evidence;
use crate::cli::output::Output;
use crate::cli::report::counted;
use crate::cli::session::Session;

/// An instruction that was executed.
#[derive(Serialize)]
pub(crate) struct InstructionReport {
    instruction: &'static str,
    target: &'static str,
    evidence: &'static str,
    executions: u64,
}

/// What a session has executed, weakest evidence first, then by name.
pub(super) fn collect(session: &Session) -> Vec<InstructionReport> {
    let mut found = BTreeMap::new();
    // Each row is looked up once, however many instructions of it there are.
    let mut levels: HashMap<(Gfx, *const InstDesc), Evidence> = HashMap::new();
    let mut seen = Vec::new();
    for planned in &session.dispatches {
        let module = planned.kernel.module();
        let code = module.code();
        // Counts are taken once for each code object.
        if seen.contains(&code.id()) {
            continue;
        }
        seen.push(code.id());
        let counts = session.device.take_coverage(module).unwrap_or_default();
        for (address, counts) in counts {
            let Ok(inst) = code.inst_at(code.guest(address)) else {
                continue;
            };
            let (desc, gfx) = (inst.desc, code.gfx());
            let level = levels.entry((gfx, desc));
            let level = *level.or_insert_with(|| Evidence::of(desc, gfx));
            let key = (level, desc.name_on(gfx), gfx.name());
            *found.entry(key).or_insert(0) += counts.executions;
        }
    }
    let report = |((evidence, instruction, target), executions): ((Evidence, _, _), u64)| {
        InstructionReport {
            instruction,
            target,
            evidence: evidence.name(),
            executions,
        }
    };
    found.into_iter().map(report).collect()
}

/// Prints the report as text.
pub(super) fn print(all: &[InstructionReport], out: &mut Output) -> anyhow::Result<()> {
    let count = counted(all.len() as u64, "instruction");
    writeln!(out, "evidence for {count}, weakest first:")?;
    for one in all {
        writeln!(
            out,
            "  {:<13} {} ({}, {})",
            one.evidence,
            one.instruction,
            one.target,
            counted(one.executions, "execution")
        )?;
    }
    Ok(())
}
