//! `wavelift shard run`: runs a shard and writes which bytes it changed.

use std::path::PathBuf;
use std::time::Instant;

use serde::Serialize;
use wavelift::{EngineKind, Settings};

use super::super::Status;
use super::super::new_file::NewFile;
use super::super::options::{Shard, engine_name, shard};
use super::super::output::{Output, complain};
use super::super::progress::Progress;
use super::changes::{Changes, Origin};
use super::{Verdict, What};

/// Runs one shard of a dispatch and writes the bytes of buffers that it changed to a file, for `wavelift shard merge`.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift shard run examples/mandelbrot/mandelbrot.gfx906.toml --shard 1/4 --verdict verdict.json --changes 1.changes
  wavelift shard run examples/mandelbrot/mandelbrot.gfx906.toml --shard 2/4 --independent --changes 2.changes

Exit status: 0 it ran; 2 bad usage or bad input, nothing ran; 3 the guest faulted or the time was over; 4 it ran, but the
changes could not be written.")]
#[command(group = clap::ArgGroup::new("permission").required(true).args(["verdict", "independent"]))]
pub(super) struct Args {
    #[command(flatten)]
    what: What,
    /// The shard's number and the number of shards
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Shard,
    /// The file that `wavelift shard check` wrote; the shards must be independent
    #[arg(long, value_name = "FILE")]
    verdict: Option<PathBuf>,
    /// Take it for granted that no shard reads or writes what another one writes
    #[arg(long)]
    independent: bool,
    /// Where the changes go
    #[arg(long, value_name = "FILE")]
    changes: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    ok: bool,
    engine: &'static str,
    kernel: String,
    shard: [u64; 2],
    workgroups: [u64; 2],
    bytes_changed: u64,
    translate_s: f64,
    execute_s: f64,
    /// All of it, with the comparison and the file.
    seconds: f64,
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    let begin = Instant::now();
    let input = args.what.input()?;
    let file = NewFile::named(&args.changes)?;
    let options = args.what.options();
    let engine: EngineKind = options.engine;
    let loaded = args.what.load(input, options)?;
    if let Some(verdict) = &args.verdict {
        Verdict::permit(verdict, &loaded.identity, args.shard.of)?;
    }
    let session = &loaded.session;
    let planned = loaded.planned();
    let workgroups = loaded.workgroups(args.shard);
    let progress = Progress::new(workgroups.end - workgroups.start, "workgroups");
    let settings = Settings {
        only: Some(workgroups.clone()),
        progress: Some(progress.counter()),
        ..session.device.settings()
    };
    let stats = match session.launch(planned, &settings) {
        Ok(stats) => stats,
        Err(error) if error.fault().is_some() => {
            drop(progress);
            out.flush()?;
            complain(format_args!("fault: {error}"));
            return Ok(Status::Fault);
        }
        Err(error) => return Err(error.into()),
    };
    drop(progress);
    let mut changes = Changes::new(Origin {
        launch: loaded.identity.launch.clone(),
        inputs: loaded.identity.inputs.clone(),
        kernel: planned.kernel.name().to_owned(),
        shard: [args.shard.number, args.shard.of],
    });
    for (index, spec) in session.manifest.buffers.iter().enumerate() {
        let after = session.read(index)?;
        changes.add(&spec.array.bytes, &after.bytes);
    }
    file.complete(|file| changes.write(file))?;
    let report = Report {
        ok: true,
        engine: engine_name(engine),
        kernel: planned.kernel.name().to_owned(),
        shard: [args.shard.number, args.shard.of],
        workgroups: [workgroups.start, workgroups.end],
        bytes_changed: changes.bytes(),
        translate_s: stats.translate_seconds,
        execute_s: stats.execute_seconds,
        seconds: begin.elapsed().as_secs_f64(),
    };
    match args.json {
        true => out.json(&report)?,
        false => writeln!(
            out,
            "{}: shard {} of {}, workgroups {} to {}, changed {} bytes",
            report.kernel,
            args.shard.number,
            args.shard.of,
            workgroups.start,
            workgroups.end,
            report.bytes_changed
        )?,
    }
    Ok(Status::Success)
}
