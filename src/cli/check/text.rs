//! Findings for readers.

use runtime::foreign::Foreign;
use wavelift::source::demangle;

use super::reporting::{Found, Launched, Reported, Results, Unchecked};
use crate::cli::output::Output;
use crate::cli::report::counted;

fn one(found: &Reported, out: &mut Output) -> anyhow::Result<()> {
    let Reported {
        file,
        routine,
        rule,
        severity,
        why,
        at,
        other,
        found,
        ..
    } = found;
    writeln!(
        out,
        "{}: {}: {severity}: {why} [{}]",
        Foreign(file),
        Foreign(&demangle(routine)),
        rule.id,
        severity = severity.name(),
    )?;
    for place in other.iter().chain([at]) {
        writeln!(out, "  {place}")?;
    }
    if let Some(found) = found {
        launch(found, out)?;
    }
    Ok(())
}

/// In which launch of a program it was found.
fn launch(found: &Found, out: &mut Output) -> anyhow::Result<()> {
    let Some(Launched {
        process,
        number,
        count,
    }) = found.launch
    else {
        return Ok(());
    };
    write!(out, "  launch {number} of process {process}")?;
    if count > 1 {
        write!(out, ", and {} more", count - 1)?;
    }
    let address = found.address.unwrap_or_default();
    if let Some(near) = found
        .allocation
        .filter(|near| near.freed || !near.has(address))
    {
        let freed = if near.freed { "freed " } else { "" };
        let bytes = counted(near.len, "byte");
        write!(
            out,
            "; the {freed}allocation has {bytes} at 0x{:x}",
            near.start
        )?;
    }
    writeln!(out)?;
    Ok(())
}

/// All findings, then a line of counts.
pub(super) fn print(results: &Results, out: &mut Output) -> anyhow::Result<()> {
    for found in &results.reported {
        one(found, out)?;
    }
    for Unchecked { file, routine, why } in &results.unchecked {
        let routine = routine.as_deref().map(demangle);
        let routine = routine.map_or_else(String::new, |name| format!(" {}:", Foreign(&name)));
        writeln!(out, "{}:{routine} not checked: {why}", Foreign(file))?;
    }
    let shown = results.reported.len() - results.findings();
    let mut text = format!(
        "{} and {} in {}",
        counted(results.findings() as u64, "finding"),
        counted((results.notes + shown) as u64, "note"),
        counted(results.routines as u64, "routine"),
    );
    if let Some(ran) = &results.ran {
        text += &format!(
            ", {} of {}",
            counted(ran.launches, "launch"),
            counted(ran.processes as u64, "process"),
        );
    }
    if results.suppressed > 0 {
        text += &format!(
            "; {} suppressed",
            counted(results.suppressed as u64, "finding")
        );
    }
    writeln!(out, "{text}")?;
    Ok(())
}
