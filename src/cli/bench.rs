//! `wavelift bench`: repeats a manifest's dispatches and prints their times.

use std::path::PathBuf;
use std::time::{Duration, Instant};

#[cfg(feature = "jit")]
use clap::builder::PossibleValuesParser;
use wavelift::{Device, Error, Settings};

use super::Status;
use super::input::{self, print_manifest};
use super::options::{EngineChoice, RunOptions, engine_name, seconds};
use super::output::{Output, complain};
use super::report::{
    DispatchReport, ExpectReport, Rates, Report, Times, counted, execution, quartiles, rate, time,
};
use super::run::{print_fallbacks, warn_of_failures};
use super::session::{Session, TimeLimit};

/// Repeats the dispatches of a launch manifest and prints minimum and median time, translation time
/// separately, and guest instructions per second.
///
/// The first round translates, counts instructions and is checked against the manifest's
/// expectations; it is not timed. Before each further round buffers are reset to their initial
/// contents, which is not timed.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift bench benches/manifests/saxpy-16m.gfx900.toml
  wavelift bench benches/manifests/matmul-512.gfx900.toml --seconds 10 --threads 1 --json
  wavelift bench examples/sha256/sha256.gfx900.toml --engine interp")]
pub(super) struct Args {
    /// A launch manifest; or a code object (.co), OpenCL C source (.cl) or HIP source (.hip), with --grid and --arg
    file: PathBuf,
    #[command(flatten)]
    options: RunOptions,
    #[command(flatten)]
    engine: EngineChoice,
    /// Time to spend; at least three rounds are run
    #[arg(long, value_parser = seconds, default_value = "3", allow_negative_numbers = true)]
    seconds: Duration,
    /// Run twice more, timed by region and with counters in the code, and print how each kernel was
    /// translated and where its time goes
    #[cfg(feature = "jit")]
    #[arg(long, conflicts_with = "engine")]
    profile: bool,
    /// Leave forms of code out that the translator would make, separated by commas; shows
    /// what they are worth
    #[cfg(feature = "jit")]
    #[arg(
        long,
        value_name = "FORM",
        value_delimiter = ',',
        value_parser = PossibleValuesParser::new(runtime::jit::form_names()),
        conflicts_with_all = ["engine", "profile"]
    )]
    without: Vec<String>,
    /// Print one JSON object; `execute_s` of a dispatch are minimum, lower quartile, median, upper
    /// quartile and maximum of its times
    #[arg(long)]
    json: bool,
    /// With --json: `execute_s` are the times of all rounds, in order
    #[arg(long, requires = "json")]
    samples: bool,
}

/// Fewest timed rounds.
const ROUNDS: usize = 3;

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    if args.options.kernel.emit_manifest {
        return print_manifest(&args.file, &args.options, out);
    }
    let input = input::load(&args.file, &args.options)?;
    #[cfg(feature = "jit")]
    let for_profile = args.profile.then(|| input.clone());
    #[cfg_attr(not(feature = "jit"), expect(unused_mut))]
    let mut options = input.placed(args.options.device(&args.engine));
    #[cfg(feature = "jit")]
    options.engine_options.without.clone_from(&args.without);
    let engine = options.engine;
    let device = Device::with_options(options)?;
    let session = input.session(device, &args.options)?;
    let mut report = Report::new(engine_name(engine));
    #[cfg_attr(not(feature = "jit"), expect(unused_mut))]
    let mut status = match measure(&session, args.seconds, &mut report) {
        Ok(status) => status,
        Err(error) => fault(error.downcast()?, &mut report, out)?,
    };
    #[cfg(feature = "jit")]
    if let Some(input) = for_profile.filter(|_| status != Status::Fault) {
        // These rounds have devices of their own: nothing of them is in the figures.
        drop(session);
        match super::profile::measure(input, &args.options)? {
            Ok(profile) => report.profile = Some(profile),
            Err(error) => status = fault(error, &mut report, out)?,
        }
    }
    report.ok = status == Status::Success;
    warn_of_failures(&report);
    if !args.samples {
        report.dispatches.iter_mut().for_each(keep_quartiles);
    }
    if args.json {
        out.json(&report)?;
    } else {
        print(&report, out)?;
    }
    Ok(status)
}

/// Records and prints the fault that stopped a dispatch; other errors are the command's.
fn fault(error: Error, report: &mut Report, out: &mut Output) -> anyhow::Result<Status> {
    let Some(fault) = error.fault() else {
        return Err(error.into());
    };
    report.fault = Some(fault.into());
    out.flush()?;
    complain(format_args!("fault: {error}"));
    Ok(Status::Fault)
}

