//! `wavelift shard`: one dispatch over several processes or machines. Each runs a shard, a range of the workgroups, on
//! memory of its own, and writes which bytes it changed; what all of them changed is put together at the end.
//!
//! That is right if no workgroup of a shard reads or writes what one of another shard writes. `check` finds out by one
//! run in checked mode, or the user says so.

use std::ops::Range;
use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Subcommand;
use wavelift::{Device, DeviceOptions};

use super::Status;
use super::input::{self, Input};
use super::options::{EngineChoice, RunOptions, Shard};
use super::output::Output;
use super::session::{Planned, Session};
use identity::Identity;

mod changes;
mod check;
mod identity;
mod merge;
mod run;

/// Runs one dispatch as several shards, in processes or on machines that share nothing, and puts the results together.
///
/// A shard is a range of the dispatch's workgroups. It runs on memory of its own, so no workgroup may read or write what
/// one of another shard writes: no counters or flags for all workgroups, no waiting for others.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  wavelift shard check examples/mandelbrot/mandelbrot.gfx906.toml --shards 4 --verdict verdict.json
  wavelift shard run examples/mandelbrot/mandelbrot.gfx906.toml --shard 1/4 --verdict verdict.json --changes 1.changes
  wavelift shard merge examples/mandelbrot/mandelbrot.gfx906.toml *.changes

Exit status: 0 success; 1 the shards are not independent, or an expectation does not hold; 2 bad usage or bad input,
nothing ran; 3 the guest faulted or the time was over; 4 it ran, but a result could not be written.")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Check(check::Args),
    Run(run::Args),
    Merge(merge::Args),
}

pub(super) fn execute(args: &Args, out: &mut Output) -> anyhow::Result<Status> {
    match &args.command {
        Command::Check(args) => check::execute(args, out),
        Command::Run(args) => run::execute(args, out),
        Command::Merge(args) => merge::execute(args, out),
    }
}

/// What to run: as of `wavelift run`, but one file with one launch.
#[derive(clap::Args)]
struct What {
    /// A launch manifest with one launch; or a code object (.co), OpenCL C source (.cl) or HIP source (.hip), with
    /// --grid and --arg
    file: PathBuf,
    #[command(flatten)]
    options: RunOptions,
    #[command(flatten)]
    engine: EngineChoice,
}

/// A manifest of one launch on a device, not yet run.
struct Loaded {
    session: Session,
    identity: Identity,
}

impl What {
    fn options(&self) -> DeviceOptions {
        self.options.device(&self.engine)
    }

    fn input(&self) -> anyhow::Result<Input> {
        let input = input::load(&self.file, &self.options)?;
        let launches = input
            .manifest
            .dispatches
            .iter()
            .map(|dispatch| dispatch.repeat);
        let launches = launches.fold(0, u64::saturating_add);
        match &input.manifest.dispatches[..] {
            [_] if launches == 1 => Ok(input),
            [] => bail!("{} launches nothing, so it has no shards", input.name),
            [first, ..] => Err(input.error(
                &first.place,
                format!(
                    "there are {launches} launches, of which a later one may read what an earlier one wrote; only a \
                     manifest with one launch has shards"
                ),
            )),
        }
    }

    fn load(&self, input: Input, options: DeviceOptions) -> anyhow::Result<Loaded> {
        let identity = Identity::of(&input.manifest, &self.options)?;
        let device = Device::with_options(input.placed(options))?;
        let session = input.session(device, &self.options)?;
        Ok(Loaded { session, identity })
    }
}

impl Loaded {
    fn planned(&self) -> &Planned {
        &self.session.dispatches[0]
    }

    /// The workgroups of a shard, by number in the order of dispatch.
    fn workgroups(&self, shard: Shard) -> Range<u64> {
        shard.of(&(0..self.planned().workgroups))
    }
}

/// A number of shards.
fn count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(n @ 1..=65_536) => Ok(n),
        Ok(_) => Err("a dispatch has 1 to 65536 shards".to_owned()),
        Err(_) => Err(format!("`{text}` is no number of shards")),
    }
}

/// What `check` found out.
#[derive(serde::Serialize, serde::Deserialize)]
struct Verdict {
    /// May the shards run on memory of their own?
    ok: bool,
    kernel: String,
    shards: u64,
    workgroups: u64,
    /// The digest of the launch; the contents of buffers are not in it.
    launch: String,
    /// Bytes that all shards wrote.
    bytes_written: u64,
    conflict: Option<Conflict>,
}

/// A byte that workgroups of two shards access, one of them by a write.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Conflict {
    /// Numbers of the shards, from 1 on.
    shards: [u64; 2],
    /// What they do: `read` or `write`.
    accesses: [String; 2],
    address: u64,
    /// The element there, such as `y[3]`.
    element: String,
}

impl Verdict {
    /// Reads the file of `check`, and requires that it permits these shards of this launch.
    fn permit(path: &std::path::Path, identity: &Identity, shards: u64) -> anyhow::Result<()> {
        let shown = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {shown}"))?;
        let verdict: Verdict = serde_json::from_str(&text)
            .with_context(|| format!("{shown} is no verdict of `wavelift shard check`"))?;
        if !verdict.ok {
            let why = verdict
                .conflict
                .map(|conflict| format!(": {}", conflict.text()));
            bail!(
                "{shown}: the shards are not independent{}",
                why.unwrap_or_default()
            );
        }
        if verdict.launch != identity.launch {
            bail!(
                "{shown} is about another launch of kernel {}: code, grid, arguments or sizes of buffers differ; \
                 run `wavelift shard check` again",
                verdict.kernel
            );
        }
        // Two workgroups of one shard may share what they write; two shards that are joined may, too.
        if !verdict.shards.is_multiple_of(shards) {
            bail!(
                "{shown} is about {} shards, which do not make up {shards} equal ones; run `wavelift shard check` with \
                 --shards {shards}",
                verdict.shards
            );
        }
        Ok(())
    }
}

impl Conflict {
    fn text(&self) -> String {
        let verb = |access: &str| match access {
            "write" => "writes",
            _ => "reads",
        };
        let [a, b] = &self.accesses;
        match a == b {
            true => format!(
                "shards {} and {} both write {}",
                self.shards[0], self.shards[1], self.element
            ),
            false => format!(
                "shard {} {} what shard {} {}: {}",
                self.shards[0],
                verb(a),
                self.shards[1],
                verb(b),
                self.element
            ),
        }
    }
}
