//! Findings for readers.

use runtime::foreign::Foreign;
use wavelift::source::demangle;

use super::{Place, Reported, Results};
use crate::cli::output::Output;

fn line(place: &Place) -> String {
    match &place.line {
        Some((file, line)) => format!(" at {}:{line}", Foreign(file)),
        None => String::new(),
    }
}

fn one(found: &Reported, out: &mut Output) -> anyhow::Result<()> {
    let Reported {
        file,
        routine,
        rule,
        severity,
        why,
        at,
        other,
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
    if let Some(other) = other {
        writeln!(
            out,
            "  0x{:04x}  {}{}",
            other.address,
            other.text,
            line(other)
        )?;
    }
    writeln!(out, "  0x{:04x}  {}{}", at.address, at.text, line(at))?;
    Ok(())
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// All findings, then a line of counts.
pub(super) fn print(results: &Results, out: &mut Output) -> anyhow::Result<()> {
    for found in &results.reported {
        one(found, out)?;
    }
    for (file, routine, why) in &results.unchecked {
        let (file, routine) = (Foreign(file), demangle(routine));
        writeln!(out, "{file}: {}: not checked: {why}", Foreign(&routine))?;
    }
    let shown = results.reported.len() - results.findings();
    let mut text = format!(
        "{} and {} in {}",
        count(results.findings(), "finding"),
        count(results.notes + shown, "note"),
        count(results.routines, "routine"),
    );
    if results.suppressed > 0 {
        text += &format!("; {} suppressed", count(results.suppressed, "finding"));
    }
    writeln!(out, "{text}")?;
    Ok(())
}
