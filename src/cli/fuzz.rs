//! `wavelift fuzz`: random programs on both engines, by ranges of seeds.

use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::ValueEnum;
use fuzz::{Campaign, Digest, Failure, Kind, Options, Settings};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use wavelift::Gfx;

use super::Status;
use super::options::{Shard, seconds, shard};
use super::output::Output;
use super::progress::Progress;
use super::report::counted;
use super::version;

mod emit;

use emit::{Emitted, Folder, quoted};

/// Runs random programs on the interpreter and on the translator, which must agree on all registers,
/// on memory and on faults.
///
/// Each seed is a program, and what is done for it depends on nothing but the options and the CPU's
/// instruction set. So a range of seeds can be divided among machines: each runs a shard of it, on one
/// thread. A program that differs is made smaller and printed, with the command that repeats it.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift fuzz --target gfx906 --seeds 0..100000
  wavelift fuzz --target gfx906 --seeds 0..100000 --shard 3/8 --json
  wavelift fuzz --target gfx900 --kind lines --seeds 0..500 --length 5000 --timeout 600
  wavelift fuzz --target gfx906 --seeds 0..100000 --emit differences

The digest is a sum of SHA-256 digests modulo 2^256, one of each seed: of its program, of the
interpreter's results, and of whether the engines agree. It is the same however the range is divided:
the digests of the shards, as numbers, add up to that of the whole range modulo 2^256.

Keys of --json: ok; complete (all seeds were run); stopped (null, or `timeout`, `signal`,
`failures`); version; build (commit and profile); cpu (features that translated code uses); target; kind;
options (those that decide what is done for a seed, but for the target); seeds (first and end, of the shard); done (seeds run); runs,
faults (runs of the interpreter, and those that ended in a fault); instructions; digest (of the seeds that
were run); failures: a list of seed, shape, max_block, checked, mode, exec, m0, program (text), code
(hexadecimal), differences (interpreter / translator), repeat (a command), manifest (its file, with
--emit), diff (the command that shows the difference of the manifest, if there is one).

--emit writes for each difference a launch manifest with the smallest program as a code object, and
the contents of registers and memory before it. A launch is translated by the default settings of
`wavelift diff`, a program of a campaign by many; so some differences do not show in it, which the
manifest says.

Exit status: 0 the engines agree; 1 they do not; 2 bad usage or input, nothing ran; 3 stopped by
--timeout, Ctrl-C or SIGTERM before the end, and no difference so far; 4 it ran, but a result could not
be written.")]
pub(super) struct Args {
    /// The target, such as gfx906
    #[arg(long)]
    target: Gfx,
    /// The seeds, from the first to the one before the end
    #[arg(long, value_name = "FIRST..END", value_parser = range)]
    seeds: Range<u64>,
    /// What is made of a seed
    #[arg(long, value_enum, default_value_t = KindName::Programs)]
    kind: KindName,
    /// Run only the I-th of N parts of the seeds, from 1/N to N/N
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Instructions of a program at most [default: 16; of lines: 700, at least 32]
    #[arg(long, value_name = "N")]
    length: Option<u32>,
    /// States that each program starts from; a line starts from one
    #[arg(long, value_name = "N", default_value_t = 2)]
    states: u32,
    /// Iterations of a loop at most
    #[arg(long, value_name = "N", default_value_t = 3)]
    loops: u32,
    /// Instructions of a block at most [default: the translator's limit, for some programs a random one]
    #[arg(long, value_name = "N")]
    max_block: Option<usize>,
    /// Run each program in all shapes of the translator, not in one that depends on the seed
    #[arg(long)]
    all_shapes: bool,
    /// Only shapes of the translator with this in their name, such as `avx2, wide`
    #[arg(long, value_name = "TEXT")]
    shape: Option<String>,
    /// No instructions with this in their name
    #[arg(long, value_name = "TEXT")]
    without: Option<String>,
    /// Only accesses inside allocations are permitted (not of lines, of which every fourth has that)
    #[arg(long)]
    checked: bool,
    /// Programs may only read the buffer that they access (not of lines)
    #[arg(long)]
    read_only: bool,
    /// Stop after so many programs that differ
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    max_failures: u32,
    /// Seconds after which no further seed is begun [default: none]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Write each difference to this folder, as a launch manifest for `wavelift diff`
    #[arg(long, value_name = "DIR", conflicts_with = "read_only")]
    emit: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// For tests, in debug builds: instead of the translator, an interpreter that computes this
    /// instruction wrong
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_name = "NAME")]
    wrong: Option<String>,
}

/// What is made of a seed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum KindName {
    /// Programs with blocks under masks, loops and barriers
    Programs,
    /// Long straight lines
    Lines,
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Kind {
        match name {
            KindName::Programs => Kind::Programs,
            KindName::Lines => Kind::Lines,
        }
    }
}