fn measure(session: &Session, limit: Duration, report: &mut Report) -> anyhow::Result<Status> {
    let mut first = Settings {
        counting: true,
        ..session.device.settings()
    };
    // The time limit is that of a round.
    let timeout = session.device.options().timeout;
    let round = TimeLimit::new(timeout);
    for planned in &session.dispatches {
        let mut about = DispatchReport::new(&planned.kernel, planned.repeat);
        for _ in 0..planned.repeat {
            first.timeout = round.left(planned)?;
            about.add(&session.launch(planned, &first)?, true);
        }
        about.execute_s = Times::Each(Vec::new());
        // An engine that does not count gives 0.
        about.instructions = about.instructions.filter(|&count| count != 0);
        about.lane_instructions = about.lane_instructions.filter(|&count| count != 0);
        report.dispatches.push(about);
    }
    let results = session.compare()?;
    report.expect = results
        .iter()
        .map(|(name, result)| ExpectReport::new(name, result))
        .collect();
    if report.expect.iter().any(|result| !result.ok) {
        return Ok(Status::Mismatch);
    }
    let changed = changed_buffers(session)?;
    // The first round has looked for overruns, which takes time and evicts data from the caches.
    let mut settings = Settings {
        find_overruns: false,
        ..session.device.settings()
    };
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds < ROUNDS || begin.elapsed() < limit {
        let round = TimeLimit::new(timeout);
        for &index in &changed {
            session.buffers[index].write_bytes(0, &session.manifest.buffers[index].array.bytes)?;
        }
        for (planned, about) in session.dispatches.iter().zip(&mut report.dispatches) {
            let mut seconds = 0.0;
            for _ in 0..planned.repeat {
                settings.timeout = round.left(planned)?;
                let stats = session.launch(planned, &settings)?;
                seconds += execution(&stats);
                about.add_translation(&stats);
            }
            if let Times::Each(list) = &mut about.execute_s {
                list.push(seconds);
                about.samples = Some(list.len());
            }
        }
        rounds += 1;
    }
    report.runs = Some(rounds);
    for about in &mut report.dispatches {
        about.rates = rates(about);
    }
    Ok(Status::Success)
}

/// The buffers that the first round changed.
fn changed_buffers(session: &Session) -> Result<Vec<usize>, Error> {
    let mut changed = Vec::new();
    for (index, spec) in session.manifest.buffers.iter().enumerate() {
        if session.read(index)?.bytes != spec.array.bytes {
            changed.push(index);
        }
    }
    Ok(changed)
}

/// Replaces a dispatch's times by their quartiles.
fn keep_quartiles(about: &mut DispatchReport) {
    if let Times::Each(list) = &mut about.execute_s
        && let Some(kept) = quartiles(list)
    {
        *list = kept.into();
    }
}

fn rates(about: &DispatchReport) -> Option<Rates> {
    let Times::Each(list) = &about.execute_s else {
        return None;
    };
    let [min, _, median, ..] = quartiles(list)?;
    let per_second = |count: Option<u64>| count.map(|count| count as f64 / min);
    Some(Rates {
        execute_min_s: min,
        execute_median_s: median,
        instructions_per_s: per_second(about.instructions),
        lane_instructions_per_s: per_second(about.lane_instructions),
    })
}

fn print(report: &Report, out: &mut Output) -> anyhow::Result<()> {
    if let Some(runs) = report.runs {
        writeln!(out, "{} rounds on {}", runs, report.engine)?;
    }
    for dispatch in &report.dispatches {
        writeln!(out, "{}", dispatch.headline())?;
        if dispatch.translate_s != 0.0 {
            write!(out, "  translation  {}", time(dispatch.translate_s))?;
            match dispatch.instructions_translated {
                0 => writeln!(out)?,
                n => {
                    let each = time(dispatch.translate_s / n as f64);
                    writeln!(out, ", {each} for each of {}", counted(n, "instruction"))?;
                }
            }
        }
        if dispatch.regions_improved != 0 {
            let (n, time) = (dispatch.regions_improved, time(dispatch.improve_s));
            writeln!(
                out,
                "  hot          {} translated again in the background, in {time}",
                counted(n, "region")
            )?;
        }
        if let Some(rates) = &dispatch.rates {
            let (min, median) = (time(rates.execute_min_s), time(rates.execute_median_s));
            writeln!(out, "  execution    min {min}, median {median}")?;
            if let (Some(all), Some(lanes)) =
                (rates.instructions_per_s, rates.lane_instructions_per_s)
            {
                let (all, lanes) = (rate(all), rate(lanes));
                writeln!(out, "  instructions {all} by wave, {lanes} by lane")?;
            }
        }
        print_fallbacks(dispatch, out)?;
    }
    for result in &report.expect {
        writeln!(out, "{}", result.line())?;
    }
    #[cfg(feature = "jit")]
    if let Some(kernels) = &report.profile {
        super::profile::print(kernels, out)?;
    }
    Ok(())
}
