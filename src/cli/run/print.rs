//! Reports of runs as text.

use super::super::output::{Output, complain};
use super::super::report::{DispatchReport, Report, Times, counted, time};

/// Prints a report; `written` are the outputs.
pub(in super::super) fn print_report(
    report: &Report,
    written: &[String],
    out: &mut Output,
) -> anyhow::Result<()> {
    for dispatch in &report.dispatches {
        let repeat = match dispatch.repeat {
            1 => String::new(),
            n => format!(" in {n} launches"),
        };
        write!(out, "{}{repeat}", dispatch.headline())?;
        if dispatch.translate_s != 0.0 {
            write!(out, ", translated in {}", time(dispatch.translate_s))?;
            if dispatch.regions_cached != 0 {
                let (cached, new) = (dispatch.regions_cached, dispatch.regions_translated);
                write!(out, " ({} cached, {new} new)", counted(cached, "region"))?;
            }
        }
        if dispatch.regions_improved != 0 {
            let (n, time) = (dispatch.regions_improved, time(dispatch.improve_s));
            let regions = counted(n, "hot region");
            write!(out, ", {regions} again in the background in {time}")?;
        }
        if let Times::One(seconds) = dispatch.execute_s {
            write!(out, ", ran {}", time(seconds))?;
        }
        if let (Some(count), Some(lanes)) = (dispatch.instructions, dispatch.lane_instructions) {
            let count = counted(count, "instruction");
            write!(out, ", {count} ({lanes} by lane)")?;
        }
        writeln!(out)?;
        print_fallbacks(dispatch, out)?;
        print_exports(dispatch, out)?;
    }
    for path in written {
        writeln!(out, "wrote {path}")?;
    }
    for printed in &report.print {
        writeln!(out, "{}", printed.text())?;
    }
    for result in &report.expect {
        writeln!(out, "{}", result.line())?;
    }
    Ok(())
}

/// Warns where translations could not be kept.
pub(crate) fn warn_of_failures(report: &Report) {
    let failures: u64 = report.dispatches.iter().map(|d| d.cache_failures).sum();
    if failures != 0 {
        let failures = counted(failures, "translation");
        complain(format_args!(
            "warning: {failures} could not be written to the folder given by --cache"
        ));
    }
}

/// Prints the instructions that the translator left to the interpreter.
pub(crate) fn print_fallbacks(dispatch: &DispatchReport, out: &mut Output) -> anyhow::Result<()> {
    if dispatch.fallbacks != 0 {
        let names = dispatch.fallback_names.iter();
        let names: Vec<_> = names
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let (count, names) = (dispatch.fallbacks, names.join(", "));
        let (count, were) = (
            counted(count, "instruction"),
            if count == 1 { "was" } else { "were" },
        );
        writeln!(out, "  {count} {were} interpreted: {names}")?;
    }
    Ok(())
}

/// Prints the exports by target.
fn print_exports(dispatch: &DispatchReport, out: &mut Output) -> anyhow::Result<()> {
    if let Some(exports) = &dispatch.exports {
        let names: Vec<_> = exports
            .targets
            .iter()
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let (count, names) = (exports.count, names.join(", "));
        writeln!(
            out,
            "  {}, which nothing takes: {names}",
            counted(count, "export")
        )?;
    }
    Ok(())
}
