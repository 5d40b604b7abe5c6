//! `wavelift run`: runs a manifest once, writes its outputs and checks its expectations.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use wavelift::manifest::{Array, Manifest, npy};
use wavelift::{Device, EngineKind, Error, Settings};

use super::Status;
use super::options::{EngineChoice, RunOptions, engine_name};
use super::output::{Output, complain};
use super::progress::Progress;
use super::report::{DispatchReport, ExpectReport, Report, Times, time};
use super::session::Session;

/// Runs the dispatches of a launch manifest, writes outputs and checks expectations.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift run examples/saxpy/saxpy.gfx900.toml
  wavelift run examples/saxpy/saxpy.bundle.toml --target gfx906
  wavelift run examples/mandelbrot/mandelbrot.gfx803.toml --out /tmp/out
  wavelift run examples/sha256/sha256.gfx600.toml --engine interp --threads 1 --json

Exit status: 0 all ran and every expectation holds; 1 an expectation does not hold; 2 bad usage or
bad input, nothing ran; 3 the guest faulted.")]
pub(super) struct Args {
    #[command(flatten)]
    options: RunOptions,
    #[command(flatten)]
    engine: EngineChoice,
    /// Write outputs into this folder instead of the manifest's
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Report accesses outside the exact allocation, and reads of LDS and scratch that were never
    /// written; slow
    #[arg(long)]
    memcheck: bool,
    /// Count instructions (the interpreter always does)
    #[arg(long)]
    count: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let manifest = Manifest::load(&args.options.manifest)?;
    let files = output_files(&manifest, args.out.as_deref())?;
    let mut options = args.options.device(&args.engine);
    options.memcheck = args.memcheck;
    let engine = options.engine;
    let device = Device::with_options(options)?;
    let mut session = Session::new(manifest, device, args.options.target.as_deref())?;
    session.forget_inputs();

    let counting = args.count || engine == EngineKind::Interp;
    let mut report = Report {
        ok: false,
        engine: engine_name(engine),
        runs: None,
        dispatches: Vec::new(),
        expect: Vec::new(),
        fault: None,
        #[cfg(feature = "jit")]
        profile: None,
    };
    let fault = launch_all(&session, counting, &mut report)?;
    let status = match &fault {
        Some(fault) => {
            report.fault = fault.fault().map(Into::into);
            Status::Fault
        }
        None => {
            for ((buffer, path), output) in files.iter().zip(&session.manifest.outputs) {
                let array = session.read(*buffer)?;
                write_array(path, &array)
                    .map_err(|error| anyhow::anyhow!("cannot write {}: {error}", path.display()))
                    .with_context(|| format!("outputs.{}", output.place.key))?;
            }
            let results = session.compare()?;
            let results = results
                .iter()
                .map(|(name, result)| ExpectReport::new(name, result));
            report.expect = results.collect();
            match report.expect.iter().all(|result| result.ok) {
                true => Status::Success,
                false => Status::Mismatch,
            }
        }
    };
    report.ok = status == Status::Success;
    if args.json {
        out.json(&report)?;
    } else {
        print(&report, &files, fault.is_none(), out)?;
    }
    warn_of_failures(&report);
    if let Some(fault) = fault {
        // Earlier output precedes the fault.
        out.flush()?;
        complain(format_args!("fault: {fault}"));
    }
    Ok(status)
}

/// Launches every dispatch in order; the fault that ended it.
fn launch_all(
    session: &Session,
    counting: bool,
    report: &mut Report,
) -> anyhow::Result<Option<Error>> {
    let groups = session
        .dispatches
        .iter()
        .map(|planned| planned.workgroups.saturating_mul(planned.repeat));
    let progress = Progress::new(groups.fold(0, u64::saturating_add));
    let settings = Settings {
        counting,
        progress: Some(progress.counter()),
        ..session.device.settings()
    };
    for planned in &session.dispatches {
        let mut about = DispatchReport::new(planned.kernel.name(), planned.repeat);
        for _ in 0..planned.repeat {
            match session.launch(planned, &settings) {
                Ok(stats) => about.add(&stats, counting),
                Err(error) if error.fault().is_some() => return Ok(Some(error)),
                Err(error) => return Err(error.into()),
            }
        }
        report.dispatches.push(about);
    }
    Ok(None)
}

