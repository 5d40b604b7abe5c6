//! `wavelift check`: checks of code objects, and of what kernels do when they run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use runtime::foreign;
use runtime::object::{self, CodeObject, LoadError, TargetId};
use wavelift::check::{Code, Finding, check_code, routines};
use wavelift::manifest::{Manifest, read_whole};
use wavelift::source::SourceMap;

use super::Status;
use super::output::{Output, complain};

mod describe;
mod dynamic;
mod json;
#[cfg(unix)]
mod program;
mod reporting;
mod sarif;
mod suppress;
mod text;

use reporting::{Found, Place, Reported, Reporting, Results, Unchecked};
use suppress::Suppressions;

/// Checks machine code without running it: waits for memory, required independent instructions,
/// registers, sizes. With --dynamic, runs launch manifests and checks what their kernels do: data races, accesses out of bounds,
/// reads of what nobody wrote, barriers.
///
/// A finding is a defect, a note is not. Suppressed findings are not printed.
///
/// Exit status: 0 there are no findings, 1 there are some, 2 a file cannot be read, 3 a kernel faulted.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    disable_help_subcommand = true,
    after_help = "Examples:
  wavelift check examples/saxpy/saxpy.gfx900.co
  wavelift check k.co --kernel sum --notes
  wavelift check examples/saxpy/saxpy.gfx900.toml --dynamic --shuffle 1
  wavelift check exec ./hip_program
  wavelift check k.co --suppress known.toml --sarif > k.sarif

A file with the name of a command is given with its folder: ./exec"
)]
pub(super) struct Args {
    /// HSA code objects, offload bundles, or programs with HIP kernels; launch manifests (.toml), whose
    /// code objects are checked
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Run the launch manifests and check what their kernels do, on one thread
    #[arg(long)]
    dynamic: bool,
    /// Check only the code for this target, such as gfx906 or gfx906:xnack-
    #[arg(long)]
    target: Option<String>,
    #[command(flatten)]
    reporting: Reporting,
    #[command(flatten)]
    running: dynamic::Options,
    #[cfg(unix)]
    #[command(subcommand)]
    program: Option<program::Command>,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    #[cfg(unix)]
    if let Some(program::Command::Exec(args)) = &args.program {
        return program::execute(args, out);
    }
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    let mut suppressions = args.reporting.suppressions()?;
    let mut results = Results::default();
    if args.dynamic {
        return dynamic::execute(args, &mut suppressions, out);
    }
    for path in &args.files {
        match is_manifest(path) {
            true => {
                for object in code_objects(path)? {
                    check_file(
                        &object,
                        args,
                        target.as_ref(),
                        &mut suppressions,
                        &mut results,
                    )?;
                }
            }
            false => check_file(path, args, target.as_ref(), &mut suppressions, &mut results)?,
        }
    }
    if let (Some(kernel), 0) = (&args.reporting.kernel, results.routines) {
        bail!("there is no kernel or function `{kernel}`");
    }
    args.reporting.print(&results, &suppressions, out)
}

/// Is it a launch manifest?
fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// The code objects of a launch manifest, each once.
fn code_objects(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let manifest = Manifest::load(path)?;
    let mut objects: Vec<PathBuf> = Vec::new();
    for dispatch in manifest.dispatches {
        if !objects.contains(&dispatch.code_object) {
            objects.push(dispatch.code_object);
        }
    }
    Ok(objects)
}

/// Checks all code of a file.
fn check_file(
    path: &Path,
    args: &Args,
    target: Option<&TargetId>,
    suppressions: &mut Suppressions,
    results: &mut Results,
) -> anyhow::Result<()> {
    let name = foreign::path(path).to_string();
    let bytes = read_whole(path).with_context(|| format!("cannot read {name}"))?;
    let entries = object::entries(&bytes).with_context(|| name.clone())?;
    let wanted = match target {
        Some(target) => object::candidates(&entries, Some(target)).with_context(|| name.clone())?,
        None => entries.iter().filter(|entry| entry.is_amdgcn()).collect(),
    };
    if wanted.is_empty() {
        bail!("{name}: no code for AMD GPUs in it");
    }
    let several = wanted.len() > 1;
    for entry in wanted {
        match CodeObject::parse(entry.code()) {
            Ok(object) => check_object(&name, &object, args, suppressions, results),
            // Libraries also contain code for other GPUs.
            Err(
                error @ (LoadError::UnsupportedTarget { .. } | LoadError::UnknownMachine { .. }),
            ) if several => results.unchecked.push(Unchecked {
                file: name.clone(),
                routine: None,
                why: error.to_string(),
            }),
            Err(error) => return Err(error).context(name),
        }
    }
    Ok(())
}

/// The source lines of a code object; a complaint where they are damaged.
fn source_map(file: &str, object: &CodeObject) -> SourceMap {
    SourceMap::read(object).unwrap_or_else(|error| {
        complain(format_args!("warning: {file}: no source lines: {error}"));
        SourceMap::of_symbols(object)
    })
}

fn check_object(
    file: &str,
    object: &CodeObject,
    args: &Args,
    suppressions: &mut Suppressions,
    results: &mut Results,
) {
    let map = source_map(file, object);
    for named in routines(object) {
        if !args.reporting.wants(named.name) {
            continue;
        }
        let code = Code::new(&named.routine);
        let report = check_code(&named.routine, &code);
        results.routines += 1;
        results.instructions += code.items.len();
        let unchecked = report.unchecked.iter().map(|why| Unchecked {
            file: file.to_owned(),
            routine: Some(named.name.to_owned()),
            why: why.clone(),
        });
        results.unchecked.extend(unchecked);
        let place = |index: usize| {
            let item = &code.items[index];
            let line = map.location(item.address);
            Place {
                address: item.address,
                text: item.inst.text(code.gfx),
                line: line.map(|at| (at.file.to_owned(), at.line)),
            }
        };
        let mut all: Vec<Finding> = report.redundant_notes();
        all.extend(report.findings);
        all.sort_by_key(|found| (found.severity, found.at));
        for found in all {
            let address = code.items[found.at].address;
            let rule = (found.rule, found.severity);
            let place_of = (file, named.name, address);
            if !results.admits(&args.reporting, suppressions, rule, place_of) {
                continue;
            }
            results.reported.push(Reported {
                file: file.to_owned(),
                target: object.target.to_string(),
                routine: named.name.to_owned(),
                rule: found.rule,
                severity: found.severity,
                at: place(found.at),
                other: found.other.map(place),
                found: None,
                why: found.why,
            });
        }
    }
}
