//! `wavelift run`: runs manifests, or a kernel with options, writes outputs and checks expectations.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use wavelift::{DeviceOptions, EngineKind, Error, FaultKind, Profiling, Settings};

use super::Status;
use super::input::{self, Input, print_manifest};
use super::new_file::NewFile;
use super::one_liner::ARGUMENTS;
use super::options::{EngineChoice, RunOptions, engine_name};
use super::output::{Output, complain};
use super::progress::Progress;
use super::report::{DispatchReport, ExpectReport, FaultReport, Report};
use super::sandbox;
use super::session::{OutOfTime, Session, TimeLimit};

mod breaks;
mod cover;
mod evidence;
mod junit;
mod outputs;
mod print;
mod several;
mod show;
mod sink;
mod trace;
mod watch;

use breaks::BreakOptions;
use cover::Cover;
pub(super) use evidence::InstructionReport;
pub(super) use print::{print_fallbacks, print_report, warn_of_failures};
use several::{Json, Outcome};
pub(super) use show::Printed;
use trace::TraceOptions;
use watch::Watch;

/// Runs the dispatches of launch manifests, or a kernel given by options; writes outputs and checks expectations.
///
/// Several manifests are run one after the other, each on a device of its own, with a summary at the end.
#[derive(clap::Args)]
#[command(after_help = format!("{ARGUMENTS}\n\n{AFTER}"))]
pub(super) struct Args {
    /// Launch manifests; or one code object (.co), OpenCL C source (.cl) or HIP source (.hip), with --grid and --arg
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    options: RunOptions,
    #[command(flatten)]
    engine: EngineChoice,
    #[command(flatten)]
    trace: TraceOptions,
    #[command(flatten)]
    breaks: BreakOptions,
    /// Write outputs into this folder instead of the manifest's
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print a buffer at the end: y, y:0:16 (a slice as in Python), y:5,0:4 (in two dimensions)
    #[arg(long, value_name = "NAME[:SLICE]")]
    print: Vec<String>,
    /// Report accesses outside the exact allocation, and reads of LDS and scratch that were never
    /// written; slow
    #[arg(long)]
    memcheck: bool,
    /// Confine the process before the kernels run, by the kernel of Linux: it opens no file, has no
    /// network and starts no program then. A manifest's files must be in its folder
    #[arg(long)]
    sandbox: bool,
    /// Count instructions (the interpreter always does)
    #[arg(long)]
    count: bool,
    /// Merge coverage into this file, for wavelift coverage; slow
    #[arg(long, value_name = "FILE")]
    coverage: Option<PathBuf>,
    /// Print how well the instructions are tested that were executed, weakest evidence first; slow. Not with
    /// --coverage, --trace or --break
    #[arg(long)]
    evidence: bool,
    /// Print one JSON object, or write it to a file
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    json: Option<PathBuf>,
    /// Write the results as a JUnit report, a test case for each manifest
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
}

