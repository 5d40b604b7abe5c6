//! `wavelift check`: checks of code objects, and of what kernels do when they run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use runtime::foreign;
use runtime::object::{self, CodeObject, LoadError, TargetId};
use wavelift::check::{Code, Finding, Rule, Severity, check_code, routines};
use wavelift::manifest::{Manifest, read_whole};
use wavelift::source::SourceMap;

use super::Status;
use super::output::{Output, complain};

mod describe;
mod dynamic;
mod json;
mod sarif;
mod suppress;
mod text;

use suppress::Suppressions;

/// Checks machine code without running it: waits for memory, required independent instructions,
/// registers, sizes. With --dynamic, runs launch manifests and checks what their kernels do: data races, accesses out of bounds,
/// reads of what nobody wrote, barriers.
///
/// A finding is a defect, a note is not. Suppressed findings are not printed.
///
/// Exit status: 0 there are no findings, 1 there are some, 2 a file cannot be read, 3 a kernel faulted.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift check examples/saxpy/saxpy.gfx900.co
  wavelift check k.co --kernel sum --notes
  wavelift check examples/saxpy/saxpy.gfx900.toml --dynamic --shuffle 1
  wavelift check k.co --suppress known.toml --sarif > k.sarif")]
pub(super) struct Args {
    /// HSA code objects, offload bundles, or programs with HIP kernels; launch manifests (.toml), whose
    /// code objects are checked
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Run the launch manifests and check what their kernels do, on one thread
    #[arg(long)]
    dynamic: bool,
    #[command(flatten)]
    running: dynamic::Options,
    /// Check only the code for this target, such as gfx906 or gfx906:xnack-
    #[arg(long)]
    target: Option<String>,
    /// Check only this kernel or function
    #[arg(long)]
    kernel: Option<String>,
    /// Leave out the findings that this file names (TOML: [[suppress]] with rule, kernel and reason,
    /// optionally file and address)
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
    /// Print notes, too, such as redundant waits
    #[arg(long)]
    notes: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print a SARIF 2.1.0 log
    #[arg(long, conflicts_with = "json")]
    sarif: bool,
}

/// An instruction.
struct Place {
    address: u64,
    text: String,
    /// File and line of the source.
    line: Option<(String, u32)>,
}

/// Where in a run something was found.
struct Found {
    /// What was accessed, such as `y[3]`; nothing for barriers.
    what: Option<String>,
    /// Guest address, or offset in LDS.
    address: Option<u64>,
    /// By whom, and before, by whom.
    at: Actor,
    other: Option<Actor>,
    /// How often.
    count: u64,
}

/// Who executed an instruction.
struct Actor {
    workgroup: [u32; 3],
    wave: u32,
    lane: Option<u32>,
}

/// A finding or a note.
struct Reported {
    file: String,
    target: String,
    routine: String,
    rule: &'static Rule,
    severity: Severity,
    why: String,
    at: Place,
    other: Option<Place>,
    /// Of a dynamic check.
    found: Option<Found>,
}

/// Code that was not checked, or not by all rules.
struct Unchecked {
    file: String,
    /// All of a code object if there is none.
    routine: Option<String>,
    why: String,
}

/// All that was found.
#[derive(Default)]
struct Results {
    reported: Vec<Reported>,
    /// Notes that are not among them.
    notes: usize,
    suppressed: usize,
    routines: usize,
    instructions: usize,
    unchecked: Vec<Unchecked>,
}

impl Results {
    fn findings(&self) -> usize {
        let all = self.reported.iter();
        all.filter(|found| found.severity == Severity::Finding)
            .count()
    }

    /// Is something found at an address of a file's routine to be reported? Otherwise it is counted: suppressed, or a note
    /// that is not asked for.
    fn admits(
        &mut self,
        args: &Args,
        suppressions: &mut Suppressions,
        (rule, severity): (&Rule, Severity),
        (file, routine, address): (&str, &str, u64),
    ) -> bool {
        let suppressed = suppressions.has(file, routine, rule.id, address);
        let hidden = severity == Severity::Note && !args.notes;
        if suppressed {
            self.suppressed += usize::from(severity == Severity::Finding);
        } else if hidden {
            self.notes += 1;
        }
        !suppressed && !hidden
    }
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    let mut suppressions = match &args.suppress {
        Some(path) => Suppressions::read(path)?,
        None => Suppressions::default(),
    };
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
    if let (Some(kernel), 0) = (&args.kernel, results.routines) {
        bail!("there is no kernel or function `{kernel}`");
    }
    report(args, &results, &suppressions, out)
}

/// Prints what was found.
fn report(
    args: &Args,
    results: &Results,
    suppressions: &Suppressions,
    out: &mut Output,
) -> anyhow::Result<Status> {
    for unused in suppressions.unused() {
        complain(format_args!("note: nothing is suppressed by {unused}"));
    }
    if args.json {
        out.json(&json::report(results))?;
    } else if args.sarif {
        out.json(&sarif::log(results))?;
    } else {
        text::print(results, out)?;
    }
    Ok(match results.findings() {
        0 => Status::Success,
        _ => Status::Mismatch,
    })
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

fn check_object(
    file: &str,
    object: &CodeObject,
    args: &Args,
    suppressions: &mut Suppressions,
    results: &mut Results,
) {
    let map = SourceMap::read(object).unwrap_or_else(|error| {
        complain(format_args!("warning: {file}: no source lines: {error}"));
        SourceMap::of_symbols(object)
    });
    for named in routines(object) {
        if args
            .kernel
            .as_deref()
            .is_some_and(|name| name != named.name)
        {
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
            if !results.admits(args, suppressions, rule, (file, named.name, address)) {
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
