//! `wavelift check exec`: what kernels of a program do when it runs.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, bail};
use findings::{Folder, Instruction, Process};
use runtime::object::CodeObject;
use wavelift::check::Place;
use wavelift::sanitizer::{Described, Finding};
use wavelift::source::SourceMap;

use super::reporting::{Found, Launched, Ran, Reported, Reporting, Results, Scope};
use super::source_map;
use super::suppress::Suppressions;
use crate::cli::Status;
use crate::cli::exec::start::{Guest, Program, say};
use crate::cli::exec::wait::{self, Ended};
use crate::cli::new_file::{NewFile, Unwritten};
use crate::cli::output::Output;

/// Commands of `check`.
#[derive(clap::Subcommand)]
pub(super) enum Command {
    Exec(Args),
}

/// Runs an unmodified ROCm program as wavelift exec does, and checks what its kernels do: data races,
/// accesses out of bounds or of freed memory, barriers. All processes that it starts are checked.
/// Kernels run one after the other, on one thread each.
#[derive(clap::Args)]
#[command(
    override_usage = "wavelift check exec [OPTIONS] PROGRAM [ARGUMENTS]...",
    after_help = "Examples:
  wavelift check exec ./vector_add
  wavelift check exec --engine interp --timeout 60 -- ./vector_add 1000000
  wavelift check exec --sarif --output findings.sarif ./run_tests.sh

Options stand before the program; what follows its name is its own. Without --output the report
follows the program's output; with --json and --sarif, standard output has the report alone, and
the program's output goes to standard error.

Exit status: 1 there are findings; otherwise the program's, as of wavelift exec; 2 it was not
started, 4 the report could not be written. --json has both."
)]
pub(super) struct Args {
    #[command(flatten)]
    guest: Guest,
    #[command(flatten)]
    reporting: Reporting,
    /// Write the report into this file
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    program: Program,
}

/// Runs the program and reports.
pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    refuse_variables()?;
    let mut suppressions = args.reporting.suppressions()?;
    let output = args.output.as_deref().map(NewFile::named).transpose()?;
    let home = tempfile::Builder::new()
        .prefix("wavelift-findings-")
        .tempdir();
    let home = home.with_context(|| {
        format!(
            "cannot make a folder for findings in {}; TMPDIR names another one",
            std::env::temp_dir().display()
        )
    })?;
    let ended = run(args, home.path(), out)?;
    let folder = Folder::new(home.path().to_owned());
    let results = results(args, &ended, &folder, &mut suppressions)?;
    let status = match output {
        Some(file) => args.reporting.write(&results, file)?,
        None => args.reporting.print(&results, out)?,
    };
    if status != Status::Success {
        return Ok(status);
    }
    out.flush()?;
    // This process ends as the program did, without a return.
    drop(home);
    wait::end(ended.status)
}

/// Variables of the HSA library that it refuses together with the sanitizer.
fn refuse_variables() -> anyhow::Result<()> {
    for name in findings::EXCLUDED {
        let value = std::env::var_os(name).unwrap_or_default();
        if !value.is_empty() && value != "0" {
            bail!("{name} is set, which check exec cannot be combined with; unset it");
        }
    }
    Ok(())
}

/// Runs the program, which writes into this folder.
fn run(args: &Args, folder: &Path, out: &mut Output) -> anyhow::Result<Ended> {
    let mut started = args.guest.prepare(&args.program)?;
    let command = &mut started.command;
    command.env(findings::VARIABLE, folder);
    let reporting = &args.reporting;
    if args.output.is_none() && (reporting.json || reporting.sarif) {
        let stderr = io::stderr().as_fd().try_clone_to_owned();
        command.stdout(Stdio::from(
            stderr.context("cannot pass standard error on")?,
        ));
    }
    out.flush()?;
    wait::run(command, args.program.name())
}