const AFTER: &str = "\
Examples:
  wavelift run examples/saxpy/saxpy.gfx900.toml
  wavelift run examples/saxpy/saxpy.gfx900.co --grid 5120 --arg out:f32:5120 --arg random:f32:5120 --arg 2.5 --arg 5120 --print y:0:8
  wavelift run examples/saxpy/saxpy.cl --target gfx803 --grid 256 --arg fill:f32:256:1 --arg fill:f32:256:2 --arg 2.5 --arg 256
  wavelift run examples/*/*.gfx906.toml --junit report.xml
  wavelift run examples/mandelbrot/mandelbrot.gfx803.toml --out /tmp/out
  wavelift run examples/sha256/sha256.gfx600.toml --engine interp --threads 1 --json
  wavelift run examples/saxpy/saxpy.gfx900.toml --trace=saxpy:3:1 --trace-limit 20
  wavelift run examples/saxpy/saxpy.gfx900.toml --break saxpy+0x40 --break-limit 1
  wavelift run unknown/m.toml --sandbox --timeout 60

Exit status: 0 all ran and every expectation holds; 1 an expectation does not hold; 2 bad usage or
bad input, nothing ran; 3 the guest faulted or the time was over; 4 it ran, but a result could not be
written. Of several manifests the greatest counts; those behind one that failed are run, too.";

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    if args.options.kernel.emit_manifest {
        for file in &args.files {
            print_manifest(file, &args.options, out)?;
        }
        return Ok(Status::Success);
    }
    if args.sandbox {
        args.may_be_confined()?;
        return sandbox::run(out, |out| run_all(args, out));
    }
    run_all(args, out)
}

impl Args {
    /// An error if an option needs what a confined run does not have.
    fn may_be_confined(&self) -> anyhow::Result<()> {
        if self.files.len() > 1 {
            anyhow::bail!(
                "--sandbox confines the process for one run, but {} files are given",
                self.files.len()
            );
        }
        let others = [
            ("--trace", self.trace.trace.is_some()),
            ("--break", self.breaks.any()),
            ("--coverage", self.coverage.is_some()),
            ("--cache", self.options.keeps_code()),
        ];
        match others.iter().find(|(_, given)| *given) {
            Some((option, _)) => anyhow::bail!(
                "{option} opens files while the kernels run, which --sandbox does not permit; give one of them"
            ),
            None => Ok(()),
        }
    }
}

/// Runs the files one after the other.
fn run_all(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let watch = match args.breaks.any() {
        true => "--break",
        false => "--trace",
    };
    let watches = args.trace.trace.is_some() || args.breaks.any();
    if watches && args.files.len() > 1 {
        anyhow::bail!(
            "{watch} is about one launch manifest, but {} are given",
            args.files.len()
        );
    }
    if watches && args.coverage.is_some() {
        anyhow::bail!("--coverage and {watch} run the code in different ways; give one of them");
    }
    if watches && args.evidence {
        anyhow::bail!("--evidence and {watch} run the code in different ways; give one of them");
    }
    if args.evidence && args.coverage.is_some() {
        anyhow::bail!("--evidence and --coverage take the same counts; give one of them");
    }
    // What cannot be written is reported before anything runs.
    let json = match &args.json {
        None => Json::No,
        Some(path) if path.as_os_str() == "-" => Json::Output,
        Some(path) => Json::File(NewFile::named(path)?),
    };
    let junit = args.junit.as_deref().map(NewFile::named).transpose()?;
    if (args.trace.prints() || args.breaks.prints()) && matches!(json, Json::Output) {
        anyhow::bail!(
            "--json and {watch} both print to standard output; write one to a file: --json=FILE or {watch}-json=FILE"
        );
    }
    let watch_json = args.trace.prints_json() || args.breaks.prints_json();
    let text = !matches!(json, Json::Output) && !watch_json;
    let mut outcomes = Vec::new();
    for file in &args.files {
        if text && args.files.len() > 1 {
            writeln!(out, "{}:", file.display())?;
        }
        let begin = Instant::now();
        let mut report = None;
        let result = run(args, file, text, &mut report, out);
        let result = match result {
            // The only one's error is the command's, but a requested report is written first.
            Err(error) if args.files.len() == 1 && junit.is_none() => return Err(error),
            result => result,
        };
        if let (Err(error), false) = (&result, args.files.len() == 1) {
            out.flush()?;
            complain(format_args!("error: {error:#}"));
        }
        outcomes.push(Outcome {
            name: file.display().to_string(),
            result,
            report,
            seconds: begin.elapsed().as_secs_f64(),
        });
    }
    several::finish(outcomes, json, junit, out)
}

/// Runs a file; the report is there as soon as anything ran.
fn run(
    args: &Args,
    file: &Path,
    text: bool,
    report: &mut Option<Report>,
    out: &mut Output,
) -> anyhow::Result<Status> {
    let input = match args.sandbox {
        true => input::load_inside(file, &args.options)?,
        false => input::load(file, &args.options)?,
    };
    let wanted = Wanted::open(&input, &args.print, args.out.as_deref())?;
    let mut options = input.placed(DeviceOptions {
        memcheck: args.memcheck,
        ..args.options.device(&args.engine)
    });
    let counts = args.evidence || args.coverage.is_some();
    options.engine_options.profile = counts.then_some(Profiling::Coverage);
    let limit = options.timeout;
    let mut watch = Watch::new(args, options)?;
    let engine = watch.engine();
    let mut session = input.session(watch.device().clone(), &args.options)?;
    session.forget_inputs();
    watch.aim(&session)?;
    let target = args.options.target.as_deref();
    let cover = args.coverage.as_deref();
    let cover = cover.map(|path| Cover::new(path, &session, target));
    let cover = cover.transpose()?;

    if args.sandbox {
        sandbox::confine()?;
    }
    let counting = args.count || engine == EngineKind::Interp;
    let report = report.insert(Report::new(engine_name(engine)));
    let stop = launch_all(&session, counting, limit, report, &mut watch, out)?;
    watch.finish()?;
    let covered = cover.map_or(Ok(()), |cover| cover.finish(&session));
    report.evidence = args.evidence.then(|| evidence::collect(&session));
    let mut written = Vec::new();
    let status = match &stop {
        Some(stop) => {
            report.fault = stop.report();
            Status::Fault
        }
        None => {
            let (status, files) = wanted.collect(&session, report)?;
            written = files;
            status
        }
    };
    report.ok = status == Status::Success;
    if text {
        print_report(report, &written, out)?;
        if let Some(all) = &report.evidence {
            evidence::print(all, out)?;
        }
    }
    warn_of_failures(report);
    if let Some(stop) = stop {
        // Earlier output precedes the fault.
        out.flush()?;
        complain(format_args!("{}", stop.message()));
    }
    covered.map(|()| status)
}

/// What is done with the results of a run: files that are written, buffers that are printed.
pub(super) struct Wanted {
    files: Vec<outputs::Opened>,
    shown: Vec<show::Selection>,
}

impl Wanted {
    /// Opens the files, in `folder` if one is given, and looks up the buffers of `--print`, so that errors are reported
    /// before anything runs.
    pub(super) fn open(
        input: &Input,
        print: &[String],
        folder: Option<&Path>,
    ) -> anyhow::Result<Wanted> {
        let shown = show::find(&input.manifest, print)?;
        let files = outputs::open(input, folder)?;
        Ok(Wanted { files, shown })
    }

    /// Writes and reports what the buffers have now, and compares it with what is expected; the status, and the names of
    /// the files.
    pub(super) fn collect(
        self,
        session: &Session,
        report: &mut Report,
    ) -> anyhow::Result<(Status, Vec<String>)> {
        let mut written = Vec::new();
        for file in self.files {
            let array = session.read(file.buffer)?;
            written.push(file.write(&array)?);
        }
        for selection in &self.shown {
            let array = session.read(selection.buffer)?;
            report.print.push(selection.of(&array)?);
        }
        let results = session.compare()?;
        let results = results
            .iter()
            .map(|(name, result)| ExpectReport::new(name, result));
        report.expect = results.collect();
        let status = match report.expect.iter().all(|result| result.ok) {
            true => Status::Success,
            false => Status::Mismatch,
        };
        Ok((status, written))
    }
}

/// What ended a run before its end.
enum Stop {
    /// A fault of the guest, and the time limit of the run.
    Fault(Error, Option<Duration>),
    /// The time was over between two launches.
    Time(OutOfTime),
}

impl Stop {
    fn message(&self) -> String {
        match self {
            Stop::Fault(error, limit) => {
                let limit = limit.filter(|limit| match error.fault().map(|fault| &fault.kind) {
                    Some(FaultKind::Timeout { seconds }) => *seconds < limit.as_secs_f64(),
                    _ => false,
                });
                let limit = limit.map_or(String::new(), |limit| {
                    format!("\n   the time limit of the run is {limit:?}")
                });
                format!("fault: {error}{limit}")
            }
            Stop::Time(error) => format!("fault: {error}"),
        }
    }

    fn report(&self) -> Option<FaultReport> {
        match self {
            Stop::Fault(error, _) => error.fault().map(Into::into),
            Stop::Time(error) => Some(FaultReport::out_of_time(error)),
        }
    }
}

/// Launches every dispatch in order; what ended it early.
fn launch_all(
    session: &Session,
    counting: bool,
    limit: Option<Duration>,
    report: &mut Report,
    watch: &mut Watch,
    out: &mut Output,
) -> anyhow::Result<Option<Stop>> {
    let groups = session
        .dispatches
        .iter()
        .map(|planned| planned.workgroups.saturating_mul(planned.repeat));
    let progress = Progress::new(groups.fold(0, u64::saturating_add), "workgroups");
    let mut settings = Settings {
        counting,
        progress: Some(progress.counter()),
        ..session.device.settings()
    };
    let time = TimeLimit::new(limit);
    for (number, planned) in session.dispatches.iter().enumerate() {
        let mut about = DispatchReport::new(&planned.kernel, planned.repeat);
        for _ in 0..planned.repeat {
            settings.timeout = match time.left(planned) {
                Ok(left) => left,
                Err(error) => return Ok(Some(Stop::Time(error))),
            };
            match watch.launch((number, planned), session, &settings, out)? {
                Ok(stats) => about.add(&stats, counting),
                Err(error) if error.fault().is_some() => {
                    return Ok(Some(Stop::Fault(error, limit)));
                }
                Err(error) => return Err(error.into()),
            }
        }
        report.dispatches.push(about);
    }
    Ok(None)
}
