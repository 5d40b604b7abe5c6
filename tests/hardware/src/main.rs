//! Makes kits, and compares recordings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use frontend::Gfx;
use hardware::compare::{self, Difference, Kind};
use hardware::kit::{Choice, read_cases};
use hardware::{Kit, Recorder, Recording, file};
use runtime::interp::Interpreter;

const USAGE: &str = "usage:
  hardware make TARGET FOLDER [--masks NAME,NAME...] [--every N] [--list]
      writes kit.data, kit.s and kit.co for a target such as gfx906; --list prints what is left out
  hardware compare RECORDING [--masks NAME,NAME...] [--every N] [--all]
      compares a recording with the cases and the interpreter; --all prints every difference
  hardware record TARGET FILE [--masks NAME,NAME...] [--every N]
      writes a recording of the interpreter
--masks and --every are those of the kit that the recording was made with; --cases FOLDER has the cases.";

/// Most differences of an instruction that are printed.
const SHOWN: usize = 3;

type Error = Box<dyn std::error::Error>;

struct Options {
    plain: Vec<String>,
    choice: Choice,
    cases: PathBuf,
    list: bool,
    all: bool,
}

fn options() -> Result<Options, Error> {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases");
    let mut options = Options {
        plain: Vec::new(),
        choice: Choice::default(),
        cases,
        list: false,
        all: false,
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or(format!("{arg} takes a value\n{USAGE}"));
        match arg.as_str() {
            "--masks" => options.choice.masks = value()?.split(',').map(str::to_owned).collect(),
            "--every" => {
                let value = value()?;
                let every = value.parse().ok().filter(|&n: &usize| n > 0);
                options.choice.every =
                    every.ok_or(format!("--every {value}: no positive number"))?;
            }
            "--cases" => options.cases = value()?.into(),
            "--list" => options.list = true,
            "--all" => options.all = true,
            _ if arg.starts_with('-') => {
                return Err(format!("unknown option {arg}\n{USAGE}").into());
            }
            _ => options.plain.push(arg),
        }
    }
    Ok(options)
}

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool, Error> {
    let options = options()?;
    let plain: Vec<&str> = options.plain.iter().map(String::as_str).collect();
    match plain[..] {
        ["make", target, folder] => make(&options, target, Path::new(folder)).map(|()| true),
        ["compare", recording] => compare(&options, Path::new(recording)),
        ["record", target, path] => {
            let kit = kit(&options, target)?;
            let recording = Recorder::new(&kit, &Interpreter)?.record()?;
            write(Path::new(path), recording.text().as_bytes())?;
            Ok(true)
        }
        _ => Err(USAGE.into()),
    }
}

fn kit(options: &Options, target: &str) -> Result<Kit, Error> {
    let gfx = file::target(target).ok_or_else(|| {
        let known = Gfx::list(" and ");
        format!("no kit for `{target}`; there are kits for {known}")
    })?;
    Ok(Kit::new(read_cases(&options.cases)?, gfx, &options.choice)?)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()).into())
}

fn make(options: &Options, target: &str, folder: &Path) -> Result<(), Error> {
    let kit = kit(options, target)?;
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    write(&folder.join("kit.data"), &kit.data())?;
    write(&folder.join("kit.s"), kit.assembly().as_bytes())?;
    write(&folder.join("kit.co"), &kit.code_object())?;
    println!(
        "kit {} for {}: {} cases with {} lines in {} runs; {} lines are left out",
        kit.digest(),
        kit.gfx,
        kit.cases,
        kit.lines,
        kit.runs.len(),
        kit.left_out.len(),
    );
    for (reason, count) in kit.reasons() {
        println!("    {count:5} {reason}");
    }
    if options.list {
        for left in &kit.left_out {
            println!("{}: {}: {}", left.name, left.text, left.reason);
        }
    }
    Ok(())
}

fn compare(options: &Options, path: &Path) -> Result<bool, Error> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| at(&error))?;
    let recording = Recording::parse(&bytes).map_err(|error| at(&error))?;
    let kit = kit(options, recording.get("target")).map_err(|error| at(&error))?;
    let mut differences = compare::with_cases(&kit, &recording).map_err(|error| at(&error))?;
    let recorder = Recorder::new(&kit, &Interpreter)?;
    let engine = recorder.record_only(|n| recording.runs.contains_key(&n))?;
    let known: Vec<u32> = differences
        .iter()
        .map(|difference| difference.run)
        .collect();
    let open = compare::with_engine(&kit, &recording, &engine).map_err(|error| at(&error))?;
    // Where the case is contradicted, the engine is too.
    differences.extend(
        open.into_iter()
            .filter(|d| known.binary_search(&d.run).is_err()),
    );
    print(&differences, options.all);
    let (missing, device) = (
        kit.runs.len() - recording.runs.len(),
        recording.get("device"),
    );
    println!(
        "{}: {} {device}: {} runs, {missing} missing, {} differences",
        path.display(),
        kit.gfx,
        recording.runs.len(),
        differences.len()
    );
    Ok(differences.is_empty())
}

/// Prints differences by instruction.
fn print(differences: &[Difference], all: bool) {
    let mut by_text: BTreeMap<(Kind, &str), Vec<&Difference>> = BTreeMap::new();
    for difference in differences {
        let key = (difference.kind, difference.text.as_str());
        by_text.entry(key).or_default().push(difference);
    }
    for ((kind, text), differences) in by_text {
        let kind = match kind {
            Kind::Case => "not as the case says",
            Kind::Failed => "failed",
            Kind::Engine => "left open by the case, not as the interpreter",
        };
        println!("{text}: {kind}");
        let shown = if all { differences.len() } else { SHOWN };
        for difference in differences.iter().take(shown) {
            let Difference {
                name,
                mask,
                what,
                run,
                ..
            } = difference;
            println!("    {name} (run {run}, exec {mask}): {what}");
        }
        if differences.len() > shown {
            println!("    and {} more", differences.len() - shown);
        }
    }
}