fn print(
    report: &Report,
    files: &[(usize, PathBuf)],
    ran: bool,
    out: &mut Output,
) -> anyhow::Result<()> {
    for dispatch in &report.dispatches {
        let DispatchReport {
            kernel,
            workgroups,
            waves,
            ..
        } = dispatch;
        let repeat = match dispatch.repeat {
            1 => String::new(),
            n => format!(" in {n} launches"),
        };
        write!(
            out,
            "{kernel}: {workgroups} workgroups, {waves} waves{repeat}"
        )?;
        if dispatch.translate_s != 0.0 {
            write!(out, ", translated in {}", time(dispatch.translate_s))?;
            if dispatch.regions_cached != 0 {
                let (cached, new) = (dispatch.regions_cached, dispatch.regions_translated);
                write!(out, " ({cached} regions cached, {new} new)")?;
            }
        }
        if dispatch.regions_improved != 0 {
            let (n, time) = (dispatch.regions_improved, time(dispatch.improve_s));
            write!(out, ", {n} hot regions again in the background in {time}")?;
        }
        if let Times::One(seconds) = dispatch.execute_s {
            write!(out, ", ran {}", time(seconds))?;
        }
        if let (Some(count), Some(lanes)) = (dispatch.instructions, dispatch.lane_instructions) {
            write!(out, ", {count} instructions ({lanes} by lane)")?;
        }
        writeln!(out)?;
        print_fallbacks(dispatch, out)?;
        print_exports(dispatch, out)?;
    }
    if ran {
        for (_, path) in files {
            writeln!(out, "wrote {}", path.display())?;
        }
    }
    for result in &report.expect {
        writeln!(out, "{}", result.line())?;
    }
    Ok(())
}

/// Warns where translations could not be kept.
pub(super) fn warn_of_failures(report: &Report) {
    let failures: u64 = report.dispatches.iter().map(|d| d.cache_failures).sum();
    if failures != 0 {
        complain(format_args!(
            "warning: {failures} translations could not be written to the folder given by --cache"
        ));
    }
}

/// Prints the instructions that the translator left to the interpreter.
pub(super) fn print_fallbacks(dispatch: &DispatchReport, out: &mut Output) -> anyhow::Result<()> {
    if dispatch.fallbacks != 0 {
        let names = dispatch.fallback_names.iter();
        let names: Vec<_> = names
            .map(|(name, count)| format!("{name} {count}"))
            .collect();
        let (count, names) = (dispatch.fallbacks, names.join(", "));
        writeln!(out, "  {count} instructions were interpreted: {names}")?;
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
        writeln!(out, "  {count} exports, which nothing takes: {names}")?;
    }
    Ok(())
}

/// Target files of the outputs; creates the folder if one is given.
fn output_files(
    manifest: &Manifest,
    folder: Option<&Path>,
) -> anyhow::Result<Vec<(usize, PathBuf)>> {
    if let Some(folder) = folder {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    let files = manifest.outputs.iter().map(|output| {
        let path = match folder {
            Some(folder) => folder.join(inside(&output.file)),
            None => manifest.folder().join(&output.file),
        };
        let parent = path
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty());
        match parent {
            Some(parent) if folder.is_some() => std::fs::create_dir_all(parent)
                .with_context(|| format!("cannot make the folder {}", parent.display()))?,
            Some(parent) if !parent.is_dir() => {
                let message = format!("there is no folder {}", parent.display());
                return Err(manifest.error(&output.place, message).into());
            }
            _ => {}
        }
        Ok((output.buffer, path))
    });
    files.collect()
}

/// A file name that stays inside a folder.
fn inside(file: &Path) -> PathBuf {
    let plain = |component: &Component<'_>| matches!(component, Component::Normal(_));
    if file.components().all(|component| plain(&component)) {
        return file.to_owned();
    }
    file.file_name().map(PathBuf::from).unwrap_or_default()
}

fn write_array(path: &Path, array: &Array) -> std::io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    if path.extension().is_some_and(|extension| extension == "npy") {
        npy::write(&mut file, array)?;
    } else {
        file.write_all(&array.bytes)?;
    }
    file.flush()
}