fn range(text: &str) -> Result<Range<u64>, String> {
    let numbers = text.split_once("..");
    let numbers = numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match numbers {
        Some((first, end)) if first < end => Ok(first..end),
        Some(_) => {
            Err("the range is empty; the end must be greater than the first seed".to_owned())
        }
        None => Err("write the first seed and the end, such as 0..1000".to_owned()),
    }
}

/// Where guest memory begins: far from where systems put programs, libraries and heaps.
const ADDRESS: u64 = 0x1000_0000_0000;

impl Args {
    fn settings(&self) -> Settings {
        let kind = Kind::from(self.kind);
        Settings {
            length: self.length.unwrap_or(kind.length()),
            states: self.states,
            address: Some(ADDRESS),
            options: Options {
                loops: self.loops,
                max_block: self.max_block,
                all_shapes: self.all_shapes,
                shapes: self.shape.clone(),
                without: self.without.clone(),
                checked: self.checked,
                read_only: self.read_only,
                #[cfg(debug_assertions)]
                wrong: self.wrong.clone(),
                ..Options::default()
            },
            ..Settings::new(self.target, kind)
        }
    }

    /// The command that runs one seed in the same way.
    fn repeat(&self, seed: u64) -> String {
        // The end of a range is exclusive, so the last seed of all is never run.
        let end = seed + 1;
        let options = self.campaign();
        format!(
            "wavelift fuzz --target {} --seeds {seed}..{end}{options}",
            self.target
        )
    }

    /// The options that decide what is done for a seed, but for the target.
    fn campaign(&self) -> String {
        // Writing to a string does not fail.
        let mut command = String::new();
        if self.kind != KindName::Programs {
            let _ = write!(command, " --kind {}", Kind::from(self.kind).name());
        }
        let mut option = |name: &str, value: Option<String>| {
            let _ = value.map(|value| write!(command, " --{name} {value}"));
        };
        let text = |text: &String| quoted(text);
        option("length", self.length.map(|n| n.to_string()));
        option(
            "states",
            (self.states != 2).then(|| self.states.to_string()),
        );
        option("loops", (self.loops != 3).then(|| self.loops.to_string()));
        option("max-block", self.max_block.map(|n| n.to_string()));
        option("shape", self.shape.as_ref().map(text));
        option("without", self.without.as_ref().map(text));
        #[cfg(debug_assertions)]
        option("wrong", self.wrong.as_ref().map(text));
        let flags = [
            ("all-shapes", self.all_shapes),
            ("checked", self.checked),
            ("read-only", self.read_only),
        ];
        for (name, _) in flags.into_iter().filter(|&(_, set)| set) {
            let _ = write!(command, " --{name}");
        }
        command
    }

    /// Writes a difference to the folder.
    fn emit(
        &self,
        folder: &Folder,
        seed: u64,
        failure: &Failure,
        repeat: &str,
    ) -> anyhow::Result<Emitted> {
        let kind = Kind::from(self.kind).name();
        let mut about = vec![
            format!(
                "wavelift fuzz: a difference between interpreter and translator on {}.",
                self.target
            ),
            format!("Kind {kind}, seed {seed}. To repeat it: {repeat}"),
        ];
        about.extend(failure.to_string().lines().map(str::to_owned));
        #[cfg(debug_assertions)]
        let wrong = self.wrong.iter();
        #[cfg(not(debug_assertions))]
        let wrong = std::iter::empty::<&String>();
        let wrong: Vec<String> = wrong
            .flat_map(|name| ["--wrong".to_owned(), name.clone()])
            .collect();
        let what = format!("{} {kind} {seed}", self.target);
        folder.write(self.target, failure, &what, &about, &wrong)
    }
}

/// Why not all seeds were run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Stopped {
    Timeout,
    Signal,
    Failures,
}

/// The object that `--json` prints.
#[derive(Serialize)]
struct Report {
    ok: bool,
    complete: bool,
    stopped: Option<Stopped>,
    version: &'static str,
    build: String,
    cpu: String,
    target: &'static str,
    kind: &'static str,
    options: String,
    seeds: [u64; 2],
    done: u64,
    runs: u64,
    faults: u64,
    instructions: u64,
    digest: String,
    failures: Vec<FailureReport>,
}

#[derive(Serialize)]
struct FailureReport {
    seed: u64,
    shape: String,
    max_block: usize,
    checked: bool,
    mode: u32,
    exec: u64,
    m0: u32,
    program: String,
    code: String,
    differences: Vec<String>,
    repeat: String,
    manifest: Option<String>,
    diff: Option<String>,
}