/// What the processes of the program have written, as a report.
fn results(
    args: &Args,
    ended: &Ended,
    folder: &Folder,
    suppressions: &mut Suppressions,
) -> anyhow::Result<Results> {
    let processes = folder.processes()?;
    let name = args.program.name().display();
    if processes.is_empty() && ended.used {
        let error = io::Error::other("no process of the program could, see above");
        return Err(Unwritten::new("findings", error).into());
    }
    let kernels = kernels(&processes);
    if kernels.is_empty() && ended.used {
        say(format_args!("{name} launched no kernel"));
    }
    let wanted = kernels.iter().filter(|name| args.reporting.wants(name));
    let wanted = wanted.count();
    if let (Some(kernel), 0) = (&args.reporting.kernel, wanted)
        && !kernels.is_empty()
    {
        let all: Vec<_> = kernels.into_iter().collect();
        let all = all.join(", ");
        bail!("{name} launched no kernel `{kernel}`, but these: {all}");
    }
    let mut none = Suppressions::default();
    let mut report = Report {
        folder,
        maps: HashMap::new(),
        scope: Scope {
            reporting: &args.reporting,
            notes: args.reporting.notes,
            suppressions: [suppressions, &mut none],
        },
        results: Results {
            routines: wanted,
            ran: Some(Ran {
                processes: processes.len(),
                launches: processes.iter().map(Process::launched).sum(),
                status: ended.status.code(),
                signal: ended.status.signal(),
            }),
            ..Results::default()
        },
    };
    for process in processes {
        report.add(process)?;
    }
    let mut results = report.results;
    results.unused.extend(suppressions.unused(|_| true));
    Ok(results)
}

/// The kernels that were launched.
fn kernels(processes: &[Process]) -> BTreeSet<&str> {
    let launches = processes.iter().flat_map(|process| process.launches.keys());
    launches.map(String::as_str).collect()
}

/// A report that is being made.
struct Report<'a> {
    folder: &'a Folder,
    /// By name of the code object: its target and source lines.
    maps: HashMap<String, (String, SourceMap)>,
    scope: Scope<'a>,
    results: Results,
}

impl Report<'_> {
    /// Adds the findings of a process.
    fn add(&mut self, process: Process) -> anyhow::Result<()> {
        for one in process.findings {
            if !self.scope.reporting.wants(&one.kernel) {
                continue;
            }
            let (target, at) = self.place(&process.program, one.at)?;
            let other = one.other.map(|other| self.place(&process.program, other));
            let other = other.transpose()?.map(|(_, other)| other);
            let name = |address| element(&one.finding, address);
            let described = Described::at(&one.finding, name, at, other);
            let rule = (described.rule, described.severity);
            let (program, kernel) = (process.program.as_str(), one.kernel.as_str());
            let place = (program, kernel, described.at.address);
            if !self.results.admits(&mut self.scope, rule, place) {
                continue;
            }
            let launched = Launched {
                process: process.id,
                number: one.launch,
                count: one.launches,
            };
            self.results.reported.push(Reported {
                file: process.program.clone(),
                target,
                routine: one.kernel,
                rule: described.rule,
                severity: described.severity,
                why: described.why,
                at: described.at,
                other: described.other,
                found: Some(Found {
                    launch: Some(launched),
                    ..Found::new(&one.finding, described.what)
                }),
            });
        }
        Ok(())
    }

    /// The target and the place of an instruction.
    fn place(&mut self, program: &str, one: Instruction) -> anyhow::Result<(String, Place)> {
        if !self.maps.contains_key(&one.code_object) {
            let bytes = self.folder.code(&one.code_object)?;
            let object = CodeObject::parse(&bytes).with_context(|| program.to_owned())?;
            let map = source_map(program, &object);
            let known = (object.target.to_string(), map);
            self.maps.insert(one.code_object.clone(), known);
        }
        let (target, map) = &self.maps[&one.code_object];
        let line = map.location(one.address);
        let place = Place {
            address: one.address,
            line: line.map(|at| (at.file.to_owned(), at.line)),
            text: one.text,
        };
        Ok((target.clone(), place))
    }
}

/// An address in an allocation.
fn element(found: &Finding, address: u64) -> String {
    match found.nearest.filter(|near| near.has(address)) {
        Some(near) => format!(
            "0x{address:x} (in allocation of {} bytes at 0x{:x}, offset {})",
            near.len,
            near.start,
            address - near.start
        ),
        None => format!("0x{address:x}"),
    }
}
