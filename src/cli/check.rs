//! `wavelift check`: checks of code objects, and of what kernels do when they run.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use runtime::foreign;
use runtime::object::{self, CodeObject, LoadError, TargetId};
use wavelift::check::{Code, Finding, Place, Rule, Severity, check_code, routines};
use wavelift::manifest::{Manifest, read_whole};
use wavelift::sanitizer;
use wavelift::source::SourceMap;

use super::Status;
use super::input;
use super::options::RunOptions;
use super::output::{Output, complain};

mod dynamic;
mod json;
mod sarif;
mod suppress;
mod text;

use suppress::Suppressions;

/// Checks machine code without running it: waits for memory, required independent instructions,
/// registers, sizes. With --dynamic, runs launch manifests and checks what their kernels do: data races, accesses out of bounds,
/// reads of what nobody wrote, barriers. The table [check] of a manifest may ask for this, too (`wavelift help manifest`).
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
    /// Run the launch manifests and check what their kernels do, on one thread; not their code
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
    /// Suppressions of manifests that have suppressed nothing.
    unused: Vec<String>,
}

/// How a file is checked: by the options, and by its manifest where they say nothing.
struct Scope<'a> {
    args: &'a Args,
    target: Option<&'a TargetId>,
    notes: bool,
    shuffle: Option<u64>,
    /// Those of the command line, and those of the manifest.
    suppressions: [&'a mut Suppressions; 2],
}

impl Scope<'_> {
    /// Is a kernel or function to be checked?
    fn has(&self, routine: &str) -> bool {
        let only = self.args.kernel.as_deref();
        only.is_none_or(|name| name == routine)
    }
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

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let target: Option<TargetId> = args.target.as_deref().map(str::parse).transpose()?;
    let mut suppressions = match &args.suppress {
        Some(path) => Suppressions::read(path)?,
        None => Suppressions::default(),
    };
    let mut results = Results::default();
    let mut faulted = false;
    for path in &args.files {
        let mut scope = Scope {
            args,
            target: target.as_ref(),
            notes: args.notes,
            shuffle: args.running.shuffle,
            suppressions: [&mut suppressions, &mut Suppressions::default()],
        };
        if is_manifest(path) {
            faulted |= check_manifest(path, scope, &mut results)?;
        } else if args.dynamic {
            bail!(
                "{} is no launch manifest (.toml), which --dynamic runs; `wavelift run FILE --emit-manifest` makes one",
                foreign::path(path)
            );
        } else {
            check_file(path, &mut scope, &mut results)?;
        }
    }
    if let (Some(kernel), 0, false) = (&args.kernel, results.routines, args.dynamic) {
        bail!("there is no kernel or function `{kernel}`");
    }
    results.unused.extend(suppressions.unused(|_| true));
    let status = report(args, &results, out)?;
    Ok(if faulted { Status::Fault } else { status })
}

/// Checks a manifest as its `[check]` and the options say; was there a fault?
fn check_manifest(path: &Path, scope: Scope<'_>, results: &mut Results) -> anyhow::Result<bool> {
    let input = input::load(path, &RunOptions::default())?;
    let check = &input.manifest.check;
    let is_dynamic = scope.args.dynamic || check.dynamic;
    let is_static = !scope.args.dynamic;
    let mut own = Suppressions::new(path, check.suppressions.clone());
    let [given, _] = scope.suppressions;
    let mut scope = Scope {
        notes: scope.notes || check.notes,
        shuffle: scope.shuffle.or(check.shuffle),
        suppressions: [given, &mut own],
        ..scope
    };
    if is_static {
        for object in code_objects(&input.manifest) {
            check_file(object, &mut scope, results)?;
        }
    }
    let faulted = is_dynamic && dynamic::run(path, input, &mut scope, results)?;
    let ran = |rule: &str| match sanitizer::rules().any(|one| one.id == rule) {
        true => is_dynamic,
        false => is_static,
    };
    results.unused.extend(own.unused(ran));
    Ok(faulted)
}

/// Prints what was found.
fn report(args: &Args, results: &Results, out: &mut Output) -> anyhow::Result<Status> {
    for unused in &results.unused {
        complain(format_args!("{unused}"));
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
fn check_file(path: &Path, scope: &mut Scope<'_>, results: &mut Results) -> anyhow::Result<()> {
    let name = foreign::path(path).to_string();
    let bytes = read_whole(path).with_context(|| format!("cannot read {name}"))?;
    let entries = object::entries(&bytes).with_context(|| name.clone())?;
    let wanted = match scope.target {
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

fn check_object(file: &str, object: &CodeObject, scope: &mut Scope<'_>, results: &mut Results) {
    let map = SourceMap::read(object).unwrap_or_else(|error| {
        complain(format_args!("warning: {file}: no source lines: {error}"));
        SourceMap::of_symbols(object)
    });
    for named in routines(object) {
        if !scope.has(named.name) {
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
