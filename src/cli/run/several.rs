//! The end of a run of one or several manifests: status, summary, reports.

use std::io::Write as _;

use serde::Serialize;

use super::super::new_file::NewFile;
use super::super::output::Output;
use super::super::report::{Report, counted, time};
use super::super::{Status, code_of};
use super::junit;

/// Where the report goes as JSON.
pub(super) enum Json {
    /// Nowhere.
    No,
    /// To standard output, in place of the text.
    Output,
    /// To a file.
    File(NewFile),
}

/// What became of a file.
pub(super) struct Outcome {
    pub(super) name: String,
    pub(super) result: anyhow::Result<Status>,
    pub(super) report: Option<Report>,
    pub(super) seconds: f64,
}

/// A report among several.
#[derive(Serialize)]
struct Named<'a> {
    manifest: &'a str,
    status: u8,
    error: Option<String>,
    #[serde(flatten)]
    report: Option<&'a Report>,
}

/// The reports of several manifests.
#[derive(Serialize)]
struct All<'a> {
    ok: bool,
    manifests: Vec<Named<'a>>,
}

impl Named<'_> {
    fn of(outcome: &Outcome) -> Named<'_> {
        Named {
            manifest: &outcome.name,
            status: outcome.code(),
            error: outcome
                .result
                .as_ref()
                .err()
                .map(|error| format!("{error:#}")),
            report: outcome.report.as_ref(),
        }
    }
}

impl Outcome {
    fn code(&self) -> u8 {
        match &self.result {
            Ok(status) => status.code(),
            Err(error) => code_of(error),
        }
    }

    /// Is it, for JUnit, a failure (of an expectation), an error, or neither?
    pub(super) fn kind(&self) -> &'static str {
        match &self.result {
            Ok(Status::Success) => "",
            Ok(Status::Mismatch) => "failure",
            Ok(Status::BadInput | Status::Fault | Status::Unwritten) | Err(_) => "error",
        }
    }

    /// Why it did not succeed; empty if it did.
    pub(super) fn message(&self) -> String {
        match (&self.result, &self.report) {
            (Ok(Status::Success), _) => String::new(),
            (Err(error), _) => format!("{error:#}"),
            (Ok(_), None) => "it did not run".to_owned(),
            (Ok(_), Some(report)) => {
                let failed = report.expect.iter().filter(|result| !result.ok);
                let fault = report.fault.iter().map(|fault| fault.message().to_owned());
                let lines: Vec<_> = failed.map(|result| result.line()).chain(fault).collect();
                lines.join("\n")
            }
        }
    }
}

/// Writes the reports; the status of all.
pub(super) fn finish(
    outcomes: Vec<Outcome>,
    json: Json,
    junit_file: Option<NewFile>,
    out: &mut Output,
) -> anyhow::Result<Status> {
    let several = outcomes.len() > 1;
    let good = outcomes
        .iter()
        .filter(|outcome| outcome.code() == 0)
        .count();
    if several && !matches!(json, Json::Output) {
        let failed = outcomes.len() - good;
        let seconds = time(outcomes.iter().map(|outcome| outcome.seconds).sum());
        let all = counted(outcomes.len() as u64, "manifest");
        writeln!(out, "{all}: {good} ok, {failed} failed, {seconds}")?;
        for outcome in outcomes.iter().filter(|outcome| outcome.code() != 0) {
            let message = outcome.message();
            writeln!(
                out,
                "  {}: {}",
                outcome.name,
                message.lines().next().unwrap_or_default()
            )?;
        }
    }
    match json {
        Json::No => {}
        Json::Output => writeln!(out, "{}", to_json(&outcomes)?)?,
        Json::File(file) => {
            let text = to_json(&outcomes)?;
            file.complete(|file| writeln!(file, "{text}"))?;
        }
    }
    if let Some(file) = junit_file {
        file.complete(|file| junit::write(file, &outcomes))?;
    }
    let mut worst = Ok(Status::Success);
    let mut code = 0;
    for outcome in outcomes {
        if outcome.code() > code {
            code = outcome.code();
            worst = outcome.result;
        }
    }
    match worst {
        // Its message is printed already.
        Err(_) if several => Ok(Status::of(code)),
        worst => worst,
    }
}

/// The report of the only file, or all reports.
fn to_json(outcomes: &[Outcome]) -> serde_json::Result<String> {
    match outcomes {
        [
            Outcome {
                report: Some(report),
                ..
            },
        ] => serde_json::to_string(report),
        outcomes => serde_json::to_string(&All {
            ok: outcomes.iter().all(|outcome| outcome.code() == 0),
            manifests: outcomes.iter().map(Named::of).collect(),
        }),
    }
}
