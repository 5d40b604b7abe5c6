//! `wavelift check`: checks of code objects, and of what kernels do when they run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use runtime::foreign;
use runtime::object::{self, CodeObject, LoadError, TargetId};
use wavelift::check::{Code, Finding, Place, check_code, routines};
use wavelift::manifest::{Manifest, read_whole};
use wavelift::sanitizer;
use wavelift::source::SourceMap;

use super::Status;
use super::input;
use super::options::RunOptions;
use super::output::{Output, complain};

mod dynamic;
mod json;
#[cfg(unix)]
mod program;
mod reporting;
mod sarif;
mod suppress;
mod text;

use reporting::{Found, Reported, Reporting, Results, Scope, Unchecked};
use suppress::Suppressions;

/// Checks machine code without running it: waits for memory, required independent instructions,
/// registers, sizes. With --dynamic, runs launch manifests and checks what their kernels do: data races, accesses out of bounds,
/// reads of what nobody wrote, barriers. The table [check] of a manifest requests the same (`wavelift help manifest`).
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
    /// Run the launch manifests and check what their kernels do, on one thread; not their code
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
    let mut faulted = false;
    for path in &args.files {
        let target = target.as_ref();
        if is_manifest(path) {
            faulted |= check_manifest(path, (args, target), &mut suppressions, &mut results)?;
        } else if args.dynamic {
            bail!(
                "{} is no launch manifest (.toml), which --dynamic runs; `wavelift run FILE --emit-manifest` makes one",
                foreign::path(path)
            );
        } else {
            let mut scope = Scope {
                reporting: &args.reporting,
                notes: args.reporting.notes,
                suppressions: [&mut suppressions, &mut Suppressions::default()],
            };
            check_file(path, target, &mut scope, &mut results)?;
        }
    }
    if let (Some(kernel), 0, false) = (&args.reporting.kernel, results.routines, args.dynamic) {
        bail!("there is no kernel or function `{kernel}`");
    }
    results.unused.extend(suppressions.unused(|_| true));
    let status = args.reporting.print(&results, out)?;
    Ok(if faulted { Status::Fault } else { status })
}

/// Checks a manifest as its `[check]` and the options say; was there a fault?
fn check_manifest(
    path: &Path,
    (args, target): (&Args, Option<&TargetId>),
    given: &mut Suppressions,
    results: &mut Results,
) -> anyhow::Result<bool> {
    let input = input::load(path, &RunOptions::default())?;
    let check = &input.manifest.check;
    let is_dynamic = args.dynamic || check.dynamic;
    let is_static = !args.dynamic;
    let mut own = Suppressions::new(path, check.suppressions.clone());
    let mut scope = Scope {
        reporting: &args.reporting,
        notes: args.reporting.notes || check.notes,
        suppressions: [given, &mut own],
    };
    if is_static {
        for object in code_objects(&input.manifest) {
            check_file(object, target, &mut scope, results)?;
        }
    }
    let faulted = is_dynamic && dynamic::run(path, input, &args.running, &mut scope, results)?;
    let ran = |rule: &str| match sanitizer::rules().any(|one| one.id == rule) {
        true => is_dynamic,
        false => is_static,
    };
    results.unused.extend(own.unused(ran));
    Ok(faulted)
}

/// Is it a launch manifest?
fn is_manifest(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "toml")
}

/// The code objects of a launch manifest, each once.
fn code_objects(manifest: &Manifest) -> Vec<&Path> {
    let mut objects: Vec<&Path> = Vec::new();
    for dispatch in &manifest.dispatches {
        if !objects.contains(&&*dispatch.code_object) {
            objects.push(&dispatch.code_object);
        }
    }
    objects
}

/// Checks all code of a file.
fn check_file(
    path: &Path,
    target: Option<&TargetId>,
    scope: &mut Scope<'_>,
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
            Ok(object) => check_object(&name, &object, scope, results),
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

fn check_object(file: &str, object: &CodeObject, scope: &mut Scope<'_>, results: &mut Results) {
    let map = source_map(file, object);
    for named in routines(object) {
        if !scope.reporting.wants(named.name) {
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
            if !results.admits(scope, rule, (file, named.name, address)) {
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