impl FailureReport {
    fn new(seed: u64, failure: Failure, repeat: String, emitted: Option<Emitted>) -> FailureReport {
        let (manifest, diff) = match emitted {
            Some(emitted) => (Some(emitted.manifest), emitted.diff),
            None => (None, None),
        };
        FailureReport {
            seed,
            shape: failure.shape,
            max_block: failure.max_block,
            checked: failure.checked,
            mode: failure.mode,
            exec: failure.exec,
            m0: failure.m0,
            program: failure.text,
            code: failure
                .code
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            differences: failure.differences,
            repeat,
            manifest,
            diff,
        }
    }
}

/// Set by Ctrl-C and by the signal with which schedulers end a job. A second Ctrl-C ends the program at once.
fn stop_signal() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    // 128 and the signal's number, as shells say it.
    signal_hook::flag::register_conditional_shutdown(SIGINT, 130, stop.clone())
        .and_then(|_| signal_hook::flag::register(SIGINT, stop.clone()))
        .and_then(|_| signal_hook::flag::register(SIGTERM, stop.clone()))
        .context("cannot handle signals")?;
    Ok(stop)
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let seeds = match args.shard {
        Some(shard) => shard.of(&args.seeds),
        None => args.seeds.clone(),
    };
    let mut campaign = Campaign::new(args.settings())?;
    let folder = args.emit.as_deref().map(Folder::create).transpose()?;
    let stop = stop_signal()?;
    let mut report = Report {
        ok: true,
        complete: false,
        stopped: None,
        version: env!("CARGO_PKG_VERSION"),
        build: version::build(),
        cpu: version::cpu(),
        target: args.target.name(),
        kind: Kind::from(args.kind).name(),
        options: args.campaign().trim_start().to_owned(),
        seeds: [seeds.start, seeds.end],
        done: 0,
        runs: 0,
        faults: 0,
        instructions: 0,
        digest: String::new(),
        failures: Vec::new(),
    };
    let mut digest = Digest::default();
    let progress = Progress::new(seeds.end - seeds.start, "seeds");
    let begin = Instant::now();
    for seed in seeds {
        report.stopped = if stop.load(Relaxed) {
            Some(Stopped::Signal)
        } else if args.timeout.is_some_and(|limit| begin.elapsed() >= limit) {
            Some(Stopped::Timeout)
        } else if report.failures.len() >= args.max_failures as usize {
            Some(Stopped::Failures)
        } else {
            None
        };
        if report.stopped.is_some() {
            break;
        }
        let verdict = campaign.seed(seed)?;
        report.done += 1;
        report.runs += verdict.runs;
        report.faults += verdict.faults;
        report.instructions += verdict.instructions;
        digest += verdict.digest;
        progress.counter().store(report.done, Relaxed);
        if let Some(failure) = verdict.failure {
            let repeat = args.repeat(seed);
            let emitted = match &folder {
                Some(folder) => Some(args.emit(folder, seed, &failure, &repeat)?),
                None => None,
            };
            if !args.json {
                writeln!(
                    out,
                    "DIFFERENT: seed {seed}, {failure}  to repeat: {repeat}"
                )?;
                match &emitted {
                    None => {}
                    Some(Emitted {
                        diff: Some(diff), ..
                    }) => writeln!(out, "  to show it: {diff}")?,
                    Some(Emitted { manifest, .. }) => {
                        writeln!(out, "  {manifest}: shows no difference as a launch")?;
                    }
                }
                writeln!(out)?;
                // Long campaigns show at once what they find.
                out.flush()?;
            }
            let failure = FailureReport::new(seed, *failure, repeat, emitted);
            report.failures.push(failure);
        }
    }
    drop(progress);
    report.ok = report.failures.is_empty();
    report.complete = report.stopped.is_none();
    report.digest = digest.to_string();
    match args.json {
        true => out.json(&report)?,
        false => print(&report, out)?,
    }
    Ok(match (report.ok, report.complete) {
        (false, _) => Status::Mismatch,
        (true, false) => Status::Fault,
        (true, true) => Status::Success,
    })
}

fn print(report: &Report, out: &mut Output) -> anyhow::Result<()> {
    let [first, end] = report.seeds;
    writeln!(
        out,
        "{}, {}, seeds {first}..{end}: {} done, {} compared in {} ({} ended in a fault)",
        report.target,
        report.kind,
        report.done,
        counted(report.instructions, "instruction"),
        counted(report.runs, "run"),
        report.faults
    )?;
    if let Some(stopped) = report.stopped {
        let why = match stopped {
            Stopped::Timeout => "the time limit",
            Stopped::Signal => "a signal",
            Stopped::Failures => "the number of differences",
        };
        let left = first + report.done;
        writeln!(out, "stopped by {why}; seeds {left}..{end} were not run")?;
    }
    writeln!(out, "digest {}", report.digest)?;
    match report.failures.len() as u64 {
        0 => writeln!(out, "the engines agree")?,
        n => writeln!(out, "the engines differ on {}", counted(n, "program"))?,
    }
    Ok(())
}
