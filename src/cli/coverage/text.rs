//! The summary on standard output.

use std::fmt;

use runtime::foreign::Foreign;
use wavelift::source::demangle;

use super::facts::{Facts, Ratio, Routine};
use super::lines::{SourceFile, files, line_ratio};
use crate::cli::output::Output;
use crate::cli::report::counted;

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ratio { covered, total } = *self;
        write!(f, "{covered} of {total}")?;
        match total {
            0 => Ok(()),
            _ => write!(f, " ({:.1} %)", 100.0 * covered as f64 / total as f64),
        }
    }
}

/// Numbers in ascending order, those in a row as a range.
pub(super) fn ranges(numbers: impl Iterator<Item = u32>) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    let texts = ranges.iter().map(|&(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// `kernel NAME` or `function NAME`, as in source text.
pub(super) fn title(routine: &Routine) -> String {
    let kind = if routine.kernel { "kernel" } else { "function" };
    format!("{kind} {}", Foreign(&demangle(&routine.name)))
}

pub(super) fn print(facts: &Facts, out: &mut Output) -> anyhow::Result<()> {
    if facts.objects.is_empty() {
        writeln!(out, "nothing was executed")?;
    }
    let files = files(facts);
    let mut order: Vec<usize> = (0..files.len()).collect();
    order.sort_by_key(|&number| &facts.files[number]);
    for number in order {
        print_file(&facts.files[number], &files[number], out)?;
    }
    for object in &facts.objects {
        for routine in &object.routines {
            writeln!(out, "{}, {}:", title(routine), object.target)?;
            let lines = line_ratio(routine);
            if lines.total != 0 {
                write!(out, "  lines {lines}, ")?;
            } else {
                write!(out, "  no lines, ")?;
            }
            writeln!(
                out,
                "blocks {}, outcomes {}, {}",
                routine.block_ratio(),
                routine.outcome_ratio(),
                counted(routine.waves(), "wave")
            )?;
        }
    }
    Ok(())
}

fn print_file(name: &str, file: &SourceFile<'_>, out: &mut Output) -> anyhow::Result<()> {
    let (lines, outcomes) = (file.line_ratio(), file.outcome_ratio());
    writeln!(
        out,
        "{}:\n  lines {lines}, outcomes {outcomes}",
        Foreign(name)
    )?;
    let missed = ranges(file.missed());
    if !missed.is_empty() {
        writeln!(out, "  not executed: lines {missed}")?;
    }
    for (line, conditions) in &file.conditions {
        for shown in conditions.iter().filter(|shown| shown.reached) {
            let outcomes = shown.outcomes().into_iter().zip(shown.condition.names());
            for (_, name) in outcomes.filter(|(count, _)| *count == 0) {
                writeln!(
                    out,
                    "  line {line}: never {name}: {}",
                    shown.instruction.text
                )?;
            }
        }
    }
    Ok(())
}
