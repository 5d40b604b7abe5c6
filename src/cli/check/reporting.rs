//! What was found, and how it is reported.

use std::io::Write as _;
use std::path::PathBuf;

use runtime::fault::Nearest;
use wavelift::check::{Place, Rule, Severity};
use wavelift::sanitizer::{Finding, Side};

use super::suppress::Suppressions;
use super::{json, sarif, text};
use crate::cli::Status;
use crate::cli::new_file::NewFile;
use crate::cli::output::{Output, complain};

/// What to report, and how.
#[derive(clap::Args)]
pub(super) struct Reporting {
    /// Report only this kernel or function
    #[arg(long)]
    pub(super) kernel: Option<String>,
    /// Leave out the findings that this file names (TOML: [[suppress]] with rule, kernel and reason,
    /// optionally file and address)
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
    /// Print notes, too, such as redundant waits and barriers
    #[arg(long)]
    pub(super) notes: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    /// Print a SARIF 2.1.0 log
    #[arg(long, conflicts_with = "json")]
    pub(super) sarif: bool,
}

impl Reporting {
    /// The suppressions.
    pub(super) fn suppressions(&self) -> anyhow::Result<Suppressions> {
        match &self.suppress {
            Some(path) => Suppressions::read(path),
            None => Ok(Suppressions::default()),
        }
    }

    /// Is a kernel to be reported?
    pub(super) fn wants(&self, kernel: &str) -> bool {
        self.kernel.as_deref().is_none_or(|name| name == kernel)
    }

    /// Prints what was found.
    pub(super) fn print(&self, results: &Results, out: &mut Output) -> anyhow::Result<Status> {
        for unused in &results.unused {
            complain(format_args!("{unused}"));
        }
        if self.json {
            out.json(&json::report(results))?;
        } else if self.sarif {
            out.json(&sarif::log(results))?;
        } else {
            text::print(results, out)?;
        }
        Ok(match results.findings() {
            0 => Status::Success,
            _ => Status::Mismatch,
        })
    }

    /// Writes what was found into a file.
    pub(super) fn write(&self, results: &Results, file: NewFile) -> anyhow::Result<Status> {
        let mut out = Output::in_memory();
        let status = self.print(results, &mut out)?;
        file.complete(|file| file.write_all(out.kept().as_bytes()))?;
        Ok(status)
    }
}

/// What is reported of a file.
pub(super) struct Scope<'a> {
    pub(super) reporting: &'a Reporting,
    pub(super) notes: bool,
    /// Those of the command line, and those of the manifest.
    pub(super) suppressions: [&'a mut Suppressions; 2],
}

/// Where in a run something was found.
pub(super) struct Found {
    /// What was accessed, such as `y[3]`; nothing for barriers.
    pub(super) what: Option<String>,
    /// Guest address, or offset in LDS.
    pub(super) address: Option<u64>,
    /// The allocation that it is in or near.
    pub(super) allocation: Option<Nearest>,
    /// By whom, and before, by whom.
    pub(super) at: Side,
    pub(super) other: Option<Side>,
    /// How often.
    pub(super) count: u64,
    /// In a program.
    pub(super) launch: Option<Launched>,
}

/// The launches of a program in which something was found.
pub(super) struct Launched {
    /// Number of the process on the host.
    pub(super) process: u32,
    /// Number of the first launch in the process, from 0 on.
    pub(super) number: u64,
    /// How many launches.
    pub(super) count: u64,
}

impl Found {
    /// What the sanitizer found; `what` was accessed.
    pub(super) fn new(found: &Finding, what: Option<String>) -> Found {
        let near = |near: &Nearest| near.is_near(found.address);
        Found {
            address: what.is_some().then_some(found.address),
            allocation: found.nearest.filter(near),
            at: found.at,
            other: found.other,
            count: found.count,
            what,
            launch: None,
        }
    }
}

/// A finding or a note.
pub(super) struct Reported {
    pub(super) file: String,
    pub(super) target: String,
    pub(super) routine: String,
    pub(super) rule: &'static Rule,
    pub(super) severity: Severity,
    pub(super) why: String,
    pub(super) at: Place,
    pub(super) other: Option<Place>,
    /// Of a dynamic check.
    pub(super) found: Option<Found>,
}

/// Code that was not checked, or not by all rules.
pub(super) struct Unchecked {
    pub(super) file: String,
    /// All of a code object if there is none.
    pub(super) routine: Option<String>,
    pub(super) why: String,
}

/// A program that ran.
pub(super) struct Ran {
    /// Its processes that used the GPU.
    pub(super) processes: usize,
    pub(super) launches: u64,
    /// Its exit status.
    pub(super) status: Option<i32>,
    /// The signal that ended it.
    pub(super) signal: Option<i32>,
}

/// All that was found.
#[derive(Default)]
pub(super) struct Results {
    pub(super) reported: Vec<Reported>,
    /// Notes that are not among them.
    pub(super) notes: usize,
    pub(super) suppressed: usize,
    pub(super) routines: usize,
    pub(super) instructions: usize,
    pub(super) unchecked: Vec<Unchecked>,
    /// Suppressions that have suppressed nothing, in words.
    pub(super) unused: Vec<String>,
    pub(super) ran: Option<Ran>,
}

impl Results {
    pub(super) fn findings(&self) -> usize {
        let all = self.reported.iter();
        all.filter(|found| found.severity == Severity::Finding)
            .count()
    }

    /// Is something found at an address of a file's routine to be reported? Otherwise it is counted: suppressed, or a note
    /// that is not requested.
    pub(super) fn admits(
        &mut self,
        scope: &mut Scope<'_>,
        (rule, severity): (&Rule, Severity),
        (file, routine, address): (&str, &str, u64),
    ) -> bool {
        let mut suppressed = false;
        for known in &mut scope.suppressions {
            suppressed |= known.has(file, routine, rule.id, address);
        }
        let hidden = severity == Severity::Note && !scope.notes;
        if suppressed {
            self.suppressed += usize::from(severity == Severity::Finding);
        } else if hidden {
            self.notes += 1;
        }
        !suppressed && !hidden
    }
}
